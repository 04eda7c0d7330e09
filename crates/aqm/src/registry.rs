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
#[derive(Clone, Debug)]
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
    const fn new(key: &'static str, symbol: &'static str, unit: Unit, doc: &'static str) -> Self {
        Self { key, symbol, unit, min: None, max: None, choices: &[], doc, source: "" }
    }

    const fn above(mut self, min: f64) -> Self {
        self.min = Some((min, false));
        self
    }

    const fn from(mut self, min: f64) -> Self {
        self.min = Some((min, true));
        self
    }

    const fn to(mut self, max: f64) -> Self {
        self.max = Some((max, true));
        self
    }

    const fn or(mut self, choices: &'static [&'static str]) -> Self {
        self.choices = choices;
        self
    }

    const fn source(mut self, source: &'static str) -> Self {
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

    /// Whether `x` is inside the range.
    pub fn admits(&self, x: f64) -> bool {
        let above = self.min.is_none_or(|(lo, closed)| x > lo || (closed && x == lo));
        let below = self.max.is_none_or(|(hi, closed)| x < hi || (closed && x == hi));
        above && below
    }
}

const FJ93: &str = "Floyd and Jacobson 1993";
const NS2: &str = "ns-2.35 queue/red.cc";

const LIMIT: Parameter = Parameter::new(
    "limit",
    "limit",
    Unit::Size,
    "size of the buffer, the packet in transmission not counted",
)
.from(1.0);
const DIALECT: Parameter =
    Parameter::new("dialect", "", Unit::Choice, "named set of all switches, spacing included").or(&[
        "floyd93",
        "ns2-2.35",
        "linux",
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
pub(crate) const RED: &[Parameter] = &[
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
    Parameter::new("max_p", "max_p", Unit::Number, "p_b at max_th").above(0.0).to(1.0).source(FJ93),
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
    Parameter::new("curve", "", Unit::Choice, "p_b as a function of the average")
        .or(&["linear", "gentle", "mred", "exred", "nlred", "points"]),
    Parameter::new("points", "", Unit::Points, "the drop profile of curve \"points\""),
    Parameter::new("spacing", "", Unit::Choice, "how drops are spread, given p_b").or(&[
        "floyd93",
        "ns2-wait",
        "ns2-nowait",
        "linux",
        "none",
    ]),
    Parameter::new("ecn", "", Unit::Flag, "mark ECN-capable packets instead of dropping them")
        .source("RFC 3168"),
    DIALECT,
    Parameter::new("at_idle", "", Unit::Choice, "decay of the average over an idle period")
        .or(&["real", "integer", "table"]),
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
    Parameter::new("in_service_counts", "", Unit::Flag, "the packet in transmission counts as queued")
        .source("ExRED eq. 9 (M/M/1/K); Linux sch_tbf.c"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn find(key: &str) -> &'static Parameter {
        RED.iter().find(|p| p.key == key).expect("a parameter of RED")
    }

    #[test]
    fn ranges_in_words() {
        assert_eq!(find("max_p").allowed(), "0 < x <= 1");
        assert_eq!(find("mode").allowed(), "one of \"packets\", \"bytes\"");
        assert_eq!(find("ecn").allowed(), "true or false");
        assert!(find("max_p").admits(1.0) && !find("max_p").admits(0.0));
        assert!(!find("max_p").admits(f64::NAN));
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
