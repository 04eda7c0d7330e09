//! The functions and types of `include/aqmlab.h`. This file alone has unsafe code.
#![expect(unsafe_code, reason = "functions of C take pointers, and their names must not be mangled")]

#[cfg(target_arch = "wasm32")]
mod memory;

use std::ffi::{CStr, CString, c_char, c_void};

use aqmlab_aqm::{Dequeue, Gauge, LinkContext, StandaloneQueue};
use aqmlab_scenario::queue_for_link;
use aqmlab_units::{Random, Rate, Span};

use crate::convert;
use crate::error::{Failure, c_text, guarded, with_last};

/// Number of this interface. It changes if a program must be compiled again.
pub const AQMLAB_ABI: u32 = 1;
/// Last time that a function takes, in nanoseconds: 180 days.
pub(crate) const LAST_NS: u64 = 180 * 86_400 * 1_000_000_000;
/// Bytes of the name of a reason, with the zero at its end.
pub const AQMLAB_REASON_BYTES: usize = 32;

/// Result of a function. 0 is success; for all others aqmlab_error has the text.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// The settings of a queue have errors; the text has a line for each: queue:LINE:COLUMN: KEY: error.
    Settings = 1,
    /// An argument is a null pointer or has a value out of range. Nothing was done.
    Argument = 2,
    /// The time is before that of the last call, or after 180 days. Nothing was done.
    Time = 3,
    /// The list of random numbers was too short. The call was made, with 2^63 for each missing number.
    Random = 4,
    /// Internal error. Free the queue; all other calls for it fail.
    Internal = 5,
}

/// Decision about a packet.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CVerdict {
    /// Accepted unchanged.
    Enqueued = 0,
    /// Accepted or sent with its ECN field set to CE in place of a drop (RFC 3168).
    Marked = 1,
    /// Dropped.
    Dropped = 2,
}

/// Class of the reason of a drop or mark.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CClass {
    /// Neither dropped nor marked.
    None = 0,
    /// The discipline chose this packet to signal congestion, by chance or by a control law.
    Early = 1,
    /// The discipline rejects every such packet at present, although the buffer has room.
    Forced = 2,
    /// The buffer is full.
    Overflow = 3,
    /// Not a decision about congestion: the packet should take another way (PC-RED).
    Route = 4,
}

/// Answer to the request for the next packet.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CAnswer {
    /// Send this packet now.
    Packet = 0,
    /// Nothing waits: the idle time of the queue begins.
    Empty = 1,
    /// Packets wait, but the discipline's own shaper lets none leave before a time. Ask again then, or after the next arrival.
    NotBefore = 2,
}

/// A packet. Set the bytes of the struct to 0, then the fields that you know.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CPacket {
    /// Number of the packet, chosen by the caller; packets that wait have different ones.
    pub id: u64,
    /// Length on the wire in bytes, from 1.
    pub length: u32,
    /// Flow: a number, or a hash of the addresses, ports and protocol.
    pub flow: u32,
    /// Numbers of the source and of the destination host, which CAKE's host isolation reads. Both 0: not known; each flow has its own.
    pub source_host: u32,
    /// See source_host.
    pub destination_host: u32,
    /// ECN field: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// Code point (DSCP), 0 to 63.
    pub dscp: u8,
    /// 0 data, 1 pure acknowledgement, 2 opening of a connection.
    pub kind: u8,
    /// Class of the source, which PC-RED reads.
    pub source_class: u8,
    /// Time to live now, which DDRED and PC-RED read; 0 stands for 64.
    pub ttl: u8,
    /// Time to live with which the sender sent the packet; 0 stands for 64.
    pub ttl_initial: u8,
    /// Time to live seen by the destination of an earlier packet of the flow; 0 when not known.
    pub ttl_final: u8,
    /// Protection bit of PC-RED, 0 or 1.
    pub qosa: u8,
}

