//! Random settings of all disciplines: conservation of packets, and warnings about settings without an effect.

mod common;
mod ineffective;

use aqmlab_aqm::{
    Checked, Ecn, Host, LinkContext, PRESETS, Parameter, Preset, Qdisc, Resolved, Spec, Value, ValueKind,
};
use aqmlab_units::{Rate, Span, Stream, Time};
use common::{Counting, VirtualLink, packet, word};

const BPS: u64 = 5_000_000;
const LINK: LinkContext = LinkContext { rate: Rate(BPS), delay: Span::from_millis(1) };

/// Draw a value of a parameter.
fn draw(parameter: &Parameter, rng: &mut Stream) -> Option<Value> {
    if !parameter.choices.is_empty() && (parameter.kind == ValueKind::Choice || rng.below(4) == 0) {
        let word = parameter.choices[rng.below(parameter.choices.len() as u64) as usize];
        return Some(Value::Word(word.to_owned()));
    }
    let power = |low: f64, high: f64, rng: &mut Stream| low * libm::pow(high / low, rng.uniform());
    let least = parameter.min.filter(|(_, allowed)| *allowed).map(|(least, _)| least);
    if let Some(least) = least.filter(|least| *least <= 1.0 && rng.below(4) == 0) {
        match parameter.kind {
            ValueKind::Number => return Some(Value::Number(least)),
            ValueKind::Time if least == 0.0 => return Some(Value::Seconds(least)),
            _ => {}
        }
    }
    Some(match parameter.kind {
        ValueKind::Packets => Value::Packets(power(1.0, 60.0, rng).round()),
        ValueKind::PacketsOrBytes if rng.below(3) == 0 => Value::Bytes(power(3000.0, 60_000.0, rng) as u64),
        ValueKind::PacketsOrBytes => Value::Packets(power(2.0, 60.0, rng).round()),
        ValueKind::Bytes | ValueKind::BytesByLevel => Value::Bytes(power(40.0, 60_000.0, rng) as u64),
        ValueKind::Time => Value::Seconds(power(5e-4, 0.5, rng)),
        ValueKind::Number if parameter.is_whole => Value::Number(power(1.0, 300.0, rng).round()),
        ValueKind::Number => {
            let is_wide = parameter.max.is_none_or(|(most, _)| most >= 300.0);
            Value::Number(power(0.001, if is_wide { 300.0 } else { 10.0 }, rng))
        }
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
    spec.resolve(LINK).ok()
}

/// Offer bursts of random packets, and serve them all.
fn serve(resolved: &Resolved, seed: u64) {
    let mut link = VirtualLink::new(Checked::new(resolved.build()), BPS);
    offer(&mut link, &mut Counting::new(seed), seed, 600, 1);
    assert_eq!(link.queue.backlog().packets, 0, "{}", resolved.preset);
}

/// Offer bursts of random packets, and serve them all; `load` is a factor of their rate.
fn offer(
    link: &mut VirtualLink<impl Qdisc<u32>>,
    host: &mut impl Host<u32>,
    seed: u64,
    packets: u32,
    load: u64,
) {
    let mut traffic = Stream::new(seed, "traffic");
    let mut now = Time::ZERO;
    for number in 0..packets {
        let gap =
            if (number / (packets / 4)).is_multiple_of(2) { 1_500_000_000 } else { 4_000_000_000 } / load;
        let idle = if number == packets / 2 { 2_000_000_000_000 } else { 0 };
        now = Time(now.0 + traffic.below(gap) + idle);
        while let Some(due) = link.queue.next_timer().filter(|due| *due <= now) {
            link.serve_until(due, host);
            link.queue.on_timer(due, host);
        }
        let ecn = [Ecn::Ect, Ecn::NotEct, Ecn::Ect1, Ecn::Ect][traffic.below(4) as usize];
        let mut packet = packet(number, 40 + traffic.below(1460) as u32, ecn);
        // The first flows have many packets, so that the rate of a flow's queue can be measured.
        let flow = (0..4).fold(16, |least, _| traffic.below(16).min(least)) as u8;
        (packet.meta.flow, packet.meta.arrival) = (flow.into(), now);
        packet.meta.header.set_class(u8::from(flow < 3));
        packet.meta.header.set_dscp(flow * 3);
        packet.meta.header =
            packet.meta.header.with_ttl_initial(64).with_ttl(64 - flow % 5).with_ttl_final(50 - flow % 3);
        link.arrive(now, packet, host);
    }
    link.serve_until(Time::from_secs(1e5), host);
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
fn values_that_linux_rounds_are_named() {
    let mut runs = 0;
    for preset in PRESETS.iter() {
        let Some(dialect) = preset.parameters().iter().find(|parameter| parameter.key == "dialect") else {
            continue;
        };
        let mut rng = Stream::new(3, preset.name);
        let linux: Vec<_> = dialect.choices.iter().filter(|choice| choice.starts_with("linux")).collect();
        for _ in 0..if linux.is_empty() { 0 } else { 100 } {
            let choice = linux[rng.below(linux.len() as u64) as usize];
            let mut set = vec![("dialect", word(choice))];
            ineffective::draw_more(preset, &mut set, &mut rng);
            let Some(resolved) = resolve(preset, &set) else { continue };
            runs += 1;
            for (key, given) in &set {
                let used = resolved.effective.iter().find(|(known, _)| known == key);
                let is_named = resolved.warnings.iter().any(|warning| warning.contains(key));
                let Some((_, used)) = used else { continue };
                let is_near = match (given, used) {
                    (Value::Number(a), Value::Number(b)) | (Value::Seconds(a), Value::Seconds(b)) => {
                        (a - b).abs() <= 1e-5 * a.abs()
                    }
                    _ => given == used,
                };
                // Words stand for values, and lengths in bytes for packets.
                let is_comparable = std::mem::discriminant(given) == std::mem::discriminant(used)
                    && !matches!(given, Value::Word(_));
                assert!(!is_comparable || is_named || is_near, "{}: {key} = {given} is {used}", preset.name);
            }
        }
    }
    assert!(runs > 1000, "{runs}");
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
        ("red", vec![("strict_limit", on())], "strict_limit has no effect with a limit in packets"),
        (
            "pi",
            vec![("mean_packet", Value::Bytes(700))],
            "mean_packet has no effect with mode = \"packets\" and without byte_mode",
        ),
        (
            "pie",
            vec![("dialect", word("linux")), ("mark_up_to", number(0.2))],
            "mark_up_to has no effect without ecn",
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
            vec![("overflow_restarts", on()), ("spacing", word("none"))],
            "overflow_restarts has no effect with spacing = \"none\"",
        ),
        (
            "red",
            vec![("idle_extra_step", on()), ("at_idle", word("none"))],
            "idle_extra_step has no effect with at_idle = \"none\"",
        ),
        (
            "drr",
            vec![("buckets", number(1.0)), ("quantum", Value::Bytes(900))],
            "quantum has no effect with buckets = 1",
        ),
        (
            "fq-codel",
            vec![("queues", number(1.0)), ("quantum", Value::Bytes(900))],
            "quantum has no effect with queues = 1",
        ),
        (
            "sfq",
            vec![("buckets", number(1.0)), ("perturb", seconds(1.0))],
            "perturb has no effect with buckets = 1",
        ),
        ("sfb", vec![("bins", number(1.0)), ("levels", number(3.0))], "levels has no effect with bins = 1"),
        (
            "rem",
            vec![("alpha", number(0.0)), ("target", Value::Packets(9.0))],
            "target has no effect with alpha = 0",
        ),
        (
            "cobalt",
            vec![("increment", number(0.0)), ("decrement", number(0.1))],
            "decrement has no effect with increment = 0",
        ),
        ("sred", vec![("max_p", number(0.0)), ("flows", number(9.0))], "flows has no effect with max_p = 0"),
        (
            "dualpi2",
            vec![("alpha", number(1.0)), ("beta", number(9.0)), ("t_update", ms(9.0)), ("rtt_max", ms(50.0))],
            "rtt_max has no effect with alpha, beta and t_update",
        ),
        (
            "red",
            vec![("dialect", word("linux")), ("w_q", number(libm::exp2(-30.0)))],
            "dialect \"linux\" computes this queue in floating point, since Linux rejects max_th with this w_q",
        ),
        (
            "red",
            vec![("dialect", word("linux")), ("curve", word("gentle"))],
            "dialect \"linux\" computes this queue in floating point, since Linux has another curve",
        ),
    ];
    compare_warnings(cases.as_slice());
    for (name, set, warning) in cases {
        let Some((key, _)) = warning.split_once(" has no effect") else { continue };
        for set in [set.clone(), set.into_iter().filter(|(own, _)| *own != key).collect::<Vec<_>>()] {
            let preset = PRESETS.iter().find(|preset| preset.name == name).expect("a preset");
            let found = resolve(preset, &set).expect("valid").without_effect;
            assert!(found.contains(&key), "{name}: {key} is not among {found:?}");
        }
    }
}

#[test]
fn values_that_linux_does_not_have_are_warned_of() {
    let number = Value::Number;
    let ms = |ms: f64| Value::Seconds(ms / 1000.0);
    let cases = [
        (
            "pie",
            vec![("max_burst", ms(200.0))],
            "max_burst = 0.2s is computed as it is set, but Linux has 0.15s",
        ),
        (
            "pie",
            vec![("mean_packet", Value::Bytes(1000))],
            "mean_packet = 1000B is computed as it is set, but Linux has 1514B",
        ),
        (
            "pie",
            vec![("ecn", Value::Flag(true)), ("mark_up_to", number(0.2))],
            "mark_up_to = 0.2 is computed as it is set, but Linux has 0.1",
        ),
        ("pie", vec![("alpha", number(3.0))], "alpha = 3 is computed as it is set, but Linux has at most 2"),
        ("pie", vec![("beta", number(1.3))], "beta = 1.3 is 1.3125 in the dialect of Linux"),
        (
            "pie",
            vec![("limit", Value::Bytes(60_000))],
            "limit = 60000B is computed as it is set, but Linux has 40p",
        ),
        (
            "fq-pie",
            vec![("ecn", Value::Flag(true)), ("mark_up_to", number(0.123))],
            "mark_up_to = 0.123 is 0.12 in the dialect of Linux",
        ),
        ("fq-codel", vec![("quantum", Value::Bytes(1))], "quantum = 1B is 256B in the dialect of Linux"),
        (
            "fq-codel",
            vec![("occupancy", word("queue"))],
            "occupancy = queue is computed as it is set, but Linux has all",
        ),
        (
            "codel",
            vec![("target", Value::Seconds(5.0007e-3))],
            "target = 0.0050007s is 0.005s in the dialect of Linux",
        ),
        (
            "codel",
            vec![("limit", Value::Bytes(60_000))],
            "limit = 60000B is computed as it is set, but Linux has 40p",
        ),
        (
            "sfb",
            vec![("increment", number(0.001))],
            "increment = 0.001 is 0.001007095445181964 in the dialect of Linux",
        ),
        ("sfb", vec![("rehash", ms(90_001.0))], "rehash = 90.001s is 90.004s in the dialect of Linux"),
        (
            "dualpi2",
            vec![("classic_share", number(0.123))],
            "classic_share = 0.123 is 0.12 in the dialect of Linux",
        ),
        ("dualpi2", vec![("alpha", number(0.16))], "alpha = 0.16 is 0.15625 in the dialect of Linux"),
        ("red", vec![("w_q", number(0.003))], "w_q = 0.003 is 0.00390625 in the dialect of Linux"),
        (
            "red",
            vec![("guard_one", Value::Flag(true))],
            "guard_one = true is computed as it is set, but Linux has false",
        ),
        (
            "choke",
            vec![("limit", Value::Packets(200_000.0))],
            "limit = 200000p is computed as it is set, but Linux has 131071p",
        ),
        (
            "choke",
            vec![("mode", word("bytes"))],
            "mode = bytes is computed as it is set, but Linux has packets",
        ),
    ];
    let cases = cases.map(|(name, mut set, warning)| {
        set.push(("dialect", word("linux")));
        (name, set, warning)
    });
    compare_warnings(cases.as_slice());
    let cake = [
        (
            "cake",
            vec![("memory", word("length"))],
            "memory = length is computed as it is set, but Linux has truesize",
        ),
        (
            "cake",
            vec![("max_packet", Value::Bytes(9014))],
            "max_packet = 9014B is computed as it is set, but Linux has 1514B",
        ),
    ];
    compare_warnings(cake.as_slice());
    let mut spec = Spec::new("codel").expect("a preset");
    spec.set("dialect", word("linux")).expect("a dialect");
    spec.set("target", Value::Seconds(1e-7)).expect("a time");
    let errors = spec.resolve(LINK).expect_err("less than a microsecond");
    assert_eq!(errors[0].message, "0.0000001s is less than tc's unit, a microsecond");
    for gain in [1e-12, 1e9, 1e300] {
        let mut spec = Spec::new("dualpi2").expect("a preset");
        spec.set("dialect", word("linux")).expect("a dialect");
        spec.set("beta", number(gain)).expect("a number");
        let errors = spec.resolve(LINK).expect_err("a gain that 32 bits do not hold");
        assert!(
            errors[0].message.ends_with("is out of range in the dialect of Linux"),
            "{}",
            errors[0].message
        );
    }
}

/// A preset, its settings, and the warning about them.
type Case<'a> = (&'a str, Vec<(&'static str, Value)>, &'a str);

/// Compare the warnings of settings with the one expected.
fn compare_warnings(cases: &[Case<'_>]) {
    for (name, set, warning) in cases {
        let preset = PRESETS.iter().find(|p| p.name == *name).expect("a preset");
        let resolved = resolve(preset, set).unwrap_or_else(|| panic!("{name}: {set:?}"));
        assert_eq!(resolved.warnings, [*warning], "{name}");
    }
}
