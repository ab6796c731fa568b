"""Requirements of Windows that other systems can check: by reading the sources, and with Windows' file names."""

from __future__ import annotations

import ast
import ctypes
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.cli.console import named_after
from linkwork.formats.meshes import _split
from linkwork.studio import autosave
from linkwork.studio.uploads import safe_path

PACKAGE = Path(lw.__file__).parent
ROOT = Path(__file__).parents[1]
SOURCES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = ("benchmarks", "docs", "examples", "extras", "release", "tests")  # of Python outside src
UNIX = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "readline"}  # modules that Windows does not have
UNIX_CALLS = {  # of `os`, `signal` and event loops
    "fork", "forkpty", "killpg", "getuid", "setsid", "mkfifo", "getpgid", "chown", "wait3", "wait4", "statvfs",
    "alarm", "setitimer", "pthread_kill", "sigwait", "add_signal_handler",
}  # fmt: skip
UNIX_SIGNALS = {"SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGPIPE", "SIGCHLD", "SIGSTOP", "SIGCONT"}
SUSPECT = re.compile(rb"open\(|_text\(|text=|\.kill\(|" + "|".join((*UNIX, *UNIX_CALLS, *UNIX_SIGNALS)).encode())
RUNS = {"run", "Popen", "check_output"}  # of `subprocess`


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str, set[str | None]]]:
    """Yield the calls of methods and functions, with the name of each and its keywords."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield node, name, {word.arg for word in node.keywords}


def opens_text(call: ast.Call, name: str) -> bool:
    """Return whether a call reads or writes a text file."""
    if name != "open":
        texts = name in ("read_text", "write_text") and isinstance(call.func, ast.Attribute)
        return texts and ast.unparse(call.func.value) != "atomic_files"
    place = 0 if isinstance(call.func, ast.Attribute) else 1
    given = [*call.args[place : place + 1], *(word.value for word in call.keywords if word.arg == "mode")]
    mode = given[0].value if given and isinstance(given[0], ast.Constant) else "" if place == 0 else "r"
    return isinstance(mode, str) and 0 < len(mode) < 4 and "b" not in mode


def without_encoding(tree: ast.AST) -> Iterator[str]:
    """Yield calls that read or write text of files or processes in the system's encoding."""
    for call, name, words in calls(tree):
        if (opens_text(call, name) or (name in RUNS and "text" in words)) and "encoding" not in words:
            yield f"{call.lineno}: no encoding: {ast.unparse(call)[:80]}"


def test_tests_and_tools_open_text_with_an_encoding() -> None:
    others = [ROOT / "web" / "build.py", *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))]
    sources = {path: path.read_bytes() for path in others}
    trees = {path: ast.parse(source) for path, source in sources.items() if SUSPECT.search(source)}
    assert not [f"{path}:{fault}" for path, tree in trees.items() for fault in without_encoding(tree)]


def test_sources_open_text_with_an_encoding_and_need_nothing_that_windows_does_not_have() -> None:
    wrong = []
    for path in SOURCES:
        source = path.read_bytes()
        if not SUSPECT.search(source):
            continue
        tree = ast.parse(source)
        for node in tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = {one.name for one in node.names} | {getattr(node, "module", "")}
                wrong += [f"{path}:{node.lineno}: imports {name} at once" for name in names & UNIX]
        wrong += [f"{path}:{fault}" for fault in without_encoding(tree)]
        for call, name, _ in calls(tree):
            if name in UNIX_CALLS and isinstance(call.func, ast.Attribute):
                wrong.append(f"{path}:{call.lineno}: {ast.unparse(call)[:80]}")
            if ast.unparse(call.func) == "os.kill" and 'os.name == "nt"' not in source.decode():
                wrong.append(f"{path}:{call.lineno}: on Windows this ends the process: {ast.unparse(call)[:80]}")
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in UNIX_SIGNALS:
                wrong.append(f"{path}:{node.lineno}: {ast.unparse(node)}")
    assert not wrong


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("file:///C:/robots/arm.stl", "C:/robots/arm.stl"),
        ("file://localhost/C:/arm.stl", "C:/arm.stl"),
        ("file:///home/arm.stl", "/home/arm.stl"),
        ("C:\\robots\\arm.stl", "C:/robots/arm.stl"),
        ("meshes\\arm.stl", "meshes/arm.stl"),
    ],
)
def test_names_in_files_may_be_those_of_windows(name: str, path: str) -> None:
    assert _split(name)[1] == path


@pytest.mark.parametrize(
    "name", ["a:b", "a/b", "a\\b", "CON", "com1", "nul", "a?", "..", " ", "a\n", 'say "a"', "left*"]
)
def test_a_file_named_after_a_linkage_can_be_written_everywhere(name: str) -> None:
    found = named_after(name, ".png")
    assert found.parent == Path()
    assert not set(found.name) & set('<>:"/\\|?*\n')
    assert found.stem.lower() not in ("con", "nul", "com1")
    assert found.stem.strip(". ")


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("con.urdf", "_con.urdf"),
        ("robot\\AUX\\arm.stl", "robot/_AUX/arm.stl"),
        ("lpt1", "_lpt1"),
        ("nul.tar.gz", "_nul.tar.gz"),
        ("console.urdf", "console.urdf"),
        ("arm.stl::$DATA", "arm.stl___DATA"),
        ("folder./arm.urdf.", "folder/arm.urdf"),
    ],
)
def test_an_upload_is_never_written_to_a_device(name: str, safe: str) -> None:
    assert safe_path(name) == safe


class Kernel32:
    """A stand-in for Windows' processes: 10 runs, 11 has ended but has an open handle, others do not exist."""

    def __init__(self) -> None:
        self.open: list[int] = []

        def open_process(rights: int, inherited: bool, number: int) -> int | None:
            assert (rights, inherited) == (0x1000, False)
            self.open += [number] if number in (10, 11) else []
            return number if number in (10, 11) else None

        def exit_code(process: ctypes.c_void_p, code: object) -> int:
            code._obj.value = {10: 259, 11: 1}[process.value or 0]  # type: ignore[attr-defined]
            return 1

        self.OpenProcess, self.GetExitCodeProcess = open_process, exit_code
        self.CloseHandle = lambda process: self.open.remove(process.value)


def test_the_scene_of_a_studio_that_runs_is_not_taken_for_lost(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    system = Kernel32()
    monkeypatch.setattr(ctypes, "WinDLL", {"kernel32": system}.__getitem__, raising=False)
    monkeypatch.setattr(autosave, "os", type("os", (), {"name": "nt", "getpid": os.getpid}))  # without `kill`
    monkeypatch.setattr(autosave, "OWN", {f"studio-{os.getpid()}-a.yaml"})
    for number in (10, 11, 12, os.getpid()):
        (tmp_path / f"studio-{number}-a.yaml").touch()
    found = {int(path.name.split("-")[1]) for path in autosave.lost_scenes(tmp_path)}
    assert found == {11, 12}
    assert system.open == []
