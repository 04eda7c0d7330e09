//! Pacing: data leaves evenly spaced.
//!
//! Linux 6 `tcp_update_pacing_rate`: the rate is ratio * cwnd / SRTT, with a ratio of 2 while cwnd < ssthresh / 2, else
//! 1.2; the first ten packets and those before the first sample are not paced. Off by default: without the `fq` discipline
//! Linux does not pace Reno and CUBIC.

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

    /// A packet was sent, the `sent`-th.
    pub fn note_sent(&mut self, now: Time, sent: u64, cwnd: f64, ssthresh: f64, srtt: Option<Span>) {
        if let (Some(srtt), true) = (srtt, sent >= UNPACED) {
            self.next = self.next.max(now) + spacing(cwnd, ssthresh, srtt);
        }
    }
}

/// Time between two packets.
fn spacing(cwnd: f64, ssthresh: f64, srtt: Span) -> Span {
    let ratio = if cwnd < ssthresh / 2.0 { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
    Span::from_secs(srtt.secs() / (ratio * cwnd.max(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spacing_by_hand() {
        let srtt = Span::from_millis(60);
        assert_eq!(spacing(10.0, f64::INFINITY, srtt), Span::from_millis(3));
        assert_eq!(spacing(10.0, 20.0, srtt), Span::from_millis(5));
    }

    #[test]
    fn the_first_ten_leave_at_once() {
        let mut pacing = Pacing::default();
        let now = Time::from_secs(1.0);
        let srtt = Some(Span::from_millis(60));
        pacing.note_sent(now, 9, 10.0, 20.0, srtt);
        assert_eq!(pacing.waits(now), None);
        pacing.note_sent(now, 10, 10.0, 20.0, srtt);
        pacing.note_sent(now, 11, 10.0, 20.0, srtt);
        assert_eq!(pacing.waits(now), Some(now + Span::from_millis(10)));
    }
}
