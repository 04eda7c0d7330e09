//! Media rate control: the target bit rate of the encoder (RFC 8298, section 4.1.3).
//!
//! ```text
//! target_bitrate = max(BETA_R target_bitrate, TARGET_BITRATE_MIN)      at a loss event; BETA_ECN at a mark
//! ```
//!
//! and otherwise every RATE_ADJUST_INTERVAL
//!
//! ```text
//! ramp_up_speed = min(RAMP_UP_SPEED, target_bitrate / 2)
//! scale = max(0.2, min(1, (4 (target_bitrate - target_bitrate_last_max) / target_bitrate_last_max)^2))
//! target_bitrate += ramp_up_speed RATE_ADJUST_INTERVAL scale           in fast increase; else
//! delta_rate = current_rate (1 - PRE_CONGESTION_GUARD qdelay_trend) - TX_QUEUE_SIZE_FACTOR rtp_queue_size
//! target_bitrate += min(delta_rate scale, ramp_up_speed RATE_ADJUST_INTERVAL), or delta_rate if negative
//! target_bitrate *= TARGET_RATE_SCALE_RTP_QDELAY                       if rtp_queue_size / current_rate > RTP_QDELAY_TH
//! target_bitrate <= max(current_rate, rate_media, rate_media_median) (2 - qdelay_trend_mem)
//! ```
//!
//! with current_rate = max(rate_transmit, rate_ack); all rates are measured over RATE_ADJUST_INTERVAL.

use aqmlab_units::Span;

use super::Config;
use super::congestion::{BETA_ECN, Congestion, Event};

const BETA_R: f64 = 0.9;
pub(super) const RATE_ADJUST_INTERVAL: Span = Span::from_millis(200);
const PRE_CONGESTION_GUARD: f64 = 0.1;
const TX_QUEUE_SIZE_FACTOR: f64 = 1.0;
const RTP_QDELAY_TH: f64 = 0.02;
const TARGET_RATE_SCALE_RTP_QDELAY: f64 = 0.95;
/// Samples of `rate_media` in its median: 10.2 s, "computed over more than 10 s".
const MEDIA_RATES: usize = 51;

/// State variables of section 4.1.1.2, in bit/s.
#[derive(Clone, Debug)]
pub(super) struct MediaRate {
    min: f64,
    max: f64,
    ramp_up_speed: f64,
    pub target_bitrate: f64,
    target_bitrate_last_max: f64,
    /// Bytes since the last adjustment: sent, acknowledged, and from the encoder.
    pub transmitted: u64,
    pub acked: u64,
    pub encoded: u64,
    /// A ring of `rate_media`; fewer at the start.
    media: [f64; MEDIA_RATES],
    adjustments: usize,
    /// Whether the target was reduced since the last adjustment.
    was_reduced: bool,
}

impl MediaRate {
    pub fn new(config: &Config) -> Self {
        Self {
            min: config.min_rate.bps(),
            max: config.max_rate.bps(),
            ramp_up_speed: config.ramp_up_speed.bps(),
            target_bitrate: config.start_rate().bps(),
            target_bitrate_last_max: 1.0,
            transmitted: 0,
            acked: 0,
            encoded: 0,
            media: [0.0; MEDIA_RATES],
            adjustments: 0,
            was_reduced: false,
        }
    }

    /// React to a congestion event.
    pub fn on_event(&mut self, event: Event) {
        self.target_bitrate_last_max = self.target_bitrate;
        let beta = match event {
            Event::Loss => BETA_R,
            Event::Ecn => BETA_ECN,
            Event::Delay => return,
        };
        self.target_bitrate = (beta * self.target_bitrate).max(self.min);
        self.was_reduced = true;
    }

