"""Import of a file of another program as a scenario; the kind of file is detected."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.interop.importing import assembly, tc_words
from aqmlab.interop.importing.recording import record
from aqmlab.scenario.file import Scenario, read_text


@dataclass(frozen=True)
class Imported:
    """A scenario made of a file of another program.

    Attributes
    ----------
    text
        The scenario file.
    kind
        ``ns2`` or ``tc``.
    notes
        What is missing from the original, or assumed.
    """

    text: str
    kind: str
    notes: tuple[str, ...]

    @property
    def scenario(self) -> Scenario:
        """The scenario, checked."""
        return Scenario.from_text(self.text, filename="the imported scenario")


def import_scenario(path: str | Path) -> Imported:
    """Make a scenario of an ns-2 study or of lines of tc.

    Parameters
    ----------
    path
        A Tcl script for ns-2, or a text with lines of ``tc qdisc``.

    Raises
    ------
    InputError, ScenarioError
        With one clear line, where the file is neither or has something that is not read.
    """
    path = Path(path)
    text = read_text(path)
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", path.stem).strip("-.") or "imported"
    if re.search(r"new\s+Simulator", text):
        runs = record(text, str(path))
        try:
            study = assembly.study_of(runs, str(path))
            made = assembly.text_of(study, name=name, description=f"Imported from the ns-2 study {path.name}.")
        except (ValueError, LookupError, TypeError, StopIteration, ArithmeticError, RecursionError):
            raise InputError(
                f"{path}: cannot be read: what it says of its links and agents does not fit together"
            ) from None
        found = Imported(made, "ns2", tuple(study.notes))
    elif tc_words.looks_like_tc(text):
        bottleneck = tc_words.read_tc(text, str(path))
        made = tc_words.text_of(bottleneck, name=name, description=f"Imported from the lines of tc in {path.name}.")
        found = Imported(made, "tc", tuple(bottleneck.notes))
    else:
        raise InputError(f'{path}: is neither an ns-2 study ("new Simulator") nor has it lines of "tc qdisc"')
    _ = found.scenario
    return found
