"""The paper's claims B-a to B-e, each decided by runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from aqmlab.papers.mred.measure import LOSSES, values
from aqmlab.papers.mred.plan import CASES, DISCIPLINES, FIGURE_N, FLOWS
from aqmlab.papers.mred.plan import claims as claim_texts
from aqmlab.stats import Difference, Verdict, interval, paired, verdict_above, verdict_all, verdict_below

WORSE_AT = 30
"""The number of flows at which the paper finds MRED's throughput worse."""
CLOSE_MBPS = 9.5
"""What counts as close to 10 Mb/s: the lowest printed value is 9.588."""
BASELINES = ("RED", "gentle RED")


@dataclass(frozen=True)
class Part:
    """One comparison that a claim rests on.

    Attributes
    ----------
    claim
        B-a to B-e.
    case, n
        Where.
    what
        What is compared, with its unit.
    against
        The baseline that this part is about; "" if it is about all.
    aspect
        Which of a claim's several questions this part answers, for the summary.
    difference
        The paired difference, or a mean against a bound.
    verdict
        Of this part alone.
    """

    claim: str
    case: str
    n: int
    what: str
    against: str
    aspect: str
    difference: Difference
    verdict: Verdict


@dataclass(frozen=True)
class Finding:
    """The verdict on a claim against one baseline, and what was found."""

    claim: str
    title: str
    against: str
    verdict: Verdict
    found: str
    says: str
    test: str


def judge(runs: pd.DataFrame) -> tuple[list[Finding], list[Part]]:
    """Judge all claims on the runs of one reading."""
    texts = {entry["id"]: entry for entry in claim_texts()}
    findings, all_parts = [], []
    for claim, parts_of in _PARTS.items():
        parts = parts_of(runs)
        all_parts += parts
        text = texts[claim]
        for against in dict.fromkeys(part.against for part in parts):
            own = [part for part in parts if part.against == against]
            overall = verdict_all([p.verdict for p in own], [p.difference.p for p in own])
            reason = _reason(runs, against) if overall is Verdict.FAILS and claim in ("B-a", "B-b", "B-d") else []
            found = "\n".join([describe(own), *_extra(claim, runs, against), *reason])
            findings.append(Finding(claim, text["title"], against, overall, found, text["says"], text["test"]))
    return findings, all_parts


def describe(parts: list[Part]) -> str:
    """Say where a claim holds, fails and is undecided, a line per case and question."""
    if len({part.verdict for part in parts}) == 1:
        all_of_them = {Verdict.HOLDS: "hold", Verdict.FAILS: "fail", Verdict.UNDECIDED: "are undecided"}
        return f"All {len(parts)} parts {all_of_them[parts[0].verdict]}."
    sentences = []
    for case, title in CASES.items():
        for aspect in dict.fromkeys(part.aspect for part in parts):
            own = [part for part in parts if (part.case, part.aspect) == (case, aspect)]
            words = []
            for verdict in Verdict:
                where = [str(part.n) for part in own if part.verdict is verdict]
                if where:
                    words.append(f"{verdict} at n = {', '.join(where)}")
            if words:
                sentences.append(f"{title}{f', {aspect}' if aspect else ''}: {'; '.join(words)}.")
    return "\n".join(sentences)


def parts_table(parts: list[Part]) -> pd.DataFrame:
    """Return all parts as a table."""
    return pd.DataFrame(
        [
            {
                "claim": part.claim,
                "case": CASES[part.case],
                "n": part.n,
                "quantity": part.what,
                "difference": part.difference.mean,
                "95 % low": part.difference.interval.low,
                "95 % high": part.difference.interval.high,
                "p": part.difference.p,
                "seeds": part.difference.interval.n,
                "verdict": str(part.verdict),
            }
            for part in parts
        ]
    )


def _throughput_parts(runs: pd.DataFrame) -> list[Part]:
    parts = []
    for against in BASELINES:
        for case in CASES:
            for n in FLOWS:
                found = _versus(runs, case, n, against, "throughput")
                judged = verdict_below(found.interval) if n == WORSE_AT else verdict_above(found.interval)
                parts.append(Part("B-a", case, n, f"throughput, MRED - {against}, Mb/s", against, "", found, judged))
    return parts


def _loss_parts(runs: pd.DataFrame) -> list[Part]:
    parts = []
    for against in BASELINES:
        for case in CASES:
            for n in FLOWS:
                found = _versus(runs, case, n, against, "loss_trace")
                judged = verdict_below(found.interval)
                parts.append(Part("B-b", case, n, f"loss as printed, MRED - {against}", against, "", found, judged))
    return parts


def _growth_parts(runs: pd.DataFrame) -> list[Part]:
    return [
        part
        for discipline in DISCIPLINES
        for part in _growing(runs, "B-c", discipline, "loss_trace", "loss as printed")
    ]


