"""Locations of datasets: paths and URLs, atomic files, patterns, and messages about missing files."""

from __future__ import annotations

import hashlib
import pickle
import sys

import pytest

import linkwork as lw
from goal_tables import write
from linkwork.errors import FormatError, MissingExtraError
from linkwork.scale.places import Here, There, matching, place_of

fsspec = pytest.importorskip("fsspec")
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402
from fsspec.spec import AbstractBufferedFile  # noqa: E402

ARM = lw.models.planar([15, 10, 5])
GOALS = {"x": [15.0, -20.0, 99.0], "y": [10.0, 5.0, 0.0]}


@pytest.fixture
def memory():
    """The in-memory store of fsspec, empty before and after."""
    store = fsspec.filesystem("memory")
    yield store
    store.rm("/", recursive=True)


class Fetched(AbstractBufferedFile):
    """A file of a store that is read in ranges, as in S3, Google and Azure."""

    def _fetch_range(self, start, end):
        return self.fs.store[self.path].getvalue()[start:end]


class Committing(MemoryFileSystem):
    """An in-memory store whose objects are read in ranges and appear when committed, as in S3."""

    protocol = "committing"
    store, pseudo_dirs = {}, [""]

    def _open(self, path, mode="rb", autocommit=True, **options):
        if mode == "rb":
            return Fetched(self, self._strip_protocol(path), mode)
        self._intrans = not autocommit
        try:
            return super()._open(path, mode, **options)
        finally:
            self._intrans = False


fsspec.register_implementation("committing", Committing, clobber=True)


@pytest.fixture(params=["here", "renamed", "committed"])
def folder(request, tmp_path, memory, monkeypatch):
    """A folder on this machine, in a store that renames, and in one that commits."""
    if request.param == "here":
        yield place_of(tmp_path / "data")
    elif request.param == "renamed":
        yield place_of("memory://bucket/data")
    else:
        monkeypatch.setattr("linkwork.scale.places.STORES", {"committing"})
        yield place_of("committing://bucket/data")
        fsspec.filesystem("committing").rm("/", recursive=True)


def _fail(place, error):
    """Start to write a file, and fail."""
    with pytest.raises(error), place.writing() as file:  # noqa: PT012 - the file is open when it fails
        file.write(b"half of another")
        raise error


def test_a_file_is_there_in_full_or_not_at_all(folder):
    assert folder.make()
    place = folder.below("more/one.bin")
    _fail(place, ZeroDivisionError)
    assert (folder.files(), place.is_file()) == ([], False)
    place.write(b"a whole one")
    _fail(place, KeyboardInterrupt)
    assert (folder.files(), place.read()) == (["more/one.bin"], b"a whole one")
    assert place.digest() == (hashlib.sha256(b"a whole one").hexdigest(), 11)
    with place.open() as file:
        file.seek(2)
        assert file.read(5) == b"whole"
    assert pickle.loads(pickle.dumps(place)) == place
    place.remove()
    place.remove()
    assert folder.files() == []


def test_names_are_read_as_people_write_them(tmp_path):
    assert isinstance(place_of(tmp_path), Here)
    assert place_of(f"file://{tmp_path}").native == tmp_path
    assert isinstance(place_of("memory://bucket/out/"), There)
    assert (place_of("memory://bucket/out/").name, place_of("a/b.Parquet").suffix) == ("out", ".parquet")


@pytest.mark.parametrize(("pattern", "found"), [
    ("*.csv", ["a.csv"]),
    ("**/*.csv", ["a.csv", "day=1/b.csv", "day=2/x/c.csv"]),
    ("day=?/*.csv", ["day=1/b.csv"]),
    ("day=[!1]/**/*.csv", ["day=2/x/c.csv"]),
])  # fmt: skip
def test_patterns_find_files_here_and_there(pattern, found, folder):
    for name in ("a.csv", "day=1/b.csv", "day=2/x/c.csv"):
        folder.below(name).write(b"x,y\n1,2\n")
    where = matching(f"{folder}/{pattern}")
    assert where is not None
    base, names = where
    prefix = str(base).removeprefix(str(folder)).strip("/")
    assert [f"{prefix}/{name}".lstrip("/") for name in names] == found


