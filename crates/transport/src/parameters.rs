//! The registry of the TCP parameters: one table for documentation, schema and range checks.

/// What sort of value a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number, in the parameter's unit.
    Integer,
    /// A real number, in the parameter's unit.
    Real,
    /// A length of time; bounds are in seconds.
    Time,
    /// A length of time or `false`; bounds are in seconds.
    TimeOrOff,
    /// `true` or `false`.
    Flag,
    /// One of [`Parameter::choices`].
    Choice,
}

/// One parameter of a TCP connection.
#[derive(Debug, PartialEq)]
pub struct Parameter {
    /// Key in the `tcp = {...}` table of a scenario file; field of [`TcpConfig`](crate::TcpConfig), except
    /// for `profile` and for `clock_offset`, which each sender has its own of.
    pub key: &'static str,
    /// Sort of value.
    pub kind: Kind,
    /// Unit of the bounds and of bare numbers; empty: none.
    pub unit: &'static str,
    /// Default, as written in a scenario file or in words.
    pub default: &'static str,
    /// Least allowed value.
    pub min: Option<f64>,
    /// Greatest allowed value.
    pub max: Option<f64>,
    /// Allowed values of a choice.
    pub choices: &'static [&'static str],
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
}

impl Parameter {
    /// The parameter with this key.
    pub fn find(key: &str) -> Option<&'static Self> {
        PARAMETERS.iter().find(|p| p.key == key)
    }

    /// Whether a number is in the range; NaN never is.
    pub fn allows(&self, value: f64) -> bool {
        !value.is_nan() && self.min.is_none_or(|m| value >= m) && self.max.is_none_or(|m| value <= m)
    }

    /// The range or the choices, for messages.
    pub fn range_text(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        match (self.kind, self.min, self.max) {
            (Kind::Flag, ..) => "true or false".to_owned(),
            (Kind::Choice, ..) => self.choices.join(", "),
            (_, Some(min), Some(max)) => format!("{min} to {max}{unit}"),
            (_, Some(min), None) => format!("at least {min}{unit}"),
            (_, None, Some(max)) => format!("at most {max}{unit}"),
            (_, None, None) => "any number".to_owned(),
        }
    }
}

