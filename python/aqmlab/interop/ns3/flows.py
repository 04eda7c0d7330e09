"""Flows in the words of ns-3 3.37 (src/internet/model), and their features that it lacks.

ns-3's TCP counts bytes, as kernels do: transport ``tcp`` (profile ``rfc``) is what it can be compared with. Flows of
the profile ``ns2-2.35`` are written too, as the byte TCP that is nearest.

| ours | ns-3 |
|---|---|
| ``congestion_control`` reno, cubic | ``TcpLinuxReno``, ``TcpCubic`` |
| newreno, sack (reno as newreno) | ``TcpNewReno`` without and with ``Sack``, ``TcpClassicRecovery`` |
| ``prr`` | ``TcpPrrRecovery``, else ``TcpClassicRecovery`` |
| ``mss`` (``packet_size``), ``header`` | ``SegmentSize``, so long that packets have the scenario's length |
| ``initial_window``, ``initial_ssthresh`` | ``InitialCwnd``, ``InitialSlowStartThreshold`` |
| ``window`` | ``SndBufSize``, in whole segments (256 KiB at most if it stops); ``RcvBufSize`` is twice that |
| ``delayed_ack`` | ``DelAckCount``, ``DelAckTimeout`` |
| ``min_rto``, ``rto_floor_on_variance``, ``initial_rto`` | ``MinRto``, ``ClockGranularity``, ``ConnTimeout`` |
| ``sack``, ``timestamps``, ``limited_transmit``, ``ecn`` | ``Sack``, ``Timestamp``, ``LimitedTransmit``, ``UseEcn`` |
| ``hystart``, ``fast_convergence`` | ``TcpCubic::HyStart``, ``TcpCubic::FastConvergence`` |
| ``pacing`` | ``TcpSocketState::EnablePacing`` |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aqmlab.interop.formatting import flag, number
from aqmlab.interop.model import NS2_PROFILE
from aqmlab.interop.ns3.formatting import seconds
from aqmlab.scenario.parts import UDP, Flow, mean_of

HEADERS = 40
"""Bytes of the headers of IPv4 and TCP."""
TIMESTAMPS = 12
"""Bytes of the time stamps' option, with its padding."""
IP_AND_UDP = 28
"""Bytes of the headers of IPv4 and UDP."""
RETRIES = 1_000_000
"""A connection does not give up."""
PAUSING_BUFFER = 262_144
"""Most bytes in the send buffer, and so in the window, of a flow that stops: it still sends the buffer's contents."""
CONTROLS = {"reno": "ns3::TcpLinuxReno", "cubic": "ns3::TcpCubic"}
ROOMIER = 2
"""Receiver's buffer over the sender's, which is the window: a sender of ns-3 3.37 that has sent all of the receiver's
window and may send more, since packets were lost, makes an empty segment and ends with a segmentation fault
(ns-3's issue 991). With less in its own buffer it never gets there."""
NS2_VARIANTS = ("reno", "newreno", "sack")
"""Variants of the profile ns2-2.35 for which ns-3 has something near."""


@dataclass(frozen=True)
class TcpKind:
    """How both ends of a connection are made.

    Attributes
    ----------
    packet, segment
        Bytes of a full packet, and of the payload in it.
    control, recovery
        Types of congestion control and recovery.
    attributes
        Of the sockets.
    defaults
        Attributes that ns-3 sets for all connections at once.
    """

    packet: int
    segment: int
    control: str
    recovery: str
    attributes: tuple[tuple[str, str], ...]
    defaults: tuple[tuple[str, str], ...]


def tcp_of(flow: Flow) -> TcpKind:
    """Return how a connection is made."""
    own = flow.parameters
    of_ns2 = own["profile"] == NS2_PROFILE
    packet, segment = packet_bytes(flow), segment_bytes(flow)
    full = int(own["packet_size"] if of_ns2 else own["mss"])
    window = int(own["window"]) * full if of_ns2 else int(own["window"])
    pauses = flow.stop_s is not None or bool(flow.again)
    room = max(window // full, 2) * segment
    attributes = {
        "SegmentSize": str(segment),
        "InitialCwnd": number(own["initial_window"]),
        "SndBufSize": str(min(room, PAUSING_BUFFER) if pauses else room),
        "RcvBufSize": str(ROOMIER * room),
        "DelAckCount": "2" if own["delayed_ack"] else "1",
        "MinRto": seconds(own["min_rto"]),
        "ConnTimeout": seconds(own["initial_rto"]),
        "DataRetries": str(RETRIES),
        "Sack": flag(sacks(flow)),
        "Timestamp": flag(own["timestamps"]),
        "LimitedTransmit": flag(own["limited_transmit"]),
        "UseEcn": "On" if own["ecn"] else "Off",
    }
    if own["delayed_ack"]:
        attributes["DelAckTimeout"] = seconds(own["delayed_ack"])
    if own.get("rto_floor_on_variance"):
        attributes["ClockGranularity"] = seconds(own["min_rto"])
    if own["initial_ssthresh"] is not None:
        attributes["InitialSlowStartThreshold"] = number(float(own["initial_ssthresh"]) * segment)
    elif of_ns2:
        attributes["InitialSlowStartThreshold"] = number(int(own["window"]) * segment)
    return TcpKind(
        packet=packet,
        segment=segment,
        control="ns3::TcpNewReno" if of_ns2 else CONTROLS[own["congestion_control"]],
        recovery="ns3::TcpPrrRecovery" if own.get("prr") else "ns3::TcpClassicRecovery",
        attributes=tuple(attributes.items()),
        defaults=tuple(_defaults(own).items()),
    )


def packet_bytes(flow: Flow) -> int:
    """Bytes of a full packet of TCP, or of a packet of UDP on average."""
    own = flow.parameters
    if flow.transport == UDP:
        return round(mean_of(own["packet_size"]))
    if own["profile"] == NS2_PROFILE:
        return int(own["packet_size"]) + int(own["header"]) + (10 if own["timestamps"] else 0)
    return int(own["mss"]) + int(own["header"])


def segment_bytes(flow: Flow) -> int:
    """Payload with which ns-3's packets have the scenario's length."""
    return max(1, packet_bytes(flow) - header_bytes(flow))


def header_bytes(flow: Flow) -> int:
    """Bytes of ns-3's headers of a packet with data."""
    if flow.transport == UDP:
        return IP_AND_UDP
    return HEADERS + (TIMESTAMPS if flow.parameters["timestamps"] else 0)


def sacks(flow: Flow) -> bool:
    """Whether a connection has selective acknowledgements."""
    return bool(flow.parameters.get("sack", flow.transport == "sack"))


def size_bytes(flow: Flow) -> Any:  # noqa: ANN401 - a number or a distribution
    """Payload of a flow: 0 without end, or a distribution."""
    size = flow.parameters["size"]
    if size is None or isinstance(size, dict):
        return size or 0
    return float(size) * segment_bytes(flow)


def _defaults(own: dict[str, Any]) -> dict[str, str]:
    made = {}
    if own.get("congestion_control") == "cubic":
        made["ns3::TcpCubic::HyStart"] = flag(own["hystart"] != "off")
        made["ns3::TcpCubic::FastConvergence"] = flag(own["fast_convergence"])
    if own.get("pacing"):
        made["ns3::TcpSocketState::EnablePacing"] = "true"
    return made
