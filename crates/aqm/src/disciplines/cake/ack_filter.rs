//! ACK filter (section III.D of the paper; Linux): an acknowledgement that arrives makes older ones of its flow superfluous.
//!
//! The filter looks from the head of the queue for acknowledgements that tell nothing that the arriving one does not. It drops the first of
//! two, or, if it is aggressive, also one that the arriving one follows at once and whose ECN echo is equal. An older one may be dropped if its
//! number is not above that of the arriving one, its time stamps are not later, and the arriving one covers its SACK blocks; where the
//! numbers are equal, the arriving one has to cover more than these. Another ECN echo behind it keeps it.
//!
//! Difference from Linux: where the values of options are not known, as in simulations, an acknowledgement with options is never dropped.

use crate::disciplines::flow_queues::FlowQueues;
use crate::{AckFields, AckOptions, DropClass, DropReason, Host, Kind, KnownOptions, Packet};

/// The drop of an older acknowledgement.
pub(super) const ACK_FILTER: DropReason = DropReason::new(&("ack-filter", DropClass::Forced));

/// Which acknowledgements are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckFilter {
    /// None.
    #[default]
    Off,
    /// All but the last two.
    On,
    /// All but the last one.
    Aggressive,
}

impl AckFilter {
    /// The words of a scenario file, the default first.
    pub const WORDS: [(&'static str, Self); 3] =
        [("off", Self::Off), ("on", Self::On), ("aggressive", Self::Aggressive)];

    /// Return the slot of the packet to drop for the packet at the tail of a queue, if there is one.
    pub fn superfluous<P: Copy + Default>(
        self,
        queues: &FlowQueues<P>,
        queue: usize,
        arrived: &Packet<P>,
        host: &mut impl Host<P>,
    ) -> Option<u32> {
        if self == Self::Off || arrived.meta.header.kind() != Kind::Ack {
            return None;
        }
        let new = host.ack_fields(arrived)?;
        let older = queues.backlog(queue).packets as usize - 1;
        let (mut found, mut count, mut is_next_to_last) = (None::<(u32, u8)>, 0, false);
        for (slot, packet) in queues.slots(queue).take(older) {
            is_next_to_last = false;
            let is_of_flow = packet.meta.flow == arrived.meta.flow && packet.meta.header.kind() == Kind::Ack;
            let Some(old) = host.ack_fields(packet).filter(|_| is_of_flow) else { continue };
            if found.is_some_and(|(_, ecn)| ecn != old.ecn) {
                (found, count) = (None, count - 1);
            }
            if !is_covered(old, new) {
                continue;
            }
            is_next_to_last = found.is_none();
            let (first, _) = *found.get_or_insert((slot, old.ecn));
            if count > 0 {
                return Some(first);
            }
            count += 1;
        }
        let (first, ecn) = found?;
        (self == Self::Aggressive && is_next_to_last && ecn == new.ecn).then_some(first)
    }
}

/// Return whether an older acknowledgement tells nothing that a new one does not.
fn is_covered(old: AckFields, new: AckFields) -> bool {
    let difference = old.number.wrapping_sub(new.number);
    if !old.is_pure || difference > 0 {
        return false;
    }
    let known = |options| match options {
        AckOptions::None => Some(KnownOptions::default()),
        AckOptions::Known(known) => Some(known),
        AckOptions::Unknown => None,
    };
    let Some(old_options) = known(old.options) else { return false };
    let Some(new_options) = known(new.options) else {
        return old.options == AckOptions::None;
    };
    let is_later = |(old, new): (u32, u32)| is_after(old, new);
    if old_options.stamps.into_iter().zip(new_options.stamps).any(is_later) {
        return false;
    }
    match covers(new_options.sack(), old_options.sack(), old.number as u32) {
        Cover::Less => false,
        Cover::Equal => difference < 0,
        Cover::More => true,
    }
}

/// How the SACK blocks of one acknowledgement cover those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cover {
    /// Not all of them, or they have a duplicate SACK.
    Less,
    /// All of them.
    Equal,
    /// All of them and more bytes.
    More,
}

/// Compare the new blocks with the old ones, whose acknowledgement has this number.
fn covers(new: &[[u32; 2]], old: &[[u32; 2]], number: u32) -> Cover {
    if old.is_empty() || new.is_empty() {
        return match (old.is_empty(), new.is_empty()) {
            (true, true) => Cover::Equal,
            (true, false) => Cover::More,
            (false, _) => Cover::Less,
        };
    }
    let is_within = |[first, end]: [u32; 2], [outer, outer_end]: [u32; 2]| {
        !is_after(outer, first) && !is_after(end, outer_end)
    };
    let is_duplicate = |block: &[u32; 2]| is_after(number, block[0]);
    if old.iter().any(|block| is_duplicate(block) || !new.iter().any(|outer| is_within(*block, *outer))) {
        return Cover::Less;
    }
    let bytes = |blocks: &[[u32; 2]]| {
        blocks.iter().fold(0_u32, |sum, [first, end]| sum.wrapping_add(end.wrapping_sub(*first)))
    };
    if bytes(new) > bytes(old) { Cover::More } else { Cover::Equal }
}

/// Return whether a number that wraps is after another one.
fn is_after(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Header, Meta};

    /// The fields of acknowledgements are their payloads.
    struct Fields;

    type Ack = (i32, u8, bool);

