"""A plug-in of pytest: the fixture `holds` simulates a scenario and fails a test whose bounds do not hold.

The fixture is there wherever aqmlab is installed::

    def test_calls_get_through(holds):
        holds("home.toml", "delay_p99 < 20ms", "utilization >= 0.9", seeds=20)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import aqmlab


@pytest.fixture
def holds() -> Callable[..., aqmlab.Result | aqmlab.Comparison | aqmlab.Study]:
    """Return a function of a scenario, bounds as of ``--assert``, and arguments of `aqmlab.run`.

    In place of a scenario it takes finished runs: results of `aqmlab.run`, `aqmlab.compare` and `aqmlab.sweep`. It
    returns the runs. The test fails if a bound fails or is undecided.
    """

    def check(scenario: Any, *bounds: str, **named: Any) -> aqmlab.Result | aqmlab.Comparison | aqmlab.Study:  # noqa: ANN401
        from aqmlab.runs.assertions import at_least_one, judged  # pandas with it, which other tests may not need

        read = at_least_one(bounds, option="holds")
        is_finished = isinstance(scenario, aqmlab.Result | aqmlab.Comparison | aqmlab.Study)
        if is_finished and named:
            raise aqmlab.InputError(f"holds: {', '.join(named)}: finished runs take no arguments")
        result = scenario if is_finished else aqmlab.run(scenario, **{"progress": False, **named})
        lines = [one.line() for one in judged(read, result) if one.verdict != "holds"]
        if lines:
            pytest.fail("\n".join(lines), pytrace=False)
        return result

    return check
