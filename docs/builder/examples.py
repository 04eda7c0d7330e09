"""Runs the marked examples of a page, as `builder.code_blocks` finds them, in a folder of their own."""

from __future__ import annotations

import doctest
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from builder.code_blocks import blocks

ROOT = Path(__file__).resolve().parents[2]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def has_examples(page: Path) -> bool:
    """Whether there is anything to run."""
    return any(block.mark == "example" for block in blocks(page.read_text(encoding="utf-8")))


def run(page: Path, folder: Path, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Run a page's examples one after the other, and return what went wrong.

    Parameters
    ----------
    page
        The page.
    folder
        An empty folder, which gets ``examples/`` and ``docs/`` of the checkout, and the files that the commands make.
    environment
        Environment variables of the commands.
    """
    for name in ("examples", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.svg", "__pycache__"))
    wrong = []
    said = ""
    for block in blocks(page.read_text(encoding="utf-8")):
        place = f"{page.relative_to(ROOT)}:{block.line + 1}"
        if block.mark == "file":
            (folder / block.name).write_text(block.text + "\n", encoding="utf-8")
        elif block.mark == "example":
            words = ["bash", "-euo", "pipefail", "-c", block.text]
            done = subprocess.run(
                words,
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            said = done.stdout
            if done.returncode:
                wrong.append(f"{place}: exit code {done.returncode}\n{said}")
        elif block.mark == "output" and not doctest.OutputChecker().check_output(block.text + "\n", said, FLAGS):
            wrong.append(f"{place}: expected\n{block.text}\nbut it says\n{said}")
    return wrong
