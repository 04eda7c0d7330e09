"""Which runs the reproduction needs: the base reading in full, every other reading alone beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from aqmlab.papers import common
from aqmlab.papers.adaptive_rio.delays import class_delays
from aqmlab.papers.adaptive_rio.measure import ABOVE, ABOVE_MBPS, BUFFERED, DEAD_ZONE, LITTLE, MORE_FLOWS
from aqmlab.papers.common import BASE, Computation, PaperFiles, Reading, Setup
from aqmlab.scenario.toml_text import Value

FILES = PaperFiles("adaptive-rio")
CASES = ("figure2", "experiment1", "experiment2")
MAX_TH = (6, 9, 12, 15, 21, 30, 45, 60, 90)
"""Abscissae of Figure 2, in packets; min_th is a third."""
MIN_TH = (2, 5, 10, 15, 20, 30, 40)
"""The lower threshold moved alone, in packets."""
ALONE_MAX_TH = 45
"""The upper threshold that stands still meanwhile, in packets."""
OFF_S = (0, 5, 10, 20, 30, 40, 50, 60)
"""Abscissae of Figures 6 and 7: mean off time in s."""
MAX_U = 60
"""Upper bound of max_th in packets: where a RIO stands that need not adapt."""

RED, RIO, ADAPTIVE = "RED", "RIO", "Adaptive-RIO"
AT_MAX_U, AT_C, AT_C_INIT = "RIO at max_U", "C' fixed at C", "C' fixed at C_init"
DISCIPLINES: dict[str, dict[str, Value]] = {
    RIO: {"queue.core.aqm": "rio"},
    ADAPTIVE: {"queue.core.aqm": "adaptive-rio"},
    AT_MAX_U: {
        "queue.core.aqm": "rio",
        "queue.core.class.out.min_th": f"{MAX_U // 3}p",
        "queue.core.class.out.max_th": f"{MAX_U}p",
    },
    AT_C: {"queue.core.c_init": 1.0},
    AT_C_INIT: {"queue.core.delta_c": 1e-12},
}
"""The two that the paper compares, and three that our own questions need."""
NO_DEAD_ZONE = "Adaptive-RIO without a dead zone"
DEAD_ZONES: dict[str, dict[str, Value]] = {ADAPTIVE: {}, NO_DEAD_ZONE: {"queue.core.epsilon": 0.0}}
"""Adaptive-RIO with the printed epsilon, and with 0."""
BUFFER = 100
"""The chosen buffer in packets."""
SMALL_BUFFERS = (50, 60, 70)
"""Buffers about max_U, in packets; ns-2's default is 50."""
BUFFER_FLOWS = (4, 20)
"""Numbers of best-effort flows there: the paper's, and a large one."""
DSRED, FLOYD93 = "dsred", "floyd93"
PARTS_OF_DSRED: dict[str, dict[str, Value]] = {
    "dsred with the spacing of floyd93": {"queue.core.spacing": FLOYD93},
    "dsred that decides before it looks for room": {"queue.core.full_first": False},
}
"""The dialect dsred less one of its parts."""
DIALECTS: dict[str, dict[str, Value]] = {DSRED: {}, FLOYD93: {"queue.core.dialect": FLOYD93}, **PARTS_OF_DSRED}
CAUSE_BUFFER = 60
"""The buffer in packets with which the parts of dsred are tried."""

FURTHER = {"5 Mb/s": "C = 5 Mb/s", "160 ms there and back": "160 ms"}
"""Names of readings that strict forms of claims also test, and their names in the claims."""
PRINTED_FLOWS = 4
"""Best-effort flows of the paper's experiments."""
ABOVE_OFF_S = (0, 20)
"""Mean off times in s of the source that sends more than its committed rate."""
LITTLE_KBPS = (500, 1000, 2000)
"""Rates in kb/s of the assured source that sends less than its committed 4 Mb/s."""

TABLES = {
    "figure2": ("links", "flows"),
    "experiment1": ("links", "flows", "flow_samples", "discipline_samples", "code_points", "markers"),
    "experiment2": ("links", "flows", "code_points"),
}


