//! The victim: which packet is dropped or marked when one must be.
//!
//! Every rule is one file, and one line in the list below.

mod custom;
mod priority_list;

pub use choke::{Candidates, DrawFrom};
pub use custom::Custom;
pub(crate) use ddred::{DISTANCE, DISTANCE_WORDS, PAPER as DDRED_PAPER, UNKNOWN_FRACTION};
pub use ddred::{Distance, Ties};
pub use pc_red::{PcRedParams, REDIRECTED, Refresh};
pub use priority_list::{Entry, Limits, ListParams, OverShare, PriorityList};

use aqmlab_units::Time;

use super::curve::Curve;
use super::part::{Part, parts};
use crate::indexed::Indexed;
use crate::spec::ParameterReader;
use crate::{DropReason, Host, Meta, Parameter, ParameterError, ValueKind, names};

/// At which drops the queue is searched for a victim; several rules have this parameter.
pub(crate) const SEARCH: Parameter =
    Parameter::new("search", "", ValueKind::Choice, "DDRED, PC-RED: at which drops the queue is searched")
        .or(&names(&SEARCH_WORDS));
pub(crate) const SEARCH_WORDS: [(&str, bool); 2] = [("all", false), ("early", true)];

/// How a registered victim rule is read.
pub(crate) trait VictimPart: Part + VictimRule {
    /// Read it.
    fn read(reader: &mut ParameterReader<'_>) -> Result<Self, ParameterError>;
}

/// Which packets a victim is chosen from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    /// It is the arriving packet.
    Arriving,
    /// The waiting packets, without the arriving one.
    Waiting,
    /// All packets, the arriving one the last of them.
    All,
}

/// A rule that chooses the packet to drop or mark.
pub(crate) trait VictimRule {
    /// Whether the victim is always the arriving packet, so that the queue is never searched.
    fn is_arriving(&self) -> bool {
        false
    }

    /// Note that a packet arrives, and write into its header the fields that the rule later searches the queue for. Return a reason if
    /// the queue does not take it, whatever RED decides.
    fn on_arrival(&mut self, _now: Time, _meta: &mut Meta) -> Option<DropReason> {
        None
    }

    /// Whether [`VictimRule::on_arrival`] never returns a reason.
    fn takes_all(&self) -> bool {
        true
    }

    /// Whether arrivals may be compared with packets of the queue; if not, `draws` and `draw` are never called.
    fn compares(&self) -> bool {
        false
    }

    /// Whether slots of dropped packets stay in the queue until those before them are taken.
    fn keeps_empty_slots(&self) -> bool {
        false
    }

    /// Return how many packets of the queue are compared with the arrival before RED decides about it.
    fn draws(&self, _average: f64, _curve: &Curve) -> u32 {
        0
    }

    /// Draw a packet of the queue to compare with the arrival. Return its slot if both must be dropped.
    fn draw<P: Copy>(
        &self,
        _queue: &mut Indexed<P>,
        _arriving: &Meta,
        _host: &mut impl Host<P>,
    ) -> Option<usize> {
        None
    }

    /// Return which packets the victim of a decision is chosen from. `is_empty`: no packet waits.
    fn among(&self, _reason: DropReason, _is_empty: bool) -> Among {
        Among::Arriving
    }

    /// Return the slot of the victim.
    fn pick<P: Copy>(&self, _queue: &mut Indexed<P>, _host: &mut impl Host<P>) -> Option<usize> {
        None
    }

    /// Note that the victim was dropped.
    fn on_drop(&mut self, _now: Time, _meta: &Meta) {}

    /// Return warnings about valid but probably mistaken settings, from the traffic so far.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Report the gauges of the rule.
    fn gauges(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}

parts! {
    "victim",
    /// The rules to choose from; `Custom` is that of a plugin.
    #[derive(Clone, Debug)]
    enum Victim, VictimKind, each_victim, of_victim_kind, plugin Custom;
    arriving: Arriving,
    pc_red: PcRed,
    ddred: Ddred,
    choke: Choke,
}

impl VictimKind {
    /// Read a rule of this kind.
    pub(crate) fn read(self, reader: &mut ParameterReader<'_>) -> Result<Victim, ParameterError> {
        of_victim_kind!(self, T => T::read(reader).map(Victim::from))
    }
}

impl Victim {
    /// Whether the victim is always the arriving packet, so that what was accepted is sure to depart.
    #[inline]
    pub fn is_arriving(&self) -> bool {
        each_victim!(self, rule => rule.is_arriving())
    }

    /// A packet arrives. Return a reason if the queue does not take it.
    #[inline(always)]
    pub(crate) fn on_arrival(&mut self, now: Time, meta: &mut Meta) -> Option<DropReason> {
        each_victim!(self, rule => rule.on_arrival(now, meta))
    }

    /// Whether it takes every arrival, or drops it as RED decides.
    pub(crate) fn takes_all(&self) -> bool {
        each_victim!(self, rule => rule.takes_all())
    }

    /// Whether arrivals may be compared with packets of the queue.
    #[inline]
    pub(crate) fn compares(&self) -> bool {
        each_victim!(self, rule => rule.compares())
    }

    /// Whether slots of dropped packets stay in the queue.
    pub(crate) fn keeps_empty_slots(&self) -> bool {
        each_victim!(self, rule => rule.keeps_empty_slots())
    }

    /// How many packets are compared with an arrival.
    #[inline]
    pub(crate) fn draws(&self, average: f64, curve: &Curve) -> u32 {
        each_victim!(self, rule => rule.draws(average, curve))
    }

    /// The slot of a packet that is compared with the arrival, if both must be dropped.
    pub(crate) fn draw<P: Copy>(
        &self,
        queue: &mut Indexed<P>,
        arriving: &Meta,
        host: &mut impl Host<P>,
    ) -> Option<usize> {
        each_victim!(self, rule => rule.draw(queue, arriving, host))
    }

    /// Which packets the victim is chosen from.
    #[inline]
    pub(crate) fn among(&self, reason: DropReason, is_empty: bool) -> Among {
        each_victim!(self, rule => rule.among(reason, is_empty))
    }

    /// The slot of the victim.
    pub(crate) fn pick<P: Copy>(&self, queue: &mut Indexed<P>, host: &mut impl Host<P>) -> Option<usize> {
        each_victim!(self, rule => rule.pick(queue, host))
    }

    /// The victim was dropped.
    #[inline]
    pub(crate) fn on_drop(&mut self, now: Time, meta: &Meta) {
        each_victim!(self, rule => rule.on_drop(now, meta));
    }

    /// Return warnings about valid but probably mistaken settings.
    pub(crate) fn warnings(&self) -> Vec<String> {
        each_victim!(self, rule => rule.warnings())
    }

    /// The gauges of the rule.
    pub(crate) fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        each_victim!(self, rule => rule.gauges(out));
    }
}
