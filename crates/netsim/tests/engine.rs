//! Invariants of the engine over random networks and disciplines.

#[allow(dead_code, reason = "this test uses its part")]
mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use aqmlab_aqm::Value;
use aqmlab_netsim::plan::{Ends, Multipath, Plan, Size, Transport};
use aqmlab_netsim::{EngineChoice, Options, Simulation};
use aqmlab_transport::ns2::Variant;
use aqmlab_transport::rfc::CongestionControl::Cubic;
use aqmlab_units::{Rate, Span, Time};
use common::ring::{Kind, fail, impair, ring, routings};
use common::{Tcp, dumbbell, integers as column, link, reals, run, text};
use proptest::prelude::*;

const BY_EVENTS: Options = Options { shortcuts: true, engine: EngineChoice::Events, spare_core: false };
const PARALLEL: Options = Options { shortcuts: true, engine: EngineChoice::Parallel, spare_core: false };

fn variants() -> impl Strategy<Value = Vec<Option<Tcp>>> {
    let one = prop_oneof![1 => Just(None), 6 => prop::sample::select(Tcp::all()).prop_map(Some)];
    prop::collection::vec(one, 1..6)
}

fn queue() -> impl Strategy<Value = (&'static str, Vec<(&'static str, Value)>)> {
    let preset = prop_oneof![
        Just("drop-tail"),
        Just("red"),
        Just("gentle-red"),
        Just("mred"),
        Just("exred"),
        Just("nlred")
    ];
    let dialect = prop_oneof![Just("floyd93"), Just("ns2-2.35"), Just("linux"), Just("as-printed")];
    (preset, dialect, 40u32..80, any::<bool>()).prop_map(|(preset, dialect, limit, in_bytes)| {
        let mut set = vec![("limit", Value::Packets(limit.into())), ("dialect", Value::Word(dialect.into()))];
        if in_bytes && preset != "drop-tail" {
            set.push(("mode", Value::Word("bytes".into())));
            set.push(("ecn", Value::Flag(true)));
        }
        (preset, set)
    })
}

/// Any discipline in a form that its preset allows.
fn any_queue() -> impl Strategy<Value = (&'static str, Vec<(&'static str, Value)>)> {
    let names: Vec<_> = aqmlab_aqm::PRESETS.iter().map(|p| p.name).collect();
    (prop::sample::select(names), 75u32..110, any::<bool>(), any::<bool>()).prop_map(
        |(name, limit, ecn, timer)| {
            let mut set = vec![("limit", Value::Packets(limit.into()))];
            let preset = aqmlab_aqm::Preset::find(name).expect("a name of the list");
            if preset.parameters().iter().any(|p| p.key == "ecn") {
                set.push(("ecn", Value::Flag(ecn)));
            }
            if timer && ["adaptive-red", "load-red", "adaptive-rio"].contains(&name) {
                set.push(("adapt_clock", Value::Word("timer".into())));
            }
            if timer && name == "cake" {
                set.push(("rate", Value::Rate(Rate(1_000_000))));
            }
            (name, set)
        },
    )
}

fn kinds() -> impl Strategy<Value = Vec<Kind>> {
    let variant = || prop::sample::select(Tcp::all());
    let one = prop_oneof![
        variant().prop_map(Kind::Greedy),
        variant().prop_map(Kind::Drawn),
        variant().prop_map(Kind::Arriving),
        variant().prop_map(Kind::Again),
        variant().prop_map(Kind::Page),
        variant().prop_map(Kind::Video),
        Just(Kind::Constant),
        Just(Kind::Poisson),
        Just(Kind::OnOff),
        Just(Kind::Lengths),
        Just(Kind::Media),
    ];
    prop::collection::vec(one, 2..12)
}

