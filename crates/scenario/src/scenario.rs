use std::sync::{Arc, LazyLock};

use aqmlab_aqm::{LinkContext, Resolved};
use aqmlab_netsim::plan::{Link, LinkId, Plan};
use aqmlab_units::{Rate, Span};

use crate::change::Change;
use crate::flow::{Flows, Group};
use crate::live::{Live, LiveGroup};
use crate::network::{Builder, LinkNames, Network};
use crate::problem::{Complaint, Problem, Report, is_disruptive};
use crate::queue::Queues;
use crate::run::Run;
use crate::section::{self, Section};
use crate::shape::{Key, Kind, Shape};
use crate::tree::{Place, Table, Value};
use crate::{
    change, extent, flow, live, marker, network, normal, overrides, probe, queue, routing, run, tree,
};

/// The one format there is.
pub const FORMAT: i64 = 1;

/// Most flows of a file with errors that are still expanded.
const EXPANDED_DESPITE_ERRORS: usize = 10_000;

/// Longest name in bytes: of a scenario, a flow, a link, a queue. Names become part of names of files and folders, which
/// have 255 bytes at most.
pub(crate) const LONGEST_NAME: usize = 120;

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name; the name of the file without its ending if it gives none.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The seeds to run it with.
    pub seeds: Vec<u64>,
    /// The plan to simulate.
    pub plan: Plan,
    /// The changes of links during the run, in order of time; they are part of the links of the plan.
    pub changes: Vec<Change>,
    /// The names of its queues.
    pub queue_names: Vec<String>,
    /// The number of the queue of each link of the plan.
    pub queue_of: Vec<u32>,
    /// How a live run of it is made; the simulator does not read it.
    pub live: Live,
    /// Warnings.
    pub warnings: Vec<Problem>,
    /// The input as canonical TOML, overrides included.
    pub normalized: String,
    /// Hash of `normalized`, 32 hexadecimal digits.
    pub hash: String,
    /// The input that it was made of.
    pub(crate) input: Input,
}

/// The input of a scenario, with the places of everything in it.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    file: String,
    text: String,
    /// The table of the file, overrides applied.
    pub root: Table,
    /// Comments of the normalized text that tell versions of plugins apart.
    plugins: String,
    /// Warnings that do not depend on the kind of run.
    noted: Vec<(Place, Problem)>,
}

/// The shape of a whole file.
pub(crate) static SHAPE: LazyLock<Arc<Shape>> = LazyLock::new(|| {
    let mut keys = vec![
        Key::new("format", Kind::Integer { min: FORMAT, max: FORMAT }, "Version of this format.").required(),
        Key::new("name", Kind::Text, "Name of the scenario; that of the file if absent."),
        Key::new("description", Kind::Text, "What it is about."),
        Key::new("run", Kind::Table(run::shape().into()), "How long and how often to run.").required(),
    ];
    keys.extend(network::keys());
    keys.push(Key::new(
        "queue",
        Kind::Map(Box::new(Kind::Queue)),
        "Queues by name; default is a drop-tail of 1000p.",
    ));
    let markers = Kind::Map(Box::new(Kind::Table(marker::shape().into())));
    keys.extend([
        Key::new("flow", Kind::Tables("flow", flow::shape().into()), "The traffic.").required(),
        Key::new("marker", markers, "Markers by name."),
        Key::new(
            "change",
            Kind::Tables("change", change::shape().into()),
            "Links that change during the run.",
        ),
        Key::new("routing", Kind::Table(routing::shape().into()), "How packets find their way."),
        Key::new(
            "backup",
            Kind::Tables("backup", routing::backup_shape().into()),
            "Ways around links that are down.",
        ),
        Key::new("probe", Kind::Table(probe::shape().into()), "What to record."),
        Key::new("live", Kind::Table(live::shape().into()), "How a live run is made."),
    ]);
    Shape::new("A scenario of aqmlab.", keys).into()
});

impl Scenario {
    /// The name of the queue before a link.
    pub fn queue(&self, link: LinkId) -> &str {
        &self.queue_names[self.queue_of[link as usize] as usize]
    }

    /// Return the hash with `seeds = 1`: scenarios that differ only in their list of seeds have the same.
    pub fn run_hash(&self) -> String {
        let mut root = self.input.root.clone();
        let one = ("run.seeds".to_owned(), "1".to_owned());
        overrides::apply(&mut root, &[one], &self.report());
        normal::hash(&(normal::text(&root) + &self.input.plugins))
    }

    /// Draw what a live run with this seed draws, and pass it with its groups and the file to `check`. Return the plan and the
    /// groups with the warnings that apply to a live run.
    ///
    /// # Errors
    /// Return the errors that were reported.
    pub(crate) fn drawn_live(&self, seed: u64) -> Result<(Plan, Vec<LiveGroup>, Vec<Problem>), Vec<Problem>> {
        let report = self.report();
        let plan = self.plan.drawn(seed);
        let groups = live::groups(&plan, self.live.link);
        live::check(&Section::new(&self.input.root, &SHAPE, &report), &plan, &self.live, &groups);
        let (errors, warnings) = report.finish();
        if errors.is_empty() { Ok((plan, groups, warnings)) } else { Err(errors) }
    }

