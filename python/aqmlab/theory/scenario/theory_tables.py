"""Tables of an analysis: classes of flows, margins of the loop, and how the queue swings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from aqmlab.results.quantities import NOT_NEGATIVE
from aqmlab.statistics import mean_interval
from aqmlab.theory.scenario.swing import Swing, swing_of
from aqmlab.theory.scenario.theory import settled_s

if TYPE_CHECKING:
    from aqmlab.results.result import Result
    from aqmlab.theory.scenario.theory import Theory


def class_table(theory: Theory, result: Result | None) -> pd.DataFrame:
    """Return each class's window, round trip and rate of a flow, analysed and simulated."""
    if theory.point is None:
        return pd.DataFrame()
    rows = []
    greedy = theory.model.traffic.greedy
    for one, window, rtt in zip(greedy, theory.point.windows, theory.point.rtts, strict=True):
        row: dict[str, object] = {
            "class": one.name,
            "flows": one.count,
            "propagation_ms": 1e3 * one.propagation_s,
            "window": window,
            "rtt_ms": 1e3 * rtt,
            "flow_mbps": 8e-6 * one.packet_bytes * window / rtt,
        }
        if result is not None:
            own = result.flows[result.flows["flow"].isin(one.flows)]
            by_seed = own.groupby("seed")
            rtts, rates = (
                mean_interval(factor * by_seed[column].mean().to_numpy(), bounds=NOT_NEGATIVE)[0]
                for column, factor in (("mean_rtt_s", 1e3), ("goodput_bps", 1e-6))
            )
            row |= {
                "simulated rtt_ms": rtts.mean,
                "simulated flow_mbps": rates.mean,
                "simulated flow_mbps low": rates.low,
                "simulated flow_mbps high": rates.high,
            }
        rows.append(row)
    return pd.DataFrame(rows)


def loop_table(theory: Theory) -> pd.DataFrame:
    """Return the margins of the linearized loop, with nothing left out and as Hollot et al. have it."""
    rows = []
    for name, found in (("nothing left out", theory.margins), ("as Hollot et al.", theory.hollot)):
        if found is None:
            continue
        rows.append(
            {
                "linearization": name,
                "stable": found.stable,
                "gain_margin_db": found.gain_margin_db,
                "phase_crossover_rad_s": np.nan if found.phase_crossover is None else found.phase_crossover,
                "phase_margin_deg": found.phase_margin,
                "gain_crossover_rad_s": np.nan if found.gain_crossover is None else found.gain_crossover,
                "delay_margin_ms": 1e3 * found.delay_margin,
            }
        )
    return pd.DataFrame(rows)


def swing_table(theory: Theory, result: Result | None) -> pd.DataFrame:
    """Return how the queue moves around its mean; linear theory has a frequency only where it is unstable."""
    rows = []
    if theory.margins is not None and not theory.margins.stable and theory.margins.phase_crossover is not None:
        frequency = theory.margins.phase_crossover / (2 * np.pi)
        rows.append({"of": "linear theory", "sd": np.nan, "frequency_hz": frequency, "one tone": ""})
    if theory.path is not None and theory.point is not None:
        path = theory.path
        kept = path.t >= max(min(settled_s(theory.model, theory.point), 0.8 * path.t[-1]), path.t[-1] / 2)
        times = np.linspace(path.t[kept][0], path.t[-1], int(kept.sum()))
        queue = np.interp(times, path.t, path.queue)
        rows.append({"of": "fluid", **_swing_row(swing_of([queue], step_s=float(times[1] - times[0])))})
    if theory.model.kind != "none" and result is not None and "queue_samples" in result.tables:
        samples = result.queue_samples
        own = samples[(samples["link"] == theory.model.link.name) & (samples["t_s"] >= theory.model.scenario.warmup_s)]
        runs = [rows_["queue_packets"].to_numpy(dtype=float) for _, rows_ in own.groupby("seed")]
        step = float(np.median(np.diff(own[own["seed"] == result.seeds[0]]["t_s"].to_numpy())))
        rows.append({"of": "simulated", **_swing_row(swing_of(runs, step_s=step))})
    return pd.DataFrame(rows)


def _swing_row(found: Swing) -> dict[str, object]:
    return {
        "sd": found.sd,
        "frequency_hz": np.nan if found.frequency_hz is None else found.frequency_hz,
        "one tone": "" if found.frequency_hz is None else "yes" if found.clear else "no",
    }
