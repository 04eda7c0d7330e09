//! One object after the other over a connection, with a pause before each but the first: a browser's persistent connection
//! without pipelining (HTTP/1.1, RFC 9112, sections 9.3 and 9.4).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aqmlab_units::{Span, Stream, Time};

use crate::plan::Objects;

/// How many objects have been taken, by the one connection or by all of a page's that share them.
pub(crate) type Taken = Arc<AtomicUsize>;

/// Fetches objects.
#[derive(Debug)]
pub(super) struct Fetcher {
    objects: Objects,
    taken: Taken,
    /// The object in progress, or that will be asked for next.
    current: usize,
    rng: Stream,
}

impl Fetcher {
    /// Takes the next object; draws its pauses from the stream `think of flow NAME`.
    pub fn new(objects: &Objects, taken: Taken, flow: &str, seed: u64) -> Self {
        let current = taken.fetch_add(1, Ordering::Relaxed);
        Self {
            objects: objects.clone(),
            taken,
            current,
            rng: Stream::new(seed, &format!("think of flow {flow}")),
        }
    }

    /// Return the bytes of the object in progress; 0 without one.
    pub fn bytes(&self) -> u64 {
        self.objects.sizes.get(self.current).copied().unwrap_or(0)
    }

    /// Takes the next object, if there is one left: when to ask for it.
    pub fn on_end(&mut self, now: Time) -> Option<Time> {
        self.current = self.taken.fetch_add(1, Ordering::Relaxed);
        if self.current >= self.objects.sizes.len() {
            return None;
        }
        Some(now + Span::from_secs(self.objects.think.draw(self.rng.uniform())))
    }
}
