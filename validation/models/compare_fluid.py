"""Compares the fluid model with packets: the queue it predicts, the reasons of the gap, and the onset of oscillation.

The page of `make validate`, whose words are in `compare_fluid.md`. About five minutes on two cores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from aqmlab.figures.chart import Chart, Series
from aqmlab.reporting import plots
from aqmlab.statistics import Interval, interval
from aqmlab.theory.control.linearization import linearize
from aqmlab.theory.control.margins import Margins
from aqmlab.theory.fluid.loss_law import LAWS
from fluid_packets import MAX_P, WARMUP, Measured, Setting, fluid, run_all, shares
from fluid_reasons import reason_settings, reasons

REPORT = Path(__file__).resolve().parents[2] / "docs" / "validation"
MIXED = tuple(Setting(n, 0.05, farther=(0.1, 0.2)) for n in (20, 100))
MIXED_SEEDS = 4
FLOWS, RTTS = (60, 200, 1000), (0.05, 0.1, 0.25)
SEEDS = {60: 6, 200: 4, 1000: 3}
DURATION = 150.0
BOUND = 0.1
"""The fluid's mean queue and utilization may be so far from the packets'."""
MARGIN_DB, WINDOW = 6.0, 4.0
"""Points with a wider gain margin and a larger window are judged; the others are only reported."""
SWINGS = 0.5
"""A queue whose standard deviation is a larger share of its mean oscillates; a sine that touches 0 has 0.71."""
ONSET_DURATION = 250.0
ONSET_SEEDS = 2
SWEEPS: dict[str, tuple[Setting, ...]] = {
    "R grows": tuple(Setting(200, rtt) for rtt in (0.05, 0.1, 0.15, 0.2, 0.22, 0.25, 0.3, 0.4)),
    "w grows": tuple(Setting(200, 0.25, averaging=k) for k in (0.02, 0.05, 0.1, 0.15, 0.2, 0.5, 1.0, 2.0)),
    "N falls": tuple(Setting(n, 0.2, room=200) for n in (300, 250, 200, 170, 140, 100)),
}


@cache
def modelled(setting: Setting, law: str, duration: float) -> Measured:
    """The fluid's trajectory at a point."""
    return fluid(setting.model(law), duration)


def margins(setting: Setting, law: str, *, exact: bool = False) -> Margins:
    """The linear loop's margins."""
    model = setting.model(law)
    return linearize(model, model.operating_point(), form="full" if exact else "hollot").margins()


def judged(setting: Setting) -> bool:
    """Whether linear theory calls the point stable with a wide margin, and the window is large."""
    found = margins(setting, "misra")
    wide = found.stable and found.gain_margin_db > MARGIN_DB
    return wide and setting.model().operating_point().windows[0] > WINDOW


def within(model: float, packets: Interval) -> bool:
    """Whether the model is within the bound of the packets, wherever in its interval their mean lies."""
    return all(abs(model / bound - 1) <= BOUND for bound in (packets.low, packets.high))


def grid_settings(spacing: str) -> list[Setting]:
    """The grid."""
    return [Setting(n, rtt, spacing=spacing) for rtt in RTTS for n in FLOWS]


