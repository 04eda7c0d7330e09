//! Statistics of tins, as `tc -s` prints them: tins in its order, bulk first.

use aqmlab_units::Span;

use super::hash::WayCounts;
use super::tin::Tin;
use super::{Cake, DiffServ};
use crate::TinStats;

/// Counts of a tin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Packets that left by the link, and their bytes.
    pub packets: u64,
    pub bytes: u64,
    pub drops: u64,
    pub marks: u64,
    pub ack_drops: u64,
    /// Longest packet since the start, in bytes.
    pub longest: u32,
    /// Counts of the hash at the last reset.
    ways_before: WayCounts,
}

impl Counts {
    /// Note that a packet leaves by the link.
    #[inline]
    pub fn sent(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

impl Tin {
    fn reset_counts(&mut self) {
        let ways_before = self.hash.counts;
        self.counts = Counts { longest: self.counts.longest, ways_before, ..Counts::default() };
    }

    fn stats(&self) -> TinStats {
        let Counts { packets, bytes, drops, marks, ack_drops, longest, ways_before } = self.counts;
        let (ways, span) = (self.hash.counts, |ns: u64| Span(ns * 1000));
        TinStats {
            name: self.name,
            threshold_bps: self.threshold * 8,
            target: self.law.target,
            interval: self.law.interval,
            peak_delay: span(self.delays.peak),
            average_delay: span(self.delays.average),
            sparse_delay: span(self.delays.sparse),
            backlog: self.backlog,
            packets,
            bytes,
            indirect_hits: ways.indirect_hits - ways_before.indirect_hits,
            way_misses: ways.misses - ways_before.misses,
            way_collisions: ways.collisions - ways_before.collisions,
            drops,
            marks,
            ack_drops,
            sparse_flows: self.flows.sparse + self.flows.decaying,
            bulk_flows: self.flows.bulk,
            unresponsive_flows: self.unresponsive,
            longest_packet: longest,
            quantum: self.quantum,
        }
    }
}

impl<P> Cake<P> {
    /// Report the tins in the order of `tc -s`.
    pub(super) fn report_tins(&self, out: &mut dyn FnMut(TinStats)) {
        // Linux prints the tin before best effort first where there is one for bulk.
        let bulk_first = matches!(self.params.diffserv, DiffServ::DiffServ3 | DiffServ::DiffServ4);
        let place = |place: usize| if bulk_first && place < 2 { 1 - place } else { place };
        (0..self.tins.len()).for_each(|number| out(self.tins[place(number)].stats()));
    }

    /// Let counts begin now.
    pub(super) fn reset_counts(&mut self) {
        self.tins.iter_mut().for_each(Tin::reset_counts);
    }
}
