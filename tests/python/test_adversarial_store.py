"""Stores from elsewhere, damaged ones and read-only ones: nothing outside is touched, and damage is reported."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.errors import InputError, StorageError
from aqmlab.runs.store.index import Index
from aqmlab.runs.store.maintenance import collect
from aqmlab.runs.store.querying import query
from aqmlab.runs.store.store import ResultStore

AQMLAB = Path(sys.executable).with_name("aqmlab")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    from conftest import DUMBBELL

    folder = tmp_path_factory.mktemp("made")
    (folder / "small.toml").write_text(DUMBBELL.replace('duration = "3s"', 'duration = "1s"'))
    aqmlab.sweep(folder / "small.toml", grid={"flow.tcp.count": [1, 2]}, seeds=2, out=folder / "store", progress=False)
    return folder / "store"


@pytest.fixture
def store(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "store"))


@pytest.fixture
def precious(tmp_path):
    folder = tmp_path / "precious"
    (folder / uuid.uuid4().hex).mkdir(parents=True)
    (folder / "letters.txt").write_text("kept")
    return folder


def change(store, *statements):
    with closing(sqlite3.connect(store / "index.sqlite")) as connection:
        for statement in statements:
            connection.execute(*statement)
        connection.commit()


class TestTheNameOfABlock:
    @pytest.mark.parametrize("dry_run", [False, True])
    @pytest.mark.parametrize("name", ["ABSOLUTE", "../../precious", "", ".", "a/b", 7, b"\xff", "0" * 31, "G" * 32])
    def test_that_is_no_hash_is_an_error_and_removes_nothing(self, store, precious, name, dry_run):
        name = str(precious) if name == "ABSOLUTE" else name
        change(store, ("INSERT INTO blocks VALUES (?, '{}')", (name,)))
        with ResultStore(store) as opened, pytest.raises(StorageError, match="no name of a block"):
            collect(opened, dry_run=dry_run)
        assert (precious / "letters.txt").read_text() == "kept"

    def test_is_checked_when_a_block_is_read(self, store):
        change(store, ("UPDATE runs SET block = '../../../etc'",), ("UPDATE blocks SET block = '../../../etc'",))
        with ResultStore(store) as opened:
            (run,) = opened.index.rows("SELECT run FROM runs LIMIT 1")
            for ask in (lambda: opened.result(run), lambda: query(opened, "SELECT * FROM links")):
                with pytest.raises(StorageError, match="no name of a block"):
                    ask()

    def test_folders_with_other_names_are_left_alone(self, store):
        (store / "runs" / "zz" / "photos").mkdir(parents=True)
        with ResultStore(store) as opened:
            assert collect(opened).blocks == ()
        assert (store / "runs" / "zz" / "photos").is_dir()

    def test_of_a_file_is_checked_too(self, store):
        files = json.dumps({"../../../secret.parquet": [1, "0" * 32]})
        change(store, ("UPDATE blocks SET files = ?", (files,)))
        with ResultStore(store) as opened, pytest.raises(StorageError, match="is damaged"):
            collect(opened)


class TestLinksOutOfTheStore:
    @pytest.mark.parametrize("where", ["owners", "runs"])
    def test_are_an_error(self, store, precious, where):
        shutil.rmtree(store / where)
        (store / where).symlink_to(precious)
        before = sorted(precious.iterdir())
        with pytest.raises(StorageError, match="is a symbolic link"), ResultStore(store) as opened:
            collect(opened)
        assert sorted(precious.iterdir()) == before

    def test_are_not_followed_at_a_block(self, store, precious):
        name = next(precious.glob("[0-9a-f]*")).name
        (store / "runs" / name[:2]).mkdir(exist_ok=True)
        (store / "runs" / name[:2] / name).symlink_to(precious / name)
        change(store, ("INSERT INTO blocks VALUES (?, '{}')", (name,)))
        with pytest.raises(StorageError, match="is a symbolic link"), ResultStore(store) as opened:
            collect(opened)
        assert (precious / name).is_dir()


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE blocks SET files = 'no JSON'",
        "UPDATE blocks SET files = '[1, 2]'",
        "UPDATE blocks SET files = x'ff'",
        "UPDATE studies SET content = '{'",
        "UPDATE studies SET content = '[1]'",
        "UPDATE studies SET content = x'ff'",
        "UPDATE studies SET content = ''",
        "UPDATE runs SET metrics = '{\"a'",
        "UPDATE runs SET metrics = '-1'",
        "UPDATE runs SET metrics = '{\"utilization\": []}'",
    ],
)
def test_a_misshapen_index_is_one_line(store, statement, capsys):
    change(store, (statement,))
    codes = [main(["results", *words]) for words in (["show", str(store)], ["gc", str(store), "--dry-run"])]
    said = capsys.readouterr().err.splitlines()
    assert set(codes) <= {0, 1}
    assert 1 in codes
    assert len(said) == codes.count(1)
    assert all("is damaged" in line for line in said)


def test_a_missing_store_is_bad_input(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        ResultStore(tmp_path / "nothing")


class TestAReadOnlyStore:
    """As root, permissions do not count: the store is mounted read-only in a mount namespace then."""

    def ask(self, store, *words):
        command = [str(AQMLAB), *words]
        if os.geteuid() == 0:
            script = f'mount --bind "{store}" "{store}" && mount -o remount,ro,bind "{store}" && exec "$@"'
            command = ["unshare", "--mount", "/bin/sh", "-c", script, "sh", *command]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    @pytest.fixture
    def read_only(self, store):
        if os.geteuid() == 0 and self.ask(store, "--version").returncode != 0:
            pytest.skip("mounts are not allowed here")
        paths = [store, *store.rglob("*")]
        for path in paths:
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield store
        for path in paths:
            path.chmod(0o755)

    @pytest.mark.slow
    def test_is_read_by_every_command_that_only_reads(self, read_only, tmp_path):
        run = self.ask(read_only, "results", "query", str(read_only), "SELECT run FROM runs LIMIT 1", "--json")
        assert run.returncode == 0, run.stderr
        name = json.loads(run.stdout)[0]["run"]
        for words in (["ls"], ["show"], ["show", name], ["export", "--out", str(tmp_path / "runs.csv")]):
            done = self.ask(read_only, "results", words[0], str(read_only), *words[1:])
            assert done.returncode == 0, done.stderr
        assert (tmp_path / "runs.csv").read_text().count("\n") == 5

    @pytest.mark.slow
    def test_is_not_changed_by_gc(self, read_only):
        done = self.ask(read_only, "results", "gc", str(read_only))
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1

    def test_with_a_log_that_was_not_folded_in_is_read_whole(self, store, monkeypatch):
        with closing(sqlite3.connect(store / "index.sqlite")) as writer:
            writer.execute("PRAGMA journal_mode = WAL")
            writer.execute("INSERT INTO folders VALUES ('run', 'path')")
            writer.commit()
            copy = store.with_name("copy")
            shutil.copytree(store, copy, ignore=shutil.ignore_patterns("*-shm"))
        assert (copy / "index.sqlite-wal").stat().st_size > 0
        copy.joinpath("index.sqlite-shm").mkdir()  # SQLite can neither open nor make its shared memory
        monkeypatch.setattr("aqmlab.runs.store.index._is_writable", lambda path: path.parent != copy)
        index = Index(copy, create=False)
        assert index.rows("SELECT * FROM folders") == [("run", "path")]
        index.close()


class TestAQuery:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "sql",
        [
            "COPY (SELECT 1) TO '{}/out.csv'",
            "SELECT * FROM read_text('/etc/passwd')",
            "SELECT * FROM '/etc/passwd'",
            "SELECT * FROM glob('/*')",
            "ATTACH '{}/out.db'",
            "INSTALL httpfs",
            "LOAD '{}/out.so'",
            "EXPORT DATABASE '{}/out'",
            "SET enable_external_access = true",
            "SET temp_directory = '{}/out'",
            "SELECT * FROM store",
            "SELECT * FROM points; COPY (SELECT 1) TO '{}/out.csv'",
        ],
    )
    def test_reads_the_tables_alone(self, made, tmp_path, sql):
        with ResultStore(made) as opened, pytest.raises(InputError):
            query(opened, sql.format(tmp_path))
        assert list(tmp_path.iterdir()) == []

    def test_still_answers(self, made):
        sql = 'SELECT l.link, count(*) AS n, max(f.seed) AS s FROM "links" l JOIN Flows f USING (run) GROUP BY 1'
        with ResultStore(made) as opened:
            assert len(query(opened, sql)) > 0
            assert len(query(opened, "WITH x AS (FROM runs) SELECT * FROM x")) == 4

    def test_of_a_damaged_table_is_an_error_and_of_others_not(self, store):
        path = next(store.rglob("flows.parquet"))
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        with ResultStore(store) as opened:
            assert len(query(opened, "SELECT * FROM links")) > 0
            with pytest.raises(StorageError, match=r"flows\.parquet: is damaged"):
                query(opened, "SELECT * FROM flows")


def test_several_may_make_a_store_at_once(tmp_path):
    def make(root, together):
        together.wait()
        Index(root, create=True).close()

    for i in range(20):
        (root := tmp_path / str(i)).mkdir()
        together = threading.Barrier(4)
        with ThreadPoolExecutor(4) as pool:
            for made in [pool.submit(make, root, together) for _ in range(4)]:
                made.result()
