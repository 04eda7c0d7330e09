//! ProbeRTT (draft-ietf-ccwg-bbr-06, section 5.3.4): if no lower round-trip time was seen for five seconds, half a BDP is
//! kept in flight for a moment, to see the path without a queue.

use aqmlab_units::{Span, Time};

use super::super::super::window::Window;
use super::{Acked, Bbr, MIN_PIPE_CWND, State};

/// Gain of the window in ProbeRTT.
pub const CWND_GAIN: f64 = 0.5;

/// When the next ProbeRTT is due.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    min_delay: Option<Span>,
    min_stamp: Time,
    expired: bool,
    /// Not before then; `None`: so little is not in flight yet.
    done_stamp: Option<Time>,
    round_done: bool,
}

impl Probe {
    pub fn begin(&mut self, now: Time, srtt: Option<Span>) {
        self.min_delay = srtt;
        self.min_stamp = now;
    }
}

impl Bbr {
    /// UpdateMinRTT.
    pub(super) fn update_min_rtt(&mut self, ack: &Acked) {
        let probe = &mut self.probe_rtt;
        probe.expired = ack.now > probe.min_stamp + self.config.probe_rtt_interval;
        if let Some(rtt) = ack.rtt
            && (probe.min_delay.is_none_or(|least| rtt < least) || probe.expired)
        {
            probe.min_delay = Some(rtt);
            probe.min_stamp = ack.now;
        }
        let expired = ack.now > self.min_rtt_stamp + self.config.min_rtt_window;
        let lower = match (probe.min_delay, self.min_rtt) {
            (Some(delay), Some(min_rtt)) => delay < min_rtt,
            (delay, _) => delay.is_some(),
        };
        if lower || expired {
            self.min_rtt = probe.min_delay;
            self.min_rtt_stamp = probe.min_stamp;
        }
    }

    pub(super) fn check_probe_rtt(&mut self, window: &mut Window, ack: &Acked) {
        if self.state != State::ProbeRtt && self.probe_rtt.expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.save_cwnd(window.cwnd);
            self.probe_rtt.done_stamp = None;
            self.stop_probing();
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(window, ack);
        }
    }

    fn handle_probe_rtt(&mut self, window: &mut Window, ack: &Acked) {
        self.deliveries.note_app_limited(ack.in_flight);
        if self.probe_rtt.done_stamp.is_some() {
            self.probe_rtt.round_done |= self.rounds.start;
            if self.probe_rtt.round_done {
                self.check_probe_rtt_done(window, ack.now);
            }
        } else if ack.in_flight as f64 <= self.probe_rtt_cwnd() {
            self.probe_rtt.done_stamp = Some(ack.now + self.config.probe_rtt_duration);
            self.probe_rtt.round_done = false;
            self.start_round();
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window, now: Time) {
        if self.probe_rtt.done_stamp.is_some_and(|stamp| now > stamp) {
            self.probe_rtt.min_stamp = now;
            window.cwnd = window.cwnd.max(self.prior_cwnd);
            self.reset_short_term();
            if self.full_bw_reached {
                self.start_down(now);
                self.start_cruise();
            } else {
                self.enter_startup();
            }
        }
    }

    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp(CWND_GAIN).max(MIN_PIPE_CWND)
    }
}
