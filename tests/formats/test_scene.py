"""The scene file: users' input is read as intended, and a broken file is refused with file and line."""

from __future__ import annotations

import copy
import json
import math
import random
import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import linkwork as lw
from linkwork.errors import DuplicateNameError, FormatError, TreeError
from linkwork.formats import load, scene, scene_schema, yaml_json
from linkwork.linkage.geometry import SHAPES
from linkwork.linkage.joints import ARTICULATIONS
from linkwork.linkage.tree import LOOP_KINDS
from linkwork.transforms import transform
from scenes import LINKAGES, bits, one

DOCS = Path(__file__).parents[2] / "docs" / "scene.md"

# Input of users

ARM = "{linkwork: 2, joints: [{name: j, parent: a, child: b, kind: revolute%s}]%s}"
POSED = "{linkwork: 2, root: floating, joints: [{name: j, parent: a, child: b, %s}], poses: {p: {%s}}}"


WRITTEN = {
    "defaults": ("{linkwork: 2, joints: [{name: j, parent: a, child: b}]}", one(lw.Fixed())),
    "links by name": ("{linkwork: 2, links: [b, a], joints: [{name: j, parent: a, child: b}]}", one(lw.Fixed())),
    "degrees": (ARM % (", lower: -45deg, upper: 1rad", ""), one(lw.Revolute("z", -math.pi / 4, 1.0))),
    "axis by letter": (ARM % (", axis: -y", ""), one(lw.Revolute("-y"))),
    "an axis of any length": (ARM % (", axis: [0, 0, 2]", ""), one(lw.Revolute("z"))),
    "short exponents": (ARM % (", at: [1e-5, 1E3, +.5]", ""), one(lw.Revolute("z"), (1e-5, 1000.0, 0.5))),
    "euler": (
        ARM % (", rotation: {euler: [xyz, [0, 0, 90deg]]}", ""),
        one(lw.Revolute("z"), transform(rotation={"euler": ("xyz", [0, 0, "90deg"])})),
    ),
    "quaternions": (
        ARM % (", rotation: {xyzw: [1, 0, 0, 0]}", ""),
        one(lw.Revolute("z"), transform(rotation={"wxyz": [0, 1, 0, 0]})),
    ),
    "root by kind": (ARM % ("", ", root: planar"), one(lw.Revolute("z"), root="planar")),
    "root in place": (
        ARM % ("", ", root: {name: foot, kind: floating, at: [0, 0, 1]}"),
        one(lw.Revolute("z"), root=lw.Joint("foot", None, "a", lw.Floating(), (0, 0, 1))),
    ),
    "no limit": (ARM % (", lower: null", ""), one(lw.Revolute("z"))),
    "open limits": (
        "{linkwork: 2, joints: [{name: j, parent: a, child: b, kind: universal, upper: [null, 10deg]}]}",
        one(lw.Universal(upper=(math.inf, math.radians(10)))),
    ),
    "words are texts": ("{linkwork: 2, name: yes, links: [on]}", lw.Linkage([lw.Link("on")], name="yes")),
    "frames": (
        ARM % ("", ", frames: [{name: tip, link: b, at: [0, 0, 1]}]"),
        one(lw.Revolute("z"), frames=[lw.Frame("tip", "b", (0, 0, 1))]),
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_people_write_is_read_as_meant(name: str) -> None:
    text, expected = WRITTEN[name]
    again = scene.parse(text, "scene", "yaml")
    assert again == expected


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("kind: revolute", "j: 90deg", {"j": math.pi / 2}),
        ("kind: planar", "j: [1, 2, 90deg]", {"j.x": 1.0, "j.y": 2.0, "j.angle": math.pi / 2}),
        ("kind: planar", "j.y: 2", {"j.y": 2.0}),
        ("kind: planar", "j: {angle: 90deg}", {"j.angle": math.pi / 2}),
        ("kind: ball", "j: {wxyz: [0, 1, 0, 0]}", {"j.w": 0.0, "j.x": 1.0}),
        ("kind: ball", "j: {xyzw: [1, 0, 0, 0]}", {"j.w": 0.0, "j.x": 1.0}),
        ("kind: ball", "j: {wxyz: [-1, 0, 0, 0]}", {"j.w": -1.0}),  # the other quaternion of the same rotation is kept
        ("kind: ball", "j: {euler: [xyz, [180deg, 0, 0]]}", {"j.w": 0.0, "j.x": 1.0}),
        ("kind: ball, euler: XYZ", "j: {ry: 0.5}", {"j.ry": 0.5}),
        ("kind: planar, axis: y", "j: {x: 2, z: 1}", {"j.x": 2.0, "j.z": 1.0}),
        ("kind: fixed", "root: {z: 0.9, wxyz: [0, 0, 0, 1]}", {"root.z": 0.9, "root.qw": 0.0, "root.qz": 1.0}),
        ("kind: fixed", "root: {position: [1, 0, 0], rotvec: [0, 0, 0]}", {"root.x": 1.0}),
        ("kind: fixed", "root: [1, 2, 3]", {"root.x": 1.0, "root.y": 2.0, "root.z": 3.0}),
    ],
)
def test_a_pose_is_written_by_joint_or_coordinate(kind: str, value: str, expected: dict[str, float]) -> None:
    linkage = scene.parse(POSED % (kind, value), "scene", "yaml")
    np.testing.assert_allclose(linkage.poses["p"], linkage.pose(expected), atol=1e-15)


