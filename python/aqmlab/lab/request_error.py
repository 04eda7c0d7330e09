"""The error that answers a request: a status and one line."""

from __future__ import annotations

from collections.abc import Mapping


class RequestError(Exception):
    """A request that is rejected.

    Attributes
    ----------
    status
        The HTTP status.
    text
        One line for people.
    headers
        Headers that go with this status.
    """

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        self.status = status
        self.text = " ".join(text.split())
        self.headers = dict(headers or {})
        super().__init__(f"{status} {self.text}")


BAD_REQUEST, NO_TOKEN, FORBIDDEN, NOT_FOUND, NOT_ALLOWED = 400, 401, 403, 404, 405
CONFLICT, NO_LENGTH, TOO_LARGE, WRONG_TYPE, UNUSABLE, BUSY = 409, 411, 413, 415, 422, 503
