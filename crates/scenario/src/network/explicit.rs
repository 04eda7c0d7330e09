use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use aqmlab_netsim::plan::{Line, NodeId};

use crate::nearest::{listed, nearest};
use crate::problem::Complaint;
use crate::queue::{QueueId, Queues};
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::tree::Place;

use super::reach::Reach;
use super::{Builder, line};

/// Links as the file lists them.
#[derive(Debug)]
pub(crate) struct Explicit {
    nodes: Nodes,
    links: Vec<OneWay>,
    reach: RefCell<Reach>,
    /// Whether the ends of all links are known, so that a missing route is one.
    complete: bool,
}

/// One direction of a link; invalid values are absent.
#[derive(Debug)]
struct OneWay {
    name: String,
    /// Place, path and number of the entry that it comes from.
    place: Place,
    path: String,
    entry: usize,
    ends: (usize, usize),
    line: Option<Arc<Line>>,
    queue: Option<QueueId>,
}

pub(super) fn shape() -> Shape {
    let mut keys = vec![
        Key::new("from", Kind::Label, "Node where it begins.").required(),
        Key::new("to", Kind::Label, "Node where it ends.").required(),
        Key::new(
            "name",
            Kind::Label,
            "Name; \"from->to\" if absent. The reverse direction is \"NAME.reverse\", or \"to->from\".",
        ),
    ];
    keys.extend(line::keys());
    keys.extend([
        Key::new("queue", Kind::Name, "Name of a [queue.NAME] table.").default("\"default\""),
        Key::new("duplex", Kind::Flag, "Also the link back, of the same rate and delay.").default("true"),
        Key::new("reverse_queue", Kind::Name, "Queue of the link back.").default("\"default\""),
    ]);
    keys.extend(line::keys_of_other_way(&line::REVERSE, "the link back"));
    Shape::new("A link between two nodes.", keys)
}

pub(super) fn read(file: &Section<'_>, queues: &Queues<'_>) -> Explicit {
    let mut reader = Reader {
        file,
        queues,
        nodes: Nodes::read(file),
        links: Vec::new(),
        complete: file.list("link").is_some(),
    };
    for (entry, link) in file.sections("link").iter().enumerate() {
        reader.link(entry, link);
    }
    reader.check_duplicates();
    let Reader { nodes, links, complete, .. } = reader;
    let reach = Reach::new(nodes.names.len(), links.iter().map(|l| l.ends));
    Explicit { nodes, links, reach: RefCell::new(reach), complete }
}

/// Nodes by name.
#[derive(Debug)]
struct Nodes {
    names: Vec<String>,
    index: BTreeMap<String, usize>,
    /// Whether the file lists them, so that links may not add any.
    closed: bool,
}

impl Nodes {
    fn read(file: &Section<'_>) -> Self {
        let mut nodes =
            Self { names: Vec::new(), index: BTreeMap::new(), closed: file.list("nodes").is_some() };
        for node in file.list("nodes").unwrap_or_default() {
            let Some(name) = node.value.as_text() else { continue };
            if nodes.index.contains_key(name) {
                let complaint = Complaint::new(format!("node {name:?} stands twice"));
                file.report.error(node.place, "nodes", complaint);
            } else {
                nodes.add(name);
            }
        }
        nodes
    }

    fn add(&mut self, name: &str) -> usize {
        self.names.push(name.to_owned());
        self.index.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }
}

struct Reader<'a> {
    file: &'a Section<'a>,
    queues: &'a Queues<'a>,
    nodes: Nodes,
    links: Vec<OneWay>,
    complete: bool,
}

