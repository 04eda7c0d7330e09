use aqmlab_units::Span;

use super::arithmetic::{Arithmetic, check_classes};
use super::classes::{ResolvedClasses, key_of_class};
use super::parts::{Chosen, ChosenParts};
use super::{Limit, ParameterError, ParameterReader, RedParts, Value};
use crate::name_of;
use crate::plugin::{CurveFunction, CurveNumbers};
use crate::red::curve::{Curve, CurveKind, Points};
use crate::red::preset::RedPreset;
use crate::red::response::Response;
use crate::red::spacing::{Spacing, SpacingKind};
use crate::red::victim::VictimKind;
use crate::red::{
    AtIdle, ByteScaling, ClassState, Crossing, Dialect, DialectName, ForcedAt, IdleWhen, PART_KINDS, Params,
    PartInfo, PartKind,
};
use crate::registry::{CLASS, MODE_WORDS};

/// Packets of the longest queue of Linux's CHOKe (`CHOKE_MAX_QUEUE`).
const MOST_OF_CHOKE: f64 = 131_071.0;

impl ParameterReader<'_> {
    /// Read the parameters of a member of the RED family.
    pub(super) fn red(&mut self, preset: &RedPreset) -> Result<RedParts, Vec<ParameterError>> {
        let mut numbers = self.numbers(preset);
        let dialect = self.dialect(preset);
        let in_bytes = self.word("mode", &MODE_WORDS);
        // ns-2 measures a limit given in packets in mean packets once the queue is measured in bytes.
        if let (Limit::Packets(n), true) = (numbers.limit, in_bytes) {
            numbers.limit = Limit::Bytes((f64::from(n) * numbers.mean_packet) as u64);
        }
        let parts = self.parts(preset)?;
        let (ecn, nodrop) = (self.flag("ecn", false), self.flag("nodrop", false));
        let response = if ecn {
            let Dialect { mark_up_to: up_to, mark_at_bound: at_bound, mark_forced: forced, .. } = dialect;
            Response::Mark { up_to, at_bound, forced, nodrop }
        } else {
            Response::Drop
        };
        let (arithmetic, average) = self.average(preset, &parts, &dialect, in_bytes, &mut numbers)?;
        let byte_mode = in_bytes.then_some(numbers.mean_packet);
        self.known("limit", numbers.limit.into());
        self.known("w_q", Value::Number(numbers.w_q));
        self.known("mean_packet", Value::Bytes(numbers.mean_packet as u64));
        self.warnings.extend(numbers.warnings(parts.curve.registered(), in_bytes));
        let spacing = parts.spacing.read(self);
        let spacing = Spacing::new(spacing, byte_mode.map(|mean| (dialect.byte_scaling, mean)));
        let is_integer = matches!(arithmetic, Arithmetic::Integer { .. });
        let spacing = if is_integer { spacing.in_integers() } else { spacing };
        let classes = self.read_classes(preset, &numbers)?;
        if is_integer {
            check_classes(&classes, &dialect)?;
        }
        let class_states = self.class_states(&parts, &classes, arithmetic, &spacing)?;
        let victim = self.victim(&parts)?;
        let adaptation = self.adaptation(&parts, &classes, numbers.mean_packet)?;
        self.warn_of_absent_parts(&parts);
        self.warnings.extend(self.overruled(&classes));
        self.without_effect.extend(&classes.all_own);
        if !ecn {
            self.warn_without_effect(
                &["mark_up_to", "mark_at_bound", "mark_forced", "nodrop"],
                "without ecn",
            );
        }
        if dialect.at_idle == AtIdle::None {
            self.warn_without_effect(&["idle_when", "idle_extra_step"], "with at_idle = \"none\"");
        }
        if matches!(parts.spacing, SpacingKind::Bernoulli) {
            self.warn_without_effect(&["overflow_restarts"], "with spacing = \"none\"");
        }
        if !in_bytes {
            self.warn_without_effect(&["byte_scaling"], "with mode = \"packets\"");
        }
        if classes.classes.count() == 1 {
            self.warn_without_effect(&["averages"], "without classes");
        }
        let is_in_bytes = |limit: &Limit| matches!(limit, Limit::Bytes(_));
        if !classes.limits.iter().flatten().any(is_in_bytes) && !is_in_bytes(&numbers.limit) {
            self.warn_without_effect(&["strict_limit"], "with a limit in packets");
        }
        if self.dialect_name() == Some(DialectName::Linux) {
            self.differs_from_linux_red(&parts, in_bytes, numbers.limit, numbers.mean_packet);
        }
        let (limit, class_limits) = (numbers.limit, classes.limits);
        let params = Params { classes: classes.classes, response, limit, class_limits, byte_mode, dialect };
        Ok(RedParts { params, average, class_states, victim, adaptation })
    }

    /// Warn of settings that Linux's `sch_red`, `sch_gred` or `sch_choke` does not have.
    fn differs_from_linux_red(
        &mut self,
        parts: &ChosenParts,
        in_bytes: bool,
        limit: Limit,
        mean_packet: f64,
    ) {
        let is_choke = matches!(parts.victim, Chosen::Registered(VictimKind::Choke));
        if is_choke == in_bytes {
            let unit = if is_choke { "packets" } else { "bytes" };
            self.differs_from_linux("mode", Value::Word(unit.to_owned()));
        }
        if is_choke {
            let packets = libm::floor(limit.in_packets(mean_packet)).min(MOST_OF_CHOKE);
            self.differs_from_linux("limit", Value::Packets(packets));
        }
        let linux = Dialect::LINUX;
        let flags = [
            ("idle_extra_step", linux.idle_extra_step),
            ("guard_one", linux.guard_one),
            ("p_one_is_early", linux.p_one_is_early),
            ("mark_at_bound", linux.mark_at_bound),
            ("strict_limit", linux.strict_limit),
            ("full_first", linux.full_first),
            ("overflow_restarts", linux.overflow_restarts),
            ("in_service_counts", linux.in_service_counts),
        ];
        for (key, value) in flags {
            self.differs_from_linux(key, Value::Flag(value));
        }
        let words = [
            ("crossing", name_of(&Crossing::ALL, &linux.crossing)),
            ("byte_scaling", name_of(&ByteScaling::ALL, &linux.byte_scaling)),
            ("forced_at", name_of(&ForcedAt::ALL, &linux.forced_at)),
        ];
        for (key, value) in words {
            self.differs_from_linux(key, Value::Word(value.to_owned()));
        }
        self.differs_from_linux("mark_up_to", Value::Number(linux.mark_up_to));
    }

    /// The parameters of each class.
    fn class_states(
        &mut self,
        parts: &ChosenParts,
        classes: &ResolvedClasses,
        arithmetic: Arithmetic,
        spacing: &Spacing,
    ) -> Result<Vec<ClassState>, Vec<ParameterError>> {
        let mut class_states = Vec::new();
        for (name, numbers) in classes.names.iter().zip(&classes.numbers) {
            let known = (self.effective.len(), self.warnings.len());
            let curve = self
                .curve(parts, &numbers.of_curve())
                .map_err(|e| ParameterError { key: key_of_class(name, &e.key), ..e })?;
            // The own parameters of a curve are the same in all classes.
            if !class_states.is_empty() {
                self.effective.truncate(known.0);
                self.warnings.truncate(known.1);
            }
            self.warnings.extend(numbers.beyond_limit(name, curve.end()));
            let (table, linux) = (arithmetic.table(&curve), arithmetic.linux_curve(numbers));
            let state = ClassState::new(curve, table, spacing.clone());
            class_states.push(match linux {
                Some(linux) => state.as_linux(linux),
                None => state,
            });
        }
        Ok(class_states)
    }

    /// Return a warning about settings of the queue that every class overrides.
    fn overruled(&self, classes: &ResolvedClasses) -> Option<String> {
        let has = |key: &str| self.is_set(key) && classes.all_own.contains(&key);
        let keys: Vec<_> = CLASS.iter().copied().filter(|key| has(key)).collect();
        (!keys.is_empty())
            .then(|| format!("{} has no effect, since every class has its own", keys.join(", ")))
    }

    /// Record the parameters of absent parts, and warn of each that the file sets.
    fn warn_of_absent_parts(&mut self, parts: &ChosenParts) {
        let chosen = parts.names();
        let has = |part: &PartInfo, key: &str| part.parameters.iter().any(|p| p.key == key);
        for key in self.preset().parameters().iter().map(|parameter| parameter.key) {
            let kinds = PART_KINDS.iter().filter(|kind| kind.parts.iter().any(|part| has(part, key)));
            let kinds: Vec<_> = kinds.collect();
            let part =
                |kind: &PartKind| chosen.iter().find(|(k, _)| *k == kind.key).and_then(|(_, name)| *name);
            let has_effect = |kind: &&PartKind| {
                part(kind).and_then(|name| kind.part(name)).is_some_and(|part| has(part, key))
            };
            if !kinds.is_empty() && !kinds.iter().any(has_effect) {
                self.without_effect.push(key);
                if !self.is_set(key) {
                    continue;
                }
                let with: Vec<_> = kinds
                    .iter()
                    .map(|kind| format!("{} = \"{}\"", kind.key, part(kind).unwrap_or(self.name())))
                    .collect();
                self.warn(format!("{key} has no effect with {}", with.join(", ")));
            }
        }
    }

    fn numbers(&self, preset: &RedPreset) -> Numbers {
        let mean_packet = self.set_number("mean_packet").unwrap_or(1000.0);
        let packets_per_s = self.packets_per_s(mean_packet);
        let automatic = |key| self.special(key).is_some() || (preset.automatic && !self.is_set(key));
        let min_th = if automatic("min_th") {
            automatic_min_th(packets_per_s)
        } else {
            self.set_packets("min_th", mean_packet).unwrap_or(preset.min_th)
        };
        let max_th = if automatic("max_th") {
            3.0 * min_th
        } else {
            self.set_packets("max_th", mean_packet).unwrap_or(preset.max_th)
        };
        let w_q = if automatic("w_q") {
            automatic_w_q(self.special("w_q").unwrap_or("auto-1s"), packets_per_s, self.link.delay)
        } else {
            self.set_number("w_q").unwrap_or(preset.w_q)
        };
        let max_p = self.set_number("max_p").unwrap_or(preset.max_p);
        Numbers { min_th, max_th, max_p, w_q, mean_packet, limit: self.set_limit(preset.limit) }
    }

    /// Return the rate of the link in mean packets per second.
    pub(super) fn packets_per_s(&self, mean_packet: f64) -> f64 {
        self.rate().bps() / (8.0 * mean_packet)
    }

    fn dialect(&mut self, preset: &RedPreset) -> Dialect {
        let dialect = match self.dialect_name() {
            None => preset.dialect.clone(),
            Some(DialectName::Floyd93) => Dialect::FLOYD93,
            Some(DialectName::Ns2) => Dialect::NS2,
            Some(DialectName::DsRed) => Dialect::DSRED,
            Some(DialectName::Linux) if self.is_gred(preset) => {
                Dialect { idle_when: IdleWhen::LastDequeue, ..Dialect::LINUX }
            }
            Some(DialectName::Linux) => Dialect::LINUX,
            Some(DialectName::AsPrinted) => preset.as_printed.0.clone(),
        };
        Dialect {
            at_idle: self.word_or("at_idle", &AtIdle::ALL, dialect.at_idle),
            crossing: self.word_or("crossing", &Crossing::ALL, dialect.crossing),
            byte_scaling: self.word_or("byte_scaling", &ByteScaling::ALL, dialect.byte_scaling),
            idle_extra_step: self.flag("idle_extra_step", dialect.idle_extra_step),
            guard_one: self.flag("guard_one", dialect.guard_one),
            p_one_is_early: self.flag("p_one_is_early", dialect.p_one_is_early),
            forced_at: self.word_or("forced_at", &ForcedAt::ALL, dialect.forced_at),
            mark_at_bound: self.flag("mark_at_bound", dialect.mark_at_bound),
            mark_forced: self.flag("mark_forced", dialect.mark_forced),
            strict_limit: self.flag("strict_limit", dialect.strict_limit),
            full_first: self.flag("full_first", dialect.full_first),
            overflow_restarts: self.flag("overflow_restarts", dialect.overflow_restarts),
            idle_when: self.word_or("idle_when", &IdleWhen::ALL, dialect.idle_when),
            in_service_counts: self.flag("in_service_counts", dialect.in_service_counts),
            mark_up_to: self.number("mark_up_to", dialect.mark_up_to),
        }
    }
}

