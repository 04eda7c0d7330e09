//! A Wi-Fi link: `rate = { wifi = "144.4Mbps" }`. Packets that wait are sent together, in aggregates; before each, the station waits for
//! the medium, which others use in bursts.
//!
//! The times of an aggregate are those of 802.11n at 5 GHz, as in the model of Høiland-Jørgensen et al. ("Ending the Anomaly: Achieving Low
//! Latency and Airtime Fairness in WiFi", USENIX ATC 2017): DIFS, a backoff of 0 to 15 slots, the preamble, the packets with
//! their headers (A-MPDU), SIFS, and the block acknowledgement. An aggregate has at most 64 packets (the window of a block
//! acknowledgement of 802.11n), which take at most 4 ms (the limit of Linux's driver ath9k).
//!
//! Readings that were chosen:
//!
//! * An aggregate has all packets that arrived before the medium was won, as far as they fit and their services follow each other. Where the
//!   arrival is not known (some live links), packets that follow without a pause are taken together.
//! * A packet has left when its own bits have been sent. (A receiver passes packets on when the aggregate ends.)
//! * While others contend, each of `stations` always has an aggregate to send, which takes `txop`, and each wins the medium equally often.
//!   Bursts of contention and the times between them are exponential. Collisions, retries and rate control are absent: the rate of
//!   successful transmission is a parameter.

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Parameter, ParameterValue, Rate, Span, Stream, Time, ValueKind};

use super::piecewise::Work;
use super::{Serve, ServerPart};
use crate::link::part::Keys;

const RATE: Parameter =
    Parameter::new("wifi", "", ValueKind::Rate, "rate at which the bits of packets are sent over Wi-Fi");
const AGGREGATE: Parameter =
    Parameter::new("aggregate", "", ValueKind::Packets, "most packets of an aggregate")
        .from(1.0)
        .to(1024.0)
        .whole()
        .default("64p")
        .source("block acknowledgement of IEEE 802.11n");
const TXOP: Parameter =
    Parameter::new("txop", "", ValueKind::Time, "longest time of the packets of an aggregate")
        .from(1e-4)
        .to(0.1)
        .default("4ms")
        .source("Linux, ath9k");
const STATIONS: Parameter = Parameter::new(
    "stations",
    "",
    ValueKind::Number,
    "other stations that send during a burst of contention",
)
.from(0.0)
.to(100.0)
.whole()
.default("1")
.source("a choice of this project");
const CONTENTION: Parameter =
    Parameter::new("contention", "", ValueKind::Number, "share of time in bursts of contention")
        .from(0.0)
        .to(1.0)
        .default("0.5")
        .source("a choice of this project");
const BURST: Parameter =
    Parameter::new("contention_burst", "", ValueKind::Time, "mean length of a burst of contention")
        .from(1e-3)
        .to(1e6)
        .default("1s")
        .source("a choice of this project");

/// IEEE 802.11, OFDM at 5 GHz: the slot, SIFS, and DIFS = SIFS + 2 slots.
const SLOT: Span = Span(9_000_000);
const SIFS: Span = Span(16_000_000);
const DIFS: Span = Span(34_000_000);
/// A backoff has 0 to CWmin slots.
const CW_MIN: u64 = 15;
/// Preamble and header of the physical layer of an aggregate (HT-mixed, two streams).
const PREAMBLE: Span = Span(40_000_000);
/// 32 bytes at 24 Mbit/s after a preamble of 20 us.
const BLOCK_ACK: Span = Span(32_000_000);
/// Delimiter (4 bytes), header (26), LLC and SNAP (8), check sequence (4); the sum is padded to a multiple of 4.
const HEADERS: u32 = 42;

/// The server of a Wi-Fi link.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wifi {
    rate: Rate,
    aggregate: u32,
    txop: Span,
    stations: u32,
    contention: f64,
    burst: Span,
}

