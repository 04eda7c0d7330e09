//! FQ-CoDel between a TCP/IP stack and its device, in the style of smoltcp: the stack asks a device for a token, and writes a frame into
//! the buffer of the token. `Queued` is a device around another device. It has a token for every frame, and the discipline decides which
//! frames the inner device gets.
//!
//! ```text
//! cargo run -p aqmlab-aqm --example device_loop --no-default-features --features fq
//! ```

use aqmlab_aqm::units::{Rate, Span, Stream, Time};
use aqmlab_aqm::{
    Discipline, DropReason, Ecn, Header, Host, LinkContext, Meta, Packet, ParameterError, Qdisc, Spec,
};

/// A network device, as a stack sees it: it takes a frame if it is ready at `now`.
pub trait Device {
    /// Return whether the device takes a frame now.
    fn is_ready(&self, now: Time) -> bool;
    /// Send a frame whose contents `fill` writes.
    fn transmit(&mut self, now: Time, bytes: usize, fill: impl FnOnce(&mut [u8]));
}

/// The buffers of waiting frames, with the discipline's random numbers.
struct Pool {
    frames: Vec<Vec<u8>>,
    free: Vec<usize>,
    random: Stream,
    dropped: usize,
    marked: usize,
}

impl Host<usize> for Pool {
    fn uniform(&mut self) -> f64 {
        self.random.uniform()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random.below(n)
    }

    fn dropped(&mut self, packet: Packet<usize>, _reason: DropReason) {
        self.free.push(packet.payload);
        self.dropped += 1;
    }

    fn marked(&mut self, packet: &Packet<usize>, _reason: DropReason) {
        // A stack also updates the checksum of the IP header.
        self.frames[packet.payload][1] |= Ecn::Ce as u8;
        self.marked += 1;
    }
}

/// A device with a discipline before it.
pub struct Queued<D> {
    device: D,
    queue: Discipline<usize>,
    pool: Pool,
}

impl<D: Device> Queued<D> {
    /// Put FQ-CoDel before a device that sends at this rate.
    pub fn new(device: D, rate: Rate) -> Result<Self, Vec<ParameterError>> {
        let spec = Spec::new("fq-codel").expect("the feature fq");
        let queue = spec.resolve(LinkContext { rate, delay: Span::ZERO })?.build();
        let random = Stream::new(1, "fq-codel");
        let pool = Pool { frames: Vec::new(), free: Vec::new(), random, dropped: 0, marked: 0 };
        Ok(Self { device, queue, pool })
    }

    /// Give the device the frames that it takes now. Call it after each poll of the stack, and when the device becomes ready.
    pub fn poll(&mut self, now: Time) {
        while let Some(due) = self.queue.next_timer().filter(|due| *due <= now) {
            self.queue.on_timer(due, &mut self.pool);
        }
        let mut next = Packet::default();
        while self.device.is_ready(now) && self.queue.dequeue_into(now, &mut next, &mut self.pool) {
            let frame = &self.pool.frames[next.payload];
            self.device.transmit(now, frame.len(), |buffer| buffer.copy_from_slice(frame));
            self.pool.free.push(next.payload);
        }
    }
}

impl<D: Device> Device for Queued<D> {
    fn is_ready(&self, _now: Time) -> bool {
        true
    }

    fn transmit(&mut self, now: Time, bytes: usize, fill: impl FnOnce(&mut [u8])) {
        let pool = &mut self.pool;
        let payload = pool.free.pop().unwrap_or_else(|| {
            pool.frames.push(Vec::new());
            pool.frames.len() - 1
        });
        let frame = &mut pool.frames[payload];
        frame.resize(bytes, 0);
        fill(frame);
        // An IPv4 header: the second byte has the code point and the ECN field, bytes 12 to 19 the addresses.
        let header = Header::default().with_dscp(frame[1] >> 2).with_ecn(Ecn::from_bits(frame[1]));
        let flow = frame[12..20].iter().fold(0_u32, |hash, byte| hash.wrapping_mul(31) + u32::from(*byte));
        let meta = Meta { arrival: now, bytes: bytes as u32, flow, header };
        self.queue.enqueue(now, Packet { meta, payload }, &mut self.pool);
        self.poll(now);
    }
}

/// A device that sends a bit every 100 ns, 10 Mb/s, and counts the frames of each host.
struct Wire {
    free_at: Time,
    sent: [usize; 2],
}

impl Device for Wire {
    fn is_ready(&self, now: Time) -> bool {
        self.free_at <= now
    }

    fn transmit(&mut self, now: Time, bytes: usize, fill: impl FnOnce(&mut [u8])) {
        let mut frame = vec![0; bytes];
        fill(&mut frame);
        self.sent[usize::from(frame[15])] += 1;
        self.free_at = now + Rate(10_000_000).time_of(bytes as u64);
    }
}

/// Counts of frames.
#[derive(Debug)]
pub struct Summary {
    /// Sent by the device, for each host.
    pub sent: [usize; 2],
    /// Dropped by the discipline.
    pub dropped: usize,
    /// Marked by the discipline.
    pub marked: usize,
}

/// One second: host 0 sends 20 Mb/s with ECN, host 1 a frame every 20 ms without.
pub fn run() -> Result<Summary, Vec<ParameterError>> {
    let mut device = Queued::new(Wire { free_at: Time::ZERO, sent: [0; 2] }, Rate(10_000_000))?;
    for tick in 0..10_000_u64 {
        let now = Time::ZERO + Span(tick * 100_000_000);
        for (host, ecn, every, bytes) in [(0, Ecn::Ect, 6, 1500), (1, Ecn::NotEct, 200, 200)] {
            if tick % every == 0 {
                device.transmit(now, bytes, |frame| (frame[1], frame[15]) = (ecn as u8, host));
            }
        }
        device.poll(now);
    }
    let Queued { device, pool, .. } = device;
    Ok(Summary { sent: device.sent, dropped: pool.dropped, marked: pool.marked })
}

fn main() {
    println!("{:?}", run().expect("defaults are valid"));
}
