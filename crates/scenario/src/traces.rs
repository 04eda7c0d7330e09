//! Files of traces: times in ms at which 1500 bytes may leave, as in mahimahi, or times and rates.

use aqmlab_netsim::plan::{LONGEST_TRACE, TraceData};
use aqmlab_units::{Rate, Time};
use serde_json::{Value as Json, json};

use crate::problem::Complaint;
use crate::tree::Value;
use crate::units;

/// Most lines of a trace.
const MOST_LINES: usize = 5_000_000;
/// Bins of a description.
const BINS: u64 = 600;
const ALLOWED: &str = "lines of one time in ms, not falling (mahimahi); or of a time and a rate with units, times rising, \
                       as \"0.5s 12Mbps\" or CSV, where a header time_s,rate_mbps may name the units; # before a comment";

/// Read a trace; report the first line that is wrong. `file` is its name in messages.
pub(crate) fn read(file: &str, text: &str) -> Result<TraceData, Complaint> {
    let wrong = |line: usize, what: String| Complaint::new(format!("{file}:{line}: {what}")).allowed(ALLOWED);
    let mut last_line = 1;
    let mut units = None;
    let mut opportunities: Vec<(Time, u64)> = Vec::new();
    let mut rates: Vec<(Time, Rate)> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        if line > MOST_LINES {
            return Err(wrong(line, format!("the trace has more than {MOST_LINES} lines")));
        }
        last_line = line;
        let mut words = content.split([',', ';', ' ', '\t']).filter(|word| !word.is_empty());
        let is_first = opportunities.is_empty() && rates.is_empty();
        // Most lines of a long trace: nothing to split.
        let is_number = content.bytes().all(|byte| byte.is_ascii_digit());
        let three =
            if is_number { (Some(content), None, None) } else { (words.next(), words.next(), words.next()) };
        match three {
            (Some(ms), None, _) if rates.is_empty() && units.is_none() => {
                let time = milliseconds(ms).map_err(|what| wrong(line, what))?;
                match opportunities.last_mut() {
                    Some((last, _)) if time < *last => {
                        let before = last.0 / MS;
                        return Err(wrong(
                            line,
                            format!("the time {ms} is below the one before it, {before}"),
                        ));
                    }
                    Some((last, count)) if time == *last => *count += 1,
                    _ => opportunities.push((time, 1)),
                }
            }
            (Some(time), Some(rate), None)
                if is_first && units.is_none() && time.starts_with(char::is_alphabetic) =>
            {
                units = Some((
                    header(time, "time_").map_err(|what| wrong(line, what))?,
                    header(rate, "rate_").map_err(|what| wrong(line, what))?,
                ));
            }
            (Some(time), Some(rate), None) if opportunities.is_empty() => {
                let units = units.as_ref().map(|(time, rate)| (time.as_str(), rate.as_str()));
                let (at, rate) = time_and_rate(time, rate, units).map_err(|what| wrong(line, what))?;
                match rates.last() {
                    Some((last, _)) if at <= *last => {
                        return Err(wrong(line, format!("the time {time} is not after the one before it")));
                    }
                    _ => rates.push((at, rate)),
                }
            }
            _ => return Err(wrong(line, format!("{:?} is not a line of this trace", excerpt(content)))),
        }
    }
    let trace = if rates.is_empty() && units.is_none() {
        TraceData::Opportunities(opportunities.into())
    } else {
        // Times count from the first line.
        let start = rates.first().map_or(Time::ZERO, |one| one.0);
        TraceData::Rates(rates.into_iter().map(|(at, rate)| (Time(at.since(start).0), rate)).collect())
    };
    match trace.fault() {
        Some(fault) => Err(wrong(last_line, fault.to_owned())),
        None => Ok(trace),
    }
}

const MS: u64 = 1_000_000_000;

