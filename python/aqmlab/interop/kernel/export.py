"""Export of a scenario's queue as a module for Linux."""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import aqmlab
from aqmlab import _core
from aqmlab.errors import InputError, listed, shell_word
from aqmlab.interop.escaping import c_comment, markdown_code
from aqmlab.interop.kernel import dualpi2
from aqmlab.interop.kernel.dualpi2 import DUALPI2
from aqmlab.interop.kernel.parameters import LARGEST_MAX_P, SHAPES, drop_tail, max_th_of, parameters_h
from aqmlab.interop.tc.queues import ONE_PACKET
from aqmlab.results.outputs import write_export
from aqmlab.runs.arguments import as_scenario
from aqmlab.scenario.file import Overrides, Scenario
from aqmlab.scenario.parts import Link
from aqmlab.scenario.registry import disciplines
from aqmlab.scenario.toml_text import read_toml

NAME_LENGTH = 11
"""Most characters of a name: with the longest prefix, ``bpf_``, tc takes 15 (IFNAMSIZ - 1)."""
NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{NAME_LENGTH - 1}}}")
ONE = 1 << 31
"""p_b = 1 in integers."""
BOTTLENECK = "bottleneck"
MODULE = "a module"
"""The form of the export in messages."""
DROP_TAIL = "ddred-tail"
"""DDRED's tail-drop variant: with DualPI2 the only non-RED disciplines that a module has."""
VICTIMS = ("arriving", "ddred", "pc-red")
"""Victim rules that a module has."""
REFUSED = {"adapt_clock": "timer", "qosa": "honoured"}
"""Settings that a module lacks."""
DECISIONS = ("decision.h", "curve.h", "adaptation.h", "record.h")
"""Sources that a module and a BPF qdisc share."""
SHARED = ("shared.h", "record.h", "options.h", "log.h")
"""Sources of the modules of all disciplines."""
CALLED_AS_THEY_ARE = (*dict.fromkeys((*DECISIONS, "victim.h", "index.h", "route.h", "flows.h", *SHARED)),)
MOVED = {
    "adaptive-red": "max_p cannot be set: Adaptive RED moves it. ",
    "adaptive-rio": "`min` and `max` of the last class cannot be set: Adaptive-RIO moves them. ",
}
"""Notes on parameters that an adaptation changes."""
WIDTH = 118
IDLE = (
    'Below `htb` the queue of the scenario needs `idle_when = "none-waiting"`, since `htb` never asks an empty queue.'
)
"""Note on RED's idle time."""
GSO = (
    f"long segments (GSO) count as one packet at the root, below htb and below a tbf with a burst above {ONE_PACKET}; "
    "README.md has how to avoid them"
)
"""Note for users of an exported queue on long segments."""


@dataclass(frozen=True)
class KernelQueue:
    """A queue before a link, as a module computes it.

    Attributes
    ----------
    scenario
        The scenario.
    link
        The link that it feeds.
    table
        The ``[queue.NAME]`` table with ``arithmetic = "integer"``, as JSON.
    integers
        The core's integers.
    levels
        The priority level of each of the 64 code points, by which a module tells the flows of PC-RED.
    chosen_name
        Its name, distinct from other modules of one machine; None: a name of its own is made.
    """

    scenario: Scenario
    link: Link
    table: str
    integers: dict[str, Any]
    levels: tuple[int, ...] = (0,) * 64
    chosen_name: str | None = None

    @property
    def name(self) -> str:
        """The name that is given; default: the discipline, and a digest of scenario and link, so that two differ.

        >>> kernel_queue("example:dumbbell-red").name
        'red_dc00'
        """
        if self.chosen_name is not None:
            return self.chosen_name
        digest = hashlib.sha256(f"{self.scenario.name}\n{self.link.name}".encode()).hexdigest()[:4]
        return f"{self.link.aqm.replace('-', '_')[: NAME_LENGTH - 5]}_{digest}"

    @property
    def module(self) -> str:
        """Name of the module's file without ``.ko``."""
        return f"sch_aqmlab_{self.name}"

    @property
    def kind(self) -> str:
        """Name by which tc knows the discipline."""
        return f"aq_{self.name}"

    @property
    def largest_error(self) -> float:
        """Largest difference of p_b from that of the exact curve, at the same average; 0 without a curve."""
        return max((float(curve["largest_error"]) for curve in self.integers.get("curves", ())), default=0.0)

    @property
    def is_dualpi2(self) -> bool:
        """Whether it is DualPI2, which shares no decision with RED."""
        return self.link.aqm == DUALPI2


