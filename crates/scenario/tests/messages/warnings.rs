//! Settings accepted with a warning, settings accepted without, and many errors at once.

use aqmlab_netsim::plan::{Size, Start, Transport};
use aqmlab_scenario::Severity;
use aqmlab_units::{Span, Time};

use super::{BUS, CHAIN, DIFFSERV, DUMBBELL, VALID, accepted, exchange, messages};

#[test]
fn unused_queues() {
    let text = exchange(VALID, "[[flow]]", "[queue.spare]\n\n[[flow]]");
    let scenario = accepted(&text, &["net.toml:19:1: queue.spare: is not the queue of any link"]);
    assert_eq!(scenario.warnings[0].severity, Severity::Warning);
}

#[test]
fn an_unused_queue_must_still_be_valid() {
    let text = exchange(VALID, "[[flow]]", "[queue.spare]\naqm = \"red\"\nmin_th = \"20p\"\n\n[[flow]]");
    let expected = "net.toml:21:10: queue.spare.min_th: min_th (20p) is not below max_th (15p) (allowed: 0 < min_th < max_th)";
    assert_eq!(messages(&text, &[]), [expected]);
}

#[test]
fn a_start_after_the_end() {
    let text = exchange(VALID, "count = 2", "start = \"10s\"");
    accepted(&text, &["net.toml:21:9: flow.tcp.start: starts at 10 s, when the run is over (10 s)"]);
    let text = exchange(VALID, "count = 2", "count = 3\nstart = { every = \"6s\" }");
    accepted(&text, &["net.toml:22:9: flow.tcp.start: starts at 12 s, when the run is over (10 s)"]);
    let spread =
        |to: &str| exchange(VALID, "count = 2", &format!("start = {{ uniform = [\"0s\", \"{to}\"] }}"));
    accepted(&spread("10s"), &[]); // drawn before the second time
    let late = "net.toml:21:9: flow.tcp.start: may start until 12 s, when the run is over (10 s)";
    accepted(&spread("12s"), &[late]);
    let stopped = |stop: &str| format!("{}stop = \"{stop}\"\n", spread("10s"));
    accepted(&stopped("10s"), &[]);
}

#[test]
fn a_threshold_that_cannot_be_reached() {
    let text = exchange(VALID, "\"100p\"", "\"20p\"");
    let expected =
        "net.toml:17:10: queue.main: max_th (30p) is above the limit (20p): the average cannot reach it";
    accepted(&text, &[expected]);
}

#[test]
fn a_curve_beyond_the_limit() {
    let beyond = |aqm: &str, limit: &str| {
        exchange(&exchange(VALID, "\"100p\"", limit), "aqm = \"red\"", &format!("aqm = \"{aqm}\""))
    };
    let expected = "net.toml:13:1: queue.main: the curve ends at an average of 60p, above the limit (50p): the average \
                    cannot reach its last part";
    accepted(&beyond("gentle-red", "\"50p\""), &[expected]);
    accepted(&beyond("mred", "\"50p\""), &[expected]);
    accepted(&beyond("gentle-red", "\"60p\""), &[]);
    accepted(&beyond("red", "\"50p\""), &[]);
    accepted(&beyond("exred", "\"50p\""), &[]);
    let late = "net.toml:16:10: queue.main: min_th (10p) is above limit/4 (9.75p): ExRED's paper requires k_l <= K/4";
    accepted(&beyond("exred", "\"39p\""), &[late]);
}

#[test]
fn parameters_for_flows_with_priority() {
    let own = "aqm = \"pc-red\"\nloss_start = 0.0\nsearch = \"early\"\nqosa = \"honoured\"";
    let text = exchange(VALID, "aqm = \"red\"", own);
    let expected = [
        "net.toml:15:14: queue.main: loss_start has no effect without a flow with priority = true",
        "net.toml:17:8: queue.main: qosa has no effect without a flow with priority = true",
    ];
    accepted(&text, &expected);
    for priority in ["priority = true", "priority = 2"] {
        accepted(&exchange(&text, "count = 2", &format!("count = 2\n{priority}")), &[]);
    }
    accepted(&exchange(&text, "count = 2", "count = 2\npriority = false"), &expected);
}

