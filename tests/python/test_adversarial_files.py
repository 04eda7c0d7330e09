"""Result folders: damage is found, several writers do not disturb each other, and killed ones leave nothing."""

import contextlib
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.errors import StorageError
from aqmlab.results import folders
from aqmlab.results.result import Result

DEAD = 2**22 + 1
"""No process has this number: Linux ends at 2^22."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    from conftest import DUMBBELL

    folder = tmp_path_factory.mktemp("made")
    (folder / "small.toml").write_text(DUMBBELL.replace('duration = "3s"', 'duration = "1s"'))
    return aqmlab.run(folder / "small.toml", seeds=2, out=folder / "results", progress=False).folder


@pytest.fixture
def results(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "results"))


class TestDamage:
    def test_of_a_single_bit_never_changes_a_table_silently(self, made, tmp_path):
        whole = {name: folders.read_table(made / "seed-0001", name) for name in ("links", "flows", "queue_samples")}
        chance = random.Random(8)
        for attempt in range(300):
            name = chance.choice(list(whole))
            folder = tmp_path / str(attempt)
            folder.mkdir()
            data = bytearray((made / "seed-0001" / f"{name}.parquet").read_bytes())
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            (folder / f"{name}.parquet").write_bytes(data)
            shutil.copy(made / "seed-0001" / folders.SUMS, folder)
            with pytest.raises(StorageError, match="is damaged"):
                folders.read_table(folder, name)

    def test_of_pages_is_found_without_digests_too(self, made, tmp_path):
        source = made / "seed-0001" / "queue_samples.parquet"
        whole, data = folders.read_table(source.parent, "queue_samples"), source.read_bytes()
        for place in range(40, 400, 9):
            spoilt = bytearray(data)
            spoilt[place] ^= 4
            (tmp_path / "queue_samples.parquet").write_bytes(spoilt)
            with contextlib.suppress(StorageError):
                assert folders.read_table(tmp_path, "queue_samples") == whole  # an unused part of a header

    @pytest.mark.parametrize("name", ["summary.json", "SHA256SUMS", "links.parquet", "flows.parquet"])
    def test_of_any_file_is_one_line(self, results, name, capsys):
        path = results / "seed-0001" / name
        data = bytearray(path.read_bytes())
        data[len(data) // 3] ^= 1
        path.write_bytes(data)
        assert main(["report", str(results)]) == 1
        assert "is damaged" in one_line_of(capsys)

    def test_digests_are_those_of_sha256sum(self, made):
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=made / "seed-0002", check=True)

    def test_results_of_versions_without_digests_are_read(self, results):
        (results / "seed-0001" / folders.SUMS).unlink()
        assert Result.load(results).seeds == [1, 2]

    @pytest.mark.parametrize(
        "text", ["[]", "7", "null", "{}", '{"scenario": 1}', '{"scenario": {}, "seed": 1}', "[" * 100_000, "\ud800"]
    )
    def test_a_misshapen_summary_is_one_line(self, results, text, capsys):
        (results / "seed-0001" / "summary.json").write_bytes(text.encode(errors="surrogatepass"))
        (results / "seed-0001" / folders.SUMS).unlink()
        assert main(["report", str(results)]) == 1
        assert "is damaged" in one_line_of(capsys)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["links", "flows"])
    def test_a_missing_table_is_one_line(self, results, name, capsys):
        for seed in (1, 2):
            (results / f"seed-000{seed}" / f"{name}.parquet").unlink()
        assert main(["report", str(results)]) == 1
        assert "missing" in one_line_of(capsys)

    def test_a_run_that_is_damaged_is_done_again(self, results, made):
        (results / "seed-0001" / "summary.json").write_text("{}")
        root = results.parent / "again"
        root.mkdir()
        results = results.rename(root / made.name)
        aqmlab.run(results / "scenario.toml", seeds=2, out=root, progress=False)
        assert Result.load(results).seeds == [1, 2]


def one_line_of(capsys):
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    assert "internal error" not in said
    return said


class TestSeveralWriters:
    @pytest.mark.slow
    def test_threads_that_run_the_same_seeds_into_one_folder(self, tmp_path, dumbbell):
        path = tmp_path / "small.toml"
        path.write_text(dumbbell.replace('duration = "3s"', 'duration = "200ms"'))
        errors = []

        def work():
            try:
                aqmlab.run(path, seeds=4, out=tmp_path / "results", progress=False, workers=2)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        (folder,) = (path for path in (tmp_path / "results").iterdir() if path.is_dir())
        assert Result.load(folder).seeds == [1, 2, 3, 4]
        assert leftovers(folder) == []

    def test_a_seed_written_again_and_again_is_always_whole(self, tmp_path):
        folder = tmp_path / "seed-0001"
        errors = []

        def work(number):
            try:
                for _ in range(20):
                    folders.write_seed(folder, summary_of(number), {"links": pa.table({"n": [number]})})
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert folders.read_table(folder, "links")["n"][0].as_py() == folders.read_summary(folder)["seed"]
        assert leftovers(tmp_path) == []

    def test_a_folder_that_changes_during_the_check_is_checked_again(self, tmp_path, monkeypatch):
        folder, own, checks = tmp_path / "seed-0001", folders._foreign, []

        def changing(path):
            checks.append(path)
            if len(checks) > 1:
                return own(path)
            time.sleep(0.02)  # longer than the clock of the file system stands still
            os.utime(path)
            return "links.csv"

        folders.write_seed(folder, summary_of(1), {})
        monkeypatch.setattr(folders, "_foreign", changing)
        folders.write_seed(folder, summary_of(2), {})
        assert (folders.read_summary(folder)["seed"], len(checks)) == (2, 2)

    def test_a_file_that_lies_at_a_temporary_name_is_not_written_to(self, tmp_path, monkeypatch):
        (tmp_path / "letters").write_text("kept")
        planted = tmp_path / ".a.tmp"
        planted.symlink_to(tmp_path / "letters")
        monkeypatch.setattr(folders, "temporary_path", lambda path: planted)
        with pytest.raises(FileExistsError):
            folders.write_file(tmp_path / "a", b"other")
        assert (tmp_path / "letters").read_text() == "kept"

    def test_a_log_that_leads_elsewhere_is_an_error(self, tmp_path):
        (tmp_path / "letters").write_text("kept")
        (tmp_path / "log.txt").symlink_to(tmp_path / "letters")
        with pytest.raises(StorageError):
            folders.log(tmp_path, "a line")
        assert (tmp_path / "letters").read_text() == "kept"


def summary_of(number):
    scenario = {"name": "a", "hash": str(number)}
    return {"version": "1", "seed": number, "scenario": scenario, "summary": {}, "readings": {}}


def leftovers(folder):
    return [path.name for path in folder.rglob(".*")]


class TestWhatKilledProcessesLeft:
    def temporary(self, folder, pid, machine=None):
        machine = folders._machine() if machine is None else machine
        path = folder / f".seed-0001.{machine}-{pid}-0123456789ab.tmp"
        path.mkdir()
        (path / "links.parquet").write_bytes(b"half")
        return path

    def test_goes_at_the_next_start(self, tmp_path):
        left = self.temporary(tmp_path, DEAD)
        folders.prepare(tmp_path, scenario="")
        assert not left.exists()

    def test_of_one_that_is_at_work_stays(self, tmp_path):
        at_work = self.temporary(tmp_path, os.getpid())
        elsewhere = self.temporary(tmp_path, DEAD, machine="0a0a0a0a")
        folders.prepare(tmp_path, scenario="")
        assert at_work.exists()
        assert elsewhere.exists()
        os.utime(elsewhere, (0, 0))
        folders.prepare(tmp_path, scenario="")
        assert not elsewhere.exists()

    def test_a_link_is_not_followed(self, tmp_path):
        (tmp_path / "precious").mkdir()
        (tmp_path / "precious" / "letters").write_text("kept")
        machine = folders._machine()
        (tmp_path / f".seed-0001.{machine}-{DEAD}-0123456789ab.tmp").symlink_to(tmp_path / "precious")
        folders.prepare(tmp_path, scenario="")
        assert (tmp_path / "precious" / "letters").read_text() == "kept"

    @pytest.mark.slow
    def test_of_a_process_that_really_was_killed(self, tmp_path):
        program = (
            "import os, signal, sys, pathlib, pyarrow as pa\nfrom aqmlab.results import folders\n"
            "folders.sync_folder = lambda folder: os.kill(os.getpid(), signal.SIGKILL)\n"
            "summary = {'scenario': {'hash': ''}, 'version': ''}\n"
            "folders.write_seed(pathlib.Path(sys.argv[1]) / 'seed-0001', summary, {'links': pa.table({'n': [1]})})\n"
        )
        done = subprocess.run([sys.executable, "-P", "-c", program, str(tmp_path)], check=False)
        assert done.returncode == -9
        assert len(leftovers(tmp_path)) == 1
        folders.prepare(tmp_path, scenario="")
        assert leftovers(tmp_path) == []
