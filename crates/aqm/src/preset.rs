use crate::Parameter;
use crate::red::Dialect;
use crate::red::spacing::Rule;
use crate::registry::{DROP_TAIL, RED};

/// A named discipline: a documented choice of parts with its paper's parameters.
#[derive(Clone, Debug)]
pub struct Preset {
    /// The name in a scenario file.
    pub name: &'static str,
    /// The name in words.
    pub title: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// The idea in one sentence.
    pub doc: &'static str,
    /// What it is made of.
    pub(crate) make: Make,
}

/// What a preset is made of.
#[derive(Clone, Debug)]
pub(crate) enum Make {
    DropTail,
    Red(RedPreset),
}

/// Defaults of a member of the RED family; queue lengths in packets.
#[derive(Clone, Debug)]
pub(crate) struct RedPreset {
    pub curve: &'static str,
    pub min_th: f64,
    pub max_th: f64,
    pub max_p: f64,
    pub w_q: f64,
    pub limit: u32,
    pub spacing: Rule,
    pub dialect: Dialect,
    /// Dialect and spacing of `as-printed`.
    pub as_printed: (Dialect, Rule),
}

/// Classic RED, and what its relatives do not exchange. All but ExRED, whose model has no count, space their drops as
/// ns-2 does (reading R-1), so that a comparison of presets compares what their papers changed.
const CLASSIC: RedPreset = RedPreset {
    curve: "linear",
    min_th: 5.0,
    max_th: 15.0,
    max_p: 0.1,
    w_q: 0.002,
    limit: 100,
    spacing: Rule::Ns2Wait,
    dialect: Dialect::RECOMMENDED,
    as_printed: (Dialect::FLOYD93, Rule::Floyd93),
};

/// All presets.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "drop-tail",
        title: "Drop-tail",
        paper: "",
        doc: "First in, first out; what arrives at a full buffer is dropped.",
        make: Make::DropTail,
    },
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
        make: Make::Red(RedPreset { curve: "gentle", ..CLASSIC }),
    },
    Preset {
        name: "mred",
        title: "MRED",
        paper: "Y. Zhang, J. Ma, Y. Wang, C. Xu, MRED: An Improved Nonlinear RED Algorithm",
        doc: "RED with a quadratic curve up to max_th and a linear one to twice max_th.",
        make: Make::Red(RedPreset { curve: "mred", min_th: 10.0, max_th: 30.0, ..CLASSIC }),
    },
    Preset {
        name: "exred",
        title: "ExRED",
        paper: "S. Prabhavat, R. Varakulsiripunth, Performance Improvement on RED Based Gateway in TCP Communication Network",
        doc: "RED whose probability rises as a parabola from max_th to the end of the buffer; no count.",
        make: Make::Red(RedPreset {
            curve: "exred",
            min_th: 10.0,
            max_th: 30.0,
            w_q: 0.02,
            spacing: Rule::None,
            dialect: Dialect::MARKOV,
            as_printed: (Dialect::MARKOV, Rule::None),
            ..CLASSIC
        }),
    },
    Preset {
        name: "nlred",
        title: "Nonlinear RED",
        paper: "K. Zhou, K. L. Yeung, V. O. K. Li, Nonlinear RED, Computer Networks 50(18), 2006",
        doc: "RED with a quadratic curve between the thresholds.",
        make: Make::Red(RedPreset { curve: "nlred", ..CLASSIC }),
    },
];

impl Preset {
    /// The preset of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|p| p.name == name)
    }

    /// The parameters that may be set.
    pub fn parameters(&self) -> &'static [Parameter] {
        match self.make {
            Make::DropTail => DROP_TAIL,
            Make::Red(_) => RED,
        }
    }
}
