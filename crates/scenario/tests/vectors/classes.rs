//! RED with classes.

use crate::script::{PLAIN, Vectors};

const RATE: u64 = 8_000_000;

const CLASSES: &str = "
[[class]]
name = \"in\"
dscp = [10]
min_th = \"4p\"
max_th = \"12p\"
max_p = 0.25

[[class]]
name = \"out\"
default = true
min_th = \"2p\"
max_th = \"8p\"
max_p = 0.5
";

const FILES: [(&str, &str, &str, &str); 7] = [
    ("rio", "", "D. Clark, W. Fang, Explicit Allocation of Best-Effort Packet Delivery Service, 1998", ""),
    ("rio", "dsred", "ns-2.35 diffserv/dsredq.cc", ""),
    ("wred", "", "D. Clark, W. Fang 1998; RFC 2597", ""),
    ("wred", "dsred", "ns-2.35 diffserv/dsredq.cc", ""),
    ("wred", "linux", "Linux net/sched/sch_gred.c", ""),
    (
        "adaptive-rio",
        "",
        "C.-H. Chien, W. Liao, A Self-Configuring RED Gateway, 2003",
        "adapt_interval = \"10ms\"\n",
    ),
    ("rio", "floyd93", "D. Clark, W. Fang 1998, all else as in Floyd and Jacobson 1993", ""),
];

/// One file for each discipline and dialect.
pub fn files() -> Vec<Vectors> {
    FILES
        .iter()
        .map(|(discipline, dialect, source, extra)| file(discipline, dialect, source, extra))
        .collect()
}

fn file(discipline: &str, dialect: &str, source: &str, extra: &str) -> Vectors {
    let note = "Class in is DSCP 10 (AF11), class out all else; gauges average_0 and average_1 are theirs";
    let mut v = Vectors::new(discipline, dialect, RATE, source, note);
    let high = v.high();
    let dialect = if dialect.is_empty() { String::new() } else { format!("dialect = \"{dialect}\"\n") };
    let settings = |rest: &str| {
        format!("aqm = \"{discipline}\"\n{dialect}mean_packet = \"1000B\"\n{extra}{rest}\n{CLASSES}")
    };
    let within = || PLAIN().dscp(10);
    let average = settings("w_q = 1\nlimit = \"20p\"");
    v.case("packets outside their profile alone", &average, "thresholds of class out", |c| {
        c.draws(&[high; 60]);
        c.burst(12);
    });
    v.case("packets inside their profile alone", &average, "thresholds of class in", |c| {
        c.draws(&[high; 60]);
        (0..16).for_each(|_| {
            c.offer(within());
        });
    });
    v.case(
        "classes in turn - random number 0",
        &average,
        "the class decides which average and thresholds judge the packet",
        |c| {
            c.draws(&[0.0; 80]);
            for i in 0..30 {
                c.offer(if i % 2 == 0 { within() } else { PLAIN() });
                if i % 3 == 0 {
                    c.wait(250_000);
                    c.serve();
                }
            }
        },
    );
    v.case("other code points are of the default class", &average, "DSCP 12 and 46 are class out", |c| {
        c.draws(&[high; 40]);
        (0..4).for_each(|_| {
            c.offer(within());
        });
        (0..4).for_each(|_| {
            c.offer(PLAIN().dscp(12));
        });
        (0..4).for_each(|_| {
            c.offer(PLAIN().dscp(46));
        });
    });
    let half = settings("w_q = 0.5\nlimit = \"20p\"");
    v.case(
        "idle - a class, then the queue",
        &half,
        "an average may decay while packets of the other class wait",
        |c| {
            c.draws(&[high; 60]);
            (0..5).for_each(|_| {
                c.offer(within());
            });
            (0..3).for_each(|_| {
                c.arrive();
            });
            (0..6).for_each(|_| {
                c.wait(1_000_000);
                c.serve();
            });
            c.offer(within());
            c.wait(2_000_000);
            c.drain();
            c.wait(2_500_000);
            c.offer(within());
            c.arrive();
        },
    );
    let full = settings("w_q = 0.0625\nlimit = \"5p\"");
    v.case("overflow", &full, "the buffer is shared", |c| {
        (0..3).for_each(|_| {
            c.offer(within());
        });
        c.burst(4);
        c.offer(within());
        c.serve();
        c.offer(within());
    });
    let traffic = settings("w_q = 0.125\nlimit = \"20p\"");
    v.case("random traffic", &traffic, "Poisson arrivals, loads of 2 to 8, silences", |c| {
        c.traffic(70, |rng| if rng.below(2) == 0 { within() } else { PLAIN() });
    });
    v
}