@dataclass(frozen=True)
class Effort(common.Effort):
    """How much to run.

    Attributes
    ----------
    seeds, reading_seeds, quick
        As in `aqmlab.papers.common.Effort`.
    first_times
        The first experiment has so many times `seeds`: claim E-g needs about 57.
    off_s
        Mean off times of the second experiment.
    long_s
        Length of a run of the second experiment.
    delay_seeds
        Seeds of the runs in which every event is looked at for the delays of both classes.
    more_flows
        Numbers of best-effort flows above four with which the first experiment is run too.
    buffers, buffer_flows, buffer_seeds
        Buffers in packets, numbers of best-effort flows and seeds of the runs with other buffers and dialects.
    reading_max_th, reading_off_s
        Where the other readings are run.
    """

    seeds: int = 20
    first_times: int = 3
    reading_seeds: int = 8
    off_s: tuple[int, ...] = OFF_S
    long_s: float = 1000.0
    delay_seeds: int = 10
    more_flows: tuple[int, ...] = (10, 20, 40)
    buffers: tuple[int, ...] = (*SMALL_BUFFERS, BUFFER)
    buffer_flows: tuple[int, ...] = BUFFER_FLOWS
    buffer_seeds: int = 10
    reading_max_th: tuple[int, ...] = (6, 15, 30, 60, 90)
    reading_off_s: tuple[int, ...] = (0, 40)
    QUICK: ClassVar = {
        "seeds": 6,
        "first_times": 1,
        "reading_seeds": 3,
        "off_s": (0, 5, 10, 20, 40, 60),
        "long_s": 400.0,
        "delay_seeds": 3,
        "more_flows": (10,),
        "buffers": (60, BUFFER),
        "buffer_flows": (4,),
        "buffer_seeds": 4,
        "reading_max_th": (6, 30, 90),
    }

    @property
    def first_seeds(self) -> int:
        """Seeds of the first experiment."""
        return self.first_times * self.seeds


def readings(effort: Effort) -> list[Reading]:
    """List the other readings, in the order of ``readings.toml``."""
    return FILES.readings(quick=effort.quick)


def needs_runs(reading: Reading) -> bool:
    """Return whether a reading changes the runs; another definition of throughput does not."""
    return "basis" not in reading.options


def concerns(reading: Reading) -> tuple[str, ...]:
    """Return the cases that a reading changes."""
    return tuple(reading.options.get("cases", CASES))


def setups(effort: Effort) -> list[Setup]:
    """List every scenario that is needed."""
    found = [figure2(max_th, effort.seeds) for max_th in MAX_TH]
    found += [min_th_alone(min_th, effort.seeds) for min_th in MIN_TH]
    found += [experiment1(name, effort.first_seeds) for name in DISCIPLINES]
    for n in effort.more_flows:
        found += [beside_flows(name, n, effort.seeds) for name in (RIO, ADAPTIVE, AT_MAX_U)]
    found += _buffered(effort)
    found += [dead_zone(name, effort.buffer_seeds) for name in DEAD_ZONES]
    found += _experiment2(effort, effort.off_s, effort.seeds)
    for off in ABOVE_OFF_S:
        found += [above_committed(name, off, effort.seeds, long_s=effort.long_s) for name in (RIO, ADAPTIVE)]
    for rate in LITTLE_KBPS:
        found += [small_assured(name, rate, effort.buffer_seeds, long_s=effort.long_s) for name in (RIO, ADAPTIVE)]
    for reading in readings(effort):
        if needs_runs(reading):
            found += _under(reading, effort)
    return found


def figure2(max_th: int, seeds: int, reading: Reading | None = None) -> Setup:
    """Ten best-effort flows, both thresholds moved together."""
    thresholds: dict[str, Value] = {"queue.core.max_th": f"{max_th}p", "queue.core.min_th": f"{max_th // 3}p"}
    return _setup("figure2", _key("figure2", RED, max_th), thresholds, seeds, reading)


def min_th_alone(min_th: int, seeds: int) -> Setup:
    """Ten best-effort flows, the lower threshold moved alone."""
    thresholds: dict[str, Value] = {"queue.core.max_th": f"{ALONE_MAX_TH}p", "queue.core.min_th": f"{min_th}p"}
    return _setup("figure2", _key("min_th alone", RED, min_th), thresholds, seeds)


def experiment1(discipline: str, seeds: int, reading: Reading | None = None) -> Setup:
    """Return the first experiment under one discipline."""
    return _setup("experiment1", _key("experiment1", discipline), DISCIPLINES[discipline], seeds, reading)


def beside_flows(discipline: str, n: int, seeds: int) -> Setup:
    """Return the first experiment with another number of best-effort flows."""
    settings = {**DISCIPLINES[discipline], "flow.best-effort.count": n}
    return _setup("experiment1", _key(MORE_FLOWS, discipline, n), settings, seeds)


def buffered(discipline: str, limit: int, dialect: str, n: int, seeds: int) -> Setup:
    """Return the first experiment with another buffer, dialect and number of best-effort flows."""
    settings: dict[str, Value] = {"queue.core.limit": f"{limit}p", "flow.best-effort.count": n}
    key = _key(BUFFERED, discipline, n) | {"buffer": limit, "dialect": dialect}
    return _setup("experiment1", key, {**settings, **DIALECTS[dialect], **DISCIPLINES[discipline]}, seeds)