/// The tables of a run that stops often on its way, in the middle of windows too.
fn run_in_steps(plan: &Plan, seed: u64, options: Options) -> Vec<(&'static str, aqmlab_netsim::Table)> {
    let mut stepped = Simulation::new(plan, seed, options);
    for i in 0..50 {
        stepped.run_until(Time::from_secs(f64::from(i) * 0.171));
    }
    stepped.finish();
    stepped.into_tables()
}

/// Return the drops of a link that are no decision of its discipline, by reason.
fn rerouted(tables: &[(&'static str, aqmlab_netsim::Table)], link: &str, reasons: &[&str]) -> i64 {
    let [links, of] = ["link", "reason"].map(|name| common::words(tables, "drop_reasons", name));
    let drops = column(tables, "drop_reasons", "drops");
    let is_it = |i: &usize| links[*i] == link && reasons.contains(&of[*i].as_str());
    (0..drops.len()).filter(is_it).map(|i| drops[i]).sum()
}

/// Packets and bytes are where they can be, in all tables that count them from the start.
fn check_books(tables: &[(&'static str, aqmlab_netsim::Table)]) {
    let links = |name| column(tables, "links", name);
    let sum = |values: &[i64]| values.iter().sum::<i64>();
    let at_queues = ["down", "flushed"];
    for (i, (arrivals, name)) in
        links("arrivals").iter().zip(common::words(tables, "links", "link")).enumerate()
    {
        let at = |name| links(name)[i];
        let others = rerouted(tables, &name, &at_queues);
        assert_eq!(*arrivals, at("departures") + at("drops") + others + at("packets_at_end"));
    }
    let drops = sum(&links("drops"));
    assert_eq!(drops, sum(&column(tables, "flows", "drops")));
    assert_eq!(drops, sum(&column(tables, "drop_distances", "drops")));
    let data_drops = sum(&column(tables, "drop_distances", "data_drops"));
    let copies = sum(&column(tables, "channels", "copies"));
    let missing = sum(&column(tables, "flows", "sent")) + copies - sum(&column(tables, "flows", "arrived"));
    assert!(data_drops <= drops.min(missing), "what is lost was sent and has not arrived");
    for (link, name) in common::words(tables, "links", "link").iter().enumerate() {
        let of_link: Vec<usize> = common::words(tables, "code_points", "link")
            .iter()
            .enumerate()
            .filter_map(|(row, n)| (n == name).then_some(row))
            .collect();
        if !of_link.is_empty() {
            for count in ["arrivals", "arrived_bytes", "departures", "departed_bytes", "drops", "marks"] {
                let by_code_point = column(tables, "code_points", count);
                let total: i64 = of_link.iter().map(|row| by_code_point[*row]).sum();
                let others = if count == "drops" { rerouted(tables, name, &at_queues) } else { 0 };
                assert_eq!(total, links(count)[link] + others, "{name} {count}");
            }
        }
    }
    let observed = common::words(tables, "events", "link");
    let kinds = common::words(tables, "events", "kind");
    for (kind, count) in [("+", "arrivals"), ("-", "departures"), ("d", "drops"), ("m", "marks")] {
        for (link, name) in common::words(tables, "links", "link").iter().enumerate() {
            if observed.contains(name) {
                let events = observed.iter().zip(&kinds).filter(|(l, k)| *l == name && *k == kind).count();
                let others = if kind == "d" { rerouted(tables, name, &at_queues) } else { 0 };
                assert_eq!(events as i64, links(count)[link] + others, "{name} {count}");
            }
        }
    }
    check_applications(tables);
    let transports = common::words(tables, "flows", "transport");
    let flows = |name| column(tables, "flows", name);
    for (i, sent) in flows("sent").iter().enumerate() {
        let at = |name| flows(name)[i];
        // UDP delivers copies too.
        let twice = if transports[i] == "udp" { copies } else { 0 };
        assert!(at("received") <= sent - at("retransmissions") + twice, "nothing is delivered twice");
        assert!(at("received") <= at("arrived") && at("arrived") <= *sent + copies);
        assert!(at("goodput_bytes") <= at("arrived_bytes"));
        assert!(copies > 0 || at("arrived_bytes") <= at("sent_bytes"));
        // A SYN comes on top, and a packet beyond the end where ns-2 answers duplicates of its acknowledgement.
        let most = at("size_packets") + 1 + at("fast_retransmits");
        assert!(at("size_packets") == -1 || at("received") <= most, "{} of {most}", at("received"));
    }
}

/// Drops, delays and objects agree in all tables that report them.
fn check_applications(tables: &[(&'static str, aqmlab_netsim::Table)]) {
    let rows = |table| common::words(tables, table, "flow").len();
    let sum = |table, name| column(tables, table, name).iter().sum::<i64>();
    let dropped = common::words(tables, "events", "kind").iter().filter(|kind| *kind == "d").count();
    // The channels' losses are no events of the queue.
    let lost = |reason| common::words(tables, "losses", "reason").iter().filter(|why| *why == reason).count();
    let in_channels = lost("channel");
    assert_eq!(rows("losses") - in_channels - lost("cut"), dropped);
    assert!(in_channels as i64 <= sum("channels", "losses"));
    assert_eq!(rows("flow_delays"), rows("flows"));
    assert_eq!(sum("flow_delays", "packets"), sum("flows", "arrived"));
    assert_eq!(sum("flow_delay_histogram", "count"), sum("flows", "arrived"));
    for (least, mean) in common::reals(tables, "flow_delays", "min_s").iter().zip(common::reals(
        tables,
        "flow_delays",
        "mean_s",
    )) {
        assert!(least.is_nan() || *least <= mean + 1e-12);
    }
    let [asked, finished] = ["requested_s", "finish_s"].map(|name| common::reals(tables, "objects", name));
    assert!(asked.iter().zip(&finished).all(|(asked, finish)| finish.is_nan() || asked < finish));
    let all = |name| column(tables, "pages", name);
    assert!(all("finished_objects").iter().zip(all("objects")).all(|(finished, all)| *finished <= all));
    for (load, (finished, all)) in common::reals(tables, "pages", "load_s")
        .iter()
        .zip(all("finished_objects").iter().zip(all("objects")))
    {
        assert_eq!(load.is_nan(), *finished < all);
    }
}

#[test]
fn packets_that_leave_a_link_arrive_unless_its_channel_loses_them() {
    let mut all = [0; 3];
    for seed in 0..6 {
        let kinds = [Kind::Constant, Kind::Poisson, Kind::OnOff, Kind::Lengths, Kind::Poisson];
        let mut plan = ring(&kinds, 3.0, ("red", &[]), 8.0);
        impair(&mut plan);
        plan.warmup = Span::ZERO;
        for flow in Arc::make_mut(&mut plan.flows) {
            (flow.stop, flow.again) = (Some(Time::from_secs(4.0)), Vec::new());
        }
        let tables = run(&plan, seed, Options::default());
        let sum = |table, name| column(&tables, table, name).iter().sum::<i64>();
        let [losses, copies, overtaking] =
            ["losses", "copies", "overtaking"].map(|name| sum("channels", name));
        all = [all[0] + losses, all[1] + copies, all[2] + overtaking];
        assert_eq!(sum("links", "packets_at_end"), 0);
        assert_eq!(sum("links", "arrivals"), sum("links", "departures") + sum("links", "drops"));
        // Each packet that arrives is offered to the next link, or is at its receiver.
        let forwarded = sum("links", "arrivals") - sum("flows", "sent");
        assert_eq!(sum("links", "departures") - losses + copies, forwarded + sum("flows", "arrived"));
        assert_eq!(sum("flows", "drops"), sum("links", "drops"), "losses are not the discipline's");
    }
    assert!(all.iter().all(|count| *count > 10), "{all:?}");
}

#[test]
fn packets_are_conserved_while_links_are_down() {
    let mut all = [0; 3];
    for (seed, routing) in (0..).zip(routings()) {
        let kinds =
            [Kind::Constant, Kind::Poisson, Kind::OnOff, Kind::Lengths, Kind::Poisson, Kind::Constant];
        let mut plan = ring(&kinds, 3.0, ("red", &[]), 8.0);
        impair(&mut plan);
        fail(&mut plan, routing.clone());
        plan.warmup = Span::ZERO;
        let tables = run(&plan, seed, Options::default());
        let sum = |table, name| column(&tables, table, name).iter().sum::<i64>();
        let of_reason = |reason| {
            common::words(&tables, "links", "link")
                .iter()
                .map(|link| rerouted(&tables, link, &[reason]))
                .sum::<i64>()
        };
        let [down, flushed, cut] = ["down", "flushed", "cut"].map(of_reason);
        all = [all[0] + down, all[1] + flushed, all[2] + cut];
        let queued = sum("links", "packets_at_end");
        assert_eq!(
            sum("links", "arrivals"),
            sum("links", "departures") + sum("links", "drops") + down + flushed + queued
        );
        // Each packet that arrives is offered to the next link, or is at its receiver; few are on the wire at the end.
        let arrived =
            sum("links", "departures") - sum("channels", "losses") - cut + sum("channels", "copies");
        let on_wires = arrived - (sum("links", "arrivals") - sum("flows", "sent") + sum("flows", "arrived"));
        assert!((0..100).contains(&on_wires), "{on_wires}");
        assert_eq!(sum("flows", "drops"), sum("links", "drops"), "the discipline's alone");
    }
    assert!(all.iter().all(|count| *count > 10), "{all:?}");
}

#[test]
fn pc_red_redirects_flows_beyond_its_share() {
    let set = [("r_p_max", Value::Number(0.1)), ("over_r_p_max", Value::Word("redirect".into()))];
    let kinds = [Kind::Greedy(Tcp::Ns2(Variant::NewReno)), Kind::Constant, Kind::Poisson];
    let mut plan = ring(&kinds.repeat(4), 3.0, ("pc-red", &set), 8.0);
    plan.warmup = Span::ZERO;
    for flow in Arc::make_mut(&mut plan.flows) {
        // Hosts of routers 0 and 1: all data would cross link 0.
        flow.ends = Ends::At(4, 5);
    }
    // On the long way round, no link has an opinion about priorities.
    let links = Arc::make_mut(&mut plan.links);
    let drop_tail = links[8].queue.clone();
    links[1..8].iter_mut().for_each(|link| link.queue = drop_tail.clone());
    plan.routing = routings()[2].clone();
    let tables = run(&plan, 1, Options::default());
    assert!(rerouted(&tables, "r0->r1", &["redirected"]) > 100);
    for options in [Options { shortcuts: false, ..Options::default() }, BY_EVENTS, PARALLEL] {
        assert_eq!(text(&tables), text(&run(&plan, 1, options)));
    }
    assert!(column(&tables, "links", "departures")[4] > 100, "the long way round");
}

#[test]
fn media_with_feedback_give_the_same_results_on_all_engines() {
    let kinds = [Kind::Media, Kind::Media, Kind::Greedy(Tcp::Rfc(Cubic)), Kind::Media];
    let mut plan = ring(&kinds, 2.0, ("red", &[("ecn", Value::Flag(true))]), 20.0);
    plan.warmup = Span::ZERO;
    for flow in Arc::make_mut(&mut plan.flows) {
        (flow.stop, flow.again) = (None, Vec::new());
    }
    let measured = run(&plan, 1, Options::default());
    assert_eq!(text(&measured), text(&run(&plan, 1, BY_EVENTS)));
    assert_eq!(text(&measured), text(&run(&plan, 1, PARALLEL)));
    assert!(column(&measured, "flows", "received").iter().all(|packets| *packets > 500));
    check_books(&measured);
}

#[test]
fn flows_keep_to_one_of_the_shortest_paths() {
    let mut plan = ring(&[Kind::Constant; 40], 3.0, ("red", &[]), 4.0);
    for flow in Arc::make_mut(&mut plan.flows) {
        // Hosts of routers 0 and 2, across the ring.
        flow.ends = Ends::At(4, 6);
    }
    let first_links = |plan: &Plan, seed| {
        let simulation = Simulation::new(plan, seed, Options::default());
        (0..40).filter(|flow| simulation.path(*flow).nth(1) == Some(4)).count()
    };
    assert_eq!(first_links(&plan, 1), 0);
    plan.routing.multipath = Multipath::ByFlow;
    let count = first_links(&plan, 1);
    assert!((10..30).contains(&count) && first_links(&plan, 1) == count, "{count}");
    let simulation = |seed| Simulation::new(&plan, seed, Options::default());
    let paths =
        |seed| (0..40).map(|flow| simulation(seed).path(flow).collect::<Vec<_>>()).collect::<Vec<_>>();
    assert!(paths(1) == paths(1) && paths(1) != paths(2), "a hash of flow and seed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn all_that_a_plan_can_name_gives_the_same_results_in_every_order_of_evaluation(
        kinds in kinds(), (aqm, set) in any_queue(), mbps in 0.5f64..8.0, seed in 0u64..1000, impaired in any::<bool>(),
        routing in prop::option::of(prop::sample::select(routings().to_vec())),
    ) {
        let mut plan = ring(&kinds, mbps, (aqm, &set), 8.0);
        if impaired {
            impair(&mut plan);
        }
        if let Some(routing) = routing {
            fail(&mut plan, routing);
        }
        let measured = run(&plan, seed, Options::default());
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, Options { shortcuts: false, ..Options::default() })));
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, BY_EVENTS)));
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, PARALLEL)));
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, Options::default())));
        prop_assert_eq!(text(&measured), text(&run(&plan.drawn(seed), seed, Options::default())));

        for options in [Options::default(), PARALLEL] {
            prop_assert_eq!(text(&measured), text(&run_in_steps(&plan, seed, options)));
        }

        plan.warmup = aqmlab_units::Span::ZERO;
        check_books(&run(&plan, seed, Options::default()));
    }

    #[test]
    fn probes_change_nothing(kinds in kinds(), (aqm, set) in any_queue(), seed in 0u64..1000, fails in any::<bool>()) {
        let mut plan = ring(&kinds, 2.0, (aqm, &set), 8.0);
        if fails {
            fail(&mut plan, routings()[1].clone());
        }
        let observed = run(&plan, seed, Options::default());
        plan.probe = aqmlab_netsim::plan::Probe::default();
        let unobserved = run(&plan, seed, Options::default());
        for table in ["flows", "drop_distances", "markers"] {
            let of = |tables: &[(&'static str, aqmlab_netsim::Table)]| {
                format!("{:?}", tables.iter().find(|(name, _)| *name == table))
            };
            prop_assert_eq!(of(&observed), of(&unobserved));
        }
        prop_assert_eq!(column(&observed, "links", "departed_bytes"), column(&unobserved, "links", "departed_bytes"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_discipline_may_stand_before_any_link(
        variants in variants(), (aqm, set) in any_queue(), managed in any::<u32>(), seed in 0u64..1000,
    ) {
        let mut plan = dumbbell(&variants, 1.0, ("drop-tail", &[]), 8.0);
        let mut links = plan.links.to_vec();
        for (i, l) in links.iter_mut().enumerate().filter(|(i, _)| managed >> (i % 32) & 1 == 1) {
            // Every other way is too narrow for the acknowledgements, so that they wait too.
            let mbps = if i % 2 == 0 { l.rate().bps() / 1e6 } else { 0.02 };
            *l = link(&l.name, (l.from, l.to), mbps, 10.0, (aqm, &set));
        }
        plan.links = links.into();
        let measured = run(&plan, seed, Options::default());
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, Options { shortcuts: false, ..Options::default() })));
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, BY_EVENTS)));
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, PARALLEL)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn packets_are_conserved_and_results_do_not_depend_on_the_order_of_evaluation(
        variants in variants(), (aqm, set) in queue(), mbps in 0.3f64..20.0, seed in 0u64..1000, events in any::<bool>(),
    ) {
        let mut plan = dumbbell(&variants, mbps, (aqm, &set), 8.0);
        // A log of events excludes shortcuts.
        (plan.probe.events, plan.probe.packets) = (events, events);
        let measured = run(&plan, seed, Options::default());
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, Options { shortcuts: false, ..Options::default() })));
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, BY_EVENTS)));
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, PARALLEL)));
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, Options::default())));

        plan.warmup = aqmlab_units::Span::ZERO;
        let tables = run(&plan, seed, Options::default());
        let links = |name| column(&tables, "links", name);
        for (((arrivals, departures), drops), waiting) in
            links("arrivals").iter().zip(links("departures")).zip(links("drops")).zip(links("packets_at_end"))
        {
            prop_assert_eq!(*arrivals, departures + drops + waiting);
        }
        let flows = |name| column(&tables, "flows", name);
        for ((sent, received), retransmitted) in flows("sent").iter().zip(flows("received")).zip(flows("retransmissions")) {
            prop_assert!(received <= sent - retransmitted, "nothing is delivered twice");
        }
        prop_assert_eq!(flows("drops").iter().sum::<i64>(), links("drops").iter().sum::<i64>());
    }
}

