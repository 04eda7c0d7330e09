//! More flows than the link may know at a time: each is counted by itself while it is known, and no packet is lost from
//! the sums. Packets go through sockets that keep their bounds, as TUN devices do.

mod common;

use std::os::unix::net::UnixDatagram;

use aqmlab_dataplane::clock;
use aqmlab_dataplane::config::Planned;
use aqmlab_dataplane::flows::FlowCounts;
use aqmlab_dataplane::json::Reporter;
use aqmlab_dataplane::plane::Plane;
use aqmlab_dataplane::snapshot::{Side, Snapshot};
use common::Ip;
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;

const DROP_TAIL: &str = "aqm = \"drop-tail\"\nlimit = \"100p\"";
const RED: &str = "aqm = \"red\"\necn = true\nlimit = \"6p\"\nmin_th = \"1p\"\nmax_th = \"4p\"\nmax_p = 0.5\nw_q = 0.5\nmean_packet = \"1000B\"";

/// A link of 8 kbit/s in both directions, so that packets sent together wait together also on a busy machine. Its table has room for four flows.
fn planned(queue: &str) -> Planned {
    let scenario = r#"
        format = 1
        [run]
        duration = "10s"
        [dumbbell]
        bottleneck = { rate = "8kbps", delay = "2ms", queue = "q" }
        left = { rate = "100Mbps", delay = "1ms" }
        right = { rate = "100Mbps", delay = "1ms" }
        [queue.q]
        QUEUE
        [[flow]]
        name = "g"
        transport = "udp"
        rate = "1Mbps"
    "#
    .replace("QUEUE", queue);
    let group = |number: u8, delay_ns: u64| {
        serde_json::json!({
            "name": format!("g{number}"),
            "prefix_a": [format!("10.0.{number}.1")],
            "prefix_b": [format!("10.0.{number}.2")],
            "delay_before_ns": delay_ns,
        })
    };
    let config = serde_json::json!({
        "scenario": scenario,
        "a": {"device": "a"},
        "b": {"device": "b"},
        "groups": [group(0, 0), group(1, 50_000_000)],
        "warmup_s": 0,
        "buffers": 256,
        "flows": 4,
    });
    Planned::read(&config.to_string()).expect("a configuration")
}

/// A plane between sockets, and their other ends.
struct Link {
    plane: Plane,
    outside: [UnixDatagram; 2],
    start: u64,
}

impl Link {
    fn new(planned: &Planned) -> Self {
        let [(a, outside_a), (b, outside_b)] = [(); 2].map(|()| UnixDatagram::pair().expect("sockets"));
        for socket in [&a, &b, &outside_a, &outside_b] {
            socket.set_nonblocking(true).expect("a socket that never waits");
        }
        let mut plane = Plane::new(planned, [a.into(), b.into()], None);
        let start = clock::now();
        plane.start(start, start);
        Self { plane, outside: [outside_a, outside_b], start }
    }

    /// A datagram of so many bytes from a port of a sender of this group.
    fn send(&mut self, group: u8, port: u16, bytes: usize, is_capable: bool) {
        let (from, to) = (format!("10.0.{group}.1"), format!("10.0.{group}.2"));
        let ip = Ip { traffic_class: if is_capable { 0b10 } else { 0 }, ..Ip::new(&from, &to) };
        self.outside[0].send(&ip.udp((port, 9), bytes - 28)).expect("sent");
        self.plane.read(0, 1).expect("read");
    }

    /// All that is on its way leaves.
    fn drain(&mut self) {
        self.plane.write_due(self.start + 1000 * SECOND);
    }

    fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::new(&self.plane.directions, 4);
        self.plane.show(self.start + 1000 * SECOND, &mut snapshot, true);
        snapshot
    }

    fn seen(&self) -> Side {
        self.snapshot().sides.swap_remove(0)
    }
}

type Count = fn(&FlowCounts) -> u64;

fn sum(side: &Side, count: Count) -> u64 {
    side.flows.iter().chain(&side.others).map(count).sum()
}

