//! BBR, version 3: paces at the bandwidth that it measures, with as much in flight as fills the path.
//!
//! N. Cardwell et al., "BBR congestion control", draft-ietf-ccwg-bbr-06. A model of the path (the greatest rate of
//! delivery of the last two probing cycles, the least round-trip time of ten seconds) gives the product of both, the
//! BDP; a machine of states departs from it to learn more:
//!
//! ```text
//! bw = min(max_bw, bw_shortterm)                                           (section 5.5.10.3)
//! pacing rate = pacing_gain bw 0.99                                        (section 5.6.2)
//! max_inflight = cwnd_gain bw min_rtt + extra_acked                        (section 5.6.4.2)
//! cwnd <= inflight_longterm, inflight_shortterm                            (section 5.6.4.7)
//! ```
//!
//! | state | pacing gain | window's gain | until |
//! |---|---|---|---|
//! | Startup | 2.77 | 2 | the rate grows by less than a quarter in three rounds, or losses (`startup.rs`) |
//! | Drain | 0.5 | 2 | a BDP is in flight |
//! | ProbeBW: Down, Cruise, Refill, Up | 0.9, 1, 1, 1.25 | 2, 2, 2, 2.25 | in turn (`probe_bw.rs`) |
//! | ProbeRTT | 1 | 0.5 | 200 ms and a round trip with half a BDP in flight (`probe_rtt.rs`) |
//!
//! `losses.rs` has the response to losses, `marks.rs` the response to marks, `../delivery.rs` the rate samples.
//!
//! | symbol | field | unit | default | range | source |
//! |---|---|---|---|---|---|
//! | LossThresh | `bbr_loss_thresh` | | 0.02 | 0 to 1 | section 5.5.10.2 |
//! | Beta | `bbr_beta` | | 0.7 | 0 to 1 | section 5.5.10.2 |
//! | Headroom | `bbr_headroom` | | 0.15 | 0 to 0.9 | section 5.3.3.1 |
//! | PacingMarginPercent | `bbr_pacing_margin` | | 0.01 | 0 to 0.5 | section 5.6.2 |
//! | MinRTTFilterLen | `bbr_min_rtt_window` | s | 10 s | 1 ms to 1000 s | section 5.5.7.2 |
//! | ProbeRTTInterval | `bbr_probe_rtt_interval` | s | 5 s | 1 ms to 1000 s | section 5.3.4.1 |
//! | ProbeRTTDuration | `bbr_probe_rtt_duration` | s | 200 ms | 1 ms to 10 s | section 5.3.4.1 |
//!
//! # Differences from the draft
//! 1. Segments and seconds, not bytes: the last segment of a transfer counts as a full one.
//! 2. A sender of this crate has no random numbers: a hash of the time replaces the draw in section 5.3.3.8.3.
//! 3. The draft leaves ECN out: marks are answered as Google's version 3 for Linux does, with `ecn` on (off by default).
//! 4. Lost ranges of Startup are counted as acknowledgements that report losses, as in Linux.
//!
//! # Readings
//! 1. `extra_acked` is the greatest of the last five to ten rounds, in two slots, as in Linux.
//! 2. The send quantum has its formula (section 5.6.3) where room is computed from it, but segments leave one by one.

mod control;
mod losses;
mod marks;
mod probe_bw;
mod probe_rtt;
mod startup;

use aqmlab_units::{Span, Time};

use super::super::window::Window;
use super::delivery::{Deliveries, FullPipe, Rounds, Sample, pacing_gap};
#[cfg(test)]
use super::tests::Change;
use super::{Acked, Cause, Controller};
#[cfg(test)]
use crate::Value;
use crate::ValueKind;
use crate::parameters::{number, time};
use crate::rfc::{Config, EcnFeedback};
use crate::settings::{Setting, field};

/// Least window, in segments (section 5.6.4.3).
const MIN_PIPE_CWND: f64 = 4.0;
const DEFAULT_CWND_GAIN: f64 = 2.0;

