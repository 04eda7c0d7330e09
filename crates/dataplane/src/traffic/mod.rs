//! UDP of a scenario in real time: what [`UdpSource`](aqmlab_transport::UdpSource) sends in the simulator leaves a socket
//! at the same times of the run, with the same lengths, for the same seed and name of the flow.
//!
//! A process is the source or the sink of any number of flows. Its [`Order`] comes as a line of JSON; it says `ready` when
//! its sockets are there, waits for a line `start T` with a reading of the monotonic clock in seconds, and ends with a
//! line of JSON. On `stop` or at the end of its input before the start it ends without one.
//!
//! Lengths count the IP header, as everywhere. A packet is at least as long as its headers, and at most as long as the
//! path's `mtu`: it is never cut into fragments. How many packets were lengthened or shortened for that is told.

mod datagram;
mod order;
mod schedule;
mod sink;
mod source;

use std::io::{self, BufRead, Write};

pub use self::order::{FlowOrder, Order};
pub use self::schedule::{Due, Schedule};
use self::sink::Sink;
use self::source::Source;

/// The latest reading of the monotonic clock at which a run may start, in seconds: 30 years after the machine.
const LATEST_START_S: f64 = 1e9;

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends.
    Source,
    /// Receives and counts.
    Sink,
}

/// The process of a role: reads orders, and writes what it has to say.
///
/// # Errors
/// What is wrong with the order, or with a socket; one line.
pub fn run(role: Role, mut orders: impl BufRead, mut told: impl Write) -> io::Result<()> {
    let mut line = String::new();
    orders.read_line(&mut line)?;
    let order =
        Order::from_json(&line).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let process: Box<dyn FnOnce(u64) -> io::Result<String>> = match role {
        Role::Source => {
            let source = Source::new(&order)?;
            Box::new(|start_ns| source.run(start_ns))
        }
        Role::Sink => {
            let sink = Sink::new(&order)?;
            Box::new(|start_ns| sink.run(start_ns))
        }
    };
    writeln!(told, "ready")?;
    told.flush()?;
    line.clear();
    orders.read_line(&mut line)?;
    let Some(start) = line.strip_prefix("start ").and_then(|text| text.trim().parse::<f64>().ok()) else {
        return Ok(());
    };
    if !(0.0..=LATEST_START_S).contains(&start) {
        let wrong = format!("start of traffic: {start} (allowed: 0 to {LATEST_START_S}, in seconds)");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, wrong));
    }
    let found = process((start * 1e9) as u64)?;
    writeln!(told, "{found}")?;
    told.flush()
}
