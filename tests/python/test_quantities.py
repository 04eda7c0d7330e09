"""Quantities of a run, by hand."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import aqmlab
from aqmlab.errors import InputError
from aqmlab.results.quantities import QUANTITIES, in_order, is_quantity, quantity, run_quantities

LINKS = {"link": ["bottleneck"], "aqm": ["red"]}
PACKAGE = Path(aqmlab.__file__).parent
OTHERS = {
    "papers/": "numbers of papers, by their own definitions",
    "rfc7928/": "numbers of phases and groups, from single packets",
    "theory/scenario/": "numbers that models predict",
    "reporting/analysis/page.py": "titles of these",
    "live/tc/outcome.py": "columns of the table of links",
}
"""Files in which lists of such keys name other numbers."""


def flow(**values):
    base = {
        "transport": "newreno",
        "goodput_bps": 0.0,
        "mean_rtt_s": 0.1,
        "retransmissions": 0,
        "sent": 10,
        "timeouts": 0,
    }
    return {**base, **values}


def of_flows(rows, **tables):
    return run_quantities({"links": LINKS, "flows": pd.DataFrame(rows), **tables})


def of_applications(tables):
    return run_quantities({"links": LINKS, **tables})


def test_flows_together():
    rows = [
        flow(goodput_bps=3e6, mean_rtt_s=0.1, retransmissions=1, sent=100, timeouts=2),
        flow(goodput_bps=1e6, mean_rtt_s=0.3, retransmissions=3, sent=100, timeouts=1),
        flow(transport="udp", goodput_bps=9e6, sent=1000),
    ]
    found = of_flows(rows)
    assert found["goodput_mbps"] == 4.0
    assert found["jain"] == pytest.approx(16 / (2 * 10))
    assert found["mean_rtt_ms"] == pytest.approx(200)
    assert found["retransmitted"] == 0.02
    assert found["timeouts"] == 3


def test_udp_alone_has_no_tcp_quantities():
    assert of_flows([flow(transport="udp")]) == {}


def test_jain_compares_flows_of_one_kind():
    bulk = [flow(goodput_bps=rate, group="bulk", size_packets=-1) for rate in (3e6, 1e6)]
    others = [
        flow(goodput_bps=5e5, group="web", size_packets=-1),
        flow(goodput_bps=1e5, group="short", size_packets=10),
        flow(goodput_bps=2e6, group="voice", size_packets=-1, transport="udp"),
    ]
    found = of_flows([*bulk, *others], pages={"group": ["web"], "load_s": [1.0]})
    assert found["jain"] == pytest.approx(16 / (2 * 10))
    assert not [key for key in found if key.startswith("jain.")]
    # Goodput of every group, UDP too; together only TCP's.
    assert found["goodput_mbps"] == pytest.approx(4.6)
    groups = {"bulk": 4.0, "web": 0.5, "short": 0.1, "voice": 2.0}
    assert {key: found[f"goodput_mbps.{key}"] for key in groups} == pytest.approx(groups)


def test_jain_of_several_groups_and_transports():
    cubic = [flow(goodput_bps=rate, group="cubic", size_packets=-1, transport="tcp-cubic") for rate in (2e6, 2e6)]
    reno = [flow(goodput_bps=rate, group="reno", size_packets=-1) for rate in (1e6, 0.0)]
    found = of_flows([*cubic, *reno])
    assert "jain" not in found
    assert (found["jain.cubic"], found["jain.reno"]) == (1.0, 0.5)
    near = [{**row, "group": "near"} for row in reno]
    assert of_flows([*near, *reno])["jain"] == pytest.approx(4 / (4 * 2))
    assert "jain" not in of_flows(reno[:1]), "one flow is not compared"


def test_pages_and_videos_by_hand():
    nan = math.nan
    pages = {"group": ["a", "a", "b"], "load_s": [1.0, 3.0, nan]}
    found = of_applications({"pages": pages})
    assert (found["page_load_s"], found["pages_unfinished"]) == (2.0, pytest.approx(1 / 3))
    assert (found["page_load_s.a"], found["pages_unfinished.b"]) == (2.0, 1.0)
    assert "page_load_s.b" not in found
    # Two segments of 4 s arrived, and playing stood still for 2 s.
    segments = {
        "group": ["v", "v", "v"],
        "bitrate_bps": [1_000_000, 2_000_000, 2_000_000],
        "bytes": [500_000, 1_000_000, 1_000_000],
        "finish_s": [1.0, 8.0, nan],
        "stall_s": [0.0, 2.0, nan],
    }
    found = of_applications({"segments": segments})
    assert found == pytest.approx({"stalled": 2 / 10, "video_mbps": 1.5})
    assert of_applications({"pages": {"group": [], "load_s": []}}) == {}


def test_quantities_of_groups_have_names_and_an_order():
    assert quantity("mos.call").label == "MOS of calls of call"
    assert is_quantity("goodput_mbps.a.b")
    assert not is_quantity("utilization.a")
    with pytest.raises(InputError, match="unknown metric"):
        quantity("utilization.a")
    assert in_order(["mos", "goodput_mbps.b", "goodput_mbps.a", "utilization"]) == [
        "utilization",
        "mos",
        "goodput_mbps.b",
        "goodput_mbps.a",
    ]


def test_a_link_that_saw_nothing():
    counts = {key: [0] for key in ("arrivals", "drops", "marks", "throughput_bps", "utilization")}
    means = {key: [0.0] for key in ("mean_queue", "mean_average", "sd_average", "mean_delay_s")}
    assert math.isnan(run_quantities({"links": LINKS | counts | means})["loss"])


def test_quantities_of_tins():
    counts = {"arrivals": [100], "drops": [12], "marks": [3], "departed_bytes": [1000], "throughput_bps": [8e6]}
    tins = {
        "link": ["bottleneck", "other", "bottleneck", "bottleneck"],
        "tin": ["bulk", "bulk", "best-effort", "voice"],
        **{"packets": [8, 5, 60, 0], "bytes": [250, 500, 750, 0], "drops": [2, 5, 10, 0], "marks": [1, 0, 7, 0]},
        "ack_drops": [0, 0, 0, 0],
    }
    found = run_quantities({"links": LINKS | counts, "tins": tins})
    expected = {"loss.bulk": 0.2, "loss.best-effort": 1 / 7, "marks.bulk": 0.1, "marks.best-effort": 0.1}
    expected |= {"throughput_mbps.bulk": 2.0, "throughput_mbps.best-effort": 6.0}
    assert {key: value for key, value in found.items() if "." in key} == pytest.approx(expected)
    alone = run_quantities({"links": LINKS | counts, "tins": {key: values[:1] for key, values in tins.items()}})
    assert not [key for key in alone if "." in key]


def test_quantiles_of_a_histogram():
    two = {"link": ["bottleneck"] * 2, "low_s": [0.0, 0.1], "high_s": [0.1, 0.3], "count": [90, 10]}
    found = run_quantities({"links": LINKS, "delay_histogram": two})
    shares = {"delayed_20ms": 0.1 + 0.9 * 0.8, "delayed_100ms": 0.1}
    assert found == pytest.approx({"delay_median_ms": 500 / 9, "delay_p95_ms": 200, "delay_p99_ms": 280, **shares})
    empty = {"link": ["bottleneck"], "low_s": [0.0], "high_s": [1.0], "count": [0]}
    assert math.isnan(run_quantities({"links": LINKS, "delay_histogram": empty})["delay_p95_ms"])
    other = {key: values if key != "link" else ["other"] * 2 for key, values in two.items()}
    assert run_quantities({"links": LINKS, "delay_histogram": other}) == {}


def test_a_column_that_cannot_be_read_is_an_error():
    with pytest.raises(ValueError, match="could not convert"):
        run_quantities({"links": LINKS | {"utilization": ["high"]}})
    with pytest.raises(InputError, match='unknown link "other"'):
        run_quantities({"links": LINKS}, "other")


def test_every_quantity_has_a_unit_and_a_meaning():
    for key, one in QUANTITIES.items():
        assert one.key == key
        assert one.unit
        assert one.doc
        assert quantity(key) is one


def lists_of_keys(path: Path) -> Iterator[set[str]]:
    """Yield the keys of quantities in each list, tuple, set and mapping of a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        yield from (set(re.findall(r"\w+", found)) & set(QUANTITIES) for found in re.findall(r"[\[{][^\[\]{}]*", text))
        return
    for node in ast.walk(ast.parse(text)):
        parts = getattr(node, "elts", None) or getattr(node, "keys", None)
        if isinstance(parts, list):
            yield {part.value for part in parts if isinstance(part, ast.Constant)} & set(QUANTITIES)


def test_no_list_of_quantities_exists_beside_the_registry():
    files = [path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".js"}]
    # Pairs are axes of a figure.
    found = {str(path.relative_to(PACKAGE)) for path in files if any(len(keys) > 2 for keys in lists_of_keys(path))}
    assert not [name for name in found if not name.startswith(tuple(OTHERS))]
    assert all(any(name.startswith(other) for name in found) for other in OTHERS)


def test_a_missing_quantity_names_the_flows_that_it_needs():
    from aqmlab.results.quantities import NEEDED, QUANTITIES, lack

    groups = {one.group for one in QUANTITIES.values()}
    assert groups - set(NEEDED) == {"link", "delay"}
    assert set(NEEDED) <= groups | set(QUANTITIES)
    assert lack(["fct_mean_ms"], ["jain", "loss"]) == (
        'no fct_mean_ms: it needs a TCP flow with a size, such as size = "100KB" (they have loss, jain)'
    )
    assert lack(["loss"], []).startswith("no loss (they have")
