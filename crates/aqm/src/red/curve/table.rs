use super::Curve;

/// p_b = 1 in integers.
pub const ONE: u32 = 1 << 31;

/// A curve as a table over an average in integers, linear between its points, so that a kernel can compute it.
///
/// The segments lie between the averages at which the curve jumps or bends, so that neither is smoothed. A segment has
/// one cell where the curve is straight, else [`CELLS`] of equal width.
///
/// ```text
/// z   <- ((x - from) scale) >> shift                     x = avg 2^fraction, z in cells times 2^24
/// p_b <- t[i] + ((t[i + 1] - t[i]) f) >> 24              i, f = whole part and fraction of z
/// ```
///
/// | symbol | field | unit |
/// |---|---|---|
/// | x | | 2^-fraction packets, or bytes in byte mode |
/// | p_b, t | `points` | 2^-31 |
#[derive(Clone, Debug, PartialEq)]
pub struct CurveTable {
    /// x of an average of one packet: 2^fraction, in byte mode times the mean packet.
    pub unit: f64,
    /// x from which p_b is not 0.
    pub begin: u64,
    /// x from which p_b is `above`.
    pub end: u64,
    /// p_b from `end` on.
    pub above: u32,
    /// The segments from `begin` to `end`, in order.
    pub segments: Vec<Segment>,
    /// p_b at the ends of all cells, segment by segment; it never falls.
    pub points: Vec<u32>,
}

/// A part of a curve without jumps and bends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// x where it begins.
    pub from: u64,
    /// Cells times 2^24 in a unit of x, times 2^shift.
    pub scale: u64,
    /// Binary point of `scale`.
    pub shift: u32,
    /// Its first point.
    pub first: u32,
}

impl Segment {
    /// The segment from one x to another above it, of so many cells, a power of 2.
    fn new((from, to): (u64, u64), cells: u64, first: u32) -> Self {
        // A position has at most 62 bits.
        let shift = 62 - CELL_FRACTION - cells.ilog2();
        let scale = ((u128::from(cells) << (CELL_FRACTION + shift)) / u128::from(to - from)) as u64;
        Self { from, scale, shift, first }
    }
}

/// Cells of a segment that is not straight.
pub const CELLS: u64 = 256;
/// Binary point of a position in a cell.
const CELL_FRACTION: u32 = 24;
/// Most segments; a curve with more bends is one segment, whose bends are smoothed.
const MOST_SEGMENTS: usize = 8;
/// Averages at which the distance to the curve is computed, in each cell.
const CHECKED: u64 = 64;

impl CurveTable {
    /// The table of a curve; see [`CurveTable::unit`].
    pub fn new(curve: &Curve, unit: f64) -> Self {
        let mut knots = curve.knots();
        knots.dedup();
        if knots.len() > MOST_SEGMENTS + 1 {
            knots = vec![knots[0], knots[knots.len() - 1]];
        }
        let x_of = |average: f64| libm::ceil(average * unit) as u64;
        let (first, last) = (knots[0], knots[knots.len() - 1]);
        let mut table = Self {
            unit,
            begin: x_of(first),
            end: x_of(last),
            above: fixed(curve.p_b(last)),
            segments: Vec::new(),
            points: Vec::new(),
        };
        for ends in knots.windows(2) {
            let (from, to) = (x_of(ends[0]), x_of(ends[1]));
            if from < to {
                table.add_segment(curve, (from, to), ends[1].next_down());
            }
        }
        // Rounding, or a parabola that falls, must not make it fall.
        for i in 1..table.points.len() {
            table.points[i] = table.points[i].max(table.points[i - 1]);
        }
        table.above = table.above.max(table.points.last().copied().unwrap_or(0));
        table
    }

