use std::collections::BTreeMap;

use aqmlab_netsim::Routes;
use aqmlab_netsim::plan::{self, Impairments, Plan};
use aqmlab_units::{Framing, ParameterValue, Span, Time};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

use super::document::Sorted;
use super::flow::Flow;
use super::live::Settings;
use super::marker::Marker;
use super::{classes_json, kind_of, parameter_json, tuple};
use crate::problem::Problem;
use crate::{LinkState, Scenario, flow, parse, routing, traces};

/// A scenario without its nodes, links and flows, which are long lists.
#[derive(Serialize)]
struct Description<'a> {
    name: &'a str,
    description: &'a str,
    hash: &'a str,
    duration_s: f64,
    warmup_s: f64,
    #[serde(serialize_with = "tuple")]
    seeds: &'a [u64],
    counts: Counts,
    /// Discipline and effective parameters of each queue, at the last link that has it.
    queues: BTreeMap<&'a str, Queue>,
    managed_bps: f64,
    slowest_bps: f64,
    normalized: &'a str,
    #[serde(serialize_with = "tuple")]
    markers: Vec<Marker<'a>>,
    #[serde(serialize_with = "tuple")]
    changes: Vec<Change<'a>>,
    routing: Json,
    probe: Probe<'a>,
    live: Settings<'a>,
}

#[derive(Serialize)]
struct Counts {
    flows: usize,
    links: usize,
    nodes: usize,
}

#[derive(Serialize)]
struct Queue {
    aqm: &'static str,
    parameters: Map<String, Json>,
}

#[derive(Serialize)]
struct Change<'a> {
    at_s: f64,
    #[serde(skip_serializing_if = "Map::is_empty")]
    channel: Map<String, Json>,
    delay_s: Option<f64>,
    link: &'a str,
    rate_bps: Option<u64>,
    /// The key of the model, the trace or the token bucket that the server is from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    varies_by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    /// Whether a link that goes down drops the packets that wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    flushes: Option<bool>,
}

#[derive(Serialize)]
struct Probe<'a> {
    cwnd_interval_s: Option<f64>,
    delay_histogram: bool,
    discipline_interval_s: Option<f64>,
    events: bool,
    events_from_s: f64,
    events_until_s: Option<f64>,
    flow_delay: bool,
    flow_interval_s: Option<f64>,
    links: Vec<&'a str>,
    losses: bool,
    packets: bool,
    queue_interval_s: Option<f64>,
}

/// One direction of a link, with its queue.
#[derive(Serialize)]
struct Link<'a> {
    name: &'a str,
    from: &'a str,
    to: &'a str,
    rate_bps: f64,
    /// The trace that its rate follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Json>,
    /// Keys of the models or the trace by which its rate and its delay vary.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "tuple")]
    varies_by: Vec<&'static str>,
    in_service: &'static str,
    delay_s: f64,
    /// Impairments of packets by its channel.
    #[serde(skip_serializing_if = "Map::is_empty")]
    channel: Map<String, Json>,
    queue: &'a str,
    aqm: &'static str,
    parameters: Map<String, Json>,
    /// Keys of the parameters that have no effect with the others as they are.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "tuple")]
    without_effect: Vec<&'static str>,
    #[serde(serialize_with = "tuple")]
    classes: Vec<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_bucket: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    framing: Option<Json>,
}

impl Scenario {
    /// Describe the scenario without its nodes, links and flows.
    pub fn description(&self) -> impl Serialize {
        let Self { name, description, seeds, plan, changes, live, normalized, hash, .. } = self;
        let rates = || plan.links.iter().map(|link| link.rate().bps());
        let managed = plan.links.iter().filter(|link| link.aqm() != "drop-tail");
        let last: BTreeMap<_, _> = self.links_with_queues().map(|(link, queue)| (queue, link)).collect();
        let queue = |link: &plan::Link| Queue { aqm: link.aqm(), parameters: parameters_of(link) };
        Description {
            name,
            description,
            hash,
            duration_s: plan.duration.secs(),
            warmup_s: plan.warmup.secs(),
            seeds,
            counts: Counts { flows: plan.flows.len(), links: plan.links.len(), nodes: plan.nodes.len() },
            queues: last.into_iter().map(|(name, link)| (name, queue(link))).collect(),
            managed_bps: managed.map(|link| link.rate().bps()).sum(),
            slowest_bps: rates().min_by(f64::total_cmp).unwrap_or(0.0),
            normalized,
            markers: plan.markers.iter().map(|marker| Marker::new(plan, marker)).collect(),
            changes: changes.iter().map(|change| Change::new(plan, change)).collect(),
            routing: routing_json(plan),
            probe: Probe::new(plan),
            live: Settings::new(plan, live),
        }
    }

