use aqmlab_units::Time;

use crate::disciplines::flow_queues::FlowQueues;
use crate::disciplines::pie::linux::{self, JIFFY, Timer};
use crate::disciplines::pie::{Control, ControlLaw, Law};
use crate::{Backlog, Gauge, Host, Meta, Verdict};

/// The controllers of all queues.
#[derive(Clone, Debug)]
pub(super) enum Controls {
    /// Each computes its steps when its queue is used.
    Rfc { law: ControlLaw, controls: Vec<Control> },
    /// A timer computes the steps of all.
    Linux { law: linux::Law, controls: Vec<linux::Control>, batches: Batches },
}

/// The steps of Linux, of which an expiry of the timer computes a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batches {
    timer: Timer,
    /// The first queue of the next batch.
    cursor: usize,
}

impl Batches {
    /// Queues of a batch.
    const SIZE: usize = 2048;
}

impl Controls {
    /// Create the controllers of empty queues.
    pub fn new(law: Law, queues: usize) -> Self {
        match law {
            Law::Rfc(law) => Self::Rfc { law, controls: vec![Control::new(&law); queues] },
            Law::Linux(law) => Self::Linux {
                law,
                controls: vec![linux::Control::new(&law); queues],
                batches: Batches { timer: Timer::new(), cursor: 0 },
            },
        }
    }

    /// Compute the steps of a queue that are due.
    pub fn catch_up(&mut self, queue: usize, now: Time, backlog: Backlog) {
        if let Self::Rfc { law, controls } = self {
            controls[queue].catch_up(law, now, backlog);
        }
    }

    /// Decide about a packet that arrives at a queue, for which there is room.
    pub fn decide<P>(
        &mut self,
        queue: usize,
        meta: &Meta,
        before: Backlog,
        host: &mut impl Host<P>,
    ) -> Verdict {
        match self {
            Self::Rfc { law, controls } => controls[queue].decide(law, meta, before, host),
            Self::Linux { law, controls, .. } => controls[queue].decide(law, meta, before, host),
        }
    }

    /// Record a packet of a queue dropped because the buffer is full.
    pub fn overflowed(&mut self, queue: usize) {
        match self {
            Self::Rfc { controls, .. } => controls[queue].overflowed(),
            Self::Linux { controls, .. } => controls[queue].dropped(),
        }
    }

    /// A packet leaves a queue at `now`; `again` reads the clock again.
    pub fn departed(
        &mut self,
        queue: usize,
        now: Time,
        meta: &Meta,
        left: Backlog,
        again: impl FnMut() -> Time,
    ) {
        match self {
            Self::Rfc { law, controls } => controls[queue].departed(law, now, meta, left),
            Self::Linux { law, controls, .. } => controls[queue].departed(law, now, meta, left, again),
        }
    }

    /// Return when the next batch of steps is due.
    pub fn next_timer(&self) -> Option<Time> {
        match self {
            Self::Rfc { .. } => None,
            Self::Linux { batches, .. } => batches.timer.next(),
        }
    }

    /// Compute the batches that are due by `now`.
    pub fn on_timer<P: Copy + Default>(&mut self, now: Time, queues: &FlowQueues<P>) {
        while matches!(self, Self::Linux { batches, .. } if batches.timer.is_due(now)) {
            self.step(queues);
        }
    }

    /// Let no batch run by itself.
    pub fn stop_timer(&mut self) {
        if let Self::Linux { batches, .. } = self {
            batches.timer.stop();
        }
    }

    /// Compute a batch of steps in the dialect of Linux.
    pub fn step<P: Copy + Default>(&mut self, queues: &FlowQueues<P>) {
        let Self::Linux { law, controls, batches } = self else { return };
        let end = controls.len().min(batches.cursor + Batches::SIZE);
        for (queue, control) in (batches.cursor..end).zip(&mut controls[batches.cursor..end]) {
            let backlog = queues.backlog(queue);
            if !control.is_at_rest(law, backlog) {
                control.step(law, backlog);
            }
        }
        let is_last = end == controls.len();
        batches.cursor = if is_last { 0 } else { end };
        batches.timer.advance(if is_last { law.t_update } else { JIFFY });
    }

    /// Report the gauges of a queue.
    pub fn gauges(&self, queue: usize, out: &mut dyn FnMut(Gauge, f64)) {
        match self {
            Self::Rfc { controls, .. } => controls[queue].gauges(out),
            Self::Linux { controls, .. } => controls[queue].gauges(out),
        }
    }
}
