"""Files dropped on a page: a file, several, a folder or a ZIP with meshes. They are not trusted.

Everything is written to a private folder, which exists as long as the studio, and read there. Nothing outside that
folder is accessed, whatever the files refer to, so answers reveal nothing about this machine.
"""

from __future__ import annotations

import io
import re
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import msgspec

from ..errors import FormatError, LinkworkError
from ..formats import Remark
from ..formats.atomic_files import DEVICES
from ..formats.npz_arrays import DAMAGE
from ..formats.options import Options
from ..linkage.geometry import Mesh, Visual
from ..linkage.linkage import Linkage
from .saving import read_scene
from .scene import Scene
from .server import LIMIT

MOST_FILES = 4000
DEEPEST = 24
LONGEST_NAME = 80
FIRST = (".urdf", ".xacro", ".xml", ".mjcf", ".usd", ".usda", ".usdc", ".usdz", ".glb", ".gltf", ".fbx", ".bvh")


class UploadedFile(msgspec.Struct):
    """A file in an upload: its name, with folders, and its number of bytes in the content."""

    name: str
    size: int


class UploadHead(msgspec.Struct):
    """The header of an upload: its files, and options for reading them."""

    files: list[UploadedFile]
    units: float | None = None
    up: Literal["x", "y", "z"] | None = None
    main: str | None = None


@dataclass(frozen=True)
class Upload:
    """An upload that was read.

    Attributes:
        scene: The scene.
        remarks: Remarks on its file.
        name: The file that was read.
        others: Other files that could be read instead.
    """

    scene: Scene
    remarks: tuple[Remark, ...]
    name: str
    others: tuple[str, ...] = ()


@dataclass
class Uploads:
    """The private folders of a studio."""

    folders: list[Path] = field(default_factory=list)

    def read(self, message: bytes) -> Upload:
        """Return the content of an upload.

        Raises:
            FormatError: If it is too large, of unknown type, or cannot be read; the message has the uploaded name.
        """
        head, files = unpacked(message)
        folder = Path(tempfile.mkdtemp(prefix="linkwork-"))
        try:
            upload = self._read(head, files, folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self.folders.append(folder)
        return upload

    def _read(self, head: UploadHead, files: Mapping[str, bytes], folder: Path) -> Upload:
        from ..formats import FORMATS

        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        main, others = chosen(files, head.main)
        packages = {path.name: path for path in sorted(folder.rglob("*")) if path.is_dir()}
        places: dict[str, Any] = {"packages": packages, "folders": (folder,)}
        used = FORMATS[PurePosixPath(main).suffix.lower()].options
        own = {name: value for name, value in places.items() if name in used}
        options = Options(units=head.units, up=head.up, within=folder, **own)
        with hidden(folder, main):
            scene, remarks = read_scene(folder / main, options)
        told = tuple(replace(remark, text=without(folder, remark.text)) for remark in remarks)
        return Upload(replace(scene, linkage=kept_inside(scene.linkage, folder)), told, main, others)

    def close(self) -> None:
        """Delete all folders."""
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)
        self.folders.clear()


def unpacked(message: bytes) -> tuple[UploadHead, dict[str, bytes]]:
    """Return the header of an upload and its files by safe names; ZIP files are unpacked."""
    try:
        (length,) = struct.unpack_from("<I", message)
        head = msgspec.json.decode(message[4 : 4 + length], type=UploadHead)
    except (struct.error, msgspec.MsgspecError, UnicodeError) as error:
        raise FormatError("upload", f"is not valid for this studio: {error}.") from error
    content = memoryview(message)[4 + length :]
    sizes = [file.size for file in head.files]
    if not sizes or min(sizes) < 0 or sum(sizes) != len(content) or len(sizes) > MOST_FILES:
        raise FormatError("upload", f"must be 1 to {MOST_FILES} complete files.")
    files: dict[str, bytes] = {}
    at = 0
    for file in head.files:
        data = bytes(content[at : at + file.size])
        at += file.size
        if file.name.lower().endswith(".zip"):
            files |= opened(safe_name(file.name), data)
        else:
            files[safe_path(file.name)] = data
    if sum(map(len, files.values())) > LIMIT:
        raise FormatError(safe_name(head.files[0].name), f"is larger than {LIMIT / 2**20:.4g} MiB.")
    return head, files


