//! PIE, FQ-PIE, PI, PI2 and DualPI2.

use aqmlab_aqm::Ecn;

use crate::script::{Arrival, Case, PLAIN, Vectors};

const RATE: u64 = 8_000_000;
const MS: u64 = 1_000_000;
const CODES: [Ecn; 4] = [Ecn::Ect, Ecn::NotEct, Ecn::Ce, Ecn::Ect1];

/// All files.
pub fn files() -> Vec<Vectors> {
    ["", "linux"]
        .into_iter()
        .flat_map(|dialect| [pie(dialect), fq_pie(dialect)])
        .chain([pi(), pi2()])
        .collect()
}

fn dialect_line(dialect: &str) -> String {
    if dialect.is_empty() { String::new() } else { format!("dialect = \"{dialect}\"\n") }
}

/// Steps of 16 ms from the first one of Linux, or of 15 ms.
struct Clock {
    first: u64,
    step: u64,
}

impl Clock {
    fn of(dialect: &str) -> Self {
        if dialect.is_empty() {
            Self { first: 15 * MS, step: 15 * MS }
        } else {
            Self { first: 500 * MS, step: 16 * MS }
        }
    }

    /// Two packets arrive and one leaves between two steps, so that the delay grows.
    fn overload(&self, c: &mut Case, steps: u64, draw: f64, packet: impl Fn() -> Arrival) {
        let begin = c.now().max(self.first - self.step);
        let begin = begin - (begin - (self.first - self.step)) % self.step;
        for i in 0..steps {
            c.at(c.now().max(begin + i * self.step + MS));
            c.no_draws();
            c.draws(&[draw; 2]);
            c.offer(packet());
            c.offer(packet());
            c.serve();
        }
        c.no_draws();
    }
}

