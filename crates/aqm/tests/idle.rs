//! RED behind an idle time: with an idle rule the average is gone, without one it locks all out, as Linux's RED does below
//! a token bucket.

mod common;

use aqmlab_aqm::{Discipline, Ecn, Qdisc, Value};
use aqmlab_units::Time;
use common::{Counting, build, packet, word};

const MAX: f64 = 30.0;
const LEVEL: u32 = 40;

/// RED that has had 40 packets for long, drained, a hundred seconds later.
fn rested(at_idle: &str, host: &mut Counting) -> Discipline<u32> {
    let set = [
        ("dialect", word("floyd93")),
        ("at_idle", word(at_idle)),
        ("min_th", Value::Packets(10.0)),
        ("max_th", Value::Packets(1000.0)),
        ("max_p", Value::Number(1e-9)),
        ("w_q", Value::Number(1.0 / 512.0)),
        ("limit", Value::Packets(1e4)),
    ];
    let mut queue = build("red", 10_000_000, &set);
    for i in 0..20_000 {
        queue.enqueue(Time::ZERO, packet(0, 1000, Ecn::NotEct), host);
        if i >= LEVEL {
            let _ = queue.dequeue(Time::ZERO, host);
        }
    }
    assert!((queue.state().average - f64::from(LEVEL)).abs() < 0.01);
    assert_eq!(host.drops(), 0);
    while queue.backlog().packets > 0 {
        let _ = queue.dequeue(Time::from_secs(1.0), host);
    }
    let _ = queue.dequeue(Time::from_secs(1.0), host);
    queue
}

/// Arrivals to an empty queue, one a second, until the average is below `MAX`.
fn arrivals_above(at_idle: &str) -> u32 {
    let mut host = Counting::new(1);
    let mut queue = rested(at_idle, &mut host);
    let mut above = 0;
    loop {
        let now = Time::from_secs(100.0 + f64::from(above));
        queue.enqueue(now, packet(0, 1000, Ecn::NotEct), &mut host);
        let _ = queue.dequeue(now, &mut host);
        let _ = queue.dequeue(now, &mut host);
        if queue.state().average < MAX {
            return above;
        }
        above += 1;
    }
}

#[test]
fn an_idle_rule_forgets() {
    for at_idle in ["real", "integer", "table"] {
        assert_eq!(arrivals_above(at_idle), 0, "{at_idle}");
    }
}

/// 40 (511/512)^n is below 30 from n = ln(0.75)/ln(511/512) = 147.2 on.
#[test]
fn without_one_the_average_falls_by_arrivals_alone() {
    assert_eq!(arrivals_above("none"), 147);
}
