"""Plan of one reproduction: the runs that it needs, and the page that is built from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aqmlab.papers.common.page import Built
from aqmlab.papers.common.runs import Batch
from aqmlab.runs.jobs import Job


@dataclass(frozen=True)
class Planned:
    """A paper, with how much of it is run and where.

    Attributes
    ----------
    batches
        Lists every run that is needed.
    build
        Reads the runs and puts the report together.
    finished
        Called with each run that is done, while others are done: it may read it then.
    """

    batches: Callable[[], list[Batch]]
    build: Callable[[], Built]
    finished: Callable[[Job], None] = lambda _: None
