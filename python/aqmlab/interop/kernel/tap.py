"""A tap: the kernel module that logs the decisions of an unchanged discipline of Linux, and its queue in the core.

The log is replayed like that of a module (`replay`), in the core's dialect ``linux``.
"""

from __future__ import annotations

import json

from aqmlab.errors import InputError
from aqmlab.interop.kernel.export import KernelQueue, text_of
from aqmlab.interop.tc.queues import HANDLE, Qdisc
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Link

MODULE = "sch_aqmlab_tap"
KIND = "aqmlab_tap"
"""Name by which tc knows the tap."""
TAPPED = ("codel",)
"""Disciplines whose decisions and state a tap logs."""
FIRST_KIND = 16
"""The kinds of a tap's records begin here (``tap.h``)."""


def tap_files() -> dict[str, str]:
    """Return the files of the module: name and text."""
    sources = {name: text_of(f"module/{name}") for name in (f"{MODULE}.c", "tap.h", "child.h", "record.h", "log.h")}
    makefile = text_of("module/Makefile").partition("\n# The plug-in")[0] + "\n.PHONY: modules clean\n"
    return sources | {"Kbuild": f"obj-m := {MODULE}.o\n", "Makefile": makefile}


def tapped_queue(scenario: Scenario, link: Link) -> KernelQueue:
    """Return the queue before a link in the dialect ``linux``.

    Raises
    ------
    InputError
        If a tap does not log this discipline.
    """
    if link.aqm not in TAPPED:
        allowed = ", ".join(f'"{name}"' for name in TAPPED)
        raise InputError(
            f'{scenario.filename}: queue.{link.queue}: no tap logs aqm = "{link.aqm}" (allowed: {allowed})'
        )
    table = {**scenario.queue_table(link.queue), "dialect": "linux"}
    return KernelQueue(scenario, link, json.dumps(table), {}, chosen_name="tap")


def below_tap(qdisc: Qdisc) -> Qdisc:
    """Return a tap with a discipline of tc as its child.

    >>> below_tap(Qdisc("codel", "target 5ms")).below
    ('qdisc add dev DEV parent 10:1 handle 20: codel target 5ms',)
    """
    return Qdisc(KIND, "", below=(f"qdisc add dev DEV parent {HANDLE}1 handle 20: {qdisc.text}",))
