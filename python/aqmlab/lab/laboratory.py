"""The laboratory as a whole: a page that simulates by itself, or a session, with the server and the browser."""

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
from aqmlab.lab.server import LabServer
from aqmlab.lab.session import BUILT_IN, Session
from aqmlab.lab.simulation import BUDGET_S
from aqmlab.lab.standalone import is_built, standalone_page
from aqmlab.scenario.file import Overrides, Scenario
from aqmlab.scenario.registry import disciplines

TOKEN_BYTES = 24
NOT_BUILT = "the simulator for browsers is not built (make web)"


class Lab:
    """A laboratory that is open. Closes at the end of a ``with`` block, or by `close`.

    Attributes
    ----------
    url
        Address of the page, with its token.
    native
        Why the server simulates and not the page, or "".
    """

    def __init__(self, served: Session | str, *, port: int = 0, native: str = "") -> None:
        self.native = native
        self._session = None if isinstance(served, str) else served
        try:
            self._server = LabServer(served, token=secrets.token_urlsafe(TOKEN_BYTES), port=port)
        except OSError as error:
            self._close_session()
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
        self._close_session()

    def _close_session(self) -> None:
        if self._session is not None:
            self._session.close()

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
    budget_s: float = BUDGET_S,
) -> Lab:
    """Open the laboratory: a local page on which sliders change a scenario and its charts follow.

    The page simulates by itself, as the file of ``aqmlab lab --out``. The server simulates only scenarios that the page
    cannot simulate: see `Lab.native`.

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
    budget_s
        Longest time in s for the runs of one answer where the server simulates; longer runs are shortened in simulated
        time.

    Examples
    --------
    >>> with open_lab() as lab:
    ...     print(lab.url[:17])
    http://127.0.0.1:
    """
    native = why_native(Scenario.load(str(scenario or BUILT_IN), overrides=overrides))
    if native:
        return Lab(Session(scenario, link=link, overrides=overrides, budget_s=budget_s), port=port, native=native)
    return Lab(standalone_page(scenario, link=link, overrides=overrides), port=port)


def why_native(plan: Scenario) -> str:
    """Return why a page cannot simulate a scenario as `aqmlab lab` shows it, or "".

    >>> why_native(Scenario.load("example:applications"))
    'what applications see is measured in Python'
    """
    if plan.applications:
        return "what applications see is measured in Python"
    for one in disciplines():
        if one.foreign:
            return f"{one.name} is written in Python"
    return "" if is_built() else NOT_BUILT


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
