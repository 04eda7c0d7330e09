//! Words of a scenario file with the values that they stand for, in tables. A parameter's description and its reader share one.

/// Return the words of a table.
pub const fn names<T, const N: usize>(words: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut i = 0;
    while i < N {
        names[i] = words[i].0;
        i += 1;
    }
    names
}

/// Return the value of a word.
pub fn value_of<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    words.iter().find(|(name, _)| *name == word).map(|&(_, value)| value)
}

/// Return the word for a value; empty if it has none.
pub fn name_of<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    words.iter().find(|(_, other)| other == value).map_or("", |&(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_values() {
        const WORDS: [(&str, u8); 2] = [("one", 1), ("two", 2)];
        assert_eq!(names(&WORDS), ["one", "two"]);
        assert_eq!((value_of(&WORDS, "two"), value_of(&WORDS, "three")), (Some(2), None));
        assert_eq!((name_of(&WORDS, &1), name_of(&WORDS, &3)), ("one", ""));
    }
}
