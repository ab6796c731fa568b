"""Read and write linkages and motions. The suffix of the file name selects the format."""

from __future__ import annotations

import logging
import os
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Literal, Unpack

import numpy as np

from ..errors import ClipNotFoundError, FormatError, LinkageError, OptionError, Remark, listed, meant
from ..linkage.linkage import Linkage
from ..linkage.origin import Origin
from ..motion.clips import Clip, SaveOptions
from ..motion.frame_files import frames_in, is_in_file
from . import learning
from .atomic_files import located
from .content import Content, carried, file_errors
from .descriptions import find_description, is_description
from .hosts import host_of
from .options import DEFAULTS, FilePath, Options, ReadOptions, as_options
from .registry import FORMATS, Format, format_in, format_of, suffixes
from .texts import TextFile, guessed_kind

Root = Literal["fixed", "planar", "floating"]
ROOTS: tuple[Root, ...] = ("fixed", "planar", "floating")
CLIP = "clip"  # default name of a motion, in files that name their motions
_LOG = logging.getLogger("linkwork")


# Functions for users


def load(path: FilePath, *, root: Root | None = None, **options: Unpack[ReadOptions]) -> Linkage:
    """Return the linkage in a file.

    Args:
        path: The file; its suffix selects the format. Or the name of a robot in the package ``robot_descriptions``, if
            that is installed: ``"panda_description"``.
        root: Replace the root joint by ``"fixed"``, ``"planar"`` or ``"floating"``, in the same place. By default the
            root joint of the file is kept.
        **options: Options for reading: `packages`, `folders`, `units`, `up`, `positions`, `limits`, `strict`,
            `loop_tolerance`, `arguments`, `srdf`, `joint_limits`, `max_values`, `body_model`; see `formats.Options`.

    Raises:
        FormatError: If the file cannot be read; the message names the file and, if known, the line.
        MissingExtraError: If a robot is requested by name and ``robot_descriptions`` is not installed.
    """
    if root is not None and root not in ROOTS:
        raise LinkageError(f"root is {listed([repr(name) for name in ROOTS])}, got {root!r}.")
    content = read(path, as_options(options))
    say_guesses(path, content)
    missing = [remark for remark in content.remarks if remark.kind == "missing-mesh"]
    if missing:
        first, more = missing[0].text.partition(";")[0], f", and {len(missing) - 1} more" * (len(missing) > 1)
        beside = isinstance(path, TextFile) and not path.has_folder
        advice = "folder=... sets the folder of meshes" if beside else "linkwork doctor lists the paths that were tried"
        _LOG.warning("%s: %s%s; %s.", path, first.rstrip("."), more, advice)
    linkage = content.linkage
    return linkage if root in (None, linkage.root.articulation.kind) else linkage.replace(root=root)


def loads(
    text: str | bytes,
    kind: str,
    *,
    folder: FilePath | None = None,
    root: Root | None = None,
    **options: Unpack[ReadOptions],
) -> Linkage:
    """Return the linkage described by a text, as `load` does for a file with this content.

    Args:
        text: The content of a file, as text or bytes; binary formats take bytes.
        kind: The format, named like the suffix of such a file: ``"urdf"``, ``"mjcf"``, ``"bvh"``, ``"yaml"``, ...
        folder: The folder to which names of meshes and other files are relative. By default none of them is read.
        root: Replacement of the root joint, as in `load`.
        **options: Options for reading, as in `load`.

    Raises:
        FormatError: If the text cannot be read; the message names the line, if known.

    Example:
        >>> loads("<robot name='arm'><link name='base'/></robot>", "urdf")
        <Linkage 'arm': 1 link, 0 joints, nq=0, nv=0>
    """
    return load(_as_file(text, kind, folder), root=root, **options)


def _as_file(text: str | bytes, kind: str, folder: FilePath | None) -> TextFile:
    """Return a stand-in for the file with this text as its content."""
    kinds = {suffix.removeprefix("."): suffix for suffix, row in FORMATS.items() if row.reads} | {"mjcf": ".xml"}
    name = kind.lower().removeprefix(".") if isinstance(kind, str) else ""
    if name not in kinds:
        raise OptionError(f"no format {kind!r}{meant(name, kinds)} Known formats: {', '.join(kinds)}.")
    if not isinstance(text, str | bytes | bytearray | memoryview):
        raise OptionError(f"expected text or bytes, got {type(text).__name__}; lw.load takes a file name.")
    if FORMATS[kinds[name]].binary and isinstance(text, str):
        raise OptionError(f"{FORMATS[kinds[name]].title} files are binary: give bytes.")
    return TextFile(text, name, kinds[name], folder)


