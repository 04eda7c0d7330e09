"""The page on the statistics: coverage of the intervals, and gain by pairing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import choose_method
import hold_truth
import pairing_gain
import possible_intervals
import real_runs
from aqmlab.runs.comparison import Comparison
from aqmlab.statistics.estimate import FEWEST as FEWEST_RUNS
from aqmlab.statistics.estimate import SKEWED
from aqmlab.statistics.pairing import Gain
from aqmlab.statistics.sequential import FEWEST, GROWTH, spent
from hold_truth import BOUNDS, FEWEST_SKEWED, MOST_SKEWED, Cell, is_judged, judged
from pairing_gain import Gained
from real_runs import Real

TITLE = "Coverage of the intervals, and gain by pairing"
MAIN = {"DDRED's bus": ("L,", "S,", "T,"), "RED and ExRED": ("P_drop", "throughput")}
"""The quantities by which each paper compares its discipline with RED; the others are only reported."""


def report(workers: int) -> tuple[str, bool]:
    """Make the page's text; whether everything is shown."""
    simulated = hold_truth.cells(workers)
    stopped = [*simulated["stopped"], *simulated["stopped differences"]]
    known = all(cell.shown for cell in [*judged(simulated["means"]), *judged(simulated["differences"]), *stopped])
    medians = all(cell.share >= BOUNDS[0] for cell in simulated["medians"])
    parts = [_introduction(), *_simulated(simulated)]
    text, real = _real(workers)
    parts.append(text)
    compared = choose_method.cells(workers)
    parts.append(choose_method.section(compared))
    text, possible = possible_intervals.report()
    parts.append(text)
    text, gained = _gains(workers)
    parts.append(text)
    shown = known and medians and real and gained and possible and choose_method.is_right(compared)
    return "\n\n".join(parts), shown


def _introduction() -> str:
    return f"""The statistics that `aqmlab` reports, simulated themselves: a sample is drawn from a population whose
truth is known, the package's own functions (`python/aqmlab/statistics`) make the interval, and it is counted how often
that holds the truth. A 95 % interval is **shown** to be one where {100 * BOUNDS[0]:g} to {100 * BOUNDS[1]:g} % of
{hold_truth.SAMPLES:,} samples do ({hold_truth.STOPPED:,} where runs are stopped). Cells outside are in bold.

[Which method](#which-method) compares twelve methods; [impossible intervals](#impossible-intervals) looks for intervals
that no quantity can have.

Reported, but not judged: populations whose skewness/√n is above {MOST_SKEWED:g}, and fewer than {FEWEST_SKEWED} runs of
skewed ones. What makes their mean is seldom among so few runs (the lognormal with s = 1 has a skewness of 6.2, the
exponential of 2). The remedy is more runs, or the median."""


def _simulated(cells: dict[str, list[Cell]]) -> Iterable[str]:
    yield f"""## Means

By default Student's interval; where skewness/√n of the sample is above {SKEWED:g} (and n is {FEWEST_RUNS} or more)
Hall's, widened to hold Student's. Share of the intervals that hold the mean, and in brackets what Student's alone would
hold.

{_grid(cells["means"])}"""
    yield f"""## Differences

Two disciplines on the same seeds, the second with 1.5 times the deviation, correlated with r; the test is chosen by the
correlation that a sample shows. In brackets: Student's interval of the pairs alone.

{_grid(cells["differences"], by_what=True)}

How often which test was taken (normal runs, n = 20): {_methods(cells["differences"])}."""
    stopped = [*cells["stopped"], *cells["stopped differences"]]
    yield f"""## Runs until the interval is narrow enough

Looks after {FEWEST} runs and whenever there are {GROWTH:g} times as many, interval at {100 * spent(0.95):g} %, until
half its width is 2 % of the mean. `n` is what a known deviation would need. In brackets: the same without the
correction, at 95 %.

{_stopped_table(stopped)}"""
    yield f"""## Medians

By order statistics (`scipy.stats.quantile_test`): exact, but a binomial number cannot hit 95 % at every n, so this
holds at least so often. Of 10 runs it is the 2nd to the 9th, which hold in 97.9 %.

{_grid(cells["medians"], plain=False)}"""


