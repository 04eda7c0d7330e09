//! Proportional rate reduction: how the window shrinks to the threshold during recovery.
//!
//! M. Mathis et al., RFC 6937, section 3, in the reading of Linux 6. On each acknowledgement that delivers segments:
//!
//! ```text
//! prr_delivered += delivered
//! pipe > ssthresh:   sndcnt = ceil(prr_delivered ssthresh / prior) - prr_out
//! otherwise:         sndcnt = max(prr_delivered - prr_out, delivered), and one more if the edge moved and nothing
//!                    new was lost; at most ssthresh - pipe
//! sndcnt >= 1 while nothing has been sent, and cwnd = pipe + sndcnt
//! ```
//!
//! The second case is the conservative bound while there are losses, and the slow-start bound otherwise.

use super::window::{ceil, real};

/// One reduction.
#[derive(Clone, Debug, Default)]
pub struct Prr {
    /// Window before it.
    prior: f64,
    delivered: u64,
    out: u64,
}

/// The segments that an acknowledgement delivered.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Segments newly acknowledged or selectively acknowledged.
    pub delivered: u64,
    /// Segments newly found lost.
    pub lost: u64,
    /// Whether the first outstanding segment is a later one now.
    pub advanced: bool,
}

impl Prr {
    /// Begins a reduction of window `cwnd`.
    pub fn begin(cwnd: f64) -> Self {
        Self { prior: cwnd, delivered: 0, out: 0 }
    }

    /// The window before the reduction.
    pub fn prior(&self) -> f64 {
        self.prior
    }

    /// Segments were sent, new or again.
    pub fn note_sent(&mut self, segments: u64) {
        self.out += segments;
    }

    /// The window after an acknowledgement; `None` if it delivers nothing.
    pub fn window(&mut self, pipe: u64, ssthresh: f64, ack: Delivery) -> Option<f64> {
        if ack.delivered == 0 {
            return None;
        }
        self.delivered += ack.delivered;
        let pipe = real(pipe);
        let room = ssthresh - pipe;
        let mut count = if room < 0.0 {
            ceil(real(self.delivered) * ssthresh / self.prior) - real(self.out)
        } else {
            let repaying = real(self.delivered) - real(self.out);
            let more = f64::from(ack.advanced && ack.lost == 0);
            (repaying.max(real(ack.delivered)) + more).min(room)
        };
        if self.out == 0 {
            count = count.max(1.0);
        }
        Some(pipe + count.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets a sender with one lost segment of `cwnd` and a threshold of half recover; the pipe behind each
    /// acknowledgement, after sending.
    fn one_loss(cwnd: u64) -> Vec<u64> {
        let ssthresh = (cwnd / 2) as f64;
        let mut prr = Prr::begin(cwnd as f64);
        // Three are sacked, one is lost.
        let mut pipe = cwnd - 4;
        let mut pipes = Vec::new();
        let mut delivered = 3;
        for _ in 3..cwnd {
            let ack = Delivery { delivered, lost: u64::from(delivered == 3), advanced: false };
            let window = prr.window(pipe, ssthresh, ack).unwrap() as u64;
            while pipe < window {
                pipe += 1;
                prr.note_sent(1);
            }
            pipes.push(pipe);
            pipe -= 1;
            delivered = 1;
        }
        pipes
    }

    #[test]
    fn one_of_two_delivered_is_replaced() {
        // RFC 6937's table of a window of 20, from the third duplicate on: 16 in flight, ceil(3/2) = 2 sent; then one
        // for every second acknowledgement, ceil((3 + k) / 2) in all; at the threshold, one for one.
        assert_eq!(one_loss(20), [18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 10, 10, 10]);
    }

    #[test]
    fn below_the_threshold_it_sends_what_was_delivered_or_one_more() {
        let mut prr = Prr { prior: 20.0, delivered: 10, out: 10 };
        let ack = |delivered, lost, advanced| Delivery { delivered, lost, advanced };
        assert_eq!(prr.clone().window(4, 10.0, ack(1, 0, false)), Some(5.0), "conservative bound");
        assert_eq!(prr.clone().window(4, 10.0, ack(1, 0, true)), Some(6.0), "slow start");
        assert_eq!(prr.clone().window(4, 10.0, ack(2, 1, true)), Some(6.0), "new losses");
        assert_eq!(prr.clone().window(9, 10.0, ack(4, 0, true)), Some(10.0), "up to the threshold");
        assert_eq!(prr.window(4, 10.0, ack(0, 3, true)), None);
    }

    #[test]
    fn the_first_answer_sends_one_in_any_case() {
        let mut prr = Prr::begin(20.0);
        assert_eq!(prr.window(10, 10.0, Delivery { delivered: 1, lost: 9, advanced: false }), Some(11.0));
        prr.note_sent(1);
        assert_eq!(prr.window(10, 10.0, Delivery { delivered: 1, lost: 9, advanced: false }), Some(10.0));
    }
}
