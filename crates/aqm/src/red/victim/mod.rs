//! The victim: which packet pays when one must go.

mod ddred;
mod pc_red;
mod priority_list;

pub use ddred::{Ddred, Distance, Ties};
pub use pc_red::{PcRed, PcRedParams};
pub use priority_list::{Entry, ListParams, PriorityList};

use crate::Meta;
use crate::indexed::Tag;

/// The rules to choose from.
#[derive(Clone, Debug)]
pub enum Victim {
    /// The arriving packet (RED and all that change only its probability).
    Arriving,
    /// A packet picked at random whose flow is not protected.
    PcRed(Box<PcRed>),
    /// The packet that has travelled least.
    Ddred(Ddred),
}

impl Victim {
    /// Whether the victim is always the arriving packet, so that what was accepted is sure to depart.
    pub fn is_arriving(&self) -> bool {
        matches!(self, Self::Arriving)
    }

    /// What the rule will look for in a packet of the queue.
    pub(crate) fn tag(&self, meta: &Meta) -> Tag {
        match self {
            Self::Arriving => Tag::default(),
            Self::PcRed(_) => Tag { key: 0, open: !meta.qosa },
            Self::Ddred(rule) => Tag { key: rule.distance.key(meta), open: true },
        }
    }
}
