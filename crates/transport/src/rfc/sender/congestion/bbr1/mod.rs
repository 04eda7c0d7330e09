//! BBR, version 1: paces at the greatest rate of delivery of ten rounds, with two BDPs in flight, without regard to losses.
//!
//! N. Cardwell et al., "BBR: congestion-based congestion control", ACM Queue 14(5), 2016, and
//! draft-cardwell-iccrg-bbr-congestion-control-00 (2017); Linux has it from 4.9 on as `bbr`. The greatest rate and the least
//! round-trip time give the BDP:
//!
//! ```text
//! BtlBw  = max(rate) over 10 rounds                                        (section 4.1.1)
//! RTprop = min(RTT) over 10 s                                              (section 4.1.2)
//! pacing rate = pacing_gain BtlBw                                          (section 4.2.1)
//! cwnd <= cwnd_gain BtlBw RTprop + 3 send_quantum                          (section 4.2.3)
//! ```
//!
//! | state | pacing gain | window's gain | until |
//! |---|---|---|---|
//! | Startup | 2.885 = 2/ln 2 | 2.885 | BtlBw grows by less than a quarter in three rounds |
//! | Drain | 1/2.885 | 2.885 | a BDP is in flight |
//! | ProbeBW | 1.25, 0.75, six times 1 | 2 | a phase lasts RTprop (`next_phase`) |
//! | ProbeRTT | 1 | four segments | 200 ms and a round trip with four segments in flight |
//!
//! ProbeRTT begins when RTprop was neither met nor undercut for 10 s. `policer.rs` has the rate used behind a policer,
//! `../delivery.rs` the rate samples.
//!
//! | symbol | field | unit | default | range | source |
//! |---|---|---|---|---|---|
//! | BBRHighGain | `bbr1_high_gain` | | 2.885 | 1 to 10 | section 4.3.2.1 |
//! | cwnd_gain | `bbr1_cwnd_gain` | | 2 | 1 to 10 | section 4.2.3.2 |
//! | | `bbr1_pacing_margin` | | 0 | 0 to 0.5 | Linux from 4.20 on: 0.01 |
//! | RTpropFilterLen | `bbr1_min_rtt_window` | s | 10 s | 1 ms to 1000 s | section 4.1.2.3 |
//! | ProbeRTTDuration | `bbr1_probe_rtt_duration` | s | 200 ms | 1 ms to 10 s | section 4.3.5 |
//! | | `bbr1_policer` | | true | | Linux tcp_bbr, long-term bandwidth |
//!
//! # Differences from the draft and Linux
//! 1. Segments and seconds, not bytes: the last segment of a transfer counts as a full one.
//! 2. A sender of this crate has no random numbers: a hash of the time replaces the draw of the first phase of ProbeBW.
//! 3. The maximum of ten rounds is exact; Linux keeps the three best samples of it.
//! 4. The room for aggregated acknowledgements that Linux has from 5.1 on (`extra_acked`) is left out, as in the draft.
//! 5. The send quantum has its formula where room is computed from it, but segments leave one by one. Linux rounds the
//!    window up to an even number.
//! 6. Marks have no effect.

mod policer;

use aqmlab_units::{Span, Time};

use super::super::window::Window;
use super::delivery::{Deliveries, FullPipe, Rounds, Sample, hash, pacing_gap};
#[cfg(test)]
use super::tests::Change;
use super::{Acked, Cause, Controller};
#[cfg(test)]
use crate::Value;
use crate::ValueKind;
use crate::parameters::{flag, number, time};
use crate::rfc::{Config, EcnFeedback};
use crate::settings::{Setting, field};
use policer::Policer;

/// Least window, in segments (section 4.2.3.3).
const MIN_PIPE_CWND: f64 = 4.0;
/// Gains of the pacing rate in the phases of ProbeBW (section 4.3.4.1).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Rounds of the filter of the greatest rate (section 4.1.1.3).
const BW_ROUNDS: usize = 10;
/// Bounds of the send quantum (section 4.2.2): below these rates, in bytes a second, one or two segments; at most so many bytes.
const ONE_SEGMENT_BELOW: f64 = 1.2e6 / 8.0;
const TWO_SEGMENTS_BELOW: f64 = 24e6 / 8.0;
const GREATEST_QUANTUM_BYTES: f64 = 65_536.0;
/// Quanta of room in the window.
const QUANTA: f64 = 3.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    /// With the phase of the cycle.
    ProbeBw(usize),
    ProbeRtt,
}

