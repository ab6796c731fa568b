"""The cache of compiled code on disk: shared between processes, verified when loaded, robust to disk errors."""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import children
from command_line import run
from linkwork.kernels import store

KEY, CODE = "search_one 1a2b x86_64-unknown-linux-gnu znver4 +avx2", bytes(range(256)) * 40
POSIX = pytest.mark.skipif(os.name == "nt", reason="Windows keeps users apart by itself")
ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user")
NOBODY = 65534


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The only cache folder."""
    monkeypatch.setenv(store.NAMED, str(tmp_path / "cache"))
    monkeypatch.setattr(store, "_troubles", {})
    return tmp_path / "cache" / "kernels"


@pytest.fixture
def two(tmp_path, monkeypatch):
    """Two cache folders: beside the package, and the user's."""
    monkeypatch.delenv(store.NAMED)
    monkeypatch.setattr(store, "PACKAGE", tmp_path / "package")
    monkeypatch.setattr(store, "user_folder", lambda: tmp_path / "home")
    (tmp_path / "package").mkdir()
    return [tmp_path / "package" / "__pycache__" / "linkwork", tmp_path / "home" / "linkwork" / "kernels"]


def the_file(folder):
    (path,) = folder.glob("*.kernel")
    return path


def test_what_is_kept_is_found(folder):
    assert store.find(KEY) is None
    assert store.keep(KEY, CODE)
    assert store.find(KEY) == CODE
    assert store.find(KEY + " +avx512f") is None
    assert store.keep(KEY, b"other")
    assert store.find(KEY) == b"other"
    assert [path.name.startswith("search_one-") for path in folder.iterdir()] == [True]


@pytest.mark.parametrize("key", ["", "a/../b", "x" * 5000, "näme\n\0", "CON"])
@pytest.mark.parametrize("code", [b"", b"\0", CODE * 100])
def test_any_key_and_any_code_are_kept(key, code):
    assert store.keep(key, code)
    assert store.find(key) == code
    with store.alone(key):
        pass


def test_what_is_kept_is_told_and_forgotten(folder):
    assert store.kept() == store.Kept((), 0, 0, "")
    for k in range(3):
        store.keep(f"{KEY} {k}", CODE)
    (folder / "letter.txt").write_text("not ours", encoding="utf-8")
    size = sum(path.stat().st_size for path in folder.glob("*.kernel"))
    assert store.kept() == store.Kept((folder,), 3, size, "")
    assert store.forget() == 3
    assert [path.name for path in folder.iterdir()] == ["letter.txt"]
    assert store.forget() == 0


# Folders


def test_it_looks_beside_the_package_and_then_in_the_folder_of_the_user(two):
    assert store.folders() == two
    assert store.keep(KEY, CODE)
    assert (the_file(two[0]).parent, two[1].exists()) == (two[0], False)
    two[0].rename(two[0].with_name("away"))
    two[0].write_text("not a folder", encoding="utf-8")
    assert store.find(KEY) is None
    assert store.keep(KEY, CODE)
    assert store.find(KEY) == CODE
    assert store.kept().folders == (two[1],)


def test_a_damaged_file_that_cannot_be_replaced_hides_no_good_one(two):
    store.keep(KEY, CODE)
    path = the_file(two[0])
    path.unlink()
    path.mkdir()
    assert store.keep(KEY, CODE)
    assert store.find(KEY) == CODE
    assert store.kept().folders == (two[1],)


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "{tmp}/xdg"}, "{tmp}/xdg"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "{tmp}/.cache"),
        ("linux", {}, "{tmp}/.cache"),
        ("darwin", {"XDG_CACHE_HOME": "{tmp}/xdg"}, "{tmp}/Library/Caches"),
        ("win32", {"LOCALAPPDATA": "{tmp}/local"}, "{tmp}/local"),
        ("win32", {}, "{tmp}/AppData/Local"),
    ],
)
def test_every_system_has_a_place_for_such_things(system, variables, expected, tmp_path, monkeypatch):
    for name in (store.NAMED, "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp=tmp_path))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", system)
    assert store.folders()[1] == Path(expected.format(tmp=tmp_path)) / "linkwork" / "kernels"


