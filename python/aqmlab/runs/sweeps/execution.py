"""Run a sweep: submit blocks of runs to an executor, store its results, repeat lost tasks.

Blocks go out in tasks, which are sized by the measured costs of runs, so that handing over takes little of the
time and no task is long. While another process on the same store has a run in hand this one does others, and waits for
it at the end.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field

from aqmlab import _core
from aqmlab.errors import WorkerError
from aqmlab.results.evaluation import Evaluated
from aqmlab.results.keys import RunKey
from aqmlab.runs.progress import REPORT_EVERY_S, Bar
from aqmlab.runs.store.store import ResultStore
from aqmlab.runs.sweeps.executors import Crew
from aqmlab.runs.sweeps.plan import Block
from aqmlab.runs.sweeps.work import Task, TaskDone

AHEAD = 2
"""Tasks in hand for each worker: the one it does, and the next."""
MOST_DEATHS = 10
"""A block that was in hand when more workers died than this is given up: it may be what kills them."""
LOOK_AGAIN_S = 0.3
FORGETTING = 0.7


@dataclass
class Tally:
    """Statistics of a sweep's execution.

    Attributes
    ----------
    evaluated
        How each run that was done was evaluated.
    simulation_s, simulation_cpu_s
        Time in the core, and processor time in it, of all runs together, in s.
    warnings
        Warnings of the runs about valid but probably mistaken settings.
    stored
        Runs of the sweep that are in the store now.
    """

    evaluated: list[Evaluated] = field(default_factory=list)
    simulation_s: float = 0.0
    simulation_cpu_s: float = 0.0
    warnings: set[str] = field(default_factory=set)
    stored: int = 0


@dataclass
class Execution:
    """A sweep while it is done."""

    store: ResultStore
    crew: Crew
    texts: Mapping[str, str]
    engine: str
    bar: Bar
    interrupted: threading.Event
    tally: Tally

    def __post_init__(self) -> None:
        self._waiting: deque[Block] = deque()
        self._elsewhere: deque[Block] = deque()
        self._in_hand: dict[Future[TaskDone], list[Block]] = {}
        self._tasks: dict[int, list[Block]] = {}
        self._number = 0
        self._deaths: Counter[int] = Counter()
        self._pace = Pace()

    def work(self, blocks: Sequence[Block]) -> None:
        """Do all blocks, the costliest first; return when all their runs are stored, by this process or another."""
        self._waiting.extend(sorted(blocks, key=lambda block: -block.cost))
        try:
            self._until_all_are_stored()
        finally:
            for future in self._in_hand:
                future.cancel()

    def _until_all_are_stored(self) -> None:
        looked = time.monotonic()
        while self._waiting or self._elsewhere or self._in_hand:
            self._check()
            self._hand_out()
            if self._in_hand:
                self._take_back()
            elif self._elsewhere and not self._waiting:
                self.interrupted.wait(LOOK_AGAIN_S)
            if not self._waiting and self._elsewhere and time.monotonic() - looked > LOOK_AGAIN_S:
                self.store.forget_the_dead()
                self._waiting, self._elsewhere = self._elsewhere, self._waiting
                looked = time.monotonic()

    def _hand_out(self) -> None:
        while self._waiting and len(self._in_hand) < AHEAD * self.crew.size:
            blocks: list[Block] = []
            runs: dict[int, tuple[RunKey, ...]] = {}
            most = len(self._waiting) // (2 * AHEAD * self.crew.size)
            while self._waiting and (not blocks or self._fits(blocks, most)):
                block = self._waiting.popleft()
                left = self.store.claim([key.name for key in block.runs])
                if left is None:
                    self._elsewhere.append(block)
                elif not left:
                    self._finish(block)
                else:
                    wanted = set(left)
                    blocks.append(block)
                    runs[block.number] = tuple(key for key in block.runs if key.name in wanted)
            if blocks and self._submit(blocks, runs).done():
                return

    def _fits(self, blocks: list[Block], most: int) -> bool:
        """Whether another block belongs into the same task: not one at which a worker died."""
        known = self._pace.seconds([*blocks, self._waiting[0]])
        suspect = self._deaths[blocks[0].number] or self._deaths[self._waiting[0].number]
        return known is not None and known <= self.crew.task_s and len(blocks) < most and not suspect

    def _submit(self, blocks: list[Block], runs: dict[int, tuple[RunKey, ...]]) -> Future[TaskDone]:
        texts = {key.scenario: self.texts[key.scenario] for part in runs.values() for key in part}
        task = Task(runs, texts, _core.version(), self.engine)
        number = self._number = self._number + 1
        self._tasks[number] = blocks

        def progress(share: float) -> None:
            self._check()
            self._show(number, share)

        try:
            future = self.crew.submit(number, task, progress)
        except Exception as error:
            if not self.crew.lost(error):
                raise
            future = Future()
            future.set_exception(error)
        self._in_hand[future] = blocks
        return future

    def _take_back(self) -> None:
        done, _ = wait(self._in_hand, timeout=REPORT_EVERY_S, return_when=FIRST_COMPLETED)
        for number, share in self.crew.reports():
            self._show(number, share)
        lost = False
        for future in done:
            blocks = self._in_hand.pop(future)
            error = future.exception()
            if error is None:
                self._keep(blocks, future.result())
            elif self.crew.lost(error):
                self._again(blocks)
                lost = True
            else:
                raise error
        if lost and self.crew.recover():
            for future, blocks in list(self._in_hand.items()):
                if not future.done() or future.cancelled() or future.exception() is not None:
                    del self._in_hand[future]
                    self._again(blocks)

    def _keep(self, blocks: list[Block], done: TaskDone) -> None:
        for block in blocks:
            self.store.add(done.blocks[block.number])
            self._pace.learn(block, done.seconds[block.number], len(done.blocks[block.number].rows))
            self._finish(block)
        self.tally.evaluated += [Evaluated(*how, done.peak_bytes) for how in done.evaluated]
        self.tally.simulation_s += done.simulation_s
        self.tally.simulation_cpu_s += done.simulation_cpu_s
        self.tally.warnings |= done.warnings

    def _again(self, blocks: list[Block]) -> None:
        for block in blocks:
            self._deaths[block.number] += 1
            if self._deaths[block.number] > MOST_DEATHS:
                raise WorkerError(
                    f"workers died {MOST_DEATHS + 1} times at the same runs, "
                    "perhaps for want of memory (try fewer --workers)"
                )
        self._waiting.extendleft(reversed(blocks))

    def _finish(self, block: Block) -> None:
        self.tally.stored += len(block.runs)
        self.bar.done(block.number, len(block.runs))

    def _show(self, number: int, share: float) -> None:
        blocks = self._tasks.get(number, [])
        if len(blocks) == 1:
            self.bar.report(blocks[0].number, share)

    def _check(self) -> None:
        if self.interrupted.is_set():
            raise KeyboardInterrupt


class Pace:
    """How long runs take, measured, against what they were expected to; the last count most."""

    def __init__(self) -> None:
        self._ratio: float | None = None

    def learn(self, block: Block, seconds: float, runs: int) -> None:
        """Note how long so many runs of a block took."""
        found = seconds / (block.cost * runs / len(block.runs))
        self._ratio = found if self._ratio is None else FORGETTING * self._ratio + (1 - FORGETTING) * found

    def seconds(self, blocks: Sequence[Block]) -> float | None:
        """Predict how long these blocks take; None as long as nothing was measured."""
        return None if self._ratio is None else self._ratio * sum(block.cost for block in blocks)
