"""Render HTML with Jinja: the markup is in ``templates/``, and Jinja escapes every text that goes into it."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Iterable

MARKS = {"holds": "✓", "fails": "✗", "no effect": "≈", "undecided": "?", "not engaged": "–"}
"""The sign of each verdict."""


def block(name: str, **values: object) -> Markup:
    """Render one macro of ``templates/blocks.html``.

    >>> block("badge", verdict="holds"), block("inline", text="1 < 2 and `x`")
    (Markup('<span class="badge holds">✓ holds</span>'), Markup('1 &lt; 2 and <code>x</code>'))
    """
    return Markup(getattr(_environment().get_template("blocks.html").module, name)(**values))


def page(*, scripts: list[Markup], inserted: Iterable[str] = (), frames: bool = False, **values: object) -> str:
    """Render ``templates/page.html``.

    Parameters
    ----------
    scripts
        The scripts that the page runs; no others run.
    inserted
        Scripts that `scripts` insert.
    frames
        Whether it shows pages beside it.
    values
        All else that the template shows.
    """
    policy = policy_for([*scripts, *inserted]) + ("; frame-src 'self'" if frames else "")
    return _environment().get_template("page.html").render(scripts=scripts, policy=policy, **values)


def policy_for(scripts: Iterable[str]) -> str:
    """Return the content security policy of a page that runs these scripts: nothing else runs, nothing is loaded.

    Source: W3C, Content Security Policy Level 3, section 2.3.1 (hashes of scripts).

    >>> policy_for(["1"]).split("; ")[1]
    "script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='"
    """
    return (
        f"default-src 'none'; script-src {script_sources(scripts)}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def script_sources(scripts: Iterable[str]) -> str:
    """Return the hashes of scripts as a list of sources for ``script-src``."""
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)
    return " ".join(f"'sha256-{one}'" for one in hashes)


def resource(name: str) -> Markup:
    """Return a file of this package, which goes into a page as it is."""
    return Markup(resources.files("aqmlab.reporting").joinpath(name).read_text(encoding="utf-8"))


def lines_of_pieces(text: str) -> list[list[tuple[str, bool]]]:
    """Split a text into lines, and each line into pieces with whether they are code: the words between backquotes.

    >>> lines_of_pieces("the key `x`"), lines_of_pieces("one ` stays")
    ([[('the key ', False), ('x', True), ('', False)]], [[('one ` stays', False)]])
    """
    found = []
    for line in text.strip().splitlines():
        pieces = line.strip().split("`")
        paired = len(pieces) % 2 == 1
        found.append([(piece, i % 2 == 1) for i, piece in enumerate(pieces)] if paired else [(line.strip(), False)])
    return found


def whole_pieces(value: str) -> Markup:
    """Return a number and its interval as two pieces: a narrow column breaks between them alone.

    >>> whole_pieces("4.33 ± 0.16"), whole_pieces("4.33")
    (Markup('4.33 <span class=whole>± 0.16</span>'), Markup('4.33'))
    """
    head, space, tail = value.partition(" ")
    return Markup("{} <span class=whole>{}</span>").format(head, tail) if space else escape(head)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("aqmlab.reporting"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["lines_of_pieces"] = lines_of_pieces
    environment.filters["whole_pieces"] = whole_pieces
    environment.globals["marks"] = MARKS
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    return environment
