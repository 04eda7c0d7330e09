//! Child queues: the queues that the classes of schedulers name.

use aqmlab_aqm::Spec;

use crate::nearest::{listed, nearest};
use crate::problem::{Complaint, Report};
use crate::section::join;

use super::{Queue, QueueId, class};

/// Progress of connecting a queue.
#[derive(Clone, Copy, PartialEq)]
enum Progress {
    None,
    Begun,
    Done,
}

/// Connect each class to the child queue that it names. Report names of no queue, and cycles.
pub(super) fn connect(queues: &mut [Queue], report: &Report<'_>) {
    let mut progress = vec![Progress::None; queues.len()];
    (0..queues.len()).for_each(|id| connect_one(queues, id, &mut progress, report));
}

fn connect_one(queues: &mut [Queue], id: QueueId, progress: &mut [Progress], report: &Report<'_>) {
    if progress[id] != Progress::None {
        return;
    }
    progress[id] = Progress::Begun;
    for (class, name) in queues[id].child_queues.clone() {
        let found = queues.iter().position(|queue| queue.name == name);
        if let Some(child) = found {
            connect_one(queues, child, progress, report);
        }
        let wrong = match found {
            None => {
                let names = || queues.iter().map(|q| q.name.as_str()).filter(|n| *n != queues[id].name);
                let complaint = Complaint::new(format!("unknown queue {name:?}")).allowed(listed(names()));
                Some(complaint.suggest(nearest(&name, names())))
            }
            Some(child) if progress[child] == Progress::Begun => {
                let complaint = Complaint::new(format!("child queue {name:?} closes a cycle"));
                Some(complaint.allowed("a queue whose child queues do not lead back to this one"))
            }
            Some(_) => None,
        };
        if let (Some(child), None) = (found, &wrong) {
            let queue: Option<Spec> = queues[child].spec.clone();
            queues[id].automatic |= queues[child].automatic;
            queues[id].children.push(child);
            queues[child].is_child = true;
            match (queue, &mut queues[id].spec) {
                (Some(queue), Some(spec)) => spec.class_queue(&class, &queue),
                // The error in the queue has been reported.
                _ => queues[id].spec = None,
            }
            continue;
        }
        let queue = &mut queues[id];
        queue.spec = None;
        let key = format!("{}.{class}.queue", class::KEY);
        let place = queue.keys.get(&key).copied().unwrap_or(queue.place);
        let path =
            ["class", &class, "queue"].into_iter().fold(queue.path.clone(), |path, key| join(&path, key));
        if let Some(complaint) = wrong {
            report.error(place, path, complaint);
        }
    }
    progress[id] = Progress::Done;
}
