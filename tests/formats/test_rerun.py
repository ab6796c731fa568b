"""Recordings for Rerun, read by its own library, which has 200 MB and is not in the dev extra."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.errors import FormatError, MissingExtraError


def test_rerun_is_asked_for_where_it_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match=r"a recording of Rerun needs rerun.*linkwork\[rerun\]"):
        lw.models.motion("planar").save(tmp_path / "arm.rrd")
    assert not list(tmp_path.iterdir())


def test_recordings_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "arm.rrd").write_bytes(b"RRF2")
    with pytest.raises(FormatError, match="are written, not read"):
        lw.load_clip(tmp_path / "arm.rrd")
    with pytest.raises(FormatError, match="hold motions, but there is none to write"):
        lw.save(lw.models.planar(2), tmp_path / "arm.rrd")


def chunks(path: Path) -> dict[str, Any]:
    """Return the content of a recording by entity, as Arrow tables."""
    from rerun.chunk import RrdReader

    return {chunk.entity_path: chunk.to_record_batch() for chunk in RrdReader(path).stream()}


def column(table: Any, name: str) -> np.ndarray:
    values = table.column(table.schema.names.index(name))
    return np.array(values.to_pylist()) if name.startswith(("Transform", "Scalars", "Mesh")) else np.asarray(values)


def test_links_shapes_and_joints_are_those_of_the_motion(tmp_path: Path) -> None:
    pytest.importorskip("rerun")
    b = lw.Builder("arm", base="the base/floor")
    b.ball("hip", "thigh", at=(0.1, 0, 0.2), shape=lw.Box((0.1, 0.2, 0.3)))
    b.revolute("knee", "shin", axis="y", at=(0, 0, 0.4), shape=lw.Polyline(((0, 0, 0), (0, 0, 1), (0, 1, 1))))
    linkage = b.build()
    clip = lw.Clip(linkage, [1.0, 1.25, 2.0], linkage.random_pose(4, 3))
    path = tmp_path / "arm.rrd"
    assert clip.save(path) == ()
    found = chunks(path)
    for link in linkage.links:
        table = found["/links/" + link.replace(" ", r"\ ").replace("/", r"\/")]
        world = clip.forward(frame=link)
        turns = Rotation.from_quat(column(table, "Transform3D:quaternion")[:, 0]).as_matrix()
        np.testing.assert_allclose(column(table, "Transform3D:translation")[:, 0], world[:, :3, 3], atol=1e-6)
        np.testing.assert_allclose(turns, world[:, :3, :3], atol=1e-6)
        assert column(table, "time").astype("timedelta64[ms]").astype(int).tolist() == [1000, 1250, 2000]
        assert column(table, "frame").tolist() == [0, 1, 2]
    np.testing.assert_allclose(column(found["/joints/knee"], "Scalars:scalars")[:, 0], clip.poses[:, -1])
    box = next(table for name, table in found.items() if name.startswith("/links/thigh/"))
    assert np.abs(column(box, "Mesh3D:vertex_positions")[0]).max(axis=0) == pytest.approx([0.05, 0.1, 0.15])
    assert any("LineStrips3D:strips" in table.schema.names for table in found.values())
