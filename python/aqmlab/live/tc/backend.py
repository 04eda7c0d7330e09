"""`aqmlab live --backend tc`: a run over the qdiscs of this machine's kernel.

The job runs in network, mount and process namespaces of its own, without root in a user namespace too. So the kernel
itself removes all of it when the job ends, however it ends; and it ends when this program does.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.live.plan import LivePlan
from aqmlab.live.processes import finish
from aqmlab.live.tc.failure import judge
from aqmlab.live.tc.job import GRACE_S, PATIENCE_S, Options, script
from aqmlab.live.tc.outcome import PeerRun
from aqmlab.live.tc.setting import setting_of

NEEDED = ("unshare", "ip", "tc", "iperf3")
SLACK_S = 60.0
"""A job may take that much longer than its run and the patience with its clients."""
INNER = 'mount -t tmpfs tmpfs /run && exec sh "$1" 3> "$2"'
"""Names of namespaces are files in /run: in a /run of its own they meet no others."""


def run(
    plan: LivePlan,
    *,
    qdisc: str | None = None,
    options: Options = Options(),  # noqa: B008 - frozen
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

    Raises
    ------
    InputError
        If something is missing, the kernel's module for a qdisc among it.
    """
    for name in NEEDED:
        if shutil.which(name, path=search_path()) is None:
            raise InputError(f"--backend tc needs the program {name}, which is not installed")
    if shutil.which("ping", path=search_path()) is None:
        options = replace(options, ping_interval_s=0.0)
    setting = setting_of(plan, qdisc=qdisc)
    with tempfile.TemporaryDirectory(prefix="aqmlab-tc-") as name:
        job, results = Path(name) / "run.sh", Path(name) / "results"
        job.write_text(script(setting, options), encoding="utf-8")
        _work(command(job, results), setting.duration_s + GRACE_S + PATIENCE_S + SLACK_S)
        lines = tuple(results.read_text(encoding="utf-8").splitlines()) if results.exists() else ()
    judge(lines, "this machine")
    return PeerRun(setting, lines, {"kernel": platform.release()}, options.ping_interval_s)


def command(job: Path, results: Path, *, root: bool | None = None) -> list[str]:
    """Return the command line that runs a job in namespaces of its own."""
    is_root = os.geteuid() == 0 if root is None else root
    own = [] if is_root else ["--user", "--map-root-user"]
    spaces = ["--net", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"]
    return ["unshare", *own, *spaces, "sh", "-c", INNER, "sh", str(job), str(results)]


def search_path() -> str:
    """Return where programs are looked for: those of administrators are not on everyone's path."""
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def _work(words: Sequence[str], longest_s: float) -> None:
    try:
        done = finish(words, longest_s=longest_s, environment={"PATH": search_path()})
    except subprocess.TimeoutExpired:
        raise InputError(f"the job over this machine's kernel did not end within {longest_s:.0f} s") from None
    refused = [line for line in done.stderr.splitlines() if line.startswith(("unshare:", "mount:"))]
    if refused:
        raise InputError(f"network namespaces cannot be made here ({refused[0]})")
