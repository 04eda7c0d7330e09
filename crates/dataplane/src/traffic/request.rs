use core::net::IpAddr;
use std::sync::Arc;

use aqmlab_transport::{Length, Pattern};
use aqmlab_units::{Cdf, Rate, Spread, Time};
use serde::Deserialize;

use crate::config::one_line;

/// The highest bit rate: a byte lasts some picoseconds.
const FASTEST: u64 = 1_000_000_000_000;

/// A request to one process to send or to receive flows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrafficRequest {
    /// Seed of the run.
    #[serde(default)]
    pub seed: u64,
    /// Length of the run in seconds.
    pub duration_s: f64,
    /// The measured part begins here, in seconds.
    #[serde(default)]
    pub warmup_s: f64,
    /// The longest packet, IP header included.
    #[serde(default = "ethernet")]
    pub mtu: u32,
    /// A sink counts packets still on their way for so long after the end, in seconds.
    #[serde(default = "half_a_second")]
    pub linger_s: f64,
    /// The flows.
    pub flows: Vec<FlowRequest>,
}

fn ethernet() -> u32 {
    1500
}

fn half_a_second() -> f64 {
    0.5
}

/// A flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowRequest {
    /// The name by which it draws.
    pub name: String,
    /// Address of the sender.
    pub local: IpAddr,
    /// Address of the receiver.
    pub peer: IpAddr,
    /// Port of the receiver.
    pub port: u16,
    /// When it sends, in seconds: from, to (null: to the end of the run), one after the other.
    pub periods_s: Vec<(f64, Option<f64>)>,
    /// Bit rate while it sends, headers included.
    pub rate_bps: u64,
    /// Length of its packets in bytes, headers included: a number, or a distribution.
    pub packet: Number,
    /// When packets leave.
    pub pattern: When,
    /// Code point of its packets.
    #[serde(default)]
    pub dscp: u8,
    /// DDRED's TTL_i, which packets carry in an [option](crate::wire::RouteOption); none without a number.
    #[serde(default)]
    pub ttl_initial: Option<u8>,
}

/// A number or a distribution, as in the output of `aqmlab check --json`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// Always the same.
    Fixed(f64),
    /// Uniform between two.
    Uniform {
        /// Bounds.
        uniform: (f64, f64),
    },
    /// Exponential.
    Exponential {
        /// Mean.
        exponential: f64,
    },
    /// Pareto.
    Pareto {
        /// Mean and shape.
        pareto: Pareto,
    },
    /// Through points of a distribution function.
    Empirical {
        /// Values and probabilities.
        cdf: Points,
    },
}

/// An empirical distribution.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<(f64, f64)>")]
pub struct Points(Arc<Cdf>);

impl TryFrom<Vec<(f64, f64)>> for Points {
    type Error = &'static str;

    fn try_from(points: Vec<(f64, f64)>) -> Result<Self, Self::Error> {
        Cdf::new(points).map(|cdf| Self(Arc::new(cdf)))
    }
}

/// A Pareto distribution.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pareto {
    /// Mean.
    pub mean: f64,
    /// Shape.
    pub shape: f64,
}

impl Number {
    fn spread(&self) -> Spread {
        match *self {
            Self::Empirical { ref cdf } => Spread::Empirical(Arc::clone(&cdf.0)),
            Self::Fixed(x) => Spread::Fixed(x),
            Self::Uniform { uniform: (low, high) } => Spread::Uniform(low, high),
            Self::Exponential { exponential } => Spread::Exponential(exponential),
            Self::Pareto { pareto: Pareto { mean, shape } } => Spread::Pareto { mean, shape },
        }
    }

