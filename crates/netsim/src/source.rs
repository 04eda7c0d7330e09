//! The source of a flow, as a station.

use aqmlab_transport::{
    Ack, Data, DataFlags, NewData, Sender, Supply, TcpConfig, Timer, UdpSource, ns2, rfc, scream,
};
use aqmlab_units::{Span, Stream, Time};

use crate::application::{Application, Driven, Numbers, Request, Taken};
use crate::message::Message;
use crate::network::Out;
use crate::plan::{Flow, Plan, Size, Transport};
use crate::sampling::Sampler;

/// A sample of a TCP sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowSample {
    /// When; before anything that happens at that time.
    pub time: Time,
    /// Congestion window in packets.
    pub cwnd: f64,
    /// Slow-start threshold in packets; NaN before it is first set.
    pub ssthresh: f64,
    /// Smoothed round-trip time in seconds; NaN before the first measurement.
    pub srtt: f64,
}

/// The counters of a source over the measured part of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SourceCounters {
    /// Packets sent, retransmissions included.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Retransmissions among them.
    pub retransmissions: u64,
    /// Packets acknowledged.
    pub acked: u64,
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
    /// Round-trip time samples.
    pub rtt_samples: u64,
    /// Their sum.
    pub rtt_sum: Span,
}

/// How a source sends.
#[derive(Debug)]
enum Generator {
    /// TCP, or media with feedback.
    Tcp(Sender),
    /// TCP that does what an application asks for.
    Driven(Box<Driven>),
    Udp(Box<Udp>),
}

impl Generator {
    /// The connection, of TCP or of media with feedback.
    fn sender(&self) -> Option<&Sender> {
        match self {
            Self::Tcp(sender) => Some(sender),
            Self::Driven(driven) => Some(&driven.sender),
            Self::Udp(_) => None,
        }
    }
}

/// A source of UDP.
#[derive(Debug)]
struct Udp {
    source: UdpSource,
    /// For times.
    rng: Stream,
    /// For lengths of packets: a stream of its own, so that times are the same whatever the lengths are.
    lengths: Stream,
    /// When the next packet was decided on; the first one of a period in the plan.
    set_at: Time,
}

/// The station: one cache line with the fields that a plain acknowledgement needs, and a pointer to the others.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Source {
    /// DSCP of its data packets.
    pub dscp: u8,
    /// An acknowledgement has arrived.
    peer_ttl_known: bool,
    generator: Generator,
    /// The wake-up that is pending for the timer.
    pub wake: Option<Timer>,
    /// The end of the warm-up or the next sample.
    next_event: Time,
    rest: Box<Rest>,
}

/// Seldom needed fields.
#[derive(Debug)]
struct Rest {
    /// When the application has something to send: from, to; and has so again.
    first: (Time, Time),
    again: Box<[(Time, Time)]>,
    /// How many of the periods have begun.
    begun: u32,
    /// When the first packet was sent.
    first_sent: Option<Time>,
    /// When all data of the flow was acknowledged.
    finish: Option<Time>,
    sampler: Option<Box<Sampler<WindowSample>>>,
    /// The counters at the end of the warm-up, if it is over.
    before: Option<Box<SourceCounters>>,
    warmup: Time,
}

impl Source {
    /// Bytes of the seldom needed fields.
    #[cfg(test)]
    pub const REST_BYTES: usize = size_of::<Rest>();

    pub fn new(flow: &Flow, taken: Option<Taken>, plan: &Plan, seed: u64) -> Self {
        let (start, for_clock) = flow.start_and_clock(seed);
        let first = (start, flow.stop.unwrap_or(Time::NEVER));
        let generator = match &*flow.transport {
            Transport::Tcp { config, size, clock_offset } => {
                let application = Application::new(size, taken, &flow.name, seed, plan.duration);
                let supply = match (size, &application) {
                    (_, Some(application)) => Supply::Bytes(application.first()),
                    (Size::Packets(n), _) => Supply::Packets(*n),
                    (Size::Bytes(n), _) => Supply::Bytes(*n),
                    (Size::Greedy, _) => Supply::Greedy,
                    _ => panic!("the size of flow {} is not drawn", flow.name),
                };
                let sender = match config {
                    TcpConfig::Ns2(config) => {
                        let phase = clock_offset.unwrap_or(for_clock * config.tick);
                        Sender::Ns2(Box::new(ns2::Sender::new(config.clone(), supply, phase)))
                    }
                    TcpConfig::Rfc(config) => Sender::Rfc(Box::new(rfc::Sender::new(config.clone(), supply))),
                };
                match application {
                    None => Generator::Tcp(sender),
                    Some(application) => {
                        Generator::Driven(Box::new(Driven::new(sender, application, Numbers::of(config))))
                    }
                }
            }
            Transport::Udp { rate, packet, pattern } => Generator::Udp(Box::new(Udp {
                source: UdpSource::new(*rate, packet.clone(), pattern.clone()),
                rng: Stream::new(seed, &format!("traffic of flow {}", flow.name)),
                lengths: Stream::new(seed, &format!("packet lengths of flow {}", flow.name)),
                set_at: Time::ZERO,
            })),
            Transport::Scream(config) => {
                let random = Stream::new(seed, &format!("frames of flow {}", flow.name));
                Generator::Tcp(Sender::Scream(Box::new(scream::Sender::new(config.clone(), random))))
            }
        };
        let is_tcp = generator.sender().is_some();
        let warmup = Time::ZERO + plan.warmup;
        let sampler = Sampler::every(plan.probe.cwnd_interval.filter(|_| is_tcp));
        Self {
            dscp: flow.dscp,
            peer_ttl_known: false,
            generator,
            wake: None,
            next_event: warmup.min(sampler.as_ref().map_or(Time::NEVER, |s| s.next(None))),
            rest: Box::new(Rest {
                first,
                again: flow.again.as_slice().into(),
                begun: 0,
                first_sent: None,
                finish: None,
                sampler,
                before: None,
                warmup,
            }),
        }
    }

