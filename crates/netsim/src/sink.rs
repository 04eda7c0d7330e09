//! The sink of a flow, as a station.

use std::sync::Arc;

use aqmlab_aqm::Ecn;
use aqmlab_transport::{Ack, PlainAnswer, Receiver, Timer, scream};
use aqmlab_units::Time;

use crate::message::Message;
use crate::network::Out;
use crate::plan::{Flow, Plan, Transport};
use crate::sampling::Sampler;
use crate::watch::Watch;

/// Picoseconds.
pub(crate) const MICROSECOND: u64 = 1_000_000;

/// A sample of what has come through since time 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSample {
    /// When; before anything that happens at that time.
    pub time: Time,
    /// Bytes of the data packets that arrived, headers and duplicates included.
    pub arrived_bytes: u64,
    /// Bytes delivered in order, headers included.
    pub delivered_bytes: u64,
}

/// The counters of a sink over the measured part of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SinkCounters {
    /// Packets delivered in order (UDP and media: received).
    pub received: u64,
    /// Their bytes, headers included.
    pub bytes: u64,
    /// Their bytes without headers; 0 of UDP and media, whose headers are not known.
    pub payload_bytes: u64,
    /// Data packets that arrived, duplicates included.
    pub arrived: u64,
    /// Their bytes, headers included.
    pub arrived_bytes: u64,
}

/// The station: one cache line with the fields that a plain data packet needs, and a pointer to the others.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Sink {
    /// Whether the source knew the time to live at this end when it sent the last packet received.
    peer_ttl_known: bool,
    /// The receiver of TCP or of media with feedback; UDP only counts.
    receiver: Option<Receiver>,
    arrived: u64,
    arrived_bytes: u64,
    /// When the last data packet arrived, if any has.
    last_arrival: Time,
    /// The end of the warm-up or the next sample.
    next_event: Time,
    has_watch: bool,
    /// Each packet is answered, by its delay.
    answers_pings: bool,
    rest: Box<Rest>,
}

/// Seldom needed fields.
#[derive(Clone, Debug)]
struct Rest {
    /// The wake-up that is pending for the timer.
    wake: Option<Timer>,
    sampler: Option<Box<Sampler<FlowSample>>>,
    watch: Option<Box<Watch>>,
    /// The counters at the end of the warm-up, if it is over.
    before: Option<Box<SinkCounters>>,
    warmup: Time,
}

impl Sink {
    /// Of flow number `number`.
    pub fn new(number: usize, flow: &Flow, plan: &Plan) -> Self {
        let receiver = match &*flow.transport {
            Transport::Tcp { config, .. } => Some(Receiver::new(config)),
            Transport::Udp { .. } => None,
            Transport::Scream(config) => {
                Some(Receiver::Scream(Box::new(scream::Receiver::new(Arc::clone(config)))))
            }
        };
        let (warmup, sampler) = (Time::ZERO + plan.warmup, Sampler::every(plan.probe.flow_interval));
        let watch = Watch::new(number, flow, plan);
        Self {
            peer_ttl_known: false,
            receiver,
            arrived: 0,
            arrived_bytes: 0,
            last_arrival: Time::ZERO,
            next_event: warmup.min(sampler.as_ref().map_or(Time::NEVER, |s| s.next(None))),
            has_watch: watch.is_some(),
            answers_pings: plan.measured_by(number as u32).is_some(),
            rest: Box::new(Rest { wake: None, sampler, watch, before: None, warmup }),
        }
    }

    /// The wake-up that is pending for the timer.
    #[inline]
    pub fn wake(&mut self) -> &mut Option<Timer> {
        &mut self.rest.wake
    }

    /// Whether the source knew the time to live at this end when it sent the last packet received.
    #[inline]
    pub fn peer_ttl_known(&self) -> bool {
        self.peer_ttl_known
    }

    /// When the last data packet arrived.
    pub fn last_received(&self) -> Option<Time> {
        (self.arrived > 0).then_some(self.last_arrival)
    }

    /// A data packet arrives: take it if its answer is plain, and nothing is to be recorded. Return the answer. If not, return `None` and
    /// change nothing: [`Sink::on_data`] takes it.
    #[inline(always)]
    pub fn on_plain_data(&mut self, message: &Message) -> Option<PlainAnswer> {
        if self.next_event <= message.time || self.has_watch {
            return None;
        }
        let answer = self.receiver.as_mut()?.on_plain_data(
            message.time,
            &message.to_data(),
            message.ecn() == Ecn::Ce,
        )?;
        self.count(message);
        Some(answer)
    }

    #[inline(always)]
    fn count(&mut self, message: &Message) {
        self.peer_ttl_known = message.peer_ttl_known();
        self.arrived += 1;
        self.arrived_bytes += u64::from(message.bytes);
        self.last_arrival = message.time;
    }

