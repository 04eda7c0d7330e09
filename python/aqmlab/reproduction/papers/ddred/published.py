"""The paper's printed numbers."""

from __future__ import annotations

from aqmlab.reproduction.papers.ddred.plan import FILES


def printed_mean(case: str, quantity: str, discipline: str) -> float:
    """Return a printed mean of L, S, T, or their mean distance d = S/L.

    >>> printed_mean("bus", "L", "RED")
    2724.0
    """
    if quantity == "d":
        return printed_mean(case, "S", discipline) / printed_mean(case, "L", discipline)
    return FILES.printed(case=case, quantity=quantity, discipline=discipline)


def printed_change(case: str, quantity: str) -> float:
    """Return DDRED / RED - 1 in % by the printed means."""
    ddred, red = (printed_mean(case, quantity, discipline) for discipline in ("DDRED", "RED"))
    return 100 * (ddred / red - 1)


def printed_gain(name: str) -> float:
    """Return what is printed of the transfers of the flower: better, worse, gained or lost."""
    return FILES.printed(case="flower", quantity=name)


def printed_pair(latency: int, discipline: str) -> tuple[float, float]:
    """Return the throughputs of PCs1 and PCs2 in Table I, in KB/s.

    >>> printed_pair(1, "DDRED")
    (1024.0, 198.0)
    """
    far = FILES.printed(table="I", quantity="PCs1", latency=latency, discipline=discipline)
    return far, FILES.printed(table="I", quantity="PCs2", latency=latency, discipline=discipline)
