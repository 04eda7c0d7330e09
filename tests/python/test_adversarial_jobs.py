"""Damage and hostile content in what commands share: rows of the index, records, folders of runs, one store for all."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.runs.store.block import file_facts

AQMLAB = Path(sys.executable).with_name("aqmlab")
SHORT = {"run.duration": "300ms", "run.warmup": "0s", "run.seeds": "[1, 2]"}


@pytest.fixture(scope="module")
def text():
    from conftest import DUMBBELL

    return DUMBBELL.replace('duration = "3s"', 'duration = "300ms"')


@pytest.fixture(scope="module")
def made(tmp_path_factory, text):
    """A store with a sweep, a run and a comparison, and the scenario beside it."""
    folder = tmp_path_factory.mktemp("jobs")
    scenario = folder / "small.toml"
    scenario.write_text(text)
    store = folder / "store"
    aqmlab.sweep(scenario, grid={"flow.tcp.count": [1, 2]}, seeds=2, out=store, progress=False)
    aqmlab.run(scenario, seeds=2, out=folder / "runs", progress=False)
    aqmlab.compare(scenario, aqm=["red", "drop-tail"], seeds=2, out=folder / "runs", progress=False)
    return folder


@pytest.fixture
def place(made, tmp_path):
    """A copy of `made` that a test may damage."""
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    return copy


def change(store, *statements):
    connection = sqlite3.connect(store / "index.sqlite")
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def rows(store, query):
    connection = sqlite3.connect(store / "index.sqlite")
    found = connection.execute(query).fetchall()
    connection.close()
    return found


def message(capsys):
    said = capsys.readouterr().err
    assert "internal error" not in said
    assert said.count("\n") == 1
    return said


def folder_of(place):
    return next(path for path in (place / "runs").iterdir() if (path / "seed-0001").is_dir())


def comparison_of(place):
    return next(path for path in (place / "runs").iterdir() if (path / "compare.json").is_file())


class TestARowOfTheIndexThatIsNotWhatWasWritten:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "statement",
        [
            """UPDATE runs SET metrics = replace(metrics, '0.', '1.')""",
            """UPDATE runs SET seed = 3 - seed""",
            """UPDATE studies SET content = replace(content, '["2"]', '["7"]')""",
            """UPDATE studies SET content = replace(content, '["1"]', '["2"]')""",
            """UPDATE studies SET content = replace(content, '[1, 2]', '[1]')""",
        ],
    )
    def test_is_an_error(self, place, capsys, statement):
        change(place / "store", statement)
        assert main(["results", "export", str(place / "store"), "--out", str(place / "all.csv")]) == 1
        assert "index.sqlite: is damaged" in message(capsys)
        assert not (place / "all.csv").exists()

    def test_that_has_the_text_of_another_scenario_is_an_error(self, place):
        for path in (place / "store").glob("runs/*/*/scenarios.parquet"):
            table = pq.read_table(path)
            texts = [text.replace("300ms", "301ms") for text in table["text"].to_pylist()]
            pq.write_table(table.set_column(1, "text", [texts]), path)
            ((files,),) = rows(place / "store", f"SELECT files FROM blocks WHERE block = '{path.parent.name}'")
            facts = {**json.loads(files), **file_facts({path.name: path.read_bytes()})}
            change(
                place / "store", f"UPDATE blocks SET files = '{json.dumps(facts)}' WHERE block = '{path.parent.name}'"
            )
        study = aqmlab.Study.load(place / "store")
        with pytest.raises(aqmlab.StorageError, match="another text"):
            study.result(0)

    def test_of_an_answer_is_computed_again(self, tmp_path):
        from aqmlab.results.keys import RunKey
        from aqmlab.results.output import Output
        from aqmlab.runs.store.store import ResultStore

        keys = [RunKey("1", "a" * 32, seed, "an answer") for seed in (1, 2)]
        answers = ResultStore(tmp_path, create=True)
        for key in keys:
            answers.put(key, Output({"goodput": 0.5}, {}))
        change(tmp_path, f"UPDATE answers SET answer = replace(answer, '0.5', '0.4') WHERE run = '{keys[0].name}'")
        assert [answers.has(key) for key in keys] == [False, True]
        with pytest.raises(aqmlab.StorageError, match="run again"):
            answers.get(keys[0])
        answers.put(keys[0], Output({"goodput": 0.5}, {}))
        assert answers.get(keys[0]) == {"goodput": 0.5}

    @pytest.mark.parametrize("answer", ["[]", "null", "{", "x" * 10, "[" * 100_000])
    def test_of_an_answer_that_is_no_table_is_computed_again(self, tmp_path, answer):
        from aqmlab.results.keys import RunKey
        from aqmlab.results.output import Output
        from aqmlab.runs.store.store import ResultStore

        key = RunKey("1", "a" * 32, 1, "an answer")
        answers = ResultStore(tmp_path, create=True)
        answers.put(key, Output({"goodput": 0.5}, {}))
        change(tmp_path, f"UPDATE answers SET answer = '{answer}', digest = ''")
        assert not answers.has(key)

    def test_whose_table_has_a_damaged_definition_is_an_error(self, place, capsys):
        path = place / "store" / "index.sqlite"
        path.write_bytes(path.read_bytes().replace(b"CREATE TABLE studies (", b"CREATE TABLE stud\xf4es ("))
        assert main(["results", "export", str(place / "store"), "--out", str(place / "all.csv")]) == 1
        assert "index.sqlite: " in message(capsys)


class TestAFolderThatTheIndexNames:
    @pytest.mark.parametrize("path", ["../outside", "/etc", "{outside}", "x/../../outside", "link", "a\0b"])
    def test_outside_the_store_is_not_read(self, place, text, path):
        from aqmlab.runs.jobs import jobs_for, missing
        from aqmlab.runs.store.store import ResultStore

        store, outside = place / "runs", place / "outside"
        shutil.copytree(folder_of(place) / "seed-0001", outside)
        (store / "link").symlink_to(outside)
        plan = aqmlab.Scenario.from_text(text)
        connection = sqlite3.connect(store / "index.sqlite")
        with connection:
            connection.execute("UPDATE folders SET path = ?", (path.format(outside=outside),))
        connection.close()
        target = place / "target"
        target.mkdir()
        jobs = jobs_for(plan, [1, 2], folder=target)
        assert missing(jobs, store) == jobs
        assert list(target.iterdir()) == []
        with ResultStore(store) as opened, pytest.raises(aqmlab.StorageError, match="no folder in this store"):
            opened.run_folder(jobs[0].key)
        assert len(aqmlab.sweep(plan, seeds=2, out=store, progress=False).evaluation.runs) == 2

    def test_of_another_seed_is_not_taken(self, place, text):
        from aqmlab.runs.jobs import jobs_for, missing

        change(place / "runs", "UPDATE folders SET path = replace(path, 'seed-0001', 'seed-0002')")
        target = place / "target"
        target.mkdir()
        jobs = jobs_for(aqmlab.Scenario.from_text(text), [1, 2], folder=target)
        assert missing(jobs, place / "runs") == jobs[:1]

    def test_that_is_damaged_is_computed_again(self, place, text):
        from aqmlab.runs.jobs import jobs_for, missing

        path = folder_of(place) / "seed-0001" / "links.parquet"
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        target = place / "target"
        target.mkdir()
        jobs = jobs_for(aqmlab.Scenario.from_text(text), [1, 2], folder=target)
        assert missing(jobs, place / "runs") == jobs[:1]


class TestARecord:
    def test_of_a_comparison_with_a_flipped_bit_is_an_error(self, place, capsys):
        path = comparison_of(place) / "compare.json"
        path.write_text(path.read_text().replace('"queue": "bottleneck"', '"queue": "bottlenecj"'))
        assert main(["report", str(path.parent)]) == 1
        assert "compare.json: is damaged" in message(capsys)

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            *[("seeds", value) for value in (None, [], ["1"], [-1], [1.5], {})],
            *[("runs", value) for value in (None, [], [["red"]], [["red", 1], ["x", "y"]], 7)],
            *[("runs", [["red", label], ["drop-tail", label]]) for label in ("../x", "/etc", "..", "", "a\0b")],
            *[("notes", value) for value in (None, [1], "x")],
            *[("level", value) for value in (None, 0, 2, "0.95", -0.5)],
            *[("queue", value) for value in (None, 1, [])],
        ],
    )
    def test_of_a_comparison_that_is_misshapen_is_one_line(self, place, capsys, key, value):
        path = comparison_of(place) / "compare.json"
        record = json.loads(path.read_text())
        record.pop("digest", None)
        path.write_text(json.dumps(record | {key: value}))
        assert main(["report", str(path.parent)]) == 1
        assert "compare.json: is damaged" in message(capsys)

    @pytest.mark.parametrize("key", ["name", "queue", "link", "seeds", "runs", "notes"])
    def test_of_a_comparison_that_lacks_a_key_is_one_line(self, place, capsys, key):
        path = comparison_of(place) / "compare.json"
        record = json.loads(path.read_text())
        record.pop(key, None)
        path.write_text(json.dumps(record))
        assert main(["report", str(path.parent)]) == 1
        assert "compare.json: is damaged" in message(capsys)

    @pytest.mark.parametrize("effort", ['{"nonsense": 1}', "[]", "null"])
    def test_of_a_reproduction_that_is_misshapen_is_one_line(self, tmp_path, capsys, effort):
        (tmp_path / "reproduction.json").write_text(f'{{"paper": "mred", "version": "0", "effort": {effort}}}')
        assert main(["report", str(tmp_path)]) == 1
        assert "reproduction.json: is damaged" in message(capsys)


class TestTheScenarioOfAResultsFolder:
    @pytest.mark.parametrize(
        "damage",
        [
            lambda data: data.replace(b"2Mbps", b"3Mbps"),
            lambda data: data + b"\xff",
            lambda data: b"",
            lambda data: data + b"\n",
        ],
    )
    def test_that_is_not_what_was_written_is_an_error(self, place, capsys, damage):
        path = folder_of(place) / "scenario.toml"
        before = path.read_bytes()
        path.write_bytes(damage(before) if damage(before) != before else before.replace(b"bottleneck", b"bottlenecj"))
        assert main(["report", str(path.parent)]) == 1
        assert "scenario.toml: is not the scenario of these runs" in message(capsys)

    @pytest.mark.parametrize("value", [None, True, 7, {}, {"bottleneck": 1}, {"bottleneck": {"parameters": None}}])
    def test_whose_readings_are_misshapen_is_one_line(self, place, capsys, value):
        path = folder_of(place) / "seed-0001" / "summary.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"readings": value if value != {} else []}))
        (path.parent / "SHA256SUMS").unlink(missing_ok=True)
        assert main(["report", str(folder_of(place))]) == 1
        assert "summary.json: is damaged" in message(capsys)

    def test_with_the_folder_of_another_seed_is_an_error(self, place, capsys):
        folder = folder_of(place)
        shutil.rmtree(folder / "seed-0002")
        (folder / "seed-0001").rename(folder / "seed-0002")
        assert main(["report", str(folder)]) == 1
        assert "holds another seed, 1" in message(capsys)


class TestOneStoreForSeveralCommands:
    @pytest.mark.slow
    def test_at_the_same_time(self, tmp_path, text):
        scenario = tmp_path / "small.toml"
        scenario.write_text(text)
        out = tmp_path / "store"
        commands = [
            ["run", str(scenario), "--seeds", "3"],
            ["compare", str(scenario), "--aqm", "red,codel", "--seeds", "3"],
            ["sweep", str(scenario), "--seeds", "3"],
            ["run", str(scenario), "--seeds", "3"],
        ]
        processes = [
            subprocess.Popen(
                [AQMLAB, *words, "--json", "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            for words in commands
        ]
        said = [process.communicate()[1] for process in processes]
        assert [process.returncode for process in processes] == [0] * 4, said
        assert list(out.rglob(".*.tmp")) == []
        assert main(["results", "gc", str(out)]) == 0

    def test_answers_of_several_threads_and_openings(self, tmp_path):
        from aqmlab.results.keys import RunKey
        from aqmlab.results.output import Output
        from aqmlab.runs.store.store import ResultStore

        keys = [RunKey("1", "a" * 32, seed, "an answer") for seed in range(8)]
        errors = []

        def work():
            try:
                answers = ResultStore(tmp_path / "store", create=True)
                for key in keys:
                    answers.put(key, Output({"seed": key.seed}, {}))
                assert [answers.get(key)["seed"] for key in keys] == list(range(8))
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []

    def test_a_finished_run_of_another_writer_stays(self, place, text):
        from aqmlab.runs.jobs import jobs_for

        folder = folder_of(place)
        (job, _) = jobs_for(aqmlab.Scenario.load(place / "small.toml"), [1, 2], folder=folder)
        before = (folder / "seed-0001").stat().st_ino
        job.keep(job.compute(lambda share: None))
        assert (folder / "seed-0001").stat().st_ino == before
