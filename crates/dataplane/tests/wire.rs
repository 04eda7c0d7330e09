//! The parser on packets made by hand: the fields of headers, and a packet for every reason to reject one.

mod common;

use aqmlab_aqm::{Ecn, Kind};
use aqmlab_dataplane::wire::{
    self, Malformed, MalformedCounts, RouteOption, parse, parse_verified, protocol,
};
use common::{ACK, Ip, PSH, SYN, tcp, udp};
use proptest::prelude::*;

const PORTS: (u16, u16) = (4711, 5201);

fn v4() -> Ip {
    Ip { traffic_class: 10 << 2 | 0b10, ttl: 57, ..Ip::new("10.77.1.1", "10.77.1.2") }
}

fn v6() -> Ip {
    Ip { flow_label: 0xabcde, ..Ip { traffic_class: 46 << 2 | 0b01, ..Ip::new("fd77::1", "fd77::2") } }
}

#[test]
fn a_segment_over_ipv4() {
    let packet = v4().tcp(PORTS, ACK | PSH, 1000, 77, 100);
    let header = parse_verified(&packet).expect("a good packet");
    assert_eq!((header.version, header.dscp, header.ecn, header.ttl), (4, 10, Ecn::Ect, 57));
    assert_eq!((header.bytes, header.source.to_string()), (20 + 32 + 100, "10.77.1.1".to_owned()));
    assert_eq!((header.destination.to_string(), header.flow_label), ("10.77.1.2".to_owned(), 0));
    assert_eq!((header.protocol, header.ports), (protocol::TCP, Some(PORTS)));
    let tcp = header.tcp.expect("TCP");
    assert_eq!((tcp.seq, tcp.acked, tcp.payload, tcp.ack, tcp.syn), (1000, 77, 100, true, false));
    assert_eq!((header.kind, header.number()), (Kind::Data, 1000));
}

#[test]
fn a_segment_over_ipv6() {
    let header = parse(&v6().tcp(PORTS, SYN | ACK, 5, 6, 0)).expect("a good packet");
    assert_eq!((header.version, header.dscp, header.ecn, header.ttl), (6, 46, Ecn::Ect1, 64));
    assert_eq!((header.bytes, header.flow_label, header.kind), (40 + 32, 0xabcde, Kind::Syn));
    assert_eq!((header.source.to_string(), header.number()), ("fd77::1".to_owned(), 5));
}

#[test]
fn kinds() {
    let kind = |flags, payload| parse(&v4().tcp(PORTS, flags, 1, 2, payload)).expect("good").kind;
    assert_eq!([kind(SYN, 0), kind(SYN | ACK, 0), kind(SYN, 10)], [Kind::Syn; 3]);
    assert_eq!([kind(ACK, 0), kind(ACK | PSH, 0)], [Kind::Ack; 2]);
    // FIN takes a sequence number, RST ends it all; without ACK nothing is acknowledged.
    assert_eq!([kind(ACK, 1), kind(ACK | 0x01, 0), kind(ACK | 0x04, 0), kind(0, 0)], [Kind::Data; 4]);
    assert_eq!(parse(&v6().tcp(PORTS, ACK, 1, u32::MAX, 0)).expect("good").number(), -1);
    assert_eq!(parse(&v4().udp(PORTS, 10)).expect("good").kind, Kind::Data);
}

#[test]
fn other_protocols_have_no_ports() {
    for (ip, number, payload) in [
        (v4(), protocol::ICMP, &[8, 0, 0, 0, 0, 1, 0, 1][..]),
        (v6(), protocol::ICMPV6, &[128, 0, 0, 0, 0, 1, 0, 1]),
        (v4(), 50, &[]),
        (v6(), 59, &[]),
        (v4(), 253, &[1, 2, 3]),
    ] {
        let header = parse(&ip.packet(number, payload)).expect("a good packet");
        assert_eq!(
            (header.protocol, header.ports, header.tcp, header.kind),
            (number, None, None, Kind::Data)
        );
        assert_eq!(header.number(), 0);
    }
}

