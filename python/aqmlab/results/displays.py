"""Display of objects in a notebook: a mixin for their classes. `aqmlab.notebook` makes the HTML."""

from __future__ import annotations

import aqmlab


class Shown:
    """Something that a notebook shows as a page of HTML with a figure."""

    def _repr_html_(self) -> str:
        # By its public name, which is imported now: it draws, and is in a layer above the objects it shows.
        text: str = aqmlab.notebook.html(self)
        return text
