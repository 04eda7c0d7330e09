"""The release workflow names targets and programs that exist, and publishes only when it is started by hand."""

from __future__ import annotations

import re
import shlex
import zipfile
from pathlib import Path

import pytest

import check_wheel

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
JOBS = WORKFLOW["jobs"]
MAKEFILE = (ROOT / "Makefile").read_text()
MATRIX = [one["target"] for one in JOBS["wheels"]["strategy"]["matrix"]["include"]]


def _commands() -> list[list[str]]:
    """Return the words of each line that a job runs, once for each target."""
    lines = [line for job in JOBS.values() for step in job["steps"] for line in step.get("run", "").splitlines()]
    every = [line.replace("${{ matrix.target }}", target) for line in lines for target in MATRIX]
    return [shlex.split(re.sub(r"\$\{\{.*?\}\}", "X", line)) for line in dict.fromkeys(every)]


def test_make_targets_exist():
    targets = {words[1] for words in _commands() if words[0] == "make"}
    rules = set(re.findall(r"^([\w%-]+):", MAKEFILE, re.MULTILINE))
    assert {"wheel", "check-archives"} <= targets
    for target in targets:
        assert target in rules or (target.startswith("wheel-") and "wheel-%" in rules), target


def test_every_wheel_of_the_makefile_is_built_on_its_own_system():
    names = re.search(r"^WHEELS := ((?:.*\\\n)*.*)$", MAKEFILE, re.MULTILINE)
    assert names
    built_here = set(names[1].replace("\\\n", "").split())
    assert built_here == {*MATRIX, "x86_64-pc-windows-gnu"}
    assert JOBS["windows"]["runs-on"].startswith("windows")


def test_programs_exist_and_have_the_options():
    scripts = {word for words in _commands() for word in words if word.endswith(".py")}
    assert scripts == {"validation/check_wheel.py", "build_backend/simulator.py"}
    assert all((ROOT / script).is_file() for script in scripts)
    assert all(option in (check_wheel.__doc__ or "") for words in _commands() for option in words if option == "--run")


def test_only_a_start_by_hand_publishes():
    publish = JOBS["publish"]
    assert publish["if"] == "github.event_name == 'workflow_dispatch' && inputs.publish"
    assert WORKFLOW[True]["workflow_dispatch"]["inputs"]["publish"]["default"] is False  # YAML 1.1 reads `on` as true
    assert publish["permissions"] == {"id-token": "write"}
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert not [name for name, job in JOBS.items() if name != "publish" and "permissions" in job]
    assert "secrets." not in (ROOT / ".github" / "workflows" / "release.yml").read_text()


def test_jobs_need_jobs_that_exist():
    for job in JOBS.values():
        needed = job.get("needs", [])
        assert ({needed} if isinstance(needed, str) else set(needed)) <= set(JOBS)


@pytest.mark.parametrize(
    ("name", "core", "right"),
    [
        ("aqmlab-0.1.0-cp311-abi3-win_amd64.whl", b"MZ".ljust(60, b"\0") + b"\x40\0\0\0PE\0\0\x64\x86", True),
        ("aqmlab-0.1.0-cp311-abi3-win_arm64.whl", b"MZ".ljust(60, b"\0") + b"\x40\0\0\0PE\0\0\x64\x86", False),
        ("aqmlab-0.1.0-cp311-abi3-macosx_11_0_arm64.whl", b"\xcf\xfa\xed\xfe\x0c\0\0\x01", True),
        ("aqmlab-0.1.0-cp311-abi3-musllinux_1_2_aarch64.whl", b"\x7fELF\2\1".ljust(18, b"\0") + b"\xb7\0", True),
        ("aqmlab-0.1.0-cp311-abi3-musllinux_1_2_aarch64.whl", b"\x7fELF\2\1".ljust(18, b"\0") + b"\x3e\0", False),
    ],
)
def test_the_machine_of_a_wheel_is_that_of_its_core(tmp_path, name, core, right):
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        archive.writestr(check_wheel.core_of(Path(name)), core)
    assert (list(check_wheel._machine(tmp_path / name)) == []) is right
