use aqmlab_aqm::{Kind, Meta};

use crate::message::Message;
use crate::plan::{Flow, Plan, Transport};
use crate::routing::Routes;

/// What hosts of the simulator set the time to live to.
const TTL: u8 = 64;

/// Where a step of a path leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step(u32);

/// What comes next on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The queue of this link.
    Link(u32),
    /// The end of this flow.
    Endpoint(u32),
}

/// Set in steps to stations that may be evaluated ahead of the global order.
const AHEAD: u32 = 1 << 31;
/// Set in the step into an endpoint.
const ENDPOINT: u32 = 1 << 30;

impl Step {
    /// Where it leads.
    #[inline]
    pub fn next(self) -> Next {
        let number = self.0 & !(AHEAD | ENDPOINT);
        if self.0 & ENDPOINT != 0 { Next::Endpoint(number) } else { Next::Link(number) }
    }

    /// Whether the station there may be evaluated ahead.
    #[inline]
    pub fn is_ahead(self) -> bool {
        self.0 & AHEAD != 0
    }
}

/// What the packets of a path have in common.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// Its first step.
    first: u32,
    /// Flow label, and class of the source.
    label: u32,
    class: u8,
    /// Time to live at its end.
    ttl_final: u8,
}

/// The paths of all flows, there and back: steps in one array, each path ended by its endpoint.
///
/// Hosts set the time to live to 64, and routers lower it by one. Each end echoes the time to live of the packets that
/// it receives, and writes the other end's echo into its own: so routers learn how long the path of a packet is (DDRED's
/// `TTL_f`). Both numbers follow from the path; a packet only needs to say whether its sender has heard from the other
/// end.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    steps: Vec<Step>,
    /// Number of the path by step.
    path_of: Vec<u32>,
    paths: Vec<Path>,
}

/// The flow of a packet. Its data has an even label, its acknowledgements have the odd one next to it or share that of
/// the data.
#[inline]
pub(crate) fn flow_of(meta: &Meta) -> usize {
    (meta.flow >> 1) as usize
}

impl Paths {
    /// # Panics
    /// If a flow has no path there, or needs one back and has none; in a checked plan every flow has.
    pub fn new(plan: &Plan) -> Self {
        let there_and_back =
            plan.flows.iter().map(Flow::ends).flat_map(|(from, to)| [(from, to), (to, from)]);
        let routed = Routes::new(plan).paths(&there_and_back.collect::<Vec<_>>());
        let mut paths = Self { steps: Vec::new(), path_of: Vec::new(), paths: Vec::new() };
        for (number, flow) in (0..).zip(&plan.flows) {
            // Of UDP nothing travels back.
            let one_way = matches!(flow.transport, Transport::Udp { .. });
            for kind in [Kind::Data, Kind::Ack] {
                let path = match routed.get(number_of(number as usize, kind)).filter(|p| !p.is_empty()) {
                    None if !one_way || kind == Kind::Data => {
                        panic!("flow {} has no path there and back", flow.name)
                    }
                    path => path.unwrap_or_default(),
                };
                let own_label = kind == Kind::Ack && !flow.acks_share_label;
                paths.paths.push(Path {
                    first: paths.steps.len() as u32,
                    label: number << 1 | u32::from(own_label),
                    class: if own_label { 0 } else { flow.class },
                    ttl_final: lowered(path.len().saturating_sub(1)),
                });
                paths.steps.extend(path.iter().copied().map(Step));
                paths.steps.push(Step(ENDPOINT | number));
                paths.path_of.resize(paths.steps.len(), paths.paths.len() as u32 - 1);
            }
        }
        paths
    }

    /// The first step of a data packet or acknowledgement of `flow`; it is a link.
    #[inline]
    pub fn first(&self, flow: usize, kind: Kind) -> u32 {
        self.paths[number_of(flow, kind)].first
    }

    /// Where this step leads.
    #[inline]
    pub fn at(&self, step: u32) -> Step {
        self.steps[step as usize]
    }

    /// The flow of a packet.
    #[inline]
    pub fn flow(&self, message: &Message) -> usize {
        (self.path_of[message.step as usize] >> 1) as usize
    }

    /// The header of a packet that arrives at a queue, as disciplines see it.
    #[inline]
    pub fn meta(&self, message: &Message) -> Meta {
        let Path { first, label, class, ttl_final } =
            self.paths[self.path_of[message.step as usize] as usize];
        Meta {
            arrival: message.time,
            bytes: message.bytes,
            flow: label,
            class,
            kind: message.kind(),
            dscp: message.dscp,
            ecn: message.ecn,
            ttl_initial: TTL,
            ttl: lowered((message.step - first) as usize),
            ttl_final: if message.heard() { ttl_final } else { 0 },
            qosa: false,
        }
    }

    /// The steps of a path, its endpoint included.
    pub fn steps(&self, flow: usize, kind: Kind) -> impl Iterator<Item = Step> {
        self.range(number_of(flow, kind)).map(|step| self.steps[step])
    }

