//! A link by satellites in low orbit: `rate = { leo = "70Mbps" }`. At every handover nothing is sent for a time, and the rate changes.
//!
//! Starlink assigns a satellite to each terminal every 15 s, at the same times everywhere (Tanveer et al., "Making Sense of
//! Constellations", CoNEXT 2023; Mohan et al., "A Multifaceted Look at Starlink Performance", WWW 2024), and delay and rate change
//! then. The delay is that of the channel `handover_step` (`channel/handover.rs`).
//!
//! Readings that were chosen: handovers are at multiples of the period; the rate between two of them is constant, and uniform
//! between the lowest and the highest one, independent of the others; the queue is kept while nothing is sent.

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Parameter, ParameterValue, Rate, Span, Stream, Time, ValueKind};

use super::piecewise::Piecewise;
use super::{InService, Server, ServerPart};
use crate::link::part::{HANDOVER, Keys, handover_period};

const HIGHEST: Parameter =
    Parameter::new("leo", "", ValueKind::Rate, "highest rate of a link by satellites in low orbit");
const LOWEST: Parameter = Parameter::new(
    "lowest",
    "",
    ValueKind::Rate,
    "lowest rate between handovers; default: a seventh of the highest",
)
.source("10 to 70 Mbit/s: Lai et al. (SIGCOMM 2025)");
const GAP: Parameter = Parameter::new("gap", "", ValueKind::Time, "time without sending after a handover")
    .from(0.0)
    .to(1e6)
    .default("40ms")
    .source("30 to 50 ms of delay at handovers: Huston (APNIC 2024)");

/// The server of a link by satellites in low orbit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leo {
    lowest: Rate,
    highest: Rate,
    period: Span,
    gap: Span,
    in_service: InService,
}

impl Leo {
    /// Return the share of time in which the link sends.
    fn sending(&self) -> f64 {
        1.0 - self.gap.secs() / self.period.secs()
    }

    fn handovers(&self, seed: u64, link: &str) -> Handovers {
        Handovers {
            rng: Stream::new(seed, &format!("leo {link}")),
            leo: self.clone(),
            time: Time::ZERO,
            in_gap: false,
        }
    }
}

impl ServerPart for Leo {
    const IS_RATE_OVER_TIME: bool = true;
    const PARAMETERS: &'static [Parameter] = &[HIGHEST, LOWEST, HANDOVER, GAP];
    type State = Piecewise<Handovers>;

    fn read(keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        let Some(ParameterValue::Rate(highest)) = keys.value(&HIGHEST) else { return Ok(None) };
        let lowest = keys.rate(&LOWEST, Rate((highest.0 / 7).max(1)));
        let (period, gap) = (handover_period(keys), keys.time(&GAP, Span::from_millis(40)));
        let error = |key: &Parameter, message: &str, allowed: String| {
            Err(ParameterError { key: key.key.into(), message: message.into(), allowed })
        };
        if lowest > highest {
            return error(&LOWEST, "is above the highest rate", format!("at most {} bit/s", highest.0));
        }
        if gap >= period {
            return error(
                &GAP,
                "is not below the time between handovers",
                format!("below {} s", period.secs()),
            );
        }
        Ok(Some(Self { lowest, highest, period, gap, in_service: InService::default() }))
    }

    fn rate(&self) -> Rate {
        let mean = (self.lowest.bps() + self.highest.bps()) / 2.0;
        Rate((mean * self.sending()).max(1.0) as u64)
    }

    fn fastest(&self) -> Rate {
        self.highest
    }

    fn longest(&self, bytes: u64) -> Span {
        Span::from_secs(self.lowest.time_of(bytes).secs() / self.sending()) + self.period * 2
    }

    fn with_in_service(self, in_service: InService) -> Server {
        Self { in_service, ..self }.into()
    }

    fn in_service(&self) -> InService {
        self.in_service
    }

    fn uses_in_service(&self) -> bool {
        true
    }

    fn start(&self, seed: u64, link: &str) -> Self::State {
        let mut handovers = self.handovers(seed, link);
        Piecewise::new(handovers.draw(), handovers, self.in_service)
    }
}

