use aqmlab_units::{Span, Time};

use crate::profile::out_of_line;
use crate::{Ack, Data, NewData, SenderCounters, Supply, Timer, ns2, rfc, scream};

/// A sender of any profile of TCP, or of media.
#[derive(Clone, Debug)]
pub enum Sender {
    /// One of ns-2's agents.
    Ns2(Box<ns2::Sender>),
    /// By the RFCs.
    Rfc(Box<rfc::Sender>),
    /// Media over UDP.
    Scream(Box<scream::Sender>),
}

impl Sender {
    /// Opens the connection: the application hands over all it has.
    pub fn start(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        match self {
            Self::Ns2(sender) => sender.start(now, out),
            Self::Rfc(sender) => out_of_line(|| sender.start(now, out)),
            Self::Scream(sender) => out_of_line(|| sender.start(now, out)),
        }
    }

    /// Takes an acknowledgement.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: &Ack, out: &mut impl FnMut(Data)) {
        match self {
            Self::Ns2(sender) => sender.on_ack(now, ack, out),
            Self::Rfc(sender) => out_of_line(|| sender.on_ack(now, ack, out)),
            Self::Scream(sender) => out_of_line(|| sender.on_ack(now, ack, out)),
        }
    }

    /// Take an acknowledgement without SACK blocks and time stamp, if it only reports that new data has arrived, and
    /// is not the last. Return the new data to send. If it is another, return `None` and change nothing:
    /// [`Sender::on_ack`] takes it.
    // A browser compiles a function of its own sooner than a larger caller.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn on_plain_ack(&mut self, now: Time, ack: i32, ece: bool) -> Option<NewData> {
        match self {
            Self::Ns2(sender) if !ece => sender.on_plain_ack(now, ack),
            Self::Ns2(_) => None,
            Self::Rfc(sender) => sender.on_plain_ack(now, ack, ece),
            Self::Scream(_) => None,
        }
    }

    /// The timer has expired: to be called at its deadline.
    pub fn on_timer(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        match self {
            Self::Ns2(sender) => sender.on_timer(now, out),
            Self::Rfc(sender) => out_of_line(|| sender.on_timer(now, out)),
            Self::Scream(sender) => out_of_line(|| sender.on_timer(now, out)),
        }
    }

    /// The application has no more data: nothing beyond what was sent will be sent. Before the start it has no effect.
    pub fn stop(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        match self {
            Self::Ns2(sender) => sender.stop(now, out),
            Self::Rfc(sender) => out_of_line(|| sender.stop(now, out)),
            Self::Scream(sender) => out_of_line(|| sender.stop(now, out)),
        }
    }

    /// The application always has more data again, after [`Sender::stop`].
    pub fn resume(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        match self {
            Self::Ns2(sender) => sender.resume(now, out),
            Self::Rfc(sender) => out_of_line(|| sender.resume(now, out)),
            Self::Scream(sender) => out_of_line(|| sender.resume(now, out)),
        }
    }

    /// The application hands over more, when everything was acknowledged that it had handed over before: the connection
    /// continues from there. [`Sender::go_on`] sends as much of it as the window allows. Media have an encoder instead.
    pub fn offer(&mut self, supply: Supply) {
        match self {
            Self::Ns2(sender) => sender.offer(supply),
            Self::Rfc(sender) => sender.offer(supply),
            Self::Scream(_) => {}
        }
    }

    /// Sends what was [offered](Sender::offer).
    pub fn go_on(&mut self, now: Time, out: &mut impl FnMut(Data)) {
        match self {
            Self::Ns2(sender) => sender.go_on(now, out),
            Self::Rfc(sender) => out_of_line(|| sender.go_on(now, out)),
            Self::Scream(_) => {}
        }
    }

    /// Return the sequence number after the last data that the application has handed over, as on the wire.
    pub fn end(&self) -> u32 {
        match self {
            Self::Ns2(sender) => sender.end(),
            Self::Rfc(sender) => sender.end(),
            Self::Scream(sender) => sender.end(),
        }
    }

    /// Prefetch the fields that a plain acknowledgement needs.
    #[inline]
    pub fn prefetch(&self) {
        match self {
            Self::Ns2(sender) => sender.prefetch(),
            Self::Rfc(sender) => sender.prefetch(),
            Self::Scream(_) => {}
        }
    }

    /// Prefetch the state of the acknowledged packets; [`Sender::prefetch`] has fetched its address.
    #[inline]
    pub fn prefetch_acknowledged(&self) {
        match self {
            Self::Ns2(_) | Self::Scream(_) => {}
            Self::Rfc(sender) => sender.prefetch_acknowledged(),
        }
    }

    /// Return when [`Sender::timer`] is due; [`Time::NEVER`] without one.
    #[inline]
    pub fn deadline(&self) -> Time {
        match self {
            Self::Ns2(sender) => Timer::due(sender.timer()),
            Self::Rfc(sender) => Timer::due(sender.timer()),
            Self::Scream(sender) => Timer::due(sender.timer()),
        }
    }

    /// The timer that is due next, if one runs.
    #[inline]
    pub fn timer(&self) -> Option<Timer> {
        match self {
            Self::Ns2(sender) => sender.timer(),
            Self::Rfc(sender) => sender.timer(),
            Self::Scream(sender) => sender.timer(),
        }
    }

    /// Whether all data has been acknowledged and there will be no more; never of media.
    #[inline]
    pub fn is_finished(&self) -> bool {
        match self {
            Self::Ns2(sender) => sender.is_finished(),
            Self::Rfc(sender) => sender.is_finished(),
            Self::Scream(_) => false,
        }
    }

    /// Congestion window in packets.
    pub fn cwnd(&self) -> f64 {
        match self {
            Self::Ns2(sender) => sender.cwnd(),
            Self::Rfc(sender) => sender.cwnd(),
            Self::Scream(sender) => sender.cwnd(),
        }
    }

    /// Slow-start threshold in packets; infinite before it is first set.
    pub fn ssthresh(&self) -> f64 {
        match self {
            Self::Ns2(sender) => sender.ssthresh(),
            Self::Rfc(sender) => sender.ssthresh(),
            Self::Scream(_) => f64::INFINITY,
        }
    }

    /// Smoothed round-trip time; `None` without a sample that counts.
    pub fn srtt(&self) -> Option<Span> {
        match self {
            Self::Ns2(sender) => sender.srtt(),
            Self::Rfc(sender) => sender.srtt(),
            Self::Scream(sender) => sender.srtt(),
        }
    }

    /// Packets acknowledged, the SYN among them.
    pub fn acked(&self) -> u64 {
        let highest = match self {
            Self::Ns2(sender) => i64::from(sender.highest_ack()),
            Self::Rfc(sender) => sender.highest_ack(),
            Self::Scream(sender) => i64::from(sender.acked()) - 1,
        };
        (highest + 1) as u64
    }

    /// Whether the connection has sent the last packet that its profile has a number for, and sends no more.
    pub fn is_exhausted(&self) -> bool {
        match self {
            Self::Ns2(sender) => sender.is_exhausted(),
            Self::Rfc(_) | Self::Scream(_) => false,
        }
    }

    /// Return the counters since the start.
    pub fn counters(&self) -> SenderCounters {
        match self {
            Self::Ns2(sender) => sender.counters(),
            Self::Rfc(sender) => sender.counters(),
            Self::Scream(sender) => sender.counters(),
        }
    }
}
