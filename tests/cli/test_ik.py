"""Commands of inverse kinematics: the library's numbers, exit statuses, goals on stdin, hostile input.

`test_app` runs the examples in the help of all commands.
"""

from __future__ import annotations

import csv
import io
import json
import math
import zipfile

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.cli import app as cli
from linkwork.draw.figure_films import figure_film
from linkwork.explain.races import race
from linkwork.models.textbook import FIGURES, FRAMES, START, largest_step
from linkwork.solvers import METHODS

ARM = "planar:15,10,5"
BEGIN = ",".join(map(repr, START))


def run(*words, stdin=None):
    return CliRunner().invoke(cli.app, [*map(str, words)], input=stdin, prog_name="linkwork")


def data(*words, stdin=None, status=0):
    """Run a command with --json and return what it prints."""
    result = run(*words, "--json", stdin=stdin)
    assert (result.exit_code, result.stderr) == (status, "")
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def arm():
    return lw.models.planar([15, 10, 5])


@pytest.fixture
def bare(tmp_path):
    """A file with a linkage without frames other than links."""
    path = tmp_path / "bare.yaml"
    lw.save(
        lw.Builder("bare").revolute("hinge", "rod").prismatic("rail", "cart", axis="x", limits=(0, 1)).build(), path
    )
    return path


# Solving


@pytest.mark.parametrize("method", [None, "damped", "ccd"])
def test_solve_gives_what_the_library_gives(arm, method):
    words = [] if method is None else ["--method", method]
    got = data("solve", ARM, "--position", "-20,5", "--start", "ready", *words)
    chosen = {} if method is None else {"method": method}
    expected = lw.solve(arm, lw.Reach("tip", position=(-20, 5)), start="ready", **chosen)
    assert got["success"] is True
    assert list(got["pose"].values()) == expected.q.tolist()
    assert list(got["degrees"].values()) == np.degrees(expected.q).tolist()
    assert (got["iterations"], got["reason"], got["freedom"]) == (expected.iterations, expected.reason, 1)
    assert got["residuals"] == [{"frame": "tip", "error": expected.residual, "unit": "m"}]
    assert got["frames"]["tip"]["position"] == arm.forward(expected.q, frame="tip")[:3, 3].tolist()


def test_solve_all_prints_every_solution():
    got = data("solve", "planar:2,1", "--position", "1,2", "--all")
    assert (got["count"], got["dimension"], got["complete"]) == (2, 0, True)
    reached = lw.models.planar([2, 1]).forward([list(one["pose"].values()) for one in got["solutions"]], frame="tip")
    np.testing.assert_allclose(reached[:, :2, 3], [[1, 2]] * 2, atol=1e-8)
    text = run("solve", "planar:2,1", "--position", "1,2", "--all")
    assert text.stdout.startswith("2 solutions; proven, by the closed form of the family 'point in a plane'")
    text = run("solve", "planar:2,1,1", "--position", "1,2", "--all")
    assert "another curve is unlikely but not excluded" in text.stdout
    assert len(run("solve", "planar:2,1", "--position", "1,2", "--all", "--csv").stdout.splitlines()) == 3


def test_solve_all_says_how_many_collide(tmp_path):
    lw.World([lw.Obstacle(lw.Sphere(0.1), (0, 2, 0), name="ball")]).save(tmp_path / "cell.yaml")
    words = ("solve", "planar:2,1", "--position", "1,2", "--all", "--world", str(tmp_path / "cell.yaml"))
    assert run(*words).stdout.startswith("1 solution; 1 more collides; proven, by the closed form ")
    got = data(*words)
    assert (got["count"], got["dropped"]) == (1, 1)


@pytest.mark.parametrize(("words", "code"), [(("4,0",), 1), (("1,2", "--method", "damped"), 2)])
def test_solve_all_says_that_there_is_none_and_refuses_a_method(words, code):
    assert run("solve", "planar:2,1", "--all", "--position", *words).exit_code == code


TURN = Rotation.from_euler("xyz", [math.pi, 0.0, 0.3])


@pytest.mark.parametrize(
    "text",
    [
        "wxyz=" + ",".join(map(repr, TURN.as_quat(scalar_first=True).tolist())),
        "xyzw=" + ",".join(map(repr, TURN.as_quat().tolist())),
        "euler=xyz:180deg,0,0.3",
        "euler=XYZ:" + ",".join(map(repr, TURN.as_euler("XYZ").tolist())),
        "rotvec=" + ",".join(map(repr, TURN.as_rotvec().tolist())),
        "matrix=" + ",".join(map(repr, TURN.as_matrix().ravel().tolist())),
    ],
)
def test_every_form_of_an_orientation_is_reached(text):
    got = data("solve", "panda", "--position", "0.4,0.2,0.5", "--orientation", text, "--start", "ready")
    place = got["frames"]["tip"]
    np.testing.assert_allclose(place["position"], [0.4, 0.2, 0.5], atol=1e-4)
    reached = Rotation.from_quat(place["quaternion_wxyz"], scalar_first=True)
    assert (reached * TURN.inv()).magnitude() < 1e-3
    assert [residual["unit"] for residual in got["residuals"]] == ["m", "rad"]


