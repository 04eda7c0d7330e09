"""Display of objects in a notebook: a mixin for their classes. `aqmlab.notebook` makes the HTML."""

from __future__ import annotations

import importlib


class Shown:
    """Something that a notebook shows as a page of HTML with a figure."""

    def _repr_html_(self) -> str:
        # By its name: `aqmlab.notebook` draws, and stands above the packages whose objects it shows.
        text: str = importlib.import_module("aqmlab.notebook").html(self)
        return text
