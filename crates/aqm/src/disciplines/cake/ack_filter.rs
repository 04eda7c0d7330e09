//! ACK filter (section III.D of the paper; Linux 6.12): an acknowledgement that arrives makes older ones of its flow superfluous.
//!
//! The filter looks from the head of the queue for acknowledgements that tell nothing that the arriving one does not. It drops the first of
//! two, or, if it is aggressive, also one that the arriving one follows at once and whose ECN echo is equal. An older one may be dropped if its
//! number is not above that of the arriving one, which, where the numbers are equal, has options that it lacks. Another ECN echo behind it
//! keeps it.
//!
//! Difference from Linux: an acknowledgement with options (SACK blocks, time stamp) is never dropped, where Linux compares them.

use crate::disciplines::flow_queues::FlowQueues;
use crate::{AckFields, DropClass, DropReason, Host, Kind, Packet};

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
    !old.has_options && (old.number < new.number || old.number == new.number && new.has_options)
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
            Some(AckFields { number, ecn, has_options })
        }
    }

    /// The number of the dropped acknowledgement, where the last of these arrives.
    fn dropped(filter: AckFilter, acks: &[Ack]) -> Option<i32> {
        let mut queues = FlowQueues::new(1);
        let header = Header::default().with_kind(Kind::Ack);
        let packet = |payload| Packet { meta: Meta { bytes: 40, header, ..Meta::default() }, payload };
        acks.iter().for_each(|ack| queues.push(0, packet(*ack)));
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
}