def _stability_parts(runs: pd.DataFrame) -> list[Part]:
    parts = []
    windows = [
        ("sole", "average_sd", "after 5 s"),
        ("mixed", "average_sd", "after 5 s"),
        ("mixed", "burst_sd", "3-10 s"),
    ]
    for against in BASELINES:
        for case, key, when in windows:
            found = _versus(runs, case, FIGURE_N, against, key)
            what = f"s.d. of the average {when}, MRED - {against}, packets"
            parts.append(Part("B-d", case, FIGURE_N, what, against, when, found, verdict_below(found.interval)))
    return parts


def _capacity_parts(runs: pd.DataFrame) -> list[Part]:
    parts = []
    for case in CASES:
        for n in FLOWS:
            found = paired(
                (mred := values(runs, case=case, n=n, discipline="MRED", key="throughput")),
                np.full(len(mred), CLOSE_MBPS),
            )
            what = f"throughput of MRED above {CLOSE_MBPS} Mb/s, Mb/s"
            parts.append(
                Part("B-e", case, n, what, "", f"above {CLOSE_MBPS} Mb/s", found, verdict_above(found.interval))
            )
    return parts + _growing(runs, "B-e", "MRED", "throughput", "throughput, Mb/s")


def _growing(runs: pd.DataFrame, claim: str, discipline: str, key: str, title: str) -> list[Part]:
    parts = []
    for case in CASES:
        for below, n in pairwise(FLOWS):
            found = paired(
                values(runs, case=case, n=n, discipline=discipline, key=key),
                values(runs, case=case, n=below, discipline=discipline, key=key),
            )
            what = f"{title}, {discipline}: n = {n} less n = {below}"
            aspect = "growing" if claim == "B-e" else discipline
            parts.append(Part(claim, case, n, what, "", aspect, found, verdict_above(found.interval)))
    return parts


def _versus(runs: pd.DataFrame, case: str, n: int, against: str, key: str) -> Difference:
    return paired(
        values(runs, case=case, n=n, discipline="MRED", key=key),
        values(runs, case=case, n=n, discipline=against, key=key),
    )


def _extra(claim: str, runs: pd.DataFrame, against: str) -> list[str]:
    """Say how large the effect is."""
    if claim in ("B-a", "B-b"):
        key, unit = ("throughput", " Mb/s") if claim == "B-a" else ("loss_trace", "")
        sizes = []
        for case, title in CASES.items():
            over_n = [
                values(runs, case=case, n=n, discipline="MRED", key=key)
                - values(runs, case=case, n=n, discipline=against, key=key)
                for n in FLOWS
            ]
            sizes.append(f"{title} {_signed(np.mean(over_n, axis=0))}{unit}")
        lines = [f"Mean of MRED - {against} over all n: {'; '.join(sizes)}."]
        return lines if claim == "B-a" else lines + _other_losses(runs, against)
    if claim == "B-d":
        sizes = []
        for case, title in CASES.items():
            here = [
                interval(values(runs, case=case, n=FIGURE_N, discipline=d, key="average_sd")).mean
                for d in ("MRED", against)
            ]
            sizes.append(f"{title} {here[0]:.2f} against {here[1]:.2f} packets")
        return [f"Standard deviation of the average after 5 s: {'; '.join(sizes)}."]
    if claim == "B-e":
        means = {
            (case, n): interval(values(runs, case=case, n=n, discipline="MRED", key="throughput")).mean
            for case in CASES
            for n in FLOWS
        }
        case, n = min(means, key=lambda at: means[at])
        return [f"Lowest mean: {means[case, n]:.3f} Mb/s ({CASES[case]}, n = {n})."]
    return []


def _other_losses(runs: pd.DataFrame, against: str) -> list[str]:
    """Say what becomes of B-b under the two other definitions of loss."""
    lines = []
    for key in ("loss_data", "loss_both"):
        found = [_versus(runs, case, n, against, key) for case in CASES for n in FLOWS]
        overall = verdict_all([verdict_below(d.interval) for d in found], [d.p for d in found])
        lines.append(f"With loss as {LOSSES[key]}: {overall}.")
    return lines


def _signed(by_seed: np.ndarray) -> str:
    found = interval(by_seed)
    return f"{found.mean:+.3g} ± {found.half_width:.2g}"


_PARTS: dict[str, Callable[[pd.DataFrame], list[Part]]] = {
    "B-a": _throughput_parts,
    "B-b": _loss_parts,
    "B-c": _growth_parts,
    "B-d": _stability_parts,
    "B-e": _capacity_parts,
}


def _reason(runs: pd.DataFrame, against: str) -> list[str]:
    """Say what happens at many flows, by how long the average is above max_th and the queue empty."""
    shares = {
        (discipline, key): interval(values(runs, case="sole", n=FIGURE_N, discipline=discipline, key=key)).mean
        for discipline in ("MRED", against)
        for key in ("above_share", "empty_share")
    }
    above, empty = (
        f"{shares['MRED', key]:.1%} of the time against {shares[against, key]:.1%}"
        for key in ("above_share", "empty_share")
    )
    return [
        f"Reason found (TCP alone, n = {FIGURE_N}): MRED drops less below max_th, so that the average runs into the "
        f"steep part above it more often ({above}); there many flows back off at once, and the queue runs empty "
        f"({empty})."
    ]
