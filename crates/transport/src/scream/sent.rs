//! The list of transmitted packets: bytes in flight, and loss detection (RFC 8298, sections 4.1.2 and 4.1.2.4).
//!
//! Bytes in flight are those after the highest sequence number received. A packet that a report has as missing is declared lost if it is
//! still missing when the reordering window is over; packets that arrive after they were found missing widen the window. It is 0 at first.

use std::collections::VecDeque;

use aqmlab_units::{Span, Time};

use super::report::{COVERED, Report};

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Packet {
    bytes: u32,
    sent: Time,
    is_received: bool,
    is_lost: bool,
    /// When a report first had it as missing.
    missing_since: Option<Time>,
}

/// Changes by a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct News {
    /// Bytes by which the highest sequence number grew.
    pub bytes_newly_acked: u64,
    /// When the packet with the highest sequence number was sent, if it is newly acknowledged.
    pub sent: Option<Time>,
    /// Whether a packet is declared lost.
    pub is_loss: bool,
}

/// The list.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent {
    /// Packets that reports may cover, from number `first` on.
    packets: VecDeque<Packet>,
    first: u32,
    /// The number after the highest one received.
    acked: u32,
    pub bytes_in_flight: u64,
    reordering_window: Span,
}

impl Sent {
    /// Create an empty list with room for some packets.
    pub fn new() -> Self {
        Self { packets: VecDeque::with_capacity(4 * COVERED as usize), ..Self::default() }
    }

    /// Return the number of the next packet.
    pub fn next_number(&self) -> u32 {
        self.first + self.packets.len() as u32
    }

    /// Return how many packets are acknowledged, losses included.
    pub fn acked(&self) -> u32 {
        self.acked
    }

    /// Enter a packet.
    pub fn push(&mut self, now: Time, bytes: u32) {
        let packet = Packet { bytes, sent: now, is_received: false, is_lost: false, missing_since: None };
        self.packets.push_back(packet);
        self.bytes_in_flight += u64::from(bytes);
    }

    /// Take a report.
    pub fn on_report(&mut self, now: Time, report: &Report) -> News {
        let mut news = News { bytes_newly_acked: 0, sent: None, is_loss: false };
        while self.acked <= report.highest && self.acked < self.next_number() {
            let packet = &self.packets[(self.acked - self.first) as usize];
            news.bytes_newly_acked += u64::from(packet.bytes);
            news.sent = Some(packet.sent);
            self.acked += 1;
        }
        self.bytes_in_flight -= news.bytes_newly_acked;
        for (number, packet) in (self.first..self.acked).zip(&mut self.packets) {
            match report.has(number) {
                Some(true) if !packet.is_received => {
                    packet.is_received = true;
                    if let Some(since) = packet.missing_since {
                        self.reordering_window = self.reordering_window.max(now.since(since));
                    }
                }
                Some(false) if !packet.is_received && !packet.is_lost => {
                    let since = *packet.missing_since.get_or_insert(now);
                    packet.is_lost = now.since(since) >= self.reordering_window;
                    news.is_loss |= packet.is_lost;
                }
                _ => {}
            }
        }
        self.forget(&mut news);
        news
    }

    /// Forget packets that no report covers. Those still missing are lost.
    fn forget(&mut self, news: &mut News) {
        while self.first + COVERED + 1 < self.acked
            && let Some(packet) = self.packets.pop_front()
        {
            self.first += 1;
            news.is_loss |= !packet.is_received && !packet.is_lost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Packets 0 to 9 of 100, 101, ... bytes, sent at 0, 1, ... ms.
    fn sent() -> Sent {
        let mut sent = Sent::new();
        (0..10).for_each(|n| sent.push(at(n), 100 + n as u32));
        sent
    }

    fn report(highest: u32, received: u128) -> Report {
        Report { highest, received, ..Report::default() }
    }

    #[test]
    fn bytes_in_flight_are_those_after_the_highest_number() {
        let mut s = sent();
        assert_eq!(s.bytes_in_flight, 1045);
        // The RFC's example: SN - 5 is the highest one, SN - 4 to SN are in flight; a missing one counts as acknowledged.
        let news = s.on_report(at(100), &report(4, 0b0111));
        assert_eq!((news.bytes_newly_acked, s.bytes_in_flight), (510, 535));
        assert_eq!((news.sent, s.acked()), (Some(at(4)), 5));
        let again = s.on_report(at(110), &report(4, 0b0111));
        assert_eq!((again.bytes_newly_acked, again.sent), (0, None));
    }

    #[test]
    fn a_gap_is_a_loss_once() {
        let mut s = sent();
        assert!(!s.on_report(at(100), &report(1, 0b1)).is_loss);
        assert!(s.on_report(at(110), &report(3, 0b110)).is_loss);
        assert!(!s.on_report(at(120), &report(4, 0b1101)).is_loss);
    }

    #[test]
    fn late_packets_widen_the_window() {
        let mut s = sent();
        assert!(s.on_report(at(100), &report(2, 0b10)).is_loss);
        // Packet 1 arrives 30 ms after it was found missing.
        assert!(!s.on_report(at(130), &report(3, 0b111)).is_loss);
        assert!(!s.on_report(at(140), &report(5, 0b1110)).is_loss, "within the window");
        assert!(!s.on_report(at(169), &report(6, 0b11101)).is_loss);
        assert!(s.on_report(at(170), &report(7, 0b111011)).is_loss, "packet 4 is missing for 30 ms");
    }

    #[test]
    fn packets_that_leave_the_list_missing_are_lost() {
        let mut s = sent();
        s.reordering_window = Span::from_millis(10_000);
        (0..300).for_each(|_| s.push(at(20), 100));
        assert!(!s.on_report(at(100), &report(100, u128::MAX << 1)).is_loss);
        assert!(s.on_report(at(110), &report(300, u128::MAX)).is_loss);
        assert_eq!((s.first, s.next_number(), s.bytes_in_flight), (172, 310, 900));
    }

    #[test]
    fn a_report_of_packets_that_were_not_sent_changes_nothing_else() {
        let mut s = sent();
        assert_eq!(s.on_report(at(100), &report(50, u128::MAX)).bytes_newly_acked, 1045);
        assert_eq!((s.acked(), s.bytes_in_flight), (10, 0));
    }
}
