//! `[[link]]`, `[dumbbell]` and `[chain]`.

use super::{CHAIN, DUMBBELL, VALID, messages, refused};

#[test]
fn which_network() {
    refused(
        VALID,
        "[run]",
        &[(
            "[chain]\nrouters = 2\nlink = { rate = \"1Mbps\", delay = \"1ms\" }\nhost = { rate = \"1Mbps\", delay = \"1ms\" }\n[run]",
            &[
                "net.toml:3:2: chain: there is a network already, link (allowed: exactly one of [[link]], [dumbbell], [chain], [bus], [flower], [torus], [diffserv])",
            ],
        )],
    );
    refused(
        DUMBBELL,
        "[dumbbell]\nbottleneck = { rate = \"10Mbps\", delay = \"10ms\", queue = \"main\" }\nleft = { rate = \"20Mbps\", delay = \"10ms\" }\nright = { rate = \"20Mbps\", delay = \"15ms\" }\n",
        &[(
            "",
            &[
                "net.toml:1:1: the network is missing (allowed: exactly one of [[link]], [dumbbell], [chain], [bus], [flower], [torus], [diffserv])",
            ],
        )],
    );
    refused(
        DUMBBELL,
        "format = 1",
        &[(
            "format = 1\nnodes = [\"a\"]",
            &["net.toml:2:1: nodes: names nodes of [[link]] entries, of which there are none"],
        )],
    );
    refused(
        DUMBBELL,
        "[dumbbell]",
        &[(
            "[dumbell]",
            &[
                r#"net.toml:6:2: dumbell: unknown key (allowed: format, name, description, run, nodes, link, dumbbell, chain, bus, flower, torus, diffserv, queue, flow, marker, change, routing, backup, probe, live; did you mean "dumbbell"?)"#,
            ],
        )],
    );
}

#[test]
fn rates() {
    refused(
        VALID,
        r#""10Mbps""#,
        &[
            (
                r#""-10Mbps""#,
                &[
                    r#"net.toml:9:8: link.a->b.rate: -10Mbps is negative (allowed: a rate above 0 such as "10Mbps")"#,
                ],
            ),
            (
                r#""0Mbps""#,
                &[
                    r#"net.toml:9:8: link.a->b.rate: must be above 0 (allowed: a rate above 0 such as "10Mbps")"#,
                ],
            ),
            (
                "10",
                &[
                    r#"net.toml:9:8: link.a->b.rate: 10 has no unit (allowed: a rate above 0 such as "10Mbps")"#,
                ],
            ),
            (
                r#""10mbps""#,
                &[
                    r#"net.toml:9:8: link.a->b.rate: "mbps" is not a unit for this (allowed: a rate above 0 such as "10Mbps"; units bps, kbps, Mbps, Gbps, bit, kbit, Mbit, Gbit; did you mean "10Mbps"?)"#,
                ],
            ),
            (
                r#""10MB""#,
                &[
                    r#"net.toml:9:8: link.a->b.rate: "MB" is not a unit for this (allowed: a rate above 0 such as "10Mbps"; units bps, kbps, Mbps, Gbps, bit, kbit, Mbit, Gbit)"#,
                ],
            ),
            (
                r#""10Mb/s""#,
                &[
                    r#"net.toml:9:8: link.a->b.rate: "Mb/s" is not a unit for this (allowed: a rate above 0 such as "10Mbps"; units bps, kbps, Mbps, Gbps, bit, kbit, Mbit, Gbit; did you mean "10Mbps"?)"#,
                ],
            ),
            (
                r#""fast""#,
                &[
                    r#"net.toml:9:8: link.a->b.rate: "fast" does not begin with a number (allowed: a rate above 0 such as "10Mbps")"#,
                ],
            ),
            (
                r#""""#,
                &[
                    r#"net.toml:9:8: link.a->b.rate: "" does not begin with a number (allowed: a rate above 0 such as "10Mbps")"#,
                ],
            ),
            (
                r#""1e30Gbps""#,
                &[
                    r#"net.toml:9:8: link.a->b.rate: 1e30Gbps is too large (allowed: a rate above 0 such as "10Mbps")"#,
                ],
            ),
            (
                r#""1000000Gbps""#,
                &[
                    r#"net.toml:9:8: link.a->b.rate: is above 100000Gbps, the highest rate there is (allowed: a rate above 0 such as "10Mbps")"#,
                ],
            ),
            (
                r#""nanMbps""#,
                &[
                    r#"net.toml:9:8: link.a->b.rate: "nanMbps" does not begin with a number (allowed: a rate above 0 such as "10Mbps")"#,
                ],
            ),
            (
                "[]",
                &[
                    r#"net.toml:9:8: link.a->b.rate: is a list (allowed: a rate above 0 such as "10Mbps", or a table with one of {selecting})"#,
                ],
            ),
            (
                r#""1.0000000000000000000000001Gbps""#,
                &[
                    r#"net.toml:9:8: link.a->b.rate: 1.0000000000000000000000001Gbps has more than 24 digits (allowed: a rate above 0 such as "10Mbps")"#,
                ],
            ),
        ],
    );
}

