//! Precautions against lateness, as far as they are permitted: CPU scheduling, not the number of packets, is the threat.

use nix::sched::{CpuSet, sched_setaffinity};
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
