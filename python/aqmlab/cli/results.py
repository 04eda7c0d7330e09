"""Commands that look into a store of results, and keep it in order."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from aqmlab.cli.application import Group, Json, app, command
from aqmlab.cli.output import print_json, print_rows, print_table, say
from aqmlab.cli.sweeps import print_study, study_data
from aqmlab.errors import InputError, counted, escaped

results = typer.Typer(
    name="results",
    cls=Group,
    help="Look into a store of results: ls, show, export, query, gc.",
    epilog="aqmlab results ls results",
    no_args_is_help=True,
)
app.add_typer(results)

Store = Annotated[Path, typer.Argument(help="The store's folder.", metavar="STORE")]
NAME_HELP = "A study's name or the beginning of its hash, or of a run's name; not needed if there is one study."
Name = Annotated[str | None, typer.Argument(help=NAME_HELP, metavar="NAME")]


@command("aqmlab results ls results", of=results)
def ls(store: Store, as_json: Json = False) -> None:
    """List runs, comparisons, tunings and sweeps of a folder. Python: aqmlab.runs.store.ResultStore.studies."""
    from aqmlab.results.listing import entries

    listed = entries(store) if store.is_dir() else []
    studies, runs, blocks = _stored(store, may_lack=bool(listed))
    if as_json:
        folders = [vars(one) for one in listed]
        print_json({"store": str(store), "runs": runs, "blocks": blocks, "studies": studies, "folders": folders})
        return
    rows = [[one.kind, one.folder, _count(one.seeds), one.about] for one in listed]
    for one in studies:
        keys = ", ".join(one["keys"]) or "nothing varies"
        about = f"{one['runs']} of {one['points'] * one['seeds']} runs, {counted(one['points'], 'point')}: {keys}"
        rows.append(["sweep", f"{one['name']} ({one['study'][:8]})", _count(one["seeds"]), about])
    if rows:
        print_rows(["what", "name", "seeds", "about"], rows)
    say(f"{store}: {_holdings(Counter(one.kind for one in listed), len(studies), runs, blocks)}")


def _holdings(kinds: Mapping[str, int], sweeps: int, runs: int, blocks: int) -> str:
    """Return the numbers of entries of each kind; runs of sweeps are in blocks, those of other commands in folders.

    >>> _holdings({"run": 1, "comparison": 2}, 0, 0, 0)
    '2 comparisons, 1 run'
    >>> _holdings({}, 1, 24, 2)
    '1 sweep with 24 runs in 2 blocks'
    """
    parts = [counted(count, kind) for kind, count in sorted(kinds.items())]
    if sweeps or runs:
        stored = f"{counted(runs, 'run')} in {counted(blocks, 'block')}"
        parts.append(f"{counted(sweeps, 'sweep')} with {stored}")
    return ", ".join(parts) or "no results"


def _stored(store: Path, *, may_lack: bool) -> tuple[list[dict[str, Any]], int, int]:
    """Return the studies of a store, and its numbers of runs and blocks; nothing if the store is absent and may be."""
    from aqmlab.runs.store.store import ResultStore

    try:
        opened = ResultStore(store)
    except InputError:
        if may_lack:
            return [], 0, 0
        raise
    with opened:
        studies = [
            {
                "study": row.study,
                "name": row.name,
                "version": row.version,
                "keys": row.keys,
                "points": len(row.points),
                "seeds": len(row.seeds),
                "runs": len(opened.study_runs(row)),
            }
            for row in opened.studies()
        ]
        ((runs, blocks),) = opened.index.rows("SELECT count(*), count(DISTINCT block) FROM runs")
    return studies, runs, blocks


def _count(number: int | None) -> str:
    return "-" if number is None else str(number)


@command("aqmlab results show results my", of=results)
def show(store: Store, name: Name = None, as_json: Json = False) -> None:
    """Show a study's points and runs, or a run with its scenario. Python: aqmlab.Study.load."""
    from aqmlab.runs.store.store import ResultStore
    from aqmlab.runs.sweeps.exporting import run_named
    from aqmlab.runs.sweeps.sweep import Study

    with ResultStore(store) as opened:
        run = run_named(opened, name)
        if run is None:
            study = Study.read(opened, opened.study_row(name))
            if as_json:
                print_json({**study_data(study), "runs": study.runs.to_dict("records")})
            else:
                print_study(study)
            return
        row, block = opened.run_row(run)
        text = opened.scenario_text(row, block)
        files = {file: size for file, (size, _) in opened.index.files(block).items()}
        metrics = opened.index.numbers(row.metrics)
    if as_json:
        print_json({**vars(row), "metrics": metrics, "block": block, "files": files, "text": text})
        return
    print(f"run {row.run}: seed {row.seed}, version {row.version}, scenario {row.scenario}, block {block}\n")
    print(escaped(text))
    print_rows(["metric", "value"], [[key, "-" if value is None else f"{value:.6g}"] for key, value in metrics.items()])


