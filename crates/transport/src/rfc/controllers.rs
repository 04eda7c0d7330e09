//! Congestion controllers by name, and the parameters of those that have any.

use aqmlab_units::Span;

/// The congestion control of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CongestionControl {
    /// Slow start and congestion avoidance (RFC 5681).
    Reno,
    /// A cubic function of the time since the last loss (RFC 9438).
    Cubic,
    /// In proportion to the share of marked packets (RFC 8257).
    Dctcp,
    /// In the background, by the delay of the queue (RFC 6817).
    Ledbat,
    /// As DCTCP, on paths with L4S (draft-briscoe-iccrg-prague-congestion-control).
    Prague,
    /// By the rate of delivery and the least round-trip time (draft-ietf-ccwg-bbr, version 3).
    Bbr,
}

impl CongestionControl {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Reno, Self::Cubic, Self::Dctcp, Self::Ledbat, Self::Prague, Self::Bbr];

    /// The name in scenario files, as Linux has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Dctcp => "dctcp",
            Self::Ledbat => "ledbat",
            Self::Prague => "prague",
            Self::Bbr => "bbr",
        }
    }

    /// What a flow is called in tables.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Reno => "tcp-reno",
            Self::Cubic => "tcp-cubic",
            Self::Dctcp => "tcp-dctcp",
            Self::Ledbat => "tcp-ledbat",
            Self::Prague => "tcp-prague",
            Self::Bbr => "tcp-bbr",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.name() == name)
    }

    /// Return the default ECN feedback of this controller.
    pub const fn feedback(self) -> EcnFeedback {
        match self {
            Self::Dctcp => EcnFeedback::Dctcp,
            Self::Prague => EcnFeedback::Accurate,
            Self::Reno | Self::Cubic | Self::Ledbat | Self::Bbr => EcnFeedback::Off,
        }
    }

    /// Return whether the controller works with this feedback. Controllers that count marks need a report of each mark.
    pub fn works_with(self, feedback: EcnFeedback) -> bool {
        match self {
            Self::Dctcp => matches!(feedback, EcnFeedback::Dctcp | EcnFeedback::Accurate),
            Self::Prague => feedback == EcnFeedback::Accurate,
            Self::Reno | Self::Cubic | Self::Ledbat => feedback != EcnFeedback::Dctcp,
            Self::Bbr => feedback != EcnFeedback::Classic,
        }
    }

    /// Whether its packets ask for L4S by ECT(1) (RFC 9331).
    pub const fn is_l4s(self) -> bool {
        matches!(self, Self::Prague)
    }

    /// Return whether the controller depends on ECN, so that all its packets, SYN and retransmissions included, are ECN-capable.
    pub const fn needs_ecn(self) -> bool {
        matches!(self, Self::Dctcp | Self::Prague)
    }

    /// Whether Linux has it under this name.
    pub const fn in_linux(self) -> bool {
        matches!(self, Self::Reno | Self::Cubic | Self::Dctcp)
    }

    /// Whether its sender asks for one-way delays.
    pub const fn needs_one_way_delay(self) -> bool {
        matches!(self, Self::Ledbat)
    }
}

/// How the receiver reports marked packets to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EcnFeedback {
    /// The connection does not use ECN.
    Off,
    /// Echo a mark until the sender sets CWR (RFC 3168).
    Classic,
    /// Report for each acknowledgement whether its segments were marked (RFC 8257, section 3.2).
    Dctcp,
    /// Report the number of marked packets, modulo 8 (AccECN, RFC 9768).
    Accurate,
}

impl EcnFeedback {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Off, Self::Classic, Self::Dctcp, Self::Accurate];

    /// The name in scenario files, in which the first two may be `false` and `true` too.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Classic => "classic",
            Self::Dctcp => "dctcp",
            Self::Accurate => "accurate",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }

    /// Whether the connection uses ECN.
    pub fn is_on(self) -> bool {
        self != Self::Off
    }
}

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

/// The filter that LEDBAT applies to its latest delay samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DelayFilter {
    /// The least of them.
    Minimum,
    /// A moving average, in which one has a weight of 1/length.
    Average,
}

impl DelayFilter {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Minimum, Self::Average];

    /// The name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minimum => "min",
            Self::Average => "ewma",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }
}

/// Parameters of LEDBAT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LedbatConfig {
    /// Target queueing delay.
    pub target: Span,
    /// Segments a window by which the window grows without a queue.
    pub gain: f64,
    /// Segments that the window may be above what was in flight.
    pub allowed_increase: f64,
    /// Least window, in segments.
    pub min_cwnd: u32,
    /// Minutes after which a minimum delay expires.
    pub base_history: u32,
    /// Filter of the latest delay samples.
    pub filter: DelayFilter,
    /// Number of delay samples in the filter.
    pub filter_length: u32,
    /// Whether the window doubles each round trip until the target is reached.
    pub slow_start: bool,
}

impl LedbatConfig {
    /// The values of RFC 6817, section 2.5.
    pub const RFC: Self = Self {
        target: Span::from_millis(100),
        gain: 1.0,
        allowed_increase: 1.0,
        min_cwnd: 2,
        base_history: 10,
        filter: DelayFilter::Minimum,
        filter_length: 4,
        slow_start: false,
    };
}

/// Parameters of Prague.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PragueConfig {
    /// Weight of a round trip in the average share of marks.
    pub g: f64,
    /// The virtual round-trip time: a flow with a shorter one is as slow as one with this.
    pub rtt_target: Span,
    /// Rounds of congestion avoidance before the virtual round-trip time applies.
    pub rtt_transition: u32,
}

impl PragueConfig {
    /// The values of the L4S kernel.
    pub const LINUX: Self = Self { g: 1.0 / 16.0, rtt_target: Span::from_millis(25), rtt_transition: 500 };
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
