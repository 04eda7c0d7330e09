"""Live runs of the papers' disciplines beside simulations of the same files, over IPv4 and IPv6, with Reno and CUBIC.

Writes ``docs/validation/live.md``. Runs that are in ``results/live`` already, and are valid, are not done again, so it
can be stopped at any time. Live runs take the time that they last; several slow links run side by side. Needs root (or
user namespaces) and SCHED_FIFO.

    python tests/compare_live.py [--case KEY] [--runs 5] [--side-by-side 4] [--page-only | --runs-only]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from live_cases import CASES, FAMILIES, Case

import aqmlab
from aqmlab import _core, store
from aqmlab.live.agreement import Agreement
from aqmlab.live.plan import for_family
from aqmlab.live.running import certificates_in, is_done, live_folder
from aqmlab.result import Result
from aqmlab.scenario import Scenario
from aqmlab.statistics import Interval, Verdict, verdict_above

TITLE = "Live runs beside simulations"
ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "docs" / "validation" / "live.md"
STORE = ROOT / "results" / "live"
RUNS, SIMULATED, SIDE_BY_SIDE, TRIES = 5, 20, 4, 3


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

    @cache  # noqa: B019 - there are few of them, for as long as the program runs
    def scenario(self) -> Scenario:
        """Return it, with the family laid over it."""
        overrides = self.case.overrides(self.discipline, self.family, self.control)
        return for_family(self.case.file, self.family, overrides=overrides)

    def folder(self) -> Path:
        """Where its live runs are."""
        return live_folder(STORE, self.scenario())

    def missing(self, runs: int) -> list[int]:
        """Return the seeds of which there is no valid run."""
        seeds = range(1, runs + 1)
        return [seed for seed in seeds if not is_done(store.seed_folder(self.folder(), seed), self.scenario())]

    def command(self, seeds: list[int]) -> list[str]:
        """Return the command that does live runs."""
        overrides = self.case.overrides(self.discipline, self.family, self.control)
        words = [sys.executable, "-m", "aqmlab", "live", self.case.file, "--family", self.family, "--out", str(STORE)]
        words += ["--seeds", f"{seeds[0]}-{seeds[0]}" if len(seeds) == 1 else ",".join(map(str, seeds)), "--resume"]
        for key, value in overrides.items():
            words += ["--set", f"{key}={value}"]
        return words

    def live(self, runs: int) -> Result | None:
        """Return the valid runs that there are."""
        seeds = [seed for seed in range(1, runs + 1) if seed not in self.missing(runs)]
        return Result.load(self.folder(), seeds=seeds) if seeds else None

    def simulated(self) -> Result:
        """Return its simulation."""
        return aqmlab.run(self.scenario(), seeds=SIMULATED, out=STORE, progress=False)


def settings(cases: tuple[Case, ...]) -> Iterator[Setting]:
    """List all scenarios."""
    for case in cases:
        for family in FAMILIES:
            for control in case.controls:
                yield from (Setting(case, discipline, family, control) for discipline in case.disciplines)


def do_runs(cases: tuple[Case, ...], *, runs: int, side_by_side: int) -> None:
    """Do the live runs that are missing; a seed whose run was not valid is tried again."""
    for _ in range(TRIES):
        waiting = [(setting, seeds) for setting in settings(cases) if (seeds := setting.missing(runs))]
        if not waiting:
            return
        with ThreadPoolExecutor(side_by_side) as pool:
            list(pool.map(lambda one: _do(*one), waiting))


def _do(setting: Setting, seeds: list[int]) -> None:
    done = subprocess.run(setting.command(seeds), capture_output=True, text=True, check=False)
    lines = done.stderr.strip().splitlines()
    said = "done" if done.returncode == 0 else lines[-1] if lines else f"ended with code {done.returncode}"
    print(f"{setting.case.key} ({setting.words}), seeds {seeds}: {said}", flush=True)


def page(cases: tuple[Case, ...], *, runs: int) -> tuple[str, bool]:
    """Write the page; whether everything on it is shown."""
    shown, parts = True, []
    for case in cases:
        part, fine = _section(case, runs)
        shown = shown and fine
        parts.append(part)
    head = (
        f"# {TITLE}\n\n{'Everything here is shown.' if shown else 'Not everything here is shown.'}\n\n"
        "Real TCP of a Linux kernel through the discipline in user space, beside the simulation of the same file\n"
        f'with the same TCP in the simulator (`profile = "rfc"`): up to {runs} live runs a setting, all within the\n'
        f"limits of their certificates, and {SIMULATED} simulated ones. Written by `tests/compare_live.py` with\n"
        f"version {_core.version()}.\n\n"
        "A difference is (simulated - live) / live with its 95 % interval (Welch). Goodput is to be within 3 %, the\n"
        "mean queueing delay within 15 %: *holds* if the whole interval is inside, *fails* if it is wholly outside.\n"
    )
    return "\n".join([head, *parts]), shown


def _section(case: Case, runs: int) -> tuple[str, bool]:
    lines, fine = [f"## {case.title}\n"], True
    rows, verdicts = [], []
    for family in FAMILIES:
        for control in case.controls:
            own = {d: Setting(case, d, family, control) for d in case.disciplines}
            live = {name: setting.live(runs) for name, setting in own.items()}
            simulated = {name: setting.simulated() for name, setting in own.items() if live[name] is not None}
            for name, result in live.items():
                where = f"{name}, {family}{f', {control}' if control else ''}"
                if result is None:
                    rows.append(f"| {where} | 0 | no valid run yet | | | | |")
                    fine = False
                    continue
                for line in Agreement.of(result, simulated[name]).judged:
                    fine = fine and line.verdict is Verdict.HOLDS
                    rows.append(
                        f"| {where} | {len(result.seeds)} | {line.what} | {_number(line.live, line.unit)} | "
                        f"{_number(line.simulated, line.unit)} | {_share(line.relative)} | {line.verdict} |"
                    )
            if all(result is not None for result in live.values()):
                worlds = {"live": {k: v for k, v in live.items() if v is not None}, "simulated": simulated}
                for claim in case.claims:
                    for world, results in worlds.items():
                        found = claim.found(results)
                        verdict = verdict_above(found)
                        where = f"{family}{f', {control}' if control else ''}"
                        verdicts.append(f"| {claim.says} | {where} | {world} | {_number(found, '')} | {verdict} |")
    lines += [
        "| setting | runs | quantity | live | simulated | difference | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [*rows, "", "| the paper's claim | setting | world | difference | verdict |", "|---|---|---|---|---|"]
    lines += [*verdicts, "", *_certificates(case, runs), ""]
    return "\n".join(lines), fine


def _certificates(case: Case, runs: int) -> Iterator[str]:
    late, rates, count = [], [], 0
    for setting in settings((case,)):
        result = setting.live(runs)
        if result is None:
            continue
        for one in certificates_in(setting.folder(), result.seeds).values():
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
    """Do the runs and write the page."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--case", action="append", choices=[case.key for case in CASES])
    words.add_argument("--runs", type=int, default=RUNS)
    words.add_argument("--side-by-side", type=int, default=SIDE_BY_SIDE)
    words.add_argument("--page-only", action="store_true")
    words.add_argument("--runs-only", action="store_true")
    asked = words.parse_args()
    cases = tuple(case for case in CASES if asked.case is None or case.key in asked.case)
    if not asked.page_only:
        do_runs(cases, runs=asked.runs, side_by_side=asked.side_by_side)
    if asked.runs_only:
        return 0
    text, shown = page(CASES, runs=asked.runs)
    store.save(REPORT, text)
    print(f"{REPORT.name}: {'shown' if shown else 'not shown'}")
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main())
