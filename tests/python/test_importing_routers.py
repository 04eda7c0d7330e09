"""Configurations of Cisco IOS and Juniper Junos become a queue, and come back from their export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

import aqmlab
from aqmlab.errors import InputError
from aqmlab.interop.cisco import queues as cisco
from aqmlab.interop.dialects import dialects_of
from aqmlab.interop.importing.bottleneck import text_of
from aqmlab.interop.importing.cisco import read_cisco
from aqmlab.interop.importing.juniper import read_juniper
from aqmlab.interop.juniper import queues as juniper
from conftest import DUMBBELL

TRAFFIC = DUMBBELL.replace('name = "tcp"\n', 'name = "tcp"\npacket_size = "1460B"\n', 1)


def written(tool: str, **body: Any) -> str:
    """Return the tuner's text for a router, with packets of 1500 B."""
    table = {"aqm": "red", "mean_packet": "1500B", **body}
    plan = aqmlab.Scenario.from_text(TRAFFIC, filename="small.toml", overrides={"queue.bottleneck": table})
    return next(one.text for one in dialects_of(plan, "bottleneck") if one.name == tool)


def imported(tmp_path: Path, text: str) -> aqmlab.interop.importing.Imported:
    (tmp_path / "router.cfg").write_text(text)
    return aqmlab.import_scenario(tmp_path / "router.cfg")


@pytest.mark.slow
@limits(max_examples=40, deadline=None)
@given(
    min_th=st.integers(1, 2000),
    span=st.integers(1, 2000),
    denominator=st.integers(1, 1000),
    exponent=st.integers(1, 16),
    ecn=st.booleans(),
)
def test_red_comes_back_from_cisco(min_th: int, span: int, denominator: int, exponent: int, ecn: bool) -> None:
    body = {"min_th": f"{min_th}p", "max_th": f"{min_th + span}p", "limit": "5000p", "ecn": ecn}
    text = written("cisco", **body, max_p=1 / denominator, w_q=2.0**-exponent)
    found = read_cisco(text, "router.cfg")
    plan = aqmlab.Scenario.from_text(text_of(found, name="r", description="d"), filename="r.toml")
    own = plan.link("bottleneck").parameters
    assert (own["min_th"], own["max_th"], own["limit"], own["ecn"]) == (min_th, min_th + span, 5000, ecn)
    assert (own["max_p"], own["w_q"]) == pytest.approx((1 / denominator, 2.0**-exponent))
    assert next(one.text for one in dialects_of(plan, "bottleneck") if one.name == "cisco") == text


@limits(max_examples=30, deadline=None)
@given(
    min_th=st.integers(1, 60), span=st.integers(1, 60), max_p=st.floats(0.01, 1), aqm=st.sampled_from(["red", "mred"])
)
def test_the_curve_comes_back_from_juniper(min_th: int, span: int, max_p: float, aqm: str) -> None:
    body = {"aqm": aqm, "min_th": f"{min_th}p", "max_th": f"{min_th + span}p", "limit": "200p", "max_p": max_p}
    text = written("juniper", **body)
    found = read_juniper(text, "router.cfg")
    expected = juniper.read_red(text)
    # 200 packets of 1500 B at 2 Mb/s, that is 1.2 s; without a rate in the text 10 Mb/s are assumed.
    limit = round(expected["limit"] * 10e6 / 8 / 1500)
    assert found.queue["limit"] == f"{limit}p"
    points = np.array(found.queue["points"], dtype=float)
    levels, shares = (np.array(column) for column in zip(*expected["profile"], strict=True))
    assert np.interp(levels * limit / 100, points[:, 0], points[:, 1]) == pytest.approx(shares / 100)
    plan = aqmlab.Scenario.from_text(text_of(found, name="r", description="d"), filename="r.toml")
    assert plan.link("bottleneck").parameters["curve"] == "points"


CISCO = """\
!
policy-map WAN
 class class-default
  shape average 8000000
  random-detect dscp-based
  random-detect ecn
  random-detect exponential-weighting-constant 7
  random-detect dscp default 20 40 10
  random-detect dscp af11 32 40 10
  random-detect dscp 12 28 40 10
  random-detect dscp 14 24 40
  queue-limit 128 packets
  fair-queue
!
interface GigabitEthernet0/1
 service-policy output WAN
"""


