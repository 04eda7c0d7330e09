use std::io::{self, Read, Write};

use aqmlab_units::Time;

/// Time stamps in nanoseconds, and in microseconds.
const MAGIC_NS: u32 = 0xa1b2_3c4d;
const MAGIC_US: u32 = 0xa1b2_c3d4;
/// Raw IP.
const LINKTYPE_RAW: u32 = 101;
/// Longer records are no packets of IP.
const LONGEST: u32 = 1 << 18;

const PS_PER_NS: u64 = 1000;
const NS_PER_S: u64 = 1_000_000_000;

/// Writes a capture.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
}

impl<W: Write> Writer<W> {
    /// Begins a capture that keeps at most so many bytes of a packet.
    pub fn new(mut to: W, kept: u32) -> io::Result<Self> {
        to.write_all(&MAGIC_NS.to_le_bytes())?;
        to.write_all(&2_u16.to_le_bytes())?;
        to.write_all(&4_u16.to_le_bytes())?;
        for word in [0, 0, kept, LINKTYPE_RAW] {
            to.write_all(&word.to_le_bytes())?;
        }
        Ok(Self { to })
    }

    /// Adds a packet of so many bytes, of which these are kept. What is below a nanosecond of its time is lost.
    pub fn write(&mut self, time: Time, kept: &[u8], bytes: u32) -> io::Result<()> {
        let ns = time.0 / PS_PER_NS;
        for word in [(ns / NS_PER_S) as u32, (ns % NS_PER_S) as u32, kept.len() as u32, bytes] {
            self.to.write_all(&word.to_le_bytes())?;
        }
        self.to.write_all(kept)
    }

    /// Ends the capture.
    pub fn finish(mut self) -> io::Result<W> {
        self.to.flush()?;
        Ok(self.to)
    }
}

/// A packet of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When it arrived.
    pub time: Time,
    /// Its bytes, those that were not kept as zeros.
    pub bytes: Vec<u8>,
}

/// Reads a capture of raw IP, packet by packet: of either byte order, in micro- or nanoseconds.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    is_big_endian: bool,
    ps_per_tick: u64,
    packets: u64,
}

impl<R: Read> Reader<R> {
    /// Reads the header of a capture.
    ///
    /// # Errors
    /// Return an error if the file is not a capture, or not of raw IP.
    pub fn new(mut from: R) -> io::Result<Self> {
        let mut header = [0; 24];
        from.read_exact(&mut header)
            .map_err(|_| wrong("not a capture: the file header of 24 bytes is missing or cut"))?;
        let (little, big) = (word(&header, 0, false), word(&header, 0, true));
        let (is_big_endian, ps_per_tick) = match (little, big) {
            (MAGIC_NS, _) => (false, PS_PER_NS),
            (MAGIC_US, _) => (false, 1000 * PS_PER_NS),
            (_, MAGIC_NS) => (true, PS_PER_NS),
            (_, MAGIC_US) => (true, 1000 * PS_PER_NS),
            _ => {
                return Err(wrong(
                    "not a libpcap capture (allowed: pcap; convert pcapng with editcap -F pcap)",
                ));
            }
        };
        // The upper bits say something of check sequences.
        match word(&header, 20, is_big_endian) & 0x0fff_ffff {
            LINKTYPE_RAW => Ok(Self { from, is_big_endian, ps_per_tick, packets: 0 }),
            other => {
                Err(wrong(&format!("link type {other} is not supported (allowed: raw IP, {LINKTYPE_RAW})")))
            }
        }
    }

    /// The next packet, or none at the end.
    fn next_packet(&mut self) -> io::Result<Option<Packet>> {
        let mut header = [0; 16];
        let read = self.fill(&mut header)?;
        if read == 0 {
            return Ok(None);
        }
        let packet = self.packets + 1;
        if read < header.len() {
            return Err(wrong(&format!("packet {packet} of the capture is truncated")));
        }
        let field = |at| word(&header, at, self.is_big_endian);
        let (kept, bytes) = (field(8), field(12));
        if kept > bytes || bytes > LONGEST {
            return Err(wrong(&format!("packet {packet} of the capture keeps {kept} of {bytes} bytes")));
        }
        let ps =
            u128::from(field(0)) * 1_000_000_000_000 + u128::from(field(4)) * u128::from(self.ps_per_tick);
        let ps = u64::try_from(ps).map_err(|_| {
            wrong(&format!(
                "packet {packet} of the capture comes after more than 213 days: times count from the start"
            ))
        })?;
        let mut packet = Packet { time: Time(ps), bytes: vec![0; bytes as usize] };
        if self.fill(&mut packet.bytes[..kept as usize])? < kept as usize {
            return Err(wrong(&format!("packet {} of the capture is truncated", self.packets + 1)));
        }
        self.packets += 1;
        Ok(Some(packet))
    }

    /// Reads as far as there is something.
    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.from.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = io::Result<Packet>;

    fn next(&mut self) -> Option<io::Result<Packet>> {
        self.next_packet().transpose()
    }
}

fn wrong(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn word(bytes: &[u8], at: usize, is_big_endian: bool) -> u32 {
    let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    if is_big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), 4).expect("a vector takes all");
        writer.write(Time(1_000_000_002_345_678), &[1, 2, 3], 3).expect("written");
        writer.write(Time(3_000_000_000_000_000), &[4, 5, 6, 7], 6).expect("written");
        writer.finish().expect("flushed")
    }

    fn read(bytes: &[u8]) -> Result<Vec<Packet>, String> {
        let packets = Reader::new(bytes).and_then(|reader| reader.collect::<io::Result<Vec<_>>>());
        packets.map_err(|error| error.to_string())
    }

    #[test]
    fn what_was_written_is_read() {
        let expected = [
            Packet { time: Time(1_000_000_002_345_000), bytes: vec![1, 2, 3] },
            Packet { time: Time(3_000_000_000_000_000), bytes: vec![4, 5, 6, 7, 0, 0] },
        ];
        assert_eq!(read(&written()), Ok(expected.to_vec()));
        assert_eq!(written()[..8], [0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0]);
    }

    #[test]
    fn the_other_byte_order_and_microseconds() {
        let words: [u32; 10] = [MAGIC_US, 0x0002_0004, 0, 0, 65_535, LINKTYPE_RAW, 7, 9, 1, 1];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.push(0x45);
        assert_eq!(read(&bytes), Ok(vec![Packet { time: Time(7_000_009_000_000), bytes: vec![0x45] }]));
    }

    #[test]
    fn what_is_no_capture() {
        let changed = |at: usize, byte: u8| {
            let mut bytes = written();
            bytes[at] = byte;
            read(&bytes).expect_err("no capture")
        };
        assert!(read(&written()[..20]).expect_err("cut").contains("header of 24 bytes is missing"));
        assert!(changed(0, 0).contains("not a libpcap capture"));
        assert_eq!(changed(20, 1), "link type 1 is not supported (allowed: raw IP, 101)");
        assert_eq!(changed(32, 9), "packet 1 of the capture keeps 9 of 3 bytes");
        assert!(changed(27, 0xff).contains("213 days"));
        assert_eq!(read(&written()[..50]), Err("packet 2 of the capture is truncated".to_owned()));
        assert_eq!(read(&written()[..61]), Err("packet 2 of the capture is truncated".to_owned()));
    }
}