def test_a_mimic_is_a_joint_or_a_mapping_with_an_angle() -> None:
    text = "{linkwork: 2, joints: [{name: j, parent: a, child: b, kind: revolute}, %s]}"
    short = "{name: k, parent: b, child: c, kind: revolute, mimic: j}"
    long = "{name: k, parent: b, child: c, kind: revolute, mimic: {joint: j, multiplier: -2, offset: 90deg}}"
    assert scene.parse(text % short, "", "yaml").joint("k").mimic == lw.Mimic("j")
    assert scene.parse(text % long, "", "yaml").joint("k").mimic == lw.Mimic("j", -2.0, math.pi / 2)


def test_a_shape_is_named_or_written_in_place() -> None:
    text = """
linkwork: 2
shapes: {ball: {kind: sphere, radius: 1e-2}}
links:
  - {name: a, visuals: [{shape: ball}, {shape: {kind: box, size: [1, 2, 3]}, color: [1, 0, 0], role: collision}]}
"""
    first, second = scene.parse(text, "", "yaml").nodes[0].visuals
    assert first == lw.Visual(lw.Sphere(0.01))
    assert second == lw.Visual(lw.Box((1, 2, 3)), color=(1, 0, 0), role="collision")


def test_the_example_of_the_documentation_is_a_scene() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    lamp = scene.parse(example, DOCS, "yaml")
    assert lamp.links == ("base", "column", "lower arm", "upper arm", "head")
    assert lamp.nodes[2].visuals[0].shape is lamp.nodes[3].visuals[0].shape
    assert lamp.poses["reading"][lamp.coordinate_index["elbow"]] == pytest.approx(math.radians(-70))
    assert bits(scene.parse(scene.dump(lamp, "yaml"), "", "yaml")) == bits(lamp)


def test_the_documentation_names_every_field_and_kind() -> None:
    tables = (*scene.JOINTS.values(), *scene.ROOTS.values(), *scene.SHAPE_ENTRIES.values())
    plain = (
        scene_schema.SceneFile,
        scene_schema.LinkEntry,
        scene_schema.VisualEntry,
        scene_schema.FrameEntry,
        scene_schema.MimicEntry,
    )
    plain += (scene_schema.InertiaEntry, scene_schema.LoopEntry)
    fields = {name for entry in (*tables, *plain, scene_schema.Rotation) for name in entry.__struct_fields__}
    documented = set(re.findall(r"`([\w.]+)`", DOCS.read_text(encoding="utf-8")))
    assert {*fields, *ARTICULATIONS, *SHAPES, *LOOP_KINDS} - documented == set()


# Refused input

OLD = """
linkwork: 1
root: {kind: floating, euler: zxy}
joints:
  - {name: a, parent: base, child: a, kind: ball, euler: xyz}
  - {name: b, parent: a, child: b, kind: ball, euler: xyz, sense: fixed, upper: [1, 2, 3]}
  - {name: c, parent: b, child: c, kind: planar, axis: y}
  - {name: d, parent: c, child: d, kind: planar, axis: [1, 1, 0]}
  - {name: e, parent: d, child: e, kind: ball}
poses:
  here: {c: {x: 1, angle: 90deg}, d.y: 2, a: [0.1, 0.2, 0.3]}
  there: {c.y: 3, c.angle: 0.1, d: [1, 2, 3]}
"""