#[test]
fn udp_needs_no_way_back() {
    let text = exchange(VALID, "queue = \"main\"", "queue = \"main\"\nduplex = false");
    let text = exchange(&text, "count = 2", "transport = \"udp\"\nrate = \"1Mbps\"");
    let scenario = accepted(&text, &[]);
    assert_eq!(scenario.plan.links.len(), 1);
}

#[test]
fn defaults() {
    let scenario = accepted(VALID, &[]);
    let plan = &scenario.plan;
    assert_eq!((scenario.name.as_str(), scenario.description.as_str()), ("net", ""));
    assert_eq!((scenario.seeds.as_slice(), plan.warmup), (&[1][..], Span::ZERO));
    assert_eq!((plan.links[1].name.as_str(), plan.links[1].aqm()), ("b->a", "drop-tail"));
    assert_eq!(plan.links[1].queue.effective[0].1.to_string(), "1000p");
    assert_eq!((plan.flows[0].start.clone(), plan.flows[0].stop), (Start::At(Time::ZERO), None));
    assert_eq!(plan.probe.links, [0], "the queue that is not drop-tail");
    assert!(plan.probe.delay_histogram && !plan.probe.events);
    assert_eq!((plan.probe.queue_interval, plan.probe.cwnd_interval), (None, None));
    let Transport::Tcp { config, size: Size::Greedy, clock_offset: None } = &*plan.flows[1].transport else {
        panic!("not TCP")
    };
    assert_eq!(config.label(), "newreno");
}

#[test]
fn links_with_a_named_queue_are_observed_whatever_its_discipline() {
    let text = exchange(DUMBBELL, "aqm = \"red\"", "aqm = \"drop-tail\"");
    assert_eq!(accepted(&text, &[]).plan.probe.links, [0]);
    let text = exchange(VALID, "aqm = \"red\"", "aqm = \"drop-tail\"");
    let text = exchange(&text, "min_th = \"10p\"\nmax_th = \"30p\"\n", "");
    assert_eq!(accepted(&text, &[]).plan.probe.links, [0], "not the way back, whose queue has no name");
    assert!(accepted(CHAIN, &[]).plan.probe.links.is_empty());
    let text = exchange(CHAIN, "delay = \"10ms\" }\nhost", "delay = \"10ms\", queue = \"core\" }\nhost");
    let text = exchange(
        &text,
        "delay = \"10ms\" }\n\n[[flow]]",
        "delay = \"10ms\", queue = \"core\" }\n\n[queue.core]\nlimit = \"50p\"\n\n[[flow]]",
    );
    let plan = accepted(&text, &[]).plan;
    let names: Vec<_> = plan.probe.links.iter().map(|&l| plan.links[l as usize].name.as_str()).collect();
    assert_eq!(names, ["r1->r2", "r2->r3"], "not the links of hosts");
}

#[test]
fn a_dumbbell_may_have_two_directions_of_its_own() {
    let ways = "down = { rate = \"50Mbps\", delay = \"10ms\", queue = \"main\" }\n\
                up = { rate = \"5Mbps\", delay = \"20ms\" }";
    let bottleneck = "bottleneck = { rate = \"10Mbps\", delay = \"10ms\", queue = \"main\" }";
    let plan = accepted(&exchange(DUMBBELL, bottleneck, ways), &[]).plan;
    let [down, up] = [&plan.links[0], &plan.links[1]];
    assert_eq!([down.name.as_str(), up.name.as_str()], ["down", "up"]);
    assert_eq!([(down.from, down.to), (up.from, up.to)], [(0, 1), (1, 0)]);
    assert_eq!([down.rate().0, up.rate().0], [50_000_000, 5_000_000]);
    assert_eq!([down.delay().secs(), up.delay().secs()], [0.01, 0.02]);
    assert_eq!([down.aqm(), up.aqm()], ["red", "drop-tail"]);
    assert_eq!(plan.probe.links, [0, 1], "both directions");
}

#[test]
fn lengths_whose_mean_the_bounds_move() {
    let with = |size: &str| {
        let keys = format!("transport = \"udp\"\nrate = \"1Mbps\"\npacket_size = {size}");
        exchange(VALID, "count = 2", &keys)
    };
    accepted(&with("{ exponential = \"1000B\" }"), &[]);
    accepted(&with("{ exponential = \"10kB\" }"), &[]);
    for (size, mean, nominal) in [("30kB", "26624.0", "30000"), ("1B", "1.4", "1")] {
        let expected = format!(
            "net.toml:23:15: flow.tcp.packet_size: no packet is shorter than 1 byte or longer than 65535 bytes, so that \
             the mean is {mean} bytes, not {nominal}"
        );
        accepted(&with(&format!("{{ exponential = {size:?} }}")), &[&expected]);
    }
}

