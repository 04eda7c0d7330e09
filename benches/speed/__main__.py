"""Command line: `python -m speed [hops] [pairs] [growth] [cores] [peers] [chain]`; without a word the first four."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from speed import chart, cores, growth, pairs, peers, table
from speed.cases import CASES, named
from speed.chain import LINKS, chain
from speed.process import BENCHES, SCENARIOS, SIMULATE, Limits, ProcessError

PAGE = BENCHES / "JOURNAL.md"
CHART = BENCHES.parent / "docs" / "speed.svg"
USERS_PAGE = BENCHES.parent / "docs" / "performance.md"
PARTS = ("hops", "pairs", "growth", "cores")
OTHERS = ("peers", "chain")
"""Parts that run only when they are named."""
PAIRS = 7
REPEATS = 3
SECONDS = 300.0
GIB = 8.0


def arguments(words: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="speed", description="Speed beside ns-2, and what a packet-hop costs.")
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help="hops: both count the same with plain RED; pairs: ours and ns-2 in turn; "
        "growth: of flows, links and routers; cores: one run on one core and on two; "
        "peers: ours, ns-2, htsim, ns-3 and Unison in turn; chain: write scenarios/chain.toml "
        "(default: all but peers and chain)",
    )
    parser.add_argument(
        "--cases", default=",".join(case.name for case in CASES), help="of hops, pairs, cores and peers"
    )
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"runs of each in turn (default {PAIRS})")
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"runs of each size or peer (default {REPEATS})")
    parser.add_argument("--ns2-seconds", type=float, default=SECONDS, help=f"stops ns-2 (default {SECONDS:g})")
    parser.add_argument("--ns2-gib", type=float, default=GIB, help=f"stops ns-2 (default {GIB:g})")
    parser.add_argument(
        "--peers",
        type=Path,
        default=os.environ.get("SPEED_PEERS"),
        metavar="DIR",
        help="folder of the programs htsim, ns3 and unison (default: the variable SPEED_PEERS); see benches/peers",
    )
    parser.add_argument("--without-ns2", action="store_true", help="growth without ns-2")
    parser.add_argument("--write", action="store_true", help=f"writes tables into {PAGE.name}, and docs/")
    options = parser.parse_args(words)
    unknown = [part for part in options.parts if part not in (*PARTS, *OTHERS)]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r} (allowed: {', '.join((*PARTS, *OTHERS))})")
    if options.pairs < 1 or options.repeats < 1:
        parser.error("--pairs and --repeats are at least 1")
    if "peers" in options.parts and options.peers is None:
        parser.error(
            "peers: the folder of the programs is missing (--peers DIR, or SPEED_PEERS); see benches/peers/README.md"
        )
    try:
        options.cases = named(options.cases)
    except ValueError as problem:
        parser.error(str(problem))
    return options


def tell(line: str) -> None:
    """Print the progress."""
    print(line, file=sys.stderr, flush=True)


def texts(options: argparse.Namespace) -> dict[str, Callable[[], str]]:
    """Return what makes each text, by the name of its marks in the page."""
    limits = Limits(options.ns2_seconds, options.ns2_gib)
    effort = growth.Effort(options.repeats, None if options.without_ns2 else limits)
    makers: dict[str, dict[str, Callable[[], str]]] = {
        "hops": {"hops": lambda: pairs.same_hops(options.cases, tell)},
        "pairs": {"pairs": lambda: pairs.report(options.cases, options.pairs, limits, tell)},
        "growth": {
            "flows": lambda: growth.by_flows(effort, tell),
            "links": lambda: growth.by_links(effort, tell),
            "routers": lambda: growth.by_routers(effort, tell),
        },
        "cores": {"cores": lambda: cores.report(options.cases, options.pairs, tell)},
        "peers": {"peers": lambda: peers.report(options.cases, options.peers, options.repeats, limits, tell)},
    }
    wanted = options.parts or PARTS
    return {name: make for part in makers if part in wanted for name, make in makers[part].items()}


def missing(path: Path) -> str:
    """Return the programs that are not installed or built; empty if none is missing."""
    if shutil.which("ns") is None:
        return "the command `ns` was not found: install ns-2 2.35 (Debian: apt-get install ns2)"
    if not path.exists():
        return f"{path.name} is not built: make bench"
    return ""


def main(words: list[str] | None = None) -> int:
    """Print the tables; returns the exit code."""
    options = arguments(words)
    if "chain" in options.parts:
        (SCENARIOS / "chain.toml").write_text(chain(LINKS))
    wanted = texts(options) if options.parts != ["chain"] else {}
    problem = missing(SIMULATE) if wanted else ""
    if problem:
        print(problem, file=sys.stderr)
        return 1
    try:
        for name, make in wanted.items():
            text = make()
            print(f"## {name}\n\n{text}", flush=True)
            if options.write:
                table.write(PAGE, name, text)
                if name == "pairs":
                    chart.draw(chart.ratios(text), CHART)
                if name == "peers":
                    table.write(USERS_PAGE, name, peers.summary(text))
    except ProcessError as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
