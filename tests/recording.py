"""Records the kernel calls of Python, so that they can be replayed with packs of other platforms.

    python tests/recording.py FOLDER [GOALS]

solves goals of an arm and of a body, one by one and in batches, and writes `calls`, which replay.c reads, and
`results.json`, which describes each answer. `read_answers` reads the output of replay.c.
"""

from __future__ import annotations

import inspect
import json
import struct
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOM = {
    "room",
    "memory",
    "rough_memory",
    "books",
    "notes",
    "blend",
    "trials",
}  # work memory, of any content
UNTOLD = ROOM | {"state"}  # arguments that are not results
DTYPES = {"f8": np.float64, "f4": np.float32, "i8": np.int64, "i4": np.int32, "u1": np.uint8, "b1": np.bool_}
DATA, FILL, CALL, WRITE = 1, 2, 3, 4


class Recorder:
    """Writes calls of kernels into a file.

    Args:
        folder: Folder for `calls` and `results.json`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, (folder / "calls").open("wb")
        self.results: list[tuple[str, str, str, list[int]]] = []
        self.lock = threading.RLock()
        self.contents: dict[int, bytes] = {}  # of buffers that kernels only read
        self.buffers: dict[Any, int] = {}

    def around(self, kernel: Any, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a kernel whose calls are recorded."""
        names = list(inspect.signature(kernel.function).parameters)

        def call(*arguments: Any) -> Any:
            with self.lock:
                return self._call(kernel, function, names, arguments)

        return call

    def _call(self, kernel: Any, function: Any, names: list[str], arguments: tuple[Any, ...]) -> Any:
        named = [
            (name, value)
            for name, argument in zip(names, arguments, strict=True)
            for value in (argument if isinstance(argument, tuple) else (argument,))
        ]
        before = [value.tobytes() if isinstance(value, np.ndarray) else b"" for _, value in named]
        result = function(*arguments)
        arrays = [value for _, value in named if isinstance(value, np.ndarray)]
        number = next(k for k, one in enumerate(kernel.signatures) if fits(one.items, arrays))
        slots: list[int] = []
        changed: list[tuple[str, int, NDArray[Any]]] = []
        for k, (name, value) in enumerate(named):
            if not isinstance(value, np.ndarray):
                slots += [0, bits(value)]
                continue
            same = value.tobytes() == before[k] and name not in UNTOLD
            buffer = self._put((kernel.name, k, value.nbytes), name, before[k], same=same)
            slots += [1, buffer, *(part for length in value.shape for part in (0, length))]
            if not same and name not in UNTOLD:
                changed.append((name, buffer, value))
        symbol = kernel.symbols[number]
        self._write(CALL, len(symbol), text=symbol.encode())
        self._write(len(slots) // 2, *slots)
        self.results.append((symbol, "", kernel.signatures[number].returns or "i8", []))
        for name, buffer, value in changed:
            self._write(WRITE, buffer)
            self.results.append((symbol, name, value.dtype.str[1:], list(value.shape)))
        return result

    def _put(self, place: tuple[Any, ...], name: str, content: bytes, *, same: bool) -> int:
        """Put content into a buffer, and return its number. Content that no kernel changes gets its own buffer."""
        key = content if same and len(content) > 256 else place
        buffer = self.buffers.setdefault(key, len(self.buffers))
        if same and self.contents.get(buffer) == content:
            return buffer
        self.contents.pop(buffer, None)
        if same:
            self.contents[buffer] = content
        first = content[:8].ljust(8, b"\0")
        if name in ROOM:
            self._write(FILL, buffer, len(content), 0)
        elif content == first * (len(content) // 8):
            self._write(FILL, buffer, len(content), *struct.unpack("<q", first))
        else:
            self._write(DATA, buffer, len(content), text=content)
        return buffer

    def _write(self, *numbers: int, text: bytes = b"") -> None:
        self.file.write(struct.pack(f"<{len(numbers)}q", *numbers) + text + bytes(-len(text) % 8))

    def close(self) -> None:
        """Close the file of calls, and write the descriptions."""
        self.file.close()
        (self.folder / "results.json").write_text(json.dumps(self.results), encoding="utf-8")


def fits(items: Any, arrays: list[NDArray[Any]]) -> bool:
    """Return whether arrays have the dtypes of a signature."""
    wanted = [item.dtype for item in items if item.axes >= 0]
    return wanted == [array.dtype.str[1:] for array in arrays]


def bits(value: Any) -> int:
    """Return the bits of a number, as an integer for a slot."""
    if isinstance(value, float | np.floating):
        return int(struct.unpack("<q", struct.pack("<d", value))[0])
    return int(value)


def read_answers(folder: Path, answers: Path) -> Iterator[tuple[str, str, NDArray[Any]]]:
    """Yield function, name and content of every answer; the name of a return value is empty."""
    content, place = answers.read_bytes(), 0
    for symbol, name, dtype, shape in json.loads((folder / "results.json").read_text(encoding="utf-8")):
        count = int(np.prod(shape))
        size = count * np.dtype(dtype).itemsize if name else 8
        kind = np.float64 if not name and dtype == "f8" else np.int64 if not name else DTYPES[dtype]
        yield symbol, name, np.frombuffer(content, kind, count, place).reshape(shape)
        place += size
    if place != len(content):
        raise ValueError(f"{answers} has {len(content)} bytes; the recording makes {place}.")


def flat_image(library: Path) -> bytes:
    """Return a macOS library in the form that replay.c loads on Linux: both have the same calling convention."""
    import lief

    binary = lief.parse(library)
    image = bytearray(max(one.virtual_address + one.virtual_size for one in binary.segments) + 7 & ~7)
    for segment in binary.segments:
        image[segment.virtual_address : segment.virtual_address + segment.file_size] = bytes(segment.content)
    moved = [one.address for one in binary.relocations]
    shown = [(one.address, one.symbol.name[1:].encode()) for one in binary.dyld_info.exports]
    parts = [b"flatpack", struct.pack("<q", len(image)), bytes(image)]
    parts.append(struct.pack(f"<{2 + len(moved)}q", len(moved), *moved, len(shown)))
    parts += [struct.pack("<qq", place, len(name)) + name + bytes(-len(name) % 8) for place, name in shown]
    return b"".join(parts)


def solve_goals(count: int) -> None:
    """Solve goals of an arm, one by one and in batches of both precisions, and of a body; compute frames, Jacobians."""
    import linkwork as lw

    arm = lw.models.panda()
    tip = arm.frames[-1]
    poses = np.random.default_rng(7).uniform(arm.lower, arm.upper, (count, arm.nq))
    targets = arm.forward(poses, frame=tip)
    ik = lw.prepare(arm, tip)
    for target in targets:
        ik(target)
    for dtype in (np.float64, np.float32):
        lw.solve_batch(arm, tip, targets, dtype=dtype, threads=1)
    arm.jacobian(poses[:1000], tip)
    q = poses[0]
    for pose in poses[:200]:
        arm.jacobian(pose, tip)
        q = ik.step(arm.forward(pose, frame=tip), q, dt=0.01)
    body = lw.models.human()
    hand, foot = "right_hand", "left_foot"
    for pose in np.random.default_rng(8).uniform(-0.3, 0.3, (count // 50, 3)):
        start = body.neutral()
        place = body.forward(start, frame=hand)[:3, 3] + pose
        lw.solve(body, [lw.Reach(hand, position=place), lw.Hold(foot)], start=start)
    for method in ("damped", "pseudoinverse", "transpose", "ccd"):
        for target in targets[:50]:
            lw.solve(arm, lw.Reach(tip, pose=target), method=method, start=arm.stored_pose("ready"))


def main(folder: Path, goals: int, only: Collection[str] = ()) -> None:
    """Record calls of all kernels, or only of some."""
    from linkwork.kernels import runtime

    folder.mkdir(parents=True, exist_ok=True)
    recorder, plain = Recorder(folder), runtime.callable_of

    def recorded(kernel: Any) -> Any:
        wanted = not only or kernel.name in only
        return recorder.around(kernel, plain(kernel)) if wanted else plain(kernel)

    runtime.callable_of = recorded
    solve_goals(goals)
    recorder.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000, sys.argv[3:])
