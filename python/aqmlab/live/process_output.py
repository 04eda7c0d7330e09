"""The output of a process, read as it comes: a full pipe would block the process that writes into it."""

from __future__ import annotations

import io
import queue
import subprocess
import threading
import time
from contextlib import suppress
from typing import cast

CHUNK = 1 << 16
BEGINNING = 32
"""Bytes kept of an unfinished line, to identify it."""


class Heard:
    """Lines of a process on stdout, and its complaints on stderr.

    Parameters
    ----------
    process
        Both of its outputs are pipes that nothing else reads.

    Attributes
    ----------
    complaints
        Lines on stderr until now.
    at
        When it last said anything on stdout, by the monotonic clock.
    beginning
        The beginning of its unfinished line; empty between lines.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.complaints: list[str] = []
        self.at = time.monotonic()
        self.beginning = b""
        self._process = process
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read, self._read_complaints)]
        for reader in self._readers:
            reader.start()

    def line(self, longest_s: float) -> str | None:
        """Return its next line, or None if none came in that time or there are no more."""
        try:
            return self._lines.get(timeout=max(longest_s, 0.0))
        except queue.Empty:
            return None

    def rest(self, longest_s: float) -> list[str]:
        """Return the lines that are left, which may take that time to come, of a process that has ended."""
        self._readers[0].join(longest_s)
        found = []
        while not self._lines.empty():
            line = self._lines.get()
            found += [] if line is None else [line]
        return found

    def last_complaint(self, longest_s: float) -> str | None:
        """Return the last line on stderr, which may take that time to come, of a process that has ended."""
        self._readers[1].join(longest_s)
        said = [line for line in self.complaints if line]
        return said[-1] if said else None

    def _read(self) -> None:
        stream = cast(io.BufferedReader, self._process.stdout)
        begun = bytearray()
        # The end of the process closes the stream.
        with suppress(ValueError, OSError):
            while chunk := stream.read1(CHUNK):
                begun += chunk
                if b"\n" in chunk:
                    *lines, last = begun.split(b"\n")
                    for line in lines:
                        self._lines.put(line.decode(errors="replace"))
                    begun = last
                self.beginning = bytes(begun[:BEGINNING])
                self.at = time.monotonic()
        if begun:
            self._lines.put(begun.decode(errors="replace"))
        self._lines.put(None)

    def _read_complaints(self) -> None:
        with suppress(ValueError, OSError):
            for line in self._process.stderr or ():
                self.complaints.append(line.decode(errors="replace").strip())
