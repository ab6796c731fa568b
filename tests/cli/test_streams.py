"""The command line with closed streams, narrow terminals and without colours."""

from __future__ import annotations

import errno
import os
import shlex
import sys

import pytest

import children
from command_line import run
from linkwork.cli import streams
from linkwork.cli.columns import laid_out, width_of

pty = pytest.importorskip("pty", reason="Windows has no pseudo-terminals")


def shell(line, folder):
    """Run a shell command in which $L stands for linkwork."""
    script = f'L="{shlex.quote(sys.executable)} -m linkwork"; {line}'
    return children.run(["sh", "-c", script], cwd=folder, text=True, encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "status", "out", "err"),
    [
        ("$L info planar:2,1 >&-", 0, "", ""),
        ("$L info nothing_of_that_name 2>&-", 2, "", ""),
        ("$L 2>&-", 2, "", ""),
        ("$L solve planar:2,1 - <&-", 3, "", "linkwork: "),
        ("$L info planar:2,1 <&- >&- 2>&-", 0, "", ""),
    ],
)
def test_a_closed_stream_is_a_clean_end_and_errors_stay_off_stdout(line, status, out, err, tmp_path):
    done = shell(line, tmp_path)
    assert done.returncode == status, done.stderr
    assert done.stdout.startswith(out)
    assert bool(done.stdout) == bool(out)
    assert "Traceback" not in done.stderr
    assert bool(done.stderr) == bool(err)


def test_a_file_does_not_take_the_number_of_a_closed_stream(tmp_path):
    """Otherwise the output of a library would end up in the file."""
    line = "$L convert planar:2,1 arm.urdf >&- 2>&- <&- && head -c 5 arm.urdf"
    assert shell(line, tmp_path).stdout == "<?xml"


def test_a_pipe_that_is_closed_is_known_on_windows_too(monkeypatch):
    invalid = OSError(errno.EINVAL, "Invalid argument")
    assert streams.is_closed_pipe(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert not streams.is_closed_pipe(invalid)
    monkeypatch.setattr(streams.os, "name", "nt")
    assert streams.is_closed_pipe(invalid)
    assert not streams.is_closed_pipe(OSError(errno.EINVAL, "Invalid argument", "C:\\file"))


# Terminals


def on_terminal(*words, columns, **environment):
    """Return stdout and stderr of a command on a terminal with some number of columns."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    settings = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    env = {**settings, "TERM": "xterm", **environment}
    command = [sys.executable, "-m", "linkwork", *map(str, words)]
    with children.started(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env):
        os.close(theirs)
        said = b""
        while data := _next(ours):
            said += data
    os.close(ours)
    return said.decode()


def _next(handle):
    try:
        return os.read(handle, 65536)
    except OSError:  # Linux's error for a terminal that is no longer open
        return b""


def test_tables_fit_a_narrow_terminal_and_have_no_escapes_where_no_colour_is_wanted():
    said = on_terminal("pose", "panda", "--all", columns=40, NO_COLOR="1")
    assert "\x1b" not in said
    lines = said.replace("\r", "").splitlines()
    assert max(map(width_of, lines)) <= 40
    assert sum(line.startswith("frame") for line in lines) >= 2  # parts, each with the frames' names
    assert all(any(title in line for line in lines) for title in ("x [m]", "qw", "qz"))


def test_progress_has_no_escapes_and_numbered_pictures_are_counted_whatever_their_name(tmp_path):
    name = tmp_path / "a[1]-%03d.png"
    said = on_terminal("animate", "planar:2,1", "-o", name, "--frames", 3, "--json", columns=60, NO_COLOR="1")
    assert "drawing [" in said
    assert "\x1b" not in said
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert len(sizes) == 3
    assert f'"bytes": {sum(sizes)}' in said


def test_a_terminal_that_has_colours_gets_them():
    assert "\x1b[1m" in on_terminal("pose", "planar:2,1", columns=80)


def test_help_fits_a_narrow_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    text = run("solve", "--help").stdout.partition("Example:")[0]  # commands stay on one line
    assert "--position" in text
    assert max(map(width_of, text.splitlines())) <= 40


def test_a_part_of_titles_alone_is_left_out():
    rows = [("method", "iterations", "why not"), ("damped", "12", "")]
    assert [first + rest for first, rest, _ in laid_out(rows, 20)] == ["method  iterations", "damped  12"]
    assert [first + rest for first, rest, _ in laid_out([("one",), ("two",)], 20)] == ["one", "two"]


def test_long_cells_go_on_below_and_nothing_is_lost():
    text = "the goal is 3 m away, which is beyond the reach of the arm"
    rows = [("method", "error", "why not"), ("damped", "1.5", text), ("汉字", "2", "")]
    lines = [first + rest for first, rest, _ in laid_out(rows, 30)]
    assert max(map(width_of, lines)) <= 30
    assert all(word in " ".join(" ".join(lines).split()) for word in text.split())
    assert [title for _, _, title in laid_out(rows, 30)].count(True) == 2
    wide = [first + rest for first, rest, _ in laid_out(rows)]
    assert len(wide) == 3
    assert text in wide[1]
