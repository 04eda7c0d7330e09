"""Configurations as how-tos and router documentation have them come in whole, with notes, or not at all."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import aqmlab
import import_configurations
from aqmlab.cli import main
from aqmlab.errors import InputError, one_line
from aqmlab.interop.importing.tc_script import read_script
from aqmlab.interop.importing.tc_words import read_tc
from aqmlab.scenario.parts import Link
from import_configurations import FOLDER, PAGE, configurations, section

ALL = configurations()
ASSUMED = ("no rate is given", "no delay is given", "the link's delay is not in", "above the burst is a limit of")
"""Parts of notes on values that a file lacks, or on the meaning of its defaults."""


def same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Compare the parameters that are expected; times and shares with the last digits of a conversion."""
    for key, value in expected.items():
        is_number = isinstance(value, float)
        assert found[key] == (pytest.approx(value, rel=1e-9) if is_number else value), key


def the_link(scenario: aqmlab.Scenario, row: dict[str, Any]) -> Link:
    """Return the link with the queue: the bottleneck, or the first one of an ns-2 study with that discipline."""
    return next(one for one in scenario.links if one.aqm == row["queue"]["aqm"])


@pytest.mark.slow
@pytest.mark.parametrize("row", ALL, ids=[row["file"] for row in ALL])
def test_none_is_silently_another_queue(row: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    path = FOLDER / row["file"]
    code = main(["import", str(path)])
    out, said = capsys.readouterr()
    if row["outcome"] == "rejected":
        with pytest.raises(InputError) as error:
            aqmlab.import_scenario(path)
        assert str(error.value).replace(f"{FOLDER}/{row['file']}", "") == row["message"]
        assert (code, out) == (2, "")
        assert row["message"].splitlines()[-1].partition("(")[0] in said
        return
    found = aqmlab.import_scenario(path)
    notes = row.get("notes", [])
    assert list(found.notes) == notes
    assert (code, found.differences) == (0, ())
    named = [note for note in notes if not any(part in note for part in ASSUMED)]
    assert row["outcome"] == ("approximated" if named else "whole")
    for note in notes:
        assert f"aqmlab: note: {note}" in said
        assert one_line(note) in out
    link = the_link(found.scenario, row)
    assert link.rate_bps == pytest.approx(row["rate_bps"])
    same({"aqm": link.aqm, **link.parameters}, row["queue"])
    classes = row.get("classes", [])
    if classes:
        assert len(link.classes) == len(classes)
    for one, expected in zip(link.classes, classes, strict=False):
        same(one, expected)


@pytest.mark.slow
def test_an_imported_configuration_passes_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for row in ALL:
        if row["outcome"] != "rejected":
            files.append(tmp_path / f"{row['file']}.toml")
            files[-1].write_text(aqmlab.import_scenario(FOLDER / row["file"]).text)
    for file in files:
        assert main(["check", str(file)]) == 0, capsys.readouterr().err


def test_every_file_is_in_the_table_and_there_are_thirty_and_more() -> None:
    assert sorted(row["file"] for row in ALL) == sorted(
        one.name for one in FOLDER.iterdir() if one.name != "expected.toml"
    )
    assert len(ALL) >= 30
    assert {row["outcome"] for row in ALL} == {"whole", "approximated", "rejected"}


def test_the_page_of_configurations_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert section() in page
    assert import_configurations.written(page) == page


def test_each_refusal_of_a_known_format_has_its_line() -> None:
    for row in ALL:
        if row["outcome"] == "rejected" and row["file"] not in ("mikrotik.rsc",):
            assert any(part.isdigit() for part in row["message"].replace("\n", ":").split(":")), row["file"]


def classes_of(count: int) -> str:
    """Return lines of a tree of htb with as many classes, disciplines and filters."""
    lines = [
        "tc qdisc add dev eth0 root handle 1: htb default 2",
        "tc class add dev eth0 parent 1: classid 1:1 htb rate 1gbit",
    ]
    for number in range(2, count + 2):
        lines += [
            f"tc class add dev eth0 parent 1:1 classid 1:{number:x} htb rate 1mbit ceil 1gbit",
            f"tc qdisc add dev eth0 parent 1:{number:x} handle {number:x}: fq_codel limit 100",
            f"tc filter add dev eth0 parent 1: protocol ip handle {number} fw flowid 1:{number:x}",
        ]
    return "\n".join(lines) + "\n"


TREES = {
    "classes": classes_of,
    "devices": lambda count: "".join(f"tc qdisc add dev e{n} root codel limit {n + 1}\n" for n in range(3 * count)),
    "replaced": lambda count: "".join(
        f"tc qdisc replace dev e root handle 1: codel limit {n + 1}\n" for n in range(3 * count)
    ),
    "deleted": lambda count: (
        "tc qdisc add dev e root codel\ntc qdisc del dev e root\n" * count + "tc qdisc add dev e root codel\n"
    ),
}


@pytest.mark.parametrize("kind", TREES)
def test_lines_of_tc_take_time_in_proportion(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the calls of Python's functions: 8 times the lines take about 8 times as many."""

    def calls(count: int) -> int:
        text, number = TREES[kind](count), 0

        def profile(frame: object, event: str, argument: object) -> None:
            nonlocal number
            number += 1

        sys.setprofile(profile)
        try:
            read_tc(text, "lines.tc")
        finally:
            sys.setprofile(None)
        return number

    few, many = calls(50), calls(400)
    assert many < 10 * few


def rejected(*lines: str) -> str:
    with pytest.raises(InputError) as error:
        read_tc("\n".join(lines) + "\n", "f")
    assert "\n" not in str(error.value)
    return str(error.value)


HTB = (
    "tc qdisc add dev e root handle 1: htb default 10",
    "tc class add dev e parent 1: classid 1:1 htb rate 9mbit",
    "tc class add dev e parent 1:1 classid 1:10 htb rate 6mbit",
)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("tc qdisc add dev e root fq_codel limit $1",), "f:1: the value of $1 is not in the file"),
        (("tc qdisc add dev e root fq_codel limit $(nproc)",), "f:1: the value of $(nproc) is not in the file"),
        (('tc qdisc add dev e root fq_codel limit "100',), "f:1: a quotation of this line has no end"),
        (("while true; do tc qdisc add dev e root codel; done",), "f:1: tc qdisc add in a loop is not read"),
        (("tc qdisc change dev e root codel target 5ms",), "f:1: change of codel at root, which no line has made"),
        ((*HTB, HTB[2]), "f:4: a second class, htb; 1:10 is htb of line 3 already"),
        ((HTB[0], HTB[2]), "f:1: class 1:1, the parent of 1:10, is not in the file (line 2)"),
        ((*HTB[:2], HTB[2].replace("rate 6mbit", "ceil 6mbit")), "f:1: class 1:10 of htb needs a rate"),
        ((*HTB, "tc qdisc add dev e parent 1:10 handle 2: fq"), 'f:4: unknown discipline "fq"'),
        (
            ("qdisc htb 1: root refcnt 2 default 0x10", "class htb 1:10 root leaf 10: rate 1Mbit ceil 1Mbit"),
            "f:1: class 1:10 has the discipline 10:, whose line is not in the file; append what `tc qdisc show` prints",
        ),
        (
            ("tc qdisc add dev e root handle 1: prio", "tc qdisc add dev e parent 1:3 handle 30: netem delay 200ms"),
            "f:2: netem delays or limits the packets of class 1:3 alone",
        ),
        (
            (
                "tc qdisc add dev e root handle 1: prio",
                "tc filter add dev e parent 1: protocol ip u32 match ip tos 0xb8 0xfc flowid 1:9",
            ),
            "f:1: a filter leads to 1:9, which prio with 3 bands does not have",
        ),
        (
            ("qdisc mq 0: dev e root", "qdisc codel 0: dev e parent :1 limit 9p", "qdisc pie 0: dev e parent :2"),
            "f:1: the queues of mq differ (lines 2 and 3)",
        ),
        (("tc qdisc add dev e root codel", "tc qdisc del dev e root"), "f: no line of tc with a discipline"),
        (
            ("tc qdisc add dev e root handle 1: stab overhead x htb",),
            "f:1: stab overhead x: overhead and mpu are whole",
        ),
        (("tc qdisc add dev e root tbf rate 1.2.3mbit limit 9k",), 'f:1: "1.2.3mbit" is not a rate of tc'),
    ],
)
def test_lines_that_leave_a_queue_open_are_rejected(lines: tuple[str, ...], message: str) -> None:
    assert rejected(*lines).startswith(message)


