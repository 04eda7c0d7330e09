//! Playout buffers. A buffer plays packet i a playout delay p_i after it was sent; a packet whose delay n_i exceeds p_i is late,
//! and as good as lost.
//!
//! * adaptive: algorithm 2 of R. Ramjee, J. Kurose, D. Towsley and H. Schulzrinne, "Adaptive Playout Mechanisms for Packetized
//!   Audio Applications in Wide-Area Networks", INFOCOM 1994. The delay is set at the beginning of each talkspurt from the
//!   packets that arrived before its first, and rises faster than it falls, as D. Mills proposed in RFC 889:
//!
//!   ```text
//!   d_i = w d_(i-1) + (1 - w) n_i         w = beta = 0.75 if n_i > d_(i-1), else alpha = 0.998002; d_0 = n_0
//!   v_i = alpha v_(i-1) + (1 - alpha) |d_i - n_i|                                                  v_0 = 0
//!   p   = d + max(4 v, frame)
//!   ```
//!
//!   Readings: a call of this program is never silent, so that a talkspurt is a second (ITU-T P.59 has a mean of 1.004 s), after
//!   which the buffer is free to move. The first talkspurt is played `n_0 + jitter` after it was sent, since there is no estimate
//!   of the variation yet. The buffer holds at least a frame, as a player takes whole frames from it; without that bound, which
//!   the paper lacks, a packet in a network without queues is late for a microsecond.
//! * fixed: `p_i = n_0 + jitter` to the end of the call.

const ALPHA: f64 = 0.998002;
const BETA: f64 = 0.75;
/// The length of a talkspurt.
pub const TALKSPURT_S: f64 = 1.0;
/// How long after its arrival the first packet is played.
pub const JITTER_S: f64 = 0.06;
/// Speech in a packet, of a call of which fewer than two packets arrived.
pub const FRAME_S: f64 = 0.02;

/// How a playout buffer sets its delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Playout {
    /// By the delays that it sees.
    #[default]
    Adaptive,
    /// Once.
    Fixed,
}

impl Playout {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Adaptive, Self::Fixed];

    /// Return its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::Fixed => "fixed",
        }
    }
}

/// A playout buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer {
    /// How it sets its delay.
    pub playout: Playout,
    /// How long after its arrival the first packet is played; with the adaptive buffer only the first talkspurt is played so.
    pub jitter_s: f64,
    /// Speech in a packet.
    pub frame_s: f64,
    /// The speech after which the adaptive buffer sets its delay again.
    pub talkspurt_s: f64,
}

impl Buffer {
    /// Return the playout delay of each of the `sent` packets, in s.
    ///
    /// `numbers` and `delays_s` are those of the packets that arrived, in order of arrival, counted from 0. Without any the delays
    /// are NaN.
    pub fn delays(&self, numbers: &[usize], delays_s: &[f64], sent: usize) -> Vec<f64> {
        let first = delays_s.first().copied().unwrap_or(f64::NAN);
        let mut found = vec![first + self.jitter_s; sent];
        if self.playout == Playout::Fixed {
            return found;
        }
        let packets = ((self.talkspurt_s / self.frame_s).round_ties_even() as usize).max(1);
        let (mut d, mut v) = (first, 0.0);
        let mut arrivals = numbers.iter().zip(delays_s).skip(1).peekable();
        for (talkspurt, played) in found.chunks_mut(packets).enumerate().skip(1) {
            while let Some((_, &n)) = arrivals.next_if(|&(&number, _)| number < talkspurt * packets) {
                let weight = if n > d { BETA } else { ALPHA };
                d = weight * d + (1.0 - weight) * n;
                v = ALPHA * v + (1.0 - ALPHA) * (d - n).abs();
            }
            played.fill(d + (4.0 * v).max(self.frame_s));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: &[f64], due: &[f64]) {
        assert_eq!(found.len(), due.len());
        assert!(found.iter().zip(due).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?} {due:?}");
    }

    #[test]
    fn a_fixed_buffer_keeps_its_delay() {
        let buffer =
            Buffer { playout: Playout::Fixed, jitter_s: JITTER_S, frame_s: FRAME_S, talkspurt_s: 1.0 };
        near(&buffer.delays(&[0, 1], &[0.03, 0.04], 2), &[0.09, 0.09]);
    }

    #[test]
    fn an_adaptive_buffer_by_hand() {
        // A talkspurt of two packets. The first one has the buffer's own 60 ms.
        let buffer =
            Buffer { playout: Playout::Adaptive, jitter_s: JITTER_S, frame_s: 1e-4, talkspurt_s: 2e-4 };
        let playing = buffer.delays(&[0, 1, 2, 3, 4], &[0.1, 0.2, 0.15, 0.15, 0.15], 5);
        // n_1 > d: d = 0.75 * 0.1 + 0.25 * 0.2, v = (1 - alpha) * |d - 0.2|.
        let (d, v) = (0.125, 0.001998 * 0.075);
        near(&playing[..2], &[0.16; 2]);
        near(&playing[2..4], &[d + 4.0 * v; 2]);
        // Twice 0.15 > d: 0.75 * 0.125 + 0.25 * 0.15 = 0.13125, then 0.1359375.
        let v = 0.998002 * v + 0.001998 * (0.15 - 0.13125);
        let v = 0.998002 * v + 0.001998 * (0.15 - 0.1359375);
        near(&playing[4..], &[0.1359375 + 4.0 * v]);
        // A lower delay counts with 1 - alpha: d = 0.2 - 0.001998 * 0.1, v = 0.001998 * (d - 0.1).
        let falls = buffer.delays(&[0, 1], &[0.2, 0.1], 3);
        near(&falls[2..], &[0.1998002 + 4.0 * 0.001998 * 0.0998002]);
    }
}
