//! Greedy flows of the RFC profile through one drop-tail queue, without a network simulator: just enough for a
//! comparison with real kernels.
//!
//! ```text
//! cargo run --release -p aqmlab-transport --example rfc_bottleneck -- CONTROL FLOWS LIMIT DELAY_MS SECONDS [JITTER_US [TRACE]]
//! ```
//!
//! CONTROL is reno, cubic, or another controller that needs no marks. The link has 10 Mb/s, counts 14 bytes of Ethernet header a packet and holds LIMIT packets, the one in service
//! included; the whole delay is on the way back, with a uniform JITTER_US on top. The first 5 s do not count. `TRACE`:
//! also the window of the first flow, ten times a second.

use std::collections::VecDeque;
use std::sync::Arc;

use aqmlab_transport::rfc::{Config, CongestionControl, Receiver, Sender};
use aqmlab_transport::{Ack, Data, Supply};
use aqmlab_units::{Rate, Span, Stream, Time};

const LINK: Rate = Rate(10_000_000);
const ETHERNET: u32 = 14;
const WARMUP: Time = Time(5_000_000_000_000);

struct Link {
    queue: VecDeque<(usize, Data)>,
    limit: usize,
    /// End of service of the first packet.
    done: Time,
    drops: u64,
    /// Packets times picoseconds.
    area: f64,
    last: Time,
}

impl Link {
    fn look(&mut self, now: Time) {
        if now > WARMUP {
            self.area += self.queue.len() as f64 * now.since(self.last.max(WARMUP)).0 as f64;
        }
        self.last = now;
    }

    fn put(&mut self, now: Time, flow: usize, data: Data) {
        self.look(now);
        if self.queue.len() >= self.limit {
            self.drops += u64::from(now >= WARMUP);
            return;
        }
        if self.queue.is_empty() {
            self.done = now + LINK.time_of(u64::from(data.bytes + ETHERNET));
        }
        self.queue.push_back((flow, data));
    }

    fn take(&mut self, now: Time) -> Option<(usize, Data)> {
        self.look(now);
        let first = self.queue.pop_front();
        if let Some((_, data)) = self.queue.front() {
            self.done = now + LINK.time_of(u64::from(data.bytes + ETHERNET));
        }
        first
    }

    fn due(&self) -> Time {
        if self.queue.is_empty() { Time::NEVER } else { self.done }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize| arguments.get(k).and_then(|text| text.parse::<u64>().ok());
    let cc = arguments.first().and_then(|name| CongestionControl::from_name(name));
    let (Some(cc), Some(flows), Some(limit), Some(delay), Some(seconds)) =
        (cc, number(1), number(2), number(3), number(4))
    else {
        eprintln!("usage: rfc_bottleneck CONTROL FLOWS LIMIT DELAY_MS SECONDS [JITTER_US [TRACE]]");
        std::process::exit(2);
    };
    let config = Arc::new(Config::linux(cc));
    let jitter = number(5).unwrap_or(0) as f64 * 1e-6;
    let mut random = Stream::new(1, "jitter");
    let (delay, end) = (Span::from_millis(delay), Time::from_secs(seconds as f64));
    let mut senders: Vec<Sender> = (0..flows).map(|_| Sender::new(config.clone(), Supply::Greedy)).collect();
    let mut receivers: Vec<Receiver> = (0..flows).map(|_| Receiver::new(config.clone())).collect();
    let mut link = Link {
        queue: VecDeque::new(),
        limit: limit as usize,
        done: Time::ZERO,
        drops: 0,
        area: 0.0,
        last: Time::ZERO,
    };
    let mut back: VecDeque<(Time, usize, Ack)> = VecDeque::new();
    let mut before = None;
    let mut put_back = |back: &mut VecDeque<(Time, usize, Ack)>, now: Time, flow: usize, ack: Ack| {
        let due = now + delay + Span::from_secs(jitter * random.uniform());
        let due = back.back().map_or(due, |last| due.max(last.0)); // in order
        back.push_back((due, flow, ack));
    };
    let mut next_trace = Time::ZERO;
    let mut now;
    for (flow, sender) in senders.iter_mut().enumerate() {
        sender.start(Time(flow as u64 * 1_000_000), &mut |data| link.put(Time::ZERO, flow, data));
    }
    loop {
        let timer = |t: Option<aqmlab_transport::Timer>| t.map_or(Time::NEVER, |timer| timer.deadline);
        let first = |timers: &mut dyn Iterator<Item = Time>| {
            timers.enumerate().map(|(k, t)| (t, k)).min().unwrap_or((Time::NEVER, 0))
        };
        let rto = first(&mut senders.iter().map(|s| timer(s.timer())));
        let delack = first(&mut receivers.iter().map(|r| timer(r.timer())));
        let ack = back.front().map_or(Time::NEVER, |item| item.0);
        now = link.due().min(ack).min(rto.0).min(delack.0);
        if now >= WARMUP && before.is_none() {
            before = Some(receivers.iter().map(|r| r.counters().delivered_packets).collect::<Vec<_>>());
        }
        if now >= end {
            break;
        }
        if arguments.len() > 6 && now >= next_trace {
            let s = &senders[0];
            println!(
                "{:.2} cwnd {:.1} ssthresh {:.1} queue {}",
                now.secs(),
                s.cwnd(),
                s.ssthresh(),
                link.queue.len()
            );
            next_trace = now + Span::from_millis(100);
        }
        if now == link.due() {
            if let Some((flow, data)) = link.take(now) {
                receivers[flow].on_data(now, &data, false, &mut |ack| put_back(&mut back, now, flow, ack));
            }
        } else if now == ack {
            if let Some((_, flow, ack)) = back.pop_front() {
                senders[flow].on_ack(now, &ack, &mut |data| link.put(now, flow, data));
            }
        } else if now == rto.0 {
            senders[rto.1].on_timer(now, &mut |data| link.put(now, rto.1, data));
        } else {
            let flow = delack.1;
            receivers[flow].on_timer(now, &mut |ack| put_back(&mut back, now, flow, ack));
        }
    }
    let span = end.since(WARMUP).secs();
    let mbps = |packets: u64| packets as f64 * f64::from(config.mss) * 8e-6 / span;
    let before = before.unwrap_or_default();
    let each: Vec<f64> =
        receivers.iter().zip(&before).map(|(r, b)| mbps(r.counters().delivered_packets - b)).collect();
    let count = |of: fn(&aqmlab_transport::SenderCounters) -> u64| -> u64 {
        senders.iter().map(|s| of(&s.counters())).sum()
    };
    println!(
        "goodput {:.4} Mb/s {each:.2?}, mean queue {:.2} packets, drops {:.2}/s ({}), retransmissions {}, time-outs {}, recoveries {}",
        each.iter().sum::<f64>(),
        link.area / 1e12 / span,
        link.drops as f64 / span,
        link.drops,
        count(|c| c.retransmissions),
        count(|c| c.timeouts),
        count(|c| c.fast_retransmits),
    );
}
