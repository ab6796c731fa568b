"""The command line: results, exit statuses, messages on stderr, and examples in help and docs."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import children
import linkwork as lw
from command_line import command_of, python, run
from linkwork.cli import app as cli
from linkwork.cli.studio import own_name
from linkwork.models.exercises import EXERCISES

COMMANDS = sorted(cli.MODULES)
DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


def quaternion(matrix):
    return Rotation.from_matrix(matrix[:3, :3]).as_quat(scalar_first=True, canonical=True)


@pytest.fixture
def leg(tmp_path):
    """A file with joints for every form of values: plain, Euler angles, quaternion, floating, mimic."""
    b = lw.Builder("leg", base="pelvis", root="floating")
    b.ball("hip", "thigh", euler="XYZ", lower=(-1, -1, -1), upper=(1, 1, 1))
    b.revolute("knee", "shin", at=(0, 0, -0.45), axis="y", limits=("0deg", "140deg"))
    b.ball("ankle", "foot", at=(0, 0, -0.43)).frame("toe", at=(0.2, 0, 0))
    b.revolute("flap", "fin", parent="pelvis", axis=(1, 1, 0), mimic=lw.Mimic("knee", -0.5, 0.1))
    b.prismatic("slide", "box", parent="pelvis", axis="-z", limits=(0.0, 0.3))
    linkage = b.pose("crouch", hip=(0.1, -0.8, 0.0), knee=1.6).build()
    path = tmp_path / "leg.yaml"
    lw.save(linkage, path)
    return path


# Help


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_every_help_has_examples(command):
    result = run(*([command] if command else []), "--help")
    assert result.exit_code == 0
    assert result.stderr == ""
    examples = re.findall(r"^ +\$ linkwork (.*)$", result.stdout, re.MULTILINE)
    assert examples
    assert command is None or all(line.split()[0] == command for line in examples)


def help_examples():
    texts = [cli.app.epilog, *(command_of(name).epilog for name in COMMANDS)]
    return sorted({line for text in texts for line in re.findall(r"\$ linkwork (.*)", text)})


def put_goals(line, folder):
    """Write the input file of an example of `batch` to the path in the example."""
    words = shlex.split(line)
    if words[:2] == ["batch", "retarget"]:
        (folder / words[2]).mkdir()
        lw.save(lw.models.motion("human:floating")[:0.2], folder / words[2] / "wave.bvh")
    elif words[0] == "markers":
        rows = ["PathFileType\t4\t(X/Y/Z)\twalk.trc", "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits"]
        rows += [
            "60\t60\t2\t1\tmm",
            "Frame#\tTime\tHEAD",
            "\t\tX1\tY1\tZ1",
            "",
            "1\t0\t0\t1700\t0",
            "2\t0.0167\t10\t1700\t0",
        ]
        (folder / words[1]).write_text("\n".join(rows) + "\n", encoding="utf-8")
        (folder / "map.yaml").write_text("HEAD: {frame: crown, at: [0, 0, 0]}\n", encoding="utf-8")
    elif words[0] == "synthesis":
        tables = {
            "points.csv": "x,y\n20,20\n20,25\n20,30\n20,35\n20,40\n20,45\n",
            "positions.csv": "0,0,0\n1,0.5,0.4\n2,0.6,1\n",
            "angles.csv": "0deg,0deg\n20deg,24deg\n40deg,44deg\n60deg,60deg\n",
        }
        if words[2] in tables:  # a stroke or a swing needs no table
            (folder / words[2]).write_text(tables[words[2]], encoding="utf-8")
    elif words[0] == "batch":
        parquet = pytest.importorskip("pyarrow.parquet")
        from pyarrow import csv, table

        write = csv.write_csv if words[1].endswith(".csv") else parquet.write_table
        frames = [f"{words[k + 1]}." for k, word in enumerate(words) if word == "--frame"]
        several = frames if len(frames) > 1 else [""]  # frames a row
        place = {"x": [0.4], "y": [0.3], "z": [0.5]}
        write(table({frame + name: values for frame in several for name, values in place.items()}), folder / words[1])


@pytest.mark.parametrize("line", help_examples())
def test_every_example_in_help_runs(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("linkwork.draw.gallery.FPS", 2)
    if line == "demo":  # some cards; test_gallery makes all
        monkeypatch.setattr("linkwork.models.MODELS", dict(islice(lw.models.MODELS.items(), 3)))
        monkeypatch.setattr("linkwork.draw.gallery.MECHANISMS", {"four_bar": (("point",), "Four bars.")})
        few = dict(islice(EXERCISES.items(), 1))  # test_long_motions retargets all
        monkeypatch.setattr("linkwork.draw.performances.EXERCISES", few)
    if line == "demo" or line.startswith("figure all"):  # test_diagrams draws all
        number = "5.8" if line == "demo" else "5.1"
        monkeypatch.setattr("linkwork.models.textbook.FIGURES", {number: lw.textbook.FIGURES[number]})
    put_goals(line, tmp_path)
    monkeypatch.setattr("linkwork.studio.app.Studio.wait", lambda _: None)  # it would serve until interrupted
    monkeypatch.setattr("webbrowser.open", lambda _: True)
    result = run(*shlex.split(line))
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_help_is_plain_text(command):
    text = run(*([command] if command else []), "--help").stdout
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 100


def test_every_command_is_documented():
    text = DOCS.read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"## {name}\n" not in text] == []


def piped():
    """Return the lines of the docs that pipe text into a command, with their output."""
    return re.findall(
        r"^\$ echo '(.*)' \| linkwork (.*)\n((?:(?!\$ |```).*\n)*)", DOCS.read_text(encoding="utf-8"), re.MULTILINE
    )


@pytest.mark.parametrize(("stdin", "line", "expected"), piped())
def test_docs_show_what_stdin_gives(stdin, line, expected):
    assert run(*shlex.split(line), stdin=stdin).stdout == expected


# Model: files and ready-made ones


def test_a_file_gives_the_linkage_it_holds(leg):
    linkage = lw.load(leg)
    data = json.loads(run("info", leg, "--json").stdout)
    assert data["name"] == "leg"
    assert (data["dof"], data["nq"], data["nv"]) == (lw.degrees_of_freedom(linkage), linkage.nq, linkage.nv)
    assert data["coordinates"] == list(linkage.coordinates)
    assert [link["name"] for link in data["links"]] == list(linkage.links)
    assert [joint["name"] for joint in data["joints"]] == list(linkage.joints)
    assert data["frames"] == [{"name": "toe", "link": "foot"}]
    assert list(data["poses"]["crouch"].values()) == linkage.stored_pose("crouch").tolist()


def test_info_describes_joints(leg):
    joints = {joint["name"]: joint for joint in json.loads(run("info", leg, "--json").stdout)["joints"]}
    assert {name: joint["kind"] for name, joint in joints.items()} == {
        "root": "floating",
        "hip": "ball",
        "knee": "revolute",
        "ankle": "ball",
        "flap": "revolute",
        "slide": "prismatic",
    }
    assert joints["knee"]["lower"] == [0.0]
    assert joints["knee"]["upper"] == [pytest.approx(math.radians(140))]
    assert joints["knee"]["axis"] == [0.0, 1.0, 0.0]
    assert joints["hip"]["coordinates"] == ["hip.rx", "hip.ry", "hip.rz"]
    assert joints["ankle"]["upper"] == [None] * 4
    assert joints["flap"]["mimic"] == {"joint": "knee", "multiplier": -0.5, "offset": 0.1}
    assert joints["flap"]["coordinates"] == []


def test_info_draws_the_tree(leg):
    lines = run("info", leg).stdout.splitlines()
    assert lines[0].startswith("leg: 14 DOF, 6 links, 6 joints (")
    tree = [line.split("  ")[0].rstrip() for line in lines[3:9]]
    assert tree == ["● pelvis", "├─● thigh", "│ ● shin", "│ ● foot", "├─● fin", "╰─● box"]
    assert "0 .. 140 deg" in lines[5]
    assert "= -0.5 * knee + 0.1" in lines[7]
    assert "0 .. 0.3 m" in lines[8]
    assert lines[-2:] == ["frames: toe (on foot)", "poses: crouch"]


def test_a_long_chain_stays_narrow():
    result = run("info", "snake:200")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) < 120


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_consoles_of_every_encoding_can_show_a_tree(encoding):
    result = python("info", "human", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert (result.returncode, result.stderr) == (0, b"")
    text = result.stdout.decode(encoding)
    assert ("├─●" in text) == (encoding == "utf-8")
    assert ("|-o" in text) == (encoding != "utf-8")


def test_a_name_that_the_console_cannot_show_is_no_crash(tmp_path):
    lw.save(lw.Builder("腕", base="肩").revolute("肘", "手").build(), tmp_path / "arm.yaml")
    result = python("info", tmp_path / "arm.yaml", PYTHONIOENCODING="cp1252", PYTHONUTF8="0")
    assert result.returncode == 0
    assert b"\\u8098" in result.stdout


# Poses


def test_pose_gives_position_and_quaternion():
    arm = lw.models.planar([15, 10, 5])
    result = run("pose", "planar:15,10,5", "j1=30deg", "j2=0.4", "--frame", "tip", "--json")
    data = json.loads(result.stdout)
    expected = arm.forward(arm.pose(j1="30deg", j2=0.4), frame="tip")
    assert data["pose"] == {"j1": math.radians(30), "j2": 0.4, "j3": 0.0}
    assert data["outside_limits"] == []
    assert data["frames"].keys() == {"tip"}
    assert data["frames"]["tip"]["position"] == expected[:3, 3].tolist()
    np.testing.assert_allclose(data["frames"]["tip"]["quaternion_wxyz"], quaternion(expected), atol=1e-15)


def test_pose_gives_matrices_and_all_frames():
    arm = lw.models.planar([2, 1])
    data = json.loads(run("pose", "planar:2,1", "j1=-1.5", "--all", "--matrix", "--json").stdout)
    expected = arm.forward(arm.pose(j1=-1.5))
    assert list(data["frames"]) == list(arm.frames)
    for name, frame in data["frames"].items():
        np.testing.assert_allclose(frame["matrix"], expected[name], atol=1e-15)


def test_pose_as_text_is_a_table():
    title, row = run("pose", "planar:2,1", "j1=90deg").stdout.splitlines()
    assert title.split() == ["frame", "x", "[m]", "y", "[m]", "z", "[m]", "qw", "qx", "qy", "qz"]
    half = f"{math.sqrt(0.5):.6f}"
    assert row.split() == ["tip", "0.000000", "3.000000", "0.000000", half, "0.000000", "0.000000", half]
    assert run("pose", "planar:2,1", "--matrix").stdout.split()[0] == "tip"


def test_pose_starts_from_a_stored_pose(leg):
    linkage = lw.load(leg)
    data = json.loads(run("pose", leg, "slide=0.2", "--pose", "crouch", "--json").stdout)
    q = linkage.pose(slide=0.2, base="crouch")
    assert list(data["pose"].values()) == q.tolist()
    assert data["frames"]["toe"]["position"] == linkage.forward(q, frame="toe")[:3, 3].tolist()


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("hip=0.1,0.2,0.3", [0.1, 0.2, 0.3]),
        ("hip=10deg,0.2,-0.3rad", ["10deg", 0.2, -0.3]),
        ("hip.ry=-20deg", "-20deg"),
        ("knee=90deg", "90deg"),
        ("ankle=wxyz:0.6,0.8,0,0", {"wxyz": [0.6, 0.8, 0, 0]}),
        ("ankle=xyzw:0.8,0,0,0.6", {"xyzw": [0.8, 0, 0, 0.6]}),
        ("ankle=euler:xyz:10deg,20deg,0", {"euler": ("xyz", ["10deg", "20deg", 0])}),
        ("ankle=rotvec:0.1,0.2,0.3", {"rotvec": [0.1, 0.2, 0.3]}),
        ("root=1,2,3", [1, 2, 3]),
    ],
)
def test_a_joint_value_is_written_as_its_joint_needs(leg, word, value):
    linkage = lw.load(leg)
    data = json.loads(run("pose", leg, word, "--json").stdout)
    expected = linkage.pose({word.partition("=")[0]: value})
    np.testing.assert_allclose(list(data["pose"].values()), expected, atol=1e-15)


def test_values_beyond_the_limits_are_said_and_obeyed(leg):
    result = run("pose", leg, "knee=-0.5", "--json")
    data = json.loads(result.stdout)
    assert data["pose"]["knee"] == -0.5
    assert data["outside_limits"] == ["knee"]
    assert result.stderr == "linkwork: the pose is outside the limits of knee\n"
    assert result.exit_code == 0


def test_stdin_holds_one_pose(leg):
    linkage = lw.load(leg)
    given = {"knee": "30deg", "hip": [0.1, 0.2, 0.3], "ankle": {"wxyz": [0.6, 0.8, 0, 0]}}
    data = json.loads(run("pose", leg, "-", "--json", stdin=json.dumps(given)).stdout)
    np.testing.assert_allclose(list(data["pose"].values()), linkage.pose(given), atol=1e-15)


def test_stdin_holds_many_poses():
    arm = lw.models.planar([2, 1])
    given = [{"j1": 0.3}, {"j2": "45deg"}, [0.5, 0.6], "curl"]
    result = run("pose", "planar:2,1", "-", "--json", stdin=json.dumps(given))
    q = np.array([[0.3, 0.0], [0.0, math.pi / 4], [0.5, 0.6], arm.stored_pose("curl")])
    for one, expected in zip(json.loads(result.stdout), arm.forward(q, frame="tip"), strict=True):
        np.testing.assert_allclose(one["frames"]["tip"]["position"], expected[:3, 3], atol=1e-15)
    text = run("pose", "planar:2,1", "-", stdin=json.dumps(given)).stdout
    assert [line for line in text.splitlines() if line.startswith("pose")] == [f"pose {k}:" for k in range(4)]


def test_the_command_line_comes_after_stdin():
    given = json.dumps([{"j1": 0.3, "j2": 0.1}, {}])
    data = json.loads(run("pose", "planar:2,1", "-", "j1=1", "--json", stdin=given).stdout)
    assert [one["pose"] for one in data] == [{"j1": 1.0, "j2": 0.1}, {"j1": 1.0, "j2": 0.0}]


def test_an_empty_list_of_poses_gives_an_empty_list():
    result = run("pose", "planar:2,1", "-", "--json", stdin="[]")
    assert (result.exit_code, result.stdout) == (0, "[]\n")


# Pictures

STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".gif": b"GIF8"}


@pytest.mark.parametrize("suffix", STARTS)
def test_draw_writes_the_format_its_file_is_named_for(suffix, tmp_path):
    path = tmp_path / f"arm{suffix}"
    result = run("draw", "planar:2,1", "-o", path)
    assert (result.exit_code, result.output) == (0, "")
    assert path.read_bytes().startswith(STARTS[suffix])
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_draw_draws_what_it_is_told(leg, tmp_path):
    linkage = lw.load(leg)
    words = ["slide=0.2", "--pose", "crouch", "--show-frames", "--show-limits", "--labels", "--view", "20,-60"]
    words += ["--size", "500x400"]
    assert run("draw", leg, *words, "-o", tmp_path / "a.svg").exit_code == 0
    q = linkage.pose(slide=0.2, base="crouch")
    look = {"frames": True, "limits": True, "labels": True, "view": (20, -60), "size": (5, 4)}
    lw.draw.pose(linkage, q, path=tmp_path / "b.svg", **look)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_draw_draws_mechanisms_closed_with_what_is_given_kept(tmp_path):
    words = ["crank=1.2", "--mechanism", "--dimensions", "-o", tmp_path / "a.dxf"]
    assert run("draw", "four_bar", *words).exit_code == 0
    bars = lw.models.four_bar()
    q = lw.close(bars, bars.pose(crank=1.2, base="start"), keep="crank")
    lw.draw.mechanism(bars, q, dimensions=True, path=tmp_path / "b.dxf")
    assert (tmp_path / "a.dxf").read_bytes() == (tmp_path / "b.dxf").read_bytes()
    for words, said in (
        (["--dimensions"], "belongs to --mechanism"),
        (["--mechanism", "--view", "top"], "is drawn in its plane"),
        (["--mechanism", "--dimensions", "-o", tmp_path / "a.gif"], "a film or a strip shows the motion"),
    ):
        result = run("draw", "four_bar", *words)
        assert result.exit_code == 2
        assert said in " ".join(result.stderr.split())
    for name in ("moments.svg", "page.html"):
        words = ["--mechanism", "-o", tmp_path / name, *(["--strip", "2"] if name == "moments.svg" else [])]
        assert run("draw", "slider_crank", *words).exit_code == 0
    assert (tmp_path / "moments.svg").read_text(encoding="utf-8").count('id="axes_') == 2
    assert "data-body" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_draw_starts_from_the_pose_that_shows_a_linkage_best(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("draw", "planar:2,1").exit_code == 0
    lw.draw.pose(lw.models.planar([2, 1]), "ready", path=tmp_path / "expected.png")
    assert (tmp_path / "planar.png").read_bytes() == (tmp_path / "expected.png").read_bytes()


def test_draw_writes_to_stdout():
    result = run("draw", "planar:2,1", "-o", "-")
    assert result.exit_code == 0
    assert result.stdout_bytes.startswith(b"\x89PNG")


def test_a_strip_has_as_many_pictures_as_asked_for(tmp_path):
    assert run("draw", "planar:2,1", "--strip", "3", "-o", tmp_path / "a.svg").exit_code == 0
    clip = lw.models.motion("planar:2,1")
    lw.draw.strip(clip, frames=[0, (len(clip) - 1) // 2, len(clip) - 1], path=tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_film_of_a_file_goes_through_its_poses(leg, tmp_path):
    linkage = lw.load(leg)
    assert run("draw", leg, "-o", tmp_path / "a.gif").exit_code == 0
    keys = [(0, linkage.neutral()), (1, "crouch"), (2, linkage.neutral())]
    lw.draw.film(lw.interpolate(linkage, keys, kind="ease"), tmp_path / "b.gif")
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "missing/arm.png"], "there is no folder 'missing'"),
        (["-o", "arm.txt"], "must end in .png, .svg, .pdf, .gif"),
        (["-o", "arm"], "must end in"),
        (["--strip", "0"], "--strip"),
        (["--strip", "two"], "--strip"),
        (["--strip", "3", "j1=1"], "give no pose"),
        (["--strip", "3", "-o", "arm.gif"], "strip"),
        (["--pose", "curl", "-o", "arm.gif"], "give no pose"),
        (["--view", "behind"], "behind"),
        (["--view", "1,2,3"], "--view takes two numbers"),
        (["--view", "nan,0"], "nan"),
        (["--size", "5"], "--size takes width and height"),
        (["--size", "0x5"], "960x540"),
        (["--size", "8,6"], "960x540"),
        (["j9=1"], "no joint 'j9'"),
        (["--pose", "wave"], "no pose 'wave'"),
    ],
)
def test_a_picture_that_cannot_be_drawn_exits_with_2(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("draw", "planar:2,1", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert len(result.stderr.splitlines()) <= 2
    assert list(tmp_path.iterdir()) == []


def test_draw_takes_one_pose(tmp_path):
    result = run("draw", "planar:2,1", "-", "-o", tmp_path / "a.png", stdin="[{}, {}]")
    assert (result.exit_code, result.stdout) == (2, "")


def test_a_file_without_poses_has_no_motion(tmp_path):
    lw.save(lw.Builder("stick").revolute("hinge", "rod").build(), tmp_path / "stick.json")
    result = run("draw", tmp_path / "stick.json", "-o", tmp_path / "stick.gif")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no stored poses" in result.stderr


@pytest.mark.parametrize("words", [["draw", "planar:2,1", "-o", "a.png"], ["demo", "two_link"]])
def test_without_matplotlib_it_says_what_to_install(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "linkwork: drawing needs matplotlib; install it with: pip install 'linkwork[plot]'\n"


def test_demo_says_where_the_page_is(tmp_path, monkeypatch):
    monkeypatch.setattr("linkwork.draw.gallery.FPS", 2)
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    result = run("demo", "two_link", "-o", tmp_path / "new" / "gallery")
    page = tmp_path / "new" / "gallery" / "index.html"
    assert page.exists()
    assert result.stdout.startswith(f"The gallery is at {page} (")
    assert opened == []
    *_, invitation, studio = result.stderr.splitlines()
    assert invitation == "And drag a hand in the browser:"
    for line in [*result.stderr.splitlines()[1:-2], studio]:
        assert line.split()[0] == "linkwork"
    data = json.loads(run("demo", "two_link", "-o", page.parent, "--json", "--open").stdout)
    assert data == {"page": str(page), "bytes": page.stat().st_size}
    assert opened == [page.as_uri()]


@pytest.mark.parametrize(
    ("called", "on_the_path", "typed"),
    [
        (
            ".venv/bin/linkwork",
            None,
            str(Path(".venv/bin/linkwork")),
        ),  # `make demo` in a shell without .venv on its path
        (".venv/bin/linkwork", "/home/someone/.venv/bin/linkwork", "linkwork"),
        ("/somewhere/linkwork/__main__.py", None, "linkwork"),  # python -m linkwork: users do not type that path
    ],
)
def test_demo_proposes_what_can_be_typed(called, on_the_path, typed, monkeypatch):
    monkeypatch.setattr(sys, "argv", [called])
    monkeypatch.setattr("shutil.which", lambda _: on_the_path)
    assert own_name() == typed


def test_demo_into_a_file_exits_with_3(tmp_path):
    (tmp_path / "taken").write_text("", encoding="utf-8")
    result = run("demo", "two_link", "-o", tmp_path / "taken")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "taken" in result.stderr


# Exit statuses

WRONG_USAGE = [
    ([], "Usage:"),
    (["dance"], "No such command 'dance'"),
    (["inof", "panda"], "No such command 'inof'; did you mean 'info'?"),
    (["info"], "Missing argument 'MODEL'"),
    (["info", "panda", "--loud"], "--loud"),
    (["draw", "panda", "-o"], "Option '-o' requires an argument"),
    (["workspace", "panda", "--seed", "-1"], "'--seed': -1 is not in the range x>=0"),
    (["studio", "--port", "x"], "'--port': 'x' is not a valid integer"),
    (["info", "pnada"], "did you mean 'panda'?"),
    (["info", "no-such-thing"], "human"),
    (["info", "planar:1,x"], "x"),
    (["info", "planar:1,nan"], "nan"),
    (["info", "snake:-3"], "-3"),
    (["info", "snake:1e400"], "1e400"),
    (["pose", "planar:2,1", "j1"], "'j1' is not a joint value"),
    (["pose", "planar:2,1", "j1="], "'j1=' is not a joint value"),
    (["pose", "planar:2,1", "=3"], "'=3' is not a joint value"),
    (["pose", "planar:2,1", "j1=x"], "j1=x: not an angle: 'x'"),
    (["pose", "planar:2,1", "j1=30grad"], "30grad"),
    (["pose", "planar:2,1", "j1=nan"], "nan"),
    (["pose", "planar:2,1", "j1=1e999"], "finite"),
    (["pose", "planar:2,1", "j1=-inf"], "finite"),
    (["pose", "planar:2,1", "j1=1,2"], "j1"),
    (["pose", "planar:2,1", "j1=,"], "not an angle: ''"),
    (["pose", "planar:2,1", "j1=1", "j1=2"], "given twice"),
    (["pose", "planar:2,1", "j3=1"], "no joint 'j3' in linkage 'planar'"),
    (["pose", "planar:2,1", "j1=wxyz:1,0,0,0"], "j1"),
    (["pose", "planar:2,1", "--frame", "tpi"], "did you mean 'tip'?"),
    (["pose", "planar:2,1", "--pose", "wave"], "no pose 'wave'"),
]


@pytest.mark.parametrize(
    ("words", "said"), WRONG_USAGE, ids=lambda value: " ".join(value) if type(value) is list else ""
)
def test_wrong_usage_exits_with_2(words, said):
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert words == [] or len(result.stderr.splitlines()) <= 2
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "word",
    ["hip=0.1", "hip=1,2", "hip=1,2,3,4", "ankle=1,0,0,0", "ankle=wxyz:2,0,0,0", "ankle=angle:1", "flap=1", "root=1"],
)
def test_a_value_that_does_not_fit_its_joint_exits_with_2(leg, word):
    result = run("pose", leg, word)
    assert (result.exit_code, result.stdout) == (2, "")
    assert word.partition("=")[0] in result.stderr
    assert len(result.stderr.splitlines()) <= 2


@pytest.mark.parametrize(
    ("stdin", "status"),
    [
        ("", 3),
        ("{", 3),
        ('{"j1": 1} 2', 3),
        ("[" * 100_000, 3),
        ('{"j1": 1, "j1": 2}', 3),
        ("3", 2),
        ('"j1"', 2),
        ("[3]", 2),
        ('["no-such-pose"]', 2),
        ("[[1, 2, 3]]", 2),
        ('{"j1": NaN}', 2),
        ('{"j1": 1e999}', 2),
        ('{"j1": null}', 2),
        ('{"j1": [1, 2]}', 2),
        ('{"j1": {"wxyz": [1, 0, 0, 0]}}', 2),
        ('{"j9": 1}', 2),
    ],
)
def test_bad_json_on_stdin(stdin, status):
    result = run("pose", "planar:2,1", "-", stdin=stdin)
    assert (result.exit_code, result.stdout) == (status, "")
    assert 1 <= len(result.stderr.splitlines()) <= 2


@pytest.mark.parametrize("command", ["info", "pose", "draw"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("missing.yaml", None),
        ("folder.yaml", "folder"),
        ("empty.yaml", b""),
        ("broken.yaml", b"a: [1, 2\nb: }"),
        ("broken.json", b'{"linkwork": 2,'),
        ("binary.yaml", bytes(range(256))),
        ("other.yaml", b"title: a shopping list\n"),
        ("notes.txt", b"hello"),
    ],
)
def test_a_bad_file_exits_with_3(command, name, content, tmp_path):
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    result = run(command, path)
    assert (result.exit_code, result.stdout) == (3, "")
    assert name in result.stderr
    assert len(result.stderr.splitlines()) <= 2


# Processes


def test_version():
    for words in (["--version"], ["--version", "info"]):
        result = run(*words)
        assert (result.exit_code, result.stdout) == (0, f"linkwork {lw.__version__}\n")


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom linkwork.cli.app import app\n"
        "try: app(['--help'])\nfinally: print(*sys.modules, file=sys.stderr)"
    )
    loaded = set(python(code=code).stderr.decode().split())
    assert "click" in loaded
    assert loaded.isdisjoint({"numpy", "scipy", "numba", "matplotlib", "yaml", "msgspec"})


def test_results_and_talk_are_apart_in_a_process():
    result = python("pose", "planar:2,1", "-", "--json", stdin='{"j1": 0.5}')
    assert (result.returncode, result.stderr) == (0, b"")
    assert json.loads(result.stdout)["pose"] == {"j1": 0.5, "j2": 0.0}
    result = python("pose", "planar:2,1", "j9=1")
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.decode().splitlines() == ["linkwork: no joint 'j9' in linkage 'planar'. It has j1, j2."]


@pytest.mark.skipif(os.name == "nt", reason="pipes and signals of another kind")
def test_a_reader_that_leaves_early_is_no_error():
    words = [sys.executable, "-m", "linkwork", "info", "snake:5000"]  # more than a pipe holds
    with children.started(words) as process:
        assert process.stdout.read(6) == b"snake:"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(children.LIMIT) == cli.BROKEN_PIPE


def test_control_c_is_quiet(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("linkwork.cli.options.read_stdin", interrupted)
    result = run("pose", "planar:2,1", "-")
    assert (result.exit_code, result.output) == (130, "")


def test_warmup_says_where_machine_code_comes_from():
    said = json.loads(run("warmup", "--json").stdout)
    assert said["seconds"] >= 0.0
    assert said["from"] in ("pack", "compiler")
    assert said["kept"]
    assert run("warmup").stdout.startswith("kernels are ready: ")


def test_pose_shows_what_joints_bear_and_which_motors_are_too_weak(tmp_path):
    b = lw.Builder("arm").revolute("lift", "rod", axis="-y", inertia=lw.Inertia(2.0, (0.5, 0, 0)), effort=5.0)
    arm = b.revolute("spin", "tool", at=(1, 0, 0), axis="x", effort=5.0).frame("tip", at=(0.1, 0, 0)).build()
    lw.save(arm, tmp_path / "arm.yaml")
    result = run("pose", tmp_path / "arm.yaml", "--torques")
    assert result.exit_code == 0
    assert "lift    9.810000" in result.stdout
    assert "the motors of lift cannot hold the pose" in result.stderr
    data = json.loads(run("pose", tmp_path / "arm.yaml", "lift=90deg", "--torques", "--json").stdout)
    assert data["torques"] == pytest.approx({"lift": 0.0, "spin": 0.0}, abs=1e-12)
    assert data["too_heavy"] == []
