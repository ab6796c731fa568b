"""Line coverage of kernels, recorded by the machine code itself: `make kernel-coverage`.

    python tests/kernel_lines.py build                    build a pack whose kernels mark every line they run
    python tests/parts.py -p kernel_lines                 run the suite with that pack, at nearly the usual speed
    python tests/kernel_lines.py report --least 95        print the coverage by file; fail below 95 %

Before each instruction, the compiled code stores a one for its line in an array of the pack. At its end, every test
process writes the marks of its pack to a file. Coverage counts functions that become machine code, with the decorators
``@kernel``, ``@inner`` and ``@part``; the rest of their modules is Python, which `make coverage` counts. Processes that
tests start use the plain pack, so lines that only they run do not count.
"""

from __future__ import annotations

import argparse
import ast
import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "linkwork" / "kernels"
HOME = ROOT / "build" / "counted"
MARKS = "linkwork_lines"  # the array in the pack: a byte for each line of each file
ENDING = ".lines"
COMPILED = ("kernel", "inner", "part")  # decorators of functions that become machine code


# One place of the array for each line


@cache
def starts() -> tuple[dict[Path, int], int]:
    """Return the index of each file's line 0 in the array, and the length of the array."""
    found, total = {}, 0
    for path in sorted(SOURCES.rglob("*.py")):
        found[path] = total
        total += len(path.read_bytes().splitlines()) + 1
    return found, total


@cache
def start_of(file: str) -> int | None:
    """Return the index of a file's line 0; None if it is not a source of kernels."""
    return starts()[0].get(Path(file).resolve())


# The pack that marks lines


@cache
def mark_lines() -> None:
    """Make Numba add marks to kernels, from now on in this process."""
    from llvmlite import ir as llvm
    from numba.core import ir
    from numba.core.lowering import Lower

    lower_instruction, byte, word = Lower.lower_inst, llvm.IntType(8), llvm.IntType(32)

    def lower(self: Any, instruction: Any) -> None:
        start = start_of(instruction.loc.filename)
        moved = isinstance(instruction, ir.Del) or getattr(getattr(instruction, "value", None), "op", "") == "phi"
        if start is not None and not moved:  # ends of variables and phis may be in blocks that run without their line
            marks = self.module.globals.get(MARKS) or llvm.GlobalVariable(
                self.module, llvm.ArrayType(byte, starts()[1]), MARKS
            )
            place = word(start + instruction.loc.line)
            self.builder.store(byte(1), self.builder.gep(marks, [word(0), place], inbounds=True))
        lower_instruction(self, instruction)

    Lower.lower_inst = lower


def compile_marked(symbol: str, *arguments: Any) -> None:
    """Compile one function with marks, in a separate process."""
    from linkwork.kernels import build

    mark_lines()
    build.compile_symbol(symbol, *arguments)


def build_pack() -> None:
    """Build the pack of this machine's best instruction set, with marks, into HOME."""
    from linkwork.kernels import build, linker
    from linkwork.kernels.__main__ import best_level, show
    from linkwork.kernels.objects import compile_object
    from linkwork.kernels.targets import host

    target = host()
    if target is None:
        raise SystemExit("there is no pack for this platform.")
    level = next(one for one in target.levels if one.name == best_level(target))

    def link(objects: Sequence[Path], exports: Sequence[str], *rest: Any) -> None:
        text = f'target triple = "{target.triple}"\n@{MARKS} = global [{starts()[1]} x i8] zeroinitializer\n'
        own = objects[0].with_name(f"{MARKS}.o")
        own.write_bytes(compile_object(text, target.triple, level.cpu, level.features, MARKS, model="default"))
        linker.link([*objects, own], [*exports, MARKS], *rest)

    build.link, build.work_on = link, _with(compile_marked, build.work_on)
    with TemporaryDirectory() as folder:
        made = build.build([target], Path(folder), levels=[level.name], progress=show)
        shutil.rmtree(HOME, ignore_errors=True)
        shutil.copytree(made[target.name], HOME)


