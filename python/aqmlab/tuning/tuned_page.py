"""The page of a comparison of tuned disciplines."""

from __future__ import annotations

from pathlib import Path

from aqmlab import _core
from aqmlab.errors import counted
from aqmlab.reporting.page import Page
from aqmlab.tuning.figures import chart_of
from aqmlab.tuning.search import front
from aqmlab.tuning.tuned_outcome import TunedComparison


def write_page(found: TunedComparison, path: Path) -> Path:
    """Write the page: the answer, the table of the disciplines, budget and conditions, all trials and settings."""
    page = Page(f"Each discipline at its best: {found.name}", found.answer(), folder=path.parent)
    page.section("Default and tuned")
    caption = (
        f"{found.goal_words}; {counted(found.seeds[2], 'fresh seed')}, 95 % intervals; verdicts with Holm's correction."
    )
    page.table(found.table().rename(columns={"": "discipline"}), caption=caption)
    for line in found.lines():
        page.text(line)
    page.section("Evidence")
    page.table(found.settings_table(), caption="All settings: the goal and the verdict against the tuned baseline.")
    for entry in found.entries:
        for one in entry.searches:
            with page.folded(f"{entry.aqm}: {counted(len(one.trials), 'trial')}, search seed {one.seed}"):
                settings = [entry.default.everywhere, one.tuned.everywhere]
                best = front(one.trials, found.task)
                page.chart(chart_of(found.queue, found.task, trials=one.trials, front=best, confirmed=settings))
    page.section("Provenance")
    page.text(f"{found.name}: aqmlab {_core.version()}, scenario hash `{found.hash}`.")
    return page.write(path.parent, pictures=False, name=path.name, progress=True)
