"""`report --live`: the laboratory of a run or comparison in a frame of its report."""

from __future__ import annotations

import html
import json

import pytest

import aqmlab
from browser_core import wasm_path
from measure_lab import browser_path, opened_page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    from conftest import DUMBBELL

    wasm_path()
    home = tmp_path_factory.mktemp("live")
    (home / "small.toml").write_text(DUMBBELL)
    found = aqmlab.compare(home / "small.toml", aqm=["red", "mred"], out=home / "results", workers=1, progress=False)
    aqmlab.report(found.folder, pictures=False, live=True)
    return found.folder


def test_the_laboratory_lies_beside_and_is_shown(compared):
    page = html.unescape((compared / "report.html").read_text())
    assert '<iframe class=live src="report-live.html#set=' in page
    assert "frame-src 'self'" in page
    assert "small" in (compared / "report-live.html").read_text()
    aqmlab.report(compared, pictures=False)
    assert "<iframe" not in (compared / "report.html").read_text()
    assert "frame-src" not in (compared / "report.html").read_text()


@pytest.mark.browser
@pytest.mark.skipif(browser_path() is None, reason="no Chromium here")
def test_curves_of_the_report_stay_behind_those_of_a_change(compared):
    aqmlab.report(compared, pictures=False, live=True)
    with opened_page((compared / "report-live.html").as_uri()) as page:
        page.goto((compared / "report.html").as_uri())
        page.locator("iframe.live").scroll_into_view_if_needed()
        inside = page.frame_locator("iframe.live")
        inside.locator("html[data-drawn='1']").wait_for(state="attached")
        names = inside.locator("#numbers tr th[scope=row]").all_text_contents()
        assert names == ["red", "mred"]
        assert "before:" not in inside.locator("#chart-probability .legend").text_content()
        field = inside.locator('[data-key^="queue."][data-key$=".max_p"] input[type=number]')
        field.fill("0.37")
        field.press("Enter")
        inside.locator("html[data-drawn='2']").wait_for(state="attached")
        assert "before: red: curve" in inside.locator("#chart-probability .legend").text_content()


def test_what_has_no_laboratory_is_rejected(compared, tmp_path):
    aqmlab.run(compared / "scenario.toml", seeds=1, out=tmp_path, progress=False)
    aqmlab.run(compared / "scenario.toml", seeds=1, out=tmp_path, progress=False, overrides={"run.duration": "3s"})
    with pytest.raises(aqmlab.InputError, match=r"--live: .* holds several results"):
        aqmlab.report(tmp_path, pictures=False, live=True)


@pytest.mark.usefixtures("no_pictures")
def test_the_command_names_both_files(shell, compared):
    answer = shell("report", str(compared), "--live", "-q")
    assert answer.out == f"Report: {compared}/report.html\nLaboratory: {compared}/report-live.html\n"
    told = json.loads(shell("report", str(compared), "--live", "--json").out)
    assert told == {"report": f"{compared}/report.html", "live": f"{compared}/report-live.html"}


def test_a_figure_has_no_laboratory(shell, compared):
    answer = shell("report", str(compared), "--figure", "pareto", "--live")
    assert (answer.code, answer.err.strip()) == (2, "aqmlab: --live: is for a page, not for a figure")
