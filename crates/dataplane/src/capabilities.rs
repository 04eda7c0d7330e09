//! Privileges are needed to open devices in other namespaces and to ask for the scheduler; packets need none.

use std::io;

use nix::sys::prctl::set_no_new_privs;

use crate::sys;

/// Gives up all capabilities of the calling thread for good: no program that it might start gets any either.
///
/// # Errors
/// Whatever the kernel says.
pub fn give_up() -> io::Result<()> {
    set_no_new_privs()?;
    sys::drop_capabilities()
}
