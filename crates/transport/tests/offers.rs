//! Objects that an application hands over one after the other on a connection, over two pipes that lose packets.

use std::collections::VecDeque;
use std::sync::Arc;

use aqmlab_transport::ns2::{self, Variant};
use aqmlab_transport::rfc::{self, CongestionControl};
use aqmlab_transport::{Ack, Data, Receiver, Sender, Supply, TcpConfig};
use aqmlab_units::{Span, Stream, Time};
use proptest::prelude::*;

/// Hands over an object when the one before was acknowledged; how many segments had the length of the last of an object, and
/// both ends. Nothing if it does not end.
fn transfer(config: &TcpConfig, objects: &[u64], loss: f64, seed: u64) -> Option<(usize, Sender, Receiver)> {
    let mut random = Stream::new(seed, "pipe");
    let mut there: VecDeque<(Time, Data)> = VecDeque::new();
    let mut back: VecDeque<(Time, Ack)> = VecDeque::new();
    let (first, rest) = (Supply::Bytes(objects[0]), &objects[1..]);
    let mut sender = match config {
        TcpConfig::Ns2(config) => Sender::Ns2(Box::new(ns2::Sender::new(config.clone(), first, 0.0))),
        TcpConfig::Rfc(config) => Sender::Rfc(Box::new(rfc::Sender::new(config.clone(), first))),
    };
    let mut receiver = Receiver::new(config);
    let (mut now, mut rest, mut ended) = (Time::ZERO, rest.iter(), 0);
    let mut end = sender.end();
    sender.start(now, &mut |data| there.push_back((now + Span::from_millis(20), data)));
    loop {
        if sender.is_finished() {
            assert_eq!(end, sender.end());
            let Some(&bytes) = rest.next() else { return Some((ended, sender, receiver)) };
            sender.offer(Supply::Bytes(bytes));
            end = sender.end();
            sender.go_on(now, &mut |data| there.push_back((now + Span::from_millis(20), data)));
        }
        let of = |timer: Option<aqmlab_transport::Timer>| timer.map_or(Time::NEVER, |t| t.deadline);
        let (data, ack) =
            (there.front().map_or(Time::NEVER, |d| d.0), back.front().map_or(Time::NEVER, |a| a.0));
        let (sends, answers) = (of(sender.timer()), of(receiver.timer()));
        now = data.min(ack).min(sends).min(answers);
        if now > Time::from_secs(86_400.0) {
            return None;
        }
        let mut answer = |ack| back.push_back((now + Span::from_millis(30), ack));
        if now == data {
            let (_, data) = there.pop_front()?;
            let payload = match config {
                TcpConfig::Ns2(_) => 1,
                TcpConfig::Rfc(config) if !data.syn() => data.bytes - config.header,
                TcpConfig::Rfc(_) => 1,
            };
            if random.uniform() >= loss {
                receiver.on_data(now, &data, false, &mut answer);
                ended += usize::from(data.seq.wrapping_add(payload) == end && !data.retransmission());
            }
        } else if now == ack {
            let (_, ack) = back.pop_front()?;
            if random.uniform() >= loss {
                sender.on_ack(now, &ack, &mut |data| there.push_back((now + Span::from_millis(20), data)));
            }
        } else if now == sends {
            sender.on_timer(now, &mut |data| there.push_back((now + Span::from_millis(20), data)));
        } else {
            receiver.on_timer(now, &mut answer);
        }
    }
}

fn configs() -> impl Strategy<Value = TcpConfig> {
    let of_ns2 = (prop::sample::select(Variant::ALL.to_vec()), any::<bool>(), any::<bool>()).prop_map(
        |(variant, syn, delayed)| {
            let delayed_ack = delayed.then_some(Span::from_millis(100));
            TcpConfig::Ns2(Arc::new(ns2::Config { syn, delayed_ack, ..ns2::Config::ns2(variant) }))
        },
    );
    let of_rfc = (prop::sample::select(CongestionControl::ALL.to_vec()), any::<bool>(), 400u32..1500)
        .prop_map(|(cc, sack, mss)| {
            let rack = sack;
            TcpConfig::Rfc(Arc::new(rfc::Config { mss, sack, rack, ..rfc::Config::linux(cc) }))
        });
    prop_oneof![of_ns2, of_rfc]
}

/// Segments of an object of so many bytes, and their payload.
fn segments(config: &TcpConfig, bytes: u64) -> (u64, u64) {
    match config {
        TcpConfig::Ns2(config) => {
            let n = bytes.div_ceil(config.packet_size.into());
            (n, n * u64::from(config.packet_size))
        }
        TcpConfig::Rfc(config) => (bytes.div_ceil(config.mss.into()), bytes),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Every object comes through, as many segments and bytes as it has.
    #[test]
    fn objects_come_through(
        config in configs(),
        objects in prop::collection::vec(1u64..30_000, 1..12),
        loss in prop_oneof![Just(0.0), 0.0..0.2],
        seed in any::<u64>(),
    ) {
        let outcome = transfer(&config, &objects, loss, seed);
        prop_assert!(outcome.is_some(), "not finished");
        let (ended, sender, receiver) = outcome.unwrap();
        let (packets, _) = objects.iter().map(|&bytes| segments(&config, bytes))
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let opening = match &config { TcpConfig::Ns2(config) => u64::from(config.syn), TcpConfig::Rfc(_) => 1 };
        let delivered = receiver.counters().delivered_packets;
        match &config {
            // ns-2 may send the packet after the last one of an object.
            TcpConfig::Ns2(_) => prop_assert!((packets + opening..=packets + opening + objects.len() as u64).contains(&delivered)),
            TcpConfig::Rfc(config) => {
                prop_assert_eq!(delivered, packets + 1);
                let bytes = objects.iter().sum::<u64>() + packets * u64::from(config.header) + u64::from(config.syn_length());
                prop_assert_eq!(receiver.counters().delivered_bytes, bytes);
                prop_assert_eq!(receiver.expected(), sender.end());
            }
        }
        if loss == 0.0 {
            prop_assert_eq!(ended, objects.len());
            prop_assert_eq!(sender.counters().retransmissions, 0);
        }
    }
}
