"""ns-2 (queue/red.cc, tcl/lib/ns-default.tcl of 2.35) and ns-3 (src/traffic-control/model/red-queue-disc.cc)."""

from __future__ import annotations

from aqmlab.interop.dialects.settings import Dialect, Settings, spacing_note, strange_parts


def exact(own: Settings) -> dict[str, str]:
    """Return the effective values of a system that keeps all numbers as they are, max_p as its inverse."""
    return {
        "min_th": f"{own.min_th:.6g} packets",
        "max_th": f"{own.max_th:.6g} packets",
        "limit": f"{own.limit:.6g} packets",
        "max_p": f"{1 / float(inverse(own)):.9g}",
        "w_q": f"{own.w_q:.9g}",
    }


def inverse(own: Settings) -> str:
    """Return 1/max_p as text (``linterm_``, ``LInterm``)."""
    return f"{1 / max(own.max_p, 1e-9):.9g}"


def ns2(own: Settings, queue: str) -> Dialect:
    """Write settings for ns-2, in Tcl. The queue joins $n1 and $n2."""
    gentle, wait = own.curve == "gentle", own.spacing == "ns2-wait"
    adaptive = own.adaptation == "adaptive-red"
    lines = [
        "Queue/RED set bytes_ false",
        "Queue/RED set queue_in_bytes_ false",
        f"Queue/RED set thresh_ {own.min_th:.9g}",
        f"Queue/RED set maxthresh_ {own.max_th:.9g}",
        f"Queue/RED set linterm_ {inverse(own)}",
        f"Queue/RED set q_weight_ {own.w_q:.9g}",
        f"Queue/RED set mean_pktsize_ {own.mean_packet:.0f}",
        f"Queue/RED set gentle_ {_word(gentle)}",
        f"Queue/RED set wait_ {_word(wait)}",
        f"Queue/RED set adaptive_ {int(adaptive)}",
        f"Queue/RED set setbit_ {_word(own.ecn)}",
        f"$ns simplex-link $n1 $n2 {own.rate_bps / 1e6:.9g}Mb {own.delay_s * 1e3:.9g}ms RED",
        f"$ns queue-limit $n1 $n2 {own.limit:.0f}",
    ]
    notes = [note for note in strange_parts(own, curves=("linear", "gentle")) if not (adaptive and "adapt" in note)]
    if own.spacing != "ns2-wait":
        notes += spacing_note(own, "ns2-nowait", queue)
    return Dialect("ns-2", "ns-2 (Tcl)", "\n".join(lines), exact(own), notes)


def ns3(own: Settings, queue: str) -> Dialect:
    """Write settings for ns-3, in C++."""
    gentle, wait = own.curve == "gentle", own.spacing == "ns2-wait"
    adaptive = own.adaptation == "adaptive-red"
    delay = f"{own.delay_s * 1e3:.9g}ms"
    lines = [
        "TrafficControlHelper helper;",
        'helper.SetRootQueueDisc("ns3::RedQueueDisc",',
        f'    "MinTh", DoubleValue({own.min_th:.9g}), "MaxTh", DoubleValue({own.max_th:.9g}),',
        f'    "LInterm", DoubleValue({inverse(own)}), "QW", DoubleValue({own.w_q:.9g}),',
        f'    "MaxSize", StringValue("{own.limit:.0f}p"), "MeanPktSize", UintegerValue({own.mean_packet:.0f}),',
        f'    "Gentle", BooleanValue({_word(gentle)}), "Wait", BooleanValue({_word(wait)}),',
        f'    "ARED", BooleanValue({_word(adaptive)}), "NLRED", BooleanValue({_word(own.curve == "nlred")}),',
        f'    "UseEcn", BooleanValue({_word(own.ecn)}),',
        f'    "LinkBandwidth", StringValue("{own.rate_bps:.0f}bps"), "LinkDelay", StringValue("{delay}"));',
    ]
    notes = [
        note
        for note in strange_parts(own, curves=("linear", "gentle", "nlred"))
        if not (adaptive and "adaptation" in note)
    ]
    if own.spacing != "ns2-wait":
        notes += spacing_note(own, "ns2-nowait", queue)
    notes.append("the device below has a queue of its own: give it one packet, or the average does not see what waits")
    return Dialect("ns-3", "ns-3 (C++)", "\n".join(lines), exact(own), notes)


def _word(value: bool) -> str:
    return "true" if value else "false"
