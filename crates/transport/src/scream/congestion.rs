//! Network congestion control: the congestion window (RFC 8298, section 4.1.2).
//!
//! With qdelay the delay of the queue (RFC 6817) in seconds, sampled every 50 ms into a history of 20 fractions x of qdelay_target:
//!
//! ```text
//! qdelay_fraction_avg = (1 - QDELAY_WEIGHT) qdelay_fraction_avg + QDELAY_WEIGHT x
//! a = R(x - avg(x), 1) / R(x - avg(x), 0)                R(x, k) = sum over n = 1 to N - k of x(n) x(n + k)
//! qdelay_trend = min(1, max(0, a qdelay_fraction_avg))
//! qdelay_trend_mem = max(0.99 qdelay_trend_mem, qdelay_trend)
//! ```
//!
//! The window in bytes, for each report (section 4.1.2.2):
//!
//! ```text
//! cwnd = max(MIN_CWND, cwnd BETA_LOSS)                   a loss, at most once in s_rtt; BETA_ECN for a mark
//! cwnd += bytes_newly_acked                              fast increase, if the window is used
//! cwnd += GAIN off_target bytes_newly_acked MSS / cwnd   else; off_target = (qdelay_target - qdelay) / qdelay_target
//! cwnd <= max_bytes_in_flight MAX_BYTES_IN_FLIGHT_HEAD_ROOM
//! ```

use aqmlab_units::{Span, Time};

pub(super) const QDELAY_TARGET_LO: f64 = 0.1;
pub(super) const QDELAY_TARGET_HI: f64 = 0.4;
const QDELAY_WEIGHT: f64 = 0.1;
const QDELAY_TREND_TH: f64 = 0.2;
const QDELAY_TREND_LO: f64 = 0.2;
const T_RESUME_FAST_INCREASE: Span = Span::from_millis(5000);
pub(super) const MIN_CWND: f64 = 3000.0;
const MAX_BYTES_IN_FLIGHT_HEAD_ROOM: f64 = 1.1;
const GAIN: f64 = 1.0;
const BETA_LOSS: f64 = 0.8;
pub(super) const BETA_ECN: f64 = 0.9;
/// A sample of the fraction of qdelay.
const SAMPLING: Span = Span::from_millis(50);
/// Samples of `qdelay_fraction_hist`.
const FRACTIONS: usize = 20;
/// Samples of `qdelay_norm_hist` (reading 1), and those of its average.
const NORMS: usize = 200;
const RECENT_NORMS: usize = 50;
/// Seconds of `max_bytes_in_flight` (reading 5).
const SECONDS: usize = 5;
/// Weight of a round trip in `loss_event_rate` (reading 2).
const LOSS_WEIGHT: f64 = 0.01;

/// A congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// One or more packets were lost.
    Loss,
    /// One or more packets were marked, and none was lost.
    Ecn,
    /// Fast increase ended: the delay grows.
    Delay,
}

/// Contents of a report.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledged {
    /// In seconds.
    pub qdelay: f64,
    /// Bytes by which the highest sequence number received grew, losses included.
    pub bytes_newly_acked: u64,
    /// Bytes that are in flight now.
    pub bytes_in_flight: u64,
    /// Whether a packet is declared lost.
    pub is_loss: bool,
    /// Whether n_ECN grew.
    pub is_marked: bool,
}

/// State variables of section 4.1.1.2.
#[derive(Clone, Debug)]
pub(super) struct Congestion {
    mss: f64,
    adjusts_target: bool,
    /// Latest sample, in seconds.
    pub qdelay: f64,
    pub qdelay_target: f64,
    qdelay_fraction_avg: f64,
    /// The oldest first.
    qdelay_fraction_hist: [f64; FRACTIONS],
    pub qdelay_trend: f64,
    pub qdelay_trend_mem: f64,
    /// A ring, and its oldest sample.
    qdelay_norm_hist: [f64; NORMS],
    oldest_norm: usize,
    pub in_fast_increase: bool,
    /// In bytes.
    pub cwnd: f64,
    /// Greatest bytes in flight of a second, of the current one first.
    most_in_flight: [u64; SECONDS],
    second: u64,
    /// Seconds; 0 before the first sample.
    pub s_rtt: f64,
    loss_event_rate: f64,
    /// Whether a loss was detected in the round trip that began then.
    lost_in_round: bool,
    round_start: Time,
    /// The last events, if any.
    last_loss: Option<Time>,
    last_ecn: Option<Time>,
    next_sample: Time,
    /// From then on `qdelay_trend` was below QDELAY_TREND_LO and the window did not grow fast.
    calm_since: Time,
}

