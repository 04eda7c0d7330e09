"""Runs of a tool, seed by seed, each kept as soon as it is done.

A run's file has the text of all files of the tool, the tool's version and the seed. A second request for the same run
reads that file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from aqmlab.errors import Interrupted
from aqmlab.execution.pool import available_cores, interrupts_noted
from aqmlab.execution.progress import REPORT_EVERY_S, Bar, bar_over
from aqmlab.interop.crosscheck.model import Model
from aqmlab.interop.crosscheck.tool import Key, Measure, Measured, Tool, end_programs
from aqmlab.storage.folders import guarded, write_file


def write_files(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Write a tool's files into a folder; existing files with the same text are not written again."""
    guarded(folder, lambda: folder.mkdir(parents=True, exist_ok=True))
    paths = []
    for name, text in files.items():
        path = folder / name
        guarded(path, lambda path=path: path.parent.mkdir(parents=True, exist_ok=True))  # type: ignore[misc]
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            guarded(path, lambda path=path, text=text: write_file(path, text.encode()))  # type: ignore[misc]
        paths.append(path)
    return paths


def run_seeds(
    tool: Tool,
    model: Model,
    seeds: Sequence[int],
    folder: Path,
    *,
    workers: int | None = None,
    progress: bool = True,
) -> dict[int, Measured]:
    """Run a tool for all seeds that are not in the folder yet.

    Raises
    ------
    Interrupted
        On Ctrl-C; what is finished is kept.
    ToolError
        If a run fails.
    """
    files = tool.files(model)
    write_files(files, folder)
    of = hashlib.sha256(json.dumps([tool.version(), files], sort_keys=True).encode()).hexdigest()
    found: dict[int, Measured] = {seed: kept for seed in seeds if (kept := _read(_file(folder, seed), of)) is not None}
    wanted = [seed for seed in seeds if seed not in found]
    if not wanted:
        return found
    tool.prepare(model, folder)

    def run(seed: int) -> tuple[int, Measured]:
        measured = tool.run(model, folder, seed)
        _write(_file(folder, seed), of, measured)
        return seed, measured

    count = min(workers or available_cores(), len(wanted)) if tool.parallel else 1
    with (
        bar_over(f"{model.name}, {tool.title}", [1.0] * len(wanted), shown=progress) as bar,
        interrupts_noted() as stop,
    ):
        executor = ThreadPoolExecutor(count, thread_name_prefix=tool.name)
        futures = [executor.submit(run, seed) for seed in wanted]
        try:
            _wait(futures, bar, stop)
        except KeyboardInterrupt:
            _stop(executor)
            text = f"interrupted; {bar.finished} of {len(wanted)} runs of {tool.title} finished and kept in {folder}"
            raise Interrupted(f"{text}; the same command goes on with the rest") from None
        except BaseException:
            _stop(executor)
            raise
        executor.shutdown()
    found.update(future.result() for future in futures)
    return {seed: found[seed] for seed in seeds}


def _wait(futures: Sequence[Future[tuple[int, Measured]]], bar: Bar, stop: threading.Event) -> None:
    places = {future: index for index, future in enumerate(futures)}
    left = set(futures)
    while left:
        done, left = wait(left, timeout=REPORT_EVERY_S, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
            bar.done(places[future])
        if stop.is_set():
            raise KeyboardInterrupt


def _stop(executor: ThreadPoolExecutor) -> None:
    """Start no further run, and stop the running ones."""
    executor.shutdown(wait=False, cancel_futures=True)
    end_programs()
    executor.shutdown(wait=True)


def _file(folder: Path, seed: int) -> Path:
    return folder / "measured" / f"seed-{seed}.json"


def _write(path: Path, of: str, measured: Measured) -> None:
    data = {"of": of, "measured": [[str(key), place, value] for (key, place), value in measured.items()]}
    guarded(path, lambda: path.parent.mkdir(parents=True, exist_ok=True))
    guarded(path, lambda: write_file(path, json.dumps(data).encode()))


def _read(path: Path, of: str) -> dict[Key, float] | None:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["of"] == of:
            return {(Measure(key), str(place)): float(value) for key, place, value in data["measured"]}
    return None
