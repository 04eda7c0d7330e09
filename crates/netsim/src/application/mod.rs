//! Applications over a TCP connection: a client asks for one object after the other.
//!
//! The server is the source of the flow. The client asks for the next object when the last byte of the one before has
//! come, perhaps after a while; its request travels with the acknowledgement of that byte. So the server receives it when
//! everything is acknowledged, and the server's end makes all decisions: at the client's times, later by the way back.
//!
//! The last packet of an object is [marked](crate::message::Message::is_last) so that the sink knows when an object is
//! complete, and answers it at once: the request does not wait for a delayed acknowledgement.
//!
//! # Differences from a browser or player
//! The connection is opened by the server's end, so that the first data leave one round trip after the start, where they
//! would leave one and a half after a client's SYN. A request is lost only with the acknowledgement that it travels with,
//! and then comes with the next one.

mod arrivals;
mod driven;
mod objects;
mod playback;
mod rules;
mod video;

use aqmlab_transport::{Data, TcpConfig};
use aqmlab_units::{Span, Time};

use crate::plan::Size;

pub(crate) use self::arrivals::Arrivals;
pub(crate) use self::driven::Driven;
use self::objects::Fetcher;
pub(crate) use self::objects::Taken;
pub(crate) use self::playback::Playback;
use self::video::Player;

/// An object that was asked for, as the server sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Request {
    /// When the request was there.
    pub at: Time,
    /// How much was asked for.
    pub bytes: u64,
    /// Of a segment of video: its place in the ladder, and how much video was in the buffer.
    pub segment: Option<(usize, Span)>,
}

/// The generator of the requests.
#[derive(Debug)]
enum Generator {
    Objects(Fetcher),
    Video(Player),
}

/// An application, and what it has asked for.
#[derive(Debug)]
pub(crate) struct Application {
    generator: Generator,
    requests: Vec<Request>,
}

impl Application {
    /// The application of a flow, if it has one; for a run of this length. Connections of a page that share their
    /// objects share the count `taken`.
    pub fn new(size: &Size, taken: Option<Taken>, flow: &str, seed: u64, duration: Span) -> Option<Self> {
        let generator = match size {
            Size::Objects(objects) => {
                Generator::Objects(Fetcher::new(objects, taken.unwrap_or_default(), flow, seed))
            }
            Size::Video(video) => Generator::Video(Player::new(video)),
            Size::Greedy | Size::Packets(_) | Size::Bytes(_) | Size::Drawn(_) => return None,
        };
        Some(Self { generator, requests: Vec::with_capacity(most_requests(size, duration)) })
    }

    /// The bytes of the first object.
    pub fn first(&self) -> u64 {
        match &self.generator {
            Generator::Objects(fetcher) => fetcher.bytes(),
            Generator::Video(player) => player.first(),
        }
    }

    /// Asks for the next object: its bytes.
    pub fn ask(&mut self, now: Time) -> u64 {
        let (bytes, segment) = match &mut self.generator {
            Generator::Objects(fetcher) => (fetcher.bytes(), None),
            Generator::Video(player) => {
                let (bytes, place, level) = player.ask(now);
                (bytes, Some((place, level)))
            }
        };
        self.requests.push(Request { at: now, bytes, segment });
        bytes
    }

    /// An object is complete: when to ask for the next one, if there is another.
    pub fn on_end(&mut self, now: Time) -> Option<Time> {
        match &mut self.generator {
            Generator::Objects(fetcher) => fetcher.on_end(now),
            Generator::Video(player) => player.on_end(now),
        }
    }

    /// Return the requests so far.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }
}

/// Room for as many requests as there can be. A player asks for what it plays and for what it has room for.
pub(crate) fn most_requests(size: &Size, duration: Span) -> usize {
    match size {
        Size::Objects(objects) => objects.sizes.len(),
        Size::Video(video) => {
            let segments = (duration + video.buffer).0 / video.segment.0 + 1;
            segments.min(video.segments.unwrap_or(u64::MAX)) as usize
        }
        Size::Greedy | Size::Packets(_) | Size::Bytes(_) | Size::Drawn(_) => 0,
    }
}

/// The unit that the sequence numbers of a profile count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Packets.
    Packets,
    /// Bytes of payload, which are those of a packet without its header.
    Bytes { header: u32 },
}

impl Numbers {
    pub fn of(config: &TcpConfig) -> Self {
        match config {
            TcpConfig::Ns2(_) => Self::Packets,
            TcpConfig::Rfc(config) => Self::Bytes { header: config.header },
        }
    }

    /// The number behind a packet's last.
    #[inline]
    pub fn behind(self, data: &Data) -> u32 {
        match self {
            _ if data.syn() => data.seq.wrapping_add(1),
            Self::Packets => data.seq.wrapping_add(1),
            Self::Bytes { header } => data.seq.wrapping_add(data.bytes.saturating_sub(header)),
        }
    }
}

/// Whether number `a` is behind number `b`, of numbers that wrap.
#[inline]
fn is_behind(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}
