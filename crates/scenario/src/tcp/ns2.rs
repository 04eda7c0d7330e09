//! Options of ns-2's profile.

use aqmlab_transport::Profile;
use aqmlab_transport::ns2::Config;
use aqmlab_units::Span;

use super::{check_time_outs, replace};
use crate::section::Section;

/// Sets what the table says.
pub(crate) fn apply(tcp: &Section<'_>, config: &mut Config) {
    for p in Profile::Ns2.parameters() {
        set(p.key, tcp, config);
    }
    check_time_outs(tcp, (config.min_rto, config.max_rto));
}

/// Sets one parameter, if it is there and valid.
pub(crate) fn set(key: &str, from: &Section<'_>, config: &mut Config) {
    let secs = |slot: &mut f64| replace(slot, from.span(key).map(Span::secs));
    let bytes = |slot: &mut u32| replace(slot, from.bytes(key).and_then(|n| u32::try_from(n).ok()));
    let packets = |slot: &mut f64| replace(slot, from.packets(key));
    let flag = |slot: &mut bool| replace(slot, from.flag(key));
    match key {
        "window" => packets(&mut config.window),
        "packet_size" => bytes(&mut config.packet_size),
        "header" => bytes(&mut config.header),
        "ack_size" => bytes(&mut config.ack_size),
        "initial_window" => packets(&mut config.initial_window),
        "initial_ssthresh" => {
            config.initial_ssthresh = from.packets(key).map(|x| x as u32).or(config.initial_ssthresh);
        }
        "syn" => flag(&mut config.syn),
        "delayed_ack" => config.delayed_ack = from.span(key),
        "ecn" => flag(&mut config.ecn),
        "limited_transmit" => flag(&mut config.limited_transmit),
        "min_rto" => secs(&mut config.min_rto),
        "max_rto" => secs(&mut config.max_rto),
        "initial_rto" => secs(&mut config.initial_rto),
        "tick" => secs(&mut config.tick),
        "max_burst" => replace(&mut config.max_burst, from.packets(key).map(|x| x as u32)),
        "timestamps" => flag(&mut config.timestamps),
        // The profile is chosen elsewhere; the clock's phase is a flow's own.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::tests::{check, with};
    use aqmlab_transport::ns2::Variant;

    /// A value of each parameter that is not its default.
    const OTHER: &[(&str, &str)] = &[
        ("window", "\"33p\""),
        ("packet_size", "\"512B\""),
        ("header", "41"),
        ("ack_size", "\"41B\""),
        ("initial_window", "3"),
        ("initial_ssthresh", "\"7p\""),
        ("syn", "false"),
        ("delayed_ack", "\"100ms\""),
        ("ecn", "true"),
        ("limited_transmit", "false"),
        ("min_rto", "\"1s\""),
        ("max_rto", "\"61s\""),
        ("initial_rto", "\"4s\""),
        ("tick", "\"0.5s\""),
        ("max_burst", "4"),
        ("timestamps", "true"),
    ];

    fn read(tcp: &Section<'_>) -> Config {
        let mut config = Config::ns2(Variant::Reno);
        apply(tcp, &mut config);
        config
    }

    #[test]
    fn every_parameter_of_the_registry_can_be_set_and_defaults_change_nothing() {
        check(Profile::Ns2, OTHER, read);
        let with = |text| with(text, Profile::Ns2, read);
        assert_eq!(with("delayed_ack = \"100ms\"").delayed_ack, Some(Span::from_millis(100)));
        assert_eq!(with("min_rto = \"0.3s\"").min_rto, 0.3);
        assert_eq!(with("initial_ssthresh = 7").initial_ssthresh, Some(7));
    }
}