@command("aqmlab results export results my --table points --out points.csv", of=results)
def export(
    store: Store,
    name: Name = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file to write; default: the table's name.", metavar="FILE")
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            help="runs, points, grid (tests), or a table of the runs such as links; default runs.",
            metavar="NAME",
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="csv, parquet; tex of a grid; flent, ns2, pcap of a run; default: by the ending.",
            metavar="FORMAT",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="Of a grid: a quantity. May be given often.", metavar="KEY")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")] = False,
    as_json: Json = False,
) -> None:
    """Write a study, or a run, as one file. Python: aqmlab.runs.sweeps.exporting.export."""
    from aqmlab.runs.store.store import ResultStore
    from aqmlab.runs.sweeps.exporting import export as work

    out = out or Path(f"{table or 'runs'}.{to or 'csv'}")
    if out.is_file() and not force:
        raise InputError(f"{out}: is there already (another name: --out FILE; --force replaces it)")
    with ResultStore(store) as opened:
        path = work(opened, name, out=out, table=table, to=to, metrics=metric or ())
    if as_json:
        print_json({"file": str(path)})
    else:
        say(path)


@command("aqmlab results query results 'SELECT aqm, avg(loss) FROM links GROUP BY 1'", of=results)
def query(
    store: Store,
    sql: Annotated[str, typer.Argument(help="Tables: runs, points, links, flows, ...", metavar="SQL")],
    as_json: Json = False,
) -> None:
    """Ask all runs of a store something in SQL; needs DuckDB. Python: aqmlab.runs.store.querying.query."""
    from aqmlab.runs.store.querying import query as work
    from aqmlab.runs.store.store import ResultStore

    with ResultStore(store) as opened:
        answer = work(opened, sql)
    if as_json:
        print_json(json.loads(answer.to_json(orient="records")))
    else:
        print_table(answer, title="")


@command("aqmlab results gc results --dry-run", of=results)
def gc(
    store: Store,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    forget: Annotated[
        list[str] | None, typer.Option("--forget", help="A study that is not wanted any more.", metavar="NAME")
    ] = None,
    as_json: Json = False,
) -> None:
    """Remove runs of other versions, of no study, and damaged ones. Python: aqmlab.runs.store.maintenance.collect."""
    from aqmlab.runs.store.maintenance import collect
    from aqmlab.runs.store.store import ResultStore

    with ResultStore(store) as opened:
        waste = collect(opened, dry_run=dry_run, forget=forget or ())
    if as_json:
        print_json({"store": str(store), "dry_run": dry_run, **waste.data()})
        return
    kinds = {"of no study": waste.unwanted, "damaged": waste.damaged, "in no index": waste.nameless}
    for kind, blocks in kinds.items():
        for block in blocks:
            print(f"block {block}: {kind}")
    verb = "would be removed" if dry_run else "removed"
    say(
        f"{store}: {counted(waste.runs, 'run')}, {counted(len(waste.studies), 'sweep')}, "
        f"{waste.bytes / 1e6:.1f} MB {verb}"
    )
