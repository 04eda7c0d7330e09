//! Loss detection of QUIC: each transmission has its own packet number, so that an acknowledgement of a retransmission is not
//! ambiguous.
//!
//! J. Iyengar and I. Swett, RFC 9002:
//!
//! ```text
//! lost:            sent before the largest acknowledged packet, and                                  (section 6.1)
//!                  largest acknowledged - packet number >= 3                                         (6.1.1)
//!                  or now - sent >= max(9/8 max(SRTT, latest RTT), 1 ms)                             (6.1.2)
//! PTO:             SRTT + max(4 RTTVAR, 1 ms) + max_ack_delay after the last packet sent, doubled by
//!                  each expiry until a packet is acknowledged                                        (6.2.1)
//! congestion:      one reduction for all packets sent before it; it is over when a packet
//!                  sent after it is acknowledged                                                     (7.3.2)
//! persistent:      packets are lost that were sent over more than 3 PTO, and none between them has
//!                  arrived: cwnd = 2                                                                 (7.6)
//! ```
//!
//! An expiry of the probe time-out takes nothing for lost: it sends a lost segment, new data, or the first outstanding segment again,
//! one packet whatever the window is (section 6.2.4).
//!
//! The number of a packet is its time stamp: of packets sent at one time, each one's is a picosecond above that of the one before. An
//! acknowledgement echoes the largest that has arrived and says how long it was held back; which data has arrived is reported as in TCP,
//! in bytes.
//!
//! # Differences from RFC 9002
//! 1. A segment whose retransmission is on its way counts as arrived when any of its transmissions arrives, and once in the bytes in
//!    flight.
//! 2. An older transmission that is superseded by a retransmission gives a sample of the round-trip time, but does not raise the
//!    largest packet number for the packet threshold.
//! 3. The handshake is TCP's, with `initial_rto` for its time-out.

use aqmlab_units::{Span, Time};

use super::alarm::Alarm;
use super::news::News;
use super::rack::Losses;
use super::recovery::{Resend, State};
use super::scoreboard::{Scoreboard, Segment};
use super::{Delivery, Sender};
use crate::rfc::config::GRANULARITY;
use crate::{Ack, Data, Timer};

/// Packets by which a later one overtakes a lost one (kPacketThreshold).
const PACKET_THRESHOLD: u32 = 3;
/// Share of a round trip that a lost packet is late (kTimeThreshold), in eighths.
const TIME_THRESHOLD_EIGHTHS: u64 = 9;
/// Probe time-outs over which packets are lost in persistent congestion (kPersistentCongestionThreshold).
const PERSISTENT_CONGESTION_THRESHOLD: u64 = 3;
/// The window after persistent congestion in segments (kMinimumWindow).
const LEAST_WINDOW: f64 = 2.0;

/// Transmissions in the order of their sending: the time stamps of the first and the last, and the number of the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: Time,
    last: Time,
    number: u32,
}

impl Run {
    fn extend(run: &mut Option<Self>, sent: Time, number: u32) {
        let first = run.map_or(sent, |run| run.first.min(sent));
        let last = run.map_or(sent, |run| run.last.max(sent));
        *run = Some(Self { first, last, number: run.map_or(number, |run| run.number.max(number)) });
    }
}

/// Transmissions found lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    losses: Losses,
    /// The largest packet number.
    newest: Option<u32>,
    /// Packets between the largest one acknowledged before and the first one that has arrived since.
    run: Option<Run>,
}

/// State of QUIC's loss detection.
#[derive(Clone, Debug, Default)]
pub struct Quic {
    /// Number of the next packet, and the time stamp of the last one.
    next: u32,
    stamp: Time,
    /// The largest packet acknowledged: its number and its time stamp.
    largest: u32,
    largest_sent: Time,
    latest_rtt: Span,
    /// The first packet number after the last reduction.
    recovery_start: u32,
    /// Transmissions of segments that were sent again as probes since the largest acknowledged packet.
    replaced: Option<Run>,
    /// Of the acknowledgement that is evaluated: the time stamp that it echoes, that of the largest packet before it, and the lowest
    /// that it acknowledges above that.
    echo: Time,
    before: Time,
    beyond: Option<Time>,
    /// Segments that it acknowledges of those sent after the last reduction.
    grows: u64,
}