impl Wifi {
    /// Return the time of a packet in an aggregate.
    fn packet(&self, bytes: u32) -> Span {
        self.rate.time_of(u64::from(bytes.saturating_add(HEADERS)).next_multiple_of(4))
    }

    /// Return the time for which an aggregate of another station keeps the medium, from DIFS to the acknowledgement. Its backoff has run
    /// while this station's did.
    fn other(&self) -> Span {
        DIFS + PREAMBLE + self.txop + SIFS + BLOCK_ACK
    }

    /// Return the mean rate of full aggregates of packets of so many bytes, with a mean number of other aggregates before each.
    fn goodput(&self, bytes: u32, others: f64) -> f64 {
        let packet = self.packet(bytes);
        let packets = u64::from(self.aggregate).min((self.txop.0 / packet.0).max(1));
        let own = DIFS + Span(SLOT.0 * CW_MIN / 2) + PREAMBLE + packet * packets + SIFS + BLOCK_ACK;
        packets as f64 * f64::from(bytes) * 8.0 / (own.secs() + others * self.other().secs())
    }
}

/// Packets of this length stand for all where one number is asked for.
const TYPICAL: u32 = 1500;

impl ServerPart for Wifi {
    const PARAMETERS: &'static [Parameter] = &[RATE, AGGREGATE, TXOP, STATIONS, CONTENTION, BURST];
    type State = State;

    fn read(keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        let Some(ParameterValue::Rate(rate)) = keys.value(&RATE) else { return Ok(None) };
        let aggregate = keys.value(&AGGREGATE);
        Ok(Some(Self {
            rate,
            aggregate: if let Some(ParameterValue::Packets(n)) = aggregate { n as u32 } else { 64 },
            txop: keys.time(&TXOP, Span::from_millis(4)),
            stations: keys.number(&STATIONS, 1.0) as u32,
            contention: keys.number(&CONTENTION, 0.5),
            burst: keys.time(&BURST, Span::from_millis(1000)),
        }))
    }

    fn rate(&self) -> Rate {
        let quiet = (1.0 - self.contention) * self.goodput(TYPICAL, 0.0);
        let contended = self.contention * self.goodput(TYPICAL, self.stations.into());
        Rate((quiet + contended).max(1.0) as u64)
    }

    fn fastest(&self) -> Rate {
        Rate(self.goodput(TYPICAL, 0.0).max(1.0) as u64)
    }

    fn longest(&self, bytes: u64) -> Span {
        // A uniform number below 1 - 2^-53 is drawn, so others come first less than 37 (stations + 1) times.
        let access = self.other() * (37 * (u64::from(self.stations) + 1)) + SLOT * CW_MIN;
        // Each byte might be a packet, and each packet an aggregate.
        (access + self.packet(1)) * bytes
    }

    fn start(&self, seed: u64, link: &str) -> State {
        let mut bursts = Stream::new(seed, &format!("wifi bursts {link}"));
        let is_contended = bursts.uniform() < self.contention;
        let mut state = State {
            wifi: self.clone(),
            rng: Stream::new(seed, &format!("wifi {link}")),
            bursts,
            is_contended,
            until: Time::ZERO,
            arrival: None,
            aggregate: None,
        };
        state.until = Time::ZERO + state.burst();
        state
    }
}

/// The aggregate that is sent, or was sent last.
#[derive(Clone, Copy, Debug)]
struct Aggregate {
    /// When the medium was won.
    won: Time,
    packets: u32,
    /// The time of its packets, and when the last of them ends.
    length: Span,
    end: Time,
}

/// The medium, and the last aggregate.
#[derive(Clone, Debug)]
pub(crate) struct State {
    wifi: Wifi,
    rng: Stream,
    bursts: Stream,
    is_contended: bool,
    /// Until when it is, or is not.
    until: Time,
    /// The arrival of the next packet to be served, if it is known.
    arrival: Option<Time>,
    aggregate: Option<Aggregate>,
}

