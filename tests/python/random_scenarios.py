"""Random scenarios for tests: small, quickly run, and of all kinds that a scenario file can have.

A scenario is drawn as the tables of its file, together with the `kinds` of things that are in it, so that a test can
show that all of them occur.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from hypothesis import strategies as st

import aqmlab
from aqmlab.scenario.registry import controllers
from aqmlab.scenario.toml_text import Value, inline

NETWORKS = ("explicit", "dumbbell", "chain", "bus", "flower", "torus", "diffserv")
DISCIPLINES = {discipline.name: discipline for discipline in aqmlab.disciplines() if not discipline.foreign}
AQMS = tuple(DISCIPLINES)
WITH_CLASSES = ("rio", "wred", "adaptive-rio")
VARIANTS = ("tahoe", "reno", "newreno", "sack")
CODE_POINTS = ("BE", "AF11", "AF12", "AF13", "EF", "CS3")

DELAYS = {
    "no delay": ("0s", "0s", "5us"),
    "equal delays": ("1ms",),
    "short delays": ("100us", "250us", "250us", "1ms"),
    "long delays": ("1ms", "2ms", "5ms", "5ms", "10ms", "12345us"),
    "all delays": ("0s", "20us", "100us", "333us", "1ms", "1ms", "5ms", "17ms"),
}
PALETTES = (*("short delays", "long delays", "all delays") * 2, "no delay", "equal delays")
RATES = ("1Mbps", "2Mbps", "2Mbps", "3Mbps", "5Mbps", "10Mbps")
HOST_RATES = ("5Mbps", "10Mbps", "10Mbps", "33Mbps", "100Mbps")

RED_OPTIONS: dict[str, dict[str, Value]] = {
    "marks where it would drop all": {"ecn": True, "mark_forced": True},
    "bytes": {"mode": "bytes", "mean_packet": "600B"},
    "curve points": {"curve": "points", "points": [[2, 0], [6, 0.1], [12, 0.5], [20, 1]]},
    "curve gentle": {"curve": "gentle"},
    "curve mred": {"curve": "mred"},
    "curve nlred": {"curve": "nlred"},
    "spacing none": {"spacing": "none"},
    "spacing ns2-wait": {"spacing": "ns2-wait"},
    "dialect linux": {"dialect": "linux"},
    "dialect floyd93": {"dialect": "floyd93"},
    "dialect ns2": {"dialect": "ns2-2.35"},
    "dialect as printed": {"dialect": "as-printed"},
    "victim ddred": {"victim": "ddred"},
    "victim ddred, ties by chance": {"victim": "ddred", "ties": "random"},
    "victim pc-red": {"victim": "pc-red", "loss_limit": "2KB", "loss_interval": "50ms"},
    "victim pc-red with levels": {"victim": "pc-red", "loss_limit": ["300B", "1KB", "4KB"], "loss_interval": "50ms"},
    "victim pc-red that honours": {"victim": "pc-red", "loss_limit": "1KB", "qosa": "honoured"},
    "feng": {"adaptation": "feng"},
    "adaptive red": {"adaptation": "adaptive-red", "adapt_interval": "30ms"},
    "adaptive red by a timer": {"adaptation": "adaptive-red", "adapt_interval": "30ms", "adapt_clock": "timer"},
    "load by a timer": {"adaptation": "load", "adapt_interval": "70ms", "adapt_clock": "timer"},
    "packet in service counts": {"in_service_counts": True},
    "full first": {"full_first": True},
    "no guard": {"guard_one": False},
    "idle when none waits": {"idle_when": "none-waiting"},
    "idle when a class is empty": {"idle_when": "class-empty"},
    "forced at the end": {"forced_at": "end", "crossing": "count-one", "max_p": 1.0},
    "overflows keep the count": {"overflow_restarts": False},
    "marks below the bound": {"ecn": True, "mark_up_to": 0.05, "mark_at_bound": False},
}
TCP_OPTIONS: dict[str, dict[str, Value]] = {
    "delayed acks": {"delayed_ack": "100ms"},
    "acks delayed a little": {"delayed_ack": "2ms"},
    "small window": {"window": "5p"},
    "large window": {"window": "500p"},
    "initial window": {"initial_window": "10p"},
    "short time-outs": {"min_rto": "10ms", "tick": "1ms", "initial_rto": "100ms"},
    "no syn": {"syn": False},
    "no limited transmit": {"limited_transmit": False},
    "time stamps": {"timestamps": True},
    "bursts limited": {"max_burst": "3p"},
    "clocks in phase": {"clock_offset": "3ms"},
    "long acks": {"ack_size": "200B"},
}
RFC_OPTIONS: dict[str, dict[str, Value]] = {
    "every segment acknowledged": {"delayed_ack": False},
    "every packet answered at once": {"delayed_ack": False, "sack_compression": False},
    "acks delayed": {"delayed_ack": "5ms", "quick_acks": 0},
    "small window": {"window": "20KB"},
    "small segments": {"mss": "536B"},
    "initial window": {"initial_window": "2p", "initial_ssthresh": "8p"},
    "short time-outs": {"min_rto": "20ms", "initial_rto": "200ms"},
    "time-outs as in RFC 6298": {"min_rto": "1s", "rto_floor_on_variance": False},
    "no sack": {"sack": False, "rack": False, "frto": False},
    "no rack": {"rack": False},
    "no prr": {"prr": False},
    "no frto and no undo": {"frto": False, "undo": False},
    "no limited transmit": {"limited_transmit": False},
    "hystart off": {"hystart": "off"},
    "hystart++": {"hystart": "rfc9406"},
    "cubic as in RFC 9438": {"whole_segments": False},
    "cubic alone": {"tcp_friendly": False, "fast_convergence": False},
    "pacing": {"pacing": True},
    "no time stamps": {"timestamps": False},
    "no idle restart": {"idle_restart": False},
    "quic": {"loss_detection": "quic"},
    "quic, few acks": {
        "loss_detection": "quic",
        "ack_ratio": "10p",
        "delayed_ack": "8ms",
        "reordering_threshold": "3p",
    },
}
CONGESTION_CONTROLS: dict[str, tuple[Value, ...]] = {
    name: (*([True] if "classic" in one.ecn else []), *(word for word in one.ecn if word != "off"))
    for name, one in controllers().items()
}
"""Values of ``ecn`` that each controller allows."""
MARKERS: dict[str, dict[str, Value]] = {
    "token-bucket": {},
    "tsw2cm": {"window": "100ms"},
    "tsw3cm": {"pir": "2Mbps", "window": "50ms"},
    "srtcm": {"cbs": "5KB", "ebs": "10KB"},
    "trtcm": {"pir": "2Mbps", "cbs": "5KB", "pbs": "10KB"},
}
BUCKETS: dict[str, dict[str, Value]] = {
    "token bucket": {"burst": "4KB"},
    "token bucket with a peak rate": {"burst": "9KB", "peakrate": "40Mbps", "mtu": "1600B"},
}
FRAMINGS: dict[str, dict[str, Value]] = {
    "overhead": {"overhead": 38, "mpu": 84},
    "atm": {"overhead": 40, "linklayer": "atm"},
    "ptm": {"overhead": -10, "linklayer": "ptm"},
}
PATTERNS: dict[str, Value] = {
    "constant": "constant",
    "poisson": "poisson",
    "on and off": {"on": "20ms", "off": "35ms"},
    "on and off by chance": {"on": {"exponential": "30ms"}, "off": {"pareto": {"mean": "40ms", "shape": 1.5}}},
}
LENGTHS: dict[str, Value] = {
    "fixed": "700B",
    "uniform": {"uniform": ["40B", "1500B"]},
    "exponential": {"exponential": "600B"},
}
APPLICATIONS: dict[str, dict[str, Value]] = {
    "page": {"web": {"objects": 9, "size": "3KB", "connections": 3}},
    "page with pauses": {"web": {"objects": 12, "size": {"cdf": "web-search"}, "connections": 2, "think": "20ms"}},
    "page by chance": {
        "web": {"objects": 20, "size": {"exponential": "8KB"}, "connections": 4, "think": {"exponential": "10ms"}}
    },
    "connection of objects": {"web": {"objects": 30, "size": {"cdf": [[100, 0.5], [20000, 1]]}, "connections": 1}},
    "video by its buffer": {
        "video": {"ladder": ["100kbps", "300kbps", "900kbps"], "segment": "250ms", "buffer": "1500ms"}
    },
    "video by throughput": {
        "video": {"ladder": ["50kbps", "400kbps", "2Mbps"], "segment": "200ms", "rule": "throughput", "window": 3}
    },
    "video that ends": {"video": {"segment": "100ms", "length": "600ms", "buffer": "1s", "startup": "200ms"}},
}
SERVERS: dict[str, dict[str, Value]] = {
    "cellular": {"cellular": "8Mbps", "volatility": 1.0, "outage": "20ms", "step": "5ms"},
    "leo": {"leo": "7Mbps", "handover": "80ms", "gap": "10ms"},
    "wifi": {"wifi": "20Mbps", "txop": "2ms", "contention_burst": "50ms"},
    "wifi alone": {"wifi": "10Mbps", "contention": 0, "aggregate": "4p"},
    "docsis": {"docsis": "4Mbps", "channel": "50Mbps"},
    "opportunities": {"trace": "1*3 4 9*2 17 18 19 25*9 90"},
    "rates over time": {"trace": "0:6000000 30000000:0 50000000:12000000 400000000:4000000 1000000000:0"},
}
CHANNELS: dict[str, dict[str, Value]] = {
    "loss": {"loss": "1%"},
    "correlated loss": {"loss": {"probability": 0.05, "correlation": 0.3}},
    "bursts of losses": {"loss": {"p": 0.01, "r": 0.3, "bad_loss": 0.8, "good_loss": 0.001}},
    "listed losses": {"loss": {"packets": [3, 4, 11, 40], "period": 90}},
    "jitter": {"jitter": "2ms"},
    "normal jitter": {"jitter": {"deviation": "300us", "distribution": "normal", "correlation": 0.25}},
    "jitter in order": {"jitter": {"deviation": "1ms", "distribution": "paretonormal", "order": "kept"}},
    "reordering": {"reorder": 0.02},
    "reordering with a gap": {"reorder": {"probability": 0.5, "gap": 7, "correlation": 0.1}},
    "handover": {"handover_step": "3ms", "handover": "70ms"},
    "duplication": {"duplicate": 0.02},
}
"""Keys of links for their channels."""
INTERVALS = ("queue_interval", "cwnd_interval", "flow_interval", "discipline_interval")

ALL_KINDS = frozenset(
    f"{group}: {name}"
    for group, names in {
        "network": (*NETWORKS, "one-way links"),
        "delays": DELAYS,
        "aqm": AQMS,
        "queue": RED_OPTIONS,
        "qosa": ("overwritten", "honoured"),
        "priority": ("one level", "several levels"),
        "flow": (
            *VARIANTS,
            "udp",
            "scream",
            "finite",
            "sizes drawn",
            "ends drawn",
            "ecn",
            "stops",
            "stops and goes on",
        ),
        "tcp": TCP_OPTIONS,
        "rfc": (*RFC_OPTIONS, *CONGESTION_CONTROLS),
        "udp": PATTERNS,
        "udp length": LENGTHS,
        "application": (*APPLICATIONS, "call"),
        "marker": (*MARKERS, "policer"),
        "server": (*SERVERS, *BUCKETS),
        "framing": FRAMINGS,
        "channel": CHANNELS,
        "change": ("rate", "delay", "channel", "kept", "flushed"),
        "routing": ("multipath", "shortest backup"),
        "probe": ("all", "events", "packets", "losses", "flow_delay", *INTERVALS),
    }.items()
    for name in names
)
"""All kinds of things that a scenario may have."""

Table = dict[str, Value]
T = TypeVar("T")


@dataclass(frozen=True)
class Drawn:
    """A scenario as text, a seed, and the kinds of things it contains."""

    text: str
    seed: int
    kinds: frozenset[str]


@dataclass
class Draft:
    """A scenario while it is drawn."""

    draw: st.DrawFn
    kinds: set[str] = field(default_factory=set)
    delays: tuple[str, ...] = ()
    ecn: bool = False
    """Whether queues mark and most TCP can be marked."""
    links: list[str] = field(default_factory=list)
    """Names of links between routers."""

    def one(self, choices: Sequence[T]) -> T:
        return self.draw(st.sampled_from(choices))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def maybe(self, one_in: int) -> bool:
        return self.number(1, one_in) == one_in

    def kind(self, group: str, name: str) -> str:
        self.kinds.add(f"{group}: {name}")
        return name

    def some(self, group: str, options: Mapping[str, Mapping[str, Value]], most: int) -> Table:
        """Some of the options, the later ones over the earlier ones."""
        found: Table = {}
        for name in self.draw(st.lists(st.sampled_from(list(options)), max_size=most, unique=True)):
            found |= options[self.kind(group, name)]
        return found

    def queue(self) -> str:
        return self.one(("one", "one", "two", "access"))

    def line(self, rates: Sequence[str]) -> Table:
        """Return a rate or another server, and a delay."""
        found: Table = {"rate": self.one(rates), "delay": self.one(self.delays)}
        if self.maybe(10):
            found["rate"] = SERVERS[self.kind("server", self.one(list(SERVERS)))]
        elif self.maybe(10):
            found["rate"] = {"tbf": found["rate"], **BUCKETS[self.kind("server", self.one(list(BUCKETS)))]}
        if self.maybe(8):
            found |= FRAMINGS[self.kind("framing", self.one(list(FRAMINGS)))]
        return found

    def trunk(self) -> Table:
        found: Table = {**self.line(RATES), "queue": self.queue()}
        found |= {"reverse_queue": self.queue()} if self.maybe(2) else {}
        return found | self.channel("reverse")

    def channel(self, way_back: str) -> Table:
        """Keys of a link's channel, mostly none; for one direction or both."""
        if not self.maybe(6):
            return {}
        found = self.some("channel", CHANNELS, most=2)
        if "reorder" in found and CHANNELS["jitter in order"]["jitter"] == found.get("jitter"):
            del found["reorder"]
        return (
            {f"{way_back}_{key}": value for key, value in found.items()}
            if self.maybe(3) and "handover" not in found
            else found
        )

    def host(self) -> Table:
        found = self.line(HOST_RATES)
        if self.maybe(3):
            found["queue"] = self.queue()
        found |= {"uplink_queue": "access"} if self.maybe(3) else {}
        return found | self.channel("uplink")


