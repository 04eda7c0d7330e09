//! Runs of a scenario in which a caller sets parameters of one queue, interval by interval.

use aqmlab_aqm::{LinkContext, Resolved, Spec, Value as Setting, ValueKind};
use aqmlab_netsim::{Controlled, Interval};
use aqmlab_units::{Rate, Span};

use crate::nearest::listed;
use crate::queue;
use crate::scenario::Scenario;

/// The key of a curve's points.
const POINTS: &str = "points";

/// The parameters of one queue that a caller sets, as numbers.
#[derive(Clone, Debug)]
pub struct Settable {
    link: u32,
    spec: Spec,
    context: LinkContext,
    initial: Resolved,
    keys: Vec<(&'static str, ValueKind)>,
}

/// A run with the settings that hold.
#[derive(Debug)]
pub struct ControlledRun {
    run: Controlled,
    values: Vec<f64>,
}

impl Settable {
    /// Create it for parameters of the queue before a link of the scenario.
    ///
    /// # Errors
    /// If the link is unknown, or if its queue cannot change these parameters.
    pub fn new(scenario: &Scenario, link: &str, keys: &[String]) -> Result<Self, String> {
        let links = &scenario.plan.links;
        let number = links.iter().position(|known| &*known.name == link).ok_or_else(|| {
            format!("unknown link {link:?} (allowed: {})", listed(links.iter().map(|known| &*known.name)))
        })?;
        let (id, context) = (number as u32, links[number].line.context());
        let name = scenario.queue(id);
        let spec = queue::spec_of(&scenario.input.root, name)
            .ok_or_else(|| format!("queue.{name}: lacks settings that can change"))?;
        let initial = (*links[number].queue).clone();
        let changing = initial.changing_keys();
        if changing.is_empty() {
            let allowed = "codel, pie, and RED with one class and without adaptation";
            return Err(format!(
                "queue.{name}: {} cannot change while a run lasts (allowed: {allowed})",
                initial.preset
            ));
        }
        let kind = |key: &String| {
            let known = changing.iter().find(|known| *known == key);
            let parameter = known.and_then(|key| spec.preset().parameters().iter().find(|p| p.key == *key));
            parameter.filter(|p| is_number(p.kind)).map(|p| (p.key, p.kind)).ok_or_else(|| {
                let allowed = listed(changing.iter().copied());
                format!("queue.{name}: {key:?} cannot change while a run lasts (allowed: {allowed})")
            })
        };
        let keys = keys.iter().map(kind).collect::<Result<_, _>>()?;
        Ok(Self { link: id, spec, context, initial, keys })
    }

    /// Create a run with this seed, at time 0.
    pub fn run(&self, scenario: &Scenario, seed: u64) -> ControlledRun {
        ControlledRun { run: Controlled::new(&scenario.plan, seed, self.link), values: Vec::new() }
    }

    /// Read the bit rate of the link at the start of a run.
    pub fn rate(&self) -> Rate {
        self.context.rate
    }

    /// Return the settings with these numbers in place: one for each key, in packets, bytes, seconds or without a unit; for `points` all that are
    /// left, average and probability in turn.
    fn settings(&self, values: &[f64]) -> Result<Resolved, String> {
        let mut spec = self.spec.clone();
        let mut left = values;
        for &(key, kind) in &self.keys {
            let count = if key == POINTS { left.len() } else { 1 };
            let Some((own, rest)) = left.split_at_checked(count) else {
                return Err(format!("{key}: a value is missing"));
            };
            left = rest;
            spec.set(key, setting(kind, own))
                .map_err(|e| format!("{}: {} (allowed: {})", e.key, e.message, e.allowed))?;
        }
        let resolved = spec.resolve(self.context).map_err(|errors| {
            let texts = errors.iter().map(|e| format!("{}: {} (allowed: {})", e.key, e.message, e.allowed));
            texts.collect::<Vec<_>>().join("; ")
        })?;
        let error =
            |e: aqmlab_aqm::ParameterError| format!("{}: {} (allowed: {})", e.key, e.message, e.allowed);
        self.initial.can_become(&resolved).map_err(error)?;
        Ok(resolved)
    }
}

impl ControlledRun {
    /// Let the settings hold from now on, as for [`Settable::new`]'s keys, and go on by an interval.
    ///
    /// # Errors
    /// If a value is out of range; nothing has happened then.
    pub fn step(&mut self, settable: &Settable, values: &[f64], interval: Span) -> Result<Interval, String> {
        if values != self.values {
            let is_taken = self.run.take_settings(&settable.settings(values)?);
            debug_assert!(is_taken, "the settings were checked");
            self.values = values.to_vec();
        }
        Ok(self.run.advance(interval))
    }

    /// Return the run.
    pub fn controlled(&self) -> &Controlled {
        &self.run
    }

