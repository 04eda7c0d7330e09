"""Types of the Rust core. Every function but those of live traffic is pure: text in, data out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, final, type_check_only

__all__ = [
    "Packet",
    "PageSession",
    "Queue",
    "check",
    "curve",
    "disciplines",
    "document",
    "live_link",
    "live_plan",
    "live_replay",
    "live_udp",
    "mark",
    "open_loop",
    "register",
    "replay",
    "run",
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
    """One run: named numbers, and tables as column buffers in native byte order."""

    summary: dict[str, float | int]
    tables: dict[str, dict[str, tuple[str, bytes] | list[str]]]
    engine: str
    why_events: str | None
    events: int

def check(text: str, filename: str, overrides: Sequence[tuple[str, str]] = ..., whole: bool = ...) -> str: ...
def document(text: str, filename: str) -> str:
    """JSON of a TOML text: ``ok``, ``errors`` as from `check`, and if ``ok`` its ``table``, keys in their order."""
    ...

def text_hash(text: str) -> str: ...
def live_plan(text: str, filename: str, overrides: Sequence[tuple[str, str]] = ..., seed: int = 1) -> str:
    """
    JSON: ``ok``, ``errors``, ``warnings`` as from `check`, and if ``ok`` the ``plan`` of a live run with this seed.

    Errors say also what a live run cannot do: no live link, a flow that does not cross it. Starts, sizes and ends of
    flows are those that the simulator draws with the seed. Delays are propagation delays.

    - ``name``, ``hash``, ``duration_s``, ``warmup_s``, ``seeds``, ``seed``
    - ``live``: ``family`` ("ipv4", "ipv6"), ``link``, ``flow_label`` ("5-tuple", "ipv6-label"), ``distance``
      ({"rule": "inferred"} or {"rule": "prefix", "initial": {prefix: ttl}}), ``count_bytes`` ("ip", "ethernet"),
      ``loss``, ``reverse_loss``. The same is ``scenario.live`` of `check`.
    - ``link``: the live link; ``reverse_link``: the link in its other direction, or null
    - ``links``: by name, all on the way of any flow: ``from``, ``to``, ``rate_bps``, ``delay_ns``, ``queue``, ``aqm``
    - ``groups``: flows of one group of the file whose links have the same rates and delays, each:

      - ``number`` (from 1), ``name`` (that of the group of the file; of the first flow where that is split), ``group``,
        ``flows`` (names)
      - ``direction``: "forward" where the data cross the live link, "reverse" where they cross the reverse link
      - ``there`` and ``back``, the ways of data and answers: ``links`` (names in order), ``crosses`` (the live link,
        the reverse link, or null), ``before`` and ``after`` (names; all are before where nothing is crossed),
        ``hops_before``, ``hops_after``, ``delay_before_ns``, ``delay_after_ns``, and ``delay_ns`` of the whole way, the
        link crossed included
      - ``starts_s``, ``size_bytes`` (payload; null: endless) of each flow; ``stop_s`` or null, ``again_s``
        (later periods)
      - ``transport`` ("udp", or as in the file), ``congestion_control`` (of the kernel; null: it has none such, or
        UDP), ``ecn``, ``dscp``, ``class``, ``acks_share_label``
      - ``parameters``: those of the transport, as in the flows of `check`; for UDP ``rate_bps``, ``packet_size``
        (bytes, or a distribution) and ``pattern`` ("constant", "poisson", or {"on", "off"} in s)
      - ``exec``, ``exec_server``: commands, or null
    """
    ...

def run(
    text: str,
    filename: str,
    seed: int,
    overrides: Sequence[tuple[str, str]] = ...,
    progress: Callable[[float], None] | None = None,
    shortcuts: bool = True,
    engine: str = "auto",
) -> RunOutput: ...
def disciplines() -> str: ...
def schema() -> str: ...
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
def integers(queue: str, rate_bps: float, delay_s: float) -> str: ...
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
def version() -> str: ...