def _buffered(effort: Effort) -> list[Setup]:
    """List the runs with other buffers, and runs of dsred without one of its parts."""
    cells = [(limit, d, n) for limit in effort.buffers for d in (DSRED, FLOYD93) for n in effort.buffer_flows]
    names = (RIO, AT_MAX_U, AT_C, ADAPTIVE)
    found = [buffered(name, *cell, effort.buffer_seeds) for cell in cells for name in names]
    return found + [
        buffered(name, CAUSE_BUFFER, dialect, PRINTED_FLOWS, effort.buffer_seeds)
        for dialect in PARTS_OF_DSRED
        for name in (AT_MAX_U, ADAPTIVE)
    ]


def dead_zone(discipline: str, seeds: int) -> Setup:
    """Return the first experiment with or without a dead zone, sampled at every update."""
    settings: dict[str, Value] = {**DEAD_ZONES[discipline], "probe.discipline_interval": "200ms"}
    return _setup("experiment1", _key(DEAD_ZONE, discipline), settings, seeds)


def experiment2(discipline: str, off_s: int, seeds: int, *, long_s: float, reading: Reading | None = None) -> Setup:
    """Return the second experiment under one discipline at one mean off time; 0 is always on."""
    settings = {**_off(off_s, long_s), **DISCIPLINES[discipline]}
    return _setup("experiment2", _key("experiment2", discipline, off_s), settings, seeds, reading)


def _off(off_s: int, long_s: float) -> dict[str, Value]:
    off: Value = {"exponential": f"{off_s}s"} if off_s else "0s"
    return {"run.duration": f"{long_s:g}s", "flow.assured.pattern.off": off}


def above_committed(discipline: str, off_s: int, seeds: int, *, long_s: float) -> Setup:
    """Return the second experiment with an assured source that sends more than its committed rate."""
    settings = {**_off(off_s, long_s), "flow.assured.rate": f"{ABOVE_MBPS:g}Mbps", **DISCIPLINES[discipline]}
    return _setup("experiment2", _key(ABOVE, discipline, off_s), settings, seeds)


def small_assured(discipline: str, rate_kbps: int, seeds: int, *, long_s: float) -> Setup:
    """Return the second experiment with an assured source that is always on and sends less than its committed rate."""
    settings = {**_off(0, long_s), "flow.assured.rate": f"{rate_kbps}kbps", **DISCIPLINES[discipline]}
    return _setup("experiment2", _key(LITTLE, discipline, rate_kbps), settings, seeds)


def delays(effort: Effort) -> list[Computation]:
    """List the runs that the delays of both classes are read off."""
    return [
        Computation(
            key={"discipline": name},
            name="class delays",
            function=class_delays,
            arguments={"overrides": DISCIPLINES[name]},
            seeds=effort.delay_seeds,
            cost=2.0,
        )
        for name in (RIO, ADAPTIVE, AT_MAX_U)
    ]


def _experiment2(effort: Effort, off_s: Iterable[int], seeds: int, reading: Reading | None = None) -> list[Setup]:
    return [
        experiment2(name, off, seeds, long_s=effort.long_s, reading=reading)
        for off in off_s
        for name in (RIO, ADAPTIVE)
    ]


def _under(reading: Reading, effort: Effort) -> list[Setup]:
    seeds, cases = effort.reading_seeds, concerns(reading)
    found = []
    if "figure2" in cases:
        found += [figure2(max_th, seeds, reading) for max_th in effort.reading_max_th]
    if "experiment1" in cases:
        found += [experiment1(name, seeds, reading) for name in (RIO, ADAPTIVE)]
    if "experiment2" in cases:
        found += _experiment2(effort, effort.reading_off_s, seeds, reading)
    return found


def _setup(
    file: str, key: dict[str, str | float], settings: dict[str, Value], seeds: int, reading: Reading | None = None
) -> Setup:
    """Make one scenario; a reading's overrides come last."""
    overrides, name = dict(settings), file
    if reading is not None:
        overrides |= {**reading.overrides, **reading.options.get(file, {})}
        name = reading.options.get("files", {}).get(file, file)
    return Setup(
        key=key,
        plan=FILES.scenario(name, overrides),
        seeds=seeds,
        reading=BASE if reading is None else reading.label,
        tables=TABLES[file],
    )


def _key(case: str, discipline: str, x: int = 0) -> dict[str, str | float]:
    """Return the case, the discipline, and where on the figure's abscissa."""
    return {"case": case, "discipline": discipline, "x": x}
