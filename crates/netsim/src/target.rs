/// The purpose of an event; its number among all targets is its slot in the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The first packet on this link's wire arrives.
    Arrival(u32),
    /// The service in progress at this link ends.
    ServiceEnd(u32),
    /// This flow's application has something to send, at first or again.
    Start(u32),
    /// It has nothing more to send.
    Stop(u32),
    /// This flow's sender wanted to be woken.
    Sender(u32),
    /// This flow's receiver wanted to be woken.
    Receiver(u32),
}

/// Slots and source stations: first the links, then two ends a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbering {
    pub links: u32,
    pub flows: u32,
}

impl Numbering {
    pub fn slot(self, target: Target) -> u32 {
        let Self { links, .. } = self;
        match target {
            Target::Arrival(link) => link,
            Target::ServiceEnd(link) => links + link,
            Target::Start(flow) => 2 * links + 4 * flow,
            Target::Stop(flow) => 2 * links + 4 * flow + 1,
            Target::Sender(flow) => 2 * links + 4 * flow + 2,
            Target::Receiver(flow) => 2 * links + 4 * flow + 3,
        }
    }

    #[inline]
    pub fn target(self, slot: u32) -> Target {
        if slot < self.links {
            return Target::Arrival(slot);
        }
        if slot < 2 * self.links {
            return Target::ServiceEnd(slot - self.links);
        }
        let flow = (slot - 2 * self.links) / 4;
        match (slot - 2 * self.links) % 4 {
            0 => Target::Start(flow),
            1 => Target::Stop(flow),
            2 => Target::Sender(flow),
            _ => Target::Receiver(flow),
        }
    }

    /// The station that a slot's events come from.
    pub fn source(self, slot: u32) -> u32 {
        match self.target(slot) {
            Target::Arrival(link) | Target::ServiceEnd(link) => link,
            Target::Start(flow) | Target::Stop(flow) | Target::Sender(flow) => self.links + 2 * flow,
            Target::Receiver(flow) => self.links + 2 * flow + 1,
        }
    }

    pub fn slots(self) -> u32 {
        2 * self.links + 4 * self.flows
    }
}
