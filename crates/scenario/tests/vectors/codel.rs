//! CoDel, COBALT and FQ-CoDel.

use aqmlab_aqm::Ecn;

use crate::script::{Case, PLAIN, Vectors};

const RATE: u64 = 8_000_000;
const MS: u64 = 1_000_000;
const RFC: &str = "RFC 8289, sections 4 and 5";
const KERNEL: &str = "Linux include/net/codel.h, codel_impl.h";

/// All files.
pub fn files() -> Vec<Vectors> {
    let codels = ["", "linux-6.1", "linux-6.12", "linux-7.3"].map(codel);
    let fq_codels = ["", "linux-6.1", "linux-6.12", "linux-7.3"].map(fq_codel);
    codels.into_iter().chain(fq_codels).chain([cobalt()]).collect()
}

fn dialect_line(dialect: &str) -> String {
    if dialect.is_empty() { String::new() } else { format!("dialect = \"{dialect}\"\n") }
}

/// Enter the dropping state 105 ms from now, and drop by the control law until `count` drops; leaves packets waiting.
fn episode(c: &mut Case, count: usize) {
    let start = c.now();
    c.burst(count + 6);
    c.at(start + 5 * MS);
    c.serve();
    c.at(start + 105 * MS);
    c.serve();
    // The times of the law, rounded up: 205, 275.71, 333.45, 383.45 ms.
    for at in [205 * MS, 275_800_000, 333_500_000, 383_500_000].into_iter().take(count - 1) {
        c.at(start + at);
        c.serve();
    }
}

/// Take all packets at once, so that the dropping state ends.
fn empty(c: &mut Case) {
    while c.serve().is_some() {}
}

fn codel(dialect: &'static str) -> Vectors {
    let is_rfc = dialect.is_empty();
    let note =
        if is_rfc { "" } else { "Times in ticks of 1024 ns and roots by Newton steps, as in the kernel" };
    let mut v = Vectors::new("codel", dialect, RATE, if is_rfc { RFC } else { KERNEL }, note);
    let line = dialect_line(dialect);
    let settings = |rest: &str| {
        format!(
            "aqm = \"codel\"\n{line}limit = \"1000p\"\ntarget = \"5ms\"\ninterval = \"100ms\"\nmax_packet = \"1514B\"\n{rest}"
        )
    };
    let plain = settings("");
    let text =
        "waiting for 5 ms less 1 ns begins nothing, for 5 ms begins the interval; the drop comes at its end";
    v.case("delay just below and exactly at the target", &plain, text, |c| {
        c.burst(8);
        for ns in [4_999_999, 5 * MS, 104_999_999, 105 * MS] {
            c.at(ns);
            c.serve();
            assert!(!is_rfc || c.dropped() == usize::from(ns == 105 * MS));
        }
        c.at(105 * MS + 2048);
        c.serve();
    });
    for (name, bytes) in
        [("backlog of exactly one largest packet", 757), ("backlog just above one largest packet", 758)]
    {
        let text = "at most 1514 bytes left: no packet is dropped, and the interval above the target ends";
        v.case(name, &plain, text, |c| {
            (0..4).for_each(|_| {
                c.offer(PLAIN().bytes(bytes));
            });
            c.at_ms(10);
            c.serve();
            c.at_ms(111);
            c.serve();
            assert!(!is_rfc || c.dropped() == usize::from(bytes == 758));
            c.at_ms(211);
            c.serve();
        });
    }
    let text =
        "drops at 105 ms, 205 ms and then after 100/sqrt(count) ms, each just before and just after its time";
    v.case("control law - times of the drops", &plain, text, |c| {
        c.burst(14);
        for ns in
            [5 * MS, 105 * MS, 204_999_999, 205 * MS, 275_710_678, 275_710_679, 333_445_705, 333_445_706]
        {
            c.at(ns);
            c.serve();
        }
    });
    v.case(
        "control law - several drops in one dequeue",
        &plain,
        "after 2 s without a dequeue the law catches up",
        |c| {
            c.burst(40);
            for ms in [5, 105, 2105, 2106] {
                c.at_ms(ms);
                c.serve();
            }
        },
    );
    v.case(
        "dropping state ends by a short delay",
        &plain,
        "a packet that waited less than the target ends it, and count stays",
        |c| {
            episode(c, 2);
            c.burst(9);
            while c.waiting() > 8 {
                c.serve();
            }
            c.wait(MS);
            c.serve();
            c.serve();
        },
    );
    v.case("dropping state ends by an empty queue", &plain, "dequeue returns none", |c| {
        episode(c, 2);
        empty(c);
        c.wait(MS);
        c.arrive();
        c.serve();
    });
    let text = "the last state began with count 1 and ended with 3; within 16 intervals of the next drop's time, count begins with the difference";
    // The law's next drop would be at 205 + 70.710678119 + 57.735026919 ms; 16 intervals later is 1933.445705038 ms.
    for (name, at) in [
        ("re-entry soon", 600 * MS),
        ("re-entry just within 16 intervals", 1_933_445_705),
        ("re-entry just after 16 intervals", 1_933_445_706),
        ("re-entry late", 4000 * MS),
    ] {
        v.case(name, &plain, text, |c| {
            episode(c, 3);
            empty(c);
            c.at(at - 110 * MS);
            c.burst(8);
            c.at(at - 100 * MS);
            c.serve();
            c.at(at);
            c.serve();
            if is_rfc {
                assert_eq!(c.gauge("count"), if at <= 1_933_445_705 { 2.0 } else { 1.0 });
            }
            c.wait(120 * MS);
            c.serve();
        });
    }
    v.case("re-entry after a single drop", &plain, "count begins with 1 again", |c| {
        episode(c, 1);
        empty(c);
        episode(c, 1);
        assert_eq!(c.gauge("count"), 1.0);
    });
    v.case("overflow", &settings("").replace("1000p", "3p"), "the fourth packet finds three waiting", |c| {
        c.burst(4);
        c.at_ms(1);
        c.serve();
        c.burst(2);
    });
    let codes = [Ecn::Ect, Ecn::Ce, Ecn::NotEct, Ecn::Ect1];
    v.case(
        "ECN - marks in place of drops",
        &settings("ecn = true"),
        "ect0, ce, not-ect, ect1 in turn; a marked packet leaves",
        |c| {
            (0..24).for_each(|i| {
                c.offer(PLAIN().ecn(codes[i % 4]));
            });
            for ms in [5, 105, 205, 276, 334, 384, 429, 600, 601] {
                c.at_ms(ms);
                c.serve();
            }
        },
    );
    let text = "a packet that waited longer than 1 ms is marked if it is ECN-capable, at 1 ms it is not";
    v.case("ECN - ce_threshold", &settings("ecn = true\nce_threshold = \"1ms\""), text, |c| {
        (0..9).for_each(|i| {
            c.offer(PLAIN().ecn(codes[i % 4]));
        });
        for ns in [500_000, MS, MS + 1, MS + 2048, MS + 4096, MS + 5000, 2 * MS, 3 * MS, 4 * MS] {
            c.at(ns);
            c.serve();
        }
    });
    let quick = settings("ecn = true").replace("5ms", "2ms").replace("100ms", "20ms");
    v.case("random traffic", &quick, "Poisson arrivals, loads of 2 to 8, silences", |c| {
        c.traffic(70, |rng| {
            PLAIN().bytes([200, 1000, 1500][rng.below(3) as usize]).ecn(if rng.below(4) == 0 {
                Ecn::Ect
            } else {
                Ecn::NotEct
            })
        });
    });
    v
}

