//! Evaluation of an acknowledgement: which segments have arrived, their round-trip times, and reordering.
//!
//! Round-trip times are those of segments that were sent once (Karn's rule, RFC 6298, section 3); where an
//! acknowledgement covers retransmissions, the echoed time stamp is used instead (RFC 7323, section 4). The estimator
//! takes the time of the first segment that an acknowledgement newly covers, congestion control that of the last, which
//! no delayed acknowledgement has lengthened (Linux).

use aqmlab_units::{Span, Time};

use super::congestion::AckFeedback;
use super::prr::Delivery;
use super::rack::Losses;
use super::scoreboard::Segment;
use super::{Sender, expand};
use crate::{Ack, MAX_SACK_BLOCKS};

/// The changes that an acknowledgement reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct News {
    /// The first outstanding segment before it, and whether it is a later one now.
    pub una: u64,
    pub advanced: bool,
    /// Segments beyond it are newly known to have arrived.
    pub sacked: bool,
    /// One past the last segment of a duplicate that is reported.
    pub duplicate: Option<u64>,
    /// Whether a mark is echoed, and how many are reported.
    pub echo: bool,
    pub marked: u64,
    /// A segment that was sent once, before the last reduction, has arrived.
    pub original: bool,
    /// The echoed time stamp.
    pub ts_echo: Time,
    /// Segments newly known to have arrived.
    pub delivered: u64,
    /// Segments found lost because of it.
    pub losses: Losses,
    /// The timer restarts.
    pub restarts_timer: bool,
    /// How long the last segment took that it covers.
    pub rtt: Option<Span>,
    /// When the first and the last of the segments were sent that it acknowledges, and that it selectively does; each sent
    /// once.
    acked: Option<(Time, Time)>,
    sacks: Option<(Time, Time)>,
    /// It covers a retransmission.
    ambiguous: bool,
}

impl News {
    /// The part that the window's control needs.
    pub fn delivery(&self) -> Delivery {
        Delivery { delivered: self.delivered, lost: self.losses.all, advanced: self.advanced }
    }

    /// Whether it is a duplicate acknowledgement in the strict sense.
    pub fn is_pure_duplicate(&self) -> bool {
        !self.advanced && !self.sacked && self.duplicate.is_none()
    }
}

fn extend(times: &mut Option<(Time, Time)>, sent: Time) {
    let first = times.map_or(sent, |(first, _)| first);
    *times = Some((first, sent));
}

impl Sender {
    /// Takes in the acknowledgement of all segments before `reached`.
    pub(super) fn take(&mut self, now: Time, ack: &Ack, reached: u64) -> News {
        let mut news = News { ts_echo: ack.ts_echo, una: self.board.una(), ..News::default() };
        if let Some(quic) = &mut self.quic {
            quic.begin_acknowledgement(ack.ts_echo);
        }
        if self.config.sack && !ack.sack.is_empty() {
            self.take_blocks(now, ack, reached, &mut news);
        }
        if reached > self.board.una() {
            self.take_edge(now, reached, &mut news);
        }
        if self.config.is_quic() {
            self.measure_packet(now, ack, &mut news);
        } else {
            self.measure(now, &mut news);
        }
        let (echo, marked) = self.ecn.marked(ack, news.delivered);
        news.echo = echo;
        news.marked = marked;
        if self.congestion.needs_feedback() {
            let edges = (self.board.una(), self.board.next());
            let one_way =
                (ack.stamp > Time::ZERO && self.quic.is_none()).then(|| ack.stamp.since(ack.ts_echo));
            let feedback =
                AckFeedback { delivered: news.delivered, marked, edges, one_way, srtt: self.rtt.srtt() };
            self.congestion.on_feedback(&self.window, now, &feedback);
        }
        news
    }

    /// SACK blocks, in the order of their numbers; a first one that the acknowledgement or the second covers reports a
    /// duplicate (RFC 2883, section 4).
    fn take_blocks(&mut self, now: Time, ack: &Ack, reached: u64, news: &mut News) {
        let una = self.seq(self.board.una());
        let edge = self.seq(reached);
        let mut runs = [(0, 0); MAX_SACK_BLOCKS];
        let mut len = 0;
        for block in ack.sack.as_slice() {
            runs[len] = (expand(block.left as u32, una), expand(block.right as u32, una));
            len += 1;
        }
        let runs = &mut runs[..len];
        let covered = len > 1 && runs[1].0 <= runs[0].0 && runs[0].1 <= runs[1].1;
        if runs[0].1 <= edge || covered {
            let end = self.segments(runs[0].1);
            news.duplicate = Some(end);
            self.undo.note_duplicate(end, self.board.una());
            self.rack.note_duplicate(self.board.una(), self.board.next());
            runs[0] = (0, 0);
        }
        runs.sort_unstable();
        let mut overtaken = None;
        let mut sacked_runs = [(0, 0); MAX_SACK_BLOCKS];
        for (run, segments) in runs.iter().zip(&mut sacked_runs) {
            let first = self.segment_from(run.0);
            let end = self.segments(run.1).min(self.board.next());
            *segments = (first, end);
            // Skip the part of the run that an earlier acknowledgement reported.
            let known = self.sacked_runs.iter().filter(|t| t.0 <= first && first <= t.1).map(|t| t.1).max();
            for k in known.unwrap_or(first).max(self.board.una())..end {
                self.take_sack(now, k, &mut overtaken, news);
            }
        }
        self.sacked_runs = sacked_runs;
        if let Some(k) = overtaken {
            self.note_reordering(k);
        }
    }

