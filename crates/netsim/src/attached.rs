use core::ops::Deref;
use std::collections::BTreeMap;
use std::sync::Arc;

use aqmlab_aqm::Limit;
use aqmlab_units::Span;

use crate::plan::{Ends, Flow, Length, LinkId, Plan, Transport};

/// Longest backlog of a link whose departures are computed at arrivals: sums of times of 64 bits hold that and a run.
const LONGEST_BACKLOG: Span = Span(u64::MAX / 4);
/// Room for headers and options, and acknowledgements.
const HEADERS: u32 = 200;

/// A plan with what it attaches to single links, by link: a look-up in place of a search through the plan for every link.
#[derive(Debug)]
pub(crate) struct Attached<'a> {
    plan: &'a Plan,
    observed: Vec<bool>,
    markers: BTreeMap<LinkId, Vec<usize>>,
    /// No packet of the plan has more bytes.
    largest_packet: u32,
    /// Numbers of source and destination host of each flow, if a queue asks for them.
    hosts: Option<HostPairs>,
    /// The same as queues see them that do not look through address translation.
    translated_hosts: Option<HostPairs>,
}

/// Numbers of the source and of the destination host of each flow.
pub(crate) type HostPairs = Arc<[[u32; 2]]>;

impl Deref for Attached<'_> {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        self.plan
    }
}

impl<'a> Attached<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        let mut observed = vec![false; plan.links.len()];
        plan.probe.links.iter().for_each(|&link| observed[link as usize] = true);
        let mut markers: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (number, marker) in plan.markers.iter().enumerate() {
            markers.entry(marker.link).or_default().push(number);
        }
        let largest_packet = plan.flows.iter().map(|flow| largest(&flow.transport)).max().unwrap_or(0);
        let is_asked = plan.links.iter().any(|link| link.queue.reads_hosts());
        let hosts = is_asked.then(|| host_pairs(plan, false));
        let translated_hosts = is_asked.then(|| host_pairs(plan, true));
        Self { plan, observed, markers, largest_packet, hosts, translated_hosts }
    }

    /// The hosts of all flows, if the queue of the link asks for them.
    pub fn hosts(&self, link: LinkId) -> Option<HostPairs> {
        let (own, translated) = self.hosts.as_ref().zip(self.translated_hosts.as_ref())?;
        let queue = &self.links[link as usize].queue;
        let seen = if queue.looks_through_nat() { own } else { translated };
        queue.reads_hosts().then(|| seen.clone())
    }

    /// Whether the link is observed.
    pub fn is_observed(&self, link: LinkId) -> bool {
        self.observed[link as usize]
    }

    /// Whether its packets leave no trace besides counts: none is logged or gets a code point, and the link is never down.
    pub fn only_counts(&self, link: LinkId) -> bool {
        let logs = self.is_observed(link) && (self.probe.events || self.probe.packets);
        !logs
            && !self.is_measured(link)
            && self.markers(link).is_empty()
            && self.links[link as usize].line.outages.is_empty()
    }

    /// Whether the times of all that can wait for the link are far from the last time there is.
    pub fn has_short_backlog(&self, link: LinkId) -> bool {
        let (link, packet) = (&self.links[link as usize], u64::from(self.largest_packet));
        let bytes = match link.queue.limit() {
            Some(Limit::Packets(n)) => (u64::from(n) + 1) * packet,
            Some(Limit::Bytes(n)) => n.saturating_add(packet),
            None => u64::MAX,
        };
        link.line.server.longest(bytes) <= LONGEST_BACKLOG
    }

    /// The numbers of the markers before its queue.
    pub fn markers(&self, link: LinkId) -> &[usize] {
        self.markers.get(&link).map_or(&[], Vec::as_slice)
    }
}

/// Return the most bytes that a packet of a flow may have.
fn largest(transport: &Transport) -> u32 {
    match transport {
        Transport::Tcp { config, .. } => config.full_length().saturating_add(HEADERS),
        Transport::Udp { packet, .. } => packet.same().unwrap_or(Length::MAX),
        Transport::Scream(config) => config.mss.max(config.feedback_size),
    }
}

/// Number the hosts of all flows, before or after address translation: a node has its own number, and names that no node has follow.
fn host_pairs(plan: &Plan, is_translated: bool) -> HostPairs {
    let number =
        |(place, name)| plan.nodes.iter().position(|node| node == name).unwrap_or(plan.nodes.len() + place);
    let named: Vec<_> = plan.hosts.iter().enumerate().map(number).collect();
    let pair = |(flow_number, flow): (u32, &Flow)| {
        let (from, to) = match flow.ends {
            Ends::At(from, to) => (from, to),
            Ends::Drawn { from, to, .. } => (from.unwrap_or(0), to.unwrap_or(0)),
        };
        let host =
            |number: u16, node| named.get(usize::from(number).wrapping_sub(1)).map_or(node, |n| *n as u32);
        let addresses = if is_translated { plan.translated(flow_number) } else { [0; 2] };
        let seen = |end: usize| if addresses[end] > 0 { addresses[end] } else { flow.hosts[end] };
        [host(seen(0), from), host(seen(1), to)]
    };
    (0..).zip(&*plan.flows).map(pair).collect()
}
