mod arithmetic;
mod classes;
mod parts;

use aqmlab_units::Span;

use super::{LinkContext, ParameterError, ParameterReader, Spec, Value};
use crate::disciplines::{Parts, plugin};
use crate::plugin::{CurveFunction, CurveNumbers};
use crate::preset::{Make, RedPreset};
use crate::red::adaptation::Adaptation;
use crate::red::average::Average;
use crate::red::curve::{Curve, CurveKind, Points};
use crate::red::response::Response;
use crate::red::spacing::Spacing;
use crate::red::victim::Victim;
use crate::red::{
    AtIdle, ByteScaling, ClassState, Crossing, Dialect, DialectName, ForcedAt, IdleWhen, PART_KINDS, Params,
    PartInfo, PartKind, Red,
};
use crate::registry::{CLASS, MODE_WORDS};
use crate::{Discipline, DropTail, Room, name_of, value_of};

pub(crate) use classes::{CodePoints, code_points};

use arithmetic::{Arithmetic, check_idle_rule};
use classes::ResolvedClasses;
use parts::ChosenParts;

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
}

#[derive(Clone, Debug)]
enum ResolvedKind {
    DropTail { limit: Limit, strict_limit: bool },
    Red(Box<RedParts>),
    NonRed(Parts),
}

/// The parts of a RED queue.
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

