use super::classes::{ResolvedClasses, key_of_class};
use super::parts::{Chosen, ChosenParts};
use super::red::Numbers;
use super::{DialectName, Limit, ParameterError, ParameterReader, Value};
use crate::name_of;
use crate::red::adaptation::AdaptationKind;
use crate::red::average::{Average, Ewma, IdleRule, IntegerEwma, Powers, Shifts};
use crate::red::classes::Averages;
use crate::red::curve::{Curve, CurveKind, CurveTable, LinuxCurve, LinuxNumbers};
use crate::red::parameters::{ARITHMETIC_WORDS, ArithmeticWord};
use crate::red::preset::RedPreset;
use crate::red::spacing::SpacingKind;
use crate::red::victim::VictimKind;
use crate::red::{AtIdle, ByteScaling, Dialect, IdleWhen};

/// The arithmetic of average, curve and spacing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arithmetic {
    /// Numbers with a floating point; the average of the dialect `linux` is in integers nonetheless.
    Exact,
    /// The integers of Linux's RED, or of its CHOKe.
    Linux {
        /// -log2 W.
        wlog: u32,
        /// Bytes or packets in a packet of the thresholds: the mean packet in byte mode, else 1.
        unit: f64,
        /// Whether it is CHOKe.
        is_choke: bool,
    },
    /// Integers. An average of 1 is so many units of the curve's table a packet.
    Integer {
        /// 2^fraction, in byte mode times the mean packet.
        unit: f64,
    },
}

impl Arithmetic {
    /// Return the table of a curve, in integers.
    pub fn table(self, curve: &Curve) -> Option<CurveTable> {
        match self {
            Self::Exact | Self::Linux { .. } => None,
            Self::Integer { unit } => Some(CurveTable::new(curve, unit)),
        }
    }

    /// Return the line of a class in Linux's arithmetic; `None` in another one, or if Linux rejects the thresholds.
    pub fn linux_curve(self, numbers: &Numbers) -> Option<LinuxCurve> {
        let Self::Linux { wlog, unit, is_choke } = self else { return None };
        let whole = |packets: f64| libm::round(packets * unit).min(f64::from(u32::MAX)) as u32;
        let (min_th, max_th) = (whole(numbers.min_th), whole(numbers.max_th));
        let unit = if is_choke { numbers.mean_packet as u32 } else { 1 };
        LinuxCurve::new(LinuxNumbers { min_th, max_th, max_p: numbers.max_p, unit }, wlog, is_choke)
    }
}

impl ParameterReader<'_> {
    /// Return the arithmetic and the average of a queue; its weight in `numbers` becomes the effective one.
    pub(super) fn average(
        &mut self,
        preset: &RedPreset,
        parts: &ChosenParts,
        dialect: &Dialect,
        in_bytes: bool,
        numbers: &mut Numbers,
    ) -> Result<(Arithmetic, Average), ParameterError> {
        let set = self.value("arithmetic", &ARITHMETIC_WORDS);
        let is_integer = set == Some(ArithmeticWord::Integer);
        let packets_per_s = self.packets_per_s(numbers.mean_packet);
        let wlog = IntegerEwma::nearest_wlog(numbers.w_q);
        let linux = self.linux_arithmetic(preset, parts, dialect, in_bytes, numbers)?;
        let word = match linux {
            Some(_) => ArithmeticWord::Linux,
            None => set.unwrap_or(ArithmeticWord::Exact),
        };
        self.known("arithmetic", Value::Word(name_of(&ARITHMETIC_WORDS, &word).to_owned()));
        let as_linux = match dialect.at_idle {
            AtIdle::Table => true,
            AtIdle::None => self.dialect_name() == Some(DialectName::Linux),
            AtIdle::Real | AtIdle::Integer => false,
        };
        if !is_integer && !as_linux {
            let average = Ewma::new(numbers.w_q, packets_per_s, dialect.at_idle, dialect.idle_extra_step);
            return Ok((Arithmetic::Exact, Average::Ewma(average)));
        }
        let fraction = if is_integer { fraction(wlog, numbers)? } else { 0 };
        numbers.w_q = libm::exp2(-f64::from(wlog));
        if self.set_number("w_q").is_some() {
            let arithmetic = if is_integer { "in integers" } else { "in the dialect of Linux" };
            self.warn_if_rounded("w_q", &Value::Number(numbers.w_q), arithmetic);
        }
        let idle = match dialect.at_idle {
            AtIdle::None => IdleRule::Step,
            AtIdle::Table => {
                IdleRule::Shifts(Shifts::new(wlog, numbers.mean_packet, self.rate().bps() / 8.0))
            }
            at_idle => IdleRule::Powers(Powers::new(wlog, packets_per_s, at_idle)),
        };
        let average = Average::Integer(IntegerEwma::new(wlog, fraction, idle, dialect.idle_extra_step));
        if !is_integer {
            return Ok((linux.unwrap_or(Arithmetic::Exact), average));
        }
        let nodrop = self.is_on("nodrop");
        check(parts, dialect, in_bytes, nodrop)?;
        let unit = libm::exp2(f64::from(fraction)) * if in_bytes { numbers.mean_packet } else { 1.0 };
        Ok((Arithmetic::Integer { unit }, average))
    }
}

