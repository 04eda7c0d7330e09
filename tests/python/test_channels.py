"""The channel of a link from its keys to tables, quantities and TCP's answer."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import aqmlab
from aqmlab.errors import ScenarioError
from aqmlab.interop.model import Model
from aqmlab.interop.ns2.tool import TOOL as NS2
from aqmlab.interop.ns3.tool import TOOL as NS3
from aqmlab.interop.tc.tool import TOOL as TC
from aqmlab.live.processes import search_path

PLAIN = """format = 1
[run]
duration = "10s"
[dumbbell]
bottleneck = {{ rate = "20Mbps", delay = "20ms", queue = "wide"{channel} }}
left = {{ rate = "100Mbps", delay = "10ms" }}
right = {{ rate = "100Mbps", delay = "10ms" }}
[queue.wide]
limit = "1000p"
[[flow]]
name = "f"
{flow}
[probe]
losses = true
links = ["bottleneck"]
"""
CUBIC = 'transport = "tcp"\ntcp = {{ congestion_control = "cubic", window = "64KB"{options} }}'
"""A flow whose window is below the product of bandwidth and delay, so that nothing waits."""


def text(channel: str = "", options: str = "") -> str:
    own = f", {channel}" if channel else ""
    return PLAIN.format(channel=own, flow=CUBIC.format(options=f", {options}" if options else ""))


def flow(channel: str, options: str = "") -> dict[str, Any]:
    result = aqmlab.run(aqmlab.Scenario.from_text(text(channel, options)), seeds=[1], progress=False)
    return result.flows.iloc[0].to_dict()


def test_reordering_within_a_quarter_of_the_round_trip_is_no_loss_for_rack() -> None:
    # Round trips of 80 ms; packets overtake others by up to 8 ms, or 16 ms.
    for jitter in ("4ms", "8ms"):
        rack = flow(f'jitter = "{jitter}", reverse_jitter = "0ms"')
        assert (rack["retransmissions"], rack["timeouts"]) == (0, 0)


def test_three_duplicates_are_a_loss_without_rack_and_undo_takes_it_back() -> None:
    jitter = 'jitter = "4ms", reverse_jitter = "0ms"'
    still = flow("")
    undone = flow(jitter, "rack = false")
    kept = flow(jitter, "rack = false, undo = false, frto = false")
    assert still["retransmissions"] == 0
    assert undone["fast_retransmits"] > 100
    # Time stamps and reports of duplicates (RFC 2883) show that the retransmissions were spurious.
    assert undone["goodput_bps"] > 0.9 * still["goodput_bps"] > 2 * kept["goodput_bps"]


def test_a_longer_delay_causes_one_spurious_time_out() -> None:
    longer = '[[change]]\nat = "5s"\nlink = "bottleneck"\ndelay = "700ms"\n'
    found = {}
    for name, options in {"frto": "", "neither": "undo = false, frto = false"}.items():
        plan = aqmlab.Scenario.from_text(text(options=options) + longer)
        found[name] = aqmlab.run(plan, seeds=[1], progress=False).flows.iloc[0]
    assert min(one["timeouts"] for one in found.values()) >= 1
    assert found["frto"]["retransmissions"] < 0.2 * found["neither"]["retransmissions"]


def test_copies_cause_no_retransmission() -> None:
    copied = flow("duplicate = 0.05")
    assert (copied["retransmissions"], copied["timeouts"]) == (0, 0)
    assert copied["arrived"] > copied["sent"]


def test_listed_packets_are_lost_and_repaired() -> None:
    # The SYN is packet 1 of the link.
    found = flow("loss = { packets = [40, 41, 90] }, reverse_loss = 0")
    assert (found["retransmissions"], found["timeouts"], found["drops"]) == (3, 0, 0)


def test_losses_have_a_reason_of_their_own() -> None:
    result = aqmlab.run(aqmlab.Scenario.from_text(text('loss = "2%", reverse_loss = 0')), seeds=[1], progress=False)
    own = result.channels.set_index("link")
    assert set(own.index) == {"bottleneck", "bottleneck.reverse"}
    losses = int(own.loc["bottleneck", "losses"])
    links = result.links.set_index("link")
    assert losses > 10
    assert int(own.loc["bottleneck.reverse", "losses"]) == 0
    assert int(links["drops"].sum()) == 0
    reasons = result.drop_reasons
    assert reasons[["link", "reason", "class", "drops"]].values.tolist() == [
        ["bottleneck", "channel", "channel", losses]
    ]
    assert result.losses["reason"].tolist() == ["channel"] * losses
    metrics = result.metrics().iloc[0]
    assert metrics["channel_losses"] == losses
    assert metrics["channel_loss_rate"] == pytest.approx(losses / links.loc["bottleneck", "departures"])
    assert metrics["loss"] == 0


def test_a_plain_link_has_no_such_quantities() -> None:
    result = aqmlab.run(aqmlab.Scenario.from_text(text()), seeds=[1], progress=False)
    assert result.channels.empty
    assert not {"channel_losses", "channel_loss_rate"} & set(result.metrics().columns)


def test_delays_of_a_group_keep_the_other_keys() -> None:
    own = 'count = 2\nright = { delay = ["5ms", "9ms"] }\n'
    plan = aqmlab.Scenario.from_text(
        text()
        .replace(
            'right = { rate = "100Mbps", delay = "10ms" }', 'right = { rate = "100Mbps", delay = "10ms", loss = 0.1 }'
        )
        .replace('name = "f"\n', f'name = "f"\n{own}')
    )
    links = {link.name: link for link in plan.links}
    assert [links[f"right.f.{i}"].delay_s for i in (0, 1)] == [0.005, 0.009]
    assert all(
        links[f"right.f.{i}{way}"].channel["loss"]["probability"] == 0.1 for i in (0, 1) for way in ("", ".reverse")
    )


def test_files_of_lost_packets_are_read_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "lost.txt").write_text("# packets\n3\n7\n", encoding="utf-8")
    path = tmp_path / "net.toml"
    path.write_text(text('loss = { packets = "lost.txt" }'), encoding="utf-8")
    assert aqmlab.Scenario.load(path).link("bottleneck").channel["loss"] == {"packets": [3, 7]}
    before = aqmlab.Scenario.load(path).hash
    (tmp_path / "lost.txt").write_text("3\n8\n", encoding="utf-8")
    assert aqmlab.Scenario.load(path).hash != before
    for content, message in (
        ("3\n3\n", "lost.txt:2: the packet 3 does not rise from 3"),
        ("0\n", "lost.txt:1: the packet 0 is below 1"),
        ("1\ntwo\n", 'lost.txt:2: "two" is not a whole number'),
        ("# none\n", "lost.txt:1: the list is empty"),
    ):
        (tmp_path / "lost.txt").write_text(content, encoding="utf-8")
        with pytest.raises(ScenarioError) as caught:
            aqmlab.Scenario.load(path)
        assert message in str(caught.value)


def test_a_change_sets_the_channel_from_a_time_on() -> None:
    changing = text() + '[[change]]\nat = "5s"\nlink = "bottleneck"\nloss = { p = "1%", r = "20%" }\n'
    plan = aqmlab.Scenario.from_text(changing)
    assert plan.changes[0]["channel"]["loss"] == {"p": 0.01, "r": 0.2, "bad_loss": 1.0, "good_loss": 0.0}
    times = aqmlab.run(plan, seeds=[1], progress=False).losses["t_s"]
    assert len(times) > 10
    assert times.min() > 5


@pytest.mark.parametrize("tool", [NS2, NS3, TC], ids=["ns2", "ns3", "tc"])
def test_exports_name_a_channel_in_one_line(tool: Any) -> None:
    model = Model.of(aqmlab.Scenario.from_text(text('loss = "1%", reverse_loss = 0')))
    found = [one.sentence for one in tool.differences(model) if one.name == "channel"]
    assert len(found) == 1
    assert "\n" not in found[0]
    if tool is TC:
        assert "tc qdisc add dev DEV root netem delay 20ms loss random 1%" in found[0]


def test_netem_of_this_kernel_loses_as_many() -> None:
    """Compare losses of pings over netem with the probability, where the kernel has netem."""
    words = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c"]
    script = (
        "ip link set lo up && tc qdisc add dev lo root netem loss gemodel 5% 20% && ping -q -f -c 4000 -W 1 127.0.0.1"
    )
    if any(shutil.which(name, path=search_path()) is None for name in ("unshare", "tc", "ping", "ip")):
        pytest.skip("needs unshare, tc, ip and ping")
    done = subprocess.run(
        [*words, script], capture_output=True, text=True, check=False, timeout=60, env={"PATH": search_path()}
    )
    if "packets transmitted" not in done.stdout:
        reason = (done.stderr.strip().splitlines() or ["no message"])[0]
        pytest.skip(f"this kernel has no netem, or no network namespace ({reason})")
    line = next(line for line in done.stdout.splitlines() if "packets transmitted" in line)
    sent, received = (int(line.split()[i]) for i in (0, 3))
    # A ping crosses lo twice: it comes back if neither packet is lost. Losses of neighbours are correlated.
    good = 0.2 / (0.05 + 0.2)
    assert received / sent == pytest.approx(good * (1 - 0.05), abs=0.06)