const fn number(
    key: &'static str,
    kind: Kind,
    unit: &'static str,
    (default, min, max): (&'static str, f64, f64),
    doc: &'static str,
    source: &'static str,
) -> Parameter {
    Parameter { key, kind, unit, default, min: Some(min), max: Some(max), choices: &[], doc, source }
}

const fn flag(
    key: &'static str,
    default: &'static str,
    doc: &'static str,
    source: &'static str,
) -> Parameter {
    Parameter { key, kind: Kind::Flag, unit: "", default, min: None, max: None, choices: &[], doc, source }
}

/// Every parameter that a scenario file can set in `tcp = {...}`.
pub const PARAMETERS: &[Parameter] = &[
    Parameter {
        key: "profile",
        kind: Kind::Choice,
        unit: "",
        default: "ns2-2.35",
        min: None,
        max: None,
        choices: &["ns2-2.35"],
        doc: "The set of semantics that the endpoints follow.",
        source: "ns-2 2.35, one-way TCP agents",
    },
    number(
        "window",
        Kind::Real,
        "packets",
        ("20p", 1.0, 1e6),
        "Receiver's window: the most packets in flight; its whole part counts.",
        "ns-2 2.35 window_",
    ),
    number(
        "packet_size",
        Kind::Integer,
        "B",
        ("1000B", 1.0, 65_535.0),
        "Payload of a data packet.",
        "ns-2 2.35 packetSize_",
    ),
    number(
        "header",
        Kind::Integer,
        "B",
        ("40B", 1.0, 1000.0),
        "TCP and IP header of a data packet; the length of the SYN.",
        "ns-2 2.35 tcpip_base_hdr_size_",
    ),
    number(
        "ack_size",
        Kind::Integer,
        "B",
        ("40B", 1.0, 65_535.0),
        "Length of an acknowledgement, to which every SACK block adds 8 B.",
        "ns-2 2.35 TCPSink packetSize_",
    ),
    number(
        "initial_window",
        Kind::Real,
        "packets",
        ("2", 1.0, 1e6),
        "Congestion window after the answer to packet 0; 1 after the loss of packet 0.",
        "ns-2 2.35 windowInit_",
    ),
    number(
        "initial_ssthresh",
        Kind::Integer,
        "packets",
        ("the whole part of window", 2.0, 1e6),
        "Slow-start threshold at the start.",
        "ns-2 2.35: ssthresh_ is set to window_",
    ),
    flag("syn", "true", "Whether packet 0 is a SYN: header only, window of one.", "ns-2 2.35 syn_"),
    number(
        "delayed_ack",
        Kind::TimeOrOff,
        "s",
        ("false", 1e-9, 60.0),
        "How long the receiver may hold an acknowledgement back; every second packet is answered at once.",
        "ns-2 2.35 TCPSink (off) and TCPSink/DelAck interval_ (100 ms)",
    ),
    flag("ecn", "false", "Whether the connection uses ECN.", "ns-2 2.35 ecn_"),
    flag(
        "limited_transmit",
        "true",
        "Whether the first two duplicate acknowledgements each send a new packet.",
        "ns-2 2.35 singledup_; RFC 3042",
    ),
    number(
        "min_rto",
        Kind::Time,
        "s",
        ("200ms", 0.0, 3600.0),
        "Least retransmission time-out, before back-off.",
        "ns-2 2.35 minrto_",
    ),
    number(
        "max_rto",
        Kind::Time,
        "s",
        ("60s", 1e-6, 3600.0),
        "Greatest retransmission time-out.",
        "ns-2 2.35 maxrto_",
    ),
    number(
        "initial_rto",
        Kind::Time,
        "s",
        ("3s", 1e-6, 3600.0),
        "Retransmission time-out before the first round-trip sample.",
        "ns-2 2.35 rtxcur_init_",
    ),
    number(
        "tick",
        Kind::Time,
        "s",
        ("10ms", 1e-6, 10.0),
        "Granularity of the sender's clock; a time-out lasts at least two ticks.",
        "ns-2 2.35 tcpTick_",
    ),
    number(
        "clock_offset",
        Kind::Time,
        "s",
        ("random in [0, tick)", 0.0, 10.0),
        "Phase of the sender's clock: it ticks when time plus this is a whole number of ticks.",
        "ns-2 2.35 boot_time_",
    ),
    number(
        "max_burst",
        Kind::Integer,
        "packets",
        ("0", 0.0, 1e6),
        "Most packets sent at one time; 0: no limit. NewReno's recovery always sends at most two.",
        "ns-2 2.35 maxburst_",
    ),
    flag(
        "timestamps",
        "false",
        "Whether every acknowledgement of new data is a round-trip sample; adds 10 B to data packets.",
        "ns-2 2.35 timestamps_, ts_option_size_",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TcpConfig, Variant};

    #[test]
    fn keys_are_unique() {
        for (i, p) in PARAMETERS.iter().enumerate() {
            assert!(PARAMETERS[..i].iter().all(|q| q.key != p.key), "{}", p.key);
        }
    }

    #[test]
    fn every_bound_is_enforced_by_check() {
        let base = TcpConfig::ns2(Variant::Sack);
        let rejects = |config: TcpConfig| config.check().unwrap_err().parameter.key;
        assert_eq!(rejects(TcpConfig { packet_size: 0, ..base.clone() }), "packet_size");
        assert_eq!(rejects(TcpConfig { header: 0, ..base.clone() }), "header");
        assert_eq!(rejects(TcpConfig { ack_size: 0, ..base.clone() }), "ack_size");
        assert_eq!(rejects(TcpConfig { initial_window: 0.0, ..base.clone() }), "initial_window");
        assert_eq!(rejects(TcpConfig { initial_ssthresh: Some(1), ..base.clone() }), "initial_ssthresh");
        assert_eq!(rejects(TcpConfig { min_rto: -1.0, ..base.clone() }), "min_rto");
        assert_eq!(rejects(TcpConfig { max_rto: 1e9, ..base.clone() }), "max_rto");
        assert_eq!(rejects(TcpConfig { initial_rto: 0.0, ..base.clone() }), "initial_rto");
        assert_eq!(rejects(TcpConfig { tick: 0.0, ..base.clone() }), "tick");
        assert_eq!(rejects(TcpConfig { max_burst: 2_000_000, ..base.clone() }), "max_burst");
        let zero = Some(aqmlab_units::Span::ZERO);
        assert_eq!(rejects(TcpConfig { delayed_ack: zero, ..base }), "delayed_ack");
    }

    #[test]
    fn ranges_read_well() {
        let text = |key| Parameter::find(key).unwrap().range_text();
        assert_eq!(text("min_rto"), "0 to 3600 s");
        assert_eq!(text("ecn"), "true or false");
        assert_eq!(text("profile"), "ns2-2.35");
    }
}
