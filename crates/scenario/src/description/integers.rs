use aqmlab_aqm::red::adaptation::Trend;
use aqmlab_aqm::red::average::{IdleRule, IntegerEwma, Powers};
use aqmlab_aqm::red::classes::Averages;
use aqmlab_aqm::red::curve::{CurveTable, fixed};
use aqmlab_aqm::red::response::Response;
use aqmlab_aqm::red::spacing::SpacingRule;
use aqmlab_aqm::red::victim::{Ddred, Distance, OverShare, PcRedParams, Refresh, Ties, Victim};
use aqmlab_aqm::red::{ClassState, Crossing, ForcedAt};
use aqmlab_aqm::{DualPi2Settings, Limit, LinkContext, Meta, RedParts, name_of};
use serde_json::{Value as Json, json};

use crate::problem::Problem;
use crate::queue_for_link;

/// Return the integers of a queue with `arithmetic = "integer"`, or of DualPI2 in the dialect of Linux, from which a kernel module
/// is generated. The queue is the body of a `[queue.NAME]` table; null if it does not compute in integers.
///
/// # Errors
/// Return all errors of the queue.
pub fn integers(queue_body: &str, link: LinkContext) -> Result<Json, Vec<Problem>> {
    let resolved = queue_for_link(queue_body, link)?;
    if let Some(settings) = resolved.dualpi2_in_linux() {
        return Ok(dualpi2_json(settings));
    }
    let integers = resolved.red().and_then(|red| Some((red, red.average.integer()?)));
    let json = integers.filter(|(red, _)| red.class_states.iter().all(|class| class.table.is_some()));
    Ok(json.map_or(Json::Null, |(red, average)| queue_json(red, average)))
}

fn queue_json(red: &RedParts, average: &IntegerEwma) -> Json {
    let (params, dialect) = (&red.params, &red.params.dialect);
    let (limit, limit_in_bytes) = number_of(params.limit);
    let (ecn, mark_up_to, mark_forced) = match params.response {
        Response::Drop => (false, 0, false),
        Response::Mark { up_to, at_bound, forced, .. } => {
            let bound = up_to * f64::from(aqmlab_aqm::red::curve::ONE);
            // Where p_b = mark_up_to is not marked, the largest p_b below it is. A p_b of 0 is never picked.
            let largest = if at_bound { bound.floor() } else { (bound.ceil() - 1.0).max(0.0) };
            (true, largest as u32, forced)
        }
    };
    let spacing = &red.class_states[0].spacing;
    json!({
        "wlog": average.wlog,
        "fraction": average.fraction,
        "extra_step": average.extra_step,
        "idle": idle_json(&average.idle),
        "curves": red.class_states.iter().map(curve_json).collect::<Vec<_>>(),
        "class_of": (0..64).map(|dscp| params.classes.of(dscp)).collect::<Vec<_>>(),
        "averages": params.classes.averages(),
        "measured": name_of(&Averages::ALL, &params.classes.measured()),
        "spacing": spacing_name(spacing.rule()),
        "size_reciprocal": spacing.size_scale().map(|scale| scale.reciprocal),
        "in_bytes": params.byte_mode.is_some(),
        "limit": limit,
        "limit_in_bytes": limit_in_bytes,
        "ecn": ecn,
        // The largest p_b that is marked.
        "mark_up_to": mark_up_to,
        "mark_forced": mark_forced,
        "guard_one": dialect.guard_one,
        "crossing_count_one": dialect.crossing == Crossing::CountOne,
        "p_one_is_early": dialect.p_one_is_early,
        "forced_at_end": dialect.forced_at == ForcedAt::End,
        "strict_limit": dialect.strict_limit,
        "full_first": dialect.full_first,
        "overflow_restarts": dialect.overflow_restarts,
        "idle_none_waiting": !dialect.idle_when.while_served(),
        "in_service_counts": dialect.in_service_counts,
        "adaptation": adaptation_json(red),
        "victim": victim_json(&red.victim),
    })
}

/// Return the number of a limit, and whether it is in bytes.
fn number_of(limit: Limit) -> (u64, bool) {
    match limit {
        Limit::Packets(n) => (u64::from(n), false),
        Limit::Bytes(n) => (n, true),
    }
}

/// The constants of DualPI2; times in ns.
fn dualpi2_json(settings: &DualPi2Settings) -> Json {
    let (limit, limit_in_bytes) = number_of(settings.room.limit());
    json!({
        "limit": limit,
        "limit_in_bytes": limit_in_bytes,
        "memlimit": settings.memlimit,
        "target_ns": settings.target,
        "t_update_ns": settings.t_update.0 / 1000,
        "alpha": settings.alpha,
        "beta": settings.beta,
        "coupling": settings.coupling,
        "step_ns": settings.step,
        "step_packets": settings.step_packets,
        "weight_c": settings.weights[0],
        "weight_l": settings.weights[1],
        "mtu": settings.mtu,
        "drops_in_overload": settings.drops_in_overload,
        "at_arrival": settings.at_arrival,
    })
}

fn idle_json(rule: &IdleRule) -> Json {
    match rule {
        IdleRule::Step => json!({ "rule": "step" }),
        IdleRule::Shifts(shifts) => {
            json!({ "rule": "shifts", "cell_log": shifts.cell_log, "shifts": shifts.shifts.to_vec() })
        }
        IdleRule::Powers(powers) => powers_json(powers),
    }
}

