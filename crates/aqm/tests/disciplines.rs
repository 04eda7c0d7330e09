//! Every non-RED discipline, and the members of the RED family that no other simulator checks, under the same traffic:
//! compare with the tables in `tests/golden`.
//!
//! `UPDATE_GOLDEN=1 cargo test -p aqmlab-aqm --test disciplines` rewrites the tables.

mod common;

use std::fmt::Write as _;
use std::path::PathBuf;

use aqmlab_aqm::red::{AVERAGE, P_B};
use aqmlab_aqm::{Backlog, Checked, Ecn, PRESETS, Qdisc, Value};
use aqmlab_units::{Stream, Time};
use common::{Counting, VirtualLink, build, gauge, packet};

/// Four flows of different lengths of packets, one of them ECN-capable and one that sends four times its share, before
/// 5 Mb/s: at 60 % of the rate for two seconds, at 150 % for four, at 30 % for two.
fn course(aqm: &str, ecn: bool) -> String {
    let has_ecn = PRESETS.iter().any(|p| p.name == aqm && p.parameters().iter().any(|p| p.key == "ecn"));
    let set: &[_] = if ecn && has_ecn { &[("ecn", Value::Flag(true))] } else { &[] };
    let mut link = VirtualLink::new(Checked::new(build(aqm, 5_000_000, set)), 5_000_000);
    let (mut host, mut traffic) = (Counting::new(7), Stream::new(1, "traffic"));
    let mut now = Time::from_secs(0.0);
    let mut next_row = 0.25;
    let shown = columns(&link.queue);
    let mut table = format!("time_s,packets,bytes,{},early,forced,overflow,marks\n", shown.join(","));
    let mut number = 0;
    while now.secs() < 8.0 {
        let load = match now.secs() {
            t if t < 2.0 => 0.6,
            t if t < 6.0 => 1.5,
            _ => 0.3,
        };
        let flow = [0, 1, 2, 3, 3, 3, 3][traffic.below(7) as usize];
        let bytes = [1500, 1500, 300, 1000][flow as usize];
        now = Time(now.0 + (traffic.exponential(8.0 * 1085.7 / (5e6 * load)) * 1e12) as u64);
        while next_row < now.secs() && next_row <= 8.0 {
            let at = Time::from_secs(next_row);
            timers(&mut link, at, &mut host);
            link.serve_until(at, &mut host);
            let Backlog { packets, bytes } = link.queue.backlog();
            let Counting { early, forced, overflow, marks, .. } = host;
            let gauges: Vec<_> =
                shown.iter().map(|name| format!("{:.6}", gauge(&link.queue, name))).collect();
            let gauges = gauges.join(",");
            writeln!(table, "{next_row},{packets},{bytes},{gauges},{early},{forced},{overflow},{marks}")
                .expect("a string takes all");
            next_row += 0.25;
        }
        timers(&mut link, now, &mut host);
        let mut packet = packet(number, bytes, if flow == 1 { Ecn::Ect } else { Ecn::NotEct });
        packet.meta.arrival = now;
        packet.meta.flow = flow;
        link.arrive(now, packet, &mut host);
        number += 1;
    }
    table
}

/// The gauges in the table: average and p_b of a discipline that has them, else all of its state.
fn columns(queue: &impl Qdisc<u32>) -> Vec<&'static str> {
    if queue.gauge(Time::ZERO, AVERAGE).is_some() {
        return vec![AVERAGE, P_B];
    }
    let mut names = Vec::new();
    queue.gauges(Time::ZERO, &mut |gauge, _| names.push(gauge.name()));
    names
}

/// The discipline's timers up to `now`, in order with the ends of service.
fn timers(link: &mut VirtualLink<Checked<aqmlab_aqm::Discipline<u32>>>, now: Time, host: &mut Counting) {
    while let Some(due) = link.queue.next_timer()
        && due <= now
    {
        link.serve_until(due, host);
        link.queue.on_timer(due, host);
    }
}

/// Members of the RED family that no other simulator checks.
const UNCHECKED: [&str; 2] = ["choke", "double-slope-red"];

fn has_golden(aqm: &str) -> bool {
    UNCHECKED.contains(&aqm) || matches!(build(aqm, 1_000_000, &[]), aqmlab_aqm::Discipline::NonRed(_))
}

#[test]
fn the_same_traffic_has_the_same_course() {
    for preset in PRESETS.iter().filter(|p| has_golden(p.name)) {
        for (ecn, name) in [(false, preset.name.to_owned()), (true, format!("{}-ecn", preset.name))] {
            let table = course(preset.name, ecn);
            assert_eq!(table, course(preset.name, ecn), "{name} twice");
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.csv"));
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                std::fs::write(&path, &table).expect("a file");
            }
            let golden = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            assert_eq!(golden, table, "{name}");
        }
    }
}
