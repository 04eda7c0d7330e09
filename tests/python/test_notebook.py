"""Results in a notebook: HTML with a figure, and short lines as text."""

from __future__ import annotations

import ast
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import aqmlab
from aqmlab.errors import counted
from aqmlab.figures import queue_against_time
from aqmlab.figures.chart import Chart, Series
from aqmlab.reporting.notebook import html
from aqmlab.results.displays import OneLine

EXAMPLE = Path(aqmlab.__file__).parent / "examples" / "notebook.ipynb"
CHART = Chart("queue", "A & B", "shows <this>", "time, s", "packets", [Series("red", [0.0, 1.0], [1.0, 2.0])])


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    from conftest import DUMBBELL

    path = tmp_path_factory.mktemp("scenario") / "small.toml"
    path.write_text(DUMBBELL)
    return aqmlab.compare(path, aqm=["red", "codel"], seeds=2, progress=False)


def figures_in(page: str) -> list[ET.Element]:
    """Return the drawings of a page, each of which must be whole XML."""
    return [ET.fromstring(part.split("</svg>")[0] + "</svg>") for part in _after(page)]


def _after(page: str) -> list[str]:
    return [f"<svg{part}" for part in page.split("<svg")[1:]]


def test_a_chart_is_a_line_of_text_and_a_drawing():
    assert repr(CHART) == "<Chart queue: A & B; packets against time, s; 1 series>"
    page = CHART._repr_html_()
    assert 'aria-label="shows &lt;this&gt;"' in page
    assert "<script" not in page
    assert len(figures_in(page)) == 1


def test_a_result_has_its_queue_and_its_means(comparison):
    page = comparison.results["red"]._repr_html_()
    assert "small: link bottleneck, 2 seeds" in page
    assert len(figures_in(page)) == 1
    assert "Mean queueing delay</td>" in page
    assert len(repr(queue_against_time(comparison.results["red"]))) < 100


def test_a_result_without_samples_has_its_means_alone(small):
    result = aqmlab.run(small, seeds=1, overrides={"probe": {"links": ["bottleneck"]}}, progress=False)
    page = result._repr_html_()
    assert figures_in(page) == []
    assert "Throughput</td>" in page


def test_a_comparison_begins_with_its_answer(comparison):
    page = comparison._repr_html_()
    assert f"small: {comparison.answer()}" in page
    assert len(figures_in(page)) == 1
    assert page.index("codel") > 0


@pytest.mark.parametrize(
    ("grid", "drawings"), [({"flow.tcp.count": [1, 2]}, 1), ({"queue.bottleneck.aqm": ["red"]}, 0)]
)
def test_a_sweep_has_a_line_if_its_key_has_numbers(small, tmp_path, grid, drawings):
    study = aqmlab.sweep(small, grid=grid, seeds=2, out=tmp_path / "store", progress=False)
    page = study._repr_html_()
    assert len(figures_in(page)) == drawings
    assert f"small: {counted(len(next(iter(grid.values()))), 'point')}, " in page


def test_other_objects_have_no_page():
    with pytest.raises(TypeError, match="no page for int"):
        html(7)


def cells_of(notebook: Path) -> list[str]:
    """Return the code of a notebook's cells."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def shown_by(code: str, names: dict[str, object]) -> object:
    """Run a cell and return the value of its last line, as a notebook does."""
    *before, last = ast.parse(code).body
    assert isinstance(last, ast.Expr), "every cell ends with what it shows"
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


@pytest.mark.slow
def test_every_cell_of_the_example_shows_something(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    shown = [shown_by(code, names) for code in cells_of(EXAMPLE)]
    pages = [one._repr_html_() for one in shown if hasattr(one, "_repr_html_")]
    assert [type(one).__name__ for one in shown] == ["Result", "DataFrame", "Comparison", "str", "Study", "Chart"]
    assert len(pages) == 5
    assert sum(len(figures_in(page)) for page in pages) == 4


def test_results_are_one_short_line_of_text(comparison):
    for found in (comparison, comparison.results["red"]):
        assert len(repr(found)) < 400
        assert "\n" not in repr(found)
    assert "aqm=['red', 'codel']" in repr(comparison)


def test_objects_that_functions_return_are_one_line_of_text():
    for name in aqmlab.__all__:
        one = getattr(aqmlab, name)
        if isinstance(one, type) and "folder" in getattr(one, "__dataclass_fields__", {}):
            assert issubclass(one, OneLine), name
