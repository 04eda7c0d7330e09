"""Run the test vectors in other implementations of AQMs, and find the smallest vector of each failure.

    python validation/who_passes.py [NAME ...] --vectors vectors --adapters FOLDER

runs the vectors through the implementations of ``peers/peers.toml`` (default: all that have adapters here) and keeps
the outcomes in ``peers/outcomes.json``; `report` is the page ``docs/validation/who-passes.md``. Adapters for packages
of Debian and PyPI are built from ``peers``; the others are programs in the folder of ``--adapters``
(``peers/README.md``).
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError
from peer_reduction import differing, reduce
from peer_vectors import Case, Difference, Event, read, run

TITLE = "Test vectors in other implementations"
ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / "validation" / "peers"
OUTCOMES = PEERS / "outcomes.json"
KINDS = {
    "bug": "bug: contradicts the source that the implementation names",
    "deviation": "deviation that the implementation documents",
    "dialect": "another legitimate reading of the source, or another dialect",
    "vector": "the vector is doubtful",
}
ENOUGH = 5
"""Implementations that the page needs."""
DPDK = "-march=corei7 -include rte_config.h -I/usr/include/dpdk -I/usr/include/x86_64-linux-gnu/dpdk"
BUILDS = {
    "ns3": "c++ -std=c++17 -O1 -w {source} -o {out} -lns3-traffic-control -lns3-network -lns3-core",
    "dpdk": f"c++ -std=c++17 -O1 -w {DPDK} {{source}} -o {{out}} -l:librte_sched.so.23 -l:librte_eal.so.23",
}
NSPY = "ns.py==0.4.3"


@dataclass(frozen=True)
class Finding:
    """The reason why some cases fail: their names as patterns, ``FILE: CASE`` or ``CASE``.

    ``show`` is part of the name of the case whose smallest vector the page has (default: that with the fewest events);
    ``corrected`` an adapter of a copy in which only this is corrected. ``reduced`` is an adapter of a copy without
    another cause, towards which a reduction would go.
    """

    kind: str
    title: str
    cases: tuple[str, ...]
    text: str
    show: str = ""
    corrected: str = ""
    reduced: str = ""

    def explains(self, file: str, case: str) -> bool:
        """Return whether this is the reason why a case fails."""
        return any(fnmatch.fnmatchcase(f"{file}: {case}" if ": " in one else case, one) for one in self.cases)


@dataclass(frozen=True)
class Implementation:
    """An implementation, and the vectors that apply to it."""

    key: str
    name: str
    project: str
    source: str
    adapter: str
    vectors: tuple[str, ...]
    how: str
    needs: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Failure:
    """A failed case: place of the first difference, answers, and the smallest vector."""

    place: int
    expected: str
    got: str
    rate_bps: int
    settings: str
    events: tuple[Event, ...]
    small_expected: str
    small_got: str


@dataclass(frozen=True)
class Outcome:
    """Results of an implementation on a day, by file and case: passed (""), why it does not apply, or a failure.

    ``corrected`` has, by title of a finding, how many of its cases pass in a copy without the cause, and of how many.
    """

    date: str
    cases: Mapping[str, Mapping[str, str | Failure]]
    corrected: Mapping[str, Sequence[int]] = field(default_factory=dict)


def implementations() -> dict[str, Implementation]:
    """Read the implementations."""
    table = tomllib.loads((PEERS / "peers.toml").read_text())["implementation"]
    found = {}
    for entry in table:
        findings = tuple(Finding(**{**one, "cases": tuple(one["cases"])}) for one in entry.pop("finding", []))
        entry["vectors"] = tuple(entry["vectors"])
        found[entry["key"]] = Implementation(**entry, findings=findings)
    return found


def adapter_settings(case: Case) -> dict[str, float | str]:
    """Return the settings of a case for adapters: numbers in SI units, packets and bytes, and words.

    ``limit`` fits; ``limit_in_bytes``, ``in_bytes`` (thresholds), ``gentle``, ``adaptive``, ``wait``,
    ``departure_rate`` and flags are 0 or 1.
    ``unit_bytes`` is the length of the packets that thresholds count, 0 if there are several. ``step_ns`` divides all
    times.
    """
    parameters = case.parameters()
    settings = {key: int(value) if isinstance(value, bool) else value for key, value in parameters.items()}
    limit = str(settings["limit"])
    settings |= {"limit": int(limit.removesuffix("B")), "limit_in_bytes": int(limit.endswith("B"))}
    if not settings.get("ecn"):
        settings = {key: value for key, value in settings.items() if not key.startswith("mark_")}
    lengths = {event["length"] for event in case.events if event["op"] == "enqueue"}
    settings["in_bytes"] = int(settings.get("mode") == "bytes")
    unit = lengths.pop() if len(lengths) == 1 else 0
    settings["unit_bytes"] = settings["mean_packet"] if settings["in_bytes"] else unit
    settings["step_ns"] = math.gcd(*(event["t_ns"] for event in case.events))
    settings["gentle"] = int(settings.get("curve") == "gentle")
    settings["adaptive"] = int(settings.get("adaptation") == "adaptive-red")
    settings["wait"] = int(settings.get("spacing") == "ns2-wait")
    settings["departure_rate"] = int(settings.get("delay") == "departure-rate")
    return {"rate_bps": case.rate_bps, **settings}


def obstacle(needs: Mapping[str, Sequence[Any]], case: Case, settings: Mapping[str, float | str]) -> str:
    """Return why a case does not apply to an implementation, or ""."""
    lacking = sorted(case.uses - set(needs.get("uses", ())))
    if lacking:
        return f"needs {', '.join(lacking)}"
    for key, allowed in needs.items():
        if key == "uses" or key not in settings:
            continue
        value = settings[key]
        fits = float(value) % allowed[0] == 0 if key == "step_ns" else value in allowed
        if not fits:
            return f"{key} = {value}"
    return ""


def failure(case: Case, settings: Mapping[str, float | str], command: Sequence[str], found: Difference) -> Failure:
    """Reduce a failed case."""
    small, smallest = reduce(case, found, differing(command, settings))
    answers = [str(one) if one is not None else "none: the program ended" for one in (found.got, smallest.got)]
    first = (found.place, str(found.expected), answers[0], case.rate_bps, case.settings)
    return Failure(*first, small.events, str(smallest.expected), answers[1])


Commands = Callable[[str], list[str] | None]
"""The command of an adapter; None if it is not here."""


def test(implementation: Implementation, command: Sequence[str], vectors: Path, commands: Commands) -> Outcome:
    """Run all cases of an implementation, and the failed ones again where their cause is corrected."""
    files: dict[str, dict[str, str | Failure]] = {}
    for name in implementation.vectors:
        cases = files.setdefault(name, {})
        for case in read(file_of(name, vectors)):
            settings = adapter_settings(case)
            reason = obstacle(implementation.needs, case, settings)
            if reason:
                cases[case.name] = reason
                continue
            found = run(command, case, settings)
            others = (one.reduced for one in implementation.findings if one.explains(name, case.name) and one.reduced)
            reducing = commands(next(others, "")) or command
            cases[case.name] = "" if found is None else failure(case, settings, reducing, found)
    outcome = Outcome(datetime.now(UTC).date().isoformat(), files)
    corrected = {}
    for finding in implementation.findings:
        other = commands(finding.corrected) if finding.corrected else None
        if other is not None:
            names = {(file, case) for file, case, _ in failures(outcome) if finding.explains(file, case)}
            passed = [passes(other, vectors, file, name) for file, name in names]
            corrected[finding.title] = [sum(passed), len(passed)]
    return replace(outcome, corrected=corrected)


def file_of(name: str, vectors: Path) -> Path:
    """Return a file of vectors: of the folder, or one that only other implementations need."""
    own = PEERS / "vectors" / f"{name}.jsonl"
    return own if own.exists() else vectors / f"{name}.jsonl"


def passes(command: Sequence[str], vectors: Path, file: str, name: str) -> bool:
    """Return whether a case passes."""
    (case,) = (one for one in read(file_of(file, vectors)) if one.name == name)
    return run(command, case, adapter_settings(case)) is None


def command_of(adapter: str, adapters: Path | None, built: Path) -> list[str] | None:
    """Return the command of an adapter; None if it is not here."""
    name, *words = adapter.split() or [""]
    out = built / name
    if name == "nspy":
        if not out.exists():
            subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", out, NSPY], check=True)
        return ["env", f"PYTHONPATH={out}", sys.executable, str(PEERS / "nspy" / "adapter.py"), *words]
    if name in BUILDS:
        if not out.exists():
            command = BUILDS[name].format(source=PEERS / name / "adapter.cc", out=out)
            done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"who_passes: {name} does not compile here: {done.stderr.splitlines()[-1]}", file=sys.stderr)
                return None
        return [str(out), *words]
    return [str(adapters / name), *words] if name and adapters is not None and (adapters / name).exists() else None


def read_outcomes() -> dict[str, Outcome]:
    """Read the outcomes of earlier runs."""
    if not OUTCOMES.exists():
        return {}
    found = {}
    for key, entry in json.loads(OUTCOMES.read_text()).items():
        files = {
            file: {case: one if isinstance(one, str) else Failure(**one) for case, one in cases.items()}
            for file, cases in entry["cases"].items()
        }
        found[key] = Outcome(entry["date"], files, entry["corrected"])
    return found


def write_outcomes(outcomes: Mapping[str, Outcome]) -> None:
    """Write the outcomes."""
    text = json.dumps({key: asdict(one) for key, one in sorted(outcomes.items())}, indent=1)
    OUTCOMES.write_text(text + "\n")


def failures(outcome: Outcome) -> Iterator[tuple[str, str, Failure]]:
    """Yield file, case and failure of each failed case."""
    for file, cases in outcome.cases.items():
        for case, result in cases.items():
            if isinstance(result, Failure):
                yield file, case, result


def cell(cases: Mapping[str, str | Failure]) -> str:
    """Return how many cases pass, of those that apply."""
    applied = [result for result in cases.values() if result == "" or isinstance(result, Failure)]
    if not applied:
        return "no case"
    return f"{sum(result == '' for result in applied)} of {len(applied)}"


def vector_lines(failed: Failure) -> list[str]:
    """Return the smallest vector as the JSON Lines of a code block."""
    compact = {"separators": (",", ":")}
    keys = ("op", "t_ns", "id", "length", "flow", "ecn", "random", "decision", "dropped", "marked")
    start = {"op": "new", "settings": failed.settings}
    lines = [json.dumps(start, separators=(",", ":"))]
    for event in failed.events:
        kept = {key: event[key] for key in keys if key in event and (event[key] != [] or key == "random")}
        lines.append(json.dumps(kept, **compact))  # type: ignore[arg-type]
    return lines


def shortest(found: Sequence[tuple[str, str, Failure]], wanted: str) -> tuple[str, str, Failure]:
    """Return the wanted case (part of its name), or the one with the fewest events."""
    chosen = [one for one in found if wanted and wanted in f"{one[0]}: {one[1]}"] or found
    return min(chosen, key=lambda one: len(one[2].events))


def section(implementation: Implementation, outcome: Outcome) -> tuple[list[str], bool]:
    """Return the section of an implementation, and whether each failure is explained."""
    lines = [
        f"### {implementation.name}",
        "",
        f"{implementation.source}, tested on {outcome.date}. {implementation.how}",
    ]
    lines += [""]
    reasons: dict[str, int] = {}
    for cases in outcome.cases.values():
        for result in cases.values():
            if isinstance(result, str) and result:
                reasons[result] = reasons.get(result, 0) + 1
    for file, cases in outcome.cases.items():
        passed = [case for case, result in cases.items() if result == ""]
        lines.append(f"* `{file}`: {cell(cases)} passed{': ' if passed else ''}{'; '.join(passed)}.")
    if reasons:
        told = "; ".join(f"{reason} ({count})" for reason, count in sorted(reasons.items()))
        lines += ["", f"Cases that do not apply: {told}."]
    left = list(failures(outcome))
    for finding in implementation.findings:
        found = [one for one in left if finding.explains(one[0], one[1])]
        left = [one for one in left if one not in found]
        if not found:
            continue
        names = "; ".join(case for _, case, _ in found)
        lines += ["", f"**{finding.title}** ({finding.kind}). {finding.text}", "", f"Cases: {names}."]
        if finding.title in outcome.corrected:
            passing, all_cases = outcome.corrected[finding.title]
            lines[-1] += f" With this corrected in a copy, {passing} of these {all_cases} pass."
        file, case, failed = shortest(found, finding.show)
        lines += ["", f"Smallest vector, from `{file}`, {case}:", "", "```json", *vector_lines(failed), "```", ""]
        lines += [f"Expected: {failed.small_expected}. Its answer: {failed.small_got}."]
    for file, case, failed in left:
        lines += [
            "",
            f"**Not explained**: `{file}`, {case}. Expected: {failed.small_expected}. Its answer: {failed.small_got}.",
        ]
    return lines, not left


def last(failed: Failure) -> str:
    """Return the two answers to the last event of the smallest vector."""
    return f"Expected at its end: {failed.small_expected}. Its answer: {failed.small_got}."


def report() -> tuple[str, bool]:
    """Return the page, and whether enough implementations were tested and each failure is explained."""
    outcomes, known = read_outcomes(), implementations()
    files = sorted({file for outcome in outcomes.values() for file in outcome.cases})
    tested = [one for one in known.values() if one.key in outcomes]
    lines = [(PEERS / "page.md").read_text().strip(), "", "## Results", ""]
    lines += [f"| implementation | {' | '.join(files)} |", "|---" * (len(files) + 1) + "|"]
    for one in tested:
        cells = [cell(outcomes[one.key].cases[file]) if file in outcomes[one.key].cases else "" for file in files]
        lines.append(f"| [{one.name}](#{anchor(one.name)}) | {' | '.join(cells)} |")
    lines += [
        "",
        "## Failing cases by kind",
        "",
        f"| implementation | {' | '.join(KINDS)} |",
        "|---" * (len(KINDS) + 1) + "|",
    ]
    shown = len({one.project for one in tested}) >= ENOUGH
    sections: list[str] = ["", "## Implementations"]
    for one in tested:
        text, is_explained = section(one, outcomes[one.key])
        shown = shown and is_explained
        sections += ["", *text]
        lines.append(f"| {one.name} | {' | '.join(counts(one, outcomes[one.key]))} |")
    return "\n".join([*lines, *sections]), shown


def counts(implementation: Implementation, outcome: Outcome) -> list[str]:
    """Return the number of failed cases of each kind, by the first finding that explains each."""
    kinds = dict.fromkeys(KINDS, 0)
    for file, case, _ in failures(outcome):
        kind = next((one.kind for one in implementation.findings if one.explains(file, case)), None)
        if kind is not None:
            kinds[kind] += 1
    return [str(count) if count else "" for count in kinds.values()]


def anchor(title: str) -> str:
    """Return the anchor of a heading."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the vectors through implementations; return the exit code."""
    parser = argparse.ArgumentParser(description="Run the test vectors through other implementations.")
    parser.add_argument("names", nargs="*", help="keys of peers.toml (default: all)")
    parser.add_argument("--vectors", type=Path, default=ROOT / "vectors", help="folder of the vectors")
    parser.add_argument("--adapters", type=Path, help="folder of adapters that are not built here")
    options = parser.parse_args(arguments)
    known = implementations()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        print(f"who_passes: no implementation {', '.join(unknown)} (there are {', '.join(known)})", file=sys.stderr)
        return 2
    outcomes = read_outcomes()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or known:
            commands = partial(command_of, adapters=options.adapters, built=Path(folder))
            command = commands(known[name].adapter)
            if command is None:
                print(f"{name}: no adapter here, the last outcome stays")
                continue
            try:
                earlier = outcomes[name].corrected if name in outcomes else {}
                outcome = test(known[name], command, options.vectors, commands)
                # A copy that is not here keeps its last result.
                outcomes[name] = replace(outcome, corrected={**earlier, **outcome.corrected})
            except (InputError, OSError, subprocess.SubprocessError) as error:
                print(f"who_passes: {name}: {error}", file=sys.stderr)
                return 2
            told = "; ".join(f"{file} {cell(cases)}" for file, cases in outcomes[name].cases.items())
            print(f"{name}: {told}", flush=True)
    write_outcomes(outcomes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
