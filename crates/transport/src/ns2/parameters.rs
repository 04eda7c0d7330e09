//! The registry of the parameters of ns-2's agents.

use std::sync::LazyLock;

use super::Config;
use crate::parameters::{choice, flag, number, time, time_or_off, whole};
use crate::settings::{Settings, field};
use crate::{Parameter, ValueKind};

/// Every parameter that a scenario file can set in `tcp = {...}` of a flow of this profile.
pub static PARAMETERS: LazyLock<Vec<Parameter>> = LazyLock::new(|| SETTINGS.parameters().collect());

/// The parameters and the fields that hold them.
pub(super) const SETTINGS: Settings<Config> = Settings(&[
    choice(
        "profile",
        "ns2-2.35",
        &["ns2-2.35"],
        "The set of semantics that the endpoints follow.",
        "ns-2 2.35, one-way TCP agents",
    ),
    number(
        "window",
        ValueKind::Packets,
        ("20p", 1.0, 1e6),
        "Receiver's window: the most packets in flight; its whole part counts.",
        "ns-2 2.35 window_",
    )
    .is(field!(window)),
    number(
        "packet_size",
        ValueKind::Bytes,
        ("1000B", 1.0, 65_535.0),
        "Payload of a data packet.",
        "ns-2 2.35 packetSize_",
    )
    .is(field!(packet_size)),
    number(
        "header",
        ValueKind::Bytes,
        ("40B", 1.0, 1000.0),
        "TCP and IP header of a data packet; the length of the SYN.",
        "ns-2 2.35 tcpip_base_hdr_size_",
    )
    .is(field!(header)),
    number(
        "ack_size",
        ValueKind::Bytes,
        ("40B", 1.0, 65_535.0),
        "Length of an acknowledgement, to which every SACK block adds 8 B.",
        "ns-2 2.35 TCPSink packetSize_",
    )
    .is(field!(ack_size)),
    number(
        "initial_window",
        ValueKind::Packets,
        ("2", 1.0, 1e6),
        "Congestion window after the answer to packet 0; 1 after the loss of packet 0.",
        "ns-2 2.35 windowInit_",
    )
    .is(field!(initial_window)),
    whole(
        "initial_ssthresh",
        ValueKind::Packets,
        ("the whole part of window", 2.0, 1e6),
        "Slow-start threshold at the start.",
        "ns-2 2.35: ssthresh_ is set to window_",
    )
    .is(field!(initial_ssthresh)),
    flag("syn", "true", "Whether packet 0 is a SYN: header only, window of one.", "ns-2 2.35 syn_")
        .is(field!(syn)),
    time_or_off(
        "delayed_ack",
        ("false", 1e-9, 60.0),
        "How long the receiver may hold an acknowledgement back; every second packet is answered at once.",
        "ns-2 2.35 TCPSink (off) and TCPSink/DelAck interval_ (100 ms)",
    )
    .is(field!(delayed_ack)),
    flag("ecn", "false", "Whether the connection uses ECN.", "ns-2 2.35 ecn_").is(field!(ecn)),
    flag(
        "limited_transmit",
        "true",
        "Whether the first two duplicate acknowledgements each send a new packet.",
        "ns-2 2.35 singledup_; RFC 3042",
    )
    .is(field!(limited_transmit)),
    time(
        "min_rto",
        ("200ms", 0.0, 3600.0),
        "Least retransmission time-out, before back-off.",
        "ns-2 2.35 minrto_",
    )
    .is(field!(min_rto)),
    time("max_rto", ("60s", 1e-6, 3600.0), "Greatest retransmission time-out.", "ns-2 2.35 maxrto_")
        .is(field!(max_rto)),
    time(
        "initial_rto",
        ("3s", 1e-6, 3600.0),
        "Retransmission time-out before the first round-trip sample.",
        "ns-2 2.35 rtxcur_init_",
    )
    .is(field!(initial_rto)),
    time(
        "tick",
        ("10ms", 1e-6, 10.0),
        "Granularity of the sender's clock; a time-out lasts at least two ticks.",
        "ns-2 2.35 tcpTick_",
    )
    .is(field!(tick)),
    time(
        "clock_offset",
        ("random in [0, tick)", 0.0, 10.0),
        "Phase of the sender's clock: it ticks when time plus this is a whole number of ticks.",
        "ns-2 2.35 boot_time_",
    ),
    whole(
        "max_burst",
        ValueKind::Packets,
        ("0", 0.0, 1e6),
        "Most packets sent at one time; 0: no limit. NewReno's recovery always sends at most two.",
        "ns-2 2.35 maxburst_",
    )
    .is(field!(max_burst)),
    flag(
        "timestamps",
        "false",
        "Whether every acknowledgement of new data is a round-trip sample; adds 10 B to data packets.",
        "ns-2 2.35 timestamps_, ts_option_size_",
    )
    .is(field!(timestamps)),
]);

#[cfg(test)]
mod tests {
    use crate::ns2::{Config, Variant};
    use crate::{Configuration, Profile};

    #[test]
    fn every_bound_is_enforced_by_check() {
        let base = Config::ns2(Variant::Sack);
        let rejects = |config: Config| config.check().unwrap_err().parameter.key;
        assert_eq!(rejects(Config { packet_size: 0, ..base.clone() }), "packet_size");
        assert_eq!(rejects(Config { header: 0, ..base.clone() }), "header");
        assert_eq!(rejects(Config { ack_size: 0, ..base.clone() }), "ack_size");
        assert_eq!(rejects(Config { initial_window: 0.0, ..base.clone() }), "initial_window");
        assert_eq!(rejects(Config { initial_ssthresh: Some(1), ..base.clone() }), "initial_ssthresh");
        assert_eq!(rejects(Config { min_rto: -1.0, ..base.clone() }), "min_rto");
        assert_eq!(rejects(Config { max_rto: 1e9, ..base.clone() }), "max_rto");
        assert_eq!(rejects(Config { initial_rto: 0.0, ..base.clone() }), "initial_rto");
        assert_eq!(rejects(Config { tick: 0.0, ..base.clone() }), "tick");
        assert_eq!(rejects(Config { max_burst: 2_000_000, ..base.clone() }), "max_burst");
        let zero = Some(aqmlab_units::Span::ZERO);
        assert_eq!(rejects(Config { delayed_ack: zero, ..base }), "delayed_ack");
    }

    #[test]
    fn ranges_read_well() {
        let text = |key| Profile::Ns2.parameter(key).unwrap().range_text();
        assert_eq!(text("min_rto"), "0 to 3600 s");
        assert_eq!(text("ecn"), "true or false");
        assert_eq!(text("profile"), "ns2-2.35");
    }
}
