"""The result of a scenario: pandas tables over all its seeds, and every figure with its interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from aqmlab import _core
from aqmlab.errors import InputError, StorageError, unknown
from aqmlab.input_files import read_regular
from aqmlab.results import folders, frames
from aqmlab.results.displays import Shown
from aqmlab.results.evaluation import Evaluation, together
from aqmlab.results.limits import limits_in
from aqmlab.results.output import Output, output_in_folder
from aqmlab.results.quantities import NO_LIMITS, Limits, bottleneck_of, in_order, run_quantities
from aqmlab.results.summary import ONE_RUN, nothing_varies, summary_table
from aqmlab.results.tables import OPTIONAL, TABLES
from aqmlab.statistics.intervals import LEVEL
from aqmlab.statistics.sequential import Stopping, spent

LIVE = "live"
"""Name of a live run's world in its summary."""


@dataclass(frozen=True, repr=False)
class Result(Shown):
    """Finished runs of one scenario.

    Attributes
    ----------
    name, hash
        Of the scenario.
    seeds
        The seeds that are finished, in order.
    summaries
        Per seed, what ``summary.json`` holds: named numbers and provenance.
    tables
        Table name to pandas table, all seeds one below the other, with the column ``seed``.
    folder
        Where the runs are, or None if they are in memory only.
    evaluation
        How the runs of the call that made this were evaluated; None if it was only loaded.
    stopping
        How it ended if it ran until intervals are narrow enough; the summary's intervals are then of that level.
    is_controlled
        Whether settings of a queue changed while the runs lasted.
    """

    name: str
    hash: str
    seeds: list[int]
    summaries: list[dict[str, Any]]
    tables: dict[str, pd.DataFrame]
    folder: Path | None = None
    scenario_text: str = field(default="", repr=False)
    evaluation: Evaluation | None = field(default=None, compare=False, repr=False)
    stopping: Stopping | None = field(default=None, compare=False, repr=False)
    is_controlled: bool = field(default=False, repr=False)

    @classmethod
    def load(
        cls, folder: str | Path, *, seeds: list[int] | None = None, evaluation: Evaluation | None = None
    ) -> Result:
        """Read the finished runs of a results folder."""
        folder = Path(folder)
        found = seeds if seeds is not None else folders.finished_seeds(folder)
        if not found:
            raise folders.without_runs(folder)
        outputs = [output_in_folder(folders.seed_folder(folder, seed)) for seed in found]
        for seed, output in zip(found, outputs, strict=True):
            if output.summary["seed"] != seed:
                path = folders.seed_folder(folder, seed)
                raise StorageError(f"{path}: holds another seed, {output.summary['seed']}; delete it and run again")
        text = _scenario_text(folder, outputs[0].summary["scenario"]["hash"])
        return cls.from_outputs(outputs, folder=folder, scenario_text=text, evaluation=evaluation)

    @classmethod
    def from_outputs(
        cls,
        outputs: list[Output],
        *,
        folder: Path | None = None,
        scenario_text: str = "",
        evaluation: Evaluation | None = None,
    ) -> Result:
        """Put runs together."""
        summaries = [output.summary for output in outputs]
        names = [name for name in TABLES if any(name in output.tables for output in outputs)]
        tables = {name: _below([o.tables[name] for o in outputs if name in o.tables]) for name in names}
        return cls(
            name=summaries[0]["scenario"]["name"],
            hash=summaries[0]["scenario"]["hash"],
            seeds=[summary["seed"] for summary in summaries],
            summaries=summaries,
            tables=tables,
            folder=folder,
            scenario_text=scenario_text,
            evaluation=evaluation,
        )

    @property
    def links(self) -> pd.DataFrame:
        """Counters and averages of each link, per seed."""
        return self.tables["links"]

    @property
    def flows(self) -> pd.DataFrame:
        """Counters of each flow, per seed."""
        if "flows" not in self.tables:
            raise StorageError(f"{self.folder or self.name}: the table of flows is missing; delete it and run again")
        return self.tables["flows"]

    @property
    def queue_samples(self) -> pd.DataFrame:
        """Sampled queue, average and p_b (NaN for disciplines without them); needs ``probe.queue_interval``."""
        return self._optional("queue_samples")

    @property
    def cwnd_samples(self) -> pd.DataFrame:
        """Sampled congestion windows; needs ``probe.cwnd_interval``."""
        return self._optional("cwnd_samples")

    @property
    def flow_samples(self) -> pd.DataFrame:
        """Bytes arrived and delivered of every flow since time 0; needs ``probe.flow_interval``."""
        return self._optional("flow_samples")

    @property
    def discipline_samples(self) -> pd.DataFrame:
        """Gauges of the disciplines, by their own names; needs ``probe.discipline_interval``."""
        return self._optional("discipline_samples")

    @property
    def code_points(self) -> pd.DataFrame:
        """Counters of each code point (DSCP) at the observed links."""
        return self._optional("code_points")

    @property
    def drop_distances(self) -> pd.DataFrame:
        """Drops by the number of hops that the dropped packets had come; empty without a drop."""
        return self._optional("drop_distances")

    @property
    def channels(self) -> pd.DataFrame:
        """Losses, copies and overtaking packets of each link whose channel has such; empty without one."""
        return self._optional("channels")

    @property
    def drop_reasons(self) -> pd.DataFrame:
        """Drops and marks by the discipline's own reason; empty if all reasons are named as their class, as RED's.

        ``links`` counts classes: early, forced and overflow.
        """
        return self._optional("drop_reasons")

    @property
    def markers(self) -> pd.DataFrame:
        """Packets and bytes of each colour of every marked flow; empty without a marker."""
        return self._optional("markers")

    @property
    def delay_histogram(self) -> pd.DataFrame:
        """Distribution of the queueing delay; needs ``probe.delay_histogram``."""
        return self._optional("delay_histogram")

    @property
    def events(self) -> pd.DataFrame:
        """Every enqueue, dequeue, drop and mark; needs ``probe.events``."""
        return self._optional("events")

    @property
    def packets(self) -> pd.DataFrame:
        """Every packet that came to the observed links, and when it left or was dropped; needs ``probe.packets``."""
        return self._optional("packets")

    @property
    def losses(self) -> pd.DataFrame:
        """Every packet dropped at the observed links; needs ``probe.losses``."""
        return self._optional("losses")

    @property
    def flow_delays(self) -> pd.DataFrame:
        """One-way delay of every flow's packets; needs ``probe.flow_delay``."""
        return self._optional("flow_delays")

    @property
    def flow_delay_histogram(self) -> pd.DataFrame:
        """Distribution of every flow's one-way delay; needs ``probe.flow_delay``."""
        return self._optional("flow_delay_histogram")

    @property
    def pages(self) -> pd.DataFrame:
        """Web pages and how long they took to load; empty without a page."""
        return self._optional("pages")

    @property
    def objects(self) -> pd.DataFrame:
        """Objects that applications asked for; empty without an application."""
        return self._optional("objects")

    @property
    def segments(self) -> pd.DataFrame:
        """Segments of videos; empty without a video."""
        return self._optional("segments")

    @property
    def call_packets(self) -> pd.DataFrame:
        """Packets of calls that arrived, with delays, and the last one of a silent direction; empty without a call."""
        return self._optional("call_packets")

    @property
    def link_names(self) -> list[str]:
        """Names of the links, in the scenario's order."""
        return [str(name) for name in self.links.loc[self.links["seed"] == self.seeds[0], "link"]]

    @property
    def bottleneck(self) -> str:
        """The link that results are about: ``bottleneck``, else the first with a discipline other than drop-tail."""
        first = self.links[self.links["seed"] == self.seeds[0]]
        return bottleneck_of([str(name) for name in first["link"]], [str(name) for name in first["aqm"]])

    @property
    def level(self) -> float:
        """Confidence at which intervals are made, so that 95 % hold: more if their width ended the runs."""
        return LEVEL if self.stopping is None else spent(self.stopping.level)

    def metrics(self, *, link: str | None = None) -> pd.DataFrame:
        """One row per seed, one column per quantity (see `aqmlab.results.quantities.QUANTITIES` for units).

        Parameters
        ----------
        link
            The link in question; default `bottleneck`.
        """
        name = self.bottleneck if link is None else link
        if name not in self.link_names:
            raise InputError(unknown("link", name, self.link_names))

        @cache
        def divided(name: str) -> dict[Any, _Columns]:
            own = self.tables.get(name)
            return {} if own is None else {seed: _Columns(rows) for seed, rows in own.groupby("seed")}

        found = [{"seed": seed, **run_quantities(_OfSeed(seed, divided), name)} for seed in self.seeds]
        table = pd.DataFrame(found)
        return table[["seed", *in_order(table.columns)]]

    def summary(
        self, *, link: str | None = None, level: float | None = None, quantile: float | None = None
    ) -> pd.DataFrame:
        """Every quantity with its mean, standard deviation, n and confidence interval.

        Parameters
        ----------
        link
            The link in question; default `bottleneck`.
        level
            Confidence of the intervals; default: `level` of this result.
        quantile
            Give this quantile over the runs (0.5: the median) in place of the mean.

        Returns
        -------
        pandas.DataFrame
            ``method`` says how the interval was made: Student's, or Hall's where the runs are too skewed; ``none`` for
            equal runs.
        """
        limits = self.limits(link=link)
        return summary_table(self.metrics(link=link), level=level or self.level, quantile=quantile, limits=limits)

    def limits(self, *, link: str | None = None) -> Limits:
        """Return the limits of quantities at a link (`aqmlab.results.limits`); none of live and of controlled runs."""
        if self.is_controlled or not self.scenario_text or any(LIVE in summary for summary in self.summaries):
            return NO_LIMITS
        return limits_in(self.scenario_text, link)

    def with_runs(self, other: Result) -> Result:
        """Add the runs of further seeds of the same scenario."""
        names = [name for name in TABLES if name in self.tables or name in other.tables]
        parts = {name: [r.tables[name] for r in (self, other) if name in r.tables] for name in names}
        evaluations = [r.evaluation for r in (self, other) if r.evaluation is not None]
        return replace(
            self,
            seeds=self.seeds + other.seeds,
            summaries=self.summaries + other.summaries,
            tables={name: pd.concat(own, ignore_index=True) for name, own in parts.items()},
            evaluation=together(evaluations) if evaluations else None,
        )

    @property
    def warnings(self) -> list[str]:
        """Warnings about valid but probably mistaken settings, each once."""
        lines = [line for summary in self.summaries for line in summary["summary"].get("warnings", ())]
        if self.distinct_runs < len(self.seeds):
            lines.append(ONE_RUN)
        return list(dict.fromkeys(lines))

    @property
    def distinct_runs(self) -> int:
        """Number of runs that tell something: 1 if all seeds gave the same numbers, else the number of seeds."""
        if len(self.seeds) < 2:
            return len(self.seeds)
        return 1 if nothing_varies(self.metrics()) else len(self.seeds)

    def of_seed(self, seed: int) -> Result:
        """Return one of the runs alone."""
        tables = {name: table[table["seed"] == seed] for name, table in self.tables.items()}
        summaries = [summary for summary in self.summaries if summary["seed"] == seed]
        return replace(self, seeds=[seed], summaries=summaries, tables=tables)

    def to_pandas(self, table: str = "metrics") -> pd.DataFrame:
        """Return a table over all runs, indexed by what it is over; see `aqmlab.results.exporting.to_pandas`."""
        return frames.to_pandas(self, table)

    def to_xarray(self, table: str = "metrics") -> Any:  # noqa: ANN401 - xarray is an extra
        """Return the same as a ``xarray.Dataset``; needs the extra ``aqmlab[xarray]``."""
        return frames.to_xarray(self, table)

    def _optional(self, name: str) -> pd.DataFrame:
        if name in self.tables:
            return self.tables[name]
        key = OPTIONAL[name]
        if not key:
            return pd.DataFrame()
        raise InputError(f"{self.name}: {name} was not recorded; set {key} in the scenario and run again")


