//! Packets of UDP that are given: when each leaves, and how long it is.

use std::sync::Arc;

use aqmlab_netsim::plan::{Arrival, Length, Pattern};
use aqmlab_units::{Rate, Span};

use crate::problem::Complaint;
use crate::section::Section;

use super::transport::GroupTransport;

/// The key.
pub(super) const KEY: &str = "arrivals";
/// Its description.
pub(super) const DOC: &str = "UDP: packets that are given, a line each: seconds after the start, and bytes with all headers. \
     In place of rate, packet_size and pattern.";
/// Packets of a flow.
const MOST: usize = 1_000_000;
/// Seconds of the longest run.
const LONGEST_S: f64 = 8_640_000.0;
const ALLOWED: &str = "lines such as \"0.0125 1500\", seconds not falling, bytes from 1 to 65535";

pub(super) fn read(flow: &Section<'_>) -> Option<GroupTransport> {
    for key in ["rate", "packet_size", "pattern"] {
        flow.refuse(key, Complaint::new("arrivals have their own times and lengths").allowed("no such key"));
    }
    match parse(flow.text(KEY)?) {
        Ok(arrivals) => {
            let bytes: u64 = arrivals.iter().map(|arrival| u64::from(arrival.bytes)).sum();
            let length = arrivals.last().map_or(0.0, |arrival| arrival.after.secs());
            let rate = if length > 0.0 { bytes as f64 * 8.0 / length } else { bytes as f64 * 8.0 };
            let mean = (bytes as f64 / arrivals.len() as f64).round().max(1.0);
            Some(GroupTransport::Udp {
                rate: Rate((rate.round() as u64).max(1)),
                packet: Length::fixed(mean as u32),
                pattern: Pattern::Arrivals(Arc::from(arrivals)),
            })
        }
        Err(message) => {
            flow.error(KEY, Complaint::new(message).allowed(ALLOWED));
            None
        }
    }
}

/// Return the packets of a text, or the error in it.
fn parse(text: &str) -> Result<Vec<Arrival>, String> {
    let mut arrivals: Vec<Arrival> = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |what: &str| format!("line {number} of the arrivals {what}");
        let mut words = line.split_whitespace();
        let (Some(time), Some(bytes), None) = (words.next(), words.next(), words.next()) else {
            return Err(wrong("does not have a time and a length"));
        };
        let seconds = time.parse::<f64>().ok().filter(|seconds| (0.0..=LONGEST_S).contains(seconds));
        let Some(seconds) = seconds else { return Err(wrong("has no time from 0 to 8640000 s")) };
        let bytes = bytes.parse::<u32>().ok().filter(|bytes| (1..=Length::MAX).contains(bytes));
        let Some(bytes) = bytes else { return Err(wrong("has no length from 1 to 65535 bytes")) };
        let after = Span::from_secs(seconds);
        if arrivals.last().is_some_and(|last| last.after > after) {
            return Err(wrong("is earlier than the one before"));
        }
        if arrivals.len() == MOST {
            return Err(format!("there are more than {MOST} arrivals"));
        }
        arrivals.push(Arrival { after, bytes });
    }
    if arrivals.is_empty() { Err("there are no arrivals".to_owned()) } else { Ok(arrivals) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_times_and_lengths() {
        let arrival = |s, bytes| Arrival { after: Span::from_secs(s), bytes };
        let expected = [arrival(0.0, 1500), arrival(0.0125, 40), arrival(0.0125, 65_535)];
        assert_eq!(parse("\n0 1500\n 0.0125  40\n1.25e-2 65535\n"), Ok(expected.to_vec()));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in [
            ("", "no arrivals"),
            ("0", "line 1 of the arrivals does not have a time and a length"),
            ("0 1 2", "line 1"),
            ("0 10\n-1 10", "line 2 of the arrivals has no time"),
            ("NaN 10", "has no time"),
            ("9e9 10", "has no time"),
            ("0 0", "has no length"),
            ("0 65536", "has no length"),
            ("1 10\n0.5 10", "line 2 of the arrivals is earlier"),
        ] {
            assert!(parse(text).expect_err("wrong").contains(expected), "{text}");
        }
        let many = "0 1\n".repeat(MOST + 1);
        assert!(parse(&many).expect_err("too many").contains("more than 1000000"));
    }
}
