//! The curve of a queue by itself.

use aqmlab_scenario::curve;

fn messages(body: &str) -> Vec<String> {
    curve(body, &[1.0]).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn from_json_and_from_toml() {
    let json = r#"{"aqm": "red", "min_th": 10, "max_th": "30p", "max_p": 0.1, "w_q": null}"#;
    let toml = "aqm = \"red\"\nmin_th = \"10p\"\nmax_th = 30\nmax_p = \"10%\"\n";
    for body in [json, toml] {
        assert_eq!(
            curve(body, &[0.0, 10.0, 20.0, 29.0, 30.0, 31.0]),
            Ok(vec![0.0, 0.0, 0.05, 0.095, 1.0, 1.0])
        );
    }
}

#[test]
fn points_and_none() {
    let body = r#"{"aqm": "red", "curve": "points", "points": [[0, 0], [10, 0.5], [20, 1]]}"#;
    assert_eq!(curve(body, &[5.0, 15.0]), Ok(vec![0.25, 0.75]));
    assert_eq!(curve("", &[5.0, 1e6]), Ok(vec![0.0, 0.0]), "drop-tail drops nothing early");
    assert_eq!(curve(r#"{"aqm": "mred", "min_th": "auto", "max_th": "auto"}"#, &[]), Ok(vec![]));
}

#[test]
fn mistakes() {
    assert_eq!(
        messages(r#"{"aqm": "red", "min_th": 40, "max_th": 30}"#),
        ["queue:1:1: min_th: min_th (40p) is not below max_th (30p) (allowed: 0 < min_th < max_th)"]
    );
    // How many keys there are changes with every new part of RED.
    let unknown = messages("aqm = \"red\"\nmaxp = 1");
    let [message] = unknown.as_slice() else { panic!("{unknown:?}") };
    assert!(
        message.starts_with("queue:2:1: maxp: unknown key (allowed: aqm, limit, min_th, max_th, max_p,"),
        "{message}"
    );
    assert!(message.ends_with(" in all); did you mean \"max_p\"?)"), "{message}");
    assert_eq!(
        messages("{\"aqm\": \"red\",\n \"w_q\": }"),
        ["queue:2:9: not JSON (allowed: a JSON object, or TOML)"]
    );
}