/// Check that flows and others together have the counts of the link; the counts of departures and marks only after
/// the link is drained.
fn adds_up(side: &Side, is_drained: bool) -> Result<(), String> {
    let c = &side.totals.counters;
    let drops = c.drops_early + c.drops_forced + c.drops_overflow;
    let marks = c.marks_early + c.marks_forced;
    let always: [(&str, Count, u64); 3] = [
        ("arrivals", |c| c.arrivals, c.arrivals),
        ("arrived_bytes", |c| c.arrived_bytes, c.arrived_bytes),
        ("drops", |c| c.drops, drops),
    ];
    let drained: [(&str, Count, u64); 3] = [
        ("departures", |c| c.departures, c.departures),
        ("departed_bytes", |c| c.departed_bytes, c.departed_bytes),
        ("marks", |c| c.marks, marks),
    ];
    for (what, count, total) in always.into_iter().chain(drained.into_iter().filter(|_| is_drained)) {
        let of_flows = sum(side, count);
        if of_flows != total {
            return Err(format!("{what}: {of_flows} of flows, {total} of the link"));
        }
    }
    Ok(())
}

#[test]
fn six_flows_in_a_table_of_four() {
    let mut link = Link::new(&planned(DROP_TAIL));
    // Two packets of each flow: ports 1 to 4 fill the table.
    for port in 1..=6 {
        for _ in 0..2 {
            link.send(0, port, 100 * usize::from(port), false);
        }
    }
    link.drain();
    let side = link.seen();
    let arrived: Vec<_> = side.flows.iter().map(|c| (c.arrivals, c.arrived_bytes)).collect();
    assert_eq!(arrived, [(2, 1000), (2, 1200), (2, 600), (2, 800)], "5 and 6 have the numbers of 1 and 2");
    let others: Vec<_> = side.others.iter().map(|c| (c.arrivals, c.arrived_bytes, c.departures)).collect();
    assert_eq!(others, [(4, 600, 4), (0, 0, 0), (0, 0, 0)], "1 and 2 are others of their group");
    assert_eq!(adds_up(&side, true), Ok(()));
    let report = Reporter::default().snapshot(&link.snapshot(), link.plane.classifier.groups(), [0; 2]);
    let quantities = &report["directions"][0]["quantities"];
    assert_eq!((&quantities["max_queue"], &quantities["loss"]), (&11.0.into(), &0.0.into()));
    let report = report["directions"][0]["flows"].as_array().expect("flows").clone();
    assert_eq!(report.len(), 5);
    assert_eq!(
        (&report[4]["flow"], &report[4]["group"], &report[4]["label"]),
        (&4.into(), &"g0".into(), &"other flows".into())
    );
    assert_eq!(
        (&report[0]["label"], &report[4]["arrivals"]),
        (&"10.0.0.1:5 > 10.0.0.2:9 udp".into(), &4.into())
    );
}

#[test]
fn packets_under_way_belong_to_the_flow_that_sent_them() {
    let mut link = Link::new(&planned(DROP_TAIL));
    // Port 1 of group 1 is 50 ms away from the queue when 4 others take all numbers, and its own again.
    link.send(1, 1, 1000, false);
    (2..=5).for_each(|port| link.send(0, port, 100, false));
    link.send(1, 1, 700, false);
    link.drain();
    let side = link.seen();
    assert_eq!(link.plane.classifier.replaced(), 2);
    assert_eq!((side.others[1].arrivals, side.others[1].arrived_bytes), (1, 1000));
    assert_eq!(side.flows[1].arrived_bytes, 700);
    assert_eq!(adds_up(&side, true), Ok(()));
}

proptest! {
    #[test]
    fn flows_and_others_are_the_link(
        steps in prop::collection::vec((0u8..3, 0u16..6, 40usize..1400, any::<bool>(), 0u8..8), 1..150),
    ) {
        let mut link = Link::new(&planned(RED));
        for (group, port, bytes, is_capable, chance) in steps {
            link.send(group, port, bytes, is_capable);
            if chance == 0 {
                link.plane.write_due(clock::now());
                prop_assert_eq!(adds_up(&link.seen(), false), Ok(()));
            }
        }
        link.drain();
        prop_assert_eq!(adds_up(&link.seen(), true), Ok(()));
        prop_assert_eq!(link.plane.counts().unaccounted(), 0);
        prop_assert_eq!(link.plane.counts().held, 0);
    }
}
