"""The files of the references: one scenario and one table per case, and an index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from goldens.admission import Admitted
from goldens.events import difference_in_order, read, write
from goldens.model import Cbr, Tcp
from goldens.toml import scenario

INDEX = "cases.json"
FAMILIES = ("exact", "ordinary")
AT_LEAST = 12
"""References wanted in each family."""
REQUIRED = ("fast retransmit", "multiple loss in a window", "time-out", "repeated back-off", "delayed ACK")
VARIANTS = ("tahoe", "reno", "newreno", "sack")


def write_case(folder: Path, admitted: Admitted) -> dict[str, Any]:
    """Writes the two files of a case; returns its entry of the index."""
    case = admitted.case
    family = folder / case.family
    family.mkdir(parents=True, exist_ok=True)
    (family / f"{case.name}.toml").write_text(scenario(case, admitted.duration, admitted.counts))
    write(family / f"{case.name}.events.csv.xz", admitted.table)
    return _entry(admitted)


def _entry(admitted: Admitted) -> dict[str, Any]:
    case, counts = admitted.case, admitted.counts
    tcp = [flow for flow in case.flows if isinstance(flow, Tcp)]
    kinds = [row.kind for row in admitted.table]
    total = list(counts.values())
    fast, late = sum(c.fast_retransmits for c in total), sum(c.timeouts for c in total)
    highest = max(c.max_backoff for c in total)
    met = admitted.simultaneity
    return {
        "case": f"{case.family}/{case.name}",
        "description": case.description,
        "variants": sorted({flow.variant for flow in tcp}),
        "tcp_flows": len(tcp),
        "udp_flows": sum(isinstance(flow, Cbr) for flow in case.flows),
        "finite_flows": sum(flow.size is not None for flow in tcp),
        "two_hops": any(link.target == "r3" for link in case.links),
        "syn": sorted({flow.syn for flow in tcp}),
        "limited_transmit": sorted({flow.limited_transmit for flow in tcp}),
        "duration_s": float(admitted.duration),
        "events": len(kinds),
        "enqueued": kinds.count("+"),
        "dequeued": kinds.count("-"),
        "dropped": kinds.count("d"),
        "fast_retransmits": fast,
        "timeouts": late,
        "backoffs": sum(c.backoffs for c in total),
        "max_backoff": highest,
        "multiple_losses": admitted.multiple_losses,
        "delayed_acks": admitted.delayed_acks,
        "phenomena": [
            name
            for name, occurs in zip(
                REQUIRED,
                (fast > 0, admitted.multiple_losses > 0, late > 0, highest >= 4, admitted.delayed_acks > 0),
                strict=True,
            )
            if occurs
        ],
        "simultaneous": {
            "instants": met.ties,
            "arrival_with_service_end": met.arrival_with_service_end,
            "arrivals_over_different_links": met.arrivals_together,
            "decisive_for_a_drop": admitted.decisive,
            "timer_with_another": met.with_timer,
            "undecided": len(met.double),
        },
    }


def lacking(entries: list[dict[str, Any]]) -> str | None:
    """Return a description of the first lack of the references as a whole; None if nothing is missing."""
    for family in FAMILIES:
        mine = [e for e in entries if str(e["case"]).startswith(family + "/")]
        if len(mine) < AT_LEAST:
            return f"{len(mine)} {family} cases, {AT_LEAST} are wanted"
        if not any(e["two_hops"] for e in mine):
            return f"no {family} case with two hops"
        for variant in VARIANTS:
            shown = {name for e in mine if variant in e["variants"] for name in e["phenomena"]}
            if missing := set(REQUIRED) - shown:
                return f"{family}: {variant} without {sorted(missing)}"
    return None


def write_index(folder: Path, entries: list[dict[str, Any]], rejected: list[dict[str, str]]) -> None:
    """Writes the index: the references and the rejected candidates with the reason."""
    document = {"made_with": "ns-2 2.35", "cases": entries, "rejected": rejected}
    (folder / INDEX).write_text(json.dumps(document, indent=1) + "\n")


def compare_folders(committed: Path, fresh: Path) -> str | None:
    """Return the first difference between two folders of references; None for equal folders."""
    names = _names(committed)
    if names != (made := _names(fresh)):
        return f"files differ: {sorted(names ^ made)}"
    for name in sorted(names):
        if name.endswith(".xz"):
            found = difference_in_order(read(committed / name), read(fresh / name))
            if found is not None:
                return f"{name}: {found}"
        elif (committed / name).read_text() != (fresh / name).read_text():
            return f"{name}: other text"
    return None


def _names(folder: Path) -> set[str]:
    """The files that are made: everything in the two families, and the index."""
    made = {str(path.relative_to(folder)) for family in FAMILIES for path in (folder / family).glob("*")}
    return made | ({INDEX} if (folder / INDEX).exists() else set())
