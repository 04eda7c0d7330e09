use super::*;
use crate::disciplines::ParameterReader;
use crate::{DropReason, Header, LinkContext, Meta, Spec, Value};
use aqmlab_units::{Rate, Span};

#[derive(Default)]
struct Counts {
    marks: u32,
    early: u32,
    overload: u32,
}

impl Host<u32> for Counts {
    fn uniform(&mut self) -> f64 {
        0.0
    }
    fn below(&mut self, _n: u64) -> u64 {
        0
    }
    fn dropped(&mut self, _packet: Packet<u32>, reason: DropReason) {
        match reason {
            DropReason::EARLY => self.early += 1,
            OVERLOAD => self.overload += 1,
            _ => panic!("{reason:?}"),
        }
    }
    fn marked(&mut self, _packet: &Packet<u32>, _reason: DropReason) {
        self.marks += 1;
    }
}

fn queue(set: &[(&str, Value)], p: f64) -> Rfc<u32> {
    let mut spec = Spec::new("dualpi2").expect("a preset");
    for (key, value) in set {
        spec.set(key, value.clone()).expect("a valid value");
    }
    let link = LinkContext { rate: Rate(1_000_000_000), delay: Span::ZERO };
    let mut reader = ParameterReader::new(&spec, link);
    let mut queue = Rfc::new(&Params::read(&mut reader));
    queue.base.p = p;
    queue
}

fn packet(ecn: Ecn, arrival: Time) -> Packet<u32> {
    let header = Header::default().with_ecn(ecn);
    Packet { meta: Meta { bytes: 1000, arrival, header, ..Meta::default() }, payload: 0 }
}

/// Return the counts of `n` packets that do not wait: they come and leave at 1 ms, before the controller's first step.
fn pass(queue: &mut Rfc<u32>, ecn: Ecn, n: u32) -> Counts {
    let mut counts = Counts::default();
    let now = Time::from_secs(0.001);
    (0..n).for_each(|_| queue.enqueue(now, packet(ecn, now), &mut counts));
    while let Dequeue::Packet(_) = queue.dequeue(now, &mut counts) {}
    counts
}

#[test]
fn probabilities_are_coupled() {
    for (p, p_c, p_cl) in [(0.0, 0.0, 0.0), (0.01, 0.000_1, 0.02), (0.3, 0.09, 0.6), (0.5, 0.25, 1.0)] {
        let coupled = Coupled::new(p, 2.0);
        assert!((coupled.p_c - p_c).abs() < 1e-15 && (coupled.p_cl - p_cl).abs() < 1e-15, "{p}");
        assert_eq!(coupled.is_overload(), p >= 0.5);
    }
}

#[test]
fn the_queues_are_hit_in_proportion() {
    // p' = 0.3: 0.09 of C's packets, 0.6 of L's; of the last four none, by which the count is behind.
    let l = pass(&mut queue(&[], 0.3), Ecn::Ect1, 10_000);
    assert!((5996..=5998).contains(&l.marks) && l.early + l.overload == 0, "{}", l.marks);
    let c = pass(&mut queue(&[], 0.3), Ecn::NotEct, 10_000);
    assert!(c.marks == 0 && (898..=900).contains(&c.early), "{}", c.early);
    let c = pass(&mut queue(&[], 0.3), Ecn::Ect, 10_000);
    assert!(c.early == 0 && (898..=900).contains(&c.marks), "{}", c.marks);
    let c = pass(&mut queue(&[("ecn", Value::Flag(false))], 0.3), Ecn::Ect, 10_000);
    assert!((898..=900).contains(&c.early) && c.marks == 0);
}

#[test]
fn overload_drops_in_both_queues() {
    // p' = 0.6, p_C = 0.36, p_CL = 1.2.
    let l = pass(&mut queue(&[], 0.6), Ecn::Ect1, 10_000);
    assert!((3597..=3599).contains(&l.overload) && l.marks >= 6396, "{} {}", l.overload, l.marks);
    let c = pass(&mut queue(&[], 0.6), Ecn::Ect, 10_000);
    assert!(c.marks == 0 && (3597..=3599).contains(&c.early), "{}", c.early);
}

