//! Every parameter of every discipline, once: the scenario file, its schema, its error messages, `aqmlab list` and
//! the documentation are all made from these tables.

/// In what a parameter is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A queue length: packets (`30p`) or bytes (`30KB`, divided by the mean packet size).
    Packets,
    /// A buffer size: packets (`100p`) or bytes (`64KB`).
    Size,
    /// Bytes (`1000B`).
    Bytes,
    /// A time (`360ms`).
    Time,
    /// A whole number.
    Integer,
    /// A number without a unit.
    Number,
    /// true or false.
    Flag,
    /// One of some words.
    Choice,
    /// A list of [average in packets, p_b] pairs.
    Points,
}

/// One parameter of a discipline.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The key in a scenario file.
    pub key: &'static str,
    /// The symbol in the literature.
    pub symbol: &'static str,
    /// In what it is given.
    pub unit: Unit,
    /// Smallest value and whether it is itself allowed.
    pub min: Option<(f64, bool)>,
    /// Largest value and whether it is itself allowed.
    pub max: Option<(f64, bool)>,
    /// Words allowed (in place of, or besides, a number).
    pub choices: &'static [&'static str],
    /// What it is.
    pub doc: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

impl Parameter {
    pub(crate) const fn new(key: &'static str, symbol: &'static str, unit: Unit, doc: &'static str) -> Self {
        Self { key, symbol, unit, min: None, max: None, choices: &[], doc, source: "" }
    }

    /// A parameter of a plugin. The bounds are inclusive.
    pub fn plugin(
        key: &'static str,
        unit: Unit,
        (min, max): (Option<f64>, Option<f64>),
        doc: &'static str,
    ) -> Self {
        let closed = |x: Option<f64>| x.map(|x| (x, true));
        Self { min: closed(min), max: closed(max), ..Self::new(key, "", unit, doc) }
    }

    pub(crate) const fn above(mut self, min: f64) -> Self {
        self.min = Some((min, false));
        self
    }

    pub(crate) const fn from(mut self, min: f64) -> Self {
        self.min = Some((min, true));
        self
    }

    pub(crate) const fn to(mut self, max: f64) -> Self {
        self.max = Some((max, true));
        self
    }

    pub(crate) const fn below(mut self, max: f64) -> Self {
        self.max = Some((max, false));
        self
    }

    pub(crate) const fn or(mut self, choices: &'static [&'static str]) -> Self {
        self.choices = choices;
        self
    }

    pub(crate) const fn source(mut self, source: &'static str) -> Self {
        self.source = source;
        self
    }

    /// What is allowed, in words: for messages and tables.
    pub fn allowed(&self) -> String {
        let mut parts = Vec::new();
        let symbol = "x";
        match (self.min, self.max) {
            (Some((lo, closed)), Some((hi, top))) => {
                let (a, b) = (if closed { "<=" } else { "<" }, if top { "<=" } else { "<" });
                parts.push(format!("{lo} {a} {symbol} {b} {hi}"));
            }
            (Some((lo, true)), None) => parts.push(format!("at least {lo}")),
            (Some((lo, false)), None) => parts.push(format!("above {lo}")),
            (None, Some((hi, _))) => parts.push(format!("at most {hi}")),
            (None, None) => {}
        }
        match self.unit {
            Unit::Packets => parts.push("in packets (\"30p\") or bytes (\"30KB\")".into()),
            Unit::Size => parts.push("in packets (\"100p\") or bytes (\"64KB\")".into()),
            Unit::Bytes => parts.push("in bytes (\"1000B\")".into()),
            Unit::Time => parts.push("a time such as \"360ms\"".into()),
            Unit::Integer => parts.push("a whole number".into()),
            Unit::Flag => parts.push("true or false".into()),
            Unit::Points => {
                parts.push("a list of [average, p_b] pairs, both not falling, p_b in [0, 1]".into())
            }
            Unit::Number | Unit::Choice => {}
        }
        if !self.choices.is_empty() {
            let words = self.choices.iter().map(|c| format!("\"{c}\"")).collect::<Vec<_>>().join(", ");
            parts.push(if self.unit == Unit::Choice {
                format!("one of {words}")
            } else {
                format!("or {words}")
            });
        }
        parts.join(", ")
    }

    /// The victims or adaptations that alone have this parameter; none where every queue has it.
    pub fn parts(&self) -> impl Iterator<Item = &'static str> {
        // Non-RED disciplines may have parameters with the same names.
        let of_red = RED.iter().any(|p| std::ptr::eq(p, self));
        PART_KEYS.iter().filter(move |(_, keys)| of_red && keys.contains(&self.key)).map(|(part, _)| *part)
    }

    /// Whether `x` is inside the range.
    pub fn admits(&self, x: f64) -> bool {
        let above = self.min.is_none_or(|(lo, closed)| x > lo || (closed && x == lo));
        let below = self.max.is_none_or(|(hi, closed)| x < hi || (closed && x == hi));
        above && below
    }
}

