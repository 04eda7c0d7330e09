"""Write docs/validation/tc-lines.md: what becomes of the kernel's own test lines of tc, in and out again.

``python validation/import_tc.py``: the lines are those of tests/python/tc_cases.py; nothing is simulated.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import aqmlab
from aqmlab.errors import Error
from aqmlab.interop.importing.bottleneck import Bottleneck, text_of
from aqmlab.interop.importing.tc_words import read_tc
from aqmlab.interop.tc.queues import qdisc_of

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))

from tc_cases import ABSENT, ASSUMED, CLASSES, NAMED, REJECTED, SCHEDULERS, TOO_STRICT, WHOLE  # noqa: E402

PAGE = ROOT / "docs" / "validation" / "tc-lines.md"
HEAD = """\
# Lines of tc, in and out again

The kernel tests tc with lines of its own (Linux, `tools/testing/selftests/tc-testing/tc-tests/qdiscs`). Each line below
becomes a scenario by `aqmlab import`, and that scenario a line by `aqmlab export --to tc`. Lines follow
`tc qdisc add dev DEV handle 1: root`; a semicolon begins a further line. `python validation/import_tc.py` makes this
page from `tests/python/tc_cases.py`. `test_importing_tc.py` tests the same lines, and that an exported line is read as
the same queue.

"""
WHAT = """\
*Whole*: every word is carried over, or changes nothing. *Named*: a note with the line's number names the words that are
not, in `import`'s output and in the scenario. *Rejected*: an error with the line's number.

"""
WHY = """
Why words are not carried over:

* `any_ect`, `overflow`, `drop_enqueue` and `no_split_gso` are options that the disciplines
  here do not have.
* `memlimit` of `dualpi2` counts bytes of the kernel's memory, which packets of `dualpi2` here do not have.
* `flows` and `depth` of `sfq` bound what has one limit here, and `redflowlimit` is a RED in each of its queues.
* Two lines are rejected although Linux takes them, since CoDel here needs a target below its interval. `drr` and `gred`
  are rejected: their lines make no queue before further lines add classes or virtual queues.
* Of `tbf` and `htb` the link has the rate, of `netem` rate, delay, loss, jitter, reordering and duplication. What
  else they do to packets (corruption, slots, bursts of more than a packet, a least packet size) it does not have.
"""


@dataclass(frozen=True)
class Line:
    """Result of a line: its discipline, outcome, notes and the exported line."""

    text: str
    outcome: str
    notes: str
    back: str

    @property
    def kind(self) -> str:
        """The discipline's name in tc."""
        return self.text.split()[0].removesuffix(";")

    @property
    def exported(self) -> str:
        """The exported line as code."""
        return f"`{self.back}`" if self.back else ""


def lines() -> Iterator[tuple[str, str]]:
    """Yield the valid lines: how the page shows them, and the text that is imported."""
    for line in [*WHOLE, *NAMED, *TOO_STRICT, *SCHEDULERS, *ABSENT]:
        yield line, f"tc qdisc add dev eth0 handle 1: root {line}\n"
    for words in CLASSES:
        text = f"tc qdisc add dev eth0 handle 1: root htb\ntc class add dev eth0 parent 1: classid 1:1 htb {words}\n"
        yield f"htb; class 1:1 htb {words}", text


def read(shown: str, text: str) -> Line:
    """Import a text and export what it has become."""
    try:
        found = read_tc(text, "lines.tc")
        plan = aqmlab.Scenario.from_text(text_of(found, name="tc", description=""), filename="lines.toml")
        back = qdisc_of(plan, plan.link("bottleneck"))
    except Error as error:
        return Line(shown, "rejected", _reason(str(error)), "")
    notes = [note.partition(": ")[2] for note in unread(found)]
    return Line(shown, "named" if notes else "whole", "; ".join(notes), back.text)


def unread(found: Bottleneck) -> list[str]:
    """Return the notes that name words of a line."""
    return [note for note in found.notes if not any(part in note for part in ASSUMED)]


def _reason(text: str) -> str:
    return text.splitlines()[0].partition(": ")[2].partition(" (allowed")[0]


def page() -> str:
    """Return the page's text."""
    found = [read(shown, text) for shown, text in lines()]
    invalid = Counter(line.split()[0] for line in REJECTED)
    counts = {kind: Counter(line.outcome for line in found if line.kind == kind) for kind in _kinds(found)}
    rows = [
        f"| `{kind}` | {sum(own.values())} | {own['whole']} | {own['named']} | {own['rejected']} | {invalid[kind]} |"
        for kind, own in counts.items()
    ]
    total = Counter(line.outcome for line in found)
    sums = f"{len(found)} | {total['whole']} | {total['named']} | {total['rejected']} | {len(REJECTED)}"
    table = [
        "| discipline | valid lines | whole | named | rejected | invalid lines, all rejected |",
        "|---|---:|---:|---:|---:|---:|",
        *rows,
        f"| **all** | {sums} |",
    ]
    detail = ["| line | outcome | what is not carried over | exported |", "|---|---|---|---|"]
    detail += [f"| `{line.text}` | {line.outcome} | {line.notes} | {line.exported} |" for line in found]
    return HEAD + "\n".join(table) + "\n\n" + WHAT + "\n".join(detail) + "\n" + WHY


def _kinds(found: list[Line]) -> list[str]:
    return sorted({line.kind for line in found})


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
