"""The tool ``tc``: shell scripts with tc, run on an emulated kernel or on this machine's."""

from __future__ import annotations

import math
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from aqmlab.errors import Error
from aqmlab.interop.crosscheck.tool import Measure, Measured, ToolError
from aqmlab.interop.differences import Semantic, inexpressible
from aqmlab.interop.formatting import file_name, refused
from aqmlab.interop.model import Model
from aqmlab.interop.tc import program
from aqmlab.live.processes import finish, search_path
from aqmlab.live.tc import backend
from aqmlab.live.tc.failure import judge
from aqmlab.live.tc.job import Options
from aqmlab.live.tc.outcome import PeerRun
from aqmlab.live.vm.backend import MOST_BPS
from aqmlab.live.vm.build import COMMAND, Image, find
from aqmlab.live.vm.machine import QEMU, boot
from aqmlab.results.quantities import ratio

OPTIONS = Options()
SUFFIX = ".sh"
LONGEST_S = 3600.0
NEEDED = ("netem", "delay", "1ms")
"""A discipline that every script needs: a kernel without it runs none."""


class Tc:
    """The tool ``tc``; see `aqmlab.interop.crosscheck.tool.Tool`.

    Scripts run in the emulated machine where its image is built, in virtual time, else on this machine's kernel.
    """

    name = "tc"
    title = "Linux tc"

    @property
    def parallel(self) -> bool:
        """Several runs at a time are possible in virtual time, not in real time."""
        return _image() is not None

    def version(self) -> str | None:
        """The kernel that would run a script."""
        image = _image()
        if image is not None:
            return f"{image.manifest['kernel']} (emulated)"
        return platform.release() if not _refusal() else None

    def missing(self) -> str:
        """Return why no script can be run; "" if one can."""
        return "" if _image() is not None else _refusal()

    def differences(self, model: Model) -> list[Semantic]:
        """Return the features of a scenario that Linux lacks or implements differently."""
        return program.differences(model)

    def files(self, model: Model) -> dict[str, str]:
        """Write the script of seed 1."""
        return {file_name(model, SUFFIX): self._text(model, 1)}

    def prepare(self, model: Model, folder: Path) -> None:
        """Check that the emulated processor is fast enough; nothing has to be made."""
        rate = max(model.link_named[name].rate_bps for name in model.measured)
        if _image() is not None and rate > MOST_BPS:
            text = f"the emulated processor is the bottleneck above {MOST_BPS / 1e6:g} Mbit/s, and not the link"
            raise ToolError(f"{self.title}: {text}")

    def run(self, model: Model, folder: Path, seed: int) -> Measured:
        """Run the script of a seed; that of seed 1 is the file itself."""
        path = folder / file_name(model, SUFFIX)
        if seed != 1:
            path = folder / f"seed-{seed}.sh"
            path.write_text(self._text(model, seed), encoding="utf-8")
        try:
            setting = program.setting(model, seed)
            lines = _lines(path, folder, seed)
            return measured_in(PeerRun(setting, lines, {}, OPTIONS.ping_interval_s))
        except ToolError:
            raise
        except Error as error:
            raise ToolError(f"{self.title}, seed {seed}: {error}") from None

    def _text(self, model: Model, seed: int) -> str:
        found = self.differences(model)
        if missing := inexpressible(found):
            end = ("echo 'not expressible in tc' >&2", "exit 1")
            return refused(model, "Linux", missing, "#", *end, cannot="do all of it")
        return program.text(model, found, name=file_name(model, SUFFIX), seed=seed, options=OPTIONS)


TOOL = Tc()


def _lines(path: Path, folder: Path, seed: int) -> tuple[str, ...]:
    """Run a script and return its output."""
    image = _image()
    if image is not None:
        return boot(image, path.read_text(encoding="utf-8"), seed=seed).lines
    results = folder / f"seed-{seed}.jsonl"
    done = finish(
        backend.command(path.resolve(), results.resolve()),
        longest_s=LONGEST_S,
        environment={"PATH": search_path()},
    )
    lines = tuple(results.read_text(encoding="utf-8").splitlines()) if results.exists() else ()
    judge(lines, "this machine")
    if not lines:
        raise ToolError(f"Linux tc, seed {seed}: {(done.stderr.strip().splitlines() or ['no message'])[0]}")
    return lines


def measured_in(run: PeerRun) -> Measured:
    """Return the measurements of a run over Linux."""
    found: dict[tuple[Measure, str], float] = {}
    for flow in run.tables["flows"].to_pylist():
        key = (Measure.GOODPUT, str(flow["group"]))
        found[key] = found.get(key, 0.0) + float(flow["goodput_bps"])
    row: dict[str, Any] = run.tables["links"].to_pylist()[0]
    told = {
        Measure.UTILIZATION: row["utilization"],
        Measure.LOSS: ratio(row["drops"], row["arrivals"]),
        Measure.MARKS: ratio(row["marks"], row["arrivals"]),
        Measure.MEAN_QUEUE: row["mean_queue"],
        Measure.MEAN_BACKLOG: run.mean_backlog(),
        Measure.MEAN_DELAY: row["mean_delay_s"],
    }
    found |= {(measure, str(row["link"])): float(value) for measure, value in told.items() if math.isfinite(value)}
    return found


@cache
def _image() -> Image | None:
    """Return the emulated machine's image, if there is one and an emulator."""
    if shutil.which(QEMU) is None:
        return None
    try:
        return find()
    except Error:
        return None


@cache
def _refusal() -> str:
    """Return why this machine's kernel cannot run a script; "" if it can."""
    for name in backend.NEEDED:
        if shutil.which(name, path=search_path()) is None:
            return f"program {name} is missing; {COMMAND} builds an emulated machine that has it"
    words = ["unshare", "--user", "--map-root-user", "--net", "tc", "qdisc", "add", "dev", "lo", "root", *NEEDED]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={"PATH": search_path()})
    if done.returncode == 0:
        return ""
    said = (done.stderr.strip().splitlines() or ["no message"])[0]
    return f"this machine's kernel has no {NEEDED[0]} ({said}); {COMMAND} builds an emulated machine that has it"
