"""Folders of motions: every file once and correct; files that cannot be retargeted are reported."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

import linkwork as lw
from linkwork.cli import app as cli
from linkwork.errors import FormatError, OptionError, RunError
from linkwork.retargeting import retarget_with_report

CHILD = lw.models.human(height=1.2, root="floating")


@pytest.fixture
def clips(tmp_path):
    """A folder with three short motions, one of them in a subfolder."""
    wave = lw.models.motion("human:floating")
    (tmp_path / "clips" / "more").mkdir(parents=True)
    for name, motion in (("one", wave[:0.2]), ("two", wave[0.2:0.4]), ("more/three", wave[0.4:0.6])):
        lw.save(motion, tmp_path / "clips" / f"{name}.bvh")
    return tmp_path / "clips"


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_motion_is_retargeted_as_one_alone_would_be(clips, tmp_path):
    result = lw.retarget_library(clips, CHILD, tmp_path / "out")
    assert (result.total, result.counts, result.missing) == (3, {"written": 3}, ())
    written = contents(tmp_path / "out")
    files = {"one.bvh", "two.bvh", "more/three.bvh"}
    assert set(written) == {"_manifest.json", "_parts.json", "_SUCCESS", "_report.csv", *files}
    table = list(csv.DictReader(written["_report.csv"].decode().splitlines()))
    assert {row["file"] for row in table} == files
    assert all(float(row["jerk"]) > 0.0 and row["flips"] == "0" for row in table)
    alone = lw.retarget(lw.load_clip(clips / "more" / "three.bvh"), CHILD)
    lw.save(alone, tmp_path / "three.bvh")
    assert written["more/three.bvh"] == (tmp_path / "three.bvh").read_bytes()


def test_an_interrupted_library_is_resumed_to_the_same_files(clips, tmp_path):
    lw.retarget_library(clips, CHILD, tmp_path / "whole")

    def stop(_result):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lw.retarget_library(clips, CHILD, tmp_path / "out", progress=stop)
    left = {name: data for name, data in contents(tmp_path / "out").items() if not name.startswith("_parts/")}
    assert left.items() < contents(tmp_path / "whole").items()
    result = lw.retarget_library(clips, CHILD, tmp_path / "out", resume=True, workers=2)
    assert 1 <= result.resumed < 3
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    with pytest.raises(RunError, match=r"another options: smooth \(null, not 0.5\)"):
        lw.retarget_library(clips, CHILD, tmp_path / "out", resume=True, smooth=0.5)


def test_a_report_says_what_is_poor_and_what_was_remarked(clips, tmp_path):
    lw.retarget_library(clips, CHILD, tmp_path / "out", avoid=lw.Avoid(margin=0.2))
    table = list(csv.DictReader((tmp_path / "out" / "_report.csv").read_text(encoding="utf-8").splitlines()))
    assert all("frames do not keep the margin" in row["remarks"] for row in table)
    fine = retarget_with_report(lw.load_clip(clips / "one.bvh"), CHILD).report
    assert fine.wrong() == []
    assert replace(fine, flips=1, outside=3).wrong() == [
        "a joint flips in 1 frame",
        "3 values are outside their limits",
    ]
    inside = replace(fine, flips=13, hands_in_body=0.59, hands_in_body_before=0.1).wrong()
    assert inside == ["hands are in the body 59% of the time, those of the source 10%", "joints flip in 13 frames"]
    assert replace(fine, hands_in_body=0.8, hands_in_body_before=0.77).wrong() == []  # as in the source


def test_what_a_library_keeps_clear_of_is_known_by_its_content(clips, tmp_path):
    """Worlds with the same names, and motions of the same length, are distinguished."""

    def run(place, over, resume=True):
        world = lw.World([lw.Obstacle(lw.Sphere(0.1), place, name="ball")])
        wave = lw.models.motion("human:floating").slice(over, over + 0.2)
        base = lw.retarget(wave, CHILD)
        return lw.retarget_library(
            clips, CHILD, tmp_path / "out", resume=resume, avoid=world, parts="arms", over=base, smooth=0.0
        )

    assert run((2.0, 0.0, 0.0), 0.0, resume=False).complete
    assert run((2.0, 0.0, 0.0), 0.0).resumed == 3
    with pytest.raises(RunError, match="another options: avoid"):
        run((2.0, 0.1, 0.0), 0.0)
    with pytest.raises(RunError, match="another options: over"):
        run((2.0, 0.0, 0.0), 0.5)


def test_a_file_that_was_mended_added_or_damaged_costs_only_itself(clips, tmp_path):
    out = tmp_path / "out"
    (clips / "one.bvh").rename(tmp_path / "one.bvh")
    lw.retarget_library(clips, CHILD, out)
    (tmp_path / "one.bvh").rename(clips / "one.bvh")  # added
    assert lw.retarget_library(clips, CHILD, out, resume=True).resumed == 2
    (clips / "two.bvh").write_bytes((clips / "one.bvh").read_bytes())  # mended
    assert lw.retarget_library(clips, CHILD, out, resume=True).resumed == 2
    (out / "one.bvh").write_bytes((out / "one.bvh").read_bytes()[:100])  # damaged
    assert list(lw.verify_dataset(out).faults) == ["one.bvh"]
    assert lw.retarget_library(clips, CHILD, out, resume=True).resumed == 2
    assert lw.verify_dataset(out)
    lw.retarget_library(clips, CHILD, tmp_path / "clean")
    assert contents(out) == contents(tmp_path / "clean")
    (clips / "two.bvh").unlink()
    lw.retarget_library(clips, CHILD, out, resume=True)
    assert not (out / "two.bvh").exists()  # its input is gone


def test_what_cannot_be_retargeted_is_told_and_the_rest_goes_on(clips, tmp_path):
    (clips / "broken.bvh").write_text("HIERARCHY\nnonsense", encoding="utf-8")
    lw.save(lw.models.motion("snake:9"), clips / "snake.bvh")
    words = ["batch", "retarget", str(clips), "--to", "human", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(cli.app, [*words, "--json"], prog_name="linkwork")
    data = json.loads(result.stdout)
    assert (result.exit_code, data["counts"], len(data["missing"])) == (1, {"written": 3}, 2)
    assert "broken.bvh:2" in result.stderr
    assert "snake.bvh" in result.stderr
    result = CliRunner().invoke(cli.app, [*words, "--resume"], prog_name="linkwork")
    assert "out: 3 of 5 motions, 3 of them from an earlier run" in result.stdout


def test_libraries_that_cannot_be_are_refused(clips, tmp_path):
    for options, error, message in (
        ({"engine": "cuda"}, OptionError, "engines are local, ray"),
        ({"address": "auto"}, OptionError, "address and gpu need the engine ray"),
        ({"suffix": ".txt"}, OptionError, "cannot write motions to '.txt'"),
    ):
        with pytest.raises(error, match=message):
            lw.retarget_library(clips, CHILD, tmp_path / "out", **options)
    with pytest.raises(FormatError, match="cannot be read"):
        lw.retarget_library(clips, CHILD, tmp_path / "out", map=tmp_path / "map.yaml")
    with pytest.raises(FormatError, match="is not a folder of motions"):
        lw.retarget_library(clips / "one.bvh", CHILD, tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match="holds no motions"):
        lw.retarget_library(tmp_path / "empty", CHILD, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_files_that_differ_in_their_ending_alone_keep_it(clips, tmp_path):
    lw.save(lw.load_clip(clips / "one.bvh"), clips / "one.glb")
    lw.retarget_library(clips, CHILD, tmp_path / "out")
    written = {name for name in contents(tmp_path / "out") if not name.startswith("_")}
    assert written == {"one.bvh.bvh", "one.glb.bvh", "two.bvh", "more/three.bvh"}


def test_an_option_that_is_wrong_for_all_ends_the_run(clips, tmp_path):
    with pytest.raises(OptionError, match="root is 'auto' or 'keep'"):
        lw.retarget_library(clips, CHILD, tmp_path / "out", root="tree")
    assert not (tmp_path / "out").exists()
