"""How sure is that? Intervals, differences, verdicts on claims, and when there are runs enough.

All of it is about independent runs (seeds), one number a run. A file has one thing:

* `intervals`, `skewed`, `estimate`: Student's interval, Hall's, and which of them a mean gets
* `text`: a mean with its interval in words
* `quantiles`: medians and other quantiles
* `pairs`, `pairing`, `compared`: differences of two disciplines, what pairing by seed gained, which test follows
* `effect`: sizes of an effect
* `many`: several questions at once
* `verdicts`: holds, fails, or undecided
* `sequential`: runs until an interval is narrow enough
* `power`: how many runs would decide an undecided difference
* `warmup`: where the transient at the start of a series ends
"""

from aqmlab.statistics.compared import Compared, compare_means
from aqmlab.statistics.estimate import Method, mean_interval
from aqmlab.statistics.intervals import LEVEL, Interval, interval, prediction_factor, student_quantile
from aqmlab.statistics.many import benjamini_hochberg, holm
from aqmlab.statistics.pairs import Difference, paired, welch
from aqmlab.statistics.power import runs_needed
from aqmlab.statistics.verdicts import (
    Verdict,
    failing,
    opposite,
    verdict_above,
    verdict_all,
    verdict_below,
    verdict_between,
    verdict_of_every,
    verdict_within,
)

__all__ = [
    "LEVEL",
    "Compared",
    "Difference",
    "Interval",
    "Method",
    "Verdict",
    "benjamini_hochberg",
    "compare_means",
    "failing",
    "holm",
    "interval",
    "mean_interval",
    "opposite",
    "paired",
    "prediction_factor",
    "runs_needed",
    "student_quantile",
    "verdict_above",
    "verdict_all",
    "verdict_below",
    "verdict_between",
    "verdict_of_every",
    "verdict_within",
    "welch",
]
