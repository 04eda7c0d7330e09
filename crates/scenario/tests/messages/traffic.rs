//! Sizes, rates and times of flows.

use super::{BUS, DUMBBELL, accepted, exchange, refused};

#[test]
fn sizes_drawn() {
    refused(
        BUS,
        "count = 2",
        &[
            (
                r#"size = { uniform = ["6MB", "100KB"] }"#,
                &["net.toml:17:20: flow.tcp.size.uniform: the second value is below the first"],
            ),
            (
                r#"size = { uniform = ["1MB"] }"#,
                &[
                    r#"net.toml:17:20: flow.tcp.size.uniform: is not a list of two values (allowed: { uniform = ["100KB", "6MB"] } or { exponential = "1MB" })"#,
                ],
            ),
            (
                r#"size = { uniform = "1MB" }"#,
                &[
                    r#"net.toml:17:20: flow.tcp.size.uniform: is text (allowed: a list, each a size above 0 such as "1MB" or "100p")"#,
                ],
            ),
            (
                r#"size = { uniform = ["0B", "1MB"] }"#,
                &[
                    r#"net.toml:17:21: flow.tcp.size.uniform: must be above 0 (allowed: a size above 0 such as "1MB" or "100p")"#,
                ],
            ),
            (
                "size = { uniform = [1, 2] }",
                &[
                    r#"net.toml:17:21: flow.tcp.size.uniform: 1 has no unit (allowed: a size above 0 such as "1MB" or "100p")"#,
                    r#"net.toml:17:24: flow.tcp.size.uniform: 2 has no unit (allowed: a size above 0 such as "1MB" or "100p")"#,
                ],
            ),
            (
                "size = {}",
                &[
                    r#"net.toml:17:8: flow.tcp.size: is not exactly one of uniform, exponential, pareto and cdf (allowed: { uniform = ["100KB", "6MB"] } or { exponential = "1MB" })"#,
                ],
            ),
            (
                r#"size = { exponential = "1MB", uniform = ["1B", "2B"] }"#,
                &[
                    r#"net.toml:17:8: flow.tcp.size: is not exactly one of uniform, exponential, pareto and cdf (allowed: { uniform = ["100KB", "6MB"] } or { exponential = "1MB" })"#,
                ],
            ),
            (
                r#"size = { exponentail = "1MB" }"#,
                &[
                    r#"net.toml:17:10: flow.tcp.size.exponentail: unknown key (allowed: uniform, exponential, pareto, cdf; did you mean "exponential"?)"#,
                ],
            ),
            (
                r#"size = { exponential = "1Mbps" }"#,
                &[
                    r#"net.toml:17:24: flow.tcp.size.exponential: "Mbps" is not a unit for this (allowed: a size above 0 such as "1MB" or "100p"; units p, B, kB, KB, MB, KiB, MiB)"#,
                ],
            ),
            (
                r#"size = { pareto = { mean = "12KB", shape = 1 } }"#,
                &[
                    "net.toml:17:44: flow.tcp.size.pareto.shape: 1 is out of range (allowed: a number above 1, at most 1000)",
                ],
            ),
            (
                r#"size = { pareto = { mean = "12KB", shape = 0.5 } }"#,
                &[
                    "net.toml:17:44: flow.tcp.size.pareto.shape: 0.5 is out of range (allowed: a number above 1, at most 1000)",
                ],
            ),
            (
                r#"size = { pareto = { mean = "12KB" } }"#,
                &[
                    "net.toml:17:19: flow.tcp.size.pareto.shape: is missing (allowed: a number above 1, at most 1000)",
                ],
            ),
            (
                r#"size = { pareto = "12KB" }"#,
                &["net.toml:17:19: flow.tcp.size.pareto: is text (allowed: a table with mean, shape)"],
            ),
            (
                "size = true",
                &[
                    r#"net.toml:17:8: flow.tcp.size: is true (allowed: a size above 0 such as "1MB" or "100p", or a table with uniform, exponential, pareto, cdf)"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\nsize = { exponential = \"1MB\" }",
                &[
                    "net.toml:19:1: flow.tcp.size: a flow of udp has no size (allowed: rate, with start and stop)",
                ],
            ),
        ],
    );
}

#[test]
fn patterns() {
    refused(
        BUS,
        "count = 2",
        &[
            (
                r#"pattern = "poisson""#,
                &[
                    r#"net.toml:17:1: flow.tcp.pattern: a flow of TCP has no pattern (allowed: transport = "udp", or no pattern)"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\narrivals = \"0 1500\"",
                &[
                    "net.toml:18:1: flow.tcp.rate: arrivals have their own times and lengths (allowed: no such key)",
                ],
            ),
            (
                "transport = \"udp\"\narrivals = \"1 1500\\n0.5 40\"",
                &[
                    "net.toml:18:12: flow.tcp.arrivals: line 2 of the arrivals is earlier than the one before (allowed: lines such as \"0.0125 1500\", seconds not falling, bytes from 1 to 65535)",
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npattern = \"poison\"",
                &[
                    r#"net.toml:19:11: flow.tcp.pattern: "poison" is not known (allowed: constant, poisson, or a table with on, off; did you mean "poisson"?)"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npattern = \"on-off\"",
                &[
                    r#"net.toml:19:11: flow.tcp.pattern: "on-off" is not known (allowed: constant, poisson, or a table with on, off)"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npattern = { on = \"1s\" }",
                &[
                    r#"net.toml:19:11: flow.tcp.pattern.off: is missing (allowed: a time such as "10ms", or a table with uniform, exponential, pareto, cdf)"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npattern = { on = \"0s\", off = \"1s\" }",
                &[
                    r#"net.toml:19:18: flow.tcp.pattern.on: must be above 0 (allowed: a time above 0 such as "10ms")"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npattern = { on = \"1s\", off = -1 }",
                &[r#"net.toml:19:30: flow.tcp.pattern.off: -1 has no unit (allowed: a time such as "10ms")"#],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npattern = { on = { exponential = \"0s\" }, off = \"1s\" }",
                &[
                    r#"net.toml:19:34: flow.tcp.pattern.on.exponential: must be above 0 (allowed: a time above 0 such as "10ms")"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npattern = { on = { exponential = \"10s\" }, off = { exponential = \"1MB\" } }",
                &[
                    r#"net.toml:19:65: flow.tcp.pattern.off.exponential: "MB" is not a unit for this (allowed: a time above 0 such as "10ms"; units ns, us, ms, s, min; did you mean "1ms"?)"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npattern = { on = \"1s\", off = { uniform = [\"0s\", \"0s\"] } }",
                &[
                    r#"net.toml:19:42: flow.tcp.pattern.off.uniform: must not be always 0 (allowed: { exponential = "10s" } or { uniform = ["5s", "15s"] })"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npattern = { on = \"1s\", off = { uniform = [\"2s\", \"1s\"] } }",
                &["net.toml:19:42: flow.tcp.pattern.off.uniform: the second value is below the first"],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npattern = { on = \"1s\", of = \"1s\" }",
                &[
                    r#"net.toml:19:11: flow.tcp.pattern.off: is missing (allowed: a time such as "10ms", or a table with uniform, exponential, pareto, cdf)"#,
                    r#"net.toml:19:24: flow.tcp.pattern.of: unknown key (allowed: on, off; did you mean "on"?)"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npattern = { on = { pareto = { mean = \"10s\", shape = 1.0 } }, off = \"1s\" }",
                &[
                    "net.toml:19:53: flow.tcp.pattern.on.pareto.shape: 1 is out of range (allowed: a number above 1, at most 1000)",
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npattern = { on = { exp = \"1s\" }, off = \"1s\" }",
                &[
                    r#"net.toml:19:20: flow.tcp.pattern.on.exp: unknown key (allowed: uniform, exponential, pareto, cdf; did you mean "exponential"?)"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npattern = 10",
                &[
                    "net.toml:19:11: flow.tcp.pattern: is a whole number (allowed: constant, poisson, or a table with on, off)",
                ],
            ),
            (
                "transport = \"udp\"\npattern = \"poisson\"",
                &[
                    r#"net.toml:15:1: flow.tcp.rate: is missing (allowed: a rate above 0 such as "10Mbps", which udp needs)"#,
                ],
            ),
        ],
    );
}

#[test]
fn lengths_drawn() {
    refused(
        BUS,
        "count = 2",
        &[
            (
                r#"packet_size = { exponential = "1000B" }"#,
                &[
                    r#"net.toml:17:15: flow.tcp.packet_size: a flow of TCP has segments of one size (allowed: bytes such as "1000B", or transport = "udp")"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npacket_size = { exponential = \"70kB\" }",
                &[
                    r#"net.toml:19:31: flow.tcp.packet_size.exponential: 70000 is out of range (allowed: bytes such as "1000B", from 1 to 65535)"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npacket_size = { uniform = [0, \"10p\"] }",
                &[
                    r#"net.toml:19:28: flow.tcp.packet_size.uniform: 0 is out of range (allowed: bytes such as "1000B", from 1 to 65535)"#,
                    r#"net.toml:19:31: flow.tcp.packet_size.uniform: "p" is not a unit for this (allowed: bytes such as "1000B", from 1 to 65535; units B, kB, KB, MB, KiB, MiB)"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npacket_size = { uniform = [1500, 40] }",
                &[r#"net.toml:19:27: flow.tcp.packet_size.uniform: the second value is below the first"#],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npacket_size = {}",
                &[
                    r#"net.toml:19:15: flow.tcp.packet_size: is not exactly one of uniform, exponential, pareto and cdf (allowed: { exponential = "1000B" } or { uniform = ["40B", "1500B"] })"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npacket_size = { pareto = { mean = 500, shape = 1 } }",
                &[
                    r#"net.toml:19:48: flow.tcp.packet_size.pareto.shape: 1 is out of range (allowed: a number above 1, at most 1000)"#,
                ],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\npacket_size = true",
                &[
                    r#"net.toml:19:15: flow.tcp.packet_size: is true (allowed: bytes such as "1000B", from 1 to 65535, or a table with uniform, exponential, pareto, cdf)"#,
                ],
            ),
        ],
    );
}

#[test]
fn active_periods() {
    refused(
        BUS,
        "count = 2",
        &[
            (
                "active = []",
                &[
                    r#"net.toml:17:10: flow.tcp.active: is an empty list (allowed: [["100s", "200s"], ["300s", "400s"]])"#,
                ],
            ),
            (
                r#"active = ["1s", "2s"]"#,
                &[
                    r#"net.toml:17:11: flow.tcp.active: is text (allowed: a pair of a time such as "10ms" and a whole number from 0 to 1000000, or a time such as "10ms")"#,
                    r#"net.toml:17:17: flow.tcp.active: is text (allowed: a pair of a time such as "10ms" and a whole number from 0 to 1000000, or a time such as "10ms")"#,
                ],
            ),
            (
                r#"active = [["1s"]]"#,
                &[
                    r#"net.toml:17:11: flow.tcp.active: is not a pair of times (allowed: [["100s", "200s"], ["300s", "400s"]])"#,
                ],
            ),
            (
                r#"active = [["2s", "1s"]]"#,
                &[
                    r#"net.toml:17:11: flow.tcp.active: the period ends before it begins (allowed: [["100s", "200s"], ["300s", "400s"]])"#,
                ],
            ),
            (
                r#"active = [["1s", "1s"]]"#,
                &[
                    r#"net.toml:17:11: flow.tcp.active: the period ends before it begins (allowed: [["100s", "200s"], ["300s", "400s"]])"#,
                ],
            ),
            (
                r#"active = [["1s", "3s"], ["2s", "4s"]]"#,
                &[
                    r#"net.toml:17:25: flow.tcp.active: the period begins before the one before it is over (allowed: [["100s", "200s"], ["300s", "400s"]])"#,
                ],
            ),
            (
                r#"active = [["1s", "3s"], ["3s", "4s"]]"#,
                &[
                    r#"net.toml:17:25: flow.tcp.active: the period begins before the one before it is over (allowed: [["100s", "200s"], ["300s", "400s"]])"#,
                ],
            ),
            (
                r#"active = [["1s", 3.5]]"#,
                &[r#"net.toml:17:18: flow.tcp.active: 3.5 has no unit (allowed: a time such as "10ms")"#],
            ),
            (
                r#"active = [["1s", 3], ["1s", 4]]"#,
                &[
                    r#"net.toml:17:22: flow.tcp.active: the time is not after the one before it (allowed: [["0s", 10], ["20s", 50], ["40s", 0]])"#,
                ],
            ),
            (
                r#"active = [["1s", 3], ["2s", "4s"]]"#,
                &[
                    r#"net.toml:17:22: flow.tcp.active: is not a pair of a time and a count (allowed: [["0s", 10], ["20s", 50], ["40s", 0]])"#,
                ],
            ),
            (
                r#"active = [["1s", 0]]"#,
                &[
                    r#"net.toml:17:10: flow.tcp.active: no flow is ever active (allowed: [["0s", 10], ["20s", 50], ["40s", 0]])"#,
                ],
            ),
            (
                "active = [[\"1s\", 3]]\ncount = 2",
                &[
                    "net.toml:18:1: flow.tcp.count: active says how many flows there are (allowed: active or count)",
                ],
            ),
            (
                r#"active = "1s""#,
                &[
                    r#"net.toml:17:10: flow.tcp.active: is text (allowed: a list, each a pair of a time such as "10ms" and a whole number from 0 to 1000000, or a time such as "10ms")"#,
                ],
            ),
            (
                "active = [[\"1s\", \"2s\"]]\nstart = \"1s\"\nstop = \"2s\"",
                &[
                    "net.toml:18:1: flow.tcp.start: active says when the flow sends, so it has no start (allowed: active, or start, stop and size)",
                    "net.toml:19:1: flow.tcp.stop: active says when the flow sends, so it has no stop (allowed: active, or start, stop and size)",
                ],
            ),
            (
                "active = [[\"1s\", \"2s\"]]\nsize = \"1MB\"",
                &[
                    "net.toml:18:1: flow.tcp.size: active says when the flow sends, so it has no size (allowed: active, or start, stop and size)",
                ],
            ),
        ],
    );
}

#[test]
fn code_points() {
    refused(
        BUS,
        "count = 2",
        &[
            (
                r#"dscp = "AF44""#,
                &[
                    r#"net.toml:17:8: flow.tcp.dscp: "AF44" is not a code point (allowed: BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63; did you mean "AF41"?)"#,
                ],
            ),
            (
                r#"dscp = "af11""#,
                &[
                    r#"net.toml:17:8: flow.tcp.dscp: "af11" is not a code point (allowed: BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63; did you mean "AF11"?)"#,
                ],
            ),
            (
                "dscp = 64",
                &[
                    "net.toml:17:8: flow.tcp.dscp: 64 is out of range (allowed: BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63)",
                ],
            ),
            (
                "dscp = -1",
                &[
                    "net.toml:17:8: flow.tcp.dscp: -1 is out of range (allowed: BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63)",
                ],
            ),
            (
                "dscp = 1.5",
                &[
                    "net.toml:17:8: flow.tcp.dscp: 1.5 is not a whole number (allowed: BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63)",
                ],
            ),
            (
                r#"dscp = "46""#,
                &[
                    r#"net.toml:17:8: flow.tcp.dscp: "46" is not a code point (allowed: BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63)"#,
                ],
            ),
            (
                "dscp = true",
                &[
                    "net.toml:17:8: flow.tcp.dscp: is true (allowed: BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63)",
                ],
            ),
            (
                r#"dscp = ["AF11"]"#,
                &[
                    "net.toml:17:8: flow.tcp.dscp: is a list (allowed: BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63)",
                ],
            ),
        ],
    );
}

#[test]
fn a_time_to_live_that_ends_on_the_way() {
    let said =
        "net.toml:16:7: flow.tcp.ttl: the longest way of its packets passes 2 routers (allowed: 3 to 255)";
    refused(DUMBBELL, "count = 2", &[("ttl = 2", &[said])]);
    accepted(&exchange(DUMBBELL, "count = 2", "ttl = 3"), &[]);
}

#[test]
fn labels_and_priority() {
    refused(
        BUS,
        "count = 2",
        &[
            (
                "priority = 9",
                &[
                    "net.toml:17:12: flow.tcp.priority: 9 is out of range (allowed: a whole number from 1 to 8)",
                ],
            ),
            (
                "priority = 0",
                &[
                    "net.toml:17:12: flow.tcp.priority: 0 is out of range (allowed: a whole number from 1 to 8)",
                ],
            ),
            (
                r#"priority = "high""#,
                &[
                    "net.toml:17:12: flow.tcp.priority: is text (allowed: true or false, or a whole number from 1 to 8)",
                ],
            ),
            (
                "priorty = true",
                &[
                    r#"net.toml:17:1: flow.tcp.priorty: unknown key (allowed: name, count, transport, from, to, start, stop, active, size, rate, arrivals, pattern, packet_size, dscp, priority, ttl, acks_share_label, source_host, destination_host, source_nat, ... (N in all); did you mean "priority"?)"#,
                ],
            ),
            (
                "ttl = 256",
                &["net.toml:17:7: flow.tcp.ttl: 256 is out of range (allowed: a whole number from 1 to 255)"],
            ),
            (
                r#"acks_share_label = "yes""#,
                &["net.toml:17:20: flow.tcp.acks_share_label: is text (allowed: true or false)"],
            ),
            (
                "transport = \"udp\"\nrate = \"1Mbps\"\nacks_share_label = true",
                &["net.toml:19:1: flow.tcp.acks_share_label: a flow of udp has no acknowledgements"],
            ),
        ],
    );
}