def grid(runs: dict[Setting, list[Measured]], spacing: str) -> tuple[str, dict[str, bool]]:
    """The grid's table, and for each law whether it is within the bound on all points that are judged."""
    shown = dict.fromkeys(LAWS, True)
    head = " | ".join(f"{law} queue/N" for law in LAWS)
    lines = [
        "| R, ms | N | gain margin, dB | window | judged | packets: queue/N | utilization "
        f"| {head} | Misra's utilization |",
        "|" + "---|" * (8 + len(LAWS)),
    ]
    for setting in grid_settings(spacing):
        n, found = setting.flows, runs[setting]
        queue, used = interval([m.queue for m in found]), interval([m.utilization for m in found])
        margin, counts = margins(setting, "misra"), judged(setting)
        cells = []
        for law in LAWS:
            mine = modelled(setting, law, DURATION)
            inside = within(mine.queue, queue) and within(mine.utilization, used)
            shown[law] = shown[law] and (inside or not counts)
            mark = "" if inside or not counts else " **out**"
            cells.append(f"{mine.queue / n:.3f} ({mine.queue / queue.mean - 1:+.1%}){mark}")
            if law == "misra":
                utilization = mine.utilization
        window = setting.model().operating_point().windows[0]
        lines.append(
            f"| {setting.rtt * 1e3:g} | {n} | {margin.gain_margin_db:.1f} | {window:.1f} "
            f"| {'yes' if counts else 'no'} | {queue.mean / n:.3f} ± {queue.half_width / n:.3f} "
            f"| {used.mean:.4f} | {' | '.join(cells)} | {utilization:.4f} |"
        )
    return "\n".join(lines), shown


def mixed() -> str:
    """Three classes at one link: the queue, and each class's share of the throughput."""
    lines = [
        "| flows of each class | | queue/N | 50 ms | 100 ms | 200 ms |",
        "|---|---|---|---|---|---|",
    ]
    for setting in MIXED:
        runs = [shares(setting, seed, DURATION) for seed in range(1, MIXED_SEEDS + 1)]
        queue = interval([queue / setting.size for queue, _ in runs])
        parts = [interval([part[i] for _, part in runs]) for i in range(len(setting.classes))]
        cells = " | ".join(f"{part.mean:.1%} ± {part.half_width:.1%}" for part in parts)
        lines.append(f"| {setting.flows} | packets | {queue.mean:.3f} ± {queue.half_width:.3f} | {cells} |")
        for law in ("misra", "recovery"):
            point = setting.model(law).operating_point()
            rates = np.array(point.windows) / np.array(point.rtts)
            cells = " | ".join(f"{part:.1%}" for part in rates / rates.sum())
            lines.append(f"| {setting.flows} | `{law}` | {point.queue / setting.size:.3f} | {cells} |")
    return "\n".join(lines)


def onset(runs: dict[Setting, list[Measured]]) -> tuple[str, bool]:
    """The onset's table, and whether prediction and packets agree wherever the margin is not within 3 dB of 0."""
    lines = [
        "| sweep | R, ms | N | K, rad/s | gain margin, dB | exact, dB | `recovery`, dB | predicted, rad/s "
        "| fluid: sd/mean | rad/s | packets: sd/mean | rad/s | utilization | agrees |",
        "|" + "---|" * 14,
    ]
    agreed = True
    for name, settings in SWEEPS.items():
        for setting in settings:
            found = runs[setting]
            loop, exact, other = (
                margins(setting, "misra"),
                margins(setting, "misra", exact=True),
                margins(setting, "recovery"),
            )
            mine = modelled(setting, "misra", ONSET_DURATION)
            theirs = share(found)
            still = mine.sd < 0.01 * mine.queue
            seen = theirs > SWINGS
            near = abs(loop.gain_margin_db) < 3
            right = seen != loop.stable
            agreed = agreed and (right or near)
            lines.append(
                f"| {name} | {setting.rtt * 1e3:g} | {setting.flows} | {setting.averaging:g} "
                f"| {loop.gain_margin_db:.1f} | {exact.gain_margin_db:.1f} | {other.gain_margin_db:.1f} "
                f"| {crossover(loop):.2f} | {mine.sd / mine.queue:.2f} | {'' if still else f'{mine.frequency:.2f}'} "
                f"| {theirs:.2f} | {frequency(found):.2f} | {np.mean([m.utilization for m in found]):.4f} "
                f"| {'yes' if right else 'near the onset' if near else '**no**'} |"
            )
    return "\n".join(lines), agreed


