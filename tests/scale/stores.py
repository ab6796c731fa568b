"""Datasets in cloud stores (S3, Azure, Google), each emulated by a server of its protocol on this machine.

Covers what producers of data meet: goals in nested folders of a bucket, answers in another, a run that is killed and
resumed, two concurrent runs, a damaged part, a missing bucket, no permission. Successful runs must be byte-identical to
a run in a local folder; all others must be refused with a message. Run it by hand, since the servers are large:

    pip install 'moto[server]' s3fs adlfs gcsfs gcp-storage-emulator && npm install --prefix FOLDER azurite
    python tests/scale/stores.py s3 gs az [--azurite FOLDER]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import linkwork as lw
from linkwork.errors import LinkworkError

ARM = lw.models.planar([15, 10, 5])
ROWS, BLOCK = 4000, 100
KEEP = {"keep": ["name", "day"]}
RUN = """
import sys
import linkwork as lw
try:
    result = lw.solve_dataset(lw.models.planar([15, 10, 5]), "tip", sys.argv[1], sys.argv[2], block_rows=100,
                              workers=2, resume=True, keep=["name", "day"])
except lw.errors.LinkworkError as error:
    sys.exit(f"refused: {error}")
sys.exit(0 if result.complete else "incomplete")
"""
AZURITE = (  # Azurite's default account, which is public
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsu"
    "Fq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;BlobEndpoint=http://127.0.0.1:{port}/devstoreaccount1;"
)


# Servers


def free_port() -> int:
    """Return an unused port."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.contextmanager
def served(command: list[str], port: int, environment: dict[str, str] | None = None) -> Iterator[None]:
    """Run a server during a block."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        for _ in range(600):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def s3(_options: argparse.Namespace) -> Iterator[str]:
    """Serve S3 with moto."""
    port = free_port()
    os.environ |= {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "test"}
    os.environ |= {"AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
    with served([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], port):
        yield "s3"


@contextlib.contextmanager
def gs(_options: argparse.Namespace) -> Iterator[str]:
    """Serve Google's store with its emulator in Python."""
    port = free_port()
    os.environ |= {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}", "GOOGLE_CLOUD_PROJECT": "test"}
    code = "from gcp_storage_emulator.__main__ import main; main()"
    with served([sys.executable, "-c", code, "start", "--in-memory", "--host=127.0.0.1", f"--port={port}"], port):
        yield "gs"


@contextlib.contextmanager
def az(options: argparse.Namespace) -> Iterator[str]:
    """Serve Azure's blobs with Azurite."""
    port, folder = free_port(), options.azurite
    os.environ["AZURE_STORAGE_CONNECTION_STRING"] = AZURITE.format(port=port)
    server = ["node", f"{folder}/node_modules/azurite/dist/src/blob/main.js", "--inMemoryPersistence"]
    with served([*server, "--skipApiVersionCheck", "--blobPort", str(port), "--silent"], port):
        yield "az"


SERVERS = {"s3": s3, "gs": gs, "az": az}


# The trials