@dataclass(frozen=True)
class _OfSeed:
    """The tables of one of several seeds. `divided` returns the rows of each seed of a table."""

    seed: int
    divided: Callable[[str], dict[Any, _Columns]]

    def __contains__(self, name: object) -> bool:
        return self.seed in self.divided(str(name))

    def __getitem__(self, name: str) -> _Columns:
        return self.divided(name)[self.seed]


class _Columns:
    """Columns of a table as the core takes them, each converted once."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self._rows = rows
        self._converted: dict[str, Any] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._rows.columns

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - in one of the core's forms
        if name not in self._converted:
            column = self._rows[name]
            self._converted[name] = _placed(column) if pd.api.types.is_string_dtype(column) else column.to_numpy()
        return self._converted[name]


def _placed(words: pd.Series[Any]) -> Any:  # noqa: ANN401
    """Return the different words and the place of each row's word among them; the words alone if some are missing."""
    places, different = pd.factorize(words)
    return words if (places < 0).any() else ([*different], places.astype("<u4").tobytes())


def _scenario_text(folder: Path, scenario: str) -> str:
    """Return the text of the scenario of a results folder, or "" if it is not there."""
    path = folder / "scenario.toml"
    try:
        text = read_regular(path).decode()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StorageError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        text = ""
    if _core.text_hash(text) != scenario:
        raise StorageError(f"{path}: is not the scenario of these runs, or damaged; run the same command again")
    return text


def _below(tables: list[pa.Table]) -> pd.DataFrame:
    """Put tables one below the other; pandas gets them all at once."""
    table: pd.DataFrame = pa.concat_tables(tables, promote_options="default").to_pandas()
    return table
