"""All exceptions of linkwork, and `Remark`, a note on something unusual that is not an error.

    LinkworkError
    ├── LinkageError (ValueError)         a linkage cannot be built or edited like this
    │   ├── DuplicateNameError
    │   ├── TreeError                     a cycle, two roots, a link without a parent
    │   ├── AxisError                     a moving joint needs a direction
    │   ├── LimitError                    lower above upper, limits on a joint that takes none
    │   └── MimicError                    a follower without a leader
    ├── NotFoundError (LookupError)       a name that does not exist; lists those that do
    │   ├── FrameNotFoundError
    │   ├── LinkNotFoundError
    │   ├── JointNotFoundError
    │   ├── PoseNotFoundError
    │   ├── ModelNotFoundError
    │   ├── ClipNotFoundError
    │   ├── MethodNotFoundError
    │   ├── ObstacleNotFoundError
    │   └── TargetNotFoundError
    ├── PoseError (ValueError)
    │   ├── PoseShapeError
    │   └── PoseValueError
    ├── TransformError (ValueError)       not a rotation, not finite, an ambiguous quaternion
    ├── KeyFrameError (ValueError)        keys out of order, two at one time, or no keys
    ├── GoalError (ValueError)            a goal without a target, or one that cannot be met
    │   ├── OutOfReachError               a closed form has no solution there
    │   └── LoopError                     closed loops that do not close
    ├── MappingError (ValueError)         parts of a skeleton are not recognised, or a map names unknown parts
    ├── ObstacleError (ValueError)        an obstacle without a solid, or something in a world that is not an obstacle
    ├── OptionError (TypeError)           an option a method does not take, or a value it cannot have
    ├── DeviceError (RuntimeError)        no usable GPU, or too little GPU memory
    ├── FormatError (ValueError)          a file that cannot be read, with file and line
    │   └── BlockError                    some rows of a dataset cannot be read
    ├── RunError (RuntimeError)           a run over a dataset cannot start or continue
    ├── PageError (RuntimeError)          no scripts or no machine code for web pages
    ├── MissingExtraError (ImportError)   an optional dependency is not installed
    ├── PluginError (ImportError)         a plugin of another package cannot be used
    └── VersionError (ImportError)        an installed dependency lacks a part that linkwork needs

Each message states what is wrong, where, what was given, which values exist and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

MAX_LISTED = 16


@dataclass(frozen=True)
class Remark:
    """A note on a file for the user: an assumption, something unusual, or data that the format cannot store.

    Args:
        kind: A short fixed word for programs: ``"units"``, ``"up-axis"``, ``"missing-mesh"``, ``"dropped"``, ...
        text: One sentence for people, with its numbers.
        where: The joint, link, frame or channel that it is about, if it is about one.
        line: The line of the file, if known.
    """

    kind: str
    text: str
    where: str = ""
    line: int | None = None


class LinkworkError(Exception):
    """Base of all errors raised by linkwork. Copies and pickles keep message and fields."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args, vars(self))


def _again(cls: type[LinkworkError], args: tuple[Any, ...], values: dict[str, Any]) -> LinkworkError:
    """Rebuild an error without calling its constructor, which would format the message a second time."""
    error = cls.__new__(cls)
    super(LinkworkError, error).__init__(*args)  # skip this class's constructor
    vars(error).update(values)
    return error


class LinkageError(LinkworkError, ValueError):
    """A linkage cannot be built or edited like this."""


class DuplicateNameError(LinkageError):
    """Two things of one kind share a name."""

    def __init__(self, kind: str, name: str, where: str) -> None:
        super().__init__(f"{kind} {name!r} appears twice in {where}; names must be unique.")
        self.kind, self.name, self.where = kind, name, where


class TreeError(LinkageError):
    """Links and joints do not form one tree."""


class AxisError(LinkageError):
    """A moving joint has no usable axis."""


class LimitError(LinkageError):
    """Joint limits contradict each other or the joint."""


class MimicError(LinkageError):
    """A joint cannot follow the given joint."""


class NotFoundError(LinkworkError, LookupError):
    """A name that does not exist.

    Attributes:
        name: The name asked for.
        known: The names that exist.
    """

    def __init__(self, name: object, where: str, known: Iterable[str]) -> None:
        self.name, self.where, self.known = name, where, tuple(known)
        kind = type(self).__name__.removesuffix("NotFoundError").lower()
        has = listed(self.known) or f"no {'stored ' * (kind == 'pose')}{kind}s"
        super().__init__(f"no {kind} {name!r} in {where}{meant(name, self.known)} It has {has}.")


class FrameNotFoundError(NotFoundError):
    """No frame of that name in the linkage."""


class LinkNotFoundError(NotFoundError):
    """No link of that name in the linkage."""


class JointNotFoundError(NotFoundError):
    """No joint or pose coordinate of that name in the linkage."""


class PoseNotFoundError(NotFoundError):
    """No stored pose of that name in the linkage."""


