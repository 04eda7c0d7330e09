#!/usr/bin/env python3
"""Readings of PC-RED's and MRED's papers tried jointly, scored on some printed rows and judged on the others.

joint_readings.py [DIR]    keeps every run's numbers in DIR, and does not repeat those that DIR has

`joint_readings.toml` lists the axes, the rows that choose a candidate and the rows that judge it. Writes
``docs/validation/joint-readings.md`` and the scores of all candidates, ``joint-readings.csv``, beside it. About twenty
minutes on one core.
"""

from __future__ import annotations

import csv
import itertools
import math
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab.papers.mred.plan import FILES as MRED
from aqmlab.papers.pc_red.plan import CASES, COARSE, FILES, OF_PROTECTION, UNPROTECTED
from aqmlab.papers.pc_red.tables import KEYS, TABLES, Row
from aqmlab.scenario.toml_text import Value
from aqmlab.statistics import student_quantile

sys.path.insert(0, str(Path(__file__).parent))
from joint_runs import Numbers, Runs, network2

TITLE = "Joint readings, judged on rows held out of their choice"
DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
REPORT = Path(__file__).resolve().parents[1] / "docs" / "validation" / "joint-readings.md"
BINS = [float(width) for width in DATA["measure"]["bins_s"]]
ADDED = float(DATA["measure"]["added_throughput"])
SHOWN = 10
"""How many of the best candidates the page lists."""
ABOUT_W = "w = 3e-3"
"""The row of Table III that is run with the w of Table II's text."""
PRINTED_A_D, NEAR = 130, 0.15
"""a_d of Table IV's row 30 % Non, and how near to it a reading must come."""
MRED_S = 50
"""How long MRED's runs are."""
MANY = 40
"""From so many values on, the interval of one more is given by quantiles, below by Student's distribution."""


@dataclass(frozen=True)
class Candidate:
    """One reading of everything: axis to the name of its value, and the width of the bins in s."""

    network: str
    values: Mapping[str, str]
    width: float

    @property
    def label(self) -> str:
        """Its values that differ from the first ones."""
        first = first_values(self.network)
        other = [f"{axis}: {value}" for axis, value in self.values.items() if value != first[axis]]
        return ", ".join(other) or "the first value of every axis"


@dataclass(frozen=True)
class Cell:
    """A printed number beside what one candidate gives: a value for each run and observed flow."""

    table: str
    row: str
    quantity: str
    printed: float
    measured: Sequence[float]

    @property
    def mean(self) -> float:
        """The mean over all runs and flows."""
        return float(np.mean(self.measured))

    @property
    def error(self) -> float:
        """log(measured / printed), with `ADDED` on both sides of a throughput."""
        added = ADDED if self.quantity in ("min", "max") else 0.0
        return math.log((self.mean + added) / (self.printed + added))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % prediction interval of one more flow in one more run."""
        values = np.asarray(self.measured)
        if len(values) >= MANY:
            low, high = np.quantile(values, [0.025, 0.975])
            return float(low), float(high)
        n = len(values)
        half = student_quantile(0.975, n - 1) * float(values.std(ddof=1)) * math.sqrt(1 + 1 / n)
        return self.mean - half, self.mean + half

    @property
    def inside(self) -> bool:
        """Whether the printed number lies in the interval."""
        low, high = self.interval
        return low <= self.printed <= high


@cache
def axes(network: str) -> dict[str, dict[str, Any]]:
    """Return axis to name to value; the first of each is the reading before the search."""
    own = DATA[network]
    found = {"topology": {t["name"]: t for t in own["topology"]}} if "topology" in own else {}
    return found | {axis["name"]: axis["values"] for axis in own["axis"]}


def first_values(network: str) -> dict[str, str]:
    """Return the first value of each axis."""
    return {name: next(iter(values)) for name, values in axes(network).items()}


def candidates(network: str) -> list[Candidate]:
    """Return the candidates of all grids, each once with every width of the bins."""
    first, found = first_values(network), {}
    for grid in DATA[network]["grid"]:
        for chosen in itertools.product(*grid.values()):
            values = first | dict(zip(grid, chosen, strict=True))
            for width in BINS:
                found[width, *values.values()] = Candidate(network, values, width)
    return list(found.values())


def rows(network: str, part: str) -> list[tuple[str, Row]]:
    """Return the rows of a part, ``fitted`` or ``held_out``, with the number of their table."""
    found = []
    for number, name in DATA[network][part]["rows"]:
        own = [row for row in TABLES[number][1] if row.published == name]
        found.append((number, own[-1] if name == ABOUT_W else own[0]))
    return found


def columns(number: str, row: Row) -> Iterator[tuple[str, str, float]]:
    """Yield the cells of a row: the paper's column, the quantity measured, and the printed number; no averages."""
    keys = {name: key.format(row.group) for name, key in KEYS.items() if name != "average"} | {
        "min": "min",
        "max": "max",
    }
    for quantity, cell in row.printed(number).items():
        if quantity in keys and not math.isnan(cell.value):
            yield quantity, keys[quantity], cell.value