    /// Whether its numbers are finite and `least` or above, and in order.
    fn is_sound(&self, least: f64) -> bool {
        let is_good = |x: f64| x.is_finite() && x >= least;
        match self.spread() {
            Spread::Fixed(x) | Spread::Exponential(x) => is_good(x),
            Spread::Uniform(low, high) => is_good(low) && is_good(high) && low < high,
            Spread::Pareto { mean, shape } => is_good(mean) && shape.is_finite() && shape > 1.0,
            Spread::Empirical(_) => true,
        }
    }
}

/// When packets leave.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum When {
    /// By a word.
    Named(Named),
    /// Bursts.
    OnOff {
        /// Length of a burst in seconds.
        on: Number,
        /// Length of a silence in seconds.
        off: Number,
    },
}

/// A pattern with a name.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Named {
    /// At a constant bit rate.
    Constant,
    /// Poisson.
    Poisson,
}

impl TrafficRequest {
    /// Read and check a request.
    ///
    /// # Errors
    /// Return the first error, as one line.
    pub fn from_json(text: &str) -> Result<Self, String> {
        Self::read(text).map_err(|wrong| one_line(&wrong))
    }

    fn read(text: &str) -> Result<Self, String> {
        let request: Self =
            serde_json::from_str(text).map_err(|error| format!("traffic request: {error}"))?;
        let is_time = |x: f64| (0.0..1e7).contains(&x);
        if !is_time(request.duration_s) || !is_time(request.warmup_s) || !is_time(request.linger_s) {
            return Err("traffic request: times are between 0 and 10,000,000 s".to_owned());
        }
        if !(68..=65_535).contains(&request.mtu) {
            return Err(format!("traffic request: mtu {} is not between 68 and 65,535 bytes", request.mtu));
        }
        for flow in &request.flows {
            flow.check().map_err(|wrong| format!("traffic request, flow {}: {wrong}", flow.name))?;
        }
        Ok(request)
    }
}

