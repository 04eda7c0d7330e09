//! `[[flow]]`: groups of flows, and their expansion into single flows.

mod active;
mod application;
mod arrivals;
mod ends;
mod load;
mod pattern;
mod pings;
mod priority;
mod scream;
mod start;
mod transport;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aqmlab_aqm::LEVELS;
use aqmlab_netsim::{Detours, Routes, plan};
use aqmlab_transport::scream::NAME as SCREAM;
use aqmlab_units::{Span, Time};

use crate::network::{self, Builder, Network};
use crate::problem::Complaint;
use crate::queue::Queues;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::{dscp, live, tcp};

use active::Periods;
use application::{Application, Page};
use ends::{Ends, Place};
use load::{Load, Trunks};
use start::Starts;
use transport::GroupTransport;

pub use application::APPLICATIONS;
pub(crate) use pings::{check as check_pings, read as read_pings};
pub(crate) use priority::{any as any_priority, warn_without as warn_without_priority};
pub(crate) use transport::UDP;

/// Most flows of a scenario.
pub(crate) const MAX_FLOWS: i64 = 1_000_000;

/// Flows that are alike.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    pub name: Arc<str>,
    pub count: usize,
    times: Times,
    dscp: u8,
    /// The priority level, 0 without priority.
    priority: u8,
    /// Time to live with which both ends send.
    ttl: u8,
    acks_share_label: bool,
    /// Names of the hosts at its ends, where the file has any.
    hosts: [Option<plan::Name>; 2],
    /// Names of the translators whose addresses replace theirs.
    translated: [Option<plan::Name>; 2],
    transport: GroupTransport,
    application: Option<Application>,
    ends: Ends<'a>,
}

/// The flows of a plan, and what they make together.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    pub flows: Vec<plan::Flow>,
    pub pages: Vec<plan::Page>,
    /// Names of hosts.
    pub hosts: Vec<plan::Name>,
    pub translations: Vec<plan::Translation>,
    /// Numbers of the flows that are calls.
    pub calls: Vec<u32>,
}

impl Flows {
    /// Return the number of a host, from 1.
    fn host(&mut self, name: &plan::Name) -> u16 {
        let known = self.hosts.iter().position(|host| host == name);
        let place = known.unwrap_or_else(|| {
            self.hosts.push(name.clone());
            self.hosts.len() - 1
        });
        u16::try_from(place + 1).unwrap_or(u16::MAX)
    }

    /// Return the numbers of the hosts at the ends of flows; 0 without a name.
    fn ends(&mut self, names: &[Option<plan::Name>; 2]) -> [u16; 2] {
        names.each_ref().map(|name| name.as_ref().map_or(0, |name| self.host(name)))
    }
}

