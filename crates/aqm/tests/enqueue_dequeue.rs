//! `enqueue_from` and `dequeue_into` equal `enqueue` and `dequeue`, and so do `enqueue_dequeue` and `on_idle` for a queue in which
//! nothing waits.

mod common;

use aqmlab_aqm::{Dequeue, Discipline, Ecn, PRESETS, Packet, Qdisc, Value};
use aqmlab_units::Time;
use common::{Counting, build, packet};
use proptest::prelude::*;

/// Picoseconds of a service.
const SERVICE: u64 = 1_000_000_000;

struct Side {
    queue: Discipline<u32>,
    host: Counting,
    short: bool,
}

/// All gauges, as bits: the mean of nothing is NaN.
fn gauges(queue: &Discipline<u32>, now: Time) -> Vec<(&'static str, u64)> {
    let mut all = Vec::new();
    queue.gauges(now, &mut |gauge, value| all.push((gauge.name(), value.to_bits())));
    all
}

impl Side {
    fn enqueue(&mut self, now: Time, mut packet: Packet<u32>) {
        if self.short {
            self.queue.enqueue_from(now, &mut packet, &mut self.host);
        } else {
            self.queue.enqueue(now, packet, &mut self.host);
        }
    }

    fn enqueue_dequeue(&mut self, now: Time, mut packet: Packet<u32>) -> Option<Packet<u32>> {
        if self.short {
            return self.queue.enqueue_dequeue(now, &mut packet, &mut self.host).then_some(packet);
        }
        self.queue.enqueue(now, packet, &mut self.host);
        self.dequeue(now)
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet<u32>> {
        if self.short && self.queue.backlog().packets == 0 {
            self.queue.on_idle(now, &mut self.host);
            return None;
        }
        if self.short {
            let mut packet = Packet::default();
            return self.queue.dequeue_into(now, &mut packet, &mut self.host).then_some(packet);
        }
        match self.queue.dequeue(now, &mut self.host) {
            Dequeue::Packet(packet) => Some(packet),
            Dequeue::Empty | Dequeue::NotBefore(_) => None,
        }
    }
}

proptest! {
    #[test]
    fn short_cuts_change_nothing(
        preset in prop::sample::select(PRESETS.iter().map(|p| p.name).collect::<Vec<_>>()),
        arrivals in prop::collection::vec((0u64..3 * SERVICE, 40u32..1500, any::<bool>()), 1..300),
    ) {
        let set: &[_] = if preset == "drop-tail" { &[("limit", Value::Packets(5.0))] } else { &[] };
        let mut sides = [false, true].map(|short| {
            Side { queue: build(preset, 8_000_000, set), host: Counting::new(1), short }
        });
        let (mut now, mut free_at) = (Time(1), None);
        for (number, (gap, bytes, ect)) in (0..).zip(arrivals) {
            // Bursts, and pauses long enough for the queue to run empty.
            now = Time(now.0 + if number % 20 < 15 { gap / 20 } else { 4 * gap });
            while let Some(end) = free_at.filter(|end| *end <= now) {
                let [a, b] = sides.each_mut().map(|side| side.dequeue(end));
                prop_assert_eq!(a, b);
                free_at = a.map(|_| Time(end.0 + SERVICE));
            }
            let arrival = packet(number, bytes, if ect { Ecn::Ect } else { Ecn::NotEct });
            if free_at.is_none() {
                let [a, b] = sides.each_mut().map(|side| side.enqueue_dequeue(now, arrival));
                prop_assert_eq!(a, b);
                free_at = a.map(|_| Time(now.0 + SERVICE));
            } else {
                sides.iter_mut().for_each(|side| side.enqueue(now, arrival));
            }
            let seen = sides.each_ref().map(|s| (s.queue.backlog(), gauges(&s.queue, now), s.host.drops(), s.host.marks));
            prop_assert_eq!(&seen[0], &seen[1]);
        }
    }
}
