//! Pacing: data leaves evenly spaced.
//!
//! Linux 6 `tcp_update_pacing_rate`: the rate is ratio * cwnd / SRTT, with a ratio of 2 while cwnd < ssthresh / 2, else
//! 1.2; the first ten packets and those before the first sample are not paced. Off by default: without the `fq` discipline
//! Linux does not pace Reno and CUBIC. A controller that sets its own rate is always paced at that rate.

use aqmlab_units::{Span, Time};

const SLOW_START_RATIO: f64 = 2.0;
const AVOIDANCE_RATIO: f64 = 1.2;
/// Packets at the start that are not paced.
const UNPACED: u64 = 10;

/// When the next packet may leave.
#[derive(Clone, Debug, Default)]
pub struct Pacing {
    next: Time,
}

impl Pacing {
    /// When the next packet may leave, if not at once.
    pub fn waits(&self, now: Time) -> Option<Time> {
        (self.next > now).then_some(self.next)
    }

    /// A packet was sent; how long after it the next may leave.
    pub fn note_sent(&mut self, now: Time, gap: Span) {
        self.next = self.next.max(now) + gap;
    }
}

/// Return the time after the `sent`-th packet; `None`: it is not paced.
pub fn gap(sent: u64, cwnd: f64, ssthresh: f64, srtt: Option<Span>) -> Option<Span> {
    let srtt = srtt.filter(|_| sent >= UNPACED)?;
    let ratio = if cwnd < ssthresh / 2.0 { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
    Some(Span::from_secs(srtt.secs() / (ratio * cwnd.max(1.0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRTT: Option<Span> = Some(Span::from_millis(60));

    #[test]
    fn gaps_by_hand() {
        assert_eq!(gap(10, 10.0, f64::INFINITY, SRTT), Some(Span::from_millis(3)));
        assert_eq!(gap(10, 10.0, 20.0, SRTT), Some(Span::from_millis(5)));
        assert_eq!(gap(9, 10.0, 20.0, SRTT), None, "the first ten leave at once");
        assert_eq!(gap(10, 10.0, 20.0, None), None);
    }

    #[test]
    fn gaps_add_up() {
        let mut pacing = Pacing::default();
        let now = Time::from_secs(1.0);
        assert_eq!(pacing.waits(now), None);
        pacing.note_sent(now, Span::from_millis(5));
        pacing.note_sent(now, Span::from_millis(5));
        assert_eq!(pacing.waits(now), Some(now + Span::from_millis(10)));
    }
}
