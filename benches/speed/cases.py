"""The cases: a scenario of aqmlab, and the same for ns-2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from speed import lists
from speed.process import SCENARIOS

PROBES_OFF = ("probe.links=[]", "probe.delay_histogram=false")
"""Overrides that leave only the counters of links and flows."""


@dataclass(frozen=True)
class Case:
    """A benchmark.

    Attributes
    ----------
    name
        The scenario file's, without its ending.
    script, arguments
        The script for ns-2 and its arguments; without a script there is no comparison with ns-2.
    plain
        Overrides that give us the queue that ns-2 has, where it is another.
    draws
        Whether ns-2 gets the random values of our scenario.
    """

    name: str
    script: str = ""
    arguments: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    draws: bool = False

    @property
    def scenario(self) -> Path:
        """The scenario file."""
        return SCENARIOS / f"{self.name}.toml"

    def ns2(self, folder: Path, write: Callable[[Path, Path], list[str]] = lists.write) -> tuple[str, ...]:
        """Return the arguments for ns-2; lists that it reads are written into a folder."""
        return (*self.arguments, *write(self.scenario, folder)) if self.draws else self.arguments


TORUS_RED = (
    "thresh_,10,maxthresh_,35,linterm_,10,q_weight_,0.004,mean_pktsize_,500,"
    "bytes_,false,queue_in_bytes_,false,gentle_,false"
)
D1G = ("flows=100", "rate=1e9", "access=1e9", "seconds=10", "min_th=500", "max_th=1500", "limit=4000")
FLOWS = ("rate=10e9", "access=1e9", "seconds=10", "min_th=5000", "max_th=15000", "limit=40000")
SPREAD = ("delays=10", "step=5", "every=0")
"""Ten access delays 5 ms apart; starts are drawn."""
CASES = (
    Case("d10m", "dumbbell.tcl", ()),
    Case("d1g", "dumbbell.tcl", (*D1G, "delays=100", "step=0.1", "every=0.01")),
    Case("chain", "chain.tcl", ()),
    Case("flower", "mesh.tcl", (), plain=("queue.router.aqm=gentle-red",), draws=True),
    Case(
        "torus",
        "mesh.tcl",
        ("seconds=300", "variant=Reno", "payload=460", "window=10000", f"red={TORUS_RED}"),
        plain=("queue.router.aqm=red",),
        draws=True,
    ),
    Case("flows", "dumbbell.tcl", (*FLOWS, *SPREAD, "flows=100000", "window=64")),
    Case("kernel"),
    Case("web"),
)


def named(names: str) -> list[Case]:
    """Return the cases of a comma-separated list.

    Raises
    ------
    ValueError
        If there is no case of that name.
    """
    known = {case.name: case for case in CASES}
    wanted = [name.strip().lower() for name in names.split(",")]
    for name in wanted:
        if name not in known:
            raise ValueError(f"there is no case {name!r} (allowed: {', '.join(known)})")
    return [known[name] for name in wanted]
