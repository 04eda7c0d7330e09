"""Every discipline and reading that is compared: its text in a scenario file, and the reference model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reference_models.adaptive_rio import Adaptation, AdaptiveRio
from reference_models.ddred import Ddred, DdredTail, Search
from reference_models.pc_red import PcRed, Protection
from reference_models.red import Draws, Law, Settings
from reference_models.rio import AF11, Rio, RioDecoupled
from reference_models.traffic import ReferenceModel
from reference_models.wred import Wred

PROBABILISTIC = ("early", "forced", "overflow", "nothing waits", "one packet waits")
"""States that random traffic has to visit, for every queue that has a law."""
WITH_VICTIM = (*PROBABILISTIC, "arriving packet dropped", "waiting packet dropped")


@dataclass(frozen=True)
class Reading:
    """One queue, for the core as the body of a `[queue.NAME]` table."""

    name: str
    queue: str
    model: Callable[[Draws], ReferenceModel]
    rate_bps: float
    visits: tuple[str, ...]
    levels: int = 1
    """Priority levels of the precious flows."""


def pc_red(name: str, protection: Protection | None = None, *, guard_one: bool = True, levels: int = 1) -> Reading:
    p = protection or Protection()
    rate_bps = 5e5
    queue = f"""
aqm = "pc-red"
limit = "50p"
min_th = "10p"
max_th = "35p"
max_p = 0.1
w_q = 0.004
mean_packet = "1000B"
curve = "linear"
spacing = "ns2-wait"
guard_one = {word(guard_one)}
loss_limit = {sizes(p.limits)}
loss_interval = "{p.g:g}s"
loss_weight = {p.w}
status_refresh = "{p.status_refresh}"
scan = "{p.scan}"
loss_start = {p.loss_start}
search = "{p.search}"
qosa = "{p.qosa}"
loss_decay = "{p.loss_decay}"
"""
    settings = Settings(w_q=0.004, limit=50, spacing="ns2-wait", guard_one=guard_one)
    return Reading(
        f"pc-red {name}",
        queue,
        lambda draws: PcRed(settings, Law(10.0, 35.0, 0.1), p, rate_bps, draws),
        rate_bps,
        WITH_VICTIM,
        levels=levels,
    )


def sizes(limits: Sequence[float]) -> str:
    """A size, or a list of them."""
    texts = [f'"{limit:g}B"' for limit in limits]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def ddred(
    name: str,
    search: Search | None = None,
    *,
    guard_one: bool = True,
    ecn: bool = False,
    mark_forced: bool = False,
) -> Reading:
    s = search or Search()
    rate_bps = 1e7
    queue = f"""
aqm = "ddred"
limit = "50p"
min_th = "5p"
max_th = "15p"
max_p = 0.1
w_q = 0.0008
mean_packet = "1000B"
curve = "gentle"
spacing = "ns2-wait"
guard_one = {word(guard_one)}
ecn = {word(ecn)}
mark_forced = {word(mark_forced)}
distance = "{s.distance}"
unknown_fraction = {s.unknown}
ties = "{s.ties}"
arrival_is_candidate = {word(s.arrival_is_candidate)}
search = "{s.reach}"
"""
    settings = Settings(0.0008, 50, "ns2-wait", guard_one, ecn, mark_forced)
    return Reading(
        f"ddred {name}",
        queue,
        lambda draws: Ddred(settings, Law(5.0, 15.0, 0.1, gentle=True), s, rate_bps, draws),
        rate_bps,
        (*WITH_VICTIM, "marked") if ecn else WITH_VICTIM,
    )


def ddred_tail(n: int, distance: str = "ttl") -> Reading:
    queue = f"""
aqm = "ddred-tail"
limit = "50p"
last_n = {n}
distance = "{distance}"
unknown_fraction = 1.0
"""
    return Reading(
        f"ddred-tail last {n} {distance}",
        queue,
        lambda draws: DdredTail(50, n, Search(distance=distance)),
        1e7,
        ("overflow", "nothing waits", "one packet waits", "arriving packet dropped", "waiting packet dropped"),
    )


@dataclass(frozen=True)
class Class:
    """One class of packets with the law it is under; without code points it takes all other packets."""

    name: str
    dscp: tuple[int, ...]
    min_th: float
    max_th: float
    max_p: float

    def text(self) -> str:
        packets = f"dscp = {list(self.dscp)}" if self.dscp else "default = true"
        law = f'min_th = "{self.min_th}p"\nmax_th = "{self.max_th}p"\nmax_p = {self.max_p}'
        return f'[[class]]\nname = "{self.name}"\n{packets}\n{law}\n'


IN_AND_OUT = (Class("in", (AF11,), 40.0, 70.0, 0.02), Class("out", (), 5.0, 15.0, 0.1))
FOUR = (
    Class("af11", (AF11,), 30.0, 60.0, 0.02),
    Class("af12", (12,), 20.0, 40.0, 0.05),
    Class("af13", (46,), 10.0, 30.0, 0.05),
    Class("rest", (), 5.0, 15.0, 0.1),
)
IN_OR_OUT = (*PROBABILISTIC, "early, precious arrival", "forced, precious arrival", "overflow, precious arrival")


def rio(
    name: str,
    kind: type[Rio],
    classes: Sequence[Class] = IN_AND_OUT,
    *,
    aqm: str = "rio",
    averages: str = "coupled",
    guard_one: bool = True,
) -> Reading:
    rate_bps = 1e6
    queue = f"""