fn pie(dialect: &'static str) -> Vectors {
    let is_rfc = dialect.is_empty();
    let source =
        if is_rfc { "RFC 8033, sections 4 and 5" } else { "Linux net/sched/sch_pie.c, include/net/pie.h" };
    let note = if is_rfc {
        "The delay is that of the last packet to leave, except where said; p steps at 15, 30, 45, ... ms"
    } else {
        "Integers as in the kernel with HZ = 250: p steps at 500, 516, 532, ... ms"
    };
    let mut v = Vectors::new("pie", dialect, RATE, source, note);
    let (line, clock) = (dialect_line(dialect), Clock::of(dialect));
    let settings = |max_burst: &str, rest: &str| {
        format!(
            "aqm = \"pie\"\n{line}limit = \"1000p\"\ntarget = \"15ms\"\nt_update = \"15ms\"\nmax_burst = \"{max_burst}\"\nmean_packet = \"1000B\"\n{rest}"
        )
    };
    let gains = |alpha: f64, rest: &str| format!("alpha = {alpha:?}\nbeta = {:?}\n{rest}", 10.0 * alpha);
    let slow = |rest: &str| gains(0.125, rest);
    // Linux spaces its drops, so that a small probability drops late.
    let fast = |rest: &str| gains(if is_rfc { 2.0 } else { 16.0 }, rest);
    let high = v.high();
    let text = "no packet is dropped within max_burst after a quiet time, although p is above 0 and the random numbers are 0";
    v.case("burst allowance", &settings("45ms", &fast("")), text, |c| {
        clock.overload(c, 8, 0.0, PLAIN);
    });
    v.case(
        "burst allowance comes back after a quiet time",
        &settings("45ms", &slow("")),
        "both delays below half of the target and p 0",
        |c| {
            clock.overload(c, 3, high, PLAIN);
            while c.serve().is_some() {}
            let now = c.now();
            for i in 1..5 {
                c.at(now + 40 * i * clock.step);
                c.arrive();
                c.serve();
                c.serve();
            }
        },
    );
    let text = "an arrival 1 ns before a step, at the step, and 1 ns after it; the step comes first";
    v.case("step exactly at an arrival", &settings("0ms", &fast("")), text, |c| {
        clock.overload(c, 5, high, PLAIN);
        let step = clock.first + 5 * clock.step;
        for ns in [step - 1, step, step + 1] {
            c.at(ns);
            c.draws(&[0.0]);
            c.arrive();
            c.no_draws();
        }
    });
    for (name, bytes) in [("two mean packets wait", 1000), ("just more than two mean packets wait", 1001)] {
        v.case(name, &settings("0ms", &fast("")), "no drop at random number 0 while at most 2000 bytes wait (Linux: less than two packets of 1000 bytes)", |c| {
            clock.overload(c, 5, high, PLAIN);
            while c.waiting() > 0 && c.waiting() > 1 {
                c.serve();
            }
            c.offer(PLAIN().bytes(bytes));
            for _ in 0..3 {
                c.draws(&[0.0]);
                c.offer(PLAIN().bytes(1));
                c.no_draws();
            }
        });
    }
    v.case(
        "p below a fifth and a short delay",
        &settings("0ms", &fast("")),
        "no drop while the delay is below half of the target",
        |c| {
            clock.overload(c, 5, high, PLAIN);
            c.burst(4);
            while c.waiting() > 4 {
                c.serve();
            }
            for i in 1..4 {
                c.wait(clock.step / 2);
                c.draws(&[0.0; 2]);
                c.burst(1 + usize::from(i < 3));
                c.no_draws();
                c.serve();
            }
        },
    );
    v.case(
        "gains grow with p",
        &settings("0ms", &slow("")),
        "the divisors 2048, 512, 128, 32, 8, 2 and 1 (RFC 8033, section 4.2)",
        |c| {
            clock.overload(c, 11, high, PLAIN);
        },
    );
    v.case(
        "steps above a tenth are at most 0.02",
        &settings("0ms", &gains(8.0, "")),
        "RFC 8033, section 5.5",
        |c| {
            clock.overload(c, 7, high, PLAIN);
        },
    );
    if is_rfc {
        for (name, below) in [("random number exactly p", false), ("random number just below p", true)] {
            v.case(name, &settings("0ms", &fast("")), "dropped is r < p", |c| {
                clock.overload(c, 4, high, PLAIN);
                let unit = 1.0 / 9_007_199_254_740_992.0;
                let at = (c.gauge("p") / unit).ceil() * unit;
                c.draws(&[if below { at - unit } else { at }]);
                c.arrive();
                assert_eq!(c.dropped() == 1, below);
            });
        }
    }
    let text = "p shrinks at each step without a delay; arrivals after 1, 2, 10 and 1000 steps";
    v.case("decay while idle", &settings("150ms", &fast("")).replace("150ms", "0ms"), text, |c| {
        clock.overload(c, 5, high, PLAIN);
        while c.serve().is_some() {}
        let mut at = c.now();
        for steps in [1, 1, 8, 990] {
            at += steps * clock.step;
            c.at(at);
            c.draws(&[0.0]);
            c.arrive();
            c.no_draws();
            c.serve();
            c.serve();
        }
    });
    v.case(
        "overflow before an early drop",
        &settings("0ms", &fast("")).replace("1000p", "6p"),
        "a full buffer draws no random number",
        |c| {
            clock.overload(c, 7, high, PLAIN);
            c.draws(&[0.0; 2]);
            c.burst(2);
            c.serve();
            c.burst(2);
        },
    );
    let text = "random number 0 with ect0, not-ect, ce, ect1 in turn; marks up to p = 0.1, drops above";
    v.case(
        "ECN - marks up to a tenth",
        &settings("0ms", &gains(2.0, "ecn = true\nmark_up_to = 0.1")),
        text,
        |c| {
            clock.overload(c, 6, high, PLAIN);
            for i in 0..8 {
                c.draws(&[0.0]);
                c.offer(PLAIN().ecn(CODES[i % 4]));
                c.no_draws();
                c.wait(clock.step / 4);
                if i % 2 == 0 {
                    c.serve();
                }
            }
        },
    );
    if is_rfc {
        v.case(
            "derandomize",
            &settings("0ms", &fast("derandomize = true")),
            "no drop before the probabilities sum up to 0.85, a drop from 8.5 on",
            |c| {
                clock.overload(c, 8, 0.0, PLAIN);
            },
        );
        v.case(
            "decay below half of the target",
            &settings("0ms", &fast("decay = \"half-target\"")),
            "RFC 8033, appendix B",
            |c| {
                clock.overload(c, 5, high, PLAIN);
                while c.waiting() > 2 {
                    c.serve();
                }
                (0..4).for_each(|_| {
                    c.wait(5 * MS);
                    c.arrive();
                    c.serve();
                });
            },
        );
    }
    v.case(
        "probability by packet length",
        &settings("0ms", &fast("byte_mode = true")),
        "p times length over mean_packet",
        |c| {
            clock.overload(c, 6, high, PLAIN);
            for bytes in [40, 500, 1000, 1500, 1500, 40] {
                c.draws(
                    &[c.gauge("p").max(1.0 / 1024.0) * 1024.0 / 1024.0]
                        .map(|p| (p * 4_294_967_296.0).floor() / 4_294_967_296.0),
                );
                c.offer(PLAIN().bytes(bytes));
                c.no_draws();
            }
        },
    );
    v.case(
        "delay by the departure rate",
        &settings("0ms", &fast("delay = \"departure-rate\"")),
        "a measurement begins with 16384 bytes waiting",
        |c| {
            c.at(clock.first - clock.step);
            c.burst(17);
            for _ in 0..12 {
                c.wait(MS);
                c.serve();
                c.draws(&[high]);
                c.arrive();
                c.no_draws();
            }
        },
    );
    let quick = settings("10ms", &gains(8.0, "ecn = true"))
        .replace("target = \"15ms\"", "target = \"3ms\"")
        .replace("t_update = \"15ms\"", "t_update = \"4ms\"");
    v.case("random traffic", &quick, "Poisson arrivals, loads of 2 to 8, silences", |c| {
        c.at(clock.first - clock.step);
        c.traffic(25, |rng| PLAIN().ecn(if rng.below(4) == 0 { Ecn::Ect } else { Ecn::NotEct }));
    });
    v
}

