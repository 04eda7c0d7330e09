use super::{Among, SEARCH, SEARCH_WORDS, VictimPart, VictimRule};
#[cfg(test)]
use crate::Value;
use crate::indexed::{Indexed, Tag};
use crate::red::part::Part;
#[cfg(test)]
use crate::red::part::tests::Change;
use crate::spec::ParameterReader;
use crate::{DropClass, DropReason, Host, Meta, Parameter, ParameterError, ValueKind, names};

/// DDRED (E. Dedu, S. Linck and F. Spies, "Distance-Dependent RED Policy"): the victim is the packet that has
/// travelled least.
///
/// A packet carries the time to live that it was sent with, TTL_i, and in method 2 the one that an earlier packet of
/// its flow arrived with, TTL_f:
///
/// ```text
/// d_r = TTL_i - TTL                              method 1 (`distance = "ttl"`)
/// f   = (TTL_i - TTL)/(TTL_i - TTL_f)            method 2 (`distance = "fraction"`), clamped to [0, 1]
/// ```
///
/// Readings: the arriving packet is no candidate at an early or forced drop, unless the queue is empty or
/// `arrival_is_candidate` (D-1), and always at a full buffer; of several packets that have travelled least the victim
/// is the newest (D-2, `ties`); the search is made at every drop or at early ones only (D-3, `search`); a packet whose route's
/// length is not known yet counts as having travelled all of it (`unknown_fraction` = 1): a lost SYN costs most.
#[derive(Clone, Copy, Debug)]
pub struct Ddred {
    /// How the distance is measured.
    pub distance: Distance,
    /// Which of several packets that have travelled least.
    pub ties: Ties,
    /// Whether the arriving packet is a candidate at early and forced drops.
    pub arrival_is_candidate: bool,
    /// Whether only early drops search the queue; at others the victim is the arriving packet.
    pub early_only: bool,
}

/// How far a packet has travelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distance {
    /// Method 1: in hops.
    Ttl,
    /// Method 2: as a share of its route; the number is that of a packet whose route's length is not known.
    Fraction(f64),
}

/// Which of several packets with the least distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The one nearest to the tail.
    Newest,
    /// The one nearest to the head.
    Oldest,
    /// One at random.
    Random,
}

impl Ties {
    /// All of them, as they stand in a scenario file.
    pub const ALL: [(&'static str, Self); 3] =
        [("newest", Self::Newest), ("oldest", Self::Oldest), ("random", Self::Random)];
}

/// A share of 1 as a key. Different quotients of numbers up to 255 differ by more than the rounding.
const WHOLE: f64 = (1u32 << 31) as f64;

impl Distance {
    /// A number that is the larger the farther the packet has travelled.
    pub fn key(self, meta: &Meta) -> u32 {
        let hops = u32::from(meta.header.ttl_initial().saturating_sub(meta.header.ttl()));
        match self {
            Self::Ttl => hops,
            Self::Fraction(unknown) => {
                let route = u32::from(meta.header.ttl_initial().saturating_sub(meta.header.ttl_final()));
                let share = match (meta.header.ttl_final(), route) {
                    (0, _) => unknown,
                    (_, 0) => 1.0,
                    _ => (f64::from(hops) / f64::from(route)).min(1.0),
                };
                (share * WHOLE) as u32
            }
        }
    }
}

pub(crate) const PAPER: &str = "Dedu, Linck and Spies, DDRED";

pub(crate) const DISTANCE_WORDS: [(&str, bool); 2] = [("ttl", false), ("fraction", true)];

/// How the distance is measured.
pub(crate) const DISTANCE: Parameter = Parameter::new(
    "distance",
    "d_r",
    ValueKind::Choice,
    "DDRED: hops travelled, or their share of the route",
)
.or(&names(&DISTANCE_WORDS))
.source(PAPER);

/// The share of the route for a packet whose route length is not known.
pub(crate) const UNKNOWN_FRACTION: Parameter = Parameter::new(
    "unknown_fraction",
    "",
    ValueKind::Number,
    "DDRED: share of a route whose length is not known",
)
.from(0.0)
.to(1.0);

impl Part for Ddred {
    const NAME: &'static str = "ddred";
    const DOC: &'static str = "the packet that has travelled least";
    const PARAMETERS: &'static [Parameter] = &[
        DISTANCE,
        Parameter::new(
            "ties",
            "",
            ValueKind::Choice,
            "DDRED: which of several packets that have travelled least",
        )
        .or(&names(&Ties::ALL)),
        Parameter::new(
            "arrival_is_candidate",
            "",
            ValueKind::Flag,
            "DDRED: the arriving packet may be the victim of an early drop",
        ),
        SEARCH,
        UNKNOWN_FRACTION,
    ];

    #[cfg(test)]
    fn changes() -> Vec<Change> {
        let word = |word: &str| Value::Word(word.into());
        vec![
            Change::to("distance", word("fraction")),
            Change::to("ties", word("oldest")),
            Change::to("arrival_is_candidate", Value::Flag(true)),
            Change::to("search", word("early")),
            Change::to("unknown_fraction", Value::Number(0.0)).with("distance", word("fraction")),
        ]
    }
}

impl VictimPart for Ddred {
    fn read(reader: &mut ParameterReader<'_>) -> Result<Self, ParameterError> {
        let by_fraction = reader.word("distance", &DISTANCE_WORDS);
        let unknown = reader.number("unknown_fraction", 1.0);
        Ok(Self {
            distance: if by_fraction { Distance::Fraction(unknown) } else { Distance::Ttl },
            ties: reader.word("ties", &Ties::ALL),
            arrival_is_candidate: reader.flag("arrival_is_candidate", false),
            early_only: reader.word("search", &SEARCH_WORDS),
        })
    }
}

impl VictimRule for Ddred {
    fn among(&self, reason: DropReason, is_empty: bool) -> Among {
        if self.early_only && reason.class() != DropClass::Early {
            Among::Arriving
        } else if self.arrival_is_candidate || is_empty || reason.class() == DropClass::Overflow {
            Among::All
        } else {
            Among::Waiting
        }
    }

