use aqmlab_units::Span;

use super::classes::ResolvedClasses;
use super::{LinkContext, Numbers, ParameterError, Spec, Value, name_of, named, word_of};
use crate::preset::RedPreset;
use crate::red::adaptation::{
    Adaptation, AdaptationRule, AdaptiveRed, AdaptiveRio, Clock, Feng, Load, Trend,
};

/// What an adaptation is resolved against.
pub(super) struct AdaptationContext<'a> {
    pub link: LinkContext,
    /// The class whose thresholds move.
    pub last: &'a Numbers,
    /// The most precious of several classes.
    pub first: Option<&'a Numbers>,
    pub curve: &'a str,
    pub classes: &'a ResolvedClasses,
}

type Effective = Vec<(String, Value)>;

impl Spec {
    pub(super) fn adaptation(
        &self,
        preset: &RedPreset,
        context: &AdaptationContext<'_>,
        effective: &mut Effective,
    ) -> Result<Adaptation, Vec<ParameterError>> {
        let name = self.word("adaptation").unwrap_or(preset.adaptation);
        effective.push(("adaptation".into(), Value::Word(name.into())));
        if name != "none" && context.curve == "points" {
            return error(
                "adaptation",
                format!("\"{name}\" moves max_p or thresholds, which a curve through points has not"),
                "\"none\", or another curve",
            );
        }
        if ["feng", "adaptive-red"].contains(&name) {
            self.max_p_above_0(name, context.classes)?;
        }
        let (rule, default_interval) = match name {
            "feng" => (self.feng(context, effective)?, None),
            "adaptive-red" => (self.adaptive_red(effective)?, Some(0.5)),
            "load" => (self.load(context, effective)?, Some(0.1)),
            "adaptive-rio" => (self.adaptive_rio(context, effective)?, Some(0.2)),
            _ => (AdaptationRule::None, None),
        };
        let interval = default_interval.map(|s| self.seconds("adapt_interval").unwrap_or(s));
        let clock = if self.word("adapt_clock") == Some("timer") { Clock::Timer } else { Clock::Arrival };
        if let Some(interval) = interval {
            let word = if clock == Clock::Timer { "timer" } else { "arrival" };
            effective.push(("adapt_interval".into(), Value::Seconds(interval)));
            effective.push(("adapt_clock".into(), Value::Word(word.into())));
        }
        Ok(Adaptation::new(rule, clock, Span::from_secs(interval.unwrap_or(0.0))))
    }

    fn feng(
        &self,
        context: &AdaptationContext<'_>,
        effective: &mut Effective,
    ) -> Result<AdaptationRule, Vec<ParameterError>> {
        let alpha = self.number("feng_alpha").unwrap_or(3.0);
        let beta = self.number("feng_beta").unwrap_or(2.0);
        effective
            .extend(named(vec![("feng_alpha", Value::Number(alpha)), ("feng_beta", Value::Number(beta))]));
        let bounds = self.max_p_bounds((1e-6, 1.0), effective)?;
        Ok(AdaptationRule::Feng(vec![Feng::new(alpha, beta, bounds); context.classes.numbers.len()]))
    }

    fn adaptive_red(&self, effective: &mut Effective) -> Result<AdaptationRule, Vec<ParameterError>> {
        let alpha = self.number("ared_alpha").unwrap_or(0.01);
        let beta = self.number("ared_beta").unwrap_or(0.9);
        effective
            .extend(named(vec![("ared_alpha", Value::Number(alpha)), ("ared_beta", Value::Number(beta))]));
        let bounds = self.max_p_bounds((0.01, 0.5), effective)?;
        Ok(AdaptationRule::AdaptiveRed(AdaptiveRed { alpha, beta, bounds }))
    }

    fn load(
        &self,
        context: &AdaptationContext<'_>,
        effective: &mut Effective,
    ) -> Result<AdaptationRule, Vec<ParameterError>> {
        let target = self.number("target_loss").unwrap_or(0.02);
        let filter = self.number("loss_filter").unwrap_or(0.1);
        let gain = self.packets("load_gain", context.last.mean_packet).unwrap_or(0.5);
        effective.extend(named(vec![
            ("target_loss", Value::Number(target)),
            ("loss_filter", Value::Number(filter)),
            ("load_gain", Value::Packets(gain)),
        ]));
        let (bounds, ratio) = self.threshold_bounds(context, effective)?;
        Ok(AdaptationRule::Load(Box::new(Load::new(target, gain, filter, bounds, ratio))))
    }

