"""Verdicts on claims: a claim holds, it fails, or the runs are too noisy to decide."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from aqmlab.statistics.intervals import LEVEL, Interval
from aqmlab.statistics.many import holm


class Verdict(enum.StrEnum):
    """A verdict of the runs on a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    NO_EFFECT = "no effect"
    """The claimed effect is not there, or too small to matter. No function of this module returns it."""
    UNDECIDED = "undecided"
    NOT_ENGAGED = "not engaged"
    """The condition that the claim is about never occurred in the runs. No function of this module returns it."""


def verdict_above(found: Interval, bound: float = 0.0) -> Verdict:
    """Judge the claim "above `bound`": holds or fails where the whole interval lies on one side.

    >>> from aqmlab.statistics.intervals import interval
    >>> verdict_above(interval([1.0, 2.0, 3.0]), -1.0)
    <Verdict.HOLDS: 'holds'>
    """
    low, high = _bounds(found)
    if low > bound:
        return Verdict.HOLDS
    if high < bound:
        return Verdict.FAILS
    return Verdict.UNDECIDED


def verdict_below(found: Interval, bound: float = 0.0) -> Verdict:
    """Judge the claim "below `bound`"."""
    return opposite(verdict_above(found, bound))


def verdict_within(found: Interval, bound: float) -> Verdict:
    """Judge the claim "equal within ± `bound`": the interval lies wholly inside, wholly outside, or neither."""
    return verdict_between(found, -bound, bound)


def verdict_between(found: Interval, low: float, high: float) -> Verdict:
    """Judge the claim "between `low` and `high`": the interval lies wholly inside, wholly outside, or neither.

    >>> from aqmlab.statistics.intervals import interval
    >>> verdict_between(interval([2.0, 2.1, 2.2]), 1.0, 3.0)
    <Verdict.HOLDS: 'holds'>
    """
    least, greatest = _bounds(found)
    if low < least and greatest < high:
        return Verdict.HOLDS
    if least > high or greatest < low:
        return Verdict.FAILS
    return Verdict.UNDECIDED


def _bounds(found: Interval) -> tuple[float, float]:
    """Return the bounds of an interval; runs that are all equal are judged by their common value."""
    return (found.mean, found.mean) if found.constant else (found.low, found.high)


def opposite(verdict: Verdict) -> Verdict:
    """Exchange "holds" and "fails"."""
    exchange = {Verdict.HOLDS: Verdict.FAILS, Verdict.FAILS: Verdict.HOLDS}
    return exchange.get(verdict, verdict)


def verdict_of_every(verdicts: Sequence[Verdict | None]) -> Verdict:
    """Return "holds" if all hold, "fails" if one fails, without a correction for their number.

    >>> verdict_of_every([Verdict.HOLDS, Verdict.UNDECIDED]), verdict_of_every([])
    (<Verdict.UNDECIDED: 'undecided'>, <Verdict.HOLDS: 'holds'>)
    """
    if all(one is Verdict.HOLDS for one in verdicts):
        return Verdict.HOLDS
    return Verdict.FAILS if Verdict.FAILS in verdicts else Verdict.UNDECIDED


def verdict_all(verdicts: Sequence[Verdict], p: Sequence[float], *, level: float = LEVEL) -> Verdict:
    """Judge a claim that has several parts, all of which must hold.

    It holds if every part holds (an intersection-union test, which needs no correction). It fails if a part
    fails and still does so after Holm's correction for having looked at several parts, or if a part whose runs are
    all equal (p is NaN) fails.

    >>> verdict_all([Verdict.HOLDS, Verdict.FAILS], [0.001, 0.04])
    <Verdict.FAILS: 'fails'>
    >>> verdict_all([Verdict.HOLDS, Verdict.UNDECIDED, Verdict.FAILS], [0.6, 0.5, 0.04])
    <Verdict.UNDECIDED: 'undecided'>
    """
    if verdicts and all(v is Verdict.HOLDS for v in verdicts):
        return Verdict.HOLDS
    return Verdict.FAILS if any(failing(verdicts, p, level=level)) else Verdict.UNDECIDED


def failing(verdicts: Sequence[Verdict], p: Sequence[float], *, level: float = LEVEL) -> list[bool]:
    """Return for each part of a claim whether it fails after Holm's correction too.

    >>> failing([Verdict.FAILS, Verdict.FAILS, Verdict.HOLDS], [0.03, 0.001, 0.6])
    [False, True, False]
    """
    return [v is Verdict.FAILS and not q >= 1 - level for v, q in zip(verdicts, holm(p), strict=True)]
