//! One object after the other over a connection, with a pause before each but the first: a browser's persistent connection
//! without pipelining (HTTP/1.1, RFC 9112, section 9.3).

use aqmlab_units::{Span, Stream, Time};

use crate::plan::Objects;

/// Fetches objects.
#[derive(Clone, Debug)]
pub(super) struct Fetcher {
    objects: Objects,
    asked: usize,
    rng: Stream,
}

impl Fetcher {
    /// Draws its pauses from the stream `think of flow NAME`.
    pub fn new(objects: &Objects, flow: &str, seed: u64) -> Self {
        Self { objects: objects.clone(), asked: 0, rng: Stream::new(seed, &format!("think of flow {flow}")) }
    }

    pub fn first(&self) -> u64 {
        self.objects.sizes.first().copied().unwrap_or(0)
    }

    pub fn ask(&mut self) -> u64 {
        let bytes = self.objects.sizes[self.asked];
        self.asked += 1;
        bytes
    }

    pub fn on_end(&mut self, now: Time) -> Option<Time> {
        if self.asked >= self.objects.sizes.len() {
            return None;
        }
        Some(now + Span::from_secs(self.objects.think.draw(self.rng.uniform())))
    }
}
