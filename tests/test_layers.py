"""The order of the modules: each imports only what stands before it, and none grows beyond its size."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import linkwork

PACKAGE = Path(linkwork.__file__).parent

# From the first to the last. A folder is one layer; a new module is given its place here.
LAYERS = (
    "errors",
    "files",
    "transforms",
    "elements",
    "geometry",
    "joints",
    "tree",
    "cones",
    "linkage",
    "builder",
    "poses",
    "splines",
    "keys",
    "clips",
    "eulers",
    "rates",
    "roots",
    "blending",
    "mirrors",
    "edits",
    "dh",
    "kernels",
    "program",
    "devices",
    "limb",
    "kinematics",
    "mass",
    "goals",
    "loops",
    "mobility",
    "elbows",
    "paths",
    "solvers",
    "gpu_search",
    "gpu",
    "batch",
    "branches",
    "conflicts",
    "diagnosis",
    "analysis",
    "races",
    "lookahead",
    "tracking",
    "leading",
    "timeline",
    "findings",
    "contacts",
    "footing",
    "report",
    "repairs",
    "models",
    "formats",
    "retargeting",
    "doctor",
    "figures",
    "draw",
    "gallery",
    "comma_separated",
    "datasets",
    "parts",
    "runs",
    "farm",
    "libraries",
    "studio",
    "__init__",
    "console",
    "problems",
    "answers",
    "commands",
    "file_commands",
    "batch_commands",
    "film_commands",
    "report_commands",
    "retarget_commands",
    "cli",
    "__main__",
)

# Inside functions, a few may look ahead: the methods of a linkage hand over to the modules that do the work, a clip to
# those that write it, and a solution to the one that explains it.
AHEAD = {
    "clips": {"blending", "formats", "mirrors", "rates", "report", "roots"},
    "linkage": {"poses", "kinematics", "edits", "dh"},
    "solvers": {"diagnosis"},
}

# Packages that are slow to load, and the layers that may import them at once.
HEAVY = {
    "numba": {"kernels"},
    "llvmlite": {"kernels"},
    "scipy": {"solvers"},
    "matplotlib": {"draw"},
    "mpl_toolkits": {"draw"},
    "typer": {
        "batch_commands",
        "cli",
        "commands",
        "file_commands",
        "film_commands",
        "report_commands",
        "retarget_commands",
    },
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


def layer(module: str) -> str:
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


def test_every_module_has_its_place() -> None:
    assert {layer(name) for name in MODULES} <= set(LAYERS)
    assert len(set(LAYERS)) == len(LAYERS)


@files
def test_modules_import_only_what_stands_before_them(path: Path) -> None:
    here = layer(module_name(path))
    for node, inside in statements(path):
        for module in own_modules(path, node):
            there = layer(module)
            before = LAYERS.index(there) <= LAYERS.index(here)
            assert before or (inside and there in AHEAD.get(here, ())), (
                f"{path.name}:{node.lineno}: {here!r} imports {there!r}, which stands after it"
            )


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {
        name: {m for node, inside in statements(path) if not inside for m in own_modules(path, node)} - {name}
        for name, path in MODULES.items()
    }
    assert set(TopologicalSorter(graph).static_order()) == set(MODULES)  # a circle raises, and names itself


def test_looking_ahead_is_not_allowed_without_need() -> None:
    seen: dict[str, set[str]] = {name: set() for name in AHEAD}
    for name, path in MODULES.items():
        here = layer(name)
        for node, inside in statements(path):
            ahead = {layer(m) for m in own_modules(path, node) if LAYERS.index(layer(m)) > LAYERS.index(here)}
            if inside and here in seen:
                seen[here] |= ahead
    assert seen == AHEAD


@files
def test_slow_packages_are_imported_at_once_only_where_everything_needs_them(path: Path) -> None:
    here = layer(module_name(path))
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
