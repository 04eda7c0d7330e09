"""The link process: the bottleneck between the two namespaces, which takes commands and answers line by line."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.errors import Error, InputError
from aqmlab.live.process_output import Heard
from aqmlab.live.processes import end, python_module, start

COMMAND = python_module("aqmlab.live.link")
"""The link process; ``$AQMLAB_LINK`` names another, such as the stand-alone ``aqmlab-link``."""
READY_WITHIN_S = 15.0
SILENT_S = 15.0
"""How long after the run nothing of the outcome may come; as long as more of it comes, it is waited for."""
REST_S = 15.0
"""How long a process that has ended is listened to."""
POLL_S = 0.1
OUTCOME = '{"outcome"'
"""How the line with the outcome begins."""
BAD_CONFIGURATION = 2
"""Exit code of a process that cannot use its configuration."""


def link_command() -> tuple[str, ...]:
    """Return the command of the link process."""
    other = os.environ.get("AQMLAB_LINK")
    return (other,) if other else COMMAND


class LiveError(Error):
    """A live run could not be done or has failed; the text says why."""


class LinkProcess:
    """A running link.

    Parameters
    ----------
    configuration
        The link's configuration; written into `folder`.
    folder
        Where the configuration goes.
    command
        The program; the configuration's file is its argument.
    """

    def __init__(self, configuration: Mapping[str, Any], folder: Path, *, command: Sequence[str] = COMMAND) -> None:
        path = folder / "link.json"
        path.write_text(json.dumps(configuration), encoding="utf-8")
        # stdin stays open: when this process dies it is closed, and the link ends.
        self._process = start([*command, str(path)], stdin=subprocess.PIPE)
        self.heard = Heard(self._process)
        self.outcome: dict[str, Any] | None = None

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def wait_ready(self) -> dict[str, Any]:
        """Wait until the devices are there, and return what it says of itself."""
        line = self.next_line(READY_WITHIN_S)
        if line is None:
            raise self._failure("did not start")
        ready = _object(line).get("ready")
        if not isinstance(ready, dict):
            raise LiveError(f"the link process began with {line[:80]!r} in place of ready")
        return ready

    def tell(self, command: str) -> None:
        """Give it a command."""
        stream = self._process.stdin
        try:
            if stream is not None:
                stream.write(f"{command}\n".encode())
                stream.flush()
        except BrokenPipeError:
            raise self._failure("ended") from None

    def next_line(self, longest_s: float) -> str | None:
        """Return its next line, or None if none came in that time or it has ended.

        A line with the outcome is kept in `outcome` and not returned.
        """
        line = self.heard.line(longest_s)
        return None if line is None or self._is_outcome(line) else line

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def wait_outcome(self) -> dict[str, Any]:
        """Wait for its end and return what came out; snapshots on the way are passed over.

        An outcome with large tables is waited for as long as more of it comes.
        """
        begun = time.monotonic()
        while self.outcome is None:
            comes = self.heard.beginning.startswith(OUTCOME.encode())
            late = time.monotonic() - (self.heard.at if comes else begun) > SILENT_S
            line = self.next_line(POLL_S)
            if late or (line is None and self.ended):
                self._read_the_rest(0.0 if late else REST_S)
                break
        if self.outcome is None:
            raise self._failure("gave no outcome")
        return self.outcome

    def close(self) -> None:
        """End it."""
        end(self._process)

    def check(self) -> None:
        """Raise what went wrong if it has ended without an outcome."""
        if self.ended:
            self._read_the_rest(REST_S)
            if self.outcome is None:
                raise self._failure("ended")

    def _read_the_rest(self, longest_s: float) -> None:
        """Read the remaining lines of the process, for the outcome."""
        for line in self.heard.rest(longest_s):
            self._is_outcome(line)

    def _is_outcome(self, line: str) -> bool:
        """Whether a line is the outcome, which is kept then."""
        if not line.startswith(OUTCOME):
            return False
        self.outcome = _object(line)["outcome"]
        return True

    def _failure(self, what: str) -> Error:
        # Its output may have ended a moment before itself.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        code = self._process.poll()
        if code is None:
            # Its earlier complaints have other causes.
            return LiveError(f"link process {what} (it still runs)")
        said = self.heard.last_complaint(1.0) or f"link process {what} (code {code})"
        said = said.removeprefix("aqmlab-link: ")
        return InputError(said) if code == BAD_CONFIGURATION else LiveError(said)


def _object(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        raise LiveError(f"the link process said {line[:80]!r}, which is no JSON") from None
    return found if isinstance(found, dict) else {}
