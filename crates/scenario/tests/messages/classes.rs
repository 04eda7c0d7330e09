//! `[[queue.NAME.class]]` and parameters with units of their own.

use super::{BUS, DIFFSERV, refused};

#[test]
fn classes() {
    refused(
        DIFFSERV,
        "name = \"in\"\n",
        &[
            (
                "",
                &[
                    "net.toml:15:1: queue.main.class[0].name: is missing (allowed: a name of letters, digits, _ and -)",
                ],
            ),
            (
                "name = \"out\"\n",
                &[
                    "net.toml:22:8: queue.main.class.out.name: there is a class of this name already, on line 15",
                ],
            ),
            (
                "name = \"in side\"\n",
                &[
                    r#"net.toml:16:8: queue.main.class.in side.name: "in side" is not a name (allowed: a name of letters, digits, _ and -)"#,
                ],
            ),
            (
                "nmae = \"in\"\n",
                &[
                    r#"net.toml:16:1: queue.main.class[0].nmae: unknown key (allowed: name, dscp, default, limit, min_th, max_th, max_p; did you mean "name"?)"#,
                ],
            ),
        ],
    );
    refused(
        DIFFSERV,
        r#"dscp = "AF11""#,
        &[
            (
                r#"dscp = "AF44""#,
                &[
                    r#"net.toml:17:8: queue.main.class.in.dscp: "AF44" is not a code point (allowed: BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63; did you mean "AF41"?)"#,
                ],
            ),
            (
                r#"dscp = ["AF11", "AF11"]"#,
                &[
                    "net.toml:17:17: queue.main.class.in.dscp: AF11 stands twice, first on line 17 (allowed: each code point in one class)",
                ],
            ),
            (
                r#"dscp = ["AF11", 64]"#,
                &[
                    "net.toml:17:17: queue.main.class.in.dscp: 64 is out of range (allowed: BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63)",
                ],
            ),
            (
                "dscp = []\ndefault = true",
                &[
                    "net.toml:24:11: queue.main.class.out.default: there is a default class already, on line 15 (allowed: one default class)",
                ],
            ),
            (
                "dscp = \"AF11\"\ndefault = true",
                &[
                    "net.toml:24:11: queue.main.class.out.default: there is a default class already, on line 15 (allowed: one default class)",
                ],
            ),
            (
                "dscp = \"AF11\"\nmode = \"bytes\"",
                &[
                    "net.toml:18:1: queue.main.class.in.mode: unknown key (allowed: name, dscp, default, limit, min_th, max_th, max_p)",
                ],
            ),
            (
                "dscp = \"AF11\"\nmin_ht = \"10p\"",
                &[
                    r#"net.toml:18:1: queue.main.class.in.min_ht: unknown key (allowed: name, dscp, default, limit, min_th, max_th, max_p; did you mean "min_th"?)"#,
                ],
            ),
        ],
    );
    refused(
        DIFFSERV,
        r#"min_th = "40p""#,
        &[
            (
                r#"min_th = "80p""#,
                &[
                    "net.toml:18:10: queue.main.class.in.min_th: min_th (80p) is not below max_th (70p) (allowed: 0 < min_th < max_th)",
                ],
            ),
            (
                r#"min_th = "0p""#,
                &[
                    r#"net.toml:18:10: queue.main.class.in.min_th: 0p is out of range (allowed: above 0, in packets ("30p") or bytes ("30KB"), or "auto")"#,
                ],
            ),
            (
                "max_p = 2",
                &["net.toml:18:9: queue.main.class.in.max_p: 2 is out of range (allowed: 0 <= x <= 1)"],
            ),
            (
                "min_th = [1]",
                &[
                    r#"net.toml:18:10: queue.main.class.in.min_th: is a list (allowed: above 0, in packets ("30p") or bytes ("30KB"), or "auto")"#,
                ],
            ),
            (
                "w_q = 0.1",
                &[
                    "net.toml:18:1: queue.main.class.in.w_q: unknown key (allowed: name, dscp, default, limit, min_th, max_th, max_p)",
                ],
            ),
        ],
    );
    refused(
        DIFFSERV,
        "default = true",
        &[
            (
                "default = 1",
                &["net.toml:23:11: queue.main.class.out.default: is a whole number (allowed: true or false)"],
            ),
            (
                r#"dscp = "AF12""#,
                &[
                    "net.toml:15:1: queue.main.class: no class is the default, for packets with other code points (allowed: default = true in exactly one class)",
                ],
            ),
            (
                "dscp = 10",
                &[
                    "net.toml:23:8: queue.main.class.out.dscp: AF11 stands twice, first on line 17 (allowed: each code point in one class)",
                ],
            ),
            (
                "default = true\nmin_th = \"60p\"\nmax_th = \"80p\"",
                &[
                    "net.toml:24:10: queue.main.class.out.min_th: min_th (60p) is above that of class in (40p) (allowed: classes in the order of their worth, thresholds not rising)",
                ],
            ),
        ],
    );
    refused(
        DIFFSERV,
        "[[queue.main.class]]\nname = \"out\"",
        &[(
            "[[queue.main.class]]\nname = \"third\"\ndscp = [\"CS1\", \"BE\"]\n\n[[queue.main.class]]\nname = \"fourth\"\ndscp = 8\n\n[[queue.main.class]]\nname = \"out\"",
            &[
                "net.toml:27:8: queue.main.class.fourth.dscp: CS1 stands twice, first on line 23 (allowed: each code point in one class)",
            ],
        )],
    );
    refused(
        DIFFSERV,
        r#"aqm = "rio""#,
        &[
            (
                r#"aqm = "drop-tail""#,
                &[
                    "net.toml:15:14: queue.main.class: drop-tail has no classes (allowed: aqm, limit, dialect, strict_limit)",
                ],
            ),
            (
                r#"aqm = "ddred-tail""#,
                &[
                    "net.toml:15:14: queue.main.class: ddred-tail has no classes (allowed: aqm, limit, last_n, distance, unknown_fraction)",
                ],
            ),
            (
                "aqm = \"rio\"\nlcass = 1",
                &[
                    r#"net.toml:14:1: queue.main.lcass: unknown key (allowed: aqm, limit, min_th, max_th, max_p, w_q, mean_packet, mode, curve, points, spacing, victim, averages, adaptation, ecn, arithmetic, dialect, at_idle, idle_extra_step, guard_one, ... (N in all); did you mean "class"?)"#,
                ],
            ),
        ],
    );
    refused(
        BUS,
        r#"aqm = "red""#,
        &[
            (
                "aqm = \"red\"\nclass = []",
                &["net.toml:14:9: queue.main.class: is empty (allowed: at least one class)"],
            ),
            (
                "aqm = \"red\"\nclass = 1",
                &["net.toml:14:9: queue.main.class: is a whole number (allowed: [[class]] entries)"],
            ),
            (
                "aqm = \"red\"\nclass = { name = \"in\" }",
                &["net.toml:14:9: queue.main.class: is a table (allowed: [[class]] entries)"],
            ),
            (
                "aqm = \"red\"\n[[queue.main.class]]\nname = \"a\"\ndscp = 1\n[[queue.main.class]]\nname = \"b\"\ndscp = 2",
                &[
                    "net.toml:14:1: queue.main.class: no class is the default, for packets with other code points (allowed: default = true in exactly one class)",
                ],
            ),
            (
                "aqm = \"red\"\nclass = [{ name = \"a\", default = true }, { name = \"b\", default = true }]",
                &[
                    "net.toml:14:66: queue.main.class.b.default: there is a default class already, on line 14 (allowed: one default class)",
                ],
            ),
            (
                "aqm = \"red\"\nclass = [\"in\"]",
                &["net.toml:14:10: queue.main.class[0]: is text (allowed: [[class]] entries)"],
            ),
        ],
    );
}