impl State {
    /// Draw the length of a burst of contention, or of the time without.
    fn burst(&mut self) -> Span {
        let Wifi { contention, burst, .. } = self.wifi;
        let mean =
            if self.is_contended { burst.secs() } else { burst.secs() * (1.0 - contention) / contention };
        let is_endless = self.is_contended && contention >= 1.0 || !mean.is_finite();
        // A length of 0 would never end.
        if is_endless { Span(u64::MAX) } else { Span::from_secs(self.bursts.exponential(mean)) + Span(1) }
    }

    /// Return when the medium is won, if the station wants it from a time on.
    fn win(&mut self, from: Time) -> Time {
        while self.until <= from {
            self.is_contended = !self.is_contended;
            let burst = self.burst();
            self.until += burst;
        }
        let mut won = from + DIFS + SLOT * self.rng.below(CW_MIN + 1);
        if self.is_contended && self.wifi.stations > 0 {
            // Geometric: this station wins with probability 1 / (stations + 1).
            let stations = f64::from(self.wifi.stations);
            let losses = self.rng.exponential(1.0) / libm::log1p(1.0 / stations);
            won += self.wifi.other() * losses as u64;
        }
        won
    }
}

impl Serve for State {
    fn arrived(&mut self, arrival: Time) {
        self.arrival = Some(arrival);
    }

    fn serve_until(&mut self, start: Time, work: Work, until: Time) -> Result<Time, Work> {
        let arrival = self.arrival.take();
        let packet = self.wifi.packet(u32::try_from(work.bytes()).unwrap_or(u32::MAX));
        let joined = self.aggregate.filter(|last| {
            let waited = start == last.end && arrival.is_none_or(|arrival| arrival <= last.won);
            waited && last.packets < self.wifi.aggregate && last.length + packet <= self.wifi.txop
        });
        let mut aggregate = joined.unwrap_or_else(|| {
            let free = self.aggregate.map_or(start, |last| start.max(last.end + SIFS + BLOCK_ACK));
            let won = self.win(free);
            Aggregate { won, packets: 0, length: Span::ZERO, end: won + PREAMBLE }
        });
        aggregate.packets += 1;
        aggregate.length = aggregate.length + packet;
        aggregate.end += packet;
        if aggregate.end > until {
            return Err(work);
        }
        self.aggregate = Some(aggregate);
        Ok(aggregate.end)
    }

