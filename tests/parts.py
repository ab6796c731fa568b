"""Run the whole suite in parts, several at a time, each in its own process.

    python tests/parts.py [--workers 2] [options of pytest]

One process per part imports shared modules and makes session fixtures once, and no process grows large. The number of
workers limits the parts that compute at the same time; in addition, one part runs that mostly waits for a browser or a
cluster. The output of a part is printed when it ends, and the times of all parts at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

import children

ROOT = Path(__file__).parents[1]
# The longest parts come first, so that the last ones end together. The rest takes all files that no other part names.
COMPUTING = {
    "draw": "tests/draw --ignore=tests/draw/test_player.py --ignore=tests/draw/test_stage.py",
    "rest": "tests",
    "motion": "tests/motion tests/retargeting",
    "solvers": "tests/solvers --ignore=tests/solvers/test_body_solver.py",
    "kernels": "tests/kernels --ignore=tests/kernels/test_lanes.py --ignore=tests/kernels/test_cuda.py",
    "cli": "tests/cli",
    "linkage": "tests/linkage tests/models",
    "formats n-z": "tests/formats/test_[n-z]*.py",
    "formats a-m": "tests/formats/test_[a-m]*.py",
    "docs": "tests/test_docs.py",
    "docs, commands": "tests/test_docs_commands.py",
    "card": "tests/kernels/test_cuda.py",  # runs in a simulator
    "body solver": "tests/solvers/test_body_solver.py",  # compiles a kernel, which takes much memory
    "goals": "tests/goals tests/explain tests/sixty",
    "examples": "tests/test_examples.py",
    "lanes": "tests/kernels/test_lanes.py",
    "source": "src tests/test_layers.py tests/test_api.py",
}
WAITING = {
    "studio": "tests/studio",
    "scale": "tests/scale",
    "player": "tests/draw/test_player.py tests/draw/test_stage.py",
    "web": "tests/web",
}
NOTHING = 5  # pytest's exit status if no test was collected
LIMIT, GRACE = 1800.0, 30.0  # s: time limit of a part, and time to end after an interrupt


def words(name: str) -> list[str]:
    """Return pytest's arguments for a part: paths, or for the rest the paths to ignore."""
    parts = COMPUTING | WAITING
    if name != "rest":
        return [path for word in parts[name].split() for path in expanded(word)]
    others = [word for other in parts.values() for word in other.split() if word.startswith("tests/")]
    return [*parts[name].split(), *(f"--ignore-glob={ROOT / word}" for word in others)]


def expanded(word: str) -> list[str]:
    return sorted(str(path) for path in ROOT.glob(word)) if "*" in word else [word]


class Run:
    """A running part."""

    def __init__(self, name: str, options: list[str], said: IO[bytes]) -> None:
        self.name, self.start, self.seconds, self.said = name, time.monotonic(), 0.0, said
        some = any(option.startswith(("--quick", "--deselect")) for option in options)  # parts may be empty
        self.fine = {0, NOTHING} if some else {0}
        command = [sys.executable, "-m", "pytest", "-q", *options, *words(name)]
        environment = os.environ | {"COVERAGE_FILE": f".coverage.{name.replace(', ', '-').replace(' ', '-')}"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of child processes load the cached bytecode
        own = {"stdout": said, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=os.name != "nt", **own)

    def ended(self) -> bool:
        """Return whether it has ended; if so, print its output."""
        if self.process.poll() is None and time.monotonic() < self.start + LIMIT:
            return False
        end_all([self])
        self.seconds = time.monotonic() - self.start
        self.said.seek(0)
        print(f"\n== {self.name}\n{self.said.read().decode(errors='replace')}", flush=True)
        return True

    @property
    def failed(self) -> bool:
        """Whether a test failed, or none was found."""
        return self.process.returncode not in self.fine

    def ask_to_end(self) -> None:
        """Interrupt it, so that it can end the processes of its tests."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT if os.name != "nt" else signal.SIGTERM)

    def end(self) -> None:
        """Wait for its end, and kill it if it does not end in time."""
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            children.kill(self.process)


def end_all(runs: list[Run]) -> None:
    """End all running parts."""
    for one in runs:
        one.ask_to_end()
    for one in runs:
        one.end()


def run(workers: int, options: list[str]) -> list[Run]:
    """Run all parts and return them in the order in which they ended."""
    lanes = [(list(COMPUTING), workers), (list(WAITING), 1)]
    done, going = list[Run](), [list[Run]() for _ in lanes]
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: end_all([one for runs in going for one in runs]))  # also after an error
        while any(going) or any(names for names, _ in lanes):
            for runs, (names, most) in zip(going, lanes, strict=True):
                for one in [one for one in runs if one.ended()]:
                    runs.remove(one)
                    done.append(one)
                while names and len(runs) < most:
                    runs.append(Run(names.pop(0), options, stack.enter_context(tempfile.TemporaryFile())))
            time.sleep(0.1)
    return done


def main() -> int:
    """Run the suite and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2, help="parts that compute at a time")
    given, options = parser.parse_known_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # Windows' code page lacks characters that tests print
    start = time.monotonic()
    try:
        done = run(given.workers, options)
    except KeyboardInterrupt:
        return 130
    for one in done:
        print(f"{one.seconds:6.0f} s  {one.name}{'  FAILED' if one.failed else ''}")
    print(f"{time.monotonic() - start:6.0f} s  in all")
    return int(any(one.failed for one in done))


if __name__ == "__main__":
    sys.exit(main())
