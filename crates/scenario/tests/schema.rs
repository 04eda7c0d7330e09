//! The JSON schema accepts all files that the parser accepts, and rejects misspelt keys and words.

use std::path::Path;

use aqmlab_scenario::schema;
use serde_json::{Map, Value as Json, json};

/// TOML as JSON.
fn to_json(mut value: toml_span::Value<'_>) -> Json {
    use toml_span::value::ValueInner;
    match value.take() {
        ValueInner::String(s) => json!(s),
        ValueInner::Integer(n) => json!(n),
        ValueInner::Float(x) => json!(x),
        ValueInner::Boolean(b) => json!(b),
        ValueInner::Array(list) => Json::Array(list.into_iter().map(to_json).collect()),
        ValueInner::Table(table) => {
            Json::Object(table.into_iter().map(|(k, v)| (k.name.into_owned(), to_json(v))).collect())
        }
    }
}

/// The part of JSON Schema that the schema uses, patterns left out.
fn validate(schema: &Json, value: &Json, at: &str) -> Result<(), String> {
    let Some(rules) = schema.as_object() else { return Ok(()) };
    for (rule, argument) in rules {
        let holds = match rule.as_str() {
            "$schema" | "title" | "description" | "default" | "pattern" | "then" => true,
            "type" => has_type(value, argument.as_str().unwrap_or_default()),
            "enum" => argument.as_array().is_some_and(|words| words.contains(value)),
            "const" => value == argument,
            "minimum" => number(value).is_none_or(|x| Some(x) >= argument.as_f64()),
            "maximum" => number(value).is_none_or(|x| Some(x) <= argument.as_f64()),
            "exclusiveMinimum" => number(value).is_none_or(|x| Some(x) > argument.as_f64()),
            "exclusiveMaximum" => number(value).is_none_or(|x| Some(x) < argument.as_f64()),
            "minItems" => value.as_array().is_none_or(|l| l.len() as u64 >= argument.as_u64().unwrap_or(0)),
            "maxItems" => value.as_array().is_none_or(|l| Some(l.len() as u64) <= argument.as_u64()),
            "required" => {
                let keys = argument.as_array().into_iter().flatten().filter_map(Json::as_str);
                value.as_object().is_none_or(|table| keys.into_iter().all(|k| table.contains_key(k)))
            }
            "properties" => {
                for (key, inner) in argument.as_object().into_iter().flatten() {
                    if let Some(value) = value.get(key) {
                        validate(inner, value, &format!("{at}.{key}"))?;
                    }
                }
                true
            }
            "additionalProperties" => additional(rules, argument, value, at)?,
            "propertyNames" => {
                let keys = value.as_object().into_iter().flatten().map(|(k, _)| json!(k));
                keys.into_iter().all(|key| validate(argument, &key, at).is_ok())
            }
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    validate(argument, item, &format!("{at}[{i}]"))?;
                }
                true
            }
            "anyOf" => argument.as_array().into_iter().flatten().any(|s| validate(s, value, at).is_ok()),
            "oneOf" => {
                argument.as_array().into_iter().flatten().filter(|s| validate(s, value, at).is_ok()).count()
                    == 1
            }
            "allOf" => {
                for inner in argument.as_array().into_iter().flatten() {
                    validate(inner, value, at)?;
                }
                true
            }
            "if" => validate(argument, value, at).is_err() || validate(&rules["then"], value, at).is_ok(),
            other => panic!("the schema uses {other}, which this test does not know"),
        };
        if !holds {
            return Err(format!("{at}: {rule} {argument} does not hold for {value}"));
        }
    }
    Ok(())
}

fn number(value: &Json) -> Option<f64> {
    value.as_f64()
}

fn has_type(value: &Json, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|x| x.fract() == 0.0),
        "number" => value.is_number(),
        other => panic!("unknown type {other}"),
    }
}

fn additional(rules: &Map<String, Json>, argument: &Json, value: &Json, at: &str) -> Result<bool, String> {
    let known = rules.get("properties").and_then(Json::as_object);
    for (key, value) in value.as_object().into_iter().flatten() {
        if known.is_some_and(|k| k.contains_key(key)) {
            continue;
        }
        if *argument == json!(false) {
            return Err(format!("{at}: {key} is not allowed"));
        }
        validate(argument, value, &format!("{at}.{key}"))?;
    }
    Ok(true)
}

fn check(text: &str) -> Result<(), String> {
    let schema = schema();
    validate(&schema, &to_json(toml_span::parse(text).expect("TOML")), "")
}

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn every_example_fits_the_schema() {
    for name in [
        "bus",
        "chain",
        "diffserv",
        "dumbbell-red",
        "applications",
        "explicit-two-hop",
        "flower",
        "lte",
        "mred-paper",
        "starlink",
        "failure",
        "torus",
        "udp-mix",
        "wifi",
    ] {
        assert_eq!(check(&example(&format!("{name}.toml"))), Ok(()), "{name}");
    }
}

/// Asserts that the schema rejects an example after each of these exchanges.
#[track_caller]
fn assert_refused(file: &str, mistakes: &[(&str, &str)]) {
    let text = example(file);
    for (good, bad) in mistakes {
        assert!(text.contains(good), "{good}");
        assert!(check(&text.replacen(good, bad, 1)).is_err(), "{bad}");
    }
}

#[test]
fn mistakes_do_not() {
    let old = [
        ("warmup = ", "warm = "),
        ("seeds = 5", "seeds = 0"),
        ("aqm = \"red\"", "aqm = \"rde\""),
        ("aqm = \"red\"", "aqm = \"drop-tail\""),
        ("max_p = 0.1", "max_p = 1.5"),
        ("count = 10", "count = \"10\""),
        ("[dumbbell]\n", "[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1bps\"\ndelay = \"1s\"\n[dumbbell]\n"),
        ("duration = \"30s\"\n", ""),
    ];
    assert_refused("dumbbell-red.toml", &old);
    let diffserv = [
        ("\"AF11\", \"EF\"", "\"AF11\", \"AF44\""),
        ("\"AF11\", \"EF\"", "\"AF11\", 64"),
        ("default = true", "default = 1"),
        ("aqm = \"rio\"", "aqm = \"drop-tail\""),
        ("name = \"in\"\n", ""),
        ("active = [[", "active = [[1, "),
        ("kind = \"token-bucket\"", "kind = \"bucket\""),
        ("cir = ", "rate = "),
        ("pattern = {", "pattern = { of = 1, "),
        ("sink = ", "skin = "),
        ("flow_interval = \"1s\"", "flow_interval = 1"),
    ];
    assert_refused("diffserv.toml", &diffserv);
    let bus = [
        ("routers = 6", "routers = 1"),
        ("uplink_queue", "uplink"),
        ("size = { uniform", "size = { unifrom"),
        ("[\"100KB\", \"1MB\"]", "[\"100Kbps\", 3.5]"),
        ("[bus]\n", "[torus]\n"),
    ];
    assert_refused("bus.toml", &bus);
    assert_refused("torus.toml", &[("rate = \"500kbps\"", "rat = \"500kbps\""), ("at = \"10s\"\n", "")]);
}
