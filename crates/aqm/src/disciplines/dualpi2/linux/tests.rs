use super::*;
use crate::disciplines::testing::TestHost;
use crate::{Header, LinkContext, Meta, Spec};
use aqmlab_units::Rate;

fn settings(set: &[(&str, Value)]) -> Settings {
    let mut spec = Spec::new("dualpi2").expect("a preset");
    for (key, value) in [("dialect", Value::Word("linux".into()))].iter().chain(set) {
        spec.set(key, value.clone()).expect("a valid value");
    }
    let link = LinkContext { rate: Rate(1_000_000_000), delay: Span::ZERO };
    Settings::read(&mut ParameterReader::new(&spec, link))
}

fn queue(set: &[(&str, Value)], p: u32) -> Linux<u32> {
    Linux { p, ..Linux::new(&settings(set)) }
}

fn packet(number: u32, ecn: Ecn, arrival: Time) -> Packet<u32> {
    let header = Header::default().with_ecn(ecn);
    Packet { meta: Meta { bytes: 1000, arrival, header, ..Meta::default() }, payload: number }
}

/// A random number that is this one of 32 bits.
fn draw(value: u32) -> f64 {
    f64::from(value) / 4_294_967_296.0
}

/// Return the numbers of marked and dropped packets of some that wait and leave at 1 ms, by these draws.
fn pass(queue: &mut Linux<u32>, kinds: &[Ecn], draws: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let draws: Vec<_> = draws.iter().map(|value| draw(*value)).collect();
    let (mut host, now) = (TestHost::with_draws(&draws), Time::from_secs(0.001));
    for (number, ecn) in kinds.iter().enumerate() {
        queue.enqueue(now, packet(number as u32, *ecn, now), &mut host);
    }
    while let Dequeue::Packet(_) = queue.dequeue(now, &mut host) {}
    assert!(host.draws.is_empty(), "{:?}", host.draws);
    (host.marked, host.dropped)
}

#[test]
fn gains_of_the_kernel() {
    // 41 (2^32 - 1)/4/10^9 = 44.02 and 819 (2^32 - 1)/4/10^9 = 879.39, rounded down.
    let Settings { alpha, beta, target, step, memlimit, .. } = settings(&[]);
    assert_eq!((alpha, beta, target, step, memlimit), (44, 879, 15_000_000, 1_000_000, 30_280_000));
    assert_eq!(settings(&[]).initial_credit(), -121_120);
}

#[test]
fn steps_by_hand() {
    let settings = settings(&[]);
    let ms = 1_000_000;
    // 44 * 5 ms + 879 * 10 ms, over 64.
    let change = ((44 * 5_000_000 + 879 * 10_000_000_u64) / 64) as u32;
    assert_eq!(settings.step(7, 20 * ms, 10 * ms), 7 + change);
    assert_eq!(settings.step(ONE, 10 * ms, 20 * ms), ONE - change);
    assert_eq!(settings.step(1000, 10 * ms, 20 * ms), 0);
    assert_eq!(settings.step(ONE - 1, 20 * ms, 10 * ms), ONE);
    assert_eq!(settings.step(1000, 15 * ms, 15 * ms), 1000);
    // A rise by 313 ms is above 1: 879 * 313e6 / 64 = 4 298 859 375, of which 2^32 are lost.
    let alone = Settings { alpha: 0, ..settings.clone() };
    assert_eq!(alone.step(1000, 313 * ms, 0), (1000 + 4_298_859_375_u64 - (1 << 32)) as u32);
    let bounded = Settings { drops_in_overload: false, ..settings };
    assert_eq!(bounded.step(ONE / 2, 20 * ms, 10 * ms), ONE / 2);
}

#[test]
fn two_numbers_hit_a_classic_packet() {
    // The last two packets are spared, as less than two of 1514 bytes are left; the fourth last too.
    let p = 1000;
    let kinds =
        [Ecn::Ect, Ecn::NotEct, Ecn::Ect, Ecn::Ect, Ecn::NotEct, Ecn::NotEct, Ecn::NotEct, Ecn::NotEct];
    let (marked, dropped) = pass(&mut queue(&[], p), &kinds, &[p, p, 0, p, p + 1, 0, p + 1]);
    // Packet 2 draws once above p, packet 3 once at 0 and once above.
    assert_eq!((marked, dropped), (vec![0], vec![1]));
}

#[test]
fn low_latency_packets_are_marked_with_the_coupled_probability() {
    let p = 1000;
    let (marked, dropped) = pass(&mut queue(&[], p), &[Ecn::Ect1; 6], &[2 * p, 2 * p + 1]);
    assert_eq!((marked, dropped), (vec![0], vec![]));
    // A zero hits at any probability.
    let (marked, _) = pass(&mut queue(&[], 0), &[Ecn::Ect1; 5], &[0]);
    assert_eq!(marked, vec![0]);
}

#[test]
fn overload_drops_before_it_marks() {
    let p = ONE / 2 + 1;
    let (marked, dropped) = pass(&mut queue(&[], p), &[Ecn::Ect1; 6], &[p, p, p, p + 1]);
    assert_eq!((marked, dropped), (vec![1], vec![0]));
    let (marked, dropped) = pass(&mut queue(&[], p), &[Ecn::Ect; 6], &[p, p, p + 1]);
    assert_eq!((marked, dropped), (vec![], vec![0]));
    let overflow = [("overload", Value::Word("overflow".into()))];
    let (marked, dropped) = pass(&mut queue(&overflow, p), &[Ecn::Ect1; 5], &[]);
    assert_eq!((marked, dropped), (vec![0], vec![]));
    // A probability of exactly one half marks no packet.
    let (marked, _) = pass(&mut queue(&[], ONE / 2), &[Ecn::Ect1; 5], &[ONE]);
    assert_eq!(marked, Vec::<u32>::new());
}

