//! The control thread: reads commands and signals, writes snapshots and the outcome. It may block.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::EventFd;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::read;

use crate::classify::Group;
use crate::clock;
use crate::config::Planned;
use crate::json::Reporter;
use crate::snapshot::{Shared, Snapshot};
use crate::tun::About;

/// Maximum length of a command line, in bytes.
const LONGEST_LINE: usize = 1 << 24;

/// A line from standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// The run begins: now, or at a time of the clock, in nanoseconds.
    Start(Option<u64>),
    /// It ends.
    Stop,
    /// Another configuration, as JSON.
    Reload(String),
}

impl Command {
    /// Reads a line.
    ///
    /// # Errors
    /// The error in the line.
    pub fn read(line: &[u8]) -> Result<Option<Self>, String> {
        let allowed = "allowed: start [NANOSECONDS], stop, reload {configuration}";
        let line =
            core::str::from_utf8(line).map_err(|_| format!("command: is not UTF-8 text ({allowed})"))?.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (word, rest.trim()) {
            ("", _) => Ok(None),
            ("start", "") => Ok(Some(Self::Start(None))),
            ("start", at) if at.parse().is_ok_and(|at: u64| at > 0) => Ok(Some(Self::Start(at.parse().ok()))),
            ("stop", "") => Ok(Some(Self::Stop)),
            ("reload", json) if !json.is_empty() => Ok(Some(Self::Reload(json.to_owned()))),
            _ => Err(format!("command: {:?} ({allowed})", line.chars().take(40).collect::<String>())),
        }
    }
}

/// Bytes of standard input, cut into lines.
#[derive(Debug)]
pub struct Lines {
    bytes: Vec<u8>,
    /// A line has at most so many bytes, its end not counted.
    longest: usize,
    /// The current line is too long, and the error was reported.
    is_rejected: bool,
}

impl Default for Lines {
    fn default() -> Self {
        Self { bytes: Vec::new(), longest: LONGEST_LINE, is_rejected: false }
    }
}

impl Lines {
    /// Append input; bytes that were read with the configuration come first. Discard the rest of a rejected line.
    pub fn push(&mut self, bytes: &[u8]) {
        let bytes = match bytes.iter().position(|b| *b == b'\n') {
            _ if !self.is_rejected => bytes,
            Some(end) => &bytes[end + 1..],
            None => return,
        };
        self.is_rejected = false;
        self.bytes.extend_from_slice(bytes);
    }

    /// Return the next complete line, or an error if it is too long.
    ///
    /// # Errors
    /// Report a line that is too long once; the next line follows its end.
    pub fn line(&mut self) -> Option<Result<Vec<u8>, String>> {
        let end = self.bytes.iter().position(|b| *b == b'\n');
        if end.unwrap_or(self.bytes.len()) > self.longest {
            self.is_rejected = end.is_none();
            self.bytes.drain(..end.map_or(self.bytes.len(), |end| end + 1));
            return Some(Err(format!(
                "command: the line is too long (allowed: at most {} bytes)",
                self.longest
            )));
        }
        Some(Ok(self.bytes.drain(..=end?).collect()))
    }
}

/// Receive the signals that end a run through a file, in this thread and those that it starts.
///
/// # Errors
/// Return the kernel's error.
pub fn take_signals() -> io::Result<(SignalFd, SigSet)> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGINT);
    signals.add(Signal::SIGTERM);
    let before = signals.thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK)?;
    Ok((SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?, before))
}

/// State of the control thread.
pub struct Control<'a> {
    /// The run.
    pub planned: &'a Planned,
    /// State shared with the link thread.
    pub shared: &'a Shared,
    /// Wakes the link thread.
    pub wake: &'a EventFd,
    /// Signals new snapshots and the end of the run.
    pub news: &'a EventFd,
    /// Signals that end the run.
    pub signals: &'a SignalFd,
    /// The devices.
    pub about: &'a mut [About; 2],
    /// Their drops before the start.
    pub dropped_before: [u64; 2],
}

