"""What of the kernels ran: ``python tests/kernel_coverage.py build/kernels.coverage``, after `make kernel-coverage`.

Lines are counted in functions that become machine code, marked ``@kernel``, ``@inner`` and ``@part``; the rest of their
modules is Python, and counted by `make coverage`. Functions that never ran are named.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import coverage

KERNELS = Path(__file__).parents[1] / "src" / "linkwork" / "kernels"
MARKS = ("kernel", "inner", "part")
LEFT_OUT = ("calling.py", "processor.py")  # addresses and the processor: nothing that Python could run


def functions(path: Path) -> Iterator[tuple[str, set[int]]]:
    """Yield the functions of a module that become machine code, with the lines of their statements."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef) and any(_mark(one) in MARKS for one in node.decorator_list):
            inside = (one for statement in node.body for one in ast.walk(statement) if isinstance(one, ast.stmt))
            documented = node.body[0] if ast.get_docstring(node) is not None else None
            yield node.name, {one.lineno for one in inside if one is not documented}


def _mark(decorator: ast.expr) -> str:
    decorator = decorator.func if isinstance(decorator, ast.Call) else decorator
    return decorator.id if isinstance(decorator, ast.Name) else ""


def main() -> None:
    data = coverage.CoverageData(sys.argv[1])
    data.read()
    ran_in = {Path(file).resolve(): set(data.lines(file) or ()) for file in data.measured_files()}
    total = covered = 0
    idle: list[str] = []
    for path in sorted(KERNELS.rglob("*.py")):
        found = list(functions(path))
        if not found or path.name.startswith("cuda") or path.name in LEFT_OUT:
            continue
        ran = ran_in.get(path.resolve(), set())
        lines = set[int]().union(*(lines for _, lines in found))
        never = [name for name, lines in found if not lines & ran]
        total, covered = total + len(lines), covered + len(lines & ran)
        name = path.relative_to(KERNELS).as_posix()
        print(f"{name:42} {len(lines & ran):5} of {len(lines):5} lines {len(lines & ran) / len(lines):6.1%}")
        idle += [f"{name}: {one}" for one in never]
    print(f"{'all':42} {covered:5} of {total:5} lines {covered / total:6.1%}")
    print(f"{len(idle)} functions never ran", *idle, sep="\n  ")


if __name__ == "__main__":
    main()
