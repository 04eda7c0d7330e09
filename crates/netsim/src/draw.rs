//! The random draws of a plan for one seed: the ends of flows, the sizes of transfers, the objects of pages.
//!
//! Each has a named stream of its own, so that none shifts another: the same seed gives the same flows whatever the
//! disciplines are.

use std::collections::BTreeMap;
use std::sync::Arc;

use aqmlab_transport::TcpConfig;
use aqmlab_units::{Span, Stream, Time};

use crate::plan::{
    Dispatch, Ends, Flow, Line, NodeId, Objects, Page, Plan, PoissonProcess, Size, Start, Transport,
};

impl Plan {
    /// This plan with all ends at nodes, all sizes in packets or bytes, and all Poisson arrivals at times, drawn from the
    /// streams `ends of flow NAME`, `size of flow NAME` and `arrivals of group NAME`. A flow whose arrival does not take place
    /// starts at [`Time::NEVER`].
    ///
    /// # Panics
    /// If there is no host to draw; in a checked plan there are hosts at two routers at least.
    #[must_use]
    pub fn drawn(&self, seed: u64) -> Self {
        let mut plan = self.clone();
        plan.draw_arrivals(seed);
        // Of the list that the flow before had; those of a group have the same.
        let mut known: Option<Hosts> = None;
        for (i, flow) in self.flows.iter().enumerate() {
            if let Ends::Drawn { from, to, hosts } = &flow.ends {
                let hosts = match known.take().filter(|known| Arc::ptr_eq(&known.list, hosts)) {
                    Some(known) => known,
                    None => Hosts::new(hosts),
                };
                let mut stream = Stream::new(seed, &format!("ends of flow {}", flow.name));
                let (from, to) = ends(*from, *to, &hosts, &mut |n| stream.below(n))
                    .unwrap_or_else(|| panic!("no host to draw for flow {}", flow.name));
                known = Some(hosts);
                plan.own_flows()[i].ends = Ends::At(from, to);
            }
            if let Transport::Tcp { config, size: Size::Drawn(bytes), clock_offset } = &*flow.transport {
                let mut stream = Stream::new(seed, &format!("size of flow {}", flow.name));
                let bytes = bytes.draw(stream.uniform());
                let size = match config {
                    TcpConfig::Ns2(config) => Size::Packets(whole(bytes / f64::from(config.packet_size))),
                    TcpConfig::Rfc(_) => Size::Bytes(whole(bytes)),
                };
                plan.own_flows()[i].transport =
                    Arc::new(Transport::Tcp { config: config.clone(), size, clock_offset: *clock_offset });
            }
        }
        for page in &plan.pages.clone() {
            let first = page.first as usize;
            draw_page(page, &mut plan.own_flows()[first..first + page.connections as usize], seed);
        }
        plan
    }

    /// This plan for a run, in which servers and channels of links that are down at times follow that.
    #[must_use]
    pub(crate) fn with_outages(mut self) -> Self {
        if self.links.iter().any(|link| !link.line.outages.is_empty()) {
            for link in Arc::make_mut(&mut self.links).iter_mut().filter(|link| !link.line.outages.is_empty())
            {
                let Line { server, channel, outages } = (*link.line).clone();
                let (server, channel) = (server.failing(&outages), channel.cut(&outages));
                link.line = Line { server, channel, outages }.into();
            }
        }
        self
    }

    /// Draw the arrivals of all groups that have a Poisson process.
    fn draw_arrivals(&mut self, seed: u64) {
        let mut groups: BTreeMap<Arc<str>, Arrivals> = BTreeMap::new();
        let mut drawn = |group: &Arc<str>, start: &mut Start| {
            if let Start::Poisson { process, index } = start {
                let arrivals =
                    groups.entry(Arc::clone(group)).or_insert_with(|| Arrivals::new(seed, group, process));
                *start = Start::At(arrivals.time_of(process, *index));
            }
        };
        if !self.flows.iter().any(|flow| matches!(flow.start, Start::Poisson { .. })) {
            return;
        }
        let mut pages = self.pages.iter_mut().peekable();
        for (i, flow) in (0..).zip(Arc::make_mut(&mut self.flows)) {
            if let Some(page) = pages.next_if(|page| page.first == i) {
                drawn(&flow.group, &mut page.start);
            }
            drawn(&flow.group, &mut flow.start);
        }
    }

