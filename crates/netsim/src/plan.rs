//! A checked plan: what to simulate, with every choice made. The scenario crate writes it, the simulator reads it.

use std::sync::Arc;

use aqmlab_aqm::{LinkContext, Resolved};
pub use aqmlab_transport::{Arrival, Length, Pattern};
use aqmlab_transport::{TcpConfig, scream};
pub use aqmlab_units::{Cdf, Spread};
use aqmlab_units::{Rate, Span, Time};

pub use crate::link::{
    Channel, ChannelChange, Impairments, InService, Keys, LONGEST_TRACE, Outage, Server, Settings, TraceData,
};

/// A name. With many flows, most memory of a plan would be that of texts: one of up to 24 bytes needs none of its own.
pub type Name = compact_str::CompactString;
/// Number of a node in [`Plan::nodes`].
pub type NodeId = u32;
/// Number of a link in [`Plan::links`].
pub type LinkId = u32;

/// Time to live with which hosts send, unless the scenario says another: Linux's.
pub const TTL: u8 = 64;

/// Everything that a run needs except for its seed. Copies share what may be large and is the same for all seeds.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Names of the nodes.
    pub nodes: Arc<[Name]>,
    /// One-way links.
    pub links: Arc<[Link]>,
    /// Flows, in the order of their numbers.
    pub flows: Arc<[Flow]>,
    /// Names of hosts that the ends of flows may share; that of a node is the node.
    pub hosts: Vec<Name>,
    /// Web pages, which are made of flows.
    pub pages: Vec<Page>,
    /// Meters and markers before the queues of links.
    pub markers: Vec<Marker>,
    /// Flows that measure delays, in the order of their numbers.
    pub pings: Vec<Ping>,
    /// Flows whose addresses are translated, in the order of their numbers.
    pub translations: Vec<Translation>,
    /// How packets find their way.
    pub routing: Routing,
    /// The run ends here.
    pub duration: Span,
    /// Statistics begin here; below `duration`.
    pub warmup: Span,
    /// Records to keep.
    pub probe: Probe,
}

/// How packets find their way: over the shortest path by links, and over others while a link of it is down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routing {
    /// Which of several shortest paths.
    pub multipath: Multipath,
    /// The detour around a link that is down, where `backups` has none.
    pub backup: BackupRule,
    /// Static detours; at most one for a link.
    pub backups: Vec<Backup>,
}

/// Which of several shortest paths packets take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Multipath {
    /// The one over the link of the lowest number at the first difference.
    #[default]
    First,
    /// One for each flow and direction, drawn at each router: a hash of the flow's name and the seed.
    ByFlow,
}

/// The detour around a link that is down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackupRule {
    /// None: packets are dropped.
    #[default]
    Nothing,
    /// The shortest path from the start of the link to the destination of the packet without it.
    Shortest,
}

/// A static detour around a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Backup {
    /// Taken while this link is down, and by packets that its discipline sends another way.
    pub link: LinkId,
    /// Links from its start to its end.
    pub path: Vec<LinkId>,
}

/// A one-way link and the queue before it.
#[derive(Clone, Debug)]
pub struct Link {
    /// Name, unique.
    pub name: Name,
    /// Start.
    pub from: NodeId,
    /// End.
    pub to: NodeId,
    /// Server and channel.
    pub line: Arc<Line>,
    /// The discipline.
    pub queue: Arc<Resolved>,
}

/// How packets that leave the queue of a link get to its far end. Links with the same server and channel share one.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// When a packet whose service starts has left.
    pub server: Server,
    /// When it arrives at the far end.
    pub channel: Channel,
    /// When the link is down, in order and apart.
    pub outages: Vec<Outage>,
}

impl Line {
    /// Return the line of a link that is never down.
    pub fn new(server: Server, channel: Channel) -> Self {
        Self { server, channel, outages: Vec::new() }
    }

    /// Return a line with a constant bit rate, above 0, and a constant propagation delay.
    pub fn constant(rate: Rate, delay: Span) -> Self {
        Self::new(Server::constant(rate), Channel::constant(delay))
    }

    /// Return bit rate and propagation delay, by which automatic parameters of a discipline are chosen: those of the start.
    pub fn context(&self) -> LinkContext {
        LinkContext { rate: self.server.rate(), delay: self.channel.delay() }
    }

