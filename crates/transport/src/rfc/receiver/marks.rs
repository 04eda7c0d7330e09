//! The receiver's reports of marked packets.
//!
//! | feedback | report | source |
//! |---|---|---|
//! | classic | the echo, on all acknowledgements from a mark until a segment says CWR | RFC 3168, section 6.1.3 |
//! | dctcp | the echo, if the segments that an acknowledgement answers were marked | RFC 8257, section 3.2 |
//! | accurate | how many packets were marked, modulo 8 | RFC 9768, section 3.2.2 |
//!
//! # When
//! - classic: as in Linux, a first mark and CWR are acknowledged at once, since the sender's window may be small.
//! - dctcp: where marks begin or end, a segment is answered at once, and earlier unanswered segments are acknowledged
//!   first (the second is RFC 8257's MAY, which Linux does), so that each acknowledgement answers segments of one kind.
//! - accurate: the first mark after an unmarked packet, and every second unreported one, are acknowledged at once
//!   (section 3.2.2.5.1, which allows 2 to 7 for data).

use crate::Data;
use crate::rfc::EcnFeedback;

/// Number of acknowledgements not delayed after the first mark (Linux).
const QUICK_AFTER_MARK: u32 = 2;
/// Number of unreported marks that trigger an immediate acknowledgement.
const MAX_UNREPORTED: u32 = 2;

/// How the mark of a packet expedites its acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Urgency {
    /// Number of acknowledgements that must not be delayed.
    pub quick: u32,
    /// Whether this acknowledgement must not be delayed.
    pub now: bool,
}

/// The marks that one receiver has seen.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    feedback: EcnFeedback,
    /// Classic: a mark has been seen that awaits the sender's CWR. Otherwise: the last packet was marked.
    seen: bool,
    /// Marked packets (r.cep), and how many of them no acknowledgement has reported.
    count: u64,
    unreported: u32,
}

impl Marks {
    pub fn new(feedback: EcnFeedback) -> Self {
        Self { feedback, seen: false, count: 0, unreported: 0 }
    }

    /// Return whether a data packet may change the state of marks, or expedite its acknowledgement; with accurate
    /// feedback also whether anything was ever marked. If not, its acknowledgement has an ACE field of 0.
    #[inline]
    pub fn may_change(&self, data: &Data, ce: bool) -> bool {
        let marked = ce && data.ect();
        match self.feedback {
            EcnFeedback::Off | EcnFeedback::Classic => {
                if self.seen {
                    data.cwr()
                } else {
                    marked
                }
            }
            EcnFeedback::Dctcp => marked != self.seen,
            EcnFeedback::Accurate => marked || self.count > 0,
        }
    }

    /// Return whether a packet's mark differs from those before, so that those must be acknowledged separately.
    pub fn ends_run(&self, data: &Data, ce: bool) -> bool {
        self.feedback == EcnFeedback::Dctcp && !data.syn() && (ce && data.ect()) != self.seen
    }

    /// Record a data packet and return how its mark expedites the acknowledgement.
    pub fn take(&mut self, data: &Data, ce: bool) -> Urgency {
        let marked = ce && data.ect();
        match self.feedback {
            EcnFeedback::Off | EcnFeedback::Classic => self.take_classic(data, marked),
            EcnFeedback::Dctcp => {
                let changes = core::mem::replace(&mut self.seen, marked) != marked;
                Urgency { quick: 0, now: changes }
            }
            EcnFeedback::Accurate => {
                self.count += u64::from(marked);
                self.unreported += u32::from(marked);
                let first = marked && !core::mem::replace(&mut self.seen, marked);
                Urgency { quick: 0, now: first || self.unreported >= MAX_UNREPORTED }
            }
        }
    }

    fn take_classic(&mut self, data: &Data, marked: bool) -> Urgency {
        let reduced = data.cwr() && core::mem::take(&mut self.seen);
        let first = marked && !self.seen;
        self.seen |= marked;
        Urgency { quick: if first { QUICK_AFTER_MARK } else { 0 }, now: reduced }
    }

    /// Return the ECN echo of the next acknowledgement.
    pub fn echo(&self) -> bool {
        self.seen && self.feedback != EcnFeedback::Accurate
    }

    /// Record that an acknowledgement is sent, and return its ACE field: the marked packets modulo 8.
    pub fn report(&mut self) -> u8 {
        self.unreported = 0;
        (self.count % 8) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DataFlags;
    use aqmlab_units::Time;

    fn data(flags: DataFlags) -> Data {
        Data { sent: Time::ZERO, seq: 1, bytes: 1500, flags }
    }

    #[test]
    fn accurate_feedback_counts_modulo_eight() {
        let mut marks = Marks::new(EcnFeedback::Accurate);
        let ect = data(DataFlags::ECT);
        let now = |marks: &mut Marks, ce| marks.take(&ect, ce).now;
        assert!(!now(&mut marks, false));
        assert_eq!((now(&mut marks, true), marks.report()), (true, 1));
        assert_eq!((now(&mut marks, true), now(&mut marks, true)), (false, true));
        assert_eq!((marks.report(), marks.echo()), (3, false));
        for _ in 0..6 {
            marks.take(&ect, true);
        }
        assert_eq!(marks.report(), 1);
        marks.take(&data(DataFlags::NONE), true);
        assert_eq!(marks.report(), 1, "not capable, so not marked");
    }

    #[test]
    fn dctcps_echo_is_that_of_the_last_packet() {
        let mut marks = Marks::new(EcnFeedback::Dctcp);
        let ect = data(DataFlags::ECT);
        let mut found = Vec::new();
        for ce in [false, true, true, false] {
            found.push((marks.ends_run(&ect, ce), marks.take(&ect, ce), marks.echo()));
        }
        let [later, now] = [false, true].map(|now| Urgency { quick: 0, now });
        assert_eq!(
            found,
            [(false, later, false), (true, now, true), (false, later, true), (true, now, false)]
        );
    }
}