    /// The flows, to change them; they are copied first if other plans share them.
    fn own_flows(&mut self) -> &mut [Flow] {
        Arc::make_mut(&mut self.flows)
    }
}

/// Draw when a page is requested and assign its objects to its connections, all of which begin and end where the first
/// one does; from the stream `page NAME`. Connections that share the objects get all of them.
fn draw_page(page: &Page, connections: &mut [Flow], seed: u64) {
    let mut stream = Stream::new(seed, &format!("page {}", page.name));
    let start = page.start.at(stream.uniform());
    let sizes: Arc<[u64]> = (0..page.objects).map(|_| whole(page.size.draw(stream.uniform()))).collect();
    let ends = connections[0].ends.clone();
    let all = connections.len();
    for (place, flow) in connections.iter_mut().enumerate() {
        (flow.start, flow.ends) = (Start::At(start), ends.clone());
        let transport = Arc::make_mut(&mut flow.transport);
        if let Transport::Tcp { size: Size::Objects(Objects { sizes: own, .. }), .. } = transport {
            *own = match page.dispatch {
                Dispatch::InTurn => sizes.iter().skip(place).step_by(all).copied().collect(),
                Dispatch::FirstFree => Arc::clone(&sizes),
            };
        }
    }
}

/// The arrivals of a group's Poisson process, drawn in their order: gaps are exponential.
struct Arrivals {
    stream: Stream,
    /// The last arrival drawn, and its number.
    last: Time,
    index: u32,
}

impl Arrivals {
    fn new(seed: u64, group: &str, process: &PoissonProcess) -> Self {
        let mut stream = Stream::new(seed, &format!("arrivals of group {group}"));
        let last = after(process.from, &mut stream, process);
        Self { stream, last, index: 0 }
    }

    /// The time of an arrival; numbers do not fall from call to call.
    fn time_of(&mut self, process: &PoissonProcess, index: u32) -> Time {
        while self.index < index && self.last != Time::NEVER {
            self.last = after(self.last, &mut self.stream, process);
            self.index += 1;
        }
        self.last
    }
}

/// The first arrival after a time; [`Time::NEVER`] if the process ends before.
fn after(time: Time, stream: &mut Stream, process: &PoissonProcess) -> Time {
    let gap = Span::from_secs(stream.exponential(1.0 / process.rate));
    let at = Time(time.0.saturating_add(gap.0));
    if at < process.until { at } else { Time::NEVER }
}

impl Start {
    /// The time, given a number uniform on [0, 1).
    ///
    /// # Panics
    /// If it is an arrival of a process that is not drawn yet.
    fn at(&self, uniform: f64) -> Time {
        match *self {
            Self::At(t) => t,
            Self::Poisson { .. } => panic!("the arrival is not drawn"),
            Self::Uniform(from, to) => from + Span((uniform * to.since(from).0 as f64) as u64),
        }
    }
}

impl Flow {
    /// When it starts in the run of this seed.
    pub fn start_in(&self, seed: u64) -> Time {
        self.start_and_clock(seed).0
    }

    /// When it starts, and a number uniform on [0, 1) for the phase of its sender's clock; from the stream `flow NAME`.
    pub(crate) fn start_and_clock(&self, seed: u64) -> (Time, f64) {
        let mut rng = Stream::new(seed, &format!("flow {}", self.name));
        // Both numbers are always drawn, so that one reading does not shift the other.
        let (for_start, for_clock) = (rng.uniform(), rng.uniform());
        (self.start.at(for_start), for_clock)
    }
}

/// Hosts to draw from.
struct Hosts {
    /// Each with the router that it is at.
    list: Arc<[(NodeId, NodeId)]>,
    /// Places in the list by router, and the router of each host.
    at: BTreeMap<NodeId, Vec<u32>>,
    router: BTreeMap<NodeId, NodeId>,
}