def frequencies(runs: dict[Setting, list[Measured]]) -> str:
    """How far the packets' frequency is from the predicted one where they oscillate, near the onset and beyond."""
    lines = ["| beyond the onset, dB | points that oscillate | packets' frequency / predicted |", "|---|---|---|"]
    for low, high in ((0.0, 3.0), (3.0, 6.5), (6.5, 15.0)):
        ratios = []
        for setting in {s for settings in SWEEPS.values() for s in settings}:
            found = margins(setting, "misra")
            if low <= -found.gain_margin_db < high and share(runs[setting]) > SWINGS:
                ratios.append(frequency(runs[setting]) / crossover(found))
        lines.append(f"| {low:g} to {high:g} | {len(ratios)} | {min(ratios):.2f} to {max(ratios):.2f} |")
    return "\n".join(lines)


def share(runs: Sequence[Measured]) -> float:
    """Standard deviation of the queue over its mean."""
    return float(np.mean([m.sd / m.queue for m in runs]))


def frequency(runs: Sequence[Measured]) -> float:
    """Mean of the runs' strongest frequencies, rad/s."""
    return float(np.mean([m.frequency for m in runs]))


def crossover(found: Margins) -> float:
    """The gain crossover, rad/s: there a loop at the edge of stability swings."""
    return math.nan if found.gain_crossover is None else found.gain_crossover


def onset_chart(runs: dict[Setting, list[Measured]]) -> Chart:
    """How much the queue swings against the gain margin, packets and fluid."""
    series = []
    for index, (name, settings) in enumerate(SWEEPS.items()):
        x = [margins(s, "misra").gain_margin_db for s in settings]
        order = np.argsort(x)
        model = [modelled(s, "misra", ONSET_DURATION) for s in settings]
        pairs = (("packets", [share(runs[s]) for s in settings]), ("fluid", [m.sd / m.queue for m in model]))
        for kind, y in pairs:
            mode = "line" if kind == "packets" else "dashed"
            values = np.array(y)[order]
            series.append(Series(f"{kind}, {name}", np.array(x)[order], values, mode=mode, color=index))  # type: ignore[arg-type]
    return Chart(
        key="fluid-onset",
        title="Onset of oscillation",
        alt="The queue's standard deviation over its mean against the predicted gain margin: small where the margin is "
        "wide, large where it is negative, for packets and fluid alike.",
        x_label="gain margin of the linear loop (Misra's law), dB",
        y_label="standard deviation of the queue / mean",
        series=series,
        levels=[(SWINGS, "taken for an oscillation")],
    )


def runs_of_all() -> tuple[dict[Setting, list[Measured]], dict[Setting, list[Measured]]]:
    """All packets' runs: those of the grid and of the reasons, and those of the onset."""
    wanted = {s: SEEDS[s.flows] for spacing in ("none", "ns2-wait") for s in grid_settings(spacing)}
    wanted |= {s: SEEDS[s.flows] for s in reason_settings()}
    sweeps = {s: ONSET_SEEDS for settings in SWEEPS.values() for s in settings}
    return run_all(wanted.items(), DURATION), run_all(sweeps.items(), ONSET_DURATION)


def report() -> tuple[str, bool]:
    """The page, and whether everything in it is shown; writes its figure beside the page."""
    runs, swings = runs_of_all()
    base, shown = grid(runs, "none")
    wait, shown_wait = grid(runs, "ns2-wait")
    table, agreed = onset(swings)
    plots.save(onset_chart(swings), REPORT)
    (REPORT / "fluid-onset.png").unlink()
    verdicts = "\n".join(
        f"| {law} | {'yes' if shown[law] else '**no**'} | {'yes' if shown_wait[law] else '**no**'} |" for law in LAWS
    )
    text = TEXT.format(
        base=base,
        wait=wait,
        verdicts=verdicts,
        reasons=reasons(runs),
        mixed=mixed(),
        onset=table,
        frequencies=frequencies(swings),
        max_p=MAX_P,
        warmup=WARMUP,
        duration=DURATION,
        onset_duration=ONSET_DURATION,
        swings=SWINGS,
    )
    return text, shown["recovery"] and shown_wait["recovery"] and agreed


TEXT = (Path(__file__).parent / "compare_fluid.md").read_text()
