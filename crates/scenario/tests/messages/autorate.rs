//! CAKE's `autorate`, and flows that measure links for it.

use super::{DUMBBELL, accepted, exchange, refused};

/// The dumbbell with a controlled shaper and a flow of pings.
fn controlled() -> String {
    let cake = r#"aqm = "cake"
rate = "8Mbps"
autorate = true
min_shaper_rate = "2Mbps"
max_shaper_rate = "9Mbps""#;
    let pings = r#"count = 2

[[flow]]
name = "ping"
transport = "udp"
rate = "13440bps"
packet_size = "84B"
measures = "bottleneck""#;
    exchange(&exchange(DUMBBELL, r#"aqm = "red""#, cake), "count = 2", pings)
}

#[test]
fn settings() {
    accepted(&controlled(), &[]);
    // A file that turns it off may keep its settings.
    accepted(&exchange(&controlled(), "autorate = true", "autorate = false"), &[]);
    let cake =
        controlled().lines().skip_while(|line| !line.contains("cake")).take(5).collect::<Vec<_>>().join("\n");
    accepted(
        &exchange(&controlled(), &cake, r#"aqm = "red""#),
        &[
            "net.toml:23:12: flow.ping.measures: has no effect: red at bottleneck reads no delays (allowed: a link whose queue is cake, with autorate = true)",
        ],
    );
    refused(
        &controlled(),
        "autorate = true",
        &[
            (
                "",
                &[
                    "net.toml:15:19: queue.main.min_shaper_rate: min_shaper_rate is a setting of autorate, which is off (allowed: autorate = true)",
                ],
            ),
            (
                "autorate = true\nautorate_ingress = true",
                &[
                    "net.toml:15:20: queue.main.autorate_ingress: autorate and autorate_ingress both change the rate (allowed: one of them)",
                ],
            ),
            (
                "autorate = true\nbufferbloat_detection_thr = 7",
                &[
                    "net.toml:15:29: queue.main.bufferbloat_detection_thr: bufferbloat_detection_thr (7) is above bufferbloat_detection_window (6) (allowed: bufferbloat_detection_thr <= bufferbloat_detection_window)",
                ],
            ),
            (
                "autorate = true\nshaper_rate_max_adjust_down_bufferbloat = 0.995",
                &[
                    "net.toml:15:43: queue.main.shaper_rate_max_adjust_down_bufferbloat: shaper_rate_max_adjust_down_bufferbloat is above shaper_rate_min_adjust_down_bufferbloat (allowed: shaper_rate_max_adjust_down_bufferbloat <= shaper_rate_min_adjust_down_bufferbloat)",
                ],
            ),
            (
                "autorate = true\nhigh_load_thr = 1.5",
                &["net.toml:15:17: queue.main.high_load_thr: 1.5 is out of range (allowed: 0.01 <= x <= 1)"],
            ),
            (
                "autorate = true\nowd_delta_delay_thr = 30",
                &[
                    r#"net.toml:15:23: queue.main.owd_delta_delay_thr: 30 has no unit (allowed: 0.000001 <= x <= 1000, a time such as "360ms")"#,
                ],
            ),
        ],
    );
    refused(
        &controlled(),
        r#"rate = "8Mbps""#,
        &[
            (
                "",
                &[
                    "net.toml:11:1: queue.main.rate: autorate needs a rate, its base (allowed: a rate from 1kbps)",
                ],
            ),
            (
                r#"rate = "1Mbps""#,
                &[
                    "net.toml:15:19: queue.main.min_shaper_rate: min_shaper_rate (2000 kbit/s) is above rate (1000 kbit/s) (allowed: min_shaper_rate <= rate <= max_shaper_rate)",
                ],
            ),
            (
                r#"rate = "10Mbps""#,
                &[
                    "net.toml:16:19: queue.main.max_shaper_rate: max_shaper_rate (9000 kbit/s) is below rate (10000 kbit/s) (allowed: min_shaper_rate <= rate <= max_shaper_rate)",
                ],
            ),
        ],
    );
}

#[test]
fn pings() {
    refused(
        &controlled(),
        r#"measures = "bottleneck""#,
        &[
            (
                "",
                &[
                    r#"net.toml:11:1: queue.main.autorate: no flow measures link bottleneck (allowed: a [[flow]] of udp with measures = "bottleneck")"#,
                ],
            ),
            (
                r#"measures = "left.tcp.0""#,
                &[
                    "net.toml:11:1: queue.main.autorate: no flow measures link bottleneck (allowed: a [[flow]] of udp with measures = \"bottleneck\")",
                    "net.toml:27:12: flow.ping.measures: left.tcp.0 is on neither way of the flow (allowed: a link between its ends, which are not random)",
                ],
            ),
            (
                r#"measures = "botleneck""#,
                &[
                    "net.toml:27:12: flow.ping.measures: unknown link \"botleneck\" (allowed: bottleneck, bottleneck.reverse, left.tcp.0, left.tcp.0.reverse, right.tcp.0, right.tcp.0.reverse, left.tcp.1, left.tcp.1.reverse, right.tcp.1, right.tcp.1.reverse, left.ping, left.ping.reverse, right.ping, right.ping.reverse; did you mean \"bottleneck\"?)",
                ],
            ),
            (
                "measures = 1",
                &[
                    "net.toml:27:12: flow.ping.measures: is a whole number (allowed: a name of letters, digits and _ - . : / >)",
                ],
            ),
        ],
    );
    refused(
        &controlled(),
        "transport = \"udp\"\nrate = \"13440bps\"\npacket_size = \"84B\"",
        &[(
            "transport = \"tcp\"",
            &[
                r#"net.toml:25:12: flow.ping.measures: only packets of udp are answered (allowed: transport = "udp")"#,
            ],
        )],
    );
}
