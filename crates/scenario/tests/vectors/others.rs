//! Drop-tail and the disciplines with a probability of their own.

use aqmlab_aqm::Ecn;

use crate::script::{Case, HIGH, PLAIN, Vectors};

const RATE: u64 = 8_000_000;
const CODES: [Ecn; 4] = [Ecn::Ect, Ecn::NotEct, Ecn::Ce, Ecn::Ect1];
/// The smallest random number above 0.
const UNIT: f64 = 1.0 / 9_007_199_254_740_992.0;

/// All files.
pub fn files() -> Vec<Vectors> {
    vec![drop_tail(""), drop_tail("ns2-2.35"), ddred_tail(), blue(), rem(), avq(""), avq("ns2"), sred()]
}

/// A number of 53 bits that is not below a probability, or the one below it.
fn near(p: f64, below: bool) -> f64 {
    let at = (p / UNIT).ceil() * UNIT;
    if below { at - UNIT } else { at.min(HIGH) }
}

fn drop_tail(dialect: &'static str) -> Vectors {
    let source = if dialect.is_empty() { "Linux net/sched/sch_fifo.c" } else { "ns-2.35 queue/drop-tail.cc" };
    let mut v = Vectors::new("drop-tail", dialect, RATE, source, "");
    let line = if dialect.is_empty() { String::new() } else { format!("dialect = \"{dialect}\"\n") };
    let settings = |limit: &str| format!("aqm = \"drop-tail\"\n{line}limit = \"{limit}\"");
    v.case(
        "limit in packets hit exactly",
        &settings("4p"),
        "the fifth packet finds four waiting; in ns-2 four are too many",
        |c| {
            c.burst(6);
            c.serve();
            c.burst(2);
            c.drain();
            c.arrive();
        },
    );
    let smallest = if dialect.is_empty() { "1p" } else { "2p" };
    v.case("smallest limit", &settings(smallest), "room for one waiting packet", |c| {
        c.burst(2);
        c.serve();
        c.arrive();
        c.serve();
        c.serve();
    });
    v.case(
        "limit in bytes hit exactly",
        &settings("3000B"),
        "3000 bytes fit, 3001 do not; in ns-2 the limit itself is never reached",
        |c| {
            c.burst(2);
            c.offer(PLAIN().bytes(1001));
            c.offer(PLAIN().bytes(999));
            c.offer(PLAIN().bytes(1));
            c.offer(PLAIN().bytes(1));
            c.serve();
            c.offer(PLAIN().bytes(1000));
            c.offer(PLAIN().bytes(1));
        },
    );
    v.case(
        "ECN - nothing is marked",
        &settings("4p"),
        "ECN-capable packets are dropped as all others",
        |c| {
            (0..6).for_each(|i| {
                c.offer(PLAIN().ecn(CODES[i % 4]));
            });
            c.drain();
        },
    );
    v.case("random traffic", &settings("5p"), "Poisson arrivals, loads of 2 to 8, silences", |c| {
        c.traffic(60, |rng| PLAIN().bytes([40, 1000, 1500][rng.below(3) as usize]));
    });
    v
}

fn ddred_tail() -> Vectors {
    let source =
        "E. Dedu, S. Linck, F. Spies, Distance-Dependent RED Policy, ICN 2007, section on other queues";
    let mut v = Vectors::new("ddred-tail", "", RATE, source, "The distance is ttl_initial - ttl");
    let settings = |rest: &str| format!("aqm = \"ddred-tail\"\nlimit = \"6p\"\n{rest}");
    let hops = |hops: u8| PLAIN().ttl(64, 64 - hops, 50);
    for (name, last_n) in [("last packet of the queue", 1), ("last three packets", 3), ("whole queue", 6)] {
        let text = "of the arriving packet and the last_n waiting ones the one with the least distance is dropped; of equals the arriving one";
        v.case(name, &settings(&format!("last_n = {last_n}")), text, |c| {
            for h in [3, 1, 4, 1, 5, 9] {
                c.accepts(hops(h));
            }
            for h in [2, 6, 5, 3, 5, 8, 9, 7, 9] {
                c.offer(hops(h));
            }
        });
    }
    v.case("random traffic", &settings("last_n = 3"), "Poisson arrivals, loads of 2 to 8, silences", |c| {
        c.traffic(60, |rng| hops(rng.below(10) as u8));
    });
    v
}

