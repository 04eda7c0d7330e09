const NONE: u32 = u32::MAX;

/// Which queue is served next: deficit round robin over two lists (RFC 8290, sections 4.1 and 4.2).
///
/// A queue that gets a packet while it is on no list becomes a new one, with a quantum of bytes to send; new queues come
/// first. A queue that has used up its quantum gets another one and goes to the end of the old queues; so does a new queue
/// that has run empty, once, so that its flow cannot become new again before all others have had their turn. In Linux it does
/// so only where old queues are: while there are new ones alone, its flow is new again at once.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    quantum: i64,
    /// A new queue that has run empty leaves the lists where no old queues are, as in Linux.
    is_linux: bool,
    queues: Vec<Member>,
    new: List,
    old: List,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    deficit: i64,
    next: u32,
    is_listed: bool,
}

/// Queues in a ring: the next one of the last is the first.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

impl List {
    const EMPTY: Self = Self { first: NONE, last: NONE };

    fn is_empty(self) -> bool {
        self.first == NONE
    }

    /// Make the first queue the last.
    fn rotate(&mut self, queues: &[Member]) {
        self.last = self.first;
        self.first = queues[self.last as usize].next;
    }

    fn push(&mut self, queues: &mut [Member], queue: u32) {
        if self.is_empty() {
            self.first = queue;
        } else {
            queues[self.last as usize].next = queue;
        }
        queues[queue as usize].next = self.first;
        self.last = queue;
    }

    fn pop(&mut self, queues: &mut [Member]) {
        if self.first == self.last {
            *self = Self::EMPTY;
        } else {
            self.first = queues[self.first as usize].next;
            queues[self.last as usize].next = self.first;
        }
    }
}

impl Rounds {
    /// Of so many queues, none of which has a packet.
    pub fn new(queues: usize, quantum: u32, is_linux: bool) -> Self {
        let queues = vec![Member { deficit: 0, next: NONE, is_listed: false }; queues];
        Self { quantum: quantum.into(), is_linux, queues, new: List::EMPTY, old: List::EMPTY }
    }

    /// Record that a queue has received a packet.
    pub fn arrived(&mut self, queue: usize) {
        let member = &mut self.queues[queue];
        if !member.is_listed {
            member.is_listed = true;
            member.deficit = self.quantum;
            self.new.push(&mut self.queues, queue as u32);
        }
    }

    /// Return the queue to serve next.
    #[inline(always)]
    pub fn next_queue(&mut self) -> Option<usize> {
        loop {
            let is_new = !self.new.is_empty();
            let queue = if is_new { self.new.first } else { self.old.first };
            if queue == NONE {
                return None;
            }
            let member = &mut self.queues[queue as usize];
            if member.deficit > 0 {
                return Some(queue as usize);
            }
            member.deficit += self.quantum;
            if is_new {
                self.new.pop(&mut self.queues);
                self.old.push(&mut self.queues, queue);
            } else {
                self.old.rotate(&self.queues);
            }
        }
    }

    /// Record that the queue being served has sent this many bytes.
    pub fn sent(&mut self, queue: usize, bytes: u32) {
        self.queues[queue].deficit -= i64::from(bytes);
    }

    /// Record that the queue being served is empty.
    pub fn ran_empty(&mut self, queue: usize) {
        let is_new = self.new.first == queue as u32;
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.pop(&mut self.queues);
        if is_new && !(self.is_linux && self.old.is_empty()) {
            self.old.push(&mut self.queues, queue as u32);
        } else {
            self.queues[queue].is_listed = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn new_queues_come_first_and_once() {
        let mut rounds = Rounds::new(3, 1000, false);
        assert_eq!(rounds.next_queue(), None);
        rounds.arrived(0);
        rounds.arrived(1);
        assert_eq!(rounds.next_queue(), Some(0));
        rounds.sent(0, 1000);
        // 0 has become an old queue.
        assert_eq!(rounds.next_queue(), Some(1));
        rounds.sent(1, 400);
        rounds.ran_empty(1);
        // 1 waits for 0 before it can be new again.
        assert_eq!(rounds.next_queue(), Some(0));
        rounds.arrived(1);
        assert_eq!(rounds.next_queue(), Some(0));
        rounds.arrived(2);
        assert_eq!(rounds.next_queue(), Some(2), "a new queue");
        rounds.ran_empty(2);
        rounds.sent(0, 1500);
        assert_eq!(rounds.next_queue(), Some(1));
        rounds.ran_empty(1);
        assert_eq!(rounds.next_queue(), Some(2));
        rounds.ran_empty(2);
        assert_eq!(rounds.next_queue(), Some(0), "in debt, alone");
        rounds.ran_empty(0);
        assert_eq!(rounds.next_queue(), None);
        rounds.arrived(1);
        assert_eq!(rounds.next_queue(), Some(1));
    }

    #[test]
    fn a_queue_that_ran_empty_among_new_ones_alone_is_new_again_in_linux() {
        for (is_linux, order) in [(false, [1, 2, 0]), (true, [1, 0, 2])] {
            let mut rounds = Rounds::new(3, 1000, is_linux);
            rounds.arrived(0);
            rounds.arrived(1);
            assert_eq!(rounds.next_queue(), Some(0));
            rounds.ran_empty(0);
            rounds.arrived(0);
            rounds.arrived(2);
            for queue in order {
                assert_eq!(rounds.next_queue(), Some(queue));
                rounds.sent(queue, 1000);
            }
        }
    }

    proptest! {
        #[test]
        fn queues_that_never_run_empty_get_equal_shares(
            quantum in 300u32..3000,
            bytes in prop::collection::vec(40u32..1500, 2..6),
            packets in 100usize..2000,
        ) {
            let mut rounds = Rounds::new(bytes.len(), quantum, false);
            (0..bytes.len()).for_each(|queue| rounds.arrived(queue));
            let mut sent = vec![0_u32; bytes.len()];
            for _ in 0..packets {
                let queue = rounds.next_queue().expect("all wait");
                rounds.sent(queue, bytes[queue]);
                sent[queue] += bytes[queue];
            }
            // Shreedhar and Varghese 1996: apart by less than a quantum and two packets, in any time.
            let (least, most) = (sent.iter().min().unwrap_or(&0), sent.iter().max().unwrap_or(&0));
            prop_assert!(most - least <= 2 * quantum + 2 * 1500, "{sent:?}");
        }
    }
}