    /// Return a report for further checks.
    fn report(&self) -> Report<'_> {
        let Input { file, text, noted, .. } = &self.input;
        Report::with(file, text, noted.clone())
    }

    /// The links, each with the name of the queue before it.
    pub fn links_with_queues(&self) -> impl Iterator<Item = (&Link, &str)> {
        self.plan.links.iter().zip(0..).map(|(link, id)| (link, self.queue(id)))
    }
}

/// Reads and checks a scenario: the text of a file, its name for messages, and overrides as (path, value).
///
/// # Errors
/// Return all errors, in the order of the file, overrides last.
pub fn parse(text: &str, file: &str, overrides: &[(String, String)]) -> Result<Scenario, Vec<Problem>> {
    let report = Report::new(file, text);
    let scenario = read(text, file, overrides, &report);
    let (errors, warnings) = report.finish();
    match scenario {
        Some(scenario) if errors.is_empty() => Ok(Scenario { warnings, ..scenario }),
        _ => Err(errors),
    }
}

/// Read a scenario, whose warnings are in the report.
fn read(text: &str, file: &str, overrides: &[(String, String)], report: &Report<'_>) -> Option<Scenario> {
    let mut root = tree::read(text, report)?;
    overrides::apply(&mut root, overrides, report);
    check_format(&root, report)?;
    let node = tree::Node { value: Value::Table(root), place: Place::File(0) };
    section::check(&node, "", &Kind::Table(SHAPE.clone()), report);
    let root = node.value.as_table()?;
    let section = Section::new(root, &SHAPE, report);

    let queues = Queues::read(&section);
    let run = section.section("run").and_then(|s| run::read(&s));
    let (plan, changes, queue_of, live) = plan(&section, run.as_ref(), &queues);
    queues.finish();

    // Two versions of a plugin are two scenarios.
    let versions = queues.definitions().map(|plugin| format!("\n# {} {}\n", plugin.name, plugin.digest));
    let plugins: String = versions.collect();
    let normalized = normal::text(root) + &plugins;
    let name = section.text("name").map_or_else(|| stem(file), str::to_owned);
    check_name(&section, &name);
    let (seeds, plan) = (run?.seeds, plan?);
    if report.errors() > 0 {
        return None;
    }
    let noted = report.found();
    section.sections("flow").iter().for_each(live::warn_of_program);
    let description = section.text("description").unwrap_or_default().to_owned();
    let queue_names = queues.names().map(str::to_owned).collect();
    let Value::Table(root) = node.value else { return None };
    Some(Scenario {
        name,
        description,
        seeds,
        plan,
        changes,
        queue_names,
        queue_of,
        live,
        warnings: Vec::new(),
        hash: normal::hash(&normalized),
        normalized,
        input: Input { file: file.to_owned(), text: text.to_owned(), root, plugins, noted },
    })
}

/// Check the format; nothing else is reported for a file of another format.
fn check_format(root: &Table, report: &Report<'_>) -> Option<()> {
    let entry = root.get("format");
    if entry.is_none_or(|e| e.node.value == Value::Integer(FORMAT)) {
        return Some(());
    }
    let complaint = Complaint::new("this format is not supported").allowed(format!("{FORMAT}"));
    report.error(entry?.node.place, "format", complaint);
    None
}

/// The plan, the changes of its links, the number of the queue of each link, and how a live run is made.
type Planned = (Option<Plan>, Vec<Change>, Vec<u32>, Live);

