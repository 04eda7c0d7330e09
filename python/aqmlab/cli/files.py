"""Commands that look at scenario files and disciplines: check, draw, list, schema."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.cli.application import File, Json, Set, command
from aqmlab.cli.output import print_json, print_rows, print_wrapped, say, text_of, warn
from aqmlab.cli.values import parse_overrides
from aqmlab.errors import InputError, ScenarioError, counted
from aqmlab.scenario.toml_text import read_toml

if TYPE_CHECKING:
    from aqmlab.scenario.registry import Parameter, Transport


MOST_PARAMETERS = 16
"""Parameters of a discipline that are described without ``--details``."""
NO_DEFAULT = "unset"
QUANTITIES = "quantities"
"""The name by which quantities are listed."""


@command("aqmlab list", "aqmlab list fq-codel", "aqmlab list quantities", name="list")
def list_(
    name: Annotated[
        str | None,
        typer.Argument(
            help='A discipline, transport or quantity, "quantities" or "traces"; default: disciplines and transports'
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Also parameters that need another part of RED than the discipline has.")
    ] = False,
    details: Annotated[bool, typer.Option("--details", help="Also the idea and the source of each.")] = False,
    as_json: Json = False,
) -> None:
    """List disciplines, transports, quantities, traces, or parameters. Python: aqmlab.disciplines."""
    from aqmlab.results.quantities import is_quantity
    from aqmlab.scenario import registry

    if name == "traces":
        _list_traces(as_json=as_json)
        return
    if name is not None and (name == QUANTITIES or is_quantity(name)):
        _list_quantities(name, details=details, as_json=as_json)
        return
    transports = registry.transports()
    if as_json:
        print_json(_registry_data(name, every=every))
        return
    if name is None:
        _list_all(details=details)
        return
    if name in transports:
        _list_transport(transports[name], details=details)
        return
    discipline = registry.discipline(name)
    print_wrapped(f"{discipline.name}: {discipline.title}")
    for line in (discipline.doc, discipline.paper):
        print_wrapped(line, indent="  ")
    print()
    shown = discipline.parameters if every else discipline.own_parameters
    if details:
        columns = ["parameter", "symbol", "unit", "default", "allowed", "meaning"]
        print_rows(columns, [[p.key, p.symbol, p.unit, text_of(p.default), p.allowed, p.doc] for p in shown])
    else:
        _list_parameters(shown)
    others = dict.fromkeys(part for p in discipline.parameters if p not in shown for part in p.parts)
    if others:
        count = len(discipline.parameters) - len(shown)
        more = counted(count, "more parameter has", "more parameters have")
        words = f"{more} an effect with another part ({', '.join(others)})"
        print_wrapped(f"{words}; --all lists them.")


def _list_parameters(parameters: Sequence[Parameter]) -> None:
    """Print the parameters of a discipline with their meaning; of many only the numbers, and the others' defaults."""
    described = list(parameters)
    if len(described) > MOST_PARAMETERS:
        described = [one for one in described if not _is_switch(one)][:MOST_PARAMETERS]
    print_rows(["parameter", "default", "meaning"], [[p.key, _default(p.default, p.unit), p.doc] for p in described])
    rest = [p for p in parameters if p not in described]
    if rest:
        print_wrapped(f"Also: {', '.join(f'{p.key} ({_default(p.default, p.unit) or NO_DEFAULT})' for p in rest)}.")
        print()
    print_wrapped(f"--details prints {'all meanings, ' if rest else ''}symbols and the values allowed.")


def _is_switch(one: Parameter) -> bool:
    """Whether the values of a parameter are words, texts, or yes and no."""
    return isinstance(one.default, bool | str) or (bool(one.choices) and one.low is None and one.high is None)


def _default(value: object, unit: str) -> str:
    """Return a default with its unit.

    >>> _default(5, "packets"), _default(0.1, "1"), _default(None, "ms")
    ('5 packets', '0.1', '')
    """
    text = text_of(value)
    return f"{text} {unit}" if text and unit not in ("", "1") and not isinstance(value, str | bool) else text


