"""Read and check ``claims.toml``: the claims of a paper as data, which `execute_claims` runs.

The tests are about a table with a row per run: columns that identify the run, ``seed``, and quantities. The file
declares both, and states each claim with its tests::

    [column.n]
    title = "n"                              # "n = 5" in sentences; "" (the default) shows the value alone
    values = [5, 10, 20]                     # or { sole = "TCP alone" }: each value with its words

    [quantity.loss]
    title = "loss"                           # and `unit`
    column = "loss_trace"                    # of the table of runs; default: the quantity's name
    printed = "loss"                         # `quantity` in published.csv, or a table of its columns; default: none

    [quantity.gap]
    title = "High / Non"
    formula = "high / non"                   # of other quantities and of columns

    [[claim]]
    id = "B-a"
    title = "MRED's throughput is better than RED's"
    says = "What the authors write, and where."
    own = false                              # true: a question of this project
    correction = "holm"                      # for a failure among several cells; or "none"
    [[claim.test]]
    form = "literal"                         # the authors' sentence; "strict": our stronger form
    quantity = "loss"                        # or a list: each of them
    of = { discipline = "MRED" }
    compare = "below"
    than = { discipline = "RED" }
    each = ["case"]
    mean_over = ["n"]
    except = { n = 30 }

Keys of a test that stand in ``[[claim]]`` apply to each of its tests. A claim needs at least one test of each form;
all tests of a form must hold.

========== =========================================================================================================
key        meaning
========== =========================================================================================================
form       ``literal`` or ``strict``
quantity   what is compared
of         which runs: a table of columns; a value may be a list, or ``{ from = 0.9, to = 1.2 }``
compare    ``above``, ``below``, ``equal``, ``between``, ``grows`` or ``falls``
than       a number; other runs, as a table of the columns in which they differ from `of`, which may name another
           ``quantity``; for ``between`` two numbers. ``grows`` and ``falls`` with `than` are about the difference
factor     `than` is multiplied by it; for ``between`` two of them, lowest and highest
margin     ``above`` and ``below`` tolerate a difference of less than this on the other side
within     ``equal``: the largest difference that counts as none
along      ``grows`` and ``falls``: the column along which
steps      ``each`` (the default: each value against the next lower one) or ``ends`` (the highest against the lowest)
each       columns: a cell for each combination of their values, each of which is judged. ``seed`` is a column too: a
           cell for each run, with ``statistic = "exact"``
mean_over  columns: the mean over their values, seed by seed
at, except which values of columns are included or left out, on both sides
against    a table of one column and its values: each is a further condition of `than` and gets a verdict of its own;
           or text: what the verdict is against, in words
statistic  ``paired t`` (the default), or ``exact`` for numbers without chance
mechanism  a table: ``quantity`` and ``above`` or ``below``; optional ``of`` (further conditions on columns) and
           ``total = true``. A cell is engaged if some run of it (or the total over its runs) meets the condition.
           Where `of` lists several values, each has to
name       which of a claim's several questions the test answers
why        the reason for a number in the test, for the reader
========== =========================================================================================================

`than` is joined with `of`: ``of = { case = "a", n = 5 }`` and ``than = { n = 9 }`` compare n = 5 with 9 in case a.

``[finding]`` states the paper's one finding; its numbers come from the runs::

    [finding]
    idea = "The paper's idea in one sentence."
    shows = "{cost} Mb/s with {cost.at} flows"   # {name} of a number below; {name.at}: where; {name.printed}: on paper
    [finding.says]                           # the sentence for each verdict of the tests
    holds = "..."
    fails = "..."
    undecided = "..."
    [finding.number.cost]                    # quantity, of, than, each, mean_over, at and except as in a test;
    quantity = "assured"                     # with `than` the difference, with `relative` in percent of `than`
    of = { discipline = "RIO" }
    each = ["flows"]
    [[finding.test]]                         # as a test of a claim, without `form`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

from aqmlab.errors import InputError, unknown

Value = str | int | float
STRICT = "strict"
FORMS = ("literal", STRICT)
"""Both forms of a claim."""
COMPARISONS = ("above", "below", "equal", "between", "grows", "falls")
STATISTICS = ("paired t", "exact")
CORRECTIONS = ("holm", "none")
STEPS = ("each", "ends")
SEED = "seed"

_COLUMN_KEYS = ("title", "values")
_QUANTITY_KEYS = ("title", "unit", "column", "formula", "printed")
_TEST_KEYS = (
    "form", "quantity", "of", "compare", "than", "factor", "margin", "within", "along", "steps", "each", "mean_over",
    "at", "except", "against", "statistic", "mechanism", "name", "why",
)  # fmt: skip
_CLAIM_KEYS = ("id", "title", "says", "own", "correction", "test")
_INHERITED = tuple(key for key in _TEST_KEYS if key != "form")
_FINDING_KEYS = ("idea", "says", "shows", "number", "test")
_NUMBER_KEYS = ("quantity", "of", "than", "relative", "each", "mean_over", "at", "except")
_SAID = ("holds", "fails", "undecided")
FINDING = "finding"
"""The id under which errors name the finding."""


@dataclass(frozen=True)
class Range:
    """Values from `low` to `high`, both included."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        """Whether a value is in the range."""
        return isinstance(value, int | float) and self.low <= value <= self.high


Where = Mapping[str, tuple[Value, ...] | Range]


@dataclass(frozen=True)
class Column:
    """A column that identifies runs: how its values are written, and which there are (None: any)."""

    title: str = ""
    values: Mapping[Value, str] | None = None

    def words(self, value: Value) -> str:
        """Write one value.

        >>> Column("n").words(5), Column("", {"sole": "TCP alone"}).words("sole")
        ('n = 5', 'TCP alone')
        """
        text = (self.values or {}).get(value, str(value))
        return f"{self.title} = {text}" if self.title else text


_SEEDS = Column("seed")


@dataclass(frozen=True)
class Quantity:
    """A number of each run: its words, where it stands in the table of runs, and where its printed numbers are."""

    title: str
    unit: str = ""
    column: str = ""
    formula: str = ""
    printed: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Mechanism:
    """The condition under which the mechanism of a claim acted in a cell; see the module."""

    quantity: str
    above: float | None = None
    below: float | None = None
    of: Where | None = None
    total: bool = False


@dataclass(frozen=True)
class Other:
    """What is compared with: the columns in which its runs differ, and its quantity ("" for the same)."""

    where: Where
    quantity: str = ""


@dataclass(frozen=True)
class Test:
    """One test of a claim; the module explains each key."""

    form: str
    quantities: tuple[str, ...]
    of: Where
    compare: str
    than: float | tuple[float, ...] | Other | None = None
    factor: tuple[float, ...] = ()
    margin: float = 0.0
    within: float = 0.0
    along: str = ""
    steps: str = "each"
    each: tuple[str, ...] = ()
    mean_over: tuple[str, ...] = ()
    at: Where = field(default_factory=dict)
    without: Where = field(default_factory=dict)
    baselines: tuple[tuple[str, Where], ...] = (("", {}),)
    statistic: str = STATISTICS[0]
    mechanism: Mechanism | None = None
    name: str = ""
    why: str = ""

    __test__ = False  # not a test of pytest's


@dataclass(frozen=True)
class Claim:
    """A claim of the paper (or, with `own`, a question of ours) and its tests."""

    id: str
    title: str
    says: str
    tests: tuple[Test, ...]
    own: bool = False
    correction: str = CORRECTIONS[0]


@dataclass(frozen=True)
class FindingText:
    """The paper's one finding as data: its idea, a sentence for each verdict, a template and the numbers in it."""

    idea: str
    says: Mapping[str, str]
    shows: str
    numbers: Mapping[str, Test]
    relative: frozenset[str]
    tests: tuple[Test, ...]


