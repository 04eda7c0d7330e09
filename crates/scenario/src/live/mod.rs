//! `[live]`: settings of a live run. The simulator does not read them.
//!
//! In a live run real programs send through the discipline of one link, the *live link*, or of the link in the other
//! direction; all other links of the file are delay and hops before and after it. [`groups`] works that out.

mod groups;
mod prefix;
mod program;

use std::collections::BTreeMap;

use aqmlab_netsim::plan::{Flow, Link, LinkId, Plan, Routing, Transport};
use aqmlab_transport::TcpConfig;
use aqmlab_transport::scream::NAME as SCREAM;

use crate::flow::APPLICATIONS;
use crate::nearest::listed;
use crate::network::{LinkNames, Network};
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

pub(crate) use groups::{LiveGroup, LivePath, groups, reverse};
pub(crate) use prefix::is_prefix;
pub use program::Program;
pub(crate) use program::{keys as program_keys, warn as warn_of_program};

/// Default name of the live link.
const BOTTLENECK: &str = "bottleneck";
const INFERRED: &str = "inferred";
const OPTION: &str = "option";
const IPV6_LABEL: &str = "ipv6-label";

/// Family of the addresses in a live run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
}

/// How flows are distinguished in a live run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowLabel {
    /// Addresses, ports and protocol.
    #[default]
    FiveTuple,
    /// The flow label of IPv6 (RFC 6437), with the addresses.
    Ipv6,
}

/// How the number of hops that a packet has travelled is determined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Distance {
    /// From the least of 32, 64, 128 and 255 that is not below the packet's own time to live.
    #[default]
    Inferred,
    /// From an option that packets carry; inferred where they have none.
    Option,
    /// From the initial time to live of senders, by prefix of their address.
    ByPrefix(Vec<(String, u8)>),
}

/// Which bytes of a packet the live link counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CountBytes {
    /// The bytes of the IP packet, as in the simulator.
    #[default]
    Ip,
    /// With the 14 bytes of an Ethernet header, as Linux's queueing disciplines do.
    Ethernet,
}

/// The settings of a live run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// Family of the addresses.
    pub family: Family,
    /// The link whose discipline is live, if the file names it or only one link qualifies.
    pub link: Option<LinkId>,
    /// The definition of a flow.
    pub flow_label: FlowLabel,
    /// How far packets have come.
    pub distance: Distance,
    /// PC-RED's QOSA travels as the lowest bit of the code point.
    pub qosa_bit: bool,
    /// The bytes that count as a packet's length.
    pub count_bytes: CountBytes,
    /// Probability that a packet is lost before the queue of the live link, at random.
    pub loss: f64,
    /// The same in the other direction.
    pub reverse_loss: f64,
    /// Programs by group of flows.
    pub programs: BTreeMap<String, Program>,
}

impl Family {
    pub(crate) const NAMES: [&'static str; 2] = ["ipv4", "ipv6"];

    /// The name in a file.
    pub fn name(self) -> &'static str {
        Self::NAMES[usize::from(self == Self::V6)]
    }
}

impl FlowLabel {
    const NAMES: [&'static str; 2] = ["5-tuple", IPV6_LABEL];

    /// The name in a file.
    pub fn name(self) -> &'static str {
        Self::NAMES[usize::from(self == Self::Ipv6)]
    }
}

impl CountBytes {
    const NAMES: [&'static str; 2] = ["ip", "ethernet"];

    /// The name in a file.
    pub fn name(self) -> &'static str {
        Self::NAMES[usize::from(self == Self::Ethernet)]
    }
}

