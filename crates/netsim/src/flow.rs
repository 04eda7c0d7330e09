//! The two ends of a flow, each a station: the source with its TCP sender or UDP generator, and the sink.

use aqmlab_transport::{Ack, ConstantBitRate, Data, DataFlags, Receiver, Sender, Supply, Timer};
use aqmlab_units::{Span, Stream, Time};

use crate::plan::{Flow, Start, Transport};

/// A sample of a TCP sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowSample {
    /// When; before anything that happens at that time.
    pub time: Time,
    /// Congestion window in packets.
    pub cwnd: f64,
    /// Slow-start threshold in packets.
    pub ssthresh: f64,
    /// Smoothed round-trip time in seconds; NaN before the first measurement.
    pub srtt: f64,
}

/// What a source counts over the measured part of a run.
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

/// What a sink counts over the measured part of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SinkCounters {
    /// Packets delivered in order (UDP: received).
    pub received: u64,
    /// Their bytes, headers included.
    pub bytes: u64,
}

/// How a source sends.
#[derive(Clone, Debug)]
enum Generator {
    Tcp(Box<Sender>),
    /// UDP, and when the next packet was decided on.
    Udp(ConstantBitRate, Time),
}

/// The source of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    generator: Generator,
    pub start: Time,
    pub finish: Option<Time>,
    /// The wake-up that is pending for the timer.
    pub wake: Option<Timer>,
    samples: Vec<WindowSample>,
    sample_interval: Option<Span>,
    before: SourceCounters,
    warmup: Time,
    next_look: Time,
}

impl Source {
    pub fn new(flow: &Flow, seed: u64, warmup: Span, sample_interval: Option<Span>) -> Self {
        let mut rng = Stream::new(seed, &format!("flow {}", flow.name));
        // Both numbers are always drawn, so that one reading does not shift the other.
        let (for_start, for_clock) = (rng.uniform(), rng.uniform());
        let start = match flow.start {
            Start::At(t) => t,
            Start::Uniform(from, to) => from + Span((for_start * to.since(from).0 as f64) as u64),
        };
        let generator = match &flow.transport {
            Transport::Tcp { config, size, clock_offset } => Generator::Tcp(Box::new(Sender::new(
                config.clone(),
                size.map_or(Supply::Greedy, Supply::Packets),
                clock_offset.unwrap_or(for_clock * config.tick),
            ))),
            Transport::Udp { rate, packet } => {
                let stop = flow.stop.unwrap_or(Time::NEVER);
                Generator::Udp(ConstantBitRate::new(*rate, *packet, start, stop), Time::ZERO)
            }
        };
        let sample_interval = sample_interval.filter(|_| matches!(generator, Generator::Tcp(_)));
        let warmup = Time::ZERO + warmup;
        let next_look = sample_interval.map_or(warmup, |_| Time::ZERO);
        Self {
            generator,
            start,
            finish: None,
            wake: None,
            samples: Vec::new(),
            sample_interval,
            before: SourceCounters::default(),
            warmup,
            next_look,
        }
    }

    /// Starts a TCP transfer; UDP's first packet is its timer's business.
    pub fn start(&mut self, now: Time, out: &mut Vec<Data>) {
        self.look(now);
        if let Generator::Tcp(sender) = &mut self.generator {
            sender.start(now, &mut |data| out.push(data));
        }
    }

    /// The application has nothing more to send.
    pub fn stop(&mut self, now: Time, out: &mut Vec<Data>) {
        self.look(now);
        if let Generator::Tcp(sender) = &mut self.generator {
            sender.stop(now, &mut |data| out.push(data));
        }
    }

