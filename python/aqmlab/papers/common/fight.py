"""A paper's idea against a tuned RED: the comparison that ``fight.toml`` describes, its record, and its words.

Each comparison is one of tuned disciplines (`aqmlab.compare_tuned`) with RED as the baseline, on the paper's own
scenario and quantity. `validation/fair_fight.py` runs it and writes the record ``fight.json`` into the paper's folder;
the page reads the record.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from aqmlab.errors import joined
from aqmlab.papers.common.files import PaperFiles
from aqmlab.results.quantities import Quantity, quantity
from aqmlab.tuning.tuned_outcome import in_unit

if TYPE_CHECKING:
    from aqmlab.reporting.page import Page
    from aqmlab.tuning.tuned_outcome import TunedComparison

DESCRIPTION, RECORD = "fight.toml", "fight.json"
BASELINE = "red"
AS_GIVEN = "default against the baseline's default"
AGAINST_TUNED = "default against the tuned baseline"
BOTH_TUNED = "tuned against the tuned baseline"
SECOND_SEARCH = ", second search"
VERDICTS = {
    "better": "better than",
    "worse": "worse than",
    "undecided": "not distinguishable from",
}
CONCLUSIONS = {
    "better": "The idea is better than a tuned RED.",
    "worse": "A tuned RED is better than the idea.",
    "undecided": "A tuned RED is as good as the idea, as far as these runs show.",
    "tie": "A tuned RED is as good as the idea, as far as these searches show.",
}


@dataclass(frozen=True)
class Fight:
    """A comparison of a paper's discipline with others, all tuned.

    Attributes
    ----------
    scenario
        The paper's scenario file.
    idea, words
        The paper's discipline, and its idea in words: ``MRED's curve``.
    goal, why
        The goal with its bounds, and the reason for it.
    aqm, over, vary, queue
        As for `aqmlab.compare_tuned`; RED is the first discipline.
    overrides
        Further settings of the scenario.
    budget
        Numbers of trials, seeds and fresh seeds, and the second search seed.
    """

    scenario: str
    idea: str
    words: str
    goal: str
    why: str
    aqm: Sequence[str]
    over: Sequence[str]
    vary: Sequence[str] = ()
    queue: str = "bottleneck"
    overrides: Mapping[str, str] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=dict)

    def run(self, files: PaperFiles, out: Path, *, workers: int | None = None) -> TunedComparison:
        """Run the comparison; runs are kept in a folder."""
        from aqmlab.tuning.tuned_comparison import compare_tuned

        plan = files.scenario(self.scenario, tuple(self.overrides.items()))
        return compare_tuned(
            plan,
            aqm=self.aqm,
            goal=self.goal,
            over=self.over,
            baseline=BASELINE,
            queue=self.queue,
            vary=self.vary,
            workers=workers,
            out=out,
            **self.budget,
        )


def fights_of(files: PaperFiles) -> list[Fight]:
    """Return the comparisons that a paper describes; an empty list for a paper without any."""
    if not files.has(DESCRIPTION):
        return []
    table = files.toml(DESCRIPTION)
    shared = {key: value for key, value in table.items() if key != "fight"}
    return [Fight(**{**shared, **own}) for own in table["fight"]]


def record_of(fight: Fight, found: TunedComparison) -> dict[str, Any]:
    """Return the record of a comparison, without its trials."""
    data = found.data()
    disciplines = [
        {
            **entry,
            "searches": [{key: value for key, value in one.items() if key != "trials"} for one in entry["searches"]],
        }
        for entry in data["disciplines"]
    ]
    return {"idea": fight.idea, "words": fight.words, "why": fight.why, **data, "disciplines": disciplines}


def records_of(files: PaperFiles) -> list[dict[str, Any]]:
    """Return the records of a paper's comparisons; an empty list before they ran."""
    found: list[dict[str, Any]] = json.loads(files.text(RECORD)) if files.has(RECORD) else []
    return found


def add_fights(page: Page, records: Sequence[Mapping[str, Any]]) -> None:
    """Add the answers of a paper's comparisons to its page, each with its table and budget folded."""
    for record in records:
        page.text(sentence(record))
        with page.folded("All disciplines, default and tuned; budget and conditions"):
            caption = f"{record['scenario']['name']}: {record['goal']}. {record['why']} 95 % intervals."
            page.table(table(record), caption=caption)
            for line in record["lines"]:
                page.text(line, note=True)


def sentence(record: Mapping[str, Any]) -> str:
    """Return the answer for the paper's page, with 95 % intervals, the plain conclusion first."""
    metric = _metric(record)
    verdict = record["verdicts"][record["idea"]]
    bounds = f" while {' and '.join(record['keep'])}" if record["keep"] else ""
    count = len(record["points"]) + len(record["held_out"])
    given = _verdict(record, AS_GIVEN, "RED", (None, None))
    against_tuned = _of_searches(record, AGAINST_TUNED, "a tuned RED", default=True)
    both = _of_searches(record, BOTH_TUNED, "RED", default=False)
    place = f"By {metric.in_sentence} at the worst of {count} conditions{bounds}"
    tie = ": a tie" if verdict == "tie" else ""
    return (
        f"{CONCLUSIONS[verdict]} {place}, {record['words']} with the paper's parameters is {given} and "
        f"{against_tuned}. Both tuned, it is {both}{tie}. {_best(record)}"
    )


