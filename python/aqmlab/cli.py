"""The command line. Every command has its Python twin, which does the work."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from aqmlab import store
from aqmlab.errors import Error, InputError, Interrupted, ScenarioError

if TYPE_CHECKING:
    from aqmlab.reproduction import Overview, Reproduction


class _StoppedError(Error):
    """Ctrl-C on its way through typer, which would swallow a KeyboardInterrupt and its text."""

    exit_code = Interrupted.exit_code


class _Commands(TyperGroup):
    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer keeps its types to itself
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise _StoppedError(str(stop) or "interrupted") from None


app = typer.Typer(
    name="aqmlab",
    cls=_Commands,
    help="A laboratory for active queue management.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

File = Annotated[Path, typer.Argument(help="Scenario file (TOML).", metavar="FILE.toml")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="Override: dotted.key=value. May be given often.", metavar="KEY=VALUE"),
]
SeedsOption = Annotated[
    str | None,
    typer.Option("--seeds", help="A number n (seeds 1 to n), a list 1,5,9 or a range 11-20.", metavar="N"),
]
Out = Annotated[Path, typer.Option("--out", help="Folder for the results.", metavar="DIR")]
Workers = Annotated[
    int | None, typer.Option("--workers", help="Worker processes; default: one per core.", min=1, metavar="N")
]
Json = Annotated[bool, typer.Option("--json", help="Machine output on stdout, and nothing else there.")]


def _version(value: bool) -> None:
    if value:
        from aqmlab import _core

        print(f"aqmlab {_core.version()}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """A laboratory for active queue management."""


@app.command()
def run(
    file: File,
    seeds: SeedsOption = None,
    set_: Set = None,
    out: Out = Path("results"),
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Run a scenario over its seeds: a table with intervals, and files. Python: aqmlab.run."""
    from aqmlab.runner import run as work

    result = work(file, seeds=parse_seeds(seeds), overrides=parse_overrides(set_), workers=workers, out=out)
    summary = result.summary()
    for line in result.warnings:
        print(f"aqmlab: warning: {line}", file=sys.stderr)
    if as_json:
        data = {
            "scenario": {"name": result.name, "hash": result.hash},
            "seeds": result.seeds,
            "link": result.bottleneck,
            "folder": str(result.folder),
            "warnings": result.warnings,
            "metrics": summary.to_dict("records"),
        }
        _print_json(data)
        return
    _print_table(summary, title=f"{result.name}: link {result.bottleneck}, {len(result.seeds)} seeds")
    print(f"Results: {result.folder}")


