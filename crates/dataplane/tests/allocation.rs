//! No allocation from the bytes of a packet to what disciplines know of it, nor for recording it.

#[path = "../../aqm/tests/common/allocations.rs"]
mod allocations;
mod common;

use aqmlab_aqm::Ecn;
use aqmlab_dataplane::capture::Recorder;
use aqmlab_dataplane::classify::{Classifier, Direction, Distance, Group};
use aqmlab_dataplane::wire::{MalformedCounts, parse, set_ce, set_dscp};
use aqmlab_units::Time;
use common::{ACK, Ip, SYN};

const GROUP: &str = r#"{"name": "g", "prefix_a": ["10.0.0.1", "fd77::1"], "prefix_b": ["10.0.0.2", "fd77::2"],
    "flow_label": "ipv6-label", "dscp": 10}"#;

fn packets() -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    for port in 0..300 {
        let six = Ip { flow_label: 1 + u32::from(port) % 200, ..Ip::new("fd77::1", "fd77::2") };
        packets.push(six.tcp((port, 80), ACK, 1, 1, 1000));
        packets.push(Ip { traffic_class: 1, ..Ip::new("fd77::2", "fd77::1") }.tcp((80, port), ACK, 1, 1, 0));
        packets.push(Ip::new("10.0.0.1", "10.0.0.2").tcp((port, 80), SYN, 1, 1, 0));
        packets.push(Ip::new("192.0.2.1", "10.0.0.2").udp((port, 80), 5)[..30].to_vec());
    }
    packets
}

#[test]
fn packets_cost_no_allocation() {
    let group: Group = serde_json::from_str(GROUP).expect("a group");
    // Fewer flows than there are: numbers change hands all the time.
    let mut classifier = Classifier::new(&[group], Distance::Inferred, 100);
    let path = std::env::temp_dir().join(format!("aqmlab-allocation-{}.pcap", std::process::id()));
    let file = std::fs::File::create(&path).expect("a file");
    let (mut tap, recorder) = Recorder::start(file, 64).expect("a writer");
    let (mut packets, mut malformed) = (packets(), MalformedCounts::default());
    let mut seen = 0_u64;
    let before = allocations::count();
    for round in 0..20 {
        for bytes in &mut packets {
            tap.record(Time(seen * 1000), bytes);
            let Ok(header) = parse(bytes).map_err(|reason| malformed.count(reason)) else { continue };
            let direction = classifier.direction(&header);
            let meta = classifier.meta(Time(seen), direction, &header);
            if direction == Direction::Forward && round % 2 == 1 {
                set_dscp(bytes, meta.header.dscp());
                set_ce(bytes);
            }
            seen += u64::from(meta.header.ecn() != Ecn::NotEct);
        }
    }
    assert_eq!(allocations::count(), before);
    assert!(seen > 0 && classifier.replaced() > 1000);
    assert_eq!(malformed.total(), 20 * 300);
    let lost = tap.lost();
    drop(tap);
    assert_eq!(recorder.finish().expect("written") + lost, 20 * 1200);
    std::fs::remove_file(&path).expect("removed");
}
