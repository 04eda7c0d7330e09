//! `web`, `video` and `voip` of flows, and distributions through points.

use aqmlab_netsim::plan::{AdaptationRule, Dispatch, Ends, Size, Spread, Transport};
use aqmlab_scenario::parse;
use aqmlab_units::{Rate, Span};

use super::{BUS, DUMBBELL, accepted, exchange, refused};

/// `DUMBBELL` with these keys in its flow.
fn with(keys: &str) -> String {
    exchange(DUMBBELL, "count = 2", keys)
}

#[test]
fn pages() {
    refused(
        DUMBBELL,
        "count = 2",
        &[
            (
                "web = {}",
                &[
                    "net.toml:16:7: flow.tcp.web.size: is missing (allowed: bytes such as \"1000B\", from 1 to 1000000000000, or a table with uniform, exponential, pareto, cdf)",
                ],
            ),
            (
                "web = { size = \"1KB\", objects = 4 }",
                &[
                    "net.toml:16:7: flow.tcp.web.connections: 6 connections are too many for 4 objects (allowed: at most 4)",
                ],
            ),
            (
                "web = { size = \"1KB\", dispatch = \"first\" }",
                &[
                    "net.toml:16:34: flow.tcp.web.dispatch: \"first\" is not known (allowed: in-turn, first-free; did you mean \"first-free\"?)",
                ],
            ),
            (
                "web = { size = \"1KB\" }\nsize = \"1MB\"",
                &["net.toml:17:1: flow.tcp.size: a flow with web has no size (allowed: sizes in web)"],
            ),
            (
                "web = { size = \"1KB\" }\nvideo = {}",
                &["net.toml:17:1: flow.tcp.video: a flow has one application (allowed: web, video, voip)"],
            ),
            (
                "web = { size = \"1KB\" }\ntransport = \"udp\"",
                &[
                    "net.toml:17:13: flow.tcp.transport: an application that asks for objects needs TCP (allowed: a transport of TCP)",
                ],
            ),
            (
                "web = { size = { cdf = \"web-serach\" } }",
                &[
                    "net.toml:16:24: flow.tcp.web.size.cdf: \"web-serach\" is not known (allowed: web-search, data-mining, facebook-hadoop, or a file such as \"sizes.cdf\", or a list, each a list, each a number from 0 to 1000000000000000; did you mean \"web-search\"?)",
                ],
            ),
        ],
    );
}

#[test]
fn distributions_through_points() {
    let size = |cdf: &str| format!("size = {{ cdf = {cdf} }}");
    let allowed = "(allowed: [[1000, 0.3], [10000, 0.9], [100000, 1]])";
    for (cdf, why) in [
        ("[]", "the distribution is empty"),
        ("[[1, 2, 3]]", "a point is not a pair of numbers"),
        ("[[1, 0.5]]", "the last probability is not 1"),
        ("[[2, 0.5], [1, 1]]", "a value is below the one before it"),
        ("[[1, 0.5], [2, 0.4], [3, 1]]", "the probabilities do not rise from 0 or above"),
    ] {
        let message = format!("net.toml:16:16: flow.tcp.size.cdf: is not a distribution: {why} {allowed}");
        refused(DUMBBELL, "count = 2", &[(&size(cdf), &[&message])]);
    }
    let scenario = accepted(&with(&size("[[100, 0.5], [1000, 1]]")), &[]);
    let Transport::Tcp { size: Size::Drawn(Spread::Empirical(cdf)), .. } = &*scenario.plan.flows[0].transport
    else {
        panic!("no such size");
    };
    assert_eq!(cdf.points(), [(100.0, 0.5), (1000.0, 1.0)]);
}

