"""ns-2 2.35: scenarios as Tcl scripts, which the program ``ns`` runs unmodified."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from aqmlab.interop.crosscheck.tool import Measured, read_measured, run_program
from aqmlab.interop.differences import Kind, Semantic, in_service, inexpressible, unwritten
from aqmlab.interop.formatting import file_name, refused
from aqmlab.interop.model import Model
from aqmlab.interop.ns2.differences import queue_differences
from aqmlab.interop.ns2.flows import flow_differences
from aqmlab.interop.ns2.script import script

PROGRAM = "ns"
WRITTEN_FOR = "2.35"
SUFFIX = ".tcl"


class Ns2:
    """The tool ``ns2``; see `aqmlab.interop.crosscheck.tool.Tool`."""

    name = "ns2"
    title = "ns-2"
    parallel = True

    def version(self) -> str | None:
        """The version of the ``ns`` that would be run."""
        return _version(shutil.which(PROGRAM))

    def missing(self) -> str:
        """Return that ns-2 is missing or has another version; "" if it can run."""
        found = self.version()
        if found is None:
            return "ns-2 is not installed (Debian and Ubuntu: apt install ns2)"
        return "" if found == WRITTEN_FOR else f"ns-2 {found} is installed, scripts are for {WRITTEN_FOR}"

    def differences(self, model: Model) -> list[Semantic]:
        """Return the features that ns-2 lacks or implements differently."""
        return list(dict.fromkeys([*_network(model), *flow_differences(model), *_changes(model)]))

    def files(self, model: Model) -> dict[str, str]:
        """Write the script."""
        name = file_name(model, SUFFIX)
        differences = self.differences(model)
        if inexpressible(differences):
            end = ("puts stderr {not expressible in ns-2}", "exit 1")
            return {name: refused(model, self.title, differences, "#", *end)}
        return {name: script(model, differences, name)}

    def prepare(self, model: Model, folder: Path) -> None:
        """Nothing: Tcl is interpreted."""

    def run(self, model: Model, folder: Path, seed: int) -> Measured:
        """Run the script with a seed."""
        out = run_program([PROGRAM, file_name(model, SUFFIX), str(seed)], folder=folder, title=self.title, seed=seed)
        return read_measured(out, title=self.title, seed=seed)


TOOL = Ns2()


@cache
def _version(program: str | None) -> str | None:
    if program is None:
        return None
    try:
        found = subprocess.run(
            [program, "-"], input="puts [ns-version]", capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    number = re.search(r"\d+\.\d+\S*", found.stdout)
    return number.group() if number else None


def _network(model: Model) -> Iterator[Semantic]:
    for link in model.queues.values():
        yield from queue_differences(link)
    yield from unwritten(model, "ns-2")
    joined = [(link.from_, link.to) for link in model.links]
    if len(set(joined)) < len(joined):
        yield Semantic("parallel links", "ns-2 has one link from a node to another.", Kind.INEXPRESSIBLE)
    if any(link.token_bucket or link.framing for link in model.links):
        text = "A link of ns-2 has a constant rate, without token bucket and overhead of the wire."
        yield Semantic("shapers", text, Kind.INEXPRESSIBLE)
    if model.scenario.markers:
        yield Semantic("markers", "The script has no DiffServ markers.", Kind.INEXPRESSIBLE)
    marking = {link.name for link in model.links if link.parameters.get("ecn")}
    ecn = [flow for flow in model.flows if flow.is_tcp and flow.parameters.get("ecn")]
    if any(len(marking.intersection(flow.path)) > 1 for flow in ecn):
        text = "ns-2's monitor counts packets that depart with a mark; the marks of queues before it are among them."
        yield Semantic("counting of marks", text, Kind.DIFFERS)


def _changes(model: Model) -> Iterator[Semantic]:
    yield from in_service(model, "ns-2")
    changed = {change.link for change in model.changes if change.rate_bps is not None}
    if any(model.link_named[name].aqm != "drop-tail" for name in changed):
        text = "ns-2's RED keeps the packet time of the first rate for idle times when the link's rate changes."
        yield Semantic("rate of the idle rule", text, Kind.DIFFERS)
    if any(change.delay_s is not None for change in model.changes):
        text = "A shorter delay lets packets overtake those on the link in ns-2."
        yield Semantic("order after a change", text, Kind.DIFFERS)
