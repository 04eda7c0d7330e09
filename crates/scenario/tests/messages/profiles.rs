//! The profiles of TCP: `transport` and `tcp = { ... }`.

use aqmlab_netsim::plan::{Size, Transport};
use aqmlab_scenario::Scenario;
use aqmlab_transport::TcpConfig;
use aqmlab_transport::rfc::{Config, CongestionControl};

use super::{VALID, accepted, exchange, refused};

#[test]
fn a_transport_belongs_to_a_profile() {
    refused(
        VALID,
        "count = 2",
        &[
            (
                "transport = \"newreno\"\ntcp = { profile = \"rfc\" }",
                &[
                    r#"net.toml:21:13: flow.tcp.transport: the flow is of profile rfc, which has no such transport (allowed: transport = "tcp" with tcp.congestion_control of {controllers})"#,
                ],
            ),
            (
                "transport = \"tcp\"\ntcp = { profile = \"ns2-2.35\" }",
                &[
                    r#"net.toml:21:13: flow.tcp.transport: the flow is of profile ns2-2.35, which has no such transport (allowed: transport of tahoe, reno, newreno, sack, or profile = "rfc")"#,
                ],
            ),
            (
                r#"tcp = { profile = "rfc793" }"#,
                &[
                    r#"net.toml:21:19: flow.tcp.tcp.profile: "rfc793" is not known (allowed: ns2-2.35, rfc; did you mean "rfc"?)"#,
                ],
            ),
            (
                r#"tcp = "reno""#,
                &["net.toml:21:7: flow.tcp.tcp: is text (allowed: a table with options of TCP)"],
            ),
        ],
    );
}

#[test]
fn a_profile_has_its_own_options() {
    refused(
        VALID,
        "count = 2",
        &[
            (
                "transport = \"sack\"\ntcp = { congestion_control = \"cubic\" }",
                &[
                    "net.toml:22:9: flow.tcp.tcp.congestion_control: is of profile rfc, and this flow is of profile ns2-2.35 (allowed: profile, window, header, ack_size, initial_window, initial_ssthresh, syn, delayed_ack, ecn, limited_transmit, min_rto, max_rto, initial_rto, tick, clock_offset, max_burst, timestamps)",
                ],
            ),
            (
                "transport = \"tcp\"\npacket_size = \"1000B\"",
                &[
                    r#"net.toml:22:1: flow.tcp.packet_size: in profile rfc the payload of a segment is tcp.mss (allowed: tcp = { mss = "1448B" })"#,
                ],
            ),
            (
                "transport = \"tcp\"\ntcp = { congestion_control = \"unheard-of\" }",
                &[
                    r#"net.toml:22:30: flow.tcp.tcp.congestion_control: "unheard-of" is not known (allowed: {controllers})"#,
                ],
            ),
            (
                "transport = \"tcp\"\ntcp = { congestion_control = \"prague\", ecn = true }",
                &[
                    r#"net.toml:22:46: flow.tcp.tcp.ecn: prague does not work with feedback "classic" (allowed: "accurate")"#,
                ],
            ),
            (
                "transport = \"tcp\"\ntcp = { ecn = \"exact\" }",
                &[
                    r#"net.toml:22:15: flow.tcp.tcp.ecn: "exact" is not known (allowed: true or false, or off, classic, dctcp, accurate)"#,
                ],
            ),
            (
                "transport = \"tcp\"\ntcp = { window = \"100p\" }",
                &[
                    r#"net.toml:22:18: flow.tcp.tcp.window: "p" is not a unit for this (allowed: bytes such as "1000B", from 64 to 1000000000; units B, kB, KB, MB, KiB, MiB)"#,
                ],
            ),
            (
                "transport = \"tcp\"\ntcp = { min_rto = \"50s\", max_rto = \"20s\" }",
                &[
                    "net.toml:22:19: flow.tcp.tcp.min_rto: min_rto (50 s) is above max_rto (20 s) (allowed: min_rto <= max_rto)",
                ],
            ),
            (
                "transport = \"tcp\"\ntcp = { sack = false, rack = true }",
                &[
                    "net.toml:22:30: flow.tcp.tcp.rack: rack needs selective acknowledgements (allowed: rack = false, or sack = true)",
                ],
            ),
            (
                "transport = \"tcp\"\ntcp = { loss_detection = \"quic\", rack = true }",
                &[
                    r#"net.toml:22:41: flow.tcp.tcp.rack: rack = true does not work with loss_detection = "quic" (allowed: rack = false)"#,
                ],
            ),
            (
                "transport = \"tcp\"\ntcp = { congestion_control = \"ledbat\", loss_detection = \"quic\" }",
                &[
                    r#"net.toml:22:57: flow.tcp.tcp.loss_detection: ledbat measures delays by TCP's time stamps, which QUIC lacks (allowed: "tcp")"#,
                ],
            ),
        ],
    );
    let tick =
        super::messages(&exchange(VALID, "count = 2", "transport = \"tcp\"\ntcp = { tick = \"1ms\" }"), &[]);
    let expected = "net.toml:22:9: flow.tcp.tcp.tick: is of profile ns2-2.35, and this flow is of profile rfc (allowed: ";
    assert!(tick.len() == 1 && tick[0].starts_with(expected), "{tick:?}");
}

/// Configuration and size of the first flow.
fn rfc(scenario: &Scenario) -> (&Config, Size) {
    match &*scenario.plan.flows[0].transport {
        Transport::Tcp { config: TcpConfig::Rfc(config), size, .. } => (config, size.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_rfc_profile_counts_bytes() {
    let with = |keys: &str| accepted(&exchange(VALID, "count = 2", keys), &[]);
    let plain = with("transport = \"tcp\"");
    assert_eq!(rfc(&plain), (&Config::linux(CongestionControl::Cubic), Size::Greedy));
    assert_eq!(rfc(&with("tcp = { profile = \"rfc\" }")), rfc(&plain));
    let reno = with("transport = \"tcp\"\nsize = \"10001B\"\ntcp = { congestion_control = \"reno\" }");
    assert_eq!(rfc(&reno), (&Config::linux(CongestionControl::Reno), Size::Bytes(10_001)));
    assert_eq!(rfc(&with("transport = \"tcp\"\nsize = \"7p\"")).1, Size::Packets(7));
    assert_eq!(
        rfc(&with("transport = \"tcp\"\nsize = { uniform = [\"7KB\", \"7KB\"] }")).1,
        Size::Bytes(7000)
    );
}
