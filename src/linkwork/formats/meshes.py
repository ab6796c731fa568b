"""Find the mesh files of a model on this machine, from package URIs, file URIs and relative names.

Only the folder of the model, its package, the packages that it names and the folders in the options are searched. Real
paths are compared, so that neither ``..`` nor a symbolic link leads out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from ..errors import Remark
from .options import FilePath, Options

MARKERS = ("package.xml", "manifest.xml", "model.config")  # files that mark a folder as a package
NO_PACKAGE = " (not a package)"
MODEL_FOLDERS = ("urdf", "mjcf", "xacro", "sdf", "robots", "models")  # usual folders of models in packages
PACKAGE_SCHEMES = ("package", "model")
MAX_MESHES = 1_000  # different mesh names of one model
LONGEST_NAME, LONGEST_SHOWN = 4096, 200
MAX_PARTS = 8  # path components tried in a guessed package
LONGEST_MANIFEST = 2**16  # characters of a package.xml that are searched for its name
DRIVE = re.compile(r"[A-Za-z]:/")
_NAME = re.compile(r"<name>\s*([^<\s]+)\s*</name>")
OUTSIDE = "is outside the model's folder; allow its folder with folders=[...] (--folder)"


@dataclass(frozen=True)
class Resolved:
    """The result of searching for a mesh.

    Args:
        file: The real path of the file, or None if it was not found.
        tried: Every path that was tried, in order.
        refused: Why the name was refused; None if it was not.
        advice: Advice if the file was not found.
        guessed: The folder used in place of a package that was not found; None if none was.
    """

    file: Path | None
    tried: tuple[str, ...] = ()
    refused: str | None = None
    advice: str = ""
    guessed: Path | None = None

    @property
    def reason(self) -> str:
        """Why there is no file, as the end of a sentence that begins with the name; empty if there is one."""
        if self.file is not None:
            return ""
        if self.refused is not None:
            return self.refused
        parts = ("was not found", f"tried {', '.join(self.tried)}" if self.tried else "", self.advice)
        return "; ".join(filter(None, parts))


class _Place:
    """A folder to search.

    Args:
        folder: The folder.
        within: The folders that the real path of a file found there must be in.
        linked: Whether symbolic links there may lead anywhere, as in an installed workspace.
        closed: Why the folder is not read; empty if it is.
    """

    def __init__(self, folder: Path, within: Sequence[Path] = (), *, linked: bool = False, closed: str = "") -> None:
        self.folder, self.linked, self.closed = folder, linked, closed
        self.judged = os.path.normpath if linked or closed else os.path.realpath
        self.within = [self.judged(path).rstrip(os.sep) + os.sep for path in within or (folder,)]

    def real(self, path: str) -> str | None:
        """Return the real path; None if it is outside the allowed folders."""
        real = self.judged(path)
        return real if any(real.startswith(folder) for folder in self.within) else None


def resolve(name: str, model: Path, options: Options) -> Resolved:
    """Return the file of a mesh name; see `MeshFinder`, which is faster for many names.

    Example:
        >>> resolve("../../secret.stl", Path("robots/arm.urdf"), Options()).refused is None
        False
    """
    return MeshFinder(model, options).find(name)


class MeshFinder:
    """Finds the meshes of one model.

    ``package://name/rest`` and ``model://name/rest`` are searched for in `options.packages`, `options.folders`, the
    folders of ROS_PACKAGE_PATH, the ``share`` folders of AMENT_PREFIX_PATH, the folder of the model, and the folders
    above it that are the package or contain it and are marked as a package. ``file://`` and plain names are relative to
    the folder of the model, then to `options.folders`. If a package is not found, its folder is guessed, since robots
    are often copied without their packages but with the same subfolders.

    Args:
        model: The file of the model.
        options: Packages by name, and further allowed folders.
    """

    def __init__(self, model: Path, options: Options) -> None:
        self.folder, self.options = absolute(model).parent, options
        self._packages: dict[str, tuple[_Place, ...]] = {}
        self._found: dict[str, Resolved] = {}
        self._missed: set[str] = set()
        self._looked: set[str] = set()
        self._guessed: set[str] = set()

    def find(self, name: str) -> Resolved:
        """Return the file of a mesh name, or the paths that were tried."""
        if name not in self._found:
            if len(self._found) == MAX_MESHES:
                return Resolved(None, refused=f"is not searched for: there are {MAX_MESHES:,} others before it")
            self._found[name] = self._search(name)
        return self._found[name]

    def remark(self, name: str, link: str, line: int | None = None) -> Remark | None:
        """Return a remark on a missing mesh, or on one in a guessed package; None if there is nothing to report.

        The paths that were tried are listed once for every package, and once for names without a package.
        """
        found = self.find(name)
        scheme, rest = _split(name)
        package, reason = rest.partition("/")[0] if scheme in PACKAGE_SCHEMES else "", found.reason
        if found.guessed is not None and package not in self._guessed:
            self._guessed.add(package)
            text = f"package {package!r} was not found; its meshes are read from {found.guessed}; {_advice(package)}."
            return Remark("guessed-package", text, link, line)
        if name in self._missed or found.file is not None:
            return None
        self._missed.add(name)
        if found.refused is None:
            reason = "was not found either, in the same folders" if package in self._looked else reason
            self._looked.add(package)
        return Remark("missing-mesh", f"mesh {name[:LONGEST_SHOWN]} {reason}.", link, line)

    def _search(self, name: str) -> Resolved:
        scheme, rest = _split(name)
        if "\0" in name or not rest or len(name) > LONGEST_NAME:
            return Resolved(None, refused="is not a valid file name")
        if scheme in PACKAGE_SCHEMES:
            package, _, rest = rest.partition("/")
            if package in ("", ".", "..") or not rest:
                return Resolved(None, refused=f"names no file of a package; the form is {scheme}://package/file")
            if package not in self._packages:
                self._packages[package] = tuple(_package_places(package, self.folder, self.options))
            found = _first(rest, self._packages[package], f"leads out of package {package!r}")
            if found.file is not None or package in self.options.packages:
                return found
            return self._guess(f"{package}/{rest}") or replace(found, advice=_advice(package))
        if scheme not in ("", "file"):
            return Resolved(None, refused=f"is not read: {scheme}:// is not on this machine")
        return _first(rest, self._own, OUTSIDE)

    def _guess(self, rest: str) -> Resolved | None:
        """Return the file of a package that was not found, if the folder that the model belongs to has it.

        That folder is the model's package, the parent of a folder such as ``urdf``, or the model's own. The file is
        searched for by its path in the package, also without some of the first folders, but not without all of them.
        """
        home = _home(self.folder, self.options)
        if home == self.folder and self.folder.name.lower() in MODEL_FOLDERS:
            home = self.folder.parent
        parts = rest.split("/")
        if not {"", ".", ".."}.isdisjoint(map(unquote, parts)):
            return None  # paths with ".." are not guessed
        for start in range(max(0, len(parts) - MAX_PARTS), len(parts) - 1):
            found = _first("/".join(parts[start:]), (_Place(home),), OUTSIDE)
            if found.file is not None:
                return replace(found, guessed=home)
        return None

    @cached_property
    def _own(self) -> tuple[_Place, ...]:
        """The model's folder and the given folders; a name may lead from any of them to any other."""
        told = tuple(absolute(other) for other in self.options.folders)
        within = (self.folder, _home(self.folder, self.options), *told)
        return tuple(_Place(base, within) for base in (self.folder, *told))


