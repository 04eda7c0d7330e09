//! A tin: flows in queues of their own under COBALT, with the parameters that follow from the tin's rate.
//!
//! ```text
//! quantum  = rate / 4096, from 300 to 1514 bytes; 1514 if unlimited      (rate in bytes per second)
//! target   = max(target, 3/2 time of an MTU)
//! interval = max(rtt + target' - target, 2 target')                      (target' is that of the line above)
//! ```

use aqmlab_units::{Span, Time};

use super::Params;
use super::flows::{Flows, ListName, Set};
use super::hash::{FlowHash, Way, hash};
use super::hosts::{Hosts, Isolation};
use super::shaper::{ByteTime, TinClock};
use super::statistics::Counts;
use crate::disciplines::cobalt::{Arithmetic, Law, P_DEC, P_INC};
use crate::{Backlog, DropReason, Host, Logged, Packet};

/// The largest quantum of a flow, in bytes.
const MAX_QUANTUM: u64 = 1514;
/// The smallest quantum of a flow, in bytes.
const MIN_QUANTUM: u64 = 300;

/// Settings of all tins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Common {
    pub isolation: Isolation,
    /// Of the hash, which differs from run to run.
    pub key: u64,
}

/// Delays of packets that left, as moving averages in nanoseconds, as `tc -s` prints them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delays {
    pub average: u64,
    pub peak: u64,
    pub sparse: u64,
}

impl Delays {
    /// Note the delay of a packet.
    #[inline]
    pub fn note(&mut self, delay: u64) {
        self.average = ewma(self.average, delay, 8);
        self.peak = ewma(self.peak, delay, if delay > self.peak { 2 } else { 8 });
        self.sparse = ewma(self.sparse, delay, if delay < self.sparse { 2 } else { 8 });
    }
}

/// A moving average with the weight 2^-shift, in whole numbers.
#[inline]
pub(super) fn ewma(average: u64, sample: u64, shift: u32) -> u64 {
    average - (average >> shift) + (sample >> shift)
}

/// Return COBALT's constants, the time of the largest packet and the quantum of flows in a tin of this rate in bytes per second; 0 is
/// unlimited.
pub(super) fn configure(rate: u64, params: &Params) -> (Law, Span, u32) {
    let Params { target, rtt, max_packet, ecn, kernel, .. } = *params;
    let quantum = if rate == 0 { MAX_QUANTUM } else { (rate >> 12).clamp(MIN_QUANTUM, MAX_QUANTUM) };
    let max_packet_ns = ByteTime::of_rate(rate).of(max_packet);
    let packet_time = Span(max_packet_ns * 1000);
    let own_target = target.max(Span(max_packet_ns * 3 / 2 * 1000));
    let interval = (rtt + own_target - target).max(own_target * 2);
    let law = Law {
        arithmetic: Arithmetic::Linux(kernel),
        target: own_target,
        interval,
        acceptable: packet_time * 4,
        increment: P_INC,
        decrement: P_DEC,
        ecn,
    };
    (law, packet_time, quantum as u32)
}

/// A tin.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    pub name: &'static str,
    pub hash: FlowHash,
    hosts: Hosts,
    pub flows: Flows,
    pub law: Law,
    /// The time of the largest packet at the tin's rate.
    pub packet_time: Span,
    pub quantum: u32,
    pub weight: i64,
    pub deficit: i64,
    pub clock: TinClock,
    pub backlog: Backlog,
    pub delays: Delays,
    /// Flows with a probability of BLUE.
    pub unresponsive: u32,
    /// The rate up to which it has priority, in bytes per second; 0 is unlimited.
    pub threshold: u64,
    pub counts: Counts,
}

impl Tin {
    /// Create an empty tin.
    pub fn new(name: &'static str, isolation: Isolation, weight: u32, law: Law) -> Self {
        Self {
            name,
            hash: FlowHash::new(),
            hosts: Hosts::new(isolation),
            flows: Flows::new(),
            law,
            packet_time: Span::ZERO,
            quantum: MAX_QUANTUM as u32,
            weight: weight.into(),
            deficit: 0,
            clock: TinClock::default(),
            backlog: Backlog::default(),
            delays: Delays::default(),
            unresponsive: 0,
            threshold: 0,
            counts: Counts::default(),
        }
    }

