//! `[[flow]]`.

use aqmlab_scenario::parse;

use super::{CHAIN, DUMBBELL, VALID, exchange, messages, refused};

#[test]
fn names() {
    refused(
        VALID,
        "name = \"tcp\"\n",
        &[("", &["net.toml:19:1: flow[0].name: is missing (allowed: a name of letters, digits, _ and -)"])],
    );
    refused(
        VALID,
        r#"name = "tcp""#,
        &[
            (
                r#"name = "my.tcp""#,
                &[
                    r#"net.toml:20:8: flow."my.tcp".name: "my.tcp" is not a name (allowed: a name of letters, digits, _ and -)"#,
                ],
            ),
            (
                r#"name = """#,
                &[
                    r#"net.toml:20:8: flow."".name: "" is not a name (allowed: a name of letters, digits, _ and -)"#,
                ],
            ),
        ],
    );
    refused(
        VALID,
        "[[flow]]",
        &[
            (
                "[[flow]]\nname = \"tcp\"\nfrom = \"a\"\nto = \"b\"\n\n[[flow]]",
                &["net.toml:25:8: flow.tcp.name: there is a flow of this name already, on line 19"],
            ),
            ("[flow]", &["net.toml:19:1: flow: is a table (allowed: [[flow]] entries)"]),
        ],
    );
    refused(
        VALID,
        "[[flow]]\nname = \"tcp\"\ncount = 2\nfrom = \"a\"\nto = \"b\"\n",
        &[
            ("", &["net.toml:1:1: flow: is missing (allowed: [[flow]] entries)"]),
            ("[flow]", &["net.toml:19:1: flow: is a table (allowed: [[flow]] entries)"]),
        ],
    );
}

#[test]
fn keys_of_a_table_inside_are_suggested() {
    let found = messages(&exchange(VALID, "count = 2", "congestion_control = \"cubic\""), &[]);
    let [message] = &found[..] else { panic!("{found:?}") };
    assert!(
        message
            .starts_with("net.toml:21:1: flow.tcp.congestion_control: unknown key (allowed: name, count, "),
        "{message}"
    );
    assert!(message.ends_with("(34 in all); did you mean \"tcp.congestion_control\"?)"), "{message}");
}

#[test]
fn counts() {
    refused(
        VALID,
        "count = 2",
        &[
            (
                "count = 0",
                &[
                    "net.toml:21:9: flow.tcp.count: 0 is out of range (allowed: a whole number from 1 to 1000000)",
                ],
            ),
            (
                "count = -1",
                &[
                    "net.toml:21:9: flow.tcp.count: -1 is out of range (allowed: a whole number from 1 to 1000000)",
                ],
            ),
            (
                "count = 1.5",
                &[
                    "net.toml:21:9: flow.tcp.count: 1.5 is not a whole number (allowed: a whole number from 1 to 1000000)",
                ],
            ),
            (
                r#"count = "2""#,
                &["net.toml:21:9: flow.tcp.count: is text (allowed: a whole number from 1 to 1000000)"],
            ),
            (
                "count = 1000001",
                &[
                    "net.toml:21:9: flow.tcp.count: 1000001 is out of range (allowed: a whole number from 1 to 1000000)",
                ],
            ),
            (
                "count = 9223372036854775807",
                &[
                    "net.toml:21:9: flow.tcp.count: 9223372036854775807 is out of range (allowed: a whole number from 1 to 1000000)",
                ],
            ),
            (
                "count = 600000\nfrom = \"a\"\nto = \"b\"\n\n[[flow]]\nname = \"more\"\ncount = 600000",
                &[
                    "net.toml:27:9: flow.more.count: makes 1200000 flows in all (allowed: at most 1000000 in all groups together)",
                ],
            ),
        ],
    );
}

