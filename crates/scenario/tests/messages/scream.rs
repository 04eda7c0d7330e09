//! Media with feedback: `transport = "scream"`.

use super::{VALID, refused};

#[test]
fn options_of_scream() {
    refused(
        VALID,
        "count = 2",
        &[
            (
                "transport = \"scream\"\nrate = \"1Mbps\"\npacket_size = \"1KB\"",
                &[
                    "net.toml:22:1: flow.tcp.rate: a flow of scream has no rate (allowed: scream = { min_rate = ..., max_rate = ... })",
                    "net.toml:23:1: flow.tcp.packet_size: a flow of scream has no packet_size (allowed: scream = { mss = ... })",
                ],
            ),
            (
                "scream = { ecn = true }",
                &[
                    r#"net.toml:21:1: flow.tcp.scream: is of transport scream, and this flow has another (allowed: transport = "scream", or no scream)"#,
                ],
            ),
            (
                "transport = \"scream\"\nscream = { min_rate = \"2Mbps\" }",
                &[
                    "net.toml:22:23: flow.tcp.scream.min_rate: min_rate (2000 kb/s) is above max_rate (1500 kb/s) (allowed: min_rate <= start_rate <= max_rate)",
                ],
            ),
            (
                "transport = \"scream\"\nscream = { mss = \"1KB\", frame_rate = 0 }",
                &[
                    "net.toml:22:38: flow.tcp.scream.frame_rate: 0 is out of range (allowed: a number from 1 to 1000)",
                ],
            ),
            (
                "transport = \"scream\"\nscream = { feedback_interval = \"often\" }",
                &[
                    r#"net.toml:22:32: flow.tcp.scream.feedback_interval: "often" is not known (allowed: auto, or a time such as "10ms", from 0.001 to 10 s)"#,
                ],
            ),
            (
                "transport = \"scream\"\nscream = { start_rate = \"2Mbps\" }",
                &[
                    "net.toml:22:25: flow.tcp.scream.start_rate: start_rate (2000 kb/s) is not within 150 and 1500 kb/s (allowed: min_rate <= start_rate <= max_rate)",
                ],
            ),
        ],
    );
}