def test_goals_and_answers_may_be_at_urls(memory, tmp_path):
    write(tmp_path / "goals.parquet", GOALS)
    memory.pipe("/bucket/goals/robot=a/one.parquet", (tmp_path / "goals.parquet").read_bytes())
    memory.pipe("/bucket/goals/robot=b/two.csv", b"x,y\n1,2\n")
    result = lw.solve_dataset(ARM, "tip", "memory://bucket/goals", "memory://bucket/out", block_rows=2)
    assert (repr(result), result.folder) == ("<DatasetResult: 3 of 4 reached>", "memory://bucket/out")
    assert lw.verify_dataset("memory://bucket/out")
    assert (
        lw.solve_dataset(ARM, "tip", "memory://bucket/goals", "memory://bucket/out", block_rows=2, resume=True).resumed
        == 4
    )
    names = sorted(name.rpartition("/")[2] for name in memory.find("/bucket/out"))
    assert names[:3] == ["_SUCCESS", "_manifest.json", "_parts.json"]
    here = lw.solve_dataset(ARM, "tip", "memory://bucket/goals", tmp_path / "out", block_rows=2)
    for name in names:
        assert memory.cat(f"/bucket/out/{name}") == (here.folder / name).read_bytes()


def test_goals_and_answers_may_be_in_a_store_of_objects(tmp_path, monkeypatch):
    """Files in a store are not Python files; tests/scale/stores.py tests real stores."""
    monkeypatch.setattr("linkwork.scale.places.STORES", {"committing"})
    store, folder = fsspec.filesystem("committing"), place_of("committing://bucket/goals")
    try:
        write(tmp_path / "goals.parquet", GOALS)
        folder.below("one.parquet").write((tmp_path / "goals.parquet").read_bytes())
        folder.below("two.csv").write(b"\xef\xbb\xbfx,y\r\n1,2\r\n3,nothing\r\n")
        result = lw.solve_dataset(ARM, "tip", str(folder), "committing://bucket/out", block_rows=2)
        assert result.counts == {"reached": 3, "closest": 1, "invalid": 1}
        assert lw.verify_dataset("committing://bucket/out")
        here = lw.solve_dataset(ARM, "tip", str(folder), tmp_path / "out", block_rows=2)
        for path in here.folder.iterdir():
            assert place_of(f"committing://bucket/out/{path.name}").read() == path.read_bytes()
    finally:
        store.rm("/", recursive=True)


def test_a_store_that_says_much_is_quoted_with_its_first_line(memory, tmp_path, monkeypatch):
    def absent(*_words, **_options):
        raise RuntimeError("The specified container does not exist.\nRequestId:7ec3\n<?xml version='1.0'?><Error/>")

    monkeypatch.setattr(memory, "open", absent)
    with pytest.raises(FormatError, match=r"cannot be written: the specified container does not exist\.$"):
        lw.solve_dataset(ARM, "tip", write(tmp_path / "goals.csv", GOALS), "memory://bucket/out")


def test_motions_may_be_at_urls(memory, tmp_path):
    child = lw.models.human(height=1.2, root="floating")
    lw.save(lw.models.motion("human:floating")[:0.1], tmp_path / "one.bvh")
    memory.pipe("/clips/one.bvh", (tmp_path / "one.bvh").read_bytes())
    assert lw.retarget_library("memory://clips", child, "memory://out").complete
    lw.retarget_library("memory://clips", child, tmp_path / "out")
    assert memory.cat("/out/one.bvh") == (tmp_path / "out" / "one.bvh").read_bytes()


def test_what_cannot_be_reached_is_said_and_nothing_is_written(memory, tmp_path, monkeypatch):
    goals = write(tmp_path / "goals.csv", GOALS)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError, match=r"nosuch://bucket/out: cannot be reached: protocol not known"):
        lw.solve_dataset(ARM, "tip", goals, "nosuch://bucket/out")
    with pytest.raises(FormatError, match=r"memory://bucket/none.csv: does not exist"):
        lw.solve_dataset(ARM, "tip", "memory://bucket/none.csv", "out")

    def full(*_words, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(memory, "open", full)
    with pytest.raises(FormatError, match="cannot be written: no space left on device"):
        lw.solve_dataset(ARM, "tip", goals, "memory://bucket/out")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(
        MissingExtraError, match=r"s3:// names needs fsspec; install it with: pip install 'linkwork\[cloud\]'"
    ):
        lw.solve_dataset(ARM, "tip", goals, "s3://bucket/out")
    assert [path.name for path in tmp_path.iterdir()] == ["goals.csv"]