fn fq_pie(dialect: &'static str) -> Vectors {
    let source =
        "G. Ramakrishnan et al., FQ-PIE queue discipline in the Linux kernel, 2019; net/sched/sch_fq_pie.c";
    let note = "The queue of a flow is a hash of its number under hash_key 0; the flows here have queues of their own";
    let mut v = Vectors::new("fq-pie", dialect, RATE, source, note);
    let (line, clock, high) = (dialect_line(dialect), Clock::of(dialect), v.high());
    let alpha = if dialect.is_empty() { 2 } else { 16 };
    let settings = |rest: &str| {
        format!(
            "aqm = \"fq-pie\"\n{line}target = \"15ms\"\nt_update = \"15ms\"\nmax_burst = \"0ms\"\nalpha = {alpha}\nbeta = {alpha}0\nquantum = \"1514B\"\nqueues = 1024\nhash_key = 0\n{rest}"
        )
    };
    let plain = settings("limit = \"10240p\"");
    v.case(
        "sparse flow before bulk flows",
        &plain,
        "a new flow is served first, then the old ones in turn",
        |c| {
            for flow in [1, 2] {
                (0..4).for_each(|_| {
                    c.offer(PLAIN().flow(flow));
                });
            }
            c.serve();
            c.offer(PLAIN().flow(3).bytes(100));
            (0..10).for_each(|_| {
                c.wait(MS);
                c.serve();
            });
        },
    );
    v.case("each queue has its own controller", &plain, "flow 1 overloads the link, flow 2 does not", |c| {
        clock.overload(c, 8, 0.0, PLAIN);
        for _ in 0..4 {
            c.draws(&[0.0; 2]);
            c.offer(PLAIN().flow(2));
            c.offer(PLAIN());
            c.no_draws();
            c.wait(clock.step);
            c.serve();
        }
    });
    v.case("overflow", &settings("limit = \"6p\""), "the arriving packet is dropped", |c| {
        (0..5).for_each(|_| {
            c.offer(PLAIN());
        });
        (0..3).for_each(|_| {
            c.offer(PLAIN().flow(2));
        });
    });
    v.case(
        "ECN - marks up to a tenth",
        &settings("limit = \"10240p\"\necn = true"),
        "random number 0 with ect0, not-ect, ce, ect1 in turn",
        |c| {
            clock.overload(c, 6, high, PLAIN);
            for i in 0..12 {
                c.draws(&[0.0]);
                c.offer(PLAIN().ecn(CODES[i % 4]));
                c.no_draws();
                c.wait(clock.step / 4);
                if i % 2 == 0 {
                    c.serve();
                }
            }
        },
    );
    let quick = settings("limit = \"20p\"")
        .replace("target = \"15ms\"", "target = \"2ms\"")
        .replace("t_update = \"15ms\"", "t_update = \"4ms\"");
    v.case("random traffic", &quick, "Poisson arrivals of three flows, loads of 2 to 8, silences", |c| {
        c.at(clock.first - clock.step);
        c.traffic(50, |rng| PLAIN().flow(1 + rng.below(3) as u32));
    });
    v
}