def test_solve_takes_settings_and_options(arm):
    words = ["--tolerance", "0.5", "--max-iterations", 70, "--limits", "ignore", "--set", "damping=5", "--set"]
    got = data("solve", ARM, "--position", "-20,5", "--method", "damped", "--start", "ready", *words, "max-step=10deg")
    expected = lw.solve(
        arm,
        lw.Reach("tip", position=(-20, 5)),
        start="ready",
        method="damped",
        tolerance=0.5,
        max_iterations=70,
        limits="ignore",
        damping=5,
        max_step=math.radians(10),
    )
    assert list(got["pose"].values()) == expected.q.tolist()
    assert got["iterations"] == expected.iterations


def test_solve_and_track_move_the_joints_that_are_named(arm):
    start = np.array([0.3, 0.4, -0.2])
    place = arm.forward(np.array([0.3, 1.1, 0.6]), frame="tip")[:2, 3]
    words = (ARM, f"--position={float(place[0])!r},{float(place[1])!r}", "--start", "0.3,0.4,-0.2", "--joints", "j2,j3")
    solved = data("solve", *words, "--method", "damped", "--weight", "j2=3")
    goal = lw.Reach("tip", position=place)
    same = lw.solve(arm, goal, start=start, method="damped", joints=["j2", "j3"], weights={"j2": 3.0})
    assert solved["pose"] == dict(zip(arm.coordinates, same.q.tolist(), strict=True))
    assert solved["pose"]["j1"] == 0.3
    frames = data("track", *words, "--frames", 5)["poses"]
    assert {pose[0] for pose in frames} == {0.3}
    refused = run("solve", *words[:-1], "j9")
    assert refused.exit_code == 2
    assert "j1, j2, j3" in refused.stderr


def test_solve_takes_ranges():
    words = ("solve", "panda", "--position", "0.4,0.2,0.5", "--orientation", "wxyz=0,1,0,0", "--start", "ready")
    solved = data(*words, "--position-range", "0.01,0,0", "--rotation-range=0,0,-30deg:10deg")
    panda = lw.models.panda()
    goal = lw.Reach(
        "tip", position=(0.4, 0.2, 0.5), orientation={"wxyz": (0, 1, 0, 0)},
        position_range=(0.01, 0, 0), rotation_range=(0, 0, ("-30deg", "10deg")),
    )  # fmt: skip
    same = lw.solve(panda, goal, start="ready")
    assert solved["success"]
    assert list(solved["pose"].values()) == same.q.tolist()
    many = [{"position": [0.4, 0.2, 0.5], "position_range": 0.01, "range_axes": "world"}]
    assert data("solve", "panda", "-", stdin=json.dumps(many))[0]["success"]


def test_an_option_may_be_a_list_or_a_word(arm):
    words = ["--set", "gains=0.1,0.5,0.1", "--set", "desired=0,0,0", "--set", "form=gradient"]
    got = data("solve", ARM, "--position", "-20,5", "--method", "control", "--start", "ready", *words)
    options = {"gains": [0.1, 0.5, 0.1], "desired": [0.0, 0.0, 0.0], "form": "gradient"}
    expected = lw.solve(arm, lw.Reach("tip", position=(-20, 5)), start="ready", method="control", **options)
    assert list(got["pose"].values()) == expected.q.tolist()


@pytest.mark.parametrize(
    ("words", "pose"),
    [
        ([], [0.0, 0.0, 0.0]),
        (["ready"], "ready"),
        (["0.1,0.2,30deg"], [0.1, 0.2, math.radians(30)]),
        (["-.5,0,1"], [-0.5, 0.0, 1.0]),
        (["j2=0.4", "j3=10deg"], [0.0, 0.4, math.radians(10)]),
        (["0.1,0.2,0.3", "j2=0.4"], [0.1, 0.4, 0.3]),
    ],
)
def test_a_solve_begins_where_it_is_told(arm, words, pose):
    starts = [part for word in words for part in ("--start", word)]
    got = data("solve", ARM, "--position", "100,0", "--max-iterations", 0, "--method", "damped", *starts, status=1)
    expected = arm.stored_pose(pose) if isinstance(pose, str) else pose
    np.testing.assert_allclose(list(got["pose"].values()), expected, atol=1e-15)


