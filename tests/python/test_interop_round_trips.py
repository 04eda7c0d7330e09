"""Queues written for another program and read back are the same, up to the rounding that the tables state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

import aqmlab
from aqmlab.interop.cisco import queues as cisco
from aqmlab.interop.dialects import dialects_of
from aqmlab.interop.importing.tc_words import read_tc
from aqmlab.interop.juniper import queues as juniper
from aqmlab.interop.ns2 import queues as ns2
from aqmlab.interop.ns3 import other_queues as ns3_other
from aqmlab.interop.ns3 import queues as ns3
from aqmlab.interop.settings import Settings, shares_at
from aqmlab.interop.tc import other_queues as tc_other
from aqmlab.interop.tc import red as tc_red
from aqmlab.interop.tc.queues import drop_tail, qdisc_of
from aqmlab.interop.translation import Row, Table
from aqmlab.scenario.parts import Link
from aqmlab.scenario.toml_text import inline
from aqmlab.tuning.space import packets
from conftest import DUMBBELL

TABLES: dict[str, Table] = {
    "ns-2 red": ns2.RED,
    **{f"ns-2 {name}": table for name, table in ns2.ADAPTATION.items()},
    "ns-3 red": ns3.RED,
    **{f"ns-3 {name}": table for name, table in ns3.ADAPTATION.items()},
    **{f"ns-3 {name}": table for name, table in ns3_other.OTHER_QUEUES.items()},
    "tc red": tc_red.RED,
    "tc choke": tc_red.CHOKE,
    **{f"tc {name}": table for name, table in tc_other.OTHER_QUEUES.items()},
    "cisco": cisco.RED,
    "juniper": juniper.RED,
}
ROWS = [pytest.param(row, id=f"{name} {row.word}") for name, table in TABLES.items() for row in table.rows]
PROBABILITY = st.floats(1 / 65536, 1)
TIME = st.floats(1e-4, 10)
FLAG = st.booleans()
WHOLE = st.integers(1, 100_000)
WORDS: dict[str, st.SearchStrategy[Any]] = {
    "curve": st.just("gentle"),
    "adaptation": st.sampled_from(["none", "adaptive-red"]),
    "full": st.sampled_from(["longest-tail", "longest-head"]),
    "longest": st.sampled_from(["tail", "head"]),
    "perturb": st.just("never") | st.integers(1, 1000).map(float),
    "rehash": st.just("never") | st.floats(0.1, 1000),
    "classic_share": st.floats(0.01, 0.99),
    "ce_threshold": st.just("off") | TIME,
    "memory_limit": st.just("off") | WHOLE,
    "ce_threshold_selector": st.sampled_from(["all", "ect1"]),
    "spacing": st.sampled_from(["ns2-wait", "ns2-nowait"]),
    "mode": st.sampled_from(["packets", "bytes"]),
    "delay": st.sampled_from(["departure-rate", "timestamp"]),
    "hash_key": st.just("random") | WHOLE,
    "overload": st.sampled_from(["drop", "overflow"]),
    "decide": st.sampled_from(["leaving", "arriving"]),
    "w_q": st.floats(2**-16, 0.7),
    "rate_bps": st.floats(1e4, 1e11),
    "alpha": st.floats(0.01, 2),
    "beta": st.floats(0.01, 2),
}
VALUES = {
    **dict.fromkeys(("limit", "min_th", "max_th"), st.floats(1, 4096)),
    **dict.fromkeys(("mean_packet", "max_packet", "burst", "queues", "quantum", "drop_batch"), WHOLE),
    **dict.fromkeys(("buckets", "bin_size", "penalty_rate", "penalty_burst", "coupling", "l4s_min_packets"), WHOLE),
    **dict.fromkeys(("max_bin", "memlimit"), WHOLE),
    **dict.fromkeys(("l4s_min_th", "warmup"), TIME),
    **dict.fromkeys(("max_p", "mark_up_to", "ared_alpha", "ared_beta", "max_p_high", "max_p_low"), PROBABILITY),
    **dict.fromkeys(("feng_alpha", "feng_beta"), st.floats(1e-6, 10)),
    **dict.fromkeys(("increment", "decrement"), st.floats(1e-4, 1)),
    **dict.fromkeys(("target", "interval", "t_update", "max_burst", "adapt_interval", "delay_s"), TIME),
    **dict.fromkeys(
        ("ecn", "p_one_is_early", "mark_forced", "nodrop", "byte_mode", "cap_adjustment", "derandomize"), FLAG
    ),
    **WORDS,
}


def values_of(row: Row) -> st.SearchStrategy[Any]:
    """Return values of a row's parameter that its program has."""
    return st.just("nlred") if row.word == "NLRED" else VALUES[row.key]


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
@limits(max_examples=30, deadline=None)
@given(data=st.data())
def test_every_word_is_read_as_it_is_written(row: Row, data: st.DataObject) -> None:
    value = data.draw(values_of(row))
    assert row.format.keeps(value, row.format.read(row.format.write(value)))


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_parameter_is_written_or_fixed(table: Table) -> None:
    assert not {row.key for row in table.rows} & {fixed.key for fixed in table.fixed}
    assert set(table.usual) <= {row.key for row in table.rows}


