//! `[bus]`, `[flower]`, `[torus]` and `[diffserv]`.

use super::{BUS, DIFFSERV, FLOWER, TORUS, refused};

#[test]
fn shared_networks() {
    refused(
        BUS,
        "routers = 3",
        &[
            (
                "routers = 1",
                &["net.toml:7:11: bus.routers: 1 is out of range (allowed: a whole number from 2 to 10000)"],
            ),
            (
                "routers = 20000",
                &[
                    "net.toml:7:11: bus.routers: 20000 is out of range (allowed: a whole number from 2 to 10000)",
                ],
            ),
            (
                "router = 3",
                &[
                    r#"net.toml:7:1: bus.router: unknown key (allowed: routers, hosts, link, host; did you mean "routers"?)"#,
                ],
            ),
            ("", &["net.toml:6:1: bus.routers: is missing (allowed: a whole number from 2 to 10000)"]),
        ],
    );
    refused(
        BUS,
        "hosts = 2",
        &[
            (
                "hosts = 0",
                &["net.toml:8:9: bus.hosts: 0 is out of range (allowed: a whole number from 1 to 1000000)"],
            ),
            (
                "hosts = 500000",
                &["net.toml:8:9: bus.hosts: makes 1500000 hosts in all (allowed: at most 1000000 in all)"],
            ),
        ],
    );
    refused(
        BUS,
        r#"host = { rate = "20Mbps", delay = "1ms" }"#,
        &[
            (
                r#"host = { rate = "20Mbps", delay = "1ms", uplink_queue = "mian" }"#,
                &[
                    r#"net.toml:10:57: bus.host.uplink_queue: unknown queue "mian" (allowed: main, default; did you mean "main"?)"#,
                ],
            ),
            (
                "",
                &[
                    "net.toml:6:1: bus.host: is missing (allowed: a table with {line}, queue, uplink_queue, {uplink})",
                ],
            ),
        ],
    );
    refused(
        BUS,
        "[bus]",
        &[
            (
                "[buss]",
                &[
                    r#"net.toml:6:2: buss: unknown key (allowed: format, name, description, run, nodes, link, dumbbell, chain, bus, flower, torus, diffserv, queue, flow, marker, change, routing, backup, probe, live; did you mean "bus"?)"#,
                ],
            ),
            (
                "[torus]\nrows = 2\ncolumns = 2\nlink = { rate = \"1Mbps\", delay = \"1ms\" }\nhost = { rate = \"1Mbps\", delay = \"1ms\" }\n\n[bus]",
                &[
                    "net.toml:6:2: torus: there is a network already, bus (allowed: exactly one of [[link]], [dumbbell], [chain], [bus], [flower], [torus], [diffserv])",
                ],
            ),
        ],
    );
    refused(
        FLOWER,
        "petals = 3",
        &[
            (
                "petals = 1",
                &[
                    "net.toml:7:10: flower.petals: 1 is out of range (allowed: a whole number from 2 to 10000)",
                ],
            ),
            (
                r#"petals = "three""#,
                &["net.toml:7:10: flower.petals: is text (allowed: a whole number from 2 to 10000)"],
            ),
            (
                "petals = 5000",
                &[
                    "net.toml:8:11: flower.routers: makes 20000 routers in all (allowed: at most 10000 in all)",
                ],
            ),
            (
                "petals = 3\ncore = { rate = \"10Mbps\" }",
                &[r#"net.toml:8:8: flower.core.delay: is missing (allowed: a time such as "10ms")"#],
            ),
            (
                "petals = 3\ncores = { rate = \"10Mbps\", delay = \"1ms\" }",
                &[
                    r#"net.toml:8:1: flower.cores: unknown key (allowed: petals, routers, core, hosts, link, host; did you mean "core"?)"#,
                ],
            ),
        ],
    );
    refused(
        TORUS,
        "rows = 3\ncolumns = 4",
        &[
            (
                "rows = 1\ncolumns = 1",
                &["net.toml:8:11: torus.columns: makes 1 router (allowed: from 2 to 10000 in all)"],
            ),
            (
                "rows = 200\ncolumns = 200",
                &["net.toml:8:11: torus.columns: makes 40000 routers (allowed: from 2 to 10000 in all)"],
            ),
            (
                "rows = 0\ncolumns = 4",
                &["net.toml:7:8: torus.rows: 0 is out of range (allowed: a whole number from 1 to 10000)"],
            ),
            (
                "rows = 3",
                &["net.toml:6:1: torus.columns: is missing (allowed: a whole number from 1 to 10000)"],
            ),
        ],
    );
}

#[test]
fn ends_at_hosts() {
    refused(
        BUS,
        "count = 2",
        &[
            (
                r#"from = "h7""#,
                &[r#"net.toml:17:8: flow.tcp.from: unknown host "h7" (allowed: each, random, or h1 to h6)"#],
            ),
            (
                r#"from = "r1""#,
                &[
                    r#"net.toml:17:8: flow.tcp.from: unknown host "r1" (allowed: each, random, or h1 to h6; did you mean "h1"?)"#,
                ],
            ),
            (
                r#"from = "H1""#,
                &[
                    r#"net.toml:17:8: flow.tcp.from: unknown host "H1" (allowed: each, random, or h1 to h6; did you mean "h1"?)"#,
                ],
            ),
            (
                r#"from = "eahc""#,
                &[
                    r#"net.toml:17:8: flow.tcp.from: unknown host "eahc" (allowed: each, random, or h1 to h6; did you mean "each"?)"#,
                ],
            ),
            (
                r#"from = "h01""#,
                &[
                    r#"net.toml:17:8: flow.tcp.from: unknown host "h01" (allowed: each, random, or h1 to h6; did you mean "h1"?)"#,
                ],
            ),
            (
                r#"to = "randon""#,
                &[
                    r#"net.toml:17:6: flow.tcp.to: unknown host "randon" (allowed: random, or h1 to h6; did you mean "random"?)"#,
                ],
            ),
            (
                r#"to = "each""#,
                &[
                    "net.toml:17:6: flow.tcp.to: each is only where flows begin (allowed: random, or h1 to h6)",
                ],
            ),
            (
                r#"to = "h0""#,
                &[r#"net.toml:17:6: flow.tcp.to: unknown host "h0" (allowed: random, or h1 to h6)"#],
            ),
            (
                "from = \"h1\"\nto = \"h1\"",
                &["net.toml:18:6: flow.tcp.to: the flow would end where it begins (allowed: another host)"],
            ),
            (
                r#"to = "h1""#,
                &["net.toml:17:6: flow.tcp.to: the flow would end where it begins (allowed: another host)"],
            ),
            (
                "count = 2\nto = \"h2\"",
                &["net.toml:18:6: flow.tcp.to: flow tcp.1 would end where it begins (allowed: another host)"],
            ),
            (
                "from = 1",
                &[
                    "net.toml:17:8: flow.tcp.from: is a whole number (allowed: a name of letters, digits and _ - . : / >)",
                ],
            ),
            (
                r#"left = { delay = "1ms" }"#,
                &["net.toml:17:1: flow.tcp.left: only a flow in a dumbbell has left"],
            ),
            (
                r#"source = { delay = "1ms" }"#,
                &["net.toml:17:1: flow.tcp.source: only a flow in a diffserv network has source"],
            ),
            (
                "from = \"h1\"\nto = \"h4\"\n\n[[flow]]\nname = \"more\"\ncount = 6\nto = \"h1\"",
                &[
                    "net.toml:23:6: flow.more.to: flow more.5 would end where it begins (allowed: another host)",
                ],
            ),
        ],
    );
}

#[test]
fn diffserv() {
    refused(
        DIFFSERV,
        r#"name = "rest""#,
        &[
            (
                "name = \"rest\"\nfrom = \"e1\"\nto = \"receiver\"",
                &[
                    "net.toml:31:1: flow.rest.from: a flow in a diffserv network goes from its source to the receiver",
                    "net.toml:32:1: flow.rest.to: a flow in a diffserv network goes from its source to the receiver",
                ],
            ),
            (
                "name = \"rest\"\nsource = { dealy = \"1ms\" }",
                &[
                    r#"net.toml:31:12: flow.rest.source.dealy: unknown key (allowed: {line}, queue, uplink_queue, {uplink}; did you mean "delay"?)"#,
                ],
            ),
            (
                "name = \"rest\"\nleft = { delay = \"1ms\" }",
                &["net.toml:31:1: flow.rest.left: only a flow in a dumbbell has left"],
            ),
        ],
    );
    refused(
        DIFFSERV,
        "count = 2",
        &[(
            "count = 2\nsource = { delay = [\"1ms\"] }",
            &[
                "net.toml:28:20: flow.assured.source.delay: the list has 1 entry, the group 2 flows (allowed: a list of 2)",
            ],
        )],
    );
    refused(
        DIFFSERV,
        "sink = { rate = \"100Mbps\", delay = \"5ms\" }\n",
        &[
            (
                "",
                &[
                    "net.toml:6:1: diffserv.sink: is missing (allowed: a table with {line}, queue, uplink_queue, {uplink})",
                ],
            ),
            (
                "sink = { rate = \"100Mbps\", delay = \"5ms\", reverse_queue = \"main\" }\n",
                &[
                    "net.toml:10:43: diffserv.sink.reverse_queue: unknown key (allowed: {line}, queue, uplink_queue, {uplink})",
                ],
            ),
        ],
    );
}