impl Congestion {
    /// Create the state at the start of a flow; `adjusts_target`: with the compensation for competing flows.
    pub fn new(mss: u32, adjusts_target: bool, now: Time) -> Self {
        Self {
            mss: mss.into(),
            adjusts_target,
            qdelay: 0.0,
            qdelay_target: QDELAY_TARGET_LO,
            qdelay_fraction_avg: 0.0,
            qdelay_fraction_hist: [0.0; FRACTIONS],
            qdelay_trend: 0.0,
            qdelay_trend_mem: 0.0,
            qdelay_norm_hist: [0.0; NORMS],
            oldest_norm: 0,
            in_fast_increase: true,
            cwnd: MIN_CWND,
            most_in_flight: [0; SECONDS],
            second: 0,
            s_rtt: 0.0,
            loss_event_rate: 0.0,
            lost_in_round: false,
            round_start: now,
            last_loss: None,
            last_ecn: None,
            next_sample: now + SAMPLING,
            calm_since: now,
        }
    }

    /// Take a sample of the round trip in seconds: SRTT of RFC 6298, section 2.
    pub fn sample_rtt(&mut self, rtt: f64) {
        self.s_rtt = if self.s_rtt == 0.0 { rtt } else { self.s_rtt + (rtt - self.s_rtt) / 8.0 };
    }

    /// Note the bytes in flight after a packet was sent.
    pub fn note_in_flight(&mut self, now: Time, bytes: u64) {
        let second = now.0 / Span::from_millis(1000).0;
        if second != self.second {
            let passed = usize::try_from(second - self.second).map_or(SECONDS, |n| n.min(SECONDS));
            self.most_in_flight.copy_within(..SECONDS - passed, passed);
            self.most_in_flight[..passed].fill(0);
            self.second = second;
        }
        self.most_in_flight[0] = self.most_in_flight[0].max(bytes);
    }

    fn max_bytes_in_flight(&self) -> f64 {
        self.most_in_flight.iter().copied().max().unwrap_or(0) as f64
    }

    /// Take the samples and end the round trips that are due.
    pub fn advance(&mut self, now: Time) {
        while self.next_sample <= now {
            self.update_variables();
            if self.qdelay_trend >= QDELAY_TREND_LO {
                self.calm_since = self.next_sample;
            }
            self.next_sample += SAMPLING;
        }
        let round = Span::from_secs(self.s_rtt);
        while round > Span::ZERO && self.round_start + round <= now {
            let lost = f64::from(u8::from(self.lost_in_round));
            self.loss_event_rate += LOSS_WEIGHT * (lost - self.loss_event_rate);
            self.lost_in_round = false;
            self.round_start += round;
        }
    }

    /// `update_variables` of section 4.1.2.
    fn update_variables(&mut self) {
        let qdelay_fraction = self.qdelay / self.qdelay_target;
        self.qdelay_fraction_avg =
            (1.0 - QDELAY_WEIGHT) * self.qdelay_fraction_avg + QDELAY_WEIGHT * qdelay_fraction;
        let hist = &mut self.qdelay_fraction_hist;
        hist.copy_within(1.., 0);
        hist[FRACTIONS - 1] = qdelay_fraction;
        let avg = average(hist.iter());
        let r = |k: usize| -> f64 { hist.iter().zip(&hist[k..]).map(|(x, y)| (x - avg) * (y - avg)).sum() };
        let a = if r(0) > 0.0 { r(1) / r(0) } else { 0.0 };
        self.qdelay_trend = (a * self.qdelay_fraction_avg).clamp(0.0, 1.0);
        self.qdelay_trend_mem = (0.99 * self.qdelay_trend_mem).max(self.qdelay_trend);
    }

