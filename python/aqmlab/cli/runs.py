"""Commands that simulate: run, compare, report."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.cli.application import (
    Assert,
    Engine,
    File,
    Json,
    Junit,
    Markdown,
    MaxRuns,
    Out,
    SeedsOption,
    Set,
    UntilOption,
    Workers,
    command,
)
from aqmlab.cli.assertions import Assertions
from aqmlab.cli.output import (
    MOST_LINES,
    evaluation_data,
    print_evaluation,
    print_json,
    print_screen,
    print_stopping,
    print_table,
    print_wrapped,
    say,
    stopping_data,
    warn,
)
from aqmlab.cli.tuned import Over, Report, SearchSeed, Trials, TrialSeeds, Tuned, Vary, check_without, compare_tuned
from aqmlab.cli.values import parse_names, parse_overrides, parse_seeds, parse_settings, parse_until
from aqmlab.errors import InputError, counted, joined
from aqmlab.results.outputs import check_ending, save_output

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.result import Result
    from aqmlab.results.warmup_check import Settling
    from aqmlab.runs.comparison import Comparison

STDOUT = "-"
"""A file's name that stands for stdout."""


@command(
    "aqmlab run example:dumbbell-red --seeds 10",
    "aqmlab run my.toml --set queue.bottleneck.max_th=45p --until 'ci(goodput)=1%'",
    long=True,
)
def run(
    file: File,
    seeds: SeedsOption = None,
    set_: Set = None,
    out: Out = Path("results"),
    workers: Workers = None,
    engine: Engine = "auto",
    until: UntilOption = None,
    max_runs: MaxRuns = None,
    details: Annotated[
        bool, typer.Option("--details", help="Also print all quantities, and the tins of CAKE as tc -s prints them.")
    ] = False,
    assert_: Assert = None,
    junit: Junit = None,
    markdown: Markdown = None,
    as_json: Json = False,
) -> None:
    """Run a scenario over its seeds: a table with intervals, and files. Python: aqmlab.run."""
    from aqmlab.results.inactive import inactive
    from aqmlab.results.warmup_check import settling
    from aqmlab.runs.runner import run as work

    assertions = Assertions.read(assert_, junit, markdown)
    result = work(
        file,
        seeds=parse_seeds(seeds),
        overrides=parse_overrides(set_),
        workers=workers,
        out=out,
        engine=engine,
        **parse_until(until, max_runs),
    )
    settled, without_effect = settling(result), inactive(result)
    verdicts = assertions.judge(result)
    for line in result.warnings:
        warn(line)
    if as_json:
        data = {
            "scenario": {"name": result.name, "hash": result.hash},
            "seeds": result.seeds,
            "link": result.bottleneck,
            "folder": str(result.folder),
            "warnings": result.warnings,
            "metrics": result.summary().to_dict("records"),
            "warm_up": None if settled is None else settled.data(),
            "inactive": without_effect,
            "stopping": stopping_data(result.stopping),
            "evaluation": evaluation_data(result.evaluation),
        }
        print_json(data | verdicts.data())
        verdicts.conclude()
        return
    show_run(result, [*without_effect, *(settled.lines() if settled is not None else ())], details=details)
    if details:
        _show_tins(result)
    print_stopping(result.stopping)
    print_evaluation(result.evaluation, details=details)
    say(f"Results: {result.folder}")
    verdicts.show()
    verdicts.conclude()


def show_run(result: Result, notes: Sequence[str] = (), *, details: bool, runs: str = "seed") -> None:
    """Print the answer, the matrix, the transports and notes; with details all quantities too.

    Parameters
    ----------
    result
        The runs.
    notes
        Further sentences.
    details
        Whether to print all quantities.
    runs
        What is counted: seeds, or live runs.
    """
    import pandas as pd

    from aqmlab.results.summary import level_words
    from aqmlab.runs.comparison_matrix import left_out, legend, lines_of, matrix_of, reading
    from aqmlab.runs.comparison_tables import means_table

    n = len(result.seeds)
    aqm = next(iter(result.links["aqm"][result.links["link"] == result.bottleneck]))
    whole = matrix_of(means_table({aqm: result}, result.bottleneck, level=result.level), pd.DataFrame())
    matrix = whole if details else whole.short
    words = f"{counted(n, runs)}, {level_words(n, result.level, distinct=result.distinct_runs)}"
    most = None if details else MOST_LINES
    hint = "" if details else f" --details prints all quantities{_left_out(left_out(matrix, most=MOST_LINES))}."
    print_screen(
        f"{aqm} at link {result.bottleneck}: {reading(whole)}.",
        f"{result.name}: means at link {result.bottleneck}, {words}",
        lines_of(matrix, most=most),
        (legend(matrix, level=result.level, tests=0) + hint).strip(),
    )
    if details:
        shown, method, others = _without_method(result.summary(), n)
        print_table(shown, title=f"{result.name}: {words}{f' ({method})' if method else ''}")
        print_wrapped(others)
    for line in (_transports_of(list(result.flows["transport"].drop_duplicates())), *notes):
        print_wrapped(line)


