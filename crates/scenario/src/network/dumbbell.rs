use aqmlab_netsim::plan::{Name, NodeId};

use crate::problem::Complaint;
use crate::queue::Queues;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

use super::host::{self, HostLink};
use super::{Builder, OneWay, Trunk, one_way_shape, read_one_way, read_trunk, trunk_shape};

pub(super) const DOC: &str = "Two routers, r1 and r2, with the bottleneck between them; every flow has a left and a right host of its own.";

/// Name of the link that a dumbbell is about.
const BOTTLENECK: &str = "bottleneck";
/// Names of the links of an asymmetric dumbbell: from r1 to r2, and back.
const DOWN: &str = "down";
const UP: &str = "up";

/// Two routers and what their hosts are connected by.
#[derive(Debug)]
pub(crate) struct Dumbbell {
    middle: Middle,
    pub left: HostLink,
    pub right: HostLink,
}

/// The links between the routers.
#[derive(Debug)]
enum Middle {
    /// Both directions have the same rate and delay.
    Symmetric(Trunk),
    /// Each direction has its own: down and up.
    Asymmetric(OneWay, OneWay),
}

/// An end of a dumbbell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

impl Side {
    /// The names in a file.
    pub const NAMES: [&'static str; 2] = ["left", "right"];

    /// The side of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "left" => Some(Self::Left),
            "right" => Some(Self::Right),
            _ => None,
        }
    }

    /// The other side.
    pub fn other(self) -> Self {
        if self == Self::Left { Self::Right } else { Self::Left }
    }
}

pub(super) fn shape() -> Shape {
    let side = |doc| Kind::Table(host::shape(doc).into());
    let bottleneck = trunk_shape("The link from r1 to r2 and the one back.");
    Shape::new(
        DOC,
        vec![
            Key::new(
                "bottleneck",
                Kind::Table(bottleneck.into()),
                "The links \"bottleneck\" and \"bottleneck.reverse\"; needed unless down and up are given.",
            ),
            Key::new(
                DOWN,
                Kind::Table(one_way_shape("The link from r1 to r2.").into()),
                "The link \"down\" from r1 to r2, from the left to the right, as flows go by default; with up in place \
                 of bottleneck.",
            ),
            Key::new(
                UP,
                Kind::Table(one_way_shape("The link from r2 to r1.").into()),
                "The link \"up\" from r2 to r1, with its own rate, delay and queue.",
            ),
            Key::new(
                "left",
                side("The links of the left hosts."),
                "The links \"left.FLOW\", to r1, and \".reverse\".",
            )
            .required(),
            Key::new(
                "right",
                side("The links of the right hosts."),
                "The links \"right.FLOW\", from r2, and \".reverse\".",
            )
            .required(),
        ],
    )
}

pub(super) fn read(section: &Section<'_>, queues: &Queues<'_>) -> Option<Dumbbell> {
    let middle = middle(section, queues);
    let left = section.section("left").and_then(|s| HostLink::read(&s, queues));
    let right = section.section("right").and_then(|s| HostLink::read(&s, queues));
    Some(Dumbbell { middle: middle?, left: left?, right: right? })
}

/// Read `bottleneck`, or `down` and `up`; report errors.
fn middle(section: &Section<'_>, queues: &Queues<'_>) -> Option<Middle> {
    let allowed = "bottleneck for the same rate and delay both ways, or down and up";
    let ways = [DOWN, UP].map(|key| section.section(key).and_then(|s| read_one_way(&s, queues)));
    if section.has(BOTTLENECK) {
        for key in [DOWN, UP] {
            section.refuse(key, Complaint::new("there is a bottleneck already").allowed(allowed));
        }
        return section.section(BOTTLENECK).and_then(|s| read_trunk(&s, queues)).map(Middle::Symmetric);
    }
    if !section.has(DOWN) && !section.has(UP) {
        let misspelt = [BOTTLENECK, DOWN, UP].iter().any(|key| section.is_misspelt(key));
        if !misspelt {
            section.missing(BOTTLENECK, format!("a table with rate, delay, queue, reverse_queue; {allowed}"));
        }
        return None;
    }
    for key in [DOWN, UP].into_iter().filter(|key| !section.has(key) && !section.is_misspelt(key)) {
        section.missing(key, "a table with rate, delay, queue");
    }
    let [down, up] = ways;
    Some(Middle::Asymmetric(down?, up?))
}

impl Dumbbell {
    /// Adds the routers, as nodes 0 and 1, and the bottleneck.
    pub fn expand(&self, builder: &mut Builder<'_>) {
        let routers = (builder.node("r1"), builder.node("r2"));
        match &self.middle {
            Middle::Symmetric(trunk) => {
                builder.trunk([BOTTLENECK.into(), format!("{BOTTLENECK}.reverse")], routers, trunk);
            }
            Middle::Asymmetric(down, up) => {
                builder.between(DOWN.into(), routers, &down.line, down.queue);
                builder.between(UP.into(), (routers.1, routers.0), &up.line, up.queue);
            }
        }
    }

    /// The links that it is about, the first of them foremost.
    pub fn main_links(&self) -> &'static [&'static str] {
        match self.middle {
            Middle::Symmetric(_) => &[BOTTLENECK],
            Middle::Asymmetric(..) => &[DOWN, UP],
        }
    }
}

/// Return the sides that a flow goes from and to; report errors.
pub(crate) fn sides(flow: &Section<'_>) -> Option<(Side, Side)> {
    let side = |key: &str| {
        let name = flow.text(key)?;
        let side = Side::from_name(name);
        if side.is_none() {
            let complaint = Complaint::new(format!("{name:?} is not a side of the dumbbell"));
            flow.error(
                key,
                complaint.allowed("left, right").suggest(crate::nearest::nearest(name, Side::NAMES)),
            );
        }
        side
    };
    let from = if flow.has("from") { side("from") } else { None };
    let to = if flow.has("to") { side("to") } else { None };
    if (flow.has("from") && from.is_none()) || (flow.has("to") && to.is_none()) {
        return None;
    }
    let from = from.or(to.map(Side::other)).unwrap_or(Side::Left);
    let to = to.unwrap_or(from.other());
    if from == to {
        flow.error(
            "to",
            Complaint::new("the flow would end on the side where it begins").allowed("the other side"),
        );
        return None;
    }
    Some((from, to))
}

/// Adds the hosts of a flow: left and right.
pub(crate) fn hosts(
    builder: &mut Builder<'_>,
    flow: &str,
    index: usize,
    left: &HostLink,
    right: &HostLink,
) -> (NodeId, NodeId) {
    let (r1, r2) = (0, 1);
    // Joined in place: a text of its own for each name takes most of the time of many short transfers.
    let name = |side: &str, way: &str| [side, ".", flow, way].into_iter().collect::<Name>();
    let (a, b) = (builder.node(name("left", "")), builder.node(name("right", "")));
    builder.link(name("left", ""), (a, r1), left.uplink_line(index), left.uplink_queue());
    builder.link(name("left", ".reverse"), (r1, a), left.line(index), left.queue);
    builder.link(name("right", ""), (r2, b), right.line(index), right.queue);
    builder.link(name("right", ".reverse"), (b, r2), right.uplink_line(index), right.uplink_queue());
    (a, b)
}
