#[cfg(feature = "red")]
mod arithmetic;
#[cfg(feature = "red")]
mod classes;
#[cfg(any(feature = "red", feature = "schedulers"))]
mod code_points;
#[cfg(feature = "red")]
mod parts;
#[cfg(feature = "red")]
mod red;

use super::{LinkContext, ParameterError, ParameterReader, Spec, Value};
#[cfg(feature = "l4s")]
use crate::disciplines::DualPi2Settings;
use crate::disciplines::{Parts, plugin};
use crate::preset::Make;
use crate::red::DialectName;
#[cfg(feature = "red")]
use crate::red::{
    ClassState, Params, PartKind, Red, adaptation::Adaptation, average::Average, curve::Curve, victim,
    victim::Victim,
};
use crate::{Discipline, DropTail, Room};

#[cfg(feature = "schedulers")]
pub(crate) use code_points::{CodePoints, code_points};

/// The size of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Packets waiting.
    Packets(u32),
    /// Bytes waiting.
    Bytes(u64),
}

/// A discipline's parameters, checked, with every automatic value filled in.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The name of its preset.
    pub preset: &'static str,
    kind: ResolvedKind,
    /// Key and effective value of every parameter.
    pub effective: Vec<(String, Value)>,
    /// Warnings about valid but probably mistaken settings.
    pub warnings: Vec<String>,
    /// Keys of the parameters that have no effect with the others as they are, set or not.
    pub without_effect: Vec<&'static str>,
}

#[derive(Clone, Debug)]
enum ResolvedKind {
    DropTail {
        limit: Limit,
        strict_limit: bool,
    },
    #[cfg(feature = "red")]
    Red(Box<RedParts>),
    NonRed(Parts),
}

/// The parts of a RED queue.
#[cfg(feature = "red")]
#[derive(Clone, Debug)]
pub struct RedParts {
    /// Classes, response, buffer and switches.
    pub params: Params,
    /// The average of each class, before the first arrival.
    pub average: Average,
    /// Curve and spacing of each class.
    pub class_states: Vec<ClassState>,
    /// The victim rule.
    pub victim: Victim,
    /// How parameters move.
    pub adaptation: Adaptation,
}

/// Return whether a key is that of a parameter of this name, or of one of a class.
fn is_of(key: &str, name: &str) -> bool {
    key.strip_suffix(name).is_some_and(|class| class.is_empty() || class.ends_with('.'))
}

impl Resolved {
    /// A fresh queue.
    pub fn build<P: Copy + Default>(&self) -> Discipline<P> {
        match &self.kind {
            ResolvedKind::DropTail { limit, strict_limit } => {
                Discipline::DropTail(Box::new(DropTail::new(Room::new(*limit, *strict_limit))))
            }
            #[cfg(feature = "red")]
            ResolvedKind::Red(parts) => {
                let RedParts { params, average, class_states, victim, adaptation } = &**parts;
                let (class_states, victim, adaptation) =
                    (class_states.clone(), victim.clone(), adaptation.clone());
                Discipline::Red(Box::new(Red::new(params.clone(), average, class_states, victim, adaptation)))
            }
            ResolvedKind::NonRed(parts) => Discipline::NonRed(Box::new(parts.build())),
        }
    }

    /// How much may wait, where that is all that there is to know: drop-tail.
    pub fn room(&self) -> Option<Room> {
        match self.kind {
            ResolvedKind::DropTail { limit, strict_limit } => Some(Room::new(limit, strict_limit)),
            _ => None,
        }
    }

    /// The size of the buffer, where it has one.
    pub fn limit(&self) -> Option<Limit> {
        self.effective.iter().find_map(|(key, value)| match value {
            Value::Packets(n) if key == "limit" => Some(Limit::Packets(n.min(f64::from(u32::MAX)) as u32)),
            Value::Bytes(b) if key == "limit" => Some(Limit::Bytes(*b)),
            _ => None,
        })
    }

    /// Whether the discipline, or that of a class, may ask for the hosts of packets ([`Host::hosts`](crate::Host::hosts)).
    pub fn reads_hosts(&self) -> bool {
        self.effective.iter().any(|(key, _)| is_of(key, "isolation"))
    }

    /// Whether the discipline looks through address translation, so that it sees the hosts behind a translator.
    pub fn looks_through_nat(&self) -> bool {
        let is_set = |(key, value): &(String, Value)| is_of(key, "nat") && matches!(value, Value::Flag(true));
        self.effective.iter().any(is_set)
    }

    /// Whether the discipline holds packets back though the link is free ([`Qdisc::not_before`](crate::Qdisc::not_before)).
    pub fn is_shaped(&self) -> bool {
        let is_set = |(key, value): &(String, Value)| match value {
            Value::Rate(_) => key == "rate",
            Value::Flag(on) => *on && key == "autorate_ingress",
            _ => false,
        };
        self.effective.iter().any(is_set)
    }

    /// Whether the discipline reads delays of pings ([`Qdisc::on_answer`](crate::Qdisc::on_answer)).
    pub fn reads_delays(&self) -> bool {
        self.effective.iter().any(|(key, value)| key == "autorate" && *value == Value::Flag(true))
    }

    /// The parts of a RED queue.
    #[cfg(feature = "red")]
    pub fn red(&self) -> Option<&RedParts> {
        match &self.kind {
            ResolvedKind::Red(parts) => Some(parts),
            ResolvedKind::DropTail { .. } | ResolvedKind::NonRed(_) => None,
        }
    }