def _advice(package: str) -> str:
    return f"give its folder with packages={{{package!r}: ...}} (--package {package}=FOLDER)"


def _split(name: str) -> tuple[str, str]:
    """Return the scheme of a name in lower case, empty if it has none, and the path; backslashes become slashes."""
    path = name.strip().replace("\\", "/")
    scheme, mark, rest = path.partition("://")
    if not mark or "/" in scheme:
        return "", path
    scheme = scheme.lower()
    if scheme in PACKAGE_SCHEMES:
        rest = rest.lstrip("/")  # some write package:///name
    if scheme == "file":
        host, _, local = rest.partition("/")
        root = "" if DRIVE.match(local) else "/"  # file:///C:/robots/arm.stl
        rest = f"{root}{local}" if host in ("", "localhost") else rest
    return scheme, rest


def _first(rest: str, places: Sequence[_Place], outside: str) -> Resolved:
    """Return the first file of this name in the places, else the paths tried, else the reason for none."""
    tried: dict[str, None] = {}
    for place in places:
        for name in dict.fromkeys((rest, unquote(rest))):
            path = str(Path(place.folder, name))
            try:
                real = place.real(path)
            except (OSError, ValueError):  # not a valid file name
                continue
            if real is None:
                continue
            tried[os.path.normpath(path) + place.closed] = None
            if not place.closed and _is_file(Path(real)):
                return Resolved(Path(os.path.realpath(real)), tuple(tried))
    return Resolved(None, tuple(tried), None if tried else outside)


