"""Import of a file of another program as a scenario; the kind of file is detected."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError, ListedError, Problem, ScenarioError, one_line
from aqmlab.interop.importing import (
    assembly,
    bottleneck,
    capture_scenario,
    cisco,
    juniper,
    recording,
    study_text,
    tc_words,
)
from aqmlab.interop.importing.capture_file import is_capture
from aqmlab.interop.importing.recording import record
from aqmlab.results.displays import OneLine
from aqmlab.scenario.file import Scenario, read_text
from aqmlab.scenario.toml_text import Value, inline
from aqmlab.scenario.traces import looks_like_trace, read_trace


@dataclass(frozen=True, repr=False)
class Imported(OneLine):
    """A scenario made of a file of another program.

    Attributes
    ----------
    text
        The scenario file.
    kind
        ``ns2``, ``tc``, ``cisco``, ``juniper``, ``capture`` or ``trace``.
    notes
        Missing parts of the original, and assumptions.
    differences
        Settings and actions of an ns-2 study that the scenario lacks, each with the line of the study.
    folder
        The folder to which names of files in the text are relative.
    """

    text: str
    kind: str
    notes: tuple[str, ...]
    differences: tuple[str, ...] = ()
    folder: Path = Path()

    @property
    def scenario(self) -> Scenario:
        """The scenario, checked."""
        return Scenario.from_text(self.text, filename=str(self.folder / "the imported scenario"))


FORMS = ("arrivals", "flows")
ROUTERS = (
    ("juniper", "Juniper Junos", juniper.looks_like_juniper, juniper.read_juniper),
    ("cisco", "Cisco", cisco.looks_like_cisco, cisco.read_cisco),
)


DUMBBELL = """format = 1
name = {name}
description = {about}

[run]
duration = "60s"
warmup = "5s"

[dumbbell]
bottleneck = {{ rate = {{ trace = {file} }}, delay = "20ms", queue = "bottleneck" }}
left = {{ rate = "1Gbps", delay = "1ms" }}
right = {{ rate = "1Gbps", delay = "1ms" }}

[queue.bottleneck]
aqm = "drop-tail"
limit = "250p"

[[flow]]
name = "tcp"
transport = "tcp"
start = {{ uniform = ["0s", "1s"] }}
"""
"""The scenario of a trace."""
LONGEST_NAME = 120
"""Bytes of a scenario's name."""
MOST_SHOWN = 30
"""Differences that an error names."""


def import_scenario(
    path: str | Path,
    *,
    form: str = "arrivals",
    approximate: bool = False,
    arguments: Sequence[str] = (),
    folder: str | Path = "",
) -> Imported:
    """Make a scenario of an ns-2 study, of a queue's configuration, of a capture, or of a trace.

    Parameters
    ----------
    path
        A Tcl script for ns-2, a text with lines of ``tc qdisc``, a configuration of Cisco IOS or Juniper Junos, a pcap
        or pcapng file, or a trace of rates.
    form
        Of a capture: ``arrivals``, its packets in the open loop, or ``flows``, its connections in the closed loop.
    approximate
        Import an ns-2 study although the scenario lacks some of its settings; `Imported.differences` names them.
    arguments
        Arguments of an ns-2 study (``argv``).
    folder
        The folder of the scenario's file, default the current one: the name of a trace in it is relative to that.

    Raises
    ------
    InputError, ScenarioError
        With one clear line, where the file has none of these formats or has something unread; with a line for each
        difference, where an ns-2 study has any and `approximate` is false.
    """
    path = Path(path)
    if form not in FORMS:
        raise InputError(f'form "{form}" is unknown (allowed: {", ".join(FORMS)})')
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", path.stem).strip("-.")[:LONGEST_NAME] or "imported"
    if is_capture(path):
        return _checked(_capture(path, name, form))
    text = _study_text(path)
    if text is not None:
        return _study(path, text, name, approximate=approximate, arguments=arguments)
    return _text(path, read_text(path), name, Path(folder))


def _study_text(path: Path) -> str | None:
    """Return the text of an ns-2 study, which may be Latin-1; None if the file is not a study."""
    try:
        if not path.is_file() or path.stat().st_size > recording.LONGEST_FILE:
            return None
        text = recording.decoded(path.read_bytes())
    except OSError:
        return None  # `read_text` reports it
    return text if re.search(r"new\s+Simulator|-superclass\s+TestSuite|^\s*Class\s+Test/", text, re.M) else None


def _study(path: Path, text: str, name: str, *, approximate: bool, arguments: Sequence[str]) -> Imported:
    runs = record(text, str(path), arguments)
    try:
        study = assembly.study_of(runs, str(path))
        about = f"Imported from the ns-2 study {one_line(path.name)}."
        made, places = study_text.text_of(study, name=name, description=about)
    except (ValueError, LookupError, TypeError, StopIteration, ArithmeticError, RecursionError):
        raise InputError(
            f"{path}: cannot be read: what it says of its links and agents does not fit together"
        ) from None
    if study.differences and not approximate:
        shown = [one_line(one) for one in study.differences[:MOST_SHOWN]]
        more = len(study.differences) - len(shown)
        shown += [f"... and {more} more"] if more else []
        head = f"{path}: the scenario would differ from the study (allowed with --approximate, approximate=True):"
        raise ListedError(head, shown)
    found = Imported(made, "ns2", tuple(study.notes), tuple(study.differences))
    try:
        if _drop_ineffective(study.queues, found.scenario):
            made, places = study_text.text_of(study, name=name, description=about)
        return _checked(replace(found, text=made))
    except ScenarioError as error:
        raise InputError(_at_study(error, path, places)) from None


