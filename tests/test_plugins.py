"""Plugins: the example package is found, and a broken package does not affect others."""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

import children
import linkwork as lw
from linkwork.errors import PluginError
from linkwork.formats import FORMATS, Format
from linkwork.linkage.plugins import SWITCH, Table

EXAMPLE = Path(__file__).parents[1] / "examples" / "plugin"
PROJECT = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SCRIPT = """
import json, sys
import numpy as np
import linkwork as lw

arm = lw.load("arm.dht")
lw.save(arm, "again.dht")
camera = lw.models.build("pan_tilt")
OnSphere = lw.GOALS["OnSphere"]
ball = OnSphere("tip", center=(0.2, 0.1, 0.0), radius=1.1)
q, away, step = np.array([0.3, 0.7, -0.2]), [], 1e-6
for k in range(3):
    there = [ball.error(arm, q + sign * step * np.eye(3)[k]) for sign in (1, -1)]
    away.append(float((there[1] - there[0])[0] / (2 * step)))
solved = lw.solve(arm, ball, start=q)
goal = lw.Reach("tip", pose=arm.forward([0.4, 0.9, 0.3], frame="tip"))
by = lw.solve(arm, goal, start=q, method="sugihara", trace=True)
print(json.dumps({
    "rows": [list(map(float, line.split())) for line in open("again.dht") if line[0] != "#"],
    "joints": camera.joints, "seconds": lw.models.motion("pan_tilt").duration,
    "jacobian": [ball.jacobian(arm, q)[0].tolist(), away],
    "sphere": [solved.success, float(np.linalg.norm(arm.forward(solved.q, frame="tip")[:3, 3] - (0.2, 0.1, 0.0)))],
    "method": [by.success, by.method, by.iterations, "damping" in by.trace[-1].notes],
    "last": [list(lw.METHODS)[-1], list(lw.GOALS)[-1], list(lw.models.MODELS)[-1]],
}))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the example as installed by pip: the package and its metadata from `pyproject.toml`."""
    folder = tmp_path_factory.mktemp("site")
    about = folder / f"linkwork_shop-{PROJECT['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {PROJECT['name']}\nVersion: {PROJECT['version']}\n", encoding="utf-8"
    )
    lines = [
        line
        for group, rows in PROJECT["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in rows.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    places = (folder, EXAMPLE / "src", Path(lw.__file__).parents[1])
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, places))}


def test_the_example_adds_a_format_a_model_a_goal_and_a_method(installed, tmp_path):
    (tmp_path / "arm.dht").write_text("# a planar arm\n0 0 1 0\n0 0 0.8 0\n\n0 0 0.5 0\n", encoding="utf-8")
    done = children.run(
        [sys.executable, "-W", "error", "-c", SCRIPT], env=installed, cwd=tmp_path, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    np.testing.assert_allclose(found["rows"], [(0, 0, 1, 0), (0, 0, 0.8, 0), (0, 0, 0.5, 0)], atol=1e-12)
    assert found["joints"] == ["pan", "tilt"]
    assert found["seconds"] == 2.0
    np.testing.assert_allclose(found["jacobian"][0], found["jacobian"][1], atol=1e-8)
    assert found["sphere"] == [True, pytest.approx(1.1, abs=1e-5)]
    assert found["method"][:2] == [True, "sugihara"]
    assert found["method"][3]
    assert found["last"] == ["sugihara", "OnSphere", "pan_tilt"]


def test_the_command_line_has_them_too(installed, tmp_path):
    (tmp_path / "arm.dht").write_text("0 0 1 0\n0 0 x 0\n", encoding="utf-8")
    start = [sys.executable, "-m", "linkwork"]
    done = children.run([*start, "info", "arm.dht"], env=installed, cwd=tmp_path, text=True, encoding="utf-8")
    assert done.returncode == 3
    assert "arm.dht:2: a line has four numbers" in done.stderr
    off = installed | {SWITCH: "0"}
    done = children.run([*start, "info", "pan_tilt"], env=off, cwd=tmp_path, text=True, encoding="utf-8")
    assert done.returncode == 2
    assert "neither a file nor a model name" in done.stderr


# Tables


@pytest.fixture
def entries(monkeypatch):
    """Entry points of packages that do not exist."""
    found = []
    monkeypatch.delenv(SWITCH, raising=False)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [one for one in found if one.group == group])
    return found


def whole(_name, row):
    return "" if isinstance(row, float) else "it is no number"


def table():
    return Table("test.numbers", {"one": 1.0}, whole)


def test_other_packages_are_looked_at_when_something_is_not_ours(entries):
    entries.append(EntryPoint("pi", "math:pi", "test.numbers"))
    numbers = table()
    assert numbers["one"] == 1.0
    assert "one" in numbers
    assert "pi" not in numbers.own
    assert numbers._waiting is None
    assert numbers["pi"] == pytest.approx(3.14159, abs=1e-5)
    assert [*numbers] == ["one", "pi"]
    assert "" not in numbers
    with pytest.raises(KeyError):
        numbers["two"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_package:row", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("math:no_such_thing", "AttributeError"),
        ("math:floor", "it is no number"),
    ],
)
def test_what_is_broken_costs_its_own_row(value, why, entries, caplog):
    entries += [EntryPoint("bad", value, "test.numbers"), EntryPoint("pi", "math:pi", "test.numbers")]
    numbers = table()
    assert [*numbers] == ["one", "pi"]
    assert len(numbers) == 2
    assert caplog.text.count("'bad' of the package") == 1
    assert why in caplog.text
    with pytest.raises(PluginError, match=why):
        numbers["bad"]


def test_ours_come_first_and_no_name_is_given_twice(entries, caplog):
    entries += [EntryPoint("one", "math:pi", "test.numbers")]
    entries += [EntryPoint("e", value, "test.numbers") for value in ("math:tau", "math:e")]
    numbers = table()
    assert {**numbers} == {"one": 1.0, "e": pytest.approx(2.71828, abs=1e-5)}  # by package name
    assert caplog.text.count("there is one already") == 2


def test_a_switch_leaves_them_alone(entries, monkeypatch):
    entries.append(EntryPoint("pi", "math:pi", "test.numbers"))
    monkeypatch.setenv(SWITCH, "0")
    assert [*table()] == ["one"]


@pytest.mark.parametrize(
    ("one", "row", "why"),
    [
        (FORMATS, "urdf", "it is a str, not a Format"),
        (FORMATS, Format("urdf", "URDF"), "is not a full name"),
        (lw.models.MODELS, lw.models.panda, "it is a function, not a Model"),
        (lw.GOALS, lw.Reach("tip", position=(1, 0, 0)), "not a class of goals"),
        (lw.GOALS, lw.Hold, "the class is called 'Hold'"),
        (lw.METHODS, object, "not a dataclass that is a Method"),
        (lw.METHODS, lw.METHODS["damped"], "the method calls itself 'damped'"),
    ],
)
def test_rows_of_the_wrong_kind_are_refused(one, row, why):
    assert why in one._check("name", row)
