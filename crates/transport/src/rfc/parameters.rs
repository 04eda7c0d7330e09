//! The registry of the profile's parameters: one table for documentation, schema, range checks and parsers.
//!
//! The parameters that only one controller has are listed in the controller's file.

use std::sync::LazyLock;

use super::sender::ControllerOptions;
use super::{Config, CongestionControl};
use crate::parameters::{choice, flag, flag_or_choice, number, time, time_or_off, whole};
use crate::settings::{Settings, field};
use crate::{Parameter, ValueKind};

/// Every parameter that a scenario file can set in `tcp = {...}` with `profile = "rfc"`.
pub static PARAMETERS: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
    let mut all: Vec<_> = GENERAL.parameters().chain(ControllerOptions::parameters()).collect();
    for parameter in all.iter_mut().filter(|parameter| parameter.key == "ecn") {
        parameter.default = default_feedback().leak();
    }
    all
});

/// Return the default of `ecn` in words, which depends on the controller.
fn default_feedback() -> String {
    let differs = CongestionControl::ALL.into_iter().filter(|control| control.needs_ecn());
    let differs: Vec<_> = differs.map(|c| format!("{:?} for {}", c.feedback().name(), c.name())).collect();
    format!("false, but {}", differs.join(" and "))
}

/// Parameters of all connections, independent of the controller, and the fields that hold them.
pub(super) const GENERAL: Settings<Config> = Settings(&[
    choice(
        "profile",
        "rfc",
        &["rfc"],
        "The set of semantics that the endpoints follow.",
        "RFC 9293 and Linux 6",
    ),
    choice(
        "congestion_control",
        "cubic",
        CongestionControl::NAMES,
        "How the sender's window grows and shrinks.",
        "Linux net.ipv4.tcp_congestion_control",
    )
    .is(field!(congestion_control)),
    number(
        "mss",
        ValueKind::Bytes,
        ("1448B", 64.0, 65_000.0),
        "Payload of a full segment.",
        "MTU 1500 less 20 (IPv4), 20 (TCP) and 12 (time stamps)",
    )
    .is(field!(mss)),
    number(
        "header",
        ValueKind::Bytes,
        ("52B", 0.0, 200.0),
        "IP and TCP header of a data packet, options included; 72 B with IPv6.",
        "RFC 791, RFC 9293, RFC 7323",
    )
    .is(field!(header)),
    number(
        "ack_size",
        ValueKind::Bytes,
        ("52B", 1.0, 200.0),
        "Length of an acknowledgement without SACK blocks; 72 B with IPv6.",
        "RFC 791, RFC 9293, RFC 7323",
    )
    .is(field!(ack_size)),
    whole(
        "initial_window",
        ValueKind::Packets,
        ("10p", 1.0, 1000.0),
        "Congestion window after the handshake.",
        "RFC 6928; Linux TCP_INIT_CWND",
    )
    .is(field!(initial_window)),
    whole(
        "initial_ssthresh",
        ValueKind::Packets,
        ("none", 2.0, 1e9),
        "Slow-start threshold at the start.",
        "RFC 5681, section 3.1: arbitrarily high",
    )
    .is(field!(initial_ssthresh)),
    number(
        "window",
        ValueKind::Bytes,
        ("6291456B", 64.0, 1e9),
        "Receiver's window: the most bytes in flight.",
        "Linux net.ipv4.tcp_rmem, greatest",
    )
    .is(field!(window)),
    time_or_off(
        "delayed_ack",
        ("40ms", 1e-6, 0.5),
        "How long the receiver may hold an acknowledgement back; false: not at all.",
        "Linux TCP_DELACK_MIN; RFC 5681, section 4.2: less than 500 ms",
    )
    .is(field!(delayed_ack)),
    whole(
        "ack_ratio",
        ValueKind::Packets,
        ("2p", 1.0, 1000.0),
        "Full segments that an acknowledgement answers, unless delayed_ack is over before; with 1p every segment is answered.",
        "RFC 5681, section 4.2; draft-ietf-tcpm-ack-rate-request: R",
    )
    .is(field!(ack_ratio)),
    whole(
        "reordering_threshold",
        ValueKind::Packets,
        ("1p", 0.0, 255.0),
        "Packets by which later ones overtake a missing one before it is reported at once; 0p: not at once. Needs loss_detection = \"quic\".",
        "draft-ietf-quic-ack-frequency-09, section 6.2: Reordering Threshold",
    )
    .reported_if_changed(field!(reordering_threshold)),
    whole(
        "quick_acks",
        ValueKind::Packets,
        ("16p", 0.0, 1e6),
        "How many acknowledgements at the start are not delayed.",
        "Linux TCP_MAX_QUICKACKS",
    )
    .is(field!(quick_acks)),
    time_or_off(
        "sack_compression",
        ("1ms", 1e-6, 0.5),
        "How long the fourth and later answers in a row to data out of order may be held back; false: not at all.",
        "Linux net.ipv4.tcp_comp_sack_delay_ns",
    )
    .is(field!(sack_compression)),
    time(
        "min_rto",
        ("200ms", 1e-6, 60.0),
        "Least retransmission time-out before back-off; see rto_floor_on_variance.",
        "Linux TCP_RTO_MIN; RFC 6298, section 2.4: 1 s",
    )
    .is(field!(min_rto)),
    flag(
        "rto_floor_on_variance",
        "true",
        "Whether min_rto bounds the variance term of the time-out instead of the whole of it.",
        "Linux tcp_rtt_estimator; RFC 6298, section 2.4: the whole",
    )
    .is(field!(rto_floor_on_variance)),
    time(
        "max_rto",
        ("120s", 1e-3, 1000.0),
        "Greatest retransmission time-out.",
        "Linux TCP_RTO_MAX; RFC 6298, section 2.5: at least 60 s",
    )
    .is(field!(max_rto)),
    time(
        "initial_rto",
        ("1s", 1e-3, 60.0),
        "Retransmission time-out before the first round-trip sample.",
        "RFC 6298, section 2.1; Linux TCP_TIMEOUT_INIT",
    )
    .is(field!(initial_rto)),
    choice(
        "loss_detection",
        "tcp",
        &["tcp", "quic"],
        "How losses are found: as sack and rack say, or by QUIC's rules, with QUIC's acknowledgements and lengths of headers for defaults.",
        "RFC 9002; TCP: RFC 6675, RFC 8985",
    )
    .reported_if_changed(field!(loss_detection)),
    flag("sack", "true", "Selective acknowledgements.", "RFC 2018, RFC 2883; Linux net.ipv4.tcp_sack")
    .is(field!(sack)),
    flag(
        "rack",
        "true",
        "Detect losses by time, with tail loss probes; otherwise by counting (RFC 6675). Needs sack.",
        "RFC 8985; Linux net.ipv4.tcp_recovery, tcp_early_retrans",
    )
    .is(field!(rack)),
    flag(
        "prr",
        "true",
        "The window shrinks in proportion to what arrives; otherwise at once.",
        "RFC 6937; Linux tcp_cwnd_reduction",
    )
    .is(field!(prr)),
    flag("frto", "true", "Spurious time-outs are noticed. Needs sack.", "RFC 5682; Linux net.ipv4.tcp_frto")
    .is(field!(frto)),
    flag("undo", "true", "Needless reductions of the window are taken back.", "RFC 4015, RFC 3522; Linux")
    .is(field!(undo)),
    flag(
        "limited_transmit",
        "true",
        "Duplicate acknowledgements below the threshold send new data.",
        "RFC 3042; Linux",
    )
    .is(field!(limited_transmit)),
    choice(
        "hystart",
        "linux",
        &["off", "linux", "rfc9406"],
        "How CUBIC leaves slow start before a loss.",
        "Linux tcp_cubic, parameter hystart",
    )
    .is(field!(hystart)),
    flag(
        "fast_convergence",
        "true",
        "CUBIC reduces W_max further after a loss at a smaller window than the previous one.",
        "RFC 9438, section 4.7; Linux tcp_cubic",
    )
    .is(field!(fast_convergence)),
    flag(
        "tcp_friendly",
        "true",
        "CUBIC is at least as fast as Reno.",
        "RFC 9438, section 4.3; Linux tcp_cubic, parameter tcp_friendliness",
    )
    .is(field!(tcp_friendly)),
    flag(
        "whole_segments",
        "true",
        "Windows and thresholds are whole segments, instead of real numbers.",
        "Linux snd_cwnd, snd_cwnd_cnt",
    )
    .is(field!(whole_segments)),
    flag_or_choice(
        "ecn",
        "false",
        &["off", "classic", "dctcp", "accurate"],
        "Whether the connection uses ECN, and how the receiver reports marks: that there was one (classic, or true), for which segments (dctcp), or how many (accurate).",
        "RFC 3168, RFC 8257, RFC 9768 (AccECN); Linux net.ipv4.tcp_ecn: only if asked to",
    )
    .is(field!(ecn)),
    flag(
        "pacing",
        "false",
        "Data leaves evenly spaced, at 2 (in slow start) or 1.2 windows a round trip.",
        "Linux without the fq discipline; ratios net.ipv4.tcp_pacing_*_ratio",
    )
    .is(field!(pacing)),
    flag("timestamps", "true", "Packets carry time stamps.", "RFC 7323; Linux net.ipv4.tcp_timestamps")
    .is(field!(timestamps)),
    flag(
        "idle_restart",
        "true",
        "A pause as long as the time-out shrinks the window.",
        "RFC 5681, section 4.1; Linux net.ipv4.tcp_slow_start_after_idle",
    )
    .is(field!(idle_restart)),
    flag(
        "window_growth",
        "false",
        "The receiver's window grows in slow start, with an acknowledgement that is not delayed each time it does.",
        "Linux tcp_grow_window, tcp_rcvbuf_grow",
    )
    .reported_if_changed(field!(window_growth)),
]);
