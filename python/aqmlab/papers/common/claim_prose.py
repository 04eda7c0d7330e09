"""A test of a claim as a sentence, made from its data."""

from __future__ import annotations

from aqmlab.papers.common.claim_file import (
    FORMS,
    SEED,
    Claim,
    ClaimFile,
    Mechanism,
    Other,
    Range,
    Test,
    Where,
)


def claim_text(file: ClaimFile, claim: Claim) -> str:
    """Write all tests of a claim, form by form."""
    return " ".join(f"{form.capitalize()}: {form_sentences(file, claim, form)}" for form in FORMS)


def form_sentences(file: ClaimFile, claim: Claim, form: str) -> str:
    """Write all tests of one form of a claim."""
    return " ".join(sentence(file, test) for test in claim.tests if test.form == form)


def sentence(file: ClaimFile, test: Test) -> str:
    """Write one test."""
    titles = [file.quantities[name].title for name in test.quantities]
    who = _where(file, test.of, "; ")
    simple = len(test.of) == 1 and not any(file.columns[name].title for name in test.of) and " of " not in titles[0]
    subject = f"The {_listed([titles[0], *(f'the {title}' for title in titles[1:])])}"
    subject += (f" of {who}" if simple else f" ({who})" if who else "") + _limits(file, test)
    comparison = _comparison(file, test)
    if len(titles) > 1:
        comparison = comparison.replace("is ", "are ", 1) if comparison.startswith("is ") else comparison
    text = f"{subject} {comparison}{_cells(file, test)}"
    if test.mechanism is not None:
        text += f"; engaged where {_mechanism(file, test.mechanism)}"
    if test.statistic == "exact" and SEED not in test.each:
        text += " (calculated, no interval)"
    return f"{text}.{f' {test.why}' if test.why else ''}"


def side(file: ClaimFile, test: Test, where: Where) -> str:
    """Name the other side of a comparison: the runs, and the quantity if it is another one."""
    other = test.than.quantity if isinstance(test.than, Other) else ""
    named = dict(test.than.where if isinstance(test.than, Other) else {}) | dict(where)
    runs = _where(file, named, ", ")
    words = [f"the {file.quantities[other].title}" if other else "", runs]
    return " of ".join(word for word in words if word)


def _limits(file: ClaimFile, test: Test) -> str:
    found = f", averaged over {_names(file, test.mean_over)}" if test.mean_over else ""
    found += f", at {_where(file, test.at, ', ')}" if test.at else ""
    found += f", except at {_where(file, test.without, ', ')}" if test.without else ""
    return found + ("," if found else "")


def _cells(file: ClaimFile, test: Test) -> str:
    return f", for each {_names(file, test.each)}" if test.each else ""


def _comparison(file: ClaimFile, test: Test) -> str:
    unit = file.quantities[test.quantities[0]].unit
    unit = f" {unit}" if unit not in ("", "1") else ""
    other = _other(file, test, unit)
    if test.compare in ("grows", "falls"):
        along = file.columns[test.along].title or test.along
        steps = "from each value to the next" if test.steps == "each" else "from the lowest value to the highest"
        less = f", less {other}," if other else ""
        return f"{less.strip(', ') + ' ' if less else ''}{test.compare} with {along}, {steps}"
    if test.compare == "equal":
        return f"is within {test.within:g}{unit} of {other}"
    if test.compare == "between":
        if isinstance(test.than, tuple):
            return f"is between {test.than[0]:g} and {test.than[1]:g}{unit}"
        return f"is between {test.factor[0]:g} and {test.factor[1]:g} times {other}"
    times = f"{test.factor[0]:g} times " if test.factor else ""
    if test.margin:
        opposite = "below" if test.compare == "above" else "above"
        return f"is not {opposite} {times}{other} by {test.margin:g}{unit} or more"
    return f"is {test.compare} {times}{other}"


def _other(file: ClaimFile, test: Test, unit: str) -> str:
    if isinstance(test.than, float):
        return f"{test.than:g}{unit}"
    names = [side(file, test, where) for _, where in test.baselines]
    if names == [""]:
        return ""
    that = "" if isinstance(test.than, Other) and test.than.quantity else "that of "
    return that + " and of ".join(names)


def _mechanism(file: ClaimFile, mechanism: Mechanism) -> str:
    title = file.quantities[mechanism.quantity].title
    word, bound = ("above", mechanism.above) if mechanism.above is not None else ("below", mechanism.below)
    who = f" of {_where(file, mechanism.of, ', ')}" if mechanism.of else ""
    which = "over all seeds" if mechanism.total else "in some run"
    return f"the {title}{who} is {word} {bound:g} {which}"


def _where(file: ClaimFile, where: Where, separator: str) -> str:
    words = []
    for name, values in where.items():
        column = file.columns[name]
        if isinstance(values, Range):
            words.append(f"{column.title or name} from {values.low:g} to {values.high:g}")
        elif column.title:
            words.append(
                f"{column.title} = {', '.join(column.words(v).removeprefix(f'{column.title} = ') for v in values)}"
            )
        else:
            words.append(_listed([column.words(value) for value in values]))
    return separator.join(words)


def _listed(words: list[str]) -> str:
    """Join words: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _names(file: ClaimFile, columns: tuple[str, ...]) -> str:
    return " and ".join(file.column(name).title or name.replace("_", " ") for name in columns)
