use super::victim::Victim;
use crate::indexed::Indexed;
use crate::{Ecn, Fifo, Host, Meta, Packet};

/// The packets of a RED queue: a plain queue where every victim is the arriving packet, else one that can be searched.
#[derive(Clone, Debug)]
pub(super) enum Store<P> {
    Plain(Fifo<P>),
    Searched(Indexed<P>),
}

impl<P: Copy> Store<P> {
    /// An empty queue in which `victim` finds what it looks for.
    pub fn new(victim: &Victim) -> Self {
        if victim.is_arriving() {
            Self::Plain(Fifo::default())
        } else if victim.keeps_empty_slots() {
            Self::Searched(Indexed::with_empty_slots())
        } else {
            Self::Searched(Indexed::default())
        }
    }

    #[inline]
    pub fn push(&mut self, packet: Packet<P>) {
        match self {
            Self::Plain(queue) => queue.push(packet),
            Self::Searched(queue) => queue.push(packet),
        }
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Packet<P>> {
        match self {
            Self::Plain(queue) => queue.pop(),
            Self::Searched(queue) => queue.pop(),
        }
    }

    /// Take the packet at the head to `packet`. Return whether there is one.
    #[inline]
    pub fn pop_into(&mut self, packet: &mut Packet<P>) -> bool {
        match self {
            Self::Plain(queue) => queue.pop_into(packet),
            Self::Searched(queue) => queue.pop_into(packet),
        }
    }

    /// The slot of the victim; none where that is always the arriving packet, or nothing waits.
    pub fn pick(&mut self, victim: &Victim, host: &mut impl Host<P>) -> Option<usize> {
        match self {
            Self::Searched(queue) => victim.pick(queue, host),
            Self::Plain(_) => None,
        }
    }

    /// Draws a packet to compare with the arrival: its slot if both must be dropped.
    pub fn draw(&mut self, victim: &Victim, arriving: &Meta, host: &mut impl Host<P>) -> Option<usize> {
        match self {
            Self::Searched(queue) => victim.draw(queue, arriving, host),
            Self::Plain(_) => None,
        }
    }

    /// The searched queue, where there is a slot to speak of.
    fn searched(&mut self) -> &mut Indexed<P> {
        match self {
            Self::Searched(queue) => queue,
            Self::Plain(_) => unreachable!("a plain queue gives no slots"),
        }
    }

    /// The packet in a slot.
    pub fn at(&mut self, slot: usize) -> Packet<P> {
        *self.searched().get_mut(slot).expect("a slot with a packet")
    }

    /// Sets the packet in a slot to CE.
    pub fn mark(&mut self, slot: usize) {
        if let Some(packet) = self.searched().get_mut(slot) {
            packet.meta.header.set_ecn(Ecn::Ce);
        }
    }

    /// Takes the packet in a slot out.
    pub fn remove(&mut self, slot: usize) {
        self.searched().remove(slot);
    }
}
