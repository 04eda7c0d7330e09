"""Live runs over queue disciplines in Linux: on this machine's kernel, or on an emulated one in virtual time."""

from __future__ import annotations

import gzip
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError, to_stderr
from aqmlab.interop.kernel.export import KernelQueue, kernel_queue
from aqmlab.interop.tc.queues import own_words
from aqmlab.live.certificate import Certificate
from aqmlab.live.options import Options
from aqmlab.live.plan import LivePlan
from aqmlab.live.postprocess import provenance
from aqmlab.live.tc import module
from aqmlab.live.tc.loading import build_folder
from aqmlab.live.tc.module import KernelModule
from aqmlab.live.tc.outcome import PeerRun
from aqmlab.results.output import Output
from aqmlab.results.result import LIVE

HOMES = ("tc", "vm")
"""Backends over disciplines in Linux."""
LONGEST_GAP_S = 1.5
"""Most that may lie between two looks at tc's counters in real time; more, and the machine was busy with other work."""
SPARSE_FLOW_WAIT = "sparse_flow_wait_s"
"""A certificate's key of the mean time that pings waited: disciplines with a queue for each flow serve them first."""
DECISIONS = "decisions.bin.gz"
"""The file beside a run's tables with the log of a module's decisions."""


@dataclass(frozen=True)
class Bottleneck:
    """Where the bottleneck of a live run is, and which discipline it has.

    Attributes
    ----------
    backend
        ``link``, ``tc`` or ``vm``.
    qdisc
        Words of ``tc`` in place of the scenario's discipline.
    in_module
        The scenario's discipline runs inside the kernel, as a module generated from it.
    kernel
        Beginning of the release of the emulated machine's kernel; None: the image that was built last.
    """

    backend: str = "link"
    qdisc: str | None = None
    in_module: bool = False
    kernel: str | None = None

    @property
    def name(self) -> str:
        """Words for names of folders.

        >>> Bottleneck("vm", in_module=True, kernel="6.12").name
        'live-vm-kernel-qdisc-6.12'
        """
        words = ["live", *([self.backend] if self.backend != "link" else [])]
        if self.qdisc is not None:
            words.append(self.qdisc.replace(" ", "-").replace("/", "+"))
        words += ["kernel-qdisc"] if self.in_module else []
        return "-".join([*words, *([self.kernel] if self.kernel is not None else [])])

    def check(self) -> None:
        """Raise an error for what does not go together, before anything is made."""
        if self.in_module and self.qdisc is not None:
            raise InputError("--kernel-qdisc and --qdisc: both choose the discipline; give one of them")
        if self.kernel is not None and self.backend != "vm":
            raise InputError("--kernel: is for --backend vm")
        if self.in_module and self.backend not in HOMES:
            raise InputError(f"--kernel-qdisc: is for --backend {' or '.join(HOMES)}")
        if self.qdisc is None:
            return
        if self.backend not in HOMES:
            raise InputError(f"--qdisc: is for --backend {' or '.join(HOMES)}")
        own_words(self.qdisc)


def perform(
    plan: LivePlan, bottleneck: Bottleneck, *, folder: Path | None = None
) -> tuple[Output, Certificate, dict[str, bytes]]:
    """Do one run over a discipline in Linux; return its output, its certificate, and further files by name.

    Where the replay of a module's log differs, the log is kept in `folder`, by default in a new temporary one.
    """
    measured: dict[str, Any] = {}
    files: dict[str, bytes] = {}
    peer, made = (_in_machine if bottleneck.backend == "vm" else _in_this_kernel)(plan, bottleneck)
    tables = peer.tables
    if made is not None:
        log = module.log_of(peer)
        files[DECISIONS] = gzip.compress(log, mtime=0)
        measured["replayed"] = _replayed(made.queue, log, files[DECISIONS], plan.seed, folder)
        tables = module.tables(peer, log)
    if peer.pings:
        measured[SPARSE_FLOW_WAIT] = peer.sparse_flow_wait_s()
    breaches = []
    if bottleneck.backend == "tc":
        measured["longest_gap_s"] = peer.longest_gap_s
        if peer.longest_gap_s > LONGEST_GAP_S:
            breaches.append(
                f"tc's counters, read each second, were not read for {peer.longest_gap_s:.1f} s "
                f"(limit {LONGEST_GAP_S} s): the machine was busy"
            )
    scenario = plan.scenario
    summary = provenance(scenario) | {
        "seed": plan.seed,
        "summary": {"seed": plan.seed, "duration_s": scenario.duration_s, "warmup_s": scenario.warmup_s},
        LIVE: {
            "family": plan.family,
            "backend": bottleneck.backend,
            "qdisc": peer.setting.qdisc.text,
            "traffic": "iperf3",
            "valid": not breaches,
        },
    }
    notes = ["the bottleneck is Linux's own, which reports neither its lateness nor its rate"]
    if bottleneck.in_module:
        notes = ["the bottleneck is a module of the scenario's queue, whose decisions the core repeated bit by bit"]
    return Output(summary=summary, tables=tables), Certificate(measured | dict(peer.system), breaches, notes), files


def _in_machine(plan: LivePlan, bottleneck: Bottleneck) -> tuple[PeerRun, KernelModule | None]:
    """Do a run in the emulated machine; return it, and its module if it has one."""
    from aqmlab.live.vm import backend
    from aqmlab.live.vm.build import find
    from aqmlab.live.vm.kernels import images

    image = find() if bottleneck.kernel is None else images([bottleneck.kernel], option="--kernel", tell=to_stderr)[0]
    if not bottleneck.in_module:
        return backend.run(plan, qdisc=bottleneck.qdisc, image=image), None
    made = backend.compiled(kernel_queue(plan.scenario, link=plan.link), image, tell=to_stderr)
    return backend.run(plan, image=image, module=made), made


def _in_this_kernel(plan: LivePlan, bottleneck: Bottleneck) -> tuple[PeerRun, KernelModule | None]:
    """Do a run on this machine's kernel; return it, and its module if it has one."""
    from aqmlab.live.tc import backend

    if not bottleneck.in_module:
        return backend.run(plan, qdisc=bottleneck.qdisc), None
    queue = kernel_queue(plan.scenario, link=plan.link)
    made = module.compiled(queue, build_folder(queue.module))
    return backend.run(plan, module=made, tell=to_stderr), made


def _replayed(queue: KernelQueue, log: bytes, packed: bytes, seed: int, folder: Path | None) -> dict[str, int]:
    """Replay a module's log and return its counts; where it differs, keep the log and name it in the error."""
    try:
        found = module.replayed(queue, log)
    except InputError as error:
        kept = Path(tempfile.mkdtemp(prefix="aqmlab-decisions-")) if folder is None else folder
        path = kept / f"{seed:04d}-{DECISIONS}"
        path.write_bytes(packed)
        raise InputError(f"{error}; the log of its decisions is in {path}") from None
    return {"decisions": found.decisions, "marks": found.marks, "drops": found.drops}


def refuse_what_cannot_be_loaded(plan: LivePlan) -> None:
    """Raise an error if this machine's kernel cannot have the module of a plan's queue."""
    build_folder(kernel_queue(plan.scenario, link=plan.link).module)


def refuse_what_is_for_the_link(options: Options, stats: object) -> None:
    """Raise an error for an option that only the bottleneck in user space has."""
    asked = {
        "--record": options.record is not None,
        "--stats": bool(stats),
        "--exec-a": options.exec_a is not None,
        "--exec-b": options.exec_b is not None,
    }
    for name, given in asked.items():
        if given:
            raise InputError(f"{name}: is for --backend link")