    fn take_sack(&mut self, now: Time, k: u64, overtaken: &mut Option<u64>, news: &mut News) {
        let is_overtaken = k < self.board.highest_sacked();
        let Some(segment) = self.board.sack(k) else { return };
        news.sacked = true;
        news.delivered += 1;
        self.note_arrival(now, k, &segment, news.ts_echo);
        if !segment.was_resent() {
            extend(&mut news.sacks, segment.sent);
            news.original |= k < self.recovery.high;
            if is_overtaken && overtaken.is_none() {
                *overtaken = Some(k);
            }
        }
    }

    /// Segment `k` arrived behind higher ones, of which all below the first outstanding one have arrived too.
    pub(super) fn note_reordering(&mut self, k: u64) {
        self.rack.note_reordering(self.board.highest_sacked().max(self.board.una()) - k);
    }

    fn take_edge(&mut self, now: Time, reached: u64, news: &mut News) {
        news.advanced = true;
        self.recovery.timeouts = 0;
        let mut fresh = 0;
        let mut overtaken = None;
        while self.board.una() < reached {
            let k = self.board.una();
            let segment = self.board.pop();
            news.ambiguous |= segment.was_resent();
            if segment.is_sacked() {
                continue;
            }
            fresh += 1;
            self.note_arrival(now, k, &segment, news.ts_echo);
            if !segment.was_resent() {
                extend(&mut news.acked, segment.sent);
                news.original |= k < self.recovery.high;
                if k < self.board.highest_sacked() && overtaken.is_none() {
                    overtaken = Some(k);
                }
            }
        }
        if let Some(k) = overtaken {
            self.note_reordering(k);
        }
        // Without SACK, one segment filled the hole and the duplicates have reported the others.
        let dupacks = self.recovery.dupacks;
        self.recovery.dupacks = dupacks.saturating_sub(fresh - fresh.min(1));
        news.delivered += if dupacks > 0 { fresh.saturating_sub(dupacks).max(1) } else { fresh };
    }

    /// Update RACK, unless the answer is one to the original of a retransmission (RFC 8985, section 6.2, step 2).
    fn note_arrival(&mut self, now: Time, k: u64, segment: &Segment, ts_echo: Time) {
        self.congestion.note_arrived(now, k);
        if let Some(quic) = &mut self.quic {
            quic.note_arrival(segment);
            return;
        }
        let spurious = self.config.timestamps && segment.was_resent() && ts_echo < segment.sent;
        if !spurious {
            self.rack.advance(now, k, segment, self.rtt.least());
        }
    }

    fn measure(&mut self, now: Time, news: &mut News) {
        let since = |sent: Time| now.since(sent);
        let acked = news.acked.filter(|_| !news.ambiguous);
        let by_time_stamp = (self.config.timestamps && news.advanced).then_some((news.ts_echo, news.ts_echo));
        let first = acked.or(news.sacks).or(by_time_stamp).map(|times| since(times.0));
        let last = news.sacks.or(acked).or(by_time_stamp).map(|times| since(times.1));
        if let (Some(first), Some(last)) = (first, last) {
            self.rtt.note_least(last);
            news.rtt = Some(last);
            self.sample(first);
            let edges = (self.board.una(), self.board.next());
            let srtt = self.rtt.srtt().unwrap_or(last);
            self.congestion.on_sample(&mut self.window, now, (last, srtt), edges);
        }
        news.restarts_timer = news.advanced
            || self.board.outstanding() > 0
                && news
                    .sacks
                    .is_some_and(|times| since(times.0) > since(self.board.segment(self.board.una()).sent));
    }

    /// Takes a round-trip sample.
    pub(super) fn sample(&mut self, sample: Span) {
        self.rtt.sample(&self.config, sample, (self.board.una(), self.board.next()));
        let c = &mut self.counters;
        c.rtt_min = if c.rtt_samples == 0 { sample } else { c.rtt_min.min(sample) };
        c.rtt_max = c.rtt_max.max(sample);
        c.rtt_samples += 1;
        c.rtt_sum = c.rtt_sum + sample;
    }
}
