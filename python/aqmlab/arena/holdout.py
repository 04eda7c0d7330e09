"""The hold-out scenarios, with the seeds that no training uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any

from aqmlab.scenario.file import Overrides, Scenario, example_text
from aqmlab.scenario.toml_text import read_toml

HELD_OUT_FROM = 1_000_000
"""First seed that is held out; the environments of `aqmlab.gym` use smaller ones."""
MEASURED_S = 30.0
"""Measured time of the RFC's scenarios in s."""


@dataclass(frozen=True)
class HoldOut:
    """A scenario on which policies are judged.

    Attributes
    ----------
    name
        Its name.
    about
        A description in one line.
    text
        Returns the text of the scenario.
    ecn
        Whether all disciplines mark packets (ECN).
    """

    name: str
    about: str
    text: Callable[[], str]
    ecn: bool = False

    def plan(self, overrides: Overrides = ()) -> Scenario:
        """Return the scenario, without a log of packets."""
        plan = Scenario.from_text(self.text(), filename=f"{self.name}.toml", overrides={"probe.packets": False})
        return plan.with_overrides(overrides) if overrides else plan

    def baselines(self) -> dict[str, dict[str, Any]]:
        """Return the tuned settings of the baselines, by label, as `aqmlab.compare` takes them (``baselines.toml``)."""
        tables: Mapping[str, dict[str, Any]] = _tuned()[self.name]
        return {label: dict(table) for label, table in tables.items()}


def _tuned() -> dict[str, Any]:
    text = resources.files("aqmlab.arena").joinpath("baselines.toml").read_text(encoding="utf-8")
    return read_toml(text, filename="baselines.toml")


def _rfc7928(section: str) -> str:
    """Return the text of a scenario of RFC 7928, section 8.2."""
    from aqmlab.rfc7928 import stability
    from aqmlab.rfc7928.case import Effort
    from aqmlab.rfc7928.settings import Settings

    effort = Effort(measured_s=MEASURED_S, cycles=1)
    return next(case.text for case in stability.cases(effort, Settings("red", {})) if case.section == section)


HOLD_OUT: tuple[HoldOut, ...] = (
    HoldOut("rfc7928-mild", "RFC 7928, 8.2.2: mild congestion at 10 Mb/s", partial(_rfc7928, "8.2.2")),
    HoldOut("rfc7928-medium", "RFC 7928, 8.2.3: medium congestion at 10 Mb/s", partial(_rfc7928, "8.2.3")),
    HoldOut("rfc7928-heavy", "RFC 7928, 8.2.4: heavy congestion at 10 Mb/s", partial(_rfc7928, "8.2.4")),
    HoldOut("rfc7928-changing", "RFC 7928, 8.2.5: mild, medium, heavy in turn", partial(_rfc7928, "8.2.5")),
    HoldOut("lte", "a cellular link, 0 to 12 Mb/s with outages", partial(example_text, "lte")),
    HoldOut("starlink", "a link by satellites, 10 to 70 Mb/s", partial(example_text, "starlink")),
    HoldOut("l4s", "Prague beside CUBIC at 40 Mb/s, with ECN", partial(example_text, "l4s"), ecn=True),
)
"""All hold-out scenarios."""
