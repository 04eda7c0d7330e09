//! The victim: which packet pays when one must go.

/// The rules to choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Victim {
    /// The arriving packet (RED and all that change only its probability).
    #[default]
    Arriving,
}

impl Victim {
    /// Whether the victim is always the arriving packet, so that what was accepted is sure to depart.
    pub fn is_arriving(self) -> bool {
        match self {
            Self::Arriving => true,
        }
    }
}
