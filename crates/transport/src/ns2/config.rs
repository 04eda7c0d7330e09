//! Configuration of a connection of the ns-2 profile.

use aqmlab_units::Span;

use super::TIMESTAMP_BYTES;
use super::parameters::SETTINGS;
use crate::{Configuration, Profile, Value};

/// How a sender finds and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// Fast retransmit, then slow start (Jacobson 1988).
    Tahoe,
    /// Fast retransmit and fast recovery (Jacobson 1990, RFC 2001).
    Reno,
    /// Fast recovery that lasts until the whole window is repaired (RFC 2582, the impatient variant).
    NewReno,
    /// Selective acknowledgement with a count of the packets in the pipe (Fall and Floyd 1996).
    Sack,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 4] = [Self::Tahoe, Self::Reno, Self::NewReno, Self::Sack];

    /// The name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tahoe => "tahoe",
            Self::Reno => "reno",
            Self::NewReno => "newreno",
            Self::Sack => "sack",
        }
    }

    /// The variant with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.name() == name)
    }
}

/// Configuration of a TCP connection, shared by its two ends and by all flows of a group.
///
/// [`Configuration::check`] checks the values against the ranges of [`PARAMETERS`](super::PARAMETERS); the endpoints
/// rely on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Loss repair.
    pub variant: Variant,
    /// Receiver's window in packets; its whole part counts.
    pub window: f64,
    /// Payload of a data packet in bytes.
    pub packet_size: u32,
    /// TCP and IP header of a data packet in bytes.
    pub header: u32,
    /// Length of an acknowledgement in bytes, without SACK blocks.
    pub ack_size: u32,
    /// Congestion window after the answer to packet 0, in packets.
    pub initial_window: f64,
    /// Slow-start threshold at the start, in packets; `None`: the whole part of `window`.
    pub initial_ssthresh: Option<u32>,
    /// Whether packet 0 is a SYN: header only, sent with a window of one.
    pub syn: bool,
    /// How long the receiver may hold an acknowledgement back; `None`: every packet is answered at once.
    pub delayed_ack: Option<Span>,
    /// Whether the connection uses ECN.
    pub ecn: bool,
    /// Whether the first two duplicate acknowledgements each send a new packet (RFC 3042).
    pub limited_transmit: bool,
    /// Least retransmission time-out before back-off, in seconds.
    pub min_rto: f64,
    /// Greatest retransmission time-out, in seconds.
    pub max_rto: f64,
    /// Retransmission time-out before the first round-trip sample, in seconds.
    pub initial_rto: f64,
    /// Granularity of the sender's clock, in seconds.
    pub tick: f64,
    /// Most packets sent at one time; 0: no limit.
    pub max_burst: u32,
    /// Whether every acknowledgement of new data is a round-trip sample, at the price of 10 B per data
    /// packet.
    pub timestamps: bool,
}

impl Config {
    /// The defaults of ns-2 2.35's agents.
    pub const fn ns2(variant: Variant) -> Self {
        Self {
            variant,
            window: 20.0,
            packet_size: 1000,
            header: 40,
            ack_size: 40,
            initial_window: 2.0,
            initial_ssthresh: None,
            syn: true,
            delayed_ack: None,
            ecn: false,
            limited_transmit: true,
            min_rto: 0.2,
            max_rto: 60.0,
            initial_rto: 3.0,
            tick: 0.01,
            max_burst: 0,
            timestamps: false,
        }
    }

    /// Length of data packet `seq` in bytes, headers included: the same for all but packet 0.
    pub fn data_length(&self, seq: u32) -> u32 {
        match (seq, self.syn) {
            (0, true) => self.header,
            (0, false) => self.packet_size,
            _ => self.packet_size + self.header + if self.timestamps { TIMESTAMP_BYTES } else { 0 },
        }
    }
}

impl Configuration for Config {
    const PROFILE: Profile = Profile::Ns2;

    fn get(&self, key: &str) -> Option<Value<'static>> {
        SETTINGS.get(self, key)
    }

    fn set(&mut self, key: &str, value: Value<'_>) -> bool {
        SETTINGS.set(self, key, value)
    }

    fn effective(&self) -> Vec<(&'static str, Value<'static>)> {
        SETTINGS.reported(self, &Self::ns2(self.variant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for variant in Variant::ALL {
            assert_eq!(Variant::from_name(variant.name()), Some(variant));
        }
        assert_eq!(Variant::from_name("vegas"), None);
    }

    #[test]
    fn defaults_are_valid() {
        for variant in Variant::ALL {
            assert!(Config::ns2(variant).check().is_ok());
        }
    }

    #[test]
    fn an_invalid_value_is_named_with_its_range() {
        let config = Config { window: 0.5, ..Config::ns2(Variant::Reno) };
        let error = config.check().unwrap_err();
        assert_eq!(error.parameter.key, "window");
        assert_eq!(error.to_string(), "window is 0.5 packets, allowed: 1 to 1000000 packets");
        let config = Config { tick: f64::NAN, ..Config::ns2(Variant::Reno) };
        assert_eq!(config.check().unwrap_err().parameter.key, "tick");
    }
}