#[test]
fn sizes_become_packets() {
    for (size, packets) in [("\"1MB\"", 2000), ("\"1001B\"", 3), ("\"100p\"", 100), ("\"1B\"", 1)] {
        let text = exchange(VALID, "count = 2", &format!("size = {size}\npacket_size = \"500B\""));
        let Transport::Tcp { size, .. } = Transport::clone(&accepted(&text, &[]).plan.flows[0].transport)
        else {
            panic!("not TCP")
        };
        assert_eq!(size, Size::Packets(packets));
    }
}

#[test]
fn clock_offsets() {
    let offsets = |value: &str| -> Vec<Option<f64>> {
        let text = exchange(VALID, "count = 2", &format!("count = 2\ntcp = {{ clock_offset = {value} }}"));
        let flows = accepted(&text, &[]).plan.flows;
        let offset =
            |t: &Transport| if let Transport::Tcp { clock_offset, .. } = t { *clock_offset } else { None };
        flows.iter().map(|f| offset(&f.transport)).collect()
    };
    assert_eq!(offsets("0.004"), [Some(0.004), Some(0.004)]);
    assert_eq!(offsets("\"4ms\""), [Some(0.004), Some(0.004)]);
    assert_eq!(offsets("[0, 0.25]"), [Some(0.0), Some(0.25)]);
}

/// With many flows, a copy for each would take most of a plan's memory.
#[test]
fn flows_of_a_group_share_how_they_send() {
    let text = exchange(VALID, "count = 2", "count = 3");
    let flows = accepted(&text, &[]).plan.flows;
    assert!(flows.windows(2).all(|two| std::sync::Arc::ptr_eq(&two[0].transport, &two[1].transport)));
}

#[test]
fn all_errors_at_once() {
    let text = r#"format = 1
[run]
duration = "0s"
[dumbbell]
bottleneck = { rate = "-1Mbps", delay = "10ms", queue = "man" }
left = { rate = "20Mbps", delay = 5 }
right = { rate = "20Mbps", delay = "15ms" }
[queue.main]
aqm = "red"
min_th = "30p"
max_th = "10p"
max_p = 2
[[flow]]
name = "tcp"
transport = "newrno"
[[flow]]
name = "tcp"
count = 0
[probe]
links = 1
"#;
    let expected = [
        "net.toml:3:12: run.duration: must be above 0 (allowed: a time above 0 such as \"10ms\")",
        "net.toml:5:23: dumbbell.bottleneck.rate: -1Mbps is negative (allowed: a rate above 0 such as \"10Mbps\")",
        "net.toml:5:57: dumbbell.bottleneck.queue: unknown queue \"man\" (allowed: main, default; did you mean \"main\"?)",
        "net.toml:6:35: dumbbell.left.delay: 5 has no unit (allowed: a time such as \"10ms\")",
        "net.toml:12:9: queue.main.max_p: 2 is out of range (allowed: 0 <= x <= 1)",
        "net.toml:15:13: flow.tcp.transport: \"newrno\" is not known (allowed: tahoe, reno, newreno, sack, tcp, udp, scream; did you mean \"newreno\"?)",
        "net.toml:17:8: flow.tcp.name: there is a flow of this name already, on line 13",
        "net.toml:18:9: flow.tcp.count: 0 is out of range (allowed: a whole number from 1 to 1000000)",
        "net.toml:20:9: probe.links: is a whole number (allowed: a list, each a name of letters, digits and _ - . : / >)",
    ];
    assert_eq!(messages(text, &[]), expected);
}

#[test]
fn a_class_without_packets() {
    let text =
        exchange(DIFFSERV, "default = true", "default = true\n\n[[queue.main.class]]\nname = \"lost\"");
    let expected = "net.toml:25:1: queue.main.class.lost: no packet belongs to it: it has no code point and is not the default";
    accepted(&text, &[expected]);
}

