"""The reference of other tools' words: which word has which parameter, from the tables that export and import use."""

from __future__ import annotations

from collections.abc import Mapping

from aqmlab.interop.cisco import queues as cisco
from aqmlab.interop.juniper import queues as juniper
from aqmlab.interop.ns2 import queues as ns2
from aqmlab.interop.ns3 import other_queues as ns3_other
from aqmlab.interop.ns3 import queues as ns3
from aqmlab.interop.tc import other_queues as tc_other
from aqmlab.interop.tc import red as tc_red
from aqmlab.interop.translation import Table, quoted
from builder.page import Page, cell, code, table

INTRODUCTION = """\
# Words of other tools

These are the words that `aqmlab export`, `import`, `crosscheck`, `tune` and `live --backend tc` carry over: the tool's
word, the parameter, and the value where the word is left out. A parameter that a tool fixes has no word; an export
names it if the scenario has another value. A word that is not here is named by `import`, with the number of its line.
See [cross-checks](../crosscheck.md#from-other-tools) for networks and flows."""
TOOLS: dict[str, dict[str, Table]] = {
    "Linux tc": {"red": tc_red.RED, "choke": tc_red.CHOKE, **tc_other.OTHER_QUEUES},
    "ns-2": {"red": ns2.RED, **{f"red, adaptation {name}": one for name, one in ns2.ADAPTATION.items()}},
    "ns-3": {
        "red": ns3.RED,
        **{f"red, adaptation {name}": one for name, one in ns3.ADAPTATION.items()},
        **ns3_other.OTHER_QUEUES,
    },
    "Cisco IOS": {"red": cisco.RED},
    "Juniper Junos": {"red": juniper.RED},
}
FURTHER = {
    "Linux tc": """\
`pfifo` and `bfifo` are drop-tail. `burst` of `red` and `choke` stands for `w_q`: tc computes Wlog from it. `prio`,
`ets` and `pfifo_fast` are schedulers with a class for each band; `tbf`, `htb` and `netem` have the link's rate and
delay.""",
    "Juniper Junos": "`fill-level` and `drop-probability` of a drop profile are the points of the curve.",
    "Cisco IOS": "`random-detect ecn` is `ecn`. Several profiles are the classes of `wred`.",
}


def pages() -> list[Page]:
    """Make the page."""
    parts = [INTRODUCTION]
    for tool, tables in TOOLS.items():
        parts.append(f"## {tool}")
        if tool in FURTHER:
            parts.append(FURTHER[tool])
        parts += [part for aqm, own in tables.items() if own.rows or own.fixed for part in _discipline(aqm, own)]
    return [Page("reference/words.md", "Words of other tools", "\n\n".join(parts))]


def _discipline(aqm: str, own: Table) -> list[str]:
    rows = [[code(row.word), code(row.key), code(_usual(own.usual, row.key))] for row in own.rows]
    rows += [["", code(fixed.key), f"{code(_value(fixed.value))} {cell(fixed.meaning)}".strip()] for fixed in own.fixed]
    return [f"### {aqm}: `{own.kind}`", table(["word", "parameter", "without the word, or fixed"], rows)]


def _usual(usual: Mapping[str, object], key: str) -> str | None:
    return _value(usual[key]) if key in usual else None


def _value(value: object) -> str | None:
    if value is None:
        return None
    return f"{value:.6g}" if isinstance(value, float) else quoted(value)
