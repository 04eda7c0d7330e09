"""The configuration of a link process; keys that are left out have the defaults of `crates/dataplane/src/config.rs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aqmlab.live.checks import can_be_realtime, can_lock_memory
from aqmlab.scenario.file import Scenario


def link_configuration(
    scenario: Scenario,
    *,
    link: str,
    groups: Sequence[dict[str, Any]],
    ends: dict[str, dict[str, Any]],
    **own: Any,  # noqa: ANN401 - values of any further keys
) -> dict[str, Any]:
    """Return the configuration of a link of a scenario, with the settings of ``[live]``.

    Parameters
    ----------
    scenario, link
        The scenario, and the name of its link.
    groups
        The groups of flows.
    ends
        Namespace and device of each side, ``a`` and ``b``.
    own
        Further keys, and other values of these.
    """
    live = scenario.live
    return {
        "scenario": scenario.text,
        "filename": scenario.filename,
        "overrides": [list(pair) for pair in scenario.overrides],
        "link": link,
        "groups": list(groups),
        **ends,
        **{key: live[key] for key in ("distance", "qosa_bit", "count_bytes")},
        "loss": {"forward": live["loss"], "reverse": live["reverse_loss"]},
        "realtime": {"fifo": can_be_realtime(), "lock_memory": can_lock_memory()},
        "duration_s": None,
        **own,
    }
