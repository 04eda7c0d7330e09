"""Scenario files: read, checked, and shown as what they mean."""

from __future__ import annotations

import contextlib
import gc
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import resources
from pathlib import Path, PurePath
from typing import Any

from aqmlab import _core, extensions
from aqmlab.errors import OVERRIDE, InputError, Problem, ScenarioError, is_text, nearest, one_line
from aqmlab.errors import unknown as unknown
from aqmlab.input_files import read_bytes
from aqmlab.scenario.parts import Flow, Link, parts, safe
from aqmlab.scenario.plugins import load_plugins
from aqmlab.scenario.toml_text import Value, override

PINNED_SEEDS = ("run.seeds", "1")
"""The override under which a scenario's hash does not depend on its list of seeds."""
LAB = "lab:"
EXAMPLE = "example:"
MOST_SEEDS = 1_000_000
"""More seeds in one go are taken for a mistake."""
LARGEST_SEED = 2**63 - 1
"""Seeds are a column of signed 64-bit numbers in the tables."""
ADD_ONS = "aqmlab.scenarios"
"""Entry points of add-ons with scenario files."""
BOM = "\ufeff"
"""Byte-order mark that some editors write before a text in UTF-8."""
LONGEST_TEXT = 100_000_000
"""Bytes of the longest scenario file."""
LONGEST_FILE = 100_000_000
"""Bytes of the longest file with a distribution or a trace."""
APPLICATIONS = _core.APPLICATIONS
"""Keys of flows with an application."""
Overrides = Mapping[str, Value] | tuple[tuple[str, str], ...]
Look = Callable[[_core.Scenario], Iterable[Problem]]
"""Function that lists problems of a valid scenario."""


@dataclass(frozen=True)
class Scenario:
    """A checked scenario.

    Attributes
    ----------
    core
        The core's plan, which runs and describes itself; the other attributes are its description.
    text, filename
        The file as read, with the points of distributions in place of the files that have them.
    overrides
        Dotted keys and values that override its own.
    name, description
        From the file.
    hash
        Hexadecimal hash of the normalized scenario: two files that mean the same have the same.
    duration_s, warmup_s
        Length of a run, and of the part at its start that statistics leave out, in s.
    seeds
        Seeds of the file's ``[run]`` table.
    counts
        Numbers of ``nodes``, ``links`` and ``flows``.
    queues
        ``aqm`` and effective ``parameters`` of each queue, at the last link that has it.
    managed_bps, slowest_bps
        Rates in bit/s of all links with active queue management together, and of the slowest link (0 without links).
    normalized
        The scenario as TOML text with the overrides applied.
    markers, changes, routing, probe
        DiffServ markers, changes of links during the run, the choice of paths with the backups of links, and the
        recorded quantities, with effective values.
    live
        Settings of ``[live]``, with their defaults.
    """

    core: _core.Scenario = field(repr=False, compare=False)
    text: str
    filename: str
    overrides: tuple[tuple[str, str], ...]
    name: str
    description: str
    hash: str
    duration_s: float
    warmup_s: float
    seeds: tuple[int, ...]
    counts: dict[str, int]
    queues: dict[str, dict[str, Any]]
    managed_bps: float
    slowest_bps: float
    normalized: str
    markers: tuple[dict[str, Any], ...]
    changes: tuple[dict[str, Any], ...]
    routing: dict[str, Any]
    probe: dict[str, Any]
    live: dict[str, Any]

    @classmethod
    def load(cls, path: str | Path, *, overrides: Overrides = ()) -> Scenario:
        """Read and check a scenario file.

        Parameters
        ----------
        path
            A TOML file with ``format = 1``, or ``paper:mred/sole.toml`` or ``example:dumbbell-red`` for one that comes
            with the package.
        overrides
            Dotted keys and values that override the file's, for example
            ``{"queue.bottleneck.max_th": "45p"}``.

        Raises
        ------
        ScenarioError
            If the file is not valid; lists all problems.
        InputError
            If it cannot be read.
        """
        return cls.from_text(read_text(Path(path)), filename=name_of(path), overrides=overrides)

    @classmethod
    def from_text(cls, text: str, *, filename: str = "<text>", overrides: Overrides = ()) -> Scenario:
        """Check a scenario given as text; `filename` is used in messages, and for the name if none is given."""
        load_plugins()
        folder = None if is_packaged(filename) else Path(filename).parent
        filename = one_line(filename)  # a file's name may have a newline, or bytes that are no text
        pairs = override_pairs(overrides)
        text, read = _core.with_files(text, filename, pairs, partial(_named_file, folder))
        pairs = tuple(read)
        try:
            core = _core.Scenario(text, filename, pairs)
        except ScenarioError as error:
            raise ScenarioError(blamed(error.problems, text, filename, pairs)) from None
        return cls(core=core, text=text, filename=filename, overrides=pairs, **core.description())

    def with_overrides(self, overrides: Overrides) -> Scenario:
        """Return the same scenario with further overrides, checked again."""
        pairs = self.overrides + override_pairs(overrides)
        return Scenario.from_text(self.text, filename=self.filename, overrides=pairs)

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes."""
        return tuple(self.core.nodes())

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The network: each direction of every link."""
        with _garbage_kept():
            return parts(Link, self.core.links())

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The traffic."""
        with _garbage_kept():
            return parts(Flow, self.core.flows())

    @cached_property
    def warnings(self) -> tuple[Problem, ...]:
        """Warnings about valid but probably mistaken settings."""
        return blamed(self.core.warnings(), self.text, self.filename, self.overrides, _core.Scenario.warnings)

    @cached_property
    def run_hash(self) -> str:
        """The hash without the list of seeds: the same for two scenarios whose runs of one seed are the same."""
        return self.core.run_hash()

    @property
    def label(self) -> str:
        """Name of the results folder: the scenario's name and the first 8 digits of its hash."""
        return f"{self.safe_name}-{self.hash[:8]}"

    @property
    def safe_name(self) -> str:
        """The scenario's name as part of a folder's name."""
        return safe(self.name).strip(".") or "scenario"

    def link(self, name: str) -> Link:
        """Return the link with this name."""
        for link in self.links:
            if link.name == name:
                return link
        raise InputError(unknown("link", name, [link.name for link in self.links]))

    def queue_table(self, name: str) -> dict[str, Any]:
        """Return the ``[queue.NAME]`` table as written, overrides applied; empty if the file has none."""
        table: dict[str, Any] = self.tables.get("queue", {}).get(name, {})
        return table

    @property
    def applications(self) -> dict[str, str]:
        """Groups of flows with an application, and the application: ``voip``, ``web`` or ``video``."""
        flows = self.tables.get("flow", ())
        return {str(flow.get("name")): kind for flow in flows for kind in APPLICATIONS if kind in flow}

    @cached_property
    def tables(self) -> dict[str, Any]:
        """The normalized scenario as nested tables."""
        return self.core.tables()

    def __reduce__(self) -> tuple[Any, ...]:
        """Let another process read the text again: its plug-ins are loaded first."""
        return partial(Scenario.from_text, filename=self.filename, overrides=self.overrides), (self.text,)


