use aqmlab_aqm::Kind;

use crate::plan::{Plan, Transport};
use crate::routing::Routes;

/// What comes next on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The queue of this link.
    Link(u32),
    /// The endpoint.
    Endpoint,
}

/// The paths of all flows, there and back: steps in one array, each path ended by its endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    steps: Vec<u32>,
    starts: Vec<u32>,
}

/// The step into an endpoint, instead of the number of a link.
const ENDPOINT: u32 = u32::MAX >> 1;
/// Set in steps to stations that may be evaluated ahead of the global order.
const AHEAD: u32 = 1 << 31;

impl Paths {
    /// # Panics
    /// If a flow has no path there, or needs one back and has none; in a checked plan every flow has.
    pub fn new(plan: &Plan) -> Self {
        let mut routes = Routes::new(plan);
        let mut paths = Self { steps: Vec::new(), starts: Vec::new() };
        for flow in &plan.flows {
            let (from, to) = flow.ends();
            // Of UDP nothing travels back.
            let one_way = matches!(flow.transport, Transport::Udp { .. });
            for (from, to, needed) in [(from, to, true), (to, from, !one_way)] {
                let path = routes.path(from, to).filter(|p| !p.is_empty());
                let path = match path {
                    None if needed => panic!("flow {} has no path there and back", flow.name),
                    path => path.unwrap_or_default(),
                };
                paths.starts.push(paths.steps.len() as u32);
                paths.steps.extend(path);
                paths.steps.push(ENDPOINT);
            }
        }
        paths.starts.push(paths.steps.len() as u32);
        paths
    }

    /// The first step of a data packet or acknowledgement of `flow`; it is a link.
    #[inline]
    pub fn first(&self, flow: usize, kind: Kind) -> u32 {
        self.starts[2 * flow + usize::from(kind == Kind::Ack)]
    }

    /// Where this step leads, and whether the station there may be evaluated ahead.
    #[inline]
    pub fn at(&self, step: u32) -> (Next, bool) {
        let word = self.steps[step as usize];
        let next = if word & !AHEAD == ENDPOINT { Next::Endpoint } else { Next::Link(word & !AHEAD) };
        (next, word & AHEAD != 0)
    }

    /// The links of a path, in order.
    pub fn links(&self, flow: usize, kind: Kind) -> impl Iterator<Item = u32> {
        let first = 2 * flow + usize::from(kind == Kind::Ack);
        let (from, to) = (self.starts[first] as usize, self.starts[first + 1] as usize);
        self.steps[from..to - 1].iter().map(|word| word & !AHEAD)
    }

    /// Lets the stations be evaluated ahead for which `may` says so; it is given the step's flow and kind as well.
    pub fn allow_ahead(&mut self, may: impl Fn(Next, usize, Kind) -> bool) {
        for path in 0..self.starts.len() - 1 {
            let kind = if path % 2 == 0 { Kind::Data } else { Kind::Ack };
            // The first link of a path is fed by the endpoint itself.
            for step in self.starts[path] + 1..self.starts[path + 1] {
                if may(self.at(step).0, path / 2, kind) {
                    self.steps[step as usize] |= AHEAD;
                }
            }
        }
    }
}