@app.command()
def compare(
    file: File,
    aqm: Annotated[str, typer.Option("--aqm", help="Disciplines, the first is compared against.", metavar="A,B,...")],
    queue: Annotated[str, typer.Option("--queue", help="The queue whose discipline is exchanged.")] = "bottleneck",
    seeds: SeedsOption = None,
    set_: Set = None,
    out: Out = Path("results"),
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Compare disciplines on the same traffic: paired differences with intervals. Python: aqmlab.compare."""
    from aqmlab.comparison import compare as work

    found = work(
        file,
        aqm=[name.strip() for name in aqm.split(",") if name.strip()],
        queue=queue,
        seeds=parse_seeds(seeds),
        overrides=parse_overrides(set_),
        workers=workers,
        out=out,
    )
    if as_json:
        data = {
            "scenario": found.name,
            "queue": found.queue,
            "link": found.link,
            "aqm": found.aqm,
            "folder": str(found.folder),
            "notes": found.notes,
            "means": found.means.to_dict("records"),
            "differences": found.differences.to_dict("records"),
        }
        _print_json(data)
        return
    _print_table(found.means, title=f"{found.name}: means at link {found.link}")
    _print_table(found.differences, title=f"Paired differences against {found.aqm[0]}, 95 % intervals")
    for note in found.notes:
        print(note)
    print(f"Results: {found.folder}")


@app.command()
def reproduce(
    paper: Annotated[str, typer.Argument(help="Which paper: pc-red, mred, ddred, exred, adaptive-rio, or all.")],
    quick: Annotated[bool, typer.Option("--quick", help="Few seeds: all papers in 4 minutes on two cores.")] = False,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Folder for the page; default: with the runs.", metavar="DIR"),
    ] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", help="Seeds a point; default: the paper's.", min=2)] = None,
    out: Out = Path("results"),
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Reproduce papers: published beside measured, a verdict on every claim. Python: aqmlab.reproduce[_all]."""
    from aqmlab import reproduction

    effort: dict[str, Any] = {"quick": quick, "seeds": seeds, "workers": workers, "out": out, "report": report}
    if paper == reproduction.ALL:
        _print_overview(reproduction.reproduce_all(**effort), as_json=as_json)
        return
    found = reproduction.reproduce(paper, **effort)
    if as_json:
        _print_json(_reproduction_data(found))
        return
    _print_table(found.claims[["claim", "title", "against", "verdict"]], title=f"{found.paper}: claims")
    for record in found.claims.to_dict("records"):
        against = f", against {record['against']}" if record["against"] else ""
        print(f"\n{record['claim']}{against}: {record['verdict']}")
        for line in record["found"].splitlines():
            print(f"  {line}")
    print(f"\nReport: {found.report}")


def _print_overview(found: Overview, *, as_json: bool) -> None:
    if as_json:
        data = {
            "report": str(found.report),
            "claims": found.claims.to_dict("records"),
            "papers": [_reproduction_data(one) for one in found.papers],
        }
        _print_json(data)
        return
    _print_table(found.claims[["paper", "claim", "title", "against", "verdict"]], title="Claims of all papers")
    for one in found.papers:
        print(f"{one.name}: {one.report}")
    print(f"\nReport: {found.report}")


def _reproduction_data(found: Reproduction) -> dict[str, Any]:
    return {
        "paper": found.paper,
        "report": str(found.report),
        "folder": str(found.folder),
        "claims": found.claims.to_dict("records"),
        "readings": found.readings.to_dict("records"),
        "tables": {name: table.to_dict("records") for name, table in found.tables.items()},
    }


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A results folder.", metavar="DIR")], as_json: Json = False
) -> None:
    """Build one self-contained HTML page of a results folder. Python: aqmlab.report."""
    from aqmlab.reporting import report as work

    path = work(folder)
    if as_json:
        _print_json({"report": str(path)})
    else:
        print(f"Report: {path}")


@app.command("list")
def list_(
    name: Annotated[str | None, typer.Argument(help="One discipline; default: all.")] = None,
    as_json: Json = False,
) -> None:
    """List disciplines and their parameters with units, defaults and ranges. Python: aqmlab.disciplines."""
    from aqmlab import registry

    if as_json:
        data = registry.registry()
        if name is not None:
            registry.discipline(name)
            data = next(entry for entry in data["disciplines"] if entry["name"] == name)
        _print_json(data)
        return
    if name is None:
        _print_rows(["discipline", "idea", "source"], [[d.name, d.doc, d.paper] for d in registry.disciplines()])
        print("aqmlab list NAME shows the parameters of one.")
        return
    discipline = registry.discipline(name)
    print(f"\n{discipline.name}: {discipline.title}")
    print("".join(f"  {line}\n" for line in (discipline.doc, discipline.paper) if line), end="")
    columns = ["parameter", "symbol", "unit", "default", "allowed", "meaning"]
    shown = discipline.own_parameters
    _print_rows(columns, [[p.key, p.symbol, p.unit, _text(p.default), p.allowed, p.doc] for p in shown])
    others = dict.fromkeys(part for p in discipline.parameters if p not in shown for part in p.parts)
    if others:
        print(f"With another victim or adaptation ({', '.join(others)}) it has that one's parameters too.")


@app.command()
def schema() -> None:
    """Print the JSON schema of the scenario file, for completion in an editor. Python: aqmlab.schema."""
    from aqmlab import registry

    _print_json(registry.schema())


@app.command()
def check(file: File, set_: Set = None, as_json: Json = False) -> None:
    """Validate a scenario file without running it; all errors at once. Python: aqmlab.check."""
    from aqmlab.scenario import Scenario

    try:
        plan = Scenario.load(file, overrides=parse_overrides(set_))
    except ScenarioError as error:
        if as_json:
            _print_json({"ok": False, "errors": [vars(problem) for problem in error.problems]})
            raise typer.Exit(error.exit_code) from None
        raise
    for warning in plan.warnings:
        print(f"aqmlab: warning: {warning}", file=sys.stderr)
    if as_json:
        data = {"name": plan.name, "hash": plan.hash, "links": len(plan.links), "flows": len(plan.flows)}
        _print_json({"ok": True, "errors": [], "warnings": [vars(w) for w in plan.warnings], "scenario": data})
        return
    print(f"{file}: valid ({plan.name}, {len(plan.links)} links, {len(plan.flows)} flows, {plan.duration_s:g} s)")


