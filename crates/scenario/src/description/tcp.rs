use aqmlab_transport::{Configuration, Profile, Value};
use aqmlab_transport::{ns2, scream};
use aqmlab_units::ValueKind;
use serde_json::{Map, Value as Json, json};

use super::number_json;

/// Effective values of a connection of ns-2's profile; times in seconds, windows in packets, lengths in bytes.
pub(super) fn ns2_json(config: &ns2::Config, clock_offset: Option<f64>) -> Json {
    let mut json = effective_json(config);
    json["clock_offset"] = json!(clock_offset);
    json
}

/// Effective values of a connection, in the units of the registry; times in seconds.
pub(super) fn effective_json<C: Configuration>(config: &C) -> Json {
    let value = |(key, value): (&str, Value<'static>)| (key.to_owned(), value_json(C::PROFILE, key, value));
    Json::Object(config.effective().into_iter().map(value).collect::<Map<_, _>>())
}

/// Effective values of media with feedback, in the units of the registry; times in seconds, rates in bit/s.
pub(super) fn scream_json(config: &scream::Config) -> Json {
    let value = |(key, value): (&str, Value<'static>)| (key.to_owned(), plain_json(value));
    Json::Object(config.effective().into_iter().map(value).collect::<Map<_, _>>())
}

fn value_json(profile: Profile, key: &str, value: Value<'_>) -> Json {
    let is_window = || profile.parameter(key).is_some_and(|parameter| parameter.kind == ValueKind::Packets);
    match value {
        // Windows of ns-2 are real numbers that mostly are whole.
        Value::Real(x) if profile == Profile::Ns2 && is_window() => number_json(x),
        value => plain_json(value),
    }
}

fn plain_json(value: Value<'_>) -> Json {
    match value {
        Value::Flag(on) => json!(on),
        Value::Whole(n) => json!(n),
        Value::Real(x) => json!(x),
        Value::Time(span) => json!(span.secs()),
        Value::Rate(rate) => json!(rate.0),
        Value::Word(word) => json!(word),
        Value::Unset => Json::Null,
    }
}