def say_guesses(path: FilePath, content: Content) -> None:
    """Log guesses about the unit and the up axis of a file, and options that its format does not use."""
    guesses = [remark.text for remark in content.remarks if remark.kind in ("units", "up-axis")]
    guesses = [text.partition(";")[0] for text in guesses if "says otherwise" in text]
    if guesses:
        _LOG.warning("%s: %s.", path, ". ".join(guesses))
    for remark in content.remarks:
        if remark.kind == "ignored-option":
            _LOG.warning("%s: %s", path, remark.text)


def load_clip(
    path: FilePath, *, name: str | None = None, linkage: Linkage | None = None, **options: Unpack[ReadOptions]
) -> Clip:
    """Return a motion in a file.

    Args:
        path: The file; its suffix selects the format.
        name: Name of the motion, for files with several; the first by default.
        linkage: The linkage that moves. Required for tables that do not contain their linkage. Other files contain one;
            the motion is then transferred to the given linkage, which must have the same coordinates.
        **options: Options for reading, as in `load`.

    Raises:
        FormatError: If the file cannot be read, or contains no motion.
    """
    content = read(path, as_options(options), linkage=linkage)
    if not content.clips:
        raise FormatError(path, "holds no motion.")
    if name is None:
        return next(iter(content.clips.values()))
    if name not in content.clips:
        raise ClipNotFoundError(name, str(path), content.clips)
    return content.clips[name]


def loads_clip(
    text: str | bytes,
    kind: str,
    *,
    name: str | None = None,
    linkage: Linkage | None = None,
    folder: FilePath | None = None,
    **options: Unpack[ReadOptions],
) -> Clip:
    """Return a motion described by a text, as `load_clip` does for a file with this content.

    Args:
        text: The content of a file, as text or bytes; binary formats take bytes.
        kind: The format, named like the suffix of such a file: ``"bvh"``, ``"csv"``, ``"gltf"``, ...
        name: Name of the motion, as in `load_clip`.
        linkage: The linkage that moves, as in `load_clip`.
        folder: The folder to which names of other files are relative. By default none of them is read.
        **options: Options for reading, as in `load`.

    Raises:
        FormatError: If the text cannot be read, or contains no motion.
    """
    return load_clip(_as_file(text, kind, folder), name=name, linkage=linkage, **options)


def save(thing: Linkage | Clip | Content, path: FilePath, **options: Unpack[SaveOptions]) -> tuple[Remark, ...]:
    """Write a linkage or a motion to a file, completely or not at all; if it fails, an existing file is unchanged.

    If the linkage was read from a file with meshes (glTF, USD), the result is a copy of that file with the motions
    added. Its skin, materials, textures and other motions are kept.

    Args:
        thing: The linkage, motion or content to write.
        path: The file; its suffix selects the format.
        **options: See `SaveOptions`: into, bare, layout, fps, roles.

    Returns:
        Remarks on what the format cannot store or stores differently; losses are also logged as warnings.

    Raises:
        FormatError: If the file cannot be written.
    """
    row = format_of(path)
    if isinstance(thing, Clip):
        if not row.clips:
            raise FormatError(path, f"{row.title} files hold no motion; {', '.join(suffixes('clips'))} do.")
        thing = Content(thing.linkage, {thing.name or CLIP: thing})
    elif isinstance(thing, Linkage):
        thing = Content(thing)
    elif not isinstance(thing, Content):
        raise OptionError(f"a Linkage or a Clip can be saved, got {type(thing).__name__}.")
    remarks = write(thing, path, **options)
    for remark in remarks:
        _LOG.log(logging.WARNING if remark.kind == "dropped" else logging.INFO, "%s: %s", path, remark.text)
    return remarks


# Everything in a file


def read(path: FilePath, options: Options = DEFAULTS, *, linkage: Linkage | None = None) -> Content:
    """Return the content of a file: its linkage, its motions, and remarks on assumptions and oddities.

    Args:
        path: The file; its suffix selects the format.
        options: Options for reading.
        linkage: The linkage of the motions in the file; by default the one in the file.
    """
    _check_name(path)
    if is_description(path) and options.within is None:  # an untrusted file must not cause a clone
        path, options = find_description(str(path), options)
    row = format_in(path)
    if not row.reads:
        raise FormatError(path, f"files of this kind are written, not read; {', '.join(suffixes('reads'))} are read.")
    with file_errors(path):
        if linkage is None or row.linkages:
            content: Content = row.load_module().read(path, options)
            content = content if linkage is None else carried(content, linkage)
        else:
            content = row.load_module().read_for(linkage, path)
        clips = {name: clip.named(name, source=str(path)) for name, clip in content.clips.items()}
        return replace(content, clips=clips, remarks=content.remarks + _unused(row, options))


