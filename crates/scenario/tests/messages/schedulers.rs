//! Queues behind the classes of a scheduler.

use aqmlab_scenario::parse;

use super::refused;

/// Two weighted classes, one with a queue of the file.
const SCHEDULED: &str = r#"format = 1

[run]
duration = "10s"

[[link]]
from = "a"
to = "b"
rate = "10Mbps"
delay = "10ms"
queue = "main"

[queue.main]
aqm = "wfq"

[[queue.main.class]]
name = "gold"
dscp = "AF11"
weight = 3
queue = "gold"

[[queue.main.class]]
name = "rest"
default = true

[queue.gold]
aqm = "red"
min_th = "10p"
max_th = "30p"

[[flow]]
name = "tcp"
from = "a"
to = "b"
"#;

#[test]
fn queues_behind_classes() {
    refused(
        SCHEDULED,
        "queue = \"gold\"",
        &[
            (
                "queue = \"godl\"",
                &[
                    r#"net.toml:20:9: queue.main.class.gold.queue: unknown queue "godl" (allowed: gold, default; did you mean "gold"?)"#,
                ],
            ),
            (
                "queue = \"main\"",
                &[
                    r#"net.toml:20:9: queue.main.class.gold.queue: child queue "main" closes a cycle (allowed: a queue whose child queues do not lead back to this one)"#,
                ],
            ),
            (
                "queue = 3",
                &[
                    "net.toml:20:9: queue.main.class.gold.queue: is a whole number (allowed: a name of letters, digits and _ - . : / >)",
                ],
            ),
        ],
    );
    refused(
        SCHEDULED,
        "weight = 3",
        &[
            (
                "weight = 0",
                &[
                    "net.toml:19:10: queue.main.class.gold.weight: 0 is out of range (allowed: 0 < x <= 1000000)",
                ],
            ),
            (
                "min_th = \"3p\"",
                &[
                    r#"net.toml:19:1: queue.main.class.gold.min_th: unknown key (allowed: name, dscp, default, weight, queue)"#,
                ],
            ),
        ],
    );
}

#[test]
fn what_is_wrong_behind_a_class() {
    refused(
        SCHEDULED,
        "max_th = \"30p\"",
        &[(
            "max_th = \"9p\"",
            &[
                "net.toml:20:9: queue.main.class.gold.queue: min_th: min_th (10p) is not below max_th (9p) (allowed: 0 < min_th < max_th)",
            ],
        )],
    );
    refused(
        SCHEDULED,
        "default = true\n",
        &[(
            "",
            &[
                "net.toml:16:1: queue.main.class: no class is the default, for packets with other code points (allowed: default = true in exactly one class)",
            ],
        )],
    );
}

#[test]
fn priority_has_no_weights_and_red_no_queues_behind_classes() {
    refused(
        &SCHEDULED.replace("wfq", "priority"),
        "queue = \"gold\"",
        &[(
            "queue = \"gold\"\n",
            &[
                "net.toml:19:1: queue.main.class.gold.weight: unknown key (allowed: name, dscp, default, queue)",
            ],
        )],
    );
}

#[test]
fn a_queue_may_stand_behind_several_classes() {
    let text = SCHEDULED.replace("default = true\n", "default = true\nqueue = \"gold\"\n");
    let scenario = parse(&text, "net.toml", &[]).expect("valid");
    assert_eq!(scenario.warnings, []);
    let aqm = |class: &str| {
        let key = format!("class.{class}.aqm");
        scenario.plan.links[0].queue.effective.iter().find(|(k, _)| *k == key).map(|(_, v)| v.to_string())
    };
    assert_eq!((aqm("gold").as_deref(), aqm("rest").as_deref()), (Some("red"), Some("red")));
}

#[test]
fn two_that_stand_behind_each_other() {
    let text = SCHEDULED.replace(
        "[queue.gold]\naqm = \"red\"\nmin_th = \"10p\"\nmax_th = \"30p\"\n",
        "[queue.gold]\naqm = \"priority\"\n[[queue.gold.class]]\nname = \"all\"\ndefault = true\nqueue = \"main\"\n",
    );
    let errors = parse(&text, "net.toml", &[]).expect_err("a cycle");
    assert!(errors.iter().any(|e| e.message.contains("closes a cycle")), "{errors:?}");
}
