//! `tcp = { ... }` of a flow, from the registry of the transport crate. Which keys there are depends on the profile.

mod clock;
mod rfc;

use std::sync::OnceLock;

use aqmlab_transport::{Configuration, Profile, Value as Setting};
use aqmlab_units::Parameter;

use crate::parameter;
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::tree::{Table, text_of};

pub(crate) use clock::{ClockOffset, clock_offset, wrong_length};
pub(crate) use rfc::apply as apply_rfc;

/// A parameter that is a key of the flow, since UDP has it too.
pub(crate) const PACKET_SIZE: &str = "packet_size";
/// The key that selects the profile and with it the allowed keys.
pub(crate) const PROFILE: &str = "profile";
/// The transport of flows of the profile `rfc`; those of ns-2's have the name of their variant.
pub(crate) const TCP: &str = "tcp";

/// The profile of a flow, from its table in the file: the one that it names, or the one of its transport.
pub(crate) fn profile_of(flow: &Table) -> Profile {
    let named = flow.get("tcp").and_then(|tcp| text_of(tcp.node.value.as_table()?, PROFILE));
    let by_transport = if text_of(flow, "transport") == Some(TCP) { Profile::Rfc } else { Profile::Ns2 };
    named.and_then(Profile::from_name).unwrap_or(by_transport)
}

/// Return the shape of the table in a flow of this profile.
pub(crate) fn shape(profile: Profile) -> &'static Shape {
    static SHAPES: OnceLock<[Shape; 2]> = OnceLock::new();
    let [of_ns2, of_rfc] = SHAPES.get_or_init(|| Profile::ALL.map(new_shape));
    if profile == Profile::Ns2 { of_ns2 } else { of_rfc }
}

fn new_shape(profile: Profile) -> Shape {
    let keys = profile.parameters().iter().filter(|p| p.key != PACKET_SIZE).map(key).collect();
    let mut notes = vec![(PACKET_SIZE, "packet_size is a key of the flow, not of tcp".to_owned())];
    let (doc, other) = match profile {
        Profile::Ns2 => ("Options of TCP in ns-2's profile.", Profile::Rfc),
        Profile::Rfc => {
            notes = vec![(PACKET_SIZE, "in profile rfc the payload of a segment is mss".to_owned())];
            ("Options of TCP in the RFC profile.", Profile::Ns2)
        }
    };
    let only_there = |p: &&Parameter| p.key != PACKET_SIZE && profile.parameter(p.key).is_none();
    notes.extend(other.parameters().iter().filter(only_there).map(|p| {
        let (theirs, own) = (other.name(), profile.name());
        (p.key, format!("is of profile {theirs}, and this flow is of profile {own}"))
    }));
    Shape { notes, ..Shape::new(doc, keys) }
}

/// A parameter of the registry as a key of the file.
pub(crate) fn key(p: &'static Parameter) -> Key {
    let key = parameter::key(p);
    match p.key {
        // A table that names another profile gets the keys of that one.
        PROFILE => Key { kind: Kind::Choice(Profile::ALL.map(Profile::name).to_vec()), ..key },
        clock::CLOCK_OFFSET => Key { kind: clock::kind(p), ..key },
        _ => key,
    }
}

/// Apply the settings of the table. The profile is chosen elsewhere; the phase of the clock is a flow's own.
pub(crate) fn apply<C: Configuration>(tcp: &Section<'_>, config: &mut C) {
    for parameter in C::PROFILE.parameters() {
        set(parameter.key, tcp, config);
    }
    check_time_outs(tcp, config);
}

/// Set one parameter, if it is there and valid.
pub(crate) fn set<C: Configuration>(key: &str, from: &Section<'_>, config: &mut C) {
    let Some(parameter) = C::PROFILE.parameter(key) else { return };
    let value = from.value(key).and_then(|value| parameter::read(value, parameter).ok());
    if let Some(value) = value.and_then(|value| parameter::setting(value, parameter)) {
        config.set(key, value);
    }
}

