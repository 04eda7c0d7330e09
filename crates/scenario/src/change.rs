//! `[[change]]`: links that change during the run.

use std::collections::BTreeMap;

use aqmlab_netsim::plan::Change;
use aqmlab_units::Span;

use crate::network::LinkNames;
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

pub(crate) fn shape() -> Shape {
    Shape::new(
        "A change of a link during the run: of its rate, its delay, or both.",
        vec![
            Key::new("at", Kind::ANY_TIME, "When; before the end of the run.").required(),
            Key::new("link", Kind::Label, "The link, one direction of it.").required(),
            Key::new("rate", Kind::Rate, "Bit rate from then on."),
            Key::new("delay", Kind::ANY_TIME, "One-way propagation delay from then on."),
        ],
    )
}

/// Reads all changes, in order of time. Those that are not valid are reported and left out.
pub(crate) fn read(file: &Section<'_>, links: &LinkNames<'_>, duration: Option<Span>) -> Vec<Change> {
    let sections = file.sections("change");
    check_duplicates(&sections);
    let mut changes: Vec<_> = sections.iter().filter_map(|s| change(s, links, duration)).collect();
    changes.sort_by_key(|c| c.at);
    changes
}

fn change(section: &Section<'_>, links: &LinkNames<'_>, duration: Option<Span>) -> Option<Change> {
    let (at, rate, delay) = (section.time("at"), section.rate("rate"), section.span("delay"));
    if let (Some(at), Some(duration)) = (at, duration)
        && at.0 >= duration.0
    {
        let complaint = Complaint::new("is not before the end of the run");
        section.error("at", complaint.allowed(format!("below duration ({} s)", duration.secs())));
    }
    if ["rate", "delay"].iter().all(|key| !section.has(key) && !section.is_misspelt(key)) {
        let complaint = Complaint::new("says neither rate nor delay").allowed("rate, delay, or both");
        section.report.error(section.place, section.path.as_str(), complaint);
    }
    let link = links.named_by(section, "link");
    Some(Change { at: at?, link: link?, rate, delay })
}

/// A rate, or a delay, of a link is set at most once at a time.
fn check_duplicates(sections: &[Section<'_>]) {
    let mut seen = BTreeMap::new();
    for section in sections {
        let (Some(at), Some(link)) = (section.time("at"), section.text("link")) else { continue };
        for key in ["rate", "delay"].into_iter().filter(|key| section.has(key)) {
            if let Some(first) = seen.insert((at, link, key), section.place) {
                let line = section.report.line_of(first);
                let message = format!("the {key} of {link} changes at {} s already, on {line}", at.secs());
                section.error(key, Complaint::new(message));
            }
        }
    }
}