    /// Add the segment from one x to another; the curve is followed up to the average `last`.
    fn add_segment(&mut self, curve: &Curve, (from, to): (u64, u64), last: f64) {
        let unit = self.unit;
        let p_at = |share: f64| {
            let x = from as f64 + share * (to - from) as f64;
            fixed(curve.p_b((x / unit).min(last)))
        };
        let (p0, p1) = (f64::from(p_at(0.0)), f64::from(p_at(1.0)));
        // The ends are rounded up to whole x, by less than 1, and p_b by less than 1.
        let rounding = 2.0 + (p1 - p0).abs() / (to - from) as f64;
        let is_straight = (1..16).all(|i| {
            let share = f64::from(i) / 16.0;
            (f64::from(p_at(share)) - p0 - share * (p1 - p0)).abs() <= rounding
        });
        let cells = if is_straight { 1 } else { CELLS };
        self.segments.push(Segment::new((from, to), cells, self.points.len() as u32));
        self.points.extend((0..=cells).map(|i| p_at(i as f64 / cells as f64)));
    }

    /// Set p_b at max_th, in units of 2^-31, of a curve that is straight up to there; the curve above begins there too if it
    /// `moves`.
    pub fn set_max_p(&mut self, max_p: u32, moves: bool) {
        self.points[1] = max_p;
        if moves && self.points.len() > 2 {
            self.points[2] = max_p;
        }
    }

    /// x of max_th, of a curve that is straight up to there, and from there to twice max_th or 1.
    pub fn max_th(&self) -> u64 {
        self.segments.get(1).map_or(self.end, |segment| segment.from)
    }

    /// Set x of min_th and of max_th, of such a curve.
    pub fn set_thresholds(&mut self, min_th: u64, max_th: u64) {
        (self.begin, self.end) = (min_th, max_th);
        self.segments[0] = Segment::new((min_th, max_th), 1, 0);
        if let Some(above) = self.segments.get_mut(1) {
            self.end = 2 * max_th;
            *above = Segment::new((max_th, self.end), 1, above.first);
        }
    }

    /// p_b at an average, in units of 2^-31; `None` where a packet is neither dropped nor counted.
    #[inline(never)]
    pub fn p_b(&self, x: u64) -> Option<u32> {
        if x < self.begin {
            return None;
        }
        if x >= self.end {
            return Some(self.above);
        }
        let mut i = 0;
        while i + 1 < self.segments.len() && x >= self.segments[i + 1].from {
            i += 1;
        }
        let segment = &self.segments[i];
        let z = ((x - segment.from) * segment.scale) >> segment.shift;
        let cell = segment.first as usize + (z >> CELL_FRACTION) as usize;
        // An adaptation never moves a point above the next of its segment.
        let rise = u64::from(self.points[cell + 1] - self.points[cell]);
        Some(self.points[cell] + ((rise * (z & ((1 << CELL_FRACTION) - 1))) >> CELL_FRACTION) as u32)
    }

    /// The largest difference between this table and the curve that it was made from, over all averages.
    pub fn largest_error(&self, curve: &Curve) -> f64 {
        let error = |x: u64| {
            let p_b = f64::from(self.p_b(x).unwrap_or(0)) / f64::from(ONE);
            (p_b - curve.p_b(x as f64 / self.unit)).abs()
        };
        let ends = self.segments.iter().map(|s| s.from).skip(1).chain([self.end]);
        let mut largest = error(self.begin.saturating_sub(1)).max(error(self.end));
        for (segment, to) in self.segments.iter().zip(ends) {
            let steps = CELLS * CHECKED;
            let width = to - segment.from;
            let at = |i: u64| segment.from + (u128::from(width) * u128::from(i) / u128::from(steps)) as u64;
            largest = (0..steps).map(at).chain([to - 1]).map(error).fold(largest, f64::max);
        }
        largest
    }
}

