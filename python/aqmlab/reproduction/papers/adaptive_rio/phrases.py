"""How large the effects behind the claims are, in words for the summary."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from aqmlab.reproduction.papers.adaptive_rio.effects import gain, over
from aqmlab.reproduction.papers.adaptive_rio.measure import ACTIVE, IDLE, abscissae, values
from aqmlab.reproduction.papers.adaptive_rio.plan import ADAPTIVE, AT_C, AT_C_INIT, AT_MAX_U, RED, RIO
from aqmlab.statistics import interval


def _say_utilization(runs: pd.DataFrame, basis: str) -> list[str]:
    first, *_, last = abscissae(runs, "figure2")
    low, high = (
        interval(values(runs, f"utilization_{basis}", case="figure2", discipline=RED, x=x)) for x in (first, last)
    )
    return [f"From {low} at max_th = {first} to {high} at {last}."]


def _say_assured(runs: pd.DataFrame, basis: str) -> list[str]:
    found = [f"{name} {interval(over(runs, 'assured', basis, ACTIVE, name))}" for name in (ADAPTIVE, RIO)]
    return [f"Assured throughput while active, Mb/s: {'; '.join(found)}."]


def _say_total(runs: pd.DataFrame, basis: str) -> list[str]:
    sizes = []
    for which, title in ((IDLE, "idle"), (ACTIVE, "active")):
        own, rio = (over(runs, "total", basis, which, name) for name in (ADAPTIVE, RIO))
        sizes.append(f"{title} {np.mean(own):.2f} against {np.mean(rio):.2f} ({_signed(own - rio)})")
    return [f"Total throughput, {ADAPTIVE} against {RIO}, Mb/s, while the assured flow is {'; '.join(sizes)}."]


def _say_improvement(runs: pd.DataFrame, basis: str) -> list[str]:
    sizes = [
        f"{off} s {_signed(gain(runs, f'u_be_{basis}', 'experiment2', off))}" for off in abscissae(runs, "experiment2")
    ]
    return [f"Improvement by mean off time: {'; '.join(sizes)}."]


def _say_committed(runs: pd.DataFrame, basis: str) -> list[str]:
    if not (runs["case"] == "experiment2").any():
        return []
    lowest = []
    for name in (ADAPTIVE, RIO):
        means = {
            off: float(np.mean(values(runs, f"on_{basis}", case="experiment2", discipline=name, x=off)))
            for off in abscissae(runs, "experiment2")
        }
        off = min(means, key=lambda at: means[at])
        lowest.append(f"{name} {means[off]:.3f} Mb/s at {off} s")
    return [f"Lowest assured throughput while on: {'; '.join(lowest)}."]


def _say_reference(runs: pd.DataFrame, basis: str) -> list[str]:
    lines = []
    for name in (ADAPTIVE, AT_C, AT_C_INIT):
        share, max_th, above_share = (
            float(np.mean(values(runs, key, case="experiment1", discipline=name)))
            for key in ("c_share", "max_th", "over_share")
        )
        assured, total = (float(np.mean(over(runs, kind, basis, ACTIVE, name))) for kind in ("assured", "total"))
        lines.append(
            f"{name}: C' {share:.3f} C (the rate is above C' + ε in {above_share:.1%} of the time), "
            f"max_th {max_th:.0f} packets, {assured:.2f} of {total:.2f} Mb/s"
        )
    return [f"Means in the active periods, and assured of total throughput: {'; '.join(lines)}."]


def _say_premise(runs: pd.DataFrame, basis: str) -> list[str]:
    lines = []
    for name in (RIO, ADAPTIVE, AT_MAX_U):
        assured, total = (float(np.mean(over(runs, kind, basis, ACTIVE, name))) for kind in ("assured", "total"))
        delay = float(np.mean(values(runs, "mean_delay_ms", case="experiment1", discipline=name)))
        lines.append(f"{name} {assured:.2f} of {total:.2f} Mb/s, mean queueing delay over the run {delay:.1f} ms")
    drops = []
    for name in (RIO, ADAPTIVE, AT_MAX_U):
        both, inside = (
            float(np.mean(values(runs, key, case="experiment1", discipline=name)))
            for key in ("drops_assured", "drops_in")
        )
        drops.append(f"{name} {both:.0f}, {inside:.1f} of them in profile")
    return [
        f"Assured and total throughput in the active periods: {'; '.join(lines)}.",
        f"Packets of the assured flow dropped in a run: {'; '.join(drops)}. What slows it down are drops of its own "
        "packets out of profile, and low thresholds drop those first.",
    ]


def _signed(by_seed: np.ndarray) -> str:
    found = interval(by_seed)
    return f"{found.mean:+.3g} ± {found.half_width:.2g}"


SIZES: dict[str, Callable[[pd.DataFrame, str], list[str]]] = {
    "E-a": _say_utilization,
    "E-b": _say_assured,
    "E-c": _say_total,
    "E-d": _say_improvement,
    "E-e": _say_improvement,
    "E-f": _say_committed,
    "E-g": _say_reference,
    "E-h": _say_premise,
}
"""By claim: called with the runs of one reading and what counts as throughput."""
