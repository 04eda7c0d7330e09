//! The upstream of a cable modem: `rate = { docsis = "50Mbps" }`. The modem requests room for the waiting bytes, and sends as many as are granted.
//!
//! The model is that of CableLabs' module for ns-3 (`docsis-ns3`, "Model Overview" and "System Configuration"), for one service flow of the
//! kind "best effort", whose defaults these are. Time is divided into MAP intervals. In each, the modem has one opportunity for a request.
//! A request is granted in the first interval that begins at least `request_grant` later. A grant has at most as many bytes as
//! the rate allows in an interval; they are sent one after another at the rate of the channel. A packet that does not fit
//! continues in the grant of the next interval (continuous concatenation and fragmentation).
//!
//! Readings that were chosen:
//!
//! * A packet is requested in the interval after that of its arrival, at a uniform time, as `docsis-ns3` draws contention requests, which do
//!   not collide. Requests that share a grant of data (piggybacking) follow the same rule.
//! * A grant begins with its interval. (`docsis-ns3` draws a place in it.) Headers of the link layer count in no rate; other modems do not use
//!   the channel.
//! * Where the arrival is not known (some live links), it is the start of the service.

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Parameter, ParameterValue, Rate, Span, Stream, Time, ValueKind};

use super::piecewise::Work;
use super::{Serve, ServerPart};
use crate::link::part::Keys;

const DOCSIS_NS3: &str = "docsis-ns3 (CableLabs)";

const RATE: Parameter =
    Parameter::new("docsis", "", ValueKind::Rate, "rate that a cable modem is granted upstream");
const CHANNEL: Parameter = Parameter::new(
    "channel",
    "",
    ValueKind::Rate,
    "rate at which a grant is sent; default: 940 Mbit/s, or the granted rate if that is higher",
)
.source(DOCSIS_NS3);
const MAP: Parameter = Parameter::new("map_interval", "", ValueKind::Time, "time between grants")
    .from(1e-4)
    .to(1.0)
    .default("2ms")
    .source(DOCSIS_NS3);
const LOOP: Parameter = Parameter::new(
    "request_grant",
    "",
    ValueKind::Time,
    "shortest time from a request to the interval of its grant",
)
.from(0.0)
.to(1.0)
.default("1.6ms")
.source("sum of the delays of docsis-ns3 (CableLabs)");

/// The server of a cable modem's upstream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Docsis {
    rate: Rate,
    channel: Rate,
    interval: Span,
    request_grant: Span,
    /// Bytes of a full grant.
    grant: u64,
}

impl ServerPart for Docsis {
    const PARAMETERS: &'static [Parameter] = &[RATE, CHANNEL, MAP, LOOP];
    type State = State;

    fn read(keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        let Some(ParameterValue::Rate(rate)) = keys.value(&RATE) else { return Ok(None) };
        // 1880 subcarriers of 50 kHz, 10 bit/s per Hz.
        let channel = keys.rate(&CHANNEL, Rate(rate.0.max(940_000_000)));
        let interval = keys.time(&MAP, Span::from_millis(2));
        let grant = (u128::from(rate.0) * u128::from(interval.0) / 8_000_000_000_000) as u64;
        let error = |key: &Parameter, message: String, allowed: String| {
            Err(ParameterError { key: key.key.into(), message, allowed })
        };
        if channel < rate {
            return error(&CHANNEL, "is below the granted rate".into(), format!("at least {} bit/s", rate.0));
        }
        if grant == 0 {
            let message = format!("less than a byte in each interval of {} s", interval.secs());
            return error(&RATE, message, format!("at least {} bit/s", (8.0 / interval.secs()).ceil()));
        }
        Ok(Some(Self {
            rate,
            channel,
            interval,
            request_grant: keys.time(&LOOP, Span(1_600_000_000)),
            grant,
        }))
    }

    fn rate(&self) -> Rate {
        self.rate
    }

    fn longest(&self, bytes: u64) -> Span {
        self.request_grant + self.interval * (bytes / self.grant + 5)
    }

    fn start(&self, seed: u64, link: &str) -> State {
        let rng = Stream::new(seed, &format!("docsis {link}"));
        State { docsis: self.clone(), rng, arrival: None, requested: 0, granted: 0, current: 0, used: 0 }
    }
}

/// The last request, and the last grant.
#[derive(Clone, Debug)]
pub(crate) struct State {
    docsis: Docsis,
    rng: Stream,
    /// The arrival of the next packet to be served, if it is known.
    arrival: Option<Time>,
    /// The interval of the last request, and that in which it is granted.
    requested: u64,
    granted: u64,
    /// The interval of the last grant that was used, and the bytes used of it.
    current: u64,
    used: u64,
}

