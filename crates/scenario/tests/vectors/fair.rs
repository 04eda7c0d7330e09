//! Disciplines that tell flows or classes apart: SFQ, DRR, SFB, CAKE and schedulers.

use aqmlab_aqm::Ecn;

use crate::script::{Arrival, PLAIN, Vectors};

const RATE: u64 = 8_000_000;
const MS: u64 = 1_000_000;
const CODES: [Ecn; 4] = [Ecn::Ect, Ecn::NotEct, Ecn::Ce, Ecn::Ect1];

/// All files.
pub fn files() -> Vec<Vectors> {
    let sfbs = ["", "linux-6.1", "linux-6.12", "linux-7.3"].map(sfb);
    let cakes = ["linux-6.1", "linux-6.12", "linux-7.3"].map(cake);
    let others = [sfq(), drr(), scheduler("priority"), scheduler("wfq")];
    sfbs.into_iter().chain(cakes).chain(others).collect()
}

fn of(flow: u32) -> Arrival {
    PLAIN().flow(flow)
}

fn sfq() -> Vectors {
    let source = "P. E. McKenney, Stochastic Fairness Queueing, INFOCOM 1990";
    let mut v = Vectors::new("sfq", "", RATE, source, "The queue of a flow is its number modulo buckets");
    let settings = |rest: &str| format!("aqm = \"sfq\"\nhash = \"modulo\"\nbuckets = 8\n{rest}");
    let plain = settings("limit = \"8p\"");
    v.case("queues are served in turn", &plain, "a packet each", |c| {
        [1, 1, 1, 2, 2, 3].into_iter().for_each(|flow| c.accepts(of(flow)));
        c.serve();
        c.accepts(of(4));
        c.drain();
    });
    v.case("flows 1 and 9 share a queue", &plain, "9 modulo 8 is 1", |c| {
        [1, 9, 1, 9, 2, 2].into_iter().for_each(|flow| c.accepts(of(flow)));
        c.drain();
    });
    for full in ["longest-tail", "longest-head", "ns2"] {
        let settings = settings(&format!("limit = \"8p\"\nfull = \"{full}\""));
        v.case(
            &format!("overflow - {full}"),
            &settings,
            "the longest queue loses its last or first packet; in ns-2 the arrival is dropped",
            |c| {
                [1, 1, 1, 1, 2, 2, 2, 3, 4, 1, 2, 2, 3, 3, 5].into_iter().for_each(|flow| {
                    c.offer(of(flow));
                });
                c.serve();
                c.offer(of(5));
                c.drain();
            },
        );
    }
    v.case("random traffic", &plain, "Poisson arrivals of five flows, loads of 2 to 8, silences", |c| {
        c.traffic(60, |rng| of(1 + rng.below(5) as u32));
    });
    v
}

fn drr() -> Vectors {
    let source = "M. Shreedhar, G. Varghese, Efficient Fair Queuing Using Deficit Round-Robin, 1996";
    let mut v = Vectors::new("drr", "", RATE, source, "The queue of a flow is its number modulo buckets");
    let settings =
        |rest: &str| format!("aqm = \"drr\"\nhash = \"modulo\"\nbuckets = 8\nquantum = \"1500B\"\n{rest}");
    let plain = settings("limit = \"12p\"");
    v.case(
        "quantum used up exactly",
        &plain,
        "a queue sends while its next packet is no longer than its deficit",
        |c| {
            for flow in [1, 2] {
                (0..4).for_each(|_| c.accepts(of(flow).bytes(750)));
            }
            c.drain();
        },
    );
    v.case(
        "deficit carried over",
        &plain,
        "1000 bytes leave a deficit of 500, so that the next turn sends two packets",
        |c| {
            for flow in [1, 2] {
                (0..5).for_each(|_| c.accepts(of(flow)));
            }
            c.drain();
        },
    );
    v.case("queue that runs empty loses its deficit", &plain, "it starts from the quantum again", |c| {
        (0..4).for_each(|_| c.accepts(of(1)));
        for _ in 0..3 {
            c.accepts(of(2).bytes(100));
            c.serve();
            c.serve();
        }
        c.drain();
    });
    for longest in ["head", "tail"] {
        let settings = settings(&format!("limit = \"6p\"\nlongest = \"{longest}\""));
        v.case(&format!("overflow - {longest} of the longest queue"), &settings, "in bytes", |c| {
            [(1, 500), (1, 500), (1, 500), (2, 1500), (2, 1500), (3, 100), (1, 500), (3, 100), (2, 1500)]
                .into_iter()
                .for_each(|(flow, bytes)| {
                    c.offer(of(flow).bytes(bytes));
                });
            c.drain();
        });
    }
    let classes = "\n[[class]]\nname = \"a\"\ndscp = [46]\nweight = 2\n\n[[class]]\nname = \"b\"\ndefault = true\nweight = 1\n";
    v.case(
        "classes with weights 2 and 1",
        &format!("aqm = \"drr\"\nlimit = \"12p\"\nquantum = \"1500B\"\n{classes}"),
        "class a is DSCP 46 and sends twice the bytes",
        |c| {
            for _ in 0..6 {
                c.offer(of(1).dscp(46));
                c.offer(of(2));
            }
            c.drain();
        },
    );
    v.case("random traffic", &plain, "Poisson arrivals of five flows, loads of 2 to 8, silences", |c| {
        c.traffic(60, |rng| of(1 + rng.below(5) as u32).bytes([200, 1000, 1500][rng.below(3) as usize]));
    });
    v
}