impl Hosts {
    fn new(list: &Arc<[(NodeId, NodeId)]>) -> Self {
        let mut at: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for (place, (_, router)) in (0..).zip(list.iter()) {
            at.entry(*router).or_default().push(place);
        }
        Self { list: Arc::clone(list), at, router: list.iter().copied().collect() }
    }

    /// One of the hosts at other routers than this host's.
    fn away_from(&self, other: Option<NodeId>, below: &mut impl FnMut(u64) -> u64) -> Option<NodeId> {
        let router = other.and_then(|other| self.router.get(&other));
        let near = router.and_then(|router| self.at.get(router)).map_or(&[][..], Vec::as_slice);
        let n = (self.list.len() - near.len()) as u64;
        if n == 0 {
            return None;
        }
        // The place of the k-th host that is not near: those of the near ones before it come on top.
        let k = below(n) as usize;
        let mut skipped = 0..near.len();
        while !skipped.is_empty() {
            let middle = skipped.start + skipped.len() / 2;
            let before = near[middle] as usize - middle <= k;
            skipped = if before { middle + 1..skipped.end } else { skipped.start..middle };
        }
        Some(self.list[k + skipped.start].0)
    }
}

/// Both ends; `below` draws.
fn ends(
    from: Option<NodeId>,
    to: Option<NodeId>,
    hosts: &Hosts,
    below: &mut impl FnMut(u64) -> u64,
) -> Option<(NodeId, NodeId)> {
    let from = from.or_else(|| hosts.away_from(to, below))?;
    let to = to.or_else(|| hosts.away_from(Some(from), below))?;
    Some((from, to))
}

