//! The packet path between two devices: parse packets, pass their headers through the link, write the bytes that leave it.

use std::io;
use std::os::fd::OwnedFd;

use aqmlab_aqm::{Ecn, Packet};
use aqmlab_units::Time;
use nix::errno::Errno;
use nix::unistd::{read, write};

use crate::bottleneck::{Bottleneck, Setting};
use crate::buffer::{Buffer, Pool, SLOT};
use crate::capture::Tap;
use crate::classify::{Classifier, Direction, QOSA};
use crate::clock;
use crate::config::Planned;
use crate::lateness::Lateness;
use crate::rate_meter::RateMeter;
use crate::snapshot::{PlaneCounts, Snapshot};
use crate::wire;

/// State of the link thread, except for its sleep.
#[derive(Debug)]
pub struct Plane {
    devices: [OwnedFd; 2],
    pool: Pool,
    /// Forward, reverse.
    pub directions: [Bottleneck; 2],
    /// Classifier with the known flows.
    pub classifier: Classifier,
    /// How late packets were written.
    pub lateness: Lateness,
    /// Achieved rate, by direction.
    pub rates: [RateMeter; 2],
    counts: PlaneCounts,
    /// The queues as text: a queue with equal text is kept when the configuration changes.
    queues: [Option<String>; 2],
    /// Beginning of the run in nanoseconds of the clock.
    start: Option<u64>,
    /// How long after the beginning of the run the link began, in nanoseconds.
    pub late_start_ns: u64,
    /// End of the run in logical time, once it has ended.
    pub end: Time,
    extra_bytes: u32,
    unshaped: bool,
    /// QOSA travels as the lowest bit of the code point.
    qosa_bit: bool,
    scratch: Box<[u8; SLOT]>,
    /// Takes a copy of every packet that comes in.
    tap: Option<Tap>,
}

impl Plane {
    /// Between two devices, those of the senders and of the receivers.
    pub fn new(planned: &Planned, devices: [OwnedFd; 2], tap: Option<Tap>) -> Self {
        let classifier = planned.classifier();
        let settings = planned.settings(classifier.groups());
        let directions = settings.each_ref().map(Bottleneck::new);
        let queues = settings.each_ref().map(queue_of);
        Self {
            devices,
            pool: Pool::new(planned.config.buffers),
            directions,
            classifier,
            lateness: Lateness::default(),
            rates: [RateMeter::default(); 2],
            counts: PlaneCounts::default(),
            queues,
            start: None,
            late_start_ns: 0,
            end: Time::ZERO,
            extra_bytes: planned.config.count_bytes.extra(),
            unshaped: planned.config.unshaped,
            qosa_bit: planned.config.qosa_bit,
            scratch: Box::new([0; SLOT]),
            tap,
        }
    }

    /// The devices.
    pub fn devices(&self) -> [&OwnedFd; 2] {
        self.devices.each_ref()
    }

    /// Whether the run has begun; until then packets are forwarded at once and not counted.
    pub fn has_started(&self) -> bool {
        self.start.is_some()
    }

    /// Add the time spent asleep, in nanoseconds.
    pub fn slept(&mut self, ns: u64) {
        if self.start.is_some() {
            self.counts.idle_ns += ns;
        }
    }

    /// The run began at `start`, which the thread notices at `now`: packets in between were forwarded at once.
    pub fn start(&mut self, start: u64, now: u64) {
        self.start = Some(start);
        self.late_start_ns = now.saturating_sub(start);
    }

    /// Reads at most `batch` packets that came from a side.
    ///
    /// # Errors
    /// Return the kernel's error, unless it is that there is nothing to read.
    pub fn read(&mut self, side: usize, batch: usize) -> io::Result<()> {
        for _ in 0..batch {
            let slot = if self.is_shaping() { self.pool.take() } else { None };
            let room = slot.map_or(&mut self.scratch[..], |slot| self.pool.room(slot));
            let length = match read(&self.devices[side], room) {
                Ok(length) => length,
                Err(errno) => {
                    slot.into_iter().for_each(|slot| self.pool.give_back(slot));
                    return if matches!(errno, Errno::EAGAIN | Errno::EINTR) {
                        Ok(())
                    } else {
                        Err(errno.into())
                    };
                }
            };
            match slot {
                Some(slot) => {
                    self.counts.read += 1;
                    self.pool.set_length(slot, length);
                    if !self.offer(side, slot) {
                        self.pool.give_back(slot);
                    }
                }
                None if self.is_shaping() => {
                    self.counts.read += 1;
                    self.counts.no_buffer += 1;
                }
                None => self.forward(side, length),
            }
        }
        Ok(())
    }

    fn is_shaping(&self) -> bool {
        self.start.is_some() && !self.unshaped
    }

    /// Writes what lies in the scratch to the other side.
    fn forward(&mut self, side: usize, length: usize) {
        let is_written = write(&self.devices[1 - side], &self.scratch[..length]).is_ok();
        if self.start.is_some() {
            self.counts.read += 1;
            self.counts.written += u64::from(is_written);
            self.counts.unwritten += u64::from(!is_written);
        }
    }

