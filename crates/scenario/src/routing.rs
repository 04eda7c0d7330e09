//! `[routing]` and `[[backup]]`: one of several shortest paths, and the ways around links that are down.

use std::collections::BTreeMap;

use aqmlab_aqm::Value;
use aqmlab_netsim::plan::{Backup, BackupRule, LinkId, Multipath, Plan, Routing};

use crate::network::{Builder, LinkNames};
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

const MULTIPATH: [(&str, Multipath); 2] = [("none", Multipath::First), ("flow", Multipath::ByFlow)];
const BACKUP: [(&str, BackupRule); 2] = [("none", BackupRule::Nothing), ("shortest", BackupRule::Shortest)];

fn words<T>(words: &[(&'static str, T)]) -> Kind {
    Kind::Choice(words.iter().map(|(word, _)| *word).collect())
}

fn word<T: Copy + Default>(section: &Section<'_>, key: &str, words: &[(&str, T)]) -> T {
    let given = section.text(key);
    words.iter().find(|(word, _)| Some(*word) == given).map_or_else(T::default, |(_, value)| *value)
}

/// Return the words of `multipath` and `backup`, as in a scenario file.
pub(crate) fn words_of(routing: &Routing) -> [&'static str; 2] {
    [MULTIPATH[routing.multipath as usize].0, BACKUP[routing.backup as usize].0]
}

pub(crate) fn shape() -> Shape {
    Shape::new(
        "How packets find their way: over the shortest path by links.",
        vec![
            Key::new(
                "multipath",
                words(&MULTIPATH),
                "Of several shortest paths, that over the link listed first, or one for each flow and direction, by a hash of the flow's \
                 name and the seed.",
            )
            .default("\"none\""),
            Key::new(
                "backup",
                words(&BACKUP),
                "While a link is down that has no [[backup]]: packets are dropped, or take the shortest path from there to their \
                 destination that avoids the link.",
            )
            .default("\"none\""),
        ],
    )
}

pub(crate) fn backup_shape() -> Shape {
    Shape::new(
        "A static detour around a link, taken while it is down, and by flows that PC-RED redirects.",
        vec![
            Key::new("link", Kind::Label, "The link, one direction of it.").required(),
            Key::new("path", Kind::list(Kind::Label), "Links from its start to its end.").required(),
        ],
    )
}

/// Read how packets find their way. Invalid backups are reported and left out.
pub(crate) fn read(file: &Section<'_>, links: &LinkNames<'_>, builder: &Builder<'_>) -> Routing {
    let mut routing = Routing::default();
    if let Some(section) = file.section("routing") {
        routing.multipath = word(&section, "multipath", &MULTIPATH);
        routing.backup = word(&section, "backup", &BACKUP);
    }
    let mut seen = BTreeMap::new();
    for section in file.sections("backup") {
        let Some(backup) = backup(&section, links, builder) else { continue };
        if let Some(first) = seen.insert(backup.link, section.place) {
            let line = section.report.line_of(first);
            section.error("link", Complaint::new(format!("the link has a backup already, on {line}")));
        } else {
            routing.backups.push(backup);
        }
    }
    routing
}

fn backup(section: &Section<'_>, links: &LinkNames<'_>, builder: &Builder<'_>) -> Option<Backup> {
    let link = links.named_by(section, "link");
    let mut path = Vec::new();
    for node in section.list("path")? {
        match links.find(node.value.as_text()?) {
            Ok(found) => path.push(found?),
            Err(complaint) => {
                section.report.error(node.place, section.key("path"), complaint);
                return None;
            }
        }
    }
    let link = link?;
    if let Err(message) = check_path(link, &path, builder) {
        section.error(
            "path",
            Complaint::new(message).allowed("links from the start of the link to its end, without a loop"),
        );
        return None;
    }
    Some(Backup { link, path })
}

/// Check that links lead from the start of a link to its end, over each node once.
fn check_path(link: LinkId, path: &[LinkId], builder: &Builder<'_>) -> Result<(), String> {
    let at = |id: LinkId| &builder.links[id as usize];
    let name = |id: LinkId| at(id).name.as_str();
    let node = |id: u32| builder.nodes[id as usize].as_str();
    if path.contains(&link) {
        return Err(format!("loops: it passes {}, whose backup it is", name(link)));
    }
    let (mut here, mut passed) = (at(link).from, vec![at(link).from]);
    for &next in path {
        if at(next).from != here {
            return Err(format!("{} does not start at {}", name(next), node(here)));
        }
        here = at(next).to;
        if passed.contains(&here) {
            return Err(format!("loops: it passes {} twice", node(here)));
        }
        passed.push(here);
    }
    if here == at(link).to {
        Ok(())
    } else {
        Err(format!("ends at {}, not at {}", node(here), node(at(link).to)))
    }
}

/// Report backups that are never taken, and queues that redirect flows without a backup.
pub(crate) fn check(file: &Section<'_>, plan: &Plan, queue_of: impl Fn(LinkId) -> String) {
    let redirect = Value::Word("redirect".into());
    let redirects = |id: LinkId| {
        let parameters = &plan.links[id as usize].queue.effective;
        parameters.iter().any(|(key, value)| key == "over_r_p_max" && *value == redirect)
    };
    let has_backup = |id: LinkId| plan.routing.backups.iter().any(|backup| backup.link == id);
    for (id, link) in (0..).zip(&*plan.links) {
        if redirects(id) && !has_backup(id) {
            let complaint =
                Complaint::new(format!("link {} has no backup to which flows are redirected", link.name));
            let key = format!("queue.{}.over_r_p_max", queue_of(id));
            file.report.error(file.place_of("queue"), key, complaint.allowed("a [[backup]] of the link"));
        }
    }
    for section in file.sections("backup") {
        let Some(name) = section.text("link") else { continue };
        let taken = (0..)
            .zip(&*plan.links)
            .any(|(id, link)| link.name == name && (redirects(id) || !link.line.outages.is_empty()));
        if !taken {
            section.warning("link", Complaint::new("is never down, so that its backup is never taken"));
        }
    }
}
