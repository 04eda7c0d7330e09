"""Commands that look into a store of results, and keep it in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from aqmlab.cli.application import Json, app
from aqmlab.cli.output import print_json, print_rows, print_table
from aqmlab.cli.sweeps import print_study, study_data
from aqmlab.errors import escaped

results = typer.Typer(
    name="results", help="Look into a store of results: ls, show, export, query, gc.", no_args_is_help=True
)
app.add_typer(results)

Store = Annotated[Path, typer.Argument(help="The store's folder.", metavar="STORE")]
NAME_HELP = "A study's name or the beginning of its hash, or of a run's name; not needed if there is one study."
Name = Annotated[str | None, typer.Argument(help=NAME_HELP, metavar="NAME")]


@results.command("ls")
def ls(store: Store, as_json: Json = False) -> None:
    """List the studies of a store, and how much of each is there. Python: aqmlab.storage.ResultStore.studies."""
    from aqmlab.storage.store import ResultStore

    with ResultStore(store) as opened:
        listed: list[dict[str, Any]] = [
            {
                "study": row.study,
                "name": row.name,
                "version": row.version,
                "keys": list(row.keys),
                "points": len(opened.index.points(row)),
                "seeds": len(row.seeds),
                "runs": len(opened.study_runs(row)),
            }
            for row in opened.studies()
        ]
        ((runs, blocks),) = opened.index.rows("SELECT count(*), count(DISTINCT block) FROM runs")
    if as_json:
        print_json({"store": str(store), "runs": runs, "blocks": blocks, "studies": listed})
        return
    rows = []
    for one in listed:
        wanted = one["points"] * one["seeds"]
        there = f"{one['runs']} of {wanted}"
        cells = [one["study"][:8], one["name"], one["version"], one["points"], one["seeds"], there]
        rows.append([*map(str, cells), ", ".join(one["keys"])])
    if rows:
        print_rows(["study", "name", "version", "points", "seeds", "runs", "keys"], rows)
    print(f"{store}: {runs} runs in {blocks} blocks")


@results.command("show")
def show(store: Store, name: Name = None, as_json: Json = False) -> None:
    """Show a study's points and runs, or a run with its scenario. Python: aqmlab.Study.load."""
    from aqmlab.storage.store import ResultStore
    from aqmlab.sweeps.exporting import run_named
    from aqmlab.sweeps.sweep import Study

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
        text = opened.scenario_text(row.scenario)
        files = {file: size for file, (size, _) in opened.index.files(block).items()}
        metrics = opened.index.numbers(row.metrics)
    if as_json:
        print_json({**vars(row), "metrics": metrics, "block": block, "files": files, "text": text})
        return
    print(f"run {row.run}: seed {row.seed}, version {row.version}, scenario {row.scenario}, block {block}\n")
    print(escaped(text))
    print_rows(["metric", "value"], [[key, "-" if value is None else f"{value:.6g}"] for key, value in metrics.items()])


@results.command("export")
def export(
    store: Store,
    name: Name = None,
    out: Annotated[Path, typer.Option("--out", help="The file to write.", metavar="FILE")] = Path("runs.csv"),
    table: Annotated[
        str | None,
        typer.Option("--table", help="runs, points, or a table of the runs such as links; default runs."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="csv, parquet; of a run flent, ns2, pcap too; default: by the ending.",
            metavar="FORMAT",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a study, or a run, as one file. Python: aqmlab.sweeps.exporting.export."""
    from aqmlab.storage.store import ResultStore
    from aqmlab.sweeps.exporting import export as work

    with ResultStore(store) as opened:
        path = work(opened, name, out=out, table=table, to=to)
    if as_json:
        print_json({"file": str(path)})
    else:
        print(path)


@results.command("query")
def query(
    store: Store,
    sql: Annotated[str, typer.Argument(help="Tables: runs, points, links, flows, ...", metavar="SQL")],
    as_json: Json = False,
) -> None:
    """Ask all runs of a store something in SQL; needs DuckDB. Python: aqmlab.storage.querying.query."""
    from aqmlab.storage.querying import query as work
    from aqmlab.storage.store import ResultStore

    with ResultStore(store) as opened:
        answer = work(opened, sql)
    if as_json:
        print_json(json.loads(answer.to_json(orient="records")))
    else:
        print_table(answer, title="")


@results.command("gc")
def gc(
    store: Store,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    forget: Annotated[
        list[str] | None, typer.Option("--forget", help="A study that is not wanted any more.", metavar="NAME")
    ] = None,
    as_json: Json = False,
) -> None:
    """Remove runs of other versions, of no study, and damaged ones. Python: aqmlab.storage.maintenance.collect."""
    from aqmlab.storage.maintenance import collect
    from aqmlab.storage.store import ResultStore

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
    print(f"{store}: {waste.runs} runs, {len(waste.studies)} studies, {waste.bytes / 1e6:.1f} MB {verb}")
