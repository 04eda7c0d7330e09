use core::ops::Range;

use aqmlab_aqm::{Header, Kind, Meta};
use aqmlab_units::{Stream, prefetch};

use crate::message::Message;
use crate::plan::{Flow, LinkId, Multipath, Plan};
use crate::routing::{Detours, Routes};

/// Where a step of a path leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step(u32);

/// The next station on a path.
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

    /// The link that it leads to, unless that is an endpoint.
    pub fn link(self) -> Option<u32> {
        if let Next::Link(link) = self.next() { Some(link) } else { None }
    }

    /// Whether the station there may be evaluated ahead.
    #[inline]
    pub fn is_ahead(self) -> bool {
        self.0 & AHEAD != 0
    }
}

/// A step of a path, and what headers show there.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hop {
    step: Step,
    /// Flow label.
    label: u32,
    /// Class of the source, and times to live.
    header: Header,
}

/// A way on from a hop whose link may be down, or send packets away: hops as far as the end of the path.
#[derive(Clone, Debug)]
struct Detour {
    /// The hop.
    at: u32,
    /// Of the path, see [`number_of`].
    path: u32,
    hops: Range<u32>,
}

/// The paths of all flows, there and back: hops in one array, each path ended by its endpoint, or by the link that its answers measure.
/// Behind all paths are their detours, each ended in the same way.
///
/// Hosts set the time to live to that of their flow (TTL_i), and routers lower it by one. Each end echoes the time to live of the packets that
/// it receives, and writes the other end's echo into its own: so routers learn how long the path of a packet is (DDRED's
/// `TTL_f`); of a path with detours, the longest one. Both numbers follow from the path; a packet only needs to carry whether its sender has received a packet from the other
/// end.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    hops: Vec<Hop>,
    /// The first hop of each path.
    first: Vec<u32>,
    /// Hops of the paths.
    undeviating: usize,
    /// In the order of the hops that they lead on from.
    detours: Vec<Detour>,
    /// Hops of the plan; behind them are those of packets that were recorded.
    planned: usize,
}

/// The label of the last step of an answer, which is for the discipline of that link: it brings the delay of the ping.
pub(crate) const PING_DELAY: u32 = u32::MAX;
/// The same: its own delay counts.
const ANSWER_DELAY: u32 = PING_DELAY - 1;

