"""Mutation testing of one module: lists small faults in it that its tests do not notice.

    python tests/mutants.py linkage/joints.py tests/linkage/test_joints.py tests/linkage/test_kinematics.py

Each mutant is the module with one small fault: a comparison, sign, constant, condition or keyword changed, a statement
left out. The tests run against it until one fails. Mutants that pass all of them are listed at the end, each with its
line: a person decides whether a test is missing or the fault makes no difference. Source files are not touched.

A process imports everything that the tests import, except linkwork, and is forked for each mutant. It needs fork, so
Linux or macOS.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.abc
import importlib.machinery
import os
import pickle
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "linkwork"
OTHER: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {  # operators and their replacements
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
PATIENCE = 10.0  # s beyond five times the duration of the tests with the original module


@dataclass(frozen=True)
class Mutant:
    """A module with one fault."""

    line: int
    said: str
    source: str


# The faults


def mutants(source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    tree = ast.parse(source)
    sites = [node for node in ast.walk(tree) if hasattr(node, "lineno")]
    skipped = {id(inner) for node in sites for inner in _not_for_mutation(node)}
    for number, node in enumerate(sites):
        if id(node) in skipped:
            continue
        for way in range(len(list(_faults(copy.deepcopy(node))))):
            twin = copy.deepcopy(tree)
            place = [one for one in ast.walk(twin) if hasattr(one, "lineno")][number]
            before = ast.unparse(place)
            fault = list(_faults(place))[way]
            _replace(twin, place, fault)
            after = "pass" if isinstance(fault, ast.Pass) else ast.unparse(fault)
            yield Mutant(
                node.lineno, f"{_short(before)}  ->  {_short(after)}", ast.unparse(ast.fix_missing_locations(twin))
            )


def _short(text: str) -> str:
    line = text.splitlines()[0]
    return line if len(line) <= 90 else f"{line[:87]}..."


def _not_for_mutation(node: Any) -> Iterator[ast.AST]:
    """Yield the parts of a node without behaviour: annotations, decorators, error messages, `TYPE_CHECKING` blocks."""
    inside = [getattr(node, "annotation", None), getattr(node, "returns", None), *getattr(node, "decorator_list", ())]
    if isinstance(node, ast.Raise):
        inside.append(node.exc)
    if isinstance(node, ast.JoinedStr):
        inside.append(node)
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        inside.append(node)
    for one in inside:
        if one is not None:
            yield from ast.walk(one)


def _faults(node: Any) -> Iterator[ast.AST]:
    """Yield replacements of a node with one fault each; they share parts of the node, so use one per copy."""
    if isinstance(node, ast.Compare):
        for k, operator in enumerate(node.ops):
            for other in OTHER[type(operator)]:
                yield _with(node, ops=[*node.ops[:k], other(), *node.ops[k + 1 :]])
    elif isinstance(node, ast.BoolOp | ast.BinOp | ast.AugAssign) and type(node.op) in OTHER:
        for other in OTHER[type(node.op)]:
            yield _with(node, op=other())
        if isinstance(node, ast.AugAssign):
            yield ast.Pass()
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield _with(node, left=node.right, right=node.left)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.If | ast.IfExp | ast.While) and not isinstance(node.test, ast.Compare):
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield ast.Pass()
    elif isinstance(node, ast.Break):
        yield ast.Continue()
    elif isinstance(node, ast.Continue):
        yield ast.Break()
    elif isinstance(node, ast.Call):
        for k, keyword in enumerate(node.keywords):
            if keyword.arg is not None:
                yield _with(node, keywords=[*node.keywords[:k], *node.keywords[k + 1 :]])


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _with(node: Any, **changed: Any) -> Any:
    fields = {name: getattr(node, name) for name in node._fields} | changed
    return ast.copy_location(type(node)(**fields), node)


def _replace(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    ast.copy_location(new, old)
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if value is old:
                setattr(node, name, new)
            elif isinstance(value, list) and any(one is old for one in value):
                setattr(node, name, [new if one is old else one for one in value])


# The tests of a mutant


class Instead(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Loads a mutant in place of one module."""

    def __init__(self, name: str, path: Path, source: str) -> None:
        super().__init__(name, str(path))
        self.code = compile(source, str(path), "exec")

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        """Return the import spec of the mutant, if this module is asked for."""
        spec = importlib.machinery.ModuleSpec(name, self, origin=self.path)
        spec.has_location = True
        return spec if name == self.name else None

    def get_code(self, _name: str) -> CodeType:
        """Return the mutant's code."""
        return self.code