def cells(runs: Runs, one: Candidate, part: str, *, judged: bool) -> list[Cell]:
    """Return the cells of a part; with `judged`, over the longer or more runs."""
    own, found = DATA[one.network], []
    for number, row in rows(one.network, part):
        duration, seeds = own["duration"], own["seeds"]
        if judged:
            single = one.network == "network2" and "w = " in row.case
            duration = own.get("judged_duration", duration)
            seeds = own["single_seeds" if single else "judged_seeds"]
        made = [numbers(runs, one, row.case, duration, seed) for seed in range(1, seeds + 1)]
        for quantity, key, printed in columns(number, row):
            name = f"{row.group}_{key}_{one.width:g}" if key in ("min", "max") else key
            measured = [value for run in made for value in run[name]]
            found.append(Cell(number, row.published, quantity, printed, measured))
    return found


def numbers(
    runs: Runs, one: Candidate, case: str, duration: str, seed: int, own: Mapping[str, Value] | None = None
) -> Numbers:
    """Return the numbers of one run of a candidate; `own` overrides its case."""
    chosen = {name: options[one.values[name]] for name, options in axes(one.network).items()}
    if one.network == "network2":
        return runs.numbers(network2(chosen, case, duration, seed), {}, seed)
    given: dict[str, Value] = {}
    for axis in DATA[one.network]["axis"]:
        given |= dict.fromkeys(axis["keys"], chosen[axis["name"]])
    if case in UNPROTECTED:
        given = {key: value for key, value in given.items() if not key.rsplit(".", 1)[-1].startswith(OF_PROTECTION)}
    given |= {**CASES[case].overrides, **COARSE, "run.duration": duration, **(own or {})}
    return runs.numbers(FILES.text("network1.toml"), given, seed)


def score(found: Sequence[Cell]) -> float:
    """Return the root mean square of the errors."""
    return math.sqrt(float(np.mean([cell.error**2 for cell in found])))


