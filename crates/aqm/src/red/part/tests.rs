//! Every parameter of every part changes something, under conditions that the part's file gives.

use aqmlab_units::{Rate, Serializer, Span, Stream, Time};

use super::PART_KINDS;
use crate::{
    Dequeue, DropReason, Ecn, Header, Host, LinkContext, Meta, Packet, Qdisc, Resolved, Spec, Value,
};

/// The link of the tests.
pub(crate) const LINK: LinkContext = LinkContext { rate: Rate(5_000_000), delay: Span(1_000_000_000) };

/// A change of a parameter that changes something, with the conditions under which it does.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    key: &'static str,
    value: Value,
    preset: &'static str,
    with: Vec<(&'static str, Value)>,
}

impl Change {
    /// This parameter from its default to this value, in RED.
    pub fn to(key: &'static str, value: Value) -> Self {
        Self { key, value, preset: "red", with: Vec::new() }
    }

    /// In this preset.
    pub fn of(self, preset: &'static str) -> Self {
        Self { preset, ..self }
    }

    /// With another parameter set.
    pub fn with(mut self, key: &'static str, value: Value) -> Self {
        self.with.push((key, value));
        self
    }
}

/// The events of each packet, in order: departed 0, dropped 1, marked 2.
struct Log {
    rng: Stream,
    events: Vec<(u32, u8)>,
}

impl Host<u32> for Log {
    fn uniform(&mut self) -> f64 {
        self.rng.uniform()
    }
    fn below(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }
    fn dropped(&mut self, packet: Packet<u32>, _: DropReason) {
        self.events.push((packet.payload, 1));
    }
    fn marked(&mut self, packet: &Packet<u32>, _: DropReason) {
        self.events.push((packet.payload, 2));
    }
}

/// Decisions of a queue under load that comes and goes, of flows at different distances, some with priority and some
/// assured; and p_b at some averages.
fn behaviour(queue: &Resolved) -> (Vec<(u32, u8)>, Vec<f64>) {
    let p_b = queue.curve().map_or_else(Vec::new, |c| (0..80).map(|i| c.p_b(f64::from(i) * 0.5)).collect());
    let mut queue = queue.build();
    let mut traffic = Stream::new(5, "traffic");
    let mut host = Log { rng: Stream::new(3, "test"), events: Vec::new() };
    let mut serializer = Serializer::new(LINK.rate);
    let (mut now, mut free_at) = (Time::ZERO, Time::ZERO);
    for number in 0..6000 {
        // 5 Mb/s are a packet of 600 bytes every 0.96 ms.
        let mean_us = if number / 1000 % 2 == 0 { 1400 } else { 3400 };
        now += Span(1_000_000 * traffic.below(mean_us));
        while free_at <= now {
            while let Some(at) = queue.next_timer().filter(|at| *at <= free_at) {
                queue.on_timer(at, &mut host);
            }
            match queue.dequeue(free_at, &mut host) {
                Dequeue::Packet(packet) => {
                    host.events.push((packet.payload, 0));
                    free_at += serializer.transmit(packet.meta.bytes);
                }
                _ => break,
            }
        }
        while let Some(at) = queue.next_timer().filter(|at| *at <= now) {
            queue.on_timer(at, &mut host);
        }
        let is_idle = free_at <= now;
        free_at = free_at.max(now);
        let flow = traffic.below(12) as u8;
        let ecn = if flow.is_multiple_of(4) { Ecn::Ect } else { Ecn::NotEct };
        // The length of the route is known of some flows only.
        let arrived_with = if flow.is_multiple_of(2) { 50 } else { 0 };
        let header = Header::default().with_ecn(ecn).with_ttl_initial(64).with_ttl(63 - flow % 5);
        let mut header = header.with_ttl_final(arrived_with);
        header.set_class(u8::from(flow < 5));
        header.set_qosa(flow.is_multiple_of(3));
        header.set_dscp(if flow == 0 { 10 } else { 0 });
        let bytes = 200 + traffic.below(800) as u32;
        let meta = Meta { bytes, flow: flow.into(), arrival: now, header };
        queue.enqueue(now, Packet { meta, payload: number }, &mut host);
        if is_idle && let Dequeue::Packet(packet) = queue.dequeue(now, &mut host) {
            host.events.push((packet.payload, 0));
            free_at = now + serializer.transmit(packet.meta.bytes);
        }
    }
    (host.events, p_b)
}

