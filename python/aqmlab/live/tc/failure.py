"""The errors that a job reports, as one clear line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from aqmlab.errors import InputError

UNKNOWN = re.compile(r"\[Unknown qdisc, optlen=\d+\] ?")
KIND = re.compile(r"tc qdisc add .* handle \d+: (\S+)")


def explain(what: str, where: str) -> str:
    """Return a message for a failed command; a missing qdisc is reported with the module that has it.

    >>> explain("ip netns exec aql-r tc qdisc add dev rb parent 1:1 handle 10: red limit 9: "
    ...         "Error: Specified qdisc kind is unknown.", "this machine")
    'the kernel of this machine has no qdisc red (its module is sch_red; --backend vm brings its own kernel)'
    """
    kind = KIND.search(what)
    if kind is not None and ("kind is unknown" in what or "Unknown qdisc" in what):
        own = f"its module is sch_{kind[1]}; --backend vm brings its own kernel"
        return f"the kernel of {where} has no qdisc {kind[1]} ({own})"
    return f"on {where}: {what}"


def read_record(line: str) -> Any:  # noqa: ANN401 - any JSON
    """Read a line of JSON of a job. tc writes a note into it where it has no plug-in for a discipline's options.

    >>> read_record('{"kind":"x","options":{[Unknown qdisc, optlen=72] }}')
    {'kind': 'x', 'options': {}}
    """
    return json.loads(UNKNOWN.sub("", line))


def judge(lines: Iterable[str], where: str) -> None:
    """Raise the first error in a job's report."""
    for line in lines:
        try:
            record = read_record(line)
        except ValueError:
            raise InputError(f"the job on {where} reported a line that is not JSON: {line[:120]}") from None
        if record["kind"] == "error":
            raise InputError(explain(record["what"], where))
