/// A drop profile: straight lines between points (average in packets, p_b), as routers with interpolated
/// fill-level and drop-probability pairs have it.
///
/// 0 before the first point, the last p_b after the last; two points at one average make a jump.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    points: Box<[(f64, f64)]>,
}

impl Points {
    /// The profile through `points`: at least two, averages not falling, p_b not falling and in [0, 1].
    pub fn new(points: Vec<(f64, f64)>) -> Self {
        debug_assert!(points.len() >= 2);
        Self { points: points.into() }
    }

    /// The last average up to which p_b is 0.
    pub(super) fn min_th(&self) -> f64 {
        let zeros = self.points.iter().take_while(|&&(_, p)| p == 0.0).count();
        self.points[zeros.saturating_sub(1)].0
    }

    /// The average from which p_b stays as it is.
    pub(super) fn max_th(&self) -> f64 {
        self.points[self.points.len() - 1].0
    }

    pub(super) fn p_b(&self, avg: f64) -> f64 {
        let after = self.points.partition_point(|&(x, _)| x <= avg);
        match (after.checked_sub(1).map(|i| self.points[i]), self.points.get(after)) {
            (None, _) => 0.0,
            (Some((_, p)), None) => p,
            (Some((x0, p0)), Some(&(x1, p1))) => p0 + (p1 - p0) * (avg - x0) / (x1 - x0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let c = Points::new(vec![(10.0, 0.0), (30.0, 0.1), (30.0, 0.5), (60.0, 1.0)]);
        assert_eq!(c.p_b(0.0), 0.0);
        assert_eq!(c.p_b(20.0), 0.05);
        assert_eq!(c.p_b(30.0), 0.5);
        assert_eq!(c.p_b(45.0), 0.75);
        assert_eq!(c.p_b(61.0), 1.0);
        assert_eq!(c.min_th(), 10.0);
    }

    #[test]
    fn flat_start() {
        let c = Points::new(vec![(0.0, 0.0), (10.0, 0.0), (20.0, 1.0)]);
        assert_eq!(c.min_th(), 10.0);
        assert_eq!(c.p_b(15.0), 0.5);
    }
}
