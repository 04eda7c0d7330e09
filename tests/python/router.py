"""Three namespaces in a row, A - router - B, for tests of a router: with addresses and routes, and removed for sure."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from aqmlab.live.namespaces import within
from aqmlab.live.processes import Identity
from programs import missing

T = TypeVar("T")

SHAPE = """\
import json, sys
from aqmlab.errors import Error
from aqmlab.live.shape import shape
from aqmlab.live.shape.network import Space
words = json.loads(sys.argv[1])
if words.pop("old_kernel", False):
    read, write = Space.setting, Space.set
    Space.setting = lambda self, key: None if "force_forwarding" in key else read(self, key)
    Space.set = lambda self, key, value: None if "force_forwarding" in key else write(self, key, value)
try:
    print(shape(words.pop("file"), command=(sys.executable, words.pop("fake")), **words).line())
except Error as error:
    print(f"aqmlab: {error}", file=sys.stderr)
    sys.exit(error.exit_code)
"""
PASSING_LINK = Path(__file__).with_name("passing_link.py")
ADDRESS = {4: {"a": "10.1.0.2", "b": "10.2.0.2"}, 6: {"a": "fd01::2", "b": "fd02::2"}}
ROUTER = {4: {"a": "10.1.0.1", "b": "10.2.0.1"}, 6: {"a": "fd01::1", "b": "fd02::1"}}
LENGTH = {4: 24, 6: 64}
PATIENCE_S = 20.0


def forbidden() -> str:
    """Why such tests are not possible here, or nothing."""
    if os.geteuid() != 0:
        return "needs root"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "needs /dev/net/tun"
    if why := missing("ip", "nsenter", "setpriv"):
        return why
    name = f"aql-try-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"namespaces are not allowed here ({made.stderr.strip()})"
    subprocess.run(["ip", "netns", "del", name], check=True)
    return ""


def wait_until(true: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < until, what
        time.sleep(0.02)


class Running:
    """A shape that runs in the router's namespace."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, words: str) -> None:
        wait_until(lambda: words in self.err or self.process.poll() is not None, f"no {words!r} in {self.err!r}")
        assert words in self.err, self.err

    @property
    def err(self) -> str:
        return "".join(self.said)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """End it, and return its exit code and its output on stdout."""
        self.process.send_signal(number)
        return self.end()

    def end(self) -> tuple[int, str]:
        code = self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        assert self.process.stdout is not None
        with self.process.stdout as stdout:
            return code, stdout.read()

    def kill(self) -> None:
        """End it if it runs still, whatever it does."""
        self.process.kill()
        self.process.wait()
        self._reader.join(PATIENCE_S)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stderr:
            for line in stderr:
                self.said.append(line)