def opened(label: str, data: bytes) -> dict[str, bytes]:
    """Return the files in a ZIP by safe names; links are skipped, and ZIP bombs and too many files refused."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > MOST_FILES:
                raise FormatError(label, f"holds {len(entries)} files; the limit is {MOST_FILES}.")
            if sum(entry.file_size for entry in entries) > LIMIT:
                raise FormatError(label, f"is larger than {LIMIT / 2**20:.4g} MiB unpacked.")
            found, left = {}, LIMIT
            for entry in entries:
                if (entry.external_attr >> 16) & 0o170000 == 0o120000:
                    continue  # a link
                with archive.open(entry) as file:
                    content = file.read(left + 1)  # the size in its header may be wrong
                left -= len(content)
                if left < 0:
                    raise FormatError(label, f"is larger than {LIMIT / 2**20:.4g} MiB unpacked.")
                found[safe_path(entry.filename)] = content
            return found
    except FormatError:
        raise
    except DAMAGE as error:
        raise FormatError(label, f"cannot be opened as a ZIP: {error}.") from error


def chosen(files: Mapping[str, bytes], wanted: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the file to read, and the others that could be read: models before their parts."""
    from ..formats import suffixes

    readable = frozenset(suffixes("reads", "linkages"))
    able = [name for name in files if PurePosixPath(name).suffix.lower() in readable]
    if not able:
        first = next(iter(files))
        raise FormatError(first, f"cannot be opened; supported are {', '.join(sorted(readable))}.")

    def order(name: str) -> tuple[int, int, str]:
        path = PurePosixPath(name)
        kind = FIRST.index(path.suffix.lower()) if path.suffix.lower() in FIRST else len(FIRST)
        return kind, len(path.parts), name

    able.sort(key=order)
    main = wanted if wanted in able else able[0]
    return main, tuple(name for name in able if name != main)


def safe_name(name: str) -> str:
    """Return the last part of a file name, with letters, digits, dots, dashes and underscores only.

    Example:
        >>> safe_name("../../etc/pass wd.urdf")
        'pass_wd.urdf'
    """
    return PurePosixPath(safe_path(name)).name


def safe_path(name: str) -> str:
    """Return a relative path whose parts are all safe.

    Example:
        >>> safe_path("../robot/./meshes/arm 1.stl")
        'robot/meshes/arm_1.stl'
    """
    parts = []
    for part in name.replace("\\", "/").split("/")[-DEEPEST:]:
        clean = re.sub(r"[^\w.-]", "_", part, flags=re.ASCII)[-LONGEST_NAME:].strip(".")
        if clean:
            parts.append(f"_{clean}" if DEVICES.fullmatch(clean.partition(".")[0]) else clean)
    return "/".join(parts) or "upload"


@contextmanager
def hidden(folder: Path, label: str) -> Iterator[None]:
    """Show the uploaded name in errors instead of the private folder."""
    try:
        yield
    except LinkworkError as error:
        text = without(folder, str(error)).strip()
        line = getattr(error, "line", None)
        place = f"{label}:{line}: " if line is not None else f"{label}: "
        raise FormatError(label, text.removeprefix(place), line=line) from error


def without(folder: str | Path, text: str) -> str:
    """Return a text without the path of a private folder."""
    return text.replace(f"{folder}/", "").replace(f"{folder}\\", "").replace(str(folder), "the upload")


def kept_inside(linkage: Linkage, folder: Path) -> Linkage:
    """Return a linkage with references to meshes outside a folder removed."""
    home = folder.resolve()

    def judged(visual: Visual) -> Visual:
        shape = visual.shape
        if not isinstance(shape, Mesh) or shape.file is None or Path(shape.file).resolve().is_relative_to(home):
            return visual
        return replace(visual, shape=replace(shape, file=None))

    links = {
        link.name: {"visuals": tuple(map(judged, link.visuals))}
        for link in linkage.nodes
        if any(isinstance(visual.shape, Mesh) and visual.shape.file for visual in link.visuals)
    }
    return linkage.replace(links=links) if links else linkage
