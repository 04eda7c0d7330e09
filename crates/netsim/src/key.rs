use aqmlab_units::Time;

/// The order of simultaneous inputs of a station: by the time, the time at which they were caused, and the source
/// station.
///
/// The cause of a packet's arrival is the start of its transmission, that of an end of service the start of the
/// service, that of a timer the moment it was set. It travels with every message, so that the order is local to
/// a station, and it is the order of first scheduled, first served wherever times are exact. A packet that is handed
/// on without delay (from an endpoint to its first link, or by a router) keeps the key of the event that sent it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub time: Time,
    pub cause: Time,
    pub source: u32,
}

impl Key {
    /// `self < other`. Nearly always the times decide.
    #[inline(always)]
    pub fn precedes(self, other: Self) -> bool {
        self.time < other.time
            || (self.time == other.time
                && precedes_at_a_tie(self.cause, self.source, other.cause, other.source))
    }

    /// Before everything that happens at `time`.
    pub fn start_of(time: Time) -> Self {
        Self { time, cause: Time::ZERO, source: 0 }
    }
}

#[cold]
#[inline(never)]
fn precedes_at_a_tie(cause: Time, source: u32, other_cause: Time, other_source: u32) -> bool {
    (cause, source) < (other_cause, other_source)
}