class ModelNotFoundError(NotFoundError):
    """No ready-made model of that name."""


class ClipNotFoundError(NotFoundError):
    """No motion of that name in the file."""


class MethodNotFoundError(NotFoundError):
    """No solver method of that name."""


class ObstacleNotFoundError(NotFoundError):
    """No obstacle of that name in the world."""


class TargetNotFoundError(NotFoundError):
    """No target of that name in the studio."""


class PoseError(LinkworkError, ValueError):
    """A pose that does not fit its linkage."""


class PoseShapeError(PoseError):
    """A pose of the wrong shape."""

    def __init__(self, expected: int, got: Sequence[int], linkage: str, *, what: str = "pose") -> None:
        super().__init__(f"expected a {what} of shape (..., {expected}) for linkage {linkage!r}, got {tuple(got)}.")
        self.expected, self.got, self.linkage = expected, tuple(got), linkage


class PoseValueError(PoseError):
    """A pose with an invalid value: NaN, infinity or a zero quaternion."""


class TransformError(LinkworkError, ValueError):
    """Not a position, rotation or rigid transform."""


class KeyFrameError(LinkworkError, ValueError):
    """Key frames that cannot be interpolated."""


class GoalError(LinkworkError, ValueError):
    """A goal without a target, or one that the method does not support."""


class OutOfReachError(GoalError):
    """A closed form was called with a target that the links cannot reach."""


class LoopError(GoalError):
    """The loops of a linkage cannot be closed.

    Attributes:
        gap: Remaining gap [m], if it was computed.
        value: The last value of the driven joint at which they close, if one was driven.
    """

    def __init__(self, message: str, *, gap: float | None = None, value: float | None = None) -> None:
        super().__init__(message)
        self.gap, self.value = gap, value


class MappingError(LinkworkError, ValueError):
    """Parts of a skeleton are not recognised, or a map names parts that do not exist."""


class ObstacleError(LinkworkError, ValueError):
    """An invalid obstacle, or something in a world that is not an obstacle."""


class OptionError(LinkworkError, TypeError):
    """An option that a method does not take, or a value it cannot have."""


class FormatError(LinkworkError, ValueError):
    """A file that cannot be read.

    Attributes:
        path: The file.
        line: Line number where known, counted from one.
    """

    def __init__(self, path: object, message: str, *, line: int | None = None) -> None:
        place = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{place}: {message}")
        self.path, self.line = path, line


class BlockError(FormatError):
    """Some rows of a dataset cannot be read."""


class RunError(LinkworkError, RuntimeError):
    """A run over a dataset cannot start or continue; results already written are kept."""


class DeviceError(LinkworkError, RuntimeError):
    """No GPU can be used, its driver is too old, or its memory is too small."""


class PageError(LinkworkError, RuntimeError):
    """A web page cannot be written: its scripts or their WebAssembly code are missing or do not match."""


# Where a package's extra has another name.
EXTRAS = {"mujoco": "formats", "pyarrow": "formats", "robot_descriptions": "descriptions"}


class MissingExtraError(LinkworkError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}; install it with: pip install 'linkwork[{extra}]'")
        self.package, self.extra = package, extra


def require(package: str, purpose: str) -> None:
    """Raise `MissingExtraError` if a package is not installed.

    Example:
        >>> require("msgspec", "reading a scene")
    """
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise MissingExtraError(package, EXTRAS.get(package, package), purpose)


class PluginError(LinkworkError, ImportError):
    """A plugin that another package registers by an entry point cannot be used."""

    def __init__(self, entry: str, group: str, package: str, why: str) -> None:
        text = " ".join(why.split()).rstrip(".")
        super().__init__(f"{entry!r} of the package {package!r} ({group}) cannot be used: {text}.")
        self.entry, self.group, self.package, self.why = entry, group, package, why


class VersionError(LinkworkError, ImportError):
    """An installed version of a dependency lacks a part that linkwork needs."""

    def __init__(self, package: str, version: str, part: str, extra: str, consequence: str) -> None:
        super().__init__(
            f"{package} {version} has no {part}, which linkwork needs: {consequence}. "
            f"Install a version that fits with: pip install 'linkwork[{extra}]'"
        )
        self.package, self.version, self.part = package, version, part


def meant(name: object, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: a suggestion if a known name is similar, else a full stop.

    Example:
        >>> meant("wirst", ["base", "wrist"]), meant("wirst", ["base"])
        ("; did you mean 'wrist'?", '.')
    """
    from difflib import get_close_matches  # imported on demand: slow to load, and only needed after an error

    close = get_close_matches(str(name), tuple(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else "."


def listed(names: Sequence[str]) -> str:
    """Return names as a readable list, cut short when there are very many.

    Example:
        >>> listed(["base", "tip"])
        'base, tip'
    """
    shown = ", ".join(names[:MAX_LISTED])
    return f"{shown} and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else shown
