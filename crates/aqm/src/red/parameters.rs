//! The parameters of RED and its descendants: those of every queue, and those of its parts.

use std::sync::LazyLock;

use super::adaptation::AdaptationKind;
use super::classes::Averages;
use super::curve::CurveKind;
use super::spacing::SpacingKind;
use super::victim::VictimKind;
use super::{AtIdle, ByteScaling, Crossing, ForcedAt, IdleWhen, PART_KINDS, PartKind};
use crate::registry::{DIALECT, ECN, LIMIT, MODE_WORDS, NS2};
use crate::{Parameter, ValueKind, names};

const FJ93: &str = "Floyd and Jacobson 1993";

/// Return the parts that alone have this parameter; none where every queue has it.
pub fn parts_with(parameter: &Parameter) -> impl Iterator<Item = &'static str> {
    // Non-RED disciplines may have parameters with the same names.
    let of_red = RED.iter().any(|p| std::ptr::eq(p, parameter));
    let parts = PART_KINDS.iter().flat_map(|kind| kind.parts).filter(move |_| of_red);
    let key = parameter.key;
    parts.filter(move |part| part.parameters.iter().any(|p| p.key == key)).map(|part| part.name)
}

/// The arithmetic of average, curve and spacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArithmeticWord {
    /// Numbers with a floating point; the average of the dialect `linux` is in integers nonetheless.
    Exact,
    /// Integers of a generated kernel module.
    Integer,
    /// The integers of Linux's RED.
    Linux,
}

/// The words of `arithmetic`.
pub(crate) const ARITHMETIC_WORDS: [(&str, ArithmeticWord); 3] = [
    ("exact", ArithmeticWord::Exact),
    ("integer", ArithmeticWord::Integer),
    ("linux", ArithmeticWord::Linux),
];

/// Parameters of RED and its descendants: those of every queue, and those of its parts.
///
/// The parameters of a curve or a spacing rule stand behind the choice of it, those of victims and adaptations at the end.
pub(crate) static RED: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for parameter in COMMON {
        all.push(*parameter);
        let kind = PartKind::find(parameter.key).filter(|kind| ["curve", "spacing"].contains(&kind.key));
        all.extend(kind.iter().flat_map(PartKind::parameters));
    }
    let last = PART_KINDS.iter().filter(|kind| ["victim", "adaptation"].contains(&kind.key));
    all.extend(last.flat_map(PartKind::parameters));
    all
});

