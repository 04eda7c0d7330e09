//! Options of the RFC profile.

use aqmlab_transport::Profile;
use aqmlab_transport::rfc::{Config, CongestionControl, HyStart};
use aqmlab_units::Span;

use super::{check_time_outs, replace};
use crate::problem::Complaint;
use crate::section::Section;

/// Sets what the table says.
pub(crate) fn apply(tcp: &Section<'_>, config: &mut Config) {
    for p in Profile::Rfc.parameters() {
        set(p.key, tcp, config);
    }
    check_time_outs(tcp, (config.min_rto.secs(), config.max_rto.secs()));
    for key in ["rack", "frto"] {
        // On by default, so that only who asks for it is told.
        if !config.sack && tcp.flag(key) == Some(true) {
            let complaint = Complaint::new(format!("{key} needs selective acknowledgements"));
            tcp.error(key, complaint.allowed(format!("{key} = false, or sack = true")));
        }
    }
}

/// Sets one parameter, if it is there and valid.
fn set(key: &str, from: &Section<'_>, config: &mut Config) {
    let whole = |x: f64| x as u32;
    let span = |slot: &mut Span| replace(slot, from.span(key));
    let bytes = |slot: &mut u32| replace(slot, from.bytes(key).and_then(|n| u32::try_from(n).ok()));
    let packets = |slot: &mut u32| replace(slot, from.packets(key).map(whole));
    let flag = |slot: &mut bool| replace(slot, from.flag(key));
    // A time, or false for none.
    let or_off = |slot: &mut Option<Span>| {
        if from.has(key) {
            *slot = from.span(key);
        }
    };
    match key {
        "congestion_control" => {
            replace(&mut config.congestion_control, from.text(key).and_then(CongestionControl::from_name));
        }
        "mss" => bytes(&mut config.mss),
        "header" => bytes(&mut config.header),
        "ack_size" => bytes(&mut config.ack_size),
        "initial_window" => packets(&mut config.initial_window),
        "initial_ssthresh" => {
            config.initial_ssthresh = from.packets(key).map(whole).or(config.initial_ssthresh);
        }
        "window" => bytes(&mut config.window),
        "delayed_ack" => or_off(&mut config.delayed_ack),
        "quick_acks" => packets(&mut config.quick_acks),
        "sack_compression" => or_off(&mut config.sack_compression),
        "min_rto" => span(&mut config.min_rto),
        "rto_floor_on_variance" => flag(&mut config.rto_floor_on_variance),
        "max_rto" => span(&mut config.max_rto),
        "initial_rto" => span(&mut config.initial_rto),
        "sack" => flag(&mut config.sack),
        "rack" => flag(&mut config.rack),
        "prr" => flag(&mut config.prr),
        "frto" => flag(&mut config.frto),
        "undo" => flag(&mut config.undo),
        "limited_transmit" => flag(&mut config.limited_transmit),
        "hystart" => replace(&mut config.hystart, from.text(key).and_then(HyStart::from_name)),
        "fast_convergence" => flag(&mut config.fast_convergence),
        "tcp_friendly" => flag(&mut config.tcp_friendly),
        "whole_segments" => flag(&mut config.whole_segments),
        "ecn" => flag(&mut config.ecn),
        "pacing" => flag(&mut config.pacing),
        "timestamps" => flag(&mut config.timestamps),
        "idle_restart" => flag(&mut config.idle_restart),
        // The profile is chosen elsewhere.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::tests::{check, with};

    /// A value of each parameter that is not its default.
    const OTHER: &[(&str, &str)] = &[
        ("congestion_control", "\"reno\""),
        ("mss", "1000"),
        ("header", "\"72B\""),
        ("ack_size", "72"),
        ("initial_window", "\"3p\""),
        ("initial_ssthresh", "\"64p\""),
        ("window", "\"64KiB\""),
        ("delayed_ack", "false"),
        ("quick_acks", "0"),
        ("sack_compression", "false"),
        ("min_rto", "\"1s\""),
        ("rto_floor_on_variance", "false"),
        ("max_rto", "\"60s\""),
        ("initial_rto", "\"3s\""),
        ("sack", "false"),
        ("rack", "false"),
        ("prr", "false"),
        ("frto", "false"),
        ("undo", "false"),
        ("limited_transmit", "false"),
        ("hystart", "\"off\""),
        ("fast_convergence", "false"),
        ("tcp_friendly", "false"),
        ("whole_segments", "false"),
        ("ecn", "true"),
        ("pacing", "true"),
        ("timestamps", "false"),
        ("idle_restart", "false"),
    ];

    fn read(tcp: &Section<'_>) -> Config {
        let mut config = Config::linux(CongestionControl::Cubic);
        apply(tcp, &mut config);
        config
    }

    #[test]
    fn every_parameter_of_the_registry_can_be_set_and_defaults_change_nothing() {
        check(Profile::Rfc, OTHER, read);
        let with = |text| with(text, Profile::Rfc, read);
        assert_eq!(with("delayed_ack = false").delayed_ack, None);
        assert_eq!(with("delayed_ack = \"100ms\"").delayed_ack, Some(Span::from_millis(100)));
        assert_eq!(with("window = \"64KiB\"").window, 65_536);
        assert_eq!(with("hystart = \"rfc9406\"").hystart, HyStart::PlusPlus);
    }
}