impl Control<'_> {
    /// Run until the link thread has ended.
    ///
    /// # Errors
    /// Return the kernel's error.
    pub fn run(&mut self, mut lines: Lines) -> io::Result<()> {
        let stdin = io::stdin();
        let mut is_open = true;
        let mut snapshot = Snapshot::default();
        let mut reporter = Reporter::default();
        let groups = self.planned.groups();
        self.obey(&mut lines);
        while !self.shared.ended.load(Ordering::Acquire) {
            let fds = [self.news.as_fd(), self.signals.as_fd(), stdin.as_fd()];
            let [news, signal, input] = wait(fds, is_open)?;
            if news {
                let _ = self.news.read();
                self.report(&mut snapshot, &mut reporter, &groups)?;
            }
            if signal {
                let _ = self.signals.read_signal();
                self.stop();
            }
            if input {
                let mut bytes = [0; 1 << 16];
                match read(stdin.as_fd(), &mut bytes) {
                    Err(Errno::EINTR | Errno::EAGAIN) => {}
                    Ok(0) | Err(_) => {
                        is_open = false;
                        self.stop();
                    }
                    Ok(n) => {
                        lines.push(&bytes[..n]);
                        self.obey(&mut lines);
                    }
                }
            }
        }
        Ok(())
    }

    fn obey(&mut self, lines: &mut Lines) {
        while let Some(line) = lines.line() {
            match line.and_then(|line| Command::read(&line)) {
                Ok(Some(Command::Start(at))) => self.start(at),
                Ok(Some(Command::Stop)) => self.stop(),
                Ok(Some(Command::Reload(json))) => self.reload(&json),
                Ok(None) => {}
                Err(wrong) => eprintln!("{wrong}"),
            }
        }
    }

    fn start(&mut self, at: Option<u64>) {
        if self.shared.start.load(Ordering::Acquire) == 0 {
            self.dropped_before = self.about.each_mut().map(About::tx_dropped);
            self.shared.start.store(at.unwrap_or_else(clock::now), Ordering::Release);
            self.wake_link();
        }
    }

    fn stop(&self) {
        self.shared.stop.store(true, Ordering::Release);
        self.wake_link();
    }

    /// Apply a new configuration; report its errors and keep the old one.
    fn reload(&self, json: &str) {
        match Planned::read(json).and_then(|new| new.may_follow(self.planned).map(|()| new)) {
            Ok(new) => {
                if let Ok(mut renewal) = self.shared.renewal.lock() {
                    *renewal = Some(Box::new(new));
                }
                self.wake_link();
            }
            Err(wrong) => eprintln!("reload: {wrong}"),
        }
    }

    fn wake_link(&self) {
        let _ = self.wake.write(1);
    }

    /// Writes the snapshot on the board as a line, if it is new.
    fn report(
        &mut self,
        snapshot: &mut Snapshot,
        reporter: &mut Reporter,
        groups: &[Group],
    ) -> io::Result<()> {
        {
            let Ok(mut board) = self.shared.board.lock() else { return Ok(()) };
            if !core::mem::take(&mut board.1) {
                return Ok(());
            }
            snapshot.clone_from(&board.0);
        }
        let dropped = About::dropped_since(self.about, self.dropped_before);
        let line = reporter.snapshot(snapshot, groups, dropped);
        match writeln!(io::stdout(), "{line}").and_then(|()| io::stdout().flush()) {
            // The reader of the snapshots has closed the pipe.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.stop();
                Ok(())
            }
            other => other,
        }
    }
}

