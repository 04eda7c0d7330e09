//! Applications against times reckoned by hand: one link each way of 10 Mb/s and 10 ms.

#[allow(dead_code, reason = "this test uses its part")]
mod common;

use std::sync::Arc;

use aqmlab_netsim::plan::{
    AdaptationRule, Dispatch, Ends, Flow, Length, Objects, Page, Pattern, Plan, Probe, Size, Spread, Start,
    TTL, Transport, Video,
};
use aqmlab_netsim::{EngineChoice, Options, Simulation, Table};
use aqmlab_transport::TcpConfig;
use aqmlab_transport::rfc::{self, CongestionControl};
use aqmlab_units::{Rate, Span, Time};
use common::{integers, link, reals, run, text, words};

const MSS: u32 = 1000;
/// Lengths of a SYN, an acknowledgement and a full segment in bytes.
const SYN: u64 = 60;
const ACK: u64 = 52;
const FULL: u64 = 1052;

/// A delay and so many bytes at 10 Mb/s: 800 ns each, in ps.
fn way(bytes: u64) -> u64 {
    10_000_000_000 + bytes * 800_000
}

fn seconds(ps: u64) -> f64 {
    Time(ps).secs()
}

fn flow(name: &str, size: Size, stop: Option<Time>) -> Flow {
    let defaults = rfc::Config::linux(CongestionControl::Reno);
    let config = TcpConfig::Rfc(Arc::new(rfc::Config { mss: MSS, ..defaults }));
    Flow {
        name: name.into(),
        group: "web".into(),
        ends: Ends::At(0, 1),
        start: Start::At(Time::from_secs(1.0)),
        stop,
        again: Vec::new(),
        dscp: 0,
        class: 0,
        ttl: TTL,
        acks_share_label: false,
        hosts: [0; 2],
        transport: Arc::new(Transport::Tcp { config, size, clock_offset: None }),
    }
}

fn plan(flows: Vec<Flow>, pages: Vec<Page>) -> Plan {
    Plan {
        nodes: ["a".into(), "b".into()].into(),
        links: [
            link("there", (0, 1), 10.0, 10.0, ("drop-tail", &[])),
            link("back", (1, 0), 10.0, 10.0, ("drop-tail", &[])),
        ]
        .into(),
        flows: flows.into(),
        hosts: Vec::new(),
        pages,
        markers: Vec::new(),
        pings: Vec::new(),
        translations: Vec::new(),
        routing: Default::default(),
        duration: Span::from_millis(20_000),
        warmup: Span::ZERO,
        probe: Probe { links: vec![0], flow_delay: true, losses: true, ..Probe::default() },
    }
}

fn page(connections: u32, objects: u32, size: Spread, think: Spread) -> Plan {
    let sizes: Arc<[u64]> = [].into();
    let one = |i| {
        let objects = Objects { sizes: sizes.clone(), think: think.clone() };
        flow(&format!("web.{i}"), Size::Objects(objects), None)
    };
    let (name, start) = ("web".to_owned(), Start::At(Time::from_secs(1.0)));
    let dispatch = Dispatch::InTurn;
    let page = Page { name, first: 0, connections, dispatch, start, objects, size };
    plan((0..connections).map(one).collect(), vec![page])
}

/// The tables, which are the same by either engine.
fn run_both(plan: &Plan) -> Vec<(&'static str, Table)> {
    let by_windows =
        run(plan, 1, Options { shortcuts: true, engine: EngineChoice::Windows, ..Options::default() });
    let by_events =
        run(plan, 1, Options { shortcuts: true, engine: EngineChoice::Events, ..Options::default() });
    assert_eq!(text(&by_windows), text(&by_events));
    by_windows
}

fn is_near(found: f64, ps: u64) {
    assert!((found - seconds(ps)).abs() < 1e-9, "{found} instead of {}", seconds(ps));
}

#[test]
fn two_objects_and_a_pause() {
    let tables = run_both(&page(1, 2, Spread::Fixed(1000.0), Spread::Fixed(0.005)));
    // The SYN and its answer; then an object of a segment there and its acknowledgement back, which is not delayed.
    let first = way(SYN) + way(ACK) + way(FULL);
    let second = first + way(ACK) + 5_000_000_000 + way(FULL);
    let start = 1_000_000_000_000;
    for (finish, expected) in reals(&tables, "objects", "finish_s").iter().zip([first, second]) {
        is_near(*finish, start + expected);
    }
    is_near(reals(&tables, "objects", "requested_s")[1], start + second - way(FULL));
    is_near(reals(&tables, "pages", "load_s")[0], second);
    assert_eq!(integers(&tables, "pages", "bytes"), [2000]);
    assert_eq!(integers(&tables, "flows", "received"), [3]);
    assert_eq!(integers(&tables, "flows", "goodput_bytes"), [(2 * FULL + SYN) as i64]);
    is_near(reals(&tables, "flows", "finish_s")[0], start + second + way(ACK));
}

