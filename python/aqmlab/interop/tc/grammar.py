"""Words of tc's disciplines: which of them stand alone, have a value, or a list of values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from aqmlab.errors import InputError
from aqmlab.interop.tc import cake
from aqmlab.interop.tc.other_queues import ALONE

VERBS = ("add", "replace", "change", "link")
LISTS = ("quanta", "priomap")
"""Words of prio and ets with as many numbers as follow."""
BESIDES = {
    "tbf": ("offloaded",),
    "htb": ("offload",),
    "netem": ("ecn",),
    "red": ("adaptative",),
}
"""Further words without a value, by discipline."""
NETEM_LISTS = ("delay", "latency", "loss", "drop", "corrupt", "duplicate", "reorder", "rate", "slot")
NETEM_WORDS = (*NETEM_LISTS, "limit", "gap", "jitter", "distribution", "ecn", "seed")
CAKES = ("cake", "cake_mq")
"""CAKE, and Linux's version of it with a queue on each transmit queue of a device."""
CURVES = ("sc", "rt", "ls", "ul")
"""Words of hfsc's classes with a curve."""
SYNONYMS = {
    "tbf": {"buffer": "burst", "maxburst": "burst", "lat": "latency", "minburst": "mtu"},
    "netem": {"latency": "delay"},
    "red": {"adaptative": "adaptive"},
}
"""Words of the same meaning, by discipline."""


@dataclass
class Words:
    """The words of a line, each with its value; a word that stands alone is the value of the table's word.

    Attributes
    ----------
    values
        Values by word.
    lists
        Values of words with several.
    twice
        Pairs of settings of one meaning, as they stand in the line; the last of them is in `values` or `lists`.
    """

    values: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    twice: list[tuple[str, str]] = field(default_factory=list, compare=False)

    def changed(self, new: Words) -> Words:
        """Return the words with others in place of those that a line names."""
        return Words(self.values | new.values, self.lists | new.lists)

    def without(self, known: Mapping[str, object] | frozenset[str] | set[str]) -> Iterator[str]:
        """Yield the words that are not known, as they stand in the line."""
        for word, value in self.values.items():
            if word not in known:
                yield value if word in ALONE.values() or value == word else f"{word} {value}"
        for word, several in self.lists.items():
            if word not in known:
                yield f"{word} {' '.join(several)}"


def words_of(kind: str, words: list[str], where: str, *, is_class: bool = False) -> Words:
    """Read what follows the name of a discipline.

    Raises
    ------
    InputError
        For a word without its value.
    """
    if kind in CAKES:
        try:
            return Words(cake.read_words(words), twice=_twice(cake.settings_of(words)))
        except ValueError as error:
            raise InputError(f"{where}: {error}") from None
    found = Words()
    settings: list[tuple[str, str]] = []
    synonyms = SYNONYMS.get(kind, {})
    at = 0
    while at < len(words):
        begun, word = at, words[at]
        word, at = synonyms.get(word, word), at + 1
        if word in BESIDES.get(kind, ()):
            found.values[word] = word
        elif word in ALONE and not is_class:
            found.values[ALONE[word]] = word
        elif word in LISTS or (kind == "netem" and word in NETEM_LISTS) or (kind == "hfsc" and word in CURVES):
            ends = _is_number if word in LISTS else _is_no_word_of_netem if kind == "netem" else _is_no_curve
            several = words[at : at + 1] if words[at - 1 : at + 1] == ["slot", "distribution"] else []
            at += len(several)
            while at < len(words) and ends(words[at]):
                several.append(words[at])
                at += 1
            if not several:
                raise InputError(f'{where}: "{word}" has no value')
            found.lists[word] = several
        elif at < len(words):
            found.values[word] = words[at]
            at += 1
        else:
            raise InputError(f'{where}: "{word}" has no value')
        settings.append((word if is_class else ALONE.get(word, word), " ".join(words[begun:at])))
    found.twice = _twice(settings)
    return found


def _twice(settings: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return each setting whose meaning an earlier one has, behind that.

    >>> _twice([("min", "min 1"), ("ecn", "ecn"), ("min", "min 2"), ("ecn", "noecn")])
    [('min 1', 'min 2'), ('ecn', 'noecn')]
    """
    found, last = [], dict[str, str]()
    for meaning, text in settings:
        if meaning in last:
            found.append((last[meaning], text))
        last[meaning] = text
    return found


def _is_number(word: str) -> bool:
    return re.fullmatch(r"\d{1,10}", word) is not None


def _is_no_curve(word: str) -> bool:
    return word not in CURVES


def _is_no_word_of_netem(word: str) -> bool:
    return word not in NETEM_WORDS
