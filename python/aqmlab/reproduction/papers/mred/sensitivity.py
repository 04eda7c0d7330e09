"""How much each reading matters: its fit to the printed RED columns, and its effect on MRED - RED."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from aqmlab.reproduction.papers.common import BASE, Finding, chosen, verdicts_by_reading, with_intervals
from aqmlab.reproduction.papers.mred.claims import judge_reading
from aqmlab.reproduction.papers.mred.measure import LOSSES, values
from aqmlab.reproduction.papers.mred.plan import CASES, FLOWS, Effort, readings
from aqmlab.reproduction.papers.mred.published import printed
from aqmlab.statistics import Interval, interval, paired, student_quantile


def readings_table(runs: pd.DataFrame, effort: Effort) -> pd.DataFrame:
    """One row per reading; the first is the chosen one, on the same seeds and numbers of flows as the others."""
    few = runs[(runs["seed"] <= effort.reading_seeds) & runs["n"].isin(effort.reading_flows)]
    rows = [_row("chosen", "all of those chosen", chosen(few), effort, baseline="RED")]
    for reading in readings(effort):
        own = chosen(few, reading=reading.label if reading.needs_runs else BASE)
        rows.append(_row(reading.question, reading.name, own, effort, baseline=reading.options.get("baseline", "RED")))
    return pd.DataFrame(rows)


def verdicts(runs: pd.DataFrame, effort: Effort) -> pd.DataFrame:
    """Return the verdicts against RED under every reading, on the same seeds and numbers of flows."""
    few = runs[(runs["seed"] <= effort.reading_seeds) & runs["n"].isin(effort.reading_flows)]
    judged: dict[tuple[str, str], list[Finding]] = {}
    judged["chosen", "all of those chosen"] = _judge(chosen(few), baseline="RED")
    for reading in readings(effort):
        own = chosen(few, reading=reading.label if reading.needs_runs else BASE)
        judged[reading.question, reading.name] = _judge(own, baseline=reading.options.get("baseline", "RED"))
    return verdicts_by_reading(judged)


def _judge(runs: pd.DataFrame, *, baseline: str) -> list[Finding]:
    kept = runs[runs["discipline"].isin(["MRED", baseline])]
    return judge_reading(kept.assign(discipline=kept["discipline"].replace(baseline, "RED")))[0]


def readings_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return `readings_table` for reading: each difference with its interval in one cell."""
    shown = table[["question", "reading", "seeds"]].copy()
    for title in CASES.values():
        for what in ("rms error of throughput, Mb/s", "rms relative error of loss"):
            shown[f"{what} ({title})"] = [f"{value:.3f}" for value in table[f"{what} ({title})"]]
        for quantity, unit in (("throughput", ", Mb/s"), ("loss", "")):
            error, reach = f"rms error of MRED - RED, {quantity}{unit}", f"printed differences in reach, {quantity}"
            shown[f"{error} ({title})"] = [f"{value:.2g}" for value in table[f"{error} ({title})"]]
            shown[f"{reach} ({title})"] = table[f"{reach} ({title})"]
        for what, unit in (("MRED - RED, Mb/s", "± Mb/s"), ("MRED - RED, loss", "± loss")):
            means, halves = table[f"{what} ({title})"], table[f"{unit} ({title})"]
            shown[f"{what} ({title})"] = with_intervals(means, halves, signed=True)
    return shown


def loss_definitions(runs: pd.DataFrame) -> pd.DataFrame:
    """Relative error of each definition of loss against the printed RED columns, chosen reading."""
    rows = []
    for key, title in LOSSES.items():
        row: dict[str, object] = {"loss": title}
        for case, name in CASES.items():
            for baseline in ("RED", "gentle RED"):
                row[f"rms relative error, {name}, {baseline}"] = loss_error(
                    runs, case=case, discipline=baseline, flows=FLOWS, key=key
                )
        rows.append(row)
    return pd.DataFrame(rows)