/// The states, with those of ProbeBW side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    fn probes_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// Return whether the state probes for bandwidth, so that losses say little about other flows (IsProbingBW).
    fn accelerates(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// The phase of ProbeBW that arriving acknowledgements belong to (section 5.3.3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// Parameters of BBR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrConfig {
    /// Loss rate in a round trip from which the data in flight is considered too much.
    pub loss_thresh: f64,
    /// Smallest factor by which losses multiply a bound.
    pub beta: f64,
    /// Share of the in-flight bound that is left to other flows.
    pub headroom: f64,
    /// Share by which the pacing rate is below the estimated bandwidth.
    pub pacing_margin: f64,
    /// Time after which a minimum round-trip time expires.
    pub min_rtt_window: Span,
    /// Time without a new minimum after which ProbeRTT begins.
    pub probe_rtt_interval: Span,
    /// Minimum duration of ProbeRTT.
    pub probe_rtt_duration: Span,
    /// Weight of the average share of marks in the reduction of the in-flight bound.
    pub ecn_factor: f64,
    /// Share of marks from which the data in flight is considered too much.
    pub ecn_thresh: f64,
    /// Marks are ignored on paths with a longer minimum round-trip time.
    pub ecn_max_rtt: Span,
}

impl BbrConfig {
    /// The values of the draft.
    pub const DRAFT: Self = Self {
        loss_thresh: 0.02,
        beta: 0.7,
        headroom: 0.15,
        pacing_margin: 0.01,
        min_rtt_window: Span::from_millis(10_000),
        probe_rtt_interval: Span::from_millis(5_000),
        probe_rtt_duration: Span::from_millis(200),
        ecn_factor: 1.0 / 3.0,
        ecn_thresh: 0.5,
        ecn_max_rtt: Span::from_millis(5),
    };
}

/// State of BBR, by the draft's names.
#[derive(Clone, Debug)]
pub struct Bbr {
    config: BbrConfig,
    mss: f64,
    initial_cwnd: f64,
    sack: bool,
    pub deliveries: Deliveries,
    state: State,
    pacing_rate: f64,
    rounds: Rounds,
    /// Greatest rates of the last cycle of ProbeBW and of this one, in segments a second.
    max_bw: [f64; 2],
    bw: f64,
    min_rtt: Option<Span>,
    min_rtt_stamp: Time,
    full_pipe: FullPipe,
    full_bw_reached: bool,
    drain_start_round: u64,
    losses: losses::Signals,
    marks: marks::Marks,
    cycle: probe_bw::Cycle,
    probe_rtt: probe_rtt::Probe,
    aggregation: control::Aggregation,
    /// Bounds of the short and the long term; infinite where there are none.
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
    prior_cwnd: f64,
    repairing: bool,
    idle_restart: bool,
}

impl Controller for Bbr {
    const NAME: &'static str = "bbr";
    const DOC: &'static str = "BBRv3: rate of delivery, least round-trip time, losses above 2 %";
    const SOURCE: &'static str = "BBRv3, draft-ietf-ccwg-bbr-06";
    const FEEDBACK: &'static [EcnFeedback] = &[EcnFeedback::Off, EcnFeedback::Dctcp, EcnFeedback::Accurate];
    const OWNS_WINDOW: bool = true;
    const PACES: bool = true;