def test_several_profiles_of_cisco_are_classes(tmp_path: Path) -> None:
    found = imported(tmp_path, CISCO)
    assert found.kind == "cisco"
    link = found.scenario.link("bottleneck")
    assert (link.aqm, link.rate_bps) == ("wred", 8e6)
    assert (link.parameters["w_q"], link.parameters["limit"], link.parameters["ecn"]) == (2.0**-7, 128, True)
    assert [(one["min_th"], one["max_th"], one["max_p"]) for one in link.classes] == [
        (32, 40, 0.1),
        (28, 40, 0.1),
        (24, 40, 0.1),
        (20, 40, 0.1),
    ]
    assert [one["dscp"] for one in link.classes[:3]] == [[10], [12], [14]]
    assert link.classes[3]["default"]
    assert "line 13: fair-queue" in found.notes
    assert any("60 code points without a profile" in note for note in found.notes)


JUNOS = """\
class-of-service {
    drop-profiles {
        steep { /* by steps */
            fill-level 25 drop-probability 5;
            fill-level 50 drop-probability 20;
            fill-level 100 drop-probability 100;
        }
    }
    schedulers {
        data {
            transmit-rate 20m;
            buffer-size temporal 60000;
            priority low;
            drop-profile-map loss-priority any protocol any drop-profile steep;
        }
    }
}
"""
SET = """\
set class-of-service drop-profiles smooth interpolate fill-level [ 0 50 100 ]
set class-of-service drop-profiles smooth interpolate drop-probability [ 0 10 100 ]
set class-of-service interfaces ge-0/0/0 shaping-rate 20m
set class-of-service schedulers data buffer-size temporal 60000
"""


def points_of(scenario: aqmlab.Scenario) -> list[list[float]]:
    return [[float(one) for one in point] for point in scenario.queue_table("bottleneck")["points"]]


def test_steps_of_juniper_are_steps(tmp_path: Path) -> None:
    found = imported(tmp_path, JUNOS)
    assert found.kind == "juniper"
    link = found.scenario.link("bottleneck")
    assert (link.rate_bps, link.parameters["limit"]) == (20e6, 100)
    assert points_of(found.scenario) == [[0, 0], [25, 0], [25, 0.05], [50, 0.05], [50, 0.2], [100, 0.2], [100, 1]]
    # The priority of the only scheduler is read, and changes nothing.
    assert not any("priority" in note for note in found.notes)


