use aqmlab_transport::{ns2, rfc};
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
    json!({
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
        "ecn": config.ecn,
        "pacing": config.pacing,
        "timestamps": config.timestamps,
        "idle_restart": config.idle_restart,
    })
}

fn time_or_off(span: Option<Span>) -> Json {
    span.map_or(json!(false), |span| json!(span.secs()))
}
