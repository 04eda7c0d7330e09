//! RED and its descendants. With `w_q = 1` the average is the queue that an arrival finds, so that thresholds are hit exactly.

use aqmlab_aqm::Ecn;

use crate::script::{Arrival, Case, PLAIN, Vectors};

const RATE: u64 = 8_000_000;

/// Time of a packet of 1000 bytes, in ns.
const SLOT: u64 = 1_000_000;

/// A discipline of one class in one dialect, and its settings besides thresholds, weight and limit.
struct Red {
    discipline: &'static str,
    dialect: &'static str,
    source: &'static str,
    note: &'static str,
    extra: &'static str,
}

const FJ: &str =
    "S. Floyd, V. Jacobson, Random Early Detection Gateways for Congestion Avoidance, 1993, figure 2";
const NS2: &str = "ns-2.35 queue/red.cc";
const KERNEL: &str = "Linux include/net/red.h, net/sched/sch_red.c, iproute2 tc/tc_red.c";

const REDS: &[Red] = &[
    Red { discipline: "red", dialect: "floyd93", source: FJ, note: "", extra: "" },
    Red {
        discipline: "red",
        dialect: "",
        source: FJ,
        note: "With ns-2's spacing (wait_ true) and its guard of one waiting packet",
        extra: "spacing = \"ns2-wait\"",
    },
    Red { discipline: "red", dialect: "ns2-2.35", source: NS2, note: "", extra: "spacing = \"ns2-wait\"" },
    Red { discipline: "red", dialect: "linux", source: KERNEL, note: "Integers as in the kernel", extra: "" },
    Red { discipline: "red", dialect: "dsred", source: "ns-2.35 diffserv/dsredq.cc", note: "", extra: "" },
    Red {
        discipline: "red",
        dialect: "integer",
        source: FJ,
        note: "Not a dialect but arithmetic = integer: the decisions of a generated kernel module",
        extra: "arithmetic = \"integer\"",
    },
    Red {
        discipline: "gentle-red",
        dialect: "",
        source: "S. Floyd, Recommendation on using the gentle_ variant of RED, 2000",
        note: "",
        extra: "spacing = \"ns2-wait\"",
    },
    Red {
        discipline: "gentle-red",
        dialect: "floyd93",
        source: "S. Floyd, Recommendation on using the gentle_ variant of RED, 2000",
        note: "The curve of the note with all else as in the paper of 1993",
        extra: "",
    },
    Red {
        discipline: "mred",
        dialect: "",
        source: "Y. Zhang, J. Ma, Y. Wang, C. Xu, MRED: An Improved Nonlinear RED Algorithm",
        note: "",
        extra: "",
    },
    Red {
        discipline: "exred",
        dialect: "",
        source: "S. Prabhavat, R. Varakulsiripunth, Performance Improvement on RED Based Gateway",
        note: "The packet in transmission counts as queued; no count",
        extra: "",
    },
    Red {
        discipline: "nlred",
        dialect: "",
        source: "K. Zhou, K. L. Yeung, V. O. K. Li, Nonlinear RED, Computer Networks 50(18), 2006",
        note: "",
        extra: "",
    },
    Red {
        discipline: "double-slope-red",
        dialect: "",
        source: "B. Zheng, M. Atiquzzaman, DSRED, LCN 2000",
        note: "max_p holds at the middle of the thresholds",
        extra: "",
    },
    Red {
        discipline: "choke",
        dialect: "",
        source: "R. Pan, B. Prabhakar, K. Psounis, CHOKe, INFOCOM 2000",
        note: "The first number picks a waiting packet: floor(r n), 0 is the head",
        extra: "",
    },
    Red {
        discipline: "choke",
        dialect: "linux",
        source: "Linux net/sched/sch_choke.c",
        note: "Integers as in the kernel; the first number picks a waiting packet",
        extra: "",
    },
    Red {
        discipline: "ddred",
        dialect: "",
        source: "E. Dedu, S. Linck, F. Spies, Distance-Dependent RED Policy, ICN 2007",
        note: "",
        extra: "",
    },
    Red {
        discipline: "pc-red",
        dialect: "",
        source: "Y. Li, S.-H. Yang, PC-RED for IPv6: Algorithm and Performance Analysis",
        note: "The number after that of the spacing picks a packet: floor(r n), 0 is the head, n - 1 the arriving one",
        extra: "loss_limit = \"70B\"\nloss_interval = \"360ms\"\nloss_weight = 0.003",
    },
    Red {
        discipline: "feng-red",
        dialect: "",
        source: "W. Feng, D. Kandlur, D. Saha, K. Shin, A Self-Configuring RED Gateway, INFOCOM 1999, figure 4",
        note: "",
        extra: "feng_alpha = 3\nfeng_beta = 2",
    },
    Red {
        discipline: "adaptive-red",
        dialect: "",
        source: "S. Floyd, R. Gummadi, S. Shenker, Adaptive RED, 2001, figure 1",
        note: "",
        extra: "adapt_interval = \"10ms\"",
    },
    Red {
        discipline: "adaptive-red",
        dialect: "ns2-2.35",
        source: "ns-2.35 queue/red.cc, updateMaxP",
        note: "",
        extra: "adapt_interval = \"10ms\"",
    },
    Red {
        discipline: "load-red",
        dialect: "",
        source: "J. Aweya, M. Ouellette, D. Y. Montuno, A. Chapman, A load adaptive mechanism, 2001",
        note: "",
        extra: "adapt_interval = \"10ms\"",
    },
];

