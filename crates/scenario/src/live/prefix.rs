//! A table by prefix of addresses.

use core::net::IpAddr;

use crate::section::Section;
use crate::tree::Value;

/// Whether this is a prefix such as `10.77.1.0/24` or `fd77::/16`.
pub(crate) fn is_prefix(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let most = match address.parse() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    length.parse::<u8>().is_ok_and(|length| length <= most)
}

/// The whole numbers of a table by prefix, in the order of the prefixes; `None` if it is no table.
pub(super) fn read(section: &Section<'_>, key: &str) -> Option<Vec<(String, u8)>> {
    let table = section.node(key)?.value.as_table()?;
    let entry = |(prefix, entry): (&String, &crate::tree::Entry)| match entry.node.value {
        Value::Integer(n) => u8::try_from(n).ok().map(|n| (prefix.clone(), n)),
        _ => None,
    };
    Some(table.iter().filter_map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_both_families() {
        for good in ["10.77.1.0/24", "0.0.0.0/0", "fd77:0:0:1::/64", "::/0", "10.0.0.1/32"] {
            assert!(is_prefix(good), "{good}");
        }
        for bad in ["10.77.1.0", "10.77.1/24", "10.77.1.0/33", "fd77::/129", "/8", "a/8", "::/-1", ""] {
            assert!(!is_prefix(bad), "{bad}");
        }
    }
}
