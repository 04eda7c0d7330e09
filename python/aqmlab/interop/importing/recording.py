"""An ns-2 study, run in an interpreter in which simulators, agents and links only record commands.

No Tcl is interpreted here: `tkinter` brings an interpreter, and the script runs in a *safe* one below it, which has no
files, programs or networks. Tcl ends the whole process when memory runs out, and does not look at its time limit inside
an expression; so the interpreter is in a process of its own with limits of memory, processor time and output
(`aqmlab.interop.importing.sandbox`). So loops, procedures and arithmetic mean what they mean. What ns-2 adds
to Tcl stands in `recorder.tcl`. Everything drawn is the same quantile of its distribution; a study is therefore run for
three of them, and what differs is drawn.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from aqmlab.errors import InputError
from aqmlab.live.processes import module_path, python_module

QUANTILES = (0.25, 0.5, 0.75)
MOST_EVENTS = 20_000
"""Events that a study may run; one that samples something every millisecond is cut."""
SECONDS = 20
"""How long a study may take to be read."""
MEMORY_MB = 512
"""Memory that a study may take while it is read."""
STARTING_S = 20.0
"""How long the process may take to start."""
OUTPUT_MB = 64
"""Length of what a study may have said in all."""


@dataclass(frozen=True)
class Recording:
    """What a study did with one quantile.

    Attributes
    ----------
    objects
        By handle: class, settings, and other recorded properties.
    links, agents
        Handles in the order in which they were made.
    connections
        Pairs of handles, the sender first.
    actions
        Time, application or agent, what, argument.
    changes
        Time, link, variable, value.
    skipped
        Commands that are not read.
    end
        When the simulation ended.
    whole
        Whether it ended by itself.
    sent
        Packets that procedures sent one by one.
    names
        Handles by the variables that hold them: index or name, and the array.
    numbers
        Global variables that hold numbers.
    """

    objects: dict[str, dict[str, Any]]
    links: list[str]
    agents: list[str]
    connections: list[tuple[str, str]]
    actions: list[tuple[float, str, str, str]]
    changes: list[tuple[float, str, str, float]]
    skipped: list[str]
    end: float
    whole: bool
    sent: int
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Recording:
        """Make one of its fields as plain data."""
        pairs = {"connections": data["connections"], "actions": data["actions"], "changes": data["changes"]}
        tuples: dict[str, Any] = {name: [tuple(row) for row in rows] for name, rows in pairs.items()}
        names = {handle: tuple(place) for handle, place in data["names"].items()}
        return cls(**{**data, **tuples, "names": names})

    def settings(self, handle: str) -> dict[str, str]:
        """Variables of an object."""
        found: dict[str, str] = self.objects[handle]["settings"]
        return found

    def kind(self, handle: str) -> str:
        """Class of an object."""
        return str(self.objects[handle]["class"])


def record(text: str, filename: str) -> list[Recording]:
    """Run a study once for each quantile, in a process of its own with limits.

    Raises
    ------
    InputError
        If it cannot be run: an error in it, words that are not read, or too much time or memory.
    """
    order = {"text": text, "filename": filename, "seconds": SECONDS, "memory_mb": MEMORY_MB, "output_mb": OUTPUT_MB}
    with tempfile.TemporaryFile() as said:
        try:
            done = subprocess.run(
                python_module("aqmlab.interop.importing.sandbox"),
                input=json.dumps(order).encode(errors="surrogatepass"),
                stdout=said,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": module_path()},
                timeout=len(QUANTILES) * SECONDS + STARTING_S,
                check=False,
            )
            code: int | None = done.returncode
        except subprocess.TimeoutExpired:
            code = None
        if code == 0:
            said.seek(0)
            answer = json.load(said)
            if "error" in answer:
                raise InputError(answer["error"])
            return [Recording.from_json(run) for run in answer["runs"]]
    if code is None or -code == signal.SIGXCPU:
        raise InputError(f"{filename}: takes longer than {SECONDS} s to be read (allowed: {SECONDS} s a run)")
    raise InputError(f"{filename}: takes more than {MEMORY_MB} MB to be read, or ends the interpreter")


def record_here(text: str, filename: str) -> list[Recording]:
    """Run a study once for each quantile, in this process.

    Raises
    ------
    InputError
        As `record`.
    """
    try:
        return [_Sandbox(filename).run(text, quantile) for quantile in QUANTILES]
    except InputError:
        raise
    except MemoryError:
        raise InputError(f"{filename}: takes more than {MEMORY_MB} MB to be read") from None
    except Exception:  # Tcl's errors, and Python's about answers of another form: a study may redefine what answers
        raise InputError(f"{filename}: cannot be read: it changes the procedures that read it (recorder::)") from None


class _Sandbox:
    """A safe interpreter with the recorder in it."""

    def __init__(self, filename: str) -> None:
        try:
            import tkinter
        except ImportError:
            raise InputError(
                f"{filename}: Tcl is read by Python's tkinter, which is not installed (Debian: apt install python3-tk)"
            ) from None
        self._error = tkinter.TclError
        self._filename = filename
        self._tcl = tkinter.Tcl()
        # Whatever Tcl answers is text.
        self._tcl.tk.wantobjects(False)
        self._tcl.eval("interp create -safe study")
        recorder = resources.files("aqmlab.interop.importing").joinpath("recorder.tcl").read_text(encoding="utf-8")
        self._call("eval", recorder)
        self._call("limit", "time", "-seconds", str(int(self._tcl.eval("clock seconds")) + SECONDS))

    def run(self, text: str, quantile: float) -> Recording:
        """Run a study and read what it did."""
        self._eval(f"set recorder::quantile {quantile}")
        try:
            self._tcl.setvar("study_text", text)
            self._tcl.eval("interp alias study recorder::text {} set study_text")
            self._eval("eval [recorder::text]")
        except self._error as problem:
            if self._eval("set recorder::ended") != "1":
                raise InputError(self._line(str(problem))) from None
        try:
            whole = self._eval(f"recorder::simulate {MOST_EVENTS}") == "1"
        except self._error as problem:
            raise InputError(f"{self._filename}: {str(problem).splitlines()[0]}") from None
        told = self._dict(self._eval("recorder::dump"))
        objects = {name: self._object(value) for name, value in self._dict(told["objects"]).items()}
        return Recording(
            objects=objects,
            links=self._list(told["links"]),
            agents=self._list(told["agents"]),
            connections=[(pair[0], pair[1]) for pair in map(self._list, self._list(told["connections"]))],
            actions=[(float(a[0]), a[1], a[2], a[3]) for a in map(self._list, self._list(told["actions"]))],
            changes=[(float(c[0]), c[1], c[2], float(c[3])) for c in map(self._list, self._list(told["changes"]))],
            skipped=self._list(told["skipped"]),
            end=float(told["end"]),
            whole=whole and bool(int(self._eval("set recorder::ended"))),
            sent=int(told["sent"]),
            names=self._names(),
            numbers=self._numbers(),
        )

    def _names(self) -> dict[str, tuple[str, str]]:
        found = self._dict(self._eval("recorder::names"))
        first = {handle: self._list(self._list(places)[0]) for handle, places in found.items()}
        return {handle: (place[0], place[1]) for handle, place in first.items()}

    def _numbers(self) -> dict[str, float]:
        found = {}
        for name in self._list(self._eval("info globals")):
            if self._eval(f"expr {{[array exists {{{name}}}] || ![info exists {{{name}}}]}}") == "1":
                continue
            try:
                found[name] = float(self._eval(f"set {{{name}}}"))
            except ValueError:
                continue
        return found

    def _object(self, text: str) -> dict[str, Any]:
        own: dict[str, Any] = dict(self._dict(text))
        own["settings"] = self._dict(str(own["settings"]))
        return own

    def _eval(self, script: str) -> str:
        return self._call("eval", script)

    def _call(self, *words: str) -> str:
        if words[0] == "limit":
            return str(self._tcl.call("interp", "limit", "study", *words[1:]))
        return str(self._tcl.call("interp", words[0], "study", *words[1:]))

    def _list(self, text: str) -> list[str]:
        return [str(word) for word in self._tcl.tk.splitlist(text)]

    def _dict(self, text: str) -> dict[str, str]:
        words = self._list(text)
        return dict(zip(words[::2], words[1::2], strict=True))

    def _line(self, problem: str) -> str:
        """Return an error with the line of the study."""
        trace = self._eval("set ::errorInfo")
        lines = re.findall(r'\("eval" body line (\d+)\)', trace)
        where = f":{lines[-1]}" if lines else ""
        return f"{self._filename}{where}: {problem.splitlines()[0]}"
