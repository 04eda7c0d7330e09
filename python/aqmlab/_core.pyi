"""Types of the Rust core. Every function but those of live traffic is pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, TypedDict, final, type_check_only

import numpy as np
import pandas as pd

from aqmlab.errors import Problem

Numbers = Sequence[float] | np.ndarray

__all__ = [
    "APPLICATIONS",
    "ENGINES",
    "LOSS_MODELS",
    "PLAYOUTS",
    "Packet",
    "PageSession",
    "Queue",
    "Scenario",
    "bottleneck_of",
    "burst_ratio",
    "call_score",
    "call_scores",
    "curve",
    "delay_impairment",
    "document",
    "histogram_quantile",
    "jain",
    "live_link",
    "live_replay",
    "live_udp",
    "loss_impairment",
    "mark",
    "open_loop",
    "opinion",
    "playout_delays",
    "quantities",
    "rating",
    "register",
    "registry",
    "replay",
    "run_quantities",
    "schema",
    "version",
]

@final
class Packet:
    """A packet as a discipline in Python sees it."""

    arrival_s: float
    """When it was offered to the queue."""
    bytes: int
    """Length on the wire."""
    flow: int
    """Flow label."""
    dscp: int
    """Code point, 0 to 63."""
    ecn: str
    """``not-ect``, ``ect0``, ``ect1`` or ``ce``."""
    kind: str
    """``data``, ``ack`` or ``syn``."""
    class_: int
    """Class of the source."""
    ttl: int
    ttl_initial: int
    ttl_final: int
    """Hop limits now, at the sender, and at the destination of an earlier packet (0: not known)."""
    @property
    def hops(self) -> int:
        """Routers that it has passed."""

@final
class Queue:
    """What waits, the head first, as a discipline in Python sees it."""

    def __len__(self) -> int: ...
    def __getitem__(self, place: int) -> Packet: ...
    @property
    def bytes(self) -> int:
        """Bytes waiting."""
    @property
    def rate_bps(self) -> float:
        """The link's bit rate."""
    @property
    def busy(self) -> bool:
        """Whether the link transmits a packet now: in ``dequeue`` it never does."""
    @property
    def idle_s(self) -> float:
        """Time since the link's last transmission, or since the start of the run, in s; 0 while it transmits."""
    def uniform(self) -> float:
        """Return a random number, uniform on [0, 1), of the run's seed."""
    def below(self, n: int) -> int:
        """Return a random integer, uniform on 0 to n - 1."""
    def drop(self, place: int, reason: str = "early") -> None:
        """Drop the packet at a place; those behind it move up."""
    def mark(self, place: int) -> bool:
        """Mark the packet at a place; whether it is ECN-capable. One that is not stays as it is."""

@final
class PageSession:
    """Requests of one page of the laboratory (`crates/web`), and at most one run. One thread at a time uses it."""

    def __new__(cls) -> PageSession: ...
    def answer(self, name: str, text: str) -> str:
        """Answer a request as JSON: ``check``, ``disciplines``, ``curve``, ``read_toml``, ``start`` or ``finish``."""
    def advance(self, share: float) -> int | None:
        """Simulate up to this share of the run; the packets over links so far, None if there is no run."""
    def columns(self) -> bytes:
        """Return the numbers of the last finished run, at the places that the answer of ``finish`` has."""

@type_check_only
class RunOutput(TypedDict):
    """One run: named numbers, and tables as column buffers in native byte order (`aqmlab.results.parquet.Column`)."""

    summary: dict[str, float | int]
    tables: dict[str, dict[str, tuple[str | list[str], bytes]]]
    engine: str
    why_events: str | None
    events: int

APPLICATIONS: tuple[str, ...]
"""Keys of flows that an application drives."""
ENGINES: tuple[str, ...]
"""Names of the engines that evaluate a run."""

@final
class ControlledRuns:
    """Runs of a scenario, one for each seed, that go on together; a queue's settings change between intervals."""

    COLUMNS: ClassVar[list[str]]

    def __new__(cls, scenario: Scenario, link: str, keys: Sequence[str], seeds: Sequence[int]) -> Self: ...
    def rate_bps(self) -> float:
        """Return the bit rate of the link at the start of a run."""
    def is_over(self) -> bool:
        """Whether the runs are at their end."""
    def step(self, values: bytes, interval_s: float, threads: int = 1) -> bytes:
        """Set the values of all runs (8 bytes each, run by run), and go on. Return `COLUMNS`, run by run."""
    def finish(self) -> list[RunOutput]:
        """Finish all runs with the settings that hold; return what `Scenario.run` returns for each."""

