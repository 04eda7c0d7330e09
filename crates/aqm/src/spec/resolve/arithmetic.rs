use super::parts::{Chosen, ChosenParts};
use super::red::Numbers;
use super::{DialectName, Limit, ParameterError, ParameterReader};
use crate::red::adaptation::AdaptationKind;
use crate::red::average::{Average, Ewma, IdleRule, IntegerEwma, Powers, Shifts};
use crate::red::classes::Classes;
use crate::red::curve::{Curve, CurveKind, CurveTable};
use crate::red::{AtIdle, ByteScaling, Dialect, IdleWhen};
use crate::registry::ARITHMETIC_WORDS;

/// The arithmetic of average, curve and spacing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arithmetic {
    /// Numbers with a floating point; the average of the dialect `linux` is in integers nonetheless.
    Exact,
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
            Self::Exact => None,
            Self::Integer { unit } => Some(CurveTable::new(curve, unit)),
        }
    }
}

impl ParameterReader<'_> {
    /// Return the arithmetic and the average of a queue; its weight in `numbers` becomes the effective one.
    pub(super) fn average(
        &mut self,
        parts: &ChosenParts,
        dialect: &Dialect,
        in_bytes: bool,
        numbers: &mut Numbers,
    ) -> Result<(Arithmetic, Average), ParameterError> {
        let is_integer = self.word("arithmetic", &ARITHMETIC_WORDS);
        let packets_per_s = self.packets_per_s(numbers.mean_packet);
        let as_linux = match dialect.at_idle {
            AtIdle::Table => true,
            AtIdle::None => self.dialect_name() == Some(DialectName::Linux),
            AtIdle::Real | AtIdle::Integer => false,
        };
        if !is_integer && !as_linux {
            let average = Ewma::new(numbers.w_q, packets_per_s, dialect.at_idle, dialect.idle_extra_step);
            return Ok((Arithmetic::Exact, Average::Ewma(average)));
        }
        let wlog = IntegerEwma::nearest_wlog(numbers.w_q);
        let fraction = if is_integer { fraction(wlog, numbers)? } else { 0 };
        numbers.w_q = libm::exp2(-f64::from(wlog));
        let idle = match dialect.at_idle {
            AtIdle::None => IdleRule::Step,
            AtIdle::Table => IdleRule::Shifts(Shifts::new(wlog, 1.0 / packets_per_s)),
            at_idle => IdleRule::Powers(Powers::new(wlog, packets_per_s, at_idle)),
        };
        let average = Average::Integer(IntegerEwma::new(wlog, fraction, idle, dialect.idle_extra_step));
        if !is_integer {
            return Ok((Arithmetic::Exact, average));
        }
        check(parts, dialect, in_bytes)?;
        let unit = libm::exp2(f64::from(fraction)) * if in_bytes { numbers.mean_packet } else { 1.0 };
        Ok((Arithmetic::Integer { unit }, average))
    }
}

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

/// Check that the idle rule has a form in integers.
pub(super) fn check_idle_rule(classes: &Classes, dialect: &Dialect) -> Result<(), ParameterError> {
    if dialect.idle_when != IdleWhen::ClassEmpty || classes.averages() == classes.count() {
        return Ok(());
    }
    let message = "\"class-empty\" with a shared average has no form in integers (arithmetic = \"integer\")";
    Err(ParameterError::new("idle_when", message.into(), "one of \"free\", \"none-waiting\""))
}

/// Check that every part has a form in integers.
fn check(parts: &ChosenParts, dialect: &Dialect, in_bytes: bool) -> Result<(), ParameterError> {
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
