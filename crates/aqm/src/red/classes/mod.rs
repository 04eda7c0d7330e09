//! Classes: which set of parameters applies to a packet.

/// The ways of classifying to choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Classes {
    /// One set for all packets.
    #[default]
    One,
}
