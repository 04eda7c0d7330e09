use super::code_points::{CodePoints, code_points};
use super::red::Numbers;
use super::{DialectName, Limit, ParameterError, ParameterReader, Value};
use crate::red::classes::{Averages, Classes};
use crate::red::preset::{ClassPreset, RedPreset};
use crate::registry::CLASS;
use crate::spec::ClassSpec;
use crate::spec::parameter_reader::packets;

/// Classes with their numbers; a queue without classes has one, without a name.
pub(super) struct ResolvedClasses {
    pub classes: Classes,
    pub names: Vec<String>,
    pub numbers: Vec<Numbers>,
    /// The own limits of classes; empty if no class has one.
    pub limits: Vec<Option<Limit>>,
    /// The parameters that every class has of its own.
    pub all_own: Vec<&'static str>,
}

/// A class on its way: code points, default, numbers.
struct Class {
    name: String,
    dscp: Vec<u8>,
    default: bool,
    numbers: Numbers,
    limit: Option<Limit>,
}

impl ParameterReader<'_> {
    /// Read the classes, with the thresholds of the queue where it has none.
    pub(super) fn read_classes(
        &mut self,
        preset: &RedPreset,
        numbers: &Numbers,
    ) -> Result<ResolvedClasses, Vec<ParameterError>> {
        let classes = self.class_list(preset, numbers);
        if classes.is_empty() {
            for (key, value) in numbers.of_class() {
                self.known(key, value);
            }
            let (names, numbers) = (vec![String::new()], vec![numbers.clone()]);
            let classes = Classes::one();
            return Ok(ResolvedClasses { classes, names, numbers, limits: Vec::new(), all_own: Vec::new() });
        }
        let claims: Vec<_> =
            classes.iter().map(|c| (c.name.as_str(), c.dscp.as_slice(), c.default)).collect();
        let CodePoints(of) = code_points(&claims)?;
        check_order(&classes)?;
        // GRED's way to RIO: its averages are added.
        let default = match preset.averages {
            Averages::Coupled if self.is_gred(preset) => Averages::Summed,
            averages => averages,
        };
        let averages = self.word_or("averages", &Averages::ALL, default);
        for class in &classes {
            let mut code_points: Vec<_> = class.dscp.iter().map(u8::to_string).collect();
            if class.default {
                code_points.push("default".into());
            }
            self.known_of_class(&class.name, "dscp", Value::Word(code_points.join(" ")));
            for (key, value) in class.numbers.of_class() {
                self.known_of_class(&class.name, key, value);
            }
            if let Some(limit) = class.limit {
                self.known_of_class(&class.name, "limit", limit.into());
            }
        }
        let has_limits = classes.iter().any(|class| class.limit.is_some());
        let limits: Vec<_> =
            if has_limits { classes.iter().map(|class| class.limit).collect() } else { Vec::new() };
        let (names, numbers): (Vec<_>, Vec<_>) = classes.into_iter().map(|c| (c.name, c.numbers)).unzip();
        let has_all = |key: &&'static str| match *key {
            "limit" => has_limits && limits.iter().all(Option::is_some),
            key => self.every_class_has(preset, key),
        };
        let all_own = CLASS.iter().copied().filter(has_all).collect();
        let classes = Classes::new(names.len(), averages, of);
        Ok(ResolvedClasses { classes, names, numbers, limits, all_own })
    }

    /// Return the numbers of each class with its name, which is empty in a queue without classes.
    pub(super) fn class_numbers(&self, preset: &RedPreset, numbers: &Numbers) -> Vec<(String, Numbers)> {
        let classes = self.class_list(preset, numbers);
        if classes.is_empty() {
            return vec![(String::new(), numbers.clone())];
        }
        classes.into_iter().map(|class| (class.name, class.numbers)).collect()
    }

    /// Whether the queue is Linux's with classes, which is GRED's (`sch_gred`).
    pub(super) fn is_gred(&self, preset: &RedPreset) -> bool {
        let has_classes = !preset.classes.is_empty() || !self.classes().is_empty();
        has_classes && self.dialect_name() == Some(DialectName::Linux) && !self.in_integers()
    }

    /// Return the classes of the preset, each with its settings in the file; or those of the file, if one has another
    /// name.
    fn class_list(&self, preset: &RedPreset, numbers: &Numbers) -> Vec<Class> {
        let own = |name: &str| self.classes().iter().find(|c| c.name == name);
        if !self.classes().iter().all(|c| preset.classes.iter().any(|p| p.name == c.name)) {
            return self.classes().iter().map(|c| class_of(c, None, numbers)).collect();
        }
        let of_preset = |p: &ClassPreset| match own(p.name) {
            Some(own) => class_of(own, Some(p), &from_preset(p, numbers)),
            None => Class {
                name: p.name.into(),
                dscp: p.dscp.into(),
                default: p.default,
                numbers: from_preset(p, numbers),
                limit: None,
            },
        };
        preset.classes.iter().map(of_preset).collect()
    }

    /// Whether every class has this parameter of its own, by the file or by the preset.
    fn every_class_has(&self, preset: &RedPreset, key: &str) -> bool {
        let of_preset = |c: &ClassSpec| preset.classes.iter().any(|p| p.name == c.name);
        self.classes().iter().all(|c| c.set.contains_key(key) || of_preset(c))
    }
}

