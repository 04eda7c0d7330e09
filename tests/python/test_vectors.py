"""The test vectors of `vectors/` through their runner in Python, for the core and for the reference models."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from abc import ABC, abstractmethod
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from aqmlab import _core
from reference_models.non_red import CE, ECT0, ECT1, NOT_ECT, ReferenceModel
from reference_models.non_red import Packet as OtherPacket
from reference_models.non_red.controllers import Pie
from reference_models.non_red.laws import Blue, Cobalt, CoDel
from reference_models.red import Law, Packet, Red, Settings
from vectors import FILES, FOLDER, run

ECN = {"not-ect": NOT_ECT, "ect0": ECT0, "ect1": ECT1, "ce": CE}


def number(text: str | float) -> Fraction:
    """Return a value of a setting in packets, bytes or seconds."""
    unit = {"ms": Fraction(1, 1000)}
    matched = re.fullmatch(r"([0-9.]+)(ms|s|p|B)?", str(text))
    assert matched is not None, text
    return Fraction(matched[1]) * unit.get(matched[2], 1)


def supported(settings: dict[str, Any], **allowed: object) -> None:
    """Skip the case unless all other settings have the values of the model."""
    for key, value in settings.items():
        if key not in allowed or allowed[key] not in (None, value):
            raise run.UnsupportedError(f"{key} = {value}")


class RedModel:
    """`reference_models.red`."""

    def __init__(self, case: dict[str, Any], rate_bps: int, draws: Any) -> None:
        settings = case["settings"]
        is_floyd93 = settings.get("dialect") == "floyd93"
        keys = ("aqm", "min_th", "max_th", "limit", "w_q", "max_p", "ecn", "dialect", "spacing")
        supported(settings, **dict.fromkeys(keys), mean_packet="1000B")
        self.law = Law(
            float(number(settings["min_th"])),
            float(number(settings["max_th"])),
            settings["max_p"],
            gentle=settings["aqm"] == "gentle-red",
        )
        spacing = "floyd93" if is_floyd93 else settings["spacing"]
        fixed = Settings(
            settings["w_q"],
            int(number(settings["limit"])),
            spacing,
            guard_one=not is_floyd93,
            ecn=settings.get("ecn", False),
        )
        self.model = Red(fixed, [self.law], rate_bps, draws)

    def enqueue(self, t_ns: int, packet: dict[str, Any]) -> dict[str, Any]:
        ect = packet["ecn"] != "not-ect"
        arrival = Packet(packet["id"], packet["length"], packet["flow"], 0, "data", 0, ect, 0, 0, 0)
        decision = self.model.enqueue(1000 * t_ns, arrival)
        reasons = [reason for _, reason in decision.dropped]
        dropped = [number for number, _ in decision.dropped]
        answer = {"dropped": dropped, "marked": list(decision.marked), "state": self.state()}
        return answer if decision.marked else answer | {"reasons": reasons}

    def dequeue(self, t_ns: int) -> dict[str, Any]:
        packet = self.model.dequeue(1000 * t_ns)
        return {"id": None if packet is None else packet.number, "state": self.state()}

    def state(self) -> dict[str, float]:
        average = self.model.averages[0].value
        p_b = self.law.p_b(average)
        return {"packets": len(self.model.queue), "average": average, "p_b": p_b, "count": self.law.count}


class OtherModel(ABC):
    """A model of `reference_models.non_red` with times as fractions of a second, so that boundaries are hit exactly."""

    def __init__(self, case: dict[str, Any], rate_bps: int, draws: Any) -> None:
        self.model = self.create(case["settings"], rate_bps, draws)
        self.model.limit = int(number(case["settings"]["limit"]))
        self.model.ecn = case["settings"].get("ecn", False)

    @abstractmethod
    def create(self, settings: dict[str, Any], rate_bps: int, draws: Any) -> ReferenceModel:
        """Return an empty queue of the model."""

    @abstractmethod
    def state(self) -> dict[str, float]:
        """Return the numbers of the model that a vector's state has."""

    def enqueue(self, t_ns: int, packet: dict[str, Any]) -> dict[str, Any]:
        now: Any = Fraction(t_ns, 10**9)
        arrival = OtherPacket(packet["id"], packet["length"], packet["flow"], ECN[packet["ecn"]], now)
        return self.answer(self.model.enqueue(now, arrival))

    def dequeue(self, t_ns: int) -> dict[str, Any]:
        now: Any = Fraction(t_ns, 10**9)
        outcome, _ = self.model.dequeue(now)
        return self.answer(outcome) | {"id": outcome.departed}

    def answer(self, outcome: Any) -> dict[str, Any]:
        answer = {"dropped": [number for number, _ in outcome.dropped], "marked": outcome.marked, "state": self.state()}
        return answer if outcome.marked else answer | {"reasons": [reason for _, reason in outcome.dropped]}