def test_a_goal_out_of_reach_exits_with_1_and_says_why(arm):
    result = run("solve", ARM, "--position", "-35,5", "--start", "ready", "--explain")
    solution = lw.solve(arm, lw.Reach("tip", position=(-35, 5)), start="ready")
    assert (result.exit_code, result.stderr) == (1, "")
    assert result.stdout.startswith(solution.explain())
    assert "out of reach" in result.stdout
    got = data("solve", ARM, "--position", "-35,5", "--start", "ready", "--explain", status=1)
    assert (got["success"], got["reason"], got["explanation"]) == (False, solution.reason, solution.explain())


def test_a_solve_as_text_has_degrees_for_angles_and_none_for_lengths(bare):
    lines = run("solve", bare, "--frame", "cart", "--position", "0.5,0,0").stdout.splitlines()
    hinge, rail = (next(line.split() for line in lines if line.startswith(name)) for name in ("hinge", "rail"))
    assert hinge[2] == "rad"
    assert math.radians(float(hinge[3])) == pytest.approx(float(hinge[1]), abs=1e-5)
    assert rail == ["rail", "0.500000", "m"]


@pytest.mark.parametrize(
    ("model", "frame"), [(ARM, "tip"), ("ur5", "tip"), ("snake:5", "head"), ("human", "right_toe")]
)
def test_without_a_frame_it_is_the_tip_or_the_last(model, frame):
    got = data("solve", model, "--position", "9,9,9", "--max-iterations", 1, "--method", "damped", status=1)
    assert list(got["frames"]) == [frame]


def test_a_linkage_without_frames_needs_a_name(bare):
    result = run("solve", bare, "--position", "1,0,0")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--frame: linkage 'bare' has" in result.stderr
    assert "cart" in result.stderr


# Goals on stdin


def test_stdin_holds_one_goal():
    goal = {"frame": "tip", "position": [0.4, 0.2, 0.5], "orientation": {"euler": ["xyz", ["180deg", 0, 0]]}}
    got = data("solve", "panda", "-", "--start", "ready", stdin=json.dumps(goal))
    words = ["--position", "0.4,0.2,0.5", "--orientation", "euler=xyz:180deg,0,0"]
    assert got == data("solve", "panda", *words, "--start", "ready")


def test_stdin_holds_many_goals(arm):
    points = [[-20, 5], [10, 10], [40, 0]]
    stdin = json.dumps([{"position": point} for point in points])
    results = data("solve", ARM, "-", "--start", "ready", stdin=stdin, status=1)
    assert [result["success"] for result in results] == [True, True, False]
    for result, point in zip(results, points, strict=True):
        expected = lw.solve(arm, lw.Reach("tip", position=point), start="ready")
        assert list(result["pose"].values()) == expected.q.tolist()
    text = run("solve", ARM, "-", "--start", "ready", stdin=stdin).stdout
    assert [line for line in text.splitlines() if line.startswith("goal")] == ["goal 0:", "goal 1:", "goal 2:"]


def test_a_list_in_the_list_is_reached_at_once():
    human = lw.models.human()
    q = human.pose(base="reach")
    goals = [{"frame": f, "position": human.forward(q, frame=f)[:3, 3].tolist()} for f in ("left_hand", "right_hand")]
    (got,) = data("solve", "human", "-", stdin=json.dumps([goals]))
    assert [residual["frame"] for residual in got["residuals"]] == ["left_hand", "right_hand"]
    assert max(residual["error"] for residual in got["residuals"]) < 1e-4


def test_csv_in_and_csv_out(arm, tmp_path):
    path = tmp_path / "goals.csv"
    path.write_text("\ufeffx, y\r\n-20, 5\r\n\r\n10, 10\r\n", encoding="utf-8")
    for source, stdin in ((path, None), ("-", path.read_text(encoding="utf-8"))):
        result = run("solve", ARM, source, "--csv", "--start", "ready", stdin=stdin)
        assert (result.exit_code, result.stderr) == (0, "")
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        assert list(rows[0])[:5] == ["goal", "success", "iterations", "position_error", "rotation_error"]
        for row, point in zip(rows, [(-20, 5), (10, 10)], strict=True):
            expected = lw.solve(arm, lw.Reach("tip", position=point), start="ready")
            assert [float(row[name]) for name in arm.coordinates] == expected.q.tolist()
            assert (row["success"], row["rotation_error"]) == ("true", "")


