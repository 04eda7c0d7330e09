//! `[marker.NAME]` and `[[change]]`.

use super::{DIFFSERV, refused};

#[test]
fn markers() {
    refused(
        DIFFSERV,
        "kind = \"token-bucket\"\n",
        &[
            (
                "kind = \"token-bukcet\"\n",
                &[
                    r#"net.toml:33:8: marker.edge.kind: "token-bukcet" is not known (allowed: token-bucket, tsw2cm, tsw3cm, srtcm, trtcm; did you mean "token-bucket"?)"#,
                ],
            ),
            (
                "",
                &[
                    "net.toml:32:1: marker.edge.kind: is missing (allowed: token-bucket, tsw2cm, tsw3cm, srtcm, trtcm)",
                ],
            ),
        ],
    );
    refused(
        DIFFSERV,
        r#"link = "edge""#,
        &[
            (
                r#"link = "egde""#,
                &[
                    r#"net.toml:34:8: marker.edge.link: unknown link "egde" (allowed: edge, edge.reverse, core, core.reverse, sink, sink.reverse, source.assured.0, source.assured.0.reverse, source.assured.1, source.assured.1.reverse, source.rest, source.rest.reverse; did you mean "edge"?)"#,
                ],
            ),
            (
                "link = 1",
                &[
                    "net.toml:34:8: marker.edge.link: is a whole number (allowed: a name of letters, digits and _ - . : / >)",
                ],
            ),
            (
                r#"links = "edge""#,
                &[
                    r#"net.toml:34:1: marker.edge.links: unknown key (allowed: kind, link, flows, per, cir, pir, cbs, ebs, pbs, window, color_aware, green, yellow, red; did you mean "link"?)"#,
                ],
            ),
        ],
    );
    refused(
        DIFFSERV,
        r#"flows = ["assured"]"#,
        &[
            (
                r#"flows = ["asured"]"#,
                &[
                    r#"net.toml:35:10: marker.edge.flows: unknown flow "asured" (allowed: assured, rest; did you mean "assured"?)"#,
                ],
            ),
            (
                r#"flows = ["assured", "assured"]"#,
                &[r#"net.toml:35:21: marker.edge.flows: "assured" stands twice"#],
            ),
            (
                "flows = []",
                &[
                    "net.toml:35:9: marker.edge.flows: is an empty list (allowed: at least one group of flows)",
                ],
            ),
            (
                r#"flows = "assured""#,
                &[
                    "net.toml:35:9: marker.edge.flows: is text (allowed: a list, each a name of letters, digits, _ and -)",
                ],
            ),
            (
                r#"flows = ["assured", 1]"#,
                &[
                    "net.toml:35:21: marker.edge.flows: is a whole number (allowed: a name of letters, digits, _ and -)",
                ],
            ),
        ],
    );
    refused(
        DIFFSERV,
        r#"cir = "4Mbps""#,
        &[
            (
                r#"cir = "0Mbps""#,
                &[
                    r#"net.toml:36:7: marker.edge.cir: must be above 0 (allowed: a rate above 0 such as "10Mbps")"#,
                ],
            ),
            (
                "",
                &[r#"net.toml:32:1: marker.edge.cir: is missing (allowed: a rate above 0 such as "10Mbps")"#],
            ),
            (
                "cir = \"4Mbps\"\nper = \"packet\"",
                &[r#"net.toml:37:7: marker.edge.per: "packet" is not known (allowed: flow, group)"#],
            ),
            (
                "cir = \"4Mbps\"\ngreen = \"AF14\"",
                &[
                    r#"net.toml:37:9: marker.edge.green: "AF14" is not a code point (allowed: BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63; did you mean "AF11"?)"#,
                ],
            ),
            (
                "cir = \"4Mbps\"\nred = 64",
                &[
                    "net.toml:37:7: marker.edge.red: 64 is out of range (allowed: BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63)",
                ],
            ),
            (
                "cir = \"4Mbps\"\npir = \"5Mbps\"",
                &["net.toml:37:1: marker.edge.pir: token-bucket has no pir (allowed: cir, cbs)"],
            ),
            (
                "cir = \"4Mbps\"\nebs = 0\npbs = \"1000B\"\nwindow = \"1s\"\ncolor_aware = true\nyellow = \"AF12\"",
                &[
                    "net.toml:37:1: marker.edge.ebs: token-bucket has no ebs (allowed: cir, cbs)",
                    "net.toml:38:1: marker.edge.pbs: token-bucket has no pbs (allowed: cir, cbs)",
                    "net.toml:39:1: marker.edge.window: token-bucket has no window (allowed: cir, cbs)",
                    "net.toml:40:1: marker.edge.color_aware: token-bucket has no color_aware (allowed: cir, cbs)",
                    "net.toml:41:1: marker.edge.yellow: token-bucket has no yellow (allowed: cir, cbs)",
                ],
            ),
            (
                "cir = \"4Mbps\"\ncbs = \"0B\"",
                &[
                    r#"net.toml:37:7: marker.edge.cbs: 0 is out of range (allowed: bytes such as "1000B", from 1 to 1000000000000)"#,
                ],
            ),
            (
                "cir = \"4Mbps\"\ncbs = \"1p\"",
                &[
                    r#"net.toml:37:7: marker.edge.cbs: "p" is not a unit for this (allowed: bytes such as "1000B", from 1 to 1000000000000; units B, kB, KB, MB, KiB, MiB)"#,
                ],
            ),
            (
                "cir = \"4Mbps\"\nrate = \"1Mbps\"",
                &[
                    "net.toml:37:1: marker.edge.rate: unknown key (allowed: kind, link, flows, per, cir, pir, cbs, ebs, pbs, window, color_aware, green, yellow, red)",
                ],
            ),
        ],
    );
    refused(
        DIFFSERV,
        "[marker.edge]",
        &[
            (
                r#"[marker."my edge"]"#,
                &[
                    r#"net.toml:32:10: marker: "my edge" is not a name (allowed: a name of letters, digits, _ and -)"#,
                ],
            ),
            (
                "[marker]\nother = 1\n[marker.edge]",
                &[
                    "net.toml:33:9: marker.other: is a whole number (allowed: a table with kind, link, flows, per, cir, pir, cbs, ebs, pbs, window, color_aware, green, yellow, red)",
                ],
            ),
        ],
    );
}

#[test]
fn meters() {
    refused(
        DIFFSERV,
        r#"kind = "token-bucket""#,
        &[
            (
                "kind = \"tsw2cm\"\npir = \"5Mbps\"\nwindow = \"0s\"",
                &[
                    "net.toml:34:1: marker.edge.pir: tsw2cm has no pir (allowed: cir, window)",
                    r#"net.toml:35:10: marker.edge.window: must be above 0 (allowed: a time above 0 such as "10ms")"#,
                ],
            ),
            (
                "kind = \"tsw2cm\"\nyellow = \"AF12\"",
                &["net.toml:34:1: marker.edge.yellow: tsw2cm has no yellow (allowed: cir, window)"],
            ),
            (
                r#"kind = "tsw3cm""#,
                &[
                    r#"net.toml:32:1: marker.edge.pir: is missing (allowed: a rate above 0 such as "10Mbps", which tsw3cm needs)"#,
                ],
            ),
            (
                "kind = \"tsw3cm\"\npir = \"3Mbps\"",
                &[
                    "net.toml:34:7: marker.edge.pir: pir (3000000 bit/s) is below cir (4000000 bit/s) (allowed: cir <= pir)",
                ],
            ),
            (
                "kind = \"tsw3cm\"\npri = \"5Mbps\"",
                &[
                    r#"net.toml:34:1: marker.edge.pri: unknown key (allowed: kind, link, flows, per, cir, pir, cbs, ebs, pbs, window, color_aware, green, yellow, red; did you mean "pir"?)"#,
                ],
            ),
            (
                "kind = \"tsw3cm\"\npir = \"5Mbps\"\ncbs = \"10KB\"",
                &["net.toml:35:1: marker.edge.cbs: tsw3cm has no cbs (allowed: cir, pir, window, yellow)"],
            ),
            (
                r#"kind = "srtcm""#,
                &[
                    r#"net.toml:32:1: marker.edge.cbs: is missing (allowed: bytes such as "1000B", from 1 to 1000000000000, which srtcm needs)"#,
                    r#"net.toml:32:1: marker.edge.ebs: is missing (allowed: bytes such as "1000B", from 0 to 1000000000000, which srtcm needs)"#,
                ],
            ),
            (
                "kind = \"srtcm\"\ncbs = \"10KB\"\nebs = \"0B\"\npir = \"5Mbps\"",
                &[
                    "net.toml:36:1: marker.edge.pir: srtcm has no pir (allowed: cir, cbs, ebs, color_aware, yellow)",
                ],
            ),
            (
                "kind = \"trtcm\"\ncbs = \"10KB\"\npbs = \"10KB\"",
                &[
                    r#"net.toml:32:1: marker.edge.pir: is missing (allowed: a rate above 0 such as "10Mbps", which trtcm needs)"#,
                ],
            ),
            (
                "kind = \"trtcm\"\ncbs = \"10KB\"\npbs = \"0B\"\npir = \"1Mbps\"",
                &[
                    r#"net.toml:35:7: marker.edge.pbs: 0 is out of range (allowed: bytes such as "1000B", from 1 to 1000000000000)"#,
                    "net.toml:36:7: marker.edge.pir: pir (1000000 bit/s) is below cir (4000000 bit/s) (allowed: cir <= pir)",
                ],
            ),
            (
                "kind = \"srtcm\"\ncbs = \"10KB\"\nebs = 0\ncolor_aware = true\nred = \"AF11\"",
                &[
                    "net.toml:37:7: marker.edge.red: red and green are both AF11 (allowed: code points that differ, since color_aware reads them)",
                ],
            ),
            (
                "kind = \"srtcm\"\ncbs = \"10KB\"\nebs = 0\ncolor_aware = 1",
                &["net.toml:36:15: marker.edge.color_aware: is a whole number (allowed: true or false)"],
            ),
        ],
    );
}

#[test]
fn a_flow_is_marked_once_at_a_link() {
    refused(
        DIFFSERV,
        "[[change]]",
        &[(
            "[marker.other]\nkind = \"tsw2cm\"\nlink = \"edge\"\nflows = [\"rest\", \"assured\"]\ncir = \"1Mbps\"\n\n[[change]]",
            &[
                r#"net.toml:41:18: marker.other.flows: "assured" is marked at this link already, by edge on line 32 (allowed: one marker for a flow at a link)"#,
            ],
        )],
    );
}

#[test]
fn changes() {
    refused(
        DIFFSERV,
        r#"at = "5s""#,
        &[
            (
                r#"at = "10s""#,
                &[
                    "net.toml:39:6: change.0.at: is not before the end of the run (allowed: below duration (10 s))",
                ],
            ),
            ("at = 5", &[r#"net.toml:39:6: change.0.at: 5 has no unit (allowed: a time such as "10ms")"#]),
            ("", &[r#"net.toml:38:1: change.0.at: is missing (allowed: a time such as "10ms")"#]),
            (
                r#"at = "-1s""#,
                &[r#"net.toml:39:6: change.0.at: -1s is negative (allowed: a time such as "10ms")"#],
            ),
            (
                r#"att = "5s""#,
                &[
                    r#"net.toml:39:1: change.0.att: unknown key (allowed: at, link, rate, delay, loss, jitter, reorder, duplicate, state, waiting; did you mean "at"?)"#,
                ],
            ),
        ],
    );
    refused(
        DIFFSERV,
        r#"link = "core""#,
        &[
            (
                r#"link = "cores""#,
                &[
                    r#"net.toml:40:8: change.0.link: unknown link "cores" (allowed: edge, edge.reverse, core, core.reverse, sink, sink.reverse, source.assured.0, source.assured.0.reverse, source.assured.1, source.assured.1.reverse, source.rest, source.rest.reverse; did you mean "core"?)"#,
                ],
            ),
            (
                "",
                &[
                    "net.toml:38:1: change.0.link: is missing (allowed: a name of letters, digits and _ - . : / >)",
                ],
            ),
            (
                r#"link = ["core"]"#,
                &[
                    "net.toml:40:8: change.0.link: is a list (allowed: a name of letters, digits and _ - . : / >)",
                ],
            ),
        ],
    );
    refused(
        DIFFSERV,
        r#"rate = "5Mbps""#,
        &[
            (
                "",
                &[
                    "net.toml:38:1: change.0: changes nothing of the link (allowed: rate, delay, loss, jitter, reorder, duplicate, state)",
                ],
            ),
            (
                r#"rate = "-1Mbps""#,
                &[
                    r#"net.toml:41:8: change.0.rate: -1Mbps is negative (allowed: a rate such as "10Mbps", or "0bps")"#,
                ],
            ),
            (
                r#"raet = "5Mbps""#,
                &[
                    r#"net.toml:41:1: change.0.raet: unknown key (allowed: at, link, rate, delay, loss, jitter, reorder, duplicate, state, waiting; did you mean "rate"?)"#,
                ],
            ),
            (
                r#"delay = "fast""#,
                &[
                    r#"net.toml:41:9: change.0.delay: "fast" does not begin with a number (allowed: a time such as "10ms")"#,
                ],
            ),
            (
                "rate = \"5Mbps\"\nduration = \"1s\"",
                &[
                    "net.toml:42:1: change.0.duration: unknown key (allowed: at, link, rate, delay, loss, jitter, reorder, duplicate, state, waiting)",
                ],
            ),
            (
                "rate = \"5Mbps\"\n\n[[change]]\nat = \"5s\"\nlink = \"core\"\nrate = \"6Mbps\"\ndelay = \"1ms\"",
                &["net.toml:46:8: change.1.rate: the rate of core changes at 5 s already, on line 38"],
            ),
        ],
    );
    refused(
        DIFFSERV,
        "[[change]]",
        &[("[change]", &["net.toml:38:1: change: is a table (allowed: [[change]] entries)"])],
    );
}

#[test]
fn probes() {
    refused(
        DIFFSERV,
        "[run]",
        &[
            (
                "[probe]\nflow_interval = \"1ns\"\n[run]",
                &[
                    "net.toml:4:17: probe.flow_interval: makes 30000000000 samples, about 7500.000 GB of memory (allowed: intervals with at most 16000000 samples, 4 GB)",
                ],
            ),
            (
                "[probe]\ndiscipline_interval = \"0s\"\n[run]",
                &[
                    r#"net.toml:4:23: probe.discipline_interval: must be above 0 (allowed: a time above 0 such as "10ms")"#,
                ],
            ),
            (
                "[probe]\nflow_intervall = \"1s\"\n[run]",
                &[
                    r#"net.toml:4:1: probe.flow_intervall: unknown key (allowed: links, queue_interval, cwnd_interval, flow_interval, discipline_interval, delay_histogram, events, events_from, events_until, packets, losses, max_records, flow_delay; did you mean "flow_interval"?)"#,
                ],
            ),
            (
                "[probe]\nlinks = [\"edge.revers\"]\n[run]",
                &[
                    r#"net.toml:4:10: probe.links: unknown link "edge.revers" (allowed: edge, edge.reverse, core, core.reverse, sink, sink.reverse, source.assured.0, source.assured.0.reverse, source.assured.1, source.assured.1.reverse, source.rest, source.rest.reverse; did you mean "edge.reverse"?)"#,
                ],
            ),
        ],
    );
}
