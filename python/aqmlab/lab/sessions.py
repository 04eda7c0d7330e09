"""Sessions of open pages with the native core: each has at most one run."""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from aqmlab import _core
from aqmlab.errors import InputError
from aqmlab.lab.request_error import BUSY, CONFLICT, RequestError
from aqmlab.runs.executors import available_cores

MOST_SESSIONS = 16
"""Pages that can be open; with another one, the page with the oldest request loses its run."""
SLICE_S = 0.05
"""Time in s after which a request that advances a run is answered, at the next of its `STEPS`."""
STEPS = 200
"""Parts of a run, after each of which it can be left."""
PATIENCE_S = 2.0
"""Longest time in s that a request waits for another one of its page, or for a free processor core."""


class Session:
    """The session of one page with the native core.

    Its calls are the requests of `crates/web` and two more: ``advance`` simulates for `SLICE_S` and returns the
    ``share`` of the run that is done; ``columns`` returns the numbers of a finished run's tables.
    """

    def __init__(self) -> None:
        self._core = _core.PageSession()
        self._step = 0
        self.lock = threading.Lock()

    def answer(self, call: str, request: str) -> bytes:
        """Answer a call: in JSON, but for ``columns``."""
        if call == "columns":
            return self._core.columns()
        try:
            return self._text(call, request).encode()
        except (InputError, UnicodeError) as error:  # of a plug-in, of a lone surrogate
            return _json({"ok": False, "error": " ".join(str(error).split())}).encode()

    def _text(self, call: str, request: str) -> str:
        if call == "advance":
            return self._advance()
        if call == "start":
            self._step = 0
        if call == "finish" and self._step < STEPS:
            raise RequestError(CONFLICT, "the run is not at its end")
        return self._core.answer(call, request)

    def _advance(self) -> str:
        until = time.monotonic() + SLICE_S
        while self._step < STEPS and time.monotonic() < until:
            if self._core.advance((self._step + 1) / STEPS) is None:
                raise RequestError(CONFLICT, f"this page has no run; at most {MOST_SESSIONS} pages can be open")
            self._step += 1
        return _json({"ok": True, "share": self._step / STEPS})


class Sessions:
    """The sessions of a server, by the name of their page."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()
        self._cores = threading.BoundedSemaphore(available_cores())

    def answer(self, page: str, call: str, request: str) -> bytes:
        """Answer a call of a page.

        Raises
        ------
        RequestError
            If the page has no run to go on with, or other requests take too long.
        """
        session = self._of(page)
        with _held(session.lock), _held(self._cores):
            return session.answer(call, request)

    def _of(self, page: str) -> Session:
        with self._lock:
            session = self._sessions.pop(page, None) or Session()
            self._sessions[page] = session
            while len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)
        return session


@contextmanager
def _held(lock: threading.Lock | threading.Semaphore) -> Iterator[None]:
    if not lock.acquire(timeout=PATIENCE_S):
        raise RequestError(BUSY, "other runs are under way; try again")
    try:
        yield
    finally:
        lock.release()


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
