"""Chart of the speed page: the ratio to ns-2 in each case, read from the table of pairs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

RATIO = re.compile(r"(\d+\.\d) \((\d+\.\d) to (\d+\.\d)\)")
COLOUR = "#0072b2"


@dataclass(frozen=True)
class Ratio:
    """Speed of a case as a multiple of that of ns-2: the median of the pairs and their range."""

    case: str
    median: float
    low: float
    high: float


def ratios(text: str) -> list[Ratio]:
    """Read the ratios of the first table of `pairs.report`; cases without ns-2 are left out.

    >>> ratios("| D1G | windows | 1 | 1 | 0 | 54.2 | 2.63 | 18.5 | 19.7 (16.6 to 21.9) | 14.1 | 5.5 | 29.1 |")
    [Ratio(case='D1G', median=19.7, low=16.6, high=21.9)]
    """
    found: dict[str, Ratio] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        match = next((m for m in map(RATIO.fullmatch, cells) if m), None)
        if match:
            found.setdefault(cells[0], Ratio(cells[0], *map(float, match.groups())))
    return list(found.values())


def draw(found: list[Ratio], path: Path) -> None:
    """Write the chart as SVG: a bar for each case, with the range of the pairs."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "speed", "svg.fonttype": "none", "font.family": "sans-serif"})
    figure, axes = plt.subplots(figsize=(7.0, 0.5 + 0.45 * len(found)), layout="constrained")
    names = [ratio.case for ratio in found]
    spread = [[r.median - r.low for r in found], [r.high - r.median for r in found]]
    axes.barh(names, [r.median for r in found], xerr=spread, color=COLOUR, ecolor="#333333", capsize=3, height=0.6)
    for row, ratio in enumerate(found):
        axes.text(ratio.high + 0.3, row, f"{ratio.median:.1f}", va="center")
    axes.axvline(1.0, color="#333333", linewidth=1)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.1 * max(ratio.high for ratio in found))
    axes.set_xlabel("packets a second, as a multiple of ns-2 2.35 (line: 1)")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
