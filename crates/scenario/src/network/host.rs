//! The link between a flow's own host and its router.

use aqmlab_units::{Rate, Span};

use crate::queue::{QueueId, Queues};
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::tcp::wrong_length;
use crate::tree::Value;
use crate::units;

/// Rate, delay and queues of host links; rate and delay are the same in both directions.
#[derive(Clone, Debug)]
pub(crate) struct HostLink {
    pub rate: Rate,
    delays: Delays,
    /// The queue towards the host.
    pub queue: QueueId,
    /// The queue from the host, where it is another.
    uplink_queue: Option<QueueId>,
}

#[derive(Clone, Debug)]
enum Delays {
    Same(Span),
    /// One for each flow of a group.
    Each(Vec<Span>),
}

/// Return the shape of the settings for all host links.
pub(super) fn shape(doc: &'static str) -> Shape {
    Shape::new(
        doc,
        vec![
            Key::new("rate", Kind::Rate, "Bit rate.").required(),
            Key::new("delay", Kind::ANY_TIME, "One-way propagation delay.").required(),
            Key::new("queue", Kind::Name, "Name of a [queue.NAME] table.").default("\"default\""),
            uplink_key(),
        ],
    )
}

fn uplink_key() -> Key {
    Key::new("uplink_queue", Kind::Name, "The same for the direction from the host; as queue if absent.")
}

/// Return the shape of the overrides of a group of flows.
pub(crate) fn override_shape() -> Shape {
    let delay = Kind::Any(vec![Kind::ANY_TIME, Kind::list(Kind::ANY_TIME)]);
    Shape::new(
        "Overrides for the host links of this group.",
        vec![
            Key::new("rate", Kind::Rate, "Bit rate."),
            Key::new("delay", delay, "One-way propagation delay, or a list of one for each flow."),
            Key::new("queue", Kind::Name, "Name of a [queue.NAME] table."),
            uplink_key(),
        ],
    )
}

impl HostLink {
    pub(super) fn read(section: &Section<'_>, queues: &Queues<'_>) -> Option<Self> {
        let (rate, delay) = (section.rate("rate"), section.span("delay"));
        let (queue, uplink_queue) = (queues.named_by(section, "queue"), uplink(section, queues));
        let (queue, uplink_queue) = (queue?, uplink_queue?);
        let link = Self { rate: rate?, delays: Delays::Same(delay?), queue, uplink_queue };
        link.check(queues);
        Some(link)
    }

    /// Return the same with the overrides of a group of `count` flows.
    pub fn with(&self, section: &Section<'_>, count: usize, queues: &Queues<'_>) -> Option<Self> {
        let mut link = self.clone();
        link.rate = section.rate("rate").unwrap_or(link.rate);
        if section.has("queue") {
            link.queue = queues.named_by(section, "queue")?;
        }
        link.uplink_queue = uplink(section, queues)?.or(link.uplink_queue);
        match section.list("delay") {
            Some(list) => {
                if list.len() != count {
                    section.error("delay", wrong_length(list.len(), count));
                }
                let each = list
                    .iter()
                    .map(|n| if let Value::Text(_) = n.value { units::time(&n.value).ok() } else { None });
                link.delays = Delays::Each(each.collect::<Option<Vec<_>>>()?.into_iter().map(Span).collect());
            }
            None => link.delays = section.span("delay").map_or(link.delays, Delays::Same),
        }
        link.check(queues);
        Some(link)
    }

    /// The delay of a flow of the group.
    pub fn delay(&self, index: usize) -> Span {
        match &self.delays {
            Delays::Same(delay) => *delay,
            Delays::Each(delays) => delays.get(index).copied().unwrap_or(Span::ZERO),
        }
    }

    /// The queue from the host.
    pub fn uplink_queue(&self) -> QueueId {
        self.uplink_queue.unwrap_or(self.queue)
    }

    /// Lets the queues be checked for every link that this stands for.
    fn check(&self, queues: &Queues<'_>) {
        let delays = match &self.delays {
            Delays::Same(delay) => std::slice::from_ref(delay),
            Delays::Each(delays) => delays.as_slice(),
        };
        for delay in delays {
            queues.before_link(self.queue, self.rate, *delay);
            queues.before_link(self.uplink_queue(), self.rate, *delay);
        }
    }
}

/// The queue that `uplink_queue` names, if it is there; `None` if there is no such queue.
fn uplink(section: &Section<'_>, queues: &Queues<'_>) -> Option<Option<QueueId>> {
    match section.has("uplink_queue") {
        true => queues.named_by(section, "uplink_queue").map(Some),
        false => Some(None),
    }
}
