//! The only clock of the data plane: CLOCK_MONOTONIC in nanoseconds, in which timers are set as well.

use nix::time::{ClockId, clock_gettime};

/// Nanoseconds of the monotonic clock.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has a monotonic clock");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}