/// Source of the random numbers of one call: 64 random bits each. Numbers come from the list first, then from next. Without both,
/// AQMLAB_STATUS_RANDOM follows.
#[repr(C)]
#[derive(Debug)]
pub struct CRandom {
    /// A list, or null.
    pub numbers: *const u64,
    /// Length of the list.
    pub count: usize,
    /// Function that returns the next number, or null. It must not call functions of this library for the same queue.
    pub next: Option<extern "C" fn(state: *mut c_void) -> u64>,
    /// Argument of next.
    pub state: *mut c_void,
    /// Set by the call: how many numbers it took.
    pub drawn: usize,
}

/// A packet that was dropped or marked, or the verdict on an arrival.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CEvent {
    /// Number of the packet.
    pub id: u64,
    /// The decision.
    pub verdict: CVerdict,
    /// Class of the reason.
    pub reason_class: CClass,
    /// The discipline's name for the reason, such as "early"; empty without one.
    pub reason: [c_char; AQMLAB_REASON_BYTES],
}

/// Answer of aqmlab_dequeue.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CDeparture {
    /// Which of the three.
    pub answer: CAnswer,
    /// The packet to send with its header as the queue leaves it; its ecn is 3 if it was marked.
    pub packet: CPacket,
    /// Time in nanoseconds before which no packet may leave, for AQMLAB_ANSWER_NOT_BEFORE.
    pub not_before_ns: u64,
}

/// A queue. Each queue may be used by one thread at a time, and different queues by different threads at the same time.
#[derive(Debug)]
pub struct Queue {
    inner: StandaloneQueue,
    events: Vec<CEvent>,
    gauge_names: Vec<CString>,
    warnings: CString,
    /// A call panicked, or is in progress.
    is_broken: bool,
}

/// The random numbers of a call.
struct Source<'a> {
    numbers: &'a [u64],
    next: Option<extern "C" fn(state: *mut c_void) -> u64>,
    state: *mut c_void,
    drawn: usize,
    missing: usize,
}

impl Random for Source<'_> {
    fn bits64(&mut self) -> u64 {
        let listed = self.numbers.get(self.drawn).copied();
        self.drawn += 1;
        listed.or_else(|| self.next.map(|next| next(self.state))).unwrap_or_else(|| {
            self.missing += 1;
            1 << 63
        })
    }
}

/// Return the text of a pointer.
///
/// # Safety
/// It is null or points to a text with a zero at its end.
unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(Failure::argument(format!("{name}: null pointer")));
    }
    // SAFETY: not null, and the caller promises the rest.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|error| Failure::argument(format!("{name}: not UTF-8: {error}")))
}

/// Make a call for a queue with the random numbers of C, copy its events, and report missing numbers.
///
/// # Safety
/// Both pointers are null or valid, and the list of `random` has its length.
unsafe fn call(
    queue: *mut Queue,
    now_ns: u64,
    random: *mut CRandom,
    operation: impl FnOnce(&mut Queue, aqmlab_units::Time, &mut Source<'_>) -> Result<(), Failure>,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises it.
        let (queue, mut random) = unsafe { (queue.as_mut(), random.as_mut()) };
        let queue = queue.ok_or_else(|| Failure::argument("queue: null pointer"))?;
        queue.check()?;
        let now = convert::time(now_ns, queue.inner.now())?;
        let mut source = Source {
            numbers: &[],
            next: random.as_ref().and_then(|random| random.next),
            state: random.as_ref().map_or(std::ptr::null_mut(), |random| random.state),
            drawn: 0,
            missing: 0,
        };
        if let Some(random) = random.as_ref().filter(|random| random.count > 0) {
            if random.numbers.is_null() {
                return Err(Failure::argument("random.numbers: null pointer, although count is not 0"));
            }
            if random.count > isize::MAX as usize / size_of::<u64>() {
                return Err(Failure::argument("random.count: more numbers than memory has room for"));
            }
            // SAFETY: not null, of a size that memory can have, and the caller promises its length.
            source.numbers = unsafe { std::slice::from_raw_parts(random.numbers, random.count) };
        }
        queue.is_broken = true;
        let done = operation(queue, now, &mut source);
        queue.is_broken = false;
        done?;
        queue.events.clear();
        queue.events.extend(queue.inner.events().iter().map(CEvent::from));
        let Source { drawn, missing, .. } = source;
        if let Some(random) = &mut random {
            random.drawn = drawn;
        }
        if missing > 0 {
            let text = format!("random: the call took {drawn} numbers, the list has {}", drawn - missing);
            return Err(Failure { status: Status::Random, text });
        }
        Ok(())
    })
}

