//! Hand-made records of a tap.

use super::*;
use crate::red::part::tests::LINK;
use crate::replay::replay_log;
use crate::{Spec, Value as Setting};

type Bytes = [u8; Record::BYTES];

fn queue(preset: &str, set: &[(&str, Setting)]) -> Resolved {
    let mut spec = Spec::new(preset).expect("a preset");
    set.iter().for_each(|(key, value)| spec.set(key, value.clone()).expect("a parameter"));
    spec.resolve(LINK).expect("a queue")
}

fn word(name: &str) -> Setting {
    Setting::Word(name.into())
}

fn record(sequence: u32, kind: u8, words: &[(usize, u32)]) -> Bytes {
    let mut bytes = [0; Record::BYTES];
    for &(at, value) in [(16, sequence)].iter().chain(words) {
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    bytes[56] = kind;
    bytes
}

fn reset(sequence: u32, name: &str) -> Bytes {
    let mut bytes = record(sequence, 35, &[(20, Record::NONE)]);
    bytes[24..24 + name.len()].copy_from_slice(name.as_bytes());
    bytes
}

/// Values of a call, of these types.
fn values(sequence: u32, types: &[u8], values: &[u32]) -> Bytes {
    let mut bytes = state(sequence, values);
    bytes[56] = 36;
    bytes[..types.len()].copy_from_slice(types);
    bytes
}

fn state(sequence: u32, values: &[u32]) -> Bytes {
    let words: Vec<_> = values.iter().enumerate().map(|(at, value)| (24 + 4 * at, *value)).collect();
    record(sequence, 39, &words)
}

/// A call at 1 ms that takes 9 ns.
fn call(sequence: u32, kind: u8, values: u32, words: &[(usize, u32)]) -> Bytes {
    record(sequence, kind, &[&[(0, 1_000_000), (8, 9), (12, values), (24, 1000)], words].concat())
}

fn with(mut record: Bytes, words: &[(usize, u32)]) -> Bytes {
    for &(at, value) in words {
        record[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    record
}

mod cake {
    use super::*;

    fn cake() -> Resolved {
        queue("cake", &[("diffserv", word("besteffort")), ("hash_key", Setting::Number(1.0))])
    }

    /// A packet arrives and leaves: time, hashes of destination, source and flow, and the dithering of the quantum.
    fn log() -> Vec<Bytes> {
        vec![
            reset(0, "cake"),
            values(1, &[1, 4, 4, 4, 2], &[3, 7, 8, 9, 65_535]),
            call(2, 32, 5, &[(32, 2304), (48, 1), (52, 1000)]),
            values(3, &[1], &[4]),
            call(4, 33, 1, &[(28, 1000)]),
            values(5, &[1], &[4]),
            call(6, 34, 1, &[(20, Record::NONE)]),
        ]
    }

    #[test]
    fn equal_calls() {
        let replayed = replay_log(&cake(), &[0; 64], &log().concat());
        assert_eq!(replayed, Ok(Replayed { records: 7, decisions: 2, marks: 0, drops: 0 }));
    }

    #[test]
    fn values_and_outcomes_are_compared() {
        for (at, changed, place, what) in [
            (1, values(1, &[1, 4, 4, 4], &[3, 7, 8, 9]), 2, "values of the call"),
            (1, values(1, &[1, 4, 4, 4, 1], &[3, 7, 8, 9, 5]), 2, "value"),
            (1, values(1, &[1, 4, 4, 2, 2], &[3, 7, 8, 9, 9]), 2, "values left"),
            (3, values(3, &[1], &[10]), 4, "time of the call"),
            (2, call(2, 32, 5, &[(32, 2304), (48, 2), (52, 1000)]), 2, "waiting"),
            (2, call(2, 32, 5, &[(32, 2304), (48, 1), (52, 999)]), 2, "backlog"),
            (
                2,
                call(2, 32, 5, &[(32, 2304), (48, 1), (52, 1000), (60, 1)]),
                2,
                "packets that the parent counts too many",
            ),
            (4, call(4, 33, 1, &[(28, 1000), (20, 1)]), 4, "departure"),
            (4, call(4, 33, 1, &[(28, 1001)]), 4, "length in the shaper"),
            (4, call(3, 33, 1, &[(28, 1000)]), 4, "sequence"),
        ] {
            let mut log = log();
            log[at] = changed;
            let found = replay_log(&cake(), &[0; 64], &log.concat()).expect_err(what);
            assert_eq!((found.record, found.what), (place, what));
        }
    }

    #[test]
    fn segments_arrive_together() {
        let mut log = log();
        // 2500 bytes of payload behind 66 bytes of headers, 1000 in a segment: 1066, 1066 and 566 bytes.
        log[2] = call(
            2,
            32,
            5,
            &[(24, 2566), (32, 2304), (36, 1000 | 3 << 16), (40, 66), (44, 5), (48, 3), (52, 2698)],
        );
        log[4] = call(4, 33, 1, &[(24, 1066), (28, 1066), (44, 5), (48, 2), (52, 1632)]);
        log[6] = call(6, 33, 1, &[(24, 1066), (28, 1066), (44, 1005), (48, 1), (52, 566)]);
        let replayed = replay_log(&cake(), &[0; 64], &log.concat());
        assert_eq!(replayed.map(|replayed| replayed.decisions), Ok(3));
        log[6] = call(6, 33, 1, &[(24, 1066), (28, 1066), (44, 2005), (48, 1), (52, 566)]);
        let found = replay_log(&cake(), &[0; 64], &log.concat()).expect_err("another segment");
        assert_eq!((found.record, found.what), (6, "segment"));
    }

    #[test]
    fn another_discipline_is_found() {
        let mut log = log();
        log[0] = reset(0, "codel");
        let found = replay_log(&cake(), &[0; 64], &log.concat()).expect_err("another discipline");
        assert_eq!((found.what, &*found.logged, &*found.replayed), ("discipline", "codel", "cake"));
    }
}

mod sfb {
    use super::*;

    /// Two packets arrive in jiffies 1000 and 1001: the second finds the limit, which a log of Linux returns as `NET_XMIT_CN`.
    fn log(jiffies: u32, outcome: u8) -> Vec<Bytes> {
        let mut second = call(4, 32, 1, &[(20, 1), (48, 1), (52, 1000)]);
        second[57] = outcome;
        vec![
            with(reset(0, "sfb"), &[(12, 1000)]),
            values(1, &[8, 7, 2], &[jiffies, 0x1234_5678, 0]),
            call(2, 32, 3, &[(48, 1), (52, 1000)]),
            values(3, &[8], &[1001]),
            second,
        ]
    }

    fn sfb(rehash: f64) -> Resolved {
        let set = [("rehash", Setting::Seconds(rehash)), ("warmup", Setting::Seconds(0.0))];
        queue("sfb", &[&set[..], &[("dialect", word("linux")), ("limit", Setting::Packets(1.0))]].concat())
    }

    #[test]
    fn jiffies_hashes_and_return_codes() {
        let equal = Replayed { records: 5, decisions: 2, marks: 0, drops: 1 };
        assert_eq!(replay_log(&sfb(600.0), &[0; 64], &log(1000, 2).concat()), Ok(equal));
        let found = replay_log(&sfb(600.0), &[0; 64], &log(1000, 0).concat()).expect_err("a code");
        assert_eq!((found.record, found.what), (4, "dropped at the arrival"));
        // Two jiffies after the reset the hash of one jiffy changes, for which the log lacks a key.
        let found = replay_log(&sfb(0.004), &[0; 64], &log(1002, 2).concat()).expect_err("a key");
        assert_eq!((found.record, found.what, &*found.replayed), (2, "value", "the key of a hash"));
    }
}

#[test]
fn a_cut_of_the_own_queue_of_fq_codel_is_net_xmit_cn() {
    let fq_codel = queue("fq-codel", &[("dialect", word("linux")), ("limit", Setting::Packets(1.0))]);
    let arrival = |sequence, number, flow, outcome: u8| {
        let mut call = call(sequence, 32, 1, &[(20, number), (28, flow), (48, 1), (52, 1000)]);
        call[57] = outcome;
        [values(sequence - 1, &[1], &[3]), call].concat()
    };
    // The first of the longest queues is that of the first packet, which is dropped.
    for (flow, outcome) in [(5, 2), (u32::MAX, 0)] {
        let log = |outcome| {
            [reset(0, "fq_codel").to_vec(), arrival(2, 0, 5, 0), arrival(4, 1, flow, outcome)].concat()
        };
        let equal = Replayed { records: 5, decisions: 2, marks: 0, drops: 1 };
        assert_eq!(replay_log(&fq_codel, &[0; 64], &log(outcome)), Ok(equal));
        let found = replay_log(&fq_codel, &[0; 64], &log(2 - outcome)).expect_err("a return code");
        assert_eq!((found.record, found.what), (4, "return code is NET_XMIT_CN"));
    }
}

mod timers;

mod codel {
    use super::*;

    const LATER: u32 = 1_000_000;

    fn codel(ce_threshold: Option<f64>) -> Resolved {
        let threshold = ce_threshold.map(|seconds| ("ce_threshold", Setting::Seconds(seconds)));
        let set: Vec<_> = [("dialect", word("linux"))].into_iter().chain(threshold).collect();
        queue("codel", &set)
    }

    /// A call 7 ns after the beginning of a tick, in which the discipline reads the clock.
    fn call(sequence: u32, kind: u8, tick: u32, packet: u32, words: &[(usize, u32)]) -> Bytes {
        let before = u64::from(tick) * 1024;
        let own = [(0, before as u32), (4, (before >> 32) as u32), (8, 9), (12, 1), (20, packet), (24, 1000)];
        record(sequence, kind, &[&own, words].concat())
    }

    fn settings(threshold: Option<u32>) -> Bytes {
        let off = u32::from(threshold.is_none());
        state(0, &[4882, 97_656, 1000, 1514, 0, threshold.unwrap_or(u32::MAX), off])
    }

    /// Three packets arrive. 6000 ticks are above the target of 4882: the interval begins. It ends with a backlog of one packet.
    fn log(threshold: Option<u32>, tos: [u8; 3]) -> Vec<Bytes> {
        let mut log = vec![settings(threshold), reset(1, "codel")];
        let first_above = LATER + 6001 + 97_656;
        let calls = [
            (0, 32, LATER + 1, 0, [1, 1000]),
            (0, 32, LATER + 2, 1, [2, 2000]),
            (0, 32, LATER + 3, 2, [3, 3000]),
            (first_above, 33, LATER + 6001, 0, [2, 2000]),
            (0, 33, LATER + 6002, 1, [1, 1000]),
        ];
        for (above, kind, tick, packet, [waiting, backlog]) in calls {
            let sequence = log.len() as u32;
            log.push(values(sequence, &[1], &[7]));
            log.push(state(sequence + 1, &[above]));
            let mut call = call(sequence + 2, kind, tick, packet, &[(48, waiting), (52, backlog)]);
            call[59] = if kind == 32 { tos[packet as usize] } else { 0 };
            log.push(call);
        }
        log
    }

    #[test]
    fn equal_calls_and_states() {
        let replayed = replay_log(&codel(None), &[0; 64], &log(None, [0; 3]).concat());
        assert_eq!(replayed, Ok(Replayed { records: 17, decisions: 5, marks: 0, drops: 0 }));
    }

    #[test]
    fn the_threshold_of_marks_is_compared_and_marks() {
        // 6 ms are 5859 ticks: packet 0 has ECT(1) and waited 6000 ticks, packet 1 ECT(0) and as many.
        let mut log = log(Some(5859), [0b01, 0b10, 0]);
        (log[13][59], log[16][59]) = (0b11, 0b11);
        let replay = |seconds, log: &[Bytes]| replay_log(&codel(seconds), &[0; 64], &log.concat());
        let marked = Replayed { records: 17, decisions: 5, marks: 2, drops: 0 };
        assert_eq!(replay(Some(0.006), &log), Ok(marked));
        let found = replay(None, &log).expect_err("another threshold");
        assert_eq!((found.what, &*found.logged, &*found.replayed), ("ce_threshold", "5859", "off"));
        log[16][59] = 0b10;
        let found = replay(Some(0.006), &log).expect_err("a mark");
        assert_eq!((found.record, found.what), (16, "ECN field"));
    }

    #[test]
    fn differences_have_both_states() {
        let mut log = log(None, [0; 3]);
        log[12] = with(log[12], &[(24, LATER + 6002 + 97_656)]);
        let found = replay_log(&codel(None), &[0; 64], &log.concat()).expect_err("a difference");
        assert_eq!((found.record, found.what), (13, "state"));
        assert!(found.logged.contains("first_above 1103658"), "{}", found.logged);
        assert!(found.replayed.contains("first_above 1103657"), "{}", found.replayed);
    }

    #[test]
    fn settings_order_and_clock_are_compared() {
        let whole = log(None, [0; 3]);
        for (at, changed, place, what) in [
            (0, with(whole[0], &[(28, 97_657)]), 1, "interval"),
            (0, settings(Some(5859)), 1, "ce_threshold"),
            (13, with(whole[13], &[(20, 1)]), 13, "departure"),
            (11, values(11, &[1], &[10]), 13, "time of the call"),
            (10, with(whole[10], &[(52, 2999)]), 10, "backlog"),
            (4, with(whole[4], &[(16, 2)]), 4, "sequence"),
        ] {
            let mut log = whole.clone();
            log[at] = changed;
            let found = replay_log(&codel(None), &[0; 64], &log.concat()).expect_err(what);
            assert_eq!((found.record, found.what), (place, what));
        }
    }
}
