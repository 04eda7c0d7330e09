"""Live runs over queue disciplines in Linux: on this machine's kernel, or on an emulated one in virtual time."""

from __future__ import annotations

import gzip
import importlib
import sys
from dataclasses import dataclass
from typing import Any

from aqmlab.errors import InputError, printable
from aqmlab.interop.kernel.export import kernel_queue
from aqmlab.interop.tc.queues import own_words
from aqmlab.live.certificate import Certificate
from aqmlab.live.options import Options
from aqmlab.live.plan import LivePlan
from aqmlab.live.postprocess import LIVE, provenance
from aqmlab.live.tc.outcome import PeerRun
from aqmlab.results.output import Output

HOMES = {"tc": "aqmlab.live.tc.backend", "vm": "aqmlab.live.vm.backend"}
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
        for option, given in {"--kernel-qdisc": self.in_module, "--kernel": self.kernel is not None}.items():
            if given and self.backend != "vm":
                raise InputError(f"{option}: is for --backend vm")
        if self.qdisc is None:
            return
        if self.backend not in HOMES:
            raise InputError(f"--qdisc: is for --backend {' or '.join(HOMES)}")
        own_words(self.qdisc)


def perform(plan: LivePlan, bottleneck: Bottleneck) -> tuple[Output, Certificate, dict[str, bytes]]:
    """Do one run over a discipline in Linux; return what a store holds of it, with further files by name."""
    measured: dict[str, Any] = {}
    files: dict[str, bytes] = {}
    if bottleneck.backend == "vm":
        peer, tables, replayed = _in_machine(plan, bottleneck)
        if replayed is not None:
            measured["replayed"] = replayed[0]
            files[DECISIONS] = replayed[1]
    else:
        peer = importlib.import_module(HOMES[bottleneck.backend]).run(plan, qdisc=bottleneck.qdisc)
        tables = peer.tables
    scenario = plan.scenario
    summary = provenance(scenario) | {
        "seed": plan.seed,
        "summary": {"seed": plan.seed, "duration_s": scenario.duration_s, "warmup_s": scenario.warmup_s},
        LIVE: {
            "family": plan.family,
            "backend": bottleneck.backend,
            "qdisc": peer.setting.qdisc.text,
            "traffic": "iperf3",
            "valid": True,
        },
    }
    notes = ["the bottleneck is Linux's own, which reports neither its lateness nor its rate"]
    if bottleneck.in_module:
        notes = ["the bottleneck is a module of the scenario's queue, whose decisions the core repeated bit by bit"]
    return Output(summary=summary, tables=tables), Certificate(measured | dict(peer.system), [], notes), files


def _in_machine(
    plan: LivePlan, bottleneck: Bottleneck
) -> tuple[PeerRun, dict[str, Any], tuple[dict[str, int], bytes] | None]:
    """Do a run in the emulated machine; return it, its tables, and of a module what was replayed and its log."""
    from aqmlab.live.vm import backend, module
    from aqmlab.live.vm.build import find
    from aqmlab.live.vm.kernels import images

    image = find() if bottleneck.kernel is None else images([bottleneck.kernel], option="--kernel", tell=_tell)[0]
    if not bottleneck.in_module:
        peer = backend.run(plan, qdisc=bottleneck.qdisc, image=image)
        return peer, peer.tables, None
    made = module.compiled(kernel_queue(plan.scenario, link=plan.link), image, tell=_tell)
    peer = backend.run(plan, image=image, module=made)
    log = module.log_of(peer)
    found = module.replayed(made.queue, log)
    counted = {"decisions": found.decisions, "marks": found.marks, "drops": found.drops}
    return peer, module.tables(peer, log), (counted, gzip.compress(log, mtime=0))


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


def _tell(line: str) -> None:
    """Report what is fetched on stderr."""
    print(printable(f"aqmlab: {line}"), file=sys.stderr)