    /// Return the names of the nodes.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.plan.nodes.iter().map(|name| name.as_str())
    }

    /// Describe each link.
    pub fn links(&self) -> impl Iterator<Item = impl Serialize> {
        let any_priority = flow::any_priority(&self.plan);
        self.links_with_queues().map(move |(link, queue)| Link::new(&self.plan, link, queue, any_priority))
    }

    /// Describe each flow.
    pub fn flows(&self) -> impl Iterator<Item = impl Serialize> {
        let mut routes = Routes::new(&self.plan);
        (0..self.plan.flows.len() as u32).map(move |flow| Flow::new(&self.plan, flow, &mut routes))
    }

    /// Describe the tables of the file, overrides applied, with sorted keys.
    pub fn tables(&self) -> impl Serialize {
        Sorted(&self.input.root)
    }
}

impl<'a> Link<'a> {
    fn new(plan: &'a Plan, link: &'a plan::Link, queue: &'a str, any_priority: bool) -> Self {
        let of_priority = if any_priority { Vec::new() } else { link.queue.priority_keys() };
        Self {
            name: link.name.as_str(),
            from: node_name(plan, link.from),
            to: node_name(plan, link.to),
            rate_bps: link.rate().bps(),
            trace: link
                .line
                .server
                .trace()
                .map(|(trace, interpolates)| traces::describe(trace, interpolates)),
            varies_by: [link.line.server.varies_by(), link.line.channel.varies_by()]
                .into_iter()
                .flatten()
                .collect(),
            in_service: link.line.server.in_service().word(),
            delay_s: link.delay().secs(),
            channel: link.line.channel.impairments().map(impairments_json).unwrap_or_default(),
            queue,
            aqm: link.aqm(),
            parameters: parameters_of(link),
            without_effect: [&*link.queue.without_effect, &of_priority].concat(),
            classes: classes_json(&link.queue),
            token_bucket: link.line.server.as_token_bucket().map(|(burst, peak)| {
                let (peakrate_bps, mtu) = peak.unzip();
                json!({ "burst": burst, "mtu": mtu, "peakrate_bps": peakrate_bps.map(|rate| rate.0) })
            }),
            framing: link.line.server.framing().map(|Framing { overhead, mpu, layer }| {
                json!({ "linklayer": layer.word(), "mpu": mpu, "overhead": overhead })
            }),
        }
    }
}

impl<'a> Change<'a> {
    fn new(plan: &'a Plan, change: &crate::Change) -> Self {
        Self {
            at_s: change.at.secs(),
            channel: impairments_json(&change.channel.impairments),
            delay_s: change.channel.delay.map(Span::secs),
            link: link_name(plan, change.link),
            rate_bps: change.server.as_ref().map(|server| server.rate().0),
            varies_by: change
                .server
                .as_ref()
                .and_then(|server| server.varies_by().or(server.as_token_bucket().map(|_| "tbf"))),
            state: change.state.map(LinkState::word),
            flushes: match change.state {
                Some(LinkState::Down { flushes }) => Some(flushes),
                _ => None,
            },
        }
    }
}

/// Describe how packets find their way.
fn routing_json(plan: &Plan) -> Json {
    let [multipath, backup] = routing::words_of(&plan.routing);
    let names = |links: &[plan::LinkId]| links.iter().map(|&link| link_name(plan, link)).collect::<Vec<_>>();
    let backups = plan.routing.backups.iter();
    let backups: BTreeMap<_, _> =
        backups.map(|backup| (link_name(plan, backup.link), names(&backup.path))).collect();
    json!({ "backup": backup, "backups": backups, "multipath": multipath })
}

