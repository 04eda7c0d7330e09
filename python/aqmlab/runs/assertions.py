"""Judge bounds on finished runs, with their intervals: holds, fails or undecided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from aqmlab.errors import InputError, escaped
from aqmlab.results.quantities import NO_LIMITS, Limits, interval_of, lack
from aqmlab.results.result import Result
from aqmlab.runs.bounds import Bound, bounds_of
from aqmlab.runs.comparison import Comparison
from aqmlab.runs.sweeps.sweep import POINT, Study
from aqmlab.statistics import Interval, Verdict
from aqmlab.statistics.intervals import LEVEL

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Assertion:
    """A bound with its verdict.

    Attributes
    ----------
    bound
        The bound.
    of
        The discipline of a comparison or the point of a sweep; "" for the one scenario of `run`.
    found
        Mean and interval over the runs, at a level with which all verdicts of the same call hold together.
    verdict
        ``holds`` or ``fails`` if the whole interval lies on one side of the bound, else ``undecided``.
    doubt
        The reason for "undecided" that more runs cannot remove, such as an invalid certificate; "" for none.
    """

    bound: Bound
    of: str
    found: Interval
    verdict: Verdict
    doubt: str = ""

    @property
    def words(self) -> str:
        """The bound, and the object of it: ``delay_p99_ms<20 (codel)``."""
        return escaped(f"{self.bound.words} ({self.of})" if self.of else self.bound.words)

    @property
    def reason(self) -> str:
        """The mean with its interval, in words, and the doubt."""
        return "; ".join(filter(None, [self._measured, self.doubt]))

    @property
    def _measured(self) -> str:
        if not self.found.n:
            return ""
        metric = self.bound.metric
        mean = metric.text(self.found.mean, f".{metric.shown_digits}f")
        low, high = (f"{metric.scale * value:.{metric.shown_digits}f}" for value in (self.found.low, self.found.high))
        if self.found.n == 1:
            return f"{mean}, and one run has no interval"
        if self.found.constant:
            return f"{mean} in all runs"
        return f"{mean}, interval {low} to {high}"

    def line(self) -> str:
        """Say it."""
        return f"{self.verdict}: {self.words}: {self.reason}"

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        numbers = {"mean": self.found.mean, "low": self.found.low, "high": self.found.high, "n": self.found.n}
        bound = {"metric": self.bound.metric.key, "bound": self.bound.plain, "value": self.bound.value}
        judged = {"verdict": str(self.verdict), "doubt": self.doubt, "level": self.found.level}
        bound |= {"link": self.bound.link or None}
        return {**bound, "unit": self.bound.metric.unit, "of": self.of, **judged, **numbers}


def judge(result: Result | Comparison | Study, bounds: str | Sequence[str]) -> list[Assertion]:
    """Judge bounds on the means of finished runs.

    Parameters
    ----------
    result
        Runs of a scenario, or a comparison or sweep, each of whose disciplines or points must keep the bounds.
    bounds
        One or several: ``METRIC<=VALUE`` or ``METRIC>=VALUE``, also with ``<`` and ``>``, such as ``delay_p99 < 20ms``;
        at another link than the bottleneck ``METRIC@LINK``.

    Returns
    -------
    list
        The verdicts, those of a bound together. Intervals are made at Bonferroni's level, so that 95 % hold for all
        verdicts together.

    Raises
    ------
    InputError
        For an empty list, or a text with wrong syntax.
    """
    return judged(at_least_one([bounds] if isinstance(bounds, str) else bounds, option="judge"), result)


def at_least_one(texts: Sequence[str], *, option: str) -> list[Bound]:
    """Read bounds; an empty list is an error, since it would pass every test."""
    if not texts:
        raise InputError(f"{option}: no bound is given, so that nothing would be judged")
    return bounds_of(texts, option=option)


def judged(bounds: Sequence[Bound], result: Result | Comparison | Study, *, doubt: str = "") -> list[Assertion]:
    """Judge parsed bounds; see `judge`. With a doubt all verdicts are "undecided"."""
    tables = {link: _tables(result, link) for link in dict.fromkeys(bound.link for bound in bounds)}
    pairs = [(bound, *own) for bound in bounds for own in tables[bound.link]]
    level = LEVEL if isinstance(result, Study) else result.level
    # Bonferroni: the printed intervals hold together and decide the verdicts; Holm's correction has no such intervals.
    level = 1 - (1 - level) / max(len(pairs), 1)
    return [_judged(bound, of, table, level, doubt, limits) for bound, of, table, limits in pairs]


def _judged(
    bound: Bound, of: str, table: pd.DataFrame, level: float, doubt: str, limits: Limits = NO_LIMITS
) -> Assertion:
    """Judge a bound; undecided if runs lack the quantity, such as the completion time of an unfinished transfer."""
    key = bound.metric.key
    values = table[key].to_numpy() if key in table.columns else np.full(len(table), np.nan)
    lacking = int(np.isnan(values).sum())
    if lacking:
        missing = f"no {key}" if key in table.columns else lack([key], table.columns)
        doubt = "; ".join(filter(None, [f"{lacking} of {len(values)} runs have {missing}", doubt]))
    found, _ = interval_of(key, values, level=level, limits=limits)
    return Assertion(bound, of, found, Verdict.UNDECIDED if doubt else bound.verdict(found), doubt)


def _tables(result: Result | Comparison | Study, link: str) -> list[tuple[str, pd.DataFrame, Limits]]:
    """Return discipline or point, the metrics of its runs at a link ("": the bottleneck), and their limits there."""
    if isinstance(result, Study):
        return _points(result, link)
    results = result.results if isinstance(result, Comparison) else {"": result}
    place = link or (result.link if isinstance(result, Comparison) else None)
    return [(name, one.metrics(link=place), one.limits(link=place)) for name, one in results.items()]


def _points(study: Study, link: str) -> list[tuple[str, pd.DataFrame, Limits]]:
    if link:
        raise InputError(f"link {link}: the store of a sweep has the metrics of the bottleneck alone")
    return [
        (", ".join(f"{key}={_value(own[key].iloc[0])}" for key in study.keys), own, study.limits[point])
        for point, own in study.runs.groupby(POINT, sort=True)
    ]


def _value(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"


def junit(name: str, assertions: Sequence[Assertion]) -> str:
    """Return verdicts as a test suite in JUnit's XML; undecided ones are errors."""
    name = escaped(name)
    counts = {verdict: sum(one.verdict is verdict for one in assertions) for verdict in Verdict}
    words = {"name": f"aqmlab {name}", "tests": str(len(assertions))}
    words |= {"failures": str(counts[Verdict.FAILS]), "errors": str(counts[Verdict.UNDECIDED])}
    suite = ElementTree.Element("testsuite", words)
    for one in assertions:
        case = ElementTree.SubElement(suite, "testcase", {"classname": name, "name": one.words})
        if one.verdict is not Verdict.HOLDS:
            kind = "failure" if one.verdict is Verdict.FAILS else "error"
            found = ElementTree.SubElement(case, kind, {"message": f"{one.verdict}: {one.reason}"})
            found.text = one.line()
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def unfinished(name: str, bounds: Sequence[Bound]) -> str:
    """Return the test suite of a command in progress, with an error for each bound."""
    nothing = Interval(mean=math.nan, sd=math.nan, n=0, low=math.nan, high=math.nan)
    found = [Assertion(bound, "", nothing, Verdict.UNDECIDED, "command unfinished") for bound in bounds]
    return junit(name, found)


def markdown(name: str, assertions: Sequence[Assertion]) -> str:
    """Return verdicts as a table in Markdown."""
    rows = [
        f"| {one.verdict} | {_cell(one.bound.words)} | {_cell(one.of)} | {_cell(one.reason)} |" for one in assertions
    ]
    head = ["| verdict | bound | of | measured |", "|---|---|---|---|"]
    return "\n".join([f"### {_cell(name)}", "", *head, *rows, ""])


def _cell(text: str) -> str:
    return escaped(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