def _list_all(*, details: bool) -> None:
    """Print the names of disciplines, parts of RED, transports and congestion controls; with details a line on each."""
    from aqmlab.scenario import registry

    disciplines, transports, controls = registry.disciplines(), registry.transports(), registry.controllers()
    parts = {key: list(own.values()) for key, own in registry.parts().items()}
    if details:
        print_rows(["discipline", "idea", "source"], [[d.name, d.doc, d.paper] for d in disciplines])
        words = [[key, p.name, p.doc] for key, own in parts.items() for p in own]
        print_rows(["part of RED", "word", "idea"], words, 2)
        print_rows(["transport", "what", "profile"], [[t.name, t.title, t.profile or ""] for t in transports.values()])
        rows = [[c.name, c.doc, c.source] for c in controls.values()]
        print_rows(["congestion control of tcp", "responds to", "source"], rows)
    else:
        named = {"Disciplines": [d.name for d in disciplines], "Transports": list(transports)}
        named |= {"Congestion controls of tcp": list(controls)}
        named |= {f"Parts of RED, {key}": [p.name for p in own] for key, own in parts.items()}
        for title, names in named.items():
            print_wrapped(f"{title}: {', '.join(names)}.")
        print()
    print_wrapped(
        f"aqmlab list NAME shows the parameters of one, aqmlab list {QUANTITIES} the quantities of runs"
        f"{'.' if details else ', aqmlab list --details the idea and the source of each.'}"
    )


def _list_traces(*, as_json: bool) -> None:
    """List the traces of this folder and of the examples."""
    from aqmlab.scenario.traces import Trace, traces

    found = traces()
    valid = [one for one in found if isinstance(one, Trace)]
    if as_json:
        print_json([dataclasses.asdict(one) | {"file": str(one.file)} for one in valid])
        return
    columns = ["trace", "reading", "mean Mbit/s", "period s", "longest outage s"]
    numbers = [(one.mean_bps / 1e6, one.period_s, one.longest_outage_s) for one in valid]
    rows = [[str(one.file), one.reading, *(f"{x:.4g}" for x in row)] for one, row in zip(valid, numbers, strict=True)]
    print_rows(columns, rows)
    for error in found:
        if not isinstance(error, Trace):
            warn(str(error))


def _registry_data(name: str | None, *, every: bool) -> dict[str, Any]:
    """Return the registry, or one entry of it; of a discipline's parameters those that have an effect, or all."""
    from aqmlab.scenario import registry

    data = registry.registry()
    if name in registry.transports():
        return next(entry for entry in data["transports"] if entry["name"] == name)
    own = {d.name: {p.key for p in (d.parameters if every else d.own_parameters)} for d in registry.disciplines()}
    entries = [
        entry | {"parameters": [p for p in entry["parameters"] if p["key"] in own[entry["name"]]]}
        for entry in data["disciplines"]
    ]
    if name is None:
        return data | {"disciplines": entries}
    registry.discipline(name)
    return next(entry for entry in entries if entry["name"] == name)


@command("aqmlab init", "aqmlab init dumbbell-red --out my.toml")
def init(
    name: Annotated[str | None, typer.Argument(help="The example; default: list them.", metavar="[EXAMPLE]")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to write it; default: EXAMPLE.toml here.", metavar="FILE")
    ] = None,
) -> None:
    """Begin a scenario file with an example, or list the examples. Python: aqmlab.run("example:NAME")."""
    from aqmlab.results import folders
    from aqmlab.results.outputs import check_ending
    from aqmlab.scenario.file import EXAMPLE, example_text, examples

    if name is None:
        print_rows(["example", "what"], [[own, _description_of(text)] for own, text in examples().items()])
        print_wrapped(f"aqmlab init NAME writes NAME.toml here; {EXAMPLE}NAME stands for the file in every command.")
        return
    text = example_text(name)
    path = out if out is not None else Path(f"{name.removesuffix('.toml')}.toml")
    if path.exists():
        raise InputError(f"{path}: is there already (another name: --out FILE)")
    check_ending(path, "toml")
    folders.save(path, text)
    say(f"{path}: {_description_of(text)}")
    say(f"Next: aqmlab check {path}, aqmlab draw {path}, aqmlab run {path}")


def _description_of(text: str) -> str:
    return str(read_toml(text).get("description", ""))


