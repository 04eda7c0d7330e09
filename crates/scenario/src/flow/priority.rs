//! Parameters of queues with an effect on flows with priority only.

use std::collections::BTreeSet;

use aqmlab_netsim::plan::{LinkId, Plan};

use crate::problem::Complaint;
use crate::section::{Section, join};

/// Whether a flow has priority. A plan without flows may carry any traffic.
pub(crate) fn any(plan: &Plan) -> bool {
    plan.flows.is_empty() || plan.flows.iter().any(|flow| flow.class > 0)
}

/// Warn of each parameter for flows with priority that the file of a plan without them sets.
pub(crate) fn warn_without(file: &Section<'_>, plan: &Plan, queue_of: impl Fn(LinkId) -> String) {
    if any(plan) {
        return;
    }
    let Some(queues) = file.node("queue").and_then(|node| node.value.as_table()) else { return };
    let mut warned = BTreeSet::new();
    for (id, link) in (0..).zip(&*plan.links) {
        let keys = link.queue.priority_keys();
        if keys.is_empty() {
            continue;
        }
        let name = queue_of(id);
        let body = queues.get(&name).and_then(|entry| entry.node.value.as_table());
        let path = join(&file.key("queue"), &name);
        let Some(body) = body.filter(|_| warned.insert(name)) else { continue };
        for key in keys {
            if let Some(entry) = body.get(key) {
                let message = format!("{key} has no effect without a flow with priority = true");
                file.report.warning(entry.node.place, path.as_str(), Complaint::new(message));
            }
        }
    }
}
