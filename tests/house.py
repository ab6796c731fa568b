"""Imports of all modules, the order of the packages, and a picture of them.

``python tests/house.py`` draws ``docs/pictures/house.svg``; `test_layers` checks the order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "linkwork"
PICTURE = ROOT / "docs" / "pictures" / "house.svg"

# A package imports only packages above it. Three files come before all of them, one after. `__init__` may be first
# because it imports nothing until a name is used; others import the version from it.
PACKAGES = {
    "kernels": "compiled code for numbers and pointers",
    "linkage": "links, joints, poses, forward kinematics",
    "collision": "obstacles, collision shapes, distances",
    "goals": "goals with errors and Jacobians",
    "solvers": "inverse kinematics, closed forms, loops",
    "explain": "diagnoses, all solutions, workspaces",
    "motion": "clips, keys, tracking, inspection",
    "formats": "reading and writing files",
    "models": "ready-made linkages, synthesis, lessons",
    "retargeting": "motions transferred between bodies",
    "draw": "pictures, films, pages, the gallery",
    "scale": "datasets on threads, GPUs and clusters",
    "studio": "the editor in the browser",
    "cli": "the command line",
}
ORDER = ("__init__", "errors", "transforms", *PACKAGES, "__main__")

# Exceptions, imported inside functions for convenience: `Clip.save`, `World.save` and `Linkage.pack` write files,
# linkages find their closed forms, collision shapes are read from mesh files, `Solution.explain` gives reasons, and
# objects display themselves in notebooks.
DOORS = {
    ("collision.obstacles", "formats.worlds"),
    ("collision.surfaces", "formats.mesh_export"),
    ("linkage.linkage", "formats.packed"),
    ("linkage.linkage", "solvers.closed_form"),
    ("linkage.showing", "draw.notebook"),
    ("motion.clips", "formats"),
    ("solvers.solution", "explain.diagnosis"),
}

FILES = sorted(PACKAGE.rglob("*.py"))


def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a module; it is not cached, since all trees together take 90 MB."""
    return ast.parse(path.read_text(encoding="utf-8"))


def module_name(path: Path) -> str:
    """Return the dotted name below the package: ``"models.arms"``, ``"models"``, ``"__init__"``."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {module_name(path): path for path in FILES}


def room(module: str) -> str:
    """Return the package of a module, or the file at the top."""
    return module.split(".")[0]


def statements(path: Path) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Return every import that runs, and whether it is inside a function."""
    waiting: list[tuple[ast.AST, bool]] = [(tree(path), False)]
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


def imported(path: Path, *, lazily: bool) -> set[str]:
    """Return the modules that a module imports when it is loaded or, with `lazily`, at any time."""
    return {m for node, inside in statements(path) if lazily or not inside for m in own_modules(path, node)}


EAGER = {name: imported(path, lazily=False) - {name} for name, path in MODULES.items()}
EVER = {name: imported(path, lazily=True) - {name} for name, path in MODULES.items()}


def arrows() -> set[tuple[str, str]]:
    """Return the imports between packages, without those of `DOORS`."""
    pairs = {(here, there) for here, modules in EVER.items() for there in modules} - DOORS
    return {(room(a), room(b)) for a, b in pairs if room(a) != room(b) and {room(a), room(b)} <= set(PACKAGES)}


def sizes() -> dict[str, tuple[int, int]]:
    """Return the number of modules and of lines of each package."""
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    members = {package: [name for name in MODULES if room(name) == package] for package in PACKAGES}
    return {package: (len(names), sum(lines[name] for name in names)) for package, names in members.items()}


ROW, TOP, LEFT, WIDE = 40, 34, 20, 360
COLOURS = ("#3f51b5", "#00897b", "#c2185b", "#6d4c41")


def picture() -> str:
    """Return an SVG of the packages: a bar for the lines of each, and arrows to the packages that it imports."""
    measured, place = sizes(), {package: TOP + ROW * k for k, package in enumerate(PACKAGES)}
    longest = max(lines for _, lines in measured.values())
    height = TOP + ROW * len(PACKAGES) + 34
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="context-stroke"/></marker></defs>',
        f'<text x="{LEFT}" y="20" fill="#555">Packages in their order. An arrow leads up from a package to one '
        "that it imports. Bars show lines of code.</text>",
    ]
    for package, (modules, lines) in measured.items():
        y, length = place[package], max(6.0, WIDE * lines / longest)
        out += [
            f'<rect x="{LEFT}" y="{y}" width="{length:.0f}" height="30" rx="4" fill="#dfe3f7"/>',
            f'<text x="{LEFT + 8}" y="{y + 13}" font-weight="bold" data-package="{package}" data-modules="{modules}" '
            f'data-lines="{lines}">{package}</text>',
            f'<text x="{LEFT + 8}" y="{y + 26}" font-size="11" fill="#555">{PACKAGES[package]}: {modules} modules, '
            f"{lines:,} lines</text>",
        ]
    order = list(PACKAGES)
    for here, there in sorted(arrows(), key=lambda pair: (order.index(pair[0]), order.index(pair[1]))):
        x, start, end = LEFT + WIDE + 40, place[here] + 11, place[there] + 19
        bulge = 22 * (order.index(here) - order.index(there)) + 8
        colour = COLOURS[order.index(there) % len(COLOURS)]
        out.append(
            f'<path d="M{x} {start}C{x + bulge} {start} {x + bulge} {end} {x} {end}" fill="none" stroke="{colour}" '
            f'stroke-opacity=".55" stroke-width="1.2" marker-end="url(#head)" data-arrow="{here} {there}"/>'
        )
    out.append(
        f'<text x="{LEFT}" y="{height - 12}" font-size="11" fill="#555">Not drawn: {len(DOORS)} imports of packages '
        "further down, inside functions, such as that of Clip.save. tests/house.py lists them.</text></svg>\n"
    )
    return "\n".join(out)


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {sum(lines for _, lines in sizes().values()):,} lines")
