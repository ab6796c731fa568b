"""Write recordings for the Rerun viewer (``.rrd``): the shapes of a linkage, its links over time, and joint values.

Recordings are not read, since they contain no linkage.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Remark, require
from ..motion.clips import Clip
from ..transforms import matrix_quaternion
from . import mesh_export
from .atomic_files import replacing
from .content import Content
from .options import FilePath


def write(content: Content, path: FilePath) -> tuple[Remark, ...]:
    """Write a motion as a recording: ``links/NAME`` are links with their shapes, ``joints/NAME`` are curves.

    Its timelines are ``time`` [s] and ``frame``.

    Raises:
        FormatError: If the file cannot be written.
        MissingExtraError: If rerun-sdk is not installed.
    """
    require("rerun", "a recording of Rerun")
    import rerun as rr

    clip = next(iter(content.clips.values()))
    with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
        file = Path(folder, "recording.rrd")
        with rr.RecordingStream(clip.linkage.name or "linkwork") as recording:
            recording.save(file)
            recording.log("/", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
            remarks = _log_shapes(rr, recording, clip)
            _log_motion(rr, recording, clip)
            recording.disconnect()  # flushes the remaining data
        with replacing(path) as target:
            target.write(file.read_bytes())
    return remarks


def _entity(rr: Any, kind: str, name: str) -> str:
    return f"{kind}/{rr.escape_entity_path_part(name)}"


def _log_shapes(rr: Any, recording: Any, clip: Clip) -> tuple[Remark, ...]:
    """Log the shapes of every link in its own axes, and return remarks on missing meshes."""
    missing: list[str] = []
    for number, part in enumerate(mesh_export.parts(clip.linkage, missing)):
        facets, color = part.facets, np.round(255 * np.array(part.color)).astype(np.uint8)
        entity = f"{_entity(rr, 'links', clip.linkage.links[part.link])}/shape{number}"
        if facets.normals is None:
            shape = rr.LineStrips3D(facets.corners[facets.indices], colors=color)
        else:
            shape = rr.Mesh3D(
                vertex_positions=facets.corners,
                vertex_normals=facets.normals,
                triangle_indices=facets.indices,
                albedo_factor=color,
            )
        recording.log(entity, shape, static=True)
    return tuple(mesh_export.say_missing(missing))


def _log_motion(rr: Any, recording: Any, clip: Clip) -> None:
    """Log the world pose of every link, and every value of the pose, for all frames at once."""
    indexes = [
        rr.TimeColumn("time", duration=clip.times),
        rr.TimeColumn("frame", sequence=np.arange(len(clip))),
    ]
    world_from = clip.forward()
    for name in clip.linkage.links:
        places = world_from[name]
        turns = matrix_quaternion(places[:, :3, :3])[:, [1, 2, 3, 0]]  # Rerun stores w last
        columns = rr.Transform3D.columns(translation=places[:, :3, 3], quaternion=turns)
        recording.send_columns(_entity(rr, "links", name), indexes=indexes, columns=columns)
    for name, values in zip(clip.linkage.coordinates, clip.poses.T, strict=True):
        columns = rr.Scalars.columns(scalars=values)
        recording.send_columns(_entity(rr, "joints", name), indexes=indexes, columns=columns)
