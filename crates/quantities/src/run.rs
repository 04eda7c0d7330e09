//! One run, as the functions of quantities read it.

use std::borrow::Cow;
use std::cell::OnceCell;

use aqmlab_netsim::Words;

use crate::calls::DirectionScore;
use crate::tables::Tables;

/// The tables of one run, and the link that its quantities are about.
pub struct Run<'t> {
    tables: &'t dyn Tables,
    /// Row of the link in the table `links`, and its name.
    link: (usize, String),
    scores: OnceCell<Vec<DirectionScore>>,
}

impl<'t> Run<'t> {
    /// Return the run with the link in question, by default [`bottleneck_of`] its links; `None` if there is no such link.
    pub fn new(tables: &'t impl Tables, link: Option<&str>) -> Option<Self> {
        let names = tables.words("links", "link")?;
        let row = match link {
            Some(link) => names.iter().position(|name| name == link)?,
            None => bottleneck_of(names.iter(), tables.words("links", "aqm")?.iter())?,
        };
        let name = names.get(row).to_owned();
        Some(Self { tables, link: (row, name), scores: OnceCell::new() })
    }

    /// Return the name of the link.
    pub fn link(&self) -> &str {
        &self.link.1
    }

    /// Return a number of the link, from the table `links`.
    pub fn of_link(&self, column: &'static str) -> Option<f64> {
        self.numbers("links", column)?.get(self.link.0).copied()
    }

    /// Return a number of the link's channel, from the table `channels`.
    pub fn of_channel(&self, column: &'static str) -> Option<f64> {
        let row = self.words("channels", "link")?.iter().position(|name| name == self.link())?;
        self.numbers("channels", column)?.get(row).copied()
    }

    /// Return the end of the warm-up of a run that ends at a time, in s: bytes over goodput of a flow is the measured time.
    pub(crate) fn measured_from(&self, end_s: f64) -> Option<f64> {
        let (bytes, bps) = (self.numbers("flows", "goodput_bytes")?, self.numbers("flows", "goodput_bps")?);
        let measured =
            bytes.iter().zip(bps.iter()).find(|(bytes, _)| **bytes > 0.0).map(|(b, bps)| b * 8.0 / bps)?;
        // A sample at the end of the warm-up counts, whatever rounding did.
        Some(end_s - measured - 1e-9).filter(|from| !from.is_nan())
    }

    /// Return a column of numbers.
    pub fn numbers(&self, table: &'static str, column: &'static str) -> Option<Cow<'_, [f64]>> {
        self.tables.numbers(table, column)
    }

    /// Return a column of words.
    pub fn words(&self, table: &'static str, column: &'static str) -> Option<Cow<'_, Words>> {
        self.tables.words(table, column)
    }

    /// Return the scores of all directions of calls, which are computed once.
    pub(crate) fn scores(&self) -> &[DirectionScore] {
        self.scores.get_or_init(|| crate::calls::scores_of(self))
    }

    /// Measure the rows of a table for each group of flows that its column `group` names, if there are several.
    pub(crate) fn by_group(
        &self,
        table: &'static str,
        measure: impl Fn(&[usize]) -> Option<f64>,
    ) -> Vec<(String, f64)> {
        let groups = self.words(table, "group").unwrap_or_default();
        each_of_several(&groups, (0..groups.len()).collect(), measure)
    }
}

/// Measure the rows of each word among some rows, if there are several words.
pub(crate) fn each_of_several(
    words: &Words,
    rows: Vec<usize>,
    measure: impl Fn(&[usize]) -> Option<f64>,
) -> Vec<(String, f64)> {
    let mut own: Vec<(usize, Vec<usize>)> = Vec::new();
    for row in rows {
        let place = words.places()[row] as usize;
        match own.iter_mut().find(|(known, _)| *known == place) {
            Some((_, rows)) => rows.push(row),
            None => own.push((place, vec![row])),
        }
    }
    if own.len() < 2 {
        return Vec::new();
    }
    let value = |(_, rows): (usize, Vec<usize>)| Some((words.get(rows[0]).to_owned(), measure(&rows)?));
    own.into_iter().filter_map(value).collect()
}

/// Return the values of some rows.
pub(crate) fn at(values: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|&row| values[row]).collect()
}

/// The names of links that results are about, whatever their disciplines.
const MAIN_LINKS: [&str; 2] = ["bottleneck", "down"];

/// Return the place of the link that results are about: `bottleneck`, `down`, or the first that is not drop-tail, or else the
/// first; `None` if there is no link.
pub fn bottleneck_of<'n>(
    names: impl Iterator<Item = &'n str>,
    disciplines: impl Iterator<Item = &'n str>,
) -> Option<usize> {
    let links: Vec<_> = names.zip(disciplines).collect();
    let named = MAIN_LINKS.iter().find_map(|main| links.iter().position(|(name, _)| name == main));
    let managed = || links.iter().position(|(_, aqm)| *aqm != "drop-tail");
    named.or_else(managed).or((!links.is_empty()).then_some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bottleneck_has_a_name_or_a_discipline() {
        let of = |names: &[&'static str], aqm: &[&'static str]| {
            bottleneck_of(names.iter().copied(), aqm.iter().copied())
        };
        assert_eq!(of(&["a", "b"], &["drop-tail", "red"]), Some(1));
        assert_eq!(of(&["up", "down"], &["red", "drop-tail"]), Some(1));
        assert_eq!(of(&["a", "down", "bottleneck"], &["red", "red", "drop-tail"]), Some(2));
        assert_eq!(of(&["a", "b"], &["drop-tail", "drop-tail"]), Some(0));
        assert_eq!(of(&[], &[]), None);
    }
}
