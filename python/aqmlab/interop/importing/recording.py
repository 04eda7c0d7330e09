"""An ns-2 study, run in an interpreter in which simulators, agents and links only record commands.

No Tcl is interpreted here: `tkinter` brings an interpreter, and the script runs in a *safe* one below it, which has no
files, programs or networks. Tcl ends the whole process when memory runs out, and does not look at its time limit inside
an expression; so the interpreter is in a process of its own with limits of memory, processor time and output
(`aqmlab.interop.importing.sandbox`). So loops, procedures and arithmetic mean what they mean. What ns-2 adds
to Tcl stands in `recorder.tcl`. Everything drawn is the same quantile of its distribution; a study is therefore run for
three of them, and what differs is drawn.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from aqmlab.errors import InputError
from aqmlab.interop.ns2.quantities import bits, seconds
from aqmlab.live.processes import module_path, python_module

QUANTILES = (0.25, 0.5, 0.75)
MIXED = "mixed"
"""In place of a quantile: some draws are the lowest, others the highest of `QUANTILES`."""
OTHER_STATE = "7"
"""Value of the simulation's variables in the last run, in place of 1."""
MOST_EVENTS = 200_000
"""Events that a study may run; one that samples something every millisecond is cut."""
SECONDS = 20
"""How long a study may take to be read."""
MEMORY_MB = 512
"""Memory that a study may take while it is read."""
STARTING_S = 20.0
"""How long the process may take to start."""
OUTPUT_MB = 64
"""Most output of a study, in MB."""
LONGEST_FILE = 2_000_000
"""Bytes of a file that a study may read with ``source``."""


class Settings(dict[str, str]):
    """Variables of an object, which remember what was read of them.

    A variable that a study sets, that has another value than ns-2's default, and that nothing reads, is a difference.

    >>> own = Settings({"window_": "8", "maxcwnd_": "5"}, {})
    >>> own["window_"], own.read
    ('8', {'window_'})
    """

    def __init__(self, own: Mapping[str, str], defaults: Mapping[str, str]) -> None:
        super().__init__({**defaults, **own})
        self.read: set[str] = set()

    def __getitem__(self, variable: str) -> str:
        """Return a value, and remember that it was read."""
        self.read.add(variable)
        return super().__getitem__(variable)

    def get(self, variable: str, default: Any = None) -> Any:  # noqa: ANN401 - as of a dictionary
        """Return a value or the default, and remember that it was read."""
        self.read.add(variable)
        return super().get(variable, default)

    def without_effect(self, *variables: str) -> None:
        """Note variables that mean nothing beside the values of others."""
        self.read.update(variables)


class Action(NamedTuple):
    """A command to an application or agent, at a time in s; `place` is the line of the study."""

    at: float
    handle: str
    what: str
    argument: str
    place: str


class Change(NamedTuple):
    """A variable of a link that is set, at a time in s."""

    at: float
    link: str
    variable: str
    value: float
    place: str


@dataclass(frozen=True)
class Recording:
    """Record of one run of a study, with one quantile.

    Attributes
    ----------
    objects
        By handle: class, settings, their places, and other recorded properties.
    links, agents
        Handles in the order in which they were made.
    connections
        Pairs of handles, the sender first.
    actions, changes
        In order of time.
    skipped
        Commands that are not read: line of the study, and what.
    end
        When the simulation ended.
    whole
        Whether it ended by itself.
    draws, draw_places
        How many numbers were drawn, and lines where.
    state_places
        Lines that read variables of the simulation.
    names
        Handles by the variables that hold them: index or name, and the array.
    numbers
        Global variables that hold numbers.
    """

    objects: dict[str, dict[str, Any]]
    links: list[str]
    agents: list[str]
    connections: list[tuple[str, str]]
    actions: list[Action]
    changes: list[Change]
    skipped: list[tuple[str, str]]
    end: float
    whole: bool
    draws: int = 0
    draw_places: list[str] = field(default_factory=list)
    state_places: list[str] = field(default_factory=list)
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    _settings: dict[str, Settings] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Recording:
        """Make one of its fields as plain data."""
        own = {key: value for key, value in data.items() if not key.startswith("_")}
        own["connections"] = [(pair[0], pair[1]) for pair in data["connections"]]
        own["skipped"] = [(pair[0], pair[1]) for pair in data["skipped"]]
        own["actions"] = [Action(*row) for row in data["actions"]]
        own["changes"] = [Change(*row) for row in data["changes"]]
        own["names"] = {handle: tuple(place) for handle, place in data["names"].items()}
        return cls(**own)

    def settings(self, handle: str) -> Settings:
        """Variables of an object: those that the study sets, else ns-2's defaults."""
        if handle not in self._settings:
            own = self.objects[handle]
            self._settings[handle] = Settings(own["settings"], defaults_of(str(own["class"])))
        return self._settings[handle]

    def kind(self, handle: str) -> str:
        """Class of an object."""
        return str(self.objects[handle]["class"])

    def place(self, handle: str) -> str:
        """Line of the study that made an object."""
        return str(self.objects[handle].get("where", ""))

    def unread(self, used: Container[str]) -> list[tuple[str, str, str, str]]:
        """Return settings of the study that nothing read: line, class, variable, value.

        Of agents, applications and queues, those in `used` count: others send nothing and hold no packet.

        A value that is ns-2's default counts only if it has another meaning; a variable that neither ns-2's classes nor
        the procedures of its library have is the study's own.
        """
        found = []
        for handle, own in self.objects.items():
            kind, read = str(own["class"]), self.settings(handle).read
            usual = defaults_of(kind)
            if kind.startswith(("Agent", "Application", "Source", "Traffic", "Queue/")) and handle not in used:
                continue
            for variable, (place, in_library) in own["places"].items():
                known = variable in usual or in_library == "1"
                if not known or variable in read or has_no_effect(kind, variable):
                    continue
                value = str(own["settings"].get(variable, ""))
                if variable in usual and _same(value, usual[variable]):
                    continue
                found.append((str(place), kind, variable, value))
        return found


