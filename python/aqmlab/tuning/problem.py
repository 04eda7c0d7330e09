"""The problem of a search: the queue, its parameters, the conditions, and the settings that the search starts from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from types import MappingProxyType

from aqmlab import errors
from aqmlab.errors import InputError, ScenarioError, joined, unknown
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import DROP_TAIL, RIO, Link, packets
from aqmlab.scenario.registry import Discipline, discipline
from aqmlab.scenario.toml_text import Value
from aqmlab.tuning.free_curve import POINTS, is_free_curve
from aqmlab.tuning.measurements import Body, Place
from aqmlab.tuning.ranges import Point, fresh_points, ranges_of, search_points
from aqmlab.tuning.space import CLASS, RED, Numbers, Space, least_weight, space_of
from aqmlab.tuning.starts import (
    ANALYTIC,
    FILE,
    NAMES,
    START,
    Start,
    analytic,
    automatic,
    defaults,
    has_red,
)

ENDS = (attrgetter("low"), attrgetter("high"))
"""Functions from a dimension to the ends of its range."""
FRESH_POINTS = 2
"""Interior points for each range that only the confirmation sees."""


@dataclass(frozen=True)
class Points:
    """The points of the search, and further points for the confirmation."""

    search: list[Point]
    unseen: list[Point]

    @property
    def all(self) -> list[Point]:
        """The points of the confirmation."""
        return [*self.search, *self.unseen]


@dataclass(frozen=True)
class Problem:
    """The search problem: the queue and its parameters, points, starts, settings to compare with, and remarks."""

    place: Place
    chosen: Discipline
    space: Space
    points: Points
    starts: list[Start]
    references: dict[str, Body]
    notes: list[str]
    warnings: list[str]


AS_IT_IS = Points([Point("the scenario", (), corner=False)], [])
"""The scenario without ranges."""


def _points(over: Sequence[str], plan: Scenario) -> Points:
    ranges = ranges_of(over, plan)
    searched = search_points(ranges)
    for point in searched:
        try:
            plan.with_overrides(point.pairs)
        except ScenarioError as error:
            given = dict(point.pairs)
            raise error.of_options(dict.fromkeys(given, "--over"), given) from None
    return Points(searched, fresh_points(ranges, FRESH_POINTS * len(ranges), searched))


def problem_of(
    plan: Scenario, queue: str, *, aqm: str | None, vary: Sequence[str], over: Sequence[str] | None,
    further: Mapping[str, Mapping[str, Value]] = MappingProxyType({}),
) -> Problem:  # fmt: skip
    """Check the request, and return it as a problem; every reference must make a valid scenario.

    `over` is None for the scenario as it is, without ranges.
    """
    points = AS_IT_IS if over is None else _points(over, plan)
    place = Place(plan, queue, _measured(plan, queue).name)
    chosen, space = _space(place, aqm, vary, points.search)
    notes: list[str] = []
    starts = _starts(place, chosen, space, points.search, notes)
    references: dict[str, Body] = {start.name: start.body for start in starts if not start.name.startswith(ANALYTIC)}
    _check_names(further, references)
    references |= {name: dict(body) for name, body in further.items()}
    for name, body in references.items():
        try:
            place.scenario(body, points.search[0])
        except ScenarioError as error:
            raise error.of_options({f"queue.{queue}": f"--against {name}:"}, {}) if name in further else error from None
    return Problem(
        place, chosen, space, points, starts, references, notes, _of_no_flow(place, space, vary, points.search)
    )


def _check_names(further: Mapping[str, Mapping[str, Value]], references: Mapping[str, object]) -> None:
    """Raise `InputError` if settings to compare with have a name that other settings have in answers."""
    for name, body in further.items():
        reserved = (*references, *([] if body.get("aqm", DROP_TAIL) == DROP_TAIL else [DROP_TAIL]), *NAMES)
        if name in reserved or name.startswith((ANALYTIC, START)):
            raise InputError(f"--against {name}: is the name of other settings in answers; give another")


def varied(texts: Sequence[str], names: Sequence[str]) -> dict[str, list[str]]:
    """Return the ranges of each discipline: ``KEY=...`` for all with the key, ``NAME:KEY=...`` for one."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for text in texts:
        if text.strip().startswith(f"{CLASS}.") and len(names) > 1:
            raise InputError(f'vary "{text}": a class belongs to one discipline; write it as NAME:{text}')
        head, colon, rest = text.partition(":")
        if colon and "=" not in head:
            if head.strip() not in names:
                raise InputError(f'vary "{text}": {unknown("discipline", head.strip(), list(names))}')
            found[head.strip()].append(rest)
            continue
        key = text.partition("=")[0].strip()
        having = [
            name for name in names if len(names) == 1 or key in {one.key for one in discipline(name).own_parameters}
        ]
        if not having:
            raise InputError(f'vary "{text}": none of {", ".join(names)} has the parameter {key}')
        for name in having:
            found[name].append(text)
    return found


def _measured(plan: Scenario, queue: str) -> Link:
    """Return the first link with a queue."""
    for link in plan.links:
        if link.queue == queue:
            return link
    raise InputError(unknown("queue", queue, list(dict.fromkeys(one.queue for one in plan.links))))


