"""Outputs that a user names: devices and pipes are written into, links stay, and files of others are kept."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.storage import folders

SMALL = "example:dumbbell-red"


@pytest.fixture
def device(tmp_path):
    """A device of our own that discards what is written, as /dev/null does."""
    path = tmp_path / "null"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        path.write_bytes(b"x")
    except (OSError, PermissionError):
        pytest.skip("needs the right to make a device")
    return path


COMMANDS = {
    "lab": ["lab", SMALL, "--out"],
    "draw": ["draw", SMALL, "--out"],
    "compare --csv": ["compare", SMALL, "--aqm", "red,codel", "--seeds", "1", "--set", "run.duration=2s", "--csv"],
    "compare --latex": ["compare", SMALL, "--aqm", "red,codel", "--seeds", "1", "--set", "run.duration=2s", "--latex"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_device_stays_a_device(name, device, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main([*COMMANDS[name], str(device)])
    assert stat.S_ISCHR(device.stat().st_mode), capsys.readouterr()


def test_import_writes_into_a_device(device, tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_text(
        "tc qdisc add dev eth0 root handle 1: tbf rate 10mbit burst 1600 limit 1mb\n"
        "tc qdisc add dev eth0 parent 1: fq_codel\n"
    )
    assert main(["import", str(lines), "--out", str(device)]) == 0
    assert stat.S_ISCHR(device.stat().st_mode)


def test_a_pipe_gets_the_text(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    folders.save(pipe, "text")
    reader.join(timeout=10)
    assert read == [b"text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    folders.save(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(aqmlab.StorageError, match="it is a folder"):
        folders.save(tmp_path, "text")


@pytest.mark.parametrize("form", ["kernel", "bpf"])
def test_an_export_keeps_files_of_others(form, tmp_path, capsys):
    overrides = ["--set", "queue.bottleneck.ecn=false"]
    words = ["export", SMALL, "--to", form, "--link", "bottleneck", *overrides, "--out"]
    (tmp_path / "Makefile").write_text("mine")
    assert main([*words, str(tmp_path)]) != 0
    assert "Makefile in it was not written by an export" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]
    assert (tmp_path / "Makefile").read_text() == "mine"
    own = tmp_path / "own"
    assert main([*words, str(own)]) == 0
    (own / "notes.txt").write_text("mine")
    assert main([*words, str(own)]) == 0
    assert (own / "notes.txt").read_text() == "mine"


def test_an_export_does_not_write_through_links(tmp_path, capsys):
    victim, folder = tmp_path / "victim", tmp_path / "out"
    victim.write_text("mine")
    folder.mkdir()
    (folder / "README.md").symlink_to(victim)
    assert main(["export", SMALL, "--to", "kernel", "--link", "bottleneck", "--out", str(folder)]) != 0
    assert "README.md in it was not written by an export" in capsys.readouterr().err
    assert victim.read_text() == "mine"


def run_into(folder: Path) -> aqmlab.Result:
    return aqmlab.run(SMALL, seeds=1, overrides={"run.duration": "2s", "run.warmup": "0s"}, out=folder, progress=False)


def test_a_run_does_not_follow_a_link_in_place_of_its_folder(tmp_path):
    made = run_into(tmp_path / "first").folder
    elsewhere, results = tmp_path / "elsewhere", tmp_path / "second"
    elsewhere.mkdir()
    (elsewhere / "mine.txt").write_text("mine")
    results.mkdir()
    (results / made.name).symlink_to(elsewhere)
    with pytest.raises(aqmlab.StorageError, match="it is a symbolic link"):
        run_into(results)
    assert [path.name for path in elsewhere.iterdir()] == ["mine.txt"]


def test_a_run_keeps_foreign_files_in_place_of_a_seed(tmp_path):
    made = run_into(tmp_path / "first").folder
    seed = tmp_path / "second" / made.name / "seed-0001"
    seed.mkdir(parents=True)
    (seed / "mine.txt").write_text("mine")
    with pytest.raises(aqmlab.StorageError, match=r"mine\.txt in it is not of a run"):
        run_into(tmp_path / "second")
    assert (seed / "mine.txt").read_text() == "mine"