const FJ93: &str = "Floyd and Jacobson 1993";
const NS2: &str = "ns-2.35 queue/red.cc";
const PC_RED: &str = "Li and Yang, PC-RED";
pub(crate) const DDRED_PAPER: &str = "Dedu, Linck and Spies, DDRED";
const CHOKE: &str = "Pan, Prabhakar and Psounis 2000";
const FENG: &str = "Feng, Kandlur, Saha and Shin 1999";
const ARED: &str = "Floyd, Gummadi and Shenker 2001";
const AWEYA: &str = "Aweya, Ouellette, Montuno and Chapman 2001";
const A_RIO: &str = "Chien and Liao, Adaptive-RIO";

pub(crate) const DISTANCE: Parameter =
    Parameter::new("distance", "d_r", Unit::Choice, "DDRED: hops travelled, or their share of the route")
        .or(&["ttl", "fraction"])
        .source(DDRED_PAPER);

pub(crate) const UNKNOWN_FRACTION: Parameter =
    Parameter::new("unknown_fraction", "", Unit::Number, "DDRED: share of a route whose length is not known")
        .from(0.0)
        .to(1.0);

pub(crate) const LIMIT: Parameter = Parameter::new(
    "limit",
    "limit",
    Unit::Size,
    "size of the buffer, the packet in transmission not counted",
)
.from(1.0);
pub(crate) const ECN: Parameter =
    Parameter::new("ecn", "", Unit::Flag, "mark ECN-capable packets instead of dropping them")
        .source("RFC 3168");
const DIALECT: Parameter =
    Parameter::new("dialect", "", Unit::Choice, "named set of all switches, spacing included").or(&[
        "floyd93",
        "ns2-2.35",
        "linux",
        "dsred",
        "as-printed",
    ]);

/// Parameters of `drop-tail`.
pub(crate) const DROP_TAIL: &[Parameter] = &[
    LIMIT,
    DIALECT,
    Parameter::new("strict_limit", "", Unit::Flag, "drop when the queue would reach its limit, not pass it")
        .source("ns-2.35 queue/drop-tail.cc"),
];

