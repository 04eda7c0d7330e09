"""Section 10.2: routers L, M and R in a row, a discipline at L and one at M."""

from __future__ import annotations

from collections.abc import Mapping

from aqmlab.rfc7928 import network
from aqmlab.rfc7928.case import SAMPLE_S, Case, Effort
from aqmlab.rfc7928.network import QUEUE, seconds, table
from aqmlab.rfc7928.sensitivity import turned
from aqmlab.rfc7928.settings import Settings
from aqmlab.rfc7928.stability import WARM_UP_S, levels
from aqmlab.rfc7928.traffic import tcp
from aqmlab.scenario.toml_text import Value

FIRST, SECOND = "L-M", "M-R"
SECOND_QUEUE = "aqm-m"
RATES_BPS = {FIRST: network.CAPACITY_BPS / 2, SECOND: network.CAPACITY_BPS}
"""L to M has half the rate of M to R, so that both are congested: senders A cross both, senders B the second."""
TWICE = 2.0
"""Factor between the settings of L and M where they differ."""


def cases(effort: Effort, settings: Settings, other: Settings) -> list[Case]:
    """List the scenarios of section 10.2; `other` is the discipline at M where it is a different one."""
    if settings.is_baseline:
        return [_in_a_row("same", "the same discipline, the same parameters", settings, settings, effort)]
    found = [_in_a_row("same", "the same discipline, the same parameters", settings, settings, effort)]
    second = turned(settings, TWICE)
    if second is not None:
        title = f"the same discipline, its target {TWICE:g} times as large at M"
        found.append(_in_a_row("other parameters", title, settings, second, effort))
    found.append(
        _in_a_row("other discipline", "different disciplines: at M the next one of the list", settings, other, effort)
    )
    return found


def _in_a_row(key: str, title: str, first: Settings, second: Settings, effort: Effort) -> Case:
    """Half of the flows of mild congestion from A over both links, half from B over the second."""
    share = max(1, levels()["mild"] // 2)
    sizes = {link: network.bdp_packets(rate, network.RTT_S) for link, rate in RATES_BPS.items()}
    text = [
        network.head(f"10.2-{key.replace(' ', '-')}", warmup_s=WARM_UP_S, duration_s=effort.measured_s),
        _link("a", "l", "1Gbps", 46.5e-3),
        _link("l", "m", network.bits(RATES_BPS[FIRST]), 1e-3, {"name": FIRST, "queue": QUEUE}),
        _link("m", "r", network.bits(RATES_BPS[SECOND]), 1e-3, {"name": SECOND, "queue": SECOND_QUEUE}),
        _link("b", "m", "1Gbps", 47.5e-3),
        _link("r", "to-a", "1Gbps", 1.5e-3),
        _link("r", "to-b", "1Gbps", 1.5e-3),
        table(f"queue.{QUEUE}", first.queue(buffer=sizes[FIRST])),
        table(f"queue.{SECOND_QUEUE}", second.queue(buffer=sizes[SECOND])),
        table("queue.default", {"aqm": "drop-tail", "limit": "100000p"}),
    ]
    groups = [tcp("a", "senders A, by L and M", count=share), tcp("b", "senders B, by M", count=share)]
    ends = {"a": ("a", "to-a"), "b": ("b", "to-b")}
    for group in groups:
        begin, end = ends[group.name]
        lines = [line for line in group.text.splitlines() if not line.startswith("left")]
        text.append("\n".join([*lines, f'from = "{begin}"', f'to = "{end}"']))
    text.append(network.probe(links=RATES_BPS, sample_s=SAMPLE_S, windows=False))
    return Case(
        section="10.2",
        key=key,
        title=title,
        settings=first,
        text="\n\n".join(text) + "\n",
        groups=tuple(groups),
        begin_s=WARM_UP_S,
        end_s=WARM_UP_S + effort.measured_s,
        rates_bps=RATES_BPS,
        buffer=sizes[SECOND],
        seeds=effort.seeds,
        routes={"a": (FIRST, SECOND), "b": (SECOND,)},
        overrides=(*first.overrides(), *second.overrides(SECOND_QUEUE)),
    )


def _link(begin: str, end: str, rate: str, delay_s: float, more: Mapping[str, Value] | None = None) -> str:
    values: dict[str, Value] = {"from": begin, "to": end, "rate": rate, "delay": seconds(delay_s)}
    return table("[link]", values | dict(more or {}))