    /// Change server or channel from a time on, not before earlier changes. [`Server::in_service`] describes how the packet in
    /// service ends; it keeps the channel with which its service started, and no packet overtakes another.
    pub fn change(&mut self, at: Time, server: Option<Server>, channel: &ChannelChange) {
        if let Some(server) = server {
            self.server = self.server.clone().then(at, server);
        }
        if *channel != ChannelChange::default() {
            self.channel = self.channel.clone().then(at, channel);
        }
    }
}

impl Link {
    /// Bit rate at the start of a run; see [`Server::rate`].
    pub fn rate(&self) -> Rate {
        self.line.server.rate()
    }

    /// Propagation delay at the start of a run; see [`Channel::delay`].
    pub fn delay(&self) -> Span {
        self.line.channel.delay()
    }

    /// Name of the preset of its discipline.
    pub fn aqm(&self) -> &'static str {
        self.queue.preset
    }
}

/// A marker before the queue of a link: measures flows, and writes code points or, as a policer, drops packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// Name, unique.
    pub name: String,
    /// Before the queue of this link; a link has at most one marker for a flow.
    pub link: LinkId,
    /// The flows that it marks (all but acknowledgements); all others pass unchanged.
    pub flows: Vec<u32>,
    /// One meter for each flow, or one for all of them together.
    pub per_flow: bool,
    /// How it measures.
    pub meter: Meter,
    /// DSCP of green, yellow and red packets; a meter of two colours knows green and red.
    pub dscp: [u8; 3],
    /// Whether green, yellow and red packets are dropped.
    pub drops: [bool; 3],
}

/// How a marker measures. Rates in bit/s, bursts in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meter {
    /// Token bucket: green while the bucket holds the whole packet, else red.
    TokenBucket {
        /// Committed information rate.
        cir: Rate,
        /// Committed burst size.
        cbs: u64,
    },
    /// Time-sliding window, two colours (Clark and Fang 1998).
    Tsw2 {
        /// Committed information rate.
        cir: Rate,
        /// Length of the window.
        window: Span,
    },
    /// Time-sliding window, three colours (RFC 2859).
    Tsw3 {
        /// Committed information rate.
        cir: Rate,
        /// Peak information rate.
        pir: Rate,
        /// Length of the window.
        window: Span,
    },
    /// Single rate three color marker (RFC 2697).
    SrTcm {
        /// Committed information rate.
        cir: Rate,
        /// Committed burst size.
        cbs: u64,
        /// Excess burst size.
        ebs: u64,
        /// Whether the colour that a packet comes with counts.
        color_aware: bool,
    },
    /// Two rate three color marker (RFC 2698).
    TrTcm {
        /// Committed information rate.
        cir: Rate,
        /// Committed burst size.
        cbs: u64,
        /// Peak information rate.
        pir: Rate,
        /// Peak burst size.
        pbs: u64,
        /// Whether the colour that a packet comes with counts.
        color_aware: bool,
    },
}

/// A UDP flow whose receiver answers each packet. The answers bring one-way delays to the queue of a link, if its discipline reads them: those
/// of the packets if these cross the link, else their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// The flow.
    pub flow: u32,
    /// The link.
    pub link: LinkId,
}

/// A flow whose packets have addresses of other hosts than their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The flow.
    pub flow: u32,
    /// Hosts whose addresses replace those of [`Flow::hosts`], in the same form; 0 without translation.
    pub hosts: [u16; 2],
}

impl Plan {
    /// Return the hosts whose addresses replace those of a flow's hosts; 0 without translation.
    pub fn translated(&self, flow: u32) -> [u16; 2] {
        let found = self.translations.binary_search_by_key(&flow, |translation| translation.flow);
        found.map_or([0; 2], |place| self.translations[place].hosts)
    }

    /// Whether nothing of a flow travels back.
    pub(crate) fn is_one_way(&self, flow: u32) -> bool {
        matches!(*self.flows[flow as usize].transport, Transport::Udp { .. })
            && self.measured_by(flow).is_none()
    }

    /// Return the link that a flow measures.
    pub(crate) fn measured_by(&self, flow: u32) -> Option<LinkId> {
        let found = self.pings.binary_search_by_key(&flow, |ping| ping.flow);
        found.ok().map(|place| self.pings[place].link)
    }

