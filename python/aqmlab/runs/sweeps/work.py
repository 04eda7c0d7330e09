"""Input and output of a worker. It needs neither the store nor a shared disk: files come back as bytes."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aqmlab import _core
from aqmlab.errors import WorkerError
from aqmlab.results.evaluation import peak_memory
from aqmlab.results.keys import RunKey
from aqmlab.results.metrics import TABLES, run_metrics
from aqmlab.results.parquet import Columns
from aqmlab.runs.store.block import BlockBuilder, EncodedBlock, RunRow
from aqmlab.scenario.plugins import load_plugins

SHORT_S = 0.5
"""After a run that was shorter the next one does not say how far it is, which would take a hundredth of its time."""


@dataclass(frozen=True)
class Task:
    """Some blocks of runs.

    Attributes
    ----------
    blocks
        Runs of each block, by the block's place in the study.
    texts
        Hash to text of every scenario in them.
    version
        The version whose runs are asked for.
    engine
        The engine to evaluate them with.
    """

    blocks: Mapping[int, tuple[RunKey, ...]]
    texts: Mapping[str, str]
    version: str
    engine: str

    def perform(self, progress: Callable[[float], None]) -> TaskDone:
        """Do all runs. `progress` is called with the share that is done, 0 to 1."""
        if _core.version() != self.version:
            raise WorkerError(f"a worker has version {_core.version()} of aqmlab, not {self.version}")
        done = TaskDone()
        count = sum(len(runs) for runs in self.blocks.values())
        for number, runs in self.blocks.items():
            began = time.perf_counter()
            block = BlockBuilder()
            for key in runs:
                before = len(done.evaluated)
                if before % (count // 100 + 1) == 0:
                    progress(before / count)
                self._perform(key, block, done, None if done.last_s < SHORT_S else _part(progress, before, count))
            done.blocks[number] = block.encode()
            done.peak_bytes = peak_memory()
            done.seconds[number] = time.perf_counter() - began
        return done

    def _perform(
        self, key: RunKey, block: BlockBuilder, done: TaskDone, progress: Callable[[float], None] | None
    ) -> None:
        load_plugins()
        text = self.texts[key.scenario]
        began, cpu = time.perf_counter(), time.thread_time()
        output = _core.Scenario(text, "<study>").run(key.seed, progress, engine=self.engine)
        done.last_s = time.perf_counter() - began
        done.simulation_s += done.last_s
        done.simulation_cpu_s += time.thread_time() - cpu
        tables, summary = output["tables"], output["summary"]
        metrics = run_metrics({name: _decoded(tables[name]) for name in TABLES if name in tables})
        row = RunRow(key.name, key.scenario, key.seed, self.version, plain_json(metrics))
        block.add(row, text=text, summary=plain_json(summary), tables=tables)
        done.warnings.update(map(str, _listed(summary.get("warnings"))))
        done.evaluated.append((output["engine"], output["why_events"] or "", int(summary["packet_hops"])))


@dataclass
class TaskDone:
    """Result of a task.

    Attributes
    ----------
    blocks
        The blocks, ready to be stored, by their place in the study.
    seconds
        How long each took, in s.
    last_s
        How long the last run took, in s.
    simulation_s, simulation_cpu_s
        Time in the core, and processor time in it, of all runs together, in s.
    evaluated
        Of each run the engine, why it was not windows, and packet-hops.
    peak_bytes
        Most memory that the worker has held so far, in bytes.
    warnings
        Warnings of the runs about valid but probably mistaken settings.
    """

    blocks: dict[int, EncodedBlock] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)
    last_s: float = math.inf
    simulation_s: float = 0.0
    simulation_cpu_s: float = 0.0
    evaluated: list[tuple[str, str, int]] = field(default_factory=list)
    peak_bytes: int = 0
    warnings: set[str] = field(default_factory=set)


def _part(progress: Callable[[float], None], before: int, count: int) -> Callable[[float], None]:
    """Report a run as a part of its task."""
    return lambda share: progress((before + share) / count)


def perform(task: Task) -> TaskDone:
    """Do a task in a worker that cannot report its progress."""
    return task.perform(lambda _: None)


def plain_json(data: Mapping[str, Any]) -> str:
    """Write named numbers as JSON on one line; a number that is not finite becomes null.

    >>> plain_json({"loss": 0.5, "jain": math.nan})
    '{"loss": 0.5, "jain": null}'
    """
    finite = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in data.items()}
    return json.dumps(finite, ensure_ascii=False)


def _decoded(columns: Columns) -> dict[str, Any]:
    return {
        name: column if isinstance(column, list) else np.frombuffer(column[1], np.dtype(column[0]))
        for name, column in columns.items()
    }


def _listed(warnings: object) -> list[object]:
    return list(warnings) if isinstance(warnings, list | tuple) else []
