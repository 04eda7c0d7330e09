//! Sender transmission control: packets of the RTP queue leave if the window allows, paced (RFC 8298, sections 4.1.2.5 and 4.1.2.6).
//!
//! ```text
//! send_wnd = cwnd + MSS - bytes_in_flight          qdelay <= qdelay_target; else without MSS
//! pace_bitrate = max(RATE_PACE_MIN, 8 cwnd / s_rtt)
//! t_pace = 8 rtp_size / pace_bitrate               least time from this packet to the next
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use aqmlab_units::{Span, Stream, Time};

use super::Config;
use super::congestion::{Acknowledged, Congestion, Event};
use super::encoder::Encoder;
use super::rate::{MediaRate, RATE_ADJUST_INTERVAL};
use super::report::Report;
use super::sent::Sent;
use crate::base_delay::BaseDelays;
use crate::{Ack, Data, DataFlags, SenderCounters, Timer};

/// Minimum pacing rate in bit/s.
const RATE_PACE_MIN: f64 = 50_000.0;
/// Least time without a report after which a closed window lets packets pass (reading 8).
const NO_FEEDBACK: Span = Span::from_millis(800);
/// Minutes of base delays (RFC 6817, section 2.4.2).
const BASE_HISTORY: usize = 10;

/// A packet of the RTP queue.
#[derive(Clone, Copy, Debug)]
struct Queued {
    bytes: u32,
    since: Time,
}

/// A sender of one stream.
#[derive(Clone, Debug)]
pub struct Sender {
    config: Arc<Config>,
    encoder: Encoder,
    /// The RTP queue, and its bytes.
    queue: VecDeque<Queued>,
    queued_bytes: u64,
    sent: Sent,
    congestion: Congestion,
    rate: MediaRate,
    base: BaseDelays,
    /// Whether there are media to send.
    is_active: bool,
    next_adjustment: Time,
    /// Packets do not leave before, by the pacing.
    next_send: Time,
    /// When the last packet was sent, and its bytes.
    last_sent: (Time, u32),
    /// When the last report came; the start of the media before.
    last_report: Time,
    n_ecn: u32,
    timer: Option<Timer>,
    counters: SenderCounters,
}

impl Sender {
    /// Create a sender; `random` has the random numbers of the encoder.
    pub fn new(config: Arc<Config>, random: Stream) -> Self {
        Self {
            encoder: Encoder::new(&config, random),
            queue: VecDeque::with_capacity(256),
            queued_bytes: 0,
            sent: Sent::new(),
            congestion: Congestion::new(config.mss, config.competing_flows, Time::ZERO),
            rate: MediaRate::new(&config),
            base: BaseDelays::new(BASE_HISTORY),
            is_active: false,
            next_adjustment: Time::NEVER,
            next_send: Time::ZERO,
            last_sent: (Time::ZERO, 0),
            last_report: Time::ZERO,
            n_ecn: 0,
            timer: None,
            counters: SenderCounters::default(),
            config,
        }
    }

    /// Begin to send media.
    pub fn start(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        let Config { mss, competing_flows, .. } = *self.config;
        self.congestion = Congestion::new(mss, competing_flows, now);
        self.next_adjustment = now + RATE_ADJUST_INTERVAL;
        self.resume(now, out);
    }

    /// Send media again, after [`Sender::stop`].
    pub fn resume(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        self.is_active = true;
        self.last_report = now;
        self.encoder.start(now);
        self.act(now, out);
    }

    /// Encode no more frames. The RTP queue is still sent.
    pub fn stop(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        self.is_active = false;
        self.act(now, out);
    }