    fn pick<P: Copy>(&self, queue: &mut Indexed<P>, host: &mut impl Host<P>) -> Option<usize> {
        let index = queue.index(|meta| Tag { key: self.distance.key(meta), open: true });
        let (_, with_key) = index.least()?;
        index.least_nth(match self.ties {
            Ties::Newest => with_key - 1,
            Ties::Oldest => 0,
            Ties::Random => host.below(u64::from(with_key)) as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Header;

    fn meta(ttl_initial: u8, ttl: u8, ttl_final: u8) -> Meta {
        let header = Header::default().with_ttl_initial(ttl_initial).with_ttl(ttl).with_ttl_final(ttl_final);
        Meta { header, ..Meta::default() }
    }

    #[test]
    fn hops_by_hand() {
        assert_eq!(Distance::Ttl.key(&meta(64, 64, 0)), 0);
        assert_eq!(Distance::Ttl.key(&meta(255, 1, 0)), 254);
        assert_eq!(Distance::Ttl.key(&meta(32, 40, 0)), 0);
    }

    /// The module of a kernel computes it so.
    #[test]
    fn a_share_is_a_quotient_of_integers_rounded_down() {
        for route in 1..=254_u8 {
            for hops in 0..=route {
                let key = Distance::Fraction(1.0).key(&meta(255, 255 - hops, 255 - route));
                assert_eq!(u64::from(key), (u64::from(hops) << 31) / u64::from(route), "{hops} of {route}");
            }
        }
    }

    #[test]
    fn shares_by_hand() {
        let key = |a, b, c| Distance::Fraction(1.0).key(&meta(a, b, c));
        assert_eq!(key(64, 62, 60), 1 << 30);
        assert_eq!(key(64, 64, 60), 0);
        assert_eq!(key(64, 58, 60), 1 << 31);
        assert_eq!(key(64, 64, 64), 1 << 31);
        assert_eq!(key(64, 63, 0), 1 << 31);
        assert_eq!(Distance::Fraction(0.0).key(&meta(64, 63, 0)), 0);
        // 1 of 3 and 2 of 6 are the same, 84 of 253 is less, 85 of 254 more.
        assert_eq!(key(64, 63, 61), key(64, 62, 58));
        assert!(key(255, 171, 2) < key(64, 63, 61) && key(64, 63, 61) < key(255, 170, 1));
    }
}
