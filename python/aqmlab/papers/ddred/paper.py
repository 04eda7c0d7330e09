"""DDRED's own additions to ``page.toml``: its table of runs, three figures, and words on the search."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aqmlab.figures import drop_curves
from aqmlab.figures.chart import Chart, Series
from aqmlab.papers.common import Setup, pick
from aqmlab.papers.common.page_file import toml_paper
from aqmlab.papers.common.paper import Study
from aqmlab.papers.ddred import sweep
from aqmlab.papers.ddred.measure import (
    EVEN_S,
    GAINS,
    counted,
    gains,
    gains_of,
    losses_of,
    measure_run,
    sums_of,
)
from aqmlab.papers.ddred.plan import FIGURE_RUN, FILES, Effort, readings, setups
from aqmlab.papers.ddred.tables import shown, tables


def rows(study: Study) -> pd.DataFrame:
    """Return the runs with the gains of the flower's transfers, and with losses counted in other ways as readings."""
    of = ["reading", "seed"]
    found = [pd.DataFrame(columns=[*of, *GAINS], dtype=float).astype({"reading": str})]
    for setup in study.setups:
        if (setup.key["case"], setup.key["discipline"]) == ("flower", "DDRED"):
            (red,) = pick(study.setups, reading=setup.reading, case="flower", discipline="RED")
            found.append(gains(red, setup, study.root).assign(reading=setup.reading))
    return with_countings(with_gains(study.frame, pd.concat(found)), study)


def with_gains(runs: pd.DataFrame, gained: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with the gains of the flower's transfers, in the rows of DDRED."""
    where: dict[str, Any] = {"case": "flower", "latency": 0, "discipline": "DDRED"}
    return runs.merge(gained.assign(**where), how="left", on=[*where, "reading", "seed"])


def with_countings(runs: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return the runs, and those of bus and flower again for each reading that counts losses in another way."""
    base = runs[(runs["reading"] == "base") & runs["case"].isin(["bus", "flower"])]
    others = [
        counted(base, reading.options["count"]).assign(reading=reading.label)
        for reading in readings(study.effort)
        if "count" in reading.options
    ]
    return pd.concat([runs, *others], ignore_index=True)


def figures(study: Study) -> dict[str, Chart]:
    """Return Figures 1, 4 and 11."""
    return {
        "figure-1": figure_1(),
        "figure-4": losses_by_distance(study.setups, study.root),
        "figure-11": gains_by_transfer(study.setups, study.root),
    }


def figure_1() -> Chart:
    """Figure 1: the probability of marking a packet, in classic and in gentle RED, with the thresholds of the runs."""
    scenario = FILES.scenario("pair")
    used = next(link.parameters for link in scenario.links if link.queue == "router")
    body = scenario.queue_table("router") | {key: used[key] for key in ("min_th", "max_th")}
    return drop_curves({"RED": body | {"aqm": "red"}, "gentle RED": body | {"aqm": "gentle-red"}}, top=50)


def losses_by_distance(setups: Sequence[Setup], root: Path) -> Chart:
    """Figure 4: how the losses of one run of the bus are spread over the distance."""
    series, words = [], []
    both = pick(setups, case="bus")
    found = [losses_of(setup.run_folder(root, min(FIGURE_RUN, setup.seeds)))[:2] for setup in both]
    every = np.arange(max(distance.max(initial=0) for distance, _ in found) + 1)
    for setup, (distance, drops) in zip(both, found, strict=True):
        name = str(setup.key["discipline"])
        heights = np.zeros(len(every))
        heights[distance.astype(int)] = drops
        series.append(Series(name, [f"{d:.0f}" for d in every], heights, mode="bar"))
        words.append(f"{name} loses {heights[:2].sum() / heights.sum():.0%} at distances 0 and 1")
    says = "; ".join(words)
    alt = f"Data packets lost by the number of routers they had entered: {says}."
    caption = f"One run; distance 0 is the workstation's own queue. {says}."
    return Chart("figure-4", "", alt, "", "", series, caption=caption)


def gains_by_transfer(setups: Sequence[Setup], root: Path) -> Chart:
    """Figure 11: what each transfer of one run of the flower gains by DDRED, sorted."""
    red, ddred = (pick(setups, case="flower", discipline=d)[0] for d in ("RED", "DDRED"))
    run = min(FIGURE_RUN, red.seeds)
    gained = np.sort(gains_of(red.run_folder(root, run), ddred.run_folder(root, run)))[::-1]
    found = sums_of(gained)
    words = (
        f"{found['better']} transfers are faster by more than {EVEN_S} s, by {found['gained']:.0f} s in all, and "
        f"{found['worse']} slower, by {found['lost']:.0f} s"
    )
    paper = {name: FILES.printed(case="flower", quantity=name) for name in ("better", "gained", "worse", "lost")}
    return Chart(
        "figure-11",
        f"Figure 11: flower, transfer time under RED less that under DDRED in Sr_{run}",
        f"Sorted from the largest gain to the largest loss: {words}.",
        "",
        "",
        [Series("RED - DDRED", np.arange(1, len(gained) + 1), gained, color=1)],
        caption=f"One run: {words}. Printed: {paper['better']:.0f} faster by {paper['gained']:.0f} s in all, "
        f"{paper['worse']:.0f} slower by {paper['lost']:.0f} s.",
    )


def words(study: Study) -> dict[str, str]:
    """Return the results of the search for Table I, in words."""
    return {"search": sweep.words(sweep.results(study.effort, study.root), study.effort)}


PAPER = toml_paper(
    FILES,
    Effort,
    setups,
    measure_run,
    rows=rows,
    others=sweep.points,
    tables=tables,
    shown=shown,
    figures=figures,
    words=words,
)