def _space(place: Place, aqm: str | None, vary: Sequence[str], points: Sequence[Point]) -> tuple[Discipline, Space]:
    """Return the discipline, and its search space."""
    plan, link = place.plan, place.plan.link(place.link)
    chosen = discipline(aqm or link.aqm)
    base = base_of(plan, place.queue, chosen, same=chosen.name == link.aqm)
    size = float(link.parameters.get("mean_packet", 1000))
    rate = min(place.scenario(base, point).link(link.name).rate_bps for point in points)
    slowest = least_weight(rate / (8 * size), plan.duration_s - plan.warmup_s)
    limit = packets(link.parameters["limit"], size)
    space = space_of(chosen, base, limit=limit, slowest=slowest, vary=vary)
    _check_ends(place, space, vary)
    return chosen, space


def _check_ends(place: Place, space: Space, vary: Sequence[str]) -> None:
    """Raise `InputError` if a varied parameter has no effect in this queue, or if no queue accepts an end of its range.

    Some ends are valid only beside the low, or the high ends of all other ranges.
    """
    varied = {text.partition("=")[0].strip(): text for text in vary}
    corners = [{one.key: one.choices[0] if one.choices else end(one) for one in space.dimensions} for end in ENDS]
    for one in space.dimensions:
        if one.key not in varied or one.choices or one.of_class:
            continue
        for end in ENDS:
            link = _accepted(place, space, varied[one.key], [{**corner, one.key: end(one)} for corner in corners])
            if one.key in link.without_effect:
                has = " (class.NAME.KEY is a parameter of a class)" if link.classes else ""
                raise InputError(f'vary "{varied[one.key]}": {one.key} has no effect in this {link.aqm} queue{has}')


def _of_no_flow(place: Place, space: Space, vary: Sequence[str], points: Sequence[Point]) -> list[str]:
    """Return a warning if ECN is varied although no flow negotiates it at any point."""
    text = next((text for text in vary if text.partition("=")[0].strip() == "ecn"), None)
    if text is None or any(_has_ecn(place.scenario(dict(space.base), point)) for point in points):
        return []
    return [f'vary "{text}": no flow is ECN-capable, so that ecn has no effect']


def _has_ecn(plan: Scenario) -> bool:
    return any(flow.parameters.get("ecn") for flow in plan.flows)


def _accepted(place: Place, space: Space, text: str, numbers: Sequence[Numbers]) -> Link:
    """Return the link with the first valid numbers; raise the error of the last if none are valid."""
    problems: list[errors.Problem] = []
    for one in numbers:
        try:
            return place.scenario(space.body(one)).link(place.link)
        except ScenarioError as error:
            problems = [replace(error.problems[0], file="--vary", key=text)]
    raise ScenarioError(problems)


def base_of(plan: Scenario, queue: str, chosen: Discipline, *, same: bool) -> Body:
    """Return what stays of the queue's table: between RED's all but its parts, with another discipline the buffer."""
    table = plan.queue_table(queue)
    if same:
        return {**table, "aqm": chosen.name}
    if not (has_red(chosen) and set(table) & RED):
        return defaults(chosen, _marking(plan, table)).body
    known = {parameter.key for parameter in chosen.own_parameters} - {"curve", "adaptation", "victim"}
    known |= {"class"} if chosen.name in RIO else set()
    return {"aqm": chosen.name, **{key: value for key, value in table.items() if key in known}}


def _starts(place: Place, chosen: Discipline, space: Space, points: Sequence[Point], notes: list[str]) -> list[Start]:
    table = place.plan.queue_table(place.queue)
    # For an uplink there is no file; its queue is drop-tail.
    own = Start(DROP_TAIL if table.get("aqm") == DROP_TAIL else FILE, dict(table))
    if not has_red(chosen):
        return [defaults(chosen, _marking(place.plan, table)), own]
    designs = analytic(place, chosen, space, points, notes)
    if not designs:
        notes.append("no analytic design: it needs greedy TCP flows, and a queue with one set of RED's parameters")
    return [*designs, automatic(_marking(place.plan, table)), own]


def _marking(plan: Scenario, table: Body) -> Body:
    """Return a queue's table with ECN where flows negotiate it: another discipline than the scenario's then marks."""
    return {"ecn": True, **table} if _has_ecn(plan) else table


def numbers_of(place: Place, space: Space, starts: Sequence[Start]) -> list[tuple[str, Numbers]]:
    """Return the starts as numbers of the search, equal settings once, under a name that states any change.

    A start that lacks the searched parameters, such as a file's own CoDel where RED is tuned, is only compared with.
    """
    found: dict[str, tuple[str, Numbers]] = {}
    for start in starts:
        own = numbers_at(place, space, start.body)
        if own is None:
            continue
        body = space.body(own)
        found.setdefault(repr(body), (_changed_name(place, start, body), own))
    return list(found.values())


def _changed_name(place: Place, start: Start, body: Body) -> str:
    """Return a start's name; with the difference where the search has other settings near it.

    The difference is the discipline, or the parameters that were outside of their ranges or had more digits.
    """
    if place.is_same(start.body, body):
        return start.name
    if start.body.get("aqm") != body["aqm"]:
        return f"{start.name} as {body['aqm']}"
    before, after = (place.scenario(one).link(place.link).parameters for one in (start.body, body))
    moved = [key for key in body if before.get(key) != after.get(key)]
    return f"{start.name}, {joined(moved)} moved" if moved else f"{start.name}, moved"


def numbers_at(place: Place, space: Space, body: Body) -> Numbers | None:
    """Return settings as numbers of the search; None if they lack a searched parameter."""
    parameters = place.scenario(body).link(place.link).parameters
    if not space.needs <= set(parameters):
        return None
    if POINTS in body:
        if not is_free_curve(body[POINTS]):
            return None
        parameters = {**parameters, POINTS: body[POINTS]}
    return space.numbers(parameters, float(parameters.get("mean_packet", 1000)))
