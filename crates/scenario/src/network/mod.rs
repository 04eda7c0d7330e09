//! The network: explicit links, a dumbbell or a chain, and its expansion into nodes and one-way links.

mod chain;
mod dumbbell;
mod explicit;
mod host;
mod reach;

use aqmlab_netsim::plan::{self, LinkId, NodeId};
use aqmlab_units::{Rate, Span};

use crate::problem::Complaint;
use crate::queue::{QueueId, Queues};
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

pub(crate) use chain::Chain;
pub(crate) use chain::hosts as chain_hosts;
pub(crate) use dumbbell::{BOTTLENECK, Dumbbell, Side, hosts as dumbbell_hosts, sides};
pub(crate) use explicit::Explicit;
pub(crate) use host::{HostLink, override_shape as host_override_shape};

/// One of the three ways to write a network down.
#[derive(Debug)]
pub(crate) enum Network {
    Explicit(Explicit),
    Dumbbell(Dumbbell),
    Chain(Chain),
}

/// The keys at the top of a file that describe networks.
pub(crate) const KEYS: [&str; 3] = ["link", "dumbbell", "chain"];

pub(crate) fn keys() -> [Key; 4] {
    [
        Key::new(
            "nodes",
            Kind::list(Kind::Label),
            "Names of the nodes, beside [[link]]; if given, links may only name these.",
        ),
        Key::new("link", Kind::Tables("link", explicit::shape()), "A link, by default in both directions."),
        Key::new("dumbbell", Kind::Table(dumbbell::shape()), dumbbell::DOC),
        Key::new("chain", Kind::Table(chain::shape()), chain::DOC),
    ]
}

/// Reads the network, whichever there is. That it is exactly one is checked here.
pub(crate) fn read(file: &Section<'_>, queues: &Queues<'_>) -> Option<Network> {
    let present: Vec<&str> = KEYS.into_iter().filter(|k| file.has(k)).collect();
    let allowed = "exactly one of [[link]], [dumbbell], [chain]";
    match present.as_slice() {
        [] if KEYS.iter().any(|key| file.is_misspelt(key)) => {}
        [] => file.report.error(file.place, "", Complaint::new("there is no network").allowed(allowed)),
        [first, others @ ..] => {
            for other in others {
                let complaint = Complaint::new(format!("there is a network already, {first}"));
                file.refuse(other, complaint.allowed(allowed));
            }
        }
    }
    if !file.has("link") && !present.is_empty() {
        file.refuse("nodes", Complaint::new("names nodes of [[link]] entries, of which there are none"));
    }
    let explicit = file.has("link").then(|| Network::Explicit(explicit::read(file, queues)));
    let dumbbell = file.section("dumbbell").and_then(|s| dumbbell::read(&s, queues)).map(Network::Dumbbell);
    let chain = file.section("chain").and_then(|s| chain::read(&s, queues)).map(Network::Chain);
    explicit.or(dumbbell).or(chain)
}

impl Network {
    /// Adds what is there without flows.
    pub fn expand(&self, builder: &mut Builder<'_>) {
        match self {
            Self::Explicit(explicit) => explicit.expand(builder),
            Self::Dumbbell(dumbbell) => dumbbell.expand(builder),
            Self::Chain(chain) => chain.expand(builder),
        }
    }
}

/// Rate, delay and queues of a link between routers.
#[derive(Clone, Debug)]
pub(crate) struct Trunk {
    rate: Rate,
    delay: Span,
    queue: QueueId,
    reverse_queue: QueueId,
}

fn trunk_shape(doc: &'static str) -> Shape {
    Shape::new(
        doc,
        vec![
            Key::new("rate", Kind::Rate, "Bit rate.").required(),
            Key::new("delay", Kind::ANY_TIME, "One-way propagation delay.").required(),
            Key::new("queue", Kind::Name, "Name of a [queue.NAME] table.").default("\"default\""),
            Key::new("reverse_queue", Kind::Name, "The same for the reverse direction.")
                .default("\"default\""),
        ],
    )
}

fn read_trunk(section: &Section<'_>, queues: &Queues<'_>) -> Option<Trunk> {
    let (rate, delay) = (section.rate("rate"), section.span("delay"));
    let queue = queues.named_by(section, "queue");
    let reverse_queue = queues.named_by(section, "reverse_queue");
    let trunk = Trunk { rate: rate?, delay: delay?, queue: queue?, reverse_queue: reverse_queue? };
    queues.before_link(trunk.queue, trunk.rate, trunk.delay);
    queues.before_link(trunk.reverse_queue, trunk.rate, trunk.delay);
    Some(trunk)
}

/// Nodes and links as they grow.
pub(crate) struct Builder<'a> {
    pub nodes: Vec<String>,
    pub links: Vec<plan::Link>,
    /// The queue of each link.
    pub queue_of: Vec<QueueId>,
    queues: &'a Queues<'a>,
}

impl<'a> Builder<'a> {
    pub fn new(queues: &'a Queues<'a>) -> Self {
        Self { nodes: Vec::new(), links: Vec::new(), queue_of: Vec::new(), queues }
    }

    /// Adds a node.
    pub fn node(&mut self, name: String) -> NodeId {
        self.nodes.push(name);
        self.nodes.len() as NodeId - 1
    }

    /// Adds a one-way link; nothing, if its queue is not valid (which is reported).
    pub fn link(
        &mut self,
        name: String,
        (from, to): (NodeId, NodeId),
        (rate, delay): (Rate, Span),
        queue: QueueId,
    ) -> Option<LinkId> {
        let resolved = self.queues.before_link(queue, rate, delay)?;
        let aqm = self.queues.aqm(queue);
        self.links.push(plan::Link { name, from, to, rate, delay, aqm, queue: resolved });
        self.queue_of.push(queue);
        Some(self.links.len() as LinkId - 1)
    }

    /// Adds both directions of a trunk.
    fn trunk(&mut self, names: [String; 2], (a, b): (NodeId, NodeId), trunk: &Trunk) {
        let [forward, reverse] = names;
        self.link(forward, (a, b), (trunk.rate, trunk.delay), trunk.queue);
        self.link(reverse, (b, a), (trunk.rate, trunk.delay), trunk.reverse_queue);
    }
}
