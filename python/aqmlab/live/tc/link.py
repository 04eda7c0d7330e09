"""The bottleneck in user space as the job starts it: the configuration of ``aqmlab-link``.

It stands where tc would: bytes count with Ethernet's header, and the whole round trip's delay is on the way back.
"""

from __future__ import annotations

import json
from typing import Any

from aqmlab.live.link_configuration import link_configuration
from aqmlab.live.tc.setting import Group, Setting


def configuration(setting: Setting) -> dict[str, Any]:
    """Return the configuration of the link process."""
    plan = setting.plan
    return link_configuration(
        plan.scenario,
        link=plan.link,
        groups=[_group(group, setting) for group in setting.groups],
        ends={side: {"netns": f"/run/netns/aql-{n}", "device": f"{n}{side}"} for side, n in (("a", "s"), ("b", "d"))},
        seed=plan.seed,
        warmup_s=setting.warmup_s,
        distance={"rule": "inferred"},
        count_bytes="ethernet",
        loss={},
        realtime={"spin_us": 0, "lock_memory": False},
        drop_capabilities=False,
        snapshot_interval_s=1.0,
        snapshot_flows=False,
    )


def text(configuration: dict[str, Any]) -> bytes:
    """Write a configuration."""
    return json.dumps(configuration).encode()


def _group(group: Group, setting: Setting) -> dict[str, Any]:
    link = setting.plan.scenario.link(setting.plan.link)
    return {
        "name": group.name,
        "prefix_a": [f"10.77.{group.number}.1/32"],
        "prefix_b": [f"10.77.{group.number}.2/32"],
        # The link itself delays on the way there.
        "delay_back_ns": round((group.delay_s - link.delay_s) * 1e9),
        # The router that packets pass where tc is the bottleneck.
        "hops_before": 1,
        "class": group.level,
        "flow_label": "5-tuple",
    }
