"""Reasons for a verdict: the part that shows it best, and the number of seeds that would decide an undecided one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from aqmlab.papers.common.claims import COUNTED, Part, places
from aqmlab.reporting.fragments import mean_text
from aqmlab.statistics import LEVEL, Verdict, failing
from aqmlab.statistics.power import MOST, POWER, runs_needed


def seeds_to_decide(parts: Sequence[Part]) -> tuple[float, Verdict]:
    """Return how many seeds would decide an undecided form (inf above `MOST`), and how.

    It fails once one cell on the wrong side does (with Holm's correction, at most the level over the number of cells);
    if all cells are on the claimed side, it holds once all do.
    """
    wrong = [part for part in parts if not part.bounds[0] < part.difference.mean < part.bounds[1]]
    if wrong:
        level = 1 - (1 - LEVEL) / len(parts)
        needed = min(runs_needed(part.difference.interval, nearest_bound(part), level=level) for part in wrong)
        return needed, Verdict.FAILS
    return max(runs_needed(part.difference.interval, nearest_bound(part)) for part in parts), Verdict.HOLDS


def seeds_words(needed: float, way: Verdict) -> str:
    """Say how many seeds would decide an undecided form.

    >>> seeds_words(35, Verdict.HOLDS)
    'About 35 seeds would decide it (it would hold), at the observed means and 80% power.'
    """
    if math.isinf(needed):
        return f"More than {MOST:,} seeds would be needed to decide it: the observed differences are as good as none."
    verb = COUNTED[way][1]
    return f"About {needed:,} seeds would decide it (it would {verb}), at the observed means and {POWER:.0%} power."


def seeds_cell(needed: float, way: Verdict) -> str:
    """Write the same for a cell of a table.

    >>> seeds_cell(1200, Verdict.FAILS), seeds_cell(math.inf, Verdict.FAILS)
    ('1,200 (fails)', 'more than 100,000')
    """
    return f"more than {MOST:,}" if math.isinf(needed) else f"{needed:,} ({way})"


def decisive(parts: Sequence[Part], verdict: Verdict) -> Part:
    """Return the part that shows a verdict best: the clearest of failures, otherwise the least clear with that verdict.

    Failures that Holm's correction leaves undecided are shown if no part is undecided by itself. The clearness of a
    part is the distance of its mean from the nearest claimed bound, in half widths of its interval.
    """
    engaged = [part for part in parts if part.verdict is not Verdict.NOT_ENGAGED]
    failed = [part for part in engaged if part.verdict is Verdict.FAILS]
    if verdict is Verdict.FAILS:
        stays = failing([part.verdict for part in engaged], [part.difference.p for part in engaged])
        return max((part for part, fails in zip(engaged, stays, strict=True) if fails), key=_clearness)
    own = [part for part in parts if part.verdict is verdict]
    if failed and not own:
        return max(failed, key=_clearness)
    return min(own or parts, key=_clearness)


def decisive_words(part: Part) -> str:
    """Return a part as text: the comparison, its place, its mean with the 95 % interval, and the claimed range.

    Equal runs have no interval, and are named.

    >>> from aqmlab.statistics import Difference, Interval
    >>> found = Difference(Interval(1.5, 0.7, 2, -4.9, 7.9), 0.2)
    >>> part = Part("X", "rate, NEW - RED, Mb/s", found, Verdict.UNDECIDED, "TCP alone", {"n": 5}, bounds=(0, math.inf))
    >>> decisive_words(part)
    'rate, NEW - RED, Mb/s; TCP alone; n = 5: 1.5 ± 6.4 (claimed: above 0)'
    """
    where = [part.case, places([part.at], [part.at]).removeprefix(" at ")]
    found = part.difference.interval
    low, high = (bound + 0.0 for bound in part.bounds)  # no "-0"
    if math.isfinite(low) and math.isfinite(high):
        claimed = f"{low:g} to {high:g}"
    else:
        claimed = f"above {low:g}" if math.isfinite(low) else f"below {high:g}" if math.isfinite(high) else "above 0"
    claimed += f"; no effect below {part.margin:.3g}" if part.verdict is Verdict.NO_EFFECT else ""
    claimed += f"; {part.remark}" if part.remark else ""
    what = "; ".join(word for word in (part.what, *where) if word)
    return f"{what}: {mean_text(found)} (claimed: {claimed})"


def _clearness(part: Part) -> float:
    half = part.difference.interval.half_width
    distance = abs(part.difference.mean - nearest_bound(part))
    return distance / half if half > 0 else math.inf


def nearest_bound(part: Part) -> float:
    """Return the claimed bound that is nearest to the mean."""
    finite = [bound for bound in part.bounds if math.isfinite(bound)] or [0.0]
    return min(finite, key=lambda bound: abs(part.difference.mean - bound))
