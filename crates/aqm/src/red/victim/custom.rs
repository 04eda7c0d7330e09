use std::collections::VecDeque;
use std::sync::Arc;

use crate::indexed::{Indexed, Tag};
use crate::plugin::VictimRule;
use crate::{Host, Meta};

/// A rule that is written elsewhere: it looks at all that waits, the arriving packet the last of it.
#[derive(Clone, Debug)]
pub struct Custom(pub Arc<dyn VictimRule>);

impl Custom {
    /// The slot of the victim.
    pub(crate) fn pick<P: Copy>(&self, queue: &mut Indexed<P>, host: &mut impl Host<P>) -> Option<usize> {
        let index = queue.index(|_| Tag { key: 0, open: true });
        let slots: Vec<usize> = (0..).map_while(|n| index.nth(n)).collect();
        let waiting: VecDeque<Meta> =
            slots.iter().filter_map(|&slot| Some(queue.get_mut(slot)?.meta)).collect();
        let arriving = slots.len().checked_sub(1)?;
        let place = self.0.pick(&waiting, &mut || host.uniform()).unwrap_or(arriving);
        slots.get(place).copied()
    }
}