def _list_quantities(name: str, *, details: bool, as_json: bool) -> None:
    """Print all quantities, or the details of one."""
    from dataclasses import asdict

    from aqmlab.results import quantities
    from aqmlab.results.limits import WORDS

    shown = list(quantities.QUANTITIES.values()) if name == QUANTITIES else [quantities.quantity(name)]
    if as_json:
        print_json([asdict(one) for one in shown] if name == QUANTITIES else asdict(shown[0]))
        return
    if name == QUANTITIES and not details:
        print_rows(["quantity", "unit", "title"], [[one.key, one.unit, one.title] for one in shown])
    else:
        print_rows(["quantity", "unit", "definition"], [[one.key, one.unit, one.doc] for one in shown])
    if name == QUANTITIES:
        print("aqmlab list NAME shows the details of one, --details the definitions.")
        return
    one = shown[0]
    low, high = one.bounds
    rows = [
        ["title", one.title],
        ["group", one.group],
        ["allowed", f"{low:g} to {high:g}" if math.isfinite(high) else f"at least {low:g}"],
        *([["at most", WORDS[one.limited_by]]] if one.limited_by is not None else []),
        ["better", one.better or "-"],
        ["in compare", one.compared],
        ["by group", "yes" if one.of_groups else "no"],
        ["views", ", ".join(one.places)],
    ]
    print_rows(["detail", "value"], rows)


def _list_transport(transport: Transport, *, details: bool) -> None:
    print_wrapped(f"{transport.name}: {transport.title}")
    print()
    if details:
        columns = ["option", "unit", "default", "allowed", "meaning", "source"]
        shown = [[p.key, p.unit, text_of(p.default), p.allowed, p.doc, p.source] for p in transport.parameters]
        print_rows(columns, shown)
    else:
        rows = [[p.key, _default(p.default, p.unit), p.doc] for p in transport.parameters]
        print_rows(["option", "default", "meaning"], rows)
        print("--details prints the values allowed and the sources.")


@command("aqmlab schema > scenario.schema.json")
def schema() -> None:
    """Print the JSON schema of scenario files, for editors. Python: aqmlab.schema."""
    from aqmlab.scenario import registry

    print_json(registry.schema())


@command("aqmlab check my.toml --set queue.bottleneck.aqm=codel")
def check(file: File, set_: Set = None, as_json: Json = False) -> None:
    """Validate a scenario file without running it; all errors at once. Python: aqmlab.check."""
    from aqmlab.scenario.file import Scenario

    try:
        plan = Scenario.load(file, overrides=parse_overrides(set_))
    except ScenarioError as error:
        if as_json:
            print_json({"ok": False, "errors": [vars(problem) for problem in error.problems]})
            raise typer.Exit(error.exit_code) from None
        raise
    for warning in plan.warnings:
        warn(str(warning))
    if as_json:
        data = {"name": plan.name, "hash": plan.hash, "links": plan.counts["links"], "flows": plan.counts["flows"]}
        print_json({"ok": True, "errors": [], "warnings": [vars(w) for w in plan.warnings], "scenario": data})
        return
    counts = f"{counted(plan.counts['links'], 'link')}, {counted(plan.counts['flows'], 'flow')}"
    say(f"{file}: valid ({plan.name}, {counts}, {plan.duration_s:g} s)")


@command("aqmlab draw example:dumbbell-red --out pictures --png")
def draw(
    file: File,
    set_: Set = None,
    out: Annotated[Path, typer.Option("--out", help="Folder for the pictures.", metavar="DIR")] = Path(),
    png: Annotated[bool, typer.Option("--png", help="Also as PNG.")] = False,
    as_json: Json = False,
) -> None:
    """Draw a scenario's network, queues and drop curves as SVG. Python: aqmlab.draw."""
    from aqmlab.reporting.topology import draw as work

    if out.suffix in (".svg", ".png") and not out.exists():
        raise InputError(f"{out}: is the name of a picture; name a folder")
    files = work(file, overrides=parse_overrides(set_), out=out, png=png)
    if as_json:
        print_json({"files": [str(path) for path in files]})
        return
    for path in files:
        say(path)