    /// Take a report. Return the congestion event, if there is one.
    pub fn on_report(&mut self, now: Time, of: &Acknowledged) -> Option<Event> {
        self.advance(now);
        self.qdelay = of.qdelay;
        let s_rtt = Span::from_secs(self.s_rtt);
        let is_new = |last: Option<Time>| last.is_none_or(|last| now >= last + s_rtt);
        let (is_loss, is_ecn) = (of.is_loss && is_new(self.last_loss), of.is_marked && is_new(self.last_ecn));
        self.last_loss = if is_loss { Some(now) } else { self.last_loss };
        self.last_ecn = if is_ecn { Some(now) } else { self.last_ecn };
        self.lost_in_round |= is_loss;
        let was_fast = self.in_fast_increase;
        let event = match (is_loss, is_ecn) {
            (true, _) => Some((Event::Loss, BETA_LOSS)),
            (false, true) => Some((Event::Ecn, BETA_ECN)),
            (false, false) => None,
        };
        match event {
            Some((_, beta)) => {
                self.in_fast_increase = false;
                self.cwnd = (self.cwnd * beta).max(MIN_CWND);
            }
            None => self.update_cwnd(of.bytes_newly_acked as f64, of.bytes_in_flight as f64),
        }
        self.adjust_qdelay_target();
        if event.is_some() || was_fast && !self.in_fast_increase {
            self.calm_since = now;
        }
        self.check_to_resume_fast_increase(now);
        event.map(|(event, _)| event).or((was_fast && !self.in_fast_increase).then_some(Event::Delay))
    }

    /// `update_cwnd` of section 4.1.2.2.
    fn update_cwnd(&mut self, bytes_newly_acked: f64, bytes_in_flight: f64) {
        if self.in_fast_increase {
            if self.qdelay_trend < QDELAY_TREND_TH {
                if bytes_in_flight * 1.5 + bytes_newly_acked > self.cwnd {
                    self.cwnd += bytes_newly_acked;
                }
                return;
            }
            self.in_fast_increase = false;
        }
        let off_target = (self.qdelay_target - self.qdelay) / self.qdelay_target;
        let cwnd_delta = GAIN * off_target * bytes_newly_acked * self.mss / self.cwnd;
        let is_underused = bytes_in_flight * 1.25 + bytes_newly_acked <= self.cwnd;
        if !(off_target > 0.0 && is_underused) {
            self.cwnd += cwnd_delta;
        }
        self.cwnd = self.cwnd.min(self.max_bytes_in_flight() * MAX_BYTES_IN_FLIGHT_HEAD_ROOM).max(MIN_CWND);
    }

    /// `adjust_qdelay_target` of section 4.1.2.3.
    fn adjust_qdelay_target(&mut self) {
        if !self.adjusts_target {
            return;
        }
        self.qdelay_norm_hist[self.oldest_norm] = self.qdelay / QDELAY_TARGET_LO;
        self.oldest_norm = (self.oldest_norm + 1) % NORMS;
        let mean = average(self.qdelay_norm_hist.iter());
        let qdelay_norm_var =
            self.qdelay_norm_hist.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / NORMS as f64;
        let recent =
            (1..RECENT_NORMS + 1).map(|k| &self.qdelay_norm_hist[(self.oldest_norm + NORMS - k) % NORMS]);
        let new_target = (average(recent) + libm::sqrt(qdelay_norm_var)) * QDELAY_TARGET_LO;
        self.qdelay_target = if self.loss_event_rate > 0.002 {
            1.5 * new_target
        } else if qdelay_norm_var < 0.2 {
            new_target
        } else if new_target < QDELAY_TARGET_LO {
            (self.qdelay_target * 0.5).max(new_target)
        } else {
            self.qdelay_target * 0.9
        };
        self.qdelay_target = self.qdelay_target.clamp(QDELAY_TARGET_LO, QDELAY_TARGET_HI);
    }

    /// Section 4.1.2.7.
    fn check_to_resume_fast_increase(&mut self, now: Time) {
        if !self.in_fast_increase
            && self.qdelay_trend < QDELAY_TREND_LO
            && now >= self.calm_since + T_RESUME_FAST_INCREASE
        {
            self.in_fast_increase = true;
        }
    }

    /// Return `send_wnd` of section 4.1.2.5: the bytes that may be sent, negative if too many are in flight.
    pub fn send_wnd(&self, bytes_in_flight: u64) -> f64 {
        let slack = if self.qdelay <= self.qdelay_target { self.mss } else { 0.0 };
        self.cwnd + slack - bytes_in_flight as f64
    }
}

fn average<'a>(values: impl ExactSizeIterator<Item = &'a f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

#[cfg(test)]
#[path = "congestion_tests.rs"]
mod tests;
