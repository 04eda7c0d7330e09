//! The score of one direction of a call, from its packets to its MOS.

use aqmlab_netsim::Words;
use serde::Serialize;

use super::e_model::{self, LossModel};
use super::playout::{Buffer, FRAME_S, JITTER_S, Playout, TALKSPURT_S};
use crate::sum::mean;

/// Packets sent so shortly before the last one that arrived are not judged: others may be under way.
pub const UNDER_WAY_S: f64 = 0.5;

/// How calls are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judging {
    /// How the playout buffer sets its delay.
    pub playout: Playout,
    /// How long after its arrival the first packet is played.
    pub jitter_s: f64,
    /// Speech in a packet; `None`: the time between two packets.
    pub frame_s: Option<f64>,
    /// How loss impairs a call.
    pub model: LossModel,
    /// Whether the burst ratio is that of the packets that were not played, or 1.
    pub bursts: bool,
}

impl Default for Judging {
    fn default() -> Self {
        Self {
            playout: Playout::default(),
            jitter_s: JITTER_S,
            frame_s: None,
            model: LossModel::default(),
            bursts: false,
        }
    }
}

/// One direction of a call.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    /// Packets that were sent.
    pub sent: usize,
    /// Packets that arrived.
    pub received: usize,
    /// Packets that came too late to be played.
    pub late: usize,
    /// Mean one-way delay of the packets that arrived.
    pub mean_delay_s: f64,
    /// From speaking to hearing; the mean over all packets, late and lost ones too.
    pub mouth_to_ear_s: f64,
    /// Share of the packets that were not played.
    pub loss: f64,
    /// Transmission rating factor.
    pub r: f64,
    /// Mean opinion score.
    pub mos: f64,
}

/// The score of one direction, by the name of its flow.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionScore {
    /// The name of the flow.
    pub flow: String,
    /// Its score.
    pub score: Score,
}

impl Judging {
    /// Score one direction of a call.
    ///
    /// `numbers` and `delays_s` are those of the packets that arrived, in order of arrival, counted from 0 to below `sent`. A sound
    /// is played `frame + p_i` after it was spoken.
    pub fn score(&self, numbers: &[usize], delays_s: &[f64], sent: usize) -> Score {
        let received = numbers.len();
        if received == 0 {
            let (mean_delay_s, mouth_to_ear_s) = (f64::NAN, f64::NAN);
            let (loss, r, mos) = (1.0, 0.0, e_model::WORST);
            return Score { sent, received, late: 0, mean_delay_s, mouth_to_ear_s, loss, r, mos };
        }
        let frame_s = self.frame_s.unwrap_or(FRAME_S);
        let buffer =
            Buffer { playout: self.playout, jitter_s: self.jitter_s, frame_s, talkspurt_s: TALKSPURT_S };
        let playing = buffer.delays(numbers, delays_s, sent);
        let mut lost = vec![true; sent];
        let mut late = 0;
        for (&number, &delay) in numbers.iter().zip(delays_s) {
            if delay <= playing[number] {
                lost[number] = false;
            } else {
                late += 1;
            }
        }
        let played = lost.iter().filter(|lost| !**lost).count();
        let loss = 1.0 - played as f64 / sent as f64;
        let mouth_to_ear_s = frame_s + mean(&playing);
        let burst_ratio = if self.bursts { e_model::burst_ratio(&lost) } else { 1.0 };
        let r = e_model::rating(mouth_to_ear_s, loss, self.model, burst_ratio);
        let mean_delay_s = mean(delays_s);
        Score { sent, received, late, mean_delay_s, mouth_to_ear_s, loss, r, mos: e_model::opinion(r) }
    }
}

/// Packets of calls that arrived: columns of the table `call_packets`, those of a flow in order of arrival. Where nothing arrived at the
/// end of a flow, its last packet follows, without a delay.
#[derive(Clone, Copy, Debug)]
pub struct Packets<'p> {
    /// The flow of each packet.
    pub flows: &'p Words,
    /// Its number in the flow, from 0.
    pub numbers: &'p [f64],
    /// When it was sent.
    pub sent_s: &'p [f64],
    /// How long it took; NaN of a packet that did not arrive.
    pub delays_s: &'p [f64],
}

