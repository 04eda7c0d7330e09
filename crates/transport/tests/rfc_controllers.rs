//! Each controller behind a small bottleneck shows what it is known for, and does what it did (`bottleneck/golden.txt`,
//! rewritten with `UPDATE_GOLDEN=1`).
//!
//! A link of 10 Mb/s holds so many packets and marks those that meet ten others (a step, as DCTCP's switches do);
//! everything else of the path is a delay of 40 ms on the way back. A BDP is 33 packets.

mod bottleneck;

use aqmlab_transport::rfc::CongestionControl::{self, Bbr, Bbr1, Cubic, Dctcp, Ledbat, Prague, Reno};
use aqmlab_transport::rfc::{Config, ControllerOptions, EcnFeedback, LedbatConfig, PragueConfig};
use aqmlab_units::Span;
use bottleneck::{Flow, Found, Path, run};

const DROPS: Path = Path { limit: 100, mark_at: usize::MAX, seconds: 30, warmup: 10 };
const STEP: Path = Path { mark_at: 10, ..DROPS };
/// All that the link can carry of payload, in Mb/s.
const FULL: f64 = 10.0 * 1448.0 / 1500.0;

fn flow(config: Config) -> Flow {
    Flow { config, delay: Span::from_millis(40), start: 0 }
}

fn of(cc: CongestionControl) -> Flow {
    flow(Config::linux(cc))
}

fn ledbat(target_ms: u64, gain: f64) -> Flow {
    let ledbat = LedbatConfig { target: Span::from_millis(target_ms), gain, ..LedbatConfig::RFC };
    let controllers = ControllerOptions { ledbat, ..ControllerOptions::DEFAULT };
    flow(Config { controllers, ..Config::linux(Ledbat) })
}

fn share(found: &Found, k: usize) -> f64 {
    found.mbps[k] / found.mbps.iter().sum::<f64>()
}

fn is_full(found: &Found) -> bool {
    found.mbps.iter().sum::<f64>() > 0.999 * FULL
}

#[test]
fn dctcp_holds_the_queue_at_the_step() {
    for ecn in [EcnFeedback::Dctcp, EcnFeedback::Accurate] {
        let one = run(STEP, &[flow(Config { ecn, ..Config::linux(Dctcp) })]);
        assert!(is_full(&one) && one.drops == 0, "{one:?}");
        assert!(one.least > 0 && one.most <= 12, "never empty, hardly above the step: {one:?}");
        // alpha, the mean share, is sqrt(2 / W) = 0.216 for W = BDP + K of 43 packets (Alizadeh et al. 2010, section 3.3); less
        // here, since the window does not grow in the round trip in which it shrinks.
        assert!((0.08..0.25).contains(&one.marked_share), "{one:?}");
    }
    let three = run(STEP, &[of(Dctcp), of(Dctcp), of(Dctcp)]);
    assert!(is_full(&three) && three.most <= 16, "{three:?}");
    assert!((0..3).all(|k| (0.3..0.37).contains(&share(&three, k))), "{three:?}");
}

#[test]
fn a_classic_answer_to_the_same_marks_leaves_the_link_idle() {
    let reno = run(STEP, &[flow(Config { ecn: EcnFeedback::Classic, ..Config::linux(Reno) })]);
    assert!(!is_full(&reno) && reno.least == 0, "{reno:?}");
}

#[test]
fn prague_is_dctcp_at_equal_round_trips() {
    let one = run(STEP, &[of(Prague)]);
    assert!(is_full(&one) && one.drops == 0 && one.most <= 13, "{one:?}");
    let both = run(STEP, &[of(Prague), of(Dctcp)]);
    assert!((0.4..0.6).contains(&share(&both, 0)), "{both:?}");
}

#[test]
fn prague_depends_less_on_the_round_trip_than_dctcp() {
    let at = |config: Config, ms| Flow { delay: Span::from_millis(ms), ..flow(config) };
    let path = Path { seconds: 60, warmup: 20, ..STEP };
    let ratio = |config: &Config| {
        let found = run(path, &[at(config.clone(), 4), at(config.clone(), 40)]);
        found.mbps[0] / found.mbps[1]
    };
    let prague = PragueConfig { rtt_transition: 0, ..PragueConfig::LINUX };
    let controllers = ControllerOptions { prague, ..ControllerOptions::DEFAULT };
    let prague = ratio(&Config { controllers, ..Config::linux(Prague) });
    let dctcp = ratio(&Config::linux(Dctcp));
    assert!(prague < 0.6 * dctcp, "{prague} and {dctcp}");
}

