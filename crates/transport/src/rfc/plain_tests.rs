//! Connections that take the fast paths of plain packets, beside the same ones that never do.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::Arc;

use aqmlab_units::{Span, Stream, Time};
use proptest::prelude::*;

use super::{Config, CongestionControl, EcnFeedback, HyStart, Receiver, Sender};
use crate::{Ack, Configuration, Data, PlainAnswer, Supply, Timer};

/// An endpoint that takes the fast path, and one that never does.
struct Pair<T> {
    with: T,
    without: T,
    /// How often the fast path was taken.
    plain: u32,
}

impl<T: Clone + Debug> Pair<T> {
    fn new(one: T) -> Self {
        Self { with: one.clone(), without: one, plain: 0 }
    }

    /// Do the same to both; what they send, which is the same.
    fn both<P: PartialEq + Debug>(&mut self, act: impl Fn(&mut T, &mut Vec<P>)) -> Vec<P> {
        let (mut sent, mut expected) = (Vec::new(), Vec::new());
        act(&mut self.with, &mut sent);
        act(&mut self.without, &mut expected);
        self.compared(sent, &expected)
    }

    fn compared<P: PartialEq + Debug>(&self, sent: Vec<P>, expected: &[P]) -> Vec<P> {
        assert_eq!(sent, expected);
        assert_eq!(format!("{:?}", self.with), format!("{:?}", self.without));
        sent
    }
}

impl Pair<Sender> {
    fn ack(&mut self, now: Time, ack: &Ack) -> Vec<Data> {
        let (mut sent, mut expected) = (Vec::new(), Vec::new());
        let before = format!("{:?}", self.with);
        let may_be_plain = ack.sack.is_empty() && ack.stamp == Time::ZERO;
        match may_be_plain.then(|| self.with.on_plain_ack(now, ack.ack, ack.ece)).flatten() {
            Some(new) => {
                self.plain += 1;
                new.send(now, &mut |data| sent.push(data));
            }
            None => {
                assert_eq!(before, format!("{:?}", self.with), "nothing is changed");
                self.with.on_ack(now, ack, &mut |data| sent.push(data));
            }
        }
        self.without.on_ack(now, ack, &mut |data| expected.push(data));
        self.compared(sent, &expected)
    }
}

impl Pair<Receiver> {
    fn data(&mut self, now: Time, data: &Data, ce: bool) -> Vec<Ack> {
        let (mut sent, mut expected) = (Vec::new(), Vec::new());
        let before = format!("{:?}", self.with);
        let answer = self.with.on_plain_data(now, data, ce);
        self.plain += u32::from(answer.is_some());
        match answer {
            Some(PlainAnswer::Sent(ack)) => sent.push(ack.into()),
            Some(PlainAnswer::Held) => {}
            None => {
                assert_eq!(before, format!("{:?}", self.with), "nothing is changed");
                self.with.on_data(now, data, ce, &mut |ack| sent.push(ack));
            }
        }
        self.without.on_data(now, data, ce, &mut |ack| expected.push(ack));
        self.compared(sent, &expected)
    }
}

fn configs() -> impl Strategy<Value = Config> {
    let control = prop::sample::select(CongestionControl::ALL.to_vec());
    let feedback = prop::sample::select(EcnFeedback::ALL.to_vec());
    let hystart = prop::sample::select(HyStart::ALL.to_vec());
    let switches = prop::collection::vec(any::<bool>(), 13);
    let window = prop::sample::select(vec![3_000, 20_000, 6_291_456]);
    (control, feedback, hystart, switches, window).prop_map(|(control, feedback, hystart, on, window)| {
        let linux = Config::linux(control);
        let mut config = Config {
            mss: 1000,
            ecn: if control.works_with(feedback) { feedback } else { linux.ecn },
            hystart,
            window,
            sack: on[0] || on[1],
            rack: on[2],
            prr: on[3] || on[4],
            frto: on[5],
            limited_transmit: on[6],
            whole_segments: on[7],
            pacing: on[8] && on[9],
            timestamps: on[10],
            window_growth: on[11] && on[9],
            ..linux
        };
        if on[12] {
            config.delayed_ack = None;
        }
        config.check().map_or_else(|_| Config::linux(control), |()| config)
    })
}