#[test]
fn ends_and_routes() {
    refused(
        VALID,
        "count = 2\nfrom = \"a\"\nto = \"b\"",
        &[
            (
                "from = \"a\"\nto = \"d\"\n\n[[link]]\nfrom = \"c\"\nto = \"d\"\nrate = \"1Mbps\"\ndelay = \"1ms\"",
                &["net.toml:19:1: flow.tcp: no route from a to d, and none for acknowledgements from d to a"],
            ),
            (
                "from = \"b\"\nto = \"c\"\n\n[[link]]\nfrom = \"b\"\nto = \"c\"\nrate = \"1Mbps\"\ndelay = \"1ms\"\nduplex = false",
                &["net.toml:19:1: flow.tcp: no route for acknowledgements from c to b"],
            ),
            (
                "from = \"a\"\nto = \"a\"",
                &["net.toml:22:6: flow.tcp.to: the flow would end where it begins (allowed: another node)"],
            ),
            (
                "from = \"a\"\nto = \"c\"",
                &[r#"net.toml:22:6: flow.tcp.to: unknown node "c" (allowed: a, b)"#],
            ),
            (
                "from = \"a\"\nto = \"bb\"",
                &[r#"net.toml:22:6: flow.tcp.to: unknown node "bb" (allowed: a, b)"#],
            ),
            (r#"to = "b""#, &["net.toml:19:1: flow.tcp.from: is missing (allowed: a, b)"]),
            (
                "from = \"a\"\nto = 7",
                &[
                    "net.toml:22:6: flow.tcp.to: is a whole number (allowed: a name of letters, digits and _ - . : / >)",
                ],
            ),
            (
                "from = \"a\"\nto = \"b\"\nleft = { delay = \"1ms\" }",
                &["net.toml:23:1: flow.tcp.left: only a flow in a dumbbell has left"],
            ),
        ],
    );
}

#[test]
fn ends_in_a_dumbbell() {
    refused(
        DUMBBELL,
        "count = 2",
        &[
            (
                r#"from = "a""#,
                &[
                    r#"net.toml:16:8: flow.tcp.from: "a" is not a side of the dumbbell (allowed: left, right)"#,
                ],
            ),
            (
                r#"from = "each""#,
                &[
                    r#"net.toml:16:8: flow.tcp.from: "each" is not a side of the dumbbell (allowed: left, right)"#,
                ],
            ),
            (
                r#"from = "rihgt""#,
                &[
                    r#"net.toml:16:8: flow.tcp.from: "rihgt" is not a side of the dumbbell (allowed: left, right; did you mean "right"?)"#,
                ],
            ),
            (
                "from = \"right\"\nto = \"right\"",
                &[
                    "net.toml:17:6: flow.tcp.to: the flow would end on the side where it begins (allowed: the other side)",
                ],
            ),
            (
                "to = \"left\"\nfrom = \"left\"",
                &[
                    "net.toml:16:6: flow.tcp.to: the flow would end on the side where it begins (allowed: the other side)",
                ],
            ),
            (
                r#"host_from = { delay = "1ms" }"#,
                &["net.toml:16:1: flow.tcp.host_from: only a flow in a chain has host_from"],
            ),
        ],
    );
}

#[test]
fn ends_in_a_chain() {
    refused(
        CHAIN,
        r#"from = "r1""#,
        &[
            (r#"from = "r4""#, &[r#"net.toml:14:8: flow.tcp.from: unknown router "r4" (allowed: r1 to r3)"#]),
            (
                r#"from = "1""#,
                &[
                    r#"net.toml:14:8: flow.tcp.from: unknown router "1" (allowed: r1 to r3; did you mean "r1"?)"#,
                ],
            ),
            (
                r#"from = "r01""#,
                &[
                    r#"net.toml:14:8: flow.tcp.from: unknown router "r01" (allowed: r1 to r3; did you mean "r1"?)"#,
                ],
            ),
            (
                r#"from = "r3""#,
                &["net.toml:15:6: flow.tcp.to: the flow would end where it begins (allowed: another router)"],
            ),
        ],
    );
    refused(
        CHAIN,
        "from = \"r1\"\n",
        &[("", &["net.toml:11:1: flow.tcp.from: is missing (allowed: r1 to r3)"])],
    );
    refused(
        CHAIN,
        r#"from = "r1""#,
        &[(
            "from = \"r1\"\nleft = { delay = \"1ms\" }",
            &["net.toml:15:1: flow.tcp.left: only a flow in a dumbbell has left"],
        )],
    );
}

#[test]
fn lists_of_wrong_length() {
    refused(
        VALID,
        "count = 2",
        &[
            (
                "count = 2\nstart = [\"0s\"]",
                &[
                    "net.toml:22:9: flow.tcp.start: the list has 1 entry, the group 2 flows (allowed: a list of 2)",
                ],
            ),
            (
                "count = 2\ntcp = { clock_offset = [0.001, 0.002, 0.003] }",
                &[
                    "net.toml:22:24: flow.tcp.tcp.clock_offset: the list has 3 entries, the group 2 flows (allowed: a list of 2)",
                ],
            ),
        ],
    );
    refused(
        DUMBBELL,
        "count = 2",
        &[(
            "count = 2\nleft = { delay = [\"1ms\"] }",
            &[
                "net.toml:17:18: flow.tcp.left.delay: the list has 1 entry, the group 2 flows (allowed: a list of 2)",
            ],
        )],
    );
    refused(
        CHAIN,
        "count = 2",
        &[(
            "count = 2\nhost_to = { delay = [\"1ms\", \"2ms\", \"3ms\"] }",
            &[
                "net.toml:14:21: flow.tcp.host_to.delay: the list has 3 entries, the group 2 flows (allowed: a list of 2)",
            ],
        )],
    );
}

#[test]
fn starts() {
    refused(
        VALID,
        "count = 2",
        &[
            (
                "count = 2\nstart = \"-1s\"",
                &[r#"net.toml:22:9: flow.tcp.start: -1s is negative (allowed: a time such as "10ms")"#],
            ),
            (
                "count = 2\nstart = 1",
                &[r#"net.toml:22:9: flow.tcp.start: 1 has no unit (allowed: a time such as "10ms")"#],
            ),
            (
                "count = 2\nstart = [\"0s\", 5]",
                &[r#"net.toml:22:16: flow.tcp.start: 5 has no unit (allowed: a time such as "10ms")"#],
            ),
            (
                "count = 2\nstart = {}",
                &[
                    r#"net.toml:22:9: flow.tcp.start: is not exactly one of uniform, every, poisson and load (allowed: { uniform = ["0s", "10ms"] }, { every = "100ms" }, { poisson = "50/s" } or { load = 0.8 })"#,
                ],
            ),
            (
                "count = 2\nstart = { uniform = [\"0s\", \"1s\"], every = \"1s\" }",
                &[
                    r#"net.toml:22:9: flow.tcp.start: is not exactly one of uniform, every, poisson and load (allowed: { uniform = ["0s", "10ms"] }, { every = "100ms" }, { poisson = "50/s" } or { load = 0.8 })"#,
                ],
            ),
            (
                "count = 2\nstart = { uniform = [\"0s\"] }",
                &[
                    r#"net.toml:22:21: flow.tcp.start.uniform: is not a list of two times (allowed: ["0s", "10ms"])"#,
                ],
            ),
            (
                "count = 2\nstart = { uniform = [\"2s\", \"1s\"] }",
                &["net.toml:22:21: flow.tcp.start.uniform: the second time is before the first"],
            ),
            (
                "count = 2\nstart = { every = \"0s\" }",
                &[
                    r#"net.toml:22:19: flow.tcp.start.every: must be above 0 (allowed: a time above 0 such as "10ms")"#,
                ],
            ),
            (
                "count = 2\nstart = \"5s\"\nstop = \"5s\"",
                &[
                    "net.toml:23:8: flow.tcp.stop: the flow would stop before it starts (allowed: after start (5 s))",
                ],
            ),
            (
                "count = 2\nstop = \"1s\"\nstart = [\"0s\", \"1s\"]",
                &[
                    "net.toml:22:8: flow.tcp.stop: the flow would stop before it starts (allowed: after start (1 s))",
                ],
            ),
            (
                "count = 2\nstop = \"0s\"",
                &[
                    "net.toml:22:8: flow.tcp.stop: the flow would stop before it starts (allowed: after start (0 s))",
                ],
            ),
            (
                "count = 2\nstart = { every = \"200000000min\" }",
                &[
                    r#"net.toml:22:19: flow.tcp.start.every: is longer than 213 days, the longest time there is (allowed: a time above 0 such as "10ms")"#,
                ],
            ),
        ],
    );
}

#[test]
fn transports() {
    refused(
        VALID,
        "count = 2",
        &[
            (
                r#"transport = "newren""#,
                &[
                    r#"net.toml:21:13: flow.tcp.transport: "newren" is not known (allowed: tahoe, reno, newreno, sack, tcp, udp, scream; did you mean "newreno"?)"#,
                ],
            ),
            (
                r#"transport = "vegas""#,
                &[
                    r#"net.toml:21:13: flow.tcp.transport: "vegas" is not known (allowed: tahoe, reno, newreno, sack, tcp, udp, scream)"#,
                ],
            ),
            (
                r#"transport = "cubic""#,
                &[
                    r#"net.toml:21:13: flow.tcp.transport: "cubic" is a congestion control of TCP (allowed: transport = "tcp" with tcp = { congestion_control = "cubic" })"#,
                ],
            ),
            (
                r#"transport = "udp""#,
                &[
                    r#"net.toml:19:1: flow.tcp.rate: is missing (allowed: a rate above 0 such as "10Mbps", which udp needs)"#,
                ],
            ),
            (
                r#"rate = "1Mbps""#,
                &[
                    r#"net.toml:21:1: flow.tcp.rate: a flow of TCP has no rate (allowed: transport = "udp", or no rate)"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\nsize = \"1MB\"\ntcp = { window = 5 }",
                &[
                    "net.toml:23:1: flow.tcp.size: a flow of udp has no size (allowed: rate, with start and stop)",
                    "net.toml:24:1: flow.tcp.tcp: a flow of udp has no options of TCP",
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npacket_size = \"100KB\"",
                &[
                    r#"net.toml:23:15: flow.tcp.packet_size: 100000 is out of range (allowed: bytes such as "1000B", from 1 to 65535)"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"-1Mbps\"",
                &[
                    r#"net.toml:22:8: flow.tcp.rate: -1Mbps is negative (allowed: a rate above 0 such as "10Mbps")"#,
                ],
            ),
        ],
    );
}

#[test]
fn sizes() {
    refused(
        VALID,
        "count = 2",
        &[
            (
                "size = 100",
                &[
                    r#"net.toml:21:8: flow.tcp.size: 100 has no unit (allowed: a size above 0 such as "1MB" or "100p")"#,
                ],
            ),
            (
                r#"size = "0p""#,
                &[
                    r#"net.toml:21:8: flow.tcp.size: must be above 0 (allowed: a size above 0 such as "1MB" or "100p")"#,
                ],
            ),
            (
                r#"size = "0B""#,
                &[
                    r#"net.toml:21:8: flow.tcp.size: must be above 0 (allowed: a size above 0 such as "1MB" or "100p")"#,
                ],
            ),
            (
                r#"size = "1.5p""#,
                &[
                    r#"net.toml:21:8: flow.tcp.size: 1.5 is not a whole number (allowed: a size above 0 such as "1MB" or "100p")"#,
                ],
            ),
            (
                r#"size = "-1MB""#,
                &[
                    r#"net.toml:21:8: flow.tcp.size: -1MB is negative (allowed: a size above 0 such as "1MB" or "100p")"#,
                ],
            ),
            (
                r#"size = "1e30p""#,
                &[
                    r#"net.toml:21:8: flow.tcp.size: is too large (allowed: a size above 0 such as "1MB" or "100p")"#,
                ],
            ),
            (
                r#"size = "1e30MB""#,
                &[
                    r#"net.toml:21:8: flow.tcp.size: is too large (allowed: a size above 0 such as "1MB" or "100p")"#,
                ],
            ),
            (
                r#"size = "big""#,
                &[
                    r#"net.toml:21:8: flow.tcp.size: "big" does not begin with a number (allowed: a size above 0 such as "1MB" or "100p")"#,
                ],
            ),
            (
                r#"packet_size = "0B""#,
                &[
                    r#"net.toml:21:15: flow.tcp.packet_size: 0 is out of range (allowed: bytes such as "1000B", from 1 to 65535)"#,
                ],
            ),
            (
                r#"packet_size = "10p""#,
                &[
                    r#"net.toml:21:15: flow.tcp.packet_size: "p" is not a unit for this (allowed: bytes such as "1000B", from 1 to 65535; units B, kB, KB, MB, KiB, MiB)"#,
                ],
            ),
            (
                "packet_size = 1.5",
                &[
                    r#"net.toml:21:15: flow.tcp.packet_size: 1.5 is not a whole number (allowed: bytes such as "1000B", from 1 to 65535)"#,
                ],
            ),
        ],
    );
}

#[test]
fn tcp_options() {
    refused(
        VALID,
        "count = 2",
        &[
            (
                r#"tcp = { window = "0p" }"#,
                &[
                    r#"net.toml:21:18: flow.tcp.tcp.window: 0 is out of range (allowed: packets such as "20p", from 1 to 1000000)"#,
                ],
            ),
            (
                r#"tcp = { window = "5KB" }"#,
                &[
                    r#"net.toml:21:18: flow.tcp.tcp.window: is in bytes (allowed: packets such as "20p", from 1 to 1000000)"#,
                ],
            ),
            (
                "tcp = { window = -1 }",
                &[
                    r#"net.toml:21:18: flow.tcp.tcp.window: -1 is negative (allowed: packets such as "20p", from 1 to 1000000)"#,
                ],
            ),
            (
                "tcp = { window = nan }",
                &[
                    r#"net.toml:21:18: flow.tcp.tcp.window: is not a number (allowed: packets such as "20p", from 1 to 1000000)"#,
                ],
            ),
            (
                r#"tcp = { header = "4000B" }"#,
                &[
                    r#"net.toml:21:18: flow.tcp.tcp.header: 4000 is out of range (allowed: bytes such as "1000B", from 1 to 1000)"#,
                ],
            ),
            (
                r#"tcp = { initial_ssthresh = "2.5p" }"#,
                &[
                    r#"net.toml:21:28: flow.tcp.tcp.initial_ssthresh: 2.5 is not a whole number (allowed: whole packets such as "20p", from 2 to 1000000)"#,
                ],
            ),
            (
                r#"tcp = { syn = "no" }"#,
                &["net.toml:21:15: flow.tcp.tcp.syn: is text (allowed: true or false)"],
            ),
            (
                "tcp = { delayed_ack = true }",
                &[
                    r#"net.toml:21:23: flow.tcp.tcp.delayed_ack: is true (allowed: false, or a time such as "10ms", from 0.000000001 to 60 s)"#,
                ],
            ),
            (
                r#"tcp = { delayed_ack = "0s" }"#,
                &[
                    r#"net.toml:21:23: flow.tcp.tcp.delayed_ack: is out of range (allowed: a time such as "10ms", from 0.000000001 to 60 s)"#,
                ],
            ),
            (
                "tcp = { min_rto = 0.2 }",
                &[
                    r#"net.toml:21:19: flow.tcp.tcp.min_rto: 0.2 has no unit (allowed: a time such as "10ms", from 0 to 3600 s)"#,
                ],
            ),
            (
                r#"tcp = { min_rto = "2h" }"#,
                &[
                    r#"net.toml:21:19: flow.tcp.tcp.min_rto: "h" is not a unit for this (allowed: a time such as "10ms", from 0 to 3600 s; units ns, us, ms, s, min)"#,
                ],
            ),
            (
                r#"tcp = { min_rto = "5s", max_rto = "1s" }"#,
                &[
                    "net.toml:21:19: flow.tcp.tcp.min_rto: min_rto (5 s) is above max_rto (1 s) (allowed: min_rto <= max_rto)",
                ],
            ),
            (
                "tcp = { max_burst = -1 }",
                &[
                    r#"net.toml:21:21: flow.tcp.tcp.max_burst: -1 is negative (allowed: whole packets such as "20p", from 0 to 1000000)"#,
                ],
            ),
            (
                "tcp = { clock_offset = -1 }",
                &[
                    r#"net.toml:21:24: flow.tcp.tcp.clock_offset: -1 is out of range (allowed: seconds, or a time such as "2ms", from 0 to 10 s)"#,
                ],
            ),
            (
                r#"tcp = { clock_offset = "1 day" }"#,
                &[
                    r#"net.toml:21:24: flow.tcp.tcp.clock_offset: "day" is not a unit for this (allowed: seconds, or a time such as "2ms", from 0 to 10 s; units ns, us, ms, s, min)"#,
                ],
            ),
            (
                r#"tcp = { clock_offset = "2h" }"#,
                &[
                    r#"net.toml:21:24: flow.tcp.tcp.clock_offset: "h" is not a unit for this (allowed: seconds, or a time such as "2ms", from 0 to 10 s; units ns, us, ms, s, min)"#,
                ],
            ),
            (
                r#"tcp = { clock_offset = [0.1, "x"] }"#,
                &[
                    "net.toml:21:24: flow.tcp.tcp.clock_offset: the list has 2 entries, the group 1 flow (allowed: a list of 1)",
                    r#"net.toml:21:30: flow.tcp.tcp.clock_offset: "x" does not begin with a number (allowed: seconds, or a time such as "2ms", from 0 to 10 s)"#,
                ],
            ),
            (
                r#"tcp = { profile = "linux" }"#,
                &[r#"net.toml:21:19: flow.tcp.tcp.profile: "linux" is not known (allowed: ns2-2.35, rfc)"#],
            ),
            (
                r#"tcp = { tick = "0s" }"#,
                &[
                    r#"net.toml:21:16: flow.tcp.tcp.tick: is out of range (allowed: a time such as "10ms", from 0.000001 to 10 s)"#,
                ],
            ),
            (
                r#"tcp = { clock_offset = "5hours" }"#,
                &[
                    r#"net.toml:21:24: flow.tcp.tcp.clock_offset: "hours" is not a unit for this (allowed: seconds, or a time such as "2ms", from 0 to 10 s; units ns, us, ms, s, min)"#,
                ],
            ),
        ],
    );
}

#[test]
fn a_start_beyond_all_time() {
    refused(
        VALID,
        "count = 2",
        &[(
            "count = 1000000\nstart = { every = \"1min\" }",
            &[
                "net.toml:22:9: flow.tcp.start: the last flow would start after the longest time there is, 213 days",
            ],
        )],
    );
}

#[test]
fn poisson_starts() {
    let cases: [(&str, &str); 11] = [
        (
            "start = { poisson = 50 }",
            r#"start.poisson: 50 has no unit (allowed: a rate of events above 0 such as "50/s")"#,
        ),
        (
            "start = { poisson = \"50Hz\" }",
            r#"start.poisson: "Hz" is not a unit for this (allowed: a rate of events above 0 such as "50/s"; units /s, /ms, /min)"#,
        ),
        (
            "start = { poisson = \"0/s\" }",
            r#"start.poisson: must be above 0 (allowed: a rate of events above 0 such as "50/s")"#,
        ),
        (
            "start = { poisson = \"5/s\", headers = true }",
            "start.headers: headers belongs to load (allowed: load in place of poisson)",
        ),
        (
            "start = { every = \"5s\", until = \"9s\" }",
            "start.until: starts by every have no until (allowed: poisson or load)",
        ),
        (
            "start = { poisson = \"5/s\", from = \"9s\", until = \"9s\" }",
            "start.from: the process ends before it begins (allowed: from before the end of the process, 9 s)",
        ),
        (
            "start = { load = 0.5 }",
            "start.load: the flows have no size, so that arrivals have no load (allowed: a size of TCP, or poisson in place of load)",
        ),
        (
            "size = \"1MB\"\nstart = { load = 0 }",
            "start.load: 0 is out of range (allowed: a number above 0, at most 10)",
        ),
        (
            "size = \"1MB\"\nstart = { load = 0.5, link = \"bottelneck\" }",
            r#"start.link: unknown link "bottelneck" (allowed: "#,
        ),
        ("size = \"1MB\"\nstart = { poisson = \"1000/ms\" }", "start: makes "),
        (
            "stop = \"2s\"\nstart = { poisson = \"5/s\", until = \"3s\" }",
            "stop: the flow would stop before it starts (allowed: after start (3 s))",
        ),
    ];
    for (by, expected) in cases {
        let found = messages(&exchange(VALID, "count = 2", by), &[]);
        assert_eq!(found.len(), 1, "{by}: {found:?}");
        assert!(
            found[0].starts_with("net.toml:") && found[0].contains(&format!(": flow.tcp.{expected}")),
            "{found:?}"
        );
    }
    let text = exchange(VALID, "count = 2", "count = 3\nstart = { poisson = \"5/s\" }");
    let warnings = parse(&text, "net.toml", &[]).expect("valid").warnings;
    assert!(warnings[0].message.contains("but only the first 3 are flows"), "{warnings:?}");
}