def scenario(body: Mapping[str, Any]) -> aqmlab.Scenario:
    return aqmlab.Scenario.from_text(DUMBBELL, filename="small.toml", overrides={"queue.bottleneck": dict(body)})


@st.composite
def reds(draw: st.DrawFn, *curves: str) -> dict[str, Any]:
    """Draw a RED queue of a scenario file."""
    minimum, mean = draw(st.integers(2, 60)), draw(st.sampled_from([500, 1000, 1500]))
    maximum = minimum + draw(st.integers(1, 60))
    limit = maximum + draw(st.integers(1, 200))
    mode = draw(st.sampled_from(["packets", "bytes"]))
    body = {
        "aqm": "red",
        "curve": draw(st.sampled_from(curves)),
        "spacing": draw(st.sampled_from(["ns2-wait", "ns2-nowait"])),
        "mode": mode,
        "limit": f"{limit * mean}B" if mode == "bytes" else f"{limit}p",
        "min_th": f"{minimum}p",
        "max_th": f"{maximum}p",
        "mean_packet": f"{mean}B",
        "max_p": draw(st.floats(0.001, 0.66)),
        "w_q": draw(st.floats(1e-5, 0.9)),
        "ecn": draw(FLAG),
    }
    return body | {"adaptation": draw(st.sampled_from(["none", "adaptive-red", "feng"]))}


def keeps(link: Link, found: Mapping[str, Any], *tables: Table) -> None:
    """Check that everything that tables have of a link's queue was read as it is."""
    for row in (row for table in tables for row in table.rows):
        if row.key in link.parameters:
            assert row.format.keeps(link.parameters[row.key], found[row.key]), row.key


@limits(max_examples=60, deadline=None)
@given(body=reds("linear", "gentle"))
def test_red_comes_back_from_ns2(body: dict[str, Any]) -> None:
    link = scenario(body | {"p_one_is_early": True, "mark_up_to": 0.1}).link("bottleneck")
    found = ns2.read_queue("RED", ns2.ns2_queue(link).words)
    keeps(link, found, ns2.RED, ns2.ADAPTATION[body["adaptation"]])
    assert (found["limit"], found["adaptation"]) == (link.parameters["limit"], body["adaptation"])


@limits(max_examples=60, deadline=None)
@given(body=reds("linear", "gentle", "nlred"), mark_forced=FLAG)
def test_red_comes_back_from_ns3(body: dict[str, Any], mark_forced: bool) -> None:
    link = scenario(body | {"mark_forced": mark_forced}).link("bottleneck")
    attributes = dict(ns3.disc_of(link).attributes)
    found = ns3.read_red(attributes)
    tables = [ns3.ADAPTATION[body["adaptation"]]] if body["adaptation"] != "none" else []
    keeps(link, found, ns3.RED, *tables)
    assert {key: found[key] for key in ("mode", "curve", "adaptation")} == {
        key: body[key] for key in ("mode", "curve", "adaptation")
    }
    assert found["rate_bps"] == link.rate_bps
    # With ARED, ns-3 discards MinTh, MaxTh and QW.
    assert "ARED" not in attributes


@limits(max_examples=60, deadline=None)
@given(body=reds("linear"))
def test_red_comes_back_from_tc(body: dict[str, Any]) -> None:
    plan = scenario(body)
    link = plan.link("bottleneck")
    own = Settings.of(plan, link)
    assert own is not None
    found = tc_red.read_red(tc_red.write_red(own))
    for key, value in {"min_th": own.min_th, "max_th": own.max_th}.items():
        assert packets(found[key], own.unit_bytes) == pytest.approx(value, abs=0.5 / own.unit_bytes)
    assert found["limit"] == f"{own.limit_bytes:.0f}B"
    # The flows of the scenario have packets of 1040 bytes.
    assert found["mean_packet"] == (body["mean_packet"] if body["mode"] == "bytes" else "1040B")
    assert found["ecn"] == own.ecn
    # The kernel has whole numbers of 2^-32 for each byte between the thresholds.
    assert found["max_p"] == pytest.approx(own.max_p, abs=(own.max_th - own.min_th) * own.unit_bytes / 2**32 + 1e-8)
    if not any("no weight near" in note for note in tc_red.red_notes(own, link, found["w_q"])):
        assert abs(math.log2(found["w_q"] / own.w_q)) <= 1


