use aqmlab_units::{Span, Time};

use super::priority_list::{Entry, ListParams, PriorityList};
use crate::indexed::{Indexed, Tag};
use crate::{Host, Kind, Meta};

/// PC-RED (Y. Li and S.-H. Yang, "PC-RED for IPv6: Algorithm and Performance Analysis"): a packet picked at random
/// pays, unless its flow has lately lost more than it was promised.
///
/// The router keeps a list of flows. The average size of the drops of a flow is a_d, in bytes per standard dropping
/// interval g (section 2, eq. 7), updated when the flow loses a packet of x bytes, m intervals after it lost the last:
///
/// ```text
/// a_d <- (1 - w)^m a_d + w x            status <- a_d > L
/// ```
///
/// An arriving packet carries its flow's status as the bit QOSA for as long as it is in this queue. When one packet
/// must go, the arriving one is put at the tail, a packet is picked uniformly, and from it on towards the tail the
/// first without QOSA is the victim; the last packet is it whatever its bit.
///
/// | symbol | parameter | unit | allowed |
/// |---|---|---|---|
/// | L | `loss_limit` | bytes per interval | > 0; flows without priority have none |
/// | g | `loss_interval` | s | > 0 |
/// | w | `loss_weight` | 1 | 0 < w < 1 |
///
/// Readings: a_d changes only at a drop (P-5, `status_refresh = "on-drop"`) or is looked at, decayed, at each arrival
/// too (`on-arrival`); m is real (P-3) or rounded down; the scan ends at the tail (P-9) or goes on from the head, so
/// that a protected packet pays only when all are; QOSA from an upstream router is overwritten (P-7); a packet arriving
/// is a candidate (P-8); flows with priority are those whose packets have a class above 0 (P-11).
#[derive(Clone, Debug)]
pub struct PcRed {
    params: PcRedParams,
    list: PriorityList,
    seen: Tallies,
}

/// Parameters; see [`PcRed`].
#[derive(Clone, Debug)]
pub struct PcRedParams {
    /// w.
    pub weight: f64,
    /// g.
    pub interval: Span,
    /// Whole intervals only.
    pub floor: bool,
    /// Look at the status at every arrival.
    pub refresh_on_arrival: bool,
    /// Go on from the head when the scan reaches the tail.
    pub circular: bool,
    /// L and the bounds of the list.
    pub list: ListParams,
}

impl PcRedParams {
    /// a_d as it has decayed since the flow's last drop.
    fn decayed(&self, entry: &Entry, now: Time) -> f64 {
        let m = now.since(entry.last_drop).secs() / self.interval.secs();
        entry.a_d * libm::pow(1.0 - self.weight, if self.floor { m.floor() } else { m })
    }
}

/// Arrivals and drops of protected packets, of other packets of high-priority flows, and of the rest.
#[derive(Clone, Copy, Debug, Default)]
struct Tallies {
    arrivals: [u64; 3],
    drops: [u64; 3],
}

fn class_of(has_priority: bool, qosa: bool) -> usize {
    match (has_priority, qosa) {
        (true, true) => 0,
        (true, false) => 1,
        (false, _) => 2,
    }
}

impl PcRed {
    /// With an empty list.
    pub fn new(params: PcRedParams) -> Self {
        let list = PriorityList::new(params.list.clone());
        Self { params, list, seen: Tallies::default() }
    }

    /// A packet arrives: its flow is looked up and its QOSA bit set.
    pub(crate) fn on_arrival(&mut self, now: Time, meta: &mut Meta) {
        let entry = self.list.lookup(now, meta);
        if self.params.refresh_on_arrival {
            entry.protected = self.params.decayed(entry, now) > entry.limit;
        }
        meta.header.set_qosa(entry.protected);
        if meta.header.kind() != Kind::Ack {
            let class = class_of(entry.has_priority(), meta.header.qosa());
            self.seen.arrivals[class] += 1;
        }
    }

    /// The slot of the victim, among the packets of a queue that holds the arriving one at its tail.
    pub(crate) fn pick<P: Copy>(&self, queue: &mut Indexed<P>, host: &mut impl Host<P>) -> Option<usize> {
        let packets = queue.len();
        let index = queue.index(|meta| Tag { key: 0, open: !meta.header.qosa() });
        let picked = index.nth(host.below(packets as u64) as usize)?;
        let open = index.open_from(picked);
        let open = open.or_else(|| if self.params.circular { index.open_from(0) } else { None });
        open.or_else(|| index.nth(packets - 1))
    }

    /// The victim was dropped.
    pub(crate) fn on_drop(&mut self, now: Time, meta: &Meta) {
        let entry = self.list.lookup(now, meta);
        entry.a_d = self.params.decayed(entry, now) + self.params.weight * f64::from(meta.bytes);
        entry.protected = entry.a_d > entry.limit;
        entry.last_drop = now;
        if meta.header.kind() != Kind::Ack {
            let class = class_of(entry.has_priority(), meta.header.qosa());
            self.seen.drops[class] += 1;
        }
    }

    /// Says so if more flows ask for priority than r_p_max allows.
    pub(crate) fn warning(&self) -> Option<String> {
        let (flows, priority, _) = self.list.counts();
        let asking = self.list.entries().filter(|e| e.asks).count() as u32;
        let ListParams { r_p_max, .. } = self.params.list;
        (f64::from(asking) > r_p_max * f64::from(flows)).then(|| {
            format!(
                "{asking} of {flows} flows ask for priority, more than r_p_max = {r_p_max} allows; {priority} have it"
            )
        })
    }

    /// What there is to see: see the names.
    pub(crate) fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let (flows, priority, over) = self.list.counts();
        let of_kind =
            |has_priority| self.list.entries().filter(move |e| !e.acks && e.has_priority() == has_priority);
        let protected = of_kind(true).filter(|e| e.protected).count() as u32;
        out("n_p_plus", f64::from(protected));
        out("n_p_minus", f64::from(priority - protected));
        out("r_p", f64::from(priority) / f64::from(flows));
        out("listed", f64::from(flows));
        out("refused", over as f64);
        let names = [
            ("arrivals_plus", "drops_plus"),
            ("arrivals_minus", "drops_minus"),
            ("arrivals_non", "drops_non"),
        ];
        for (class, (arrivals, drops)) in names.into_iter().enumerate() {
            out(arrivals, self.seen.arrivals[class] as f64);
            out(drops, self.seen.drops[class] as f64);
        }
        for (has_priority, mean, first) in
            [(true, "a_d_high", "a_d_first_high"), (false, "a_d_non", "a_d_first_non")]
        {
            let mut flows: Vec<_> = of_kind(has_priority).map(|e| (e.flow, e.a_d)).collect();
            flows.sort_unstable_by_key(|&(flow, _)| flow);
            out(mean, flows.iter().map(|(_, a_d)| a_d).sum::<f64>() / flows.len() as f64);
            out(first, flows.first().map_or(f64::NAN, |&(_, a_d)| a_d));
        }
    }
}
