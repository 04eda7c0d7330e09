//! The configuration of a link process: one JSON object.

use std::fmt;
use std::path::PathBuf;

use aqmlab_netsim::plan::{LinkId, Plan};
use aqmlab_netsim::standalone_link::StandaloneOptions;
use aqmlab_units::{Span, Time};
use serde::Deserialize;

use crate::bottleneck::{PathDelays, Setting};
use crate::classify::{Classifier, Distance, Group, QOSA};

/// Maximum number of groups; each packet searches them one by one.
const MOST_GROUPS: usize = 4096;

/// Configuration of a link process.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Text of the scenario file.
    pub scenario: String,
    /// Its name, for messages.
    #[serde(default = "scenario_name")]
    pub filename: String,
    /// Overrides of the scenario's values, as (path, value).
    #[serde(default)]
    pub overrides: Vec<(String, String)>,
    /// The link of the scenario that carries packets from a to b.
    #[serde(default = "bottleneck_name")]
    pub link: String,
    /// The link from b to a; without one the way back has delay only.
    #[serde(default)]
    pub reverse_link: Option<String>,
    /// Seed of the random numbers.
    #[serde(default = "one")]
    pub seed: u64,
    /// The run ends so long after `start`; never without a number.
    #[serde(default)]
    pub duration_s: Option<f64>,
    /// Statistics begin here; as in the scenario without a number.
    #[serde(default)]
    pub warmup_s: Option<f64>,
    /// Side of the senders.
    pub a: Side,
    /// Side of the receivers.
    pub b: Side,
    /// Groups of flows.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// How the time to live that a packet was sent with is known.
    #[serde(default)]
    pub distance: Distance,
    /// PC-RED's QOSA travels with packets: it is read from the lowest bit of the code point, and written there.
    #[serde(default)]
    pub qosa_bit: bool,
    /// Which length of a packet counts.
    #[serde(default)]
    pub count_bytes: CountBytes,
    /// The packet in service counts as waiting, as in Linux's token bucket filter.
    #[serde(default)]
    pub in_service_counts: bool,
    /// Random loss before the queue.
    #[serde(default)]
    pub loss: Loss,
    /// Precautions against lateness.
    #[serde(default)]
    pub realtime: Realtime,
    /// Whether privileges are given up once all is set up; see [`capabilities`](crate::capabilities).
    #[serde(default = "yes")]
    pub drop_capabilities: bool,
    /// Time between two snapshots; none without a number.
    #[serde(default)]
    pub snapshot_interval_s: Option<f64>,
    /// Whether snapshots have flows.
    #[serde(default = "yes")]
    pub snapshot_flows: bool,
    /// Write all arriving packets to this file (pcap).
    #[serde(default)]
    pub record: Option<PathBuf>,
    /// Write every enqueue, dequeue, drop and mark into this file at the end (CSV).
    #[serde(default)]
    pub events: Option<PathBuf>,
    /// Forward packets at once, without queue and delay, to measure the speed of the packet path.
    #[serde(default)]
    pub unshaped: bool,
    /// Packets that may be under way at a time, both directions together.
    #[serde(default = "buffers")]
    pub buffers: u32,
    /// Flows that are known at a time.
    #[serde(default = "flows")]
    pub flows: u32,
}

/// One side of the link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// Path of the network namespace; the process's own without one.
    #[serde(default)]
    pub netns: Option<PathBuf>,
    /// Name of the TUN device.
    pub device: String,
}

/// Which length of a packet counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CountBytes {
    /// The IP packet.
    #[default]
    Ip,
    /// With 14 bytes of an Ethernet header, as Linux's `tc` counts.
    Ethernet,
}

impl CountBytes {
    /// Bytes beyond those of IP.
    pub fn extra(self) -> u32 {
        match self {
            Self::Ip => 0,
            Self::Ethernet => 14,
        }
    }
}

/// Random loss before the queue.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loss {
    /// From a to b.
    #[serde(default)]
    pub forward: f64,
    /// From b to a.
    #[serde(default)]
    pub reverse: f64,
}

/// Precautions against lateness.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Realtime {
    /// Ask for the scheduling class SCHED_FIFO.
    pub fifo: bool,
    /// Its priority, 1 to 99.
    pub priority: u8,
    /// Busy-wait for at most this time before a departure, in microseconds, 0 to 20.
    pub spin_us: u32,
    /// Keep all memory of the process in RAM.
    pub lock_memory: bool,
    /// Stay on this core.
    pub core: Option<usize>,
    /// Keep the processors from sleeping.
    pub keep_awake: bool,
}

impl Default for Realtime {
    fn default() -> Self {
        Self { fifo: true, priority: 10, spin_us: 20, lock_memory: true, core: None, keep_awake: false }
    }
}

fn scenario_name() -> String {
    "scenario".to_owned()
}