def test_files_of_version_1_keep_their_meaning():
    """In version 1, lower-case orders meant moving axes, and values of planar joints were x and y in any plane."""
    old = scene.parse(OLD, "old", "yaml")
    assert [arc.articulation for arc in old.arcs] == [
        lw.Floating("ZXY"),
        lw.Ball("XYZ"),
        lw.Ball("xyz", upper=(1, 2, 3)),
        lw.Planar("y"),
        lw.Planar((1, 1, 0)),
        lw.Ball(),
    ]
    here, there = (
        dict(zip(old.coordinates, old.stored_pose(name).tolist(), strict=True)) for name in ("here", "there")
    )
    assert (here["c.z"], here["c.x"], here["c.angle"], here["d.v"]) == (1.0, 0.0, math.pi / 2, 2.0)
    assert (there["c.z"], there["c.x"], there["c.angle"], there["d.u"]) == (0.0, 3.0, 0.1, 1.0)
    assert [here[f"a.r{axis}"] for axis in "xyz"] == [0.1, 0.2, 0.3]
    assert scene.parse(scene.dump(old, "yaml"), "new", "yaml") == old
    assert scene.dump(old, "yaml").startswith("linkwork: 2\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("sense: fixed", "sense: other"), "has no field 'sense'"),
        (("euler: zxy", "euler: 7"), "Expected `str"),
        (("axis: y", "axis: w"), "axis of a planar joint"),
        (("kind: ball}", "kind: ball, name: f}"), "'name' appears twice"),
        (("joints:", "joints: 3\nlinks:"), "joints: Expected `array`"),
        (("here: {c: {x: 1, angle: 90deg}, d.y: 2, a: [0.1, 0.2, 0.3]}", "here: 3"), "a pose is a mapping"),
    ],
)
def test_what_is_wrong_in_a_file_of_version_1_is_said_as_in_any_other(change, message):
    with pytest.raises(FormatError, match=re.escape(message)):
        scene.parse(OLD.replace(*change), "old", "yaml")


HEAD = "linkwork: 2\n"
JOINT = HEAD + "joints:\n  - name: j\n    parent: a\n    child: b\n    kind: revolute\n"

