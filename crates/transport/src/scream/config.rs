//! Parameters of a flow of SCReAM.

use std::sync::LazyLock;

use aqmlab_units::{Rate, Span};

use crate::parameters::{flag, number, time, time_or_off};
use crate::settings::{Setting, Settings, Slot, field};
use crate::{InvalidParameter, Parameter, Value, ValueKind};

/// The name in scenario files, of the transport and of its table of parameters.
pub const NAME: &str = "scream";
/// The word for a feedback interval by the bit rate.
const AUTO: &str = "auto";

/// How often the receiver reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedbackInterval {
    /// By the bit rate of the media (RFC 8298, section 4.2.2).
    Auto,
    /// So often.
    Every(Span),
}

impl Slot for FeedbackInterval {
    fn get(&self) -> Value<'static> {
        match self {
            Self::Auto => Value::Word(AUTO),
            Self::Every(span) => Value::Time(*span),
        }
    }

    fn set(&mut self, value: Value<'_>) -> bool {
        *self = match value {
            Value::Word(AUTO) => Self::Auto,
            Value::Time(span) => Self::Every(span),
            _ => return false,
        };
        true
    }
}

/// Parameters of a flow, shared by its two ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// TARGET_BITRATE_MIN.
    pub min_rate: Rate,
    /// TARGET_BITRATE_MAX.
    pub max_rate: Rate,
    /// The target at the start; `None`: `min_rate`.
    pub start_rate: Option<Rate>,
    /// RAMP_UP_SPEED, in bit/s per second.
    pub ramp_up_speed: Rate,
    /// MSS: the longest packet in bytes.
    pub mss: u32,
    /// Frames per second.
    pub frame_rate: f64,
    /// Time from one key frame to the next; `None`: without key frames.
    pub key_frame_interval: Option<Span>,
    /// Length of a key frame divided by that of any other frame.
    pub key_frame_ratio: f64,
    /// How long the encoder takes to follow a new target.
    pub response_delay: Span,
    /// Scale of the random deviation of frame lengths from their mean.
    pub frame_noise: f64,
    /// From one report to the next.
    pub feedback_interval: FeedbackInterval,
    /// Length of a report in bytes, headers included.
    pub feedback_size: u32,
    /// Packets that waited longer in the RTP queue are discarded.
    pub max_queue_delay: Span,
    /// Whether qdelay_target is adjusted to competing flows.
    pub competing_flows: bool,
    /// Whether packets are ECN-capable.
    pub ecn: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            min_rate: Rate(150_000),
            max_rate: Rate(1_500_000),
            start_rate: None,
            ramp_up_speed: Rate(200_000),
            mss: 1000,
            frame_rate: 30.0,
            key_frame_interval: None,
            key_frame_ratio: 3.2,
            response_delay: Span::from_millis(200),
            frame_noise: 0.15,
            feedback_interval: FeedbackInterval::Auto,
            feedback_size: 72,
            max_queue_delay: Span::from_millis(400),
            competing_flows: true,
            ecn: false,
        }
    }
}

/// A parameter that is a bit rate, with its default.
const fn rate(
    key: &'static str,
    default: &'static str,
    doc: &'static str,
    source: &'static str,
) -> Setting<Config> {
    Setting::new(Parameter::new(key, "", ValueKind::Rate, doc).default(default).source(source))
}

