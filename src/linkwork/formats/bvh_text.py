"""Parse the text of a BVH file into joints and one array of channel values.

Nothing is interpreted here: lengths are in the unit of the file, angles in degrees. Errors name the line, and the
motion is read with a few array operations.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice

import numpy as np

from ..errors import FormatError
from ..motion.frame_files import Frames
from ..transforms import FloatArray
from .atomic_files import MAX_BYTES, text_pieces
from .options import FilePath

MAX_JOINTS = 10_000
MAX_CHANNELS = 12
MAX_VALUES = 8_000_000
BYTES_EACH = 24  # largest size of the file for each value
MAX_LINE = 10_000  # characters, in the hierarchy
CHUNK = 2**20  # bytes read at a time
LARGEST = 1e50  # of a length or angle, so that its square is finite
LONG = 2**19  # from this number of characters, a compiled kernel is used

_STATEMENT = re.compile(r"\s*+([{}]|[^\s{}][^\n{}]*)")
_MOTION = re.compile(r"\s*+frames\s*+:\s*+(\S++)\s++frame\s++time\s*+:\s*+(\S++)", re.IGNORECASE)
_WORD = re.compile(r"\S+")
_CHANNEL = re.compile(r"([xyz])(position|rotation)", re.IGNORECASE)


@dataclass
class BvhJoint:
    """A joint as in the file.

    Args:
        name: Its name.
        parent: Index of the parent joint, -1 for a root.
        line: Its first line.
        offset: Its OFFSET from the parent joint, empty until read.
        channels: Its channels in file order: ``"xposition"``, ``"zrotation"``, ...
        ends: The offsets of its end sites.
    """

    name: str
    parent: int
    line: int
    offset: tuple[float, ...] = ()
    channels: tuple[str, ...] = ()
    has_channels: bool = False  # CHANNELS was read; it may list none
    ends: list[tuple[float, ...]] = field(default_factory=list)


@dataclass
class Text:
    """A parsed file.

    Args:
        bones: The joints, each after its parent.
        values: One row of channel values for each frame, shape (frames, channels); None without a motion.
        frame_time: Frame time [s].
        announced: Number of frames stated in the file.
        line: The line of that number.
    """

    bones: list[BvhJoint]
    values: FloatArray | None = None
    frame_time: float = 0.0
    announced: int = 0
    line: int | None = None


def parse(path: FilePath, most: int | None = None) -> Text:
    """Return the joints and channel values of a BVH file.

    Args:
        path: The file.
        most: Largest number of channel values, `MAX_VALUES` by default.

    Raises:
        FormatError: If it is not a valid BVH file; the message names the line.
    """
    most = MAX_VALUES if most is None else most
    pieces = text_pieces(path, max(MAX_BYTES, BYTES_EACH * most), CHUNK)
    text, (bones, motion, line) = _beginning(path, pieces)
    if motion is None:
        return Text(bones)
    return _read_motion(path, text, pieces, motion, line, bones, most)


def _beginning(path: FilePath, pieces: Iterator[str]) -> tuple[str, tuple[list[BvhJoint], int | None, int]]:
    """Return the text of a file up to some point in its frames, and the result of `_Hierarchy` for it."""
    text = ""
    while piece := "".join(islice(pieces, 1 + len(text) // CHUNK)):  # twice as much each time
        text += piece
        try:
            found = _Hierarchy(path).read(text)
        except FormatError:  # more text may complete it
            continue
        header = None if found[1] is None else _MOTION.match(text, found[1])
        if header is not None and header.end() < len(text):
            return text, found
    text = text.rstrip()
    return text, _Hierarchy(path).read(text)


def _statements(path: FilePath, text: str) -> Iterator[tuple[int, list[str], int]]:
    """Yield the line, the words and the position of each brace and of each run of words on a line."""
    line, last = 1, 0
    for match in _STATEMENT.finditer(text):
        line += text.count("\n", last, match.start(1))
        last = match.start(1)
        if match.end() - last > MAX_LINE:
            raise FormatError(path, f"has a line of more than {MAX_LINE} characters in its hierarchy.", line=line)
        yield line, match[1].split(), last


class _Hierarchy:
    """Reads the joints statement by statement, with a stack of open braces, so that depth is not limited."""

    def __init__(self, path: FilePath) -> None:
        self.path = path
        self.bones: list[BvhJoint] = []
        self.open: list[int] = []  # indices of bones
        self.end: BvhJoint | None = None  # an end site, while it is open
        self.waiting = ""  # a statement that must be followed by a brace
        self.sites = 0

    def refuse(self, message: str, line: int) -> FormatError:
        return FormatError(self.path, message, line=line)

    def read(self, text: str) -> tuple[list[BvhJoint], int | None, int]:
        """Return the bones, and the position and line of the motion in the text."""
        line = 1
        for index, (line, words, position) in enumerate(_statements(self.path, text)):
            key = words[0].upper()
            if index == 0:
                if key != "HIERARCHY" or len(words) > 1:
                    raise self.refuse(f"is not a BVH file: it begins with {_shown(words)} instead of HIERARCHY.", line)
            elif self.waiting and key != "{":
                raise self.refuse(f"{self.waiting} is not followed by '{{' but by {_shown(words)}.", line)
            elif key == "MOTION" and not self.open and self.bones:
                return self.bones, position + len(key), line
            else:
                self.take(key, words, line)
        if not self.bones or self.open or self.waiting:
            what = f"joint {self.bones[self.open[-1]].name!r} is still open" if self.open else "there is no joint yet"
            raise self.refuse(f"the file ends in its hierarchy, where {what}.", line)
        return self.bones, None, line

    def take(self, key: str, words: list[str], line: int) -> None:
        match key:
            case "{" if self.waiting:
                self.waiting = ""
            case "{":
                raise self.refuse("a '{' without ROOT, JOINT or End Site before it.", line)
            case "}":
                self.close(line)
            case "ROOT" | "JOINT":
                self.begin(key, words, line)
            case "END" | "ENDSITE":
                self.begin_end(line)
            case "OFFSET":
                self.offset(words, line)
            case "CHANNELS":
                self.channels(words, line)
            case _:
                known = "ROOT, JOINT, OFFSET, CHANNELS, End Site or MOTION"
                raise self.refuse(f"{_shown(words)} is not {known}.", line)

    def begin(self, key: str, words: list[str], line: int) -> None:
        name = " ".join(words[1:])
        if not name:
            raise self.refuse(f"a {key} without a name.", line)
        if (key == "ROOT") == bool(self.open) or self.end is not None:
            rule = "a ROOT must be outside all joints" if key == "ROOT" else "a JOINT must be inside another or a ROOT"
            raise self.refuse(f"{key} {_shown(words[1:])} is misplaced: {rule}.", line)
        if len(self.bones) >= MAX_JOINTS:
            raise self.refuse(f"has more than {MAX_JOINTS} joints, the largest number that is read.", line)
        self.bones.append(BvhJoint(name, self.open[-1] if self.open else -1, line))
        self.open.append(len(self.bones) - 1)
        self.waiting = f"{key} {_shown(words[1:])}"

    def begin_end(self, line: int) -> None:
        self.sites += 1
        if not self.open or self.end is not None:
            raise self.refuse("an End Site outside of a joint.", line)
        if self.sites > MAX_JOINTS:
            raise self.refuse(f"has more than {MAX_JOINTS} end sites, the largest number that is read.", line)
        self.end = BvhJoint("End Site", self.open[-1], line)
        self.waiting = "End Site"

    def close(self, line: int) -> None:
        if not self.open:
            raise self.refuse("one '}' too many.", line)
        bone = self.end or self.bones[self.open[-1]]
        if not bone.offset:
            raise self.refuse(f"{_shown([bone.name])} has no OFFSET.", line)
        if self.end is None:
            self.open.pop()
        else:
            self.bones[self.end.parent].ends.append(bone.offset)
            self.end = None

    def current(self, key: str, line: int) -> BvhJoint:
        if not self.open:
            raise self.refuse(f"{key} outside of a joint.", line)
        return self.end or self.bones[self.open[-1]]

    def offset(self, words: list[str], line: int) -> None:
        bone = self.current("OFFSET", line)
        if bone.offset:
            raise self.refuse(f"a second OFFSET of {bone.name!r}.", line)
        bone.offset = tuple(number for word in words[1:] if (number := _number(word)) is not None)
        if len(bone.offset) != 3 or len(words) != 4:
            raise self.refuse(f"OFFSET takes three numbers, got {_shown(words[1:])}.", line)

    def channels(self, words: list[str], line: int) -> None:
        bone = self.current("CHANNELS", line)
        if bone.has_channels:
            raise self.refuse(f"a second CHANNELS of {bone.name!r}.", line)
        count, names = words[1] if len(words) > 1 else "", words[2:]
        if not (count.isascii() and count.isdigit() and len(count) < 10):
            raise self.refuse(f"CHANNELS takes a number and that many names, got {_shown(words[1:])}.", line)
        if int(count) != len(names):
            raise self.refuse(f"CHANNELS says {int(count)} but names {len(names)}.", line)
        if len(names) > MAX_CHANNELS:
            raise self.refuse(f"{len(names)} channels on one joint; at most {MAX_CHANNELS} are read.", line)
        for name in names:
            if not _CHANNEL.fullmatch(name):
                raise self.refuse(f"unknown channel {_shown([name])}; known are Xposition, Xrotation and so on.", line)
        if names and self.end is not None:
            raise self.refuse("an End Site has no channels.", line)
        bone.has_channels, bone.channels = True, tuple(name.lower() for name in names)
        slides = [channel for channel in bone.channels if channel.endswith("position")]
        if len(set(slides)) < len(slides):
            raise self.refuse(f"{bone.name!r} has the same position channel twice.", line)


def _read_motion(
    path: FilePath, text: str, pieces: Iterator[str], start: int, line: int, bones: list[BvhJoint], most: int
) -> Text:
    """Read the frames; `start` and `line` locate the motion in the text, and `pieces` are the rest of the file."""
    header = _MOTION.match(text, start)
    if header is None:
        raise FormatError(path, "MOTION is not followed by 'Frames: ...' and 'Frame Time: ...'.", line=line)
    frames_line = line + text.count("\n", start, header.start(1))
    announced, frame_time = header[1], _number(header[2])
    if not (announced.isascii() and announced.isdigit()):
        raise FormatError(path, f"Frames must be a whole number, got {_shown([announced])}.", line=frames_line)
    if frame_time is None:
        time_line = line + text.count("\n", start, header.start(2))
        raise FormatError(path, f"Frame Time must be a number of seconds, got {_shown([header[2]])}.", line=time_line)
    width = sum(len(bone.channels) for bone in bones)
    if len(announced) > 12 or int(announced) * max(width, 1) * 2 > max(MAX_BYTES, BYTES_EACH * most):
        raise FormatError(path, f"announces {_shown([announced])} frames, more than a file can hold.", line=frames_line)
    begin = header.end()
    first = line + text.count("\n", start, begin)
    values = _numbers(path, chain([text[begin:]], pieces), first, most)
    if width == 0 and len(values):
        raise FormatError(path, f"has {len(values)} values in its motion, but no joint has channels.", line=first)
    if width and len(values) % width:
        again = text_pieces(path, max(MAX_BYTES, BYTES_EACH * most), CHUNK)
        skipped = "".join(islice(again, 1 + len(text) // CHUNK))
        while len(skipped) < begin:
            skipped += next(again)
        raise _ragged(path, chain([skipped[begin:]], again), first, width)
    rows = values.reshape(-1, width) if width else np.zeros((int(announced), 0))
    return Text(bones, rows, frame_time, int(announced), frames_line)


def _numbers(path: FilePath, pieces: Iterable[str], line: int, most: int) -> FloatArray:
    """Return all numbers of a text, parsed in pieces to limit memory and to locate errors."""
    found = Frames(1)
    for piece in _whole_words(pieces):
        words = piece.strip()
        if words:
            numbers = _fast(words)
            if numbers is None:
                raise _bad_word(path, piece, line)
            found.add(numbers[:, None])
            if found.count > most:
                advice = "max_values=... (--max-values) allows more"
                raise FormatError(path, f"has more than {most} values, the limit; {advice}.", line=line)
        line += piece.count("\n")
    return found.array()


def _whole_words(pieces: Iterable[str]) -> Iterator[str]:
    """Yield a text in pieces that end between words, unless a word is too long to be a number."""
    cut = ""
    for piece in pieces:
        text = cut + piece
        end = len(text)
        while len(text) - MAX_LINE < end and end and not text[end - 1].isspace():
            end -= 1
        end = end if end and text[end - 1].isspace() else len(text) if len(text) > MAX_LINE else 0
        cut = text[end:]
        yield text[:end]
    yield cut


def _fast(words: str) -> FloatArray | None:
    """Return the numbers of a text, or None if a word is not a valid number."""
    values = _compiled(words) if len(words) >= LONG else _plain(words)
    return values if values is not None and (np.abs(values) <= LARGEST).all() else None  # also rejects NaN


def _compiled(words: str) -> FloatArray | None:
    from .bvh_numbers import numbers

    return numbers(words)


def _plain(words: str) -> FloatArray | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # older NumPy only warns about invalid words
            return np.fromstring(words, sep=" ")
    except (ValueError, DeprecationWarning):
        return None


def _bad_word(path: FilePath, piece: str, line: int) -> FormatError:
    """Return the error for the first word of a piece that is not a number."""
    last = 0
    for match in _WORD.finditer(piece):
        line += piece.count("\n", last, match.start())
        last = match.start()
        if _number(match[0]) is None:
            return FormatError(path, f"{_shown([match[0]])} in the motion is not a number below 1e50.", line=line)
    return FormatError(path, "the motion contains something that is not a number.", line=line)


def _ragged(path: FilePath, pieces: Iterable[str], line: int, width: int) -> FormatError:
    """Return the error for the first row of a motion whose number of values differs from the number of channels."""
    cut = ""
    for text in chain(pieces, ["\n"]):
        whole = (cut + text).rpartition("\n")
        cut = whole[2]
        if not whole[1]:
            continue
        piece = np.frombuffer(whole[0].encode(), np.uint8)
        blank = np.append(piece <= ord(" "), True)
        words = np.cumsum(np.diff(blank.astype(np.int8)) == 1)  # number of words ended so far
        ends = np.append(np.flatnonzero(piece == ord("\n")), len(piece)) - 1
        counts = np.diff(np.where(ends >= 0, words[ends] if len(words) else 0, 0), prepend=0)
        wrong = np.flatnonzero((counts != 0) & (counts != width))
        if len(wrong):
            what = f"a frame of {counts[wrong[0]]} values, but the joints have {width} channels"
            return FormatError(path, f"{what}.", line=line + int(wrong[0]))
        line += len(ends)
    return FormatError(path, f"the motion is not a whole number of frames of {width} values.", line=line)


def _number(word: str) -> float | None:
    try:
        number = float(word) if word.isascii() and "_" not in word else math.nan
    except ValueError:
        return None
    return number if abs(number) <= LARGEST else None


def _shown(words: list[str]) -> str:
    text = " ".join(words) or "nothing"
    return repr(text if len(text) <= 40 else text[:37] + "...")