Ends = Callable[[], Table]


@st.composite
def scenarios(draw: st.DrawFn) -> Drawn:
    """Draw a scenario; nearly all are valid."""
    draft = Draft(draw)
    draft.delays = DELAYS[draft.kind("delays", draft.one(PALETTES))]
    if draft.maybe(3):
        draft.ecn = True
        draft.kind("flow", "ecn")
    milliseconds = draft.number(300, 4000)
    tables: dict[str, object] = {"run": {"duration": f"{milliseconds}ms"}}
    if draft.maybe(3):
        tables["run"] = {"duration": f"{milliseconds}ms", "warmup": f"{milliseconds // 4}ms"}
    network = draft.kind("network", draft.one(NETWORKS))
    own, ends = NETWORK_TABLES[network](draft)
    tables |= own
    tables["queue"] = {"one": queue(draft), "two": queue(draft), "access": {"limit": f"{draft.number(5, 200)}p"}}
    flows = [flow(draft, f"f{i}", network, ends, milliseconds) for i in range(draft.number(1, 4))]
    tables["flow"] = flows
    if draft.maybe(3):
        tables["marker"] = {"m": marker(draft, [str(one["name"]) for one in flows])}
    changed = changes(draft, milliseconds) if draft.maybe(3) else []
    changed += failures(draft, milliseconds) if draft.maybe(3) else []
    if changed:
        tables["change"] = changed
    if draft.maybe(2):
        tables["routing"] = routing(draft)
    tables["probe"] = probe(draft)
    return Drawn(f"format = 1\n{written(tables)}", draft.number(1, 1000), frozenset(draft.kinds))