def _left_out(keys: Sequence[str]) -> str:
    """Return how many quantities of groups of flows are left out, for a hint; "" if none.

    >>> _left_out(["jain.web"]), _left_out([])
    (', 1 of them of a group of flows', '')
    """
    return f", {len(keys)} of them of {'a group' if len(keys) == 1 else 'groups'} of flows" if keys else ""


def _show_tins(result: Result) -> None:
    """Print the tins of each link with CAKE."""
    from aqmlab.results.tins import tins_of

    n = len(result.seeds)
    for link, table in tins_of(result):
        title = f"Tins of {link} after the warm-up{f', means of {n} seeds' if n > 1 else ''}"
        print_table(table, title=title, to_right=True)


def _without_method(summary: pd.DataFrame, n: int) -> tuple[pd.DataFrame, str, str]:
    """Return the table without ``method``, the method of most intervals ("": none), and a line on the others.

    ``n`` is left out too where all rows have the same.
    """
    found = summary[summary["method"] != "none"]
    methods = found["method"].value_counts(sort=True)
    most = str(methods.index[0]) if len(methods) else ""
    others = [f"{method}: {', '.join(found['metric'][found['method'] == method])}" for method in methods.index[1:]]
    line = f"Other methods of intervals: {'; '.join(others)}." if others else ""
    columns = ["method", *(["n"] if (summary["n"] == n).all() else [])]
    return summary.drop(columns=columns), most, line


def _transports_of(names: Sequence[str]) -> str:
    """Say how flows send, with the profile of TCP and the source of the congestion control, from the table of flows.

    >>> _transports_of(["newreno", "tcp-bbr", "udp"])
    'Transport: newreno (profile ns2-2.35), tcp-bbr (profile rfc, BBRv3, draft-ietf-ccwg-bbr-06), udp.'
    """
    from aqmlab.scenario.registry import controllers, transports

    known, sources = transports(), {f"tcp-{one.name}": one.source for one in controllers().values()}
    words = []
    for name in names:
        profile = known["tcp" if name.startswith("tcp-") else name].profile
        more = f", {sources[name]}" if name in sources else ""
        words.append(f"{name} (profile {profile}{more})" if profile else name)
    return f"Transport: {', '.join(words)}."