@cache
def default_table() -> dict[str, tuple[tuple[str, ...], dict[str, str]]]:
    """Return ns-2's classes: those above, and its variables with their values (``ns2_defaults.txt``)."""
    tcl = _interpreter()
    found = {}
    for line in _resource("ns2_defaults.txt").splitlines():
        if line and not line.startswith("#"):
            name, above, values, _ = (str(word) for word in tcl.splitlist(line))
            words = [str(word) for word in tcl.splitlist(values)]
            pairs = dict(zip(words[::2], words[1::2], strict=True))
            found[name] = (tuple(str(word) for word in tcl.splitlist(above)), pairs)
    found["Delay"] = (("DelayLink",), {})
    found["Monitor"] = (("SplitObject",), {})
    return found


@cache
def defaults_of(kind: str) -> dict[str, str]:
    """Return all variables of a class of ns-2, with the values that ns-2 gives them."""
    above, own = default_table().get(kind, ((), {}))
    found: dict[str, str] = {}
    for name in reversed(above):
        found |= defaults_of(name)
    return found | own


NO_EFFECT = (
    ("*", "debug_", "prints"),
    ("*", "trace_all_oneline_", "a format of traces"),
    ("*", "nam_tracevar_", "traces"),
    ("*", "namTrace_", "traces"),
    ("Agent*", "class_", "a colour of nam"),
    ("Agent*", "fid_", "a label; where a queue keeps flows apart, by addresses"),
    ("Agent*", "flags_", "is not read by any queue or TCP"),
    ("Agent*", "prio_", "is read only by priority queues, which are not imported"),
    ("Agent*", "agent_addr_", "set by attach-agent"),
    ("Agent*", "agent_port_", "set by attach-agent"),
    ("Agent*", "dst_addr_", "set by connect"),
    ("Agent*", "dst_port_", "set by connect"),
    ("Agent/TCP*", "updated_rttvar_", "no class of ns-2 reads it"),
    ("Agent/TCP*", "ssthresh_", "is set to window_ when the simulation begins (TcpAgent::reset)"),
    ("Agent/TCP*", "cwnd_", "is set to the initial window when the simulation begins (TcpAgent::reset)"),
    ("Agent/TCPSink", "SYN_immediate_ack_", "is read only by sinks that delay (DelAckSink::recv)"),
    ("Agent/TCPSink/Sack1", "SYN_immediate_ack_", "is read only by sinks that delay (DelAckSink::recv)"),
    ("Agent/TCP*", "print_request_", "prints"),
    ("Agent/Null", "*", "takes packets"),
    ("Agent/LossMonitor", "*", "counts packets"),
    ("Queue*", "curq_", "state"),
    ("Queue*", "ave_", "state"),
    ("Queue*", "util_*", "a measure of utilization that only shows"),
    ("Queue/RED", "summarystats_", "statistics"),
    ("Queue/RED", "idle_pktsize_", "read only with ns1_compat_"),
    ("Node", "id_", "a number"),
    ("Node", "X_", "a place in a drawing"),
    ("Node", "Y_", "a place in a drawing"),
    ("Node", "Z_", "a place in a drawing"),
    ("Monitor", "*", "observes"),
    ("QueueMonitor*", "*", "observes"),
    ("Samples", "*", "observes"),
    ("Integrator", "*", "observes"),
    ("SnoopQueue*", "*", "observes"),
    ("Trace*", "*", "observes"),
    ("RNG", "*", "numbers are drawn from distributions here"),
    ("RandomVariable*", "*", "read where a number is drawn"),
    ("ErrorModel*", "*", "read where it is put into a link"),
    ("Simulator", "*", "state of the library"),
    ("Classifier*", "*", "made by the library"),
    ("Topology*", "*", "study's own"),
)
"""Variables that change nothing that happens in a wired network: class, variable, reason."""