/// Hosts 0 and 4 at the ends of a line of three routers, 1 to 3, and host 5 at router 1; delays of the five links in ms.
fn line(variants: &[Tcp], delays: &[f64], (aqm, set): (&'static str, &[(&'static str, Value)])) -> Plan {
    let mut plan = dumbbell(&variants.iter().copied().map(Some).collect::<Vec<_>>(), 1.0, (aqm, set), 8.0);
    let ways = [(0, 1), (1, 2), (2, 3), (3, 4), (5, 1)].into_iter().zip(delays);
    let both = ways.flat_map(|((a, b), ms)| [(a, b, ms), (b, a, ms)]);
    plan.links = both.map(|(a, b, ms)| link(&format!("{a}-{b}"), (a, b), 2.0, *ms, (aqm, set))).collect();
    let ends = [(5, 4), (3, 0), (4, 5), (0, 3), (5, 3)];
    for (i, flow) in Arc::make_mut(&mut plan.flows).iter_mut().enumerate() {
        let (from, to) = ends[i % ends.len()];
        flow.ends = Ends::At(from, to);
        let delayed_ack = (i % 2 == 1).then(|| Span::from_millis(40));
        flow.transport = Arc::new(Transport::Tcp {
            config: variants[i].config(64, false, delayed_ack),
            size: Size::Greedy,
            clock_offset: None,
        });
    }
    plan
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Delays from microseconds to a tenth of a second: with some, inputs come from many windows ahead; with others, one station for
    /// all sources would shorten the windows.
    #[test]
    fn ends_anywhere_on_a_line_give_the_same_results(
        variants in prop::collection::vec(prop::sample::select(Tcp::all()), 2..7),
        delays in prop::collection::vec(prop::sample::select(vec![0.03, 0.2, 3.0, 100.0]), 5),
        (aqm, set) in queue(), seed in 0u64..1000, events in any::<bool>(),
    ) {
        let mut plan = line(&variants, &delays, (aqm, &set));
        (plan.probe.events, plan.probe.packets) = (events, events);
        let measured = run(&plan, seed, Options::default());
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, Options { shortcuts: false, ..Options::default() })));
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, BY_EVENTS)));
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, PARALLEL)));
        for options in [Options::default(), PARALLEL] {
            prop_assert_eq!(text(&measured), text(&run_in_steps(&plan, seed, options)));
        }
    }
}

