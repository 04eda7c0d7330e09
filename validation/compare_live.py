"""Live runs of the papers' disciplines beside simulations of the same files, over IPv4 and IPv6, with Reno and CUBIC.

`report` writes the pages ``docs/validation/live.md`` and ``live-cells.md`` and a table of all runs beside each. Runs
that are in ``results/live`` already, and are valid, are not done again, so it can be stopped at any time. Live runs
take the time that they last, so several run side by side: an hour and a half in all on a machine that is left alone.
Needs root (or user namespaces) and SCHED_FIFO.

    python validation/compare_live.py [--case KEY] [--runs 10] [--side-by-side 9] [--minutes 240]
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

import aqmlab
from aqmlab.live.agreement import DELAY_WITHIN, Agreement, Line, group_goodput
from aqmlab.live.plan import for_family
from aqmlab.live.running import certificates_in
from aqmlab.results import folders
from aqmlab.results.result import Result
from aqmlab.scenario.file import Scenario
from aqmlab.statistics import Interval, Verdict, runs_needed, verdict_above
from aqmlab.statistics.power import MOST, POWER
from live_cases import CASES, CELLS, LONG_S, RUNS, RUNS_OF_LONG, Case, Overrides
from live_jobs import Job, LiveJobs
from live_runs import LiveRuns

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs" / "validation"
STORE = ROOT / "results" / "live"
SIMULATED = 20
SIDE_BY_SIDE, MINUTES = 9.0, 240.0
"""Links of 10 Mb/s at a time, and the longest time for all of them."""
CLAIMS = "the papers' claims"
TOLD = "Loss"
"""The quantity that is reported, but not judged."""
PAGE = f"""Real TCP of a Linux kernel through the discipline in user space, beside the simulation of the same file
with the same TCP in the simulator (`profile = "rfc"`): up to {{runs}} live runs a setting ({{runs_of_long}} of those
above {LONG_S:g} s), all within the limits of their certificates (`{{table}}` has each of them), and {SIMULATED}
simulated ones.

A run whose certificate is not valid is repeated, and runs wait while the hypervisor takes processor time from the
machine; no other criterion selects runs.

A difference is (simulated - live) / live with its 95 % interval (Welch). Goodput is to be within 3 %, the mean queueing
delay within 15 %: *holds* if the whole interval is inside, *fails* if it is wholly outside. The share of packets lost
has no bound, and is only reported. After *undecided* stands how many runs of each world would decide it with a
probability of {POWER:.0%}, if mean and scatter stay what they are.
"""


@dataclass(frozen=True)
class Page:
    """A page of cases.

    Attributes
    ----------
    title, cases
        Heading, and the cases of the page.
    table
        Its table of runs, beside it.
    begins
        Its first text.
    """

    title: str
    cases: tuple[Case, ...]
    table: str
    begins: str = ""


WORLDS = Page("Live runs compared with simulations", CASES, "live-runs.csv")
TURNING = Page(
    "Live runs of what verdicts turn on",
    CELLS,
    "live-cells.csv",
    """The cells of the papers' tables, and the forms of their disciplines, on which [verdicts](claims.md) turn, with
the kernel's Reno over IPv4. Letters and numbers are those of that page.