def picoseconds(interval: Any, count: int) -> Any:
    """Return the time of the control law to the picosecond."""
    return Fraction(round(float(interval) * 1e12 / math.sqrt(count)), 10**12)


class ExactCoDel(CoDel):
    def law(self, t: Any) -> Any:
        return t + picoseconds(self.interval, self.count)


class ExactCobalt(Cobalt):
    def law(self, t: Any) -> Any:
        return t + picoseconds(self.interval, max(1, self.count))


class CoDelModel(OtherModel):
    def create(self, settings: dict[str, Any], rate_bps: int, draws: Any) -> CoDel:
        supported(settings, **dict.fromkeys(("aqm", "limit", "target", "interval", "ecn")), max_packet="1514B")
        model = ExactCoDel(draws, rate_bps)
        fraction: Any = number
        model.target, model.interval = fraction(settings["target"]), fraction(settings["interval"])
        self.codel = model
        return model

    def state(self) -> dict[str, float]:
        return {"packets": len(self.codel.queue), "count": self.codel.count, "dropping": self.codel.dropping}


class CobaltModel(OtherModel):
    def create(self, settings: dict[str, Any], rate_bps: int, draws: Any) -> Cobalt:
        supported(settings, **dict.fromkeys(("aqm", "limit", "target", "interval", "ecn")), max_packet="1514B")
        rate: Any = Fraction(rate_bps)
        model = ExactCobalt(draws, rate)
        fraction: Any = number
        model.target, model.interval = fraction(settings["target"]), fraction(settings["interval"])
        self.cobalt = model
        return model

    def state(self) -> dict[str, float]:
        model = self.cobalt
        return {"packets": len(model.queue), "count": model.count, "p_drop": model.p_drop}


