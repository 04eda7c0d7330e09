//! The token bucket.

use aqmlab_units::{Rate, Span, Time};

use super::{Arithmetic, Color, Exact};

/// A bucket of tokens, full at the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket<A: Arithmetic> {
    size: A::Tokens,
    tokens: A::Tokens,
}

impl<A: Arithmetic> Bucket<A> {
    pub fn full(bytes: u64) -> Self {
        let size = A::tokens(bytes);
        Self { size, tokens: size }
    }

    /// Takes in what was earned; what does not fit in is returned.
    pub fn pour(&mut self, earned: A::Tokens) -> Option<A::Tokens> {
        if self.tokens + earned <= self.size {
            self.tokens = self.tokens + earned;
            return None;
        }
        let surplus = earned - (self.size - self.tokens);
        self.tokens = self.size;
        Some(surplus)
    }

    /// Whether the whole packet is covered.
    pub fn covers(&self, bytes: u32) -> bool {
        self.tokens >= A::tokens(u64::from(bytes))
    }

    /// Pays for a packet that is covered.
    pub fn pay(&mut self, bytes: u32) {
        self.tokens = self.tokens - A::tokens(u64::from(bytes));
    }
}

impl Bucket<Exact> {
    /// Return how long it takes at a rate until the whole packet is covered, to the next picosecond.
    pub fn wait(&self, rate: Rate, bytes: u32) -> Span {
        let missing = Exact::tokens(bytes.into()).saturating_sub(self.tokens);
        Span(u64::try_from(missing.div_ceil(rate.0.into())).unwrap_or(u64::MAX))
    }

    /// Pay for a packet that is covered by the tokens and those earned while it waited, of which more may be there than fit in.
    pub fn pay_after_wait(&mut self, earned: u128, bytes: u32) {
        let cost = Exact::tokens(bytes.into());
        self.tokens = (self.tokens + earned).min(self.size.max(cost)).saturating_sub(cost);
    }
}

/// Token bucket (RFC 2475, section 2.3.3.1): tokens come at the rate `cir` up to `cbs`. A packet that is covered as a
/// whole is paid for and green; any other is red and costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket<A: Arithmetic> {
    cir: Rate,
    bucket: Bucket<A>,
    last: Time,
}

impl<A: Arithmetic> TokenBucket<A> {
    /// A full bucket of `cbs` bytes at time 0.
    pub fn new(cir: Rate, cbs: u64) -> Self {
        Self { cir, bucket: Bucket::full(cbs), last: Time::ZERO }
    }

    /// The colour of a packet of `bytes` that arrives at `now`.
    pub fn color(&mut self, now: Time, bytes: u32) -> Color {
        self.bucket.pour(A::earned(self.cir, self.last, now));
        self.last = now;
        if !self.bucket.covers(bytes) {
            return Color::Red;
        }
        self.bucket.pay(bytes);
        Color::Green
    }
}
