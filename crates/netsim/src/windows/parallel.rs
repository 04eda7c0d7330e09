//! One run on two threads.
//!
//! Each thread evaluates a part of the stations, window by window, in a network of its own, and hands over to the
//! other the inputs of the other's stations. It begins a window when the other has handed over all that may arrive in
//! it, by the least delay from part to part: a conservative simulation with two logical processes, whose null
//! messages (Chandy and Misra, 1979) are the number of the last complete window.
//!
//! The results are the same to the byte. A station has the same inputs in each window, on either thread, and those of links are sorted by
//! their keys. Inputs with equal keys come from one event of one station, so from one part, and keep their order; and all inputs of an
//! endpoint come over one link.

use core::hint::spin_loop;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use aqmlab_units::Time;

use super::division::Division;
use super::lookahead::Lookahead;
use super::{SLOTS, Windows};
use crate::message::{Message, SackStore};
use crate::network::Network;

/// Looks at the other thread's progress before the processor is yielded, where each thread has a processor.
const LOOKS: u32 = 300;

/// The windows of both parts, and the network in which the second is evaluated.
#[derive(Debug)]
pub(crate) struct Parallel {
    windows: [Windows; 2],
    second_network: Network,
    division: Division,
    looks: u32,
}

impl Parallel {
    /// Create the windows of both parts; `network_again` makes a network equal to this one.
    pub fn new(
        network: &Network,
        mut lookahead: Lookahead,
        division: Division,
        network_again: impl FnOnce() -> Network + Send,
    ) -> Self {
        lookahead.shift = division.shift;
        let [first, second] = &division.parts;
        let (second_network, windows) = thread::scope(|scope| {
            let second_network = scope.spawn(network_again);
            let windows = [(first, second), (second, first)]
                .map(|(own, others)| Windows::of_part(network, &lookahead, own, others));
            (second_network.join().unwrap_or_else(|panic| resume_unwind(panic)), windows)
        });
        let has_two = thread::available_parallelism().is_ok_and(|processors| processors.get() > 1);
        Self { windows, second_network, division, looks: if has_two { LOOKS } else { 0 } }
    }

    /// Evaluate everything before `until`.
    #[inline(never)]
    pub fn run_until(&mut self, network: &mut Network, until: Time) {
        self.exchange(network);
        let Self { windows: [first, second], second_network, division, looks } = self;
        let (to_first, to_second) = (Mailbox::new(second.now, *looks), Mailbox::new(first.now, *looks));
        let [there, back] = division.distances;
        thread::scope(|scope| {
            scope.spawn(|| second.run_part(second_network, until, &to_first, (&to_second, there)));
            first.run_part(network, until, &to_second, (&to_first, back));
        });
        first.take_in(network, &to_first, &mut Parcel::default());
        second.take_in(second_network, &to_second, &mut Parcel::default());
        self.exchange(network);
    }

    /// Move the stations of the second part from the one network to the other and back.
    fn exchange(&mut self, network: &mut Network) {
        let Self { second_network: other, division, .. } = self;
        swap(&division.links, &mut network.fabric.links, &mut other.fabric.links);
        swap(&division.sources, &mut network.sources, &mut other.sources);
        swap(&division.sinks, &mut network.sinks, &mut other.sinks);
    }
}

fn swap<T>(numbers: &[u32], one: &mut [T], other: &mut [T]) {
    for &number in numbers {
        core::mem::swap(&mut one[number as usize], &mut other[number as usize]);
    }
}

/// Inputs of stations, in runs for one station each.
#[derive(Debug, Default)]
struct Parcel {
    messages: Vec<Message>,
    /// Station, and how many of the messages are for it.
    runs: Vec<(u32, usize)>,
    sacks: SackStore,
}

/// Inputs that one part has handed over and the other is yet to take in.
#[derive(Debug)]
struct Mailbox {
    /// All inputs that are caused in windows before this one are there.
    complete: AtomicU64,
    parcel: Mutex<Parcel>,
    /// [`LOOKS`], or none where both threads share one processor.
    looks: u32,
}

impl Mailbox {
    fn new(now: u64, looks: u32) -> Self {
        Self { complete: AtomicU64::new(now), parcel: Mutex::default(), looks }
    }

    /// Wait until all inputs are there that are caused in windows before this one.
    fn wait_for(&self, window: u64) {
        let mut looks = 0;
        while self.complete.load(Ordering::Acquire) < window {
            looks += 1;
            if looks < self.looks { spin_loop() } else { thread::yield_now() }
        }
    }
}

/// When a thread ends, also in a panic, the other waits for nothing more.
struct Complete<'a>(&'a Mailbox);

impl Drop for Complete<'_> {
    fn drop(&mut self) {
        self.0.complete.store(u64::MAX, Ordering::Release);
    }
}

impl Windows {
    /// Evaluate a part of the stations before `until`. What the other part causes comes with this least number of windows between.
    fn run_part(
        &mut self,
        network: &mut Network,
        until: Time,
        to_other: &Mailbox,
        (from_other, distance): (&Mailbox, u64),
    ) {
        let complete = Complete(to_other);
        let mut parcel = Parcel::default();
        while self.now << self.shift < until.0 {
            from_other.wait_for((self.now + 1).saturating_sub(distance));
            self.take_in(network, from_other, &mut parcel);
            let whole = (self.now + 1) << self.shift;
            self.run_window(network, Time(whole.min(until.0)));
            self.hand_over(network, to_other);
            complete.0.complete.store(self.now + 1, Ordering::Release);
            if whole > until.0 {
                return;
            }
            self.now += 1;
        }
    }

    /// Hand over the inputs of stations of the other part.
    fn hand_over(&mut self, network: &mut Network, mailbox: &Mailbox) {
        let Ok(mut parcel) = mailbox.parcel.lock() else { return };
        let Parcel { messages, runs, sacks } = &mut *parcel;
        let before = messages.len();
        for word in self.first_other / 64..self.calendar.words {
            for window in self.now..self.now + SLOTS {
                while let Some(rank) = self.calendar.take(window, word, 0) {
                    let rank = word * 64 + rank as usize;
                    let station = self.stations[rank];
                    self.inboxes.take_all(rank as u32, window, |inputs| {
                        runs.push((station, inputs.len()));
                        messages.extend_from_slice(inputs);
                    });
                }
            }
        }
        messages[before..].iter_mut().for_each(|message| network.fabric.sacks.hand_over(message, sacks));
    }

    /// Take in the inputs that the other part has handed over. `spare` is empty, and is again.
    fn take_in(&mut self, network: &mut Network, mailbox: &Mailbox, spare: &mut Parcel) {
        let Ok(mut parcel) = mailbox.parcel.lock() else { return };
        core::mem::swap(&mut *parcel, spare);
        drop(parcel);
        let Parcel { messages, runs, sacks } = spare;
        let mut inputs = messages.drain(..);
        for (station, count) in runs.drain(..) {
            for mut message in inputs.by_ref().take(count) {
                sacks.hand_over(&mut message, &mut network.fabric.sacks);
                self.put(station, &message);
            }
        }
    }
}
