//! The nearest valid word for a typo.

/// The word of `known` nearest to `word`, if one is near enough to be meant.
///
/// Near is: the same but for case, `-` and `_`; or few insertions, deletions, exchanges and swaps (one for words
/// of up to three letters, one more for every three); or a common beginning of at least three letters.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(word);
    // The distance takes time in proportion to both lengths; nothing this long is a typo.
    if wanted.is_empty() || wanted.len() > 100 {
        return None;
    }
    let few = wanted.chars().count().div_ceil(3).max(1);
    let scored = known.into_iter().filter_map(|k| {
        let candidate = plain(k);
        let distance = strsim::osa_distance(&wanted, &candidate);
        let begins = wanted.len() >= 3 && (candidate.starts_with(&wanted) || wanted.starts_with(&candidate));
        let near = distance <= few && distance < candidate.chars().count();
        (near || (begins && candidate.len() >= 3)).then_some((distance, k))
    });
    scored.min_by_key(|&(distance, _)| distance).map(|(_, k)| k)
}

fn plain(word: &str) -> String {
    word.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}

/// Words as a list for a message: the first twenty, and how many there are.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<_> = words.into_iter().collect();
    let shown = words.iter().take(20).copied().collect::<Vec<_>>().join(", ");
    if words.len() > 20 { format!("{shown}, ... ({} in all)", words.len()) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found() {
        let keys = ["duration", "warmup", "seeds", "min_th", "max_th", "max_p"];
        let near = |word| nearest(word, keys);
        assert_eq!(near("duratoin"), Some("duration"));
        assert_eq!(near("seed"), Some("seeds"));
        assert_eq!(near("warm-up"), Some("warmup"));
        assert_eq!(near("minth"), Some("min_th"));
        assert_eq!(near("Max-P"), Some("max_p"));
        assert_eq!(near("dur"), Some("duration"));
    }

    #[test]
    fn strangers_are_not() {
        assert_eq!(nearest("codel", ["red", "mred"]), None);
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest("", ["y"]), None);
        assert_eq!(nearest(&"a".repeat(10_000), ["a"]), None);
    }

    #[test]
    fn long_lists_are_cut() {
        let words: Vec<String> = (0..25).map(|i| i.to_string()).collect();
        let text = listed(words.iter().map(String::as_str));
        assert!(text.ends_with("18, 19, ... (25 in all)"), "{text}");
        assert_eq!(listed(["a", "b"]), "a, b");
    }
}
