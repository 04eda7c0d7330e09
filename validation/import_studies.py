"""Import scripts of ns-2 and write a page: ``python validation/import_studies.py FOLDER --users OTHER``.

FOLDER is the source of ns-2 2.35 (Debian: ``apt-get source ns2``); of it, ``tcl/ex`` and ``tcl/test`` are read. A suite
of ``tcl/test`` is a script for each of its tests, which is its argument. OTHER has scripts of users: a folder
OWNER+NAME for each public repository; nothing of them is kept but numbers. Each script has a few seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

import aqmlab
import import_configurations
from aqmlab.errors import Error
from aqmlab.interop.importing import reading, recording, sandbox
from aqmlab.interop.importing.reading import import_scenario

PAGE = Path(__file__).parents[1] / "docs" / "validation" / "imports.md"
SECONDS = 15
"""How long a run of a script may take to be read."""
WIRED = re.compile(r"(?:duplex|simplex)-link\b")
OTHER = re.compile(
    r"WirelessChannel|MobileNode|node-config|satnode|Satellite|-lan\b|newLan|make-lan|Mac/|multicast|mrtproto|"
    r"Agent/SRM|hierarchical|set-address-format|MPLS|Diffusion|mobility",
    re.IGNORECASE,
)
"""Words of networks that are not wired point to point, or whose packets have several receivers."""


HEAD = """\
# Scripts of ns-2, imported

Written by `python validation/import_studies.py FOLDER --users OTHER`, where FOLDER is the source of ns-2 2.35 (Debian's
`ns2`) and OTHER has scripts of users from public repositories. Scripts are those with point-to-point links; those with
radio, satellites, shared media, multicast, MPLS or hierarchical addresses are not counted. A suite of `tcl/test` counts
once for each of its tests, a text of users once.

* *Equal*: everything that the script sets is in the scenario, or changes nothing.
* *Differences named*: `aqmlab import` rejects the script and names each line whose meaning the scenario lacks; with
  `--approximate` it imports the script.
* *Rejected*: no scenario is made.

No column counts what was lost in silence: whatever is set and no rule reads is named (`Recording.unread`). Whether what
is read is read rightly is shown by tests, by [cross-checks](crosscheck.md), and by the last table of this page.

| scripts | all | equal | differences named | rejected | in |
|---|---|---|---|---|---|"""


@dataclass(frozen=True)
class Attempt:
    """A script, and the result of its import: ``equal``, ``differences`` or ``rejected``."""

    script: str
    arguments: tuple[str, ...]
    result: str
    reasons: tuple[str, ...] = ()


def scripts(folder: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield the wired scripts with their arguments."""
    for path in sorted([*(folder / "tcl" / "ex").rglob("*.tcl"), *(folder / "tcl" / "test").glob("*.tcl")]):
        text = path.read_bytes().decode("latin-1")
        if OTHER.search(text):
            continue
        tests = re.findall(r"^Class\s+Test/(\S+)\s+-superclass", text, re.MULTILINE)
        if tests:
            for test in tests:
                yield path, (test, "QUIET")
        elif WIRED.search(text) and re.search(r"new\s+Simulator", text):
            yield path, ()


