"""The body of a request: checked before anything is done with it.

    {"page": "5f3a90c2", "number": 7, "settings": {"queue.bottleneck.max_th": 45, "flow.tcp.count": 20}}

`page` tells one open page from another, `number` rises with each of its requests: the newest wins.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from aqmlab.lab.request_error import BAD_REQUEST, UNUSABLE, RequestError

MOST_BYTES = 16_384
MOST_NUMBER = 2**53
_PAGE = re.compile(r"[0-9a-f]{8,32}")


@dataclass(frozen=True)
class Message:
    """A page's request."""

    page: str
    number: int
    settings: dict[str, object]


def read(body: bytes) -> Message:
    """Read a message, or raise the error that answers it.

    >>> read(b'{"page": "00ff00ff", "number": 1, "settings": {"seed": 2}}').settings
    {'seed': 2}
    >>> read(b'{"page": "00ff00ff", "number": 1, "settings": [1]}')
    Traceback (most recent call last):
    ...
    aqmlab.lab.request_error.RequestError: 422 settings: is not an object
    """
    data = _json(body)
    if not isinstance(data, dict):
        raise RequestError(UNUSABLE, "the message is not an object")
    if data.keys() != {"page", "number", "settings"}:
        raise RequestError(UNUSABLE, "the message has to have page, number and settings, and nothing else")
    page, number, settings = data["page"], data["number"], data["settings"]
    if not isinstance(page, str) or not _PAGE.fullmatch(page):
        raise RequestError(UNUSABLE, "page: is not 8 to 32 hexadecimal digits")
    if type(number) is not int or not 0 <= number < MOST_NUMBER:
        raise RequestError(UNUSABLE, "number: is not a whole number from 0 on")
    if not isinstance(settings, dict):
        raise RequestError(UNUSABLE, "settings: is not an object")
    for key, value in settings.items():
        if type(value) not in (int, float, str, bool):
            raise RequestError(UNUSABLE, f"settings.{key[:60]!a}: is not a number, a word, true or false")
    return Message(page, number, settings)


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
    raise RequestError(BAD_REQUEST, f"the body is not JSON: {word} is no number")
