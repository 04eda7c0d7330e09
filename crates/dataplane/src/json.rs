//! Snapshots and outcomes as JSON.

use aqmlab_aqm::red::{AVERAGE, P_B};
use aqmlab_netsim::{Column, LinkCounters, Table};
use aqmlab_quantities::{Run, View};
use serde_json::{Map, Value, json};

use crate::classify::Group;
use crate::flows::OTHER_FLOWS;
use crate::lateness::Percentiles;
use crate::snapshot::{PlaneCounts, Side, Snapshot};

/// Nanoseconds as microseconds.
fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

/// Lateness in microseconds.
pub fn lateness(p: &Percentiles) -> Value {
    json!({ "n": p.n, "p50": us(p.p50), "p99": us(p.p99), "p999": us(p.p999), "max": us(p.max) })
}

/// Return a table, column by column; null for a real number that is not finite.
pub fn table(table: &Table) -> Value {
    let column = |column: &Column| match column {
        Column::Integer(values) => json!(values),
        Column::Real(values) => json!(values),
        Column::Text(values) => values.iter().collect(),
    };
    table.iter().map(|(name, values)| ((*name).to_owned(), column(values))).collect::<Map<_, _>>().into()
}

/// State of the snapshot writer from one snapshot to the next.
#[derive(Debug, Default)]
pub struct Reporter {
    /// Sum of the delays in picoseconds, and departures, of each direction.
    delays: Vec<(u128, u64)>,
}

impl Reporter {
    /// A snapshot; `tun_dropped` are the drops of the devices, `elapsed_s` the time since the start.
    pub fn snapshot(&mut self, snapshot: &Snapshot, groups: &[Group], tun_dropped: [u64; 2]) -> Value {
        let t = snapshot.t.secs();
        self.delays.resize(snapshot.sides.len(), (0, 0));
        let sides = snapshot.sides.iter().zip(&mut self.delays);
        let directions: Vec<_> =
            sides.map(|(side, delays)| direction(side, snapshot, groups, delays)).collect();
        json!({ "t": t, "directions": directions, "plane": plane(&snapshot.plane, t, tun_dropped) })
    }
}

/// Return the counters of the plane.
pub fn plane(plane: &PlaneCounts, t: f64, tun_dropped: [u64; 2]) -> Value {
    let malformed: Map<_, _> =
        plane.malformed.iter().map(|(reason, n)| (reason.name().to_owned(), n.into())).collect();
    json!({
        "malformed": malformed,
        "tun_dropped": { "a": tun_dropped[0], "b": tun_dropped[1] },
        "lateness_us": lateness(&plane.lateness),
        "stalls": plane.stalls,
        "idle_share": if t > 0.0 { json!(plane.idle_ns as f64 / 1e9 / t) } else { Value::Null },
        "in": plane.read,
        "out": plane.written,
        "held": plane.held,
        "dropped": plane.dropped,
        "lost": plane.lost,
        "copied": plane.copied,
        "no_buffer": plane.no_buffer,
        "unwritten": plane.unwritten,
        "unrecorded": plane.unrecorded,
    })
}

fn direction(side: &Side, snapshot: &Snapshot, groups: &[Group], before: &mut (u128, u64)) -> Value {
    let c = &side.totals.counters;
    let (delay, departures) = (c.delay - before.0, c.departures - before.1);
    *before = (c.delay, c.departures);
    let mut gauges: Map<_, _> =
        side.gauges.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    // These two have keys of their own; null for disciplines without them.
    let average = gauges.remove(AVERAGE);
    let p_b = gauges.remove(P_B);
    json!({
        "name": side.name,
        "link": side.link,
        "aqm": side.aqm,
        "rate_bps": side.rate.0,
        "backlog": { "packets": side.backlog.packets, "bytes": side.backlog.bytes },
        "average": average,
        "p_b": p_b,
        "gauges": gauges,
        "counters": counters(c, side.outcomes.lost),
        "quantities": quantities(side),
        "delay_mean_s": if departures > 0 { json!(delay as f64 / 1e12 / departures as f64) } else { Value::Null },
        "classes": classes(side),
        "flows": flows(side, snapshot, groups),
    })
}

/// Quantities that follow from the statistics of the link so far, by key; those without a value are left out.
fn quantities(side: &Side) -> Map<String, Value> {
    let tables = vec![("links", side.measured.table(&side.link, side.aqm))];
    let Some(run) = Run::new(&tables, None) else { return Map::new() };
    let shown = aqmlab_quantities::all().iter().filter(|(_, one)| one.place(View::Telemetry).is_some());
    let values = shown.filter_map(|(_, one)| Some((one.key.to_owned(), (one.value)(&run)?)));
    values.filter(|(_, value)| value.is_finite()).map(|(key, value)| (key, json!(value))).collect()
}

fn counters(c: &LinkCounters, lost: u64) -> Value {
    json!({
        "arrivals": c.arrivals,
        "arrived_bytes": c.arrived_bytes,
        "departures": c.departures,
        "departed_bytes": c.departed_bytes,
        "drops_early": c.drops_early,
        "drops_forced": c.drops_forced,
        "drops_overflow": c.drops_overflow,
        "marks_early": c.marks_early,
        "marks_forced": c.marks_forced,
        "lost": lost,
    })
}

fn classes(side: &Side) -> Vec<Value> {
    let seen = side.totals.code_points.iter().enumerate().filter(|(_, c)| c.arrivals > 0);
    let class = |(dscp, c): (usize, &aqmlab_netsim::CodePoint)| {
        json!({
            "dscp": dscp,
            "arrivals": c.arrivals,
            "drops": c.drops,
            "marks": c.marks,
            "departed_bytes": c.departed_bytes,
        })
    };
    seen.map(class).collect()
}

fn flows(side: &Side, snapshot: &Snapshot, groups: &[Group]) -> Vec<Value> {
    let known = side.flows.iter().zip(&snapshot.flows);
    let known = known.map(|(counts, (group, label))| (counts, usize::from(*group), label.to_string()));
    let others = side.others.iter().enumerate();
    let others = others.map(|(group, counts)| (counts, group, OTHER_FLOWS.to_owned()));
    let seen = known.chain(others).enumerate().filter(|(_, (counts, ..))| counts.arrivals > 0);
    seen.map(|(flow, (counts, group, label))| {
        json!({
            "flow": flow,
            "group": groups.get(group).map_or("other", |g| g.name.as_str()),
            "label": label,
            "arrivals": counts.arrivals,
            "drops": counts.drops,
            "marks": counts.marks,
            "departed_bytes": counts.departed_bytes,
        })
    })
    .collect()
}
