//! Parameters of single controllers of congestion.

use super::{choice, flag, number};
use crate::{Kind, Parameter};

pub const DCTCP_G: Parameter = number(
    "dctcp_g",
    Kind::Real,
    "",
    ("0.0625", 1e-6, 1.0),
    "DCTCP: weight of a window of data in the average share of marked packets.",
    "RFC 8257, section 4.2: 1/16",
);

pub const DCTCP_INITIAL_ALPHA: Parameter = number(
    "dctcp_initial_alpha",
    Kind::Real,
    "",
    ("1", 0.0, 1.0),
    "DCTCP: the average share of marked packets before the first window.",
    "RFC 8257, section 3.3",
);

pub const LEDBAT_TARGET: Parameter = number(
    "ledbat_target",
    Kind::Time,
    "s",
    ("100ms", 1e-5, 1.0),
    "LEDBAT: delay of the queue that it aims at; 5 ms in the scenarios of RFC 7928.",
    "RFC 6817, section 2.5: at most 100 ms",
);

pub const LEDBAT_GAIN: Parameter = number(
    "ledbat_gain",
    Kind::Real,
    "",
    ("1", 1e-3, 1000.0),
    "LEDBAT: segments a window by which the window grows without a queue; 10 in the scenarios of RFC 7928.",
    "RFC 6817, section 2.5: at most 1",
);

pub const LEDBAT_ALLOWED_INCREASE: Parameter = number(
    "ledbat_allowed_increase",
    Kind::Real,
    "packets",
    ("1p", 1e-3, 1000.0),
    "LEDBAT: how far the window may be above what was in flight.",
    "RFC 6817, section 2.5",
);

pub const LEDBAT_MIN_CWND: Parameter = number(
    "ledbat_min_cwnd",
    Kind::Integer,
    "packets",
    ("2p", 1.0, 1000.0),
    "LEDBAT: least window.",
    "RFC 6817, section 2.5",
);

pub const LEDBAT_BASE_HISTORY: Parameter = number(
    "ledbat_base_history",
    Kind::Integer,
    "",
    ("10", 1.0, 60.0),
    "LEDBAT: minutes after which a least delay is forgotten.",
    "RFC 6817, section 2.5",
);

pub const LEDBAT_FILTER: Parameter = choice(
    "ledbat_filter",
    "min",
    &["min", "ewma"],
    "LEDBAT: what is made of the latest delays, their least or a moving average.",
    "RFC 6817, section 2.4.2, leaves it open; ns-3: min",
);

pub const LEDBAT_FILTER_LENGTH: Parameter = number(
    "ledbat_filter_length",
    Kind::Integer,
    "",
    ("4", 1.0, 64.0),
    "LEDBAT: how many delays are the latest; of an average, one over the weight of one.",
    "RFC 6817, section 2.5, CURRENT_FILTER; ns-3: 4",
);

pub const LEDBAT_SLOW_START: Parameter = flag(
    "ledbat_slow_start",
    "false",
    "LEDBAT: whether the window doubles each round trip until the target is reached.",
    "RFC 6817, section 2.4.2, has none; ns-3: true",
);

pub const PRAGUE_G: Parameter = number(
    "prague_g",
    Kind::Real,
    "",
    ("0.0625", 1e-6, 1.0),
    "Prague: weight of a round trip in the average share of marked packets.",
    "Linux (L4S) tcp_prague, PRAGUE_SHIFT_G: 1/16",
);

pub const PRAGUE_RTT_TARGET: Parameter = number(
    "prague_rtt_target",
    Kind::Time,
    "s",
    ("25ms", 1e-6, 1.0),
    "Prague: the virtual round-trip time; a flow with a shorter one is as slow as one with this.",
    "Linux (L4S) tcp_prague, prague_rtt_target",
);

pub const PRAGUE_RTT_TRANSITION: Parameter = number(
    "prague_rtt_transition",
    Kind::Integer,
    "",
    ("500", 0.0, 1e6),
    "Prague: rounds of congestion avoidance before the virtual round-trip time counts.",
    "Linux (L4S) tcp_prague, prague_rtt_transition",
);

pub const BBR_LOSS_THRESH: Parameter = number(
    "bbr_loss_thresh",
    Kind::Real,
    "",
    ("0.02", 1e-6, 1.0),
    "BBR: share of losses in a round trip from which on too much is in flight.",
    "draft-ietf-ccwg-bbr-06, section 5.5.10.2",
);

pub const BBR_BETA: Parameter = number(
    "bbr_beta",
    Kind::Real,
    "",
    ("0.7", 0.0, 1.0),
    "BBR: what is left of a bound at the least after losses.",
    "draft-ietf-ccwg-bbr-06, section 5.5.10.2",
);

pub const BBR_HEADROOM: Parameter = number(
    "bbr_headroom",
    Kind::Real,
    "",
    ("0.15", 0.0, 0.9),
    "BBR: share of what may be in flight that is left to others.",
    "draft-ietf-ccwg-bbr-06, section 5.3.3.1",
);

pub const BBR_PACING_MARGIN: Parameter = number(
    "bbr_pacing_margin",
    Kind::Real,
    "",
    ("0.01", 0.0, 0.5),
    "BBR: share by which the pace is below the bandwidth.",
    "draft-ietf-ccwg-bbr-06, section 5.6.2",
);

pub const BBR_MIN_RTT_WINDOW: Parameter = number(
    "bbr_min_rtt_window",
    Kind::Time,
    "s",
    ("10s", 1e-3, 1000.0),
    "BBR: after which a least round-trip time is forgotten.",
    "draft-ietf-ccwg-bbr-06, section 5.5.7.2",
);

pub const BBR_PROBE_RTT_INTERVAL: Parameter = number(
    "bbr_probe_rtt_interval",
    Kind::Time,
    "s",
    ("5s", 1e-3, 1000.0),
    "BBR: after which a lower round-trip time is looked for.",
    "draft-ietf-ccwg-bbr-06, section 5.3.4.1",
);

pub const BBR_PROBE_RTT_DURATION: Parameter = number(
    "bbr_probe_rtt_duration",
    Kind::Time,
    "s",
    ("200ms", 1e-3, 10.0),
    "BBR: how long it is looked for, at the least.",
    "draft-ietf-ccwg-bbr-06, section 5.3.4.1",
);

pub const BBR_ECN_FACTOR: Parameter = number(
    "bbr_ecn_factor",
    Kind::Real,
    "",
    ("0.3333333333333333", 0.0, 1.0),
    "BBR: share of the average of marks that is taken off what may be in flight, with ecn.",
    "Google's BBR version 3 for Linux, bbr_ecn_factor: 1/3",
);

pub const BBR_ECN_THRESH: Parameter = number(
    "bbr_ecn_thresh",
    Kind::Real,
    "",
    ("0.5", 1e-6, 1.0),
    "BBR: share of marks from which on too much is in flight, with ecn.",
    "Google's BBR version 3 for Linux, bbr_ecn_thresh",
);

pub const BBR_ECN_MAX_RTT: Parameter = number(
    "bbr_ecn_max_rtt",
    Kind::Time,
    "s",
    ("5ms", 1e-6, 1000.0),
    "BBR: paths with a longer least round-trip time give no marks that count.",
    "Google's BBR version 3 for Linux, bbr_ecn_max_rtt_us",
);