def written(tables: Mapping[str, object]) -> str:
    """Tables as TOML: one for a mapping, several for a list, ``[queue.NAME]`` and ``[marker.NAME]`` by their names."""
    lines: list[str] = []

    def section(head: str, body: Mapping[str, Value]) -> None:
        lines.extend(["", head, *(f"{key} = {inline(value)}" for key, value in body.items())])

    for name, content in tables.items():
        if isinstance(content, list):
            for one in content:
                section(f"[[{name}]]", one)
        elif isinstance(content, dict) and name in ("queue", "marker"):
            for key, one in content.items():
                section(f"[{name}.{key}]", one)
        elif isinstance(content, dict):
            section(f"[{name}]", content)
    return "\n".join([*lines, ""])


# Networks: their tables, and how a flow says where it goes.


def explicit(draft: Draft) -> tuple[dict[str, object], Ends]:
    """A tree with some links more, some of them two one-way links of their own."""
    nodes = [f"n{i}" for i in range(draft.number(3, 7))]
    pairs = [(draft.one(nodes[:i]), nodes[i]) for i in range(1, len(nodes))]
    for _ in range(draft.number(0, 3)):
        pair = (draft.one(nodes), draft.one(nodes))
        if pair[0] != pair[1] and pair not in pairs and pair[::-1] not in pairs:
            pairs.append(pair)
    links: list[Table] = []
    for a, b in pairs:
        draft.links.append(f"{a}->{b}")
        if draft.maybe(6):
            draft.kind("network", "one-way links")
            for start, end in ((a, b), (b, a)):
                trunk = draft.trunk()
                trunk = {key: value for key, value in trunk.items() if not key.startswith("reverse_")}
                links.append({"from": start, "to": end, **trunk, "duplex": False})
        else:
            links.append({"from": a, "to": b, **draft.trunk()})

    def ends() -> Table:
        start = draft.number(0, len(nodes) - 1)
        onward = draft.number(1, len(nodes) - 1)
        return {"from": nodes[start], "to": nodes[(start + onward) % len(nodes)]}

    return {"link": links}, ends