/// Parameters of version 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bbr1Config {
    /// Gain of pacing rate and window in Startup.
    pub high_gain: f64,
    /// Gain of the window in ProbeBW.
    pub cwnd_gain: f64,
    /// Share by which the pacing rate is below the estimated bandwidth.
    pub pacing_margin: f64,
    /// Time after which a minimum round-trip time expires.
    pub min_rtt_window: Span,
    /// Minimum duration of ProbeRTT.
    pub probe_rtt_duration: Span,
    /// Whether the sender detects policers.
    pub policer: bool,
}

impl Bbr1Config {
    /// The values of the draft.
    pub const DRAFT: Self = Self {
        high_gain: 2.885,
        cwnd_gain: 2.0,
        pacing_margin: 0.0,
        min_rtt_window: Span::from_millis(10_000),
        probe_rtt_duration: Span::from_millis(200),
        policer: true,
    };
}

/// Greatest rate of the last rounds, by round.
#[derive(Clone, Debug, Default)]
struct MaxRate {
    rounds: [f64; BW_ROUNDS],
    round: u64,
}

impl MaxRate {
    fn get(&self) -> f64 {
        self.rounds.iter().fold(0.0, |a, &b| f64::max(a, b))
    }

    /// Forget the rounds that are too old in this one.
    fn advance(&mut self, round: u64) {
        for k in (self.round + 1..=round).take(BW_ROUNDS) {
            self.rounds[k as usize % BW_ROUNDS] = 0.0;
        }
        self.round = round;
    }

    fn update(&mut self, rate: f64) {
        let slot = &mut self.rounds[self.round as usize % BW_ROUNDS];
        *slot = slot.max(rate);
    }
}

/// State of version 1.
#[derive(Clone, Debug)]
pub struct Bbr1 {
    config: Bbr1Config,
    mss: f64,
    initial_cwnd: f64,
    deliveries: Deliveries,
    state: State,
    pacing_rate: f64,
    rounds: Rounds,
    max_rate: MaxRate,
    min_rtt: Option<Span>,
    min_rtt_stamp: Time,
    full_pipe: FullPipe,
    /// Beginning of the phase of ProbeBW.
    phase_stamp: Time,
    /// ProbeRTT ends after this time; `None`: more than four segments are still in flight.
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    policer: Policer,
    /// Segments found lost since the last acknowledgement.
    losses: u64,
    prior_cwnd: f64,
    repairing: bool,
    conserves_packets: bool,
    idle_restart: bool,
}

impl Controller for Bbr1 {
    const NAME: &'static str = "bbr1";
    const DOC: &'static str =
        "BBRv1: rate of delivery and least round-trip time; losses only behind a policer";
    const SOURCE: &'static str = "BBRv1, draft-cardwell-iccrg-bbr-congestion-control-00; Linux tcp_bbr";
    const FEEDBACK: &'static [EcnFeedback] = &[EcnFeedback::Off, EcnFeedback::Classic];
    const RESPONDS_TO_MARKS: bool = false;
    const LINUX_NAME: Option<&'static str> = Some("bbr");
    const OWNS_WINDOW: bool = true;
    const PACES: bool = true;

