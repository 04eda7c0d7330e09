//! A search for settings that have no effect beside another setting, without a warning.
//!
//! Random settings of all disciplines are run with and without each of their keys. A key is suspected where its runs never
//! differ as long as another parameter has one value (`idle_when` with `at_idle = "none"`), though they often differ otherwise.
//! `AQMLAB_SEARCH=20 cargo test -p aqmlab-aqm --test settings` searches 20 times as long.

use std::collections::{BTreeMap, BTreeSet};

use aqmlab_aqm::{
    AckFields, AckOptions, Backlog, Dequeue, DropReason, Host, PRESETS, Packet, Preset, Qdisc, Resolved,
    Value,
};
use aqmlab_units::{Stream, Time};

use super::common::VirtualLink;
use super::{BPS, draw, offer, resolve};

/// Random settings of each list of parameters.
const SETS: usize = 800;
/// The probability that runs differ by chance only where a pair is not suspected.
const CHANCE: f64 = 1e-6;

/// A hash of all events.
#[derive(Clone, Copy, Default, PartialEq)]
struct Events(u64);

impl Events {
    fn add(&mut self, event: u64) {
        self.0 = (self.0 ^ event).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }
}

/// A host that records drops and marks.
struct Recorder {
    rng: Stream,
    events: Events,
}

impl Host<u32> for Recorder {
    fn uniform(&mut self) -> f64 {
        self.rng.uniform()
    }
    fn below(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }
    fn dropped(&mut self, packet: Packet<u32>, _reason: DropReason) {
        self.events.add(1 << 40 | u64::from(packet.payload));
    }
    fn marked(&mut self, packet: &Packet<u32>, _reason: DropReason) {
        self.events.add(1 << 41 | u64::from(packet.payload));
    }
    fn hosts(&mut self, packet: &Packet<u32>) -> [u32; 2] {
        [packet.meta.flow / 4, packet.meta.flow % 3]
    }
    fn ack_fields(&mut self, packet: &Packet<u32>) -> Option<AckFields> {
        let number = packet.payload as i32;
        (packet.meta.flow < 2).then_some(AckFields {
            number,
            ecn: 0,
            is_pure: true,
            options: AckOptions::None,
        })
    }
}

/// A queue whose departures and gauges are recorded.
struct Recorded<Q> {
    queue: Q,
    events: Events,
}

impl<Q: Qdisc<u32>> Qdisc<u32> for Recorded<Q> {
    fn enqueue(&mut self, now: Time, packet: Packet<u32>, host: &mut impl Host<u32>) {
        self.queue.enqueue(now, packet, host);
        self.queue.gauges(now, &mut |_, value| self.events.add(value.to_bits()));
    }
    fn dequeue(&mut self, now: Time, host: &mut impl Host<u32>) -> Dequeue<u32> {
        let next = self.queue.dequeue(now, host);
        self.events.add(now.0);
        self.events.add(match next {
            Dequeue::Packet(packet) => {
                u64::from(packet.payload) << 8 | u64::from(packet.meta.header.dscp()) << 1
            }
            Dequeue::NotBefore(time) => time.0,
            Dequeue::Empty => 0,
        });
        next
    }
    fn next_timer(&self) -> Option<Time> {
        self.queue.next_timer()
    }
    fn on_timer(&mut self, now: Time, host: &mut impl Host<u32>) {
        self.queue.on_timer(now, host);
    }
    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }
}

/// Run a queue and return its events.
fn events(resolved: &Resolved, seed: u64) -> [Events; 2] {
    let queue = Recorded { queue: resolved.build(), events: Events::default() };
    let mut link = VirtualLink::new(queue, BPS);
    let mut host = Recorder { rng: Stream::new(seed, "test"), events: Events::default() };
    offer(&mut link, &mut host, seed, 200, 1 << (seed % 4));
    [host.events, link.queue.events]
}

