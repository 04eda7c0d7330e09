//! The sending end.
//!
//! [`Sender::on_ack`] takes the steps of Linux's `tcp_ack` in its order: acknowledged segments (`news.rs`), losses and
//! the state of recovery (`recovery.rs`), the timer (`alarm.rs`), the window (`congestion/`,
//! `prr.rs`), retransmissions and new data (`output.rs`).

mod alarm;
mod congestion;
mod ecn;
mod news;
mod output;
mod pacing;
mod plain;
mod prr;
mod quic;
mod rack;
mod recovery;
mod scoreboard;
#[cfg(test)]
mod tests;
mod tlp;
mod undo;
mod window;

use std::sync::Arc;

use aqmlab_units::{Span, Time, prefetch};

use super::Config;
use super::rtt::RttEstimator;
use super::seq::expand;
use crate::{Ack, Data, MAX_SACK_BLOCKS, SenderCounters, Supply, Timer};
use alarm::Alarm;
use congestion::{Acked, Congestion};
pub use congestion::{
    Bbr1Config, BbrConfig, CongestionControl, ControllerOptions, DctcpConfig, DelayFilter, LedbatConfig,
    PragueConfig,
};
use ecn::Ecn;
use pacing::Pacing;
use prr::Delivery;
use quic::Quic;
use rack::Rack;
use recovery::{Recovery, Resend, State};
use scoreboard::Scoreboard;
use tlp::Probe;
use undo::Undo;
use window::Window;

/// The first segment of the data that the application handed over last, and its first byte. Everything before was
/// acknowledged when it was handed over.
#[derive(Clone, Copy, Debug)]
struct Origin {
    segment: u64,
    byte: u64,
}

impl Origin {
    /// Right after the SYN.
    const FIRST: Self = Self { segment: 1, byte: 1 };
}

/// The last segment of the data that the application handed over last, where it is not full.
#[derive(Clone, Copy, Debug)]
struct Short {
    segment: u64,
    /// Bytes by which it is shorter than a full segment.
    missing: u64,
}

impl Short {
    fn last_of(supply: Supply, origin: Origin, mss: u32) -> Option<Self> {
        let (Supply::Bytes(n), mss) = (supply, u64::from(mss)) else { return None };
        let segments = n.div_ceil(mss);
        let missing = segments * mss - n;
        (missing > 0).then(|| Self { segment: origin.segment + segments - 1, missing })
    }
}

/// Segments that a supply comes to.
fn segments(supply: Supply, mss: u32) -> u64 {
    match supply {
        Supply::Greedy => ENDLESS,
        Supply::Packets(n) => n,
        Supply::Bytes(n) => n.div_ceil(mss.into()),
    }
}

/// Stands for "without end", in segments.
const ENDLESS: u64 = u64::MAX;

/// A TCP sender of the RFC profile.
#[derive(Clone, Debug)]
pub struct Sender {
    config: Arc<Config>,
    supply: Supply,
    origin: Origin,
    short: Option<Short>,
    board: Scoreboard,
    /// Runs of segments in the last SACK blocks: first, one past the last.
    sacked_runs: [(u64, u64); MAX_SACK_BLOCKS],
    window: Window,
    congestion: Congestion,
    rtt: RttEstimator,
    recovery: Recovery,
    undo: Undo,
    rack: Rack,
    probe: Probe,
    /// Loss detection of QUIC, in place of RACK and probe.
    quic: Option<Box<Quic>>,
    ecn: Ecn,
    pacing: Pacing,
    paces: bool,
    /// Plain acknowledgements can be taken in a few steps, see `plain.rs`.
    takes_plain: bool,
    alarm: Option<(Alarm, Timer)>,
    pacing_timer: Option<Timer>,
    /// One past the last segment that the application has produced.
    end: u64,
    finished: bool,
    last_sent: Time,
    counters: SenderCounters,
}

