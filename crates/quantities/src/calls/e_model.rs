//! The E-model (ITU-T Recommendation G.107), which rates calls by their delay and loss, with default values for all else.
//!
//! As in R. G. Cole and J. H. Rosenbluth, "Voice over IP Performance Monitoring", ACM CCR 31(2), 2001:
//!
//! ```text
//! R       = 94.2 - I_d - I_e,eff
//! I_d     = 0.024 d + 0.11 (d - 177.3) H(d - 177.3)              d: mouth to ear in ms, H: 0 below 0, else 1
//! I_e,eff = I_e + (95 - I_e) Ppl / (Ppl / BurstR + Bpl)          G.107, 7.5; Ppl: loss in %
//! I_e,eff = 30 ln(1 + 15 e)                                      Cole and Rosenbluth for G.711, random loss; e: share
//! MOS     = 1 + 0.035 R + 7e-6 R (R - 60) (100 - R)              G.107, Annex B; 1 below 0, 4.5 above 100
//! ```
//!
//! For G.711 I_e = 0, and Bpl = 25.1 with concealment of losses (G.711 Appendix I), 4.3 without (G.113, Appendix I).

/// The least and the greatest mean opinion score (G.107, Annex B).
pub const WORST: f64 = 1.0;
/// The greatest mean opinion score.
pub const BEST: f64 = 4.5;

/// How loss impairs a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossModel {
    /// G.107 with concealment of losses.
    #[default]
    G107,
    /// G.107 without concealment.
    NoConcealment,
    /// The fit of Cole and Rosenbluth, random loss.
    ColeRosenbluth,
}

impl LossModel {
    /// All models.
    pub const ALL: [Self; 3] = [Self::G107, Self::NoConcealment, Self::ColeRosenbluth];

    /// Return its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::G107 => "g107",
            Self::NoConcealment => "g107-no-concealment",
            Self::ColeRosenbluth => "cole-rosenbluth",
        }
    }
}

/// I_d, of the delay from mouth to ear in s.
///
/// ```
/// use aqmlab_quantities::calls::e_model::delay_impairment;
/// assert_eq!(delay_impairment(0.1), 2.4);
/// assert!((delay_impairment(0.2773) - 17.6552).abs() < 1e-12); // 0.024 * 277.3 + 0.11 * 100
/// ```
pub fn delay_impairment(mouth_to_ear_s: f64) -> f64 {
    let d = mouth_to_ear_s * 1e3;
    0.024 * d + 0.11 * (d - 177.3).max(0.0)
}

/// I_e,eff of G.711 with this share of packets not played. `burst_ratio` is BurstR of G.107: 1 for random losses, more where
/// they come in bursts; the fit of Cole and Rosenbluth does not use it.
pub fn loss_impairment(loss: f64, model: LossModel, burst_ratio: f64) -> f64 {
    let of_g107 = |bpl: f64| {
        let percent = 100.0 * loss;
        95.0 * percent / (percent / burst_ratio + bpl)
    };
    match model {
        LossModel::G107 => of_g107(25.1),
        LossModel::NoConcealment => of_g107(4.3),
        LossModel::ColeRosenbluth => 30.0 * libm::log(1.0 + 15.0 * loss),
    }
}

/// R, the transmission rating factor.
pub fn rating(mouth_to_ear_s: f64, loss: f64, model: LossModel, burst_ratio: f64) -> f64 {
    94.2 - delay_impairment(mouth_to_ear_s) - loss_impairment(loss, model, burst_ratio)
}

/// MOS, the mean opinion score of a rating.
///
/// ```
/// use aqmlab_quantities::calls::e_model::opinion;
/// assert_eq!([-5.0, 0.0, 50.0, 100.0, 101.0].map(opinion), [1.0, 1.0, 2.575, 4.5, 4.5]);
/// assert_eq!(opinion(80.0), 1.0 + 2.8 + 0.224); // 7e-6 * 80 * 20 * 20
/// ```
pub fn opinion(r: f64) -> f64 {
    if r <= 0.0 {
        WORST
    } else if r >= 100.0 {
        BEST
    } else {
        1.0 + 0.035 * r + 7e-6 * r * (r - 60.0) * (100.0 - r)
    }
}

/// BurstR: the mean length of runs of lost packets over that of random losses, `1 / (1 - loss)`; at least 1.
///
/// ```
/// use aqmlab_quantities::calls::e_model::burst_ratio;
/// let lost = [false, true, true, false, false, false, false, false];
/// assert_eq!(burst_ratio(&lost), 1.5); // 2 * (1 - 2/8)
/// ```
pub fn burst_ratio(lost: &[bool]) -> f64 {
    let gone = lost.iter().filter(|&&lost| lost).count();
    if gone == 0 || gone == lost.len() {
        return 1.0;
    }
    let begins = lost.windows(2).filter(|pair| pair[1] && !pair[0]).count() + usize::from(lost[0]);
    (gone as f64 / begins as f64 * (1.0 - gone as f64 / lost.len() as f64)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_by_hand() {
        let near = |found: f64, due: f64| assert!((found / due - 1.0).abs() < 1e-12, "{found} {due}");
        // 150 ms and no loss: 94.2 - 3.6. 277.3 ms: 0.024 * 277.3 + 0.11 * 100 = 17.6552.
        near(rating(0.15, 0.0, LossModel::G107, 1.0), 90.6);
        near(rating(0.2773, 0.0, LossModel::G107, 1.0), 94.2 - 17.6552);
        // 1 % of loss: 95 / (1 + 25.1), 95 / (1 + 4.3), 30 ln(1.15).
        near(loss_impairment(0.01, LossModel::G107, 1.0), 95.0 / 26.1);
        near(loss_impairment(0.01, LossModel::NoConcealment, 1.0), 95.0 / 5.3);
        near(loss_impairment(0.01, LossModel::ColeRosenbluth, 1.0), 30.0 * libm::log(1.15));
        // Twice as bursty: 95 / (1/2 + 25.1).
        near(loss_impairment(0.01, LossModel::G107, 2.0), 95.0 / 25.6);
        near(opinion(80.0), 1.0 + 2.8 + 0.224);
    }

    #[test]
    fn bursts_by_hand() {
        // Two of five in a row, where 1 / 0.6 are expected: 2 * 0.6.
        assert!((burst_ratio(&[false, false, true, true, false]) - 1.2).abs() < 1e-15);
        assert_eq!(burst_ratio(&[true, false, true, false]), 1.0);
        assert_eq!([burst_ratio(&[]), burst_ratio(&[true; 3]), burst_ratio(&[false; 3])], [1.0; 3]);
    }

    #[test]
    fn scores_fall_with_delay_and_loss() {
        let of = |d: f64, e: f64| rating(d, e, LossModel::G107, 1.0);
        for loss in [0.0, 0.01, 0.1] {
            assert!([0.0, 0.1, 0.2, 0.4].map(|d| of(d, loss)).is_sorted_by(|a, b| a > b));
        }
        for delay in [0.0, 0.1, 0.2, 0.4] {
            assert!([0.0, 0.01, 0.1].map(|e| of(delay, e)).is_sorted_by(|a, b| a > b));
        }
        let opinions: Vec<_> = (7..100).map(|r| opinion(f64::from(r))).collect();
        assert!(opinions.is_sorted_by(|a, b| a < b));
    }
}