class PieModel(OtherModel):
    def create(self, settings: dict[str, Any], rate_bps: int, draws: Any) -> Pie:
        keys = ("aqm", "limit", "target", "max_burst", "alpha", "beta", "ecn", "derandomize", "decay")
        supported(settings, **dict.fromkeys(keys), t_update="15ms", mean_packet="1000B", mark_up_to=0.1)
        options = {"derandomizes": settings.get("derandomize", False), "appendix_b": "decay" in settings}
        model = Pie(draws, rate_bps, **options)
        fraction: Any = number
        model.period, model.target = fraction("15ms"), fraction(settings["target"])
        model.alpha, model.beta = settings["alpha"], settings["beta"]
        model.burst, model.burst_steps = 0, -(-number(settings["max_burst"]) // number("15ms"))
        self.pie = model
        return model

    def state(self) -> dict[str, float]:
        return {"packets": len(self.pie.queue), "p": self.pie.p, "delay": float(self.pie.delay)}


class BlueModel(OtherModel):
    def create(self, settings: dict[str, Any], rate_bps: int, draws: Any) -> Blue:
        supported(settings, **dict.fromkeys(("aqm", "limit", "freeze_time", "d1", "d2", "ecn")))
        model = Blue(draws, rate_bps)
        fraction: Any = number
        model.last_update = fraction(0)
        model.freeze_time = fraction(settings["freeze_time"])
        model.d1, model.d2 = settings["d1"], settings["d2"]
        self.blue = model
        return model

    def state(self) -> dict[str, float]:
        return {"packets": len(self.blue.queue), "p_m": self.blue.p_m}


MODELS = {
    "red": (RedModel, 12),
    "red-floyd93": (RedModel, 14),
    "gentle-red": (RedModel, 12),
    "gentle-red-floyd93": (RedModel, 14),
    "codel": (CoDelModel, 14),
    "cobalt": (CobaltModel, 4),
    "pie": (PieModel, 10),
    "blue": (BlueModel, 7),
}


@pytest.mark.parametrize("name", MODELS)
def test_reference_models_decide_as_the_vectors(name: str) -> None:
    model, least = MODELS[name]
    results = run.run_file(model, FOLDER / f"{name}.jsonl")
    skipped = [text for text in results.values() if text and text.startswith("skipped: ")]
    failures = {case: text for case, text in results.items() if text and text not in skipped}
    assert not failures, failures
    assert len(results) - len(skipped) >= least, results


def core_answers(settings: str, rate_bps: int, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the core's answers to the events of a case, in the form of the runner."""
    operations, draws = [], []
    for event in events:
        names = {"class": "cls", "length": "bytes"}
        fields = {names.get(key, key): value for key, value in event.items()}
        keys = ("bytes", "flow", "dscp", "cls", "kind", "ttl", "ttl_initial", "ttl_final")
        packet = {key: fields[key] for key in keys if key in fields} | {"ecn": ECN.get(event.get("ecn", ""), 0)}
        operations.append((1000 * event["t_ns"], packet if event["op"] == "enqueue" else None))
        draws += event["random"]
    answers, drawn = [], 0
    for answer in _core.replay(settings, rate_bps, 0.0, operations, draws, True):
        drops = [number for number, _ in answer["dropped"]]
        answers.append({"dropped": drops, "marked": answer["marked"], "state": answer["gauges"]})
        answers[-1] |= {"id": answer["departed"], "drawn": answer["draws"] - drawn}
        drawn = answer["draws"]
    return answers


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_core_decides_as_the_vectors(path: Path) -> None:
    for case, events, rate_bps in run.cases(path):
        for event, answer in zip(events, core_answers(case["text"], rate_bps, events), strict=True):
            if event["op"] == "enqueue":
                del answer["id"]
            assert not list(run.differences(event, answer, answer["drawn"])), (case["case"], event, answer)


def test_runner_prints_failures_and_exits(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        """class Mine:
    def __init__(self, case, rate_bps, draws):
        self.ids = []
    def enqueue(self, t_ns, packet):
        self.ids.append(packet["id"])
        return {"decision": "enqueue"}
    def dequeue(self, t_ns):
        return {"id": self.ids.pop(0) if self.ids else None}
"""
    )
    command = [sys.executable, str(FOLDER / "run.py"), "mine:Mine", str(FOLDER / "drop-tail.jsonl")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "0 of 5 cases pass" in done.stdout
    assert "decision: drop expected, not enqueue" in done.stdout


@pytest.mark.parametrize(
    ("answer", "passes"),
    [
        ({}, False),
        (None, False),
        ({"decision": "drop", "decison": "drop"}, False),
        ({"decision": "drop", "state": {"avrage": 1.0}}, False),
        ({"decision": "drop", "state": {"packets": 0}}, True),
    ],
)
def test_runner_finds_answers_that_compare_nothing(answer: Any, passes: bool) -> None:
    class Fixed:
        def __init__(self, case: dict[str, Any], rate_bps: int, draws: Any) -> None:
            pass

        def enqueue(self, t_ns: int, packet: dict[str, Any]) -> Any:
            return answer

    event = {"op": "enqueue", "t_ns": 0, "random": [], "decision": "drop", "state": {"packets": 0}}
    assert (run.run_case(Fixed, {"line": 1}, [event], 1) is None) == passes


@pytest.mark.parametrize("text", ["", "x", '{"format":2}', '{"format":1}', '{"format":1}\n{"op":"enqueue"}'])
def test_runner_rejects_files_without_cases(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    with pytest.raises(SystemExit, match=r"bad\.jsonl"):
        list(run.cases(path))
