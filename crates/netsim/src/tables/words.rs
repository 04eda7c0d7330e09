//! A column of words.

use std::collections::HashMap;

/// So many words are compared one after the other, which is faster than a hash; later ones are looked up.
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
        let mut later: HashMap<String, u32> = HashMap::new();
        let mut made = Self::default();
        for word in words {
            let word = word.as_ref();
            let first = made.different.iter().take(COMPARED).position(|known| known == word);
            let known = first.map(|place| place as u32).or_else(|| later.get(word).copied());
            let place = known.unwrap_or_else(|| {
                let place = made.different.len();
                made.different.push(word.to_owned());
                if place >= COMPARED {
                    later.insert(word.to_owned(), place as u32);
                }
                place as u32
            });
            made.places.push(place);
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