    impl Host<Ack> for Fields {
        fn uniform(&mut self) -> f64 {
            0.0
        }
        fn below(&mut self, _n: u64) -> u64 {
            0
        }
        fn dropped(&mut self, _packet: Packet<Ack>, _reason: DropReason) {}
        fn marked(&mut self, _packet: &Packet<Ack>, _reason: DropReason) {}
        fn ack_fields(&mut self, packet: &Packet<Ack>) -> Option<AckFields> {
            let (number, ecn, has_options) = packet.payload;
            let options = if has_options { AckOptions::Unknown } else { AckOptions::None };
            Some(AckFields { number, ecn, is_pure: true, options })
        }
    }

    /// The number of the dropped acknowledgement, where the last of these arrives.
    fn dropped(filter: AckFilter, acks: &[Ack]) -> Option<i32> {
        let mut queues = FlowQueues::new(1);
        let header = Header::default().with_kind(Kind::Ack);
        let packet = |payload| Packet { meta: Meta { bytes: 40, header, ..Meta::default() }, payload };
        acks.iter().for_each(|ack| queues.push(0, &packet(*ack)));
        let last = packet(*acks.last().expect("an arrival"));
        let slot = filter.superfluous(&queues, 0, &last, &mut Fields)?;
        Some(queues.remove(0, slot).payload.0)
    }

    fn plain(numbers: &[i32]) -> Vec<Ack> {
        numbers.iter().map(|number| (*number, 0, false)).collect()
    }

    #[test]
    fn two_stay_or_one() {
        use AckFilter::{Aggressive, Off, On};
        assert_eq!([Off, On, Aggressive].map(|f| dropped(f, &plain(&[1, 2, 3]))), [None, Some(1), Some(1)]);
        assert_eq!([Off, On, Aggressive].map(|f| dropped(f, &plain(&[1, 2]))), [None, None, Some(1)]);
        assert_eq!([On, Aggressive].map(|f| dropped(f, &plain(&[1]))), [None, None]);
    }

    #[test]
    fn duplicates_and_later_numbers_stay() {
        for filter in [AckFilter::On, AckFilter::Aggressive] {
            assert_eq!(dropped(filter, &plain(&[5, 5, 5])), None);
            assert_eq!(dropped(filter, &plain(&[6, 7, 5])), None, "overtaken");
            // The arrival has SACK blocks that the duplicates lack.
            assert_eq!(dropped(filter, &[(5, 0, false), (5, 0, false), (5, 0, true)]), Some(5));
            assert_eq!(
                dropped(filter, &[(1, 0, true), (2, 0, true), (3, 0, true)]),
                None,
                "they have options"
            );
        }
    }

    #[test]
    fn another_echo_keeps_an_acknowledgement() {
        let acks = [(1, 0, false), (2, 8, false), (3, 8, false)];
        assert_eq!([AckFilter::On, AckFilter::Aggressive].map(|f| dropped(f, &acks)), [None, Some(2)]);
        let acks = [(1, 0, false), (2, 8, false), (3, 8, false), (4, 8, false)];
        assert_eq!(dropped(AckFilter::On, &acks), Some(2));
        let acks = [(1, 0, false), (2, 0, false), (3, 8, false)];
        assert_eq!(dropped(AckFilter::On, &acks), Some(1));
        // The echo of the arrival differs: aggressive filters leave the one before it.
        assert_eq!(dropped(AckFilter::Aggressive, &[(1, 0, false), (2, 8, false)]), None);
    }

    fn with(number: i32, stamps: [u32; 2], blocks: &[[u32; 2]]) -> AckFields {
        let mut known = KnownOptions { stamps, blocks: blocks.len() as u8, ..KnownOptions::default() };
        known.sack[..blocks.len()].copy_from_slice(blocks);
        AckFields { number, ecn: 0, is_pure: true, options: AckOptions::Known(known) }
    }

    #[test]
    fn time_stamps_may_not_be_later() {
        let covered = |old, new| is_covered(with(1, old, &[]), with(2, new, &[]));
        assert!(covered([5, 7], [5, 7]) && covered([5, 7], [6, 8]));
        assert!(!covered([6, 7], [5, 7]) && !covered([5, 8], [5, 7]));
        assert!(covered([u32::MAX, 0], [3, 0]), "they wrap");
        assert!(!is_covered(AckFields { is_pure: false, ..with(1, [0; 2], &[]) }, with(2, [0; 2], &[])));
    }

    #[test]
    fn blocks_have_to_be_covered() {
        let covered = |number, old: &[[u32; 2]], new: &[[u32; 2]]| {
            is_covered(with(number, [0; 2], old), with(5, [0; 2], new))
        };
        assert!(covered(5, &[], &[[10, 20]]) && !covered(5, &[[10, 20]], &[]));
        assert!(!covered(5, &[[10, 20]], &[[10, 20]]) && covered(4, &[[10, 20]], &[[10, 20]]));
        assert!(covered(5, &[[10, 20]], &[[10, 30]]) && covered(5, &[[10, 20]], &[[30, 40], [10, 20]]));
        assert!(!covered(4, &[[10, 20], [40, 50]], &[[10, 30]]));
        assert!(!covered(4, &[[3, 4]], &[[3, 4]]), "a duplicate");
        assert!(!covered(6, &[], &[[10, 20]]), "overtaken");
        assert!(covered(-3, &[], &[]), "numbers wrap");
    }
}
