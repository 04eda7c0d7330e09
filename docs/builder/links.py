"""Checks a built site: every link leads somewhere inside of it, and nothing is loaded from elsewhere.

``python docs/builder/links.py site``; addresses on the web are not visited.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}
"""Elements and attributes that a browser fetches by itself; links such as ``rel=canonical`` only name an address."""
LABORATORY = "try.html"
"""Page whose fragment (after `#`) is a setting."""
TOLD = {"canonical", "prev", "next", "alternate"}


@dataclass
class Seen(HTMLParser):
    """Links of a page, the files it loads, and its anchors."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take up a tag."""
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if found.get(LOADED.get(tag, "")) and found.get("rel") not in TOLD:
            self.loads.append(found[LOADED[tag]])


def check(root: Path) -> list[str]:
    """Return a line for everything that is wrong in a built site."""
    root = root.resolve()
    pages: dict[Path, Seen] = {}
    for path in sorted(root.rglob("*.html")):
        pages[path] = seen = Seen()
        seen.feed(path.read_text(encoding="utf-8"))
    wrong = []
    for path, seen in pages.items():
        # The page for missing addresses may be shown at any address.
        if path.name == "404.html":
            continue
        for address in dict.fromkeys([*seen.links, *seen.loads]):
            reason = _reason(address, path, root, pages, loaded=address in seen.loads)
            if reason:
                wrong.append(f"{path.relative_to(root)}: {address}: {reason}")
    return wrong


def _reason(address: str, path: Path, root: Path, pages: dict[Path, Seen], *, loaded: bool) -> str:
    parts = urlsplit(address)
    if parts.scheme in ("http", "https") or parts.netloc:
        return "is loaded from elsewhere" if loaded else ""
    if parts.scheme:
        return ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_relative_to(root):
        return "leads out of the site"
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "is not there"
    if target.name == LABORATORY:
        return ""
    anchor = unquote(parts.fragment)
    known = pages.get(target)
    return f"has no anchor {anchor}" if anchor and known is not None and anchor not in known.anchors else ""


def main(arguments: list[str]) -> int:
    """Check a site, print its errors, and return the exit code."""
    root = Path(arguments[0])
    wrong = check(root)
    print("\n".join(wrong) or f"{len(list(root.rglob('*.html')))} pages, all links lead somewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
