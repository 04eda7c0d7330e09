//! `tcp = { ... }` of a flow, from the registry of the transport crate.

use aqmlab_transport::{Kind as Sort, PARAMETERS, Parameter, TcpConfig};
use aqmlab_units::Span;

use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::tree::{Node, Value};
use crate::units;

/// A parameter that stands beside `transport`, since UDP has it too.
pub(crate) const PACKET_SIZE: &str = "packet_size";
/// The one parameter that each flow of a group may have its own of.
const CLOCK_OFFSET: &str = "clock_offset";

/// Phases of the senders' clocks in seconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ClockOffset {
    /// Drawn anew in every run.
    Random,
    /// All the same.
    Same(f64),
    /// One for each flow of the group.
    Each(Vec<f64>),
}

impl ClockOffset {
    /// The phase of a flow of the group.
    pub fn of(&self, index: usize) -> Option<f64> {
        match self {
            Self::Random => None,
            Self::Same(offset) => Some(*offset),
            Self::Each(offsets) => offsets.get(index).copied(),
        }
    }
}

pub(crate) fn shape() -> Shape {
    let keys = PARAMETERS.iter().filter(|p| p.key != PACKET_SIZE).map(key).collect();
    let note = "packet_size stands beside transport, not in tcp";
    Shape { notes: vec![(PACKET_SIZE, note.to_owned())], ..Shape::new("Options of TCP.", keys) }
}

/// A parameter of the registry as a key of the file.
pub(crate) fn key(p: &'static Parameter) -> Key {
    let (min, max) = (p.min.unwrap_or(0.0), p.max.unwrap_or(1e15));
    let time = || Kind::Time { min: Span::from_secs(min).0, max: Span::from_secs(max).0 };
    let kind = match (p.kind, p.unit) {
        // Of this one each flow of a group may have its own.
        _ if p.key == CLOCK_OFFSET => {
            let one = Kind::Seconds { max: Span::from_secs(max).0 };
            Kind::Any(vec![one.clone(), Kind::list(one)])
        }
        (Sort::Flag, _) => Kind::Flag,
        (Sort::Choice, _) => Kind::Choice(p.choices.to_vec()),
        (Sort::Time, _) => time(),
        (Sort::TimeOrOff, _) => Kind::Any(vec![Kind::Off, time()]),
        (Sort::Integer, "B") => Kind::Bytes { min: min as u64, max: max as u64 },
        (Sort::Integer, "packets") => Kind::Packets { min, max, whole: true },
        (Sort::Integer, _) => Kind::Integer { min: min as i64, max: max as i64 },
        (Sort::Real, "packets") => Kind::Packets { min, max, whole: false },
        (Sort::Real, _) => Kind::Number { min, max },
    };
    let plain = p.default.parse::<f64>().is_ok() || p.default.parse::<bool>().is_ok();
    let text = kind.accepts(&Value::Text(p.default.to_owned()));
    let default = match (plain, text) {
        (true, _) => p.default.to_owned(),
        (false, true) => format!("{:?}", p.default),
        // It depends on another parameter.
        (false, false) => String::new(),
    };
    let doc = match p.source {
        "" => p.doc.to_owned(),
        source => format!("{} ({source})", p.doc),
    };
    Key::new(p.key, kind, doc).default(&default)
}

/// Sets what the table says.
pub(crate) fn apply(tcp: &Section<'_>, config: &mut TcpConfig) {
    for p in PARAMETERS {
        set(p.key, tcp, config);
    }
    if config.min_rto > config.max_rto {
        let complaint =
            Complaint::new(format!("min_rto ({} s) is above max_rto ({} s)", config.min_rto, config.max_rto));
        tcp.error(
            if tcp.has("min_rto") { "min_rto" } else { "max_rto" },
            complaint.allowed("min_rto <= max_rto"),
        );
    }
}

