//! The keys of a link's server and channel, as these describe them (`netsim/src/link/server`, `netsim/src/link/channel`).

use aqmlab_aqm::ParameterError;
use aqmlab_netsim::plan::{Channel, InService, Keys, Line, Server};
use aqmlab_units::{Parameter, ParameterValue};

use crate::nearest::listed;
use crate::parameter::{self, key};
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

impl Keys for Section<'_> {
    fn value(&self, parameter: &Parameter) -> Option<ParameterValue<'_>> {
        parameter::read(Section::value(self, parameter.key)?, parameter).ok()
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
    let of_channels = Channel::parameters();
    [server_key(&Server::KEY), key(&InService::KEY)].into_iter().chain(of_channels.iter().map(key)).collect()
}

/// Return the key of a server that replaces another one.
pub(crate) fn changed_server() -> Key {
    server_key(&Server::CHANGED)
}

fn server_key(parameter: &Parameter) -> Key {
    let mut server = key(parameter);
    let of_servers: Vec<_> = Server::parameters().iter().map(key).collect();
    if !of_servers.is_empty() {
        let table = Shape::new("A server other than that of a constant bit rate.", of_servers);
        server.kind = Kind::Any(vec![server.kind, Kind::Table(table)]);
    }
    server
}

/// Return the server that the keys of a link or a change select, if they do; report errors.
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

/// Return the channel that a link's keys select, or the one from before; report errors.
pub(crate) fn channel(link: &Section<'_>, before: Option<Channel>) -> Option<Channel> {
    reported(link, Channel::read(link, before))
}

/// Read server and channel of a link.
pub(crate) fn read(link: &Section<'_>) -> Option<Line> {
    let (server, channel) = (server(link), channel(link, None));
    Some(Line { server: server?.with_in_service(InService::read(link)), channel: channel? })
}

fn reported<T>(keys: &Section<'_>, read: Result<Option<T>, ParameterError>) -> Option<T> {
    read.unwrap_or_else(|e| {
        keys.error(&e.key, Complaint::new(e.message).allowed(e.allowed));
        None
    })
}
