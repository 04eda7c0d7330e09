//! Servers and channels other than constant ones.

use super::{VALID, accepted, exchange, refused};

const RATE: &str = r#"rate = "10Mbps""#;
const DELAY: &str = r#"delay = "10ms""#;

#[test]
fn generators() {
    let server = |table: &str| {
        accepted(&exchange(VALID, RATE, &format!("rate = {{ {table} }}")), &[]).plan.links[0].rate().0
    };
    // The means: 128 / 305.5 of the highest rate; half of 70 and 10 Mbit/s less the gaps; two kinds of aggregates.
    assert_eq!(server(r#"cellular = "12Mbps""#), 5_027_826);
    assert_eq!(server(r#"leo = "70Mbps""#), 39_893_333);
    assert_eq!(server(r#"leo = "70Mbps", lowest = "70Mbps", gap = "0s", handover = "1s""#), 70_000_000);
    assert_eq!(server(r#"wifi = "144.4Mbps", contention = 0"#), 133_839_348);
    assert_eq!(server(r#"docsis = "50Mbps""#), 50_000_000);
    let delay = exchange(VALID, DELAY, r#"delay = "10ms", handover_step = "8ms", handover = "5s""#);
    assert_eq!(accepted(&delay, &[]).plan.links[0].delay().0, 14_000_000_000);
}

#[test]
fn settings_of_generators() {
    refused(
        VALID,
        RATE,
        &[
            (r#"rate = { cellular = "12" }"#, &[""]),
            (r#"rate = { cellular = "12Mbps", volatility = -1 }"#, &[""]),
            (r#"rate = { cellular = "12Mbps", step = "0s" }"#, &[""]),
            (r#"rate = { cellular = "12Mbps", outage = "2h" }"#, &[""]),
            (r#"rate = { cellular = "12Mbps", gap = "1ms" }"#, &[""]),
            (r#"rate = { volatility = 0.1 }"#, &[""]),
            (r#"rate = { cellular = "12Mbps", leo = "70Mbps" }"#, &[""]),
            (r#"rate = { celular = "12Mbps" }"#, &[""]),
            (r#"rate = { leo = "70Mbps", lowest = "80Mbps" }"#, &[""]),
            (r#"rate = { leo = "70Mbps", gap = "15s" }"#, &[""]),
            (r#"rate = { leo = "70Mbps", handover = "0s" }"#, &[""]),
            (r#"rate = { wifi = "144.4Mbps", contention = 1.5 }"#, &[""]),
            (r#"rate = { wifi = "144.4Mbps", stations = 1.5 }"#, &[""]),
            (r#"rate = { wifi = "144.4Mbps", aggregate = 0 }"#, &[""]),
            (r#"rate = { docsis = "50Mbps", channel = "40Mbps" }"#, &[""]),
            (r#"rate = { docsis = "1kbps" }"#, &[""]),
            (r#"rate = { docsis = "50Mbps", map_interval = "0s" }"#, &[""]),
        ],
    );
}

#[test]
fn settings_of_handovers() {
    refused(
        VALID,
        DELAY,
        &[
            (r#"delay = "10ms", handover = "5s""#, &[""]),
            (r#"delay = "10ms", handover_step = "5""#, &[""]),
            (r#"delay = "10ms", handover_step = "5ms", handover = "0s""#, &[""]),
        ],
    );
}
