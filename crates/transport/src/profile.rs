//! The profiles, and the configuration of their connections.

use std::sync::Arc;

use crate::{Parameter, ns2, rfc};

/// A complete, pinned set of semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// The one-way agents of ns-2 2.35, see [`ns2`].
    Ns2,
    /// Byte-based TCP by the RFCs, see [`rfc`].
    Rfc,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 2] = [Self::Ns2, Self::Rfc];

    /// The name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ns2 => "ns2-2.35",
            Self::Rfc => "rfc",
        }
    }

    /// The profile with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Return all parameters of a connection of this profile.
    pub fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::Ns2 => &ns2::PARAMETERS,
            Self::Rfc => &rfc::PARAMETERS,
        }
    }

    /// Its parameter with this key.
    pub fn parameter(self, key: &str) -> Option<&'static Parameter> {
        self.parameters().iter().find(|parameter| parameter.key == key)
    }
}

/// Configuration of a TCP connection, by its profile; shared by its two ends and by all flows of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum TcpConfig {
    /// A connection of the ns-2 profile.
    Ns2(Arc<ns2::Config>),
    /// A connection of the RFC profile.
    Rfc(Arc<rfc::Config>),
}

impl TcpConfig {
    /// Its profile.
    pub fn profile(&self) -> Profile {
        match self {
            Self::Ns2(_) => Profile::Ns2,
            Self::Rfc(_) => Profile::Rfc,
        }
    }

    /// Return the name in tables: ns-2's variant, or `tcp-` and the congestion control.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Ns2(config) => config.variant.name(),
            Self::Rfc(config) => config.congestion_control.label(),
        }
    }

    /// Payload of a full packet in bytes.
    pub fn payload(&self) -> u32 {
        match self {
            Self::Ns2(config) => config.packet_size,
            Self::Rfc(config) => config.mss,
        }
    }

    /// Length of a full packet in bytes, headers included.
    pub fn full_length(&self) -> u32 {
        match self {
            Self::Ns2(config) => config.data_length(1),
            Self::Rfc(config) => config.mss + config.header,
        }
    }

    /// Whether the connection uses ECN.
    pub fn ecn(&self) -> bool {
        match self {
            Self::Ns2(config) => config.ecn,
            Self::Rfc(config) => config.ecn.is_on(),
        }
    }

    /// Whether the receiver answers every packet at once, so that it never has a timer.
    pub fn answers_at_once(&self) -> bool {
        match self {
            Self::Ns2(config) => config.delayed_ack.is_none(),
            Self::Rfc(config) => config.delayed_ack.is_none() && config.sack_compression.is_none(),
        }
    }
}

/// Call `act` without inlining, so that the compiler still inlines the other profile's fast path.
#[inline(never)]
pub(crate) fn out_of_line<T>(act: impl FnOnce() -> T) -> T {
    act()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ValueKind;
    use crate::ns2::Variant;
    use crate::rfc::CongestionControl;

    #[test]
    fn names_round_trip() {
        for profile in Profile::ALL {
            assert_eq!(Profile::from_name(profile.name()), Some(profile));
        }
        assert_eq!(Profile::from_name("rfc793"), None);
    }

    #[test]
    fn every_parameter_is_described_once_in_its_profile() {
        for profile in Profile::ALL {
            let parameters = profile.parameters();
            for (i, p) in parameters.iter().enumerate() {
                assert!(parameters[..i].iter().all(|q| q.key != p.key), "{}", p.key);
                let documented = [p.default, p.doc, p.source].iter().all(|text| !text.is_empty());
                assert!(documented, "{} of {}", p.key, profile.name());
                let needs_words = p.kind == ValueKind::Choice;
                let may_have_words = needs_words || p.kind == ValueKind::Flag;
                assert!(if p.choices.is_empty() { !needs_words } else { may_have_words }, "{}", p.key);
            }
            assert_eq!(profile.parameter("profile").map(|p| p.default), Some(profile.name()));
        }
    }

    #[test]
    fn receivers_that_may_wait() {
        let mut config = rfc::Config::linux(CongestionControl::Reno);
        assert!(!TcpConfig::Rfc(config.clone().into()).answers_at_once());
        config.delayed_ack = None;
        assert!(!TcpConfig::Rfc(config.clone().into()).answers_at_once());
        config.sack_compression = None;
        assert!(TcpConfig::Rfc(config.into()).answers_at_once());
        assert!(TcpConfig::Ns2(ns2::Config::ns2(Variant::Reno).into()).answers_at_once());
    }
}
