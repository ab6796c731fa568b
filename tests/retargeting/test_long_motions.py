"""Long motions are retargeted in stretches: the same result as at once, without seams, in constant memory."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import children
import humanoids
import linkwork as lw
from four_legs import fox
from linkwork.errors import FormatError
from linkwork.models.exercises import EXERCISES
from linkwork.motion import frame_files
from linkwork.motion.smoothing import SpanMemory, over_spans
from linkwork.retargeting import body, onto_bodies, onto_quadrupeds, retarget_with_report, stretches

HUMAN = lw.models.human(root="floating")
FPS = 24.0


def exercised(frames: int) -> lw.Clip:
    """Return a human that walks, squats, waves and jumps, over and over."""
    parts = [EXERCISES[name](HUMAN) for name in ("walk", "squat", "wave", "jump", "walk")]
    once = parts[0].concatenate(*parts[1:], fade=0.2, align=True)
    clip = once
    while len(clip) < frames:
        clip = clip.concatenate(once, fade=0.2, align=True)
    return lw.Clip(HUMAN, np.arange(frames) / FPS, clip.poses[:frames])


@pytest.fixture
def in_pieces(monkeypatch):
    """Use stretches of 400 frames for motions of more than 100."""

    def now() -> None:
        for module in (onto_bodies, onto_quadrupeds):
            monkeypatch.setattr(module, "LONG", 100)
        monkeypatch.setattr(stretches, "CORE", 400)
        monkeypatch.setattr(onto_bodies, "PROBE", 200)

    return now


def both_ways(motion, target, in_pieces):
    whole = retarget_with_report(motion, target)
    assert whole.plan is not None
    in_pieces()
    assert len(stretches.stretches(motion.times, 0.01)) == 3
    pieces = retarget_with_report(motion, target)
    assert pieces.plan is None
    return whole, pieces


def check_same(whole, pieces, tolerance):
    """Compare two results: links, contacts, the largest step of a joint, and the report."""
    linkage = whole.clip.linkage
    one, other = (linkage.forward(made.clip.poses).array for made in (whole, pieces))
    assert np.abs(one - other).max() < tolerance
    steps = [np.abs(linkage.difference(made.clip.poses[:-1], made.clip.poses[1:])) for made in (whole, pieces)]
    assert np.abs(steps[0] - steps[1]).max() < 2.0 * tolerance  # no jump where stretches meet
    a, b = whole.report, pieces.report
    assert (a.frames, a.contacts, a.outside, a.flips, a.missing) == (
        b.frames,
        b.contacts,
        b.outside,
        b.flips,
        b.missing,
    )
    for name in ("slide", "depth", "hands", "hands_mean", "scale", "penetration", "hands_in_body"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), abs=tolerance), name
    assert a.jerk == pytest.approx(b.jerk, rel=0.01)
    assert a.direction == pytest.approx(b.direction, abs=tolerance)


@pytest.mark.parametrize("kind", ["child", "unitree_g1"])
def test_a_body_moves_in_stretches_as_in_one_go(kind, in_pieces):
    target = lw.models.human(height=1.2, root="floating") if kind == "child" else humanoids.humanoid(kind)
    whole, pieces = both_ways(exercised(1300), target, in_pieces)
    check_same(whole, pieces, 1e-3)  # a contact longer than a stretch stays where it started
    near = np.abs(whole.clip.poses - pieces.clip.poses).max(axis=1)
    assert np.median(near) < 1e-9


HANDS = [f"{side}_{part}" for side in ("left", "right") for part in ("forearm", "palm")]


def test_a_body_keeps_clear_in_stretches_as_in_one_go(in_pieces):
    """Without avoidance, most frames violate the margin; hands pass the hips where stretches meet."""
    motion, child = exercised(800), lw.models.human(height=1.2, root="floating")
    avoid = lw.Avoid(margin=0.04, links=HANDS)
    bare = lw.retarget(motion, child)
    assert (avoid.clearance(bare.linkage, bare.poses) < avoid.margin).sum() > 400
    whole = retarget_with_report(motion, child, avoid=avoid)
    in_pieces()
    assert len(stretches.stretches(motion.times, 0.01)) == 2
    pieces = retarget_with_report(motion, child, avoid=avoid)
    assert pieces.plan is None
    check_same(whole, pieces, 5e-3)
    for made in (whole, pieces):
        assert avoid.clearance(made.clip.linkage, made.clip.poses).min() > avoid.margin - 1e-4
    assert np.median(np.abs(whole.clip.poses - pieces.clip.poses).max(axis=1)) < 1e-9
    assert [remark[:40] for remark in whole.remarks] == [remark[:40] for remark in pieces.remarks]


def test_a_stretch_leaves_what_is_known_of_its_first_frames(in_pieces):
    """With avoidance, the next stretch continues from the last one instead of starting earlier."""
    motion, child = exercised(40), lw.models.human(height=1.2, root="floating")
    made = retarget_with_report(motion, child, avoid=lw.Avoid(margin=0.04, links=HANDS))
    known = made.plan.poses[:10] + 0.01
    poses = body.solve(made.plan, known=known)
    np.testing.assert_array_equal(poses[:10], known)
    assert len(poses) == 40


def test_four_legs_keep_clear_in_stretches_as_in_one_go(in_pieces):
    dog = lw.models.motion("quadruped:floating")
    motion = lw.Clip(dog.linkage, np.arange(1300) / FPS, np.resize(dog.poses, (1300, dog.linkage.nq)))
    post = lw.World([lw.Obstacle(lw.Sphere(0.05), (0.0, 0.0, -5.0), name="far below")])
    target, avoid = lw.collision.thick_bones(fox()), lw.Avoid(post, self=False)
    whole = retarget_with_report(motion, target, avoid=avoid)
    in_pieces()
    pieces = retarget_with_report(motion, target, avoid=avoid)
    assert pieces.plan is None
    check_same(whole, pieces, 1e-3)


def test_four_legs_move_in_stretches_as_in_one_go(in_pieces):
    dog = lw.models.motion("quadruped:floating")
    poses = np.resize(dog.poses, (1300, dog.linkage.nq))
    check_same(*both_ways(lw.Clip(dog.linkage, np.arange(1300) / FPS, poses), fox(), in_pieces), 1e-3)


def test_a_motion_of_its_own_skeleton_is_given_as_it_is(in_pieces):
    motion = exercised(1300)
    whole, pieces = both_ways(motion, HUMAN, in_pieces)
    np.testing.assert_array_equal(pieces.clip.poses, motion.poses)
    assert whole.remarks == pieces.remarks
    assert whole.report.contacts == pieces.report.contacts


def test_what_was_chosen_over_a_contact_holds_in_the_next_stretch():
    values, mask = np.arange(20.0), np.ones(20, np.bool_)
    memory = SpanMemory()
    first = over_spans(values[:12], mask[:12], lambda part: part.mean(keepdims=True), "foot", memory)
    memory.move_to(8, 10)
    second = over_spans(values[8:], mask[8:], lambda part: part.mean(keepdims=True), "foot", memory)
    assert (first == 5.5).all()
    assert (second == 5.5).all()


def test_frames_in_a_file_are_what_they_were_and_leave_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(frame_files, "SPILL", 1000)
    motion = exercised(400)
    motion.save(tmp_path / "a.bvh")
    held = lw.load_clip(tmp_path / "a.bvh")
    with frame_files.frames_in(tmp_path):
        filed = lw.load_clip(tmp_path / "a.bvh")
    assert frame_files.is_in_file(filed.poses)
    assert not frame_files.is_in_file(held.poses)
    np.testing.assert_array_equal(filed.poses, held.poses)
    held.save(tmp_path / "b.bvh")
    filed.save(tmp_path / "c.bvh")
    assert (tmp_path / "b.bvh").read_bytes() == (tmp_path / "c.bvh").read_bytes()
    assert frame_files.is_in_file(replace(filed, name="b").poses)
    del filed  # on Windows its file can only be deleted afterwards
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.bvh", "b.bvh", "c.bvh"]


def test_a_folder_without_room_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(frame_files, "SPILL", 10)
    with frame_files.frames_in(tmp_path / "none"), pytest.raises(FormatError, match=r"none: cannot store the frames"):
        frame_files.Frames(2).add(np.zeros((20, 2)))


# Everything that is done in stretches or blocks has a quarter of its frames: as many of them in a quarter of the time.
MEMORY = """
import logging, pathlib, re, sys
import linkwork as lw
from linkwork.formats import bvh_writer
from linkwork.motion import clips, frame_files
from linkwork.retargeting import onto_bodies, onto_quadrupeds, rest_poses, retarget_file, stretches
for module in (onto_bodies, onto_quadrupeds, rest_poses, stretches, clips, bvh_writer, frame_files):
    for name in {"LONG", "CORE", "PROBE", "BLOCK", "SPILL"} & {*vars(module)}:
        setattr(module, name, getattr(module, name) // 4)
logging.disable(logging.WARNING)
target, file = sys.argv[1:]
if target == "command":
    from contextlib import suppress
    from linkwork.cli.app import app
    with suppress(SystemExit):
        app(["retarget", file, "--to", "panda", "--quiet", "-o", file + ".out.csv"])
    assert pathlib.Path(file + ".out.csv").read_bytes().count(b"\\n") == int(pathlib.Path(file).stem) + 1
else:
    model = lw.models.panda() if target == "arm" else lw.models.human(height=1.2, root="floating")
    outcome = retarget_file(file, model, file + ".out.bvh")
    assert len(outcome.clip) == outcome.report.frames == int(pathlib.Path(file).stem)
print(re.search(r"VmHWM:\\s*(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
"""
peaks = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs the memory of a process under /proc")


def repeated(folder: Path, frames: int) -> Path:
    """Write a motion that repeats the same few hundred frames up to a number of frames; return the file."""
    exercised(500).save(folder / "once.bvh")
    head, motion = (folder / "once.bvh").read_text(encoding="utf-8").split("MOTION")
    first, step, *lines = motion.strip().splitlines(keepends=True)
    assert first.split()[1] == "500"
    with (folder / f"{frames}.bvh").open("w", encoding="utf-8") as file:
        file.write(f"{head}MOTION\nFrames: {frames}\n{step}")
        for k in range(frames):
            file.write(lines[k % 499])  # the last has no newline
    return folder / f"{frames}.bvh"


def peak_memory(folder: Path, target: str, counts: tuple[int, ...]) -> list[int]:
    """Return the peak memory [KB] of a process for each of some motions, from file to file."""
    files = [repeated(folder, count) for count in counts]
    runs = [children.run([sys.executable, "-c", MEMORY, target, file], check=True) for file in files]
    return [int(run.stdout.split()[-1]) for run in runs]


@peaks
@pytest.mark.parametrize("way", ["arm", pytest.param("command", marks=pytest.mark.slow)])
def test_memory_for_an_arm_hardly_grows_with_the_frames(way, tmp_path):
    """Frames in memory would take at least 1.5 KB each."""
    short, long = peak_memory(tmp_path, way, (10_000, 20_000))
    assert long < short + 10_000 * 0.5


@peaks
@pytest.mark.slow
def test_memory_for_a_body_does_not_grow_with_the_frames(tmp_path):
    """Frames in memory would take 5.4 KB each; allocators of some versions of Python vary by 1 KB."""
    short, long = peak_memory(tmp_path, "body", (5_000, 10_000))
    assert long < short + 5_000 * 1.5


def test_a_full_disk_ends_a_library_and_is_no_fault_of_a_motion(tmp_path, monkeypatch):
    monkeypatch.setattr(frame_files, "SPILL", 1000)
    (tmp_path / "clips").mkdir()
    exercised(60).save(tmp_path / "clips" / "one.bvh")
    child = lw.models.human(height=1.2, root="floating")

    def full(**_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(frame_files.tempfile, "TemporaryFile", full)
        with pytest.raises(FormatError, match=r"out: cannot store the frames .*: No space left on device"):
            lw.retarget_library(tmp_path / "clips", child, tmp_path / "out")
    result = lw.retarget_library(tmp_path / "clips", child, tmp_path / "out", resume=True)
    assert (result.counts, result.complete) == ({"written": 1}, True)
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]
