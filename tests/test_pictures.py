"""Pictures of the documentation are up to date with the scripts that make them."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
HOUSE = "house.svg"  # by tests/house.py; test_layers compares it with the sources


@pytest.fixture(scope="module")
def made() -> Any:
    """The module with which scripts record their pictures."""
    spec = importlib.util.spec_from_file_location("made", PICTURES / "made.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_picture_is_older_than_the_script_that_makes_it(made: Any) -> None:
    rows = json.loads(made.LIST.read_text(encoding="utf-8"))
    there = {path.relative_to(PICTURES).as_posix() for path in made.pictures()} - {HOUSE}
    assert there <= rows.keys(), "run the script that makes it; it writes made.json"
    assert rows.keys() <= there, "made.json names pictures that are gone"
    scripts = {row["script"]: made.digest(PICTURES / row["script"]) for row in rows.values()}
    old = sorted({row["script"] for row in rows.values() if row["digest"] != scripts[row["script"]]})
    assert not old, f"run again, and look at what they make: {', '.join(old)}"
    assert scripts.keys() == {path.name for path in PICTURES.glob("make*.py")}


def test_a_script_writes_down_what_it_made(made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made, "HERE", tmp_path)
    monkeypatch.setattr(made, "LIST", tmp_path / "made.json")
    script = tmp_path / "make_some.py"
    script.write_bytes(b"draw()\r\n")
    for name in ("old.png", "again.png"):
        (tmp_path / name).write_bytes(b"1")
        os.utime(tmp_path / name, (1, 1))
    with made.recorded(str(script)):
        (tmp_path / "new.svg").write_bytes(b"2")
        (tmp_path / "again.png").write_bytes(b"1")
        (tmp_path / "notes.txt").write_bytes(b"2")
    rows = json.loads(made.LIST.read_text(encoding="utf-8"))
    assert rows.keys() == {"new.svg", "again.png"}
    assert rows["new.svg"] == {"script": "make_some.py", "digest": made.digest(script)}
    script.write_bytes(b"draw()\n")
    assert rows["new.svg"]["digest"] == made.digest(script), "ends of lines do not count"
    script.write_bytes(b"draw(2)\n")
    assert rows["new.svg"]["digest"] != made.digest(script)
