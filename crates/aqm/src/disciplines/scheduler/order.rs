//! The service order of the classes.

use super::super::flow_queues::Ring;

/// The service rule of the classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ServiceRule {
    /// The first class with packets.
    Priority,
    /// The one with the least start tag.
    Fair,
    /// In turn, so many bytes for a weight of the least.
    Rounds(u64),
}

/// The state of the service: which classes have packets, and the tags or credit of each.
#[derive(Clone, Debug)]
pub(super) struct ServiceOrder {
    rule: ServiceRule,
    classes: Vec<ClassService>,
    /// Start-time fair queueing: v.
    virtual_time: f64,
    /// Rounds: the class being served, and whether it has received its quantum.
    ring: Ring,
    has_quantum: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct ClassService {
    weight: f64,
    is_active: bool,
    /// It was already asked for a packet and may not send now.
    is_skipped: bool,
    /// Start tag of its next packet, and finish tag of its last.
    start: f64,
    finish: f64,
    /// DC, in bytes.
    credit: f64,
}

impl ServiceOrder {
    /// Create the state for classes of these weights, all empty.
    pub fn new(rule: ServiceRule, weights: &[f64]) -> Self {
        // In rounds the least weight counts as one.
        let unit = match rule {
            ServiceRule::Rounds(_) => weights.iter().copied().fold(f64::INFINITY, f64::min),
            ServiceRule::Priority | ServiceRule::Fair => 1.0,
        };
        let class_state = |&weight: &f64| ClassService { weight: weight / unit, ..ClassService::default() };
        let classes: Vec<_> = weights.iter().map(class_state).collect();
        let ring = Ring::new(classes.len());
        Self { rule, classes, virtual_time: 0.0, ring, has_quantum: false }
    }

    /// Record whether a class has packets.
    pub fn set_active(&mut self, class: usize, waits: bool) {
        let class_state = &mut self.classes[class];
        if class_state.is_active == waits {
            return;
        }
        class_state.is_active = waits;
        if waits {
            class_state.start = self.virtual_time.max(class_state.finish);
            self.ring.enter(class);
            return;
        }
        class_state.credit = class_state.credit.min(0.0);
        if self.ring.current() == Some(class) {
            self.has_quantum = false;
        }
        self.ring.leave(class);
    }

    /// The link is free: every class may be asked again.
    pub fn begin(&mut self) {
        self.classes.iter_mut().for_each(|class_state| class_state.is_skipped = false);
        if self.ring.len() == 0 {
            // A busy period is over: all tags count from its end on.
            self.virtual_time = 0.0;
            self.classes.iter_mut().for_each(|class_state| class_state.finish = 0.0);
        }
    }

    /// Return the class to ask for a packet.
    pub fn next(&mut self) -> Option<usize> {
        let may = |class_state: &ClassService| class_state.is_active && !class_state.is_skipped;
        match self.rule {
            ServiceRule::Priority => self.classes.iter().position(may),
            ServiceRule::Fair => {
                let asked = self.classes.iter().enumerate().filter(|(_, class_state)| may(class_state));
                asked.reduce(|a, b| if b.1.start < a.1.start { b } else { a }).map(|(class, _)| class)
            }
            ServiceRule::Rounds(quantum) => {
                if !self.classes.iter().any(may) {
                    return None;
                }
                while let Some(class) = self.ring.current() {
                    let class_state = &mut self.classes[class];
                    if !class_state.is_skipped {
                        if !core::mem::replace(&mut self.has_quantum, true) {
                            class_state.credit += quantum as f64 * class_state.weight;
                        }
                        if class_state.credit > 0.0 {
                            return Some(class);
                        }
                    }
                    self.ring.advance();
                    self.has_quantum = false;
                }
                None
            }
        }
    }

    /// Record that a class sends a packet of this length.
    pub fn sent(&mut self, class: usize, bytes: u32) {
        let class_state = &mut self.classes[class];
        self.virtual_time = self.virtual_time.max(class_state.start);
        class_state.finish = class_state.start + f64::from(bytes) / class_state.weight;
        class_state.start = class_state.finish;
        class_state.credit -= f64::from(bytes);
    }

    /// Record that a class may not send yet.
    pub fn skip(&mut self, class: usize) {
        self.classes[class].is_skipped = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The classes of the next packets, where all classes always have packets of these lengths.
    fn course(order: &mut ServiceOrder, lengths: &[u32], packets: usize) -> Vec<usize> {
        (0..lengths.len()).for_each(|class| order.set_active(class, true));
        let mut next = || {
            order.begin();
            let class = order.next().expect("a class with packets");
            order.sent(class, lengths[class]);
            class
        };
        (0..packets).map(|_| next()).collect()
    }

    #[test]
    fn the_first_class_goes_first() {
        let mut order = ServiceOrder::new(ServiceRule::Priority, &[1.0, 1.0]);
        assert_eq!(course(&mut order, &[1000, 40], 3), [0, 0, 0]);
        order.set_active(0, false);
        assert_eq!(order.next(), Some(1));
        order.skip(1);
        assert_eq!(order.next(), None);
    }

    #[test]
    fn start_tags_by_hand() {
        // Weights 2 and 1, packets of 1000: tags 0, 500, 1000, 1500 and 0, 1000, 2000.
        let mut order = ServiceOrder::new(ServiceRule::Fair, &[2.0, 1.0]);
        assert_eq!(course(&mut order, &[1000, 1000], 7), [0, 1, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn who_was_away_claims_nothing_of_the_past() {
        let mut order = ServiceOrder::new(ServiceRule::Fair, &[1.0, 1.0]);
        order.set_active(0, true);
        for _ in 0..10 {
            order.sent(0, 1000);
        }
        order.set_active(1, true);
        // v is the start tag of the packet in service, 9000; the next of class 0 has 10000.
        assert_eq!(order.classes[1].start, 9000.0);
        assert_eq!(order.next(), Some(1));
        order.set_active(0, false);
        order.set_active(1, false);
        order.begin();
        assert_eq!((order.virtual_time, order.classes[0].finish), (0.0, 0.0), "a new busy period");
    }

    #[test]
    fn rounds_by_hand() {
        // The lighter class may send 1000 a turn, the other 2000; a packet of 1500 goes into debt.
        let mut order = ServiceOrder::new(ServiceRule::Rounds(1000), &[0.5, 0.25]);
        assert_eq!(course(&mut order, &[1500, 500], 8), [0, 0, 1, 1, 0, 1, 1, 0]);
        let mut order = ServiceOrder::new(ServiceRule::Rounds(1000), &[0.5, 0.25]);
        course(&mut order, &[1500, 500], 2);
        order.set_active(0, false);
        assert_eq!(order.classes[0].credit, -1000.0, "a debt stays");
    }

    #[test]
    fn shares_follow_weights_whatever_the_lengths() {
        for rule in [ServiceRule::Fair, ServiceRule::Rounds(1500)] {
            let lengths = [1500, 40, 700];
            let mut order = ServiceOrder::new(rule, &[1.0, 2.0, 5.0]);
            let mut bytes = [0u64; 3];
            for class in course(&mut order, &lengths, 50_000) {
                bytes[class] += u64::from(lengths[class]);
            }
            let total: u64 = bytes.iter().sum();
            for (sent, share) in bytes.iter().zip([0.125, 0.25, 0.625]) {
                let part = *sent as f64 / total as f64;
                assert!((part - share).abs() < 0.002, "{rule:?}: {part} for {share}");
            }
        }
    }
}
