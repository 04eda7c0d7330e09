"""The store: which runs it has, runs in, runs out."""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from aqmlab.errors import InputError, StorageError, unknown
from aqmlab.input_files import read_regular
from aqmlab.results.folders import guarded, is_finished, plain, sync_folder, write_file, write_seed
from aqmlab.results.keys import ALL_TABLES, RunKey, block_name, digest, is_name
from aqmlab.results.output import Output, output_in_folder, provenance
from aqmlab.results.parquet import read_parquet
from aqmlab.runs.store.block import RUNS, SCENARIOS, EncodedBlock, RunRow, file_facts, files_in, rows_of
from aqmlab.runs.store.claims import Claims, living, must_not_be_links
from aqmlab.runs.store.index import Index, StudyRow
from aqmlab.scenario.file import Scenario

if TYPE_CHECKING:
    from aqmlab.results.result import Result

BLOCKS = "runs"
SHORTEST_NAME = 4


@dataclass(frozen=True)
class SeedFolder:
    """The folder of one run (`aqmlab.results.folders`), and the hash of its scenario with its seeds."""

    path: Path
    scenario: str

    @property
    def place(self) -> Path:
        """The scenario's folder."""
        return self.path.parent

    def has(self, key: RunKey) -> bool:
        """Whether the folder holds this scenario's run by this version."""
        return is_finished(self.path, scenario_hash=self.scenario, version=key.version)

    def put(self, key: RunKey, output: Output) -> None:
        """Write the folder."""
        write_seed(self.path, output.summary, output.tables, keep_finished=True)


