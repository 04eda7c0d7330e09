"""The command that runs real traffic: live."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.cli.application import Assert, Json, Junit, Markdown, Out, SeedsOption, Set, command
from aqmlab.cli.assertions import Assertions
from aqmlab.cli.output import WIDTH, lines_of, print_json, print_screen, print_table, print_wrapped, say, warn
from aqmlab.cli.runs import show_run
from aqmlab.cli.values import parse_overrides, parse_seeds
from aqmlab.errors import InputError, counted, one_line, to_stderr
from aqmlab.live.linux import need_linux
from aqmlab.runs.progress import phase

if TYPE_CHECKING:
    from aqmlab.live import LiveRuns
    from aqmlab.live.agreement import Agreement
    from aqmlab.results.result import Result


File = Annotated[Path | None, typer.Argument(help="Scenario file (TOML).", metavar="FILE.toml")]
Runs = Annotated[int | None, typer.Option("--runs", help="Runs, seeds 1 to N.", min=1, metavar="N")]
Family = Annotated[str | None, typer.Option("--family", help="ipv4 or ipv6; default: the file's.", metavar="NAME")]
LiveLink = Annotated[
    str | None, typer.Option("--link", help="The bottleneck; default: the only link with AQM.", metavar="NAME")
]
ExecA = Annotated[
    str | None,
    typer.Option("--exec-a", help="Shell command of senders; {peer}: receivers.", metavar="CMD"),
]
ExecB = Annotated[
    str | None, typer.Option("--exec-b", help="Shell command of receivers; {peer}: senders.", metavar="CMD")
]
Record = Annotated[
    Path | None, typer.Option("--record", help="Record all packets that come to the link.", metavar="FILE.pcap")
]
Stats = Annotated[
    list[str] | None,
    typer.Option("--stats", help="terminal, tc, jsonl[=FILE], prometheus[=PORT].", metavar="VIEW"),
]
Interval = Annotated[float, typer.Option("--interval", help="Time between reports, in s.", metavar="S")]
Backend = Annotated[
    str,
    typer.Option("--backend", help="link: in user space; tc: Linux's own; vm: an emulated machine.", metavar="NAME"),
]
Qdisc = Annotated[
    str | None,
    typer.Option("--qdisc", help='With tc, vm: words of tc, as "pfifo limit 100".', metavar="WORDS"),
]
KernelQdisc = Annotated[bool, typer.Option("--kernel-qdisc", help="With tc, vm: the queue as a module, replayed.")]
Kernel = Annotated[
    str | None, typer.Option("--kernel", help="With vm: the version of its kernel, as 6.12.", metavar="VERSION")
]
BuildVm = Annotated[bool, typer.Option("--build-vm", help="With vm: build its image if there is none.")]
Traffic = Annotated[str, typer.Option("--traffic", help="TCP of sockets or of iperf3.", metavar="NAME")]
KeepAwake = Annotated[
    bool,
    typer.Option("--keep-awake/--let-sleep", help="Keep processors awake."),
]
WithSimulation = Annotated[bool, typer.Option("--with-simulation", help="Also simulate the file, and compare.")]
Report = Annotated[Path | None, typer.Option("--report", help="Write a page with all figures.", metavar="DIR")]
Resume = Annotated[bool, typer.Option("--resume", help="Keep valid runs that are there already.")]
Details = Annotated[bool, typer.Option("--details", help="Also print all quantities.")]
Clean = Annotated[bool, typer.Option("--clean", help="Remove what killed runs have left, and exit.")]


@command("sudo aqmlab live my.toml --runs 3 --stats terminal", long=True)
def live(
    file: File = None,
    runs: Runs = None,
    seeds: SeedsOption = None,
    family: Family = None,
    set_: Set = None,
    link: LiveLink = None,
    out: Out = Path("results"),
    exec_a: ExecA = None,
    exec_b: ExecB = None,
    record: Record = None,
    stats: Stats = None,
    interval: Interval = 0.1,
    backend: Backend = "link",
    qdisc: Qdisc = None,
    kernel_qdisc: KernelQdisc = False,
    kernel: Kernel = None,
    build_vm: BuildVm = False,
    traffic: Traffic = "sockets",
    keep_awake: KeepAwake = True,
    with_simulation: WithSimulation = False,
    report: Report = None,
    resume: Resume = False,
    clean: Clean = False,
    details: Details = False,
    assert_: Assert = None,
    junit: Junit = None,
    markdown: Markdown = None,
    as_json: Json = False,
) -> None:
    """Run this machine's real TCP through a scenario's queue discipline. Python: aqmlab.live.run.

    Two network namespaces are made, with the scenario's bottleneck between them in user space; the traffic of the
    scenario starts there, and so does any command. All is removed at the end. Needs root, or user namespaces with TUN.
    """
    need_linux("live")
    from aqmlab.live import rootless
    from aqmlab.live.running import run

    if clean:
        _clean(as_json=as_json)
        return
    if build_vm:
        _build_vm(backend, kernel)
        if file is None:
            return
    if file is None:
        raise InputError("live: FILE.toml is missing (or --clean, or --build-vm)")
    assertions = Assertions.read(assert_, junit, markdown)
    if backend == "link" and not rootless.is_privileged():
        rootless.again(sys.argv[1:])
    if rootless.is_real_root():
        _warn_of_commands(file, set_)
    found = run(
        file,
        runs=runs,
        seeds=parse_seeds(seeds),
        family=family,
        overrides=_overrides(set_, link),
        out=out,
        exec_a=exec_a,
        exec_b=exec_b,
        record=record,
        stats=stats or (),
        interval_s=interval,
        backend=backend,
        qdisc=qdisc,
        kernel_qdisc=kernel_qdisc,
        kernel=kernel,
        traffic=traffic,
        keep_awake=keep_awake,
        with_simulation=with_simulation,
        resume=resume,
    )
    page = None
    if report is not None:
        with phase("page", shown=True):
            page = found.report(report)
    for trouble in found.troubles:
        warn(trouble.text)
    verdicts = assertions.judge(found.result, doubt="" if found.valid else "a run has no valid certificate")
    if as_json:
        print_json(_data(found, page) | verdicts.data())
    else:
        _print(found, page, details=details)
        verdicts.show()
    verdicts.conclude()


def _overrides(set_: list[str] | None, link: str | None) -> tuple[tuple[str, str], ...]:
    """Return the overrides of ``--set`` and ``--link``."""
    return (*parse_overrides(set_), *(() if link is None else (("live.link", link),)))


def _clean(*, as_json: bool) -> None:
    """Remove what killed runs have left, and print it."""
    from aqmlab.live import state

    removed = state.clean()
    if as_json:
        print_json({"removed": removed})
    else:
        say(f"Removed: {', '.join(removed) or 'nothing was left'}")


def _build_vm(backend: str, kernel: str | None) -> None:
    """Build the image of the emulated machine with this kernel if it is missing; progress goes to stderr."""
    from aqmlab.live.vm.build import find_or_build
    from aqmlab.live.vm.kernels import images

    if backend != "vm":
        raise InputError("--build-vm: is for --backend vm")
    image = find_or_build(tell=to_stderr) if kernel is None else images([kernel], option="--kernel", tell=to_stderr)[0]
    to_stderr(f"image {image.folder}")


def _warn_of_commands(file: Path, overrides: list[str] | None) -> None:
    """Print the commands of the scenario file that run as root: the user may not have read a file from elsewhere."""
    from aqmlab.scenario.file import Scenario

    plan = Scenario.load(file, overrides=parse_overrides(overrides))
    for flow in plan.tables.get("flow", []):
        for key in ("exec", "exec_server"):
            if key in flow:
                line = f"aqmlab: warning: {file}: flow.{flow.get('name')}.{key} runs as root: {flow[key]}"
                print(one_line(line), file=sys.stderr)


def _data(found: LiveRuns, page: Path | None) -> dict[str, Any]:
    result, agreement = found.result, found.agreement
    return {
        "scenario": {"name": result.name, "hash": result.hash},
        "seeds": result.seeds,
        "link": result.bottleneck,
        "folder": str(result.folder),
        "valid": found.valid,
        "certificates": {str(seed): one for seed, one in found.certificates.items()},
        "troubles": [trouble.text for trouble in found.troubles],
        "metrics": result.summary().to_dict("records"),
        "agreement": None if agreement is None else agreement.table().to_dict("records"),
        "report": None if page is None else str(page),
    }


def _print(found: LiveRuns, page: Path | None, *, details: bool) -> None:
    """Print the answer, one table and the certificates; with details all tables, and a line for each certificate."""
    result, agreement = found.result, found.agreement
    if agreement is None or not agreement.judged:
        show_run(result, details=details, runs="run")
    elif details:
        print_wrapped(agreement.answer())
        print()
        show_run(result, details=True, runs="run")
        print_table(agreement.text(judged=False), title="Simulation - live, relative to the live mean")
    else:
        _show_agreement(result, agreement)
    for line in _certificates(found.certificates, details=details):
        print_wrapped(line)
    say(f"Results: {result.folder}")
    if page is not None:
        say(f"Report: {page}")


def _show_agreement(result: Result, agreement: Agreement) -> None:
    """Print the verdict on simulation and real TCP, and the judged quantities."""
    from aqmlab.results.summary import level_words

    n = len(result.seeds)
    runs = f"{counted(n, 'run')}, {level_words(n, result.level, distinct=result.distinct_runs)}"
    print_screen(
        agreement.answer(),
        f"{result.name}: simulation - live, {runs}; in brackets: the allowed difference",
        lines_of(agreement.short_text(), width=WIDTH),
        "--details prints all quantities, and a line for each certificate.",
    )


def _certificates(certificates: Mapping[int, Mapping[str, Any]], *, details: bool) -> list[str]:
    """Return a line for each run with its certificate; without details valid runs share one.

    >>> valid, late = {"valid": True, "breaches": []}, {"lateness_us": {"p99": 63}}
    >>> _certificates({1: valid | {"measured": late}, 2: valid | {"measured": {}}}, details=False)
    ['All 2 runs have valid certificates: lateness p99 63 us.']
    >>> _certificates({3: {"valid": False, "breaches": ["late"], "measured": late}}, details=False)
    ['Run 3: INVALID, lateness p99 63 us; late']
    >>> _certificates({1: valid | {"measured": {"replayed": {"decisions": 7368}}}}, details=False)
    ["The run has a valid certificate; 7,368 decisions of the kernel equal bit by bit to the core's."]
    """
    valid = [one for one in certificates.values() if one["valid"]]
    lines = [
        f"Run {seed}: {'valid' if one['valid'] else 'INVALID'}{''.join(_measured([one]))}"
        f"{''.join(f'; {breach}' for breach in one['breaches'])}"
        for seed, one in certificates.items()
        if details or not one["valid"]
    ]
    if details or not valid:
        return lines
    share = f"All {len(valid)} runs have" if not lines else f"{len(valid)} of {len(certificates)} runs have"
    if len(certificates) == 1:
        share = "The run has"
    noun = "a valid certificate" if len(valid) == 1 else "valid certificates"
    words = "".join(_measured(valid))
    return [*lines, f"{share} {noun}{':' if words.startswith(',') else ''}{words.removeprefix(',')}."]


def _measured(certificates: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the measurements of certificates as phrases: the largest lateness, and of a kernel its decisions."""
    from aqmlab.live.kernel_backends import SPARSE_FLOW_WAIT

    measured = [one["measured"] for one in certificates]
    late = [one["p99"] for own in measured if (one := own.get("lateness_us")) and one.get("p99") is not None]
    decisions = [own["replayed"]["decisions"] for own in measured if own.get("replayed") is not None]
    waits = [own[SPARSE_FLOW_WAIT] for own in measured if own.get(SPARSE_FLOW_WAIT) is not None]
    words = []
    if late:
        words.append(f", lateness p99 {'at most ' if len(late) > 1 else ''}{max(late):.0f} us")
    if decisions:
        words.append(f"; {counted(sum(decisions), 'decision')} of the kernel equal bit by bit to the core's")
    if waits:
        most = "at most " if len(waits) > 1 else ""
        words.append(f"; pings, a sparse flow, waited {most}{max(waits) * 1e3:.3g} ms")
    return words
