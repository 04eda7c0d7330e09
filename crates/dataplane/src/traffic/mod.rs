//! UDP of a scenario in real time: what [`UdpSource`](aqmlab_transport::UdpSource) sends in the simulator leaves a socket
//! at the same times of the run, with the same lengths, for the same seed and name of the flow.
//!
//! A process is the source or the sink of any number of flows. Its [`TrafficRequest`] comes as a line of JSON; it writes `ready` when
//! its sockets are open, waits for a line `start T` with a reading of the monotonic clock in seconds, and ends with a
//! line of JSON. On `stop` or at the end of its input before the start it ends without one.
//!
//! Lengths count the IP header, as everywhere. A packet is at least as long as its headers, and at most as long as the
//! path's `mtu`: it is never cut into fragments. The results count the packets that were lengthened or shortened.

mod datagram;
mod request;
mod schedule;
mod sink;
mod source;

use std::io::{self, BufRead, Write};

pub use self::request::{FlowRequest, TrafficRequest};
pub use self::schedule::{Due, Schedule};
use self::sink::Sink;
use self::source::Source;

/// The latest reading of the monotonic clock at which a run may start, in seconds: 30 years after the machine.
const LATEST_START_S: f64 = 1e9;

/// The task of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends.
    Source,
    /// Receives and counts.
    Sink,
}

/// Run the process of a role: read a request, send or receive, and write the results.
///
/// # Errors
/// Return an error of the request or of a socket, as one line.
pub fn run(role: Role, mut requests: impl BufRead, mut replies: impl Write) -> io::Result<()> {
    let mut line = String::new();
    requests.read_line(&mut line)?;
    let request = TrafficRequest::from_json(&line)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let process: Box<dyn FnOnce(u64) -> io::Result<String>> = match role {
        Role::Source => {
            let source = Source::new(&request)?;
            Box::new(|start_ns| source.run(start_ns))
        }
        Role::Sink => {
            let sink = Sink::new(&request)?;
            Box::new(|start_ns| sink.run(start_ns))
        }
    };
    writeln!(replies, "ready")?;
    replies.flush()?;
    line.clear();
    requests.read_line(&mut line)?;
    let Some(start) = line.strip_prefix("start ").and_then(|text| text.trim().parse::<f64>().ok()) else {
        return Ok(());
    };
    if !(0.0..=LATEST_START_S).contains(&start) {
        let wrong = format!("start of traffic: {start} (allowed: 0 to {LATEST_START_S}, in seconds)");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, wrong));
    }
    let found = process((start * 1e9) as u64)?;
    writeln!(replies, "{found}")?;
    replies.flush()
}
