//! Precautions against lateness, where permitted. CPU scheduling, not the packet rate, is the main cause of lateness.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::mman::{MlockAllFlags, mlockall};
use nix::sys::resource::{RLIM_INFINITY, Resource, setrlimit};
use nix::unistd::Pid;

use crate::config::Realtime;
use crate::sys;

/// Keeps all memory of the process in RAM, what comes later included. Whether that was permitted.
pub fn lock_memory() -> bool {
    // Remove the limit: otherwise allocations would fail after privileges are dropped, and a growing stack would end the
    // process.
    setrlimit(Resource::RLIMIT_MEMLOCK, RLIM_INFINITY, RLIM_INFINITY).is_ok()
        && mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE).is_ok()
}

/// Pin the calling thread to its core and put it into the class SCHED_FIFO. Return the class that it got: `fifo` or
/// `other`.
pub fn set_scheduling(realtime: &Realtime) -> &'static str {
    if let Some(core) = realtime.core {
        let mut cores = CpuSet::new();
        // A core that does not exist leaves the thread unpinned; the certificate shows the lateness.
        let _ = cores.set(core).and_then(|()| sched_setaffinity(Pid::from_raw(0), &cores));
    }
    if realtime.fifo && sys::be_fifo(realtime.priority).is_ok() { "fifo" } else { "other" }
}

/// Memory of a thread that only counts, in bytes.
const SPINNER_STACK: usize = 64 << 10;

/// Keeps processors from sleeping for as long as it lives. A processor that sleeps is slow to wake, and a virtual one that
/// sleeps is given to others: its timer may then fire milliseconds late.
#[derive(Debug, Default)]
pub struct Awake {
    /// While this file is open, the kernel uses no sleep state with a wake-up latency.
    latency: Option<File>,
    is_over: Arc<AtomicBool>,
    spinners: Vec<JoinHandle<()>>,
}

impl Awake {
    /// Request zero wake-up latency from the kernel (`/dev/cpu_dma_latency`); needs privileges.
    pub fn ask() -> Self {
        let ask = || -> io::Result<File> {
            let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency")?;
            file.write_all(&0_i32.to_ne_bytes())?;
            Ok(file)
        };
        let mut awake = Self::default();
        awake.latency = ask().ok();
        awake
    }

    /// Start a busy loop on each processor in the class SCHED_IDLE, or only on the link's core if it is pinned.
    pub fn spin(&mut self, core: Option<usize>) {
        let may = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
        let is_meant =
            |cpu: &usize| may.is_set(*cpu).unwrap_or(false) && core.is_none_or(|core| core == *cpu);
        let spinner = |cpu| {
            let is_over = Arc::clone(&self.is_over);
            let work = move || spin_on(cpu, &is_over);
            // If this fails, the processor may sleep; the certificate reports the number of busy loops.
            Builder::new().name(format!("awake-{cpu}")).stack_size(SPINNER_STACK).spawn(work).ok()
        };
        self.spinners = (0..CpuSet::count()).filter(is_meant).filter_map(spinner).collect();
    }

    /// Return whether the kernel accepted a zero wake-up latency, and the number of processors kept busy.
    pub fn status(&self) -> (bool, usize) {
        (self.latency.is_some(), self.spinners.len())
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.spinners.drain(..).for_each(|spinner| drop(spinner.join()));
    }
}

/// Count in a busy loop while the processor is otherwise idle. The loop has no pause instruction: a hypervisor may take
/// the processor away when it sees one.
fn spin_on(cpu: usize, is_over: &AtomicBool) {
    let mut one = CpuSet::new();
    let is_there = one.set(cpu).and_then(|()| sched_setaffinity(Pid::from_raw(0), &one)).is_ok();
    // In another class the loop would take time from other threads.
    if is_there && sys::be_idle().is_ok() {
        while !is_over.load(Ordering::Relaxed) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_kept_awake_until_it_is_dropped() {
        let mut awake = Awake::ask();
        assert_eq!(awake.status().1, 0);
        awake.spin(None);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        assert!((1..=cores).contains(&awake.status().1));
        let over = Arc::clone(&awake.is_over);
        drop(awake);
        assert!(over.load(Ordering::Relaxed));
    }

    #[test]
    fn one_core_alone_if_the_link_stays_there() {
        let mut awake = Awake::default();
        awake.spin(Some(CpuSet::count() + 1));
        assert_eq!(awake.status(), (false, 0));
    }
}
