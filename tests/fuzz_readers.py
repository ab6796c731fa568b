"""Fuzz a file reader with atheris: ``python tests/fuzz_readers.py FORMAT [folder] [-max_total_time=60]``.

Any bytes are either read or refused with a `FormatError`: no other error, no warning, no crash, no hang. If the format
can also be written, the content survives writing and reading again. The folder collects inputs that reach new code,
besides the files of `fuzz_seeds`; if a file is given instead, only that file is read. `formats/test_fuzz_readers.py`
runs the same contract on damaged seeds.
"""

from __future__ import annotations

import gc
import logging
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import fuzz_seeds
from linkwork import formats
from linkwork.errors import FormatError
from linkwork.formats import child, fbx
from linkwork.formats.content import Content
from linkwork.formats.markers import load_markers
from linkwork.formats.options import DEFAULTS
from linkwork.formats.worlds import read_world

try:
    import atheris
except ImportError:  # it has no wheels for some systems, and only `make fuzz` needs it
    atheris = None

ENORMOUS = 1e40  # beyond this, written numbers may exceed the largest that are read
LIMITS = ("-rss_limit_mb=3000", "-max_len=20000")
PATIENCE = 30  # s for one file


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Args:
        name: Name of the file that is fed.
        read: The function that reads it.
        returns: Whether the content is written and read again.
        apart: Whether it is read in a separate process, which is ended if it takes too long.
    """

    name: str
    read: Callable[[Path], Any] = formats.read
    returns: bool = False
    apart: bool = False


def _for_arm(path: Path) -> Content:
    return formats.read(path, linkage=fuzz_seeds.arm())


def _with_groups(path: Path) -> Content:
    robot = path.with_name("arm.urdf")
    if not robot.exists():
        formats.save(fuzz_seeds.arm(), robot)
    return formats.read(robot, formats.Options(srdf=path))


def _world(path: Path) -> Any:
    return read_world(path, DEFAULTS)


KINDS = {
    "urdf": Kind("any.urdf", returns=True),
    "xacro": Kind("any.urdf.xacro", apart=True),
    "mjcf": Kind("any.xml"),
    "bvh": Kind("any.bvh", returns=True),
    "gltf": Kind("any.gltf"),
    "glb": Kind("any.glb"),
    "usda": Kind("any.usda", apart=True),
    "usdc": Kind("any.usdc", apart=True),
    "fbx": Kind("any.fbx", apart=True),
    "yaml": Kind("any.yaml", returns=True),
    "json": Kind("any.json", returns=True),
    "npz": Kind("any.npz"),
    "smpl": Kind("any.npz"),
    "csv": Kind("any.csv", _for_arm),
    "trajectory": Kind("any.trajectory.yaml", _for_arm),
    "srdf": Kind("any.srdf", _with_groups),
    "c3d": Kind("any.c3d", load_markers),
    "trc": Kind("any.trc", load_markers),
    "planning": Kind("any.yaml", _world),
    "scene": Kind("any.scene", _world),
}


def feed(kind: str, data: bytes, folder: Path) -> bool:
    """Read bytes as a file of a kind; return whether they are valid, after writing the content and reading it again."""
    row = KINDS[kind]
    path = folder / row.name
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            content = row.read(path)
        except FormatError:
            return False
        if row.returns:
            _comes_back(content, path)
    return True


def _comes_back(content: Content, path: Path) -> None:
    """Raise unless the content can be written and read again, with the same links and number of coordinates."""
    largest = max((abs(clip.poses).max(initial=0.0) for clip in content.clips.values()), default=0.0)
    if path.suffix == ".bvh" and max(largest, content.linkage.length) > ENORMOUS:
        return
    try:
        formats.write(content, path)
    except FormatError as error:
        if "rename it" not in str(error):
            raise RuntimeError(f"{content.linkage!r} cannot be written") from error
        return
    again, linkage = formats.read(path).linkage, content.linkage
    same = again.nq == linkage.nq and (path.suffix == ".bvh" or again.links == linkage.links)
    if not same:
        raise RuntimeError(f"written as {linkage!r}, read as {again!r}")


# Fuzzing


@cache
def _program(file: str) -> Callable[[], None]:
    """Return the main function of a program of the package, imports done, so that forks need not repeat them."""
    main: Callable[[], None] = runpy.run_path(file)["main"]
    return main


def _forked(command: list[str], *, input: bytes, timeout: float, **_: object) -> SimpleNamespace:  # noqa: A002
    """Run a program of the package in a fork of this process: milliseconds; a new Python takes half a second."""
    main = _program(command[5])
    with tempfile.TemporaryFile() as request, tempfile.TemporaryFile() as answer:
        request.write(input)
        request.seek(0)
        process = os.fork()
        if process == 0:
            try:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(int(timeout))
                nowhere = os.open(os.devnull, os.O_WRONLY)
                for stream, number in ((request.fileno(), 0), (answer.fileno(), 1), (nowhere, 2)):
                    os.dup2(stream, number)
                sys.stdin = os.fdopen(0)
                main()
                sys.stdout.flush()
            except BaseException:
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(process, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
            raise subprocess.TimeoutExpired(command, timeout)
        answer.seek(0)
        return SimpleNamespace(returncode=os.waitstatus_to_exitcode(status), stdout=answer.read())


def _watched() -> None:
    """Instrument the readers, so that atheris sees the branches that an input takes."""
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and str(thing.__module__).startswith("linkwork.formats"):
            atheris.instrument_func(thing)


def main() -> None:
    if atheris is None:
        sys.exit("fuzzing needs atheris; install it with: pip install atheris")
    if len(sys.argv) < 2 or sys.argv[1] not in KINDS:
        sys.exit(f"usage: python tests/fuzz_readers.py FORMAT [folder] [options of libFuzzer]; {', '.join(KINDS)}")
    kind, arguments = sys.argv[1], sys.argv[2:]
    options = [word for word in arguments if word.startswith("-")]
    paths = [Path(word) for word in arguments if not word.startswith("-")]
    logging.disable(logging.WARNING)
    fbx.MAX_VALUES = 20_000  # at the usual limit, ufbx takes half a minute
    child.subprocess = SimpleNamespace(**(vars(subprocess) | {"run": _forked}))
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as beginning:
        whole = fuzz_seeds.seeds(kind)
        if not all(feed(kind, data, Path(scratch)) for data in whole):  # this also imports the readers
            sys.exit(f"a seed of {kind} is not read")
        _watched()
        if not any(path.is_file() for path in paths):
            for number, data in enumerate(whole):
                Path(beginning, f"seed{number}").write_bytes(data)
            for path in paths:
                path.mkdir(parents=True, exist_ok=True)
            paths = [*paths, Path(beginning)]
        patience = PATIENCE + (child.PATIENCE if KINDS[kind].apart else 0)
        words = [sys.argv[0], *LIMITS, f"-timeout={patience:.0f}", *options, *map(str, paths)]
        atheris.Setup(words, lambda data: feed(kind, data, Path(scratch)) and None)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
