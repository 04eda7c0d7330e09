"""Errors for arguments of the wrong type name the argument and the valid types."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest

import aqmlab
from aqmlab import argument_types
from aqmlab.errors import InputError
from aqmlab.scenario.file import override_pairs

CALLS = {
    "seeds: 'x' is not possible (allowed: a whole number, or a list of them)": ("run", {"seeds": "x"}),
    "seeds: 1.5 is not possible (allowed: a whole number, or a list of them)": ("run", {"seeds": 1.5}),
    "workers: 'two' is not possible (allowed: a whole number)": ("run", {"workers": "two"}),
    "engine: 3 is not possible (allowed: a text)": ("run", {"engine": 3}),
    'overrides: 3 is not possible (allowed: a mapping {"KEY": VALUE}, or pairs ("KEY", "VALUE"))': (
        "run",
        {"overrides": 3},
    ),
    "out: 5 is not possible (allowed: a path)": ("run", {"out": 5}),
    "aqm: 3 is not possible (allowed: a list of texts)": ("compare", {"aqm": 3}),
    "aqm: ['red', None] is not possible (allowed: a list of texts)": ("compare", {"aqm": ["red", None]}),
    "grid: 3 is not possible (allowed: a mapping of texts to values)": ("sweep", {"grid": 3}),
    "grid: {3: [1]} is not possible (allowed: a mapping of texts to values)": ("sweep", {"grid": {3: [1]}}),
    "sobol: 1.5 is not possible (allowed: a whole number)": ("sweep", {"sobol": 1.5}),
    "seeds: [1.5] is not possible (allowed: a whole number, or a list of them)": ("run", {"seeds": [1.5]}),
    "out: '\\x00' is not possible (allowed: a path)": ("run", {"out": "\0"}),
    "progress: 'no' is not possible (allowed: true or false)": ("run", {"progress": "no"}),
    "port: '80' is not possible (allowed: a whole number)": ("open_lab", {"port": "80"}),
    "link: 3 is not possible (allowed: a text)": ("open_lab", {"link": 3}),
    "programs: 3 is not possible (allowed: a text or a list of texts)": ("cross_check", {"programs": 3}),
}


@pytest.mark.parametrize("message", CALLS)
def test_a_wrong_type_names_the_argument(message, small, tmp_path):
    name, keywords = CALLS[message]
    with pytest.raises(InputError) as error:
        getattr(aqmlab, name)(small, **({} if name == "open_lab" else {"out": tmp_path}) | keywords)
    assert str(error.value) == message


@pytest.mark.parametrize("value", [3, None, b"a.toml"])
@pytest.mark.parametrize("name", ["run", "draw"])
def test_a_scenario_of_a_wrong_type_is_named(name, value):
    with pytest.raises(InputError, match=r"^scenario: .* is not possible \(allowed: a path or a Scenario\)$"):
        getattr(aqmlab, name)(value)


def public():
    """Every public function, and every public method of a public class, with each of its parameters."""
    for name in aqmlab.__all__:
        value = getattr(aqmlab, name)
        for member in [name] if inspect.isfunction(value) else dir(value) if inspect.isclass(value) else []:
            function = value if member == name else getattr(value, member)
            if member.startswith("_") or not callable(function) or issubclass_of_error(value):
                continue
            for parameter in inspect.signature(function).parameters.values():
                if parameter.name != "self" and parameter.kind is not parameter.VAR_KEYWORD:
                    yield pytest.param(function, parameter, id=f"{name}.{member}({parameter.name})")


def issubclass_of_error(value):
    return inspect.isclass(value) and issubclass(value, BaseException)


class Nothing:
    """A value of a type that no argument has."""

    def __repr__(self):
        return "nothing"


@pytest.mark.parametrize(("function", "parameter"), [*public()])
def test_every_argument_of_every_public_callable_is_named(function, parameter):
    """In place of all required arguments stand others of their kinds; the one in question is of no possible type."""
    words = parameter.annotation.split(" | ")
    assert all(word in argument_types.KINDS or word == "None" or word[:1].isupper() for word in words), words
    known = {"str": "a", "Path": Path("a"), "int": 1, "Sequence[str]": ["a"], "list[Output]": [], "dict[str, Any]": {}}
    given = {parameter.name: Nothing()}
    for other in inspect.signature(function).parameters.values():
        if other.default is other.empty and other.name != parameter.name and other.kind is not other.VAR_KEYWORD:
            kind = str(other.annotation).split(" | ")[0]
            given[other.name] = known[kind] if kind in known else instance(kind)
    with pytest.raises((InputError, TypeError), match=f"^{parameter.name}: nothing is n") as error:
        function(**given)
    assert "\n" not in str(error.value)


def instance(name):
    """An object of a class of this name."""
    return type(name, (), {})()


def test_numbers_of_numpy_are_numbers(small, tmp_path):
    seeds, short = np.array([1, 2]), {"run.duration": "1s"}
    overrides = short | {"queue.bottleneck.max_p": np.float64(0.25), "queue.bottleneck.ecn": np.bool_(False)}
    found = aqmlab.run(small, seeds=seeds, overrides=overrides, workers=np.int64(1))
    assert found.seeds == [1, 2]
    assert override_pairs({"a": np.float32(0.5), "b": np.int64(3), "c": np.arange(2)}) == (
        ("a", "0.5"), ("b", "3"), ("c", "[0, 1]"),
    )  # fmt: skip
    study = aqmlab.sweep(
        small, grid={"queue.bottleneck.max_p": np.linspace(0.1, 0.2, 2)}, seeds=1, overrides=short, out=tmp_path
    )
    assert len(study.points()) == 2


def test_seeds_of_an_iterator_are_checked_one_by_one(small):
    with pytest.raises(InputError, match=r"^seeds: 1\.5 is not a seed"):
        aqmlab.run(small, seeds=iter([1, 1.5]))


def test_an_override_that_holds_itself_is_named(small):
    endless: list = []
    endless.append(endless)
    with pytest.raises(InputError, match=r"^overrides: run\.seeds: is nested too deeply"):
        aqmlab.run(small, overrides={"run.seeds": endless})


def test_an_unknown_keyword_is_named(small):
    with pytest.raises(TypeError, match="unexpected keyword argument 'sedes'"):
        aqmlab.run(small, sedes=3)


def test_an_error_of_another_cause_stays_as_it_is():
    def function(seeds):
        raise TypeError("something else")

    with pytest.raises(TypeError, match="something else"):
        argument_types.named(function)(3)