    fn rate_at(&self, _time: Time) -> Rate {
        self.wifi.rate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    fn wifi() -> Wifi {
        let (txop, burst) = (Span::from_millis(4), Span::from_millis(1000));
        Wifi { rate: Rate(144_400_000), aggregate: 64, txop, stations: 0, contention: 0.0, burst }
    }

    /// Serve packets of 1500 bytes that all wait. Return the packets of each aggregate, and the end.
    fn aggregates(wifi: &Wifi, seed: u64, count: u32) -> (Vec<u32>, Time) {
        let (mut state, mut now, mut all) = (wifi.start(seed, "a->b"), Time::ZERO, Vec::new());
        for _ in 0..count {
            state.arrived(Time::ZERO);
            let span = state.serve(now, 1500);
            now += span;
            if span > wifi.packet(1500) { all.push(1) } else { *all.last_mut().unwrap() += 1 }
        }
        (all, now)
    }

    #[test]
    fn aggregates_end_at_the_time_or_at_the_number() {
        // 1544 bytes with headers and padding at 144.4 Mbit/s: 85.54 us, 46 of which fit into 4 ms.
        assert_eq!(wifi().packet(1500).0 / 10_000, 8554);
        let (all, _) = aggregates(&wifi(), 1, 460);
        assert_eq!(all, [46; 10]);
        let fast = Wifi { rate: Rate(300_000_000), ..wifi() };
        assert_eq!(aggregates(&fast, 1, 640).0, [64; 10]);
        // A packet that takes longer than that is sent alone.
        let slow = Wifi { rate: Rate(1_000_000), ..wifi() };
        assert_eq!(aggregates(&slow, 1, 5).0, [1; 5]);
    }

    #[test]
    fn an_aggregate_has_what_arrived_before_the_medium_was_won() {
        let mut state = wifi().start(1, "a->b");
        let first = Time::ZERO + state.serve(Time::ZERO, 1500);
        let won = Time(first.0 - wifi().packet(1500).0 - PREAMBLE.0);
        assert!((DIFS.0..=DIFS.0 + 15 * SLOT.0).contains(&won.0) && (won.0 - DIFS.0).is_multiple_of(SLOT.0));
        state.arrived(won);
        assert_eq!(state.serve(first, 1500), wifi().packet(1500));
        let second = first + wifi().packet(1500);
        state.arrived(won + Span(1));
        assert!(state.serve(second, 1500) >= SIFS + BLOCK_ACK + DIFS + PREAMBLE + wifi().packet(1500));
        // After a pause, the next packet is in another aggregate.
        let later = Time(10_000 * US);
        state.arrived(later);
        assert!(state.serve(later, 1500) >= DIFS + PREAMBLE + wifi().packet(1500));
    }

    #[test]
    fn the_rate_alone_is_that_of_the_model() {
        // 34 + 67.5 + 40 + 46 * 85.54 + 16 + 32 us for 46 * 12000 bits.
        assert!((wifi().rate().bps() / 133.84e6 - 1.0).abs() < 0.001, "{:?}", wifi().rate());
        let (_, end) = aggregates(&wifi(), 2, 46_000);
        let rate = 46_000.0 * 12_000.0 / end.secs();
        assert!((rate / wifi().rate().bps() - 1.0).abs() < 0.001, "{rate}");
    }

    #[test]
    fn each_station_wins_equally_often() {
        let contended = Wifi { stations: 3, contention: 1.0, ..wifi() };
        let mut state = contended.start(1, "a->b");
        let (mut others, mut none) = (0, 0);
        for n in 0..20_000u64 {
            let from = Time(n * 1_000_000 * US);
            let count = (state.win(from).since(from) - DIFS).0 / contended.other().0;
            others += count;
            none += u32::from(count == 0);
        }
        // Geometric with mean 3 and standard deviation sqrt(12).
        assert!((others as f64 / 2e4 - 3.0).abs() < 0.1, "{others}");
        assert!((f64::from(none) / 2e4 - 0.25).abs() < 0.01, "{none}");
    }

    #[test]
    fn contention_comes_in_bursts() {
        let bursty = Wifi { stations: 1, contention: 0.3, ..wifi() };
        let mut state = bursty.start(1, "a->b");
        let (mut contended, mut bursts, mut was) = (0u32, 0u32, false);
        for n in 0..1_000_000u64 {
            state.win(Time(n * 10_000 * US));
            bursts += u32::from(state.is_contended && !was);
            was = state.is_contended;
            contended += u32::from(was);
        }
        // 10,000 s in steps of 10 ms: about 3000 bursts of 1 s.
        assert!((f64::from(contended) / 1e6 - 0.3).abs() < 0.02, "{contended}");
        let length = f64::from(contended) / 100.0 / f64::from(bursts);
        assert!((length - 1.0).abs() < 0.06, "{length}");
    }

    #[test]
    fn the_mean_rate_is_that_of_quiet_and_contended_times() {
        let bursty = Wifi { stations: 2, contention: 0.5, ..wifi() };
        let (_, end) = aggregates(&bursty, 5, 2_000_000);
        let rate = 2e6 * 12_000.0 / end.secs();
        assert!((rate / bursty.rate().bps() - 1.0).abs() < 0.06, "{rate} {:?}", bursty.rate());
        for (contention, mean) in [(0.0, 133.84e6), (1.0, 133.84e6 / 3.0)] {
            let steady = Wifi { stations: 2, contention, ..wifi() };
            assert!((steady.rate().bps() / mean - 1.0).abs() < 0.02, "{:?}", steady.rate());
        }
    }
}
