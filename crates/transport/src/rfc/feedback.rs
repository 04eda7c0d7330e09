//! How marks are reported.

use crate::settings::{Slot, Value};

/// How the receiver reports marked packets to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EcnFeedback {
    /// The connection does not use ECN.
    Off,
    /// Echo a mark until the sender sets CWR (RFC 3168).
    Classic,
    /// Report for each acknowledgement whether its segments were marked (RFC 8257, section 3.2).
    Dctcp,
    /// Report the number of marked packets, modulo 8 (AccECN, RFC 9768).
    Accurate,
}

impl EcnFeedback {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Off, Self::Classic, Self::Dctcp, Self::Accurate];

    /// The name in scenario files, in which the first two may be `false` and `true` too.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Classic => "classic",
            Self::Dctcp => "dctcp",
            Self::Accurate => "accurate",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }

    /// Whether the connection uses ECN.
    pub fn is_on(self) -> bool {
        self != Self::Off
    }
}

/// As a flag where it says enough: off, and classic for on.
impl Slot for EcnFeedback {
    fn get(&self) -> Value<'static> {
        match self {
            Self::Off => Value::Flag(false),
            Self::Classic => Value::Flag(true),
            Self::Dctcp | Self::Accurate => Value::Word(self.name()),
        }
    }

    fn set(&mut self, value: Value<'_>) -> bool {
        let new = match value {
            Value::Flag(false) => Some(Self::Off),
            Value::Flag(true) => Some(Self::Classic),
            Value::Word(word) => Self::from_name(word),
            _ => None,
        };
        new.map(|new| *self = new).is_some()
    }
}
