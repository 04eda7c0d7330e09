"""Scenarios that are run in other simulators too: a network, its queue and its flows, with the known differences.

A case's scenario is the text of a network with the sections of the case. All run 30 s, of which 5 s are warm-up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

HEAD = """format = 1
name = "{name}"

[run]
duration = "30s"
warmup = "5s"
"""
DUMBBELL = """
[dumbbell]
bottleneck = { rate = "10Mbps", delay = "10ms", queue = "bottleneck" }
left = { rate = "100Mbps", delay = "5ms", queue = "access" }
right = { rate = "100Mbps", delay = "7ms", queue = "access" }

[queue.access]
limit = "1000p"
"""
TWO_WAY = DUMBBELL.replace('queue = "bottleneck" }', 'queue = "bottleneck", reverse_queue = "bottleneck" }')
CHAIN = """
[chain]
routers = 4
link = { rate = "10Mbps", delay = "3ms", queue = "bottleneck", reverse_queue = "bottleneck" }
host = { rate = "1Gbps", delay = "1ms", queue = "access" }

[queue.access]
limit = "1000p"

[probe]
links = ["r1->r2", "r2->r3", "r3->r4"]
"""
TWO_HOPS = """
nodes = ["a", "b", "r1", "r2", "r3", "c", "d"]

[[link]]
from = "a"
to = "r1"
rate = "100Mbps"
delay = "1ms"

[[link]]
from = "b"
to = "r2"
rate = "100Mbps"
delay = "2ms"

[[link]]
from = "r1"
to = "r2"
name = "first"
rate = "10Mbps"
delay = "8ms"
queue = "bottleneck"

[[link]]
from = "r2"
to = "r3"
name = "second"
rate = "8Mbps"
delay = "12ms"
queue = "tail"

[[link]]
from = "r2"
to = "c"
rate = "100Mbps"
delay = "3ms"

[[link]]
from = "r3"
to = "d"
rate = "100Mbps"
delay = "1ms"

[queue.tail]
limit = "40p"

[probe]
links = ["first", "second"]
"""
SERVER = """
nodes = ["server", "r1", "r2", "client"]

[[link]]
from = "server"
to = "r1"
rate = "100Mbps"
delay = "5ms"

[[link]]
from = "r1"
to = "r2"
name = "bottleneck"
rate = "10Mbps"
delay = "10ms"
queue = "bottleneck"

[[link]]
from = "r2"
to = "client"
rate = "100Mbps"
delay = "7ms"
"""
RED = """
[queue.bottleneck]
aqm = "{aqm}"
dialect = "ns2-2.35"
limit = "100p"
min_th = "10p"
max_th = "30p"
max_p = 0.1
w_q = 0.002
"""
TAIL = """
[queue.bottleneck]
limit = "{limit}"
"""
TEN = """
[[flow]]
name = "tcp"
count = 10
transport = "{transport}"
start = {{ uniform = ["0s", "1s"] }}
tcp = {{ window = "200p"{further} }}
"""


@dataclass(frozen=True)
class Case:
    """A scenario.

    Attributes
    ----------
    name, about
        Its name, and a description.
    network, queue, flows
        Sections of the scenario.
    other
        Whether the other program has other rules here, so that values may differ.
    control
        Overrides that give ours the other program's rules: with them values must be equal.
    singles
        Single rules of the other program, each tested by itself.
    why
        Cause of a difference.
    """

    name: str
    about: str
    network: str
    queue: str
    flows: str
    other: bool = False
    control: dict[str, object] = field(default_factory=dict)
    singles: dict[str, dict[str, object]] = field(default_factory=dict)
    why: str = ""

    @property
    def text(self) -> str:
        """The scenario file."""
        network = self.network.lstrip("\n")
        nodes, _, rest = network.partition("\n") if network.startswith("nodes") else ("", "", network)
        format_, _, head = HEAD.format(name=self.name).partition("\n")
        return "\n".join(part for part in (format_, nodes, head, rest, self.queue, self.flows) if part)


def odd(case: Case) -> Case:
    """Return a case with rates and delays of which none is a multiple of another."""

    def changed(text: str) -> str:
        for old, new in ODD_NUMBERS.items():
            text = text.replace(old, new)
        return text

    about = f"{case.about}; no rate or delay a multiple of another"
    return Case(f"{case.name}-odd", about, changed(case.network), changed(case.queue), changed(case.flows))


def red(aqm: str = "red", **changed: str) -> str:
    """Return a RED queue with some lines changed or added."""
    lines = RED.format(aqm=aqm).rstrip().splitlines()
    for key, value in changed.items():
        lines = [line for line in lines if not line.startswith(f"{key} = ")]
        if value:
            lines.append(f"{key} = {value}")
    return "\n".join(lines) + "\n"


def tail(limit: str) -> str:
    """Return a drop-tail queue."""
    return TAIL.format(limit=limit)


def ten(transport: str = "newreno", *, count: int = 10, further: str = "") -> str:
    """Return ten greedy flows."""
    return TEN.format(transport=transport, further=f", {further}" if further else "").replace("= 10", f"= {count}")


def udp(name: str, rate: str, *, count: int = 1, size: str = '"1000B"', pattern: str = "") -> str:
    """Return flows of UDP from 6.0001 s to 25 s."""
    lines = [f'name = "{name}"', *([f"count = {count}"] if count > 1 else [])]
    lines += ['transport = "udp"', f'rate = "{rate}"', f"packet_size = {size}"]
    lines += ['start = "6.0001s"', 'stop = "25s"', *([f"pattern = {pattern}"] if pattern else [])]
    return "\n[[flow]]\n" + "\n".join(lines) + "\n"


SIZES = """
[[flow]]
name = "{name}"
count = {count}
packet_size = "{size}"
start = {{ uniform = ["0s", "1s"] }}
tcp = {{ window = "200p" }}
"""
FILES = """
[[flow]]
name = "files"
count = 240
from = "server"
to = "client"
start = { uniform = ["0s", "25s"] }
size = { exponential = "200kB" }
"""
SPREAD = """
[[flow]]
name = "{name}"
count = 5
start = {{ uniform = ["0s", "1s"] }}
tcp = {{ window = "500p" }}
left = {{ rate = "100Mbps", delay = "{delay}", queue = "access" }}
"""
ACROSS = """
[[flow]]
name = "{name}"
count = {count}
from = "{start}"
to = "{end}"
start = {{ uniform = ["0s", "1s"] }}
tcp = {{ window = "100p" }}
"""
EXACT = """
[[flow]]
name = "tcp"
count = 3
transport = "{transport}"
start = ["11.7ms", "403.9ms", "1131.3ms"]
tcp = {{ window = "200p", clock_offset = "3.7ms" }}

