//! Numbers with a unit in text: `10Mbps`, `5ms`, `100p`, `64KB`, `2%`.
//!
//! The decimal number is taken exactly, never through a double, so that `0.1s` is 100,000,000,000 ps.

use crate::nearest::nearest;
use crate::problem::Complaint;
use crate::tree::Value;

/// A unit and how many base units it is.
pub(crate) type Unit = (&'static str, u128);

/// Bit rates; the base is one bit per second.
pub(crate) const RATE: &[Unit] = &[
    ("bps", 1),
    ("kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("bit", 1),
    ("kbit", 1_000),
    ("Mbit", 1_000_000),
    ("Gbit", 1_000_000_000),
];
/// Times; the base is a picosecond.
pub(crate) const TIME: &[Unit] = &[
    ("ns", 1_000),
    ("us", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
    ("min", 60_000_000_000_000),
];
/// Rates of events; the base is one in 60,000,000 seconds.
pub(crate) const FREQUENCY: &[Unit] = &[
    ("/s", FREQUENCY_BASE as u128),
    ("/ms", 1_000 * FREQUENCY_BASE as u128),
    ("/min", FREQUENCY_BASE as u128 / 60),
];
/// Base units in one event a second.
const FREQUENCY_BASE: u64 = 60_000_000;
/// Lengths in bytes.
pub(crate) const BYTES: &[Unit] =
    &[("B", 1), ("kB", 1_000), ("KB", 1_000), ("MB", 1_000_000), ("KiB", 1 << 10), ("MiB", 1 << 20)];
/// Packets.
pub(crate) const PACKETS: &[Unit] = &[("p", 1)];

/// Highest rate allowed, 100 Tbit/s: a packet of 40 bytes still lasts three picoseconds.
pub(crate) const MAX_RATE: u64 = 100_000_000_000_000;

/// Most significant digits of a number; with these no product here overflows.
const MAX_DIGITS: usize = 24;

/// An amount of bytes or packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Amount {
    Bytes(u64),
    Packets(f64),
    /// No unit was given.
    Bare(f64),
}

/// Names of units, for messages and patterns.
pub(crate) fn names(units: &[Unit]) -> impl Iterator<Item = &'static str> {
    units.iter().map(|u| u.0)
}

/// A bit rate in bit/s, above 0.
pub(crate) fn rate(value: &Value) -> Result<u64, Complaint> {
    match rate_or_zero(value)? {
        0 => Err(Complaint::new("must be above 0")),
        bps => Ok(bps),
    }
}

/// A bit rate in bit/s; 0 where nothing leaves.
pub(crate) fn rate_or_zero(value: &Value) -> Result<u64, Complaint> {
    let (bps, _) = quantity(value, RATE)?;
    if bps > u128::from(MAX_RATE) {
        return Err(Complaint::new("is above 100000Gbps, the highest rate there is"));
    }
    Ok(bps as u64)
}

/// Events per second, above 0.
pub(crate) fn frequency(value: &Value) -> Result<f64, Complaint> {
    match quantity(value, FREQUENCY)? {
        (0, _) => Err(Complaint::new("must be above 0")),
        (n, _) => Ok(n as f64 / FREQUENCY_BASE as f64),
    }
}

/// A time in picoseconds.
pub(crate) fn time(value: &Value) -> Result<u64, Complaint> {
    let (ps, _) = quantity(value, TIME)?;
    u64::try_from(ps).map_err(|_| Complaint::new("is longer than 213 days, the longest time there is"))
}

/// A whole number of bytes; `bare` lets the unit be absent.
pub(crate) fn bytes(value: &Value, bare: bool) -> Result<u64, Complaint> {
    match value {
        Value::Integer(n) if bare => {
            u64::try_from(*n).map_err(|_| Complaint::new(format!("{n} is negative")))
        }
        Value::Real(x) if bare => Err(Complaint::new(format!("{x} is not a whole number"))),
        _ => whole(quantity(value, BYTES)?),
    }
}

/// Packets or bytes; a bare number too, for the caller to judge.
pub(crate) fn amount(value: &Value) -> Result<Amount, Complaint> {
    let text = match value {
        Value::Integer(n) if *n < 0 => return Err(Complaint::new(format!("{n} is negative"))),
        Value::Integer(n) => return Ok(Amount::Bare(*n as f64)),
        Value::Real(x) if !x.is_finite() => return Err(not_finite(*x)),
        Value::Real(x) if *x < 0.0 => return Err(Complaint::new(format!("{x} is negative"))),
        Value::Real(x) => return Ok(Amount::Bare(*x)),
        Value::Text(text) => text,
        other => return Err(wrong_type(other)),
    };
    let (number, unit) = split(text);
    if unit == "p" {
        return match finite(number) {
            Some(x) if x < 0.0 => Err(Complaint::new(format!("{text} is negative"))),
            Some(x) => Ok(Amount::Packets(x)),
            None => Err(Complaint::new(format!("\"{text}\" does not begin with a number"))),
        };
    }
    let units: Vec<Unit> = PACKETS.iter().chain(BYTES).copied().collect();
    whole(quantity(value, &units)?).map(Amount::Bytes)
}

/// A plain number, or a percentage in text.
pub(crate) fn number(value: &Value) -> Result<f64, Complaint> {
    match value {
        Value::Integer(n) => Ok(*n as f64),
        Value::Real(x) if x.is_finite() => Ok(*x),
        Value::Real(x) => Err(not_finite(*x)),
        Value::Text(text) => {
            let (number, unit) = split(text);
            // The exponent, not a division, so that 0.7% is the double nearest to 0.007.
            let percent =
                (unit == "%" && !number.contains(['e', 'E'])).then(|| finite(&format!("{number}e-2")));
            percent
                .flatten()
                .ok_or_else(|| Complaint::new(format!("\"{text}\" is not a number or a percentage")))
        }
        other => Err(wrong_type(other)),
    }
}

/// The complaint about a value of another type.
pub(crate) fn wrong_type(value: &Value) -> Complaint {
    Complaint::new(format!("is {}", value.type_name()))
}

/// The complaint about a number where one without a fraction is expected.
pub(crate) fn not_whole(x: f64) -> Complaint {
    Complaint::new(format!("{x} is not a whole number"))
}

fn not_finite(x: f64) -> Complaint {
    Complaint::new(if x.is_nan() { "is not a number" } else { "is infinite" })
}

fn finite(number: &str) -> Option<f64> {
    let first = number.trim_start_matches(['+', '-']).bytes().next()?;
    (first.is_ascii_digit() || first == b'.').then(|| number.parse::<f64>().ok())?.filter(|x| x.is_finite())
}

fn whole((n, exact): (u128, bool)) -> Result<u64, Complaint> {
    if !exact {
        return Err(Complaint::new("is not a whole number of bytes"));
    }
    u64::try_from(n).map_err(|_| Complaint::new("is too large"))
}

/// The number before a unit and the unit, as text.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    end += digits(end);
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    (&text[..end], text[end..].trim_start())
}