#[test]
fn times_and_integers_of_queues() {
    refused(
        BUS,
        r#"aqm = "red""#,
        &[
            (
                "aqm = \"pc-red\"\nloss_interval = 0.36",
                &[
                    r#"net.toml:14:17: queue.main.loss_interval: 0.36 has no unit (allowed: above 0, a time such as "360ms")"#,
                ],
            ),
            (
                "aqm = \"pc-red\"\nloss_interval = \"0s\"",
                &[
                    r#"net.toml:14:17: queue.main.loss_interval: 0s is out of range (allowed: above 0, a time such as "360ms")"#,
                ],
            ),
            (
                "aqm = \"pc-red\"\nloss_interval = \"360m\"",
                &[
                    r#"net.toml:14:17: queue.main.loss_interval: "m" is not a unit for this (allowed: above 0, a time such as "360ms"; units ns, us, ms, s, min; did you mean "360ms"?)"#,
                ],
            ),
            (
                "aqm = \"pc-red\"\nloss_interval = \"never\"",
                &[
                    r#"net.toml:14:17: queue.main.loss_interval: "never" is not known (allowed: above 0, a time such as "360ms")"#,
                ],
            ),
            (
                "aqm = \"pc-red\"\nloss_limit = \"0B\"",
                &[
                    r#"net.toml:14:14: queue.main.loss_limit: 0B is out of range (allowed: above 0, in bytes ("1000B"), or a list of 1 to 8 such, one for each level)"#,
                ],
            ),
            (
                "aqm = \"pc-red\"\nloss_limit = -1",
                &[
                    r#"net.toml:14:14: queue.main.loss_limit: -1 is negative (allowed: above 0, in bytes ("1000B"), or a list of 1 to 8 such, one for each level)"#,
                ],
            ),
            (
                "aqm = \"pc-red\"\nloss_limit = []",
                &[
                    r#"net.toml:14:14: queue.main.loss_limit: [] is out of range (allowed: above 0, in bytes ("1000B"), or a list of 1 to 8 such, one for each level)"#,
                ],
            ),
            (
                "aqm = \"pc-red\"\nloss_limit = [\"70B\", \"0B\"]",
                &[
                    r#"net.toml:14:14: queue.main.loss_limit: ["70B", "0B"] is out of range (allowed: above 0, in bytes ("1000B"), or a list of 1 to 8 such, one for each level)"#,
                ],
            ),
            (
                "aqm = \"pc-red\"\nloss_limit = [\"70B\", \"30p\"]",
                &[
                    r#"net.toml:14:14: queue.main.loss_limit: "p" is not a unit for this (allowed: above 0, in bytes ("1000B"), or a list of 1 to 8 such, one for each level; units B, kB, KB, MB, KiB, MiB)"#,
                ],
            ),
            (
                "aqm = \"pc-red\"\nlist_size = 1.5",
                &[
                    "net.toml:14:13: queue.main.list_size: 1.5 is not a whole number (allowed: 1 <= x <= 1048576, a whole number)",
                ],
            ),
            (
                "aqm = \"pc-red\"\nlist_size = \"10\"",
                &[
                    "net.toml:14:13: queue.main.list_size: is text (allowed: 1 <= x <= 1048576, a whole number)",
                ],
            ),
            (
                "aqm = \"pc-red\"\nlist_size = 0",
                &[
                    "net.toml:14:13: queue.main.list_size: 0 is out of range (allowed: 1 <= x <= 1048576, a whole number)",
                ],
            ),
            (
                "aqm = \"pc-red\"\nlist_timeout = \"nver\"",
                &[
                    r#"net.toml:14:16: queue.main.list_timeout: "nver" is not known (allowed: above 0, a time such as "360ms", or "never"; did you mean "never"?)"#,
                ],
            ),
            (
                "aqm = \"pc-red\"\nlist_timeout = 3",
                &[
                    r#"net.toml:14:16: queue.main.list_timeout: 3 has no unit (allowed: above 0, a time such as "360ms", or "never")"#,
                ],
            ),
        ],
    );
}
