"""Bad input, each tried as a new user would. The messages are kept word for word: they are part of the product."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import aqmlab
from aqmlab import _core, cli
from conftest import contents
from programs import require

pytestmark = pytest.mark.slow

FILE = """\
format = 1
name = "small"

[run]
duration = "3s"

[[link]]
from = "a"
to = "b"
rate = "2Mbps"
delay = "10ms"
queue = "bottleneck"

[queue.bottleneck]
aqm = "red"
min_th = "5p"
max_th = "15p"
max_p = 0.1

[[flow]]
name = "tcp"
transport = "newreno"
from = "a"
to = "b"
"""

SECOND_LINK = '\n[[link]]\nfrom = "a"\nto = "b"\nrate = "1Mbps"\ndelay = "1ms"\n'
FAR_LINK = '\n[[link]]\nfrom = "y"\nto = "z"\nrate = "1Mbps"\ndelay = "1ms"\n'

NAMES = [discipline.name for discipline in aqmlab.disciplines() if not discipline.foreign]
DISCIPLINES = ", ".join([*NAMES[:20], f"... ({len(NAMES)} in all)"])

CASES = {
    "unknown key": (
        ('duration = "3s"', 'duratoin = "3s"'),
        "bad.toml:5:1: run.duratoin: unknown key (allowed: duration, warmup, seeds; did you mean duration?)",
    ),
    "unknown discipline": (
        ('"red"', '"rde"'),
        f'bad.toml:15:7: queue.bottleneck.aqm: "rde" is not known (allowed: {DISCIPLINES}; did you mean red?)',
    ),
    "negative rate": (
        ("2Mbps", "-2Mbps"),
        'bad.toml:10:8: link.a->b.rate: -2Mbps is negative (allowed: a rate above 0 such as "10Mbps")',
    ),
    "min_th above max_th": (
        ('"5p"', '"25p"'),
        "bad.toml:16:10: queue.bottleneck.min_th: min_th (25p) is not below max_th (15p) "
        "(allowed: 0 < min_th < max_th)",
    ),
    "max_p above 1": (
        ("max_p = 0.1", "max_p = 1.5"),
        "bad.toml:18:9: queue.bottleneck.max_p: 1.5 is out of range (allowed: 0 <= x <= 1)",
    ),
    "flow without a route": (
        ('from = "a"\nto = "b"\n', 'from = "a"\nto = "z"\n', FAR_LINK),
        "bad.toml:20:1: flow.tcp: no route from a to z, and none for acknowledgements from z to a",
    ),
    "flow to nowhere": (
        ('from = "a"\nto = "b"\n', 'from = "a"\nto = "z"\n'),
        'bad.toml:24:6: flow.tcp.to: unknown node "z" (allowed: a, b)',
    ),
    "duplicate link": (
        ("", "", SECOND_LINK),
        "bad.toml:26:1: link.a->b: there is a link from a to b already, on line 7 "
        "(allowed: one link each way (duplex = false leaves the way back free))",
    ),
    "zero duration": (
        ('"3s"', '"0s"'),
        'bad.toml:5:12: run.duration: must be above 0 (allowed: a time above 0 such as "10ms")',
    ),
    "another format": (
        ("format = 1", "format = 2"),
        "bad.toml:1:10: format: this format is not supported (allowed: 1)",
    ),
    "no TOML": (
        ('name = "small"', 'name = "small'),
        "bad.toml:2:14: not TOML: the text has no closing quote",
    ),
}


def spoiled(change):
    old, new, *more = change
    text = FILE
    if old:
        head, found, tail = text.rpartition(old)
        assert found
        text = head + new + tail
    return text + "".join(more)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("command", ["check", "run", "draw"])
def test_scenario_file(shell, name, command):
    change, message = CASES[name]
    (shell.folder / "bad.toml").write_text(spoiled(change))
    answer = shell(command, "bad.toml")
    assert (answer.code, answer.out, answer.err) == (2, "", f"{message}\n")
    assert not (shell.folder / "results").exists()


@pytest.mark.parametrize("name", CASES)
def test_python_returns_the_same(tmp_path, monkeypatch, name):
    change, message = CASES[name]
    (tmp_path / "bad.toml").write_text(spoiled(change))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(aqmlab.ScenarioError) as caught:
        aqmlab.run("bad.toml")
    assert str(caught.value) == message
    assert [str(p) for p in aqmlab.check("bad.toml")] == message.split("\n")


def test_all_errors_in_one_go(shell):
    text = FILE.replace("duration", "duratoin").replace('"red"', '"rde"').replace("2Mbps", "-2Mbps")
    (shell.folder / "bad.toml").write_text(text)
    answer = shell("run", "bad.toml")
    assert answer.code == 2
    keys = [line.split(": ")[1] for line in answer.err.splitlines()]
    assert keys == ["run.duratoin", "link.a->b.rate", "queue.bottleneck.aqm"]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("queue.bottleneck.max_p=2", "--set queue.bottleneck.max_p: 2 is out of range (allowed: 0 <= x <= 1)"),
        (
            "queue.botleneck.aqm=red",
            "--set queue.botleneck: is not the queue of any link "
            "(allowed: bottleneck, default; did you mean bottleneck?)",
        ),
        (
            "queue.botleneck.max_th=9p",
            "--set queue.botleneck: is not the queue of any link "
            "(allowed: bottleneck, default; did you mean bottleneck?)",
        ),
        (
            "run.duration=5parsec",
            '--set run.duration: "parsec" is not a unit for this '
            '(allowed: a time above 0 such as "10ms"; units ns, us, ms, s, min)',
        ),
        ("run.duration", 'aqmlab: --set run.duration: write it as key=value, for example "run.duration=5s"'),
    ],
)
def test_override(shell, override, message):
    (shell.folder / "good.toml").write_text(FILE)
    answer = shell("check", "good.toml", "--set", override)
    assert (answer.code, answer.out, answer.err) == (2, "", f"{message}\n")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["run.duration=1s"],
            "--set run.duration: 1s conflicts with run.warmup (good.toml:6:10): is not before the end of the run "
            "(allowed: below duration (1 s))",
        ),
        (
            ["run.seeds=2", "queue.bottleneck.max_th=2p"],
            "--set queue.bottleneck.max_th: 2p conflicts with queue.bottleneck.min_th (good.toml:17:10): "
            "min_th (5p) is not below max_th (2p) (allowed: 0 < min_th < max_th)",
        ),
        (
            ["run.duration=1s", "run.warmup=2s"],
            "--set run.warmup: is not before the end of the run (allowed: below duration (1 s))",
        ),
    ],
)
def test_an_override_that_conflicts_with_the_file_is_at_fault(shell, overrides, message):
    (shell.folder / "good.toml").write_text(FILE.replace('"3s"\n', '"3s"\nwarmup = "1s"\n'))
    answer = shell("check", "good.toml", *(word for one in overrides for word in ("--set", one)))
    assert (answer.code, answer.out, answer.err) == (2, "", f"{message}\n")


@pytest.mark.parametrize("needing", ["target=5ms", "max_p=2", "max_th=2p"])
def test_an_override_is_at_fault_although_another_needs_it(shell, needing):
    (shell.folder / "good.toml").write_text(FILE)
    words = ["--set", f"queue.bottleneck.{needing}", "--set", "queue.bottleneck.aqm=codel"]
    lines = shell("check", "good.toml", *words).err.splitlines()
    assert lines[0].startswith(
        "--set queue.bottleneck.aqm: codel conflicts with queue.bottleneck.min_th (good.toml:16:1)"
    )
    assert not [line for line in lines if line.startswith("good.toml")]


def test_a_warning_names_the_override_that_causes_it(shell):
    (shell.folder / "good.toml").write_text(FILE)
    answer = shell("check", "good.toml", "--set", "run.seeds=2", "--set", "queue.bottleneck.limit=12p")
    assert answer.err == (
        "aqmlab: warning: --set queue.bottleneck.limit: 12p conflicts with queue.bottleneck (good.toml:17:10): "
        "max_th (15p) is above the limit (12p): the average cannot reach it\n"
    )
    (shell.folder / "low.toml").write_text(FILE.replace("\n\n[[flow]]", '\nlimit = "12p"\n\n[[flow]]'))
    answer = shell("check", "low.toml", "--set", "run.seeds=2")
    assert answer.err.startswith("aqmlab: warning: low.toml:17:10: queue.bottleneck: max_th (15p) is above the limit")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "nothing.toml"], "nothing.toml: no such file"),
        (["run", "smal.toml"], "smal.toml: no such file (did you mean small.toml?)"),
        (["run", "."], ".: is a folder, not a scenario file"),
        (["check", "latin.toml"], "latin.toml: not UTF-8 text (byte 3)"),
        (["rnu", "small.toml"], "No such command 'rnu'. Did you mean 'run'?"),
        (["run"], "Missing argument 'FILE.toml'."),
        (["run", "small.toml", "--sede", "3"], "No such option: --sede"),
        (
            ["run", "small.toml", "--seeds", "many"],
            "--seeds many: a number n (seeds 1 to n), a list such as 1,5,9 or a range such as 11-20",
        ),
        (
            ["run", "small.toml", "--seeds", "1-100000000"],
            "--seeds 1-100000000: too many (allowed: up to 1,000,000 seeds)",
        ),
        (
            ["run", "small.toml", "--seeds", "100000000"],
            "seeds: 100000000 are too many (allowed: up to 1,000,000)",
        ),
        (
            ["run", "small.toml", "--seeds", "0"],
            "seeds: at least one, and none below 0 (a number n means the seeds 1 to n)",
        ),
        (
            ["compare", "small.toml", "--aqm", "red"],
            "compare: give at least two disciplines, for example --aqm red,mred",
        ),
        (
            ["compare", "small.toml", "--aqm", "red,rde"],
            f'unknown discipline "rde" (allowed: {DISCIPLINES}; did you mean red?)',
        ),
        (
            ["reproduce", "merd"],
            'unknown paper "merd" (allowed: …, all, codel, pie, dualpi2, fq-codel; did you mean mred?)',
        ),
        (["report", "nowhere"], "nowhere: no such results folder"),
        (["report", "."], ".: holds no finished run"),
        (["list", "rde"], f'unknown discipline "rde" (allowed: {DISCIPLINES}; did you mean red?)'),
        (
            ["check", "paper:mred/soel.toml"],
            'unknown scenario "paper:mred/soel.toml" (allowed: …; did you mean paper:mred/sole.toml?)',
        ),
    ],
)
def test_words_of_a_command(shell, words, message):
    (shell.folder / "latin.toml").write_bytes(b"# a\xe4\n")
    answer = shell(*words)
    assert (answer.code, answer.out) == (2, "")
    assert re.match(".*".join(map(re.escape, f"aqmlab: {message}".split("…"))), answer.err)
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("command", ["run", "draw", "compare", "reproduce"])
def test_output_folder_not_writable(shell, command):
    """The folder's path leads through a file, which stops root as well as anybody."""
    (shell.folder / "taken").write_text("a file")
    words = {
        "run": ["small.toml"],
        "draw": ["small.toml"],
        "compare": ["small.toml", "--aqm", "red,mred"],
        "reproduce": ["mred", "--quick"],
    }[command]
    answer = shell(command, *words, "--out", "taken/results")
    assert (answer.code, answer.out) == (1, "")
    assert re.fullmatch(
        r"aqmlab: taken/results\S*: cannot be made a folder \(a part of this path is a file\)\n", answer.err
    )


