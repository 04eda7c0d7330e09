//! Privileges are needed to open devices in other namespaces and to ask for the scheduler; packets need none.
//!
//! Root without capabilities still owns root's files. A root thread therefore also changes its user to `nobody`; files
//! that are written at the end of a run are opened before. The user stays root in two cases: in a user namespace without
//! `nobody`, such as any user may create, where root has only the rights of its creator; and without the capabilities to
//! change the user (`CAP_SETUID`, `CAP_SETGID`), where root's files stay accessible.

use std::io;

use nix::sys::prctl::set_no_new_privs;

use crate::sys;

/// User and group without rights, the kernel's number for all that it cannot name (user_namespaces(7)).
pub const NOBODY: u32 = 65_534;

/// Drop all capabilities of the calling thread permanently, and the user root where possible. Programs that the thread
/// starts get none either.
///
/// # Errors
/// Return the kernel's error.
pub fn give_up() -> io::Result<()> {
    set_no_new_privs()?;
    if sys::is_root() {
        match sys::become_user(NOBODY) {
            Err(error) if !matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EPERM)) => {
                return Err(error);
            }
            _ => {}
        }
    }
    sys::drop_capabilities()
}

#[cfg(test)]
mod tests {
    use std::fs::{File, read_to_string};
    use std::thread;

    use super::*;

    /// As in linux/capability.h.
    const SETGID_AND_SETUID: u64 = 1 << 6 | 1 << 7;

    /// Lines of the status of the calling thread.
    fn says(keys: &[&str]) -> Vec<String> {
        let status = read_to_string("/proc/thread-self/status").expect("a status");
        let of = |key: &&str| status.lines().find_map(|line| line.strip_prefix(*key)).unwrap_or_default();
        keys.iter().map(|key| of(key).split_ascii_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn a_thread_gives_up_what_it_has_and_others_keep_it() {
        const USER: [&str; 2] = ["Uid:", "Gid:"];
        let before = says(&USER);
        let may = u64::from_str_radix(&says(&["CapEff:"])[0], 16).expect("capabilities");
        let (after, none, opened) = thread::spawn(|| {
            give_up().expect("given up");
            let none = says(&["CapEff:", "CapPrm:", "CapInh:", "NoNewPrivs:"]);
            (says(&USER), none, File::options().append(true).open("/etc/passwd").is_ok())
        })
        .join()
        .expect("a thread");
        let zero = "0000000000000000";
        assert_eq!(none, [zero, zero, zero, "1"]);
        assert_eq!(says(&USER), before);
        // Root stays root in a namespace without other users, and where it may not change its user.
        let map = read_to_string("/proc/self/uid_map").expect("a map");
        let knows_nobody = map.split_ascii_whitespace().nth(2).and_then(|n| n.parse().ok()) > Some(NOBODY);
        if sys::is_root() && knows_nobody && may & SETGID_AND_SETUID == SETGID_AND_SETUID {
            assert_eq!(after, ["65534 65534 65534 65534"; 2]);
            assert!(!opened, "root's files are root's alone");
        }
    }
}
