//! Precautions against lateness, as far as they are permitted: CPU scheduling, not the number of packets, is the threat.

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
    // Without the limit gone, what is needed after privileges are given up would be refused for being locked: allocations
    // fail, and a stack that grows ends the process.
    setrlimit(Resource::RLIMIT_MEMLOCK, RLIM_INFINITY, RLIM_INFINITY).is_ok()
        && mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE).is_ok()
}

/// Puts the calling thread where it is late least: on its core, in the class SCHED_FIFO. The class that it got: `fifo` or
/// `other`.
pub fn hurry(realtime: &Realtime) -> &'static str {
    if let Some(core) = realtime.core {
        let mut cores = CpuSet::new();
        // A core that does not exist leaves the thread where it is; the certificate shows what came of it.
        let _ = cores.set(core).and_then(|()| sched_setaffinity(Pid::from_raw(0), &cores));
    }
    if realtime.fifo && sys::be_fifo(realtime.priority).is_ok() { "fifo" } else { "other" }
}

/// Memory of a thread that only counts, in bytes.
const SPINNER_STACK: usize = 64 << 10;

/// Keeps processors from sleeping for as long as it lives. A processor that sleeps is slow to wake, and a virtual one that
/// sleeps is given to others: its timer then comes when the host gets round to it, which may be milliseconds late.
#[derive(Debug, Default)]
pub struct Awake {
    /// The kernel's promise to use no sleep that takes time to wake from holds while the file is open.
    latency: Option<File>,
    is_over: Arc<AtomicBool>,
    spinners: Vec<JoinHandle<()>>,
}

impl Awake {
    /// Asks the kernel for wake-ups without delay (`/dev/cpu_dma_latency`), where that is permitted: it needs privileges.
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

    /// Gives each processor something to do that all else goes before (the class SCHED_IDLE); of one core alone if the link
    /// stays there.
    pub fn spin(&mut self, core: Option<usize>) {
        let may = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
        let is_meant =
            |cpu: &usize| may.is_set(*cpu).unwrap_or(false) && core.is_none_or(|core| core == *cpu);
        let spinner = |cpu| {
            let is_over = Arc::clone(&self.is_over);
            let work = move || spin_on(cpu, &is_over);
            // Without it, the processor sleeps as it would have; the certificate tells how many there are.
            Builder::new().name(format!("awake-{cpu}")).stack_size(SPINNER_STACK).spawn(work).ok()
        };
        self.spinners = (0..CpuSet::count()).filter(is_meant).filter_map(spinner).collect();
    }

    /// Whether the kernel promised wake-ups without delay, and how many processors are kept busy.
    pub fn told(&self) -> (bool, usize) {
        (self.latency.is_some(), self.spinners.len())
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.spinners.drain(..).for_each(|spinner| drop(spinner.join()));
    }
}

/// Counts until it is over, where nothing else wants the processor. Without the pause that usually goes into such a loop:
/// a hypervisor may take it for a sign that the processor can be had.
fn spin_on(cpu: usize, is_over: &AtomicBool) {
    let mut one = CpuSet::new();
    let is_there = one.set(cpu).and_then(|()| sched_setaffinity(Pid::from_raw(0), &one)).is_ok();
    // In another class it would take time from what has to be done.
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
        assert_eq!(awake.told().1, 0);
        awake.spin(None);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        assert!((1..=cores).contains(&awake.told().1));
        let over = Arc::clone(&awake.is_over);
        drop(awake);
        assert!(over.load(Ordering::Relaxed));
    }

    #[test]
    fn one_core_alone_if_the_link_stays_there() {
        let mut awake = Awake::default();
        awake.spin(Some(CpuSet::count() + 1));
        assert_eq!(awake.told(), (false, 0));
    }
}
