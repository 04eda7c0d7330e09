"""Types of the Rust core. Every function is pure: text in, data out."""

from collections.abc import Callable, Sequence
from typing import TypedDict, type_check_only

__all__ = ["check", "curve", "disciplines", "open_loop", "run", "schema", "version"]

@type_check_only
class RunOutput(TypedDict):
    """One run: named numbers, and tables as column buffers in native byte order."""

    summary: dict[str, float | int]
    tables: dict[str, dict[str, tuple[str, bytes] | list[str]]]

def check(text: str, filename: str, overrides: Sequence[tuple[str, str]] = ...) -> str: ...
def run(
    text: str,
    filename: str,
    seed: int,
    overrides: Sequence[tuple[str, str]] = ...,
    progress: Callable[[float], None] | None = None,
    shortcuts: bool = True,
) -> RunOutput: ...
def disciplines() -> str: ...
def schema() -> str: ...
def open_loop(
    queue: str, arrival_rate: float, service_rate: float, arrivals: int, warmup: int, seed: int
) -> dict[str, float | int | list[int]]: ...
def curve(queue: str, x: Sequence[float]) -> list[float]: ...
def version() -> str: ...
