use aqmlab_netsim::Routes;
use aqmlab_netsim::plan::{Flow, Link, Plan, Start, Transport};
use aqmlab_units::{Span, Time};
use serde_json::{Map, Value as Json, json};

use super::{number_json, parameter_json};
use crate::flow::UDP;
use crate::problem::Problem;
use crate::{Scenario, parse};

/// Checks a scenario and says what it comes to: `ok`, `errors`, `warnings`, and `scenario` if it is valid.
pub fn check_json(text: &str, file: &str, overrides: &[(String, String)]) -> String {
    let problems = |list: &[Problem]| list.iter().map(problem_json).collect::<Vec<_>>();
    let answer = match parse(text, file, overrides) {
        Ok(scenario) => json!({
            "ok": true,
            "errors": [],
            "warnings": problems(&scenario.warnings),
            "scenario": scenario_json(&scenario),
        }),
        Err(errors) => json!({ "ok": false, "errors": problems(&errors), "warnings": [] }),
    };
    answer.to_string()
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

fn scenario_json(scenario: &Scenario) -> Json {
    let Scenario { name, description, seeds, plan, queues, normalized, hash, .. } = scenario;
    let mut routes = Routes::new(plan);
    let links =
        plan.links.iter().zip(queues).map(|(link, queue)| link_json(plan, link, queue)).collect::<Vec<_>>();
    let flows = plan.flows.iter().map(|flow| flow_json(plan, flow, &mut routes)).collect::<Vec<_>>();
    let interval = |span: Option<Span>| span.map(Span::secs);
    json!({
        "name": name,
        "description": description,
        "duration_s": plan.duration.secs(),
        "warmup_s": plan.warmup.secs(),
        "seeds": seeds,
        "hash": hash,
        "nodes": plan.nodes,
        "links": links,
        "flows": flows,
        "probe": {
            "links": plan.probe.links.iter().map(|&l| link_name(plan, l)).collect::<Vec<_>>(),
            "queue_interval_s": interval(plan.probe.queue_interval),
            "cwnd_interval_s": interval(plan.probe.cwnd_interval),
            "delay_histogram": plan.probe.delay_histogram,
            "events": plan.probe.events,
        },
        "normalized": normalized,
    })
}

fn node_name(plan: &Plan, node: u32) -> &str {
    &plan.nodes[node as usize]
}

fn link_name(plan: &Plan, link: u32) -> &str {
    &plan.links[link as usize].name
}

fn link_json(plan: &Plan, link: &Link, queue: &str) -> Json {
    let registry = aqmlab_aqm::Preset::find(link.aqm).map_or(&[][..], |p| p.parameters());
    let mut parameters = Map::new();
    for (key, value) in &link.queue.effective {
        if let Some(parameter) = registry.iter().find(|p| p.key == *key) {
            parameters.insert((*key).to_owned(), parameter_json(value, parameter.unit));
        }
    }
    json!({
        "name": link.name,
        "from": node_name(plan, link.from),
        "to": node_name(plan, link.to),
        "rate_bps": link.rate.0,
        "delay_s": link.delay.secs(),
        "queue": queue,
        "aqm": link.aqm,
        "parameters": parameters,
    })
}

fn flow_json(plan: &Plan, flow: &Flow, routes: &mut Routes<'_>) -> Json {
    let path = routes.path(flow.from, flow.to).unwrap_or_default();
    let (transport, parameters) = transport_json(&flow.transport);
    json!({
        "name": flow.name,
        "group": flow.group,
        "transport": transport,
        "from": node_name(plan, flow.from),
        "to": node_name(plan, flow.to),
        "start": match flow.start {
            Start::At(t) => json!(t.secs()),
            Start::Uniform(a, b) => json!({ "uniform": [a.secs(), b.secs()] }),
        },
        "stop": flow.stop.map(Time::secs),
        "path": path.into_iter().map(|l| link_name(plan, l)).collect::<Vec<_>>(),
        "parameters": parameters,
    })
}

/// Name and effective values; times in seconds, sizes in packets or bytes as the registry has them.
fn transport_json(transport: &Transport) -> (&'static str, Json) {
    match transport {
        Transport::Udp { rate, packet } => (UDP, json!({ "rate_bps": rate.0, "packet_size": packet })),
        Transport::Tcp { config, size, clock_offset } => {
            let parameters = json!({
                "profile": "ns2-2.35",
                "size": size,
                "clock_offset": clock_offset,
                "window": number_json(config.window),
                "packet_size": config.packet_size,
                "header": config.header,
                "ack_size": config.ack_size,
                "initial_window": number_json(config.initial_window),
                "initial_ssthresh": config.initial_ssthresh,
                "syn": config.syn,
                "delayed_ack": config.delayed_ack.map_or(json!(false), |d| json!(d.secs())),
                "ecn": config.ecn,
                "limited_transmit": config.limited_transmit,
                "min_rto": config.min_rto,
                "max_rto": config.max_rto,
                "initial_rto": config.initial_rto,
                "tick": config.tick,
                "max_burst": config.max_burst,
                "timestamps": config.timestamps,
            });
            (config.variant.name(), parameters)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_transport::{PARAMETERS, TcpConfig, Variant};

    #[test]
    fn every_parameter_of_tcp_is_told() {
        let config = TcpConfig::ns2(Variant::Sack).into();
        let (name, json) = transport_json(&Transport::Tcp { config, size: None, clock_offset: None });
        assert_eq!(name, "sack");
        for p in PARAMETERS {
            assert!(json.get(p.key).is_some(), "{}", p.key);
        }
    }
}
