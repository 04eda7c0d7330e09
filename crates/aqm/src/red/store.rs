use super::victim::{Choke, Victim};
use crate::indexed::Indexed;
use crate::{Ecn, Fifo, Host, Packet};

/// The packets of a RED queue: a plain queue where only arriving packets pay, else one that can be searched.
#[derive(Clone, Debug)]
pub(super) enum Store<P> {
    Plain(Fifo<P>),
    Searched(Indexed<P>),
}

impl<P: Copy> Store<P> {
    /// An empty queue in which `victim` finds what it looks for.
    pub fn new(victim: &Victim) -> Self {
        if victim.is_arriving() { Self::Plain(Fifo::default()) } else { Self::Searched(Indexed::default()) }
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

    /// The slot of the packet that must pay; none where only arriving packets do, or nothing waits.
    pub fn pick(&mut self, victim: &Victim, host: &mut impl Host<P>) -> Option<usize> {
        match (self, victim) {
            (Self::Searched(queue), Victim::PcRed(rule)) => rule.pick(queue, host),
            (Self::Searched(queue), Victim::Ddred(rule)) => rule.pick(queue, host),
            (Self::Searched(queue), Victim::Custom(rule)) => rule.pick(queue, host),
            _ => None,
        }
    }

    /// Draws a packet at random: its slot if it is of this flow.
    pub fn draw_of_flow(&mut self, flow: u32, host: &mut impl Host<P>) -> Option<usize> {
        Choke::draw(self.searched(), flow, host)
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
