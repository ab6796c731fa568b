"""Long motions are written and read in blocks: bit-identical to a single block, and no temporary files remain."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import FormatError
from linkwork.formats import file_parts, gltf, gltf_data, gltf_extras, gltf_keys, gltf_motion, spool, tables, usd_writer
from linkwork.formats.content import Content
from linkwork.formats.options import Options
from linkwork.models.exercises import EXERCISES
from linkwork.motion import frame_files

HUMAN = lw.models.human(root="floating")
GLTF = (gltf, gltf_extras, gltf_keys, gltf_motion)


@pytest.fixture
def in_blocks(monkeypatch):
    """Use blocks of 37 frames, and treat files of 1,000 bytes and more as large."""

    def now() -> None:
        for module in GLTF:
            monkeypatch.setattr(module, "BLOCK", 37)
        monkeypatch.setattr(spool, "HELD", 1000)
        monkeypatch.setattr(spool, "PIECE", 999)
        monkeypatch.setattr(file_parts, "LARGE", 1000)
        monkeypatch.setattr(frame_files, "SPILL", 1000)

    return now


def exercised() -> lw.Clip:
    parts = [EXERCISES[name](HUMAN) for name in ("walk", "squat", "jump")]
    return parts[0].concatenate(*parts[1:], fade=0.2, align=True)


def spinning() -> lw.Clip:
    """Return an arm that turns by up to 1.5 turns between frames, which needs more keys than frames."""
    arm, rng = lw.models.planar([1, 1]), np.random.default_rng(5)
    return lw.Clip(arm, np.arange(200) / 3.0 - 1.0, np.cumsum(rng.uniform(-3.0, 9.0, (200, 2)), axis=0))


def crowded() -> lw.Clip:
    """Return an arm with frames closer in time than float32 resolves."""
    arm = lw.models.planar([1, 1])
    times = np.concatenate([100.0 + np.arange(90) * 1e-6, 200.0 + np.arange(30)])
    return lw.Clip(arm, times, np.linspace(0.0, 3.0, 240).reshape(120, 2))


MOTIONS = {"body": exercised, "spinning": spinning, "crowded": crowded}


@pytest.mark.parametrize("suffix", ["glb", "gltf"])
@pytest.mark.parametrize("kind", MOTIONS)
def test_gltf_is_written_and_read_in_blocks_as_at_once(kind, suffix, tmp_path, in_blocks):
    clip = MOTIONS[kind]()
    clip.save(tmp_path / f"whole.{suffix}")
    in_blocks()
    with frame_files.frames_in(tmp_path):
        clip.save(tmp_path / f"blocks.{suffix}")
        again = lw.load_clip(tmp_path / f"blocks.{suffix}")
    assert (tmp_path / f"whole.{suffix}").read_bytes() == (tmp_path / f"blocks.{suffix}").read_bytes()
    assert frame_files.is_in_file(again.poses) == (clip.poses.size > 1000)
    np.testing.assert_array_equal(again.poses, clip.poses)
    np.testing.assert_array_equal(again.times, clip.times)
    del again  # on Windows its file can only be deleted afterwards
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"blocks.{suffix}", f"whole.{suffix}"]


def without_extras(path: Path) -> Path:
    """Write a GLB file without linkwork's own data; return its path."""
    data = path.read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    document = json.loads(data[20 : 20 + size])
    for part in (*document["scenes"], *document["animations"], *document["nodes"]):
        part.pop("extras", None)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + size :]
    bare = path.with_name(f"bare-{path.name}")
    head = b"glTF" + struct.pack("<III", 2, 20 + len(text) + len(rest), len(text)) + b"JSON"
    bare.write_bytes(head + text + rest)
    return bare


@pytest.mark.parametrize("kind", MOTIONS)
def test_gltf_of_others_is_read_in_blocks_as_at_once(kind, tmp_path, in_blocks):
    MOTIONS[kind]().save(tmp_path / "motion.glb")
    path = without_extras(tmp_path / "motion.glb")
    whole = gltf.read(path)
    in_blocks()
    with frame_files.frames_in(tmp_path):
        blocks = gltf.read(path)
    assert whole.remarks == blocks.remarks
    assert whole.linkage == blocks.linkage
    (one,), (other,) = whole.clips.values(), blocks.clips.values()
    np.testing.assert_array_equal(one.times, other.times)
    np.testing.assert_array_equal(one.poses, other.poses)


def test_a_file_with_a_skin_takes_a_motion_in_blocks_as_at_once(tmp_path, in_blocks):
    clip = exercised()
    gltf.write(Content(clip.linkage), tmp_path / "host.glb")
    clip.save(tmp_path / "whole.glb", into=tmp_path / "host.glb")
    in_blocks()
    clip.save(tmp_path / "blocks.glb", into=tmp_path / "host.glb")
    assert (tmp_path / "whole.glb").read_bytes() == (tmp_path / "blocks.glb").read_bytes()