/// A probability in units of 2^-31.
pub fn fixed(p: f64) -> u32 {
    libm::round(p * f64::from(ONE)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::red::curve::{Exred, Gentle, Linear, Mred, Nlred, Points};
    use proptest::prelude::*;

    const UNIT: f64 = 65536.0;

    fn at(table: &CurveTable, average: f64) -> Option<f64> {
        table.p_b((average * UNIT) as u64).map(|p| f64::from(p) / f64::from(ONE))
    }

    #[test]
    fn red_by_hand() {
        let curve = Curve::from(Linear { min_th: 10.0, max_th: 30.0, max_p: 0.5 });
        let table = CurveTable::new(&curve, UNIT);
        assert_eq!((table.segments.len(), table.points.len()), (1, 2));
        assert_eq!(at(&table, 9.999), None);
        assert_eq!(at(&table, 10.0), Some(0.0));
        for (average, p) in [(15.0, 0.125), (20.0, 0.25), (29.99, 0.49975)] {
            assert!((at(&table, average).expect("above min_th") - p).abs() < 1e-6, "{average}");
        }
        assert_eq!((at(&table, 30.0), at(&table, 1e6)), (Some(1.0), Some(1.0)));
    }

    #[test]
    fn a_straight_segment_has_one_cell_and_a_parabola_256() {
        let points = |curve: Curve| CurveTable::new(&curve, UNIT).points.len();
        assert_eq!(points(Gentle::new(10.0, 30.0, 0.1).into()), 4);
        assert_eq!(points(Mred { min_th: 10.0, max_th: 30.0, max_p: 0.1 }.into()), 257 + 2);
        assert_eq!(points(Exred::new(10.0, 30.0, 100.0, 0.1).into()), 2 + 257);
    }

    #[test]
    fn jumps_and_bends_are_kept() {
        let points = vec![(10.0, 0.0), (30.0, 0.125), (30.0, 0.5), (60.0, 1.0)];
        let table = CurveTable::new(&Points::new(points).into(), UNIT);
        let near = |average, p: f64| (at(&table, average).expect("above min_th") - p).abs() < 1e-4;
        assert!(near(29.9999, 0.125) && near(30.0, 0.5) && near(45.0, 0.75) && near(60.0, 1.0));
        // From the first point on with a chance of its own.
        let table = CurveTable::new(&Points::new(vec![(5.0, 0.25), (9.0, 0.25)]).into(), UNIT);
        assert_eq!([4.9, 5.0, 7.0, 99.0].map(|x| at(&table, x)), [None, Some(0.25), Some(0.25), Some(0.25)]);
    }

    #[test]
    fn the_error_of_the_papers_curves_is_that_of_a_chord() {
        for curve in [
            Curve::from(Linear { min_th: 10.0, max_th: 30.0, max_p: 0.1 }),
            Gentle::new(10.0, 30.0, 0.1).into(),
            Mred { min_th: 10.0, max_th: 30.0, max_p: 0.1 }.into(),
            Exred::new(10.0, 30.0, 100.0, 0.1).into(),
            Nlred { min_th: 10.0, max_th: 30.0, max_p: 0.1 }.into(),
        ] {
            let error = CurveTable::new(&curve, UNIT).largest_error(&curve);
            // A chord of a parabola a2 x^2 over a cell of width h is off by a2 h^2/4. ExRED's: 11/98000 (70/256)^2/4.
            assert!(error < 2.1e-6, "{curve:?}: {error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn a_line_between_thresholds_of_any_fraction_is_one_cell(
            min_th in 0.1f64..200.0, width in 1.0f64..300.0, max_p in 0.001f64..1.0,
            unit in prop::sample::select(vec![UNIT, UNIT * 1000.0, 16.0]),
        ) {
            let max_th = min_th + width;
            let points = |curve: Curve| CurveTable::new(&curve, unit).points.len();
            prop_assert_eq!(points(Linear { min_th, max_th, max_p }.into()), 2);
            prop_assert_eq!(points(Gentle::new(min_th, max_th, max_p).into()), 4);
        }

        #[test]
        fn a_table_never_falls_and_stays_within_its_error(
            (name, curve) in super::super::tests::any_curve(),
            unit in prop::sample::select(vec![UNIT, UNIT * 1000.0, 16.0]),
            averages in prop::collection::vec(0.0f64..500.0, 2..200),
        ) {
            let table = CurveTable::new(&curve, unit);
            let bound = table.largest_error(&curve);
            let mut xs: Vec<_> = averages.iter().map(|a| (a * unit) as u64).collect();
            xs.sort_unstable();
            let mut last = 0;
            for x in xs {
                let p = table.p_b(x).unwrap_or(0);
                prop_assert!(p <= ONE && p >= last, "{name} at {x}");
                let error = (f64::from(p) / f64::from(ONE) - curve.p_b(x as f64 / unit)).abs();
                // The bound is the largest at 16,384 averages of each segment.
                prop_assert!(error <= 1.01 * bound + 1e-6, "{name} at {x}: {error}, bound {bound}");
                last = p;
            }
        }
    }
}
