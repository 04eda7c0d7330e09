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

impl Timer {
    /// Return when this timer is due; [`Time::NEVER`] without one.
    #[inline]
    pub fn due(timer: Option<Self>) -> Time {
        timer.map_or(Time::NEVER, |timer| timer.deadline)
    }
}
