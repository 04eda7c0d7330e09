"""The non-RED disciplines against reference models written from their texts: same traffic, same decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import pytest

from aqmlab import _core
from reference_models.compare import DELAY_S, first_difference
from reference_models.non_red import CE, ECT0, ECT1, NOT_ECT, ReferenceModel, course
from reference_models.non_red.choke import Choke
from reference_models.non_red.controllers import DualPi2, Pi, Pi2, Pie
from reference_models.non_red.fair import FqCoDel, FqPie
from reference_models.non_red.laws import Avq, Blue, Cobalt, CoDel, OneBin, Rem, Sred
from reference_models.red import Draws, Law, Settings
from reference_models.traffic import random_traffic

pytestmark = pytest.mark.slow

OPERATIONS = 8_000
RATE_BPS = 2e6


@dataclass(frozen=True)
class Pair:
    """A queue of a scenario file, its reference model, and the events that random traffic must cause."""

    queue: str
    model: Callable[..., ReferenceModel]
    options: dict[str, int]
    visits: tuple[str, ...] = ("early", "departed")


def pair(aqm: str, model: Callable[..., ReferenceModel], *visits: str, words: str = "", **options: int) -> Pair:
    return Pair(f'aqm = "{aqm}"\n{words}', model, options, (*visits, "departed"))


MARKED = ("early", "sojourn", "control-law", "virtual-overflow")
"""Reasons for which a packet is marked in place of its drop."""
ONE_BIN = "levels = 1\nbins = 1\nbin_size = 20\nincrement = 0.05\nrehash = 'never'\n"
APART, TOGETHER = "queues = 65536\nhash_key = 1\n", "queues = 1\nhash_key = 1\nlimit = '40p'\n"
PAIRS = {
    "pi": pair("pi", Pi, "early", "overflow"),
    "pie": pair("pie", Pie, "early"),
    "pie derandomized": pair("pie", Pie, "early", words="derandomize = true", derandomizes=True),
    "pie of appendix B": pair("pie", Pie, "early", words='decay = "half-target"', appendix_b=True),
    "pie in three ranges": pair("pie", Pie, "early", words='auto_tune = "three-ranges"', ranges=2),
    "pie of fixed gains": pair("pie", Pie, "early", words='auto_tune = "off"', ranges=0),
    "pi2": pair("pi2", Pi2, "early"),
    "pi2 at arrival": pair("pi2", Pi2, "early", words='decide = "arriving"', arriving=True),
    "dualpi2": pair("dualpi2", DualPi2, "early", "overload", "overflow", "marked"),
    "blue": pair("blue", Blue, "early", "overflow"),
    "sfb, full bins drop": pair("sfb", OneBin, "early", "full-bin", words=ONE_BIN, drops_full=True),
    "sfb, full bins wait": pair(
        "sfb", OneBin, "early", "penalty-box", words=ONE_BIN + "full_bin = 'never'", drops_full=False
    ),
    "sred": pair("sred", Sred, "early", "overflow", words="zombies = 50"),
    "rem": pair("rem", Rem, "early", "overflow"),
    "avq": pair("avq", Avq, "virtual-overflow"),
    "avq of ns-2": pair("avq", Avq, "virtual-overflow", words="update = 'ns2'", ns2=True),
    "codel": pair("codel", CoDel, "sojourn", "control-law"),
    "cobalt": pair("cobalt", Cobalt, "control-law"),
    "fq-codel": pair("fq-codel", FqCoDel, "sojourn", "control-law", words=APART, limit=10_240),
    "fq-codel of one queue": pair("fq-codel", FqCoDel, "sojourn", "overflow", words=TOGETHER, limit=40, collide=True),
    "fq-pie": pair("fq-pie", FqPie, "early", words=APART, limit=10_240),
    "fq-pie of one queue": pair("fq-pie", FqPie, "early", "overflow", words=TOGETHER, limit=40, collide=True),
}


@pytest.mark.parametrize("ecn", [False, True], ids=["drops", "ecn"])
@pytest.mark.parametrize("one", PAIRS.values(), ids=PAIRS)
def test_model_and_core_agree(one: Pair, *, ecn: bool) -> None:
    rng = Random(9332)
    numbers = [rng.random() for _ in range(3 * OPERATIONS)]
    model = one.model(Draws(numbers), RATE_BPS, **one.options)
    dual = isinstance(model, DualPi2)
    model.ecn = ecn or dual
    queue = one.queue + ("" if dual else f"\necn = {str(ecn).lower()}")
    codes = [NOT_ECT, ECT1, ECT0, CE] if ecn else [NOT_ECT, ECT1] if dual else [NOT_ECT]
    operations, outcomes = course(model, OPERATIONS, rng, codes)
    seen = {reason for one in outcomes for _, reason in one.dropped}
    seen |= {"marked" for one in outcomes if one.marked} | {"departed" for one in outcomes if one.departed is not None}
    assert {"marked" if ecn and visit in MARKED else visit for visit in one.visits} <= seen
    answers = _core.replay(queue, RATE_BPS, DELAY_S, operations, numbers)
    for i, (mine, core) in enumerate(zip(outcomes, answers, strict=True)):
        theirs = (core["dropped"], core["marked"], core["departed"])
        assert (mine.dropped, mine.marked, mine.departed) == theirs, f"operation {i}: {operations[i]}"


@pytest.mark.parametrize("drawn", [1, 3])
def test_choke_and_its_model_agree(drawn: int) -> None:
    rng = Random(2000)
    numbers = [rng.random() for _ in range(8 * OPERATIONS)]

    def model() -> Choke:
        settings = Settings(w_q=0.02, limit=50, spacing="ns2-wait")
        fresh = Choke(settings, [Law(10.0, 35.0, 0.1)], 5e5, Draws(numbers))
        fresh.drawn = drawn
        return fresh

    queue = f"""
aqm = "choke"
limit = "50p"
min_th = "10p"
max_th = "35p"
max_p = 0.1
w_q = 0.02
mean_packet = "1000B"
spacing = "ns2-wait"
guard_one = true
candidates = {drawn}
"""
    recorder = random_traffic(model(), 5e5, OPERATIONS, Random(7))
    assert recorder.seen["waiting packet dropped"] > 20
    difference = first_difference(recorder, queue, 5e5, numbers, model)
    if difference is not None:
        pytest.fail(difference, pytrace=False)