def dumbbell(draft: Draft) -> tuple[dict[str, object], Ends]:
    draft.links.append("bottleneck")
    tables: dict[str, object] = {"dumbbell": {"bottleneck": draft.trunk(), "left": draft.host(), "right": draft.host()}}

    def ends() -> Table:
        found: Table = {"from": draft.one(("left", "left", "right"))}
        return found | ({"left": {"delay": draft.one(draft.delays)}} if draft.maybe(4) else {})

    return tables, ends


def chain(draft: Draft) -> tuple[dict[str, object], Ends]:
    routers = draft.number(2, 5)
    draft.links.extend(f"r{i}->r{i + 1}" for i in range(1, routers))

    def ends() -> Table:
        start, onward = draft.number(1, routers), draft.number(1, routers - 1)
        found: Table = {"from": f"r{start}", "to": f"r{(start + onward - 1) % routers + 1}"}
        return found | ({"host_from": {"delay": draft.one(draft.delays)}} if draft.maybe(4) else {})

    return {"chain": {"routers": routers, "link": draft.trunk(), "host": draft.host()}}, ends


def shared(draft: Draft, name: str, routers: int, own: Table) -> tuple[dict[str, object], Ends]:
    """A network with hosts that flows share."""
    per_router = draft.number(1, 2)
    hosts = [f"h{i}" for i in range(1, routers * per_router + 1)]
    draft.links.append("r1->r2")
    body: Table = {**own, "hosts": per_router, "link": draft.trunk(), "host": draft.host()}

    def ends() -> Table:
        start = draft.one(("each", "random", *hosts))
        end = "random" if start == "each" else draft.one(("random", *(h for h in hosts if h != start)))
        if "random" in (start, end):
            draft.kind("flow", "ends drawn")
        return {"from": start, "to": end}

    return {name: body}, ends


