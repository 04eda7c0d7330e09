//! No allocation from the bytes of a packet to what disciplines know of it, nor for recording it.

#[path = "../../aqm/tests/common/allocations.rs"]
mod allocations;
mod common;

use aqmlab_aqm::{Ecn, Meta, Packet};
use aqmlab_dataplane::bottleneck::{Bottleneck, PacketOutcomes};
use aqmlab_dataplane::buffer::Buffer;
use aqmlab_dataplane::capture::Recorder;
use aqmlab_dataplane::classify::{Classifier, Direction, Distance, Group};
use aqmlab_dataplane::config::Planned;
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

/// A link whose rate follows a trace, and whose channel loses, delays, reorders and duplicates packets.
const VARYING: &str = r#"
    format = 1
    [run]
    duration = "10s"
    [probe]
    links = []
    delay_histogram = false
    [[link]]
    name = "l"
    from = "a"
    to = "b"
    rate = { trace = "0:8000000 200000000:0 300000000:16000000", between = "interpolate" }
    delay = "5ms"
    loss = { p = 0.05, r = 0.3 }
    jitter = "4ms"
    reorder = 0.1
    duplicate = 0.2
    [[flow]]
    name = "g"
    transport = "udp"
    rate = "1Mbps"
    from = "a"
    to = "b"
"#;

#[test]
fn servers_and_channels_cost_no_allocation() {
    let config = serde_json::json!({
        "scenario": VARYING, "link": "l", "a": {"device": "a"}, "b": {"device": "b"}, "buffers": 512,
        "groups": [{"name": "g", "prefix_a": ["10.0.0.1"], "prefix_b": ["10.0.0.2"]}],
    });
    let planned = Planned::read(&config.to_string()).expect("a configuration");
    let mut link = Bottleneck::new(&planned.settings(&planned.groups())[0]);
    let (mut before, mut free) = (0, (0..512).collect::<Vec<u32>>());
    for i in 0..20_000_u64 {
        // Kinds of drops and losses are counted where they first occur.
        if i == 5000 {
            before = allocations::count();
        }
        let now = Time(i * 1_100_000_000);
        link.advance(now, &mut |_, packet: Packet<Buffer>, passage| {
            free.extend((!passage.comes_again).then_some(packet.payload.slot));
        });
        link.take_freed(|buffer| free.push(buffer.slot));
        if let Some(slot) = free.pop() {
            let meta = Meta { bytes: 1000, ..Meta::default() };
            link.offer(now, Packet { meta, payload: Buffer { slot, ..Buffer::default() } });
            link.take_freed(|buffer| free.push(buffer.slot));
        }
    }
    assert_eq!(allocations::count(), before);
    let PacketOutcomes { lost, copied, .. } = link.outcomes();
    assert!(lost > 500 && copied > 1000, "{lost} {copied}");
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
