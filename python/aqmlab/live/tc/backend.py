"""`aqmlab live --backend tc`: a run over the qdiscs of this machine's kernel.

The job runs in network, mount and process namespaces of its own, without root in a user namespace too. So the kernel
itself removes all of it when the job ends, however it ends; and it ends when this program does. Only a module is in no
namespace: it is loaded before the job and removed after it.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.live.plan import LivePlan
from aqmlab.live.processes import finish, search_path
from aqmlab.live.tc.failure import judge
from aqmlab.live.tc.job import GRACE_S, PATIENCE_S, Options, script
from aqmlab.live.tc.loading import loaded
from aqmlab.live.tc.module import KernelModule
from aqmlab.live.tc.outcome import PeerRun
from aqmlab.live.tc.setting import setting_of

NEEDED = ("unshare", "ip", "tc", "iperf3", "gzip", "base64")
NEEDED_BY_MODULES = ("insmod", "rmmod")
SLACK_S = 60.0
"""A job may take that much longer than its run and the patience with its clients."""
INNER = 'mount -t tmpfs tmpfs /run && exec sh "$1" 3> "$2"'
"""Names of namespaces are files in /run: in a /run of its own they meet no others."""


def run(
    plan: LivePlan,
    *,
    qdisc: str | None = None,
    options: Options = Options(),  # noqa: B008 - frozen
    module: KernelModule | None = None,
    tell: Callable[[str], None] = print,
) -> PeerRun:
    """Do one run in real time on this machine's kernel.

    Parameters
    ----------
    plan
        The scenario for one seed.
    qdisc
        Words of ``tc`` for the discipline in place of the scenario's, e.g. ``"pie target 15ms"``.
    options
        How the set-up is varied. Echoes are left out where there is no `ping`.
    module
        A module compiled for this machine's kernel, whose discipline is the bottleneck's. It is removed at the end.
    tell
        Is called with a line if the module cannot be removed.

    Raises
    ------
    InputError
        If something is missing, the kernel's module for a qdisc among it.
    """
    for name in NEEDED if module is None else (*NEEDED, *NEEDED_BY_MODULES):
        if shutil.which(name, path=search_path()) is None:
            raise InputError(f"--backend tc needs the program {name}, which is not installed")
    if shutil.which("ping", path=search_path()) is None:
        options = replace(options, ping_interval_s=0.0)
    setting = setting_of(plan, qdisc=qdisc if module is None else module.qdisc)
    with tempfile.TemporaryDirectory(prefix="aqmlab-tc-") as name, ExitStack() as opened:
        job, results = Path(name) / "run.sh", Path(name) / "results"
        if module is not None:
            options = replace(options, module=module.queue.module, loads_module=False)
            opened.enter_context(loaded(module.queue.module, module.program, Path(name), path=search_path(), tell=tell))
        job.write_text(script(setting, options), encoding="utf-8")
        _work(command(job, results), setting.duration_s + GRACE_S + PATIENCE_S + SLACK_S)
        lines = tuple(results.read_text(encoding="utf-8").splitlines()) if results.exists() else ()
    judge(lines, "this machine")
    if module is not None:
        lines += (json.dumps({"kind": "slept", "data": _slept_ms()}),)
    return PeerRun(setting, lines, {"kernel": platform.release()}, options.ping_interval_s)


def command(job: Path, results: Path, *, root: bool | None = None) -> list[str]:
    """Return the command line that runs a job in namespaces of its own."""
    is_root = os.geteuid() == 0 if root is None else root
    own = [] if is_root else ["--user", "--map-root-user"]
    spaces = ["--net", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"]
    return ["unshare", *own, *spaces, "sh", "-c", INNER, "sh", str(job), str(results)]


def _slept_ms() -> int:
    """Return how long the machine has slept since its start."""
    awake_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    return (time.clock_gettime_ns(time.CLOCK_BOOTTIME) - awake_ns) // 10**6


def _work(words: Sequence[str], longest_s: float) -> None:
    try:
        done = finish(words, longest_s=longest_s, environment={"PATH": search_path()})
    except subprocess.TimeoutExpired:
        raise InputError(f"the job over this machine's kernel did not end within {longest_s:.0f} s") from None
    refused = [line for line in done.stderr.splitlines() if line.startswith(("unshare:", "mount:"))]
    if refused:
        raise InputError(f"network namespaces cannot be made here ({refused[0]})")
