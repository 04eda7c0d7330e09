use std::collections::VecDeque;
use std::sync::Arc;

use super::{Among, VictimRule};
use crate::indexed::{Indexed, Tag};
use crate::plugin;
use crate::{DropReason, Host, Meta};

/// The rule of a plug-in. It sees all waiting packets, with the arriving packet as the last.
#[derive(Clone, Debug)]
pub struct Custom(pub Arc<dyn plugin::VictimRule>);

impl VictimRule for Custom {
    fn among(&self, _: DropReason, _: bool) -> Among {
        Among::All
    }

    fn pick<P: Copy>(&self, queue: &mut Indexed<P>, host: &mut impl Host<P>) -> Option<usize> {
        let index = queue.index(|_| Tag { key: 0, open: true });
        let slots: Vec<usize> = (0..).map_while(|n| index.nth(n)).collect();
        let waiting: VecDeque<Meta> =
            slots.iter().filter_map(|&slot| Some(queue.get_mut(slot)?.meta)).collect();
        let arriving = slots.len().checked_sub(1)?;
        let place = self.0.pick(&waiting, &mut || host.uniform()).unwrap_or(arriving);
        slots.get(place).copied()
    }
}
