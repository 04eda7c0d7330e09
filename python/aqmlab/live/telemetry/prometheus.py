"""The last snapshot for a scraper: Prometheus' text format at a port of the loopback interface, and nowhere else.

``prometheus_client`` writes the format and its escapes. The server is Python's own: that of ``prometheus_client`` would
listen at any address and look at no Host header, by which a page of another site could read it (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6
from typing import TYPE_CHECKING, Any

from aqmlab.errors import InputError
from aqmlab.live.telemetry.metrics import METRICS
from aqmlab.live.telemetry.snapshot import SnapshotError
from aqmlab.live.telemetry.view import Line

if TYPE_CHECKING:
    from prometheus_client import Metric as Family

LOOPBACK = "127.0.0.1"
ALLOWED = "allowed: PORT, 127.0.0.1:PORT, localhost:PORT, [::1]:PORT"
ARRIVAL_S = 5.0
"""A request has to have arrived after so long."""


class Collector:
    """Turns the last line into metrics when somebody asks."""

    def __init__(self) -> None:
        self.line: Line | None = None

    def collect(self) -> Iterator[Family]:
        """Give all metrics; those of a link that has reported nothing yet have no series."""
        from prometheus_client import Metric as Family

        snapshot = None if self.line is None else self.line.snapshot
        for metric in METRICS:
            family = Family(metric.name.removesuffix("_total"), metric.help, metric.kind)
            for values, number in metric.read(snapshot) if snapshot is not None else ():
                family.add_sample(metric.name, dict(zip(metric.labels, values, strict=True)), number)
            yield family


class Metrics:
    """Serves ``/metrics``.

    Parameters
    ----------
    address
        IP address of the loopback interface.
    port
        0 for a free one.
    """

    def __init__(self, address: str = LOOPBACK, port: int = 0) -> None:
        try:
            from prometheus_client import CollectorRegistry
        except ImportError:
            text = "needs prometheus_client, which is not installed (pip install 'aqmlab[live]')"
            raise InputError(f"--stats prometheus: {text}") from None
        host = f"[{address}]" if ":" in address else address
        self._collector = Collector()
        registry = CollectorRegistry()
        registry.register(self._collector)
        try:
            self._server = _Server(address, port, registry)
        except OSError as error:
            raise InputError(f"--stats prometheus: {host}:{port} cannot be had ({error.strerror})") from None
        self.url = f"http://{host}:{self._server.port}/metrics"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), name="metrics", daemon=True).start()

    @classmethod
    def at(cls, words: str) -> Metrics:
        """Listen where the words say: nothing, a port, or a loopback address and a port."""
        return cls(*parse_address(words))

    def show(self, line: Line) -> None:
        """Take a line."""
        self._collector.line = line

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


def parse_address(words: str) -> tuple[str, int]:
    """Read a port, or a loopback address and a port.

    >>> parse_address(""), parse_address("9100"), parse_address("[::1]:9100"), parse_address("localhost:1")
    (('127.0.0.1', 0), ('127.0.0.1', 9100), ('::1', 9100), ('127.0.0.1', 1))
    >>> parse_address("0.0.0.0:9100")
    Traceback (most recent call last):
    aqmlab.errors.InputError: --stats prometheus=0.0.0.0:9100: 0.0.0.0 is not loopback (allowed: PORT, ...)
    """
    host, _, port = words.rpartition(":")
    digits = port or "0"
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 5 and int(digits) <= 65535):
        raise InputError(f"--stats prometheus={words}: the port is not a number from 0 to 65535 ({ALLOWED})")
    if host in ("", "localhost"):
        return LOOPBACK, int(digits)
    try:
        address = ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        raise InputError(f"--stats prometheus={words}: {host} is not an address ({ALLOWED})") from None
    if not address.is_loopback:
        raise InputError(f"--stats prometheus={words}: {host} is not loopback ({ALLOWED})")
    return str(address), int(digits)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: str, port: int, registry: Any) -> None:  # noqa: ANN401 - its module is loaded late
        self.address_family = AF_INET6 if ":" in address else AF_INET
        self.registry = registry
        super().__init__((address, port), _Handler)
        self.port = int(self.server_address[1])
        own = f"[{address}]" if ":" in address else address
        self.hosts = (f"{own}:{self.port}", f"localhost:{self.port}")

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """A client that goes away in the middle is no error worth a line."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = ARRIVAL_S

    def do_GET(self) -> None:
        from prometheus_client.exposition import choose_encoder

        if (self.headers.get("Host") or "").strip().lower() not in self.server.hosts:
            return self._answer(403, "text/plain", b"the Host header names another host than this machine's own\n")
        if self.path.partition("?")[0] != "/metrics":
            return self._answer(404, "text/plain", b"there is /metrics and nothing else\n")
        encode, kind = choose_encoder(self.headers.get("Accept") or "")
        try:
            body = encode(self.server.registry)
        except SnapshotError as error:
            return self._answer(500, "text/plain", f"{error}\n".encode())
        return self._answer(200, kind, body)

    def _answer(self, code: int, kind: str, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        return "aqmlab"

    def log_message(self, *_: Any) -> None:  # noqa: ANN401
        """Scrapes are not worth a line."""
