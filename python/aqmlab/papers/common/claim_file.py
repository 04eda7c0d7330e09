"""The format of ``claims.toml``: the claims of a paper as data, which `execute_claims` runs and `read_claims` checks.

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
quantity   the compared quantity
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
           or text: the name of the verdict's baseline
statistic  ``paired t`` (the default), or ``exact`` for numbers without chance
mechanism  a table: ``quantity`` and ``above`` or ``below``; optional ``of`` (further conditions on columns) and
           ``total = true``. A cell is engaged if some run of it (or the total over its runs) meets the condition.
           Where `of` lists several values, each has to
name       which of a claim's several questions the test answers
why        the reason for a number in the test, for the reader
========== =========================================================================================================

`than` is joined with `of`: ``of = { case = "a", n = 5 }`` and ``than = { n = 9 }`` compare n = 5 with 9 in case a.

Notes stand below the verdicts, and objections of the authors where a form fails; numbers come from the runs::

    [[claim.note]]
    says = "Loss {mred} against {red}."
    [claim.note.number.mred]           # as a number of an objection
    [[claim.objection]]
    says = "The strongest objection."
    answer = "What a further experiment shows: {gain} Mb/s."   # {literal} and {strict} are the verdicts in words
    unanswered = "Why no experiment answers it."               # in place of answer
    fails = "strict"                   # only if this form alone fails; "literal": if it fails; "any" (of an objection
                                       # the default): if one fails; of a note the default is to show it always
    against = ["RED"]                  # only against these baselines
    under = ["ns-2's"]                 # only under these readings, if several are judged
    [claim.objection.number.gain]      # as a number of the finding, and:
    reading = "TCP flavour: SACK"      # "question: name" of readings.toml; default: the reading that is judged
    against = true                     # the difference from the baseline

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

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | int | float
STRICT = "strict"
FORMS = ("literal", STRICT)
"""Both forms of a claim."""
COMPARISONS = ("above", "below", "equal", "between", "grows", "falls")
STATISTICS = ("paired t", "exact")
CORRECTIONS = ("holm", "none")
STEPS = ("each", "ends")
SEED = "seed"

ANY = "any"
"""A note is shown if any form fails."""
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
    """The other side of a comparison: the columns in which its runs differ, and its quantity ("" for the same)."""

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
class Number:
    """A number in a text, as a test without comparison; see the module."""

    test: Test
    relative: bool = False
    reading: str = ""
    against: bool = False


@dataclass(frozen=True)
class Note:
    """A sentence below a verdict; see the module. `fails` says which form has to fail: "" (none), `ANY` or a form."""

    says: str
    fails: str = ""
    against: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    numbers: Mapping[str, Number] = field(default_factory=dict)


@dataclass(frozen=True)
class Objection(Note):
    """A possible objection of the authors to a failed form, with its answer or the reason for none; see the module."""

    answer: str = ""
    unanswered: str = ""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper (or, with `own`, a question of ours), its tests, and what stands below the verdicts."""

    id: str
    title: str
    says: str
    tests: tuple[Test, ...]
    own: bool = False
    correction: str = CORRECTIONS[0]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class FindingText:
    """The paper's one finding as data: its idea, a sentence for each verdict, a template and the numbers in it."""

    idea: str
    says: Mapping[str, str]
    shows: str
    numbers: Mapping[str, Number]
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
