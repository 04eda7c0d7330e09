use aqmlab_netsim::plan::NodeId;

use crate::queue::Queues;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

use super::read_trunk;
use super::shared::{self, MAX_ROUTERS, Shared};

pub(super) const DOC: &str = "Routers r1, r2, ... in a row with hosts h1, h2, ... that flows share.";

pub(super) fn shape() -> Shape {
    let routers = Kind::Integer { min: 2, max: MAX_ROUTERS };
    shared::shape(DOC, vec![Key::new("routers", routers, "How many routers there are.").required()])
}

pub(super) fn read(section: &Section<'_>, queues: &Queues<'_>) -> Option<Shared> {
    let routers = section.integer("routers").and_then(|n| NodeId::try_from(n).ok());
    let link = section.section("link").and_then(|s| read_trunk(&s, queues));
    let cables = routers.zip(link).map(|(n, link)| (1..n).map(|i| (i - 1, i, link.clone())).collect());
    shared::read(section, queues, routers, cables)
}