    /// Return the queue of an arriving packet.
    #[inline]
    pub fn classify<P>(&mut self, common: Common, packet: &Packet<P>, host: &mut impl Host<P>) -> usize {
        let Common { isolation, key } = common;
        if isolation == Isolation::FlowBlind {
            return 0;
        }
        let logged = host.logged(packet);
        let hash = match isolation.queue_hosts() {
            None => logged.map_or_else(|| hash(key, packet.meta.flow.into()), |known| known.flow),
            Some(which) => {
                let hashes = host_hashes(key, logged, packet, host);
                hashes
                    .into_iter()
                    .zip(which)
                    .filter(|(_, counts)| *counts)
                    .fold(0, |sum, (hash, _)| sum ^ hash)
            }
        };
        let flows = &self.flows;
        let (queue, way) = self.hash.queue(hash, |queue| flows[queue].set != Set::Unused);
        if way != Way::Reserved && self.hosts.are_counted() {
            self.assign_hosts(queue, host_hashes(key, logged, packet, host));
        }
        queue
    }

    /// Let a queue have the hosts of the flow that it was given to, or that shares it.
    fn assign_hosts(&mut self, queue: usize, hashes: [u32; 2]) {
        let flow = &mut self.flows[queue];
        let is_bulk = flow.set == Set::Bulk;
        if is_bulk {
            self.hosts.leave(flow.hosts);
        }
        flow.hosts = self.hosts.find(hashes);
        if is_bulk {
            self.hosts.enter(flow.hosts);
        }
    }

    /// Note that a packet has joined a queue.
    #[inline]
    pub fn arrived<P>(&mut self, queue: usize, host: &mut impl Host<P>) {
        match self.flows[queue].set {
            Set::Unused | Set::Decaying => {
                if self.flows.set(queue, Set::Sparse) == Set::Decaying {
                    self.flows.remove(ListName::Decaying, queue);
                }
                self.flows.push(ListName::New, queue);
                self.flows[queue].deficit = self.quantum_of(queue, host);
            }
            Set::SparseWaiting => self.become_bulk(queue),
            Set::Sparse | Set::Bulk => {}
        }
    }

    fn quantum_of<P>(&self, queue: usize, host: &mut impl Host<P>) -> i32 {
        self.hosts.quantum(self.flows[queue].hosts, self.quantum, host)
    }

    fn become_bulk(&mut self, queue: usize) {
        self.flows.set(queue, Set::Bulk);
        self.hosts.enter(self.flows[queue].hosts);
    }

    /// Select the flow to serve, and its list. Flows that have used their quantum up begin another round; `waits` tells whether a flow has
    /// packets.
    #[inline]
    pub fn choose_flow<P>(
        &mut self,
        waits: impl Fn(usize) -> bool,
        host: &mut impl Host<P>,
    ) -> Option<(usize, ListName)> {
        loop {
            let (queue, list) = self.flows.next()?;
            if self.flows[queue].deficit > 0 {
                return Some((queue, list));
            }
            self.begin_round(queue, list, &waits, host);
        }
    }

    /// Begin the next round of a flow of a list, which has used its quantum up.
    #[inline]
    fn begin_round<P>(
        &mut self,
        queue: usize,
        list: ListName,
        waits: &impl Fn(usize) -> bool,
        host: &mut impl Host<P>,
    ) {
        if self.flows[queue].set == Set::Sparse {
            if waits(queue) {
                self.become_bulk(queue);
            } else {
                self.flows.set(queue, Set::SparseWaiting);
            }
        }
        let flow = &mut self.flows[queue];
        flow.deficit += self.hosts.quantum(flow.hosts, self.quantum, host);
        self.flows.requeue(list, ListName::Old);
    }

    /// Move an empty flow from the head of a list to the decaying ones, until COBALT is at rest.
    pub fn ran_empty(&mut self, queue: usize, list: ListName, now: Time) {
        let hosts = self.flows[queue].hosts;
        let before = if self.decay(queue, now) {
            self.flows.pop(list);
            self.flows.set(queue, Set::Unused)
        } else {
            self.flows.requeue(list, ListName::Decaying);
            self.flows.set(queue, Set::Decaying)
        };
        if before == Set::Bulk {
            self.hosts.leave(hosts);
        }
    }

    /// Let the first decaying flow decay further, if there is one.
    #[inline]
    pub fn decay_one(&mut self, now: Time) {
        let Some(queue) = self.flows.first(ListName::Decaying) else { return };
        if self.decay(queue, now) {
            self.flows.pop(ListName::Decaying);
            self.flows.set(queue, Set::Unused);
        } else {
            self.flows.requeue(ListName::Decaying, ListName::Decaying);
        }
    }

