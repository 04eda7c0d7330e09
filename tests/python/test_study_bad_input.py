"""Sweeps and stores with invalid input: one clear message, and no partial results."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import aqmlab
from aqmlab.runs.store.index import FORMAT
from aqmlab.runs.store.querying import query
from aqmlab.runs.store.store import ResultStore
from programs import require

pytestmark = pytest.mark.slow

MAX_P = "queue.bottleneck.max_p"
TABLE = "queue.bottleneck"
FORM = r"write it as key=from:to:count, key=from:to:count:log or key=v1,v2,\.\.\."


def refused(answer, pattern, code=2):
    assert answer.code == code, answer
    assert re.fullmatch(f"aqmlab: {pattern}\n", answer.err), answer.err
    assert answer.out == ""


@pytest.mark.parametrize(
    ("options", "pattern"),
    [
        ({"grid": {MAX_P: []}}, rf"grid {MAX_P}: the grid is empty \({FORM}\)"),
        ({"grid": {MAX_P: "0.1:0.2:0"}}, rf"grid {MAX_P}=0.1:0.2:0: the grid is empty \({FORM}\)"),
        ({"grid": {MAX_P: "0.1,,0.2"}}, rf"grid {MAX_P}: the grid is empty \({FORM}\)"),
        ({"grid": {MAX_P: "0.1:0.2"}}, rf"grid {MAX_P}=0.1:0.2: {FORM}"),
        ({"grid": {MAX_P: "0.2:0.1:3"}}, rf"grid {MAX_P}=.*: the first end must be below the second"),
        ({"grid": {MAX_P: "0:1:3:log"}}, rf"grid {MAX_P}=.*: the first end must be above 0 and below the second"),
        ({"grid": {"a": "1ms:2s:3"}}, 'grid a=1ms:2s:3: both ends need the same unit, not "ms" and "s"'),
        ({"grid": {"a": "1,2,1"}}, "grid a: 1 is given twice"),
        ({"grid": {"a": "1"}, "zipped": {"a": "2"}}, r"a: is swept twice \(allowed: each key in one of .*"),
        (
            {"grid": {TABLE: ["{ aqm = 'red' }"], "aqm": "red"}},
            rf"{TABLE}: is swept as a table, .* and so is {TABLE}.aqm .*",
        ),
        ({"zipped": {"a": "1,2", "b": "1"}}, r"--zip: all keys need as many values \(a has 2, b has 1\)"),
        ({"ranges": {MAX_P: "0.1:0.2"}}, r"--range: say how many points to draw \(--random N or --sobol N\)"),
        ({"random": 3}, r"--random: say what to draw from \(--range key=from:to\)"),
        ({"ranges": {MAX_P: "0.1:0.2"}, "sobol": 0}, r"--sobol 0: the grid is empty \(draw at least one point\)"),
        ({"ranges": {MAX_P: "0.1:0.2"}, "sobol": 2, "random": 2}, "draw points at random or .* not both"),
        ({"grid": {"run.seeds": [1, 2]}}, r"run\.seeds: cannot be swept; say --seeds, every point gets them all"),
        ({"grid": {"a": "1:9:4000", "b": "1:9:4000"}}, r"the study has .* points \(allowed: up to 10,000,000\)"),
        ({"engine": "window"}, 'unknown engine "window" .*'),
        ({"dask": "nonsense"}, "--dask nonsense: no Dask scheduler answers there .*"),
    ],
)
def test_designs(small, tmp_path, options, pattern):
    if "dask" in options:
        pytest.importorskip("distributed")
    with pytest.raises(aqmlab.InputError) as caught:
        aqmlab.sweep(small, out=tmp_path / "store", progress=False, **options)
    assert re.fullmatch(pattern, str(caught.value)), str(caught.value)
    assert not list(tmp_path.glob("store/runs/*"))


def test_every_point_is_checked_before_the_first_run(small, tmp_path):
    with pytest.raises(aqmlab.ScenarioError, match=rf"--grid {re.escape(MAX_P)}: .*"):
        aqmlab.sweep(small, grid={MAX_P: [0.1, 0.2, 3]}, out=tmp_path / "store", progress=False)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ('study = 2\nscenario = "small.toml"', r"study\.toml: study: is 2 \(allowed: 1\)"),
        ("study = 1", r"study\.toml: scenario: name the scenario file, .*"),
        ('study = 1\nscenario = "small.toml"\ngird = 1', 'study.toml: unknown key "gird" .*did you mean grid.*'),
        ('study = 1\nscenario = "no.toml"', r"no\.toml: no such file.*"),
        ('study = 1\nscenario = "small.toml"\nseeds = "3"', r"study\.toml: seeds: is '3' \(allowed: a number n .*"),
        ('study = 1\nscenario = "small.toml"\n[draw]\nsobol = 1.5', r"study\.toml: draw\.sobol: is 1\.5 \(allowed.*"),
        (
            'study = 1\nscenario = "small.toml"\n[grid]\nqueue.b = [1]',
            r"study\.toml: grid\.queue: quote the whole key.*",
        ),
        ("study = 1\nscenario = ", r"study\.toml:2:12: not TOML: the file ends in the middle of a value"),
    ],
)
def test_study_files(shell, monkeypatch, text, pattern):
    monkeypatch.chdir(shell.folder)
    (shell.folder / "study.toml").write_text(text)
    with pytest.raises(aqmlab.InputError) as caught:
        aqmlab.sweep("study.toml", out="store", progress=False)
    assert re.fullmatch(pattern, str(caught.value)), str(caught.value)


def test_words_of_the_command(shell):
    refused(shell("sweep", "small.toml", "--grid", MAX_P), rf'--grid {MAX_P}: write it as key=values, for example ".*"')
    refused(shell("sweep", "small.toml", "--grid", f"{MAX_P}="), rf"grid {MAX_P}: the grid is empty .*")


def test_no_scheduler_answers(shell, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("aqmlab.runs.executors.DASK_TIMEOUT_S", 1)
    answer = shell("sweep", "small.toml", "--dask", "tcp://127.0.0.1:1")
    refused(answer, r"--dask tcp://127\.0\.0\.1:1: no Dask scheduler answers there \(Timed out .*\)")


def test_no_store(shell, tmp_path):
    (tmp_path / "without").mkdir()
    store = str(tmp_path / "without")
    refused(shell("results", "ls", store), r".+without: holds no store of results \(no index\.sqlite\)", code=2)
    refused(shell("results", "ls", f"{store}/none"), r".+none: no such folder", code=2)


def test_an_extra_that_is_missing(small, tmp_path, monkeypatch):
    for module in ("distributed", "duckdb"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(aqmlab.InputError, match=r"--dask: .* not installed \(pip install 'aqmlab\[dask\]'\)"):
        aqmlab.sweep(small, out=tmp_path / "store", dask="tcp://127.0.0.1:1", progress=False)
    with (
        ResultStore(tmp_path / "store") as store,
        pytest.raises(aqmlab.InputError, match=r"query: .* not installed \(pip install 'aqmlab\[store\]'\)"),
    ):
        query(store, "SELECT 1")


@pytest.fixture
def filled(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    aqmlab.sweep(small, seeds=2, out="store", workers=1, progress=False)
    return tmp_path / "store"


@pytest.mark.parametrize("format_", [FORMAT - 1, FORMAT + 1])
def test_a_store_of_another_format(shell, filled, format_):
    with sqlite3.connect(filled / "index.sqlite") as connection:
        connection.execute(f"PRAGMA user_version = {format_}")
    connection.close()
    pattern = rf"store: is a store of another aqmlab \(format {format_}; this one reads {FORMAT}\)"
    refused(shell("sweep", "small.toml", "--out", "store"), pattern, code=1)
    refused(shell("results", "gc", "store"), pattern, code=1)


def test_a_damaged_index(shell, filled):
    (filled / "index.sqlite").write_bytes(b"no database at all, " * 300)
    pattern = r"store/index\.sqlite: is damaged; move it away, and it is made .+ from the files of the runs"
    refused(shell("results", "ls", "store"), pattern, code=1)
    (filled / "index.sqlite").unlink()
    assert aqmlab.sweep("small.toml", seeds=2, out="store", progress=False).evaluation.runs == ()


def test_a_damaged_parquet_file(shell, filled):
    path = next(filled.glob("runs/*/*/links.parquet"))
    data = path.read_bytes()
    path.write_bytes(data[:50] + b"damage" + data[56:])
    name = str(path.relative_to(shell.folder))
    answer = shell("results", "export", "store", "--table", "links", "--out", "links.csv")
    pattern = rf"{re.escape(name)}: is damaged; 'aqmlab results gc store' removes it, the next sweep runs it again"
    refused(answer, pattern, code=1)
    assert shell("results", "gc", "store").code == 0
    study = aqmlab.sweep("small.toml", seeds=2, out="store", progress=False)
    assert len(study.evaluation.runs) == 2
    assert path.read_bytes() == data


def test_names_that_are_not_there(shell, filled):
    shell("run", "small.toml", "--seeds", "1", "--out", "runs-only")
    for name in ([], ["small"]):
        refused(
            shell("results", "show", "runs-only", *name), r"runs-only: has no study \(aqmlab results ls runs-only .*"
        )
    refused(shell("results", "show", "store", "smal"), r'store: unknown study "smal" .*did you mean small.*')
    refused(shell("results", "export", "store", "--out", "runs.xls"), r'runs\.xls: unknown format "xls" .*')
    refused(shell("results", "export", "store", "--table", "link"), r'unknown table "link" .*did you mean links.*')


def test_disk_full(shell):
    """A file system of 300 KB, mounted in a name space of its own, is full after some of the runs."""
    probe = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt"]
    require("unshare", "mount")
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a file system")
    (shell.folder / "disk").mkdir()
    script = 'mount -t tmpfs -o size=300k none disk && exec "$@"'
    words = ("sweep", "small.toml", "--set", "run.duration=30s", "--seeds", "200", "--workers", "1", "--out", "disk")
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, "sh", *shell.command(*words)],
        cwd=shell.folder,
        env=shell.environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1
    pattern = r"aqmlab: disk: the disk is full; \d+ of 200 runs finished and kept in disk; .*goes on with the rest\n"
    assert re.fullmatch(pattern, done.stderr), done.stderr


def test_interrupted(shell):
    words = ("sweep", "small.toml", "--set", "run.duration=300s", "--seeds", "2000", "--workers", "2", "--out", "store")
    process = subprocess.Popen(
        shell.command(*words), cwd=shell.folder, env=shell.environment(), stderr=subprocess.PIPE, text=True
    )
    while not list(shell.folder.glob("store/runs/*/*")) and process.poll() is None:
        os.sched_yield()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    found = re.fullmatch(r"aqmlab: interrupted; (\d+) of 2000 runs finished and kept in store; .*\n", err)
    assert found, err
    with ResultStore(shell.folder / "store") as store:
        assert store.index.rows("SELECT count(*) FROM runs") == [(int(found[1]),)]
        assert store.index.rows("SELECT * FROM claims") == []


NESTED = {
    "a key of 50,000 parts": ".".join(["a"] * 50_000) + " = 1",
    "100,000 brackets": f"x = {'[' * 100_000}",
    "20,000 tables": f"x = {'{a=' * 20_000}1{'}' * 20_000}",
}


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
def test_nested_study_files_meet_the_limits_of_scenario_files(tmp_path, text):
    """Python's own parser took over a minute, or ended with a RecursionError."""
    path = tmp_path / "study.toml"
    path.write_text(f"study = 1\n{text}\n")
    began = time.process_time()
    with pytest.raises(aqmlab.InputError) as caught:
        aqmlab.sweep(path, out=tmp_path / "store", progress=False)
    assert re.match(rf"{re.escape(str(path))}:2:\d+: not TOML: .* nesting depth", str(caught.value))
    assert time.process_time() - began < 5


def test_settings_on_the_command_line_meet_them_too(shell):
    answer = shell("compare", "small.toml", "--aqm", "red", "--with", f"deep={{ aqm = 'red', x = {'[' * 10_000} }}")
    assert (answer.code, answer.err.count("\n")) == (2, 1)


def test_a_number_that_is_not_finite_has_a_place(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('study = 1\nscenario = "small.toml"\n[grid]\n"queue.bottleneck.max_p" = [0.1, inf]\n')
    with pytest.raises(aqmlab.InputError, match=r"study\.toml:4:34: .*max_p: inf is out of range"):
        aqmlab.sweep(path, out=tmp_path / "store", progress=False)


def test_only_the_core_reads_toml():
    root = Path(aqmlab.__file__).parent
    assert [str(path) for path in root.rglob("*.py") if "tomllib" in path.read_text(encoding="utf-8")] == []
