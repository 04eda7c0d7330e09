//! Packets that were recorded elsewhere, offered to a link of a run.

use aqmlab_aqm::Meta;

use crate::engine::{Engine, Simulation};
use crate::key::Key;
use crate::message::Message;
use crate::plan::LinkId;

/// A packet that arrives at the queue of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    /// When, how long, and what its header shows there. The flow of the label is one of the plan's, whose receiver counts
    /// what arrives; the link is the last on the way.
    pub meta: Meta,
    /// The number that an event log shows.
    pub number: i32,
}

impl Simulation {
    /// Goes on with the run while these packets, in order of time, arrive at `link`; each comes after everything else of
    /// its instant that was caused before. Then the run goes on as without them.
    ///
    /// # Panics
    /// If the run is not evaluated by events.
    pub fn replay(&mut self, link: LinkId, arrivals: impl IntoIterator<Item = Recorded>) {
        let Engine::Events(events, _) = &mut self.engine else {
            panic!("a recording is evaluated by events");
        };
        let network = &mut self.network;
        for Recorded { meta, number } in arrivals {
            let key = Key { time: meta.arrival, cause: meta.arrival, source: u32::MAX };
            if key.time >= network.end() {
                return;
            }
            events.run_before(network, key);
            let step = network.fabric.paths.recorded(link, &meta);
            let mut message = Message::recorded(key, step, number, &meta);
            network.at_link(events, link, &mut message);
        }
    }
}