class Router:
    """The three namespaces: ``in0`` and ``out0`` of the router lead to ``eth0`` of A and of B."""

    def __init__(self) -> None:
        self.prefix = f"aql-shape-{os.getpid()}"
        self._running: list[Running] = []

    def name(self, which: str) -> str:
        return f"{self.prefix}-{which}"

    def path(self, which: str) -> Path:
        return Path("/run/netns") / self.name(which)

    def ip(self, which: str, words: str) -> str:
        command = ["ip", "-n", self.name(which), *words.split()]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def set(self, key: str, value: str, which: str = "r") -> None:
        within(self.path(which), lambda: Path("/proc/sys/net", key).write_text(value))

    def make(self) -> None:
        for which in "arb":
            subprocess.run(["ip", "netns", "add", self.name(which)], check=True)
            self.ip(which, "link set lo up")
            # Addresses are there at once, or their becoming so would look like a change.
            for key in ("all", "default"):
                self.set(f"ipv6/conf/{key}/accept_dad", "0", which)
        for which, port in (("a", "in0"), ("b", "out0")):
            self.ip("r", f"link add {port} type veth peer name eth0 netns {self.name(which)}")
            for version in (4, 6):
                nodad = " nodad" if version == 6 else ""
                self.ip("r", f"addr add {ROUTER[version][which]}/{LENGTH[version]} dev {port}{nodad}")
                self.ip(which, f"addr add {ADDRESS[version][which]}/{LENGTH[version]} dev eth0{nodad}")
            self.ip("r", f"link set {port} up")
            self.ip(which, "link set eth0 up")
            for version in (4, 6):
                self.ip(which, f"-{version} route add default via {ROUTER[version][which]}")

    def remove(self) -> None:
        for running in self._running:
            running.kill()
        for which in "arb":
            if self.path(which).exists():
                subprocess.run(["ip", "netns", "del", self.name(which)], check=False)

    def state(self) -> dict[str, str]:
        """All of the router's network that a shape could leave changed."""

        def settings() -> dict[str, str]:
            found = {}
            for path in sorted(Path("/proc/sys/net").rglob("*")):
                if path.is_file() and path.stat().st_mode & 0o400 and "ipv6/route/flush" not in str(path):
                    try:
                        found[str(path)] = path.read_text()
                    except OSError:
                        continue
            return found

        found = within(self.path("r"), settings)
        for words in ("rule", "-6 rule", "-o addr", "-o link", "route show table all", "-6 route show table all"):
            lines = self.ip("r", words).splitlines()
            # Lines with lifetimes that count down are not part of the state.
            found[words] = "\n".join(sorted(line for line in lines if "cache" not in line))
        return found

    def shape(self, file: Path, *, real: bool = False, terminal: int | None = None, **words: object) -> Running:
        """Start a shape in the router, on a terminal of its own if one is given."""
        import json

        if real:
            options = [text for key, value in words.items() for text in (f"--{key}", str(value))]
            command = [sys.executable, "-m", "aqmlab", "shape", str(file), *options]
        else:
            asked = json.dumps({"file": str(file), "fake": str(PASSING_LINK), **words})
            command = [sys.executable, "-c", SHAPE, asked]
        process = subprocess.Popen(
            [*(["setsid", "--ctty"] if terminal is not None else []), "nsenter", f"--net={self.path('r')}", *command],
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "NO_COLOR": "1"},
        )
        running = Running(process)
        self._running.append(running)
        return running

    def socket(self, which: str, version: int, port: int | None = None) -> socket.socket:
        """Return a UDP socket of A, B, or the router."""
        family = socket.AF_INET if version == 4 else socket.AF_INET6

        def make() -> socket.socket:
            found = socket.socket(family, socket.SOCK_DGRAM)
            found.settimeout(2.0)
            if port is not None:
                found.bind(("", port))
            return found

        return within(self.path(which), make)

    def echo(self, version: int, *, count: int = 1) -> int:
        """Send datagrams from A to B, which sends them back; return how many came back."""
        to = ADDRESS[version]["b"]
        back = 0
        with self.socket("a", version) as near, self.socket("b", version, 5000) as far:
            for number in range(count):
                near.sendto(str(number).encode(), (to, 5000))
                try:
                    data, sender = far.recvfrom(100)
                    far.sendto(data, sender)
                    back += near.recv(100) == data
                except TimeoutError:
                    continue
        return back


@contextmanager
def router() -> Iterator[Router]:
    """Make the namespaces, and remove them whatever happens; those of tests that were killed go first."""
    for path in Path("/run/netns").glob("aql-shape-*"):
        if Identity.of(int(path.name.split("-")[2])) is None:
            subprocess.run(["ip", "netns", "del", path.name], check=False)
    made = Router()
    try:
        made.make()
        yield made
    finally:
        made.remove()


# A router of namespaces needs rights that not every machine gives; the reason names the missing ones.
POSSIBLE = pytest.mark.skipif(bool(reason := forbidden()), reason=reason or "possible")


def needs_namespaces(test):
    """Mark a live test with a router of its own; skip it on a machine that forbids namespaces."""
    return pytest.mark.live(POSSIBLE(test))