/// The rates after handovers.
#[derive(Clone, Debug)]
pub(crate) struct Handovers {
    rng: Stream,
    leo: Leo,
    /// The last handover.
    time: Time,
    in_gap: bool,
}

impl Handovers {
    fn draw(&mut self) -> Rate {
        let Leo { lowest, highest, .. } = self.leo;
        Rate(lowest.0 + self.rng.below(highest.0 - lowest.0 + 1))
    }
}

impl Iterator for Handovers {
    type Item = (Time, Rate);

    fn next(&mut self) -> Option<Self::Item> {
        if !self.in_gap {
            self.time += self.leo.period;
            if self.leo.gap > Span::ZERO {
                self.in_gap = true;
                return Some((self.time, Rate(0)));
            }
        }
        self.in_gap = false;
        Some((self.time + self.leo.gap, self.draw()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Serve;
    use super::*;

    fn leo() -> Leo {
        let (period, gap) = (Span::from_millis(15_000), Span::from_millis(40));
        Leo {
            lowest: Rate(10_000_000),
            highest: Rate(70_000_000),
            period,
            gap,
            in_service: InService::default(),
        }
    }

    #[test]
    fn the_mean_rate_is_that_of_the_run() {
        let mut handovers = leo().handovers(3, "a->b");
        let mut now = (Time::ZERO, handovers.draw());
        let (from, to) = (Time(7_000_000_000_000), Time(100_000_000_000_000));
        let mut bits = 0.0;
        for next in handovers.take_while(|(at, _)| *at < to).chain([(to, Rate(0))]).collect::<Vec<_>>() {
            bits += now.1.bps() * next.0.max(from).since(now.0.max(from)).secs();
            now = next;
        }
        let mean = Server::from(leo()).mean_rate(3, "a->b", from, to);
        assert!((mean - bits / 93.0).abs() < 1e-6 * mean, "{mean} {bits}");
    }

    #[test]
    fn every_handover_has_a_gap_and_a_rate() {
        let mut handovers = leo().handovers(1, "a->b");
        let first = handovers.draw();
        let steps: Vec<_> = handovers.take(2000).collect();
        let (mut sum, mut low) = (first.bps(), 0);
        for (n, pair) in (1..).zip(steps.chunks(2)) {
            let at = Time(n * leo().period.0);
            assert_eq!([pair[0], (pair[1].0, Rate(0))], [(at, Rate(0)), (at + leo().gap, Rate(0))]);
            assert!((leo().lowest..=leo().highest).contains(&pair[1].1));
            sum += pair[1].1.bps();
            low += u32::from(pair[1].1 < Rate(25_000_000));
        }
        // Uniform: mean 40, standard deviation 60 / sqrt(12) = 17.3 Mbit/s; a quarter is below 25.
        assert!((sum / 1001.0 - 40e6).abs() < 3.0 * 17.3e6 / 1001f64.sqrt(), "{}", sum / 1001.0);
        assert!((f64::from(low) / 1000.0 - 0.25).abs() < 0.04, "{low}");
        assert_eq!(leo().rate(), Rate(39_893_333));
    }

    #[test]
    fn a_packet_waits_for_the_end_of_the_gap() {
        let mut state = leo().start(1, "a->b");
        let rate = |at: u64, state: &Piecewise<Handovers>| state.rate_at(Time::ZERO + Span::from_millis(at));
        let (before, after) = (rate(14_999, &state), rate(15_040, &state));
        assert_eq!(rate(15_020, &state), Rate(0));
        let start = Time::ZERO + Span::from_millis(15_010);
        let end = start + state.serve(start, 1500);
        assert_eq!(end.since(start + Span::from_millis(30)), after.time_of(1500));
        assert!(before != after);
    }

    #[test]
    fn no_gap_is_a_change_of_the_rate() {
        let leo = Leo { gap: Span::ZERO, ..leo() };
        let times: Vec<_> = leo.handovers(1, "a->b").take(3).map(|(time, _)| time.secs()).collect();
        assert_eq!(times, [15.0, 30.0, 45.0]);
    }
}