    /// Whether answers of pings come to a link.
    pub(crate) fn is_measured(&self, link: LinkId) -> bool {
        self.pings.iter().any(|ping| ping.link == link) && self.links[link as usize].queue.reads_delays()
    }
}

/// A flow from one node to another.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Name, unique.
    pub name: Name,
    /// Name of the group that it belongs to.
    pub group: Arc<str>,
    /// From where to where.
    pub ends: Ends,
    /// When it starts.
    pub start: Start,
    /// From then on the application has nothing more to send.
    pub stop: Option<Time>,
    /// Later times at which the application has something to send again, and has nothing more again.
    pub again: Vec<(Time, Time)>,
    /// DSCP that the source writes into its data packets, 0 to 63.
    pub dscp: u8,
    /// Class of the source, [`Header::class`](aqmlab_aqm::Header::class) of its data packets; 0 without one, for PC-RED's
    /// high-priority flows their level, from 1.
    pub class: u8,
    /// Time to live with which both ends send (DDRED's TTL_i), at least 1.
    pub ttl: u8,
    /// Acknowledgements carry the flow label (and class) of the data; else a label of their own and class 0.
    pub acks_share_label: bool,
    /// Hosts at the source and the destination of data: numbers in [`Plan::hosts`] from 1, or 0 for the node there.
    pub hosts: [u16; 2],
    /// How it sends; flows of a group share it, unless something in it is their own.
    pub transport: Arc<Transport>,
}

impl Flow {
    /// From where to where.
    ///
    /// # Panics
    /// If that is not drawn yet.
    pub(crate) fn ends(&self) -> (NodeId, NodeId) {
        match self.ends {
            Ends::At(from, to) => (from, to),
            Ends::Drawn { .. } => panic!("the ends of flow {} are not drawn", self.name),
        }
    }
}

/// The ends of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Ends {
    /// From this node to that.
    At(NodeId, NodeId),
    /// Drawn uniformly in every run, each end where it is absent: first the source, then the destination, each
    /// among the hosts at other routers than the other end's (the source among all where the destination is absent too).
    Drawn {
        /// The source.
        from: Option<NodeId>,
        /// The destination.
        to: Option<NodeId>,
        /// Hosts with the router that each is at.
        hosts: Arc<[(NodeId, NodeId)]>,
    },
}

/// When a flow starts.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// At this time.
    At(Time),
    /// Uniform between two times, drawn from the flow's stream of the run.
    Uniform(Time, Time),
    /// With an arrival of the Poisson process of the flow's group, drawn in every run.
    Poisson {
        /// The process, which the flows of the group share.
        process: Arc<PoissonProcess>,
        /// Number of the arrival, from 0.
        index: u32,
    },
}

/// A Poisson process of arrivals.
#[derive(Clone, Debug, PartialEq)]
pub struct PoissonProcess {
    /// Arrivals per second, above 0.
    pub rate: f64,
    /// The process begins here.
    pub from: Time,
    /// The process ends here: an arrival at this time or later does not take place.
    pub until: Time,
}

/// How a flow sends.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A TCP transfer.
    Tcp {
        /// Profile and options.
        config: TcpConfig,
        /// How much to send.
        size: Size,
        /// ns-2: phase of the sender's clock ticks in seconds; uniform in [0, tick), drawn from the flow's stream of the
        /// run, when absent.
        clock_offset: Option<f64>,
    },
    /// UDP.
    Udp {
        /// Bit rate while it sends, headers included; with [`Pattern::Poisson`] or drawn lengths the
        /// mean.
        rate: Rate,
        /// Lengths of packets, headers included.
        packet: Length,
        /// When packets leave.
        pattern: Pattern,
    },
    /// Media over UDP whose bit rate SCReAM controls.
    Scream(Arc<scream::Config>),
}

impl Transport {
    /// The length of a full data packet on the wire, or the mean of UDP's, in bytes.
    pub fn packet_bytes(&self) -> f64 {
        match self {
            Self::Tcp { config, .. } => f64::from(config.full_length()),
            Self::Udp { packet, .. } => packet.mean(),
            Self::Scream(config) => f64::from(config.mss),
        }
    }
}