fn milliseconds(word: &str) -> Result<Time, String> {
    if !word.bytes().all(|byte| byte.is_ascii_digit()) {
        let negative = word.strip_prefix('-').is_some_and(|rest| rest.parse::<f64>().is_ok());
        let what = if negative { "is negative" } else { "is not a whole number of milliseconds" };
        return Err(format!("{:?} {what}", excerpt(word)));
    }
    let ms = word.parse().ok().filter(|ms: &u64| *ms <= LONGEST_TRACE.0 / MS);
    ms.map(|ms| Time(ms * MS))
        .ok_or_else(|| format!("the time {} is above 30 days, the longest trace", excerpt(word)))
}

/// Return the unit of a column.
fn header(word: &str, prefix: &str) -> Result<String, String> {
    // A capital B means bytes; rates are in bits.
    let lower = word.trim_matches('"').to_ascii_lowercase();
    let is_bytes = word.contains("B") && prefix != "time_";
    let unit = lower.strip_prefix(prefix).filter(|_| !is_bytes).map(|unit| match unit {
        "bps" | "bit" => "bps",
        "kbps" | "kbit" => "kbps",
        "mbps" | "mbit" => "Mbps",
        "gbps" | "gbit" => "Gbps",
        unit => unit,
    });
    let known = if prefix == "time_" { units::TIME } else { units::RATE };
    match unit {
        Some(unit) if units::names(known).any(|name| name == unit) => Ok(unit.to_owned()),
        _ => Err(format!("the column {:?} names no unit", excerpt(word))),
    }
}

/// Return a plain number in so many units of a column, rounded; `None` for other words.
fn plain(word: &str, unit: u64) -> Option<u64> {
    let is_plain = word.len() < 16 && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain.then(|| word.parse::<f64>().ok())?.map(|x| (x * unit as f64).round() as u64)
}

/// Return the factors of a header's units: nanoseconds, bit/s.
fn factors((time, rate): (&str, &str)) -> Option<(u64, u64)> {
    let of = |units: &[units::Unit], unit| units.iter().find(|one| one.0 == unit).map(|one| one.1 as u64);
    Some((of(units::TIME, time)? / 1000, of(units::RATE, rate)?))
}

fn time_and_rate(time: &str, rate: &str, units: Option<(&str, &str)>) -> Result<(Time, Rate), String> {
    let with_unit = |word: &str, unit: Option<&str>| {
        let needs = word.ends_with(|c: char| c.is_ascii_digit() || c == '.');
        Value::Text(if needs { format!("{word}{}", unit.unwrap_or_default()) } else { word.to_owned() })
    };
    let said = |word: &str, complaint: Complaint| {
        let word = excerpt(word);
        if complaint.message.contains(word) {
            complaint.message
        } else {
            format!("{word}: {}", complaint.message)
        }
    };
    // The quick way for numbers of a CSV file; other values are read as everywhere, with the same complaints.
    let (ns, bps) =
        units.and_then(factors).map_or((None, None), |(ns, bps)| (plain(time, ns), plain(rate, bps)));
    let ps = match ns.filter(|ns| *ns < LONGEST_TRACE.0 / 1000) {
        Some(ns) => ns * 1000,
        None => units::time(&with_unit(time, units.map(|u| u.0))).map_err(|why| said(time, why))?,
    };
    let bps = match bps.filter(|bps| *bps <= units::MAX_RATE) {
        Some(bps) => bps,
        None => units::rate_or_zero(&with_unit(rate, units.map(|u| u.1))).map_err(|why| said(rate, why))?,
    };
    let at = Time((ps + 500) / 1000 * 1000);
    if at.since(Time::ZERO) > LONGEST_TRACE {
        return Err(format!("the time {} is above 30 days, the longest trace", excerpt(time)));
    }
    Ok((at, Rate(bps)))
}

/// Return the start of a word, which may be long.
fn excerpt(word: &str) -> &str {
    word.get(..word.char_indices().nth(40).map_or(word.len(), |(at, _)| at)).unwrap_or(word)
}

