"""A scheduler and workers as processes of their own, which tests can kill."""

import os
import subprocess
import sys
import time
from pathlib import Path

from distributed import Client

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def wait_until(condition, seconds=180):
    """Wait for a condition, and fail when it takes too long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


class Cluster:
    """A scheduler, workers by address, and a client of this process."""

    def __init__(self, folder: Path, n_workers: int = 2) -> None:
        self.folder, self.file = folder, folder / "scheduler.json"
        self._log = (folder / "log.txt").open("w")
        self._processes = [self._start("scheduler", "--port", "0", "--no-dashboard")]
        wait_until(self.file.exists)
        self.client = Client(scheduler_file=str(self.file))
        self.workers = {}
        self.add_workers(n_workers)

    def _start(self, kind, *options):
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options]
        return subprocess.Popen(
            [*command, "--scheduler-file", str(self.file)],
            stdout=self._log,
            stderr=self._log,
            env=ENVIRONMENT,
            cwd=self.folder,
        )

    def add_workers(self, n):
        """Start workers and wait for them."""
        options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--memory-limit", "1GB")
        new = {}
        for _ in range(n):
            name = f"worker-{len(self._processes)}"
            new[name] = self._start("worker", *options, "--name", name)
            self._processes.append(new[name])

        def are_there():
            # The scheduler knows them; a call to all would wait for a worker that was killed.
            known = self.client.scheduler_info(n_workers=-1)["workers"]
            self.workers |= {a: new[one["name"]] for a, one in known.items() if one["name"] in new}
            return all(process in self.workers.values() for process in new.values())

        wait_until(are_there)

    def kill_worker(self):
        """Kill a worker that is at work, in the middle of it."""
        busy = next(a for a, keys in self.client.processing().items() if keys and a in self.workers)
        process = self.workers.pop(busy)
        process.kill()
        process.wait()

    @property
    def address(self):
        return self.client.scheduler.address

    def close(self):
        self.client.close()
        for process in reversed(self._processes):
            process.kill()
            process.wait()
        self._log.close()
