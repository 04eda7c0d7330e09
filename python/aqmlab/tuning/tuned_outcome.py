"""Results of a comparison of tuned disciplines: verdicts, the answer in words, tables, plain data."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from aqmlab import _core
from aqmlab.errors import counted, joined, minus
from aqmlab.reporting.fragments import bounded
from aqmlab.results.displays import OneLine
from aqmlab.results.quantities import Quantity
from aqmlab.scenario.toml_text import inline
from aqmlab.statistics import Interval, Verdict
from aqmlab.tuning.decision import finalists
from aqmlab.tuning.outcome import confirmed_data, interval_data, trial_data
from aqmlab.tuning.search import Task, Trial
from aqmlab.tuning.space import Dimension
from aqmlab.tuning.verification import Against, Confirmed, in_pairs

AGAINST = "against_tuned_baseline"
"""Column of verdicts, of defaults too."""
BETTER, WORSE, UNDECIDED, TIE = "better", "worse", "undecided", "tie"
KEPT = {Verdict.HOLDS: "yes", Verdict.FAILS: "no", Verdict.UNDECIDED: "?"}


@dataclass(frozen=True)
class OnFresh:
    """Settings on fresh seeds.

    Attributes
    ----------
    everywhere
        At the training and the held-out conditions.
    held_out
        At the held-out conditions alone.
    """

    everywhere: Confirmed
    held_out: Confirmed


@dataclass(frozen=True)
class Searched:
    """A search of a discipline's parameters.

    Attributes
    ----------
    seed
        The search seed.
    trials
        All trials, in order.
    warnings
        The miss of the best trial if no trial keeps the bounds.
    settings
        The chosen settings on fresh seeds.
    """

    seed: int
    trials: list[Trial]
    warnings: list[str]
    settings: OnFresh | None = None

    @property
    def tuned(self) -> OnFresh:
        """The chosen settings on fresh seeds, after their runs."""
        assert self.settings is not None, "the settings have not run on fresh seeds yet"
        return self.settings


@dataclass(frozen=True)
class Entry:
    """A discipline of the comparison.

    Attributes
    ----------
    aqm
        Its name.
    default
        Its settings before the search.
    searches
        Its searches, one for each search seed.
    dimensions
        Its searched parameters.
    """

    aqm: str
    default: OnFresh
    searches: list[Searched]
    dimensions: tuple[Dimension, ...]

    @property
    def words_searched(self) -> str:
        """The searched parameters: ``target 0.5ms to 50ms, interval 10ms to 500ms``."""
        return ", ".join(one.words for one in self.dimensions)

    def settings(self, search: int | None) -> OnFresh:
        """Return the settings that a search found; None stands for the default settings."""
        return self.default if search is None else self.searches[search].tuned


@dataclass(frozen=True, repr=False)
class TunedComparison(OneLine):
    """Disciplines at their defaults and tuned, on the same fresh seeds.

    Attributes
    ----------
    name, hash
        Of the scenario.
    queue, link, baseline
        The queue that was tuned, the link that was measured, the discipline that the others are compared with.
    task
        Goal, bounds, and the quantile over the conditions.
    entries
        The disciplines in their order.
    trials, seeds
        The budget: trials of each discipline; seeds of a trial, of the choice among the best, and fresh ones.
    over, usual
        The varied conditions, and whether they were derived from the scenario.
    points, held_out
        Names of the training conditions, and of the held-out conditions.
    notes
        Parameters of the scenario that disciplines do not know.
    folder
        Folder of the records, if they are on disk.
    """

    name: str
    hash: str
    queue: str
    link: str
    baseline: str
    task: Task
    entries: list[Entry]
    trials: int
    seeds: tuple[int, int, int]
    over: list[str]
    usual: bool
    points: list[str]
    held_out: list[str]
    notes: list[str] = field(default_factory=list)
    folder: Path | None = None

    @property
    def search_seeds(self) -> list[int]:
        """The search seeds."""
        return [one.seed for one in self.entries[0].searches]

    @property
    def goal_words(self) -> str:
        """The goal with its bounds: ``minimize delay_p99_ms while utilization>=0.95``."""
        bounds = " and ".join(bound.words for bound in self.task.bounds)
        return f"{self.task.goal.words}{f' while {bounds}' if bounds else ''}"

    @property
    def others(self) -> list[Entry]:
        """The disciplines but the baseline."""
        return [entry for entry in self.entries if entry.aqm != self.baseline]

    def entry(self, aqm: str) -> Entry:
        """Return a discipline of the comparison."""
        return next(entry for entry in self.entries if entry.aqm == aqm)

    def against(self, *, search: int | None = 0, base: int | None = 0, held_out: bool = False) -> dict[str, Against]:
        """Compare the other disciplines with the baseline, with Holm's correction over all of them.

        Parameters
        ----------
        search, base
            Which settings of the others, and of the baseline: those of the first search (0), of the second (1), or
            those before the search (None).
        held_out
            Whether only the held-out conditions count.
        """

        def of(entry: Entry, which: int | None) -> Confirmed:
            found = entry.settings(which)
            return found.held_out if held_out else found.everywhere

        own = of(self.entry(self.baseline), base)
        compared = in_pairs(self.task, [(of(entry, search), own) for entry in self.others], looks=1)
        return dict(zip([entry.aqm for entry in self.others], compared, strict=True))

    def verdicts(self, *, held_out: bool = False) -> dict[str, str]:
        """Return for each other discipline: is it ``better`` than the baseline, both tuned, ``worse``, ``undecided``.

        ``tie``: two searches give different verdicts.
        """
        found: dict[str, str] = {}
        for search in range(len(self.search_seeds)):
            for aqm, one in self.against(search=search, base=search, held_out=held_out).items():
                found[aqm] = one.verdict if found.get(aqm, one.verdict) == one.verdict else TIE
        return found

    def winner(self, search: int = 0) -> tuple[str, list[str]]:
        """Return the tuned discipline with the best goal, and its equals: no test shows it to be better than they.

        In the comparison with all others, or in that with the baseline, whose correction is another.
        """
        settings = [entry.settings(search).everywhere for entry in self.entries]
        _, best = finalists(self.task.goal, settings)
        others = [index for index in range(len(settings)) if index != best]
        compared = in_pairs(self.task, [(settings[best], settings[index]) for index in others], looks=1)
        name = self.entries[best].aqm
        even = {self.entries[at].aqm for at, one in zip(others, compared, strict=True) if one.verdict != BETTER}
        for aqm, one in self.against(search=search, base=search).items():
            if name == self.baseline and one.verdict != WORSE:
                even.add(aqm)
            if name == aqm and one.verdict != BETTER:
                even.add(self.baseline)
        return name, [entry.aqm for entry in self.entries if entry.aqm in even]

    def answer(self) -> str:
        """Return a sentence on each kind of verdict against the baseline, all disciplines tuned."""
        compared, verdicts = self.against(), self.verdicts()
        words = {
            BETTER: f"better than {self.baseline}",
            UNDECIDED: f"not distinguishable from {self.baseline}",
            WORSE: f"worse than {self.baseline}",
            TIE: f"tied with {self.baseline}, as two searches disagree",
        }
        parts = []
        for verdict, text in words.items():
            own = [aqm for aqm in compared if verdicts[aqm] == verdict]
            if own:
                named = joined([f"{aqm} ({self._apart(compared[aqm])}{self._kept(aqm)})" for aqm in own])
                parts.append(f"{named} {'is' if len(own) == 1 else 'are'} {text}")
        return f"Tuned, by {self.task.goal.metric.in_sentence}{self._worst}: {'; '.join(parts)}."

    @property
    def _worst(self) -> str:
        points = len(self.points) + len(self.held_out)
        return (
            f" at the worst of {counted(points, 'condition')}"
            if self.task.share == 1
            else f" over {counted(points, 'condition')}"
        )

    def _apart(self, one: Against) -> str:
        metric, found = self.task.goal.metric, one.compared.difference.interval
        constant = " in every seed" if found.mean and not found.high > found.low else ""
        return f"{in_unit(metric, found.mean, found.low, found.high, signed=True)}{metric.unit_words}{constant}"

    def _kept(self, aqm: str) -> str:
        """Name bounds that the tuned discipline or the tuned baseline breaks, and undecided ones; "" without any."""
        words = {Verdict.FAILS: "{} breaks {}", Verdict.UNDECIDED: "whether {} keeps {} is open"}
        found = [
            words[kept.verdict].format(name, kept.bound.words)
            for name in (aqm, self.baseline)
            for kept in self.entry(name).settings(0).everywhere.kept
            if kept.verdict in words
        ]
        return "".join(f"; {text}" for text in found)

    def best_line(self) -> str:
        """Return a sentence on the winner, and on a second search."""
        best, even = self.winner()
        if len(self.search_seeds) == 1:
            return f"{_best(best, even)}. --search-seed 2 searches again."
        second, also = self.winner(1)
        either = {*even, *also} - {best}
        line = _best(best, [entry.aqm for entry in self.entries if entry.aqm in either])
        other = self.search_seeds[1]
        if second == best:
            return f"{line}; the second search (seed {other}) has the same winner."
        return f"{line}; the second search (seed {other}) has another, {second}: {best} and {second} are tied."

    def lines(self) -> list[str]:
        """State budget, searched parameters, seeds, conditions, and the verdicts at held-out conditions alone."""
        trial, choice, fresh = self.seeds
        count = len(self.search_seeds)
        seeds = f"search seed{'s' * (count > 1)} {joined([str(seed) for seed in self.search_seeds])}"
        derived = ", derived from the scenario; --over sets others" if self.usual else ""
        lines = [
            f"Budget: {counted(self.trials, 'trial')} of each discipline on up to {counted(trial, 'seed')} at "
            f"{counted(len(self.points), 'condition')} ({', '.join(self.over)}{derived}), the best, four at a time, "
            f"on up to {counted(choice, 'other seed')}; {seeds}. Compared on {counted(fresh, 'fresh seed')} at these "
            f"and at {counted(len(self.held_out), 'held-out condition')} ({'; '.join(self.held_out)}).",
            f"Searched: {'; '.join(_grouped(self.entries))}.",
            self.held_out_line(),
            self.best_line(),
        ]
        missed = [
            f"{entry.aqm}{f', search seed {one.seed}' if count > 1 else ''}: {text}"
            for entry in self.entries
            for one in entry.searches
            for text in one.warnings
        ]
        return [*lines, *(f"Note: {text}" for text in missed)]

    def held_out_line(self) -> str:
        """Return a sentence on the verdicts at the held-out conditions alone."""
        all_points, alone = self.verdicts(), self.verdicts(held_out=True)
        if alone == all_points:
            return "At the held-out conditions alone: the same verdicts."
        changed = [f"{aqm} {verdict}" for aqm, verdict in alone.items() if verdict != all_points[aqm]]
        return f"At the held-out conditions alone: {joined(changed)}, else the same verdicts."

    def table(self) -> pd.DataFrame:
        """Return a row for each discipline, short enough for 80 columns.

        Columns: the goal before and after the search with the larger half of its interval, whether the bounds hold
        before and after, and the verdicts of the tuned settings against the tuned baseline.
        """
        metric, everywhere, alone = self.task.goal.metric, self.verdicts(), self.verdicts(held_out=True)
        unit = f", {metric.shown_unit}" if metric.shown_unit else ""
        rows = []
        for entry in self.entries:
            default, tuned = entry.default.everywhere, entry.settings(0).everywhere
            goals = {f"default{unit}": default.goal, f"tuned{unit}": tuned.goal}
            row = {"": entry.aqm, **{title: _halved(metric, goal) for title, goal in goals.items()}}
            if self.task.bounds:
                row["bounds kept"] = f"{KEPT[default.verdict]}, {KEPT[tuned.verdict]}"
            row[f"tuned, against tuned {self.baseline}"] = everywhere.get(entry.aqm, "")
            row["at held-out conditions"] = alone.get(entry.aqm, "")
            rows.append(row)
        return pd.DataFrame(rows)

    def settings_table(self) -> pd.DataFrame:
        """Return a row for each discipline and search with its settings, goal and bounds, and for its default."""
        metric, rows = self.task.goal.metric, []
        for row in self.rows():
            shown = {
                "discipline": row["aqm"],
                "settings": f"tuned, search seed {row['search_seed']}" if row["search_seed"] else "default",
                metric.label: in_unit(metric, row["goal"], row["low"], row["high"]),
            }
            if self.task.bounds:
                shown["bounds kept"] = row["bounds"]
            shown[f"against tuned {self.baseline}"] = row[AGAINST]
            shown["at held-out conditions"] = row[f"held_out_{AGAINST}"]
            rows.append({**shown, "queue": row["queue"]})
        return pd.DataFrame(rows)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each settings of each discipline: goal, bounds and difference, everywhere and held out.

        Verdicts and differences of tuned settings and of defaults are against the tuned baseline.
        """
        found = []
        for entry in self.entries:
            for search in (None, *range(len(self.search_seeds))):
                settings = entry.settings(search)
                row: dict[str, Any] = {
                    "aqm": entry.aqm,
                    "settings": "default" if search is None else "tuned",
                    "search_seed": "" if search is None else self.search_seeds[search],
                    "queue": inline(settings.everywhere.body),
                }
                for place, one in (("", settings.everywhere), ("held_out_", settings.held_out)):
                    row |= {f"{place}goal": one.goal.mean, f"{place}low": one.goal.low, f"{place}high": one.goal.high}
                    row[f"{place}bounds"] = KEPT[one.verdict] if self.task.bounds else ""
                    versus = self.against(search=search, base=search or 0, held_out=bool(place)).get(entry.aqm)
                    apart = None if versus is None else versus.compared.difference.interval
                    row |= {
                        f"{place}{AGAINST}": "" if versus is None else versus.verdict,
                        f"{place}difference": "" if apart is None else apart.mean,
                        f"{place}difference_low": "" if apart is None else apart.low,
                        f"{place}difference_high": "" if apart is None else apart.high,
                        f"{place}p_holm": "" if versus is None else versus.p,
                    }
                found.append(row)
        return found

    def csv(self) -> str:
        """Return `rows` as CSV."""
        rows, text = self.rows(), io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()

    def data(self) -> dict[str, Any]:
        """Return everything as plain data; the same for the same scenario, arguments and version."""
        return {
            "version": _core.version(),
            "scenario": {"name": self.name, "hash": self.hash},
            "queue": self.queue,
            "link": self.link,
            "goal": self.task.goal.words,
            "keep": [bound.words for bound in self.task.bounds],
            "quantile": self.task.share,
            "baseline": self.baseline,
            "budget": {"trials": self.trials, **dict(zip(("trial", "choice", "fresh"), self.seeds, strict=True))},
            "search_seeds": self.search_seeds,
            "over": self.over,
            "over_derived": self.usual,
            "points": self.points,
            "held_out": self.held_out,
            "answer": self.answer(),
            "lines": self.lines(),
            "verdicts": self.verdicts(),
            "verdicts_held_out": self.verdicts(held_out=True),
            "winners": [self.winner(search)[0] for search in range(len(self.search_seeds))],
            "as_good": [self.winner(search)[1] for search in range(len(self.search_seeds))],
            "disciplines": [self._entry_data(entry) for entry in self.entries],
            "notes": self.notes,
        }

    def _entry_data(self, entry: Entry) -> dict[str, Any]:
        compared: dict[str, dict[str, int | None]] = {
            "default against the baseline's default": {"search": None, "base": None},
            "default against the tuned baseline": {"search": None, "base": 0},
            "tuned against the tuned baseline": {"search": 0, "base": 0},
        }
        if len(self.search_seeds) > 1:
            compared["default against the tuned baseline, second search"] = {"search": None, "base": 1}
            compared["tuned against the tuned baseline, second search"] = {"search": 1, "base": 1}
        return {
            "aqm": entry.aqm,
            "searched": entry.words_searched,
            "default": _fresh_data(entry.default),
            "searches": [
                {
                    "seed": one.seed,
                    "warnings": one.warnings,
                    "tuned": _fresh_data(one.tuned),
                    "trials": [trial_data(trial) for trial in one.trials],
                }
                for one in entry.searches
            ],
            "compared": {
                title: {
                    place: _against_data(
                        self.against(search=which["search"], base=which["base"], held_out=alone)[entry.aqm]
                    )
                    for place, alone in (("everywhere", False), ("held_out", True))
                }
                for title, which in compared.items()
                if entry.aqm != self.baseline
            },
        }


