"""A process of its own that runs cases, so that one that hangs or crashes is reported."""

from __future__ import annotations

import multiprocessing
import resource
import time
from multiprocessing.connection import Connection
from typing import Any

HANG, SHRINKING = 60.0, 300.0  # seconds
LARGEST_MEMORY = 2**33
METHOD = "spawn"  # a fork of a process with threads may hang


class Worker:
    """A process that runs cases by number; ended, and started again, if one hangs."""

    def __init__(self, seed: int, subject: str | None = None) -> None:
        self.seed, self.subject = seed, subject
        self._start()

    def _start(self) -> None:
        context: Any = multiprocessing.get_context(METHOD)
        self._pipe, other = context.Pipe()
        self._process = context.Process(
            target=serve, args=(other, self.seed, self.subject), daemon=True
        )
        self._process.start()
        other.close()
        self._pipe.recv()  # ready

    def ask(self, number: int, is_known: set[str]) -> dict[str, Any]:
        """Run a case; the smallest form is looked for if its fault is not known."""
        self._pipe.send((number, is_known))
        problem = "hang"
        try:
            if self._pipe.poll(HANG):
                answer = self._pipe.recv()
                if answer is not None:
                    return dict(answer)
                if self._pipe.poll(SHRINKING):
                    return dict(self._pipe.recv())
        except EOFError:
            problem = "crash"
        self.stop()
        self._start()
        call = f"make({number}, {self.seed}, {self.subject!r})"
        return {
            **{"answer": problem, "fault": f"{problem} of case {number}", "detail": ""},
            "snippet": f"from tools.fuzz.case import make, run\nrun({call})",
        }

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


def serve(pipe: Connection, seed: int, subject: str | None) -> None:
    """Run the cases whose numbers come through the pipe."""
    from tools.fuzz.case import make, run, shrink, snippet

    resource.setrlimit(resource.RLIMIT_AS, (LARGEST_MEMORY, LARGEST_MEMORY))
    pipe.send("ready")
    while True:
        number, known = pipe.recv()
        case = make(number, seed, subject)
        start = time.perf_counter()
        found = run(case)
        answer = {
            **{"answer": found.answer, "fault": found.fault, "detail": found.detail},
            **{"subject": case.subject, "seconds": time.perf_counter() - start, "snippet": ""},
        }
        if found.fault is not None and found.fault not in known:
            pipe.send(None)
            answer["snippet"] = snippet(shrink(case, found.fault))
        pipe.send(answer)
