use aqmlab_aqm::Kind;

use crate::link::Link;
use crate::paths::{Next, Paths, Step};
use crate::plan::{LinkId, Plan, Transport};

/// The source of a link's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Nothing,
    Link(u32),
    Endpoint(usize, Kind),
    Several,
}

/// Lets stations be evaluated ahead of the global order that are fed by one other station alone: links of which a
/// single link or endpoint feeds every packet and whose departures are known at arrival, and sinks without a timer whose
/// acknowledgements enter such a link, which nothing else feeds. A link that is `controlled` keeps to the global order.
pub(crate) fn allow_ahead(plan: &Plan, paths: &mut Paths, links: &[Link], controlled: Option<LinkId>) {
    let mut feeders = feeders(plan, paths);
    controlled.into_iter().for_each(|link| feeders[link as usize] = Feeder::Several);
    let sinks: Vec<bool> = plan
        .flows
        .iter()
        .enumerate()
        .map(|(i, flow)| match &*flow.transport {
            _ if paths.detours_of(i).next().is_some() => false,
            _ if !paths.links(i, Kind::Data).all(|link| keeps_order(plan, link)) => false,
            Transport::Tcp { config, .. } => {
                let own_link = |link: u32| {
                    matches!(feeders[link as usize], Feeder::Endpoint(_, Kind::Ack))
                        && links[link as usize].departs_in_order()
                };
                config.answers_at_once() && paths.links(i, Kind::Ack).next().is_some_and(own_link)
            }
            Transport::Udp { .. } => plan.measured_by(i as u32).is_none(),
            // Reports wait for their interval.
            Transport::Scream(_) => false,
        })
        .collect();
    paths.allow_ahead(|next, kind| match next {
        Next::Link(link) => {
            matches!(feeders[link as usize], Feeder::Link(_) | Feeder::Endpoint(..))
                && links[link as usize].departs_in_order()
        }
        Next::Endpoint(flow) => kind == Kind::Data && sinks[flow as usize],
    });
}

fn feeders(plan: &Plan, paths: &Paths) -> Vec<Feeder> {
    let mut feeders = vec![Feeder::Nothing; plan.links.len()];
    let mut feed = |mut feeder: Feeder, links: &mut dyn Iterator<Item = u32>| {
        for link in links {
            let known = &mut feeders[link as usize];
            *known = if *known == Feeder::Nothing || *known == feeder { feeder } else { Feeder::Several };
            // The inputs of a station behind a link that does not send in order are sorted.
            feeder = if keeps_order(plan, link) { Feeder::Link(link) } else { Feeder::Several };
        }
    };
    for flow in 0..plan.flows.len() {
        for kind in [Kind::Data, Kind::Ack] {
            feed(Feeder::Endpoint(flow, kind), &mut paths.links(flow, kind));
        }
        // A link that sends packets on a detour is evaluated in the global order, and so is the first one of the detour.
        for (turning, _, steps) in paths.detours_of(flow) {
            feed(Feeder::Several, &mut [turning].into_iter());
            feed(Feeder::Several, &mut steps.filter_map(Step::link));
        }
    }
    feeders
}

fn keeps_order(plan: &Plan, link: u32) -> bool {
    plan.links[link as usize].line.channel.keeps_order()
}
