"""Live runs over Linux's own queue disciplines: on this machine's kernel, or on an emulated one in virtual time."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from aqmlab.errors import InputError
from aqmlab.interop.tc.queues import own_words
from aqmlab.live.certificate import Certificate
from aqmlab.live.options import Options
from aqmlab.live.plan import LivePlan
from aqmlab.live.postprocess import LIVE, provenance
from aqmlab.results.output import Output

HOMES = {"tc": "aqmlab.live.tc.backend", "vm": "aqmlab.live.vm.backend"}


def perform(plan: LivePlan, backend: str, *, qdisc: str | None = None) -> tuple[Output, Certificate]:
    """Do one run over Linux's own discipline, or that in the words of `qdisc`; make of it what a store holds."""
    work: Callable[..., Any] = importlib.import_module(HOMES[backend]).run
    peer = work(plan, qdisc=qdisc)
    scenario = plan.scenario
    summary = provenance(scenario) | {
        "seed": plan.seed,
        "summary": {"seed": plan.seed, "duration_s": scenario.duration_s, "warmup_s": scenario.warmup_s},
        LIVE: {
            "family": plan.family,
            "backend": backend,
            "qdisc": peer.setting.qdisc.text,
            "traffic": "iperf3",
            "valid": True,
        },
    }
    note = "the bottleneck is Linux's own, which reports neither its lateness nor its rate"
    return Output(summary=summary, tables=peer.tables), Certificate(dict(peer.system), [], [note])


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


def check_qdisc(words: str | None, backend: str) -> None:
    """Raise an error for a discipline that is not in tc's syntax, before anything is made."""
    if words is None:
        return
    if backend not in HOMES:
        raise InputError(f"--qdisc: is for --backend {' or '.join(HOMES)}")
    own_words(words)
