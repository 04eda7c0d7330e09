//! `[[flow]]`: groups of flows, and their expansion into single flows.

mod start;
mod transport;

use std::collections::BTreeMap;

use aqmlab_netsim::plan::{self, NodeId};
use aqmlab_transport::Parameter;
use aqmlab_units::{Span, Time};

use crate::network::{self, Builder, HostLink, Network, Side};
use crate::problem::Complaint;
use crate::queue::Queues;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::tcp;

use start::Starts;
use transport::GroupTransport;

pub(crate) use transport::UDP;

/// Most flows of a scenario.
pub(crate) const MAX_FLOWS: i64 = 1_000_000;

/// Flows that are alike.
#[derive(Debug)]
pub(crate) struct Group {
    pub name: String,
    pub count: usize,
    starts: Starts,
    stop: Option<Time>,
    transport: GroupTransport,
    ends: Ends,
}

#[derive(Debug)]
enum Ends {
    /// Two nodes of an explicit network.
    Nodes(NodeId, NodeId),
    /// The side of a dumbbell where they begin, and the links of their hosts.
    Dumbbell { from: Side, left: HostLink, right: HostLink },
    /// Routers of a chain, and the links of their hosts.
    Chain { routers: (NodeId, NodeId), from: HostLink, to: HostLink },
}

pub(crate) fn shape() -> Shape {
    let packet_size = Parameter::find(tcp::PACKET_SIZE).map(tcp::key).map_or(Kind::ANY_TIME, |k| k.kind);
    let host = || Kind::Table(network::host_override_shape());
    Shape::new(
        "A group of flows that are alike.",
        vec![
            Key::new("name", Kind::Name, "Name of the group; its flows are NAME, or NAME.0, NAME.1, ...")
                .required(),
            Key::new("count", Kind::Integer { min: 1, max: MAX_FLOWS }, "How many flows.").default("1"),
            Key::new("transport", transport::kind(), "A variant of TCP, or udp.").default("\"newreno\""),
            Key::new(
                "from",
                Kind::Label,
                "A node; in a dumbbell left or right; in a chain a router such as r1.",
            ),
            Key::new("to", Kind::Label, "As from."),
            Key::new("start", start::kind(), "When they start.").default("\"0s\""),
            Key::new("stop", Kind::ANY_TIME, "No new data, or no packet of UDP, from then on."),
            Key::new("size", Kind::Size, "TCP: how much to transfer; endless if absent."),
            Key::new("rate", Kind::Rate, "UDP: constant bit rate, headers included."),
            Key::new("packet_size", packet_size, "TCP: payload of a segment; UDP: the whole packet.")
                .default("\"1000B\""),
            Key::new("left", host(), "Dumbbell: what the left links of this group have instead."),
            Key::new("right", host(), "Dumbbell: what the right links of this group have instead."),
            Key::new("host_from", host(), "Chain: what the first host's links have instead."),
            Key::new("host_to", host(), "Chain: what the last host's links have instead."),
            Key::new("tcp", Kind::Table(tcp::shape()), "Options of TCP."),
        ],
    )
}

/// Reads all groups. Those that are not valid are reported and left out.
pub(crate) fn read(
    file: &Section<'_>,
    network: Option<&Network>,
    duration: Option<Span>,
    queues: &Queues<'_>,
) -> Vec<Group> {
    let sections = file.sections("flow");
    if sections.is_empty() && file.list("flow").is_some_and(<[_]>::is_empty) {
        file.error("flow", Complaint::new("is empty").allowed("at least one [[flow]]"));
    }
    check_names_and_counts(file, &sections);
    sections.iter().filter_map(|section| group(section, network, duration, queues)).collect()
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

fn group(
    section: &Section<'_>,
    network: Option<&Network>,
    duration: Option<Span>,
    queues: &Queues<'_>,
) -> Option<Group> {
    let count = if section.has("count") { section.integer("count") } else { Some(1) };
    // Lists are checked against the number of flows; without one there is nothing to say.
    let count = count.and_then(|n| usize::try_from(n).ok());
    let transport = transport::read(section, count);
    let starts = start::read(section, count);
    let stop = section.time("stop");
    if let (Some(starts), Some(count)) = (&starts, count) {
        starts.check(section, count, stop, duration);
    }
    // Where the transport is unknown, so is whether there must be a way back.
    let back_too = transport.as_ref().is_some_and(GroupTransport::needs_way_back);
    let ends = network.and_then(|network| ends(section, network, count, back_too, queues));
    let name = section.text("name")?.to_owned();
    Some(Group { name, count: count?, starts: starts?, stop, transport: transport?, ends: ends? })
}

fn ends(
    section: &Section<'_>,
    network: &Network,
    count: Option<usize>,
    back_too: bool,
    queues: &Queues<'_>,
) -> Option<Ends> {
    let not_here = |keys: [&str; 2], network: &str| {
        for key in keys {
            section.refuse(key, Complaint::new(format!("only a flow in a {network} has {key}")));
        }
    };
    if !matches!(network, Network::Dumbbell(_)) {
        not_here(Side::NAMES, "dumbbell");
    }
    if !matches!(network, Network::Chain(_)) {
        not_here(["host_from", "host_to"], "chain");
    }
    let host = |key: &str, base: &HostLink| match section.section(key) {
        Some(own) => base.with(&own, count?, queues),
        None => Some(base.clone()),
    };
    match network {
        Network::Explicit(explicit) => {
            explicit.ends(section, back_too).map(|(from, to)| Ends::Nodes(from, to))
        }
        Network::Dumbbell(dumbbell) => {
            let from = network::sides(section).map(|(from, _)| from);
            let (left, right) = (host("left", &dumbbell.left), host("right", &dumbbell.right));
            Some(Ends::Dumbbell { from: from?, left: left?, right: right? })
        }
        Network::Chain(chain) => {
            let routers = chain.ends(section);
            let (from, to) = (host("host_from", &chain.host), host("host_to", &chain.host));
            Some(Ends::Chain { routers: routers?, from: from?, to: to? })
        }
    }
}

impl Group {
    /// The name of a flow of the group.
    fn flow_name(&self, index: usize) -> String {
        if self.count == 1 { self.name.clone() } else { format!("{}.{index}", self.name) }
    }

    /// Adds the flows, and their hosts where they have hosts of their own.
    pub fn expand(&self, builder: &mut Builder<'_>, flows: &mut Vec<plan::Flow>) {
        for index in 0..self.count {
            let name = self.flow_name(index);
            let (from, to) = self.ends.of(builder, &name, index);
            let (start, stop) = (self.starts.of(index), self.stop);
            let transport = self.transport.of(index);
            flows.push(plan::Flow { name, group: self.name.clone(), from, to, start, stop, transport });
        }
    }
}

impl Ends {
    /// The nodes of a flow, after adding its hosts if it has its own.
    fn of(&self, builder: &mut Builder<'_>, flow: &str, index: usize) -> (NodeId, NodeId) {
        match self {
            Self::Nodes(from, to) => (*from, *to),
            Self::Dumbbell { from, left, right } => {
                let (a, b) = network::dumbbell_hosts(builder, flow, index, left, right);
                if *from == Side::Left { (a, b) } else { (b, a) }
            }
            Self::Chain { routers, from, to } => {
                network::chain_hosts(builder, flow, index, *routers, (from, to))
            }
        }
    }
}
