"""A module of DualPI2: its numbers as C, and the words of its README."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aqmlab.interop.kernel.parameters import define, header

DUALPI2 = "dualpi2"
DIALECT = "linux"
"""The dialect whose integers a module has."""
DISTANCE = (
    'Numbers and rules are those of `dialect = "linux"` in the simulator: the decisions are equal.',
    "Long segments count as one packet: the queue does not split them (`split_gso` of Linux's dualpi2).",
    "The largest packet is the scenario's `max_packet`, where Linux's dualpi2 takes that of the device.",
    "Only ECT(1) and CE go to queue L (`l4s_ect` of Linux's dualpi2, not `any_ect`).",
)
CHANGES = "It changes the limit."


def dualpi2_h(integers: Mapping[str, Any], parameters: Mapping[str, Any], about: list[str]) -> str:
    """Write ``parameters.h``.

    Parameters
    ----------
    integers
        The core's answer to `aqmlab._core.integers`.
    parameters
        Effective values of the queue, of which tc shows alpha and beta.
    about
        Lines of comment: which queue of which scenario it is.
    """
    return header(about, [define(*definition) for definition in _definitions(integers, parameters)])


def _definitions(integers: Mapping[str, Any], parameters: Mapping[str, Any]) -> Iterator[tuple[str, object, str]]:
    """Yield name, value and comment of each constant."""
    yield "LIMIT", f"{integers['limit']}ULL", "bytes" if integers["limit_in_bytes"] else "packets"
    yield "LIMIT_IN_BYTES", integers["limit_in_bytes"], ""
    yield "MEMLIMIT", f"{integers['memlimit']}ULL", "bytes of buffers"
    yield "TARGET_NS", f"{integers['target_ns']}ULL", "delay of C"
    yield "T_UPDATE_NS", f"{integers['t_update_ns']}ULL", "between two steps of the controller"
    for gain in ("alpha", "beta"):
        yield gain.upper(), f"{integers[gain]}U", "2^-32 in 64 ns"
        yield f"{gain.upper()}_256", f"{round(parameters[gain] * 256)}U", "256ths per s, as tc has it"
    yield "COUPLING", f"{integers['coupling']}U", "k"
    yield "STEP_NS", f"{integers['step_ns']}ULL", "delay above which L is marked"
    yield "STEP_PACKETS", f"{integers['step_packets']}U", "in L, from which on an arrival can be"
    yield "WEIGHT_C", integers["weight_c"], "percent"
    yield "WEIGHT_L", integers["weight_l"], ""
    yield "MTU", f"{integers['mtu']}U", "bytes of the largest packet"
    yield "DROPS_IN_OVERLOAD", integers["drops_in_overload"], "else the buffer fills"
    yield "AT_ARRIVAL", integers["at_arrival"], "decide as a packet arrives, not as it leaves"
