use super::super::flow_queues::{FlowQueues, Hash, Ring};
use crate::spec::Limit;
use crate::{Dequeue, DropReason, Host, Packet};

/// Parameters, checked.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    pub limit: Limit,
    pub quantum: u64,
    pub buckets: usize,
    pub hash: Hash,
    /// At overflow the head of the longest queue is dropped, otherwise its tail.
    pub from_head: bool,
}

/// A queue for each bucket of flows, served in turn.
#[derive(Clone, Debug)]
pub struct Flows<P> {
    params: Params,
    pub(super) queues: FlowQueues<P>,
    pub(super) ring: Ring,
    /// DC of each queue, in bytes.
    deficit: Vec<u64>,
    /// The current queue has received its quantum.
    has_quantum: bool,
}

impl<P: Copy + Default> Flows<P> {
    pub(super) fn new(params: &Params) -> Self {
        let n = params.buckets;
        let (queues, ring, deficit) = (FlowQueues::new(n), Ring::new(n), vec![0; n]);
        Self { params: params.clone(), queues, ring, deficit, has_quantum: false }
    }

    pub fn enqueue(&mut self, packet: Packet<P>, host: &mut impl Host<P>) {
        let queue = self.params.hash.bucket(packet.meta.flow, 0, self.params.buckets);
        self.queues.push(queue, &packet);
        if self.queues.backlog(queue).packets == 1 {
            self.deficit[queue] = 0;
            self.ring.enter(queue);
        }
        while self.params.limit.is_passed_by(self.queues.total()) {
            let Some(longest) = self.longest() else { return };
            let taken =
                if self.params.from_head { self.queues.pop(longest) } else { self.queues.pop_tail(longest) };
            let Some(victim) = taken else { return };
            if self.queues.backlog(longest).packets == 0 {
                self.leave(longest);
            }
            host.dropped(victim, DropReason::OVERFLOW);
        }
    }

    pub fn dequeue(&mut self) -> Dequeue<P> {
        while let Some(queue) = self.ring.current() {
            if !core::mem::replace(&mut self.has_quantum, true) {
                self.deficit[queue] += self.params.quantum;
            }
            let Some(bytes) = self.queues.head(queue).map(|head| u64::from(head.meta.bytes)) else { break };
            if bytes > self.deficit[queue] {
                self.ring.advance();
                self.has_quantum = false;
                continue;
            }
            self.deficit[queue] -= bytes;
            let Some(packet) = self.queues.pop(queue) else { break };
            if self.queues.backlog(queue).packets == 0 {
                self.leave(queue);
            }
            return Dequeue::Packet(packet);
        }
        Dequeue::Empty
    }

    /// The queue with most bytes; of several the one whose turn comes first.
    fn longest(&self) -> Option<usize> {
        let bytes = |queue| self.queues.backlog(queue).bytes;
        self.ring.iter().reduce(|longest, queue| if bytes(queue) > bytes(longest) { queue } else { longest })
    }

    /// Remove an empty queue from the round and clear its deficit counter.
    fn leave(&mut self, queue: usize) {
        if self.ring.current() == Some(queue) {
            self.has_quantum = false;
        }
        self.deficit[queue] = 0;
        self.ring.leave(queue);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disciplines::testing::{TestHost, packet};

    fn params(quantum: u64) -> Params {
        Params { limit: Limit::Packets(10), quantum, buckets: 16, hash: Hash::Modulo, from_head: true }
    }

    fn order(queue: &mut Flows<u32>) -> Vec<u32> {
        let next = |_| match queue.dequeue() {
            Dequeue::Packet(p) => Some(p.payload),
            _ => None,
        };
        (0..20).map_while(next).collect()
    }

    /// In the manner of the paper's figures 3 and 4: quantum 500; in one queue 200, 750, 20, in the other 500, 500.
    #[test]
    fn the_papers_example() {
        let mut queue = Flows::new(&params(500));
        for (n, flow, bytes) in [(0, 1, 200), (1, 1, 750), (2, 1, 20), (3, 2, 500), (4, 2, 500)] {
            queue.enqueue(packet(n, flow, bytes), &mut TestHost::default());
        }
        // 200 leaves 300, not enough for 750; the second sends 500; then 800 are enough for 750 and 20.
        assert_eq!(order(&mut queue), [0, 3, 1, 2, 4]);
        assert!(queue.deficit.iter().all(|&d| d == 0), "an empty queue keeps no deficit");
    }

    #[test]
    fn the_longest_queue_pays_at_its_head() {
        let mut queue = Flows::new(&params(500));
        let mut host = TestHost::default();
        (0..9).for_each(|n| queue.enqueue(packet(n, 1, 500), &mut host));
        queue.enqueue(packet(9, 2, 500), &mut host);
        assert!(host.dropped.is_empty());
        queue.enqueue(packet(10, 3, 500), &mut host);
        assert_eq!(host.dropped, [0]);
        assert_eq!(order(&mut queue), [1, 9, 10, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_small_quantum_takes_rounds() {
        let mut queue = Flows::new(&params(100));
        for (n, flow) in [(0, 1), (1, 2)] {
            queue.enqueue(packet(n, flow, 1000), &mut TestHost::default());
        }
        assert_eq!(order(&mut queue), [0, 1]);
    }
}
