//! `[[change]]`: links that change during the run.

use std::collections::BTreeMap;
use std::sync::Arc;

use aqmlab_netsim::plan::{Channel, ChannelChange, Impairments, LinkId, Server};
use aqmlab_units::{Span, Time};

use crate::nearest::listed;
use crate::network::{Builder, LinkNames, line};
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

/// The keys of a link that may change.
fn changing_keys() -> impl Iterator<Item = &'static str> {
    [Server::KEY.key, Channel::KEY.key].into_iter().chain(Impairments::KEYS)
}

/// A change of a link during the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// When.
    pub at: Time,
    /// Which link.
    pub link: LinkId,
    /// Its server from then on, if that changes.
    pub server: Option<Server>,
    /// Changes of its channel.
    pub channel: ChannelChange,
}

pub(crate) fn shape() -> Shape {
    let mut keys = vec![
        Key::new("at", Kind::ANY_TIME, "When; before the end of the run.").required(),
        Key::new("link", Kind::Label, "The link, one direction of it.").required(),
    ];
    let of_channel = line::optional_keys()
        .into_iter()
        .filter(|key| key.name != Server::KEY.key && changing_keys().any(|known| known == key.name));
    keys.extend([line::changed_server()].into_iter().chain(of_channel).map(|key| {
        let doc = format!("{} from then on.", key.doc.trim_end_matches('.'));
        Key { doc, ..key }
    }));
    Shape::new(
        "A change of a link during the run: of its rate, its delay, or what its channel does to packets.",
        keys,
    )
}

/// Reads all changes, in order of time. Those that are not valid are reported and left out.
pub(crate) fn read(file: &Section<'_>, links: &LinkNames<'_>, duration: Option<Span>) -> Vec<Change> {
    let sections = file.sections("change");
    check_duplicates(&sections);
    let mut changes: Vec<_> = sections.iter().filter_map(|s| change(s, links, duration)).collect();
    changes.sort_by_key(|c| c.at);
    changes
}

/// Change the links, in order of time.
pub(crate) fn apply(changes: &[Change], builder: &mut Builder<'_>) {
    for Change { at, link, server, channel } in changes {
        let line = &mut builder.links[*link as usize].line;
        Arc::make_mut(line).change(*at, server.clone(), channel);
    }
}

fn change(section: &Section<'_>, links: &LinkNames<'_>, duration: Option<Span>) -> Option<Change> {
    let (at, server, channel) = (section.time("at"), line::server(section), line::channel_change(section));
    if let (Some(at), Some(duration)) = (at, duration)
        && at.0 >= duration.0
    {
        let complaint = Complaint::new("is not before the end of the run");
        section.error("at", complaint.allowed(format!("below duration ({} s)", duration.secs())));
    }
    if changing_keys().all(|key| !section.has(key) && !section.is_misspelt(key)) {
        let complaint = Complaint::new("changes nothing of the link").allowed(listed(changing_keys()));
        section.report.error(section.place, section.path.as_str(), complaint);
    }
    let link = links.named_by(section, "link");
    Some(Change { at: at?, link: link?, server, channel: channel? })
}

/// A key of a link is set at most once at a time.
fn check_duplicates(sections: &[Section<'_>]) {
    let mut seen = BTreeMap::new();
    for section in sections {
        let (Some(at), Some(link)) = (section.time("at"), section.text("link")) else { continue };
        for key in changing_keys().filter(|key| section.has(key)) {
            if let Some(first) = seen.insert((at, link, key), section.place) {
                let line = section.report.line_of(first);
                let message = format!("the {key} of {link} changes at {} s already, on {line}", at.secs());
                section.error(key, Complaint::new(message));
            }
        }
    }
}