/// A number in base units, and whether that is exact.
fn quantity(value: &Value, units: &[Unit]) -> Result<(u128, bool), Complaint> {
    let text = match value {
        Value::Text(text) => text,
        Value::Integer(n) => return Err(Complaint::new(format!("{n} has no unit"))),
        Value::Real(x) if !x.is_finite() => return Err(not_finite(*x)),
        Value::Real(x) => return Err(Complaint::new(format!("{x} has no unit"))),
        other => return Err(wrong_type(other)),
    };
    let (number, unit) = split(text);
    if !number.bytes().any(|b| b.is_ascii_digit()) {
        return Err(Complaint::new(format!("\"{text}\" does not begin with a number")));
    }
    let hint = || format!("units {}", names(units).collect::<Vec<_>>().join(", "));
    if unit.is_empty() {
        return Err(Complaint::new(format!("\"{text}\" has no unit")).hint(hint()));
    }
    let Some(&(_, scale)) = units.iter().find(|u| u.0 == unit) else {
        let near = near_unit(unit, units).map(|u| format!("{number}{u}"));
        return Err(Complaint::new(format!("\"{unit}\" is not a unit for this")).suggest(near).hint(hint()));
    };
    if let Some(positive) = number.strip_prefix('-') {
        if scaled(positive, scale) != Ok((0, true)) {
            return Err(Complaint::new(format!("{text} is negative")));
        }
        return Ok((0, true));
    }
    scaled(number.trim_start_matches('+'), scale).map_err(|bad| {
        Complaint::new(match bad {
            Bad::TooLarge => format!("{text} is too large"),
            Bad::TooLong => format!("{text} has more than {MAX_DIGITS} digits"),
        })
    })
}

