//! Classes: which set of parameters applies to a packet, and which packets its average measures.
//!
//! RIO (D. Clark and W. Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", IEEE/ACM Transactions on
//! Networking 6(4), 1998) keeps two sets of RED parameters: packets inside their profile are judged by the average of
//! the *in* packets alone, those outside by the average of all. WRED judges all classes by one average.
//!
//! | averages | class i is judged by | updated by arrivals of |
//! |---|---|---|
//! | `coupled` (RIO-C) | packets of classes 0 to i | classes 0 to i |
//! | `decoupled` (RIO-D) | packets of class i | class i |
//! | `shared` (WRED) | all packets | all classes |
//! | `summed` (Linux `sch_gred`, `grio`) | packets of class i, plus the averages of classes 0 to i - 1 that are not idle | class i |
//!
//! Class 0 is the most precious. Idle time of an average begins when none of the packets that it measures waits or is
//! transmitted.

use core::ops::Range;

/// The packets that the average of a class measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Averages {
    /// The packets of the class and of all more precious ones.
    #[default]
    Coupled,
    /// The packets of the class.
    Decoupled,
    /// All packets.
    Shared,
    /// The packets of the class; the averages of more precious classes are added where a packet is judged, unless they are idle.
    Summed,
}

impl Averages {
    /// All of them, as they stand in a scenario file.
    pub const ALL: [(&'static str, Self); 4] = [
        ("coupled", Self::Coupled),
        ("decoupled", Self::Decoupled),
        ("shared", Self::Shared),
        ("summed", Self::Summed),
    ];
}

/// The classes of a queue.
#[derive(Clone, Debug)]
pub struct Classes {
    /// Class of each code point.
    of: Box<[u8; 64]>,
    averages: Averages,
    count: usize,
}

impl Classes {
    /// `count` classes, at least one; `of` gives the class of each code point.
    pub fn new(count: usize, averages: Averages, of: [u8; 64]) -> Self {
        debug_assert!(of.iter().all(|&class| usize::from(class) < count));
        Self { of: Box::new(of), averages, count }
    }

    /// One class for all packets.
    pub fn one() -> Self {
        Self::new(1, Averages::Shared, [0; 64])
    }

    /// Return which packets the average of a class measures.
    pub fn measured(&self) -> Averages {
        self.averages
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The class of a packet with this code point.
    #[inline]
    pub fn of(&self, dscp: u8) -> usize {
        if self.count == 1 { 0 } else { usize::from(self.of[usize::from(dscp & 63)]) }
    }

    /// How many averages there are.
    pub fn averages(&self) -> usize {
        if self.averages == Averages::Shared { 1 } else { self.count }
    }

    /// The average by which a class is judged.
    #[inline]
    pub fn judged_by(&self, class: usize) -> usize {
        if self.averages == Averages::Shared { 0 } else { class }
    }

    /// Whether the packets of a class are measured by this average.
    #[inline]
    pub fn is_measured_by(&self, class: usize, average: usize) -> bool {
        self.count == 1 || self.measured_by(class).contains(&average)
    }

    /// The averages that measure the packets of a class.
    #[inline]
    pub fn measured_by(&self, class: usize) -> Range<usize> {
        match self.averages {
            Averages::Coupled => class..self.count,
            Averages::Decoupled | Averages::Summed => class..class + 1,
            Averages::Shared => 0..1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_measures_what() {
        let mut of = [2; 64];
        (of[10], of[12]) = (0, 1);
        let classes = |averages| Classes::new(3, averages, of);
        let c = classes(Averages::Coupled);
        assert_eq!((c.of(10), c.of(12), c.of(0)), (0, 1, 2));
        assert_eq!((c.measured_by(0), c.measured_by(2), c.judged_by(1), c.averages()), (0..3, 2..3, 1, 3));
        let d = classes(Averages::Decoupled);
        assert_eq!((d.measured_by(1), d.judged_by(1), d.averages()), (1..2, 1, 3));
        let added = classes(Averages::Summed);
        assert_eq!((added.measured_by(1), added.judged_by(1), added.averages()), (1..2, 1, 3));
        let s = classes(Averages::Shared);
        assert_eq!((s.measured_by(2), s.judged_by(2), s.averages()), (0..1, 0, 1));
    }
}
