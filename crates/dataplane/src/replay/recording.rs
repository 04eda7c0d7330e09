use std::io;

use aqmlab_netsim::Recorded;
use aqmlab_units::{Span, Time};

use crate::capture::Packet;
use crate::classify::{Classifier, Direction};
use crate::wire::{self, MalformedCounts};

/// The packets that arrived at the queue of a link.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The packets that a capture says to have gone from a to b, in order of time. The number of each is its place in the
    /// capture, from 0.
    pub arrivals: Vec<Recorded>,
    /// Names of their flows.
    pub flows: Vec<String>,
    /// Malformed packets of the capture.
    pub malformed: MalformedCounts,
    /// Packets from b to a, from which the distance of b is inferred.
    pub reverse: u64,
}

impl Recording {
    /// Classifies the packets of a capture. The queue is `delay_before` of the group away from where the capture was made;
    /// lengths count `extra` bytes beyond those of IP. Packets that would arrive at the same instant follow each other by
    /// a picosecond.
    ///
    /// # Errors
    /// If the capture cannot be read.
    pub fn of(
        packets: impl IntoIterator<Item = io::Result<Packet>>,
        classifier: &mut Classifier,
        extra: u32,
    ) -> io::Result<Self> {
        let mut recording = Self::default();
        for (number, packet) in (0..).zip(packets) {
            let Packet { time, mut bytes } = packet?;
            let header = match wire::parse(&bytes) {
                Ok(header) => header,
                Err(reason) => {
                    recording.malformed.count(reason);
                    continue;
                }
            };
            let direction = classifier.direction(&header);
            let mut meta = classifier.meta(time, direction, &header);
            if direction == Direction::Reverse {
                recording.reverse += 1;
                continue;
            }
            let group = &classifier.groups()[classifier.group_of(meta.flow >> 1)];
            if let Err(reason) = wire::lower_ttl(&mut bytes, group.routers()) {
                recording.malformed.count(reason);
                continue;
            }
            meta.arrival += Span(group.delay_before_ns.saturating_mul(1000));
            meta.bytes += extra;
            recording.arrivals.push(Recorded { meta, number });
        }
        recording.arrivals.sort_by_key(|recorded| recorded.meta.arrival);
        let mut earliest = Time::ZERO;
        for Recorded { meta, .. } in &mut recording.arrivals {
            meta.arrival = meta.arrival.max(earliest);
            earliest = meta.arrival + Span(1);
        }
        recording.flows = classifier.flows().map(|(_, label)| label.to_string()).collect();
        Ok(recording)
    }
}