/// Reports a least time-out above the greatest.
fn check_time_outs(tcp: &Section<'_>, config: &impl Configuration) {
    let seconds = |key| match config.get(key) {
        Some(Setting::Time(span)) => span.secs(),
        Some(Setting::Real(seconds)) => seconds,
        _ => f64::NAN,
    };
    let (min_rto, max_rto) = (seconds("min_rto"), seconds("max_rto"));
    if min_rto > max_rto {
        let complaint = Complaint::new(format!("min_rto ({min_rto} s) is above max_rto ({max_rto} s)"));
        tcp.error(
            if tcp.has("min_rto") { "min_rto" } else { "max_rto" },
            complaint.allowed("min_rto <= max_rto"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Report;
    use crate::tree::Value;
    use crate::{tree, units};
    use aqmlab_transport::ns2;
    use aqmlab_units::{Span, ValueKind};

    /// Apply `read` to a table of options and return the result.
    pub(super) fn with<T>(text: &str, profile: Profile, read: impl Fn(&Section<'_>) -> T) -> T {
        let report = Report::new("", text);
        let table = tree::read(text, &report).expect("TOML");
        let shape = Shape::new("", profile.parameters().iter().map(key).collect());
        let read = read(&Section::new(&table, &shape, &report));
        assert_eq!(report.errors(), 0, "{text}");
        read
    }

    /// A value of a parameter that is allowed and not its default, as a scenario file has it.
    fn other(p: &Parameter) -> String {
        let default = p.default.parse().map_or_else(|_| Value::Text(p.default.to_owned()), Value::Real);
        let (min, max) = (p.min.unwrap_or_default().0, p.max.unwrap_or_default().0);
        let between = |default: Option<f64>| match default {
            Some(x) if x > min => (min + x) / 2.0,
            Some(x) => (x + max) / 2.0,
            None => max,
        };
        let packets = |value| match units::amount(value) {
            Ok(units::Amount::Packets(x) | units::Amount::Bare(x)) => Some(x),
            _ => None,
        };
        let floor_if_whole = |x: f64| if p.is_whole { x.floor() } else { x };
        match p.kind {
            ValueKind::Flag => (p.default != "true").to_string(),
            ValueKind::Choice => {
                format!("{:?}", p.choices.iter().find(|word| **word != p.default).expect("two"))
            }
            ValueKind::Time => {
                format!("\"{}s\"", between(units::time(&default).ok().map(|ps| Span(ps).secs())))
            }
            ValueKind::Bytes => {
                format!("\"{}B\"", between(units::bytes(&default, true).ok().map(|n| n as f64)).floor())
            }
            ValueKind::Packets => format!("\"{}p\"", floor_if_whole(between(packets(&default)))),
            ValueKind::Number => floor_if_whole(between(units::number(&default).ok())).to_string(),
            ValueKind::PacketsOrBytes
            | ValueKind::Rate
            | ValueKind::Points
            | ValueKind::Numbers
            | ValueKind::BytesByLevel
            | ValueKind::Text => {
                unreachable!("no parameter of a connection")
            }
        }
    }

    /// Asserts that every parameter changes something, and that no default of the schema does.
    pub(super) fn check<C: Configuration + PartialEq + core::fmt::Debug>(read: impl Fn(&Section<'_>) -> C) {
        let with = |text: &str| with(text, C::PROFILE, &read);
        let unset = with("");
        let set = |p: &&Parameter| p.key != PROFILE && p.key != clock::CLOCK_OFFSET;
        for p in C::PROFILE.parameters().iter().filter(set) {
            let changed = format!("{} = {}", p.key, other(p));
            assert_ne!(with(&changed), unset, "{changed}");
            let Key { name, default, .. } = key(p);
            if !default.is_empty() {
                assert_eq!(with(&format!("{name} = {default}")), unset, "{name}");
            }
        }
    }

    #[test]
    fn every_parameter_of_ns2_can_be_set_and_defaults_change_nothing() {
        let read = |tcp: &Section<'_>| {
            let mut config = ns2::Config::ns2(ns2::Variant::Reno);
            apply(tcp, &mut config);
            config
        };
        check(read);
        let with = |text| with(text, Profile::Ns2, read);
        assert_eq!(with("delayed_ack = \"100ms\"").delayed_ack, Some(Span::from_millis(100)));
        assert_eq!(with("min_rto = \"0.3s\"").min_rto, 0.3);
        assert_eq!(with("initial_ssthresh = 7").initial_ssthresh, Some(7));
    }

    #[test]
    fn profiles_of_flows() {
        let profile = |text: &str| profile_of(&tree::read(text, &Report::new("", text)).expect("TOML"));
        assert_eq!(profile(""), Profile::Ns2);
        assert_eq!(profile("transport = \"sack\""), Profile::Ns2);
        assert_eq!(profile("transport = \"tcp\""), Profile::Rfc);
        assert_eq!(profile("tcp = { profile = \"rfc\" }"), Profile::Rfc);
        assert_eq!(profile("transport = \"tcp\"\ntcp = { profile = \"ns2-2.35\" }"), Profile::Ns2);
    }
}
