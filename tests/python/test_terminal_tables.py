"""Tables of commands on a narrow terminal: no cell is shortened, no line is wider than the screen."""

import pytest

from aqmlab.cli.output import print_rows

COLUMNS = ["metric", "unit", "mean", "sd", "n", "low", "high", "method"]
ROWS = [
    ["delay_p95_ms", "ms", "23.083", "0.00089036", "10", "21.91", "24.693", "Hall"],
    ["delay_p99_ms", "packets at arrivals", "25.532", "1.8028", "10", "0.024076", "27.274", "Student"],
    ["throughput_mbps", "Mb/s", "9.9993", "0.0013074", "10", "9.998", "10", "Student"],
]


def printed(capsys, columns, rows):
    print_rows(columns, rows)
    return capsys.readouterr().out


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_narrow_table_shortens_no_cell(width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    text = printed(capsys, COLUMNS, ROWS)
    assert max(len(line) for line in text.splitlines()) <= width
    words = text.split()
    assert "…" not in text
    assert {word for row in [COLUMNS, *ROWS] for cell in row for word in cell.split()} <= set(words)


def test_a_block_that_goes_on_repeats_the_first_column(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    words = printed(capsys, COLUMNS, ROWS).split()
    assert words.count("metric") == words.count("delay_p95_ms") > 1


def test_estimates_stay_on_one_line(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    estimates = ["9.991 ± 0.053", "0.02580 ± 0.00074", "14.63 ± 0.55"]
    text = printed(capsys, ["point", "rate", "loss", "queue"], [["0", *estimates]])
    assert all(estimate in text for estimate in estimates)


def test_numbers_have_minus_signs_and_other_words_hyphens(capsys):
    rows = [
        ["fq-codel", "-0.5", "-3.1 ± 0.2", "better (-8.4 to -7.9)", "-"],
        ["overhead -4", "1e-05", "2", "", "-2e-07"],
    ]
    text = printed(capsys, ["queue", "a", "b", "c", "d"], rows)
    assert all(
        word in text for word in ("fq-codel", "−0.5", "−3.1 ± 0.2", "better (−8.4 to −7.9)", "−2e-07", "overhead -4")
    )
    lines = text.splitlines()
    assert lines[2].index("−0.5") + 4 == lines[3].index("1e-05") + 5


def test_a_word_wider_than_the_screen_is_printed_whole(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    assert "x" * 50 in printed(capsys, ["name", "n"], [["x" * 50, "1"]])


@pytest.mark.parametrize("asked", ["", "0", "wide"])
def test_a_pipe_without_columns_is_wide(asked, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", asked)
    assert len(printed(capsys, COLUMNS, ROWS).splitlines()) == len(ROWS) + 3


def test_a_head_is_no_markup(capsys):
    assert "[bold]a" in printed(capsys, ["[bold]a"], [["1"]])