#[test]
fn objects_that_do_not_fill_their_last_segment() {
    // 2500 bytes leave as 1000, 1000 and 500 in the initial window.
    let tables = run_both(&page(1, 3, Spread::Fixed(2500.0), Spread::Fixed(0.0)));
    let object = way(2 * FULL + FULL - 500);
    let load = way(SYN) + way(ACK) + 3 * object + 2 * way(ACK);
    is_near(reals(&tables, "pages", "load_s")[0], load);
    assert_eq!(integers(&tables, "flows", "received"), [10]);
    assert_eq!(integers(&tables, "flows", "goodput_bytes"), [(9 * 52 + 7500 + SYN) as i64]);
}

#[test]
fn connections_share_the_link() {
    // All six SYNs leave at once, and their answers come one after the other; the segments are longer and wait.
    let tables = run_both(&page(6, 6, Spread::Fixed(1000.0), Spread::Fixed(0.0)));
    let first = way(SYN) + way(ACK);
    is_near(reals(&tables, "pages", "load_s")[0], first + way(6 * FULL));
    assert_eq!(words(&tables, "objects", "flow").len(), 6);
    assert_eq!(integers(&tables, "pages", "finished_objects"), [6]);
    // SYNs wait for one another: the k-th takes k of them and the delay.
    let delays = reals(&tables, "flow_delays", "min_s");
    for (delay, k) in delays.iter().zip(1..) {
        is_near(*delay, way(k * SYN));
    }
}