fn sfb(dialect: &'static str) -> Vectors {
    let is_paper = dialect.is_empty();
    let source = if is_paper {
        "W. Feng, D. Kandlur, D. Saha, K. Shin, Stochastic Fair Blue, INFOCOM 2001"
    } else {
        "Linux net/sched/sch_sfb.c"
    };
    let note = "Bins are chosen by a hash of the flow under a key that is drawn: with another hash only the cases of one flow agree";
    let mut v = Vectors::new("sfb", dialect, RATE, source, note);
    let high = v.high();
    let settings = |rest: &str| {
        if is_paper {
            format!(
                "aqm = \"sfb\"\nlevels = 2\nbins = 23\nbin_size = 3\nincrement = 0.125\ndecrement = 0.0625\npenalty_rate = 10\npenalty_burst = 3\n{rest}"
            )
        } else {
            format!(
                "aqm = \"sfb\"\ndialect = \"{dialect}\"\nbin_size = 3\nmax_bin = 10\nincrement = 0.125\ndecrement = 0.0625\npenalty_rate = 10\npenalty_burst = 3\necn = false\n{rest}"
            )
        }
    };
    let plain = settings("limit = \"40p\"");
    v.case(
        "bins of one flow - below, at and above bin_size",
        &plain,
        "the probability rises from the first arrival above bin_size on",
        |c| {
            c.draws(&[0.5, 0.25, 0.75]);
            c.draws(&[high; 20]);
            c.burst(8);
        },
    );
    v.case("empty bins lower the probability", &plain, "an arrival that finds its bins empty", |c| {
        c.draws(&[0.5, 0.25]);
        c.draws(&[high; 20]);
        c.burst(7);
        while c.serve().is_some() {}
        for _ in 0..4 {
            c.wait(MS);
            c.arrive();
            c.serve();
        }
    });
    v.case(
        "penalty box",
        &plain,
        "a flow whose bins are all at 1 passes as the token bucket allows: 3 at once, 10 packets a second",
        |c| {
            c.draws(&[0.5, 0.25]);
            c.draws(&[high; 40]);
            c.burst(9);
            for ms in [1, 50, 100, 101, 250, 1000, 2000] {
                c.at_ms(ms);
                c.serve();
                c.serve();
                c.arrive();
                c.arrive();
            }
        },
    );
    v.case("another flow passes while one is limited", &plain, "its bins are others", |c| {
        c.draws(&[0.5, 0.25]);
        c.draws(&[high; 60]);
        c.burst(12);
        for flow in 2..8 {
            c.wait(MS);
            c.serve();
            c.offer(of(flow));
            c.arrive();
        }
    });
    v.case("overflow before an early drop", &settings("limit = \"5p\""), "a full buffer", |c| {
        c.draws(&[0.5, 0.25]);
        c.draws(&[high; 12]);
        c.burst(7);
        c.serve();
        c.no_draws();
        c.draws(&[0.0; 2]);
        c.burst(2);
    });
    v.case(
        "ECN - marks in place of drops",
        &settings("limit = \"40p\"")
            .replace("ecn = false\n", "")
            .replace("bin_size = 3", "ecn = true\nbin_size = 3"),
        "ect0, not-ect, ce, ect1 in turn",
        |c| {
            c.draws(&[0.5, 0.25]);
            c.draws(&[high; 6]);
            c.burst(6);
            c.no_draws();
            for i in 0..8 {
                c.draws(&[0.0; 2]);
                c.offer(PLAIN().ecn(CODES[i % 4]));
                c.no_draws();
                c.serve();
            }
        },
    );
    v.case("random traffic", &plain, "Poisson arrivals of five flows, loads of 2 to 8, silences", |c| {
        c.traffic(70, |rng| of(1 + rng.below(5) as u32));
    });
    v
}

