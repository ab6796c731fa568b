"""Check that every extra can be installed from wheels alone, on all platforms and versions of Python: `make resolve`.

uv resolves the dependencies from the package index, also for other platforms; nothing is installed. `GAPS` lists known
gaps, and `docs/install.md` tells users about them. A new gap is a fault, and so is a row that is no longer needed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
GLIBC, ARM, MUSL = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "x86_64-unknown-linux-musl"
APPLE, INTEL, WINDOWS = "aarch64-apple-darwin", "x86_64-apple-darwin", "x86_64-pc-windows-msvc"
PLATFORMS = (GLIBC, ARM, MUSL, APPLE, INTEL, WINDOWS)
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
EVERY = frozenset(VERSIONS)
OWN = {"bench", "fuzz", "release"}  # for developers' machines: not checked
ON_MUSL = ("all", "collision", "cuda", "demo", "dev", "docs", "formats", "jit", "build")
ON_MUSL += ("jax", "qp", "ray", "rerun", "torch", "video", "zarr")
GAPS: dict[tuple[str, str], frozenset[str]] = {  # versions of Python that lack a wheel, by platform and extra
    **dict.fromkeys(((MUSL, extra) for extra in ON_MUSL), EVERY),
    (INTEL, "torch"): EVERY,
    (INTEL, "jax"): frozenset({"3.14"}),
}


def gap(platform: str, version: str, extra: str) -> str:
    """Return why an extra cannot be installed, in one line; empty if it can."""
    words = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "compile",
        "--quiet",
        "--no-header",
        "--only-binary",
        ":all:",
        str(PROJECT),
    ]
    words += ["--extra", extra, "--python-platform", platform, "--python-version", version]
    run = subprocess.run(words, capture_output=True, encoding="utf-8", env={**os.environ, "UV_NO_PROGRESS": "1"})
    return "" if run.returncode == 0 else " ".join(run.stderr.split())[:200] or "uv failed"


def main() -> int:
    """Resolve everything and print what differs from the known gaps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extras", nargs="*", help="by default all but bench and fuzz")
    given = parser.parse_args()
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    cases = [*product(PLATFORMS, VERSIONS, given.extras or [name for name in extras if name not in OWN])]
    faults = 0
    with ThreadPoolExecutor(4) as pool:
        for (platform, version, extra), why in zip(cases, pool.map(gap, *zip(*cases, strict=True)), strict=True):
            known = version in GAPS.get((platform, extra), ())
            if bool(why) != known:
                faults += 1
                print(f"{extra} on {platform}, Python {version}: {why or 'can be installed now'}", flush=True)
    print(f"{len(cases)} cases, {faults} that differ from what is known")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