#[test]
fn delays() {
    refused(
        VALID,
        r#"delay = "10ms""#,
        &[
            (
                r#"delay = "-10ms""#,
                &[r#"net.toml:10:9: link.a->b.delay: -10ms is negative (allowed: a time such as "10ms")"#],
            ),
            (
                r#"delay = "10""#,
                &[
                    r#"net.toml:10:9: link.a->b.delay: "10" has no unit (allowed: a time such as "10ms"; units ns, us, ms, s, min)"#,
                ],
            ),
            (
                "delay = 10",
                &[r#"net.toml:10:9: link.a->b.delay: 10 has no unit (allowed: a time such as "10ms")"#],
            ),
            (
                r#"delay = "10Mbps""#,
                &[
                    r#"net.toml:10:9: link.a->b.delay: "Mbps" is not a unit for this (allowed: a time such as "10ms"; units ns, us, ms, s, min)"#,
                ],
            ),
            (
                r#"delay = "1e30s""#,
                &[r#"net.toml:10:9: link.a->b.delay: 1e30s is too large (allowed: a time such as "10ms")"#],
            ),
            (
                "delay = true",
                &[r#"net.toml:10:9: link.a->b.delay: is true (allowed: a time such as "10ms")"#],
            ),
        ],
    );
}

#[test]
fn links() {
    refused(
        VALID,
        "to = \"b\"\nrate",
        &[(
            "to = \"a\"\nrate",
            &["net.toml:8:6: link.a->a.to: the link would end where it begins (allowed: another node)"],
        )],
    );
    refused(
        VALID,
        "from = \"a\"\nto = \"b\"\nrate",
        &[
            (
                "from = \"a b\"\nto = \"b\"\nrate",
                &[
                    r#"net.toml:7:8: link.a b->b.from: "a b" is not a name (allowed: a name of letters, digits and _ - . : / >)"#,
                ],
            ),
            (
                "to = \"b\"\nrate",
                &[
                    "net.toml:6:1: link[0].from: is missing (allowed: a name of letters, digits and _ - . : / >)",
                ],
            ),
        ],
    );
    refused(
        VALID,
        "[queue.main]",
        &[
            (
                "[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1Mbps\"\ndelay = \"1ms\"\n\n[queue.main]",
                &[
                    "net.toml:13:1: link.a->b: there is a link from a to b already, on line 6 (allowed: one link each way (duplex = false leaves the way back free))",
                ],
            ),
            (
                "[[link]]\nfrom = \"b\"\nto = \"a\"\nduplex = false\nrate = \"1Mbps\"\ndelay = \"1ms\"\n\n[queue.main]",
                &[
                    "net.toml:13:1: link.b->a: there is a link from b to a already, on line 6 (allowed: one link each way (duplex = false leaves the way back free))",
                ],
            ),
            (
                "[[link]]\nfrom = \"b\"\nto = \"c\"\nname = \"b->a\"\nrate = \"1Mbps\"\ndelay = \"1ms\"\n\n[queue.main]",
                &[r#"net.toml:13:1: link.b->a: there is a link "b->a" already, on line 6"#],
            ),
        ],
    );
    refused(
        VALID,
        r#"queue = "main""#,
        &[
            (
                "queue = \"main\"\nduplex = false\nreverse_queue = \"main\"",
                &[
                    "net.toml:13:1: link.a->b.reverse_queue: a link with duplex = false has no reverse direction",
                    "net.toml:21:1: flow.tcp: no route for acknowledgements from b to a",
                ],
            ),
            (
                "queue = \"main\"\nduplex = false",
                &["net.toml:20:1: flow.tcp: no route for acknowledgements from b to a"],
            ),
        ],
    );
    refused(
        VALID,
        "[[link]]",
        &[("[link]", &["net.toml:6:1: link: is a table (allowed: [[link]] entries)"])],
    );
    refused(
        VALID,
        "rate = \"10Mbps\"\n",
        &[(
            "",
            &[
                r#"net.toml:6:1: link.a->b.rate: is missing (allowed: a rate above 0 such as "10Mbps", or a table with one of {selecting})"#,
            ],
        )],
    );
}

#[test]
fn nodes() {
    refused(
        VALID,
        "format = 1",
        &[
            (
                "format = 1\nnodes = [\"a\", \"bb\"]",
                &[r#"net.toml:9:6: link.a->b.to: unknown node "b" (allowed: a, bb; did you mean "bb"?)"#],
            ),
            (
                "format = 1\nnodes = [\"a\", \"b\", \"a\"]",
                &[r#"net.toml:2:20: nodes: node "a" stands twice"#],
            ),
            (
                "format = 1\nnodes = \"a\"",
                &[
                    "net.toml:2:9: nodes: is text (allowed: a list, each a name of letters, digits and _ - . : / >)",
                ],
            ),
            (
                "format = 1\nnodes = [\"a\", \"b\", 1]",
                &[
                    "net.toml:2:20: nodes: is a whole number (allowed: a name of letters, digits and _ - . : / >)",
                ],
            ),
        ],
    );
}

#[test]
fn dumbbell() {
    refused(
        DUMBBELL,
        "right = { rate = \"20Mbps\", delay = \"15ms\" }\n",
        &[(
            "",
            &[
                "net.toml:6:1: dumbbell.right: is missing (allowed: a table with {line}, queue, uplink_queue, {uplink})",
            ],
        )],
    );
    refused(
        DUMBBELL,
        r#"left = { rate = "20Mbps", delay = "10ms" }"#,
        &[
            (
                r#"left = { rate = "0bps" }"#,
                &[
                    r#"net.toml:8:8: dumbbell.left.delay: is missing (allowed: a time such as "10ms")"#,
                    r#"net.toml:8:17: dumbbell.left.rate: must be above 0 (allowed: a rate above 0 such as "10Mbps")"#,
                ],
            ),
            (
                r#"left = "20Mbps""#,
                &[
                    "net.toml:8:8: dumbbell.left: is text (allowed: a table with {line}, queue, uplink_queue, {uplink})",
                ],
            ),
        ],
    );
    refused(
        DUMBBELL,
        r#"bottleneck = { rate = "10Mbps", delay = "10ms", queue = "main" }"#,
        &[(
            r#"bottleneck = { rate = "10Mbps", delay = "10ms", queue = "main", reverse_queue = "x" }"#,
            &[
                r#"net.toml:7:81: dumbbell.bottleneck.reverse_queue: unknown queue "x" (allowed: main, default)"#,
            ],
        )],
    );
    let either = "bottleneck for the same rate and delay both ways, or down and up";
    refused(
        DUMBBELL,
        r#"bottleneck = { rate = "10Mbps", delay = "10ms", queue = "main" }"#,
        &[
            (
                "",
                &[format!(
                    "net.toml:6:1: dumbbell.bottleneck: is missing (allowed: a table with rate, delay, queue, reverse_queue; {either})"
                )
                .as_str()],
            ),
            (
                r#"down = { rate = "10Mbps", delay = "10ms", queue = "main" }"#,
                &["net.toml:6:1: dumbbell.up: is missing (allowed: a table with rate, delay, queue)"],
            ),
            (
                r#"up = { rate = "10Mbps", queue = "man" }
down = { rate = "10Mbps", delay = "10ms", queue = "main" }"#,
                &[
                    r#"net.toml:7:6: dumbbell.up.delay: is missing (allowed: a time such as "10ms")"#,
                    r#"net.toml:7:33: dumbbell.up.queue: unknown queue "man" (allowed: main, default; did you mean "main"?)"#,
                ],
            ),
            (
                r#"bottleneck = { rate = "10Mbps", delay = "10ms", queue = "main" }
up = { rate = "10Mbps", delay = "10ms" }"#,
                &[format!("net.toml:8:1: dumbbell.up: there is a bottleneck already (allowed: {either})")
                    .as_str()],
            ),
        ],
    );
}

#[test]
fn chain() {
    refused(
        CHAIN,
        "routers = 3",
        &[
            (
                "routers = 1",
                &[
                    "net.toml:7:11: chain.routers: 1 is out of range (allowed: a whole number from 2 to 10000)",
                ],
            ),
            (
                "routers = 0",
                &[
                    "net.toml:7:11: chain.routers: 0 is out of range (allowed: a whole number from 2 to 10000)",
                ],
            ),
            (
                "routers = 100000",
                &[
                    "net.toml:7:11: chain.routers: 100000 is out of range (allowed: a whole number from 2 to 10000)",
                ],
            ),
            (
                r#"routers = "3""#,
                &["net.toml:7:11: chain.routers: is text (allowed: a whole number from 2 to 10000)"],
            ),
        ],
    );
    refused(
        CHAIN,
        r#"link = { rate = "10Mbps", delay = "10ms" }"#,
        &[(
            r#"link = { rate = "10Mbps" }"#,
            &[r#"net.toml:8:8: chain.link.delay: is missing (allowed: a time such as "10ms")"#],
        )],
    );
}

#[test]
fn token_buckets_and_lengths_on_the_wire() {
    let bucket = |keys: &str| format!("{{ {keys} }}");
    let at = "net.toml:9:8: link.a->b.rate";
    let cases = [
        (
            r#"tbf = "1Mbps""#,
            "burst: is required by a token bucket (allowed: 1 <= x <= 1000000000000, in bytes (\"1000B\"))",
        ),
        (r#"burst = "9KB""#, "burst: needs tbf (allowed: tbf)"),
        (
            r#"tbf = "1Mbps", burst = "9KB", mtu = "2KB""#,
            "peakrate: is required by mtu (allowed: a rate such as \"10Mbps\")",
        ),
        (
            r#"tbf = "1Mbps", burst = "9KB", peakrate = "2Mbps""#,
            "mtu: is required by peakrate (allowed: 1 <= x <= 1000000000000, in bytes (\"1000B\"))",
        ),
    ];
    for (keys, expected) in cases {
        let text = VALID.replace(r#""10Mbps""#, &bucket(keys));
        let found = messages(&text, &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("net.toml:9:") && found[0].ends_with(expected), "{}", found[0]);
    }
    refused(
        VALID,
        r#""10Mbps""#,
        &[
            (
                r#"{ tbf = "1Mbps", burst = "9KB", peakrate = "1Mbps", mtu = "2KB" }"#,
                &[&format!("{at}.peakrate: peakrate (1000000 bit/s) is not above tbf (1000000 bit/s) (allowed: tbf < peakrate)").replacen(":9:8:", ":9:51:", 1)],
            ),
            (
                r#"{ tbf = "1Mbps", burst = "0B" }"#,
                &[r#"net.toml:9:33: link.a->b.rate.burst: 0 is out of range (allowed: bytes such as "1000B", from 1 to 1000000000000)"#],
            ),
            (
                "\"10Mbps\"\noverhead = 300",
                &["net.toml:10:12: link.a->b.overhead: 300 is out of range (allowed: a whole number from -64 to 256)"],
            ),
            (
                "\"10Mbps\"\nmpu = -1",
                &["net.toml:10:7: link.a->b.mpu: -1 is out of range (allowed: a whole number from 0 to 256)"],
            ),
            (
                "\"10Mbps\"\nlinklayer = \"adsl\"",
                &[r#"net.toml:10:13: link.a->b.linklayer: "adsl" is not known (allowed: ethernet, atm, ptm)"#],
            ),
        ],
    );
}
