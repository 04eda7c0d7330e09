//! Components of disciplines with a queue for each flow (RFC 8290, section 4): the keyed hash of flows to queues, and the
//! order of service.

mod hash;
mod rounds;

pub(crate) use hash::Hash;
pub(crate) use rounds::Rounds;

use super::ParameterReader;
use super::flow_queues::FlowQueues;
use crate::{Parameter, Value, ValueKind};

const RFC: &str = "RFC 8290";

pub(crate) const QUEUES: Parameter =
    Parameter::new("queues", "flows", ValueKind::Number, "number of queues to which flows are hashed")
        .whole()
        .from(1.0)
        .to(65_536.0)
        .source(RFC);
pub(crate) const QUANTUM: Parameter =
    Parameter::new("quantum", "quantum", ValueKind::Bytes, "bytes that a queue may send in a round")
        .from(1.0)
        .to(1_048_576.0)
        .source(RFC);
pub(crate) const HASH_KEY: Parameter = Parameter::new(
    "hash_key",
    "",
    ValueKind::Number,
    "key of the hash of flows, or one drawn at the first packet",
)
.whole()
.from(0.0)
.to(9_007_199_254_740_991.0)
.or(&["random"])
.source(RFC);

/// Number of queues, quantum and key of the hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    queues: u32,
    quantum: u32,
    key: Option<u64>,
}

impl Shape {
    /// Read the parameters.
    pub fn read(reader: &mut ParameterReader<'_>) -> Self {
        let queues = reader.integer("queues", 1024) as u32;
        let quantum = reader.bytes("quantum", 1514) as u32;
        let key = if reader.is_set("hash_key") && reader.special("hash_key").is_none() {
            Some(reader.integer("hash_key", 0))
        } else {
            reader.word("hash_key", &[("random", None)])
        };
        if queues == 1 {
            reader.warn_without_effect(&["quantum", "hash_key", "occupancy"], "with queues = 1");
        }
        Self { queues, quantum, key }
    }

    /// Return the shape with a quantum of at least so many bytes, as Linux has it.
    pub fn with_least_quantum(self, reader: &mut ParameterReader<'_>, least: u32) -> Self {
        let quantum = self.quantum.max(least);
        if quantum != self.quantum {
            reader.rounded_in_linux("quantum", Value::Bytes(quantum.into()));
        }
        Self { quantum, ..self }
    }

    /// How many queues.
    pub fn queues(&self) -> usize {
        self.queues as usize
    }

    /// The hash.
    pub fn hash(&self) -> Hash {
        Hash::new(self.queues, self.key)
    }

    /// Empty queues.
    pub(super) fn flow_queues<P: Copy + Default>(&self) -> FlowQueues<P> {
        FlowQueues::new(self.queues())
    }

    /// The order in which they are served.
    pub fn rounds(&self, is_linux: bool) -> Rounds {
        Rounds::new(self.queues(), self.quantum, is_linux)
    }
}