/// All files of the family.
pub fn files() -> Vec<Vectors> {
    REDS.iter().map(Red::file).chain(crate::classes::files()).collect()
}

impl Red {
    fn file(&self) -> Vectors {
        let mut v = Vectors::new(self.discipline, self.dialect, RATE, self.source, self.note);
        v.own_flows = self.discipline == "choke";
        self.thresholds(&mut v);
        self.spacing(&mut v);
        self.idle(&mut v);
        self.limits(&mut v);
        self.marks(&mut v);
        match self.discipline {
            "choke" => self.choke(&mut v),
            "ddred" => self.ddred(&mut v),
            "pc-red" => self.pc_red(&mut v),
            "adaptive-red" | "load-red" | "feng-red" => self.adaptation(&mut v),
            _ => {}
        }
        self.bytes(&mut v);
        let settings = self.settings("w_q = 0.5\nlimit = \"20p\"\nmax_p = 0.5");
        let few = if self.discipline == "pc-red" { 0 } else { 5 };
        v.case("random traffic", &settings, "Poisson arrivals, loads of 2 to 8, silences", |c| {
            c.traffic(29, |rng| PLAIN().flow(1 + rng.below(3) as u32).class(rng.below(2).min(few) as u8));
        });
        v
    }

    /// Thresholds of 5 and 15 packets and these settings.
    fn settings(&self, rest: &str) -> String {
        let Self { discipline, dialect, extra, .. } = self;
        let dialect = match *dialect {
            "" | "integer" => String::new(),
            dialect => format!("dialect = \"{dialect}\"\n"),
        };
        let mut text = format!(
            "aqm = \"{discipline}\"\n{dialect}min_th = \"5p\"\nmax_th = \"15p\"\nmean_packet = \"1000B\"\n{rest}"
        );
        if !extra.is_empty() {
            text.push('\n');
            text.push_str(extra);
        }
        text
    }

    fn thresholds(&self, v: &mut Vectors) {
        let high = v.high();
        let settings = self.settings("w_q = 1\nlimit = \"40p\"\nmax_p = 0.1");
        let text = "average 4 is below min_th, average 5 is at it: p_b is 0 there and no draw drops";
        v.case("average just below and exactly at min_th", &settings, text, |c| {
            c.draws(&[0.0; 9]);
            c.burst(6);
        });
        let text = "averages 14, 15 and above; largest random numbers, so that no packet is dropped by chance unless its probability is 1";
        v.case("average just below and exactly at max_th", &settings, text, |c| {
            c.draws(&[high; 60]);
            c.burst(18);
        });
        let text =
            "averages up to twice max_th and to the end of the buffer, with the largest random numbers";
        v.case("average from max_th to the end of the buffer", &settings, text, |c| {
            c.draws(&[high; 100]);
            for _ in 0..5 {
                c.burst(5 + usize::from(self.discipline != "red"));
                c.draws(&[high; 20]);
            }
        });
        let settings = self.settings("w_q = 0.5\nlimit = \"40p\"\nmax_p = 0.5");
        v.case(
            "average follows with weight one half",
            &settings,
            "avg = (1 - w_q) avg + w_q q, before the decision",
            |c| {
                c.draws(&[high; 40]);
                c.burst(12);
                c.at(SLOT);
                (0..4).for_each(|_| {
                    c.serve();
                });
                c.burst(2);
            },
        );
    }

