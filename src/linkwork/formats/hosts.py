"""The file that a motion is put into: the one its linkage came from, or another that is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import FormatError, OptionError, Remark, listed
from ..linkage.linkage import Linkage
from ..linkage.origin import Origin
from .atomic_files import located
from .content import Remarks
from .options import FilePath
from .registry import Format, format_of
from .texts import TextFile

BARE = "bare=True (--bare) writes the skeleton alone"


def host_of(
    linkage: Linkage, path: FilePath, row: Format, into: FilePath | None, bare: bool
) -> tuple[Origin | None, tuple[Remark, ...]]:
    """Return the file that motions of a linkage are put into, None for a file of their own, and what to say about it.

    Args:
        linkage: The linkage.
        path: The file that is written.
        row: Its format.
        into: The file that is asked for, if there is one.
        bare: Whether none is wanted.

    Raises:
        OptionError: If what is asked for cannot be.
        FormatError: If the file is not there.
    """
    if bare and into is not None:
        raise OptionError(f"bare writes a skeleton alone, but into names a file with a mesh, {str(into)!r}.")
    origin = linkage.origin
    if bare or (into is None and (origin is None or not origin.has_meshes)):
        return None, ()
    file = origin.file if into is None and origin is not None else into
    assert file is not None
    if format_of(file).module != row.module or not row.hosts:
        if into is not None:
            raise OptionError(f"a motion is put into a file of its own kind; {path} is {row.title}, {into} is not.")
        text = f"the meshes of {Path(file).name} are not written; {Path(file).suffix} files keep them."
        return None, (Remark("dropped", text, where="meshes"),)
    if not isinstance(file, TextFile) and not Path(file).is_file():
        gone = "is not there" if into is not None else "was read, but is gone; into=... (--into) names where it is now"
        raise FormatError(file, f"{gone}; {BARE}.")
    if into is None:
        return origin, ()
    return (Origin(located(into)) if origin is None else replace(origin, file=located(into))), ()


def check_absent(
    absent: Sequence[str], present: int, linkage: Linkage, host: Origin, names: Sequence[str], remarks: Remarks
) -> None:
    """Remark on moving links that a file does not have, or refuse it if they are most of them.

    Args:
        absent: Those that it does not have.
        present: How many it has.
        linkage: The linkage.
        host: The file.
        names: What it has.
        remarks: Gains what is left out.
    """
    if not absent and not present:
        raise FormatError(host.file, f"no link of {linkage.name!r} moves, so there is no motion to put into it.")
    which = listed([repr(name) for name in absent[:5]])
    if len(absent) >= present:
        known = listed([repr(name) for name in names[:8]])
        text = f"lacks {len(absent)} of {len(absent) + present} links of {linkage.name!r} that move, such as {which}"
        raise FormatError(host.file, f"{text}; it has {known}. Retarget the motion onto it first.")
    if absent:
        text = f"{len(absent)} links that move are not in {Path(host.file).name}, such as {which}"
        remarks.add("dropped", f"{text}; their motion is left out.", absent[0])
