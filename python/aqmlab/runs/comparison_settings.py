"""Entries of a comparison: disciplines and settings under their labels, and the folder that is named by them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.errors import OVERRIDE, InputError, ScenarioError, StorageError, joined, unknown
from aqmlab.input_files import read_regular
from aqmlab.results.folders import TEMPORARY, guarded
from aqmlab.results.keys import digest
from aqmlab.scenario.parts import RIO
from aqmlab.scenario.registry import discipline, disciplines
from aqmlab.scenario.toml_text import Value, inline, read_toml

if TYPE_CHECKING:
    from aqmlab.scenario.file import Scenario

Settings = Mapping[str, Mapping[str, Value]]
"""Label to a queue's table: ``{"red-tight": {"aqm": "red", "max_th": "20p"}}``."""
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,23}")
LABEL_WORDS = "1 to 24 of the characters A-Z a-z 0-9 _ . + -, beginning with a letter or digit"
QUEUE_KEY = re.compile(r'queue\.(?:"([^"]+)"|([^."]+))(?:\."?([^."]+)|$)')
"""The path of an override in a queue's table: the queue's name, quoted or not, and the key."""
POINTS = "points"
"""The curve of RED through points, which has no thresholds."""
RESERVED = ("comparison.toml", "compare.json", "figures", "log.txt", "report.html", "scenario.toml")
"""Names of other things in the folder of a comparison, where each label has a folder of its own."""
DEFINITION = "comparison.toml"
"""File that lists the entries of a comparison in its folder."""
LONGEST_NAME = 120
"""Characters of a folder's name; of a longer one the last labels are left out."""


def entries_of(aqm: Sequence[str], settings: Settings) -> dict[str, dict[str, Any]]:
    """Return label to settings, the discipline (``aqm``) among them, in the order of the comparison.

    Settings under the name of a discipline that `aqm` has are those of that discipline; other labels follow.

    >>> entries_of(["drop-tail", "red"], {"red": {"max_p": 0.2}, "tight": {"aqm": "red", "max_th": "20p"}})
    {'drop-tail': {'aqm': 'drop-tail'}, 'red': {'aqm': 'red', 'max_p': 0.2}, 'tight': {'aqm': 'red', 'max_th': '20p'}}

    Raises
    ------
    InputError
        If a label or a discipline cannot be used, or fewer than two are given.
    """
    found: dict[str, dict[str, Any]] = {discipline(name).name: {"aqm": name} for name in aqm}
    known = [entry.name for entry in disciplines()]
    given: Mapping[Any, Any] = settings  # callers in Python may give anything
    for label, table in given.items():
        if not isinstance(label, str) or not LABEL.fullmatch(label) or label in RESERVED:
            raise InputError(f'settings "{label}": cannot be a label (allowed: {LABEL_WORDS}; not {_or(RESERVED)})')
        if not isinstance(table, Mapping):
            raise InputError(f"settings \"{label}\": write a table, for example {{ aqm = 'red', max_th = '20p' }}")
        name = table.get("aqm", label if label in known else None)
        if name is None:
            raise InputError(f"settings \"{label}\": the discipline is missing; add aqm, for example aqm = 'red'")
        if name not in known:
            raise InputError(f'settings "{label}": {unknown("discipline", str(name), known)}')
        if label in known and name != label:
            raise InputError(f'settings "{label}": has aqm = "{name}" under the name of another discipline; rename it')
        found[label] = {"aqm": name, **table}
    if len(found) < 2:
        raise InputError("compare: give at least two disciplines, for example --aqm red,mred")
    return found


def baseline_of(names: Sequence[str], asked: str | None) -> str:
    """Return the name that the others are compared with, a discipline or a label: the one asked for, or the first.

    >>> baseline_of(["red", "codel"], "codel"), baseline_of(["red", "codel"], None)
    ('codel', 'red')
    """
    if asked is None:
        return names[0]
    if asked not in names:
        raise InputError(f"--baseline: {unknown('compared discipline', asked, [*names])}")
    return asked


