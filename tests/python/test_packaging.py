"""Files for packages, containers, archives and hosted runners agree with the project."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from aqmlab import _core

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
CONDA_NAMES = {"matplotlib": "matplotlib-base"}


def test_the_conda_recipe_has_the_version_and_the_requirements_of_the_project():
    recipe = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text())
    assert recipe["context"]["version"] == _core.version()
    names = [re.fullmatch(r"([\w-]+)(.*)", line).groups() for line in PROJECT["dependencies"]]
    assert recipe["requirements"]["run"] == [
        f"python {PROJECT['requires-python']}",
        *(f"{CONDA_NAMES.get(name, name)} {bound}" for name, bound in names),
    ]


def test_the_archive_has_the_title_of_the_citation():
    archive = json.loads((ROOT / ".zenodo.json").read_text())
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert archive["title"] == citation["title"]
    assert [one["name"] for one in archive["creators"]] == [one["name"] for one in citation["authors"]]


def test_the_paper_is_short_and_cites_all_of_its_references():
    text = (ROOT / "paper/paper.md").read_text().split("---\n", 2)[2]
    assert len(text.split()) <= 1000
    entries = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper/paper.bib").read_text(), re.MULTILINE)
    assert sorted(set(re.findall(r"@(\w+)", text))) == sorted(entries)


@pytest.mark.parametrize("form", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem)
def test_forms_of_issues_have_unique_fields(form):
    fields = [field["id"] for field in yaml.safe_load(form.read_text()).get("body", [])]
    assert len(set(fields)) == len(fields)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_targets_and_programs_of_the_project(workflow):
    jobs = yaml.safe_load(workflow.read_text())["jobs"]
    commands = "\n".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    targets = set(re.findall(r"\bmake (?:-\S+ )*([\w-]+)", commands))
    done = subprocess.run(["make", "--dry-run", "--question", *targets], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode < 2, done.stderr
    assert all((ROOT / path).exists() for path in re.findall(r"\bpython ([\w/]+\.py)\b", commands))


def test_each_stage_of_the_container_is_used():
    text = (ROOT / "Containerfile").read_text()
    stages = re.findall(r"^FROM (\S+) AS (\w+)$", text, re.MULTILINE)
    assert stages[-1][1] == "simulate"
    assert {source for source, _ in stages} - {"${BASE}"} <= {name for _, name in stages}
    assert "COPY dist/*.whl" in text
    assert "!dist/*.whl" in (ROOT / ".containerignore").read_text()
