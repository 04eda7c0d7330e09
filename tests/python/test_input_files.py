"""Inputs that a user names: devices, pipes, and packed files that unpack without end."""

from __future__ import annotations

import gzip
import os
import time
import zlib
from pathlib import Path

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.input_files import FREE, read_bytes, unpacked
from aqmlab.interop.kernel import replay

SCENARIO = "example:dumbbell-red"


def packed_zeros(length: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([packer.compress(bytes(1 << 20)) for _ in range(length >> 20)] + [packer.flush()])


def test_a_packed_file_that_unpacks_without_end(tmp_path):
    data = packed_zeros(FREE + (2 << 20))
    with pytest.raises(aqmlab.InputError, match="unpacks to more than 67,108,864 bytes"):
        unpacked(data, tmp_path / "log.gz", longest=1 << 30)


def test_several_members_are_unpacked():
    data = gzip.compress(b"one ") + gzip.compress(b"two")
    assert unpacked(data, Path("x.gz"), longest=100) == b"one two"


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(b"one")[:-5], gzip.compress(b"one") + b"rest"], ids=["none", "cut", "rest"]
)
def test_what_is_no_whole_gzip_is_an_error(content):
    with pytest.raises(aqmlab.InputError, match="is not a whole file of gzip"):
        unpacked(content, Path("x.gz"), longest=100)


def test_a_file_that_is_too_long(tmp_path):
    (tmp_path / "log").write_bytes(bytes(101))
    assert len(read_bytes(tmp_path / "log", longest=101)) == 101
    with pytest.raises(aqmlab.InputError, match="too long"):
        read_bytes(tmp_path / "log", longest=100)


@pytest.mark.parametrize("words", [["replay", SCENARIO], ["import"]])
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_no_input(words, device, capsys):
    assert main([*words, device]) != 0
    error = capsys.readouterr().err
    assert "is a device" in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("words", [["replay", SCENARIO], ["import"]])
def test_a_silent_pipe_ends_with_a_line(words, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("aqmlab.input_files.SILENT_S", 0.2)
    os.mkfifo(tmp_path / "pipe")
    began = time.monotonic()
    assert main([*words, str(tmp_path / "pipe")]) != 0
    assert time.monotonic() - began < 30
    assert "nothing came out of this pipe" in capsys.readouterr().err


def test_a_log_without_decisions_is_no_success(tmp_path, capsys):
    (tmp_path / "log").write_bytes(b"")
    assert main(["replay", SCENARIO, str(tmp_path / "log")]) != 0
    assert "holds no decision" in capsys.readouterr().err
    assert replay.LONGEST_LOG == 1 << 30
