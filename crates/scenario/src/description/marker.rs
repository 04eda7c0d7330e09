use aqmlab_netsim::plan::{self, Meter, Plan};
use aqmlab_units::{Rate, Span};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::scenario::link_name;
use crate::marker::{COLORS, SRTCM, TOKEN_BUCKET, TRTCM, TSW2, TSW3};

/// A marker with its packets and its parameters; rates in bit/s, bursts in bytes, the window in seconds, code points as numbers, none of a colour that is dropped.
#[derive(Serialize)]
pub(super) struct Marker<'a> {
    dscp: Json,
    flows: Vec<&'a str>,
    kind: &'static str,
    link: &'a str,
    name: &'a str,
    parameters: Json,
    per: &'static str,
}

impl<'a> Marker<'a> {
    pub fn new(plan: &'a Plan, marker: &'a plan::Marker) -> Self {
        let (kind, parameters) = meter_json(&marker.meter);
        let [green, yellow, red] = COLORS;
        let three = !matches!(marker.meter, Meter::TokenBucket { .. } | Meter::Tsw2 { .. });
        let code = |i: usize| Some(marker.dscp[i]).filter(|_| !marker.drops[i]);
        Self {
            dscp: json!({ green: code(0), yellow: code(1).filter(|_| three), red: code(2) }),
            flows: marker.flows.iter().map(|&i| &*plan.flows[i as usize].name).collect(),
            kind,
            link: link_name(plan, marker.link),
            name: &marker.name,
            parameters,
            per: if marker.per_flow { "flow" } else { "group" },
        }
    }
}

fn meter_json(meter: &Meter) -> (&'static str, Json) {
    let bps = |Rate(bps)| bps;
    match *meter {
        Meter::TokenBucket { cir, cbs } => (TOKEN_BUCKET, json!({ "cir": bps(cir), "cbs": cbs })),
        Meter::Tsw2 { cir, window } => (TSW2, json!({ "cir": bps(cir), "window": seconds(window) })),
        Meter::Tsw3 { cir, pir, window } => {
            (TSW3, json!({ "cir": bps(cir), "pir": bps(pir), "window": seconds(window) }))
        }
        Meter::SrTcm { cir, cbs, ebs, color_aware } => {
            (SRTCM, json!({ "cir": bps(cir), "cbs": cbs, "ebs": ebs, "color_aware": color_aware }))
        }
        Meter::TrTcm { cir, cbs, pir, pbs, color_aware } => (
            TRTCM,
            json!({ "cir": bps(cir), "cbs": cbs, "pir": bps(pir), "pbs": pbs, "color_aware": color_aware }),
        ),
    }
}

fn seconds(span: Span) -> f64 {
    span.secs()
}
