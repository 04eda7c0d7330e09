"""Every snapshot as it came, a line of JSON each, into a file or on stdout."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from aqmlab.errors import StorageError
from aqmlab.live.telemetry.view import Line
from aqmlab.results import folders


class JsonLines:
    """Writes whole lines, so that a program that follows the file never reads half of one for long."""

    def __init__(self, out: TextIO, *, path: Path | None = None) -> None:
        self._path = path
        try:
            self._out = out if path is None else path.open("w", encoding="utf-8", buffering=1)
        except OSError as error:
            raise StorageError(folders.explain(path or Path("stdout"), error)) from None

    def show(self, line: Line) -> None:
        """Write a line."""
        self._out.write(f"{line.text}\n")
        if self._path is None:
            self._out.flush()

    def close(self) -> None:
        """Close the file."""
        if self._path is not None:
            self._out.close()
