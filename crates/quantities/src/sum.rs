//! Sums in an order that other programs reproduce.

/// Numbers that are added one after the other in each of eight partial sums.
const BLOCK: usize = 128;

/// Add numbers in the order of NumPy's pairwise sum, to the bit.
///
/// ```
/// let numbers = [0.1; 1000]; // one after the other: 99.9999999999986
/// assert_eq!(aqmlab_quantities::sum::pairwise(&numbers), 100.00000000000001);
/// ```
pub fn pairwise(numbers: &[f64]) -> f64 {
    if numbers.len() > BLOCK {
        let half = numbers.len() / 2;
        let (first, second) = numbers.split_at(half - half % 8);
        return pairwise(first) + pairwise(second);
    }
    let (eights, rest) = numbers.as_chunks::<8>();
    let Some((first, others)) = eights.split_first() else {
        return rest.iter().fold(0.0, |sum, x| sum + x);
    };
    let mut sums = *first;
    for eight in others {
        for (sum, x) in sums.iter_mut().zip(eight) {
            *sum += x;
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, x| sum + x)
}

/// Return the mean of numbers by their pairwise sum; NaN without numbers.
pub fn mean(numbers: &[f64]) -> f64 {
    pairwise(numbers) / numbers.len() as f64
}

/// Return a quantile of numbers, linear between the two nearest in their order (as NumPy's); NaN without numbers.
///
/// ```
/// use aqmlab_quantities::sum::quantile;
/// assert_eq!((quantile(&[4.0, 1.0, 2.0], 0.5), quantile(&[4.0, 1.0, 2.0], 0.75)), (2.0, 3.0));
/// ```
pub fn quantile(numbers: &[f64], share: f64) -> f64 {
    let Some(last) = numbers.len().checked_sub(1) else { return f64::NAN };
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * last as f64;
    let (below, above) = (sorted[place as usize], sorted[(place as usize + 1).min(last)]);
    below + place.fract() * (above - below)
}

/// Return part / whole, or NaN if the whole is 0.
pub fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { f64::NAN } else { part / whole }
}
