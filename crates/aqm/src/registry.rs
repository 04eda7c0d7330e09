//! Every parameter of every discipline, once, with `red/parameters.rs`: the scenario file, its schema, its error messages, `aqmlab list` and
//! the documentation are all made from these tables.

use crate::red::DialectName;
use crate::{Parameter, ValueKind, names};

/// Return a parameter of a plugin. The bounds are inclusive.
pub fn plugin_parameter(
    key: &'static str,
    kind: ValueKind,
    (min, max): (Option<f64>, Option<f64>),
    doc: &'static str,
) -> Parameter {
    let closed = |x: Option<f64>| x.map(|x| (x, true));
    Parameter { min: closed(min), max: closed(max), ..Parameter::new(key, "", kind, doc) }
}

/// Whether a queue is measured in bytes.
pub(crate) const MODE_WORDS: [(&str, bool); 2] = [("packets", false), ("bytes", true)];
pub(crate) const NS2: &str = "ns-2.35 queue/red.cc";
pub(crate) const LIMIT: Parameter = Parameter::new(
    "limit",
    "limit",
    ValueKind::PacketsOrBytes,
    "size of the buffer, the packet in transmission not counted",
)
.whole()
.from(1.0);
pub(crate) const ECN: Parameter =
    Parameter::new("ecn", "", ValueKind::Flag, "mark ECN-capable packets instead of dropping them")
        .source("RFC 3168");
pub(crate) const DIALECT: Parameter =
    Parameter::new("dialect", "", ValueKind::Choice, "named set of all switches, spacing included")
        .or(&names(&DialectName::ALL));

/// Parameters of `drop-tail`.
pub(crate) const DROP_TAIL: &[Parameter] = &[
    LIMIT,
    DIALECT,
    Parameter::new(
        "strict_limit",
        "",
        ValueKind::Flag,
        "drop when the queue would reach its limit, not pass it",
    )
    .source("ns-2.35 queue/drop-tail.cc"),
];

/// Parameters that a class of RED has of its own; those left out are the queue's.
pub(crate) const CLASS: &[&str] = &["min_th", "max_th", "max_p", "limit"];
