//! `[[queue.NAME.class]]`: classes of packets with parameters of their own.

use std::collections::BTreeMap;

use aqmlab_aqm::{ClassSpec, Parameter, Preset, Resolved, Spec};

use crate::dscp;
use crate::nearest::{listed, nearest};
use crate::parameter;
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::tree::{Node, Place, Value};

use super::NOMINAL;
use super::is_automatic;

/// The key in a queue.
pub(super) const KEY: &str = "class";
/// The key of a class with the name of its queue.
const QUEUE: &str = "queue";
pub(super) const DOC: &str =
    "Classes of packets with parameters of their own; the first is the most precious.";

/// A class as the file has it.
pub(super) struct Class {
    pub spec: ClassSpec,
    /// Whether a parameter is left to the link.
    pub automatic: bool,
    /// The places of `class.NAME` and of `class.NAME.KEY`.
    pub places: Vec<(String, Place)>,
    /// The name of its child queue.
    pub queue: Option<String>,
}

/// The keys of a class, of a queue with one of these disciplines.
pub(super) fn shape_of<'a>(presets: impl Iterator<Item = &'a Preset> + Clone) -> Shape {
    let code_points = Kind::Any(vec![Kind::Dscp, Kind::list(Kind::Dscp)]);
    let mut keys = vec![
        Key::new("name", Kind::Name, "Name of the class.").required(),
        Key::new("dscp", code_points, "Code point of its packets, or a list of them."),
        Key::new("default", Kind::Flag, "Whether packets with a code point of no class belong to it.")
            .default("false"),
    ];
    let mut parameters: Vec<&'static Parameter> = Vec::new();
    for parameter in presets.clone().flat_map(Preset::class_parameters) {
        if !parameters.iter().any(|p| p.key == parameter.key) {
            parameters.push(parameter);
        }
    }
    keys.extend(parameters.into_iter().map(parameter::key_of_discipline));
    if presets.clone().any(Preset::has_class_queues) {
        let doc = "Name of the child queue of the class; left out, drop-tail with the limit of this queue.";
        keys.push(Key::new(QUEUE, Kind::Label, doc));
    }
    Shape::new("A class of packets; parameters left out are the queue's.", keys)
}

/// Read the classes of a queue with this discipline, whose default classes are `own`; `None` if something in them is wrong, which is
/// reported.
pub(super) fn read(queue: &Section<'_>, preset: &'static Preset, own: &[String]) -> Option<Vec<Class>> {
    if queue.list(KEY).is_some_and(<[_]>::is_empty) {
        queue.error(KEY, Complaint::new("is empty").allowed("at least one class"));
    }
    let before = queue.report.errors();
    let sections = queue.sections(KEY);
    check_duplicates(&sections);
    let classes: Vec<_> = sections.iter().filter_map(|section| class(section, preset)).collect();
    check_packets(&sections, &classes, own);
    let complete = classes.len() == queue.list(KEY).unwrap_or_default().len();
    (complete && queue.report.errors() == before).then_some(classes)
}

fn class(section: &Section<'_>, preset: &'static Preset) -> Option<Class> {
    let name = section.text("name")?;
    let mut spec = ClassSpec::new(preset, name);
    spec.dscp = code_points(section).into_iter().map(|(code, _)| code).collect();
    spec.default = section.flag("default").unwrap_or(false);
    let (mut automatic, mut valid) = (false, true);
    let mut places = vec![(format!("{KEY}.{name}"), section.place)];
    for key in ["name", "dscp", "default", QUEUE] {
        places.extend(section.node(key).map(|node| (format!("{KEY}.{name}.{key}"), node.place)));
    }
    for parameter in preset.class_parameters() {
        let Some(node) = section.node(parameter.key) else { continue };
        places.push((format!("{KEY}.{name}.{}", parameter.key), node.place));
        let Some(value) = parameter::read(&node.value, parameter).ok().and_then(parameter::of_discipline)
        else {
            valid = false;
            continue;
        };
        automatic |= is_automatic(&value);
        if let Err(e) = spec.set(parameter.key, value) {
            valid = false;
            section.error(parameter.key, Complaint::new(e.message).allowed(e.allowed));
        }
    }
    // An invalid name has been reported.
    valid &= !section.has(QUEUE) || section.text(QUEUE).is_some();
    let queue = section.text(QUEUE).map(str::to_owned);
    valid.then_some(Class { spec, automatic, places, queue })
}