#[test]
fn options_of_ipv4_are_passed_over() {
    // No operation, router alert (RFC 2113), a record of the route, end of list and the bytes after it.
    let options = vec![1, 148, 4, 0, 0, 7, 3, 4, 0, 9, 9, 9];
    let header = parse(&Ip { options, ..v4() }.udp(PORTS, 5)).expect("a good packet");
    assert_eq!((header.bytes, header.ports), (20 + 12 + 8 + 5, Some(PORTS)));
}

#[test]
fn the_option_with_ddreds_fields() {
    let route = RouteOption { ttl_initial: 100, ttl_final: 93 };
    let read = |packet: &[u8]| parse_verified(packet).map(|header| (header.route, header.ports));
    let carried = Ok((Some(route), Some(PORTS)));
    // RFC 4727: number 30, of which 158 is copied into fragments; a length that counts itself.
    assert_eq!(route.ipv4(), [0x9e, 4, 100, 93]);
    for options in [route.ipv4().to_vec(), [&[1, 1, 1, 1][..], &route.ipv4(), &[0, 9, 9, 9]].concat()] {
        assert_eq!(read(&Ip { options, ..v4() }.udp(PORTS, 5)), carried);
    }
    let others = [[0x9e, 4, 0, 0], [30, 4, 100, 93], [0, 0x9e, 4, 100]];
    let unset = RouteOption { ttl_initial: 0, ttl_final: 0 };
    for (options, found) in others.into_iter().zip([Some(unset), None, None]) {
        assert_eq!(read(&Ip { options: options.to_vec(), ..v4() }.udp(PORTS, 5)), Ok((found, Some(PORTS))));
    }
    // RFC 8200, section 4.2: type, length of the data, data; PadN (1) fills the header up to eight bytes.
    let six = |header: &[u8]| v6().packet(0, &[header, &udp(PORTS, 5)].concat());
    assert_eq!(route.ipv6(17), [17, 0, 0x1e, 2, 100, 93, 1, 0]);
    assert_eq!(read(&six(&route.ipv6(17))), carried);
    assert_eq!(read(&six(&[17, 0, 0, 0, 0x1e, 2, 100, 93])), carried);
    assert_eq!(read(&six(&[17, 0, 1, 4, 0x1e, 2, 100, 93])), Ok((None, Some(PORTS))));
    // An option that is cut, or of another length, is not it.
    assert_eq!(read(&six(&[17, 0, 0x1e, 4, 100, 93, 1, 0])), Ok((None, Some(PORTS))));
    assert_eq!(read(&six(&[17, 0, 1, 2, 0, 0, 0x1e, 2])), Ok((None, Some(PORTS))));
    assert_eq!(read(&v4().udp(PORTS, 5)), Ok((None, Some(PORTS))));
}

#[test]
fn routers_lower_the_time_to_live() {
    for ip in [v4(), v6()] {
        let mut packet = Ip { ttl: 3, ..ip.clone() }.udp(PORTS, 4);
        assert_eq!(wire::lower_ttl(&mut packet, 0), Ok(()));
        assert_eq!(wire::lower_ttl(&mut packet, 2), Ok(()));
        let last = Ip { ttl: 1, ..ip }.udp(PORTS, 4);
        assert_eq!(packet, last);
        for routers in [1, 2, 255] {
            assert_eq!(wire::lower_ttl(&mut packet, routers), Err(Malformed::Expired));
        }
        assert_eq!(packet, last, "a packet that is dropped stays as it was");
    }
    for mut packet in [vec![], vec![0x45; 19], vec![0x60; 39], vec![0x15; 40]] {
        let before = packet.clone();
        assert_eq!((wire::lower_ttl(&mut packet, 1), packet), (Ok(()), before));
    }
}

#[test]
fn padding_is_no_part_of_a_packet() {
    for mut packet in [v4().tcp(PORTS, ACK, 1, 1, 0), v6().tcp(PORTS, ACK, 1, 1, 0)] {
        let length = packet.len() as u32;
        packet.extend([0; 6]);
        let header = parse(&packet).expect("a good packet");
        assert_eq!((header.bytes, header.kind), (length, Kind::Ack));
    }
}