@cache
def has_no_effect(kind: str, variable: str) -> bool:
    """Return whether a variable is one of those that change nothing that happens."""
    return any(fnmatchcase(kind, one) and fnmatchcase(variable, name) for one, name, _ in NO_EFFECT)


def _same(one: str, other: str) -> bool:
    """Return whether two values of Tcl mean the same to ns-2."""
    words = {"true": "1", "false": "0", "yes": "1", "no": "0", "on": "1", "off": "0"}
    first, second = (words.get(text.strip().lower(), text.strip()) for text in (one, other))
    for read in (float, seconds, bits):
        with suppress(ValueError):
            return read(first) == read(second)
    return first == second


def _resource(name: str) -> str:
    return resources.files("aqmlab.interop.importing").joinpath(name).read_text(encoding="utf-8")


@cache
def _interpreter() -> Any:  # noqa: ANN401 - tkinter's interpreter has no type
    import tkinter

    return tkinter.Tcl().tk


def record(text: str, filename: str, arguments: Sequence[str] = ()) -> list[Recording]:
    """Run a study once for each quantile and twice more (see `record_here`), in a process of its own with limits.

    Raises
    ------
    InputError
        If it cannot be run: an error in it, words that are not read, or too much time or memory; or if the system has
        no limits of processes (Windows).
    """
    if importlib.util.find_spec("resource") is None:
        raise InputError(f"{filename}: a study of ns-2 is run with limits of time and memory, which Windows lacks")
    order: dict[str, Any] = {"text": text, "filename": filename, "arguments": list(arguments)}
    order |= {"seconds": SECONDS, "processor_seconds": RUNS * SECONDS, "memory_mb": MEMORY_MB, "output_mb": OUTPUT_MB}
    # Its temporary files lie in a folder of this process, which removes them whatever ends the other.
    with tempfile.TemporaryDirectory(prefix="aqmlab-import-") as folder, tempfile.TemporaryFile() as said:
        try:
            done = subprocess.run(
                python_module("aqmlab.interop.importing.sandbox"),
                input=json.dumps(order).encode(errors="surrogatepass"),
                stdout=said,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": module_path(), "TMPDIR": folder},
                timeout=RUNS * SECONDS + STARTING_S,
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


RUNS = len(QUANTILES) + 2


def record_here(text: str, filename: str, arguments: Sequence[str] = ()) -> list[Recording]:
    """Run a study in this process: once for each quantile, once with mixed ones, once with another state read.

    Raises
    ------
    InputError
        As `record`.
    """

    def run(quantile: float | str, state: str = "1") -> Recording:
        return _Sandbox(filename, arguments).run(text, quantile, state)

    try:
        middle = run(QUANTILES[1])
        drawn = [run(quantile) if middle.draws else middle for quantile in (QUANTILES[0], QUANTILES[2], MIXED)]
        try:
            other = run(QUANTILES[1], OTHER_STATE)
        except InputError:
            other = replace(middle, end=-1.0)
        return [drawn[0], middle, drawn[1], drawn[2], other]
    except InputError:
        raise
    except MemoryError:
        raise InputError(f"{filename}: takes more than {MEMORY_MB} MB to be read") from None
    except Exception:  # Tcl's errors, and Python's about answers of another form: a study may redefine what answers
        raise InputError(f"{filename}: cannot be read: it changes the procedures that read it (recorder::)") from None


class _Sandbox:
    """A safe interpreter with the recorder in it."""

    def __init__(self, filename: str, arguments: Sequence[str] = ()) -> None:
        try:
            import tkinter
        except ImportError:
            raise InputError(
                f"{filename}: Tcl is read by Python's tkinter, which is not installed (Debian: apt install python3-tk)"
            ) from None
        self._error = tkinter.TclError
        self._filename = filename
        self._arguments = tuple(arguments)
        self._read = 0
        self._tcl = tkinter.Tcl()
        # Whatever Tcl answers is text.
        self._tcl.tk.wantobjects(False)
        self._tcl.eval("interp create -safe study")
        self._call("eval", _resource("recorder.tcl"))
        self._tcl.setvar("defaults", _resource("ns2_defaults.txt"))
        self._tcl.eval("interp eval study [list recorder::take_defaults $defaults]")
        self._tcl.createcommand("prepare_file", self._prepare)
        self._tcl.eval("interp alias study recorder::prepare_file {} prepare_file")
        # The study names a file by its number, never by a path.
        self._tcl.eval("proc load_file {n} {interp invokehidden study source -encoding utf-8 $::study_files($n)}")
        self._tcl.eval("interp alias study recorder::load_file {} load_file")
        self._eval("set defaultRNG [new RNG]")
        self._eval("set argv0 ns; set env(HOME) .")
        self._tcl.eval("interp eval study [list set argc " + str(len(self._arguments)) + "]")
        self._tcl.setvar("arguments", str(self._tcl.tk.call("list", *self._arguments)))
        self._tcl.eval("interp eval study [list set argv $arguments]")
        self._call("limit", "time", "-seconds", str(int(self._tcl.eval("clock seconds")) + SECONDS))

    def run(self, text: str, quantile: float | str, state: str) -> Recording:
        """Run a study and read what it did."""
        self._eval(f"set recorder::quantile {quantile}")
        self._eval(f"set recorder::reading {state}")
        with tempfile.TemporaryDirectory() as folder:
            self._folder = Path(folder)
            try:
                self._tcl.call("load_file", self._add_file(text, Path(self._filename).name))
            except self._error as problem:
                if self._eval("set recorder::ended") != "1":
                    raise InputError(self._line(str(problem))) from None
            try:
                return self._result()
            finally:
                # The command holds this object, which holds the interpreter.
                self._tcl.tk.deletecommand("prepare_file")

    def _result(self) -> Recording:
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
            actions=[Action(float(a[0]), a[1], a[2], a[3], a[4]) for a in map(self._list, self._list(told["actions"]))],
            changes=[
                Change(float(c[0]), c[1], c[2], float(c[3]), c[4]) for c in map(self._list, self._list(told["changes"]))
            ],
            skipped=[(pair[0], pair[1]) for pair in map(self._list, self._list(told["skipped"]))],
            end=float(told["end"]),
            whole=whole and bool(int(self._eval("set recorder::ended"))),
            draws=int(told["draws"]),
            draw_places=self._list(told["draw_places"]),
            state_places=self._list(told["state_places"]),
            names=self._names(),
            numbers=self._numbers(),
        )

    def _add_file(self, text: str, shown: str) -> str:
        """Write a text as a file, so that Tcl knows its lines, and return its number."""
        self._read += 1
        path = self._folder / f"{self._read}.tcl"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        self._tcl.setvar(f"::study_files({self._read})", str(path))
        self._tcl.setvar("::study_name", shown)
        self._tcl.eval(f"interp eval study [list dict set recorder::files $::study_files({self._read}) $::study_name]")
        return str(self._read)

    def _prepare(self, name: str) -> str:
        """Return the number of another file of the study's folder, or the reason why it is not read."""
        folder = Path(self._filename).resolve().parent
        try:
            path = (folder / name).resolve()
            if not path.is_relative_to(folder):
                return "only files of the study's folder are read"
            if not path.is_file() or path.stat().st_size > LONGEST_FILE:
                return "there is no such file in the study's folder"
            return self._add_file(decoded(path.read_bytes()), name)
        except (OSError, ValueError, RuntimeError) as problem:
            return f"cannot be read ({type(problem).__name__})"

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
        own["places"] = {name: self._list(pair) for name, pair in self._dict(str(own["places"])).items()}
        if "diffserv" in own:
            own["diffserv"] = [self._list(words) for words in self._list(str(own["diffserv"]))]
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
        """Return an error with its line of the study."""
        failed = self._list(self._eval("set recorder::failed"))
        if failed[0] == problem and failed[1]:
            where = failed[1]
        else:
            lines = re.findall(r'\(file "([^"]*)" line (\d+)\)', self._eval("set ::errorInfo"))
            files = self._dict(self._eval("set recorder::files"))
            where = f"{files.get(lines[0][0], '')}:{lines[0][1]}" if lines else ""
        file, _, line = where.rpartition(":")
        own = Path(self._filename)
        name = str(own if file in ("", own.name) else own.parent / file)
        first = (problem.splitlines() or [""])[0] or "an error without a message"
        return f"{name}:{line}: {first}" if line else f"{name}: {first}"


def decoded(data: bytes) -> str:
    r"""Return the text of a study: UTF-8, else Latin-1, which ns-2 reads too.

    >>> decoded(b"caf\xc3\xa9") == decoded(b"caf\xe9")
    True
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
