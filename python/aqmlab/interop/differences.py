"""How another tool departs from a scenario: kinds of differences, and what keeps it from running the scenario."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aqmlab.interop.model import Model


class Kind(StrEnum):
    """How a tool departs from a scenario."""

    INEXPRESSIBLE = "not expressible"
    """The tool has no such thing; its run would be of another scenario, so none is made."""
    LEFT_OUT = "left out"
    """The tool has no such thing; its run is made without it, and compared."""
    DIFFERS = "differs"
    """The tool has such a thing and understands it otherwise."""


@dataclass(frozen=True)
class Semantic:
    """A known difference between a tool and a scenario of ours.

    Attributes
    ----------
    name
        Two or three words, the same for the same difference in every scenario: "spacing dialect".
    text
        One sentence: the tool's behaviour, the scenario's, and how to make them the same if that is possible.
    kind
        Whether it keeps the tool from running the scenario at all.
    """

    name: str
    text: str
    kind: Kind

    @property
    def sentence(self) -> str:
        """Name, kind and text in one line."""
        return f"{self.name} ({self.kind}): {self.text}"

    @property
    def data(self) -> dict[str, str]:
        """As plain data."""
        return {"name": self.name, "kind": str(self.kind), "text": self.text}


def unwritten(model: Model, tool: str) -> Iterator[Semantic]:
    """Name the features that no script here expresses: sections, keys of flows, links that fail, impaired channels."""
    for words in model.strange:
        yield Semantic("grammar", f"{words}: scripts for {tool} cannot express it.", Kind.INEXPRESSIBLE)
    names = [link.name for link in model.links if any(link.channel.values())]
    names += [str(change["link"]) for change in model.scenario.changes if change.get("channel")]
    if names:
        listed = ", ".join(dict.fromkeys(names[:3])) + (", ..." if len(names) > 3 else "")
        text = f"{tool}'s error models are not written: loss, jitter, reorder and duplicate of {listed}."
        yield Semantic("channel", text, Kind.INEXPRESSIBLE)


def inexpressible(differences: Sequence[Semantic]) -> list[Semantic]:
    """Return what keeps a tool from running a scenario."""
    return [one for one in differences if one.kind is Kind.INEXPRESSIBLE]


def in_service(model: Model, tool: str) -> Iterator[Semantic]:
    """Yield the differences of a tool in which a service ends as it started when the link's rate changes."""
    changes = [change for change in model.changes if change.rate_bps is not None]
    if any(model.link_named[change.link].in_service != "as-started" for change in changes):
        text = f'In {tool} a service ends as it started when the rate changes; in_service = "as-started" does so.'
        yield Semantic("packet in service", text, Kind.DIFFERS)
    if any(change.rate_bps == 0 for change in changes):
        yield Semantic("rate of 0", f"A link of {tool} has no rate of 0 bit/s.", Kind.INEXPRESSIBLE)
