//! Options of the RFC profile.

use aqmlab_transport::Profile;
use aqmlab_transport::rfc::{Config, CongestionControl, DelayFilter, EcnFeedback, HyStart};
use aqmlab_units::Span;

use super::{check_time_outs, replace};
use crate::problem::Complaint;
use crate::section::Section;
use crate::tree::Value;

/// Sets what the table says.
pub(crate) fn apply(tcp: &Section<'_>, config: &mut Config) {
    // Its feedback of marks is the default.
    set("congestion_control", tcp, config);
    config.ecn = config.congestion_control.feedback();
    for p in Profile::Rfc.parameters() {
        set(p.key, tcp, config);
    }
    check_time_outs(tcp, (config.min_rto.secs(), config.max_rto.secs()));
    for key in ["rack", "frto"] {
        // On by default, so that the error is reported only where the file sets it.
        if !config.sack && tcp.flag(key) == Some(true) {
            let complaint = Complaint::new(format!("{key} needs selective acknowledgements"));
            tcp.error(key, complaint.allowed(format!("{key} = false, or sack = true")));
        }
    }
    check_feedback(tcp, config);
}

/// Reports feedback of marks that the controller can do nothing with.
fn check_feedback(tcp: &Section<'_>, config: &Config) {
    let controller = config.congestion_control;
    if !controller.works_with(config.ecn) {
        let message = format!("{} does not work with feedback {:?}", controller.name(), config.ecn.name());
        let others = EcnFeedback::ALL.into_iter().filter(|f| controller.works_with(*f));
        let names: Vec<String> = others.map(|f| format!("{:?}", f.name())).collect();
        tcp.error("ecn", Complaint::new(message).allowed(names.join(", ")));
    }
}

/// The feedback of marks: a word, or whether there is any.
fn feedback(from: &Section<'_>) -> Option<EcnFeedback> {
    match &from.node("ecn")?.value {
        Value::Text(_) => EcnFeedback::from_name(from.text("ecn")?),
        _ => from.flag("ecn").map(|on| if on { EcnFeedback::Classic } else { EcnFeedback::Off }),
    }
}

/// Sets one parameter, if it is there and valid.
fn set(key: &str, from: &Section<'_>, config: &mut Config) {
    let whole = |x: f64| x as u32;
    let span = |slot: &mut Span| replace(slot, from.span(key));
    let bytes = |slot: &mut u32| replace(slot, from.bytes(key).and_then(|n| u32::try_from(n).ok()));
    let packets = |slot: &mut u32| replace(slot, from.packets(key).map(whole));
    let flag = |slot: &mut bool| replace(slot, from.flag(key));
    let integer = |slot: &mut u32| replace(slot, from.integer(key).and_then(|n| u32::try_from(n).ok()));
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
        "ecn" => replace(&mut config.ecn, feedback(from)),
        "pacing" => flag(&mut config.pacing),
        "timestamps" => flag(&mut config.timestamps),
        "idle_restart" => flag(&mut config.idle_restart),
        "window_growth" => flag(&mut config.window_growth),
        "dctcp_g" => replace(&mut config.dctcp.g, from.number(key)),
        "dctcp_initial_alpha" => replace(&mut config.dctcp.initial_alpha, from.number(key)),
        "ledbat_target" => span(&mut config.ledbat.target),
        "ledbat_gain" => replace(&mut config.ledbat.gain, from.number(key)),
        "ledbat_allowed_increase" => replace(&mut config.ledbat.allowed_increase, from.packets(key)),
        "ledbat_min_cwnd" => packets(&mut config.ledbat.min_cwnd),
        "ledbat_base_history" => integer(&mut config.ledbat.base_history),
        "ledbat_filter" => {
            replace(&mut config.ledbat.filter, from.text(key).and_then(DelayFilter::from_name))
        }
        "ledbat_filter_length" => integer(&mut config.ledbat.filter_length),
        "ledbat_slow_start" => flag(&mut config.ledbat.slow_start),
        "prague_g" => replace(&mut config.prague.g, from.number(key)),
        "prague_rtt_target" => span(&mut config.prague.rtt_target),
        "prague_rtt_transition" => integer(&mut config.prague.rtt_transition),
        "bbr_loss_thresh" => replace(&mut config.bbr.loss_thresh, from.number(key)),
        "bbr_beta" => replace(&mut config.bbr.beta, from.number(key)),
        "bbr_headroom" => replace(&mut config.bbr.headroom, from.number(key)),
        "bbr_pacing_margin" => replace(&mut config.bbr.pacing_margin, from.number(key)),
        "bbr_min_rtt_window" => span(&mut config.bbr.min_rtt_window),
        "bbr_probe_rtt_interval" => span(&mut config.bbr.probe_rtt_interval),
        "bbr_probe_rtt_duration" => span(&mut config.bbr.probe_rtt_duration),
        "bbr_ecn_factor" => replace(&mut config.bbr.ecn_factor, from.number(key)),
        "bbr_ecn_thresh" => replace(&mut config.bbr.ecn_thresh, from.number(key)),
        "bbr_ecn_max_rtt" => span(&mut config.bbr.ecn_max_rtt),
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
        ("window_growth", "true"),
        ("dctcp_g", "0.125"),
        ("dctcp_initial_alpha", "0"),
        ("ledbat_target", "\"5ms\""),
        ("ledbat_gain", "10"),
        ("ledbat_allowed_increase", "2"),
        ("ledbat_min_cwnd", "3"),
        ("ledbat_base_history", "2"),
        ("ledbat_filter", "\"ewma\""),
        ("ledbat_filter_length", "8"),
        ("ledbat_slow_start", "true"),
        ("prague_g", "0.125"),
        ("prague_rtt_target", "\"10ms\""),
        ("prague_rtt_transition", "0"),
        ("bbr_loss_thresh", "0.05"),
        ("bbr_beta", "0.5"),
        ("bbr_headroom", "0.1"),
        ("bbr_pacing_margin", "0"),
        ("bbr_min_rtt_window", "\"5s\""),
        ("bbr_probe_rtt_interval", "\"2s\""),
        ("bbr_probe_rtt_duration", "\"100ms\""),
        ("bbr_ecn_factor", "0.5"),
        ("bbr_ecn_thresh", "0.25"),
        ("bbr_ecn_max_rtt", "\"50ms\""),
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
        assert_eq!(with("ecn = true").ecn, EcnFeedback::Classic);
        assert_eq!(with("ecn = false").ecn, EcnFeedback::Off);
        assert_eq!(with("ecn = \"accurate\"").ecn, EcnFeedback::Accurate);
        assert_eq!(with("congestion_control = \"dctcp\"").ecn, EcnFeedback::Dctcp);
        assert_eq!(with("congestion_control = \"prague\"").ecn, EcnFeedback::Accurate);
    }
}
