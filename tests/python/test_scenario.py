"""Scenarios as Python objects."""

from __future__ import annotations

import tomllib
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import aqmlab
from aqmlab.errors import InputError, Problem
from aqmlab.scenario.file import name_of, read_text
from aqmlab.scenario.registry import disciplines
from aqmlab.scenario.toml_text import inline


def test_values_of_a_scenario(small):
    plan = aqmlab.Scenario.load(small)
    assert (plan.name, plan.duration_s, plan.seeds) == ("small", 3.0, (1, 2, 3))
    link = plan.link("bottleneck")
    assert (link.rate_bps, link.delay_s, link.aqm) == (2e6, 0.01, "red")
    assert link.parameters["max_th"] == 15
    assert plan.flows[0].path == ("left.tcp.0", "bottleneck", "right.tcp.0")
    assert plan.label == f"small-{plan.hash[:8]}"


def test_overrides_may_be_python_values(small):
    values = {"queue.bottleneck": {"aqm": "mred", "limit": "60p"}, "flow.tcp.count": 2, "run.seeds": [4, 9]}
    plan = aqmlab.Scenario.load(small, overrides=values)
    assert plan.link("bottleneck").aqm == "mred"
    assert plan.link("bottleneck").parameters["limit"] == 60
    assert len(plan.flows) == 2
    assert plan.seeds == (4, 9)


def test_the_same_meaning_has_the_same_hash(small):
    plan = aqmlab.Scenario.load(small)
    same = plan.with_overrides({"queue.bottleneck.max_p": 0.1})
    assert same.hash == plan.hash
    assert aqmlab.Scenario.from_text(plan.normalized).hash == plan.hash
    assert plan.with_overrides({"queue.bottleneck.max_p": 0.2}).hash != plan.hash


def test_unknown_link(small):
    with pytest.raises(aqmlab.InputError, match=r'unknown link "botleneck".*did you mean bottleneck'):
        aqmlab.Scenario.load(small).link("botleneck")


OWN = tuple(disciplines())
"""Disciplines that come with the project: other tests register further ones."""


def test_every_parameter_has_a_meaning_and_a_range():
    for discipline in OWN:
        assert discipline.title
        for parameter in discipline.parameters:
            assert parameter.doc, (discipline.name, parameter.key)
            assert parameter.allowed, (discipline.name, parameter.key)


FILES = [
    *sorted((Path(__file__).parents[2] / "examples").glob("*.toml")),
    "paper:mred/sole.toml",
    "paper:mred/mixed.toml",
]


@pytest.fixture(scope="module")
def validator():
    schema = aqmlab.schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=str)
def test_files_that_come_with_the_project_agree_with_the_schema(path, validator):
    data = tomllib.loads(read_text(Path(path)))
    validator.validate(data)
    assert aqmlab.check(path) == []
    data["run"]["duratoin"] = "1s"
    assert not validator.is_valid(data)


def test_a_packaged_name_has_slashes_on_windows_too():
    path = PureWindowsPath("paper:mred/sole.toml")
    assert str(path) == "paper:mred\\sole.toml"
    assert name_of(path) == "paper:mred/sole.toml"
    assert name_of(PureWindowsPath("C:/runs/a.toml")) == "C:\\runs\\a.toml"
    assert read_text(path) == read_text("paper:mred/sole.toml")


def test_a_problem_without_a_place():
    assert str(Problem("a.toml", 0, 0, "", "cannot be read")) == "a.toml: cannot be read"


values = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab- é", min_size=1, max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(values)
def test_toml_text_is_read_back(value):
    assert tomllib.loads(f"x = {inline(value)}")["x"] == value


@pytest.mark.parametrize("overrides", [["queue.bottleneck.max_p=0.2"], "run.duration=5s", [1], [("a", "b", "c")]])
def test_overrides_that_are_no_pairs_are_reported(small, overrides):
    with pytest.raises(InputError, match=r"^overrides: .* is not a pair; allowed: a mapping"):
        aqmlab.run(small, overrides=overrides)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"queue.bottleneck.max_p": None}, r"^overrides: queue\.bottleneck\.max_p: .* is not a value of a scenario"),
        ({3: 4}, r'^overrides: the key 3 is not text; write it like "queue\.bottleneck\.max_p"$'),
        (7, r"^overrides: 7 is not possible \(allowed: a mapping"),
    ],
)
def test_overrides_of_other_kinds_are_rejected_with_a_message(small, overrides, message):
    with pytest.raises(InputError, match=message):
        aqmlab.Scenario.load(small, overrides=overrides)
