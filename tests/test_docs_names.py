"""The files and functions that `docs/how-it-works.md` and its pictures name exist, and each function is in its file."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "linkwork"
PAGE = ROOT / "docs" / "how-it-works.md"
PICTURES = [ROOT / "docs" / "pictures" / f"{name}.svg" for name in ("life-of-a-solve", "lanes", "packs")]
FILE = re.compile(r"[\w/]+\.(?:py|md)")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@cache
def defined(path: Path) -> set[str]:
    """Return the functions, classes and constants at the top of a module."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def place(name: str) -> Path:
    """Return the path of a file that the page names, in the package or in the repository."""
    return PACKAGE / name if (PACKAGE / name).exists() else ROOT / name


def marked(text: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", text)


def named_in_tables() -> list[tuple[str, str]]:
    """Return pairs (function, file) from rows of tables with both, and from `function` in `file` in the text."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.findall(r"`(\w+)`,? in `([\w/]+\.py)`", text)
    for line in text.splitlines():
        cells = line.split("|")[1:-1]
        if len(cells) == 3 and re.fullmatch(r"\s*`[\w/]+\.py`\s*", cells[1]):
            found += [(name, marked(cells[1])[0]) for name in marked(cells[0])]
    return found


def test_files_exist():
    files = {name for name in marked(PAGE.read_text(encoding="utf-8")) if FILE.fullmatch(name)}
    assert len(files) > 50
    assert [name for name in sorted(files) if not place(name).exists()] == []


def test_functions_are_in_their_files():
    pairs = named_in_tables()
    assert len(pairs) > 60
    assert [f"{name} in {file}" for name, file in pairs if name not in defined(place(file))] == []


def test_packages_are_those_of_the_house():
    text = PAGE.read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| [^|]+ \| `[\w/]+\.py` \|$", text, flags=re.MULTILINE)
    assert listed[:14] == [name for name in listed[:14] if (PACKAGE / name).is_dir()]
    assert set(listed[:14]) == {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_pictures_name_what_there_is(picture):
    """If a title is a name, one of the files below it, up to the next title, defines it."""
    titles: list[tuple[str, list[str]]] = []
    for element in ElementTree.parse(picture).getroot().iter("{http://www.w3.org/2000/svg}text"):
        text = element.text or ""
        files = re.findall(r"\w+/[\w/]+\.py", text)
        if element.get("font-weight") == "bold":
            titles.append((text.removeprefix("lw.").removeprefix("@"), []))
        elif titles:
            titles[-1][1].extend(files)
    assert [file for _, files in titles for file in files if not (PACKAGE / file).exists()] == []
    for title, files in titles:
        names = title.split(", ")
        if files and all(IDENTIFIER.fullmatch(name) for name in names):
            known = set().union(*(defined(PACKAGE / file) for file in files))
            assert set(names) <= known, f"{picture.name}: {title} is not in {files}"