def bus(draft: Draft) -> tuple[dict[str, object], Ends]:
    routers = draft.number(2, 6)
    return shared(draft, "bus", routers, {"routers": routers})


def flower(draft: Draft) -> tuple[dict[str, object], Ends]:
    petals, routers = draft.number(2, 3), draft.number(2, 3)
    own: Table = {"petals": petals, "routers": routers}
    return shared(draft, "flower", petals * routers, own | ({"core": draft.trunk()} if draft.maybe(2) else {}))


def torus(draft: Draft) -> tuple[dict[str, object], Ends]:
    rows, columns = draft.number(1, 3), draft.number(2, 3)
    return shared(draft, "torus", rows * columns, {"rows": rows, "columns": columns})


def diffserv(draft: Draft) -> tuple[dict[str, object], Ends]:
    draft.links.extend(["edge", "core"])
    body: Table = {"source": draft.host(), "edge": draft.trunk(), "core": draft.trunk(), "sink": draft.host()}
    return {"diffserv": body}, dict


NETWORK_TABLES: dict[str, Callable[[Draft], tuple[dict[str, object], Ends]]] = {
    "explicit": explicit,
    "dumbbell": dumbbell,
    "chain": chain,
    "bus": bus,
    "flower": flower,
    "torus": torus,
    "diffserv": diffserv,
}