def _at_study(error: ScenarioError, path: Path, places: Mapping[int, str]) -> str:
    """Return the first problem of the scenario, with the line of the study that made it."""
    problem = error.problems[0]
    before = [line for line in places if line <= problem.line]
    place = places[max(before)] if before else ""
    line = place.rpartition(":")[2]
    where = f"{path}:{line}" if line else str(path)
    return f"{where}: {_invalid(problem)}"


def _invalid(problem: Problem) -> str:
    allowed = f" (allowed: {problem.allowed})" if problem.allowed else ""
    return f"the scenario made of this is not valid: {problem.key} {problem.message}{allowed}"


def _checked(found: Imported) -> Imported:
    """Check the scenario."""
    _ = found.scenario
    return found


def _drop_ineffective(queues: Mapping[str, MutableMapping[str, Value]], plan: Scenario) -> bool:
    """Drop the keys of queues that have no effect at any of their links; return whether there was one."""
    idle: dict[str, set[str]] = {}
    for link in plan.links:
        own = set(link.without_effect) & queues.get(link.queue, {}).keys()
        idle[link.queue] = idle.get(link.queue, own) & own
    for name, keys in idle.items():
        for key in keys:
            del queues[name][key]
    return any(idle.values())


def _capture(path: Path, name: str, form: str) -> Imported:
    traffic = capture_scenario.traffic_of(path)
    if form == "flows":
        about = f"The connections of the capture {one_line(path.name)}."
        text, notes = capture_scenario.flows_text(traffic, path, name=name, description=about)
    else:
        about = f"The packets of the capture {one_line(path.name)}, in the open loop."
        text, notes = capture_scenario.arrivals_text(traffic, name=name, description=about)
    return Imported(text, "capture", tuple(notes))


def _text(path: Path, text: str, name: str, folder: Path) -> Imported:
    """Import lines of tc, or a router's configuration."""
    if looks_like_trace(text):
        return _trace(path, name, folder)
    if tc_words.looks_like_tc(text):
        about = f"Imported from the lines of tc in {one_line(path.name)}."
        return _link(path, "tc", tc_words.read_tc(text, str(path)), name, about, "lines of tc")
    for kind, title, looks, read in ROUTERS:
        if looks(text):
            about = f"Imported from the configuration of {title} in {one_line(path.name)}."
            return _link(path, kind, read(text, str(path)), name, about, "the configuration")
    if uci := re.search(r"^\s*config\s+queue\b", text, flags=re.MULTILINE):
        line = text.count("\n", 0, uci.start()) + 1
        raise InputError(
            f"{path}:{line}: settings of OpenWrt's SQM are not read; import what `tc qdisc show dev DEV` and "
            "`tc class show dev DEV` print on the router"
        )
    if not text.strip():
        raise InputError(f"{path}: is empty")
    if re.match(r'\s*\[\s*\{\s*"(kind|class)"', text):
        raise InputError(
            f"{path}: JSON of tc is not read; import what `tc -d qdisc show dev DEV` and `tc class show dev DEV` print "
            "without -j"
        )
    raise InputError(
        f'{path}: is neither an ns-2 study ("new Simulator") nor a capture, nor has it lines of "tc qdisc", '
        '"random-detect" or "policy-map" (Cisco), "drop-profiles" or "schedulers" in class-of-service (Junos)'
    )


def _trace(path: Path, name: str, folder: Path) -> Imported:
    """Return a dumbbell whose bottleneck follows a trace."""
    trace = read_trace(path)
    file = path.as_posix() if path.is_absolute() else Path(os.path.relpath(path, folder)).as_posix()
    found: dict[str, Any] = {
        "name": name,
        "file": file if "." in file or "/" in file else f"./{file}",
        "about": f"A trace: mean {trace.mean_bps / 1e6:.4g} Mbit/s, period {trace.period_s:g} s.",
    }
    note = f"the trace is read from {found['file']}, relative to the scenario's folder"
    text = DUMBBELL.format_map({key: inline(value) for key, value in found.items()})
    return _checked(Imported(text, "trace", (note,), folder=folder))


def _link(path: Path, kind: str, found: bottleneck.Bottleneck, name: str, about: str, source: str) -> Imported:
    """Return the checked scenario of one link's queue; an error names the line of the file that made the queue."""
    ecn = found.has_ecn  # its key has no effect where a discipline always marks

    def made() -> Imported:
        text = bottleneck.text_of(found, name=name, description=about, source=source, ecn=ecn)
        return Imported(text, kind, tuple(found.notes))

    try:
        _drop_ineffective(found.queues, made().scenario)
        return _checked(made())
    except ScenarioError as error:
        problem = error.problems[0]
        queue = next((each for each in found.lines if problem.key.startswith(f"queue.{each}.")), bottleneck.BOTTLENECK)
        where = f"{path}:{found.lines[queue]}" if queue in found.lines else str(path)
        raise InputError(f"{where}: {_invalid(problem)}") from None
