//! `start = { load = 0.8 }`: Poisson arrivals of transfers that offer a share of a link's rate.

use aqmlab_netsim::plan::LinkId;

use crate::live;
use crate::network::{Builder, LinkNames, Network};
use crate::problem::Complaint;
use crate::queue::Queues;
use crate::section::Section;

use super::transport::GroupTransport;

/// The links of a network that do not depend on flows, of which a load may be a share.
pub(super) struct Trunks<'a> {
    network: Option<&'a Network>,
    builder: Builder<'a>,
}

impl<'a> Trunks<'a> {
    pub fn new(network: Option<&'a Network>, queues: &'a Queues<'a>) -> Self {
        let mut builder = Builder::new(queues);
        if let Some(network) = network {
            network.expand(&mut builder);
        }
        Self { network, builder }
    }

    /// The link of a group's load; report one that is not there.
    pub fn link(&self, start: &Section<'_>) -> Option<LinkId> {
        if start.has("link") {
            return LinkNames::new(self.network, &self.builder, true).named_by(start, "link");
        }
        let links = &self.builder.links;
        let default = live::default_link(self.network, links);
        if default.is_none() && self.network.is_some() && self.builder.invalid.is_empty() {
            let names: Vec<_> = links.iter().map(|link| link.name.as_str()).collect();
            start.missing("link", names.join(", "));
        }
        default
    }
}

/// The links that a load may refer to, and the transfers of the group.
#[derive(Clone, Copy)]
pub(super) struct Load<'a> {
    pub trunks: &'a Trunks<'a>,
    pub transport: Option<&'a GroupTransport>,
}

impl Load<'_> {
    /// Arrivals per second.
    pub fn arrivals(&self, start: &Section<'_>) -> Option<f64> {
        let load = start.number("load");
        let link = self.trunks.link(start);
        let with_headers = start.flag("headers").unwrap_or(false);
        let Some(mean) = self.transport?.mean_bytes(with_headers) else {
            let complaint = Complaint::new("the flows have no size, so that arrivals have no load");
            start.error("load", complaint.allowed("a size of TCP, or poisson in place of load"));
            return None;
        };
        let rate = self.trunks.builder.links[link? as usize].rate();
        Some(load? * rate.bps() / (8.0 * mean))
    }
}