/// A queue with these parameters.
fn resolved(preset: &str, set: &[(&'static str, Value)]) -> Resolved {
    let mut spec = Spec::new(preset).expect("a preset");
    for (key, value) in set {
        spec.set(key, value.clone()).unwrap_or_else(|e| panic!("{key}: {e:?}"));
    }
    spec.resolve(LINK).unwrap_or_else(|e| panic!("{set:?}: {e:?}"))
}

#[test]
fn every_parameter_of_every_part_changes_something() {
    let mut without_effect = Vec::new();
    for kind in PART_KINDS {
        for part in kind.parts {
            let changes = (part.changes)();
            let keys: Vec<_> = changes.iter().map(|change| change.key).collect();
            let expected: Vec<_> = part.parameters.iter().map(|p| p.key).collect();
            let missing: Vec<_> = expected.iter().filter(|key| !keys.contains(key)).collect();
            assert!(missing.is_empty(), "{}: no change of {missing:?}", part.name);
            for change in changes {
                let name = format!("{} {}", part.name, change.key);
                assert!(expected.contains(&change.key), "{name}: not a parameter of this part");
                let mut set = vec![
                    (kind.key, Value::Word(part.name.into())),
                    ("w_q", Value::Number(0.05)),
                    ("limit", Value::Packets(40.0)),
                    ("ecn", Value::Flag(true)),
                ];
                set.extend((part.needs)());
                set.extend(change.with.iter().cloned());
                let default = resolved(change.preset, &set);
                assert!(default.warnings.is_empty(), "{name}: {:?}", default.warnings);
                set.push((change.key, change.value.clone()));
                let changed = resolved(change.preset, &set);
                if behaviour(&default) == behaviour(&changed) {
                    without_effect.push(format!("{name} = {}", change.value));
                }
            }
        }
    }
    assert_eq!(without_effect, [""; 0], "these change nothing");
}

#[test]
fn the_switches_of_drops_and_marks_change_something() {
    let flag = Value::Flag;
    let constant = Value::Points(vec![(0.0, 0.0), (1.0, 0.5), (60.0, 0.5)]);
    let changes = [
        Change::to("mark_at_bound", flag(false))
            .with("curve", Value::Word("points".into()))
            .with("points", constant)
            .with("mark_up_to", Value::Number(0.5)),
        Change::to("overflow_restarts", flag(false))
            .with("limit", Value::Packets(6.0))
            .with("min_th", Value::Packets(2.0))
            .with("max_th", Value::Packets(6.0)),
        Change::to("forced_at", Value::Word("end".into()))
            .of("gentle-red")
            .with("crossing", Value::Word("count-one".into()))
            .with("max_p", Value::Number(1.0)),
    ];
    for change in changes {
        let ecn = [("w_q", Value::Number(0.05)), ("ecn", flag(true))];
        let mut set: Vec<_> = ecn.into_iter().chain(change.with).collect();
        let default = resolved(change.preset, &set);
        set.push((change.key, change.value));
        assert!(behaviour(&default) != behaviour(&resolved(change.preset, &set)), "{}", change.key);
    }
}

#[test]
fn a_parameter_of_another_part_has_no_effect() {
    for kind in PART_KINDS {
        for part in kind.parts {
            for parameter in part.parameters {
                let others = kind
                    .parts
                    .iter()
                    .filter(|other| !other.parameters.iter().any(|own| own.key == parameter.key));
                for other in others {
                    let change = (part.changes)().into_iter().find(|change| change.key == parameter.key);
                    let change = change.expect("a change of each parameter");
                    let mut set = (other.needs)();
                    set.push((kind.key, Value::Word(other.name.into())));
                    let without = resolved("red", &set);
                    set.push((parameter.key, change.value));
                    let with = resolved("red", &set);
                    let warning =
                        format!("{} has no effect with {} = \"{}\"", parameter.key, kind.key, other.name);
                    assert_eq!(with.warnings, [without.warnings.clone(), vec![warning]].concat());
                    assert_eq!(with.effective, without.effective);
                    assert!(without.without_effect.contains(&parameter.key), "{} is not set", parameter.key);
                }
            }
        }
    }
}

#[test]
fn a_name_that_is_not_registered_is_an_error_that_lists_the_others() {
    for kind in PART_KINDS {
        let error = Spec::new("red").expect("a preset").set(kind.key, Value::Word("unheard-of".into()));
        let error = error.expect_err("not registered");
        for part in kind.parts {
            assert!(error.allowed.contains(&format!("\"{}\"", part.name)), "{error:?}");
        }
    }
    let error = crate::red::curve::CurveKind::named("unheard-of").expect_err("not registered");
    assert_eq!(error.message, "\"unheard-of\" is not registered");
    assert!(error.allowed.starts_with("one of \"linear\", \"gentle\""), "{error:?}");
}