    /// A packet that was just read enters the link. Whether a router would forward it.
    fn offer(&mut self, side: usize, slot: u32) -> bool {
        let now = self.logical(clock::now());
        if let Some(tap) = &mut self.tap {
            tap.record(now, self.pool.packet(slot));
        }
        let header = match wire::parse(self.pool.packet(slot)) {
            Ok(header) => header,
            Err(reason) => {
                self.counts.malformed.count(reason);
                return false;
            }
        };
        let direction = if side == 0 { Direction::Forward } else { Direction::Reverse };
        let replaced = self.classifier.replaced();
        let mut meta = self.classifier.meta(now, direction, &header);
        meta.bytes += self.extra_bytes;
        let flow = meta.flow >> 1;
        let generation = self.classifier.generation(flow);
        if self.classifier.replaced() != replaced {
            self.directions.iter_mut().for_each(|direction| direction.begin_flow(flow, generation));
        }
        let group = self.classifier.group_of(flow);
        let routers = self.classifier.groups()[group].routers();
        if let Err(reason) = wire::lower_ttl(self.pool.packet(slot), routers) {
            self.counts.malformed.count(reason);
            return false;
        }
        let payload = Buffer {
            slot,
            number: header.number(),
            flow,
            generation,
            marked_as: 0,
            group: group as u16,
            traffic_class: header.dscp << 2 | header.ecn as u8,
        };
        let Self { directions, pool, .. } = self;
        directions[side].offer(now, Packet { meta, payload });
        directions[side].take_freed(|buffer| pool.give_back(buffer.slot));
        true
    }

    /// Writes everything that is due at `now`, a time of the clock.
    pub fn write_due(&mut self, now: u64) {
        let Some(start) = self.start else { return };
        let now = self.logical(now);
        let Self { directions, pool, devices, counts, lateness, rates, qosa_bit, .. } = self;
        for (side, direction) in directions.iter_mut().enumerate() {
            let device = &devices[1 - side];
            direction.advance(now, &mut |time, packet, passage| {
                let bytes = pool.packet(packet.payload.slot);
                rewrite(bytes, &packet, *qosa_bit);
                let late = clock::now().saturating_sub(start + time.0 / 1000);
                match write(device, bytes) {
                    Ok(_) => counts.written += 1,
                    Err(_) => counts.unwritten += 1,
                }
                lateness.count(late);
                if !passage.comes_again {
                    pool.give_back(packet.payload.slot);
                }
                rates[side].wrote(&passage, late, packet.meta.bytes);
            });
            direction.take_freed(|buffer| pool.give_back(buffer.slot));
        }
    }

    /// When there is something to write or to decide next, on the clock.
    pub fn next_event(&self) -> u64 {
        let Some(start) = self.start else { return u64::MAX };
        let next = self.directions.iter().filter_map(Bottleneck::next_event).min();
        // Rounded up: at that time it is due.
        next.map_or(u64::MAX, |time| start + time.0.div_ceil(1000))
    }

    /// Another configuration from now on.
    pub fn renew(&mut self, now: u64, planned: &Planned) {
        let now = self.logical(now);
        self.classifier.set_groups(&planned.config.groups);
        let settings = planned.settings(self.classifier.groups());
        for (side, setting) in settings.iter().enumerate() {
            let queue = queue_of(setting);
            self.directions[side].renew(now, setting, queue == self.queues[side]);
            self.queues[side] = queue;
        }
        self.extra_bytes = planned.config.count_bytes.extra();
    }

    /// Fill a snapshot of the current state.
    pub fn show(&self, now: u64, snapshot: &mut Snapshot, with_flows: bool) {
        let counts = self.counts();
        snapshot.take(self.logical(now), &self.directions, &self.classifier, with_flows, counts);
    }

    /// Counters since the start.
    pub fn counts(&self) -> PlaneCounts {
        let outcomes = self.directions.each_ref().map(Bottleneck::outcomes);
        PlaneCounts {
            dropped: outcomes.iter().map(|f| f.dropped).sum(),
            lost: outcomes.iter().map(|f| f.lost).sum(),
            copied: outcomes.iter().map(|f| f.copied).sum(),
            held: self.directions.iter().map(Bottleneck::held).sum(),
            unrecorded: self.tap.as_ref().map_or(self.counts.unrecorded, Tap::lost),
            lateness: self.lateness.percentiles(),
            stalls: self.lateness.stalls(),
            ..self.counts
        }
    }

    /// The run ends.
    pub fn finish(&mut self, now: u64) {
        self.end = self.logical(now);
        let end = self.end;
        self.directions.iter_mut().for_each(|direction| direction.finish(end));
        self.counts.unrecorded = self.counts().unrecorded;
        self.tap = None;
    }

    /// Logical time at a time of the clock.
    fn logical(&self, now: u64) -> Time {
        Time(self.start.map_or(0, |start| now.saturating_sub(start).saturating_mul(1000)))
    }
}

fn queue_of(setting: &Setting<'_>) -> Option<String> {
    setting.link.map(|id| format!("{:?}", setting.plan.links[id as usize].queue))
}

/// Write the link's changes of the header into the bytes.
fn rewrite(bytes: &mut [u8], packet: &Packet<Buffer>, qosa_bit: bool) {
    let header = packet.meta.header;
    if header.ecn() == Ecn::Ce && !packet.payload.was_ce() {
        wire::set_ce(bytes);
    }
    let dscp = header.dscp() | if qosa_bit && header.qosa() { QOSA } else { 0 };
    if dscp != packet.payload.dscp() {
        wire::set_dscp(bytes, dscp);
    }
}
