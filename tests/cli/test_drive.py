"""`linkwork drive`: mechanisms turned by one joint, as films and tables."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
from numpy.testing import assert_allclose

import linkwork as lw
from command_line import run


def test_an_engine_turns_and_its_dead_centres_are_listed():
    result = run("drive", "engine", "--turns", "2", "--json")
    report = json.loads(result.stdout)
    assert (result.exit_code, report["joint"], report["driven"]) == (0, "crank", "piston")
    assert (report["frames"], report["seconds"]) == (97, 4.0)
    assert report["dead_centres"]["crank"] == []
    tops = sorted(abs(one["crank"]) for one in report["dead_centres"]["piston"])
    assert_allclose(tops, [0.0, math.pi], atol=1e-6)
    assert_allclose(report["transmission_angle"], [math.acos(0.3), math.pi / 2], atol=2e-3)


def test_a_table_has_exact_rates_and_the_path_of_a_frame(tmp_path):
    out = tmp_path / "bars.csv"
    result = run("drive", "four_bar", "--frame", "point", "--speed", "10", "-o", out)
    assert result.exit_code == 0, result.output
    assert "transmission angle at rocker: 44." in result.stdout
    with out.open() as file:
        rows = list(csv.DictReader(file))
    row = {name: float(value) for name, value in rows[3].items()}
    bars = lw.models.four_bar()
    q = [row[name] for name in bars.coordinates]
    rates = lw.loop_rates(bars, q, {"crank": 10.0})
    assert_allclose([row[f"{name}.acceleration"] for name in bars.coordinates], rates.accelerations, atol=1e-9)
    assert_allclose([row[f"point.{axis}"] for axis in "xyz"], bars.forward(q, frame="point")[:3, 3], atol=1e-12)
    assert_allclose([row[f"point.a{axis}"] for axis in "xyz"], rates.acceleration("point")[:3], atol=1e-9)


def test_a_joint_goes_from_a_value_to_another(tmp_path):
    out = tmp_path / "motor.json"
    result = run("drive", "engine", "--joint", "piston", "--from=-0.01", "--to=-0.08", "-o", out)
    assert result.exit_code == 0, result.output
    table = {name: np.array(values) for name, values in json.loads(out.read_text(encoding="utf-8")).items()}
    assert_allclose(table["piston"][[0, -1]], [-0.01, -0.08], atol=1e-12)
    assert_allclose(table["piston.velocity"], -0.035, rtol=1e-9)


def test_a_film_is_written(tmp_path):
    out = tmp_path / "bars.html"
    result = run("drive", "four_bar", "--frame", "point", "--fps", "6", "-o", out)
    assert result.exit_code == 0, result.output
    page = out.read_text(encoding="utf-8")
    assert "Singular positions of <b>rocker</b>" in page
    assert "Transmission angle at rocker" in page
    space = run("drive", "four_bar", "--frame", "point", "--fps", "6", "--view", "top", "-o", out)
    assert space.exit_code == 0, space.output
    assert "linkwork-film" in out.read_text(encoding="utf-8")
    ring = run("drive", "bennett", "--fps", "6", "-o", out)  # moves in space
    assert ring.exit_code == 0, ring.output


def test_where_it_stops_is_said_with_exit_status_one():
    result = run("drive", "four_bar", "--joint", "rocker")
    assert result.exit_code == 1
    assert "cannot be closed beyond rocker = 2.63623" in result.stderr


def test_a_frame_without_rates_is_said_and_the_others_are_given(tmp_path, caplog):
    out = tmp_path / "flat.json"
    flat = run(
        "drive", "four_bar:0.4,0.2,0.4,0.2", "--from", "160deg", "--to", "180deg", "--speed", str(math.pi), "-o", out
    )
    assert flat.exit_code == 0
    assert "poses, the first is" in caplog.text
    assert "where branches meet" in caplog.text
    rates = json.loads(out.read_text(encoding="utf-8"))["rocker.velocity"]
    assert rates[-1] is None
    assert_allclose(rates[:-1], math.pi, rtol=1e-9)


def test_what_makes_no_sense_is_refused():
    for words, message in (
        (("panda",), "has no closed loops"),
        (("engine", "--joint", "piston"), "give its travel with --from and --to"),
        (("engine", "--turns", "0"), "would not move"),
        (("engine", "--joint", "piston", "--turns", "1"), "--turns is for joints that turn"),
        (("four_bar:0.4,0.3,0.3,0.25",), "can be turned all the way round"),
        (("peaucellier",), "give the input joint, and its first and last value"),  # stops where branches meet
        (("four_bar", "--view", "top", "-o", "x.csv"), "are for films"),
    ):
        result = run("drive", *words)
        assert result.exit_code == 2, (words, result.output)
        assert message in result.stderr


def steering() -> lw.Linkage:
    """Return a wheel on a rack, which turns two arms through tie rods."""
    b = lw.Builder("steering", base="car").revolute("wheel", "pinion").prismatic("rack", "bar", parent="car", axis="x")
    b = b.rack("rack", "wheel", radius=0.008)
    for side, name in ((1.0, "right"), (-1.0, "left")):
        b = b.revolute(f"tie_{name}", f"rod_{name}", parent="bar", at=(0.3 * side, 0, 0))
        b = b.frame(f"end_{name}", at=(0.31 * side, 0, 0))
        b = b.revolute(name, f"arm_{name}", parent="car", at=(0.65 * side, 0.12, 0))
        b = b.frame(f"pin_{name}", at=(-0.05 * side, -0.13, 0)).loop(f"loop_{name}", f"end_{name}", f"pin_{name}")
    return b.build()


def test_dead_centres_of_a_wheel_on_a_rack_are_whole_turns_away(tmp_path):
    file = tmp_path / "steering.yaml"
    lw.save(steering(), file)
    report = json.loads(run("drive", file, "--joint", "wheel", "--from", "-1", "--to", "1", "--json").stdout)
    arm, rod = math.hypot(0.05, 0.13), 0.31
    away = math.sqrt((arm + rod) ** 2 - 0.12**2) - 0.35  # of the rack, with arm and rod in line
    found = [abs(one["wheel"]) for one in report["dead_centres"]["wheel"]]
    assert_allclose(found, away / 0.008, rtol=1e-6)
    page = tmp_path / "steering.html"
    arms = run("drive", file, "--joint", "right", "--from", "-10deg", "--to", "20deg", "--fps", "6", "-o", page)
    assert "transmission angle at left" in arms.stdout  # nothing pushes the wheel
    assert "transmission angle at left" in page.read_text(encoding="utf-8").lower()
    assert json.loads(run("drive", "geneva", "--json").stdout)["driven"] is None


def test_a_crank_of_a_geneva_drive_has_two_dwells_a_turn():
    result = run("drive", "geneva")
    assert "singular positions of wheel: dwell at crank = 45.00 deg, dwell at crank = -45.00 deg\n" in result.stdout