/// Waits for news, a signal or, if it is open, input.
fn wait(fds: [BorrowedFd<'_>; 3], is_open: bool) -> io::Result<[bool; 3]> {
    let mut polled = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
    let asked = if is_open { 3 } else { 2 };
    match poll(&mut polled[..asked], PollTimeout::NONE) {
        Ok(_) => Ok(core::array::from_fn(|i| i < asked && polled[i].any().unwrap_or(false))),
        Err(Errno::EINTR) => Ok([false; 3]),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        assert_eq!(Command::read(b"start\n"), Ok(Some(Command::Start(None))));
        assert_eq!(Command::read(b"start 123\n"), Ok(Some(Command::Start(Some(123)))));
        assert_eq!(Command::read(b" stop \r\n"), Ok(Some(Command::Stop)));
        assert_eq!(Command::read(b"\n"), Ok(None));
        assert_eq!(Command::read(b"reload {\"a\": 1}\n"), Ok(Some(Command::Reload("{\"a\": 1}".to_owned()))));
        for wrong in [&b"go"[..], b"start now", b"start 0", b"start -1", b"reload", b"\xff\xfe"] {
            let said = Command::read(wrong).expect_err("no command");
            assert!(said.ends_with("(allowed: start [NANOSECONDS], stop, reload {configuration})"), "{said}");
        }
    }

    #[test]
    fn lines_are_cut_wherever_bytes_arrive() {
        let mut lines = Lines::default();
        lines.push(b"sta");
        assert_eq!(lines.line(), None);
        lines.push(b"rt\nstop\nx");
        assert_eq!(read(&mut lines), [Ok("start\n".to_owned()), Ok("stop\n".to_owned())]);
    }

    /// All lines that are there.
    fn read(lines: &mut Lines) -> Vec<Result<String, String>> {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        core::iter::from_fn(|| lines.line()).map(|line| line.map(text)).collect()
    }

    #[test]
    fn a_line_that_is_too_long_is_rejected_and_no_other() {
        let good = |line: &str| Ok(format!("{line}\n"));
        let rejected = || Err("command: the line is too long (allowed: at most 9 bytes)".to_owned());
        for (input, expected) in [
            ("stop\n123456789\nstart\n", vec![good("stop"), good("123456789"), good("start")]),
            ("stop\n1234567890\nstart\n", vec![good("stop"), rejected(), good("start")]),
            (
                "1234567890\n\n1234567890 and more\nstop\n",
                vec![rejected(), good(""), rejected(), good("stop")],
            ),
            ("stop\n1234567890", vec![good("stop"), rejected()]),
            ("stop\n123456789", vec![good("stop")]),
        ] {
            for size in 1..=input.len() {
                let mut lines = Lines { longest: 9, ..Lines::default() };
                let mut found = Vec::new();
                for chunk in input.as_bytes().chunks(size) {
                    lines.push(chunk);
                    found.extend(read(&mut lines));
                    assert!(lines.bytes.len() <= 9, "nothing is kept of a rejected line");
                }
                assert_eq!(found, expected, "{input:?} in chunks of {size}");
            }
        }
    }

    #[test]
    fn a_configuration_may_be_long() {
        let mut lines = Lines::default();
        lines.push(b"start\n");
        let piece = vec![b'x'; LONGEST_LINE / 4];
        (0..4).for_each(|_| lines.push(&piece));
        assert_eq!(lines.line(), Some(Ok(b"start\n".to_vec())));
        assert_eq!(lines.line(), None);
        lines.push(b"\nstop\n");
        assert_eq!(lines.line().map(|line| line.map(|line| line.len())), Some(Ok(LONGEST_LINE + 1)));
        assert_eq!(lines.line(), Some(Ok(b"stop\n".to_vec())));
        (0..4).for_each(|_| lines.push(&piece));
        lines.push(b"x");
        assert!(lines.line().is_some_and(|line| line.is_err_and(|said| said.contains("16777216 bytes"))));
        lines.push(b"x\nstop\n");
        assert_eq!((lines.line(), lines.line()), (Some(Ok(b"stop\n".to_vec())), None));
    }
}