def test_csv_holds_orientations():
    turn = ",".join(map(repr, TURN.as_quat(scalar_first=True).tolist()))
    (got,) = data("solve", "panda", "-", "--start", "ready", stdin=f"x,y,z,qw,qx,qy,qz\n0.4,0.2,0.5,{turn}\n")
    reached = Rotation.from_quat(got["frames"]["tip"]["quaternion_wxyz"], scalar_first=True)
    assert (reached * TURN.inv()).magnitude() < 1e-3


def test_no_goals_give_no_results():
    assert data("solve", ARM, "-", stdin="[]") == []
    assert data("solve", ARM, "-", stdin="x,y\n") == []


@pytest.mark.parametrize(
    ("stdin", "status"),
    [
        ("", 3),
        (" \n", 3),
        ("{", 3),
        ("[" * 100_000, 3),
        ('{"position": [1, 2], "position": [1, 2]}', 3),
        ("\x00\x01", 3),
        ("1,2\n", 3),
        ("x\n1\n", 3),
        ("x,y,x\n1,2,3\n", 3),
        ("x,y,w\n1,2,3\n", 3),
        ("x,y\n1\n", 3),
        ("x,y\n1,2,3\n", 3),
        ("x,y\n1,two\n", 3),
        ('x,y\n"1,2\n', 3),
        ("x,y,qw\n1,2,1\n", 3),
        ("x,y\n1,nan\n", 2),
        ("x,y\n1,1e999\n", 2),
        ("x,y,qw,qx,qy,qz\n1,2,0,0,0,0\n", 2),
        ("x,y,frame\n1,2,tpi\n", 2),
        ("{}", 2),
        ("[3]", 2),
        ("[[]]", 2),
        ("[[[]]]", 2),
        ('{"position": null}', 2),
        ('{"position": "here"}', 2),
        ('{"position": [1]}', 2),
        ('{"position": [1, NaN]}', 2),
        ('{"position": [1, [2]]}', 2),
        ('{"position": {"x": 1}}', 2),
        ('{"place": [1, 2]}', 2),
        ('{"frame": 3, "position": [1, 2]}', 2),
        ('{"frame": "tpi", "position": [1, 2]}', 2),
        ('{"position": [1, 2], "weight": -1}', 2),
        ('{"orientation": [1, 0, 0, 0]}', 2),
        ('{"orientation": {"wxyz": [2, 0, 0, 0]}}', 2),
        ('{"orientation": {"euler": "xyz"}}', 2),
        ('{"orientation": {"matrix": [[1, 0], [0, 1]]}}', 2),
        ('{"orientation": {"wxyz": [1, 0, 0, 0], "rotvec": [0, 0, 0]}}', 2),
    ],
)
def test_bad_goals_on_stdin(stdin, status):
    result = run("solve", ARM, "-", stdin=stdin)
    assert (result.exit_code, result.stdout) == (status, ""), result.output
    assert 1 <= len(result.stderr.splitlines()) <= 2


def test_goals_in_a_file_that_is_not_there(tmp_path):
    result = run("solve", ARM, tmp_path / "none.csv")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "none.csv" in result.stderr


# Motions


@pytest.mark.parametrize(
    ("words", "goal", "pose", "largest"),
    [
        (["--method", "pseudoinverse"], "-20,5", [2.1311, 1.3710, 0.6588], None),
        (["--set", "damping=5"], "-20,5", [2.1104, 1.3992, 0.6733], None),
        (["--method", "pseudoinverse"], "-35,5", None, 1.36),
        (["--set", "damping=5"], "-35,5", None, 0.30),
    ],
)
def test_track_gives_the_numbers_of_the_chapter(words, goal, pose, largest):
    got = data("track", ARM, "--position", goal, "--start", BEGIN, "--steps", 1, *words)
    assert len(got["poses"]) == len(got["effector"]) == len(got["times"]) == FRAMES
    if pose is not None:
        np.testing.assert_allclose(got["poses"][-1], pose, atol=1e-4)
    if largest is not None:
        assert round(got["largest_step"], 2) == largest


def test_track_gives_what_the_library_gives(arm):
    got = data("track", ARM, "--position", "-20,5", "--start", "ready", "--frames", 9, "--fps", 10)
    clip = lw.track(arm, lw.Reach("tip", position=(-20, 5)), start="ready", frames=9, fps=10)
    assert got["poses"] == clip.poses.tolist()
    assert got["times"] == clip.times.tolist()
    assert got["residuals"] == clip.residuals.tolist()
    assert got["effector"] == clip.forward(frame="tip")[:, :3, 3].tolist()
    assert got["missed"] == []
    assert got["largest_step"] == largest_step(clip)


