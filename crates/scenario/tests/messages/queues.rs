//! `[queue.NAME]`.

use super::{DIFFSERV, DUMBBELL, VALID, accepted, exchange, messages, refused};

#[test]
fn unknown_discipline() {
    let names: Vec<_> = aqmlab_aqm::PRESETS.iter().map(|p| p.name).collect();
    // Of many the first twenty are named.
    let known = format!("{}, ... (N in all)", names[..20].join(", "));
    let cases = [
        (r#"aqm = "rde""#, r#""rde" is not known"#, r#"; did you mean "red"?"#),
        (r#"aqm = "nothing like it""#, r#""nothing like it" is not known"#, ""),
        ("aqm = 1", "is a whole number", ""),
    ];
    for (replacement, what, hint) in cases {
        let message = format!("net.toml:14:7: queue.main.aqm: {what} (allowed: {known}{hint})");
        refused(VALID, r#"aqm = "red""#, &[(replacement, &[&message])]);
    }
}

#[test]
fn parameter_of_another_discipline() {
    refused(
        VALID,
        r#"aqm = "red""#,
        &[(
            r#"aqm = "drop-tail""#,
            &[
                "net.toml:16:1: queue.main.min_th: drop-tail has no parameter min_th (allowed: aqm, limit, dialect, strict_limit)",
                "net.toml:17:1: queue.main.max_th: drop-tail has no parameter max_th (allowed: aqm, limit, dialect, strict_limit)",
            ],
        )],
    );
    refused(
        VALID,
        "aqm = \"red\"\n",
        &[(
            "",
            &[
                "net.toml:15:1: queue.main.min_th: drop-tail, the default aqm, has no parameter min_th (allowed: aqm, limit, dialect, strict_limit)",
                "net.toml:16:1: queue.main.max_th: drop-tail, the default aqm, has no parameter max_th (allowed: aqm, limit, dialect, strict_limit)",
            ],
        )],
    );
}

#[test]
fn ranges() {
    refused(
        VALID,
        r#"aqm = "red""#,
        &[
            (
                "aqm = \"red\"\nmax_p = 1.5",
                &["net.toml:15:9: queue.main.max_p: 1.5 is out of range (allowed: 0 <= x <= 1)"],
            ),
            (
                "aqm = \"red\"\nmax_p = -0.1",
                &["net.toml:15:9: queue.main.max_p: -0.1 is out of range (allowed: 0 <= x <= 1)"],
            ),
            (
                "aqm = \"red\"\nmax_p = \"150%\"",
                &["net.toml:15:9: queue.main.max_p: 1.5 is out of range (allowed: 0 <= x <= 1)"],
            ),
            (
                "aqm = \"red\"\nw_q = 0",
                &[
                    r#"net.toml:15:7: queue.main.w_q: 0 is out of range (allowed: 0 < x <= 1, or "auto", "auto-1s", "auto-0.1s")"#,
                ],
            ),
            (
                "aqm = \"red\"\nw_q = 2",
                &[
                    r#"net.toml:15:7: queue.main.w_q: 2 is out of range (allowed: 0 < x <= 1, or "auto", "auto-1s", "auto-0.1s")"#,
                ],
            ),
            (
                "aqm = \"red\"\nw_q = nan",
                &[
                    r#"net.toml:15:7: queue.main.w_q: is not a number (allowed: 0 < x <= 1, or "auto", "auto-1s", "auto-0.1s")"#,
                ],
            ),
            (
                "aqm = \"red\"\nw_q = inf",
                &[
                    r#"net.toml:15:7: queue.main.w_q: is infinite (allowed: 0 < x <= 1, or "auto", "auto-1s", "auto-0.1s")"#,
                ],
            ),
            (
                "aqm = \"red\"\nw_q = \"automatic\"",
                &[
                    r#"net.toml:15:7: queue.main.w_q: "automatic" is not known (allowed: 0 < x <= 1, or "auto", "auto-1s", "auto-0.1s"; did you mean "auto"?)"#,
                ],
            ),
            (
                "aqm = \"red\"\nmean_packet = \"0B\"",
                &[
                    r#"net.toml:15:15: queue.main.mean_packet: 0B is out of range (allowed: at least 1, in bytes ("1000B"))"#,
                ],
            ),
            (
                "aqm = \"red\"\nmean_packet = \"10p\"",
                &[
                    r#"net.toml:15:15: queue.main.mean_packet: "p" is not a unit for this (allowed: at least 1, in bytes ("1000B"); units B, kB, KB, MB, KiB, MiB)"#,
                ],
            ),
            (
                "aqm = \"red\"\nmode = \"byte\"",
                &[
                    r#"net.toml:15:8: queue.main.mode: "byte" is not known (allowed: one of "packets", "bytes"; did you mean "bytes"?)"#,
                ],
            ),
            (
                "aqm = \"red\"\nmode = 3",
                &[
                    r#"net.toml:15:8: queue.main.mode: is a whole number (allowed: one of "packets", "bytes")"#,
                ],
            ),
            (
                "aqm = \"red\"\necn = \"yes\"",
                &[r#"net.toml:15:7: queue.main.ecn: "yes" is not known (allowed: true or false)"#],
            ),
            (
                "aqm = \"red\"\necn = 1",
                &["net.toml:15:7: queue.main.ecn: is a whole number (allowed: true or false)"],
            ),
            (
                "aqm = \"red\"\ncurve = \"unheard-of\"",
                &[r#"net.toml:15:9: queue.main.curve: "unheard-of" is not known (allowed: one of {curve})"#],
            ),
            (
                "aqm = \"red\"\ncurve = \"points\"",
                &[
                    r#"net.toml:13:1: queue.main.points: curve "points" needs its points (allowed: [[5, 0.0], [15, 0.1], [30, 1.0]])"#,
                ],
            ),
            (
                "aqm = \"red\"\ncurve = \"points\"\npoints = [[0, 0], [10]]",
                &[
                    "net.toml:16:10: queue.main.points: each point is a pair of numbers (allowed: a list of [average, p_b] pairs, both not falling, p_b in [0, 1])",
                ],
            ),
            (
                "aqm = \"red\"\ncurve = \"points\"\npoints = [[10, 0], [5, 1]]",
                &[
                    "net.toml:16:10: queue.main.points: the points are out of order or out of range (allowed: a list of [average, p_b] pairs, both not falling, p_b in [0, 1])",
                ],
            ),
            (
                "aqm = \"red\"\ndialect = \"ns2\"",
                &[
                    r#"net.toml:15:11: queue.main.dialect: "ns2" is not known (allowed: one of "floyd93", "ns2-2.35", "linux", "dsred", "as-printed"; did you mean "ns2-2.35"?)"#,
                ],
            ),
            (
                "aqm = \"red\"\nspacing = \"ns2\"",
                &[
                    r#"net.toml:15:11: queue.main.spacing: "ns2" is not known (allowed: one of {spacing}; did you mean "ns2-wait"?)"#,
                ],
            ),
            (
                "aqm = \"red\"\nw_q = -1",
                &[
                    r#"net.toml:15:7: queue.main.w_q: -1 is out of range (allowed: 0 < x <= 1, or "auto", "auto-1s", "auto-0.1s")"#,
                ],
            ),
        ],
    );
}

#[test]
fn limit() {
    refused(
        VALID,
        r#"limit = "100p""#,
        &[
            (
                r#"limit = "0p""#,
                &[
                    r#"net.toml:15:9: queue.main.limit: 0p is out of range (allowed: at least 1, in packets ("100p") or bytes ("64KB"))"#,
                ],
            ),
            (
                "limit = 0",
                &[
                    r#"net.toml:15:9: queue.main.limit: 0p is out of range (allowed: at least 1, in packets ("100p") or bytes ("64KB"))"#,
                ],
            ),
            (
                "limit = -5",
                &[
                    r#"net.toml:15:9: queue.main.limit: -5 is negative (allowed: at least 1, in packets ("100p") or bytes ("64KB"))"#,
                ],
            ),
            (
                r#"limit = "-5p""#,
                &[
                    r#"net.toml:15:9: queue.main.limit: -5p is negative (allowed: at least 1, in packets ("100p") or bytes ("64KB"))"#,
                ],
            ),
            (
                r#"limit = "1.5p""#,
                &[
                    r#"net.toml:15:9: queue.main.limit: 1.5 is not a whole number of packets (allowed: at least 1, in packets ("100p") or bytes ("64KB"))"#,
                ],
            ),
            (
                r#"limit = "1e12p""#,
                &[
                    r#"net.toml:15:9: queue.main.limit: is above 4294967295p (allowed: at least 1, in packets ("100p") or bytes ("64KB"))"#,
                ],
            ),
            (
                r#"limit = "64kb""#,
                &[
                    r#"net.toml:15:9: queue.main.limit: "kb" is not a unit for this (allowed: at least 1, in packets ("100p") or bytes ("64KB"); units p, B, kB, KB, MB, KiB, MiB; did you mean "64kB"?)"#,
                ],
            ),
            (
                r#"limit = "10Mbps""#,
                &[
                    r#"net.toml:15:9: queue.main.limit: "Mbps" is not a unit for this (allowed: at least 1, in packets ("100p") or bytes ("64KB"); units p, B, kB, KB, MB, KiB, MiB)"#,
                ],
            ),
            (
                "limit = [1]",
                &[
                    r#"net.toml:15:9: queue.main.limit: is a list (allowed: at least 1, in packets ("100p") or bytes ("64KB"))"#,
                ],
            ),
            (
                "limit = true",
                &[
                    r#"net.toml:15:9: queue.main.limit: is true (allowed: at least 1, in packets ("100p") or bytes ("64KB"))"#,
                ],
            ),
            (
                r#"limit = """#,
                &[
                    r#"net.toml:15:9: queue.main.limit: "" does not begin with a number (allowed: at least 1, in packets ("100p") or bytes ("64KB"))"#,
                ],
            ),
            (
                "limit = 1e300",
                &[
                    r#"net.toml:15:9: queue.main.limit: is above 4294967295p (allowed: at least 1, in packets ("100p") or bytes ("64KB"))"#,
                ],
            ),
        ],
    );
}

#[test]
fn thresholds() {
    refused(
        VALID,
        r#"min_th = "10p""#,
        &[
            (
                r#"min_th = "40p""#,
                &[
                    "net.toml:16:10: queue.main.min_th: min_th (40p) is not below max_th (30p) (allowed: 0 < min_th < max_th)",
                ],
            ),
            (
                r#"min_th = "30p""#,
                &[
                    "net.toml:16:10: queue.main.min_th: min_th (30p) is not below max_th (30p) (allowed: 0 < min_th < max_th)",
                ],
            ),
            (
                r#"min_th = "0p""#,
                &[
                    r#"net.toml:16:10: queue.main.min_th: 0p is out of range (allowed: above 0, in packets ("30p") or bytes ("30KB"), or "auto")"#,
                ],
            ),
            (
                r#"min_th = "100KB""#,
                &[
                    "net.toml:16:10: queue.main.min_th: min_th (100p) is not below max_th (30p) (allowed: 0 < min_th < max_th)",
                ],
            ),
        ],
    );
    refused(
        VALID,
        "aqm = \"red\"\nlimit = \"100p\"",
        &[(
            "aqm = \"exred\"\nlimit = \"30p\"",
            &[
                "net.toml:15:9: queue.main.limit: ExRED's curve ends at the limit (30p), which is not above max_th (30p) (allowed: above 30p)",
            ],
        )],
    );
    refused(
        VALID,
        r#"aqm = "red""#,
        &[(
            "aqm = \"nlred\"\nmax_p = 0.9",
            &[
                "net.toml:15:9: queue.main.max_p: NLRED's p_b = 1.5 max_p x^2 would pass 1 with max_p = 0.9 (allowed: 0 <= max_p <= 2/3)",
            ],
        )],
    );
}

#[test]
fn max_p_of_0() {
    accepted(&exchange(VALID, r#"aqm = "red""#, "aqm = \"red\"\nmax_p = 0"), &[]);
    for (aqm, rule) in [("feng-red", "feng"), ("adaptive-red", "adaptive-red")] {
        let text = exchange(VALID, r#"aqm = "red""#, &format!("aqm = {aqm:?}\nmax_p = 0"));
        let expected = format!(
            "net.toml:15:9: queue.main.max_p: {rule:?} multiplies max_p, which stays 0 (allowed: 0 < x <= 1)"
        );
        assert_eq!(messages(&text, &[]), [expected]);
    }
    let own = exchange(DIFFSERV, r#"min_th = "40p""#, "max_p = 0");
    accepted(&own, &[]);
    let text = exchange(&own, r#"aqm = "rio""#, "aqm = \"rio\"\nadaptation = \"feng\"");
    let expected = r#"net.toml:19:9: queue.main.class.in.max_p: "feng" multiplies max_p, which stays 0 (allowed: 0 < x <= 1)"#;
    assert_eq!(messages(&text, &[]), [expected]);
}

#[test]
fn queue_names() {
    refused(
        VALID,
        r#"queue = "main""#,
        &[
            (
                r#"queue = "mian""#,
                &[
                    r#"net.toml:11:9: link.a->b.queue: unknown queue "mian" (allowed: main, default; did you mean "main"?)"#,
                ],
            ),
            (
                "reverse_queue = \"back\"\nqueue = \"main\"",
                &[
                    r#"net.toml:11:17: link.a->b.reverse_queue: unknown queue "back" (allowed: main, default)"#,
                ],
            ),
        ],
    );
    refused(
        VALID,
        "[queue.main]",
        &[
            (
                "[queue.\"my queue\"]\n[queue.main]",
                &[
                    r#"net.toml:13:9: queue: "my queue" is not a name (allowed: a name of letters, digits, _ and -)"#,
                ],
            ),
            (
                "[queue]\nother = 1\n[queue.main]",
                &[
                    "net.toml:14:9: queue.other: is a whole number (allowed: a table with aqm and its parameters)",
                ],
            ),
        ],
    );
    refused(
        DUMBBELL,
        r#"queue = "main" }"#,
        &[(
            r#"queue = "man" }"#,
            &[
                r#"net.toml:7:57: dumbbell.bottleneck.queue: unknown queue "man" (allowed: main, default; did you mean "main"?)"#,
            ],
        )],
    );
    refused(
        VALID,
        r#"queue = "main""#,
        &[(
            "queue = 1",
            &[
                "net.toml:11:9: link.a->b.queue: is a whole number (allowed: a name of letters, digits, _ and -)",
            ],
        )],
    );
}
