"""``python -m linkwork.kernels``: build packs of machine code for this machine, web pages, all platforms or GPUs."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import DeviceError, MissingExtraError, PageError
from .build import build
from .cards import require_library
from .pack import HOME, Pack, PackError
from .targets import TARGETS, Target, host
from .web import WEB_HOME, web_code

CARDS = "cuda"  # not a target: one file for all platforms
TOLD_BY = {"v2": "sse4.2", "v3": "avx2", "v4": "avx512vl"}  # a CPU feature that identifies each instruction set


def main() -> int:
    """Build the packs that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m linkwork.kernels", description=__doc__)
    parser.add_argument(
        "targets", nargs="*", help=f"some of {', '.join(TARGETS)}, by default this machine's and wasm; or just {CARDS}"
    )
    parser.add_argument("-o", "--output", type=Path, help="output folder; by default beside the kernels")
    parser.add_argument("--all", action="store_true", help="all targets")
    parser.add_argument(
        "--levels",
        nargs="*",
        help="instruction sets, such as v3, or host for the best of this machine; all by default",
    )
    parser.add_argument("--apart", action="store_true", help="one process per function, for reproducible bytes")
    parser.add_argument("--if-needed", action="store_true", help="skip packs beside the kernels that are up to date")
    parser.add_argument("--take", type=Path, metavar="FOLDER", help="take the packs that --output has built elsewhere")
    given = parser.parse_args()
    if given.targets == [CARDS]:
        return build_for_cards(given.output or HOME)
    unknown = [name for name in given.targets if name not in TARGETS]
    own = host()
    if unknown:
        parser.error(f"{unknown[0]} is not a target; targets are {', '.join(TARGETS)}, or {CARDS} alone.")
    if given.levels == ["host"] and own is not None:
        given.levels = [best_level(own)]
    homes = {"wasm": WEB_HOME} | ({own.name: HOME} if own else {})
    if given.take is not None:
        return take(given.take, homes)
    names = [*TARGETS] if given.all else given.targets or [*homes]
    if given.output is None and not set(names) <= set(homes):
        parser.error("a pack for another machine needs --output.")
    if given.if_needed:
        names = [name for name in names if (web_needed() if name == "wasm" else needed(given.levels))]
    if not names:
        return 0
    began = time.perf_counter()
    output = given.output or HOME.with_name("pack.building")
    try:
        made = build([TARGETS[name] for name in names], output, levels=given.levels, apart=given.apart, progress=show)
    except ImportError as error:
        print(f"no pack was built, so kernels are compiled when first called: {error}", file=sys.stderr)
        return 1
    if given.output is None:
        made = {name: put(folder, homes[name]) for name, folder in made.items()}
        shutil.rmtree(output)
    for name, folder in made.items():
        size = (folder / TARGETS[name].file).stat().st_size
        print(f"{name}: {folder / TARGETS[name].file}, {size / 1e6:.1f} MB")
    print(f"built in {time.perf_counter() - began:.0f} s")
    return 0


def put(built: Path, home: Path) -> Path:
    """Move the files of a pack to the folder it is loaded from; other files there are kept."""
    home.mkdir(parents=True, exist_ok=True)
    for path in built.iterdir():
        path.replace(home / path.name)
    return home


def take(folder: Path, homes: dict[str, Path]) -> int:
    """Copy the packs of this machine and of web pages to where they are loaded from; return the exit status."""
    missing = [name for name in homes if not (folder / name / TARGETS[name].file).is_file()]
    if missing:
        print(f"no packs were taken: {folder} has none for {' and '.join(missing)}.", file=sys.stderr)
        return 1
    for name, home in homes.items():
        home.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=home) as draft:  # moved from there in one step: it is the same disk
            put(Path(shutil.copytree(folder / name, Path(draft) / name)), home)
        print(f"{name}: {home / TARGETS[name].file}")
    return 0


def build_for_cards(folder: Path) -> int:
    """Build the GPU kernels for any chain and any GPU into a folder; return the exit status, 0 on success."""
    began = time.perf_counter()
    try:
        require_library()
        from .cuda_pack import build as build_cards  # imports numba-cuda

        path = build_cards(folder)
    except (PackError, DeviceError, MissingExtraError) as error:
        print(f"no kernels for GPUs were built: {error}", file=sys.stderr)
        return 1
    print(f"{CARDS}: {path}, {path.stat().st_size / 1e6:.1f} MB")
    print(f"built in {time.perf_counter() - began:.0f} s")
    return 0


def best_level(target: Target) -> str:
    """Return the name of the highest instruction set of this machine."""
    import llvmlite.binding as llvm

    there = llvm.get_host_cpu_features()
    return [level.name for level in target.levels if there.get(TOLD_BY.get(level.name, ""), True)][-1]


def needed(levels: list[str] | None) -> bool:
    """Return whether the pack beside the kernels is missing, out of date or lacks some of the levels."""
    if os.environ.get("LINKWORK_KERNELS") == "jit":
        return False
    try:
        there, own = Pack(), host()
    except PackError:
        return True
    wanted = levels or [level.name for level in own.levels] if own else []
    return not set(wanted) <= set(there.listing["levels"])


def web_needed() -> bool:
    """Return whether the machine code for web pages is missing or out of date."""
    try:
        web_code()
    except PageError:
        return True
    return False


def show(count: int, total: int, name: str) -> None:
    """Show progress if standard error is a terminal."""
    if sys.stderr.isatty():
        print(f"\rcompiled {count} of {total}: {name:24}", end="\n" if count == total else "", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