def exchange(
    plan: Scenario, queues: Sequence[str], label: str, table: Mapping[str, Value], notes: list[str]
) -> Scenario:
    """Return the scenario with another discipline in some queues.

    Of a queue's other parameters those stay that the discipline knows; `table` overrides them. Parameters that are left
    out are added to `notes`. A queue that has the discipline already, without further settings, stays as it is.
    """
    for queue in queues:
        plan = _exchanged(plan, queue, label, table, notes)
    return plan


def _exchanged(plan: Scenario, queue: str, label: str, table: Mapping[str, Value], notes: list[str]) -> Scenario:
    own = plan.queue_table(queue)
    if dict(table) == {"aqm": own.get("aqm")}:
        return plan
    if "curve" in own and "curve" not in table:
        note = f"{label}: with its own curve in place of curve = {inline(own['curve'])}"
        notes.extend([note] if note not in notes else [])
    dropped = {"aqm", "curve", *_dead(own, table)}
    body = {key: value for key, value in own.items() if key not in dropped}
    known = _exchanged_keys(str(table["aqm"])) - _other_words(str(table["aqm"]), body)
    left_out = [key for key in body if key not in known]
    note = f"{label}: without {', '.join(left_out)}, which it does not know"
    if left_out and note not in notes:
        notes.append(note)
    kept = {key: value for key, value in body.items() if key in known}
    try:
        return plan.with_overrides({f"queue.{queue}": inline({"aqm": table["aqm"], **kept, **table})})
    except ScenarioError as error:
        place = f'settings "{label}"'
        raise ScenarioError([replace(one, file=place, line=0) for one in error.problems]) from None