/// Describe a trace: period, mean rate, longest time without any, and rates over a period.
pub(crate) fn describe(trace: &TraceData, interpolates: bool) -> Json {
    let reading = match (trace, interpolates) {
        (TraceData::Opportunities(_), _) => "opportunities",
        (TraceData::Rates(_), false) => "hold",
        (TraceData::Rates(_), true) => "interpolate",
    };
    json!({
        "reading": reading,
        "period_s": trace.period().secs(),
        "mean_bps": trace.mean_bps(interpolates),
        "longest_outage_s": trace.longest_outage().secs(),
        "bins_bps": trace.bins(BINS, interpolates),
    })
}

/// Describe the trace of a file as JSON.
///
/// # Errors
/// Return the first line that is wrong, in words.
pub fn trace_json(file: &str, text: &str) -> Result<String, String> {
    let trace = read(file, text)
        .map_err(|complaint| format!("{} (allowed: {})", complaint.message, complaint.allowed))?;
    Ok(describe(&trace, false).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_translated() {
        let text =
            |file: &str| read("f", file).map(|trace| trace.text()).map_err(|complaint| complaint.message);
        assert_eq!(text("1\n3\n3\n\n# nothing\n10\r\n"), Ok("1 3*2 10".into()));
        assert_eq!(
            text("5s 8Mbps\n5.5s 0bps\n7s 1Mbps"),
            Ok("0:8000000 500000000:0 2000000000:1000000".into())
        );
        assert_eq!(
            text("time_ms,rate_kbps\n0,8\n500,0.5\n2000,1"),
            Ok("0:8000 500000000:500 2000000000:1000".into())
        );
        assert_eq!(text("0s,8Mbps\n1ms,0bps\n"), Ok("0:8000000 1000000:0".into()));
    }

    #[test]
    fn broken_traces_name_file_line_and_reason() {
        let cases = [
            ("", "f:1: the trace is empty"),
            ("# only a comment\n\n", "f:1: the trace is empty"),
            ("0\n0\n", "f:2: the trace lasts no time: its last time is 0"),
            ("1\nx\n", "f:2: \"x\" is not a whole number of milliseconds"),
            ("1\n2.5\n", "f:2: \"2.5\" is not a whole number of milliseconds"),
            ("1\n-3\n", "f:2: \"-3\" is negative"),
            ("5\n7\n6\n", "f:3: the time 6 is below the one before it, 7"),
            (
                "1\n99999999999999999999999\n",
                "f:2: the time 99999999999999999999999 is above 30 days, the longest trace",
            ),
            ("1\n0s 5Mbps\n", "f:2: \"0s 5Mbps\" is not a line of this trace"),
            ("1 2 3\n", "f:1: \"1 2 3\" is not a line of this trace"),
            ("0s 5Mbps\n7\n", "f:2: \"7\" is not a line of this trace"),
            ("0s 5\n", "f:1: \"5\" has no unit"),
            ("0s 5Mbps\n1s -2Mbps\n", "f:2: -2Mbps is negative"),
            ("0s 5Mbps\n1s fast\n", "f:2: \"fast\" does not begin with a number"),
            ("0s 5Mbps\n0s 6Mbps\n", "f:2: the time 0s is not after the one before it"),
            ("0s 0bps\n1s 0bps\n2s 5Mbps\n", "f:3: the rate is 0 for ever"),
            ("0s 5Mbps\n", "f:1: the trace lasts no time: its last time is 0"),
            ("0s 5Mbps\n4000000s 1Mbps\n", "f:2: the time 4000000s is above 30 days, the longest trace"),
            ("0s 999999Gbps\n1s 1Mbps", "f:1: 999999Gbps: is above 100000Gbps, the highest rate there is"),
            ("time,rate\n0,1\n", "f:1: the column \"time\" names no unit"),
            ("time_s,rate_MBps\n0,1\n1,1\n", "f:1: the column \"rate_MBps\" names no unit"),
            ("time_s,rate_mbps\n", "f:1: the trace is empty"),
        ];
        for (text, expected) in cases {
            let complaint = read("f", text).expect_err(text);
            assert_eq!(complaint.message, expected);
            assert_eq!(complaint.allowed, ALLOWED);
        }
    }
}
