//! PC-RED's bit QOSA travels with a packet: from one PC-RED queue to the next, through queues that do not know it.

#[allow(dead_code, reason = "this test uses its part")]
mod common;

use std::sync::Arc;

use aqmlab_aqm::Value;
use aqmlab_netsim::plan::{Ends, Flow, Length, Pattern, Plan, Probe, Start, TTL, Transport};
use aqmlab_netsim::{EngineChoice, Options};
use aqmlab_units::{Rate, Span, Time};
use common::{Queue, link, reals, run, text, words};

/// Three links in a row: a PC-RED queue at which a flow with priority may lose one byte, a fast link with another
/// discipline, and a slower PC-RED queue at which the flow may lose a megabyte, so that it is never protected there by
/// itself. One of six flows has priority. All stop a second before the end, so that the queues are empty then.
fn chain(middle: Queue, qosa: Option<&str>) -> Plan {
    let pc_red = |limit| {
        vec![
            ("loss_limit", Value::Bytes(limit)),
            ("loss_weight", Value::Number(0.9)),
            ("w_q", Value::Number(0.02)),
        ]
    };
    let (first, mut last) = (pc_red(1), pc_red(1_000_000));
    last.extend(qosa.map(|word| ("qosa", Value::Word(word.into()))));
    let links = vec![
        link("first", (0, 1), 1.0, 5.0, ("pc-red", &first)),
        link("middle", (1, 2), 10.0, 5.0, middle),
        link("last", (2, 3), 0.8, 5.0, ("pc-red", &last)),
    ];
    let flow = |i| Flow {
        name: format!("f{i}").into(),
        group: "f".into(),
        ends: Ends::At(0, 3),
        start: Start::At(Time::ZERO),
        stop: Some(Time::from_secs(29.0)),
        again: Vec::new(),
        dscp: 0,
        class: u8::from(i == 0),
        ttl: TTL,
        acks_share_label: false,
        hosts: [0; 2],
        transport: Arc::new(Transport::Udp {
            rate: Rate(200_000),
            packet: Length::fixed(500),
            pattern: Pattern::Poisson,
        }),
    };
    Plan {
        nodes: (0..4).map(|i| format!("n{i}").into()).collect(),
        links: links.into(),
        flows: (0..6).map(flow).collect(),
        hosts: Vec::new(),
        pages: Vec::new(),
        markers: Vec::new(),
        pings: Vec::new(),
        translations: Vec::new(),
        routing: Default::default(),
        duration: Span::from_secs(30.0),
        warmup: Span::ZERO,
        probe: Probe {
            links: vec![0, 2],
            discipline_interval: Some(Span::from_secs(29.9)),
            ..Probe::default()
        },
    }
}

/// Of a link, the arrivals and drops of protected packets, and of other packets of the flow with priority.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seen {
    plus: [f64; 2],
    minus: [f64; 2],
}

/// Return the packets that the first and the last queue counted until the end of a run, by both engines.
fn seen(plan: &Plan) -> [Seen; 2] {
    let tables = run(plan, 7, Options::default());
    let by_events = Options { engine: EngineChoice::Events, ..Options::default() };
    assert_eq!(text(&tables), text(&run(plan, 7, by_events)), "the engines agree");
    let column = |name| words(&tables, "discipline_samples", name);
    let (links, names) = (column("link"), column("name"));
    let values = reals(&tables, "discipline_samples", "value");
    ["first", "last"].map(|link| {
        let last = |name: &str| {
            let is = |i: &usize| links[*i] == link && names[*i] == name;
            values[(0..values.len()).rfind(is).expect("a sample")]
        };
        Seen {
            plus: [last("arrivals_plus"), last("drops_plus")],
            minus: [last("arrivals_minus"), last("drops_minus")],
        }
    })
}

#[test]
fn the_next_queue_honours_or_overwrites_the_bit() {
    for middle in [("drop-tail", &[] as &[_]), ("red", &[]), ("codel", &[]), ("ddred", &[])] {
        let [first, default] = seen(&chain(middle, None));
        let [again, overwritten] = seen(&chain(middle, Some("overwritten")));
        let [honouring, honoured] = seen(&chain(middle, Some("honoured")));
        assert_eq!((first, default), (again, overwritten), "{middle:?}: the default");
        assert_eq!(first, honouring, "{middle:?}: nothing changes before the last queue");
        // The packets that leave the first queue arrive at the last one, with the bit or without it.
        let left = |[arrivals, drops]: [f64; 2]| arrivals - drops;
        let (protected, other) = (left(first.plus), left(first.minus));
        assert!(protected > 500.0 && other > 0.0, "{middle:?}: {first:?}");
        assert_eq!([honoured.plus[0], honoured.minus[0]], [protected, other], "{middle:?}");
        assert_eq!([overwritten.plus[0], overwritten.minus[0]], [0.0, protected + other], "{middle:?}");
        // A fifth of the packets must go at the last queue; the protected ones hardly.
        let share = |[arrivals, drops]: [f64; 2]| drops / arrivals;
        assert!(share(overwritten.minus) > 0.1, "{middle:?}: {overwritten:?}");
        assert!(share(honoured.plus) < 0.02, "{middle:?}: {honoured:?}");
    }
}