@app.command()
def draw(
    file: File,
    set_: Set = None,
    out: Annotated[Path, typer.Option("--out", help="Folder for the pictures.", metavar="DIR")] = Path(),
    png: Annotated[bool, typer.Option("--png", help="Also as PNG.")] = False,
    as_json: Json = False,
) -> None:
    """Draw a scenario's network, queues and drop curves as SVG. Python: aqmlab.draw."""
    from aqmlab.drawing import draw as work

    files = work(file, overrides=parse_overrides(set_), out=out, png=png)
    if as_json:
        _print_json({"files": [str(path) for path in files]})
        return
    for path in files:
        print(path)


def parse_overrides(entries: Sequence[str] | None) -> tuple[tuple[str, str], ...]:
    """Read ``key=value`` words.

    >>> parse_overrides(["run.duration=5s", "flow.tcp.start={ every = '1s' }"])
    (('run.duration', '5s'), ('flow.tcp.start', "{ every = '1s' }"))
    """
    pairs = []
    for entry in entries or ():
        key, sign, value = entry.partition("=")
        if not sign or not key.strip():
            raise InputError(f'--set {entry}: write it as key=value, for example "run.duration=5s"')
        pairs.append((key.strip(), value.strip()))
    return tuple(pairs)


def parse_seeds(text: str | None) -> int | list[int] | None:
    """Read ``--seeds``.

    >>> parse_seeds("20"), parse_seeds("1,5,9"), parse_seeds("11-13"), parse_seeds("7,11-12")
    (20, [1, 5, 9], [11, 12, 13], [7, 11, 12])
    """
    if text is None:
        return None
    if text.strip().isdigit():
        return int(text)
    seeds: list[int] = []
    for word in text.split(","):
        low, dash, high = word.strip().partition("-")
        if not low.isdigit() or (dash and not high.isdigit()):
            raise InputError(
                f"--seeds {text}: a number n (seeds 1 to n), a list such as 1,5,9 or a range such as 11-20"
            )
        seeds += range(int(low), int(high if dash else low) + 1)
    return seeds


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 failure, 2 bad input, 130 interrupted."""
    try:
        code = app(args=None if arguments is None else list(arguments), prog_name="aqmlab", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", Interrupted.exit_code)
    except ScenarioError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except Error as error:
        return _fail(str(error), error.exit_code)
    except TyperException as error:
        return _usage(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(store.explain(Path(error.filename or "stdout"), error), 1)
    except MemoryError:
        return _fail("out of memory", 1)
    except Exception as error:
        if os.environ.get("AQMLAB_TRACEBACK"):
            raise
        return _fail(f"internal error: {type(error).__name__}: {error} (AQMLAB_TRACEBACK=1 shows where)", 1)
    return int(code or 0)


def entry() -> None:
    """Start from the shell."""
    code = main()
    try:
        sys.stdout.flush()
    except OSError as error:
        code = code or _fail(store.explain(Path("stdout"), error), 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _usage(error: TyperException) -> int:
    """Show what was wrong with the words of the command in one line, or the help if there were none."""
    message = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":
        print(message or "aqmlab --help shows the commands", file=sys.stderr)
        return 2
    return _fail(message.replace("\n", " "), int(getattr(error, "exit_code", 2)))


def _fail(message: str, code: int) -> int:
    print(f"aqmlab: {message}", file=sys.stderr)
    return code


def _print_json(data: object) -> None:
    sys.stdout.write(store.to_json(data))


def _print_table(table: Any, *, title: str) -> None:  # noqa: ANN401 - a pandas table, which is loaded late
    print(title)
    _print_rows([str(c) for c in table.columns], [[_text(v) for v in row] for row in table.itertuples(index=False)])


def _print_rows(columns: list[str], rows: list[list[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        numeric = all(_is_number(row[index]) for row in rows) and bool(rows)
        table.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _text(value: object) -> str:
    if isinstance(value, float):
        return "-" if value != value else f"{value:.5g}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return json.dumps(value)
    return "" if value is None else str(value)


def _is_number(text: str) -> bool:
    return (
        text in ("", "-") or text.lstrip("+-").replace(".", "", 1).replace("e-", "", 1).replace("e+", "", 1).isdigit()
    )
