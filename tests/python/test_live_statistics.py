"""Statistics of a running link: read, drawn, written and scraped."""

from __future__ import annotations

import http.client
import io
import itertools
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aqmlab import Scenario
from aqmlab.errors import InputError
from aqmlab.live.telemetry import NAMES, Snapshot, SnapshotError, open_views
from aqmlab.live.telemetry.formatting import state
from aqmlab.live.telemetry.metrics import METRICS
from aqmlab.live.telemetry.tc_text import block
from aqmlab.live.telemetry.terminal import MOST_FLOWS, Picture, Terminal
from aqmlab.live.telemetry.view import Line, Paced

LABEL = '10.77.1.1:4711 > 10.77.1.2:5201 "tcp"\\'


def direction(name: str = "forward", *, k: int = 10, flows: int = 1) -> dict[str, Any]:
    return {
        "name": name,
        "link": "bottleneck",
        "aqm": "red",
        "rate_bps": 2e6,
        "backlog": {"packets": 3, "bytes": 4500},
        "average": 2.1,
        "p_b": 0.01,
        "gauges": {"p_a": 0.02, "count": 17, "p_unknown": None},
        "counters": {
            "arrivals": 10 * k,
            "arrived_bytes": 15000 * k,
            "departures": 9 * k,
            "departed_bytes": 13500 * k,
            "drops_early": 4 * k,
            "drops_forced": 3 * k,
            "drops_overflow": 2 * k,
            "marks_early": 5 * k,
            "marks_forced": k,
            "lost": 7,
        },
        "quantities": {"max_queue": 7.0, "loss": 0.9},
        "delay_mean_s": 0.0123,
        "classes": [{"dscp": 46, "arrivals": k, "drops": 2, "marks": 1, "departed_bytes": 1500 * k}],
        "flows": [
            {"flow": f, "group": "g", "label": LABEL, "arrivals": k, "drops": 2, "marks": 1, "departed_bytes": 100 * f}
            for f in range(flows)
        ],
    }


def snapshot(*, k: int = 10, flows: int = 1) -> dict[str, Any]:
    return {
        "t": k / 10,
        "directions": [direction(k=k, flows=flows), direction("reverse", k=k, flows=0)],
        "plane": {
            "malformed": {"short": 2},
            "tun_dropped": {"a": 0, "b": 4},
            "lateness_us": {"n": 9 * k, "p50": 5, "p99": 21.5, "p999": 40.0, "max": 120.0},
            "stalls": 1,
            "idle_share": 0.9,
            "in": 10 * k,
            "out": 9 * k,
            "held": 3,
        },
    }


def line(**words: int) -> str:
    return json.dumps(snapshot(**words))


def known(text: str) -> Scenario:
    return Scenario.from_text(text)


def test_snapshot_is_read() -> None:
    found = Snapshot.from_line(line())
    there = found.directions[0]
    assert (found.t, there.name, there.backlog_packets, there.gauges) == (1.0, "forward", 3, {"p_a": 0.02, "count": 17})
    assert (there.counters.drops, there.counters.marks, there.flows[0].label) == (90, 60, LABEL)
    assert (found.plane.packets_in, found.plane.lateness.p99) == (100, 21.5)


def test_unknown_keys_are_passed_over_and_null_is_no_number() -> None:
    data = snapshot()
    data["new"] = data["plane"]["new"] = data["directions"][0]["new"] = {"x": 1}
    data["directions"][0] |= {"average": None, "p_b": None, "rate_bps": None, "delay_mean_s": None, "flows": None}
    del data["directions"][0]["classes"]
    there = Snapshot.from_json(data).directions[0]
    assert (there.average, there.p_b, there.rate_bps, there.classes, there.flows) == (None, None, None, (), ())


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["t"], None, "snapshot.t: None is not allowed (allowed: a number)"),
        (["directions", 0, "backlog", "packets"], ..., "snapshot.directions[0].backlog.packets: is missing"),
        (["directions", 1, "counters", "arrivals"], -1, "snapshot.directions[1].counters.arrivals: -1 is not allowed"),
        (["directions"], [5], "snapshot.directions[0]: 5 is not allowed (allowed: an object)"),
        (["directions"], {}, "snapshot.directions: {} is not allowed (allowed: a list of objects)"),
        (["directions", 0, "flows", 0, "group"], 7, "snapshot.directions[0].flows[0].group: 7 is not allowed"),
        (["plane", "stalls"], True, "snapshot.plane.stalls: True is not allowed (allowed: a whole number from 0)"),
        (["plane"], ..., "snapshot.plane: is missing (allowed: an object)"),
    ],
)
def test_missing_or_wrong_values_are_an_error_of_one_line(place: list[Any], value: object, message: str) -> None:
    data: Any = snapshot()
    part = data
    for key in place[:-1]:
        part = part[key]
    if value is ...:
        del part[place[-1]]
    else:
        part[place[-1]] = value
    with pytest.raises(SnapshotError, match=re.escape(message)) as raised:
        Snapshot.from_line(json.dumps(data))
    assert "\n" not in str(raised.value)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists) | st.text())
