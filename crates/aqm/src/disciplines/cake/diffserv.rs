//! Tins for differentiated services: which code points a tin has, its threshold as a part of the rate, and its weight.
//!
//! | `diffserv` | tins in the order of service, with thresholds |
//! |---|---|
//! | `besteffort` | one |
//! | `precedence` | eight by the upper three bits; each has 7/8 of the threshold of the one before |
//! | `diffserv3` | best effort, bulk 1/16, voice 1/4 |
//! | `diffserv4` | best effort, bulk 1/16, video 1/2, voice 1/4 |
//! | `diffserv8` | eight by RFC 4594; thresholds as `precedence` |
//!
//! A shaper prefers the last of the tins that are below their thresholds. Without one, tins share the link by weights in the same
//! proportions. Code points that are not listed are best effort.

/// Most tins that a mode has.
pub(super) const MAX_TINS: usize = 8;

/// How code points are mapped to tins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DiffServ {
    #[default]
    DiffServ3,
    DiffServ4,
    DiffServ8,
    Precedence,
    BestEffort,
}

/// Code points of RFC 8622, RFC 2474, RFC 2597, RFC 3246, RFC 5865, and of the type of service of RFC 1349.
const LE: u8 = 1;
const TOS_THROUGHPUT: u8 = 2;
const TOS_DELAY: u8 = 4;
const CS: [u8; 8] = [0, 8, 16, 24, 32, 40, 48, 56];
const AF: [[u8; 3]; 5] = [[0; 3], [10, 12, 14], [18, 20, 22], [26, 28, 30], [34, 36, 38]];
const VOICE_ADMIT: u8 = 44;
const EF: u8 = 46;

impl DiffServ {
    /// The words of a scenario file, the default first.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("diffserv3", Self::DiffServ3),
        ("diffserv4", Self::DiffServ4),
        ("diffserv8", Self::DiffServ8),
        ("precedence", Self::Precedence),
        ("besteffort", Self::BestEffort),
    ];

    /// Return the names of the tins, in the order of service.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::BestEffort => &["best-effort"],
            Self::DiffServ3 => &["best-effort", "bulk", "voice"],
            Self::DiffServ4 => &["best-effort", "bulk", "video", "voice"],
            Self::DiffServ8 | Self::Precedence => {
                &["tin-0", "tin-1", "tin-2", "tin-3", "tin-4", "tin-5", "tin-6", "tin-7"]
            }
        }
    }

    /// Return the tin of each code point.
    pub fn tin_of(self) -> [u8; 64] {
        match self {
            Self::BestEffort => [0; 64],
            Self::Precedence => core::array::from_fn(|dscp| (dscp >> 3) as u8),
            Self::DiffServ3 => {
                mapped(0, &[(1, &[LE, CS[1]]), (2, &[TOS_DELAY, VOICE_ADMIT, EF, CS[6], CS[7]])])
            }
            Self::DiffServ4 => mapped(
                0,
                &[
                    (1, &[LE, CS[1]]),
                    (2, &[TOS_DELAY, CS[2], CS[3]]),
                    (2, &AF[2]),
                    (2, &AF[3]),
                    (2, &AF[4]),
                    (3, &[CS[4], CS[5], VOICE_ADMIT, EF, CS[6], CS[7]]),
                ],
            ),
            Self::DiffServ8 => mapped(
                2,
                &[
                    (0, &[LE]),
                    (1, &[TOS_THROUGHPUT, CS[1]]),
                    (1, &AF[1]),
                    (3, &[CS[3]]),
                    (3, &AF[3]),
                    (3, &AF[4]),
                    (4, &[TOS_DELAY]),
                    (4, &AF[2]),
                    (5, &[CS[2]]),
                    (6, &[CS[4], CS[5], VOICE_ADMIT, EF]),
                    (7, &[CS[6], CS[7]]),
                ],
            ),
        }
    }

    /// Return the threshold of a tin, in the unit of the whole rate.
    pub fn threshold(self, tin: usize, rate: u64) -> u64 {
        match self {
            Self::BestEffort => rate,
            Self::DiffServ3 => rate >> [0, 4, 2][tin],
            Self::DiffServ4 => rate >> [0, 4, 1, 2][tin],
            Self::DiffServ8 | Self::Precedence => seven_eighths(tin, rate),
        }
    }

    /// Return the weight of a tin: the bytes that it gains in a round of an unlimited link.
    pub fn weight(self, tin: usize) -> u32 {
        match self {
            Self::BestEffort => 65_535,
            Self::DiffServ3 | Self::DiffServ4 => self.threshold(tin, 1024) as u32,
            Self::DiffServ8 | Self::Precedence => seven_eighths(tin, 256) as u32,
        }
    }
}

