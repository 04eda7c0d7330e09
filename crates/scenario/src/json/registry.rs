use std::collections::BTreeMap;

use aqmlab_aqm::red::{PART_KINDS, PartInfo, PartKind};
use aqmlab_aqm::{Preset, Resolved, Spec, parts_with};
use aqmlab_transport::Profile;
use aqmlab_transport::ns2::Variant;
use aqmlab_transport::rfc::CongestionControl;
use aqmlab_units::{Parameter, ValueKind};
use serde_json::{Value as Json, json};

use super::{classes_json, parameter_json};
use crate::flow::UDP;
use crate::queue::NOMINAL;
use crate::tcp::TCP;

/// The disciplines with their parameters, the parts of RED, the words that choose a dialect, curve, spacing or transport, and
/// the congestion controllers of profile `rfc`.
pub fn disciplines_json() -> String {
    json!({
        "disciplines": Preset::all().map(preset_json).collect::<Vec<_>>(),
        "dialects": words("dialect"),
        "curves": words("curve"),
        "spacings": words("spacing"),
        "parts": PART_KINDS.iter().map(|kind| (kind.key, parts(kind))).collect::<BTreeMap<_, _>>(),
        "transports": transports(),
        "controllers": CongestionControl::ALL.map(controller),
    })
    .to_string()
}

/// The registered parts of a kind, with their own parameters and those without which they cannot be had.
fn parts(kind: &PartKind) -> Vec<Json> {
    let keys = |part: &PartInfo| part.parameters.iter().map(|p| p.key).collect::<Vec<_>>();
    let needs = |part: &PartInfo| -> BTreeMap<&str, Json> {
        let kind_of =
            |key: &str| part.parameters.iter().find(|p| p.key == key).map_or(ValueKind::Number, |p| p.kind);
        (part.needs)().iter().map(|(key, value)| (*key, parameter_json(value, kind_of(key)))).collect()
    };
    let part = |part: &PartInfo| json!({ "name": part.name, "doc": part.doc, "parameters": keys(part), "needs": needs(part) });
    kind.parts.iter().map(part).collect()
}

/// The words that a parameter may be, over all disciplines.
fn words(key: &str) -> &'static [&'static str] {
    let parameters = || Preset::all().flat_map(Preset::parameters).filter(|p| p.key == key);
    parameters().map(|p| p.choices).max_by_key(|c| c.len()).unwrap_or_default()
}

fn preset_json(preset: &Preset) -> Json {
    let resolved = Spec::new(preset.name).and_then(|spec| spec.resolve(NOMINAL).ok());
    json!({
        "name": preset.name,
        "title": preset.title,
        "paper": preset.paper,
        "doc": preset.doc,
        "foreign": preset.definition().is_some(),
        "parameters": preset.parameters().iter().map(|p| parameter(p, resolved.as_ref())).collect::<Vec<_>>(),
        "classes": resolved.as_ref().map_or_else(Vec::new, classes_json),
    })
}

fn parameter(p: &Parameter, resolved: Option<&Resolved>) -> Json {
    let default = resolved.and_then(|r| r.effective.iter().find(|(key, _)| *key == p.key));
    json!({
        "key": p.key,
        "symbol": p.symbol,
        "unit": unit_name(p),
        "default": default.map(|(_, value)| parameter_json(value, p.kind)),
        "min": p.min.map(|m| m.0),
        "min_included": p.min.map(|m| m.1),
        "max": p.max.map(|m| m.0),
        "max_included": p.max.map(|m| m.1),
        "choices": p.choices,
        "parts": parts_with(p).collect::<Vec<_>>(),
        "allowed": p.allowed(),
        "doc": p.doc,
        "source": p.source,
    })
}

fn unit_name(p: &Parameter) -> &'static str {
    if p.kind == ValueKind::Number { "1" } else { p.unit() }
}

