"""Runs of Linux's own disciplines whose decisions the core repeats: settings, traffic, and faults put in on purpose."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from aqmlab.interop.kernel.export import plan_and_link
from aqmlab.interop.tc.queues import qdisc_of
from aqmlab.scenario.file import Scenario

SCENARIO = """format = 1
name = "{name}"
[run]
duration = "{seconds}s"
[dumbbell]
bottleneck = {{ rate = "{link}", delay = "10ms", queue = "bottleneck" }}
left = {{ rate = "1Gbps", delay = "0ms" }}
right = {{ rate = "1Gbps", delay = "0ms" }}
[queue.bottleneck]
aqm = "{aqm}"
{queue}
{flows}"""
ECT1, ECT0 = 61, 62
"""Code points for which UDP flows carry an ECN field (`with_ecn_fields`): code point 0, and ECT(1) or ECT(0)."""
ANOTHER = "another"
"""As the dialect of a fault: that of another kernel."""
OTHERS = {"linux-6.1": "linux-6.12", "linux-6.12": "linux-6.1", "linux-7.3": "linux-6.1"}
"""The dialect of another kernel for each dialect."""


def tcp(name: str, count: int = 1, dscp: str | int = "BE", *, ecn: bool = False) -> str:
    """Write a group of TCP flows."""
    kind = f'transport = "tcp"\ntcp = {{ congestion_control = "cubic", ecn = {str(ecn).lower()} }}\n'
    return _flow(name, count, dscp) + kind


def udp(name: str, length: int, mbps: float, count: int = 1, dscp: str | int = "BE") -> str:
    """Write a group of UDP flows; the rate is that of each."""
    return _flow(name, count, dscp) + f'transport = "udp"\npacket_size = "{length}B"\nrate = "{mbps}Mbps"\n'


def until(stop: str, *groups: str) -> str:
    """Let groups of flows end at a time."""
    return "".join(f'{group}stop = "{stop}"\n' for group in groups)


def _flow(name: str, count: int, dscp: str | int) -> str:
    point = dscp if isinstance(dscp, int) else f'"{dscp}"'
    return f'[[flow]]\nname = "{name}"\nstart = "0s"\ncount = {count}\ndscp = {point}\n'


def with_ecn_fields(text: str) -> str:
    """Let flows of a job carry ECN fields in place of the code points that stand for them.

    >>> with_ecn_fields("iperf3 -u --dscp 61")
    'iperf3 -u -S 1'
    """
    for field_of, point in ((1, ECT1), (2, ECT0)):
        text = text.replace(f"--dscp {point}", f"-S {field_of}")
    return text


@dataclass(frozen=True)
class Later:
    """A change of settings while a run goes on.

    Attributes
    ----------
    ms
        Its time in ms from the start.
    words
        The discipline and its new settings in tc's words.
    """

    ms: int
    words: str


@dataclass(frozen=True)
class Case:
    """A run.

    Attributes
    ----------
    queue
        The discipline's settings in the words of a scenario.
    flows
        The traffic.
    seconds, link
        Length of the run, and rate of the token bucket above the tap.
    words
        The discipline and its settings in tc's words; None: as they are exported.
    joins
        Senders hand on packets that the kernel splits later.
    filters
        The tap stands on the way back, and logs TCP's headers.
    peeks
        The tap peeks at the next packet where its parent does.
    later
        A change of settings while the run goes on; None: they stay.
    splits
        A discipline that can split joined packets does.
    translates
        The router translates the source address of TCP before the queue.
    pacing_ms
        Interval in ms at which a UDP flow sends the packets that are due. Short ones of many flows need much of the
        emulated machine's time.
    """

    queue: str
    flows: str
    seconds: int = 3
    link: str = "25Mbps"
    words: str | None = None
    joins: bool = False
    filters: bool = False
    peeks: bool = False
    splits: bool = True
    later: Later | None = None
    translates: bool = False
    pacing_ms: int = 1


def settings_and_traffic(
    runs: Iterable[tuple[str, str, int]], settings: Mapping[str, str], traffic: Mapping[str, str]
) -> dict[str, Case]:
    """Return runs over a link of 20 Mbit/s by the names of their settings and traffic, and their length in s.

    The queue marks where the traffic has ECN.
    """
    return {
        f"{name}; {flows}": Case(
            queue=settings[name] + ("ecn = true\n" if "ECN" in flows else ""),
            flows=traffic[flows],
            seconds=seconds,
            link="20Mbps",
        )
        for name, flows, seconds in runs
    }


@dataclass(frozen=True)
class Fault:
    """A fault put in on purpose: a run, and a setting of the core that is not the kernel's.

    Attributes
    ----------
    case
        Name of the run.
    overrides
        The core's settings.
    log
        Changes the log, so that its settings are those of the core.
    """

    case: str
    overrides: Mapping[str, str]
    log: Callable[[bytes], bytes] = bytes


@dataclass(frozen=True)
class Discipline:
    """One of Linux's own disciplines.

    Attributes
    ----------
    aqm
        Its name in a scenario.
    modules
        Its modules, in the order in which they are loaded.
    cases
        Runs by name.
    faults
        Faults by name.
    text
        Its section of the page: differences between kernels, peculiarities, and anything outside of the replay.
    by_kernel
        Whether the core has a dialect for each kernel (``linux-6.1``), and not one for all (``linux``).
    others
        The dialect that stands for `ANOTHER` in the run of each dialect.
    least_kernel
        The first kernel that has the discipline.
    """

    aqm: str
    modules: tuple[str, ...]
    cases: Mapping[str, Case]
    faults: Mapping[str, Fault] = field(default_factory=dict)
    text: str = ""
    by_kernel: bool = False
    others: Mapping[str, str] = field(default_factory=lambda: dict(OTHERS))
    least_kernel: str = "6.1"

    def scenario(self, name: str) -> Scenario:
        """Return the scenario of a run."""
        case = self.cases[name]
        settings = {"seconds": case.seconds, "link": case.link, "queue": case.queue, "flows": case.flows}
        return Scenario.from_text(SCENARIO.format(name=self.aqm, aqm=self.aqm, **settings))

    def words(self, name: str) -> str:
        """Return the discipline of a run in tc's words."""
        words = self.cases[name].words
        return qdisc_of(*plan_and_link(self.scenario(name))).text if words is None else words

    def dialect(self, release: str) -> dict[str, str]:
        """Return the core's setting for a kernel."""
        return {"queue.bottleneck.dialect": linux(release) if self.by_kernel else "linux"}

    def is_in(self, release: str) -> bool:
        """Return whether a kernel has the discipline."""
        return _numbers(release) >= _numbers(self.least_kernel)


def _numbers(release: str) -> tuple[int, ...]:
    """Return the first two numbers of a release.

    >>> _numbers("6.12.95+deb12-cloud-amd64")
    (6, 12)
    """
    return tuple(int(number) for number in re.findall(r"[0-9]+", release)[:2])


def linux(release: str) -> str:
    """Return the core's dialect of a kernel.

    >>> linux("6.12.95+deb12-cloud-amd64")
    'linux-6.12'
    """
    found = re.match(r"[0-9]+\.[0-9]+", release)
    return f"linux-{found[0] if found else release}"
