//! Greedy flows through one queue, without a network simulator.

use std::collections::VecDeque;
use std::sync::Arc;

use aqmlab_transport::rfc::{Config, Receiver, Sender};
use aqmlab_transport::{Ack, Data, Supply, Timer};
use aqmlab_units::{Rate, Span, Time};

const LINK: Rate = Rate(10_000_000);

/// The queue, and how long it is looked at.
#[derive(Clone, Copy)]
pub struct Path {
    /// Packets, the one in service included.
    pub limit: usize,
    /// A packet that meets so many is marked, if it may be.
    pub mark_at: usize,
    pub seconds: u32,
    pub warmup: u32,
}

/// A flow: its delay is on the way back, and it starts in so many milliseconds.
#[derive(Clone)]
pub struct Flow {
    pub config: Config,
    pub delay: Span,
    pub start: u64,
}

/// The results after the warm-up.
#[derive(Debug)]
pub struct Found {
    /// Payload of each flow in Mb/s, and its window every 100 ms on the mean.
    pub mbps: Vec<f64>,
    pub cwnd: Vec<f64>,
    /// Mean length of the queue in packets, its least and its greatest.
    pub queue: f64,
    pub least: usize,
    pub most: usize,
    pub drops: u64,
    /// Of the packets that passed.
    pub marked_share: f64,
}

struct Link {
    path: Path,
    queue: VecDeque<(usize, Data, bool)>,
    done: Time,
    counts: bool,
    drops: u64,
    passed: u64,
    marked: u64,
    area: f64,
    since: Time,
    least: usize,
    most: usize,
}

impl Link {
    fn look(&mut self, now: Time) {
        if self.counts {
            self.area += self.queue.len() as f64 * now.since(self.since).secs();
            self.least = self.least.min(self.queue.len());
            self.most = self.most.max(self.queue.len());
        }
        self.since = now;
    }

    fn put(&mut self, now: Time, flow: usize, data: Data) {
        self.look(now);
        if self.queue.len() >= self.path.limit {
            self.drops += u64::from(self.counts);
            return;
        }
        let marks = data.ect() && self.queue.len() >= self.path.mark_at;
        if self.queue.is_empty() {
            self.done = now + LINK.time_of(data.bytes.into());
        }
        self.passed += u64::from(self.counts);
        self.marked += u64::from(self.counts && marks);
        self.queue.push_back((flow, data, marks));
    }

    fn take(&mut self, now: Time) -> Option<(usize, Data, bool)> {
        self.look(now);
        let first = self.queue.pop_front();
        if let Some((_, data, _)) = self.queue.front() {
            self.done = now + LINK.time_of(data.bytes.into());
        }
        first
    }

    fn due(&self) -> Time {
        if self.queue.is_empty() { Time::NEVER } else { self.done }
    }
}

fn first(timers: impl Iterator<Item = Option<Timer>>) -> (Time, usize) {
    let deadlines = timers.map(|timer| timer.map_or(Time::NEVER, |timer| timer.deadline));
    deadlines.enumerate().map(|(k, t)| (t, k)).min().unwrap_or((Time::NEVER, 0))
}

/// Lets the flows send.
pub fn run(path: Path, flows: &[Flow]) -> Found {
    let configs: Vec<Arc<Config>> = flows.iter().map(|flow| Arc::new(flow.config.clone())).collect();
    let mut senders: Vec<Sender> = configs.iter().map(|c| Sender::new(c.clone(), Supply::Greedy)).collect();
    let mut receivers: Vec<Receiver> = configs.iter().map(|c| Receiver::new(c.clone())).collect();
    let mut link = Link {
        path,
        queue: VecDeque::new(),
        done: Time::ZERO,
        counts: false,
        drops: 0,
        passed: 0,
        marked: 0,
        area: 0.0,
        since: Time::ZERO,
        least: usize::MAX,
        most: 0,
    };
    let mut back: Vec<VecDeque<(Time, Ack)>> = vec![VecDeque::new(); flows.len()];
    let mut starts: VecDeque<(Time, usize)> = flows
        .iter()
        .enumerate()
        .map(|(k, f)| (Time(f.start * 1_000_000_000 + k as u64 * 1_000_000), k))
        .collect();
    starts.make_contiguous().sort_unstable();
    let (warm, end) = (Time::from_secs(path.warmup.into()), Time::from_secs(path.seconds.into()));
    let delivered = |receivers: &[Receiver]| -> Vec<u64> {
        receivers.iter().map(|r| r.counters().delivered_packets).collect()
    };
    let mut before = Vec::new();
    let mut windows = vec![0.0; flows.len()];
    let (mut samples, mut next_sample) = (0.0, warm);
    loop {
        let start = starts.front().map_or(Time::NEVER, |s| s.0);
        let ack = back
            .iter()
            .enumerate()
            .map(|(k, queue)| (queue.front().map_or(Time::NEVER, |item| item.0), k))
            .min()
            .unwrap_or((Time::NEVER, 0));
        let timer = first(senders.iter().map(Sender::timer));
        let held = first(receivers.iter().map(Receiver::timer));
        let now = start.min(link.due()).min(ack.0).min(timer.0).min(held.0);
        if now >= warm && !link.counts {
            link.look(warm);
            link.counts = true;
            before = delivered(&receivers);
        }
        while now > next_sample && next_sample < end {
            for (sum, sender) in windows.iter_mut().zip(&senders) {
                *sum += sender.cwnd();
            }
            samples += 1.0;
            next_sample += Span::from_millis(100);
        }
        if now >= end {
            break;
        }
        if now == start {
            let (_, k) = starts.pop_front().expect("there is one");
            senders[k].start(now, &mut |data| link.put(now, k, data));
        } else if now == link.due() {
            let (k, data, marked) = link.take(now).expect("there is one");
            let due = now + flows[k].delay;
            receivers[k].on_data(now, &data, marked, &mut |ack| back[k].push_back((due, ack)));
        } else if now == ack.0 {
            let (_, answer) = back[ack.1].pop_front().expect("there is one");
            senders[ack.1].on_ack(now, &answer, &mut |data| link.put(now, ack.1, data));
        } else if now == timer.0 {
            senders[timer.1].on_timer(now, &mut |data| link.put(now, timer.1, data));
        } else {
            let due = now + flows[held.1].delay;
            receivers[held.1].on_timer(now, &mut |ack| back[held.1].push_back((due, ack)));
        }
    }
    link.look(end);
    let seconds = end.since(warm).secs();
    let mbps = |(k, after): (usize, u64)| {
        (after - before[k]) as f64 * f64::from(flows[k].config.mss) * 8e-6 / seconds
    };
    Found {
        mbps: delivered(&receivers).into_iter().enumerate().map(mbps).collect(),
        cwnd: windows.iter().map(|sum| sum / samples).collect(),
        queue: link.area / seconds,
        least: link.least,
        most: link.most,
        drops: link.drops,
        marked_share: link.marked as f64 / link.passed as f64,
    }
}
