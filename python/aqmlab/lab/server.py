"""The server of the page.

Python's own ``http.server``, since one page and its requests are all there is to answer: a framework
and its server (Starlette, uvicorn) would bring six packages for it, and `aqmlab lab` would not work without them. What
the standard library leaves open is closed here: one request a connection, every error is one line of plain text, a
request has to arrive within seconds, connections are counted, and a request is answered only if
`aqmlab.lab.request_validation` accepts it.
"""

from __future__ import annotations

import io
import socket
import threading
import time
from collections import defaultdict
from http.client import responses
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aqmlab.lab import message, request_error
from aqmlab.lab.request_error import RequestError
from aqmlab.lab.request_validation import LOOPBACK, RequestValidator, body_length
from aqmlab.lab.sessions import Sessions

ARRIVAL_S = 5.0
"""A request has to have arrived after so long."""
DRAIN_S = 0.5
MOST_DRAINED = 1_000_000
MOST_CONNECTIONS = 32
MOST_LINE = 4096
HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",  # the rest of the policy is in the page
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Connection": "close",
}


class LabServer(ThreadingHTTPServer):
    """HTTP server of a page and its requests, on the loopback interface; `port` 0 takes a free one."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, page: str, *, token: str, port: int = 0) -> None:
        self.page = page.encode()
        self.sessions = Sessions()
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__((LOOPBACK, port), _Handler)
        self.validator = RequestValidator(int(self.server_address[1]), token)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as in the base class
        """Answer in a new thread; close the connection if there are too many."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Answer, and release the connection's place."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Print nothing: a client that disconnects is no error."""


class _InTime(io.RawIOBase):
    """The bytes that a client sends until a deadline."""

    def __init__(self, connection: socket.socket, until: float) -> None:
        self._connection = connection
        self._until = until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - a buffer
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class _Handler(BaseHTTPRequestHandler):
    server: LabServer
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        self.rfile = io.BufferedReader(_InTime(self.connection, time.monotonic() + ARRIVAL_S))

    def handle(self) -> None:
        """Answer one request."""
        try:
            self._answer_one()
        except (OSError, TimeoutError):
            pass  # the client has gone, or is too slow to be served
        except RequestError as no:
            self._refuse(no)
        except Exception as error:  # the page stays usable, and says what went wrong
            self._refuse(RequestError(500, f"internal error: {type(error).__name__}"))

    def _answer_one(self) -> None:
        self.command, self.request_version, self.requestline = "", "HTTP/1.1", ""
        self.raw_requestline = self.rfile.readline(MOST_LINE + 1)
        if not self.raw_requestline:
            return
        if len(self.raw_requestline) > MOST_LINE:
            raise RequestError(414, "the address is too long")
        words = self.raw_requestline.split()
        if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
            raise RequestError(request_error.BAD_REQUEST, "not a request of HTTP/1.1")
        target = words[1].decode("latin-1")
        if not self.parse_request():
            return
        name = self.server.validator.validate(self.command, target, self._headers())
        if name == "core":
            self._answer_page()
        else:
            self._send(200, self.server.page, "text/html; charset=utf-8")

    def _headers(self) -> dict[str, list[str]]:
        found = defaultdict(list)
        if self.headers.defects:
            raise RequestError(request_error.BAD_REQUEST, "a header is damaged")
        for name, value in self.headers.items():
            found[name.lower()].append(value)
        return dict(found)

    def _answer_page(self) -> None:
        length = body_length(self._headers())
        body = self.rfile.read(length)
        if len(body) < length:
            raise RequestError(request_error.BAD_REQUEST, "the body is shorter than it says")
        asked = message.read(body)
        answer = self.server.sessions.answer(asked.page, asked.call, asked.request)
        binary = asked.call == "columns"
        self._send(200, answer, "application/octet-stream" if binary else "application/json; charset=utf-8")

    def _refuse(self, no: RequestError) -> None:
        try:
            self._send(no.status, f"{no.text}\n".encode(errors="replace"), "text/plain; charset=utf-8", no.headers)
            self._drain()
        except OSError:
            self.close_connection = True

    def _drain(self) -> None:
        """Read the rest of a request, or the system would reset the connection before the error is read."""
        self.connection.shutdown(socket.SHUT_WR)
        until, left = time.monotonic() + DRAIN_S, MOST_DRAINED
        while left > 0 and (rest := until - time.monotonic()) > 0:
            self.connection.settimeout(rest)
            found = len(self.connection.recv(min(left, 65_536)))
            left = left - found if found else 0

    def _send(self, status: int, body: bytes, kind: str, extra: dict[str, str] | None = None) -> None:
        self.close_connection = True
        self.connection.settimeout(ARRIVAL_S)
        own = {"Content-Type": kind, "Content-Length": str(len(body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in {**own, **HEADERS, **(extra or {})}.items())
        shown = b"" if self.command == "HEAD" else body
        self.wfile.write(f"HTTP/1.1 {status} {responses.get(status, 'Rejected')}\r\n{head}\r\n".encode() + shown)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer requests that the standard library rejects, in one line of plain text."""
        self._refuse(RequestError(int(code), responses.get(int(code), "rejected")))

    def log_message(self, format: str, *args: object) -> None:
        """Write no log."""
