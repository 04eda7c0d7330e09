//! DCTCP: the window shrinks in proportion to the share of marked packets.
//!
//! S. Bensley et al., RFC 8257. The receiver reports every marked packet, not only that there was one; the sender
//! keeps a moving average of their share in a window of data and takes half of it off the window, so that many small
//! reductions hold a short queue that marks above one threshold:
//!
//! ```text
//! M = marked / acknowledged in the window                                  (section 3.3, step 5)
//! alpha = alpha (1 - g) + g M                                              (section 3.3, step 6)
//! cwnd = cwnd (1 - alpha / 2), at most once a window                       (section 3.3, step 9)
//! cwnd = cwnd / 2 for a loss                                               (section 3.5)
//! ```
//!
//! Otherwise it is Reno. With N flows, step marking at K and a round trip of C RTT packets the queue stays near K
//! (M. Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010, section 3.3).
//!
//! | symbol | field | unit | default | range | source |
//! |---|---|---|---|---|---|
//! | g | `dctcp_g` | | 1/16 | 0 to 1 | section 4.2 |
//! | initial alpha | `dctcp_initial_alpha` | | 1 | 0 to 1 | section 3.3 |
//!
//! # Differences from the RFC
//! 1. Segments are counted, not bytes: all but the last have one size.
//! 2. Segments that are acknowledged selectively count when they are, as in Linux; section 3.3, step 1, ignores SACK.
//!
//! # Readings
//! 1. A window ends when more than what was outstanding at its beginning is acknowledged (step 3: beyond WindowEnd).
//! 2. The window shrinks to its new size by PRR over a round trip, as in Linux 6, or at once with `prr = false`; and a
//!    loss within that round trip halves it still, also as in Linux.
//! 3. Of a window of whole segments, whole ones are taken off, rounded down, as in Linux: a small alpha takes nothing
//!    off a small window.

use aqmlab_units::{Span, Time};

use super::super::window::Window;
#[cfg(test)]
use super::tests::Change;
use super::{AckFeedback, Cause, Controller, reno};
#[cfg(test)]
use crate::Value;
use crate::ValueKind;
use crate::parameters::number;
use crate::rfc::{Config, EcnFeedback};
use crate::settings::{Setting, field};

/// Parameters of DCTCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DctcpConfig {
    /// Weight of a window in the average share of marks.
    pub g: f64,
    /// The average before the first window.
    pub initial_alpha: f64,
}

impl DctcpConfig {
    /// The values of RFC 8257, sections 3.3 and 4.2.
    pub const RFC: Self = Self { g: 1.0 / 16.0, initial_alpha: 1.0 };
}

/// State of DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    g: f64,
    alpha: f64,
    /// The window is over when more than this is acknowledged.
    window_end: u64,
    acked: u64,
    marked: u64,
}

impl Controller for Dctcp {
    const NAME: &'static str = "dctcp";
    const DOC: &'static str = "the share of marked packets";
    const SOURCE: &'static str = "RFC 8257";
    const FEEDBACK: &'static [EcnFeedback] = &[EcnFeedback::Dctcp, EcnFeedback::Accurate];
    const LINUX_NAME: Option<&'static str> = Some(Self::NAME);
    const NEEDS_FEEDBACK: bool = true;
    const REDUCES_FOR_LOSS_AFTER_MARK: bool = true;

