//! A column of words.

use std::collections::BTreeMap;

/// The first words, the last one and the one after it are compared, which is faster than looking a word up: a table has few
/// words, or goes through all of them again and again.
const COMPARED: usize = 8;

/// Words of which few differ: each once, and for each row its place among them.
///
/// The log of a link's packets has three such columns and a row per packet; a text for each cell takes most of a run's time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    different: Vec<String>,
    places: Vec<u32>,
}

impl Words {
    /// The different words, in the order in which they appear first.
    pub fn different(&self) -> &[String] {
        &self.different
    }

    /// For each row the place of its word among the different ones.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The word of a row.
    pub fn get(&self, row: usize) -> &str {
        &self.different[self.places[row] as usize]
    }

    /// The word of each row.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.places.iter().map(|&place| self.different[place as usize].as_str())
    }
}

impl<S: AsRef<str>> FromIterator<S> for Words {
    fn from_iter<I: IntoIterator<Item = S>>(words: I) -> Self {
        let mut places: BTreeMap<String, u32> = BTreeMap::new();
        let mut made = Self::default();
        let mut last = 0;
        for word in words {
            let word = word.as_ref();
            let is_at = |place: &usize| made.different.get(*place).is_some_and(|known| known == word);
            let near = (0..COMPARED).chain([last, last + 1]).find(is_at);
            last = near.or_else(|| places.get(word).map(|&place| place as usize)).unwrap_or_else(|| {
                made.different.push(word.to_owned());
                places.insert(word.to_owned(), made.different.len() as u32 - 1);
                made.different.len() - 1
            });
            made.places.push(last as u32);
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_kept_once() {
        let words: Words = ["+", "-", "-", "+", "d"].into_iter().collect();
        assert_eq!(words.different(), ["+", "-", "d"]);
        assert_eq!(words.places(), [0, 1, 1, 0, 2]);
        assert_eq!(words.iter().collect::<Vec<_>>(), ["+", "-", "-", "+", "d"]);
        assert_eq!((words.len(), words.get(4)), (5, "d"));
    }

    #[test]
    fn many_different_words_keep_their_places() {
        let all: Vec<_> = (0..3 * COMPARED).map(|i| i.to_string()).collect();
        let words: Words = all.iter().chain(all.iter().rev()).collect();
        assert_eq!(words.different(), all);
        assert!(words.iter().eq(all.iter().chain(all.iter().rev())));
    }

    #[test]
    fn no_rows() {
        let words = Words::from_iter::<[&str; 0]>([]);
        assert!(words.is_empty() && words.different().is_empty());
    }
}
