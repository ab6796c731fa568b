"""Play a motion in MuJoCo's viewer: joints are matched by name, nothing is simulated."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import FormatError, LinkageError, OptionError, listed, require
from ..motion.clips import Clip
from ..transforms import FloatArray, as_number, matrix_quaternion

FREE, BALL = 0, 1  # kinds of joints; the others have one value
_LOG = logging.getLogger("linkwork")


def mujoco_viewer(
    clip: Clip,
    model: str | os.PathLike[str] | Any,
    *,
    speed: float = 1.0,
    repeat: bool = True,
    launch: Callable[[Any, Any], Any] | None = None,
) -> None:
    """Play a motion in MuJoCo's viewer until its window is closed.

    Args:
        clip: The motion. It moves the joints of the model that have the same names; the other joints of the model
            stay at their initial values.
        model: An MJCF or URDF file, or a ``mujoco.MjModel``.
        speed: Playback speed: 2 is twice as fast as the clip.
        repeat: Start again at the end; False plays it once.
        launch: Function that opens the window for the model and its data; by default
            ``mujoco.viewer.launch_passive``. On macOS that needs the interpreter ``mjpython``, part of MuJoCo.

    Raises:
        MissingExtraError: If MuJoCo is not installed.
        FormatError: If MuJoCo cannot read the model.
        LinkageError: If the model has none of the joints.
    """
    require("mujoco", "its viewer")
    import mujoco

    if not as_number(speed, "speed") > 0.0:
        raise OptionError(f"speed is a positive number, 2 for twice the speed of the clip, got {speed!r}.")
    if not isinstance(model, mujoco.MjModel):
        try:
            model = mujoco.MjModel.from_xml_path(os.fspath(model))
        except ValueError as error:
            raise FormatError(model, f"MuJoCo cannot read it: {' '.join(str(error).split())}.") from error
    rows, due = mujoco_poses(clip, model), (clip.times - clip.times[0]) / speed
    data = mujoco.MjData(model)
    with (launch or _window)(model, data) as window:
        while window.is_running():
            _play(mujoco, model, data, window, rows, due)
            if not repeat:
                return


def _window(model: Any, data: Any) -> Any:
    """Open the viewer's own window."""
    from mujoco.viewer import launch_passive

    return launch_passive(model, data)


def _play(mujoco: Any, model: Any, data: Any, window: Any, rows: FloatArray, due: FloatArray) -> None:
    """Show every row at its time, until the end or until the window is closed."""
    start = time.perf_counter()
    for row, when in zip(rows, due.tolist(), strict=True):
        if not window.is_running():
            return
        with window.lock():
            data.qpos[:], data.time = row, when
            mujoco.mj_forward(model, data)
        window.sync()
        time.sleep(max(0.0, start + when - time.perf_counter()))


def mujoco_poses(clip: Clip, model: Any) -> FloatArray:
    """Return a motion as poses of a ``mujoco.MjModel``, shape (frames, model.nq).

    A body that floats freely is put where the link of its name is in the world.

    Raises:
        LinkageError: If the model has none of the joints, or one of another kind.
    """
    linkage = clip.linkage
    arcs = {arc.name: k for k, arc in enumerate(linkage.arcs)}
    rows = np.repeat(np.asarray(model.qpos0)[None], len(clip), axis=0)
    missing, found = [], 0
    for k in range(model.njnt):
        name, start = model.joint(k).name or f"joint{k}", int(model.jnt_qposadr[k])
        body = model.body(model.jnt_bodyid[k]).name or f"body{model.jnt_bodyid[k]}"
        kind = int(model.jnt_type[k])
        if kind == FREE and body in linkage.links:
            world_from_body = clip.forward(frame=body)
            rows[:, start : start + 3] = world_from_body[:, :3, 3]
            rows[:, start + 3 : start + 7] = matrix_quaternion(world_from_body[:, :3, :3])
        elif kind != FREE and name in arcs:
            values = linkage.drives[arcs[name]].values(clip.poses)
            size = 4 if kind == BALL else 1
            if values.shape[1] != size:
                has = f"{values.shape[1]} in {linkage.name!r}"
                raise LinkageError(f"joint {name!r} has {size} values in the MuJoCo model, but {has}.")
            rows[:, start : start + size] = values
        else:
            missing.append(name)
            continue
        found += 1
    if not found and model.njnt:
        has, there = listed(linkage.joints), listed(missing)
        raise LinkageError(f"the MuJoCo model has none of the joints of {linkage.name!r} ({has}); it has {there}.")
    if missing:
        _LOG.warning("%s does not move %s; they stay as the model has them.", linkage.name, listed(missing))
    return rows
