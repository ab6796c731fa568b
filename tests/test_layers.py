"""The house: packages in one order, no circles inside them, slow imports where they belong, nothing too long."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import linkwork

PACKAGE = Path(linkwork.__file__).parent

# A package imports only packages that stand before it. Three files come before all of them (the version is in
# `__init__`, which imports nothing until it is asked), one after.
BEFORE, AFTER = ("__init__", "errors", "transforms"), ("__main__",)
PACKAGES = (
    "kernels",
    "linkage",
    "goals",
    "solvers",
    "explain",
    "motion",
    "formats",
    "models",
    "retargeting",
    "draw",
    "scale",
    "studio",
    "cli",
)
ORDER = (*BEFORE, *PACKAGES, *AFTER)

# Two conveniences look ahead, inside functions: `Clip.save` writes a file, and a solution explains itself.
DOORS = {("motion.clips", "formats"), ("solvers.solution", "explain.diagnosis")}

# Packages that are slow to load, and the packages that may import them at once.
HEAVY = {
    "numba": {"kernels"},
    "llvmlite": {"kernels"},
    "scipy": {"solvers"},
    "matplotlib": {"draw"},
    "mpl_toolkits": {"draw"},
    "typer": {"cli"},
    "rich": {"cli"},
    "msgspec": {"formats", "studio"},
    "yaml": {"formats"},
    "viser": set(),
}

LONGEST_FILE, LONGEST_FUNCTION = 500, 60

FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
files = pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())


def module_name(path: Path) -> str:
    """Return the dotted name below the package: ``"models.arms"``, ``"models"``, ``"__init__"``."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {module_name(path): path for path in FILES}


def room(module: str) -> str:
    return module.split(".")[0]


def statements(path: Path) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Return every import that runs, and whether it stands inside a function."""
    waiting: list[tuple[ast.AST, bool]] = [(TREES[path], False)]
    while waiting:
        node, inside = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, inside
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            children = node.orelse
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        waiting += [(child, inside) for child in children]


def own_modules(path: Path, node: ast.Import | ast.ImportFrom) -> set[str]:
    """Return the modules of this package that an import names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names if alias.name.split(".")[0] == PACKAGE.name]
        return {name.partition(".")[2] or "__init__" for name in names}
    base = (node.module or "").split(".") if node.module else []
    if node.level:
        folder = path.parent.relative_to(PACKAGE).parts
        base = [*folder[: len(folder) - node.level + 1], *base]
    elif base[0] == PACKAGE.name:
        base = base[1:]
    else:
        return set()
    whole = ".".join(base) or "__init__"
    inner = {alias.name: ".".join((*base, alias.name)) for alias in node.names}
    return {inner[name] if inner[name] in MODULES else whole for name in inner}


EAGER = {
    name: {m for n, inside in statements(p) if not inside for m in own_modules(p, n)} for name, p in MODULES.items()
}
EVER = {name: {m for n, _ in statements(p) for m in own_modules(p, n)} - {name} for name, p in MODULES.items()}


def test_thirteen_packages_and_four_files_are_all_there_is() -> None:
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
    graph = {
        name: {m for m in modules if room(m) == package} for name, modules in EVER.items() if room(name) == package
    }
    assert set(TopologicalSorter(graph).static_order()) == set(graph)  # a circle raises, and names itself


@files
def test_slow_packages_are_imported_at_once_only_where_everything_needs_them(path: Path) -> None:
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
    assert ast.get_docstring(TREES[path])


@files
def test_files_and_functions_stay_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= LONGEST_FUNCTION, f"{node.name} has {length} lines"
