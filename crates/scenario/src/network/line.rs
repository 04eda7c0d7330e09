//! The keys of a link's server and channel, as these describe them (`netsim/src/link/server`, `netsim/src/link/channel`).

use aqmlab_aqm::ParameterError;
use aqmlab_netsim::plan::{Channel, Keys, Line, Server};
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

    fn has(&self, parameter: &Parameter) -> bool {
        Section::has(self, parameter.key)
    }
}

/// Return the keys of server and channel. The keys that every link needs are required.
pub(crate) fn keys() -> Vec<Key> {
    let required = [Server::KEY.key, Channel::KEY.key];
    let keys = optional_keys().into_iter();
    keys.map(|key| if required.contains(&key.name) { key.required() } else { key }).collect()
}

/// Return the same keys, of which none is required.
pub(crate) fn optional_keys() -> Vec<Key> {
    let (mut server, channels) = (key(&Server::KEY), Channel::parameters());
    let of_servers: Vec<_> = Server::parameters().iter().map(key).collect();
    if !of_servers.is_empty() {
        let table = Shape::new("A server other than that of a constant bit rate.", of_servers);
        server.kind = Kind::Any(vec![server.kind, Kind::Table(table)]);
    }
    let others = Server::framing_parameters().iter().chain(&channels).map(key);
    [server].into_iter().chain(others).collect()
}

/// Return the server that a link's keys select, if they do; report errors.
pub(crate) fn server(link: &Section<'_>) -> Option<Server> {
    let table = link.section(Server::KEY.key);
    if table.as_ref().is_some_and(|table| table.len() == 0) {
        let allowed = listed(Server::parameters().iter().map(|p| p.key));
        link.error(Server::KEY.key, Complaint::new("an empty table").allowed(allowed));
        return None;
    }
    let keys = table.as_ref().unwrap_or(link);
    reported(keys, Server::read(keys))
}

/// Return the server with the length of packets on the wire that a link's keys select, or with that from before.
pub(crate) fn framed(link: &Section<'_>, server: Server, before: Option<Framing>) -> Server {
    server.framed(Server::read_framing(link).or(before))
}

/// Return the channel that a link's keys select, or the one from before; report errors.
pub(crate) fn channel(link: &Section<'_>, before: Option<Channel>) -> Option<Channel> {
    reported(link, Channel::read(link, before))
}

/// Read server and channel of a link.
pub(crate) fn read(link: &Section<'_>) -> Option<Line> {
    let (server, channel) = (server(link), channel(link, None));
    Some(Line { server: framed(link, server?, None), channel: channel? })
}

fn reported<T>(keys: &Section<'_>, read: Result<Option<T>, ParameterError>) -> Option<T> {
    read.unwrap_or_else(|e| {
        keys.error(&e.key, Complaint::new(e.message).allowed(e.allowed));
        None
    })
}
