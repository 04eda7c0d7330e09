"""Scenarios that are run in ns-3 too, and the switches that leave out, one at a time, what one of both does otherwise.

A case's scenario is a network with the sections of the case. By default they run 25 s, of which 5 s are
warm-up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

NETWORK = """format = 1
name = "ns3-{name}"

[run]
duration = "{duration}"
warmup = "{warmup}"

[dumbbell]
bottleneck = {{ rate = "10Mbps", delay = "10ms", queue = "bottleneck" }}
left = {{ rate = "100Mbps", delay = "5ms", queue = "access" }}
right = {{ rate = "100Mbps", delay = "7ms", queue = "access" }}

[queue.access]
limit = "1000p"

[queue.bottleneck]
"""
RED = """aqm = "{aqm}"
dialect = "ns2-2.35"
p_one_is_early = false
mark_up_to = 1
limit = "100p"
min_th = "10p"
max_th = "30p"
max_p = 0.1
w_q = 0.002
mean_packet = "1500B"
"""
TAIL = 'limit = "60p"\n'
BESIDE = 'aqm = "{aqm}"\nlimit = "1000p"\necn = false\n'
TCP = """
[[flow]]
name = "tcp"
count = {count}
transport = "tcp"
start = {{ uniform = ["0s", "1s"] }}
tcp = {{ congestion_control = "{control}"{further} }}
"""
UDP = """
[[flow]]
name = "{name}"
count = {count}
transport = "udp"
rate = "{rate}"
packet_size = "1000B"
start = "0.5s"
pattern = {pattern}
"""
POISSON = '"poisson"'
BURSTS = '{ on = { exponential = "50ms" }, off = { exponential = "150ms" } }'


@dataclass(frozen=True)
class Switch:
    """Something that one of both is made to do, or not to do, as the other does.

    Attributes
    ----------
    title
        Its description.
    words
        Of the command line of ns-3's program.
    exported
        Overrides of the scenario that is written for ns-3.
    ours
        Overrides of the scenario that runs here.
    """

    title: str
    words: tuple[str, ...] = ()
    exported: Mapping[str, str] = field(default_factory=dict)
    ours: Mapping[str, str] = field(default_factory=dict)

    def __add__(self, other: Switch) -> Switch:
        """Both at once."""
        return Switch(
            f"{self.title}; {other.title}",
            self.words + other.words,
            {**self.exported, **other.exported},
            {**self.ours, **other.ours},
        )


AS_IT_IS = Switch("as it is")
GROWTH = Switch("ns-3: no growth by what ends a recovery", ("--growthAtExit=false",))
BEYOND = Switch("ns-3: no slow start beyond the threshold", ("--beyondThreshold=false",))
COUNT = Switch("ns-3: CUBIC forgets what it counted at the plateau", ("--keepsCount=false",))
ONCE = Switch("ns-3: PRR counts what begins a reduction once", ("--markTwice=false",))
CLASSIC = Switch("ns-3: `TcpClassicRecovery`", exported={"flow.tcp.tcp.prr": "false"})
BOTH_CLASSIC = Switch("both without PRR", exported={"flow.tcp.tcp.prr": "false"}, ours={"flow.tcp.tcp.prr": "false"})
COUNTING = Switch("ours: no RACK", ours={"flow.tcp.tcp.rack": "false"})
LEFT = Switch("ns-3: `MinBytes` 1515", ("--ns3::CoDelQueueDisc::MinBytes=1515",))
TWO = Switch("ours: two packets of 1500 B are spared", ours={"queue.bottleneck.mean_packet": "1500B"})
LINUX = Switch("ours: Linux's arithmetic", ours={"queue.bottleneck.dialect": "linux"})

RENO = (
    "ns-3's window grows by the acknowledgement that ends a recovery, which acknowledges a whole window at once: Reno "
    "goes on with a segment more than half of its window. At windows of some ten segments that is a third more drops. "
    "RACK works the other way: it finds more losses, and lost repairs too, without a time-out."
)
ECN = (
    "ns-3's PRR counts the acknowledgement that begins a reduction for a mark twice: when the reduction is entered "
    "(`EnterCwr`), and again when the same acknowledgement is processed (`ProcessAck`). The flow so sends more in the "
    "round trip of its reduction. `TcpClassicRecovery` counts nothing. Nothing is lost here, so the growth at the end "
    "of a recovery and RACK have no part in it."
)
CUBIC = (
    "Slow start of ns-3's CUBIC grows by all that an acknowledgement acknowledges, beyond its threshold. Behind a "
    "time-out that is a whole window at once: a burst, losses, the next time-out; some seeds fall into it, with many "
    "times the loss (ns-3's issue #1126, repaired in 3.43). What is left comes from the plateau, where the window "
    "waits for a hundred windows of acknowledgements: what ns-3 has counted by its end lets the window grow with every "
    "acknowledgement until it is used up, and Linux forgets it."
)
FQ_PIE = (
    "Queues of a flow are short, and ns-3 never drops while two packets wait, of any length; ours while two mean "
    "packets (1000 B) wait. Windows are some six segments, and every rule of recovery counts: beside the growth at its "
    "end and RACK that is PRR, which in ns-3 lets as much be sent as has arrived until a repair is acknowledged, and "
    "here, as in Linux, as much as has not been made up for. The burst allowance of every queue makes a first burst "
    "that takes flows up to 20 s to get over, and longer here without RACK, which is why this runs longer."
)


@dataclass(frozen=True)
class Case:
    """A scenario.

    Attributes
    ----------
    name, about
        Its name, and a description.
    queue, flows
        Sections of the scenario.
    switches
        Each by itself, and the last all that are needed for both to agree.
    why
        The lesson of the switches.
    seeds
        Runs a side.
    duration, warmup
        Of a run.
    """

    name: str
    about: str
    queue: str
    flows: str
    switches: tuple[Switch, ...] = ()
    why: str = ""
    seeds: int = 8
    duration: str = "25s"
    warmup: str = "5s"

    @property
    def text(self) -> str:
        """The scenario file."""
        network = NETWORK.format(name=self.name, duration=self.duration, warmup=self.warmup)
        return network + self.queue + self.flows


def red(aqm: str = "red", further: str = "") -> str:
    """Return a RED queue with ns-3's rules."""
    return RED.format(aqm=aqm) + further


