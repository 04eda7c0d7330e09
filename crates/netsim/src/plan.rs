//! A checked plan: what to simulate, with every choice made. The scenario crate writes it, the simulator reads it.

use std::sync::Arc;

use aqmlab_aqm::Resolved;
use aqmlab_transport::TcpConfig;
use aqmlab_units::{Rate, Span, Time};

/// Number of a node in [`Plan::nodes`].
pub type NodeId = u32;
/// Number of a link in [`Plan::links`].
pub type LinkId = u32;

/// Everything that a run needs beside its seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// One-way links.
    pub links: Vec<Link>,
    /// Flows, in the order of their numbers.
    pub flows: Vec<Flow>,
    /// The run ends here.
    pub duration: Span,
    /// Statistics begin here; below `duration`.
    pub warmup: Span,
    /// What to record.
    pub probe: Probe,
}

/// A one-way link and the queue before it.
#[derive(Clone, Debug)]
pub struct Link {
    /// Name, unique.
    pub name: String,
    /// Start.
    pub from: NodeId,
    /// End.
    pub to: NodeId,
    /// Bit rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Name of the preset of its discipline.
    pub aqm: &'static str,
    /// The discipline.
    pub queue: Arc<Resolved>,
}

/// A flow from one node to another.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Name, unique.
    pub name: String,
    /// Name of the group that it belongs to.
    pub group: String,
    /// Source.
    pub from: NodeId,
    /// Destination.
    pub to: NodeId,
    /// When it starts.
    pub start: Start,
    /// From then on the application has nothing more to send.
    pub stop: Option<Time>,
    /// How it sends.
    pub transport: Transport,
}

/// When a flow starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// At this time.
    At(Time),
    /// Uniform between two times, drawn from the flow's stream of the run.
    Uniform(Time, Time),
}

/// How a flow sends.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A TCP transfer.
    Tcp {
        /// Variant and options.
        config: Arc<TcpConfig>,
        /// Packets to send; greedy when absent.
        size: Option<u64>,
        /// Phase of the sender's clock ticks in seconds; uniform in [0, tick), drawn from the flow's stream of the run,
        /// when absent.
        clock_offset: Option<f64>,
    },
    /// UDP at a constant bit rate.
    Udp {
        /// Bit rate, headers included.
        rate: Rate,
        /// Length of a packet in bytes, headers included.
        packet: u32,
    },
}

/// What to record beside the counters of links and flows.
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
    /// Record every enqueue, dequeue, drop and mark at those links.
    pub events: bool,
}
