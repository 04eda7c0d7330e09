//! The packet thread: reads packets, passes them through the link, and writes them when they are due.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::EventFd;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::clock;
use crate::config::Planned;
use crate::plane::Plane;
use crate::snapshot::Shared;

/// Packets that are read before due packets are written.
const BATCH: usize = 16;
/// The thread busy-waits at most one in this many time units: Linux throttles real-time threads that never sleep.
const AWAKE_SHARE: u64 = 2;
/// Maximum credit for busy-waiting, in nanoseconds.
const MOST_CREDIT_NS: u64 = 2_000_000;

/// Sources that wake the thread.
const TIMER: u64 = 2;
const MESSAGE: u64 = 3;

/// Sleep state of the thread.
struct Sleeper {
    epoll: Epoll,
    timer: TimerFd,
    /// The time that the timer is set to.
    armed: u64,
    spin_ns: u64,
    credit_ns: u64,
    last: u64,
}

/// Run until the end of the run, a stop, or the removal of a device. `wake` signals messages; `news` signals new snapshots.
///
/// # Errors
/// Return the kernel's error.
pub fn run(
    plane: &mut Plane,
    planned: &Planned,
    shared: &Shared,
    wake: &EventFd,
    news: &EventFd,
) -> io::Result<()> {
    let mut sleeper = Sleeper::new(plane.devices(), wake, u64::from(planned.config.realtime.spin_us) * 1000)?;
    let interval = planned.config.snapshot_interval_s.map(|s| Duration::from_secs_f64(s).as_nanos() as u64);
    let mut end = u64::MAX;
    let mut next_snapshot = u64::MAX;
    let mut begins = u64::MAX;
    while !shared.stop.load(Ordering::Acquire) {
        if !plane.has_started() {
            let start = shared.start.load(Ordering::Acquire);
            begins = if start == 0 { u64::MAX } else { start };
            let now = clock::now();
            if now >= begins {
                begins = u64::MAX;
                plane.start(start, now);
                end = planned
                    .config
                    .duration_s
                    .map_or(u64::MAX, |s| start + Duration::from_secs_f64(s).as_nanos() as u64);
                next_snapshot = interval.map_or(u64::MAX, |interval| start + interval);
            }
        }
        let now = clock::now();
        if now >= end {
            break;
        }
        plane.write_due(now);
        if now >= next_snapshot {
            if let Ok(mut board) = shared.board.try_lock() {
                plane.show(now, &mut board.0, planned.config.snapshot_flows);
                board.1 = true;
                let _ = news.write(1);
            }
            let interval = interval.unwrap_or(u64::MAX);
            next_snapshot += interval * (1 + (now - next_snapshot) / interval);
        }
        let next = plane.next_event().min(next_snapshot).min(end).min(begins);
        let ready = sleeper.sleep(next)?;
        plane.slept(ready.slept_ns);
        if ready.message {
            let _ = wake.read();
            if let Ok(mut renewal) = shared.renewal.try_lock() {
                renewal.take().into_iter().for_each(|planned| plane.renew(clock::now(), &planned));
            }
        }
        for (side, is_ready) in ready.devices.into_iter().enumerate() {
            if is_ready {
                plane.read(side, BATCH)?;
            }
        }
    }
    plane.finish(clock::now().min(end));
    Ok(())
}

#[derive(Clone, Copy, Debug, Default)]
struct Ready {
    devices: [bool; 2],
    message: bool,
    slept_ns: u64,
}

impl Sleeper {
    fn new(devices: [&OwnedFd; 2], wake: &EventFd, spin_ns: u64) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer =
            TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        for (number, device) in (0..).zip(devices) {
            epoll.add(device, EpollEvent::new(EpollFlags::EPOLLIN, number))?;
        }
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, TIMER))?;
        epoll.add(wake, EpollEvent::new(EpollFlags::EPOLLIN, MESSAGE))?;
        Ok(Self { epoll, timer, armed: 0, spin_ns, credit_ns: 0, last: clock::now() })
    }

    /// Wait until `next`, or until there is something to read. Busy-wait for the last microseconds if there is credit.
    fn sleep(&mut self, next: u64) -> io::Result<Ready> {
        let mut now = clock::now();
        self.credit_ns = MOST_CREDIT_NS.min(self.credit_ns + (now - self.last) / AWAKE_SHARE);
        self.last = now;
        let spin = self.spin_ns.min(self.credit_ns);
        let alarm = next.saturating_sub(spin);
        if now < alarm {
            self.arm(alarm)?;
            let ready = self.poll(EpollTimeout::NONE)?;
            let woken = clock::now();
            return Ok(Ready { slept_ns: woken - now, ..ready });
        }
        let awake_since = now;
        loop {
            let ready = self.poll(EpollTimeout::ZERO)?;
            now = clock::now();
            if now >= next || ready.message || ready.devices != [false; 2] {
                self.credit_ns = self.credit_ns.saturating_sub(now - awake_since);
                return Ok(ready);
            }
        }
    }

    fn arm(&mut self, at: u64) -> io::Result<()> {
        if self.armed != at {
            self.armed = at;
            let at = TimeSpec::from_duration(Duration::from_nanos(at.min(i64::MAX as u64)));
            self.timer.set(Expiration::OneShot(at), TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
        }
        Ok(())
    }

    fn poll(&mut self, timeout: EpollTimeout) -> io::Result<Ready> {
        let mut events = [EpollEvent::empty(); 4];
        let n = match self.epoll.wait(&mut events, timeout) {
            Err(nix::errno::Errno::EINTR) => 0,
            other => other?,
        };
        let mut ready = Ready::default();
        for event in &events[..n] {
            match event.data() {
                TIMER => {
                    // Setting the timer again also consumes its expiry.
                    self.armed = 0;
                    self.timer.unset()?;
                }
                MESSAGE => ready.message = true,
                side => {
                    if event.events().intersects(EpollFlags::EPOLLERR | EpollFlags::EPOLLHUP) {
                        return Err(io::Error::other("a TUN device was removed"));
                    }
                    ready.devices[side as usize] = true;
                }
            }
        }
        Ok(ready)
    }
}
