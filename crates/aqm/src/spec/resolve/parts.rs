use std::sync::Arc;

use super::classes::ResolvedClasses;
use super::red::plugin_curve;
use super::{DialectName, ParameterError, ParameterReader, Value};
use crate::plugin::{CurveFunction, CurveNumbers, Idea, VictimRule};
use crate::red::adaptation::{Adaptation, AdaptationContext, AdaptationKind};
use crate::red::curve::{Curve, CurveKind};
use crate::red::preset::RedPreset;
use crate::red::spacing::SpacingKind;
use crate::red::victim::{Custom, Victim, VictimKind};

/// A registered part, or that of a plugin.
#[derive(Clone, Copy)]
pub(super) enum Chosen<K, P> {
    Registered(K),
    Plugin(P),
}

impl<K, P> Chosen<K, P> {
    /// The registered part, if it is one.
    pub fn registered(self) -> Option<K> {
        match self {
            Self::Registered(kind) => Some(kind),
            Self::Plugin(_) => None,
        }
    }
}

/// The parts that a specification chooses.
pub(super) struct ChosenParts {
    pub curve: Chosen<CurveKind, &'static CurveFunction>,
    pub spacing: SpacingKind,
    pub victim: Chosen<VictimKind, &'static Arc<dyn VictimRule>>,
    pub adaptation: AdaptationKind,
}

impl ChosenParts {
    /// The names of the parts by the key of their kind.
    pub fn names(&self) -> [(&'static str, Option<&'static str>); 4] {
        [
            ("curve", self.curve.registered().map(CurveKind::name)),
            ("spacing", Some(self.spacing.name())),
            ("victim", self.victim.registered().map(VictimKind::name)),
            ("adaptation", Some(self.adaptation.name())),
        ]
    }
}

impl ParameterReader<'_> {
    /// The parts that the file names, else those of the dialect, the plugin or the preset.
    pub(super) fn parts(&mut self, preset: &RedPreset) -> Result<ChosenParts, ParameterError> {
        let idea = preset.idea.map(|plugin| &plugin.idea);
        let curve = match (self.special("curve"), idea) {
            (Some(name), _) => Chosen::Registered(CurveKind::named(name)?),
            (None, Some(Idea::Curve(p_b))) => Chosen::Plugin(p_b.as_ref()),
            (None, _) => Chosen::Registered(preset.curve),
        };
        let victim = match (self.special("victim"), idea) {
            (Some(name), _) => Chosen::Registered(VictimKind::named(name)?),
            (None, Some(Idea::Victim(rule))) => Chosen::Plugin(rule),
            (None, _) => Chosen::Registered(preset.victim),
        };
        let spacing = match (self.special("spacing"), self.dialect_name()) {
            (Some(name), _) => SpacingKind::named(name)?,
            (None, None) => preset.spacing,
            (None, Some(DialectName::Floyd93)) => SpacingKind::Floyd93,
            (None, Some(DialectName::Ns2)) => SpacingKind::Ns2Wait,
            (None, Some(DialectName::DsRed)) => SpacingKind::DsRed,
            (None, Some(DialectName::Linux)) => SpacingKind::Linux,
            (None, Some(DialectName::AsPrinted)) => preset.as_printed.1,
        };
        let adaptation = self.special("adaptation").map_or(Ok(preset.adaptation), AdaptationKind::named)?;
        let parts = ChosenParts { curve, spacing, victim, adaptation };
        for (key, name) in parts.names() {
            // A plugin's part has no name in a scenario file.
            if let Some(name) = name {
                self.known(key, Value::Word(name.into()));
            }
        }
        Ok(parts)
    }

    /// The curve of a class.
    pub(super) fn curve(
        &mut self,
        parts: &ChosenParts,
        numbers: &CurveNumbers,
    ) -> Result<Curve, ParameterError> {
        match parts.curve {
            Chosen::Registered(kind) => kind.read(self, numbers),
            Chosen::Plugin(p_b) => {
                numbers.check_order()?;
                plugin_curve(p_b, *numbers).map_err(|message| {
                    let message = format!("{}: {message}", self.name());
                    ParameterError::new("aqm", message, "a curve that does not fall, within [0, 1]")
                })
            }
        }
    }

    /// The victim rule.
    pub(super) fn victim(&mut self, parts: &ChosenParts) -> Result<Victim, ParameterError> {
        match parts.victim {
            Chosen::Plugin(rule) => Ok(Victim::Custom(Custom(Arc::clone(rule)))),
            Chosen::Registered(kind) => kind.read(self),
        }
    }

    /// The adaptation.
    pub(super) fn adaptation(
        &mut self,
        parts: &ChosenParts,
        classes: &ResolvedClasses,
        mean_packet: f64,
    ) -> Result<Adaptation, ParameterError> {
        let (kind, name) = (parts.adaptation, parts.adaptation.name());
        let curve = parts.curve.registered();
        if kind != AdaptationKind::Fixed && curve.is_some_and(|curve| !curve.has_thresholds()) {
            let message =
                format!("\"{name}\" moves max_p or thresholds, which a curve through points has not");
            return Err(ParameterError::new("adaptation", message, "\"none\", or another curve"));
        }
        if kind.multiplies_max_p() {
            self.check_max_p_above_0(name, classes)?;
        }
        let numbers: Vec<_> = classes.numbers.iter().map(|numbers| numbers.of_curve()).collect();
        let is_ns2 = self.dialect_name() == Some(DialectName::Ns2);
        let context = AdaptationContext { classes: &numbers, mean_packet, curve, is_ns2 };
        kind.read(self, &context)
    }

    /// Rules that multiply max_p never leave 0.
    fn check_max_p_above_0(&self, rule: &str, classes: &ResolvedClasses) -> Result<(), ParameterError> {
        let Some(i) = classes.numbers.iter().position(|n| n.max_p == 0.0) else { return Ok(()) };
        let name = &classes.names[i];
        let has_own = self.classes().iter().any(|c| c.name == *name && c.set.contains_key("max_p"));
        let key = if has_own { format!("class.{name}.max_p") } else { "max_p".into() };
        Err(ParameterError::new(&key, format!("\"{rule}\" multiplies max_p, which stays 0"), "0 < x <= 1"))
    }
}
