"""Rules for the output of commands on a terminal of 80 columns: widths, whole numbers, heads that differ."""

import re

WIDTH = 80
COPIED = re.compile(r"^(    |Results: |Report: |Study |Scenario: |The scenario that was tuned)|^  \S*/\S*$")
"""Lines to copy: commands, and paths after their title."""


def check_screen(text, *, most, labels=1):
    """Check the output of a command.

    Parameters
    ----------
    text
        What it printed on stdout.
    most
        Most lines.
    labels
        Columns that name a row together.
    """
    lines = text.splitlines()
    assert len(lines) <= most, f"{len(lines)} lines"
    assert "\x1b" not in text, "an escape"
    assert "…" not in text, "a cell is cut"
    assert not re.search(r"\bnan\b", text), "a number is missing"
    wide = [line for line in lines if len(line) > WIDTH and not COPIED.match(line)]
    assert not wide, wide
    assert all(line == line.rstrip() for line in lines)
    for heads, rows in tables(lines, labels):
        assert len(set(heads)) == len(heads), heads
        assert len(set(rows)) == len(rows), rows


def tables(lines, labels):
    """Yield the heads of the columns, and the labels of the rows, of each table."""
    rules = [number for number, line in enumerate(lines) if set(line) == {"─"}]
    for rule in rules:
        first = next(number for number in range(rule, -1, -1) if number == 0 or is_before_head(lines[number - 1]))
        last = next((n for n in range(rule, len(lines)) if not lines[n] or lines[n][0] in "↑±-"), len(lines))
        block = [line.ljust(len(lines[rule])) for number, line in enumerate(lines[first:last], first) if number != rule]
        spans = columns_of(block)
        head = [line for number, line in enumerate(block) if number < rule - first]
        heads = [" ".join(line[begin:end].strip() for line in head).strip() for begin, end in spans]
        cells = [[line[begin:end].strip() for begin, end in spans] for line in block[len(head) :]]
        # A line with few cells goes on with the wrapped texts of the row above.
        rows = [row[:labels] for row in cells if row[0] and 2 * sum(map(bool, row[labels:])) >= len(row) - labels]
        yield [one for one in heads if one], list(map(tuple, rows))


def is_before_head(line):
    """Whether a line is a title or an empty line, above the heads."""
    return not line or ("  " not in line.strip() and not line.startswith(" "))


def columns_of(block):
    """Return the begin and the end of each column: they are separated by a blank in every line."""
    blank = [all(line[place : place + 1] in ("", " ") for line in block) for place in range(max(map(len, block)))]
    spans, begin = [], None
    for place, is_blank in enumerate([*blank, True]):
        if not is_blank and begin is None:
            begin = place
        elif is_blank and begin is not None:
            spans.append((begin, place))
            begin = None
    return spans
