"""The settings: one of each switch that was reported, and 20 around each.

| family | switch | varied settings |
|---|---|---|
| `mark` | `mark_at_bound = false` (``mark_p_``) | mark_p_, thresholds, weight, slope, wait_, traffic |
| `forced` | `forced_at = "end"` (``use_mark_p_ false``) | curve, max_p, thresholds, weight, wait_, setbit_, traffic |
| `wred` | `idle_when = "class-empty"` (``setMREDMode WRED``) | classes, thresholds, weight, limit, packets, traffic |
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

AROUND = 20
"""Settings around the one of a family."""


@dataclass(frozen=True)
class Case:
    """A queue and its traffic.

    `rate` in bit/s, `limit` in packets, `mean_packet` in bytes. `red`: variables of ``Queue/RED``. `classes` of WRED
    hold min_th, max_th (packets), max_p; all have the weight `w_q`. `traffic`: commands of the Tcl script.
    """

    family: str
    name: str
    rate: int
    limit: int
    mean_packet: int
    w_q: float
    traffic: tuple[str, ...]
    seed: int
    seconds: float
    red: dict[str, str] = field(default_factory=dict)
    classes: tuple[tuple[int, int, float], ...] = ()

    @property
    def queue(self) -> dict[str, Any]:
        """The parameters of the queue in our words."""
        common = {"limit": f"{self.limit}p", "mean_packet": f"{self.mean_packet}B", "w_q": self.w_q}
        if self.family == "wred":
            names = ("min_th", "max_th", "max_p")
            classes = [dict(zip(names, one, strict=True)) for one in self.classes]
            return {"dialect": "dsred", "averages": "shared", **common, "class": classes}
        red = self.red
        low, high = float(red["thresh_"]), float(red["maxthresh_"])
        own = {
            "dialect": "ns2-2.35",
            "min_th": low if low < high else high * (1 - 1e-6),
            "max_th": high,
            "max_p": 1.0 / float(red["linterm_"]),
            "curve": "gentle" if red["gentle_"] == "true" else "linear",
            "spacing": "ns2-wait" if red["wait_"] == "true" else "ns2-nowait",
            "ecn": red["setbit_"] == "true",
        }
        if red["use_mark_p_"] == "false":
            # Without use_mark_p_ ns-2 marks at any p_b.
            return {**own, **common, "p_one_is_early": False, "mark_up_to": 1.0, "mark_at_bound": True}
        return {**own, **common, "mark_up_to": float(red["mark_p_"])}


def red_case(family: str, name: str, seed: int, settings: dict[str, Any], **other: Any) -> Case:
    """Return a case of ``Queue/RED``; `other` replaces fields of the case."""
    red = {
        "thresh_": 8,
        "maxthresh_": 24,
        "linterm_": 10,
        "q_weight_": 0.02,
        "mean_pktsize_": 1000,
        "gentle_": "false",
        "wait_": "true",
        "setbit_": "true",
        "use_mark_p_": "true",
        "mark_p_": 0.1,
        **settings,
    }
    values: dict[str, Any] = {
        "rate": 8_191_999,
        "limit": 60,
        "mean_packet": red["mean_pktsize_"],
        "w_q": float(red["q_weight_"]),
        "traffic": TRAFFIC,
        "seconds": 3.0,
        **other,
    }
    return Case(family, name, seed=seed, red={key: str(value) for key, value in red.items()}, **values)


TRAFFIC = (
    "tcp 1 960 17.3Mb 7.3ms 0.011",
    "tcp 1 960 23.9Mb 11.7ms 0.057",
    "tcp 0 960 31.1Mb 4.1ms 0.131",
    "on_off 3.1e6 571 0.05 0.11 0.02",
)
"""Two ECN-capable connections, one that is not, and bursts of UDP."""


def traffic(draw: random.Random) -> tuple[str, ...]:
    """Return connections and bursts of random number, lengths and delays."""
    flows = [
        f"tcp {int(draw.random() < 0.75)} {draw.choice((960, 511, 1460))} {draw.uniform(11, 60):.3f}Mb "
        f"{draw.uniform(2, 25):.3f}ms {draw.uniform(0.01, 0.3):.4f}"
        for _ in range(draw.randint(2, 5))
    ]
    return (*flows, f"on_off {draw.uniform(1e6, 6e6):.0f} {draw.choice((571, 1033))} 0.05 0.11 0.02")


def mark_cases() -> list[Case]:
    """Marks up to and at mark_p_: stock ns-2 marks where p_b is below it."""
    step = {"thresh_": 20, "maxthresh_": 20, "q_weight_": 1.0, "linterm_": 1, "mark_p_": 1.0, "wait_": "false"}
    found = [red_case("mark", "named", 101, step, limit=250)]
    draw = random.Random(42)
    for number in range(AROUND):
        low = draw.choice((4, 6, 8, 12, 16))
        settings = {
            "thresh_": low,
            "maxthresh_": draw.choice((low, low + 4, low + 8, low + 16)),
            "q_weight_": draw.choice((1.0, 1.0, 0.5, 0.02)),
            "linterm_": draw.choice((1, 2, 4, 10)),
            "mark_p_": draw.choice((1.0, 1.0, 0.5, 0.25, 0.125, 0.1)),
            "gentle_": draw.choice(("false", "true")),
            "wait_": draw.choice(("false", "true")),
        }
        case = red_case("mark", f"around-{number + 1:02}", 110 + number, settings, limit=draw.choice((40, 100, 250)))
        found.append(_with_traffic(case, draw))
    return found


def forced_cases() -> list[Case]:
    """p_b = 1 below the average from which ns-2 drops without a draw, with ``use_mark_p_`` false."""
    named = {"linterm_": 1, "gentle_": "true", "use_mark_p_": "false", "setbit_": "false", "q_weight_": 1.0}
    found = [red_case("forced", "named", 201, {**named, "thresh_": 5, "maxthresh_": 5})]
    draw = random.Random(43)
    for number in range(AROUND):
        low = draw.choice((2, 4, 8, 11))
        settings = {
            "thresh_": low,
            "maxthresh_": draw.choice((low, low + 1, low + 4, 2 * low)),
            "q_weight_": draw.choice((1.0, 1.0, 0.5, 0.1, 0.02)),
            "linterm_": draw.choice((1, 1, 1, 2, 10)),
            "gentle_": draw.choice(("true", "true", "true", "false")),
            "wait_": draw.choice(("false", "true")),
            "setbit_": draw.choice(("false", "true")),
            "use_mark_p_": "false",
        }
        case = red_case("forced", f"around-{number + 1:02}", 210 + number, settings, limit=draw.choice((20, 40, 100)))
        found.append(_with_traffic(case, draw))
    return found


def wred_cases() -> list[Case]:
    """One average of all classes, idle whenever none of the departing packet's class waits."""
    draw = random.Random(44)
    found = [
        Case(
            "wred",
            "named",
            8_000_000,
            60,
            1000,
            0.2,
            ("on_off 0 1.01e6 1000 0.02 0.05 0.013", "on_off 1 14.03e6 613 0.1 0.07 0.031"),
            301,
            3.0,
            classes=((12, 30, 0.1), (3, 12, 0.2)),
        )
    ]
    for number in range(AROUND):
        classes = draw.randint(2, 3)
        low, high = draw.choice((8, 15)), draw.choice((25, 40))
        thresholds = tuple(
            (max(1, low - 3 * i), high - 6 * i, draw.choice((0.05, 0.1, 0.5, 1.0))) for i in range(classes)
        )
        flows = tuple(
            f"on_off {i} {draw.uniform(3e6, 12e6):.0f} {draw.choice((1000, 613, 211))} {draw.uniform(0.02, 0.1):.3f} "
            f"{draw.uniform(0.02, 0.2):.3f} {draw.uniform(0.01, 0.1):.4f}"
            for i in range(classes)
            for _ in range(2)
        )
        case = Case(
            "wred",
            f"around-{number + 1:02}",
            draw.choice((4_000_000, 8_000_000, 10_000_000)),
            draw.choice((30, 60)),
            draw.choice((500, 1000)),
            draw.choice((0.01, 0.05, 0.2)),
            flows,
            310 + number,
            3.0,
            classes=thresholds,
        )
        found.append(case)
    return found


def _with_traffic(case: Case, draw: random.Random) -> Case:
    return replace(case, traffic=traffic(draw), rate=draw.choice((4_999_999, 8_191_999, 12_345_677)))


def cases() -> list[Case]:
    """All cases."""
    return [*mark_cases(), *forced_cases(), *wred_cases()]
