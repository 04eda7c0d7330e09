"""Live runs of a scenario: one after the other, each with its certificate, kept as simulated runs are."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.errors import InputError, Interrupted, unknown
from aqmlab.live import kernel_backends
from aqmlab.live.checks import Trouble, preflight
from aqmlab.live.kernel_backends import Bottleneck, refuse_what_is_for_the_link
from aqmlab.live.link_process import LiveError
from aqmlab.live.link_process import link_command as default_command
from aqmlab.live.linux import need_linux
from aqmlab.live.observers import Watching, watching
from aqmlab.live.one_run import perform
from aqmlab.live.options import BACKENDS, Options
from aqmlab.live.plan import FAMILIES, for_family, live_plan
from aqmlab.live.postprocess import finished
from aqmlab.live.state import clean
from aqmlab.results import folders
from aqmlab.results.output import Output
from aqmlab.results.result import Result
from aqmlab.runs.arguments import Seeds, seed_list
from aqmlab.runs.progress import bar_over
from aqmlab.runs.runner import run as simulate
from aqmlab.scenario.file import Overrides, Scenario
from aqmlab.signals import ENDING, interrupt

if TYPE_CHECKING:
    from aqmlab.live.agreement import Agreement

CERTIFICATE = "certificate.json"
IN_USERSPACE = Bottleneck()


@dataclass(frozen=True)
class LiveRuns:
    """Live runs of one scenario.

    Attributes
    ----------
    result
        Their tables, as those of a simulation.
    certificates
        Of each run, by seed.
    troubles
        Conditions that may spoil runs, found before the first.
    simulation
        Simulated runs of the same file; None if not asked for.
    """

    result: Result
    certificates: dict[int, dict[str, Any]]
    troubles: list[Trouble]
    simulation: Result | None = None

    @property
    def valid(self) -> bool:
        """Whether every run is within the limits of its certificate."""
        return all(certificate["valid"] for certificate in self.certificates.values())

    @property
    def agreement(self) -> Agreement | None:
        """How simulation and reality agree; None without a simulation."""
        from aqmlab.live.agreement import Agreement

        return None if self.simulation is None else Agreement.of(self.result, self.simulation)

    def report(self, folder: str | Path, *, pictures: bool = True) -> Path:
        """Write one page: certificates, and simulation against real TCP if both are there."""
        from aqmlab.live.page import page_of

        return page_of(self).write(Path(folder), pictures=pictures)

    @classmethod
    def load(cls, folder: str | Path, *, simulation: str | Path | Result | None = None) -> LiveRuns:
        """Read the live runs of a results folder, and the simulated ones of another."""
        result = Result.load(folder)
        beside = Result.load(simulation) if isinstance(simulation, str | Path) else simulation
        return cls(result, certificates_in(Path(folder), result.seeds), [], beside)


def run(
    scenario: str | Path | Scenario,
    *,
    runs: int | None = None,
    seeds: Seeds = None,
    family: str | None = None,
    overrides: Overrides = (),
    out: str | Path | None = None,
    exec_a: str | None = None,
    exec_b: str | None = None,
    record: str | Path | None = None,
    stats: Sequence[str] = (),
    interval_s: float = 0.1,
    backend: str = "link",
    qdisc: str | None = None,
    kernel_qdisc: bool = False,
    kernel: str | None = None,
    traffic: str = "sockets",
    keep_awake: bool = True,
    with_simulation: bool = False,
    resume: bool = False,
    progress: bool = True,
    link_command: Sequence[str] | None = None,
) -> LiveRuns:
    """Run a scenario with real TCP of this machine's kernel through its discipline in user space.

    Parameters
    ----------
    scenario
        A scenario file, or a scenario already loaded.
    runs, seeds
        A number of runs, or their seeds: starts of flows, sizes, and what disciplines draw. Default: those of the file.
    family
        ``ipv4`` or ``ipv6``; default: that of the file.
    overrides
        Dotted keys and values that override the file's.
    out
        Folder for the results; None keeps them in memory.
    exec_a, exec_b
        Shell commands at the senders' and the receivers' side, with ``{peer}``, ``{local}`` and ``{duration}`` (s).
    record
        A pcap file of all packets that come to the link.
    stats
        Views of the running link, see `aqmlab.live.telemetry.open_views`.
    interval_s
        How often the link reports.
    backend
        ``link``: the bottleneck in user space; ``tc``: Linux's own; ``vm``: in an emulated machine.
    qdisc
        For ``tc`` and ``vm``: words of ``tc`` in place of the scenario's discipline, e.g. ``pfifo limit 100``.
    kernel_qdisc
        For ``tc`` and ``vm``: the scenario's discipline runs inside the kernel, as a module generated from it, and the
        core repeats every decision of it; a difference is an error. With ``tc`` it needs root and the running kernel's
        headers.
    kernel
        For ``vm``: beginning of the release of its kernel, e.g. ``6.12``; default: the image that was built last.
    traffic
        ``sockets``, or ``iperf3``.
    keep_awake
        Keep the processors from sleeping during a run, so that packets are late less: on a virtual machine above all.
    with_simulation
        Also simulate the same seeds of the same file.
    resume
        Keep valid runs that `out` holds already.
    progress
        Show a progress bar if stderr is a terminal and no view draws on it.
    link_command
        Another link process.

    Raises
    ------
    ScenarioError, InputError, LiveError, StorageError, Interrupted
        With one clear line each. Whatever was made for the runs is removed.
    """
    need_linux("live")
    _check_backend(backend)
    bottleneck = Bottleneck(backend, qdisc, kernel_qdisc, kernel)
    bottleneck.check()
    chosen, wanted = _asked(scenario, runs=runs, seeds=seeds, family=family, overrides=overrides)
    options = Options(
        traffic=traffic, exec_a=exec_a, exec_b=exec_b, record=None if record is None else Path(record),
        snapshot_interval_s=interval_s, keep_awake=keep_awake, link_command=tuple(link_command or default_command()),
    )  # fmt: skip
    troubles = _troubles(chosen, wanted[0], options, bottleneck, stats)
    folder = None if out is None else live_folder(Path(out), chosen, bottleneck)
    result, certificates = _measured(
        chosen, wanted, options, bottleneck, folder=folder, resume=resume, stats=stats, progress=progress
    )
    beside = simulate(chosen, seeds=wanted, out=out, progress=progress) if with_simulation else None
    return LiveRuns(result, certificates, troubles, beside)


def _troubles(
    scenario: Scenario, seed: int, options: Options, bottleneck: Bottleneck, stats: Sequence[str]
) -> list[Trouble]:
    """Return warnings about the run; what cannot be run is an error."""
    if bottleneck.backend == "link":
        return checked(scenario, seed, options)
    refuse_what_is_for_the_link(options, stats)
    if bottleneck.backend == "tc" and bottleneck.in_module:
        kernel_backends.refuse_what_cannot_be_loaded(live_plan(scenario, seed=seed))
    return []


def _measured(
    scenario: Scenario, seeds: list[int], options: Options, bottleneck: Bottleneck, *,
    folder: Path | None, resume: bool, stats: Sequence[str], progress: bool,
) -> tuple[Result, dict[int, dict[str, Any]]]:  # fmt: skip
    """Do all runs, with their views open, and return their tables and certificates."""
    made = nullcontext() if folder is None else folders.results_folder(folder, scenario=scenario.normalized)
    with _ended_by_signals(), watching(stats, scenario) as views, made:
        outputs, certificates = _all_runs(
            scenario, seeds, options, bottleneck, folder=folder, resume=resume, views=views, progress=progress
        )
    if folder is None:
        return Result.from_outputs(outputs, scenario_text=scenario.normalized), certificates
    return Result.load(folder, seeds=seeds), certificates_in(folder, seeds)


def _check_backend(backend: str) -> None:
    if backend not in BACKENDS:
        raise InputError(f"--backend: {unknown('backend', backend, list(BACKENDS))}")


def _asked(
    scenario: str | Path | Scenario, *, runs: int | None, seeds: Seeds, family: str | None, overrides: Overrides
) -> tuple[Scenario, list[int]]:
    """Return the scenario for the address family, and the seeds."""
    if family is not None and family not in FAMILIES:
        raise InputError(f"--family: {unknown('family', family, list(FAMILIES))}")
    if runs is not None and seeds is not None:
        raise InputError("--runs and --seeds: both set the number of runs; give one of them")
    chosen = for_family(scenario, family, overrides=overrides)
    return chosen, seed_list(runs if runs is not None else seeds, chosen)


def live_folder(out: Path, scenario: Scenario, bottleneck: Bottleneck = IN_USERSPACE) -> Path:
    """Return the folder of a scenario's live runs, beside that of its simulations; each qdisc has its own.

    >>> live_folder(Path("out"), Scenario.load("paper:mred/live.toml"), Bottleneck("tc", "pfifo limit 100")).name
    'mred-live-...-live-tc-pfifo-limit-100'
    """
    return out / f"{scenario.label}-{bottleneck.name}"


def certificates_in(folder: Path, seeds: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Read the certificates of runs."""
    return {seed: folders.read_json(folders.seed_folder(folder, seed) / CERTIFICATE) for seed in seeds}