    /// The links of a path, in order.
    pub fn links(&self, flow: usize, kind: Kind) -> impl Iterator<Item = u32> {
        self.steps(flow, kind).filter_map(|step| match step.next() {
            Next::Link(link) => Some(link),
            Next::Endpoint(_) => None,
        })
    }

    /// Lets the stations be evaluated ahead for which `may` says so; it is given the kind of the packets as well.
    pub fn allow_ahead(&mut self, may: impl Fn(Next, Kind) -> bool) {
        for path in 0..self.paths.len() {
            let kind = if path % 2 == 0 { Kind::Data } else { Kind::Ack };
            for step in self.range(path) {
                if may(self.steps[step].next(), kind) {
                    self.steps[step].0 |= AHEAD;
                }
            }
        }
    }

    fn range(&self, path: usize) -> core::ops::Range<usize> {
        let end = self.paths.get(path + 1).map_or(self.steps.len(), |next| next.first as usize);
        self.paths[path].first as usize..end
    }
}

fn number_of(flow: usize, kind: Kind) -> usize {
    2 * flow + usize::from(kind == Kind::Ack)
}

/// The time to live after so many routers.
#[inline]
fn lowered(routers: usize) -> u8 {
    TTL.saturating_sub(routers.min(usize::from(u8::MAX)) as u8)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::key::Key;
    use crate::plan::{Ends, Flow, Link, Probe, Size, Start};
    use aqmlab_aqm::{LinkContext, Spec};
    use aqmlab_transport::{Data, DataFlags, TcpConfig, Variant};
    use aqmlab_units::{Rate, Span, Time};

    /// Two flows from node 0 to node 3: three links there, two back. The second shares the label of its data.
    fn plan() -> Plan {
        let context = LinkContext { rate: Rate(1_000_000), delay: Span::from_millis(1) };
        let queue = Arc::new(Spec::new("drop-tail").expect("a preset").resolve(context).expect("a queue"));
        let links = [(0, 1), (1, 2), (2, 3), (3, 1), (1, 0)].map(|(from, to)| Link {
            name: format!("{from}->{to}"),
            from,
            to,
            rate: context.rate,
            delay: context.delay,
            aqm: "drop-tail",
            queue: queue.clone(),
        });
        let config = Arc::new(TcpConfig::ns2(Variant::Reno));
        let flow = |acks_share_label| Flow {
            name: String::new(),
            group: String::new(),
            ends: Ends::At(0, 3),
            start: Start::At(Time::ZERO),
            stop: None,
            again: Vec::new(),
            dscp: 46,
            class: 1,
            acks_share_label,
            transport: Transport::Tcp { config: config.clone(), size: Size::Packets(20), clock_offset: None },
        };
        Plan {
            nodes: (0..4).map(|i| i.to_string()).collect(),
            links: links.into(),
            flows: vec![flow(false), flow(true)],
            markers: Vec::new(),
            changes: Vec::new(),
            duration: Span::from_millis(5000),
            warmup: Span::ZERO,
            probe: Probe::default(),
        }
    }

    fn data(step: u32, heard: bool) -> Message {
        let data = Data { sent: Time(5), seq: 1, bytes: 500, flags: DataFlags::NONE };
        Message::of_data(Key::default(), step, 46, heard, &data)
    }

    #[test]
    fn a_path_ends_at_its_flow() {
        let paths = Paths::new(&plan());
        let steps: Vec<_> = paths.steps(1, Kind::Ack).map(Step::next).collect();
        assert_eq!(steps, [Next::Link(3), Next::Link(4), Next::Endpoint(1)]);
        assert_eq!(paths.links(0, Kind::Data).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(paths.flow(&data(paths.first(1, Kind::Data), false)), 1);
    }

    #[test]
    fn labels_and_classes() {
        let paths = Paths::new(&plan());
        let label = |flow, kind| {
            let meta = paths.meta(&data(paths.first(flow, kind), false));
            (meta.flow, meta.class, flow_of(&meta))
        };
        assert_eq!([label(0, Kind::Data), label(0, Kind::Ack)], [(0, 1, 0), (1, 0, 0)]);
        assert_eq!([label(1, Kind::Data), label(1, Kind::Ack)], [(2, 1, 1), (2, 1, 1)]);
    }

    #[test]
    fn routers_lower_the_time_to_live_and_learn_its_end_once_the_sender_has_heard() {
        let paths = Paths::new(&plan());
        let ttl = |kind, hop, heard| {
            let meta = paths.meta(&data(paths.first(0, kind) + hop, heard));
            (meta.ttl_initial, meta.ttl, meta.ttl_final)
        };
        // Three links there, two back: the other end sees 62 and 63.
        assert_eq!(ttl(Kind::Data, 0, false), (64, 64, 0));
        assert_eq!(ttl(Kind::Data, 2, true), (64, 62, 62));
        assert_eq!(ttl(Kind::Ack, 1, true), (64, 63, 63));
        assert_eq!([lowered(64), lowered(1000)], [0, 0]);
    }
}