def test_a_user_without_a_home_has_one_folder_less(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv(store.NAMED)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.setattr(sys, "platform", "linux")
    assert len(store.folders()) == 1


@POSIX
def test_a_folder_that_is_gone_is_no_error(tmp_path, monkeypatch, caplog):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setenv(store.NAMED, "relative")
    assert store.folders() == []
    assert (store.find(KEY), store.keep(KEY, CODE)) == (None, False)
    with store.alone(KEY):
        pass
    assert "there is no folder to write to" in caplog.text


# Damage


def test_a_file_that_was_cut_anywhere_is_a_miss(folder):
    store.keep(KEY, CODE)
    path = the_file(folder)
    whole = path.read_bytes()
    head = store.HEADER.size + len(KEY)
    for size in (*range(head + 3), head + len(CODE) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert store.find(KEY) is None
    path.write_bytes(whole)
    assert store.find(KEY) == CODE


def test_a_bit_that_flipped_anywhere_is_a_miss(folder):
    store.keep(KEY, CODE)
    path = the_file(folder)
    whole = path.read_bytes()
    head = store.HEADER.size + len(KEY)
    for at in (*range(head + 3), head + len(CODE) // 2, len(whole) - 1):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert store.find(KEY) is None
    path.write_bytes(whole + b"\0")
    assert store.find(KEY) is None


def test_a_file_of_another_key_or_another_version_is_a_miss(folder, monkeypatch):
    store.keep(KEY, CODE)
    path = the_file(folder)
    store.keep("other " + KEY, CODE)
    next(folder.glob("other-*")).replace(path)
    assert store.find(KEY) is None
    with monkeypatch.context() as later:
        later.setattr(store, "FORMAT", store.FORMAT + 1)
        store.keep(KEY, CODE)
        assert store.find(KEY) == CODE
    assert store.find(KEY) is None


def put_folder(path):
    path.mkdir()
    (path / "inside").touch()


def put_pipe(path):
    os.mkfifo(path)


def put_link(path):
    good = path.with_name("good")
    good.write_bytes(store._packed(KEY.encode(), CODE))
    good.chmod(0o644)
    path.symlink_to(good)


def put_loop(path):
    path.symlink_to(path)


@POSIX
@pytest.mark.parametrize("put", [put_folder, put_pipe, put_link, put_loop])
def test_what_is_not_a_file_is_a_miss(folder, put):
    store.keep(KEY, CODE)
    path = the_file(folder)
    path.unlink()
    put(path)
    assert store.find(KEY) is None
    kept = store.keep(KEY, CODE)
    assert (kept, store.find(KEY)) == ((False, None) if put is put_folder else (True, CODE))


def test_one_too_large_to_be_read_is_not_kept(monkeypatch):
    monkeypatch.setattr(store, "LARGEST", 1000)
    assert not store.keep(KEY, CODE)
    assert "at most" in store.kept().trouble


# Disks that are full or cannot be written to


class FullDisk:
    """A file that accepts only part of the data, as on a disk that fills up."""

    def __init__(self, handle, mode, number):
        self.file, self.number = os.fdopen(handle, mode), number

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.file.close()

    def write(self, data):
        self.file.write(data[: len(data) // 2])
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("name", ["ENOSPC", "EDQUOT", "EIO", "EROFS"])
def test_a_disk_that_takes_no_more_is_said_once_and_is_no_error(name, folder, monkeypatch, caplog):
    number = getattr(errno, name, errno.ENOSPC)
    store.keep("before", CODE)

    class System:
        def __getattr__(self, one):
            return getattr(os, one)

        def fdopen(self, handle, mode):
            return FullDisk(handle, mode, number)

    with monkeypatch.context() as full:
        full.setattr(store, "os", System())
        with caplog.at_level(logging.WARNING, "linkwork"):
            assert [store.keep(KEY, CODE), store.keep(KEY + "2", CODE)] == [False, False]
    (record,) = caplog.records
    assert "cannot be kept" in record.message
    assert store.NAMED in record.message
    assert os.strerror(number)[1:] in record.message
    assert store.kept().trouble in record.message
    assert store.kept().trouble.startswith(str(folder))
    assert store.find(KEY) is None
    assert len(list(folder.iterdir())) == 1  # no draft is left behind
    assert store.keep(KEY, CODE)  # there is space again


def test_what_another_process_kept_meanwhile_is_as_good(monkeypatch):
    store.keep(KEY, CODE)

    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")  # as on Windows while the file is being read

    monkeypatch.setattr(Path, "replace", refuse)
    assert store.keep(KEY, b"other")
    assert (store.find(KEY), store.kept().trouble) == (CODE, "")


MOUNT = """
import os, subprocess, sys, pathlib
import store
folder = pathlib.Path(os.environ["LINKWORK_CACHE_DIR"])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=755", "none", str(folder)], check=True)
print([store.keep(f"key{k}", bytes(100_000)) for k in range(4)], [store.find(f"key{k}") is not None for k in range(4)])
subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
with store.alone("key9"):
    print(store.keep("key9", b"1"), store.find("key0") == bytes(100_000), store.forget())
"""


@pytest.mark.skipif(
    shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0,
    reason="no disk can be mounted here",
)
def test_a_real_disk_that_fills_up_and_then_cannot_be_written_to(tmp_path):
    (tmp_path / "cache").mkdir()
    done = child(tmp_path, MOUNT, before=["unshare", "-rm"])
    assert done.stdout.splitlines() == ["[True, True, False, False] [True, True, False, False]", "False True 0"]
    assert done.stderr.count("cannot be kept") == 1
    assert "o space left on device" in done.stderr


def test_a_folder_does_not_grow_for_ever(folder, monkeypatch):
    monkeypatch.setattr(store, "MOST", 5 * len(CODE))
    for k in range(8):
        assert store.keep(f"{KEY} {k}", CODE)
        os.utime(folder / store._name(f"{KEY} {k}"), ns=(k * 10**9, k * 10**9))
    assert [store.find(f"{KEY} {k}") is not None for k in range(8)] == 4 * [False] + 4 * [True]
    assert store.keep("large", CODE * 6)  # an entry above the limit is kept, as the only one
    assert (store.kept().files, store.find("large")) == (1, CODE * 6)


def test_what_dead_processes_left_behind_is_cleared(folder):
    store.keep(KEY, CODE)
    for name, age in (("a.draft", 2.0), ("b.draft", 0.5), ("a.lock", 2.0), ("b.lock", 0.5), ("a.txt", 2.0)):
        (folder / name).touch(mode=0o644)
        (folder / name).chmod(0o644)
        then = time.time() - age * store.STALE
        os.utime(folder / name, (then, then))
    store.keep(KEY, CODE)
    assert {path.name for path in folder.iterdir()} == {store._name(KEY), "b.draft", "b.lock", "a.txt"}


# Other users


@POSIX
def test_all_can_read_and_no_one_else_can_write_whatever_the_mask(folder):
    for mask in (0o077, 0o000):
        before = os.umask(mask)
        try:
            assert store.keep(KEY, CODE)
        finally:
            os.umask(before)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o755
        assert stat.S_IMODE(the_file(folder).stat().st_mode) == 0o644
        shutil.rmtree(folder)


@POSIX
@pytest.mark.parametrize("mode", [0o775, 0o757, 0o1777])
def test_a_folder_that_others_can_write_to_is_left_alone(folder, mode, caplog):
    store.keep(KEY, CODE)
    folder.chmod(mode)
    assert store.find(KEY) is None
    assert not store.keep(KEY, CODE)
    assert (store.kept().files, store.forget()) == (0, 0)
    assert "other users can write to it" in caplog.text
    folder.chmod(0o755)
    assert store.find(KEY) == CODE


@POSIX
@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_a_file_that_others_can_write_to_is_a_miss(folder, mode):
    store.keep(KEY, CODE)
    the_file(folder).chmod(mode)
    assert store.find(KEY) is None


def child(tmp_path, script, *, before=(), **variables):
    """Run a script with a copy of the module alone in a folder, as in an installed package."""
    package = tmp_path / "package"
    if not package.exists():
        package.mkdir()
        shutil.copy(store.__file__, package)
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:2]:
        parent.chmod(parent.stat().st_mode | 0o055)
    variables = os.environ | {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"} | variables
    return children.run([*before, sys.executable, "-c", script], env=variables, text=True, check=True, encoding="utf-8")


AS_NOBODY = """
import fcntl, os, sys
import store
def become_nobody():
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
"""
SERVED = f"""{AS_NOBODY}
assert store.keep("by root", b"1")
become_nobody()
with store.alone("mine"):
    print(store.find("by root"), store.keep("mine", b"2"), store.find("mine"), store.kept().files, store.forget())
print(store.find("by root"))
"""
REFUSED = f"""{AS_NOBODY}
pid = os.fork()
if pid == 0:
    become_nobody()
    os._exit(not (store.keep("by nobody", b"1") and store.find("by nobody")))
assert os.waitpid(pid, 0)[1] == 0
print(store.find("by nobody"), store.keep("mine", b"2"), store.kept().trouble)
"""


@ROOT
def test_what_root_compiled_serves_other_users_who_keep_their_own(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    done = child(tmp_path, SERVED, LINKWORK_CACHE_DIR="", XDG_CACHE_HOME=str(home))
    assert (done.stdout, done.stderr) == ("b'1' True b'2' 2 1\nb'1'\n", "")
    assert the_file(tmp_path / "package" / "__pycache__" / "linkwork").stat().st_uid == 0
    assert next(home.rglob("kernels")).stat().st_uid == NOBODY


@ROOT
def test_what_another_user_compiled_is_never_used(tmp_path):
    place = tmp_path / "cache"
    place.mkdir()
    os.chown(place, NOBODY, NOBODY)
    done = child(tmp_path, REFUSED)
    assert done.stdout == f"None False {place / 'kernels'}: it belongs to another user\n"


@ROOT
def test_a_file_of_another_user_is_never_used(folder):
    store.keep(KEY, CODE)
    os.chown(the_file(folder), NOBODY, NOBODY)
    assert store.find(KEY) is None


@ROOT
def test_root_leaves_nothing_in_the_folders_of_a_user(two):
    os.chown(two[0].parents[1], NOBODY, NOBODY)
    assert store.keep(KEY, CODE)
    assert (list(two[0].parents[1].iterdir()), store.kept().folders) == ([], (two[1],))


# Several processes

COMPILE = """
import os, sys, time
import store
def compiled(key):
    code = store.find(key)
    if code is None:
        with store.alone(key):
            code = store.find(key)
            if code is None:
                time.sleep(0.3)
                print("compiled", key, flush=True)
                code = f"code of {key}".encode()
                store.keep(key, code)
    return code
print("ready", flush=True)
sys.stdin.readline()
for key in sys.argv[1:]:
    assert compiled(key) == f"code of {key}".encode()
"""
DIE = """
import store, sys, time
with store.alone("key"):
    print("held", flush=True)
    time.sleep(600)
"""


@contextlib.contextmanager
def several(tmp_path, *scripts):
    """Start processes with a copy of the module, each with its own script."""
    package = tmp_path / "package"
    package.mkdir()
    shutil.copy(store.__file__, package)
    variables = os.environ | {"PYTHONPATH": str(package)}
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                children.started([sys.executable, "-c", *words], stdin=subprocess.PIPE, env=variables, text=True)
            )
            for words in scripts
        ]


def test_four_cold_processes_compile_everything_once(tmp_path, folder):
    keys = ["one", "two", "three"]
    orders = [keys, keys, keys[::-1], keys[1:] + keys[:1]]
    with several(tmp_path, *([COMPILE, *order] for order in orders)) as processes:
        assert [process.stdout.readline() for process in processes] == 4 * ["ready\n"]
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        said = [process.communicate(timeout=children.LIMIT) for process in processes]
    assert [process.returncode for process in processes] == 4 * [0]
    assert sorted("".join(out for out, _ in said).splitlines()) == sorted(f"compiled {key}" for key in keys)
    assert not [err for _, err in said if err]
    assert not list(folder.glob("*.draft"))
    assert os.name == "nt" or not list(folder.glob("*.lock"))


def test_no_two_are_ever_inside(monkeypatch):
    monkeypatch.setattr(store, "PAUSE", 0.0)
    inside, most = [], []

    def go(_):
        for _ in range(60):
            with store.alone(KEY):  # locks belong to open files, so threads can stand for processes
                inside.append(KEY)
                most.append(len(inside))
                time.sleep(0)
                inside.pop()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(go, range(6)))
    assert (len(most), max(most)) == (360, 1)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, getattr(signal, "SIGKILL", 0)])
def test_a_process_that_dies_lets_go(tmp_path, number):
    with several(tmp_path, [DIE], [COMPILE, "key"]) as (holder, other):
        assert holder.stdout.readline() == "held\n"
        assert other.stdout.readline() == "ready\n"
        other.stdin.write("go\n")
        other.stdin.flush()
        holder.send_signal(number)
        assert other.communicate(timeout=children.LIMIT) == ("compiled key\n", "")


def test_waiting_ends_some_time(folder, monkeypatch):
    monkeypatch.setattr(store, "PATIENCE", 0.05)
    with store.alone(KEY), store.alone(KEY):  # as if another process had it: locks belong to open files
        assert store.keep(KEY, CODE)
        with store.alone("another"):
            pass
    assert [path.suffix for path in folder.iterdir()] == [".kernel"] or os.name == "nt"


@POSIX
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_where_there_are_no_locks_it_goes_on_without(number, monkeypatch):
    import fcntl

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with store.alone(KEY):
        assert store.keep(KEY, CODE)
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as in a browser
    with store.alone(KEY):
        assert store.find(KEY) == CODE


def test_windows_locks_are_asked_for_there(monkeypatch):
    asked = []

    class Windows:
        LK_NBLCK = 2

        def locking(self, _handle, mode, size):
            asked.append((mode, size))
            if len(asked) == 1:
                raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", Windows())
    with store.alone(KEY):
        assert asked == [(2, 1), (2, 1)]  # the first attempt met another process


def test_nothing_slow_is_imported(tmp_path):
    # On Python 3.14 pathlib imports fcntl by itself.
    script = (
        "import pathlib, sys; begun = {*sys.modules}; import store;"
        "print(*{*sys.modules} - begun & {'numba', 'numpy', 'fcntl'})"
    )
    assert child(tmp_path, script).stdout == "\n"


def test_warmup_says_where_code_is_kept_or_why_it_is_not(folder, monkeypatch):
    from linkwork.kernels import jit, runtime

    monkeypatch.setattr(runtime, "the_pack", lambda: "there is none")
    monkeypatch.setattr(jit, "warm", lambda _progress: [store.keep(KEY, CODE), store.kept().trouble][1])
    said = run("warmup").stdout
    assert f"kept in {folder}; no pack: there is none" in said
    shutil.rmtree(folder)
    folder.write_text("not a folder", encoding="utf-8")
    said = run("warmup").stdout
    assert "nothing could be kept" in said
    assert f": {folder}: " in said
    assert json.loads(run("warmup", "--json").stdout)["kept"] is False
