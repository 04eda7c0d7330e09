"""What the two chains say of the claims D-a to D-f: parts without chance, and the difference that averaging makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from aqmlab.reproduction.papers.common import Part, exact
from aqmlab.reproduction.papers.common.open_loop import LONGEST
from aqmlab.reproduction.papers.exred.chain import Averaged, chain, longer
from aqmlab.reproduction.papers.exred.plan import EXRED, LOADS, RED, RUN_LOADS, TAIL

SAME = 1e-3
"""Numbers of the chain of number and average that differ by less, relatively, count as equal: its grid is finite."""
MUCH_LOWER = 0.8
"""ExRED's delay is called much lower than drop-tail's if it is at most this part of it."""


@dataclass(frozen=True)
class _Model:
    """One of the two chains: what it is called, where it is solved, and its numbers."""

    case: str
    loads: tuple[float, ...]
    same: float
    find: Callable[[str, float, str], float | None]

    def at(self, scheme: str, load: float, quantity: str) -> float:
        """Return a number that is there."""
        found = self.find(scheme, load, quantity)
        if found is None:
            raise KeyError(scheme, load, quantity)
        return found

    def not_above(self, a: float, b: float) -> bool:
        """Whether a is at most b, as far as this chain can tell."""
        return a <= b * (1 + self.same)


def parts(averaged: Averaged) -> list[Part]:
    """Return every part of the claims that a chain decides."""
    models = (
        _Model("chain, w = 1", LOADS, 1e-12, chain),
        _Model("chain, w = 0.02", tuple(averaged.loads_with_drops), SAME, averaged),
    )
    found = [
        replace(part, case=model.case) for model in models for load in model.loads for part in _at_load(model, load)
    ]
    return found + [part for load in LOADS for part in _longer(load)]


def _at_load(model: _Model, load: float) -> Iterator[Part]:
    at = {"load": load}

    def three(quantity: str) -> tuple[float, float, float]:
        return (
            model.at(TAIL, load, quantity),
            model.at(RED, load, quantity),
            model.at(EXRED, load, quantity),
        )

    tail, red, exred = three("throughput")
    what = "throughput, packets/s"
    yield exact("D-a", f"{what}, ExRED - RED", exred - red, model.not_above(red, exred), at=at, aspect="not below RED")
    yield exact(
        "D-a", f"{what}, ExRED - drop-tail", exred - tail, model.not_above(exred, tail), at=at,
        aspect="not above drop-tail",
    )  # fmt: skip
    _, red, exred = three("p_drop")
    yield exact("D-b", "P_drop, ExRED - RED", exred - red, model.not_above(exred, red), at=at, aspect="not above")
    tail, red, exred = three("mean_run")
    yield exact("D-d", "E(N), ExRED - (1 + load)", exred - tail, exred < tail, at=at, aspect="ExRED below drop-tail")
    yield exact("D-d", "E(N), ExRED - RED", exred - red, model.not_above(exred, red), at=at, aspect="ExRED below RED")
    # The claim that RED's runs exceed drop-tail's is about the queue that averages; without averaging it is not made.
    if load >= 1.2 and model.same == SAME:
        yield exact("D-d", "E(N), RED - (1 + load)", red - tail, red > tail, at=at, aspect="RED above drop-tail")
    if load < 1:
        yield exact("D-f", "E(N), RED - (1 + load)", red - tail, red > tail, at=at, aspect="mean number")
    if load >= 1:
        tail, red, exred = three("wait_ms")
        yield exact("D-e", "mean wait, ExRED - RED, ms", exred - red, exred > red, at=at, aspect="above RED")
        ratio = exred / tail
        yield exact(
            "D-e", "mean wait, ExRED / drop-tail - 0.8", ratio - MUCH_LOWER, ratio < MUCH_LOWER, at=at,
            aspect="below drop-tail",
        )  # fmt: skip


def _longer(load: float) -> Iterator[Part]:
    for name, eq10 in (("exact runs", False), ("(10) as printed", True)):
        pairs = [(longer(EXRED, load, n, eq10=eq10), longer(RED, load, n, eq10=eq10)) for n in range(2, LONGEST + 1)]
        ratios = [exred / red for exred, red in pairs if exred is not None and red]
        what = f"largest P(N > n), ExRED / RED, over n = 2 to {LONGEST}"
        # At the lowest loads the two agree to the last digit at small n.
        holds = max(ratios) <= 1 + 1e-12 and ratios[-1] < 1
        yield exact("D-c", what, max(ratios), holds, case=f"chain, w = 1, {name}", at={"load": load})


def words(claim: str, averaged: Averaged) -> list[str]:
    """Say what the chains add to a claim."""
    if claim == "D-a":
        return [_largest_gain("w = 1", LOADS, chain), _largest_gain("w = 0.02", averaged.loads_with_drops, averaged)]
    if claim == "D-c":
        floors = [f"{_number(longer(RED, load, LONGEST, eq10=True)):.2g} at load {load}" for load in RUN_LOADS]
        return [
            "By (10) RED's P(N > n) does not fall to 0, since the chain visits k_h, where p_d = 1: "
            f"{', '.join(floors)} at n = {LONGEST}."
        ]
    if claim == "D-d":
        solved = averaged.loads_with_drops
        without, with_ = (_loads_above(loads, find) for loads, find in ((LOADS, chain), (solved, averaged)))
        found = f"exceeds drop-tail's from load {with_[0]} on" if with_ else "does not exceed drop-tail's either"
        alone = f"exceeds drop-tail's at loads {', '.join(map(str, without))}" if without else "is below drop-tail's"
        everywhere = "" if without else " at every load"
        return [
            f"It is the averaging: RED's E(N) {alone}{everywhere} in the chain without it (w = 1), and {found} in the "
            f"chain with it (w = 0.02, solved at {len(solved)} loads from {solved[0]} to {solved[-1]})."
        ]
    return []


def _largest_gain(name: str, loads: tuple[float, ...] | list[float], find: Callable[..., float | None]) -> str:
    gains = {load: _number(find(EXRED, load, "throughput")) - _number(find(RED, load, "throughput")) for load in loads}
    best = max(gains, key=lambda load: gains[load])
    return f"By the chain, {name}: {gains[best]:.2f} packets/s, at load {best}."


def _loads_above(loads: tuple[float, ...] | list[float], find: Callable[..., float | None]) -> list[float]:
    """Loads from the lowest on at which RED's runs are longer than drop-tail's."""
    return [load for load in loads if _number(find(RED, load, "mean_run")) > 1 + load]


def _number(found: float | None) -> float:
    return float("nan") if found is None else found