fn pi() -> Vectors {
    let source = "C. Hollot, V. Misra, D. Towsley, W. Gong, On designing improved controllers, INFOCOM 2001, section V";
    let mut v = Vectors::new("pi", "", RATE, source, "p is sampled every 5 ms from 5 ms on");
    let high = v.high();
    let settings = |rest: &str| {
        format!(
            "aqm = \"pi\"\na = 0.05\nb = 0.045\nsampling = 200\nq_ref = \"5p\"\nmean_packet = \"1000B\"\n{rest}"
        )
    };
    let plain = settings("limit = \"20p\"");
    v.case(
        "queue at and above the reference",
        &plain,
        "p(k) = a (q(k) - q_ref) - b (q(k-1) - q_ref) + p(k-1)",
        |c| {
            c.draws(&[high; 60]);
            for (step, packets) in [5, 0, 3, 2, 0, 0].into_iter().enumerate() {
                c.at_ms(1 + 5 * step as u64);
                c.burst(packets);
            }
            (0..8).for_each(|i| {
                c.at_ms(31 + 5 * i);
                c.serve();
            });
        },
    );
    for (name, below) in [("random number exactly p", false), ("random number just below p", true)] {
        v.case(name, &plain, "dropped is r < p", |c| {
            c.draws(&[high; 12]);
            c.burst(12);
            c.at_ms(21);
            c.serve();
            c.no_draws();
            let unit = 1.0 / 9_007_199_254_740_992.0;
            let at = (c.gauge("p") / unit).ceil() * unit;
            c.draws(&[if below { at - unit } else { at }]);
            c.arrive();
            assert_eq!(c.dropped() == 1, below);
        });
    }
    v.case(
        "sample exactly at an arrival",
        &plain,
        "the sample comes first, and does not count the arrival",
        |c| {
            c.draws(&[high; 20]);
            c.burst(8);
            for ns in [4_999_999, 5_000_000, 5_000_001, 10_000_000] {
                c.at(ns);
                c.arrive();
            }
        },
    );
    v.case("p stops at 0 while the queue is empty", &plain, "arrivals after long idle times", |c| {
        c.draws(&[high; 40]);
        c.burst(15);
        c.at_ms(21);
        while c.serve().is_some() {}
        for ms in [26, 100, 1000, 10_000] {
            c.at_ms(ms);
            c.arrive();
            c.serve();
            c.serve();
        }
    });
    v.case(
        "overflow before an early drop",
        &settings("limit = \"8p\""),
        "a full buffer draws no random number",
        |c| {
            c.draws(&[high; 8]);
            c.burst(9);
            c.at_ms(16);
            c.no_draws();
            c.burst(1);
            c.serve();
            c.draws(&[0.0; 2]);
            c.burst(2);
        },
    );
    v.case(
        "ECN - marks in place of drops",
        &settings("limit = \"20p\"\necn = true"),
        "random number 0 with ect0, not-ect, ce, ect1 in turn",
        |c| {
            c.draws(&[high; 10]);
            c.burst(10);
            c.no_draws();
            c.at_ms(12);
            c.draws(&[0.0; 8]);
            (0..8).for_each(|i| {
                c.offer(PLAIN().ecn(CODES[i % 4]));
            });
        },
    );
    v.case(
        "probability by packet length",
        &settings("limit = \"20p\"\nbyte_mode = true\nmode = \"bytes\""),
        "queue in bytes over the mean packet",
        |c| {
            c.traffic(20, |rng| PLAIN().bytes([40, 500, 1000, 1500][rng.below(4) as usize]));
        },
    );
    v.case("random traffic", &plain, "Poisson arrivals, loads of 2 to 8, silences", |c| {
        c.traffic(36, |_| PLAIN())
    });
    v
}

