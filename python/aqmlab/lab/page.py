"""The laboratory's page: one HTML file with its scripts, its styles and its scenario.

A content security policy names its own scripts and styles by their hashes and allows nothing else. A standalone page
also holds the simulator, `aqmlab.wasm`, which ``make web`` builds of ``crates/web``, and asks no server. A served
page sends the same requests to its server.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from aqmlab import extensions
from aqmlab.errors import Error, InputError
from aqmlab.figures.marks import COLORS, DASHES, DISCIPLINES, GREY, PALETTE, SHAPES
from aqmlab.figures.scale import CLIP, HEADROOM
from aqmlab.results.tins import ROWS, TITLES
from aqmlab.scenario.file import Overrides, Scenario, read_text
from aqmlab.scenario.registry import discipline

BUILT_IN = "lab:dumbbell.toml"
CORE = "lab/aqmlab.wasm"
ROUTER = ("aqmlab.routers", "linux")
STYLES = ("reporting/style.css", "lab/vendor/uplot/uPlot.min.css", "lab/lab.css")
CHARTS = "lab/vendor/uplot/uPlot.iife.min.js"
PAGE = (
    *("address", "backend", "shapes", "chart", "history", "numbers", "panel", "curve_view", "queue_view", "grips"),
    *("watching", "uplink", "lab"),
)
WORKER = ("core", "controls", "facts", "marks", "results", "recording", "lanes", "local", "worker")
"""Modules of the page and of its worker, each after those that it imports. There is no file of `facts`."""

PRESETS = {
    "MRED, TCP flows": "paper:mred/sole.toml",
    "ExRED, TCP flows": "paper:exred/tcp.toml",
    "PC-RED, network 1": "paper:pc-red/network1.toml",
    "DDRED, fairness network": "paper:ddred/pair.toml",
    "Adaptive-RIO, experiment 1": "paper:adaptive-rio/experiment1.toml",
    "L4S, Prague and CUBIC": "example:l4s",
}
"""A scenario of each reproduced paper and one of L4S, which the page offers beside its own."""


def standalone_page(scenario: str | Path | None = None, *, link: str | None = None, overrides: Overrides = ()) -> str:
    """Return the laboratory of a scenario as HTML that needs nothing else.

    Parameters
    ----------
    scenario
        A scenario file; default: a dumbbell with RED.
    link
        The link whose queue the controls set; default: ``bottleneck``, else the busiest link that is not drop-tail.
    overrides
        Dotted keys and values that override the file's.

    Raises
    ------
    InputError
        If a discipline of the scenario is written in Python.
    Error
        If the simulator for browsers is not built.
    """
    plan = _loaded(scenario, overrides)
    for name, queue in plan.queues.items():
        if discipline(queue["aqm"]).foreign:
            raise InputError(
                f"{plan.filename}: queue.{name}.aqm: {queue['aqm']} is written in Python, which a page cannot run "
                "(allowed: aqmlab lab without --out)"
            )
    simulator = _inert("core", "text/plain", _core())
    return _page(_setup(plan, link, served=False), simulator, "script-src {scripts} 'wasm-unsafe-eval'")


def served_page(scenario: str | Path | None = None, *, link: str | None = None, overrides: Overrides = ()) -> str:
    """Return the laboratory as `standalone_page`, without the simulator: it asks ``core`` beside it."""
    setup = _setup(_loaded(scenario, overrides), link, served=True)
    return _page(setup, "", "script-src {scripts}; connect-src 'self'")


def _loaded(scenario: str | Path | None, overrides: Overrides) -> Scenario:
    return Scenario.load(str(scenario or BUILT_IN), overrides=overrides)


def _setup(plan: Scenario, link: str | None, *, served: bool) -> str:
    """Return the first state of the page, as an element."""
    setup = {
        "served": served,
        "text": plan.text,
        "file": plan.filename,
        "link": plan.link(link).name if link is not None else None,
        "overrides": plan.overrides,
        "uplink": _uplink(),
        "presets": [{"name": name, "file": file, "text": read_text(Path(file))} for name, file in PRESETS.items()],
    }
    return _inert("setup", "application/json", _json(setup))


def _uplink() -> Any:  # noqa: ANN401 - as the add-on describes it
    """Return the model of the page "Your uplink"; None where no add-on writes commands for routers."""
    group, name = ROUTER
    return extensions.load(group, name).uplink_page() if name in extensions.names(group) else None


def _core() -> str:
    path = resources.files("aqmlab").joinpath(CORE)
    if not path.is_file():
        raise Error(
            "the simulator for browsers is not built: run `make web` in a checkout of aqmlab, or "
            "`rustup target add wasm32-unknown-unknown` and `pip install .` again; wheels contain it"
        )
    return base64.b64encode(gzip.compress(path.read_bytes(), mtime=0)).decode()


def _page(setup: str, simulator: str, sources: str) -> str:
    """Put everything into the page. `sources` are the directives of its policy that differ."""
    style = "\n".join(_text(name) for name in STYLES)
    scripts = [_text(CHARTS), bundle(PAGE)]
    sources = sources.format(scripts=" ".join(map(_hash, scripts)))
    policy = (
        f"default-src 'none'; {sources}; style-src {_hash(style)}; worker-src blob:; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    head, body = _text("lab/page.html").split("</head>")
    head = head.replace("<title>", f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<title>')
    inert = setup + _inert("worker", "text/plain", bundle(WORKER)) + simulator
    run = "".join(f"<script>{script}</script>\n" for script in scripts)
    return f"{head}<style>{style}</style>\n</head>{body.replace('</body>', f'{inert}{run}</body>')}"


def _inert(name: str, kind: str, text: str) -> str:
    """Return an element with text that the page reads; the browser runs nothing of it."""
    return f'<script type="{kind}" id="{name}">{text}</script>\n'


def bundle(modules: Sequence[str]) -> str:
    """Return modules of this folder as one script: each becomes a function that returns what it exports.

    Imports of a module are then there by name, as modules come after those that they import from.

    >>> bundle(("core",)).startswith("const { ScenarioError, Core } = (() => {")
    True
    """
    return "\n".join(_function(_facts() if name == "facts" else _text(f"lab/{name}.js")) for name in modules)


def _facts() -> str:
    """Return the module with colours, and with the names of statistics, as Python has them."""
    known = {
        "colors": COLORS,
        "palette": len(PALETTE),
        "grey": GREY,
        "dashes": DASHES,
        "shapes": SHAPES,
        "disciplines": DISCIPLINES,
        "clip": CLIP,
        "headroom": HEADROOM,
        "tins": ROWS,
        "tin_titles": TITLES,
    }
    return f"export const FACTS = {_json(known)};\n"


def _json(value: object) -> str:
    """Return JSON that can stand in an element `script`."""
    return json.dumps(value).replace("<", r"\u003c")


def _function(module: str) -> str:
    names = ", ".join(re.findall(r"^export (?:async )?(?:class|function|const) (\w+)", module, re.MULTILINE))
    body = re.sub(r"^export ", "", re.sub(r"^import [^;]*;\n", "", module, flags=re.MULTILINE), flags=re.MULTILINE)
    return f'const {{ {names} }} = (() => {{\n"use strict";\n{body}return {{ {names} }};\n}})();'


def _text(name: str) -> str:
    return resources.files("aqmlab").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
