//! Networks with hosts that are there without flows: h1, h2, ... at the routers r1, r2, ... in turn.

use std::sync::Arc;

use aqmlab_netsim::plan::NodeId;

use crate::nearest::nearest;
use crate::problem::Complaint;
use crate::queue::Queues;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

use super::host::{self, HostLink};
use super::{Builder, Trunk, trunk_shape};

/// Most routers of such a network.
pub(super) const MAX_ROUTERS: i64 = 10_000;
/// Most hosts of such a network.
const MAX_HOSTS: NodeId = 1_000_000;

/// Routers, the links between them, and hosts.
#[derive(Debug)]
pub(crate) struct Shared {
    pub routers: NodeId,
    /// Pairs of routers that have a link each way, by their numbers from 0.
    pub cables: Vec<(NodeId, NodeId, Trunk)>,
    hosts: NodeId,
    host: HostLink,
}

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The host of this number, from 0.
    Host(NodeId),
    /// The host in turn for the flow's number in the file.
    Each,
    /// Drawn in every run.
    Random,
}

/// The words allowed as an end instead of a host.
const EACH: &str = "each";
const RANDOM: &str = "random";

/// Return the shape of these networks: their own keys, then `hosts`, `link` and `host`.
pub(super) fn shape(doc: &'static str, own: Vec<Key>) -> Shape {
    let mut keys = own;
    let link = trunk_shape("The links between neighbours.");
    keys.extend([
        Key::new(
            "hosts",
            Kind::Integer { min: 1, max: i64::from(MAX_HOSTS) },
            "How many hosts each router has.",
        )
        .default("1"),
        Key::new("link", Kind::Table(link.into()), "The links \"r1->r2\", \"r2->r1\", and so on.").required(),
        Key::new(
            "host",
            Kind::Table(host::shape("The links of the hosts.").into()),
            "The links \"r1->h1\" and \"h1->r1\", and so on; host hK is at router ((K-1) mod routers) + 1.",
        )
        .required(),
    ]);
    Shape::new(doc, keys)
}

/// Reads `hosts` and `host` of a network with these routers and cables.
pub(super) fn read(
    section: &Section<'_>,
    queues: &Queues<'_>,
    routers: Option<NodeId>,
    cables: Option<Vec<(NodeId, NodeId, Trunk)>>,
) -> Option<Shared> {
    let host = section.section("host").and_then(|s| HostLink::read(&s, queues));
    let each = if section.has("hosts") { section.integer("hosts") } else { Some(1) };
    let (routers, each) = (routers?, NodeId::try_from(each?).ok()?);
    let hosts = u64::from(routers) * u64::from(each);
    if hosts > u64::from(MAX_HOSTS) {
        let complaint = Complaint::new(format!("makes {hosts} hosts in all"));
        section.error("hosts", complaint.allowed(format!("at most {MAX_HOSTS} in all")));
        return None;
    }
    Some(Shared { routers, cables: cables?, hosts: hosts as NodeId, host: host? })
}

impl Shared {
    /// Adds the routers, as nodes 0, 1, ..., the hosts after them, and all links.
    pub fn expand(&self, builder: &mut Builder<'_>) {
        for i in 1..=self.routers {
            builder.node(format!("r{i}"));
        }
        for (a, b, trunk) in &self.cables {
            let names = [format!("r{}->r{}", a + 1, b + 1), format!("r{}->r{}", b + 1, a + 1)];
            builder.trunk(names, (*a, *b), trunk);
        }
        for k in 0..self.hosts {
            let (router, node) = (self.router_of(k), builder.node(format!("h{}", k + 1)));
            let (host, router_name) = (k + 1, router + 1);
            let (line, uplink_line) = (self.host.line(0), self.host.uplink_line(0));
            let uplink_queue = self.host.uplink_queue();
            builder.link(format!("h{host}->r{router_name}"), (node, router), uplink_line, uplink_queue);
            builder.link(format!("r{router_name}->h{host}"), (router, node), line, self.host.queue);
        }
    }

    fn router_of(&self, host: NodeId) -> NodeId {
        host % self.routers
    }

    fn node(&self, host: NodeId) -> NodeId {
        self.routers + host
    }

    /// The node of an end for the flow of this number in the file; `None` if it is drawn.
    pub fn node_of(&self, end: End, flow: usize) -> Option<NodeId> {
        match end {
            End::Host(host) => Some(self.node(host)),
            End::Each => Some(self.node((flow % self.hosts as usize) as NodeId)),
            End::Random => None,
        }
    }

    /// All hosts, each with its router.
    pub fn hosts(&self) -> Arc<[(NodeId, NodeId)]> {
        (0..self.hosts).map(|k| (self.node(k), self.router_of(k))).collect()
    }

    /// Return the ends of a group of `count` flows, the first of which has number `first` in the file; report
    /// errors.
    pub fn ends(&self, flow: &Section<'_>, first: Option<usize>, count: Option<usize>) -> Option<(End, End)> {
        let (from, to) = (self.end(flow, "from", End::Each), self.end(flow, "to", End::Random));
        let (from, to) = (from?, to?);
        let meets = match (from, to) {
            (End::Host(a), End::Host(b)) => (a == b).then_some(0),
            (End::Each, End::Host(b)) => {
                // Flow first + i of the file is at host (first + i) mod hosts.
                let (hosts, first) = (self.hosts as usize, first?);
                Some((b as usize + hosts - first % hosts) % hosts).filter(|&i| count.is_some_and(|n| i < n))
            }
            _ => None,
        };
        let Some(index) = meets else { return Some((from, to)) };
        let which = match flow.text("name") {
            Some(name) if from == End::Each && count != Some(1) => format!("flow {name}.{index}"),
            _ => "the flow".into(),
        };
        flow.error(
            "to",
            Complaint::new(format!("{which} would end where it begins")).allowed("another host"),
        );
        None
    }

    fn end(&self, flow: &Section<'_>, key: &str, default: End) -> Option<End> {
        if !flow.has(key) {
            return Some(default);
        }
        let name = flow.text(key)?;
        match name {
            RANDOM => return Some(End::Random),
            EACH if key == "from" => return Some(End::Each),
            _ => {}
        }
        let number = name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<NodeId>().ok();
        let meant = number.filter(|n| (1..=self.hosts).contains(n));
        // Written exactly as this crate writes it: h1, not h01.
        let found = meant.filter(|n| format!("h{n}") == name);
        if found.is_none() {
            let (words, list): (&[&str], _) =
                if key == "from" { (&[EACH, RANDOM], "each, random") } else { (&[RANDOM], "random") };
            let near = meant.map(|n| format!("h{n}"));
            let near = near.or_else(|| nearest(name, words.iter().copied()).map(str::to_owned));
            let message = match name {
                EACH => "each is only where flows begin".to_owned(),
                _ => format!("unknown host {name:?}"),
            };
            let complaint = Complaint::new(message);
            flow.error(key, complaint.allowed(format!("{list}, or h1 to h{}", self.hosts)).suggest(near));
        }
        found.map(|n| End::Host(n - 1))
    }
}

/// The pairs of neighbours on a ring of these routers: each with the next, the last with the first. A ring of two has
/// one pair, a ring of one none.
pub(super) fn ring(routers: &[NodeId]) -> Vec<(NodeId, NodeId)> {
    let mut pairs: Vec<_> = routers.windows(2).map(|pair| (pair[0], pair[1])).collect();
    if routers.len() > 2 {
        pairs.push((routers[routers.len() - 1], routers[0]));
    }
    pairs
}
