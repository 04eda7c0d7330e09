"""Hostile names of scenarios through every generator: kernel module, BPF, ns-2, ns-3, tc."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from aqmlab.interop.crosscheck.tools import tools
from aqmlab.interop.kernel.export import kernel_queue, module_files
from aqmlab.interop.kernel.export_bpf import bpf_files, bpf_queue
from aqmlab.interop.model import Model
from aqmlab.scenario.file import Scenario
from attacks.tally import EXAMPLES, Tally

PIECES = (*"\"'`$()[]{};|&<>#%@!*?~^=+-/\\,.: ", "??/", "*/", "/*", "//", "HIT", "é", "☃", "\\\\")
NAMES = 2000
BATCH = 100
SIZE = 118
"""Most bytes of a name: `check` allows 120."""


def names(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Compare the code of each generator with that of a plain name; comments alone may differ.

    At least `NAMES` names are drawn, whatever the time.
    """
    text = (EXAMPLES / "dumbbell-red.toml").read_text()
    plain = generated(scenario(text, "plain"))
    expected = {form: code(form, [files]) for form, files in plain.items()}
    done = 0
    while done < NAMES or left():
        drawn = [name(chance) for _ in range(BATCH)]
        made = [generated(scenario(text, one)) for one in drawn]
        for form in plain:
            for one, files in zip(drawn, made, strict=True):
                if other := lines_that_differ(form, plain[form], files[form]):
                    tally.find(f"{form}: name {one!r} changes {other}")
                tally.note(f"{form}: same code")
            found = code(form, [files[form] for files in made])
            if found != expected[form] * BATCH:
                tally.find(f"{form}: a name of {drawn!r} is code to the compiler")
        done += BATCH


def name(chance: random.Random) -> str:
    """Draw a name of special characters."""
    found = "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 40)))
    return found.encode()[:SIZE].decode(errors="ignore").strip() or "*/"


def scenario(text: str, name: str) -> Scenario:
    """Return a scenario with this name as its name, description and file name."""
    quoted = json.dumps(name, ensure_ascii=False)
    head, _, rest = text.partition("\n[")
    body = "\n".join(line for line in head.splitlines() if not line.startswith(("name =", "description =")))
    return Scenario.from_text(f"name = {quoted}\ndescription = {quoted}\n{body}\n[{rest}", filename=f"{name}.toml")


def generated(plan: Scenario) -> dict[str, dict[str, str]]:
    """Return the files of every generator."""
    model = Model.of(plan)
    files = {
        "kernel": module_files(kernel_queue(plan, name="same")),
        "bpf": bpf_files(bpf_queue(plan, name="same")),
    }
    return files | {form: tools(form)[0].files(model) for form in ("ns2", "ns3", "tc")}


def lines_that_differ(form: str, plain: Mapping[str, str], made: Mapping[str, str]) -> str:
    """Return the first line that is no comment and differs from that of a plain name; "" if none does."""
    mark = {"ns3": "//"}.get(form, "#")
    for (file, expected), text in zip(plain.items(), made.values(), strict=True):
        if file.endswith((".c", ".h", ".md")):
            continue
        one, other = ([line for line in lines.splitlines() if not line.startswith(mark)] for lines in (expected, text))
        if one != other:
            return f"{file}: {next((b for a, b in zip(one, other, strict=False) if a != b), 'number of lines')}"
    return ""


def code(form: str, files: list[dict[str, str]]) -> str:
    """Return the C of several exports without comments, as the compiler reads it; "" for other languages."""
    if form not in ("kernel", "bpf"):
        return ""
    text = "\n".join(text for one in files for file, text in one.items() if file.endswith((".c", ".h")))
    words = ["gcc", "-fpreprocessed", "-E", "-P", "-"]
    return subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout
