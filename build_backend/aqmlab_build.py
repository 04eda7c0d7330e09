"""Build backend of ``pip install .``: that of maturin, after the simulator for browsers (`simulator`)."""

from __future__ import annotations

from typing import Any

import maturin
from maturin import (
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

import simulator

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]


def build_wheel(*arguments: Any, **named: Any) -> str:  # noqa: ANN401 - arguments of PEP 517
    """Build a wheel."""
    simulator.add_if_possible()
    return str(maturin.build_wheel(*arguments, **named))


def build_editable(*arguments: Any, **named: Any) -> str:  # noqa: ANN401 - arguments of PEP 660
    """Build an editable wheel."""
    simulator.add_if_possible()
    return str(maturin.build_editable(*arguments, **named))
