//! The network, written link by link or as one of the shapes that papers use, and its expansion into nodes and one-way
//! links.

mod bus;
mod chain;
mod diffserv;
mod dumbbell;
mod explicit;
mod flower;
mod host;
pub(crate) mod line;
mod links;
mod reach;
mod shared;
mod torus;

use std::sync::Arc;

use aqmlab_netsim::plan::{self, Line, LinkId, NodeId};

use crate::problem::Complaint;
use crate::queue::{self, QueueId, Queues};
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

pub(crate) use chain::Chain;
pub(crate) use chain::hosts as chain_hosts;
pub(crate) use diffserv::{Diffserv, refuse_ends as refuse_diffserv_ends, source as diffserv_source};
pub(crate) use dumbbell::{Dumbbell, Side, hosts as dumbbell_hosts, sides};
pub(crate) use explicit::Explicit;
pub(crate) use host::{HostLink, override_shape as host_override_shape};
pub(crate) use links::LinkNames;
pub(crate) use shared::{End, Shared};

/// One of the ways to write a network down.
#[derive(Debug)]
pub(crate) enum Network {
    Explicit(Explicit),
    Dumbbell(Dumbbell),
    Chain(Chain),
    Shared(Shared),
    Diffserv(Diffserv),
}

/// The keys at the top of a file that describe networks.
pub(crate) const KEYS: [&str; 7] = ["link", "dumbbell", "chain", "bus", "flower", "torus", "diffserv"];
/// The same in words.
const ALLOWED: &str = "exactly one of [[link]], [dumbbell], [chain], [bus], [flower], [torus], [diffserv]";

pub(crate) fn keys() -> [Key; 8] {
    [
        Key::new(
            "nodes",
            Kind::list(Kind::Label),
            "Names of the nodes of [[link]] entries; if given, links may only name these.",
        ),
        Key::new(
            "link",
            Kind::Tables("link", explicit::shape().into()),
            "A link, by default in both directions.",
        ),
        Key::new("dumbbell", Kind::Table(dumbbell::shape().into()), dumbbell::DOC),
        Key::new("chain", Kind::Table(chain::shape().into()), chain::DOC),
        Key::new("bus", Kind::Table(bus::shape().into()), bus::DOC),
        Key::new("flower", Kind::Table(flower::shape().into()), flower::DOC),
        Key::new("torus", Kind::Table(torus::shape().into()), torus::DOC),
        Key::new("diffserv", Kind::Table(diffserv::shape().into()), diffserv::DOC),
    ]
}

/// Reads the network, whichever there is. That it is exactly one is checked here.
pub(crate) fn read(file: &Section<'_>, queues: &Queues<'_>) -> Option<Network> {
    let present: Vec<&str> = KEYS.into_iter().filter(|k| file.has(k)).collect();
    match present.as_slice() {
        [] if KEYS.iter().any(|key| file.is_misspelt(key)) => {}
        [] => file.report.error(file.place, "", Complaint::new("the network is missing").allowed(ALLOWED)),
        [first, others @ ..] => {
            for other in others {
                let complaint = Complaint::new(format!("there is a network already, {first}"));
                file.refuse(other, complaint.allowed(ALLOWED));
            }
        }
    }
    if !file.has("link") && !present.is_empty() {
        file.refuse("nodes", Complaint::new("names nodes of [[link]] entries, of which there are none"));
    }
    // Read all of them, to report errors in any of them.
    let networks = KEYS.map(|key| match key {
        "link" => file.has(key).then(|| Network::Explicit(explicit::read(file, queues))),
        _ => file.section(key).and_then(|section| of_section(key, &section, queues)),
    });
    networks.into_iter().flatten().next()
}

fn of_section(key: &str, section: &Section<'_>, queues: &Queues<'_>) -> Option<Network> {
    match key {
        "dumbbell" => dumbbell::read(section, queues).map(Network::Dumbbell),
        "chain" => chain::read(section, queues).map(Network::Chain),
        "bus" => bus::read(section, queues).map(Network::Shared),
        "flower" => flower::read(section, queues).map(Network::Shared),
        "torus" => torus::read(section, queues).map(Network::Shared),
        _ => diffserv::read(section, queues).map(Network::Diffserv),
    }
}

impl Network {
    /// The links that it is about, where there are such, the first of them foremost.
    pub fn main_links(&self) -> &'static [&'static str] {
        match self {
            Self::Dumbbell(dumbbell) => dumbbell.main_links(),
            Self::Diffserv(_) => &[diffserv::CORE],
            Self::Explicit(_) | Self::Chain(_) | Self::Shared(_) => &[],
        }
    }

    /// Add the nodes and links that do not depend on flows.
    pub fn expand(&self, builder: &mut Builder<'_>) {
        match self {
            Self::Explicit(explicit) => explicit.expand(builder),
            Self::Dumbbell(dumbbell) => dumbbell.expand(builder),
            Self::Chain(chain) => chain.expand(builder),
            Self::Shared(shared) => shared.expand(builder),
            Self::Diffserv(diffserv) => diffserv.expand(builder),
        }
    }
}