def check(path: str | Path, *, overrides: Overrides = ()) -> list[Problem]:
    """Validate a scenario file without running it.

    Returns
    -------
    list of Problem
        Empty if the file is valid.
    """
    try:
        Scenario.load(path, overrides=overrides)
    except ScenarioError as error:
        return error.problems
    return []


def blamed(
    problems: Iterable[Problem],
    text: str,
    filename: str,
    pairs: tuple[tuple[str, str], ...],
    look: Look = lambda _: (),
) -> tuple[Problem, ...]:
    """Return problems with overrides named as the causes of those that they make at keys of the file.

    An override is the cause of a problem if removing it solves the problem and makes no new one, or if the file has the
    problem with this override alone, as with ``aqm`` beside a ``target`` that needs CoDel.

    Parameters
    ----------
    problems
        The problems of the text with all overrides.
    text, filename, pairs
        The file and the overrides.
    look
        Lists the problems of a valid scenario, where `problems` are not errors of the file.
    """

    def found_with(chosen: list[tuple[str, str]]) -> set[Problem]:
        try:
            return {*look(_core.Scenario(text, filename, chosen))}
        except ScenarioError as error:
            return {*error.problems}

    found = list(problems)
    known, values = {*found}, dict(pairs)
    of_file = found_with([]) if any(one.file != OVERRIDE for one in found) else known
    for alone, key in itertools.product((False, True), dict.fromkeys(key for key, _ in reversed(pairs))):
        unexplained = {one for one in found if one.file != OVERRIDE} - of_file
        if not unexplained:
            break
        if alone:
            caused = unexplained & found_with([pair for pair in pairs if pair[0] == key])
        else:
            left = found_with([pair for pair in pairs if pair[0] != key])
            caused = unexplained - left if left < known else set()
        found = [one.at_override(key, values[key]) if one in caused else one for one in found]
    return tuple(found)


