//! Configuration of a connection of the RFC profile.

use aqmlab_units::Span;

use super::parameters::GENERAL;
use super::{CongestionControl, ControllerOptions, EcnFeedback};
use crate::settings::slot_of_words;
use crate::{Configuration, Profile, Value};

/// How CUBIC leaves slow start before a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HyStart {
    /// Not at all: slow start ends with a loss.
    Off,
    /// By trains of acknowledgements and by delay, as Linux does (Ha and Rhee 2011).
    Linux,
    /// By delay, followed by a phase of slower growth (HyStart++, RFC 9406).
    PlusPlus,
}

impl HyStart {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Off, Self::Linux, Self::PlusPlus];

    /// The name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Linux => "linux",
            Self::PlusPlus => "rfc9406",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|h| h.name() == name)
    }
}

/// How the sender finds losses, and the acknowledgements that it needs for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LossDetection {
    /// TCP's, see `sack` and `rack`.
    Tcp,
    /// QUIC's (RFC 9002): each transmission has its own packet number.
    Quic,
}

impl LossDetection {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Tcp, Self::Quic];

    /// The name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Quic => "quic",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|l| l.name() == name)
    }
}

slot_of_words!(LossDetection);
slot_of_words!(HyStart);
slot_of_words!(CongestionControl);

/// Configuration of a connection, shared by its two ends and by all flows of a group.
///
/// The defaults are those of Linux 6 over IPv4 with an MTU of 1500 bytes; [`PARAMETERS`](super::PARAMETERS) names the source of each.
/// [`Configuration::check`] checks the ranges of the values; the endpoints rely on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Congestion control of the sender.
    pub congestion_control: CongestionControl,
    /// Payload of a full segment in bytes.
    pub mss: u32,
    /// IP and TCP header of a data packet in bytes, options included.
    pub header: u32,
    /// Length of an acknowledgement in bytes, without SACK blocks.
    pub ack_size: u32,
    /// Congestion window after the handshake, in segments.
    pub initial_window: u32,
    /// Slow-start threshold at the start, in segments; `None`: none.
    pub initial_ssthresh: Option<u32>,
    /// Receiver's window in bytes.
    pub window: u32,
    /// How long the receiver may hold an acknowledgement back; `None`: every segment is answered at once.
    pub delayed_ack: Option<Span>,
    /// Full segments that a delayed acknowledgement answers: the last of them is answered at once.
    pub ack_ratio: u32,
    /// Packets by which later ones overtake a missing one before it is reported at once (QUIC); 0: not at once.
    pub reordering_threshold: u32,
    /// How many acknowledgements at the start are not delayed.
    pub quick_acks: u32,
    /// How long the answer to data out of order may be held back from the fourth in a row on; `None`: not at all.
    pub sack_compression: Option<Span>,
    /// Least retransmission time-out before back-off, or the least variance term added to the smoothed round-trip time, see
    /// `rto_floor_on_variance`.
    pub min_rto: Span,
    /// Whether `min_rto` bounds the variance term (Linux) instead of the whole time-out (RFC 6298).
    pub rto_floor_on_variance: bool,
    /// Greatest retransmission time-out.
    pub max_rto: Span,
    /// Retransmission time-out before the first round-trip sample.
    pub initial_rto: Span,
    /// How losses are found. With QUIC's rules, `sack` is on, and `rack`, `frto` and `undo` are off.
    pub loss_detection: LossDetection,
    /// Whether selective acknowledgements are used (RFC 2018, duplicates reported as in RFC 2883); without them recovery
    /// is NewReno's (RFC 6582).
    pub sack: bool,
    /// Whether losses are found by time, with tail loss probes (RFC 8985), instead of by counting (RFC 6675).
    pub rack: bool,
    /// Whether the window shrinks in proportion to what arrives (RFC 6937), instead of at once.
    pub prr: bool,
    /// Whether F-RTO detects spurious time-outs (RFC 5682).
    pub frto: bool,
    /// Whether a spurious window reduction is undone (RFC 4015).
    pub undo: bool,
    /// Whether duplicate acknowledgements below the threshold send new data (RFC 3042).
    pub limited_transmit: bool,
    /// How CUBIC leaves slow start before a loss; Reno never does.
    pub hystart: HyStart,
    /// Whether CUBIC reduces W_max further when a loss occurs at a smaller window than the previous one (RFC 9438, section 4.7).
    pub fast_convergence: bool,
    /// Whether CUBIC is at least as fast as Reno (RFC 9438, section 4.3).
    pub tcp_friendly: bool,
    /// Whether windows and thresholds are whole segments, as in Linux, instead of real numbers.
    pub whole_segments: bool,
    /// Whether the connection uses ECN, and how the receiver reports marks (RFC 3168, RFC 8257, RFC 9768).
    pub ecn: EcnFeedback,
    /// Whether data leaves evenly spaced, at 2 (in slow start) or 1.2 windows a round trip.
    pub pacing: bool,
    /// Whether packets carry time stamps (RFC 7323). Their length is in `header` and `ack_size`.
    pub timestamps: bool,
    /// Whether a pause as long as the time-out shrinks the window (RFC 5681, section 4.1; RFC 2861).
    pub idle_restart: bool,
    /// Whether the receiver's window grows, with an acknowledgement that is not delayed each time it does (Linux).
    pub window_growth: bool,
    /// Parameters of the controllers; those of others than `congestion_control` have no effect.
    pub controllers: ControllerOptions,
}

