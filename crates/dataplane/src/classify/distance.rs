use std::collections::BTreeMap;

use serde::Deserialize;

use super::group::Prefix;
use crate::wire::Header;

/// The usual initial values of the time to live: old hosts and ns-2, Linux and its like, Windows, routers.
const USUAL: [u8; 4] = [32, 64, 128, 255];

/// How the time to live that a packet was sent with is known.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(tag = "rule", rename_all = "lowercase", deny_unknown_fields)]
pub enum Distance {
    /// The least usual initial value that is not below what came.
    #[default]
    Inferred,
    /// Carried by the packet in an [option](crate::wire::RouteOption), and so is `ttl_final`; inferred without the
    /// option.
    Option,
    /// Given for prefixes of the source, of which the longest counts; inferred for all others.
    Prefix {
        /// Initial value by prefix.
        initial: Initial,
    },
}

/// Initial values by prefix of the source, the longest first.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "BTreeMap<String, u8>")]
pub struct Initial(Vec<(Prefix, u8)>);

impl TryFrom<BTreeMap<String, u8>> for Initial {
    type Error = String;

    fn try_from(given: BTreeMap<String, u8>) -> Result<Self, String> {
        let parsed = given.iter().map(|(text, &ttl)| match (text.parse::<Prefix>(), ttl) {
            (Err(wrong), _) => Err(wrong.to_string()),
            (Ok(_), 0) => Err(format!("the initial time to live of {text} is 0 (allowed: 1 to 255)")),
            (Ok(prefix), _) => Ok((prefix, ttl)),
        });
        let mut initial = parsed.collect::<Result<Vec<_>, _>>()?;
        initial.sort_by_key(|(prefix, _)| core::cmp::Reverse(prefix.length()));
        Ok(Self(initial))
    }
}

impl Distance {
    /// The time to live that a packet was sent with.
    #[inline]
    pub(super) fn initial(&self, packet: &Header) -> u8 {
        let given = match self {
            Self::Inferred => None,
            Self::Option => packet.route.map(|route| route.ttl_initial),
            Self::Prefix { initial: Initial(list) } => {
                list.iter().find(|(prefix, _)| prefix.holds(packet.source)).map(|(_, ttl)| *ttl)
            }
        };
        given.unwrap_or_else(|| inferred(packet.ttl))
    }

    /// The time to live at the destination, where the packet carries it; 0 when its sender does not know it.
    #[inline]
    pub(super) fn carried_final(&self, packet: &Header) -> Option<u8> {
        if matches!(self, Self::Option) { packet.route.map(|route| route.ttl_final) } else { None }
    }
}

#[inline]
fn inferred(ttl: u8) -> u8 {
    USUAL.into_iter().find(|usual| *usual >= ttl).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_values() {
        let cases = [(0, 32), (1, 32), (32, 32), (33, 64), (64, 64), (65, 128), (128, 128), (129, 255)];
        for (ttl, expected) in cases {
            assert_eq!(inferred(ttl), expected, "{ttl}");
        }
        assert_eq!(inferred(255), 255);
    }

    #[test]
    fn rules_in_json() {
        let read = |text: &str| serde_json::from_str::<Distance>(text);
        assert!(matches!(read(r#"{"rule": "inferred"}"#), Ok(Distance::Inferred)));
        assert!(matches!(read(r#"{"rule": "option"}"#), Ok(Distance::Option)));
        let rule = read(r#"{"rule": "prefix", "initial": {"10.0.0.0/8": 30, "10.77.1.0/24": 60}}"#);
        let Ok(Distance::Prefix { initial: Initial(list) }) = rule else { panic!("a rule") };
        assert_eq!(list.iter().map(|(_, ttl)| *ttl).collect::<Vec<_>>(), [60, 30], "the longest first");
        for wrong in [
            r#"{"rule": "guess"}"#,
            r#"{"rule": "prefix", "initial": {"10": 3}}"#,
            r#"{"rule": "prefix", "initial": {"10.0.0.0/8": 0}}"#,
            r#"{"rule": "prefix"}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
