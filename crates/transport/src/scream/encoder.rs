//! The source of video frames: a simple form of the statistical model of X. Zhu, S. Mena and Z. Sarker, RFC 8593, section 5.
//!
//! Frame n leaves at `n / FPS` after the start of the media, with
//!
//! ```text
//! B(n) = R / (8 FPS) c(n) max(0, 1 + x)        x of the Laplace distribution with mean 0 and scale SCALE_B, within [-1, 1]
//! ```
//!
//! bytes, at least [`HEADERS`]. R is the target bit rate as it was `tau_v` ago. Of I frames from one key frame to the next, the key frame
//! is `key_frame_ratio` times as long as the others, and the mean of c is 1.
//!
//! # Differences from RFC 8593
//! Frames leave at fixed times (SCALE_t = 0). Frames are not larger for some time after a large change of the rate (K_d, K_B);
//! key frames at fixed times take their place.

use std::collections::VecDeque;

use aqmlab_units::{Span, Stream, Time};

use super::Config;

/// Headers of IPv4, UDP and RTP (RFC 3550, section 5.1) in bytes: the least length of a frame.
pub(super) const HEADERS: f64 = 40.0;

/// State of the encoder.
#[derive(Clone, Debug)]
pub(super) struct Encoder {
    frame_rate: f64,
    /// Frames from one key frame to the next; 1: without key frames.
    group: u64,
    key_frame_ratio: f64,
    tau_v: Span,
    noise: f64,
    random: Stream,
    /// The rate in effect in bit/s, and those requested with their times.
    rate: f64,
    requested: VecDeque<(Time, f64)>,
    /// Start of the media, and frames since then.
    start: Time,
    frames: u64,
}

impl Encoder {
    /// Create an encoder that takes random numbers from `random`.
    pub fn new(config: &Config, random: Stream) -> Self {
        let group = config.key_frame_interval.map_or(1.0, |span| (span.secs() * config.frame_rate).round());
        Self {
            frame_rate: config.frame_rate,
            group: (group as u64).max(1),
            key_frame_ratio: config.key_frame_ratio,
            tau_v: config.response_delay,
            noise: config.frame_noise,
            random,
            rate: config.start_rate().bps(),
            requested: VecDeque::with_capacity(64),
            start: Time::ZERO,
            frames: 0,
        }
    }

    /// Begin at `now`, with a key frame.
    pub fn start(&mut self, now: Time) {
        (self.start, self.frames) = (now, 0);
    }

    /// Request a target bit rate in bit/s.
    pub fn request(&mut self, now: Time, target_bitrate: f64) {
        self.follow(now);
        self.requested.push_back((now + self.tau_v, target_bitrate));
    }

    /// Return when the next frame is due.
    pub fn next_frame(&self) -> Time {
        self.start + Span::from_secs(self.frames as f64 / self.frame_rate)
    }

    /// Apply the requests whose delay has passed.
    fn follow(&mut self, now: Time) {
        while let Some(&(_, rate)) = self.requested.front().filter(|(from, _)| *from <= now) {
            self.rate = rate;
            self.requested.pop_front();
        }
    }

    /// Return the length in bytes of the frame that is due.
    pub fn frame(&mut self, now: Time) -> u64 {
        self.follow(now);
        let group = self.group as f64;
        let other = group / (self.key_frame_ratio + group - 1.0);
        let c = match self.group {
            1 => 1.0,
            n if self.frames.is_multiple_of(n) => other * self.key_frame_ratio,
            _ => other,
        };
        self.frames += 1;
        let noise = if self.noise > 0.0 { laplace(self.noise, self.random.uniform()) } else { 0.0 };
        let bytes = self.rate / (8.0 * self.frame_rate) * c * (1.0 + noise);
        bytes.round().max(HEADERS) as u64
    }
}

/// Return the quantile `u` of the Laplace distribution with mean 0 and this scale, within [-1, 1].
fn laplace(scale: f64, u: f64) -> f64 {
    let from_median = u - 0.5;
    let distance = -scale * libm::log(1.0 - 2.0 * from_median.abs());
    distance.min(1.0).copysign(from_median)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_units::Rate;

    fn encoder(config: Config) -> Encoder {
        let config = Config { start_rate: Some(Rate(1_200_000)), frame_noise: 0.0, ..config };
        Encoder::new(&config, Stream::new(1, "frames"))
    }

    #[test]
    fn frames_leave_at_the_frame_rate_with_the_length_of_the_bit_rate() {
        let mut e = encoder(Config::default());
        e.start(Time::from_secs(1.0));
        // 1.2 Mb/s in 30 frames of 5000 bytes.
        for n in 0..60 {
            assert_eq!(e.next_frame(), Time::from_secs(1.0) + Span::from_secs(f64::from(n) / 30.0));
            assert_eq!(e.frame(e.next_frame()), 5000);
        }
    }

    #[test]
    fn key_frames_are_longer_and_the_mean_stays() {
        let key_frame_interval = Some(Span::from_millis(1000));
        let mut e = encoder(Config { key_frame_interval, key_frame_ratio: 4.0, ..Config::default() });
        let frames: Vec<u64> = (0..60).map(|_| e.frame(Time::ZERO)).collect();
        // 30 of 33 parts: 4545 bytes, a key frame has four times as many.
        assert_eq!(
            [frames[0], frames[1], frames[29], frames[30], frames[31]],
            [18_182, 4545, 4545, 18_182, 4545]
        );
        let mean = frames.iter().sum::<u64>() as f64 / 60.0;
        assert!((mean - 5000.0).abs() < 1.0, "{mean}");
    }

    #[test]
    fn a_request_takes_effect_after_its_delay() {
        let mut e = encoder(Config::default());
        e.request(Time::from_secs(1.0), 600_000.0);
        e.request(Time::from_secs(1.1), 240_000.0);
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        assert_eq!(
            [at(1199), at(1200), at(1299), at(1300)].map(|now| e.frame(now)),
            [5000, 2500, 2500, 1000]
        );
    }

    #[test]
    fn a_frame_has_headers() {
        let mut e = encoder(Config { frame_rate: 1000.0, ..Config::default() });
        e.rate = 100_000.0;
        assert_eq!(e.frame(Time::ZERO), 40);
    }

    #[test]
    fn laplace_by_hand() {
        let near = |u: f64, due: f64| assert!((laplace(0.15, u) - due).abs() < 1e-12, "{}", laplace(0.15, u));
        near(0.5, 0.0);
        near(0.75, 0.15 * core::f64::consts::LN_2);
        near(0.25, -0.15 * core::f64::consts::LN_2);
        near(0.0, -1.0);
        near(1.0 - 1e-9, 1.0);
    }

    #[test]
    fn noise_keeps_the_mean() {
        let mut e = Encoder { noise: 0.15, ..encoder(Config::default()) };
        let n = 100_000;
        let sum: u64 = (0..n).map(|_| e.frame(Time::ZERO)).sum();
        let mean = sum as f64 / f64::from(n);
        // Standard deviation 0.15 sqrt(2) of a frame, over sqrt(n): 3.4 bytes.
        assert!((mean - 5000.0).abs() < 15.0, "{mean}");
    }
}
