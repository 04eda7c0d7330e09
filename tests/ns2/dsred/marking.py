"""Runs a case of a marker in ns-2, checks it against the model, and gives its table."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise, takewhile
from pathlib import Path

from dsred.cases import COLORS, NS2_POLICY, Case
from dsred.meters import DRAW_UNIT, GREEN, RED, YELLOW, Meter

HERE = Path(__file__).resolve().parent
PICOSECONDS = Decimal(10) ** 12
LEAST_PACKETS = 10_000
KEPT = 10_200
"""Packets of a marker that are committed."""
LEAST_MARGIN = 1e-9


class NotAdmittedError(RuntimeError):
    """ns-2 and the model differ, or a decision is a matter of rounding."""


@dataclass(frozen=True)
class Marking:
    """A packet at the marker. `draw` is the numerator of the draw (see `DRAW_UNIT`), None if nothing was drawn."""

    t_ps: int
    bytes: int
    color: int
    draw: int | None


def mark(case: Case) -> list[Marking]:
    """The packets of `case` in the order of arrival; `NotAdmittedError` unless the model agrees."""
    packets = _run(case)
    numerators = draws(case.seed, len(packets))
    meter = Meter(case.kind, case.parameters, (n * DRAW_UNIT for n in numerators))
    table = []
    for time, size, color in packets:
        before = meter.drawn
        expected = meter.color(float(time), size)
        if color != expected:
            raise NotAdmittedError(f"{case.name}, {time} s: colour {color} in ns-2, {expected} in the model")
        drawn = numerators[before] if meter.drawn > before else None
        table.append(Marking(int((time * PICOSECONDS).to_integral_value()), size, color, drawn))
    if meter.margin < LEAST_MARGIN:
        raise NotAdmittedError(f"{case.name}: a decision by a relative difference of {meter.margin:.2g}")
    if len(table) < LEAST_PACKETS:
        raise NotAdmittedError(f"{case.name}: only {len(table)} packets")
    if any(a.t_ps >= b.t_ps for a, b in pairwise(table)):
        raise NotAdmittedError(f"{case.name}: two packets at once")
    return table[:KEPT]


def draws(seed: int, count: int) -> list[int]:
    """The first draws of ns-2's generator under `seed`, as numerators."""
    done = ns2("draws.tcl", str(seed), str(count))
    return [int(line) for line in done.split()]


def _run(case: Case) -> list[tuple[Decimal, int, int]]:
    """Time, size and colour of the packets at the marker, up to the first that the sieve had not yet judged."""
    name, order = NS2_POLICY[case.kind]
    values = " ".join(f"{case.parameters[key]:.17g}" for key in order)
    spec = [
        f"seed {case.seed}",
        f"policy {name} {COLORS[case.kind]} {values}",
        *case.traffic,
        f"stop_at {case.seconds}",
    ]
    with tempfile.TemporaryDirectory(prefix="dsred-") as folder:
        (Path(folder) / "spec.tcl").write_text("\n".join(spec) + "\n")
        ns2("markers.tcl", f"{folder}/spec.tcl", f"{folder}/out.nam")
        return _sieved(Path(folder) / "out.nam")


def _sieved(trace: Path) -> list[tuple[Decimal, int, int]]:
    arrivals: dict[str, tuple[Decimal, int]] = {}
    colors: dict[str, int] = {}
    with trace.open() as lines:
        for line in lines:
            word = line.split()
            uid = word[14]
            match word[0], word[4]:
                case "+", "1":
                    arrivals[uid] = Decimal(word[2]), int(word[10])
                case "d", "2":
                    colors[uid] = RED
                case "d", "3":
                    colors[uid] = YELLOW
                case "r", "3":
                    colors[uid] = GREEN
    return [(*arrival, colors[uid]) for uid, arrival in takewhile(lambda item: item[0] in colors, arrivals.items())]


def ns2(script: str, *arguments: str) -> str:
    done = subprocess.run(["ns", str(HERE / script), *arguments], capture_output=True, text=True, check=True)
    if "ERROR" in done.stdout:
        raise RuntimeError(f"ns-2: {done.stdout.strip()}")
    return done.stdout