impl ParameterReader<'_> {
    /// Return Linux's arithmetic if it is set, or if the dialect is `linux` and Linux has the queue's parts and accepts its
    /// thresholds.
    fn linux_arithmetic(
        &mut self,
        preset: &RedPreset,
        parts: &ChosenParts,
        dialect: &Dialect,
        in_bytes: bool,
        numbers: &Numbers,
    ) -> Result<Option<Arithmetic>, ParameterError> {
        let set = self.value("arithmetic", &ARITHMETIC_WORDS);
        let is_linux = self.dialect_name() == Some(DialectName::Linux);
        if !set.map_or(is_linux, |word| word == ArithmeticWord::Linux) {
            return Ok(None);
        }
        let is_choke = matches!(parts.victim, Chosen::Registered(VictimKind::Choke));
        let unfit = [
            ("dialect", !is_linux),
            ("curve", !matches!(parts.curve, Chosen::Registered(CurveKind::Linear))),
            ("spacing", parts.spacing != SpacingKind::Linux),
            ("victim", !is_choke && !matches!(parts.victim, Chosen::Registered(VictimKind::Arriving))),
            ("adaptation", !matches!(parts.adaptation, AdaptationKind::Fixed | AdaptationKind::AdaptiveRed)),
            ("at_idle", !matches!(dialect.at_idle, AtIdle::Table | AtIdle::None)),
        ];
        let wlog = IntegerEwma::nearest_wlog(numbers.w_q);
        let unit = if in_bytes { numbers.mean_packet } else { 1.0 };
        let arithmetic = Arithmetic::Linux { wlog, unit, is_choke };
        let unfit = unfit.into_iter().find_map(|(key, is_unfit)| is_unfit.then_some(key));
        let rejected = self.class_numbers(preset, numbers).into_iter().find_map(|(class, numbers)| {
            arithmetic.linux_curve(&numbers).is_none().then(|| key_of_class(&class, "max_th"))
        });
        match (unfit, rejected) {
            (None, None) => Ok(Some(arithmetic)),
            (Some(key), _) if set.is_none() => {
                if self.is_set(key) {
                    self.warn(format!("{IN_FLOATING_POINT}, since Linux has another {key}"));
                }
                Ok(None)
            }
            (None, Some(key)) if set.is_none() => {
                self.warn(format!("{IN_FLOATING_POINT}, since Linux rejects {key} with this w_q"));
                Ok(None)
            }
            (Some(key), _) => {
                let message = format!("arithmetic = \"linux\" has only Linux's own {key}");
                Err(ParameterError::new(
                    "arithmetic",
                    message,
                    "\"exact\", or the dialect \"linux\" with its own parts",
                ))
            }
            (None, Some(key)) => {
                let message = "with this w_q Linux rejects the thresholds (arithmetic = \"linux\")".into();
                let allowed = "min_th <= max_th, and max_th/w_q below 2^31 bytes or packets";
                Err(ParameterError::new(&key, message, allowed))
            }
        }
    }
}

