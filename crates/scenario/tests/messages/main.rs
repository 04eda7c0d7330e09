//! The exact message of every error.

mod applications;
mod autorate;
mod channels;
mod classes;
mod file;
mod flows;
mod links;
mod live;
mod markers;
mod network;
mod overrides;
mod profiles;
mod queues;
mod routing;
mod schedulers;
mod scream;
mod shared;
mod traffic;
mod warnings;

use aqmlab_aqm::red::{PART_KINDS, PartKind};
use aqmlab_netsim::plan::{Channel, Impairments, InService, Server};
use aqmlab_scenario::{Scenario, parse};
use aqmlab_transport::rfc::CongestionControl;
use aqmlab_units::Parameter;

/// A valid scenario with one queue, one link and one flow; each test breaks it in one place.
const VALID: &str = r#"format = 1

[run]
duration = "10s"

[[link]]
from = "a"
to = "b"
rate = "10Mbps"
delay = "10ms"
queue = "main"

[queue.main]
aqm = "red"
limit = "100p"
min_th = "10p"
max_th = "30p"

[[flow]]
name = "tcp"
count = 2
from = "a"
to = "b"
"#;

/// The same as a dumbbell.
const DUMBBELL: &str = r#"format = 1

[run]
duration = "10s"

[dumbbell]
bottleneck = { rate = "10Mbps", delay = "10ms", queue = "main" }
left = { rate = "20Mbps", delay = "10ms" }
right = { rate = "20Mbps", delay = "15ms" }

[queue.main]
aqm = "red"

[[flow]]
name = "tcp"
count = 2
"#;

/// The same as a chain.
const CHAIN: &str = r#"format = 1

[run]
duration = "10s"

[chain]
routers = 3
link = { rate = "10Mbps", delay = "10ms" }
host = { rate = "20Mbps", delay = "10ms" }

[[flow]]
name = "tcp"
count = 2
from = "r1"
to = "r3"
"#;

/// A bus of three routers with two hosts each.
const BUS: &str = r#"format = 1

[run]
duration = "10s"

[bus]
routers = 3
hosts = 2
link = { rate = "10Mbps", delay = "10ms", queue = "main" }
host = { rate = "20Mbps", delay = "1ms" }

[queue.main]
aqm = "red"

[[flow]]
name = "tcp"
count = 2
"#;

/// A flower of three petals of four routers with a host each.
const FLOWER: &str = r#"format = 1

[run]
duration = "10s"

[flower]
petals = 3
routers = 4
link = { rate = "10Mbps", delay = "10ms", queue = "main" }
host = { rate = "20Mbps", delay = "1ms" }

[queue.main]
aqm = "red"

[[flow]]
name = "tcp"
count = 2
"#;

/// A torus of twelve routers with a host each.
const TORUS: &str = r#"format = 1

[run]
duration = "10s"

[torus]
rows = 3
columns = 4
link = { rate = "10Mbps", delay = "10ms", queue = "main" }
host = { rate = "20Mbps", delay = "1ms" }

[queue.main]
aqm = "red"

[[flow]]
name = "tcp"
count = 2
"#;

/// A DiffServ domain with classes, a marker and a change.
const DIFFSERV: &str = r#"format = 1

[run]
duration = "10s"

[diffserv]
source = { rate = "100Mbps", delay = "5ms" }
edge = { rate = "100Mbps", delay = "5ms" }
core = { rate = "10Mbps", delay = "10ms", queue = "main" }
sink = { rate = "100Mbps", delay = "5ms" }

[queue.main]
aqm = "rio"

[[queue.main.class]]
name = "in"
dscp = "AF11"
min_th = "40p"
max_th = "70p"

[[queue.main.class]]
name = "out"
default = true

[[flow]]
name = "assured"
count = 2

[[flow]]
name = "rest"

[marker.edge]
kind = "token-bucket"
link = "edge"
flows = ["assured"]
cir = "4Mbps"

[[change]]
at = "5s"
link = "core"
rate = "5Mbps"
"#;

/// The only place where `text` stands in `base`, exchanged for `by`.
fn exchange(base: &str, text: &str, by: &str) -> String {
    assert_eq!(base.matches(text).count(), 1, "{text:?} must stand once");
    base.replacen(text, by, 1)
}

fn messages(text: &str, overrides: &[(&str, &str)]) -> Vec<String> {
    let overrides: Vec<_> = overrides.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    match parse(text, "net.toml", &overrides) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    }
}

/// Return a message with the names of all registered parts in place of `{curve}`, `{spacing}`, ..., `{controllers}`, `{line}` (the keys
/// of server and channel), `{uplink}` and `{reverse}` (those of the channel of the other direction), `{servers}` (those of a table in
/// place of a rate) and `{selecting}` (those of them that select a server).
fn with_names(message: &str) -> String {
    let quoted =
        |kind: &PartKind| kind.parts.iter().map(|part| format!("{:?}", part.name)).collect::<Vec<_>>();
    let keys = |all: Vec<Parameter>| all.iter().map(|p| p.key).collect::<Vec<_>>().join(", ");
    let line =
        [&[Server::KEY, InService::KEY], Server::framing_parameters(), &Channel::parameters()].concat();
    let other_way =
        |way: &str| Impairments::KEYS.iter().map(|key| format!("{way}_{key}")).collect::<Vec<_>>().join(", ");
    let others = [
        ("controllers", CongestionControl::NAMES.join(", ")),
        ("line", keys(line)),
        ("uplink", other_way("uplink")),
        ("reverse", other_way("reverse")),
        ("servers", keys(Server::parameters())),
        ("selecting", Server::selecting_keys().join(", ")),
    ];
    PART_KINDS
        .iter()
        .map(|kind| (kind.key, quoted(kind).join(", ")))
        .chain(others)
        .fold(message.to_owned(), |text, (key, names)| text.replace(&format!("{{{key}}}"), &names))
}

/// Return a message with `N` for the number of allowed names, which grows with every part that registers itself.
fn without_number_of_names(message: &str) -> String {
    let Some((before, after)) = message.split_once(", ... (") else { return message.to_owned() };
    format!("{before}, ... (N{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Asserts that `base` is rejected with exactly these messages, whenever `text` is exchanged for one of the others.
#[track_caller]
fn refused(base: &str, text: &str, cases: &[(&str, &[&str])]) {
    for (by, expected) in cases {
        let found: Vec<_> =
            messages(&exchange(base, text, by), &[]).iter().map(|m| without_number_of_names(m)).collect();
        let expected: Vec<_> = expected.iter().map(|m| with_names(m)).collect();
        assert_eq!(found, expected, "\n{by}\n{}", found.join("\n"));
    }
}

/// Asserts that `VALID` with this override is rejected with exactly this message.
#[track_caller]
fn override_refused(path: &str, value: &str, expected: &str) {
    assert_eq!(messages(VALID, &[(path, value)]), [expected]);
}

/// Asserts that a text is accepted, with exactly these warnings.
#[track_caller]
fn accepted(text: &str, warnings: &[&str]) -> Scenario {
    let scenario = parse(text, "net.toml", &[]).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(scenario.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(), warnings);
    scenario
}

#[test]
fn the_scenarios_to_break_are_valid() {
    accepted(VALID, &[]);
    accepted(DUMBBELL, &[]);
    accepted(CHAIN, &[]);
    accepted(BUS, &[]);
    accepted(FLOWER, &[]);
    accepted(TORUS, &[]);
    accepted(DIFFSERV, &[]);
}
