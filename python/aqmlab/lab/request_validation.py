"""Validation of requests: every request is checked here before anything else reads it.

The server listens on the loopback interface alone. Other programs and other people's pages reach that too, hence:

* *Host* must name the loopback interface and the port. A name of another site that was made to resolve to 127.0.0.1
  (DNS rebinding) sends its own name there.
* *Origin* and *Sec-Fetch-Site*, where a browser sends them, must be the page's own: pages of other sites cannot ask.
* The first part of the path is a random token, known only to the owner of the server.
* No other method or path is answered, a body is JSON of known length and small.

The token protects only the scenario's text and processor time. It is not a password: a user with access to the command
lines of the owner's programs can read it in the browser's.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aqmlab.lab import request_error
from aqmlab.lab.message import MOST_BYTES
from aqmlab.lab.request_error import RequestError

LOOPBACK = "127.0.0.1"
METHODS = {"": "GET", "core": "POST"}
"""Every path that is answered, and how it is asked for: the page, and its requests."""


@dataclass(frozen=True)
class RequestValidator:
    """Validation of requests for the server on one port with one token."""

    port: int
    token: str

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{LOOPBACK}:{self.port}/{self.token}/"

    def validate(self, method: str, target: str, headers: Mapping[str, Sequence[str]]) -> str:
        """Return the name of the requested file; raise `RequestError` for an invalid request.

        Parameters
        ----------
        method, target
            Of the request line.
        headers
            All values of each header, names in lower case.
        """
        self._known_host(headers.get("host", ()))
        self._same_origin(headers)
        if not target.startswith("/"):
            raise RequestError(request_error.BAD_REQUEST, "the path has to begin with /")
        token, _, name = target[1:].partition("/")
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            text = "the address has to hold the token that `aqmlab lab` printed"
            raise RequestError(request_error.NO_TOKEN, text, {"WWW-Authenticate": "Token"})
        if name not in METHODS or not target.startswith(f"/{self.token}/"):
            raise RequestError(request_error.NOT_FOUND, "there is nothing here")
        if method != METHODS[name]:
            raise RequestError(
                request_error.NOT_ALLOWED, f"only {METHODS[name]} is allowed here", {"Allow": METHODS[name]}
            )
        return name

    def _known_host(self, values: Sequence[str]) -> None:
        if len(values) != 1:
            raise RequestError(request_error.BAD_REQUEST, "a request has to have one Host header")
        if values[0].strip().lower() not in (f"{LOOPBACK}:{self.port}", f"localhost:{self.port}"):
            raise RequestError(request_error.FORBIDDEN, "the Host header names another host than this machine's own")

    def _same_origin(self, headers: Mapping[str, Sequence[str]]) -> None:
        own = (f"http://{LOOPBACK}:{self.port}", f"http://localhost:{self.port}")
        if any(origin not in own for origin in headers.get("origin", ())):
            raise RequestError(request_error.FORBIDDEN, "the request comes from another page")
        if any(site not in ("same-origin", "none") for site in headers.get("sec-fetch-site", ())):
            raise RequestError(request_error.FORBIDDEN, "the request comes from another page")


def body_length(headers: Mapping[str, Sequence[str]]) -> int:
    """Return the length of the body of a POST; raise `RequestError` if it is invalid."""
    if "transfer-encoding" in headers:
        raise RequestError(request_error.NO_LENGTH, "the body has to come with its length, not in pieces")
    lengths = headers.get("content-length", ())
    if not lengths:
        raise RequestError(request_error.NO_LENGTH, "the body has to come with its length")
    if len(lengths) > 1 or not (lengths[0].isascii() and lengths[0].isdigit()):
        raise RequestError(request_error.BAD_REQUEST, "the length of the body is not a number")
    if len(lengths[0]) > 9 or int(lengths[0]) > MOST_BYTES:
        raise RequestError(request_error.TOO_LARGE, f"the body is larger than {MOST_BYTES} bytes")
    kinds = [kind.partition(";")[0].strip().lower() for kind in headers.get("content-type", ())]
    if kinds != ["application/json"]:
        raise RequestError(request_error.WRONG_TYPE, "the body has to be application/json")
    return int(lengths[0])