BROKEN = {
    "empty": ("", "is empty", None),
    "only comments": ("# nothing\n", "has no content", None),
    "NUL": ("linkwork: 2\nname: a\0b", "NUL", 2),
    "control character": ("linkwork: 2\nname: a\x07b", "control character '\\x07'", 2),
    "not a mapping": ("- 1", "not a scene file: it should begin with 'linkwork: 2'", None),
    "no version": ("name: arm", "not a scene file: it should begin with 'linkwork: 2'", None),
    "another version": (
        "name: a\nlinkwork: 7\nnew: 1",
        "this file has version 7; this release of linkwork reads 1 and 2",
        2,
    ),
    "a version that is none": ("linkwork: true", "this file has version True", 1),
    "not YAML": (HEAD + "name: a: b", "not YAML: mapping values are not allowed", 2),
    "an open bracket": (HEAD + "links: [a\njoints: []", "not YAML: while parsing a flow sequence", 3),
    "a tab": (HEAD + "\tname: a", "not YAML", 2),
    "two documents": (HEAD + "---\nlinkwork: 2", "a second document begins here", 2),
    "an anchor": (HEAD + "name: &a b", "anchors and aliases ('a')", 2),
    "an alias": (HEAD + "name: *a", "anchors and aliases ('a')", 2),
    "laughs": (HEAD + "links: [&a [x, x], &b [*a, *a], [*b, *b]]", "anchors and aliases", 2),
    "an anchor on a key": (HEAD + "&a name: b", "anchors and aliases", 2),
    "a tag": (HEAD + "name: !!python/object/apply:os.system [ls]", "tag 'tag:yaml.org,2002:python", 2),
    "a key twice": (HEAD + "name: a\nname: b", "'name' appears twice in one mapping", 3),
    "a key that is a list": (HEAD + "? [a]\n: b", "the key of a mapping must be text", 2),
    "too deep": (HEAD + "links: " + "[" * 40 + "]" * 40, "nested deeper than 32 levels", 2),
    "infinity": (JOINT + "    upper: .inf", "not a finite number; for no limit, leave it out", 7),
    "NaN": (JOINT + "    at: [0, .nan, 0]", "not a finite number", 7),
    "overflow": (JOINT + "    at: [0, 1e400, 0]", "1e400 is too large", 7),
    "overflow of digits": (JOINT + "    at: [0, " + "9" * 400 + ", 0]", "is too large", 7),
    "infinity as a text": (JOINT + "    at: [0, inf, 0]", "joints[0].at[1]: Expected `float`, got `str`", 7),
    "an unknown table": (HEAD + "goals: []", "a scene has no field 'goals'. It has linkwork, name, root, shapes", 2),
    "a misspelt table": (HEAD + "joint: []", "did you mean 'joints'?", 2),
    "a misspelt field": (JOINT + "    uper: 1", "a revolute joint has no field 'uper'; did you mean 'upper'?", 7),
    "a field of another kind": (
        HEAD + "joints:\n  - {name: j, parent: a, child: b, axis: z}",
        "joints[0].axis: a fixed joint has no field 'axis'",
        3,
    ),
    "a missing field": (HEAD + "joints:\n  - {name: j, child: b}", "Object missing required field `parent`", 3),
    "an unknown kind": (
        HEAD + "joints:\n  - {name: j, parent: a, child: b,\n     kind: revolut}",
        "no kind of joint 'revolut'; did you mean 'revolute'? There are fixed, revolute, continuous, prismatic",
        4,
    ),
    "a kind that is a list": (HEAD + "joints: [{kind: [a]}]", "no kind of joint ['a']", 2),
    "an unknown kind of root": (HEAD + "root: flying", "no kind of joint 'flying'", 2),
    "a name that is a number": (HEAD + "name: 1.0", "name: Expected `str`, got `float`", 2),
    "a truth for a number": (JOINT + "    at: [0, true, 0]", "joints[0].at[1]: Expected `float`, got `bool`", 7),
    "a short vector": (JOINT + "    at: [0, 0]", "joints[0].at: Expected `array` of length 3, got 2", 7),
    "a list for a mapping": (HEAD + "poses: [1]", "poses: Expected `object`, got `array`", 2),
    "a joint that is a text": (HEAD + "joints:\n  - j", "a fixed joint is a mapping of", 3),
    "a limit that is no angle": (JOINT + "    lower: 45 degrees", "not an angle: '45 degrees'", 3),
    "limits the wrong way": (JOINT + "    lower: 1\n    upper: 0", "lower limit 1 of a revolute joint is above", 3),
    "a zero axis": (JOINT + "    axis: [0, 0, 0]", "axis of a revolute joint must not be zero", 3),
    "an unknown axis": (JOINT + "    axis: w", "must be 'x', 'y', 'z'", 3),
    "four bare numbers": (JOINT + "    rotation: [1, 0, 0, 0]", "Expected `object | null`, got `array`", 7),
    "an unknown rotation": (
        JOINT + "    rotation:\n      quat: [1, 0, 0, 0]",
        "a rotation has no field 'quat'. It has wxyz, xyzw, euler, rotvec, matrix",
        8,
    ),
    "two rotations": (JOINT + "    rotation: {wxyz: [1, 0, 0, 0], rotvec: [0, 0, 0]}", "exactly one form", 7),
    "no rotation": (JOINT + "    rotation: {}", "exactly one form", 7),
    "no unit quaternion": (JOINT + "    rotation: {wxyz: [1, 1, 0, 0]}", "must be a unit quaternion", 7),
    "no rotation matrix": (JOINT + "    rotation: {matrix: [[1,0,0],[0,1,0],[0,0,-1]]}", "is a reflection", 7),
    "an Euler order": (JOINT + "    rotation: {euler: [xyq, [0, 0, 0]]}", "(euler) must be (order, angles)", 7),
    "an unknown shape": (
        HEAD + "shapes: {ball: {kind: sphere, radius: 1}}\nlinks:\n  - name: a\n    visuals:\n      - shape: bal",
        "links[0].visuals[0].shape: no shape 'bal'; did you mean 'ball'? The table of shapes has ball.",
        6,
    ),
    "an unknown kind of shape": (HEAD + "shapes: {a: {kind: cone}}", "no kind of shape 'cone'. There are box", 2),
    "a kind of shape that is a list": (HEAD + "shapes: {a: {kind: []}}", "no kind of shape []", 2),
    "a shape without kind": (HEAD + "shapes:\n  a: {radius: 1}", "no kind of shape None", 3),
    "a shape that is none": (HEAD + "shapes: {a: 3}", "shapes.a: a shape is a mapping", 2),
    "a negative size": (HEAD + "shapes:\n  a: {kind: sphere, radius: -1}", "sphere radius must be positive", 3),
    "a colour": (
        HEAD + "links: [{name: a, visuals: [{shape: {kind: sphere, radius: 1}, color: [2, 0, 0]}]}]",
        "from 0 to 1",
        2,
    ),
    "a role": (HEAD + "links: [{name: a, visuals: [{shape: {kind: sphere, radius: 1}, role: x}]}]", "'collision'", 2),
    "a joint twice": (
        HEAD + "joints:\n  - {name: j, parent: a, child: b}\n  - {name: j, parent: b, child: c}",
        "joints[1]: joint 'j' appears twice in linkage 'linkage'",
        4,
    ),
    "a link twice": (HEAD + "links:\n  - a\n  - a", "link 'a' appears twice", 4),
    "a frame named as a link": (HEAD + "links: [a]\nframes:\n  - {name: a, link: a}", "frame 'a' appears twice", 4),
    "a frame on nothing": (HEAD + "links: [a]\nframes: [{name: f, link: b}]", "no link 'b'", None),
    "a cycle": (HEAD + "joints: [{name: j, parent: a, child: a}]", "form a cycle", None),
    "two roots": (HEAD + "links: [a, b]", "has 2 roots, a, b", None),
    "no links": (HEAD, "no links at all", None),
    "a mimic of nothing": (JOINT + "    mimic: k", "no joint 'k'", None),
    "a mimic that cannot be": (
        HEAD + "joints: [{name: j, parent: a, child: b, kind: ball, mimic: k}]",
        "only one-DOF joints can mimic",
        2,
    ),
    "an offset that is none": (JOINT + "    mimic: {joint: k, offset: far}", "joints[0].mimic: not an angle: 'far'", 7),
    "a pose that is a list": (JOINT + "poses:\n  home: [1]", "poses.home: a pose is a mapping of joints", 8),
    "a pose of nothing": (JOINT + "poses:\n  home: {elbow: 1}", "no joint 'elbow'", 8),
    "a pose of a joint that is none": (JOINT + "poses:\n  home:\n    k: {wxyz: [1, 0, 0, 0]}", "no joint 'k'", 9),
    "a pose with a text": (JOINT + "poses:\n  home: {j: far}", "not an angle: 'far'", 8),
    "a pose with a list for one value": (JOINT + "poses: {p: {j: [1, 2]}}", "Expected `float | str`, got `array`", 7),
    "a pose for a hinge": (JOINT + "poses:\n  home: {j: {wxyz: [1, 0, 0, 0]}}", "home.j: Expected `float", 8),
    "a pose with a short quaternion": (
        HEAD + "joints: [{name: j, parent: a, child: b, kind: ball}]\nposes:\n  home: {j: {wxyz: [1, 0, 0]}}",
        "Expected `array` of length 4",
        4,
    ),
    "a pose with no unit quaternion": (
        HEAD + "joints: [{name: j, parent: a, child: b, kind: ball}]\nposes:\n  home: {j: {wxyz: [2, 0, 0, 0]}}",
        "must be a unit quaternion",
        4,
    ),
}