impl Queue {
    /// Return an error if an earlier call failed with an internal error.
    fn check(&self) -> Result<(), Failure> {
        if !self.is_broken {
            return Ok(());
        }
        let text =
            "queue: an earlier call failed with an internal error; only aqmlab_queue_free may be called";
        Err(Failure { status: Status::Internal, text: text.into() })
    }
}

/// Return a value of a queue; a default one for null, and after an internal error.
///
/// # Safety
/// The pointer is null or that of a queue that no other call changes.
unsafe fn read<'a, T>(queue: *const Queue, default: T, value: impl FnOnce(&'a Queue) -> T) -> T {
    // SAFETY: the caller promises it.
    let queue: Option<&'a Queue> = unsafe { queue.as_ref() };
    let mut found = default;
    guarded(|| {
        if let Some(queue) = queue {
            queue.check()?;
            found = value(queue);
        }
        Ok(())
    });
    found
}

/// Return the version of the library, such as "0.2.0".
#[unsafe(no_mangle)]
pub extern "C" fn aqmlab_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Return AQMLAB_ABI of the library. A program compares it with that of its header.
#[unsafe(no_mangle)]
pub extern "C" fn aqmlab_abi() -> u32 {
    AQMLAB_ABI
}

/// Return the text of the last error in this thread, empty if there was none. It is valid until the thread's next error.
#[unsafe(no_mangle)]
pub extern "C" fn aqmlab_error() -> *const c_char {
    with_last(CStr::as_ptr)
}

/// Create an empty queue at time 0, and store it in *queue; on an error *queue becomes null.
///
/// settings: the keys of a [queue.NAME] table of a scenario file as TOML, such as "aqm = 'red'\nmin_th = '5p'", or the same as
/// JSON. rate_bps and delay_ns: rate in bit/s, from 1, and propagation delay in nanoseconds of the link that the queue feeds; automatic
/// parameters follow from them.
/// Pointers: settings has a zero at its end, and queue points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_queue_new(
    settings: *const c_char,
    rate_bps: u64,
    delay_ns: u64,
    queue: *mut *mut Queue,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises it.
        let out = unsafe { queue.as_mut() }.ok_or_else(|| Failure::argument("queue: null pointer"))?;
        *out = std::ptr::null_mut();
        // SAFETY: the caller promises it.
        let settings = unsafe { text("settings", settings) }?;
        if rate_bps == 0 {
            return Err(Failure::argument("rate_bps: 0 is out of range (allowed: from 1)"));
        }
        if delay_ns > LAST_NS {
            let text = format!("delay_ns: {delay_ns} is out of range (allowed: 0 to {LAST_NS})");
            return Err(Failure::argument(text));
        }
        let link = LinkContext { rate: Rate(rate_bps), delay: Span(delay_ns * 1000) };
        let resolved = queue_for_link(settings, link).map_err(|problems| {
            let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
            Failure { status: Status::Settings, text: lines.join("\n") }
        })?;
        let inner = StandaloneQueue::new(&resolved);
        let mut gauge_names = Vec::new();
        inner.gauges(&mut |gauge: Gauge, _| gauge_names.push(c_text(gauge.name())));
        let warnings = c_text(&resolved.warnings.join("\n"));
        let made = Queue { inner, events: Vec::new(), gauge_names, warnings, is_broken: false };
        *out = Box::into_raw(Box::new(made));
        Ok(())
    })
}

