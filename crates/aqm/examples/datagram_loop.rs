//! DualPI2 behind several QUIC connections that share an uplink, in the style of quinn: a driver polls each connection for datagrams and
//! timeouts, and hands the datagrams to a socket. Here they wait in the discipline until the uplink is free, so that the queue is in the
//! program, where it is short, and not in the modem.
//!
//! ```text
//! cargo run -p aqmlab-aqm --example datagram_loop --no-default-features --features l4s
//! ```

use aqmlab_aqm::units::{Rate, Span, Stream, Time};
use aqmlab_aqm::{
    Discipline, DropReason, Ecn, Header, Host, LinkContext, Meta, Packet, ParameterError, Qdisc, Spec,
};

/// Most bytes of a datagram.
const MTU: usize = 1200;

/// A datagram that a connection wants to send, with its bytes in the buffer that was passed in.
pub struct Transmit {
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// Bytes of the buffer that are the datagram.
    pub size: usize,
}

/// A connection: it has no clock and no socket.
pub struct Connection {
    ecn: Ecn,
    every: Span,
    next: Time,
}

impl Connection {
    /// Return the next datagram that may be sent now.
    fn poll_transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<Transmit> {
        if self.next > now {
            return None;
        }
        self.next += self.every;
        buffer.fill(0x51);
        Some(Transmit { ecn: self.ecn, size: buffer.len() })
    }

    /// Return when to poll again.
    fn poll_timeout(&self) -> Time {
        self.next
    }
}

/// The buffers of waiting datagrams, by the payload of their packets. Each is used again when its datagram has left.
struct Buffers {
    bytes: Vec<[u8; MTU]>,
    free: Vec<usize>,
    random: Stream,
    dropped: usize,
}

impl Host<usize> for Buffers {
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

    // A marked packet has CE in its header, which the driver passes to the socket.
    fn marked(&mut self, _packet: &Packet<usize>, _reason: DropReason) {}
}

/// The driver of several connections over one uplink.
pub struct Driver<S> {
    connections: Vec<Connection>,
    queue: Discipline<usize>,
    buffers: Buffers,
    rate: Rate,
    free_at: Time,
    send: S,
}

impl<S: FnMut(&[u8], Ecn, Span)> Driver<S> {
    /// Create a driver. `send` gets each datagram, its ECN field and its delay in the queue when the uplink is free.
    pub fn new(connections: Vec<Connection>, rate: Rate, send: S) -> Result<Self, Vec<ParameterError>> {
        let spec = Spec::new("dualpi2").expect("the feature l4s");
        let queue = spec.resolve(LinkContext { rate, delay: Span::ZERO })?.build();
        let buffers =
            Buffers { bytes: Vec::new(), free: Vec::new(), random: Stream::new(1, "dualpi2"), dropped: 0 };
        Ok(Self { connections, queue, buffers, rate, free_at: Time::ZERO, send })
    }

    /// Do everything that is due at `now`. Return when to call again.
    pub fn poll(&mut self, now: Time) -> Time {
        while let Some(due) = self.queue.next_timer().filter(|due| *due <= now) {
            self.queue.on_timer(due, &mut self.buffers);
        }
        for (flow, connection) in self.connections.iter_mut().enumerate() {
            loop {
                let payload = self.buffers.free.pop().unwrap_or_else(|| {
                    self.buffers.bytes.push([0; MTU]);
                    self.buffers.bytes.len() - 1
                });
                let Some(transmit) = connection.poll_transmit(now, &mut self.buffers.bytes[payload]) else {
                    self.buffers.free.push(payload);
                    break;
                };
                let header = Header::default().with_ecn(transmit.ecn);
                let meta = Meta { arrival: now, bytes: transmit.size as u32, flow: flow as u32, header };
                self.queue.enqueue(now, Packet { meta, payload }, &mut self.buffers);
            }
        }
        let mut next = Packet::default();
        if self.free_at <= now && self.queue.dequeue_into(now, &mut next, &mut self.buffers) {
            let Meta { arrival, bytes, header, .. } = next.meta;
            (self.send)(
                &self.buffers.bytes[next.payload][..bytes as usize],
                header.ecn(),
                now.since(arrival),
            );
            self.buffers.free.push(next.payload);
            self.free_at = now + self.rate.time_of(bytes.into());
        }
        let timeouts = self.connections.iter().map(Connection::poll_timeout);
        let link = (self.queue.backlog().packets > 0).then_some(self.free_at);
        timeouts.chain(self.queue.next_timer()).chain(link).min().unwrap_or(Time::NEVER)
    }
}

/// Datagrams by code point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    /// Sent with ECT(1), and their largest delay in seconds.
    pub l4s: (usize, f64),
    /// Sent without ECN, and their largest delay in seconds.
    pub classic: (usize, f64),
    /// Sent with CE.
    pub marked: usize,
    /// Dropped.
    pub dropped: usize,
}

/// Three seconds: a connection with L4S and one without, each with 6 Mb/s, over 10 Mb/s.
pub fn run() -> Result<Summary, Vec<ParameterError>> {
    let rate = Rate(10_000_000);
    let every = Rate(6_000_000).time_of(MTU as u64);
    let connections = [Ecn::Ect1, Ecn::NotEct].map(|ecn| Connection { ecn, every, next: Time::ZERO });
    let mut summary = Summary::default();
    let mut driver = Driver::new(connections.into(), rate, |_datagram, ecn, delay: Span| {
        let group = if ecn == Ecn::NotEct { &mut summary.classic } else { &mut summary.l4s };
        *group = (group.0 + 1, group.1.max(delay.secs()));
        summary.marked += usize::from(ecn == Ecn::Ce);
    })?;
    let mut now = Time::ZERO;
    while now < Time::from_secs(3.0) {
        now = driver.poll(now);
    }
    let dropped = driver.buffers.dropped;
    Ok(Summary { dropped, ..summary })
}

fn main() {
    println!("{:?}", run().expect("defaults are valid"));
}
