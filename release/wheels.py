"""Build and check the wheels: one for every platform with its pack of kernels, and a plain one for all others.

    python release/wheels.py dist --packs build/packs

uses the packs that ``python -m linkwork.kernels --all --output build/packs`` made. Without ``--packs``, it uses the
pack next to the kernels: one wheel for this platform, and the plain one. Every wheel is built twice, and both builds
must be byte-identical. Faults are printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from linkwork.kernels.calling import HEADS
from linkwork.kernels.inspection import inspect
from linkwork.kernels.pack import HOME
from linkwork.kernels.sources import source_hash
from linkwork.kernels.targets import TARGETS, Target, host
from linkwork.kernels.web import WEB_HOME

ROOT = Path(__file__).parents[1]
PACK = "linkwork/kernels/pack"
PAGES = {f"{PACK}/web/linkwork.wasm", f"{PACK}/web/pack.json", "linkwork/draw/web/linkwork.js"}
LARGEST = 9_000_000  # bytes of a wheel, which should be a light download
PLATFORMS: tuple[Target | None, ...] = (None, *(target for target in TARGETS.values() if target.tag))


def main() -> int:
    """Build and check all wheels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="the folder for the wheels")
    parser.add_argument("--packs", type=Path, help="folder with a pack for each target; default: next to the kernels")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as name:
        packs, platforms = given.packs, PLATFORMS
        if packs is None:
            packs, platforms = Path(name), (None, copy_own(Path(name)))
        return make(packs, given.output, platforms)


def make(packs: Path, output: Path, platforms: Sequence[Target | None]) -> int:
    """Build the wheels of platforms twice and check them."""
    faults: list[str] = []
    wheels: list[Path] = []
    for target in platforms:
        with TemporaryDirectory() as first, TemporaryDirectory() as second:
            wheel, again = build(packs, Path(first), target), build(packs, Path(second), target)
            if wheel.read_bytes() != again.read_bytes():
                faults.append(f"{wheel.name}: two builds differ")
            wheels.append(Path(shutil.copy(wheel, output)))
    for wheel, target in zip(wheels, platforms, strict=True):
        print(f"{wheel.stat().st_size / 1e6:5.2f} MB  {wheel.name}")
        faults += [f"{wheel.name}: {fault}" for fault in wheel_faults(wheel, target, plain=wheels[0])]
    twine = subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *map(str, wheels)], check=False)
    print(*faults, sep="\n")
    return 1 if faults or twine.returncode else 0


def copy_own(packs: Path) -> Target:
    """Copy the packs next to the kernels into a folder as for all targets, and return the target of this machine.

    Raises:
        FileNotFoundError: If there is no pack, or this platform has none.
    """
    target = host()
    if target is None:
        raise FileNotFoundError("there are no packs for this platform; use the plain wheel.")
    for home, one in ((HOME, target), (WEB_HOME, TARGETS["wasm"])):
        (packs / one.name).mkdir()
        for name in (one.file, "pack.json"):
            shutil.copy(home / name, packs / one.name)
    if (HOME / "cards.zip").exists():
        shutil.copy(HOME / "cards.zip", packs)
    return target


def build(packs: Path, output: Path, target: Target | None) -> Path:
    """Build the wheel for a target, or for any platform, and return its file."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LINKWORK_")}
    cards = packs / "cards.zip"  # for GPUs; building it needs CUDA's compiler
    if cards.exists():
        environment["LINKWORK_CARDS"] = str(cards.resolve())
    environment["LINKWORK_WEB"] = str((packs / "wasm").resolve())
    if target is not None:
        environment |= {"LINKWORK_PACK": str((packs / target.name).resolve()), "LINKWORK_TAG": target.tag}
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(output)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return next(output.glob("*.whl"))


def wheel_faults(wheel: Path, target: Target | None, plain: Path) -> Iterator[str]:
    """Yield faults of the wheel of a target; `plain` is the wheel for any platform."""
    added = {f"{PACK}/{target.file}", f"{PACK}/pack.json"} if target else set()
    tags = [f"py3-none-{tag}" for tag in target.tag.split(".")] if target else ["py3-none-any"]
    if wheel.stat().st_size > LARGEST:
        yield f"has {wheel.stat().st_size} bytes, more than {LARGEST}"
    with ZipFile(wheel) as archive, ZipFile(plain) as other:
        names, info = set(archive.namelist()), next(n for n in other.namelist() if n.endswith("/METADATA"))
        yield from (f"has no {name}" for name in sorted((set(other.namelist()) | added | PAGES) - names))
        yield from (f"has {name} too" for name in sorted(names - set(other.namelist()) - added))
        if archive.read(info) != other.read(info):
            yield "has different metadata"
        described = archive.read(info.replace("METADATA", "WHEEL")).decode().splitlines()
        if sorted(line[5:] for line in described if line.startswith("Tag: ")) != sorted(tags):
            yield f"is not tagged {' '.join(tags)}"
        if f"Root-Is-Purelib: {str(target is None).lower()}" not in described:
            yield "has the wrong Root-Is-Purelib"
        yield from record_faults(archive, info.replace("METADATA", "RECORD"))
        if target is not None and added <= names:
            yield from pack_faults(archive, target)


def record_faults(archive: ZipFile, record: str) -> Iterator[str]:
    """Yield files of a wheel that differ from its record."""
    rows = {name: digest for name, digest, _ in csv.reader(io.StringIO(archive.read(record).decode()))}
    for name in archive.namelist():
        digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b"=").decode()
        if name != record and rows.get(name) != f"sha256={digest}":
            yield f"has a {name} that differs from its record"


def pack_faults(archive: ZipFile, target: Target) -> Iterator[str]:
    """Yield faults of the pack in a wheel."""
    with TemporaryDirectory() as name:
        archive.extractall(name)
        kernels = Path(name) / "linkwork/kernels"
        listing, library = (
            json.loads((kernels / "pack/pack.json").read_text(encoding="utf-8")),
            kernels / "pack" / target.file,
        )
        content = library.read_bytes()
        if (listing["size"], listing["crc32"]) != (len(content), zlib.crc32(content)):
            yield "has a library that differs from its listing"
        if listing["sources"] != source_hash(kernels):
            yield "has a pack built from other sources"
        if (listing["target"], listing["levels"]) != (target.name, levels := [level.name for level in target.levels]):
            yield (
                f"has a pack for {listing['target']}, {' '.join(listing['levels'])}, not for {target.name}, "
                f"{' '.join(levels)}: build it with python -m linkwork.kernels"
            )
            return
        symbols = {symbol for function in listing["functions"].values() for symbol in function["symbols"]}
        symbols |= {f"call_{head}" for head in HEADS}
        exports = [target.symbol(symbol, level) for symbol in symbols for level in target.levels]
        yield from (f"{target.file} {fault}" for fault in inspect(library, exports, target))


if __name__ == "__main__":
    sys.exit(main())