@command(
    "aqmlab compare example:dumbbell-red --aqm red,codel,fq-codel --seeds 10",
    "aqmlab compare my.toml --aqm red,mred --tuned 'min loss while mean_queue<=30'",
    long=True,
)
def compare(
    file: File,
    aqm: Annotated[
        str, typer.Option("--aqm", help="Disciplines; the others are compared with the first.", metavar="A,B,...")
    ] = "",
    with_: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            help="Settings of a discipline under a label: \"red-tight={ aqm = 'red', max_th = '20p' }\". "
            "May be given often.",
            metavar="LABEL=TABLE",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", help="Compare with this one of --aqm or --with.", metavar="NAME"),
    ] = None,
    tuned: Tuned = None,
    over: Over = None,
    vary: Vary = None,
    trials: Trials = None,
    trial_seeds: TrialSeeds = None,
    search_seed: SearchSeed = None,
    report: Report = None,
    queue: Annotated[
        str | None,
        typer.Option(
            "--queue",
            help="Queues whose discipline is exchanged, with commas; default: bottleneck, or those of down and up.",
            metavar="A,B,...",
        ),
    ] = None,
    seeds: SeedsOption = None,
    set_: Set = None,
    out: Out = Path("results"),
    workers: Workers = None,
    engine: Engine = "auto",
    until: UntilOption = None,
    max_runs: MaxRuns = None,
    details: Annotated[
        bool, typer.Option("--details", help="Also print the tables of means and differences, and what was left out.")
    ] = False,
    latex: Annotated[
        str | None,
        typer.Option("--latex", help="The table for LaTeX (booktabs); - prints it.", metavar="FILE"),
    ] = None,
    csv: Annotated[
        str | None,
        typer.Option("--csv", help="Means and differences as CSV; - prints them.", metavar="FILE"),
    ] = None,
    assert_: Assert = None,
    junit: Junit = None,
    markdown: Markdown = None,
    as_json: Json = False,
) -> None:
    """Compare disciplines on the same traffic: intervals, verdicts. Python: aqmlab.compare."""
    from aqmlab.results.inactive import inactive
    from aqmlab.results.warmup_check import settling
    from aqmlab.runs.comparison import compare as work

    names = parse_names("--aqm", aqm) if aqm else []
    if tuned is not None:
        compare_tuned(
            file,
            tuned,
            names=names,
            excluded={
                "--with": with_, "--until": until, "--max-runs": max_runs, "--latex": latex, "--csv": csv,
                "--assert": assert_, "--junit": junit, "--markdown": markdown,
            },
            seeds=parse_seeds(seeds),
            overrides=parse_overrides(set_),
            trials=trials,
            trial_seeds=trial_seeds,
            report=report,
            out=out,
            details=details,
            as_json=as_json,
            how={
                "over": over or (), "baseline": baseline, "queue": queue, "vary": vary or (),
                "search_seed": search_seed, "workers": workers, "engine": engine,
            },
        )  # fmt: skip
        return
    check_without({
        "--over": over, "--vary": vary, "--trials": trials, "--trial-seeds": trial_seeds,
        "--search-seed": search_seed, "--report": report,
    })  # fmt: skip
    _check_printed(latex, csv, as_json=as_json)
    for place, form in ((latex, "tex"), (csv, "csv")):
        if place not in (None, STDOUT):
            check_ending(Path(str(place)), form)
    assertions = Assertions.read(assert_, junit, markdown)
    found = work(
        file,
        aqm=names,
        settings=parse_settings("--with", with_),
        baseline=baseline,
        queue=queue,
        seeds=parse_seeds(seeds),
        overrides=parse_overrides(set_),
        workers=workers,
        out=out,
        engine=engine,
        **parse_until(until, max_runs),
    )
    for line in found.warnings:
        warn(line)
    verdicts = assertions.judge(found)
    texts = {"--latex": (latex, found.latex), "--csv": (csv, found.csv)}
    printed = _write_texts({option: (place, make()) for option, (place, make) in texts.items() if place is not None})
    if printed:
        verdicts.conclude()
        return
    settled = {name: one for name, result in found.results.items() if (one := settling(result, link=found.link))}
    without_effect = {name: inactive(result, link=found.link) for name, result in found.results.items()}
    if as_json:
        data = {
            "scenario": found.name,
            "queue": found.queue,
            "link": found.link,
            "aqm": found.aqm,
            "folder": str(found.folder),
            "notes": found.notes,
            "warnings": found.warnings,
            "tests": found.tests,
            "means": found.means.to_dict("records"),
            "differences": found.differences.to_dict("records"),
            "pairing": found.pairing_lines(),
            "warm_up": {name: one.data() for name, one in settled.items()},
            "inactive": without_effect,
            "stopping": stopping_data(found.stopping),
            "evaluation": evaluation_data(found.evaluation),
        }
        print_json(data | ({"settings": found.settings} if found.settings else {}) | verdicts.data())
        verdicts.conclude()
        return
    _show_comparison(found, _by_discipline(without_effect, settled), details=details)
    for option, (place, _) in texts.items():
        if place is not None:
            say(f"{option.removeprefix('--')}: {place}")
    verdicts.show()
    verdicts.conclude()


def _check_printed(*places: str | None, as_json: bool) -> None:
    """Raise if more than one text is to go to stdout."""
    if [*places].count(STDOUT) + as_json > 1:
        raise InputError("--latex -, --csv - and --json: one of them prints; name a file for the others")


def _write_texts(texts: Mapping[str, tuple[str, str]]) -> bool:
    """Write texts into their files and return whether one was printed instead.

    Parameters
    ----------
    texts
        Option to its file, or ``-`` for stdout, and the text.
    """
    for option, (place, text) in texts.items():
        if place == STDOUT:
            continue
        if Path(place).is_dir():
            raise InputError(f"{option} {place}: is a folder; name a file, or - to print")
        save_output(Path(place), text)
    printed = [text for place, text in texts.values() if place == STDOUT]
    sys.stdout.write("".join(printed))
    return bool(printed)