pub(crate) fn shape() -> Shape {
    let host = || Kind::Table(network::host_override_shape().into());
    Shape::new(
        "A group of flows that are alike.",
        vec![
            Key::new("name", Kind::Name, "Name of the group; its flows are NAME, or NAME.0, NAME.1, ...")
                .required(),
            Key::new(
                "count",
                Kind::Integer { min: 1, max: MAX_FLOWS },
                "How many flows; with a Poisson process at most so many, as many as arrive if absent.",
            )
            .default("1"),
            Key::new("transport", transport::kind(), "A variant of TCP in ns-2's profile, tcp in the RFC profile, udp, or scream.").default("\"newreno\""),
            Key::new(
                "from",
                Kind::Label,
                "A node; in a dumbbell left or right; in a chain a router such as r1; in a bus, flower or torus \
                 each (flow i of the file, from 0, at host (i mod hosts) + 1), random, or a host such as h1.",
            ),
            Key::new("to", Kind::Label, "As from, each left out; random is a host at another router."),
            Key::new("start", start::kind(), "When they start.").default("\"0s\""),
            Key::new("stop", Kind::ANY_TIME, "No new data, no packet of UDP, or no frame of media, from then on."),
            Key::new(
                "active",
                active::kind(),
                "In place of start and stop: periods in which there is data to send, or pairs [time, count] from which on so many \
                 flows are active.",
            ),
            Key::new("size", transport::size_kind(), "TCP: how much to transfer; endless if absent."),
            Key::new(
                "rate",
                Kind::Rate,
                "UDP: bit rate while it sends, headers included; the mean where it is random.",
            ),
            Key::new(arrivals::KEY, Kind::Text, arrivals::DOC),
            Key::new("pattern", pattern::kind(), "UDP: when packets leave.").default("\"constant\""),
            Key::new(
                tcp::PACKET_SIZE,
                transport::packet_kind(),
                "TCP: payload of a segment; UDP: the whole packet, or a distribution of its length.",
            )
            .default("\"1000B\""),
            Key::new("dscp", Kind::Dscp, "Code point of the data packets.").default("\"BE\""),
            Key::new(
                "priority",
                Kind::Any(vec![Kind::Flag, Kind::Integer { min: 1, max: LEVELS as i64 }]),
                "PC-RED: whether these are high-priority flows, or their level; true is level 1.",
            )
            .default("false"),
            Key::new(
                "ttl",
                Kind::Integer { min: 1, max: 255 },
                "DDRED: time to live with which both ends send (TTL_i); each router lowers it by one.",
            )
            .default("64"),
            Key::new(
                "acks_share_label",
                Kind::Flag,
                "TCP: acknowledgements carry the flow label of the data.",
            )
            .default("false"),
            Key::new(
                "source_host",
                Kind::Label,
                "CAKE: the host that data packets come from, for flows of several groups that share one; the node if absent.",
            ),
            Key::new("destination_host", Kind::Label, "CAKE: the host that data packets go to; the node if absent."),
            Key::new(
                "source_nat",
                Kind::Label,
                "CAKE: the translator whose address replaces that of the source host in queues with nat = false.",
            ),
            Key::new("destination_nat", Kind::Label, "CAKE: as source_nat, of the destination host."),
            Key::new("left", host(), "Dumbbell: overrides for the left links of this group."),
            Key::new("right", host(), "Dumbbell: overrides for the right links of this group."),
            Key::new("host_from", host(), "Chain: overrides for the first host's links."),
            Key::new("host_to", host(), "Chain: overrides for the last host's links."),
            Key::new("source", host(), "Diffserv: overrides for the sources' links of this group."),
            Key::new("tcp", Kind::Tcp, "Options of TCP, by its profile."),
            Key::new(SCREAM, Kind::Table(scream::shape().into()), "Options of SCReAM."),
            pings::key(),
        ]
        .into_iter()
        .chain(application::keys())
        .chain(live::program_keys())
        .collect(),
    )
}

/// Reads all groups. Those that are not valid are reported and left out.
pub(crate) fn read<'a>(
    file: &Section<'_>,
    network: Option<&'a Network>,
    duration: Option<Span>,
    queues: &Queues<'_>,
) -> Vec<Group<'a>> {
    let sections = file.sections("flow");
    if sections.is_empty() && file.list("flow").is_some_and(<[_]>::is_empty) {
        file.error("flow", Complaint::new("is empty").allowed("at least one [[flow]]"));
    }
    check_names_and_counts(file, &sections);
    let trunks = Trunks::new(network.filter(|_| sections.iter().any(start::is_process)), queues);
    let mut first = Some(0);
    let mut groups = Vec::new();
    for section in &sections {
        let follows = start::is_process(section) || active::is_schedule(section);
        let count = if section.has("count") { section.integer("count") } else { (!follows).then_some(1) };
        // Lists are checked against the number of flows; without one they are not checked.
        let count = count.and_then(|n| usize::try_from(n).ok());
        let application = application::read(section);
        let each = application.as_ref().and_then(Option::as_ref).map_or(1, Application::flows);
        let of = application.as_ref().and_then(Option::as_ref);
        let transport = application.as_ref().and_then(|_| transport::read(section, count, of));
        let times =
            Times::read(section, count, duration, Load { trunks: &trunks, transport: transport.as_ref() });
        // Flows beyond the largest number of arrivals would never start.
        let count = count.into_iter().chain(times.as_ref().and_then(Times::count)).min();
        if let Some(application) = of {
            application::check_memory(section, application, count, duration);
        }
        let place = Place { first, count, each };
        groups.extend(
            application.and_then(|of| group(section, network, place, of, (transport, times), queues)),
        );
        first = first.zip(count).map(|(first, count)| first + count * each);
    }
    groups
}

