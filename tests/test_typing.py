"""Code in the documentation passes ``mypy --strict``, and misspelt options do not.

Every page becomes one module with its blocks at the same lines, so that errors have line numbers of the page. One run
of mypy checks all; errors in linkwork itself are left to `make types`.
"""

from __future__ import annotations

import ast
import doctest
import os
import re
import sys
from pathlib import Path

import pytest

import children
from test_docs import PAGES, ROOT, blocks, named, with_blocks

pytest.importorskip("mypy")
IGNORED = "  # type: ignore"
# Functions in lessons have no annotations, which readers may not know.
UNTYPED = """disallow_untyped_defs = False
disallow_untyped_calls = False
disallow_incomplete_defs = False
disable_error_code = arg-type
"""

# For each call: the code, and mypy's error, if any.
CALLS = {
    'lw.solve(arm, goal, method="damped", max_iterations=50, limits="project")': "",
    'lw.solve(arm, goal, metod="damped")': "call-arg",
    'lw.solve(arm, goal, limits="clmap")': "typeddict-item arg-type",
    'lw.solve(arm, goal, tolerance="fine")': "typeddict-item arg-type",
    'lw.prepare(arm, "tip", position="xy", orientation=False)([1, 2]).q': "",
    "lw.prepare(arm, [goal]).follow([[goal]]).success": "",
    'lw.prepare(arm, "tip", restart=3)': "call-overload call-arg",
    'lw.solve_batch(arm, "tip", np.zeros((5, 4, 4)), dtype=np.float32)': "",
    'lw.solve_batch(arm, "tip", np.zeros((5, 4, 4)), dtype="float32")': "",
    'lw.solve_batch(arm, "tip", np.zeros((5, 4, 4)), dtyp="float32")': "call-overload",
    'lw.Frame("tcp", "link", (0, 0, 0.1))': "",
    'lw.Reach("tip", pose=np.eye(4))': "",
    'lw.Reach("tip", pos=(1, 2))': "call-arg",
    'lw.load("arm.urdf", root="floating", folders=["meshes"])': "",
    'lw.load("arm.bvh", unit=0.01)': "call-arg",
    'lw.load("arm.urdf", root="flying")': "arg-type",
    'lw.loads("<robot/>", "urdf", packages={"arm": "arm"})': "",
    "lw.Nothing": "attr-defined",
}
HEAD = """import numpy as np

import linkwork as lw

arm = lw.models.planar([2, 1])
goal = lw.Reach("tip", position=(1, 2))
"""


def source_of(page: Path) -> str:
    """Return the Python code of a page as a module; calls that fail in a session are left out."""
    lines: list[str] = []
    for block in blocks(page):
        if block.language != "python":
            continue
        parts = [(0, block.text)]
        if block.text.lstrip().startswith(">>>"):
            examples = doctest.DocTestParser().get_examples(block.text)
            parts = [(e.lineno, _unchecked(e.source) if e.exc_msg else e.source) for e in examples]
        for at, text in parts:
            lines += [""] * (block.line - 1 + at - len(lines)) + text.rstrip("\n").split("\n")
    return "\n".join(lines) + "\n"


def _unchecked(source: str) -> str:
    return "\n".join(line + IGNORED for line in source.rstrip("\n").split("\n"))


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return mypy's errors for pages and calls by module name, from one run in a folder with all modules."""
    folder = tmp_path_factory.mktemp("typing")
    for page in with_blocks("python"):
        (folder / f"{module_of(page)}.py").write_text(source_of(page), encoding="utf-8")
    (folder / "calls.py").write_text(HEAD + "\n".join(CALLS) + "\n", encoding="utf-8")
    options = ["--strict", "--follow-imports=silent", "--allow-redefinition", "--local-partial-types", "--no-pretty"]
    options += ["--no-warn-unused-ignores", "--no-incremental", f"--config-file={folder / 'mypy.ini'}"]
    lessons = "".join(
        f"[mypy-{module_of(page)}]\n{UNTYPED}" for page in with_blocks("python") if page.parent.name == "learn"
    )
    (folder / "mypy.ini").write_text(f"[mypy]\nignore_missing_imports = True\n{lessons}", encoding="utf-8")
    environment = os.environ | {"MYPYPATH": str(ROOT / "src")}
    done = children.run(
        [sys.executable, "-m", "mypy", *options, "."], cwd=folder, env=environment, text=True, encoding="utf-8"
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        if (said := re.match(r"(\w+)\.py:(\d+: error: .*)", line)) is not None:
            found.setdefault(said[1], []).append(said[2])
    return found


def module_of(page: Path) -> str:
    return re.sub(r"\W", "_", named(page).removesuffix(".md"))


@pytest.mark.parametrize("page", with_blocks("python"), ids=named)
def test_documented_calls_pass_mypy(page: Path, errors: dict[str, list[str]]) -> None:
    assert not errors.get(module_of(page)), "\n".join(f"{named(page)}:{error}" for error in errors[module_of(page)])


@pytest.mark.parametrize("call", CALLS)
def test_options_are_typed(call: str, errors: dict[str, list[str]]) -> None:
    line = HEAD.count("\n") + 1 + list(CALLS).index(call)
    said = [error for error in errors["calls"] if error.startswith(f"{line}:")]
    codes = {code for error in said for code in re.findall(r"\[([\w-]+)\]$", error)}
    assert bool(codes) == bool(CALLS[call]), said
    assert codes <= set(CALLS[call].split()), said


def test_pages_are_modules_line_by_line() -> None:
    for page in with_blocks("python"):
        source = source_of(page)
        ast.parse(source)
        assert len(source.splitlines()) <= len(page.read_text(encoding="utf-8").splitlines())
    assert len(PAGES) > len(with_blocks("python")) > 20
