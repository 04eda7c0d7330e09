use aqmlab_aqm::{LEVELS, Preset};
use aqmlab_transport::Profile;
use aqmlab_units::{Parameter, ValueKind};
use serde_json::{Map, Value as Json, json};

use crate::shape::{Key, Kind, Shape};
use crate::units::{self, BYTES, FREQUENCY, PACKETS, RATE, TIME};
use crate::{dscp, network, queue, scenario, tcp};

/// The JSON schema (draft 2020-12) of a scenario file, from the tables that the checks use.
pub fn schema() -> Json {
    let mut schema = shape_json(&scenario::SHAPE);
    if let Some(map) = schema.as_object_mut() {
        let one_of: Vec<Json> = network::KEYS.iter().map(|key| json!({ "required": [key] })).collect();
        map.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        map.insert("title".into(), json!("aqmlab scenario, format 1"));
        map.insert("oneOf".into(), json!(one_of));
    }
    schema
}

fn shape_json(shape: &Shape) -> Json {
    let mut properties = Map::new();
    for key in &shape.keys {
        properties.insert(key.name.to_owned(), key_json(key));
    }
    let required: Vec<_> = shape.keys.iter().filter(|k| k.required).map(|k| k.name).collect();
    json!({
        "type": "object",
        "description": shape.doc,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn key_json(key: &Key) -> Json {
    let mut json = kind_json(&key.kind);
    if let Some(map) = json.as_object_mut() {
        map.insert("description".into(), json!(key.doc));
        if let Ok(default) = serde_json::from_str::<Json>(&key.default) {
            map.insert("default".into(), default);
        }
    }
    json
}

fn kind_json(kind: &Kind) -> Json {
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Name => json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]+$" }),
        Kind::Label => json!({ "type": "string", "pattern": "^[A-Za-z0-9_.:/>-]+$" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Off => json!({ "const": false }),
        Kind::Integer { min, max: i64::MAX } => json!({ "type": "integer", "minimum": min }),
        Kind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Number { min, max } => {
            any(&[json!({ "type": "number", "minimum": min, "maximum": max }), quantity(&["%"])])
        }
        Kind::Above { min, max } => {
            any(&[json!({ "type": "number", "exclusiveMinimum": min, "maximum": max }), quantity(&["%"])])
        }
        Kind::Rate | Kind::RateOrZero => quantity(&names(RATE)),
        Kind::Frequency => quantity(&names(FREQUENCY)),
        Kind::Distribution(known) => any(&[
            json!({ "enum": known.iter().map(|(name, _)| name).collect::<Vec<_>>() }),
            json!({ "type": "string", "pattern": "[./\\\\]" }),
        ]),
        Kind::Time { .. } => quantity(&names(TIME)),
        Kind::Seconds { max } => any(&[
            json!({ "type": "number", "minimum": 0, "maximum": aqmlab_units::Span(*max).secs() }),
            quantity(&names(TIME)),
        ]),
        Kind::Bytes { min, max } => {
            any(&[json!({ "type": "integer", "minimum": min, "maximum": max }), quantity(&names(BYTES))])
        }
        Kind::Packets { min, max, whole } => any(&[
            json!({ "type": if *whole { "integer" } else { "number" }, "minimum": min, "maximum": max }),
            quantity(&names(PACKETS)),
        ]),
        Kind::Size => quantity(&packets_and_bytes()),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Dscp => any(&[
            json!({ "enum": dscp::NAMES.map(|(name, _)| name) }),
            json!({ "type": "integer", "minimum": 0, "maximum": dscp::MAX }),
        ]),
        Kind::Aqm(parameter) => parameter_json(parameter),
        Kind::List(inner) => json!({ "type": "array", "items": kind_json(inner) }),
        Kind::Pair(kinds) => {
            let items = any(&[kind_json(&kinds[0]), kind_json(&kinds[1])]);
            json!({ "type": "array", "items": items, "minItems": 2, "maxItems": 2 })
        }
        Kind::Table(shape) => shape_json(shape),
        Kind::Queue => queue_json(),
        Kind::Tcp => tcp_json(),
        Kind::Map(inner) => json!({
            "type": "object",
            "propertyNames": kind_json(&Kind::Name),
            "additionalProperties": kind_json(inner),
        }),
        Kind::ByPrefix(inner) => json!({
            "type": "object",
            "propertyNames": { "type": "string", "pattern": "^[0-9A-Fa-f.:]+/[0-9]{1,3}$" },
            "additionalProperties": kind_json(inner),
        }),
        Kind::Tables(_, shape) => json!({ "type": "array", "items": shape_json(shape), "minItems": 1 }),
        Kind::Any(kinds) => any(&kinds.iter().map(kind_json).collect::<Vec<_>>()),
    }
}

fn any(kinds: &[Json]) -> Json {
    json!({ "anyOf": kinds })
}

fn names(units: &[units::Unit]) -> Vec<&'static str> {
    units::names(units).collect()
}

fn packets_and_bytes() -> Vec<&'static str> {
    units::names(PACKETS).chain(units::names(BYTES)).collect()
}

/// A number and one of these units in text.
fn quantity(units: &[&str]) -> Json {
    let units = units.join("|");
    json!({ "type": "string", "pattern": format!("^\\s*\\+?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?\\s*({units})\\s*$") })
}

fn parameter_json(p: &Parameter) -> Json {
    let number = if p.is_whole { "integer" } else { "number" };
    let mut kinds = match p.kind {
        ValueKind::Packets => vec![range(number, p), quantity(&names(PACKETS))],
        ValueKind::PacketsOrBytes => vec![range(number, p), quantity(&packets_and_bytes())],
        ValueKind::Bytes => vec![range("integer", p), quantity(&names(BYTES))],
        ValueKind::BytesByLevel => {
            let one = [range("integer", p), quantity(&names(BYTES))];
            let list = json!({ "type": "array", "items": any(&one), "minItems": 1, "maxItems": LEVELS });
            one.into_iter().chain([list]).collect()
        }
        ValueKind::Time => vec![quantity(&names(TIME))],
        ValueKind::Rate => vec![quantity(&names(RATE))],
        ValueKind::Number if p.is_whole => vec![range(number, p)],
        ValueKind::Number => vec![range(number, p), quantity(&["%"])],
        ValueKind::Flag => vec![json!({ "type": "boolean" })],
        ValueKind::Choice => Vec::new(),
        ValueKind::Text => vec![json!({ "type": "string" })],
        ValueKind::Numbers => {
            let one = json!({ "type": "integer", "minimum": 0 });
            vec![json!({ "type": "array", "items": one }), json!({ "type": "string" })]
        }
        ValueKind::Points => {
            let pair =
                json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 });
            vec![json!({ "type": "array", "items": pair, "minItems": 2 })]
        }
    };
    if !p.choices.is_empty() {
        kinds.push(json!({ "enum": p.choices }));
    }
    if let [one] = kinds.as_slice() { one.clone() } else { any(&kinds) }
}