#[test]
fn fragments_of_ipv4() {
    let fragment = |fragment| Ip { fragment, ..v4() };
    let first = fragment(0x2000).packet(17, &udp(PORTS, 3000)[..1480]);
    assert_eq!(parse(&first).expect("good").ports, Some(PORTS));
    let later = fragment(1480 / 8).packet(17, &[0; 1528]);
    assert_eq!(parse(&later).expect("good").ports, None);
    // Too short for TCP's header: legal, and without ports.
    let tiny = fragment(0x2000).packet(6, &tcp(PORTS, SYN, 1, 0, 0)[..8]);
    assert_eq!(parse(&tiny).map(|h| (h.ports, h.kind)), Ok((None, Kind::Data)));
    // DF and the reserved bit do not make a fragment.
    assert_eq!(parse(&fragment(0xc000).udp(PORTS, 4)).expect("good").ports, Some(PORTS));
}

/// An extension header of so many bytes that names the next.
fn extension(next: u8, bytes: usize) -> Vec<u8> {
    let mut header = vec![0; bytes];
    (header[0], header[1]) = (next, (bytes / 8 - 1) as u8);
    header
}

fn fragment_header(next: u8, more: bool, offset: u16) -> Vec<u8> {
    let [high, low] = (offset | u16::from(more)).to_be_bytes();
    vec![next, 0, high, low, 0, 0, 0, 9]
}