aqm = "{aqm}"
averages = "{averages}"
limit = "100p"
w_q = 0.002
mean_packet = "1000B"
curve = "linear"
spacing = "floyd93"
guard_one = {word(guard_one)}
{"".join(each.text() for each in classes)}"""
    settings = Settings(w_q=0.002, limit=100, spacing="floyd93", guard_one=guard_one)
    code_points = {dscp: k for k, each in enumerate(classes) for dscp in each.dscp}

    def model(draws: Draws) -> Rio:
        return kind(settings, [Law(c.min_th, c.max_th, c.max_p) for c in classes], code_points, rate_bps, draws)

    return Reading(f"{aqm} {name}", queue, model, rate_bps, IN_OR_OUT)


def adaptive_rio(name: str, adaptation: Adaptation | None = None) -> Reading:
    a = adaptation or Adaptation()
    rate_bps = 1e6
    queue = f"""
aqm = "adaptive-rio"
averages = "coupled"
limit = "100p"
w_q = 0.002
mean_packet = "1000B"
curve = "linear"
spacing = "floyd93"
guard_one = true
max_l = "{a.max_l:g}p"
max_u = "{a.max_u:g}p"
alpha = {a.alpha}
c_init = {a.c_init}
delta_c = {a.delta_c}
delta_t = {a.beta}
epsilon = {a.epsilon}
adapt_clock = "{a.clock}"
trend = "{a.trend}"
adapt_interval = "{a.interval:g}s"
absence = "{a.absence:g}s"
tsw_window = "{a.window:g}s"
{"".join(each.text() for each in IN_AND_OUT)}"""
    settings = Settings(w_q=0.002, limit=100, spacing="floyd93")
    return Reading(
        f"adaptive-rio {name}",
        queue,
        lambda draws: AdaptiveRio(
            settings, [Law(40.0, 70.0, 0.02), Law(5.0, 15.0, 0.1)], {AF11: 0}, a, rate_bps, draws
        ),
        rate_bps,
        IN_OR_OUT,
    )


def word(value: bool) -> str:
    return "true" if value else "false"


READINGS = [
    pc_red("as recommended"),
    pc_red("limit 300 B", Protection(limits=(300.0,))),
    pc_red("status when a packet arrives", Protection(limits=(300.0,), status_refresh="on-arrival")),
    pc_red("circular scan", Protection(limits=(300.0,), scan="circular")),
    pc_red("list at the pick", Protection(limits=(300.0,), status_refresh="at-pick")),
    pc_red("list at the pick, circular scan", Protection(limits=(70.0,), status_refresh="at-pick", scan="circular")),
    pc_red("a_d from 0", Protection(limits=(300.0,), loss_start=0.0)),
    pc_red("search at early drops", Protection(limits=(300.0,), search="early")),
    pc_red("whole intervals", Protection(limits=(300.0,), loss_decay="floor")),
    pc_red("no guard", guard_one=False),
    pc_red("bit of an earlier queue", Protection(limits=(300.0,), qosa="honoured")),
    pc_red(
        "bit of an earlier queue, circular scan", Protection(scan="circular", qosa="honoured", limits=(70.0, 300.0))
    ),
    pc_red("three levels", Protection(limits=(70.0, 300.0, 150.0)), levels=3),
    pc_red("two limits for three levels", Protection(limits=(300.0, 100.0), status_refresh="on-arrival"), levels=3),
    ddred("as recommended"),
    ddred("oldest of equals", Search(ties="oldest")),
    ddred("any of equals", Search(ties="random"), guard_one=False),
    ddred("arriving packet is a candidate", Search(arrival_is_candidate=True)),
    ddred("early drops only", Search(reach="early")),
    ddred("fraction of the way", Search(distance="fraction")),
    ddred("fraction of the way, unknown is 0", Search(distance="fraction", unknown=0.0)),
    ddred("no guard", guard_one=False),
    ddred("ECN", ecn=True),
    ddred("ECN, forced marks too", ecn=True, mark_forced=True),
    ddred("ECN, candidate, oldest", Search(arrival_is_candidate=True, ties="oldest"), ecn=True),
    ddred_tail(1),
    ddred_tail(5),
    ddred_tail(5, "fraction"),
    ddred_tail(50),
    rio("coupled", Rio),
    rio("coupled, no guard", Rio, guard_one=False),
    rio("coupled, four classes", Rio, FOUR, aqm="wred"),
    rio("decoupled", RioDecoupled, averages="decoupled"),
    rio("shared", Wred, averages="shared"),
    rio("shared", Wred, FOUR, aqm="wred", averages="shared"),
    adaptive_rio("as recommended"),
    adaptive_rio("short window, wide band", Adaptation(c_init=0.5, delta_c=0.02, epsilon=0.2, absence=3.0, window=1.0)),
    adaptive_rio("either trend", Adaptation(trend="either")),
    adaptive_rio("by a timer", Adaptation(clock="timer", window=1.0)),
]
