"""Runs ns-2 on a case and reads what it wrote."""

from __future__ import annotations

import subprocess
import tempfile
from decimal import Decimal
from pathlib import Path

from goldens.model import BOTTLENECK, Case, Cbr, Counts, Event, Run, Tcp

SCRIPT = Path(__file__).resolve().parent.parent / "scenario.tcl"
KINDS = frozenset("+-dr")
FAST_RETRANSMIT = frozenset({"FAST_RETX", "RENO_FAST_RETX", "NEWRENO_FAST_RETX", "FAST_RECOVERY"})
"""ns-2's names of the event: Tahoe, Reno, NewReno, SACK."""


class Ns2Error(RuntimeError):
    """ns-2 is missing or did not finish."""


def run(
    case: Case,
    duration: Decimal,
    *,
    shift: Decimal = Decimal(0),
    offsets: dict[int, str] | None = None,
    trace_all: bool = False,
    scheduler: str = "Calendar",
) -> Run:
    """Runs `case` for `duration` + `shift`, every start and stop later by `shift`.

    `offsets` replaces the drawn clock phases (seconds, by flow). With `trace_all` the trace holds every link,
    else the bottleneck only.
    """
    with tempfile.TemporaryDirectory(prefix="ns2-") as folder:
        spec = Path(folder) / "spec.tcl"
        flows = _flows(case, shift, offsets or {})
        spec.write_text(
            "\n".join(
                [
                    f"scheduler {scheduler}",
                    *_links(case, trace_all),
                    *flows,
                    f"stop_at {duration + shift:f}",
                    "",
                ]
            )
        )
        out = Path(folder) / "out"
        try:
            done = subprocess.run(["ns", str(SCRIPT), str(spec), str(out)], capture_output=True, text=True, check=False)
        except FileNotFoundError as missing:
            raise Ns2Error("ns-2 is not installed (Debian package ns2)") from missing
        if done.returncode != 0:
            raise Ns2Error(f"{case.family}/{case.name}: ns-2 failed: {done.stderr.strip() or done.stdout.strip()}")
        return _read(out)


def version() -> str:
    """The version ns-2 says it has, such as "2.35"."""
    try:
        done = subprocess.run(["ns", "-"], input="puts [ns-version]\n", capture_output=True, text=True, check=False)
    except FileNotFoundError as missing:
        raise Ns2Error("ns-2 is not installed (Debian package ns2)") from missing
    return done.stdout.strip()


def _links(case: Case, trace_all: bool) -> list[str]:
    return [
        f"link {link.source} {link.target} {link.rate} {link.delay:f} {link.limit} "
        f"{int(trace_all or link.name == BOTTLENECK)}"
        for link in case.links
    ]


def _flows(case: Case, shift: Decimal, offsets: dict[int, str]) -> list[str]:
    return [
        f"tcp {index} {{{_tcp_options(flow, shift, offsets.get(index, '-1'))}}}"
        if isinstance(flow, Tcp)
        else _cbr(index, flow, shift)
        for index, flow in enumerate(case.flows)
    ]


def _tcp_options(flow: Tcp, shift: Decimal, clock_offset: str) -> str:
    options: dict[str, str] = {
        "variant": flow.variant,
        "from": flow.source,
        "to": flow.target,
        "start": f"{flow.start + shift:f}",
        "window": str(flow.window),
        "payload": str(flow.payload),
        "header": str(flow.header),
        "ack_size": str(flow.ack_size),
        "initial_window": str(flow.initial_window),
        "syn": str(int(flow.syn)),
        "delayed_ack": f"{flow.delayed_ack:f}" if flow.delayed_ack is not None else "0",
        "limited_transmit": str(int(flow.limited_transmit)),
        "min_rto": f"{flow.min_rto:f}",
        "max_rto": f"{flow.max_rto:f}",
        "initial_rto": f"{flow.initial_rto:f}",
        "tick": f"{flow.tick:f}",
        "max_burst": str(flow.max_burst),
        "size": str(flow.size if flow.size is not None else -1),
        "seed": str(flow.seed),
        "clock_offset": clock_offset,
    }
    return " ".join(f"{key} {value}" for key, value in options.items())


def _cbr(index: int, flow: Cbr, shift: Decimal) -> str:
    start, stop = flow.start + shift, flow.stop + shift
    return f"cbr {index} {flow.source} {flow.target} {start:f} {stop:f} {flow.rate} {flow.packet}"


def _read(out: Path) -> Run:
    result = Run()
    names: dict[str, str] = {}
    for line in out.with_suffix(".count").read_text().splitlines():
        word = line.split()
        if word[0] == "link":
            names[word[1]], names[word[2]] = word[3], word[4]
        else:
            result.counts[int(word[1])] = Counts(int(word[2]), int(word[3]), int(word[4]), word[5])
    _read_recovery(out, result)
    with out.with_suffix(".nam").open() as lines:
        result.trace = [_event(line, names) for line in lines if line[:1] in KINDS]
    return result


def _read_recovery(out: Path, result: Run) -> None:
    """Fast retransmits from the event trace, back-offs from the senders' variable traces."""
    for line in out.with_suffix(".tcp").read_text().splitlines():
        word = line.split()
        if word[0] == "E" and word[5] in FAST_RETRANSMIT:
            result.counts[int(word[6])].fast_retransmits += 1
    for flow, counts in result.counts.items():
        last = 1
        for line in Path(f"{out}.var.{flow}").read_text().splitlines():
            value = int(line.split()[6])
            counts.backoffs += value > last
            counts.max_backoff = max(counts.max_backoff, value)
            last = value


def _event(line: str, names: dict[str, str]) -> Event:
    word = line.split()
    return Event(
        t=Decimal(word[2]),
        kind=word[0],
        source=names[word[4]],
        target=names[word[6]],
        bytes=int(word[10]),
        uid=int(word[14]),
        flow=int(word[16]),
        seq=int(word[20]),
        is_ack=word[8] == "ack",
    )
