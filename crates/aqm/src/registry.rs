//! Every parameter of every discipline, once: the scenario file, its schema, its error messages, `aqmlab list` and
//! the documentation are all made from these tables.

use std::sync::LazyLock;

use crate::red::adaptation::AdaptationKind;
use crate::red::curve::CurveKind;
use crate::red::spacing::SpacingKind;
use crate::red::victim::VictimKind;
use crate::red::{PART_KINDS, PartKind};

/// In what a parameter is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A queue length: packets (`30p`) or bytes (`30KB`, divided by the mean packet size).
    Packets,
    /// A buffer size: packets (`100p`) or bytes (`64KB`).
    Size,
    /// Bytes (`1000B`).
    Bytes,
    /// Bytes, or a list of them: one for each priority level, from level 1.
    BytesByLevel,
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

/// The highest priority level of a flow; level 0 is no priority.
pub const LEVELS: usize = 8;

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
            Unit::BytesByLevel => {
                parts.push(format!(
                    "in bytes (\"1000B\"), or a list of 1 to {LEVELS} such, one for each level"
                ));
            }
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

    /// The parts that alone have this parameter; none where every queue has it.
    pub fn parts(&self) -> impl Iterator<Item = &'static str> {
        // Non-RED disciplines may have parameters with the same names.
        let of_red = RED.iter().any(|p| std::ptr::eq(p, self));
        let parts = PART_KINDS.iter().flat_map(|kind| kind.parts).filter(move |_| of_red);
        parts.filter(|part| part.parameters.iter().any(|p| p.key == self.key)).map(|part| part.name)
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

/// Parameters of RED and its descendants: those of every queue, and those of its parts.
///
/// The parameters of a curve or a spacing rule stand behind the choice of it, those of victims and adaptations at the end.
pub(crate) static RED: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for parameter in COMMON {
        all.push(*parameter);
        let kind = PartKind::find(parameter.key).filter(|kind| ["curve", "spacing"].contains(&kind.key));
        all.extend(kind.iter().flat_map(PartKind::parameters));
    }
    let last = PART_KINDS.iter().filter(|kind| ["victim", "adaptation"].contains(&kind.key));
    all.extend(last.flat_map(PartKind::parameters));
    all
});

/// Parameters of every RED queue.
const COMMON: &[Parameter] = &[
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
    Parameter::new("curve", "", Unit::Choice, "p_b as a function of the average").or(CurveKind::NAMES),
    Parameter::new("spacing", "", Unit::Choice, "how drops are spread, given p_b").or(SpacingKind::NAMES),
    Parameter::new("victim", "", Unit::Choice, "which packet pays when one must go").or(VictimKind::NAMES),
    Parameter::new("averages", "", Unit::Choice, "classes: what the average of each measures")
        .or(&["coupled", "decoupled", "shared"])
        .source("Clark and Fang 1998"),
    Parameter::new("adaptation", "", Unit::Choice, "how parameters move").or(AdaptationKind::NAMES),
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
    fn a_class_has_parameters_of_red() {
        for key in CLASS {
            find(key);
        }
    }

    #[test]
    fn parameters_know_their_parts() {
        let parts = |key| find(key).parts().collect::<Vec<_>>();
        assert_eq!(parts("ties"), ["ddred"]);
        assert!(parts("max_p_low").starts_with(&["feng", "adaptive-red"]));
        assert!(parts("adapt_interval").starts_with(&["adaptive-red", "load", "adaptive-rio"]));
        assert!(parts("limit").is_empty());
    }

    #[test]
    fn parts_describe_a_parameter_that_they_share_alike() {
        for part in PART_KINDS.iter().flat_map(|kind| kind.parts) {
            for parameter in part.parameters {
                let known = format!("{:?}", find(parameter.key));
                assert_eq!(known, format!("{parameter:?}"), "{}", part.name);
            }
        }
    }

    #[test]
    fn parts_of_a_kind_have_names_of_their_own() {
        for kind in PART_KINDS {
            assert_eq!(find(kind.key).choices, kind.parts.iter().map(|part| part.name).collect::<Vec<_>>());
            for part in kind.parts {
                assert_eq!(
                    kind.parts.iter().filter(|other| other.name == part.name).count(),
                    1,
                    "{}",
                    part.name
                );
                assert!(!part.doc.is_empty(), "{}", part.name);
            }
        }
    }

    #[test]
    fn keys_are_unique() {
        for table in [DROP_TAIL, &RED] {
            let mut keys: Vec<_> = table.iter().map(|p| p.key).collect();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), table.len());
        }
    }
}
