//! Times during which a link is down, by `[[change]]` with `state`.
//!
//! A link that goes down loses the packet in service and those on the wire. Its queue is kept, or flushed. While it is down, packets that
//! arrive take the detour of their path, or are dropped without one. When it is up again, the service of the first packet that
//! waits starts.

use aqmlab_aqm::{DropClass, DropReason};
use aqmlab_units::Time;

/// The link is down, and the packet has no other way.
pub(crate) const DOWN: DropReason = DropReason::new(&("down", DropClass::Route));
/// It waited when the link went down.
pub(crate) const FLUSHED: DropReason = DropReason::new(&("flushed", DropClass::Route));
/// It was in service or on the wire when the link went down.
pub(crate) const CUT: DropReason = DropReason::new(&("cut", DropClass::Route));

/// A time during which a link is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The link goes down.
    pub down: Time,
    /// It is up again; `NEVER` if it stays down.
    pub up: Time,
    /// The packets that wait are dropped.
    pub flushes: bool,
}

/// The outages of a link, in order, as a clock passes them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outages {
    all: Vec<Outage>,
    next: usize,
}

impl Outages {
    pub fn new(all: &[Outage]) -> Self {
        Self { all: all.to_vec(), next: 0 }
    }

    /// Return the first outage that is not over at a time, which does not fall from call to call.
    pub fn at(&mut self, time: Time) -> Option<Outage> {
        while self.all.get(self.next).is_some_and(|outage| outage.up <= time) {
            self.next += 1;
        }
        self.all.get(self.next).copied()
    }

    /// Return whether the link is down at a time, which does not fall from call to call.
    pub fn is_down(&mut self, time: Time) -> bool {
        self.at(time).is_some_and(|outage| outage.down <= time)
    }

    /// Return whether waiting packets are dropped at a time.
    pub fn flushes_at(&self, time: Time) -> bool {
        self.all.iter().any(|outage| outage.flushes && outage.down == time)
    }

    /// Return the next time after `time` at which waiting packets are dropped; without `time` the first.
    pub fn next_flush(&self, time: Option<Time>) -> Time {
        let mut flushes = self.all.iter().filter(|outage| outage.flushes).map(|outage| outage.down);
        flushes.find(|down| time.is_none_or(|time| *down > time)).unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_down_from_the_start_of_an_outage_until_before_its_end() {
        let outage = |down, up, flushes| Outage { down: Time(down), up: Time(up), flushes };
        let mut outages =
            Outages::new(&[outage(5, 7, true), outage(7, 9, false), outage(20, u64::MAX, true)]);
        let down: Vec<_> = (0..25).filter(|time| outages.is_down(Time(*time))).collect();
        assert_eq!(down, [5, 6, 7, 8, 20, 21, 22, 23, 24]);
        assert_eq!(outages.next_flush(None), Time(5));
        assert_eq!(outages.next_flush(Some(Time(5))), Time(20));
        assert_eq!(outages.next_flush(Some(Time(20))), Time::NEVER);
        assert!(outages.flushes_at(Time(5)) && !outages.flushes_at(Time(7)));
    }
}
