"""The paper, whose page is not made by the framework yet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from aqmlab.papers.common import Paper
from aqmlab.papers.common.planned import Planned
from aqmlab.papers.exred.page import CITATION, NAME, build
from aqmlab.papers.exred.plan import CLAIMS, FILES, Effort, jobs, tcps


@dataclass(frozen=True)
class _ExRed(Paper):
    def planned(self, effort: Any, root: Path) -> Planned:  # noqa: ANN401
        """Plan the runs and the page."""
        return Planned(batches=partial(jobs, effort, root), build=partial(build, effort, root))


PAPER = _ExRed(
    FILES,
    name=NAME,
    citation=CITATION,
    claims=CLAIMS,
    effort=Effort,
    setups=tcps,
    measure=lambda *_: {},
    page=lambda _: [],
)
