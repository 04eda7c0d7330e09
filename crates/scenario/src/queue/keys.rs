//! The keys that a queue may have, from the registry of disciplines.

use aqmlab_aqm::Preset;

use crate::parameter;
use crate::shape::{Key, Kind, Shape};
use crate::tree::{Table, text_of};

use super::{DEFAULT_AQM, class};

fn aqm_key() -> Key {
    let words = Preset::all().map(|p| p.name).collect();
    Key::new("aqm", Kind::Choice(words), "The discipline.").default("\"drop-tail\"")
}

/// The keys of a queue with one of these disciplines.
pub(super) fn shape_of<'a>(presets: impl Iterator<Item = &'a Preset> + Clone) -> Shape {
    let mut keys = vec![aqm_key()];
    for p in presets.clone().flat_map(Preset::parameters) {
        if !keys.iter().any(|k| k.name == p.key) {
            keys.push(parameter::key_of_discipline(p));
        }
    }
    if presets.clone().any(Preset::has_classes) {
        keys.push(Key::new(
            class::KEY,
            Kind::Tables(class::KEY, class::shape_of(presets.clone()).into()),
            class::DOC,
        ));
    }
    Shape::new("A queue: a discipline and its parameters.", keys)
}

/// Every key that a queue may have under some discipline.
pub(crate) fn shape() -> Shape {
    shape_of(Preset::all())
}

/// The keys of a queue with this discipline.
pub(crate) fn keys_of(preset: &Preset) -> Vec<&'static str> {
    shape_of([preset].into_iter()).keys.iter().map(|k| k.name).collect()
}

/// The keys of a queue with the discipline that this table names, with notes on those of other disciplines if one of the table is not
/// among them; all there are when it names none that exists.
pub(crate) fn shape_for(table: &Table) -> Shape {
    let (name, by_default) = match table.contains_key("aqm") {
        true => (text_of(table, "aqm"), ""),
        false => (Some(DEFAULT_AQM), ", the default aqm,"),
    };
    let Some(preset) = name.and_then(Preset::find) else { return shape() };
    let mut own = shape_of([preset].into_iter());
    if table.keys().all(|name| own.find(name).is_some()) {
        return own;
    }
    let others = shape().keys.into_iter().map(|k| k.name).filter(|name| own.find(name).is_none());
    let what = |key| if key == class::KEY { "no classes".to_owned() } else { format!("no parameter {key}") };
    let note = |key| (key, format!("{}{by_default} has {}", preset.name, what(key)));
    own.notes = others.map(note).collect();
    own
}
