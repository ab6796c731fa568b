"""Anything at all, read as BVH: a linkage comes out, or an error of ours; whatever comes out can be written and read.

`python tests/fuzz_bvh.py [corpus folder] -max_total_time=60` fuzzes with atheris, which is installed on its own;
`test_bvh.py` runs the same target on the examples of hypothesis.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from linkwork.errors import FormatError
from linkwork.formats import bvh

try:
    import atheris
except ImportError:  # it has no wheels for every system, and only `make fuzz` needs it
    atheris = None

ENORMOUS = 1e40  # near the largest numbers that are read, those written may be just too large


def read_anything(data: bytes, folder: Path) -> bool:
    """Read bytes as a BVH file; tell whether they were one, after writing it and reading it again."""
    path = folder / "any.bvh"
    path.write_bytes(data)
    try:
        content = bvh.read(path)
    except FormatError:
        return False
    largest = max((abs(clip.poses).max() for clip in content.clips.values()), default=0.0)
    if max(largest, content.linkage.length) < ENORMOUS:
        bvh.write(content, path)
        again = bvh.read(path)
        if again.linkage.nq != content.linkage.nq:
            raise RuntimeError(f"{again.linkage.coordinates} came back for {content.linkage.coordinates}")
    return True


def main() -> None:
    if atheris is None:
        sys.exit("fuzzing needs atheris: pip install atheris")
    with tempfile.TemporaryDirectory() as folder:
        atheris.instrument_all()
        atheris.Setup(sys.argv, lambda data: read_anything(data, Path(folder)))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