fn cake(dialect: &'static str) -> Vectors {
    let source =
        "Linux net/sched/sch_cake.c; T. Hoeiland-Joergensen, D. Taht, J. Morton, Piece of CAKE, LANMAN 2018";
    let note = "The queue of a flow is a hash of its number under hash_key 0; each flow has hosts of its own; memory counts lengths";
    let mut v = Vectors::new("cake", dialect, RATE, source, note);
    let settings = |rest: &str| {
        format!("aqm = \"cake\"\ndialect = \"{dialect}\"\nhash_key = 0\nmemory = \"length\"\n{rest}")
    };
    let plain = settings("diffserv = \"besteffort\"");
    v.case(
        "sparse flow before bulk flows",
        &plain,
        "a new flow is served first, then the old ones in turn",
        |c| {
            for flow in [1, 2] {
                (0..4).for_each(|_| {
                    c.offer(of(flow));
                });
            }
            c.serve();
            c.offer(of(3).bytes(100));
            (0..10).for_each(|_| {
                c.wait(MS);
                c.serve();
            });
        },
    );
    v.case(
        "shaper - no packet before its time",
        &settings("diffserv = \"besteffort\"\nrate = \"4Mbps\""),
        "1000 bytes each 2 ms, asked for just before and at that time",
        |c| {
            c.burst(5);
            for ns in [0, 1_999_999, 2 * MS, 2 * MS, 4 * MS, 6 * MS, 6 * MS] {
                c.at(ns);
                c.serve();
            }
        },
    );
    v.case(
        "tins by code point",
        &settings("diffserv = \"diffserv4\"\nrate = \"4Mbps\""),
        "EF (46) voice, CS1 (8) bulk, AF41 (34) video, others best effort",
        |c| {
            for _ in 0..3 {
                for dscp in [0, 8, 34, 46] {
                    c.offer(of(u32::from(dscp)).dscp(dscp));
                }
            }
            for i in 0..14 {
                c.at(2 * MS * i);
                c.serve();
            }
        },
    );
    v.case(
        "memory - the longest queue loses its head",
        &settings("diffserv = \"besteffort\"\nmemlimit = \"6000B\""),
        "6000 bytes wait, and then more arrives",
        |c| {
            [1, 1, 1, 1, 2, 2].into_iter().for_each(|flow| {
                c.offer(of(flow));
            });
            c.offer(of(3).bytes(1));
            (0..4).for_each(|_| {
                c.offer(of(2));
            });
            c.at_ms(20);
            (0..4).for_each(|_| {
                c.wait(MS);
                c.serve();
            });
        },
    );
    v.case(
        "control law - drops of a flow that waits long",
        &plain,
        "target 5 ms, interval 100 ms; the last packet of a queue is never dropped",
        |c| {
            c.burst(16);
            for ms in [5, 10, 110, 181, 239, 289, 334, 375, 413, 600, 700] {
                c.at_ms(ms);
                c.serve();
            }
        },
    );
    v.case("ECN - marks in place of drops", &plain, "ect0, not-ect, ce, ect1 in turn", |c| {
        (0..16).for_each(|i| {
            c.offer(PLAIN().ecn(CODES[i % 4]));
        });
        for ms in [10, 110, 181, 239, 289, 334, 375, 413] {
            c.at_ms(ms);
            c.serve();
        }
    });
    let quick = settings("diffserv = \"diffserv3\"\nrtt = \"20ms\"\nmemlimit = \"30000B\"");
    v.case("random traffic", &quick, "Poisson arrivals of five flows, loads of 2 to 8, silences", |c| {
        c.traffic(60, |rng| of(1 + rng.below(5) as u32).dscp([0, 0, 8, 46][rng.below(4) as usize]));
    });
    v
}

fn scheduler(name: &'static str) -> Vectors {
    let (source, weights, text) = match name {
        "priority" => ("RFC 3246", ["", ""], "class a goes before class b"),
        _ => (
            "P. Goyal, H. M. Vin, H. Cheng, Start-time Fair Queuing, 1996",
            ["weight = 3\n", "weight = 1\n"],
            "the least start tag goes first",
        ),
    };
    let note = "Class a is DSCP 46, class b all else; both have drop-tail queues of limit packets, gauges with _0 and _1 are theirs";
    let mut v = Vectors::new(name, "", RATE, source, note);
    let settings = |limit: &str| {
        let [a, b] = weights;
        format!(
            "aqm = \"{name}\"\nlimit = \"{limit}\"\n\n[[class]]\nname = \"a\"\ndscp = [46]\n{a}\n[[class]]\nname = \"b\"\ndefault = true\n{b}"
        )
    };
    v.case("both classes wait", &settings("20p"), text, |c| {
        for _ in 0..8 {
            c.offer(of(2));
            c.offer(of(1).dscp(46));
        }
        c.drain();
    });
    v.case("packets of different lengths", &settings("20p"), text, |c| {
        for _ in 0..6 {
            c.offer(of(2).bytes(1500));
            c.offer(of(1).dscp(46).bytes(500));
        }
        c.drain();
    });
    v.case("class that was idle gets no credit", &settings("20p"), text, |c| {
        (0..6).for_each(|_| {
            c.offer(of(2));
        });
        (0..3).for_each(|_| {
            c.serve();
            c.wait(MS);
        });
        (0..6).for_each(|_| {
            c.offer(of(1).dscp(46));
        });
        c.drain();
    });
    v.case("overflow of one class", &settings("3p"), "the buffers are apart", |c| {
        (0..5).for_each(|_| {
            c.offer(of(2));
        });
        (0..4).for_each(|_| {
            c.offer(of(1).dscp(46));
        });
        c.drain();
    });
    v.case("random traffic", &settings("8p"), "Poisson arrivals, loads of 2 to 8, silences", |c| {
        c.traffic(60, |rng| if rng.below(3) == 0 { of(1).dscp(46) } else { of(2) });
    });
    v
}
