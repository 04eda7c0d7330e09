//! The keys of a link's server and channel, as these describe them (`netsim/src/link/server`, `netsim/src/link/channel`).

use std::sync::{Arc, LazyLock};

use aqmlab_aqm::ParameterError;
use aqmlab_netsim::plan::{Channel, ChannelChange, Impairments, InService, Keys, Line, Server};
use aqmlab_units::{Framing, Parameter, ParameterValue};

use crate::nearest::listed;
use crate::parameter::{self, key};
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

impl Keys for Section<'_> {
    fn value(&self, parameter: &Parameter) -> Option<ParameterValue<'_>> {
        parameter::read(Section::value(self, parameter.key)?, parameter).ok()
    }

    fn has(&self, key: &str) -> bool {
        Section::has(self, key)
    }

    fn table(&self, key: &str) -> Option<Box<dyn Keys + '_>> {
        Some(Box::new(self.section(key)?))
    }
}

/// Names of the keys of a channel that may differ between the directions of a link, and of those for the other direction.
type OtherWay = [(&'static str, &'static str); Impairments::KEYS.len()];

/// The keys of a link between routers for its way back.
pub(super) const REVERSE: OtherWay = [
    ("loss", "reverse_loss"),
    ("jitter", "reverse_jitter"),
    ("reorder", "reverse_reorder"),
    ("duplicate", "reverse_duplicate"),
];
/// The keys of a host's link for the way from the host.
pub(super) const UPLINK: OtherWay = [
    ("loss", "uplink_loss"),
    ("jitter", "uplink_jitter"),
    ("reorder", "uplink_reorder"),
    ("duplicate", "uplink_duplicate"),
];

/// The keys of a link for its other direction, by their names for the first one.
struct OfOtherWay<'a> {
    link: &'a Section<'a>,
    names: &'a OtherWay,
}

impl OfOtherWay<'_> {
    fn name(&self, key: &str) -> Option<&'static str> {
        self.names.iter().find(|(of, _)| *of == key).map(|(_, name)| *name)
    }
}

impl Keys for OfOtherWay<'_> {
    fn value(&self, parameter: &Parameter) -> Option<ParameterValue<'_>> {
        parameter::read(self.link.value(self.name(parameter.key)?)?, parameter).ok()
    }

    fn has(&self, key: &str) -> bool {
        self.name(key).is_some_and(|name| self.link.has(name))
    }

    fn table(&self, key: &str) -> Option<Box<dyn Keys + '_>> {
        Some(Box::new(self.link.section(self.name(key)?)?))
    }
}

/// Return the keys of a channel for the other direction.
pub(super) fn keys_of_other_way(names: &OtherWay, way: &str) -> Vec<Key> {
    let key = |(of, name): &(&str, &'static str)| {
        let key = OPTIONAL_KEYS.iter().find(|key| key.name == *of)?;
        Some(Key::new(name, key.kind.clone(), format!("As {of}, for {way}; as {of} if absent.")))
    };
    names.iter().filter_map(key).collect()
}

/// Return the line of the other direction: that of the first one, with its own keys; report errors.
pub(super) fn other_way(link: &Section<'_>, line: &Arc<Line>, names: &OtherWay) -> Option<Arc<Line>> {
    if names.iter().all(|(_, name)| !link.has(name)) {
        return Some(line.clone());
    }
    let keys = OfOtherWay { link, names };
    let name = |key: &str| keys.name(key).unwrap_or_default().to_owned();
    let channel = reported(link, Channel::read(&keys, Some(line.channel.clone())), name)?;
    Some(Line::new(line.server.clone(), channel).into())
}

/// Return the keys of server and channel. The keys that every link needs are required.
pub(crate) fn keys() -> Vec<Key> {
    let required = [Server::KEY.key, Channel::KEY.key];
    let keys = optional_keys().into_iter();
    keys.map(|key| if required.contains(&key.name) { key.required() } else { key }).collect()
}

/// Return the same keys, of which none is required.
pub(crate) fn optional_keys() -> Vec<Key> {
    OPTIONAL_KEYS.clone()
}

