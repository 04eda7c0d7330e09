"""All papers in one go: one pool, a page for each, an overview whose links lead somewhere."""

from __future__ import annotations

import html
import json
import re

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.errors import InputError
from aqmlab.papers import reproduction
from paper_intervals import assert_possible
from terminal import check_screen
from test_report import browse

pytestmark = pytest.mark.slow


def test_every_claim_of_every_paper_is_there(overview):
    assert [one.paper for one in overview.papers] == ["mred", "exred"]
    assert len(overview.claims) == sum(len(one.claims) for one in overview.papers)
    assert set(overview.claims["literal"]) | set(overview.claims["strict"]) <= {
        "holds",
        "fails",
        "no effect",
        "undecided",
        "not engaged",
        "",
    }
    assert overview.claims["own"].any()
    assert (overview.report.parent / "claims.csv").exists()


def test_no_interval_is_impossible(overview):
    for one in overview.papers:
        assert_possible(one.report.parent)


def test_every_link_leads_somewhere(overview):
    text = re.sub(r"<script>.*?</script>", "", overview.report.read_text(), flags=re.DOTALL)
    links = re.findall(r'<a href="([^"#][^"]*)"', text)
    assert len(links) > 40
    pages = {}
    for link in links:
        path, _, anchor = link.partition("#")
        target = overview.report.parent / path
        if target not in pages:
            pages[target] = target.read_text()
        if anchor:
            assert re.search(rf'id="?{anchor}[" >]', pages[target]), link


def test_each_paper_has_a_card_with_its_finding(overview):
    text = overview.report.read_text()
    for one in overview.papers:
        for words in (one.card.idea, one.card.finding):
            assert words
            assert html.escape(words, quote=True).replace("&#x27;", "&#39;") in text
        assert f'href="{one.paper}/report.html"' in text
        assert "±" in one.card.shows


def test_quick_pages_say_so_above_everything_else(overview):
    for page in (overview.report, *(one.report for one in overview.papers)):
        text = page.read_text()
        assert text.index("verdicts are preliminary") < text.index("<nav")
    assert "aqmlab reproduce mred" in overview.papers[0].notice


def test_gaps_to_printed_numbers(overview):
    mred = overview.papers[0].tables["gaps"]
    assert len(mred) == 48
    assert list(mred["factor"]) == sorted(mred["factor"], reverse=True)
    assert "No measured number is printed: ExRED" in overview.report.read_text()


def test_pages_lie_below_the_overview(overview):
    for one in overview.papers:
        assert one.report == overview.report.parent / one.paper / "report.html"
        assert (one.report.parent / "claims.csv").exists()


def test_report_of_the_folder_is_the_overview(overview):
    before = overview.report.read_bytes()
    assert aqmlab.report(overview.report.parent, pictures=False) == overview.report
    assert overview.report.read_bytes() == before


def test_a_paper_that_is_not_there_does_not_disturb(monkeypatch):
    monkeypatch.setitem(reproduction.PAPERS, "no-such-paper", "aqmlab.papers.no_such_paper")
    assert "no-such-paper" not in reproduction.papers()
    with pytest.raises(InputError, match='unknown paper "no-such-paper"'):
        aqmlab.reproduce("no-such-paper")


def test_seeds_are_checked_before_anything_is_run(tmp_path):
    with pytest.raises(InputError, match="at least 2"):
        aqmlab.reproduce_all(seeds=1, out=tmp_path)


def test_commands(overview, monkeypatch, capsys):
    asked = {}

    def answer(**options):
        asked.update(options)
        return overview

    monkeypatch.setattr(reproduction, "reproduce_all", answer)
    assert main(["reproduce", "all", "--quick", "--seeds", "4", "--json"]) == 0
    assert (asked["quick"], asked["seeds"]) == (True, 4)
    data = json.loads(capsys.readouterr().out)
    assert len(data["claims"]) == len(overview.claims)
    assert {paper["paper"] for paper in data["papers"]} == {"mred", "exred"}
    assert {"claims", "readings", "tables", "report"} <= set(data["papers"][0])
    assert "finding" in data["papers"][0]
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["reproduce", "all"]) == 0
    out = capsys.readouterr().out
    assert f"Report: {overview.report}" in out
    assert out.startswith("Preliminary: claims of 2 papers as their authors state them: of ")
    assert "This is a quick run" in out
    check_screen(out, most=24, labels=2)
    assert main(["reproduce", "all", "--details"]) == 0
    out = capsys.readouterr().out
    check_screen(out, most=200, labels=3)
    for one in overview.papers:
        assert one.card.finding in " ".join(out.split())


def test_the_demo_is_short_and_names_the_next_command(overview, monkeypatch, capsys):
    asked = {}

    def answer(paper, **options):
        asked.update(options, paper=paper)
        return next(one for one in overview.papers if one.paper == paper)

    monkeypatch.setattr(reproduction, "reproduce", answer)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["demo", "--no-open"]) == 0
    assert (asked["paper"], asked["seeds"]) == ("mred", 10)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 50  # 40 where a title fits into its column
    assert lines[-2].startswith("Report: ")
    assert lines[-1].startswith("Next: aqmlab compare ")
    assert not any("Objection" in line for line in lines)
    assert main(["reproduce", "mred", "--details"]) == 0
    assert "Objection: " in capsys.readouterr().out


@pytest.mark.browser
def test_the_overview_in_a_browser(overview, tmp_path):
    document, console = browse(overview.report, tmp_path)
    assert console == []
    assert document.count("badge") >= len(overview.claims)