/// Rounded up to a whole number, at least one.
fn whole(x: f64) -> u64 {
    (x.ceil() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(seed: u64, process: &PoissonProcess, indices: impl Iterator<Item = u32>) -> Vec<Time> {
        let mut arrivals = Arrivals::new(seed, "web", process);
        indices.map(|index| arrivals.time_of(process, index)).collect()
    }

    #[test]
    fn arrivals_are_those_of_a_poisson_process() {
        let (from, until) = (Time::from_secs(5.0), Time::from_secs(405.0));
        let process = PoissonProcess { rate: 50.0, from, until };
        let all = times(3, &process, 0..25_000);
        let count = all.iter().position(|&at| at == Time::NEVER).expect("an end");
        assert!(all[count..].iter().all(|&at| at == Time::NEVER));
        // 20,000 are expected with a standard deviation of 141; 2.58 of these are the 1 % point.
        assert!((count as f64 - 20_000.0).abs() < 365.0, "{count}");
        assert!(all[..count].is_sorted() && all[0] > from && all[count - 1] < until);
        // Kolmogorov-Smirnov: given their number, arrivals are uniform; 1.63 / sqrt(n) is the 1 % point.
        let gap = |(i, at): (usize, &Time)| (at.since(from).secs() / 400.0 - i as f64 / count as f64).abs();
        let largest = all[..count].iter().enumerate().map(gap).fold(0.0, f64::max);
        assert!(largest < 1.63 / (count as f64).sqrt(), "{largest}");
        // Chi-square of the number in each of 4,000 slots of 0.1 s: a mean of 5, and dispersion 1.
        let mut slots = vec![0u32; 4000];
        all[..count].iter().for_each(|at| slots[(at.since(from).secs() * 10.0) as usize] += 1);
        let mean = count as f64 / 4000.0;
        let excesses = slots.iter().map(|&n| f64::from(n) - mean);
        let dispersion: f64 = excesses.map(|excess| excess * excess / mean).sum();
        // 1 % points of chi-square with 3999 degrees of freedom, as normal: 3999 +- 2.58 sqrt(2 * 3999).
        assert!((dispersion - 3999.0).abs() < 231.0, "{dispersion}");
    }

    #[test]
    fn arrivals_depend_on_seed_group_and_number_alone() {
        let process = PoissonProcess { rate: 20.0, from: Time::ZERO, until: Time::from_secs(10.0) };
        let all = times(1, &process, 0..50);
        assert_eq!(
            times(1, &process, (0..50).step_by(7)),
            all.iter().step_by(7).copied().collect::<Vec<_>>()
        );
        assert_ne!(times(2, &process, 0..50), all);
        let never = PoissonProcess { rate: 1e-9, ..process };
        assert_eq!(times(1, &never, 0..3), [Time::NEVER; 3]);
        let later = PoissonProcess { from: Time::from_secs(20.0), ..process };
        assert_eq!(times(1, &later, 0..2), [Time::NEVER; 2], "it ends before it begins");
    }

    /// Hosts 10 to 15, two at each of the routers 0, 1 and 2.
    const HOSTS: [(NodeId, NodeId); 6] = [(10, 0), (11, 0), (12, 1), (13, 1), (14, 2), (15, 2)];

    #[test]
    fn whole_packets() {
        let cases = [(0.0, 1), (1.0, 1), (1000.0, 1), (1000.1, 2), (10_000.0, 10), (10_001.0, 11)];
        for (bytes, expected) in cases {
            assert_eq!(whole(bytes / 1000.0), expected, "{bytes}");
        }
    }

    fn hosts(list: &[(NodeId, NodeId)]) -> Hosts {
        Hosts::new(&list.into())
    }

    #[test]
    fn ends_by_hand() {
        let drawn = |from, to, k| ends(from, to, &hosts(&HOSTS), &mut |n| k % n);
        assert_eq!(drawn(None, None, 3), Some((13, 15)), "13, then 10, 11, 14, 15");
        assert_eq!(drawn(Some(12), None, 2), Some((12, 14)));
        assert_eq!(drawn(None, Some(10), 0), Some((12, 10)));
        assert_eq!(drawn(Some(3), Some(4), 0), Some((3, 4)), "nothing to draw");
        assert_eq!(ends(None, None, &hosts(&HOSTS[..2]), &mut |_| 0), None, "all at one router");
    }

    #[test]
    fn the_hosts_away_from_one_keep_their_order() {
        // Routers in turn, as hosts of a torus are; and one router with nearly all.
        for router_of in [|host: u32| host % 5, |host| host / 5, |host| u32::from(host % 7 == 3)] {
            let list: Vec<_> = (0..40).map(|host| (host + 100, router_of(host))).collect();
            let hosts = hosts(&list);
            for &(host, router) in &list {
                let away: Vec<_> =
                    list.iter().filter(|(_, at)| *at != router).map(|(host, _)| *host).collect();
                let drawn =
                    |k| hosts.away_from(Some(host), &mut |n| if n == away.len() as u64 { k } else { n });
                assert!((0..).zip(&away).all(|(k, &expected)| drawn(k) == Some(expected)));
            }
            assert_eq!(hosts.away_from(Some(7), &mut |n| n - 1), Some(139), "no host: among all");
        }
    }

    #[test]
    fn every_pair_of_hosts_at_different_routers_is_as_likely_as_any_other() {
        let (mut stream, hosts) = (Stream::new(1, "pairs"), hosts(&HOSTS));
        let mut counts = [[0u32; 6]; 6];
        let n = 24_000;
        for _ in 0..n {
            let (from, to) = ends(None, None, &hosts, &mut |n| stream.below(n)).expect("hosts");
            counts[from as usize - 10][to as usize - 10] += 1;
        }
        let expected = f64::from(n) / 24.0;
        let chi_square: f64 = (0..36)
            .map(|i| (i / 6, i % 6))
            .map(|(from, to)| {
                let count = counts[from][to];
                if from / 2 == to / 2 {
                    assert_eq!(count, 0, "hosts at one router");
                    return 0.0;
                }
                let excess = f64::from(count) - expected;
                excess * excess / expected
            })
            .sum();
        assert!(chi_square < 41.6, "1 % point with 23 degrees of freedom: {chi_square}");
    }
}
