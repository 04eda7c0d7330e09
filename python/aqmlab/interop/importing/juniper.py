"""Configurations of Juniper Junos as a link's queue.

| router | scenario |
|---|---|
| drop profile | RED with ``curve = "points"`` |
| scheduler map with several forwarding classes | ``aqm = "wfq"`` by transmit rates |
| ``priority strict-high``, ``high`` | ``aqm = "priority"``, the others behind them |
| ``buffer-size temporal`` | packets of 1500 B at the link's rate |
| ``shaping-rate``, ``transmit-rate exact`` of the only scheduler | the rate |

Junos has no word for the weight of the average, and how drops are spread is not documented: RED has its defaults.
"""

from __future__ import annotations

import re

from aqmlab.errors import InputError, counted
from aqmlab.interop.importing.bottleneck import BOTTLENECK, Bottleneck, Class
from aqmlab.interop.importing.juniper_text import (
    BEST_EFFORT,
    USUAL,
    LineError,
    Port,
    Scheduler,
    Service,
    read_service,
)
from aqmlab.interop.importing.quantities import as_label, packets, rate
from aqmlab.interop.juniper.queues import Profile
from aqmlab.scenario.toml_text import Value

PACKET = 1500
"""Bytes of a packet where a buffer in time becomes packets."""
BUFFER_S = 0.1
"""Buffer where none is given, and the whole of one in percent."""
STRICT = ("strict-high", "high")


def looks_like_juniper(text: str) -> bool:
    """Whether there is a queue of Junos's class of service in a text."""
    return "class-of-service" in text and re.search(r"\b(?:drop-profiles|schedulers)\b", text) is not None


def read_juniper(text: str, filename: str) -> Bottleneck:
    """Read a configuration with one link's queue.

    Raises
    ------
    InputError
        With the line that cannot be read, or that leaves open which queue the link has.
    """
    try:
        return _Writer(read_service(text)).write()
    except LineError as error:
        raise InputError(f"{filename}:{error.line}: {error}") from None