fn plan(file: &Section<'_>, run: Option<&Run>, queues: &Queues<'_>) -> Planned {
    let before = file.report.errors();
    let network = network::read(file, queues);
    let duration = run.map(|r| r.duration);
    let groups = flow::read(file, network.as_ref(), duration, queues);
    let mut builder = Builder::new(queues);
    let mut flows = Flows::default();
    // Do not expand a scenario with errors: the result would be wrong, or needlessly large.
    let sections = file.sections("flow");
    let complete = file.report.errors() == before && groups.len() == sections.len();
    let count: usize = groups.iter().map(|group| group.count).sum();
    // Names that a small network has are still looked up, so that as many errors as possible are found at once.
    let worthwhile = file.report.errors() == 0 || count <= EXPANDED_DESPITE_ERRORS;
    let complete = complete && worthwhile;
    if worthwhile
        && file.report.errors() == before
        && let Some(network) = &network
    {
        expand(network, &groups, &mut builder, &mut flows);
    }
    let Flows { flows, pages, hosts, translations, calls } = flows;
    let links = LinkNames::new(network.as_ref(), &builder, complete);
    let group_names = sections.iter().filter_map(|s| s.text("name")).collect();
    let context = marker::Context { links: &links, groups: group_names, flows: &flows };
    let markers = marker::read(file, &context);
    let pings = flow::read_pings(&sections, &links, &flows);
    let changes = change::read(file, &links, duration);
    let routing = routing::read(file, &links, &builder);
    let mut probe = probe::read(file, network.as_ref(), &builder, &links, flows.len(), duration);
    probe.packet_delays = calls;
    let live = live::read(file, network.as_ref(), &builder.links, &links);
    change::apply(&changes, &mut builder);
    let (duration, warmup) = run.map_or((Span::ZERO, Span::ZERO), |r| (r.duration, r.warmup));
    let Builder { nodes, links, queue_of, .. } = builder;
    let plan = run.is_some().then_some(Plan {
        nodes: nodes.into(),
        links: links.into(),
        flows: flows.into(),
        hosts,
        pages,
        markers,
        pings,
        translations,
        routing,
        duration,
        warmup,
        probe,
    });
    if complete && let Some(plan) = &plan {
        flow::check_ttl(&sections, plan);
        let queue_name = |link: LinkId| {
            queues.names().nth(queue_of[link as usize] as usize).unwrap_or_default().to_owned()
        };
        routing::check(file, plan, queue_name);
        flow::check_pings(file, &sections, plan, queue_name);
        flow::warn_without_priority(file, plan, queue_name);
        if let Some(network) = &network {
            flow::check_loads(&sections, network, plan, queues);
        }
        if file.report.errors() == before {
            extent::warn(file, plan);
        }
    }
    (plan, changes, queue_of, live)
}

fn expand(network: &Network, groups: &[Group<'_>], builder: &mut Builder<'_>, flows: &mut Flows) {
    network.expand(builder);
    for group in groups {
        group.expand(builder, flows);
    }
}

/// Reports a scenario's name, its own or that of the file, that is too long or would not be shown as it is.
fn check_name(section: &Section<'_>, name: &str) {
    let of = if section.has("name") { "" } else { ", which is the file's," };
    let complaint = if name.len() > LONGEST_NAME {
        Complaint::new(format!("the name{of} has {} bytes", name.len()))
            .allowed(format!("at most {LONGEST_NAME} bytes"))
    } else if let Some(c) = name.chars().find(|&c| is_disruptive(c)) {
        Complaint::new(format!("the name{of} has the control character {c:?}"))
            .allowed("printable characters")
    } else {
        return;
    };
    section.report.error(section.place_of("name"), section.key("name"), complaint);
}

/// The name of a file without folders and ending.
fn stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => name.to_owned(),
    }
}

/// Return p_b of a queue: the body of a `[queue.NAME]` table, as JSON or TOML, and averages in packets.
/// Automatic parameters are those for a link of 10 Mbit/s and 10 ms. A queue without a curve
/// (drop-tail) drops nothing early: its p_b is 0.
///
/// # Errors
/// Return all errors of the queue.
pub fn curve(queue_body: &str, averages: &[f64]) -> Result<Vec<f64>, Vec<Problem>> {
    let resolved = queue_before(queue_body, queue::NOMINAL)?;
    let p_b = |&x: &f64| resolved.curve().map_or(0.0, |curve| curve.p_b(x));
    Ok(averages.iter().map(p_b).collect())
}

/// A queue, given as the body of a `[queue.NAME]` table (TOML, or JSON), before a link that carries `packets_per_s`
/// packets of mean size, and that size in bytes.
///
/// # Errors
/// Return all errors of the queue.
pub fn queue_for_rate(queue_body: &str, packets_per_s: f64) -> Result<(Resolved, u32), Vec<Problem>> {
    let size = queue_before(queue_body, queue::NOMINAL)?.mean_packet().unwrap_or(1000);
    let rate = Rate((packets_per_s * 8.0 * f64::from(size)).max(1.0) as u64);
    Ok((queue_before(queue_body, LinkContext { rate, delay: Span::ZERO })?, size))
}

/// A queue, given as the body of a `[queue.NAME]` table (TOML, or JSON), before this link.
///
/// # Errors
/// Return all errors of the queue.
pub fn queue_for_link(queue_body: &str, link: LinkContext) -> Result<Resolved, Vec<Problem>> {
    queue_before(queue_body, link)
}

fn queue_before(queue_body: &str, link: LinkContext) -> Result<Resolved, Vec<Problem>> {
    let report = Report::new("queue", queue_body);
    let resolved = tree::read_json_or_toml(queue_body, &report).and_then(|table| {
        let node = tree::Node { value: Value::Table(table), place: Place::File(0) };
        section::check(&node, "", &Kind::Queue, &report);
        queue::resolve_one(node.value.as_table()?, link, &report)
    });
    let (errors, _) = report.finish();
    match resolved {
        Some(resolved) if errors.is_empty() => Ok(resolved),
        _ => Err(errors),
    }
}