def test_lines_of_set_are_read_too(tmp_path: Path) -> None:
    scenario = imported(tmp_path, SET).scenario
    assert points_of(scenario) == [[0, 0], [50, 0.1], [100, 1]]
    assert scenario.link("bottleneck").rate_bps == 20e6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("random-detect\n", "random-detect has no profile"),
        ("random-detect precedence 9 1 2 3\n", "router.cfg:1: unknown precedence"),
        ("random-detect dscp af99 1 2 3\n", "unknown precedence"),
        ("random-detect precedence 1 20 10 3\n", "router.cfg:1: allowed are"),
        ("random-detect precedence 1 1 2 0\n", "router.cfg:1: the denominator is at least 1"),
        (CISCO.replace("8000000", "0"), "a rate is above 0"),
        (CISCO.replace("constant 7", "constant 999999999"), "an exponent up to 32"),
        ("class-of-service { drop-profiles { } }", "0 drop profiles"),
        (JUNOS.replace("fill-level 50", "fill-level 10"), "levels rising"),
        (JUNOS.replace("probability 20", "probability 200"), "in percent"),
        (JUNOS + "}}}", "braces do not fit together"),
        (SET.replace("[ 0 50 100 ]", "[ 0 100 ]"), "as many values"),
        ("interface e0\n", "random-detect"),
    ],
)
def test_a_configuration_that_cannot_be_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        imported(tmp_path, text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_code_points_have_their_names() -> None:
    assert [cisco.NAMES[name] for name in ("af11", "af43", "cs6", "ef", "default")] == [10, 38, 48, 46, 0]


POLICY = """\
class-map match-any GOLD
 match dscp af21 af22
class-map match-any EF
 match ip precedence critical
policy-map WAN
 class GOLD
  bandwidth percent 30
  random-detect
  random-detect precedence 2 20 40 10
 class EF
  priority percent 10
 class class-default
  random-detect
  random-detect precedence 0 10 30 5
interface Serial0
 bandwidth 2000
 service-policy output WAN
"""
TWO_PROFILES = """\
class-of-service {
    drop-profiles {
        /* one by steps, one drawn */
        steps { fill-level 80 drop-probability 100; } # a comment
        drawn { interpolate { fill-level [ 50 90 ]; drop-probability [ 0 100 ]; } }
    }
    scheduler-maps {
        m {
            forwarding-class best-effort scheduler be;
            forwarding-class expedited-forwarding scheduler ef;
        }
    }
    schedulers {
        be { transmit-rate percent 80; buffer-size temporal 50k; drop-profile-map protocol any drop-profile drawn; }
        ef { transmit-rate remainder; buffer-size temporal 20000; drop-profile-map protocol any drop-profile steps; }
    }
}
"""


def test_classes_of_a_policy_map_are_those_of_a_scheduler(tmp_path: Path) -> None:
    link = imported(tmp_path, POLICY).scenario.link("bottleneck")
    assert (link.aqm, link.rate_bps) == ("priority", 2e6)
    first, shared = link.classes
    assert (first["name"], first["dscp"], first["aqm"]) == ("EF", list(range(40, 48)), "drop-tail")
    weights = {name: shared[f"class.{name}.weight"] for name in ("GOLD", "class-default")}
    assert weights == {"GOLD": 30, "class-default": 60}
    assert (shared["class.GOLD.min_th"], shared["class.class-default.max_p"]) == (20, 0.2)


def test_two_profiles_of_junos_are_classes_by_the_scheduler_map(tmp_path: Path) -> None:
    found = imported(tmp_path, TWO_PROFILES)
    link = found.scenario.link("bottleneck")
    assert link.aqm == "wfq"
    assert [(one["name"], one["weight"], one["curve"], one["limit"]) for one in link.classes] == [
        ("best-effort", 80, "points", 42),
        ("expedited-forwarding", 20, "points", 17),
    ]
    assert link.classes[1]["dscp"] == [46]
    assert found.scenario.queue_table("bottleneck-1")["points"] == [[0, 0], [21, 0], [37.8, 1], [42, 1]]


def test_a_comment_after_a_block_comment_ends_with_its_line() -> None:
    found = juniper.statements("/* a\nb */ x { # c\n y 1; }\n")
    assert [(one.line, one.path) for one in found] == [(3, ("x", "y", "1"))]


def test_every_line_of_a_configuration_is_read_or_named(tmp_path: Path) -> None:
    lines = POLICY.replace(" bandwidth 2000\n", " bandwidth 2000\n ip address 10.0.0.1 255.0.0.0\n hold-queue 99 out\n")
    lines = lines.replace("  priority percent 10\n", "  priority percent 10\n  police 8000\n  set dscp ef\n")
    notes = imported(tmp_path, "hostname r1\n" + lines + "router ospf 1\n network 10.0.0.0\n").notes
    assert "lines 1, 20, 23-24 are not read: they are not of a class, class map or queue of an interface" in notes
    assert [note for note in notes if any(word in note for word in ("police", "set dscp", "hold-queue"))] == [
        "line 13: police 8000",
        "line 14: set dscp ef",
        "line 21: hold-queue 99 out",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (POLICY.replace("percent 30", "percent x"), ":7: bandwidth percent x: is not read (allowed: bandwidth KBPS"),
        (
            POLICY.replace("20 40 10", "20 ms 40 bytes 10"),
            ":9: random-detect precedence 2 20 ms 40 bytes 10: is not read",
        ),
        (POLICY.replace("20 40 10", "aggregate 20 40"), ":9: random-detect precedence 2 aggregate 20 40: is not read"),
        (
            POLICY.replace(" match dscp af21 af22\n", " match access-group 5\n"),
            ":2: class GOLD: match access-group 5: ",
        ),
        (POLICY.replace("dscp af21", "dscp af29"), ':2: unknown precedence or code point "af29"'),
        (
            POLICY.replace("class-map match-any GOLD", "class-map match-any GOL"),
            ":6: class-map GOLD is not in the file",
        ),
        (POLICY.replace("  bandwidth percent 30\n", ""), ":6: class GOLD has neither bandwidth nor priority"),
        (POLICY.replace("percent 30", "percent 95"), ":12: the share of class-default beside 105 percent is not in"),
        (POLICY.replace("output WAN", "output LAN"), ":17: policy-map LAN is not in the file"),
        (
            POLICY.partition("interface")[0] + "policy-map B\n class class-default\n  queue-limit 9\n",
            ":15: 2 policy maps",
        ),
        (
            POLICY.replace("  bandwidth percent 30\n", "  bandwidth percent 30\n  service-policy X\n"),
            ":8: a policy map below",
        ),
        (
            POLICY.replace("random-detect precedence 0 10 30 5", "random-detect ecn"),
            ":13: random-detect has no profile",
        ),
        (TWO_PROFILES.replace("50k", "50q"), ':14: buffer-size temporal: "50q" is not a number of microseconds'),
        (
            TWO_PROFILES.replace("percent 80", "percent 100"),
            ":15: expedited-forwarding: the other transmit rates leave",
        ),
        (TWO_PROFILES.replace("drop-profile drawn", "drop-profile draw"), ":14: drop-profile draw is not in the file"),
        (TWO_PROFILES.replace("scheduler ef;", "scheduler e;"), ":10: scheduler e is not in the file"),
        (TWO_PROFILES.replace("remainder", "fast"), ':15: "fast": a rate is above 0'),
        (TWO_PROFILES.replace("fill-level 80", "fill-level 800"), ":4: fill-level and drop-probability need"),
        (TWO_PROFILES + "}\n", ":18: braces do not fit together"),
        (SET + "deactivate class-of-service schedulers data\n", ":5: deactivate is not read"),
        (SET.replace("60000", "50k us"), ':4: buffer-size temporal: "50k us" is not a number'),
    ],
)
def test_an_error_of_a_configuration_has_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        imported(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path}/router.cfg{message}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("tool", ["tc", "cisco"])
def test_a_weight_that_a_tool_cannot_have_is_named(tool: str) -> None:
    """DCTCP's RED looks at the queue itself; tc and IOS have weights up to 1/2."""
    table = {"aqm": "red", "min_th": "20p", "max_th": "21p", "limit": "100p", "max_p": 1, "w_q": 1, "ecn": True}
    plan = aqmlab.Scenario.from_text(TRAFFIC, filename="small.toml", overrides={"queue.bottleneck": table})
    found = next(one for one in dialects_of(plan, "bottleneck") if one.name == tool)
    assert "0.5" in found.effective["w_q"]
    assert any("w_q" in note and "1 becomes 0.5" in note for note in found.notes)