/// Parameters of every RED queue.
const COMMON: &[Parameter] = &[
    LIMIT,
    Parameter::new(
        "min_th",
        "min_th",
        ValueKind::PacketsOrBytes,
        "average from which packets are dropped by chance; k_l in ExRED",
    )
    .above(0.0)
    .or(&["auto"])
    .source(FJ93),
    Parameter::new(
        "max_th",
        "max_th",
        ValueKind::PacketsOrBytes,
        "average below which p_b rises to max_p; k_h in ExRED",
    )
    .above(0.0)
    .or(&["auto"])
    .source(FJ93),
    Parameter::new(
        "max_p",
        "max_p",
        ValueKind::Number,
        "p_b just below max_th; at the middle of the thresholds in double-slope; in nlred 2/3 of p_b just below max_th",
    )
    .from(0.0)
    .to(1.0)
    .source(FJ93),
    Parameter::new("w_q", "w_q", ValueKind::Number, "weight of one queue sample in the average")
        .above(0.0)
        .to(1.0)
        .or(&["auto", "auto-1s", "auto-0.1s"])
        .source(FJ93),
    Parameter::new(
        "mean_packet",
        "s",
        ValueKind::Bytes,
        "mean packet size: unit of idle time and of byte mode",
    )
    .from(1.0)
    .source(NS2),
    Parameter::new("mode", "", ValueKind::Choice, "what queue and average are measured in")
        .or(&names(&MODE_WORDS))
        .source(NS2),
    Parameter::new("curve", "", ValueKind::Choice, "p_b as a function of the average").or(CurveKind::NAMES),
    Parameter::new("spacing", "", ValueKind::Choice, "how drops are spread, given p_b")
        .or(SpacingKind::NAMES),
    Parameter::new("victim", "", ValueKind::Choice, "which packet is dropped or marked")
        .or(VictimKind::NAMES),
    Parameter::new("averages", "", ValueKind::Choice, "classes: what the average of each measures")
        .or(&names(&Averages::ALL))
        .source("Clark and Fang 1998"),
    Parameter::new("adaptation", "", ValueKind::Choice, "how parameters move").or(AdaptationKind::NAMES),
    ECN,
    Parameter::new(
        "arithmetic",
        "",
        ValueKind::Choice,
        "average, curve and spacing as numbers with a floating point, in integers of a module, or in those of Linux's RED",
    )
    .or(&names(&ARITHMETIC_WORDS))
    .source("Linux include/net/red.h"),
    DIALECT,
    Parameter::new("at_idle", "", ValueKind::Choice, "decay of the average over an idle period")
        .or(&names(&AtIdle::ALL)),
    Parameter::new(
        "idle_extra_step",
        "",
        ValueKind::Flag,
        "one more step of the average after an idle period",
    )
    .source(NS2),
    Parameter::new(
        "guard_one",
        "",
        ValueKind::Flag,
        "no early and no forced drop while at most one packet waits",
    )
    .source(NS2),
    Parameter::new("crossing", "", ValueKind::Choice, "the first arrival above min_th")
        .or(&names(&Crossing::ALL)),
    Parameter::new("p_one_is_early", "", ValueKind::Flag, "p_b = 1 goes through spacing (use_mark_p_)")
        .source(NS2),
    Parameter::new(
        "forced_at",
        "",
        ValueKind::Choice,
        "without p_one_is_early: a drop is forced where p_b is 1, or from the end of the curve on",
    )
    .or(&names(&ForcedAt::ALL))
    .source(NS2),
    Parameter::new(
        "mark_up_to",
        "mark_p",
        ValueKind::Number,
        "largest p_b at which ECN marks instead of dropping",
    )
    .from(0.0)
    .to(1.0)
    .source(NS2),
    Parameter::new(
        "mark_at_bound",
        "",
        ValueKind::Flag,
        "ECN also marks where p_b is mark_up_to (ns-2 with the patch of DCTCP)",
    )
    .source("Alizadeh et al. 2010, ns-2 code"),
    Parameter::new("mark_forced", "", ValueKind::Flag, "ECN also marks where every packet would be dropped")
        .source("Linux sch_red.c"),
    Parameter::new(
        "nodrop",
        "",
        ValueKind::Flag,
        "with ECN: accept a packet that is not ECN-capable where another one would be marked",
    )
    .source("Linux sch_red.c"),
    Parameter::new("byte_scaling", "", ValueKind::Choice, "where byte mode scales by packet size")
        .or(&names(&ByteScaling::ALL)),
    Parameter::new(
        "strict_limit",
        "",
        ValueKind::Flag,
        "byte mode: full when the bytes waiting reach the limit",
    )
    .source(NS2),
    Parameter::new("full_first", "", ValueKind::Flag, "a full buffer drops before average, count and draw")
        .source("ns-2.35 diffserv/dsredq.cc"),
    Parameter::new("overflow_restarts", "", ValueKind::Flag, "a drop by a full buffer restarts the count")
        .source(NS2),
    Parameter::new("idle_when", "", ValueKind::Choice, "when the idle time of an average runs")
        .or(&names(&IdleWhen::ALL))
        .source("ns-2.35 diffserv/dsredq.cc"),
    Parameter::new("in_service_counts", "", ValueKind::Flag, "the packet in transmission counts as queued")
        .source("ExRED eq. 9 (M/M/1/K); Linux sch_tbf.c"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{CLASS, DROP_TAIL};

    fn find(key: &str) -> &'static Parameter {
        RED.iter().find(|p| p.key == key).expect("a parameter of RED")
    }

    #[test]
    fn ranges_in_words() {
        assert_eq!(find("max_p").allowed(), "0 <= x <= 1");
        assert_eq!(find("max_p_low").allowed(), "0 < x <= 1");
        assert_eq!(find("mode").allowed(), "one of \"packets\", \"bytes\"");
        assert_eq!(find("ecn").allowed(), "true or false");
        assert!(find("max_p").admits(1.0) && find("max_p").admits(0.0));
        assert!(!find("w_q").admits(0.0) && !find("max_p").admits(-0.1));
        assert!(!find("max_p").admits(f64::NAN));
    }

    #[test]
    fn a_class_has_parameters_of_red() {
        for key in CLASS {
            find(key);
        }
    }

    #[test]
    fn parameters_know_their_parts() {
        let parts = |key| parts_with(find(key)).collect::<Vec<_>>();
        assert_eq!(parts("ties"), ["ddred"]);
        assert!(parts("max_p_low").starts_with(&["feng", "adaptive-red"]));
        assert!(parts("adapt_interval").starts_with(&["adaptive-red", "load", "adaptive-rio"]));
        assert!(parts("limit").is_empty());
    }

    #[test]
    fn parts_describe_a_parameter_that_they_share_alike() {
        for part in PART_KINDS.iter().flat_map(|kind| kind.parts) {
            for parameter in part.parameters {
                let known = format!("{:?}", find(parameter.key));
                assert_eq!(known, format!("{parameter:?}"), "{}", part.name);
            }
        }
    }

    #[test]
    fn parts_of_a_kind_have_names_of_their_own() {
        for kind in PART_KINDS {
            assert_eq!(find(kind.key).choices, kind.parts.iter().map(|part| part.name).collect::<Vec<_>>());
            for part in kind.parts {
                assert_eq!(
                    kind.parts.iter().filter(|other| other.name == part.name).count(),
                    1,
                    "{}",
                    part.name
                );
                assert!(!part.doc.is_empty(), "{}", part.name);
            }
        }
    }

    #[test]
    fn keys_are_unique() {
        for table in [DROP_TAIL, &RED] {
            let mut keys: Vec<_> = table.iter().map(|p| p.key).collect();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), table.len());
        }
    }
}
