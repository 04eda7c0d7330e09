"""How each discipline is set in the suite: the same buffer for all, thresholds that follow the link, else defaults.

A discipline's defaults cannot depend on the link, so the suite uses its automatic settings, if it has any:
``min_th``, ``max_th`` and ``w_q`` are ``"auto"`` (ns-2's: half the packets of 5 ms at least 5, three times that, a time
constant of ten round trips). ``--set queue.NAME.KEY=VALUE`` sets something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from aqmlab.errors import InputError, unknown
from aqmlab.rfc7928.network import PACKET_BYTES, QUEUE
from aqmlab.scenario.registry import Discipline, discipline
from aqmlab.scenario.toml_text import Value

BASELINE = "drop-tail"
"""Baseline of the RFC's comparisons (section 1.2)."""
FOLLOWS_LINK = ("min_th", "max_th", "w_q")
"""Parameters that the suite leaves to the discipline's automatic settings."""
PREFIX = "queue."


@dataclass(frozen=True)
class Settings:
    """One discipline as the suite sets it.

    Attributes
    ----------
    name
        The discipline.
    chosen
        The parameters that the caller sets, and their values.
    label
        A label that distinguishes this setting from others of the discipline; "" for the suite's main setting.
    """

    name: str
    chosen: Mapping[str, str]
    label: str = ""

    @property
    def discipline(self) -> Discipline:
        """Return its description."""
        return discipline(self.name)

    @property
    def title(self) -> str:
        """Return what tables call it."""
        return f"{self.name} {self.label}".strip()

    @property
    def is_baseline(self) -> bool:
        """Return whether it is drop-tail, which is the RFC's baseline."""
        return self.name == BASELINE and not self.label

    @property
    def marks(self) -> bool:
        """Return whether it can mark packets instead of dropping them (ECN)."""
        return self.discipline.parameter("ecn") is not None

    def queue(self, *, buffer: int, ecn: bool = False) -> dict[str, Value]:
        """Return the table of its queue.

        Parameters
        ----------
        buffer
            Packets that fit in.
        ecn
            Whether it marks.
        """
        known = {parameter.key for parameter in self.discipline.own_parameters}
        found: dict[str, Value] = {"aqm": self.name}
        found |= {"limit": f"{buffer}p"} if "limit" in known else {}
        found |= {key: "auto" for key in FOLLOWS_LINK if key in known and _can_follow(self.discipline, key)}
        found |= {"mean_packet": f"{PACKET_BYTES}B"} if "mean_packet" in known else {}
        found |= {"ecn": True} if ecn and self.marks else {}
        return found

    def overrides(self, queue: str = QUEUE) -> tuple[tuple[str, str], ...]:
        """Return the caller's settings as overrides of a scenario."""
        return tuple((f"{PREFIX}{queue}.{key}", value) for key, value in self.chosen.items())

    def with_values(self, values: Mapping[str, str], label: str) -> Settings:
        """Return the same discipline with further settings."""
        return replace(self, chosen={**self.chosen, **values}, label=label)


def settings_of(names: list[str], overrides: tuple[tuple[str, str], ...]) -> list[Settings]:
    """Return the disciplines' settings, drop-tail first.

    >>> found = settings_of(["red"], (("queue.red.max_p", "0.05"),))
    >>> [(one.name, dict(one.chosen)) for one in found]
    [('drop-tail', {}), ('red', {'max_p': '0.05'})]
    """
    wanted = list(dict.fromkeys([BASELINE, *names]))
    for name in wanted:
        discipline(name)
    chosen: dict[str, dict[str, str]] = {name: {} for name in wanted}
    for key, value in overrides:
        path = key.removeprefix(PREFIX).split(".", 1)
        if not key.startswith(PREFIX) or len(path) < 2:
            raise InputError(f"--set {key}: write it as queue.DISCIPLINE.KEY=VALUE, for example queue.red.max_p=0.05")
        if path[0] not in chosen:
            raise InputError(f"--set {key}: {unknown('discipline of this run', path[0], wanted)}")
        chosen[path[0]][path[1]] = value
    return [Settings(name, chosen[name]) for name in wanted]


def _can_follow(found: Discipline, key: str) -> bool:
    parameter = found.parameter(key)
    return parameter is not None and "auto" in parameter.allowed
