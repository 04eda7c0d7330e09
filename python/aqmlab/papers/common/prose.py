"""A test of a claim as a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from aqmlab.errors import joined
from aqmlab.papers.common.expressions import Mechanism, Numbers, Test
from aqmlab.papers.common.vocabulary import SEED, Range, Vocabulary, Where


def sentences(words: Vocabulary, tests: Iterable[Test]) -> str:
    """Write tests one after the other; those that differ in quantity or in the other side's runs share a sentence."""
    groups: list[list[Test]] = []
    for test in tests:
        alike = [group for group in groups if _blank(group[0]) == _blank(test)]
        if not alike:
            groups.append([test])
        elif all(test.numbers.than != other.numbers.than for other in alike[0]):
            alike[0].append(test)
    found: list[list[list[Test]]] = []
    for group in groups:
        alike_groups = [own for own in found if _of_any(words, own[0]) == _of_any(words, group)]
        alike_groups[0].append(group) if alike_groups else found.append([group])
    return " ".join(sentence(words, *own[0], others=[group[0].numbers.quantity for group in own[1:]]) for own in found)


def _blank(test: Test) -> Test:
    """Return a test without the other side's runs."""
    return test if test.numbers.than is None else replace(test, numbers=replace(test.numbers, than={}))


def _of_any(words: Vocabulary, tests: Sequence[Test]) -> list[Test]:
    """Return tests without their quantity; its unit stands for it where the sentence has a number in that unit."""

    def unit(test: Test) -> str:
        return words.quantity(test.numbers.quantity).unit if test.bound or test.margin or test.within else ""

    return [replace(test, numbers=replace(test.numbers, quantity=unit(test))) for test in tests]


def sentence(words: Vocabulary, *tests: Test, others: Sequence[str] = ()) -> str:
    """Write one test, or several that differ in the other side's runs alone; `others` are further quantities."""
    test, numbers = tests[0], tests[0].numbers
    titles = joined([f"the {words.quantity(quantity).title}" for quantity in (numbers.quantity, *others)])
    runs = where_words(words, numbers.of, "; ")
    untitled = len(numbers.of) == 1 and not any(words.column(name).title for name in numbers.of)
    simple = untitled and " of " not in words.quantity(numbers.quantity).title
    subject = f"T{titles[1:]}" + (f" of {runs}" if simple else f" ({runs})" if runs else "") + _limits(words, numbers)
    comparison = _comparison(words, tests)
    if others and comparison.startswith("is "):
        comparison = f"are {comparison.removeprefix('is ')}"
    text = f"{subject} {comparison}"
    text += f", for each {_names(words, numbers.per)}" if numbers.per else ""
    if test.mechanism is not None:
        text += f"; engaged where {_mechanism(words, test.mechanism)}"
    if test.no_effect:
        text += f"; less than {test.no_effect:g}{unit_of(words, numbers.quantity, ' ')} counts as no effect"
    if not test.by_chance and SEED not in numbers.per:
        text += " (calculated, no interval)"
    return f"{text}.{f' {test.why}' if test.why else ''}"


def side(words: Vocabulary, numbers: Numbers) -> str:
    """Name the other side of a comparison: the runs, and the quantity if it is another one."""
    title = f"the {words.quantity(numbers.other).title}" if numbers.other else ""
    return " of ".join(word for word in (title, where_words(words, numbers.than or {}, ", ")) if word)


def where_words(words: Vocabulary, where: Where, separator: str) -> str:
    """Write a selection of runs."""
    found = []
    for name, values in where.items():
        column = words.column(name)
        if isinstance(values, Range):
            found.append(f"{column.title or name} from {values.low:g} to {values.high:g}")
        elif column.title:
            named = [column.words(value).removeprefix(f"{column.title} = ") for value in values]
            found.append(f"{column.title} = {', '.join(named)}")
        else:
            found.append(joined([column.words(value) for value in values]))
    return separator.join(found)


def unit_of(words: Vocabulary, quantity: str, before: str) -> str:
    """Return the unit of a quantity after some text; "" for a number without unit."""
    unit = words.quantity(quantity).unit
    return f"{before}{unit}" if unit not in ("", "1") else ""


def _limits(words: Vocabulary, numbers: Numbers) -> str:
    found = f", averaged over {_names(words, numbers.over)}" if numbers.over else ""
    found += f", at {where_words(words, numbers.limits, ', ')}" if numbers.limits else ""
    found += f", except at {where_words(words, numbers.without, ', ')}" if numbers.without else ""
    return found + ("," if found else "")


def _comparison(words: Vocabulary, tests: Sequence[Test]) -> str:
    test = tests[0]
    unit = unit_of(words, test.numbers.quantity, " ")
    other = _other(words, tests, unit)
    if test.along:
        along = words.column(test.along).title or test.along
        steps = "from each value to the next" if test.steps == "each" else "from the lowest value to the highest"
        return f"{f'less {other} ' if other else ''}{test.compare} with {along}, {steps}"
    if test.compare == "equal":
        return f"is within {test.within:g}{unit} of {other}"
    if test.compare == "between":
        low, high = test.bound or test.factor
        return f"is between {low:g} and {high:g}" + (unit if test.bound else f" times {other}")
    times = f"{test.factor[0]:g} times " if test.factor else ""
    if test.margin > 0:
        opposite = "below" if test.compare == "above" else "above"
        return f"is not {opposite} {times}{other} by {test.margin:g}{unit} or more"
    more = f" by more than {-test.margin:g}{unit}" if test.margin else ""
    return f"is {test.compare} {times}{other}{more}"


def _other(words: Vocabulary, tests: Sequence[Test], unit: str) -> str:
    test = tests[0]
    if test.bound:
        return f"{test.bound[0]:g}{unit}"
    names = [side(words, one.numbers) for one in tests]
    if names == [""]:
        return ""
    return ("" if test.numbers.other else "that of ") + " and of ".join(names)


def _mechanism(words: Vocabulary, mechanism: Mechanism) -> str:
    condition = mechanism.test
    title = words.quantity(condition.numbers.quantity).title
    runs = where_words(words, condition.numbers.of, ", ")
    which = "over all seeds" if mechanism.total else "in some run"
    return f"the {title}{f' of {runs}' if runs else ''} is {condition.compare} {condition.bound[0]:g} {which}"


def _names(words: Vocabulary, columns: Sequence[str]) -> str:
    return " and ".join(words.column(name).title or name.replace("_", " ") for name in columns)