fn range(number: &str, p: &Parameter) -> Json {
    let mut json = Map::from_iter([("type".to_owned(), json!(number))]);
    if let Some((min, included)) = p.min {
        json.insert(if included { "minimum" } else { "exclusiveMinimum" }.into(), json!(min));
    }
    if let Some((max, included)) = p.max {
        json.insert(if included { "maximum" } else { "exclusiveMaximum" }.into(), json!(max));
    }
    Json::Object(json)
}

/// All keys of all disciplines, and for each discipline those that it has.
fn queue_json() -> Json {
    let mut json = shape_json(&queue::shape());
    // Disciplines may mean different things by a key: then each says what it allows.
    let of = |key: &str, of: &Preset| of.parameters().iter().find(|p| p.key == key).map(parameter_json);
    let differs = |key: &str| {
        let mut kinds = Preset::all().filter_map(|preset| of(key, preset));
        let first = kinds.next();
        kinds.any(|kind| Some(kind) != first)
    };
    let ambiguous: Vec<_> =
        queue::shape().keys.iter().map(|key| key.name).filter(|key| differs(key)).collect();
    let properties = json.get_mut("properties").and_then(Json::as_object_mut);
    for (key, kind) in properties.into_iter().flatten() {
        if ambiguous.contains(&key.as_str()) {
            *kind = json!({});
        }
    }
    let conditions: Vec<Json> = Preset::all()
        .map(|preset| {
            let keys = queue::keys_of(preset);
            // A discipline left out is drop-tail, so its condition holds without the key too.
            let required: &[&str] = if preset.name == queue::DEFAULT_AQM { &[] } else { &["aqm"] };
            let if_this = json!({ "properties": { "aqm": { "const": preset.name } }, "required": required });
            let mut then = json!({ "propertyNames": { "enum": keys } });
            let own = ambiguous.iter().filter_map(|key| Some(((*key).to_owned(), of(key, preset)?)));
            let own: Map<String, Json> = own.collect();
            if !own.is_empty() {
                then["properties"] = Json::Object(own);
            }
            json!({ "if": if_this, "then": then })
        })
        .collect();
    if let Some(map) = json.as_object_mut() {
        map.insert("allOf".into(), json!(conditions));
    }
    json
}

