use std::collections::BTreeMap;

use aqmlab_netsim::Routes;
use aqmlab_netsim::plan::{Change, Link, Plan};
use aqmlab_units::{Rate, Span, Time};
use serde_json::{Map, Value as Json, json};

use super::flow::{flow_json, page_json};
use super::live::live_json;
use super::marker::marker_json;
use super::{classes_json, kind_of, parameter_json};
use crate::problem::Problem;
use crate::{Scenario, parse};

/// Check a scenario and return the result as JSON: `ok`, `errors`, `warnings`, and `scenario` if it is valid. Every node,
/// link and flow is listed in it only if `whole`.
pub fn check_json(text: &str, file: &str, overrides: &[(String, String)], whole: bool) -> String {
    match parse(text, file, overrides) {
        Ok(scenario) => answer(Ok(("scenario", &scenario_json(&scenario, whole))), &scenario.warnings),
        Err(errors) => answer(Err(&errors), &[]),
    }
}

/// Return the JSON for a scenario: warnings and an entry with its JSON if it is valid; errors otherwise.
pub(super) fn answer(result: Result<(&str, &str), &[Problem]>, warnings: &[Problem]) -> String {
    let problems = |list: &[Problem]| list.iter().map(problem_json).collect::<Json>();
    let errors = result.err().unwrap_or_default();
    let all = json!({ "ok": result.is_ok(), "errors": problems(errors), "warnings": problems(warnings) });
    match result {
        Ok((key, json)) => with_entry(all.to_string(), key, |text| text.push_str(json)),
        Err(_) => all.to_string(),
    }
}

/// An object with one more entry, the value of which `write` appends.
fn with_entry(mut object: String, key: &str, write: impl FnOnce(&mut String)) -> String {
    object.pop();
    object.push_str(&format!(",\"{key}\":"));
    write(&mut object);
    object.push('}');
    object
}

/// Appends a list entry by entry: one of many links or flows takes much more memory as values than as text.
fn write_list(text: &mut String, entries: impl Iterator<Item = Json>) {
    let mut before = '[';
    for entry in entries {
        text.push(before);
        text.push_str(&entry.to_string());
        before = ',';
    }
    text.push_str(if before == '[' { "[]" } else { "]" });
}

fn problem_json(p: &Problem) -> Json {
    json!({
        "file": p.file,
        "line": p.line,
        "column": p.column,
        "key": p.key,
        "message": p.message,
        "allowed": p.allowed,
        "suggestion": p.suggestion,
    })
}

fn scenario_json(scenario: &Scenario, whole: bool) -> String {
    let Scenario { name, description, seeds, plan, live, normalized, hash, .. } = scenario;
    let interval = |span: Option<Span>| span.map(Span::secs);
    let result = json!({
        "name": name,
        "description": description,
        "duration_s": plan.duration.secs(),
        "warmup_s": plan.warmup.secs(),
        "seeds": seeds,
        "hash": hash,
        "counts": { "nodes": plan.nodes.len(), "links": plan.links.len(), "flows": plan.flows.len() },
        "queues": queues_json(scenario),
        "managed_bps": plan.links.iter().filter(|l| l.aqm() != "drop-tail").map(|l| l.rate.0 as f64).sum::<f64>(),
        "slowest_bps": plan.links.iter().map(|l| l.rate.0).min(),
        "pages": plan.pages.iter().map(|page| page_json(plan, page)).collect::<Vec<_>>(),
        "calls": plan.probe.packet_delays.iter().map(|&f| &*plan.flows[f as usize].name).collect::<Vec<_>>(),
        "markers": plan.markers.iter().map(|m| marker_json(plan, m)).collect::<Vec<_>>(),
        "changes": plan.changes.iter().map(|c| change_json(plan, c)).collect::<Vec<_>>(),
        "probe": {
            "links": plan.probe.links.iter().map(|&l| link_name(plan, l)).collect::<Vec<_>>(),
            "queue_interval_s": interval(plan.probe.queue_interval),
            "cwnd_interval_s": interval(plan.probe.cwnd_interval),
            "flow_interval_s": interval(plan.probe.flow_interval),
            "discipline_interval_s": interval(plan.probe.discipline_interval),
            "delay_histogram": plan.probe.delay_histogram,
            "events": plan.probe.events,
            "events_from_s": plan.probe.events_from.secs(),
            "events_until_s": plan.probe.events_until.map(Time::secs),
            "packets": plan.probe.packets,
            "losses": plan.probe.losses,
            "flow_delay": plan.probe.flow_delay,
        },
        "live": live_json(plan, live),
        "normalized": normalized,
    });
    if !whole {
        return result.to_string();
    }
    let result = with_entry(result.to_string(), "nodes", |text| {
        write_list(text, plan.nodes.iter().map(|n| json!(n.as_str())))
    });
    let links = scenario.links_with_queues().map(|(link, queue)| link_json(plan, link, queue));
    let result = with_entry(result, "links", |text| write_list(text, links));
    let mut routes = Routes::new(plan);
    let flows = plan.flows.iter().map(|flow| flow_json(plan, flow, &mut routes));
    with_entry(result, "flows", |text| write_list(text, flows))
}

pub(super) fn node_name(plan: &Plan, node: u32) -> &str {
    &plan.nodes[node as usize]
}

pub(super) fn link_name(plan: &Plan, link: u32) -> &str {
    &plan.links[link as usize].name
}

/// Discipline and effective parameters of each queue, at the last link that has it.
fn queues_json(scenario: &Scenario) -> Json {
    let last: BTreeMap<_, _> = scenario.links_with_queues().map(|(link, queue)| (queue, link)).collect();
    let reading = |link: &Link| json!({ "aqm": link.aqm(), "parameters": parameters_json(link) });
    last.into_iter().map(|(queue, link)| (queue.to_string(), reading(link))).collect::<Map<_, _>>().into()
}

fn link_json(plan: &Plan, link: &Link, queue: &str) -> Json {
    json!({
        "name": link.name.as_str(),
        "from": node_name(plan, link.from),
        "to": node_name(plan, link.to),
        "rate_bps": link.rate.0,
        "delay_s": link.delay.secs(),
        "queue": queue,
        "aqm": link.aqm(),
        "parameters": parameters_json(link),
        "classes": classes_json(&link.queue),
    })
}

fn parameters_json(link: &Link) -> Json {
    let registry = aqmlab_aqm::Preset::find(link.aqm()).map_or(&[][..], |p| p.parameters());
    let mut parameters = Map::new();
    for (key, value) in &link.queue.effective {
        let key = key.to_string();
        let kind = registry.iter().find(|p| p.key == key).map_or_else(|| kind_of(&key), |p| p.kind);
        parameters.insert(key, parameter_json(value, kind));
    }
    parameters.into()
}

fn change_json(plan: &Plan, change: &Change) -> Json {
    json!({
        "at_s": change.at.secs(),
        "link": link_name(plan, change.link),
        "rate_bps": change.rate.map(|Rate(bps)| bps),
        "delay_s": change.delay.map(Span::secs),
    })
}
