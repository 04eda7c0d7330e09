use aqmlab_units::{Rate, Span, Stream};
use proptest::prelude::*;

use super::*;
use crate::{Discipline, LinkContext, Spec, Value};

/// Records drops and marks.
struct Recorder {
    rng: Stream,
    log: Vec<(bool, u32, DropReason)>,
}

impl Host<u32> for Recorder {
    fn uniform(&mut self) -> f64 {
        self.rng.uniform()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }

    fn dropped(&mut self, packet: Packet<u32>, reason: DropReason) {
        self.log.push((true, packet.payload, reason));
    }

    fn marked(&mut self, packet: &Packet<u32>, reason: DropReason) {
        self.log.push((false, packet.payload, reason));
    }
}

fn queue(preset: &str, in_bytes: bool, ecn: bool) -> Red<u32> {
    let mut spec = Spec::new(preset).expect("a preset");
    let word = |word: &str| Value::Word(word.into());
    let set = [
        ("dialect", word("ns2-2.35")),
        ("mode", word(if in_bytes { "bytes" } else { "packets" })),
        ("min_th", Value::Packets(2.0)),
        ("max_th", Value::Packets(7.0)),
        ("limit", Value::Packets(12.0)),
        ("w_q", Value::Number(0.2)),
        ("ecn", Value::Flag(ecn)),
    ];
    set.into_iter().for_each(|(key, value)| spec.set(key, value).expect("a value"));
    let context = LinkContext { rate: Rate(1_000_000), delay: Span::from_millis(1) };
    match spec.resolve(context).expect("a queue").build() {
        Discipline::Red(red) => *red,
        _ => panic!("a RED queue"),
    }
}

proptest! {
    #[test]
    fn a_simple_queue_takes_the_steps_of_all_queues(
        preset in prop::sample::select(vec!["red", "gentle-red", "ddred", "pc-red"]),
        (in_bytes, ecn) in any::<(bool, bool)>(),
        steps in prop::collection::vec((any::<bool>(), 0u64..9, 0u32..4, 1u32..3, 60u8..65), 1..300),
    ) {
        let simple = queue(preset, in_bytes, ecn);
        prop_assert!(simple.is_simple);
        let general = Red { is_simple: false, ..simple.clone() };
        let [a, b] = [simple, general].map(|mut queue| {
            let mut host = Recorder { rng: Stream::new(1, "test"), log: Vec::new() };
            let mut seen = Vec::new();
            let mut now = Time::ZERO;
            for (number, &(arrives, gap, flow, length, ttl)) in (0..).zip(&steps) {
                now += Span::from_millis(gap);
                let header = crate::Header::default().with_ttl_initial(64).with_ttl(ttl).with_ecn(crate::Ecn::Ect);
                let header = header.with_class((flow % 2) as u8);
                let mut packet =
                    Packet { meta: Meta { arrival: now, bytes: 500 * length, flow, header }, payload: number };
                let served = if !arrives {
                    match queue.dequeue(now, &mut host) {
                        Dequeue::Packet(packet) => Some(packet),
                        _ => None,
                    }
                } else if queue.serving.is_none() {
                    queue.enqueue_dequeue(now, &mut packet, &mut host).then_some(packet)
                } else {
                    queue.enqueue(now, packet, &mut host);
                    None
                };
                seen.push((served, queue.backlog(), queue.average().to_bits(), queue.averages[0].idle_since));
            }
            (seen, host.log)
        });
        prop_assert_eq!(a, b);
    }
}