fn transports() -> Vec<Json> {
    let transport = |name: &str, title: &str, profile: Profile| {
        let parameters = profile.parameters().iter().map(tcp_parameter).collect::<Vec<_>>();
        json!({ "name": name, "title": title, "profile": profile.name(), "parameters": parameters })
    };
    let of_ns2 = |v: Variant| transport(v.name(), title(v), Profile::Ns2);
    let of_rfc = transport(TCP, "TCP by the RFCs, as Linux 6 speaks it", Profile::Rfc);
    let udp =
        json!({ "name": UDP, "title": "UDP at a constant bit rate", "profile": null, "parameters": [] });
    Variant::ALL.into_iter().map(of_ns2).chain([of_rfc, udp]).collect()
}

fn tcp_parameter(p: &Parameter) -> Json {
    json!({
        "key": p.key,
        "symbol": "",
        "unit": p.unit(),
        "default": p.default,
        "min": p.min.map(|m| m.0),
        "max": p.max.map(|m| m.0),
        "choices": p.choices,
        "allowed": p.range_text(),
        "doc": p.doc,
        "source": p.source,
    })
}

/// A congestion controller with the keys of its own parameters and the feedback of marks that it works with, its default first.
fn controller(control: CongestionControl) -> Json {
    json!({
        "name": control.name(),
        "doc": control.doc(),
        "source": control.source(),
        "parameters": control.keys().collect::<Vec<_>>(),
        "ecn": control.feedbacks().iter().map(|feedback| feedback.name()).collect::<Vec<_>>(),
    })
}

fn title(variant: Variant) -> &'static str {
    match variant {
        Variant::Tahoe => "TCP Tahoe",
        Variant::Reno => "TCP Reno",
        Variant::NewReno => "TCP NewReno",
        Variant::Sack => "TCP with selective acknowledgement",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_aqm::PRESETS;

    #[test]
    fn every_discipline_with_every_parameter() {
        let json: Json = serde_json::from_str(&disciplines_json()).expect("JSON");
        let names: Vec<_> =
            json["disciplines"].as_array().into_iter().flatten().map(|d| d["name"].clone()).collect();
        assert_eq!(names, PRESETS.iter().map(|p| json!(p.name)).collect::<Vec<_>>());
        let mred = &json["disciplines"][3];
        let max_th = mred["parameters"].as_array().into_iter().flatten().find(|p| p["key"] == "max_th");
        let max_th = max_th.expect("a parameter of MRED");
        assert_eq!((&max_th["default"], &max_th["unit"]), (&json!(30), &json!("packets")));
        assert_eq!(json["dialects"], json!(["floyd93", "ns2-2.35", "linux", "dsred", "as-printed"]));
        assert_eq!(json["transports"].as_array().map(Vec::len), Some(6));
        let named = |entries: &Json, name: &str| {
            let found = entries.as_array().into_iter().flatten().find(|entry| entry["name"] == name);
            found.cloned().expect("is registered")
        };
        let dctcp = named(&json["controllers"], "dctcp");
        assert_eq!(dctcp["ecn"], json!(["dctcp", "accurate"]));
        assert_eq!(dctcp["parameters"], json!(["dctcp_g", "dctcp_initial_alpha"]));
        let points = named(&json["parts"]["curve"], "points");
        assert_eq!(points["parameters"], json!(["points"]));
        assert_eq!(points["needs"]["points"][0], json!([5.0, 0.0]));
    }

    #[test]
    fn every_default_of_classic_red_is_known() {
        const CLASSIC: [&str; 10] =
            ["limit", "min_th", "max_th", "max_p", "w_q", "mean_packet", "mode", "curve", "spacing", "ecn"];
        let json: Json = serde_json::from_str(&disciplines_json()).expect("JSON");
        for discipline in json["disciplines"].as_array().into_iter().flatten() {
            for p in discipline["parameters"].as_array().into_iter().flatten() {
                // Where there are classes, these parameters are theirs.
                let known = !p["default"].is_null()
                    || !discipline["classes"][0][p["key"].as_str().unwrap_or_default()].is_null();
                let classic = CLASSIC.iter().any(|k| p["key"] == *k);
                assert!(!classic || known, "{} {}", discipline["name"], p["key"]);
            }
        }
    }
}