#[test]
fn ledbat_holds_the_delay_near_its_target() {
    // 20 ms are 16.7 packets.
    let found = run(DROPS, &[ledbat(20, 1.0)]);
    assert!(is_full(&found) && found.drops == 0, "{found:?}");
    assert!((14.0..18.0).contains(&found.queue), "{found:?}");
    let wide = run(DROPS, &[ledbat(60, 1.0)]);
    assert!((42.0..52.0).contains(&wide.queue), "60 ms are 50 packets: {wide:?}");
}

#[test]
fn ledbat_yields_to_reno() {
    let found = run(DROPS, &[ledbat(20, 1.0), of(Reno)]);
    assert!(share(&found, 0) < 0.1 && is_full(&found), "{found:?}");
    let of_rfc_7928 = run(DROPS, &[ledbat(5, 10.0), of(Reno)]);
    assert!(share(&of_rfc_7928, 0) < 0.05, "{of_rfc_7928:?}");
}

#[test]
fn bbr_fills_the_link_with_a_short_queue() {
    let found = run(DROPS, &[of(Bbr)]);
    assert!(found.mbps[0] > 0.95 * FULL && found.drops == 0, "{found:?}");
    assert!(found.queue < 8.0, "Reno's is 68: {found:?}");
    // The window is twice the BDP, less where it probes for the round-trip time.
    assert!((60.0..75.0).contains(&found.cwnd[0]), "{found:?}");
    let two = run(DROPS, &[of(Bbr), of(Bbr)]);
    assert!((0.4..0.6).contains(&share(&two, 0)), "{two:?}");
}

#[test]
fn bbr_bears_a_short_buffer_and_others() {
    let short = run(Path { limit: 20, ..DROPS }, &[of(Bbr)]);
    assert!(short.mbps[0] > 0.95 * FULL, "{short:?}");
    let competing = run(DROPS, &[of(Bbr), of(Cubic)]);
    assert!(share(&competing, 0) > 0.15 && share(&competing, 1) > 0.15, "{competing:?}");
}

#[test]
fn bbr1_keeps_two_bdps_in_flight() {
    let found = run(DROPS, &[of(Bbr1)]);
    assert!(found.mbps[0] > 0.95 * FULL && found.drops == 0, "{found:?}");
    assert!((60.0..75.0).contains(&found.cwnd[0]), "2 * 33 and three quanta of two segments: {found:?}");
}

/// Ware et al. 2019: among loss-based flows BBRv1 keeps about 40 % of a link with a deep buffer, whatever their number. Here
/// 8 BDP.
#[test]
fn bbr1_keeps_its_share_among_any_number_of_cubic_flows() {
    let deep = Path { limit: 8 * 33, mark_at: usize::MAX, seconds: 100, warmup: 20 };
    for others in [1, 4] {
        let flows: Vec<_> = core::iter::once(of(Bbr1)).chain((0..others).map(|_| of(Cubic))).collect();
        let found = run(deep, &flows);
        assert!((0.3..0.5).contains(&share(&found, 0)), "{others}: {found:?}");
    }
}

/// Hock et al. 2017: behind a buffer below a BDP BBRv1 ignores the losses that it causes, and CUBIC starves.
#[test]
fn bbr1_starves_cubic_behind_a_short_buffer() {
    let short = Path { limit: 10, seconds: 60, ..DROPS };
    let both = run(short, &[of(Bbr1), of(Cubic)]);
    let cubics = run(short, &[of(Cubic), of(Cubic)]);
    assert!(share(&both, 0) > 0.8 && both.drops > 5 * cubics.drops, "{both:?} and {cubics:?}");
}

/// A line for each controller: payload in Mb/s, mean queue and window in packets, drops, share of marks.
///
/// A controller without a line is not compared; `UPDATE_GOLDEN=1` writes those of all.
#[test]
fn golden() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bottleneck/golden.txt");
    let head = "controller mbps queue least most cwnd drops marked\n";
    let lines = CongestionControl::ALL.map(golden_line);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(file, format!("{head}{}", lines.concat())).unwrap();
    }
    let golden = std::fs::read_to_string(file).unwrap();
    let name = |line: &str| line.split(' ').next().map(str::to_owned);
    let known = |line: &&String| golden.lines().any(|golden| name(golden) == name(line));
    assert_eq!(golden, format!("{head}{}", lines.iter().filter(known).cloned().collect::<String>()));
}

fn golden_line(cc: CongestionControl) -> String {
    let f = run(if cc.needs_ecn() { STEP } else { DROPS }, &[of(cc)]);
    let (name, mbps, queue, cwnd) = (cc.name(), f.mbps[0], f.queue, f.cwnd[0]);
    let (least, most, drops, marked) = (f.least, f.most, f.drops, f.marked_share);
    format!("{name} {mbps:.6} {queue:.6} {least} {most} {cwnd:.6} {drops} {marked:.6}\n")
}
