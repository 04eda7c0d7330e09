//! Distributions of sizes that were measured, and the text of such a distribution: lines `size probability`.

use crate::problem::Complaint;

/// A name and the text of its distribution, in bytes.
pub(crate) type Named = (&'static str, &'static str);

/// Sizes of flows.
pub(crate) const FLOWS: &[Named] = &[
    ("web-search", include_str!("sizes/web-search.cdf")),
    ("data-mining", include_str!("sizes/data-mining.cdf")),
    ("facebook-hadoop", include_str!("sizes/facebook-hadoop.cdf")),
];
/// Lengths of packets.
pub(crate) const PACKETS: &[Named] = &[("caida-aix", include_str!("sizes/caida-aix.cdf"))];

/// Largest value of an empirical distribution.
pub(crate) const MAX_VALUE: f64 = 1e15;
/// Most points of a distribution in a file.
const MOST_POINTS: usize = 10_000;
const ALLOWED: &str =
    "lines \"size probability\", sizes not falling, probabilities rising to 1, # before a comment";

/// Return the points of the distribution with this name.
pub(crate) fn named(names: &[Named], name: &str) -> Option<Vec<(f64, f64)>> {
    let (name, text) = names.iter().find(|(known, _)| *known == name)?;
    points(name, text).ok()
}

/// Return the points of a text; report the first line that is wrong. `file` is the name of the text in messages.
pub(crate) fn points(file: &str, text: &str) -> Result<Vec<(f64, f64)>, Complaint> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut last_line = 1;
    let wrong = |line: usize, what: String| Complaint::new(format!("{file}:{line}: {what}")).allowed(ALLOWED);
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        last_line = line;
        let (size, probability) = point(content).map_err(|what| wrong(line, what))?;
        if let Some(&(size_before, probability_before)) = points.last() {
            if size < size_before {
                return Err(wrong(
                    line,
                    format!("the size {size} is below the one before it, {size_before}"),
                ));
            }
            if probability <= probability_before {
                let what = format!("the probability {probability} does not rise from {probability_before}");
                return Err(wrong(line, what));
            }
        }
        if points.len() == MOST_POINTS {
            return Err(wrong(line, format!("there are more than {MOST_POINTS} points")));
        }
        points.push((size, probability));
    }
    match points.last() {
        None => Err(wrong(last_line, "the distribution is empty".to_owned())),
        Some((_, probability)) if *probability != 1.0 => {
            Err(wrong(last_line, format!("the last probability is {probability}, not 1")))
        }
        Some((size, _)) if *size == 0.0 => Err(wrong(last_line, "all sizes are 0".to_owned())),
        Some(_) => Ok(points),
    }
}

fn point(line: &str) -> Result<(f64, f64), String> {
    let mut words = line.split_whitespace();
    let (Some(size), Some(probability), None) = (words.next(), words.next(), words.next()) else {
        return Err(format!("{line:?} is not a size and a probability"));
    };
    let number = |word: &str, max: f64| word.parse().ok().filter(|x: &f64| (0.0..=max).contains(x));
    let size =
        number(size, MAX_VALUE).ok_or_else(|| format!("the size {size} is not a number from 0 to 1e15"))?;
    let wrong = || format!("the probability {probability} is not a number from 0 to 1");
    Ok((size, number(probability, 1.0).ok_or_else(wrong)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_netsim::plan::{Cdf, Spread};
    use aqmlab_units::Stream;
    use std::sync::Arc;

    #[test]
    fn all_are_distributions_with_these_means() {
        // Means by hand, as sums of (p_i - p_(i-1)) (x_i + x_(i-1)) / 2.
        let means = [1_711_250.0, 12_658_198.6, 120_420.75, 392.85];
        for ((name, text), mean) in FLOWS.iter().chain(PACKETS).zip(means) {
            let points = points(name, text).unwrap_or_else(|why| panic!("{why:?}"));
            let cdf = Cdf::new(points).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert!((cdf.mean() / mean - 1.0).abs() < 1e-9, "{name}: {}", cdf.mean());
            assert!(text.lines().take_while(|line| line.starts_with('#')).count() >= 3, "{name}: no source");
        }
    }

    #[test]
    fn draws_have_the_moments_and_the_distribution_of_the_points() {
        let n = 40_000;
        for (name, text) in FLOWS.iter().chain(PACKETS) {
            let points = points(name, text).expect("points");
            // Second moment of a straight line between a and b: (a^2 + a b + b^2) / 3.
            let (first, p_first) = points[0];
            let lines = points
                .windows(2)
                .map(|w| (w[1].1 - w[0].1) * (w[0].0 * w[0].0 + w[0].0 * w[1].0 + w[1].0 * w[1].0) / 3.0);
            let second = first * first * p_first + lines.sum::<f64>();
            let spread = Spread::Empirical(Arc::new(Cdf::new(points.clone()).expect("a distribution")));
            let mut stream = Stream::new(7, name);
            let mut drawn: Vec<f64> = (0..n).map(|_| spread.draw(stream.uniform())).collect();
            let mean = drawn.iter().sum::<f64>() / f64::from(n);
            let deviation = (second - spread.mean() * spread.mean()).sqrt() / f64::from(n).sqrt();
            assert!((mean - spread.mean()).abs() < 2.58 * deviation, "{name}: {mean} {}", spread.mean());
            // Kolmogorov-Smirnov below each value, which leaves atoms out; 1.63 / sqrt(n) is the 1 % point.
            drawn.sort_by(f64::total_cmp);
            let below = |x: f64| drawn.partition_point(|y| *y < x) as f64 / f64::from(n);
            let gaps = points.iter().map(|(x, _)| (below(*x) - (1.0 - spread.at_least(*x))).abs());
            let largest = gaps.fold(0.0, f64::max);
            assert!(largest < 1.63 / f64::from(n).sqrt(), "{name}: {largest}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        let cases = [
            ("", "f:1: the distribution is empty"),
            ("# only a comment\n", "f:1: the distribution is empty"),
            ("100 0.5\n200", "f:2: \"200\" is not a size and a probability"),
            ("100 0.5 x", "f:1: \"100 0.5 x\" is not a size and a probability"),
            ("-1 1", "f:1: the size -1 is not a number from 0 to 1e15"),
            ("nan 1", "f:1: the size nan is not a number from 0 to 1e15"),
            ("1 50", "f:1: the probability 50 is not a number from 0 to 1"),
            ("\n# c\n100 0.5\n50 1", "f:4: the size 50 is below the one before it, 100"),
            ("1 0.5\n2 0.5\n3 1", "f:2: the probability 0.5 does not rise from 0.5"),
            ("1 0.5\n2 0.9 # nearly", "f:2: the last probability is 0.9, not 1"),
            ("0 1", "f:1: all sizes are 0"),
        ];
        for (text, expected) in cases {
            let complaint = points("f", text).expect_err("wrong");
            assert_eq!(complaint.message, expected);
            assert_eq!(complaint.allowed, ALLOWED);
        }
        let many: String = (0..=MOST_POINTS).map(|i| format!("{i} {}\n", i as f64 / 1e5)).collect();
        assert!(points("f", &many).expect_err("too many").message.contains("f:10001: there are more than"));
        assert_eq!(points("f", "\n100 0.25 # atom\n\t300\t1\n"), Ok(vec![(100.0, 0.25), (300.0, 1.0)]));
    }
}
