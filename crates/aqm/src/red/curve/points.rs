use super::CurvePart;
use crate::plugin::CurveNumbers;
use crate::red::part::Part;
#[cfg(test)]
use crate::red::part::tests::Change;
use crate::spec::ParameterReader;
use crate::{Parameter, ParameterError, Value, ValueKind};

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

    /// The average from which p_b stays as it is.
    fn max_th(&self) -> f64 {
        self.points[self.points.len() - 1].0
    }
}

impl Part for Points {
    const NAME: &'static str = "points";
    const DOC: &'static str = "straight lines between points that are given";
    const PARAMETERS: &'static [Parameter] =
        &[Parameter::new("points", "", ValueKind::Points, "the drop profile of curve \"points\"")];

    fn needs() -> Vec<(&'static str, Value)> {
        vec![("points", Value::Points(vec![(5.0, 0.0), (15.0, 0.1), (30.0, 1.0)]))]
    }

    #[cfg(test)]
    fn changes() -> Vec<Change> {
        vec![Change::to("points", Value::Points(vec![(2.0, 0.0), (10.0, 1.0)]))]
    }
}

impl CurvePart for Points {
    const HAS_THRESHOLDS: bool = false;

    fn read(reader: &mut ParameterReader<'_>, _: &CurveNumbers) -> Result<Self, ParameterError> {
        let points = reader.points("points").ok_or_else(|| {
            let message = "curve \"points\" needs its points".into();
            ParameterError::new("points", message, "[[5, 0.0], [15, 0.1], [30, 1.0]]")
        })?;
        Ok(Self::new(points.to_vec()))
    }

    fn p_b(&self, avg: f64) -> f64 {
        let after = self.points.partition_point(|&(x, _)| x <= avg);
        match (after.checked_sub(1).map(|i| self.points[i]), self.points.get(after)) {
            (None, _) => 0.0,
            (Some((_, p)), None) => p,
            (Some((x0, p0)), Some(&(x1, p1))) => p0 + (p1 - p0) * (avg - x0) / (x1 - x0),
        }
    }

    fn knots(&self) -> Vec<f64> {
        let min_th = self.min_th();
        self.points.iter().map(|&(x, _)| x).filter(|&x| x >= min_th).collect()
    }

    fn end(&self) -> f64 {
        self.points[self.points.len() - 1].0
    }

    fn thresholds(&self) -> (f64, f64) {
        (self.min_th(), self.max_th())
    }

    /// The last average up to which p_b is 0.
    fn min_th(&self) -> f64 {
        let zeros = self.points.iter().take_while(|&&(_, p)| p == 0.0).count();
        self.points[zeros.saturating_sub(1)].0
    }

    fn max_p(&self) -> f64 {
        self.p_b(self.max_th())
    }

    fn set_max_p(&mut self, _: f64) {}

    fn set_thresholds(&mut self, _: f64, _: f64) {}

    #[cfg(test)]
    fn sample(numbers: CurveNumbers) -> Self {
        let CurveNumbers { min_th, max_th, max_p, limit } = numbers;
        Self::new(vec![(min_th, 0.0), (max_th, max_p), (limit, 1.0)])
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
