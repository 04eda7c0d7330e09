"""A scenario as a shell script for Linux: namespaces, tc, iperf3.

The script is the job of `aqmlab.live.tc.job`, with a head that explains how to run it and names the differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aqmlab.errors import Error
from aqmlab.interop.differences import Kind, Semantic
from aqmlab.interop.formatting import comment, told
from aqmlab.interop.model import NS2_PROFILE, Model
from aqmlab.interop.tc.netem import netem_words
from aqmlab.interop.tc.queues import ETHERNET_HEADER, queue_differences
from aqmlab.live.plan import live_plan
from aqmlab.live.tc.job import Options, script
from aqmlab.live.tc.setting import Setting, setting_of
from aqmlab.scenario.file import APPLICATIONS, Scenario
from aqmlab.scenario.parts import UDP, Link
from aqmlab.scenario.toml_text import entries

RESULTS = "{ : >&3; } 2> /dev/null || exec 3>&1"
"""Results go to stdout unless file descriptor 3 is open."""


def setting(model: Model, seed: int) -> Setting:
    """Return the job for Linux; an `Error` if Linux cannot do it."""
    plan = live_plan(without_applications(model.scenario), seed=seed)
    return setting_of(plan)


def without_applications(scenario: Scenario) -> Scenario:
    """Return the scenario without the flows of applications, if others are left."""
    tables = scenario.tables
    flows = [flow for flow in tables.get("flow", ()) if not any(kind in flow for kind in APPLICATIONS)]
    if not flows or len(flows) == len(tables["flow"]):
        return scenario
    text = "\n".join(entries({**tables, "flow": flows}))
    return Scenario.from_text(text, filename=scenario.filename)


def text(model: Model, differences: Sequence[Semantic], *, name: str, seed: int, options: Options) -> str:
    """Write the script of a seed: it decides when flows start."""
    body = script(setting(model, seed), options)
    return "\n".join([*_head(model, differences, name, seed), RESULTS, body])


def differences(model: Model) -> list[Semantic]:
    """Return the features of a scenario that Linux lacks or implements differently."""
    if lacking := [*_channels(model), *_changes(model)]:
        return lacking
    try:
        found = setting(model, 1)
    except Error as error:
        return [Semantic("scenario", f"{str(error).splitlines()[0]}.", Kind.INEXPRESSIBLE)]
    link = model.scenario.link(found.plan.link)
    made = [*_always(link), *_small_bucket(link, model), *queue_differences(link, found.qdisc)]
    made += [Semantic("live run", f"{warning.message}.", Kind.LEFT_OUT) for warning in found.plan.warnings]
    others = [name for name in model.measured if name != found.plan.link]
    if others:
        text = f"Links {', '.join(others)} are delay alone: one bottleneck is Linux's, {found.plan.link}."
        made.append(Semantic("other links", text, Kind.LEFT_OUT))
    if found.policers:
        text = (
            "Markers are policers of tc at the senders: packets above their bucket get the other code point or are "
            "dropped."
        )
        made.append(Semantic("marker", text, Kind.DIFFERS))
    left_out = model.scenario.applications
    made += [
        Semantic("application", f"flow.{name}: {kind} is left out; the queue is written all the same.", Kind.LEFT_OUT)
        for name, kind in left_out.items()
    ]
    made += [one for group in model.groups if group not in left_out for one in _transport(model, group)]
    return list(dict.fromkeys(made))


def _channels(model: Model) -> Iterator[Semantic]:
    """Name channels that do more than delay, in netem's words: the script has no device behind the bottleneck."""
    for link in model.links:
        if any(link.channel.values()):
            try:
                line = netem_words(link.delay_s, link.channel, link.rate_bps)
                words = f"in Linux it is tc qdisc add dev DEV root {line}"
            except ValueError as error:
                words = str(error)
            text = f"The script has no device behind {link.name} for its channel; {words}."
            yield Semantic("channel", text, Kind.INEXPRESSIBLE)


def _changes(model: Model) -> Iterator[Semantic]:
    """Name changes of links: the script sets rates and delays once."""
    if model.changes:
        listed = ", ".join(dict.fromkeys(change.link for change in model.changes))
        yield Semantic("changes", f"The script does not change links while it runs: {listed}.", Kind.INEXPRESSIBLE)


def _small_bucket(link: Link, model: Model) -> Iterator[Semantic]:
    """Report a token bucket that never has the tokens of a full packet: tc drops such packets, and here they wait."""
    longest = max((flow.packet_bytes[1] for flow in model.scenario.flows if link.name in flow.path), default=0)
    longest += ETHERNET_HEADER if link.framing is None else link.framing["overhead"]
    for word in ("burst", "mtu"):
        room = (link.token_bucket or {}).get(word)
        if room is not None and room < longest:
            text = (
                f"{word} {room} is less than the {longest:.0f} B of a full packet: tbf drops such packets, and here "
                "they pass."
            )
            yield Semantic("token bucket", text, Kind.DIFFERS)


def _always(link: Link) -> Iterator[Semantic]:
    if link.framing is None:
        text = (
            "tc counts 14 bytes of Ethernet's header with every packet: rate and queue, in IP packets of 1500 B, are "
            "0.9 % less."
        )
        yield Semantic("framing", text, Kind.DIFFERS)
    if link.token_bucket is None:
        text = (
            "A token bucket of one packet makes the rate: behind an idle time a packet passes without its "
            "transmission time."
        )
        yield Semantic("token bucket", text, Kind.DIFFERS)
    text = "Links before and behind the bottleneck are delay alone, and the round trip's delay is laid on the way back."
    yield Semantic("access links", text, Kind.LEFT_OUT)
    text = (
        "tc's backlog is sampled ten times a second. It has the packet in service, which waits below a token bucket, "
        "and the mean queue is without it. The mean delay follows from the mean queue and the packets that left by "
        "Little's law. Pings are a sparse flow, and their delay is not the queue's."
    )
    yield Semantic("queue and delay", text, Kind.DIFFERS)


def _transport(model: Model, group: str) -> Iterator[Semantic]:
    flow = model.groups[group][0]
    if flow.transport == UDP:
        return
    if not flow.is_tcp:
        yield Semantic("transport", f'flow.{group}: the kernel has no "{flow.transport}".', Kind.INEXPRESSIBLE)
        return
    if flow.parameters["profile"] == NS2_PROFILE:
        text = (
            f"flow.{group}: the kernel's TCP counts bytes and has SACK, RACK and time stamps; the profile "
            "ns2-2.35 has not. "
            "Agreement is not to be expected beyond some percent."
        )
        yield Semantic("transport profile", text, Kind.DIFFERS)
        return
    text = f"flow.{group}: windows, timers and options are the kernel's own; the congestion control is the scenario's."
    yield Semantic("kernel's TCP", text, Kind.DIFFERS)


def _head(model: Model, found: Sequence[Semantic], name: str, seed: int) -> Iterator[str]:
    yield "#!/bin/sh"
    yield from comment(model.about, "#")
    yield "#"
    yield "#     sudo unshare --net --mount --pid --fork \\"
    yield f"#         sh -c 'mount -t tmpfs tmpfs /run && sh {name}' > results.jsonl"
    yield "#"
    yield from comment(
        f"For Linux with iproute2 and iperf3, written by aqmlab. Starts of flows are those of seed {seed}. Prints JSON "
        "lines: what tc counted every second, its backlog, what iperf3 and pings (a sparse flow) saw. "
        "`aqmlab live --backend vm` runs the same in an emulated machine with a kernel that has all modules.",
        "#",
    )
    yield from told(found, "Linux", "#")
