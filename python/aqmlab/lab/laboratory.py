"""The laboratory as a whole: page, server and browser."""

from __future__ import annotations

import errno
import os
import secrets
import sys
import threading
import webbrowser
from pathlib import Path
from types import TracebackType

from aqmlab.errors import Error, InputError
from aqmlab.lab.page import served_page
from aqmlab.lab.server import LabServer
from aqmlab.scenario.file import Overrides

TOKEN_BYTES = 24


class Lab:
    """A laboratory that is open. Closes at the end of a ``with`` block, or by `close`.

    Attributes
    ----------
    url
        Address of the page, with its token.
    """

    def __init__(self, page: str, *, port: int = 0) -> None:
        try:
            self._server = LabServer(page, token=secrets.token_urlsafe(TOKEN_BYTES), port=port)
        except OSError as error:
            raise _why(port, error) from None
        self.url = self._server.validator.url
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="lab", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until the laboratory is closed."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def close(self) -> None:
        """Close the laboratory and its server. A second call does nothing."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Lab:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_lab(
    scenario: str | Path | None = None,
    *,
    link: str | None = None,
    overrides: Overrides = (),
    port: int = 0,
) -> Lab:
    """Open the laboratory: a local page on which sliders change a scenario and its charts follow.

    Its server runs the simulations. ``aqmlab lab --out`` writes a page that simulates by itself.

    Parameters
    ----------
    scenario
        A scenario file; default: a dumbbell with RED.
    link
        The link whose queue the controls set; default: ``bottleneck``, else the busiest link that is not drop-tail.
    overrides
        Dotted keys and values that override the file's.
    port
        Port of the loopback interface; 0 takes a free one.

    Examples
    --------
    >>> with open_lab() as lab:
    ...     print(lab.url[:17])
    http://127.0.0.1:
    """
    return Lab(served_page(scenario, link=link, overrides=overrides), port=port)


def show(url: str) -> str:
    """Open a page in the browser; return why that is not possible, or ""."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return "there is no display here; open the address in a browser of this machine"
    try:
        opened = webbrowser.open(url)
    except webbrowser.Error:
        opened = False
    return "" if opened else "no browser was found; open the address in one of this machine"


def _why(port: int, error: OSError) -> Error:
    if error.errno == errno.EADDRINUSE:
        return InputError(f"--port {port}: is in use (allowed: another from 1024 to 65535, or 0 for a free one)")
    if error.errno == errno.EACCES:
        return InputError(f"--port {port}: needs root (allowed: 1024 to 65535, or 0 for a free one)")
    return Error(f"the loopback interface cannot be listened on ({error.strerror or error})")