def plan_and_link(
    scenario: str | Path | Scenario, *, link: str | None = None, overrides: Overrides = ()
) -> tuple[Scenario, Link]:
    """Return the scenario, and the link: the one of this name, else the one that `managed_link` returns."""
    plan = as_scenario(scenario, overrides=overrides)
    return plan, plan.link(link or managed_link(plan))


def managed_link(plan: Scenario) -> str:
    """Return the link of ``live.link``, else ``bottleneck`` if it has AQM, else the only one with AQM, as live runs do.

    Raises
    ------
    InputError
        If none or several have it; the message lists them.
    """
    chosen = read_toml(plan.normalized).get("live", {}).get("link")
    managed = [one.name for one in plan.links if one.aqm != "drop-tail"]
    if chosen is not None:
        return str(chosen)
    if BOTTLENECK in managed or len(managed) == 1:
        return BOTTLENECK if BOTTLENECK in managed else managed[0]
    where = f"{plan.filename}: --link is required"
    if not managed:
        raise InputError(f"{where}: no link has AQM (allowed: {listed([one.name for one in plan.links])})")
    raise InputError(f"{where}: {len(managed)} links have AQM (allowed: {listed(managed)})")


def checked_name(name: str | None) -> str | None:
    """Return a name that can be part of an identifier of C; another is an error."""
    if name is not None and NAME.fullmatch(name) is None:
        raise InputError(
            f"--name: {name!r} is not allowed "
            f"(allowed: 1 to {NAME_LENGTH} characters, a to z, 0 to 9 and _, a letter first)"
        )
    return name


def kernel_queue(
    scenario: str | Path | Scenario,
    *,
    link: str | None = None,
    overrides: Overrides = (),
    name: str | None = None,
    form: str = MODULE,
) -> KernelQueue:
    """Return the queue before a link, in integers.

    Parameters
    ----------
    scenario
        A scenario file, or a scenario already loaded.
    link
        The link; default: the one of ``live.link``, else the only one with active queue management.
    overrides
        Dotted keys and values that override the scenario's.
    name
        Name of the queue among others of one machine, at most 11 letters, digits and underscores: ``uplink``.
    form
        The form of the export, in messages.

    Raises
    ------
    ScenarioError, InputError
        If the scenario is not valid, there is no such link, or a module cannot have the link's queue.
    """
    name = checked_name(name)
    plan, chosen = plan_and_link(scenario, link=link, overrides=overrides)
    where = f"{plan.filename}: queue.{chosen.queue}"
    for key, value in REFUSED.items():
        if chosen.parameters.get(key) == value:
            raise InputError(f'{where}.{key}: {form} cannot express {key} = "{value}"')
    if chosen.aqm == DROP_TAIL:
        table = json.dumps(plan.queue_table(chosen.queue))
        return KernelQueue(plan, chosen, table, drop_tail(chosen.parameters), chosen_name=name)
    if chosen.aqm == DUALPI2 and form == MODULE:
        if chosen.parameters["dialect"] != dualpi2.DIALECT:
            raise InputError(
                f'{where}.dialect: {form} computes DualPI2 in the integers of Linux (allowed: "{dualpi2.DIALECT}")'
            )
        table = json.dumps(plan.queue_table(chosen.queue))
        return KernelQueue(
            plan, chosen, table, _core.integers(table, chosen.rate_bps, chosen.delay_s), chosen_name=name
        )
    if "curve" not in chosen.parameters and "spacing" not in chosen.parameters:
        allowed = f"RED and its descendants, {DROP_TAIL}, {DUALPI2}" if form == MODULE else "RED and its descendants"
        raise InputError(
            f'{where}: {form} cannot express aqm = "{chosen.aqm}" (allowed: {allowed}); '
            f"export --to tc uses Linux's own disciplines"
        )
    table = json.dumps({**plan.queue_table(chosen.queue), "arithmetic": "integer"})
    try:
        integers = _core.integers(table, chosen.rate_bps, chosen.delay_s)
    except ValueError as error:
        # The core knows the table alone: "queue:1:1: KEY: message".
        raise InputError(f"{where}.{str(error).splitlines()[0].partition(': ')[2]}") from None
    victim = str(chosen.parameters.get("victim", "plugin"))
    if victim not in VICTIMS:
        allowed = ", ".join(f'"{name}"' for name in VICTIMS)
        raise InputError(f'{where}.victim: {form} cannot express victim = "{victim}" (allowed: {allowed})')
    levels = levels_of(plan, form) if victim == "pc-red" else (0,) * 64
    return KernelQueue(plan, chosen, table, integers, levels, name)