def checked(scenario: Scenario, seed: int, options: Options) -> list[Trouble]:
    """Return what would spoil runs; what forbids them is raised, in one line."""
    found = preflight(live_plan(scenario, seed=seed), traffic=options.traffic)
    forbidding = [trouble.text for trouble in found if trouble.forbids]
    if forbidding:
        raise LiveError(f"no live run is possible here: {'; '.join(forbidding)}")
    return found


def is_done(folder: Path, scenario: Scenario) -> bool:
    """Whether this run is on disk, of this scenario and version, and valid."""
    if not folders.is_finished(folder, scenario_hash=scenario.hash, version=_core.version()):
        return False
    return bool(folders.read_json(folder / CERTIFICATE).get("valid"))


def _all_runs(
    scenario: Scenario,
    seeds: list[int],
    options: Options,
    bottleneck: Bottleneck,
    *,
    folder: Path | None,
    resume: bool,
    views: Watching,
    progress: bool,
) -> tuple[list[Output], dict[int, dict[str, Any]]]:
    """Do the runs; with a folder each is on disk as soon as it is finished."""
    if resume and folder is not None:
        seeds = [seed for seed in seeds if not is_done(folders.seed_folder(folder, seed), scenario)]
    outputs, certificates = [], {}
    clean()
    shown = progress and not views.takes_terminal
    with bar_over(f"{scenario.name} live", [scenario.duration_s] * len(seeds), shown=shown) as bar:
        for place, seed in enumerate(seeds):
            plan = live_plan(scenario, seed=seed)
            files: dict[str, bytes] = {}
            if bottleneck.backend == "link":
                raw = perform(
                    plan,
                    options,
                    show=views.show,
                    progress=partial(bar.report, place),
                    record=_record(options, seed, several=len(seeds) > 1),
                )
                output, certificate = finished(plan, raw, options)
                files = {f"{name}.txt": words for name, words in raw.outputs.items()}
            else:
                output, certificate, files = kernel_backends.perform(plan, bottleneck, folder=folder)
            bar.done(place)
            outputs.append(output)
            certificates[seed] = certificate.data()
            if folder is not None:
                files |= {CERTIFICATE: folders.to_json(certificate.data()).encode()}
                folders.write_seed(folders.seed_folder(folder, seed), output.summary, output.tables, files=files)
                folders.log(folder, f"live run of seed {seed}: {certificate.line()}")
    return outputs, certificates


def _record(options: Options, seed: int, *, several: bool) -> Path | None:
    """Return the file that a run's packets go into."""
    if options.record is None or not several:
        return options.record
    return options.record.with_stem(f"{options.record.stem}-{seed:04d}")


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End as by Ctrl-C when asked to terminate, so that everything is removed."""
    ours = ENDING if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.signal(number, interrupt) for number in ours}
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted("interrupted; everything that the run had made is removed, finished runs are kept") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
