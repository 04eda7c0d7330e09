use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{setsockopt, sockopt};
use serde_json::{Value, json};

use super::datagram;
use super::request::{FlowRequest, TrafficRequest};
use crate::clock;

/// Wanted room for what has come and was not read yet, in bytes; the kernel may give less.
const ROOM: usize = 4 << 20;
const LONGEST: usize = 65_536;

#[derive(Debug)]
struct Flow {
    name: String,
    socket: UdpSocket,
    headers: usize,
    received: u64,
    received_bytes: u64,
    measured: u64,
    measured_bytes: u64,
    /// One more than the highest number that came.
    next: u64,
    /// Packets with a lower number than one that came before.
    late: u64,
    /// Sum over packets that say when they were to leave, and how many they were.
    delay_ns: u128,
    delays: u64,
    last_ns: Option<u64>,
}

/// Counts what arrives of its flows.
#[derive(Debug)]
pub(super) struct Sink {
    flows: Vec<Flow>,
    warmup_ns: u64,
    end_ns: u64,
    linger_ns: u64,
}

impl Sink {
    pub fn new(request: &TrafficRequest) -> io::Result<Self> {
        let ns = |s: f64| (s * 1e9) as u64;
        Ok(Self {
            flows: request.flows.iter().map(Flow::new).collect::<io::Result<_>>()?,
            warmup_ns: ns(request.warmup_s),
            end_ns: ns(request.duration_s),
            linger_ns: ns(request.linger_s),
        })
    }

    /// Counts until some time after the end; time 0 of the run is `start_ns` of the monotonic clock. What comes after the
    /// end counts among all packets, and not among those of the measured part.
    pub fn run(mut self, start_ns: u64) -> io::Result<String> {
        let until = start_ns + self.end_ns + self.linger_ns;
        let measured = start_ns + self.warmup_ns..start_ns + self.end_ns;
        let mut buffer = vec![0; LONGEST];
        loop {
            let now = clock::now();
            if now >= until {
                return Ok(self.report(start_ns));
            }
            let wait_ms = (until - now).div_ceil(1_000_000).min(100) as u8;
            let mut polled: Vec<_> =
                self.flows.iter().map(|flow| PollFd::new(flow.socket.as_fd(), PollFlags::POLLIN)).collect();
            match poll(&mut polled, PollTimeout::from(wait_ms)) {
                Ok(_) | Err(nix::errno::Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            let has_come: Vec<bool> = polled.iter().map(|fd| fd.any().unwrap_or(false)).collect();
            for (flow, _) in self.flows.iter_mut().zip(has_come).filter(|(_, has_come)| *has_come) {
                flow.read(&mut buffer, &measured)?;
            }
        }
    }

    fn report(&self, start_ns: u64) -> String {
        let flow = |flow: &Flow| -> Value {
            let last_s = flow.last_ns.map(|ns| ns.saturating_sub(start_ns) as f64 / 1e9);
            let mean_s = (flow.delays > 0).then(|| flow.delay_ns as f64 / flow.delays as f64 / 1e9);
            json!({
                "name": flow.name,
                "received": { "packets": flow.received, "bytes": flow.received_bytes },
                "measured": { "packets": flow.measured, "bytes": flow.measured_bytes },
                "highest": flow.next,
                "late": flow.late,
                "mean_delay_s": mean_s,
                "last_received_s": last_s,
            })
        };
        json!({ "flows": self.flows.iter().map(flow).collect::<Vec<_>>() }).to_string()
    }
}

impl Flow {
    fn new(flow: &FlowRequest) -> io::Result<Self> {
        let FlowRequest { name, peer, port, .. } = flow;
        let said = |error: io::Error| {
            let text = format!("flow {name} cannot receive at {peer} port {port}: {error}");
            io::Error::new(error.kind(), text)
        };
        let socket = UdpSocket::bind((*peer, *port)).map_err(said)?;
        socket.set_nonblocking(true).map_err(said)?;
        setsockopt(&socket, sockopt::RcvBuf, &ROOM).map_err(|errno| said(errno.into()))?;
        Ok(Self {
            name: name.clone(),
            socket,
            headers: flow.headers() as usize,
            received: 0,
            received_bytes: 0,
            measured: 0,
            measured_bytes: 0,
            next: 0,
            late: 0,
            delay_ns: 0,
            delays: 0,
            last_ns: None,
        })
    }

    /// Reads all that has come.
    fn read(&mut self, buffer: &mut [u8], measured: &core::ops::Range<u64>) -> io::Result<()> {
        loop {
            let length = match self.socket.recv(buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let (now, bytes) = (clock::now(), (length + self.headers) as u64);
            self.received += 1;
            self.received_bytes += bytes;
            self.last_ns = Some(now);
            if measured.contains(&now) {
                self.measured += 1;
                self.measured_bytes += bytes;
            }
            if let Some((seq, sent_ns)) = datagram::marked(&buffer[..length]) {
                self.late += u64::from(seq < self.next);
                // Any host may send datagrams to the port, with any numbers.
                self.next = self.next.max(seq.saturating_add(1));
                self.delay_ns += u128::from(now.saturating_sub(sent_ns));
                self.delays += 1;
            }
        }
    }
}