@dataclass(frozen=True)
class ClaimFile:
    """All of ``claims.toml``."""

    columns: Mapping[str, Column]
    quantities: Mapping[str, Quantity]
    claims: tuple[Claim, ...]
    finding: FindingText | None = None

    def column(self, name: str) -> Column:
        """Return a declared column, or that of seeds."""
        return _SEEDS if name == SEED else self.columns[name]


def read_claims(data: Mapping[str, Any], *, file: str) -> ClaimFile:
    """Check the data of a ``claims.toml`` and return it.

    Raises
    ------
    InputError
        One line with the file, the claim's id, the key and what is allowed.
    """
    _known(data, ("column", "quantity", "claim", FINDING), file, "key")
    columns = {}
    for name, entry in data.get("column", {}).items():
        _known(entry, _COLUMN_KEYS, f"{file}: column {name}", "key")
        values = entry.get("values")
        words = values if values is None or isinstance(values, Mapping) else {value: str(value) for value in values}
        columns[name] = Column(entry.get("title", ""), words)
    quantities = {
        name: _quantity(name, entry, f"{file}: quantity {name}") for name, entry in data.get("quantity", {}).items()
    }
    reader = _Reader(columns, quantities)
    claims = tuple(reader.claim(entry, file) for entry in data.get("claim", ()))
    finding = reader.finding(data[FINDING], f"{file}: {FINDING}") if FINDING in data else None
    return ClaimFile(columns, quantities, claims, finding)


