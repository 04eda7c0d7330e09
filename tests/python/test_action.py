"""Run the step of ``action.yml`` that judges."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from conftest import DUMBBELL

ACTION = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text())


def judge(folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run the step that judges, with these inputs."""
    inputs = {name: given.get(name, one.get("default")) for name, one in ACTION["inputs"].items()}
    step = next(step for step in ACTION["runs"]["steps"] if step["name"] == "Judge")
    expression = re.compile(r"\$\{\{ inputs\.(\w+) \}\}")
    values = {key: expression.sub(lambda found: inputs[found[1]], text) for key, text in step["env"].items()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **values, "PATH": path, "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=environment,
        text=True,
        capture_output=True,
    )


@pytest.mark.parametrize(
    ("bounds", "code", "failures"),
    [("utilization >= 0.5\n\nloss < 100%\n", 0, "0"), ("utilization >= 0.5\nloss <= 0", 1, "1")],
)
def test_the_action_judges(tmp_path, bounds, code, failures):
    (tmp_path / "small.toml").write_text(DUMBBELL.replace('start = "0s"', 'start = { uniform = ["0s", "1s"] }'))
    done = judge(tmp_path, scenario="small.toml", options="--seeds 4 -q", **{"assert": bounds})
    assert done.returncode == code, done.stderr
    suite = ElementTree.parse(tmp_path / "aqmlab.xml").find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", failures)
    assert "| holds | utilization>=0.5 |" in (tmp_path / "summary.md").read_text()


def test_inputs_are_words_not_code(tmp_path):
    name = "$(touch made) `touch made`.toml"
    done = judge(tmp_path, scenario=name, **{"assert": "loss < 1; touch made"})
    assert done.returncode == 2
    assert not (tmp_path / "made").exists()


def test_each_input_is_described_and_used():
    used = set(re.findall(r"inputs\.(\w+)", str(ACTION["runs"]["steps"])))
    assert used == set(ACTION["inputs"])
    assert all(one["description"] for one in ACTION["inputs"].values())
