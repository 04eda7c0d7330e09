//! Numbers measured with ns-2.35: the average to every digit printed, the drop law, automatic parameters.

mod common;

use aqmlab_aqm::red::AVERAGE;
use aqmlab_aqm::red::average::Average;
use aqmlab_aqm::{Discipline, Ecn, LinkContext, Qdisc, Spec, Value};
use aqmlab_units::{Rate, Span, Time};
use common::{Counting, VirtualLink, build, gauge, packet, table, word};

/// Six significant digits, as ns-2 prints.
fn six(x: f64) -> f64 {
    format!("{x:.5e}").parse().expect("a number")
}

fn average_is_golden(file: &str, bps: u64, w_q: f64, mean_packet: u64, mode: &str) {
    let set = [
        ("dialect", word("ns2-2.35")),
        ("mode", word(mode)),
        ("mean_packet", Value::Bytes(mean_packet)),
        ("w_q", Value::Number(w_q)),
        ("min_th", Value::Packets(1e5)),
        ("max_th", Value::Packets(3e5)),
        ("limit", Value::Packets(1e6)),
    ];
    let mut link = VirtualLink::new(build("gentle-red", bps, &set), bps);
    let mut host = Counting::new(1);
    let mut ties = 0;
    let unit = if mode == "bytes" { mean_packet as f64 } else { 1.0 };
    for (i, row) in table(file).iter().enumerate() {
        let now = Time::from_secs(row["t"].parse().expect("a time"));
        let bytes = row["size"].parse().expect("a length");
        let seen: u64 = row["curq_seen"].parse().expect("a queue");
        let is_tie = link.ends_at(now, &mut host);
        let backlog = link.queue.backlog();
        let p = packet(i as u32, bytes, Ecn::NotEct);
        // Where an arrival falls on an end of service, the rounding of doubles decided in ns-2: the queue seen says how.
        let waiting = if mode == "bytes" { backlog.bytes } else { backlog.packets.into() };
        if is_tie && waiting == seen {
            ties += 1;
            link.arrive_first(now, p, &mut host);
        } else {
            link.arrive(now, p, &mut host);
        }
        let golden: f64 = row["ave_after"].parse().expect("an average");
        let average = gauge(&link.queue, AVERAGE) * unit;
        assert_eq!(six(average), six(golden), "{file}, row {i}: {average}");
    }
    assert_eq!(host.drops(), 0);
    assert!(ties <= 3, "{file}: {ties} ties");
}

#[test]
fn average_of_packets() {
    average_is_golden("ns2/red/redave_golden_pkts.csv", 10_000_000, 0.002, 1000, "packets");
}

#[test]
fn average_of_packets_with_a_large_weight() {
    average_is_golden("ns2/red/redave_golden_pkts_w02.csv", 2_000_000, 0.02, 500, "packets");
}

#[test]
fn average_of_bytes() {
    average_is_golden("ns2/red/redave_golden_bytes.csv", 10_000_000, 0.002, 500, "bytes");
}

