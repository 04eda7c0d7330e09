//! What is accepted with a warning, what is accepted without, and many errors at once.

use aqmlab_netsim::plan::{Start, Transport};
use aqmlab_scenario::Severity;
use aqmlab_units::{Span, Time};

use super::{CHAIN, DUMBBELL, VALID, accepted, exchange, messages};

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
}

#[test]
fn a_threshold_that_cannot_be_reached() {
    let text = exchange(VALID, "\"100p\"", "\"20p\"");
    let expected =
        "net.toml:13:1: queue.main: max_th (30p) is above the limit (20p): the average cannot reach it";
    accepted(&text, &[expected]);
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
    assert_eq!((plan.links[1].name.as_str(), plan.links[1].aqm), ("b->a", "drop-tail"));
    assert_eq!(plan.links[1].queue.effective[0].1.to_string(), "1000p");
    assert_eq!((plan.flows[0].start, plan.flows[0].stop), (Start::At(Time::ZERO), None));
    assert_eq!(plan.probe.links, [0], "the queue that is not drop-tail");
    assert!(plan.probe.delay_histogram && !plan.probe.events);
    assert_eq!((plan.probe.queue_interval, plan.probe.cwnd_interval), (None, None));
    let Transport::Tcp { config, size: None, clock_offset: None } = &plan.flows[1].transport else {
        panic!("not TCP")
    };
    assert_eq!(config.variant.name(), "newreno");
}

#[test]
fn a_drop_tail_bottleneck_is_observed_in_a_dumbbell_only() {
    let text = exchange(DUMBBELL, "aqm = \"red\"", "aqm = \"drop-tail\"");
    assert_eq!(accepted(&text, &[]).plan.probe.links, [0]);
    assert!(accepted(CHAIN, &[]).plan.probe.links.is_empty());
}

#[test]
fn sizes_become_packets() {
    for (size, packets) in [("\"1MB\"", 2000), ("\"1001B\"", 3), ("\"100p\"", 100), ("\"1B\"", 1)] {
        let text = exchange(VALID, "count = 2", &format!("size = {size}\npacket_size = \"500B\""));
        let Transport::Tcp { size, .. } = accepted(&text, &[]).plan.flows[0].transport.clone() else {
            panic!("not TCP")
        };
        assert_eq!(size, Some(packets));
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
        "net.toml:5:57: dumbbell.bottleneck.queue: there is no queue \"man\" (allowed: main, default; did you mean \"main\"?)",
        "net.toml:6:35: dumbbell.left.delay: 5 has no unit (allowed: a time such as \"10ms\")",
        "net.toml:12:9: queue.main.max_p: 2 is out of range (allowed: 0 < x <= 1)",
        "net.toml:15:13: flow.tcp.transport: \"newrno\" is not known (allowed: tahoe, reno, newreno, sack, udp; did you mean \"newreno\"?)",
        "net.toml:17:8: flow.tcp.name: there is a flow of this name already, on line 13",
        "net.toml:18:9: flow.tcp.count: 0 is out of range (allowed: a whole number from 1 to 1000000)",
        "net.toml:20:9: probe.links: is a whole number (allowed: a list, each a name of letters, digits and _ - . : / >)",
    ];
    assert_eq!(messages(text, &[]), expected);
}
