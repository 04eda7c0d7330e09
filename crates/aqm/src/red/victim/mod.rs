//! The victim: which packet pays when one must go.

mod choke;
mod custom;
mod ddred;
mod pc_red;
mod priority_list;

pub use choke::{Candidates, Choke};
pub use custom::Custom;
pub use ddred::{Ddred, Distance, Ties};
pub use pc_red::{PcRed, PcRedParams};
pub use priority_list::{Entry, ListParams, PriorityList};

use aqmlab_units::Time;

use crate::Meta;

/// The rules to choose from.
#[derive(Clone, Debug)]
pub enum Victim {
    /// The arriving packet (RED and all that change only its probability).
    Arriving,
    /// A packet picked at random whose flow is not protected.
    PcRed(Box<PcRed>),
    /// The packet that has travelled least.
    Ddred(Ddred),
    /// The arrival and a packet drawn at random, if they are of one flow; else the arrival.
    Choke(Choke),
    /// A rule that is written elsewhere.
    Custom(Custom),
}

impl Victim {
    /// Whether the victim is always the arriving packet, so that what was accepted is sure to depart.
    #[inline]
    pub fn is_arriving(&self) -> bool {
        matches!(self, Self::Arriving)
    }

    /// A packet arrives.
    #[inline(never)]
    pub(crate) fn on_arrival(&mut self, now: Time, meta: &mut Meta) {
        if let Self::PcRed(rule) = self {
            rule.on_arrival(now, meta);
        }
    }
}
