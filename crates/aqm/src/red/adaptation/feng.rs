use crate::red::curve::Curve;

/// Feng's self-configuring RED (W. Feng, D. Kandlur, D. Saha and K. Shin, "A Self-Configuring RED Gateway", INFOCOM
/// 1999, figure 4): max_p falls when the average sinks below min_th and rises when it climbs above max_th.
///
/// ```text
/// min_th < avg < max_th                      status <- between
/// avg < min_th and status is not below       status <- below,  max_p <- max_p/alpha
/// avg > max_th and status is not above       status <- above,  max_p <- max_p beta
/// ```
///
/// | symbol | field | unit | paper | allowed |
/// |---|---|---|---|---|
/// | alpha | `alpha` | 1 | 3 | > 1 |
/// | beta | `beta` | 1 | 2 | > 1 |
///
/// Readings: the paper bounds max_p by nothing, a probability must end at 1; `max_p_low` and `max_p_high` are bounds
/// of choice. max_p is changed before the arriving packet is judged, as in ns-2.35 (`queue/red.cc`, `updateMaxPFeng`).
#[derive(Clone, Debug)]
pub struct Feng {
    /// Divisor of max_p.
    pub alpha: f64,
    /// Factor of max_p.
    pub beta: f64,
    /// Bounds of max_p.
    pub bounds: (f64, f64),
    status: Status,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Below,
    Between,
    Above,
}

impl Feng {
    /// Status *between* at first.
    pub fn new(alpha: f64, beta: f64, bounds: (f64, f64)) -> Self {
        Self { alpha, beta, bounds, status: Status::Between }
    }

    /// The average has a new value.
    pub(super) fn on_average(&mut self, average: f64, curve: &mut Curve) {
        let (min_th, max_th) = curve.thresholds();
        let status = if average < min_th {
            Status::Below
        } else if average > max_th {
            Status::Above
        } else if average > min_th && average < max_th {
            Status::Between
        } else {
            return;
        };
        let max_p = match status {
            Status::Below if self.status != Status::Below => curve.max_p() / self.alpha,
            Status::Above if self.status != Status::Above => curve.max_p() * self.beta,
            _ => curve.max_p(),
        };
        if status != self.status {
            curve.set_max_p(max_p.clamp(self.bounds.0, self.bounds.1));
        }
        self.status = status;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::red::curve::Linear;

    #[test]
    fn by_hand() {
        let mut curve = Curve::Linear(Linear { min_th: 5.0, max_th: 15.0, max_p: 0.12 });
        let mut feng = Feng::new(3.0, 2.0, (0.03, 0.1));
        let mut at = |average: f64| {
            feng.on_average(average, &mut curve);
            (curve.max_p() * 1e6).round() / 1e6
        };
        // Nothing happens at a threshold itself, nor while the average stays on its side.
        assert_eq!([5.0, 10.0, 15.0].map(&mut at), [0.12, 0.12, 0.12]);
        assert_eq!([4.9, 4.0, 5.0, 4.0], [4.9, 4.0, 5.0, 4.0]);
        assert_eq!([4.9, 4.0, 5.0, 4.0].map(&mut at), [0.04, 0.04, 0.04, 0.04]);
        assert_eq!([6.0, 4.0].map(&mut at), [0.04, 0.03]);
        assert_eq!([16.0, 20.0, 15.0, 16.0].map(&mut at), [0.06, 0.06, 0.06, 0.06]);
        assert_eq!([14.0, 16.0].map(&mut at), [0.06, 0.1]);
        // From below to above at once, and back.
        assert_eq!([4.0, 16.0, 4.0].map(&mut at), [0.033_333, 0.066_667, 0.03]);
    }
}