    /// When the first packet was sent.
    pub fn first_sent(&self) -> Option<Time> {
        self.rest.first_sent
    }

    /// When all data of the flow was acknowledged.
    pub fn finish(&self) -> Option<Time> {
        self.rest.finish
    }

    /// Return whether an acknowledgement has arrived, so that the time to live at the sink is known.
    #[inline]
    pub fn peer_ttl_known(&self) -> bool {
        self.peer_ttl_known
    }

    /// When the flow starts.
    pub fn start_time(&self) -> Time {
        self.rest.first.0
    }

    /// The next period in which the application has something to send: from, to.
    pub fn next_period(&self) -> Option<(Time, Time)> {
        match self.rest.begun {
            0 => Some(self.rest.first),
            begun => self.rest.again.get(begun as usize - 1).copied(),
        }
    }

    /// Whether the flow has started.
    pub fn has_begun(&self) -> bool {
        self.rest.begun > 0
    }

    /// A period begins: TCP sends; the timer sends the first packet of UDP.
    pub fn start(&mut self, now: Time, out: &mut impl Out<Data>) {
        self.advance(now);
        let end = self.next_period().map_or(Time::NEVER, |(_, end)| end);
        let again = self.rest.begun > 0;
        self.rest.begun += 1;
        match &mut self.generator {
            Generator::Tcp(sender) if again => {
                self.rest.finish = None;
                sender.resume(now, &mut |data| out.put(&data));
            }
            Generator::Tcp(sender) => {
                let mut first_sent = None;
                sender.start(now, &mut |data| {
                    first_sent = Some(now);
                    out.put(&data);
                });
                self.rest.first_sent = first_sent;
            }
            // An application has one period.
            Generator::Driven(_) if again => {}
            Generator::Driven(driven) => {
                driven.start(now, out);
                self.rest.first_sent = Some(now);
            }
            Generator::Udp(udp) => {
                udp.set_at = Time::ZERO;
                udp.source.start(now, end, &mut || udp.rng.uniform());
            }
        }
    }

    /// The application has nothing more to send.
    pub fn stop(&mut self, now: Time, out: &mut impl Out<Data>) {
        self.advance(now);
        match &mut self.generator {
            Generator::Tcp(sender) => sender.stop(now, &mut |data| out.put(&data)),
            Generator::Driven(driven) => {
                if driven.stop(now, out) && self.rest.begun > 0 {
                    self.rest.finish.get_or_insert(now);
                }
            }
            Generator::Udp(_) => {}
        }
    }

    /// An acknowledgement arrives that is [plain](Message::is_plain_ack): take it if it is plain to the sender too, and nothing is to be
    /// recorded. Return the new data to send. If not, return `None` and change nothing: [`Source::on_ack`] takes it.
    #[inline(always)]
    pub fn on_plain_ack(&mut self, ack: &Message) -> Option<NewData> {
        let Generator::Tcp(sender) = &mut self.generator else { return None };
        if self.next_event <= ack.time {
            return None;
        }
        let new = sender.on_plain_ack(ack.time, ack.number, ack.echoes())?;
        self.peer_ttl_known = true;
        Some(new)
    }

    /// An acknowledgement arrives.
    #[inline(never)]
    pub fn on_ack(&mut self, now: Time, ack: &Ack, out: &mut impl Out<Data>) {
        self.advance(now);
        self.peer_ttl_known = true;
        out.set_peer_ttl_known(true);
        match &mut self.generator {
            Generator::Tcp(sender) => {
                sender.on_ack(now, ack, &mut |data| out.put(&data));
                if self.rest.finish.is_none() && sender.is_finished() {
                    self.rest.finish = Some(now);
                }
            }
            Generator::Driven(driven) => {
                if driven.on_ack(now, ack, out) {
                    self.rest.finish = Some(now);
                }
            }
            Generator::Udp(_) => {}
        }
    }

