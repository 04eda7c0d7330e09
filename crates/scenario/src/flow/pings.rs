//! `measures`: a UDP flow whose answers bring one-way delays to the queue of a link.

use std::collections::BTreeSet;

use aqmlab_netsim::Routes;
use aqmlab_netsim::plan::{Ends, Flow, Link, LinkId, Ping, Plan};

use crate::network::LinkNames;
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind};

use super::transport::UDP;

pub(super) const KEY: &str = "measures";
/// The discipline that reads delays.
const CAKE: &str = "cake";

pub(super) fn key() -> Key {
    let doc = "UDP: a link on the way there or back. Each packet is answered, and the answers bring the one-way delays of that way to the \
               queue of the link, as CAKE's autorate needs.";
    Key::new(KEY, Kind::Label, doc)
}

/// Read which flows measure which links.
pub(crate) fn read(sections: &[Section<'_>], links: &LinkNames<'_>, flows: &[Flow]) -> Vec<Ping> {
    let mut pings = Vec::new();
    for section in sections.iter().filter(|section| section.has(KEY)) {
        if section.text("transport") != Some(UDP) {
            let complaint = Complaint::new("only packets of udp are answered");
            section.error(KEY, complaint.allowed("transport = \"udp\""));
            continue;
        }
        let Some(link) = links.named_by(section, KEY) else { continue };
        let of_group = (0..).zip(flows).filter(|(_, flow)| section.text("name") == Some(&*flow.group));
        pings.extend(of_group.map(|(flow, _)| Ping { flow, link }));
    }
    pings
}

/// Report links that the packets of their flow do not cross, links without use for delays, and queues that no flow measures.
pub(crate) fn check(
    file: &Section<'_>,
    sections: &[Section<'_>],
    plan: &Plan,
    queue_of: impl Fn(LinkId) -> String,
) {
    let mut routes = Routes::new(plan);
    let mut reported = BTreeSet::new();
    for Ping { flow, link } in &plan.pings {
        let flow = &plan.flows[*flow as usize];
        let crosses = match flow.ends {
            Ends::At(from, to) => [(from, to), (to, from)]
                .iter()
                .any(|(a, b)| routes.path(*a, *b).is_some_and(|path| path.contains(link))),
            Ends::Drawn { .. } => false,
        };
        let section = sections.iter().find(|section| section.text("name") == Some(&*flow.group));
        let Some(section) = section.filter(|_| reported.insert(&*flow.group)) else { continue };
        let Link { name, queue, .. } = &plan.links[*link as usize];
        if !crosses {
            let message = format!("{name} is on neither way of the flow");
            section
                .error(KEY, Complaint::new(message).allowed("a link between its ends, which are not random"));
        } else if queue.preset != CAKE {
            // CAKE without autorate is a comparison with it.
            let message = format!("has no effect: {} at {name} reads no delays", queue.preset);
            section.warning(
                KEY,
                Complaint::new(message).allowed("a link whose queue is cake, with autorate = true"),
            );
        }
    }
    let is_read = |section: &Section<'_>| {
        plan.pings.iter().any(|ping| section.text("name") == Some(&*plan.flows[ping.flow as usize].group))
    };
    if !sections.iter().filter(|section| section.has(KEY)).all(is_read) {
        // The links that they measure are not known.
        return;
    }
    for (id, link) in (0..).zip(&*plan.links) {
        if link.queue.reads_delays() && plan.pings.iter().all(|ping| ping.link != id) {
            let complaint = Complaint::new(format!("no flow measures link {}", link.name));
            let key = format!("queue.{}.autorate", queue_of(id));
            file.report.error(
                file.place_of("queue"),
                key,
                complaint.allowed(format!("a [[flow]] of udp with measures = {:?}", &*link.name)),
            );
        }
    }
}
