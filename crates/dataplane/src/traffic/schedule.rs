use aqmlab_transport::UdpSource;
use aqmlab_units::{Stream, Time};

use super::request::FlowRequest;

/// When a packet is to leave, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Time of the run.
    pub time: Time,
    /// Sequence number, from 0.
    pub seq: u64,
    /// Length in bytes, headers included, as it was drawn.
    pub bytes: u32,
}

/// The packets of a flow in order, those that the simulator's source sends.
#[derive(Clone, Debug)]
pub struct Schedule {
    source: UdpSource,
    rng: Stream,
    lengths: Stream,
    /// Periods to come, the last first.
    periods: Vec<(Time, Time)>,
    end: Time,
}

impl Schedule {
    /// For a flow in a run of this seed that ends then.
    pub fn new(flow: &FlowRequest, seed: u64, end: Time) -> Self {
        let mut periods = flow.periods();
        periods.reverse();
        Self {
            source: UdpSource::new(flow.rate(), flow.length(), flow.sends()),
            rng: Stream::new(seed, &format!("traffic of flow {}", flow.name)),
            lengths: Stream::new(seed, &format!("packet lengths of flow {}", flow.name)),
            periods,
            end,
        }
    }
}

impl Iterator for Schedule {
    type Item = Due;

    fn next(&mut self) -> Option<Due> {
        let Self { source, rng, lengths, periods, end } = self;
        loop {
            if let Some(time) = source.next_send() {
                let packet = source.send(&mut || rng.uniform(), &mut || lengths.uniform())?;
                return (time < *end).then_some(Due { time, seq: packet.seq, bytes: packet.bytes });
            }
            let (from, to) = periods.pop()?;
            source.start(from, to, &mut || rng.uniform());
        }
    }
}
