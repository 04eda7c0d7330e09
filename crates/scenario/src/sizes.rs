//! Distributions of flow sizes that were measured, in bytes.

/// Names and points (bytes, probability), with straight lines between them.
pub(crate) const SIZES: [(&str, &[(f64, f64)]); 2] =
    [("web-search", WEB_SEARCH), ("data-mining", DATA_MINING)];

/// Flows of a cluster that answers web searches: M. Alizadeh, A. Greenberg, D. Maltz, J. Padhye, P. Patel, B. Prabhakar, S. Sengupta,
/// M. Sridharan, "Data Center TCP (DCTCP)", SIGCOMM 2010, figure 4; the points are those that simulations since pFabric (SIGCOMM
/// 2013, figure 4a) use, rounded to whole kilobytes.
const WEB_SEARCH: &[(f64, f64)] = &[
    (0.0, 0.0),
    (10e3, 0.15),
    (20e3, 0.2),
    (30e3, 0.3),
    (50e3, 0.4),
    (80e3, 0.53),
    (200e3, 0.6),
    (1e6, 0.7),
    (2e6, 0.8),
    (5e6, 0.9),
    (10e6, 0.97),
    (30e6, 1.0),
];

/// Flows of a cluster for data mining: A. Greenberg, J. R. Hamilton, N. Jain, S. Kandula, C. Kim, P. Lahiri, D. A. Maltz, P. Patel,
/// S. Sengupta, "VL2: A Scalable and Flexible Data Center Network", SIGCOMM 2009, figure 2; the points are those of the
/// TrafficGenerator of HKUST.
const DATA_MINING: &[(f64, f64)] = &[
    (0.0, 0.0),
    (180.0, 0.1),
    (216.0, 0.2),
    (560.0, 0.3),
    (900.0, 0.4),
    (1100.0, 0.5),
    (1870.0, 0.6),
    (3160.0, 0.7),
    (10e3, 0.8),
    (400e3, 0.9),
    (3.16e6, 0.95),
    (100e6, 0.98),
    (1e9, 1.0),
];

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_netsim::plan::Cdf;

    #[test]
    fn all_are_distributions_with_these_means() {
        // Means by hand, as sums of (p_i - p_(i-1)) (x_i + x_(i-1)) / 2.
        for ((name, points), mean) in SIZES.iter().zip([1_711_250.0, 12_658_198.6]) {
            let cdf = Cdf::new(points.to_vec()).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert!((cdf.mean() / mean - 1.0).abs() < 1e-9, "{name}: {}", cdf.mean());
        }
    }
}
