//! SFQ, DRR, AVQ and REM against ns-2.35 with the same arrivals: dropped packets, order of departures, and
//! probabilities. The tables are made by `tests/ns2/make_disciplines.py`.

mod common;

use std::collections::BTreeMap;

use aqmlab_aqm::{Checked, Dequeue, Discipline, DropReason, Ecn, Host, Packet, Qdisc, Value};
use aqmlab_units::{Rate, Serializer, Time};
use common::{build, gauge, packet, table, word};

const BPS: u64 = 2_000_000;

/// The events in order, in the words of the tables.
#[derive(Default)]
struct Log(Vec<String>);

impl Host<u32> for Log {
    fn uniform(&mut self) -> f64 {
        // No packet is selected: only the probability is compared.
        1.0 - f64::EPSILON
    }
    fn below(&mut self, _n: u64) -> u64 {
        0
    }
    fn dropped(&mut self, packet: Packet<u32>, _reason: DropReason) {
        self.0.push(format!("d {}", packet.payload));
    }
    fn marked(&mut self, _packet: &Packet<u32>, _reason: DropReason) {}
}

/// A queue before a link, and the log of both.
struct Link {
    queue: Checked<Discipline<u32>>,
    serializer: Serializer,
    free_at: Option<Time>,
    log: Log,
}

impl Link {
    fn new(queue: Discipline<u32>) -> Self {
        let serializer = Serializer::new(Rate(BPS));
        Self { queue: Checked::new(queue), serializer, free_at: None, log: Log::default() }
    }

    /// Ends of service and timers up to `now`, in their order.
    fn run_until(&mut self, now: Time) {
        loop {
            let timer = self.queue.next_timer().filter(|&due| due <= now);
            match (self.free_at.filter(|&end| end <= now), timer) {
                (Some(end), timer) if timer.is_none_or(|due| end <= due) => self.next(end),
                (_, Some(due)) => self.queue.on_timer(due, &mut self.log),
                (_, None) => return,
            }
        }
    }

    fn next(&mut self, now: Time) {
        self.free_at = match self.queue.dequeue(now, &mut self.log) {
            Dequeue::Packet(packet) => {
                self.log.0.push(format!("s {}", packet.payload));
                Some(now + self.serializer.transmit(packet.meta.bytes))
            }
            _ => None,
        };
    }

    fn arrive(&mut self, now: Time, packet: Packet<u32>) {
        self.run_until(now);
        self.log.0.push(format!("a {}", packet.payload));
        self.queue.enqueue(now, packet, &mut self.log);
        if self.free_at.is_none() {
            self.next(now);
        }
    }
}

fn number(row: &BTreeMap<String, String>, key: &str) -> u64 {
    row[key].parse().expect("a number")
}

/// Plays a table's arrivals; gives the log, and how far samples of the probability are off, relatively.
fn play(file: &str, aqm: &str, set: &[(&str, Value)]) -> (Vec<String>, f64) {
    let mut link = Link::new(build(aqm, BPS, set));
    let mut off: f64 = 0.0;
    for row in table(&format!("ns2/disciplines/{file}.csv")) {
        match row["event"].as_str() {
            "a" => {
                let mut packet =
                    packet(number(&row, "packet") as u32, number(&row, "bytes") as u32, Ecn::NotEct);
                packet.meta.flow = number(&row, "flow") as u32;
                link.arrive(Time(number(&row, "time_ns") * 1000), packet);
            }
            "p" => {
                link.run_until(Time(number(&row, "time_ns") * 1000));
                let golden: f64 = row["probability"].parse().expect("a probability");
                // ns-2 prints six digits.
                off = off.max(
                    (gauge(&link.queue, if aqm == "rem" { "probability" } else { "p" }) - golden).abs()
                        / golden.max(1e-9),
                );
            }
            _ => {}
        }
    }
    link.run_until(Time::from_secs(100.0));
    (link.log.0, off)
}

/// The log that ns-2 wrote.
fn golden(file: &str) -> Vec<String> {
    let rows = table(&format!("ns2/disciplines/{file}.csv"));
    rows.iter().map(|row| format!("{} {}", row["event"], row["packet"])).collect()
}

fn is_equal(file: &str, aqm: &str, set: &[(&str, Value)]) {
    let (golden, (log, _)) = (golden(file), play(file, aqm, set));
    let drops = golden.iter().filter(|line| line.starts_with('d')).count();
    assert!(drops > 50, "{file} drops {drops} packets");
    if let Some(i) = (0..golden.len()).find(|&i| log.get(i) != Some(&golden[i])) {
        panic!("{file}: line {i} is {:?}, in ns-2 {:?}", log.get(i), golden[i]);
    }
    assert_eq!(log.len(), golden.len(), "{file}");
}

fn modulo(buckets: f64) -> [(&'static str, Value); 2] {
    [("hash", word("modulo")), ("buckets", Value::Number(buckets))]
}

#[test]
fn stochastic_fairness_queueing() {
    for (file, buckets, limit) in [("sfq", 16.0, 40.0), ("sfq-small", 8.0, 20.0)] {
        let mut set = modulo(buckets).to_vec();
        set.extend([("full", word("ns2")), ("limit", Value::Packets(limit))]);
        is_equal(file, "sfq", &set);
    }
}

#[test]
fn deficit_round_robin() {
    for (file, quantum, limit) in [("drr", 250, 25_000), ("drr-large-quantum", 1500, 12_000)] {
        let mut set = modulo(16.0).to_vec();
        set.extend([("quantum", Value::Bytes(quantum)), ("limit", Value::Bytes(limit))]);
        is_equal(file, "drr", &set);
    }
}

#[test]
fn adaptive_virtual_queue() {
    for (file, mode, limit) in
        [("avq-packets", "packets", Value::Packets(20.0)), ("avq-bytes", "bytes", Value::Bytes(20_000))]
    {
        is_equal(file, "avq", &[("update", word("ns2")), ("mode", word(mode)), ("limit", limit)]);
    }
}

#[test]
fn random_exponential_marking() {
    for (file, mode) in [("rem-packets", "packets"), ("rem-bytes", "bytes")] {
        let set =
            [("mode", word(mode)), ("gamma", Value::Number(0.05)), ("limit", Value::Packets(100_000.0))];
        let (_, off) = play(file, "rem", &set);
        let largest = table(&format!("ns2/disciplines/{file}.csv"))
            .iter()
            .filter_map(|row| row["probability"].parse::<f64>().ok())
            .fold(0.0, f64::max);
        assert!(largest > 0.001, "{file} has a price");
        assert!(off < 1e-5, "{file}: {off} off");
    }
}