def override_pairs(overrides: Overrides) -> tuple[tuple[str, str], ...]:
    """Bring overrides into the form of the command line, in the order given.

    >>> override_pairs({"run.duration": "5s", "queue.bottleneck.max_p": 0.2})
    (('run.duration', '5s'), ('queue.bottleneck.max_p', '0.2'))
    """
    given: Any = overrides
    allowed = 'allowed: a mapping {"KEY": VALUE}, or pairs ("KEY", "VALUE")'
    if not isinstance(given, Iterable):
        raise InputError(f"overrides: {given!r} is not possible ({allowed})")
    one_text = isinstance(given, str | bytes)
    pairs: list[Any] = [given] if one_text else [*(given.items() if isinstance(given, Mapping) else given)]
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"overrides: {pair!r} is not a pair; {allowed}")
        if not isinstance(pair[0], str):
            raise InputError(f'overrides: the key {pair[0]!r} is not text; write it like "queue.bottleneck.max_p"')
    return tuple((key, _override_of(key, value)) for key, value in pairs)


def _override_of(key: str, value: Value) -> str:
    try:
        text = override(value)
    except InputError as error:
        raise InputError(f"overrides: {key}: {error}") from None
    except RecursionError:
        raise InputError(f"overrides: {key}: is nested too deeply") from None
    if not is_text(key + text):
        raise InputError(f"overrides: {key}: {text!r} is not UTF-8 text")
    return text


def read_text(path: Path) -> str:
    """Return the text of a file; errors become one clear line.

    ``example:dumbbell-red`` is an example, ``lab:dumbbell.toml`` the file that `aqmlab lab` opens, and
    ``paper:mred/sole.toml`` a file of an add-on (`aqmlab.extensions`), here of a reproduced paper.
    """
    name = name_of(path)
    if name == f"{LAB}dumbbell.toml":
        return resources.files("aqmlab.lab").joinpath("dumbbell.toml").read_text(encoding="utf-8")
    if name.startswith(EXAMPLE):
        return example_text(name.removeprefix(EXAMPLE))
    if is_packaged(name):
        prefix, _, name = name.partition(":")
        text: str = extensions.load(ADD_ONS, prefix)(name)
        return text
    return _utf8(path, longest=LONGEST_TEXT, kind="scenario file", near=_near).replace("\r\n", "\n")


def _named_file(folder: Path | None, name: str) -> str:
    """Return the text of a distribution or a trace, whose name is relative to the folder of the scenario."""
    if folder is None:
        raise InputError(f"{name}: a scenario of the package has no files of its own")
    return _utf8(folder / name, longest=LONGEST_FILE, kind="file")


def _utf8(path: Path, *, longest: int, kind: str, near: Callable[[Path], str] = lambda _: "") -> str:
    """Return the text of a file without its byte order mark; `near` names files that may be meant."""
    try:
        return read_bytes(path, longest=longest).decode().removeprefix(BOM)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file{near(path)}") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a {kind}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError:
        raise InputError(f"{path}: is not a path (allowed: a path without the character NUL)") from None


@contextlib.contextmanager
def _garbage_kept() -> Iterator[None]:
    """Disable garbage collection within the context: with 100,000 flows it takes most of the time and frees nothing."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def name_of(path: str | PurePath) -> str:
    """Return the name of a scenario file, with ``/`` in the name of a packaged one on Windows too."""
    name = str(path)
    return PurePath(path).as_posix() if is_packaged(name) else name


def is_packaged(name: str) -> bool:
    """Return whether a scenario of this name comes with the package or an add-on, as ``example:dumbbell-red``."""
    prefix, colon, _ = name.partition(":")
    return bool(colon) and (f"{prefix}:" in (EXAMPLE, LAB) or prefix in extensions.names(ADD_ONS))


def examples() -> dict[str, str]:
    """Return the examples that come with the package: name to text."""
    files = resources.files("aqmlab").joinpath("examples").iterdir()
    found = {one.name.removesuffix(".toml"): one for one in files if one.name.endswith(".toml")}
    return {name: found[name].read_text(encoding="utf-8") for name in sorted(found)}


def example_text(name: str) -> str:
    """Return the text of an example by its name, with or without ``.toml``."""
    known = examples()
    short = name.removesuffix(".toml")
    if short not in known:
        raise InputError(unknown("example", short, list(known)))
    return known[short]


def _near(path: Path) -> str:
    try:
        names = sorted(p.stem for p in path.parent.iterdir() if p.suffix == ".toml")
    except OSError:
        return ""
    near = nearest(path.name.removesuffix(".toml"), names)
    return f" (did you mean {path.parent / near}.toml?)" if near else ""
