//! One connection's state and the steps that all variants share: output, new acknowledgements, the timer.

use std::sync::Arc;

use aqmlab_units::Time;

use super::counters::Tally;
use super::ecn::EcnState;
use super::plain::Plain;
use super::rtt::RttEstimator;
use super::window::Window;
use crate::ns2::Config;
use crate::ns2::DUPACK_THRESHOLD;
use crate::{Ack, Data, DataFlags, Timer};

/// Sequence number that stands for "without end"; ns-2's greedy source stops there too.
pub const ENDLESS: i32 = 1 << 30;

/// Why the window was last changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastCut {
    /// Not yet.
    None,
    /// Three duplicate acknowledgements.
    DupAcks,
    /// The retransmission timer.
    Timeout,
    /// An ECN echo.
    Ecn,
    /// Recovery from duplicate acknowledgements has ended.
    Recovered,
}

/// The response to an acknowledgement without new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DupAck {
    /// The first or second: limited transmit may send a packet.
    Early,
    /// The third: a packet is taken for lost.
    Loss,
    /// One more.
    Late,
}

/// How a variant answers the third duplicate acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossResponse {
    /// Retransmit and reduce the window.
    Cut,
    /// Retransmit; an ECN echo has reduced the window for this window of data already.
    AlreadyCut,
    /// The loss belongs to a window of data that was repaired already: nothing.
    Ignore,
}

/// Stands for no packet, above all of them.
pub const NOTHING_TIMED: i32 = i32::MAX;

/// State of one sending connection. What a plain acknowledgement needs comes first, and stays together: with many
/// connections each of them has left the caches when its turn comes.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Flow {
    /// The same as `highest_ack`, but SACK leaves it where it was during recovery.
    pub last_ack: i32,
    /// Highest acknowledgement received.
    pub highest_ack: i32,
    /// Next sequence number to send; goes back after a time-out.
    pub next: i32,
    /// Highest sequence number sent; -1: none.
    pub highest_sent: i32,
    pub plain: Plain,
    /// Of all packets but packet 0, as long as nothing is going on.
    pub plain_flags: DataFlags,
    pub window: Window,
    pub timer: Option<Timer>,
    /// The packet whose round trip is being timed, and when it was sent.
    pub timed_seq: i32,
    /// Length of all packets but packet 0, in bytes.
    pub full_length: u32,
    pub timed_sent: Time,
    pub rtt: RttEstimator,
    pub tally: Tally,
    /// One past the last packet that the application has produced.
    pub end: i32,
    /// `highest_sent` at the last reaction to congestion.
    pub recover: i32,
    pub dupacks: i32,
    pub last_cut: LastCut,
    pub ecn: EcnState,
    pub finished: bool,
    /// Packet 0 was lost: the initial window is one packet.
    lost_opening: bool,
    pub config: Arc<Config>,
}

impl Flow {
    pub fn new(config: Arc<Config>, clock_offset: f64) -> Self {
        let ssthresh = config.initial_ssthresh.map_or(config.window as i32, |s| s as i32);
        let cwnd = if config.syn { 1.0 } else { config.initial_window };
        Self {
            window: Window::new(cwnd, ssthresh, config.window),
            next: 0,
            end: 0,
            highest_ack: -1,
            last_ack: -1,
            highest_sent: -1,
            recover: 0,
            dupacks: 0,
            last_cut: LastCut::None,
            rtt: RttEstimator::new(&config, clock_offset),
            ecn: EcnState::default(),
            timer: None,
            finished: false,
            tally: Tally::default(),
            timed_seq: NOTHING_TIMED,
            timed_sent: Time::ZERO,
            lost_opening: false,
            full_length: config.data_length(1),
            plain: Plain::NONE,
            plain_flags: DataFlags::NONE.with(DataFlags::ECT, config.ecn),
            config,
        }
    }

