//! Links that go down, backups and multipath.

use aqmlab_netsim::Simulation;
use aqmlab_netsim::plan::{Backup, BackupRule, Multipath, Outage};
use aqmlab_scenario::parse;
use aqmlab_units::Time;

use super::{TORUS, accepted, exchange, messages, refused};

/// The end of `TORUS`, with more after it.
const END: &str = "count = 2\n";

fn change(at: &str, keys: &str) -> String {
    format!("[[change]]\nat = \"{at}\"\nlink = \"r1->r2\"\n{keys}\n")
}

/// `TORUS` with a link that is down, and this.
fn with(more: &str) -> String {
    let [down, up] =
        [change("2s", "state = \"down\"\nwaiting = \"flushed\""), change("4s", "state = \"up\"")];
    exchange(TORUS, END, &format!("{END}{down}{up}{more}"))
}

#[test]
fn outages_and_routes() {
    let more = "[routing]\nbackup = \"shortest\"\nmultipath = \"flow\"\n[[backup]]\nlink = \"r1->r2\"\n\
                path = [\"r1->r5\", \"r5->r6\", \"r6->r2\"]\n";
    let scenario = accepted(&with(more), &[]);
    let number = |name: &str| {
        scenario.plan.links.iter().position(|link| link.name == name).expect("a link of this name") as u32
    };
    let link = number("r1->r2");
    let (down, up) = (Time::from_secs(2.0), Time::from_secs(4.0));
    assert_eq!(scenario.plan.links[link as usize].line.outages, [Outage { down, up, flushes: true }]);
    let routing = &scenario.plan.routing;
    assert_eq!((routing.multipath, routing.backup), (Multipath::ByFlow, BackupRule::Shortest));
    let path = ["r1->r5", "r5->r6", "r6->r2"].map(number).to_vec();
    assert_eq!(routing.backups, [Backup { link, path }]);
    let kept = accepted(&exchange(TORUS, END, &format!("{END}{}", change("2s", "state = \"down\""))), &[]);
    let outage = Outage { down, up: Time::NEVER, flushes: false };
    assert_eq!(kept.plan.links[link as usize].line.outages, [outage]);
    assert!(kept.plan.routing == Default::default());
}

#[test]
fn a_torus_with_a_failed_link_is_evaluated_in_windows() {
    let more = "[routing]\nbackup = \"shortest\"\n";
    let scenario = accepted(&with(more), &[]);
    let simulation = Simulation::new(&scenario.plan, 1, Default::default());
    assert_eq!(simulation.why_events(), None);
}

#[test]
fn states() {
    let changes = |all: &[String]| format!("{END}{}", all.concat());
    let [down, up] = ["down", "up"].map(|word| format!("state = \"{word}\""));
    refused(
        TORUS,
        END,
        &[
            (
                &changes(&[change("2s", &up), change("3s", &down)]),
                &[
                    "net.toml:21:9: change.0.state: the link is up already, since 0 s (allowed: down and up in turn)",
                ],
            ),
            (
                &changes(&[change("5s", &down), change("3s", &down)]),
                &[
                    "net.toml:21:9: change.0.state: the link is down already, since 3 s (allowed: down and up in turn)",
                ],
            ),
            (
                &changes(&[change("2s", &down), change("2s", &up)]),
                &["net.toml:25:9: change.1.state: the state of r1->r2 changes at 2 s already, on line 18"],
            ),
            (
                &changes(&[change("2s", "state = \"dwon\"")]),
                &[
                    "net.toml:21:9: change.0.state: \"dwon\" is not known (allowed: down, up; did you mean \"down\"?)",
                ],
            ),
            (
                &changes(&[change("2s", &format!("{down}\nwaiting = \"lost\""))]),
                &["net.toml:22:11: change.0.waiting: \"lost\" is not known (allowed: kept, flushed)"],
            ),
            (
                &changes(&[change("2s", "rate = \"1Mbps\"\nwaiting = \"flushed\"")]),
                &[
                    "net.toml:22:1: change.0.waiting: only a link that goes down keeps or flushes its queue (allowed: state = \"down\")",
                ],
            ),
        ],
    );
}

#[test]
fn backups() {
    let backup = |link: &str, path: &str| with(&format!("[[backup]]\nlink = \"{link}\"\npath = [{path}]\n"));
    let allowed = "(allowed: links from the start of the link to its end, without a loop)";
    for (link, path, expected) in [
        ("r1->r2", r#""r5->r6""#, format!("r5->r6 does not start at r1 {allowed}")),
        ("r1->r2", r#""r1->r5", "r5->r6""#, format!("ends at r6, not at r2 {allowed}")),
        ("r1->r2", "", format!("ends at r1, not at r2 {allowed}")),
        ("r1->r2", r#""r1->r2""#, format!("loops: it passes r1->r2, whose backup it is {allowed}")),
        ("r1->r2", r#""r1->r5", "r5->r1", "r1->r4""#, format!("loops: it passes r1 twice {allowed}")),
    ] {
        assert_eq!(messages(&backup(link, path), &[]), [format!("net.toml:29:8: backup.0.path: {expected}")]);
    }
    let unknown = &messages(&backup("r1->r22", r#""r1->r5""#), &[])[0];
    assert!(
        unknown.starts_with("net.toml:28:8: backup.0.link: unknown link \"r1->r22\" (allowed: "),
        "{unknown}"
    );
    let unknown = &messages(&backup("r1->r2", r#""r1->r5", "r5-r6""#), &[])[0];
    assert!(
        unknown.starts_with("net.toml:29:19: backup.0.path: unknown link \"r5-r6\" (allowed: "),
        "{unknown}"
    );
    let one = "[[backup]]\nlink = \"r1->r2\"\npath = [\"r1->r5\", \"r5->r6\", \"r6->r2\"]\n";
    assert_eq!(
        messages(&with(&one.repeat(2)), &[]),
        ["net.toml:31:8: backup.1.link: the link has a backup already, on line 27"]
    );
    accepted(
        &exchange(TORUS, END, &format!("{END}{one}")),
        &["net.toml:19:8: backup.0.link: is never down, so that its backup is never taken"],
    );
    let long = with("[routing]\nbackup = \"shortest\"\n");
    let short = exchange(&long, END, "count = 2\nfrom = \"h1\"\nto = \"h2\"\nttl = 3\n");
    assert_eq!(
        messages(&short, &[]),
        ["net.toml:20:7: flow.tcp.ttl: the longest way of its packets passes 4 routers (allowed: 5 to 255)"]
    );
}

#[test]
fn redirection_needs_a_backup() {
    let queue = "aqm = \"pc-red\"\nr_p_max = 0.1\nover_r_p_max = \"redirect\"";
    let found = messages(&exchange(TORUS, "aqm = \"red\"", queue), &[]);
    assert_eq!(found.len(), 24, "one for each link");
    assert_eq!(
        found[0],
        "net.toml:12:1: queue.main.over_r_p_max: link r1->r2 has no backup to which flows are redirected (allowed: a [[backup]] of the link)"
    );
    let integer = format!("{queue}\narithmetic = \"integer\"");
    assert!(messages(&exchange(TORUS, "aqm = \"red\"", &integer), &[])[0].contains("knows one way only"));
}

#[test]
fn words_of_routing() {
    let text = with("[routing]\nbackup = \"short\"\n");
    let expected = "net.toml:28:10: routing.backup: \"short\" is not known (allowed: none, shortest; did you mean \"shortest\"?)";
    assert_eq!(messages(&text, &[]), [expected]);
    assert!(parse(&with("[routing]\nmultipath = \"flow\"\n"), "net.toml", &[]).is_ok());
}