def test_a_track_without_a_start_begins_where_the_line_can_be_followed(arm):
    got = data("track", ARM, "--position", "-20,5")
    assert got["missed"] == []
    assert got["largest_step"] < 0.5
    assert got["poses"] == lw.track(arm, lw.Reach("tip", position=(-20, 5))).poses.tolist()


@pytest.mark.parametrize("closed", [False, True])
def test_track_passes_points(arm, closed, tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("y,x\n0,20\n8,18\n8,10\n", encoding="utf-8")  # columns are identified by name
    words = ["--path", path, "--frames", 12, "--start", "ready", *(["--closed"] if closed else [])]
    goals = lw.paths.spline("tip", [(20, 0), (18, 8), (10, 8)], frames=12, closed=closed)
    assert data("track", ARM, *words)["poses"] == lw.track(arm, goals, start="ready").poses.tolist()


def test_a_track_can_look_ahead(tmp_path):
    points = tmp_path / "points.csv"
    points.write_text("x,y\n1.5,0.5\n1.2,1.0\n1.5,1.5\n", encoding="utf-8")
    words = ("planar:2,1", "--path", points, "--frames", 6, "--start", "0.1,0.9")
    near, ahead = data("track", *words), data("track", *words, "--lookahead")
    np.testing.assert_allclose(ahead["poses"], near["poses"], atol=1e-3)
    assert run("track", *words, "--lookahead", "--steps", 1).exit_code == 2


def test_a_track_that_leaves_its_path_exits_with_1():
    got = data("track", ARM, "--position", "-35,5", "--start", "ready", status=1)
    assert got["missed"][-1] == FRAMES - 1
    result = run("track", ARM, "--position", "-35,5", "--start", "ready", "--steps", 1)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "beyond the tolerance" in result.stdout


SUFFIXES = {
    ".png": b"\x89PNG",
    ".svg": b"<?xml",
    ".pdf": b"%PDF",
    ".gif": b"GIF8",
    ".html": b"<!doc",
    ".json": b"{",
    ".csv": b"time [s],j1 [rad],",
}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_track_writes_what_its_file_is_named_for(suffix, tmp_path):
    path = tmp_path / f"motion{suffix}"
    result = run("track", ARM, "--position", "-20,5", "--start", "ready", "--frames", 3, "-o", path)
    assert result.exit_code == 0
    assert ("left out" in result.stderr) if suffix == ".csv" else not result.stderr
    assert path.read_bytes().startswith(SUFFIXES[suffix])
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_the_numbers_of_a_motion_are_the_same_in_every_file(tmp_path):
    words = ["track", ARM, "--position", "-20,5", "--start", "ready"]
    printed = data(*words, "-o", tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == printed
    assert run(*words, "-o", tmp_path / "a.csv").exit_code == 0
    rows = np.loadtxt(tmp_path / "a.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(rows, np.column_stack([printed["times"], printed["poses"]]))


# Workspaces, races, figures


def test_workspace_of_a_planar_arm_is_a_ring():
    got = data("workspace", "two_link:1,0.8", "--samples", 3000)
    assert got["annulus"] == pytest.approx([0.2, 1.8])
    found = lw.explain.workspace(lw.models.two_link(1, 0.8), "tip", samples=3000)
    assert [got["extent"]["lower"], got["extent"]["upper"]] == [bound.tolist() for bound in found.extent]
    assert (got["points"], got["planar"], got["dexterous_share"]) == (3000, True, None)
    assert "0.2 to 1.8 m" in run("workspace", "two_link:1,0.8", "--samples", 10).stdout


def test_workspace_tells_the_dexterous_share():
    got = data("workspace", ARM, "--samples", 50, "--orientations", 2)
    found = lw.explain.workspace(lw.models.planar([15, 10, 5]), "tip", samples=50, orientations=2)
    assert got["points"] == 50
    assert got["dexterous_share"] == len(found.dexterous) / 50
    assert 0.0 < got["dexterous_share"] <= 1.0
    assert got["dexterous_rings"] == [[10.0, 20.0]]
    text = run("workspace", ARM, "--samples", 50, "--orientations", 2).stdout
    assert "in every orientation: 10 to 20 m" in text
    assert "of 50 points" in text


# What people type


@pytest.mark.parametrize(
    "words",
    [
        ["solve", ARM, "--position", "-20", "5"],
        ["solve", ARM, "--position", "-20 5"],
        ["solve", ARM, "--position", "(-20,5)"],
        ["solve", ARM, "--position", "[-20; 5]"],
        ["solve", ARM, "(-20,5)"],
        ["track", ARM, "--position", "-20", "5"],
        ["race", ARM, "--position", "(-20, 5)"],
        ["solve", ARM, "-20", "5"],
    ],
    ids=" ".join,
)
def test_a_position_written_otherwise_is_told_how(words):
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--position=-20,5" in result.stderr


def test_an_angle_is_no_length():
    result = run("solve", ARM, "--position=90deg,5")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "not a length: '90deg'; write a number in metres" in result.stderr
    result = run("pose", "stanford", "boom=90deg")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "not a length" in result.stderr


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["pose", ARM, "j1=45"], "j1=45: 45 is radians, 7.16 turns; did you mean 45deg? Write 45rad for radians."),
        (["pose", ARM, "j1=45deg"], ""),
        (["pose", ARM, "j1=45rad"], ""),
        (["pose", ARM, "j1=6.2"], ""),
        (["pose", "stanford", "boom=0.5"], ""),
        (["pose", "stanford", "boom=7"], "outside the limits of boom"),
        (["solve", ARM, "--position=-20,5", "--start", "22.5,45,45"], "did you mean 22.5deg?"),
        (["solve", ARM, "--position=-20,5", "--start", "ready", "--start", "j2=-90"], "did you mean -90deg?"),
        (["solve", "panda", "--orientation", "euler=xyz:180,0,0"], "did you mean 180deg?"),
        (["solve", "panda", "--orientation", "rotvec=0,0,90"], "did you mean 90deg?"),
    ],
    ids=lambda value: " ".join(value) if type(value) is list else "",
)
def test_an_angle_beyond_a_turn_gets_a_question(words, asked):
    result = run(*words)
    assert asked in result.stderr
    assert bool(result.stderr) == bool(asked)
    assert result.stdout


