"""A paper's claims as functions: each yields the tests of a claim, and its notes and objections are beside it.

::

    CLAIMS = Claims(columns={...}, quantities={...})

    @CLAIMS.claim("B-a", "MRED's throughput is better, except at 30 flows", quote="...", against=("RED", "gentle RED"))
    def throughput(runs: Runs, baseline: str) -> Tests:
        gain = runs.gain("throughput", "MRED", over=baseline).drop(n=30)
        yield literal(gain.mean_over("n").each("case") > 0)
        yield strict(gain.each("case", "n") > 0)

    @throughput.objection("The text speaks of the general case.", fails="strict")
    def _(runs: Runs, baseline: str) -> str:
        return f"The literal form {runs.literal}: {runs.gain('throughput', 'MRED', over=baseline).mean_over('n')} Mb/s."

A claim without `against` takes the runs alone. All tests of a form must hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Concatenate, Generic, Literal, ParamSpec, overload

from aqmlab.errors import InputError
from aqmlab.papers.common.claims import FORMS
from aqmlab.papers.common.expressions import Runs, Test
from aqmlab.papers.common.prose import sentences
from aqmlab.papers.common.vocabulary import SEED, Column, Quantity, Vocabulary

Tests = Iterator[Test]
Fails = Literal["", "any", "literal", "strict"]
"""The form that has to fail for a note to be shown: none, any, the literal one, or the strict one alone."""
P = ParamSpec("P")


@dataclass(frozen=True)
class Note(Generic[P]):
    """A text below the verdicts of a claim.

    Attributes
    ----------
    text
        Writes the note, or the answer to the objection.
    objection
        A possible objection of the authors; "" for a note.
    fails, against, under
        When it is shown: which form fails, against which baselines and under which readings (empty: all).
    """

    text: Callable[Concatenate[Runs, P], str]
    objection: str = ""
    fails: Fails = ""
    against: tuple[str, ...] = ()
    under: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim(Generic[P]):
    """A claim of a paper, or with `own` a question of this project.

    Attributes
    ----------
    id, title, quote
        Its name, and the authors' words with their place.
    function
        Yields its tests, given the runs and, if there are baselines, one of them.
    against
        The baselines: each gets a verdict.
    notes
        The texts below its verdicts.
    """

    id: str
    title: str
    quote: str
    function: Callable[Concatenate[Runs, P], Tests]
    against: tuple[str, ...] = ()
    own: bool = False
    notes: list[Note[P]] = field(default_factory=list)

    def note(
        self, *, fails: Fails = "", against: tuple[str, ...] = (), under: tuple[str, ...] = ()
    ) -> Callable[[Callable[Concatenate[Runs, P], str]], Callable[Concatenate[Runs, P], str]]:
        """Add the note that a function writes; it is left out if none of its numbers was run."""
        return self._added("", fails, against, under)

    def objection(
        self, says: str, *, fails: Fails = "any", against: tuple[str, ...] = (), under: tuple[str, ...] = ()
    ) -> Callable[[Callable[Concatenate[Runs, P], str]], Callable[Concatenate[Runs, P], str]]:
        """Add a possible objection of the authors to a failed form; the function writes the answer of the runs."""
        return self._added(says, fails, against, under)

    def _added(
        self, objection: str, fails: Fails, against: tuple[str, ...], under: tuple[str, ...]
    ) -> Callable[[Callable[Concatenate[Runs, P], str]], Callable[Concatenate[Runs, P], str]]:
        def add(text: Callable[Concatenate[Runs, P], str]) -> Callable[Concatenate[Runs, P], str]:
            self.notes.append(Note(text, objection, fails, against, under))
            return text

        return add

    @property
    def baselines(self) -> tuple[str, ...]:
        """The baselines of its verdicts; "" alone without baselines."""
        return self.against or ("",)

    def tests(self, runs: Runs, baseline: str) -> list[Test]:
        """Return its tests against one baseline."""
        try:
            yielded = called(self.function, runs, baseline)
            if not isinstance(yielded, Iterable):
                raise InputError("the function yields no test (yield literal(...) and strict(...))")
            found: list[Test] = list(yielded)
            for test in found:
                given: object = test
                if not isinstance(given, Test):
                    raise InputError(f"the function yields {type(given).__name__}, not literal(...) or strict(...)")
                if SEED in test.numbers.per and test.by_chance:
                    raise InputError(f'{test.form} form: each("seed") needs exact()')
            return found
        except InputError as error:
            raise InputError(f"claim {self.id}: {error}") from None


def called(function: Callable[..., object], runs: Runs, baseline: str) -> Any:  # noqa: ANN401 - its own result
    """Call a claim's function, or one beside it."""
    return function(runs, baseline) if baseline else function(runs)


