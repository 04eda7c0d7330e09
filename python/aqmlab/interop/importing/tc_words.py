"""Queueing disciplines in tc's words as a scenario: what ``tc qdisc add`` and ``tc qdisc show`` have.

* `aqmlab.interop.importing.tc_script`: the lines, with variables and continued lines
* `aqmlab.interop.importing.tc_tree`: disciplines above each other, classes, the link's rate and delay
* `aqmlab.interop.importing.tc_leaf`: one discipline's parameters

Every word of a line that is not carried over is a note with the line's number.
"""

from __future__ import annotations

import re

from aqmlab.errors import one_line
from aqmlab.interop.importing.ns2_study import Table
from aqmlab.interop.importing.quantities import rate, time
from aqmlab.interop.importing.tc_script import read_script
from aqmlab.interop.importing.tc_tree import BOTTLENECK, Bottleneck, Class, Reader
from aqmlab.scenario.toml_text import inline

LINE = r"(?:\btc\b|\$\{?\w+\}?)\s.*?\bqdisc\s+(?:add|replace|change)\b|^\s*qdisc\s+\S+\s+[0-9a-fA-F]*:"


def looks_like_tc(text: str) -> bool:
    """Whether there is a line of tc in a text."""
    return re.search(LINE, text, flags=re.MULTILINE) is not None


def read_tc(text: str, filename: str) -> Bottleneck:
    """Read lines of tc.

    Raises
    ------
    InputError
        With the line that cannot be read.
    """
    return Reader(read_script(text, filename), filename).read()


def text_of(found: Bottleneck, *, name: str, description: str, source: str = "lines of tc") -> str:
    """Write a scenario: the queue at the bottleneck of a dumbbell, with ten flows of CUBIC."""
    trunk: Table = {"rate": rate(found.rate_bps), "delay": time(found.delay_s), "queue": BOTTLENECK}
    access: Table = {"rate": rate(max(1e9, 10 * found.rate_bps)), "delay": "1ms"}
    lines = ["format = 1", f"name = {inline(name)}", f"description = {inline(description)}", ""]
    lines += [f"# Not carried over, or assumed: {one_line(note)}." for note in found.notes]
    lines += [
        f"# The network around the bottleneck and the flows are not in {source}: they are an example.",
        "",
        "[run]",
        'duration = "60s"',
        'warmup = "10s"',
        "",
        "[dumbbell]",
        f"bottleneck = {inline(trunk)}",
        f"left = {inline(access)}",
        f"right = {inline(access)}",
    ]
    for queue in sorted(found.queues, key=lambda one: one != BOTTLENECK):
        lines += ["", f"[queue.{queue}]", *(f"{key} = {inline(value)}" for key, value in found.queues[queue].items())]
        for one in found.classes.get(queue, ()):
            lines += ["", f"[[queue.{queue}.class]]", *_class_lines(one)]
    lines += [
        "",
        "[[flow]]",
        'name = "tcp"',
        "count = 10",
        'transport = "tcp"',
        'start = { uniform = ["0s", "1s"] }',
    ]
    if any(queue.get("ecn") for queue in found.queues.values()):
        lines.append("tcp = { ecn = true }")
    return "\n".join(lines) + "\n"


def _class_lines(one: Class) -> list[str]:
    lines = [f"name = {inline(one.name)}"]
    lines.append("default = true" if one.code_points is None else f"dscp = {inline(list(one.code_points))}")
    if one.weight is not None:
        lines.append(f"weight = {inline(one.weight)}")
    lines += [f"{key} = {inline(value)}" for key, value in one.own.items()]
    return [*lines, *([f"queue = {inline(one.queue)}"] if one.queue else [])]
