//! The named members of the RED family: their parts and their papers' parameters.

use super::Dialect;
use super::adaptation::AdaptationKind;
use super::classes::Averages;
use super::curve::CurveKind;
use super::spacing::SpacingKind;
use super::victim::VictimKind;
use crate::Preset;
use crate::plugin::Definition;
use crate::preset::Make;

/// Defaults of a member of the RED family; queue lengths in packets.
#[derive(Clone, Debug)]
pub(crate) struct RedPreset {
    pub curve: CurveKind,
    pub min_th: f64,
    pub max_th: f64,
    pub max_p: f64,
    pub w_q: f64,
    /// Thresholds and weight follow from the link unless they are set (Floyd, Gummadi and Shenker 2001).
    pub automatic: bool,
    pub limit: u32,
    pub victim: VictimKind,
    pub classes: &'static [ClassPreset],
    pub averages: Averages,
    pub adaptation: AdaptationKind,
    pub spacing: SpacingKind,
    pub dialect: Dialect,
    /// The plugin whose curve or victim rule takes the place of `curve` or `victim`.
    pub idea: Option<&'static Definition>,
    /// Dialect and spacing of `as-printed`.
    pub as_printed: (Dialect, SpacingKind),
}

/// A class of a preset.
#[derive(Clone, Debug)]
pub(crate) struct ClassPreset {
    pub name: &'static str,
    pub dscp: &'static [u8],
    pub default: bool,
    pub min_th: f64,
    pub max_th: f64,
    pub max_p: f64,
}

/// Classic RED, and the parts that its relatives keep. All but ExRED, whose model has no count, space their drops as
/// ns-2 does (reading R-1), so that a comparison of presets compares what their papers changed.
pub(crate) const CLASSIC: RedPreset = RedPreset {
    curve: CurveKind::Linear,
    min_th: 5.0,
    max_th: 15.0,
    max_p: 0.1,
    w_q: 0.002,
    automatic: false,
    limit: 100,
    victim: VictimKind::Arriving,
    classes: &[],
    averages: Averages::Coupled,
    adaptation: AdaptationKind::Fixed,
    spacing: SpacingKind::Ns2Wait,
    dialect: Dialect::RECOMMENDED,
    idea: None,
    as_printed: (Dialect::FLOYD93, SpacingKind::Floyd93),
};

/// In and out of profile: AF11 (RFC 2597), and all else. The thresholds of *in* are those of Clark and Fang.
const IN_AND_OUT: &[ClassPreset] = &[
    ClassPreset { name: "in", dscp: &[10], default: false, min_th: 40.0, max_th: 70.0, max_p: 0.02 },
    ClassPreset { name: "out", dscp: &[], default: true, min_th: 5.0, max_th: 15.0, max_p: 0.1 },
];

/// The first class of assured forwarding (RFC 2597) and all else, with a router maker's default thresholds.
const DROP_PRECEDENCES: &[ClassPreset] = &[
    ClassPreset { name: "af11", dscp: &[10], default: false, min_th: 33.0, max_th: 40.0, max_p: 0.1 },
    ClassPreset { name: "af12", dscp: &[12], default: false, min_th: 28.0, max_th: 40.0, max_p: 0.1 },
    ClassPreset { name: "af13", dscp: &[14], default: false, min_th: 24.0, max_th: 40.0, max_p: 0.1 },
    ClassPreset { name: "rest", dscp: &[], default: true, min_th: 20.0, max_th: 40.0, max_p: 0.1 },
];

/// RIO; its papers' module spaces drops as Floyd and Jacobson do (reading R-1).
const RIO: RedPreset = RedPreset {
    classes: IN_AND_OUT,
    spacing: SpacingKind::Floyd93,
    as_printed: (Dialect::FLOYD93, SpacingKind::Floyd93),
    ..CLASSIC
};