/// Parameters of RED and its descendants.
pub(crate) static RED: &[Parameter] = &[
    LIMIT,
    Parameter::new(
        "min_th",
        "min_th",
        Unit::Packets,
        "average from which packets are dropped by chance; k_l in ExRED",
    )
    .above(0.0)
    .or(&["auto"])
    .source(FJ93),
    Parameter::new("max_th", "max_th", Unit::Packets, "average at which p_b reaches max_p; k_h in ExRED")
        .above(0.0)
        .or(&["auto"])
        .source(FJ93),
    Parameter::new(
        "max_p",
        "max_p",
        Unit::Number,
        "p_b at max_th; at the middle of the thresholds in double-slope",
    )
    .from(0.0)
    .to(1.0)
    .source(FJ93),
    Parameter::new("w_q", "w_q", Unit::Number, "weight of one queue sample in the average")
        .above(0.0)
        .to(1.0)
        .or(&["auto", "auto-1s", "auto-0.1s"])
        .source(FJ93),
    Parameter::new("mean_packet", "s", Unit::Bytes, "mean packet size: unit of idle time and of byte mode")
        .from(1.0)
        .source(NS2),
    Parameter::new("mode", "", Unit::Choice, "what queue and average are measured in")
        .or(&["packets", "bytes"])
        .source(NS2),
    Parameter::new("curve", "", Unit::Choice, "p_b as a function of the average").or(&[
        "linear",
        "gentle",
        "mred",
        "exred",
        "nlred",
        "double-slope",
        "points",
    ]),
    Parameter::new("points", "", Unit::Points, "the drop profile of curve \"points\""),
    Parameter::new("spacing", "", Unit::Choice, "how drops are spread, given p_b").or(&[
        "floyd93",
        "ns2-wait",
        "ns2-nowait",
        "linux",
        "dsred",
        "none",
    ]),
    Parameter::new("victim", "", Unit::Choice, "which packet pays when one must go")
        .or(&["arriving", "pc-red", "ddred", "choke"]),
    Parameter::new("averages", "", Unit::Choice, "classes: what the average of each measures")
        .or(&["coupled", "decoupled", "shared"])
        .source("Clark and Fang 1998"),
    Parameter::new("adaptation", "", Unit::Choice, "how parameters move").or(&[
        "none",
        "feng",
        "adaptive-red",
        "load",
        "adaptive-rio",
    ]),
    ECN,
    DIALECT,
    Parameter::new("at_idle", "", Unit::Choice, "decay of the average over an idle period")
        .or(&["real", "integer", "table", "none"]),
    Parameter::new("idle_extra_step", "", Unit::Flag, "one more step of the average after an idle period")
        .source(NS2),
    Parameter::new("guard_one", "", Unit::Flag, "no early drop while at most one packet waits").source(NS2),
    Parameter::new("crossing", "", Unit::Choice, "the first arrival above min_th")
        .or(&["count-minus-one", "count-one"]),
    Parameter::new("p_one_is_early", "", Unit::Flag, "p_b = 1 goes through spacing (use_mark_p_)")
        .source(NS2),
    Parameter::new(
        "mark_up_to",
        "mark_p",
        Unit::Number,
        "largest p_b at which ECN marks instead of dropping",
    )
    .from(0.0)
    .to(1.0)
    .source(NS2),
    Parameter::new("mark_forced", "", Unit::Flag, "ECN also marks where every packet would be dropped")
        .source("Linux sch_red.c"),
    Parameter::new("byte_scaling", "", Unit::Choice, "where byte mode scales by packet size").or(&[
        "before-spacing",
        "after-spacing",
        "none",
    ]),
    Parameter::new("strict_limit", "", Unit::Flag, "byte mode: full when the bytes waiting reach the limit")
        .source(NS2),
    Parameter::new("full_first", "", Unit::Flag, "a full buffer drops before average, count and draw")
        .source("ns-2.35 diffserv/dsredq.cc"),
    Parameter::new("idle_when", "", Unit::Choice, "when the idle time of an average runs")
        .or(&["free", "none-waiting"])
        .source("ns-2.35 diffserv/dsredq.cc"),
    Parameter::new("in_service_counts", "", Unit::Flag, "the packet in transmission counts as queued")
        .source("ExRED eq. 9 (M/M/1/K); Linux sch_tbf.c"),
    Parameter::new(
        "loss_limit",
        "L",
        Unit::Bytes,
        "PC-RED: a high-priority flow may lose this much in an interval",
    )
    .above(0.0)
    .source(PC_RED),
    Parameter::new("loss_interval", "g", Unit::Time, "PC-RED: standard dropping interval")
        .above(0.0)
        .source(PC_RED),
    Parameter::new("loss_weight", "w", Unit::Number, "PC-RED: weight of one drop in a flow's average loss")
        .above(0.0)
        .below(1.0)
        .source(PC_RED),
    Parameter::new(
        "loss_decay",
        "m",
        Unit::Choice,
        "PC-RED: intervals since the last drop, as they are or rounded down",
    )
    .or(&["real", "floor"]),
    Parameter::new("status_refresh", "", Unit::Choice, "PC-RED: when a flow's status is looked at anew")
        .or(&["on-drop", "on-arrival"]),
    Parameter::new(
        "scan",
        "",
        Unit::Choice,
        "PC-RED: from the packet picked to the tail, or on from the head",
    )
    .or(&["to-tail", "circular"]),
    Parameter::new("list_size", "", Unit::Integer, "PC-RED: most flows in the priority list")
        .from(1.0)
        .to(1_048_576.0),
    Parameter::new("list_timeout", "", Unit::Time, "PC-RED: a flow not seen for so long is forgotten")
        .above(0.0)
        .or(&["never"]),
    Parameter::new("r_p_max", "r_pmax", Unit::Number, "PC-RED: largest share of high-priority flows")
        .above(0.0)
        .to(1.0)
        .source(PC_RED),
    Parameter::new(
        "over_r_p_max",
        "",
        Unit::Choice,
        "PC-RED: high-priority flows beyond r_p_max are told of or refused",
    )
    .or(&["warn", "refuse"]),
    DISTANCE,
    Parameter::new("ties", "", Unit::Choice, "DDRED: which of several packets that have travelled least")
        .or(&["newest", "oldest", "random"]),
    Parameter::new(
        "arrival_is_candidate",
        "",
        Unit::Flag,
        "DDRED: the arriving packet may be the victim of an early drop",
    ),
    Parameter::new("search", "", Unit::Choice, "DDRED: at which drops the queue is searched")
        .or(&["all", "early"]),
    UNKNOWN_FRACTION,
    Parameter::new("candidates", "m", Unit::Integer, "CHOKe: packets drawn to compare with an arrival")
        .from(1.0)
        .to(64.0)
        .or(&["auto"])
        .source(CHOKE),
    Parameter::new(
        "parts",
        "k",
        Unit::Integer,
        "CHOKe: parts between the thresholds, with candidates = \"auto\"",
    )
    .from(1.0)
    .to(32.0)
    .source(CHOKE),
    Parameter::new("adapt_interval", "", Unit::Time, "adaptation: time between two steps").above(0.0),
    Parameter::new(
        "adapt_clock",
        "",
        Unit::Choice,
        "adaptation: steps at arrivals, or by a timer of its own",
    )
    .or(&["arrival", "timer"]),
    Parameter::new("feng_alpha", "alpha", Unit::Number, "Feng: max_p is divided by it below min_th")
        .above(1.0)
        .source(FENG),
    Parameter::new("feng_beta", "beta", Unit::Number, "Feng: max_p is multiplied by it above max_th")
        .above(1.0)
        .source(FENG),
    Parameter::new("max_p_low", "", Unit::Number, "adaptation: lower bound of max_p").above(0.0).to(1.0),
    Parameter::new("max_p_high", "", Unit::Number, "adaptation: upper bound of max_p").above(0.0).to(1.0),
    Parameter::new("ared_alpha", "alpha", Unit::Number, "Adaptive RED: largest increment of max_p")
        .above(0.0)
        .to(1.0)
        .source(ARED),
    Parameter::new("ared_beta", "beta", Unit::Number, "Adaptive RED: factor by which max_p decreases")
        .above(0.0)
        .below(1.0)
        .source(ARED),
    Parameter::new("target_loss", "theta", Unit::Number, "load: drop rate that the thresholds aim at")
        .above(0.0)
        .below(1.0)
        .source(AWEYA),
    Parameter::new(
        "loss_filter",
        "beta",
        Unit::Number,
        "load: weight of one interval in the measured drop rate",
    )
    .above(0.0)
    .to(1.0)
    .source(AWEYA),
    Parameter::new(
        "load_gain",
        "alpha",
        Unit::Packets,
        "load: change of max_th per interval for a drop rate one target above the target",
    )
    .above(0.0)
    .source(AWEYA),
    Parameter::new("max_l", "max_L", Unit::Packets, "adaptation of thresholds: lower bound of max_th")
        .above(0.0)
        .source(A_RIO),
    Parameter::new("max_u", "max_U", Unit::Packets, "adaptation of thresholds: upper bound of max_th")
        .above(0.0)
        .source(A_RIO),
    Parameter::new("alpha", "alpha", Unit::Number, "adaptation of thresholds: max_th over min_th")
        .above(1.0)
        .source(A_RIO),
    Parameter::new(
        "c_init",
        "C_init/C",
        Unit::Number,
        "Adaptive-RIO: first and smallest threshold of the rate, as a share of the link",
    )
    .above(0.0)
    .to(1.0)
    .source(A_RIO),
    Parameter::new("delta_c", "Delta_C/C", Unit::Number, "Adaptive-RIO: step of that threshold")
        .above(0.0)
        .to(1.0)
        .source(A_RIO),
    Parameter::new(
        "delta_t",
        "Delta_T/max_U",
        Unit::Number,
        "Adaptive-RIO: step of max_th as a share of max_u",
    )
    .above(0.0)
    .to(1.0)
    .source(A_RIO),
    Parameter::new(
        "epsilon",
        "epsilon/C'",
        Unit::Number,
        "Adaptive-RIO: dead zone around the threshold of the rate",
    )
    .from(0.0)
    .below(1.0)
    .source(A_RIO),
    Parameter::new("tsw_window", "Win", Unit::Time, "Adaptive-RIO: window of the rate estimate")
        .above(0.0)
        .source(A_RIO),
    Parameter::new(
        "absence",
        "T_abs",
        Unit::Time,
        "Adaptive-RIO: assured traffic is absent after so long without a packet of it",
    )
    .above(0.0)
    .source(A_RIO),
    Parameter::new(
        "trend",
        "",
        Unit::Choice,
        "Adaptive-RIO: rate beyond the threshold and moving away from it, beyond it, or either",
    )
    .or(&["both", "rate", "either"]),
];

