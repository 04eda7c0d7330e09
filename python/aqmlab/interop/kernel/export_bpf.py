"""Export of a scenario's queue as a BPF queueing discipline for Linux.

It has the numbers and the decisions (``decision.h``) of the module of `export`. A setting that BPF does not allow, or
that its program does not implement, is an error that names the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.interop.kernel.export import (
    DECISIONS,
    DROP_TAIL,
    KernelQueue,
    filled,
    kernel_queue,
    parameters_of,
    plan_and_link,
    text_of,
    words_of,
)
from aqmlab.results.outputs import write_export
from aqmlab.scenario.file import Overrides, Scenario
from aqmlab.scenario.parts import Link

ON_A_BYTE_BITS = 40
"""Bits of the integer that holds the time of a byte: with it a packet of 2^23 bytes fits into 64 bits."""
MOST_SHIFT = 40
FORM = "a BPF qdisc"


def bpf_queue(
    scenario: str | Path | Scenario, *, link: str | None = None, overrides: Overrides = (), name: str | None = None
) -> KernelQueue:
    """Return the queue before a link, in integers, if a BPF qdisc can have it.

    Parameters
    ----------
    scenario, link, overrides, name
        As of `aqmlab.interop.kernel.export.kernel_queue`.

    Raises
    ------
    ScenarioError, InputError
        If the scenario is not valid, there is no such link, or a BPF qdisc cannot have the link's queue.
    """
    plan, chosen = plan_and_link(scenario, link=link, overrides=overrides)
    for what in _of_link(plan, chosen):
        raise InputError(f"{plan.filename}: link {chosen.name}: {FORM} has a constant rate, without {what}")
    queue = kernel_queue(plan, link=chosen.name, name=name, form=FORM)
    for key, why in _refusals(chosen):
        raise InputError(f"{plan.filename}: queue.{chosen.queue}.{key}: {why}")
    return queue


def _of_link(plan: Scenario, link: Link) -> Iterator[str]:
    """Yield the features of the link that a BPF discipline lacks."""
    yield from link.varies_by
    if link.token_bucket is not None:
        yield "token bucket"
    if link.framing is not None:
        yield "overhead and cells"
    if any(change["link"] == link.name and change["rate_bps"] is not None for change in plan.changes):
        yield "changes of the rate"
    if any(marker["link"] == link.name for marker in plan.markers):
        yield "markers"


def _refusals(link: Link) -> Iterator[tuple[str, str]]:
    """Yield the keys of a queue that a BPF qdisc cannot have, and why."""
    own = link.parameters
    if link.aqm == DROP_TAIL or own.get("victim", "arriving") != "arriving":
        key, value = ("aqm", link.aqm) if link.aqm == DROP_TAIL else ("victim", own["victim"])
        yield key, f'{FORM} cannot express "{value}": lists of BPF give up packets at their ends only'
    if own.get("adaptation") == "adaptive-rio":
        yield "adaptation", f'{FORM} cannot express "adaptive-rio" (allowed: "none", "adaptive-red")'
    if own.get("ecn"):
        yield "ecn", f"{FORM} cannot mark packets: the kernel lets none of them change a packet (allowed: false)"
    if link.classes:
        yield "class", f"{FORM} has one class: its program does not read code points (allowed: queues without classes)"


def kind_of(queue: KernelQueue) -> str:
    """Return the name by which tc knows the discipline."""
    return f"bpf_{queue.name}"


def name_of(queue: KernelQueue) -> str:
    """Return the name of the program's file without ``.bpf.c``."""
    return f"aqmlab_{queue.name}"


def time_of_a_byte(rate_bps: float) -> tuple[int, int]:
    """Return the ns that a byte takes at a rate, times 2^shift, and the shift.

    >>> time_of_a_byte(10e6)
    (858993459200, 30)
    """
    ns = 8e9 / rate_bps
    shift = max(bits for bits in range(MOST_SHIFT + 1) if round(ns * 2**bits) < 2**ON_A_BYTE_BITS or bits == 0)
    return round(ns * 2**shift), shift


def bpf_files(queue: KernelQueue) -> dict[str, str]:
    """Return the files of the BPF qdisc: name and text."""
    ns, shift = time_of_a_byte(queue.link.rate_bps)
    name = name_of(queue)
    words = words_of(queue) | {"KIND": kind_of(queue), "NAME": name, "BYTE_NS": str(ns), "BYTE_SHIFT": str(shift)}
    files = {f"{name}.bpf.c": filled("bpf/qdisc.bpf.c", words), "parameters.h": parameters_of(queue)}
    files |= {file: text_of(f"module/{file}") for file in DECISIONS}
    files |= {"arithmetic.h": text_of("bpf/arithmetic.h")}
    return files | {file: filled(f"bpf/{file}", words) for file in ("load.c", "Makefile", "README.md")}


def export_bpf(
    scenario: str | Path | Scenario,
    *,
    link: str | None = None,
    out: str | Path | None = None,
    overrides: Overrides = (),
    name: str | None = None,
) -> tuple[list[Path], KernelQueue]:
    """Write the sources of a BPF queueing discipline for Linux 6.16 or later, and of the program that loads it.

    Parameters
    ----------
    scenario, link, overrides, name
        As of `bpf_queue`. The rate of the link becomes the discipline's.
    out
        Folder for the files, made if it is missing; default: one of the program's name in the current folder.

    Returns
    -------
    tuple
        The files, the discipline's source first, and the queue.

    Raises
    ------
    ScenarioError, InputError
        As of `bpf_queue`, and if the folder cannot be written.
    """
    queue = bpf_queue(scenario, link=link, overrides=overrides, name=name)
    return write_export(Path.cwd() / name_of(queue) if out is None else Path(out), bpf_files(queue)), queue
