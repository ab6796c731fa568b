"""Build the source archive, check everything that is to be released, and print what to do next.

    python release/check.py dist

The folder has the wheels that `wheels.py` built. The source archive is built twice and must be byte-identical; the
wheel built from it must equal the plain one. twine and check-wheel-contents check the files. The wheel that pip selects
here is installed into separate environments, without extras and with plots, where `smoke.py` runs outside the checkout.
Faults are printed, and the exit code is 1. In a rehearsal, CHANGELOG.md and CITATION.cff need not have the release and
the address of the project yet, nor wheels kernels for GPUs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from address import address

from linkwork import __version__

ROOT = Path(__file__).parents[1]
SMOKE = ROOT / "release" / "smoke.py"
EXTRAS = ("", "[plot]")  # installed for the smoke test
PACKED = "linkwork/kernels/pack/"  # machine code: not in a source archive
CARDS = f"{PACKED}cards.zip"


def main() -> int:
    """Build the archive, check all files, and print the next steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=Path, help="the folder with the wheels, for the source archive too")
    parser.add_argument("--rehearsal", action="store_true", help="check one platform, between releases")
    given = parser.parse_args()
    dist = given.dist.resolve()
    archive = source_archive(dist)
    files = sorted(dist.glob("linkwork-*"))
    faults = [*archive_faults(archive, dist), *tool_faults(files), *smoke_faults(dist)]
    late = [*history_faults(), *address_faults(), *card_faults(files)]
    faults += [] if given.rehearsal else late
    for file in files:
        print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}")
    if faults:
        print("not ready:", *faults, sep="\n  ", file=sys.stderr)
        return 1
    print(rehearsed(late) if given.rehearsal else next_steps(files))
    return 0


def run(*command: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a command without the LINKWORK_ and PYTHON variables of this shell, and return it with its output."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("LINKWORK_", "PYTHON"))}
    said = {"check": False, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "encoding": "utf-8"}
    return subprocess.run([*map(str, command)], cwd=cwd, env=kept, **said)  # type: ignore[call-overload,no-any-return]


def build(kind: str, source: Path, output: Path) -> Path:
    """Build a wheel or a source archive from a folder of sources, and return its file."""
    done = run(sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", output, cwd=source)
    if done.returncode:
        raise RuntimeError(f"{source}: building the {kind} failed.\n{done.stdout}")
    return next(output.glob("linkwork-*"))


def source_archive(dist: Path) -> Path:
    """Build the source archive into a folder."""
    for old in dist.glob("*.tar.gz"):
        old.unlink()
    with TemporaryDirectory() as name:
        made = build("sdist", ROOT, Path(name))
        (dist / made.name).write_bytes(made.read_bytes())
        return dist / made.name


def archive_faults(archive: Path, dist: Path) -> Iterator[str]:
    """Yield faults of the source archive: it is not reproducible, or its wheel differs from the plain one."""
    with TemporaryDirectory() as again, TemporaryDirectory() as sources, TemporaryDirectory() as wheels:
        if build("sdist", ROOT, Path(again)).read_bytes() != archive.read_bytes():
            yield f"{archive.name}: two builds differ"
        with tarfile.open(archive) as opened:
            opened.extractall(sources, filter="data")
        wheel = build("wheel", next(Path(sources).iterdir()), Path(wheels))
        with ZipFile(wheel) as made, ZipFile(next(dist.glob("*-py3-none-any.whl"))) as plain:
            said, wanted = ({name: one.read(name) for name in one.namelist()} for one in (made, plain))
    for name in sorted(said.keys() | wanted.keys()):
        listed = name.startswith(PACKED) or name.endswith("/RECORD")
        if not listed and said.get(name) != wanted.get(name):
            yield f"{archive.name}: {name} in the wheel built from it differs from that in {plain.filename}"


def tool_faults(files: list[Path]) -> Iterator[str]:
    """Yield complaints of twine and check-wheel-contents."""
    wheels = [file for file in files if file.suffix == ".whl"]
    for command in (("twine", "check", "--strict", *files), ("check_wheel_contents", *wheels)):
        done = run(sys.executable, "-m", *command)
        if done.returncode:
            yield done.stdout.strip()


def smoke_faults(dist: Path) -> Iterator[str]:
    """Yield what fails for a user with the wheel that pip selects here, in clean environments."""
    for extra in EXTRAS:
        with TemporaryDirectory() as name:
            home, empty = Path(name, "environment"), Path(name, "empty")
            empty.mkdir()
            venv.create(home, with_pip=True)
            python = Path(sysconfig.get_path("scripts", "venv", vars={"base": str(home)}), "python")
            ours = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            done = run(*ours, "--no-index", "--no-deps", "--find-links", dist, "linkwork", cwd=empty)
            done = done if done.returncode else run(*ours, f"linkwork{extra}", cwd=empty)  # its dependencies
            done = done if done.returncode else run(python, "-I", SMOKE, cwd=empty)
            if done.returncode:
                yield f"pip install linkwork{extra}, then {SMOKE.name}:\n{done.stdout.strip()}"
            else:
                print(done.stdout.strip().splitlines()[-1], extra)


def history_faults(root: Path = ROOT, version: str = __version__) -> Iterator[str]:
    """Yield where CHANGELOG.md and CITATION.cff do not list the version as released."""
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    cited = (root / "CITATION.cff").read_text(encoding="utf-8")
    found = re.search(rf"^## \[{re.escape(version)}\] - (\d{{4}}-\d\d-\d\d)$", changes, re.MULTILINE)
    if found is None:
        yield f"CHANGELOG.md: no section '## [{version}] - DATE'"
        return
    if not changes[: found.start()].rstrip().endswith("## [Unreleased]"):
        yield f"CHANGELOG.md: no empty section '## [Unreleased]' above '## [{version}]'"
    for line in (f"version: {version}", f"date-released: {found[1]}"):
        if line not in cited.splitlines():
            yield f"CITATION.cff: no line '{line}'"


def address_faults(root: Path = ROOT) -> Iterator[str]:
    """Yield a fault if CITATION.cff does not have the address of the project."""
    if address(root) is None:
        yield "CITATION.cff: no line 'repository-code: https://...' that says where the project is published"


def card_faults(files: list[Path]) -> Iterator[str]:
    """Yield the wheels without kernels for GPUs, which users would have to compile."""
    for file in files:
        if file.suffix == ".whl" and CARDS not in ZipFile(file).namelist():
            yield f"{file.name}: no kernels for GPUs; pip install 'numba-cuda[cu13]', then make kernels"


def rehearsed(late: list[str]) -> str:
    """Return what is missing for a release after a rehearsal without faults."""
    steps = [*late, "make release, which builds the wheels of all platforms"]
    return "\n  ".join((f"linkwork {__version__} passes all checks on this platform. For a release:", *steps))


def next_steps(files: list[Path]) -> str:
    """Return the next steps."""
    dirty = run("git", "status", "--porcelain").stdout.strip()
    first = "commit what `git status` shows, and make the release again" if dirty else "the checkout is clean"
    return "\n".join(
        (
            f"linkwork {__version__} is ready, {len(files)} files. Next:",
            f"  1. {first};",
            f"  2. git tag -a v{__version__} -m 'linkwork {__version__}' && git push origin v{__version__}",
            "     which builds all wheels again, attests them and publishes them (.github/workflows/release.yml);",
            "  3. compare the checksums above with those of the published files: same sources, same bytes.",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
