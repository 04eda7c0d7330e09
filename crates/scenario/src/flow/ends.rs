use std::sync::Arc;

use aqmlab_netsim::plan::{self, NodeId};

use crate::network::{self, Builder, End, HostLink, Network, Shared, Side};
use crate::problem::Complaint;
use crate::queue::Queues;
use crate::section::Section;

/// Where the flows of a group begin and end.
#[derive(Debug)]
pub(crate) enum Ends<'a> {
    /// Two nodes of an explicit network.
    Nodes(NodeId, NodeId),
    /// The side of a dumbbell where they begin, and the links of their hosts.
    Dumbbell { from: Side, left: HostLink, right: HostLink },
    /// Routers of a chain, and the links of their hosts.
    Chain { routers: (NodeId, NodeId), from: HostLink, to: HostLink },
    /// Hosts that flows share; all of them where an end is drawn, else none.
    Shared { network: &'a Shared, ends: (End, End), hosts: Arc<[(NodeId, NodeId)]> },
    /// The links of the sources in a DiffServ domain.
    Diffserv { source: HostLink },
}

/// The place of a group among the groups of its file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The number of its first flow in the file, if that is known.
    pub first: Option<usize>,
    /// How many there are of what it has.
    pub count: Option<usize>,
    /// How many flows each of them is.
    pub each: usize,
}

impl Place {
    /// How many flows it has.
    fn flows(self) -> Option<usize> {
        self.count.map(|count| count * self.each)
    }
}

pub(super) fn read<'a>(
    section: &Section<'_>,
    network: &'a Network,
    place: Place,
    back_too: bool,
    queues: &Queues<'_>,
) -> Option<Ends<'a>> {
    refuse_keys_of_others(section, network);
    let host = |key: &str, base: &HostLink| match section.section(key) {
        Some(own) => base.with(&own, place.count?, queues),
        None => Some(base.clone()),
    };
    match network {
        Network::Explicit(explicit) => {
            explicit.ends(section, back_too).map(|(from, to)| Ends::Nodes(from, to))
        }
        Network::Dumbbell(dumbbell) => {
            let from = network::sides(section).map(|(from, _)| from);
            let (left, right) = (host("left", &dumbbell.left), host("right", &dumbbell.right));
            Some(Ends::Dumbbell { from: from?, left: left?, right: right? })
        }
        Network::Chain(chain) => {
            let routers = chain.ends(section);
            let (from, to) = (host("host_from", &chain.host), host("host_to", &chain.host));
            Some(Ends::Chain { routers: routers?, from: from?, to: to? })
        }
        Network::Shared(network) => {
            let (from, to) = network.ends(section, place.first, place.flows())?;
            let drawn = from == End::Random || to == End::Random;
            let hosts = if drawn { network.hosts() } else { Arc::new([]) };
            Some(Ends::Shared { network, ends: (from, to), hosts })
        }
        Network::Diffserv(diffserv) => {
            network::refuse_diffserv_ends(section);
            host("source", &diffserv.source).map(|source| Ends::Diffserv { source })
        }
    }
}

/// Reports keys that only flows in other networks have.
fn refuse_keys_of_others(section: &Section<'_>, network: &Network) {
    let not_here = |keys: &[&str], network: &str| {
        for key in keys {
            section.refuse(key, Complaint::new(format!("only a flow in a {network} has {key}")));
        }
    };
    if !matches!(network, Network::Dumbbell(_)) {
        not_here(&Side::NAMES, "dumbbell");
    }
    if !matches!(network, Network::Chain(_)) {
        not_here(&["host_from", "host_to"], "chain");
    }
    if !matches!(network, Network::Diffserv(_)) {
        not_here(&["source"], "diffserv network");
    }
}

impl Ends<'_> {
    /// Return whether they are drawn in every run.
    pub fn are_drawn(&self) -> bool {
        matches!(self, Self::Shared { hosts, .. } if !hosts.is_empty())
    }

    /// The ends of a flow, after adding its hosts if it has its own: number `index` in its group, `number` in the file.
    pub fn of(&self, builder: &mut Builder<'_>, flow: &str, index: usize, number: usize) -> plan::Ends {
        let (from, to) = match self {
            Self::Nodes(from, to) => (*from, *to),
            Self::Dumbbell { from, left, right } => {
                let (a, b) = network::dumbbell_hosts(builder, flow, index, left, right);
                if *from == Side::Left { (a, b) } else { (b, a) }
            }
            Self::Chain { routers, from, to } => {
                network::chain_hosts(builder, flow, index, *routers, (from, to))
            }
            Self::Shared { network, ends: (from, to), hosts } => {
                return match (network.node_of(*from, number), network.node_of(*to, number)) {
                    (Some(from), Some(to)) => plan::Ends::At(from, to),
                    (from, to) => plan::Ends::Drawn { from, to, hosts: Arc::clone(hosts) },
                };
            }
            Self::Diffserv { source } => network::diffserv_source(builder, flow, index, source),
        };
        plan::Ends::At(from, to)
    }
}
