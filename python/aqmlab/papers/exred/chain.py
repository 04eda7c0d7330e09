"""What the paper's Markov chain gives: numbers of an independent implementation of (2) to (6) and (9) to (13).

``chain.csv`` and ``chain_runs.csv`` come from a program of its own, which solves the birth-death chain whose average is
the number in the system, and counts runs of drops exactly: from the state in which one arrival is dropped to the state
that the next arrival finds, departures between them included. ``eq10`` and ``eq11`` follow the paper's formulae, which
ignore those departures.
"""

from __future__ import annotations

from functools import cache

from aqmlab.papers.exred.plan import FILES


def chain(scheme: str, load: float, quantity: str) -> float | None:
    """Return one number of the chain; None where there is none (a load that was not computed, a formula without value).

    >>> chain("ExRED", 1.0, "throughput")
    964.676250104
    """
    return _chain().get((scheme, load), {}).get(quantity)


def longer(scheme: str, load: float, n: int, *, eq10: bool = False) -> float | None:
    """Return P(N > n): exact, or by the paper's (10)."""
    return _runs().get((scheme, load, n, eq10))


def loads() -> tuple[float, ...]:
    """Return the loads at which the chain was solved."""
    return tuple(sorted({load for _, load in _chain()}))


@cache
def _chain() -> dict[tuple[str, float], dict[str, float]]:
    found = {}
    for row in FILES.rows("chain.csv"):
        numbers = {name: float(text) for name, text in row.items() if name not in ("scheme", "load") and text}
        numbers["wait_ms"] = numbers.pop("wait_s") * 1e3
        found[row["scheme"], float(row["load"])] = numbers
    return found


@cache
def _runs() -> dict[tuple[str, float, int, bool], float]:
    found = {}
    for row in FILES.rows("chain_runs.csv"):
        for column, eq10 in (("p_longer", False), ("p_longer_eq10", True)):
            if row[column]:
                found[row["scheme"], float(row["load"]), int(row["n"]), eq10] = float(row[column])
    return found
