"""The words of ``netem`` and the channel of a link, in both directions.

| netem | keys of a link |
|---|---|
| ``loss random P CORRELATION``, ``loss P`` | ``loss = { probability, correlation }`` |
| ``loss gemodel P R 1-H 1-K`` | ``loss = { p, r, bad_loss, good_loss }`` |
| ``delay TIME JITTER``, ``distribution`` | ``delay``, ``jitter = { deviation, distribution }`` |
| ``rate`` beside a jitter | ``jitter = { order = "kept" }`` |
| ``reorder P CORRELATION gap N`` | ``reorder = { probability, correlation, gap }`` |
| ``duplicate P CORRELATION`` | ``duplicate = { probability, correlation }`` |

Two correlations have no effect in Linux, and are not translated:

* That of ``delay``: the kernel takes the correlated number modulo twice the jitter in ns, or modulo the length of the
  distribution's table, so that delays are nearly independent.
* That of ``duplicate``, in a line without a correlation of ``delay`` or ``loss``: tc does not send it to the kernel.
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
    _check(words)
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
    if "rate" in lists and "reorder" in channel:
        notes.append("rate: packets that skip the delay skip the rate too in Linux, not here")
    if len(lists.get("delay", [])) > 2:
        notes.append(
            f"delay correlation {_percent(lists['delay'][2])}: delays are nearly independent in Linux, and here"
        )
    if "duplicate" in lists:
        known.add("duplicate")
        own = lists["duplicate"][:2]
        if len(own) > 1 and not _sends_correlations(words):
            left_out = _percent(own.pop())
            notes.append(f"duplicate correlation {left_out}: tc sends it only with a correlation of delay or loss")
        channel["duplicate"] = _probability(own)
    return channel, known, notes


MOST = {"delay": 3, "jitter": 3, "duplicate": 2, "reorder": 2}
"""Values that tc takes after a word."""
MOST_LOSS = {"random": 3, "state": 6, "gemodel": 5}
"""The same after ``loss`` with the name of a model, which counts."""


def _check(words: Words) -> None:
    """Report words and combinations that tc rejects."""
    values, lists = words.values, words.lists
    most = MOST | {word: MOST_LOSS.get(lists[word][0], 2) for word in ("loss", "drop") if lists.get(word)}
    for word, several in lists.items():
        if len(several) > most.get(word, len(several)):
            raise ValueError(f'{word}: "{several[most[word]]}" is one value too many')
    delay = [seconds_of(one) for one in lists.get("delay", [])[:2]]
    if "gap" in values and "reorder" not in lists:
        raise ValueError("gap needs reorder")
    if "gap" in values and number_of(values["gap"]) < 0:
        raise ValueError(f'gap: "{values["gap"]}" is negative')
    if "reorder" in lists and not delay:
        raise ValueError("reorder needs a delay")
    if "distribution" in values and not any(delay[1:]):
        raise ValueError("distribution needs a jitter, the second time of delay")


def _sends_correlations(words: Words) -> bool:
    """Return whether tc sends correlations to the kernel: where delay or loss has one."""
    losses = [words.lists.get(word, []) for word in ("loss", "drop")]
    of_loss = [own[1:] if own[:1] == ["random"] else own for own in losses if own[:1] not in (["state"], ["gemodel"])]
    return len(words.lists.get("delay", [])) > 2 or any(len(own) > 1 for own in of_loss)


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
    distribution = words.values.get("distribution", "uniform")
    if distribution not in DISTRIBUTIONS:
        raise ValueError(f'unknown distribution "{distribution}" (allowed: {", ".join(DISTRIBUTIONS)})')
    if distribution != "uniform":
        jitter["distribution"] = distribution
    if "rate" in words.lists:
        jitter["order"] = "kept"
    return jitter


def netem_words(delay_s: float, channel: Mapping[str, Mapping[str, Any]], rate_bps: float) -> str:
    """Return the words of netem for a propagation delay in s and a channel as `Link.channel` describes it.

    The rate in bit/s is written where jitter keeps the order of packets, as only netem's own rate does.

    Raises
    ------
    ValueError
        If netem has no such channel: a list of lost packets, correlated jitter, copies that alone are correlated.

    Examples
    --------
    >>> netem_words(0.02, {"loss": {"probability": 0.01, "correlation": 0.0}, "jitter": {
    ...     "deviation_s": 0.002, "distribution": "normal", "correlation": 0.0, "order": "free"}}, 1e7)
    'netem delay 20ms 2ms distribution normal loss random 1%'
    """
    loss, jitter, reorder, duplicate = (channel.get(key) or {} for key in NOTHING)
    found = ["netem", "delay", _time(delay_s)]
    if jitter:
        if jitter["correlation"]:
            raise ValueError("netem has no correlated jitter: delays are nearly independent in Linux")
        found.append(_time(jitter["deviation_s"]))
        if jitter["distribution"] != "uniform":
            found += ["distribution", jitter["distribution"]]
    if "packets" in loss:
        raise ValueError("netem has no list of lost packets")
    if "p" in loss:
        found += ["loss", "gemodel", *(_written(loss[key]) for key in ("p", "r", "bad_loss", "good_loss"))]
    elif loss:
        found += ["loss", "random", _written(loss["probability"]), *_unless_zero(loss["correlation"])]
    if duplicate.get("correlation") and not loss.get("correlation"):
        raise ValueError("tc sends a correlation of duplicates only with one of losses")
    for word, own in (("duplicate", duplicate), ("reorder", reorder)):
        if own:
            found += [word, _written(own["probability"]), *_unless_zero(own["correlation"])]
    if reorder.get("gap", 1) != 1:
        found += ["gap", f"{reorder['gap']:.0f}"]
    if jitter.get("order") == "kept":
        found += ["rate", f"{rate_bps:.0f}bit"]
    return " ".join(found)


def _written(share: float) -> str:
    return f"{100 * share:.10g}%"


def _unless_zero(correlation: float) -> list[str]:
    return [_written(correlation)] if correlation else []


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.12g}ms"
