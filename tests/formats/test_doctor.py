"""The doctor: everything odd is reported once with its place, and sound files have no remarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import linkwork as lw
from linkwork.cli.app import app
from linkwork.formats import Content, Remark
from linkwork.formats.doctor import examine


def hinge(**options: Any) -> lw.Builder:
    return lw.Builder("arm").revolute("j", "hand", **{"limits": (-1, 1)} | options)


def box(*moments: float, mass: float = 1.0) -> lw.Inertia:
    return lw.Inertia(mass, matrix=np.diag(moments))


def clip(linkage: lw.Linkage, *values: float) -> lw.Clip:
    return lw.Clip(linkage, np.arange(len(values)) / 10, np.array(values)[:, None])


SOUND = {
    "limits": hinge(),
    "a wheel": lw.Builder("a").continuous("j", "hand"),
    "a ball": lw.Builder("a").ball("j", "hand"),
    "a free body": lw.Builder("a", root="floating"),
    "a follower": hinge().revolute("k", "finger", mimic="j"),
    "a sphere's mass": hinge(inertia=box(0.1, 0.1, 0.1)),
    "a rod's mass": hinge(inertia=box(0.1, 0.1, 0.0)),
    "a plate's mass": hinge(inertia=box(0.1, 0.1, 0.2)),
    "a point mass": hinge(inertia=lw.Inertia(2.0)),
    "no mass at all": hinge(inertia=lw.Inertia(0.0)),
    "a pose at a limit": hinge().pose("out", j=1.0),
}
ODD: dict[str, tuple[lw.Builder, str, str, str]] = {
    "zero range": (hinge(limits=(0.5, 0.5)), "zero-range", "j", "both limits are 0.5"),
    "no limits": (hinge(limits=None), "no-limits", "j", "has no limits"),
    "one limit": (hinge(limits=(0, np.inf)), "no-limits", "j", "one side only"),
    "zero range among three": (
        lw.Builder("a").ball("b", "hand", euler="XYZ", lower=(-1, 0, -1), upper=(1, 0, 1)),
        "zero-range",
        "b.ry",
        "both limits are 0",
    ),
    "triangle": (hinge(inertia=box(0.1, 0.1, 0.3)), "inertia", "hand", "0.1, 0.1, 0.3 kg m²"),
    "negative moment": (hinge(inertia=box(-0.1, 0.2, 0.2)), "inertia", "hand", "negative moment"),
    "moments without mass": (hinge(inertia=box(1, 1, 1, mass=0)), "inertia", "hand", "moments of inertia but no mass"),
    "pose": (hinge().pose("out", j=1.25), "pose-beyond-limits", "j", "pose 'out' exceeds the limits of 'j' by 0.25"),
    "loop": (
        hinge().revolute("k", "finger", limits=(-1, 1)).loop("ring", "finger", "base"),
        "loop",
        "ring",
        "'finger' and 'base' close a loop (point)",
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_what_is_sound_is_left_in_peace(name: str) -> None:
    assert examine(Content(SOUND[name].build())) == ()


@pytest.mark.parametrize("name", ODD)
def test_what_is_odd_is_said_once_with_its_place(name: str) -> None:
    builder, kind, where, text = ODD[name]
    (remark,) = examine(Content(builder.build()))
    assert (remark.kind, remark.where) == (kind, where)
    assert text in remark.text


@pytest.mark.parametrize("name", lw.models.MODELS)
def test_ready_made_models_have_no_wrong_masses_poses_or_motions(name: str) -> None:
    linkage = lw.models.build(name)
    kinds = {remark.kind for remark in examine(Content(linkage, {"own": lw.models.motion(name)}))}
    assert kinds <= {"no-limits", "zero-range", "loop", "coupling"}


def test_keys_beyond_limits_are_counted_and_measured() -> None:
    arm = hinge().build()
    motion = clip(arm, 0.0, 1.0, 1.5, -1.25, 1.0 + 1e-12)
    (remark,) = examine(Content(arm, {"wave": motion, "rest": clip(arm, 0.0)}))
    assert (remark.kind, remark.where) == ("unreachable-key", "j")
    assert "by up to 0.5 rad in 2 of 5 frames, the first at 0.2 s" in remark.text


def test_the_readers_remarks_come_first() -> None:
    said = Remark("units", "Lengths are taken as centimetres.", line=3)
    content = Content(hinge(limits=(0, 0)).build(), remarks=(said,))
    assert [remark.kind for remark in examine(content)] == ["units", "zero-range"]


# On the command line


def run(*words: object) -> Any:
    return CliRunner().invoke(app, ["doctor", *(str(word) for word in words)])


def test_a_sound_file_exits_with_zero(tmp_path: Path) -> None:
    lw.save(hinge().build(), tmp_path / "arm.yaml")
    result = run(tmp_path / "arm.yaml")
    assert (result.exit_code, result.stdout.splitlines()[-1], result.stderr) == (0, "nothing odd", "")
    data = json.loads(run(tmp_path / "arm.yaml", "--json").stdout)
    assert (data["readable"], data["remarks"], data["linkage"]["joints"]) == (True, [], 1)


TEXT = "'j' cannot move: both limits are 0.5."


def test_remarks_exit_with_one(tmp_path: Path) -> None:
    lw.save(hinge(limits=(0.5, 0.5)).build(), tmp_path / "arm.yaml")
    result = run(tmp_path / "arm.yaml")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1].split() == ["zero-range", "j", *TEXT.split()]
    result = run(tmp_path / "arm.yaml", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["remarks"] == [{"kind": "zero-range", "text": TEXT, "where": "j", "line": None}]


def test_unreadable_files_exit_with_three(tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text("linkwork: 2\njoints: 7\n", encoding="utf-8")
    result = run(path)
    assert (result.exit_code, result.stdout) == (3, "")
    assert "arm.yaml:2: joints" in result.stderr
    result = run(path, "--json")
    data = json.loads(result.stdout)
    assert (result.exit_code, data["readable"], data["line"]) == (3, False, 2)
    assert "joints" in data["error"]


def test_motions_in_tables_are_examined_for_a_linkage(tmp_path: Path) -> None:
    arm = hinge().build()
    lw.save(arm, tmp_path / "arm.yaml")
    clip(arm, 0.0, 2.0).save(tmp_path / "wave.npz")
    assert "unreachable-key" in run(tmp_path / "wave.npz").stdout
    (tmp_path / "wave.csv").write_text("time [s],j [deg],note\n0,0,1\n1,90,1\n", encoding="utf-8")
    result = run(tmp_path / "wave.csv", "--linkage", tmp_path / "arm.yaml", "--json")
    assert [remark["kind"] for remark in json.loads(result.stdout)["remarks"]] == ["ignored", "unreachable-key"]
