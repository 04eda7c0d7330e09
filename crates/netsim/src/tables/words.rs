//! A column of words.

use hashbrown::HashTable;

/// The reason of losses that are not the discipline's, and their class.
pub(super) const CHANNEL: &str = "channel";
/// Up to so many different words are compared, which is faster than looking a word up. So are the last one and the one after it: tables
/// go through all words again and again.
const COMPARED: usize = 8;

/// Words of which few differ: each once, and for each row its place among them.
///
/// The log of a link's packets has three such columns and a row per packet; a text for each cell takes most of a run's time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// The different words, one after the other, in one text: with many links and flows, texts of their own take more memory than
    /// the words.
    text: String,
    /// Where each ends in it, in bytes. 4 GiB of different words are 35 million of the longest names.
    ends: Vec<u32>,
    places: Vec<u32>,
}

impl Words {
    /// The different words, in the order in which they appear first.
    pub fn different(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len()).map(|place| self.word(place))
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
        self.word(self.places[row] as usize)
    }

    /// The word of each row.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.places.iter().map(|&place| self.word(place as usize))
    }

    fn word(&self, place: usize) -> &str {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[place] as usize]
    }

    /// Add a word that differs from all before. Return its place.
    fn push(&mut self, word: &str) -> u32 {
        self.text.push_str(word);
        self.ends.push(self.text.len() as u32);
        self.ends.len() as u32 - 1
    }
}

impl<S: AsRef<str>> FromIterator<S> for Words {
    fn from_iter<I: IntoIterator<Item = S>>(words: I) -> Self {
        let mut known: HashTable<u32> = HashTable::new();
        let mut made = Self::default();
        let mut last = 0;
        for word in words {
            let word = word.as_ref();
            let is_at = |place: &usize| *place < made.ends.len() && made.word(*place) == word;
            let few = if made.ends.len() <= COMPARED { made.ends.len() } else { 0 };
            if let Some(near) = [last, last + 1].into_iter().chain(0..few).find(is_at) {
                last = near;
            } else {
                let hashed = hash(word);
                let found = known.find(hashed, |&place| made.word(place as usize) == word).copied();
                let place = found.unwrap_or_else(|| {
                    let place = made.push(word);
                    known.insert_unique(hashed, place, |&place| hash(made.word(place as usize)));
                    place
                });
                last = place as usize;
            }
            made.places.push(last as u32);
        }
        made.text.shrink_to_fit();
        made.ends.shrink_to_fit();
        made
    }
}

/// A hash of a word, which only tells the words of one column apart: as FNV-1a, but of eight bytes at a time.
fn hash(word: &str) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (eights, rest) = word.as_bytes().as_chunks();
    let last = rest.iter().fold(rest.len() as u64, |last, &byte| last << 8 | u64::from(byte));
    eights.iter().map(|eight| u64::from_le_bytes(*eight)).chain([last]).fold(0, |hash, part| {
        let mixed = (hash ^ part).wrapping_mul(FACTOR);
        mixed ^ mixed >> 32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_kept_once() {
        let words: Words = ["+", "-", "-", "+", "d"].into_iter().collect();
        assert!(words.different().eq(["+", "-", "d"]));
        assert_eq!(words.places(), [0, 1, 1, 0, 2]);
        assert_eq!(words.iter().collect::<Vec<_>>(), ["+", "-", "-", "+", "d"]);
        assert_eq!((words.len(), words.get(4)), (5, "d"));
    }

    #[test]
    fn many_different_words_keep_their_places() {
        let all: Vec<_> = (0..3 * COMPARED).map(|i| i.to_string()).collect();
        let words: Words = all.iter().chain(all.iter().rev()).collect();
        assert!(words.different().eq(&all));
        assert!(words.iter().eq(all.iter().chain(all.iter().rev())));
    }

    #[test]
    fn no_rows() {
        let words = Words::from_iter::<[&str; 0]>([]);
        assert!(words.is_empty() && words.different().len() == 0);
    }
}
