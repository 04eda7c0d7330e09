//! The groups of a live run: flows of one group of the file that go the same way.

use aqmlab_netsim::Routes;
use aqmlab_netsim::plan::{Ends, Link, LinkId, Plan};
use aqmlab_units::{Rate, Span};

/// Flows that a live run treats alike: they are of one group of the file, and links of the same rates and delays lead
/// them to the live link, from there to their end, and back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LiveGroup {
    /// Numbers of the flows, in order; at least one.
    pub flows: Vec<usize>,
    /// The path of the data.
    pub there: LivePath,
    /// The path of the replies.
    pub back: LivePath,
}

/// The links from one end to the other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LivePath {
    pub links: Vec<LinkId>,
    /// The place in `links` of the live link, or of the link in its other direction.
    pub crossed: Option<usize>,
}

impl LivePath {
    fn new(plan: &Plan, links: Vec<LinkId>, live: Option<LinkId>) -> Self {
        let crossed = live.and_then(|live| {
            let place = |wanted: LinkId| links.iter().position(|&link| link == wanted);
            place(live).or_else(|| reverse(plan, live).and_then(place))
        });
        Self { links, crossed }
    }

    /// The links before and after the one crossed; all are before it where none is.
    pub fn parts(&self) -> (&[LinkId], &[LinkId]) {
        match self.crossed {
            Some(place) => (&self.links[..place], &self.links[place + 1..]),
            None => (&self.links, &[]),
        }
    }

    /// Propagation delay of some links together.
    pub fn delay(plan: &Plan, links: &[LinkId]) -> Span {
        links.iter().fold(Span::ZERO, |sum, &link| sum + plan.links[link as usize].delay())
    }

    /// Return the properties by which a live run compares two paths.
    fn course(&self, plan: &Plan) -> (Vec<(Rate, Span)>, Option<usize>) {
        let of = |link: &Link| (link.rate(), link.delay());
        (self.links.iter().map(|&link| of(&plan.links[link as usize])).collect(), self.crossed)
    }
}

/// The link in the other direction: the first from the end of this one to its start.
pub(crate) fn reverse(plan: &Plan, link: LinkId) -> Option<LinkId> {
    let Link { from, to, .. } = plan.links[link as usize];
    (0..).zip(&*plan.links).find(|(_, l)| (l.from, l.to) == (to, from)).map(|(id, _)| id)
}

/// The groups of a plan with all ends drawn, in the order of the flows.
pub(crate) fn groups(plan: &Plan, live: Option<LinkId>) -> Vec<LiveGroup> {
    let mut routes = Routes::new(plan);
    let mut groups: Vec<LiveGroup> = Vec::new();
    // Index of the first live group of the file's group that is being read.
    let mut first = 0;
    for (number, flow) in plan.flows.iter().enumerate() {
        let Ends::At(from, to) = flow.ends else { continue };
        let mut way = |from, to| LivePath::new(plan, routes.path(from, to).unwrap_or_default(), live);
        let (there, back) = (way(from, to), way(to, from));
        if groups.last().is_some_and(|last| plan.flows[last.flows[0]].group != flow.group) {
            first = groups.len();
        }
        let course = |there: &LivePath, back: &LivePath| (there.course(plan), back.course(plan));
        let wanted = course(&there, &back);
        // Flows of a schedule end at different times.
        let periods = |number: usize| (plan.flows[number].stop, &plan.flows[number].again);
        let is_alike = |group: &LiveGroup| {
            periods(group.flows[0]) == periods(number) && course(&group.there, &group.back) == wanted
        };
        match groups[first..].iter_mut().find(|group| is_alike(group)) {
            Some(group) => group.flows.push(number),
            None => groups.push(LiveGroup { flows: vec![number], there, back }),
        }
    }
    groups
}