def _of_searches(record: Mapping[str, Any], which: str, name: str, *, default: bool) -> str:
    """Return the verdict of the first search, and where that of the second is another, both."""
    found = [
        _verdict(record, title, name, (None if default else search, search))
        for search, title in enumerate((which, f"{which}{SECOND_SEARCH}"))
    ]
    compared = _entry(record, record["idea"])["compared"]
    verdicts = {compared[title]["everywhere"]["verdict"] for title in (which, f"{which}{SECOND_SEARCH}")}
    return found[0] if len(verdicts) == 1 else f"{found[0]} by the first search and {found[1]} by the second"


def _verdict(record: Mapping[str, Any], which: str, name: str, searches: tuple[int | None, int | None]) -> str:
    """Return a verdict on the idea against RED with its difference, and the bounds that either breaks.

    `searches` are the searches behind the idea's and RED's settings; None stands for the settings before a search.
    """
    own, other = searches
    compared = _entry(record, record["idea"])["compared"][which]["everywhere"]
    settings = {record["words"]: _fresh(record, record["idea"], own), "RED": _fresh(record, BASELINE, other)}
    metric = _metric(record)
    apart = _interval(record, compared["difference"], is_signed=True)
    return f"{VERDICTS[compared['verdict']]} {name} ({apart}{metric.unit_words}{_broken(settings)})"


def _fresh(record: Mapping[str, Any], aqm: str, search: int | None) -> Mapping[str, Any]:
    entry = _entry(record, aqm)
    found: Mapping[str, Any] = entry["default"] if search is None else entry["searches"][search]["tuned"]
    return found


def _best(record: Mapping[str, Any]) -> str:
    """Name the best of all tuned disciplines with its equals, or the tie of two searches."""
    winners = list(dict.fromkeys(record["winners"]))
    even = [aqm for aqm in dict.fromkeys(chain.from_iterable(record["as_good"])) if aqm not in winners]
    beside = f"; not shown to be better than {joined(even)}" if even else ""
    if len(winners) > 1:
        return f"Best of all tuned disciplines: a tie of {joined(winners)}, as the two searches disagree{beside}."
    return f"Best of all tuned disciplines: {winners[0]}, in both searches{beside}."


def _entry(record: Mapping[str, Any], aqm: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(entry for entry in record["disciplines"] if entry["aqm"] == aqm)
    return found


def _broken(settings: Mapping[str, Mapping[str, Any]]) -> str:
    """Name the settings that break bounds, with these bounds, for the end of a difference; "" without any."""
    found = [
        f"{name} breaks {bound['bound']}"
        for name, one in settings.items()
        for bound in one["everywhere"]["bounds"]
        if bound["verdict"] == "fails"
    ]
    return f"; {', '.join(found)}" if found else ""


def _interval(record: Mapping[str, Any], found: Mapping[str, Any], *, is_signed: bool = False) -> str:
    mean, low, high = (math.nan if found[key] is None else found[key] for key in ("mean", "low", "high"))
    return "–" if math.isnan(mean) else in_unit(_metric(record), mean, low, high, signed=is_signed)


def _metric(record: Mapping[str, Any]) -> Quantity:
    return quantity(record["goal"].split(" ", 1)[1])


def table(record: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row for each discipline: goal and bounds, default and tuned, and verdicts against RED."""
    rows = []
    metric = _metric(record)
    unit = f", {metric.shown_unit}" if metric.shown_unit else ""
    for entry in record["disciplines"]:
        tuned = entry["searches"][0]["tuned"]
        both = entry["compared"].get(BOTH_TUNED)
        row = {
            "discipline": entry["aqm"],
            f"as in the paper{unit}": _interval(record, entry["default"]["everywhere"]["goal"]),
            f"tuned{unit}": _interval(record, tuned["everywhere"]["goal"]),
        }
        if record["keep"]:
            row["bounds kept"] = ", ".join(_kept(one["everywhere"]) for one in (entry["default"], tuned))
        apart = "" if both is None else _interval(record, both["everywhere"]["difference"], is_signed=True)
        row[f"tuned less tuned RED{unit}"] = apart
        row["verdict"] = record["verdicts"].get(entry["aqm"], "")
        row["held-out conditions"] = record["verdicts_held_out"].get(entry["aqm"], "")
        row["tuned settings"] = _settings(tuned["settings"], entry["default"]["settings"])
        rows.append(row)
    return pd.DataFrame(rows)


def _kept(found: Mapping[str, Any]) -> str:
    verdicts = {one["verdict"] for one in found["bounds"]}
    return "no" if "fails" in verdicts else "yes" if verdicts == {"holds"} else "undecided"


def _settings(tuned: Mapping[str, Any], default: Mapping[str, Any]) -> str:
    """Return the settings that the search changed."""
    changed = [f"{key} {value}" for key, value in tuned.items() if default.get(key) != value]
    return ", ".join(changed) or "unchanged"