class _Writer:
    """Makes a bottleneck of what was read."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.found = Bottleneck()

    def write(self) -> Bottleneck:
        """Return the bottleneck with its notes."""
        service, found = self._service, self.found
        port = self._port()
        named = self._map(port)
        classes = {} if named is None else service.maps[named]
        schedulers = {name: self._scheduler(*place) for name, place in classes.items()}
        bits = self._rate(port, list(schedulers.values()))
        found.rate_bps = bits or found.rate_bps
        if len(schedulers) == 1:
            self.found.note(f"forwarding-class {next(iter(schedulers))}: its scheduler is that of all packets")
        if len(schedulers) > 1:
            self._classes(schedulers, port)
        else:
            self._only(next(iter(schedulers.values()), None))
        for line, text in service.rest:
            found.note(text, line)
        if service.outside:
            found.note(f"not read: {counted(service.outside, 'statement')} outside class-of-service")
        found.sort_notes()
        if bits is None:
            found.note(f"no rate is given (shaping-rate): {rate(found.rate_bps)} is assumed")
        if any(queue["aqm"] == "red" for queue in found.queues.values()):
            what = "the weight of the average and how drops are spread"
            found.note(f"{what} are the hardware's: RED's defaults are assumed")
        found.note("the link's delay is not in the configuration: 20 ms are assumed")
        return found

    def _port(self) -> Port | None:
        """Return the first interface with a scheduler map or rate, with those of its traffic control profile."""
        used = [one for one in self._service.ports.values() if one.scheduler_map or one.control or one.shaped_bps]
        for other in used[1:]:
            self.found.note(f"interface {other.name}: the queue of one interface is read", other.line)
        if not used:
            return None
        port = used[0]
        if port.control is not None:
            name, line = port.control
            control = self._service.controls.get(name)
            if control is None:
                raise LineError(line, f"traffic-control-profile {name} is not in the file")
            port.scheduler_map = control.scheduler_map or port.scheduler_map
            port.shaped_bps = control.shaped_bps or port.shaped_bps
        return port

    def _map(self, port: Port | None) -> str | None:
        """Return the scheduler map of the link; None without one."""
        maps = self._service.maps
        if port is not None and port.scheduler_map is not None:
            name, line = port.scheduler_map
            if name not in maps:
                raise LineError(line, f"scheduler-map {name} is not in the file")
        elif len(maps) > 1:
            line = min(line for _, line in list(maps.values())[1].values())
            raise LineError(line, f"{len(maps)} scheduler maps ({', '.join(maps)}); give the link's at an interface")
        else:
            return next(iter(maps), None)
        for other, classes in maps.items():
            if other != name:
                self.found.note(
                    f"scheduler-map {other}: another one is read", min(line for _, line in classes.values())
                )
        return name

    def _scheduler(self, name: str, line: int) -> Scheduler:
        if name not in self._service.schedulers:
            raise LineError(line, f"scheduler {name} is not in the file")
        return self._service.schedulers[name]

    def _rate(self, port: Port | None, schedulers: list[Scheduler]) -> float | None:
        """Return the rate of the interface, or of the only scheduler; a transmit-rate limits only if ``exact``."""
        rates = [port.shaped_bps] if port is not None and port.shaped_bps else []
        every = schedulers or list(self._service.schedulers.values())
        if len(every) == 1:
            only = every[0]
            sure = only.share[0] if only.share and only.share[1] == "bit" else None
            rates += [only.shaped_bps] if only.shaped_bps else []
            if sure is not None and only.is_exact:
                rates.append(sure)
            elif sure is not None and not rates:
                self.found.note(
                    f"no shaping-rate is given: transmit-rate {rate(sure)} is read as the link's", only.line
                )
                rates.append(sure)
        return min(rates, default=None)

    def _only(self, scheduler: Scheduler | None) -> None:
        """Make the queue of one scheduler, or of a drop profile by itself."""
        service = self._service
        profiles = service.profiles
        if scheduler is None:
            if len(service.schedulers) > 1:
                line = list(service.schedulers.values())[1].line
                raise LineError(line, f"{len(service.schedulers)} schedulers, and no scheduler-map of their classes")
            scheduler = next(iter(service.schedulers.values()), None)
        if scheduler is not None and scheduler.profiles:
            profile: Profile | None = self._profile(scheduler)
        elif len(profiles) == 1:
            profile = next(iter(profiles.values()))
            self.found.note(
                f"drop-profile {profile.name}: no drop-profile-map has it; it is read as the link's", profile.line
            )
        elif not profiles and scheduler is None:
            raise LineError(1, "0 drop profiles and no scheduler")
        elif profiles:
            line = list(profiles.values())[1].line
            text = "which one the link has is in no scheduler's drop-profile-map"
            raise LineError(line, f"{len(profiles)} drop profiles; {text}")
        else:
            profile = None
        self._unused_profiles([profile])
        self._queue(scheduler, profile, BOTTLENECK)

    def _profile(self, scheduler: Scheduler) -> Profile | None:
        """Return the profile of packets of low loss priority; the others are named."""
        rank = {"any": 0, "low": 1}
        maps = sorted(scheduler.profiles, key=lambda one: (rank.get(one[1], 2), one[2] not in ("any", "tcp")))
        for line, _, _, name in maps:
            if name not in self._service.profiles:
                raise LineError(line, f"drop-profile {name} is not in the file")
        first, least, protocol, chosen = maps[0]
        if least not in rank or protocol not in ("any", "tcp"):
            text = f"drop-profile {chosen} is of loss-priority {least}, protocol {protocol}: it is read as that of all"
            self.found.note(f"{text} packets, of which the others have none", first)
        for line, loss, protocol, name in maps[1:]:
            if name != chosen:
                text = f"packets of loss-priority {loss}, protocol {protocol}: drop-profile {chosen}, not {name}"
                self.found.note(text, line)
        return self._service.profiles[chosen]

    def _unused_profiles(self, used: list[Profile | None]) -> None:
        names = {one.name for one in used if one is not None}
        for profile in self._service.profiles.values():
            if profile.name not in names and not any(
                profile.name in (p[3] for p in s.profiles) for s in self._service.schedulers.values()
            ):
                self.found.note(f"drop-profile {profile.name}: no scheduler of the link has it", profile.line)

    def _queue(
        self, scheduler: Scheduler | None, profile: Profile | None, name: str, *, rest_s: float = BUFFER_S
    ) -> None:
        """Make a queue: RED with the profile's points, else drop-tail."""
        found = self.found
        line = scheduler.line if scheduler is not None else profile.line if profile is not None else 0
        limit_s = self._buffer(scheduler, line, rest_s)
        limit = max(1, round(limit_s * found.rate_bps / 8 / PACKET))
        found.note(f"the buffer of {limit_s * 1e3:g} ms is {limit} packets of {PACKET} B", line)
        found.lines[name] = profile.line if profile is not None else line
        if profile is None:
            found.queues[name] = {"aqm": "drop-tail", "limit": packets(limit)}
            return
        try:
            pairs = profile.pairs()
        except ValueError as error:
            raise LineError(profile.line, str(error)) from None
        found.queues[name] = {
            "aqm": "red",
            "limit": packets(limit),
            "curve": "points",
            "points": _points(pairs, limit, smooth=profile.smooth),
            "mean_packet": f"{PACKET}B",
            **({"ecn": True} if scheduler is not None and scheduler.ecn else {}),
        }

    def _buffer(self, scheduler: Scheduler | None, line: int, rest_s: float) -> float:
        given = scheduler.buffer if scheduler is not None else None
        if given is None:
            self.found.note(f"no buffer-size temporal is given: {BUFFER_S * 1e3:g} ms are assumed", line)
            return BUFFER_S
        value, unit = given
        if unit == "s":
            return value
        share = value / 100 * BUFFER_S if unit == "percent" else rest_s
        text = f"buffer-size percent {value:g}" if unit == "percent" else "buffer-size remainder"
        self.found.note(f"{text}: of {BUFFER_S * 1e3:g} ms, which are assumed", line)
        return share

    def _classes(self, schedulers: dict[str, Scheduler], port: Port | None) -> None:
        """Make a class for each forwarding class that code points have."""
        points, default = self._code_points(schedulers, port)
        used: list[Profile | None] = []
        given = sum(one.buffer[0] for one in schedulers.values() if one.buffer and one.buffer[1] == "percent")
        remaining = sum(one.buffer is not None and one.buffer[1] == "remainder" for one in schedulers.values())
        rest_s = max(1.0, 100 - given) / 100 * BUFFER_S / max(1, remaining)
        weights = self._weights(schedulers)
        strict: list[tuple[int, Class]] = []
        shared: list[Class] = []
        for name, scheduler in schedulers.items():
            own = None if name == default else tuple(sorted(points.get(name, ())))
            if own == ():
                self.found.note(f"no code point has forwarding-class {name}", scheduler.line)
                continue
            profile = self._profile(scheduler) if scheduler.profiles else None
            used.append(profile)
            queue = f"{BOTTLENECK}-{len(used)}"
            self._queue(scheduler, profile, queue, rest_s=rest_s)
            limited = "shaping-rate" if scheduler.shaped_bps else "exact transmit-rate" if scheduler.is_exact else ""
            if limited:
                self.found.note(f"{name}: may take the whole link, without its own {limited}", scheduler.line)
            if scheduler.priority in STRICT:
                strict.append((STRICT.index(scheduler.priority), Class(as_label(name), own, None, queue)))
                self.found.note(
                    f"{name}: strict priority ({scheduler.priority}) without a limit by transmit-rate", scheduler.line
                )
            else:
                shared.append(Class(as_label(name), own, weights[name], queue))
        lower = {one.priority for one in schedulers.values()} - set(STRICT)
        if len(lower) > 1:
            self.found.note(f"priorities {' and '.join(sorted(lower))}: these classes share by their transmit rates")
        self._unused_profiles(used)
        self.found.schedule_ranked(strict, shared)

    def _code_points(self, schedulers: dict[str, Scheduler], port: Port | None) -> tuple[dict[str, set[int]], str]:
        """Return the code points of each forwarding class, and the class of all others."""
        service = self._service
        names = list(service.classifiers)
        chosen = port.classifier if port is not None else None
        if chosen is not None and chosen[0] not in names:
            raise LineError(chosen[1], f"classifier {chosen[0]} is not in the file")
        name = chosen[0] if chosen is not None else names[0] if len(names) == 1 else None
        own = service.classifiers.get(name or "", {})
        found: dict[str, set[int]] = {}
        if name is None or name in service.imports:
            if name is None:
                self.found.note("no dscp classifier of the interface is given: Junos's default is assumed")
            for usual, points in USUAL.items():
                found[usual] = points - own.keys()
        for point, target in own.items():
            found.setdefault(target, set()).add(point)
        default = next((each for each in (own.get(0), service.queue_zero, BEST_EFFORT) if each in schedulers), None)
        if default is None:
            first = next(iter(schedulers.values()))
            raise LineError(
                first.line, f"no scheduler of the map is that of code point 0 (forwarding-class {service.queue_zero})"
            )
        for lost in sorted(set(found) - set(schedulers)):
            self.found.note(f"forwarding-class {lost} has no scheduler: its packets are in {default}")
        return found, default

    def _weights(self, schedulers: dict[str, Scheduler]) -> dict[str, float]:
        """Return transmit rates in percent of the link; the remainder, where none is given."""
        weights: dict[str, float] = {}
        open_ones = []
        for name, one in schedulers.items():
            if one.priority in STRICT:
                continue
            if one.share is None or one.share[1] == "remainder":
                open_ones.append(name)
                if one.share is None:
                    self.found.note(f"{name}: no transmit-rate is given: a share of the rest is assumed", one.line)
            else:
                value, unit = one.share
                weights[name] = value if unit == "percent" else 100 * value / self.found.rate_bps
        left = 100 - sum(weights.values())
        if open_ones and left <= 0:
            first = schedulers[open_ones[0]]
            raise LineError(first.line, f"{open_ones[0]}: the other transmit rates leave nothing of the link")
        return weights | {name: left / len(open_ones) for name in open_ones}


def _points(profile: list[tuple[int, int]], limit: int, *, smooth: bool) -> list[Value]:
    """Return points of the average in packets and the probability; steps where the profile is not interpolated."""
    pairs = [(level * limit / 100, share / 100) for level, share in profile]
    if smooth:
        pairs = [*([(0.0, 0.0)] if pairs[0][0] > 0 else []), *pairs, *([(limit, 1.0)] if pairs[-1][0] < limit else [])]
    else:
        steps: list[tuple[float, float]] = [(0.0, 0.0)]
        for level, share in pairs:
            steps += [(level, steps[-1][1]), (level, share)]
        pairs = steps
    made: list[Value] = []
    for level, share in pairs:
        made.append([float(f"{level:.12g}"), float(f"{share:.12g}")])
    return made