UNDONE = """\
policy-map wan
 class class-default
  shape average 8000000
  random-detect
  random-detect precedence 0 20 40 10
  {0}
interface e0
 service-policy output wan
 {1}
{2}
"""


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        (("no random-detect", "!", "!"), 6),
        (("no random-detect precedence 0 20 40 10", "!", "!"), 6),
        (("no shape average 8000000", "!", "!"), 6),
        (("!", "no service-policy output wan", "!"), 9),
        (("!", "no random-detect", "!"), 9),
        (("!", "!", "no policy-map wan"), 10),
    ],
)
def test_a_line_that_takes_back_another_is_rejected(tmp_path: Path, lines: tuple[str, ...], number: int) -> None:
    with pytest.raises(InputError, match=rf":{number}: no .*: is not read; remove it and the line"):
        imported(tmp_path, UNDONE.format(*lines))


def test_lines_with_no_that_routers_print_are_read_over(tmp_path: Path) -> None:
    found = imported(tmp_path, UNDONE.format("!", "no ip address", "no ip http server"))
    assert found.scenario.link("bottleneck").aqm == "red"


@pytest.mark.parametrize(
    ("text", "rate_bps", "note"),
    [
        # A transmit-rate is the guaranteed rate of a queue; the only queue has the whole link.
        (JUNOS.replace("    schedulers", "    interfaces { e { shaping-rate 100m; } }\n    schedulers"), 100e6, ""),
        (JUNOS.replace("20m;", "20m exact;"), 20e6, ""),
        (JUNOS, 20e6, "no shaping-rate is given: transmit-rate 20Mbps is read as the link's"),
    ],
)
def test_the_rate_of_a_junos_link(tmp_path: Path, text: str, rate_bps: float, note: str) -> None:
    found = imported(tmp_path, text)
    assert found.scenario.link("bottleneck").rate_bps == rate_bps
    assert any("transmit-rate" in one for one in found.notes) == bool(note)
    assert note in "\n".join(found.notes)


@pytest.mark.parametrize("words", ["loss-priority high protocol any", "loss-priority any protocol non-tcp"])
def test_a_drop_profile_of_some_packets_is_named(tmp_path: Path, words: str) -> None:
    found = imported(tmp_path, JUNOS.replace("loss-priority any protocol any", words))
    text = words.replace(" protocol", ", protocol")
    assert any(f"drop-profile steep is of {text}: it is read as that of all packets" in one for one in found.notes)