impl Sender {
    /// Create a sender, not yet started. `config` must pass [`check`](crate::Configuration::check).
    pub fn new(config: Arc<Config>, supply: Supply) -> Self {
        let congestion = Congestion::new(&config);
        let mut board = Scoreboard::default();
        if congestion.owns_window() {
            board.keep_log();
        }
        Self {
            supply,
            origin: Origin::FIRST,
            short: Short::last_of(supply, Origin::FIRST, config.mss),
            board,
            sacked_runs: [(0, 0); MAX_SACK_BLOCKS],
            window: Window::new(config.initial_ssthresh, config.whole_segments),
            paces: config.pacing || congestion.paces(),
            takes_plain: !(config.pacing
                || congestion.paces()
                || congestion.needs_feedback()
                || congestion.owns_window()
                || config.is_quic()),
            congestion,
            rtt: RttEstimator::new(&config),
            recovery: Recovery::default(),
            undo: Undo::default(),
            rack: Rack::default(),
            probe: Probe::default(),
            quic: config.is_quic().then(Box::default),
            ecn: Ecn::new(&config),
            pacing: Pacing::default(),
            alarm: None,
            pacing_timer: None,
            end: 0,
            finished: false,
            last_sent: Time::ZERO,
            counters: SenderCounters::default(),
            config,
        }
    }

