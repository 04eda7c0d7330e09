//! The sending end: one type over the four ways to repair losses.

mod counters;
mod ecn;
mod flow;
mod newreno;
mod plain;
mod reno;
mod rtt;
mod sack;
mod scoreboard;
mod tahoe;
#[cfg(test)]
mod tests;
mod window;

use std::sync::Arc;

use aqmlab_units::{Span, Time, prefetch};

use flow::{ENDLESS, Flow, LastCut};
use newreno::NewReno;
use sack::Sack;

use crate::ns2::{Config, Variant};
use crate::{Ack, Data, NewData, SenderCounters, Supply, Timer};

/// How this sender repairs losses, with the state that only this way needs.
#[derive(Clone, Debug)]
enum Repair {
    Tahoe,
    Reno,
    NewReno(NewReno),
    Sack(Box<Sack>),
}

/// A TCP sender of the ns-2 profile.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    flow: Flow,
    repair: Repair,
    /// Packets that the application hands over at the start.
    supply: i32,
}

/// Most packets of a connection, the SYN among them: numbers above stand for "without end".
pub const MOST_PACKETS: u64 = ENDLESS as u64;

/// Packets of this payload that a supply comes to, of which no more than 2^30 are sent.
fn packets(supply: Supply, packet_size: u32) -> i32 {
    let packets = match supply {
        Supply::Greedy => return ENDLESS,
        Supply::Packets(n) => n,
        Supply::Bytes(n) => n.div_ceil(u64::from(packet_size)),
    };
    packets.min(ENDLESS as u64) as i32
}

impl Sender {
    /// Create a sender, not yet started. `clock_offset` is the phase of its clock, in seconds within
    /// [0, `tick`): ns-2 draws it at random. `config` must pass [`check`](crate::Configuration::check).
    pub fn new(config: Arc<Config>, supply: Supply, clock_offset: f64) -> Self {
        let repair = match config.variant {
            Variant::Tahoe => Repair::Tahoe,
            Variant::Reno => Repair::Reno,
            Variant::NewReno => Repair::NewReno(NewReno::default()),
            Variant::Sack => Repair::Sack(Box::default()),
        };
        let supply = packets(supply, config.packet_size);
        Self { flow: Flow::new(config, clock_offset), repair, supply }
    }

    /// Opens the connection: the application hands over all it has.
    pub fn start(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        self.flow.end = self.supply;
        self.flow.note_finish(); // nothing to send is sent already
        self.send(now, out);
    }