    /// A data packet arrives, which may have been marked.
    #[inline]
    pub fn on_data(&mut self, message: &Message, out: &mut impl Out<Ack>) {
        let now = message.time;
        self.advance(now);
        self.count(message);
        out.set_peer_ttl_known(self.peer_ttl_known);
        if let Some(receiver) = &mut self.receiver {
            let ce = message.ecn() == Ecn::Ce;
            receiver.on_data(now, &message.to_data(), ce, &mut |ack| out.put(&ack));
        } else if self.answers_pings {
            out.put(&pong(message));
        }
        if self.has_watch {
            self.note(message, out);
        }
    }

    /// Record the packet if the flow is watched. The end of an object is answered at once: a request goes out with it.
    fn note(&mut self, message: &Message, out: &mut impl Out<Ack>) {
        let Some(watch) = &mut self.rest.watch else { return };
        watch.take(message);
        if let (Some(objects), Some(receiver)) = (&mut watch.objects, &mut self.receiver) {
            let (data, expected) = (message.to_data(), receiver.expected());
            if objects.take(message.time, &data, message.is_last(), expected) && receiver.timer().is_some() {
                receiver.on_timer(message.time, &mut |ack| out.put(&ack));
            }
        }
    }

    /// The timer is due.
    pub fn on_timer(&mut self, now: Time, out: &mut impl Out<Ack>) {
        self.advance(now);
        if let Some(receiver) = &mut self.receiver {
            receiver.on_timer(now, &mut |ack| out.put(&ack));
        }
    }

    /// Prefetch the fields of the receiver that a plain packet needs.
    #[inline]
    pub fn prefetch_receiver(&self) {
        if let Some(receiver) = &self.receiver {
            receiver.prefetch();
        }
    }

    /// Return when the timer is due; `NEVER` without one.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.receiver.as_ref().map_or(Time::NEVER, Receiver::deadline)
    }

    /// The timer.
    #[inline]
    pub fn timer(&self) -> Option<Timer> {
        self.receiver.as_ref().and_then(|r| r.timer())
    }

    /// Advance the station to the end of the run.
    pub fn end(&mut self, end: Time) {
        self.advance(end);
    }

    /// Recordings in addition to counters and samples.
    pub fn watch(&self) -> Option<&Watch> {
        self.rest.watch.as_deref()
    }

    pub fn samples(&self) -> &[FlowSample] {
        self.rest.sampler.as_ref().map_or(&[], |s| s.samples())
    }

    /// Return the counters since the end of the warm-up.
    pub fn counters(&self) -> SinkCounters {
        let (all, before) = (self.totals(), self.rest.before.as_deref().copied().unwrap_or_default());
        SinkCounters {
            received: all.received - before.received,
            bytes: all.bytes - before.bytes,
            payload_bytes: all.payload_bytes - before.payload_bytes,
            arrived: all.arrived - before.arrived,
            arrived_bytes: all.arrived_bytes - before.arrived_bytes,
        }
    }

    fn totals(&self) -> SinkCounters {
        let Self { arrived, arrived_bytes, .. } = *self;
        let (received, bytes, payload_bytes) = match &self.receiver {
            Some(receiver) => {
                let counters = receiver.counters();
                (counters.delivered_packets, counters.delivered_bytes, counters.delivered_payload)
            }
            None => (arrived, arrived_bytes, 0),
        };
        SinkCounters { received, bytes, payload_bytes, arrived, arrived_bytes }
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
            if let Some(watch) = &mut self.rest.watch {
                watch.reset_stats();
            }
        }
        let SinkCounters { bytes: delivered_bytes, arrived_bytes, .. } = self.totals();
        if let Some(sampler) = &mut self.rest.sampler {
            sampler.take(at, || FlowSample { time: at, arrived_bytes, delivered_bytes });
        }
        let after_warmup = if at < self.rest.warmup { self.rest.warmup } else { Time::NEVER };
        self.next_event =
            after_warmup.min(self.rest.sampler.as_ref().map_or(Time::NEVER, |s| s.next(Some(at))));
    }
}

/// Return the answer of a ping: it has the ping's length, and its number is the one-way delay in microseconds.
fn pong(ping: &Message) -> Ack {
    let delay = ping.time.since(ping.sent()).0 / MICROSECOND;
    let ack = i32::try_from(delay).unwrap_or(i32::MAX);
    Ack { ts_echo: ping.sent(), ack, bytes: ping.bytes, ace: Ack::OF_PING, ..Ack::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    /// A kilobyte a flow with windows up to 64 packets, of which a cache line each is needed again and again;
    /// `transport` tests the remainder, the size of a connection.
    #[test]
    fn the_stations_of_a_flow_are_small() {
        const CONNECTION: usize = 640;
        assert_eq!((size_of::<Source>(), size_of::<Sink>()), (64, 64));
        // The ends of the connection are allocated, and so are the seldom needed fields.
        let heap = Source::REST_BYTES + size_of::<Rest>() + 4 * 16;
        let bytes = size_of::<Source>() + size_of::<Sink>() + heap + CONNECTION;
        assert!(bytes <= 1024, "{bytes} bytes");
    }
}
