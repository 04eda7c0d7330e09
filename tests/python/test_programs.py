"""Tests name all programs that they run: where one is missing they are skipped with its name, and none fails."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from aqmlab.live.vm.machine import QEMU
from programs import missing

HERE = Path(__file__).parent
EMULATED = ("test_kernels.py", "test_live_vm.py", "test_kernel_qdisc.py", "test_kernel_qdisc_here.py")


def path_without(program: str, folder: Path) -> str:
    """Return a search path with all programs of the present one but this."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for one in Path(place).glob("*"):
            link = folder / one.name
            if one.name != program and not link.is_symlink() and os.access(one, os.X_OK):
                link.symlink_to(one)
    return str(folder)


def test_the_reason_names_all_that_are_missing():
    assert missing("sh") == ""
    assert missing("no-such-program", "sh") == "needs the program no-such-program"
    assert missing("no-such-program", "nor-this") == "needs the programs no-such-program, nor-this"


@pytest.mark.slow
@pytest.mark.parametrize("program", ["iperf3", QEMU])
def test_without_a_program_no_test_fails(program, tmp_path):
    own = {**os.environ, "PATH": path_without(program, tmp_path / "bin"), "AQMLAB_TESTS_FETCH": ""}
    words = ["-q", "-rs", "-p", "no:cacheprovider", "-m", "not live", *(str(HERE / name) for name in EMULATED)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words], capture_output=True, text=True, env=own, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout
    assert re.search(rf"needs the programs? (.*, )?{program}\b", done.stdout)
