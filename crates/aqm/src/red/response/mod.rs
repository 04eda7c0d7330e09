//! The response: what happens to the victim.

use crate::{Ecn, Meta};

/// The responses to choose from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Response {
    /// Drop it.
    Drop,
    /// Mark it when its transport is ECN-capable (RFC 3168), else drop it.
    Mark {
        /// Largest p_b at which an early victim is marked rather than dropped (ns-2's `mark_p_`; 1 elsewhere).
        up_to: f64,
        /// Whether it is also marked at that p_b itself.
        at_bound: bool,
        /// Whether a victim of a forced drop is marked too (Linux).
        forced: bool,
    },
}

impl Response {
    /// Whether a victim with this header, picked at `p_b`, is marked.
    pub fn marks(self, meta: &Meta, p_b: f64, is_forced: bool) -> bool {
        match self {
            Self::Drop => false,
            Self::Mark { up_to, at_bound, forced } => {
                let is_low = || p_b < up_to || (at_bound && p_b == up_to);
                meta.header.ecn() != Ecn::NotEct && if is_forced { forced } else { is_low() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Header;

    #[test]
    fn marks_only_what_can_be_marked() {
        let ect = Meta { header: Header::default().with_ecn(Ecn::Ect), ..Meta::default() };
        let not_ect = Meta::default();
        let ns2 = Response::Mark { up_to: 0.1, at_bound: false, forced: false };
        assert!(ns2.marks(&ect, 0.0999, false));
        assert!(!ns2.marks(&ect, 0.1, false));
        let patched = Response::Mark { up_to: 0.1, at_bound: true, forced: false };
        assert!(patched.marks(&ect, 0.1, false) && !patched.marks(&ect, 0.1001, false));
        assert!(!ns2.marks(&ect, 0.11, false));
        assert!(!ns2.marks(&ect, 0.1, true));
        assert!(!ns2.marks(&not_ect, 0.01, false));
        assert!(Response::Mark { up_to: 1.0, at_bound: true, forced: true }.marks(&ect, 1.0, true));
        assert!(!Response::Drop.marks(&ect, 0.01, false));
    }
}