/// The valid code points of a class with their places.
fn code_points(section: &Section<'_>) -> Vec<(u8, Place)> {
    let Some(node) = section.node("dscp") else { return Vec::new() };
    let one = std::slice::from_ref(node);
    let nodes: &[Node] = if let Value::List(list) = &node.value { list } else { one };
    nodes.iter().filter_map(|node| Some((dscp::value(&node.value).ok()?, node.place))).collect()
}

/// No name and no code point stands twice, and one class at most is the default.
fn check_duplicates(sections: &[Section<'_>]) {
    let (mut names, mut codes) = (BTreeMap::new(), BTreeMap::new());
    let mut default: Option<&Section<'_>> = None;
    for (i, section) in sections.iter().enumerate() {
        let report = section.report;
        if let Some(name) = section.text("name") {
            let (first, place) = *names.entry(name).or_insert((i, section.place));
            if first != i {
                let message = format!("there is a class of this name already, on {}", report.line_of(place));
                section.error("name", Complaint::new(message));
            }
        }
        for (code, place) in code_points(section) {
            if let Some(first) = codes.insert(code, place) {
                let message =
                    format!("{} stands twice, first on {}", dscp::name(code), report.line_of(first));
                let complaint = Complaint::new(message).allowed("each code point in one class");
                report.error(place, section.key("dscp"), complaint);
            }
        }
        if section.flag("default") == Some(true) {
            if let Some(first) = default {
                let message = format!("there is a default class already, on {}", report.line_of(first.place));
                section.error("default", Complaint::new(message).allowed("one default class"));
            }
            default = Some(section);
        }
    }
}

/// Every class that is not the discipline's own needs a code point or must be the default. One that has neither is
/// useless, or misspelt if only an override names it.
fn check_packets(sections: &[Section<'_>], classes: &[Class], own: &[String]) {
    for class in classes {
        let name = class.spec.name.as_str();
        if !class.spec.dscp.is_empty() || class.spec.default || own.iter().any(|o| o == name) {
            continue;
        }
        let Some(section) = sections.iter().find(|s| s.text("name") == Some(name)) else { continue };
        match section.place {
            Place::File(_) => {
                let message = "no packet belongs to it: it has no code point and is not the default";
                section.report.warning(section.place, section.path.as_str(), Complaint::new(message));
            }
            Place::Set(_) => {
                let others = classes.iter().map(|c| c.spec.name.as_str()).filter(|other| *other != name);
                let known: Vec<_> = own.iter().map(String::as_str).chain(others).collect();
                let known = || known.iter().copied();
                let complaint = Complaint::new(format!("unknown class {name:?}"));
                let complaint = complaint.allowed(listed(known())).suggest(nearest(name, known()));
                section.report.error(section.place, section.path.as_str(), complaint);
            }
        }
    }
}

/// Return the names of the default classes of a discipline.
pub(super) fn of_preset(preset: &Preset) -> Vec<String> {
    let resolved = Spec::new(preset.name).and_then(|spec| spec.resolve(NOMINAL).ok());
    resolved.iter().flat_map(effective).map(|class| class.name.to_owned()).collect()
}

/// A class as a queue has it in the end, the preset's own included.
pub(crate) struct EffectiveClass<'a> {
    pub name: &'a str,
    /// Code points, without the default's.
    pub dscp: Vec<u8>,
    pub default: bool,
    /// Parameters without the code points.
    pub parameters: Vec<(&'a str, &'a aqmlab_aqm::Value)>,
}

/// The classes of a queue in their order, from the parameters `class.NAME.KEY`; the key `dscp` has code points and
/// perhaps the word `default`.
pub(crate) fn effective(queue: &Resolved) -> Vec<EffectiveClass<'_>> {
    let mut classes: Vec<EffectiveClass<'_>> = Vec::new();
    for (key, value) in &queue.effective {
        let parts = key.strip_prefix("class.").and_then(|rest| rest.split_once('.'));
        let Some((name, key)) = parts else { continue };
        if classes.last().is_none_or(|class| class.name != name) {
            classes.push(EffectiveClass { name, dscp: Vec::new(), default: false, parameters: Vec::new() });
        }
        let Some(class) = classes.last_mut() else { continue };
        match value {
            aqmlab_aqm::Value::Word(words) if key == "dscp" => {
                class.default = words.split(' ').any(|word| word == "default");
                class.dscp = words.split(' ').filter_map(|word| word.parse().ok()).collect();
            }
            _ => class.parameters.push((key, value)),
        }
    }
    classes
}
