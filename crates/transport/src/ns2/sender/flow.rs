//! One connection's state and the steps that all variants share: output, new acknowledgements, the timer.

use std::sync::Arc;

use aqmlab_units::Time;

use super::counters::SenderCounters;
use super::ecn::EcnState;
use super::rtt::RttEstimator;
use super::window::Window;
use crate::ns2::{DUPACK_THRESHOLD, TIMESTAMP_BYTES};
use crate::{Ack, Data, DataFlags, TcpConfig, Timer};

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

/// What an acknowledgement without new data asks for.
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

/// The packet whose round trip is being timed.
#[derive(Clone, Copy, Debug)]
struct Timed {
    seq: i32,
    sent: Time,
}

/// State of one sending connection.
#[derive(Clone, Debug)]
pub struct Flow {
    pub config: Arc<TcpConfig>,
    pub window: Window,
    /// Next sequence number to send; goes back after a time-out.
    pub next: i32,
    /// One past the last packet that the application has produced.
    pub end: i32,
    /// Highest acknowledgement received.
    pub highest_ack: i32,
    /// The same, but SACK leaves it where it was during recovery.
    pub last_ack: i32,
    /// Highest sequence number sent; -1: none.
    pub highest_sent: i32,
    /// `highest_sent` at the last reaction to congestion.
    pub recover: i32,
    pub dupacks: i32,
    pub last_cut: LastCut,
    pub rtt: RttEstimator,
    pub ecn: EcnState,
    pub timer: Option<Timer>,
    pub finished: bool,
    pub counters: SenderCounters,
    initial_window: f64,
    timed: Option<Timed>,
}

impl Flow {
    pub fn new(config: Arc<TcpConfig>, clock_offset: f64) -> Self {
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
            counters: SenderCounters::default(),
            initial_window: config.initial_window,
            timed: None,
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
        self.counters.count_sent(&data);
        out(data);
        if !again {
            self.highest_sent = seq;
            self.timed.get_or_insert(Timed { seq, sent: now });
        }
        if self.timer.is_none() || nothing_in_flight {
            self.set_timer(now);
        }
    }

    fn length(&self, seq: i32) -> u32 {
        let config = &*self.config;
        match (seq, config.syn) {
            (0, true) => config.header,
            (0, false) => config.packet_size,
            _ => config.packet_size + config.header + if config.timestamps { TIMESTAMP_BYTES } else { 0 },
        }
    }

    fn flags(&mut self, seq: i32, again: bool) -> DataFlags {
        let ecn = self.config.ecn;
        DataFlags::NONE
            .with(DataFlags::RETRANSMISSION, again)
            .with(DataFlags::SYN, seq == 0 && self.config.syn)
            .with(DataFlags::ECN_SETUP, seq == 0 && ecn)
            .with(DataFlags::ECT, seq != 0 && ecn)
            .with(DataFlags::CWR, core::mem::take(&mut self.ecn.cut_unsaid))
    }

    /// Sends what the window allows, `max_burst` packets at most (0: no limit).
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
            self.window.cwnd = self.initial_window;
        }
    }

    /// The part of [`Flow::take_new_ack`] that leaves the window alone.
    pub fn advance(&mut self, now: Time, ack: &Ack) {
        self.dupacks = 0;
        self.move_edge(ack.ack);
        if self.config.timestamps {
            self.sample(now, ack.ts_echo);
        }
        if let Some(timed) = self.take_timed(ack.ack) {
            if !self.ecn.keeps_back_off(ack.ece) {
                self.rtt.end_back_off(&self.config);
                self.ecn.at_one_packet = false;
            }
            if !self.config.timestamps {
                self.sample(now, timed.sent);
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
        self.take_timed(ack).is_some()
    }

    fn take_timed(&mut self, ack: i32) -> Option<Timed> {
        self.timed.take_if(|timed| ack >= timed.seq)
    }

    fn sample(&mut self, now: Time, sent: Time) {
        self.rtt.sample(&self.config, now, sent);
        self.counters.count_rtt(now.since(sent));
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

    /// What the third duplicate acknowledgement calls for. Only losses beyond `recover` count, so that one
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
        if self.highest_ack == -1 && self.initial_window > 1.0 {
            self.initial_window = 1.0; // packet 0 was lost
        }
        if idle {
            self.collapse(false);
        } else {
            self.counters.timeouts += 1;
            self.collapse(self.last_cut != LastCut::Ecn);
            self.rtt.back_off(&self.config);
        }
        self.last_cut = LastCut::Timeout;
        self.next = self.highest_ack + 1;
        self.timed = None;
        // With nothing left to send, further idle expiries change nothing, except that before packet 1 they
        // keep duplicates from adding up to a loss.
        if !(idle && self.next >= self.end && self.highest_ack > 0) {
            self.set_timer(now);
        }
    }

    /// Restarts the timer at a retransmission; the packet being timed no longer gives a sample (Karn's rule).
    pub fn restart_timer(&mut self, now: Time) {
        self.set_timer(now);
        self.timed = None;
    }

    /// After an acknowledgement: restarts the timer if there is more in flight or to send, else stops it.
    pub fn renew_timer(&mut self, now: Time, ack: i32) {
        if self.next > ack || ack < self.highest_sent || self.window.cwnd < 1.0 {
            self.set_timer(now);
        } else {
            self.timer = None;
        }
    }

    fn set_timer(&mut self, now: Time) {
        self.timer = Some(Timer { deadline: now + self.rtt.timeout(), set_at: now });
    }
}