def _best(aqm: str, even: Sequence[str]) -> str:
    return f"Best tuned: {aqm}{f', not shown to be better than {joined(even)}' if even else ''}"


def _halved(metric: Quantity, found: Interval) -> str:
    """Write a mean with the larger half of its interval.

    >>> from aqmlab.results.quantities import quantity
    >>> _halved(quantity("delay_p99_ms"), Interval(168.36, 0.5, 5, 166.7, 168.77))
    '168.4 ± 1.7'
    """
    mean, half = metric.scale * found.mean, metric.scale * max(found.high - found.mean, found.mean - found.low)
    return bounded(mean, mean - half, mean + half)


def in_unit(metric: Quantity, mean: float, low: float, high: float, *, signed: bool = False) -> str:
    """Write a mean, or a difference, with its interval in the shown unit; the unit itself is left out.

    >>> from aqmlab.results.quantities import quantity
    >>> in_unit(quantity("delay_p99_ms"), -3.14, -3.34, -2.94, signed=True), in_unit(quantity("loss"), 0.02, 0.02, 0.02)
    ('−3.14 ± 0.20', '2')
    """
    mean, low, high = (metric.scale * value for value in (mean, low, high))
    found = bounded(mean, low, high, signed=signed) if high > low else f"{mean:{'+' if signed and mean else ''}.4g}"
    return minus(found)


def _grouped(entries: Sequence[Entry]) -> list[str]:
    """Return the searched parameters, once for disciplines that share them."""
    alike: dict[str, list[str]] = {}
    for entry in entries:
        alike.setdefault(entry.words_searched, []).append(entry.aqm)
    return [f"{joined(names)} {words}" for words, names in alike.items()]


def _fresh_data(found: OnFresh) -> dict[str, Any]:
    kept = {"everywhere": found.everywhere, "held_out": found.held_out}
    return {
        "settings": dict(found.everywhere.body),
        **{
            place: {key: value for key, value in confirmed_data(one).items() if key not in ("name", "settings")}
            for place, one in kept.items()
        },
    }


def _against_data(one: Against) -> dict[str, Any]:
    return {
        "verdict": one.verdict,
        "p_holm": one.p,
        "test": one.compared.test,
        "difference": interval_data(one.compared.difference.interval),
    }