@pytest.mark.parametrize("share", [0.0, 2.0])
@pytest.mark.parametrize("kind", ["body", "spinning"])
def test_usd_is_written_in_blocks_as_at_once(kind, share, tmp_path, monkeypatch):
    pytest.importorskip("pxr")
    clip = MOTIONS[kind]()
    clip.save(tmp_path / "whole.usda")
    monkeypatch.setattr(usd_writer, "BLOCK", 37)
    monkeypatch.setattr(usd_writer, "SHARE", share)
    for suffix in ("usda", "usdc", "usdz"):
        clip.save(tmp_path / f"blocks.{suffix}")
        again = lw.load_clip(tmp_path / f"blocks.{suffix}")
        np.testing.assert_array_equal(again.poses, clip.poses)
        np.testing.assert_array_equal(again.times, clip.times)
    assert (tmp_path / "whole.usda").read_bytes() == (tmp_path / "blocks.usda").read_bytes()


@pytest.mark.parametrize("suffix", ["npz", "parquet"])
def test_tables_are_read_in_blocks_as_at_once(suffix, tmp_path, monkeypatch):
    clip = exercised()
    clip.save(tmp_path / f"a.{suffix}")
    monkeypatch.setattr(tables, "BLOCK", 37)
    monkeypatch.setattr(file_parts, "LARGE", 1000)
    monkeypatch.setattr(frame_files, "SPILL", 1000)
    with frame_files.frames_in(tmp_path):
        again = lw.load_clip(tmp_path / f"a.{suffix}")
    assert frame_files.is_in_file(again.poses)
    np.testing.assert_array_equal(again.poses, clip.poses)
    np.testing.assert_array_equal(again.times, clip.times)


def test_a_motion_of_files_is_resampled_into_a_file(tmp_path, monkeypatch):
    clip = exercised()
    clip.save(tmp_path / "held.csv", fps=11.0)
    monkeypatch.setattr(frame_files, "SPILL", 1000)
    clip.save(tmp_path / "a.npz")
    with frame_files.frames_in(tmp_path):
        filed = lw.load_clip(tmp_path / "a.npz")
    filed.save(tmp_path / "filed.csv", fps=11.0)
    assert (tmp_path / "held.csv").read_bytes() == (tmp_path / "filed.csv").read_bytes()


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "LARGE", 10)
    path = tmp_path / "a.glb"
    path.write_bytes(bytes(100))
    part = file_parts.bytes_of(path, 1000)
    assert part[20:30] == bytes(10)
    path.write_bytes(bytes(90))
    with pytest.raises(FormatError, match=r"a.glb: was changed while it was read"):
        part[20:30]
    path.unlink()
    with pytest.raises(FormatError, match=r"a.glb: cannot be read"):
        part[20:30]


def test_what_extras_say_of_frames_beyond_the_buffer_is_not_believed(tmp_path):
    clip = exercised()
    clip.save(tmp_path / "a.glb")
    data = (tmp_path / "a.glb").read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    frames = json.loads(data[20 : 20 + size])["animations"][0]["extras"]["linkwork"]["poses"]
    said = f'"byteOffset":{frames["byteOffset"]},"byteLength":{frames["byteLength"]}'.encode()
    for wrong in (frames["byteLength"] - 8, 10 ** len(str(frames["byteLength"])) - 1):
        other = said.replace(str(frames["byteLength"]).encode(), str(wrong).encode())
        assert data.count(said) == 1
        (tmp_path / "b.glb").write_bytes(data.replace(said, other))
        content = gltf.read(tmp_path / "b.glb")
        assert any("cannot be read back" in remark.text for remark in content.remarks)
        assert len(next(iter(content.clips.values()))) == len(clip)


def test_numbers_that_stay_in_the_file_are_bounded_by_the_largest_file(tmp_path, monkeypatch, in_blocks):
    clip = exercised()
    clip.save(tmp_path / "a.glb")
    in_blocks()
    monkeypatch.setattr(gltf_data, "MAX_VALUES", 4000)  # fewer than in the motion
    again = lw.load_clip(tmp_path / "a.glb")
    np.testing.assert_array_equal(again.poses, clip.poses)
    monkeypatch.setattr(gltf_data, "MAX_BINARY", (tmp_path / "a.glb").stat().st_size)
    lw.load_clip(tmp_path / "a.glb")
    source = gltf_data.GltfSource(tmp_path / "a.glb", Options())
    last = len(source.document.accessors) - 1
    with pytest.raises(FormatError, match=r"accessor \d+ announces \d+ numbers; the limit is \d+ in total"):
        [source.rows(last, "rotation", source.document.accessors[last].type) for _ in range(1000)]  # the same rows


def test_a_disk_without_room_is_said_and_leaves_the_old_file(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "HELD", 1000)
    (tmp_path / "a.glb").write_bytes(b"old")

    def full(**_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(spool.tempfile, "TemporaryFile", full)
    with pytest.raises(FormatError, match=r"a.glb: cannot be written: No space left on device"):
        exercised().save(tmp_path / "a.glb")
    assert (tmp_path / "a.glb").read_bytes() == b"old"