/// Place, bytes, request and end of each object of a page, in the order of their requests.
fn requests(tables: &[(&'static str, Table)]) -> Vec<(String, i64, f64, f64)> {
    let flows = words(tables, "objects", "flow").into_iter();
    let times = reals(tables, "objects", "requested_s").into_iter().zip(reals(tables, "objects", "finish_s"));
    let rows = flows.zip(integers(tables, "objects", "bytes")).zip(times);
    let mut rows: Vec<_> =
        rows.map(|((flow, bytes), (from, to))| (flow.to_string(), bytes, from, to)).collect();
    rows.sort_by(|a, b| a.2.total_cmp(&b.2));
    rows
}

#[test]
fn the_next_object_goes_over_whichever_connection_is_free() {
    let mut plan = page(3, 40, Spread::Pareto { mean: 20_000.0, shape: 1.2 }, Spread::Fixed(0.0));
    let in_turn = run_both(&plan);
    plan.pages[0].dispatch = Dispatch::FirstFree;
    let shared = run(&plan, 1, Options::default());
    let by_every_event =
        run(&plan, 1, Options { shortcuts: false, engine: EngineChoice::Events, ..Options::default() });
    assert_eq!(text(&shared), text(&by_every_event));
    let why = "the connections of page web share its objects";
    assert_eq!(Simulation::new(&plan, 1, Options::default()).why_events(), Some(why));

    // In turn object k is the (k / 3)th of connection k mod 3; shared it is the k-th that is asked for.
    let dealt: Vec<Vec<i64>> = (0..3)
        .map(|i| {
            let own = requests(&in_turn).into_iter().filter(|row| row.0 == format!("web.{i}"));
            own.map(|row| row.1).collect()
        })
        .collect();
    let rows = requests(&shared);
    let sizes: Vec<i64> = rows.iter().map(|row| row.1).collect();
    let drawn: Vec<i64> = (0..40).map(|k| dealt[k % 3][k / 3]).collect();
    assert_eq!(sizes, drawn);
    assert_eq!(integers(&shared, "pages", "bytes"), [drawn.iter().sum::<i64>()]);
    assert_eq!(integers(&shared, "pages", "finished_objects"), [40]);
    // A connection asks again only when its own object has come, and never rests while one is left.
    for (k, row) in rows.iter().enumerate() {
        let next = rows[k + 1..].iter().find(|other| other.0 == row.0);
        let last = rows.last().unwrap().2;
        match next {
            Some(next) => assert!((next.2 - row.3 - seconds(way(ACK))).abs() < 1e-9),
            None => assert!(row.3 + seconds(way(ACK)) >= last),
        }
    }
    assert!(reals(&shared, "pages", "load_s")[0] < reals(&in_turn, "pages", "load_s")[0]);
}

#[test]
fn a_window_of_ten_and_then_twenty() {
    // 30 segments: ten leave at once; every acknowledgement lets as many follow as it covers and one more for each.
    let tables = run_both(&page(1, 1, Spread::Fixed(30_000.0), Spread::Fixed(0.0)));
    // The first segment is answered at once (quick acknowledgements), and lets two follow; when the twenty that follow
    // have begun the link sends them without a pause, as two are sent for each that leaves.
    let first_answer = way(SYN) + way(ACK) + way(FULL) + way(ACK);
    is_near(reals(&tables, "pages", "load_s")[0], first_answer + way(20 * FULL));
}

#[test]
fn a_video_by_hand() {
    let segment = Span::from_millis(1000);
    let video = Video {
        ladder: [80_000, 160_000].map(Rate).to_vec(),
        segment,
        buffer: segment * 3,
        startup: segment,
        segments: Some(4),
        rule: AdaptationRule::Bba0 { reservoir: Span::from_millis(900), cushion: Span::from_millis(50) },
    };
    let tables = run_both(&plan(vec![flow("video", Size::Video(Arc::new(video)), None)], Vec::new()));
    // 10 kB are ten segments, the initial window; 20 kB are twenty, for which the window has grown.
    let (low, high) = (way(10 * FULL), way(20 * FULL));
    let second = way(SYN) + way(ACK) + low + way(ACK);
    // A second is in the buffer when the first segment's end is acknowledged.
    let third = second + high + way(ACK);
    let start = 1_000_000_000_000;
    assert_eq!(integers(&tables, "segments", "bitrate_bps"), [80_000, 160_000, 160_000, 160_000]);
    let requested = reals(&tables, "segments", "requested_s");
    is_near(requested[1], start + second);
    is_near(requested[2], start + third);
    // The buffer is full then: it has three seconds less what was played since the second request.
    let full = third + high + way(ACK);
    is_near(requested[3], start + second + 1_000_000_000_000);
    assert!(full < second + 1_000_000_000_000);
    let buffer = reals(&tables, "segments", "buffer_s");
    is_near(buffer[1], 1_000_000_000_000);
    is_near(buffer[2], 2_000_000_000_000 - (third - second));
    is_near(buffer[3], 2_000_000_000_000);
    assert_eq!(reals(&tables, "segments", "stall_s"), [0.0; 4]);
    is_near(reals(&tables, "segments", "download_s")[1], high);
}

#[test]
fn a_link_too_slow_stalls() {
    // 20 Mb of video a second over 10 Mb/s.
    let video = Video {
        ladder: vec![Rate(20_000_000)],
        segment: Span::from_millis(1000),
        buffer: Span::from_millis(9000),
        startup: Span::from_millis(1000),
        segments: None,
        rule: AdaptationRule::Throughput { safety: 0.85, window: 20 },
    };
    let tables = run_both(&plan(vec![flow("video", Size::Video(Arc::new(video)), None)], Vec::new()));
    let (finish, stall) = (reals(&tables, "segments", "finish_s"), reals(&tables, "segments", "stall_s"));
    assert_eq!(stall[0], 0.0);
    for k in 1..finish.len() {
        let late = finish[k] - finish[k - 1] - 1.0;
        assert!((late.is_nan() && stall[k].is_nan()) || late - stall[k] <= 1e-9, "{k}: {late} {}", stall[k]);
    }
    assert!(stall.iter().filter(|s| **s > 0.9).count() > 5);
}

#[test]
fn what_stops_asks_for_nothing_more() {
    let mut plan = page(2, 40, Spread::Fixed(4000.0), Spread::Fixed(0.2));
    Arc::make_mut(&mut plan.flows).iter_mut().for_each(|flow| flow.stop = Some(Time::from_secs(2.0)));
    let tables = run_both(&plan);
    assert!(reals(&tables, "pages", "load_s")[0].is_nan());
    let requested = reals(&tables, "objects", "requested_s");
    assert!(requested.len() > 4 && requested.iter().all(|t| *t < 2.0));
    assert!(reals(&tables, "flows", "finish_s").iter().all(|t| (2.0..2.1).contains(t)));
}

#[test]
fn delays_of_every_packet() {
    let mut plan = plan(vec![flow("call", Size::Greedy, Some(Time::from_secs(1.05)))], Vec::new());
    Arc::make_mut(&mut plan.flows)[0].transport = Arc::new(Transport::Udp {
        rate: Rate(80_000),
        packet: Length::fixed(200),
        pattern: Pattern::Constant,
    });
    plan.probe.packet_delays = vec![0];
    let tables = run_both(&plan);
    assert_eq!(integers(&tables, "call_packets", "packet"), [0, 1, 2]);
    for (sent, expected) in reals(&tables, "call_packets", "sent_s").iter().zip([1.0, 1.02, 1.04]) {
        assert!((sent - expected).abs() < 1e-12);
    }
    reals(&tables, "call_packets", "delay_s").iter().for_each(|delay| is_near(*delay, way(200)));
    let [low, high] = ["low_s", "high_s"].map(|name| reals(&tables, "flow_delay_histogram", name));
    assert!(
        low.len() == 1
            && low[0] <= seconds(way(200))
            && seconds(way(200)) < high[0]
            && high[0] < 1.01 * low[0]
    );
}
