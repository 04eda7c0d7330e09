//! Recordings at a sink in addition to its counters: completion of objects, and one-way delays.
//!
//! The delay of a packet is the time from its sending at the source (a retransmission's own) to its arrival at the sink.

use aqmlab_transport::TcpConfig;
use aqmlab_units::{Span, Time};

use crate::application::{Arrivals, most_requests};
use crate::histogram::Histogram;
use crate::message::Message;
use crate::moments::Moments;
use crate::plan::{Flow, Plan, Transport};

/// Bins of a flow's delays: 128 an octave, each less than 1 % wide.
const BINS_LOG2: u32 = 7;

/// The records of a sink.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    pub objects: Option<Arrivals>,
    pub delays: Option<Delays>,
    pub packets: Option<Vec<PacketDelay>>,
}

/// The one-way delays of a flow since the end of the warm-up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays {
    pub packets: u64,
    /// In seconds.
    pub moments: Moments,
    pub least: Option<Span>,
    pub most: Option<Span>,
    pub histogram: Histogram<BINS_LOG2>,
}

impl Delays {
    fn add(&mut self, delay: Span) {
        self.packets += 1;
        self.moments.add(delay.secs());
        self.least = Some(self.least.map_or(delay, |least| least.min(delay)));
        self.most = self.most.max(Some(delay));
        self.histogram.add(delay);
    }
}

/// A packet that has arrived, from the start of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PacketDelay {
    pub number: i32,
    pub sent: Time,
    pub delay: Span,
}

impl Watch {
    /// Nothing where nothing is recorded of flow number `number`.
    pub fn new(number: usize, flow: &Flow, plan: &Plan) -> Option<Box<Self>> {
        let objects = match &*flow.transport {
            Transport::Tcp { config, size, .. } => objects(config, most_requests(size, plan.duration)),
            Transport::Udp { .. } | Transport::Scream(_) => None,
        };
        let packets = plan.probe.packet_delays.binary_search(&(number as u32)).is_ok();
        let watch = Self {
            objects,
            delays: plan.probe.flow_delay.then(Delays::default),
            packets: packets.then(|| Vec::with_capacity(most_packets(flow, plan.duration))),
        };
        let is_on = watch.objects.is_some() || watch.delays.is_some() || watch.packets.is_some();
        is_on.then(|| Box::new(watch))
    }

    /// A data packet arrives.
    pub fn take(&mut self, message: &Message) {
        let (sent, delay) = (message.sent(), message.time.since(message.sent()));
        if let Some(delays) = &mut self.delays {
            delays.add(delay);
        }
        if let Some(packets) = &mut self.packets {
            packets.push(PacketDelay { number: message.number, sent, delay });
        }
    }

    /// The warm-up is over.
    pub fn reset_stats(&mut self) {
        if let Some(delays) = &mut self.delays {
            *delays = Delays::default();
        }
    }
}

fn objects(config: &TcpConfig, most: usize) -> Option<Arrivals> {
    (most > 0).then(|| Arrivals::new(config, most))
}

/// So many packets a source of UDP sends in a run at its mean rate, or of media at their greatest one.
fn most_packets(flow: &Flow, duration: Span) -> usize {
    match &*flow.transport {
        Transport::Udp { rate, packet, .. } => {
            (duration.secs() * rate.bps() / (8.0 * packet.mean())) as usize + 1
        }
        Transport::Scream(config) => {
            let each = config.max_rate.bps() / (8.0 * f64::from(config.mss)) + config.frame_rate;
            (duration.secs() * each) as usize + 1
        }
        Transport::Tcp { .. } => 0,
    }
}
