"""Import the scripts of ns-2 and write a page about it: ``python validation/import_studies.py FOLDER``.

FOLDER is the source of ns-2 2.35 (Debian: ``apt-get source ns2``); of it, ``tcl/ex`` and ``tcl/test`` are read. A suite
of ``tcl/test`` is a script for each of its tests, which is its argument. Each script has a few seconds.
"""

from __future__ import annotations

import argparse
import contextlib
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
from aqmlab.errors import Error
from aqmlab.interop.importing import import_scenario, reading, recording, sandbox

PAGE = Path(__file__).parents[1] / "docs" / "validation" / "imports.md"
SECONDS = 5
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

Written by `python validation/import_studies.py FOLDER`, where FOLDER is the source of ns-2 2.35 (Debian's `ns2`).
Scripts are those of `tcl/ex` and `tcl/test` with point-to-point links; those with radio, satellites, shared media,
multicast, MPLS or hierarchical addresses are not counted. A suite of `tcl/test` counts once for each of its tests.

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
    """A script, and what the import made of it: ``equal``, ``differences`` or ``rejected``."""

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
    line = re.sub(r"^(?:\S*?\.(?:tcl|html)(?::\d+)?: )+", "", line).removesuffix(" is not carried over")
    line = re.sub(r"( set \S+) .*", r"\1", line)
    line = re.sub(r" \(allowed: .*", "", line)
    line = re.sub(r"\(lines [^)]*\)", "", line)
    line = re.sub(r"the (flow|start of) (?:flow )?\S+ ", r"the \1 ... ", line)
    return re.sub(r"(?<![\w/-])-?\d+(?:\.\d+)?(?:e-?\d+)?", "N", line).replace("|", "/").strip()


def page(attempts: Sequence[Attempt]) -> str:
    """Write the page."""
    lines = [HEAD]
    for title, where in (("tcl/ex", "tcl/ex"), ("tcl/test", "tcl/test"), ("both", "tcl/")):
        own = [one for one in attempts if one.script.startswith(where)]
        count = Counter(one.result for one in own)
        inside = count["equal"] + count["differences"]
        share = f"{100 * inside / max(1, len(own)):.0f} %"
        lines.append(
            f"| {title} | {len(own)} | {count['equal']} | {count['differences']} | {count['rejected']} | {share} |"
        )
    for title, result in (("Why scripts are rejected", "rejected"), ("Named differences", "differences")):
        counted = Counter(why for one in attempts if one.result == result for why in one.reasons)
        lines += ["", f"## {title}", "", "| scripts | reason |", "|---|---|"]
        lines += [f"| {number} | `{why.replace('`', '')}` |" for why, number in counted.most_common(60)]
        if len(counted) > 60:
            lines.append(
                f"| {sum(number for _, number in counted.most_common()[60:])} | {len(counted) - 60} further reasons |"
            )
    lines += ["", "## Imported without a difference", ""]
    lines += [f"* `{' '.join((one.script, *one.arguments[:1]))}`" for one in attempts if one.result == "equal"]
    return "\n".join(lines) + "\n"


def prepare() -> None:
    """Let this process read studies itself, within the limits that a process of their own would have."""
    recording.SECONDS = SECONDS
    reading.record = recording.record_here  # type: ignore[attr-defined] - the same without a process for each script
    sandbox.limit(memory_mb=2000, seconds=24 * 3600, output_mb=64)


def in_ns2(path: Path, arguments: Sequence[str]) -> tuple[int, int] | None:
    """Run a script in ns-2: data packets that arrive at their node, and packets dropped; None if it writes no trace."""
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "scripts"
        shutil.copytree(path.parent, own, symlinks=True, ignore=shutil.ignore_patterns("test-output*"))
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                ["ns", path.name, *arguments], cwd=own, capture_output=True, timeout=4 * SECONDS, check=False
            )
        for name in ("all.tr", "out.tr", "callback_demo.tr"):
            if (own / name).is_file() and (text := (own / name).read_text()):
                rows = [row for row in map(str.split, text.splitlines()) if len(row) > 10 and row[0] in "rd"]
                arrived = [row for row in rows if row[0] == "r" and row[4] in ("tcp", "cbr")]
                ends = sum(row[3] == row[9].split(".")[0] for row in arrived)
                return ends, sum(row[0] == "d" for row in rows)
    return None


def compared(attempts: Sequence[Attempt], folder: Path) -> list[str]:
    """Return rows that compare the scripts without a difference in ns-2 and here."""
    rows = []
    for one in attempts:
        theirs = in_ns2(folder / one.script, one.arguments) if one.result == "equal" else None
        if theirs is None:
            continue
        scenario = import_scenario(folder / one.script, arguments=one.arguments).scenario
        flows = aqmlab.run(scenario, seeds=[1]).tables["flows"]
        ours = (int(flows["arrived"].sum()), int(flows["drops"].sum()))
        script = " ".join((one.script, *one.arguments[:1]))
        same = "yes" if ours == theirs else "no"
        rows.append(f"| `{script}` | {theirs[0]} | {ours[0]} | {theirs[1]} | {ours[1]} | {same} |")
    return rows


COMPARED = """
## Scripts without a difference, run in ns-2 and here

Data packets that arrive at their receiver, and packets dropped, in one run of either. RED draws random numbers
in `tcpecn.tcl` and `test-suite-friendly.tcl`, so one run of them need not be equal. The trace of `example.tcl` has
one of its two flows. In `sackB2` packets of one flow arrive at the full queue just as one of the other leaves, which
ns-2 orders by the last digits of its clock: with packets of 997, 1013 or 1100 B in the second flow, where nothing
coincides, both programs give the same goodput to both flows.

| script | arrived, ns-2 | here | dropped, ns-2 | here | equal |
|---|---|---|---|---|---|"""


def main() -> int:
    """Import all scripts and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument("--every", type=int, default=1, help="only each N-th script")
    order = parser.parse_args()
    chosen = list(scripts(order.folder))[:: order.every]
    with Pool(2, prepare, maxtasksperchild=50) as workers:
        attempts = workers.starmap(attempt, [(path, own, order.folder) for path, own in chosen], chunksize=1)
    if not attempts:
        print(f"{order.folder}: no scripts in tcl/ex and tcl/test", file=sys.stderr)
        return 2
    text = page(attempts)
    if shutil.which("ns"):
        text += "\n".join([COMPARED, *compared(attempts, order.folder)]) + "\n"
    order.out.write_text(text, encoding="utf-8")
    print(Counter(one.result for one in attempts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