def _dead(own: Mapping[str, Value], table: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the keys of the queue's curve that have no effect on the other's: one is through points, the other not."""
    if table.get("curve") == POINTS:
        return ("min_th", "max_th", "max_p")
    return ("points",) if own.get("curve") == POINTS else ()


def managed_queues(plan: Scenario, asked: str | None = None) -> list[str]:
    """Return the queues whose discipline is exchanged: those asked for, ``bottleneck``, or of ``down`` and ``up``.

    Raises
    ------
    InputError
        If there is none of these names, or the queues of the scenario have others and none is asked for.
    """
    known = list(dict.fromkeys(link.queue for link in plan.links))
    if asked is None:
        if "bottleneck" in known:
            return ["bottleneck"]
        found = [link.queue for name in ("down", "up") for link in plan.links if link.name == name]
        if not found:
            raise InputError(f"--queue: choose the queues, with commas (allowed: {', '.join(known)})")
        return list(dict.fromkeys(found))
    names = [name.strip() for name in asked.split(",")]
    for name in names:
        if name not in known:
            raise InputError(f"--queue: {unknown('queue', name, known)}")
    return list(dict.fromkeys(names))


def one_queue(plan: Scenario, asked: str | None = None) -> str:
    """Return the queue to tune: the one asked for, or the only one of `managed_queues`.

    Raises
    ------
    InputError
        If there are several, or as for `managed_queues`.
    """
    try:
        queues = managed_queues(plan, asked)
    except InputError:
        if asked is not None:
            raise
        known = list(dict.fromkeys(link.queue for link in plan.links))
        raise InputError(f"--queue: name the queue to tune (allowed: {', '.join(known)})") from None
    if len(queues) > 1:
        raise InputError(f"--queue {','.join(queues)}: one queue is tuned at a time; name one of them")
    return queues[0]


def lacking(plan: Scenario, queues: Sequence[str], entries: Mapping[str, Mapping[str, Value]]) -> list[str]:
    """Return a line for each override of these queues' keys that not every compared discipline has.

    Raises
    ------
    InputError
        If none of them has it: the override would change nothing.
    """
    lines = []
    for path, value in plan.overrides:
        found = QUEUE_KEY.match(path)
        if found is None or (found[1] or found[2]) not in queues:
            continue
        for key in [found[3]] if found[3] else _keys(value):
            have = {label for label, table in entries.items() if key in _exchanged_keys(str(table["aqm"]))}
            lack = [label for label in entries if label not in have]
            if not have and key != "aqm":
                raise InputError(f"{OVERRIDE} {path}: none of {', '.join(entries)} takes {key} from the scenario")
            if lack and have:
                verb = "does" if len(lack) == 1 else "do"
                changed = joined(sorted(have))
                lines.append(f"{OVERRIDE} {path}: {joined(lack)} {verb} not have {key}; it changes {changed}")
    return list(dict.fromkeys(lines))


def _keys(table: str) -> list[str]:
    """Return the keys of a queue's table that an override gives as a whole."""
    found = read_toml(f"table = {table}")["table"]
    return list(found) if isinstance(found, Mapping) else []


def _exchanged_keys(aqm: str) -> set[str]:
    """Return the keys of a queue that stay when this discipline takes it; the curve is the discipline's own."""
    known = {parameter.key for parameter in discipline(aqm).parameters} - {"aqm", "curve"}
    return known | {"class"} if aqm in RIO else known


def _other_words(aqm: str, body: Mapping[str, Value]) -> set[str]:
    """Return the key ``dialect`` if this discipline lacks its word: a dialect of RED for CoDel."""
    words = next((parameter.choices for parameter in discipline(aqm).parameters if parameter.key == "dialect"), ())
    return {"dialect"} if words and body.get("dialect") not in (None, *words) else set()


def words_again(labels: Sequence[str], settings: Settings) -> list[str]:
    """Return the options that give this comparison again.

    >>> words_again(["red", "tight"], {"tight": {"aqm": "red", "max_th": "20p"}})
    ['--aqm', 'red', '--with', 'tight={ aqm = "red", max_th = "20p" }']
    >>> words_again(["tight", "red"], {"tight": {"aqm": "red"}})
    ['--aqm', 'red', '--with', 'tight={ aqm = "red" }', '--baseline', 'tight']
    """

    def plain_of(names: Sequence[str]) -> list[str]:
        return list(takewhile(lambda label: label not in settings or settings[label]["aqm"] == label, names))

    plain = plain_of(labels)
    is_moved = [*plain, *(label for label in settings if label not in plain)] != list(labels)
    plain = plain_of(labels[1:]) if is_moved else plain
    words = ["--aqm", ",".join(plain)] if plain else []
    for label, table in settings.items():
        words += ["--with", f"{label}={inline(table)}"]
    return [*words, "--baseline", labels[0]] if is_moved else words


def definition(plan: Scenario, queue: str, link: str, entries: Mapping[str, Mapping[str, Value]]) -> str:
    """Return the entries of a comparison as TOML; two comparisons with equal text have equal runs, except for seeds."""
    head = {"scenario": plan.name, "hash": plan.hash, "queue": queue, "link": link}
    lines = [f"{key} = {inline(value)}" for key, value in head.items()]
    rows = [f"  {inline({'label': label, **table})},\n" for label, table in entries.items()]
    return "\n".join(lines) + f"\ncompared = [\n{''.join(rows)}]\n"


def folder_of(out: Path, plan: Scenario, labels: Sequence[str], text: str) -> Path:
    """Return the folder of a comparison below `out`: ``SCENARIO-compare-LABEL-LABEL``.

    If another comparison has that folder, eight digits of the hash of `text` (the definition) are added.
    """
    whole = f"{plan.safe_name}-compare-{'-'.join(labels)}"
    hashed = f"-{digest(text.encode())[:8]}"
    if len(whole) > LONGEST_NAME:
        return out / (whole[:LONGEST_NAME].rstrip("-.") + hashed)
    own = out / (whole + hashed)
    return out / whole if not own.exists() and _is_free(out / whole, text) else own


def _is_free(folder: Path, text: str) -> bool:
    """Whether a folder is not there, holds no results, or has the comparison that `text` defines.

    Temporary files are no results: another process writes the definition, or was killed while it did.
    """

    def look() -> bool:
        names = {entry.name for entry in folder.iterdir()} if folder.exists() else set()
        if DEFINITION in names:
            return read_regular(folder / DEFINITION).decode(errors="replace") == text
        return all(TEMPORARY.search(name) for name in names)

    try:
        return guarded(folder, look)
    except StorageError:
        return False


def _or(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