    type Options = Bbr1Config;
    const DEFAULTS: Bbr1Config = Bbr1Config::DRAFT;
    const SETTINGS: &'static [Setting<Self::Options>] = &[
        number(
            "bbr1_high_gain",
            ValueKind::Number,
            ("2.885", 1.0, 10.0),
            "BBRv1: gain of pacing rate and window in Startup; its inverse is the gain in Drain.",
            "draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3.2.1",
        )
        .is(field!(high_gain)),
        number(
            "bbr1_cwnd_gain",
            ValueKind::Number,
            ("2", 1.0, 10.0),
            "BBRv1: gain of the window in ProbeBW.",
            "draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3.2",
        )
        .is(field!(cwnd_gain)),
        number(
            "bbr1_pacing_margin",
            ValueKind::Number,
            ("0", 0.0, 0.5),
            "BBRv1: share by which the pacing rate is below the estimated bandwidth.",
            "draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.1; Linux from 4.20 on: 0.01",
        )
        .is(field!(pacing_margin)),
        time(
            "bbr1_min_rtt_window",
            ("10s", 1e-3, 1000.0),
            "BBRv1: time without a round-trip time as low as the minimum after which ProbeRTT begins.",
            "draft-cardwell-iccrg-bbr-congestion-control-00, section 4.1.2.3",
        )
        .is(field!(min_rtt_window)),
        time(
            "bbr1_probe_rtt_duration",
            ("200ms", 1e-3, 10.0),
            "BBRv1: minimum duration of ProbeRTT.",
            "draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3.5",
        )
        .is(field!(probe_rtt_duration)),
        flag(
            "bbr1_policer",
            "true",
            "BBRv1: whether intervals with losses above a fifth and equal rates set the rate for 48 rounds.",
            "Linux tcp_bbr, bbr_lt_bw_sampling",
        )
        .is(field!(policer)),
    ];

    fn new(config: &Config) -> Self {
        Self {
            config: config.controllers.bbr1,
            mss: config.mss.into(),
            initial_cwnd: config.initial_window.into(),
            deliveries: Deliveries::default(),
            state: State::Startup,
            pacing_rate: 0.0,
            rounds: Rounds::default(),
            max_rate: MaxRate::default(),
            min_rtt: None,
            min_rtt_stamp: Time::ZERO,
            full_pipe: FullPipe::default(),
            phase_stamp: Time::ZERO,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            policer: Policer::default(),
            losses: 0,
            prior_cwnd: 0.0,
            repairing: false,
            conserves_packets: false,
            idle_restart: false,
        }
    }

    fn open(&mut self, now: Time, _: u64, srtt: Option<Span>) {
        self.min_rtt = srtt;
        self.min_rtt_stamp = now;
        let nominal = self.initial_cwnd / srtt.map_or(1e-3, Span::secs).max(1e-6);
        self.pacing_rate = self.config.high_gain * nominal * (1.0 - self.config.pacing_margin);
    }

    /// It sets the window itself.
    fn open_window(&mut self, _: &mut Window, _: Time, _: f64, _: f64) {}

    /// The window is saved; the threshold stays.
    fn reduce(&mut self, window: &Window, _: Cause) -> f64 {
        self.save_cwnd(window.cwnd);
        window.ssthresh
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Acked) {
        let losses = core::mem::take(&mut self.losses);
        let Some(sample) = self.deliveries.sample(ack.least) else { return };
        self.update_bw(&sample, ack.now, losses);
        self.update_cycle_phase(ack, losses);
        self.check_full_pipe(&sample);
        self.check_drain(ack);
        self.update_min_rtt(window, ack);
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(window, ack);
        }
        self.set_pacing_rate(self.pacing_gain());
        self.set_cwnd(window, ack, losses);
        self.idle_restart = false;
    }

    fn note_sent(&mut self, now: Time, k: u64, una: u64, in_flight: u64) {
        self.deliveries.note_sent(now, k, una, in_flight);
    }

    fn note_arrived(&mut self, now: Time, k: u64) {
        self.deliveries.note_arrived(now, k);
    }

    fn note_lost(&mut self, _: &Window, _: Time, lost: &[u64]) {
        self.losses += lost.len() as u64;
        self.deliveries.lost += lost.len() as u64;
    }

    fn note_app_limited(&mut self, in_flight: u64) {
        self.deliveries.note_app_limited(in_flight);
    }

    fn undo(&mut self, _: &mut Window) {
        self.full_pipe.restart();
        self.policer.reset(&self.deliveries);
    }

    fn gap(&self, _: &Window, _: Option<Span>) -> Option<Span> {
        pacing_gap(self.pacing_rate)
    }

    /// After a time-out Startup measures again whether the path is full (Linux bbr_set_state).
    fn on_timeout(&mut self, _: &Window, _: Time, _: u64) {
        self.repairing = true;
        self.full_pipe.restart();
    }

    /// Before a segment is sent with nothing in flight (section 4.3.4.4).
    fn note_idle(&mut self, window: &mut Window, now: Time, _: Span) {
        if !self.deliveries.is_app_limited() {
            return;
        }
        self.idle_restart = true;
        match self.state {
            State::ProbeBw(_) => self.set_pacing_rate(1.0),
            State::ProbeRtt => self.check_probe_rtt_done(window, now),
            State::Startup | State::Drain => {}
        }
    }

    #[cfg(test)]
    fn changes() -> Vec<Change> {
        let second = Value::Time(Span::from_millis(1000));
        vec![
            Change::to("bbr1_high_gain", Value::Real(2.0)),
            Change::to("bbr1_cwnd_gain", Value::Real(1.5)),
            Change::to("bbr1_pacing_margin", Value::Real(0.01)),
            Change::to("bbr1_min_rtt_window", second),
            Change::to("bbr1_probe_rtt_duration", second),
            Change::to("bbr1_policer", Value::Flag(false)).with(("bbr1_cwnd_gain", Value::Real(10.0))),
        ]
    }
}

