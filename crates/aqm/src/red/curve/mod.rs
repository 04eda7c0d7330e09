//! The curve: the probability p_b as a function of the average.
//!
//! Every curve is one small file with its formula, and one line in [`Curve`]. All are non-decreasing, stay in
//! [0, 1], and take the average in packets.

mod double_slope;
mod exred;
mod gentle;
mod linear;
mod mred;
mod nlred;
mod points;

pub use double_slope::DoubleSlope;
pub use exred::Exred;
pub use gentle::Gentle;
pub use linear::Linear;
pub use mred::Mred;
pub use nlred::Nlred;
pub use points::Points;

/// The curves to choose from.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// Classic RED.
    Linear(Linear),
    /// Gentle RED.
    Gentle(Gentle),
    /// MRED: quadratic, then linear.
    Mred(Mred),
    /// ExRED: linear, then quadratic up to the end of the buffer.
    Exred(Exred),
    /// Nonlinear RED.
    Nlred(Nlred),
    /// DSRED: two slopes that meet in the middle.
    DoubleSlope(DoubleSlope),
    /// Piecewise-linear from points.
    Points(Points),
}

impl Curve {
    /// p_b for an average of `avg` packets, in [0, 1].
    #[inline]
    pub fn p_b(&self, avg: f64) -> f64 {
        match self {
            Self::Linear(c) => c.p_b(avg),
            Self::Gentle(c) => c.p_b(avg),
            Self::Mred(c) => c.p_b(avg),
            Self::Exred(c) => c.p_b(avg),
            Self::Nlred(c) => c.p_b(avg),
            Self::DoubleSlope(c) => c.p_b(avg),
            Self::Points(c) => c.p_b(avg),
        }
    }

    /// min_th and max_th in packets: what an adaptation moves.
    pub fn thresholds(&self) -> (f64, f64) {
        match self {
            Self::Linear(c) => (c.min_th, c.max_th),
            Self::Gentle(c) => (c.min_th, c.max_th),
            Self::Mred(c) => (c.min_th, c.max_th),
            Self::Exred(c) => (c.k_l, c.k_h),
            Self::Nlred(c) => (c.min_th, c.max_th),
            Self::DoubleSlope(c) => (c.min_th, c.max_th),
            Self::Points(c) => (c.min_th(), c.max_th()),
        }
    }

    /// p_b at max_th; of two slopes, where they meet.
    pub fn max_p(&self) -> f64 {
        match self {
            Self::Linear(c) => c.max_p,
            Self::Gentle(c) => c.max_p,
            Self::Mred(c) => c.max_p,
            Self::Exred(c) => c.max_p,
            Self::Nlred(c) => c.max_p,
            Self::DoubleSlope(c) => c.max_p,
            Self::Points(c) => c.p_b(c.max_th()),
        }
    }

    /// The same curve with another max_p, in [0, 1]. A curve through points stays as it is.
    pub fn set_max_p(&mut self, max_p: f64) {
        match self {
            Self::Linear(c) => c.max_p = max_p,
            Self::Gentle(c) => c.max_p = max_p,
            Self::Mred(c) => c.max_p = max_p,
            Self::Exred(c) => *c = Exred::new(c.k_l, c.k_h, c.k, max_p),
            Self::Nlred(c) => c.max_p = max_p,
            Self::DoubleSlope(c) => c.max_p = max_p,
            Self::Points(_) => {}
        }
    }

    /// The same curve between other thresholds, 0 < min_th < max_th. A curve through points stays as it is.
    pub fn set_thresholds(&mut self, min_th: f64, max_th: f64) {
        match self {
            Self::Linear(c) => (c.min_th, c.max_th) = (min_th, max_th),
            Self::Gentle(c) => (c.min_th, c.max_th) = (min_th, max_th),
            Self::Mred(c) => (c.min_th, c.max_th) = (min_th, max_th),
            Self::Exred(c) => *c = Exred::new(min_th, max_th, c.k, c.max_p),
            Self::Nlred(c) => (c.min_th, c.max_th) = (min_th, max_th),
            Self::DoubleSlope(c) => (c.min_th, c.max_th) = (min_th, max_th),
            Self::Points(_) => {}
        }
    }

    /// The average in packets below which p_b is 0 and spacing starts anew.
    #[inline]
    pub fn min_th(&self) -> f64 {
        match self {
            Self::Linear(c) => c.min_th,
            Self::Gentle(c) => c.min_th,
            Self::Mred(c) => c.min_th,
            Self::Exred(c) => c.k_l,
            Self::Nlred(c) => c.min_th,
            Self::DoubleSlope(c) => c.min_th,
            Self::Points(c) => c.min_th(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_curve() -> impl Strategy<Value = Curve> {
        let max_p = prop_oneof![8 => 0.001f64..1.0, 1 => Just(0.0), 1 => Just(1.0)];
        (0.1f64..100.0, 0.1f64..100.0, max_p, 1.0f64..200.0, 0usize..7).prop_map(
            |(min_th, width, max_p, room, which)| {
                let (max_th, k) = (min_th + width, min_th + width + room);
                match which {
                    0 => Curve::Linear(Linear { min_th, max_th, max_p }),
                    1 => Curve::Gentle(Gentle { min_th, max_th, max_p }),
                    2 => Curve::Mred(Mred { min_th, max_th, max_p }),
                    3 => Curve::Exred(Exred::new(min_th, max_th, k, max_p * width / (width + room))),
                    5 => Curve::DoubleSlope(DoubleSlope { min_th, max_th, max_p }),
                    4 => Curve::Nlred(Nlred { min_th, max_th, max_p: max_p / 1.5 }),
                    _ => Curve::Points(Points::new(vec![(min_th, 0.0), (max_th, max_p), (k, 1.0)])),
                }
            },
        )
    }

    proptest! {
        #[test]
        fn monotone_and_a_probability(curve in any_curve(), mut xs in prop::collection::vec(0.0f64..500.0, 2..50)) {
            xs.sort_by(f64::total_cmp);
            let mut last = 0.0;
            for x in xs {
                let p = curve.p_b(x);
                prop_assert!((0.0..=1.0).contains(&p));
                // Rounding may take back an ulp where a curve is flat.
                prop_assert!(p >= last - 1e-15, "{p} after {last} at {x}");
                last = p;
            }
        }

        #[test]
        fn nothing_below_min_th(curve in any_curve(), part in 0.0f64..1.0) {
            prop_assert_eq!(curve.p_b(curve.min_th() * part * 0.999), 0.0);
        }
    }
}
