//! The controllers of congestion by name, and what those that have parameters of their own are set to.

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

    /// The feedback of marks that it has unless told otherwise.
    pub const fn feedback(self) -> EcnFeedback {
        match self {
            Self::Dctcp => EcnFeedback::Dctcp,
            Self::Prague => EcnFeedback::Accurate,
            Self::Reno | Self::Cubic | Self::Ledbat | Self::Bbr => EcnFeedback::Off,
        }
    }

    /// Whether it works with this feedback: who counts marks must be told of each.
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

    /// Whether it is nothing without marks, so that all of its packets are ECN-capable, SYN and retransmissions too.
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

/// How the receiver tells the sender of marked packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EcnFeedback {
    /// The connection does not use ECN.
    Off,
    /// That there was one, until the sender says that it has heard (RFC 3168).
    Classic,
    /// Whether the segments that an acknowledgement answers were marked (RFC 8257, section 3.2).
    Dctcp,
    /// How many there were, modulo 8 (AccECN, RFC 9768).
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

/// What DCTCP is set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DctcpConfig {
    /// Weight of a window in the average share of marks.
    pub g: f64,
    /// The average before the first window.
    pub initial_alpha: f64,
}

impl DctcpConfig {
    /// As RFC 8257, sections 3.3 and 4.2, has it.
    pub const RFC: Self = Self { g: 1.0 / 16.0, initial_alpha: 1.0 };
}

/// What LEDBAT makes of its latest delays.
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

/// What LEDBAT is set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LedbatConfig {
    /// Delay of the queue that it aims at.
    pub target: Span,
    /// Segments a window by which the window grows without a queue.
    pub gain: f64,
    /// Segments that the window may be above what was in flight.
    pub allowed_increase: f64,
    /// Least window, in segments.
    pub min_cwnd: u32,
    /// Minutes after which a least delay is forgotten.
    pub base_history: u32,
    /// What is made of the latest delays.
    pub filter: DelayFilter,
    /// How many of them.
    pub filter_length: u32,
    /// Whether the window doubles each round trip until the target is reached.
    pub slow_start: bool,
}

impl LedbatConfig {
    /// As RFC 6817, section 2.5, has it.
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

/// What Prague is set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PragueConfig {
    /// Weight of a round trip in the average share of marks.
    pub g: f64,
    /// The virtual round-trip time: a flow with a shorter one is as slow as one with this.
    pub rtt_target: Span,
    /// Rounds of congestion avoidance before it is.
    pub rtt_transition: u32,
}

impl PragueConfig {
    /// As the L4S kernel has it.
    pub const LINUX: Self = Self { g: 1.0 / 16.0, rtt_target: Span::from_millis(25), rtt_transition: 500 };
}

/// What BBR is set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrConfig {
    /// Share of losses in a round trip from which on too much is in flight.
    pub loss_thresh: f64,
    /// What is left of a bound at the least after losses.
    pub beta: f64,
    /// Share of what may be in flight that is left to others.
    pub headroom: f64,
    /// Share by which the pace is below the bandwidth.
    pub pacing_margin: f64,
    /// After which a least round-trip time is forgotten.
    pub min_rtt_window: Span,
    /// After which a lower round-trip time is looked for.
    pub probe_rtt_interval: Span,
    /// How long, at the least.
    pub probe_rtt_duration: Span,
    /// Share of the average of marks that is taken off what may be in flight.
    pub ecn_factor: f64,
    /// Share of marks from which on too much is in flight.
    pub ecn_thresh: f64,
    /// Paths with a longer least round-trip time give no marks that count.
    pub ecn_max_rtt: Span,
}

impl BbrConfig {
    /// As the draft has it.
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
