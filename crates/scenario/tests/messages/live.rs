//! `[live]`, and `exec` of flows.

use aqmlab_scenario::{CountBytes, Distance, Family, FlowLabel, Live, Problem, parse};

use super::{DIFFSERV, DUMBBELL, VALID, accepted, exchange, refused};

/// `VALID` with these keys in `[live]`.
fn live(keys: &str) -> String {
    format!("{VALID}\n[live]\n{keys}")
}

#[test]
fn settings() {
    refused(
        &live("link = \"a->b\""),
        "link = \"a->b\"",
        &[
            (
                "family = \"ipv5\"",
                &[
                    r#"net.toml:26:10: live.family: "ipv5" is not known (allowed: ipv4, ipv6; did you mean "ipv4"?)"#,
                ],
            ),
            (
                "link = \"a->c\"",
                &[
                    r#"net.toml:26:8: live.link: unknown link "a->c" (allowed: a->b, b->a; did you mean "a->b"?)"#,
                ],
            ),
            (
                "flow_label = \"ipv6-label\"",
                &[
                    r#"net.toml:26:14: live.flow_label: packets of IPv4 have no flow label (allowed: "5-tuple", or family = "ipv6")"#,
                ],
            ),
            (
                "distance = \"infered\"",
                &[
                    r#"net.toml:26:12: live.distance: "infered" is not known (allowed: inferred, option, or a table by prefix such as "10.77.1.0/24", each a whole number from 1 to 255; did you mean "inferred"?)"#,
                ],
            ),
            (
                "distance = { \"10.77.1.0\" = 64 }",
                &[
                    r#"net.toml:26:15: live.distance: "10.77.1.0" is not a prefix of addresses (allowed: prefixes such as "10.77.1.0/24")"#,
                ],
            ),
            (
                "distance = { \"10.77.1.0/24\" = 256 }",
                &[
                    r#"net.toml:26:31: live.distance."10.77.1.0/24": 256 is out of range (allowed: a whole number from 1 to 255)"#,
                ],
            ),
            (
                "loss = 1.5",
                &["net.toml:26:8: live.loss: 1.5 is out of range (allowed: a number from 0 to 1)"],
            ),
            (
                "count_bytes = \"IP\"",
                &[
                    r#"net.toml:26:15: live.count_bytes: "IP" is not known (allowed: ip, ethernet; did you mean "ip"?)"#,
                ],
            ),
            (
                "queue = \"main\"",
                &[
                    "net.toml:26:1: live.queue: unknown key (allowed: family, link, flow_label, distance, qosa_bit, count_bytes, loss, reverse_loss)",
                ],
            ),
        ],
    );
}

#[test]
fn settings_that_are_taken() {
    let of = |text: &str| accepted(text, &[]).live;
    assert_eq!(of(VALID), Live { link: Some(0), ..Live::default() }, "the only queue that is not drop-tail");
    let link = |text: &str| {
        let scenario = accepted(text, &[]);
        scenario.live.link.map(|link| scenario.plan.links[link as usize].name.to_string())
    };
    assert_eq!(link(DUMBBELL).as_deref(), Some("bottleneck"));
    assert_eq!(link(DIFFSERV).as_deref(), Some("core"));
    assert_eq!(link(&live("link = \"b->a\"")).as_deref(), Some("b->a"));
    let all = of(&live(
        "family = \"ipv6\"\nflow_label = \"ipv6-label\"\ncount_bytes = \"ethernet\"\nloss = \"1%\"\nreverse_loss = 0.5\n\
         distance = { \"fd77::/16\" = 255 }",
    ));
    assert_eq!(
        (all.family, all.flow_label, all.count_bytes),
        (Family::V6, FlowLabel::Ipv6, CountBytes::Ethernet)
    );
    assert_eq!((all.loss, all.reverse_loss), (0.01, 0.5));
    assert_eq!(all.distance, Distance::ByPrefix(vec![("fd77::/16".into(), 255)]));
    let carried = of(&live("distance = \"option\"\nqosa_bit = true"));
    assert_eq!((all.qosa_bit, carried.qosa_bit, carried.distance), (false, true, Distance::Option));
}

