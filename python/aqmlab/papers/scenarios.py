"""Scenario files of the papers: ``paper:mred/sole.toml``."""

from __future__ import annotations

from importlib import resources

from aqmlab.errors import InputError, unknown

PREFIX = "paper:"


def text_of(name: str) -> str:
    """Return the text of ``pc-red/network1.toml``: a hyphen in a paper's key is an underscore in its folder's name."""
    papers = resources.files("aqmlab.papers")
    folders = sorted(entry.name for entry in papers.iterdir() if entry.joinpath("readings.toml").is_file())
    known = {
        f"{PREFIX}{folder.replace('_', '-')}/{file.name}": file
        for folder in folders
        for file in sorted(papers.joinpath(folder).iterdir(), key=lambda entry: entry.name)
        if file.name.endswith(".toml") and "\nformat = 1\n" in file.read_text(encoding="utf-8")
    }
    if f"{PREFIX}{name}" not in known:
        raise InputError(unknown("scenario", f"{PREFIX}{name}", list(known)))
    return known[f"{PREFIX}{name}"].read_text(encoding="utf-8")