    /// An acknowledgement arrives.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: &Ack, out: &mut Vec<Data>) {
        self.look(now);
        if let Generator::Tcp(sender) = &mut self.generator {
            sender.on_ack(now, ack, &mut |data| out.push(data));
            if self.finish.is_none() && sender.is_finished() {
                self.finish = Some(now);
            }
        }
    }

    /// The timer is due.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<Data>) {
        self.look(now);
        match &mut self.generator {
            Generator::Tcp(sender) => sender.on_timer(now, &mut |data| out.push(data)),
            Generator::Udp(cbr, set_at) => {
                *set_at = now;
                if let Some(seq) = cbr.send() {
                    let bytes = cbr.packet_bytes();
                    out.push(Data { sent: now, seq: seq as u32, bytes, flags: DataFlags::NONE });
                }
            }
        }
    }

    /// The timer; for UDP the next packet.
    #[inline]
    pub fn timer(&self) -> Option<Timer> {
        match &self.generator {
            Generator::Tcp(sender) => sender.timer(),
            Generator::Udp(cbr, set_at) => {
                cbr.next_send().map(|deadline| Timer { deadline, set_at: *set_at })
            }
        }
    }

    /// Brings the station to the end of the run.
    pub fn end(&mut self, end: Time) {
        self.look(end);
    }

    pub fn samples(&self) -> &[WindowSample] {
        &self.samples
    }

    /// What was counted since the end of the warm-up.
    pub fn counters(&self) -> SourceCounters {
        let (all, before) = (self.totals(), &self.before);
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
        match &self.generator {
            Generator::Tcp(sender) => {
                let c = sender.counters();
                SourceCounters {
                    sent: c.sent_packets,
                    sent_bytes: c.sent_bytes,
                    retransmissions: c.retransmissions,
                    acked: (i64::from(sender.highest_ack()) + 1) as u64,
                    timeouts: c.timeouts,
                    fast_retransmits: c.fast_retransmits,
                    rtt_samples: c.rtt_samples,
                    rtt_sum: c.rtt_sum,
                }
            }
            Generator::Udp(cbr, _) => SourceCounters {
                sent: cbr.sent(),
                sent_bytes: cbr.sent() * u64::from(cbr.packet_bytes()),
                ..SourceCounters::default()
            },
        }
    }

    /// Looks at what is due before anything happens at `now`: the end of the warm-up, samples.
    #[inline]
    fn look(&mut self, now: Time) {
        while self.next_look <= now {
            self.look_at(self.next_look);
        }
    }

    fn look_at(&mut self, at: Time) {
        if at == self.warmup {
            self.before = self.totals();
        }
        let after_warmup = if at < self.warmup { self.warmup } else { Time::NEVER };
        let next_sample = match (self.sample_interval, &self.generator) {
            (Some(interval), Generator::Tcp(sender)) => {
                if at.0.is_multiple_of(interval.0) {
                    let srtt = sender.srtt().map_or(f64::NAN, Span::secs);
                    let (cwnd, ssthresh) = (sender.cwnd(), sender.ssthresh());
                    self.samples.push(WindowSample { time: at, cwnd, ssthresh, srtt });
                }
                Time((at.0 / interval.0 + 1) * interval.0)
            }
            _ => Time::NEVER,
        };
        self.next_look = after_warmup.min(next_sample);
    }
}

/// The sink of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Sink {
    /// The TCP receiver; UDP only counts.
    receiver: Option<Box<Receiver>>,
    udp: SinkCounters,
    /// The wake-up that is pending for the timer.
    pub wake: Option<Timer>,
    before: SinkCounters,
    /// When to begin to count.
    next_look: Time,
}

impl Sink {
    pub fn new(flow: &Flow, warmup: Span) -> Self {
        let receiver = match &flow.transport {
            Transport::Tcp { config, .. } => Some(Box::new(Receiver::new(config.clone()))),
            Transport::Udp { .. } => None,
        };
        let (udp, before) = (SinkCounters::default(), SinkCounters::default());
        Self { receiver, udp, wake: None, before, next_look: Time::ZERO + warmup }
    }

    /// A data packet arrives.
    #[inline]
    pub fn on_data(&mut self, now: Time, data: &Data, ce: bool, out: &mut Vec<Ack>) {
        self.look(now);
        if let Some(receiver) = &mut self.receiver {
            receiver.on_data(now, data, ce, &mut |ack| out.push(ack));
        } else {
            self.udp.received += 1;
            self.udp.bytes += u64::from(data.bytes);
        }
    }

    /// The timer is due.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<Ack>) {
        self.look(now);
        if let Some(receiver) = &mut self.receiver {
            receiver.on_timer(now, &mut |ack| out.push(ack));
        }
    }

    /// The timer.
    #[inline]
    pub fn timer(&self) -> Option<Timer> {
        self.receiver.as_ref().and_then(|r| r.timer())
    }

    /// Brings the station to the end of the run.
    pub fn end(&mut self, end: Time) {
        self.look(end);
    }

    /// What was counted since the end of the warm-up.
    pub fn counters(&self) -> SinkCounters {
        let all = self.totals();
        SinkCounters { received: all.received - self.before.received, bytes: all.bytes - self.before.bytes }
    }

    fn totals(&self) -> SinkCounters {
        self.receiver.as_ref().map_or(self.udp, |r| {
            let c = r.counters();
            SinkCounters { received: c.delivered_packets, bytes: c.delivered_bytes }
        })
    }

    #[inline]
    fn look(&mut self, now: Time) {
        if self.next_look <= now {
            self.before = self.totals();
            self.next_look = Time::NEVER;
        }
    }
}