def beside(aqm: str) -> str:
    """Return a queue of another discipline; where flows are hashed, so many queues that they hardly meet."""
    return BESIDE.format(aqm=aqm) + ("queues = 65536\n" if aqm.startswith("fq") else "")


def tcp(control: str = "reno", *, count: int = 10, further: str = "") -> str:
    """Return greedy flows."""
    return TCP.format(control=control, count=count, further=f", {further}" if further else "")


def udp(rate: str, *, name: str = "udp", count: int = 1, pattern: str = POISSON) -> str:
    """Return datagrams."""
    return UDP.format(name=name, count=count, rate=rate, pattern=pattern)


def each(*switches: Switch) -> tuple[Switch, ...]:
    """Return each switch by itself, and all of them together."""
    first, *others = switches
    return (*switches, replace(sum(others, first), title="all of these"))


TEN = each(GROWTH, COUNTING)
THREE = udp("2Mbps", name="slow") + udp("5Mbps", name="middle") + udp("8Mbps", name="fast")
FQ_CODEL = f'{beside("fq-codel")}occupancy = "queue"\n'
"""FQ-CoDel as in ns-3: the rest of a flow's own queue, not of all queues, forbids a drop."""
CASES = (
    Case("poisson", "RED, Poisson UDP at 1.1 times the rate", red(), udp("11Mbps"), seeds=20),
    Case("bursts", "drop-tail, 24 sources of bursts", TAIL, udp("2Mbps", count=24, pattern=BURSTS), seeds=12),
    Case("tail-reno", "drop-tail, ten Reno", TAIL, tcp(), TEN, RENO),
    Case("red-reno", "RED, ten Reno", red(), tcp(), TEN, RENO),
    Case("gentle-reno", "gentle RED, 30 Reno", red("gentle-red"), tcp(count=30), TEN, RENO),
    Case("nlred-reno", "NLRED, ten Reno", red("nlred"), tcp(), TEN, RENO),
    Case("feng-reno", "Feng's self-configuring RED, ten Reno", red("feng-red"), tcp(), TEN, RENO, seeds=96),
    Case("adaptive-reno", "Adaptive RED, ten Reno", red("adaptive-red"), tcp(), TEN, RENO),
    Case(
        "red-ecn",
        "RED that marks, ten Reno",
        red(further="ecn = true\n"),
        tcp(further="ecn = true"),
        (ONCE, CLASSIC, GROWTH, COUNTING, replace(ONCE + GROWTH + COUNTING, title="all but `TcpClassicRecovery`")),
        ECN,
    ),
    Case(
        "gentle-cubic",
        "gentle RED, ten CUBIC",
        red("gentle-red"),
        tcp("cubic", further="tcp_friendly = false"),
        (
            BEYOND,
            BEYOND + COUNT,
            replace(
                BEYOND + COUNT + GROWTH + COUNTING, title="and no growth by what ends a recovery, ours without RACK"
            ),
        ),
        CUBIC,
        seeds=36,
    ),
    Case("red-mixed", "RED, five Reno and 3 Mb/s of UDP", red(), tcp(count=5) + udp("3Mbps"), TEN, RENO, seeds=16),
    Case("codel-udp", "CoDel, Poisson UDP at 1.1 times the rate", beside("codel"), udp("11Mbps"), (LINUX,), seeds=200),
    Case("codel-reno", "CoDel, ten Reno", beside("codel"), tcp(), TEN, RENO),
    Case("fq-codel-udp", "FQ-CoDel, UDP of 2, 5 and 8 Mb/s", FQ_CODEL, THREE, seeds=48),
    Case("fq-codel-reno", "FQ-CoDel, ten Reno", FQ_CODEL, tcp(), each(LEFT, GROWTH, COUNTING), RENO, seeds=24),
    Case("cobalt-udp", "COBALT, Poisson UDP at 1.1 times the rate", beside("cobalt"), udp("11Mbps"), seeds=400),
    Case("cobalt-reno", "COBALT, ten Reno", beside("cobalt"), tcp(), TEN, RENO, seeds=32),
    Case("pie-udp", "PIE, Poisson UDP at 1.1 times the rate", beside("pie"), udp("11Mbps"), seeds=12),
    Case("pie-reno", "PIE, ten Reno", beside("pie"), tcp(), TEN, RENO),
    Case("fq-pie-udp", "FQ-PIE, UDP of 2, 5 and 8 Mb/s", beside("fq-pie"), THREE, seeds=48),
    Case(
        "fq-pie-reno",
        "FQ-PIE, ten Reno, 60 s from 20 s on",
        beside("fq-pie"),
        tcp(),
        each(TWO, GROWTH, COUNTING, BOTH_CLASSIC),
        FQ_PIE,
        seeds=16,
        duration="60s",
        warmup="20s",
    ),
)
