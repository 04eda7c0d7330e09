//! `[[change]]`: links that change during the run.

use std::collections::BTreeMap;
use std::sync::Arc;

use aqmlab_netsim::plan::{Channel, ChannelChange, Impairments, LinkId, Outage, Server};
use aqmlab_units::{Span, Time};

use crate::nearest::listed;
use crate::network::{Builder, LinkNames, line};
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

/// The key by which a link goes down or up.
const STATE: &str = "state";
/// The key for the packets that wait when it goes down.
const WAITING: &str = "waiting";
const FLUSHED: &str = "flushed";

/// The keys of a link that may change.
fn changing_keys() -> impl Iterator<Item = &'static str> {
    [Server::KEY.key, Channel::KEY.key].into_iter().chain(Impairments::KEYS).chain([STATE])
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
    /// Whether it goes down or up.
    pub state: Option<LinkState>,
}

/// The state of a link from a change on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// It is down.
    Down {
        /// The packets that wait are dropped.
        flushes: bool,
    },
    /// It is up.
    Up,
}

impl LinkState {
    /// Return its word in a scenario file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Down { .. } => "down",
            Self::Up => "up",
        }
    }
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
    keys.extend([
        Key::new(
            STATE,
            Kind::Choice(vec!["down", "up"]),
            "A link that goes down loses the packets in service and on the wire; packets that arrive then take its backup, or are dropped.",
        ),
        Key::new(
            WAITING,
            Kind::Choice(vec!["kept", FLUSHED]),
            "The packets that wait when the link goes down: kept until it is up, or dropped.",
        )
        .default("\"kept\""),
    ]);
    Shape::new(
        "A change of a link during the run: of its rate, its delay, its channel's impairments, or its state.",
        keys,
    )
}

/// Reads all changes, in order of time. Those that are not valid are reported and left out.
pub(crate) fn read(file: &Section<'_>, links: &LinkNames<'_>, duration: Option<Span>) -> Vec<Change> {
    let sections = file.sections("change");
    check_duplicates(&sections);
    let mut changes: Vec<_> =
        sections.iter().filter_map(|s| Some((change(s, links, duration)?, s))).collect();
    changes.sort_by_key(|(change, _)| change.at);
    check_states(&changes);
    changes.into_iter().map(|(change, _)| change).collect()
}

/// A link goes down and up in turn.
fn check_states(changes: &[(Change, &Section<'_>)]) {
    let mut last = BTreeMap::new();
    for (change, section) in changes {
        let Some(state) = change.state else { continue };
        let before = last.insert(change.link, (state, change.at));
        let (word, at) = before.map_or(("up", 0.0), |(state, at)| (state.word(), at.secs()));
        if word == state.word() {
            let complaint = Complaint::new(format!("the link is {word} already, since {at} s"));
            section.error(STATE, complaint.allowed("down and up in turn"));
        }
    }
}

/// Change the links, in order of time.
pub(crate) fn apply(changes: &[Change], builder: &mut Builder<'_>) {
    for Change { at, link, server, channel, state } in changes {
        let line = Arc::make_mut(&mut builder.links[*link as usize].line);
        line.change(*at, server.clone(), channel);
        match *state {
            Some(LinkState::Down { flushes }) => {
                line.outages.push(Outage { down: *at, up: Time::NEVER, flushes })
            }
            Some(LinkState::Up) => line.outages.iter_mut().rev().take(1).for_each(|last| last.up = *at),
            None => {}
        }
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
    let flushes = section.text(WAITING) == Some(FLUSHED);
    let state = section
        .text(STATE)
        .map(|word| if word == "up" { LinkState::Up } else { LinkState::Down { flushes } });
    if !matches!(state, Some(LinkState::Down { .. })) {
        section.refuse(
            WAITING,
            Complaint::new("only a link that goes down keeps or flushes its queue")
                .allowed("state = \"down\""),
        );
    }
    Some(Change { at: at?, link: link?, server, channel: channel?, state })
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
