//! Kernel interfaces without a safe wrapper: all `unsafe` code of the project.

use std::io;
use std::os::fd::AsRawFd;

use libc::{c_int, c_long, c_void, ifreq};

use crate::wire::RouteOption;

fn checked(result: c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// An `ifreq` with the name of an interface.
///
/// # Errors
/// A name that does not fit.
pub fn request_for(name: &str) -> io::Result<ifreq> {
    let too_long =
        || io::Error::new(io::ErrorKind::InvalidInput, "the name of an interface must have 1 to 15 bytes");
    let ifr_ifru = libc::__c_anonymous_ifr_ifru { ifru_ifindex: 0 };
    let mut request = ifreq { ifr_name: [0; libc::IFNAMSIZ], ifr_ifru };
    if name.is_empty() || name.len() >= libc::IFNAMSIZ {
        return Err(too_long());
    }
    request.ifr_name.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from as libc::c_char);
    Ok(request)
}

/// An ioctl on an interface that reads and writes nothing but `request`.
///
/// # Errors
/// Return the kernel's error.
#[expect(unsafe_code, reason = "no safe wrapper for these requests")]
pub fn interface_ioctl(fd: &impl AsRawFd, code: libc::c_ulong, request: &mut ifreq) -> io::Result<()> {
    // SAFETY: TUNSETIFF and the SIOC*IF* requests read and write an `ifreq`, which `request` is for the whole call.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), code as _, core::ptr::from_mut(request)) }.into())
}

/// Let all packets of a socket carry an option. Needs CAP_NET_RAW.
///
/// # Errors
/// Return the kernel's error.
#[expect(unsafe_code, reason = "no safe wrapper for these options")]
pub fn carry(socket: &impl AsRawFd, is_ipv4: bool, option: RouteOption) -> io::Result<()> {
    let (four, six) = (option.ipv4(), option.ipv6(0));
    let (level, name, bytes): (_, _, &[u8]) = if is_ipv4 {
        (libc::IPPROTO_IP, libc::IP_OPTIONS, &four)
    } else {
        (libc::IPPROTO_IPV6, libc::IPV6_HOPOPTS, &six)
    };
    let (start, length) = (bytes.as_ptr().cast::<c_void>(), bytes.len() as libc::socklen_t);
    // SAFETY: the kernel reads `length` bytes from `start`, which are those of `bytes`.
    checked(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, start, length) }.into())
}

/// The number in an `ifreq` that an ioctl has written as flags.
#[expect(unsafe_code, reason = "a field of a union")]
pub fn flags_of(request: &ifreq) -> libc::c_short {
    // SAFETY: all fields of the union are plain numbers or pointers, any bits are a valid short.
    unsafe { request.ifr_ifru.ifru_flags }
}

/// The argument of the ethtool requests that get one number.
#[repr(C)]
struct EthtoolValue {
    cmd: u32,
    data: u32,
}

/// Asks an interface for one number (linux/ethtool.h).
///
/// # Errors
/// Return the kernel's error.
pub fn ethtool(socket: &impl AsRawFd, interface: &str, cmd: u32) -> io::Result<u32> {
    const SIOCETHTOOL: libc::c_ulong = 0x8946;
    let mut value = EthtoolValue { cmd, data: 0 };
    let mut request = request_for(interface)?;
    request.ifr_ifru.ifru_data = core::ptr::from_mut(&mut value).cast();
    // The kernel writes into `value`, which lives until the end of this function.
    interface_ioctl(socket, SIOCETHTOOL, &mut request)?;
    Ok(value.data)
}

/// Puts the calling thread into the class SCHED_FIFO.
///
/// # Errors
/// Where that is not permitted.
pub fn be_fifo(priority: u8) -> io::Result<()> {
    be(libc::SCHED_FIFO, priority)
}

/// Put the calling thread into the class SCHED_IDLE, which runs only when the processor is otherwise idle.
///
/// # Errors
/// Return the kernel's error.
pub fn be_idle() -> io::Result<()> {
    be(libc::SCHED_IDLE, 0)
}

#[expect(unsafe_code, reason = "no safe wrapper")]
fn be(class: c_int, priority: u8) -> io::Result<()> {
    let (this, class, priority) = (0 as c_long, c_long::from(class), c_int::from(priority));
    // The kernel's structure of parameters has one number. The function of musl always fails.
    // SAFETY: the call reads `priority` only, which lives through it.
    checked(unsafe { libc::syscall(libc::SYS_sched_setscheduler, this, class, &raw const priority) })
}

/// Change user and group of the calling thread only, and drop its supplementary groups. The functions of the C library
/// would change all threads at once, which fails for threads that have dropped their capabilities.
///
/// # Errors
/// Return the kernel's error: `EINVAL` where the user namespace does not know the number, `EPERM` without the capabilities.
#[expect(unsafe_code, reason = "no safe wrapper for a thread by itself")]
pub fn become_user(id: u32) -> io::Result<()> {
    let (id, none): (c_long, c_long) = (id.into(), 0);
    // SAFETY: the calls take numbers; the list of groups has length 0, so that nothing is read where it points.
    unsafe {
        checked(libc::syscall(libc::SYS_setresgid, id, id, id))?;
        checked(libc::syscall(libc::SYS_setgroups, none, core::ptr::null::<c_void>()))?;
        checked(libc::syscall(libc::SYS_setresuid, id, id, id))
    }
}

/// Whether the calling thread has the rights of root over root's files.
#[expect(unsafe_code, reason = "no safe wrapper")]
pub fn is_root() -> bool {
    // SAFETY: the call has no arguments and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Drops all capabilities of the calling thread: permitted, effective and inheritable (capset(2), version 3).
///
/// # Errors
/// Return the kernel's error.
#[expect(unsafe_code, reason = "no safe wrapper")]
pub fn drop_capabilities() -> io::Result<()> {
    const VERSION_3: u32 = 0x2008_0522;
    let header = [VERSION_3, 0];
    let none = [0_u32; 6];
    // SAFETY: version 3 reads a header of two words and two sets of three words, which both arrays are.
    checked(unsafe {
        libc::syscall(libc::SYS_capset, header.as_ptr().cast::<c_void>(), none.as_ptr().cast::<c_void>())
    })
}
