//! Delay without loss: a line for each group of flows, first in, first out.

use aqmlab_aqm::Packet;
use aqmlab_netsim::standalone_link::Passage;
use aqmlab_units::{Span, Time};

use crate::buffer::Buffer;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Line {
    delay: Span,
    first: u32,
    last: u32,
    /// When what came last leaves; nothing leaves before it, also when the delay has become shorter.
    last_leaves: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    leaves: Time,
    packet: Packet<Buffer>,
    passage: Passage,
    next: u32,
}

/// The lines of one stretch of the way. A packet is kept at a place of its slot, so that there is room for all slots. Each has two
/// places: the second is for a packet that comes once more.
#[derive(Clone, Debug)]
pub struct Lines {
    lines: Vec<Line>,
    places: Vec<Place>,
    held: usize,
}

impl Lines {
    /// Lines with these delays, for packets in so many slots.
    pub fn new(delays: impl Iterator<Item = Span>, slots: usize) -> Self {
        let line = |delay| Line { delay, first: NONE, last: NONE, last_leaves: Time::ZERO };
        Self { lines: delays.map(line).collect(), places: vec![Place::default(); 2 * slots], held: 0 }
    }

    /// Other delays, for what comes from now on.
    pub fn set_delays(&mut self, delays: impl Iterator<Item = Span>) {
        self.lines.iter_mut().zip(delays).for_each(|(line, delay)| line.delay = delay);
    }

    /// A packet of its group comes at `now`, by this passage through the link.
    pub fn push(&mut self, now: Time, packet: Packet<Buffer>, passage: Passage) {
        let Buffer { slot, group, .. } = packet.payload;
        let place = 2 * slot + u32::from(passage.comes_again);
        let line = &mut self.lines[usize::from(group)];
        line.last_leaves = line.last_leaves.max(now + line.delay);
        self.places[place as usize] = Place { leaves: line.last_leaves, packet, passage, next: NONE };
        match line.last {
            NONE => line.first = place,
            last => self.places[last as usize].next = place,
        }
        line.last = place;
        self.held += 1;
    }

    /// When the next packet leaves.
    pub fn next(&self) -> Option<Time> {
        self.earliest().map(|(leaves, _)| leaves)
    }

    /// The next packet, if it leaves by `to`, with the time.
    pub fn pop(&mut self, to: Time) -> Option<(Time, Packet<Buffer>, Passage)> {
        let (leaves, line) = self.earliest().filter(|(leaves, _)| *leaves <= to)?;
        let line = &mut self.lines[line];
        let Place { packet, passage, next, .. } = self.places[line.first as usize];
        line.first = next;
        if next == NONE {
            line.last = NONE;
        }
        self.held -= 1;
        Some((leaves, packet, passage))
    }

    /// Packets on the way.
    pub fn held(&self) -> usize {
        self.held
    }

    fn earliest(&self) -> Option<(Time, usize)> {
        if self.held == 0 {
            return None;
        }
        let first = |(i, line): (usize, &Line)| {
            (line.first != NONE).then(|| (self.places[line.first as usize].leaves, i))
        };
        self.lines.iter().enumerate().filter_map(first).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(slot: u32, group: u16) -> Packet<Buffer> {
        Packet { payload: Buffer { slot, group, ..Buffer::default() }, ..Packet::default() }
    }

    #[test]
    fn lines_keep_their_order_and_leave_by_time() {
        let mut lines = Lines::new([Span(10), Span(3)].into_iter(), 8);
        lines.push(Time(0), packet(0, 0), Passage::default());
        lines.push(Time(1), packet(1, 0), Passage::default());
        lines.push(Time(2), packet(2, 1), Passage::default());
        assert_eq!((lines.next(), lines.held()), (Some(Time(5)), 3));
        assert_eq!(lines.pop(Time(4)), None);
        let mut left = Vec::new();
        while let Some((time, packet, _)) = lines.pop(Time(11)) {
            left.push((time.0, packet.payload.slot));
        }
        assert_eq!(left, [(5, 2), (10, 0), (11, 1)]);
        assert_eq!((lines.next(), lines.held()), (None, 0));
    }

    #[test]
    fn nothing_overtakes_when_the_delay_becomes_shorter() {
        let mut lines = Lines::new([Span(10)].into_iter(), 8);
        lines.push(Time(0), packet(0, 0), Passage::default());
        lines.set_delays([Span(1)].into_iter());
        lines.push(Time(2), packet(1, 0), Passage::default());
        lines.push(Time(20), packet(2, 0), Passage::default());
        let left: Vec<_> =
            core::iter::from_fn(|| lines.pop(Time(100))).map(|(t, p, _)| (t.0, p.payload.slot)).collect();
        assert_eq!(left, [(10, 0), (10, 1), (21, 2)]);
    }
}
