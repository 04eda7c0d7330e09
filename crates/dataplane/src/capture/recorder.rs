//! Capture of packets during a run: the link thread puts packet heads into a bounded ring, a separate thread writes them.
//! The link thread never blocks; packets that do not fit are counted.

use std::fs::File;
use std::io::{self, BufWriter};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use aqmlab_units::Time;

use super::file::Writer;

/// Bytes of a packet that are kept: the longest header of IPv4 and of TCP, or that of IPv6 with some extensions and TCP's.
pub const KEPT: usize = 128;
/// How long the writer sleeps when the ring is empty. It polls, so that the link thread need not wake it.
const PAUSE: Duration = Duration::from_millis(2);

/// A packet in the ring.
#[derive(Clone, Copy, Debug)]
struct Head {
    time: Time,
    bytes: u32,
    kept: [u8; KEPT],
}

/// The end of the ring that the link has.
#[derive(Debug)]
pub struct Tap {
    ring: SyncSender<Head>,
    lost: u64,
}

impl Tap {
    /// A packet has arrived.
    #[inline]
    pub fn record(&mut self, time: Time, packet: &[u8]) {
        let mut kept = [0; KEPT];
        let length = packet.len().min(KEPT);
        kept[..length].copy_from_slice(&packet[..length]);
        if self.ring.try_send(Head { time, bytes: packet.len() as u32, kept }).is_err() {
            self.lost += 1;
        }
    }

    /// Packets that did not fit into the ring, or came after the writer had failed.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

/// The thread that writes.
#[derive(Debug)]
pub struct Recorder {
    thread: JoinHandle<io::Result<u64>>,
}

impl Recorder {
    /// Start a thread that writes the tap's packets to a file, through a ring of `room` packets.
    pub fn start(file: File, room: usize) -> io::Result<(Tap, Self)> {
        let writer = Writer::new(BufWriter::new(file), KEPT as u32)?;
        let (ring, heads) = sync_channel(room);
        let thread =
            thread::Builder::new().name("capture".to_owned()).spawn(move || drain(&heads, writer))?;
        Ok((Tap { ring, lost: 0 }, Self { thread }))
    }

    /// Waits until all is written, once the tap is gone. How many packets the file has.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn finish(self) -> io::Result<u64> {
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the capture writer thread panicked")))
    }
}

fn drain(heads: &Receiver<Head>, mut writer: Writer<BufWriter<File>>) -> io::Result<u64> {
    let mut written = 0;
    loop {
        match heads.try_recv() {
            Ok(Head { time, bytes, kept }) => {
                let length = KEPT.min(bytes as usize);
                writer.write(time, &kept[..length], bytes)?;
                written += 1;
            }
            Err(TryRecvError::Empty) => thread::sleep(PAUSE),
            Err(TryRecvError::Disconnected) => {
                writer.finish()?;
                return Ok(written);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Reader;

    #[test]
    fn what_the_tap_is_given_is_in_the_file() {
        let path = std::env::temp_dir().join(format!("aqmlab-recorder-{}.pcap", std::process::id()));
        let file = File::create(&path).expect("a file");
        let (mut tap, recorder) = Recorder::start(file, 4).expect("a writer");
        let mut given = 0;
        for k in 0..200_u64 {
            tap.record(Time(k * 1000), &vec![k as u8; 20 + 10 * k as usize % 300]);
            given += 1;
        }
        let lost = tap.lost();
        drop(tap);
        assert_eq!(recorder.finish().expect("written") + lost, given);
        let packets: Vec<_> = Reader::new(File::open(&path).expect("there")).expect("a capture").collect();
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(packets.len() as u64 + lost, given);
        for packet in packets {
            let packet = packet.expect("whole");
            let k = packet.time.0 / 1000;
            assert_eq!(packet.bytes.len(), 20 + 10 * k as usize % 300);
            assert!(
                packet.bytes.iter().enumerate().all(|(i, byte)| *byte == if i < KEPT { k as u8 } else { 0 })
            );
        }
    }
}
