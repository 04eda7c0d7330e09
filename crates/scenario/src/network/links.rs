//! The links of a plan by name, for sections that name some.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use aqmlab_netsim::plan::LinkId;

use crate::nearest::{listed, nearest};
use crate::problem::Complaint;
use crate::section::Section;

use super::{Builder, Network};

/// Names of links; what they are is known only if nothing that makes links is wrong.
pub(crate) struct LinkNames<'a> {
    network: Option<&'a Network>,
    builder: &'a Builder<'a>,
    complete: bool,
    /// Made when the first name is looked for.
    ids: OnceCell<BTreeMap<&'a str, LinkId>>,
}

impl<'a> LinkNames<'a> {
    /// Names of the links of a network and of flows; `complete` is whether all flows of the file added theirs.
    pub fn new(network: Option<&'a Network>, builder: &'a Builder<'a>, complete: bool) -> Self {
        Self { network, builder, complete, ids: OnceCell::new() }
    }

    /// Return the link that `key` names; report a name without a link.
    pub fn named_by(&self, section: &Section<'_>, key: &str) -> Option<LinkId> {
        let found = self.find(section.text(key)?);
        found.unwrap_or_else(|complaint| {
            section.error(key, complaint);
            None
        })
    }

    /// Return the number of the link of this name; `None` if an error elsewhere leaves it without a number.
    pub fn find(&self, name: &str) -> Result<Option<LinkId>, Complaint> {
        let links = &self.builder.links;
        let by_name = || (0..).zip(links).map(|(id, link)| (link.name.as_str(), id)).collect();
        if let Some(id) = self.ids.get_or_init(by_name).get(name) {
            return Ok(Some(*id));
        }
        let names = self.known();
        if names.is_empty() || names.contains(&name) {
            return Ok(None);
        }
        let names = || names.iter().copied();
        let complaint = Complaint::new(format!("unknown link {name:?}"));
        Err(complaint.allowed(listed(names())).suggest(nearest(name, names())))
    }

    /// All names, those of links that are not valid included; none while some are not known.
    fn known(&self) -> Vec<&'a str> {
        let valid = self.builder.links.iter().map(|l| l.name.as_str());
        match self.network {
            Some(Network::Explicit(explicit)) => explicit.link_names(),
            _ if self.complete => valid.chain(self.builder.invalid.iter().map(String::as_str)).collect(),
            _ => Vec::new(),
        }
    }
}
