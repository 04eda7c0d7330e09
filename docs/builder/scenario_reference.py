"""The reference of the scenario file: a page for each table of it, out of the JSON schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aqmlab.scenario.registry import schema
from builder.page import Page, cell, code, table

Node = Mapping[str, Any]
FOLDER = "reference/scenario"
UNITS = re.compile(r"\(((?:[A-Za-z%]+\|)*[A-Za-z%]+)\)\\s\*\$$")
"""How the pattern of a quantity ends: with its units."""
TOPOLOGY = "A file has exactly one of these, or `[[link]]`: "


def pages() -> list[Page]:
    """Make the overview and a page for each table."""
    root = schema()
    tables = {name: node for name, node in root["properties"].items() if _children(node)}
    shapes = [str(one["required"][0]) for one in root.get("oneOf", ())]
    rows = [
        [f"[`{_header(name, node)}`]({name}.md)", _needed(root, name, shapes), _told(node)]
        for name, node in tables.items()
    ]
    single = [
        [code(name), _needed(root, name, shapes), _told(node), kind(node)]
        for name, node in root["properties"].items()
        if name not in tables
    ]
    text = "\n\n".join(
        [
            "# The scenario file",
            "A scenario is a TOML file. These pages are made of the JSON schema that `aqmlab schema` prints, so an "
            "editor that is given it knows the same keys. `aqmlab check FILE.toml` names every mistake with its place.",
            "## Tables",
            table(["table", "needed", "what"], rows),
            "## Keys before the first table",
            table(["key", "needed", "what", "value"], single),
        ]
    )
    made = [Page(f"{FOLDER}/index.md", "Overview", text)]
    return made + [Page(f"{FOLDER}/{name}.md", _header(name, node), _page(name, node)) for name, node in tables.items()]


def kind(node: Node) -> str:
    """Return a description of the valid values.

    >>> kind({"type": "integer", "minimum": 1, "maximum": 10})
    'whole number, 1 to 10'
    >>> kind({"anyOf": [{"enum": ["auto"]}, {"exclusiveMinimum": 0, "type": "number"}]})
    '`"auto"`, or number above 0'
    """
    if "anyOf" in node:
        return ", or ".join(dict.fromkeys(kind(one) for one in node["anyOf"]))
    if "enum" in node:
        return " ".join(f'`"{word}"`' for word in node["enum"])
    if "const" in node:
        return code(node["const"])
    if node.get("type") == "array":
        least, most = node.get("minItems"), node.get("maxItems")
        number = f" of {least}" if least is not None and least == most else ""
        return f"list{number}: {kind(node['items'])}" if "items" in node else "list"
    if node.get("type") == "object":
        keys = node.get("properties")
        return "table" + (f" with {' '.join(code(key) for key in keys)}" if keys else "")
    if node.get("type") == "string":
        units = UNITS.search(node.get("pattern", ""))
        return f"text: number with unit {' '.join(code(u) for u in units[1].split('|'))}" if units else "text"
    return {"integer": "whole number", "number": "number", "boolean": "`true` or `false`"}.get(
        str(node.get("type")), "value"
    ) + _range(node)


def _range(node: Node) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    words = [f"above {above:g}"] if above is not None else []
    words += [f"below {below:g}"] if below is not None else []
    if low is not None and high is not None:
        return f", {low:g} to {high:.12g}"
    words += [f"at least {low:g}"] if low is not None else []
    words += [f"at most {high:.12g}"] if high is not None else []
    return " " + " and ".join(words) if words else ""


def _page(name: str, node: Node) -> str:
    parts = [f"# {_header(name, node)}", f"{_told(node)}"]
    for path, one in _tables(_header(name, node), node):
        if path != _header(name, node):
            parts += [f"## {path}", _told(one)]
        elif _told(one) != _told(node):
            parts.append(_told(one))
        rows = [
            [
                code(key),
                "yes" if key in one.get("required", ()) else "",
                code(value.get("default")),
                kind(value),
                _told(value),
            ]
            for key, value in one["properties"].items()
        ]
        parts.append(table(["key", "needed", "default", "value", "what"], rows))
    if name == "queue":
        parts.append(
            "Which key belongs to which discipline, with symbols, defaults and sources, is in "
            "[Disciplines](../../disciplines/index.md)."
        )
    return "\n\n".join(parts)


def _tables(path: str, node: Node) -> Iterator[tuple[str, Node]]:
    """Go through a table and all tables in it, each with its name."""
    if node.get("type") == "array" and "items" in node:
        node = node["items"]
    elif isinstance(node.get("additionalProperties"), Mapping):
        node = node["additionalProperties"]
    if node.get("properties"):
        yield path, node
    for key, value in node.get("properties", {}).items():
        for choice in value.get("anyOf", [value]):
            if _children(choice):
                which = _told(choice) if len([c for c in value.get("anyOf", ()) if _children(c)]) > 1 else ""
                yield from _tables(f"{path.strip('[]')}.{key}" + (f" ({which.rstrip('.')})" if which else ""), choice)


def _children(node: Node) -> bool:
    inner = node.get("items", node) if node.get("type") == "array" else node
    return bool(inner.get("properties")) or isinstance(inner.get("additionalProperties"), Mapping)


def _header(name: str, node: Node) -> str:
    if node.get("type") == "array":
        return f"[[{name}]]"
    return f"[{name}.NAME]" if isinstance(node.get("additionalProperties"), Mapping) else f"[{name}]"


def _told(node: Node) -> str:
    return cell(node.get("description", "")).replace("<", "&lt;")


def _needed(root: Node, name: str, shapes: list[str]) -> str:
    return "yes" if name in root.get("required", ()) else "one of these" if name in shapes else ""
