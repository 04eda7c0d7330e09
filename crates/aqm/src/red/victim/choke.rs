use super::{VictimPart, VictimRule};
#[cfg(test)]
use crate::Value;
use crate::indexed::{Indexed, Tag};
use crate::red::DialectName;
use crate::red::curve::Curve;
use crate::red::part::Part;
#[cfg(test)]
use crate::red::part::tests::Change;
use crate::spec::ParameterReader;
use crate::{Host, Meta, Parameter, ParameterError, ValueKind, names};

/// CHOKe (R. Pan, B. Prabhakar and K. Psounis, "CHOKe: A Stateless Active Queue Management Scheme for Approximating Fair
/// Bandwidth Allocation", INFOCOM 2000): an arrival that is compared with a packet of its own flow
/// is dropped together with that packet.
///
/// ```text
/// avg <= min_th              the arrival is accepted
/// avg >  min_th              a packet is drawn at random from the queue: if it is of the arrival's flow, both are dropped;
///                            else RED goes on with the arrival: p_b below max_th, always above
/// ```
///
/// A flow that has a share s of the buffer so loses s of its arrivals and as many of its packets that wait, without any
/// record of flows. m packets may be drawn in place of one; with `auto` m follows the average:
///
/// ```text
/// m = 2 i      the average is in part i = 1 .. k of k equal parts of min_th .. max_th, and in part k above it
/// ```
///
/// Readings: drawing is with replacement, and every packet drawn that matches is dropped once; a match drops also where ECN
/// is on, since it finds unresponsive flows (as in Linux `sch_choke.c`); a match leaves RED's count as it is, as in
/// Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choke {
    /// How many packets are drawn.
    pub candidates: Candidates,
    /// Source of the draws.
    pub draw_from: DrawFrom,
}

/// Source of the draws of a packet of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawFrom {
    /// The waiting packets, each with the same probability.
    Packets,
    /// The slots of an array from the first packet to the last arrival, in which packets that were dropped leave empty slots. After
    /// three empty slots the first packet is taken (Linux).
    Slots,
}

const DRAW_FROM_WORDS: [(&str, DrawFrom); 2] = [("packets", DrawFrom::Packets), ("slots", DrawFrom::Slots)];
/// Draws until the first packet is taken (`choke_peek_random`).
const DRAWS_OF_SLOTS: u32 = 3;

/// How many packets are drawn for an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// Always so many.
    Fixed(u32),
    /// Two more in each of so many parts between the thresholds.
    Auto(u32),
}

const PAPER: &str = "Pan, Prabhakar and Psounis 2000";

impl Part for Choke {
    const NAME: &'static str = "choke";
    const DOC: &'static str =
        "the arrival and a packet drawn at random, if they are of one flow; else the arrival";
    const PARAMETERS: &'static [Parameter] = &[
        Parameter::new(
            "candidates",
            "m",
            ValueKind::Number,
            "CHOKe: packets drawn to compare with an arrival",
        )
        .whole()
        .from(1.0)
        .to(64.0)
        .or(&["auto"])
        .source(PAPER),
        Parameter::new(
            "parts",
            "k",
            ValueKind::Number,
            "CHOKe: parts between the thresholds, with candidates = \"auto\"",
        )
        .whole()
        .from(1.0)
        .to(32.0)
        .source(PAPER),
        Parameter::new(
            "draw_from",
            "",
            ValueKind::Choice,
            "CHOKe: packets to compare are drawn from those that wait, or from the slots of Linux's array",
        )
        .or(&names(&DRAW_FROM_WORDS))
        .source("Linux sch_choke.c"),
    ];

    #[cfg(test)]
    fn changes() -> Vec<Change> {
        let auto = Value::Word("auto".into());
        vec![
            Change::to("candidates", Value::Number(5.0)),
            Change::to("parts", Value::Number(1.0)).with("candidates", auto),
            Change::to("draw_from", Value::Word("slots".into())),
        ]
    }
}

impl VictimPart for Choke {
    fn read(reader: &mut ParameterReader<'_>) -> Result<Self, ParameterError> {
        let fixed = reader.integer_or("candidates", 1, "auto");
        let parts = reader.integer("parts", 8);
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let candidates = fixed.map_or(Candidates::Auto(number(parts)), |m| Candidates::Fixed(number(m)));
        let is_linux = reader.dialect_name() == Some(DialectName::Linux);
        let default = if is_linux { DrawFrom::Slots } else { DrawFrom::Packets };
        let draw_from = reader.word_or("draw_from", &DRAW_FROM_WORDS, default);
        Ok(Self { candidates, draw_from })
    }
}

