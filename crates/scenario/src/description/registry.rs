use std::collections::BTreeMap;

use aqmlab_aqm::red::{PART_KINDS, PartInfo, PartKind};
use aqmlab_aqm::{Preset, Resolved, Spec, parts_with};
use aqmlab_transport::ns2::Variant;
use aqmlab_transport::rfc::CongestionControl;
use aqmlab_transport::{Profile, scream};
use aqmlab_units::{self as units, ValueKind};
use serde::Serialize;
use serde_json::Value as Json;

use super::{classes_json, parameter_json, tuple};
use crate::flow::UDP;
use crate::queue::NOMINAL;
use crate::tcp::TCP;

/// Return the disciplines with their parameters, the parts of RED, the words that choose a dialect, curve, spacing or transport, and
/// the congestion controllers of profile `rfc`.
pub fn registry() -> impl Serialize {
    Registry {
        controllers: CongestionControl::ALL.map(Controller::new).into(),
        curves: words("curve"),
        dialects: words("dialect"),
        disciplines: Preset::all().map(Discipline::new).collect(),
        parts: PART_KINDS.iter().map(|kind| (kind.key, parts(kind))).collect(),
        spacings: words("spacing"),
        transports: transports(),
    }
}

/// Return the same as JSON.
pub fn disciplines_json() -> String {
    serde_json::to_string(&registry()).unwrap_or_default()
}

#[derive(Serialize)]
struct Registry {
    controllers: Vec<Controller>,
    curves: &'static [&'static str],
    dialects: &'static [&'static str],
    disciplines: Vec<Discipline>,
    parts: BTreeMap<&'static str, Vec<Part>>,
    spacings: &'static [&'static str],
    transports: Vec<Transport>,
}

#[derive(Serialize)]
struct Discipline {
    classes: Vec<Json>,
    doc: &'static str,
    foreign: bool,
    name: &'static str,
    one_queue: bool,
    paper: &'static str,
    parameters: Vec<Parameter>,
    title: &'static str,
}

#[derive(Serialize)]
struct Parameter {
    allowed: String,
    #[serde(serialize_with = "tuple")]
    choices: &'static [&'static str],
    default: Json,
    doc: &'static str,
    key: &'static str,
    max: Option<f64>,
    max_included: Option<bool>,
    min: Option<f64>,
    min_included: Option<bool>,
    #[serde(serialize_with = "tuple")]
    parts: Vec<&'static str>,
    source: &'static str,
    symbol: &'static str,
    unit: &'static str,
}

/// A registered part, with its own parameters and those without which it cannot be had.
#[derive(Serialize)]
struct Part {
    doc: &'static str,
    name: &'static str,
    needs: BTreeMap<&'static str, Json>,
    #[serde(serialize_with = "tuple")]
    parameters: Vec<&'static str>,
}

#[derive(Serialize)]
struct Transport {
    name: &'static str,
    parameters: Vec<Parameter>,
    profile: Option<&'static str>,
    title: &'static str,
}

/// A congestion controller with the keys of its own parameters and the feedback of marks that it works with, its default first.
#[derive(Serialize)]
struct Controller {
    doc: &'static str,
    #[serde(serialize_with = "tuple")]
    ecn: Vec<&'static str>,
    name: &'static str,
    #[serde(serialize_with = "tuple")]
    parameters: Vec<&'static str>,
    source: &'static str,
}

fn parts(kind: &PartKind) -> Vec<Part> {
    kind.parts.iter().map(Part::new).collect()
}

impl Part {
    fn new(part: &PartInfo) -> Self {
        let kind_of =
            |key: &str| part.parameters.iter().find(|p| p.key == key).map_or(ValueKind::Number, |p| p.kind);
        let needs = (part.needs)();
        Self {
            doc: part.doc,
            name: part.name,
            needs: needs.iter().map(|(key, value)| (*key, parameter_json(value, kind_of(key)))).collect(),
            parameters: part.parameters.iter().map(|parameter| parameter.key).collect(),
        }
    }
}

/// The words that a parameter of RED may be, over all presets.
fn words(key: &str) -> &'static [&'static str] {
    let is_red = |preset: &&Preset| preset.parameters().iter().any(|p| p.key == "spacing");
    let parameters = Preset::all().filter(is_red).flat_map(Preset::parameters).filter(|p| p.key == key);
    parameters.map(|p| p.choices).max_by_key(|c| c.len()).unwrap_or_default()
}

