"""One live run: everything is made, traffic passes, everything is removed."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from aqmlab.live import groups, namespaces
from aqmlab.live.commands import Commands
from aqmlab.live.groups import A, B
from aqmlab.live.link_configuration import link_configuration
from aqmlab.live.link_process import LinkProcess
from aqmlab.live.options import Options
from aqmlab.live.plan import LivePlan
from aqmlab.live.run_context import Part, Raw, Stage
from aqmlab.live.state import namespace_path, run_state
from aqmlab.live.traffic.datagrams import DatagramFlows
from aqmlab.live.traffic.iperf3 import Iperf3Flows
from aqmlab.live.traffic.workers import SocketFlows

DEVICES = {A: "aqm-a", B: "aqm-b"}
LEAD_S = 0.3
"""From the moment at which all is there to the start of the run: time for everyone to hear when it is."""
POLL_S = 0.02
Show = Callable[[str], None]
Progress = Callable[[float], None]


def perform(plan: LivePlan, options: Options, *, show: Show, progress: Progress, record: Path | None = None) -> Raw:
    """Do one run. Whatever happens, nothing of it is left.

    Parameters
    ----------
    plan, options
        The run, and its options.
    show
        Is given each snapshot, as the link wrote it.
    progress
        Called with the share that is done.
    record
        Where packets are recorded.
    """
    with run_state() as state, ExitStack() as opened:
        spaces = {side: namespace_path(name) for side, name in zip((A, B), state.namespaces, strict=True)}
        stage = Stage(plan, options, spaces, state)
        link = _network(stage, opened, record=record)
        tcp: Part = Iperf3Flows(stage) if options.traffic == "iperf3" else SocketFlows(stage)
        parts: list[Part] = [tcp, DatagramFlows(stage), Commands(stage)]
        for part in parts:
            opened.callback(part.close)
            part.prepare()
        begin = time.monotonic() + LEAD_S
        for part in parts:
            part.begin(begin)
        # In advance: this process may wake late, and until its start the link forwards all packets at once.
        link.tell(f"start {round(begin * 1e9)}")
        time.sleep(max(begin - time.monotonic(), 0.0))
        raw, duration_s = Raw(), plan.scenario.duration_s
        while link.outcome is None and (now := time.monotonic() - begin) < duration_s:
            for part in parts:
                part.due(now)
            _listen(link, raw, show, warmup_s=plan.scenario.warmup_s)
            progress(now / duration_s)
        raw.outcome = link.wait_outcome()
        for part in parts:
            part.finish(raw)
        return raw


def _network(stage: Stage, opened: ExitStack, *, record: Path | None) -> LinkProcess:
    """Make the namespaces, start the link between them, and set both up."""
    settings = groups.kernel_settings(stage.plan)
    for path in stage.spaces.values():
        namespaces.set_kernel(namespaces.create(path.name), settings)
    config = configuration(stage, record=record)
    link = LinkProcess(config, stage.state.folder, command=stage.options.link_command)
    opened.callback(link.close)
    stage.state.add(link.pid)
    link.wait_ready()
    numbers = range(1, groups.command_group(stage.plan) + 1)
    for side, path in stage.spaces.items():
        namespaces.set_up(
            path, DEVICES[side], addresses=groups.addresses(side, numbers), routes=groups.routes(stage.plan, side)
        )
    return link


def configuration(stage: Stage, *, record: Path | None) -> dict[str, Any]:
    """Return the configuration of the link process."""
    plan, options = stage.plan, stage.options
    found = link_configuration(
        plan.scenario,
        link=plan.link,
        groups=groups.link_groups(plan),
        ends={side: {"netns": str(path), "device": DEVICES[side]} for side, path in stage.spaces.items()},
        seed=plan.seed,
        duration_s=plan.scenario.duration_s,
        reverse_link=plan.reverse_link if groups.has_reverse_queue(plan) else None,
        snapshot_interval_s=options.snapshot_interval_s,
        record=None if record is None else str(record.absolute()),
        unshaped=options.unshaped,
    )
    found["realtime"]["keep_awake"] = options.keep_awake
    return found


def _listen(link: LinkProcess, raw: Raw, show: Show, *, warmup_s: float) -> None:
    """Pass on the link's output, for a moment."""
    line = link.next_line(POLL_S)
    if line is None:
        link.check()
        return
    show(line)
    if raw.at_warmup is None and warmup_s > 0:
        with contextlib.suppress(ValueError):
            snapshot = json.loads(line)
            if snapshot.get("t", 0.0) >= warmup_s:
                raw.at_warmup = snapshot
