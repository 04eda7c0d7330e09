"""Scenarios as shell scripts for Linux."""

from __future__ import annotations

import subprocess

import pytest

from aqmlab.interop.differences import inexpressible
from aqmlab.interop.model import Model
from aqmlab.interop.tc.other_queues import OTHER_QUEUES, other_differences, phrase
from aqmlab.interop.tc.tool import TOOL
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Link
from test_crosscheck_ns3 import TEXT


def model(**overrides: str) -> Model:
    return Model.of(Scenario.from_text(TEXT, overrides={key.replace("__", "."): v for key, v in overrides.items()}))


def script(own: Model) -> str:
    return TOOL.files(own)["small.sh"]


def test_the_script_has_the_queue_in_tcs_words() -> None:
    text = script(model(queue__bottleneck__aqm="red"))
    assert "handle 10: red limit 75000 min 7500 max 22500 avpkt 1500" in text
    assert "tbf rate 2000000bit" in text
    assert "netem delay 40000us" in text


def test_the_script_is_one_of_a_shell(tmp_path) -> None:
    path = tmp_path / "small.sh"
    path.write_text(script(model()))
    assert subprocess.run(["sh", "-n", str(path)], check=False).returncode == 0


def test_known_differences_are_named() -> None:
    found = {one.name for one in TOOL.differences(model())}
    assert {"framing", "token bucket", "access links", "kernel's TCP", "queue"} <= found


def test_scenarios_that_linux_cannot_run_are_reported_and_not_run() -> None:
    own = model(queue__bottleneck__aqm="mred")
    assert inexpressible(TOOL.differences(own))
    assert script(own).endswith("exit 1\n")


@pytest.mark.parametrize(("size", "limit", "advmss"), [("1448B", 67, False), ("948B", 100, True)])
def test_limits_in_bytes_become_packets_of_the_traffic(size: str, limit: int, advmss: bool) -> None:
    """Packets have 52 bytes of headers; those shorter than the device's are announced to the other end."""
    own = model(queue__bottleneck="{ aqm = 'codel', limit = '100000B' }", flow__tcp__tcp__mss=size)
    text = script(own)
    assert f"handle 10: codel limit {limit} " in text
    assert ("advmss 960" in text) == advmss
    notes = [one.text for one in TOOL.differences(own) if one.name == "queue"]
    assert any(f"the limit of 100000 B is {limit} of" in note for note in notes)


@pytest.mark.parametrize("aqm", ["codel", "fq-codel", "pie", "fq-pie"])
def test_disciplines_other_than_red_have_their_words(aqm: str) -> None:
    own = {"limit": 300, "target": 0.015, "ecn": True, "max_packet": 1400}
    assert phrase(OTHER_QUEUES[aqm].write(own)) == "limit 300 target 15000us ecn"
    found = other_differences(Link("l", "a", "b", 1e6, 0.01, "q", aqm, own), OTHER_QUEUES[aqm])
    assert [one.name for one in found] == ["parameter max_packet"]