fn bottleneck_name() -> String {
    "bottleneck".to_owned()
}

fn one() -> u64 {
    1
}

fn yes() -> bool {
    true
}

fn buffers() -> u32 {
    16384
}

fn flows() -> u32 {
    4096
}

/// An error in a configuration, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadConfig(pub String);

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn bad(key: &str, wrong: impl fmt::Display, allowed: &str) -> BadConfig {
    BadConfig(one_line(&format!("configuration: {key}: {wrong} (allowed: {allowed})")))
}

/// A message in which line breaks and other controls, which names that it quotes may have, are written as escapes.
pub fn one_line(message: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    message.chars().map(escaped).collect()
}

impl Config {
    /// Reads a JSON object.
    ///
    /// # Errors
    /// Return the first error.
    pub fn read(json: &str) -> Result<Self, BadConfig> {
        let mut reader = serde_json::Deserializer::from_str(json);
        let config: Self = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let key = error.path().to_string();
            let at = if key == "." { String::new() } else { format!("{key}: ") };
            BadConfig(one_line(&format!("configuration: {at}{}", error.inner())))
        })?;
        reader.end().map_err(|error| BadConfig(format!("configuration: {error}")))?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), BadConfig> {
        let seconds = |key: &str, value: Option<f64>, least: f64, most: f64, allowed: &str| match value {
            Some(v) if !(least..=most).contains(&v) => Err(bad(key, v, allowed)),
            _ => Ok(()),
        };
        seconds("duration_s", self.duration_s, 1e-3, 1e6, "0.001 to 1000000, or null")?;
        seconds("warmup_s", self.warmup_s, 0.0, self.duration_s.unwrap_or(1e6), "0 to duration_s, or null")?;
        seconds("snapshot_interval_s", self.snapshot_interval_s, 0.01, 3600.0, "0.01 to 3600, or null")?;
        seconds("loss.forward", Some(self.loss.forward), 0.0, 1.0, "0 to 1")?;
        seconds("loss.reverse", Some(self.loss.reverse), 0.0, 1.0, "0 to 1")?;
        for (key, side) in [("a.device", &self.a), ("b.device", &self.b)] {
            let name = side.device.as_bytes();
            let is_name = |b: &u8| b.is_ascii_graphic() && *b != b'/' && *b != b':' && *b != b'%';
            if !(1..=15).contains(&name.len()) || !name.iter().all(is_name) {
                return Err(bad(
                    key,
                    format!("{:?}", side.device),
                    "a name of 1 to 15 letters, digits and dashes",
                ));
            }
        }
        if !(1..=99).contains(&self.realtime.priority) {
            return Err(bad("realtime.priority", self.realtime.priority, "1 to 99"));
        }
        if self.realtime.spin_us > 20 {
            let why = "0 to 20: longer waits trip the throttling of real-time threads";
            return Err(bad("realtime.spin_us", self.realtime.spin_us, why));
        }
        for Group { name, dscp, .. } in &self.groups {
            if let Some(dscp) = dscp.filter(|dscp| *dscp > 63) {
                return Err(bad("groups", format!("dscp {dscp} of {name:?}"), "0 to 63"));
            }
            if let Some(dscp) = dscp.filter(|dscp| self.qosa_bit && dscp & QOSA != 0) {
                return Err(bad("groups", format!("dscp {dscp} of {name:?}"), "even numbers with qosa_bit"));
            }
        }
        if self.groups.len() > MOST_GROUPS {
            return Err(bad("groups", self.groups.len(), &format!("at most {MOST_GROUPS}")));
        }
        if !(64..=1 << 20).contains(&self.buffers) {
            return Err(bad("buffers", self.buffers, "64 to 1048576"));
        }
        if !(1..=1 << 20).contains(&self.flows) {
            return Err(bad("flows", self.flows, "1 to 1048576"));
        }
        let mut names: Vec<_> = self.groups.iter().map(|group| group.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(bad("groups", format!("two groups {:?}", pair[0]), "names that are unique")),
            None => Ok(()),
        }
    }
}

/// A configuration with the plan of its scenario.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The configuration.
    pub config: Config,
    /// The plan; its duration and warm-up are those of this run.
    pub plan: Plan,
    /// The link from a to b.
    pub forward: LinkId,
    /// The link from b to a, if it has a queue.
    pub reverse: Option<LinkId>,
}

