//! A link process from its configuration to its outcome.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use nix::sys::eventfd::{EfdFlags, EventFd};
use serde_json::json;

use crate::capture::{Recorder, Tap};
use crate::config::{BadConfig, Planned};
use crate::control::{Control, Lines, take_signals};
use crate::outcome::{Ended, Processors};
use crate::plane::Plane;
use crate::realtime::Awake;
use crate::snapshot::{Shared, Snapshot};
use crate::tun::{About, Tun};
use crate::{capabilities, link_thread, realtime};

/// Packets between the link and the writer of the recording.
const RECORDED: usize = 1 << 14;

/// Why a run failed.
#[derive(Debug)]
pub enum Failure {
    /// The configuration is wrong.
    Config(BadConfig),
    /// A system call failed.
    Kernel(io::Error),
}

impl Failure {
    /// Return the exit code: 2 for an invalid configuration, 3 for a missing permission, 1 for any other error.
    pub fn code(&self) -> u8 {
        match self {
            Self::Config(_) => 2,
            Self::Kernel(error) if error.kind() == io::ErrorKind::PermissionDenied => 3,
            Self::Kernel(_) => 1,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(wrong) => wrong.fmt(f),
            Self::Kernel(error) => error.fmt(f),
        }
    }
}

impl From<BadConfig> for Failure {
    fn from(wrong: BadConfig) -> Self {
        Self::Config(wrong)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Kernel(error)
    }
}

impl From<nix::errno::Errno> for Failure {
    fn from(errno: nix::errno::Errno) -> Self {
        Self::Kernel(errno.into())
    }
}

/// Runs a link whose configuration is in a file, comes from standard input (`-`), or is the argument itself (`{...}`). Errors
/// are written to standard error as one line. Return the exit code.
pub fn main(argument: &str) -> u8 {
    match configuration(argument).and_then(|(json, lines)| run(&json, lines)) {
        Ok(()) => 0,
        Err(failure) => {
            eprintln!("{failure}");
            failure.code()
        }
    }
}

fn configuration(argument: &str) -> Result<(String, Lines), Failure> {
    if argument == "-" {
        return read_object(io::stdin().lock());
    }
    if argument.trim_start().starts_with('{') {
        return Ok((argument.to_owned(), Lines::default()));
    }
    let unreadable = |error| Failure::Config(BadConfig(format!("configuration: {argument}: {error}")));
    Ok((std::fs::read_to_string(argument).map_err(unreadable)?, Lines::default()))
}

/// Read one JSON object; bytes after it are commands.
fn read_object(mut input: impl Read) -> Result<(String, Lines), Failure> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 1 << 16];
    loop {
        let n = input.read(&mut chunk)?;
        bytes.extend_from_slice(&chunk[..n]);
        let mut values = serde_json::Deserializer::from_slice(&bytes).into_iter::<serde::de::IgnoredAny>();
        let first = values.next();
        let read = values.byte_offset();
        match first {
            Some(Ok(_)) => {
                let mut lines = Lines::default();
                lines.push(bytes[read..].trim_ascii_start());
                bytes.truncate(read);
                return Ok((String::from_utf8_lossy(&bytes).into_owned(), lines));
            }
            None | Some(Err(_)) if n == 0 => {
                return Err(BadConfig(
                    "configuration: standard input ended before the JSON object was complete".to_owned(),
                )
                .into());
            }
            Some(Err(error)) if !error.is_eof() => {
                return Err(BadConfig(format!("configuration: {error}")).into());
            }
            None | Some(Err(_)) => {}
        }
    }
}

fn run(json: &str, lines: Lines) -> Result<(), Failure> {
    let planned = Planned::read(json)?;
    let (signals, mask_before) = take_signals()?;
    let result = run_planned(&planned, lines, &signals);
    mask_before.thread_set_mask()?;
    result
}