/// RED and its descendants.
pub(crate) const FAMILY: &[Preset] = &[
    Preset {
        name: "red",
        title: "Random Early Detection",
        paper: "S. Floyd, V. Jacobson, Random Early Detection Gateways for Congestion Avoidance, IEEE/ACM ToN 1(4), 1993",
        doc: "Drops with a probability that grows linearly with the average queue, everything from max_th on.",
        make: Make::Red(CLASSIC),
    },
    Preset {
        name: "gentle-red",
        title: "Gentle RED",
        paper: "S. Floyd, Recommendation on using the gentle_ variant of RED, 2000",
        doc: "RED whose probability rises from max_p to 1 between max_th and twice max_th.",
        make: Make::Red(RedPreset { curve: CurveKind::Gentle, ..CLASSIC }),
    },
    Preset {
        name: "mred",
        title: "MRED",
        paper: "Y. Zhang, J. Ma, Y. Wang, C. Xu, MRED: An Improved Nonlinear RED Algorithm",
        doc: "RED with a quadratic curve up to max_th and a linear one to twice max_th; as printed with spacing = \"ns2-nowait\".",
        make: Make::Red(RedPreset { curve: CurveKind::Mred, min_th: 10.0, max_th: 30.0, ..CLASSIC }),
    },
    Preset {
        name: "exred",
        title: "ExRED",
        paper: "S. Prabhavat, R. Varakulsiripunth, Performance Improvement on RED Based Gateway in TCP Communication Network",
        doc: "RED whose probability rises as a parabola from max_th to the end of the buffer; no count.",
        make: Make::Red(RedPreset {
            curve: CurveKind::Exred,
            min_th: 10.0,
            max_th: 30.0,
            w_q: 0.02,
            spacing: SpacingKind::Bernoulli,
            dialect: Dialect::MARKOV,
            as_printed: (Dialect::MARKOV, SpacingKind::Bernoulli),
            ..CLASSIC
        }),
    },
    Preset {
        name: "nlred",
        title: "Nonlinear RED",
        paper: "K. Zhou, K. L. Yeung, V. O. K. Li, Nonlinear RED, Computer Networks 50(18), 2006",
        doc: "RED with a quadratic curve between the thresholds.",
        make: Make::Red(RedPreset { curve: CurveKind::Nlred, ..CLASSIC }),
    },
    Preset {
        name: "double-slope-red",
        title: "Double-slope RED (DSRED)",
        paper: "B. Zheng, M. Atiquzzaman, DSRED: An Active Queue Management Scheme for Next Generation Networks, LCN 2000",
        doc: "RED whose curve has a gentle slope up to the middle of the thresholds and a steep one to 1 at max_th.",
        make: Make::Red(RedPreset { curve: CurveKind::DoubleSlope, max_p: 0.04, ..CLASSIC }),
    },
    Preset {
        name: "pc-red",
        title: "PC-RED",
        paper: "Y. Li, S.-H. Yang, PC-RED for IPv6: Algorithm and Performance Analysis",
        doc: "RED whose victim is picked at random among packets of flows that have not lost more than promised.",
        make: Make::Red(RedPreset {
            min_th: 10.0,
            max_th: 35.0,
            w_q: 0.004,
            limit: 50,
            victim: VictimKind::PcRed,
            ..CLASSIC
        }),
    },
    Preset {
        name: "choke",
        title: "CHOKe",
        paper: "R. Pan, B. Prabhakar, K. Psounis, CHOKe: A Stateless Active Queue Management Scheme, INFOCOM 2000",
        doc: "RED that compares an arrival with a packet of the queue at random, and drops both if they are of one flow.",
        make: Make::Red(RedPreset { victim: VictimKind::Choke, ..CLASSIC }),
    },
    Preset {
        name: "ddred",
        title: "DDRED",
        paper: "E. Dedu, S. Linck, F. Spies, Distance-Dependent RED Policy (DDRED), ICN 2007",
        doc: "Gentle RED whose victim is the packet in the queue that has travelled least.",
        make: Make::Red(RedPreset {
            curve: CurveKind::Gentle,
            w_q: 0.0008,
            limit: 50,
            victim: VictimKind::Ddred,
            dialect: Dialect { mark_forced: true, ..Dialect::RECOMMENDED },
            ..CLASSIC
        }),
    },
    Preset {
        name: "rio",
        title: "RED with In and Out",
        paper: "D. Clark, W. Fang, Explicit Allocation of Best-Effort Packet Delivery Service, IEEE/ACM ToN 6(4), 1998",
        doc: "RED with a set of parameters for packets inside their profile and one for all others.",
        make: Make::Red(RIO),
    },
    Preset {
        name: "wred",
        title: "Weighted RED",
        paper: "D. Clark, W. Fang 1998; RFC 2597",
        doc: "RED with a set of parameters for each drop precedence and one average for all.",
        make: Make::Red(RedPreset { classes: DROP_PRECEDENCES, averages: Averages::Shared, ..RIO }),
    },
    Preset {
        name: "adaptive-rio",
        title: "Adaptive-RIO",
        paper: "C.-H. Chien, W. Liao, A Self-Configuring RED Gateway for Quality of Service (QoS) Networks, 2003",
        doc: "RIO whose thresholds of out packets follow the rate of arrivals and the presence of assured traffic.",
        make: Make::Red(RedPreset { adaptation: AdaptationKind::AdaptiveRio, ..RIO }),
    },
    Preset {
        name: "feng-red",
        title: "Feng's self-configuring RED",
        paper: "W. Feng, D. Kandlur, D. Saha, K. Shin, A Self-Configuring RED Gateway, INFOCOM 1999",
        doc: "RED whose max_p is divided when the average sinks below min_th and multiplied when it passes max_th.",
        make: Make::Red(RedPreset { adaptation: AdaptationKind::Feng, ..CLASSIC }),
    },
    Preset {
        name: "adaptive-red",
        title: "Adaptive RED",
        paper: "S. Floyd, R. Gummadi, S. Shenker, Adaptive RED: An Algorithm for Increasing the Robustness of RED's AQM, 2001",
        doc: "Gentle RED whose max_p keeps the average in the middle; thresholds and weight follow from the link.",
        make: Make::Red(RedPreset {
            curve: CurveKind::Gentle,
            automatic: true,
            adaptation: AdaptationKind::AdaptiveRed,
            ..CLASSIC
        }),
    },
    Preset {
        name: "load-red",
        title: "RED with load-adaptive thresholds",
        paper: "J. Aweya, M. Ouellette, D. Y. Montuno, A. Chapman, A load adaptive mechanism for buffer management, 2001",
        doc: "RED whose thresholds follow the load so that the drop rate stays near a target.",
        make: Make::Red(RedPreset { adaptation: AdaptationKind::Load, ..CLASSIC }),
    },
];