def queue(draft: Draft) -> Table:
    """A discipline, small enough to drop in a short run."""
    aqm = draft.kind("aqm", draft.one(AQMS))
    low = draft.number(2, 8)
    body: Table = {"aqm": aqm, "limit": f"{draft.number(6, 12) * low}p"}
    if aqm == "drop-tail":
        return {"aqm": aqm, "limit": draft.one(("3p", "10p", "30p", "15KB"))}
    if aqm == "ddred-tail":
        return {"aqm": aqm, "limit": draft.one(("3p", "10p")), "last_n": draft.number(1, 3)}
    body |= {"ecn": True} if draft.ecn and DISCIPLINES[aqm].parameter("ecn") else {}
    if DISCIPLINES[aqm].parameter("min_th") is None:
        return body
    body["w_q"] = draft.draw(st.sampled_from([0.002, 0.02, 0.2, 1.0]))
    if aqm in WITH_CLASSES:
        curves = [(low, 3 * low, 0.2), (2 * low, 4 * low, 0.1), (3 * low, 5 * low, 0.05)]
        body["class"] = classes(curves, three=draft.maybe(2) and aqm == "wred")
        options = {} if aqm == "adaptive-rio" else {"averages": draft.one(("coupled", "decoupled", "shared"))}
        if aqm == "adaptive-rio":
            options = {"max_l": f"{low}p", "max_u": f"{4 * low}p", "adapt_interval": "40ms", "absence": "100ms"}
        return body | options
    body |= {"min_th": f"{low}p", "max_th": f"{draft.number(2, 3) * low}p", "mean_packet": "1000B"}
    body["max_p"] = draft.draw(st.sampled_from([0.02, 0.1, 0.3, 0.6]))
    if aqm == "adaptive-red":
        body["adapt_interval"] = "25ms"
    if aqm == "load-red":
        body |= {"adapt_interval": "60ms", "max_l": f"{low}p", "max_u": f"{5 * low}p"}
    if aqm == "pc-red":
        limits: list[Value] = ["2KB", ["500B", "2KB"], ["300B", "1KB", "4KB"]]
        body |= {"loss_limit": draft.draw(st.sampled_from(limits)), "loss_interval": "60ms"}
        body["qosa"] = draft.kind("qosa", draft.one(("overwritten", "honoured")))
    return body | draft.some("queue", RED_OPTIONS, most=3)


def classes(curves: Sequence[tuple[int, int, float]], *, three: bool) -> list[Value]:
    """Two classes or three, the most precious first."""
    code_points = [["AF11", "EF"], ["AF12"], []] if three else [["AF11", "EF"], []]
    found: list[Value] = []
    for number, dscp in enumerate(code_points):
        low, high, max_p = curves[len(code_points) - 1 - number]
        who: Table = {"dscp": dscp} if dscp else {"default": True}
        found.append({"name": f"c{number}", **who, "min_th": f"{low}p", "max_th": f"{high}p", "max_p": max_p})
    return found


