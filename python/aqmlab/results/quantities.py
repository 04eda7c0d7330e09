"""Quantities: one number per run, link and seed. The core describes and computes them (`crates/quantities`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from aqmlab import _core
from aqmlab.errors import InputError, unknown
from aqmlab.statistics.compared import Compared, compare_means
from aqmlab.statistics.estimate import Method, mean_interval
from aqmlab.statistics.intervals import LEVEL, Bounds, Interval, Values, finished

if TYPE_CHECKING:
    from aqmlab._core import Tables

NOT_NEGATIVE: Bounds = (0.0, math.inf)
SHARE: Bounds = (0.0, 1.0)
Limits = Mapping[str, float]
"""Setting of a link to the greatest value of the quantities limited by it: Mb/s, packets (`aqmlab.results.limits`)."""
NO_LIMITS: Limits = MappingProxyType({})


@dataclass(frozen=True)
class Quantity:
    """A quantity.

    Attributes
    ----------
    key, title, unit
        Its key in tables and on the command line, its name for people, its unit.
    digits
        Decimal places to show.
    doc
        Its definition.
    bounds
        Least and greatest value that it can have; intervals are clipped to them.
    limited_by
        The setting of the link that it cannot exceed: ``rate`` or ``buffer``; None without.
    better
        ``higher`` or ``lower``; None if neither is better.
    notable
        Least difference that users notice, in its unit; 0 where that is not known.
    head
        The title in two lines, of at most nine characters if it is compared, for a narrow table.
    is_percent
        Whether people read the share in %.
    is_seldom
        Whether the laboratory leaves it out where it is 0 or absent in all runs.
    compared
        How `compare` treats it: ``main`` and ``tested`` differences are tested, ``shown`` and ``described`` ones are
        not; those of ``main`` come first, and ``described`` ones are in details only.
    group
        The group of quantities: ``link``, ``delay``, ``flows``, ...
    is_felt
        Whether users of an application perceive it.
    of_groups
        Its ``title``, ``head`` (first line), ``doc`` and ``compared`` for a group of flows; None if not of groups.
    places
        The views that show it, with its place in their order.
    """

    key: str
    title: str
    unit: str
    digits: int
    doc: str
    bounds: Bounds = NOT_NEGATIVE
    limited_by: str | None = None
    better: str | None = None
    notable: float = 0.0
    head: tuple[str, str] = ("", "")
    is_percent: bool = False
    is_seldom: bool = False
    compared: str = "described"
    group: str = ""
    is_felt: bool = False
    of_groups: Mapping[str, str] | None = field(default=None, hash=False)
    places: Mapping[str, int] = field(default_factory=dict, hash=False)

    def within(self, limits: Limits, *values: Values) -> Bounds:
        """Return its bounds at a link with these limits, which a measured value may exceed by a packet.

        >>> quantity("throughput_mbps").within({"rate": 10.0}, [9.9, 10.0001])
        (0.0, 10.0001)
        """
        if self.limited_by is None or self.limited_by not in limits:
            return self.bounds
        measured = [float(one) for runs in values for one in finished(runs)]
        return self.bounds[0], min(self.bounds[1], max([limits[self.limited_by], *measured]))

    @property
    def scale(self) -> float:
        """Factor from the number to the printed one: 100 for a share in %."""
        return 100.0 if self.is_percent else 1.0

    @property
    def is_tested(self) -> bool:
        """Whether `compare` tests its difference."""
        return self.compared in ("main", "tested")

    @property
    def shown_unit(self) -> str:
        """The unit in tables and texts; "" for a pure number."""
        return "%" if self.is_percent else "" if self.unit == "1" else self.unit

    @property
    def shown_digits(self) -> int:
        """Decimal places in tables and texts."""
        return self.digits - 2 if self.is_percent else self.digits

    def text(self, value: float, form: str = ".4g") -> str:
        """Write a number in the shown unit, by default in four significant digits.

        >>> quantity("loss").text(0.109), quantity("jain").text(0.98765), quantity("delay_p99_ms").text(25.4)
        ('10.9 %', '0.9877', '25.4 ms')
        """
        return f"{self.scale * value:{form}}{self.unit_words}"

    @property
    def in_sentence(self) -> str:
        """The title within a sentence: with a small first letter, but for an abbreviation or a name, and no comma.

        >>> [quantity(key).in_sentence for key in ("delay_p99_ms.L", "mos_worse", "jain_all")]
        ['99 % queueing delay of L', 'MOS of calls (worse way)', "Jain's index (all transports)"]
        """
        first = self.title.partition(" ")[0]
        is_name = first[1:2].isupper() or first.endswith("'s")
        text, _, detail = (self.title if is_name else self.title[:1].lower() + self.title[1:]).partition(", ")
        return f"{text} ({detail})" if detail else text

    @property
    def unit_words(self) -> str:
        """The shown unit behind a number, with a space between them."""
        return f" {self.shown_unit}" if self.shown_unit else ""

    @property
    def needed(self) -> str:
        """The flows without which a run does not have the quantity; "" for none."""
        return NEEDED.get(self.key) or NEEDED.get(self.group, "")

    @property
    def label(self) -> str:
        """Name and unit, for the axis or the head of numbers multiplied by `scale`."""
        return f"{self.title}, {self.shown_unit}" if self.shown_unit else self.title


NEEDED = {
    "flows": "a TCP flow",
    "fairness": "endless TCP flows",
    "jain_1s": "endless TCP flows and probe.flow_interval",
    "completion": 'a TCP flow with a size, such as size = "100KB"',
    "responsiveness": "an endless TCP flow and web pages with objects of at most 1 kB",
    "calls": 'a flow with voip, such as voip = { codec = "g711" }',
    "pages": "a flow with web pages (web)",
    "video": "a flow with video",
}
"""Quantity, or group of quantities, to the flows without which a run has none; others depend on the link alone."""

QUANTITIES: Mapping[str, Quantity] = {entry["key"]: Quantity(**entry) for entry in _core.quantities()}
"""All quantities by their keys, in the order of display."""
LIST_COMMAND = "aqmlab list quantities"
"""The command that lists all quantities, for messages."""


def quantity(key: str) -> Quantity:
    """Return the description of a quantity by its key; ``goodput_mbps.web`` is that of the flows of group ``web``.

    >>> quantity("goodput_mbps.web").label, quantity("jain.web").head
    ('Goodput of web, Mb/s', ('Jain of', 'web'))
    """
    found = _found(key)
    if found is None:
        raise InputError(unknown("metric", key, list(QUANTITIES), see=LIST_COMMAND))
    return found


def _found(key: str) -> Quantity | None:
    """Return the description of a quantity by its key; None for a key of no quantity."""
    if key in QUANTITIES:
        return QUANTITIES[key]
    whole, _, group = key.partition(".")
    of_all = QUANTITIES.get(whole)
    if of_all is None or of_all.of_groups is None or not group:
        return None
    return replace(
        of_all,
        key=key,
        title=f"{of_all.of_groups['title']} of {group}",
        doc=f"{of_all.of_groups['doc']}; group {group}",
        head=(of_all.of_groups["head"], group),
        compared=of_all.of_groups["compared"],
    )


def is_quantity(key: str) -> bool:
    """Whether a key is that of a quantity, of a group or not.

    >>> is_quantity("loss"), is_quantity("jain.web"), is_quantity("utilization.web")
    (True, True, False)
    """
    return _found(key) is not None


def lack(keys: Sequence[str], there: Iterable[str]) -> str:
    """Return the words for quantities that runs do not have: the flows that they need, and the quantities there.

    >>> lack(["mos"], ["loss"])
    'no mos: it needs a flow with voip, such as voip = { codec = "g711" } (they have loss)'
    >>> lack(["goodput_mbps.web"], ["loss"])
    'no goodput_mbps.web: it needs a TCP flow in a group named web beside another group (they have loss)'
    """
    needed = list(dict.fromkeys(filter(None, (_needed(key) for key in keys))))
    needs = f": it needs {' or '.join(needed)}" if needed else ""
    return f"no {' or '.join(keys)}{needs} (they have {', '.join(in_order(there))})"


def _needed(key: str) -> str:
    """Return the flows that runs must have for a quantity, or ""."""
    needed, (_, _, group) = quantity(key).needed, key.partition(".")
    return f"{needed} in a group named {group} beside another group" if needed and group else needed


def in_order(keys: Iterable[str]) -> list[str]:
    """Return the keys of quantities in the order of display, those of groups behind all others; others are left out.

    >>> in_order(["goodput_mbps.web", "jain", "seed", "loss", "goodput_mbps.bulk"])
    ['loss', 'jain', 'goodput_mbps.web', 'goodput_mbps.bulk']
    """
    order = list(QUANTITIES)
    there = [key for key in dict.fromkeys(keys) if is_quantity(key)]
    return sorted(there, key=lambda key: ("." in key, order.index(key.partition(".")[0])))


def shown_in(view: str) -> list[str]:
    """Return the keys of the quantities that a view shows, in its order.

    >>> shown_in("notebook")[:3]
    ['goodput_mbps', 'throughput_mbps', 'mean_delay_ms']
    """
    shown = [one for one in QUANTITIES.values() if view in one.places]
    return [one.key for one in sorted(shown, key=lambda one: one.places[view])]


def interval_of(
    key: str, values: Values, *, level: float = LEVEL, limits: Limits = NO_LIMITS
) -> tuple[Interval, Method]:
    """Return the mean of a quantity over runs with its interval, clipped to the quantity's bounds under the limits.

    >>> interval_of("utilization", [0.99, 1.0, 0.95])[0].high
    1.0
    """
    return mean_interval(values, level=level, bounds=quantity(key).within(limits, values))


def difference_of(key: str, a: Values, b: Values, *, level: float = LEVEL, limits: Limits = NO_LIMITS) -> Compared:
    """Compare the means of a quantity over runs that share their seeds (`aqmlab.statistics.compare_means`).

    The limits hold for both.
    """
    return compare_means(a, b, level=level, bounds=quantity(key).within(limits, a, b))


def run_quantities(tables: Tables, link: str | None = None) -> dict[str, float]:
    """Compute all quantities of one run from its tables.

    A quantity whose table or column is absent is absent; one whose denominator is 0 is NaN.

    Parameters
    ----------
    tables
        The tables by their names, each a mapping of columns: as of the core, lists or arrays. All but ``links`` may be
        absent.
    link
        The link in question; default: `bottleneck_of` the run.

    Raises
    ------
    InputError
        If the run has no such link.

    Examples
    --------
    >>> links = {"link": ["a", "b"], "aqm": ["drop-tail", "red"], "drops": [0, 2], "arrivals": [0, 100]}
    >>> run_quantities({"links": links}), run_quantities({"links": links}, "a")
    ({'loss': 0.02}, {'loss': nan})
    """
    found = _core.run_quantities(tables, link)
    if found is None:
        raise InputError(unknown("link", str(link), [str(one) for one in tables["links"]["link"]]))
    return found


def bottleneck_of(links: Sequence[str], disciplines: Sequence[str]) -> str:
    """Return the link that results are about: ``bottleneck``, ``down``, or the first whose queue is not drop-tail.

    >>> bottleneck_of(["a", "b"], ["drop-tail", "red"]), bottleneck_of(["up", "down"], ["red", "drop-tail"])
    ('b', 'down')
    """
    return links[_core.bottleneck_of(list(links), list(disciplines))]


def ratio(part: float, whole: float) -> float:
    """Return part / whole, NaN if the whole is 0."""
    return part / whole if whole else math.nan


def jain(values: Sequence[float] | np.ndarray) -> float:
    """Jain's fairness index: 1 if all are equal, 1/n if one has everything (Jain, Chiu and Hawe 1984).

    >>> jain([1.0, 1.0]), jain([2.0, 0.0])
    (1.0, 0.5)
    """
    return _core.jain(values)
