"""The application that commands are put into, and the options that several of them have."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from aqmlab import extensions
from aqmlab.errors import Error, InputError, Interrupted
from aqmlab.runs.progress import Talk, talking

F = TypeVar("F", bound=Callable[..., Any])

PLUGINS = "AQMLAB_PLUGINS"
"""See `aqmlab.scenario.plugins.PLUGINS`; a copy, so that the help comes quickly."""

GROUPS = {
    "Simulate": ("run", "compare", "sweep", "tune", "frontier"),
    "See": ("demo", "lab", "draw", "report"),
    "Real traffic": ("live", "shape"),
    "Theory, papers, other programs": ("analyze", "reproduce", "crosscheck", "replay", "rfc7928", "arena"),
    "Files": ("init", "check", "import", "export", "results", "list", "schema"),
}
"""Commands by purpose, in the order in which the help lists them."""
ORDER = tuple(name for names in GROUPS.values() for name in names)
CITATION = """\
@software{aqmlab,
  author  = {{The aqmlab developers}},
  title   = {aqmlab: a laboratory for active queue management},
  year    = {2026},
  version = {%s},
}"""
"""The text of ``--cite``, with a placeholder for the version; the same as in ``CITATION.cff``."""
ADD_ONS = "aqmlab.commands"
"""Entry points of add-ons with commands."""


command_words: ContextVar[Sequence[str]] = ContextVar("words", default=())
"""The words of the command line behind ``aqmlab``, for the command on a page."""


class _StoppedError(Error):
    """Ctrl-C on its way through typer, which would swallow a KeyboardInterrupt and its text."""

    exit_code = Interrupted.exit_code


class _Examples:
    """The end of a help text: examples, each on a line of its own."""

    epilog: str | None

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer keeps its types to itself
        lines = (self.epilog or "").splitlines()
        if lines:
            with formatter.section("Examples" if len(lines) > 1 else "Example"):
                formatter.write("".join(f"  {line}\n" for line in lines))


class _Command(_Examples, TyperCommand):
    """A command."""


class Group(_Examples, TyperGroup):
    """A group of commands."""


class _Commands(Group):
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401
        return sorted(self.commands, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401
        if cmd_name in ORDER and cmd_name not in self.commands:
            extensions.load(ADD_ONS, cmd_name)  # raises, with the reason
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """List the commands by purpose, each with its whole summary."""
        others = tuple(name for name in self.list_commands(ctx) if name not in ORDER)
        for title, names in {**GROUPS, "Other": others}.items():
            known = [(name, self.commands[name]) for name in names if name in self.commands]
            rows = [(name, command.get_short_help_str(limit=200)) for name, command in known]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows, col_max=12)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer keeps its types to itself
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise _StoppedError(str(stop) or "interrupted") from None


app = typer.Typer(
    name="aqmlab",
    cls=_Commands,
    help="A laboratory for active queue management.",
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    epilog="aqmlab run example:dumbbell-red",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def command(
    *examples: str, name: str | None = None, long: bool = False, of: typer.Typer | None = None
) -> Callable[[F], F]:
    """Put a function into the application as a command.

    Parameters
    ----------
    examples
        Lines that its help shows, of at most 76 columns: typical first calls.
    name
        Its name; default: the function's.
    long
        Whether it works for long, so that it has ``-q`` and ``-v``.
    of
        The group that it belongs to; default: the application itself.
    """

    def put(function: F) -> F:
        group = app if of is None else of
        group.command(name, cls=_Command, epilog="\n".join(examples))(_telling(function) if long else function)
        return function

    return put


def _telling(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options ``-q`` and ``-v``, which say how much it prints on stderr meanwhile."""

    @wraps(function)
    def wrapped(*, quiet: bool, verbose: bool, **named: Any) -> None:  # noqa: ANN401
        if quiet and verbose:
            raise InputError("--quiet, --verbose: give one of them")
        with talking(Talk.QUIET if quiet else Talk.VERBOSE if verbose else Talk.NORMAL):
            function(**named)

    own = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in {"quiet": Quiet, "verbose": Verbose}.items()
    ]
    signature = inspect.signature(function, eval_str=True)
    wrapped.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *own])  # type: ignore[attr-defined]
    return wrapped


Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Show no progress bar and no warnings.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Print a line when runs are finished.")]
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
ReportFolder = Annotated[
    Path | None, typer.Option("--report", help="Folder for the page; default: with the runs.", metavar="DIR")
]
WhichLink = Annotated[str | None, typer.Option("--link", help="Which link; default: the managed one.", metavar="NAME")]
Quantile = Annotated[float, typer.Option("--quantile", help="Quantile over the points; 1: the worst.", metavar="Q")]
Workers = Annotated[
    int | None, typer.Option("--workers", help="Runs at a time; default: one per core.", min=1, metavar="N")
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        help="windows, parallel (a long run on two cores), events, or auto. All give the same results.",
        metavar="NAME",
    ),
]
UntilOption = Annotated[
    list[str] | None,
    typer.Option(
        "--until",
        help="Run more seeds until intervals are narrow enough: ci(goodput)=1% of the mean, or ci(mean_delay_ms)=0.5 "
        "in the metric's unit. May be given often; --seeds is then the runs before the first look, 20 or more.",
        metavar="GOAL",
    ),
]
MaxRuns = Annotated[
    int | None,
    typer.Option("--max-runs", help="With --until: the most seeds; default: 1000.", min=1, metavar="N"),
]
Assert = Annotated[
    list[str] | None,
    typer.Option(
        "--assert",
        help="Judge a bound: delay_p99<20ms, loss<=1%. Exit code 1: it fails, 3: undecided.",
        metavar="BOUND",
    ),
]
Junit = Annotated[
    str | None,
    typer.Option("--junit", help="The verdicts as JUnit's XML.", metavar="FILE"),
]
Markdown = Annotated[
    str | None,
    typer.Option("--markdown", help="The verdicts as a table.", metavar="FILE"),
]
Json = Annotated[bool, typer.Option("--json", help="Machine output on stdout, and nothing else there.")]


def _version(value: bool) -> None:
    if value:
        from aqmlab import _core

        print(f"aqmlab {_core.version()}")
        raise typer.Exit


def _cite(value: bool) -> None:
    if value:
        from aqmlab import _core

        print(CITATION % _core.version())
        raise typer.Exit


def _manual(value: bool) -> None:
    if value:
        from aqmlab import _core
        from aqmlab.cli.manual import manual, show

        show(manual(typer.main.get_command(app), _core.version()))
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
    cite: Annotated[
        bool, typer.Option("--cite", help="Show the citation, for BibTeX.", callback=_cite, is_eager=True)
    ] = False,
    man: Annotated[bool, typer.Option("--man", help="Show the manual page.", callback=_manual, is_eager=True)] = False,
    plugin: Annotated[
        list[str] | None,
        typer.Option("--plugin", help="A Python file with your own disciplines.", metavar="FILE.py"),
    ] = None,
) -> None:
    """A laboratory for active queue management."""
    if plugin:
        # In the environment, so that processes that are started find it too.
        files = [str(Path(name).absolute()) if name.endswith(".py") else name for name in plugin]
        os.environ[PLUGINS] = os.pathsep.join([*filter(None, [os.environ.get(PLUGINS)]), *files])
