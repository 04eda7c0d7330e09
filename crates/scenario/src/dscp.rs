//! Code points of Differentiated Services (RFC 2474, RFC 2597, RFC 3246) by name.

use crate::nearest::nearest;
use crate::problem::Complaint;
use crate::tree::Value;
use crate::units;

/// Largest code point: six bits.
pub(crate) const MAX: u8 = 63;
/// The allowed values, in words.
pub(crate) const ALLOWED: &str = "BE, CS1 to CS7, AF11 to AF43, EF, or a number from 0 to 63";

/// Names: best effort, class selectors CSn = 8n, assured forwarding AFxy = 8x + 2y, expedited forwarding.
pub(crate) const NAMES: [(&str, u8); 21] = [
    ("BE", 0),
    ("CS1", 8),
    ("CS2", 16),
    ("CS3", 24),
    ("CS4", 32),
    ("CS5", 40),
    ("CS6", 48),
    ("CS7", 56),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("EF", 46),
];

/// Best effort.
pub(crate) const BE: u8 = 0;
/// Assured forwarding, class 1, drop precedence 1 to 3.
pub(crate) const AF1: [u8; 3] = [10, 12, 14];

/// A code point by name or number.
pub(crate) fn value(value: &Value) -> Result<u8, Complaint> {
    match value {
        Value::Text(word) => {
            let found = NAMES.iter().find(|(name, _)| name == word).map(|&(_, code)| code);
            let names = NAMES.iter().map(|(name, _)| *name);
            let unknown = || Complaint::new(format!("{word:?} is not a code point"));
            found.ok_or_else(|| unknown().suggest(nearest(word, names)))
        }
        Value::Integer(n) => {
            let code = u8::try_from(*n).ok().filter(|&code| code <= MAX);
            code.ok_or_else(|| Complaint::new(format!("{n} is out of range")))
        }
        other => Err(units::wrong_type(other)),
    }
}

/// The name of a code point, or its number where it has none.
pub(crate) fn name(code: u8) -> String {
    let found = NAMES.iter().find(|(_, c)| *c == code);
    found.map_or_else(|| code.to_string(), |(name, _)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_formulas() {
        for (name, code) in NAMES {
            let digit = |i: usize| name.as_bytes()[i] - b'0';
            let expected = match &name[..2] {
                "CS" => 8 * digit(2),
                "AF" => 8 * digit(2) + 2 * digit(3),
                "EF" => 46,
                _ => 0,
            };
            assert_eq!(code, expected, "{name}");
            assert_eq!(value(&Value::Text(name.into())), Ok(code));
            assert_eq!(super::name(code), name);
        }
        assert_eq!(name(1), "1");
    }
}