def _by_discipline(without_effect: Mapping[str, list[str]], settled: Mapping[str, Settling]) -> list[str]:
    """Return lines with the name of their discipline; lines that disciplines share come once."""
    shared = [
        line for line in next(iter(without_effect.values())) if all(line in own for own in without_effect.values())
    ]
    alike: dict[str, list[tuple[str, str]]] = {}
    for name, own in without_effect.items():
        for line in own:
            if line not in shared:
                alike.setdefault(line.replace(f"{name} ", ""), []).append((name, line))
    lines = [
        f"{found[0][0]}: {found[0][1]}{f' Likewise {joined([n for n, _ in found[1:]])}.' if found[1:] else ''}"
        for found in alike.values()
    ]
    return shared + lines + [f"{name}: {line}" for name, one in settled.items() for line in one.lines()]


def _show_comparison(found: Comparison, lines: Sequence[str], *, details: bool) -> None:
    """Print the answer, the matrix and lines about single disciplines; with details means and differences too."""
    from aqmlab.runs.comparison_matrix import left_out, legend, lines_of

    matrix = found.matrix() if details else found.matrix().short
    seeds = counted(len(found.seeds), "seed")
    rest = _left_out(left_out(matrix, most=MOST_LINES))
    hint = "" if details else f" --details prints {rest and 'all quantities, '}intervals, tests and sizes of effects."
    print_screen(
        found.answer(),
        f"{found.name}: means at link {found.link}, {seeds}",
        lines_of(matrix, most=None if details else MOST_LINES),
        legend(matrix, level=found.level, tests=found.tests) + hint,
    )
    if details:
        _show_details(found)
    for line in [*found.settings_lines(), *lines]:
        print_wrapped(line)
    for line in found.stopping.lines() if found.stopping is not None else ():
        print_wrapped(line)
    print_evaluation(found.evaluation, details=details)
    say(f"Results: {found.folder}")


def _show_details(found: Comparison) -> None:
    from aqmlab.results.summary import level_words
    from aqmlab.runs.comparison_tables import DIFFERENCE_COLUMNS

    words = level_words(len(found.seeds), found.level, distinct=found.distinct_runs)
    print_table(found.means, title=f"{found.name}: means at link {found.link}, {words}", labels=2)
    title = f"Differences against {found.aqm[0]}, {words}; verdicts by Holm's p over {counted(found.tests, 'test')}"
    print_table(found.differences[list(DIFFERENCE_COLUMNS)], title=title, labels=2)
    for line in [*found.pairing_lines(), *found.notes]:
        print_wrapped(line)


@command(
    "aqmlab report results --out study.html",
    "aqmlab report results/my-12ab34cd --figure queue --out queue.pdf --size column",
    long=True,
)
def report(
    folder: Annotated[Path, typer.Argument(help="A results folder.", metavar="DIR")],
    figure: Annotated[
        str | None, typer.Option("--figure", help="Only this figure of the page, as a picture.", metavar="KEY")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="The page (.html); default: report.html in DIR. With --figure a .png, .svg or .pdf.",
            metavar="FILE",
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            "--size",
            help="With --figure: column (88 mm) or wide (180 mm), for a paper; default: for the screen.",
            metavar="NAME",
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="With sliders over the run or comparison, beside the page.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Build one self-contained HTML page of a results folder. Python: aqmlab.report, aqmlab.reporting.figure."""
    from aqmlab import reporting
    from aqmlab.reporting import reports

    if size is not None and figure is None:
        raise InputError("--size: is for one figure; give --figure KEY too")
    if live and figure is not None:
        raise InputError("--live: is for a page, not for a figure")
    told: dict[str, Any]
    if figure is None:
        path = reports.report(folder, out=out, live=live, progress=True)
        told, lines = {"report": str(path)}, [f"Report: {path}"]
        if live:
            told["live"] = str(reports.live_page(path))
            lines.append(f"Laboratory: {told['live']}")
    else:
        files = [str(path) for path in reporting.figure(folder, figure, out=out, size=size)]
        told, lines = {"files": files}, [f"Figure: {', '.join(files)}"]
    if as_json:
        print_json(told)
        return
    for line in lines:
        say(line)
