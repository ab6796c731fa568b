"""Files of linkwork played in three.js, also between frames, where joints must not spin."""

from __future__ import annotations

import base64
import functools
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import captures
import children
import linkwork as lw
from gltf_files import UP, character, wandering
from linkwork.models.exercises import EXERCISES
from linkwork.models.humans import human

FINER = 10  # times between two frames


@dataclass(frozen=True)
class Play:
    """An animation of a file, by its number, and times to evaluate it at."""

    file: Path
    number: int
    times: np.ndarray


def played(three: Path, plays: list[Play]) -> list[dict[str, np.ndarray]]:
    """Return the transforms of nodes in three.js at times, z up."""
    script = Path(__file__).parent / "three_player.mjs"
    wanted = [{"file": str(one.file), "number": one.number, "times": one.times.tolist()} for one in plays]
    done = children.run(["node", str(script), str(three)], text=True, stdin=json.dumps(wanted), encoding="utf-8")
    assert done.returncode == 0, done.stderr
    found = []
    for one, line in zip(plays, done.stdout.splitlines(), strict=True):
        answer = json.loads(line)
        places = np.frombuffer(base64.b64decode(answer["places"]), np.float32).reshape(len(one.times), -1, 3) @ UP.T
        found.append(dict(zip(answer["names"], np.swapaxes(places, 0, 1), strict=True)))
    return found


def finer(clip: lw.Clip) -> np.ndarray:
    """Return the times of the frames and nine between each two."""
    return np.interp(np.arange((len(clip) - 1) * FINER + 1) / FINER, np.arange(len(clip)), clip.times)


def between(clip: lw.Clip, times: np.ndarray) -> dict[str, np.ndarray]:
    """Return the transforms of links between frames, each rotating the short way relative to its parent."""
    linkage, frames = clip.linkage, clip.forward()
    worlds: list[np.ndarray] = []
    for link, parent in zip(linkage.links, linkage.parents, strict=True):
        above = frames[linkage.links[parent]] if parent >= 0 else np.eye(4)
        local = np.linalg.inv(above) @ frames[link]
        matrix = np.tile(np.eye(4), (len(times), 1, 1))
        matrix[:, :3, :3] = Slerp(clip.times, Rotation.from_matrix(local[:, :3, :3]))(times).as_matrix()
        for k in range(3):
            matrix[:, k, 3] = np.interp(times, clip.times, local[:, k, 3])
        worlds.append((worlds[parent] if parent >= 0 else np.eye(4)) @ matrix)
    return {link: world[:, :3, 3] for link, world in zip(linkage.links, worlds, strict=True)}


def spinning() -> lw.Clip:
    """A body with Euler angles that turns fully: angles wrap, and some frames have the other equivalent triple."""
    body = lw.Builder("body", root=lw.Floating("ZXY")).ball("hip", "thigh", euler="ZXY", at=(0, 0, 1))
    body = body.ball("knee", "shin", euler="ZXY", at=(0.5, 0, 0)).revolute("ankle", "foot", at=(0.5, 0, 0)).build()
    turn = np.linspace(100.0, 460.0, 40)
    one = np.stack([turn, np.full(40, 10.0), np.full(40, 20.0)], axis=1)
    two = np.stack([turn + 180.0, np.full(40, 170.0), np.full(40, 200.0)], axis=1)
    triples = np.where(np.arange(40)[:, None] % 7 < 3, one, two)
    angles = np.concatenate([triples, triples, triples, turn[:, None]], axis=1)
    wrapped = np.radians((angles + 180.0) % 360.0 - 180.0)
    return lw.Clip(body, np.arange(40) / 30.0, np.concatenate([np.zeros((40, 3)), wrapped], axis=1))


CLIPS = {
    "spinning": spinning,
    **{name: functools.partial(captures.recorded, name) for name in captures.CAPTURES},
    **{f"{name}, a model": functools.partial(lw.models.motion, name) for name in lw.models.MODELS},
    **{f"{name}, an exercise": functools.partial(make, human(root="floating")) for name, make in EXERCISES.items()},
}


@pytest.fixture(scope="module")
def written(three, tmp_path_factory) -> dict[str, tuple[lw.Clip, dict[str, np.ndarray]]]:
    """Every clip, and the transforms of its links in three.js, also between frames; one process computes all."""
    folder, clips = tmp_path_factory.mktemp("three"), {name: make() for name, make in CLIPS.items()}
    for k, clip in enumerate(clips.values()):
        clip.save(folder / f"{k}.glb")
    plays = [Play(folder / f"{k}.glb", 0, finer(clip)) for k, clip in enumerate(clips.values())]
    return dict(zip(clips, zip(clips.values(), played(three, plays), strict=True), strict=True))


@pytest.mark.parametrize("name", CLIPS)
def test_joints_go_the_short_way_between_frames(written, name):
    clip, found = written[name]
    assert np.abs(np.diff(clip.poses, axis=0)).max() > np.pi or name != "spinning"  # the angles wrap
    for link, places in between(clip, finer(clip)).items():
        np.testing.assert_allclose(found[link], places, atol=1e-4 * (1.0 + clip.linkage.length), err_msg=link)


def test_a_character_moves_as_its_clip_does(tmp_path, three, validator):
    """A motion inserted into a file with another motion, under a scaled armature; the file is valid."""
    file = character()
    del file.document["images"], file.document["textures"], file.document["materials"][0]["pbrMetallicRoughness"]
    clip = wandering(lw.load(file.save(tmp_path)))
    clip.save(tmp_path / "out.glb")
    times = finer(clip)
    (found,), expected = played(three, [Play(tmp_path / "out.glb", 1, times)]), between(clip, times)
    for link in (f"bone{k}" for k in range(2, 7)):
        np.testing.assert_allclose(found[link][::FINER], clip.forward()[link][:, :3, 3], atol=1e-4, err_msg=link)
    assert np.abs(found["bone2"] - expected["bone2"]).max() < 0.2  # the motion of the armature is in the top joint
    script = Path(__file__).parent / "gltf_validator.mjs"
    done = children.run(
        ["node", str(script), str(validator), str(tmp_path / "out.glb")], text=True, check=True, encoding="utf-8"
    )
    wrong = [
        issue for issue in json.loads(done.stdout)[str(tmp_path / "out.glb")] if issue.startswith(("error", "warn"))
    ]
    assert [issue for issue in wrong if "/animations/1" in issue] == []