""",
)

Count = Counter[tuple[str, str]]
"""How often a quantity had a verdict."""


@dataclass(frozen=True)
class Setting:
    """One scenario: a case with a discipline, a family of addresses, and a kind of TCP."""

    case: Case
    discipline: str
    family: str
    control: str

    @property
    def words(self) -> str:
        """Which one it is."""
        return ", ".join(word for word in (self.discipline, self.family, self.control) if word)

    @property
    def overrides(self) -> Overrides:
        """Return what its runs override."""
        return self.case.overrides(self.discipline, self.family, self.control)

    @cache  # noqa: B019 - there are few of them, for as long as the program runs
    def scenario(self) -> Scenario:
        """Return the scenario, overridden for the address family."""
        return for_family(self.case.file, self.family, overrides=self.overrides)

    @property
    def runs(self) -> LiveRuns:
        """Return its live runs."""
        return LiveRuns(self.scenario(), self.case.file, self.overrides, STORE, ("--family", self.family))

    def seeds(self, most: int) -> range:
        """Return the seeds of its live runs, at most so many."""
        own = RUNS if self.scenario().duration_s <= LONG_S else RUNS_OF_LONG
        return range(1, min(most, own) + 1)

    def live(self, most: int) -> Result | None:
        """Return the valid runs that there are."""
        return self.runs.valid(self.seeds(most))

    def simulated(self) -> Result:
        """Return its simulation."""
        return aqmlab.run(self.scenario(), seeds=SIMULATED, out=None, progress=False)


def settings(cases: tuple[Case, ...]) -> Iterator[Setting]:
    """List all scenarios."""
    for case in cases:
        for family in case.families:
            for control in case.controls:
                yield from (Setting(case, discipline, family, control) for discipline in case.disciplines)


def jobs(cases: tuple[Case, ...], runs: int) -> list[Job]:
    """List the live runs that are missing: one of each scenario before the second of any, long ones first."""

    def job(setting: Setting, seed: int) -> Job:
        name = f"{setting.case.key} ({setting.words}), seed {seed}"
        return setting.runs.job(name, seed, weight=setting.case.weight)

    missing = [
        (seed, setting) for setting in settings(cases) for seed in setting.seeds(runs) if setting.runs.lacks(seed)
    ]
    missing.sort(key=lambda one: (one[0], -one[1].scenario().duration_s))
    return [job(setting, seed) for seed, setting in missing]


def do_runs(
    cases: tuple[Case, ...], *, runs: int = RUNS, side_by_side: float = SIDE_BY_SIDE, minutes: float = MINUTES
) -> None:
    """Do the live runs that are missing."""
    missing = LiveJobs(side_by_side, 60 * minutes).do(jobs(cases, runs))
    print(f"{len(missing)} runs are missing" if missing else "all runs are there", flush=True)


def report(page: Page, minutes: float = MINUTES) -> tuple[str, bool]:
    """Do the runs that are missing, and write the page: its text, and whether everything on it is shown."""
    do_runs(page.cases, minutes=minutes)
    table = runs_table(page.cases).to_csv(index=False, float_format="%.6g", lineterminator="\n")
    folders.save(DOCS / page.table, table)
    return text_of(page)


def text_of(page: Page, *, runs: int = RUNS) -> tuple[str, bool]:
    """Write the page over the runs that there are."""
    count: Count = Counter()
    parts = [_section(case, runs, count) for case in page.cases]
    # That a claim fails is a result.
    shown = all(verdict == str(Verdict.HOLDS) or what.startswith(CLAIMS) for what, verdict in count)
    begins = page.begins + PAGE.format(runs=runs, runs_of_long=min(runs, RUNS_OF_LONG), table=page.table)
    return "\n".join([begins, *_counted(count), *parts]), shown


def _counted(count: Count) -> Iterator[str]:
    """Yield the table of verdicts."""
    verdicts = sorted({verdict for _, verdict in count}, key=lambda verdict: (verdict != str(Verdict.HOLDS), verdict))
    yield f"| over all settings | {' | '.join(verdicts)} |"
    yield "|---|" + "---|" * len(verdicts)
    for what in dict.fromkeys(what for what, _ in count):
        yield f"| {what} | {' | '.join(str(count[what, verdict]) for verdict in verdicts)} |"
    yield ""


def runs_table(cases: tuple[Case, ...], *, runs: int = RUNS) -> pd.DataFrame:
    """Return a row for each live run: its setting, results, and the timing of the link."""
    return pd.DataFrame([row for setting in settings(cases) for row in _rows(setting, runs)])


def _rows(setting: Setting, runs: int) -> Iterator[dict[str, Any]]:
    result = setting.live(runs)
    if result is None:
        return
    goodput, metrics = group_goodput(result), result.metrics().set_index("seed")
    for seed, certificate in certificates_in(setting.runs.folder, result.seeds).items():
        measured, late = certificate["measured"], certificate["measured"]["lateness_us"]
        yield {
            "case": setting.case.key,
            "discipline": setting.discipline,
            "family": setting.family,
            "congestion_control": setting.control,
            "seed": seed,
            **{f"{key}": metrics.loc[seed, key] for key in ("mean_delay_ms", "loss", "utilization", "mean_queue")},
            "goodput_mbps": " ".join(f"{group}={value:.5g}" for group, value in goodput.loc[seed].items()),
            **{f"lateness_{key}_us": late[key] for key in ("p50", "p99", "p999", "max")},
            "stalls": measured["stalls"],
            "stolen": measured["cpu_steal_share"],
            "rate_off": measured["rate"]["achieved_bps"] / measured["rate"]["configured_bps"] - 1,
        }


def _section(case: Case, runs: int, count: Count) -> str:
    """Write the results of a case, and count its verdicts."""
    rows, claims = [], []
    for family in case.families:
        for control in case.controls:
            own = {d: Setting(case, d, family, control) for d in case.disciplines}
            live = {name: result for name, setting in own.items() if (result := setting.live(runs)) is not None}
            simulated = {name: own[name].simulated() for name in live}
            where = f"{family}{f', {control}' if control else ''}"
            for name in own:
                if name not in live:
                    count["runs", "missing"] += 1
                    rows.append(f"| {name}, {where} | 0 | no valid run yet | | | | |")
                    continue
                found = Agreement.of(live[name], simulated[name])
                runs_there = len(live[name].seeds)
                for line in found.lines:
                    if line.verdict is not None:
                        count[_kind(line, found.judged), str(line.verdict)] += 1
                    elif line.what != TOLD:
                        continue
                    rows.append(
                        f"| {name}, {where} | {runs_there} | {line.what} | {_number(line.live, line.unit)} | "
                        f"{_number(line.simulated, line.unit)} | {_share(line.relative)} | {_verdict(line)} |"
                    )
            for claim in case.claims if live.keys() == own.keys() else ():
                for world, results in {"live": live, "simulated": simulated}.items():
                    verdict = verdict_above(by := claim.found(results))
                    count[f"{CLAIMS}, {world}", str(verdict)] += 1
                    needed = _runs_needed(verdict, by, 0.0)
                    claims.append(f"| {claim.says} | {where} | {world} | {_number(by, '')} | {verdict}{needed} |")
    head = ["| setting | runs | quantity | live | simulated | difference | verdict |", "|---|---|---|---|---|---|---|"]
    between = ["", "| the paper's claim | setting | world | difference | verdict |", "|---|---|---|---|---|"]
    return "\n".join([f"## {case.title}\n", *head, *rows, *between, *claims, "", *_certificates(case, runs), ""])


def _verdict(line: Line) -> str:
    if line.verdict is None or line.within is None:
        return ""
    bound = math.copysign(line.within, line.relative.mean)
    return f"{line.verdict}{_runs_needed(line.verdict, line.relative, bound)}"


def _runs_needed(verdict: Verdict, found: Interval, bound: float) -> str:
    """Return how many runs of each world would decide an undecided comparison."""
    if verdict is not Verdict.UNDECIDED:
        return ""
    needed = runs_needed(found, bound)
    return f" (more than {MOST:,} runs)" if math.isinf(needed) else f" ({needed:,} runs)"


def _kind(line: Line, judged: list[Line]) -> str:
    """Which of the quantities that are counted together a line is."""
    if line.within == DELAY_WITHIN:
        return "mean queueing delay within 15 %"
    is_all = line.what == "TCP goodput" or len(judged) == 2
    return "goodput of all flows within 3 %" if is_all else "goodput of each of several groups within 3 %"


def _certificates(case: Case, runs: int) -> Iterator[str]:
    late, rates, count = [], [], 0
    for setting in settings((case,)):
        result = setting.live(runs)
        if result is None:
            continue
        for one in certificates_in(setting.runs.folder, result.seeds).values():
            count += 1
            late.append(one["measured"]["lateness_us"]["p99"])
            rate = one["measured"]["rate"]
            if rate.get("achieved_bps"):
                rates.append(abs(rate["achieved_bps"] / rate["configured_bps"] - 1))
    if count:
        off = f", rate at most {max(rates):.3%} off" if rates else ""
        yield f"Certificates of the {count} runs: lateness p99 from {min(late):.0f} to {max(late):.0f} us{off}."


def _number(found: Interval, unit: str) -> str:
    half = f" ± {found.half_width:.2g}" if found.n > 1 else ""
    return f"{found.mean:.4g}{half} {unit}".strip()


def _share(found: Interval) -> str:
    return f"{found.mean:+.1%} ({found.low:+.1%} to {found.high:+.1%})" if found.n > 1 else f"{found.mean:+.1%}"


def main() -> int:
    """Do runs, and print the part of the page on these cases."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--case", action="append", choices=[case.key for case in (*CASES, *CELLS)])
    words.add_argument("--runs", type=int, default=RUNS)
    words.add_argument("--side-by-side", type=float, default=SIDE_BY_SIDE)
    words.add_argument("--minutes", type=float, default=MINUTES)
    asked = words.parse_args()
    pages = [
        replace(page, cases=tuple(case for case in page.cases if asked.case is None or case.key in asked.case))
        for page in (WORLDS, TURNING)
    ]
    # Started in the background of a shell, a program ignores Ctrl-C; the runs under way are ended by either signal.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        do_runs(
            pages[0].cases + pages[1].cases, runs=asked.runs, side_by_side=asked.side_by_side, minutes=asked.minutes
        )
    except KeyboardInterrupt:
        print("interrupted; runs that were done are kept", file=sys.stderr)
        return 130
    found = [text_of(page, runs=asked.runs) for page in pages if page.cases]
    print("\n".join(text for text, _ in found))
    return 0 if all(shown for _, shown in found) else 1


if __name__ == "__main__":
    sys.exit(main())
