//! The time-sliding window.

use core::marker::PhantomData;

use aqmlab_units::{Rate, Span, Time};

use super::{Arithmetic, Color};

/// Time-sliding window (Clark and Fang, "Explicit allocation of best-effort packet delivery service", IEEE/ACM ToN
/// 6(4), 1998; RFC 2859): an average rate over about the last `window` seconds,
///
/// ```text
/// avg = (avg window + bytes) / (now - t_front + window),   t_front = now
/// ```
///
/// above which packets are coloured by chance, so that the green ones keep to `cir` and the green and yellow ones to
/// `pir`: red with probability (avg - pir) / avg, yellow with (min(avg, pir) - cir) / avg. With two colours all packets
/// that are not green are red.
#[derive(Clone, Copy, Debug)]
pub struct SlidingWindow<A> {
    /// Bytes per second, as all rates here.
    average: f64,
    cir: f64,
    pir: Option<f64>,
    /// Seconds.
    window: f64,
    t_front: Time,
    arithmetic: PhantomData<A>,
}

impl<A: Arithmetic> SlidingWindow<A> {
    /// TSW2CM: green and red. The average starts at `cir`.
    pub fn two_colors(cir: Rate, window: Span) -> Self {
        let cir = cir.bps() / 8.0;
        let (window, t_front) = (window.secs(), Time::ZERO);
        Self { average: cir, cir, pir: None, window, t_front, arithmetic: PhantomData }
    }

    /// TSW3CM: green, yellow and red. The average starts at `cir`.
    pub fn three_colors(cir: Rate, pir: Rate, window: Span) -> Self {
        Self { pir: Some(pir.bps() / 8.0), ..Self::two_colors(cir, window) }
    }

    /// The colour of a packet of `bytes` that arrives at `now`.
    pub fn color(&mut self, now: Time, bytes: u32, uniform: &mut impl FnMut() -> f64) -> Color {
        let in_window = self.average * self.window + f64::from(bytes);
        self.average = in_window / (A::seconds(self.t_front, now) + self.window);
        self.t_front = now;
        A::color_at(self.average, self.cir, self.pir, uniform)
    }
}