/// Start of a warning about settings that Linux rejects.
const IN_FLOATING_POINT: &str = "dialect \"linux\" computes this queue in floating point";

/// Return the bits behind the binary point of an average in integers.
fn fraction(wlog: u32, numbers: &Numbers) -> Result<u32, ParameterError> {
    if wlog > IntegerEwma::LARGEST_WLOG {
        let message = format!("{} is too small a weight for arithmetic = \"integer\"", numbers.w_q);
        return Err(ParameterError::new("w_q", message, "2^-16 to 1"));
    }
    let longest = match numbers.limit {
        Limit::Packets(n) => u64::from(n),
        Limit::Bytes(n) => n,
    };
    // The packet in transmission may count too.
    let fraction = IntegerEwma::fraction_for(wlog, longest.saturating_add(u32::MAX.into()));
    let needed = 4;
    if fraction < needed {
        let message = "is too large for arithmetic = \"integer\"".into();
        return Err(ParameterError::new("limit", message, "up to 2^40 bytes"));
    }
    Ok(fraction)
}

/// Check that idle rule, averages and limits of classes have a form in integers.
pub(super) fn check_classes(found: &ResolvedClasses, dialect: &Dialect) -> Result<(), ParameterError> {
    let classes = &found.classes;
    let has_no_form = |what: &str| format!("{what} has no form in integers (arithmetic = \"integer\")");
    if classes.measured() == Averages::Summed {
        let allowed = "one of \"coupled\", \"decoupled\", \"shared\"";
        return Err(ParameterError::new("averages", has_no_form("\"summed\""), allowed));
    }
    if let Some(i) = found.limits.iter().position(Option::is_some) {
        let key = key_of_class(&found.names[i], "limit");
        return Err(ParameterError::new(&key, has_no_form("a limit of a class"), "no limit in a class"));
    }
    if dialect.idle_when == IdleWhen::LastDequeue {
        let allowed = "one of \"free\", \"none-waiting\", \"class-empty\"";
        return Err(ParameterError::new("idle_when", has_no_form("\"last-dequeue\""), allowed));
    }
    if dialect.idle_when != IdleWhen::ClassEmpty || classes.averages() == classes.count() {
        return Ok(());
    }
    let message = "\"class-empty\" with a shared average has no form in integers (arithmetic = \"integer\")";
    Err(ParameterError::new("idle_when", message.into(), "one of \"free\", \"none-waiting\""))
}

/// Check that every part has a form in integers.
fn check(parts: &ChosenParts, dialect: &Dialect, in_bytes: bool, nodrop: bool) -> Result<(), ParameterError> {
    if nodrop {
        let message = "nodrop has no form in integers (arithmetic = \"integer\")".into();
        return Err(ParameterError::new("nodrop", message, "false"));
    }
    let error = |key: &str, name: &str, allowed: &str| {
        let message = format!("\"{name}\" has no form in integers (arithmetic = \"integer\")");
        Err(ParameterError::new(key, message, allowed))
    };
    if in_bytes && dialect.byte_scaling == ByteScaling::AfterSpacing {
        return error("byte_scaling", "after-spacing", "one of \"before-spacing\", \"none\"");
    }
    let is_straight = matches!(parts.curve, Chosen::Registered(CurveKind::Linear | CurveKind::Gentle));
    match parts.adaptation {
        AdaptationKind::Fixed => {}
        AdaptationKind::AdaptiveRed | AdaptationKind::AdaptiveRio if is_straight => {}
        other => {
            let allowed =
                "\"none\", or \"adaptive-red\" or \"adaptive-rio\" with curve \"linear\" or \"gentle\"";
            return error("adaptation", other.name(), allowed);
        }
    }
    Ok(())
}
