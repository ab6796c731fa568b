"""Child processes of tests: each has a time limit, and none outlives the test that started it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

LIMIT = 900.0  # s: a child may compile kernels or simulate a GPU, on a slow and busy machine


@contextlib.contextmanager
def started(command: Sequence[object], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a process in its own group, with its output in pipes; the group is killed at the end of the block."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": os.name != "nt"} | options
    process = subprocess.Popen([*map(str, command)], **options)
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[Any]) -> None:
    """Kill a process with its children, and close its pipes."""
    if os.name == "nt":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):  # all have ended
            os.killpg(process.pid, signal.SIGKILL)
    process.wait(LIMIT)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def run(
    command: Sequence[object], *, stdin: str | bytes | None = None, check: bool = False, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """Run a process to its end, as `subprocess.run` does with its output captured."""
    pipe = subprocess.DEVNULL if stdin is None else subprocess.PIPE
    with started(command, stdin=pipe, **options) as process:
        out, err = process.communicate(stdin, timeout=LIMIT)
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done