    /// Return the run, to be finished.
    pub fn into_controlled(self) -> Controlled {
        self.run
    }
}

fn is_number(kind: ValueKind) -> bool {
    matches!(
        kind,
        ValueKind::Packets
            | ValueKind::PacketsOrBytes
            | ValueKind::Bytes
            | ValueKind::Time
            | ValueKind::Number
            | ValueKind::Points
    )
}

/// Return numbers as the value of a parameter of this kind.
fn setting(kind: ValueKind, values: &[f64]) -> Setting {
    let first = values.first().copied().unwrap_or(f64::NAN);
    match kind {
        ValueKind::Points => Setting::Points(values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()),
        ValueKind::Packets | ValueKind::PacketsOrBytes => Setting::Packets(first),
        ValueKind::Bytes => Setting::Bytes(first.max(0.0) as u64),
        ValueKind::Time => Setting::Seconds(first),
        _ => Setting::Number(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_netsim::{Options, Simulation};

    /// Flows over a link of 2 Mb/s; one flow alone would be evaluated ahead.
    fn scenario(queue: &str, flows: u32) -> Scenario {
        let text = format!(
            "format = 1\n[run]\nduration = \"9s\"\nwarmup = \"2050ms\"\n[dumbbell]\n\
             bottleneck = {{ rate = \"2Mbps\", delay = \"5ms\", queue = \"q\" }}\nleft = {{ rate = \"9Mbps\", delay = \"1ms\" }}\n\
             right = {{ rate = \"9Mbps\", delay = \"1ms\" }}\n[queue.q]\n{queue}\n[[flow]]\nname = \"f\"\ncount = {flows}\n\
             transport = \"newreno\"\nstart = {{ uniform = [\"0s\", \"100ms\"] }}"
        );
        crate::parse(&text, "a.toml", &[]).unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    /// The tables as text, in which missing values are equal.
    fn tables(mut simulation: Simulation) -> String {
        simulation.finish();
        format!("{:?}", simulation.into_tables())
    }

    fn names(keys: &[&str]) -> Vec<String> {
        keys.iter().map(|&key| key.to_owned()).collect()
    }

    #[test]
    fn a_constant_action_gives_the_tables_of_the_fixed_setting() {
        let red = |rest: &str| format!("aqm = \"red\"\nlimit = \"50p\"\n{rest}");
        let points =
            |p: &str| red(&format!("curve = \"points\"\nspacing = \"none\"\npoints = [[0, {p}], [1, {p}]]"));
        let codel = |target: &str| format!("aqm = \"codel\"\ntarget = \"{target}\"");
        let pie = |target: &str| format!("aqm = \"pie\"\ntarget = \"{target}\"\nalpha = 0.25");
        let cases: [(String, String, &[&str], &[f64]); 5] = [
            (points("0.0"), points("0.02"), &["points"], &[0.0, 0.02, 1.0, 0.02]),
            (red("min_th = \"5p\""), red("min_th = \"3p\"\nmax_p = 0.3"), &["min_th", "max_p"], &[3.0, 0.3]),
            (red("victim = \"choke\""), red("victim = \"choke\"\nmax_th = \"9p\""), &["max_th"], &[9.0]),
            (codel("5ms"), codel("13ms"), &["target"], &[0.013]),
            (pie("15ms"), pie("40ms"), &["target", "alpha"], &[0.04, 0.25]),
        ];
        for ((start, fixed, keys, values), flows) in cases.iter().flat_map(|case| [(case, 1), (case, 4)]) {
            let (own, fixed) = (scenario(start, flows), scenario(fixed, flows));
            let settable = Settable::new(&own, "bottleneck", &names(keys)).expect("settable");
            let mut run = settable.run(&own, 3);
            let mut departures = [0, 0];
            while !run.controlled().is_over() {
                let interval = run.step(&settable, values, Span::from_millis(130)).expect("in range");
                departures
                    [usize::from(run.controlled().now() > aqmlab_units::Time::ZERO + own.plan.warmup)] +=
                    interval.counters.departures;
            }
            let found = tables(run.into_controlled().into_simulation());
            let wanted = tables(Simulation::new(&fixed.plan, 3, Options::default()));
            assert!(found == wanted, "{keys:?} with {flows} flows");
            assert!(departures.iter().all(|&count| count > 100), "{departures:?}");
        }
    }

    #[test]
    fn intervals_add_up() {
        let own = scenario("aqm = \"red\"", 3);
        let settable = Settable::new(&own, "bottleneck", &names(&["max_p"])).expect("settable");
        let counts = |length: Span| {
            let mut run = settable.run(&own, 1);
            let mut sums = [0_u128; 7];
            while !run.controlled().is_over() {
                let c = run.step(&settable, &[0.1], length).expect("in range").counters;
                let own = [c.arrivals, c.departures, c.departed_bytes, c.drops(), c.busy].map(u128::from);
                let own = own.into_iter().chain([c.delay, c.queue_area]);
                sums.iter_mut().zip(own).for_each(|(sum, count)| *sum += count);
            }
            sums
        };
        // Two steps over the end of the warm-up, which is within one of the first.
        assert_eq!(counts(Span::from_millis(70)), counts(Span::from_millis(9000)));
    }

    #[test]
    fn errors_name_what_is_allowed() {
        let red = scenario("aqm = \"red\"", 1);
        let error = |scenario: &Scenario, link, key: &str| {
            Settable::new(scenario, link, &names(&[key])).expect_err("an error")
        };
        assert!(error(&red, "b", "max_p").starts_with("unknown link \"b\" (allowed: bottleneck, "));
        assert!(error(&red, "bottleneck", "w_q").contains("allowed: min_th, max_th, max_p, points"));
        assert!(error(&scenario("aqm = \"sfq\"", 1), "bottleneck", "limit").contains("sfq cannot change"));
        let settable = Settable::new(&red, "bottleneck", &names(&["max_p"])).expect("settable");
        let mut run = settable.run(&red, 1);
        let why = run.step(&settable, &[2.0], Span::from_millis(1)).expect_err("out of range");
        assert!(why.starts_with("max_p: 2 is out of range"), "{why}");
    }
}
