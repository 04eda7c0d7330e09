"""Attack the program with new cases.

``python validation/adversarial_attacks.py [--seed N] [--minutes M] [attack ...]``

Each attack draws cases from its seed until its share of the time is over and prints how many there were and what was
found. A finding is a crash, an "internal error", control characters in a message, a changed number without an error, a
file outside the folder in question, or a case without end. docs/validation/adversarial.md has the numbers.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aqmlab
from aqmlab.cli import main
from aqmlab.errors import Error, ScenarioError, StorageError
from aqmlab.execution.jobs import jobs_for
from aqmlab.execution.reuse import missing
from aqmlab.interop.importing import reading, recording
from aqmlab.results.result import Result
from aqmlab.scenario.file import Scenario
from aqmlab.storage.folders import seed_folder
from aqmlab.storage.kept import Answers
from aqmlab.storage.key import RunKey
from aqmlab.storage.querying import query
from aqmlab.storage.store import ResultStore
from aqmlab.sweeps.sweep import Study

AQMLAB = Path(sys.executable).with_name("aqmlab")
EXAMPLES = Path(__file__).parents[1] / "examples"
SLOW_S = 40.0
EXTREMES = [
    *("0", "-1", "1e308", "nan", "inf", "9223372036854775807", "18446744073709551616", '""', "[]", "{}", "true"),
    *('"0s"', '"1ns"', '"8640000s"', '"213days"', '"1e-300s"', '"0bps"', '"100000Gbps"', '"1e400bps"', '"-1p"'),
    *('"1000000000p"', '"\\u0000"', '"../../x"', '"\\u202e"', '"' + "A" * 300 + '"', "1979-05-27", "{ uniform = [1] }"),
]


class Tally:
    """Count cases by outcome, and keep findings."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.outcomes: Counter[str] = Counter()
        self.findings: list[str] = []

    def note(self, outcome: str) -> None:
        """Count a case."""
        self.outcomes[outcome] += 1

    def find(self, text: str) -> None:
        """Keep a finding."""
        self.findings.append(text[:2000])
        print(f"FINDING {self.name}: {text[:2000]}", flush=True)

    @contextlib.contextmanager
    def case(self, what: str) -> Iterator[None]:
        """Do a case: what it raises beyond the errors of the package is a finding, and so is much time."""
        begun = time.monotonic()
        try:
            yield
        except Error as error:
            self.note(type(error).__name__)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            self.find(f"{what}: {type(error).__name__}: {error}")
        if time.monotonic() - begun > SLOW_S:
            self.find(f"{what}: took {time.monotonic() - begun:.0f} s")


def command(tally: Tally, words: list[str], what: str) -> int:
    """Run a command of the command line here; what is promised of its messages is checked."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    said = err.getvalue()
    if code not in (0, 1, 2) or "internal error" in said or "Traceback" in said:
        tally.find(f"{what}: {words[:2]}: code {code}: {said[:500]}")
    if any(c in said + out.getvalue() for c in "\x1b\x07\x00\x9b\u202e"):
        tally.find(f"{what}: {words[:2]}: control characters: {said[:200]!r}")
    return code


def mutated(text: str, chance: random.Random) -> str:
    """Change a scenario in one to four places."""
    for _ in range(chance.randint(1, 4)):
        lines = text.split("\n")
        kind = chance.randrange(8)
        place = chance.randrange(len(lines))
        if kind == 0:
            data = bytearray(text.encode())
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            text = data.decode(errors="replace")
        elif kind == 1:
            lines.insert(place, chance.choice(lines))
            text = "\n".join(lines)
        elif kind == 2:
            del lines[place]
            text = "\n".join(lines)
        elif kind == 3:
            at = chance.randrange(len(text) + 1)
            text = (
                text[:at]
                + chance.choice(["\r", "\0", "\x1b[2J", "\u202e", "\ufeff", '"""', "[[", "=", "."])
                + text[at:]
            )
        else:
            keyed = [i for i, line in enumerate(lines) if "=" in line and not line.startswith("#")]
            if keyed:
                i = chance.choice(keyed)
                key = lines[i].partition("=")[0]
                inner = lines[i].partition("{")[2].rpartition("}")[0].split(",")
                if len(inner) > 1 and chance.random() < 0.7:
                    j = chance.randrange(len(inner))
                    inner[j] = f"{inner[j].partition('=')[0]}= {chance.choice(EXTREMES)}"
                    lines[i] = f"{key}= {{{','.join(inner)}}}"
                else:
                    lines[i] = f"{key}= {chance.choice(EXTREMES)}"
                text = "\n".join(lines)
    return text