def throughput_error(runs: pd.DataFrame, *, case: str, discipline: str, flows: Sequence[int]) -> float:
    """Root mean square over n of measured - printed throughput of RED, in Mb/s."""
    errors = [
        float(np.mean(values(runs, case=case, n=n, discipline=discipline, key="throughput")))
        - printed(case=case, quantity="throughput", n=n, discipline="RED")
        for n in flows
    ]
    return float(np.sqrt(np.mean(np.square(errors))))


def loss_error(
    runs: pd.DataFrame, *, case: str, discipline: str, flows: Sequence[int], key: str = "loss_trace"
) -> float:
    """Root mean square over n of measured / printed loss of RED, less 1."""
    errors = [
        float(np.mean(values(runs, case=case, n=n, discipline=discipline, key=key)))
        / printed(case=case, quantity="loss", n=n, discipline="RED")
        - 1
        for n in flows
    ]
    return float(np.sqrt(np.mean(np.square(errors))))


def difference_errors(
    runs: pd.DataFrame, *, case: str, baseline: str, key: str, quantity: str, flows: Sequence[int]
) -> tuple[float, int]:
    """Compare measured with printed differences MRED - RED.

    Returns
    -------
    tuple of float and int
        The root mean square over n of measured - printed differences, and how many printed ones lie where one further
        run would with 95 % probability (the paper has one run a point).
    """
    errors, inside = [], 0
    for n in flows:
        mred, red = (printed(case=case, quantity=quantity, n=n, discipline=d) for d in ("MRED", "RED"))
        found = paired(
            values(runs, case=case, n=n, discipline="MRED", key=key),
            values(runs, case=case, n=n, discipline=baseline, key=key),
        ).interval
        errors.append(found.mean - (mred - red))
        spread = student_quantile(0.975, found.n - 1) * found.sd * (1 + 1 / found.n) ** 0.5
        inside += abs(errors[-1]) <= spread
    return float(np.sqrt(np.mean(np.square(errors)))), inside


def effect(runs: pd.DataFrame, *, case: str, baseline: str, key: str, flows: Sequence[int]) -> Interval:
    """MRED - baseline, averaged over n seed by seed, with its interval over the seeds."""
    by_n = [
        values(runs, case=case, n=n, discipline="MRED", key=key)
        - values(runs, case=case, n=n, discipline=baseline, key=key)
        for n in flows
    ]
    return interval(np.mean(by_n, axis=0))


def _row(question: str, name: str, runs: pd.DataFrame, effort: Effort, *, baseline: str) -> dict[str, object]:
    flows = effort.reading_flows
    row: dict[str, object] = {"question": question, "reading": name, "seeds": effort.reading_seeds}
    for case, title in CASES.items():
        where = title
        row[f"rms error of throughput, Mb/s ({where})"] = throughput_error(
            runs, case=case, discipline=baseline, flows=flows
        )
        row[f"rms relative error of loss ({where})"] = loss_error(runs, case=case, discipline=baseline, flows=flows)
        for key, quantity, unit in (("throughput", "throughput", ", Mb/s"), ("loss_trace", "loss", "")):
            error, inside = difference_errors(
                runs, case=case, baseline=baseline, key=key, quantity=quantity, flows=flows
            )
            row[f"rms error of MRED - RED, {quantity}{unit} ({where})"] = error
            row[f"printed differences in reach, {quantity} ({where})"] = f"{inside} of {len(flows)}"
        gain = effect(runs, case=case, baseline=baseline, key="throughput", flows=flows)
        row[f"MRED - RED, Mb/s ({where})"], row[f"± Mb/s ({where})"] = gain.mean, gain.half_width
        loss = effect(runs, case=case, baseline=baseline, key="loss_trace", flows=flows)
        row[f"MRED - RED, loss ({where})"], row[f"± loss ({where})"] = loss.mean, loss.half_width
    return row