def test_no_text_is_more_than_a_line_of_trouble(value: object) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    with pytest.raises(SnapshotError):
        Snapshot.from_line(text)


def test_views_draw_seldom_and_the_last_one_always() -> None:
    now = [0.0]
    drawn: list[float] = []
    paced = Paced(lambda s: drawn.append(s.t), 1.0, lambda: now[0])
    for k in range(1, 251):
        now[0] = k / 100
        paced.show(Line(line(k=k)))
    assert drawn == [0.1, 10.0, 20.0]
    paced.close()
    paced.close()
    assert drawn[3:] == [25.0]


def test_unused_lines_are_not_read() -> None:
    views = open_views(["jsonl"], out=io.StringIO())
    views.show("this is no JSON")
    views.close()


def test_plain_lines_where_stdout_is_no_terminal() -> None:
    out = io.StringIO()
    with open_views(["terminal"], out=out) as views:
        views.show(line())
    assert out.getvalue().splitlines()[0] == (
        "1.0 s forward bottleneck red 2 Mb/s: queue 3 p (4500 B), average 2.1 p, p_b 0.01, p_a 0.02, count 17, "
        "delay 12.3 ms, dropped 90 (early 40, forced 30, overflow 20), marked 60 (early 50, forced 10), lost 7, "
        "late p50 5 us, p99 21.5 us, p99.9 40 us, max 120 us, stalls 1, idle 90%, in 100, out 90, held 3, "
        "TUN dropped b 4, malformed short 2"
    )
    assert out.getvalue().count("\n") == 2


