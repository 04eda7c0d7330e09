"""Import of a file of another program as a scenario; the kind of file is detected."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.interop.importing import assembly, capture_scenario, routers, tc_words
from aqmlab.interop.importing.capture_file import is_capture
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
        ``ns2``, ``tc``, ``cisco``, ``juniper`` or ``capture``.
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


FORMS = ("arrivals", "flows")
ROUTERS = (
    ("juniper", "Juniper Junos", routers.looks_like_juniper, routers.read_juniper),
    ("cisco", "Cisco IOS", routers.looks_like_cisco, routers.read_cisco),
)


def import_scenario(path: str | Path, *, form: str = "arrivals") -> Imported:
    """Make a scenario of an ns-2 study, of a queue's configuration, or of a capture.

    Parameters
    ----------
    path
        A Tcl script for ns-2, a text with lines of ``tc qdisc``, a configuration of Cisco IOS or Juniper Junos, or a
        pcap or pcapng file.
    form
        Of a capture: ``arrivals``, its packets in the open loop, or ``flows``, its connections in the closed loop.

    Raises
    ------
    InputError, ScenarioError
        With one clear line, where the file is none of these or has something that is not read.
    """
    path = Path(path)
    if form not in FORMS:
        raise InputError(f'form "{form}" is unknown (allowed: {", ".join(FORMS)})')
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", path.stem).strip("-.") or "imported"
    if is_capture(path):
        return _checked(_capture(path, name, form))
    return _checked(_text(path, read_text(path), name))


def _checked(found: Imported) -> Imported:
    """Check the scenario."""
    _ = found.scenario
    return found


def _capture(path: Path, name: str, form: str) -> Imported:
    traffic = capture_scenario.traffic_of(path)
    if form == "flows":
        about = f"The connections of the capture {path.name}."
        text, notes = capture_scenario.flows_text(traffic, path, name=name, description=about)
    else:
        about = f"The packets of the capture {path.name}, in the open loop."
        text, notes = capture_scenario.arrivals_text(traffic, name=name, description=about)
    return Imported(text, "capture", tuple(notes))


def _text(path: Path, text: str, name: str) -> Imported:
    if re.search(r"new\s+Simulator", text):
        runs = record(text, str(path))
        try:
            study = assembly.study_of(runs, str(path))
            made = assembly.text_of(study, name=name, description=f"Imported from the ns-2 study {path.name}.")
        except (ValueError, LookupError, TypeError, StopIteration, ArithmeticError, RecursionError):
            raise InputError(
                f"{path}: cannot be read: what it says of its links and agents does not fit together"
            ) from None
        return Imported(made, "ns2", tuple(study.notes))
    if tc_words.looks_like_tc(text):
        bottleneck = tc_words.read_tc(text, str(path))
        made = tc_words.text_of(bottleneck, name=name, description=f"Imported from the lines of tc in {path.name}.")
        return Imported(made, "tc", tuple(bottleneck.notes))
    for kind, title, looks, read in ROUTERS:
        if looks(text):
            router = read(text, str(path))
            about = f"Imported from the configuration of {title} in {path.name}."
            made = tc_words.text_of(router, name=name, description=about, source="the configuration")
            return Imported(made, kind, tuple(router.notes))
    raise InputError(
        f'{path}: is neither an ns-2 study ("new Simulator") nor a capture, nor has it lines of "tc qdisc", '
        '"random-detect" (Cisco IOS) or "drop-profiles" (Junos)'
    )