fn run_planned(
    planned: &Planned,
    lines: Lines,
    signals: &nix::sys::signalfd::SignalFd,
) -> Result<(), Failure> {
    let (devices, mut about) = open_devices(planned)?;
    // Open them now: after privileges are dropped, the process may not.
    let [capture, events] =
        [&planned.config.record, &planned.config.events].map(|path| path.as_deref().map(created).transpose());
    let (capture, events) = (capture?, events?);
    let recording = capture.map(|file| record(file, planned.config.drop_capabilities));
    let (tap, recorder) = recording.transpose()?.unzip();
    let mut plane = Plane::new(planned, devices, tap);
    let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
    let (wake, news) = (EventFd::from_flags(flags)?, EventFd::from_flags(flags)?);
    let shared = Arc::new(Shared::default());
    if let Ok(mut board) = shared.board.lock() {
        board.0 = Snapshot::new(&plane.directions, planned.config.flows as usize);
    }
    let memory_locked = planned.config.realtime.lock_memory && realtime::lock_memory();
    let mut awake = if planned.config.realtime.keep_awake { Awake::ask() } else { Awake::default() };
    let capabilities_dropped = planned.config.drop_capabilities;
    let (sender, scheduler) = std::sync::mpsc::channel();

    std::thread::scope(|scope| {
        let (shared, wake, news) = (&shared, &wake, &news);
        let link = scope.spawn(move || {
            let _end = End { shared, news };
            // The thread is ready when it has set its scheduling class and dropped the privileges for that.
            let class = realtime::set_scheduling(&planned.config.realtime);
            let given_up = if capabilities_dropped { capabilities::give_up() } else { Ok(()) };
            let _ = sender.send(class);
            given_up.and_then(|()| link_thread::run(&mut plane, planned, shared, wake, news))?;
            Ok(plane)
        });
        let scheduler = scheduler.recv().unwrap_or("other");
        let mut control =
            Control { planned, shared, wake, news, signals, about: &mut about, dropped_before: [0; 2] };
        let mut processors = Processors::now();
        let work = || {
            if capabilities_dropped {
                capabilities::give_up()?;
            }
            if planned.config.realtime.keep_awake {
                awake.spin(planned.config.realtime.core);
            }
            say(&json!({ "ready": {
                "a": planned.config.a.device,
                "b": planned.config.b.device,
                "scheduler": scheduler,
                "memory_locked": memory_locked,
                "capabilities_dropped": capabilities_dropped,
            }}))?;
            processors = Processors::now();
            control.run(lines)
        };
        let worked = work();
        let dropped_before = control.dropped_before;
        if worked.is_err() {
            // Otherwise the link thread would never end.
            shared.stop.store(true, Ordering::Release);
            let _ = wake.write(1);
        }
        let plane = link.join().unwrap_or_else(|_| Err(io::Error::other("the link thread panicked")))?;
        worked?;
        let stolen = Processors::now().stolen_since(processors);
        let kept_awake = awake.status();
        let mut ended = Ended {
            planned,
            plane: &plane,
            about: &mut about,
            scheduler,
            memory_locked,
            capabilities_dropped,
            kept_awake,
            stolen,
            dropped_before,
            events,
        };
        if let Some(recorder) = recorder {
            recorder.finish()?;
        }
        let outcome = ended.outcome()?;
        Ok(say(&json!({ "outcome": outcome }))?)
    })
}

/// Signal to the control thread that the link thread has ended, also if it panics.
struct End<'a> {
    shared: &'a Shared,
    news: &'a EventFd,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        let _ = self.news.write(1);
    }
}

/// Start the writer of a recording, without privileges if they are dropped: a thread inherits those of its creator.
fn record(file: File, is_unprivileged: bool) -> io::Result<(Tap, Recorder)> {
    let start = || {
        if is_unprivileged {
            capabilities::give_up()?;
        }
        Recorder::start(file, RECORDED)
    };
    std::thread::scope(|scope| scope.spawn(start).join())
        .unwrap_or_else(|_| Err(io::Error::other("the thread that starts the recording panicked")))
}

fn created(path: &Path) -> io::Result<File> {
    File::create(path).map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))
}

fn open_devices(planned: &Planned) -> io::Result<([OwnedFd; 2], [About; 2])> {
    let (a, b) = (Tun::open(&planned.config.a)?, Tun::open(&planned.config.b)?);
    Ok(([a.packets, b.packets], [a.about, b.about]))
}

fn say(line: &serde_json::Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_and_the_commands_behind_it() {
        let (json, mut lines) = read_object(&b" {\"a\": {\"b\": \"}\"}}\nstart\nst"[..]).expect("an object");
        assert_eq!(json, " {\"a\": {\"b\": \"}\"}}");
        assert_eq!((lines.line(), lines.line()), (Some(Ok(b"start\n".to_vec())), None));
    }

    #[test]
    fn the_end_of_the_link_thread_is_signalled_also_if_it_panics() {
        let (shared, news) =
            (Shared::default(), EventFd::from_flags(EfdFlags::EFD_NONBLOCK).expect("an eventfd"));
        std::thread::scope(|scope| {
            let link = scope.spawn(|| {
                let _end = End { shared: &shared, news: &news };
                std::panic::resume_unwind(Box::new("dead"));
            });
            assert!(link.join().is_err());
        });
        assert!(shared.ended.load(Ordering::Acquire));
        assert_eq!(news.read(), Ok(1));
    }

    #[test]
    fn errors_of_the_configuration_and_their_exit_codes() {
        for (input, expected) in [
            (&b"{\"a\": "[..], "configuration: standard input ended before the JSON object was complete"),
            (b"", "configuration: standard input ended before the JSON object was complete"),
            (b"]", "configuration: expected value at line 1 column 1"),
        ] {
            let failure = read_object(input).expect_err("no object");
            assert_eq!((failure.to_string().as_str(), failure.code()), (expected, 2));
        }
        let refused = Failure::from(nix::errno::Errno::EPERM);
        assert_eq!((refused.code(), Failure::from(nix::errno::Errno::EINVAL).code()), (3, 1));
        assert_eq!(configuration("/no/such/file").expect_err("no file").code(), 2);
    }
}