BROKEN_JSON = {
    "not JSON": ('{\n  "linkwork": 2,\n  "name": }', "not JSON: Expecting value", 3),
    "a key twice": ('{"linkwork": 2,\n "name": "a",\n "name": "b"}', "'name' appears twice in one mapping", 3),
    "NaN": ('{"linkwork": 2, "links": [NaN]}', "NaN is not a finite number", None),
    "infinity": ('{"linkwork": 2, "links": [-Infinity]}', "-Infinity is not a finite number", None),
    "overflow": ('{"linkwork": 2,\n "links": [1e999]}', "1e999 is too large", 2),
    "too deep": ('{"linkwork": 2,\n "links": ' + "[" * 40 + "]" * 40 + "}", "nested deeper than 32 levels", 2),
    "endlessly deep": ("[" * 200_000, "nested deeper than 32 levels", None),
    "a wrong type": ('{\n\t"linkwork": 2,\n\t"name": 5\n}', "name: Expected `str`, got `int`", 3),
    "a wrong kind": ('{"linkwork": 2,\n "joints": [\n  {"kind": "bal"}]}', "did you mean 'ball'?", 3),
    "half a character": ('{"linkwork": 2, "name": "\\ud83d"}', "contains '\\ud83d', which is not a character", None),
    "after two halves": ('{"linkwork": 2, "name": "\\ud83d\\ude00",\n "links": 5}', "links: Expected `array`", None),
    "YAML": ("linkwork: 2", "not JSON", 1),
}

