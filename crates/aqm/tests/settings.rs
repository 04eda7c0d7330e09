//! Random settings of all disciplines: conservation of packets, and warnings about settings without an effect.

mod common;

use aqmlab_aqm::{
    Checked, Ecn, LinkContext, PRESETS, Parameter, Preset, Qdisc, Resolved, Spec, Value, ValueKind,
};
use aqmlab_units::{Rate, Span, Stream, Time};
use common::{Counting, VirtualLink, packet, word};

const BPS: u64 = 5_000_000;

/// Draw a value of a parameter.
fn draw(parameter: &Parameter, rng: &mut Stream) -> Option<Value> {
    if !parameter.choices.is_empty() && (parameter.kind == ValueKind::Choice || rng.below(4) == 0) {
        let word = parameter.choices[rng.below(parameter.choices.len() as u64) as usize];
        return Some(Value::Word(word.to_owned()));
    }
    let power = |low: f64, high: f64, rng: &mut Stream| low * libm::pow(high / low, rng.uniform());
    Some(match parameter.kind {
        ValueKind::Packets => Value::Packets(power(1.0, 60.0, rng).round()),
        ValueKind::PacketsOrBytes if rng.below(3) == 0 => Value::Bytes(power(3000.0, 60_000.0, rng) as u64),
        ValueKind::PacketsOrBytes => Value::Packets(power(2.0, 60.0, rng).round()),
        ValueKind::Bytes | ValueKind::BytesByLevel => Value::Bytes(power(40.0, 60_000.0, rng) as u64),
        ValueKind::Time => Value::Seconds(power(5e-4, 0.5, rng)),
        ValueKind::Number if parameter.is_whole => Value::Number(power(1.0, 300.0, rng).round()),
        ValueKind::Number => Value::Number(power(0.001, 10.0, rng)),
        ValueKind::Flag => Value::Flag(rng.below(2) == 0),
        ValueKind::Rate => Value::Rate(Rate(power(1e5, 2e7, rng) as u64)),
        ValueKind::Choice | ValueKind::Points | ValueKind::Text | ValueKind::Numbers => return None,
    })
}

/// Resolve a preset with these settings, if they do not contradict each other.
fn resolve(preset: &Preset, set: &[(&'static str, Value)]) -> Option<Resolved> {
    let mut spec = Spec::new(preset.name).expect("a preset");
    for (key, value) in set {
        spec.set(key, value.clone()).ok()?;
    }
    spec.resolve(LinkContext { rate: Rate(BPS), delay: Span::from_millis(1) }).ok()
}

/// Offer bursts of random packets, and serve them all.
fn serve(resolved: &Resolved, seed: u64) {
    let mut link = VirtualLink::new(Checked::new(resolved.build()), BPS);
    let (mut host, mut traffic) = (Counting::new(seed), Stream::new(seed, "traffic"));
    let mut now = Time::ZERO;
    for number in 0..600 {
        let gap = if number / 150 % 2 == 0 { 1_500_000_000 } else { 4_000_000_000 };
        let idle = if number == 300 { 2_000_000_000_000 } else { 0 };
        now = Time(now.0 + traffic.below(gap) + idle);
        while let Some(due) = link.queue.next_timer().filter(|due| *due <= now) {
            link.serve_until(due, &mut host);
            link.queue.on_timer(due, &mut host);
        }
        let ecn = [Ecn::Ect, Ecn::NotEct, Ecn::Ect1, Ecn::Ect][traffic.below(4) as usize];
        let mut packet = packet(number, 40 + traffic.below(1460) as u32, ecn);
        let flow = traffic.below(16).min(traffic.below(16)) as u8;
        (packet.meta.flow, packet.meta.arrival) = (flow.into(), now);
        packet.meta.header.set_class(u8::from(flow < 3));
        packet.meta.header.set_dscp(flow * 3);
        packet.meta.header = packet.meta.header.with_ttl_initial(64).with_ttl(64 - flow % 5);
        link.arrive(now, packet, &mut host);
    }
    link.serve_until(Time::from_secs(1e5), &mut host);
    assert_eq!(link.queue.backlog().packets, 0, "{}", resolved.preset);
}

#[test]
fn all_packets_leave_whatever_is_set() {
    let mut runs = 0;
    for preset in PRESETS.iter() {
        let mut rng = Stream::new(1, preset.name);
        for _ in 0..400 {
            let share = 0.5 * rng.uniform();
            let mut set = Vec::new();
            for parameter in preset.parameters() {
                if rng.uniform() < share
                    && let Some(value) = draw(parameter, &mut rng)
                {
                    set.push((parameter.key, value));
                }
            }
            if let Some(resolved) = resolve(preset, &set) {
                runs += 1;
                serve(&resolved, runs);
            }
        }
    }
    assert!(runs > 3000, "{runs}");
}

#[test]
fn settings_without_effect_are_warned_of() {
    let (number, seconds) = (Value::Number, Value::Seconds);
    let ms = |ms: f64| seconds(ms / 1000.0);
    let on = || Value::Flag(true);
    let cases = [
        ("red", vec![("nodrop", on())], "nodrop has no effect without ecn"),
        ("mred", vec![("mark_up_to", number(0.5))], "mark_up_to has no effect without ecn"),
        ("red", vec![("byte_scaling", word("none"))], "byte_scaling has no effect with mode = \"packets\""),
        ("exred", vec![("averages", word("shared"))], "averages has no effect without classes"),
        ("red", vec![("draw_from", word("slots"))], "draw_from has no effect with victim = \"arriving\""),
        ("fq-pie", vec![("mark_up_to", number(0.5))], "mark_up_to has no effect without ecn"),
        (
            "sfb",
            vec![("rehash", word("never")), ("warmup", seconds(1.0))],
            "warmup has no effect with rehash = \"never\"",
        ),
        ("blue", vec![("length", number(20.0))], "length has no effect with increase = \"loss\""),
        ("dualpi2", vec![("time_shift", ms(9.0))], "time_shift has no effect with scheduler = \"weighted\""),
        (
            "dualpi2",
            vec![("scheduler", word("time-shifted")), ("classic_share", number(0.2))],
            "classic_share has no effect with scheduler = \"time-shifted\"",
        ),
        ("dualpi2", vec![("decide", word("arriving"))], "decide has no effect without the dialect of Linux"),
        (
            "pie",
            vec![("dialect", word("linux")), ("derandomize", Value::Flag(false))],
            "derandomize has no effect in the dialect of Linux, which has true",
        ),
        (
            "red",
            vec![("dialect", word("linux")), ("w_q", number(1e-9))],
            "dialect \"linux\" computes this queue in floating point, since Linux rejects max_th with this w_q",
        ),
        (
            "red",
            vec![("dialect", word("linux")), ("curve", word("gentle"))],
            "dialect \"linux\" computes this queue in floating point, since Linux has another curve",
        ),
    ];
    for (name, set, warning) in cases {
        let preset = PRESETS.iter().find(|p| p.name == name).expect("a preset");
        let resolved = resolve(preset, &set).unwrap_or_else(|| panic!("{name}: {set:?}"));
        assert_eq!(resolved.warnings, [warning], "{name}");
    }
}
