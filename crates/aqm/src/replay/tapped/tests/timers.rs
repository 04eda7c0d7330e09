use super::*;

const LINUX: &str = "linux";

/// A packet arrives, another finds the buffer full, the timer expires with so many readings of the clock, and the first leaves.
fn log(name: &str, readings: &[u32]) -> Vec<Bytes> {
    let waits = [(48, 1), (52, 1000)];
    let with_one = |words: &[(usize, u32)]| [&waits, words].concat();
    let mut log = vec![reset(0, name), values(1, &[1], &[3]), call(2, 32, 1, &with_one(&[]))];
    let mut full = call(3, 32, 0, &with_one(&[(20, 1)]));
    full[57] = DROPPED;
    log.push(full);
    let times = vec![1; readings.len()];
    if !readings.is_empty() {
        log.push(values(4, &times, readings));
    }
    let at = log.len() as u32;
    log.push(call(at, 38, readings.len() as u32, &with_one(&[(20, Record::NONE)])));
    log.push(values(at + 1, &[1], &[4]));
    log.push(call(at + 2, 33, 1, &[]));
    log
}

fn one_packet(preset: &str) -> Resolved {
    queue(preset, &[("dialect", word(LINUX)), ("limit", Setting::Packets(1.0))])
}

#[test]
fn expiries_are_calls() {
    for (preset, name, readings) in
        [("pie", "pie", &[][..]), ("fq-pie", "fq_pie", &[]), ("dualpi2", "dualpi2", &[2, 5])]
    {
        let log = log(name, readings);
        let found = replay_log(&one_packet(preset), &[0; 64], &log.concat());
        let records = log.len() as u64;
        assert_eq!(found, Ok(Replayed { records, decisions: 3, marks: 0, drops: 1 }), "{preset}");
    }
}

#[test]
fn readings_of_the_clock_are_compared() {
    for (preset, readings, what) in [
        ("dualpi2", &[2][..], "value"),
        ("dualpi2", &[2, 3, 4], "values left"),
        ("pie", &[1, 2], "values left"),
    ] {
        let log = log(preset, readings);
        let found = replay_log(&one_packet(preset), &[0; 64], &log.concat()).expect_err(what);
        assert_eq!((found.record, found.what), (5, what), "{preset}");
    }
}

#[test]
fn a_full_buffer_is_compared() {
    let mut log = log("pie", &[]);
    log[3][57] = 0;
    let found = replay_log(&one_packet("pie"), &[0; 64], &log.concat()).expect_err("a drop");
    assert_eq!((found.record, found.what), (3, "dropped at the arrival"));
}