/// Draw more settings that do not contradict each other.
pub(super) fn draw_more(preset: &Preset, set: &mut Vec<(&'static str, Value)>, rng: &mut Stream) {
    let share = 0.3 * rng.uniform();
    for parameter in preset.parameters() {
        if set.iter().all(|(key, _)| *key != parameter.key)
            && rng.uniform() < share
            && let Some(value) = draw(parameter, rng)
        {
            set.push((parameter.key, value));
            if resolve(preset, set).is_none() {
                set.pop();
            }
        }
    }
}

/// Return the values of parameters that may take the effect from another one: words, flags, 0 and 1.
fn states<'a>(resolved: &'a Resolved, key: &'a str) -> impl Iterator<Item = String> + 'a {
    resolved.effective.iter().filter_map(move |(other, value)| {
        let is_edge = match value {
            Value::Word(_) | Value::Flag(_) => true,
            Value::Number(x) | Value::Seconds(x) | Value::Packets(x) => *x == 0.0 || *x == 1.0,
            _ => false,
        };
        (is_edge && other != key).then(|| format!("{other} = {value}"))
    })
}

/// Runs with and without a key, and how many of them differ.
#[derive(Clone, Copy, Default)]
struct Tally {
    runs: u32,
    differ: u32,
}

impl Tally {
    fn add(&mut self, differs: bool) {
        self.runs += 1;
        self.differ += u32::from(differs);
    }
}

/// Return the pairs of a key and a state beside which it never had an effect.
fn suspects(presets: &[&Preset], sets: usize) -> Vec<String> {
    let mut keys: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut pairs: BTreeMap<(&str, String), Tally> = BTreeMap::new();
    let mut rng = Stream::new(2, presets[0].name);
    for seed in 0..sets {
        let preset = presets[seed % presets.len()];
        let mut set = Vec::new();
        draw_more(preset, &mut set, &mut rng);
        let Some(resolved) = resolve(preset, &set) else { continue };
        let with = events(&resolved, seed as u64);
        for (key, value) in &set {
            let others: Vec<_> = set.iter().filter(|(other, _)| other != key).cloned().collect();
            let Some(without) = resolve(preset, &others) else { continue };
            // The value is the default.
            if *value == Value::Flag(false) || without.effective == resolved.effective {
                continue;
            }
            if resolved.warnings.iter().any(|warning| warning.contains(key)) {
                continue;
            }
            let differs = events(&without, seed as u64) != with;
            keys.entry(key).or_default().add(differs);
            let set: BTreeSet<_> = others.iter().map(|(other, _)| format!("{other} is set")).collect();
            for state in states(&resolved, key).chain(set) {
                pairs.entry((key, state)).or_default().add(differs);
            }
        }
    }
    let is_suspected = |((key, _), tally): &(&(&str, String), &Tally)| {
        let all = keys[key];
        let same = f64::from(all.runs - all.differ) / f64::from(all.runs);
        tally.differ == 0 && libm::pow(same, f64::from(tally.runs)) < CHANCE
    };
    let found = pairs.iter().filter(is_suspected);
    found
        .map(|((key, state), t)| {
            format!(
                "{}: {key} beside {state} ({} runs, else {}/{})",
                presets[0].name, t.runs, keys[key].differ, keys[key].runs
            )
        })
        .collect()
}

#[test]
fn no_setting_is_without_effect_and_warning() {
    let times = std::env::var("AQMLAB_SEARCH").map_or(1, |times| times.parse().expect("a whole number"));
    let mut groups: BTreeMap<Vec<&str>, Vec<&Preset>> = BTreeMap::new();
    for preset in PRESETS.iter() {
        groups.entry(preset.parameters().iter().map(|p| p.key).collect()).or_default().push(preset);
    }
    let found: Vec<_> = groups.values().flat_map(|presets| suspects(presets, SETS * times)).collect();
    assert!(found.is_empty(), "{found:#?}");
}
