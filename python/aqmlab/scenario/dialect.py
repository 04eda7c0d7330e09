"""The queue of a link in the words of another system, as an add-on writes it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    """Settings in the words of another system.

    Attributes
    ----------
    name, title
        ``tc`` and ``Linux tc``.
    text
        The text to write there; empty if the queue cannot be expressed at all.
    effective
        Parameter to the value that the system makes of the text, with its unit.
    notes
        Settings that cannot be expressed, or have another meaning there.
    """

    name: str
    title: str
    text: str
    effective: dict[str, str]
    notes: list[str]