@dataclass
class PaperIdea:
    """A paper's idea and its one finding.

    Attributes
    ----------
    idea
        The paper's idea in one sentence.
    says
        The finding in one sentence, for each verdict of its tests.
    function
        Yields the tests.
    shows
        Writes the numbers.
    """

    idea: str
    says: Mapping[str, str]
    function: Callable[[Runs], Tests]
    shows: Callable[[Runs], str] = lambda _: ""

    def text(self, function: Callable[[Runs], str]) -> Callable[[Runs], str]:
        """Let a function write the numbers."""
        self.shows = function
        return function


@dataclass(frozen=True)
class ClaimText:
    """A claim in words: its title, the authors' words, and how runs decide it."""

    id: str
    title: str
    quote: str
    test: str
    own: bool = False


class Claims:
    """The claims of a paper, in order.

    Parameters
    ----------
    columns, quantities, compared
        As for `Vocabulary`.
    """

    def __init__(
        self, columns: Mapping[str, Column], quantities: Mapping[str, Quantity], *, compared: str = "discipline"
    ) -> None:
        self.words = Vocabulary(columns, quantities, compared=compared)
        self.all: list[Claim[...]] = []
        self.found: PaperIdea | None = None

    def __iter__(self) -> Iterator[Claim[...]]:
        """Iterate over the claims."""
        return iter(self.all)

    @overload
    def claim(
        self, id: str, title: str, *, quote: str, own: bool = False
    ) -> Callable[[Callable[[Runs], Tests]], Claim[[]]]: ...

    @overload
    def claim(
        self, id: str, title: str, *, quote: str, own: bool = False, against: tuple[str, ...]
    ) -> Callable[[Callable[[Runs, str], Tests]], Claim[[str]]]: ...

    def claim(self, id: str, title: str, *, quote: str, own: bool = False, against: tuple[str, ...] = ()) -> Any:
        """Declare the claim whose tests a function yields.

        Parameters
        ----------
        id, title
            Its name and title.
        quote
            The authors' words, or with `own` the reason for the question.
        own
            Whether it is a question of ours.
        against
            The baselines, if there are several verdicts; the function is called with each.
        """
        if any(claim.id == id for claim in self.all):
            raise InputError(f"claim {id}: is declared twice")

        def add(function: Callable[..., Tests]) -> Claim[...]:
            made = Claim(id, title, quote, function, against, own)
            self.all.append(made)
            return made

        return add

    def finding(
        self, idea: str, *, holds: str, fails: str, undecided: str, no_effect: str = ""
    ) -> Callable[[Callable[[Runs], Tests]], PaperIdea]:
        """Declare the paper's one finding: the function yields its tests, whose verdict selects the sentence.

        Without `no_effect`, the sentence for that verdict is the undecided one.
        """
        says = {"holds": holds, "fails": fails, "no effect": no_effect or undecided, "undecided": undecided}

        def add(function: Callable[[Runs], Tests]) -> PaperIdea:
            self.found = PaperIdea(idea, says, function)
            return self.found

        return add

    def texts(self) -> list[ClaimText]:
        """Return the claims in words; the sentences on tests are made from the tests.

        Raises
        ------
        InputError
            If a claim names an undeclared column, value or quantity, or lacks a form.
        """
        return [ClaimText(claim.id, claim.title, claim.quote, self._tests(claim), claim.own) for claim in self.all]

    def _tests(self, claim: Claim[...]) -> str:
        return " ".join(f"{form.capitalize()}: {self.sentences(claim, form)}" for form in FORMS)

    def sentences(self, claim: Claim[...], form: str) -> str:
        """Write all tests of one form of a claim."""
        runs = Runs(self.words)
        tests = [test for baseline in claim.baselines for test in claim.tests(runs, baseline) if test.form == form]
        if not tests:
            raise InputError(f"claim {claim.id}: no test of the {form} form; each claim needs one of each form")
        return sentences(self.words, tests)
