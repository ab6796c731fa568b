"""Child processes of the tests: every one has a time limit, and none outlives the test that started it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

LIMIT = 900.0  # s: a child may have to compile kernels, or to simulate a card, on a slow machine that does other things


@contextlib.contextmanager
def started(command: Sequence[object], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a process in a group of its own, with pipes for what it says; on the way out the group is killed."""
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
        with contextlib.suppress(ProcessLookupError):  # they are all gone
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