impl Quic {
    /// Return number and time stamp of a packet sent at `now`.
    pub fn next_packet(&mut self, now: Time) -> (u32, Time) {
        let number = self.next;
        self.next += 1;
        let least = if number == 0 { now } else { self.stamp + Span(1) };
        self.stamp = now.max(least);
        (number, self.stamp)
    }

    /// An acknowledgement has arrived that echoes this time stamp.
    pub fn begin_acknowledgement(&mut self, echo: Time) {
        self.echo = echo;
        self.before = self.largest_sent;
        self.beyond = (echo > self.before).then_some(echo);
        self.grows = 0;
    }

    /// The acknowledgement shows that a segment has arrived, which was last sent as it says.
    pub fn note_arrival(&mut self, segment: &Segment) {
        self.grows += u64::from(segment.number >= self.recovery_start);
        if segment.sent > self.echo {
            // The answer to the transmission before.
            self.replaced = None;
            return;
        }
        self.largest = self.largest.max(segment.number);
        if segment.sent > self.before {
            self.beyond = Some(self.beyond.map_or(segment.sent, |beyond| beyond.min(segment.sent)));
        }
    }

    /// Segment `k` is sent again as a probe.
    fn note_replaced(&mut self, segment: &Segment) {
        Run::extend(&mut self.replaced, segment.sent, segment.number);
    }

    /// Return the round-trip time of the largest packet, if it is newly acknowledged (section 5.1).
    fn sample(&mut self, now: Time) -> Option<Span> {
        if self.echo <= self.before {
            return None;
        }
        self.largest_sent = self.echo;
        self.latest_rtt = now.since(self.echo);
        Some(self.latest_rtt)
    }

    /// Return how long after its sending a packet is lost by time.
    fn loss_delay(&self, srtt: Span) -> Span {
        Span(self.latest_rtt.max(srtt).0 / 8 * TIME_THRESHOLD_EIGHTHS).max(GRANULARITY)
    }

    /// Return when the next segment is lost by time, if something later has arrived.
    fn loss_time(&self, board: &Scoreboard, srtt: Span) -> Option<Time> {
        let sent = board.segment(board.oldest()?).sent;
        (sent < self.largest_sent).then(|| sent + self.loss_delay(srtt))
    }

    /// Mark lost segments.
    fn detect(&mut self, board: &mut Scoreboard, now: Time, srtt: Span) -> Found {
        let delay = self.loss_delay(srtt);
        let is_between = |sent| self.before < sent && self.beyond.is_some_and(|beyond| sent < beyond);
        let replaced = self.replaced.filter(|run| is_between(run.first) && is_between(run.last));
        let mut found =
            Found { losses: Losses::default(), newest: replaced.map(|run| run.number), run: replaced };
        while let Some(k) = board.oldest() {
            let &Segment { sent, number, .. } = board.segment(k);
            let is_overtaken = number.saturating_add(PACKET_THRESHOLD) <= self.largest;
            if sent >= self.largest_sent || !is_overtaken && now.since(sent) < delay {
                break;
            }
            found.losses.add(board.lose(k));
            found.newest = found.newest.max(Some(number));
            if is_between(sent) {
                Run::extend(&mut found.run, sent, number);
            }
        }
        if self.beyond.is_some() {
            self.replaced = None;
        }
        found
    }

    /// Whether the largest packet acknowledged was sent after the last reduction.
    fn is_past_recovery(&self) -> bool {
        self.largest >= self.recovery_start
    }

    fn begin_recovery(&mut self) {
        self.recovery_start = self.next;
    }
}

impl Sender {
    /// Take the round-trip time that an acknowledgement shows. The delay that it reports counts up to max_ack_delay, and not below the
    /// least round-trip time (RFC 9002, section 5.3).
    pub(super) fn measure_packet(&mut self, now: Time, ack: &Ack, news: &mut News) {
        let Some(quic) = &mut self.quic else { return };
        if let Some(latest) = quic.sample(now) {
            let delay = ack.stamp.since(Time::ZERO).min(self.config.delayed_ack.unwrap_or_default());
            self.rtt.note_least(latest);
            let adjusted = if latest >= self.rtt.least() + delay { latest - delay } else { latest };
            news.rtt = Some(adjusted);
            self.sample(adjusted);
            let edges = (self.board.una(), self.board.next());
            let srtt = self.rtt.srtt().unwrap_or(adjusted);
            self.congestion.on_sample(&mut self.window, now, (adjusted, srtt), edges);
        } else if news.delivered > 0 {
            self.rtt.end_back_off(&self.config);
        }
    }

