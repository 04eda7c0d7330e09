"""Arguments of the wrong type are named, with what is allowed."""

from __future__ import annotations

import pytest

import aqmlab
from aqmlab import argument_types
from aqmlab.errors import InputError

CALLS = {
    "seeds: 'x' is not possible (allowed: a whole number, or a list of them)": ("run", {"seeds": "x"}),
    "seeds: 1.5 is not possible (allowed: a whole number, or a list of them)": ("run", {"seeds": 1.5}),
    "workers: 'two' is not possible (allowed: a whole number)": ("run", {"workers": "two"}),
    "engine: 3 is not possible (allowed: a text)": ("run", {"engine": 3}),
    'overrides: 3 is neither a mapping nor pairs; allowed: a mapping {"KEY": VALUE} or pairs ("KEY", "VALUE")': (
        "run",
        {"overrides": 3},
    ),
    "out: 5 is not possible (allowed: a path)": ("run", {"out": 5}),
    "aqm: 3 is not possible (allowed: a list of texts)": ("compare", {"aqm": 3}),
    "aqm: ['red', None] is not possible (allowed: a list of texts)": ("compare", {"aqm": ["red", None]}),
    "grid: 3 is not possible (allowed: a mapping)": ("sweep", {"grid": 3}),
    "programs: 3 is not possible (allowed: a list of texts)": ("cross_check", {"programs": 3}),
}


@pytest.mark.parametrize("message", CALLS)
def test_a_wrong_type_names_the_argument(message, small, tmp_path):
    name, keywords = CALLS[message]
    with pytest.raises(InputError) as error:
        getattr(aqmlab, name)(small, **({"out": tmp_path} | keywords))
    assert str(error.value) == message


@pytest.mark.parametrize("value", [3, None, b"a.toml"])
@pytest.mark.parametrize("name", ["run", "draw"])
def test_a_scenario_of_a_wrong_type_is_named(name, value):
    with pytest.raises(InputError, match=r"^scenario: .* is not possible \(allowed: a path or a Scenario\)$"):
        getattr(aqmlab, name)(value)


def test_an_unknown_keyword_is_named(small):
    with pytest.raises(TypeError, match="unexpected keyword argument 'sedes'"):
        aqmlab.run(small, sedes=3)


def test_an_error_of_another_cause_stays_as_it_is():
    def function(seeds):
        raise TypeError("something else")

    with pytest.raises(TypeError, match="something else"):
        argument_types.named(function)(3)