    /// Takes an acknowledgement.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: &Ack, out: &mut impl FnMut(Data)) {
        let new = if ack.ece { None } else { self.on_plain_ack(now, ack.ack) };
        match new {
            Some(new) => new.send(now, out),
            None => self.on_any_ack(now, ack, out),
        }
    }

    /// Take an acknowledgement without an ECN echo, if it is plain: of new data, but not the last that there will be, while nothing else is
    /// going on. Return the new data to send. If it is not plain, return `None` and change nothing.
    #[inline]
    pub fn on_plain_ack(&mut self, now: Time, ack: i32) -> Option<NewData> {
        if !self.flow.is_plain(ack) {
            return None;
        }
        self.flow.tally.acks_received += 1;
        Some(self.flow.on_plain_ack(now, ack))
    }

    #[inline(never)]
    fn on_any_ack(&mut self, now: Time, ack: &Ack, out: &mut impl FnMut(Data)) {
        self.flow.tally.acks_received += 1;
        self.end_plain();
        let flow = &mut self.flow;
        if ack.ece && flow.config.ecn {
            flow.respond_to_echo(ack.ack);
        }
        match &mut self.repair {
            Repair::Tahoe => tahoe::on_ack(flow, now, ack, out),
            Repair::Reno => reno::on_ack(flow, now, ack, out),
            Repair::NewReno(newreno) => newreno.on_ack(flow, now, ack, out),
            Repair::Sack(sack) => sack.on_ack(flow, now, ack, out),
        }
        self.note_plain();
    }

    /// Before any event but a plain acknowledgement: catches up with those.
    fn end_plain(&mut self) {
        if let (Some(room), Repair::Sack(sack)) = (self.flow.end_plain(), &mut self.repair) {
            sack.pass(room);
        }
    }

    /// After any event but a plain acknowledgement: whether the next one may be plain.
    fn note_plain(&mut self) {
        let no_recovery = self.flow.last_cut != LastCut::DupAcks;
        let repair = match &self.repair {
            Repair::Tahoe => true,
            Repair::Reno => no_recovery,
            Repair::NewReno(newreno) => no_recovery && newreno.is_plain(),
            Repair::Sack(sack) => sack.is_plain(),
        };
        self.flow.note_plain(repair);
    }

    /// Prefetch the fields that a plain acknowledgement needs: one in each cache line.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.flow.last_ack);
        prefetch(&self.flow.window);
        prefetch(&self.flow.timed_seq);
        prefetch(&self.flow.tally);
        prefetch(&self.flow.end);
        prefetch(&self.flow.finished);
    }

    /// The retransmission timer has expired: to be called at its deadline.
    pub fn on_timer(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        if self.flow.timer.take().is_none() {
            return;
        }
        self.end_plain();
        match &mut self.repair {
            Repair::Tahoe => {}
            Repair::Reno | Repair::NewReno(_) => reno::before_timeout(&mut self.flow),
            Repair::Sack(sack) => sack.before_timeout(&mut self.flow),
        }
        self.flow.expire(now);
        self.send(now, out);
    }

    /// End the application's data: no new packets are sent. Has no effect before the start.
    ///
    /// As in ns-2, the last packet sent so far is not repeated by a time-out any more, and the transfer
    /// counts as finished when the packet before it is acknowledged.
    pub fn stop(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        if self.flow.highest_sent == -1 {
            return;
        }
        self.end_plain();
        self.flow.end = self.flow.highest_sent;
        self.flow.note_finish();
        self.send(now, out);
    }

    /// The application always has more data again, after [`Sender::stop`]: the connection goes on where it was, with
    /// its window and its timer.
    ///
    /// As in ns-2, where the application's next start hands over all that will ever be sent.
    pub fn resume(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        self.end_plain();
        self.flow.end = ENDLESS;
        self.flow.finished = false;
        self.send(now, out);
    }

    /// The application hands over more, when everything was acknowledged that it had handed over before: a further
    /// `advance` of ns-2's agent. It excludes a packet that was sent beyond the end, as ns-2's repair may do.
    pub fn offer(&mut self, supply: Supply) {
        self.end_plain();
        let more = packets(supply, self.flow.config.packet_size);
        let behind = self.flow.end.max(self.flow.highest_sent + 1);
        self.flow.end = behind.saturating_add(more).min(ENDLESS);
        self.flow.finished = false;
    }

    /// Sends what was offered.
    pub fn go_on(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        self.send(now, out);
    }

    /// One past the last packet that the application has handed over, the SYN being packet 0.
    pub fn end(&self) -> u32 {
        let opens = self.flow.highest_sent == -1;
        (if opens { self.supply.saturating_add(self.flow.config.syn.into()) } else { self.flow.end }) as u32
    }

    fn send(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        match &mut self.repair {
            Repair::Sack(sack) => sack.send(&mut self.flow, now, out),
            _ => self.flow.send_window(now, self.flow.config.max_burst, out),
        }
        self.note_plain();
    }

    /// The retransmission timer, if it runs.
    #[inline]
    pub fn timer(&self) -> Option<Timer> {
        self.flow.timer
    }

    /// Whether all data has been acknowledged and there will be no more.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.flow.finished
    }

    /// Whether packet 2^30, the last one there is, was sent.
    pub fn is_exhausted(&self) -> bool {
        self.flow.highest_sent >= ENDLESS - 1
    }

    /// Return the connection's configuration.
    pub fn config(&self) -> &Config {
        &self.flow.config
    }

    /// Congestion window in packets, without the inflation of fast recovery; below 1 only after ECN echoes.
    pub fn cwnd(&self) -> f64 {
        self.flow.window.cwnd
    }

    /// Slow-start threshold in packets.
    pub fn ssthresh(&self) -> f64 {
        f64::from(self.flow.window.ssthresh)
    }

    /// Smoothed round-trip time; `None` before the first sample and after a long back-off has discarded it.
    pub fn srtt(&self) -> Option<Span> {
        self.flow.rtt.srtt(&self.flow.config)
    }

    /// The retransmission time-out, back-off included.
    pub fn rto(&self) -> Span {
        self.flow.rtt.timeout()
    }

    /// Highest packet acknowledged; -1: none.
    pub fn highest_ack(&self) -> i32 {
        self.flow.highest_ack
    }

    /// Highest sequence number sent; -1: none.
    pub fn max_seq(&self) -> i32 {
        self.flow.highest_sent
    }

    /// Return the counters since the start.
    pub fn counters(&self) -> SenderCounters {
        self.flow.tally.counters(&self.flow.config)
    }
}