impl FlowRequest {
    fn check(&self) -> Result<(), &'static str> {
        let is_time = |x: f64| (0.0..1e7).contains(&x);
        let is_period = |&(from, to): &(f64, Option<f64>)| is_time(from) && to.is_none_or(is_time);
        let bursts_are_sound = match &self.pattern {
            When::Named(_) => true,
            When::OnOff { on, off } => on.is_sound(f64::MIN_POSITIVE) && off.is_sound(0.0),
        };
        match () {
            () if self.local.is_ipv4() != self.peer.is_ipv4() => {
                Err("local and peer are of different families")
            }
            () if !(1..=FASTEST).contains(&self.rate_bps) => Err("rate_bps is not between 1 and 10^12"),
            () if !self.packet.is_sound(1.0) => {
                Err("packet is neither a length nor a distribution of lengths, of at least 1 byte")
            }
            () if !bursts_are_sound => Err(
                "pattern has bursts or silences of an invalid length (allowed: bursts above 0 s, silences from 0 s)",
            ),
            () if !self.periods_s.iter().all(is_period) => {
                Err("periods_s has a time outside 0 to 10,000,000 s")
            }
            () if self.dscp > 63 => Err("dscp is not between 0 and 63"),
            () => Ok(()),
        }
    }

    pub(super) fn rate(&self) -> Rate {
        Rate(self.rate_bps)
    }

    pub(super) fn length(&self) -> Length {
        Length::drawn(self.packet.spread())
    }

    pub(super) fn sends(&self) -> Pattern {
        match &self.pattern {
            When::Named(Named::Constant) => Pattern::Constant,
            When::Named(Named::Poisson) => Pattern::Poisson,
            When::OnOff { on, off } => Pattern::OnOff { on: on.spread(), off: off.spread() },
        }
    }

    pub(super) fn periods(&self) -> Vec<(Time, Time)> {
        let time = |s: Option<f64>| s.map_or(Time::NEVER, Time::from_secs);
        self.periods_s.iter().map(|&(from, to)| (Time::from_secs(from), time(to))).collect()
    }

    /// Bytes of the headers of IP and UDP, with the option if packets carry it.
    pub(super) fn headers(&self) -> u32 {
        let option = |bytes| if self.ttl_initial.is_some() { bytes } else { 0 };
        if self.peer.is_ipv4() { 28 + option(4) } else { 48 + option(8) }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn request(flow: &str) -> Result<TrafficRequest, String> {
        let ends = r#""local": "127.0.0.1", "peer": "127.0.0.1", "port": 5300"#;
        TrafficRequest::from_json(&format!(
            r#"{{"seed": 7, "duration_s": 2, "flows": [{{"name": "udp", {ends}, "periods_s": [[0, null]], {flow}}}]}}"#
        ))
    }

    #[test]
    fn flows_as_a_checked_scenario_lists_them() {
        let pattern = |text: &str| {
            let flow = format!(r#""rate_bps": 1000000, "packet": 1000, "pattern": {text}"#);
            request(&flow).expect("a request").flows[0].sends()
        };
        assert_eq!(pattern("\"constant\""), Pattern::Constant);
        assert_eq!(pattern("\"poisson\""), Pattern::Poisson);
        let on_off = r#"{"on": {"exponential": 0.5, "unit": "s"}, "off": 0.1}"#;
        let expected = Pattern::OnOff { on: Spread::Exponential(0.5), off: Spread::Fixed(0.1) };
        assert_eq!(pattern(on_off), expected);
        let packet = |text: &str| {
            let flow = format!(r#""rate_bps": 1, "packet": {text}, "pattern": "constant""#);
            request(&flow).expect("a request").flows[0].length().spread().clone()
        };
        assert_eq!(packet("1000"), Spread::Fixed(1000.0));
        assert_eq!(packet(r#"{"exponential": 700, "unit": "B"}"#), Spread::Exponential(700.0));
        assert_eq!(packet(r#"{"uniform": [40, 1500], "unit": "B"}"#), Spread::Uniform(40.0, 1500.0));
        let pareto = r#"{"pareto": {"mean": 500, "shape": 1.5}, "unit": "B"}"#;
        assert_eq!(packet(pareto), Spread::Pareto { mean: 500.0, shape: 1.5 });
    }

    #[test]
    fn errors_are_one_line() {
        let wrong = [
            (r#""rate_bps": 0, "packet": 1000, "pattern": "constant""#, "rate_bps is not between"),
            (r#""rate_bps": 2000000000000, "packet": 1, "pattern": "poisson""#, "rate_bps is not between"),
            (r#""rate_bps": 1, "packet": 0, "pattern": "constant""#, "packet is neither a length"),
            (
                r#""rate_bps": 1, "packet": {"uniform": [9, 9]}, "pattern": "constant""#,
                "packet is neither a length",
            ),
            (r#""rate_bps": 1, "packet": 9, "pattern": {"on": 0, "off": 1}"#, "pattern has bursts"),
            (r#""rate_bps": 1, "packet": 9, "pattern": "never""#, "traffic request: "),
            (r#""rate_bps": 1, "packet": 9, "pattern": "poisson", "dscp": 64"#, "dscp is not between"),
            (r#""rate_bps": 1, "packet": 9, "pattern": "poisson", "ttl": 4"#, "unknown field `ttl`"),
            (r#""rate_bps": 1, "packet": 9, "pattern": "poisson", "t\nl": 4"#, "unknown field `t\\nl`"),
        ];
        for (flow, expected) in wrong {
            let said = request(flow).expect_err("an error");
            assert!(said.contains(expected) && !said.contains('\n'), "{said}");
        }
        assert!(TrafficRequest::from_json("").is_err());
        assert!(
            TrafficRequest::from_json(r#"{"duration_s": -1, "flows": []}"#)
                .expect_err("no time")
                .contains("times")
        );
        assert!(
            TrafficRequest::from_json(r#"{"duration_s": 1, "mtu": 5, "flows": []}"#)
                .expect_err("short")
                .contains("mtu 5")
        );
    }
}
