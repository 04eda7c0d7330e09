use aqmlab_netsim::plan::NodeId;

use crate::problem::Complaint;
use crate::queue::Queues;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

use super::shared::{self, MAX_ROUTERS, Shared, ring};
use super::{Trunk, read_trunk, trunk_shape};

pub(super) const DOC: &str = "Rings of routers, the petals, whose first routers are a ring too, the core; with hosts h1, h2, ... that flows share.";

pub(super) fn shape() -> Shape {
    let some = Kind::Integer { min: 2, max: MAX_ROUTERS };
    let core = Kind::Table(trunk_shape("The links of the core ring.").into());
    let own = vec![
        Key::new("petals", some.clone(), "How many petals there are.").required(),
        Key::new(
            "routers",
            some,
            "Routers of each petal: r1, r2, ... are the first, the next ones the second.",
        )
        .required(),
        Key::new("core", core, "The links of the core ring; as link if absent."),
    ];
    shared::shape(DOC, own)
}

pub(super) fn read(section: &Section<'_>, queues: &Queues<'_>) -> Option<Shared> {
    let size = |key| section.integer(key).and_then(|n| NodeId::try_from(n).ok());
    let (petals, routers) = (size("petals"), size("routers"));
    let link = section.section("link").and_then(|s| read_trunk(&s, queues));
    let core = match section.has("core") {
        true => section.section("core").and_then(|s| read_trunk(&s, queues)),
        false => link.clone(),
    };
    let all = petals.zip(routers).and_then(|(petals, routers)| total(section, petals, routers));
    let cables = match (petals, routers, link, core) {
        (Some(petals), Some(routers), Some(link), Some(core)) => {
            all.map(|_| cables(petals, routers, &link, &core))
        }
        _ => None,
    };
    shared::read(section, queues, all, cables)
}

/// The number of routers, if it is not too large.
fn total(section: &Section<'_>, petals: NodeId, routers: NodeId) -> Option<NodeId> {
    let all = i64::from(petals) * i64::from(routers);
    if all > MAX_ROUTERS {
        let complaint = Complaint::new(format!("makes {all} routers in all"));
        section.error("routers", complaint.allowed(format!("at most {MAX_ROUTERS} in all")));
        return None;
    }
    NodeId::try_from(all).ok()
}

fn cables(petals: NodeId, routers: NodeId, link: &Trunk, core: &Trunk) -> Vec<(NodeId, NodeId, Trunk)> {
    let gateways: Vec<NodeId> = (0..petals).map(|petal| petal * routers).collect();
    let mut cables: Vec<_> = ring(&gateways).into_iter().map(|(a, b)| (a, b, core.clone())).collect();
    for first in gateways {
        let petal: Vec<NodeId> = (first..first + routers).collect();
        cables.extend(ring(&petal).into_iter().map(|(a, b)| (a, b, link.clone())));
    }
    cables
}