    /// Sends packet `seq`, new or again.
    pub fn transmit(&mut self, now: Time, seq: i32, out: &mut impl FnMut(Data)) {
        let again = seq <= self.highest_sent;
        let nothing_in_flight = self.highest_ack == self.highest_sent;
        let opens = seq == 0 && self.config.syn;
        if opens && self.highest_sent == -1 {
            self.end += 1; // the SYN comes on top of the application's packets
        }
        let data =
            Data { sent: now, seq: seq as u32, bytes: self.length(seq), flags: self.flags(seq, again) };
        self.tally.sent_packets += 1;
        self.tally.opening_packets += u32::from(seq == 0);
        self.tally.retransmissions += u64::from(again);
        out(data);
        if !again {
            self.highest_sent = seq;
            if self.timed_seq == NOTHING_TIMED {
                (self.timed_seq, self.timed_sent) = (seq, now);
            }
        }
        if self.timer.is_none() || nothing_in_flight {
            self.set_timer(now);
        }
    }

    fn length(&self, seq: i32) -> u32 {
        if seq == 0 { self.config.data_length(0) } else { self.full_length }
    }

    fn flags(&mut self, seq: i32, again: bool) -> DataFlags {
        let flags = if seq == 0 {
            DataFlags::NONE.with(DataFlags::SYN, self.config.syn).with(DataFlags::ECN_SETUP, self.config.ecn)
        } else {
            self.plain_flags
        };
        flags
            .with(DataFlags::RETRANSMISSION, again)
            .with(DataFlags::CWR, core::mem::take(&mut self.ecn.cut_unsaid))
    }

    /// Send as many packets as the window allows, `max_burst` at most (0: no limit).
    pub fn send_window(&mut self, now: Time, max_burst: u32, out: &mut impl FnMut(Data)) {
        let mut sent = 0;
        while self.next <= self.highest_ack + self.window.usable() && self.next < self.end {
            self.transmit(now, self.next, out);
            self.next += 1;
            sent += 1;
            if sent == max_burst {
                break;
            }
        }
    }

    /// Limited transmit: an early duplicate acknowledgement sends a new packet.
    pub fn send_one(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        let (next, ack) = (f64::from(self.next), f64::from(self.highest_ack));
        if self.config.limited_transmit
            && self.next < self.end
            && next <= ack + self.window.limit()
            && next <= ack + self.window.cwnd + f64::from(self.dupacks)
        {
            self.transmit(now, self.next, out);
            self.next += 1;
        }
    }

    /// An acknowledgement of new data: sequence numbers, round-trip sample, timer, window, end of the
    /// transfer.
    pub fn take_new_ack(&mut self, now: Time, ack: &Ack) {
        self.advance(now, ack);
        if !self.ecn.holds_window(ack.ece) {
            self.window.open();
        }
        self.ecn.note_echo(ack.ece);
        self.note_finish();
        if self.last_ack == 0 {
            self.window.cwnd = self.initial_window();
        }
    }

    fn initial_window(&self) -> f64 {
        let set = self.config.initial_window;
        if self.lost_opening { set.min(1.0) } else { set }
    }

    /// The part of [`Flow::take_new_ack`] that leaves the window alone.
    pub fn advance(&mut self, now: Time, ack: &Ack) {
        self.dupacks = 0;
        self.move_edge(ack.ack);
        if self.config.timestamps {
            self.sample(now, ack.ts_echo);
        }
        if self.end_timing(ack.ack) {
            if !self.ecn.keeps_back_off(ack.ece) {
                self.rtt.end_back_off(&self.config);
                self.ecn.at_one_packet = false;
            }
            if !self.config.timestamps {
                self.sample(now, self.timed_sent);
            }
        }
        self.renew_timer(now, ack.ack);
    }

    /// Moves the left edge of the window to behind `ack`.
    pub fn move_edge(&mut self, ack: i32) {
        self.last_ack = ack;
        self.highest_ack = ack;
        self.next = self.next.max(ack + 1);
    }