def test_weights_are_plain_numbers():
    words = ["solve", "panda", "--position", "0.4,0.2,0.5", "--start", "ready", "--weight", "panda_joint1=100"]
    assert data(*words)["success"]
    assert run(*words).stderr == ""


def test_a_singular_start_is_called_so():
    words = ["solve", ARM, "--position=22,0", "--start", "0,0,0", "--method", "damped"]
    result = run(*words)
    assert result.exit_code == 1
    assert "the start is singular: no joint moves 'tip' along x" in result.stdout
    got = data(*words, "--explain", status=1)
    assert got["cause"] == "singular"
    assert "Start from a bent pose: with 'j2' at 0.3, 'damped' reaches it." in got["explanation"]


def test_race_compares_every_method(arm):
    rows = data("race", ARM, "--position", "-20,5", "--start", "ready")
    laps = race(arm, lw.Reach("tip", position=(-20, 5)), start="ready")
    assert [row.pop("method") for row in rows] == list(METHODS)
    for row, lap in zip(rows, laps, strict=True):
        expected = {**lap.as_dict(), "seconds": row.get("seconds")}
        assert row.items() <= expected.items()
    table = run("race", ARM, "--position", "-20,5", "--start", "ready").stdout.splitlines()
    assert [line.split()[0] for line in table] == ["method", *METHODS]
    assert "needs a square Jacobian" in table[1 + list(METHODS).index("inverse")]


def test_a_race_that_nobody_wins_exits_with_1():
    words = ["race", ARM, "--position", "-35,5", "--start", "ready", "--method", "damped", "--method", "ccd"]
    assert [row["success"] for row in data(*words, status=1)] == [False, False]
    assert "out of reach" in run(*words).stdout


@pytest.mark.parametrize("number", FIGURES)
def test_figure_gives_the_numbers_of_every_frame(number):
    got = data("figure", number)
    assert got == lw.textbook.figure(number).as_dict()
    assert list(got) == ["figure", "caption", "panels", "diagrams"]
    assert got["panels"] or got["diagrams"]
    for panel in got["panels"]:
        assert list(panel) == ["title", "method", "goal", "options", "poses", "effector"]
        assert len(panel["poses"]) == len(panel["effector"]) == FRAMES


def test_figures_come_out_as_in_the_chapter():
    undamped, damped = data("figure", "5.20")["panels"]
    np.testing.assert_allclose(undamped["poses"][-1], [2.1311, 1.3710, 0.6588], atol=1e-4)
    np.testing.assert_allclose(damped["poses"][-1], [2.1104, 1.3992, 0.6733], atol=1e-4)
    steps = [np.abs(np.diff(panel["poses"], axis=0)).max() for panel in data("figure", "5.21")["panels"]]
    assert np.round(steps, 2).tolist() == [1.36, 0.30]


def test_all_figures_are_a_list():
    assert [one["figure"] for one in data("figure", "all")] == list(FIGURES)


