"""Checks before a live run: what would spoil it, and what makes it impossible."""

from __future__ import annotations

import importlib.util
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aqmlab.live.plan import LivePlan

TUN = Path("/dev/net/tun")
PROC = Path("/proc")
SPARE_CORES = 0.5
"""Cores that should have nothing to do when a run begins."""
STEAL_SHARE = 0.02
LOOK_S = 0.2
"""How long the processors are watched."""
FASTEST_BPS = 1e9
"""Rate up to which one thread carries packets of 1500 B."""
GOOD_CLOCKS = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page")


OTHER_VERSIONS = {"bbr": "the kernel's bbr is version 1, the scenario's version 3"}
"""Why a congestion control of the scenario cannot be the kernel's of the same name."""
CLASSIC, ACCURATE = "classic", "accurate"
FEEDBACK = {"dctcp": "dctcp"}
"""How kernels echo marks, by congestion control, where that is not classic."""


@dataclass(frozen=True)
class Trouble:
    """One thing that is not as it should be.

    Attributes
    ----------
    text
        The trouble, and what can be done about it.
    forbids
        Whether no run is possible; else its numbers may suffer.
    """

    text: str
    forbids: bool = False


def preflight(plan: LivePlan, *, traffic: str = "sockets", watch: bool = True) -> list[Trouble]:
    """Return the conditions that would forbid or spoil a run of this plan on this machine, here and now.

    Parameters
    ----------
    plan
        The run.
    traffic
        The senders: ``sockets`` or ``iperf3``.
    watch
        Also watch the processors for a moment.
    """
    found = [*_programs(traffic), *_kernel(plan), *_machine(), *_rate(plan), *_other_links(plan)]
    return found + (list(_processors()) if watch else [])


def _programs(traffic: str) -> Iterator[Trouble]:
    for program in ("nsenter", "setpriv"):
        if shutil.which(program) is None:
            yield Trouble(f"{program} is not installed (package util-linux)", forbids=True)
    if importlib.util.find_spec("pyroute2") is None:
        yield Trouble("pyroute2 is not installed; pip install aqmlab[live]", forbids=True)
    if traffic == "iperf3" and shutil.which("iperf3") is None:
        yield Trouble("iperf3 is not installed (package iperf3); --traffic sockets needs no program", forbids=True)


def _kernel(plan: LivePlan) -> Iterator[Trouble]:
    yield from tun_trouble()
    available = _text(PROC / "sys/net/ipv4/tcp_available_congestion_control").split()
    for control in sorted({g.congestion_control for g in plan.groups if g.congestion_control}):
        if available and control not in available:
            yield Trouble(
                f'congestion control "{control}" is not there (allowed: {", ".join(available)}; '
                f"modprobe tcp_{control} may bring it)",
                forbids=True,
            )
    if plan.family == "ipv6" and not (PROC / "sys/net/ipv6").is_dir():
        yield Trouble("this kernel has no IPv6", forbids=True)
    for group in plan.groups:
        if not group.is_udp and group.congestion_control is None:
            name = group.parameters.get("congestion_control", group.transport)
            why = OTHER_VERSIONS.get(name, f'no kernel has "{name}" as congestion control')
            yield Trouble(f"flow {group.name}: {why}", forbids=True)
        own, wanted = FEEDBACK.get(group.congestion_control or "", CLASSIC), group.parameters.get("ecn")
        if group.ecn and wanted in (ACCURATE, *FEEDBACK.values()) and wanted != own:
            yield Trouble(f'flow {group.name}: the kernel echoes marks as with ecn = "{own}", not as with "{wanted}"')


def tun_trouble() -> Iterator[Trouble]:
    """Say why no TUN device can be made, if so."""
    try:
        os.close(os.open(TUN, os.O_RDWR))
    except OSError as error:
        yield Trouble(f"{TUN}: cannot be opened ({error.strerror}); a live run needs it", forbids=True)


def _machine() -> Iterator[Trouble]:
    if not can_be_realtime():
        yield Trouble(
            "the kernel rejects SCHED_FIFO, so other programs delay the link's thread by milliseconds "
            "(CAP_SYS_NICE or an rtprio limit allows it)"
        )
    memory = {line.split(":")[0]: int(line.split()[1]) for line in _text(PROC / "meminfo").splitlines() if ":" in line}
    swapped = memory.get("SwapTotal", 0) - memory.get("SwapFree", 0)
    if swapped > memory.get("MemTotal", 0) // 20:
        yield Trouble(f"{swapped // 1024} MB are swapped out; what is read back stalls the run")
    clock = _text(Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")).strip()
    if clock and clock not in GOOD_CLOCKS:
        yield Trouble(f"the clock is {clock}, which is slow to read (good ones: {', '.join(GOOD_CLOCKS[:2])})")
    governor = _text(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")).strip()
    if governor == "powersave":
        yield Trouble("the processor's frequency governor is powersave; performance gives steadier times")


def _rate(plan: LivePlan) -> Iterator[Trouble]:
    if plan.rate_bps > FASTEST_BPS:
        yield Trouble(
            f"{plan.rate_bps / 1e9:.3g} Gb/s are more than one thread carries (about {FASTEST_BPS / 1e9:.0f} Gb/s)"
        )


def _other_links(plan: LivePlan) -> Iterator[Trouble]:
    crossed = {name for group in plan.groups for way in (group.there, group.back) for name in way.links}
    for link in plan.scenario.links:
        if link.name in crossed - {plan.link, plan.reverse_link}:
            keys = [*link.channel, *link.varies_by]
            if keys:
                yield Trouble(f"link {link.name}: a live run has only its delay, without {', '.join(keys)}")


def _processors() -> Iterator[Trouble]:
    cores = os.cpu_count() or 1
    before = _ticks()
    time.sleep(LOOK_S)
    spent = [after - b for after, b in zip(_ticks(), before, strict=True)]
    whole = max(sum(spent[:8]), 1)
    idle, stolen = (spent[3] + spent[4]) / whole, spent[7] / whole
    if cores == 1:
        yield Trouble("there is one processor; programs and the link share it")
    if idle * cores < SPARE_CORES:
        yield Trouble(f"the processors are busy: {idle * cores:.1f} of {cores} idle (wanted: {SPARE_CORES} or more)")
    if stolen > STEAL_SHARE:
        yield Trouble(f"{stolen:.0%} of the processors' time goes to others on the host")


def can_be_realtime() -> bool:
    """Whether a thread of this process may have real-time priority."""
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        return False
    os.sched_setscheduler(0, policy, parameters)
    return True


def can_lock_memory() -> bool:
    """Whether a process may lock all of its memory, also what it gets after it gave up its privileges."""
    import resource  # not on Windows, where a job for tc can be written

    return resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] == resource.RLIM_INFINITY


def _ticks() -> list[int]:
    """Clock ticks of all processors together: user, nice, system, idle, iowait, irq, softirq, steal, ..."""
    words = _text(PROC / "stat").split("\n", 1)[0].split()[1:]
    return [int(word) for word in words[:8]] or [0] * 8


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