fn powers_json(powers: &Powers) -> Json {
    json!({
        "rule": "powers",
        "mult": powers.mult,
        "shift": powers.shift,
        "longest_ns": powers.longest_ns,
        "whole": powers.whole,
        "factors": powers.factors,
    })
}

fn curve_json(class: &ClassState) -> Json {
    let Some(table) = &class.table else { return Json::Null };
    let CurveTable { begin, end, above, segments, points, .. } = &**table;
    let segment = |s: &aqmlab_aqm::red::curve::Segment| json!({ "from": s.from, "scale": s.scale, "shift": s.shift, "first": s.first });
    json!({
        "begin": begin,
        "end": end,
        "above": above,
        "segments": segments.iter().map(segment).collect::<Vec<_>>(),
        "points": points,
        "largest_error": table.largest_error(&class.curve),
        "max_p": fixed(class.curve.max_p()),
    })
}

fn adaptation_json(red: &RedParts) -> Json {
    adaptive_red_json(red).or_else(|| adaptive_rio_json(red)).unwrap_or(Json::Null)
}

/// The constants of Adaptive RED for each class.
fn adaptive_red_json(red: &RedParts) -> Option<Json> {
    let (rule, interval) = red.adaptation.adaptive_red()?;
    let classes = red.class_states.iter().filter_map(|class| {
        let steps = rule.in_integers(&class.curve, class.table.as_ref()?.unit);
        Some(json!({
            "target_low": steps.target_low,
            "target_high": steps.target_high,
        }))
    });
    let steps = rule.in_integers(&red.class_states[0].curve, 1.0);
    Some(json!({
        "rule": "adaptive-red",
        "interval_ns": interval.0 / 1000,
        "alpha": steps.alpha,
        "beta": steps.beta,
        "low": steps.low,
        "high": steps.high,
        "at_bound_too": steps.at_bound_too,
        "above_moves": steps.above_moves,
        "classes": classes.collect::<Vec<_>>(),
    }))
}

/// The constants of Adaptive-RIO, which moves the last class.
fn adaptive_rio_json(red: &RedParts) -> Option<Json> {
    let (rule, interval) = red.adaptation.adaptive_rio()?;
    let table = red.class_states.last()?.table.as_ref()?;
    let steps = rule.in_integers(table.unit)?;
    Some(json!({
        "rule": "adaptive-rio",
        "interval_ns": interval.0 / 1000,
        "window_ns": steps.window.window_ns,
        "reciprocal": steps.window.reciprocal,
        "gap_shift": steps.window.gap_shift,
        "capacity": steps.capacity,
        "c_init": steps.c_init,
        "delta_c": steps.delta_c,
        "epsilon": steps.epsilon,
        "delta_t": steps.delta_t,
        "max_l": steps.max_l,
        "max_u": steps.max_u,
        "min_share": steps.min_share,
        "absence_ns": steps.absence_ns,
        "max_th": table.max_th(),
        "trend": name_of(&Trend::ALL, &rule.trend),
    }))
}

fn victim_json(victim: &Victim) -> Json {
    match victim {
        Victim::Arriving(_) => json!({ "rule": "arriving" }),
        Victim::Ddred(Ddred { distance, ties, arrival_is_candidate, early_only }) => json!({
            "rule": "ddred",
            "unknown_share": match distance {
                Distance::Ttl => None,
                Distance::Fraction(_) => Some(distance.key(&Meta::default())),
            },
            "ties": name_of(&Ties::ALL, ties),
            "arrival_is_candidate": arrival_is_candidate,
            "early_only": early_only,
        }),
        Victim::PcRed(rule) => pc_red_json(rule.params()),
        Victim::Choke(_) | Victim::Custom(_) => Json::Null,
    }
}

/// The constants of PC-RED; sizes of drops in 2^-24 bytes.
fn pc_red_json(params: &PcRedParams) -> Json {
    let Some(powers) = &params.in_integers else { return Json::Null };
    let parts = |bytes: f64| (bytes * PcRedParams::PARTS) as u64;
    let limits = &params.list.limits;
    json!({
        "rule": "pc-red",
        "weight": parts(params.weight),
        "limits": (1..=limits.levels()).map(|level| parts(limits.limit(level))).collect::<Vec<_>>(),
        "decay": powers_json(powers),
        "refresh_on_arrival": params.refresh == Refresh::OnArrival,
        "circular": params.circular,
        "list_size": params.list.size,
        "timeout_ns": params.list.timeout.map(|timeout| timeout.0 / 1000),
        "share": params.list.share(),
        "refuse": params.list.over_share != OverShare::Counted,
    })
}

fn spacing_name(rule: &SpacingRule) -> &'static str {
    match rule {
        SpacingRule::Floyd93(_) | SpacingRule::Ns2NoWait(_) => "uniform",
        SpacingRule::Ns2Wait(_) => "wait",
        SpacingRule::DsRed(_) => "dsred",
        SpacingRule::Bernoulli(_) => "geometric",
        SpacingRule::Linux(_) => "threshold",
    }
}