fn blue() -> Vectors {
    let source = "W. Feng, K. Shin, D. Kandlur, D. Saha, The BLUE Active Queue Management Algorithms, 2002";
    let mut v = Vectors::new("blue", "", RATE, source, "");
    let settings = |rest: &str| {
        format!("aqm = \"blue\"\nlimit = \"4p\"\nfreeze_time = \"100ms\"\nd1 = 0.25\nd2 = 0.125\n{rest}")
    };
    let text = "overflows at 100 ms, 100 ms plus 1 ns, 200 ms plus 1 ns and plus 2 ns: a step needs more than freeze_time since the last";
    v.case("freeze time just over and not over", &settings(""), text, |c| {
        c.draws(&[HIGH; 20]);
        c.burst(4);
        for ns in [100_000_000, 100_000_001, 150_000_000, 200_000_001, 200_000_002] {
            c.at(ns);
            c.arrive();
        }
    });
    v.case(
        "probability falls when the link becomes idle",
        &settings(""),
        "once, and not again while it stays idle",
        |c| {
            loss(c, 3);
            while c.serve().is_some() {}
            c.wait(200_000_000);
            c.arrive();
            c.serve();
            c.wait(1_000_000);
            c.serve();
            c.wait(200_000_000);
            c.serve();
            c.draws(&[HIGH]);
            c.arrive();
        },
    );
    for (name, below) in [("random number exactly p_m", false), ("random number just below p_m", true)] {
        v.case(name, &settings(""), "dropped is r < p_m", |c| {
            loss(c, 2);
            c.serve();
            c.draws(&[near(c.gauge("p_m"), below)]);
            c.arrive();
            assert_eq!(c.dropped() == 1, below);
        });
    }
    v.case("probability stops at 1", &settings(""), "four steps of a quarter and one more", |c| {
        loss(c, 5);
        c.serve();
        c.draws(&[HIGH]);
        c.arrive();
    });
    v.case("overflow before an early drop", &settings(""), "a full buffer draws no random number", |c| {
        loss(c, 2);
        c.draws(&[0.0]);
        c.burst(2);
        c.serve();
        c.arrive();
    });
    v.case(
        "queue above length",
        &settings("increase = \"length\"\nlength = \"2p\""),
        "also a queue above two packets raises p_m",
        |c| {
            for ms in [150, 300, 450, 600] {
                c.at_ms(ms);
                c.draws(&[HIGH; 2]);
                c.burst(1);
            }
        },
    );
    v.case(
        "idle - periodic decrease",
        &settings("idle = \"periodic\""),
        "p_m falls by d2 for each freeze_time of idleness",
        |c| {
            loss(c, 3);
            while c.serve().is_some() {}
            c.wait(350_000_000);
            c.draws(&[HIGH; 2]);
            c.burst(1);
            c.serve();
        },
    );
    v.case(
        "ECN - marks in place of drops",
        &settings("ecn = true"),
        "random number 0 with ect0, not-ect, ce, ect1 in turn",
        |c| {
            loss(c, 2);
            for i in 0..8 {
                while c.waiting() > 2 {
                    c.serve();
                }
                c.draws(&[0.0]);
                c.offer(PLAIN().ecn(CODES[i % 4]));
                c.no_draws();
            }
        },
    );
    let quick = settings("").replace("100ms", "5ms");
    v.case("random traffic", &quick, "Poisson arrivals, loads of 2 to 8, silences", |c| {
        c.traffic(60, |_| PLAIN())
    });
    v
}

/// Fill the buffer of four packets, and lose a packet every 150 ms.
fn loss(c: &mut Case, times: u64) {
    for i in 0..times {
        c.draws(&[HIGH; 8]);
        c.at_ms(150 * (i + 1));
        while c.waiting() < 4 {
            c.arrive();
            c.no_draws();
            c.draws(&[HIGH; 8]);
        }
        c.arrive();
        c.no_draws();
    }
}