/// Every parameter, and the field that holds it.
const SETTINGS: Settings<Config> = Settings(&[
    rate(
        "min_rate",
        "150kbps",
        "TARGET_BITRATE_MIN: least target bit rate, headers included.",
        "RFC 8593, section 5: R_min",
    )
    .is(field!(min_rate)),
    rate(
        "max_rate",
        "1.5Mbps",
        "TARGET_BITRATE_MAX: greatest target bit rate, headers included.",
        "RFC 8593, section 5: R_max",
    )
    .is(field!(max_rate)),
    rate(
        "start_rate",
        "min_rate",
        "Target bit rate at the start.",
        "RFC 8298, section 4.1.1.2: target_bitrate",
    )
    .is(field!(start_rate)),
    rate(
        "ramp_up_speed",
        "200kbps",
        "RAMP_UP_SPEED: most by which the target grows in a second.",
        "RFC 8298, section 4.1.1.1",
    )
    .is(field!(ramp_up_speed)),
    number(
        "mss",
        ValueKind::Bytes,
        ("1000B", 100.0, 65_535.0),
        "MSS: longest packet, headers included.",
        "RFC 8298, section 4.1.1.1",
    )
    .is(field!(mss)),
    number(
        "frame_rate",
        ValueKind::Number,
        ("30", 1.0, 1000.0),
        "Video frames per second.",
        "RFC 8593, section 5: FPS",
    )
    .is(field!(frame_rate)),
    time_or_off(
        "key_frame_interval",
        ("false", 1e-3, 1e6),
        "From one key frame to the next; false: all frames are alike.",
        "this project: RFC 8593 has bursts of larger frames after changes of the rate",
    )
    .is(field!(key_frame_interval)),
    number(
        "key_frame_ratio",
        ValueKind::Number,
        ("3.2", 1.0, 100.0),
        "Length of a key frame over that of another frame.",
        "RFC 8593, section 5: K_B / B0 = 13.5 kB / 4.17 kB",
    )
    .is(field!(key_frame_ratio)),
    time(
        "response_delay",
        ("200ms", 0.0, 10.0),
        "How long the encoder takes to follow a new target.",
        "RFC 8593, section 5: tau_v",
    )
    .is(field!(response_delay)),
    number(
        "frame_noise",
        ValueKind::Number,
        ("0.15", 0.0, 1.0),
        "Scale of the Laplace distribution of the lengths of frames about their mean, which is 1.",
        "RFC 8593, section 5: SCALE_B",
    )
    .is(field!(frame_noise)),
    Setting::new(
        time::<Config>(
            "feedback_interval",
            ("auto", 1e-3, 10.0),
            "From one report of the receiver to the next; auto: 20 ms to 400 ms by the bit rate.",
            "RFC 8298, section 4.2.2: fb_int",
        )
        .parameter
        .or(&[AUTO]),
    )
    .is(field!(feedback_interval)),
    number(
        "feedback_size",
        ValueKind::Bytes,
        ("72B", 1.0, 1500.0),
        "Length of a report, headers included.",
        "RFC 8298, section 4.2.1: 44 B, with 28 B of IPv4 and UDP",
    )
    .is(field!(feedback_size)),
    time(
        "max_queue_delay",
        ("400ms", 1e-3, 100.0),
        "Packets that waited longer in the sender's RTP queue are discarded.",
        "RFC 8298, section 4.1.3, without a number; ITU-T G.114: 400 ms",
    )
    .is(field!(max_queue_delay)),
    flag(
        "competing_flows",
        "true",
        "Whether the target of the queueing delay follows competing flows.",
        "RFC 8298, section 4.1.2.3",
    )
    .is(field!(competing_flows)),
    flag("ecn", "false", "Whether packets are ECN-capable.", "RFC 8298, section 4.2.1: n_ECN is optional")
        .is(field!(ecn)),
]);

/// Every parameter that a scenario file can set in `scream = {...}`.
pub static PARAMETERS: LazyLock<Vec<Parameter>> = LazyLock::new(|| SETTINGS.parameters().collect());

impl Config {
    /// Return the target at the start.
    pub fn start_rate(&self) -> Rate {
        self.start_rate.unwrap_or(self.min_rate)
    }

    /// Return the least bit rate of its frames, in bit/s: each has its headers.
    pub fn least_bps(&self) -> f64 {
        8.0 * super::encoder::HEADERS * self.frame_rate
    }

    /// Set a parameter. Return false if there is none of this key, or if the value has another type.
    pub fn set(&mut self, key: &str, value: Value<'_>) -> bool {
        SETTINGS.set(self, key, value)
    }

    /// Return the values of all parameters, by key.
    pub fn effective(&self) -> Vec<(&'static str, Value<'static>)> {
        SETTINGS.reported(&Self { start_rate: Some(self.start_rate()), ..self.clone() }, &Self::default())
    }

    /// Check the ranges of all values.
    ///
    /// # Errors
    /// Return the first value outside its range.
    pub fn check(&self) -> Result<(), InvalidParameter> {
        let invalid = |parameter: &'static Parameter| {
            let value = match SETTINGS.get(self, parameter.key)? {
                Value::Whole(n) => f64::from(n),
                Value::Real(x) => x,
                Value::Time(span) => span.secs(),
                _ => return None,
            };
            (!parameter.admits(value)).then_some(InvalidParameter { parameter, value })
        };
        PARAMETERS.iter().find_map(invalid).map_or(Ok(()), Err)
    }
}
