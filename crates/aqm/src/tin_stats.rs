use aqmlab_units::Span;

use crate::Backlog;

/// Statistics of a tin, as `tc -s qdisc show` prints them for CAKE. Counts begin with the run, or with the last
/// [`Qdisc::reset_stats`](crate::Qdisc::reset_stats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TinStats {
    /// The name of the tin.
    pub name: &'static str,
    /// Rate up to which the tin has priority, in bit/s; 0 without a shaper.
    pub threshold_bps: u64,
    /// Acceptable queueing delay.
    pub target: Span,
    /// Interval of the control law.
    pub interval: Span,
    /// Moving average of delays that rises fast.
    pub peak_delay: Span,
    /// Moving average of delays.
    pub average_delay: Span,
    /// Moving average of delays that falls fast: the delay of sparse flows.
    pub sparse_delay: Span,
    /// Waiting packets and bytes.
    pub backlog: Backlog,
    /// Packets that left by the link.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets whose flow has a queue other than the first of its set.
    pub indirect_hits: u64,
    /// Flows that took an unused queue.
    pub way_misses: u64,
    /// Packets of flows that shared a queue.
    pub way_collisions: u64,
    /// Packets dropped, without those of `ack_drops`.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// Acknowledgements dropped by the filter.
    pub ack_drops: u64,
    /// Flows with a queue that have not used a quantum up, or whose state decays.
    pub sparse_flows: u32,
    /// Flows that have used a quantum up.
    pub bulk_flows: u32,
    /// Flows that do not respond to signals.
    pub unresponsive_flows: u32,
    /// Longest packet that has arrived since the run began, in bytes.
    pub longest_packet: u32,
    /// Bytes of a flow in a round.
    pub quantum: u32,
}