def users_scripts(folder: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield the wired scripts of users, each text once."""
    known: set[str] = set()
    for path in sorted(folder.rglob("*.tcl")):
        text = path.read_bytes().decode("latin-1")
        words = " ".join(text.split())
        if OTHER.search(text) or words in known or not (WIRED.search(text) and re.search(r"new\s+Simulator", text)):
            continue
        known.add(words)
        yield path, ()


def attempt(path: Path, arguments: Sequence[str], folder: Path) -> Attempt:
    """Import a script."""
    name = str(path.relative_to(folder))
    try:
        found = import_scenario(path, approximate=True, arguments=arguments)
    except (Error, RecursionError, MemoryError) as error:
        return Attempt(name, tuple(arguments), "rejected", (reason(str(error)),))
    kinds = tuple(dict.fromkeys(reason(one) for one in found.differences))
    return Attempt(name, tuple(arguments), "differences" if kinds else "equal", kinds)


def reason(text: str) -> str:
    """Return a message without its place and its numbers, so that like ones are counted together.

    >>> reason("a/b.tcl:12: Agent/TCP set overhead_ 0.1 is not carried over")
    'Agent/TCP set overhead_'
    """
    line = text.splitlines()[0]
    line = re.sub(r"^(?:[^:]*?\.(?:tcl|html)(?::\d+)?: )+", "", line).removesuffix(" is not carried over")
    line = re.sub(r"( set \S+) .*", r"\1", line)
    line = re.sub(r" \(allowed: .*", "", line)
    line = re.sub(r"\(lines [^)]*\)", "", line)
    line = re.sub(r"the (flow|start of) (?:flow )?\S+ ", r"the \1 ... ", line)
    return re.sub(r"(?<![\w/-])-?\d+(?:\.\d+)?(?:e-?\d+)?", "N", line).replace("|", "/").strip()


def page(attempts: Sequence[Attempt]) -> str:
    """Write the page."""
    lines = [HEAD]
    groups = {"tcl/ex": "tcl/ex/", "tcl/test": "tcl/test/", "users": "", "all": ""}
    for title, where in groups.items():
        own = [one for one in attempts if one.script.startswith(where) and (title != "users" or is_users(one))]
        count = Counter(one.result for one in own)
        inside = count["equal"] + count["differences"]
        share = f"{100 * inside / max(1, len(own)):.0f} %"
        lines.append(
            f"| {title} | {len(own)} | {count['equal']} | {count['differences']} | {count['rejected']} | {share} |"
        )
    lines += repositories([one for one in attempts if is_users(one)])
    for title, result in (("Why scripts are rejected", "rejected"), ("Named differences", "differences")):
        counted = Counter(why for one in attempts if one.result == result for why in one.reasons)
        lines += ["", f"## {title}", "", "| scripts | reason |", "|---|---|"]
        lines += [f"| {number} | `{why.replace('`', '')}` |" for why, number in counted.most_common(60)]
        if len(counted) > 60:
            lines.append(
                f"| {sum(number for _, number in counted.most_common()[60:])} | {len(counted) - 60} further reasons |"
            )
    lines += ["", "## Imported without a difference", ""]
    lines += [f"* `{shown(one)}`" for one in attempts if one.result == "equal"]
    return "\n".join(lines) + "\n" + import_configurations.section()


def is_users(one: Attempt) -> bool:
    """Return whether a script is one of users."""
    return not one.script.startswith("tcl/")


def shown(one: Attempt) -> str:
    """Return how a page names a script: one of users by repository and path, and the argument that selects its test."""
    repository, path = one.script.split("/", 1)
    script = f"{repository.replace('+', '/', 1)}: {path}" if is_users(one) else one.script
    return " ".join((script, *one.arguments[:1]))


def repositories(attempts: Sequence[Attempt]) -> list[str]:
    """Return a table of the repositories of users."""
    lines = ["", "## Scripts of users", "", "| repository | scripts | equal | differences named | rejected |"]
    lines.append("|---|---|---|---|---|")
    for name in dict.fromkeys(one.script.split("/")[0] for one in attempts):
        count = Counter(one.result for one in attempts if one.script.startswith(name + "/"))
        owner = name.replace("+", "/", 1)
        lines.append(
            f"| `{owner}` | {count.total()} | {count['equal']} | {count['differences']} | {count['rejected']} |"
        )
    return lines


def prepare() -> None:
    """Let this process read studies itself, within the limits that a process of their own would have."""
    recording.SECONDS = SECONDS
    reading.record = recording.record_here  # type: ignore[attr-defined] - the same without a process for each script
    sandbox.limit(memory_mb=2000, seconds=24 * 3600, output_mb=64)


DRIVER = """\
proc exec args {}
rename socket {}
rename open own_open
proc open {name args} {
    if {[string index $name 0] eq "|"} {
        error "no programs here"
    }
    return [eval own_open [list $name] $args]
}
rename new own_new
proc new {class args} {
    set made [eval own_new $class $args]
    if {$class eq "Simulator"} {
        $made trace-all [own_open driver.tr w]
    }
    return $made
}
set script [lindex $argv 0]
set argv [lrange $argv 1 end]
set argc [llength $argv]
source $script
"""
"""Runs a script in ns-2 with a trace of all packets, and without other programs."""
KINDS = ("tcp", "cbr", "exp", "pareto", "udp", "telnet")
NOBODY = 65534


def in_ns2(path: Path, arguments: Sequence[str]) -> tuple[int, int] | None:
    """Run a script in ns-2: data packets that arrive at their node, and packets dropped; None if nothing is traced."""
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "scripts"
        shutil.copytree(path.parent, own, symlinks=True, ignore=shutil.ignore_patterns("test-output*", "*.tr", "*.nam"))
        before = set(own.iterdir())
        (own / "driver.tcl").write_text(DRIVER)
        for one in (Path(folder), own):
            one.chmod(0o777)
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                ["ns", "driver.tcl", path.name, *arguments],
                cwd=own,
                capture_output=True,
                timeout=4 * SECONDS,
                check=False,
                user=NOBODY if os.geteuid() == 0 else None,
            )
        traces = [events(one) for one in own.iterdir() if one not in before and one.is_file() and one.suffix != ".nam"]
        rows = max(traces, key=len, default=[])
    arrived = [row for row in rows if row[0] == "r" and row[4] in KINDS]
    ends = sum(row[3] == row[9].split(".")[0] for row in arrived)
    return (ends, sum(row[0] == "d" for row in rows)) if arrived else None


def events(path: Path) -> list[list[str]]:
    """Return the packets that a trace of ns-2 says to have arrived or to be dropped."""
    rows = (line.split() for line in path.read_bytes().decode("latin-1").splitlines())
    return [row for row in rows if len(row) == 12 and row[0] in ("r", "d")]


def compared(one: Attempt, folder: Path) -> str:
    """Return the row that compares a script without a difference in ns-2 and here; "" if ns-2 traces nothing."""
    path = folder / one.script
    theirs = in_ns2(path, one.arguments)
    if theirs is None:
        return ""
    flows = aqmlab.run(import_scenario(path, arguments=one.arguments).scenario, seeds=[1]).tables["flows"]
    ours = (int(flows["arrived"].sum()), int(flows["drops"].sum()))
    script = shown(one)
    same = "yes" if ours == theirs else "no"
    return f"| `{script}` | {theirs[0]} | {ours[0]} | {theirs[1]} | {ours[1]} | {same} |"


COMPARED = """
## Scripts without a difference, run in ns-2 and here

Data packets that arrive at their receiver, and packets dropped, in one run of either; in ns-2 each script runs with a
trace of all packets and without other programs. RED and markers draw random numbers, as do the phases of TCP's clocks,
so that one run of either need not be equal. Where two events coincide, ns-2 orders them by the last digits of its
clock: one packet more or less at a full queue, or at the end. In `sackB2` packets of one flow arrive at the full queue
just as one of the other leaves; with packets of 997, 1013 or 1100 B in the second flow, where nothing coincides, both
programs give the same goodput to both flows. The other rows with a difference have not been traced to their causes one
by one.

| script | arrived, ns-2 | here | dropped, ns-2 | here | equal |
|---|---|---|---|---|---|"""


def main() -> int:
    """Import all scripts and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument("--users", type=Path, help="folder with a folder for each repository")
    parser.add_argument("--every", type=int, default=1, help="only each N-th script")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="only scripts whose name has this")
    order = parser.parse_args()
    chosen = [(path, own, order.folder) for path, own in scripts(order.folder)]
    chosen += [(path, own, order.users) for path, own in users_scripts(order.users)] if order.users else []
    chosen = [one for one in chosen if order.only in str(one[0])][:: order.every]
    with Pool(order.workers, prepare, maxtasksperchild=50) as workers:
        attempts = workers.starmap(attempt, chosen, chunksize=1)
        if not attempts:
            print(f"{order.folder}: no scripts in tcl/ex and tcl/test", file=sys.stderr)
            return 2
        order.out.write_text(page(attempts), encoding="utf-8")
        if shutil.which("ns"):
            folders = [where for _, _, where in chosen]
            equal = [pair for pair in zip(attempts, folders, strict=True) if pair[0].result == "equal"]
            rows = [row for row in workers.starmap(compared, equal, chunksize=1) if row]
            order.out.write_text(page(attempts) + "\n".join([COMPARED, *rows]) + "\n", encoding="utf-8")
    print(Counter(one.result for one in attempts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