fn check_names_and_counts(file: &Section<'_>, sections: &[Section<'_>]) {
    let mut names = BTreeMap::new();
    let mut total = 0;
    for (i, section) in sections.iter().enumerate() {
        if let Some(name) = section.text("name") {
            let (first, place) = *names.entry(name).or_insert((i, section.place));
            if first != i {
                let line = file.report.line_of(place);
                section.error(
                    "name",
                    Complaint::new(format!("there is a flow of this name already, on {line}")),
                );
            }
        }
        let count = section.integer("count").unwrap_or(1);
        total += count;
        if total > MAX_FLOWS && total - count <= MAX_FLOWS {
            let complaint = Complaint::new(format!("makes {total} flows in all"));
            section.error("count", complaint.allowed(format!("at most {MAX_FLOWS} in all groups together")));
        }
    }
}

fn group<'a>(
    section: &Section<'_>,
    network: Option<&'a Network>,
    place: Place,
    application: Option<Application>,
    (transport, times): (Option<GroupTransport>, Option<Times>),
    queues: &Queues<'_>,
) -> Option<Group<'a>> {
    let count = place.count;
    check_number(section, place);
    // Where the transport is unknown, so is whether there must be a way back.
    let is_call = matches!(application, Some(Application::Call { .. }));
    let back_too =
        is_call || section.has(pings::KEY) || transport.as_ref().is_some_and(GroupTransport::needs_way_back);
    let ends = network.and_then(|network| ends::read(section, network, place, back_too, queues));
    if is_call && ends.as_ref().is_some_and(Ends::are_drawn) {
        let complaint = Complaint::new("the two directions of a call would have other ends each");
        section.error("from", complaint.allowed("ends that are not random"));
        return None;
    }
    let name = section.text("name")?.into();
    Some(Group {
        name,
        count: count?,
        times: times?,
        dscp: section.dscp("dscp").unwrap_or(dscp::BE),
        priority: priority(section),
        ttl: section.integer("ttl").and_then(|ttl| u8::try_from(ttl).ok()).unwrap_or(plan::TTL),
        acks_share_label: section.flag("acks_share_label").unwrap_or(false),
        hosts: ["source_host", "destination_host"].map(|key| section.text(key).map(plan::Name::from)),
        translated: ["source_nat", "destination_nat"].map(|key| section.text(key).map(plan::Name::from)),
        transport: transport?,
        application,
        ends: ends?,
    })
}