def _package_places(package: str, folder: Path, options: Options) -> Iterator[_Place]:
    """Yield possible folders of a package: from the options, then from the environment, then near the model."""
    if package in options.packages:
        yield _Place(absolute(options.packages[package]))
    if options.within is not None:  # the rest of the machine is not searched
        yield _Place(absolute(options.within) / package, (absolute(options.within),))
        return
    for told in map(absolute, (*options.folders, *_listed("ROS_PACKAGE_PATH"))):
        if told.name == package:
            yield _Place(told)
        yield _Place(told / package)
    for prefix in _listed("AMENT_PREFIX_PATH"):  # a workspace may be installed as links to its sources
        yield _Place(absolute(prefix) / "share" / package, linked=True)
    yield _Place(folder / package, (folder,))
    if folder.name == package:
        yield _Place(folder)
    own = own_package(folder)
    if own.name != package and _package_name(own) == package:
        yield _Place(own)
    for above in folder.parents:
        if above.name == package:
            keeps_models = folder.parent == above and folder.name.lower() in MODEL_FOLDERS
            yield _Place(above, closed="" if keeps_models or _is_package(above) else NO_PACKAGE)
        yield _Place(above / package, closed="" if _is_package(above / package) else NO_PACKAGE)


def package_folder(package: str, model: FilePath, options: Options) -> tuple[Path, bool] | None:
    """Return the folder of a package, and whether links in it may lead anywhere; None if not found."""
    for place in _package_places(package, absolute(model).parent, options):
        if not place.closed and place.folder.is_dir():
            return place.folder, place.linked
    return None


def _home(folder: Path, options: Options) -> Path:
    """Return the folder that a model belongs to: its package, or `options.within`."""
    return own_package(folder) if options.within is None else absolute(options.within)


def own_package(folder: Path) -> Path:
    """Return the package that a model in a folder belongs to; the folder itself if there is none."""
    return next(filter(_is_package, (folder, *folder.parents)), folder)


def _package_name(folder: Path) -> str:
    """Return the name of a package in its manifest, which may differ from its folder; empty if there is none."""
    try:
        with (folder / MARKERS[0]).open(encoding="utf-8", errors="replace") as file:
            found = _NAME.search(file.read(LONGEST_MANIFEST))
    except OSError:
        return ""
    return found[1] if found else ""


def absolute(path: FilePath) -> Path:
    """Return an absolute path without ``..``."""
    return Path(os.path.normpath(Path(path).absolute()))  # links are kept: they are resolved when checked


def _listed(variable: str) -> list[str]:
    return [entry for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def _is_package(folder: Path) -> bool:
    return any(_is_file(folder / marker) for marker in MARKERS)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # not a valid file name
        return False