def _share(cell: Cell, *, plain: bool = True, mark: bool = True) -> str:
    text = f"{100 * cell.share:.1f}"
    text = text if cell.shown or not mark else f"**{text}**"
    return f"{text} ({100 * cell.plain / cell.samples:.1f})" if plain else text


def _grid(cells: Sequence[Cell], *, by_what: bool = False, plain: bool = True) -> str:
    numbers = sorted({cell.runs for cell in cells})
    lines = [
        f"| population | {'r | ' if by_what else ''}{' | '.join(f'n = {n}' for n in numbers)} |",
        "|---|" + "---|" * (len(numbers) + by_what),
    ]
    for key in dict.fromkeys((cell.population, cell.what) for cell in cells):
        own = {cell.runs: cell for cell in cells if (cell.population, cell.what) == key}
        name = f"{key[0]} | {key[1].partition('r = ')[2]}" if by_what else key[0]
        shares = [_share(own[n], plain=plain, mark=plain) if n in own else "" for n in numbers]
        lines.append(f"| {name} | {' | '.join(shares)} |")
    return "\n".join(lines)


def _methods(cells: Sequence[Cell]) -> str:
    own = [cell for cell in cells if cell.population == "normal" and cell.runs == 20]
    return "; ".join(f"{cell.what.partition(', ')[2]}: {cell.method}" for cell in own)


def _stopped_table(cells: Sequence[Cell]) -> str:
    lines = ["| population | n | mean number of runs | hold the truth, % |", "|---|---|---|---|"]
    lines += [f"| {c.population} | {c.runs} | {c.mean_runs:.0f} | {_share(c)} |" for c in cells]
    return "\n".join(lines)


def _real(workers: int) -> tuple[str, bool]:
    lines = [
        f"""## Real runs

{real_runs.SEEDS} seeds of a short scenario are the population, and {real_runs.SAMPLES:,} samples are drawn from them,
with the same seeds for both disciplines. Every quantity of `aqmlab.results.quantities` that varies: its interval
under the first discipline, and that of the difference. Judged is what a reader meets: of all intervals of a
scenario, of quantities with a skewness/√n of at most {MOST_SKEWED:g},
{100 * BOUNDS[0]:g} to {100 * BOUNDS[1]:g} % must hold at every n. Each
cell is reported; those outside are in bold, those of more skewed quantities, which are not judged, in italics."""
    ]
    shown = True
    for source in real_runs.SOURCES:
        found = real_runs.cells_of(*real_runs.population_of(source, workers))
        table, inside = _real_table(found)
        shown = shown and inside
        lines.append(f"### {source.name}, {' and '.join(source.disciplines)}\n\n{table}")
    return "\n\n".join(lines), shown


def _real_table(found: Sequence[Real]) -> tuple[str, bool]:
    heads = [f"mean, n = {n}" for n in real_runs.RUNS] + [f"difference, n = {n}" for n in real_runs.RUNS]
    lines = [
        f"| quantity | skewness, runs | differences | r | {' | '.join(heads)} |",
        "|---|---|---|---|" + "---|" * len(heads),
    ]
    pooled: dict[tuple[str, int], list[Cell]] = {}
    for one in found:
        shares = []
        skewed = [one.skewness] * len(one.means) + [one.skewness_of_differences] * len(one.differences)
        for skewness, cell in zip(skewed, [*one.means, *one.differences], strict=True):
            own = is_judged(skewness, cell.runs)
            shares.append(_share(cell) if own else f"*{_share(cell, mark=False)}*")
            pooled.setdefault((cell.what, cell.runs), []).extend([cell] if own else [])
        numbers = f"{one.skewness:.1f} | {one.skewness_of_differences:.1f} | {one.correlation:.2f}"
        lines.append(f"| {one.metric} | {numbers} | {' | '.join(shares)} |")
    order = [(what, n) for what in ("mean", "difference") for n in real_runs.RUNS]
    held = [sum(c.held for c in pooled[key]) / sum(c.samples for c in pooled[key]) for key in order]
    shares = [f"{100 * p:.1f}" if BOUNDS[0] <= p <= BOUNDS[1] else f"**{100 * p:.1f}**" for p in held]
    lines.append(f"| all that is judged | | | | {' | '.join(shares)} |")
    return "\n".join(lines), all(BOUNDS[0] <= p <= BOUNDS[1] for p in held)