[[flow]]
name = "udp"
transport = "udp"
rate = "1.0137Mbps"
packet_size = "700B"
start = "2.0001s"
stop = "20s"
"""
ODD = DUMBBELL.replace("100Mbps", "93.7Mbps").replace("5ms", "5.13ms").replace("7ms", "7.71ms")
AS_STARTED = DUMBBELL.replace('queue = "bottleneck" }', 'queue = "bottleneck", in_service = "as-started" }')
CHANGE = """
[[change]]
at = "12s"
link = "bottleneck"
rate = "5Mbps"

[[change]]
at = "20s"
link = "bottleneck"
rate = "8Mbps"
"""
BURSTS = '{ on = { pareto = { mean = "300ms", shape = 2.5 } }, off = { exponential = "600ms" } }'
ODD_NUMBERS = {
    '"100Mbps"': '"93.7Mbps"',
    'rate = "10Mbps"': 'rate = "9.917Mbps"',
    '"10ms"': '"10.37ms"',
    '"7ms"': '"7.71ms"',
    '"20ms"': '"20.13ms"',
    '"75ms"': '"75.29ms"',
    '"5ms"': '"5.13ms"',
    '"0ms"': '"0.19ms"',
}
"""Rates and delays that are no multiples of one another."""
TIES = (
    "Rates and delays are multiples of one another here, so packets come and go at the same instant, and in ns-2 the "
    "rounding of doubles decides which is first. `{}`, the same with numbers that are no multiples, has no such "
    "instants, and there the difference is gone."
)
NS2_RULES: dict[str, object] = {"queue.bottleneck.dialect": "ns2-2.35"}
NOWAIT: dict[str, object] = {"queue.bottleneck.dialect": "ns2-2.35", "queue.bottleneck.spacing": "ns2-nowait"}
IDLE: dict[str, object] = {"queue.bottleneck.at_idle": "integer", "queue.bottleneck.idle_extra_step": True}
GUARD: dict[str, object] = {"queue.bottleneck.guard_one": True}
SINGLES: dict[str, dict[str, object]] = {
    "only ns-2's idle rule": IDLE,
    "only ns-2's guard of one packet": GUARD,
    "only ns-2's first packet above min_th": {"queue.bottleneck.crossing": "count-one"},
    "only ns-2's spacing": {"queue.bottleneck.spacing": "ns2-nowait"},
}

CROSSING = Case(
    "two-way",
    "RED both ways, data both ways",
    TWO_WAY,
    red(),
    ten() + ACROSS.format(name="back", count=5, start="right", end="left"),
    why=TIES.format("two-way-odd"),
)
SPREAD_OUT = Case(
    "spread-rtts",
    "RED, round-trip times from 34 to 184 ms",
    DUMBBELL,
    red(),
    "".join(SPREAD.format(name=f"d{ms}", delay=f"{ms}ms") for ms in (0, 20, 75)),
    why=TIES.format("spread-rtts-odd"),
)

NS2 = (
    Case("tail-tahoe", "drop-tail, Tahoe", DUMBBELL, tail("60p"), ten("tahoe")),
    Case("tail-reno", "drop-tail, Reno", DUMBBELL, tail("60p"), ten("reno")),
    Case("tail-newreno", "drop-tail, NewReno", DUMBBELL, tail("60p"), ten()),
    Case("tail-sack", "drop-tail, SACK", DUMBBELL, tail("60p"), ten("sack")),
    Case("tail-bytes", "drop-tail, limit in bytes", DUMBBELL, tail("50kB"), ten()),
    Case("tail-exact-reno", "nothing left to chance, Reno", ODD, tail("40p"), EXACT.format(transport="reno")),
    Case("tail-exact-sack", "nothing left to chance, SACK", ODD, tail("40p"), EXACT.format(transport="sack")),
    Case("red", "RED", DUMBBELL, red(), ten()),
    Case("red-nowait", "RED without wait", DUMBBELL, red(spacing='"ns2-nowait"'), ten()),
    Case("red-fast-average", "RED, w_q = 0.02", DUMBBELL, red(w_q="0.02"), ten("reno")),
    Case("red-many", "RED, 50 flows", DUMBBELL, red(), ten(count=50)),
    Case(
        "red-auto",
        "RED, thresholds and weight by ns-2's rules",
        DUMBBELL,
        red(min_th='"auto"', max_th='"auto"', w_q='"auto"'),
        ten("sack"),
    ),
    Case("gentle", "gentle RED", DUMBBELL, red("gentle-red"), ten()),
    Case("gentle-many", "gentle RED, 60 flows", DUMBBELL, red("gentle-red"), ten("sack", count=60)),
    Case("adaptive", "Adaptive RED", DUMBBELL, red("adaptive-red", min_th="", max_th="", max_p="", w_q=""), ten()),
    Case("adaptive-many", "Adaptive RED, 40 flows", DUMBBELL, red("adaptive-red"), ten(count=40)),
    Case("feng", "Feng's self-configuring RED", DUMBBELL, red("feng-red"), ten(count=25)),
    Case("red-bytes", "RED in bytes", DUMBBELL, red(mode='"bytes"', limit='"100kB"'), ten()),
    Case(
        "red-bytes-sizes",
        "RED in bytes, packets of three sizes",
        DUMBBELL,
        red(mode='"bytes"', limit='"100kB"'),
        "".join(SIZES.format(name=f"b{size}", count=5, size=f"{size}B") for size in (300, 700, 1400)),
    ),
    Case("red-ecn", "RED that marks", DUMBBELL, red(ecn="true"), ten(further="ecn = true")),
    Case(
        "gentle-ecn",
        "gentle RED that marks up to p_b = 0.5",
        DUMBBELL,
        red("gentle-red", ecn="true", mark_up_to="0.5"),
        ten("reno", count=30, further="ecn = true"),
    ),
    Case("delayed-acks", "RED, delayed acknowledgements", DUMBBELL, red(), ten(further='delayed_ack = "100ms"')),
    CROSSING,
    odd(CROSSING),
    SPREAD_OUT,
    odd(SPREAD_OUT),
    Case("udp-constant", "gentle RED, UDP at constant rate", DUMBBELL, red("gentle-red"), ten() + udp("cbr", "3Mbps")),
    Case(
        "udp-poisson",
        "RED, Poisson UDP",
        DUMBBELL,
        red(),
        ten() + udp("poisson", "4Mbps", size='"500B"', pattern='"poisson"'),
    ),
    Case(
        "udp-bursts",
        "RED, eight sources of bursts of UDP (Pareto on, exponential off)",
        DUMBBELL,
        red(),
        ten() + udp("bursts", "750kbps", count=8, pattern=BURSTS),
    ),
    Case("files", "RED, 240 files of exponential size from a server", SERVER, red(), FILES),
    Case(
        "rate-changes", "gentle RED, the rate of the link changes twice", AS_STARTED, red("gentle-red"), ten() + CHANGE
    ),
    Case(
        "chain",
        "a chain of four routers with gentle RED",
        CHAIN,
        red("gentle-red"),
        "".join(
            ACROSS.format(name=name, count=4, start=start, end=end)
            for name, start, end in (
                ("long", "r1", "r4"),
                ("first", "r1", "r2"),
                ("middle", "r2", "r3"),
                ("back", "r4", "r3"),
            )
        ),
    ),
    Case(
        "adaptive-lot",
        "Adaptive RED at three links in a row",
        CHAIN,
        red("adaptive-red"),
        "".join(
            ACROSS.format(name=name, count=count, start=start, end=end)
            for name, count, start, end in (
                ("long", 20, "r1", "r4"),
                ("first", 10, "r1", "r2"),
                ("middle", 20, "r2", "r3"),
                ("last", 10, "r3", "r4"),
            )
        ),
    ),
    Case(
        "two-hops",
        "RED, then drop-tail",
        TWO_HOPS,
        red(),
        "".join(
            ACROSS.format(name=n, count=count, start=a, end=b)
            for n, count, a, b in (("both", 8, "a", "d"), ("first", 2, "a", "c"), ("second", 2, "b", "d"))
        ),
    ),
    Case(
        "small-windows",
        "RED, windows of 20 packets, initial window 4",
        DUMBBELL,
        red(),
        ten(count=15, further="initial_window = 4").replace("200p", "20p"),
    ),
    Case(
        "recommended-red",
        "RED as our preset has it",
        DUMBBELL,
        red(dialect=""),
        ten(),
        other=True,
        why="The rules that differ, those of idle times and of the first packet above min_th, account for nothing.",
        control=dict(NS2_RULES),
    ),
    Case(
        "floyd93",
        "RED as printed in 1993",
        DUMBBELL,
        red(dialect='"floyd93"'),
        ten(),
        other=True,
        why="The guard of one packet accounts for all of it: without it packets are dropped from a queue that is as "
        "good as empty.",
        control=NOWAIT,
        singles=SINGLES,
    ),
    Case(
        "linux",
        "RED as Linux has it",
        DUMBBELL,
        red(dialect='"linux"'),
        ten(),
        other=True,
        why="The guard of one packet accounts for goodput, utilization and loss, the idle rule for queue and delay; "
        "those two together for all of it.",
        control=NOWAIT,
        singles={**SINGLES, "only ns-2's guard and idle rule": {**GUARD, **IDLE}},
    ),
    Case(
        "bytes-before-spacing",
        "RED in bytes, p_b scaled by the size as printed in 1993",
        DUMBBELL,
        red(mode='"bytes"', limit='"100kB"', byte_scaling='"before-spacing"'),
        "".join(SIZES.format(name=f"b{size}", count=5, size=f"{size}B") for size in (300, 700, 1400)),
        other=True,
        why="Where the packet's size enters decides who is dropped: scaled before the spacing, small packets fare far "
        "better, and large ones get little.",
        control={"queue.bottleneck.byte_scaling": "after-spacing"},
    ),
    Case(
        "packet-in-service",
        "RED that counts the packet in service",
        DUMBBELL,
        red(in_service_counts="true"),
        ten(),
        other=True,
        why="The average that counts the packet in service is higher by up to one packet at the same queue.",
        control={"queue.bottleneck.in_service_counts": False},
    ),
    Case(
        "no-spacing",
        "RED without a count",
        DUMBBELL,
        red(spacing='"none"'),
        ten(),
        other=True,
        why="ns-2's RED always counts packets since its last drop. Gaps without a count are tested to be geometric "
        "(`crates/aqm/tests/properties.rs`).",
    ),
    Case(
        "mred",
        "MRED",
        DUMBBELL,
        red("mred", dialect=""),
        ten(),
        other=True,
        why="ns-2 2.35 as it is distributed has no MRED. Its curve is tested against an independent oracle "
        "(`crates/aqm/tests/oracle.rs`), the network of its paper against ns-2 with RED ([there](distribution.md)).",
    ),
    Case(
        "cubic",
        "CUBIC as kernels speak it",
        DUMBBELL,
        red(),
        ten("tcp").replace("200p", "200kB"),
        other=True,
        why="ns-2's one-way agents count packets and have no RACK, PRR or time stamps of kernels. Its witnesses are "
        "[ns-3](crosscheck-ns3.md) and [the kernel](kernel.md).",
    ),
)
"""Cases for ns-2: those that it can have exactly, then those of which it has something else, or nothing."""
CASES: dict[str, tuple[Case, ...]] = {"ns2": NS2}
"""Cases by the program that they are for."""
