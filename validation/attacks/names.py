"""Hostile text of a scenario through every generator; real parsers read the generated files."""

from __future__ import annotations

import contextlib
import json
import random
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from aqmlab.errors import ScenarioError
from aqmlab.interop.crosscheck.tools import tools
from aqmlab.interop.dialects import dialects_of
from aqmlab.interop.importing.reading import import_scenario
from aqmlab.interop.kernel.export import kernel_queue, module_files
from aqmlab.interop.kernel.export_bpf import bpf_files, bpf_queue
from aqmlab.interop.model import Model
from aqmlab.scenario.file import Scenario
from attacks.hostile_names import hostile_names
from attacks.tally import Tally

SCENARIO = """
format = 1
{name}
description = {description}
[run]
duration = "1s"
[dumbbell]
bottleneck = {{ rate = "10Mbps", delay = "10ms", queue = "bottleneck" }}
left = {{ rate = "100Mbps", delay = "5ms" }}
right = {{ rate = "100Mbps", delay = "5ms" }}
[queue.bottleneck]
{queue}
limit = "50p"
[[flow]]
name = "tcp"
start = "0s"
count = 2
transport = "newreno"
"""
RED = 'aqm = "red"\nmin_th = "5p"\nmax_th = "15p"\nmax_p = 0.1\nw_q = 0.01'
OTHER = 'aqm = "ddred"\nw_q = 0.02'
SETTINGS = (
    "tc qdisc add dev eth0 root handle 1: tbf rate 10mbit burst 1600 limit 1mb\ntc qdisc add dev eth0 parent 1: codel\n"
)
Files = Mapping[str, str]


def scenario_of(text: str, queue: str = RED) -> Scenario:
    """Return a scenario with this text as its name, its description and its file's name.

    A name that the core rejects is left out, so that the name of the file takes its place where that is allowed.
    """
    description = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    for name in (f"name = {description}", "", 'name = "plain"'):
        with contextlib.suppress(ScenarioError):
            written = SCENARIO.format(name=name, description=description, queue=queue)
            return Scenario.from_text(written, filename=f"{text}.toml")
    raise ValueError(f"no scenario can have the text {text!r}")


def _program(name: str) -> Callable[[Scenario], Files]:
    return lambda plan: {"script": next(iter(tools([name])[0].files(Model.of(plan)).values()))}


def _tuned(plan: Scenario) -> Files:
    return {one.name: "\n".join([one.text, *one.notes]) for one in dialects_of(plan, "bottleneck")}


GENERATORS: dict[str, Callable[[Scenario], Files]] = {
    "kernel": lambda plan: module_files(kernel_queue(plan, name="same")),
    "bpf": lambda plan: bpf_files(bpf_queue(plan, name="same")),
    "ns2": _program("ns2"),
    "ns3": _program("ns3"),
    "tc": _program("tc"),
    "tune": _tuned,
}
"""Generators of files; links, flows, queues and nodes have names of letters, digits and a few signs only."""


def faults(texts: Sequence[str], generator: str, queue: str = RED) -> Iterator[str]:
    """Yield the texts that are more than a comment, a string or a word in the files of a generator."""
    make = GENERATORS[generator]
    plain = make(scenario_of("plain", queue))
    made = [make(scenario_of(text, queue)) for text in texts]
    for file, expected in plain.items():
        right, *others = _reader(generator, file)([expected, *(files[file] for files in made)])
        wrong = (text for text, found in zip(texts, others, strict=True) if found != right)
        yield from (f"{generator}, {file}: {text!r}" for text in wrong)


def _reader(generator: str, file: str) -> Callable[[Sequence[str]], Sequence[object]]:
    """Return the parser of a file; files with no text of a scenario are compared as they are."""
    if file == "script":
        readers = {
            "ns2": lambda texts: scripts(texts, "tclsh"),
            "ns3": lambda texts: c_tokens(texts, "c++"),
            "tc": lambda texts: scripts(texts, "sh"),
        }
        return readers[generator]
    return c_tokens if file.endswith((".c", ".h")) else _readmes if file == "README.md" else list


