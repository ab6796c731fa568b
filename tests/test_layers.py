"""Architecture: order of packages, no import cycles, slow imports only where allowed, bounds of file lengths."""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from house import (
    DOORS,
    EAGER,
    EVER,
    FILES,
    MODULES,
    ORDER,
    PACKAGE,
    PACKAGES,
    PICTURE,
    ROOT,
    arrows,
    module_name,
    picture,
    room,
    sizes,
    statements,
    tree,
)

# Libraries that are slow to load, and the packages that may import them at module level.
HEAVY = {
    "numba": {"kernels"},
    "llvmlite": {"kernels"},
    "scipy": {"solvers"},
    "matplotlib": {"draw"},
    "mpl_toolkits": {"draw"},
    "click": {"cli"},
    "rich": set(),
    "msgspec": {"formats", "studio"},
    "yaml": {"formats"},
}

LONGEST_FILE, LONGEST_FUNCTION = 500, 60

files = pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())


def test_fourteen_packages_and_four_files_are_all_there_is() -> None:
    assert {room(name) for name in MODULES} == set(ORDER)
    assert {path.name for path in PACKAGE.iterdir() if path.is_dir()} - {"__pycache__"} == set(PACKAGES)


def test_packages_import_only_those_before_them() -> None:
    ahead = {
        (name, module)
        for name, modules in EVER.items()
        for module in modules
        if ORDER.index(room(module)) > ORDER.index(room(name))
    }
    assert ahead == DOORS
    assert not any(there in EAGER[here] for here, there in DOORS)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_circles_inside_a_package(package: str) -> None:
    inside = {name for name in MODULES if room(name) == package}
    graph = {name: EVER[name] & inside for name in inside}
    assert set(TopologicalSorter(graph).static_order()) == inside  # a cycle raises an error with its modules


@files
def test_slow_libraries_are_imported_at_once_only_where_everything_needs_them(path: Path) -> None:
    here = room(module_name(path))
    for node, inside in statements(path):
        if inside or (isinstance(node, ast.ImportFrom) and node.level):
            continue
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        for name in names:
            allowed = HEAVY.get(name.split(".")[0])
            assert allowed is None or here in allowed, f"{path.name}:{node.lineno} imports {name}"


@files
def test_a_module_says_what_lives_in_it(path: Path) -> None:
    assert ast.get_docstring(tree(path))


@files
def test_files_and_functions_stay_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= LONGEST_FUNCTION, f"{node.name} has {length} lines"


# The picture in CONTRIBUTING, and its table


def test_the_picture_shows_the_house_as_it_is() -> None:
    shown, drawn = PICTURE.read_text(encoding="utf-8"), picture()
    pattern = re.compile(r'data-package="(\w+)" data-modules="(\d+)" data-lines="(\d+)"')
    assert {name: (int(n), int(m)) for name, n, m in pattern.findall(drawn)} == sizes()
    assert set(re.findall(r'data-arrow="(\w+) (\w+)"', shown)) == arrows(), "draw it anew: python tests/house.py"
    for name, _, lines in pattern.findall(shown):
        now = sizes()[name][1]
        assert abs(int(lines) - now) <= 0.1 * now, f"{name} has {now} lines: draw it anew with python tests/house.py"


def rows_of_contributing() -> list[tuple[str, str]]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text[text.index("| A new ... |") :].split("\n\n")[0].splitlines()[2:]
    return [(cells[1].strip(), line) for line in table if (cells := line.split("|"))]


@pytest.mark.parametrize(("thing", "line"), rows_of_contributing(), ids=lambda value: value if len(value) < 20 else "")
def test_where_a_new_thing_goes_exists(thing: str, line: str) -> None:
    quoted = re.findall(r"`([^`]+)`", line)
    paths = [text for text in quoted if "/" in text or text.endswith((".yml", ".md"))]
    tables = [text for text in quoted if re.fullmatch(r"[A-Z][A-Z_]+", text)]
    assert paths, f"the row of {thing!r} names no file"
    assert not [path for path in paths if not (ROOT / path).exists()]
    sources = [p for path in paths for p in ([ROOT / path] if (ROOT / path).is_file() else (ROOT / path).glob("*.py"))]
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    for table in tables:
        assert re.search(rf"^{table}\b.*=", text, re.MULTILINE), f"{table} stands in none of {paths}"