impl Choke {
    /// m at an average, between these thresholds in packets.
    fn draws_between(&self, average: f64, (min_th, max_th): (f64, f64)) -> u32 {
        match self.candidates {
            Candidates::Fixed(m) => m,
            Candidates::Auto(k) => {
                let part = (average - min_th) / (max_th - min_th) * f64::from(k);
                2 * ((part.max(0.0) as u32).min(k - 1) + 1)
            }
        }
    }
}

impl VictimRule for Choke {
    fn compares(&self) -> bool {
        true
    }

    fn keeps_empty_slots(&self) -> bool {
        self.draw_from == DrawFrom::Slots
    }

    fn draws(&self, average: f64, curve: &Curve) -> u32 {
        if average <= curve.min_th() { 0 } else { self.draws_between(average, curve.thresholds()) }
    }

    fn draw<P: Copy>(
        &self,
        queue: &mut Indexed<P>,
        arriving: &Meta,
        host: &mut impl Host<P>,
    ) -> Option<usize> {
        if queue.len() == 0 {
            return None;
        }
        let slot = match self.draw_from {
            DrawFrom::Packets => {
                let place = host.below(queue.len() as u64) as usize;
                queue.index(|_| Tag::default()).nth(place)?
            }
            DrawFrom::Slots => {
                let slots = queue.slots();
                let first = slots.start;
                let mut draw = |_| first + host.below(slots.len() as u64) as usize;
                let taken = |slot: &usize| queue.get_mut(*slot).is_some();
                (0..DRAWS_OF_SLOTS).map(&mut draw).find(taken).unwrap_or(first)
            }
        };
        queue.get_mut(slot).is_some_and(|packet| packet.meta.flow == arriving.flow).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DropReason, Packet};

    #[test]
    fn draws_by_hand() {
        let draw_from = DrawFrom::Packets;
        let auto = Choke { candidates: Candidates::Auto(4), draw_from };
        let m = |average| auto.draws_between(average, (10.0, 50.0));
        assert_eq!([m(10.0), m(19.9), m(20.0), m(39.9), m(40.0), m(50.0), m(70.0)], [2, 2, 4, 6, 8, 8, 8]);
        assert_eq!(
            Choke { candidates: Candidates::Fixed(1), draw_from }.draws_between(70.0, (10.0, 50.0)),
            1
        );
    }

    /// Returns these numbers as the slots that are drawn.
    struct Slots(Vec<u64>);

    impl Host<u32> for Slots {
        fn uniform(&mut self) -> f64 {
            unreachable!("no probability is drawn")
        }
        fn below(&mut self, n: u64) -> u64 {
            let drawn = self.0.remove(0);
            assert!(drawn < n, "{drawn} of {n}");
            drawn
        }
        fn dropped(&mut self, _packet: Packet<u32>, _reason: DropReason) {}
        fn marked(&mut self, _packet: &Packet<u32>, _reason: DropReason) {}
    }

    #[test]
    fn draws_from_slots_by_hand() {
        let choke = Choke { candidates: Candidates::Fixed(1), draw_from: DrawFrom::Slots };
        let mut queue = Indexed::with_empty_slots();
        let meta = |flow| Meta { flow, bytes: 100, ..Meta::default() };
        (0..5).for_each(|flow| queue.push(Packet { meta: meta(flow), payload: flow }));
        // Slots 1 and 4 become empty; the last one still counts.
        queue.remove(1);
        queue.remove(4);
        let draw = |queue: &mut Indexed<u32>, flow, slots: &[u64]| {
            let mut host = Slots(slots.to_vec());
            let found = choke.draw(queue, &meta(flow), &mut host);
            (found, host.0.len())
        };
        assert_eq!(draw(&mut queue, 2, &[2]), (Some(2), 0));
        assert_eq!(draw(&mut queue, 3, &[2]), (None, 0));
        assert_eq!(draw(&mut queue, 3, &[4, 1, 3]), (Some(3), 0));
        assert_eq!(draw(&mut queue, 0, &[4, 1, 4, 9]), (Some(0), 1));
        // The head goes past the empty slot behind it.
        queue.pop();
        assert_eq!((queue.slots(), draw(&mut queue, 2, &[2, 2, 2])), (2..5, (Some(2), 0)));
        (5..500).for_each(|flow| queue.push(Packet { meta: meta(flow), payload: flow }));
        assert_eq!((queue.slots().len(), queue.len()), (498, 497));
    }
}
