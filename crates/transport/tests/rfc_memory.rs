//! No allocation on the packet path of the RFC profile once its windows have had their size.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;

use aqmlab_transport::rfc::{Config, CongestionControl, EcnFeedback, Receiver, Sender};
use aqmlab_transport::{Data, Supply};
use aqmlab_units::{Span, Stream, Time};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

#[expect(unsafe_code, reason = "an allocator is unsafe by nature; this one only counts")]
// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A connection over a line that loses packets.
struct Line {
    sender: Sender,
    receiver: Receiver,
    packets: VecDeque<Data>,
    random: Stream,
    now: Time,
}

impl Line {
    fn new(config: Config) -> Self {
        let config = Arc::new(config);
        let mut line = Self {
            sender: Sender::new(config.clone(), Supply::Greedy),
            receiver: Receiver::new(config),
            packets: VecDeque::with_capacity(1024),
            random: Stream::new(1, "line"),
            now: Time::ZERO,
        };
        let packets = &mut line.packets;
        line.sender.start(line.now, &mut |data| packets.push_back(data));
        line
    }

    fn step(&mut self) {
        self.now += Span::from_millis(1);
        let (now, packets) = (self.now, &mut self.packets);
        let mut answer = None;
        if let Some(data) = packets.pop_front() {
            if self.random.uniform() >= 0.01 {
                let marked = self.random.uniform() < 0.01;
                self.receiver.on_data(now, &data, marked, &mut |ack| answer = Some(ack));
            }
        } else if let Some(timer) = self.receiver.timer() {
            self.now = now.max(timer.deadline);
            self.receiver.on_timer(self.now, &mut |ack| answer = Some(ack));
        } else if let Some(timer) = self.sender.timer() {
            self.now = now.max(timer.deadline);
            self.sender.on_timer(self.now, &mut |data| packets.push_back(data));
        }
        if let Some(ack) = answer {
            self.sender.on_ack(self.now, &ack, &mut |data| packets.push_back(data));
        }
    }
}

#[test]
fn nothing_is_allocated_behind_the_start() {
    for cc in CongestionControl::ALL {
        for (sack, pacing, ecn) in [(true, false, false), (true, true, true), (false, false, false)] {
            let base = Config::linux(cc);
            let classic = EcnFeedback::Classic;
            let ecn = if ecn && cc.works_with(classic) { classic } else { base.ecn };
            let mut line = Line::new(Config { sack, pacing, ecn, window: 64 * base.mss, ..base });
            (0..50_000).for_each(|_| line.step());
            let before = ALLOCATIONS.with(Cell::get);
            (0..50_000).for_each(|_| line.step());
            assert_eq!(ALLOCATIONS.with(Cell::get), before, "{cc:?}, sack {sack}");
            assert!(line.sender.counters().retransmissions > 100);
            assert!(line.receiver.counters().delivered_packets > 20_000);
        }
    }
}