/// Whether a packet with this label comes to a link to bring a delay.
#[inline]
pub(crate) fn brings_delay(label: u32) -> bool {
    label >= ANSWER_DELAY
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
    pub fn new(plan: &Plan, seed: u64) -> Self {
        let there_and_back =
            plan.flows.iter().map(Flow::ends).flat_map(|(from, to)| [(from, to), (to, from)]);
        let stream = |number: usize| {
            let (flow, way) = (&plan.flows[number / 2].name, ["data", "acknowledgements"][number % 2]);
            let is_drawn = plan.routing.multipath == Multipath::ByFlow;
            is_drawn.then(|| Stream::new(seed, &format!("path of {way} of flow {flow}")))
        };
        let routed = Routes::new(plan).paths_drawn(&there_and_back.collect::<Vec<_>>(), stream);
        let mut paths =
            Self { hops: Vec::new(), first: Vec::new(), undeviating: 0, detours: Vec::new(), planned: 0 };
        for (number, flow) in (0..).zip(&*plan.flows) {
            let one_way = plan.is_one_way(number);
            for kind in [Kind::Data, Kind::Ack] {
                let path = match routed.get(number_of(number as usize, kind)).filter(|p| !p.is_empty()) {
                    None if !one_way || kind == Kind::Data => {
                        panic!("flow {} has no path there and back", flow.name)
                    }
                    path => path.unwrap_or_default(),
                };
                let own_label = kind == Kind::Ack && !flow.acks_share_label;
                let length = path.len();
                let header = Header::default()
                    .with_class(if own_label { 0 } else { flow.class })
                    .with_ttl_initial(flow.ttl)
                    .with_ttl_final(lowered(flow.ttl, length.saturating_sub(1)));
                let hop = |passed, step| Hop {
                    step,
                    label: number << 1 | u32::from(own_label),
                    header: header.with_ttl(lowered(flow.ttl, passed)),
                };
                paths.first.push(paths.hops.len() as u32);
                let measured =
                    plan.measured_by(number).filter(|&link| kind == Kind::Ack && plan.is_measured(link));
                let end = measured.map_or(Step(ENDPOINT | number), Step);
                let steps = path.iter().copied().map(Step).chain([end]);
                paths.hops.extend(steps.enumerate().map(|(passed, step)| hop(passed, step)));
                if let Some(link) = measured {
                    let crosses = routed
                        .get(number_of(number as usize, Kind::Data))
                        .is_some_and(|path| path.contains(&link));
                    let label = if crosses { PING_DELAY } else { ANSWER_DELAY };
                    paths.hops.last_mut().expect("a hop").label = label;
                }
            }
        }
        paths.undeviating = paths.hops.len();
        if !plan.pings.is_empty() {
            // The step after each step of a path is read ahead.
            paths.hops.push(Hop { step: Step(ENDPOINT), label: 0, header: Header::default() });
        }
        if let Some(mut detours) = Detours::new(plan) {
            paths.add_detours(plan, &mut detours);
        }
        paths.hops.shrink_to_fit();
        paths.planned = paths.hops.len();
        paths
    }

    /// Add the detours of all paths, whose headers show the longest way from then on.
    fn add_detours(&mut self, plan: &Plan, detours: &mut Detours<'_>) {
        for path in 0..self.first.len() {
            let hops = self.range(path);
            let links: Vec<_> = self.links_of(hops.clone()).collect();
            let before = self.detours.len();
            self.deviate(path as u32, hops.start, &links, &mut Vec::new(), detours);
            if self.detours.len() == before {
                continue;
            }
            let ttl_final = lowered(plan.flows[path / 2].ttl, detours.longest(&links) - 1);
            let added = self.detours[before..].iter().flat_map(|detour| detour.hops.clone());
            for hop in added.map(|hop| hop as usize).chain(hops) {
                self.hops[hop].header = self.hops[hop].header.with_ttl_final(ttl_final);
            }
        }
        self.detours.sort_unstable_by_key(|detour| detour.at);
    }

    /// Add the detours of a path, or of a detour around some links, that begins at hop `start`.
    fn deviate(
        &mut self,
        path: u32,
        start: usize,
        links: &[LinkId],
        avoided: &mut Vec<LinkId>,
        detours: &mut Detours<'_>,
    ) {
        for (passed, link) in links.iter().enumerate() {
            let Some(detour) = detours.at(links, passed, avoided) else { continue };
            let (at, first) = (start + passed, self.hops.len());
            let end = self.hops[start + links.len()];
            let steps = detour.iter().copied().map(Step).chain([end.step]);
            let Hop { label, header: before, .. } = self.hops[at];
            for (further, step) in steps.enumerate() {
                let header = before.with_ttl(lowered(before.ttl(), further));
                let label = if further == detour.len() { end.label } else { label };
                self.hops.push(Hop { step, label, header });
            }
            self.detours.push(Detour { at: at as u32, path, hops: first as u32..self.hops.len() as u32 });
            avoided.push(*link);
            self.deviate(path, first, &detour, avoided, detours);
            avoided.pop();
        }
    }

    /// The first step of the detour from a step, if it has one.
    #[cold]
    pub fn detour(&self, step: u32) -> Option<u32> {
        let place = self.detours.binary_search_by_key(&step, |detour| detour.at).ok()?;
        Some(self.detours[place].hops.start)
    }

    /// Whether any path has a detour.
    pub fn has_detours(&self) -> bool {
        !self.detours.is_empty()
    }

    /// The detours of a flow: the link that packets do not take, the kind of the packets, and their steps from there.
    pub fn detours_of(
        &self,
        flow: usize,
    ) -> impl Iterator<Item = (LinkId, Kind, impl Iterator<Item = Step>)> {
        let of_flow = self.detours.iter().filter(move |detour| detour.path as usize / 2 == flow);
        of_flow.map(|detour| {
            let Next::Link(link) = self.at(detour.at).next() else {
                unreachable!("a detour is around a link")
            };
            let kind = if detour.path % 2 == 0 { Kind::Data } else { Kind::Ack };
            (link, kind, detour.hops.clone().map(|hop| self.at(hop)))
        })
    }

    /// The step of a packet that was recorded before a link, behind which is the end of its flow.
    pub fn recorded(&mut self, link: u32, meta: &Meta) -> u32 {
        let (label, header) = (meta.flow, meta.header.with_own(0));
        let before = Hop { step: Step(link), label, header };
        let known = &self.hops[self.planned..];
        if let Some(place) = known.iter().position(|hop| *hop == before) {
            return (self.planned + place) as u32;
        }
        self.hops.extend([before, Hop { step: Step(ENDPOINT | flow_of(meta) as u32), ..before }]);
        self.hops.len() as u32 - 2
    }

    /// The first step of a data packet or acknowledgement of `flow`; it is a link.
    #[inline]
    pub fn first(&self, flow: usize, kind: Kind) -> u32 {
        self.first[number_of(flow, kind)]
    }

    /// Ask for a step.
    #[inline]
    pub fn prefetch(&self, step: u32) {
        prefetch(&self.hops[step as usize]);
    }

    /// Ask for the first steps of a flow.
    #[inline]
    pub fn prefetch_first(&self, flow: usize) {
        prefetch(&self.first[number_of(flow, Kind::Data)]);
    }

    /// Where this step leads.
    #[inline]
    pub fn at(&self, step: u32) -> Step {
        self.hops[step as usize].step
    }

    /// The flow of a packet.
    #[inline]
    pub fn flow(&self, message: &Message) -> usize {
        (self.hops[message.step as usize].label >> 1) as usize
    }

    /// The header of a packet that arrives at a queue, as disciplines see it.
    #[inline]
    pub fn meta(&self, message: &Message) -> Meta {
        let Hop { label, header, .. } = self.hops[message.step as usize];
        let header = if message.peer_ttl_known() { header } else { header.with_ttl_final(0) };
        Meta {
            arrival: message.time,
            bytes: message.bytes,
            flow: label,
            header: header.with_own(message.header),
        }
    }

    /// The steps of a path, its endpoint included.
    pub fn steps(&self, flow: usize, kind: Kind) -> impl Iterator<Item = Step> {
        self.range(number_of(flow, kind)).map(|hop| self.hops[hop].step)
    }

    /// The links of a path, in order.
    pub fn links(&self, flow: usize, kind: Kind) -> impl Iterator<Item = u32> {
        self.links_of(self.range(number_of(flow, kind)))
    }

    fn links_of(&self, hops: Range<usize>) -> impl Iterator<Item = u32> {
        let passed = hops.filter(|&hop| !brings_delay(self.hops[hop].label));
        passed.filter_map(|hop| self.hops[hop].step.link())
    }

    /// Lets stations be evaluated ahead if `may` returns true for them and for the kind of the packets.
    pub fn allow_ahead(&mut self, may: impl Fn(Next, Kind) -> bool) {
        let paths = (0..self.first.len()).map(|path| (path, self.range(path)));
        let detours = self
            .detours
            .iter()
            .map(|detour| (detour.path as usize, detour.hops.start as usize..detour.hops.end as usize));
        for (path, hops) in paths.chain(detours).collect::<Vec<_>>() {
            let kind = if path % 2 == 0 { Kind::Data } else { Kind::Ack };
            for hop in hops {
                let step = &mut self.hops[hop].step;
                if may(step.next(), kind) {
                    step.0 |= AHEAD;
                }
            }
        }
    }

    fn range(&self, path: usize) -> Range<usize> {
        let end = self.first.get(path + 1).map_or(self.undeviating, |&next| next as usize);
        self.first[path] as usize..end
    }
}

