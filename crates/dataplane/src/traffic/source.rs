use core::net::{IpAddr, SocketAddr};
use std::io;
use std::iter::Peekable;
use std::net::UdpSocket;

use aqmlab_units::Time;
use nix::sys::socket::{setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};
use serde_json::{Value, json};

use super::datagram;
use super::request::{FlowRequest, TrafficRequest};
use super::schedule::{Due, Schedule};
use crate::lateness::Lateness;
use crate::wire::RouteOption;
use crate::{clock, sys};

/// Packets and bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    packets: u64,
    bytes: u64,
}

impl Sum {
    fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    fn json(self) -> Value {
        json!({ "packets": self.packets, "bytes": self.bytes })
    }
}

#[derive(Debug)]
struct Flow {
    name: String,
    socket: UdpSocket,
    schedule: Peekable<Schedule>,
    headers: u32,
    all: Sum,
    measured: Sum,
    /// Packets that the kernel rejected.
    refused: u64,
    lengthened: u64,
    shortened: u64,
    first: Option<Time>,
}

/// Sends the packets of its flows, each when it is due.
#[derive(Debug)]
pub(super) struct Source {
    flows: Vec<Flow>,
    payload: Vec<u8>,
    mtu: u32,
    warmup: Time,
    lateness: Lateness,
}

impl Source {
    pub fn new(request: &TrafficRequest) -> io::Result<Self> {
        let end = Time::from_secs(request.duration_s);
        let flow = |flow: &FlowRequest| -> io::Result<Flow> {
            Ok(Flow {
                name: flow.name.clone(),
                socket: connected(flow)?,
                schedule: Schedule::new(flow, request.seed, end).peekable(),
                headers: flow.headers(),
                all: Sum::default(),
                measured: Sum::default(),
                refused: 0,
                lengthened: 0,
                shortened: 0,
                first: None,
            })
        };
        Ok(Self {
            flows: request.flows.iter().map(flow).collect::<io::Result<_>>()?,
            payload: vec![0; request.mtu as usize],
            mtu: request.mtu,
            warmup: Time::from_secs(request.warmup_s),
            lateness: Lateness::default(),
        })
    }

    /// Sends until nothing is left; time 0 of the run is `start_ns` of the monotonic clock.
    pub fn run(mut self, start_ns: u64) -> io::Result<String> {
        // A timer may be late by the slack of the thread, 50 us unless it says otherwise.
        nix::sys::prctl::set_timerslack(1)?;
        while let Some((flow, due)) = self.next_due() {
            let due_ns = start_ns + due.time.0 / 1000;
            sleep_until(due_ns)?;
            self.lateness.count(clock::now().saturating_sub(due_ns));
            self.send(flow, &due, due_ns);
            self.flows[flow].schedule.next();
        }
        Ok(self.report())
    }

    /// The first packet to come, and its flow.
    fn next_due(&mut self) -> Option<(usize, Due)> {
        let due = self.flows.iter_mut().enumerate().filter_map(|(i, f)| Some((i, *f.schedule.peek()?)));
        due.min_by_key(|(i, due)| (due.time, *i))
    }

    fn send(&mut self, flow: usize, due: &Due, due_ns: u64) {
        let flow = &mut self.flows[flow];
        let bytes = due.bytes.clamp(flow.headers, self.mtu);
        flow.lengthened += u64::from(bytes > due.bytes);
        flow.shortened += u64::from(bytes < due.bytes);
        let payload = &mut self.payload[..(bytes - flow.headers) as usize];
        datagram::mark(payload, due.seq, due_ns);
        // The kernel also reports a closed port here, after an earlier packet.
        if flow.socket.send(payload).is_err() {
            flow.refused += 1;
            return;
        }
        flow.all.add(bytes);
        if due.time >= self.warmup {
            flow.measured.add(bytes);
        }
        flow.first.get_or_insert(due.time);
    }

    fn report(&self) -> String {
        let flow = |flow: &Flow| {
            json!({
                "name": flow.name,
                "sent": flow.all.json(),
                "measured": flow.measured.json(),
                "refused": flow.refused,
                "lengthened": flow.lengthened,
                "shortened": flow.shortened,
                "first_sent_s": flow.first.map(Time::secs),
            })
        };
        let p = self.lateness.percentiles();
        let us = |ns: u64| ns as f64 / 1000.0;
        let lateness =
            json!({ "n": p.n, "p50": us(p.p50), "p99": us(p.p99), "p999": us(p.p999), "max": us(p.max) });
        json!({ "flows": self.flows.iter().map(flow).collect::<Vec<_>>(), "lateness_us": lateness })
            .to_string()
    }
}

/// A socket at the flow's address whose packets have its code point.
fn connected(flow: &FlowRequest) -> io::Result<UdpSocket> {
    let said = |error: io::Error| {
        let FlowRequest { name, local, peer, port, .. } = flow;
        let peer = SocketAddr::new(*peer, *port);
        io::Error::new(error.kind(), format!("flow {name} cannot send from {local} to {peer}: {error}"))
    };
    let socket = UdpSocket::bind((flow.local, 0)).map_err(said)?;
    socket.connect((flow.peer, flow.port)).map_err(said)?;
    let traffic_class = i32::from(flow.dscp) << 2;
    match flow.local {
        IpAddr::V4(_) => setsockopt(&socket, sockopt::Ipv4Tos, &traffic_class),
        IpAddr::V6(_) => setsockopt(&socket, sockopt::Ipv6TClass, &traffic_class),
    }
    .map_err(|errno| said(errno.into()))?;
    if let Some(ttl_initial) = flow.ttl_initial {
        // Nothing comes back, from which a sender could learn the time to live at the destination.
        sys::carry(&socket, flow.local.is_ipv4(), RouteOption { ttl_initial, ttl_final: 0 }).map_err(said)?;
    }
    Ok(socket)
}

fn sleep_until(ns: u64) -> io::Result<()> {
    let at = TimeSpec::new((ns / 1_000_000_000) as i64, (ns % 1_000_000_000) as i64);
    loop {
        match clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &at) {
            Err(nix::errno::Errno::EINTR) => {}
            other => return other.map(drop).map_err(io::Error::from),
        }
    }
}
