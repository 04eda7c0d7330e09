"""Input of `aqmlab shape` from a file: one link of a scenario, with its queue, rate and delay.

The file is a scenario file. Parts that a shape does not use may be left out: ``[run]``, and the flows, since the
traffic is whatever comes. The smallest file is a link and its queue::

    format = 1

    [[link]]
    name = "uplink"
    from = "inside"
    to = "outside"
    rate = "10Mbps"
    delay = "10ms"
    queue = "red"
    duplex = false

    [queue.red]
    aqm = "red"
    min_th = "5p"
    max_th = "15p"

With ``duplex = false`` what comes back is let through as it comes; without it the way back has the same rate and delay,
and the queue of ``reverse_queue``. A marker of the file's first flow marks whatever comes. The settings of ``[live]``
count, but for its family.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError, ScenarioError, counted, unknown
from aqmlab.live.link_configuration import link_configuration
from aqmlab.live.telemetry.formatting import milliseconds, rate
from aqmlab.scenario.file import Overrides, Scenario, read_text
from aqmlab.scenario.parts import Link
from aqmlab.scenario.registry import compiled
from aqmlab.scenario.toml_text import read_toml
from aqmlab.scenario.traces import read_trace

BOTTLENECK = "bottleneck"
"""The link of a dumbbell that is meant if none is named."""
REVERSE = ".reverse"
"""Ending of a link's name in its other direction."""
TRACE = "trace:"
"""Beginning of a rate that is the file of a trace."""
EVERYTHING = ["0.0.0.0/0", "::/0"]
NOTHING_RECORDED = ("probe", "{ links = [], delay_histogram = false }")
"""Overrides of the file: a shape may run for months, and samples would fill the memory."""


@dataclass(frozen=True)
class Configuration:
    """A link to be.

    Attributes
    ----------
    scenario
        The file, checked, with what was left out filled in.
    link
        From the input to the output.
    reverse
        The link of the other direction; None lets everything through there.
    """

    scenario: Scenario
    link: Link
    reverse: Link | None

    @classmethod
    def load(
        cls, path: str | Path, *, link: str | None = None, rate: str | None = None, overrides: Overrides = ()
    ) -> Configuration:
        """Read a file.

        Parameters
        ----------
        path
            The file.
        link
            Name of the link; default: that of ``[live]``, else the only one, else ``bottleneck``.
        rate
            In place of the link's rate: a rate, or ``trace:FILE`` with the file of a trace.
        overrides
            Dotted keys and values that override the file's.

        Raises
        ------
        InputError, ScenarioError
            If it cannot be read, is not valid, or does not say which link is meant.
        """
        text = read_text(Path(path))
        scenario = Scenario.from_text(_completed(text), filename=str(path), overrides=overrides)
        links = {one.name: one for one in scenario.links}
        name = link or _only(scenario, str(path))
        if name not in links:
            raise InputError(f"{path}: {unknown('link', name, list(links))}")
        if rate is not None:
            scenario = scenario.with_overrides({_key_of_rate(scenario, name): _rate(rate)})
            links = {one.name: one for one in scenario.links}
        chosen = links[name]
        compiled(chosen.aqm, f"{path}: link {name}")
        back = [one for one in scenario.links if (one.from_, one.to) == (chosen.to, chosen.from_)]
        return cls(scenario, chosen, back[0] if back else None)

    def words(self) -> str:
        """Say what it is."""
        speed = rate(self.link.rate_bps)
        if self.link.trace is not None:
            speed = f"trace of {speed} on average, repeated after {self.link.trace['period_s']:g} s"
        return ", ".join([self.link.aqm, speed, milliseconds(self.link.delay_s), *self.link.channel])

    def message(self, a: dict[str, Any], b: dict[str, Any], *, interval_s: float | None) -> dict[str, Any]:
        """Return the configuration of the link process, with its two ends."""
        group = {
            "name": self.scenario.flows[0].group,
            "prefix_a": EVERYTHING,
            "prefix_b": EVERYTHING,
            "flow_label": self.scenario.live["flow_label"],
        }
        return link_configuration(
            self.scenario,
            link=self.link.name,
            groups=[group],
            ends={"a": a, "b": b},
            overrides=[list(pair) for pair in (*self.scenario.overrides, NOTHING_RECORDED)],
            reverse_link=None if self.reverse is None else self.reverse.name,
            warmup_s=0.0,
            snapshot_interval_s=interval_s,
        )


def in_one_line(error: InputError) -> str:
    """Return the errors of a file as one line.

    >>> in_one_line(InputError("a.toml: no such file"))
    'a.toml: no such file'
    """
    if isinstance(error, ScenarioError) and len(error.problems) > 1:
        more = len(error.problems) - 1
        return f"{error.problems[0]} and {counted(more, 'more problem')}"
    return str(error)


def _completed(text: str) -> str:
    """Add the parts that a scenario needs and a shape does not: a length of the run, and a flow over the first link.

    Lines are added at the end, so that messages name the lines of the file.
    """
    try:
        data = read_toml(text)
    except InputError:
        return text
    added = ""
    if "run" not in data:
        added += '\n[run]\nduration = "1s"\n'
    links = data.get("link")
    if "flow" not in data and isinstance(links, list) and links and isinstance(links[0], dict):
        ends = [links[0].get(key) for key in ("from", "to")]
        if all(isinstance(end, str) and end.isprintable() and '"' not in end and "\\" not in end for end in ends):
            added += (
                f'\n[[flow]]\nname = "any"\ntransport = "udp"\nrate = "1kbps"\nfrom = "{ends[0]}"\nto = "{ends[1]}"\n'
            )
    elif "flow" not in data and "dumbbell" in data:
        added += '\n[[flow]]\nname = "any"\ntransport = "udp"\nrate = "1kbps"\n'
    return f"{text.rstrip()}\n{added}" if added else text


def _key_of_rate(scenario: Scenario, link: str) -> str:
    """Return the dotted key of a link's rate."""
    name = link.removesuffix(REVERSE)
    if "link" in scenario.tables:
        return f"link.{name}.rate"
    if name == BOTTLENECK and "dumbbell" in scenario.tables:
        return "dumbbell.bottleneck.rate"
    raise InputError(f"--rate: the link {link} has no key of its own (allowed: [[link]], the bottleneck of [dumbbell])")


def _rate(text: str) -> str:
    """Return the value of a rate, or of a trace in a file, as an override.

    >>> _rate("10Mbps")
    '10Mbps'
    """
    if not text.startswith(TRACE):
        return text
    path = Path(text.removeprefix(TRACE))
    try:
        read_trace(path)
    except InputError as error:
        raise InputError(f"--rate {TRACE}{error}") from None
    return f"{{ trace = {json.dumps(str(path.absolute()))} }}"


def _only(scenario: Scenario, path: str) -> str:
    """Return the link that is meant if none is named."""
    named = scenario.tables.get("live", {}).get("link")
    if named is not None:
        return str(named)
    names = [link.name for link in scenario.links]
    if BOTTLENECK in names:
        return BOTTLENECK
    forward: list[Link] = []
    for link in scenario.links:
        if not any((link.from_, link.to) == (seen.to, seen.from_) for seen in forward):
            forward.append(link)
    if len(forward) != 1:
        shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        raise InputError(f"{path}: has {len(names)} links; say which with --link (allowed: {shown})")
    return forward[0].name