/// A link between routers, and its queues.
#[derive(Clone, Debug)]
pub(crate) struct Trunk {
    line: Arc<Line>,
    reverse_line: Arc<Line>,
    queue: QueueId,
    reverse_queue: QueueId,
}

fn trunk_shape(doc: &'static str) -> Shape {
    let mut shape = one_way_shape(doc);
    let reverse = Key::new("reverse_queue", Kind::Name, "The same for the reverse direction.");
    shape.keys.push(reverse.default("\"default\""));
    shape.keys.extend(line::keys_of_other_way(&line::REVERSE, "the reverse direction"));
    shape
}

fn read_trunk(section: &Section<'_>, queues: &Queues<'_>) -> Option<Trunk> {
    let line = line::read(section).map(Arc::new);
    let queue = queues.named_by(section, "queue");
    let reverse_queue = queues.named_by(section, "reverse_queue");
    let line = line?;
    let reverse_line = line::other_way(section, &line, &line::REVERSE)?;
    let trunk = Trunk { line, reverse_line, queue: queue?, reverse_queue: reverse_queue? };
    queues.before_link(trunk.queue, &trunk.line);
    queues.before_link(trunk.reverse_queue, &trunk.reverse_line);
    Some(trunk)
}

/// One direction between routers, and its queue.
#[derive(Clone, Debug)]
struct OneWay {
    line: Arc<Line>,
    queue: QueueId,
}

fn one_way_shape(doc: &'static str) -> Shape {
    let mut keys = line::keys();
    keys.push(Key::new("queue", Kind::Name, "Name of a [queue.NAME] table.").default("\"default\""));
    Shape::new(doc, keys)
}

fn read_one_way(section: &Section<'_>, queues: &Queues<'_>) -> Option<OneWay> {
    let line = line::read(section);
    let queue = queues.named_by(section, "queue");
    let way = OneWay { line: line?.into(), queue: queue? };
    queues.before_link(way.queue, &way.line);
    Some(way)
}

/// Nodes and links as they grow.
pub(crate) struct Builder<'a> {
    pub nodes: Vec<plan::Name>,
    pub links: Vec<plan::Link>,
    /// Names of the links that were left out.
    pub invalid: Vec<String>,
    /// The number of the queue of each link.
    pub queue_of: Vec<u32>,
    /// Links that are not those of hosts, with a queue that the file names for them.
    pub with_named_queue: Vec<LinkId>,
    queues: &'a Queues<'a>,
}

impl<'a> Builder<'a> {
    pub fn new(queues: &'a Queues<'a>) -> Self {
        Self {
            nodes: Vec::new(),
            links: Vec::new(),
            invalid: Vec::new(),
            queue_of: Vec::new(),
            with_named_queue: Vec::new(),
            queues,
        }
    }

    /// Adds a node.
    pub fn node(&mut self, name: impl Into<plan::Name>) -> NodeId {
        self.nodes.push(name.into());
        self.nodes.len() as NodeId - 1
    }

    /// Adds a one-way link; nothing, if its queue is not valid (which is reported).
    pub fn link(
        &mut self,
        name: impl Into<plan::Name>,
        (from, to): (NodeId, NodeId),
        line: &Arc<Line>,
        queue: QueueId,
    ) -> Option<LinkId> {
        let Some(resolved) = self.queues.before_link(queue, line) else {
            let name: plan::Name = name.into();
            self.invalid.push(name.into());
            return None;
        };
        self.links.push(plan::Link { name: name.into(), from, to, line: line.clone(), queue: resolved });
        self.queue_of.push(queue as u32);
        Some(self.links.len() as LinkId - 1)
    }

    /// Adds a one-way link that is not a host's own, as `link` does.
    fn between(&mut self, name: String, ends: (NodeId, NodeId), line: &Arc<Line>, queue: QueueId) {
        let added = self.link(name, ends, line, queue);
        let is_named = self.queues.name(queue) != queue::DEFAULT;
        self.with_named_queue.extend(added.filter(|_| is_named));
    }

    /// Adds both directions of a trunk.
    fn trunk(&mut self, names: [String; 2], (a, b): (NodeId, NodeId), trunk: &Trunk) {
        let [forward, reverse] = names;
        self.between(forward, (a, b), &trunk.line, trunk.queue);
        self.between(reverse, (b, a), &trunk.reverse_line, trunk.reverse_queue);
    }
}