fn mapped(default: u8, listed: &[(u8, &[u8])]) -> [u8; 64] {
    let mut tins = [default; 64];
    for (tin, code_points) in listed {
        code_points.iter().for_each(|dscp| tins[usize::from(*dscp)] = *tin);
    }
    tins
}

/// 7/8 of a number, so many times, rounded down each time.
fn seven_eighths(times: usize, number: u64) -> u64 {
    (0..times).fold(number, |number, _| number * 7 / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tins of some code points.
    fn tins(mode: DiffServ, code_points: &[u8]) -> Vec<u8> {
        let of = mode.tin_of();
        code_points.iter().map(|dscp| of[usize::from(*dscp)]).collect()
    }

    #[test]
    fn every_code_point_has_a_tin_and_every_tin_a_code_point() {
        for (word, mode) in DiffServ::WORDS {
            let of = mode.tin_of();
            let count = mode.names().len();
            assert!(of.iter().all(|tin| usize::from(*tin) < count), "{word}");
            assert!((0..count).all(|tin| of.contains(&(tin as u8))), "{word}");
        }
    }

    #[test]
    fn tins_of_code_points() {
        // Default, LE, CS1, AF11, CS2, AF21, CS3, AF41, CS4, CS5, VA, EF, CS6, CS7, and 63, which is not assigned.
        let known = [0, 1, 8, 10, 16, 18, 24, 34, 32, 40, 44, 46, 48, 56, 63];
        assert_eq!(tins(DiffServ::DiffServ3, &known), [0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 0]);
        assert_eq!(tins(DiffServ::DiffServ4, &known), [0, 1, 1, 0, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 0]);
        assert_eq!(tins(DiffServ::DiffServ8, &known), [2, 0, 1, 1, 5, 4, 3, 3, 6, 6, 6, 6, 7, 7, 2]);
        assert_eq!(tins(DiffServ::Precedence, &known), [0, 0, 1, 1, 2, 2, 3, 4, 4, 5, 5, 5, 6, 7, 7]);
        assert_eq!(tins(DiffServ::BestEffort, &known), [0; 15]);
        // How many code points each tin has.
        let sizes = |mode: DiffServ| {
            let of = mode.tin_of();
            (0..mode.names().len())
                .map(|t| of.iter().filter(|x| usize::from(**x) == t).count())
                .collect::<Vec<_>>()
        };
        assert_eq!(sizes(DiffServ::DiffServ3), [57, 2, 5]);
        assert_eq!(sizes(DiffServ::DiffServ4), [44, 2, 12, 6]);
        assert_eq!(sizes(DiffServ::DiffServ8), [1, 5, 40, 7, 4, 1, 4, 2]);
    }

    #[test]
    fn thresholds_and_weights() {
        let all = |mode: DiffServ, rate| {
            (0..mode.names().len())
                .map(|tin| (mode.threshold(tin, rate), mode.weight(tin)))
                .collect::<Vec<_>>()
        };
        assert_eq!(all(DiffServ::BestEffort, 1600), [(1600, 65_535)]);
        assert_eq!(all(DiffServ::DiffServ3, 1600), [(1600, 1024), (100, 64), (400, 256)]);
        assert_eq!(all(DiffServ::DiffServ4, 1600), [(1600, 1024), (100, 64), (800, 512), (400, 256)]);
        let eighths = [
            (1600, 256),
            (1400, 224),
            (1225, 196),
            (1071, 171),
            (937, 149),
            (819, 130),
            (716, 113),
            (626, 98),
        ];
        assert_eq!(all(DiffServ::Precedence, 1600), eighths);
        assert_eq!(all(DiffServ::DiffServ8, 1600), eighths);
    }
}