#[test]
fn a_bucket_smaller_than_a_packet() {
    let text = exchange(DIFFSERV, "cir = \"4Mbps\"", "cir = \"100kbps\"");
    let expected = "net.toml:32:1: marker.edge.cbs: a bucket of 625 bytes never holds a packet of 1040 bytes";
    accepted(&text, &[expected]);
    let text = exchange(
        DIFFSERV,
        "\"token-bucket\"",
        "\"trtcm\"\npir = \"5Mbps\"\ncbs = \"1040B\"\npbs = \"1039B\"",
    );
    let expected =
        "net.toml:36:7: marker.edge.pbs: a bucket of 1039 bytes never holds a packet of 1040 bytes";
    accepted(&text, &[expected]);
}

#[test]
fn a_period_after_the_end() {
    let text = exchange(BUS, "count = 2", "active = [[\"1s\", \"2s\"], [\"10s\", \"20s\"]]");
    accepted(
        &text,
        &["net.toml:17:10: flow.tcp.active: a period begins at 10 s, when the run is over (10 s)"],
    );
}

#[test]
fn all_errors_of_the_newer_sections_at_once() {
    let text = r#"format = 1
[run]
duration = "10s"
[flower]
petals = 1
routers = 4
link = { rate = "10Mbps", delay = "10ms", queue = "core" }
host = { rate = "20Mbps", delay = "1ms", uplink_queue = "acess" }
[queue.core]
aqm = "rio"
[[queue.core.class]]
name = "in"
dscp = "AF44"
[[queue.core.class]]
name = "in"
max_p = 2
[[flow]]
name = "a"
size = { pareto = { mean = "12KB", shape = 0.9 } }
[[flow]]
name = "b"
active = [["2s", "1s"]]
stop = "3s"
[[flow]]
name = "c"
transport = "udp"
rate = "1Mbps"
pattern = { on = "1s" }
dscp = 64
[marker.edge]
kind = "trtcm"
link = "r1->r2"
flows = ["a", "d"]
cir = "4Mbps"
pir = "1Mbps"
cbs = "10KB"
ebs = "10KB"
[[change]]
at = "10s"
link = "r1->r2"
[probe]
flow_interval = "0s"
"#;
    let expected = [
        "net.toml:5:10: flower.petals: 1 is out of range (allowed: a whole number from 2 to 10000)",
        r#"net.toml:8:57: flower.host.uplink_queue: unknown queue "acess" (allowed: core, default)"#,
        r#"net.toml:13:8: queue.core.class.in.dscp: "AF44" is not a code point (allowed: BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63; did you mean "AF41"?)"#,
        "net.toml:15:8: queue.core.class.in.name: there is a class of this name already, on line 11",
        "net.toml:16:9: queue.core.class.in.max_p: 2 is out of range (allowed: 0 <= x <= 1)",
        "net.toml:19:44: flow.a.size.pareto.shape: 0.9 is out of range (allowed: a number above 1, at most 1000)",
        r#"net.toml:22:11: flow.b.active: the period ends before it begins (allowed: [["100s", "200s"], ["300s", "400s"]])"#,
        "net.toml:23:1: flow.b.stop: active says when the flow sends, so it has no stop (allowed: active, or start, stop and size)",
        r#"net.toml:28:11: flow.c.pattern.off: is missing (allowed: a time such as "10ms", or a table with uniform, exponential, pareto, cdf)"#,
        "net.toml:29:8: flow.c.dscp: 64 is out of range (allowed: BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63)",
        r#"net.toml:30:1: marker.edge.pbs: is missing (allowed: bytes such as "1000B", from 1 to 1000000000000, which trtcm needs)"#,
        r#"net.toml:33:15: marker.edge.flows: unknown flow "d" (allowed: a, b, c)"#,
        "net.toml:35:7: marker.edge.pir: pir (1000000 bit/s) is below cir (4000000 bit/s) (allowed: cir <= pir)",
        "net.toml:37:1: marker.edge.ebs: trtcm has no ebs (allowed: cir, pir, cbs, pbs, color_aware, yellow)",
        "net.toml:38:1: change.0: changes nothing of the link (allowed: rate, delay, loss, jitter, reorder, duplicate, state)",
        "net.toml:39:6: change.0.at: is not before the end of the run (allowed: below duration (10 s))",
        r#"net.toml:42:17: probe.flow_interval: must be above 0 (allowed: a time above 0 such as "10ms")"#,
    ];
    assert_eq!(messages(text, &[]), expected);
}