/// Sets one parameter, if it is there and valid.
pub(crate) fn set(key: &str, from: &Section<'_>, config: &mut TcpConfig) {
    let secs = |slot: &mut f64| replace(slot, from.span(key).map(Span::secs));
    let bytes = |slot: &mut u32| replace(slot, from.bytes(key).and_then(|n| u32::try_from(n).ok()));
    let packets = |slot: &mut f64| replace(slot, from.packets(key));
    let flag = |slot: &mut bool| replace(slot, from.flag(key));
    match key {
        "window" => packets(&mut config.window),
        "packet_size" => bytes(&mut config.packet_size),
        "header" => bytes(&mut config.header),
        "ack_size" => bytes(&mut config.ack_size),
        "initial_window" => packets(&mut config.initial_window),
        "initial_ssthresh" => {
            config.initial_ssthresh = from.packets(key).map(|x| x as u32).or(config.initial_ssthresh);
        }
        "syn" => flag(&mut config.syn),
        "delayed_ack" => config.delayed_ack = from.span(key),
        "ecn" => flag(&mut config.ecn),
        "limited_transmit" => flag(&mut config.limited_transmit),
        "min_rto" => secs(&mut config.min_rto),
        "max_rto" => secs(&mut config.max_rto),
        "initial_rto" => secs(&mut config.initial_rto),
        "tick" => secs(&mut config.tick),
        "max_burst" => replace(&mut config.max_burst, from.packets(key).map(|x| x as u32)),
        "timestamps" => flag(&mut config.timestamps),
        // The one profile there is has nothing to set; the clock's phase is a flow's own.
        _ => {}
    }
}

fn replace<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

/// Reads `clock_offset` for a group of `count` flows.
pub(crate) fn clock_offset(tcp: &Section<'_>, count: usize) -> ClockOffset {
    let Some(node) = tcp.node(CLOCK_OFFSET) else { return ClockOffset::Random };
    match &node.value {
        Value::List(list) => {
            if list.len() != count {
                tcp.error(CLOCK_OFFSET, wrong_length(list.len(), count));
            }
            ClockOffset::Each(list.iter().filter_map(seconds).collect())
        }
        _ => seconds(node).map_or(ClockOffset::Random, ClockOffset::Same),
    }
}

fn seconds(node: &Node) -> Option<f64> {
    match &node.value {
        Value::Text(_) => units::time(&node.value).ok().map(|ps| Span(ps).secs()),
        value => units::number(value).ok(),
    }
}

/// The complaint about a list that does not fit the number of flows.
pub(crate) fn wrong_length(entries: usize, count: usize) -> Complaint {
    let (ies, s) = (if entries == 1 { "y" } else { "ies" }, if count == 1 { "" } else { "s" });
    let message = format!("the list has {entries} entr{ies}, the group {count} flow{s}");
    Complaint::new(message).allowed(format!("a list of {count}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Report;
    use crate::tree;
    use aqmlab_transport::Variant;

    /// A value of each parameter that is not its default.
    const OTHER: &[(&str, &str)] = &[
        ("window", "\"33p\""),
        ("packet_size", "\"512B\""),
        ("header", "41"),
        ("ack_size", "\"41B\""),
        ("initial_window", "3"),
        ("initial_ssthresh", "\"7p\""),
        ("syn", "false"),
        ("delayed_ack", "\"100ms\""),
        ("ecn", "true"),
        ("limited_transmit", "false"),
        ("min_rto", "\"1s\""),
        ("max_rto", "\"61s\""),
        ("initial_rto", "\"4s\""),
        ("tick", "\"0.5s\""),
        ("max_burst", "4"),
        ("timestamps", "true"),
    ];

    fn with(text: &str) -> TcpConfig {
        let report = Report::new("", text);
        let table = tree::read(text, &report).expect("TOML");
        let shape = Shape::new("", PARAMETERS.iter().map(key).collect());
        let section = Section::new(&table, &shape, &report);
        let mut config = TcpConfig::ns2(Variant::Reno);
        apply(&section, &mut config);
        config
    }

    #[test]
    fn every_parameter_of_the_registry_can_be_set() {
        let unset = with("");
        for p in PARAMETERS.iter().filter(|p| p.key != "profile" && p.key != CLOCK_OFFSET) {
            let value = OTHER.iter().find(|(key, _)| *key == p.key).map(|(_, value)| value);
            let value = value.unwrap_or_else(|| panic!("{} has no test value", p.key));
            assert_ne!(with(&format!("{} = {value}", p.key)), unset, "{}", p.key);
        }
        assert_eq!(with("delayed_ack = \"100ms\"").delayed_ack, Some(Span::from_millis(100)));
        assert_eq!(with("min_rto = \"0.3s\"").min_rto, 0.3);
        assert_eq!(with("initial_ssthresh = 7").initial_ssthresh, Some(7));
    }

    #[test]
    fn defaults_of_the_schema_are_values_that_change_nothing() {
        let unset = with("");
        for p in PARAMETERS {
            let key = key(p);
            if !key.default.is_empty() && p.key != "profile" {
                assert_eq!(with(&format!("{} = {}", p.key, key.default)), unset, "{}", p.key);
            }
        }
    }
}