class ResultStore:
    """A store of results. Close it, or use it in a ``with`` statement.

    Threads may share it; another process opens it again.

    Parameters
    ----------
    root
        Its folder; None keeps answers in memory, for this process alone.
    create
        Make it, when it is used first, if it is not there; without this a folder that holds no store is an error here.

    Examples
    --------
    >>> import tempfile
    >>> with ResultStore(tempfile.mkdtemp(), create=True) as store:
    ...     store.studies()
    []
    """

    def __init__(self, root: str | Path | None, *, create: bool = False) -> None:
        self.place = None if root is None else Path(root)
        self._create = create
        self._lock = threading.RLock()
        self._index: Index | None = None
        self._claims: Claims | None = None
        if not create:
            _ = self.index

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(ResultStore, create=self._create), (self.place,)

    def __enter__(self) -> ResultStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up all claims, and close the index."""
        if self._claims is not None:
            self._claims.close()
        if self._index is not None:
            self._index.close()

    @property
    def root(self) -> Path:
        """The store's folder."""
        return self.place or Path("memory")

    @property
    def index(self) -> Index:
        """The index, opened once for all threads."""
        with self._lock:
            self._index = self._index or self._opened()
            return self._index

    @property
    def claims(self) -> Claims:
        """The claims of this process."""
        self._claims = self._claims or Claims(self.root, self.index)
        return self._claims

    def _opened(self) -> Index:
        if self.place is not None and self._create:
            guarded(self.root, lambda: self.root.mkdir(parents=True, exist_ok=True))
        index = Index(self.place, create=self._create or (self.root / BLOCKS).is_dir())
        if self.place is not None:
            self._rebuild_if_lost(index)
        return index

    def has(self, key: RunKey) -> bool:
        """Whether the answer of this run is there."""
        return self.index.answer(key) is not None

    def get(self, key: RunKey) -> dict[str, Any]:
        """Return the answer of a run; a number that was not finite is None."""
        answer = self.index.answer(key)
        if answer is None:
            raise StorageError(f"{self.root}: holds no answer of run {key.name} ({key.reducer}); run again")
        return answer

    def put(self, key: RunKey, output: Output) -> None:
        """Keep the answer of a run."""
        self.index.put_answer(key, json.dumps(plain(output.summary), sort_keys=True, ensure_ascii=False))

    def find(self, key: RunKey, besides: Path | None = None) -> Output | None:
        """Return a whole run in a block or in another folder, or None."""
        try:
            folder = self.run_folder(key)
            if folder is not None and folder != besides:
                found = output_in_folder(folder)
                if found.summary["version"] == key.version and found.summary["seed"] == key.seed:
                    return found
            if key.reducer == ALL_TABLES and self.index.has_runs([key.name]):
                row, block = self.run_row(key.name)
                return self._output(row, self._tables_of(block), {})
        except (StorageError, KeyError):
            return None
        return None

    def note(self, folders: Iterable[tuple[RunKey, Path]]) -> None:
        """Note which folders below the store's have which runs."""
        below = ((key.name, path.relative_to(self.root)) for key, path in folders if path.is_relative_to(self.root))
        with self.index.transaction() as change:
            rows = ((name, path.as_posix()) for name, path in below)
            change.executemany("INSERT OR IGNORE INTO folders VALUES (?, ?)", rows)

    def run_folder(self, key: RunKey) -> Path | None:
        """Return the folder that has a run; None if none is known. One outside the store is an error."""
        for (path,) in self.index.rows("SELECT path FROM folders WHERE run = ?", key.name):
            folder = self.root / str(path)
            if "\0" in str(path) or not folder.resolve().is_relative_to(self.root.resolve()):
                raise self._misled(path, "folder in this store")
            return folder
        return None

    def add(self, block: EncodedBlock) -> None:
        """Store a finished block: its files made durable aside, then its name and its rows, at once or not at all."""
        self.claims.enter()
        made = self.claims.folder / block.name
        target = self.block_folder(block.name)

        def write() -> None:
            made.mkdir()
            for name, data in block.files.items():
                write_file(made / name, data)
            sync_folder(made)
            target.parent.mkdir(parents=True, exist_ok=True)

        def name() -> None:
            if target.exists():  # of a process that was killed before its rows were in
                shutil.rmtree(target)
            made.rename(target)
            sync_folder(target.parent)

        try:
            guarded(self.root, write)
            with self.index.transaction() as change:
                if not change.execute("SELECT 1 FROM blocks WHERE block = ?", (block.name,)).fetchone():
                    guarded(self.root, name)
                    self.index.add_block(block.name, file_facts(block.files), block.rows)
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def block_folder(self, block: str) -> Path:
        """Return the folder of a block, which lies inside the store, since commands remove these folders.

        It is an error if the name is invalid, as in a manipulated index, or if a folder on the way is a
        symbolic link.
        """
        if not is_name(block):
            raise self._misled(block, "name of a block (allowed: 32 hexadecimal digits)")
        folder = self.root / BLOCKS / block[:2] / block
        must_not_be_links(self.root / BLOCKS, folder.parent, folder)
        return folder

    def intact(self, block: str, *, read: bool = False) -> bool:
        """Whether all files of a block are there with their sizes, or, if they are to be read, with their contents."""
        folder, facts = self.block_folder(block), self.index.files(block)
        try:
            if read:
                return all(digest(read_regular(folder / name)) == known for name, (_, known) in facts.items())
            return all((folder / name).stat().st_size == size for name, (size, _) in facts.items())
        except OSError:
            return False

    def drop_lost(self, runs: Iterable[str]) -> None:
        """Take out of the index those of the runs whose files are gone or cut short, so that they are done again."""
        ask = "SELECT block FROM runs WHERE run = ?"
        blocks = {block for name in runs for (block,) in self.index.rows(ask, name)}
        lost = [block for block in sorted(blocks) if not self.intact(block)]
        with self.index.transaction():
            self.index.drop_blocks(lost)

    def read_table(self, block: str, name: str) -> pa.Table | None:
        """Read a table of a block and verify it; None if its runs did not record it."""
        if f"{name}.parquet" not in self.index.files(block):
            return None
        data = self.verify(block, name)
        try:
            return read_parquet(data)
        except (OSError, pa.ArrowException):
            raise self._damaged(block, name) from None

    def verify(self, block: str, name: str) -> bytes:
        """Return the verified bytes of a table of a block; raise if they are altered."""
        try:
            data = read_regular(self.block_folder(block) / f"{name}.parquet")
        except OSError:
            data = b""
        if digest(data) != self.index.files(block)[f"{name}.parquet"][1]:
            raise self._damaged(block, name)
        return data

    def result(self, runs: Iterable[str]) -> Result:
        """Return runs of one scenario that are in blocks, by their names or beginnings of them, with all tables."""
        from aqmlab.results.result import Result  # pandas with it, which the processes of a sweep do not need

        found = sorted((self.run_row(name) for name in runs), key=lambda pair: pair[0].seed)
        if not found:
            raise InputError(f"{self.root}: no run was asked for")
        text = self.scenario_text(*found[0])
        plan = Scenario.from_text(text)
        if plan.run_hash != found[0][0].scenario:
            raise StorageError(f"{self.index.path}: is damaged: scenario {found[0][0].scenario} has another text")
        known, tables = provenance(plan), {block: self._tables_of(block) for _, block in found}
        outputs = [self._output(row, tables[block], known) for row, block in found]
        return Result.from_outputs(outputs, scenario_text=text)

    def run_row(self, name: str) -> tuple[RunRow, str]:
        """Find a run by its name or the beginning of it; also the block it is in."""
        if len(name) < SHORTEST_NAME or not name.isalnum():
            raise InputError(f"{name}: give at least {SHORTEST_NAME} digits of a run's name")
        found = self.index.runs("FROM runs r WHERE r.run >= ? AND r.run < ? LIMIT 2", name, f"{name}~")
        if len(found) != 1:
            raise InputError(f"{self.root}: {'several runs begin' if found else 'no run begins'} with {name}")
        return found[0]

    def scenario_text(self, run: RunRow, block: str) -> str:
        """Return the text of the scenario of a run."""
        return self._texts_of(block).get(run.scenario, "")

    def scenario_texts(self, runs: Iterable[str]) -> list[str]:
        """Return the texts of the scenarios of runs, by their names; each block is read once."""
        texts_of = cache(self._texts_of)
        return [texts_of(block).get(run.scenario, "") for run, block in map(self.run_row, runs)]

    def _texts_of(self, block: str) -> dict[str, str]:
        table = self.read_table(block, SCENARIOS)
        return {row["scenario"]: str(row["text"]) for row in table.to_pylist()} if table else {}

    def studies(self) -> list[StudyRow]:
        """Return all studies."""
        return self.index.studies()

    def study_row(self, name: str | None = None) -> StudyRow:
        """Find a study by its name or the beginning of its hash; without either the only one."""
        known = self.studies()
        if not known:
            raise InputError(f"{self.root}: has no study (aqmlab results ls {self.root} lists what is there)")
        if name is None and len(known) != 1:
            names = ", ".join(study.study[:8] for study in known)
            raise InputError(f"{self.root}: say which study (there are: {names})")
        found = [s for s in known if name is None or s.name == name or s.study.startswith(name)]
        if not found:
            raise InputError(f"{self.root}: {unknown('study', str(name), [study.name for study in known])}")
        if len(found) > 1:
            alike = ", ".join(study.study[:8] for study in found)
            raise InputError(f'{self.root}: several studies are named "{name}" (say which: {alike})')
        return found[0]

    def study_runs(self, study: StudyRow) -> list[tuple[int, RunRow, str]]:
        """Return the stored runs of a study: number of the point, run and block, in the order of points and seeds."""
        scenarios = json.dumps(list({scenario for scenario, _ in study.points}))
        ask = "FROM runs r WHERE r.version = ? AND r.scenario IN (SELECT value FROM json_each(?))"
        rows = {(row.scenario, row.seed): (row, block) for row, block in self.index.runs(ask, study.version, scenarios)}
        keys = ((number, (one, seed)) for number, (one, _) in enumerate(study.points) for seed in study.seeds)
        return [(number, *rows[key]) for number, key in keys if key in rows]

    def _rebuild_if_lost(self, index: Index) -> None:
        """Make the index from the files if there are files and no index; damaged blocks stay out of it."""
        if index.rows("SELECT 1 FROM blocks LIMIT 1") or not (self.root / BLOCKS).is_dir() or living(self.root):
            return
        for folder in block_folders(self.root):
            with contextlib.suppress(OSError, pa.ArrowException, KeyError):
                rows = rows_of(read_parquet(read_regular(folder / f"{RUNS}.parquet")))
                if block_name(row.run for row in rows) != folder.name:
                    continue
                facts = file_facts({path.name: read_regular(path) for path in files_in(folder)})
                with index.transaction():
                    index.add_block(folder.name, facts, rows)

    def _misled(self, what: object, kind: str) -> StorageError:
        return StorageError(
            f"{self.index.path}: is damaged: {str(what)[:80]!r} is no {kind}; move the index away, and it is made "
            "again from the files of the runs"
        )

    def _damaged(self, block: str, name: str) -> StorageError:
        return StorageError(
            f"{self.block_folder(block) / name}.parquet: is damaged; 'aqmlab results gc {self.root}' removes it, the "
            "next sweep runs it again"
        )

    def _tables_of(self, block: str) -> dict[str, pa.Table]:
        """Read all tables of a block, and that of its runs."""
        names = [name.removesuffix(".parquet") for name in self.index.files(block)]
        found = {name: self.read_table(block, name) for name in names if name != SCENARIOS}
        return {name: table for name, table in found.items() if table is not None}

    def _output(self, row: RunRow, tables: Mapping[str, pa.Table], known: Mapping[str, Any]) -> Output:
        """Return a run of a block; its summary has of its provenance only version, seed and known facts."""
        own = {name: table.filter(_is_of(table, row.run)).drop_columns("run") for name, table in tables.items()}
        numbers = self.index.table(own.pop(RUNS)["summary"][0].as_py())
        summary = {**known, "version": row.version, "seed": row.seed, "summary": numbers}
        return Output(summary, {name: table.combine_chunks() for name, table in own.items() if table.num_rows})


def _is_of(table: pa.Table, run: str) -> pa.ChunkedArray:
    return pc.equal(table["run"].cast(pa.string()), run)


def block_folders(root: Path) -> list[Path]:
    """List the folders of all blocks of a store."""
    must_not_be_links(root / BLOCKS)
    found = (path for path in (root / BLOCKS).glob("??/*") if is_name(path.name) and path.name[:2] == path.parent.name)
    return sorted(path for path in found if path.is_dir() and not path.is_symlink() and not path.parent.is_symlink())


Place = SeedFolder | ResultStore
"""Where a job's result goes: the folder of a run, or a store, for the answer of a reducer. Workers write there."""
