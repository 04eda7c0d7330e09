//! The sending end.

use std::sync::Arc;

use aqmlab_units::{Span, Time};

use super::Config;
use super::seq::expand;
use crate::{Ack, Data, DataFlags, SenderCounters, Supply, Timer};

/// A TCP sender of the RFC profile.
#[derive(Clone, Debug)]
pub struct Sender {
    config: Arc<Config>,
    supply: Supply,
    /// Next byte to send, and to be acknowledged.
    next: u64,
    una: u64,
    /// One past the last byte that the application has produced.
    end: u64,
    cwnd: f64,
    timer: Option<Timer>,
    finished: bool,
    counters: SenderCounters,
}

/// Stands for "without end".
const ENDLESS: u64 = u64::MAX / 2;

impl Sender {
    /// A sender that has not started. `config` must pass [`Config::check`].
    pub fn new(config: Arc<Config>, supply: Supply) -> Self {
        Self {
            config,
            supply,
            next: 0,
            una: 0,
            end: 0,
            cwnd: 1.0,
            timer: None,
            finished: false,
            counters: SenderCounters::default(),
        }
    }

    /// Opens the connection: the application hands over all it has. A SYN comes first.
    pub fn start(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        self.end = match self.supply {
            Supply::Greedy => ENDLESS,
            Supply::Packets(0) => 0,
            Supply::Packets(n) => 1 + n * u64::from(self.config.mss),
        };
        self.finished = self.end == 0;
        self.send(now, out);
    }

    /// Takes an acknowledgement.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, out: &mut impl FnMut(Data)) {
        self.counters.acks_received += 1;
        let una = expand(ack.ack as u32, self.una);
        if una > self.una {
            let opened = self.una == 0;
            self.una = una;
            self.cwnd = if opened { self.config.initial_window.into() } else { self.cwnd + 1.0 };
            self.finished = self.una >= self.end;
            self.timer = None;
        }
        self.send(now, out);
    }

    /// A timer has expired: to be called at its deadline.
    pub fn on_timer(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        if self.timer.take().is_some() {
            self.counters.timeouts += 1;
            self.cwnd = 1.0;
            self.next = self.una;
            self.send(now, out);
        }
    }

    /// The application has no more data: nothing beyond what was sent will be sent. Before the start it has no effect.
    pub fn stop(&mut self, _now: Time, _out: &mut impl FnMut(Data)) {
        self.end = self.end.min(self.next);
        self.finished = self.una >= self.end;
    }

    /// The application always has more data again, after [`Sender::stop`]: the connection goes on where it was.
    pub fn resume(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        self.end = ENDLESS;
        self.finished = false;
        self.send(now, out);
    }

    fn send(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        let mss = u64::from(self.config.mss);
        while self.next < self.end && self.next - self.una < mss * self.cwnd as u64 {
            let syn = self.next == 0;
            let length = if syn { 1 } else { mss.min(self.end - self.next) };
            let bytes = if syn { self.config.syn_length() } else { length as u32 + self.config.header };
            let flags = DataFlags::NONE.with(DataFlags::SYN, syn);
            out(Data { sent: now, seq: self.next as u32, bytes, flags });
            self.counters.sent_packets += 1;
            self.counters.sent_bytes += u64::from(bytes);
            self.next += length;
            if syn {
                break;
            }
        }
        if self.timer.is_none() && self.next > self.una {
            self.timer = Some(Timer { deadline: now + self.config.initial_rto, set_at: now });
        }
    }

    /// The timer that is due first, if one runs: retransmission, loss probe, reordering or pacing.
    pub fn timer(&self) -> Option<Timer> {
        self.timer
    }

    /// Whether all data has been acknowledged and there will be no more.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// What the connection is set to.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Congestion window in segments.
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Slow-start threshold in segments; infinite before the first loss.
    pub fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    /// Smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Span> {
        None
    }

    /// The retransmission time-out, back-off included.
    pub fn rto(&self) -> Span {
        self.config.initial_rto
    }

    /// Highest packet acknowledged as a whole, the SYN being packet 0; -1: none.
    pub fn highest_ack(&self) -> i64 {
        self.packets(self.una) - 1
    }

    /// Highest packet sent, the SYN being packet 0; -1: none.
    pub fn max_seq(&self) -> i64 {
        self.packets(self.next) - 1
    }

    fn packets(&self, edge: u64) -> i64 {
        if edge == 0 { 0 } else { 1 + (edge - 1).div_ceil(self.config.mss.into()) as i64 }
    }

    /// What was counted since the start.
    pub fn counters(&self) -> SenderCounters {
        self.counters.clone()
    }
}