/// The curve of a plugin, as a table over the buffer; straight lines between.
pub(super) fn plugin_curve(p_b: &CurveFunction, numbers: CurveNumbers) -> Result<Curve, String> {
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

/// Steps of the table that the curve of a plugin is turned into.
const TABLE: u32 = 4096;

/// The numbers of RED; queue lengths in packets, mean_packet in bytes.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    pub min_th: f64,
    pub max_th: f64,
    pub max_p: f64,
    pub w_q: f64,
    pub mean_packet: f64,
    pub limit: Limit,
}

impl Numbers {
    fn limit_packets(&self) -> f64 {
        self.limit.in_packets(self.mean_packet)
    }

    pub fn of_curve(&self) -> CurveNumbers {
        let &Self { min_th, max_th, max_p, .. } = self;
        CurveNumbers { min_th, max_th, max_p, limit: self.limit_packets() }
    }

    /// Return a warning if the limit cuts off the part of a class's curve above max_th, which ends at this average.
    fn beyond_limit(&self, class: &str, end: f64) -> Option<String> {
        let limit = self.limit_packets();
        let class = if class.is_empty() { String::new() } else { format!("class {class}: ") };
        (self.max_th <= limit && end > limit).then(|| {
            format!(
                "{class}the curve ends at an average of {end}p, above the limit ({limit}p): the average cannot reach its last part"
            )
        })
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
        warnings.extend(curve.into_iter().flat_map(|curve| curve.warnings(&self.of_curve())));
        if in_bytes && self.mean_packet < 100.0 {
            warnings.push(format!("mean_packet is only {} bytes", self.mean_packet));
        }
        warnings
    }
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