def levels_of(plan: Scenario, form: str) -> tuple[int, ...]:
    """Return the priority level of each code point, from the scenario's flows.

    Raises
    ------
    InputError
        If flows of one code point have several levels.
    """
    levels: dict[int, tuple[str, int]] = {}
    for flow in plan.flows:
        first, level = levels.setdefault(flow.dscp, (flow.group, flow.priority))
        if level != flow.priority:
            raise InputError(
                f"{plan.filename}: flow.{flow.group}.dscp: {form} tells priority by the code point, and flow.{first} "
                "with another priority has the same one (allowed: a code point for each level)"
            )
    return tuple(levels.get(dscp, ("", 0))[1] for dscp in range(64))


def module_files(queue: KernelQueue) -> dict[str, str]:
    """Return the files of the module: name and text."""
    words = words_of(queue)
    source = "sch_aqmlab_dualpi2.c" if queue.is_dualpi2 else "sch_aqmlab.c"
    files = {f"{queue.module}.c": filled(f"module/{source}", words), "parameters.h": parameters_of(queue)}
    headers = ("dualpi2.h", *SHARED) if queue.is_dualpi2 else CALLED_AS_THEY_ARE
    files |= {name: text_of(f"module/{name}") for name in headers}
    files |= {f"q_{queue.kind}.c": filled("module/plugin.c", words)}
    return files | {name: filled(f"module/{name}", words) for name in ("Kbuild", "Makefile", "dkms.conf", "README.md")}


def words_of(queue: KernelQueue) -> dict[str, str]:
    """Return what stands for the words ``@WORD@`` of the templates."""
    return {
        "MODULE": queue.module,
        "KIND": queue.kind,
        "TITLE": title_of(queue),
        "VERSION": aqmlab.__version__,
        "SCENARIO_C": c_comment(queue.scenario.name),
        "SCENARIO": markdown_code(queue.scenario.name),
        "LINK": markdown_code(queue.link.name),
        "QUEUE": markdown_code(queue.link.queue),
        "SCENARIO_WORD": shell_word(queue.scenario.filename),
        "LINK_WORD": shell_word(queue.link.name),
        "RATE": f"{queue.link.rate_bps:.0f}",
        "BURST": str(ONE_PACKET),
        "SEGMENTS": text_of("segments.md").strip(),
        "IDLE": "" if queue.is_dualpi2 else f"\n{IDLE}\n",
        "ECN": "" if queue.is_dualpi2 else " noecn",
        "CHANGE": change_command(queue),
        "CHANGES": changes(queue),
        "DISTANCE": "\n".join(distance_lines(queue)),
    }


def change_command(queue: KernelQueue) -> str:
    """Return a line with the command of tc that sets the present curve of a class, or nothing if it cannot be set."""
    if curve_of(queue) not in SHAPES:
        return ""
    table = queue.integers["curves"][0]
    min_th, max_th = (
        x / (1 << queue.integers["fraction"]) for x in (table["begin"], max_th_of(curve_of(queue), table))
    )
    words = f"min {min_th:g} max {max_th:g}"
    if queue.link.parameters["adaptation"] != "adaptive-red":
        words += f" max_p {max_p_of(queue)[0]:g}"
    if queue.link.classes:
        words += " class 1"
    return f"\n    sudo tc qdisc change dev eth0 parent 1: {queue.kind} {words}"


def changes(queue: KernelQueue) -> str:
    """Say in Markdown what tc can change."""
    if queue.is_dualpi2:
        return dualpi2.CHANGES
    if curve_of(queue) not in SHAPES:
        text = (
            "It changes the limit, and ECN where the scenario has it. "
            "Curves of this form are fixed when the module is built."
        )
    else:
        unit = "bytes" if queue.integers["in_bytes"] else "packets"
        largest = "2/3" if curve_of(queue) in LARGEST_MAX_P else "1"
        text = (
            "It changes the limit, ECN where the scenario has it, and thresholds and max_p. "
            f"`min` and `max` are min_th and max_th in {unit}, 0 < min < max <= 2^32; "
            f"`max_p` is above 0 and at most {largest}. "
        )
        if queue.link.classes:
            text += "`class` is required with them: 1 is the first class of the scenario. "
        text += MOVED.get(queue.link.parameters["adaptation"], "")
        text += "The kernel recomputes the curve and keeps the average and all packets; other values change nothing."
    return textwrap.fill(text, WIDTH, break_on_hyphens=False)


