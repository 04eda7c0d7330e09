//! The link between a flow's own host and its router.

use std::sync::Arc;

use aqmlab_netsim::plan::{Channel, InService, Line};
use aqmlab_units::Span;

use super::{line, one_way_shape};
use crate::queue::{QueueId, Queues};
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::tcp::wrong_length;
use crate::tree::{Node, Value};
use crate::units;

/// Host links and their queues; both directions have the same server.
#[derive(Clone, Debug)]
pub(crate) struct HostLink {
    /// One for all flows, or one for each flow of a group.
    lines: Vec<Arc<Line>>,
    /// The same for the direction from the host.
    uplink_lines: Vec<Arc<Line>>,
    /// The queue towards the host.
    pub queue: QueueId,
    /// The queue from the host, where it is another.
    uplink_queue: Option<QueueId>,
}

/// Return the shape of the settings for all host links.
pub(super) fn shape(doc: &'static str) -> Shape {
    let mut shape = one_way_shape(doc);
    shape.keys.extend(uplink_keys());
    shape
}

fn uplink_keys() -> Vec<Key> {
    let queue =
        Key::new("uplink_queue", Kind::Name, "The same for the direction from the host; as queue if absent.");
    let of_channel = line::keys_of_other_way(&line::UPLINK, "the direction from the host");
    [queue].into_iter().chain(of_channel).collect()
}

/// Return the shape of the overrides of a group of flows.
pub(crate) fn override_shape() -> Shape {
    let mut keys = line::optional_keys();
    for delay in keys.iter_mut().filter(|key| key.name == Channel::KEY.key) {
        delay.kind = Kind::Any(vec![delay.kind.clone(), Kind::list(delay.kind.clone())]);
        delay.doc = "One-way propagation delay, or a list of one for each flow.".into();
    }
    keys.push(Key::new("queue", Kind::Name, "Name of a [queue.NAME] table."));
    keys.extend(uplink_keys());
    Shape::new("Overrides for the host links of this group.", keys)
}

impl HostLink {
    pub(super) fn read(section: &Section<'_>, queues: &Queues<'_>) -> Option<Self> {
        let line = line::read(section).map(Arc::new);
        let (queue, uplink_queue) = (queues.named_by(section, "queue"), uplink(section, queues));
        let (line, queue, uplink_queue) = (line?, queue?, uplink_queue?);
        let uplink_lines = vec![line::other_way(section, &line, &line::UPLINK)?];
        let link = Self { lines: vec![line], uplink_lines, queue, uplink_queue };
        link.check(queues);
        Some(link)
    }

    /// Return the same with the overrides of a group of `count` flows.
    pub fn with(&self, section: &Section<'_>, count: usize, queues: &Queues<'_>) -> Option<Self> {
        let mut link = self.clone();
        let mut line = Line::clone(self.line(0));
        let mut uplink_line = Line::clone(self.uplink_line(0));
        let in_service = section.has(InService::KEY.key).then(|| InService::read(section));
        let in_service = in_service.unwrap_or(line.server.in_service());
        let framing = line.server.framing();
        let server = line::server(section).unwrap_or(line.server).with_in_service(in_service);
        line.server = line::framed(section, server, framing);
        line::warn_of_in_service(section, &line.server);
        uplink_line.server = line.server.clone();
        if section.has("queue") {
            link.queue = queues.named_by(section, "queue")?;
        }
        link.uplink_queue = uplink(section, queues)?.or(link.uplink_queue);
        line.channel = line::channel(section, Some(line.channel))?;
        uplink_line.channel = line::channel(section, Some(uplink_line.channel))?;
        let uplink_line = line::other_way(section, &uplink_line.into(), &line::UPLINK)?;
        if let Some(list) = section.list(Channel::KEY.key)
            && (list.is_empty() || list.len() != count)
        {
            section.error(Channel::KEY.key, wrong_length(list.len(), count));
        }
        link.lines = of_flows(section, &line)?;
        link.uplink_lines = of_flows(section, &uplink_line)?;
        link.check(queues);
        Some(link)
    }

    /// The server and channel of a flow of the group, towards the host.
    pub fn line(&self, index: usize) -> &Arc<Line> {
        self.lines.get(index).unwrap_or(&self.lines[0])
    }

    /// The same from the host.
    pub fn uplink_line(&self, index: usize) -> &Arc<Line> {
        self.uplink_lines.get(index).unwrap_or(&self.uplink_lines[0])
    }

    /// The queue from the host.
    pub fn uplink_queue(&self) -> QueueId {
        self.uplink_queue.unwrap_or(self.queue)
    }

    /// Lets the queues be checked for every link that this stands for.
    fn check(&self, queues: &Queues<'_>) {
        for line in &self.lines {
            queues.before_link(self.queue, line);
        }
        for line in &self.uplink_lines {
            queues.before_link(self.uplink_queue(), line);
        }
    }
}

/// Return the lines of the flows of a group: one for all, or one for each delay of a list.
fn of_flows(section: &Section<'_>, line: &Line) -> Option<Vec<Arc<Line>>> {
    let Some(list) = section.list(Channel::KEY.key).filter(|list| !list.is_empty()) else {
        return Some(vec![line.clone().into()]);
    };
    let delay = |node: &Node| match node.value {
        Value::Text(_) => units::time(&node.value).ok().map(Span),
        _ => None,
    };
    let of = |delay| Line { channel: line.channel.clone().with_delay(delay), ..line.clone() }.into();
    list.iter().map(|node| delay(node).map(of)).collect::<Option<Vec<_>>>()
}

/// The queue that `uplink_queue` names, if it is there; `None` if there is no such queue.
fn uplink(section: &Section<'_>, queues: &Queues<'_>) -> Option<Option<QueueId>> {
    match section.has("uplink_queue") {
        true => queues.named_by(section, "uplink_queue").map(Some),
        false => Some(None),
    }
}
