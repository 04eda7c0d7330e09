"""Topology, queues and drop curves of a scenario as SVG."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.errors import counted
from aqmlab.figures import scenario_curves
from aqmlab.figures.marks import PALETTE
from aqmlab.figures.traces import scenario_traces
from aqmlab.reporting import plots
from aqmlab.reporting.layout import Drawing, Spot, Wire, arrange
from aqmlab.runs.arguments import as_scenario
from aqmlab.scenario.parts import rate_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aqmlab.scenario.file import Overrides, Scenario
    from aqmlab.scenario.parts import Link

MOST_OUTAGES = 6
"""Outages of links that a drawing lists."""
MANY_ALIKE = 3
"""So many links between routers that are alike are described once."""


def draw(
    scenario: str | Path | Scenario, *, overrides: Overrides = (), out: str | Path = ".", png: bool = False
) -> list[Path]:
    """Draw a scenario's network, the drop curves of its queues, and the rates of links that follow a trace.

    Parameters
    ----------
    scenario
        A scenario file, or a scenario already loaded.
    overrides
        Dotted keys and values that override the file's.
    out
        Folder for the files ``<name>-topology.svg``, ``<name>-drop-curve.svg`` and ``<name>-trace.svg``.
    png
        Also write PNG pictures beside the SVG.

    Returns
    -------
    list of Path
        The files written.
    """
    plan = as_scenario(scenario, overrides=overrides)
    stem = plan.label.rsplit("-", 1)[0]
    place = Path(out) / f"{stem}-topology"
    files = plots.save_figure(lambda ax: topology(ax, plan), place, size_in=(8.4, 3.8), png=png)
    curves = scenario_curves(plan)
    if curves is not None:
        files += plots.save_figure(lambda ax: plots.draw(ax, curves), Path(out) / f"{stem}-drop-curve", png=png)
    traces = scenario_traces(plan)
    if traces is not None:
        files += plots.save_figure(lambda ax: plots.draw(ax, traces), Path(out) / f"{stem}-trace", png=png)
    return files


def topology(ax: Axes, scenario: Scenario, drawing: Drawing | None = None) -> None:
    """Draw the network on an axis: routers as squares, hosts as circles, a queue's discipline at its link.

    `drawing` is the scenario's layout, if it is known already.
    """
    drawing = drawing or arrange(scenario)
    labels, note = _labels(drawing)
    failing = {change["link"] for change in scenario.changes if "state" in change}
    for wire in drawing.wires:
        style = "--" if any(link.name in failing for link in _directions(wire)) else "-"
        _wire(ax, drawing, wire, labels[wire.a, wire.b], style)
    note = "\n".join([*filter(None, [note]), *outages(scenario)[:MOST_OUTAGES]])
    for spot in drawing.spots.values():
        _spot(ax, spot)
    xs = [spot.x for spot in drawing.spots.values()] or [0.0]
    ys = [spot.y for spot in drawing.spots.values()] or [0.0]
    ax.set_xlim(min(xs) - 0.4, max(xs) + 0.4)
    ax.set_ylim(min(ys) - 0.3, max(ys) + 0.22)
    ax.set_axis_off()
    ax.annotate(note, (0.5, 0.02), xycoords="axes fraction", ha="center", va="bottom", fontsize=8)
    ax.set_title(scenario.name, loc="left", fontsize=10.5, fontweight="bold")


def describe(scenario: Scenario, drawing: Drawing | None = None) -> str:
    """Return a description of the topology in words, for users of screen readers."""
    drawing = drawing or arrange(scenario)
    hosts = [s for s in drawing.spots.values() if s.is_host]
    routers = [s for s in drawing.spots.values() if not s.is_host]
    managed = [link for link in scenario.links if link.aqm != "drop-tail"]
    details = [f"{link.name}: {link.aqm}, {rate_text(link.rate_bps)}" for link in managed[:6]]
    details += outages(scenario)[:MOST_OUTAGES]
    return (
        f"Network of {scenario.name}: {counted(len(routers), 'router')} ({', '.join(s.label for s in routers[:12])}), "
        f"{counted(sum(s.count for s in hosts), 'host')}, {counted(len(scenario.flows), 'flow')}. {'; '.join(details)}"
    )


def outages(scenario: Scenario) -> list[str]:
    """Return when links are down, a text for each outage in the order of their starts.

    >>> from aqmlab.runs.arguments import as_scenario
    >>> outages(as_scenario("example:failure"))
    ['r1->r2: down from 4 s to 9 s', 'r2->r1: down from 4 s to 9 s']
    """
    changes = [change for change in scenario.changes if "state" in change]
    texts = []
    for number, change in enumerate(changes):
        if change["state"] == "down":
            later = [other["at_s"] for other in changes[number + 1 :] if other["link"] == change["link"]]
            until = f" to {later[0]:g} s" if later else ""
            texts.append(f"{change['link']}: down from {change['at_s']:g} s{until}")
    return texts


def _spot(ax: Axes, spot: Spot) -> None:
    if spot.is_host:
        ax.plot(spot.x, spot.y, "o", ms=9, color=PALETTE[5], zorder=3)
        sideways = abs(math.cos(spot.angle)) > 0.5
        ax.annotate(
            spot.label,
            (spot.x, spot.y),
            (9 * math.copysign(1, math.cos(spot.angle)) if sideways else 0, 0 if sideways else 12),
            textcoords="offset points",
            ha=("left" if math.cos(spot.angle) > 0 else "right") if sideways else "center",
            va="center",
            fontsize=8,
        )
        return
    ax.plot(spot.x, spot.y, "s", ms=19, color=PALETTE[0], zorder=3)
    ax.annotate(spot.label, (spot.x, spot.y), ha="center", va="center", fontsize=8, color="white", zorder=4)


def _wire(ax: Axes, drawing: Drawing, wire: Wire, lines: list[str], style: str) -> None:
    a, b = drawing.spots[wire.a], drawing.spots[wire.b]
    core = not (a.is_host or b.is_host)
    ax.plot([a.x, b.x], [a.y, b.y], style, color=PALETTE[5], lw=2.2 if core else 1.1, zorder=1)
    angle = math.degrees(math.atan2(b.y - a.y, b.x - a.x))
    angle = angle - 180 if angle > 90 else angle + 180 if angle <= -90 else angle
    ax.annotate(
        "\n".join(lines),
        ((a.x + b.x) / 2, (a.y + b.y) / 2),
        (0, 4),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=8 if core else 7,
        rotation=angle,
        rotation_mode="anchor",
    )


def _labels(drawing: Drawing) -> tuple[dict[tuple[str, str], list[str]], str]:
    """Return the labels of each link, and a note in place of labels that three or more links share."""
    kinds: dict[str, list[Wire]] = {}
    labels: dict[tuple[str, str], list[str]] = {}
    for wire in drawing.wires:
        ends = (drawing.spots[wire.a], drawing.spots[wire.b])
        labels[wire.a, wire.b] = [_speed(wire)]
        if any(end.is_host for end in ends):
            kinds.setdefault(f"links to hosts: {labels[wire.a, wire.b][0]}", []).append(wire)
            continue
        there, back = wire.forward.aqm, wire.back.aqm if wire.back else ""
        queues = there if there == back else " / ".join(name for name in (there, back) if name)
        kinds.setdefault(f"links between routers: {labels[wire.a, wire.b][0]}, {queues}", []).append(wire)
        ways = [f"{link.from_} → {link.to}: " for link in _directions(wire)]
        own = [link.aqm if _is_symmetric(wire) else f"{_speed_of(link)}, {link.aqm}" for link in _directions(wire)]
        lines = [way + what for way, what in zip(ways, own, strict=True)]
        labels[wire.a, wire.b] = [*labels[wire.a, wire.b], *lines] if _is_symmetric(wire) else lines
    notes = []
    for kind, wires in kinds.items():
        if len(wires) >= MANY_ALIKE:
            notes.append(f"{len(wires)} {kind}")
            labels |= {(wire.a, wire.b): [] for wire in wires}
    return labels, "\n".join(notes)


def _is_symmetric(wire: Wire) -> bool:
    """Whether both directions have the same rate and delay."""
    return len({(link.rate_bps, link.delay_s) for link in _directions(wire)}) == 1


def _speed(wire: Wire) -> str:
    """Return rate and delay, of each direction where they differ."""
    return " / ".join(dict.fromkeys(_speed_of(link) for link in _directions(wire)))


def _speed_of(link: Link) -> str:
    return f"{rate_text(link.rate_bps)}, {link.delay_s * 1e3:g} ms"


def _directions(wire: Wire) -> list[Link]:
    return [link for link in (wire.forward, wire.back) if link is not None]