@final
class Scenario:
    """A scenario file, read and checked once. Nothing changes it, and threads share it.

    Its descriptions are plain data. A record for which there is a class, as `aqmlab.scenario.parts.Link`, has the
    fields of the class.
    """

    def __new__(cls, text: str, filename: str, overrides: Sequence[tuple[str, str]] = ...) -> Self:
        """Read and check a text; a `ScenarioError` lists all problems. `filename` is for messages, and for the name."""
    def description(self) -> dict[str, Any]:
        """Return the fields of `aqmlab.Scenario`."""
    def warnings(self) -> tuple[Problem, ...]: ...
    def nodes(self) -> list[str]: ...
    def links(self) -> list[dict[str, Any]]:
        """Return the fields of each `Link`; ``from`` stands for ``from_``."""
    def flows(self) -> list[dict[str, Any]]:
        """Return the fields of each `Flow`; ``from`` stands for ``from_``."""
    def tables(self) -> dict[str, Any]:
        """Return the tables of the file, overrides applied."""
    def run_hash(self) -> str:
        """Return the hash without the list of seeds."""
    def live_plan(self, seed: int) -> dict[str, Any]:
        """Check the scenario for a live run with this seed, and draw the same random numbers as the simulator.

        A `ScenarioError` lists the obstacles: no live link, a flow that does not cross it.

        Returns
        -------
        dict
            ``link`` and ``reverse_link`` (the one in the other direction, or None) with ``rate_bps``, ``aqm`` and
            ``reverse_aqm``; ``groups``, the fields of each `aqmlab.live.plan.FlowGroup`; ``warnings``.
        """
    def run(
        self,
        seed: int,
        progress: Callable[[float], None] | None = None,
        shortcuts: bool = True,
        engine: str = "auto",
        spare_core: bool = False,
    ) -> RunOutput:
        """Simulate it with one seed. `progress` is called with the share that is done, 0 to 1.

        With a spare core ``auto`` takes ``parallel`` where that pays.

        An `InputError` says that the engine cannot evaluate it, that a log is full, or that a plug-in raised an
        exception.
        """

def document(text: str, filename: str) -> dict[str, Any]:
    """Read a TOML text, keys in their order; a `ScenarioError` names the place of an error."""
    ...

def text_hash(text: str) -> str: ...
def with_files(
    text: str, filename: str, overrides: Sequence[tuple[str, str]], read: Callable[[str], str]
) -> tuple[str, list[tuple[str, str]]]:
    """Put distributions and traces in place of the files that a scenario names; `read` returns the text of one."""
    ...

def trace(text: str, filename: str) -> str: ...
def registry() -> dict[str, Any]: ...
def schema() -> dict[str, Any]: ...
def open_loop(
    queue: str, arrival_rate: float, service_rate: float, arrivals: int, warmup: int, seed: int
) -> dict[str, float | int | list[int]]: ...
def curve(queue: str, x: Sequence[float]) -> list[float]: ...
def replay(
    queue: str,
    rate_bps: float,
    delay_s: float,
    operations: Sequence[tuple[int, Mapping[str, int | str | bool] | None]],
    draws: Sequence[float],
    gauges: bool = False,
) -> list[dict[str, Any]]: ...
def integers(queue: str, rate_bps: float, delay_s: float) -> dict[str, Any]:
    """Return the integers of a queue with ``arithmetic = "integer"``, or of DualPI2 in the dialect of Linux."""
    ...

def replay_integer(
    queue: str, rate_bps: float, delay_s: float, levels: Sequence[int], log: bytes
) -> dict[str, Any]: ...
def mark(
    kind: str, parameters: Mapping[str, float], packets: Sequence[tuple[int, int, int]], draws: Sequence[float]
) -> list[int]: ...
def live_link(config: str) -> int: ...
def live_udp(role: str) -> None: ...
def live_replay(config: str, capture: str) -> str: ...
def register(
    name: str,
    title: str,
    source: str,
    doc: str,
    digest: str,
    idea: str,
    object: Callable[..., Any],
    parameters: Sequence[tuple[str, str, float, float | None, float | None, str]],
    every_s: float | None,
    gauges: Sequence[str],
) -> None: ...

LOSS_MODELS: tuple[str, ...]
"""Models of what loss does to a call."""
PLAYOUTS: tuple[str, ...]
"""Playout buffers."""

@type_check_only
class Tables(Protocol):
    """Tables by their names, each a mapping of columns."""

    def __contains__(self, name: object, /) -> bool: ...
    def __getitem__(self, name: str, /) -> Any: ...  # noqa: ANN401 - a table of pandas is no Mapping

def quantities() -> list[dict[str, Any]]:
    """Return the fields of each `aqmlab.results.quantities.Quantity`, in the order of display."""

def run_quantities(tables: Tables, link: str | None = None) -> dict[str, float] | None:
    """Compute the quantities of a run; None if it has no such link (`aqmlab.results.quantities.run_quantities`)."""

def bottleneck_of(names: list[str], disciplines: list[str]) -> int:
    """Return the place of the link that results are about."""

def histogram_quantile(low: Numbers, high: Numbers, counts: Numbers, share: float) -> float:
    """Return a quantile of a histogram, linear within a bin; NaN if it counts nothing."""

def jain(values: Numbers) -> float: ...
def call_scores(
    packets: Mapping[str, Any] | pd.DataFrame,
    *,
    playout: str,
    jitter_s: float,
    frame_s: float | None,
    model: str,
    bursts: bool,
) -> dict[str, dict[str, Any]]:
    """Score each direction of calls by its flow: the fields of `aqmlab.voip.Score`."""

def call_score(
    numbers: Numbers,
    delays_s: Numbers,
    sent: int,
    *,
    playout: str,
    jitter_s: float,
    frame_s: float,
    model: str,
    bursts: bool,
) -> dict[str, Any]:
    """Score one direction of a call: the fields of `aqmlab.voip.Score`."""

def playout_delays(
    numbers: Numbers,
    delays_s: Numbers,
    sent: int,
    *,
    playout: str,
    jitter_s: float,
    frame_s: float,
    talkspurt_s: float,
) -> list[float]: ...
def delay_impairment(mouth_to_ear_s: float) -> float: ...
def loss_impairment(loss: float, model: str, burst_ratio: float) -> float: ...
def rating(mouth_to_ear_s: float, loss: float, model: str, burst_ratio: float) -> float: ...
def opinion(r: float) -> float: ...
def burst_ratio(lost: list[bool]) -> float: ...
def version() -> str: ...