    /// The part of an acknowledgement that the window's control needs: in QUIC, packets sent before a reduction open no window after it
    /// (section 7.3.2).
    pub(super) fn delivery(&self, news: &News) -> Delivery {
        let delivery = news.delivery();
        match &self.quic {
            Some(quic) if !self.shrinks() => Delivery { delivered: quic.grows, ..delivery },
            _ => delivery,
        }
    }

    /// Respond to an acknowledgement: losses, marks, and the end of a reduction.
    pub(super) fn answer_as_quic(&mut self, now: Time, news: &mut News) -> Resend {
        let Some(quic) = &mut self.quic else { return Resend::Nothing };
        let is_past_recovery = quic.is_past_recovery();
        if is_past_recovery && self.recovery.state.reduces() {
            self.end_reduction();
            self.recovery.state = State::Open;
        }
        let lost = self.lose_as_quic(now, &mut news.losses, news.echo);
        if news.echo && is_past_recovery && self.recovery.state == State::Open {
            self.respond_to_echo();
            self.begin_recovery_as_quic();
        }
        if let Some(run) = lost
            && run.last.since(run.first)
                > self.rtt.probe_timeout(&self.config) * PERSISTENT_CONGESTION_THRESHOLD
        {
            self.collapse(now);
        }
        Resend::Lost
    }

    /// Mark lost segments, and reduce the window if one was sent after the last reduction. Return the run of lost transmissions among
    /// which none has arrived.
    fn lose_as_quic(&mut self, now: Time, losses: &mut Losses, echo: bool) -> Option<Run> {
        let srtt = self.rtt.srtt().unwrap_or_default();
        let quic = self.quic.as_mut()?;
        let found = quic.detect(&mut self.board, now, srtt);
        *losses = found.losses;
        if found.newest.is_some_and(|newest| newest >= quic.recovery_start) {
            self.enter_recovery(echo);
            self.begin_recovery_as_quic();
        }
        found.run
    }

    fn begin_recovery_as_quic(&mut self) {
        if let Some(quic) = &mut self.quic {
            quic.begin_recovery();
        }
    }

    /// Persistent congestion (section 7.6.2; appendix B.8): the least window, and slow start.
    fn collapse(&mut self, now: Time) {
        self.congestion.on_timeout(&self.window, now, self.board.next());
        self.window.set(LEAST_WINDOW);
        self.recovery.state = State::Open;
        if let Some(quic) = &mut self.quic {
            quic.recovery_start = 0;
        }
    }

    /// Set the timer of QUIC's loss detection (appendix A.8), once the connection is open.
    pub(super) fn set_loss_detection_timer(&mut self, now: Time) {
        let Some(quic) = &self.quic else { return };
        if self.board.una() == 0 {
            return;
        }
        if self.board.outstanding() == 0 {
            self.alarm = None;
            return;
        }
        let (alarm, deadline) = match quic.loss_time(&self.board, self.rtt.srtt().unwrap_or_default()) {
            Some(time) => (Alarm::Reordering, time),
            None => (Alarm::Probe, self.last_sent + self.rtt.rto()),
        };
        self.alarm = Some((alarm, Timer { deadline: deadline.max(now), set_at: now }));
    }

    /// The probe time-out has expired (section 6.2.4).
    pub(super) fn probe_as_quic(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        self.counters.timeouts += 1;
        self.rtt.back_off(&self.config);
        let (una, next) = (self.board.una(), self.board.next());
        let fits = self.seq(next + 1) - self.seq(una) <= u64::from(self.config.window);
        if let Some(k) = self.board.next_lost() {
            self.transmit_again(now, k, out);
        } else if next < self.end && fits {
            self.transmit_next(now, out);
        } else {
            let first = *self.board.segment(una);
            if let Some(quic) = &mut self.quic {
                quic.note_replaced(&first);
            }
            self.transmit_probe(now, una, out);
        }
    }

    /// A packet is late enough to be lost (section 6.1.2).
    pub(super) fn find_losses_as_quic(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        let Some(quic) = &mut self.quic else { return };
        quic.begin_acknowledgement(quic.largest_sent);
        let mut losses = Losses::default();
        self.lose_as_quic(now, &mut losses, false);
        if losses.all > 0 && self.recovery.state.reduces() {
            self.control(now, &Delivery { delivered: 1, lost: losses.all, advanced: false }, (None, 0));
        }
        self.retransmit(now, out);
        self.send(now, out);
    }