fn number_of(flow: usize, kind: Kind) -> usize {
    2 * flow + usize::from(kind == Kind::Ack)
}

/// The time to live after so many routers.
#[inline]
fn lowered(ttl: u8, routers: usize) -> u8 {
    ttl.saturating_sub(routers.min(usize::from(u8::MAX)) as u8)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::key::Key;
    use crate::plan::{
        Backup, BackupRule, Ends, Flow, Line, Link, Outage, Probe, Routing, Size, Start, TTL, Transport,
    };
    use aqmlab_aqm::{LinkContext, Spec};
    use aqmlab_transport::ns2::{Config, Variant};
    use aqmlab_transport::{Data, DataFlags, TcpConfig};
    use aqmlab_units::{Rate, Span, Time};

    /// Two flows from node 0 to node 3: three links there, two back. The second shares the label of its data.
    fn plan() -> Plan {
        let context = LinkContext { rate: Rate(1_000_000), delay: Span::from_millis(1) };
        let queue = Arc::new(Spec::new("drop-tail").expect("a preset").resolve(context).expect("a queue"));
        let links = [(0, 1), (1, 2), (2, 3), (3, 1), (1, 0)].map(|(from, to)| Link {
            name: format!("{from}->{to}").into(),
            from,
            to,
            line: Line::constant(context.rate, context.delay).into(),
            queue: queue.clone(),
        });
        let config = TcpConfig::Ns2(Arc::new(Config::ns2(Variant::Reno)));
        let flow = |acks_share_label| Flow {
            name: "".into(),
            group: "".into(),
            ends: Ends::At(0, 3),
            start: Start::At(Time::ZERO),
            stop: None,
            again: Vec::new(),
            dscp: 46,
            class: 1,
            ttl: if acks_share_label { 9 } else { TTL },
            acks_share_label,
            hosts: [0; 2],
            transport: Arc::new(Transport::Tcp {
                config: config.clone(),
                size: Size::Packets(20),
                clock_offset: None,
            }),
        };
        Plan {
            nodes: (0..4).map(|i| i.to_string().into()).collect(),
            links: links.into(),
            flows: [flow(false), flow(true)].into(),
            hosts: Vec::new(),
            pages: Vec::new(),
            markers: Vec::new(),
            pings: Vec::new(),
            translations: Vec::new(),
            routing: Default::default(),
            duration: Span::from_millis(5000),
            warmup: Span::ZERO,
            probe: Probe::default(),
        }
    }

    fn data(step: u32, peer_ttl_known: bool) -> Message {
        let data = Data { sent: Time(5), seq: 1, bytes: 500, flags: DataFlags::NONE };
        Message::of_data(Key::default(), step, 46, peer_ttl_known, &data)
    }

    #[test]
    fn a_path_ends_at_its_flow() {
        let paths = Paths::new(&plan(), 1);
        let steps: Vec<_> = paths.steps(1, Kind::Ack).map(Step::next).collect();
        assert_eq!(steps, [Next::Link(3), Next::Link(4), Next::Endpoint(1)]);
        assert_eq!(paths.links(0, Kind::Data).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(paths.flow(&data(paths.first(1, Kind::Data), false)), 1);
    }

    #[test]
    fn labels_and_classes() {
        let paths = Paths::new(&plan(), 1);
        let label = |flow, kind| {
            let meta = paths.meta(&data(paths.first(flow, kind), false));
            (meta.flow, meta.header.class(), flow_of(&meta))
        };
        assert_eq!([label(0, Kind::Data), label(0, Kind::Ack)], [(0, 1, 0), (1, 0, 0)]);
        assert_eq!([label(1, Kind::Data), label(1, Kind::Ack)], [(2, 1, 1), (2, 1, 1)]);
    }

    #[test]
    fn routers_lower_the_time_to_live_and_learn_its_end_once_the_sender_has_received_it() {
        let paths = Paths::new(&plan(), 1);
        let ttl_of = |flow, kind, hop, peer_ttl_known| {
            let meta = paths.meta(&data(paths.first(flow, kind) + hop, peer_ttl_known));
            (meta.header.ttl_initial(), meta.header.ttl(), meta.header.ttl_final())
        };
        let ttl = |kind, hop, peer_ttl_known| ttl_of(0, kind, hop, peer_ttl_known);
        // Three links there, two back: the other end sees 62 and 63.
        assert_eq!(ttl(Kind::Data, 0, false), (64, 64, 0));
        assert_eq!(ttl(Kind::Data, 2, true), (64, 62, 62));
        assert_eq!(ttl(Kind::Ack, 1, true), (64, 63, 63));
        // The hosts of the second flow begin with 9.
        assert_eq!(ttl_of(1, Kind::Data, 2, true), (9, 7, 7));
        assert_eq!(ttl_of(1, Kind::Ack, 0, false), (9, 9, 0));
        assert_eq!([lowered(TTL, 64), lowered(TTL, 1000)], [0, 0]);
    }

    #[test]
    fn times_to_live_on_a_detour() {
        let mut plan = plan();
        plan.nodes = (0..6).map(|i| i.to_string().into()).collect();
        let mut links = plan.links.to_vec();
        for (from, to) in [(1, 4), (4, 5), (5, 2)] {
            links.push(Link { from, to, ..links[0].clone() });
        }
        Arc::make_mut(&mut links[1].line).outages =
            vec![Outage { down: Time(1), up: Time(2), flushes: false }];
        plan.links = links.into();
        assert!(!Paths::new(&plan, 1).has_detours());
        let static_detour = vec![Backup { link: 1, path: vec![5, 6, 7] }];
        for (backup, backups) in [(BackupRule::Shortest, Vec::new()), (BackupRule::Nothing, static_detour)] {
            plan.routing = Routing { backup, backups, ..Routing::default() };
            let paths = Paths::new(&plan, 1);
            let first = paths.first(0, Kind::Data);
            assert_eq!([first, first + 2].map(|step| paths.detour(step)), [None, None]);
            let detour = paths.detour(first + 1).expect("a way around link 1");
            let hops = |from: u32, count| {
                (from..from + count).map(|step| {
                    let header = paths.meta(&data(step, true)).header;
                    (paths.at(step).next(), header.ttl(), header.ttl_final())
                })
            };
            // Five links: the other end sees 60, and all routers know it, also on the shorter path.
            let link = |link, ttl| (Next::Link(link), ttl, 60);
            assert_eq!(hops(first, 3).collect::<Vec<_>>(), [link(0, 64), link(1, 63), link(2, 62)]);
            let ways = [link(5, 63), link(6, 62), link(7, 61), link(2, 60)];
            assert_eq!(hops(detour, 4).collect::<Vec<_>>(), ways);
            assert_eq!(paths.at(detour + 4).next(), Next::Endpoint(0));
            let back = paths.meta(&data(paths.first(0, Kind::Ack), true));
            assert_eq!(back.header.ttl_final(), 63, "acknowledgements have one way");
        }
    }

    #[test]
    fn answers_end_at_the_link_that_they_measure() {
        let mut plan = plan();
        let mut spec = Spec::new("cake").expect("a preset");
        let mbps = |n: u64| aqmlab_aqm::Value::Rate(Rate(n * 1_000_000));
        for (key, value) in [("rate", mbps(9)), ("autorate", aqmlab_aqm::Value::Flag(true))] {
            spec.set(key, value).expect("valid");
        }
        let queue = Arc::new(
            spec.resolve(LinkContext { rate: Rate(10_000_000), delay: Span::ZERO }).expect("a queue"),
        );
        let mut links = plan.links.to_vec();
        links.iter_mut().for_each(|link| link.queue = queue.clone());
        plan.links = links.into();
        let way = |kind| Paths::new(&plan, 1).links(0, kind).collect::<Vec<_>>();
        let (there, back) = (way(Kind::Data), way(Kind::Ack));
        for (link, label) in [(there[0], PING_DELAY), (back[0], ANSWER_DELAY)] {
            plan.pings = vec![crate::plan::Ping { flow: 0, link }];
            let paths = Paths::new(&plan, 1);
            let last = paths.range(number_of(0, Kind::Ack)).next_back().expect("a step");
            assert_eq!((paths.hops[last].step.next(), paths.hops[last].label), (Next::Link(link), label));
            // The way is the same, and the answers of others end at their sources.
            assert_eq!(paths.links(0, Kind::Ack).collect::<Vec<_>>(), back);
            assert_eq!(paths.steps(1, Kind::Ack).last().map(Step::next), Some(Next::Endpoint(1)));
        }
    }
}
