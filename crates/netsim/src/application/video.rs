//! Adaptive video over HTTP: segments of a ladder of bit rates, one at a time.
//!
//! A player asks for a segment when the one before has come and there is room for it in the buffer. What is in the buffer
//! and how fast segments come is reckoned with at the server, later than at the client by the way back: as long as that
//! takes the same time, the rule sees what it would see at the client.

use std::sync::Arc;

use aqmlab_units::{Span, Time};

use super::playback::Playback;
use super::rules::{Throughputs, bba_0};
use crate::plan::{AdaptationRule, Video};

/// A player.
#[derive(Clone, Debug)]
pub(super) struct Player {
    video: Arc<Video>,
    playback: Playback,
    throughputs: Throughputs,
    asked: u64,
    /// The last segment asked for: its place in the ladder, and when.
    rung: usize,
    at: Time,
}

impl Player {
    pub fn new(video: &Arc<Video>) -> Self {
        let window = match video.rule {
            AdaptationRule::Throughput { window, .. } => window as usize,
            AdaptationRule::Bba0 { .. } => 0,
        };
        Self {
            playback: Playback::new(video.startup),
            throughputs: Throughputs::new(window),
            asked: 0,
            rung: 0,
            at: Time::ZERO,
            video: Arc::clone(video),
        }
    }

    /// The first segment has the lowest bit rate.
    pub fn first(&self) -> u64 {
        self.video.bytes(0)
    }

    /// Ask for the next segment. Return its bytes, its place in the ladder, and the buffer level.
    pub fn ask(&mut self, now: Time) -> (u64, usize, Span) {
        let level = self.playback.level(now);
        if self.asked > 0 {
            let ladder = &self.video.ladder;
            self.rung = match self.video.rule {
                AdaptationRule::Bba0 { reservoir, cushion } => {
                    bba_0(ladder, (reservoir, cushion), self.rung, level)
                }
                AdaptationRule::Throughput { safety, .. } => self.throughputs.rung(ladder, safety),
            };
        }
        self.asked += 1;
        self.at = now;
        (self.video.bytes(self.rung), self.rung, level)
    }

    /// A segment has come: when to ask for the next.
    pub fn on_end(&mut self, now: Time) -> Option<Time> {
        let Video { segment, buffer, segments, .. } = *self.video;
        let took = now.since(self.at).secs();
        self.throughputs.add(self.video.bytes(self.rung) as f64 * 8.0 / took);
        self.playback.add(now, segment);
        if segments.is_some_and(|all| self.asked >= all) {
            return None;
        }
        // Without room, wait until playback has made room for a segment.
        let too_much = self.playback.level(now) + segment - buffer;
        Some(now + too_much)
    }
}

impl Video {
    /// The bytes of a segment of this rung, rounded up.
    pub fn bytes(&self, rung: usize) -> u64 {
        let bits = u128::from(self.ladder[rung].0) * u128::from(self.segment.0);
        bits.div_ceil(8_000_000_000_000) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_units::Rate;

    fn player(rule: AdaptationRule, segments: Option<u64>) -> Player {
        let s = Span::from_secs;
        Player::new(&Arc::new(Video {
            ladder: vec![Rate(1_000_000), Rate(2_000_000), Rate(4_000_000)],
            segment: s(2.0),
            buffer: s(10.0),
            startup: s(2.0),
            segments,
            rule,
        }))
    }

    #[test]
    fn a_player_fills_its_buffer_and_then_waits() {
        let (s, t) = (Span::from_secs, Time::from_secs);
        let mut player = player(AdaptationRule::Bba0 { reservoir: s(3.0), cushion: s(5.0) }, None);
        assert_eq!((player.first(), player.ask(t(1.0))), (250_000, (250_000, 0, s(0.0))));
        // Each segment takes half a second: 2 s, 3.5 s, 5 s, 6.5 s, 8 s, 9.5 s in the buffer.
        let mut asked = Vec::new();
        let mut now = t(1.0);
        for _ in 0..6 {
            now += s(0.5);
            let at = player.on_end(now).expect("without end");
            asked.push((at.secs(), player.ask(at).1));
            now = at;
        }
        // f(B) = 1 + 0.6 (B - 3) Mb/s: 1.3, 2.2, 3.1, 4; then the buffer is full and waits until 8 s are left.
        assert_eq!(asked, [(1.5, 0), (2.0, 0), (2.5, 1), (3.0, 1), (3.5, 2), (5.5, 2)]);
    }

    #[test]
    fn a_video_ends() {
        let rule = AdaptationRule::Throughput { safety: 0.5, window: 3 };
        let mut player = player(rule, Some(2));
        player.ask(Time::ZERO);
        // 250 kB in 0.25 s are 8 Mb/s.
        let next = player.on_end(Time::from_secs(0.25)).expect("one more");
        assert_eq!(player.ask(next), (1_000_000, 2, Span::from_secs(2.0)));
        assert_eq!(player.on_end(Time::from_secs(1.0)), None);
    }
}
