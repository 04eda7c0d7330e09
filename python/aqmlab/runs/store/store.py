"""The store: which runs it has, blocks in, runs out."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType

import pyarrow as pa

from aqmlab.errors import InputError, StorageError, unknown
from aqmlab.input_files import read_regular
from aqmlab.results.folders import guarded, sync_folder, write_file
from aqmlab.results.keys import RunKey, block_name, digest, is_name
from aqmlab.results.parquet import read_parquet
from aqmlab.runs.store.block import RUNS, SCENARIOS, EncodedBlock, RunRow, file_facts, files_in, rows_of
from aqmlab.runs.store.index import Index, PointRow, StudyRow
from aqmlab.runs.store.locks import Owner, living, must_not_be_links

BLOCKS = "runs"
SHORTEST_NAME = 4


class ResultStore:
    """A store of results, open. Close it, or use it in a ``with`` statement.

    Parameters
    ----------
    root
        Its folder.
    create
        Make it if it is not there; without this a folder that holds no store is an error.

    Examples
    --------
    >>> import tempfile
    >>> with ResultStore(tempfile.mkdtemp(), create=True) as store:
    ...     store.studies()
    []
    """

    def __init__(self, root: str | Path, *, create: bool = False) -> None:
        self.root = Path(root)
        if create:
            guarded(self.root, lambda: self.root.mkdir(parents=True, exist_ok=True))
        self.index = Index(self.root, create=create or (self.root / BLOCKS).is_dir())
        self._owner: Owner | None = None
        try:
            self._rebuild_if_lost()
        except BaseException:
            self.index.close()
            raise

    def __enter__(self) -> ResultStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give up what was claimed, and close the index."""
        if self._owner is not None:
            with contextlib.suppress(StorageError):  # on a full disk: claims of a process that has left are void
                self._give_up([self._owner.name])
            self._owner.leave()
            self._owner = None
        self.index.close()

    @property
    def owner(self) -> Owner:
        """The identity of this process in the store; claims of processes that have ended are given up."""
        if self._owner is None:
            self._owner = Owner(self.root)
            self.forget_the_dead()
        return self._owner

    def forget_the_dead(self) -> None:
        """Give up the claims of processes that have ended."""
        claimed = {name for (name,) in self.index.rows("SELECT DISTINCT owner FROM claims")}
        dead = claimed - living(self.root) if claimed else set()
        if dead:
            self._give_up(dead)

    def claim(self, runs: Sequence[str]) -> list[str] | None:
        """Claim the runs that are not stored, so that no other process does them too.

        Returns
        -------
        list of str or None
            The runs to do, in order; None if another process has some of them in hand.
        """
        mine = self.owner.name
        if runs and self.index.rows("SELECT 1 FROM claims WHERE run = ? AND owner != ?", (runs[0], mine)):
            return None
        with self.index.transaction() as change:
            left = [run for run in runs if not change.execute("SELECT 1 FROM runs WHERE run = ?", (run,)).fetchone()]
            for run in left:
                held = change.execute("SELECT owner FROM claims WHERE run = ?", (run,)).fetchone()
                if held and held[0] != mine:
                    return None
            change.executemany("INSERT OR IGNORE INTO claims VALUES (?, ?)", [(run, mine) for run in left])
        return left

    def add(self, block: EncodedBlock) -> None:
        """Store a finished block: its files made durable aside, then its name and its rows, at once or not at all."""
        made = self.owner.folder / block.name
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
                    self.index.add_block(block.name, file_facts(block.files), block.rows, block.scenarios.items())
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def block_folder(self, block: str) -> Path:
        """Return the folder of a block, which lies inside the store.

        Raises
        ------
        StorageError
            If the name is not a block's name, as in an index that was made to point elsewhere, or if a folder on the
            way is a symbolic link. Commands remove these folders.
        """
        if not is_name(block):
            raise StorageError(
                f"{self.index.path}: is damaged: {str(block)[:80]!r} is no name of a block (allowed: 32 hexadecimal "
                "digits); move the index away, and it is made again from the files of the runs"
            )
        folder = self.root / BLOCKS / block[:2] / block
        must_not_be_links(self.root / BLOCKS, folder.parent, folder)
        return folder

    def run_folder(self, key: RunKey) -> Path | None:
        """Return the folder that has a run, which lies inside the store; None if none is known.

        Raises
        ------
        StorageError
            If the index names a folder outside the store.
        """
        path = self.index.folder(key)
        if path is None:
            return None
        folder = self.root / path
        if "\0" in path or not folder.resolve().is_relative_to(self.root.resolve()):
            raise StorageError(
                f"{self.index.path}: is damaged: {path[:80]!r} is no folder in this store; move the index away, and it "
                "is made again from the files of the runs"
            )
        return folder

    def intact(self, block: str) -> bool:
        """Whether all files of a block are there with the size they should have; their content is not read."""
        folder = self.block_folder(block)
        try:
            return all((folder / name).stat().st_size == size for name, (size, _) in self.index.files(block).items())
        except OSError:
            return False

    def drop_lost(self, runs: Iterable[str]) -> None:
        """Take out of the index those of the runs whose files are gone or cut short, so that they are done again."""
        names = self.index.has_runs(runs)
        ask = "SELECT block FROM runs WHERE run = ?"
        blocks = {self.index.rows(ask, (name,))[0][0] for name in names}
        lost = [block for block in sorted(blocks) if not self.intact(block)]
        with self.index.transaction() as change:
            for block in lost:
                change.execute("DELETE FROM runs WHERE block = ?", (block,))
                change.execute("DELETE FROM blocks WHERE block = ?", (block,))

    def read_table(self, block: str, name: str) -> pa.Table | None:
        """Read a table of a block and see that it is what was written; None if its runs did not record it."""
        facts = self.index.files(block).get(f"{name}.parquet")
        if facts is None:
            return None
        path = self.block_folder(block) / f"{name}.parquet"
        try:
            return read_parquet(self.verify(block, name))
        except (OSError, pa.ArrowException):
            raise self._damaged(path) from None

    def verify(self, block: str, name: str) -> bytes:
        """Return the bytes of a table of a block, which are what was written; raise if they are not."""
        path = self.block_folder(block) / f"{name}.parquet"
        try:
            data = read_regular(path)
        except OSError:
            raise self._damaged(path) from None
        if digest(data) != self.index.files(block)[path.name][1]:
            raise self._damaged(path)
        return data

    def run_row(self, name: str) -> tuple[RunRow, str]:
        """Find a run by its name or the beginning of it; also the block it is in."""
        if len(name) < SHORTEST_NAME or not name.isalnum():
            raise InputError(f"{name}: give at least {SHORTEST_NAME} digits of a run's name")
        found = self.index.runs("FROM runs r WHERE r.run >= ? AND r.run < ? LIMIT 2", (name, f"{name}~"))
        if len(found) != 1:
            raise InputError(f"{self.root}: {'several runs begin' if found else 'no run begins'} with {name}")
        return found[0]

    def scenario_text(self, scenario: str) -> str:
        """Return the text of a scenario by its hash."""
        ((text,),) = self.index.rows("SELECT text FROM scenarios WHERE scenario = ?", (scenario,)) or [("",)]
        return str(text)

    def studies(self) -> list[StudyRow]:
        """Return all studies."""
        return self.index.studies()

    def study_row(self, name: str | None = None) -> StudyRow:
        """Find a study by its name or the beginning of its hash; without either the only one."""
        known = self.studies()
        if not known:
            raise InputError(f"{self.root}: has no study (aqmlab results ls {self.root} lists what is there)")
        if name is None and len(known) != 1:
            names = ", ".join(study.study[:8] for study in known) or "none"
            raise InputError(f"{self.root}: say which study (there are: {names})")
        found = [s for s in known if name is None or s.name == name or s.study.startswith(name)]
        if not found:
            raise InputError(f"{self.root}: {unknown('study', str(name), [study.name for study in known])}")
        if len(found) > 1:
            alike = ", ".join(study.study[:8] for study in found)
            raise InputError(f'{self.root}: several studies are named "{name}" (say which: {alike})')
        return found[0]

    def study_runs(self, study: StudyRow) -> list[tuple[PointRow, RunRow, str]]:
        """Return the stored runs of a study: point, run and block, in the order of points and seeds."""
        points = self.index.points(study)
        ask = "FROM points p JOIN runs r ON r.scenario = p.scenario AND r.version = ? WHERE p.study = ?"
        found = self.index.runs(ask, (study.version, study.study))
        rows = {(row.scenario, row.seed): (row, block) for row, block in found}
        keys = ((point, (point.scenario, seed)) for point in points for seed in study.seeds)
        return [(point, *rows[key]) for point, key in keys if key in rows]

    def _rebuild_if_lost(self) -> None:
        """Make the index from the files if there are files and no index; damaged blocks stay out of it."""
        if self.index.rows("SELECT 1 FROM blocks LIMIT 1") or not (self.root / BLOCKS).is_dir() or living(self.root):
            return
        for folder in block_folders(self.root):
            with contextlib.suppress(OSError, pa.ArrowException, KeyError):
                rows = rows_of(read_parquet(read_regular(folder / f"{RUNS}.parquet")))
                if block_name(row.run for row in rows) != folder.name:
                    continue
                texts = read_parquet(read_regular(folder / f"{SCENARIOS}.parquet")).to_pydict()
                facts = file_facts({path.name: read_regular(path) for path in files_in(folder)})
                with self.index.transaction():
                    pairs = zip(texts["scenario"], texts["text"], strict=True)
                    self.index.add_block(folder.name, facts, rows, pairs)

    def _damaged(self, path: Path) -> StorageError:
        return StorageError(
            f"{path}: is damaged; 'aqmlab results gc {self.root}' removes it, the next sweep runs it again"
        )

    def _give_up(self, owners: Iterable[str]) -> None:
        with self.index.transaction() as change:
            change.executemany("DELETE FROM claims WHERE owner = ?", [(name,) for name in owners])

    def tables_of(self, block: str) -> dict[str, pa.Table]:
        """Read all tables of a block, and that of its runs."""
        names = [name.removesuffix(".parquet") for name in self.index.files(block)]
        found = {name: self.read_table(block, name) for name in names if name != SCENARIOS}
        return {name: table for name, table in found.items() if table is not None}


def block_folders(root: Path) -> list[Path]:
    """List the folders of all blocks of a store."""
    must_not_be_links(root / BLOCKS)
    found = (path for path in (root / BLOCKS).glob("??/*") if is_name(path.name) and path.name[:2] == path.parent.name)
    return sorted(path for path in found if path.is_dir() and not path.is_symlink() and not path.parent.is_symlink())
