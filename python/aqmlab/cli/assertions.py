"""``--assert`` of commands that simulate: bounds before the runs, verdicts and exit code after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.cli.output import print_wrapped
from aqmlab.errors import Error, InputError, UndecidedError, counted
from aqmlab.results.outputs import save_output

if TYPE_CHECKING:
    from aqmlab.results.result import Result
    from aqmlab.runs.assertions import Assertion
    from aqmlab.runs.bounds import Bound
    from aqmlab.runs.comparison import Comparison
    from aqmlab.runs.sweeps.sweep import Study


@dataclass(frozen=True)
class Assertions:
    """The bounds of a command, and the files for their verdicts.

    Attributes
    ----------
    bounds
        The bounds; none without ``--assert``.
    junit, markdown
        The files.
    """

    bounds: Sequence[Bound]
    junit: str | None
    markdown: str | None

    @classmethod
    def read(cls, texts: Sequence[str] | None, junit: str | None, markdown: str | None) -> Assertions:
        """Read the options, before anything is run."""
        files = {option: file for option, file in (("--junit", junit), ("--markdown", markdown)) if file is not None}
        for option, file in files.items():
            if not texts:
                raise InputError(f"{option}: is for --assert, which is missing")
            if file in ("", "-") or Path(file).is_dir():
                raise InputError(f'{option} "{file}": name a file (/dev/stdout prints)')
        if junit is not None and junit == markdown:
            raise InputError(f"--junit, --markdown: both are {junit}")
        if not texts:
            return cls((), None, None)
        from aqmlab.runs.bounds import bounds_of

        found = cls(bounds_of(texts, option="--assert"), junit, markdown)
        found._begin()
        return found

    def _begin(self) -> None:
        """Replace older verdicts by errors, which remain if the command fails."""
        from aqmlab.runs.assertions import unfinished

        if self.junit is not None and not Path(self.junit).is_char_device():
            save_output(Path(self.junit), unfinished("aqmlab", self.bounds))

    def judge(self, result: Result | Comparison | Study, *, doubt: str = "") -> Verdicts:
        """Judge finished runs, and write the files; with a doubt all verdicts are "undecided"."""
        if not self.bounds:
            return Verdicts(())
        from aqmlab.runs.assertions import judged, junit, markdown

        found = judged(self.bounds, result, doubt=doubt)
        for file, write in ((self.junit, junit), (self.markdown, markdown)):
            if file is not None:
                save_output(Path(file), write(result.name, found))
        return Verdicts(tuple(found))


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of a command."""

    all: tuple[Assertion, ...]

    def data(self) -> dict[str, Any]:
        """Return them as a part of the machine output; nothing without ``--assert``."""
        return {"assertions": [one.data() for one in self.all]} if self.all else {}

    def show(self) -> None:
        """Print them."""
        for one in self.all:
            print_wrapped(one.line())
        if len(self.all) > 1:
            level = 100 * self.all[0].found.level
            words = f"Intervals of these verdicts are made at {level:.6g} %, so that 95 % hold for all of them"
            print_wrapped(f"{words} (Bonferroni).")

    def conclude(self) -> None:
        """End the command.

        Raises
        ------
        Error, UndecidedError
            If one fails; else if one is undecided.
        """
        from aqmlab.statistics import Verdict

        for verdict, error in ((Verdict.FAILS, Error), (Verdict.UNDECIDED, UndecidedError)):
            found = [one for one in self.all if one.verdict is verdict]
            if found:
                first = found[0].words + (f" and {len(found) - 1} more" if len(found) > 1 else "")
                hint = "; more --seeds may decide" if verdict is Verdict.UNDECIDED and not found[0].doubt else ""
                raise error(f"{verdict}: {first} ({len(found)} of {counted(len(self.all), 'verdict')}{hint})")