def _quantity(name: str, entry: Mapping[str, Any], place: str) -> Quantity:
    _known(entry, _QUANTITY_KEYS, place, "key")
    printed = entry.get("printed", "")
    if isinstance(printed, str):
        printed = {"quantity": printed} if printed else {}
    if entry.get("formula") and entry.get("column"):
        raise InputError(f"{place}: either column or formula, not both")
    return Quantity(
        entry.get("title", name),
        entry.get("unit", ""),
        entry.get("column", "" if entry.get("formula") else name),
        entry.get("formula", ""),
        printed,
    )


@dataclass(frozen=True)
class _Reader:
    """Reads claims, given the columns and quantities that their file declares."""

    columns: Mapping[str, Column]
    quantities: Mapping[str, Quantity]

    def claim(self, entry: Mapping[str, Any], file: str) -> Claim:
        place = f"{file}: claim {entry.get('id', '?')}"
        _known(entry, (*_CLAIM_KEYS, *_INHERITED), place, "key")
        _required(entry, ("id", "title", "says", "test"), place)
        common = {key: value for key, value in entry.items() if key in _INHERITED}
        tests = tuple(
            self.test({**common, **test}, f"{place}: test {number}") for number, test in enumerate(entry["test"], 1)
        )
        for form in FORMS:
            if all(test.form != form for test in tests):
                raise InputError(f'{place}: no test with form = "{form}"; each claim needs one of each form')
        correction = entry.get("correction", CORRECTIONS[0])
        _one_of(correction, CORRECTIONS, place, "correction")
        return Claim(entry["id"], entry["title"], entry["says"], tests, entry.get("own", False), correction)

    def test(self, entry: Mapping[str, Any], place: str) -> Test:
        _known(entry, _TEST_KEYS, place, "key")
        _required(entry, ("form", "quantity", "of", "compare"), place)
        for key, allowed in (
            ("form", FORMS), ("compare", COMPARISONS), ("statistic", STATISTICS), ("steps", STEPS),
        ):  # fmt: skip
            if key in entry:
                _one_of(entry[key], allowed, place, key)
        quantities = tuple(_list(entry["quantity"]))
        for name in quantities:
            _one_of(name, tuple(self.quantities), place, "quantity")
        for key in ("each", "mean_over", "along"):
            for name in _list(entry.get(key, ())):
                columns = (*self.columns, SEED) if key == "each" else tuple(self.columns)
                _one_of(name, columns, place, f"{key}: column")
        test = Test(
            form=entry["form"],
            quantities=quantities,
            of=self.where(entry["of"], f"{place}: of"),
            compare=entry["compare"],
            than=self.other(entry.get("than"), f"{place}: than"),
            factor=tuple(float(value) for value in _list(entry.get("factor", ()))),
            margin=float(entry.get("margin", 0.0)),
            within=float(entry.get("within", 0.0)),
            along=entry.get("along", ""),
            steps=entry.get("steps", STEPS[0]),
            each=tuple(_list(entry.get("each", ()))),
            mean_over=tuple(_list(entry.get("mean_over", ()))),
            at=self.where(entry.get("at", {}), f"{place}: at"),
            without=self.where(entry.get("except", {}), f"{place}: except"),
            baselines=self.baselines(entry.get("against", ""), f"{place}: against"),
            statistic=entry.get("statistic", STATISTICS[0]),
            mechanism=self.mechanism(entry.get("mechanism"), f"{place}: mechanism"),
            name=entry.get("name", ""),
            why=entry.get("why", ""),
        )
        _consistent(test, place)
        return test

    def finding(self, entry: Mapping[str, Any], place: str) -> FindingText:
        _known(entry, _FINDING_KEYS, place, "key")
        _required(entry, ("idea", "says", "shows", "number", "test"), place)
        _known(entry["says"], _SAID, f"{place}: says", "verdict")
        _required(entry["says"], _SAID, f"{place}: says")
        numbers = {}
        for name, number in entry["number"].items():
            _known(number, _NUMBER_KEYS, f"{place}: number {name}", "key")
            keys = {key: value for key, value in number.items() if key != "relative"}
            numbers[name] = self.test(
                {"form": FORMS[0], "compare": "above", "than": 0, **keys}, f"{place}: number {name}"
            )
        for _, used, _, _ in Formatter().parse(entry["shows"]):
            if used is not None:
                _one_of(used.partition(".")[0], tuple(numbers), f"{place}: shows", "number")
        tests = tuple(
            self.test({"form": FORMS[0], **test}, f"{place}: test {index}")
            for index, test in enumerate(entry["test"], 1)
        )
        relative = frozenset(name for name, number in entry["number"].items() if number.get("relative", False))
        return FindingText(entry["idea"], entry["says"], entry["shows"], numbers, relative, tests)

    def where(self, entry: Mapping[str, Any], place: str) -> Where:
        found: dict[str, tuple[Value, ...] | Range] = {}
        for name, value in entry.items():
            _one_of(name, tuple(self.columns), place, "column")
            if isinstance(value, Mapping):
                _known(value, ("from", "to"), f"{place}: {name}", "key")
                found[name] = Range(value.get("from", float("-inf")), value.get("to", float("inf")))
                continue
            values = tuple(_list(value))
            declared = self.columns[name].values
            for one in values if declared is not None else ():
                _one_of(one, tuple(declared or ()), place, name)
            found[name] = values
        return found

    def other(self, entry: Any, place: str) -> float | tuple[float, ...] | Other | None:  # noqa: ANN401 - TOML
        if isinstance(entry, Mapping):
            quantity = entry.get("quantity", "")
            if quantity:
                _one_of(quantity, tuple(self.quantities), place, "quantity")
            return Other(self.where({k: v for k, v in entry.items() if k != "quantity"}, place), quantity)
        if isinstance(entry, list):
            return tuple(float(value) for value in entry)
        return None if entry is None else float(entry)

    def baselines(self, entry: Any, place: str) -> tuple[tuple[str, Where], ...]:  # noqa: ANN401 - TOML
        if isinstance(entry, str):
            return ((entry, {}),)
        if len(entry) != 1:
            raise InputError(f"{place}: one column with its values, or text")
        ((name, values),) = entry.items()
        self.where(entry, place)
        return tuple((str(value), {name: (value,)}) for value in _list(values))

    def mechanism(self, entry: Mapping[str, Any] | None, place: str) -> Mechanism | None:
        if entry is None:
            return None
        _known(entry, ("quantity", "above", "below", "of", "total"), place, "key")
        _required(entry, ("quantity",), place)
        _one_of(entry["quantity"], tuple(self.quantities), place, "quantity")
        if ("above" in entry) == ("below" in entry):
            raise InputError(f"{place}: either above or below")
        of = self.where(entry["of"], f"{place}: of") if "of" in entry else None
        return Mechanism(entry["quantity"], entry.get("above"), entry.get("below"), of, entry.get("total", False))