def test_a_later_line_removes_what_is_below() -> None:
    text = "\n".join([*HTB, "tc qdisc replace dev e root handle 2: codel limit 50"])
    found = read_tc(text, "f")
    assert (found.queue["aqm"], found.queue["limit"]) == ("codel", "50p")
    assert found.notes[0] == "line 1: htb: line 4 replaces it by codel"
    script = read_script("\n".join([*HTB, "tc class del dev e classid 1:10"]), "f")
    assert sorted(script.devices["e"].classes["1"]) == ["1:1"]
    assert read_script("\n".join([*HTB, "tc qdisc del dev e root"]), "f").devices["e"].classes == {}


def test_filters_are_asked_in_the_order_of_their_priority() -> None:
    more = (
        "tc class add dev e parent 1:1 classid 1:20 htb rate 3mbit",
        "tc filter add dev e parent 1: protocol ip prio 5 u32 match u32 0 0 flowid 1:10",
        "tc filter add dev e parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:20",
    )
    classes = {one.name: one.code_points for one in read_tc("\n".join([*HTB, *more]), "f").classes["bottleneck"]}
    assert classes == {"class-10": None, "class-20": (46,)}


def test_a_class_without_a_parent_never_borrows() -> None:
    found = read_tc("\n".join([HTB[0], "tc class add dev e parent 1: classid 1:10 htb rate 2mbit ceil 9mbit"]), "f")
    assert found.rate_bps == 2e6
    assert "line 2: htb ceil 9mbit of class 1:10 has no effect: it has no parent class" in found.notes


def test_output_without_the_word_ecn_is_a_queue_without_marks() -> None:
    line = "qdisc fq_codel 1: dev e root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms"
    assert [read_tc(f"{line}{more}\n", "f").queue["ecn"] for more in ("", " ecn")] == [False, True]
    assert read_tc("tc qdisc add dev e root fq_codel\n", "f").queue["ecn"] is True


def test_other_lines_that_sort_packets_are_named() -> None:
    text = (
        "if [ -n x ]; then\ntc qdisc add dev e root codel\nfi\nnft add rule ip t c meta mark set 1\n"
        "tc filter del dev e parent 1: prio 1\n"
    )
    notes = read_tc(text, "f").notes
    assert "branches and functions are not run: each of the lines 2 is read once" in notes
    assert "iptables or nft sort packets in the lines 4, which are not read" in notes
    assert "line 5: filter del dev e parent 1: prio 1: the filter is kept" in notes
