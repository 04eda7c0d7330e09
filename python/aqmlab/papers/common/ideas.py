"""A picture of each paper's idea, for its card: a drop curve, or the packet that pays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from matplotlib.patches import Rectangle

from aqmlab.figures import drop_curves
from aqmlab.figures.marks import GREY, PALETTE, Mark, mark_of
from aqmlab.reporting import plots
from aqmlab.reporting.mpl_style import INK, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE_IN = (4.6, 1.9)
THRESHOLDS = {"min_th": 10, "max_th": 30, "max_p": 0.1}
TOP = 80.0


@dataclass(frozen=True)
class Idea:
    """A picture: what paints it on an axis, and what it shows in words."""

    paint: Callable[[Axes], None]
    alt: str

    def svg(self) -> Markup:
        """Return the picture as markup of a page."""
        return plots.inline_svg(self.paint, SIZE_IN)


def picture(paper: str) -> Idea | None:
    """Return the figure of a paper's idea by the paper's name; None if the paper has no figure of its idea."""
    return IDEAS.get(paper)


def _curves(ax: Axes, *, queues: Mapping[str, Mapping[str, Any]], marks: Mapping[str, Mark]) -> None:
    """Draw drop curves, from the code that is simulated."""
    for series in drop_curves(queues, top=TOP).series:
        mark = marks[series.name]
        style: dict[str, Any] = {"color": mark.color, "marker": MARKERS[mark.marker], "markevery": 0.14, "ms": 5}
        ax.plot(series.x, series.y, label=series.name, lw=1.8, **style)
    ax.set_xlabel("average queue, packets")
    ax.set_ylabel("drop probability")
    ax.set_ylim(0, 1.04)
    ax.legend(fontsize=8.5, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _queue(
    ax: Axes, *, labels: Sequence[str], arriving: str, victim: int, words: str, color: str, spared: int | None = None
) -> None:
    """Draw a queue with the arriving packet at its left, the packet that pays, and one that was picked and spared."""
    for place, label in enumerate(labels):
        pays = place == victim
        edge = color if pays else PALETTE[GREY]
        ax.add_patch(Rectangle((place + 0.06, 0.1), 0.88, 0.8, fill=pays, alpha=0.25, fc=edge, ec="none"))
        ax.add_patch(Rectangle((place + 0.06, 0.1), 0.88, 0.8, fill=False, ec=edge, lw=2 if pays else 1.2))
        ax.text(place + 0.5, 0.5, label, ha="center", va="center", fontsize=10, fontweight="bold" if pays else "normal")
    ax.add_patch(Rectangle((-1.44, 0.1), 0.88, 0.8, fill=False, ec=PALETTE[GREY], lw=1.2, ls="--"))
    ax.text(-1.0, 0.5, arriving, ha="center", va="center", fontsize=10)
    ax.text(-1.0, 1.12, "arrives", ha="center", fontsize=8.5)
    ax.text(victim + 0.5, 1.12, "is dropped", ha="center", fontsize=8.5, fontweight="bold")
    if spared is not None:
        ax.text(spared + 0.5, 1.45, "is picked, spared", ha="center", fontsize=8.5)
    ax.text((len(labels) - 1.4) / 2, -0.42, words, ha="center", fontsize=8.5)
    ax.annotate("", (0, 0.5), (-0.5, 0.5), arrowprops={"arrowstyle": "->", "color": INK})
    ax.annotate("", (len(labels) + 0.6, 0.5), (len(labels), 0.5), arrowprops={"arrowstyle": "->", "color": INK})
    ax.set_xlim(-1.6, len(labels) + 0.8)
    ax.set_ylim(-0.6, 1.85)
    ax.set_axis_off()


def _against_red(name: str, aqm: str, alt: str) -> Idea:
    """Return the drop curves of RED and of a discipline with the same thresholds."""
    queues = {"RED": {"aqm": "red", **THRESHOLDS}, name: {"aqm": aqm, **THRESHOLDS}}
    return Idea(partial(_curves, queues=queues, marks={"RED": mark_of("red"), name: mark_of(aqm)}), alt)


def _rio() -> Idea:
    """Return the drop curve of best effort in RIO, and where its thresholds go while bandwidth is unused."""
    low, high = {"aqm": "red", "min_th": 5, "max_th": 15, "max_p": 0.1}, {"aqm": "red", **THRESHOLDS, "max_th": 45}
    queues = {"best effort, low": low, "best effort, up to max_U": high}
    marks = {"best effort, low": mark_of("rio"), "best effort, up to max_U": mark_of("adaptive-rio")}
    return Idea(
        partial(_curves, queues=queues, marks=marks),
        "Drop probability of best effort against the average queue: thresholds low while assured traffic needs "
        "protection, and higher while bandwidth is unused.",
    )


IDEAS = {
    "MRED": _against_red(
        "MRED", "mred", "Drop probability against the average queue: MRED rises as a parabola below RED, then to 1."
    ),
    "ExRED": _against_red(
        "ExRED", "exred",
        "Drop probability against the average queue: the same line up to max_th, where RED jumps to 1 and ExRED "
        "rises as a parabola."
    ),
    "DDRED": Idea(
        partial(
            _queue, labels=["5", "2", "6", "4", "3"], arriving="7", victim=1, color=mark_of("ddred").color,
            words="numbers: hops that a packet has travelled; the one with the fewest pays",
        ),
        "A queue of packets with the hops that each has travelled: the one with the fewest is dropped.",
    ),
    "PC-RED": Idea(
        partial(
            _queue, labels=["kept", "kept", "over", "kept", "kept"], arriving="any", victim=1, spared=2,
            color=mark_of("pc-red").color,
            words="over: its flow has lost more than promised; the next behind it pays",
        ),
        "A packet is picked at random; since its flow has lost more than promised it is spared, and the packet behind "
        "it is dropped.",
    ),
    "Adaptive-RIO": _rio(),
}  # fmt: skip
"""Name of a paper to the picture of its idea."""
