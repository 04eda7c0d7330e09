use aqmlab_units::Time;

/// A running timer of an endpoint.
///
/// The host calls `on_timer` at `deadline`, unless the endpoint changes or stops the timer before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// When `on_timer` is due.
    pub deadline: Time,
    /// When the timer was last set. Of simultaneous events the one caused first comes first, so this is what
    /// orders a timer among packets that arrive at its deadline.
    pub set_at: Time,
}