    /// Return the keys of the parameters that have an effect on flows with priority only: PC-RED's, without its search.
    #[cfg(feature = "red")]
    pub fn priority_keys(&self) -> Vec<&'static str> {
        if !self.red().is_some_and(|parts| matches!(parts.victim, Victim::PcRed(_))) {
            return Vec::new();
        }
        let rule = PartKind::find("victim").and_then(|kind| kind.part("pc-red"));
        let keys = rule.iter().flat_map(|rule| rule.parameters).map(|parameter| parameter.key);
        keys.filter(|key| *key != victim::SEARCH.key).collect()
    }

    /// The settings of DualPI2 in the dialect of Linux; `None` for all other queues.
    #[cfg(feature = "l4s")]
    pub fn dualpi2_in_linux(&self) -> Option<&DualPi2Settings> {
        match &self.kind {
            ResolvedKind::NonRed(parts) => parts.dualpi2_in_linux(),
            _ => None,
        }
    }

    /// The parameters of a non-RED discipline.
    #[cfg(any(feature = "codel", feature = "pie"))]
    pub(crate) fn non_red(&self) -> Option<&Parts> {
        match &self.kind {
            ResolvedKind::NonRed(parts) => Some(parts),
            _ => None,
        }
    }

    /// Return the keys of the settings that a queue at work can change ([`Qdisc::take_settings`](crate::Qdisc::take_settings)): of RED with one class and
    /// without adaptation those of the curve. Empty if it can change none.
    pub fn changing_keys(&self) -> Vec<&'static str> {
        match &self.kind {
            #[cfg(feature = "red")]
            ResolvedKind::Red(parts) if parts.class_states.len() == 1 && parts.adaptation.is_none() => {
                let of_curve = PartKind::find("curve").map(|kind| kind.parameters()).unwrap_or_default();
                ["min_th", "max_th", "max_p"].into_iter().chain(of_curve.iter().map(|p| p.key)).collect()
            }
            ResolvedKind::NonRed(parts) => parts.changing_keys().to_vec(),
            _ => Vec::new(),
        }
    }

    /// Check that a queue at work can take over these settings.
    ///
    /// # Errors
    /// If they differ in a parameter that cannot change.
    pub fn can_become(&self, settings: &Self) -> Result<(), ParameterError> {
        let keys = self.changing_keys();
        let fixed = |list: &[(String, Value)]| -> Vec<(String, Value)> {
            list.iter().filter(|(key, _)| !keys.contains(&key.as_str())).cloned().collect()
        };
        let (own, other) = (fixed(&self.effective), fixed(&settings.effective));
        if self.preset == settings.preset && own == other {
            return Ok(());
        }
        let differs = other.iter().find(|entry| !own.contains(entry));
        let key = differs.map_or("aqm", |(key, _)| key.as_str());
        Err(ParameterError::new(key, "cannot change while a run lasts".into(), &keys.join(", ")))
    }

    /// The mean packet size in bytes, where the discipline has one.
    pub fn mean_packet(&self) -> Option<u32> {
        self.effective.iter().find_map(|(key, value)| match value {
            Value::Bytes(b) if key == "mean_packet" => u32::try_from(*b).ok(),
            _ => None,
        })
    }

    /// The curve, where the discipline has one; that of the last class of several.
    #[cfg(feature = "red")]
    pub fn curve(&self) -> Option<&Curve> {
        match &self.kind {
            ResolvedKind::DropTail { .. } | ResolvedKind::NonRed(_) => None,
            ResolvedKind::Red(parts) => parts.class_states.last().map(|state| &state.curve),
        }
    }
}

impl Spec {
    /// Fills in what was left to the preset, the dialect or the link, and checks parameters against each other.
    ///
    /// # Errors
    /// Everything that is wrong, in one go.
    pub fn resolve(&self, link: LinkContext) -> Result<Resolved, Vec<ParameterError>> {
        let mut reader = ParameterReader::new(self, link);
        let kind = match &self.preset.make {
            Make::DropTail => reader.drop_tail(),
            #[cfg(feature = "red")]
            Make::Red(preset) => ResolvedKind::Red(Box::new(reader.red(preset)?)),
            Make::NonRed(kind) => ResolvedKind::NonRed((kind.read)(&mut reader)?),
            Make::Plugin { definition, .. } => ResolvedKind::NonRed(plugin::parts(definition, &mut reader)?),
        };
        let ParameterReader { effective, warnings, without_effect, errors, .. } = reader;
        if errors.is_empty() {
            Ok(Resolved { preset: self.preset.name, kind, effective, warnings, without_effect })
        } else {
            Err(errors)
        }
    }
}

impl ParameterReader<'_> {
    fn drop_tail(&mut self) -> ResolvedKind {
        let limit = self.limit(1000);
        let strict_limit = self.flag("strict_limit", self.dialect_name() == Some(DialectName::Ns2));
        if strict_limit && limit == Limit::Packets(1) {
            let message = "with strict_limit a queue of limit 1p would drop every packet".into();
            self.error("limit", message, "at least 2p");
        }
        ResolvedKind::DropTail { limit, strict_limit }
    }
}

impl From<Limit> for Value {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Packets(n) => Self::Packets(f64::from(n)),
            Limit::Bytes(b) => Self::Bytes(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_of;

    #[test]
    fn keys_of_classes_end_with_the_name() {
        let found = ["nat", "class.in.nat", "dnat", "class.nat.in", ""].map(|key| is_of(key, "nat"));
        assert_eq!(found, [true, true, false, false, false]);
    }
}
