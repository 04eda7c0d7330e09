//! RED cases of ns-3's test suite: 300 packets enqueued at once and none dequeued. What ns-3 3.37 gave over 400 seeds
//! is in `tests/data/ns3/red.csv`.

mod common;

use aqmlab_aqm::{Ecn, Qdisc, Value};
use aqmlab_units::Time;
use common::{Counting, build, packet, table, word};

const SEEDS: u64 = 2000;

struct Case {
    min_th: f64,
    max_th: f64,
    w_q: f64,
    max_p: f64,
    curve: &'static str,
    wait: bool,
    ecn: (bool, Ecn),
    adaptation: &'static str,
}

const THIRD: Case = Case {
    min_th: 70.0,
    max_th: 150.0,
    w_q: 0.02,
    max_p: 0.02,
    curve: "gentle",
    wait: true,
    ecn: (false, Ecn::NotEct),
    adaptation: "none",
};
const EIGHTH: Case = Case {
    min_th: 30.0,
    max_th: 90.0,
    w_q: 0.002,
    max_p: 0.5,
    curve: "gentle",
    wait: true,
    ecn: (false, Ecn::NotEct),
    adaptation: "none",
};

fn case(name: &str) -> Case {
    match name {
        "2" => Case { w_q: 0.002, ..THIRD },
        "3" => THIRD,
        "4" => Case { max_th: 100.0, ..THIRD },
        "5" => Case { max_p: 0.2, ..THIRD },
        "6" => Case { curve: "linear", ..THIRD },
        "7" => Case { wait: false, ..THIRD },
        "8" => Case { ecn: (true, Ecn::NotEct), ..EIGHTH },
        "9" => Case { ecn: (false, Ecn::Ect), ..EIGHTH },
        "10" => Case { ecn: (true, Ecn::Ect), ..EIGHTH },
        "12" => Case { adaptation: "feng", ..EIGHTH },
        "13" => Case { curve: "nlred", ..EIGHTH },
        other => panic!("no case {other}"),
    }
}

fn run(case: &Case, mode: &str, seed: u64) -> Counting {
    // ns-3 with its defaults: ns-2's semantics, but a hard drop at p = 1 and marks at any p.
    let set = [
        ("dialect", word("ns2-2.35")),
        ("p_one_is_early", Value::Flag(false)),
        ("mark_up_to", Value::Number(1.0)),
        ("mode", word(mode)),
        ("mean_packet", Value::Bytes(500)),
        ("spacing", word(if case.wait { "ns2-wait" } else { "ns2-nowait" })),
        ("curve", word(case.curve)),
        ("min_th", Value::Packets(case.min_th)),
        ("max_th", Value::Packets(case.max_th)),
        ("w_q", Value::Number(case.w_q)),
        ("max_p", Value::Number(case.max_p)),
        ("adaptation", word(case.adaptation)),
        ("ecn", Value::Flag(case.ecn.0)),
        ("limit", Value::Packets(300.0)),
    ];
    let mut queue = build("red", 1_500_000, &set);
    let mut host = Counting::new(seed);
    for i in 0..300 {
        queue.enqueue(Time::ZERO, packet(i, 500, case.ecn.1), &mut host);
    }
    host
}

#[test]
fn counts_are_those_of_ns3() {
    for row in table("ns3/red.csv") {
        let number = |key: &str| row[key].parse::<f64>().expect("a number");
        let case = case(&row["test"]);
        for mode in ["packets", "bytes"] {
            let counts: Vec<u32> = (1..=SEEDS)
                .map(|seed| {
                    let host = run(&case, mode, seed);
                    match row["what"].as_str() {
                        "early" => host.early,
                        "forced" => host.forced,
                        "marks" => host.marks,
                        "drops" => host.drops(),
                        other => panic!("what is {other}?"),
                    }
                })
                .collect();
            let mean = f64::from(counts.iter().sum::<u32>()) / SEEDS as f64;
            let (least, most) = (number("min"), number("max"));
            let outside = counts.iter().filter(|&&c| f64::from(c) < least || f64::from(c) > most).count();
            let label = format!("test {} {} in {mode}", row["test"], row["what"]);
            if least == most {
                assert_eq!(outside, 0, "{label}: exactly {least}");
            }
            assert!(outside as u64 <= SEEDS / 100, "{label}: {outside} seeds outside [{least}, {most}]");
            if let Ok(golden) = row["mean"].parse::<f64>() {
                let allowed = (0.01 * golden).max(0.2);
                assert!((mean - golden).abs() <= allowed, "{label}: mean {mean}, not {golden}");
            }
        }
    }
}

#[test]
fn first_in_first_out() {
    let set =
        [("min_th", Value::Packets(2.0)), ("max_th", Value::Packets(5.0)), ("limit", Value::Packets(8.0))];
    let mut queue = build("gentle-red", 1_500_000, &set);
    let mut host = Counting::new(1);
    for i in 0..8 {
        queue.enqueue(Time::ZERO, packet(i, 500, Ecn::NotEct), &mut host);
    }
    assert_eq!((queue.backlog().packets, host.drops()), (8, 0));
    for i in 0..8 {
        let aqmlab_aqm::Dequeue::Packet(p) = queue.dequeue(Time::ZERO, &mut host) else { panic!("empty") };
        assert_eq!(p.payload, i);
        assert_eq!(queue.backlog().packets, 7 - i);
    }
    assert_eq!(queue.dequeue(Time::ZERO, &mut host), aqmlab_aqm::Dequeue::Empty);
}