/// Parameters that only one choice of a part has.
pub(crate) const PART_KEYS: &[(&str, &[&str])] = &[
    (
        "pc-red",
        &[
            "loss_limit",
            "loss_interval",
            "loss_weight",
            "loss_decay",
            "status_refresh",
            "scan",
            "list_size",
            "list_timeout",
            "r_p_max",
            "over_r_p_max",
        ],
    ),
    ("ddred", &["distance", "ties", "arrival_is_candidate", "search", "unknown_fraction"]),
    ("choke", &["candidates", "parts"]),
    ("feng", &["feng_alpha", "feng_beta", "max_p_low", "max_p_high"]),
    (
        "adaptive-red",
        &["adapt_interval", "adapt_clock", "ared_alpha", "ared_beta", "max_p_low", "max_p_high"],
    ),
    (
        "load",
        &[
            "adapt_interval",
            "adapt_clock",
            "target_loss",
            "loss_filter",
            "load_gain",
            "max_l",
            "max_u",
            "alpha",
        ],
    ),
    (
        "adaptive-rio",
        &[
            "adapt_interval",
            "adapt_clock",
            "max_l",
            "max_u",
            "alpha",
            "c_init",
            "delta_c",
            "delta_t",
            "epsilon",
            "tsw_window",
            "absence",
            "trend",
        ],
    ),
];

