//! RED behind an idle time: with an idle rule the average is gone, without one it locks all out, as Linux's RED does below
//! a token bucket.

mod common;

use aqmlab_aqm::red::AVERAGE;
use aqmlab_aqm::{Discipline, Ecn, Qdisc, Value};
use aqmlab_units::Time;
use common::{Counting, build, gauge, packet, word};

const MAX: f64 = 30.0;
const LEVEL: u32 = 40;

/// RED that has had 40 packets for long, drained, a hundred seconds later.
fn rested(dialect: &str, at_idle: &str, host: &mut Counting) -> Discipline<u32> {
    let set = [
        ("dialect", word(dialect)),
        ("at_idle", word(at_idle)),
        ("min_th", Value::Packets(10.0)),
        ("max_th", Value::Packets(1000.0)),
        ("max_p", Value::Number(1e-9)),
        ("w_q", Value::Number(0.00195)),
        ("limit", Value::Packets(1e4)),
    ];
    let mut queue = build("red", 10_000_000, &set);
    for i in 0..20_000 {
        queue.enqueue(Time::ZERO, packet(0, 1000, Ecn::NotEct), host);
        if i >= LEVEL {
            let _ = queue.dequeue(Time::ZERO, host);
        }
    }
    assert!((gauge(&queue, AVERAGE) - f64::from(LEVEL)).abs() < 0.01);
    assert_eq!(host.drops(), 0);
    while queue.backlog().packets > 0 {
        let _ = queue.dequeue(Time::from_secs(1.0), host);
    }
    let _ = queue.dequeue(Time::from_secs(1.0), host);
    queue
}

/// Arrivals to an empty queue, one a second, until the average is below `MAX`.
fn arrivals_above(dialect: &str, at_idle: &str) -> u32 {
    let mut host = Counting::new(1);
    let mut queue = rested(dialect, at_idle, &mut host);
    let mut above = 0;
    loop {
        let now = Time::from_secs(100.0 + f64::from(above));
        queue.enqueue(now, packet(0, 1000, Ecn::NotEct), &mut host);
        let _ = queue.dequeue(now, &mut host);
        let _ = queue.dequeue(now, &mut host);
        if gauge(&queue, AVERAGE) < MAX {
            return above;
        }
        above += 1;
    }
}

#[test]
fn an_idle_rule_forgets() {
    for at_idle in ["real", "integer", "table"] {
        assert_eq!(arrivals_above("floyd93", at_idle), 0, "{at_idle}");
    }
}

/// 40 0.99805^n is below 30 from n = ln(0.75)/ln(0.99805) = 147.4 on.
#[test]
fn without_one_the_average_falls_by_arrivals_alone() {
    assert_eq!(arrivals_above("floyd93", "none"), 147);
}

/// In Linux's integers w_q is 2^-9 and A = 512 avg falls by A/512 in whole numbers, 40 at first.
#[test]
fn without_one_linux_average_falls_in_whole_numbers() {
    let mut scaled = 40 * 512;
    let above = std::iter::from_fn(|| {
        scaled -= scaled / 512;
        (scaled >= 30 * 512).then_some(())
    });
    assert_eq!(arrivals_above("linux", "none"), above.count() as u32);
}
