"""Add-ons: the installed entry points, an add-on of another distribution, and missing ones."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import aqmlab
from aqmlab import extensions
from aqmlab.errors import Error
from aqmlab.results import folders

ROOT = Path(__file__).parents[2]
GROUPS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
CORE = {"scenario", "statistics", "results", "runs", "theory", "figures", "reporting", "tuning", "lab", "cli"}


@pytest.mark.parametrize("group", GROUPS)
def test_every_entry_point_is_installed_and_can_be_loaded(group):
    installed = {entry.name: entry.value for entry in entry_points(group=group) if entry.value.startswith("aqmlab.")}
    assert installed == GROUPS[group], "the installed entry points are not those of pyproject.toml: run make lint"
    for name, value in installed.items():
        found = extensions.load(group, name)
        assert value.partition(":")[0] == getattr(found, "__module__", found.__name__)
        assert value.split(".")[1] not in CORE


def test_the_core_loads_no_add_on_for_a_run():
    program = (
        "import sys, aqmlab\n"
        "result = aqmlab.run('example:dumbbell-red', seeds=1, overrides={'run.duration': '2s', 'run.warmup': '0s'})\n"
        "result.summary()\n"
        "print(*{name.split('.')[1] for name in sys.modules if name.startswith('aqmlab.')})\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"papers", "rfc7928", "interop", "live"} & set(done.stdout.split()), done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [("--help", "compare"), ("check example:dumbbell-red", "valid"), ("shape example:dumbbell-red", "say where")],
)
def test_these_commands_load_no_library_of_tables(words, says):
    """NumPy and Arrow take longer to load than all else that they need."""
    program = (
        f"import sys\nfrom aqmlab.cli import main\nsys.stderr = sys.stdout\n"
        f"try:\n    main({words.split()})\nexcept SystemExit:\n    pass\n"
        "print(*[name for name in ('numpy', 'pyarrow', 'pandas', 'scipy') if name in sys.modules], file=sys.__stderr__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert says in done.stdout
    assert done.stderr == "\n"


def add_on(folder: Path, text: str) -> dict[str, str]:
    """Write a distribution with a command ``mine``; return the environment in which it is installed."""
    (folder / "mine-1.dist-info").mkdir()
    (folder / "mine-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (folder / "mine-1.dist-info" / "entry_points.txt").write_text("[aqmlab.commands]\nmine = mine\n")
    (folder / "mine.py").write_text(text)
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, [folder, Path(aqmlab.__file__).parents[1]]))}


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "aqmlab", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_another_distribution_can_add_a_command(tmp_path):
    text = (
        "from aqmlab.cli.application import Json, command\n\n"
        "@command('aqmlab mine')\n"
        "def mine(as_json: Json = False) -> None:\n"
        '    """Say hello."""\n'
        "    print('hello')\n"
    )
    environment = add_on(tmp_path, text)
    assert "\nOther:\n  mine  Say hello.\n" in run(environment, "--help").stdout
    assert run(environment, "mine").stdout == "hello\n"


def test_an_add_on_that_cannot_be_imported_is_a_warning(tmp_path):
    done = run(add_on(tmp_path, "import nothing_of_this_name\n"), "--version")
    reason = "ModuleNotFoundError: No module named 'nothing_of_this_name'"
    line = f"aqmlab: warning: mine: the add-on mine (aqmlab.commands) cannot be imported: {reason}\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, f"aqmlab {aqmlab.__version__}\n", line)


@pytest.fixture
def bare(monkeypatch):
    """Remove all add-ons."""
    monkeypatch.setattr("aqmlab.extensions._entries", lambda group: {})


def test_a_missing_add_on_is_one_line(bare, tmp_path):
    (tmp_path / folders.REPRODUCTION).write_text("{}")
    with pytest.raises(Error) as raised:
        aqmlab.report(tmp_path)
    missing = "its add-on is not installed: no entry point in aqmlab.reports (reinstall aqmlab)"
    assert str(raised.value) == f"reproduction.json: {missing}"
    with pytest.raises(Error, match="no such file"):
        aqmlab.check("paper:mred/sole.toml")


def test_a_command_of_a_missing_add_on_is_one_line():
    program = (
        "import sys\nfrom aqmlab import extensions\n"
        "extensions._entries = lambda group: {}\n"
        "from aqmlab.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )

    def bare_main(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-c", program, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    missing = "its add-on is not installed: no entry point in"
    assert bare_main("reproduce", "mred") == (1, f"aqmlab: reproduce: {missing} aqmlab.commands (reinstall aqmlab)\n")
    assert bare_main("check", "example:dumbbell-red")[0] == 0
    assert "reproduce" not in bare_main("--help")[1]
    code, text = bare_main("tune", "--uplink", "50Mbps")
    assert (code, text) == (1, f"aqmlab: linux: {missing} aqmlab.routers (reinstall aqmlab)\n")