    /// Prefetch the fields that a plain acknowledgement needs.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.board);
        prefetch(&self.window);
        prefetch(&self.congestion);
        prefetch(&self.rtt);
        prefetch(&self.recovery);
        prefetch(&self.undo);
        prefetch(&self.rack);
        prefetch(&self.probe);
        prefetch(&self.ecn);
        prefetch(&self.alarm);
        prefetch(&self.end);
        prefetch(&self.counters);
    }

    /// Ask for the segments that are acknowledged next.
    #[inline]
    pub fn prefetch_acknowledged(&self) {
        self.board.prefetch_first();
    }

    /// Opens the connection: the application hands over all it has. A SYN comes first.
    pub fn start(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        self.end = match segments(self.supply, self.config.mss) {
            0 => 0,
            n => n.saturating_add(1),
        };
        self.finished = self.end == 0;
        if !self.finished {
            self.transmit_next(now, out);
        }
    }

    /// Takes an acknowledgement.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, out: &mut impl FnMut(Data)) {
        self.process_ack(now, ack, out);
        self.set_loss_detection_timer(now);
    }

    fn process_ack(&mut self, now: Time, ack: &Ack, out: &mut impl FnMut(Data)) {
        self.counters.acks_received += 1;
        let una = self.board.una();
        let reached = self.segments(expand(ack.ack as u32, self.seq(una)));
        if reached < una || reached > self.board.next() {
            return; // old, or of something never sent
        }
        if una == 0 {
            if reached > 0 {
                self.open(now, ack);
                self.send(now, out);
            }
            return;
        }
        if self.congestion.owns_window() {
            self.check_app_limited();
        }
        let mut news = self.take(now, ack, reached);
        self.judge_probe(&news);
        let resend = if self.quic.is_some() {
            self.answer_as_quic(now, &mut news)
        } else if self.is_dubious(&news) {
            self.alert(now, &mut news)
        } else {
            Resend::Nothing
        };
        if news.restarts_timer {
            self.set_timer(now);
        }
        self.control(now, &self.delivery(&news), (news.rtt, news.marked));
        self.finished = self.board.una() >= self.end;
        match resend {
            Resend::Nothing => {}
            Resend::Lost => self.retransmit(now, out),
            Resend::NewFirst => {
                self.send(now, out);
                self.fall_back(now, out);
            }
        }
        self.send(now, out);
    }

    /// The answer to the SYN: the initial window opens, of one segment if the SYN was lost twice or more (Linux; RFC
    /// 5681, section 3.1: once).
    fn open(&mut self, now: Time, ack: &Ack) {
        let lost = self.recovery.timeouts;
        let syn = self.board.pop();
        if !syn.was_resent() || self.config.timestamps || self.quic.is_some() {
            let sent = if syn.was_resent() { ack.ts_echo } else { syn.sent };
            self.rtt.note_least(now.since(sent));
            self.sample(now.since(sent));
        }
        self.recovery.timeouts = 0;
        self.ecn.granted = self.config.ecn.is_on() && ack.ece;
        self.window.set(if lost > 1 { 1.0 } else { self.config.initial_window.into() });
        self.congestion.open(now, self.board.next(), self.rtt.srtt());
        self.alarm = None;
        self.finished = self.board.una() >= self.end;
    }

    /// Report to the controller when there is less to send than the window allows.
    fn check_app_limited(&mut self) {
        let pipe = self.pipe();
        let nothing = self.board.next() >= self.end && self.board.lost() <= self.board.resent();
        if nothing && (pipe as f64) < self.window.cwnd {
            self.congestion.note_app_limited(pipe);
        }
    }

    /// Report the segments found lost to the controller.
    fn report_losses(&mut self, now: Time) {
        let (congestion, window) = (&mut self.congestion, &self.window);
        self.board.show_log(|lost| congestion.note_lost(window, now, lost));
    }

    /// Let a controller that sets the window itself do so.
    fn apply_controller(&mut self, now: Time, ack: &Delivery, (rtt, marked): (Option<Span>, u64)) {
        self.report_losses(now);
        let acked = Acked {
            now,
            delivered: ack.delivered,
            marked,
            rtt,
            least: self.rtt.least(),
            in_flight: self.pipe(),
            cwnd_limited: self.window.was_limit(),
            repairs: self.recovery.state.repairs(),
            calm: self.recovery.state == State::Open,
        };
        self.congestion.on_ack(&mut self.window, &acked);
    }

    /// Whether the window shrinks by PRR.
    fn shrinks(&self) -> bool {
        match self.recovery.state {
            State::Reducing => !self.congestion.answers_marks_at_once(),
            state => state.reduces(),
        }
    }

    /// The window's answer to an acknowledgement: smaller by PRR while it is being reduced, otherwise larger if the edge
    /// moved, or with much reordering anything arrived, and the window was the limit. `signals`: round-trip time and marks.
    fn control(&mut self, now: Time, ack: &Delivery, signals: (Option<Span>, u64)) {
        if self.congestion.owns_window() {
            self.apply_controller(now, ack, signals);
        } else if self.shrinks() {
            if self.config.prr {
                self.shrink_by_prr(ack);
            }
        } else if (ack.advanced || ack.delivered > 0 && self.opens_window_out_of_order())
            && (self.window.is_limiting() || self.congestion.moves_unused_windows())
        {
            let flight = self.pipe() as f64;
            self.congestion.open_window(&mut self.window, now, ack.delivered as f64, flight);
        }
    }

    #[inline]
    fn shrink_by_prr(&mut self, ack: &Delivery) {
        let pipe = self.pipe();
        if let Some(cwnd) = self.recovery.prr.window(pipe, self.window.ssthresh, *ack) {
            self.window.cwnd = cwnd;
        }
    }

    /// A timer has expired: to be called at its deadline.
    pub fn on_timer(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        if self.pacing_timer.is_some_and(|timer| timer.deadline <= now) {
            self.pacing_timer = None;
            if self.recovery.state.repairs() || self.quic.is_some() {
                self.retransmit(now, out);
            }
            self.send(now, out);
        }
        if let Some((alarm, timer)) = self.alarm
            && timer.deadline <= now
        {
            self.expire(now, alarm, out);
        }
        self.set_loss_detection_timer(now);
    }

    /// The application has no more data: nothing beyond what was sent will be sent. Before the start it has no effect.
    pub fn stop(&mut self, _now: Time, _out: &mut impl FnMut(Data)) {
        if self.board.next() > 0 {
            self.end = self.board.next();
            self.finished = self.board.una() >= self.end;
        }
    }

    /// The application always has more data again, after [`Sender::stop`]: the connection goes on where it was, see
    /// [`Sender::go_on`].
    pub fn resume(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        self.end = ENDLESS;
        self.go_on(now, out);
    }

    /// The application hands over more, when everything was acknowledged that it had handed over before.
    pub fn offer(&mut self, supply: Supply) {
        debug_assert!(self.finished && self.board.una() > 0, "everything is acknowledged");
        let next = self.board.next();
        self.origin = Origin { segment: next, byte: self.seq(next) };
        self.short = Short::last_of(supply, self.origin, self.config.mss);
        self.end = next.saturating_add(segments(supply, self.config.mss));
    }

    /// One past the last byte that the application has handed over, as it is on the wire.
    pub fn end(&self) -> u32 {
        let end = if self.board.next() == 0 { 1 + segments(self.supply, self.config.mss) } else { self.end };
        self.seq(end) as u32
    }

    /// Sends what there is again. With `idle_restart` a pause as long as the time-out has shrunk the window.
    pub fn go_on(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        self.finished = false;
        if self.board.next() == 0 {
            self.transmit_next(now, out);
            return;
        }
        let restarts = self.config.idle_restart && !self.congestion.owns_window();
        if restarts && self.board.outstanding() == 0 && self.board.una() > 0 {
            self.restart_after(now.since(self.last_sent));
        }
        if self.board.una() > 0 {
            self.send(now, out);
            self.set_loss_detection_timer(now);
        }
    }

    /// Halves the window for each time-out in the pause, not below the initial one (Linux; RFC 2861, section 3.1).
    fn restart_after(&mut self, pause: Span) {
        let rto = self.rtt.rto();
        if pause <= rto {
            return;
        }
        let mut cwnd = self.window.cwnd;
        let least = cwnd.min(self.config.initial_window.into());
        self.window.ssthresh = self.current_threshold();
        let mut left = pause - rto;
        while left > Span::ZERO && cwnd > least {
            cwnd = if self.config.whole_segments { (cwnd / 2.0).floor() } else { cwnd / 2.0 };
            left = left - rto;
        }
        self.window.set(cwnd.max(least));
    }

    /// The timer that is due first, if one runs: retransmission, loss probe, reordering or pacing.
    pub fn timer(&self) -> Option<Timer> {
        let alarm = self.alarm.map(|(_, timer)| timer);
        match (alarm, self.pacing_timer) {
            (Some(a), Some(b)) => Some(if a.deadline <= b.deadline { a } else { b }),
            (one, other) => one.or(other),
        }
    }

    /// Whether all data has been acknowledged and there will be no more.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Return the connection's configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Congestion window in segments.
    pub fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    /// Slow-start threshold in segments; infinite before the first loss.
    pub fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    /// Smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Span> {
        self.rtt.srtt()
    }

    /// The retransmission time-out, back-off included.
    pub fn rto(&self) -> Span {
        self.rtt.rto()
    }

    /// Segments in the network, as far as known (RFC 6675, section 4).
    pub fn pipe(&self) -> u64 {
        self.board.pipe().saturating_sub(self.recovery.dupacks)
    }

    /// Highest packet acknowledged as a whole, the SYN being packet 0; -1: none.
    pub fn highest_ack(&self) -> i64 {
        self.board.una() as i64 - 1
    }

    /// Highest packet sent, the SYN being packet 0; -1: none.
    pub fn max_seq(&self) -> i64 {
        self.board.next() as i64 - 1
    }

    /// Return the counters since the start.
    pub fn counters(&self) -> SenderCounters {
        self.counters.clone()
    }

    /// First byte of segment `k`: the SYN has number 0, data begins with 1. Of what was handed over before the last time,
    /// as if all its segments were full.
    fn seq(&self, k: u64) -> u64 {
        let (Origin { segment, byte }, mss) = (self.origin, u64::from(self.config.mss));
        if k < segment {
            return byte.saturating_sub((segment - k) * mss);
        }
        let missing = self.short.filter(|short| short.segment < k).map_or(0, |short| short.missing);
        byte + (k - segment) * mss - missing
    }

    /// [`Sender::seq`] of a segment of the last data handed over. All segments before it are full.
    #[inline]
    fn seq_of_full(&self, k: u64) -> u32 {
        let (Origin { segment, byte }, mss) = (self.origin, self.config.mss);
        (byte as u32).wrapping_add(((k - segment) as u32).wrapping_mul(mss))
    }

    /// Segments that end at or before byte `edge`.
    fn segments(&self, edge: u64) -> u64 {
        let (Origin { segment, byte }, mss) = (self.origin, u64::from(self.config.mss));
        if edge < byte {
            return segment.saturating_sub((byte - edge).div_ceil(mss));
        }
        let is_behind = |short: &Short| edge >= self.seq(short.segment + 1);
        let missing = self.short.filter(is_behind).map_or(0, |short| short.missing);
        segment + (edge - byte + missing) / mss
    }

    /// The first segment that begins at or behind byte `edge`.
    fn segment_from(&self, edge: u64) -> u64 {
        self.origin.segment + edge.saturating_sub(self.origin.byte).div_ceil(self.config.mss.into())
    }
}