class _Screen(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_gauges_of_a_discipline_that_is_not_red_have_their_own_names() -> None:
    data = snapshot()
    data["directions"][0] |= {"aqm": "pie", "average": None, "p_b": None, "gauges": {"p": 0.25, "delay": 0.012}}
    there = Snapshot.from_json(data).directions[0]
    assert [name for name, _ in state(there)] == ["queue", "pie.p", "pie.delay", "delay"]
    red = Snapshot.from_line(line()).directions[0]
    assert [name for name, _ in state(red)] == ["queue", "average", "p_b", "p_a", "count", "delay"]


def test_terminal_draws_and_leaves_the_last_picture() -> None:
    screen = _Screen()
    ticks = itertools.count(0, 1.0)
    view = Terminal(screen, clock=lambda: next(ticks))
    view.show(Line(line(k=1)))
    view.show(Line(line(k=2, flows=MOST_FLOWS + 3)))
    view.close()
    text = screen.getvalue()
    for words in (
        "forward bottleneck",
        "1.08 Mb/s of 2 Mb/s",
        "queue 3 p",
        "██",
        LABEL,
        "and 3 more flows",
        "p99 21.5 us",
    ):
        assert words in text, words


def test_picture_has_no_bars_beyond_the_encoding_and_forgets_old_queues() -> None:
    from rich.console import Console

    picture = Picture("_.:-=+*#")
    for k in range(100):
        drawn = picture.of(Snapshot.from_json(snapshot(k=k)))
    out = io.StringIO()
    Console(file=out, width=100).print(drawn)
    assert "#" * 60 in out.getvalue()
    assert "#" * 61 not in out.getvalue()


def test_block_like_tc(dumbbell: str) -> None:
    links = {link.name: link for link in known(dumbbell).links}
    found = block(Snapshot.from_line(line()), links).splitlines()
    assert found[:4] == [
        "qdisc red 1: dev bottleneck root limit 50p min 5p max 15p ewma 6.64 probability 0.1",
        " Sent 135000 bytes 90 pkt (dropped 90, overlimits 130 requeues 0)",
        " backlog 4500b 3p requeues 0",
        "  marked 60 early 70 pdrop 20 other 0",
    ]
    assert found[4].startswith("qdisc red 2:")


def test_block_like_tc_in_bytes_with_ecn_and_without_parameters(dumbbell: str) -> None:
    text = dumbbell.replace("w_q = 0.01", 'w_q = 0.0625\necn = true\nmode = "bytes"').replace('"50p"', '"150000B"', 1)
    links = {link.name: link for link in known(text).links}
    first = "qdisc red 1: dev bottleneck root limit 150000b min 5000b max 15000b ecn ewma 4 probability 0.1"
    assert block(Snapshot.from_line(line()), links).splitlines()[0] == first
    assert block(Snapshot.from_line(line()), {}).splitlines()[0] == "qdisc red 1: dev bottleneck root"


def test_block_like_tc_of_drop_tail_and_classes() -> None:
    scenario = Scenario.load(Path(__file__).parents[2] / "examples/diffserv.toml")
    link = next(link for link in scenario.links if link.classes)
    data = snapshot()
    data["directions"][0] |= {"link": link.name, "aqm": link.aqm}
    data["directions"][1] |= {"aqm": "drop-tail"}
    lines = block(Snapshot.from_json(data), {link.name: link}).splitlines()
    assert "  class in dscp 10,46 min 40p max 70p probability 0.02" in lines
    assert "  class out dscp default min 5p max 15p probability 0.1" in lines
    assert lines[-1:] == [" backlog 4500b 3p requeues 0"]
    assert "overlimits 0" in lines[-2]


def test_block_follows_a_new_configuration(dumbbell: str) -> None:
    out = io.StringIO()
    with open_views(["tc"], out=out, scenario=known(dumbbell)) as views:
        views.show(line())
        views.learn(known(dumbbell.replace("max_p = 0.1", "max_p = 0.3")))
        views.show(line())
    assert ["probability 0.1" in out.getvalue(), "probability 0.3" in out.getvalue()] == [True, True]


def test_json_lines_are_the_received_reports(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    with open_views([f"jsonl={path}"]) as views:
        views.show('{"a": 1}\n')
        views.show('{"b": 2}')
        assert path.read_text() == '{"a": 1}\n{"b": 2}\n'


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ["trminal"],
            '--stats: unknown view "trminal" (allowed: terminal, tc, jsonl, prometheus; did you mean terminal?)',
        ),
        (["terminal,tc"], "--stats: terminal and tc cannot share stdout"),
        (["jsonl", "jsonl"], "--stats jsonl: is given twice"),
        (["tc=3"], "--stats tc=3: is not understood"),
        (["jsonl="], "--stats jsonl=: is not understood"),
        (["prometheus=0.0.0.0:9464"], "--stats prometheus=0.0.0.0:9464: 0.0.0.0 is not loopback (allowed: PORT, "),
        (["prometheus=[::]:9464"], "[::] is not loopback"),
        (["prometheus=192.0.2.1:9464"], "192.0.2.1 is not loopback"),
        (["prometheus=example.org:80"], "example.org is not an address"),
        (["prometheus=99999"], "the port is not a number from 0 to 65535"),
        (["prometheus=http"], "the port is not a number from 0 to 65535"),
    ],
)
def test_names_that_are_rejected(names: list[str], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        open_views(names)


def test_views_that_cannot_be_opened_leave_none_open(tmp_path: Path) -> None:
    # An extra of the package brings it.
    pytest.importorskip("prometheus_client")
    path = tmp_path / "none" / "x.jsonl"
    with pytest.raises(Exception, match=r"x\.jsonl: cannot be written"):
        open_views(["prometheus", f"jsonl={path}"])
    assert not any(thread.name == "metrics" for thread in threading.enumerate())


class _Broken(io.StringIO):
    def write(self, _: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")


def test_a_view_that_fails_is_reported_once_and_the_others_continue(tmp_path: Path) -> None:
    said: list[str] = []
    path = tmp_path / "x.jsonl"
    views = open_views(["terminal", f"jsonl={path}"], out=_Broken(), report=said.append)
    for _ in range(3):
        views.show(line())
    views.show("no JSON")
    views.close()
    views.close()
    assert said == ["statistics: a view is closed (Broken pipe)"]
    assert len(path.read_text().splitlines()) == 4


def test_a_line_that_cannot_be_read_is_reported_once(tmp_path: Path) -> None:
    said: list[str] = []
    with open_views(["tc"], out=io.StringIO(), report=said.append) as views:
        views.show("no JSON")
        views.show("no JSON either")
    assert len(said) == 1
    assert said[0].startswith("statistics: snapshot: is no JSON")


class Scraped:
    """Views with metrics, and the values found there."""

    def __init__(self) -> None:
        self.views = open_views(["prometheus"])
        self.port = int(self.views.notes[0].split(":")[3].split("/")[0])

    def get(self, path: str = "/metrics", **headers: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path, headers={key.replace("_", "-"): value for key, value in headers.items()})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def samples(self) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        from prometheus_client.parser import text_string_to_metric_families

        families = text_string_to_metric_families(self.get()[1])
        return {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}


@pytest.fixture
def scraped() -> Iterator[Scraped]:
    # An extra of the package brings it.
    pytest.importorskip("prometheus_client", reason="needs prometheus_client, of the extra live")
    found = Scraped()
    yield found
    found.views.close()


def test_metrics_equal_the_snapshot(scraped: Scraped) -> None:
    assert scraped.samples() == {}
    scraped.views.show(line())
    found = scraped.samples()
    link = {("direction", "forward"), ("link", "bottleneck")}
    flow = link | {("flow", "0"), ("group", "g"), ("addresses", LABEL)}
    assert found["aqmlab_queue_packets", frozenset(link)] == 3
    assert found["aqmlab_link_rate_bytes_per_second", frozenset(link)] == 250_000
    assert found["aqmlab_drops_packets_total", frozenset(link | {("reason", "forced")})] == 30
    assert found["aqmlab_flow_arrivals_packets_total", frozenset(flow)] == 10
    assert found["aqmlab_discipline_state", frozenset(link | {("name", "p_a")})] == 0.02
    assert found["aqmlab_quantity", frozenset(link | {("key", "max_queue")})] == 7
    assert found["aqmlab_plane_lateness_seconds", frozenset({("quantile", "0.99")})] == pytest.approx(21.5e-6)
    assert {name for name, _ in found} == {metric.name for metric in METRICS}


def test_counters_only_grow(scraped: Scraped) -> None:
    kinds = {metric.name: metric.kind for metric in METRICS}
    before: dict[Any, float] = {}
    for k in range(1, 6):
        scraped.views.show(line(k=k))
        found = scraped.samples()
        assert all(found[key] >= value for key, value in before.items() if kinds[key[0]] == "counter")
        before = found


def test_only_metrics_for_this_machine(scraped: Scraped) -> None:
    scraped.views.show(line())
    assert scraped.get("/")[0] == 404
    assert scraped.get(Host="example.org")[0] == 403
    assert scraped.get(Host=f"localhost:{scraped.port}")[0] == 200
    assert "# EOF" in scraped.get(Accept="application/openmetrics-text; version=1.0.0")[1]


def test_metrics_of_a_line_that_cannot_be_read(scraped: Scraped) -> None:
    scraped.views.show('{"t": 1}')
    assert scraped.get() == (500, "snapshot.directions: is missing (allowed: a list of objects)\n")


def test_port_that_is_taken(scraped: Scraped) -> None:
    with pytest.raises(InputError, match=rf"127.0.0.1:{scraped.port} cannot be had \(Address already in use\)"):
        open_views([f"prometheus={scraped.port}"])


def test_metrics_by_the_conventions() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names)
    for metric in METRICS:
        assert re.fullmatch(r"aqmlab_[a-z_]+", metric.name)
        assert (metric.kind == "counter") == metric.name.endswith("_total")
        assert metric.help.endswith(".")


def test_page_lists_the_metrics_and_views() -> None:
    page = (Path(__file__).parents[2] / "docs/live-statistics.md").read_text(encoding="utf-8")
    rows = [f"| `{m.name}` | {m.kind} | {', '.join(m.labels)} | {m.help} |" for m in METRICS]
    assert re.findall(r"^\| `aqmlab_.*$", page, re.MULTILINE) == rows
    assert all(f"| `{name}`" in page for name in NAMES)


def test_a_hundred_snapshots_a_second_are_cheap(tmp_path: Path) -> None:
    """Of a hundred lines, a terminal reads five and a file none: counted, since time is not to be measured here."""
    read: list[int] = []
    now = [0.0]
    paced = Paced(lambda _: read.append(1), 0.2, lambda: now[0])
    for k in range(100):
        now[0] = k / 100
        paced.show(Line(line(k=k)))
    assert len(read) == 5