fn fq_codel(dialect: &'static str) -> Vectors {
    let is_rfc = dialect.is_empty();
    let source = if is_rfc {
        "RFC 8290; RFC 8289"
    } else {
        "Linux net/sched/sch_fq_codel.c, include/net/codel_impl.h"
    };
    let note = "The queue of a flow is a hash of its number under hash_key 0; the flows here have queues of their own except where said";
    let mut v = Vectors::new("fq-codel", dialect, RATE, source, note);
    let line = dialect_line(dialect);
    let settings = |rest: &str| {
        format!(
            "aqm = \"fq-codel\"\n{line}target = \"5ms\"\ninterval = \"100ms\"\nquantum = \"1514B\"\nqueues = 1024\nhash_key = 0\n{rest}"
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
    v.case(
        "quantum used up exactly",
        &plain,
        "deficit 0 ends the turn: packets of 757 bytes go in pairs",
        |c| {
            for flow in [1, 2] {
                (0..5).for_each(|_| {
                    c.offer(PLAIN().flow(flow).bytes(757));
                });
            }
            (0..11).for_each(|_| {
                c.serve();
            });
        },
    );
    v.case("quanta by bytes", &plain, "1500 and 300 bytes: the flows send the same bytes in a round", |c| {
        (0..3).for_each(|_| {
            c.offer(PLAIN().flow(1).bytes(1500));
        });
        (0..12).for_each(|_| {
            c.offer(PLAIN().flow(2).bytes(300));
        });
        (0..16).for_each(|_| {
            c.serve();
        });
    });
    v.case(
        "new flow runs empty and comes back",
        &plain,
        "between its packets it joins the old flows, or leaves the lists",
        |c| {
            (0..6).for_each(|_| {
                c.offer(PLAIN().flow(1));
            });
            for _ in 0..3 {
                c.offer(PLAIN().flow(2).bytes(100));
                (0..2).for_each(|_| {
                    c.wait(MS);
                    c.serve();
                });
            }
            empty(c);
        },
    );
    v.case("each queue has its own control law", &plain, "flow 1 waits long, flow 2 does not", |c| {
        (0..12).for_each(|_| {
            c.offer(PLAIN().flow(1));
        });
        for ms in [5, 105, 205, 276, 334] {
            c.at_ms(ms);
            c.offer(PLAIN().flow(2));
            c.serve();
            c.serve();
        }
    });
    let text = "the longest queue in bytes loses packets at its head; in the RFC half of its packets, in Linux half of its bytes";
    v.case("overflow - the longest queue loses", &settings("limit = \"10p\"\ndrop_batch = 64"), text, |c| {
        (0..7).for_each(|_| {
            c.offer(PLAIN().flow(1));
        });
        (0..3).for_each(|_| {
            c.offer(PLAIN().flow(2).bytes(1500));
        });
        c.offer(PLAIN().flow(3));
        (0..4).for_each(|_| {
            c.offer(PLAIN().flow(2).bytes(1500));
        });
    });
    v.case(
        "overflow - a batch of two",
        &settings("limit = \"10p\"\ndrop_batch = 2"),
        "no more than drop_batch packets at once",
        |c| {
            (0..13).for_each(|_| {
                c.offer(PLAIN().flow(1));
            });
        },
    );
    v.case(
        "ECN - marks in place of drops",
        &settings("limit = \"10240p\"\necn = true"),
        "CE already set counts as a mark",
        |c| {
            let codes = [Ecn::Ect, Ecn::Ce, Ecn::NotEct, Ecn::Ect1];
            (0..14).for_each(|i| {
                c.offer(PLAIN().ecn(codes[i % 4]));
            });
            for ms in [5, 105, 205, 276, 334, 384] {
                c.at_ms(ms);
                c.serve();
            }
        },
    );
    let quick = settings("limit = \"30p\"").replace("5ms", "2ms").replace("100ms", "20ms");
    v.case("random traffic", &quick, "Poisson arrivals of five flows, loads of 2 to 8, silences", |c| {
        c.traffic(80, |rng| {
            PLAIN().flow(1 + rng.below(5) as u32).bytes([200, 1000, 1500][rng.below(3) as usize])
        });
    });
    v
}

fn cobalt() -> Vectors {
    let source = "Linux 6.1 net/sched/sch_cake.c, functions cobalt_*; J. Palmei et al., LANMAN 2019";
    let note = "Times and roots are exact; a full buffer drops the arriving packet";
    let mut v = Vectors::new("cobalt", "", RATE, source, note);
    let settings = |rest: &str| {
        format!("aqm = \"cobalt\"\ntarget = \"5ms\"\ninterval = \"100ms\"\nmax_packet = \"1514B\"\n{rest}")
    };
    let plain = settings("limit = \"1000p\"");
    let text = "a delay is acceptable up to the target, and up to four largest packets: here 6.056 ms";
    v.case("delay just below and above the acceptable one", &plain, text, |c| {
        c.burst(10);
        for ns in [5_000_001, 6_055_999, 6 * MS + 56_000, 6_056_001, 106_056_000, 106_056_001, 206 * MS] {
            c.at(ns);
            c.serve();
        }
    });
    v.case(
        "control law - count rises and falls",
        &plain,
        "count falls at the times of the law while the delay is short",
        |c| {
            c.burst(24);
            for ms in [10, 110, 181, 239, 289, 334] {
                c.at_ms(ms);
                c.serve();
            }
            empty(c);
            for ms in [400, 450, 500, 600, 900] {
                c.at_ms(ms);
                c.arrive();
                c.serve();
                c.serve();
            }
        },
    );
    v.case(
        "BLUE - overflow raises the probability once in a target",
        &settings("limit = \"4p\""),
        "p_drop rises by 1/256",
        |c| {
            c.draws(&[0.9; 40]);
            c.at_ms(6);
            c.burst(6);
            c.at(11 * MS);
            c.burst(1);
            c.at(11 * MS + 1);
            c.burst(1);
            c.at_ms(20);
            c.burst(1);
            c.serve();
            c.burst(2);
        },
    );
    let text = "a random number below p_drop drops, also ECN-capable packets; an empty queue lowers p_drop by 1/4096 once in a target";
    v.case("BLUE - drops and decay", &settings("limit = \"4p\"\necn = true\nincrement = 0.25"), text, |c| {
        c.at_ms(6);
        (0..5).for_each(|_| {
            c.offer(PLAIN().ecn(Ecn::Ect));
        });
        for draw in [0.25, 0.25 - 1.0 / 9_007_199_254_740_992.0, 0.0, 0.5] {
            c.no_draws();
            c.draws(&[draw, 0.99, 0.99, 0.99]);
            c.wait(MS);
            c.serve();
        }
        c.no_draws();
        for ms in [12, 13, 18, 24] {
            c.at_ms(ms);
            c.serve();
        }
    });
    v.case(
        "ECN - marks in place of drops",
        &settings("limit = \"1000p\"\necn = true"),
        "ect0, ce, not-ect, ect1 in turn",
        |c| {
            let codes = [Ecn::Ect, Ecn::Ce, Ecn::NotEct, Ecn::Ect1];
            (0..20).for_each(|i| {
                c.offer(PLAIN().ecn(codes[i % 4]));
            });
            for ms in [10, 110, 181, 239, 289, 334, 376] {
                c.at_ms(ms);
                c.serve();
            }
        },
    );
    let quick =
        settings("limit = \"12p\"").replace("5ms", "2ms").replace("100ms", "20ms").replace("1514B", "200B");
    v.case("random traffic", &quick, "Poisson arrivals, loads of 2 to 8, silences", |c| {
        c.traffic(70, |_| PLAIN());
    });
    v
}
