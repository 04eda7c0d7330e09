//! A sender and a receiver of the RFC profile over two pipes that lose, reorder and mark packets at random.

use std::sync::Arc;

use aqmlab_transport::rfc::{Config, CongestionControl, EcnFeedback, HyStart, Receiver, Sender};
use aqmlab_transport::{Ack, Data, Supply};
use aqmlab_units::{Span, Stream, Time};
use proptest::prelude::*;

/// A pipe with a delay, a chance to lose or mark a packet, and a chance to hold it back.
struct Pipe<T> {
    /// In the order of arrival.
    items: Vec<(Time, T, bool)>,
    delay: Span,
    loss: f64,
    mark: f64,
    late: f64,
}

impl<T> Pipe<T> {
    fn new(delay: u64, loss: f64, mark: f64, late: f64) -> Self {
        Self { items: Vec::new(), delay: Span::from_millis(delay), loss, mark, late }
    }

    fn push(&mut self, now: Time, item: T, random: &mut Stream) {
        if random.uniform() >= self.loss {
            let marked = random.uniform() < self.mark;
            let held = if random.uniform() < self.late { random.uniform() * 0.05 } else { 0.0 };
            let due = now + self.delay + Span::from_secs(held);
            let place = self.items.partition_point(|other| other.0 <= due);
            self.items.insert(place, (due, item, marked));
        }
    }

    fn due(&self) -> Time {
        self.items.first().map_or(Time::NEVER, |item| item.0)
    }
}

/// How the pipes treat packets.
#[derive(Clone, Copy, Debug)]
struct Weather {
    loss: f64,
    mark: f64,
    late: f64,
}

struct Outcome {
    sender: Sender,
    receiver: Receiver,
    /// First byte of each packet that arrived, on 64 bits.
    arrived: Vec<u64>,
    wraps: u64,
}

/// Runs a transfer until it is finished; `None` if it is not after a simulated month.
fn transfer(config: &Config, packets: u64, weather: Weather, seed: u64) -> Option<Outcome> {
    let config = Arc::new(config.clone());
    let mut random = Stream::new(seed, "pipe");
    let Weather { loss, mark, late } = weather;
    let mut forward = Pipe::<Data>::new(20, loss, mark, late);
    let mut back = Pipe::<Ack>::new(30, loss, 0.0, late);
    let mut sender = Sender::new(config.clone(), Supply::Packets(packets));
    let mut receiver = Receiver::new(config.clone());
    let mut arrived = Vec::new();
    let (mut highest, mut wraps) = (0_u32, 0);
    let mut now = Time::ZERO;
    sender.start(now, &mut |data| forward.push(now, data, &mut random));
    while !sender.is_finished() {
        let rto = sender.timer().map_or(Time::NEVER, |timer| timer.deadline);
        let delack = receiver.timer().map_or(Time::NEVER, |timer| timer.deadline);
        now = forward.due().min(back.due()).min(rto).min(delack);
        if now > Time::from_secs(86_400.0 * 30.0) {
            return None;
        }
        let before = (sender.pipe(), sender.counters().sent_packets);
        if now == forward.due() {
            let (_, data, marked) = forward.items.remove(0);
            wraps += u64::from(highest > 0xf000_0000 && data.seq < 0x1000_0000);
            highest = data.seq;
            arrived.push(u64::from(data.seq));
            receiver.on_data(now, &data, marked, &mut |ack| back.push(now, ack, &mut random));
        } else if now == back.due() {
            let (_, ack, _) = back.items.remove(0);
            sender.on_ack(now, &ack, &mut |data| forward.push(now, data, &mut random));
        } else if now == rto {
            sender.on_timer(now, &mut |data| forward.push(now, data, &mut random));
        } else {
            receiver.on_timer(now, &mut |ack| back.push(now, ack, &mut random));
        }
        let sent = sender.counters().sent_packets - before.1;
        let outstanding = sender.max_seq() - sender.highest_ack();
        assert!(outstanding as u64 * u64::from(config.mss) <= u64::from(config.window).max(1), "window");
        assert!(sender.cwnd() >= 1.0, "cwnd {}", sender.cwnd());
        // The segments sent fit the window, except for the one segment of a probe, a time-out or a first
        // retransmission.
        assert!(sent <= 1 || sender.pipe() as f64 <= sender.cwnd(), "{before:?} {sender:?}");
        assert!(sender.pipe() <= outstanding as u64 * 2);
    }
    Some(Outcome { sender, receiver, arrived, wraps })
}