    /// Keep ten packets waiting while arrivals come.
    fn at_ten(&self, c: &mut Case, arrivals: usize, draw: f64, mut arrival: impl FnMut(usize) -> Arrival) {
        c.no_draws();
        for i in 0..arrivals {
            c.draws(&[draw; 2]);
            c.wait(SLOT);
            c.offer(if self.discipline == "choke" { arrival(i).flow(1000 + i as u32) } else { arrival(i) });
            c.no_draws();
            while c.waiting() > 10 {
                c.serve();
            }
        }
    }

    fn fill(&self, c: &mut Case, packets: u32, draw: f64) {
        for _ in 0..3 * packets {
            c.draws(&[draw; 2]);
            c.arrive();
            c.no_draws();
            if c.waiting() == packets {
                break;
            }
        }
    }

    fn spacing(&self, v: &mut Vectors) {
        let high = v.high();
        let settings = self.settings("w_q = 1\nlimit = \"40p\"\nmax_p = 0.5");
        let text =
            "p_b is constant while ten packets wait; the largest random numbers drop only where p_a is 1";
        v.case("count - largest random numbers at a constant average", &settings, text, |c| {
            self.fill(c, 10, high);
            self.at_ten(c, 10, high, |_| PLAIN());
        });
        let text = "random number 0 drops whenever p_a is above 0";
        v.case("count - random number 0 at a constant average", &settings, text, |c| {
            self.fill(c, 10, high);
            self.at_ten(c, 8, 0.0, |_| PLAIN());
        });
        if self.has_p_a() {
            for (name, below) in
                [("random number exactly p_a", false), ("random number just below p_a", true)]
            {
                let text = if below {
                    "the packet is dropped"
                } else {
                    "the packet is accepted: dropped is r < p_a"
                };
                v.case(name, &settings, text, |c| {
                    self.fill(c, 10, high);
                    self.at_ten(c, 1, 0.0, |_| PLAIN());
                    for _ in 0..9 {
                        let p_a = c.gauge_after(high, "p_a");
                        let unit = 1.0 / 9_007_199_254_740_992.0;
                        let at = (p_a / unit).ceil() * unit;
                        if p_a > 0.0 && at < 1.0 {
                            let draw = if below { at - unit } else { at };
                            self.at_ten(c, 1, draw, |_| PLAIN());
                            assert_eq!(c.dropped() == 1, below, "{}: {name}", self.discipline);
                            return;
                        }
                        self.at_ten(c, 1, high, |_| PLAIN());
                    }
                });
            }
        }
        let text = "the count restarts when the average falls below min_th";
        v.case("count - average falls below min_th and rises again", &settings, text, |c| {
            self.fill(c, 10, high);
            self.at_ten(c, 2, high, |_| PLAIN());
            (0..8).for_each(|_| {
                c.serve();
            });
            self.fill(c, 9, high);
            c.draws(&[0.0; 8]);
            c.burst(2);
        });
    }

    /// p_a is a probability of each arrival, which victims other than the arriving packet and integers blur.
    fn has_p_a(&self) -> bool {
        !["linux", "dsred", "integer"].contains(&self.dialect)
            && !["choke", "pc-red", "ddred", "adaptive-red", "feng-red", "load-red"]
                .contains(&self.discipline)
    }

