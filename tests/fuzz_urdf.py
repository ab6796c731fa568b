"""Feed the URDF reader with anything: ``python tests/fuzz_urdf.py [corpus] [-max_total_time=60]``, with atheris.

What is no robot must be refused by a `FormatError`; what is one must come back from a file that we write.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

try:
    import atheris
except ImportError:  # only those who fuzz need it
    atheris = None

with nullcontext() if atheris is None else atheris.instrument_imports(include=["linkwork.formats"]):
    from linkwork import models
    from linkwork.errors import FormatError
    from linkwork.formats import urdf
    from linkwork.formats.content import Content

SEEDS = ("planar", "panda", "ur5", "human", "engine")


def feed(data: bytes, folder: Path) -> None:
    """Read bytes as a URDF file; if they are one, write it and read that again."""
    path = folder / "robot.urdf"
    path.write_bytes(data)
    try:
        content = urdf.read(path)
    except FormatError:
        return
    try:
        urdf.write(content, path)
    except FormatError as error:
        if "rename it" not in str(error):
            raise
        return
    again = urdf.read(path).linkage
    if (again.links, again.coordinates) != (content.linkage.links, content.linkage.coordinates):
        raise RuntimeError(f"written as {again!r}, read as {content.linkage!r}")


def seeds(folder: Path) -> Path:
    """Write files to start from."""
    for name in SEEDS:
        make = getattr(models, name)
        linkage = make([2, 1]) if name == "planar" else make()
        urdf.write(Content(linkage), folder / f"{name}.urdf")
    return folder


def main() -> None:
    if atheris is None:
        sys.exit("fuzzing needs atheris; install it with: pip install atheris")
    with tempfile.TemporaryDirectory() as corpus, tempfile.TemporaryDirectory() as scratch:
        arguments = list(sys.argv)
        if all(argument.startswith("-") for argument in arguments[1:]):
            arguments.append(str(seeds(Path(corpus))))
        atheris.Setup(arguments, lambda data: feed(data, Path(scratch)))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