def scenarios(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Mutated scenarios through check; those that are valid are run for a moment in both engines, which must agree."""
    texts = [path.read_text() for path in sorted(EXAMPLES.glob("*.toml")) if path.stat().st_size < 20_000]
    while left():
        text = mutated(chance.choice(texts), chance)
        with tally.case(text):
            plan = None
            with contextlib.suppress(ScenarioError):
                plan = Scenario.from_text(text, filename="a.toml")
            if plan is None:
                tally.note("refused")
                if chance.random() < 0.1:
                    (folder / "a.toml").write_text(text)
                    command(tally, ["check", str(folder / "a.toml")], text)
                continue
            tally.note("valid")
            duration = f"{min(plan.duration_s, 2e6 / max(plan.managed_bps, plan.slowest_bps, 1.0)):.12f}s"
            if chance.random() < 0.3 and plan.counts["flows"] < 200 and float(duration[:-1]) > 0:
                short = {"run.duration": duration, "run.warmup": "0s"}
                with contextlib.suppress(ScenarioError):
                    plan = plan.with_overrides(short)
                    tables = [
                        aqmlab.run(plan, seeds=[7], engine=engine, progress=False).tables
                        for engine in ("auto", "events")
                    ]
                    tally.note("run in both engines")
                    if any(not tables[0][name].equals(tables[1][name]) for name in tables[0].keys() | tables[1].keys()):
                        tally.find(f"engines differ: {text}")


def run_of(folder: Path, seeds: int = 2) -> Path:
    """Make results to damage."""
    found = aqmlab.run(
        EXAMPLES / "dumbbell-red.toml",
        seeds=seeds,
        overrides={"run.duration": "2s", "run.warmup": "0s", "probe.queue_interval": "20ms"},
        out=folder,
        progress=False,
    )
    assert found.folder is not None
    return found.folder


def spoil(path: Path, chance: random.Random, others: list[Path]) -> str:
    """Damage a file: a bit, a byte, its end, its content."""
    data = bytearray(path.read_bytes())
    kind = chance.choice(["bit"] * 8 + ["cut", "grown", "swapped", "zeroes"])
    if kind == "bit":
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == "cut":
        del data[chance.randrange(len(data)) :]
    elif kind == "grown":
        data += chance.randbytes(chance.randint(1, 100))
    elif kind == "swapped":
        data = bytearray(chance.choice(others).read_bytes())
    else:
        at = chance.randrange(len(data))
        data[at : at + 512] = bytes(len(data[at : at + 512]))
    path.write_bytes(data)
    return kind


def damage(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Damaged result folders: an error, or the same tables."""
    made = run_of(folder / "made")
    whole = Result.load(made)
    files = [path for path in sorted(made.glob("seed-*/*")) if path.is_file()]
    while left():
        path = chance.choice(files)
        before = path.read_bytes()
        kind = spoil(path, chance, files)
        with tally.case(f"{kind} {path.name}"):
            found = Result.load(made)
            same = found.summaries == whole.summaries and all(
                found.tables.keys() == whole.tables.keys() and found.tables[name].equals(table)
                for name, table in whole.tables.items()
            )
            if same:
                tally.note("read, the same")
            else:
                tally.find(f"{kind} of {path.name}: read silently, and other tables")
        path.write_bytes(before)


def store_in(folder: Path) -> Path:
    """Make a store to damage."""
    overrides = {"run.duration": "500ms", "run.warmup": "0s"}
    grid = {"flow.tcp.count": [1, 2]}
    aqmlab.sweep(
        EXAMPLES / "dumbbell-red.toml", grid=grid, seeds=2, overrides=overrides, out=folder / "store", progress=False
    )
    return folder / "store"


def snapshot(folder: Path) -> dict[str, bytes]:
    """Read all files below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def stores(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Stores with hostile indexes, damaged files and links: nothing outside changes."""
    made = store_in(folder / "made")
    with ResultStore(made) as opened:
        whole = query(opened, "SELECT * FROM flows ORDER BY ALL")
    precious = folder / "precious"
    (precious / ("ab" * 16)).mkdir(parents=True)
    (precious / "ab" / ("ab" * 16)).mkdir(parents=True)
    (precious / "letters.txt").write_text("kept")
    (precious / "ab" / ("ab" * 16) / "runs.parquet").write_text("kept")
    kept = snapshot(precious)
    values: list[object] = [
        *(
            str(precious),
            "../../precious",
            "../" * 9 + "etc",
            "",
            ".",
            "ab" * 16,
            "\x1b[31m",
        ),
        *(
            "[]",
            "{}",
            "[[1]]",
            '{"a": 1}',
            '{"../../precious/letters.parquet": [1, "' + "ab" * 16 + '"]}',
            "9" * 400,
            "null",
        ),
        *(None, 0, -1, 2**63 - 1, 1.5, b"\xff\x00", "x" * 100_000),
    ]
    columns = {
        "studies": ["study", "name", "version", "keys", "seeds", "shape"],
        "points": ["study", "point", "scenario", "parameters"],
        "scenarios": ["scenario", "text"],
        "blocks": ["block", "files"],
        "runs": ["run", "scenario", "seed", "version", "block", "metrics", "digest"],
        "folders": ["run", "path"],
        "answers": ["run", "scenario", "seed", "version", "reducer", "answer", "digest"],
    }
    store = folder / "store"
    while left():
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(made, store)
        kind = chance.randrange(4)
        what = "file"
        if kind < 2:
            table = chance.choice(list(columns))
            column, value = chance.choice(columns[table]), chance.choice(values)
            what = f"{table}.{column} = {value!r:.80}"
            with contextlib.closing(sqlite3.connect(store / "index.sqlite")) as connection:
                with contextlib.suppress(sqlite3.Error):
                    some = "" if chance.random() < 0.5 else " WHERE rowid = 1"
                    try:
                        connection.execute(f"UPDATE {table} SET {column} = ?{some}", (value,))
                    except sqlite3.OperationalError:
                        connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
                connection.commit()
        elif kind == 2:
            path = chance.choice([p for p in sorted(store.rglob("*")) if p.is_file() and p.stat().st_size])
            what = f"{spoil(path, chance, [path])} {path.name}"
        else:
            inside = chance.choice(["runs", "owners", "runs/ab", "runs/ab/" + "ab" * 16])
            what = f"link {inside}"
            target = store / inside
            if target.is_dir():
                shutil.rmtree(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(precious if chance.random() < 0.5 else precious / "ab")
        queries = [["query", "SELECT * FROM runs"], ["query", "SELECT * FROM flows ORDER BY ALL"]]
        others = [["ls"], ["show"], ["gc"], ["gc"], ["gc", "--dry-run"], ["export", "--out", str(folder / "x.csv")]]
        words = chance.choice(queries + others)
        with tally.case(what):
            code = command(tally, ["results", words[0], str(store), *words[1:]], what)
            tally.note(f"code {code}")
            if kind == 2:
                with contextlib.suppress(Error), ResultStore(store) as opened:
                    found = query(opened, "SELECT * FROM flows ORDER BY ALL")
                    if not found.equals(whole) and len(found) == len(whole):
                        tally.find(f"{what}: another answer without an error")
        if snapshot(precious) != kept or not (precious / ("ab" * 16)).is_dir():
            tally.find(f"{what}: {words}: something outside of the store was changed")
            return


STUDY = """\
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns duplex-link $a $b 1Mb 10ms RED
Queue/RED set thresh_ 5
set tcp [new Agent/TCP/Newreno]
$tcp set window_ 40
set sink [new Agent/TCPSink]
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0.5 "$ftp start"
proc finish {} { global ns; exit 0 }
$ns at 5.0 "finish"
$ns run
"""
HOSTILE = [
    *("while 1 {}", "set x x; while 1 {append x $x}", "expr {3**100000000}", "expr {9**9**9}"),
    *("string repeat x 1000000000", "exec touch /tmp/owned-by-a-study", "open /etc/passwd", "source /etc/passwd"),
    *("load /lib/x.so", "socket localhost 1", "interp alias {} exec {} exec", "interp create x", "cd /", "glob /*"),
    *("package require http", "file delete /tmp/x", "proc recorder::dump {} {return {a b}}", "proc p {} {p}; p"),
    *("proc recorder::text {} {}", "namespace delete recorder", "rename puts {}", "set recorder::links _o1"),
    *("set recorder::connections {{_o1 _o2 _o3}}", "set recorder::now -1", "unset ns", "error {\x1b[31m}", "vwait x"),
    *("foreach v [info vars ::recorder::*] {set $v {}}", "set recorder::end 1e400", 'error "a\\nb"', "after 1e9"),
    *("Class {\n[run]\n}", "for {set i 0} {$i<1e5} {incr i} {new Agent/TCP}", "$ns at nan {}", "$ns at 1e400 {puts x}"),
    *("set n [new Node]; $ns duplex-link $a $n -5Mb 1ms RED", "$ns duplex-link $a $a 1Mb 1ms RED"),
    "regexp (a*)*b [string repeat a 40]",
]


def studies(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Hostile and mutated ns-2 studies; those that would end the interpreter in a process of their own."""
    owned = Path("/tmp/owned-by-a-study")
    recording.SECONDS = 2
    recording.MEMORY_MB = 200
    dangerous = ("while 1", "**", "append", "string repeat", "p {} {p}", "regexp", "1e5", "after", "vwait")
    whole, here = reading.record, recording.record_here
    while left():
        lines = STUDY.split("\n")
        for _ in range(chance.randint(1, 3)):
            lines.insert(chance.randrange(len(lines)), chance.choice(HOSTILE))
        text = "\n".join(lines)
        if chance.random() < 0.3:
            data = bytearray(text.encode())
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(7)
            text = data.decode(errors="replace")
        if "new Simulator" not in text:
            continue
        apart = any(word in text for word in dangerous)
        if apart and chance.random() < 0.8:
            continue  # a process takes seconds; most cases are quick ones
        reading.record = whole if apart else here
        (folder / "study.tcl").write_text(text)
        with tally.case(text):
            code = command(tally, ["import", str(folder / "study.tcl"), "--out", str(folder / "study.toml")], text)
            tally.note(f"code {code}{', own process' if apart else ''}")
            if code == 0 and "exec" in (folder / "study.toml").read_text().replace("# ", ""):
                scenario = (folder / "study.toml").read_text()
                if any(line.startswith("exec") for line in scenario.splitlines()):
                    tally.find(f"a command in the scenario: {text}")
        if owned.exists():
            tally.find(f"a study has run a program: {text}")
            return


def index(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Bits of the index that flip: an error, a run that is computed again, or the same numbers."""
    made = folder / "made"
    store_in(made)
    root = made / "store"
    plan = Scenario.load(EXAMPLES / "dumbbell-red.toml", overrides={"run.duration": "500ms", "run.warmup": "0s"})
    run_here = aqmlab.run(plan, seeds=[7, 8], out=root, progress=False)
    assert run_here.folder is not None
    keys = [RunKey("1", "a" * 32, seed, "an answer") for seed in range(40)]
    answers = Answers(root)
    for key in keys:
        answers.put(key, {"goodput": key.seed / 7, "delays": [key.seed] * 20})
    del answers
    studies = Study.load(root).runs
    store = folder / "store"
    shutil.copytree(root, store)
    data = (root / "index.sqlite").read_bytes()
    while left():
        for name in ("index.sqlite-wal", "index.sqlite-shm"):
            (store / name).unlink(missing_ok=True)
        damaged = bytearray(data)
        for _ in range(chance.choice([1, 1, 1, 1, 2, 8])):
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        (store / "index.sqlite").write_bytes(damaged)
        with tally.case("sweep"):
            found = Study.load(store, "small" if chance.random() < 0.1 else None).runs
            if found.equals(studies):
                tally.note("sweep: the same")
            elif studies[studies["run"].isin(found["run"])].reset_index(drop=True).equals(found):
                tally.note("sweep: some runs are missing")
            else:
                tally.find(f"sweep: other numbers without an error: {found.to_csv()} instead of {studies.to_csv()}")
        with tally.case("answers"):
            kept = Answers(store)
            for key in chance.sample(keys, 10):
                if not kept.has(key):
                    tally.note("answer: is computed again")
                elif kept.get(key) != {"goodput": key.seed / 7, "delays": [key.seed] * 20}:
                    tally.find("answer: another one without an error")
                else:
                    tally.note("answer: the same")
        with tally.case("folder"):
            target = folder / "target"
            target.mkdir()
            jobs = jobs_for(plan, [7, 8], folder=target)
            with contextlib.suppress(StorageError):
                again = missing(jobs, store)
                for job in jobs:
                    if job in again:
                        tally.note("run: is computed again")
                    elif snapshot(seed_folder(target, job.key.seed)) != snapshot(
                        seed_folder(run_here.folder, job.key.seed)
                    ):
                        tally.find("run: another one was copied without an error")
                    else:
                        tally.note("run: copied, the same")
        shutil.rmtree(folder / "target", ignore_errors=True)


def records(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Damaged and misshapen records of comparisons and runs: one line, and no file outside the folder."""
    out = folder / "results"
    overrides = {"run.duration": "500ms", "run.warmup": "0s"}
    aqmlab.compare(
        EXAMPLES / "dumbbell-red.toml", aqm=["red", "drop-tail"], seeds=2, overrides=overrides, out=out, progress=False
    )
    made = next(path for path in out.iterdir() if (path / "compare.json").is_file())
    single = next(path.parent for path in sorted(out.rglob("seed-0001")))
    files = [made / "compare.json", single / "scenario.toml", single / "seed-0001" / "summary.json"]
    outside = snapshot(folder)
    odd: list[object] = [
        None,
        0,
        -1,
        2**70,
        1e308,
        "",
        "x" * 5000,
        "../../../x",
        "/etc",
        "\x1b[31m",
        [],
        {},
        [[]],
        True,
    ]
    while left():
        path = chance.choice(files)
        before = path.read_bytes()
        sums = path.parent / "SHA256SUMS"
        digests = sums.read_bytes() if sums.exists() else None
        what = "a mutation"
        if path.suffix == ".json" and chance.random() < 0.8:
            data = json.loads(before)
            places = list(_places(data))
            where, key = chance.choice(places)
            value = chance.choice(odd)
            what = f"{path.name}: {key} = {value!r:.60}"
            if chance.random() < 0.2:
                del where[key]
            else:
                where[key] = value
            path.write_text(json.dumps(data))
        elif path.suffix == ".json":
            path.write_bytes(chance.choice([b"", b"[" * 100_000, b"null", b"\xff\xfe", b"{}", b"[1]"]))
        else:
            what = f"{spoil(path, chance, files)} of {path.name}"
        if digests is not None:
            sums.unlink()
        words = chance.choice(
            [
                ["report", str(made)],
                ["report", str(single)],
                ["export", str(chance.choice([made, single])), "--to", "csv", "--out", str(folder / "exported")],
            ]
        )
        with tally.case(what):
            tally.note(f"{words[0]}: code {command(tally, words, what)}")
        path.write_bytes(before)
        if digests is not None:
            sums.write_bytes(digests)
        for extra in ("exported",):
            with contextlib.suppress(OSError):
                (folder / extra).unlink()
            shutil.rmtree(folder / extra, ignore_errors=True)
        for extra in (made, single):
            shutil.rmtree(extra / "figures", ignore_errors=True)
            (extra / "report.html").unlink(missing_ok=True)
        if {name: data for name, data in snapshot(folder).items() if "log.txt" not in name} != {
            name: data for name, data in outside.items() if "log.txt" not in name
        }:
            new = sorted(snapshot(folder).keys() ^ outside.keys())
            tally.find(f"{what}: {words[0]}: other files than before: {new[:5]}")
            return


def _places(data: object) -> Iterator[tuple[Any, Any]]:
    """Yield each place in JSON as its container and its key."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        yield data, key
        yield from _places(value)


def words(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Commands with odd words: exit codes 0, 1, 2 and one line of complaint."""
    scenario = folder / "a.toml"
    text = (EXAMPLES / "dumbbell-red.toml").read_text()
    scenario.write_text(text)
    out = str(folder / "out")
    short = ["--set", "run.duration=50ms", "--set", "run.warmup=0s"]
    odd = [
        *(
            "",
            " ",
            "0",
            "-1",
            "1e9",
            "nan",
            "²",
            "٣",
            "1-",
            "-",
            "1,,2",
            "9" * 30,
            "9" * 5000,
            "1,99999999999",
            "\x1b[2J",
        ),
        *(
            "\u202e",
            "../../x",
            "/dev/null",
            "a=b",
            "=",
            "[",
            "{",
            "'",
            '"',
            "x" * 5000,
            "\udcff",
            "ci(x)=1%",
            "ci(goodput)=-1%",
        ),
        *(
            "tcp",
            "red",
            "red,red",
            "red,codel",
            "queue.bottleneck.max_p=nan",
            "flow.tcp.count=1,2",
            "run.seeds=[]",
            "*",
        ),
    ]
    forms: list[list[str | None]] = [
        ["check", str(scenario), "--set", None],
        ["run", str(scenario), *short, "--seeds", None],
        ["run", str(scenario), *short, "--workers", None],
        ["run", str(scenario), *short, "--engine", None],
        ["run", str(scenario), *short, "--seeds", "20", "--max-runs", None, "--until", None],
        ["compare", str(scenario), *short, "--aqm", None, "--seeds", "2"],
        ["sweep", str(scenario), *short, "--out", out, "--grid", None],
        ["sweep", str(scenario), *short, "--out", out, "--range", None, "--sobol", "2"],
        ["sweep", str(scenario), *short, "--out", out, "--zip", None, "--zip", None],
        ["results", "show", out, None],
        ["results", "query", out, None],
        ["results", None, out],
        ["list", None],
        ["list", None, "--json"],
        ["draw", str(scenario), "--set", None],
        ["export", str(scenario), "--to", None, "--out", str(folder / "exported")],
        ["import", None],
        ["check", None],
        ["report", None],
        ["schema", None],
        [None, str(scenario)],
        ["tune", str(scenario), *short, "--goal", None, "--bound", None],
        ["analyze", str(scenario), "--set", None, "--seeds", "2"],
        ["crosscheck", str(scenario), "--with", None],
        ["reproduce", None],
        ["live", "--clean", None],
        ["shape", "--in", None, "--out", None],
    ]
    while left():
        made = [chance.choice(odd) if word is None else word for word in chance.choice(forms)]
        if made[0] in ("live", "shape") and "-" not in made[-1]:
            continue  # what these do to the machine is no subject of this attack
        what = " ".join(repr(word)[:60] for word in made if word != str(scenario))
        with tally.case(what), contextlib.chdir(folder):
            tally.note(f"code {command(tally, made, what)}")
        for extra in ("results", "exported", "out"):
            shutil.rmtree(folder / extra, ignore_errors=True)


def together(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Several processes that run the same seeds into one folder."""
    scenario = folder / "a.toml"
    scenario.write_text((EXAMPLES / "dumbbell-red.toml").read_text())
    words = ["run", str(scenario), "--seeds", "6", "--set", "run.duration=300ms", "--set", "run.warmup=0s", "--json"]
    alone = folder / "alone"
    subprocess.run([AQMLAB, *words, "--out", alone], check=True, capture_output=True)
    expected = {name: data for name, data in snapshot(alone).items() if not name.endswith("log.txt")}
    number = 0
    while left():
        number += 1
        out = folder / f"together-{number}"
        count = chance.randint(2, 4)
        processes = [
            subprocess.Popen([AQMLAB, *words, "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for _ in range(count)
        ]
        for process in processes:
            _, said = process.communicate()
            tally.note(f"code {process.returncode}")
            if process.returncode != 0:
                tally.find(f"{count} processes: {said.decode()[:500]}")
        found = {name: data for name, data in snapshot(out).items() if not name.endswith("log.txt")}
        if found != expected:
            tally.find(f"{count} processes: other files: {sorted(set(found) ^ set(expected))[:5]}")
        shutil.rmtree(out)
        one_store(tally, chance, scenario, folder / f"store-{number}", alone)


def one_store(tally: Tally, chance: random.Random, scenario: Path, out: Path, alone: Path) -> None:
    """Different commands on one store at the same time: each ends well, and no run differs from one that was alone."""
    short = ["--set", "run.duration=300ms", "--set", "run.warmup=0s", "--json", "--out", str(out)]
    kinds = [
        ["run", str(scenario), "--seeds", "6", *short],
        ["compare", str(scenario), "--aqm", "red,codel", "--seeds", "4", *short],
        ["sweep", str(scenario), "--seeds", "6", *short],
    ]
    processes = [
        subprocess.Popen([AQMLAB, *chance.choice(kinds)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(chance.randint(2, 4))
    ]
    for process in processes:
        _, said = process.communicate()
        tally.note(f"one store: code {process.returncode}")
        if process.returncode != 0:
            tally.find(f"one store: {said.decode()[:500]}")
    expected = {name: data for name, data in snapshot(alone).items() if "/seed-" in name}
    different = [name for name, data in snapshot(out).items() if expected.get(name, data) != data]
    if different:
        tally.find(f"one store: other files: {different[:5]}")
    if left := [str(path) for path in out.rglob(".*.tmp")]:
        tally.find(f"one store: temporary files: {left[:5]}")
    shutil.rmtree(out)


def killed(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Runs and sweeps that are killed at some time and started again: the same files as without, nothing else."""
    scenario = folder / "a.toml"
    scenario.write_text((EXAMPLES / "dumbbell-red.toml").read_text())
    common = ["--set", "run.duration=2s", "--set", "run.warmup=0s", "--workers", "2", "--json"]
    kinds = {
        "run": ["run", str(scenario), "--seeds", "12", *common],
        "compare": ["compare", str(scenario), "--aqm", "red,codel", "--seeds", "6", *common],
        "sweep": ["sweep", str(scenario), "--grid", "flow.tcp.count=1,2,3", "--seeds", "8", *common],
    }
    expected = {}
    for kind, words in kinds.items():
        subprocess.run([AQMLAB, *words, "--out", folder / kind], check=True, capture_output=True)
        expected[kind] = results_of(folder / kind)
    number = 0
    while left():
        number += 1
        kind = chance.choice(list(kinds))
        out = folder / f"killed-{number}"
        for _ in range(chance.randint(1, 3)):
            process = subprocess.Popen(
                [AQMLAB, *kinds[kind], "--out", out],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0.5, 6.0))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            tally.note("killed" if process.returncode == -9 else "ended before")
        done = subprocess.run([AQMLAB, *kinds[kind], "--out", out], capture_output=True, text=True, check=False)
        tally.note(f"{kind}: resumed with code {done.returncode}")
        if done.returncode != 0:
            tally.find(f"{kind}: {done.stderr[:500]}")
        elif results_of(out) != expected[kind]:
            tally.find(f"{kind}: other files: {sorted(set(results_of(out)) ^ set(expected[kind]))[:5]}")
        shutil.rmtree(out)


def results_of(folder: Path) -> dict[str, bytes]:
    """Return all result files: without logs, locks, and the index, whose pages depend on the order of its changes."""
    left_out = ("log.txt", "store.lock", "index.sqlite", "index.sqlite-wal", "index.sqlite-shm")
    return {name: data for name, data in snapshot(folder).items() if Path(name).name not in left_out}


ATTACKS = {
    "scenarios": scenarios,
    "damage": damage,
    "stores": stores,
    "index": index,
    "records": records,
    "words": words,
    "studies": studies,
    "together": together,
    "killed": killed,
}


def run() -> int:
    """Run the attacks that are named, all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attacks", nargs="*", choices=[[], *ATTACKS])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1.0, help="for each attack")
    asked = parser.parse_args()
    findings = 0
    for name in asked.attacks or ATTACKS:
        tally = Tally(name)
        until = time.monotonic() + 60 * asked.minutes
        with tempfile.TemporaryDirectory(prefix="aqmlab-attacks-") as folder:
            ATTACKS[name](
                tally, random.Random(f"{name} {asked.seed}"), lambda until=until: time.monotonic() < until, Path(folder)
            )
        findings += len(tally.findings)
        print(
            json.dumps(
                {"attack": name, "outcomes": dict(sorted(tally.outcomes.items())), "findings": len(tally.findings)}
            ),
            flush=True,
        )
    return 1 if findings else 0


if __name__ == "__main__":
    with contextlib.suppress(StorageError):
        sys.exit(run())