/// The keys of each profile; all but the first must be named, or follow from the transport.
fn tcp_json() -> Json {
    any(&Profile::ALL.map(|profile| shape_json(tcp::shape(profile))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths of all keys that the checks know.
    fn of_shape(shape: &Shape, path: &str, paths: &mut Vec<String>) {
        for key in &shape.keys {
            let path = format!("{path}/{}", key.name);
            of_kind(&key.kind, &path, paths);
            paths.push(path);
        }
    }

    fn of_kind(kind: &Kind, path: &str, paths: &mut Vec<String>) {
        match kind {
            Kind::Table(shape) | Kind::Tables(_, shape) => of_shape(shape, path, paths),
            Kind::Queue => of_shape(&queue::shape(), path, paths),
            Kind::Tcp => Profile::ALL.iter().for_each(|p| of_shape(tcp::shape(*p), path, paths)),
            Kind::Map(inner) | Kind::List(inner) => of_kind(inner, path, paths),
            Kind::Any(kinds) => kinds.iter().for_each(|k| of_kind(k, path, paths)),
            _ => {}
        }
    }

    /// The paths of all keys that the schema has.
    fn of_schema(schema: &Json, path: &str, paths: &mut Vec<String>) {
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}/{name}");
            of_schema(inner, &path, paths);
            paths.push(path);
        }
        for inner in ["items", "additionalProperties"].iter().filter_map(|key| schema.get(*key)) {
            of_schema(inner, path, paths);
        }
        for inner in schema["anyOf"].as_array().into_iter().flatten() {
            of_schema(inner, path, paths);
        }
    }

    #[test]
    fn the_schema_has_every_key_and_no_other() {
        let (mut known, mut listed) = (Vec::new(), Vec::new());
        of_shape(&scenario::SHAPE, "", &mut known);
        of_schema(&schema(), "", &mut listed);
        known.sort();
        listed.sort();
        assert_eq!(known, listed);
        for path in
            ["/run/seeds", "/flow/tcp/min_rto", "/queue/w_q", "/flow/start/every", "/dumbbell/left/delay"]
        {
            assert!(known.iter().any(|k| k == path), "{path}");
        }
    }

    #[test]
    fn every_key_is_described_and_every_default_is_json() {
        fn check(shape: &Shape) {
            for key in &shape.keys {
                assert!(key.doc.len() > 3, "{}", key.name);
                let default = serde_json::from_str::<Json>(&key.default);
                assert!(key.default.is_empty() || default.is_ok(), "{}: {}", key.name, key.default);
                match &key.kind {
                    Kind::Table(inner) | Kind::Tables(_, inner) => check(inner),
                    _ => {}
                }
            }
        }
        check(&scenario::SHAPE);
        check(&queue::shape());
    }

    #[test]
    fn the_two_kinds_of_disciplines_differ_in_keys() {
        let schema: Json = schema();
        let rules = &schema["properties"]["queue"]["additionalProperties"]["allOf"];
        let keys = |i: usize| rules[i]["then"]["propertyNames"]["enum"].as_array().map_or(0, Vec::len);
        assert_eq!(rules[0]["if"]["properties"]["aqm"]["const"], "drop-tail");
        assert_eq!(keys(0), 4);
        assert!(keys(1) > 20);
    }
}