def title_of(queue: KernelQueue) -> str:
    """Return the name of the queue's discipline in words."""
    return next(one.title for one in disciplines() if one.name == queue.link.aqm)


def parameters_of(queue: KernelQueue) -> str:
    """Return ``parameters.h`` of a queue."""
    about = textwrap.wrap(
        c_comment(
            f"The numbers of {title_of(queue)} for the queue {queue.link.queue} before the link {queue.link.name} of "
            f"the scenario {queue.scenario.name}. {'dualpi2' if queue.is_dualpi2 else 'decision'}.h says what they "
            "mean."
        ),
        74,
    )
    if queue.is_dualpi2:
        return dualpi2.dualpi2_h(queue.integers, queue.link.parameters, about)
    return parameters_h(queue.integers, queue.levels, about, curve_of(queue), max_p_of(queue))


def curve_of(queue: KernelQueue) -> str:
    """Return the scenario's word for the form of the curves; of ``ddred-tail``, which has none, ``points``."""
    return str(queue.link.parameters.get("curve", "points"))


def max_p_of(queue: KernelQueue) -> list[float]:
    """Return max_p of each class; of a curve without thresholds, p_b at its end."""
    if curve_of(queue) in {*SHAPES, "exred"}:
        return [float(one["max_p"]) for one in queue.link.classes or (queue.link.parameters,)]
    return [(table["points"] or [0])[-1] / ONE for table in queue.integers["curves"]]


def distance_lines(queue: KernelQueue) -> list[str]:
    """Say in lines of Markdown how far the integers are from the exact discipline."""
    if queue.link.aqm == DROP_TAIL:
        return in_points(["It has neither average nor curve.", share_line(queue) or "Distances are whole hops."])
    if queue.is_dualpi2:
        return in_points(dualpi2.DISTANCE)
    weight = 2.0 ** -queue.integers["wlog"]
    points = [
        f"The average has the weight {weight:.6g} (2^-{queue.integers['wlog']}) and {queue.integers['fraction']} bits "
        "behind the binary point.",
        f"p_b differs from the exact curve by at most {queue.largest_error:.2g} at the same average.",
        "The spacing compares a random integer of 32 bits, without a division.",
        *filter(None, [share_line(queue)]),
        *(
            f"Packets with the code point {dscp} ask for priority of level {n}."
            for dscp, n in enumerate(queue.levels)
            if n
        ),
    ]
    return in_points(points)


def share_line(queue: KernelQueue) -> str:
    """Say how DDRED by fraction knows the length of a route; of other queues return nothing."""
    if queue.link.parameters.get("distance") != "fraction":
        return ""
    return (
        "Shares of routes are rounded down to 2^-31. TTL_i and TTL_f are those of option 158 of IPv4 or of hop-by-hop "
        "option 0x1e of IPv6, which only senders of aqmlab's live links write; all packets without it have the share "
        "of unknown_fraction, so that DDRED cannot tell them apart."
    )


def in_points(texts: Iterable[str]) -> list[str]:
    """Return the lines of a list in Markdown."""
    return [
        line
        for text in texts
        for line in textwrap.wrap(text, WIDTH, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False)
    ]


def export_module(
    scenario: str | Path | Scenario,
    *,
    link: str | None = None,
    out: str | Path | None = None,
    overrides: Overrides = (),
    name: str | None = None,
) -> tuple[list[Path], KernelQueue]:
    """Write the sources of a module for Linux.

    Parameters
    ----------
    scenario, link, overrides, name
        As of `kernel_queue`.
    out
        Folder for the files, made if it is missing; default: one of the module's name in the current folder.

    Returns
    -------
    tuple
        The files, the module's source first, and the queue.

    Raises
    ------
    ScenarioError, InputError
        As of `kernel_queue`.
    StorageError
        As of `aqmlab.results.outputs.write_export`.
    """
    queue = kernel_queue(scenario, link=link, overrides=overrides, name=name)
    return write_export(Path.cwd() / queue.module if out is None else Path(out), module_files(queue)), queue


def text_of(path: str) -> str:
    """Return a file of this package: ``module/decision.h``."""
    return resources.files("aqmlab.interop.kernel").joinpath(*path.split("/")).read_text(encoding="utf-8")


def filled(path: str, words: Mapping[str, str]) -> str:
    """Return a template of this package with words for its ``@WORD@``."""
    # In one pass: a value may look like a word.
    return re.sub(r"@([A-Z_]+)@", lambda found: words[found[1]], text_of(path))
