"""Names with markup stay text: in reports, in drawings, and on the page with sliders."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

import aqmlab
from aqmlab.figures.chart import Chart, Series
from aqmlab.reporting import Page
from browser import answer_of, browse
from conftest import DUMBBELL

ATTACK = "<img src=x onerror=document.title=1>"
LINK = "<a href=https://evil.example>red</a>"
HOSTILE = DUMBBELL.replace(
    'name = "small"', f"name = '{ATTACK}'\ndescription = '<script>document.title=1</script>{ATTACK}'"
)
SHORT = {"run.duration": "1s"}
COUNTED = "img, a[href*=evil], a[*|href*=evil], script:not([type]), iframe, [onerror], [onload]"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A page over a comparison of which the scenario's name and description are markup."""
    home = tmp_path_factory.mktemp("markup")
    (home / "hostile.toml").write_text(HOSTILE)
    aqmlab.compare(home / "hostile.toml", aqm=["red", "codel"], seeds=2, overrides=SHORT, out=home, progress=False)
    return aqmlab.report(home, pictures=False)


@pytest.mark.slow
@pytest.mark.browser
def test_a_report_shows_names_letter_by_letter(report, tmp_path):
    document, console = browse(report, tmp_path)
    assert console == []
    assert "&lt;img src=x" in document
    own = re.sub(r"<script\b.*?</script>", "", document, flags=re.DOTALL)
    assert not re.search(r"<(img|iframe|a [^>]*evil)", own)
    assert "<title>1</title>" not in document


@pytest.mark.slow
@pytest.mark.browser
def test_texts_of_charts_are_no_markup(tmp_path):
    page = Page(ATTACK, LINK)
    lines = [Series(LINK, [0, 1], [0, 1]), Series(ATTACK, [0, 1], [1, 0])]
    page.chart(Chart("a", ATTACK, LINK, LINK, ATTACK, lines, levels=[(1.0, LINK)], shades=[(0.0, 1.0, LINK)]))
    bars = [Series(LINK, [LINK, ATTACK], [1.0, 2.0], mode="bar")]
    page.chart(Chart("b", LINK, LINK, LINK, LINK, bars))
    script = f"""
        const texts = Array.from(document.querySelectorAll("svg text"), (one) => one.textContent);
        const found = document.querySelectorAll(`{COUNTED}`);
        tell({{ texts, found: Array.from(found, (one) => one.outerHTML.slice(0, 60)) }});
    """
    answer = answer_of(page.html(), script, tmp_path)
    assert sum(text == LINK for text in answer["texts"]) >= 5
    # The page's own two scripts, and those of this test.
    assert [text for text in answer["found"] if not text.startswith("<script>")] == []


@pytest.mark.slow
@pytest.mark.browser
def test_a_script_in_a_page_does_not_run(tmp_path):
    page = Page("A page", "Its lead.")
    page.text("A text.")
    text = page.html().replace("A text.", "<script>document.title = 1</script><img src=x onerror='document.title = 1'>")
    (tmp_path / "page.html").write_text(text)
    document, console = browse(tmp_path / "page.html", tmp_path)
    assert "<title>A page</title>" in document
    assert any("Content Security Policy" in line for line in console)


def test_every_report_has_a_policy_for_its_own_scripts_alone():
    text = Page("A page", "Its lead.").html()
    policy = re.search(r'http-equiv=Content-Security-Policy content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe-inline" not in policy[1].split("; ")[1]


def test_a_drawing_shows_names_letter_by_letter(tmp_path):
    (tmp_path / "hostile.toml").write_text(HOSTILE)
    aqmlab.draw(tmp_path / "hostile.toml", out=tmp_path / "drawn")
    drawings = sorted((tmp_path / "drawn").rglob("*.svg"))
    assert drawings
    for drawing in drawings:
        for element in ElementTree.parse(drawing).iter():
            assert element.tag.rpartition("}")[2] not in ("img", "script", "a", "foreignObject")
            assert not any(name.lower().startswith("on") for name in element.attrib)


@pytest.mark.parametrize("key", ["flow", "queue", "class", "marker"])
def test_names_of_parts_cannot_be_markup(key):
    texts = {
        "flow": DUMBBELL.replace('name = "tcp"', f"name = '{ATTACK}'"),
        "queue": DUMBBELL.replace('"bottleneck"', f"'{ATTACK}'").replace("[queue.bottleneck]", f"[queue.'{ATTACK}']"),
        "class": DUMBBELL.replace('aqm = "red"', 'aqm = "rio"') + f"[[queue.bottleneck.class]]\nname = '{ATTACK}'\n",
        "marker": DUMBBELL + f"[marker.'{ATTACK}']\nkind = \"token-bucket\"\n",
    }
    with pytest.raises(aqmlab.ScenarioError) as error:
        aqmlab.Scenario.from_text(texts[key], filename="a.toml")
    assert "is not a name" in str(error.value)
