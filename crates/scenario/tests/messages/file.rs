//! The file as a whole, `[run]` and `[probe]`.

use super::{CHAIN, DUMBBELL, VALID, refused};

#[test]
fn not_toml() {
    refused(
        VALID,
        r#""10Mbps""#,
        &[(
            "10Mbps",
            &[
                r#"net.toml:9:8: not TOML: neither a number nor text in quotes (allowed: 0.5, true, or text and values with a unit in quotes such as "10Mbps")"#,
            ],
        )],
    );
    refused(
        VALID,
        r#"duration = "10s""#,
        &[("duration =", &["net.toml:4:11: not TOML: expected a value, found a newline"])],
    );
    refused(
        VALID,
        "[run]",
        &[("[run", &["net.toml:3:5: not TOML: expected a right bracket, found a newline"])],
    );
    refused(
        VALID,
        "format = 1",
        &[("format = 1\nformat = 1", &[r#"net.toml:2:1: not TOML: "format" is set twice, first on line 1"#])],
    );
    refused(
        VALID,
        "[queue.main]",
        &[(
            "[queue.main]\n[queue.main]",
            &[r#"net.toml:14:1: not TOML: table "main" stands twice, first on line 13"#],
        )],
    );
    refused(VALID, r#""30p""#, &[(r#""30p"#, &["net.toml:17:14: not TOML: the text has no closing quote"])]);
}

#[test]
fn the_format_comes_first() {
    refused(
        VALID,
        "format = 1",
        &[
            (
                "format = 2\ncolour = \"red\"",
                &["net.toml:1:10: format: this format is not supported (allowed: 1)"],
            ),
            (r#"format = "1""#, &["net.toml:1:10: format: this format is not supported (allowed: 1)"]),
        ],
    );
    refused(VALID, "format = 1\n", &[("", &["net.toml:1:1: format: is missing (allowed: 1)"])]);
}

#[test]
fn unknown_keys_at_the_top() {
    refused(
        VALID,
        "format = 1",
        &[
            (
                "format = 1\ntitle = \"x\"",
                &[
                    "net.toml:2:1: title: unknown key (allowed: format, name, description, run, nodes, link, dumbbell, chain, bus, flower, torus, diffserv, queue, flow, marker, change, routing, backup, probe, live)",
                ],
            ),
            (
                "format = 1\nnam = \"x\"",
                &[
                    r#"net.toml:2:1: nam: unknown key (allowed: format, name, description, run, nodes, link, dumbbell, chain, bus, flower, torus, diffserv, queue, flow, marker, change, routing, backup, probe, live; did you mean "name"?)"#,
                ],
            ),
        ],
    );
    refused(
        VALID,
        "[run]",
        &[
            (
                "[runs]",
                &[
                    r#"net.toml:3:2: runs: unknown key (allowed: format, name, description, run, nodes, link, dumbbell, chain, bus, flower, torus, diffserv, queue, flow, marker, change, routing, backup, probe, live; did you mean "run"?)"#,
                ],
            ),
            (
                "[probes]\n[run]",
                &[
                    r#"net.toml:3:2: probes: unknown key (allowed: format, name, description, run, nodes, link, dumbbell, chain, bus, flower, torus, diffserv, queue, flow, marker, change, routing, backup, probe, live; did you mean "probe"?)"#,
                ],
            ),
        ],
    );
}

#[test]
fn unknown_keys_in_sections() {
    refused(
        VALID,
        r#"duration = "10s""#,
        &[(
            "duration = \"10s\"\nseed = 3",
            &[
                r#"net.toml:5:1: run.seed: unknown key (allowed: duration, warmup, seeds; did you mean "seeds"?)"#,
            ],
        )],
    );
    refused(
        VALID,
        r#"delay = "10ms""#,
        &[(
            "delay = \"10ms\"\nduplexx = true",
            &[
                r#"net.toml:11:1: link.a->b.duplexx: unknown key (allowed: from, to, name, {line}, queue, duplex, reverse_queue, {reverse}; did you mean "duplex"?)"#,
            ],
        )],
    );
    refused(
        VALID,
        r#"min_th = "10p""#,
        &[(
            r#"minth = "10p""#,
            &[
                r#"net.toml:16:1: queue.main.minth: unknown key (allowed: aqm, limit, min_th, max_th, max_p, w_q, mean_packet, mode, curve, points, spacing, victim, averages, adaptation, ecn, arithmetic, dialect, at_idle, idle_extra_step, guard_one, ... (N in all); did you mean "min_th"?)"#,
            ],
        )],
    );
    refused(
        VALID,
        "count = 2",
        &[
            (
                "counts = 2",
                &[
                    r#"net.toml:21:1: flow.tcp.counts: unknown key (allowed: name, count, transport, from, to, start, stop, active, size, rate, arrivals, pattern, packet_size, dscp, priority, ttl, acks_share_label, source_host, destination_host, source_nat, ... (N in all); did you mean "count"?)"#,
                ],
            ),
            (
                r#"tcp = { windw = "5p" }"#,
                &[
                    r#"net.toml:21:9: flow.tcp.tcp.windw: unknown key (allowed: profile, window, header, ack_size, initial_window, initial_ssthresh, syn, delayed_ack, ecn, limited_transmit, min_rto, max_rto, initial_rto, tick, clock_offset, max_burst, timestamps; did you mean "window"?)"#,
                ],
            ),
        ],
    );
    refused(
        VALID,
        "[run]",
        &[(
            "[probe]\nevent = true\n[run]",
            &[
                r#"net.toml:4:1: probe.event: unknown key (allowed: links, queue_interval, cwnd_interval, flow_interval, discipline_interval, delay_histogram, events, events_from, events_until, packets, losses, max_records, flow_delay; did you mean "events"?)"#,
            ],
        )],
    );
    refused(
        DUMBBELL,
        r#"queue = "main" }"#,
        &[(
            r#"queues = "main" }"#,
            &[
                r#"net.toml:7:49: dumbbell.bottleneck.queues: unknown key (allowed: {line}, queue, reverse_queue, {reverse}; did you mean "queue"?)"#,
            ],
        )],
    );
    refused(
        CHAIN,
        "routers = 3",
        &[(
            "routers = 3\nhosts = 1",
            &[
                r#"net.toml:8:1: chain.hosts: unknown key (allowed: routers, link, host; did you mean "host"?)"#,
            ],
        )],
    );
    refused(
        VALID,
        "count = 2",
        &[(
            r#"start = { unifrom = ["0s", "1s"] }"#,
            &[
                r#"net.toml:21:11: flow.tcp.start.unifrom: unknown key (allowed: uniform, every, poisson, load, link, headers, from, until; did you mean "uniform"?)"#,
            ],
        )],
    );
    refused(
        DUMBBELL,
        "count = 2",
        &[(
            r#"left = { dealy = "1ms" }"#,
            &[
                r#"net.toml:16:10: flow.tcp.left.dealy: unknown key (allowed: {line}, queue, uplink_queue, {uplink}; did you mean "delay"?)"#,
            ],
        )],
    );
    refused(
        VALID,
        "count = 2",
        &[(
            r#"tcp = { packet_size = "500B" }"#,
            &[
                "net.toml:21:9: flow.tcp.tcp.packet_size: packet_size is a key of the flow, not of tcp (allowed: profile, window, header, ack_size, initial_window, initial_ssthresh, syn, delayed_ack, ecn, limited_transmit, min_rto, max_rto, initial_rto, tick, clock_offset, max_burst, timestamps)",
            ],
        )],
    );
}

#[test]
fn run() {
    refused(
        VALID,
        r#"duration = "10s""#,
        &[
            (
                r#"duration = "0s""#,
                &[r#"net.toml:4:12: run.duration: must be above 0 (allowed: a time above 0 such as "10ms")"#],
            ),
            (
                r#"duration = "-1s""#,
                &[r#"net.toml:4:12: run.duration: -1s is negative (allowed: a time above 0 such as "10ms")"#],
            ),
            (
                "duration = 10",
                &[r#"net.toml:4:12: run.duration: 10 has no unit (allowed: a time above 0 such as "10ms")"#],
            ),
            (
                r#"duration = "10 sec""#,
                &[
                    r#"net.toml:4:12: run.duration: "sec" is not a unit for this (allowed: a time above 0 such as "10ms"; units ns, us, ms, s, min; did you mean "10s"?)"#,
                ],
            ),
            (
                r#"duration = "10Mbps""#,
                &[
                    r#"net.toml:4:12: run.duration: "Mbps" is not a unit for this (allowed: a time above 0 such as "10ms"; units ns, us, ms, s, min)"#,
                ],
            ),
            (
                r#"duration = "214days""#,
                &[
                    r#"net.toml:4:12: run.duration: "days" is not a unit for this (allowed: a time above 0 such as "10ms"; units ns, us, ms, s, min)"#,
                ],
            ),
            (
                r#"duration = "20000000s""#,
                &[
                    r#"net.toml:4:12: run.duration: is longer than 213 days, the longest time there is (allowed: a time above 0 such as "10ms")"#,
                ],
            ),
            (
                r#"duration = "8640000.000000000001s""#,
                &[
                    "net.toml:4:12: run.duration: is longer than 100 days, the longest run there is (allowed: at most 8640000s)",
                ],
            ),
            (
                r#"duration = "1e400s""#,
                &[
                    r#"net.toml:4:12: run.duration: 1e400s is too large (allowed: a time above 0 such as "10ms")"#,
                ],
            ),
            (
                r#"warmup = "1s""#,
                &[r#"net.toml:3:1: run.duration: is missing (allowed: a time above 0 such as "10ms")"#],
            ),
            (
                "duration = true",
                &[r#"net.toml:4:12: run.duration: is true (allowed: a time above 0 such as "10ms")"#],
            ),
            (
                "duration = inf",
                &[r#"net.toml:4:12: run.duration: is infinite (allowed: a time above 0 such as "10ms")"#],
            ),
            (
                "duration = \"10s\"\nwarmup = \"10s\"",
                &[
                    "net.toml:5:10: run.warmup: is not before the end of the run (allowed: below duration (10 s))",
                ],
            ),
        ],
    );
    refused(
        VALID,
        "[run]\nduration = \"10s\"\n",
        &[("", &["net.toml:1:1: run: is missing (allowed: a table with duration, warmup, seeds)"])],
    );
}

#[test]
fn seeds() {
    refused(
        VALID,
        r#"duration = "10s""#,
        &[
            (
                "duration = \"10s\"\nseeds = 0",
                &["net.toml:5:9: run.seeds: 0 is out of range (allowed: a whole number from 1 to 1000000)"],
            ),
            (
                "duration = \"10s\"\nseeds = -1",
                &["net.toml:5:9: run.seeds: -1 is out of range (allowed: a whole number from 1 to 1000000)"],
            ),
            (
                "duration = \"10s\"\nseeds = []",
                &["net.toml:5:9: run.seeds: is an empty list (allowed: at least one seed)"],
            ),
            (
                "duration = \"10s\"\nseeds = [1, 0]",
                &["net.toml:5:13: run.seeds: 0 is out of range (allowed: a whole number, at least 1)"],
            ),
            ("duration = \"10s\"\nseeds = [1, 1]", &["net.toml:5:13: run.seeds: seed 1 stands twice"]),
            (
                "duration = \"10s\"\nseeds = \"all\"",
                &[
                    "net.toml:5:9: run.seeds: is text (allowed: a whole number from 1 to 1000000, or a list, each a whole number, at least 1)",
                ],
            ),
            (
                "duration = \"10s\"\nseeds = 1.5",
                &[
                    "net.toml:5:9: run.seeds: is a number (allowed: a whole number from 1 to 1000000, or a list, each a whole number, at least 1)",
                ],
            ),
            (
                "duration = \"10s\"\nseeds = 2000000",
                &[
                    "net.toml:5:9: run.seeds: 2000000 is out of range (allowed: a whole number from 1 to 1000000)",
                ],
            ),
            (
                "duration = \"10s\"\nseeds = [1, \"x\"]",
                &["net.toml:5:13: run.seeds: is text (allowed: a whole number, at least 1)"],
            ),
            (
                "duration = \"10s\"\nseeds = 99999999999999999999",
                &[
                    r#"net.toml:5:9: not TOML: neither a number nor text in quotes (allowed: 0.5, true, or text and values with a unit in quotes such as "10Mbps")"#,
                ],
            ),
        ],
    );
}

#[test]
fn probe() {
    refused(
        VALID,
        "[run]",
        &[
            (
                "[probe]\nlinks = [\"a->c\"]\n[run]",
                &[
                    r#"net.toml:4:10: probe.links: unknown link "a->c" (allowed: a->b, b->a; did you mean "a->b"?)"#,
                ],
            ),
            (
                "[probe]\nlinks = [\"b->b\"]\n[run]",
                &[
                    r#"net.toml:4:10: probe.links: unknown link "b->b" (allowed: a->b, b->a; did you mean "a->b"?)"#,
                ],
            ),
            (
                "[probe]\nlinks = \"a->b\"\n[run]",
                &[
                    "net.toml:4:9: probe.links: is text (allowed: a list, each a name of letters, digits and _ - . : / >)",
                ],
            ),
            (
                "[probe]\nqueue_interval = \"0s\"\n[run]",
                &[
                    r#"net.toml:4:18: probe.queue_interval: must be above 0 (allowed: a time above 0 such as "10ms")"#,
                ],
            ),
            (
                "[probe]\nqueue_interval = \"0.001us\"\n[run]",
                &[
                    "net.toml:4:18: probe.queue_interval: makes 10000000000 samples, about 2500.000 GB of memory (allowed: intervals with at most 16000000 samples, 4 GB)",
                ],
            ),
            (
                "[probe]\nqueue_interval = \"1us\"\ncwnd_interval = \"3us\"\n[run]",
                &[
                    "net.toml:5:17: probe.cwnd_interval: makes 6666666 samples, about 4.167 GB of memory, with those before (allowed: intervals with at most 16000000 samples, 4 GB)",
                ],
            ),
            (
                "[probe]\ncwnd_interval = \"1ns\"\n[run]",
                &[
                    "net.toml:4:17: probe.cwnd_interval: makes 20000000000 samples, about 5000.000 GB of memory (allowed: intervals with at most 16000000 samples, 4 GB)",
                ],
            ),
            (
                "[probe]\nevents = 1\n[run]",
                &["net.toml:4:10: probe.events: is a whole number (allowed: true or false)"],
            ),
            (
                "[probe]\nevents = true\nevents_from = \"1000s\"\n[run]",
                &[
                    "net.toml:5:15: probe.events_from: is not before the end of the run (allowed: below duration (10 s))",
                ],
            ),
            (
                "[probe]\nevents = true\nevents_from = \"2s\"\nevents_until = \"2s\"\n[run]",
                &["net.toml:6:16: probe.events_until: is not after events_from (allowed: above 2s)"],
            ),
            (
                "[probe]\nevents_from = \"2s\"\nevents_until = \"3s\"\n[run]",
                &[
                    "net.toml:4:15: probe.events_from: has no effect without events (allowed: with events = true)",
                    "net.toml:5:16: probe.events_until: has no effect without events (allowed: with events = true)",
                ],
            ),
            (
                "[probe]\nevents = false\nevents_until = \"3s\"\n[run]",
                &[
                    "net.toml:5:16: probe.events_until: has no effect without events (allowed: with events = true)",
                ],
            ),
            (
                "[probe]\ndelay_histogram = \"yes\"\n[run]",
                &["net.toml:4:19: probe.delay_histogram: is text (allowed: true or false)"],
            ),
        ],
    );
    refused(
        DUMBBELL,
        "[run]",
        &[(
            "[probe]\nlinks = [\"left.tcp\"]\n[run]",
            &[
                r#"net.toml:4:10: probe.links: unknown link "left.tcp" (allowed: bottleneck, bottleneck.reverse, left.tcp.0, left.tcp.0.reverse, right.tcp.0, right.tcp.0.reverse, left.tcp.1, left.tcp.1.reverse, right.tcp.1, right.tcp.1.reverse; did you mean "left.tcp.0"?)"#,
            ],
        )],
    );
}
