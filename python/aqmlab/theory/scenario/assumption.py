"""Assumptions of a model, and whether a scenario keeps to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Assumption:
    """One assumption of a model.

    Attributes
    ----------
    text
        The assumption, as a plain sentence.
    violated
        Whether the scenario, or its simulation, does otherwise.
    how
        In which way, with numbers, and what that does to the model's figures if it is known; or what shows that it is
        kept.
    """

    text: str
    violated: bool
    how: str = ""

    @classmethod
    def broken_by(cls, text: str, *reasons: str | Sequence[object]) -> Assumption:
        """Return an assumption that each of these reasons violates; empty ones are none.

        >>> Assumption.broken_by("Links are not changed.", "", "r1->r2 is, at 10 s").how
        'r1->r2 is, at 10 s'
        """
        found = [str(reason) for reason in reasons if reason]
        return cls(text, bool(found), "; ".join(found))


def some(names: list[str], *, most: int = 4) -> str:
    """List names, not too many of them.

    >>> some(["a", "b"]), some(["a", "b", "c"], most=2)
    ('a, b', 'a, b and 1 more')
    """
    unique = list(dict.fromkeys(names))
    rest = len(unique) - most
    return ", ".join(unique) if rest <= 0 else f"{', '.join(unique[:most])} and {rest} more"
