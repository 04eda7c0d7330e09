"""The body of a request: checked before anything is done with it.

    {"page": "5f3a90c2", "call": "read_toml", "request": "format = 1"}

`page` tells one open page from another. `call` is one of a session (`aqmlab.lab.sessions`), `request` its text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from aqmlab.lab.request_error import BAD_REQUEST, UNUSABLE, RequestError

MOST_BYTES = 1_000_000
"""Longest body: a scenario of a few thousand links or flows, more than a page shows."""
CALLS = ("check", "disciplines", "quantities", "curve", "read_toml", "start", "advance", "finish", "columns")
_PAGE = re.compile(r"[0-9a-f]{8,32}")


@dataclass(frozen=True)
class Message:
    """A page's request."""

    page: str
    call: str
    request: str


def read(body: bytes) -> Message:
    """Read a message, or raise the error that answers it.

    >>> read(b'{"page": "00ff00ff", "call": "advance", "request": ""}').call
    'advance'
    >>> read(b'{"page": "00ff00ff", "call": "exit", "request": ""}')
    Traceback (most recent call last):
    ...
    aqmlab.lab.request_error.RequestError: 422 call: is none of check, disciplines, quantities, curve, read_toml, \
start, advance, finish, columns
    """
    data = _json(body)
    if not isinstance(data, dict):
        raise RequestError(UNUSABLE, "the message is not an object")
    if data.keys() != {"page", "call", "request"}:
        raise RequestError(UNUSABLE, "the message has to have page, call and request, and nothing else")
    page, call, request = data["page"], data["call"], data["request"]
    if not isinstance(page, str) or not _PAGE.fullmatch(page):
        raise RequestError(UNUSABLE, "page: is not 8 to 32 hexadecimal digits")
    if call not in CALLS:
        raise RequestError(UNUSABLE, f"call: is none of {', '.join(CALLS)}")
    if not isinstance(request, str):
        raise RequestError(UNUSABLE, "request: is not a text")
    return Message(page, call, request)


def _json(body: bytes) -> object:
    try:
        return json.loads(body.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except UnicodeDecodeError:
        raise RequestError(BAD_REQUEST, "the body is not UTF-8") from None
    except (ValueError, RecursionError):
        raise RequestError(BAD_REQUEST, "the body is not JSON") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise RequestError(BAD_REQUEST, "the body has a key twice")
    return found


def _no_number(word: str) -> NoReturn:
    raise RequestError(BAD_REQUEST, f"the body is not JSON: {word} is not a number")
