//! The markers before the queue of a link: part of the link's station. A marker that drops a colour is a policer.

use aqmlab_aqm::{DropClass, DropReason, Kind, Meta};
use aqmlab_units::{Stream, Time};

use crate::meter::{Color, Exact, Meter};
use crate::plan::{self, Plan};

/// The counters of one flow at a marker over the measured part of a run, by colour: green, yellow, red.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkerCounters {
    /// Packets.
    pub packets: [u64; 3],
    /// Their bytes.
    pub bytes: [u64; 3],
}

/// A policer drops the packet.
pub(crate) const POLICED: DropReason = DropReason::new(&("policed", DropClass::Forced));

/// All markers of one link.
#[derive(Clone, Debug)]
pub(crate) struct Markers {
    markers: Vec<Marker>,
    /// Flows under a marker, marker by marker.
    flows: Vec<MarkedFlow>,
    meters: Vec<Meter<Exact>>,
    /// The lowest number of a flow under a marker.
    first: usize,
    /// Where each flow is in `flows`, by number less `first`; [`UNMARKED`] or nothing for all others.
    place: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Marker {
    /// Number in the plan.
    number: usize,
    dscp: [u8; 3],
    drops: [bool; 3],
    rng: Stream,
}

#[derive(Clone, Copy, Debug)]
struct MarkedFlow {
    flow: u32,
    /// Place of its marker and of its meter.
    marker: u32,
    meter: u32,
    counters: MarkerCounters,
}

const UNMARKED: u32 = u32::MAX;

impl Markers {
    /// The markers of a link by their numbers in the plan, if it has any.
    pub fn of(numbers: &[usize], plan: &Plan, seed: u64) -> Option<Self> {
        let first =
            numbers.iter().flat_map(|&number| &plan.markers[number].flows).min().map_or(0, |f| *f as usize);
        let (markers, flows, meters, place) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut all = Self { markers, flows, meters, first, place };
        numbers.iter().for_each(|&number| all.add(number, &plan.markers[number], seed));
        (!all.markers.is_empty()).then_some(all)
    }

    fn add(&mut self, number: usize, marker: &plan::Marker, seed: u64) {
        let rng = Stream::new(seed, &format!("marker {}", marker.name));
        self.markers.push(Marker { number, dscp: marker.dscp, drops: marker.drops, rng });
        let place = self.markers.len() as u32 - 1;
        for (i, &flow) in marker.flows.iter().enumerate() {
            if i == 0 || marker.per_flow {
                self.meters.push(Meter::new(&marker.meter));
            }
            let above_first = flow as usize - self.first;
            if above_first >= self.place.len() {
                self.place.resize(above_first + 1, UNMARKED);
            }
            self.place[above_first] = self.flows.len() as u32;
            let (meter, counters) = (self.meters.len() as u32 - 1, MarkerCounters::default());
            self.flows.push(MarkedFlow { flow, marker: place, meter, counters });
        }
    }

    /// Mark a packet of `flow`, if it is data of a flow under a marker. Return whether it is dropped.
    #[inline]
    pub fn mark(&mut self, now: Time, flow: usize, meta: &mut Meta) -> bool {
        let place = self.place.get(flow.wrapping_sub(self.first)).copied().unwrap_or(UNMARKED);
        let Some(flow) = self.flows.get_mut(place as usize) else { return false };
        if meta.header.kind() == Kind::Ack {
            return false;
        }
        let Marker { dscp, drops, rng, .. } = &mut self.markers[flow.marker as usize];
        let meter = &mut self.meters[flow.meter as usize];
        let color =
            meter.color(now, meta.bytes, color_of(meta.header.dscp(), dscp), || rng.uniform()) as usize;
        meta.header.set_dscp(dscp[color]);
        flow.counters.packets[color] += 1;
        flow.counters.bytes[color] += u64::from(meta.bytes);
        drops[color]
    }

    /// Reset the counters.
    pub fn reset_stats(&mut self) {
        self.flows.iter_mut().for_each(|flow| flow.counters = MarkerCounters::default());
    }

    /// Marker and flow, by their numbers in the plan, with what was counted.
    pub fn counters(&self) -> impl Iterator<Item = (usize, usize, MarkerCounters)> {
        self.flows.iter().map(|f| (self.markers[f.marker as usize].number, f.flow as usize, f.counters))
    }
}

/// Return the colour of an arriving packet. A code point that the marker does not assign counts as green, like an
/// uncoloured packet.
fn color_of(dscp: u8, colors: &[u8; 3]) -> Color {
    match colors.iter().position(|c| *c == dscp) {
        Some(1) => Color::Yellow,
        Some(2) => Color::Red,
        _ => Color::Green,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_of_code_points() {
        let af1 = [10, 12, 14];
        let colors = [10, 12, 14, 0].map(|dscp| color_of(dscp, &af1));
        assert_eq!(colors, [Color::Green, Color::Yellow, Color::Red, Color::Green]);
    }
}