fn rem() -> Vectors {
    let source =
        "S. Athuraliya, V. H. Li, S. H. Low, Q. Yin, REM: Active Queue Management, IEEE Network 2001";
    let mut v = Vectors::new(
        "rem",
        "",
        RATE,
        source,
        "The price steps every 10 ms from 10 ms on; the link carries 10 packets in one",
    );
    let settings = |rest: &str| {
        format!(
            "aqm = \"rem\"\ngamma = 0.25\nalpha = 0.5\nphi = 1.25\ntarget = \"4p\"\nupdate_time = \"10ms\"\nmean_packet = \"1000B\"\n{rest}"
        )
    };
    let plain = settings("limit = \"20p\"");
    v.case(
        "rate and queue at their targets",
        &plain,
        "10 arrivals in 10 ms and 4 packets waiting leave the price as it is",
        |c| {
            for round in 0..3 {
                c.at_ms(10 * round + 1);
                c.draws(&[HIGH; 20]);
                c.burst(10);
                while c.waiting() > 4 {
                    c.serve();
                }
            }
        },
    );
    v.case(
        "price rises and falls to 0",
        &plain,
        "price = max(0, price + gamma (alpha (b - target) + x - c))",
        |c| {
            for (ms, packets) in [(1, 14), (11, 14), (21, 6), (31, 1), (41, 1), (51, 1), (100, 1), (1000, 1)]
            {
                c.at_ms(ms);
                c.no_draws();
                c.draws(&[HIGH; 20]);
                c.burst(packets);
                while c.waiting() > 8 {
                    c.serve();
                }
                if packets == 1 {
                    while c.serve().is_some() {}
                }
            }
            c.no_draws();
        },
    );
    for (name, below) in
        [("random number exactly the probability", false), ("random number just below the probability", true)]
    {
        v.case(name, &plain, "dropped is r < 1 - phi^(-price)", |c| {
            c.draws(&[HIGH; 16]);
            c.burst(16);
            c.at_ms(11);
            c.serve();
            c.draws(&[near(c.gauge("probability"), below)]);
            c.arrive();
            assert_eq!(c.dropped() == 1, below);
        });
    }
    v.case("step exactly at an arrival", &plain, "the step comes first", |c| {
        c.draws(&[HIGH; 30]);
        c.burst(16);
        for ns in [9_999_999, 10_000_000, 10_000_001] {
            c.at(ns);
            c.arrive();
        }
    });
    v.case(
        "overflow counts as an arrival",
        &settings("limit = \"8p\""),
        "x counts packets that a full buffer drops",
        |c| {
            c.draws(&[HIGH; 20]);
            c.burst(12);
            c.at_ms(11);
            c.serve();
            c.no_draws();
            c.draws(&[0.0; 2]);
            c.burst(2);
        },
    );
    v.case(
        "ECN - marks in place of drops",
        &settings("limit = \"20p\"\necn = true"),
        "random number 0 with ect0, not-ect, ce, ect1 in turn",
        |c| {
            c.draws(&[HIGH; 12]);
            c.burst(12);
            c.at_ms(11);
            c.no_draws();
            c.draws(&[0.0; 8]);
            (0..8).for_each(|i| {
                c.offer(PLAIN().ecn(CODES[i % 4]));
            });
        },
    );
    v.case(
        "bytes",
        &settings("limit = \"20p\"\nmode = \"bytes\"\nrate_weight = 0.5"),
        "lengths over the mean packet, a smoothed rate",
        |c| {
            c.traffic(20, |rng| PLAIN().bytes([40, 500, 1000, 1500][rng.below(4) as usize]));
        },
    );
    v.case("random traffic", &plain, "Poisson arrivals, loads of 2 to 8, silences", |c| {
        c.traffic(60, |_| PLAIN())
    });
    v
}

fn avq(dialect: &'static str) -> Vectors {
    let source =
        if dialect.is_empty() { "S. Kunniyur, R. Srikant, AVQ, SIGCOMM 2001" } else { "ns-2.35 queue/vq.cc" };
    let note = "No random numbers; virtual_rate is a share of the rate of the link, 1000 packets a second";
    let mut v = Vectors::new("avq", dialect, RATE, source, note);
    let update = if dialect.is_empty() { "paper" } else { dialect };
    let settings = |rest: &str| {
        format!(
            "aqm = \"avq\"\nupdate = \"{update}\"\ngamma = 0.75\nalpha = 0.25\nvirtual_limit = 0.5\nc_init = 0.5\nmean_packet = \"1000B\"\n{rest}"
        )
    };
    let plain = settings("limit = \"8p\"");
    v.case(
        "virtual buffer hit exactly",
        &plain,
        "four packets fit into the virtual queue, the fifth does not",
        |c| {
            c.burst(6);
            c.serve();
            c.burst(1);
        },
    );
    v.case(
        "virtual queue drains at the virtual rate",
        &plain,
        "one packet in 2 ms at half of the link's rate, and then slower",
        |c| {
            c.burst(4);
            for us in [1_999, 2_000, 2_100, 4_200, 4_300, 20_000] {
                c.at_us(us);
                c.arrive();
            }
        },
    );
    v.case(
        "virtual rate falls under load and rises when idle",
        &plain,
        "bounds 0 and the rate of the link",
        |c| {
            for i in 0..12 {
                c.at_us(500 * i);
                c.arrive();
                if i % 2 == 0 {
                    c.serve();
                }
            }
            while c.serve().is_some() {}
            for ms in [100, 1000, 10_000] {
                c.at_ms(ms);
                c.arrive();
                c.serve();
                c.serve();
            }
        },
    );
    v.case(
        "real buffer full",
        &settings("limit = \"3p\"").replace("virtual_limit = 0.5", "virtual_limit = 4.0"),
        "overflow of the real buffer",
        |c| {
            c.burst(5);
            c.serve();
            c.burst(2);
        },
    );
    v.case(
        "ECN - marks in place of drops",
        &settings("limit = \"8p\"\necn = true"),
        "ect0, not-ect, ce, ect1 in turn at a full virtual queue",
        |c| {
            c.burst(4);
            (0..8).for_each(|i| {
                c.offer(PLAIN().ecn(CODES[i % 4]));
            });
        },
    );
    v.case(
        "bytes",
        &settings("limit = \"8000B\"\nmode = \"bytes\""),
        "the virtual buffer is 4000 bytes",
        |c| {
            c.burst(3);
            for bytes in [1001, 999, 1, 1] {
                c.offer(PLAIN().bytes(bytes));
            }
        },
    );
    v.case("random traffic", &plain, "Poisson arrivals, loads of 2 to 8, silences", |c| {
        c.traffic(60, |_| PLAIN())
    });
    v
}

