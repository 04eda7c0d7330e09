"""TCP flows of a live run by iperf3: a server and a client for each, so that each has its own start and end.

Both write one JSON object when they get the signal to end, which is at the end of the run, since the link is gone
then and the two cannot exchange their results. So the bytes received are those that the server counted.
"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from aqmlab.errors import InputError
from aqmlab.live.groups import other, sender_side
from aqmlab.live.processes import end, hurry
from aqmlab.live.run_context import Raw, Stage
from aqmlab.live.traffic.order import FlowOrder
from aqmlab.live.traffic.workers import flow_orders

ENDS_WITHIN_S = 5.0
INTERVAL_S = 0.5
"""How finely iperf3 says what was received when."""
SERVERS_LEAD_S = 0.3
"""How long servers are given to listen."""
AFTER_S = 60
"""How much longer than the run a client would go on."""


@dataclass
class Pair:
    """Server and client of a flow."""

    order: FlowOrder
    side: str
    duration_s: float
    server: subprocess.Popen[bytes] | None = None
    client: subprocess.Popen[bytes] | None = None

    @property
    def start_s(self) -> float:
        """When the client is to start."""
        return self.order.periods_s[0][0]

    def serve(self, stage: Stage) -> None:
        """Start the server."""
        words = ["iperf3", "-s", "-1", "-J", "-i", str(INTERVAL_S), "-B", self.order.peer, "-p", str(self.order.port)]
        self.server = stage.start(words, other(self.side))
        hurry(self.server.pid)

    def send(self, stage: Stage) -> None:
        """Start the client."""
        order, (begin, stop) = self.order, self.order.periods_s[0]
        words = ["iperf3", "-c", order.peer, "-B", order.local, "-p", str(order.port), "-J", "-i", str(INTERVAL_S)]
        if order.size_bytes is not None:
            words += ["-n", str(order.size_bytes)]
        else:
            words += ["-t", f"{stop - begin if stop is not None else self.duration_s - begin + AFTER_S:.0f}"]
        if order.congestion_control is not None:
            words += ["-C", order.congestion_control]
        if order.dscp:
            words += ["--dscp", str(order.dscp)]
        self.client = stage.start(words, self.side)
        hurry(self.client.pid)


class Iperf3Flows:
    """All TCP flows of a run."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        plan = stage.plan
        self.pairs = [
            Pair(order, sender_side(group), plan.scenario.duration_s)
            for group in plan.groups
            for order in flow_orders(plan, group)
        ]
        for pair in self.pairs:
            if len(pair.order.periods_s) > 1:
                raise InputError(
                    f"--traffic iperf3: flow {pair.order.name} is active more than once (allowed: --traffic sockets)"
                )
        self._waiting = sorted(self.pairs, key=lambda pair: pair.start_s)

    def prepare(self) -> None:
        """Start the servers."""
        for pair in self.pairs:
            pair.serve(self._stage)
        time.sleep(SERVERS_LEAD_S)

    def begin(self, start_at: float) -> None:
        """Wait for `due`."""

    def due(self, now: float) -> None:
        """Start the clients whose time has come."""
        while self._waiting and self._waiting[0].start_s <= now:
            self._waiting.pop(0).send(self._stage)

    def finish(self, raw: Raw) -> None:
        """End all, and say what sources and sinks saw, as `SocketFlows` does."""
        processes = [process for pair in self.pairs for process in (pair.client, pair.server) if process is not None]
        for process in processes:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        said = {id(process): _answer(process) for process in processes}
        warmup_s = self._stage.plan.scenario.warmup_s
        sources = [source_report(pair.order, said.get(id(pair.client), {})) for pair in self.pairs]
        sinks = [sink_report(pair.order, said.get(id(pair.server), {}), warmup_s=warmup_s) for pair in self.pairs]
        raw.add_reports("source", sources)
        raw.add_reports("sink", sinks)

    def close(self) -> None:
        """End all."""
        for pair in self.pairs:
            for process in (pair.client, pair.server):
                if process is not None:
                    end(process)


def source_report(order: FlowOrder, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report of a source, from the client's own report."""
    streams = [_stream(interval) for interval in said.get("intervals", ())]
    rtts = [stream["rtt"] / 1e6 for stream in streams if stream.get("rtt")]
    sent = sum(int(stream.get("bytes", 0)) for stream in streams)
    again = sum(int(stream.get("retransmits", 0)) for stream in streams)
    error = "" if streams else str(said.get("error", "")) or "iperf3 said nothing"
    begin = order.periods_s[0][0]
    return {
        "name": order.name,
        "connected_s": begin if streams else None,
        "first_sent_s": begin if streams else None,
        "at_warmup": None,
        "at_end": {
            "sent": -(-sent // order.segment_bytes) + again,
            "sent_bytes": sent + again * order.segment_bytes,
            "retransmitted": again,
            "acked_bytes": sent,
            "timeouts": 0,
        },
        "mean_rtt_s": sum(rtts) / len(rtts) if rtts else None,
        "error": error,
    }


def sink_report(order: FlowOrder, said: Mapping[str, Any], *, warmup_s: float) -> dict[str, Any]:
    """Return the report of a sink, from the server's report; bytes before the end of the warm-up by its intervals."""
    streams = [_stream(interval) for interval in said.get("intervals", ())]
    begin = order.periods_s[0][0]
    received, before = 0.0, 0.0
    for stream in streams:
        length = max(float(stream["end"]) - float(stream["start"]), 1e-9)
        received += stream["bytes"]
        share = (warmup_s - begin - float(stream["start"])) / length
        before += stream["bytes"] * min(max(share, 0.0), 1.0)
    last = begin + float(streams[-1]["end"]) if streams else None
    return {
        "name": order.name,
        "received_bytes": round(received),
        "received_at_warmup_bytes": round(before),
        "last_received_s": last,
        "finish_s": last if order.size_bytes is not None and received >= order.size_bytes else None,
        "at_warmup": None,
        "at_end": {"received": round((received - before) / order.segment_bytes)},
    }


def _stream(interval: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = interval["streams"][0] if interval.get("streams") else interval.get("sum", {})
    return found


def _answer(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    try:
        out, _ = process.communicate(timeout=ENDS_WITHIN_S)
        found = json.loads(out)
    except (subprocess.TimeoutExpired, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