impl Discipline {
    fn new(preset: &'static Preset) -> Self {
        let resolved = Spec::new(preset.name).and_then(|spec| spec.resolve(NOMINAL).ok());
        let parameter = |p: &'static units::Parameter| Parameter::of_queue(p, resolved.as_ref());
        Self {
            classes: resolved.as_ref().map_or_else(Vec::new, classes_json),
            doc: preset.doc,
            foreign: preset.definition().is_some(),
            name: preset.name,
            one_queue: preset.has_one_queue(),
            paper: preset.paper,
            parameters: preset.parameters().iter().map(parameter).collect(),
            title: preset.title,
        }
    }
}

impl Parameter {
    fn of_queue(p: &'static units::Parameter, resolved: Option<&Resolved>) -> Self {
        let effective = resolved.and_then(|r| r.effective.iter().find(|(key, _)| *key == p.key));
        // Settings of a mechanism that is off have no effective value.
        let described = || if p.default.is_empty() { Json::Null } else { p.default.into() };
        Self {
            allowed: p.allowed(),
            default: effective.map_or_else(described, |(_, value)| parameter_json(value, p.kind)),
            parts: parts_with(p).collect(),
            unit: if p.kind == ValueKind::Number { "1" } else { p.unit() },
            ..Self::of_tcp(p)
        }
    }

    fn of_tcp(p: &'static units::Parameter) -> Self {
        Self {
            allowed: p.range_text(),
            choices: p.choices,
            default: p.default.into(),
            doc: p.doc,
            key: p.key,
            max: p.max.map(|max| max.0),
            max_included: p.max.map(|max| max.1),
            min: p.min.map(|min| min.0),
            min_included: p.min.map(|min| min.1),
            parts: Vec::new(),
            source: p.source,
            symbol: p.symbol,
            unit: p.unit(),
        }
    }
}

fn transports() -> Vec<Transport> {
    let transport = |name, title, profile: Profile| {
        let parameters = profile.parameters().iter().map(Parameter::of_tcp).collect();
        Transport { name, parameters, profile: Some(profile.name()), title }
    };
    let of_ns2 = |v: Variant| transport(v.name(), title(v), Profile::Ns2);
    let of_rfc = transport(TCP, "TCP by the RFCs, as Linux 6 speaks it", Profile::Rfc);
    let udp =
        Transport { name: UDP, parameters: Vec::new(), profile: None, title: "UDP at a constant bit rate" };
    let media = Transport {
        name: scream::NAME,
        parameters: scream::PARAMETERS.iter().map(Parameter::of_tcp).collect(),
        profile: None,
        title: "video over UDP whose bit rate SCReAM controls (RFC 8298)",
    };
    Variant::ALL.into_iter().map(of_ns2).chain([of_rfc, udp, media]).collect()
}

impl Controller {
    fn new(control: CongestionControl) -> Self {
        Self {
            doc: control.doc(),
            ecn: control.feedbacks().iter().map(|feedback| feedback.name()).collect(),
            name: control.name(),
            parameters: control.keys().collect(),
            source: control.source(),
        }
    }
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
    use serde_json::json;

    #[test]
    fn every_discipline_with_every_parameter() {
        let json: Json = serde_json::to_value(registry()).expect("JSON");
        let names: Vec<_> =
            json["disciplines"].as_array().into_iter().flatten().map(|d| d["name"].clone()).collect();
        assert_eq!(names, PRESETS.iter().map(|p| json!(p.name)).collect::<Vec<_>>());
        let mred = &json["disciplines"][3];
        let max_th = mred["parameters"].as_array().into_iter().flatten().find(|p| p["key"] == "max_th");
        let max_th = max_th.expect("a parameter of MRED");
        assert_eq!((&max_th["default"], &max_th["unit"]), (&json!(30), &json!("packets")));
        assert_eq!(json["dialects"], json!(["floyd93", "ns2-2.35", "linux", "dsred", "as-printed"]));
        assert_eq!(json["transports"].as_array().map(Vec::len), Some(7));
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
        let json: Json = serde_json::to_value(registry()).expect("JSON");
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