    fn idle(&self, v: &mut Vectors) {
        let high = v.high();
        let settings = self.settings("w_q = 0.5\nlimit = \"40p\"\nmax_p = 0.5");
        let text = "the average decays by the packets of 1000 bytes (1 ms each) that the link could have sent since it became idle";
        for (name, idle) in [
            ("idle for no time", 0),
            ("idle for exactly one packet time", SLOT),
            ("idle for two and a half packet times", 5 * SLOT / 2),
            ("idle for ten seconds", 10_000 * SLOT),
        ] {
            v.case(name, &settings, text, |c| {
                self.fill(c, 4, high);
                c.drain();
                c.wait(idle);
                c.arrive();
                c.serve();
                c.wait(SLOT);
                c.serve();
                c.wait(idle);
                c.arrive();
            });
        }
        let settings = self.settings("w_q = 0.25\nlimit = \"40p\"\nmax_p = 0.5");
        let text = "the average is above min_th, but one packet waits, or none";
        v.case("guard - one packet waits while the average is high", &settings, text, |c| {
            self.fill(c, 14, high);
            c.at(SLOT);
            (0..13).for_each(|_| {
                c.serve();
            });
            c.draws(&[0.0; 8]);
            c.arrive();
            c.serve();
            c.serve();
            c.arrive();
        });
    }

    fn limits(&self, v: &mut Vectors) {
        let high = v.high();
        // The curve of ExRED ends at the limit, above max_th.
        let lower = |text: String| match self.discipline {
            "exred" => text.replace("min_th = \"5p\"\nmax_th = \"15p\"", "min_th = \"2p\"\nmax_th = \"3p\""),
            _ => text,
        };
        let settings = lower(self.settings("w_q = 1\nlimit = \"8p\"\nmax_p = 0.5"));
        let text = "a full buffer and a random number that would drop early, then one that would not: see the reasons and the count";
        v.case("overflow before and after an early drop", &settings, text, |c| {
            self.fill(c, 8, high);
            for draw in [0.0, high, 0.0, high] {
                c.draws(&[draw; 2]);
                c.arrive();
                c.no_draws();
            }
            c.at(SLOT);
            c.serve();
            c.draws(&[0.0; 4]);
            c.burst(2);
        });
        let settings = lower(self.settings("w_q = 0.0625\nlimit = \"4p\"\nmax_p = 0.5"));
        v.case(
            "overflow while the average is below min_th",
            &settings,
            "the fifth packet finds four waiting",
            |c| {
                c.burst(5);
                c.at(SLOT);
                c.serve();
                c.burst(2);
            },
        );
    }

    fn marks(&self, v: &mut Vectors) {
        let high = v.high();
        let codes = [Ecn::Ect, Ecn::NotEct, Ecn::Ce, Ecn::Ect1];
        let settings = self.settings("w_q = 1\nlimit = \"18p\"\nmax_p = 0.5\necn = true");
        let text = "random number 0 with ect0, not-ect, ce, ect1 in turn: ECN-capable packets are marked where the others are dropped";
        v.case("ECN - marks at a constant average", &settings, text, |c| {
            self.fill(c, 10, high);
            self.at_ten(c, 12, 0.0, |i| PLAIN().ecn(codes[i % 4]));
        });
        if self.discipline == "red" && self.dialect == "ns2-2.35" {
            let few = self.settings("w_q = 1\nlimit = \"18p\"\nmax_p = 0.19\necn = true");
            v.case("ECN - p_b below mark_up_to", &few, "p_b is 0.095: ECN marks below 0.1 only", |c| {
                self.fill(c, 10, high);
                self.at_ten(c, 8, 0.0, |_| PLAIN().ecn(Ecn::Ect));
            });
        }
        let text = "averages from max_th on and a full buffer, with the largest random numbers";
        v.case("ECN - forced drops and a full buffer", &settings, text, |c| {
            self.fill(c, 14, high);
            for i in 0..10 {
                c.draws(&[high; 2]);
                c.offer(PLAIN().ecn(codes[i % 4]));
                c.no_draws();
            }
        });
    }

