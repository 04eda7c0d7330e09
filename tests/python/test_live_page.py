"""The page of live runs: the verdict first, the table within the page, intervals within the possible."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import aqmlab
from aqmlab.live.agreement import Agreement, Line
from aqmlab.live.page import differences_chart, page_of
from aqmlab.results.quantities import NOT_NEGATIVE, SHARE
from aqmlab.statistics import Interval, Verdict
from conftest import DUMBBELL

CERTIFICATE = {"valid": True, "breaches": [], "measured": {"lateness_us": {"p50": 2.0, "p99": 5.0, "p999": 9.0}}}


@pytest.fixture(scope="module")
def runs() -> SimpleNamespace:
    """Simulated runs in the place of live ones, beside simulated runs of other seeds."""
    plan = aqmlab.Scenario.from_text(DUMBBELL + "delay_histogram = true\n", filename="small.toml")
    live, simulated = (aqmlab.run(plan, seeds=seeds, progress=False) for seeds in ([1, 2, 3, 4], [1, 5, 6, 7]))
    agreement = Agreement.of(live, simulated)
    certificates = dict.fromkeys(live.seeds, CERTIFICATE)
    return SimpleNamespace(
        result=live, certificates=certificates, troubles=[], simulation=simulated, agreement=agreement
    )


def test_the_headline_is_the_verdict_and_the_certificates_follow(runs: SimpleNamespace) -> None:
    page = page_of(runs)
    found = re.match(r"Simulation within ([0-9.]+) % of real TCP: (holds|fails|undecided)\. Difference of ", page.lead)
    assert found is not None
    ends = [100 * abs(end) for line in runs.agreement.judged for end in (line.relative.low, line.relative.high)]
    assert float(found[1]) == pytest.approx(max(ends), rel=0.05)
    html = page.html()
    places = [html.index(f">{title}</h2>") for title in ("Simulation and reality", "Certificates")]
    assert places == sorted(places)
    assert html.index("Difference of simulation and real TCP") < html.index("Each quantity live and simulated")


def test_the_verdict_is_the_second_of_six_columns(runs: SimpleNamespace) -> None:
    table = runs.agreement.differences()
    assert list(table.columns) == ["quantity", "verdict", "difference, %", "allowed, %", "live", "simulated"]
    rows = table.set_index("quantity")
    assert set(rows["verdict"]) <= {"", *map(str, Verdict)}
    assert "Loss, %" in rows.index
    loss = next(line for line in runs.agreement.lines if line.what == "Loss")
    assert float(rows["live"]["Loss, %"].split()[0]) == pytest.approx(100 * loss.live.mean, rel=0.1)


def test_intervals_end_at_the_bounds_of_their_quantity(runs: SimpleNamespace) -> None:
    for line in runs.agreement.lines:
        for found in (line.live, line.simulated):
            assert not found.low < 0
        assert not line.relative.low < -1, "nothing is less than 100 % below the live mean"
        if line.what in ("Utilization", "Capacity used", "Loss", "Jain's index"):
            assert not max(line.live.high, line.simulated.high) > 1, line.what


def test_the_difference_of_shares_ends_where_the_simulated_share_would_be_1() -> None:
    from aqmlab.live.agreement import _line

    own, other = pd.Series([0.90, 0.94, 0.98]), pd.Series([0.80, 0.99, 0.99])
    line = _line("Jain's index", "1", own, other, None, SHARE)
    assert line.relative.high == pytest.approx(1 / own.mean() - 1)
    line = _line("Loss", "1", pd.Series([0.01, 0.02]), pd.Series([0.001, 0.03]), None, NOT_NEGATIVE)
    assert line.relative.low == pytest.approx(-1)


def test_the_chart_has_the_allowed_difference_of_judged_quantities() -> None:
    def line(what: str, mean: float, within: float | None) -> Line:
        found = Interval(mean, 0.01, 3, mean - 0.01, mean + 0.01)
        return Line(what, "ms", found, found, found, within)

    lines = [line("delay", 0.05, 0.15), line("loss", -0.1, None), line("marks", np.nan, None)]
    allowed, found = differences_chart(lines).series
    assert (list(allowed.x), list(allowed.low), list(allowed.high)) == (["delay"], [-15.0], [15.0])
    assert list(found.x) == ["delay", "loss"]
    assert list(found.y) == pytest.approx([5.0, -10.0])


def test_the_verdict_of_all_fails_if_one_fails() -> None:
    near, far = (Interval(mean, 0.01, 3, mean - 0.01, mean + 0.01) for mean in (0.01, 0.5))
    lines = [Line("goodput", "Mb/s", near, near, near, 0.03), Line("delay", "ms", far, far, far, 0.15)]
    assert Agreement(lines[:1]).headline().startswith("Simulation within 2 % of real TCP: holds.")
    assert Agreement(lines).headline().startswith("Simulation within 51 % of real TCP: fails.")
    assert Agreement([]).headline() == ""
