//! Requests that are answered at once.

use serde_json::{Map, Value as Json, json};
use toml_span::value::ValueInner;

/// A scenario as a request has it.
pub(crate) struct Request {
    pub text: String,
    pub file: String,
    pub overrides: Vec<(String, String)>,
    whole: bool,
}

impl Request {
    /// Read a request; a key that is absent is empty.
    pub fn read(text: &str) -> Result<Self, String> {
        let body: Json = serde_json::from_str(text).map_err(|why| why.to_string())?;
        let word = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let pairs = body["overrides"].as_array().map_or(&[][..], Vec::as_slice);
        let overrides = pairs.iter().map(|pair| (word(&pair[0]), word(&pair[1]))).collect();
        Ok(Self {
            text: word(&body["text"]),
            file: word(&body["file"]),
            overrides,
            whole: body["whole"] == true,
        })
    }
}

/// The answer that everything went well.
pub(crate) fn ok() -> String {
    json!({ "ok": true }).to_string()
}

/// The answer that something went wrong.
pub(crate) fn error(why: impl ToString) -> String {
    json!({ "ok": false, "error": why.to_string() }).to_string()
}

/// Check a scenario.
pub(crate) fn check(text: &str) -> String {
    match Request::read(text) {
        Ok(Request { text, file, overrides, whole }) => {
            aqmlab_scenario::check_json(&text, &file, &overrides, whole)
        }
        Err(why) => error(why),
    }
}

/// List the quantities.
pub(crate) fn quantities() -> String {
    json!(aqmlab_quantities::descriptions()).to_string()
}

/// Evaluate a drop curve.
pub(crate) fn curve(text: &str) -> String {
    let Ok(body) = serde_json::from_str::<Json>(text) else { return error("not JSON") };
    let x: Vec<f64> =
        body["x"].as_array().map_or(Vec::new(), |list| list.iter().filter_map(Json::as_f64).collect());
    match aqmlab_scenario::curve(body["queue"].as_str().unwrap_or_default(), &x) {
        Ok(p) => json!({ "ok": true, "p": p }).to_string(),
        Err(problems) => error(problems.first().map_or_else(String::new, ToString::to_string)),
    }
}

/// Read TOML as JSON.
pub(crate) fn read_toml(text: &str) -> String {
    match toml_span::parse(text) {
        Ok(mut root) => json!({ "ok": true, "value": value(root.take()) }).to_string(),
        Err(why) => error(why),
    }
}

fn value(toml: ValueInner<'_>) -> Json {
    match toml {
        ValueInner::String(text) => json!(text),
        ValueInner::Integer(number) => json!(number),
        ValueInner::Float(number) => json!(number),
        ValueInner::Boolean(flag) => json!(flag),
        ValueInner::Array(list) => list.into_iter().map(|mut item| value(item.take())).collect(),
        ValueInner::Table(table) => Json::Object(
            table
                .into_iter()
                .map(|(key, mut item)| (key.name.into_owned(), value(item.take())))
                .collect::<Map<_, _>>(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Json {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn errors_have_their_place() {
        let found = answer(&check(r#"{"text": "format = 1\nnme = 2", "file": "a.toml"}"#));
        assert_eq!(found["ok"], false);
        let places: Vec<_> =
            found["errors"].as_array().unwrap().iter().map(|e| (&e["key"], &e["line"])).collect();
        assert!(places.contains(&(&json!("nme"), &json!(2))), "{places:?}");
    }

    #[test]
    fn what_is_no_request_is_an_error() {
        let unknown = r#"{"queue": "{\"aqm\": \"unknown\"}", "x": [1]}"#;
        for answered in [check("{"), check("[]"), curve("["), read_toml("a = "), curve(unknown)] {
            assert_eq!(answer(&answered)["ok"], false, "{answered}");
        }
    }

    #[test]
    fn toml_keeps_its_values() {
        let found = answer(&read_toml("a = [1, 2.5, \"x\"]\n[t]\nb = true"));
        assert_eq!(found["value"], json!({ "a": [1, 2.5, "x"], "t": { "b": true } }));
    }

    #[test]
    fn the_curve_of_red_is_a_line() {
        let queue = r#"{\"aqm\": \"red\", \"min_th\": 10, \"max_th\": 30, \"max_p\": 0.1}"#;
        let found = answer(&curve(&format!(r#"{{"queue": "{queue}", "x": [10, 20, 40]}}"#)));
        assert_eq!(found, json!({ "ok": true, "p": [0.0, 0.05, 1.0] }));
    }
}