def _consistent(test: Test, place: str) -> None:
    """Check keys that depend on each other."""
    against_runs = isinstance(test.than, Other) or any(where for _, where in test.baselines)
    needed = {
        "grows": test.along != "",
        "falls": test.along != "",
        "equal": test.within > 0 and test.than is not None,
        "between": len(test.factor) == 2 if against_runs else isinstance(test.than, tuple) and len(test.than) == 2,
        "above": against_runs or isinstance(test.than, float),
        "below": against_runs or isinstance(test.than, float),
    }
    words = {
        "grows": "along",
        "falls": "along",
        "equal": "than and within",
        "between": "than with two numbers, or than with runs and factor with two numbers",
        "above": "than",
        "below": "than",
    }
    if not needed[test.compare]:
        raise InputError(f'{place}: compare = "{test.compare}" needs {words[test.compare]}')
    if SEED in test.each and test.statistic != "exact":
        raise InputError(f'{place}: each = "seed" needs statistic = "exact"')
    if test.within and test.compare != "equal":
        raise InputError(f'{place}: within belongs to compare = "equal"')
    if test.margin and test.compare not in ("above", "below"):
        raise InputError(f'{place}: margin belongs to compare = "above" or "below"')


def _list(entry: Any) -> Sequence[Any]:  # noqa: ANN401 - TOML
    return entry if isinstance(entry, list | tuple) else [entry]


def _known(entry: Mapping[str, Any], allowed: Sequence[str], place: str, kind: str) -> None:
    for key in entry:
        _one_of(key, allowed, place, kind)


def _one_of(value: Value, allowed: Sequence[Value], place: str, kind: str) -> None:
    if value not in allowed:
        raise InputError(f"{place}: {unknown(kind, str(value), [str(one) for one in allowed])}")


def _required(entry: Mapping[str, Any], keys: Sequence[str], place: str) -> None:
    for key in keys:
        if key not in entry:
            raise InputError(f"{place}: the key {key} is missing")
