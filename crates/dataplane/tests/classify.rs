//! From packets to groups, flows and distances.

mod common;

use aqmlab_aqm::{Ecn, Kind, Meta};
use aqmlab_dataplane::classify::{Classifier, Direction, Distance, Group};
use aqmlab_dataplane::wire::{RouteOption, parse};
use aqmlab_units::Time;
use common::{ACK, Ip, PSH, SYN};

const PORTS: (u16, u16) = (4711, 5201);
const BACK: (u16, u16) = (5201, 4711);

fn group(number: u8, more: &str) -> Group {
    let json = format!(
        r#"{{"name": "g{number}", "prefix_a": ["10.77.{number}.1", "fd77:0:0:{number}::1"],
            "prefix_b": ["10.77.{number}.2", "fd77:0:0:{number}::2"], {more}}}"#
    );
    serde_json::from_str(&json).expect("a group")
}

fn groups() -> [Group; 3] {
    let labelled = r#""flow_label": "ipv6-label", "class": 1"#;
    [
        group(1, r#""delay_before_ns": 5, "hops_before": 3, "hops_after": 2, "dscp": 10, "class": 7"#),
        group(2, labelled),
        group(3, &format!("{labelled}, \"acks_share_label\": true")),
    ]
}

fn classifier() -> Classifier {
    Classifier::new(&groups(), Distance::Inferred, 16)
}

fn seen(classifier: &mut Classifier, direction: Direction, packet: &[u8]) -> Meta {
    classifier.meta(Time(9), direction, &parse(packet).expect("a good packet"))
}

fn forward(classifier: &mut Classifier, packet: &[u8]) -> Meta {
    seen(classifier, Direction::Forward, packet)
}

fn reverse(classifier: &mut Classifier, packet: &[u8]) -> Meta {
    seen(classifier, Direction::Reverse, packet)
}

fn there(number: u8) -> Ip {
    Ip::new(&format!("10.77.{number}.1"), &format!("10.77.{number}.2"))
}

fn back(number: u8) -> Ip {
    Ip::new(&format!("10.77.{number}.2"), &format!("10.77.{number}.1"))
}

fn there6(number: u8, flow_label: u32) -> Ip {
    Ip { flow_label, ..Ip::new(&format!("fd77:0:0:{number}::1"), &format!("fd77:0:0:{number}::2")) }
}

fn back6(number: u8, flow_label: u32) -> Ip {
    Ip { flow_label, ..Ip::new(&format!("fd77:0:0:{number}::2"), &format!("fd77:0:0:{number}::1")) }
}

#[test]
fn what_disciplines_know_of_a_packet() {
    let mut known = classifier();
    let data = Ip { traffic_class: 0b10, ttl: 60, ..there(1) }.tcp(PORTS, ACK | PSH, 1, 1, 100);
    let meta = forward(&mut known, &data);
    assert_eq!((meta.arrival, meta.bytes, meta.flow), (Time(9), 152, 0));
    let header = meta.header;
    assert_eq!((header.dscp(), header.ecn(), header.kind(), header.class()), (10, Ecn::Ect, Kind::Data, 7));
    // Three routers before the queue are the scenario's, four were passed on the way here.
    assert_eq!((header.ttl_initial(), header.ttl(), header.ttl_final()), (64, 57, 0));
    // An acknowledgement keeps its code point, and has a label of its own without class.
    let ack = forward(&mut known, &Ip { traffic_class: 46 << 2, ..there(1) }.tcp(PORTS, ACK, 1, 1, 0));
    assert_eq!((ack.flow, ack.header.dscp(), ack.header.class(), ack.header.kind()), (1, 46, 0, Kind::Ack));
    // A packet that opens the connection does not count as one.
    let syn = forward(&mut known, &there(1).tcp(PORTS, SYN, 1, 1, 0));
    assert_eq!((syn.flow, syn.header.dscp(), syn.header.kind()), (0, 10, Kind::Syn));
}

#[test]
fn how_far_the_destination_is_comes_from_the_other_direction() {
    let mut known = classifier();
    let data = there(1).tcp(PORTS, ACK, 1, 1, 9);
    assert_eq!(forward(&mut known, &data).header.ttl_final(), 0, "not known yet");
    // The reply has passed 4 routers on its way here and 2 of the scenario, the data 3 of the scenario.
    let reply = reverse(&mut known, &Ip { ttl: 124, ..back(1) }.tcp(BACK, ACK, 1, 1, 0));
    assert_eq!((reply.header.ttl_initial(), reply.header.ttl(), reply.flow), (128, 122, 1));
    assert_eq!(reply.header.ttl_final(), 122 - 3);
    let header = forward(&mut known, &data).header;
    assert_eq!((header.ttl(), header.ttl_final()), (61, 61 - 6));
}

#[test]
fn both_directions_are_one_flow_and_numbers_are_dense() {
    let mut known = classifier();
    let numbers: Vec<u32> = [
        forward(&mut known, &there(1).tcp(PORTS, SYN, 1, 1, 0)),
        forward(&mut known, &there(1).udp(PORTS, 8)),
        reverse(&mut known, &back(1).tcp(BACK, SYN | ACK, 1, 1, 0)),
        forward(&mut known, &there(1).tcp((4712, 5201), SYN, 1, 1, 0)),
        reverse(&mut known, &back(1).udp(BACK, 8)),
        forward(&mut known, &there(1).packet(1, &[0; 8])),
        reverse(&mut known, &back(1).packet(1, &[0; 8])),
    ]
    .map(|meta| meta.flow >> 1)
    .into();
    assert_eq!(numbers, [0, 1, 0, 2, 1, 3, 3]);
    let labels: Vec<String> =
        known.flows().map(|(group, label)| format!("{}: {label}", group.name)).collect();
    assert_eq!(
        labels,
        [
            "g1: 10.77.1.1:4711 > 10.77.1.2:5201 tcp",
            "g1: 10.77.1.1:4711 > 10.77.1.2:5201 udp",
            "g1: 10.77.1.1:4712 > 10.77.1.2:5201 tcp",
            "g1: 10.77.1.1 > 10.77.1.2 icmp",
        ]
    );
}

#[test]
fn flow_labels_are_flows_where_a_group_says_so() {
    let mut known = classifier();
    let mut data = |label, ports| forward(&mut known, &there6(2, label).tcp(ports, ACK, 1, 1, 5)).flow >> 1;
    let (first, again, other) = (data(5, PORTS), data(5, (4712, 5201)), data(6, (4713, 5201)));
    assert_eq!((first, again, other), (0, 0, 1), "the label counts, not the ports");
    // Replies have labels of their own, and are found by their ports.
    let reply = |ports| back6(2, 0xfffff).tcp(ports, ACK, 1, 1, 0);
    assert_eq!(reverse(&mut known, &reply((5201, 4712))).flow, 1);
    assert_eq!(reverse(&mut known, &reply((5201, 4713))).flow, 3);
    // Packets of the group `other` have a label too.
    assert_eq!(reverse(&mut known, &reply((5201, 9))).flow >> 1, 2);
    // A connection that changes its label, as Linux does after a time-out, is another flow, also for replies.
    assert_eq!(forward(&mut known, &there6(2, 7).tcp((4713, 5201), ACK, 1, 1, 5)).flow >> 1, 3);
    assert_eq!(reverse(&mut known, &reply((5201, 4713))).flow >> 1, 3);
    // Without a label, and in IPv4, ports count.
    let unlabelled = forward(&mut known, &there6(2, 0).tcp(PORTS, ACK, 1, 1, 5)).flow >> 1;
    assert_eq!((unlabelled, forward(&mut known, &there(2).tcp(PORTS, ACK, 1, 1, 5)).flow >> 1), (4, 5));
    let label = known.flows().nth(1).map(|(group, label)| format!("{}: {label}", group.name));
    assert_eq!(label.as_deref(), Some("g2: [fd77:0:0:2::1]:4713 > [fd77:0:0:2::2]:5201 tcp label 0x00006"));
}

#[test]
fn acknowledgements_share_a_label_where_a_group_says_so() {
    let mut known = classifier();
    let ack = forward(&mut known, &there6(3, 5).tcp(PORTS, ACK, 1, 1, 0));
    assert_eq!((ack.flow, ack.header.class(), ack.header.kind()), (0, 1, Kind::Ack));
}

#[test]
fn what_belongs_to_no_group() {
    let mut known = classifier();
    let stranger = Ip { ttl: 31, ..Ip::new("10.0.0.1", "10.77.1.2") }.tcp(PORTS, ACK, 1, 1, 5);
    let meta = forward(&mut known, &stranger);
    assert_eq!((meta.header.ttl_initial(), meta.header.ttl(), meta.header.class()), (32, 31, 0));
    assert_eq!(known.groups()[known.group_of(meta.flow >> 1)].name, "other");
    let of = |packet: &[u8]| known.direction(&parse(packet).expect("a good packet"));
    assert_eq!([of(&stranger), of(&there(1).udp(PORTS, 1))], [Direction::Forward; 2]);
    assert_eq!(of(&back(1).udp(BACK, 1)), Direction::Reverse);
}

#[test]
fn groups_can_be_exchanged_while_flows_keep_their_numbers() {
    let mut known = classifier();
    let packet = there(1).tcp(PORTS, ACK, 1, 1, 5);
    forward(&mut known, &there(2).tcp(PORTS, ACK, 1, 1, 5));
    assert_eq!(forward(&mut known, &packet).flow, 2);
    known.set_groups(&[group(1, r#""class": 9"#)]);
    let meta = forward(&mut known, &packet);
    assert_eq!((meta.flow, meta.header.class(), known.group_of(0), known.group_of(1)), (2, 9, 1, 0));
}

#[test]
fn initial_values_by_prefix() {
    let json = r#"{"rule": "prefix", "initial": {"10.77.0.0/16": 40, "10.77.2.0/24": 50, "fd77::/16": 30}}"#;
    let mut known = Classifier::new(&[], serde_json::from_str(json).expect("a rule"), 16);
    let mut initial = |ip: &Ip| forward(&mut known, &ip.udp(PORTS, 1)).header.ttl_initial();
    assert_eq!([initial(&there(1)), initial(&there(2)), initial(&there6(1, 0))], [40, 50, 30]);
    assert_eq!(initial(&Ip::new("10.1.1.1", "10.77.1.1")), 64);
}

#[test]
fn a_flood_of_flows_takes_no_more_numbers() {
    let mut known = Classifier::new(&groups(), Distance::Inferred, 8);
    for port in 0..5000 {
        let flow = forward(&mut known, &there6(2, u32::from(port) + 1).udp((port, 9), 1)).flow >> 1;
        assert!(flow < 8);
        assert_eq!(
            forward(&mut known, &there(1).tcp(PORTS, ACK, 1, 1, 1)).flow >> 1,
            1,
            "never idle for long"
        );
    }
    assert_eq!((known.flows().len(), known.replaced()), (8, 5001 - 8));
}

#[test]
fn fields_that_packets_carry() {
    let json = r#"{"rule": "option"}"#;
    let mut known = Classifier::new(&groups(), serde_json::from_str(json).expect("a rule"), 16);
    let mut fields = |ip: &Ip, packet: &[u8]| {
        let header = if ip.from == there(1).from || ip.from == there6(1, 0).from {
            forward(&mut known, packet).header
        } else {
            reverse(&mut known, packet).header
        };
        (header.ttl_initial(), header.ttl(), header.ttl_final())
    };
    let route = |ttl_initial, ttl_final| RouteOption { ttl_initial, ttl_final };
    // Three routers of the scenario are before the queue, two after it. 100 is no usual value.
    let syn = Ip { ttl: 97, options: route(100, 0).ipv4().to_vec(), ..there(1) };
    assert_eq!(fields(&syn, &syn.tcp(PORTS, SYN, 1, 1, 0)), (100, 94, 0));
    let reply = Ip { ttl: 55, options: route(70, 40).ipv4().to_vec(), ..back(1) };
    assert_eq!(fields(&reply, &reply.tcp(BACK, ACK, 1, 1, 0)), (70, 53, 40));
    let data = Ip { ttl: 97, options: route(100, 92).ipv4().to_vec(), ..there(1) };
    assert_eq!(fields(&data, &data.tcp(PORTS, ACK, 1, 1, 9)), (100, 94, 92));
    // The sender knows less than the link; what it writes counts.
    assert_eq!(fields(&syn, &syn.tcp(PORTS, ACK, 1, 1, 9)), (100, 94, 0));
    // Without the option all is inferred: the reply has come 64 - 53 hops.
    let plain = Ip { ttl: 60, ..there(1) };
    assert_eq!(fields(&plain, &plain.tcp(PORTS, ACK, 1, 1, 9)), (64, 57, 57 - 17));
    let six = Ip { ttl: 97, ..there6(1, 5) };
    let payload = [&route(100, 92).ipv6(17)[..], &common::udp(PORTS, 9)].concat();
    assert_eq!(fields(&six, &six.packet(0, &payload)), (100, 94, 92));
    // By default the option does not count.
    let header = forward(&mut classifier(), &data.udp(PORTS, 9)).header;
    assert_eq!((header.ttl_initial(), header.ttl_final()), (128, 0));
}

#[test]
fn qosa_in_the_code_point() {
    let seen = |known: &mut Classifier, number, dscp: u8| {
        let header = forward(known, &Ip { traffic_class: dscp << 2, ..there(number) }.udp(PORTS, 9)).header;
        (header.dscp(), header.qosa())
    };
    let mut with = classifier().with_qosa_bit(true);
    assert_eq!(
        [0, 1, 46, 47].map(|dscp| seen(&mut with, 2, dscp)),
        [(0, false), (0, true), (46, false), (46, true)]
    );
    assert_eq!(seen(&mut with, 1, 1), (10, true), "the group's code point");
    assert_eq!(seen(&mut classifier(), 2, 1), (1, false));
}
