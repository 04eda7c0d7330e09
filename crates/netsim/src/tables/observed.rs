//! Tables of observed links.

use aqmlab_aqm::{DropReason, Ecn, Kind};
use aqmlab_transport::TcpConfig;
use aqmlab_units::Time;

use super::seen::{Seen, SeenLink};
use super::words::CHANNEL;
use super::{Column, Table, integers, reals, texts};
use crate::observe::{EventKind, Observation};
use crate::plan::Transport;

impl<'s> Seen<'s> {
    /// Return the records of observed links, with the names of the links.
    pub fn observed<T>(&self, rows: impl Fn(&'s Observation) -> Vec<T>) -> Vec<(&'s str, T)> {
        let observed = |l: SeenLink<'s>| l.station.observation().map(&rows).unwrap_or_default();
        self.links()
            .flat_map(|l| {
                let name = l.name;
                observed(l).into_iter().map(move |r| (name, r))
            })
            .collect()
    }

    pub fn queue_samples_table(&self) -> Table {
        let rows = self.observed(|o| o.samples().iter().collect());
        vec![
            ("t_s", reals(&rows, |(_, s)| s.time.secs())),
            ("link", texts(&rows, |(name, _)| *name)),
            ("queue_packets", integers(&rows, |(_, s)| s.backlog.packets.into())),
            ("queue_bytes", integers(&rows, |(_, s)| s.backlog.bytes)),
            ("average", reals(&rows, |(_, s)| s.average)),
            ("p_b", reals(&rows, |(_, s)| s.p_b)),
        ]
    }

    pub fn discipline_samples_table(&self) -> Table {
        let rows = self.observed(|o| o.discipline_samples().iter().collect());
        vec![
            ("t_s", reals(&rows, |(_, s)| s.time.secs())),
            ("link", texts(&rows, |(name, _)| *name)),
            ("name", texts(&rows, |(_, s)| s.name)),
            ("value", reals(&rows, |(_, s)| s.value)),
        ]
    }

    pub fn delay_histogram_table(&self) -> Table {
        let rows = self.observed(|o| o.delays().collect());
        vec![
            ("link", texts(&rows, |(name, _)| *name)),
            ("low_s", reals(&rows, |(_, (low, _, _))| *low)),
            ("high_s", reals(&rows, |(_, (_, high, _))| *high)),
            ("count", integers(&rows, |(_, (_, _, n))| *n)),
        ]
    }

    pub fn losses_table(&self) -> Table {
        let rows = self.observed(Observation::losses);
        let flow = |number: u32| self.plan.flows.get(number as usize).map_or("", |flow| &*flow.name);
        vec![
            ("t_s", reals(&rows, |(_, l)| l.time.secs())),
            ("link", texts(&rows, |(name, _)| *name)),
            ("flow", texts(&rows, |(_, l)| flow(l.flow))),
            ("packet", texts(&rows, |(_, l)| packet(l.packet))),
            ("reason", texts(&rows, |(_, l)| l.reason.map_or(CHANNEL, DropReason::name))),
        ]
    }

    pub fn events_table(&self) -> Table {
        let rows = self.observed(|o| o.events().iter().collect());
        vec![
            ("t_ps", integers(&rows, |(_, e)| e.time.0)),
            ("link", texts(&rows, |(name, _)| *name)),
            ("kind", texts(&rows, |(_, e)| kind(e.kind))),
            ("flow", integers(&rows, |(_, e)| e.flow.into())),
            (
                "seq",
                Column::Integer(rows.iter().map(|(_, e)| self.sequence_number(e.flow, e.number)).collect()),
            ),
            ("bytes", integers(&rows, |(_, e)| e.bytes.into())),
            ("reason", texts(&rows, |(_, e)| reason(e.kind))),
            ("packet", texts(&rows, |(_, e)| packet(e.packet))),
            ("dscp", integers(&rows, |(_, e)| e.dscp.into())),
            ("ecn", integers(&rows, |(_, e)| ecn(e.ecn))),
            ("ttl", integers(&rows, |(_, e)| e.ttl.into())),
            ("average", reals(&rows, |(_, e)| e.average)),
        ]
    }

    pub fn packets_table(&self) -> Table {
        let rows = self.observed(|o| o.packets().iter().collect());
        let at = |time: Time| if time == Time::NEVER { f64::NAN } else { time.secs() };
        vec![
            ("offered_s", reals(&rows, |(_, p)| p.offered.secs())),
            ("link", texts(&rows, |(name, _)| *name)),
            ("flow", integers(&rows, |(_, p)| p.flow.into())),
            (
                "seq",
                Column::Integer(rows.iter().map(|(_, p)| self.sequence_number(p.flow, p.number)).collect()),
            ),
            ("bytes", integers(&rows, |(_, p)| p.bytes.into())),
            ("packet", texts(&rows, |(_, p)| packet(p.packet))),
            ("left_s", reals(&rows, |(_, p)| at(p.left))),
            ("dropped_s", reals(&rows, |(_, p)| at(p.dropped))),
            ("marked_s", reals(&rows, |(_, p)| at(p.marked))),
        ]
    }

    /// The sequence number of a packet, or what it acknowledges: in packets, or in bytes modulo 2^32.
    fn sequence_number(&self, flow: u32, number: i32) -> i64 {
        match self.plan.flows.get(flow as usize).map(|flow| &*flow.transport) {
            Some(Transport::Tcp { config: TcpConfig::Rfc(_), .. }) => i64::from(number as u32),
            _ => i64::from(number),
        }
    }
}

/// The sign of a trace line.
fn kind(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Enqueue => "+",
        EventKind::Dequeue => "-",
        EventKind::Drop(_) => "d",
        EventKind::Mark(_) => "m",
    }
}

fn reason(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Enqueue | EventKind::Dequeue => "",
        EventKind::Drop(reason) | EventKind::Mark(reason) => reason.name(),
    }
}

fn packet(kind: Kind) -> &'static str {
    match kind {
        Kind::Data => "data",
        Kind::Ack => "ack",
        Kind::Syn => "syn",
    }
}

/// The two bits in the IP header (RFC 3168, figure 1).
fn ecn(ecn: Ecn) -> u64 {
    ecn as u64
}