TABLE = [("yaml", name, *row) for name, row in BROKEN.items()] + [
    ("json", name, *row) for name, row in BROKEN_JSON.items()
]


@pytest.mark.parametrize(
    ("kind", "name", "text", "message", "line"), TABLE, ids=[f"{row[0]} {row[1]}" for row in TABLE]
)
def test_a_broken_file_is_refused(
    kind: str, name: str, text: str, message: str, line: int | None, tmp_path: Path
) -> None:
    path = tmp_path / f"broken.{kind}"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=re.escape(message)) as caught:
        load(path)
    assert caught.value.line == line
    assert caught.value.path == path
    assert str(caught.value).startswith(f"{path}:{line}: " if line else f"{path}: ")


def test_an_error_of_the_linkage_is_the_cause() -> None:
    with pytest.raises(FormatError) as caught:
        scene.parse(HEAD + "links: [a, b]", "two.yaml", "yaml")
    assert isinstance(caught.value.__cause__, TreeError)
    with pytest.raises(FormatError) as caught:
        scene.parse(HEAD + "links: [a, a]", "two.yaml", "yaml")
    assert isinstance(caught.value.__cause__, DuplicateNameError)


@given(text=st.one_of(st.text(), st.text("{}[]:,-&*!?|>'\"%@` \n#ab1.").map(lambda tail: HEAD + tail)))
def test_any_text_is_a_scene_or_a_format_error(text: str) -> None:
    for kind in yaml_json.KINDS:
        with suppress(FormatError):  # nothing else comes out
            scene.parse(text, "text", kind)


ODD_VALUES = (
    *(None, True, 0, -1, 1.5, 1e150, 5e-324, 10**30, "", "x", "45deg", "inf", "nan", "\ud800", "a\0b", "root", "ball"),
    *([], {}, [[]], [0], [0, 0, 0], [1e100] * 3, [None] * 3, ["1deg"] * 3, ["xyz", ["inf", 0, 0]], {"a": {"b": [1]}}),
    *({"wxyz": [0, 0, 0, 0]}, {"euler": ["", []]}, {"euler": ["xyz", [1, 2]]}, {"euler": ["XyZ", [1, 2, 3]]}),
    *({"kind": "box"}, {"kind": []}, {"matrix": [[1e200] * 3] * 3}, {"position": 5}, {"rotvec": [1e-320, 0, 0]}),
)
ODD_KEYS = ("kind", "axis", "lower", "at", "rotation", "mimic", "shape", "x", "unknown")


@given(name=st.sampled_from(["floating", "every_shape", "odd_names", "open_limits", "tree 20"]), seed=st.integers(0))
def test_a_damaged_scene_is_a_scene_or_a_format_error(name: str, seed: int) -> None:
    chance = random.Random(seed)
    document = json.loads(scene.dump(LINKAGES[name](), "json"))
    places, stack = [], [document]
    while stack:
        owner = stack.pop()
        for key, value in list(owner.items() if isinstance(owner, dict) else enumerate(owner)):
            places.append((owner, key))
            stack += [value] if isinstance(value, dict | list) else []
    owner, key = chance.choice(places)
    value = copy.deepcopy(chance.choice(ODD_VALUES))
    if chance.random() < 0.7:
        owner[key] = value
    elif isinstance(owner, dict):
        owner[chance.choice(ODD_KEYS)] = value
    else:
        del owner[key]
    with suppress(FormatError):  # nothing else comes out
        scene.parse(json.dumps(document), "text", "json")


@pytest.mark.parametrize("kind", yaml_json.KINDS)
def test_a_document_is_as_deep_as_the_limit_and_no_deeper(kind: str) -> None:
    deepest = "[" * yaml_json.MAX_DEPTH + "]" * yaml_json.MAX_DEPTH
    assert yaml_json.read(deepest, "deep", kind) == json.loads(deepest)
    with pytest.raises(FormatError, match="deep:1: nested deeper than 32 levels"):
        yaml_json.read(f"[{deepest}]", "deep", kind)


def test_a_document_is_yaml_or_json() -> None:
    with pytest.raises(FormatError, match="'yaml' or 'json', got 'toml'"):
        scene.parse("", "x", "toml")
    with pytest.raises(FormatError, match="'yaml' or 'json', got 'toml'"):
        scene.dump(lw.Linkage([lw.Link("a")]), "toml")
