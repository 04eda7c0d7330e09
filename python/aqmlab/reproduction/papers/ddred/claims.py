"""The claims of ``claims.toml`` executed, and what stands below the verdicts: sizes, objections and answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import Finding, Part
from aqmlab.reproduction.papers.ddred.measure import EVEN_S, GAINS, change, crossing, values
from aqmlab.reproduction.papers.ddred.plan import FIGURE_LATENCY, FILES, LATENCIES
from aqmlab.reproduction.papers.ddred.published import printed_change, printed_gain, printed_pair
from aqmlab.statistics import Verdict, interval

NETWORKS = {
    "C1a": ("bus", "L"), "C1b": ("bus", "d"), "C1c": ("bus", "S"), "C1d": ("bus", "T"),
    "C2a": ("flower", "L"), "C2b": ("flower", "S"), "C2c": ("flower", "T"),
}  # fmt: skip
"""Claims on the means of a network, and their quantity."""


def judge(runs: pd.DataFrame, gains: pd.DataFrame | None = None) -> tuple[list[Finding], list[Part]]:
    """Judge all claims on the runs of one reading; those whose network was not run are left out.

    Parameters
    ----------
    runs
        What `measure` found.
    gains
        What the transfers of the flower gain, by seed; None leaves claim C2d out.
    """
    table = claim_rows(runs, gains)

    def explain(claim: str, _: str, verdicts: Mapping[str, Verdict]) -> list[str]:
        if claim in NETWORKS:
            return _network(runs, *NETWORKS[claim], verdicts)
        if claim == "C2d" and gains is not None:
            return _transfers(gains, verdicts)
        return {"C3c": _equality, "C3d": _throughput}[claim](runs, verdicts) if claim in ("C3c", "C3d") else []

    return common.execute_claims(FILES.claim_file(), table, cells=FILES.cells(), explain=explain)


def claim_rows(runs: pd.DataFrame, gains: pd.DataFrame | None) -> pd.DataFrame:
    """Return the table that ``claims.toml`` is about: the runs, with what the transfers of the flower gain."""
    of: dict[str, Any] = {"case": "flower", "latency": 0, "discipline": "DDRED"}
    known = pd.DataFrame(columns=["seed", *GAINS], dtype=float) if gains is None else gains
    return runs.merge(known.assign(**of), how="left", on=[*of, "seed"])


def _network(runs: pd.DataFrame, case: str, quantity: str, verdicts: Mapping[str, Verdict]) -> list[str]:
    found = change(runs, case, quantity)
    ddred, red = (values(runs, quantity, case=case, discipline=d) for d in ("DDRED", "RED"))
    name = "S/L" if quantity == "d" else quantity
    lines = [
        f"{name}: {found.mean:+.1f} ± {found.half_width:.1f} % (printed {printed_change(case, quantity):+.1f} %); "
        f"smaller under DDRED in {np.count_nonzero(ddred < red)} of {len(red)} runs."
    ]
    if verdicts["strict"] is Verdict.FAILS and verdicts["literal"] is not Verdict.FAILS:
        lines.append(
            f"Objection: the text speaks of averages. Answer: the literal form, which judges the mean, "
            f"{_says(verdicts['literal'])}. The strict form asks for each run, since Figures 3 to 10 show them singly."
        )
    return lines


def _transfers(gains: pd.DataFrame, verdicts: Mapping[str, Verdict]) -> list[str]:
    mean = gains.mean()
    better, worse = printed_gain("better"), printed_gain("worse")
    lines = [
        f"Mean over {len(gains)} runs: {mean['better']:.0f} transfers better and {mean['worse']:.0f} worse, "
        f"{mean['even']:.0f} left out (printed {better:.0f}, {worse:.0f} and, of 500, {500 - better - worse:.0f}); "
        f"{mean['gained']:.0f} s gained and {mean['lost']:.0f} s lost (printed {printed_gain('gained'):.0f} and "
        f"{printed_gain('lost'):.0f})."
    ]
    if verdicts["strict"] is Verdict.FAILS:
        faster, slower = (mean[f"all_{name}"] - mean[name] for name in ("better", "worse"))
        lines.append(
            f"Objection: transfers that hardly change are neither better nor worse. Answer: the literal form leaves "
            f"them out and {_says(verdicts['literal'])}. Of those that change by at most {EVEN_S} s, {slower:.0f} are "
            f"slower and {faster:.0f} faster, so that of all transfers {mean['all_better']:.0f} are better and "
            f"{mean['all_worse']:.0f} worse."
        )
    return lines


def _equality(runs: pd.DataFrame, verdicts: Mapping[str, Verdict]) -> list[str]:
    at = crossing(runs)
    lines = [f"The mean log ratio passes 0 {f'at {at:.0f} ms' if at == at else 'nowhere'}; printed: below 20 ms."]
    if verdicts["strict"] is Verdict.FAILS:
        where = {"case": "pair", "latency": FIGURE_LATENCY, "discipline": "DDRED"}
        far, near = values(runs, "PCs1", **where), values(runs, "PCs2", **where)
        pair = "/".join(f"{value:.0f}" for value in printed_pair(FIGURE_LATENCY, "DDRED"))
        lines.append(
            f"Objection: Table I has one run of each cell, and {pair} at {FIGURE_LATENCY} ms is nearly equal. Answer: "
            f"the mean is {np.mean(far):.0f}/{np.mean(near):.0f} KB/s there, and PCs2, which is ahead on "
            f"paper, is ahead in {np.count_nonzero(near > far)} of {len(far)} runs."
        )
    return lines


def _throughput(runs: pd.DataFrame, verdicts: Mapping[str, Verdict]) -> list[str]:
    if Verdict.FAILS not in verdicts.values():
        return []
    far, near = (interval(np.mean(_differences(runs, name), axis=0)) for name in ("PCs1", "PCs2"))
    return [
        f"Objection: the sentence means the favoured flow. Answer: averaged over the latencies PCs1 gains "
        f"{far.mean:.0f} ± {far.half_width:.0f} KB/s, but PCs2 loses {-near.mean:.0f} ± {near.half_width:.0f}; the "
        "conclusion speaks of a higher global bandwidth, which is the sum.",
        "Objection: 10 s are short. Answer: over 100 s the sum is lower too, by 39 ± 1 KB/s averaged over the "
        "latencies (reading D-14, 11 seeds).",
    ]


def _differences(runs: pd.DataFrame, flow: str) -> list[np.ndarray]:
    found = []
    for latency in LATENCIES:
        ddred, red = (values(runs, flow, case="pair", latency=latency, discipline=d) for d in ("DDRED", "RED"))
        found.append(ddred - red)
    return found


def _says(verdict: Verdict) -> str:
    return "is undecided" if verdict is Verdict.UNDECIDED else str(verdict)
