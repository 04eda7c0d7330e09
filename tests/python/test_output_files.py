"""Outputs that a user names: devices and pipes are written into, links stay, and files of others are kept."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.results import folders
from aqmlab.results.outputs import save_output, write_export

SMALL = "example:dumbbell-red"


@pytest.fixture
def device(tmp_path):
    """Yield a device of our own that discards its input, as /dev/null does."""
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


@pytest.mark.slow
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
    save_output(pipe, "text")
    reader.join(timeout=10)
    assert read == [b"text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}"])
def test_an_open_file_gets_the_text_behind_what_it_has(name, tmp_path):
    into, out = os.pipe()
    with os.fdopen(into, "rb") as read, os.fdopen(out, "wb") as write:
        save_output(Path(name.format(write.fileno())), "text")
        write.close()
        assert read.read() == b"text"
    with (tmp_path / "log").open("wb") as file:
        file.write(b"head\n")
        file.flush()
        save_output(Path(name.format(file.fileno())), "text")
    assert (tmp_path / "log").read_bytes() == b"head\ntext"


@pytest.mark.slow
def test_standard_output_gets_the_page_and_what_follows(tmp_path):
    target = tmp_path / "both"
    with target.open("wb") as file:
        file.write(b"head\n")
        file.flush()
        done = subprocess.run(
            [sys.executable, "-m", "aqmlab", "lab", SMALL, "--out", "/dev/stdout"], stdout=file, check=False
        )
    assert done.returncode == 0
    text = target.read_text()
    assert text.startswith("head\n<!")
    assert text.endswith("Page: /dev/stdout\n")


def test_pictures_are_drawn_into_a_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["draw", SMALL, "--out", "x.svg"]) == 2
    assert capsys.readouterr().err == "aqmlab: x.svg: is the name of a picture; name a folder\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "form", "ending"),
    [
        (["lab", SMALL, "--out", "x.txt"], "html", ".html"),
        (["lab", SMALL, "--out", "x"], "html", ".html"),
        (["compare", SMALL, "--aqm", "red,codel", "--csv", "x.parquet"], "csv", ".csv"),
        (["compare", SMALL, "--aqm", "red,codel", "--latex", "x.csv"], "tex", ".tex"),
        (["import", "lines.txt", "--out", "x.html"], "toml", ".toml"),
        (["init", "dumbbell-red", "--out", "x.html"], "toml", ".toml"),
    ],
)
def test_a_file_has_not_the_ending_of_another_format(words, form, ending, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    name = next(word for word in words if word.split(".")[0] == "x")
    message = f"aqmlab: {name}: the file is in the format {form} (allowed: a name that ends in {ending})\n"
    assert capsys.readouterr().err == message
    assert not list(tmp_path.iterdir())


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    save_output(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    target.unlink()
    save_output(link, "newer")
    assert target.read_text() == "newer"


def test_a_link_in_a_results_folder_is_replaced_and_not_followed(tmp_path):
    victim, link = tmp_path / "victim.txt", tmp_path / "scenario.toml"
    victim.write_text("mine")
    link.symlink_to(victim)
    folders.save(link, "text")
    assert not link.is_symlink()
    assert (link.read_text(), victim.read_text()) == ("text", "mine")


def test_a_folder_a_socket_and_a_circle_of_links_are_no_files(tmp_path):
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(tmp_path / "socket"))
        for path, why in (
            (tmp_path, "it is a folder"),
            (tmp_path / "socket", "it is not a regular file"),
            (tmp_path / "circle", "Too many levels of symbolic links"),
        ):
            with pytest.raises(aqmlab.StorageError, match=why) as error:
                save_output(path, "text")
            assert str(error.value).count("\n") == 0


def test_a_pipe_or_device_in_a_results_folder_is_an_error(tmp_path):
    os.mkfifo(tmp_path / "scenario.toml")
    with pytest.raises(aqmlab.StorageError, match="it is not a regular file"):
        folders.save(tmp_path / "scenario.toml", "text")


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


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run_into(tmp_path_factory.mktemp("results")).folder


@pytest.mark.parametrize(
    "words", [["export", "RESULTS", "--to", "csv", "--out"], ["export", "RESULTS", "--to", "parquet", "--out"]]
)
def test_exports_of_results_write_into_a_device(words, results, device):
    assert main([str(results) if word == "RESULTS" else word for word in words] + [str(device)]) == 0
    assert stat.S_ISCHR(device.stat().st_mode)


def test_a_report_in_place_of_a_link_leaves_its_target(results, tmp_path):
    victim, page = tmp_path / "victim", tmp_path / "report.html"
    victim.write_text("mine")
    page.symlink_to(victim)
    aqmlab.report(results, out=page, pictures=False)
    assert victim.read_text() == "mine"
    assert page.read_text().startswith("<!")


def test_several_exports_into_a_folder_know_their_files(tmp_path):
    write_export(tmp_path, {"a.c": "1"})
    write_export(tmp_path, {"b.c": "2"})
    write_export(tmp_path, {"a.c": "3"})
    assert (tmp_path / "a.c").read_text() == "3"


@pytest.mark.parametrize("to", ["ns2", "ns3"])
def test_a_script_replaces_earlier_ones_and_no_file_of_others(to, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["export", SMALL, "--to", to]
    assert main(words) == 0
    (script,) = tmp_path.iterdir()
    assert main(words) == 0
    script.write_text("mine")
    assert main(words) == 2
    assert "is there already, and not written by aqmlab" in capsys.readouterr().err
    assert script.read_text() == "mine"
    assert main([*words, "--out", str(script)]) == 0
    assert script.read_text() != "mine"


@pytest.mark.parametrize("name", ["summary.json", "SHA256SUMS", "links.parquet", "scenario.toml"])
def test_results_that_hold_a_pipe_are_an_error_and_hang_nothing(name, tmp_path, capsys):
    folder = run_into(tmp_path).folder
    (path,) = folder.rglob(name) if name != "scenario.toml" else [folder / name]
    path.unlink()
    os.mkfifo(path)
    assert main(["report", str(folder)]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_pictures_replace_links_and_keep_what_they_lead_to(tmp_path):
    """Results from elsewhere may hold links to any file in place of pictures."""
    own = tmp_path / "own"
    own.write_text("precious")
    for name in ("topology", "drop-curve"):
        (tmp_path / f"dumbbell-red-{name}.png").symlink_to(own)
    aqmlab.draw(SMALL, out=tmp_path, png=True)
    assert own.read_text() == "precious"
    assert (tmp_path / "dumbbell-red-topology.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_drawing_without_png_keeps_earlier_pictures(tmp_path):
    aqmlab.draw(SMALL, out=tmp_path, png=True)
    files = aqmlab.draw(SMALL, out=tmp_path)
    assert {path.suffix for path in files} == {".svg"}
    assert len(list(tmp_path.glob("*.png"))) == 2


def test_a_figure_that_the_user_names_keeps_links_and_devices(tmp_path, results, device):
    link, target = tmp_path / "curve.svg", tmp_path / "real.svg"
    link.symlink_to(target)
    (tmp_path / "null.svg").hardlink_to(device)
    for out in (link, tmp_path / "null.svg"):
        assert main(["report", str(results), "--quiet", "--figure", "drop-curve", "--out", str(out)]) == 0
    assert link.is_symlink()
    assert target.stat().st_size > 100
    assert stat.S_ISCHR(device.stat().st_mode)


def test_scripts_of_other_programs_replace_a_file_that_is_not_utf_8(tmp_path):
    from aqmlab.interop.crosscheck.running import write_files

    (tmp_path / "s.tcl").write_bytes(b"\xff")
    write_files({"s.tcl": "new"}, tmp_path)
    assert (tmp_path / "s.tcl").read_bytes() == b"new"