impl Planned {
    /// Reads a configuration and its scenario.
    ///
    /// # Errors
    /// Return the first error in either.
    pub fn read(json: &str) -> Result<Self, BadConfig> {
        let config = Config::read(json)?;
        let scenario = aqmlab_scenario::parse(&config.scenario, &config.filename, &config.overrides)
            .map_err(|problems| BadConfig(problems.first().map_or_else(String::new, ToString::to_string)))?;
        let mut plan = scenario.plan;
        let named = |key: &str, name: &str| {
            let place = plan.links.iter().position(|link| link.name == name);
            let names: Vec<_> = plan.links.iter().take(20).map(|link| link.name.as_str()).collect();
            place
                .map(|id| id as LinkId)
                .ok_or_else(|| bad(key, format!("unknown link {name:?}"), &names.join(", ")))
        };
        let forward = named("link", &config.link)?;
        let reverse = config.reverse_link.as_deref().map(|name| named("reverse_link", name)).transpose()?;
        if reverse == Some(forward) {
            return Err(bad(
                "reverse_link",
                format!("{:?} is the link forward", config.link),
                "another link",
            ));
        }
        if config.qosa_bit
            && let Some(marker) =
                plan.markers.iter().find(|marker| marker.dscp.iter().any(|dscp| dscp & QOSA != 0))
        {
            let wrong = format!("marker {:?} writes an odd code point", marker.name);
            return Err(bad("qosa_bit", wrong, "false, or even code points"));
        }
        plan.duration = config.duration_s.map_or(Span(Time::NEVER.0), Span::from_secs);
        plan.warmup = config.warmup_s.map_or(plan.warmup, Span::from_secs);
        if plan.warmup >= plan.duration {
            return Err(bad("warmup_s", plan.warmup.secs(), "below duration_s"));
        }
        plan.probe.events |= config.events.is_some();
        if config.events.is_some() && !plan.probe.links.contains(&forward) {
            plan.probe.links.push(forward);
        }
        Ok(Self { config, plan, forward, reverse })
    }

    /// Check whether a running link may change from `other` to this configuration.
    ///
    /// # Errors
    /// Return the first change that needs a new process.
    pub fn may_follow(&self, other: &Self) -> Result<(), BadConfig> {
        let names = |planned: &Self| planned.config.groups.iter().map(|g| g.name.clone()).collect::<Vec<_>>();
        if names(self) != names(other) {
            return Err(bad(
                "groups",
                "the names differ from those of the running link",
                &format!("the same names: {}", names(other).join(", ")),
            ));
        }
        if self.reverse.is_some() != other.reverse.is_some() {
            return Err(bad(
                "reverse_link",
                "the running link has a queue on the way back and this one has none, or vice versa",
                "a queue on the way back, or none, for the whole run",
            ));
        }
        Ok(())
    }

    /// The groups, as the classifier has them.
    pub fn groups(&self) -> Vec<Group> {
        self.classifier().groups().to_vec()
    }

    /// The classifier.
    pub fn classifier(&self) -> Classifier {
        Classifier::new(&self.config.groups, self.config.distance.clone(), self.config.flows as usize)
            .with_qosa_bit(self.config.qosa_bit)
    }