    /// Take a report.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, out: &mut impl FnMut(Data)) {
        if let Some(report) = Report::of_ack(ack) {
            self.counters.acks_received += 1;
            self.on_report(now, &report);
        }
        self.act(now, out);
    }

    fn on_report(&mut self, now: Time, report: &Report) {
        self.last_report = now;
        let news = self.sent.on_report(now, report);
        let mut qdelay = self.congestion.qdelay;
        if let Some(sent) = news.sent {
            self.sample_rtt(now.since(sent));
            let delay = report.arrival.since(sent);
            self.base.take(now, delay);
            qdelay = (delay - self.base.least()).secs();
        }
        let is_marked = report.n_ecn > self.n_ecn;
        self.n_ecn = self.n_ecn.max(report.n_ecn);
        self.rate.acked += news.bytes_newly_acked;
        let acknowledged = Acknowledged {
            qdelay,
            bytes_newly_acked: news.bytes_newly_acked,
            bytes_in_flight: self.sent.bytes_in_flight,
            is_loss: news.is_loss,
            is_marked,
        };
        if let Some(event) = self.congestion.on_report(now, &acknowledged) {
            self.counters.ecn_responses += u64::from(event == Event::Ecn);
            self.rate.on_event(event);
            self.encoder.request(now, self.rate.target_bitrate);
        }
    }

    fn sample_rtt(&mut self, rtt: Span) {
        let counters = &mut self.counters;
        counters.rtt_min = if counters.rtt_samples == 0 { rtt } else { counters.rtt_min.min(rtt) };
        counters.rtt_max = counters.rtt_max.max(rtt);
        counters.rtt_samples += 1;
        counters.rtt_sum = counters.rtt_sum + rtt;
        self.congestion.sample_rtt(rtt.secs());
    }

    /// The timer has expired: to be called at its deadline.
    pub fn on_timer(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        self.act(now, out);
    }

    /// Do everything that is due: adjust the rate, encode frames, discard and send packets.
    fn act(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        while self.next_adjustment <= now {
            self.congestion.advance(self.next_adjustment);
            self.rate.adjust(&self.congestion, self.queued_bytes as f64 * 8.0);
            self.encoder.request(self.next_adjustment, self.rate.target_bitrate);
            self.next_adjustment += RATE_ADJUST_INTERVAL;
        }
        while self.is_active && self.encoder.next_frame() <= now {
            let bytes = self.encoder.frame(now);
            self.rate.encoded += bytes;
            self.enqueue(now, bytes);
        }
        self.discard(now);
        self.transmit(now, out);
        self.set_timer(now);
    }

    /// Put a frame into the RTP queue: as few packets as hold it, as equal as they can be.
    fn enqueue(&mut self, now: Time, bytes: u64) {
        let packets = bytes.div_ceil(self.config.mss.into());
        self.queued_bytes += bytes;
        for k in 0..packets {
            let bytes = (bytes / packets + u64::from(k < bytes % packets)) as u32;
            self.queue.push_back(Queued { bytes, since: now });
        }
    }

    /// Discard packets that have waited too long (section 4.1.3).
    fn discard(&mut self, now: Time) {
        let most = self.config.max_queue_delay;
        while let Some(old) = self.queue.front().filter(|packet| packet.since + most < now) {
            self.queued_bytes -= u64::from(old.bytes);
            self.queue.pop_front();
        }
    }

    fn transmit(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        let flags = DataFlags::NONE.with(DataFlags::ECT, self.config.ecn);
        while self.next_transmission() <= now
            && let Some(Queued { bytes, .. }) = self.queue.pop_front()
        {
            self.queued_bytes -= u64::from(bytes);
            out(Data { sent: now, seq: self.sent.next_number(), bytes, flags });
            self.sent.push(now, bytes);
            self.congestion.note_in_flight(now, self.sent.bytes_in_flight);
            self.rate.transmitted += u64::from(bytes);
            self.counters.sent_packets += 1;
            self.counters.sent_bytes += u64::from(bytes);
            self.last_sent = (now, bytes);
            self.next_send = now + t_pace(bytes, self.congestion.cwnd, self.congestion.s_rtt);
        }
    }

    /// Return when the first packet of the RTP queue may leave, unless a report changes it.
    fn next_transmission(&self) -> Time {
        let Some(packet) = self.queue.front() else { return Time::NEVER };
        if self.congestion.send_wnd(self.sent.bytes_in_flight) >= f64::from(packet.bytes) {
            return self.next_send;
        }
        let silence = NO_FEEDBACK.max(Span::from_secs(2.0 * self.congestion.s_rtt));
        let (at, bytes) = self.last_sent;
        let slowest = at + Span::from_secs(f64::from(bytes) * 8.0 / RATE_PACE_MIN);
        slowest.max(self.last_report + silence)
    }

    fn set_timer(&mut self, now: Time) {
        let mut deadline = self.next_transmission();
        if self.is_active {
            deadline = deadline.min(self.encoder.next_frame());
        }
        if self.is_active || !self.queue.is_empty() {
            deadline = deadline.min(self.next_adjustment);
        }
        if self.timer.is_none_or(|timer| timer.deadline != deadline) {
            self.timer = (deadline < Time::NEVER).then_some(Timer { deadline, set_at: now });
        }
    }

    /// Return the timer: the next frame, packet or adjustment of the rate.
    pub fn timer(&self) -> Option<Timer> {
        self.timer
    }

    /// Return the congestion window in packets of MSS bytes.
    pub fn cwnd(&self) -> f64 {
        self.congestion.cwnd / f64::from(self.config.mss)
    }

    /// Return the smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Span> {
        (self.counters.rtt_samples > 0).then(|| Span::from_secs(self.congestion.s_rtt))
    }

    /// Return the target bit rate in bit/s.
    pub fn target_bitrate(&self) -> f64 {
        self.rate.target_bitrate
    }

    /// Return the bytes of the RTP queue.
    pub fn queue_bytes(&self) -> u64 {
        self.queued_bytes
    }

    /// Return how many packets are acknowledged, losses included.
    pub fn acked(&self) -> u32 {
        self.sent.acked()
    }

    /// Return the number of the next packet.
    pub fn end(&self) -> u32 {
        self.sent.next_number()
    }

    /// Return the counters since the start.
    pub fn counters(&self) -> SenderCounters {
        self.counters.clone()
    }
}

/// Return the least time after a packet (section 4.1.2.6); 0 before the first sample of the round trip.
pub(super) fn t_pace(rtp_size: u32, cwnd: f64, s_rtt: f64) -> Span {
    let pace_bitrate = RATE_PACE_MIN.max(cwnd * 8.0 / s_rtt);
    Span::from_secs(f64::from(rtp_size) * 8.0 / pace_bitrate)
}