/// The assumed granularity of timers (RFC 9002, section 6.1.2): kGranularity.
pub(super) const GRANULARITY: Span = Span::from_millis(1);

/// Bytes of the options that only a SYN has: maximum segment size and window scale.
const SYN_OPTION_BYTES: u32 = 8;

impl Config {
    /// The defaults of Linux 6.
    pub const fn linux(congestion_control: CongestionControl) -> Self {
        Self {
            congestion_control,
            mss: 1448,
            header: 52,
            ack_size: 52,
            initial_window: 10,
            initial_ssthresh: None,
            window: 6_291_456,
            delayed_ack: Some(Span::from_millis(40)),
            ack_ratio: 2,
            reordering_threshold: 1,
            quick_acks: 16,
            sack_compression: Some(Span::from_millis(1)),
            min_rto: Span::from_millis(200),
            rto_floor_on_variance: true,
            max_rto: Span::from_millis(120_000),
            initial_rto: Span::from_millis(1000),
            loss_detection: LossDetection::Tcp,
            sack: true,
            rack: true,
            prr: true,
            frto: true,
            undo: true,
            limited_transmit: true,
            hystart: HyStart::Linux,
            fast_convergence: true,
            tcp_friendly: true,
            whole_segments: true,
            ecn: congestion_control.feedback(),
            pacing: false,
            timestamps: true,
            idle_restart: true,
            window_growth: false,
            controllers: ControllerOptions::DEFAULT,
        }
    }

    /// The defaults with the loss detection and acknowledgements of QUIC (RFC 9000, RFC 9002) over UDP and IPv4.
    ///
    /// Header: 20 B (IPv4), 8 B (UDP), 11 B (short header with connection number of 8 B and packet number of 2 B), 8 B (STREAM
    /// frame) and 16 B (tag of the encryption). An acknowledgement has an ACK frame of 9 B instead of the STREAM frame.
    pub const fn quic(congestion_control: CongestionControl) -> Self {
        Self {
            mss: 1437,
            header: 63,
            ack_size: 64,
            delayed_ack: Some(Span::from_millis(25)),
            quick_acks: 0,
            sack_compression: None,
            min_rto: GRANULARITY,
            rto_floor_on_variance: false,
            loss_detection: LossDetection::Quic,
            rack: false,
            frto: false,
            undo: false,
            timestamps: false,
            ..Self::linux(congestion_control)
        }
    }

    /// Whether losses are found by QUIC's rules.
    #[inline]
    pub fn is_quic(&self) -> bool {
        self.loss_detection == LossDetection::Quic
    }

    /// Length of the SYN in bytes.
    pub const fn syn_length(&self) -> u32 {
        self.header + SYN_OPTION_BYTES
    }
}

impl Configuration for Config {
    const PROFILE: Profile = Profile::Rfc;

    fn get(&self, key: &str) -> Option<Value<'static>> {
        GENERAL.get(self, key).or_else(|| self.controllers.get(key))
    }

    fn set(&mut self, key: &str, value: Value<'_>) -> bool {
        GENERAL.set(self, key, value) || self.controllers.set(key, value)
    }

    /// Parameters of a controller only for connections that use it.
    fn effective(&self) -> Vec<(&'static str, Value<'static>)> {
        let mut values = GENERAL.reported(self, &Self::linux(self.congestion_control));
        values.extend(self.controllers.reported(self.congestion_control));
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rfc::DelayFilter;

    #[test]
    fn names_round_trip() {
        for cc in CongestionControl::ALL {
            assert_eq!(CongestionControl::from_name(cc.name()), Some(cc));
        }
        for hystart in HyStart::ALL {
            assert_eq!(HyStart::from_name(hystart.name()), Some(hystart));
        }
        for detection in LossDetection::ALL {
            assert_eq!(LossDetection::from_name(detection.name()), Some(detection));
        }
        for feedback in EcnFeedback::ALL {
            assert_eq!(EcnFeedback::from_name(feedback.name()), Some(feedback));
        }
        for filter in DelayFilter::ALL {
            assert_eq!(DelayFilter::from_name(filter.name()), Some(filter));
        }
        assert_eq!(CongestionControl::from_name("unheard-of"), None);
    }

    #[test]
    fn defaults_are_valid_and_an_invalid_value_is_named() {
        for cc in CongestionControl::ALL {
            assert!(Config::linux(cc).check().is_ok() && Config::quic(cc).check().is_ok());
            assert!(cc.works_with(cc.feedback()));
        }
        let config = Config::linux(CongestionControl::Cubic);
        let error = Config { mss: 0, ..config }.check().unwrap_err();
        assert_eq!(error.to_string(), "mss is 0 B, allowed: 64 to 65000 B");
    }
}
