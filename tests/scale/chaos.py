"""Chaos test of datasets: runs that are killed, damaged, repaired and resumed at random end like a clean run.

Every run is a separate process, killed at a random moment (SIGKILL): while it starts, plans, solves, writes or ends.
Between runs, parts, records and inputs are damaged and repaired. A run that refuses to continue must give a reason. The
suite runs a few rounds without processes; this script runs any number:

    python tests/scale/chaos.py --rounds 200 [--seed 0] [--rows 4000]
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import linkwork as lw

LINKS, BLOCK = [15, 10, 5], 200
RUN = """
import sys
import linkwork as lw
try:
    result = lw.solve_dataset(lw.models.planar([15, 10, 5]), "tip", sys.argv[1], sys.argv[2],
                              block_rows=int(sys.argv[3]), workers=2, resume=True)
except lw.errors.LinkworkError as error:
    sys.exit(f"refused: {error}")
sys.exit(0 if result.complete else f"incomplete: {result.missing[0].reason if result.missing else result.unread}")
"""


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of the files below a folder, without the lock of a killed run."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name not in ("_lock", "_at_work"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


# Damage to a file


def flip(path: Path, rng: random.Random) -> None:
    """Flip one bit."""
    data = bytearray(path.read_bytes())
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)


def zero(path: Path, rng: random.Random) -> None:
    """Zero 64 bytes, like a bad sector."""
    data = bytearray(path.read_bytes())
    at = rng.randrange(len(data) // 2 + 1)
    data[at : at + 64] = bytes(len(data[at : at + 64]))
    path.write_bytes(data)


def cut(path: Path, rng: random.Random) -> None:
    """Truncate the file."""
    path.write_bytes(path.read_bytes()[: rng.randrange(100)])


def swap(path: Path, rng: random.Random) -> None:
    """Replace the content by that of another file."""
    others = sorted(other for other in path.parent.iterdir() if other.is_file())
    path.write_bytes(rng.choice(others).read_bytes())


def lose(path: Path, _rng: random.Random) -> None:
    """Delete the file."""
    path.unlink()


DAMAGES = (flip, zero, cut, swap, lose)


class Chaos:
    """A dataset, a clean run over it, and a run that is damaged.

    Args:
        folder: Folder for all files.
        rows: Number of goals.
        seed: Seed of the damage.
    """

    def __init__(self, folder: Path, rows: int, seed: int) -> None:
        self.goals, self.out, self.rng, self.seen = folder / "goals", folder / "out", random.Random(seed), Counter()
        self.goals.mkdir()
        draws = np.random.default_rng(seed).uniform(-20.0, 20.0, (4, 2, rows // 4))
        for k, (x, y) in enumerate(draws):
            if k < 3:
                pq.write_table(pa.table({"x": x, "y": y}), self.goals / f"{k}.parquet", row_group_size=3 * BLOCK // 2)
            else:
                lines = [f"{a!r},{b!r}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
                (self.goals / f"{k}.csv").write_text("\n".join(["x,y", *lines, ""]), encoding="utf-8")
        self.originals = contents(self.goals)
        for out in ("clean", "again"):  # the first may compile kernels
            began = time.perf_counter()
            if self.run(folder / out) != "complete":
                raise SystemExit("the clean run is not complete")
            self.longest = 1.1 * (time.perf_counter() - began)
        self.clean = contents(folder / "clean")

    def run(self, out: Path, kill_after: float | None = None) -> str:
        """Run to the end or until it is killed; return how it ended."""
        words = [sys.executable, "-c", RUN, str(self.goals), str(out), str(BLOCK)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
        try:
            _, said = process.communicate(timeout=kill_after)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return "killed"
        if process.returncode == 0:
            return "complete"
        end = said.strip().splitlines()[-1] if said.strip() else "silence"
        if not end.startswith(("refused: ", "incomplete: ")):
            raise SystemExit(f"a run ended without a reason:\n{said}")
        return end

    def harm(self) -> None:
        """Damage some outputs and inputs, and repair some inputs."""
        if self.rng.random() < 0.3:
            shutil.rmtree(self.out, ignore_errors=True)
            self.seen["begun anew"] += 1
        written = sorted(path for path in self.out.rglob("*") if path.is_file()) if self.out.exists() else []
        for path in self.rng.sample(written, min(len(written), self.rng.randrange(3))):
            if path.exists():
                damage = self.rng.choice(DAMAGES)
                damage(path, self.rng)
                self.seen[f"{damage.__name__} {'part' if path.name.startswith('part-') else path.name[:14]}"] += 1
        name = self.rng.choice(sorted(self.originals))
        if self.rng.random() < 0.2:
            flip(self.goals / name, self.rng)
            self.seen["input flipped"] += 1
        if self.rng.random() < 0.6:
            self.mend()

    def mend(self) -> None:
        """Restore the inputs."""
        for name, data in self.originals.items():
            (self.goals / name).write_bytes(data)

    def end(self) -> list[str]:
        """Restore the inputs, run to the end, and return the names of files that differ from the clean run."""
        self.mend()
        ended = self.run(self.out)
        if ended.startswith("refused: "):  # the manifest is damaged, or there is a stray file: start again
            self.seen["refused at the end, begun anew"] += 1
            shutil.rmtree(self.out)
            ended = self.run(self.out)
        if ended != "complete":
            raise SystemExit(f"a run over mended goals is not complete: {ended}")
        found = contents(self.out)
        wrong = [name for name in found.keys() | self.clean.keys() if found.get(name) != self.clean.get(name)]
        return wrong + list(lw.verify_dataset(self.out).faults)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--every", type=int, default=5, help="rounds after which the end is compared with a clean run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        chaos = Chaos(Path(name), given.rows, given.seed)
        print(f"a clean run takes {chaos.longest:.2f} s and writes {len(chaos.clean)} files", flush=True)
        for number in range(1, given.rounds + 1):
            chaos.harm()
            early = chaos.rng.random() < 0.2  # the others have started up when they are killed
            moment = chaos.longest * chaos.rng.uniform(0.0 if early else 0.4, 1.0)
            ended = chaos.run(chaos.out, kill_after=moment)
            chaos.seen[f"round {ended.partition(':')[0]}"] += 1
            if number % given.every == 0 or number == given.rounds:
                if wrong := chaos.end():
                    raise SystemExit(f"round {number}, seed {given.seed}: different from the clean run: {wrong}")
                chaos.seen["end compared: identical"] += 1
                print(f"{number} rounds: {dict(sorted(chaos.seen.items()))}", flush=True)


if __name__ == "__main__":
    main()