#[test]
fn a_coupling_below_one_marks_classic_packets_up_to_a_probability_of_one() {
    // p_Cmax = min(1/k^2, 1).
    for (k, p, drops) in [(0.5, 0.99, false), (0.5, 1.0, true), (4.0, 0.24, false), (4.0, 0.25, true)] {
        let c = pass(&mut queue(&[("coupling", Value::Number(k))], p), Ecn::Ect, 1000);
        assert_eq!((c.early > 0, c.marks > 0), (drops, !drops), "{k} {p}");
    }
}

#[test]
fn what_waits_in_either_queue_is_not_too_short_to_be_hit() {
    // p' = 0.9 over a limit of two packets of 1000: a packet is hit while two or more are left, in whichever queue.
    for (ecn, other) in [(Ecn::Ect1, Ecn::NotEct), (Ecn::NotEct, Ecn::Ect1)] {
        for (others, is_hit) in [(1, false), (2, true)] {
            let mut queue = queue(&[("max_packet", Value::Bytes(1000))], 0.9);
            queue.counts = [0.5; 2];
            queue.credit = Credit::new(queue.params.scheduler, 0);
            let mut counts = Counts::default();
            let now = Time::from_secs(0.001);
            queue.enqueue(now, packet(ecn, now), &mut counts);
            (0..others).for_each(|_| queue.enqueue(now, packet(other, now), &mut counts));
            let source = if ecn == Ecn::Ect1 { &mut queue.l } else { &mut queue.c };
            let alone = source.pop().expect("it waits");
            let left = if ecn == Ecn::Ect1 {
                queue.leave_l(now, alone, &mut counts)
            } else {
                queue.leave_c(alone, &mut counts)
            };
            assert_eq!(left.is_none(), is_hit, "{ecn:?} {others}");
        }
    }
}

#[test]
fn gains_follow_from_the_longest_round_trip_time() {
    let gains = |set: &[(&str, Value)]| {
        let gains = queue(set, 0.0).params.gains;
        (gains.target, gains.t_update, gains.alpha, gains.beta)
    };
    let (ms, seconds) = (Span::from_millis(1), Value::Seconds);
    assert_eq!(gains(&[]), (0.015, ms * 15, 0.15, 3.0));
    assert_eq!(gains(&[("rtt_max", seconds(0.03))]).1, ms * 10, "three steps in a round trip");
    let (_, t_update, alpha, beta) = gains(&[("target", seconds(0.005)), ("rtt_max", seconds(0.02))]);
    // 0.1 * 0.005 / 0.0004 = 1.25, 0.3/0.02 = 15.
    assert_eq!(t_update, ms * 5);
    assert!((alpha - 1.25).abs() < 1e-12 && (beta - 15.0).abs() < 1e-12, "{alpha} {beta}");
    assert_eq!(gains(&[("alpha", Value::Number(0.16)), ("t_update", seconds(0.016))]).2, 0.16);
}

#[test]
fn the_ramp_by_hand() {
    let params = queue(&[], 0.0).params;
    for (us, expected) in
        [(0.0, 0.0), (800.0, 0.0), (900.0, 0.25), (1000.0, 0.5), (1200.0, 1.0), (9000.0, 1.0)]
    {
        assert!((params.ramp(us * 1e-6) - expected).abs() < 1e-9, "{us}");
    }
    let step =
        queue(&[("l4s_range", Value::Seconds(0.0)), ("l4s_min_th", Value::Seconds(0.001))], 0.0).params;
    assert_eq!([0.0, 0.000_999_9, 0.001, 0.002].map(|delay| step.ramp(delay)), [0.0, 0.0, 1.0, 1.0]);
}