def _gains(workers: int) -> tuple[str, bool]:
    bus, loops = pairing_gain.bus(), pairing_gain.open_loop(workers)
    said = pairing_gain.said_by_the_tool()
    main = [one for one in [*bus, *loops] if _is_main(one)]
    others = [one for one in [*bus, *loops] if not one.halved]
    greedy = said["greedy TCP, `paper:mred/sole.toml`"]
    gains = list(greedy.differences["gain"])
    nothing = gains.count(Gain.YES) <= 1
    text = f"""## What pairing by seed gains

The same seed gives two disciplines the same traffic. r: correlation that this achieved, with its 95 % interval; runs:
what pairs need for the interval that independent runs of as many seeds give; narrower: measured, half the width of the
interval with other seeds for the second discipline over that with the same ones.

Of DDRED's bus ({pairing_gain.BUS_SEEDS} pairs) L, S and T under RED and DDRED, and of ExRED's open loop
({pairing_gain.LOOP_SEEDS} pairs of {pairing_gain.LOOP_ARRIVALS:,} arrivals) P_drop and throughput under RED and
ExRED, must need at most half the runs.

{_gain_table([*bus, *loops])}

Of {len(bus) + len(loops)} rows {len(others)} need more than half the runs: {_not_halved(others)}. Why:

- What the disciplines' own draws make is not common to both: which packet is dropped, hence how long a row of drops
  is (E(N)) and, above saturation, how the queue wanders between two drops (E(Q), delay).
- Where one side varies far more than the other, as drop-tail's queue against RED's at load 1, even a high r cancels
  little: the ratio is 1 - 2 r s_a s_b / (s_a² + s_b²). Drop-tail at load 0.9 hardly ever drops, so its P_drop is
  about 0 in every run, and there is nothing to cancel.

## What the command says

{_said(said)}

On greedy TCP (60 pairs) {gains.count(Gain.YES)} of {len(gains)} quantities show a gain; one may by chance (2.5 % each).
A first packet that one discipline drops and the other does not sets TCP's windows on another path, and soon nothing is
common but the starts."""
    return text, all(one.halved for one in main) and bool(main) and nothing


def _is_main(one: Gained) -> bool:
    return any(where in one.where and one.quantity.startswith(names) for where, names in MAIN.items())


def _gain_table(found: Sequence[Gained]) -> str:
    lines = ["| where | quantity | r | runs | narrower | test | at most half |", "|---|---|---|---|---|---|---|"]
    for one in found:
        pairing = one.compared.pairing
        must = " (must)" if _is_main(one) else ""
        lines.append(
            f"| {one.where} | {one.quantity} | {pairing.correlation:.3f} ({pairing.low:.2f} to {pairing.high:.2f}) | "
            f"{100 * pairing.runs_share:.0f} % | {one.apart:.2f} | {one.compared.test} | "
            f"{'yes' if one.halved else '**no**' if must else 'no'}{must} |"
        )
    return "\n".join(lines)


def _not_halved(found: Sequence[Gained]) -> str:
    shares: dict[str, list[float]] = {}
    for one in found:
        shares.setdefault(one.quantity, []).append(100 * one.compared.pairing.runs_share)
    return ", ".join(f"{quantity} ({len(own)}: {min(own):.0f} to {max(own):.0f} %)" for quantity, own in shares.items())


def _said(said: Mapping[str, Comparison]) -> str:
    blocks = []
    for name, found in said.items():
        tests = ", ".join(
            f"{row['metric']} {row['test']}" for row in found.differences.to_dict("records") if math.isfinite(row["p"])
        )
        blocks.append(f"**{name}** ({' and '.join(found.aqm)}): {' '.join(found.pairing_lines())}\n\nTests: {tests}.")
    return "\n\n".join(blocks)
