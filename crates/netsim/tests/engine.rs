//! Invariants of the engine over random networks and disciplines.

mod common;

use aqmlab_aqm::Value;
use aqmlab_netsim::{Column, Options, Simulation, Table};
use aqmlab_transport::Variant;
use common::{dumbbell, run};
use proptest::prelude::*;

fn column(tables: &[(&'static str, Table)], table: &str, name: &str) -> Vec<i64> {
    let (_, columns) = tables.iter().find(|(n, _)| *n == table).expect("the table");
    let (_, column) = columns.iter().find(|(n, _)| *n == name).expect("the column");
    match column {
        Column::Integer(values) => values.clone(),
        _ => panic!("{table}.{name} is not an integer"),
    }
}

/// Text of all tables, NaN included: equal exactly when the bytes are.
fn text(tables: &[(&'static str, Table)]) -> String {
    format!("{tables:?}")
}

fn variants() -> impl Strategy<Value = Vec<Option<Variant>>> {
    let one = prop_oneof![
        Just(None),
        Just(Some(Variant::Tahoe)),
        Just(Some(Variant::Reno)),
        Just(Some(Variant::NewReno)),
        Just(Some(Variant::Sack)),
    ];
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn packets_are_conserved_and_results_do_not_depend_on_the_order_of_evaluation(
        variants in variants(), (aqm, set) in queue(), mbps in 0.3f64..20.0, seed in 0u64..1000,
    ) {
        let mut plan = dumbbell(&variants, mbps, (aqm, &set), 8.0);
        let measured = run(&plan, seed, Options::default());
        prop_assert_eq!(text(&measured), text(&run(&plan, seed, Options { shortcuts: false })));
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

#[test]
fn a_run_in_steps_is_the_run() {
    let plan = dumbbell(&[Some(Variant::Sack), Some(Variant::Reno), None], 3.0, ("red", &[]), 20.0);
    let mut stepped = Simulation::new(&plan, 3, Options::default());
    for i in 0..100 {
        stepped.run_until(aqmlab_units::Time::from_secs(f64::from(i) * 0.21));
    }
    stepped.finish();
    assert_eq!(text(&stepped.tables()), text(&run(&plan, 3, Options::default())));
}

#[test]
fn statistics_after_the_warmup_are_those_of_the_rest() {
    let mut plan = dumbbell(&[Some(Variant::NewReno); 3], 5.0, ("gentle-red", &[]), 30.0);
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