/// Free a queue; its packets are forgotten, since only the caller has them. Null does nothing.
/// Pointers: queue is null or from aqmlab_queue_new, and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_queue_free(queue: *mut Queue) {
    if !queue.is_null() {
        guarded(|| {
            // SAFETY: it is from Box::into_raw.
            drop(unsafe { Box::from_raw(queue) });
            Ok(())
        });
    }
}

/// Return warnings about settings that are allowed but probably not intended, one a line; empty without any. The text is valid as long as
/// the queue.
/// Pointers: queue is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_warnings(queue: *const Queue) -> *const c_char {
    // SAFETY: the caller promises it.
    unsafe { read(queue, c"".as_ptr(), |queue| queue.warnings.as_ptr()) }
}

/// Enqueue a packet that arrives at now_ns, and write the decision about it to *verdict unless that is null. Other packets that were
/// dropped or marked are in aqmlab_events. Times count from the creation of the queue, and never decrease from call to call. Timers
/// of the discipline that are due by then are handled first. random may be null for a discipline without random numbers.
/// Pointers: queue and packet are valid; random and verdict are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_enqueue(
    queue: *mut Queue,
    now_ns: u64,
    packet: *const CPacket,
    random: *mut CRandom,
    verdict: *mut CEvent,
) -> Status {
    let enqueue = |queue: &mut Queue, now, source: &mut Source<'_>| {
        // SAFETY: the caller promises it.
        let packet = unsafe { packet.as_ref() }.ok_or_else(|| Failure::argument("packet: null pointer"))?;
        let (meta, tag) = packet.checked()?;
        queue.inner.enqueue(now, meta, tag, source);
        // SAFETY: the caller promises it.
        if let Some(verdict) = unsafe { verdict.as_mut() } {
            let own = queue.inner.verdict_of(tag.id);
            *verdict = own.map_or_else(|| CEvent::enqueued(tag.id), CEvent::from);
        }
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { call(queue, now_ns, random, enqueue) }
}

/// Write the next packet to send, or why there is none, to *departure. Call it when a transmission ends, and after an arrival while
/// nothing is transmitted. Packets that were dropped or marked at their departure are in aqmlab_events.
/// Pointers: queue and departure are valid; random is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_dequeue(
    queue: *mut Queue,
    now_ns: u64,
    random: *mut CRandom,
    departure: *mut CDeparture,
) -> Status {
    let dequeue = |queue: &mut Queue, now, source: &mut Source<'_>| {
        // SAFETY: the caller promises it.
        let out = unsafe { departure.as_mut() };
        let out = out.ok_or_else(|| Failure::argument("departure: null pointer"))?;
        *out = CDeparture { answer: CAnswer::Empty, packet: CPacket::default(), not_before_ns: 0 };
        match queue.inner.dequeue(now, source) {
            Dequeue::Packet(packet) => (out.answer, out.packet) = (CAnswer::Packet, packet.into()),
            Dequeue::Empty => {}
            Dequeue::NotBefore(time) => {
                (out.answer, out.not_before_ns) = (CAnswer::NotBefore, convert::nanoseconds(time));
            }
        }
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { call(queue, now_ns, random, dequeue) }
}

/// Handle the timers that are due by now_ns. Only a caller that reads gauges between packets needs it.
/// Pointers: queue is valid; random is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_advance(queue: *mut Queue, now_ns: u64, random: *mut CRandom) -> Status {
    // SAFETY: the caller promises it.
    unsafe {
        call(queue, now_ns, random, |queue, now, source| {
            queue.inner.advance(now, source);
            Ok(())
        })
    }
}