pub(crate) fn shape() -> Shape {
    let ttl = Kind::Integer { min: 1, max: 255 };
    let distance = Kind::Any(vec![Kind::Choice(vec![INFERRED, OPTION]), Kind::ByPrefix(Box::new(ttl))]);
    let share = || Kind::Number { min: 0.0, max: 1.0 };
    Shape::new(
        "How a live run is made; the simulator does not read it.",
        vec![
            Key::new("family", Kind::Choice(Family::NAMES.to_vec()), "Family of the addresses.")
                .default("\"ipv4\""),
            Key::new(
                "link",
                Kind::Label,
                "The link whose queue is live; if absent, the link bottleneck, the core of a diffserv network, or \
                 the only link whose queue is not drop-tail.",
            ),
            Key::new(
                "flow_label",
                Kind::Choice(FlowLabel::NAMES.to_vec()),
                "What is a flow: addresses, ports and protocol, or the flow label of IPv6.",
            )
            .default("\"5-tuple\""),
            Key::new(
                "distance",
                distance,
                "The initial time to live of packets: inferred (the least of 32, 64, 128, 255 that it can be), carried \
                 by them in an option that senders write, or by prefix of the source.",
            )
            .default("\"inferred\""),
            Key::new(
                "qosa_bit",
                Kind::Flag,
                "PC-RED: QOSA is the lowest bit of the code point of packets, with which the next router gets it.",
            )
            .default("false"),
            Key::new(
                "count_bytes",
                Kind::Choice(CountBytes::NAMES.to_vec()),
                "What is the length of a packet: that of IP, or with the 14 bytes of an Ethernet header.",
            )
            .default("\"ip\""),
            Key::new("loss", share(), "Share of packets lost at random before the queue of the live link.")
                .default("0"),
            Key::new("reverse_loss", share(), "The same in the other direction.").default("0"),
        ],
    )
}

/// Reads the settings. `links` are those of the plan.
pub(crate) fn read(
    file: &Section<'_>,
    network: Option<&Network>,
    links: &[Link],
    names: &LinkNames<'_>,
) -> Live {
    let programs = program::read(file);
    let Some(section) = file.section("live") else {
        return Live { link: default_link(network, links), programs, ..Live::default() };
    };
    let is = |key: &str, word: &str| section.text(key) == Some(word);
    let family = if is("family", Family::V6.name()) { Family::V6 } else { Family::V4 };
    let by_label = is("flow_label", IPV6_LABEL);
    if by_label && family == Family::V4 {
        let complaint = Complaint::new("packets of IPv4 have no flow label");
        section.error("flow_label", complaint.allowed("\"5-tuple\", or family = \"ipv6\""));
    }
    let link =
        if section.has("link") { names.named_by(&section, "link") } else { default_link(network, links) };
    let share = |key| section.number(key).unwrap_or(0.0);
    Live {
        family,
        link,
        flow_label: if by_label { FlowLabel::Ipv6 } else { FlowLabel::FiveTuple },
        distance: match prefix::read(&section, "distance") {
            Some(initial) => Distance::ByPrefix(initial),
            None if is("distance", OPTION) => Distance::Option,
            None => Distance::Inferred,
        },
        qosa_bit: section.flag("qosa_bit").unwrap_or(false),
        count_bytes: if is("count_bytes", "ethernet") { CountBytes::Ethernet } else { CountBytes::Ip },
        loss: share("loss"),
        reverse_loss: share("reverse_loss"),
        programs,
    }
}

/// The link that a scenario is about if it names none: `bottleneck`, the first of its network, or the only one with AQM.
pub(crate) fn default_link(network: Option<&Network>, links: &[Link]) -> Option<LinkId> {
    let named = |name: &str| (0..).zip(links).find(|(_, l)| l.name == name).map(|(id, _)| id);
    let main = || network.and_then(|of| of.main_links().first()).and_then(|name| named(name));
    named(BOTTLENECK).or_else(main).or_else(|| {
        let mut managed = (0..).zip(links).filter(|(_, l)| l.aqm() != "drop-tail").map(|(id, _)| id);
        managed.next().filter(|_| managed.next().is_none())
    })
}

/// Report code points that QOSA would change.
fn check_code_points(file: &Section<'_>, plan: &Plan, flows: &[Section<'_>]) {
    let complaint = || {
        Complaint::new("a code point is odd, but with qosa_bit the lowest bit is QOSA")
            .allowed("even code points")
    };
    for section in flows.iter().filter(|section| section.dscp("dscp").is_some_and(|dscp| dscp % 2 == 1)) {
        section.error("dscp", complaint());
    }
    if let Some(marker) = plan.markers.iter().find(|marker| marker.dscp.iter().any(|dscp| dscp % 2 == 1)) {
        file.report.error(file.place_of("live"), format!("marker.{}", marker.name), complaint());
    }
}