impl Reader<'_> {
    fn link(&mut self, entry: usize, link: &Section<'_>) {
        let (from, to) = (self.end(link, "from"), self.end(link, "to"));
        let line = line::read(link).map(Arc::new);
        let duplex = link.flag("duplex").unwrap_or(true);
        let queue = self.queues.named_by(link, "queue");
        if !duplex {
            for key in ["reverse_queue"].into_iter().chain(line::REVERSE.map(|(_, key)| key)) {
                link.refuse(key, Complaint::new("a link with duplex = false has no reverse direction"));
            }
        }
        let reverse_line = line.as_ref().and_then(|line| line::other_way(link, line, &line::REVERSE));
        let reverse_queue = duplex.then(|| self.queues.named_by(link, "reverse_queue")).flatten();
        let (Some(from), Some(to)) = (from, to) else {
            self.complete = false;
            return;
        };
        if from == to {
            let complaint = Complaint::new("the link would end where it begins").allowed("another node");
            link.error("to", complaint);
            self.complete = false;
            return;
        }
        let names = self.names(link, from, to);
        let [forward, reverse] = names;
        let place = link.place;
        let mut add = |name, ends, line: Option<Arc<Line>>, queue: Option<QueueId>| {
            if let (Some(line), Some(queue)) = (&line, queue) {
                self.queues.before_link(queue, line);
            }
            let path = link.path.clone();
            self.links.push(OneWay { name, place, path, entry, ends, line, queue });
        };
        add(forward, (from, to), line, queue);
        if duplex {
            add(reverse, (to, from), reverse_line, reverse_queue);
        }
    }

    fn names(&self, link: &Section<'_>, from: usize, to: usize) -> [String; 2] {
        let (a, b) = (&self.nodes.names[from], &self.nodes.names[to]);
        match link.text("name") {
            Some(name) => [name.to_owned(), format!("{name}.reverse")],
            None => [format!("{a}->{b}"), format!("{b}->{a}")],
        }
    }

    fn end(&mut self, link: &Section<'_>, key: &str) -> Option<usize> {
        let name = link.text(key)?;
        if let Some(node) = self.nodes.find(name) {
            return Some(node);
        }
        if self.nodes.closed {
            let names = || self.nodes.names.iter().map(String::as_str);
            let complaint = Complaint::new(format!("unknown node {name:?}"));
            link.error(key, complaint.allowed(listed(names())).suggest(nearest(name, names())));
            return None;
        }
        Some(self.nodes.add(name))
    }

    /// At most one link from a node to another, and no name twice; one complaint about each entry.
    fn check_duplicates(&self) {
        let (mut ends, mut names) = (BTreeMap::new(), BTreeMap::new());
        let mut last = None;
        let report = self.file.report;
        for link in &self.links {
            let (a, b) = (&self.nodes.names[link.ends.0], &self.nodes.names[link.ends.1]);
            let (first, line) = *ends.entry(link.ends).or_insert((link.entry, link.place));
            if first != link.entry && last != Some(link.entry) {
                last = Some(link.entry);
                let message = format!("there is a link from {a} to {b} already, on {}", report.line_of(line));
                let allowed = "one link each way (duplex = false leaves the way back free)";
                report.error(link.place, link.path.as_str(), Complaint::new(message).allowed(allowed));
            }
            let (first, line) = *names.entry(&link.name).or_insert((link.entry, link.place));
            if first != link.entry && last != Some(link.entry) {
                last = Some(link.entry);
                let message = format!("there is a link {:?} already, on {}", link.name, report.line_of(line));
                report.error(link.place, link.path.as_str(), Complaint::new(message));
            }
        }
    }
}

impl Explicit {
    /// Adds all nodes and links.
    pub fn expand(&self, builder: &mut Builder<'_>) {
        for name in &self.nodes.names {
            builder.node(name.clone());
        }
        for link in &self.links {
            if let (Some(line), Some(queue)) = (&link.line, link.queue) {
                let ends = (link.ends.0 as NodeId, link.ends.1 as NodeId);
                builder.between(link.name.clone(), ends, line, queue);
            }
        }
    }

    /// Names of all links; none while some are not known.
    pub fn link_names(&self) -> Vec<&str> {
        if self.complete { self.links.iter().map(|l| l.name.as_str()).collect() } else { Vec::new() }
    }

    /// Return the nodes that a flow goes from and to, with routes as needed; report errors.
    pub fn ends(&self, flow: &Section<'_>, back_too: bool) -> Option<(NodeId, NodeId)> {
        let (from, to) = (self.end(flow, "from"), self.end(flow, "to"));
        let (from, to) = (from?, to?);
        if from == to {
            flow.error("to", Complaint::new("the flow would end where it begins").allowed("another node"));
            return None;
        }
        let mut reach = self.reach.borrow_mut();
        let mut route = |a: usize, b: usize| !self.complete || reach.has_path(a, b);
        let (there, back) = (route(from, to), !back_too || route(to, from));
        let (a, b) = (&self.nodes.names[from], &self.nodes.names[to]);
        let missing = match (there, back) {
            (true, true) => return Some((from as NodeId, to as NodeId)),
            (false, true) => format!("no route from {a} to {b}"),
            (true, false) => format!("no route for acknowledgements from {b} to {a}"),
            (false, false) => {
                format!("no route from {a} to {b}, and none for acknowledgements from {b} to {a}")
            }
        };
        flow.report.error(flow.place, flow.path.as_str(), Complaint::new(missing));
        None
    }

    fn end(&self, flow: &Section<'_>, key: &str) -> Option<usize> {
        if !flow.has(key) {
            flow.missing(key, listed(self.nodes.names.iter().map(String::as_str)));
            return None;
        }
        let name = flow.text(key)?;
        let found = self.nodes.find(name);
        if found.is_none() && self.complete {
            let names = || self.nodes.names.iter().map(String::as_str);
            let complaint = Complaint::new(format!("unknown node {name:?}"));
            flow.error(key, complaint.allowed(listed(names())).suggest(nearest(name, names())));
        }
        found
    }
}