    /// Adjust the target, every RATE_ADJUST_INTERVAL; `rtp_queue_size` in bits.
    pub fn adjust(&mut self, congestion: &Congestion, rtp_queue_size: f64) {
        let interval = RATE_ADJUST_INTERVAL.secs();
        let rate = |bytes: u64| bytes as f64 * 8.0 / interval;
        let current_rate = rate(self.transmitted).max(rate(self.acked));
        let rate_media = rate(self.encoded);
        (self.transmitted, self.acked, self.encoded) = (0, 0, 0);
        self.media[self.adjustments % MEDIA_RATES] = rate_media;
        self.adjustments += 1;
        if core::mem::take(&mut self.was_reduced) {
            return;
        }
        let ramp_up_speed = self.ramp_up_speed.min(self.target_bitrate / 2.0);
        let scale = (self.target_bitrate - self.target_bitrate_last_max) / self.target_bitrate_last_max;
        let scale = (16.0 * scale * scale).clamp(0.2, 1.0);
        if congestion.in_fast_increase {
            self.target_bitrate += ramp_up_speed * interval * scale;
        } else {
            let guard = 1.0 - PRE_CONGESTION_GUARD * congestion.qdelay_trend;
            let delta_rate = current_rate * guard - TX_QUEUE_SIZE_FACTOR * rtp_queue_size;
            self.target_bitrate += match delta_rate > 0.0 {
                true => (delta_rate * scale).min(ramp_up_speed * interval),
                false => delta_rate,
            };
            if rtp_queue_size / current_rate > RTP_QDELAY_TH {
                self.target_bitrate *= TARGET_RATE_SCALE_RTP_QDELAY;
            }
        }
        let limit = current_rate.max(rate_media).max(self.rate_media_median());
        self.target_bitrate = self.target_bitrate.min(limit * (2.0 - congestion.qdelay_trend_mem));
        self.target_bitrate = self.target_bitrate.max(self.min).min(self.max);
    }