/// Parameters that a class has of its own; those left out are the queue's.
pub(crate) const CLASS: &[&str] = &["min_th", "max_th", "max_p"];

#[cfg(test)]
mod tests {
    use super::*;

    fn find(key: &str) -> &'static Parameter {
        RED.iter().find(|p| p.key == key).expect("a parameter of RED")
    }

    #[test]
    fn ranges_in_words() {
        assert_eq!(find("max_p").allowed(), "0 <= x <= 1");
        assert_eq!(find("max_p_low").allowed(), "0 < x <= 1");
        assert_eq!(find("mode").allowed(), "one of \"packets\", \"bytes\"");
        assert_eq!(find("ecn").allowed(), "true or false");
        assert!(find("max_p").admits(1.0) && find("max_p").admits(0.0));
        assert!(!find("w_q").admits(0.0) && !find("max_p").admits(-0.1));
        assert!(!find("max_p").admits(f64::NAN));
    }

    #[test]
    fn parts_know_their_keys() {
        for key in PART_KEYS.iter().flat_map(|(_, keys)| *keys).chain(CLASS) {
            find(key);
        }
    }

    #[test]
    fn keys_are_unique() {
        for table in [DROP_TAIL, RED] {
            let mut keys: Vec<_> = table.iter().map(|p| p.key).collect();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), table.len());
        }
    }
}
