//! The response: what happens to the victim.

use crate::{DropReason, Ecn, Meta, Verdict};

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
        /// Whether a victim that is not ECN-capable is accepted where another one would be marked (`nodrop` of Linux).
        nodrop: bool,
    },
}

impl Response {
    /// Return the verdict on a victim with this header, picked at `p_b`.
    pub fn verdict(self, meta: &Meta, p_b: f64, is_forced: bool, reason: DropReason) -> Verdict {
        let Self::Mark { up_to, at_bound, forced, nodrop } = self else { return Verdict::Drop(reason) };
        let is_low = || p_b < up_to || (at_bound && p_b == up_to);
        let marks = if is_forced { forced } else { is_low() };
        match meta.header.ecn() {
            _ if !marks => Verdict::Drop(reason),
            Ecn::NotEct if nodrop => Verdict::Accept,
            Ecn::NotEct => Verdict::Drop(reason),
            Ecn::Ect | Ecn::Ect1 | Ecn::Ce => Verdict::Mark(reason),
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
        let marks = |response: Response, meta: &Meta, p_b, is_forced| {
            response.verdict(meta, p_b, is_forced, DropReason::EARLY) == Verdict::Mark(DropReason::EARLY)
        };
        let ns2 = Response::Mark { up_to: 0.1, at_bound: false, forced: false, nodrop: false };
        assert!(marks(ns2, &ect, 0.0999, false));
        assert!(!marks(ns2, &ect, 0.1, false));
        let patched = Response::Mark { up_to: 0.1, at_bound: true, forced: false, nodrop: false };
        assert!(marks(patched, &ect, 0.1, false) && !marks(patched, &ect, 0.1001, false));
        assert!(!marks(ns2, &ect, 0.11, false));
        assert!(!marks(ns2, &ect, 0.1, true));
        assert!(!marks(ns2, &not_ect, 0.01, false));
        let linux = Response::Mark { up_to: 1.0, at_bound: true, forced: true, nodrop: false };
        assert!(marks(linux, &ect, 1.0, true));
        assert!(!marks(Response::Drop, &ect, 0.01, false));
    }

    #[test]
    fn nodrop_accepts_where_another_packet_would_be_marked() {
        let verdict = |forced, is_forced| {
            let response = Response::Mark { up_to: 1.0, at_bound: true, forced, nodrop: true };
            response.verdict(&Meta::default(), 0.5, is_forced, DropReason::FORCED)
        };
        let (accept, drop) = (Verdict::Accept, Verdict::Drop(DropReason::FORCED));
        assert_eq!(
            [(true, false), (true, true), (false, false), (false, true)].map(|(f, i)| verdict(f, i)),
            [accept, accept, accept, drop,]
        );
    }
}
