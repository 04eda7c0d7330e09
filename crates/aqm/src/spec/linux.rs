//! Values that Linux's own disciplines cannot have: each is named in a warning with the value that Linux has.

use aqmlab_units::Span;

use super::{Limit, ParameterReader, Value};

/// Bytes of a full packet, by which a limit in bytes is converted to packets.
const FULL_PACKET: u64 = 1500;
/// Largest packet of Ethernet's usual MTU, with the header.
pub(crate) const ETHERNET_PACKET: u64 = 1514;
/// tc has times in whole microseconds.
const MICROSECOND: u64 = 1_000_000;

impl ParameterReader<'_> {
    /// Record the value that the dialect of Linux has for a parameter, and warn if the file sets another.
    pub fn fixed_in_linux(&mut self, key: &'static str, value: Value) {
        self.without_effect.push(key);
        if self.set_value(key).is_some_and(|set| *set != value) {
            self.warn(format!("{key} has no effect in the dialect of Linux, which has {value}"));
        }
        self.known(key, value);
    }

    /// Record the value that the dialect of Linux makes of a parameter, and warn if the file sets another.
    pub fn rounded_in_linux(&mut self, key: &str, used: Value) {
        self.warn_if_rounded(key, &used, "in the dialect of Linux");
        match self.effective.iter_mut().find(|(known, _)| known == key) {
            Some((_, value)) => *value = used,
            None => self.known(key, used),
        }
    }

    /// Warn if the file sets a parameter to another value than the one that this arithmetic makes of it.
    pub fn warn_if_rounded(&mut self, key: &str, used: &Value, arithmetic: &str) {
        if let Some(given) = self.effective_setting(key).filter(|given| !is_equal(given, used)) {
            self.warn(format!("{key} = {given} is {used} {arithmetic}"));
        }
    }

    /// Warn if the file sets a parameter that Linux's discipline has with this value only; it is computed as it is set.
    pub fn differs_from_linux(&mut self, key: &str, linux: Value) {
        let given = self.effective_setting(key);
        let given = given.filter(|given| !matches!(given, Value::Word(word) if word == "auto"));
        if let Some(given) = given.filter(|given| !is_equal(given, &linux)).cloned() {
            self.warn(format!("{key} = {given} is computed as it is set, but Linux has {linux}"));
        }
    }

    /// Warn of a value above the largest that Linux's discipline takes; it is computed as it is set.
    pub fn exceeds_linux(&mut self, key: &str, most: Value) {
        if let Some(given) = self.effective_setting(key).cloned() {
            self.warn(format!("{key} = {given} is computed as it is set, but Linux has at most {most}"));
        }
    }

    /// Read a time that tc has in whole microseconds.
    pub fn linux_time(&mut self, key: &str, default: Span) -> Span {
        let given = self.time(key, default);
        self.in_microseconds(key, given)
    }

    /// Read a time that tc has in whole microseconds; `None` if the file has this word or nothing.
    pub fn linux_time_or(&mut self, key: &str, word: &str) -> Option<Span> {
        let given = self.time_or(key, word)?;
        Some(self.in_microseconds(key, given))
    }

    fn in_microseconds(&mut self, key: &str, given: Span) -> Span {
        let used = Span(given.0 / MICROSECOND * MICROSECOND);
        if used == Span::ZERO && given > Span::ZERO {
            let message = format!("{}s is less than tc's unit, a microsecond", given.secs());
            self.error(key, message, "1us and more in the dialect of Linux");
        } else if used != given {
            self.rounded_in_linux(key, Value::Seconds(used.secs()));
        }
        used
    }

    /// Warn of a limit in bytes, where Linux counts packets.
    pub fn counts_packets_in_linux(&mut self, limit: Limit) {
        if let Limit::Bytes(bytes) = limit {
            let packets = (bytes / FULL_PACKET).max(1);
            self.differs_from_linux("limit", Value::Packets(packets as f64));
        }
    }

    /// Warn of a largest packet other than that of the device.
    pub fn has_largest_packet_of_device(&mut self, key: &str) {
        self.differs_from_linux(key, Value::Bytes(ETHERNET_PACKET));
    }
}

/// The largest relative error of a value that was written with few digits.
const TOLERANCE: f64 = 1e-5;

/// Return whether two values are the same but for their last digits, or for a unit that may be left out.
fn is_equal(one: &Value, other: &Value) -> bool {
    let number = |value: &Value| match value {
        Value::Number(x) | Value::Packets(x) | Value::Seconds(x) => Some(*x),
        Value::Bytes(x) => Some(*x as f64),
        _ => None,
    };
    let is_size = |value: &Value| matches!(value, Value::Bytes(_));
    match (number(one), number(other)) {
        (Some(a), Some(b)) if is_size(one) == is_size(other) || !matches!(one, Value::Packets(_)) => {
            (a - b).abs() <= TOLERANCE * a.abs().max(b.abs())
        }
        _ => one == other,
    }
}