    /// Ends the timing of a round trip if `ack` covers the timed packet.
    pub fn end_timing(&mut self, ack: i32) -> bool {
        let covered = ack >= self.timed_seq;
        if covered {
            self.timed_seq = NOTHING_TIMED;
        }
        covered
    }

    /// The timed packet has been acknowledged, without an ECN echo or a time stamp.
    #[inline(never)]
    pub fn end_timing_with_sample(&mut self, now: Time) {
        self.timed_seq = NOTHING_TIMED;
        self.rtt.end_back_off(&self.config);
        self.sample(now, self.timed_sent);
    }

    fn sample(&mut self, now: Time, sent: Time) {
        self.rtt.sample(&self.config, now, sent);
        self.tally.count_rtt(now.since(sent));
    }

    /// Notes whether everything has been acknowledged that the application will ever send.
    pub fn note_finish(&mut self) {
        self.finished |= self.highest_ack >= self.end - 1;
    }

    /// Counts a duplicate acknowledgement.
    pub fn count_dupack(&mut self) -> DupAck {
        self.dupacks += 1;
        match self.dupacks.cmp(&DUPACK_THRESHOLD) {
            core::cmp::Ordering::Less => DupAck::Early,
            core::cmp::Ordering::Equal => DupAck::Loss,
            core::cmp::Ordering::Greater => DupAck::Late,
        }
    }

    /// Return the response to the third duplicate acknowledgement. Only losses beyond `recover` count, so that one
    /// window of data is cut once.
    pub fn loss_response(&self) -> LossResponse {
        if self.highest_ack > self.recover || self.highest_ack == 0 {
            LossResponse::Cut
        } else if self.config.ecn && self.last_cut == LastCut::Ecn {
            LossResponse::AlreadyCut
        } else {
            LossResponse::Ignore
        }
    }

    /// Reduces the window to half.
    pub fn halve(&mut self) {
        self.window.halve();
        self.ecn.cut_unsaid = true;
    }

    /// Reduces the window to one packet; `threshold`: and the threshold to half the window.
    pub fn collapse(&mut self, threshold: bool) {
        if threshold {
            self.window.collapse();
        } else {
            self.window.restart();
        }
        self.ecn.cut_unsaid = true;
    }

    /// The reaction of all variants to the retransmission timer, up to the sending.
    pub fn expire(&mut self, now: Time) {
        let idle = self.highest_ack == self.highest_sent;
        self.recover = self.highest_sent;
        self.lost_opening |= self.highest_ack == -1;
        if idle {
            self.collapse(false);
        } else {
            self.tally.timeouts += 1;
            self.collapse(self.last_cut != LastCut::Ecn);
            self.rtt.back_off(&self.config);
        }
        self.last_cut = LastCut::Timeout;
        self.next = self.highest_ack + 1;
        self.timed_seq = NOTHING_TIMED;
        // With nothing left to send, further idle expiries change nothing, except that before packet 1 they
        // keep duplicates from adding up to a loss.
        if !(idle && self.next >= self.end && self.highest_ack > 0) {
            self.set_timer(now);
        }
    }

    /// Restarts the timer at a retransmission; the packet being timed no longer gives a sample (Karn's rule).
    pub fn restart_timer(&mut self, now: Time) {
        self.set_timer(now);
        self.timed_seq = NOTHING_TIMED;
    }

    /// After an acknowledgement: restarts the timer if there is more in flight or to send, else stops it.
    pub fn renew_timer(&mut self, now: Time, ack: i32) {
        if self.next > ack || ack < self.highest_sent || self.window.cwnd < 1.0 {
            self.set_timer(now);
        } else {
            self.timer = None;
        }
    }

    #[inline]
    pub fn set_timer(&mut self, now: Time) {
        self.timer = Some(Timer { deadline: now + self.rtt.timeout(), set_at: now });
    }
}