#[test]
fn a_packet_alone_is_not_marked_by_the_ramp() {
    for (min_packets, marks) in [(1.0, 1), (0.0, 2)] {
        let mut queue = queue(
            &[("l4s_min_packets", Value::Number(min_packets)), ("l4s_range", Value::Seconds(0.0))],
            0.0,
        );
        let mut counts = Counts::default();
        // A count above 1 hits, so the first packet after a likelihood of 1 brings it to 1 and is let go.
        queue.counts[Queue::L as usize] = 0.5;
        for _ in 0..2 {
            queue.enqueue(Time::ZERO, packet(Ecn::Ect1, Time::ZERO), &mut counts);
        }
        for _ in 0..2 {
            queue.dequeue(Time::from_secs(0.01), &mut counts);
        }
        assert_eq!(counts.marks, marks);
    }
}

/// Which queues send the first packets of many in both that came at these times.
fn turns(scheduler: &str, (l, c): (f64, f64), n: usize) -> Vec<Ecn> {
    let mut queue = queue(&[("scheduler", Value::Word(scheduler.into()))], 0.0);
    let mut counts = Counts::default();
    for _ in 0..n {
        queue.enqueue(Time::ZERO, packet(Ecn::Ect1, Time::from_secs(l)), &mut counts);
        queue.enqueue(Time::ZERO, packet(Ecn::NotEct, Time::from_secs(c)), &mut counts);
    }
    (0..n)
        .map(|_| match queue.dequeue(Time::from_secs(l), &mut counts) {
            Dequeue::Packet(packet) => packet.meta.header.ecn(),
            _ => panic!("packets wait"),
        })
        .collect()
}

#[test]
fn low_latency_comes_first_and_classic_gets_its_share() {
    let turns = turns("weighted", (0.0, 0.0), 1003);
    // The credit begins at (0.1 - 0.9) 1514 = -1211.2 and grows by 100 with a packet of L: after 13 it is 88.8. One of C takes
    // 900, which nine of L bring back.
    let classic: Vec<_> = (0..turns.len()).filter(|&i| turns[i] == Ecn::NotEct).collect();
    assert_eq!(classic, (0..99).map(|i| 13 + 10 * i).collect::<Vec<_>>());
}

#[test]
fn the_credit_counts_while_both_wait_and_resets_on_idle() {
    let mut queue = queue(&[], 0.0);
    let mut counts = Counts::default();
    let mut take = |queue: &mut Rfc<u32>, n| (0..n).map(|_| queue.dequeue(Time::ZERO, &mut counts)).last();
    let put = |queue: &mut Rfc<u32>, ecn, n| {
        (0..n).for_each(|_| queue.enqueue(Time::ZERO, packet(ecn, Time::ZERO), &mut Counts::default()));
    };
    put(&mut queue, Ecn::Ect1, 30);
    take(&mut queue, 30);
    assert_eq!(queue.credit.bytes, -1211.2, "L alone");
    put(&mut queue, Ecn::Ect1, 5);
    put(&mut queue, Ecn::NotEct, 5);
    take(&mut queue, 5);
    assert!((queue.credit.bytes + 711.2).abs() < 1e-9);
    take(&mut queue, 5);
    assert!((queue.credit.bytes + 711.2).abs() < 1e-9, "C alone, and its last packet in transmission");
    assert_eq!(take(&mut queue, 1), Some(Dequeue::Empty));
    assert_eq!(queue.credit.bytes, -1211.2);
}

#[test]
fn a_classic_packet_that_is_much_older_comes_first() {
    assert!(turns("time-shifted", (0.1, 0.051), 10).iter().all(|ecn| *ecn == Ecn::Ect1));
    assert!(turns("time-shifted", (0.1, 0.049), 10).iter().all(|ecn| *ecn == Ecn::NotEct));
}

#[test]
fn packets_find_their_queues() {
    for (ecn, l) in [(Ecn::NotEct, 0), (Ecn::Ect, 0), (Ecn::Ect1, 1), (Ecn::Ce, 1)] {
        let mut queue = queue(&[], 0.0);
        queue.enqueue(Time::ZERO, packet(ecn, Time::ZERO), &mut Counts::default());
        assert_eq!((queue.l.backlog().packets, queue.c.backlog().packets), (l, 1 - l), "{ecn:?}");
    }
}
