//! Another server, channel or discipline for a link at work, without a packet lost.

use std::collections::VecDeque;

use aqmlab_aqm::{Dequeue, Discipline, DropReason, Host, Packet, Qdisc, Resolved};
use aqmlab_units::{Span, Time};

use super::StandaloneLink;
use super::head_of_line::HeadOfLine;
use crate::key::Key;
use crate::link::{FAR, Wire};
use crate::link_stats::Numbered;
use crate::plan::{LinkId, Plan};

impl<P: PartialEq + Numbered> StandaloneLink<P> {
    /// From `now` on server, channel and discipline are those of `link` in another plan, with its later changes; markers, counters and
    /// probes stay. The packet in service ends as it began; if that were never, its service starts again. Waiting packets are moved in order; those that the new queue would
    /// drop wait before that queue and are served first. The average of a new discipline starts from its initial value.
    pub fn renew(&mut self, now: Time, plan: &Plan, link: LinkId, is_same_queue: bool) {
        self.serve_until(Key { time: now, cause: Time::NEVER, source: u32::MAX });
        self.advance_station(now);
        let planned = &plan.links[link as usize];
        self.station.server = planned.line.server.since(now).start(self.seed, &self.name);
        self.station.channel = Wire::new(&planned.line.channel.since(now), self.seed, &self.name);
        if planned.line.channel.is_impaired() {
            self.station.stats.drops.channel.get_or_insert_default();
        }
        self.restart_endless_service(now);
        self.aqm = planned.aqm();
        if !is_same_queue {
            self.move_over(now, &planned.queue);
        }
    }

    /// Start the service in progress again, if the rate of the earlier server stays 0.
    fn restart_endless_service(&mut self, now: Time) {
        let Some((start, end)) = self.station.service.filter(|(_, end)| *end >= FAR) else { return };
        let first = self.head.as_ref().and_then(HeadOfLine::first);
        let recalled = self.transit.recall(end);
        // A packet that the channel has lost already takes no more time.
        let bytes = recalled.map(|packet| packet.meta.bytes).or(first);
        let new_end = now + bytes.map_or(Span::ZERO, |bytes| self.station.server.serve(None, now, bytes));
        self.station.service = Some((start, new_end));
        let busy = &mut self.station.stats.counters.busy;
        *busy = *busy - end.since(now).0 + new_end.since(now).0;
        if let Some(packet) = recalled {
            self.put_on_wire(now, new_end, &packet);
        }
    }

    fn move_over(&mut self, now: Time, queue: &Resolved) {
        let mut mover = Mover { refused: Vec::new() };
        let mut waiting: Vec<_> = self.carried.drain(..).collect();
        while self.station.discipline.backlog().packets > 0
            && let Dequeue::Packet(packet) = self.station.discipline.dequeue(now, &mut mover)
        {
            waiting.push(packet);
        }
        debug_assert!(mover.refused.is_empty(), "a discipline that drops what it is asked for");
        let (discipline, first) = filled(now, queue, &waiting);
        self.carried = VecDeque::from(waiting[..first].to_vec());
        self.station.replace_discipline(discipline);
    }
}

/// A new discipline with as many of the youngest packets as it takes without dropping one, and the place of the first of them.
fn filled<P: Copy + Default>(now: Time, queue: &Resolved, waiting: &[Packet<P>]) -> (Discipline<P>, usize) {
    let mut first = 0;
    loop {
        let mut discipline: Discipline<P> = queue.build();
        let mut mover = Mover { refused: Vec::new() };
        waiting[first..].iter().for_each(|packet| discipline.enqueue(now, *packet, &mut mover));
        if mover.refused.is_empty() {
            return (discipline, first);
        }
        first += mover.refused.len();
    }
}

/// The host while packets are moved: chance never hits one.
struct Mover<P> {
    refused: Vec<Packet<P>>,
}

impl<P> Host<P> for Mover<P> {
    fn uniform(&mut self) -> f64 {
        1.0 - f64::EPSILON / 2.0
    }

    fn below(&mut self, n: u64) -> u64 {
        n - 1
    }

    fn dropped(&mut self, packet: Packet<P>, _: DropReason) {
        self.refused.push(packet);
    }

    fn marked(&mut self, _: &Packet<P>, _: DropReason) {}
}
