"""The laboratory of a run or comparison, in a frame of its report."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlencode

from aqmlab.errors import InputError
from aqmlab.lab.standalone import standalone_page
from aqmlab.reporting.page import Page
from aqmlab.results import folders
from aqmlab.runs import comparison
from aqmlab.runs.comparison import Comparison
from aqmlab.scenario.registry import disciplines

SHOWN = "packets,queue,probability,delay,goodput,numbers"


def add_live(page: Page, folder: Path, name: str) -> str:
    """Add the laboratory of a folder's run or comparison to its page; return it, to be written beside under a name.

    Raises
    ------
    InputError
        If the folder holds several runs, or its scenario has a discipline that a page cannot run.
    """
    scenario = folder / "scenario.toml"
    settings: dict[str, str] = {}
    if (folder / comparison.RECORD).exists():
        known = {one.name for one in disciplines() if not one.foreign}
        chosen = [label for label in Comparison.load(folder).aqm if label in known][:2]
        settings = dict(zip(("aqm", "beside"), chosen, strict=False))
    elif not folders.finished_seeds(folder):
        raise InputError(f"--live: {folder} holds several results (allowed: the folder of one run or comparison)")
    held = {"set": json.dumps(settings)} if settings else {}
    address = f"#{urlencode({**held, 'show': SHOWN, 'keep': 'yes'})}"
    page.section("Live")
    page.text(
        "The same scenario, simulated in this page with one seed. Turn its parameters: the grey curves are those of "
        "the report's own setting. Numbers of many seeds are above."
    )
    page.live(name, address, title="The laboratory of this scenario")
    return standalone_page(scenario)