proptest! {
    /// Both ends over a line that loses, marks and reorders; a greedy sender stops and goes on, another comes to its end.
    #[test]
    fn plain_packets_change_nothing(
        config in configs(),
        (seed, trouble) in (any::<u64>(), prop::sample::select(vec![0.0, 0.002, 0.01, 0.1])),
        supply in prop_oneof![
            Just(Supply::Greedy),
            (1u64..900).prop_map(Supply::Packets),
            (1u64..900_000).prop_map(Supply::Bytes),
        ],
    ) {
        let config = Arc::new(config);
        let mut random = Stream::new(seed, "line");
        let mut sender = Pair::new(Sender::new(config.clone(), supply));
        let mut receiver = Pair::new(Receiver::new(config));
        let mut now = Time::ZERO + Span::from_millis(1);
        let (mut line, mut back) = (VecDeque::new(), VecDeque::new());
        line.extend(sender.both(|sender, sent| sender.start(now, &mut |data| sent.push(data))));
        for step in 0..1500 {
            now += Span(400_000_000 + random.below(100_000_000));
            if line.is_empty() && back.is_empty() {
                let timers = [receiver.with.timer(), sender.with.timer()];
                now = timers.into_iter().flatten().map(|timer| timer.deadline).min().unwrap_or(now).max(now);
            }
            let due = |timer: Option<Timer>| timer.is_some_and(|timer| timer.deadline <= now);
            if due(receiver.with.timer()) {
                back.extend(receiver.both(|receiver, sent| receiver.on_timer(now, &mut |ack| sent.push(ack))));
            }
            if due(sender.with.timer()) {
                line.extend(sender.both(|sender, sent| sender.on_timer(now, &mut |data| sent.push(data))));
            }
            if random.uniform() < trouble && line.len() > 1 {
                line.swap(0, 1);
            }
            if (line.len() > 8 || random.uniform() < 0.5) && let Some(data) = line.pop_front() && random.uniform() >= trouble {
                back.extend(receiver.data(now, &data, random.uniform() < trouble));
            }
            if (back.len() > 8 || random.uniform() < 0.5) && let Some(ack) = back.pop_front() && random.uniform() >= trouble {
                line.extend(sender.ack(now, &ack));
            }
            if step == 700 && supply == Supply::Greedy {
                line.extend(sender.both(|sender, sent| sender.stop(now, &mut |data| sent.push(data))));
            }
            if step == 900 && supply == Supply::Greedy {
                line.extend(sender.both(|sender, sent| sender.resume(now, &mut |data| sent.push(data))));
            }
        }
    }
}

/// Let a connection send 1000 packets, of which one in `marked_every` is marked. Return the packets, and the acknowledgements, that were
/// not plain, and how often the sender has answered a mark.
fn not_plain(ecn: EcnFeedback, marked_every: u32) -> (u32, u32, u64) {
    let config = Arc::new(Config { ecn, ..Config::linux(CongestionControl::Cubic) });
    let mut sender = Pair::new(Sender::new(config.clone(), Supply::Greedy));
    let mut receiver = Pair::new(Receiver::new(config));
    let mut now = Time::ZERO;
    let mut line: VecDeque<Data> = VecDeque::new();
    line.extend(sender.both(|sender, sent| sender.start(now, &mut |data| sent.push(data))));
    let (mut packets, mut answers) = (0, 0);
    while let Some(data) = line.pop_front().filter(|_| packets < 1000) {
        packets += 1;
        now += Span::from_millis(1);
        for ack in receiver.data(now, &data, packets % marked_every == 0) {
            answers += 1;
            line.extend(sender.ack(now, &ack));
        }
    }
    assert_eq!(packets, 1000);
    (packets - receiver.plain, answers - sender.plain, sender.with.counters().ecn_responses)
}

#[test]
fn without_losses_all_packets_are_plain_but_those_of_the_handshake() {
    // The SYN and the first segment; the answer to the SYN.
    assert_eq!(not_plain(EcnFeedback::Off, u32::MAX), (2, 1, 0));
}

#[test]
fn few_packets_are_not_plain_because_of_a_mark() {
    let (packets, answers, responses) = not_plain(EcnFeedback::Classic, 200);
    // The packet that is marked and the one that says CWR; what begins and ends a reduction, and what comes before CWR goes out.
    assert_eq!((packets, responses), (2 + 2 * 5 - 1, 5), "the last mark has no CWR yet");
    assert!(answers <= 1 + 4 * 5, "{answers}");
}