def score_interval(found: Sequence[Cell]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of `score`: the values of each cell are drawn again."""
    stream = np.random.default_rng(1)
    drawn = []
    for cell in found:
        values = np.asarray(cell.measured)
        means = np.concatenate(
            [values[stream.integers(len(values), size=(100, len(values)))].mean(axis=1) for _ in range(10)]
        )
        added = ADDED if cell.quantity in ("min", "max") else 0.0
        drawn.append(np.log((means + added) / (cell.printed + added)) ** 2)
    low, high = np.quantile(np.sqrt(np.mean(drawn, axis=0)), [0.025, 0.975])
    return float(low), float(high)


def ranked(runs: Runs, network: str) -> list[tuple[float, Candidate]]:
    """Return all candidates with their error over the fitted rows, the lowest first."""
    found = [(score(cells(runs, one, "fitted", judged=False)), one) for one in candidates(network)]
    return sorted(found, key=lambda entry: entry[0])


def to_judge(network: str, found: Sequence[tuple[float, Candidate]]) -> list[Candidate]:
    """Return the candidates to judge on the held-out rows: the one of lowest error, and those that the data names.

    Each has the bins that its fitted rows choose; the first values of all axes also have the bins before the search.
    """
    first = first_values(network)
    named = [first | own for own in DATA[network]["also_judged"]]
    chosen = [found[0][1], *(next(one for _, one in found if one.values == wanted) for wanted in named)]
    chosen.append(Candidate(network, first, BINS[0]))
    return [one for i, one in enumerate(chosen) if one not in chosen[:i]]


def report(folder: Path | None = None) -> tuple[str, bool]:
    """Search and judge; write the scores, and return the page and whether the chosen links fit better than the torus.

    "Better" is a lower error on the held-out rows of Network 2 than that of the reading before the search.
    """
    with tempfile.TemporaryDirectory() as own:
        root = folder or Path(own)
        root.mkdir(parents=True, exist_ok=True)
        runs = Runs(root, BINS)
        found = {network: ranked(runs, network) for network in ("network2", "network1")}
        judged = {network: judge(runs, to_judge(network, found[network])) for network in found}
        write_scores([entry for entries in found.values() for entry in entries])
        parts = [INTRODUCTION.format(division=division(), bins=", ".join(f"{w:g}" for w in BINS), added=f"{ADDED:g}")]
        parts += [
            section(network, found[network], judged[network]) + "\n\n" + by_bins(runs, judged[network])
            for network in found
        ]
        parts += [TIME_OUTS.strip(), starved(runs), mred(runs)]
    errors = [score(held_out) for _, _, held_out in judged["network2"]]
    return "\n\n".join(parts), errors[0] < errors[-1]


Judged = tuple[Candidate, list[Cell], list[Cell]]
"""A candidate with its cells, fitted and held out."""


def judge(runs: Runs, chosen: Sequence[Candidate]) -> list[Judged]:
    """Run the rows of both parts under each candidate."""
    return [(one, cells(runs, one, "fitted", judged=True), cells(runs, one, "held_out", judged=True)) for one in chosen]


def write_scores(entries: Sequence[tuple[float, Candidate]]) -> None:
    """Write the error of every candidate over the fitted rows."""
    with REPORT.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["network", "bins_s", "candidate", "fitted_error"])
        for error, one in entries:
            table.writerow([one.network, f"{one.width:g}", one.label, f"{error:.4f}"])


INTRODUCTION = """\
What PC-RED's paper does not print is chosen here by trying many readings at once. Before any run, `joint_readings.toml`
divided the printed rows into those that choose a candidate and those that judge it:

{division}

A candidate's error is the root mean square of log(measured / printed) over its cells; {added} KB/s is added to both
throughputs, since four printed minima are 0. The averages are left out, as they are (min + max) / 2. Every candidate is
read with bins of {bins} s. Throughputs are means over all flows of a class, as any of them may be the paper's
"one node"; a_d is that of the first flow. Errors have a bootstrap interval (95 %). An interval of a cell is that of one
more flow in one more run (95 %): a printed number that comes from one run should lie inside, but wide intervals hold
any number, so errors count more. "Shown" means that the links chosen have a lower error on the held-out rows of Network
2 than the reading before the search. Not blind in this division: Network 1's readings had been chosen by Tables I and
IV; a first try had shown the class means of Tables III and V on a ring with four of five flows to the adjacent router,
and all four a_d of Table IV with time-outs of at most 2 s. `joint-readings.csv` has every candidate."""

TIME_OUTS = """\
## Time-outs of at most 2 s are a fit

With `maxrto_` at 2 s all four a_d of Table IV come out. No source of ns-2 that was read has that default:

| source | `maxrto_` | doubling in `TcpAgent::rtt_backoff` |
|---|---|---|
| `CHANGES.html`, 31 July 1997 | "default is 64 sec (like bsd)" | |
| 2.29 (October 2005) | 100000 | up to 64 times |
| 2.34 (June 2009) | 60, "default changed on 2007/03/28" | without end under RFC 2988, the default |
| 2.35 (November 2011) | 60 | until `maxrto_` is reached |

2.31 was released on 10 March 2007 and 2.32 on 3 September 2007, so 2.32 is the first release that can have 60 s. The
paper cites work of 2007 and does not name its release: a time-out ended at 60 s, or at 64 times its first value, unless
the script set `maxrto_`. Of the axis "greatest time-out", 60 s stands for 2.32, and 3600 s for a doubling without end.
The evidence for 2 s is a_d of the row 30 % Non, which was known before and brings the held-out error down. Against it
stand the printed minima of 0 (Table II, w = 3e-5, and Table IV, Non), which flows with time-outs of at most 2 s do
not have, and with bins of 20 s a higher error on the rows that choose. So 60 s stays the reading, and 2 s is a fit."""


def division() -> str:
    """Return the rows of both parts as a table."""
    lines = ["| | chosen by | judged by |", "|---|---|---|"]
    for network, title in (("network2", "Network 2"), ("network1", "Network 1")):
        both = ["; ".join(f"{t}: {row}" for t, row in DATA[network][part]["rows"]) for part in ("fitted", "held_out")]
        lines.append(f"| {title} | {both[0]} | {both[1]} |")
    return "\n".join(lines)


def section(network: str, found: Sequence[tuple[float, Candidate]], judged: Sequence[Judged]) -> str:
    """Return the section of one network: the best candidates, and the judged ones."""
    own = DATA[network]
    made = f"{_spaced(own['duration'])} and {_times(own['seeds'])} each"
    best = "\n".join(f"| {one.label} | {one.width:g} | {error:.3f} |" for error, one in found[:SHOWN])
    summary = "\n".join(_summary(*entry) for entry in judged)
    longer = _spaced(own.get("judged_duration", own["duration"]))
    single = f", rows with one flow of priority {own['single_seeds']}" if "single_seeds" in own else ""
    return f"""## {network.capitalize()[:-1]} {network[-1]}

{own["conclusion"].strip()}
{compared(judged)}

{len(found) // len(BINS)} readings, {len(found)} with the bins; {made}. The {SHOWN} with the
lowest error on the rows that choose:

| reading | bins, s | error |
|---|---|---|
{best}

The first of them, and readings named before, over {longer} with {_times(own["judged_seeds"])}{single}:

| reading | bins, s | error, fitted | error, held out | printed inside, fitted | printed inside, held out |
|---|---|---|---|---|---|
{summary}

Every cell, measured mean with the interval of one flow in one run; those outside in bold:

{_cells_table(judged)}"""


def compared(judged: Sequence[Judged]) -> str:
    """Say which judged readings are clearly better or worse than the first values of all axes, each with its bins.

    Clearly: the 95 % intervals of the errors do not overlap.
    """
    first = Candidate(judged[0][0].network, first_values(judged[0][0].network), 0.0).label
    base = next((parts for one, *parts in judged if one.label == first), None)
    said = []
    for one, *parts in judged:
        if one.label == first or base is None:
            continue
        words = [
            f"{side} on the rows {rows}"
            for rows, mine, other in zip(("that choose", "held out"), parts, base, strict=True)
            if (side := _side(score_interval(mine), score_interval(other)))
        ]
        said.append(f"{one.label}: {' and '.join(words) or 'neither better nor worse'}")
    rule = "Beside the first values of all axes, by intervals of the errors that do not overlap"
    return f"{rule}: {'; '.join(said)}." if said else ""


def _side(own: tuple[float, float], other: tuple[float, float]) -> str:
    """Return the side of an interval of errors that does not overlap with another; "" if they overlap.

    >>> _side((0.45, 0.49), (0.5, 0.54)), _side((0.45, 0.51), (0.5, 0.54)), _side((0.6, 0.7), (0.5, 0.54))
    ('clearly better', '', 'clearly worse')
    """
    return "clearly better" if own[1] < other[0] else "clearly worse" if own[0] > other[1] else ""


def _spaced(duration: str) -> str:
    return f"{duration.removesuffix('s')} s"


def _times(seeds: int) -> str:
    return "one seed" if seeds == 1 else f"{seeds} seeds"


def _summary(one: Candidate, fitted: Sequence[Cell], held_out: Sequence[Cell]) -> str:
    counts = [f"{sum(cell.inside for cell in part)} of {len(part)}" for part in (fitted, held_out)]
    errors = ["{:.3f} ({:.3f} to {:.3f})".format(score(part), *score_interval(part)) for part in (fitted, held_out)]
    return f"| {one.label} | {one.width:g} | {' | '.join(errors)} | {' | '.join(counts)} |"


def _cells_table(judged: Sequence[Judged]) -> str:
    titles = [f"{one.label}, {one.width:g} s" for one, _, _ in judged]
    lines = ["| | table and row | quantity | printed | " + " | ".join(titles) + " |", "|---" * (4 + len(titles)) + "|"]
    for part, title in ((1, "fitted"), (2, "held out")):
        for of_all in zip(*(entry[part] for entry in judged), strict=True):
            first = of_all[0]
            cells_ = [
                f"{title}",
                f"{first.table}, {first.row}",
                first.quantity,
                f"{first.printed:g}",
                *map(_cell, of_all),
            ]
            lines.append(f"| {' | '.join(cells_)} |")
    return "\n".join(lines)


def _cell(cell: Cell) -> str:
    low, high = cell.interval
    text = f"{cell.mean:.2f} ({low:.2f} to {high:.2f})"
    return text if cell.inside else f"**{text}**"


def by_bins(runs: Runs, judged: Sequence[Judged]) -> str:
    """Return the errors of the judged candidates with every width of the bins."""
    lines = [f"| reading | {' | '.join(f'{width:g} s' for width in BINS)} |", "|---" * (1 + len(BINS)) + "|"]
    for label in dict.fromkeys(one.label for one, _, _ in judged):
        one = next(one for one, _, _ in judged if one.label == label)
        errors = []
        for width in BINS:
            own = Candidate(one.network, one.values, width)
            both = [score(cells(runs, own, part, judged=True)) for part in ("fitted", "held_out")]
            errors.append("{:.3f} / {:.3f}".format(*both))
        lines.append(f"| {label} | {' | '.join(errors)} |")
    return "The same by width of the bins, error fitted / held out:\n\n" + "\n".join(lines)


def starved(runs: Runs) -> str:
    """Return the section about Table IV's row 30 % Non under every candidate of Network 1."""
    own, width = DATA["starved"], DATA["starved"]["width_s"]
    ones = [one for one in candidates("network1") if one.width == width]
    found = []
    for one, w in itertools.product(ones, own["weights"]):
        made = numbers(runs, one, own["case"], own["duration"], 1, {"queue.bottleneck.loss_weight": w})
        values = [made[f"{group}_{key}"] for group in ("high", "non") for key in (f"max_{width}", "a_d")]
        found.append((float(np.mean(made[f"non_max_{width}"])), [float(np.mean(v)) for v in values], one, w))
    found.sort(key=lambda entry: entry[0])
    near = [entry for entry in found if abs(entry[1][3] / PRINTED_A_D - 1) < NEAR]
    lines = "\n".join(
        f"| {one.label}, w = {w:g} | {high:.2f} | {high_a_d:.0f} | {non:.2f} | {non_a_d:.0f} |"
        for _, (high, high_a_d, non, non_a_d), one, w in [*found[:5], *near[:3]]
    )
    weights = ", ".join(f"{w:g}" for w in own["weights"])
    return f"""## Unexplained: Table IV, 30 % Non

Printed: 0 to 1 KB/s with a_d = {PRINTED_A_D}, and High 4 to 12 KB/s with a_d = 80. After the choice, all {len(ones)}
readings of Network 1 were tried with w = {weights}: {len(found)} runs of {_spaced(own["duration"])},
bins of {width} s. The five with the lowest maximum of Non, then three with the lowest among the
{len(near)} whose a_d is within {NEAR:.0%} of the printed, in KB/s:

| reading | High, max | High, a_d | Non, max | Non, a_d |
|---|---|---|---|---|
{lines}

{own["conclusion"]}"""


def mred(runs: Runs) -> str:
    """Return the section about MRED's RED at n = 20."""
    own = DATA["mred"]
    options = {axis["name"]: axis["values"] for axis in own["axis"]}
    printed = {
        int(cell.key["n"]): cell.value for cell in MRED.cells() if cell.table == "1" and cell.key["discipline"] == "RED"
    }
    found = []
    for chosen in itertools.product(*options.values()):
        given: dict[str, Value] = {}
        for axis, name in zip(options, chosen, strict=True):
            given |= options[axis][name]
        distance = math.hypot(*(_throughput(runs, given, n, 1) - printed[n] for n in own["near"]))
        found.append((distance, chosen, given))
    found.sort(key=lambda entry: entry[0])
    before = next(entry for entry in found if entry[1] == tuple(next(iter(o)) for o in options.values()))
    lines = []
    for _, chosen, given in [*found[: own["shown"]], before]:
        means = [np.mean([_throughput(runs, given, n, s + 1) for s in range(own["shown_seeds"])]) for n in printed]
        rms = math.sqrt(float(np.mean([(m - p) ** 2 for m, p in zip(means, printed.values(), strict=True)])))
        lines.append(f"| {', '.join(chosen)} | {' | '.join(f'{m:.3f}' for m in means)} | {rms:.3f} |")
    head = " | ".join(f"n = {n}" for n in printed)
    paper = " | ".join(f"{value:.3f}" for value in printed.values())
    near = " and ".join(map(str, own["near"]))
    return f"""## Unexplained: MRED's Table 1, RED at n = 20

Printed {printed[20]:.3f} Mb/s, no more than at n = 10 ({printed[10]:.3f}). All {len(found)} combinations of these axes
were run with one seed at n = {near}. The closest to both, and last the reading of the reproduction, with
{own["shown_seeds"]} seeds, in Mb/s:

| {", ".join(options)} | {head} | rms error |
|---{"|---" * len(printed)}|---|
| printed | {paper} | |
{chr(10).join(lines)}

{own["conclusion"]}"""


def _throughput(runs: Runs, given: Mapping[str, Value], n: int, seed: int) -> float:
    """Return the bottleneck's throughput in Mb/s."""
    own: dict[str, Value] = {**given, "flow.tcp.count": n, "probe.queue_interval": "1s"}
    (departed,) = runs.numbers(MRED.text("sole.toml"), own, seed)["departed_bytes"]
    return departed * 8 / MRED_S / 1e6


def main(arguments: list[str]) -> int:
    """Write the page."""
    text, shown = report(Path(arguments[0]) if arguments else None)
    words = "Everything here is shown." if shown else "**Not everything here is shown.**"
    REPORT.write_text(f"# {TITLE}\n\n{words}\n\n{text.strip()}\n", encoding="utf-8")
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
