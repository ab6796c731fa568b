"""Numbers compressed with meshopt, compared with its own encoder and decoder (meshoptimizer 1.0)."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from gltf_files import File
from linkwork.errors import FormatError
from linkwork.formats import meshopt
from linkwork.formats.meshopt_triangles import decode_indices, decode_triangles

COUNT = 40
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "meshopt.json").read_text(encoding="utf-8"))

TRIANGLES = json.loads((Path(__file__).parents[1] / "golden" / "meshopt_triangles.json").read_text(encoding="utf-8"))


def golden(name: str) -> tuple[int, bytes, bytes]:
    """Return the stride, the compressed bytes and the uncompressed bytes."""
    stride, packed, plain, _ = GOLDEN[name]
    return stride, base64.b64decode(packed), base64.b64decode(plain)


@pytest.mark.parametrize("name", GOLDEN)
def test_decoded_bytes_are_those_of_the_reference(name):
    stride, packed, plain = golden(name)
    assert meshopt.decode(packed, COUNT, stride, name[:-1]) == plain


def test_the_example_of_the_standard():
    packed = bytes([0b10, 0x17, 0x5F, 0xF0, 0xBC, 0x77, 0xA9, 0x21, 0x00, 0x34, 0xB5])
    column, end = meshopt._column(packed, 0, 16, meshopt.OLD)
    deltas = [~(value >> 1) if value & 1 else value >> 1 for value in column]
    assert deltas == [-1, -4, -3, 26, -91, 0, -6, 6, -4, -4, 5, -5, 1, -1, 0, 0]
    assert end == len(packed)


def test_damaged_bytes_are_refused_or_read_as_other_numbers():
    rng = np.random.default_rng(1)
    for name in GOLDEN:
        stride, packed, plain = golden(name)
        for cut in (0, 1, 20, len(packed) - 40, len(packed) - 1):
            with pytest.raises(ValueError, match="they"):
                meshopt.decode(packed[:cut], COUNT, stride, name[:-1])
        for _ in range(20):
            damaged = bytearray(packed)
            damaged[rng.integers(len(packed))] ^= 1 << rng.integers(8)
            try:
                assert len(meshopt.decode(bytes(damaged), COUNT, stride, name[:-1])) == len(plain)
            except ValueError as error:
                assert str(error)  # noqa: PT017 - either will do


@pytest.mark.parametrize("name", TRIANGLES)
def test_decoded_triangles_are_those_of_the_reference(name):
    mode, count, stride, *texts = TRIANGLES[name]
    packed, plain = map(base64.b64decode, texts)
    decode = {"TRIANGLES": decode_triangles, "INDICES": decode_indices}[mode]
    assert decode(packed, count, stride) == plain
    rng = np.random.default_rng(2)
    for cut in (0, 1, 17, len(packed) - 1):
        with pytest.raises(ValueError, match="they"):
            decode(packed[:cut], count, stride)
    for _ in range(40):
        damaged = bytearray(packed)
        damaged[rng.integers(len(packed))] ^= 1 << rng.integers(8)
        try:
            assert len(decode(bytes(damaged), count, stride)) == len(plain)
        except ValueError as error:
            assert str(error)  # noqa: PT017 - either will do


def animated(folder: Path, extension: str, version: str, **changes) -> Path:
    """Return a file with one rotating joint, whose keys are compressed with meshopt."""
    stride, packed, plain = golden(f"QUATERNION{version}")
    file = File([{"name": "bone"}], skins=[{"joints": [0]}])
    file.animate((0, "rotation", np.arange(COUNT) / 30, np.frombuffer(plain, "<i2").reshape(-1, 4).copy(), "LINEAR"))
    file.document["accessors"][0]["normalized"] = True
    view = file.document["bufferViews"][0]
    own = file.view(np.frombuffer(packed, np.uint8))
    place = file.document["bufferViews"].pop(own)
    packing = {"buffer": 0, "byteOffset": place["byteOffset"], "byteLength": len(packed), "byteStride": stride}
    packing |= {"count": COUNT, "mode": "ATTRIBUTES", "filter": "QUATERNION"} | changes
    view |= {"byteOffset": 10**6, "extensions": {extension: packing}}  # the view's own range is for a fallback
    return file.save(folder)


@pytest.mark.parametrize(("extension", "version"), [("EXT_meshopt_compression", "0"), ("KHR_meshopt_compression", "1")])
def test_an_animation_is_read(tmp_path, extension, version):
    clip = lw.load_clip(animated(tmp_path, extension, version))
    expected = np.frombuffer(golden("QUATERNION0")[2], "<i2").reshape(-1, 4)[:, [3, 0, 1, 2]] / 32767.0
    assert len(clip) == COUNT
    np.testing.assert_allclose(np.abs((clip.poses * expected).sum(axis=1)), 1.0, atol=1e-4)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mode": "CIRCLES"}, "the meshopt mode 'CIRCLES'; known are ATTRIBUTES, TRIANGLES, INDICES"),
        ({"mode": "TRIANGLES"}, "is damaged"),
        ({"count": 10**9}, "when decompressed"),
        ({"byteLength": 30}, "is damaged"),
        ({"filter": "SEPIA"}, "there is no filter 'SEPIA'"),
        ({"byteStride": 300}, "an invalid description of its compression"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, changes, words):
    with pytest.raises(FormatError, match=words):
        lw.load_clip(animated(tmp_path, "EXT_meshopt_compression", "0", **changes))
