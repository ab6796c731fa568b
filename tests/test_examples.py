"""Every example runs without a screen, is short, has a card in the gallery, and writes only to its folder."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
SIGNATURES = {
    ".png": b"\x89PNG\r\n\x1a\n",
    ".gif": b"GIF89a",
    ".html": b"<!doctype html>",
    ".svg": b"<?xml",
    ".bvh": b"HIERARCHY",
    ".glb": b"glTF",
    ".csv": b"time [s],",
    ".npz": b"PK",
    ".urdf": b"<?xml",
    ".yaml": b"header:",  # a trajectory for ROS
}
MAX_LINES = 60


def named(path: Path) -> str:
    return path.stem


def test_examples_are_numbered_from_one():
    numbers = [int(path.stem.split("_")[0]) for path in EXAMPLES]
    assert numbers[0] == 1
    assert numbers == sorted(set(numbers)), "each number once"
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("path", EXAMPLES, ids=named)
def test_examples_run_and_write_pictures_only_where_told(path, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    here, out = tmp_path / "here", tmp_path / "deeper" / "out"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.delenv("DISPLAY", raising=False)
    runpy.run_path(str(path))["main"](out)
    assert capsys.readouterr().out.strip(), "an example prints what it found"
    assert not list(here.iterdir())
    pictures = sorted(out.iterdir())
    assert pictures
    for picture in pictures:
        assert picture.read_bytes().startswith(SIGNATURES[picture.suffix]), picture.name


@pytest.mark.parametrize("path", EXAMPLES, ids=named)
def test_examples_are_short_and_have_a_card(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < MAX_LINES
    title, blank, *card = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    assert 5 < len(title) < 60
    assert title.endswith(".")
    assert not blank
    assert card


@pytest.mark.parametrize("path", EXAMPLES, ids=named)
def test_examples_take_a_folder_on_the_command_line(path, tmp_path, monkeypatch):
    """As a script, an example passes its first argument to `main`, by default the gallery folder."""
    code = ast.parse(path.read_text(encoding="utf-8"))
    (call,) = (node.body[0].value for node in code.body if isinstance(node, ast.If))
    for arguments, folder in ((["x.py", "pictures"], "pictures"), (["x.py"], "gallery")):
        given: list[Path] = []
        monkeypatch.setattr("sys.argv", arguments)
        scope = {"main": given.append, "Path": Path, "sys": __import__("sys")}
        eval(compile(ast.Expression(call), path.name, "eval"), scope)
        assert given == [Path(folder)]
