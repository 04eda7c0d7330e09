//! Errors in a value of some kind.

use aqmlab_transport::rfc::CongestionControl;

use crate::files;
use crate::nearest::nearest;
use crate::problem::Complaint;
use crate::scenario::LONGEST_NAME;
use crate::sizes::Named;
use crate::tcp;
use crate::tree::Value;
use crate::units::{self, Amount};

pub(super) fn bad_name(value: &Value, also: &[char]) -> Option<Complaint> {
    let name = value.as_text()?;
    let fine = |c: char| c.is_ascii_alphanumeric() || also.contains(&c);
    if name.len() > LONGEST_NAME {
        let complaint = Complaint::new(format!("a name of {} bytes is too long", name.len()));
        return Some(complaint.allowed(format!("at most {LONGEST_NAME} bytes")));
    }
    (name.is_empty() || !name.chars().all(fine)).then(|| Complaint::new(format!("{name:?} is not a name")))
}

pub(super) fn bad_choice(value: &Value, words: &[&'static str]) -> Option<Complaint> {
    let word = value.as_text()?;
    if words.contains(&word) {
        return None;
    }
    if words.contains(&tcp::TCP) && CongestionControl::from_name(word).is_some() {
        let way = format!("transport = \"tcp\" with tcp = {{ congestion_control = {word:?} }}");
        return Some(Complaint::new(format!("{word:?} is a congestion control of TCP")).allowed(way));
    }
    let near = nearest(word, words.iter().copied());
    Some(Complaint::new(format!("{word:?} is not known")).suggest(near))
}

pub(super) fn bad_distribution(value: &Value, names: &[Named]) -> Option<Complaint> {
    let name = value.as_text()?;
    if files::is_file(name) {
        // The points of a file that was read have replaced its name.
        let complaint = Complaint::new(format!("the file {name:?} cannot be read here"));
        return Some(complaint.allowed("a list of points [value, probability]"));
    }
    let known = || names.iter().map(|(name, _)| *name);
    if known().any(|known| known == name) {
        return None;
    }
    Some(Complaint::new(format!("{name:?} is not known")).suggest(nearest(name, known())))
}

pub(super) fn out_of_range(number: Result<f64, Complaint>, min: f64, max: f64) -> Option<Complaint> {
    match number {
        Ok(x) if x < min || x > max => Some(Complaint::new(format!("{x} is out of range"))),
        other => other.err(),
    }
}

pub(super) fn bad_time(value: &Value, min: u64, max: u64) -> Option<Complaint> {
    match units::time(value) {
        Ok(0) if min == 1 => Some(Complaint::new("must be above 0")),
        Ok(ps) if ps < min || ps > max => Some(Complaint::new("is out of range")),
        other => other.err(),
    }
}

pub(super) fn bad_packets(value: &Value, min: f64, max: f64, whole: bool) -> Option<Complaint> {
    match units::amount(value) {
        Ok(Amount::Bytes(_)) => Some(Complaint::new("is in bytes")),
        Ok(Amount::Packets(x) | Amount::Bare(x)) if whole && x.fract() != 0.0 => Some(units::not_whole(x)),
        Ok(Amount::Packets(x) | Amount::Bare(x)) => out_of_range(Ok(x), min, max),
        Err(complaint) => Some(complaint),
    }
}

pub(super) fn bad_size(value: &Value) -> Option<Complaint> {
    match units::amount(value) {
        Ok(Amount::Bare(x)) => Some(Complaint::new(format!("{x} has no unit"))),
        Ok(Amount::Bytes(0) | Amount::Packets(0.0)) => Some(Complaint::new("must be above 0")),
        Ok(Amount::Packets(x)) if x.fract() != 0.0 => Some(units::not_whole(x)),
        Ok(Amount::Packets(x)) if x > 1e15 => Some(Complaint::new("is too large")),
        other => other.err(),
    }
}
