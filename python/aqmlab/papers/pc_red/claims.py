"""The claims of the paper and our own questions, in order, and the finding."""

from __future__ import annotations

from aqmlab.papers.common import Runs, Tests, literal

# Each module adds its claims to `CLAIMS`.
from aqmlab.papers.pc_red import claims_experiments, claims_model, claims_own  # noqa: F401
from aqmlab.papers.pc_red.claim_words import CLAIMS as CLAIMS


@CLAIMS.finding(
    "RED that spares high-priority flows: a packet of such a flow is dropped only while the flow has lost less than "
    "its limit L, otherwise a random packet of the queue pays.",
    holds="The queue swings more than under RED because random packets of it pay, not because of the processing time "
    "that the paper names: it swings as much when no flow is protected.",
    fails="Random victims alone do not make the queue swing more, so that they are not the reason for PC-RED's larger "
    "fluctuation.",
    undecided="Whether random victims, and not processing time, make the queue swing more is undecided in these runs.",
)
def victims(runs: Runs) -> Tests:
    red, full, alone = (runs.of("average_sd", case) for case in ("RED", "PC-RED", "unprotected"))
    yield literal(alone > red)
    yield literal(alone > 0.9 * full)


@victims.text
def _(runs: Runs) -> str:
    red, full, alone, slow = (runs.of("average_sd", case) for case in ("RED", "PC-RED", "unprotected", "decision time"))
    return (
        f"S.d. over time of the average queue in packets (printed: {red.on_paper} and {full.on_paper}): {red} under "
        f"RED, {full} under PC-RED, {alone} with PC-RED's random victims but no flow protected, {slow} under RED with "
        "0.8 ms for each decision. Otherwise the simulated router needs no time for its decisions."
    )
