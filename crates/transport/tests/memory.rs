//! The memory of a connection, both ends and their buffers together.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;

use aqmlab_transport::Supply;
use aqmlab_transport::ns2::{Config, Receiver, Sender, Variant};
use aqmlab_units::{Span, Stream, Time};

/// Overhead of an allocation in addition to its bytes.
const OVERHEAD: usize = 16;

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

#[expect(unsafe_code, reason = "an allocator is unsafe by nature; this one only counts")]
// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.with(|live| live.set(live.get().wrapping_add(layout.size() + OVERHEAD)));
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.with(|live| live.set(live.get().wrapping_sub(layout.size() + OVERHEAD)));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes of both ends after a transfer of 20,000 packets over a line that loses each with this probability.
fn occupied(config: &Config, loss: f64) -> usize {
    let config = Arc::new(config.clone());
    let mut random = Stream::new(1, "line");
    let mut line = VecDeque::new();
    let mut sender = Sender::new(config.clone(), Supply::Packets(20_000), 0.0);
    let mut receiver = Receiver::new(config.clone());
    let mut now = Time::ZERO;
    sender.start(now, &mut |data| line.push_back(data));
    while !sender.is_finished() {
        now += Span::from_millis(1);
        let mut answer = None;
        if let Some(data) = line.pop_front() {
            if random.uniform() >= loss {
                receiver.on_data(now, &data, false, &mut |ack| answer = Some(ack));
            }
        } else if let Some(timer) = receiver.timer() {
            now = timer.deadline;
            receiver.on_timer(now, &mut |ack| answer = Some(ack));
        } else if let Some(timer) = sender.timer() {
            now = timer.deadline;
            sender.on_timer(now, &mut |data| line.push_back(data));
        }
        if let Some(ack) = answer {
            sender.on_ack(now, &ack, &mut |data| line.push_back(data));
        }
    }
    let live = || LIVE.with(Cell::get);
    let before = live();
    let ends = size_of_val(&sender) + size_of_val(&receiver);
    drop((sender, receiver));
    ends + before.wrapping_sub(live())
}

/// The remainder of a kilobyte is for the two stations of the simulator around them; their test checks the sum.
#[test]
fn a_connection_with_a_window_of_64_packets_fits_into_640_bytes() {
    for variant in Variant::ALL {
        for loss in [0.0, 0.01, 0.1, 0.3] {
            for delayed_ack in [None, Some(Span::from_millis(100))] {
                let config = Config { window: 64.0, delayed_ack, ..Config::ns2(variant) };
                let bytes = occupied(&config, loss);
                assert!(bytes <= 640, "{variant:?}, loss {loss}, {delayed_ack:?}: {bytes} bytes");
            }
        }
    }
}

/// A window of twice as many packets costs a bit each at the receiver, and a sender with SACK what it knows of holes.
#[test]
fn memory_grows_with_the_window() {
    let of_window = |window| occupied(&Config { window, ..Config::ns2(Variant::Sack) }, 0.01);
    let (small, large) = (of_window(64.0), of_window(4096.0));
    assert!(large > small && large < small + 4096, "{small} and {large} bytes");
}
