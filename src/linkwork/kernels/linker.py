"""Link object code of kernels to one library for any target, on any machine, with Zig's linkers from PyPI.

The same objects give the same bytes: no dates, paths or identifiers. Only the given functions are exported, and nothing
is imported: C's mathematical functions are linked in (`libm.zig`).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import MissingExtraError
from .targets import Target

LIBM = Path(__file__).with_name("libm.zig")
WASM_STACK = 1 << 20  # bytes; the stack lies below all data, so an overflow traps instead of overwriting data


def link(objects: Sequence[Path], exports: Sequence[str], target: Target, output: Path) -> None:
    """Link objects to a shared library that exports some of their functions.

    Args:
        objects: Object files for the target.
        exports: Names of the functions to export.
        target: The platform.
        output: The file to write; its folder must exist.

    Raises:
        MissingExtraError: If Zig is not installed.
        RuntimeError: If linking fails, for example on a missing or duplicate symbol; the message names it.
    """
    if find_spec("ziglang") is None:
        raise MissingExtraError("ziglang", "build", "linking a pack of kernels")
    with TemporaryDirectory() as folder:
        work, (command, exported) = Path(folder), COMMANDS[target.file](target, exports)
        (work / "libm.o").write_bytes(_libm(target))
        (work / "exports").write_text(exported, encoding="utf-8")
        inputs = "\n".join(f'"{path.resolve().as_posix()}"' for path in objects) + "\nlibm.o\n"
        (work / "inputs").write_text(inputs, encoding="utf-8")
        _zig(work, *command.split(), "@inputs")
        shutil.move(work / target.file, output)


Command = tuple[str, str]  # arguments of a linker, and the contents of its file of exports


def _elf(target: Target, exports: Sequence[str]) -> Command:
    options = "-shared -Bsymbolic --gc-sections --strip-all --build-id=none --hash-style=gnu -z defs -z text -z now"
    names = " ".join(f"{name};" for name in exports)
    return f"ld.lld {options} --version-script=exports -o {target.file}", f"{{ global: {names} local: *; }};"


def _coff(target: Target, exports: Sequence[str]) -> Command:
    options = "-dll -noentry -noimplib -nodefaultlib -opt:ref -timestamp:0 -debug:none -machine:x64"
    return f"lld-link {options} -out:{target.file} @exports", "\n".join(f"-export:{name}" for name in exports)


def _macho(target: Target, _exports: Sequence[str]) -> Command:  # everything that is not hidden is exported
    options = f"--name pack -target {target.zig} -dynamic -fstrip -dead_strip -fno-compiler-rt -fno-ubsan-rt"
    return f"build-lib {options} -install_name @rpath/{target.file} -femit-bin={target.file}", ""


def _wasm(target: Target, exports: Sequence[str]) -> Command:
    options = f"--no-entry --gc-sections --strip-all --stack-first -z stack-size={WASM_STACK}"
    return f"wasm-ld {options} -o {target.file} @exports", "\n".join(f"--export={n}" for n in [*exports, "__heap_base"])


COMMANDS: dict[str, Callable[[Target, Sequence[str]], Command]] = {
    "pack.so": _elf,
    "pack.dll": _coff,
    "pack.dylib": _macho,
    "linkwork.wasm": _wasm,
}


@cache
def _libm(target: Target) -> bytes:
    """Return the mathematical functions as object code for the lowest level: same results at all levels. Takes 3 s."""
    level = target.levels[0]
    cpu = (level.cpu + level.features.replace(",", "")).replace("-", "_")
    options = ["-target", target.zig, "-mcpu", cpu, "-O", "fast", "-fcompiler-rt", "-fstrip", "-fno-builtin"]
    options += [
        "-fno-unwind-tables",
        "-ffunction-sections",
        "-fdata-sections",
        *(["-fPIC"] if target.relocation == "pic" else []),
    ]
    with TemporaryDirectory() as folder:
        _zig(Path(folder), "build-obj", str(LIBM), *options, "--name", "libm", "-femit-bin=libm.o")
        return Path(folder, "libm.o").read_bytes()


def _zig(work: Path, *arguments: str) -> None:
    """Run Zig in a folder; raise a RuntimeError if it fails."""
    command = [sys.executable, "-m", "ziglang", *arguments]
    done = subprocess.run(command, cwd=work, capture_output=True, encoding="utf-8", errors="replace", check=False)
    if done.returncode:
        raise RuntimeError(f"zig {arguments[0]} failed ({done.returncode}): {(done.stderr or done.stdout).strip()}")