def _with(work: Callable[..., None], work_on: Callable[..., Any]) -> Callable[..., Any]:
    """Return `work_on` with another function as its work."""
    return lambda symbols, _work, *arguments, **options: work_on(symbols, work, *arguments, **options)


# As a plugin of pytest


def pytest_configure() -> None:
    """Load kernels from the pack that marks lines."""
    from linkwork.kernels import declarations, runtime

    if declarations.KERNELS:
        raise RuntimeError(f"kernels are declared already: {', '.join(declarations.KERNELS)}")

    class CountingPack(runtime.Pack):
        def __init__(self) -> None:
            super().__init__(HOME)

    runtime.Pack = CountingPack


def pytest_unconfigure() -> None:
    """Write the lines that ran in this process."""
    from linkwork.kernels import runtime

    marks = (ctypes.c_ubyte * starts()[1]).in_dll(runtime.the_pack().library, MARKS)
    (HOME / f"{os.getpid()}{ENDING}").write_bytes(bytes(marks))


# The report


def functions(path: Path) -> Iterator[tuple[str, list[range]]]:
    """Yield the functions of a module that become machine code, with the lines of each of their statements.

    A compound statement ends where its first inner statement begins.
    """
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and any(_name(one) in COMPILED for one in node.decorator_list):
            documented = node.body[0] if ast.get_docstring(node) is not None else None
            inside = (one for statement in node.body for one in ast.walk(statement) if isinstance(one, ast.stmt))
            yield node.name, [lines_of(one) for one in inside if one is not documented]


def lines_of(statement: ast.stmt) -> range:
    """Return the lines of a statement, without those of others inside it."""
    inner = [one.lineno for one in ast.walk(statement) if isinstance(one, ast.stmt) and one is not statement]
    last = statement.end_lineno or statement.lineno
    return range(statement.lineno, max(min([*inner, last + 1]), statement.lineno + 1))


def _name(decorator: ast.expr) -> str:
    decorator = decorator.func if isinstance(decorator, ast.Call) else decorator
    return decorator.id if isinstance(decorator, ast.Name) else ""


def report(least: float) -> int:
    """Print the coverage by file, then every statement that did not run; return 1 if the coverage is too low."""
    marks = bytearray(starts()[1])
    for path in HOME.glob(f"*{ENDING}"):
        marks = bytearray(map(max, marks, path.read_bytes()))
    total = covered = 0
    idle, missed = list[str](), list[str]()
    for path, start in starts()[0].items():
        found = list(functions(path))
        if not found or path.name.startswith("cuda"):
            continue
        name, own, ran = path.relative_to(SOURCES).as_posix(), 0, 0
        for function, statements in found:
            hit = [any(marks[start + line] for line in lines) for lines in statements]
            own, ran = own + len(hit), ran + sum(hit)
            left = [lines.start for lines, one in zip(statements, hit, strict=True) if not one]
            idle += [] if any(hit) else [f"{name}: {function}"]
            missed += [f"{name}: {function}: {', '.join(map(str, left))}"] if left and any(hit) else []
        total, covered = total + own, covered + ran
        print(f"{name:42} {ran:5} of {own:5} statements {ran / own:6.1%}")
    print(f"{'all':42} {covered:5} of {total:5} statements {covered / total:6.1%}")
    print("statements that never ran, by line:", *missed, sep="\n  ")
    print(f"{len(idle)} functions never ran", *idle, sep="\n  ")
    return int(covered < least / 100.0 * total)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("build", "report"))
    parser.add_argument("--least", type=float, default=0.0, help="per cent of the statements that must have run")
    given = parser.parse_args()
    if given.what == "report":
        return report(given.least)
    build_pack()
    return 0


if __name__ == "__main__":
    sys.exit(main())