#[test]
fn videos() {
    refused(
        DUMBBELL,
        "count = 2",
        &[
            (
                "video = { ladder = [\"2Mbps\", \"1Mbps\"] }",
                &[
                    "net.toml:16:20: flow.tcp.video.ladder: is not a list of 1 to 32 bit rates that rise (allowed: [\"500kbps\", \"1Mbps\", \"2Mbps\"])",
                ],
            ),
            (
                "video = { buffer = \"7s\" }",
                &[
                    "net.toml:16:20: flow.tcp.video.buffer: has no room for what is there when playing begins, 4 s, and a segment of 4 s (allowed: at least 8 s)",
                ],
            ),
            (
                "video = { rule = \"throughput\", cushion = \"5s\" }",
                &["net.toml:16:32: flow.tcp.video.cushion: the rule throughput has no cushion"],
            ),
            (
                "video = { buffer = \"20s\", reservoir = \"10s\" }",
                &[
                    "net.toml:16:20: flow.tcp.video.buffer: is shorter than reservoir and cushion together, 20.5 s",
                ],
            ),
            (
                "video = {}\nactive = [[\"1s\", \"2s\"]]",
                &[
                    "net.toml:17:1: flow.tcp.active: a flow with video has no active (allowed: start and stop)",
                ],
            ),
        ],
    );
    let scenario = accepted(&with("video = { buffer = \"24s\", length = \"9s\" }"), &[]);
    let Transport::Tcp { size: Size::Video(video), .. } = &*scenario.plan.flows[0].transport else {
        panic!("no video");
    };
    let s = Span::from_secs;
    assert_eq!((video.ladder[0], video.ladder.len(), video.segments), (Rate(235_000), 10, Some(3)));
    assert_eq!(video.rule, AdaptationRule::Bba0 { reservoir: s(9.0), cushion: s(12.6) });
}

#[test]
fn calls() {
    refused(
        DUMBBELL,
        "count = 2",
        &[
            (
                "voip = {}\nrate = \"1Mbps\"",
                &[
                    "net.toml:17:1: flow.tcp.rate: a flow with voip has no rate (allowed: codec, frame and headers in voip)",
                ],
            ),
            (
                "voip = {}\ntransport = \"reno\"",
                &["net.toml:17:13: flow.tcp.transport: a call is of UDP (allowed: \"udp\", or no transport)"],
            ),
            (
                "voip = { frame = \"5ms\" }",
                &[
                    "net.toml:16:18: flow.tcp.voip.frame: is out of range (allowed: a time such as \"10ms\", from 0.01 to 0.06 s)",
                ],
            ),
        ],
    );
    refused(
        BUS,
        "count = 2",
        &[(
            "from = \"h1\"\nto = \"random\"\nvoip = {}",
            &[
                "net.toml:17:8: flow.tcp.from: the two directions of a call would have other ends each (allowed: ends that are not random)",
            ],
        )],
    );
}

#[test]
fn what_applications_come_to() {
    let text = with("count = 2\nweb = { size = \"1KB\", objects = 4, connections = 2 }");
    let scenario =
        accepted(&format!("{text}\n[[flow]]\nname = \"call\"\nfrom = \"right\"\nvoip = {{}}\n"), &[]);
    let names: Vec<_> = scenario.plan.flows.iter().map(|flow| &*flow.name).collect();
    assert_eq!(names, ["tcp.0.0", "tcp.0.1", "tcp.1.0", "tcp.1.1", "call.there", "call.back"]);
    let pages: Vec<_> = scenario.plan.pages.iter().map(|page| (page.name.as_str(), page.first)).collect();
    assert_eq!(pages, [("tcp.0", 0), ("tcp.1", 2)]);
    let ends: Vec<_> = scenario.plan.flows.iter().map(|flow| flow.ends.clone()).collect();
    assert!(ends[0] == ends[1] && ends[0] != ends[2]);
    let (Ends::At(from, to), Ends::At(back_from, back_to)) = (&ends[4], &ends[5]) else { panic!("drawn") };
    assert_eq!((from, to), (back_to, back_from));
    assert_eq!(scenario.plan.probe.packet_delays, [4, 5]);
    let Transport::Udp { rate, packet, .. } = &*scenario.plan.flows[5].transport else { panic!("no UDP") };
    // 160 B and 40 B of headers every 20 ms.
    assert_eq!((*rate, packet.same()), (Rate(80_000), Some(200)));
}

#[test]
fn connections_of_a_page_share_its_objects_if_the_file_says_so() {
    let dispatch = |keys: &str| {
        let scenario = accepted(&with(&format!("web = {{ size = \"1KB\"{keys} }}")), &[]);
        scenario.plan.pages[0].dispatch
    };
    assert_eq!(dispatch(""), Dispatch::InTurn);
    assert_eq!(dispatch(", dispatch = \"in-turn\""), Dispatch::InTurn);
    assert_eq!(dispatch(", dispatch = \"first-free\""), Dispatch::FirstFree);
}

#[test]
fn a_live_run_has_none() {
    for (keys, name) in [("web = { size = \"1KB\" }", "web"), ("video = {}", "video"), ("voip = {}", "voip")]
    {
        let scenario = parse(&with(keys), "net.toml", &[]).expect("valid");
        let errors = scenario.live_plan(1).map(|_| ()).expect_err("an application");
        let message = format!("a live run has no {name}");
        assert!(errors.iter().any(|problem| problem.message == message), "{errors:?}");
    }
}