/// Report errors for features that a live run does not have, and warnings for what it leaves out.
pub(crate) fn check(file: &Section<'_>, plan: &Plan, live: &Live, groups: &[LiveGroup]) {
    let Some(link) = live.link else {
        let managed: Vec<&str> =
            plan.links.iter().filter(|l| l.aqm() != "drop-tail").map(|l| l.name.as_str()).collect();
        let every = || plan.links.iter().map(|l| l.name.as_str()).collect();
        let (what, names) = match managed.len() {
            0 => ("is required: no link has AQM".to_owned(), every()),
            n => (format!("is required: {n} links have AQM"), managed),
        };
        file.report.error(file.place_of("live"), "live.link", Complaint::new(what).allowed(listed(names)));
        return;
    };
    let name = |link: LinkId| plan.links[link as usize].name.as_str();
    let sections = file.sections("flow");
    for section in &sections {
        for key in APPLICATIONS {
            let complaint = Complaint::new(format!("a live run has no {key}"));
            section.refuse(
                key,
                complaint.allowed("a flow without application, or exec with a program of your own"),
            );
        }
    }
    let is_quic = |flow: &Flow| match &*flow.transport {
        Transport::Tcp { config: TcpConfig::Rfc(config), .. } => config.is_quic(),
        _ => false,
    };
    for section in &sections {
        if section.text("transport") == Some(SCREAM) {
            let complaint = Complaint::new("a live run has no media with feedback");
            section.error("transport", complaint.allowed("a transport of TCP, or udp"));
        }
        if section.has("measures") {
            let complaint = Complaint::new("packets of udp are not answered in a live run");
            section
                .error("measures", complaint.allowed("a flow without measures, and cake without autorate"));
        }
        if plan.flows.iter().any(|flow| section.text("name") == Some(&*flow.group) && is_quic(flow)) {
            let complaint =
                Complaint::new("a live run has the kernel's TCP, which lacks QUIC's loss detection");
            section.error("tcp", complaint.allowed("loss_detection = \"tcp\""));
        }
    }
    for group in groups.iter().filter(|group| group.there.crossed.is_none()) {
        let first = &plan.flows[group.flows[0]];
        if let Some(section) = sections.iter().find(|s| s.text("name") == Some(&*first.group)) {
            let message = format!("flow {} does not cross the live link {}", first.name, name(link));
            section.report.error(section.place, section.path.as_str(), Complaint::new(message));
        }
    }
    if live.qosa_bit {
        check_code_points(file, plan, &sections);
    }
    if !plan.links[link as usize].line.outages.is_empty() || plan.routing != Routing::default() {
        let complaint = Complaint::new("a live run has one path, and its link is always up");
        let key = ["change", "routing", "backup"].into_iter().find(|key| file.has(key)).unwrap_or_default();
        file.error(key, complaint.allowed("a scenario without state, [routing] and [[backup]]"));
    }
    for change in file.sections("change") {
        if change.text("link").is_some_and(|changed| changed != name(link)) {
            let complaint = Complaint::new("is not the live link, so that a live run leaves it as it is");
            change.warning("link", complaint);
        }
    }
    let on_the_way = groups.iter().flat_map(|g| g.there.links.iter().chain(&g.back.links));
    let mut others: Vec<_> =
        on_the_way.filter(|&&l| l != link && plan.links[l as usize].aqm() != "drop-tail").collect();
    others.sort_unstable();
    others.dedup();
    for &other in others.into_iter().filter(|&&other| Some(other) != reverse(plan, link)) {
        let link = &plan.links[other as usize];
        let message =
            format!("link {} has a queue of {}, which a live run leaves out", link.name, link.aqm());
        file.report.warning(file.place_of("live"), "live", Complaint::new(message));
    }
}