    fn rate_media_median(&self) -> f64 {
        let mut sorted = self.media;
        let sorted = &mut sorted[..self.adjustments.min(MEDIA_RATES)];
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_units::{Rate, Time};

    fn rate(start: u64) -> MediaRate {
        MediaRate::new(&Config {
            start_rate: Some(Rate(start)),
            max_rate: Rate(5_000_000),
            ..Config::default()
        })
    }

    fn congestion(in_fast_increase: bool, qdelay_trend: f64) -> Congestion {
        let mut congestion = Congestion::new(1000, true, Time::ZERO);
        congestion.in_fast_increase = in_fast_increase;
        (congestion.qdelay_trend, congestion.qdelay_trend_mem) = (qdelay_trend, qdelay_trend);
        congestion
    }

    /// Bytes of an interval at this bit rate.
    fn bytes(bps: f64) -> u64 {
        (bps * 0.2 / 8.0) as u64
    }

    fn near(found: f64, due: f64) {
        assert!((found - due).abs() < 1e-6 * due.abs().max(1.0), "{found}, not {due}");
    }

    #[test]
    fn fast_increase_ramps_up_by_the_speed_or_half_the_target() {
        let mut r = rate(1_000_000);
        r.encoded = bytes(1e6);
        r.adjust(&congestion(true, 0.0), 0.0);
        near(r.target_bitrate, 1e6 + 200e3 * 0.2);
        let mut r = rate(200_000);
        r.encoded = bytes(2e5);
        r.adjust(&congestion(true, 0.0), 0.0);
        near(r.target_bitrate, 2e5 + 1e5 * 0.2);
    }

    #[test]
    fn the_increase_is_slower_near_the_last_maximum() {
        let after = |last_max| {
            let mut r = rate(1_000_000);
            (r.target_bitrate_last_max, r.encoded) = (last_max, bytes(1e6));
            r.adjust(&congestion(true, 0.0), 0.0);
            r.target_bitrate - 1e6
        };
        near(after(1e6), 40e3 * 0.2);
        // (4 (1 - 1.25) / 1.25)^2 = 0.64; at twice the last maximum it is limited to 1.
        near(after(1.25e6), 40e3 * 0.64);
        near(after(0.5e6), 40e3);
    }

    #[test]
    fn outside_of_fast_increase_the_queue_takes_rate_away() {
        let after = |trend: f64, queue: f64, sent: f64| {
            let mut r = rate(1_000_000);
            (r.transmitted, r.encoded) = (bytes(sent), bytes(1e6));
            r.adjust(&congestion(false, trend), queue);
            r.target_bitrate
        };
        // A positive change is limited by the ramp-up speed.
        near(after(0.0, 0.0, 1e6), 1.04e6);
        // 19 ms of queue are below RTP_QDELAY_TH, 21 ms above.
        near(after(0.0, 19e3, 1e6), 1.04e6);
        near(after(0.0, 21e3, 1e6), 1.04e6 * 0.95);
        // 1e5 (1 - 0.1) - 8e4 = 1e4, and the queue is longer than the threshold.
        near(after(1.0, 8e4, 1e5), 1.01e6 * 0.95 * 1e6 / 1e6);
        // A negative change is not scaled: 1e5 - 2e5.
        near(after(0.0, 2e5, 1e5), 0.9e6 * 0.95);
    }

    #[test]
    fn acknowledgements_count_where_too_little_is_sent() {
        let mut r = rate(1_000_000);
        (r.transmitted, r.acked, r.encoded) = (bytes(1e5), bytes(1e6), bytes(1e6));
        r.adjust(&congestion(false, 0.0), 19e3);
        near(r.target_bitrate, 1.04e6);
    }

    #[test]
    fn the_target_is_at_most_twice_what_is_sent_and_within_its_bounds() {
        let mut r = rate(1_000_000);
        r.encoded = bytes(4e5);
        r.adjust(&congestion(true, 0.25), 0.0);
        near(r.target_bitrate, 4e5 * 1.75);
        r.encoded = 0;
        r.adjust(&congestion(true, 0.0), 0.0);
        // The median of 0 and 0.4 Mb/s is the upper one.
        near(r.target_bitrate, 7.4e5);
        for _ in 0..2 {
            r.adjust(&congestion(true, 0.0), 0.0);
        }
        near(r.target_bitrate, 150e3);
        let mut r = rate(4_990_000);
        r.encoded = bytes(5e6);
        r.adjust(&congestion(true, 0.0), 0.0);
        near(r.target_bitrate, 5e6);
    }

    #[test]
    fn events_reduce_at_once_and_skip_an_adjustment() {
        for event in [Event::Loss, Event::Ecn] {
            let mut r = rate(1_000_000);
            r.on_event(event);
            near(r.target_bitrate, 0.9e6);
            near(r.target_bitrate_last_max, 1e6);
            (r.transmitted, r.encoded) = (bytes(1e6), bytes(1e6));
            r.adjust(&congestion(false, 0.0), 0.0);
            near(r.target_bitrate, 0.9e6);
            (r.transmitted, r.encoded) = (bytes(1e6), bytes(1e6));
            r.adjust(&congestion(false, 0.0), 0.0);
            // (4 * 0.1)^2 is below 0.2, but the ramp-up speed limits more.
            near(r.target_bitrate, 0.94e6);
        }
        let mut r = rate(160_000);
        r.on_event(Event::Loss);
        near(r.target_bitrate, 150e3);
        let mut r = rate(1_000_000);
        r.on_event(Event::Delay);
        near(r.target_bitrate, 1e6);
        near(r.target_bitrate_last_max, 1e6);
    }

    #[test]
    fn the_median_is_that_of_ten_seconds() {
        let mut r = rate(1_000_000);
        for k in 0..MEDIA_RATES {
            r.encoded = if k % 3 == 0 { bytes(8e5) } else { bytes(4e5) };
            r.adjust(&congestion(false, 1.0), 0.0);
        }
        near(r.rate_media_median(), 4e5);
    }
}
