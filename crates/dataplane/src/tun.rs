//! TUN devices: a file through which IP packets come out of a network namespace and go in.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use nix::fcntl::{OFlag, open};
use nix::sched::{CloneFlags, setns};
use nix::sys::stat::Mode;

use crate::config::Side;
use crate::sys::{ethtool, flags_of, interface_ioctl, request_for};

/// Largest packet.
pub const MTU: i32 = 1500;
/// Packets that the device holds for us while we are busy elsewhere.
pub const QUEUE: i32 = 10_000;

/// An open device.
#[derive(Debug)]
pub struct Tun {
    /// Packets, one a read or write; never blocks.
    pub packets: OwnedFd,
    /// Queries about the device.
    pub about: About,
}

/// Questions about a device, which are answered from its own namespace.
#[derive(Debug)]
pub struct About {
    device: String,
    /// `/proc/net/dev` of its namespace.
    counters: File,
    socket: UnixDatagram,
}

impl Tun {
    /// Open the device of a side, or create it if it is missing, set its MTU and queue, and bring it up. The calling
    /// thread stays in its namespace.
    ///
    /// # Errors
    /// Return the operation that failed, and why.
    pub fn open(side: &Side) -> io::Result<Self> {
        let work = || {
            if let Some(path) = &side.netns {
                enter(path)?;
            }
            open_here(&side.device)
        };
        // A namespace belongs to a thread: enter it in one that ends here.
        std::thread::scope(|scope| scope.spawn(work).join())
            .unwrap_or_else(|_| Err(io::Error::other("the thread that opens TUN devices panicked")))
    }
}

fn with_context(what: String) -> impl FnOnce(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{what}: {error}"))
}

fn enter(path: &Path) -> io::Result<()> {
    let what = format!("network namespace {}", path.display());
    let namespace = File::open(path).map_err(with_context(what.clone()))?;
    setns(namespace, CloneFlags::CLONE_NEWNET).map_err(|errno| with_context(what)(errno.into()))
}

fn open_here(device: &str) -> io::Result<Tun> {
    const TUNSETIFF: libc::c_ulong = 0x4004_54ca;
    const SIOCSIFMTU: libc::c_ulong = 0x8922;
    const SIOCSIFTXQLEN: libc::c_ulong = 0x8943;
    const SIOCGIFFLAGS: libc::c_ulong = 0x8913;
    const SIOCSIFFLAGS: libc::c_ulong = 0x8914;
    let flags = OFlag::O_RDWR | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let packets = open("/dev/net/tun", flags, Mode::empty())
        .map_err(|errno| with_context("/dev/net/tun".to_owned())(errno.into()))?;
    let what = |what: &str| with_context(format!("TUN device {device}: {what}"));
    let mut request = request_for(device)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    interface_ioctl(&packets, TUNSETIFF, &mut request).map_err(what("open"))?;

    // Any socket of the namespace will do; this one has no address to listen at.
    let socket = UnixDatagram::unbound().map_err(what("socket"))?;
    let mut request = request_for(device)?;
    request.ifr_ifru.ifru_mtu = MTU;
    interface_ioctl(&socket, SIOCSIFMTU, &mut request).map_err(what("MTU"))?;
    request.ifr_ifru.ifru_metric = QUEUE;
    // Root of a user namespace may not set it this way; the creator of the namespace can, by netlink.
    let _ = interface_ioctl(&socket, SIOCSIFTXQLEN, &mut request);
    interface_ioctl(&socket, SIOCGIFFLAGS, &mut request).map_err(what("flags"))?;
    request.ifr_ifru.ifru_flags = flags_of(&request) | libc::IFF_UP as libc::c_short;
    interface_ioctl(&socket, SIOCSIFFLAGS, &mut request).map_err(what("up"))?;

    let counters = File::open("/proc/thread-self/net/dev").map_err(what("counters"))?;
    Ok(Tun { packets, about: About { device: device.to_owned(), counters, socket } })
}

impl About {
    /// Packets that the device dropped on their way to us, mostly because its queue was full.
    pub fn tx_dropped(&mut self) -> u64 {
        let mut text = String::new();
        let read =
            self.counters.seek(SeekFrom::Start(0)).and_then(|_| self.counters.read_to_string(&mut text));
        read.ok().and_then(|_| tx_dropped(&text, &self.device)).unwrap_or(0)
    }

    /// Return the drops of both devices since `before`; 0 for a device that was created again or removed.
    pub fn dropped_since(both: &mut [Self; 2], before: [u64; 2]) -> [u64; 2] {
        let now = both.each_mut().map(Self::tx_dropped);
        core::array::from_fn(|side| now[side].saturating_sub(before[side]))
    }

    /// The offloads that are on, by their names.
    pub fn offload(&self) -> Vec<&'static str> {
        // linux/ethtool.h: ETHTOOL_GRXCSUM, GTXCSUM, GSG, GTSO, GGSO, GGRO.
        const ASKED: [(&str, u32); 6] = [
            ("rx-checksum", 0x14),
            ("tx-checksum", 0x16),
            ("scatter-gather", 0x18),
            ("tso", 0x1e),
            ("gso", 0x23),
            ("gro", 0x2b),
        ];
        let is_on = |cmd| ethtool(&self.socket, &self.device, cmd).is_ok_and(|value| value != 0);
        ASKED.iter().filter(|(_, cmd)| is_on(*cmd)).map(|(name, _)| *name).collect()
    }
}

/// The transmit drops of a device in the text of `/proc/net/dev`: name, eight numbers of what was received, then bytes,
/// packets, errors and drops of what was sent.
fn tx_dropped(text: &str, device: &str) -> Option<u64> {
    let numbers = text.lines().find_map(|line| line.trim_start().strip_prefix(device)?.strip_prefix(':'))?;
    numbers.split_ascii_whitespace().nth(8 + 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_gone_drops_nothing() {
        let about = || About {
            device: "no-such-device".to_owned(),
            counters: File::open("/proc/net/dev").expect("counters"),
            socket: UnixDatagram::unbound().expect("a socket"),
        };
        assert_eq!(About::dropped_since(&mut [about(), about()], [0, 7]), [0, 0]);
    }

    #[test]
    fn drops_in_proc_net_dev() {
        let text = "Inter-|   Receive                            |  Transmit\n \
            face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls\n\
            lo:       1       2    3    4    5     6          7         8       9      10   11   12    13     14\n\
            aqm-a:  1       2    3    4    5     6          7         8       9      10   11   99    13     14\n";
        assert_eq!(tx_dropped(text, "aqm-a"), Some(99));
        assert_eq!(tx_dropped(text, "lo"), Some(12));
        assert_eq!(tx_dropped(text, "aqm"), None);
    }
}