def run_tests(path: Path, source: str, tests: Sequence[str], imported: Path | None = None) -> int:
    """Run tests in this process, with other source for a module, and return pytest's status: 0 if all pass."""
    import pytest

    name = ".".join(("linkwork", *path.relative_to(SOURCES).with_suffix("").parts)).removesuffix(".__init__")
    sys.meta_path.insert(0, Instead(name, path, source))
    status = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", *tests]))
    if imported is not None:
        imported.write_bytes(pickle.dumps([one for one, module in sys.modules.items() if module is not None]))
    return status


def forked(*arguments: Any) -> int:
    """Start a process that runs tests silently; return its process id."""
    number = os.fork()
    if number:
        return number
    os.setsid()
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    status = 1
    with suppress(BaseException):
        status = run_tests(*arguments)
    os._exit(status)


def preload(names: Sequence[str]) -> None:
    """Import the modules that the tests import, except linkwork, the tests and plugins, which pytest imports."""
    own = {path.stem for path in (ROOT / "tests").rglob("*.py")} | {"linkwork", "tests", "conftest", "__main__"}
    for name in names:
        package = name.partition(".")[0]
        if package not in own and not package.startswith(("pytest_", "_hypothesis")):
            with suppress(Exception):  # some modules can only be imported by others
                importlib.import_module(name)


def survivors(path: Path, found: Sequence[Mutant], tests: Sequence[str], workers: int, limit: float) -> list[Mutant]:
    """Return the mutants that pass all tests."""
    waiting, running, alive = list(found), dict[int, tuple[Mutant, float]](), list[Mutant]()
    while waiting or running:
        while waiting and len(running) < workers:
            mutant = waiting.pop(0)
            running[forked(path, mutant.source, tests)] = mutant, time.monotonic()
        number, status = os.waitpid(-1, os.WNOHANG)
        if number in running:
            mutant, _ = running.pop(number)
            alive += [mutant] if status == 0 else []
            done = len(found) - len(waiting) - len(running)
            if done % 25 == 0:
                print(f"{done} of {len(found)}, {len(alive)} not noticed", file=sys.stderr, flush=True)
        for late in [one for one, (_, begun) in running.items() if time.monotonic() > begun + limit]:
            with suppress(ProcessLookupError):
                os.killpg(late, signal.SIGKILL)
        time.sleep(0.02)
    return sorted(alive, key=lambda one: one.line)


def main() -> int:
    """Test all mutants of a module and print those that no test noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", help="a file below src/linkwork")
    parser.add_argument("tests", nargs="+", help="pytest's arguments for each mutant, the fastest tests first")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    os.chdir(ROOT)
    path = SOURCES / given.module
    source = path.read_text(encoding="utf-8")
    found = list(mutants(source))
    with tempfile.NamedTemporaryFile() as listed:
        sound = forked(path, source, given.tests, Path(listed.name))
        if os.waitpid(sound, 0)[1]:
            print("the tests fail without any fault.", file=sys.stderr)
            return 2
        preload(pickle.loads(Path(listed.name).read_bytes()))
    begun = time.monotonic()
    os.waitpid(forked(path, source, given.tests), 0)
    limit = 5.0 * (time.monotonic() - begun) + PATIENCE
    print(
        f"{given.module}: {len(found)} mutants, tests of {(limit - PATIENCE) / 5.0:.1f} s", file=sys.stderr, flush=True
    )
    alive = survivors(path, found, given.tests, given.workers, limit)
    for one in alive:
        print(f"{given.module}:{one.line}: {one.said}")
    print(f"{given.module}: {len(alive)} of {len(found)} mutants pass all tests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