fn near_unit(unit: &str, units: &[Unit]) -> Option<&'static str> {
    let same = names(units).find(|u| u.eq_ignore_ascii_case(unit));
    let spelled = match unit {
        "b/s" | "bit/s" => Some("bps"),
        "kb/s" | "kbit/s" => Some("kbps"),
        "Mb/s" | "Mbit/s" => Some("Mbps"),
        "Gb/s" | "Gbit/s" => Some("Gbps"),
        "sec" | "seconds" => Some("s"),
        "msec" => Some("ms"),
        "usec" | "µs" => Some("us"),
        "packets" | "packet" | "pkts" => Some("p"),
        _ => None,
    };
    same.or(spelled.filter(|s| names(units).any(|u| u == *s))).or_else(|| nearest(unit, names(units)))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bad {
    TooLarge,
    TooLong,
}

/// An unsigned decimal number times `scale`, rounded half to even, and whether nothing was rounded away.
fn scaled(number: &str, scale: u128) -> Result<(u128, bool), Bad> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    // An exponent that no integer holds is as good as a very large one.
    let limit = if exponent.starts_with('-') { -1_000_000 } else { 1_000_000 };
    let exponent = exponent.parse::<i64>().unwrap_or(limit).clamp(-1_000_000, 1_000_000);
    let (integral, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{integral}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Ok((0, true));
    }
    if digits.len() > MAX_DIGITS {
        return Err(Bad::TooLong);
    }
    let product =
        digits.parse::<u128>().map_err(|_| Bad::TooLong)?.checked_mul(scale).ok_or(Bad::TooLarge)?;
    let shift = exponent - fraction.len() as i64;
    let power = u32::try_from(shift.unsigned_abs()).ok().and_then(|n| 10u128.checked_pow(n));
    match (shift < 0, power) {
        (false, power) => {
            let n = power.and_then(|p| product.checked_mul(p)).ok_or(Bad::TooLarge)?;
            Ok((n, true))
        }
        (true, None) => Ok((0, false)),
        (true, Some(power)) => {
            let (whole, rest) = (product / power, product % power);
            let up = rest > power - rest || (rest == power - rest && whole % 2 == 1);
            Ok((whole + u128::from(up), rest == 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(s: &str) -> Value {
        Value::Text(s.into())
    }

    fn said<T: core::fmt::Debug>(result: Result<T, Complaint>) -> String {
        result.unwrap_err().message
    }

    #[test]
    fn rates() {
        assert_eq!(rate(&text("10Mbps")), Ok(10_000_000));
        assert_eq!(rate(&text("1.5 Mbit")), Ok(1_500_000));
        assert_eq!(rate(&text("2097152bps")), Ok(1 << 21));
        assert_eq!(rate(&text("1e3kbps")), Ok(1_000_000));
        assert_eq!(said(rate(&text("0Mbps"))), "must be above 0");
        assert_eq!(said(rate(&text("-5Mbps"))), "-5Mbps is negative");
        assert_eq!(said(rate(&text("200000Gbps"))), "is above 100000Gbps, the highest rate there is");
        assert_eq!(said(rate(&text("1e40bps"))), "1e40bps is too large");
        assert_eq!(said(rate(&text("fast"))), "\"fast\" does not begin with a number");
        assert_eq!(said(rate(&text("10"))), "\"10\" has no unit");
        assert_eq!(said(rate(&Value::Integer(10))), "10 has no unit");
        assert_eq!(said(rate(&Value::Flag(true))), "is true");
    }

    #[test]
    fn the_unit_meant_is_suggested() {
        let near = |s, units| quantity(&text(s), units).unwrap_err().suggestion;
        assert_eq!(near("10mbps", RATE).as_deref(), Some("10Mbps"));
        assert_eq!(near("10Mb/s", RATE).as_deref(), Some("10Mbps"));
        assert_eq!(near("5msec", TIME).as_deref(), Some("5ms"));
        assert_eq!(near("5µs", TIME).as_deref(), Some("5us"));
        assert_eq!(near("5kb", BYTES).as_deref(), Some("5kB"));
        assert_eq!(near("5parsec", RATE), None);
    }

    #[test]
    fn times_are_exact() {
        assert_eq!(time(&text("0.1s")), Ok(100_000_000_000));
        assert_eq!(time(&text("0.000244140625s")), Ok(244_140_625));
        assert_eq!(time(&text("1min")), Ok(60_000_000_000_000));
        assert_eq!(time(&text("18446744.073709551615s")), Ok(u64::MAX));
        let too_long = "is longer than 213 days, the longest time there is";
        assert_eq!(said(time(&text("18446744.073709551616s"))), too_long);
        assert_eq!(time(&text("0.0000000000005s")), Ok(0), "half a picosecond to even");
        assert_eq!(time(&text("0.0000000000015s")), Ok(2));
        assert_eq!(time(&text("0.00000000000051s")), Ok(1));
        assert_eq!(time(&text("-0s")), Ok(0));
        assert_eq!(
            said(time(&text("1.0000000000000000000000001s"))),
            "1.0000000000000000000000001s has more than 24 digits"
        );
    }

    #[test]
    fn sizes() {
        assert_eq!(bytes(&text("64KB"), false), Ok(64_000));
        assert_eq!(bytes(&text("64KiB"), false), Ok(65_536));
        assert_eq!(bytes(&text("1.5kB"), false), Ok(1_500));
        assert_eq!(bytes(&Value::Integer(40), true), Ok(40));
        assert_eq!(said(bytes(&Value::Integer(40), false)), "40 has no unit");
        assert_eq!(said(bytes(&Value::Integer(-40), true)), "-40 is negative");
        assert_eq!(said(bytes(&text("0.5B"), false)), "is not a whole number of bytes");
        assert_eq!(amount(&text("12.5p")), Ok(Amount::Packets(12.5)));
        assert_eq!(amount(&text("1MB")), Ok(Amount::Bytes(1_000_000)));
        assert_eq!(amount(&Value::Integer(7)), Ok(Amount::Bare(7.0)));
        assert_eq!(said(amount(&text("-1p"))), "-1p is negative");
        assert_eq!(said(amount(&text("p"))), "\"p\" does not begin with a number");
        assert_eq!(said(amount(&Value::Real(f64::NAN))), "is not a number");
        assert_eq!(said(amount(&Value::Real(f64::INFINITY))), "is infinite");
    }

    #[test]
    fn numbers_and_percentages() {
        assert_eq!(number(&text("0.7%")), Ok(0.007));
        assert_eq!(number(&text("10 %")), Ok(0.1));
        assert_eq!(number(&Value::Real(0.1)), Ok(0.1));
        assert_eq!(said(number(&text("ten"))), "\"ten\" is not a number or a percentage");
        assert_eq!(said(number(&text("%"))), "\"%\" is not a number or a percentage");
        assert_eq!(said(number(&Value::Real(f64::NEG_INFINITY))), "is infinite");
    }

    proptest! {
        #[test]
        fn every_unit_round_trips(n in 0u64..300_000, which in 0usize..5) {
            let (unit, scale) = TIME[which];
            prop_assert_eq!(time(&text(&format!("{n}{unit}"))).map(u128::from), Ok(u128::from(n) * scale));
        }

        #[test]
        fn picoseconds_round_trip(ps in any::<u64>()) {
            let s = format!("{}.{:012}s", ps / 1_000_000_000_000, ps % 1_000_000_000_000);
            prop_assert_eq!(time(&text(&s)), Ok(ps));
        }

        #[test]
        fn rates_round_trip(bps in 1u64..=MAX_RATE) {
            prop_assert_eq!(rate(&text(&format!("{bps}bps"))), Ok(bps));
            let mega = format!("{}.{:06}Mbps", bps / 1_000_000, bps % 1_000_000);
            prop_assert_eq!(rate(&text(&mega)), Ok(bps));
        }

        #[test]
        fn no_text_is_too_strange(s in "\\PC*", n in any::<i64>(), x in any::<f64>()) {
            for v in [text(&s), Value::Integer(n), Value::Real(x)] {
                let _ = (rate(&v), time(&v), bytes(&v, true), bytes(&v, false), amount(&v), number(&v));
            }
        }

        #[test]
        fn nothing_numeric_is_too_strange(s in "[-+]?[0-9.]{0,40}([eE][-+]?[0-9]{0,25})? ?[A-Za-z%]{0,4}") {
            let v = text(&s);
            let _ = (rate(&v), time(&v), bytes(&v, true), amount(&v), number(&v));
        }
    }
}
