"""A page for each discipline of the registry, whatever it holds: idea, paper, pictures, numbers, parameters."""

from __future__ import annotations

import json
from collections.abc import Iterable

from aqmlab.errors import ScenarioError
from aqmlab.scenario.registry import (
    Discipline,
    Parameter,
    Transport,
    controllers,
    disciplines,
    parts,
    registry,
    transports,
)
from builder.lesson import laboratory
from builder.page import Page, cell, code, plain, table
from builder.scene import Shown, show

FOLDER = "disciplines"
OVERVIEW = """\
# Disciplines

Everything here is made of the registry that also feeds `aqmlab list`, the scenario parser and its messages. A name of
the RED family is a *preset*: a choice of [parts](../concepts/parts.md), each of which can be exchanged
([how parts combine](../combinations.md)).

All pictures and numbers show the same minute: ten TCP flows over 10 Mb/s, 4 *near*, 4 *far* (their packets have come
one hop more, which DDRED looks at) and 2 *assured* (priority, and 1 Mb/s each in profile, which PC-RED and classes look
at), and 20 more from 20 s to 40 s. One run each, every parameter at its default but a buffer of 100 packets: this
shows how a discipline behaves; which one is better is a question for `aqmlab compare` and many seeds."""


def pages() -> list[Page]:
    """Make the overview, a page for each discipline, and one for the transports."""
    known = disciplines()
    shown = {one.name: _shown(one) for one in known}
    return [
        Page(f"{FOLDER}/index.md", "Overview", _overview(known, shown)),
        *(_page(one, shown[one.name]) for one in known),
    ]


def transport_page() -> Page:
    """Make the page of transports and their options."""
    parts = ["# Transports", "What `transport` of a `[[flow]]` may be, and the options of its table `tcp` or `scream`."]
    parts.append(
        table(
            ["transport", "what", "profile"],
            [[code(t.name), cell(t.title), cell(t.profile)] for t in transports().values()],
        )
    )
    parts += [
        "## Controllers",
        "What `congestion_control` of a flow of profile `rfc` may be. Options that begin with a controller's name are "
        "its own. `ecn` selects one of the words in its row, the first by default.",
        table(
            ["`congestion_control`", "responds to", "`ecn`", "source"],
            [
                [code(one.name), cell(one.doc), ", ".join(map(code, one.ecn)), plain(cell(one.source))]
                for one in controllers().values()
            ],
        ),
    ]
    for names, one in _by_options(transports().values()):
        if one.parameters:
            rows = [
                [code(p.key), cell(p.unit), _default(p), cell(p.allowed), plain(cell(p.doc)), plain(cell(p.source))]
                for p in one.parameters
            ]
            parts += [
                f"## Options of {names}",
                table(["option", "unit", "default", "allowed", "meaning", "source"], rows),
            ]
    return Page("reference/transports.md", "Transports", "\n\n".join(parts))


def _by_options(found: Iterable[Transport]) -> list[tuple[str, Transport]]:
    """Put transports with the same options together."""
    together: dict[str, list[Transport]] = {}
    for one in found:
        together.setdefault(one.profile or one.name, []).append(one)
    return [(", ".join(t.name for t in group), group[0]) for group in together.values()]


def _shown(discipline: Discipline) -> Shown | str:
    """Run the scene; where a discipline has no defaults for all it needs, return what it asks for."""
    try:
        return show(discipline)
    except ScenarioError as error:
        return str(error.problems[0].message)


def _overview(known: list[Discipline], shown: dict[str, Shown | str]) -> str:
    rows = [[f"[{code(d.name)}]({d.name}.md)", plain(cell(d.doc)), plain(cell(d.paper))] for d in known]
    measured = {name: one.numbers for name, one in shown.items() if isinstance(one, Shown)}
    headings = list(dict.fromkeys(heading for numbers in measured.values() for heading in numbers))
    numbers = [[f"[{code(name)}]({name}.md)", *(one.get(h, "") for h in headings)] for name, one in measured.items()]
    words = [[code(key), code(p.name), plain(cell(p.doc))] for key, own in parts().items() for p in own.values()]
    dialects = ", ".join(code(word) for word in registry()["dialects"])
    return "\n\n".join(
        [
            OVERVIEW,
            table(["name", "idea", "source"], rows),
            "## The same minute in numbers",
            table(["name", *headings], numbers),
            "## Words of the parts",
            table(["key", "word", "idea"], words),
            f"The word of `dialect` sets all switches: {dialects}.",
        ]
    )


def _page(discipline: Discipline, shown: Shown | str) -> Page:
    name = discipline.name
    parts = [f"# {plain(discipline.title)}", f'`aqm = "{name}"`', plain(discipline.doc)]
    if discipline.paper:
        parts.append(f"**Source**: {plain(discipline.paper)}")
    files: dict[str, bytes] = {}
    if isinstance(shown, Shown):
        for key, picture in shown.pictures.items():
            files[f"{FOLDER}/{name}-{key}.svg"] = picture
            parts.append(f"![{plain(cell(shown.alts[key]))}]({name}-{key}.svg)")
        parts += [
            "The queue of the bottleneck in the minute that [all disciplines](index.md) are shown with: ten flows, and "
            "20 more where it is shaded.",
            table(list(shown.numbers), [list(shown.numbers.values())]),
            f"## In a scenario\n\n```toml\n[queue.bottleneck]\n{shown.queue}\n```",
        ]
    else:
        parts.append(f"It needs settings of its own to run: {plain(cell(shown))}")
    if isinstance(shown, Shown):
        address = laboratory({"aqm": name})
        parts.append(f"[Try {plain(name)} in this browser]({address}): turn its parameters and watch its queue.")
    parts.append(f"```sh\naqmlab list {name}\naqmlab compare examples/dumbbell-red.toml --aqm red,{name}\n```")
    parts += ["## Parameters", _parameters(discipline.own_parameters)]
    others = [p for p in discipline.parameters if p not in discipline.own_parameters]
    if others:
        parts += ["## Parameters of other victims and adaptations", _parameters(others)]
    return Page(f"{FOLDER}/{name}.md", name, "\n\n".join(parts), files)


def _parameters(found: Iterable[Parameter]) -> str:
    rows = [
        [
            code(p.key),
            code(p.symbol if p.symbol != p.key else None),
            cell(p.unit),
            _default(p),
            plain(cell(p.allowed)),
            _meaning(p),
            plain(cell(p.source)),
        ]
        for p in found
    ]
    return table(["parameter", "symbol", "unit", "default", "allowed", "meaning", "source"], rows)


def _meaning(parameter: Parameter) -> str:
    only = f" (with {', '.join(parameter.parts)})" if parameter.parts else ""
    return plain(cell(parameter.doc)) + only


def _default(parameter: Parameter) -> str:
    value = parameter.default
    return code(json.dumps(value) if isinstance(value, list | dict) else value)