/// Report groups whose packets no router would deliver: a router that lowers the time to live to 0 drops the packet.
/// The ends of flows that are drawn in every run are not known here.
pub(crate) fn check_ttl(sections: &[Section<'_>], plan: &plan::Plan) {
    let given: Vec<_> = sections.iter().filter(|section| section.has("ttl")).collect();
    if given.is_empty() {
        return;
    }
    let mut routes = Routes::new(plan);
    let mut detours = Detours::new(plan);
    for section in given {
        let name = section.text("name");
        let of_group = plan.flows.iter().filter(|flow| name == Some(&*flow.group));
        let ends = of_group.filter_map(|flow| match flow.ends {
            plan::Ends::At(from, to) => Some([(from, to), (to, from)]),
            plan::Ends::Drawn { .. } => None,
        });
        let pairs: BTreeSet<_> = ends.flatten().collect();
        let paths = pairs.into_iter().filter_map(|(from, to)| routes.path(from, to));
        let longest = paths.map(|path| match &mut detours {
            Some(detours) => detours.longest(&path),
            None => path.len(),
        });
        let longest = longest.max();
        let routers = longest.unwrap_or(0).saturating_sub(1);
        if section.integer("ttl").is_some_and(|ttl| ttl <= routers as i64) {
            let complaint =
                Complaint::new(format!("the longest way of its packets passes {routers} routers"));
            section.error("ttl", complaint.allowed(format!("{} to 255", routers + 1)));
        }
    }
}

/// Report loads of links that the packets of the group do not cross.
pub(crate) fn check_loads(
    sections: &[Section<'_>],
    network: &Network,
    plan: &plan::Plan,
    queues: &Queues<'_>,
) {
    let starts = sections.iter().filter_map(|section| Some((section, section.section("start")?)));
    let mut loads = starts.filter(|(_, start)| start.has("load")).peekable();
    if loads.peek().is_none() {
        return;
    }
    let trunks = Trunks::new(Some(network), queues);
    let mut routes = Routes::new(plan);
    for (section, start) in loads {
        let name = section.text("name");
        let Some(flow) = plan.flows.iter().find(|flow| name == Some(&*flow.group)) else { continue };
        let (Some(link), plan::Ends::At(from, to)) = (trunks.link(&start), &flow.ends) else { continue };
        if routes.path(*from, *to).is_some_and(|path| !path.contains(&link)) {
            let link = &plan.links[link as usize].name;
            let complaint = Complaint::new(format!("flow {} does not cross link {link}", flow.name));
            start.error("load", complaint.allowed("link = the name of a link that its data crosses"));
        }
    }
}

/// The priority level of a group.
fn priority(section: &Section<'_>) -> u8 {
    let level = section.integer("priority").and_then(|level| u8::try_from(level).ok());
    level.unwrap_or_else(|| u8::from(section.flag("priority").unwrap_or(false)))
}

/// When the flows of a group have something to send.
#[derive(Debug)]
enum Times {
    /// From a start on, to an end that all have.
    Starts(Starts, Option<Time>),
    /// All in the same periods.
    Periods(Periods),
    /// Each in its own.
    Schedule(Vec<Periods>),
}

impl Times {
    fn read(
        section: &Section<'_>,
        count: Option<usize>,
        duration: Option<Span>,
        load: Load<'_>,
    ) -> Option<Self> {
        if active::is_schedule(section) {
            return active::read_schedule(section, duration).map(Self::Schedule);
        }
        if section.has("active") {
            return active::read(section, duration).map(Self::Periods);
        }
        let (starts, stop) = (start::read(section, count, duration, load), section.time("stop"));
        if let (Some(starts), Some(count)) = (&starts, count.or(starts.as_ref().and_then(Starts::count))) {
            starts.check(section, count, stop, duration);
        }
        starts.map(|starts| Self::Starts(starts, stop))
    }

    /// How many flows there are, where the times say it.
    fn count(&self) -> Option<usize> {
        match self {
            Self::Starts(starts, _) => starts.count(),
            Self::Periods(_) => None,
            Self::Schedule(flows) => Some(flows.len()),
        }
    }

    /// The start of the flow of this number in the group, the end, and further periods.
    fn of(&self, index: usize) -> (plan::Start, Option<Time>, Vec<(Time, Time)>) {
        let periods = match self {
            Self::Starts(starts, stop) => return (starts.of(index), *stop, Vec::new()),
            Self::Periods(periods) => periods,
            Self::Schedule(flows) => &flows[index],
        };
        let (begin, end) = periods.first().copied().unwrap_or((Time::ZERO, None));
        let again = periods.iter().skip(1).map(|(begin, end)| (*begin, end.unwrap_or(Time::NEVER)));
        (plan::Start::At(begin), end, again.collect())
    }
}

/// Reports a group that makes too many flows, each of which may be several.
fn check_number(section: &Section<'_>, place: Place) {
    let flows = place.first.unwrap_or(0) + place.count.unwrap_or(1) * place.each;
    let is_given = section.has("count") || (!start::is_process(section) && !active::is_schedule(section));
    if (place.each > 1 || !is_given) && flows > MAX_FLOWS as usize {
        let complaint = Complaint::new(format!("makes {flows} flows in all"));
        let key = match is_given {
            true => "count",
            false if section.has("active") => "active",
            false => "start",
        };
        section.error(key, complaint.allowed(format!("at most {MAX_FLOWS} in all groups together")));
    }
}

impl Group<'_> {
    /// The name of a flow of the group, or of what several flows make.
    fn name_of(&self, index: usize) -> String {
        if self.count == 1 { self.name.to_string() } else { format!("{}.{index}", self.name) }
    }

    /// Adds the flows, and their hosts where they have hosts of their own.
    pub fn expand(&self, builder: &mut Builder<'_>, all: &mut Flows) {
        let (hosts, [source, destination]) = (all.ends(&self.hosts), all.ends(&self.translated));
        let shared = self.transport.is_shared().then(|| Arc::new(self.transport.of(0)));
        for index in 0..self.count {
            let transport = shared.clone().unwrap_or_else(|| Arc::new(self.transport.of(index)));
            let flow = |name: String, ends| self.flow(name, index, (ends, hosts), transport.clone());
            let name = self.name_of(index);
            let first = all.flows.len();
            let ends = self.ends.of(builder, &name, index, first);
            match &self.application {
                None | Some(Application::Video(_)) => all.flows.push(flow(name, ends)),
                Some(Application::Page(page)) => {
                    let one = |k| flow(format!("{name}.{k}"), ends.clone());
                    all.flows.extend((0..page.connections).map(one));
                    all.pages.push(self.page(page, name, index, first as u32));
                }
                Some(Application::Call { .. }) => {
                    all.flows.push(flow(format!("{name}.there"), ends.clone()));
                    let mut back = flow(format!("{name}.back"), turned(ends));
                    back.hosts.reverse();
                    all.flows.push(back);
                    all.calls.extend([first as u32, first as u32 + 1]);
                }
            }
            if source.max(destination) > 0 {
                let is_call = matches!(self.application, Some(Application::Call { .. }));
                let last = all.flows.len() as u32 - 1;
                all.translations.extend((first as u32..=last).map(|flow| {
                    let is_back = is_call && flow == last;
                    let hosts = if is_back { [destination, source] } else { [source, destination] };
                    plan::Translation { flow, hosts }
                }));
            }
        }
    }

    fn page(&self, page: &Page, name: String, index: usize, first: u32) -> plan::Page {
        let Page { objects, connections, dispatch, .. } = *page;
        let (start, size) = (self.times.of(index).0, page.size.clone());
        plan::Page { name, first, connections, dispatch, start, objects, size }
    }

    fn flow(
        &self,
        name: String,
        index: usize,
        (ends, hosts): (plan::Ends, [u16; 2]),
        transport: Arc<plan::Transport>,
    ) -> plan::Flow {
        let (start, stop, again) = self.times.of(index);
        plan::Flow {
            name: name.into(),
            group: Arc::clone(&self.name),
            ends,
            start,
            stop,
            again,
            dscp: self.dscp,
            class: self.priority,
            ttl: self.ttl,
            acks_share_label: self.acks_share_label,
            hosts,
            transport,
        }
    }
}

/// Return the reverse direction.
fn turned(ends: plan::Ends) -> plan::Ends {
    match ends {
        plan::Ends::At(from, to) => plan::Ends::At(to, from),
        plan::Ends::Drawn { from, to, hosts } => plan::Ends::Drawn { from: to, to: from, hosts },
    }
}