impl<'a> Probe<'a> {
    fn new(plan: &'a Plan) -> Self {
        let probe = &plan.probe;
        let interval = |span: Option<Span>| span.map(Span::secs);
        Self {
            cwnd_interval_s: interval(probe.cwnd_interval),
            delay_histogram: probe.delay_histogram,
            discipline_interval_s: interval(probe.discipline_interval),
            events: probe.events,
            events_from_s: probe.events_from.secs(),
            events_until_s: probe.events_until.map(Time::secs),
            flow_delay: probe.flow_delay,
            flow_interval_s: interval(probe.flow_interval),
            links: probe.links.iter().map(|&link| link_name(plan, link)).collect(),
            losses: probe.losses,
            packets: probe.packets,
            queue_interval_s: interval(probe.queue_interval),
        }
    }
}

pub(super) fn node_name(plan: &Plan, node: u32) -> &str {
    &plan.nodes[node as usize]
}

pub(super) fn link_name(plan: &Plan, link: u32) -> &str {
    &plan.links[link as usize].name
}

/// The settings of a channel by its keys; times have `_s` after the key and are in seconds.
fn impairments_json(impairments: &Impairments) -> Map<String, Json> {
    let setting = |(key, value): (&'static str, ParameterValue<'_>)| match value {
        ParameterValue::Time(span) => Some((format!("{key}_s"), span.secs().into())),
        ParameterValue::Number(x) => Some((key.to_owned(), x.into())),
        ParameterValue::Word(word) => Some((key.to_owned(), word.into())),
        ParameterValue::Numbers(list) => Some((key.to_owned(), list.into())),
        _ => None,
    };
    let all = impairments.settings().into_iter();
    all.map(|(key, settings)| {
        (key.to_owned(), Json::Object(settings.into_iter().filter_map(setting).collect()))
    })
    .collect()
}

fn parameters_of(link: &plan::Link) -> Map<String, Json> {
    let registry = aqmlab_aqm::Preset::find(link.aqm()).map_or(&[][..], |preset| preset.parameters());
    let value = |(key, value): &(_, _)| {
        let key = ToString::to_string(key);
        let kind = registry.iter().find(|p| p.key == key).map_or_else(|| kind_of(&key), |p| p.kind);
        let value = parameter_json(value, kind);
        (key, value)
    };
    link.queue.effective.iter().map(value).collect()
}

/// Check a scenario and return the answer as JSON: `ok`, `errors`, `warnings`, and `scenario` if it is valid. Every node,
/// link and flow is listed in it only if `whole`.
pub fn check_json(text: &str, file: &str, overrides: &[(String, String)], whole: bool) -> String {
    let checked = parse(text, file, overrides);
    let answer = match &checked {
        Ok(scenario) if whole => {
            let lists = Lists {
                scenario: scenario.description(),
                nodes: Lazy(|| scenario.nodes()),
                links: Lazy(|| scenario.links()),
                flows: Lazy(|| scenario.flows()),
            };
            serde_json::to_string(&Answer::valid(lists, &scenario.warnings))
        }
        Ok(scenario) => serde_json::to_string(&Answer::valid(scenario.description(), &scenario.warnings)),
        Err(errors) => {
            serde_json::to_string(&Answer::<()> { ok: false, errors, warnings: &[], scenario: None })
        }
    };
    answer.unwrap_or_default()
}

#[derive(Serialize)]
struct Answer<'a, T> {
    ok: bool,
    errors: &'a [Problem],
    warnings: &'a [Problem],
    #[serde(skip_serializing_if = "Option::is_none")]
    scenario: Option<T>,
}

impl<'a, T> Answer<'a, T> {
    fn valid(scenario: T, warnings: &'a [Problem]) -> Self {
        Self { ok: true, errors: &[], warnings, scenario: Some(scenario) }
    }
}

/// A scenario with its nodes, links and flows.
#[derive(Serialize)]
struct Lists<T, N, L, F> {
    #[serde(flatten)]
    scenario: T,
    nodes: N,
    links: L,
    flows: F,
}

/// A list whose entries are made as they are written: one of many flows takes much more memory as values than as text.
struct Lazy<F>(F);

impl<I: IntoIterator<Item: Serialize>, F: Fn() -> I> Serialize for Lazy<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}
