//! A sender and a receiver against each other, without a network: what one acknowledgement costs.
//!
//! ```text
//! cargo build --release -p aqmlab-transport --example ack_loop
//! valgrind --tool=callgrind --callgrind-out-file=ack_loop.callgrind ack_loop VARIANT [PACKETS [LOST_EVERY]]
//! callgrind_annotate --inclusive=yes ack_loop.callgrind | grep -E 'on_ack|on_data'
//! ```
//!
//! Instructions are counted, not time: [`on_ack`] and [`on_data`] stay functions of their own, and their inclusive
//! counts over the numbers of calls that are printed are the costs. Every `LOST_EVERY`-th packet is lost; 0: none.

use std::collections::VecDeque;
use std::sync::Arc;

use aqmlab_transport::ns2::{Config, Receiver, Sender, Variant};
use aqmlab_transport::{Ack, Data, Supply};
use aqmlab_units::{Span, Time};

/// Packets follow each other at 1 Gb/s.
const STEP: Span = Span(8_320_000);
/// Receiver's window in packets.
const WINDOW: f64 = 64.0;

#[inline(never)]
fn on_ack(sender: &mut Sender, now: Time, ack: &Ack, line: &mut VecDeque<Data>) {
    sender.on_ack(now, ack, &mut |data| line.push_back(data));
}

#[inline(never)]
fn on_data(receiver: &mut Receiver, now: Time, data: &Data, answer: &mut Option<Ack>) {
    receiver.on_data(now, data, false, &mut |ack| *answer = Some(ack));
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let variant = arguments.next().and_then(|name| Variant::from_name(&name));
    let mut number = |default: u64| arguments.next().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (Some(variant), packets, lost_every) = (variant, number(1_000_000), number(0)) else {
        eprintln!("usage: ack_loop tahoe|reno|newreno|sack [PACKETS [LOST_EVERY]]");
        std::process::exit(2);
    };
    let config = Arc::new(Config { window: WINDOW, ..Config::ns2(variant) });
    let mut sender = Sender::new(config.clone(), Supply::Packets(packets), 0.003);
    let mut receiver = Receiver::new(config);
    let mut line = VecDeque::with_capacity(256);
    let (mut now, mut sent, mut data_calls, mut ack_calls) = (Time::ZERO, 0_u64, 0_u64, 0_u64);
    sender.start(now, &mut |data| line.push_back(data));
    while !sender.is_finished() {
        now += STEP;
        let Some(data) = line.pop_front() else {
            let Some(timer) = sender.timer() else { break };
            now = timer.deadline;
            sender.on_timer(now, &mut |data| line.push_back(data));
            continue;
        };
        sent += 1;
        if lost_every > 0 && sent.is_multiple_of(lost_every) {
            continue;
        }
        let mut answer = None;
        on_data(&mut receiver, now, &data, &mut answer);
        data_calls += 1;
        if let Some(ack) = answer {
            on_ack(&mut sender, now, &ack, &mut line);
            ack_calls += 1;
        }
    }
    let (sender, receiver) = (sender.counters(), receiver.counters());
    println!("on_ack calls={ack_calls} on_data calls={data_calls}");
    println!("{sender:?}\n{receiver:?}");
}