def c_tokens(texts: Iterable[str], language: str = "c") -> list[str]:
    """Return programs as a compiler reads them: trigraphs replaced, lines joined, comments gone; in one call."""
    # No line is a directive: each stays visible as a token, and none is carried out.
    inert = (re.sub(r"^([ \t]*)(#|%:|\?\?=)", r"\1@HASH ", text, flags=re.MULTILINE) for text in texts)
    whole = "".join(f"int section;\n{text}\n" for text in inert)
    words = ["gcc", "-x", language, "-E", "-P", "-undef", "-trigraphs", "-w", "-"]
    done = subprocess.run(words, input=whole, capture_output=True, encoding="utf-8", check=True)
    return [" ".join(part.split()) for part in done.stdout.split("int section;")[1:]]


def scripts(texts: Sequence[str], shell: str) -> list[tuple[str, list[str]]]:
    """Return, of each script, what its head prints where it runs, and all lines that are no comment."""
    say, mark = ("puts", "set seed") if shell == "tclsh" else ("echo", "{ : >&3; }")
    heads = [text.partition(f"\n{mark}")[0] for text in texts]
    heads = [head if head != text else "" for head, text in zip(heads, texts, strict=True)]
    whole = "\n".join(f"{head}\n{say} section" for head in heads)
    printed = _said(shell, whole, "section\n", len(texts))
    lines = ([line for line in text.splitlines() if not line.startswith("#")] for text in texts)
    return list(zip(printed, lines, strict=True))


def _said(program: str, text: str, mark: str, number: int) -> list[str]:
    """Return the output of a program before each mark; if the program fails, texts that differ."""
    done = subprocess.run([program], input=text, capture_output=True, encoding="utf-8", check=False)
    found = done.stdout.split(mark)[:-1]
    whole = done.returncode == 0 and not done.stderr and len(found) == number
    return found if whole else [f"{program} fails: {part}" for part in range(number)]


def _readmes(texts: Sequence[str]) -> list[list[object]]:
    """Return pages of Markdown without what stands between backticks; the words of the command with the file's name."""
    words = [next(line for line in text.split("\n") if line.startswith("    aqmlab replay ")) for text in texts]
    said = "\n".join(f"printf '%s\\0' {line.strip()}; printf 'section\\0'" for line in words)
    commands = [part.split("\0") for part in _said("bash", said, "section\0", len(words))]
    shown: list[list[object]] = []
    for text, line, command in zip(texts, words, commands, strict=True):
        code = re.sub(r"`[^`\n]*`", "`", text.replace(line, ""))
        shown.append([code, command[:2], command[3:], command[2:3] != [] and command[2].endswith(".toml")])
    return shown


def import_fault(text: str, folder: Path) -> str:
    """Import a file of this name, and return the error of the scenario's file; "" if all is right."""
    name = text.replace("/", "-").replace("\0", "-").encode()[:200].decode(errors="ignore").strip(".")
    path = folder / f"x{name}.tc"
    path.write_text(SETTINGS)
    found = tomllib.loads(import_scenario(path).text)
    path.unlink()
    known = {"format", "name", "description", "run", "link", "queue", "flow", "dumbbell", "probe"}
    return "" if set(found) <= known else f"import: {text!r}: keys {sorted(set(found) - known)}"


def names(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """2,000 hostile texts through every generator; the programs that are not installed are counted."""
    needed = {"kernel": "gcc", "bpf": "gcc", "ns3": "gcc", "ns2": "tclsh", "tc": "sh", "tune": "sh"}
    first = True
    while first or left():
        texts = hostile_names(2000, seed=chance.getrandbits(32), control=True)
        for generator, program in needed.items():
            if shutil.which(program) is None:
                tally.note(f"no {program}: {generator} is left out")
                continue
            queues = (RED, OTHER) if generator in ("ns2", "ns3") else (RED,)
            for queue in queues:
                for begin in range(0, len(texts), 250):
                    part = texts[begin : begin + 250]
                    with tally.case(f"{generator}, texts from {begin}"):
                        for fault in faults(part, generator, queue):
                            tally.find(fault)
                    tally.outcomes[f"{generator}{' (not expressible)' if queue == OTHER else ''}"] += len(part)
        for text in texts:
            with tally.case(text):
                if fault := import_fault(text, folder):
                    tally.find(fault)
            tally.note("import")
        first = False