#[test]
fn draws_at_the_arrival() {
    let arriving = [("decide", Value::Word("arriving".into()))];
    // Three packets wait until 2 * 1514 bytes do not; then each arrival draws, none as it leaves.
    let (marked, dropped) = pass(&mut queue(&arriving, 10), &[Ecn::NotEct; 6], &[10, 10, 11]);
    assert_eq!((marked, dropped), (vec![], vec![4]));
}

#[test]
fn the_step_marks_by_delay_and_length() {
    for (min_packets, expected) in [(0.0, vec![0, 1, 2]), (1.0, vec![1, 2]), (2.0, vec![2])] {
        let mut queue = queue(&[("l4s_min_packets", Value::Number(min_packets))], 0);
        let mut host = TestHost::default();
        (0..3).for_each(|n| queue.enqueue(Time::ZERO, packet(n, Ecn::Ect1, Time::ZERO), &mut host));
        while let Dequeue::Packet(_) = queue.dequeue(Time(1_000_001_000), &mut host) {}
        assert_eq!(host.marked, expected);
    }
    let mut queue = queue(&[], 0);
    let mut host = TestHost::default();
    queue.enqueue(Time::ZERO, packet(0, Ecn::Ect1, Time::ZERO), &mut host);
    queue.dequeue(Time(1_000_000_999), &mut host);
    assert!(host.marked.is_empty(), "1 ms is not above 1 ms");
}

#[test]
fn the_credit_in_percent_of_bytes() {
    let mut queue = queue(&[], 0);
    let mut host = TestHost { draws: [0.9; 300].into(), ..TestHost::default() };
    for n in 0..60 {
        queue.enqueue(Time::ZERO, packet(n, Ecn::Ect1, Time::ZERO), &mut host);
        queue.enqueue(Time::ZERO, packet(100 + n, Ecn::NotEct, Time::ZERO), &mut host);
    }
    let mut classic = Vec::new();
    for at in 0..40 {
        let Dequeue::Packet(packet) = queue.dequeue(Time::ZERO, &mut host) else { panic!("packets wait") };
        classic.extend((packet.payload >= 100).then_some(at));
    }
    // -121 120 + 13 * 10 000 is above 0; C takes 90 000, which nine of L bring back: -81 120 + 9 * 10 000.
    assert_eq!(classic, [13, 23, 33]);
    while let Dequeue::Packet(_) = queue.dequeue(Time::ZERO, &mut host) {}
    assert_eq!(queue.credit, -121_120);
}

#[test]
fn memory_is_bounded() {
    let mut queue = queue(&[("memlimit", Value::Bytes(2 * 2304))], 0);
    let mut host = TestHost::default();
    // 1000 bytes take 2048 + 256.
    (0..3).for_each(|n| queue.enqueue(Time::ZERO, packet(n, Ecn::NotEct, Time::ZERO), &mut host));
    assert_eq!(host.dropped, [2]);
    while let Dequeue::Packet(_) = queue.dequeue(Time::ZERO, &mut host) {}
    assert_eq!(queue.memory, 0);
}

#[test]
fn the_timer_steps_by_the_delay_of_the_oldest_packet() {
    let mut queue = queue(&[], 0);
    let mut host = TestHost::default();
    assert_eq!(queue.next_timer(), None, "at rest");
    let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
    queue.enqueue(at(5), packet(0, Ecn::NotEct, at(5)), &mut host);
    queue.enqueue(at(9), packet(1, Ecn::Ect1, at(9)), &mut host);
    assert_eq!(queue.next_timer(), Some(at(16)));
    queue.on_timer(at(16), &mut host);
    // 879 * 11 ms - 44 * 4 ms, over 64.
    assert_eq!((u64::from(queue.p), queue.delay), ((879 * 11_000_000 - 44 * 4_000_000) / 64, 11_000_000));
}

#[test]
fn steps_of_an_untouched_queue_are_computed_at_once() {
    // With and without waiting packets: the state after each of 40,000 steps of 16 ms, and after all of them in one call.
    for kinds in [&[][..], &[Ecn::NotEct; 9]] {
        let mut one_by_one = queue(&[], ONE / 3);
        let mut host = TestHost::with_draws(&[]);
        for (number, ecn) in kinds.iter().enumerate() {
            one_by_one.enqueue(Time::ZERO, packet(number as u32, *ecn, Time::ZERO), &mut host);
        }
        let mut at_once = one_by_one.clone();
        let numbers = |queue: &Linux<u32>| (queue.p, queue.delay, queue.next_update);
        for step in 1..=40_000 {
            one_by_one.catch_up(Time::ZERO + Span::from_millis(16) * step);
        }
        at_once.catch_up(Time::ZERO + Span::from_millis(16) * 40_000);
        assert_eq!(numbers(&at_once), numbers(&one_by_one));
        // 200 days.
        at_once.catch_up(Time::from_secs(200.0 * 86_400.0));
        assert_eq!(at_once.p, if kinds.is_empty() { 0 } else { ONE });
    }
}