def test_report_folder_not_writable(shell):
    shell("run", "small.toml", "--seeds", "1")
    (shell.folder / "results" / "report.html").mkdir()
    answer = shell("report", "results")
    assert (answer.code, answer.err) == (1, "aqmlab: results: cannot be written (it is a folder)\n")


def test_disk_full(shell):
    """A file system of 300 KB, mounted in a name space of its own, is full after some of the runs."""
    probe = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt"]
    require("unshare", "mount")
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a file system")
    small = shell.folder / "disk"
    small.mkdir()
    script = 'mount -t tmpfs -o size=300k none "$1" && shift && shift && exec "$@"'
    command = shell.command("run", "small.toml", "--seeds", "200", "--workers", "2", "--out", "disk")
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, "sh", str(small), "--", *command],
        cwd=shell.folder,
        env=shell.environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1
    assert re.fullmatch(
        r"aqmlab: disk/small-\w{8}: the disk is full; \d+ of 200 runs finished and kept in disk/small-\w{8}; "
        r"the same command goes on with the rest\n",
        done.stderr,
    )


def test_file_size_limit(shell):
    """Where nothing can be mounted, a limit on file sizes shows the same path."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    done = subprocess.run(
        shell.command("run", "small.toml", "--seeds", "2", "--workers", "1"),
        cwd=shell.folder,
        env=shell.environment(),
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1
    assert re.fullmatch(
        r"aqmlab: results/small-\w{8}: a file would be larger than is allowed here; 0 of 2 runs finished and kept "
        r"in results/small-\w{8}; the same command goes on with the rest\n",
        done.stderr,
    )
    (folder,) = (shell.folder / "results").iterdir()
    assert sorted(p.name for p in folder.iterdir()) == ["log.txt", "scenario.toml"]


# Only Linux and some BSDs have this device, the one way to meet a full disk without filling one.
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full to write to")  # noqa: PTH110
def test_output_to_a_full_device(shell):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        answer = shell.process("list", "--json", stdout=full.fileno())
    assert answer.code == 1
    assert answer.err == "aqmlab: stdout: the disk is full\n"


def test_reader_that_goes_away(shell):
    """``aqmlab list | head -1`` ends quietly."""
    line = " ".join(shell.command("list", "--json"))
    done = subprocess.run(
        ["sh", "-c", f"{line} | head -1"], cwd=shell.folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("{\n", "")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupted_run_keeps_finished_seeds_and_is_resumed(shell, workers):
    """Ctrl-C, as a terminal sends it: SIGINT to every process of the group."""
    words = ["run", "small.toml", "--seeds", "40", "--set", "run.duration=200s", "--workers", workers]
    process = subprocess.Popen(
        shell.command(*words),
        cwd=shell.folder,
        env=shell.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while not list(shell.folder.glob("results/*/seed-*")) and time.monotonic() < end:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    found = re.fullmatch(
        r"aqmlab: interrupted; (\d+) of 40 runs finished and kept in (results/small-\w{8}); "
        r"the same command goes on with the rest\n",
        err,
    )
    assert found, err
    folder = shell.folder / found[2]
    kept = contents(folder)
    seeds = len(list(folder.glob("seed-*")))
    assert int(found[1]) <= seeds < 40
    assert not list(folder.glob(".*.tmp"))

    assert shell(*words).code == 0
    after = contents(folder)
    assert len(list(folder.glob("seed-*"))) == 40
    assert {name: after[name] for name in kept} == kept


def test_an_interrupt_while_commands_are_imported_is_one_line():
    program = (
        "import sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'aqmlab.papers.cli':\n            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "from aqmlab.__main__ import entry\n"
        "entry()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "aqmlab: interrupted\n")


def test_an_interrupted_command_says_so(monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("aqmlab.scenario.file.Scenario.load", interrupt)
    assert cli.main(["run", "example:dumbbell-red"]) == 130
    assert capsys.readouterr().err == "aqmlab: interrupted\n"


def test_a_killed_worker_is_an_error_of_one_line(tmp_path):
    """Memory runs out in a worker: the system kills it."""
    (tmp_path / "deadly.py").write_text(
        "import os, signal\n"
        "from aqmlab.runs.portions import Work\n"
        "class Deadly(Work):\n"
        "    def compute(self, progress):\n        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    program = tmp_path / "program.py"
    program.write_text(
        "import aqmlab, aqmlab.runs.scheduler, deadly\n"
        "try:\n"
        "    works = [deadly.Deadly(in_python=True) for _ in range(4)]\n"
        "    aqmlab.runs.scheduler.execute(works, workers=2, progress=False)\n"
        "except aqmlab.Error as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120, check=False)
    assert re.match(
        r"a worker process died, perhaps for want of memory \(try fewer --workers\); 0 of 4 runs finished", done.stdout
    ), done.stderr


def test_workers_end_with_a_killed_parent(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import os, pathlib, time\n"
        "from aqmlab.runs.portions import Work\n"
        "class Slow(Work):\n"
        "    def compute(self, progress):\n"
        "        pathlib.Path(f'worker-{os.getpid()}').touch()\n        time.sleep(600)\n"
    )
    program = tmp_path / "program.py"
    program.write_text(
        "from aqmlab.runs import scheduler\nimport slow\n"
        "scheduler.execute([slow.Slow(in_python=True)] * 2, workers=2, progress=False)\n"
    )
    parent = subprocess.Popen([sys.executable, str(program)], cwd=tmp_path)
    workers: list[int] = []
    end = time.monotonic() + 60
    while len(workers) < 2 and time.monotonic() < end:
        time.sleep(0.05)
        workers = [int(path.name.removeprefix("worker-")) for path in tmp_path.glob("worker-*")]
    parent.kill()
    parent.wait()
    while any(map(runs, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert workers
    assert not any(map(runs, workers))


def test_workers_end_in_the_middle_of_an_answer(tmp_path):
    """The pipe then holds less than its length says; Ctrl-C at that moment once left a command that hung."""
    (tmp_path / "halting.py").write_text(
        "import multiprocessing.connection as connection, pathlib, time\n"
        "def send(self, data, write=None):\n"
        "    connection.os.write(self._handle, bytes(data)[: len(data) // 2])\n"
        "    pathlib.Path('halfway').touch()\n    time.sleep(600)\n"
        "class Halting:\n"
        "    def perform(self, progress):\n        connection.Connection._send = send\n"
    )
    program = tmp_path / "program.py"
    program.write_text(
        "import contextlib, pathlib, time, halting\n"
        "from aqmlab.runs.executors import Processes\n"
        "with contextlib.closing(Processes(1)) as processes:\n"
        "    processes.submit(0, halting.Halting(), print)\n"
        "    while not pathlib.Path('halfway').exists():\n        time.sleep(0.01)\n"
        "    raise SystemExit(130)\n"
    )
    done = subprocess.run([sys.executable, str(program)], cwd=tmp_path, timeout=60, check=False)
    assert done.returncode == 130


def runs(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("rate", [0.0, -1.0, 0.5, float("nan"), float("inf")])
def test_a_replay_rejects_a_rate_that_no_link_has(rate):
    with pytest.raises(ValueError, match=r"rate_bps: .* is out of range \(allowed: 1 to 1e15\)"):
        _core.replay('aqm = "red"', rate, 0.01, [], [])
    with pytest.raises(ValueError, match="delay_s: -1 is out of range"):
        _core.replay('aqm = "red"', 1e6, -1.0, [], [])


def test_a_replay_ends_by_a_signal():
    """In a process of its own, and after a share of its own processor time, which no load beside it changes."""
    program = (
        "import signal, time\n"
        "from aqmlab import _core\n"
        "def end(*_):\n    raise KeyboardInterrupt\n"
        "operations = [(ps, None) for ps in range(200_000)]\n"
        "def replay():\n    _core.replay('aqm = \"red\"', 1e6, 0.01, operations, [])\n"
        "began = time.process_time()\nreplay()\nwhole = time.process_time() - began\n"
        "signal.signal(signal.SIGVTALRM, end)\n"
        "began = time.process_time()\n"
        "try:\n    signal.setitimer(signal.ITIMER_VIRTUAL, whole / 10)\n    replay()\n"
        "except KeyboardInterrupt:\n    print((time.process_time() - began) / whole)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert float(done.stdout) < 0.5