    type Options = DctcpConfig;
    const DEFAULTS: DctcpConfig = DctcpConfig::RFC;
    const SETTINGS: &'static [Setting<Self::Options>] = &[
        number(
            "dctcp_g",
            ValueKind::Number,
            ("0.0625", 1e-6, 1.0),
            "DCTCP: weight of a window of data in the average share of marked packets.",
            "RFC 8257, section 4.2: 1/16",
        )
        .is(field!(g)),
        number(
            "dctcp_initial_alpha",
            ValueKind::Number,
            ("1", 0.0, 1.0),
            "DCTCP: the average share of marked packets before the first window.",
            "RFC 8257, section 3.3",
        )
        .is(field!(initial_alpha)),
    ];

    fn new(config: &Config) -> Self {
        Self::with(&config.controllers.dctcp)
    }

    /// The connection opens: the first window begins.
    fn open(&mut self, _: Time, next: u64, _: Option<Span>) {
        self.window_end = next;
    }

    /// Count the marked segments; update the average at the end of a window.
    fn on_feedback(&mut self, _: &Window, _: Time, feedback: &AckFeedback) {
        self.acked += feedback.delivered;
        self.marked += feedback.marked;
        let (una, next) = feedback.edges;
        if una <= self.window_end || self.acked == 0 {
            return;
        }
        // A duplicate may have been marked too.
        let share = (self.marked as f64 / self.acked as f64).min(1.0);
        self.alpha += self.g * (share - self.alpha);
        self.window_end = next;
        self.acked = 0;
        self.marked = 0;
    }

    fn open_window(&mut self, window: &mut Window, _: Time, acked: f64, _: f64) {
        reno::open_window(window, acked);
    }

    /// A loss or a mark; the new threshold.
    fn reduce(&mut self, window: &Window, cause: Cause) -> f64 {
        match cause {
            Cause::Loss => reno::reduce(window),
            Cause::Mark => window.less(self.alpha / 2.0),
        }
    }

    #[cfg(test)]
    fn changes() -> Vec<Change> {
        vec![Change::to("dctcp_g", Value::Real(0.5)), Change::to("dctcp_initial_alpha", Value::Real(0.0))]
    }
}

impl Dctcp {
    fn with(config: &DctcpConfig) -> Self {
        Self { g: config.g, alpha: config.initial_alpha, window_end: 0, acked: 0, marked: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dctcp(alpha: f64) -> Dctcp {
        Dctcp::with(&DctcpConfig { g: 1.0 / 16.0, initial_alpha: alpha })
    }

    fn feedback(delivered: u64, marked: u64, edges: (u64, u64)) -> AckFeedback {
        AckFeedback { delivered, marked, edges, one_way: None, srtt: None }
    }

    fn take(d: &mut Dctcp, feedback: &AckFeedback) {
        d.on_feedback(&window(10.0, true), Time::ZERO, feedback);
    }

    fn window(cwnd: f64, whole: bool) -> Window {
        let mut window = Window::new(Some(2), whole);
        window.cwnd = cwnd;
        window
    }

    #[test]
    fn the_average_by_hand() {
        let mut d = dctcp(1.0);
        d.open(Time::ZERO, 11, None);
        take(&mut d, &feedback(5, 2, (6, 16)));
        take(&mut d, &feedback(5, 3, (11, 21)));
        assert_eq!(d.alpha, 1.0, "the window ends beyond 11");
        take(&mut d, &feedback(2, 1, (13, 23)));
        // M = 6/12: 1 - (1 - 0.5) / 16.
        assert_eq!((d.alpha, d.window_end, d.acked), (0.968_75, 23, 0));
        take(&mut d, &feedback(11, 0, (24, 34)));
        assert_eq!(d.alpha, 0.968_75 * 15.0 / 16.0);
    }

    #[test]
    fn a_mark_takes_half_of_alpha_off_and_a_loss_half() {
        assert_eq!(dctcp(1.0).reduce(&window(10.0, true), Cause::Mark), 5.0);
        assert_eq!(dctcp(0.25).reduce(&window(40.0, false), Cause::Mark), 35.0);
        assert_eq!(dctcp(0.25).reduce(&window(41.0, true), Cause::Mark), 36.0, "41 / 8 = 5.1 are taken off");
        assert_eq!(dctcp(0.1).reduce(&window(19.0, true), Cause::Mark), 19.0, "less than one");
        assert_eq!(dctcp(0.25).reduce(&window(40.0, true), Cause::Loss), 20.0);
        assert_eq!(dctcp(1.0).reduce(&window(2.0, true), Cause::Mark), 2.0, "two at the least");
    }

    proptest! {
        #[test]
        fn alpha_is_a_share(steps in prop::collection::vec((0u64..100, 0u64..120), 1..200)) {
            let mut d = dctcp(1.0);
            let mut una = 0;
            for (delivered, marked) in steps {
                una += delivered;
                take(&mut d, &feedback(delivered, marked, (una, una + 30)));
                prop_assert!((0.0..=1.0).contains(&d.alpha));
                let threshold = d.reduce(&window(50.0, false), Cause::Mark);
                prop_assert!((25.0..=50.0).contains(&threshold));
            }
        }
    }
}