impl Resolved {
    /// A fresh queue.
    pub fn build<P: Copy + Default>(&self) -> Discipline<P> {
        match &self.kind {
            ResolvedKind::DropTail { limit, strict_limit } => {
                Discipline::DropTail(Box::new(DropTail::new(Room::new(*limit, *strict_limit))))
            }
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
            ResolvedKind::Red(_) | ResolvedKind::NonRed(_) => None,
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

    /// The parts of a RED queue.
    pub fn red(&self) -> Option<&RedParts> {
        match &self.kind {
            ResolvedKind::Red(parts) => Some(parts),
            ResolvedKind::DropTail { .. } | ResolvedKind::NonRed(_) => None,
        }
    }

    /// The mean packet size in bytes, where the discipline has one.
    pub fn mean_packet(&self) -> Option<u32> {
        self.effective.iter().find_map(|(key, value)| match value {
            Value::Bytes(b) if key == "mean_packet" => u32::try_from(*b).ok(),
            _ => None,
        })
    }

    /// The curve, where the discipline has one; that of the last class of several.
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
        match &self.preset.make {
            Make::DropTail => self.resolve_drop_tail(),
            Make::Red(preset) => self.resolve_red(preset, link),
            Make::NonRed(kind) => self.resolve_non_red(link, |reader| (kind.read)(reader)),
            Make::Plugin { definition, .. } => {
                self.resolve_non_red(link, |reader| plugin::parts(definition, reader))
            }
        }
    }

    fn resolved(
        &self,
        kind: ResolvedKind,
        effective: Vec<(String, Value)>,
        warnings: Vec<String>,
    ) -> Resolved {
        Resolved { preset: self.preset.name, kind, effective, warnings }
    }

    fn resolve_non_red(
        &self,
        link: LinkContext,
        read: impl FnOnce(&mut ParameterReader<'_>) -> Result<Parts, Vec<ParameterError>>,
    ) -> Result<Resolved, Vec<ParameterError>> {
        let mut reader = ParameterReader::new(self, link);
        let parts = read(&mut reader)?;
        let ParameterReader { effective, warnings, errors, .. } = reader;
        let kind = ResolvedKind::NonRed(parts);
        if errors.is_empty() { Ok(self.resolved(kind, effective, warnings)) } else { Err(errors) }
    }

    pub(super) fn word(&self, key: &str) -> Option<&str> {
        match self.set.get(key) {
            Some(Value::Word(w)) => Some(w),
            _ => None,
        }
    }

    /// Return the value of the word to which a parameter is set.
    pub(super) fn value<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Option<T> {
        value_of(words, self.word(key)?)
    }

    pub(super) fn flag(&self, key: &str, default: bool) -> bool {
        matches!(self.set.get(key), Some(Value::Flag(true)))
            || (default && !matches!(self.set.get(key), Some(Value::Flag(false))))
    }

    pub(super) fn seconds(&self, key: &str) -> Option<f64> {
        match self.set.get(key) {
            Some(Value::Seconds(s)) => Some(*s),
            _ => None,
        }
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        match self.set.get(key) {
            Some(Value::Number(x)) => Some(*x),
            Some(Value::Bytes(b)) => Some(*b as f64),
            _ => None,
        }
    }

    /// A queue length in packets, bytes divided by the mean packet.
    pub(super) fn packets(&self, key: &str, mean_packet: f64) -> Option<f64> {
        match self.set.get(key) {
            Some(Value::Number(x) | Value::Packets(x)) => Some(*x),
            Some(Value::Bytes(b)) => Some(*b as f64 / mean_packet),
            _ => None,
        }
    }

    pub(super) fn limit(&self, default: u32) -> Limit {
        match self.set.get("limit") {
            Some(Value::Number(x) | Value::Packets(x)) => Limit::Packets(x.min(f64::from(u32::MAX)) as u32),
            Some(Value::Bytes(b)) => Limit::Bytes(*b),
            _ => Limit::Packets(default),
        }
    }

    fn dialect_name(&self) -> Option<DialectName> {
        self.value("dialect", &DialectName::ALL)
    }

    fn resolve_drop_tail(&self) -> Result<Resolved, Vec<ParameterError>> {
        let strict_limit = self.flag("strict_limit", self.dialect_name() == Some(DialectName::Ns2));
        let limit = self.limit(1000);
        if strict_limit && limit == Limit::Packets(1) {
            let message = "with strict_limit a queue of limit 1p would drop every packet".into();
            return Err(vec![ParameterError { key: "limit".into(), message, allowed: "at least 2p".into() }]);
        }
        let effective = named(vec![("limit", limit.into()), ("strict_limit", Value::Flag(strict_limit))]);
        let kind = ResolvedKind::DropTail { limit, strict_limit };
        Ok(self.resolved(kind, effective, Vec::new()))
    }

    fn resolve_red(&self, preset: &RedPreset, link: LinkContext) -> Result<Resolved, Vec<ParameterError>> {
        let mut numbers = self.numbers(preset, link);
        let dialect = self.dialect(preset);
        let in_bytes = self.value("mode", &MODE_WORDS).unwrap_or_default();
        // ns-2 measures a limit given in packets in mean packets once the queue is measured in bytes.
        if let (Limit::Packets(n), true) = (numbers.limit, in_bytes) {
            numbers.limit = Limit::Bytes((f64::from(n) * numbers.mean_packet) as u64);
        }
        let parts = self.parts(preset)?;
        let response = if self.flag("ecn", false) {
            let Dialect { mark_up_to: up_to, mark_at_bound: at_bound, mark_forced: forced, .. } = dialect;
            Response::Mark { up_to, at_bound, forced }
        } else {
            Response::Drop
        };
        let packets_per_s = link.rate.bps() / (8.0 * numbers.mean_packet);
        let (arithmetic, average) = self.average(&parts, &dialect, in_bytes, packets_per_s, &mut numbers)?;
        let byte_mode = in_bytes.then_some(numbers.mean_packet);
        let mut reader = ParameterReader::new(self, link);
        reader.effective = numbers.effective(&parts, &dialect, in_bytes, response != Response::Drop);
        reader.effective.push(("arithmetic".into(), Value::Word(arithmetic.name().into())));
        reader.warnings = numbers.warnings(parts.curve.registered(), in_bytes);
        let spacing = parts.spacing.read(&mut reader);
        let spacing = Spacing::new(spacing, byte_mode.map(|mean| (dialect.byte_scaling, mean)));
        let spacing = if arithmetic == Arithmetic::Exact { spacing } else { spacing.in_integers() };
        let classes = self.classes(preset, &numbers, &mut reader.effective)?;
        if arithmetic != Arithmetic::Exact {
            check_idle_rule(&classes.classes, &dialect)?;
        }
        let class_states = self.class_states(&parts, &classes, arithmetic, &spacing, &mut reader)?;
        let victim = self.victim(&parts, &mut reader)?;
        let adaptation = self.adaptation(&parts, &classes, numbers.mean_packet, &mut reader)?;
        let ParameterReader { effective, mut warnings, errors, .. } = reader;
        if !errors.is_empty() {
            return Err(errors);
        }
        warnings.extend(self.without_effect(&parts));
        warnings.extend(self.overruled(&classes));
        let params = Params { classes: classes.classes, response, limit: numbers.limit, byte_mode, dialect };
        let kind =
            ResolvedKind::Red(Box::new(RedParts { params, average, class_states, victim, adaptation }));
        Ok(self.resolved(kind, effective, warnings))
    }

    /// The parameters of each class.
    fn class_states(
        &self,
        parts: &ChosenParts,
        classes: &ResolvedClasses,
        arithmetic: Arithmetic,
        spacing: &Spacing,
        reader: &mut ParameterReader<'_>,
    ) -> Result<Vec<ClassState>, Vec<ParameterError>> {
        let mut class_states = Vec::new();
        for (name, numbers) in classes.names.iter().zip(&classes.numbers) {
            let known = (reader.effective.len(), reader.warnings.len());
            let curve = self.curve(parts, &numbers.of_curve(), reader).map_err(|e| match name.as_str() {
                "" => e,
                _ => ParameterError { key: format!("class.{name}.{}", e.key), ..e },
            })?;
            // The own parameters of a curve are the same in all classes.
            if !class_states.is_empty() {
                reader.effective.truncate(known.0);
                reader.warnings.truncate(known.1);
            }
            let table = arithmetic.table(&curve);
            class_states.push(ClassState::new(curve, table, spacing.clone()));
        }
        Ok(class_states)
    }

    /// Return a warning about settings of the queue that every class overrides.
    fn overruled(&self, classes: &ResolvedClasses) -> Option<String> {
        let has = |key: &str| self.set.contains_key(key) && classes.all_own.contains(&key);
        let keys: Vec<_> = CLASS.iter().copied().filter(|key| has(key)).collect();
        (!keys.is_empty())
            .then(|| format!("{} has no effect, since every class has its own", keys.join(", ")))
    }

    /// Return warnings about settings of parts that this queue does not have.
    fn without_effect(&self, parts: &ChosenParts) -> Vec<String> {
        let chosen = parts.names();
        let has = |part: &PartInfo, key: &str| part.parameters.iter().any(|p| p.key == key);
        let mut warnings = Vec::new();
        for &key in self.set.keys() {
            let kinds = PART_KINDS.iter().filter(|kind| kind.parts.iter().any(|part| has(part, key)));
            let kinds: Vec<_> = kinds.collect();
            let part =
                |kind: &PartKind| chosen.iter().find(|(k, _)| *k == kind.key).and_then(|(_, name)| *name);
            let has_effect = |kind: &&PartKind| {
                part(kind).and_then(|name| kind.part(name)).is_some_and(|part| has(part, key))
            };
            if !kinds.is_empty() && !kinds.iter().any(has_effect) {
                let with: Vec<_> = kinds
                    .iter()
                    .map(|kind| format!("{} = \"{}\"", kind.key, part(kind).unwrap_or(self.preset.name)))
                    .collect();
                warnings.push(format!("{key} has no effect with {}", with.join(", ")));
            }
        }
        warnings
    }

    fn numbers(&self, preset: &RedPreset, link: LinkContext) -> Numbers {
        let mean_packet = self.number("mean_packet").unwrap_or(1000.0);
        let packets_per_s = link.rate.bps() / (8.0 * mean_packet);
        let automatic = |key| preset.automatic && !self.set.contains_key(key);
        let min_th = match self.word("min_th") {
            Some(_) => automatic_min_th(packets_per_s),
            None if automatic("min_th") => automatic_min_th(packets_per_s),
            None => self.packets("min_th", mean_packet).unwrap_or(preset.min_th),
        };
        let max_th = match self.word("max_th") {
            Some(_) => 3.0 * min_th,
            None if automatic("max_th") => 3.0 * min_th,
            None => self.packets("max_th", mean_packet).unwrap_or(preset.max_th),
        };
        let w_q = match self.word("w_q") {
            Some(word) => automatic_w_q(word, packets_per_s, link.delay),
            None if automatic("w_q") => automatic_w_q("auto-1s", packets_per_s, link.delay),
            None => self.number("w_q").unwrap_or(preset.w_q),
        };
        let max_p = self.number("max_p").unwrap_or(preset.max_p);
        Numbers { min_th, max_th, max_p, w_q, mean_packet, limit: self.limit(preset.limit) }
    }

    fn dialect(&self, preset: &RedPreset) -> Dialect {
        let mut d = match self.dialect_name() {
            None => preset.dialect.clone(),
            Some(DialectName::Floyd93) => Dialect::FLOYD93,
            Some(DialectName::Ns2) => Dialect::NS2,
            Some(DialectName::DsRed) => Dialect::DSRED,
            Some(DialectName::Linux) => Dialect::LINUX,
            Some(DialectName::AsPrinted) => preset.as_printed.0.clone(),
        };
        d.at_idle = self.value("at_idle", &AtIdle::ALL).unwrap_or(d.at_idle);
        d.crossing = self.value("crossing", &Crossing::ALL).unwrap_or(d.crossing);
        d.byte_scaling = self.value("byte_scaling", &ByteScaling::ALL).unwrap_or(d.byte_scaling);
        d.idle_extra_step = self.flag("idle_extra_step", d.idle_extra_step);
        d.guard_one = self.flag("guard_one", d.guard_one);
        d.p_one_is_early = self.flag("p_one_is_early", d.p_one_is_early);
        d.forced_at = self.value("forced_at", &ForcedAt::ALL).unwrap_or(d.forced_at);
        d.mark_at_bound = self.flag("mark_at_bound", d.mark_at_bound);
        d.mark_forced = self.flag("mark_forced", d.mark_forced);
        d.strict_limit = self.flag("strict_limit", d.strict_limit);
        d.full_first = self.flag("full_first", d.full_first);
        d.overflow_restarts = self.flag("overflow_restarts", d.overflow_restarts);
        d.idle_when = self.value("idle_when", &IdleWhen::ALL).unwrap_or(d.idle_when);
        d.in_service_counts = self.flag("in_service_counts", d.in_service_counts);
        d.mark_up_to = self.number("mark_up_to").unwrap_or(d.mark_up_to);
        d
    }
}

impl Spec {
    /// The curve of a plugin, as a table over the buffer; straight lines between.
    fn plugin_curve(p_b: &CurveFunction, numbers: CurveNumbers) -> Result<Curve, String> {
        let average = |i: u32| f64::from(i) * numbers.limit / f64::from(TABLE);
        let points = (0..=TABLE).map(|i| Ok((average(i), p_b(average(i), numbers)?)));
        let points = points.collect::<Result<Vec<_>, String>>()?;
        let wrong = |p: &f64| !(0.0..=1.0).contains(p);
        if let Some((average, p)) = points.iter().find(|(_, p)| wrong(p)) {
            return Err(format!("p_b({average}p) = {p}"));
        }
        match points.windows(2).find(|w| w[1].1 < w[0].1) {
            Some(w) => Err(format!("p_b falls from {} at {}p to {} at {}p", w[0].1, w[0].0, w[1].1, w[1].0)),
            None => Ok(Curve::Points(Points::new(points))),
        }
    }
}

/// Steps of the table that the curve of a plugin is turned into.
const TABLE: u32 = 4096;

/// The numbers of RED; queue lengths in packets, mean_packet in bytes.
#[derive(Clone, Debug)]
struct Numbers {
    min_th: f64,
    max_th: f64,
    max_p: f64,
    w_q: f64,
    mean_packet: f64,
    limit: Limit,
}

impl Numbers {
    fn limit_packets(&self) -> f64 {
        self.limit.in_packets(self.mean_packet)
    }

    fn of_curve(&self) -> CurveNumbers {
        let &Self { min_th, max_th, max_p, .. } = self;
        CurveNumbers { min_th, max_th, max_p, limit: self.limit_packets() }
    }

    fn warnings(&self, curve: Option<CurveKind>, in_bytes: bool) -> Vec<String> {
        let mut warnings = Vec::new();
        let limit = self.limit_packets();
        if curve.is_none_or(CurveKind::has_thresholds) && self.max_th > limit {
            warnings.push(format!(
                "max_th ({}p) is above the limit ({limit}p): the average cannot reach it",
                self.max_th
            ));
        }
        warnings.extend(curve.and_then(|curve| curve.warning(&self.of_curve())));
        if in_bytes && self.mean_packet < 100.0 {
            warnings.push(format!("mean_packet is only {} bytes", self.mean_packet));
        }
        warnings
    }

    fn effective(&self, parts: &ChosenParts, d: &Dialect, in_bytes: bool, ecn: bool) -> Vec<(String, Value)> {
        let word = |w: &str| Value::Word(w.into());
        let mut values = vec![
            ("limit", self.limit.into()),
            ("min_th", Value::Packets(self.min_th)),
            ("max_th", Value::Packets(self.max_th)),
            ("max_p", Value::Number(self.max_p)),
            ("w_q", Value::Number(self.w_q)),
            ("mean_packet", Value::Bytes(self.mean_packet as u64)),
            ("mode", word(name_of(&MODE_WORDS, &in_bytes))),
        ];
        // The curve of a plugin is no word that can be set.
        values.extend(parts.curve.registered().map(|curve| ("curve", word(curve.name()))));
        values.extend([
            ("spacing", word(parts.spacing.name())),
            ("ecn", Value::Flag(ecn)),
            ("at_idle", word(name_of(&AtIdle::ALL, &d.at_idle))),
            ("idle_extra_step", Value::Flag(d.idle_extra_step)),
            ("guard_one", Value::Flag(d.guard_one)),
            ("crossing", word(name_of(&Crossing::ALL, &d.crossing))),
            ("p_one_is_early", Value::Flag(d.p_one_is_early)),
            ("forced_at", word(name_of(&ForcedAt::ALL, &d.forced_at))),
            ("mark_up_to", Value::Number(d.mark_up_to)),
            ("mark_at_bound", Value::Flag(d.mark_at_bound)),
            ("mark_forced", Value::Flag(d.mark_forced)),
            ("byte_scaling", word(name_of(&ByteScaling::ALL, &d.byte_scaling))),
            ("strict_limit", Value::Flag(d.strict_limit)),
            ("full_first", Value::Flag(d.full_first)),
            ("overflow_restarts", Value::Flag(d.overflow_restarts)),
            ("idle_when", word(name_of(&IdleWhen::ALL, &d.idle_when))),
            ("in_service_counts", Value::Flag(d.in_service_counts)),
        ]);
        named(values)
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

/// Owned names.
fn named(values: Vec<(&str, Value)>) -> Vec<(String, Value)> {
    values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// ns-2's automatic lower threshold: half the packets of 5 ms, at least 5 (ns-2.35 `initialize_params`).
fn automatic_min_th(packets_per_s: f64) -> f64 {
    (0.005 * packets_per_s / 2.0).max(5.0)
}

/// ns-2's automatic weights with C packets per second (ns-2.35 `initialize_params`):
/// `auto` (q_weight_ -1) 1 - exp(-1/(10 rtt C)), rtt = max(0.1 s, 3 (delay + 1/C)); `auto-1s` (0) 1 - exp(-1/C);
/// `auto-0.1s` (-2) 1 - exp(-10/C).
fn automatic_w_q(word: &str, packets_per_s: f64, delay: Span) -> f64 {
    let exponent = match word {
        "auto-1s" => 1.0 / packets_per_s,
        "auto-0.1s" => 10.0 / packets_per_s,
        _ => 1.0 / (10.0 * (3.0 * (delay.secs() + 1.0 / packets_per_s)).max(0.1) * packets_per_s),
    };
    1.0 - libm::exp(-exponent)
}