def _check_name(path: object) -> None:
    """Raise with advice if the content of a file, or no name at all, is given in place of a file name."""
    if not isinstance(path, str | os.PathLike):
        raise OptionError(f"expected a file name (str or path), got {type(path).__name__}; lw.loads takes content.")
    kind = guessed_kind(path) if isinstance(path, str) else None
    if kind is not None:
        advice = f"use lw.loads(text, {kind!r}), or lw.loads_clip for its motion"
        raise FormatError("<text>", f"this looks like the text of a {kind.upper()} file, not its name: {advice}.")


def _unused(row: Format, options: Options) -> tuple[Remark, ...]:
    """Return a remark on given options that a format does not use, if any."""
    others = [option.name for option in fields(Options) if option.name not in (*row.options, "strict", "within")]
    spare = [name for name in others if getattr(options, name) != getattr(DEFAULTS, name)]
    used = f"it uses {listed(row.options)}" if row.options else "it uses none"
    text = f"{row.title} does not use {listed(spare)}; {used}."
    return (Remark("ignored-option", text, where=spare[0]),) if spare else ()


def write(content: Content, path: FilePath, **options: Unpack[SaveOptions]) -> tuple[Remark, ...]:
    """Write content to a file and return remarks on what the format cannot store; see `save`."""
    row = format_of(path)
    fps, layout = options.get("fps"), options.get("layout")
    if fps is not None:
        content = _resampled(content, fps, path)
    if not row.writes:
        raise FormatError(path, f"{row.title} files are read, not written; {', '.join(suffixes('writes'))} are.")
    if not row.linkages and not content.clips:
        raise FormatError(path, f"{row.title} files hold motions, but there is none to write.")
    content, dropped = fit(content, path)
    full = layout == "blender"
    if full and row.title != "BVH":
        raise FormatError(path, "layout 'blender' is for BVH files, whose channels Blender's importer is strict about.")
    if layout is not None and not full:
        if not content.clips:
            raise FormatError(path, f"layout {layout!r} is for motions, but there is none to write.")
        return dropped + learning.write(next(iter(content.clips.values())), path, layout)
    content = replace(content, roles=options.get("roles") or content.roles)
    host, said = host_of(content.linkage, path, row, options.get("into"), options.get("bare", False))
    try:
        if host is not None:
            return dropped + tuple(row.load_module().write_into(_new_in(content, host), path, host))
        more = {"full": True} if full else {}
        return dropped + said + tuple(row.load_module().write(content, path, **more))
    except UnicodeEncodeError as error:
        bad = error.object[error.start]
        raise FormatError(path, f"a name contains {bad!r}, which is not a character; rename it.") from error


def _resampled(content: Content, fps: float, path: FilePath) -> Content:
    """Return content with motions resampled at `fps`; frames that are stored in files stay in files."""
    long = any(is_in_file(clip.poses) for clip in content.clips.values())
    with frames_in(Path(path).absolute().parent) if long else nullcontext():
        return replace(content, clips={name: clip.resample(fps=fps) for name, clip in content.clips.items()})


def _new_in(content: Content, host: Origin) -> Content:
    """Return content without the motions that a file already contains, so that they are not added twice."""
    sources = {clip.source for clip in content.clips.values()}
    if str(host.file) not in sources | {str(located(source)) for source in sources}:
        return content
    known = read(host.file, Options(units=host.units, up=host.up, folders=host.folders)).clips

    def is_there(name: str, clip: Clip) -> bool:
        other = known.get(name)
        return other is not None and np.array_equal(other.times, clip.times) and np.array_equal(other.poses, clip.poses)

    return replace(content, clips={name: clip for name, clip in content.clips.items() if not is_there(name, clip)})


def fit(content: Content, path: FilePath) -> tuple[Content, tuple[Remark, ...]]:
    """Return content with as many motions as the format of a file can store, and remarks on the others."""
    row = format_of(path)
    count = len(content.clips) if row.several else int(row.clips)
    names = list(content.clips)
    if len(names) <= count:
        return content, ()
    held = f"one motion, {names[0]!r}" if count else "no motion"
    text = f"{row.title} holds {held}: {listed([repr(name) for name in names[count:]])} left out."
    clips = {name: content.clips[name] for name in names[:count]}
    return replace(content, clips=clips), (Remark("dropped", text, where="clips"),)
