//! The largest and smallest values that a parameter of any discipline may have: arithmetic never overflows.

mod common;

use aqmlab_aqm::{Checked, Ecn, LinkContext, PRESETS, Parameter, Preset, Qdisc, Spec, Value, ValueKind};
use aqmlab_units::{Rate, Span, Time};
use common::{Counting, VirtualLink, packet};

/// The extreme values of a parameter that it admits.
fn extremes(parameter: &Parameter) -> Vec<Value> {
    const NUMBERS: [f64; 8] = [0.0, f64::MIN_POSITIVE, 1e-9, 1.0, 4e9, 9.2e18, f64::MAX, -1e308];
    // The largest whole number of a scenario file.
    const SIZES: [u64; 4] = [0, 1, u32::MAX as u64, i64::MAX as u64];
    let numbers = |make: fn(f64) -> Value| NUMBERS.map(make).to_vec();
    let sizes = || SIZES.map(Value::Bytes).to_vec();
    match parameter.kind {
        ValueKind::Packets => numbers(Value::Packets),
        ValueKind::PacketsOrBytes => [numbers(Value::Packets), sizes()].concat(),
        ValueKind::Bytes | ValueKind::BytesByLevel => sizes(),
        // A shorter interval of a timer would only take long.
        ValueKind::Time => [0.0, 1e-4, 1.0, 2.5e6, f64::MAX].map(Value::Seconds).to_vec(),
        ValueKind::Number => numbers(Value::Number),
        ValueKind::Flag => vec![Value::Flag(false), Value::Flag(true)],
        ValueKind::Rate => [1, 1000, 1_000_000, u64::MAX].map(|bps| Value::Rate(Rate(bps))).to_vec(),
        ValueKind::Choice | ValueKind::Points | ValueKind::Text | ValueKind::Numbers => Vec::new(),
    }
}

/// Offer a second of overload to a queue with this value, if it is allowed. Return whether it is.
fn runs(preset: &Preset, key: &str, value: &Value, bps: u64) -> bool {
    let mut spec = Spec::new(preset.name).expect("a preset");
    let link = LinkContext { rate: Rate(bps), delay: Span::from_millis(1) };
    let Some(resolved) = spec.set(key, value.clone()).ok().and_then(|()| spec.resolve(link).ok()) else {
        return false;
    };
    let mut link = VirtualLink::new(Checked::new(resolved.build()), bps);
    let mut host = Counting::new(1);
    for number in 0..400 {
        let now = Time(2_500_000_000 * u64::from(number));
        while let Some(due) = link.queue.next_timer().filter(|due| *due <= now) {
            link.serve_until(due, &mut host);
            link.queue.on_timer(due, &mut host);
        }
        let ecn = if number % 3 == 0 { Ecn::Ect } else { Ecn::NotEct };
        link.arrive(now, packet(number, 40 + number % 7 * 240, ecn), &mut host);
    }
    true
}

#[test]
fn no_value_that_is_allowed_overflows() {
    let mut allowed = 0;
    for preset in PRESETS.iter() {
        for parameter in preset.parameters() {
            for value in extremes(parameter) {
                for bps in [1_000, 1_000_000, 400_000_000_000] {
                    allowed += usize::from(runs(preset, parameter.key, &value, bps));
                }
            }
        }
    }
    assert!(allowed > 5000, "{allowed}");
}
