use aqmlab_transport::ns2;
use aqmlab_transport::rfc::{self, CongestionControl, EcnFeedback};
use aqmlab_units::Span;
use serde_json::{Value as Json, json};

use super::number_json;

/// Effective values of a connection of ns-2's profile; times in seconds, windows in packets, lengths in bytes.
pub(super) fn ns2_json(config: &ns2::Config, clock_offset: Option<f64>) -> Json {
    json!({
        "clock_offset": clock_offset,
        "window": number_json(config.window),
        "packet_size": config.packet_size,
        "header": config.header,
        "ack_size": config.ack_size,
        "initial_window": number_json(config.initial_window),
        "initial_ssthresh": config.initial_ssthresh,
        "syn": config.syn,
        "delayed_ack": time_or_off(config.delayed_ack),
        "ecn": config.ecn,
        "limited_transmit": config.limited_transmit,
        "min_rto": config.min_rto,
        "max_rto": config.max_rto,
        "initial_rto": config.initial_rto,
        "tick": config.tick,
        "max_burst": config.max_burst,
        "timestamps": config.timestamps,
    })
}

/// Effective values of a connection of the RFC profile; times in seconds, the receiver's window in bytes, the initial
/// ones in packets.
pub(super) fn rfc_json(config: &rfc::Config) -> Json {
    let mut json = json!({
        "congestion_control": config.congestion_control.name(),
        "mss": config.mss,
        "header": config.header,
        "ack_size": config.ack_size,
        "initial_window": config.initial_window,
        "initial_ssthresh": config.initial_ssthresh,
        "window": config.window,
        "delayed_ack": time_or_off(config.delayed_ack),
        "quick_acks": config.quick_acks,
        "sack_compression": time_or_off(config.sack_compression),
        "min_rto": config.min_rto.secs(),
        "rto_floor_on_variance": config.rto_floor_on_variance,
        "max_rto": config.max_rto.secs(),
        "initial_rto": config.initial_rto.secs(),
        "sack": config.sack,
        "rack": config.rack,
        "prr": config.prr,
        "frto": config.frto,
        "undo": config.undo,
        "limited_transmit": config.limited_transmit,
        "hystart": config.hystart.name(),
        "fast_convergence": config.fast_convergence,
        "tcp_friendly": config.tcp_friendly,
        "whole_segments": config.whole_segments,
        "ecn": ecn_json(config.ecn),
        "pacing": config.pacing,
        "timestamps": config.timestamps,
        "idle_restart": config.idle_restart,
    });
    // As in runs from before there was another window.
    if config.window_growth {
        json["window_growth"] = json!(true);
    }
    let own = controller_json(config);
    for (key, value) in own.as_object().into_iter().flatten() {
        json[key] = value.clone();
    }
    json
}

/// The parameters of the controller that the connection has.
fn controller_json(config: &rfc::Config) -> Json {
    let rfc::Config { dctcp, ledbat, prague, bbr, .. } = config;
    match config.congestion_control {
        CongestionControl::Reno | CongestionControl::Cubic => json!({}),
        CongestionControl::Dctcp => json!({
            "dctcp_g": dctcp.g,
            "dctcp_initial_alpha": dctcp.initial_alpha,
        }),
        CongestionControl::Ledbat => json!({
            "ledbat_target": ledbat.target.secs(),
            "ledbat_gain": ledbat.gain,
            "ledbat_allowed_increase": ledbat.allowed_increase,
            "ledbat_min_cwnd": ledbat.min_cwnd,
            "ledbat_base_history": ledbat.base_history,
            "ledbat_filter": ledbat.filter.name(),
            "ledbat_filter_length": ledbat.filter_length,
            "ledbat_slow_start": ledbat.slow_start,
        }),
        CongestionControl::Prague => json!({
            "prague_g": prague.g,
            "prague_rtt_target": prague.rtt_target.secs(),
            "prague_rtt_transition": prague.rtt_transition,
        }),
        CongestionControl::Bbr => json!({
            "bbr_loss_thresh": bbr.loss_thresh,
            "bbr_beta": bbr.beta,
            "bbr_headroom": bbr.headroom,
            "bbr_pacing_margin": bbr.pacing_margin,
            "bbr_min_rtt_window": bbr.min_rtt_window.secs(),
            "bbr_probe_rtt_interval": bbr.probe_rtt_interval.secs(),
            "bbr_probe_rtt_duration": bbr.probe_rtt_duration.secs(),
            "bbr_ecn_factor": bbr.ecn_factor,
            "bbr_ecn_thresh": bbr.ecn_thresh,
            "bbr_ecn_max_rtt": bbr.ecn_max_rtt.secs(),
        }),
    }
}

/// As in files from before there was another feedback, where it can be.
fn ecn_json(feedback: EcnFeedback) -> Json {
    match feedback {
        EcnFeedback::Off => json!(false),
        EcnFeedback::Classic => json!(true),
        EcnFeedback::Dctcp | EcnFeedback::Accurate => json!(feedback.name()),
    }
}

fn time_or_off(span: Option<Span>) -> Json {
    span.map_or(json!(false), |span| json!(span.secs()))
}