fn sred() -> Vectors {
    let source = "T. J. Ott, T. V. Lakshman, L. H. Wong, SRED: Stabilized RED, INFOCOM 1999";
    let note = "Numbers: the zombie floor(r M), then without a hit the replacement r < overwrite, then the drop r < p_zap where p_zap is above 0";
    let mut v = Vectors::new("sred", "", RATE, source, note);
    let settings = |rest: &str| {
        format!(
            "aqm = \"sred\"\nlimit = \"12p\"\nzombies = 4\noverwrite = 0.25\nalpha = 0.25\nmax_p = 0.5\n{rest}"
        )
    };
    let plain = settings("flows = 2\n");
    v.case(
        "list of zombies fills",
        &plain,
        "the first four arrivals are added and compared with nothing",
        |c| {
            (0..4).for_each(|flow| {
                c.offer(PLAIN().flow(flow));
            });
            c.draws(&[0.0, HIGH, HIGH]);
            c.offer(PLAIN().flow(0));
            c.no_draws();
            c.draws(&[0.75, HIGH, HIGH]);
            c.offer(PLAIN().flow(0));
        },
    );
    v.case(
        "zombie is overwritten",
        &plain,
        "below overwrite the arrival takes the place of the zombie, at it it does not",
        |c| {
            (0..4).for_each(|flow| {
                c.offer(PLAIN().flow(flow));
            });
            c.serve();
            c.serve();
            for draws in [[0.0, 0.25, HIGH], [0.0, 0.25 - UNIT, HIGH], [0.0, HIGH, HIGH]] {
                c.no_draws();
                c.draws(&draws);
                c.offer(PLAIN().flow(9));
            }
        },
    );
    v.case(
        "queue at a sixth and a third of the buffer",
        &plain,
        "p_sred is 0 below 2 packets, a quarter of max_p below 4, then max_p",
        |c| {
            (0..14).for_each(|_| {
                c.no_draws();
                c.draws(&[0.0, HIGH, HIGH]);
                c.offer(PLAIN());
            });
        },
    );
    v.case("random number 0", &plain, "drops wherever p_zap is above 0", |c| {
        (0..10).for_each(|_| {
            c.no_draws();
            c.draws(&[0.0; 3]);
            c.offer(PLAIN());
        });
    });
    v.case(
        "simple SRED",
        &settings("flows = 2\nvariant = \"simple\"\n"),
        "a hit does not raise the probability",
        |c| {
            (0..14).for_each(|_| {
                c.no_draws();
                c.draws(&[0.0, HIGH, HIGH]);
                c.offer(PLAIN());
            });
        },
    );
    v.case(
        "ECN - marks in place of drops",
        &settings("flows = 2\necn = true\n"),
        "random number 0 with ect0, not-ect, ce, ect1 in turn",
        |c| {
            (0..6).for_each(|_| {
                c.no_draws();
                c.draws(&[0.0, HIGH, HIGH]);
                c.offer(PLAIN());
            });
            for i in 0..8 {
                c.no_draws();
                c.draws(&[0.0; 3]);
                c.offer(PLAIN().ecn(CODES[i % 4]));
            }
        },
    );
    v.case("random traffic", &plain, "Poisson arrivals of three flows, loads of 2 to 8, silences", |c| {
        c.traffic(60, |rng| PLAIN().flow(1 + rng.below(3) as u32));
    });
    v
}