fn pi2() -> Vectors {
    let source = "K. De Schepper, O. Bondarenko, I.-J. Tsang, B. Briscoe, PI2, CoNEXT 2016";
    let mut v = Vectors::new("pi2", "", RATE, source, "The base probability steps at 32, 64, 96, ... ms");
    let settings = |rest: &str| {
        format!(
            "aqm = \"pi2\"\nlimit = \"1000p\"\ntarget = \"20ms\"\nt_update = \"32ms\"\nmax_packet = \"1514B\"\n{rest}"
        )
    };
    let high = v.high();
    let clock = Clock { first: 32 * MS, step: 32 * MS };
    let fast = "alpha = 2.0\nbeta = 20.0\n";
    for decide in ["leaving", "arriving"] {
        let rest = format!("{fast}decide = \"{decide}\"\n");
        v.case(
            &format!("base probability - decisions when {decide}"),
            &settings(&rest),
            "p_c is the square of p_base",
            |c| {
                clock.overload(c, 8, high, PLAIN);
            },
        );
        v.case(
            &format!("random number 0 - decisions when {decide}"),
            &settings(&rest),
            "drops whenever p_c is above 0 and two packets of max_packet wait",
            |c| {
                clock.overload(c, 6, 0.0, PLAIN);
            },
        );
        let text =
            "scalable traffic (ect1) is marked with coupling times p_base, ect0 and not-ect with its square";
        v.case(
            &format!("coupling - decisions when {decide}"),
            &settings(&format!("{rest}ecn = true\ncoupling = 2")),
            text,
            |c| {
                clock.overload(c, 4, high, PLAIN);
                for i in 0..16 {
                    c.draws(&[0.05]);
                    c.offer(PLAIN().ecn(CODES[i % 4]));
                    c.no_draws();
                    c.wait(clock.step / 4);
                    c.draws(&[0.05; 3]);
                    c.serve();
                    c.no_draws();
                }
            },
        );
    }
    v.case(
        "overload - above max_p packets are dropped",
        &settings("alpha = 8.0\nbeta = 80.0\necn = true\nmax_p = 0.25"),
        "p_c beyond max_p",
        |c| {
            clock.overload(c, 6, high, || PLAIN().ecn(Ecn::Ect));
            clock.overload(c, 3, 0.0, || PLAIN().ecn(Ecn::Ect));
        },
    );
    v.case("idle", &settings(fast), "the controller steps with a delay of 0", |c| {
        clock.overload(c, 5, high, PLAIN);
        while c.serve().is_some() {}
        for ms in [300, 400, 2000, 20_000] {
            c.at_ms(ms);
            c.arrive();
            c.serve();
            c.serve();
        }
    });
    v.case("overflow", &settings(fast).replace("1000p", "6p"), "a full buffer", |c| {
        c.burst(8);
        c.serve();
        c.burst(2);
    });
    let quick = settings("alpha = 8.0\nbeta = 80.0\necn = true")
        .replace("target = \"20ms\"", "target = \"3ms\"")
        .replace("32ms", "8ms");
    v.case("random traffic", &quick, "Poisson arrivals, loads of 2 to 8, silences", |c| {
        c.traffic(36, |rng| PLAIN().ecn(CODES[rng.below(4) as usize]));
    });
    v
}
