//! Calls: delays and losses after a playout buffer ([`playout`]), rated by the E-model ([`e_model`]).
//!
//! They are judged over the whole run, its warm-up included: a call that began early would lose its start.

pub mod e_model;
pub mod playout;
mod score;

use aqmlab_netsim::Words;

use crate::quantity::Better::Higher;
use crate::quantity::Compared::Tested;
use crate::quantity::View::{Agreement, Laboratory, Notebook, Rfc7928, Spread, SweepReport};
use crate::quantity::{Compared, Groups, Quantity};
use crate::run::{Run, each_of_several};
use crate::sum::mean;

pub use score::{DirectionScore, Judging, Packets, Score};

/// Differences that users notice: scores are compared in tenths (ITU-T P.800.1).
const NOTABLE: f64 = 0.1;

pub(crate) const QUANTITIES: &[Quantity] = &[
    Quantity::new("mos", "MOS of calls", "1", 2, 160, |run| of_all(run, mean_opinion))
        .doc("mean opinion score, mean over both directions of all calls (E-model)")
        .bounds(e_model::WORST, e_model::BEST)
        .head("calls'", "MOS")
        .better(Higher)
        .notable(NOTABLE)
        .compared(Tested)
        .seldom()
        .by_group(Groups {
            title: "",
            head: "",
            doc: "",
            compared: Compared::Tested,
            values: |run| of_groups(run, mean_opinion),
        })
        .hidden(&[SweepReport, Spread, Notebook, Agreement, Rfc7928]),
    Quantity::new("mos_worse", "MOS of calls, worse way", "1", 2, 170, |run| of_all(run, mean_of_worse))
        .doc("mean over all calls of their worse direction's MOS")
        .bounds(e_model::WORST, e_model::BEST)
        .head("MOS of", "worse way")
        .better(Higher)
        .notable(NOTABLE)
        .compared(Tested)
        .by_group(Groups {
            title: "",
            head: "",
            doc: "",
            compared: Compared::Tested,
            values: |run| of_groups(run, mean_of_worse),
        })
        .hidden(&[SweepReport, Spread, Notebook, Laboratory, Agreement, Rfc7928]),
    direction("mos_there", "MOS of calls, there", 171, |run| {
        of_all(run, |scores| of_direction(scores, "there"))
    })
    .doc("mean over all calls of the MOS of the direction NAME.there, from `from` to `to` of the flow")
    .head("MOS of", "way there"),
    direction("mos_back", "MOS of calls, back", 172, |run| {
        of_all(run, |scores| of_direction(scores, "back"))
    })
    .doc("mean over all calls of the MOS of the direction NAME.back")
    .head("MOS of", "way back"),
];

/// Return a quantity of one direction of calls. The two means tell less than the worse one; they are for details.
const fn direction(
    key: &'static str,
    title: &'static str,
    rank: u16,
    value: fn(&Run<'_>) -> Option<f64>,
) -> Quantity {
    Quantity::new(key, title, "1", 2, rank, value)
        .bounds(e_model::WORST, e_model::BEST)
        .better(Higher)
        .notable(NOTABLE)
        .hidden(&[SweepReport, Spread, Notebook, Laboratory, Agreement, Rfc7928])
}

/// Return the mean over the directions of one name; NaN without such directions.
fn of_direction(scores: &[&DirectionScore], name: &str) -> f64 {
    let is_own = |one: &&&DirectionScore| one.flow.rsplit_once('.').is_some_and(|(_, own)| own == name);
    mean(&scores.iter().filter(is_own).map(|one| one.score.mos).collect::<Vec<_>>())
}

fn of_all(run: &Run<'_>, measure: fn(&[&DirectionScore]) -> f64) -> Option<f64> {
    let scores: Vec<_> = run.scores().iter().collect();
    (!scores.is_empty()).then(|| measure(&scores))
}

/// Measure the calls of each group of flows, if several groups have calls.
fn of_groups(run: &Run<'_>, measure: fn(&[&DirectionScore]) -> f64) -> Vec<(String, f64)> {
    let (Some(flows), Some(groups)) = (run.words("flows", "flow"), run.words("flows", "group")) else {
        return Vec::new();
    };
    let group = |one: &DirectionScore| {
        flows.iter().position(|flow| flow == one.flow).map_or("", |row| groups.get(row))
    };
    let scores = run.scores();
    let of_scores: Words = scores.iter().map(group).collect();
    each_of_several(&of_scores, (0..scores.len()).collect(), |own| {
        Some(measure(&own.iter().map(|&index| &scores[index]).collect::<Vec<_>>()))
    })
}

fn mean_opinion(scores: &[&DirectionScore]) -> f64 {
    mean(&scores.iter().map(|one| one.score.mos).collect::<Vec<_>>())
}

/// A call is two flows, `NAME.there` and `NAME.back`; a conversation is as good as the worse of them.
fn mean_of_worse(scores: &[&DirectionScore]) -> f64 {
    let mut worse: Vec<(&str, f64)> = Vec::new();
    for one in scores {
        let call = one.flow.rsplit_once('.').map_or("", |(call, _)| call);
        match worse.iter_mut().find(|(known, _)| *known == call) {
            Some((_, mos)) => *mos = mos.min(one.score.mos),
            None => worse.push((call, one.score.mos)),
        }
    }
    mean(&worse.iter().map(|(_, mos)| *mos).collect::<Vec<_>>())
}

/// Score all directions of calls of a run, with the defaults of [`Judging`].
pub(crate) fn scores_of(run: &Run<'_>) -> Vec<DirectionScore> {
    let numbers = |column| run.numbers("call_packets", column);
    let (Some(flows), Some(packets), Some(sent), Some(delays)) =
        (run.words("call_packets", "flow"), numbers("packet"), numbers("sent_s"), numbers("delay_s"))
    else {
        return Vec::new();
    };
    Packets { flows: &flows, numbers: &packets, sent_s: &sent, delays_s: &delays }.scores(&Judging::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_direction_has_its_mean() {
        let score = |flow: &str, mos| DirectionScore {
            flow: flow.to_owned(),
            score: Score { mos, ..Judging::default().score(&[], &[], 0) },
        };
        let scores = [score("a.0.there", 4.0), score("a.0.back", 2.0), score("a.1.there", 3.0)];
        let scores: Vec<_> = scores.iter().collect();
        assert_eq!((of_direction(&scores, "there"), of_direction(&scores, "back")), (3.5, 2.0));
        assert_eq!(mean_of_worse(&scores), 2.5);
        assert!(of_direction(&scores, "up").is_nan());
    }
}
