"""Questions of our own."""

from __future__ import annotations

from aqmlab.papers.common import Runs, Tests, literal, strict
from aqmlab.papers.pc_red.claim_words import CLAIMS


@CLAIMS.claim(
    "O1",
    "As an admission limit, r_p_max works",
    quote="The paper names a largest share r_p_max but no mechanism. Here four more flows ask for priority in Network "
    "1 once two of 16 have it; the router rejects them, since the share would pass 0.13.",
    own=True,
)
def admission(runs: Runs) -> Tests:
    at_limit = runs.of("high_a_d", "refuse").between(63, 77)
    gains = runs.of("non_class", "refuse") > runs.of("non_class", "no limit")
    yield literal(at_limit, name="a_d at L", why="L and a tenth of it.")
    yield literal(gains, name="Non gains")
    yield strict(at_limit, name="a_d at L")
    yield strict(gains, name="Non gains")
    yield strict(runs.of("late_ratio", "refuse").between(0.9, 1.1), name="rejected flows are as Non")


@CLAIMS.claim(
    "O2",
    "Without the limit, the first high-priority flows have less",
    quote="Above r_p_max the paper expects difficulties to keep high-priority flows at a high throughput.",
    own=True,
)
def without_limit(runs: Runs) -> Tests:
    whole, mean = (runs.of(name, "refuse") > runs.of(name, "no limit") for name in ("high_class", "high_mean"))
    yield literal(whole)
    yield strict(whole)
    yield strict(mean)


@without_limit.objection("The limit costs the flows that it rejects, not those that it admits.")
def _(runs: Runs) -> str:
    high, late, non = (runs.gain(f"{group}_class", "refuse", over="no limit") for group in ("high", "late", "non"))
    return (
        f"Class means with the limit less those without: {high} KB/s for the first high-priority flows, {late} for "
        f"those that ask later, {non} for the others."
    )


@without_limit.note()
@admission.note()
def _(runs: Runs) -> str:
    none, warn, refuse = (
        "{}, {} and {}".format(*(runs.of(f"{group}_class", case) for group in ("high", "late", "non")))
        for case in ("no limit", "warn", "refuse")
    )
    return (
        f"Class means in KB/s of High, late and Non: {none} without a limit; {warn} with one that warns; {refuse} with "
        "one that rejects."
    )


@CLAIMS.claim(
    "O3",
    "Time for decisions makes RED's queue swing as PC-RED's does",
    quote="The paper explains the larger fluctuation by the time that the additional functions need (section 5). Here "
    "RED takes 0.8 ms for each packet, a tenth of its transmission.",
    own=True,
)
def decision_time(runs: Runs) -> Tests:
    why = "A tenth of a packet is little beside the printed 2 and 5."
    yield literal(runs.gain("average_sd", "decision time", over="RED") > 0.1, why=why)
    yield strict(runs.of("average_sd", "decision time") > 0.9 * runs.of("average_sd", "PC-RED"))


@decision_time.objection("The time may be another one.")
def _(runs: Runs) -> str:
    slow = runs.of("queue_mean", "decision time").less("RED")
    return (
        "A time before each transmission is that of a slower link, whose queue RED holds at the same place: the mean "
        f"queue changes by {slow} packets."
    )


@decision_time.note()
def _(runs: Runs) -> str:
    red, slow, full = (runs.of("average_sd", case) for case in ("RED", "decision time", "PC-RED"))
    return f"S.d. of the average: {red} packets under RED, {slow} with 0.8 ms a decision, {full} under PC-RED."
