"""The claims of ``claims.toml`` executed, and what the runs and the chains show besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import BASE, Finding, Part, chosen
from aqmlab.reproduction.papers.common.open_loop import LONGEST
from aqmlab.reproduction.papers.exred.chain import Averaged
from aqmlab.reproduction.papers.exred.claim_rows import claim_rows
from aqmlab.reproduction.papers.exred.plan import EXRED, FILES, RED, RUN_LOADS, TAIL
from aqmlab.statistics import Verdict

SHOWN = {"D-b": ("P_drop", "p_drop"), "D-d": ("E(N)", "mean_run"), "D-e": ("Mean wait, ms", "wait_ms")}
"""What is shown of the simulation with a claim; under TCP:"""
SHOWN_UNDER_TCP = {
    "D-g": [("Utilization", "utilization")],
    "D-h": [("Loss", "loss"), ("Time-outs per flow and minute", "timeouts")],
    "D-i": [("Mean delay, ms", "mean_delay_ms")],
}


def judge(
    loops: pd.DataFrame | None,
    tcp: pd.DataFrame | None,
    *,
    theory: Averaged | None = None,
    experiments: pd.DataFrame | None = None,
) -> tuple[list[Finding], list[Part]]:
    """Judge the claims on the runs of one reading.

    Parameters
    ----------
    loops, tcp
        Runs of the open loop and under TCP; None leaves out the claims that are about them.
    theory
        The chain of number and average; with it the chains' numbers count too, which belong to the reading that was
        chosen.
    experiments
        The rows of all readings, for the answers to objections.
    """
    rows = claim_rows(loops, tcp, theory)

    def explain(claim: str, against: str, verdicts: Mapping[str, Verdict]) -> list[str]:
        if claim in SHOWN_UNDER_TCP:
            schemes = list(dict.fromkeys((TAIL, against, EXRED)))
            return [_by(rows, "flows", schemes, title, key) for title, key in SHOWN_UNDER_TCP[claim]]
        if claim in SHOWN:
            lines = [_by(rows, "load", [TAIL, RED, EXRED], *SHOWN[claim], at=(0.9, 1.2, 2.0))]
            return lines + (_averaging(rows) if claim == "D-d" and theory else [])
        if claim == "D-a":
            return _gains(rows)
        if claim == "D-c":
            own = rows[rows["longer_than"] == 5]
            return [_by(own, "load", [TAIL, RED, EXRED], "P(N > 5)", "longer", at=RUN_LOADS)]
        if Verdict.FAILS not in verdicts.values():
            return []
        return [_contradiction(rows) if "(11)" in against else _low_load(rows)]

    return common.execute_claims(FILES.claim_file(), rows, explain=explain, experiments=experiments)


def experiment_rows(loops: pd.DataFrame, tcp: pd.DataFrame, theory: Averaged) -> pd.DataFrame:
    """Return the rows of all readings; the chains' belong to the chosen one."""
    tables = []
    for label in dict.fromkeys([*loops["reading"], *tcp["reading"]]):
        own_loops, own_tcp = (own if len(own) else None for own in (chosen(r, reading=label) for r in (loops, tcp)))
        rows = claim_rows(own_loops, own_tcp, theory if label == BASE else None)
        tables.append(rows.assign(reading=label))
    return pd.concat(tables, ignore_index=True)


def _by(
    rows: pd.DataFrame, column: str, schemes: list[str], title: str, key: str, at: Sequence[float] = ()
) -> str:  # fmt: skip
    """Write the means of some schemes by load or number of flows; a dash where nothing was dropped."""
    runs = rows[rows["model"].isin(["simulated", "TCP"]) & rows[key].notna()]
    means = runs.pivot_table(key, column, "scheme").reindex(columns=schemes)
    words = [
        f"{'n' if column == 'flows' else column} = {value}: " + " / ".join(f"{mean:.3g}" for mean in means.loc[value])
        for value in at or means.index
        if value in means.index
    ]
    return f"{title}, {' / '.join(schemes)}: {'; '.join(words).replace('nan', '-')}."


def _models(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each model of the open loop that there is, under its name."""
    names = FILES.claim_file().columns["model"].values or {}
    return [
        (names[model], rows[rows["model"] == model])
        for model in ("simulated", "chain", "averaged")
        if model in set(rows["model"])
    ]


def _gains(rows: pd.DataFrame) -> list[str]:
    """Say by how much ExRED carries more than RED at most."""
    words = []
    for name, own in _models(rows):
        means = own.pivot_table("throughput", "load", "scheme")
        gains = means[EXRED] - means[RED]
        words.append(f"{name}: {gains.max():.2f} at load {gains.idxmax()}")
    return [f"Largest ExRED - RED, packets/s of 1000: {'; '.join(words)}."]


def _averaging(rows: pd.DataFrame) -> list[str]:
    """Say in which chain RED's runs of drops are longer than drop-tail's."""
    words = []
    for name, own in _models(rows)[1:]:
        longer = own[(own["scheme"] == RED) & (own["mean_run"] > 1 + own["load"])]["load"]
        words.append(f"{f'from load {longer.min()} on' if len(longer) else 'at no load'} {name}")
    return [f"The average makes the difference: RED's E(N) is above drop-tail's {', and '.join(words)}."]


def _low_load(rows: pd.DataFrame, load: float = 0.9) -> str:
    """Say which runs of drops RED makes more probable."""
    own = rows[(rows["model"] == "simulated") & (rows["scheme"] == RED) & (rows["load"] == load)]
    return f"{_likelier(own, load)}, since all packets are dropped while the average stays above k_h."


def _contradiction(rows: pd.DataFrame, load: float = 0.9) -> str:
    """Say what the printed equations are worth in this claim."""
    own = rows[(rows["model"] == "printed") & (rows["load"] == load)]
    return (
        f"The paper contradicts itself: the probability is not raised at every n. {_likelier(own, load)} by (10). "
        "And (11) is infinite at every load, low or high, since the chain visits k_h, where p_d = 1: RED's curve in "
        "Figure 7 cannot come from it."
    )


def _likelier(rows: pd.DataFrame, load: float) -> str:
    """Say from which n on RED's P(N > n) exceeds drop-tail's by (3)."""
    shares = rows[rows["scheme"] == RED].groupby("longer_than")["longer"].mean()
    likelier = [n for n in range(1, LONGEST + 1) if shares.get(n, 0.0) > (load / (1 + load)) ** n]
    return f"RED's P(N > n) exceeds drop-tail's {f'from n = {likelier[0]} on' if likelier else 'at no n'} (load {load})"
