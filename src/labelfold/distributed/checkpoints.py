"""Named tasks that leave a file each: what is done stays done.

A task writes its file under a temporary name and renames it when it is complete, so that a file
that exists is right, however the work before ended. A folder has one ``plan.json`` that says of
what: other rows or settings are an error, and not a mixture.
"""

from __future__ import annotations

import errno
import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelfold.exceptions import InputError
from labelfold.whole_file import replacing

__all__ = ["Task", "check_worker_memory", "open_folder", "run_tasks"]

PLAN = "plan.json"
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class Task:
    """One function to be called on a worker.

    ``name`` is its name on the dashboard, ``title`` what it works on, for messages. If the file
    ``output`` exists, there is nothing to do.
    """

    name: str
    title: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    output: Path | None = None


def open_folder(folder: Any, plan: dict[str, Any]) -> Path:
    """Return a folder for the work of a plan, new or begun before."""
    path = Path(folder).absolute()
    path.mkdir(parents=True, exist_ok=True)
    wanted, file = json.loads(json.dumps(plan)), path / PLAN
    if not file.exists():
        if any(path.iterdir()):
            raise InputError(f"{path} is not empty, and has no {PLAN}: name a new folder.")
        with replacing(file) as stream:
            stream.write(json.dumps(wanted, indent=2).encode())
    found = json.loads(file.read_text(encoding="utf-8"))
    for name in wanted:
        if found.get(name) != wanted[name]:
            raise InputError(
                f"{path} holds work on other rows or with other settings ({name} was "
                f"{found.get(name)!r}, now {wanted[name]!r}): name another folder, or remove it."
            )
    for left in path.rglob(".labelfold-*.tmp"):  # of tasks that were killed
        left.unlink(missing_ok=True)
    return path


def run_tasks(
    client: Any,
    folder: Path,
    tasks: Sequence[Task],
    *,
    worker: str | None = None,
    verbose: int = 0,
) -> list[Any]:
    """Run the tasks whose files are not there yet, and return their futures, in order.

    The first error ends the rest. It names what the task worked on.
    """
    from distributed import KilledWorker, as_completed, progress

    token = uuid.uuid4().hex[:8]
    waiting = [one for one in tasks if one.output is None or not one.output.exists()]
    futures = [
        client.submit(
            _call,
            (one.function, one.title, str(folder)),
            *one.arguments,
            key=f"{one.name}-{token}",
            workers=worker,
            pure=False,
        )
        for one in waiting
    ]
    if verbose and futures:
        progress(futures, notebook=False)
    titles = {future.key: one.title for future, one in zip(futures, waiting, strict=True)}
    for future in as_completed(futures):
        if future.status == "finished":
            continue
        error = future.exception()
        client.cancel(futures)
        if isinstance(error, KilledWorker):
            raise InputError(
                f"{titles[future.key]}: {error.allowed_failures + 1} workers died of it, mostly "
                "because a worker needed more memory than it has: give workers more memory or "
                "fewer threads, or take fewer rows at once. Start again: what is done is kept."
            ) from error
        raise error
    return futures


def check_worker_memory(client: Any, n_bytes: float, what: str, remedy: str) -> None:
    """Raise InputError if a thread of a worker has less memory than a task takes."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    limits = [one["memory_limit"] / one["nthreads"] for one in workers if one["memory_limit"]]
    if limits and n_bytes > min(limits):
        raise InputError(
            f"{what} takes about {n_bytes / 1e9:.2g} GB, and a worker has {min(limits) / 1e9:.2g} "
            f"GB per thread: {remedy}"
        )


def _call(how: tuple[Callable[..., Any], str, str], *arguments: Any) -> Any:
    """Call a function, and put what it worked on before the message of any error."""
    from distributed import get_worker

    function, title, folder = how
    address = get_worker().address
    if not Path(folder).is_dir():
        raise InputError(
            f"Worker {address} does not see {folder}: name a folder that all workers share."
        )
    try:
        try:
            return function(*arguments)
        except SystemError:
            # NumPy reads headers of arrays by ast.literal_eval, which at times fails in CPython
            # 3.11 when another thread uses it too (python/cpython issue 106905).
            return function(*arguments)
    except InputError as error:
        raise InputError(f"{title}: {error}") from error
    except OSError as error:
        if error.errno in NO_ROOM:
            raise InputError(
                f"{title}: no room to write on worker {address} ({error.strerror}, in {folder}): "
                "free some space and start again, what is done is kept."
            ) from error
        raise RuntimeError(f"{title}, on worker {address}: {error!r}") from error
    except Exception as error:
        raise RuntimeError(f"{title}, on worker {address}: {error!r}") from error