/// Gaps between drops at a frozen average, as in ns-2's runs; the queue never empties.
fn gaps(row: &std::collections::BTreeMap<String, String>, arrivals: u32) -> (u32, Vec<u32>) {
    let number = |key: &str| row[key].parse::<f64>().expect("a number");
    let flag = |key: &str| row[key] == "true";
    let set = [
        ("dialect", word("ns2-2.35")),
        ("spacing", word(if flag("wait") { "ns2-wait" } else { "ns2-nowait" })),
        ("mode", word(if flag("bytes") { "bytes" } else { "packets" })),
        ("mean_packet", Value::Bytes(number("meanpkt") as u64)),
        ("w_q", Value::Number(1e-15)),
        ("min_th", Value::Packets(number("minth"))),
        ("max_th", Value::Packets(number("maxth"))),
        ("max_p", Value::Number(1.0 / number("linterm"))),
        ("limit", Value::Packets(1e9)),
    ];
    let mut queue = build(if flag("gentle") { "gentle-red" } else { "red" }, 800_000, &set);
    let bytes = number("pkt") as u32;
    let mut host = Counting::new(7);
    for i in 0..10 {
        queue.enqueue(Time::ZERO, packet(i, bytes, Ecn::NotEct), &mut host);
    }
    let Discipline::Red(red) = &mut queue else { panic!("a RED queue") };
    let Average::Ewma(average) = red.average_mut() else { panic!("a floating-point average") };
    average.set(number("ave") * if flag("bytes") { number("meanpkt") } else { 1.0 });
    let (mut gaps, mut gap) = (Vec::new(), 0);
    for i in 10..10 + arrivals {
        let before = host.drops();
        queue.enqueue(Time::ZERO, packet(i, bytes, Ecn::NotEct), &mut host);
        gap += 1;
        if host.drops() > before {
            gaps.push(gap);
            gap = 0;
        }
    }
    (host.drops(), gaps.split_off(1))
}

#[test]
fn drop_law_at_a_frozen_average() {
    for row in table("ns2/red/red_micro.csv") {
        let number = |key: &str| row[key].parse::<f64>().expect("a number");
        let (_, gaps) = gaps(&row, 400_000);
        let n = gaps.len() as f64;
        let mean = gaps.iter().map(|&g| f64::from(g)).sum::<f64>() / n;
        let sd = (gaps.iter().map(|&g| (f64::from(g) - mean).square()).sum::<f64>() / n).sqrt();
        let error = (sd * sd / n + number("gap_sd") * number("gap_sd") / number("drops")).sqrt();
        // 34 rows: 4 standard errors, and room for ns-2's four printed digits.
        assert!((mean - number("gap_mean")).abs() < 4.0 * error + 1e-4, "{row:?}: mean gap {mean}");
        assert!((sd - number("gap_sd")).abs() < 4.0 * sd / n.sqrt() + 0.02 * sd + 1e-4, "{row:?}: sd {sd}");
        let (least, most) = (gaps.iter().min().expect("a gap"), gaps.iter().max().expect("a gap"));
        assert!(f64::from(*least) <= number("gap_min") && number("gap_max") <= f64::from(*most), "{row:?}");
    }
}

trait Square {
    fn square(self) -> f64;
}

impl Square for f64 {
    fn square(self) -> f64 {
        self * self
    }
}

#[test]
fn automatic_thresholds_and_weight() {
    for row in table("ns2/red/red_autoconfig.csv") {
        let mbps: f64 = row["bw"].trim_end_matches("Mb").parse().expect("a rate");
        let ms: f64 = row["delay"].trim_end_matches("ms").parse().expect("a delay");
        let mut spec = Spec::new("gentle-red").expect("a preset");
        for key in ["min_th", "max_th", "w_q"] {
            spec.set(key, word("auto")).expect("automatic");
        }
        spec.set("mean_packet", Value::Bytes(row["mean_pktsize"].parse().expect("bytes"))).expect("bytes");
        spec.set("limit", Value::Packets(1e6)).expect("a limit");
        let link = LinkContext { rate: Rate((mbps * 1e6) as u64), delay: Span::from_secs(ms / 1e3) };
        let resolved = spec.resolve(link).expect("valid");
        let effective = |key| match resolved.effective.iter().find(|(k, _)| *k == key) {
            Some((_, Value::Packets(x) | Value::Number(x))) => *x,
            other => panic!("{key}: {other:?}"),
        };
        for (ours, theirs) in [("min_th", "thresh_"), ("max_th", "maxthresh_"), ("w_q", "q_weight_")] {
            let golden: f64 = row[theirs].parse().expect("a number");
            let value = effective(ours);
            assert!((value / golden - 1.0).abs() < 1e-9, "{ours} is {value}, not {golden}: {row:?}");
        }
    }
}
