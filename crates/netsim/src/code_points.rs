//! Counters of each code point at an observed link.

/// The counters of a code point over the measured part of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodePoint {
    /// Packets offered to the queue.
    pub arrivals: u64,
    /// Bytes offered to the queue.
    pub arrived_bytes: u64,
    /// Packets whose transmission started.
    pub departures: u64,
    /// Their bytes.
    pub departed_bytes: u64,
    /// Drops.
    pub drops: u64,
    /// Marks.
    pub marks: u64,
}

impl CodePoint {
    #[inline]
    pub(crate) fn arrived(&mut self, bytes: u32) {
        self.arrivals += 1;
        self.arrived_bytes += u64::from(bytes);
    }

    #[inline]
    pub(crate) fn departed(&mut self, bytes: u32) {
        self.departures += 1;
        self.departed_bytes += u64::from(bytes);
    }

    /// Take a departure back.
    pub(crate) fn take_back(&mut self, bytes: u32) {
        self.departures -= 1;
        self.departed_bytes -= u64::from(bytes);
    }
}

/// All code points, 0 to 63.
#[derive(Clone, Debug)]
pub(crate) struct CodePoints([CodePoint; 64]);

impl Default for CodePoints {
    fn default() -> Self {
        Self([CodePoint::default(); 64])
    }
}

impl CodePoints {
    /// The six bits of a code point (RFC 2474, section 3).
    #[inline]
    pub fn at(&mut self, dscp: u8) -> &mut CodePoint {
        &mut self.0[usize::from(dscp & 63)]
    }

    /// Return the code points with arrivals, by number.
    pub fn with_arrivals(&self) -> impl Iterator<Item = (u8, CodePoint)> {
        (0..).zip(self.0).filter(|(_, c)| c.arrivals > 0)
    }
}
