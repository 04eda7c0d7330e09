"""A page for everybody: by keys alone, on a light and a dark ground, without seeing the charts."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest
from markupsafe import Markup

from aqmlab.figures.chart import Chart, Heat, Series
from aqmlab.reporting import Page
from aqmlab.reporting.differences import Measured, plot
from aqmlab.reporting.fragments import ClaimCell, ClaimLine, HeatTable, KeyFigure, MatrixClaim, PaperCard, Tally
from browser import answer_of

pytestmark = pytest.mark.slow

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]


@pytest.fixture(scope="module")
def page():
    """One of every block that reports are made of."""
    found = Page("A page", "Its lead, with `code`.")
    found.section("Claims")
    verdicts = ("holds", "fails", "no effect", "undecided", "not engaged")
    found.claims([ClaimLine(verdict, "", "MRED", verdict, "It is so", "#x") for verdict in verdicts])
    differences = [
        Measured(mean, mean - 1, mean + 1, word, 0.5) for mean, word in zip((2, -2, 0, 0, 1), verdicts, strict=True)
    ]
    cell = ClaimCell("holds", plot(differences, "Differences"), "The difference that decides")
    found.matrix(
        [("Hold", [MatrixClaim("X-a", "A claim", "#x", [("against RED", [cell, None])])])], ["literal", "strict"]
    )
    tally = Tally("literal", [(verdict, 1, verdict) for verdict in verdicts])
    card = PaperCard("MRED", "", "The idea", "The finding", "Its numbers", [tally], [], "Quick run")
    found.trial(card, KeyFigure("Key", [("Printed", Markup("<svg></svg>"), "A figure")], "A caption"))
    found.section("Figures")
    found.text("A text.")
    found.text("A note.", note=True)
    found.links([("There", "#there")], title="Links")
    found.table(pd.DataFrame({"word": ["a"], "number": [1.5], "verdict": ["holds"]}), caption="A table")
    lines = [
        Series("queue", [0, 1, 2], [0, 10, 5], color=5),
        Series("average", [0, 1, 2], [0, 4, 5], color=0),
        Series("average", [1], [4], mode="ring", color=0, listed=False),
    ]
    queue = Chart("a", "Queue", "Queue and average against time.", "time, s", "packets", lines)
    found.chart(queue, command="aqmlab run")
    boxes = [Series(name, [], [1, 2, 4], mode="box", color=i) for i, name in enumerate(("red", "mred"))]
    found.chart(Chart("b", "Boxes", "Box plots of two disciplines.", "", "loss", boxes))
    heat = Heat([1, 2], [1, 2], [[1, 2], [3, 4]], "delay, ms")
    found.chart(Chart("c", "Map", "Delay over two parameters.", "w_q", "max_p", [], heat=heat))
    found.multiples([(replace(queue, key=f"small-{one}"), "aqmlab run") for one in range(2)])
    found.heat_table(
        HeatTable(["a", "b"], [("red", [("+5", 0.8), ("-5", -0.8)]), ("pie", [("0 ?", 0), None])]), caption="H"
    )
    with found.folded("Statistics"):
        found.text("Folded.")
    found.section("Folded section", folded=True)
    found.code("format = 1", fold="Scenario")
    return found.html()


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(page, theme, tmp_path):
    spec = find_spec("axe_core_python")
    if spec is None or spec.origin is None:
        pytest.skip("no axe-core here")
    axe = (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")
    script = f"""
        if ("{theme}" === "dark") {{ document.querySelector("button.theme").click(); }}
        document.querySelectorAll("details").forEach(function (one) {{ one.open = true; }});
        axe.run(document, {{ runOnly: {RULES} }}).then(function (found) {{
          tell({{
            passes: found.passes.map(function (rule) {{ return rule.id; }}),
            violations: found.violations.map(function (rule) {{
              return [rule.id, rule.nodes.map(function (node) {{ return node.html.slice(0, 200); }})];
            }}),
          }});
        }});
    """
    found = answer_of(page, script, tmp_path, libraries=axe)
    assert found["violations"] == []
    assert {"color-contrast", "html-has-lang", "nested-interactive"} <= set(found["passes"])


@pytest.mark.browser
def test_charts_have_keys_and_the_button_changes_the_theme(page, tmp_path):
    script = """
        const plot = document.getElementById("chart-0");
        const seen = [];
        function state() {
          const shown = plot.data.map(function (trace) { return trace.visible === "legendonly" ? 0 : 1; });
          seen.push([plot._fullLayout.xaxis.range, plot._fullLayout.yaxis.range, shown]);
        }
        plot.focus();
        state();
        for (const key of ["+", "Home", "ArrowRight", "ArrowLeft", "2", "2", "x"]) {
          const press = new KeyboardEvent("keydown", { key: key, bubbles: true, cancelable: true });
          plot.dispatchEvent(press);
          state();
        }
        const button = document.querySelector("button.theme");
        const themes = [];
        for (let i = 0; i < 3; i += 1) {
          const paper = getComputedStyle(document.body).backgroundColor;
          themes.push([paper, plot._fullLayout.font.color, button.textContent]);
          button.click();
        }
        tell({ focused: document.activeElement.id, seen: seen, themes: themes });
    """
    found = answer_of(page, script, tmp_path)
    assert found["focused"] == "chart-0"
    start, zoomed, home, right, left, hidden, shown, other = found["seen"]
    width = start[0][1] - start[0][0]
    assert zoomed[0][1] - zoomed[0][0] == pytest.approx(0.7 * width)
    assert home[:2] == start[:2]
    assert right[0] == pytest.approx([end + 0.15 * width for end in start[0]])
    assert left[0] == pytest.approx(start[0])
    assert hidden[2] == [1, 0, 0], "both parts of the second line of the legend"
    assert shown[2] == other[2] == [1, 1, 1]
    first, second, third = found["themes"]
    assert first == third
    assert all(a != b for a, b in zip(first, second, strict=True))
