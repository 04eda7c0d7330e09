//! Servers and channels other than constant ones.

use super::{VALID, accepted, exchange, refused};

const RATE: &str = r#"rate = "10Mbps""#;
const DELAY: &str = "delay = \"10ms\"\n";

#[test]
fn generators() {
    let server = |table: &str| {
        accepted(&exchange(VALID, RATE, &format!("rate = {{ {table} }}")), &[]).plan.links[0].rate().0
    };
    // The means: 128 / 305.5 of the highest rate; half of 70 and 10 Mbit/s less the gaps; two kinds of aggregates.
    assert_eq!(server(r#"cellular = "12Mbps""#), 5_027_795);
    assert_eq!(server(r#"leo = "70Mbps""#), 39_893_333);
    assert_eq!(server(r#"leo = "70Mbps", lowest = "70Mbps", gap = "0s", handover = "1s""#), 70_000_000);
    assert_eq!(server(r#"wifi = "144.4Mbps", contention = 0"#), 133_839_348);
    assert_eq!(server(r#"docsis = "50Mbps""#), 50_000_000);
    let delay = exchange(VALID, DELAY, "delay = \"10ms\"\nhandover_step = \"8ms\"\nhandover = \"5s\"\n");
    assert_eq!(accepted(&delay, &[]).plan.links[0].delay().0, 14_000_000_000);
}

#[test]
fn settings_of_generators() {
    refused(
        VALID,
        RATE,
        &[
            (
                r#"rate = { cellular = "12" }"#,
                &[
                    r#"net.toml:9:21: link.a->b.rate.cellular: "12" has no unit (allowed: a rate above 0 such as "10Mbps"; units bps, kbps, Mbps, Gbps, bit, kbit, Mbit, Gbit)"#,
                ],
            ),
            (
                r#"rate = { cellular = "12Mbps", volatility = -1 }"#,
                &[
                    r#"net.toml:9:44: link.a->b.rate.volatility: -1 is out of range (allowed: a number from 0.001 to 10)"#,
                ],
            ),
            (
                r#"rate = { cellular = "12Mbps", step = "0s" }"#,
                &[
                    r#"net.toml:9:38: link.a->b.rate.step: is out of range (allowed: a time such as "10ms", from 0.0001 to 10 s)"#,
                ],
            ),
            (
                r#"rate = { cellular = "12Mbps", outage = "2h" }"#,
                &[
                    r#"net.toml:9:40: link.a->b.rate.outage: "h" is not a unit for this (allowed: a time such as "10ms", from 0 to 3600 s; units ns, us, ms, s, min)"#,
                ],
            ),
            (
                r#"rate = { cellular = "12Mbps", gap = "1ms" }"#,
                &[
                    r#"net.toml:9:37: link.a->b.rate.gap: is a key of leo, not of cellular (allowed: cellular, volatility, outage, step)"#,
                ],
            ),
            (
                r#"rate = { volatility = 0.1 }"#,
                &[r#"net.toml:9:23: link.a->b.rate.volatility: needs cellular (allowed: cellular)"#],
            ),
            (
                r#"rate = { cellular = "12Mbps", leo = "70Mbps" }"#,
                &[
                    r#"net.toml:9:37: link.a->b.rate.leo: is a key of leo, not of cellular (allowed: cellular, volatility, outage, step)"#,
                ],
            ),
            (
                r#"rate = { celular = "12Mbps" }"#,
                &[
                    r#"net.toml:9:10: link.a->b.rate.celular: unknown key (allowed: {servers}; did you mean "cellular"?)"#,
                ],
            ),
            (
                r#"rate = { leo = "70Mbps", lowest = "80Mbps" }"#,
                &[
                    r#"net.toml:9:35: link.a->b.rate.lowest: is above the highest rate (allowed: at most 70000000 bit/s)"#,
                ],
            ),
            (
                r#"rate = { leo = "70Mbps", gap = "15s" }"#,
                &[
                    r#"net.toml:9:32: link.a->b.rate.gap: is not below the time between handovers (allowed: below 15 s)"#,
                ],
            ),
            (
                r#"rate = { leo = "70Mbps", handover = "0s" }"#,
                &[
                    r#"net.toml:9:37: link.a->b.rate.handover: is out of range (allowed: a time such as "10ms", from 0.001 to 1000000 s)"#,
                ],
            ),
            (
                r#"rate = { wifi = "144.4Mbps", contention = 1.5 }"#,
                &[
                    r#"net.toml:9:43: link.a->b.rate.contention: 1.5 is out of range (allowed: a number from 0 to 1)"#,
                ],
            ),
            (
                r#"rate = { wifi = "144.4Mbps", stations = 1.5 }"#,
                &[
                    r#"net.toml:9:41: link.a->b.rate.stations: 1.5 is not a whole number (allowed: a whole number from 0 to 100)"#,
                ],
            ),
            (
                r#"rate = { wifi = "144.4Mbps", aggregate = 0 }"#,
                &[
                    r#"net.toml:9:42: link.a->b.rate.aggregate: 0 is out of range (allowed: whole packets such as "20p", from 1 to 1024)"#,
                ],
            ),
            (
                r#"rate = { docsis = "50Mbps", channel = "40Mbps" }"#,
                &[
                    r#"net.toml:9:39: link.a->b.rate.channel: is below the granted rate (allowed: at least 50000000 bit/s)"#,
                ],
            ),
            (
                r#"rate = { docsis = "1kbps" }"#,
                &[
                    r#"net.toml:9:19: link.a->b.rate.docsis: less than a byte in each interval of 0.002 s (allowed: at least 4000 bit/s)"#,
                ],
            ),
            (
                r#"rate = { docsis = "50Mbps", map_interval = "0s" }"#,
                &[
                    r#"net.toml:9:44: link.a->b.rate.map_interval: is out of range (allowed: a time such as "10ms", from 0.0001 to 1 s)"#,
                ],
            ),
        ],
    );
}

#[test]
fn settings_of_handovers() {
    refused(
        VALID,
        DELAY,
        &[
            (
                "delay = \"10ms\"\nhandover = \"5s\"\n",
                &[
                    r#"net.toml:11:12: link.a->b.handover: needs handover_step (allowed: handover_step beside it)"#,
                ],
            ),
            (
                "delay = \"10ms\"\nhandover_step = \"5\"\n",
                &[
                    r#"net.toml:11:17: link.a->b.handover_step: "5" has no unit (allowed: a time such as "10ms", from 0 to 10 s; units ns, us, ms, s, min)"#,
                ],
            ),
            (
                "delay = \"10ms\"\nhandover_step = \"5ms\"\nhandover = \"0s\"\n",
                &[
                    r#"net.toml:12:12: link.a->b.handover: is out of range (allowed: a time such as "10ms", from 0.001 to 1000000 s)"#,
                ],
            ),
        ],
    );
}
