"""The command that sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.application import Assert, Engine, Json, Junit, Markdown, SeedsOption, Set, Workers, command
from aqmlab.cli.assertions import Assertions
from aqmlab.cli.output import evaluation_data, print_evaluation, print_json, print_screen, say, warn
from aqmlab.cli.values import parse_overrides, parse_seeds
from aqmlab.errors import InputError, counted, joined

if TYPE_CHECKING:
    from aqmlab.runs.sweeps.sweep import Study

SHOWN_POINTS, DETAILED_POINTS = 12, 40
"""Points that are printed, without and with ``--details``."""
WITH_INTERVALS = 4
"""Most points whose intervals are printed without ``--details``."""
SHOWN_WARNINGS = 10
Details = Annotated[
    bool, typer.Option("--details", help=f"Print up to {DETAILED_POINTS} points with intervals and all quantities.")
]


@command("aqmlab sweep my.toml --grid flow.tcp.count=10:100:10 --seeds 5 --out flows", long=True)
def sweep(
    file: Annotated[Path, typer.Argument(help="Scenario file or study file (TOML).", metavar="FILE.toml")],
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            help="key=from:to:count, key=from:to:count:log or key=v1,v2,... Every combination is a point.",
            metavar="KEY=VALUES",
        ),
    ] = None,
    zip_: Annotated[
        list[str] | None,
        typer.Option("--zip", help="The same; all keys given so step together.", metavar="KEY=VALUES"),
    ] = None,
    range_: Annotated[
        list[str] | None,
        typer.Option(
            "--range", help="key=from:to, key=from:to:log or key=v1,v2,...: to draw from.", metavar="KEY=VALUES"
        ),
    ] = None,
    random: Annotated[
        int | None, typer.Option("--random", help="Draw so many points at random from the ranges.", metavar="N")
    ] = None,
    sobol: Annotated[
        int | None, typer.Option("--sobol", help="The same with Sobol's sequence, which fills evenly.", metavar="N")
    ] = None,
    draw_seed: Annotated[
        int | None, typer.Option("--draw-seed", help="Seed of the draws; default 1.", min=0, metavar="N")
    ] = None,
    seeds: SeedsOption = None,
    set_: Set = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the study; default: the scenario's.", metavar="NAME")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Store of results.", metavar="STORE")] = Path("results"),
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Also write a page of everything in the store.", metavar="PAGE.html"),
    ] = None,
    workers: Workers = None,
    dask: Annotated[
        str | None,
        typer.Option("--dask", help="Run on the Dask cluster with this scheduler, tcp://host:8786.", metavar="ADDRESS"),
    ] = None,
    engine: Engine = "auto",
    details: Details = False,
    assert_: Assert = None,
    junit: Junit = None,
    markdown: Markdown = None,
    as_json: Json = False,
) -> None:
    """Run a scenario at many points; runs that the store has are reused. Python: aqmlab.sweep."""
    from aqmlab.runs.sweeps.sweeping import sweep as work

    assertions = Assertions.read(assert_, junit, markdown)
    if report is not None:
        from aqmlab.reporting import reports

        reports.page_file(report)
    study = work(
        file,
        grid=_values(grid, "--grid"),
        zipped=_values(zip_, "--zip"),
        ranges=_values(range_, "--range"),
        random=random,
        sobol=sobol,
        draw_seed=draw_seed,
        seeds=parse_seeds(seeds),
        overrides=parse_overrides(set_),
        name=name,
        out=out,
        workers=workers,
        dask=dask,
        engine=engine,
    )
    for line in study.warnings[:SHOWN_WARNINGS]:
        warn(line)
    if len(study.warnings) > SHOWN_WARNINGS:
        warn(f"and {len(study.warnings) - SHOWN_WARNINGS} more like these")
    verdicts = assertions.judge(study)
    page = None
    if report is not None:
        page = reports.report(out, out=report, progress=True)
    if as_json:
        took = {"simulation_s": study.simulation_s, "simulation_cpu_s": study.simulation_cpu_s}
        pages = {} if page is None else {"report": str(page)}
        print_json({**study_data(study), **took, **pages, "warnings": list(study.warnings), **verdicts.data()})
        verdicts.conclude()
        return
    print_study(study, details=details)
    print_evaluation(study.evaluation, details=details)
    if details and study.simulation_s and study.evaluation is not None:
        print(f"In the core: {study.simulation_s:.2f} s, all workers together.")
    if page is not None:
        say(f"Report: {page}")
    verdicts.show()
    verdicts.conclude()


def study_data(study: Study) -> dict[str, object]:
    """Return a study as plain data."""
    return {
        "study": {"name": study.name, "hash": study.hash, "version": study.version},
        "keys": list(study.keys),
        "units": study.units,
        "seeds": list(study.seeds),
        "store": str(study.folder),
        "points": study.points().to_dict("records"),
        "evaluation": evaluation_data(study.evaluation),
    }


def print_study(study: Study, *, details: bool = False) -> None:
    """Print the points of a study at a glance, and the command that writes all of them."""
    from aqmlab.results.summary import ONE_RUN, level_words
    from aqmlab.runs.comparison_matrix import left_out, legend, lines_of
    from aqmlab.runs.sweeps.sweep_matrix import answer_of_points, matrix_of_points
    from aqmlab.statistics.intervals import LEVEL

    whole = matrix_of_points(study)
    varies = study.varies
    count = len(whole.labels)
    shown = min(count, DETAILED_POINTS if details else SHOWN_POINTS)
    if count:
        matrix = (whole if details else whole.short).of(whole.labels[:shown])
        intervals = details or count <= WITH_INTERVALS
        most = None if details else 1
        words = level_words(len(study.seeds), LEVEL, distinct=len(study.seeds) if varies else 1)
        title = f"{study.name}: means at {counted(count, 'point')}, {counted(len(study.runs), 'run')}"
        hidden = ["intervals"] if not intervals and varies else []
        hidden += ["more quantities"] if len(matrix.metrics) < len(whole.metrics) or left_out(matrix, most=1) else []
        hidden += ["more points"] if shown < min(count, DETAILED_POINTS) else []
        legend_ = legend(matrix, level=LEVEL, tests=0, compared=False) if intervals else ""
        hint = f" --details prints {joined(hidden)}." if hidden and not details else ""
        print_screen(
            answer_of_points(study, whole),
            f"{title}, {words}" if intervals or not varies else title,
            lines_of(matrix, intervals=intervals, most=most),
            (legend_ + hint).strip(),
        )
    if not varies:
        warn(ONE_RUN)
    more = count - shown
    rest = f"{more} {'point is' if more == 1 else 'points are'} not shown. " if more > 0 else ""
    command = f"aqmlab results export {study.folder} {study.hash[:8]} --table points --out points.csv"
    say(f"Study {study.hash[:8]} in {study.folder}. {rest}All points, with the ends of all intervals:")
    say(f"    {command}")


def _values(entries: Sequence[str] | None, option: str) -> dict[str, str]:
    """Read ``key=values`` words."""
    found: dict[str, str] = {}
    for entry in entries or ():
        key, sign, values = entry.partition("=")
        key = key.strip()
        if not sign or not key:
            raise InputError(f'{option} {entry}: write it as key=values, for example "flow.tcp.count=10,20"')
        if key in found:
            raise InputError(f"{option} {entry}: {key} is given twice")
        found[key] = values.strip()
    return found