impl Bbr1 {
    /// Return the rate used: that of the policer, if one was found.
    fn bw(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.max_rate.get())
    }

    fn is_full(&self) -> bool {
        self.full_pipe.is_full()
    }

    /// BBRUpdateBtlBw (section 4.1.1.5), with the sampling of policers.
    fn update_bw(&mut self, sample: &Sample, now: Time, losses: u64) {
        self.rounds.update(sample, self.deliveries.delivered);
        if self.rounds.start {
            self.conserves_packets = false;
            self.max_rate.advance(self.rounds.count);
        }
        if self.config.policer {
            let probes_bw = matches!(self.state, State::ProbeBw(_));
            let round = self.rounds.start;
            if self.policer.update(
                &self.deliveries,
                now,
                (round, losses > 0),
                (probes_bw, sample.app_limited),
            ) {
                self.enter_probe_bw(now);
            }
        }
        if let Some(rate) = sample.rate
            && (rate >= self.max_rate.get() || !sample.app_limited)
        {
            self.max_rate.update(rate);
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.config.high_gain,
            State::Drain => 1.0 / self.config.high_gain,
            State::ProbeBw(phase) if self.policer.rate().is_none() => CYCLE[phase],
            State::ProbeBw(_) | State::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => self.config.high_gain,
            State::ProbeBw(_) => self.config.cwnd_gain,
            State::ProbeRtt => 1.0,
        }
    }

    /// BBREnterProbeBW: any phase may be the first but the one that drains (section 4.3.4.2).
    fn enter_probe_bw(&mut self, now: Time) {
        let last = CYCLE.len() as u64 - 1;
        let drawn = last - hash(now.0) % last;
        self.state = State::ProbeBw((drawn as usize + 1) % CYCLE.len());
        self.phase_stamp = now;
    }

    /// BBRCheckCyclePhase (section 4.3.4.3).
    fn update_cycle_phase(&mut self, ack: &Acked, losses: u64) {
        let State::ProbeBw(phase) = self.state else { return };
        let before = (ack.in_flight + ack.delivered + losses) as f64;
        if self.is_over(self.pacing_gain(), ack.now, before, losses > 0) {
            self.state = State::ProbeBw((phase + 1) % CYCLE.len());
            self.phase_stamp = ack.now;
        }
    }

    /// Return whether a phase of this gain is over, with so much in flight before the acknowledgement
    /// (BBRIsNextCyclePhase).
    fn is_over(&self, gain: f64, now: Time, in_flight: f64, losses: bool) -> bool {
        let elapsed = self.min_rtt.is_none_or(|min_rtt| now.since(self.phase_stamp) > min_rtt);
        if gain > 1.0 {
            elapsed && (losses || in_flight >= self.inflight(self.max_rate.get(), gain))
        } else {
            elapsed || gain < 1.0 && in_flight <= self.inflight(self.max_rate.get(), 1.0)
        }
    }

    /// BBRCheckFullPipe (section 4.3.2.2).
    fn check_full_pipe(&mut self, sample: &Sample) {
        if !self.is_full() && self.rounds.start && !sample.app_limited {
            self.full_pipe.update(self.max_rate.get());
        }
    }

    /// BBRCheckDrain (section 4.3.3).
    fn check_drain(&mut self, ack: &Acked) {
        if self.state == State::Startup && self.is_full() {
            self.state = State::Drain;
        }
        if self.state == State::Drain && ack.in_flight as f64 <= self.inflight(self.max_rate.get(), 1.0) {
            self.enter_probe_bw(ack.now);
        }
    }

    /// BBRUpdateRTprop and BBRCheckProbeRTT (sections 4.1.2.3 and 4.3.5).
    fn update_min_rtt(&mut self, window: &Window, ack: &Acked) {
        let expired = ack.now > self.min_rtt_stamp + self.config.min_rtt_window;
        if let Some(rtt) = ack.rtt
            && (expired || self.min_rtt.is_none_or(|least| rtt <= least))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_stamp = ack.now;
        }
        if expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.save_cwnd(window.cwnd);
            self.state = State::ProbeRtt;
            self.probe_rtt_done = None;
        }
    }

    /// BBRHandleProbeRTT.
    fn handle_probe_rtt(&mut self, window: &mut Window, ack: &Acked) {
        self.deliveries.note_app_limited(ack.in_flight);
        if self.probe_rtt_done.is_some() {
            self.probe_rtt_round_done |= self.rounds.start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(window, ack.now);
            }
        } else if ack.in_flight as f64 <= MIN_PIPE_CWND {
            self.probe_rtt_done = Some(ack.now + self.config.probe_rtt_duration);
            self.probe_rtt_round_done = false;
            self.rounds.begin(self.deliveries.delivered);
        }
    }

    fn check_probe_rtt_done(&mut self, window: &mut Window, now: Time) {
        if self.probe_rtt_done.is_none_or(|done| now <= done) {
            return;
        }
        self.min_rtt_stamp = now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        if self.is_full() {
            self.enter_probe_bw(now);
        } else {
            self.state = State::Startup;
        }
    }

    /// BBRSetPacingRateWithGain, in segments a second.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw() * (1.0 - self.config.pacing_margin);
        if rate > 0.0 && (self.is_full() || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// BBRSetSendQuantum, in segments.
    fn quantum(&self) -> f64 {
        let bytes = self.pacing_rate * self.mss;
        if bytes < ONE_SEGMENT_BELOW {
            1.0
        } else if bytes < TWO_SEGMENTS_BELOW {
            2.0
        } else {
            (bytes * 1e-3).min(GREATEST_QUANTUM_BYTES) / self.mss
        }
    }

    /// BBRInflight, in segments.
    fn inflight(&self, bw: f64, gain: f64) -> f64 {
        let Some(min_rtt) = self.min_rtt else { return self.initial_cwnd };
        gain * bw * min_rtt.secs() + QUANTA * self.quantum()
    }

    /// BBRSetCwnd (section 4.2.3.6).
    fn set_cwnd(&mut self, window: &mut Window, ack: &Acked, losses: u64) {
        let acked = ack.delivered as f64;
        if !self.is_recovering(window, ack, losses) {
            let target = self.inflight(self.bw(), self.cwnd_gain());
            if self.is_full() {
                window.cwnd = (window.cwnd + acked).min(target);
            } else if window.cwnd < target || (self.deliveries.delivered as f64) < self.initial_cwnd {
                window.cwnd += acked;
            }
            window.cwnd = window.cwnd.max(MIN_PIPE_CWND);
        }
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(MIN_PIPE_CWND);
        }
    }

    /// In the first round of a recovery as many segments are sent as arrive, less the lost ones; afterwards the
    /// window from before returns (BBRModulateCwndForRecovery, section 4.2.3.4). Return whether that round lasts.
    fn is_recovering(&mut self, window: &mut Window, ack: &Acked, losses: u64) -> bool {
        let conserved = (ack.in_flight + ack.delivered) as f64;
        window.cwnd = (window.cwnd - losses as f64).max(1.0);
        if ack.repairs && !self.repairing {
            self.conserves_packets = true;
            self.rounds.begin(self.deliveries.delivered);
            window.cwnd = conserved;
        } else if self.repairing && !ack.repairs {
            self.conserves_packets = false;
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        self.repairing = ack.repairs;
        if self.conserves_packets {
            window.cwnd = window.cwnd.max(conserved);
        }
        self.conserves_packets
    }

    fn save_cwnd(&mut self, cwnd: f64) {
        let modulated = self.repairing || self.state == State::ProbeRtt;
        self.prior_cwnd = if modulated { self.prior_cwnd.max(cwnd) } else { cwnd };
    }
}

#[cfg(test)]
mod tests;