def test_figure_as_text_says_what_it_shows_and_where_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("figure", "5.20")
    assert result.exit_code == 0
    assert result.stdout.startswith("Figure 5.20: ")
    assert result.stderr == "linkwork: figure 5.20 is in figure-5.20.png\n"
    assert (tmp_path / "figure-5.20.png").read_bytes().startswith(b"\x89PNG")


def test_all_figures_go_into_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("linkwork.models.textbook.FIGURES", {number: FIGURES[number] for number in ("5.23", "5.25")})
    result = run("figure", "all", "-o", tmp_path / "new" / "folder", "--format", "png")
    assert result.exit_code == 0
    names = sorted(path.name for path in (tmp_path / "new" / "folder").iterdir())
    assert names == ["captions.txt", "figure-5.23.png", "figure-5.25.png"]


def test_all_figures_go_into_a_zip_in_three_formats(tmp_path, monkeypatch):
    monkeypatch.setattr("linkwork.models.textbook.FIGURES", {"5.8": FIGURES["5.8"]})
    result = run("figure", "all", "-o", tmp_path / "figures.zip")
    assert result.exit_code == 0
    with zipfile.ZipFile(tmp_path / "figures.zip") as pack:
        assert pack.namelist() == ["figure-5.8.svg", "figure-5.8.png", "figure-5.8.pdf", "captions.txt"]
    assert run("figure", "5.8", "-o", tmp_path / "a.gif").exit_code == 2
    assert run("figure", "5.8", "--format", "png").exit_code == 2
    assert run("figure", "all", "-o", "-").exit_code == 2


PICTURES = [
    ["workspace", "two_link:1,0.8", "--samples", "200"],
    ["race", ARM, "--position", "-20,5", "--start", "ready"],
    ["figure", "5.23"],
]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
@pytest.mark.parametrize("words", PICTURES, ids=lambda words: words[0])
def test_pictures_are_written_as_their_file_is_named(words, suffix, tmp_path):
    path = tmp_path / f"picture{suffix}"
    assert run(*words, "-o", path).exit_code == 0
    assert path.read_bytes().startswith(SUFFIXES[suffix])
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("words", [*PICTURES, ["track", ARM, "--position", "-20,5", "--start", "ready"]])
def test_a_picture_goes_to_stdout_alone(words):
    result = run(*words, "-o", "-")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout_bytes.startswith(b"\x89PNG")
    assert result.stdout_bytes.endswith(b"IEND\xaeB`\x82")
    result = run(*words, "-o", "-", "--json")
    assert (result.exit_code, result.stdout) == (2, "")


def test_a_film_of_a_figure_shows_its_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("linkwork.draw.figure_films.FPS", 1)
    assert run("figure", "5.23", "-o", tmp_path / "a.gif").exit_code == 0
    assert (tmp_path / "a.gif").read_bytes() == figure_film(lw.textbook.figure("5.23"))


# Exit statuses