    /// Let the state of an empty flow decay. Return whether it is at rest.
    #[inline]
    fn decay(&mut self, queue: usize, now: Time) -> bool {
        let control = &mut self.flows[queue].control;
        let was_unresponsive = control.p_drop > 0.0;
        control.ran_empty(&self.law, now);
        self.unresponsive -= u32::from(was_unresponsive && control.p_drop == 0.0);
        control.is_at_rest(now)
    }

    /// Note that the full buffer drops a packet of a flow.
    pub fn overflowed(&mut self, queue: usize, now: Time) {
        self.counts.drops += 1;
        let control = &mut self.flows[queue].control;
        let was_unresponsive = control.p_drop > 0.0;
        control.overflowed(&self.law, now);
        self.unresponsive += u32::from(!was_unresponsive && control.p_drop > 0.0);
    }

    /// Let COBALT decide about a packet that has left the queue of a flow, and mark it in place of a drop. Return the reason if it is to be
    /// dropped; the last packet of a flow never is. In `ingress` mode the acceptable delay grows with the number of bulk flows.
    #[inline]
    pub fn should_drop<P: Copy>(
        &mut self,
        queue: usize,
        ingress: bool,
        now: Time,
        is_last: bool,
        packet: &mut Packet<P>,
        host: &mut impl Host<P>,
    ) -> Option<DropReason> {
        let law_of_ingress;
        let law = if ingress {
            let of_bulk = self.packet_time * 2 * u64::from(self.flows.bulk);
            law_of_ingress = Law { acceptable: self.law.acceptable.max(of_bulk), ..self.law };
            &law_of_ingress
        } else {
            &self.law
        };
        let control = &mut self.flows[queue].control;
        let reason = control.should_drop(law, now, is_last, packet, host);
        self.counts.marks += u64::from(control.has_marked);
        reason
    }

    /// Charge a packet to a flow and the tin.
    #[inline]
    pub fn charge(&mut self, queue: usize, bytes_on_wire: u32) {
        self.flows[queue].deficit -= bytes_on_wire as i32;
        self.deficit -= i64::from(bytes_on_wire);
    }
}

/// The hashes of a source and of a destination, which differ where the hosts are the same.
fn host_hashes<P>(key: u64, logged: Option<Logged>, packet: &Packet<P>, host: &mut impl Host<P>) -> [u32; 2] {
    if let Some(known) = logged {
        return known.hosts;
    }
    let [source, destination] = host.hosts(packet);
    [hash(key, 1 << 32 | u64::from(source)), hash(key, 1 << 33 | u64::from(destination))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_follow_from_the_rate() {
        let (target, rtt) = (Span::from_millis(5), Span::from_millis(100));
        let params = crate::disciplines::cake::tests::params(&[]);
        let of = |rate: u64| {
            let (law, packet, quantum) = configure(rate, &params);
            (law.target, law.interval, packet, quantum)
        };
        let us = |us: u64| Span(us * 1_000_000);
        assert_eq!(of(0), (target, rtt, Span::ZERO, 1514));
        // 10 Mbit/s: 1514 bytes last 1.2112 ms; 1 250 000 / 4096 = 305.
        assert_eq!(of(1_250_000), (target, rtt, Span(1_211_200_000), 305));
        // 1 Mbit/s: 12.112 ms, times 3/2 is 18.168 ms; 100 + 18.168 - 5 = 113.168 ms.
        assert_eq!(of(125_000), (us(18_168), us(113_168), us(12_112), 300));
        // 100 kbit/s: 121.12 ms; 181.68; 2 * 181.68 is more than 276.68.
        assert_eq!(of(12_500), (us(181_680), us(363_360), us(121_120), 300));
        assert_eq!(of(1 << 24).3, 1514);
        let (law, ..) = configure(125_000, &params);
        assert_eq!(law.acceptable, us(4 * 12_112));
    }

    #[test]
    fn moving_averages_in_whole_numbers() {
        assert_eq!(ewma(1000, 2000, 2), 1000 - 250 + 500);
        assert_eq!(ewma(1000, 2000, 8), 1000 - 3 + 7);
        let mut delays = Delays::default();
        delays.note(1024);
        assert_eq!((delays.average, delays.peak, delays.sparse), (4, 256, 4));
        delays.note(0);
        assert_eq!((delays.average, delays.peak, delays.sparse), (4, 255, 3));
    }
}