    /// Return the configuration of the two directions, for the classifier's groups.
    pub fn settings<'a>(&'a self, groups: &'a [Group]) -> [Setting<'a>; 2] {
        let Config { seed, in_service_counts, loss, buffers, flows, .. } = self.config;
        let duration = self.config.duration_s.map_or(Span::ZERO, Span::from_secs);
        let options = StandaloneOptions { in_service_counts, room: buffers as usize, duration };
        let ns = |ns: u64| Span(ns.saturating_mul(1000));
        let setting = |name, link, loss, delays| Setting {
            name,
            plan: &self.plan,
            link,
            seed,
            options,
            groups,
            delays,
            loss,
            flows: flows as usize,
        };
        let there =
            |g: &Group| PathDelays { before_link: ns(g.delay_before_ns), after_link: ns(g.delay_after_ns) };
        let back = |g: &Group| PathDelays { before_link: ns(g.delay_back_ns), after_link: Span::ZERO };
        [
            setting("forward", Some(self.forward), loss.forward, groups.iter().map(there).collect()),
            setting("reverse", self.reverse, loss.reverse, groups.iter().map(back).collect()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"
        format = 1
        [run]
        duration = "10s"
        [dumbbell]
        bottleneck = { rate = "10Mbps", delay = "10ms" }
        left = { rate = "100Mbps", delay = "1ms" }
        right = { rate = "100Mbps", delay = "1ms" }
        [[flow]]
        name = "f"
        transport = "udp"
        rate = "1Mbps"
    "#;

    fn json(change: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>)) -> String {
        let mut value = serde_json::json!({
            "scenario": SCENARIO, "a": {"device": "aqm-a"}, "b": {"device": "aqm-b"},
        });
        change(value.as_object_mut().expect("an object"));
        value.to_string()
    }

    #[test]
    fn with_qosa_in_code_points_these_are_even() {
        let with = |qosa_bit: bool, dscp: u8| {
            let read = Planned::read(&json(|config| {
                config.insert("qosa_bit".into(), qosa_bit.into());
                config.insert("groups".into(), group(dscp.into()));
            }));
            read.map(|planned| planned.config.qosa_bit).map_err(|bad| bad.to_string())
        };
        assert_eq!([with(false, 1), with(true, 10)], [Ok(false), Ok(true)]);
        let said = "configuration: groups: dscp 1 of \"g\" (allowed: even numbers with qosa_bit)";
        assert_eq!(with(true, 1), Err(said.to_owned()));
        let marker = "[marker.m]\nkind = \"token-bucket\"\nlink = \"bottleneck\"\nflows = [\"f\"]\n\
                      cir = \"1Mbps\"\nred = 11\n";
        let read = Planned::read(&json(|config| {
            config.insert("qosa_bit".into(), true.into());
            config.insert("scenario".into(), format!("{SCENARIO}\n{marker}").into());
        }));
        let said = "configuration: qosa_bit: marker \"m\" writes an odd code point (allowed: false, or even code points)";
        assert_eq!(read.map(|_| ()).map_err(|bad| bad.to_string()), Err(said.to_owned()));
    }

    #[test]
    fn defaults() {
        let planned = Planned::read(&json(|_| ())).expect("a configuration");
        let Config { seed, duration_s, realtime, drop_capabilities, .. } = &planned.config;
        assert_eq!((*seed, *duration_s, *drop_capabilities), (1, None, true));
        assert_eq!((realtime.fifo, realtime.spin_us, planned.reverse), (true, 20, None));
        assert_eq!(planned.plan.links[planned.forward as usize].name, "bottleneck");
    }

    fn group(dscp: serde_json::Value) -> serde_json::Value {
        serde_json::json!([{"name": "g", "prefix_a": ["10.0.0.1"], "prefix_b": ["10.0.0.2"], "dscp": dscp}])
    }

    #[test]
    fn one_line_says_what_is_wrong_and_what_is_allowed() {
        for (key, value, expected) in [
            (
                "sed",
                serde_json::json!(1),
                "configuration: sed: unknown field `sed`, expected one of `scenario`",
            ),
            ("seed", serde_json::json!("x"), "configuration: seed: invalid type: string \"x\", expected u64"),
            (
                "duration_s",
                serde_json::json!(0),
                "configuration: duration_s: 0 (allowed: 0.001 to 1000000, or null)",
            ),
            ("warmup_s", serde_json::json!(-1), "configuration: warmup_s: -1 (allowed:"),
            (
                "snapshot_interval_s",
                serde_json::json!(0.001),
                "configuration: snapshot_interval_s: 0.001 (allowed: 0.01",
            ),
            ("loss", serde_json::json!({"forward": 2}), "configuration: loss.forward: 2 (allowed: 0 to 1)"),
            (
                "realtime",
                serde_json::json!({"spin_us": 100}),
                "configuration: realtime.spin_us: 100 (allowed: 0 to 20",
            ),
            (
                "realtime",
                serde_json::json!({"priority": 0}),
                "configuration: realtime.priority: 0 (allowed: 1 to 99)",
            ),
            (
                "a",
                serde_json::json!({"device": "much-too-long-a-name"}),
                "configuration: a.device: \"much-too-long",
            ),
            ("a", serde_json::json!({"dev": "x"}), "configuration: a.dev: unknown field `dev`, expected"),
            (
                "link",
                serde_json::json!("nowhere"),
                "configuration: link: unknown link \"nowhere\" (allowed: bottleneck, ",
            ),
            (
                "reverse_link",
                serde_json::json!("bottleneck"),
                "configuration: reverse_link: \"bottleneck\" is the link",
            ),
            ("buffers", serde_json::json!(1), "configuration: buffers: 1 (allowed: 64"),
            ("a\nb", serde_json::json!(1), "configuration: a\\nb: unknown field `a\\nb`, expected"),
            ("link", serde_json::json!("a\r\nb"), "configuration: link: unknown link \"a\\r\\nb\" (allowed:"),
            (
                "groups",
                group(serde_json::json!(64)),
                "configuration: groups: dscp 64 of \"g\" (allowed: 0 to 63)",
            ),
            ("groups", group(serde_json::json!(-1)), "configuration: groups[0].dscp: invalid value"),
            (
                "groups",
                vec![group(serde_json::json!(0))[0].clone(); 4097].into(),
                "configuration: groups: 4097 (allowed",
            ),
            ("overrides", serde_json::json!([["run.duration", "-1s"]]), "--set"),
        ] {
            let said =
                Planned::read(&json(|c| drop(c.insert(key.into(), value)))).expect_err("wrong").to_string();
            assert!(said.starts_with(expected) && !said.contains('\n'), "{said}");
        }
        assert!(Config::read("{").is_err() && Config::read("").is_err() && Config::read("[]").is_err());
    }
}