/// How much a TCP flow has to send.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// Without end.
    Greedy,
    /// So many full packets.
    Packets(u64),
    /// So many bytes of payload.
    Bytes(u64),
    /// Number of bytes, drawn in every run; rounded up to whole packets where the profile counts packets, to bytes
    /// otherwise, and at least one of them.
    Drawn(Spread),
    /// Objects that a client asks for one after the other.
    Objects(Objects),
    /// Segments of a video.
    Video(Arc<Video>),
}

/// Objects that a client asks for one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Objects {
    /// Their bytes; of a page they are drawn in every run, and each of its connections that share them has all.
    pub sizes: Arc<[u64]>,
    /// Seconds from the end of an object to the request for the next.
    pub think: Spread,
}

/// A web page: objects that are fetched over parallel connections, each a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Name, unique among pages.
    pub name: String,
    /// The number of the flow that is its first connection; the others follow.
    pub first: u32,
    /// How many connections.
    pub connections: u32,
    /// Which of them fetches which object.
    pub dispatch: Dispatch,
    /// When it is asked for, over all connections at once.
    pub start: Start,
    /// How many objects it has, at least one for each connection.
    pub objects: u32,
    /// Their bytes, each drawn in every run; rounded up, at least 1.
    pub size: Spread,
}

/// Which connection of a page fetches which object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// Object k goes over connection k modulo their number.
    InTurn,
    /// The next object goes over whichever connection has fetched its own first, as in a browser.
    FirstFree,
}

impl Dispatch {
    /// All.
    pub const ALL: [Self; 2] = [Self::InTurn, Self::FirstFree];

    /// As in a scenario file.
    pub fn name(self) -> &'static str {
        match self {
            Self::InTurn => "in-turn",
            Self::FirstFree => "first-free",
        }
    }
}

/// An adaptive video.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// Bit rates, rising; at least one.
    pub ladder: Vec<Rate>,
    /// How long a segment plays.
    pub segment: Span,
    /// Most in the buffer, at least `startup` and a segment.
    pub buffer: Span,
    /// Playing begins with so much in the buffer.
    pub startup: Span,
    /// How many segments; without end if absent.
    pub segments: Option<u64>,
    /// How bit rates are chosen.
    pub rule: AdaptationRule,
}

/// How a player chooses bit rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AdaptationRule {
    /// By the buffer level: BBA-0 of Huang et al., SIGCOMM 2014.
    Bba0 {
        /// The lowest bit rate up to here.
        reservoir: Span,
        /// From the lowest to the highest bit rate; above 0.
        cushion: Span,
    },
    /// By the throughput of the last segments.
    Throughput {
        /// Share of the estimate that is used.
        safety: f64,
        /// Segments that it is made of, at least 1.
        window: u32,
    },
}

/// Records in addition to the counters of links and flows.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    /// The links to observe.
    pub links: Vec<LinkId>,
    /// Sample queue, average and p_b of those links this often.
    pub queue_interval: Option<Span>,
    /// Sample cwnd, ssthresh and srtt of every TCP flow this often.
    pub cwnd_interval: Option<Span>,
    /// Record the distribution of the queueing delay at those links.
    pub delay_histogram: bool,
    /// Sample the bytes that arrived and were delivered of every flow this often.
    pub flow_interval: Option<Span>,
    /// Sample the gauges of the disciplines of those links this often (see
    /// [`Qdisc::gauges`](aqmlab_aqm::Qdisc::gauges)).
    pub discipline_interval: Option<Span>,
    /// Record every enqueue, dequeue, drop and mark at those links.
    pub events: bool,
    /// Record events from this time on.
    pub events_from: Time,
    /// Record events before this time; without it, to the end.
    pub events_until: Option<Time>,
    /// Record every packet that comes to those links, with what became of it.
    pub packets: bool,
    /// Record every drop at those links.
    pub losses: bool,
    /// Most entries that events, packets and losses of all links may have together; [`Probe::MOST_RECORDS`] if absent.
    pub max_records: Option<usize>,
    /// Record the distribution of every flow's one-way delay.
    pub flow_delay: bool,
    /// Record the one-way delay of every packet of these flows, in order.
    pub packet_delays: Vec<u32>,
}

impl Probe {
    /// Most entries of logs unless the scenario says another number: about 4 GB until the tables of a run are made.
    pub const MOST_RECORDS: usize = 16_000_000;

    /// Most entries that events, packets and losses of all links may have together.
    pub fn most_records(&self) -> usize {
        self.max_records.unwrap_or(Self::MOST_RECORDS)
    }
}