fn configs() -> impl Strategy<Value = Config> {
    let kinds = (
        prop::sample::select(CongestionControl::ALL.to_vec()),
        (prop::sample::select(HyStart::ALL.to_vec()), prop::sample::select(EcnFeedback::ALL.to_vec())),
        prop::option::of(1u64..200),
        3u32..400,
        0u32..20,
    );
    (kinds, prop::collection::vec(any::<bool>(), 13), 0u32..8).prop_map(|(kinds, on, quic)| {
        let (congestion_control, (hystart, feedback), delayed_ack, window, quick_acks) = kinds;
        let is_quic = quic < 3;
        let base = if is_quic { Config::quic(congestion_control) } else { Config::linux(congestion_control) };
        let tcp = |on: bool| on && !is_quic;
        Config {
            hystart,
            reordering_threshold: quic,
            delayed_ack: delayed_ack.map(Span::from_millis),
            window: window * base.mss,
            quick_acks,
            ack_ratio: 1 + quick_acks % 4,
            sack: is_quic || on[0],
            rack: tcp(on[1]),
            prr: on[2],
            frto: tcp(on[3]),
            undo: tcp(on[4]),
            limited_transmit: on[5],
            whole_segments: on[6],
            ecn: if congestion_control.works_with(feedback) { feedback } else { base.ecn },
            pacing: on[8],
            timestamps: on[9],
            sack_compression: on[10].then_some(Span::from_millis(1)),
            rto_floor_on_variance: tcp(on[11]),
            tcp_friendly: on[7],
            window_growth: on[12],
            ..base
        }
    })
}

fn weather() -> impl Strategy<Value = Weather> {
    let calm = prop::sample::select(vec![0.0, 0.02, 0.3]);
    (0.0..0.3, calm.clone(), calm).prop_map(|(loss, mark, late)| Weather { loss, mark, late })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// A finite transfer always ends, and every byte is delivered exactly once.
    #[test]
    fn a_transfer_ends_and_is_complete(
        config in configs(),
        packets in 1u64..400,
        weather in weather(),
        seed in any::<u64>(),
    ) {
        let outcome = transfer(&config, packets, weather, seed);
        prop_assert!(outcome.is_some(), "not finished");
        let Outcome { sender, receiver, arrived, .. } = outcome.unwrap();
        let counters = receiver.counters();
        prop_assert_eq!(counters.delivered_packets, packets + 1);
        let bytes = u64::from(config.syn_length()) + packets * u64::from(config.mss + config.header);
        prop_assert_eq!(counters.delivered_bytes, bytes);
        let distinct: std::collections::BTreeSet<_> = arrived.iter().collect();
        prop_assert_eq!(distinct.len() as u64, packets + 1);
        prop_assert_eq!(counters.received_packets, arrived.len() as u64);
        prop_assert_eq!(counters.duplicates, (arrived.len() - distinct.len()) as u64);
        let sent = sender.counters();
        prop_assert_eq!(sent.sent_packets - sent.retransmissions, packets + 1);
        prop_assert!(sent.acks_received <= counters.acks_sent);
        prop_assert_eq!(sender.pipe(), 0);
    }

    /// Without loss or disorder nothing is sent twice.
    #[test]
    fn no_loss_no_retransmission(config in configs(), packets in 1u64..400, seed in any::<u64>()) {
        // A probe of the last segment may overtake a long delayed acknowledgement.
        let config = Config { delayed_ack: config.delayed_ack.map(|_| Span::from_millis(40)), ..config };
        let clear = Weather { loss: 0.0, mark: 0.0, late: 0.0 };
        let Outcome { sender, receiver, .. } = transfer(&config, packets, clear, seed).unwrap();
        prop_assert_eq!(sender.counters().retransmissions, 0);
        prop_assert_eq!(sender.counters().timeouts, 0);
        prop_assert_eq!(receiver.counters().delivered_packets, packets + 1);
    }

    /// The same inputs give the same transfer.
    #[test]
    fn deterministic(config in configs(), seed in any::<u64>()) {
        let run = || transfer(&config, 100, Weather { loss: 0.1, mark: 0.1, late: 0.1 }, seed).unwrap();
        let (a, b) = (run(), run());
        prop_assert_eq!(a.arrived, b.arrived);
        prop_assert_eq!(a.sender.counters(), b.sender.counters());
    }
}

/// More than 2^32 bytes, with losses before, on and behind the wrap.
#[test]
fn sequence_numbers_wrap() {
    let mss = 65_000;
    let base = Config { mss, window: 200 * mss, ..Config::linux(CongestionControl::Cubic) };
    for sack in [true, false] {
        let config = Config { sack, ..base.clone() };
        let packets = (1 << 33) / u64::from(mss);
        let weather = Weather { loss: 0.001, mark: 0.0, late: 0.0 };
        let Outcome { sender, receiver, wraps, .. } = transfer(&config, packets, weather, 1).unwrap();
        assert!(wraps >= 1, "{wraps}");
        assert_eq!(receiver.counters().delivered_packets, packets + 1);
        assert!(sender.counters().retransmissions > 10);
    }
}