    type Options = BbrConfig;
    const DEFAULTS: BbrConfig = BbrConfig::DRAFT;
    const SETTINGS: &'static [Setting<Self::Options>] = &[
        number(
            "bbr_loss_thresh",
            ValueKind::Number,
            ("0.02", 1e-6, 1.0),
            "BBRv3: loss rate in a round trip from which the data in flight is considered too much.",
            "draft-ietf-ccwg-bbr-06, section 5.5.10.2",
        )
        .is(field!(loss_thresh)),
        number(
            "bbr_beta",
            ValueKind::Number,
            ("0.7", 0.0, 1.0),
            "BBRv3: smallest factor by which losses multiply a bound.",
            "draft-ietf-ccwg-bbr-06, section 5.5.10.2",
        )
        .is(field!(beta)),
        number(
            "bbr_headroom",
            ValueKind::Number,
            ("0.15", 0.0, 0.9),
            "BBRv3: share of the in-flight bound that is left to other flows.",
            "draft-ietf-ccwg-bbr-06, section 5.3.3.1",
        )
        .is(field!(headroom)),
        number(
            "bbr_pacing_margin",
            ValueKind::Number,
            ("0.01", 0.0, 0.5),
            "BBRv3: share by which the pacing rate is below the estimated bandwidth.",
            "draft-ietf-ccwg-bbr-06, section 5.6.2",
        )
        .is(field!(pacing_margin)),
        time(
            "bbr_min_rtt_window",
            ("10s", 1e-3, 1000.0),
            "BBRv3: time after which a minimum round-trip time expires.",
            "draft-ietf-ccwg-bbr-06, section 5.5.7.2",
        )
        .is(field!(min_rtt_window)),
        time(
            "bbr_probe_rtt_interval",
            ("5s", 1e-3, 1000.0),
            "BBRv3: time without a new minimum round-trip time after which ProbeRTT begins.",
            "draft-ietf-ccwg-bbr-06, section 5.3.4.1",
        )
        .is(field!(probe_rtt_interval)),
        time(
            "bbr_probe_rtt_duration",
            ("200ms", 1e-3, 10.0),
            "BBRv3: minimum duration of ProbeRTT.",
            "draft-ietf-ccwg-bbr-06, section 5.3.4.1",
        )
        .is(field!(probe_rtt_duration)),
        number(
            "bbr_ecn_factor",
            ValueKind::Number,
            ("0.3333333333333333", 0.0, 1.0),
            "BBRv3: weight of the average share of marks in the reduction of the in-flight bound, with ecn.",
            "Google's BBR version 3 for Linux, bbr_ecn_factor: 1/3",
        )
        .is(field!(ecn_factor)),
        number(
            "bbr_ecn_thresh",
            ValueKind::Number,
            ("0.5", 1e-6, 1.0),
            "BBRv3: share of marks from which the data in flight is considered too much, with ecn.",
            "Google's BBR version 3 for Linux, bbr_ecn_thresh",
        )
        .is(field!(ecn_thresh)),
        time(
            "bbr_ecn_max_rtt",
            ("5ms", 1e-6, 1000.0),
            "BBRv3: marks are ignored on paths with a longer minimum round-trip time.",
            "Google's BBR version 3 for Linux, bbr_ecn_max_rtt_us",
        )
        .is(field!(ecn_max_rtt)),
    ];

    fn new(config: &Config) -> Self {
        Self {
            config: config.controllers.bbr,
            mss: config.mss.into(),
            initial_cwnd: config.initial_window.into(),
            sack: config.sack,
            deliveries: Deliveries::default(),
            state: State::Startup,
            pacing_rate: 0.0,
            rounds: Rounds::default(),
            max_bw: [0.0; 2],
            bw: 0.0,
            min_rtt: None,
            min_rtt_stamp: Time::ZERO,
            full_pipe: FullPipe::default(),
            full_bw_reached: false,
            drain_start_round: 0,
            losses: losses::Signals::default(),
            marks: marks::Marks::default(),
            cycle: probe_bw::Cycle::default(),
            probe_rtt: probe_rtt::Probe::default(),
            aggregation: control::Aggregation::default(),
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            prior_cwnd: 0.0,
            repairing: false,
            idle_restart: false,
        }
    }

    /// The connection opens, after a handshake of this round-trip time.
    fn open(&mut self, now: Time, _: u64, srtt: Option<Span>) {
        self.min_rtt = srtt;
        self.min_rtt_stamp = now;
        self.probe_rtt.begin(now, srtt);
        self.aggregation.begin(now);
        let nominal = self.initial_cwnd / srtt.map_or(1e-3, Span::secs).max(1e-6);
        self.pacing_rate = startup::PACING_GAIN * nominal;
    }

    /// It sets the window itself.
    fn open_window(&mut self, _: &mut Window, _: Time, _: f64, _: f64) {}

    fn reduce(&mut self, window: &Window, _: Cause) -> f64 {
        self.enter_recovery(window)
    }

    /// Takes an acknowledgement: model, state, and what follows for rate and window (section 5.2.3).
    fn on_ack(&mut self, window: &mut Window, ack: &Acked) {
        if self.repairing && !ack.repairs {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        self.repairing = ack.repairs;
        self.deliveries.marked += ack.marked;
        let Some(sample) = self.deliveries.sample(ack.least) else { return };
        self.update_round(&sample);
        self.update_marks(ack.marked);
        self.update_latest_signals(&sample);
        self.update_max_bw(&sample);
        self.update_congestion_signals(window);
        self.update_aggregation(window.cwnd, ack);
        self.check_full_bw(&sample);
        self.check_startup_done(&sample, ack);
        self.check_drain_done(ack);
        self.update_cycle(window, &sample, ack);
        self.update_min_rtt(ack);
        self.check_probe_rtt(window, ack);
        self.advance_latest_signals(&sample);
        self.bw = self.max_bw().min(self.bw_shortterm);
        self.set_pacing_rate(self.pacing_gain());
        self.set_cwnd(window, ack.delivered as f64);
        self.losses.in_cycle |= sample.lost > 0.0;
        self.marks.in_cycle |= sample.marked > 0.0;
        self.idle_restart = false;
    }

    fn note_sent(&mut self, now: Time, k: u64, una: u64, in_flight: u64) {
        self.deliveries.note_sent(now, k, una, in_flight);
    }

    fn note_arrived(&mut self, now: Time, k: u64) {
        self.deliveries.note_arrived(now, k);
    }

    fn note_lost(&mut self, window: &Window, now: Time, lost: &[u64]) {
        self.note_losses(window, now, lost);
    }

    fn note_app_limited(&mut self, in_flight: u64) {
        self.deliveries.note_app_limited(in_flight);
    }

    fn undo(&mut self, window: &mut Window) {
        self.restore_state(window);
    }

    fn gap(&self, _: &Window, _: Option<Span>) -> Option<Span> {
        pacing_gap(self.pacing_rate)
    }

    /// Before a segment is sent with nothing in flight (section 5.4.1).
    fn note_idle(&mut self, window: &mut Window, now: Time, _: Span) {
        if !self.deliveries.is_app_limited() {
            return;
        }
        self.idle_restart = true;
        self.aggregation.begin(now);
        if self.state.probes_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(window, now);
        }
    }

    #[cfg(test)]
    fn changes() -> Vec<Change> {
        let marks = ("ecn", Value::Word("accurate"));
        let far = ("bbr_ecn_max_rtt", Value::Time(Span::from_millis(1000)));
        let second = Value::Time(Span::from_millis(1000));
        vec![
            Change::to("bbr_loss_thresh", Value::Real(0.5)),
            Change::to("bbr_beta", Value::Real(0.3)),
            Change::to("bbr_headroom", Value::Real(0.5)),
            Change::to("bbr_pacing_margin", Value::Real(0.1)),
            Change::to("bbr_min_rtt_window", second),
            Change::to("bbr_probe_rtt_interval", second),
            Change::to("bbr_probe_rtt_duration", second),
            Change::to("bbr_ecn_factor", Value::Real(1.0)).with(marks).with(far),
            Change::to("bbr_ecn_thresh", Value::Real(0.05)).with(marks).with(far),
            Change::to("bbr_ecn_max_rtt", second).with(marks),
        ]
    }
}

impl Bbr {
    fn max_bw(&self) -> f64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    /// A round is over when something arrives that was sent after its beginning (section 5.5.1).
    fn update_round(&mut self, sample: &Sample) {
        self.rounds.update(sample, self.deliveries.delivered);
        self.cycle.rounds_since_probe_up += u64::from(self.rounds.start);
    }

    fn start_round(&mut self) {
        self.rounds.begin(self.deliveries.delivered);
    }

    /// Section 5.5.5.
    fn update_max_bw(&mut self, sample: &Sample) {
        if let Some(rate) = sample.rate
            && (rate >= self.max_bw() || !sample.app_limited)
        {
            self.max_bw[1] = self.max_bw[1].max(rate);
        }
    }

    /// The window in which the greatest rate is looked for moves on by a cycle (section 5.5.6).
    fn advance_max_bw(&mut self) {
        if self.max_bw[1] > 0.0 {
            self.max_bw = [self.max_bw[1], 0.0];
        }
    }

    fn save_cwnd(&mut self, cwnd: f64) {
        let modulated = self.repairing || self.state == State::ProbeRtt;
        self.prior_cwnd = if modulated { self.prior_cwnd.max(cwnd) } else { cwnd };
    }
}

#[cfg(test)]
mod tests;