static OPTIONAL_KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let framing = Server::framing_parameters().iter().map(key);
    [server_key(&Server::KEY), key(&InService::KEY)]
        .into_iter()
        .chain(framing)
        .chain(channel_keys())
        .collect()
});

/// Return the key of a server that replaces another one.
pub(crate) fn changed_server() -> Key {
    server_key(&Server::CHANGED)
}

fn server_key(parameter: &Parameter) -> Key {
    let mut server = key(parameter);
    let of_servers: Vec<_> = Server::parameters().iter().map(key).collect();
    if !of_servers.is_empty() {
        let mut table = Shape::new("A server other than that of a constant bit rate.", of_servers);
        table.selecting = Server::selecting_keys();
        server.kind = Kind::Any(vec![server.kind, Kind::Table(table.into())]);
    }
    server
}

/// Return the keys of channels, each with the table that may stand in place of its value.
fn channel_keys() -> Vec<Key> {
    let with_table = |parameter: &Parameter| {
        let mut of_channel = key(parameter);
        let table: Vec<_> = Channel::table_of(parameter.key).iter().map(key).collect();
        if !table.is_empty() {
            let table = Shape::new("The same with more settings.", table);
            of_channel.kind = Kind::Any(vec![of_channel.kind, Kind::Table(table.into())]);
        }
        of_channel
    };
    Channel::parameters().iter().map(with_table).collect()
}

/// Return the server that the keys of a link or a change select, if they do; report errors.
pub(crate) fn server(link: &Section<'_>) -> Option<Server> {
    let table = link.section(Server::KEY.key);
    if table.as_ref().is_some_and(|table| table.len() == 0) {
        let allowed = format!("one of {}", listed(Server::selecting_keys().into_iter()));
        link.error(Server::KEY.key, Complaint::new("an empty table").allowed(allowed));
        return None;
    }
    match &table {
        Some(table) => reported(table, Server::read_table(table), str::to_owned),
        None => reported(link, Server::read(link), str::to_owned),
    }
}

/// Return the server with the length of packets on the wire that a link's keys select, or with that from before.
pub(crate) fn framed(link: &Section<'_>, server: Server, before: Option<Framing>) -> Server {
    server.framed(Server::read_framing(link).or(before))
}

/// Return the channel that a link's keys select, or the one from before; report errors.
pub(crate) fn channel(link: &Section<'_>, before: Option<Channel>) -> Option<Channel> {
    reported(link, Channel::read(link, before), str::to_owned)
}

/// Return the change of a channel that the keys of a change select; report errors.
pub(crate) fn channel_change(change: &Section<'_>) -> Option<ChannelChange> {
    reported(change, ChannelChange::read(change).map(Some), str::to_owned)
}

/// Read server and channel of a link.
pub(crate) fn read(link: &Section<'_>) -> Option<Line> {
    let (server, channel) = (server(link), channel(link, None));
    let server = framed(link, server?.with_in_service(InService::read(link)), None);
    warn_of_in_service(link, &server);
    Some(Line::new(server, channel?))
}

/// Warn if a link has `in_service` and its server does not use it.
pub(crate) fn warn_of_in_service(link: &Section<'_>, server: &Server) {
    if link.has(InService::KEY.key) && !server.uses_in_service() {
        let message = "has no effect: this server has no bit rate that changes during a service";
        link.warning(InService::KEY.key, Complaint::new(message));
    }
}

/// Report an error at its key, which may be `KEY.KEY_OF_ITS_TABLE`; `name` is how the link calls a key.
fn reported<T>(
    keys: &Section<'_>,
    read: Result<Option<T>, ParameterError>,
    name: impl Fn(&str) -> String,
) -> Option<T> {
    read.unwrap_or_else(|e| {
        let complaint = Complaint::new(e.message).allowed(e.allowed);
        let (first, inner) = e.key.split_once('.').unwrap_or((&e.key, ""));
        match keys.section(&name(first)).filter(|_| !inner.is_empty()) {
            Some(table) => table.error(inner, complaint),
            None => keys.error(&name(first), complaint),
        }
        None
    })
}