#[test]
fn a_dumbbell_is_divided_between_two_threads() {
    let plan = dumbbell(&[Some(Tcp::Ns2(Variant::NewReno)); 3], 2.0, ("gentle-red", &[]), 8.0);
    let simulation = Simulation::new(&plan, 1, PARALLEL);
    assert_eq!((simulation.engine(), simulation.why_not_parallel()), ("parallel", None));
}

#[test]
fn a_log_of_some_time_is_a_part_of_the_whole_log() {
    let mut plan = dumbbell(&[Some(Tcp::Ns2(Variant::NewReno)); 3], 2.0, ("gentle-red", &[]), 8.0);
    plan.probe.events = true;
    let whole = run(&plan, 1, Options::default());
    (plan.probe.events_from, plan.probe.events_until) = (Time::from_secs(2.0), Some(Time::from_secs(4.5)));
    let part = run(&plan, 1, Options::default());
    let rows = |tables: &_| {
        let times = column(tables, "events", "t_ps").to_vec();
        let average = reals(tables, "events", "average").iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        times.into_iter().zip(average).collect::<Vec<_>>()
    };
    let inside = |&(time, _): &(i64, u64)| (2_000_000_000_000..4_500_000_000_000).contains(&time);
    let expected: Vec<_> = rows(&whole).into_iter().filter(inside).collect();
    assert!(
        expected.len() > 100 && expected.len() < rows(&whole).len(),
        "{} of {}",
        expected.len(),
        rows(&whole).len()
    );
    assert_eq!(rows(&part), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_log_of_packets_has_what_the_log_of_events_has(
        variants in variants(), (aqm, set) in any_queue(), mbps in 0.3f64..20.0, seed in 0u64..1000,
    ) {
        let mut plan = dumbbell(&variants, mbps, (aqm, &set), 8.0);
        (plan.probe.events, plan.probe.packets) = (true, true);
        let tables = run(&plan, seed, Options::default());
        let (kinds, at) = (common::words(&tables, "events", "kind"), column(&tables, "events", "t_ps"));
        let in_order = |mut times: Vec<f64>| {
            times.retain(|time| !time.is_nan());
            times.sort_by(f64::total_cmp);
            times
        };
        let logged = |name| reals(&tables, "packets", name);
        // The victim of DDRED or PC-RED may be marked already: the second mark is an event, the packet has its first.
        let [flows, numbers] = ["flow", "seq"].map(|name| column(&tables, "events", name));
        let packets = common::words(&tables, "events", "packet");
        let mut waiting = BTreeMap::new();
        let is_logged = |i: usize| {
            let (unmarked, marked) = waiting.entry((flows[i], numbers[i], &packets[i])).or_insert((0, 0));
            match kinds[i].as_str() {
                "+" => *unmarked += 1,
                "m" if *unmarked == 0 => return false,
                "m" => (*unmarked, *marked) = (*unmarked - 1, *marked + 1),
                _ if *marked > 0 => *marked -= 1,
                _ => *unmarked -= 1,
            }
            true
        };
        let is_logged: Vec<bool> = (0..at.len()).map(is_logged).collect();
        for (kind, name) in [("+", "offered_s"), ("-", "left_s"), ("d", "dropped_s"), ("m", "marked_s")] {
            let of_kind = (0..at.len()).filter(|&i| kinds[i] == kind && is_logged[i]);
            let times = of_kind.map(|i| Time(at[i] as u64).secs()).collect();
            prop_assert_eq!(in_order(times), in_order(logged(name)), "{}", name);
        }
        let offered = logged("offered_s");
        for name in ["left_s", "dropped_s", "marked_s"] {
            for (at, offered) in logged(name).iter().zip(&offered) {
                prop_assert!(at.is_nan() || at >= offered, "{name}");
            }
        }
        for (left, dropped) in logged("left_s").iter().zip(logged("dropped_s")) {
            prop_assert!(left.is_nan() || dropped.is_nan(), "it both left and was dropped");
        }
    }
}

#[test]
fn a_run_in_steps_is_the_run() {
    let plan =
        dumbbell(&[Some(Tcp::Ns2(Variant::Sack)), Some(Tcp::Rfc(Cubic)), None], 3.0, ("red", &[]), 20.0);
    let mut stepped = Simulation::new(&plan, 3, Options::default());
    for i in 0..100 {
        stepped.run_until(aqmlab_units::Time::from_secs(f64::from(i) * 0.21));
    }
    stepped.finish();
    assert_eq!(text(&stepped.into_tables()), text(&run(&plan, 3, Options::default())));
}

#[test]
fn packets_carried_so_far_are_known_during_a_run() {
    let mut plan = dumbbell(&[Some(Tcp::Ns2(Variant::NewReno)); 3], 3.0, ("red", &[]), 20.0);
    (plan.warmup, plan.probe.events, plan.probe.packets) = (aqmlab_units::Span::ZERO, false, false);
    let mut simulation = Simulation::new(&plan, 3, Options::default());
    let mut before = 0;
    for i in 1..10 {
        simulation.run_until(aqmlab_units::Time::from_secs(f64::from(i) * 2.0));
        let (hops, offers) = simulation.totals();
        // The others were dropped.
        assert!(before < hops && hops <= offers && offers <= hops + hops / 10, "{hops} of {offers}");
        before = hops;
    }
}

#[test]
fn statistics_after_the_warmup_are_those_of_the_rest() {
    let mut plan = dumbbell(&[Some(Tcp::Ns2(Variant::NewReno)); 3], 5.0, ("gentle-red", &[]), 30.0);
    let whole = |plan: &aqmlab_netsim::plan::Plan| {
        let tables = run(plan, 5, Options::default());
        (column(&tables, "links", "departures")[0], column(&tables, "flows", "sent").iter().sum::<i64>())
    };
    let (rest_link, rest_flows) = whole(&plan);
    let (warmup, duration) = (plan.warmup, plan.duration);
    plan.warmup = aqmlab_units::Span::ZERO;
    let (all_link, all_flows) = whole(&plan);
    plan.duration = warmup;
    let (first_link, first_flows) = whole(&plan);
    plan.duration = duration;
    assert_eq!(all_link, first_link + rest_link);
    assert_eq!(all_flows, first_flows + rest_flows);
}

#[test]
fn new_counters_after_the_warmup_are_those_of_the_rest() {
    let kinds =
        [Kind::Greedy(Tcp::Ns2(Variant::Sack)), Kind::OnOff, Kind::Poisson, Kind::Again(Tcp::Rfc(Cubic))];
    let mut plan = ring(&kinds, 2.0, ("ddred", &[]), 8.0);
    let sums = |plan: &aqmlab_netsim::plan::Plan| {
        let tables = run(plan, 5, Options::default());
        let sum = |table, name| column(&tables, table, name).iter().sum::<i64>();
        [
            sum("flows", "arrived"),
            sum("flows", "arrived_bytes"),
            sum("drop_distances", "drops"),
            sum("drop_distances", "data_drops"),
            sum("code_points", "arrivals"),
            sum("code_points", "departed_bytes"),
            sum("code_points", "drops"),
            sum("markers", "green"),
            sum("markers", "red_bytes"),
        ]
    };
    let rest = sums(&plan);
    let (warmup, duration) = (plan.warmup, plan.duration);
    plan.warmup = aqmlab_units::Span::ZERO;
    let all = sums(&plan);
    plan.duration = warmup;
    // A change after the end never happens.
    let first = sums(&plan);
    plan.duration = duration;
    for ((all, first), rest) in all.iter().zip(first).zip(rest) {
        assert_eq!(*all, first + rest);
    }
    assert!(rest.iter().all(|n| *n > 0), "{rest:?}");
}
