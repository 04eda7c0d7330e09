//! A queue outside the simulator: verdicts, victims, random numbers, timers and shaped departures.

use aqmlab_aqm::{
    Dequeue, Ecn, Effect, Header, LinkContext, Listed, Meta, Spec, StandaloneQueue, Tag, Value, Verdict,
};
use aqmlab_units::{Rate, Span, Time};

fn queue(aqm: &str, set: &[(&str, Value)]) -> StandaloneQueue {
    let mut spec = Spec::new(aqm).expect("a preset");
    for (key, value) in set {
        spec.set(key, value.clone()).expect("a valid value");
    }
    let link = LinkContext { rate: Rate(10_000_000), delay: Span::ZERO };
    StandaloneQueue::new(&spec.resolve(link).expect("valid together"))
}

fn packet(flow: u32, ecn: Ecn) -> Meta {
    Meta { bytes: 1000, flow, header: Header::default().with_ecn(ecn), ..Meta::default() }
}

fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000_000)
}

fn id_of(answer: Dequeue<Tag>) -> Option<u64> {
    match answer {
        Dequeue::Packet(packet) => Some(packet.payload.id),
        Dequeue::Empty | Dequeue::NotBefore(_) => None,
    }
}

#[test]
fn the_verdict_follows_the_random_numbers() {
    // w_q = 1: the average is the queue before the arrival, so that p_b = 0.5 (2 - 0.5) / (3.5 - 0.5) = 0.25 at the third.
    let set = [
        ("min_th", Value::Packets(0.5)),
        ("max_th", Value::Packets(3.5)),
        ("max_p", Value::Number(0.5)),
        ("w_q", Value::Number(1.0)),
        ("spacing", Value::Word("none".into())),
        ("ecn", Value::Flag(true)),
    ];
    for (number, ecn, is_accepted) in
        [(0, Ecn::NotEct, false), (0, Ecn::Ect, true), (u64::MAX, Ecn::NotEct, true)]
    {
        let mut red = queue("red", &set);
        let mut random = Listed::new(&[]);
        for id in [6, 7] {
            assert_eq!(red.enqueue(ms(0), packet(1, ecn), Tag::new(id, 1), &mut random), Verdict::Accept);
        }
        assert_eq!(random.drawn(), 0);
        let numbers = [number];
        let mut random = Listed::new(&numbers);
        let verdict = red.enqueue(ms(0), packet(1, ecn), Tag::new(8, 1), &mut random);
        assert_eq!(random.drawn(), 1);
        assert_eq!(!matches!(verdict, Verdict::Drop(_)), is_accepted, "{verdict:?}");
        assert_eq!(matches!(verdict, Verdict::Mark(_)), ecn == Ecn::Ect, "{verdict:?}");
        assert_eq!(red.events().len(), usize::from(verdict != Verdict::Accept));
        assert_eq!(red.gauge("average"), Some(2.0));
        assert_eq!(red.backlog().packets, 2 + u32::from(is_accepted));
        assert_eq!(id_of(red.dequeue(ms(1), &mut random)), Some(6));
    }
}

#[test]
fn victims_that_wait_are_reported() {
    let mut queue = queue("sfq", &[("limit", Value::Packets(2.0))]);
    let mut random = Listed::new(&[]);
    for (id, flow) in [(10, 1), (11, 1)] {
        assert_eq!(
            queue.enqueue(ms(0), packet(flow, Ecn::NotEct), Tag::new(id, flow), &mut random),
            Verdict::Accept
        );
    }
    let verdict = queue.enqueue(ms(0), packet(2, Ecn::NotEct), Tag::new(12, 2), &mut random);
    assert_eq!(verdict, Verdict::Accept);
    let [event] = queue.events() else { panic!("{:?}", queue.events()) };
    assert_eq!((event.id, event.effect), (11, Effect::Dropped));
}

#[test]
fn timers_run_at_their_time() {
    let mut pie = queue("pie", &[]);
    let mut random = Listed::new(&[]);
    for id in 0..20 {
        pie.enqueue(ms(0), packet(1, Ecn::NotEct), Tag::new(id, 1), &mut random);
    }
    let first = pie.next_timer().expect("PIE updates its probability");
    pie.advance(Time(first.0 - 1), &mut random);
    assert_eq!(pie.next_timer(), Some(first));
    pie.advance(ms(100), &mut random);
    assert!(pie.next_timer() > Some(ms(100)) && pie.now() == ms(100));
}

#[test]
fn a_shaper_holds_packets_back() {
    let mut cake = queue("cake", &[("rate", Value::Rate(Rate(1_000_000)))]);
    let mut random = Listed::new(&[]);
    for id in 0..2 {
        cake.enqueue(ms(0), packet(1, Ecn::NotEct), Tag::new(id, 1), &mut random);
    }
    assert_eq!(id_of(cake.dequeue(ms(0), &mut random)), Some(0));
    assert_eq!(cake.dequeue(ms(1), &mut random), Dequeue::NotBefore(ms(8)));
    assert_eq!(cake.not_before(), Some(ms(8)));
    assert_eq!(id_of(cake.dequeue(ms(8), &mut random)), Some(1));
    assert_eq!(cake.dequeue(ms(9), &mut random), Dequeue::Empty);
}

#[test]
#[should_panic(expected = "time runs backwards")]
fn time_never_runs_backwards() {
    let mut queue = queue("drop-tail", &[]);
    queue.advance(ms(2), &mut Listed::new(&[]));
    queue.advance(ms(1), &mut Listed::new(&[]));
}
