//! DualPI2.

use aqmlab_aqm::Ecn;

use crate::script::{Case, PLAIN, Vectors};

const RATE: u64 = 8_000_000;
const MS: u64 = 1_000_000;

/// All files.
pub fn files() -> Vec<Vectors> {
    ["", "linux"].into_iter().map(dualpi2).collect()
}

/// Steps of the controller: every 15 ms, in Linux every 16 ms.
fn step(dialect: &str) -> u64 {
    if dialect.is_empty() { 15 * MS } else { 16 * MS }
}

/// Two packets arrive and one leaves in each step.
fn overload(c: &mut Case, step: u64, steps: u64, ecn: [Ecn; 2], draw: f64) {
    for _ in 0..steps {
        c.no_draws();
        c.draws(&[draw; 4]);
        ecn.into_iter().for_each(|ecn| {
            c.offer(PLAIN().ecn(ecn));
        });
        c.serve();
        c.wait(step);
    }
    c.no_draws();
}

fn dualpi2(dialect: &'static str) -> Vectors {
    let is_rfc = dialect.is_empty();
    let source = if is_rfc { "RFC 9332, appendix A" } else { "Linux net/sched/sch_dualpi2.c" };
    let note = "ECT(1) and CE go to queue L, not-ect and ECT(0) to queue C; gauges l_packets and c_packets count them";
    let mut v = Vectors::new("dualpi2", dialect, RATE, source, note);
    let (step, high) = (step(dialect), v.high());
    let line = if is_rfc { String::new() } else { format!("dialect = \"{dialect}\"\n") };
    let settings = |rest: &str| {
        format!(
            "aqm = \"dualpi2\"\n{line}limit = \"100p\"\ntarget = \"15ms\"\nt_update = \"15ms\"\ncoupling = 2\nl4s_min_th = \"1ms\"\nmax_packet = \"1514B\"\necn = true\n{rest}"
        )
    };
    let slow = settings("");
    let classic =
        if is_rfc { "alpha = 0.5\nbeta = 5.0\ndecision = \"random\"" } else { "alpha = 0.5\nbeta = 5.0" };
    let fast = settings("alpha = 4.0\nbeta = 40.0");
    v.case(
        "code points choose the queue",
        &slow,
        "ect1 and ce wait in L, ect0 and not-ect in C; L is served first",
        |c| {
            for ecn in [Ecn::NotEct, Ecn::Ect, Ecn::Ect1, Ecn::Ce] {
                c.offer(PLAIN().ecn(ecn));
            }
            c.drain();
        },
    );
    let text = "L's packets are marked by their delay: below l4s_min_th, at it, and above, while more than one packet is in L";
    v.case("L4S ramp - delay below, at and above the threshold", &slow, text, |c| {
        (0..14).for_each(|_| {
            c.offer(PLAIN().ecn(Ecn::Ect1));
        });
        for ns in [999_999, MS, MS + 1, 1_200_000, 1_399_999, 1_400_000, 1_500_000, 2 * MS, 2 * MS, 3 * MS] {
            c.at(ns);
            c.serve();
        }
    });
    v.case(
        "L4S ramp - a single packet is not marked",
        &slow,
        "however long it waited, while the base probability is 0",
        |c| {
            c.offer(PLAIN().ecn(Ecn::Ect1));
            c.at_ms(5);
            c.serve();
            c.offer(PLAIN().ecn(Ecn::Ect1));
            c.offer(PLAIN().ecn(Ecn::Ce));
            c.at_ms(10);
            c.serve();
            c.serve();
            c.serve();
        },
    );
    let text = "queue C alone overloads the link; p_c = p_base squared, p_cl = coupling p_base";
    v.case("coupling - base probability rises", &fast, text, |c| {
        overload(c, step, 8, [Ecn::NotEct, Ecn::NotEct], high);
    });
    let text = "L's packets do not wait, but are marked with p_cl because C's do";
    v.case("coupling - marks in L by the delay of C", &fast, text, |c| {
        overload(c, step, 5, [Ecn::NotEct, Ecn::NotEct], high);
        for _ in 0..12 {
            c.offer(PLAIN().ecn(Ecn::Ect1));
            c.serve();
            c.wait(step / 8);
        }
    });
    v.case(
        "classic queue - ect0 is marked and not-ect dropped",
        &settings(classic),
        "in turn, with the probability p_c",
        |c| {
            c.burst(4);
            overload(c, step, 6, [Ecn::Ect, Ecn::NotEct], high);
            overload(c, step, 6, [Ecn::Ect, Ecn::Ect], 0.0);
            overload(c, step, 2, [Ecn::Ect, Ecn::NotEct], 0.0);
        },
    );
    v.case(
        "overload - p_cl at 1",
        &settings("alpha = 12.0\nbeta = 120.0"),
        "L's packets are dropped with p_c, or else marked",
        |c| {
            overload(c, step, 7, [Ecn::NotEct, Ecn::Ect], high);
            overload(c, step, 7, [Ecn::Ect1, Ecn::Ect1], 0.0);
        },
    );
    v.case(
        "scheduler - the classic queue is not starved",
        &slow,
        "a tenth of the bytes are C's while both wait",
        |c| {
            (0..26).for_each(|_| {
                c.offer(PLAIN().ecn(Ecn::Ect1));
            });
            (0..4).for_each(|_| {
                c.arrive();
            });
            (0..30).for_each(|_| {
                c.serve();
            });
        },
    );
    v.case(
        "idle - the base probability decays",
        &fast,
        "steps at delay 0; then arrivals after 100 ms and 10 s",
        |c| {
            overload(c, step, 5, [Ecn::NotEct, Ecn::NotEct], high);
            while c.serve().is_some() {}
            for ns in [step, 100 * MS, 10_000 * MS] {
                c.wait(ns);
                c.arrive();
                c.offer(PLAIN().ecn(Ecn::Ect1));
                c.serve();
                c.serve();
                c.serve();
            }
        },
    );
    v.case(
        "overflow - the queues share the buffer",
        &settings("").replace("100p", "6p"),
        "the seventh packet finds six waiting",
        |c| {
            for ecn in
                [Ecn::NotEct, Ecn::Ect1, Ecn::NotEct, Ecn::Ect1, Ecn::Ect, Ecn::Ce, Ecn::Ect1, Ecn::NotEct]
            {
                c.offer(PLAIN().ecn(ecn));
            }
            c.serve();
            c.burst(2);
        },
    );
    let quick = settings("alpha = 12.0\nbeta = 120.0").replace("target = \"15ms\"", "target = \"3ms\"");
    v.case("random traffic", &quick, "Poisson arrivals, loads of 2 to 8, silences", |c| {
        c.traffic(60, |rng| {
            PLAIN().ecn([Ecn::NotEct, Ecn::Ect, Ecn::Ect1, Ecn::Ect1][rng.below(4) as usize])
        });
    });
    v
}