@limits(max_examples=60, deadline=None)
@given(body=reds("linear"))
def test_red_comes_back_from_routers(body: dict[str, Any]) -> None:
    plan = scenario(body)
    own = Settings.of(plan, plan.link("bottleneck"))
    assert own is not None
    found = cisco.read_red(cisco.write_red(own))
    for row in cisco.RED.rows:
        if row.key != "w_q" or own.w_q >= 2.0**-cisco.MOST_EXPONENT:
            assert row.format.keeps(min(getattr(own, row.key), 0.7 if row.key == "w_q" else math.inf), found[row.key])
    assert found["ecn"] == own.ecn
    drawn = juniper.read_red(juniper.write_red(own))
    assert drawn["limit"] == pytest.approx(own.limit_bytes * 8 / own.rate_bps, abs=0.51e-6)
    assert drawn["profile"] == juniper.profile(own)
    error = juniper.largest_error(own, drawn["profile"])
    levels = np.array([level for level, _ in drawn["profile"]]) * own.limit / 100
    shares = np.array([share for _, share in drawn["profile"]]) / 100
    assert np.all(np.abs(shares - shares_at(own, levels)) <= max(error, 0.0051) + 1e-9)


@st.composite
def others(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a queue of CoDel's or PIE's family, with the parameters that differ least between programs."""
    aqm = draw(st.sampled_from(["codel", "fq-codel", "pie", "fq-pie"]))
    body: dict[str, Any] = {"aqm": aqm, "limit": f"{draw(st.integers(10, 20_000))}p", "ecn": draw(FLAG)}
    body["target"] = f"{draw(st.integers(1000, 50_000))}us"
    if aqm.endswith("codel"):
        body["interval"] = f"{draw(st.integers(60_000, 500_000))}us"
    else:
        body |= {"t_update": f"{draw(st.integers(1000, 50_000))}us", "byte_mode": draw(FLAG)}
    if aqm.startswith("fq"):
        body |= {"queues": draw(st.integers(1, 65_535)), "quantum": f"{draw(st.integers(300, 9000))}B"}
    if aqm == "fq-codel":
        body["memory_limit"] = f"{draw(st.integers(1, 1 << 31))}B"
    return body


@limits(max_examples=60, deadline=None)
@given(body=others())
def test_other_queues_come_back_from_ns3(body: dict[str, Any]) -> None:
    link = scenario(body).link("bottleneck")
    table = ns3_other.OTHER_QUEUES[link.aqm]
    keeps(link, table.read(table.write(link.parameters)), table)


@limits(max_examples=60, deadline=None)
@given(body=others())
def test_other_queues_come_back_from_lines_of_tc(body: dict[str, Any]) -> None:
    plan = scenario(body)
    link = plan.link("bottleneck")
    line = f"tc qdisc add dev eth0 root handle 10: {qdisc_of(plan, link).text}\n"
    read = read_tc(line, "lines.txt").queue
    found = scenario(read).link("bottleneck")
    table = tc_other.OTHER_QUEUES[link.aqm]
    fixed = {one.key: one.value for one in table.fixed if one.value is not None}
    assert found.aqm == link.aqm
    assert found.parameters == pytest.approx(link.parameters | fixed)


@pytest.mark.parametrize("limit", [100, "64000B"])
def test_drop_tail_comes_back(limit: float | str) -> None:
    text = f"{limit}p" if isinstance(limit, int) else limit
    for strict in (False, True):
        link = scenario({"aqm": "drop-tail", "limit": text, "strict_limit": strict}).link("bottleneck")
        found = ns2.read_queue("DropTail", ns2.ns2_queue(link).words)
        # ns-2 drops when the queue would reach its limit.
        more = 0 if strict else 1
        assert found == {"limit": limit + more if isinstance(limit, int) else f"{64000 + more}B", "strict_limit": True}
        assert dict(ns3.disc_of(link).attributes) == {"MaxSize": text}
        read = read_tc(f"tc qdisc add dev eth0 root {drop_tail(limit).text}\n", "lines.txt").queue
        assert read == {"aqm": "drop-tail", "limit": text}


def test_values_that_a_program_makes_of_a_text_are_those_that_are_read_back() -> None:
    body = {"aqm": "adaptive-red", "limit": "50p", "min_th": "5p", "max_th": "15p", "w_q": 0.002, "max_p": 0.1}
    found = {one.name: one for one in dialects_of(scenario(body), "bottleneck")}
    expected = {"min_th": "5 packets", "max_th": "15 packets", "limit": "50 packets", "max_p": "0.1", "w_q": "0.002"}
    assert found["ns-2"].effective == expected
    assert found["ns-3"].effective == expected
    assert '"AdaptMaxP", StringValue("true")' in found["ns-3"].text
    assert "ARED" not in found["ns-3"].text


def test_the_units_of_pie_are_those_of_tc() -> None:
    line = "qdisc pie 8001: dev eth0 root refcnt 2 limit 1000p target 15ms tupdate 16ms alpha 4 beta 40 nobytemode\n"
    found = read_tc(line, "shown.txt")
    assert {key: found.queue[key] for key in ("alpha", "beta", "t_update", "byte_mode", "derandomize")} == {
        "alpha": 0.25,
        "beta": 2.5,
        "t_update": "16ms",
        "byte_mode": False,
        "derandomize": True,
    }
    assert inline(found.queue["max_burst"]) == '"150ms"'
