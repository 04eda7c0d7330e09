"""Sections 4.3.1 and 8.3: a range of settings, and each parameter alone turned down and up, at medium congestion."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from aqmlab.rfc7928.case import FORWARD, Case, Effort
from aqmlab.rfc7928.settings import Settings
from aqmlab.rfc7928.stability import congested
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.registry import Parameter

LEVEL = "medium"
TARGETS = (("min_th", "max_th"), ("target",), ("target_delay",), ("q_ref",), ("reference",))
"""Parameters that say how much queue or delay a discipline aims at; those of one entry are turned together."""
NOT_TURNED = ("limit", "mean_packet", "mark_up_to")
"""The buffer is the same for all, the mean size of packets is no matter of taste, marks are not at issue here."""
TURNS = (0.5, 2.0)


def cases(effort: Effort, settings: Settings) -> list[Case]:
    """List the settings that are compared: the target over a range, and every parameter alone."""
    if settings.is_baseline:
        return []
    found = []
    for factor in effort.factors:
        if factor != 1.0 and (other := turned(settings, factor)) is not None:
            found.append(_case("4.3.1", f"x{factor:g}", other, effort, point=factor))
    for parameter in turnable(settings):
        for factor in TURNS:
            value = scaled(parameter, _effective(settings, parameter.key), factor)
            other = settings.with_values({parameter.key: value}, f"{parameter.key} = {value}")
            if allowed(other):
                found.append(_case("8.3", f"{parameter.key} x{factor:g}", other, effort, point=factor))
    return found


def turned(settings: Settings, factor: float) -> Settings | None:
    """Return the discipline with its target turned by a factor; None if it has none, or may not be set so."""
    keys = target_of(settings)
    parameters = [settings.discipline.parameter(key) for key in keys]
    values = {p.key: scaled(p, _effective(settings, p.key), factor) for p in parameters if p is not None}
    other = settings.with_values(values, f"{', '.join(keys)} x{factor:g}")
    return other if values and allowed(other) else None


def target_of(settings: Settings) -> tuple[str, ...]:
    """Return the parameters that say how much queue or delay a discipline aims at; empty if it has none."""
    return next((keys for keys in TARGETS if all(_is_number(_effective(settings, key)) for key in keys)), ())


def turnable(settings: Settings) -> list[Parameter]:
    """Return a discipline's parameters that are numbers other than 0, but for those of `NOT_TURNED`."""
    return [
        parameter
        for parameter in settings.discipline.own_parameters
        if parameter.key not in NOT_TURNED and _is_number(_effective(settings, parameter.key))
    ]


def scaled(parameter: Parameter, value: object, factor: float) -> str:
    """Write a parameter's value times a factor as a scenario wants it.

    >>> from aqmlab.scenario.registry import discipline
    >>> red = discipline("red")
    >>> scaled(red.parameter("max_th"), 15, 2), scaled(red.parameter("max_p"), 0.1, 0.5)
    ('30p', '0.05')
    """
    assert isinstance(value, int | float)
    unit = {"packets": "p", "s": "s", "B": "B"}.get(parameter.unit, "")
    number = value * factor
    return f"{round(number) if parameter.unit == 'B' else number:.10g}{unit}"


def allowed(settings: Settings) -> bool:
    """Return whether a scenario with these settings is valid."""
    from aqmlab.errors import ScenarioError

    case = congested(LEVEL, Effort(), settings)
    try:
        Scenario.from_text(case.text, filename=case.name, overrides=case.overrides)
    except ScenarioError:
        return False
    return True


def _case(section: str, key: str, settings: Settings, effort: Effort, *, point: float) -> Case:
    base = congested(LEVEL, effort, settings)
    title = {"4.3.1": "the target turned", "8.3": "one parameter turned"}[section]
    return replace(
        base, section=section, key=key, title=title, seeds=effort.few_seeds, watch_windows=False, point=point
    )


def _effective(settings: Settings, key: str) -> object:
    return _effective_values(settings.name, tuple(sorted(settings.chosen.items()))).get(key)


@cache
def _effective_values(name: str, chosen: tuple[tuple[str, str], ...]) -> dict[str, object]:
    case = congested(LEVEL, Effort(), Settings(name, dict(chosen)))
    return Scenario.from_text(case.text, filename=case.name, overrides=case.overrides).link(FORWARD).parameters


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value != 0