def flow(draft: Draft, name: str, network: str, ends: Ends, milliseconds: int) -> Table:
    """A group of flows."""
    body: Table = {"name": name, "count": draft.number(1, 6), **ends()}
    if draft.maybe(3):
        body["dscp"] = draft.one(CODE_POINTS)
    if draft.maybe(4):
        level = draft.draw(st.sampled_from([True, 1, 2, 3, 8]))
        draft.kind("priority", "one level" if level == 1 else "several levels")
        body["priority"] = level
    call = draft.maybe(10)
    if call and "random" not in (body.get("from"), body.get("to")):
        draft.kind("application", "call")
        return body | {"start": "5ms", "voip": {"frame": draft.one(("10ms", "20ms"))}}
    udp = draft.maybe(4)
    if not udp and draft.maybe(4):
        start: list[Value] = ["0s", {"uniform": ["0s", "50ms"]}, {"every": "7ms"}]
        body["start"] = draft.draw(st.sampled_from(start))
        body |= APPLICATIONS[draft.kind("application", draft.one(list(APPLICATIONS)))]
        if draft.maybe(5):
            body["stop"] = f"{2 * (milliseconds // 3) + 60}ms"
    else:
        body |= times(draft, milliseconds, udp=udp)
    if udp:
        return body | (media(draft) if draft.maybe(3) else datagrams(draft))
    if draft.maybe(8):
        body["acks_share_label"] = True
    if draft.maybe(3):
        control = draft.kind("rfc", draft.one(tuple(CONGESTION_CONTROLS)))
        own: Table = {"congestion_control": control} | draft.some("rfc", RFC_OPTIONS, most=4)
        words = CONGESTION_CONTROLS[control]
        body["transport"] = "tcp"
        if own.get("loss_detection") == "quic":
            own.pop("loss_detection" if control == "ledbat" else "sack", None)
        return body | {"tcp": own | ({"ecn": draft.one(words)} if words and with_ecn(draft) else {})}
    body["transport"] = draft.kind("flow", draft.one(VARIANTS))
    if draft.maybe(3):
        body["packet_size"] = draft.one(("500B", "960B", "1460B"))
    options = draft.some("tcp", TCP_OPTIONS, most=3) | with_ecn(draft)
    return body | ({"tcp": options} if options else {})


def with_ecn(draft: Draft) -> Table:
    """ECN of a flow, where queues mark."""
    return {"ecn": True} if draft.ecn and not draft.maybe(4) else {}


def times(draft: Draft, milliseconds: int, *, udp: bool) -> Table:
    """When a group of flows has data to send, and how much."""
    third = milliseconds // 3
    if draft.maybe(5):
        draft.kind("flow", "stops and goes on")
        # Nearly no pause, shorter than a window of an engine, and a long one.
        again = draft.draw(st.sampled_from([f"{third // 2}.001ms", f"{third}ms"]))
        return {"active": [["0s", f"{third // 2}ms"], [again, f"{2 * third}ms"]]}
    start: list[Value] = ["0s", "10ms", {"uniform": ["0s", "50ms"]}, {"every": "7ms"}, {"every": "1us"}]
    found: Table = {"start": draft.draw(st.sampled_from(start))}
    if draft.maybe(5):
        draft.kind("flow", "stops")
        found["stop"] = f"{2 * third + 60}ms"
    if not udp and draft.maybe(3):
        draft.kind("flow", "finite")
        sizes: list[Value] = ["5KB", "60KB", {"exponential": "20KB"}, {"uniform": ["2KB", "50KB"]}]
        found["size"] = draft.draw(st.sampled_from([*sizes, {"pareto": {"mean": "20KB", "shape": 1.5}}]))
        if isinstance(found["size"], dict):
            draft.kind("flow", "sizes drawn")
    return found