class Trials:
    """The trials of one store.

    Args:
        scheme: Scheme of its URLs.
        folder: A local folder with goals and a clean run.
    """

    def __init__(self, scheme: str, folder: Path) -> None:
        import fsspec

        self.scheme, self.folder = scheme, folder
        self.system = fsspec.filesystem(scheme)
        for bucket in ("goals", "answers"):
            self.system.mkdir(bucket)
        self.goals, self.out = f"{scheme}://goals/all", f"{scheme}://answers/out"
        for path in (folder / "goals").rglob("*.*"):
            name = path.relative_to(folder / "goals").as_posix()
            self.system.pipe_file(f"goals/all/{name}", path.read_bytes())
        self.clean = contents(folder / "clean")

    def stored(self, where: str) -> dict[str, bytes]:
        """Return the files in a folder of the store."""
        self.system.invalidate_cache()
        path = where.partition("://")[2]
        found = {name[len(path) + 1 :]: self.system.cat_file(name) for name in self.system.find(path)}
        return {name: data for name, data in found.items() if name not in ("_lock", "_at_work")}

    def run(self, *words: str) -> subprocess.Popen[str]:
        """Start a run in a separate process."""
        return subprocess.Popen(
            [sys.executable, "-c", RUN, *words], stderr=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def check_same(self, where: str) -> None:
        """Raise unless a folder of the store equals the clean run."""
        found = self.stored(where)
        differ = [name for name in self.clean.keys() | found.keys() if self.clean.get(name) != found.get(name)]
        if differ:
            raise AssertionError(f"{where} differs from a local run in {sorted(differ)[:5]}")

    def written(self) -> str:
        result = lw.solve_dataset(ARM, "tip", self.goals, self.out, block_rows=BLOCK, workers=2, **KEEP)
        if not result.complete:
            raise AssertionError(result)
        self.check_same(self.out)
        return "as in a local folder"

    def verified(self) -> str:
        if not lw.verify_dataset(self.out):
            raise AssertionError("a good dataset is called damaged")
        again = lw.solve_dataset(ARM, "tip", self.goals, self.out, block_rows=BLOCK, workers=2, **KEEP, resume=True)
        if again.resumed != ROWS:
            raise AssertionError(f"{again.resumed} rows resumed")
        return f"{ROWS} rows kept"

    def described(self) -> str:
        from linkwork.scale.description import describe_dataset

        found = describe_dataset(self.out)
        here = describe_dataset(self.folder / "clean")
        if str(found).replace(self.out, "") != str(here).replace(str(self.folder / "clean"), ""):
            raise AssertionError(f"{found}\n{here}")
        return "as a local one"

    def damaged(self) -> str:
        part = next(name for name in sorted(self.clean) if name.endswith(".parquet"))
        name = f"answers/out/{part}"
        data = bytearray(self.system.cat_file(name))
        data[len(data) // 2] ^= 1
        self.system.pipe_file(name, bytes(data))
        if lw.verify_dataset(self.out):
            raise AssertionError("a flipped bit is not found")
        lw.solve_dataset(ARM, "tip", self.goals, self.out, block_rows=BLOCK, workers=2, **KEEP, resume=True)
        self.check_same(self.out)
        return "found, and made again"

    def killed(self) -> str:
        where, kills = f"{self.scheme}://answers/killed", 0
        for round_ in range(12):
            process = self.run(self.goals, where)
            time.sleep(2.0 + 0.4 * round_)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.communicate()
            if process.returncode not in (0, -signal.SIGKILL):
                break
        process = self.run(self.goals, where)
        said = process.communicate()[1]
        if process.returncode:
            raise AssertionError(said)
        self.check_same(where)
        return f"{kills} kills, then as a clean run"

    def two_at_once(self) -> str:
        where = f"{self.scheme}://answers/two"
        both = [self.run(self.goals, where) for _ in range(2)]
        said = [process.communicate()[1].strip().splitlines()[-1:] for process in both]
        codes = [process.returncode for process in both]
        if 0 not in codes:
            raise AssertionError(said)
        self.check_same(where)
        wrong = [line for line, code in zip(said, codes, strict=True) if code and not line[0].startswith("refused: ")]
        if wrong:
            raise AssertionError(wrong)
        return f"exit {codes}: {[line[0] for line, code in zip(said, codes, strict=True) if code]}"

    def no_bucket(self) -> str:
        return refused(
            lambda: lw.solve_dataset(ARM, "tip", self.goals, f"{self.scheme}://no-such-bucket/out", **KEEP),
            lambda: lw.solve_dataset(ARM, "tip", f"{self.scheme}://no-such-bucket/goals", self.folder / "none"),
            lambda: lw.verify_dataset(f"{self.scheme}://answers/nothing-here"),
        )

    def no_permission(self) -> str:
        """Use unknown credentials; Google's emulator does not check any."""
        if self.scheme == "gs":
            return "not tried"
        strict, environment = free_port(), dict(os.environ)
        server: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
        if self.scheme == "az":
            environment["AZURE_STORAGE_CONNECTION_STRING"] = environment["AZURE_STORAGE_CONNECTION_STRING"].replace(
                "AccountKey=E", "AccountKey=F"
            )
        else:
            environment |= {"INITIAL_NO_AUTH_ACTION_COUNT": "0", "AWS_ENDPOINT_URL": f"http://127.0.0.1:{strict}"}
            command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(strict)]
            server = served(command, strict, environment)
        with server:
            words = [sys.executable, "-c", RUN, str(self.folder / "goals"), self.out]
            done = subprocess.run(
                words, stderr=subprocess.PIPE, text=True, env=environment, check=False, encoding="utf-8"
            )
        lines = done.stderr.strip().splitlines()
        if done.returncode == 0 or not lines[-1].startswith("refused: "):
            raise AssertionError(done.stderr)
        return lines[-1]

    def patterns(self) -> str:
        result = lw.solve_dataset(ARM, "tip", f"{self.goals}/**/*.csv", f"{self.scheme}://answers/some", **KEEP)
        if not result.complete:
            raise AssertionError(result)
        return repr(result)

    def motions(self) -> str:
        child = lw.models.human(height=1.2, root="floating")
        lw.models.motion("human:floating")[:0.2].save(self.folder / "one.bvh")
        self.system.pipe_file("goals/clips/a/one.bvh", (self.folder / "one.bvh").read_bytes())
        self.system.pipe_file("goals/clips/b/one.bvh", (self.folder / "one.bvh").read_bytes())
        result = lw.retarget_library(f"{self.scheme}://goals/clips", child, f"{self.scheme}://answers/clips")
        if not result.complete:
            raise AssertionError(result)
        return ", ".join(sorted(self.stored(f"{self.scheme}://answers/clips")))


TRIALS = (
    "written",
    "verified",
    "described",
    "damaged",
    "patterns",
    "killed",
    "two_at_once",
    "no_bucket",
    "no_permission",
    "motions",
)


def refused(*calls: Callable[[], object]) -> str:
    """Return the messages of refused calls; raise if a call succeeds or its message is not a sentence."""
    said = []
    for call in calls:
        try:
            call()
        except LinkworkError as error:
            said.append(str(error))
            if "\n" in said[-1]:
                raise AssertionError(f"more than a sentence: {error}") from error
        else:
            raise AssertionError("nothing is said")
    return " | ".join(said)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of the files below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def prepared(folder: Path) -> None:
    """Write goals to nested folders, and run them once."""
    rng = np.random.default_rng(0)
    places = rng.uniform(-32.0, 32.0, (ROWS, 2))
    table = pa.table({"x": places[:, 0], "y": places[:, 1], "name": [f"goal {k}" for k in range(ROWS)]})
    for k, part in enumerate(("day=1/a", "day=1/deep/er/b", "day=2/c", "day=3/d")):
        path = folder / "goals" / f"{part}.{'csv' if k == 3 else 'parquet'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = table.slice(k * ROWS // 4, ROWS // 4)
        if k == 3:
            rows.to_pandas().to_csv(path, index=False)
        else:
            pq.write_table(rows, path)
    (folder / "goals" / "_hidden.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    lw.solve_dataset(ARM, "tip", folder / "goals", folder / "clean", block_rows=BLOCK, workers=2, **KEEP)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="+", choices=SERVERS)
    parser.add_argument("--azurite", default=".", help="the folder whose node_modules has azurite")
    parser.add_argument("--only", nargs="*", default=TRIALS, choices=TRIALS)
    options, failed = parser.parse_args(), 0
    for store in options.stores:
        with tempfile.TemporaryDirectory() as folder, SERVERS[store](options) as scheme:
            prepared(Path(folder))
            trials = Trials(scheme, Path(folder))
            for name in options.only:
                try:
                    print(f"{store}: {name}: {getattr(trials, name)()}", flush=True)
                except Exception:
                    failed += 1
                    print(f"{store}: {name}: FAILED\n{traceback.format_exc(limit=-6)}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
