"""Makes the source archive, checks everything that is to be released, and says what to do next.

    python release/check.py dist

`wheels.py` has built the wheels that lie there. The source archive is built twice, and both must be the same bytes; the
wheel that is built from it must be the plain one. twine and check-wheel-contents look at the files. The wheel that pip
takes here is installed into environments of its own, bare and with pictures, where `smoke.py` runs outside the
checkout. What is wrong is said, and the exit code is 1. In a rehearsal, the version need not be written down as
released yet, nor the address at which the project is published.
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
EXTRAS = ("", "[plot]")  # what the smoke test runs with
PACKED = "linkwork/kernels/pack/"  # machine code: not in a source archive


def main() -> int:
    """Make the archive, check all files, and say what is next."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=Path, help="the folder with the wheels; the source archive is put there")
    parser.add_argument("--rehearsal", action="store_true", help="for one platform, between releases")
    given = parser.parse_args()
    dist = given.dist.resolve()
    archive = source_archive(dist)
    files = sorted(dist.glob("linkwork-*"))
    faults = [*archive_faults(archive, dist), *tool_faults(files), *smoke_faults(dist)]
    late = [*history_faults(), *address_faults()]
    faults += [] if given.rehearsal else late
    for file in files:
        print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}")
    if faults:
        print("not ready:", *faults, sep="\n  ", file=sys.stderr)
        return 1
    print(rehearsed(late) if given.rehearsal else next_steps(files))
    return 0


def run(*command: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a command without what this shell has set for linkwork or Python, and return what it said."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("LINKWORK_", "PYTHON"))}
    said = {"check": False, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "encoding": "utf-8"}
    return subprocess.run([*map(str, command)], cwd=cwd, env=kept, **said)  # type: ignore[call-overload,no-any-return]


def build(kind: str, source: Path, output: Path) -> Path:
    """Build a wheel or a source archive from a folder of sources, and return its file."""
    done = run(sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", output, cwd=source)
    if done.returncode:
        raise RuntimeError(f"{source}: no {kind} could be built.\n{done.stdout}")
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
    """Yield what is wrong with the source archive: other bytes each time, or another wheel than the plain one."""
    with TemporaryDirectory() as again, TemporaryDirectory() as sources, TemporaryDirectory() as wheels:
        if build("sdist", ROOT, Path(again)).read_bytes() != archive.read_bytes():
            yield f"{archive.name}: built twice, it is not the same"
        with tarfile.open(archive) as opened:
            opened.extractall(sources, filter="data")
        wheel = build("wheel", next(Path(sources).iterdir()), Path(wheels))
        with ZipFile(wheel) as made, ZipFile(next(dist.glob("*-py3-none-any.whl"))) as plain:
            said, wanted = ({name: one.read(name) for name in one.namelist()} for one in (made, plain))
    for name in sorted(said.keys() | wanted.keys()):
        listed = name.startswith(PACKED) or name.endswith("/RECORD")
        if not listed and said.get(name) != wanted.get(name):
            yield f"{archive.name}: the wheel that is built from it has another {name} than {plain.filename}"


def tool_faults(files: list[Path]) -> Iterator[str]:
    """Yield what twine and check-wheel-contents complain about."""
    wheels = [file for file in files if file.suffix == ".whl"]
    for command in (("twine", "check", "--strict", *files), ("check_wheel_contents", *wheels)):
        done = run(sys.executable, "-m", *command)
        if done.returncode:
            yield done.stdout.strip()


def smoke_faults(dist: Path) -> Iterator[str]:
    """Yield what fails for a user: the wheel that pip takes here, in environments with nothing else."""
    for extra in EXTRAS:
        with TemporaryDirectory() as name:
            home, empty = Path(name, "environment"), Path(name, "empty")
            empty.mkdir()
            venv.create(home, with_pip=True)
            python = Path(sysconfig.get_path("scripts", "venv", vars={"base": str(home)}), "python")
            ours = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            done = run(*ours, "--no-index", "--no-deps", "--find-links", dist, "linkwork", cwd=empty)
            done = done if done.returncode else run(*ours, f"linkwork{extra}", cwd=empty)  # what it requires
            done = done if done.returncode else run(python, "-I", SMOKE, cwd=empty)
            if done.returncode:
                yield f"pip install linkwork{extra}, then {SMOKE.name}:\n{done.stdout.strip()}"
            else:
                print(done.stdout.strip().splitlines()[-1], extra)


def history_faults(root: Path = ROOT, version: str = __version__) -> Iterator[str]:
    """Yield where the version is not yet written down as released: in CHANGELOG.md and CITATION.cff."""
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    cited = (root / "CITATION.cff").read_text(encoding="utf-8")
    found = re.search(rf"^## \[{re.escape(version)}\] - (\d{{4}}-\d\d-\d\d)$", changes, re.MULTILINE)
    if found is None:
        yield f"CHANGELOG.md: no section '## [{version}] - DATE'"
        return
    if not changes[: found.start()].rstrip().endswith("## [Unreleased]"):
        yield f"CHANGELOG.md: what is above '## [{version}]' is not an empty '## [Unreleased]'"
    for line in (f"version: {version}", f"date-released: {found[1]}"):
        if line not in cited.splitlines():
            yield f"CITATION.cff: no line '{line}'"


def address_faults(root: Path = ROOT) -> Iterator[str]:
    """Yield that nobody could find the project, where its address is not written down yet."""
    if address(root) is None:
        yield "CITATION.cff: no line 'repository-code: https://...' that says where the project is published"


def rehearsed(late: list[str]) -> str:
    """Return what is missing for a release when one platform is well."""
    steps = [*late, "make release, which builds the wheels of all platforms"]
    return "\n  ".join((f"linkwork {__version__} is well on this platform. For a release:", *steps))


def next_steps(files: list[Path]) -> str:
    """Return what a person does now."""
    dirty = run("git", "status", "--porcelain").stdout.strip()
    first = "commit what `git status` shows, and make the release again" if dirty else "the checkout is clean"
    return "\n".join(
        (
            f"linkwork {__version__} is ready, {len(files)} files. Next:",
            f"  1. {first};",
            f"  2. git tag -a v{__version__} -m 'linkwork {__version__}' && git push origin v{__version__}",
            "     which builds all wheels again, attests them and publishes them (.github/workflows/release.yml);",
            "  3. compare the check sums above with those of the published files: same sources, same bytes.",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