#[test]
fn programs() {
    refused(
        VALID,
        "count = 2",
        &[
            (
                "exec = \" \"",
                &[
                    r#"net.toml:21:8: flow.tcp.exec: is empty (allowed: a command such as "iperf3 -c {server} -p {port}")"#,
                ],
            ),
            (
                "exec = \"curl http://{sever}:{port}\"",
                &[
                    r#"net.toml:21:8: flow.tcp.exec: {sever} stands for nothing (allowed: {server}, {port}, {duration}; did you mean "server"?)"#,
                ],
            ),
            (
                "exec_server = \"iperf3 -s -p {port}\"",
                &[
                    "net.toml:21:1: flow.tcp.exec_server: exec_server needs exec, the command that sends (allowed: exec, or exec and exec_server)",
                ],
            ),
            ("exec = 7", &["net.toml:21:8: flow.tcp.exec: is a whole number (allowed: text in quotes)"]),
        ],
    );
    let text = exchange(
        VALID,
        "count = 2",
        "exec = \"awk '{print}' | nc {server} {port}\"\nexec_server = \"nc -l {port}\"",
    );
    let warning =
        "net.toml:21:8: flow.tcp.exec: is for live runs; the simulator's flow sends by TCP as the file says";
    let scenario = accepted(&text, &[warning]);
    let program = &scenario.live.programs["tcp"];
    assert_eq!(program.exec_server.as_deref(), Some("nc -l {port}"));
    assert!(program.exec.starts_with("awk"));
}

/// The errors of this text for a live run, or its warnings if there are none.
fn problems(text: &str) -> Vec<String> {
    let scenario = parse(text, "net.toml", &[]);
    let found = scenario.and_then(|scenario| Ok(scenario.live_plan(1)?.1)).unwrap_or_else(|errors| errors);
    let line = |p: &Problem| format!("{}: {:?}: {:?}", p.line, p.key, p.message);
    found.iter().map(line).collect()
}

#[test]
fn what_a_live_run_cannot_do_and_what_it_leaves_out() {
    assert_eq!(problems(VALID), [""; 0]);
    let plain = exchange(VALID, "queue = \"main\"\n", "");
    let plain = exchange(
        &plain,
        "[queue.main]\naqm = \"red\"\nlimit = \"100p\"\nmin_th = \"10p\"\nmax_th = \"30p\"\n",
        "",
    );
    let no_link = "1: \"live.link\": \"is required: no link has AQM\"";
    assert_eq!(problems(&plain), [no_link]);
    let more = "[[link]]\nfrom = \"b\"\nto = \"c\"\nrate = \"1Mbps\"\ndelay = \"1ms\"\n\n[[flow]]\nname = \"aside\"\nfrom = \"b\"\nto = \"c\"\n";
    assert_eq!(
        problems(&format!("{VALID}\n{more}")),
        ["31: \"flow.aside\": \"flow aside does not cross the live link a->b\""]
    );
    let odd = exchange(VALID, "count = 2", "dscp = 1");
    assert_eq!(problems(&odd), [""; 0]);
    assert_eq!(
        problems(&format!("{odd}\n[live]\nqosa_bit = true\n")),
        ["21: \"flow.tcp.dscp\": \"a code point is odd, but with qosa_bit the lowest bit is QOSA\""]
    );
    let change = "[[change]]\nat = \"5s\"\nlink = \"b->a\"\nrate = \"1Mbps\"\n";
    assert_eq!(
        problems(&format!("{VALID}\n{change}")),
        ["27: \"change.0.link\": \"is not the live link, so that a live run leaves it as it is\""]
    );
    let onward = exchange(VALID, "count = 2\nfrom = \"a\"\nto = \"b\"", "from = \"a\"\nto = \"c\"");
    let second = "[[link]]\nfrom = \"b\"\nto = \"c\"\nrate = \"1Mbps\"\ndelay = \"1ms\"\nqueue = \"main\"\n\n[live]\nlink = \"a->b\"\n";
    assert_eq!(
        problems(&format!("{onward}\n{second}")),
        ["31: \"live\": \"link b->c has a queue of red, which a live run leaves out\""]
    );
    let text = exchange(VALID, "count = 2", "exec = \"nc {server} {port}\"");
    assert_eq!(problems(&text), [""; 0], "the program runs");
    let quic = exchange(VALID, "count = 2", "transport = \"tcp\"\ntcp = { loss_detection = \"quic\" }");
    assert_eq!(
        problems(&quic),
        ["22: \"flow.tcp.tcp\": \"a live run has the kernel's TCP, which lacks QUIC's loss detection\""]
    );
}
