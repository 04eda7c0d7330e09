"""Corrections of the theme's pages for assistive technology.

`docs/access.js` corrects the elements that the theme's scripts add.
"""

from __future__ import annotations

import re

DIALOG = re.compile(r'(<div class="md-search"[^>]*role="dialog")(?![^>]*aria-label)')
TAGS = re.compile(r"<nav\b[^>]*>|</nav>")
NESTED = re.compile(r'<nav(?= class="md-nav" data-md-level="[1-9]")')
"""A part of the navigation: a group within a landmark, which the theme makes a landmark of its own."""


def accessible(page: str) -> str:
    """Return a page with a named search dialog and one landmark for its navigation.

    >>> accessible('<nav aria-label="All"><nav class="md-nav" data-md-level="1" aria-labelledby="a"></nav></nav>')
    '<nav aria-label="All"><div role="group" class="md-nav" data-md-level="1" aria-labelledby="a"></div></nav>'
    """
    ends: list[str] = []

    def tag(found: re.Match[str]) -> str:
        if found[0] == "</nav>":
            return ends.pop() if ends else found[0]
        made = NESTED.sub('<div role="group"', found[0])
        ends.append("</nav>" if made == found[0] else "</div>")
        return made

    return TAGS.sub(tag, DIALOG.sub(r'\1 aria-label="Search the documentation"', page))