    fn bytes(&self, v: &mut Vectors) {
        let max_th = if self.discipline == "exred" { 11_000 } else { 20_000 };
        let text = "queue, average and limit in bytes; the limit is hit exactly by 12 packets of 1000 bytes";
        let settings = self.settings("w_q = 1\nlimit = \"12000B\"\nmax_p = 0.1\nmode = \"bytes\"").replace(
            "min_th = \"5p\"\nmax_th = \"15p\"",
            &format!("min_th = \"5000B\"\nmax_th = \"{max_th}B\""),
        );
        let high = v.high();
        v.case("bytes - limit hit exactly", &settings, text, |c| {
            c.draws(&[high; 40]);
            c.burst(13);
            c.at(SLOT);
            c.serve();
            c.offer(PLAIN().bytes(1001));
            c.offer(PLAIN().bytes(999));
            c.offer(PLAIN().bytes(1));
            c.offer(PLAIN().bytes(1));
        });
        v.case(
            "bytes - packets of different lengths",
            &settings,
            "the probability of a packet may scale with its length",
            |c| {
                c.traffic(8, |rng| PLAIN().bytes([40, 500, 1000, 1500][rng.below(4) as usize]));
            },
        );
    }

    fn choke(&self, v: &mut Vectors) {
        let high = v.high();
        let settings = self.settings("w_q = 1\nlimit = \"40p\"\nmax_p = 0.5");
        let text = "above min_th an arrival of the flow of the packet that is picked is dropped with it";
        v.case("match - head, middle and tail", &settings, text, |c| {
            (0..8).for_each(|i| c.accepts_any(PLAIN().flow(i), &[high; 3]));
            for (flow, pick) in [(0, 0.0), (4, 0.5), (7, high), (1, 0.0), (9, 0.5)] {
                c.no_draws();
                c.draws(&[pick, high, high]);
                c.offer(PLAIN().flow(flow));
            }
        });
    }

    fn ddred(&self, v: &mut Vectors) {
        let high = v.high();
        let settings = self.settings("w_q = 1\nlimit = \"9p\"\nmax_p = 0.5");
        let text = "the victim is the waiting packet with the least ttl_initial - ttl, the newest of equals; at a full buffer the arriving one competes";
        v.case("victim - least distance, ties and a full buffer", &settings, text, |c| {
            for hops in [3, 1, 4, 1, 5, 9, 2, 6] {
                c.accepts_any(PLAIN().ttl(64, 64 - hops, 50), &[high; 3]);
            }
            for hops in [7, 0, 2, 9, 9, 1, 8] {
                c.no_draws();
                c.draws(&[0.0; 3]);
                c.offer(PLAIN().ttl(64, 64 - hops, 50));
            }
        });
    }

    fn pc_red(&self, v: &mut Vectors) {
        let high = v.high();
        let settings = self.settings("w_q = 1\nlimit = \"12p\"\nmax_p = 0.5");
        let text = "the victim is the picked packet, or the first one behind it whose flow has lost no more than loss_limit";
        v.case("victim - flows that have lost too much are spared", &settings, text, |c| {
            (0..8).for_each(|i| c.accepts_any(PLAIN().flow(i % 4).class(1), &[high; 3]));
            for i in 0..14_u32 {
                c.no_draws();
                c.draws(&[0.0, f64::from(i % 5) / 8.0, 0.5]);
                c.wait(SLOT / 4);
                c.offer(PLAIN().flow(i % 4).class(if i % 3 == 0 { 0 } else { 1 }));
            }
        });
    }

    fn adaptation(&self, v: &mut Vectors) {
        let high = v.high();
        let settings = self.settings("w_q = 0.5\nlimit = \"40p\"\nmax_p = 0.1");
        let text = "parameters move while the average is above, within and below its target; the intervals end exactly at arrivals";
        v.case("adaptation - above, within and below the target", &settings, text, |c| {
            for (step, packets) in [2_u32, 14, 14, 13, 10, 10, 3, 2, 1, 0, 12].into_iter().enumerate() {
                c.at_ms(10 * step as u64);
                c.no_draws();
                c.draws(&[high; 40]);
                while c.waiting() > packets {
                    c.serve();
                }
                c.burst((packets - c.waiting()).max(1) as usize);
            }
            c.no_draws();
        });
    }
}
