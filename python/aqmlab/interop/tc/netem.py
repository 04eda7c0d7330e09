"""The words of ``netem`` and the channel of a link, in both directions.

| netem | keys of a link |
|---|---|
| ``loss random P CORRELATION``, ``loss P`` | ``loss = { probability, correlation }`` |
| ``loss gemodel P R 1-H 1-K`` | ``loss = { p, r, bad_loss, good_loss }`` |
| ``delay TIME JITTER CORRELATION``, ``distribution`` | ``delay``, ``jitter = { deviation, correlation, ... }`` |
| ``rate`` beside a jitter | ``jitter = { order = "kept" }`` |
| ``reorder P CORRELATION gap N`` | ``reorder = { probability, correlation, gap }`` |
| ``duplicate P CORRELATION`` | ``duplicate = { probability, correlation }`` |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aqmlab.interop.tc.grammar import Words
from aqmlab.interop.tc.quantities import number_of, seconds_of
from aqmlab.scenario.toml_text import Value

Table = dict[str, Value]

DISTRIBUTIONS = ("uniform", "normal", "pareto", "paretonormal")
NOTHING: Table = {"loss": 0, "jitter": "0ms", "reorder": 0, "duplicate": 0}
"""The keys of a channel with values by which nothing happens to packets."""


def read_netem(words: Words) -> tuple[Table, set[str], list[str]]:
    """Return the keys of a link for netem's words, the words that were read, and notes on differences.

    Raises
    ------
    ValueError
        If a value is not valid in tc.
    """
    values, lists = words.values, words.lists
    channel: Table = {}
    known: set[str] = set()
    notes: list[str] = []
    for word in ("loss", "drop"):
        if word in lists and (loss := _loss(lists[word])) is not None:
            channel["loss"] = loss
            known.add(word)
    jitter = _jitter(words)
    if jitter:
        known.add("distribution")
        channel["jitter"] = jitter
    elif "distribution" in values and values["distribution"] in DISTRIBUTIONS:
        known.add("distribution")
    if "reorder" in lists or "gap" in values:
        known |= {"reorder", "gap"}
        reorder = _probability(lists.get("reorder", ["100%"]))
        if (gap := int(number_of(values.get("gap", "1")))) > 1:
            reorder = {**(reorder if isinstance(reorder, dict) else {"probability": reorder}), "gap": gap}
        channel["reorder"] = reorder
    if isinstance(jitter, dict) and jitter.get("order") == "kept" and "reorder" in channel:
        channel["jitter"] = {key: value for key, value in jitter.items() if key != "order"}
        notes.append("rate keeps the order of delays in netem; here packets of less delay overtake")
    if "duplicate" in lists:
        known.add("duplicate")
        channel["duplicate"] = _probability(lists["duplicate"])
    return channel, known, notes


def _percent(text: str) -> str:
    value = number_of(text.removesuffix("%"))
    if not 0 <= value <= 100:
        raise ValueError(f'"{text}" is not a percentage from 0% to 100%')
    return f"{value:.12g}%"


def _probability(several: Sequence[str]) -> Table | str:
    probability, *rest = (_percent(one) for one in several[:2])
    return {"probability": probability, "correlation": rest[0]} if rest else probability


def _loss(several: Sequence[str]) -> Table | str | None:
    """Return losses; `None` for netem's model of four states."""
    model, *rest = several
    if model == "state":
        return None
    if model == "random":
        return _probability(rest)
    if model != "gemodel":
        return _probability(several)
    if not rest:
        raise ValueError("loss gemodel needs a probability")
    return dict(zip(("p", "r", "bad_loss", "good_loss"), map(_percent, rest), strict=False))


def _jitter(words: Words) -> Table | None:
    delay = words.lists.get("delay", [])
    if len(delay) < 2:
        return None
    jitter: Table = {"deviation": _time(seconds_of(delay[1]))}
    if len(delay) > 2:
        jitter["correlation"] = _percent(delay[2])
    distribution = words.values.get("distribution", "uniform")
    if distribution not in DISTRIBUTIONS:
        raise ValueError(f'unknown distribution "{distribution}" (allowed: {", ".join(DISTRIBUTIONS)})')
    if distribution != "uniform":
        jitter["distribution"] = distribution
    if "rate" in words.lists:
        jitter["order"] = "kept"
    return jitter


def netem_words(delay_s: float, channel: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the words of netem for a propagation delay in s and a channel as `Link.channel` describes it.

    Raises
    ------
    ValueError
        If netem has no such channel: a list of lost packets, or jitter that keeps the order of packets.

    Examples
    --------
    >>> netem_words(0.02, {"loss": {"probability": 0.01, "correlation": 0.0}, "jitter": {
    ...     "deviation_s": 0.002, "distribution": "normal", "correlation": 0.25, "order": "free"}})
    'netem delay 20ms 2ms 25% distribution normal loss random 1%'
    """
    loss, jitter, reorder, duplicate = (channel.get(key) or {} for key in NOTHING)
    found = ["netem", "delay", _time(delay_s)]
    if jitter:
        if jitter["order"] == "kept":
            raise ValueError('netem has no jitter with order = "kept" without its own rate')
        found += [_time(jitter["deviation_s"]), *_unless_zero(jitter["correlation"])]
        if jitter["distribution"] != "uniform":
            found += ["distribution", jitter["distribution"]]
    if "packets" in loss:
        raise ValueError("netem has no list of lost packets")
    if "p" in loss:
        found += ["loss", "gemodel", *(_written(loss[key]) for key in ("p", "r", "bad_loss", "good_loss"))]
    elif loss:
        found += ["loss", "random", _written(loss["probability"]), *_unless_zero(loss["correlation"])]
    for word, own in (("duplicate", duplicate), ("reorder", reorder)):
        if own:
            found += [word, _written(own["probability"]), *_unless_zero(own["correlation"])]
    if reorder.get("gap", 1) != 1:
        found += ["gap", f"{reorder['gap']:.0f}"]
    return " ".join(found)


def _written(share: float) -> str:
    return f"{100 * share:.10g}%"


def _unless_zero(correlation: float) -> list[str]:
    return [_written(correlation)] if correlation else []


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.12g}ms"
