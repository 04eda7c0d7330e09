//! The test vectors of `vectors/`, which every run makes again and compares byte for byte.
//!
//! `UPDATE_GOLDEN=1 cargo test -p aqmlab-scenario --test vectors` rewrites them. Their format is in `vectors/README.md`.

mod classes;
mod codel;
mod fair;
mod l4s;
mod others;
mod pie;
mod red;
mod script;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use script::Vectors;

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "vectors"].iter().collect()
}

/// All files, computed once.
static FILES: LazyLock<Vec<Vectors>> = LazyLock::new(files);

fn files() -> Vec<Vectors> {
    let families = [red::files, codel::files, pie::files, l4s::files, fair::files, others::files];
    families.into_iter().flat_map(|files| files()).collect()
}

#[test]
fn vectors_are_those_of_the_repository() {
    for Vectors { name, text, .. } in FILES.iter() {
        let path = folder().join(format!("{name}.jsonl"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, text).expect("a writable file");
        }
        let expected =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if let Some(line) = text.lines().zip(expected.lines()).position(|(a, b)| a != b) {
            let of = |text: &str| text.lines().nth(line).unwrap_or_default().to_owned();
            panic!("{name}.jsonl, line {}: {}\nis now {}", line + 1, of(&expected), of(text));
        }
        assert_eq!(text.lines().count(), expected.lines().count(), "{name}.jsonl");
    }
}

/// The page with the cases of all files.
fn page(files: &[Vectors]) -> String {
    let mut page = "# Files of test vectors\n\n`UPDATE_GOLDEN=1 cargo test -p aqmlab-scenario --test vectors` writes this page. \
                    [Test vectors](vectors.md) describes the files.\n"
        .to_owned();
    for Vectors { name, text, names, source, note, .. } in files {
        let lines = text.lines().count();
        page += &format!("\n## {name}.jsonl\n\nSource: {source}. {lines} lines.");
        page += &if note.is_empty() { String::new() } else { format!(" {note}.") };
        page += "\n\n";
        names.iter().for_each(|name| page += &format!("* {name}\n"));
    }
    page
}

#[test]
fn page_lists_all_files() {
    let path = folder().join("../docs/vectors-files.md");
    let page = page(&FILES);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &page).expect("a writable file");
    }
    assert_eq!(page, fs::read_to_string(&path).expect("a page"), "set UPDATE_GOLDEN=1 to write it");
}

#[test]
fn no_file_is_left_over() {
    let names: BTreeSet<_> = FILES.iter().map(|file| format!("{}.jsonl", file.name)).collect();
    let found = fs::read_dir(folder()).expect("a folder");
    let found = found.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    assert_eq!(names, found.filter(|name| name.ends_with(".jsonl")).collect());
}

#[test]
fn every_discipline_has_a_file() {
    let names: BTreeSet<_> = FILES.iter().map(|file| file.name.as_str()).collect();
    for preset in aqmlab_aqm::PRESETS.iter() {
        assert!(names.contains(preset.name) || preset.name == "cake", "{}", preset.name);
    }
}

/// A scanner looks for `"key":`.
#[test]
fn keys_occur_once_a_line() {
    for Vectors { name, text, .. } in FILES.iter() {
        for line in text.lines().skip(1).filter(|line| !line.contains("\"op\":\"new\"")) {
            let keys: Vec<_> = line.split('"').collect();
            let keys = keys.windows(2).filter(|pair| pair[1].starts_with(':')).map(|pair| pair[0]);
            let mut seen = BTreeSet::new();
            keys.for_each(|key| assert!(seen.insert(key), "{name}: {key} twice in {line}"));
        }
    }
}

#[test]
fn files_have_50_to_500_lines() {
    for Vectors { name, text, .. } in FILES.iter() {
        let lines = text.lines().count();
        assert!((50..=500).contains(&lines), "{name}: {lines} lines");
    }
}
