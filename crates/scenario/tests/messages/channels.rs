//! The channel of a link: loss, jitter, reordering, duplication.

use super::{VALID, refused};

#[test]
fn settings_of_a_channel() {
    let cases: &[(&str, &[&str])] = &[
        (
            r#"loss = 1.5"#,
            &[r#"net.toml:11:8: link.a->b.loss: 1.5 is out of range (allowed: a number from 0 to 1)"#],
        ),
        (
            r#"loss = "101%""#,
            &[r#"net.toml:11:8: link.a->b.loss: 1.01 is out of range (allowed: a number from 0 to 1)"#],
        ),
        (
            r#"loss = "10ms""#,
            &[
                r#"net.toml:11:8: link.a->b.loss: "10ms" is not a number or a percentage (allowed: a number from 0 to 1)"#,
            ],
        ),
        (
            r#"loss = {}"#,
            &[
                r#"net.toml:11:8: link.a->b.loss: an empty table (allowed: probability with correlation; p with r, bad_loss, good_loss; or packets, rising from 1, with period)"#,
            ],
        ),
        (
            r#"loss = { p = 0.1, packets = [3] }"#,
            &[
                r#"net.toml:11:29: link.a->b.loss.packets: packets belongs to another model of losses than p (allowed: probability with correlation; p with r, bad_loss, good_loss; or packets, rising from 1, with period)"#,
            ],
        ),
        (
            r#"loss = { r = 0.1 }"#,
            &[
                r#"net.toml:11:8: link.a->b.loss: the table has no p (allowed: probability with correlation; p with r, bad_loss, good_loss; or packets, rising from 1, with period)"#,
            ],
        ),
        (
            r#"loss = { correlation = 0.1 }"#,
            &[
                r#"net.toml:11:8: link.a->b.loss: the table has no probability (allowed: probability with correlation; p with r, bad_loss, good_loss; or packets, rising from 1, with period)"#,
            ],
        ),
        (
            r#"loss = { period = 10 }"#,
            &[
                r#"net.toml:11:8: link.a->b.loss: the table has no packets (allowed: probability with correlation; p with r, bad_loss, good_loss; or packets, rising from 1, with period)"#,
            ],
        ),
        (
            r#"loss = { packets = [3, 3] }"#,
            &[
                r#"net.toml:11:20: link.a->b.loss.packets: packet 3 follows packet 3 (allowed: probability with correlation; p with r, bad_loss, good_loss; or packets, rising from 1, with period)"#,
            ],
        ),
        (
            r#"loss = { packets = [0] }"#,
            &[
                r#"net.toml:11:20: link.a->b.loss.packets: packets are counted from 1 (allowed: probability with correlation; p with r, bad_loss, good_loss; or packets, rising from 1, with period)"#,
            ],
        ),
        (
            r#"loss = { packets = [30], period = 20 }"#,
            &[
                r#"net.toml:11:20: link.a->b.loss.packets: packet 30 is after the period of 20 packets (allowed: probability with correlation; p with r, bad_loss, good_loss; or packets, rising from 1, with period)"#,
            ],
        ),
        (
            r#"loss = { packets = [-1] }"#,
            &[
                r#"net.toml:11:21: link.a->b.loss.packets: -1 is out of range (allowed: a whole number from 0 to 1125899906842624)"#,
            ],
        ),
        (
            r#"loss = { probability = 0.1, corelation = 0.2 }"#,
            &[
                r#"net.toml:11:29: link.a->b.loss.corelation: unknown key (allowed: probability, correlation, p, r, bad_loss, good_loss, packets, period; did you mean "correlation"?)"#,
            ],
        ),
        (
            r#"jitter = 5"#,
            &[r#"net.toml:11:10: link.a->b.jitter: 5 has no unit (allowed: a time such as "10ms")"#],
        ),
        (
            r#"jitter = { distribution = "normal" }"#,
            &[
                r#"net.toml:11:10: link.a->b.jitter: the table has no deviation (allowed: a table with deviation)"#,
            ],
        ),
        (
            r#"jitter = { deviation = "1ms", distribution = "gauss" }"#,
            &[
                r#"net.toml:11:46: link.a->b.jitter.distribution: "gauss" is not known (allowed: uniform, normal, pareto, paretonormal)"#,
            ],
        ),
        (
            r#"reorder = { gap = 5 }"#,
            &[
                r#"net.toml:11:11: link.a->b.reorder: the table has no probability (allowed: a table with probability)"#,
            ],
        ),
        (
            r#"reorder = { probability = 0.1, gap = 0 }"#,
            &[
                r#"net.toml:11:38: link.a->b.reorder.gap: 0 is out of range (allowed: a whole number from 1 to 1000000000)"#,
            ],
        ),
        (
            r#"duplicate = -0.1"#,
            &[r#"net.toml:11:13: link.a->b.duplicate: -0.1 is out of range (allowed: a number from 0 to 1)"#],
        ),
        (
            r#"duplicate = { correlation = 0.5 }"#,
            &[
                r#"net.toml:11:13: link.a->b.duplicate: the table has no probability (allowed: a table with probability)"#,
            ],
        ),
        (
            r#"duplex = false
reverse_loss = 0.1"#,
            &[
                r#"net.toml:12:1: link.a->b.reverse_loss: a link with duplex = false has no reverse direction"#,
                r#"net.toml:21:1: flow.tcp: no route for acknowledgements from b to a"#,
            ],
        ),
        (
            r#"reverse_jitter = { order = "kept" }"#,
            &[
                r#"net.toml:11:18: link.a->b.reverse_jitter: the table has no deviation (allowed: a table with deviation)"#,
            ],
        ),
        (
            r#"reverse_loss = { packets = [2, 1] }"#,
            &[
                r#"net.toml:11:28: link.a->b.reverse_loss.packets: packet 1 follows packet 2 (allowed: probability with correlation; p with r, bad_loss, good_loss; or packets, rising from 1, with period)"#,
            ],
        ),
        (
            r#"lost = 0.1"#,
            &[
                r#"net.toml:11:1: link.a->b.lost: unknown key (allowed: from, to, name, {line}, queue, duplex, reverse_queue, {reverse}; did you mean "loss"?)"#,
            ],
        ),
    ];
    for (text, expected) in cases {
        refused(VALID, "delay = \"10ms\"", &[(&format!("delay = \"10ms\"\n{text}"), expected)]);
    }
}