/// Return the packets that the last call for the queue dropped or marked, in the order of the decisions, and write their number to *count. The list
/// is valid until the next call for the queue.
/// Pointers: queue is null or valid; count is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_events(queue: *const Queue, count: *mut usize) -> *const CEvent {
    // SAFETY: the caller promises it.
    let (events, count) = unsafe { (read(queue, &[][..], |queue| &queue.events), count.as_mut()) };
    if let Some(count) = count {
        *count = events.len();
    }
    events.as_ptr()
}

/// Return the time of the discipline's next timer in nanoseconds, rounded up; UINT64_MAX without a timer.
/// Pointers: queue is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_next_timer_ns(queue: *const Queue) -> u64 {
    let next = |queue: &Queue| queue.inner.next_timer().map_or(u64::MAX, convert::nanoseconds);
    // SAFETY: the caller promises it.
    unsafe { read(queue, u64::MAX, next) }
}

/// Return the packets waiting.
/// Pointers: queue is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_backlog_packets(queue: *const Queue) -> u32 {
    // SAFETY: the caller promises it.
    unsafe { read(queue, 0, |queue| queue.inner.backlog().packets) }
}

/// Return the bytes waiting.
/// Pointers: queue is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_backlog_bytes(queue: *const Queue) -> u64 {
    // SAFETY: the caller promises it.
    unsafe { read(queue, 0, |queue| queue.inner.backlog().bytes) }
}

/// Return the name of a gauge, from 0; null after the last. A gauge is a number that the discipline publishes about its state or its last
/// decision, such as "average" and "p_b" of RED. Names are valid as long as the queue.
/// Pointers: queue is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_gauge_name(queue: *const Queue, index: usize) -> *const c_char {
    let name = |queue: &Queue| queue.gauge_names.get(index).map_or(std::ptr::null(), |name| name.as_ptr());
    // SAFETY: the caller promises it.
    unsafe { read(queue, std::ptr::null(), name) }
}

/// Write the value of a gauge after the last call to *value.
/// Pointers: queue is valid, name has a zero at its end, and value is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqmlab_gauge(queue: *const Queue, name: *const c_char, value: *mut f64) -> Status {
    guarded(|| {
        // SAFETY: the caller promises it.
        let (queue, name, value) = unsafe { (queue.as_ref(), text("name", name)?, value.as_mut()) };
        let queue = queue.ok_or_else(|| Failure::argument("queue: null pointer"))?;
        queue.check()?;
        let value = value.ok_or_else(|| Failure::argument("value: null pointer"))?;
        *value = queue.inner.gauge(name).ok_or_else(|| {
            let names: Vec<_> = queue.gauge_names.iter().map(|name| name.to_string_lossy()).collect();
            let allowed = names.join(", ");
            Failure::argument(format!("name: the discipline has no gauge {name:?} (allowed: {allowed})"))
        })?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let mut queue = std::ptr::null_mut();
        // SAFETY: the pointers are valid; the queue is freed once.
        unsafe {
            assert_eq!(aqmlab_queue_new(c"aqm = 'pi'".as_ptr(), 1000, 0, &mut queue), Status::Ok);
            let status = call(queue, 0, std::ptr::null_mut(), |_, _, _| panic!("out of {}", "tune"));
            assert_eq!(status, Status::Internal);
            with_last(|text| assert_eq!(text, c"internal error: out of tune"));
            let packet = CPacket { length: 1, ..CPacket::default() };
            let status = aqmlab_enqueue(queue, 0, &packet, std::ptr::null_mut(), std::ptr::null_mut());
            assert_eq!(status, Status::Internal);
            with_last(|text| assert!(text.to_string_lossy().contains("aqmlab_queue_free")));
            assert_eq!(aqmlab_backlog_packets(queue), 0);
            assert!(aqmlab_gauge_name(queue, 0).is_null());
            aqmlab_queue_free(queue);
        }
    }
}