impl Packets<'_> {
    /// Score every direction, in the order of their first packets. Packets sent in the last half second before the last one of the
    /// table are not judged.
    pub fn scores(&self, judging: &Judging) -> Vec<DirectionScore> {
        let mut rows = vec![Vec::new(); self.flows.different().len()];
        for (row, &place) in self.flows.places().iter().enumerate() {
            rows[place as usize].push(row);
        }
        let scored = |(flow, rows): (&str, Vec<usize>)| DirectionScore {
            flow: flow.to_owned(),
            score: self.score(rows, judging),
        };
        self.flows.different().zip(rows).map(scored).collect()
    }

    fn score(&self, mut rows: Vec<usize>, judging: &Judging) -> Score {
        let last = rows.iter().map(|&row| self.sent_s[row]).fold(f64::NEG_INFINITY, f64::max);
        let unheard = rows.iter().copied().find(|&row| self.delays_s[row].is_nan());
        let of_all = unheard.and_then(|_| self.frame(&rows));
        rows.retain(|&row| self.sent_s[row] <= last - UNDER_WAY_S && !self.delays_s[row].is_nan());
        let frame_s = judging.frame_s.or(of_all).or_else(|| self.frame(&rows));
        let numbers: Vec<_> = rows.iter().map(|&row| self.numbers[row] as usize).collect();
        let delays: Vec<_> = rows.iter().map(|&row| self.delays_s[row]).collect();
        let sent = match unheard {
            None => numbers.iter().max().map_or(0, |most| most + 1),
            Some(row) => {
                let under_way = (UNDER_WAY_S / frame_s.unwrap_or(FRAME_S)).ceil() as usize;
                (self.numbers[row] as usize + 1).saturating_sub(under_way)
            }
        };
        Judging { frame_s, ..*judging }.score(&numbers, &delays, sent)
    }

    /// Return the time between two packets, to the nanosecond; `None` of fewer than two.
    fn frame(&self, rows: &[usize]) -> Option<f64> {
        let number = |row: usize| self.numbers[row];
        let first = rows.iter().copied().reduce(|a, b| if number(b) < number(a) { b } else { a })?;
        let last = rows.iter().copied().reduce(|a, b| if number(b) > number(a) { b } else { a })?;
        let between = (self.sent_s[last] - self.sent_s[first]) / (number(last) - number(first));
        // Through text, which rounds the decimal fraction of the number itself.
        (rows.len() > 1).then(|| format!("{between:.9}").parse().unwrap_or(FRAME_S))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIXED: Judging = Judging {
        playout: Playout::Fixed,
        jitter_s: JITTER_S,
        frame_s: None,
        model: LossModel::G107,
        bursts: false,
    };

    fn near(found: f64, due: f64) {
        assert!((found - due).abs() < 1e-12, "{found} {due}");
    }

    #[test]
    fn a_direction_by_hand() {
        // Packet 2 is lost; the buffer plays 60 ms after the first arrival, which packet 3 misses.
        let found = FIXED.score(&[0, 1, 3, 4], &[0.030, 0.090, 0.091, 0.025], 5);
        assert_eq!((found.sent, found.received, found.late), (5, 4, 1));
        near(found.mean_delay_s, 0.059);
        near(found.mouth_to_ear_s, 0.02 + 0.03 + 0.06);
        near(found.loss, 0.4);
        near(found.r, 94.2 - 0.024 * 110.0 - 95.0 * 40.0 / 65.1);
        assert_eq!(FIXED.score(&[], &[], 5).mos, 1.0);
    }

    #[test]
    fn without_variation_a_frame_is_held() {
        // 0.1 + 0.02 in the second talkspurt of 50 packets, in which 0.13 is late.
        let mut delays = vec![0.1; 60];
        delays[59] = 0.13;
        let found = Judging::default().score(&(0..60).collect::<Vec<_>>(), &delays, 60);
        assert_eq!(found.late, 1);
        near(found.mouth_to_ear_s, 0.02 + (50.0 * 0.16 + 10.0 * 0.12) / 60.0);
    }

    #[test]
    fn an_adaptive_buffer_follows_a_queue_that_builds_up() {
        // A call that starts on an empty queue, which is full a second later: 30 ms, then 330 ms.
        let delays: Vec<_> = (0..1000).map(|i| if i < 50 { 0.03 } else { 0.33 }).collect();
        let numbers: Vec<_> = (0..1000).collect();
        let (fixed, adaptive) =
            (FIXED.score(&numbers, &delays, 1000), Judging::default().score(&numbers, &delays, 1000));
        near(fixed.loss, 0.95);
        assert!(adaptive.loss < 0.06 && adaptive.mouth_to_ear_s < 0.36);
        // R = 94.2 - 2.6 - 95 * 95 / 120.1 against 94.2 - 8.3 - 18 - 95 * 5 / 30.1.
        assert!(fixed.mos < 1.2 && adaptive.mos > 2.5);
    }

    #[test]
    fn the_last_half_second_is_not_judged() {
        let flows: Words = ["a.there"; 40].into_iter().collect();
        let numbers: Vec<_> = (0..40).map(f64::from).collect();
        let sent_s: Vec<_> = numbers.iter().map(|number| 0.02 * number).collect();
        let packets = Packets { flows: &flows, numbers: &numbers, sent_s: &sent_s, delays_s: &[0.05; 40] };
        let found = packets.scores(&Judging::default());
        assert_eq!((found.len(), found[0].flow.as_str(), found[0].score.sent), (1, "a.there", 15));
        near(found[0].score.mouth_to_ear_s, 0.02 + 0.05 + 0.06);
        // All but the first 20 are lost: of 200 packets those of the last half second are not judged.
        let numbers: Vec<_> = (0..20).map(f64::from).chain([199.0]).collect();
        let sent_s: Vec<_> = numbers.iter().map(|number| 0.02 * number).collect();
        let delays_s: Vec<_> = [0.05; 20].into_iter().chain([f64::NAN]).collect();
        let flows: Words = ["a.there"; 21].into_iter().collect();
        let silent = Packets { flows: &flows, numbers: &numbers, sent_s: &sent_s, delays_s: &delays_s };
        let found = silent.scores(&Judging::default())[0].score;
        assert_eq!((found.sent, found.received), (175, 20));
        near(found.loss, 1.0 - 20.0 / 175.0);
        // None arrived.
        let flows: Words = ["a.there"].into_iter().collect();
        let dead = Packets { flows: &flows, numbers: &[49.0], sent_s: &[1.0], delays_s: &[f64::NAN] };
        let found = dead.scores(&Judging::default())[0].score;
        assert_eq!((found.sent, found.loss, found.mos), (25, 1.0, e_model::WORST));
        let short = Packets { delays_s: &[0.05; 40], ..packets };
        assert_eq!(short.frame(&[3]), None);
        assert_eq!(short.frame(&[4, 2, 3]), Some(0.02));
    }
}