#[test]
fn extension_headers_are_passed_over() {
    let authentication = vec![60, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let chain = [
        extension(60, 8),
        extension(43, 16),
        extension(44, 24),
        fragment_header(51, false, 0),
        authentication,
        extension(6, 8),
        tcp(PORTS, ACK, 9, 9, 3),
    ]
    .concat();
    let header = parse(&v6().packet(0, &chain)).expect("a good packet");
    assert_eq!((header.protocol, header.ports), (protocol::TCP, Some(PORTS)));
    assert_eq!((header.tcp.expect("TCP").payload, header.bytes), (3, 40 + chain.len() as u32));
}

#[test]
fn fragments_of_ipv6() {
    let first = [fragment_header(17, true, 0), udp(PORTS, 3000)[..1448].to_vec()].concat();
    assert_eq!(parse(&v6().packet(44, &first)).map(|h| (h.protocol, h.ports)), Ok((17, Some(PORTS))));
    let later = [fragment_header(17, false, 1448), vec![1; 100]].concat();
    assert_eq!(parse(&v6().packet(44, &later)).map(|h| (h.protocol, h.ports)), Ok((17, None)));
}

/// A packet, and why it is rejected.
fn rejected() -> Vec<(Malformed, Vec<u8>)> {
    let changed = |mut packet: Vec<u8>, at: usize, byte: u8| {
        packet[at] = byte;
        packet
    };
    let cut = |packet: Vec<u8>, length: usize| packet[..length].to_vec();
    let fragment = |fragment| Ip { fragment, ..v4() };
    let optional = |options: &[u8]| Ip { options: options.to_vec(), ..v4() }.udp(PORTS, 4);
    let chained = |headers: &[Vec<u8>]| headers.concat();
    use Malformed as M;
    vec![
        (M::Empty, vec![]),
        (M::Version, changed(v4().udp(PORTS, 4), 0, 0x55)),
        (M::Truncated, cut(v4().udp(PORTS, 4), 19)),
        (M::Truncated, cut(v6().udp(PORTS, 4), 39)),
        (M::HeaderLength, changed(v4().udp(PORTS, 4), 0, 0x44)),
        (M::HeaderBeyondPacket, changed(v4().udp(PORTS, 4), 3, 19)),
        (M::HeaderBeyondPacket, changed(v4().packet(50, &[]), 0, 0x46)),
        (M::TotalLength, cut(v4().udp(PORTS, 4), 31)),
        (M::TotalLength, cut(v6().udp(PORTS, 4), 51)),
        (M::Option, optional(&[148, 1, 0, 0])),
        (M::Option, optional(&[148, 5, 0, 0])),
        (M::Option, optional(&[1, 1, 1, 7])),
        (M::Checksum, changed(v4().udp(PORTS, 4), 11, 0)),
        (M::Expired, Ip { ttl: 1, ..v4() }.udp(PORTS, 5)),
        (M::Expired, Ip { ttl: 1, ..v6() }.udp(PORTS, 5)),
        (M::Fragment, fragment(0x2000).packet(17, &udp(PORTS, 5))),
        (M::Fragment, fragment(0x2001).packet(17, &[])),
        (M::Fragment, fragment(0x1fff).packet(17, &[0; 8])),
        (M::Fragment, v6().packet(44, &chained(&[fragment_header(17, true, 0), udp(PORTS, 5)]))),
        (M::Fragment, v6().packet(44, &chained(&[fragment_header(17, false, 0xfff8), udp(PORTS, 5)]))),
        (M::Jumbogram, v6().packet(0, &[])),
        (M::ExtensionTruncated, v6().packet(0, &[6])),
        (M::ExtensionTruncated, v6().packet(60, &extension(6, 16)[..15])),
        (M::ExtensionTruncated, v6().packet(44, &fragment_header(6, false, 0)[..7])),
        (M::ExtensionTruncated, v6().packet(51, &[6, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
        (M::ExtensionOrder, v6().packet(60, &chained(&[extension(0, 8), extension(6, 8)]))),
        (M::ExtensionOrder, v6().packet(44, &chained(&[fragment_header(44, true, 0), vec![0; 8]]))),
        (M::ExtensionCount, v6().packet(60, &chained(&vec![extension(60, 8); 9]))),
        (M::HeaderChain, v6().packet(44, &chained(&[fragment_header(6, true, 0), vec![0; 8]]))),
        (
            M::HeaderChain,
            v6().packet(44, &chained(&[fragment_header(60, true, 0), extension(6, 24)[..8].to_vec()])),
        ),
        (M::TcpTruncated, v4().packet(6, &tcp(PORTS, ACK, 1, 1, 0)[..19])),
        (M::TcpTruncated, v6().packet(6, &tcp(PORTS, ACK, 1, 1, 0)[..31])),
        (M::TcpDataOffset, changed(v4().tcp(PORTS, ACK, 1, 1, 0), 32, 4 << 4)),
        (M::UdpTruncated, v6().packet(17, &udp(PORTS, 5)[..7])),
        (M::UdpLength, v4().packet(17, &udp(PORTS, 5)[..12])),
        (M::UdpLength, changed(v4().udp(PORTS, 4), 25, 7)),
        (M::IcmpTruncated, v4().packet(1, &[8, 0, 0, 0, 0, 1, 0])),
        (M::IcmpTruncated, v6().packet(58, &[128, 0, 0])),
    ]
}

#[test]
fn every_reason_to_refuse_a_packet() {
    let mut counts = MalformedCounts::default();
    for (reason, packet) in rejected() {
        // A time to live that ends is seen by the router that lowers it.
        let read = parse_verified(&packet).and_then(|_| wire::lower_ttl(&mut packet.clone(), 1));
        assert_eq!(read, Err(reason), "{packet:02x?}");
        assert_eq!(parse(&packet).is_ok(), matches!(reason, Malformed::Checksum | Malformed::Expired));
        counts.count(reason);
    }
    let seen: Vec<_> = counts.iter().map(|(reason, _)| reason).collect();
    assert_eq!(seen, Malformed::ALL, "a reason without an example");
    assert_eq!(counts.total(), rejected().len() as u64);
    let mut names: Vec<_> = Malformed::ALL.iter().map(|reason| reason.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Malformed::ALL.len());
}

#[test]
fn every_cut_of_a_packet_is_refused() {
    for packet in [v4().tcp(PORTS, ACK, 1, 1, 30), v6().udp(PORTS, 30), v4().udp(PORTS, 0)] {
        for length in 0..packet.len() {
            assert!(parse(&packet[..length]).is_err(), "{length} bytes of {packet:02x?}");
        }
    }
}

/// Bytes that are nearly a packet: a good one with some bytes changed, and cut or padded.
fn nearly_a_packet() -> impl Strategy<Value = Vec<u8>> {
    let good: Vec<Vec<u8>> = rejected()
        .into_iter()
        .map(|(_, packet)| packet)
        .chain([v4().tcp(PORTS, SYN, 1, 1, 9), v6().tcp(PORTS, ACK, 1, 1, 9), v6().udp(PORTS, 9)])
        .collect();
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
    (prop::sample::select(good), changes, 0usize..200).prop_map(|(mut packet, changes, length)| {
        for (at, byte) in changes.into_iter().filter(|_| !packet.is_empty()).collect::<Vec<_>>() {
            let at = at.index(packet.len());
            packet[at] = byte;
        }
        if length < 100 {
            packet.resize(length, 0);
        }
        packet
    })
}

proptest! {
    #[test]
    fn bytes_of_any_kind_have_an_answer(packet in prop::collection::vec(any::<u8>(), 0..120)) {
        if let Ok(header) = parse(&packet) {
            prop_assert!(header.bytes as usize <= packet.len());
        }
    }

    #[test]
    fn what_is_read_is_within_the_packet(packet in nearly_a_packet()) {
        if let Ok(header) = parse(&packet) {
            prop_assert!(header.bytes as usize <= packet.len());
            prop_assert!(header.dscp < 64 && header.flow_label < 1 << 20);
            prop_assert!(header.tcp.is_none_or(|tcp| tcp.payload < header.bytes));
            prop_assert_eq!(parse(&packet[..header.bytes as usize]), Ok(header));
        }
    }

    #[test]
    fn a_rewritten_header_is_as_if_made_so(
        traffic_class in any::<u8>(), ttl in any::<u8>(), from in any::<u32>(), dscp in 0u8..64, options in 0usize..10, routers in any::<u8>(),
    ) {
        let from = std::net::Ipv4Addr::from(from).to_string();
        let made = |traffic_class| Ip { traffic_class, ttl, options: vec![1; 4 * options], ..Ip::new(&from, "10.0.0.2") }.udp(PORTS, 4);
        let mut packet = made(traffic_class);
        wire::set_dscp(&mut packet, dscp);
        prop_assert_eq!(&packet, &made(traffic_class & 3 | dscp << 2));
        wire::set_ce(&mut packet);
        prop_assert_eq!(&packet, &made(3 | dscp << 2));
        prop_assert_eq!(parse_verified(&packet).map(|h| (h.dscp, h.ecn)), Ok((dscp, Ecn::Ce)));
        let lowered = |ip: Ip| Ip { traffic_class: 3 | dscp << 2, ttl: ttl - routers, ..ip }.udp(PORTS, 4);
        if ttl > routers {
            prop_assert_eq!(wire::lower_ttl(&mut packet, routers), Ok(()));
            prop_assert_eq!(&packet, &lowered(Ip { options: vec![1; 4 * options], ..Ip::new(&from, "10.0.0.2") }));
        }
        let made = |traffic_class| Ip { traffic_class, ttl, flow_label: 0xfffff, ..v6() }.udp(PORTS, 4);
        let mut packet = made(traffic_class);
        wire::set_dscp(&mut packet, dscp);
        prop_assert_eq!(&packet, &made(traffic_class & 3 | dscp << 2));
        wire::set_ce(&mut packet);
        prop_assert_eq!(&packet, &made(3 | dscp << 2));
        if ttl > routers {
            prop_assert_eq!(wire::lower_ttl(&mut packet, routers), Ok(()));
            prop_assert_eq!(&packet, &lowered(Ip { flow_label: 0xfffff, ..v6() }));
        }
    }

    #[test]
    fn rewriting_is_the_checksum_computed_anew(
        packet in nearly_a_packet(), dscp in any::<u8>(), routers in any::<u8>(),
    ) {
        let mut rewritten = packet.clone();
        wire::set_dscp(&mut rewritten, dscp);
        wire::set_ce(&mut rewritten);
        let is_alive = wire::lower_ttl(&mut rewritten, routers).is_ok();
        prop_assert_eq!(rewritten.len(), packet.len());
        if parse_verified(&packet).is_ok_and(|h| h.version == 4) {
            prop_assert_eq!(&rewritten, &common::with_checksum(rewritten.clone()));
            let read = parse_verified(&rewritten).map(|h| h.ttl);
            let ttl = packet[8] - if is_alive { routers } else { 0 };
            prop_assert_eq!(read, Ok(ttl));
        }
    }
}
