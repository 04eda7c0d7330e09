"""Types of the Rust core. Every function is pure: text in, data out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, type_check_only

__all__ = ["check", "curve", "disciplines", "mark", "open_loop", "replay", "run", "schema", "version"]

@type_check_only
class RunOutput(TypedDict):
    """One run: named numbers, and tables as column buffers in native byte order."""

    summary: dict[str, float | int]
    tables: dict[str, dict[str, tuple[str, bytes] | list[str]]]
    engine: str
    why_events: str | None
    events: int

def check(text: str, filename: str, overrides: Sequence[tuple[str, str]] = ..., whole: bool = ...) -> str: ...
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
def mark(
    kind: str, parameters: Mapping[str, float], packets: Sequence[tuple[int, int, int]], draws: Sequence[float]
) -> list[int]: ...
def version() -> str: ...