    fn adaptive_rio(
        &self,
        context: &AdaptationContext<'_>,
        effective: &mut Effective,
    ) -> Result<AdaptationRule, Vec<ParameterError>> {
        let share = |key: &str, default: f64| self.number(key).unwrap_or(default);
        let (bounds, alpha) = self.threshold_bounds(context, effective)?;
        let window = self.seconds("tsw_window").unwrap_or(5.0);
        let absence = self.seconds("absence").unwrap_or(1.0);
        let trend = word_of(&Trend::ALL, self.word("trend")).unwrap_or(Trend::Both);
        let rule = AdaptiveRio {
            capacity: context.link.rate.bps(),
            c_init: share("c_init", 0.9),
            delta_c: share("delta_c", 0.0002),
            delta_t: share("delta_t", 0.02),
            epsilon: share("epsilon", 0.025),
            bounds,
            alpha,
            window: Span::from_secs(window),
            absence: Span::from_secs(absence),
            trend,
        };
        effective.extend(named(vec![
            ("c_init", Value::Number(rule.c_init)),
            ("delta_c", Value::Number(rule.delta_c)),
            ("delta_t", Value::Number(rule.delta_t)),
            ("epsilon", Value::Number(rule.epsilon)),
            ("tsw_window", Value::Seconds(window)),
            ("absence", Value::Seconds(absence)),
            ("trend", Value::Word(name_of(&Trend::ALL, trend).into())),
        ]));
        Ok(Adaptation::adaptive_rio(rule))
    }

    /// Rules that multiply max_p never leave 0.
    fn max_p_above_0(&self, rule: &str, classes: &ResolvedClasses) -> Result<(), Vec<ParameterError>> {
        let Some(i) = classes.numbers.iter().position(|n| n.max_p == 0.0) else { return Ok(()) };
        let name = &classes.names[i];
        let has_own = self.classes.iter().any(|c| c.name == *name && c.set.contains_key("max_p"));
        let key = if has_own { format!("class.{name}.max_p") } else { "max_p".into() };
        error(&key, format!("\"{rule}\" multiplies max_p, which stays 0"), "0 < x <= 1")
    }

    fn max_p_bounds(
        &self,
        default: (f64, f64),
        effective: &mut Effective,
    ) -> Result<(f64, f64), Vec<ParameterError>> {
        let low = self.number("max_p_low").unwrap_or(default.0);
        let high = self.number("max_p_high").unwrap_or(default.1);
        if low > high {
            let message = format!("max_p_low ({low}) is above max_p_high ({high})");
            return error("max_p_low", message, "max_p_low <= max_p_high");
        }
        effective.extend(named(vec![("max_p_low", Value::Number(low)), ("max_p_high", Value::Number(high))]));
        Ok((low, high))
    }

    /// max_L and max_U, and max_th over min_th.
    fn threshold_bounds(
        &self,
        context: &AdaptationContext<'_>,
        effective: &mut Effective,
    ) -> Result<((f64, f64), f64), Vec<ParameterError>> {
        let mean_packet = context.last.mean_packet;
        let low = self.packets("max_l", mean_packet).unwrap_or(context.last.max_th);
        let limit = context.last.limit.in_packets(mean_packet);
        // ExRED's curve needs room between max_th and the end of the buffer.
        let highest = if context.curve == "exred" { 0.9 * limit } else { limit };
        let ceiling = context.first.map_or(highest, |first| first.max_th.min(highest));
        let high = self.packets("max_u", mean_packet).unwrap_or((4.0 * low).min(ceiling).max(low));
        let alpha = self.number("alpha").unwrap_or(3.0);
        if low > high {
            let message = format!("max_l ({low}p) is above max_u ({high}p)");
            return error("max_l", message, "0 < max_l <= max_u");
        }
        if let Some(first) = context.first.filter(|first| high > first.max_th) {
            let message = format!("max_u ({high}p) is above max_th of the first class ({}p)", first.max_th);
            return error("max_u", message, "at most the first class's max_th");
        }
        if context.curve == "exred" && high >= limit {
            let message =
                format!("max_u ({high}p) is not below the limit ({limit}p), where ExRED's curve ends");
            return error("max_u", message, "below the limit");
        }
        effective.extend(named(vec![
            ("max_l", Value::Packets(low)),
            ("max_u", Value::Packets(high)),
            ("alpha", Value::Number(alpha)),
        ]));
        Ok(((low, high), alpha))
    }
}

fn error<T>(key: &str, message: String, allowed: &str) -> Result<T, Vec<ParameterError>> {
    Err(vec![ParameterError { key: key.into(), message, allowed: allowed.into() }])
}
