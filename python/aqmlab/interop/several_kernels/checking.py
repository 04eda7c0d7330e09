"""Linux's own queue disciplines in several kernels: the same scenario in each, in virtual time, and what changed.

Every run is a fresh guest of the emulated machine with one of Debian's kernels; programs and their versions are the
same in all. A run of a seed is the same to the byte whenever it is repeated. Kernels are compared with the first that
is named, seed by seed (Student's interval of the paired differences), by the margins of
`aqmlab.interop.crosscheck.agreement`; the discipline's settings, as tc reports them, are compared as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError, counted, to_stderr
from aqmlab.interop.crosscheck.running import answer_all, measured_of, plain_measured
from aqmlab.interop.several_kernels.outcome import KernelCheck, KernelRun
from aqmlab.interop.several_kernels.page import page_of
from aqmlab.interop.tc.queues import own_words, qdisc_of
from aqmlab.interop.tc.tool import measured_in
from aqmlab.live.plan import live_plan
from aqmlab.live.tc.job import script
from aqmlab.live.tc.outcome import PeerRun
from aqmlab.live.tc.setting import setting_of
from aqmlab.live.vm.backend import MOST_BPS
from aqmlab.live.vm.backend import run as run_vm
from aqmlab.live.vm.build import Image
from aqmlab.live.vm.kernels import images, parse_kernels
from aqmlab.live.vm.machine import PROCESSOR, version
from aqmlab.results.keys import RunKey, question
from aqmlab.runs.arguments import Seeds, as_scenario, seed_list
from aqmlab.runs.store.index import store_root
from aqmlab.runs.store.store import ResultStore
from aqmlab.scenario.file import Overrides, Scenario

SEEDS = 3
"""Runs of each discipline in each kernel unless others are asked for."""
QDISCS = ("codel", "fq_codel", "pie", "cake")
"""Disciplines that are run with the kernel's defaults beside the scenario's own."""
ALWAYS = ("pfifo", "bfifo")
"""Disciplines that are part of every kernel."""
REDUCER = "kernels"
FOLDER = "crosscheck/kernels"


def cross_check_kernels(
    scenario: str | Path | Scenario,
    *,
    kernels: str | Iterable[str],
    qdiscs: Sequence[str] = (),
    seeds: Seeds = None,
    overrides: Overrides = (),
    margin: float = 1.0,
    workers: int | None = None,
    out: str | Path = "results",
    report: str | Path | None = None,
    progress: bool = True,
    cache: Path | None = None,
) -> KernelCheck:
    """Run Linux's own disciplines in several kernels in virtual time, and compare the kernels.

    Parameters
    ----------
    scenario
        A scenario file, or a scenario already loaded.
    kernels
        Beginnings of releases, e.g. ``6.1,6.12``; the newest of each that is in the cache, else that apt serves. The
        others are compared with the first.
    qdiscs
        Disciplines in tc's words; default: the scenario's own, and `QDISCS` with the kernel's defaults.
    seeds
        A number n for the seeds 1 to n, or the seeds themselves; default: 3.
    overrides
        Dotted keys and values that override the file's.
    margin
        Factor of the margins of equality.
    workers
        Runs at a time; default: one per processor core.
    out
        Folder for the results. Runs that are there already are not made again.
    report
        Folder for the page ``report.html``; None makes none.
    progress
        Show progress if stderr is a terminal.
    cache
        Folder of the images; default: the user's cache.

    Raises
    ------
    ScenarioError, InputError, StorageError, Interrupted
        With a message of one line.
    """
    if not margin > 0:
        raise InputError(f"margin: {margin:g} is not a factor above 0")
    words = parse_kernels(kernels)
    plan = as_scenario(scenario, overrides=overrides)
    wanted = seed_list(SEEDS if seeds is None else seeds, plan)
    chosen, notes = choose_qdiscs(plan, qdiscs)
    emulator = version()
    found = images(words, cache, tell=to_stderr)
    lacking = {(image.release, qdisc) for image in found for qdisc in chosen if not _has(image, qdisc)}
    notes += [f"{release} has no {qdisc.partition(' ')[0]}" for release, qdisc in sorted(lacking)]
    here = {image.release: image for image in found}
    keys = {
        (release, qdisc, seed): _key(plan, chosen[qdisc], seed, image, emulator)
        for qdisc in chosen
        for release, image in here.items()
        for seed in wanted
        if (release, qdisc) not in lacking
    }

    def work(one: tuple[str, str, int]) -> dict[str, Any]:
        release, qdisc, seed = one
        try:
            plan_of_seed = live_plan(plan, seed=seed)
            return answer_of(run_vm(plan_of_seed, qdisc=chosen[qdisc], image=here[release]))
        except InputError as error:
            raise InputError(f"{release}, {qdisc}, seed {seed}: {error}") from None

    answers = ResultStore(store_root(Path(out) / plan.label / FOLDER), create=True)
    title = f"{plan.name}, {counted(len(found), 'kernel')}"
    answer_all(keys, work, answers, title=title, runs="runs of kernels", workers=workers, progress=progress)
    runs = {one: run_of(answers.get(key)) for one, key in keys.items()}
    checked = KernelCheck(plan, wanted, margin, tuple(found), tuple(chosen), runs, emulator, tuple(notes))
    if report is not None:
        page_of(checked).write(Path(report), pictures=False)
    return checked


def choose_qdiscs(plan: Scenario, words: Sequence[str]) -> tuple[dict[str, str | None], list[str]]:
    """Return the disciplines to run, in tc's words, and notes on omissions.

    The scenario's own discipline has None in place of words; the others of its kind are left out.

    Raises
    ------
    InputError
        If the scenario cannot be run over Linux, or words are not tc's.
    """
    live = live_plan(plan, seed=1)
    if live.rate_bps > MOST_BPS:
        raise InputError(
            f"{plan.filename}: link {live.link} has {live.rate_bps / 1e6:g} Mbit/s; above {MOST_BPS / 1e6:g} Mbit/s "
            "the emulated processor is the bottleneck, and not the link"
        )
    setting_of(live, qdisc="pfifo limit 1")
    if words:
        return {own_words(one).text: one for one in words}, []
    try:
        own = qdisc_of(plan, plan.link(live.link))
    except InputError as error:
        return {name: name for name in QDISCS}, [f"the scenario's own discipline is not run: {error}"]
    others = {name: name for name in QDISCS if name != own.kind}
    return {own.text: None, **others}, []


def answer_of(run: PeerRun) -> dict[str, Any]:
    """Return the data to keep of a run."""
    known = dict(run.discipline)
    return {
        "measured": plain_measured(measured_in(run)),
        "digest": run.digest,
        "options": known.pop("options", {}),
        "statistics": [name for name in known if name not in ("kind", "handle", "parent")],
    }


def run_of(answer: Mapping[str, Any]) -> KernelRun:
    """Return a run from the kept data."""
    measured = measured_of(answer["measured"])
    return KernelRun(measured, answer["digest"], answer["options"], tuple(answer["statistics"]))


def _key(plan: Scenario, words: str | None, seed: int, image: Image, emulator: str) -> RunKey:
    """Return the key of a run: the scenario, the guest's whole script, its image and the emulator."""
    text = script(setting_of(live_plan(plan, seed=seed), qdisc=words))
    asked = question({"scenario": plan.run_hash, "script": text})
    return RunKey(f"QEMU {emulator}, {PROCESSOR}, {image.folder.name}", asked, seed, REDUCER)


def _has(image: Image, qdisc: str) -> bool:
    kind = qdisc.partition(" ")[0]
    return kind in ALWAYS or image.has(f"sch_{kind}")