    /// The timer is due.
    pub fn on_timer(&mut self, now: Time, out: &mut impl Out<Data>) {
        self.advance(now);
        match &mut self.generator {
            Generator::Tcp(sender) => sender.on_timer(now, &mut |data| out.put(&data)),
            Generator::Driven(driven) => driven.on_timer(now, out),
            Generator::Udp(udp) => {
                udp.set_at = now;
                let Udp { source, rng, lengths, .. } = &mut **udp;
                if let Some(packet) = source.send(&mut || rng.uniform(), &mut || lengths.uniform()) {
                    let (seq, bytes) = (packet.seq as u32, packet.bytes);
                    out.put(&Data { sent: now, seq, bytes, flags: DataFlags::NONE });
                    self.rest.first_sent.get_or_insert(now);
                }
            }
        }
    }

    /// Return the number, from 0, and the time of the last packet of UDP that was sent; `None` before the first one and for TCP.
    pub fn last_datagram(&self) -> Option<(u64, Time)> {
        let Generator::Udp(udp) = &self.generator else { return None };
        Some((udp.source.sent().checked_sub(1)?, udp.set_at))
    }

    /// Whether the connection has sent the last packet that its profile has a number for.
    pub fn is_exhausted(&self) -> bool {
        self.generator.sender().is_some_and(Sender::is_exhausted)
    }

    /// Prefetch the fields of the sender that a plain acknowledgement needs.
    #[inline]
    pub fn prefetch_sender(&self) {
        if let Generator::Tcp(sender) = &self.generator {
            sender.prefetch();
        }
    }

    /// Prefetch the sender's state of the packets that are acknowledged next.
    #[inline]
    pub fn prefetch_acknowledged(&self) {
        if let Generator::Tcp(sender) = &self.generator {
            sender.prefetch_acknowledged();
        }
    }

    /// Return when the timer is due; `NEVER` without one.
    #[inline]
    pub fn deadline(&self) -> Time {
        match &self.generator {
            Generator::Tcp(sender) => sender.deadline(),
            _ => Timer::due(self.timer()),
        }
    }

    /// The timer; for UDP the next packet.
    #[inline]
    pub fn timer(&self) -> Option<Timer> {
        match &self.generator {
            Generator::Tcp(sender) => sender.timer(),
            Generator::Driven(driven) => driven.timer(),
            Generator::Udp(udp) => {
                udp.source.next_send().map(|deadline| Timer { deadline, set_at: udp.set_at })
            }
        }
    }

    /// Advance the station to the end of the run.
    pub fn end(&mut self, end: Time) {
        self.advance(end);
    }

    pub fn samples(&self) -> &[WindowSample] {
        self.rest.sampler.as_ref().map_or(&[], |s| s.samples())
    }

    /// Return the requests of the application.
    pub fn requests(&self) -> &[Request] {
        if let Generator::Driven(driven) = &self.generator { driven.application.requests() } else { &[] }
    }

    /// Return the counters since the end of the warm-up.
    pub fn counters(&self) -> SourceCounters {
        let (all, before) = (self.totals(), self.rest.before.as_deref().copied().unwrap_or_default());
        SourceCounters {
            sent: all.sent - before.sent,
            sent_bytes: all.sent_bytes - before.sent_bytes,
            retransmissions: all.retransmissions - before.retransmissions,
            acked: all.acked - before.acked,
            timeouts: all.timeouts - before.timeouts,
            fast_retransmits: all.fast_retransmits - before.fast_retransmits,
            rtt_samples: all.rtt_samples - before.rtt_samples,
            rtt_sum: all.rtt_sum - before.rtt_sum,
        }
    }

    fn totals(&self) -> SourceCounters {
        if let Generator::Udp(udp) = &self.generator {
            let (sent, sent_bytes) = (udp.source.sent(), udp.source.sent_bytes());
            return SourceCounters { sent, sent_bytes, ..SourceCounters::default() };
        }
        let Some(sender) = self.generator.sender() else { return SourceCounters::default() };
        let c = sender.counters();
        SourceCounters {
            sent: c.sent_packets,
            sent_bytes: c.sent_bytes,
            retransmissions: c.retransmissions,
            acked: sender.acked(),
            timeouts: c.timeouts,
            fast_retransmits: c.fast_retransmits,
            rtt_samples: c.rtt_samples,
            rtt_sum: c.rtt_sum,
        }
    }

    /// Handle the own events up to `now`, before any input at `now`: the end of the warm-up and samples.
    #[inline]
    fn advance(&mut self, now: Time) {
        while self.next_event <= now {
            self.handle_events(self.next_event);
        }
    }

    fn handle_events(&mut self, at: Time) {
        if at == self.rest.warmup {
            self.rest.before = (at > Time::ZERO).then(|| Box::new(self.totals()));
        }
        if let (Some(sender), Some(sampler)) = (self.generator.sender(), &mut self.rest.sampler) {
            sampler.take(at, || {
                let srtt = sender.srtt().map_or(f64::NAN, Span::secs);
                let ssthresh = Some(sender.ssthresh()).filter(|x| x.is_finite()).unwrap_or(f64::NAN);
                WindowSample { time: at, cwnd: sender.cwnd(), ssthresh, srtt }
            });
        }
        let after_warmup = if at < self.rest.warmup { self.rest.warmup } else { Time::NEVER };
        self.next_event =
            after_warmup.min(self.rest.sampler.as_ref().map_or(Time::NEVER, |s| s.next(Some(at))));
    }
}
