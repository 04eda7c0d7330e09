use aqmlab_netsim::plan::NodeId;

use crate::problem::Complaint;
use crate::queue::Queues;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

use super::host::{self, HostLink};
use super::{Builder, Trunk, read_trunk, trunk_shape};

pub(super) const DOC: &str = "An edge router e1, a core router c1 and an edge router e2 in a row; every flow goes from a host of its own at e1 to the receiver at e2.";

/// Name of the link that such a network is about.
pub(super) const CORE: &str = "core";
/// The node that sources are at.
const E1: NodeId = 0;
/// The node where all flows end.
const RECEIVER: NodeId = 3;

/// Links of a DiffServ domain and what sources are connected by.
#[derive(Debug)]
pub(crate) struct Diffserv {
    pub source: HostLink,
    edge: Trunk,
    core: Trunk,
    sink: HostLink,
}

pub(super) fn shape() -> Shape {
    let trunk = |doc| Kind::Table(trunk_shape(doc).into());
    let host = |doc| Kind::Table(host::shape(doc).into());
    Shape::new(
        DOC,
        vec![
            Key::new(
                "source",
                host("The links of the sources."),
                "The links \"source.FLOW\", to e1, and \".reverse\".",
            )
            .required(),
            Key::new(
                "edge",
                trunk("The link from e1 to c1 and the one back."),
                "The links \"edge\" and \"edge.reverse\".",
            )
            .required(),
            Key::new(
                "core",
                trunk("The link from c1 to e2 and the one back."),
                "The links \"core\" and \"core.reverse\".",
            )
            .required(),
            Key::new(
                "sink",
                host("The links of the receiver."),
                "The links \"sink\", from e2, and \"sink.reverse\".",
            )
            .required(),
        ],
    )
}

pub(super) fn read(section: &Section<'_>, queues: &Queues<'_>) -> Option<Diffserv> {
    let host = |key| section.section(key).and_then(|s| HostLink::read(&s, queues));
    let trunk = |key| section.section(key).and_then(|s| read_trunk(&s, queues));
    let (source, edge, core, sink) = (host("source"), trunk("edge"), trunk("core"), host("sink"));
    Some(Diffserv { source: source?, edge: edge?, core: core?, sink: sink? })
}

impl Diffserv {
    /// Adds the routers and the receiver, as nodes 0 to 3, and the links between them.
    pub fn expand(&self, builder: &mut Builder<'_>) {
        let [e1, c1, e2, receiver] = ["e1", "c1", "e2", "receiver"].map(|name| builder.node(name));
        builder.trunk(["edge".into(), "edge.reverse".into()], (e1, c1), &self.edge);
        builder.trunk([CORE.into(), format!("{CORE}.reverse")], (c1, e2), &self.core);
        builder.link("sink", (e2, receiver), self.sink.line(0), self.sink.queue);
        let (back, queue) = (self.sink.uplink_line(0), self.sink.uplink_queue());
        builder.link("sink.reverse", (receiver, e2), back, queue);
    }
}

/// Report settings of a flow's ends, which the network determines.
pub(crate) fn refuse_ends(flow: &Section<'_>) {
    for key in ["from", "to"] {
        let message = "a flow in a diffserv network goes from its source to the receiver";
        flow.refuse(key, Complaint::new(message));
    }
}

/// Adds the source of a flow: the ends of the flow.
pub(crate) fn source(
    builder: &mut Builder<'_>,
    flow: &str,
    index: usize,
    link: &HostLink,
) -> (NodeId, NodeId) {
    let name = format!("source.{flow}");
    let node = builder.node(name.clone());
    builder.link(name.clone(), (node, E1), link.uplink_line(index), link.uplink_queue());
    builder.link(format!("{name}.reverse"), (E1, node), link.line(index), link.queue);
    (node, RECEIVER)
}