/// Return the key of a parameter of a class, which has no name in a queue without classes.
pub(super) fn key_of_class(class: &str, key: &str) -> String {
    if class.is_empty() { key.to_owned() } else { format!("class.{class}.{key}") }
}

fn class_of(own: &ClassSpec, preset: Option<&ClassPreset>, base: &Numbers) -> Class {
    let number = |key: &str| packets(own.set.get(key)?, base.mean_packet);
    let mut numbers = base.clone();
    numbers.min_th = number("min_th").unwrap_or(base.min_th);
    numbers.max_th = number("max_th").unwrap_or(base.max_th);
    numbers.max_p = number("max_p").unwrap_or(base.max_p);
    // Code points in the file replace those of the preset.
    let silent = own.dscp.is_empty() && !own.default;
    let (dscp, default) = match preset {
        Some(p) if silent => (p.dscp.into(), p.default),
        _ => (own.dscp.clone(), own.default),
    };
    let limit = limit_of(own, base);
    Class { name: own.name.clone(), dscp, default, numbers, limit }
}

/// Return the own limit of a class, in the unit of the queue's.
fn limit_of(own: &ClassSpec, base: &Numbers) -> Option<Limit> {
    let limit = packets(own.set.get("limit")?, base.mean_packet)?;
    Some(match base.limit {
        Limit::Packets(_) => Limit::Packets(limit.min(f64::from(u32::MAX)) as u32),
        Limit::Bytes(_) => Limit::Bytes(libm::round(limit * base.mean_packet) as u64),
    })
}

fn from_preset(preset: &ClassPreset, base: &Numbers) -> Numbers {
    let &ClassPreset { min_th, max_th, max_p, .. } = preset;
    Numbers { min_th, max_th, max_p, limit: base.limit, ..base.clone() }
}

/// A less precious class must not be treated better.
fn check_order(classes: &[Class]) -> Result<(), Vec<ParameterError>> {
    for pair in classes.windows(2) {
        let [better, worse] = pair else { continue };
        let thresholds = |n: &Numbers| [("min_th", n.min_th), ("max_th", n.max_th)];
        for ((key, high), (_, low)) in thresholds(&better.numbers).into_iter().zip(thresholds(&worse.numbers))
        {
            if low > high {
                let message = format!("{key} ({low}p) is above that of class {} ({high}p)", better.name);
                return Err(vec![ParameterError {
                    key: format!("class.{}.{key}", worse.name),
                    message,
                    allowed: "classes in the order of their worth, thresholds not rising".into(),
                }]);
            }
        }
    }
    Ok(())
}

impl Numbers {
    /// Return the parameters that a class may have of its own.
    fn of_class(&self) -> [(&'static str, Value); 3] {
        [
            ("min_th", Value::Packets(self.min_th)),
            ("max_th", Value::Packets(self.max_th)),
            ("max_p", Value::Number(self.max_p)),
        ]
    }
}

impl Limit {
    /// In packets of this mean size.
    pub(super) fn in_packets(self, mean_packet: f64) -> f64 {
        match self {
            Self::Packets(n) => f64::from(n),
            Self::Bytes(b) => b as f64 / mean_packet,
        }
    }
}