impl State {
    /// Return the first interval in which a packet may be sent that arrives at a time.
    fn granted(&mut self, arrival: Time) -> u64 {
        let Docsis { interval: Span(interval), request_grant, .. } = self.docsis;
        let requested = arrival.0 / interval + 1;
        if requested > self.requested {
            let request = requested * interval + self.rng.below(interval);
            self.requested = requested;
            self.granted = (request + request_grant.0).div_ceil(interval);
        }
        self.granted
    }
}

impl Serve for State {
    fn arrived(&mut self, arrival: Time) {
        self.arrival = Some(arrival);
    }

    fn serve_until(&mut self, start: Time, work: Work, until: Time) -> Result<Time, Work> {
        let arrival = self.arrival.take().unwrap_or(start);
        let granted = self.granted(arrival);
        let Docsis { channel, interval, grant, .. } = self.docsis;
        if granted > self.current {
            (self.current, self.used) = (granted, 0);
        }
        let bytes = self.used + work.bytes();
        // The last byte is in this grant, or in a later one.
        let more = (bytes - 1) / grant;
        (self.current, self.used) = (self.current + more, bytes - more * grant);
        let end = Time::ZERO + interval * self.current + channel.time_of(self.used);
        if end <= until { Ok(end.max(start)) } else { Err(work) }
    }

    fn rate_at(&self, _time: Time) -> Rate {
        self.docsis.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 50 Mbit/s in intervals of 2 ms: grants of 12,500 bytes.
    fn docsis() -> Docsis {
        Docsis {
            rate: Rate(50_000_000),
            channel: Rate(1_000_000_000),
            interval: Span::from_millis(2),
            request_grant: Span(1_600_000_000),
            grant: 12_500,
        }
    }

    fn us(us: u64) -> Time {
        Time(us * 1_000_000)
    }

    #[test]
    fn a_packet_waits_for_request_and_grant() {
        // It is requested at a uniform time of the next interval. If that is in its first 0.4 ms, the grant is in the second interval after
        // that of the arrival, else in the third.
        let mut state = docsis().start(1, "a->b");
        let (mut early, mut sum) = (0, 0.0);
        for n in 0..50_000u64 {
            let arrival = us(n * 100_000 + (n * 77) % 2000);
            state.arrived(arrival);
            let span = state.serve(arrival, 1500);
            // 1500 bytes at 1 Gbit/s take 12 us.
            let begins = (arrival + span).0 - 12_000_000;
            let intervals = begins / 2_000_000_000 - arrival.0 / 2_000_000_000;
            assert!(begins.is_multiple_of(2_000_000_000) && (2..=3).contains(&intervals));
            early += u32::from(intervals == 2);
            sum += span.secs();
        }
        assert!((f64::from(early) / 5e4 - 0.2).abs() < 0.01, "{early}");
        // 0.2 * 4 ms + 0.8 * 6 ms, less 1 ms, by which an arrival is later than its interval begins.
        assert!((sum / 5e4 - 0.004_612).abs() < 2e-5, "{}", sum / 5e4);
    }

    #[test]
    fn grants_are_full_while_packets_wait() {
        let (mut state, mut now) = (docsis().start(1, "a->b"), Time::ZERO);
        for n in 0..10_000u64 {
            state.arrived(Time::ZERO);
            now += state.serve(now, 1500);
            // The last byte of packet n is byte 1500 (n + 1) of all grants.
            let (grants, used) = ((1500 * (n + 1) - 1) / 12_500, (1500 * (n + 1) - 1) % 12_500 + 1);
            let first = state.granted;
            assert_eq!(now, us(2000 * (first + grants)) + Span(used * 8000));
        }
        let rate = 1e4 * 12_000.0 / (now.secs() - 0.004);
        assert!((rate / 50e6 - 1.0).abs() < 0.005, "{rate}");
    }

    #[test]
    fn packets_of_an_interval_are_requested_together() {
        let mut state = docsis().start(3, "a->b");
        let ends: Vec<_> = [100, 900, 1900, 2100]
            .iter()
            .scan(Time::ZERO, |end, &arrival| {
                state.arrived(us(arrival));
                let start = us(arrival).max(*end);
                *end = start + state.serve(start, 500);
                Some(*end)
            })
            .collect();
        // 500 bytes take 4 us.
        assert_eq!(ends[1].since(ends[0]), Span(4_000_000));
        assert_eq!(ends[2].since(ends[1]), Span(4_000_000));
        assert!(ends[3].since(ends[2]) >= Span(4_000_000));
    }

    #[test]
    fn a_packet_continues_in_the_next_grant() {
        let small = Docsis { grant: 1000, ..docsis() };
        let mut state = small.start(1, "a->b");
        let end = Time::ZERO + state.serve(Time::ZERO, 2500);
        assert_eq!(end, us(2000 * (state.granted + 2)) + Span(500 * 8000));
    }
}
