"""Greatest values of quantities by the link of a scenario: its rate, and the limit of its queue.

A quantity's `Quantity.limited_by` names the setting. A setting that does not bound for certain gives no limit: a rate
that varies or may be exceeded for a while (traces, models, ``[[change]]``, token buckets), lengths on the wire other
than those of packets, limits in bytes, and disciplines with several queues.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from aqmlab.errors import Error
from aqmlab.results.quantities import NO_LIMITS, Limits, bottleneck_of
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Link
from aqmlab.scenario.registry import discipline

RATE, BUFFER = "rate", "buffer"
WORDS = {
    RATE: "the link's rate, where that is constant (no change, trace, model, token bucket or framing)",
    BUFFER: "the queue's limit, where that is in packets and the discipline has one queue",
}
"""Setting that limits a quantity, and the condition for it, in words."""


def limits_of(scenario: Scenario, link: str) -> dict[str, float]:
    """Return the limits of quantities at a link; only those that are certain.

    >>> limits_of(Scenario.load("example:dumbbell-red"), "bottleneck")
    {'rate': 10.0, 'buffer': 100.0}
    """
    own = scenario.link(link)
    changes = any(one["link"] == link and one["rate_bps"] is not None for one in scenario.changes)
    found = {} if changes or _varies(own) else {RATE: own.rate_bps / 1e6}
    limit = own.parameters.get("limit")
    if discipline(own.aqm).one_queue and not own.classes[1:] and isinstance(limit, int | float):
        found[BUFFER] = float(limit)
    return found


def _varies(link: Link) -> bool:
    return bool(link.varies_by or link.token_bucket or link.framing)


def limits_in(text: str, link: str | None = None) -> Limits:
    """Return the same for the text of a scenario; no limits as long as it is not valid here, as without its plug-in.

    The default link is the bottleneck.
    """
    try:
        return _limits_in(text, link)
    except Error:
        return NO_LIMITS


@lru_cache(maxsize=1024)
def _limits_in(text: str, link: str | None) -> Limits:
    plan = Scenario.from_text(text)
    return limits_of(plan, link or bottleneck_of([one.name for one in plan.links], [one.aqm for one in plan.links]))


def loosest(limits: Sequence[Limits]) -> Limits:
    """Return limits that hold for all of several runs.

    >>> loosest([{"rate": 10.0, "buffer": 50.0}, {"rate": 12.0}])
    {'rate': 12.0}
    """
    common = set.intersection(*(set(one) for one in limits)) if limits else set()
    return {key: max(one[key] for one in limits) for key in sorted(common)}
