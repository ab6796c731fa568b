"""Find the file to add a motion to: the file of its linkage, or a given one."""

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

BARE = "bare=True (--bare) writes only the skeleton"


def host_of(
    linkage: Linkage, path: FilePath, row: Format, into: FilePath | None, bare: bool
) -> tuple[Origin | None, tuple[Remark, ...]]:
    """Return the file to add the motions of a linkage to, None to write a new file, and remarks.

    Args:
        linkage: The linkage.
        path: The file to write.
        row: Its format.
        into: The requested file, if any.
        bare: Whether to write only a skeleton, as a new file.

    Raises:
        OptionError: If the options contradict each other.
        FormatError: If the file does not exist.
    """
    if bare and into is not None:
        raise OptionError(f"bare writes only a skeleton, but into names a file with a mesh, {str(into)!r}.")
    origin = linkage.origin
    if bare or (into is None and (origin is None or not origin.has_meshes)):
        return None, ()
    file = origin.file if into is None and origin is not None else into
    assert file is not None
    if format_of(file).module != row.module or not row.hosts:
        if into is not None:
            raise OptionError(f"a motion is added to a file of the same format; {path} is {row.title}, {into} is not.")
        text = f"the meshes of {Path(file).name} are not written; {Path(file).suffix} files would keep them."
        return None, (Remark("dropped", text, where="meshes"),)
    if not isinstance(file, TextFile) and not Path(file).is_file():
        gone = "does not exist" if into is not None else "no longer exists; into=... (--into) gives its new place"
        raise FormatError(file, f"{gone}; {BARE}.")
    if into is None:
        return origin, ()
    return (Origin(located(into)) if origin is None else replace(origin, file=located(into))), ()


def check_absent(
    absent: Sequence[str], present: int, linkage: Linkage, host: Origin, names: Sequence[str], remarks: Remarks
) -> None:
    """Add a remark on moving links that a file does not have, or raise if at least half of them are missing.

    Args:
        absent: Names of moving links that it does not have.
        present: Number of moving links that it has.
        linkage: The linkage.
        host: The file.
        names: Names of links in the file.
        remarks: A remark on omitted links is added to this.
    """
    if not absent and not present:
        raise FormatError(host.file, f"no link of {linkage.name!r} moves, so there is no motion to add.")
    which = listed([repr(name) for name in absent[:5]])
    if len(absent) >= present:
        known = listed([repr(name) for name in names[:8]])
        text = f"lacks {len(absent)} of {len(absent) + present} moving links of {linkage.name!r}, such as {which}"
        raise FormatError(host.file, f"{text}; it has {known}. Retarget the motion to it first.")
    if absent:
        text = f"{len(absent)} moving links are not in {Path(host.file).name}, such as {which}"
        remarks.add("dropped", f"{text}; their motion is left out.", absent[0])
