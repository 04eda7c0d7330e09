//! Conversions between the values of C and those of the core.

use aqmlab_aqm::{DropClass, Ecn, Effect, Event, Header, Kind, Meta, Packet, Tag};
use aqmlab_units::Time;

use crate::error::Failure;
use crate::ffi::{AQMLAB_REASON_BYTES, CClass, CEvent, CPacket, CVerdict, LAST_NS, Status};

/// Time to live that stands for an unset one.
const TTL: u8 = 64;

/// Return a time in nanoseconds as the core's, in picoseconds; it must not be before `last`.
pub(crate) fn time(now_ns: u64, last: Time) -> Result<Time, Failure> {
    let time = |text| Failure { status: Status::Time, text };
    if now_ns > LAST_NS {
        return Err(time(format!("now_ns: {now_ns} is out of range (allowed: 0 to {LAST_NS}, 180 days)")));
    }
    let now = Time(now_ns * 1000);
    if now < last {
        let last = nanoseconds(last);
        return Err(time(format!("now_ns: {now_ns} is before the time of the last call, {last}")));
    }
    Ok(now)
}

/// Return a time of the core in nanoseconds, rounded up: then it is due.
pub(crate) fn nanoseconds(time: Time) -> u64 {
    time.0.div_ceil(1000)
}

impl CPacket {
    /// Return the packet as the core has it.
    pub(crate) fn checked(&self) -> Result<(Meta, Tag), Failure> {
        let largest = |name: &str, value: u8, most: u8| match value <= most {
            true => Ok(()),
            false => {
                let text = format!("packet.{name}: {value} is out of range (allowed: 0 to {most})");
                Err(Failure::argument(text))
            }
        };
        largest("ecn", self.ecn, 3)?;
        largest("dscp", self.dscp, 63)?;
        largest("kind", self.kind, 2)?;
        largest("qosa", self.qosa, 1)?;
        if self.length == 0 {
            let allowed = format!("allowed: 1 to {}", u32::MAX);
            return Err(Failure::argument(format!("packet.length: 0 is out of range ({allowed})")));
        }
        let kind = [Kind::Data, Kind::Ack, Kind::Syn][usize::from(self.kind)];
        let ttl = |value| if value == 0 { TTL } else { value };
        let header = Header::default()
            .with_dscp(self.dscp)
            .with_ecn(Ecn::from_bits(self.ecn))
            .with_kind(kind)
            .with_class(self.source_class)
            .with_ttl_initial(ttl(self.ttl_initial))
            .with_ttl(ttl(self.ttl))
            .with_ttl_final(self.ttl_final)
            .with_qosa(self.qosa == 1);
        let meta = Meta { arrival: Time::ZERO, bytes: self.length, flow: self.flow, header };
        let tag = match [self.source_host, self.destination_host] {
            [0, 0] => Tag::new(self.id, self.flow),
            hosts => Tag { id: self.id, hosts },
        };
        Ok((meta, tag))
    }
}

impl From<Packet<Tag>> for CPacket {
    fn from(Packet { meta, payload: Tag { id, hosts } }: Packet<Tag>) -> Self {
        let header = meta.header;
        let [source_host, destination_host] = if hosts == [meta.flow; 2] { [0; 2] } else { hosts };
        Self {
            id,
            length: meta.bytes,
            flow: meta.flow,
            source_host,
            destination_host,
            ecn: header.ecn() as u8,
            dscp: header.dscp(),
            kind: header.kind() as u8,
            source_class: header.class(),
            ttl: header.ttl(),
            ttl_initial: header.ttl_initial(),
            ttl_final: header.ttl_final(),
            qosa: header.qosa().into(),
        }
    }
}

impl CEvent {
    /// A packet that was enqueued without a mark.
    pub(crate) fn enqueued(id: u64) -> Self {
        Self { id, verdict: CVerdict::Enqueued, reason_class: CClass::None, reason: [0; AQMLAB_REASON_BYTES] }
    }
}

impl From<&Event> for CEvent {
    fn from(event: &Event) -> Self {
        let verdict = match event.effect {
            Effect::Dropped => CVerdict::Dropped,
            Effect::Marked => CVerdict::Marked,
        };
        let reason_class = match event.reason.class() {
            DropClass::Early => CClass::Early,
            DropClass::Forced => CClass::Forced,
            DropClass::Overflow => CClass::Overflow,
            DropClass::Route => CClass::Route,
        };
        let mut reason = [0; AQMLAB_REASON_BYTES];
        // The last byte stays 0.
        for (to, from) in reason[..AQMLAB_REASON_BYTES - 1].iter_mut().zip(event.reason.name().bytes()) {
            *to = from as core::ffi::c_char;
        }
        Self { id: event.id, verdict, reason_class, reason }
    }
}
