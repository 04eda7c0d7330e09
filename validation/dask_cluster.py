"""A Dask cluster of processes on this machine, whose workers can be killed one by one."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

START_S = 60.0


class Cluster:
    """A scheduler and its workers. A worker that is killed is not started again by anybody but `start_worker`."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._log = (folder / "dask.log").open("wb")
        self._file = folder / "scheduler.json"
        self._folder = folder
        words = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self._file))
        self._scheduler = self._start("distributed.cli.dask_scheduler", *words)
        began = time.monotonic()
        while not self._file.exists():
            if time.monotonic() - began > START_S or self._scheduler.poll() is not None:
                raise RuntimeError((folder / "dask.log").read_text())
            time.sleep(0.05)
        self.workers: list[subprocess.Popen[bytes]] = []
        for _ in range(workers):
            self.start_worker()

    @property
    def address(self) -> str:
        """Where the scheduler listens."""
        return str(json.loads(self._file.read_text())["address"])

    def start_worker(self) -> None:
        """Start one more worker."""
        words = ("--scheduler-file", str(self._file), "--no-nanny", "--nthreads", "1", "--no-dashboard")
        own = self._folder / f"worker-{len(list(self._folder.glob('worker-*')))}"
        own.mkdir()
        self.workers.append(self._start("distributed.cli.dask_worker", *words, "--local-directory", str(own)))

    def wait_for_workers(self, count: int) -> None:
        """Wait until so many workers are known to the scheduler."""
        import distributed

        client: Any = distributed.Client
        with client(self.address, set_as_default=False) as known:
            known.wait_for_workers(count, timeout=START_S)

    def kill_worker(self, which: int) -> None:
        """Kill one worker, the hard way."""
        worker = self.workers.pop(which)
        worker.send_signal(signal.SIGKILL)
        worker.wait()

    def stop(self) -> None:
        """End all of it."""
        for process in [*self.workers, self._scheduler]:
            process.kill()
            process.wait()
        self._log.close()

    def _start(self, module: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", module, *words]
        environment = {**os.environ, "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "60s"}
        return subprocess.Popen(command, stdout=self._log, stderr=self._log, env=environment)


@contextlib.contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """Start a cluster and end it."""
    made = Cluster(folder, workers)
    try:
        yield made
    finally:
        made.stop()
