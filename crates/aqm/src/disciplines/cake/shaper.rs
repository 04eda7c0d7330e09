//! The shaper in deficit mode (section III.A of the paper), in whole nanoseconds as Linux 6.12 computes.
//!
//! A packet may leave when the time of the last one is over, so there is no burst. The time of a byte is `ns / 2^shift`:
//!
//! ```text
//! ns = ⌊10^9 2^34 / max(64, bytes per second)⌋, halved until it is below 2^34; shift = 34 less the halvings
//! time of a packet = ⌊bytes ns / 2^shift⌋
//! ```
//!
//! Three clocks count these times: the global one; the failsafe clock, which runs at two thirds of the rate and does not count drops, so
//! that drops in `ingress` mode never stop the link; and one for each tin, at the tin's rate. A packet may leave unless both of the first
//! two are ahead of now.

/// The time of a byte: `ns / 2^shift` nanoseconds; 0 if the rate is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteTime {
    ns: u64,
    shift: u32,
}

/// The slowest rate, in bytes per second.
const MIN_RATE: u64 = 64;
const SHIFT: u32 = 34;

impl ByteTime {
    /// Return the time of a byte at a rate in bytes per second; 0 is unlimited.
    pub fn of_rate(rate: u64) -> Self {
        if rate == 0 {
            return Self::default();
        }
        let mut time = Self { ns: (1_000_000_000 << SHIFT) / rate.max(MIN_RATE), shift: SHIFT };
        while time.ns >> SHIFT != 0 {
            time.ns >>= 1;
            time.shift -= 1;
        }
        time
    }

    /// Return whether the rate is unlimited.
    #[inline]
    pub fn is_unlimited(self) -> bool {
        self.ns == 0
    }

    /// Return the nanoseconds of so many bytes.
    #[inline]
    pub fn of(self, bytes: u32) -> u64 {
        u64::from(bytes).wrapping_mul(self.ns) >> self.shift
    }
}

/// The clocks of the whole link, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shaper {
    pub byte_time: ByteTime,
    next: u64,
    failsafe: u64,
}

impl Shaper {
    /// Return the time before which no packet may leave, if that is after `now`.
    #[inline]
    pub fn not_before(&self, now: u64) -> Option<u64> {
        let next = self.next.min(self.failsafe);
        (next > now).then_some(next)
    }

    /// Note that a packet arrives at an empty queue: time that was not used is lost.
    #[inline]
    pub fn on_backlog(&mut self, now: u64) {
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }

    /// Charge a packet of this length on the wire, which leaves or is dropped, to the clocks of the link and of its tin. Without a shaper, do
    /// nothing.
    #[inline]
    pub fn charge(&mut self, tin: &mut TinClock, bytes: u32, now: u64, is_dropped: bool) {
        if self.byte_time.is_unlimited() {
            return;
        }
        tin.charge(bytes, now);
        let time = self.byte_time.of(bytes);
        self.next += time;
        if !is_dropped {
            self.failsafe += time + time / 2;
        }
    }
}

/// The clock of a tin, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TinClock {
    pub byte_time: ByteTime,
    pub next: u64,
}

impl TinClock {
    /// Note that a packet arrives while none of the tin waits.
    #[inline]
    pub fn on_backlog(&mut self, now: u64) {
        self.next = self.next.max(now);
    }

    /// Charge a packet of this length on the wire. A clock ahead of now is set back to the time of this packet at most.
    #[inline]
    fn charge(&mut self, bytes: u32, now: u64) {
        let time = self.byte_time.of(bytes);
        if self.next < now {
            self.next += time;
        } else {
            self.next = self.next.max(now + time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_byte_by_hand() {
        // 1 Mbit/s: 125 000 bytes per second, 8000 ns a byte: 8000 2^34 is halved 13 times, to 8000 2^21 = 16 777 216 000 < 2^34.
        let time = ByteTime::of_rate(125_000);
        assert_eq!(time, ByteTime { ns: 8000 << 21, shift: 21 });
        assert_eq!((time.of(1), time.of(1514)), (8000, 12_112_000));
        // 10 Gbit/s: 0.8 ns a byte, without a halving.
        let time = ByteTime::of_rate(1_250_000_000);
        assert_eq!((time.shift, time.of(1), time.of(1500)), (34, 0, 1199));
        assert_eq!(ByteTime::of_rate(1), ByteTime::of_rate(64));
        assert_eq!(ByteTime::of_rate(64).of(1), 15_625_000);
        assert!(ByteTime::of_rate(0).is_unlimited() && ByteTime::of_rate(0).of(1500) == 0);
    }

    #[test]
    fn packets_leave_at_the_rate_without_a_burst() {
        let mut shaper = Shaper { byte_time: ByteTime::of_rate(125_000), ..Shaper::default() };
        shaper.on_backlog(5000);
        assert_eq!(shaper.not_before(5000), None);
        shaper.charge(&mut TinClock::default(), 1000, 0, false);
        assert_eq!(shaper.not_before(5000), Some(8_005_000));
        assert_eq!(shaper.not_before(8_005_000), None);
        // The link was busy until later: the clock goes on from the time of the packet, so that the rate is kept.
        shaper.charge(&mut TinClock::default(), 1000, 0, false);
        assert_eq!(shaper.not_before(9_000_000), Some(16_005_000));
        // Time in which the queue was empty is lost.
        shaper.on_backlog(50_000_000);
        shaper.charge(&mut TinClock::default(), 125, 0, false);
        assert_eq!(shaper.not_before(50_000_000), Some(51_000_000));
    }

    #[test]
    fn drops_cannot_stop_the_link() {
        let mut shaper = Shaper { byte_time: ByteTime::of_rate(125_000), ..Shaper::default() };
        shaper.on_backlog(1);
        shaper.charge(&mut TinClock::default(), 1000, 0, false);
        shaper.charge(&mut TinClock::default(), 1000, 0, true);
        // 16 ms by the global clock, 12 ms by the failsafe clock.
        assert_eq!(shaper.not_before(1), Some(12_000_001));
    }

    #[test]
    fn the_clock_of_a_tin_neither_saves_nor_lends_more_than_a_packet() {
        let mut clock = TinClock { byte_time: ByteTime::of_rate(125_000), next: 0 };
        clock.on_backlog(10_000_000);
        assert_eq!(clock.next, 10_000_000);
        clock.charge(1000, 10_000_000);
        assert_eq!(clock.next, 18_000_000);
        // Ahead of its time by more than this packet: it stays.
        clock.charge(125, 10_000_000);
        assert_eq!(clock.next, 18_000_000);
        clock.charge(1000, 30_000_000);
        assert_eq!(
            clock.next, 26_000_000,
            "behind: the clock goes on, and the tin is served until it has caught up"
        );
    }
}