GOAL = ["--position", "1,2"]
WRONG_USAGE = [
    (["solve", ARM], "there is no goal"),
    (["solve", "pnada", *GOAL], "did you mean 'panda'?"),
    (["solve", ARM, "-", *GOAL], "not both"),
    (["solve", ARM, "--position", "1"], "2 or 3 finite numbers"),
    (["solve", ARM, "--position", "1,2,3,4"], "2 or 3 finite numbers"),
    (["solve", ARM, "--position", "1,x"], "--position takes numbers"),
    (["solve", ARM, "--position", "1,nan"], "--position"),
    (["solve", ARM, "--position", "1,inf"], "finite"),
    (["solve", ARM, "--position", ""], "--position takes numbers"),
    (["solve", ARM, "--orientation", "1,0,0,0"], "--orientation needs a form"),
    (["solve", ARM, "--orientation", "quat=1,0,0,0"], "unknown form 'quat'"),
    (["solve", ARM, "--orientation", "wxyz=1,0,0"], "wxyz"),
    (["solve", ARM, "--orientation", "wxyz=0,0,0,0"], "unit quaternion"),
    (["solve", ARM, "--orientation", "euler=0,0,0"], "euler=xyz:0,0,90deg"),
    (["solve", ARM, "--orientation", "euler=abc:0,0,0"], "euler"),
    (["solve", ARM, "--orientation", "matrix=1,0,0,0,1,0,0,0,2"], "rotation"),
    (["solve", ARM, "--orientation", "matrix=1,0,0"], "orientation"),
    (["solve", ARM, *GOAL, "--frame", "tpi"], "did you mean 'tip'?"),
    (["solve", ARM, *GOAL, "--method", "dampd"], "did you mean 'damped'?"),
    (["solve", ARM, *GOAL, "--method", "inverse"], "square Jacobian"),
    (["solve", ARM, *GOAL, "--start", "redy"], "did you mean 'ready'?"),
    (["solve", ARM, *GOAL, "--start", "1,2"], "shape (..., 3)"),
    (["solve", ARM, *GOAL, "--start", "1,2,x"], "--start 1,2,x: not an angle: 'x'"),
    (["solve", ARM, *GOAL, "--start", "j9=1"], "no joint 'j9'"),
    (["solve", ARM, *GOAL, "--start", "ready", "--start", "curl"], "--start takes one pose"),
    (["solve", ARM, *GOAL, "--tolerance", "0"], "tolerance must be positive"),
    (["solve", ARM, *GOAL, "--tolerance", "small"], "--tolerance"),
    (["solve", ARM, *GOAL, "--rotation-tolerance", "-1"], "rotation_tolerance must be positive"),
    (["solve", ARM, *GOAL, "--max-iterations", "-1"], "max_iterations"),
    (["solve", ARM, *GOAL, "--limits", "obey"], "limits is one of"),
    (["solve", ARM, *GOAL, "--set", "damping"], "NAME=VALUE"),
    (["solve", ARM, *GOAL, "--set", "=5"], "NAME=VALUE"),
    (["solve", ARM, *GOAL, "--method", "damped", "--set", "dampin=5"], "did you mean 'damping'?"),
    (["solve", ARM, *GOAL, "--method", "ccd", "--set", "damping=5"], "no option 'damping'"),
    (["solve", ARM, *GOAL, "--set", "limits=clamp", "--limits", "clamp"], "given twice"),
    (["solve", ARM, *GOAL, "--set", "linkage=5"], "'linkage' is not one"),
    (["solve", ARM, *GOAL, "--csv", "--json"], "not both"),
    (["track", ARM], "--path"),
    (["track", ARM, *GOAL, "--path", "points.csv"], "--path"),
    (["track", ARM, *GOAL, "--closed"], "--closed"),
    (["track", ARM, *GOAL, "--frames", "0"], "at least one"),
    (["track", ARM, *GOAL, "--fps", "0"], "fps must be positive"),
    (["track", ARM, *GOAL, "--steps", "0"], "steps"),
    (["track", ARM, *GOAL, "-o", "motion.txt"], "must end in"),
    (["track", ARM, *GOAL, "-o", "missing/motion.png"], "there is no folder"),
    (["track", ARM, *GOAL, "-o", "-", "--json"], "stdout"),
    (["workspace", ARM, "--samples", "0"], "samples"),
    (["workspace", ARM, "--orientations", "-1"], "orientations"),
    (["workspace", ARM, "--frame", "tpi"], "did you mean 'tip'?"),
    (["workspace", ARM, "-o", "space.gif"], "must end in"),
    (["workspace", "planets"], "--frame"),
    (["race", ARM], "there is no goal"),
    (["race", ARM, *GOAL, "--method", "dampd"], "did you mean 'damped'?"),
    (["race", ARM, *GOAL, "-o", "race.gif"], "must end in"),
    (["figure", "5.3", "-o", "joints.gif"], "figure 5.3 does not move"),
    (["figure", "6.1"], "no figure '6.1' in the chapter"),
    (["figure", "5.20", "-o", "figure.txt"], "must end in"),
    (["figure"], "Missing argument"),
]


@pytest.mark.parametrize(
    ("words", "said"), WRONG_USAGE, ids=lambda value: " ".join(value) if type(value) is list else ""
)
def test_wrong_usage_exits_with_2(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert said in result.stderr
    assert len(result.stderr.splitlines()) <= 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["solve", "track", "workspace", "race"])
def test_a_bad_file_exits_with_3(command, tmp_path):
    (tmp_path / "broken.yaml").write_text("a: [1, 2\nb: }", encoding="utf-8")
    result = run(command, tmp_path / "broken.yaml", *(GOAL if command != "workspace" else []))
    assert (result.exit_code, result.stdout) == (3, "")
    assert "broken.yaml" in result.stderr


@pytest.mark.parametrize(
    ("text", "status"), [("", 3), ("a,b\n1,2\n", 3), ("x,y\n", 2), ("x,y\n1,1\n", 2), ("x,y\n1,1\n1,1\n", 2)]
)
def test_a_bad_path_is_said(text, status, tmp_path):
    (tmp_path / "points.csv").write_text(text, encoding="utf-8")
    result = run("track", ARM, "--path", tmp_path / "points.csv")
    assert (result.exit_code, result.stdout) == (status, "")