def datagrams(draft: Draft) -> Table:
    """How UDP sends."""
    draft.kind("flow", "udp")
    pattern = draft.kind("udp", draft.one(list(PATTERNS)))
    length = draft.kind("udp length", draft.one(list(LENGTHS)))
    return {
        "transport": "udp",
        "rate": draft.one(("200kbps", "1Mbps", "3Mbps")),
        "pattern": PATTERNS[pattern],
        "packet_size": LENGTHS[length],
    }


def media(draft: Draft) -> Table:
    """Media with feedback."""
    draft.kind("flow", "scream")
    own: Table = {"max_rate": draft.one(("200kbps", "1Mbps", "3Mbps")), "feedback_size": draft.one(("72B", "200B"))}
    some: list[Table] = [{}, {"feedback_interval": "20ms"}, {"key_frame_interval": "100ms"}, {"frame_rate": 100}]
    return {"transport": "scream", "scream": own | draft.draw(st.sampled_from(some)) | with_ecn(draft)}


def marker(draft: Draft, groups: Sequence[str]) -> Table:
    kind = draft.kind("marker", draft.one(list(MARKERS)))
    police: Table = {"red": "drop"} if draft.maybe(3) else {}
    if police:
        draft.kind("marker", "policer")
    return {
        "kind": kind,
        "link": draft.one(draft.links),
        "flows": groups[: draft.number(1, len(groups))],
        "per": draft.one(("flow", "group")),
        "cir": "500kbps",
        **MARKERS[kind],
        **police,
    }


def changes(draft: Draft, milliseconds: int) -> list[Table]:
    """Changes of links during the run."""
    found: list[Table] = []
    for part in range(1, draft.number(2, 4)):
        change: Table = {"at": f"{part * milliseconds // 5}ms", "link": draft.one(draft.links)}
        both = draft.number(1, 3)
        if both != 1:
            rate = draft.one((*RATES, "100kbps"))
            change["rate"] = {"tbf": rate, "burst": "3KB"} if draft.maybe(4) else rate
            draft.kind("change", "rate")
        if both != 2:
            change["delay"] = draft.one(draft.delays)
            draft.kind("change", "delay")
        if draft.maybe(4):
            draft.kind("change", "channel")
            change |= draft.one([CHANNELS[kind] for kind in ("loss", "bursts of losses", "jitter", "duplication")])
        found.append(change)
    return found


def failures(draft: Draft, milliseconds: int) -> list[Table]:
    """One or two links that go down, and perhaps up again."""
    found: list[Table] = []
    for link in dict.fromkeys((draft.one(draft.links), draft.one(draft.links))):
        down = draft.number(1, milliseconds - 2)
        waiting = draft.kind("change", draft.one(("kept", "flushed")))
        found.append({"at": f"{down}ms", "link": link, "state": "down", "waiting": waiting})
        if draft.maybe(2):
            found.append({"at": f"{draft.number(down + 1, milliseconds - 1)}ms", "link": link, "state": "up"})
    return found


def routing(draft: Draft) -> Table:
    """One of several shortest paths by flow, and shortest ways around links that are down."""
    found: Table = {}
    if draft.maybe(2):
        draft.kind("routing", "multipath")
        found["multipath"] = "flow"
    if draft.maybe(2):
        draft.kind("routing", "shortest backup")
        found["backup"] = "shortest"
    return found


def probe(draft: Draft) -> Table:
    """Return a random probe table: half the time everything is recorded."""
    if draft.maybe(2):
        draft.kind("probe", "all")
        everything: Table = dict.fromkeys(("events", "packets", "losses", "flow_delay"), True)
        return {"links": draft.links, **everything, **dict.fromkeys(INTERVALS, "10ms")}
    found: Table = {}
    for key in INTERVALS:
        if draft.maybe(3):
            found[draft.kind("probe", key)] = draft.one(("3ms", "10ms", "12345us"))
    for key in ("events", "packets", "losses", "flow_delay"):
        if draft.maybe(3):
            found[draft.kind("probe", key)] = True
    if draft.maybe(4):
        found["delay_histogram"] = False
    return found
