use aqmlab_netsim::plan::NodeId;

use crate::problem::Complaint;
use crate::queue::Queues;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

use super::host::{self, HostLink};
use super::{Builder, Trunk, read_trunk, trunk_shape};

pub(super) const DOC: &str = "Routers r1, r2, ... in a row; every flow has a host of its own at the router where it begins, and where it ends.";

/// Most routers of a chain.
const MAX_ROUTERS: i64 = 10_000;

/// A row of routers and what hosts are connected by.
#[derive(Debug)]
pub(crate) struct Chain {
    routers: NodeId,
    link: Trunk,
    pub host: HostLink,
}

pub(super) fn shape() -> Shape {
    Shape::new(
        DOC,
        vec![
            Key::new("routers", Kind::Integer { min: 2, max: MAX_ROUTERS }, "How many routers there are.")
                .required(),
            Key::new(
                "link",
                Kind::Table(trunk_shape("The links between neighbours.").into()),
                "The links \"r1->r2\", \"r2->r1\", and so on.",
            )
            .required(),
            Key::new(
                "host",
                Kind::Table(host::shape("The links of the hosts.").into()),
                "The links between hosts and routers, both directions.",
            )
            .required(),
        ],
    )
}

pub(super) fn read(section: &Section<'_>, queues: &Queues<'_>) -> Option<Chain> {
    let routers = section.integer("routers").and_then(|n| NodeId::try_from(n).ok());
    let link = section.section("link").and_then(|s| read_trunk(&s, queues));
    let host = section.section("host").and_then(|s| HostLink::read(&s, queues));
    Some(Chain { routers: routers?, link: link?, host: host? })
}

impl Chain {
    /// Adds the routers, as nodes 0, 1, ..., and the links between them.
    pub fn expand(&self, builder: &mut Builder<'_>) {
        for i in 1..=self.routers {
            builder.node(format!("r{i}"));
        }
        for i in 1..self.routers {
            let names = [format!("r{i}->r{}", i + 1), format!("r{}->r{i}", i + 1)];
            builder.trunk(names, (i - 1, i), &self.link);
        }
    }

    /// Return the routers that a flow goes from and to; report errors.
    pub fn ends(&self, flow: &Section<'_>) -> Option<(NodeId, NodeId)> {
        let (from, to) = (self.router(flow, "from"), self.router(flow, "to"));
        let (from, to) = (from?, to?);
        if from == to {
            let complaint = Complaint::new("the flow would end where it begins");
            flow.error("to", complaint.allowed("another router"));
            return None;
        }
        Some((from, to))
    }

    fn router(&self, flow: &Section<'_>, key: &str) -> Option<NodeId> {
        let allowed = format!("r1 to r{}", self.routers);
        if !flow.has(key) {
            flow.missing(key, allowed);
            return None;
        }
        let name = flow.text(key)?;
        let number = name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<NodeId>().ok();
        let meant = number.filter(|n| (1..=self.routers).contains(n));
        // Written exactly as this crate writes it: r1, not r01.
        let found = meant.filter(|n| format!("r{n}") == name);
        if found.is_none() {
            let near = meant.map(|n| format!("r{n}"));
            let complaint = Complaint::new(format!("unknown router {name:?}"));
            flow.error(key, complaint.allowed(allowed).suggest(near));
        }
        found.map(|n| n - 1)
    }
}

/// Adds the hosts of a flow, at its first and its last router.
pub(crate) fn hosts(
    builder: &mut Builder<'_>,
    flow: &str,
    index: usize,
    (first, last): (NodeId, NodeId),
    (from, to): (&HostLink, &HostLink),
) -> (NodeId, NodeId) {
    let mut host = |end: &str, router: NodeId, link: &HostLink| {
        let name = format!("{flow}.{end}");
        let host = builder.node(name.clone());
        builder.link(
            format!("{name}->r{}", router + 1),
            (host, router),
            link.uplink_line(index),
            link.uplink_queue(),
        );
        builder.link(format!("r{}->{name}", router + 1), (router, host), link.line(index), link.queue);
        host
    };
    (host("from", first, from), host("to", last, to))
}
