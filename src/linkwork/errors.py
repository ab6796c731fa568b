"""Every exception linkwork raises on purpose, and `Remark`: what is odd, but no error.

    LinkworkError
    ├── LinkageError (ValueError)         a linkage cannot be built or edited like this
    │   ├── DuplicateNameError
    │   ├── TreeError                     a cycle, two roots, a link that hangs nowhere
    │   ├── AxisError                     a moving joint needs a direction
    │   ├── LimitError                    lower above upper, limits where there can be none
    │   └── MimicError                    a follower without a leader
    ├── NotFoundError (LookupError)       a name that does not exist; says what does
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
    ├── KeyFrameError (ValueError)        keys out of order, twice at one time, none at all
    ├── GoalError (ValueError)            a goal that asks for nothing, or for what cannot be
    │   ├── OutOfReachError               a closed form has no answer there
    │   └── LoopError                     closed loops that do not close
    ├── MappingError (ValueError)         a skeleton whose parts are not found, a map that names what is not there
    ├── ObstacleError (ValueError)        an obstacle without a solid, a world that holds something else
    ├── OptionError (TypeError)           an option a method does not take, or a value it cannot have
    ├── DeviceError (RuntimeError)        no graphics card, or not enough of one
    ├── FormatError (ValueError)          a file that cannot be read, with file and line
    │   └── BlockError                    some rows of a dataset cannot be
    ├── RunError (RuntimeError)           a run over a dataset cannot start, or go on
    ├── PageError (RuntimeError)          no scripts or no machine code for web pages
    ├── MissingExtraError (ImportError)   an optional dependency is not installed
    ├── PluginError (ImportError)         what another package adds to linkwork cannot be used
    └── VersionError (ImportError)        an installed dependency lacks a part that linkwork needs

An error says what is wrong, where, what was given, what exists and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

MAX_LISTED = 16


@dataclass(frozen=True)
class Remark:
    """Something a person should know about a file: what was assumed, what is odd, what cannot be held.

    Args:
        kind: A short fixed word for programs: ``"units"``, ``"up-axis"``, ``"missing-mesh"``, ``"dropped"``, ...
        text: One sentence for people, with its numbers.
        where: The joint, link, frame or channel that it is about, if it is about one.
        line: The line of the file, where there is one.
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
    """Return an error as it was, without its constructor: that one would make a message of the message."""
    error = cls.__new__(cls)
    super(LinkworkError, error).__init__(*args)  # that of the builtin base
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
    """A joint is told to follow a joint it cannot follow."""


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
    """A pose with a value that means nothing: NaN, infinite, a zero quaternion."""


class TransformError(LinkworkError, ValueError):
    """Not a position, rotation or rigid transform."""


class KeyFrameError(LinkworkError, ValueError):
    """Key frames that cannot be interpolated."""


class GoalError(LinkworkError, ValueError):
    """A goal that asks for nothing, or that a method cannot serve."""


class OutOfReachError(GoalError):
    """A closed form was asked for a target that its links cannot reach."""


class LoopError(GoalError):
    """The loops of a linkage cannot be closed.

    Attributes:
        gap: How far apart they stay [m], where that was looked for.
        value: The last value of the driven joint at which they close, if one was driven.
    """

    def __init__(self, message: str, *, gap: float | None = None, value: float | None = None) -> None:
        super().__init__(message)
        self.gap, self.value = gap, value


class MappingError(LinkworkError, ValueError):
    """A skeleton whose parts cannot be told, or a map of them that names what does not exist."""


class ObstacleError(LinkworkError, ValueError):
    """An obstacle that cannot be, or something in a world that is none."""


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
    """A run over a dataset cannot start, or cannot go on; what was written stays."""


class DeviceError(LinkworkError, RuntimeError):
    """No graphics card can be used, its driver is too old, or its memory too small."""


class PageError(LinkworkError, RuntimeError):
    """A web page cannot be written: its scripts or their machine code are not there, or do not fit."""


# Where a package's extra has another name.
EXTRAS = {"mujoco": "formats", "pyarrow": "formats", "robot_descriptions": "descriptions"}


class MissingExtraError(LinkworkError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}; install it with: pip install 'linkwork[{extra}]'")
        self.package, self.extra = package, extra


def require(package: str, purpose: str) -> None:
    """Raise the error of a missing extra unless a package is there.

    Example:
        >>> require("msgspec", "reading a scene")
    """
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise MissingExtraError(package, EXTRAS.get(package, package), purpose)


class PluginError(LinkworkError, ImportError):
    """What another package adds to linkwork, by an entry point, cannot be used."""

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
    """Return how a sentence about an unknown name ends: with the known one that was meant, where one is near.

    Example:
        >>> meant("wirst", ["base", "wrist"]), meant("wirst", ["base"])
        ("; did you mean 'wrist'?", '.')
    """
    from difflib import get_close_matches  # only here, where something is wrong already: it takes a while to load

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
