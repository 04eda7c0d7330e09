//! A channel that loses the packets on their way when the link goes down, by `[[change]]` with `state`. Made of the channel and the outages of a
//! link when a run starts.

use aqmlab_units::{Span, Time};

use super::{Carry, Carrying, Channel, ChannelChange, ChannelPart, CutPlace};
use crate::link::outage::Outage;

/// A channel of a link that goes down at some times.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cut {
    pub before: Box<Channel>,
    pub outages: Vec<Outage>,
}

impl ChannelPart for Cut {
    type State = State;

    fn delay(&self) -> Span {
        self.before.delay()
    }

    fn varies_by(&self) -> Option<&'static str> {
        self.before.varies_by()
    }

    fn shortest(&self) -> Span {
        self.before.shortest()
    }

    fn keeps_order(&self) -> bool {
        self.before.keeps_order()
    }

    fn then(self, at: Time, change: &ChannelChange) -> Channel {
        Self { before: Box::new(self.before.then(at, change)), ..self }.into()
    }

    fn since(&self, now: Time) -> Self {
        Self { before: Box::new(self.before.since(now)), ..self.clone() }
    }

    fn start(&self, seed: u64, link: &str) -> State {
        State(Box::new(Inner {
            before: self.before.start(seed, link),
            cuts: self.outages.iter().map(|outage| outage.down).collect(),
            passed: 0,
            end: Time::ZERO,
            cut: None,
        }))
    }
}

/// The channel before, and the times of cuts.
#[derive(Clone, Debug)]
pub(crate) struct State(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    before: Carrying,
    cuts: Vec<Time>,
    /// How many are not after the start of the last service.
    passed: usize,
    /// The end of the last service.
    end: Time,
    /// Where the last packet, or its copy, was lost by a cut.
    cut: Option<CutPlace>,
}

impl Inner {
    /// Return the time of an arrival if no cut comes before.
    fn uncut(&mut self, arrival: Time) -> Time {
        let down = self.cuts.get(self.passed).filter(|down| arrival != Time::NEVER && **down < arrival);
        let Some(&down) = down else { return arrival };
        self.cut = Some(if down < self.end { CutPlace::InService } else { CutPlace::OnWire });
        Time::NEVER
    }
}

impl Carry for State {
    fn carry(&mut self, start: Time, end: Time) -> Time {
        let inner = &mut *self.0;
        while inner.cuts.get(inner.passed).is_some_and(|&cut| cut <= start) {
            inner.passed += 1;
        }
        (inner.end, inner.cut) = (end, None);
        let arrival = inner.before.carry(start, end);
        inner.uncut(arrival)
    }

    fn copy(&mut self) -> Option<Time> {
        let copy = self.0.before.copy()?;
        Some(self.0.uncut(copy))
    }

    fn cut(&self) -> Option<CutPlace> {
        self.0.cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_arrived_when_the_link_goes_down_is_lost() {
        let outage = |down| Outage { down: Time(down), up: Time(down + 10), flushes: false };
        let before = Box::new(Channel::constant(Span(100)));
        let mut state = Cut { before, outages: vec![outage(1000), outage(2000)] }.start(1, "a");
        let mut arrival = |start, end| (state.carry(Time(start), Time(end)), state.cut());
        assert_eq!(arrival(880, 900), (Time(1000), None), "it arrives before");
        assert_eq!(arrival(900, 910), (Time::NEVER, Some(CutPlace::OnWire)), "on the wire");
        assert_eq!(arrival(980, 1000), (Time::NEVER, Some(CutPlace::OnWire)), "its service has ended");
        assert_eq!(arrival(990, 1010), (Time::NEVER, Some(CutPlace::InService)), "in service");
        assert_eq!(arrival(1010, 1030), (Time(1130), None));
        assert_eq!(arrival(1950, 1960), (Time::NEVER, Some(CutPlace::OnWire)));
    }
}
