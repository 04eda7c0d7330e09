"""Queueing disciplines in tc's words as a scenario: what ``tc qdisc add`` and ``tc qdisc show`` have.

* `aqmlab.interop.importing.tc_script`: the lines, with variables and continued lines
* `aqmlab.interop.importing.tc_nodes`: the disciplines, classes and filters that they leave on each device
* `aqmlab.interop.importing.tc_tree`: disciplines above each other, the link's rate and delay
* `aqmlab.interop.importing.tc_classes`, `aqmlab.interop.importing.tc_filters`: classes that share, and their packets
* `aqmlab.interop.importing.tc_leaf`: one discipline's parameters

Every word of a line that is not carried over is a note with the line's number.
"""

from __future__ import annotations

import re

from aqmlab.interop.importing.bottleneck import Bottleneck
from aqmlab.interop.importing.tc_script import commands_of, is_command, read_script
from aqmlab.interop.importing.tc_tree import Reader

PRINTED = re.compile(r"\s*qdisc\s+\S+\s+[0-9a-fA-F]*:")


def looks_like_tc(text: str) -> bool:
    """Whether there is a line of tc in a text."""
    return any(is_command(line) or PRINTED.match(line) for _, line in commands_of(text) if "qdisc" in line)


def read_tc(text: str, filename: str) -> Bottleneck:
    """Read lines of tc.

    Raises
    ------
    InputError
        With the line that cannot be read.
    """
    return Reader(read_script(text, filename), filename).read()