    /// Whether arrivals out of order open the window too: always in QUIC, which has no other order than that of arrival.
    pub(super) fn opens_window_out_of_order(&self) -> bool {
        self.quic.is_some() || self.rack.opens_window_out_of_order()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rfc::rtt::RttEstimator;
    use crate::rfc::{Config, CongestionControl};

    /// Milliseconds after the first packet.
    fn at(ms: u64) -> Time {
        Time::from_secs(1.0) + Span::from_millis(ms)
    }

    /// Packets 0 and up, sent at these times in milliseconds.
    fn sent(times: &[u64]) -> (Quic, Scoreboard) {
        let (mut quic, mut board) = (Quic::default(), Scoreboard::default());
        for (k, &ms) in times.iter().enumerate() {
            let (number, stamp) = quic.next_packet(at(ms));
            board.push(at(ms));
            board.number(k as u64, number, stamp);
        }
        (quic, board)
    }

    /// An acknowledgement shows that segment `k`, as it was sent last, has arrived.
    fn arrive(quic: &mut Quic, board: &mut Scoreboard, now: Time, k: u64) {
        let segment = board.sack(k).expect("not known before");
        quic.begin_acknowledgement(segment.sent);
        quic.note_arrival(&segment);
        quic.sample(now).expect("the largest so far");
    }

    fn lost(board: &Scoreboard, segments: u64) -> Vec<u64> {
        (board.una()..segments).filter(|&k| board.segment(k).is_lost()).collect()
    }

    #[test]
    fn packets_of_one_time_have_numbers_and_time_stamps_in_order() {
        let mut quic = Quic::default();
        assert_eq!(quic.next_packet(Time::ZERO), (0, Time::ZERO));
        assert_eq!(quic.next_packet(Time::ZERO), (1, Time(1)));
        assert_eq!(quic.next_packet(at(3)), (2, at(3)));
        assert_eq!(quic.next_packet(at(3)), (3, Time(at(3).0 + 1)));
    }

    /// RFC 9002, section 6.1.1: kPacketThreshold = 3.
    #[test]
    fn a_packet_is_lost_that_is_three_before_the_largest() {
        let (mut quic, mut board) = sent(&[0, 10, 20, 30, 40, 50]);
        arrive(&mut quic, &mut board, at(120), 2);
        assert_eq!(quic.detect(&mut board, at(120), Span::from_millis(200)).losses.all, 0);
        arrive(&mut quic, &mut board, at(140), 4);
        let found = quic.detect(&mut board, at(140), Span::from_millis(200));
        assert_eq!((lost(&board, 6), found.newest), (vec![0, 1], Some(1)), "4 - 1 = 3, 4 - 3 = 1");
    }

    /// RFC 9002, section 6.1.2: 9/8 max(SRTT, latest RTT), at least kGranularity = 1 ms.
    #[test]
    fn a_packet_is_lost_after_nine_eighths_of_a_round_trip() {
        let (mut quic, mut board) = sent(&[0, 10]);
        arrive(&mut quic, &mut board, at(90), 1);
        // The latest RTT is 80 ms: 90 ms; SRTT = 96 ms: 108 ms.
        assert_eq!(quic.loss_delay(Span::from_millis(64)), Span::from_millis(90));
        assert_eq!(quic.loss_time(&board, Span::from_millis(96)), Some(at(108)));
        assert_eq!(quic.detect(&mut board, at(107), Span::from_millis(96)).losses.all, 0);
        assert_eq!(quic.detect(&mut board, at(108), Span::from_millis(96)).losses.all, 1);
        quic.latest_rtt = Span(8000);
        assert_eq!(quic.loss_delay(Span(8000)), Span::from_millis(1));
    }

    /// A retransmission has a number of its own: it is lost, or its round-trip time known, as that of any packet.
    #[test]
    fn a_retransmission_is_not_ambiguous() {
        let (mut quic, mut board) = sent(&[0, 10, 20, 30]);
        arrive(&mut quic, &mut board, at(130), 3);
        quic.detect(&mut board, at(130), Span::from_millis(100));
        assert_eq!(lost(&board, 4), [0, 1]);
        let (number, stamp) = quic.next_packet(at(130));
        board.resend(0, at(130));
        board.number(0, number, stamp);
        // The answer to the original, sent at 0, shows nothing of packet 4 and is no sample: 3 is larger.
        let segment = board.sack(0).unwrap();
        quic.begin_acknowledgement(at(30));
        quic.note_arrival(&segment);
        assert_eq!((number, quic.sample(at(140)), quic.largest), (4, None, 3));
        // The answer to the retransmission would have been one.
        quic.begin_acknowledgement(stamp);
        quic.note_arrival(&segment);
        assert_eq!((quic.sample(at(240)), quic.largest), (Some(Span::from_millis(110)), 4));
    }

    /// RFC 9002, section 6.2.1, and 5.3: RTTVAR = 3/4 50 + 1/4 |100 - 140| = 47.5, SRTT = 7/8 100 + 1/8 140 = 105.
    #[test]
    fn the_probe_timeout_by_hand() {
        let config = Config::quic(CongestionControl::Reno);
        let mut rtt = RttEstimator::new(&config);
        assert_eq!(rtt.rto(), Span::from_millis(1000));
        let ms = |rtt: &RttEstimator| (rtt.rto().secs() * 1e6).round() / 1e3;
        let mut found = Vec::new();
        for sample in [100, 140] {
            rtt.sample(&config, Span::from_millis(sample), (0, 0));
            found.push(ms(&rtt));
        }
        assert_eq!(found, [325.0, 320.0], "SRTT + 4 RTTVAR + 25");
        rtt.back_off(&config);
        rtt.back_off(&config);
        assert_eq!(ms(&rtt), 1280.0);
        rtt.end_back_off(&config);
        assert_eq!(ms(&rtt), 320.0);
        for _ in 0..200 {
            rtt.sample(&config, Span::from_millis(20), (0, 0));
        }
        assert_eq!(ms(&rtt), 46.0, "20 + 1 + 25");
    }

    /// RFC 9002, section 7.6.3: packets are sent at 0 to 6 s, the first is acknowledged; probes at 8 s and 12 s, of which the second
    /// is. Lost are those sent from 1 s to 8 s: 7 s.
    #[test]
    fn persistent_congestion_by_the_example() {
        let lost_from_1_to_8 = Some((at(1000), at(8000)));
        let times = |run: Option<Run>| run.map(|run| (run.first, run.last));
        let second = Span::from_millis(1000);
        // Probes with new data.
        let (mut quic, mut board) = sent(&[0, 1000, 2000, 3000, 4000, 5000, 6000, 8000, 12_000]);
        arrive(&mut quic, &mut board, at(1200), 0);
        quic.detect(&mut board, at(1200), second);
        arrive(&mut quic, &mut board, at(12_200), 8);
        let found = quic.detect(&mut board, at(12_200), second);
        assert_eq!((found.losses.all, times(found.run)), (7, lost_from_1_to_8));
        // Probes that repeat the first outstanding segment.
        let (mut quic, mut board) = sent(&[0, 1000, 2000, 3000, 4000, 5000, 6000]);
        arrive(&mut quic, &mut board, at(1200), 0);
        quic.detect(&mut board, at(1200), second);
        for ms in [8000, 12_000] {
            quic.note_replaced(board.segment(1));
            let (number, stamp) = quic.next_packet(at(ms));
            board.probe(1, at(ms));
            board.number(1, number, stamp);
        }
        arrive(&mut quic, &mut board, at(12_200), 1);
        let found = quic.detect(&mut board, at(12_200), second);
        assert_eq!((found.losses.all, times(found.run)), (5, lost_from_1_to_8));
        assert_eq!(found.newest, Some(7));
    }

    #[test]
    fn what_has_arrived_in_between_ends_a_run() {
        let (mut quic, mut board) = sent(&[0, 1000, 2000, 3000, 4000]);
        arrive(&mut quic, &mut board, at(3200), 3);
        let found = quic.detect(&mut board, at(3200), Span::from_millis(200));
        assert_eq!(found.run.map(|run| run.last.since(run.first)), Some(Span::from_millis(2000)));
        // A probe was sent, although the answer to the original was on its way.
        quic.note_replaced(board.segment(4));
        let (number, stamp) = quic.next_packet(at(9000));
        board.probe(4, at(9000));
        board.number(4, number, stamp);
        let segment = board.sack(4).unwrap();
        quic.begin_acknowledgement(at(4000));
        quic.note_arrival(&segment);
        quic.sample(at(9100));
        assert_eq!(
            (quic.replaced, quic.detect(&mut board, at(9100), Span::from_millis(200)).run),
            (None, None)
        );
    }
}
